"""The words of sentence tests on their page: of shipped tests by their names, of one's own as the result keeps them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bayesbias.report.parts import Words
from bayesbias.studies.seat_tests import level_of_test
from bayesbias.wordlists.sentence_tests import SETS, SentenceTest

if TYPE_CHECKING:
    from bayesbias.studies.seat_result import SeatResult

__all__ = ["sets_of", "spaced", "words_of"]


def spaced(category: str) -> str:
    """Put blanks between the words of a published category, such as MaleTerms."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", category)


def sets_of(
    result: SeatResult, asked: Mapping[str, SentenceTest]
) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """Return the sets of words of each test, with what they are called; of one that holds texts as they are there are none."""
    out: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for about in result.provenance.get("tests", ()):
        name, own, called = about["name"], about.get("words"), about.get("categories", {})
        if (test := asked.get(name)) is not None:
            words = test.frame.groupby("set", observed=True)["word"].unique()
            stated = level_of_test(test) != "text"
            out[name] = (
                [(_set_called(test.categories, side), tuple(words[side])) for side in SETS] if stated else []
            )
        elif own:
            out[name] = [(_set_called(called, side), tuple(own.get(side, ()))) for side in SETS]
    return out


def _set_called(categories: Mapping[str, str], side: str) -> str:
    """Name a set; of a word list the attributes bear the name of their class."""
    name = str(categories.get(side, side))
    of_a_list = side.startswith("attr") and name in (categories.get("targ1"), categories.get("targ2"))
    return f"stereotypes of {name}" if of_a_list else name


def words_of(names: Sequence[str], sets_of: Mapping[str, list[tuple[str, tuple[str, ...]]]]) -> list[Words]:
    """List the words of each set; sets that several tests share, such as words and sentences of them, once."""
    sets: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for name in names:
        for each in sets_of[name]:
            sets.setdefault(each, []).append(name)
    return [
        Words(f"{spaced(category)} ({', '.join(dict.fromkeys(tests))})", words)
        for (category, words), tests in sets.items()
    ]
