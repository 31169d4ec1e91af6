"""Control words: read and checked, and settled against the word list that they serve.

Of the controls those are dropped that are stereotypes of the list; what a reader should know is noted.
"""

from __future__ import annotations

import dataclasses
import json
import os
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.files import data_dir, find_toml, lies_at, list_names, read_toml, sha256_file, sha256_of
from bayesbias.core.formatting import Shortened, join_words, number_of, some
from bayesbias.wordlists.listchecks import (
    ABOUT_KEYS,
    LIST_SCHEMA,
    MISPLACED,
    checked_words,
    read_about,
)
from bayesbias.wordlists.wordlist import CONTROLS, NOT_STATED, Controls, WordList, distinct_words

__all__ = ["list_controls", "load_controls"]

_CONTROL_FOLDER = "wordlists/controls"
_CONTROL_KEYS = (*ABOUT_KEYS, *CONTROLS)
_MOST_NOTES = 12  # of one kind; shipped lists have fewer


def list_controls() -> list[str]:
    """Return the names of the shipped control lists, sorted.

    Examples
    --------
    >>> list_controls()
    ['2021', '2022']
    """
    return list_names(_CONTROL_FOLDER)


def load_controls(x: str | os.PathLike[str] | Mapping[str, Any] | Controls | None) -> Controls | None:
    """Read and check a control list.

    Parameters
    ----------
    x : str, path, mapping, Controls or None
        ``"2021"``, ``"2022"``, the path of a TOML file, ``{"human": [...], "neutral": [...]}``, or
        ``"none"``.

    Returns
    -------
    Controls or None
        None for ``"none"`` and None.

    Raises
    ------
    InputError
        Where there is no such list, or it cannot be used.

    Examples
    --------
    >>> load_controls("2022")
    <Controls 2022: 85 human, 226 neutral>
    """
    problems: list[InputError] = []
    controls, _ = resolved_controls(x, Path(), "controls", problems)
    if problems:
        raise problems[0]
    return controls


def resolved_controls(
    x: Any, folder: Path, where: str, problems: list[InputError], name: str = "custom"
) -> tuple[Controls | None, tuple[str, str] | None]:
    """Return the control words, with the origin and digest of the file or mapping they came from."""
    if x is None or (isinstance(x, str) and x == "none"):
        return None, None
    if isinstance(x, Controls):
        return x, (f"controls {x.name}", sha256_of(json.dumps([x.human, x.neutral], ensure_ascii=False)))
    if isinstance(x, Mapping):
        try:
            x = checks.tree(x, where)
        except InputError as error:
            problems.append(error)
            return None, None
        controls = _read_controls({"schema": LIST_SCHEMA, **x}, name, where, problems)
        return controls, (f"controls {name}", sha256_of(json.dumps([controls.human, controls.neutral])))
    if not isinstance(x, str | os.PathLike):
        problems.append(
            InputError(
                "cannot be read as control words",
                where=where,
                found=Shortened(x),
                valid=[*list_controls(), "none", "a path", "a table with human and neutral"],
            )
        )
        return None, None
    try:
        text = checks.path(x, where, "the name of a control list, or a path")
    except InputError as error:
        problems.append(error)
        return None, None
    if text not in list_controls() and not os.path.isabs(text):
        text = os.fspath(folder / text) if lies_at(folder / text) or text.endswith(".toml") else text
    try:
        path = find_toml(text, _CONTROL_FOLDER, "control list")
        data = read_toml(path)
    except InputError as error:
        message = f"{where}: {error}" if where != "controls" else str(error)
        close = nearest(text, ["none"])  # find_toml knows the names of files, not the word none
        problems.append(InputError(message, hint=close or "'none' for no controls"))
        return None, None
    shipped = path.parent == data_dir(_CONTROL_FOLDER)
    origin = f"{_CONTROL_FOLDER}/{path.name}" if shipped else str(path)
    return _read_controls(data, path.stem, str(path), problems), (origin, sha256_file(path))


def _read_controls(data: Mapping[str, Any], name: str, where: str, problems: list[InputError]) -> Controls:
    checks.known_keys(data, _CONTROL_KEYS, where, problems=problems, hints=MISPLACED)
    about = read_about(data, name, where, problems)
    lists = {
        kind: checked_words(data[kind], f"{where}, {kind}", problems, f"a {kind} control list", "words")
        if kind in data
        else ()
        for kind in CONTROLS
    }
    if not any(kind in data for kind in CONTROLS):
        problems.append(InputError("has no control words", where=where, valid=CONTROLS))
    return Controls(human=lists["human"], neutral=lists["neutral"], **about)


