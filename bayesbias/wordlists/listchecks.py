"""What every file of words is asked: its form, what it says about itself, its keys and its words.

A check adds what is wrong to a list of problems and goes on, so that all can be told at once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.formatting import Shortened
from bayesbias.wordlists.wordlist import NOT_STATED, WordClass

LIST_SCHEMA = 1
ABOUT_KEYS = ("schema", "name", "title", "language", "source", "edits", "disagreements")
# In TOML a key belongs to the last table above it.
MISPLACED = {
    key: f"{key!r} stands before the first [[class]] or [controls]: move it above"
    for key in (*ABOUT_KEYS, "definitional_sets", "evaluation_sets")
}
MISPLACED_IN_A_CLASS = {
    **MISPLACED,
    "controls": "'controls' stands before the first [[class]]: move it above the first class",
}
_MOST_HINTS = 50
_ONE_WORD = "with one, the spread between words cannot be told from the word's own"


def hints_from(known: Iterable[str]) -> Callable[[str], str | None]:
    """Return what says which of the known words may be meant: for the first asked about; each is compared with all."""
    words = sorted(known)
    left = itertools.count(_MOST_HINTS, -1)
    return lambda word: nearest(word, words) if next(left) > 0 else None


def read_about(data: Mapping[str, Any], name: str, where: str, problems: list[InputError]) -> dict[str, Any]:
    """Read what a list says about itself."""
    schema = data.get("schema")
    if type(schema) is not int or schema != LIST_SCHEMA:
        problem = "is missing" if schema is None else "is a form of word list this version cannot read"
        problems.append(InputError(problem, where=f"{where}, schema", found=schema, valid=str(LIST_SCHEMA)))
    about: dict[str, Any] = {}
    for key in ("name", "title", "language", "source"):
        value = data.get(key)
        if isinstance(value, str) and value.strip():
            about[key] = value.strip()
            if key == "name" and checks.breaks_line(about[key]):
                problems.append(not_of_one_line(f"{where}, name", value))
            continue
        if value is not None:
            problems.append(
                InputError(
                    "must be a text that is not empty", where=f"{where}, {key}", found=Shortened(value)
                )
            )
        about[key] = {"name": name, "title": about.get("name")}.get(key, NOT_STATED)
    for key in ("edits", "disagreements"):
        value = data.get(key, ())
        if not isinstance(value, list | tuple) or not all(isinstance(s, str) and s.strip() for s in value):
            problems.append(
                InputError("must be a list of sentences", where=f"{where}, {key}", found=Shortened(value))
            )
            value = ()
        about[key] = tuple(s.strip() for s in value)
    return about


def checked_words(
    value: Any, where: str, problems: list[InputError], owner: str, noun: str
) -> tuple[str, ...]:
    """Check one list of words; what is wrong with it is added to `problems`."""
    if value is None:
        problems.append(InputError("is missing", where=where, valid="a list of at least two words"))
        return ()
    if not isinstance(value, list | tuple):
        problems.append(
            InputError(
                "must be a list of words", where=where, found=Shortened(value), valid='["word", "word"]'
            )
        )
        return ()
    good = []
    for number, word in enumerate(value, start=1):
        problem = _word_problem(word)
        if problem:
            problems.append(
                InputError(problem, where=f"{where}, word number {number}", found=Shortened(word))
            )
        else:
            good.append(word)
    for word in checks.repeated(good):
        problems.append(
            InputError(
                f"the word is listed {good.count(word)} times",
                where=where,
                found=word,
                valid="each word once",
            )
        )
    if not value:
        problems.append(InputError("the list is empty", where=where, valid="at least two words"))
    elif len(value) == 1:
        problems.append(
            InputError(f"{owner} needs at least two {noun}: {_ONE_WORD}", where=where, found=list(value))
        )
    return tuple(good)


def _word_problem(word: Any) -> str | None:
    if not isinstance(word, str):
        return "a word must be a text in quotation marks"
    if not word.strip():
        return "a word is empty"
    if word != word.strip():
        return "a word begins or ends with a blank"
    if checks.breaks_line(word):
        return "a word holds a tab, a line break or another control character"
    seen = checks.without_unseen(word)
    return None if seen == word else f"a word holds a character that is not seen: write {seen!r}"


def not_of_one_line(where: str, name: str) -> InputError:
    """Return the error for the name of a class or a list, which stands in cells and headings."""
    return InputError("holds a tab or a line break", where=where, found=name, valid="a text of one line")


def checked_sets(data: Mapping[str, Any], key: str, where: str, problems: list[InputError]) -> tuple:
    """Return a list of sets of words; every problem is noted, none is raised."""
    value = data.get(key, ())
    if not isinstance(value, list | tuple):
        problems.append(
            InputError("must be a list of lists of words", where=f"{where}, {key}", found=Shortened(value))
        )
        return ()
    return tuple(
        checked_words(words, f"{where}, {key}, set number {i}", problems, "a set", "words")
        for i, words in enumerate(value, start=1)
    )


def checked_spellings(value: Any, where: str, problems: list[InputError]) -> dict[str, str]:
    """Return the spellings of words in vectors; every problem is noted, none is raised."""
    if not isinstance(value, Mapping):
        problems.append(
            InputError(
                'must be a table of lines such as bluebell = "blue-bell"', where=where, found=Shortened(value)
            )
        )
        return {}
    for word, spelling in value.items():
        problem = _word_problem(word) or _word_problem(spelling)
        if problem:
            problems.append(InputError(problem, where=f"{where}, {word}", found=Shortened(spelling)))
    return {str(word): str(spelling) for word, spelling in value.items()}


def checked_covariates(
    value: Any, classes: Iterable[WordClass], where: str, problems: list[InputError]
) -> dict[str, dict[str, float | str]]:
    """Return what a list says of its words; every problem is noted, none is raised."""
    if not isinstance(value, Mapping):
        problems.append(
            InputError(
                "must hold a table a covariate, such as [covariates.year]",
                where=where,
                found=Shortened(value),
            )
        )
        return {}
    known = {word for c in classes for word in (*c.protected, *c.attributes)}
    hint = hints_from(known)
    out: dict[str, dict[str, float | str]] = {}
    for name, words in value.items():
        here = f"{where}.{name}"
        if not isinstance(words, Mapping):
            problems.append(
                InputError(
                    "must be a table of lines such as nurse = 90.4", where=here, found=Shortened(words)
                )
            )
            continue
        kept: dict[str, float | str] = {}
        for word, covariate in words.items():
            number = checks.is_number(covariate) and math.isfinite(covariate)
            if not number and not (isinstance(covariate, str) and covariate.strip()):
                problems.append(
                    InputError(
                        "must be a finite number or a text",
                        where=f"{here}, {word}",
                        found=Shortened(covariate),
                    )
                )
                continue
            if word not in known:
                problems.append(
                    InputError(
                        "is no protected word or attribute of this list",
                        where=here,
                        found=word,
                        hint=hint(str(word)),
                    )
                )
                continue
            kept[str(word)] = float(covariate) if number else covariate
        if len({isinstance(covariate, str) for covariate in kept.values()}) > 1:
            problems.append(InputError("holds numbers and texts", where=here, valid="one or the other"))
        out[str(name)] = kept
    return out
