"""The quick engine beside NUTS on every published table: time, how far their answers lie apart, and Pareto k.

Seconds are those of the processor, since machines are shared. Alone it takes a model: ``python -m benchmarks.engines shared``.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.models.spec import DEFAULT_MODEL
from benchmarks._common import SHARED


def tables() -> dict[str, bb.PairTable]:
    """Return the published tables that lie beside the checkout, else the shipped lists in the embedded vectors."""
    out = {}
    for file in sorted(SHARED.parent.rglob("*.csv")):
        try:
            out[f"{file.parent.name}/{file.stem}"] = bb.load_distances(file)
        except InputError:  # projections, which are no distances
            continue
    names = ("religion", "gender", "race")
    return out or {name: bb.distance_table("minilm-static", name) for name in names}


def main_contrasts(fit: bb.BiasFit) -> pd.DataFrame:
    """Return the contrasts overall, by class and by list, for new words like these and for these words."""
    levels = [
        level
        for level in ("overall", "class", "attribute_set")
        if level == "overall" or level in fit.spec.results.levels
    ]
    frames = [
        fit.contrasts(estimand=e, level=level, detail=True)
        for e in ("population", "listed_words")
        for level in levels
    ]
    return pd.concat(frames, ignore_index=True)


def apart(ours: pd.DataFrame, theirs: pd.DataFrame) -> dict[str, float]:
    """Return how far two engines' contrasts lie apart, at most: means, spreads and ends, in posterior sd and in errors."""
    sd = theirs["sd"].to_numpy()
    ends = np.concatenate(
        [np.abs(ours[end] - theirs[end]) / sd for end in ("hpdi_low", "hpdi_high")]
    )
    errors = np.concatenate(
        [
            np.abs(ours[f"hpdi_{end}"] - theirs[f"hpdi_{end}"])
            / np.hypot(ours[f"mcse_{end}"], theirs[f"mcse_{end}"])
            for end in ("low", "high")
        ]
    )
    return {
        "mean": float(np.max(np.abs(ours["mean"] - theirs["mean"]) / sd)),
        "sd": float(np.max(np.abs(np.log(ours["sd"] / theirs["sd"])))),
        "ends": float(ends.max()),
        "ends_in_errors": float(errors.max()),
    }


def main(arguments: Sequence[str] = ()) -> None:
    """Print a row for each table."""
    model = arguments[0] if arguments else DEFAULT_MODEL
    rows = []
    for name, table in tables().items():
        seconds, found, fits = {}, {}, {}
        for engine in ("quick", "nuts"):
            bb.fit(table, model, draws=10, tune=10, chains=2, seed=0, engine=engine, progress=False)
            start = time.process_time()
            fits[engine] = bb.fit(table, model, seed=1, engine=engine, progress=False)
            fitted = time.process_time()
            fits[engine].contrasts(estimand="population", level="overall")
            seconds[engine] = fitted - start, time.process_time() - fitted
            found[engine] = main_contrasts(fits[engine])
        how = fits["quick"].engine
        rows.append(
            {
                "table": name,
                "quick_s": seconds["quick"][0],
                "nuts_s": seconds["nuts"][0],
                "contrasts_s": seconds["quick"][1],
                "k": how.pareto_k,
                "effective": how.effective,
                "proposed": how.proposed,
                "engine": how.name,
                **apart(found["quick"], found["nuts"]),
            }
        )
        print(
            pd.DataFrame(rows[-1:]).to_string(
                index=False, header=len(rows) == 1, float_format="%.3f"
            ),
            flush=True,
        )
    frame = pd.DataFrame(rows)
    print(
        f"{model}: quick {frame['quick_s'].median():.3f} s, NUTS {frame['nuts_s'].median():.2f} s (medians, processor); "
        f"largest k {frame['k'].max():.2f}; NUTS took over in {(frame['engine'] == 'nuts').sum()} of {len(frame)}"
    )


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