def settled_controls(words: WordList, controls: Controls | None) -> tuple[Controls | None, tuple[str, ...]]:
    """Drop control words that are something else already, and write down what a reader should know."""
    owners = _owners(words)
    several = {word: names for word, names in owners.items() if len(names) > 1}
    notes = _of_several_classes(several)
    if len(words.classes) == 1:
        notes.append(
            "The list has one class, so no pair is 'different': nobody can tell whether its stereotypes lie near to all words."
        )
    elif several and all(len(names) == len(words.classes) for names in owners.values()):
        notes.append("All classes have the same attributes, so no pair is 'different'.")

    if controls is None:
        notes.append(
            "There are no control words: nothing tells nearness to a stereotype from nearness to any word."
        )
    else:
        taken = [w for w in (*controls.human, *controls.neutral) if w in owners]
        if taken:
            notes.append(f"Dropped from the controls, because they are stereotypes here: {some(taken, 20)}.")
        human = tuple(w for w in controls.human if w not in owners)
        both = [w for w in controls.neutral if w in set(controls.human) and w not in owners]
        if both:
            notes.append(f"Human and neutral at once, kept as human: {some(both, 20)}.")
        gone = {*owners, *human}
        neutral = tuple(w for w in controls.neutral if w not in gone)
        for kind, left in (("human", human), ("neutral", neutral)):
            if len(left) < 2:
                notes.append(
                    f"{number_of(len(left), f'{kind} control word')} in use: that group says little."
                )
        if NOT_STATED not in (words.language, controls.language) and words.language != controls.language:
            notes.append(
                f"The word list is in language {words.language!r}, "
                f"the controls {controls.name} in {controls.language!r}."
            )
        controls = dataclasses.replace(controls, human=human, neutral=neutral)

    others = _others(owners, controls)
    notes += _twofold(words, others)
    notes += _alike(words, others)
    return controls, tuple(notes)


def overlaps(words: WordList, controls: Controls | None) -> list[str]:
    """Say which words stand in several places or are nearly the same; of a list in which other things are wrong as well."""
    owners = _owners(words)
    several = {word: names for word, names in owners.items() if len(names) > 1}
    others = _others(owners, controls)
    return [*_of_several_classes(several), *_twofold(words, others), *_alike(words, others)]


def _owners(words: WordList) -> dict[str, list[str]]:
    """Return the names of the classes of which each attribute is one."""
    owners: dict[str, list[str]] = {}
    for c in words.classes:
        for word in dict.fromkeys(c.attributes):
            owners.setdefault(word, []).append(c.name)
    return owners


def _others(owners: Iterable[str], controls: Controls | None) -> dict[str, str]:
    """Return what each word is that is no protected one."""
    others = {**dict.fromkeys(owners, "an attribute")}
    if controls is not None:
        others |= dict.fromkeys(controls.human, "a human control word")
        others |= dict.fromkeys(controls.neutral, "a neutral control word")
    return others


def _of_several_classes(several: Mapping[str, list[str]]) -> list[str]:
    if len(several) > _MOST_NOTES:
        return [
            f"{len(several):,} attributes are stereotypes of several classes, and their pairs with the words of each of them are "
            f"associated: {some(map(repr, several))}."
        ]
    return [
        f"The attribute {word!r} is a stereotype of {join_words(map(repr, names))}: "
        "its pairs with the words of each of them are associated."
        for word, names in several.items()
    ]


def _twofold(words: WordList, others: Mapping[str, str]) -> list[str]:
    """Say which protected words are something else as well."""
    notes = []
    twofold = [word for word in words.protected_words if word in others]
    if len(twofold) > _MOST_NOTES:
        notes.append(
            f"{len(twofold):,} protected words are also attributes or control words; the pair of each with itself is left out: "
            f"{some(map(repr, twofold))}."
        )
    else:
        notes += [
            f"The protected word {word!r} is also {others[word]}: its pair with itself is left out."
            for word in twofold
        ]
    if len(twofold) > 1:
        those = "those" if len(twofold) > _MOST_NOTES else join_words(map(repr, twofold))
        notes.append(
            f"Of {those} any two are paired twice, once with each as the protected word: "
            "the same distance enters two rows."
        )
    return notes


def _alike(words: WordList, others: Iterable[str]) -> list[str]:
    """Say which words differ only in capitals or character form."""
    alike: dict[str, list[str]] = {}
    for word in distinct_words((*words.protected_words, *others)):
        alike.setdefault(unicodedata.normalize("NFKC", word).casefold(), []).append(word)
    same = [forms for forms in alike.values() if len(forms) > 1]
    if len(same) > _MOST_NOTES:
        return [
            f"{len(same):,} groups of words differ only in capitals or character form, and an embedding that does not tell them "
            f"apart gives each one vector: {some((join_words(map(repr, forms)) for forms in same), 6)}."
        ]
    return [
        f"{join_words(map(repr, forms))} differ only in capitals or character form: "
        "an embedding that does not tell them apart gives them one vector."
        for forms in same
    ]
