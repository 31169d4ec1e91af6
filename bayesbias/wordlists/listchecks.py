"""What every file of words is asked: its form, what it says about itself, its keys and its words.

A check adds what is wrong to a list of problems and goes on, so that all are reported at once.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest
from bayesbias.wordlists.wordlist import CONTROLS, NOT_STATED, WordClass

LIST_SCHEMA = 1
ABOUT_KEYS = ("schema", "name", "title", "language", "source", "edits", "disagreements")
# In TOML a key belongs to the last table above it.
MISPLACED = {
    key: f"move {key!r} above the first [[class]] or [controls]"
    for key in (*ABOUT_KEYS, "definitional_sets", "evaluation_sets", "controls")
}
MISPLACED["attribute_sets"] = "write [attribute_sets] as a table of its own, below the classes"


class Problems(list[InputError]):
    """What is wrong with a file of words."""

    def add(self, problem: str, where: str, found: Any = None, **more: Any) -> None:
        """Add one problem."""
        self.append(InputError(problem, where=where, found=found, **more))


def read_about(
    data: Mapping[str, Any], name: str, where: str, problems: Problems
) -> dict[str, Any]:
    """Read what a list says about itself."""
    if data.get("schema") != LIST_SCHEMA:
        valid = f"schema = {LIST_SCHEMA}"
        problems.add("unknown schema", f"{where}, schema", data.get("schema"), valid=valid)
    about: dict[str, Any] = {}
    for key in ("name", "title", "language", "source"):
        value = data.get(key)
        about[key] = {"name": name, "title": about.get("name")}.get(key, NOT_STATED)
        if value is not None and is_line(value):
            about[key] = value.strip()
        elif value is not None:
            problems.add("must be a text of one line", f"{where}, {key}", value)
    for key in ("edits", "disagreements"):
        try:
            about[key] = tuple(
                s.strip() for s in checks.texts(data.get(key, ()), f"{where}, {key}")
            )
        except InputError as error:
            problems.append(error)
    return about


def is_line(value: Any) -> bool:
    """Whether a value is a text of one line that is not empty."""
    return isinstance(value, str) and bool(value.strip()) and len(value.strip().splitlines()) == 1


def checked_words(
    value: Any, where: str, problems: Problems, owner: str, noun: str
) -> tuple[str, ...]:
    """Check one list of words."""
    if not isinstance(value, list | tuple):
        problem = "is missing" if value is None else "expected a list of words"
        sets = "to compare groups, add [attribute_sets]" if noun == "attributes" else None
        problems.add(problem, where, value, valid="a list of at least two words", hint=sets)
        return ()
    good = []
    for number, word in enumerate(value, start=1):
        if wrong := _word_problem(word):
            problems.add(wrong, f"{where}, word number {number}", word)
        else:
            good.append(word)
    for word in checks.repeated(good):
        problem = f"the word is listed {good.count(word)} times"
        problems.add(problem, where, word, valid="each word once")
    if len(value) < 2:
        problem = f"{owner} needs at least two {noun}: one word says nothing about how words vary"
        problems.add("the list is empty" if not value else problem, where, list(value))
    return tuple(good)


def _word_problem(word: Any) -> str | None:
    if not checks.is_text(word):
        return "a word expected a non-empty string"
    if word != word.strip():
        return "a word begins or ends with a blank"
    return None if word.isprintable() else "a word holds an invisible character"


def checked_sets(
    data: Mapping[str, Any], key: str, where: str, problems: Problems
) -> tuple[tuple[str, ...], ...]:
    """Check a list of sets of words."""
    value = data.get(key, ())
    if not isinstance(value, list | tuple):
        problems.add("expected a list of lists of words", f"{where}, {key}", value)
        return ()
    return tuple(
        checked_words(words, f"{where}, {key}, set number {i}", problems, "a set", "words")
        for i, words in enumerate(value, start=1)
    )


def checked_attribute_sets(
    value: Any, classes: Iterable[WordClass], where: str, problems: Problems
) -> dict[str, tuple[str, ...]]:
    """Check the sets of attributes that belong to no class."""
    if not isinstance(value, Mapping):
        valid = 'lines such as warm = ["kind", "friendly"]'
        problems.add("expected a table", where, value, valid=valid)
        return {}
    taken = {*CONTROLS, *(name for c in classes for name in (c.name, c.attribute_class))}
    for name in value:
        if name in taken or not is_line(name):
            problems.add("is the name of a class or of controls", where, name, valid="another name")
    return {
        str(name): checked_words(words, f"{where}, {name}", problems, "a set", "words")
        for name, words in value.items()
    }


def checked_spellings(value: Any, where: str, problems: Problems) -> dict[str, str]:
    """Check the spellings of words in published vectors."""
    if not isinstance(value, Mapping):
        problems.add("expected a table", where, value, valid='lines such as bluebell = "blue-bell"')
        return {}
    for word, spelling in value.items():
        if problem := _word_problem(spelling):
            problems.add(problem, f"{where}, {word}", spelling)
    return {str(word): str(spelling) for word, spelling in value.items()}


def checked_covariates(
    value: Any,
    classes: Iterable[WordClass],
    shared: Mapping[str, Iterable[str]],
    where: str,
    problems: Problems,
) -> dict[str, dict[str, float | str]]:
    """Check the covariates of the words of a list."""
    if not isinstance(value, Mapping) or not all(isinstance(v, Mapping) for v in value.values()):
        valid = "a table a covariate, such as [covariates.year] with lines nurse = 90.4"
        problems.add("must hold tables", where, value, valid=valid)
        return {}
    known = {word for c in classes for word in (*c.protected, *c.attributes)}
    known |= {word for words in shared.values() for word in words}
    out: dict[str, dict[str, float | str]] = {}
    for name, words in value.items():
        here = f"{where}.{name}"
        kept: dict[str, float | str] = {}
        for word, covariate in words.items():
            if word not in known:
                problem, hint = "is not a word of this list", nearest(str(word), known)
                problems.add(problem, here, word, hint=hint)
            elif checks.is_number(covariate) or checks.is_text(covariate):
                kept[word] = covariate if isinstance(covariate, str) else float(covariate)
            else:
                problems.add("expected a finite number or a text", f"{here}, {word}", covariate)
        if len({isinstance(covariate, str) for covariate in kept.values()}) > 1:
            problems.add("holds numbers and texts", here, valid="one or the other")
        out[str(name)] = kept
    return out
