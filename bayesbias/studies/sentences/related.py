"""Which sentence tests are run: chosen by name, of which level, and what the paper calls and relates them.

Source: May, Wang, Bordia, Bowman & Rudinger (2019), arXiv:1903.10561, with its supplement.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.wordlists.sentence_tests import SentenceTest, list_tests, sentence_test

# The tests of Table 4 of the paper, in its order and by its names; then the others, named in its manner.
TABLE_4 = {
    "weat1": "C1: Flowers/Insects",
    "weat3": "C3: EA/AA Names",
    "weat6": "C6: M/F Names, Career",
    "angry_black_woman_stereotype": "ABW Stereotype",
    "heilman_double_bind_competent": "Double Bind: Competent",
    "heilman_double_bind_likable": "Double Bind: Likable",
    "weat2": "C2: Instruments/Weapons",
    "weat3b": "C3b: EA/AA Terms",
    "weat4": "C4: EA/AA Names",
    "weat5": "C5: EA/AA Names",
    "weat5b": "C5b: EA/AA Terms",
    "weat6b": "C6b: M/F Terms, Career",
    "weat7": "C7: Math/Arts, M/F Terms",
    "weat7b": "C7b: Math/Arts, M/F Names",
    "weat8": "C8: Science/Arts, M/F Terms",
    "weat8b": "C8b: Science/Arts, M/F Names",
    "weat9": "C9: Mental/Physical Disease",
    "weat10": "C10: Young/Old Names",
    "angry_black_woman_stereotype_b": "ABW Stereotype, Terms",
    "heilman_double_bind_competent_1": "Competent, Script 1",
    "heilman_double_bind_competent_1+3-": "Competent, Script 1+3-",
    "heilman_double_bind_competent_1-": "Competent, Script 1-",
    "heilman_double_bind_likable_1": "Likable, Script 1",
    "heilman_double_bind_likable_1+3-": "Likable, Script 1+3-",
    "heilman_double_bind_likable_1-": "Likable, Script 1-",
}
CONTEXTS = {"word": "word", "sentence": "sent", "unbleached": "sent (u)", "text": "text"}
# Tests that ask the same of other words or of fewer (section 4 of the paper, and the same of its variants b); the
# last says whether power falls from the first to the last, so that p-values should rise.
RELATED_TESTS = (
    ("European/African American names, pleasant", ("weat3", "weat4", "weat5"), True),
    ("European/African American terms, pleasant", ("weat3b", "weat5b"), True),
    ("math or science against arts, gender terms", ("weat7", "weat8"), False),
    ("math or science against arts, gender names", ("weat7b", "weat8b"), False),
)


def chosen_tests(tests: Any, published_cut: bool = False) -> list[SentenceTest]:
    """Read tests by name, path, or value; "all" stands for every shipped one."""
    if isinstance(tests, str):
        several = (
            [tests] if os.path.isfile(tests) else [t.strip() for t in tests.split(",") if t.strip()]
        )
        named: Iterable[Any] = list_tests() if tests == "all" else several
    elif isinstance(tests, SentenceTest | os.PathLike):
        named = [tests]
    else:
        named = checks.several(tests, "test", "tests")
    out = []
    for name in named:
        if isinstance(name, str) and name == "all":
            out += [sentence_test(each, published_cut=published_cut) for each in list_tests()]
        else:
            out.append(
                name
                if isinstance(name, SentenceTest)
                else sentence_test(name, published_cut=published_cut)
            )
    out = [_own_name(test) for test in out]
    if not out:
        raise InputError(
            "no test was named", where="tests", found=tests, valid="all, or names of tests"
        )
    refuse_twice(
        [test.name for test in out], "two tests have one name", "a file gives a test its name"
    )
    return out


def _own_name(test: SentenceTest) -> SentenceTest:
    """Keep a test of another content, in a file of a published name, from passing for the published test."""
    if test.name not in list_tests() or not _is_file(test.origin):
        return test
    same = {sentence_test(test.name, published_cut=cut).sha256 for cut in (False, True)}
    return test if test.sha256 in same else dataclasses.replace(test, name=f"{test.name} (file)")


def _is_file(origin: str) -> bool:
    return Path(origin).suffix in (".jsonl", ".json") and os.path.isfile(origin)


def refuse_twice(names: list[str], problem: str, hint: str) -> None:
    """Refuse names of which one occurs twice."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(problem, found=twice[0], hint=hint)


def base_of_test(name: str) -> tuple[str, int]:
    """Return the word test that a published name belongs to, and the place of its level."""
    base, place = name, 0
    if name.startswith("sent-"):
        base, place = name.removeprefix("sent-"), 1
    for ending, level in (("_one_word", place), ("_one_sentence", 2)):
        if base.endswith(ending):
            return base.removesuffix(ending), level
    return base, place


def level_of_test(test: SentenceTest) -> str:
    """Return the level of a test: of a shipped one by its name, of any other by its templates."""
    if test.name in list_tests():
        return ("word", "sentence", "unbleached")[base_of_test(test.name)[1]]
    words = test.frame.groupby(["set", "word"], observed=True).size()
    if (test.frame["template"] == "{word}").all():
        return "text" if test.unstated else "word"
    return "sentence" if (words > 1).any() else "unbleached"
