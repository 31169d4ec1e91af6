"""All sentence tests of one encoder, without encoding, and the fit of the largest by the model `sentence`."""

from __future__ import annotations

import time

import bayesbias as bb

LARGEST = ("sent-weat1", "sent-weat8")  # the most pairs; the most irregular words


def main() -> None:
    bb.seat("all", seed=1)  # sentences are encoded once and kept
    start = time.perf_counter()
    result = bb.seat("all", seed=1)
    print(
        f"{len(result.frame)} sentence and word tests of minilm-static: {time.perf_counter() - start:.1f} s"
    )
    table = bb.sentence_table("weat6")
    bb.fit(table, "sentence", seed=1, pointwise=False)  # compilation and imports
    for name in LARGEST:
        table = bb.sentence_table(name)
        start = time.perf_counter()
        bb.fit(table, "sentence", seed=1, pointwise=False)
        print(
            f"{name}, {len(table):,} pairs, fitted by sentence: {time.perf_counter() - start:.1f} s"
        )
