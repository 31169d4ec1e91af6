"""Names, levels and relations of the published sentence tests.

Source: May, Wang, Bordia, Bowman & Rudinger (2019), arXiv:1903.10561, with its supplement.
"""

import dataclasses
import os
from pathlib import Path
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.wordlists.sentence_tests import (
    LEVELS,
    SentenceTest,
    list_tests,
    published_tests,
    sentence_test,
)

# The tests of Table 4 of the paper, in its order and by its names; then the others, named in its
# manner.
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
# Tests that ask the same of other words or of fewer (section 4 of the paper, and the same of its
# variants b); the last says whether power falls from the first to the last, so that p-values should
# rise.
RELATED_TESTS = (
    ("European/African American names, pleasant", ("weat3", "weat4", "weat5"), True),
    ("European/African American terms, pleasant", ("weat3b", "weat5b"), True),
    ("math or science against arts, gender terms", ("weat7", "weat8"), False),
    ("math or science against arts, gender names", ("weat7b", "weat8b"), False),
)


def chosen_tests(tests: Any, published_cut: bool = False) -> list[SentenceTest]:
    """Read tests by name, path, or value; "all" stands for every shipped one."""
    if isinstance(tests, str) and not os.path.isfile(tests):
        tests = [name.strip() for name in tests.split(",") if name.strip()]
    elif isinstance(tests, str | SentenceTest | os.PathLike):
        tests = [tests]
    named: list[Any] = []
    for name in checks.several(tests, "test", "tests"):
        named += list_tests() if isinstance(name, str) and name == "all" else [name]
    if not named:
        raise InputError("tests: expected all, or names of tests, got none")
    out = [
        each if isinstance(each, SentenceTest) else sentence_test(each, published_cut=published_cut)
        for each in named
    ]
    out = [_own_name(test) for test in out]
    checks.distinct([test.name for test in out], "a test", "tests")
    return out


def _own_name(test: SentenceTest) -> SentenceTest:
    """Keep a file of another content from passing for the published test of its name."""
    is_file = Path(test.origin).suffix in (".jsonl", ".json") and os.path.isfile(test.origin)
    if test.name not in list_tests() or not is_file:
        return test
    same = {sentence_test(test.name, published_cut=cut).sha256 for cut in (False, True)}
    return test if test.sha256 in same else dataclasses.replace(test, name=f"{test.name} (file)")


def base_of_test(name: str) -> tuple[str, int]:
    """Return the word test that a published name belongs to, and the place of its level."""
    base, level = published_tests().get(name, (name, "word"))
    return base.removesuffix("_one_word"), LEVELS.index(level)


def level_of_test(test: SentenceTest) -> str:
    """Return the level of a test: of a shipped one by its name, of any other by its templates."""
    if test.name in published_tests():
        return published_tests()[test.name][1]
    words = test.frame.groupby(["set", "word"], observed=True).size()
    if (test.frame["template"] == "{word}").all():
        return "text" if test.unstated else "word"
    return "sentence" if (words > 1).any() else "unbleached"
