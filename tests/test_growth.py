"""Text from outside takes time by its length, not by the square of it."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from bayesbias.classifiers.prediction_files import list_predictions, load_predictions
from bayesbias.encoders.averages import cbow_tokens
from bayesbias.wordlists.foreign import foreign_mapping
from bayesbias.wordlists.listfile import load_wordlist

FEW, TIMES = 1_000, 16
MOST = 64
"""Of 16 times the length the square takes 256 times as long."""
_SETS = {"T2": "she, her", "A1": "a, b", "A2": "c, d"}


def _of_words(n: int) -> dict[str, list[str]]:
    words = [f"w{i}" for i in range(n)]
    return {"T1": words[: n // 2], "T2": words[n // 2 :], "A1": ["a", "b"], "A2": ["c", "d"]}


def _heading(n: int, folder) -> None:
    path = folder / "list.csv"
    path.write_text(f"x{'_' * n}y,b attributes\na,b\nc,d\n")
    with pytest.raises(Exception, match="headings do not say"):
        load_wordlist(path)


def _comment(n: int, folder) -> None:
    path = folder / "p.csv"
    path.write_text(f"# {'accuracy' * n}\n{list_predictions('m1').save(folder / 'm1.csv').read_text()}")
    load_predictions(path)


READ: dict[str, Callable] = {
    "blanks between words": lambda n, _: foreign_mapping({"T1": f"he{' ' * n}him", **_SETS}),
    "words of a set": lambda n, _: foreign_mapping(_of_words(n)),
    "marks in a heading": _heading,
    "a comment of predictions": _comment,
    "marks in a sentence": lambda n, _: cbow_tokens(f"he{'!' * n}she{'?' * n}"),
}


@pytest.mark.parametrize("read", READ.values(), ids=READ)
def test_time_grows_with_the_length(read, tmp_path):
    def least(n: int) -> float:
        taken = []
        for _ in range(3):
            began = time.process_time()
            read(n, tmp_path)
            taken.append(time.process_time() - began)
        return min(taken)

    least(FEW)  # what is loaded once
    assert least(TIMES * FEW) < MOST * max(least(FEW), 1e-4)
