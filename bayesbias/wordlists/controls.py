"""Control words: read and checked, and settled against the word list that they serve.

Controls that are stereotypes of the list are dropped; what a reader should know is noted.
"""

import dataclasses
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bayesbias.core import checks, files
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import number_of, some
from bayesbias.wordlists import listchecks
from bayesbias.wordlists.listchecks import LIST_SCHEMA, Problems
from bayesbias.wordlists.wordlist import CONTROLS, NOT_STATED, Controls, WordList

__all__ = ["list_controls", "load_controls"]

_CONTROL_FOLDER = "wordlists/controls"


def list_controls() -> list[str]:
    """Return the names of the shipped control lists, sorted.

    Examples
    --------
    >>> list_controls()
    ['2021', '2022']
    """
    return files.list_names(_CONTROL_FOLDER)


def load_controls(
    x: str | os.PathLike[str] | Mapping[str, Any] | Controls | None,
) -> Controls | None:
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
        If there is no such list, or it cannot be used.

    Examples
    --------
    >>> load_controls("2022")
    <Controls 2022: 85 human, 226 neutral>
    """
    problems = Problems()
    controls, _ = resolved_controls(x, Path(), "controls", problems)
    if problems:
        raise problems[0]
    return controls


def resolved_controls(
    x: Any, folder: Path, where: str, problems: Problems, name: str = "custom"
) -> tuple[Controls | None, tuple[str, str] | None]:
    """Return the control words, with their origin and digest."""
    if x is None or (isinstance(x, str) and x == "none"):
        return None, None
    if isinstance(x, Controls):
        return x, (f"controls {x.name}", files.sha256_of(json.dumps([x.human, x.neutral])))
    try:
        if isinstance(x, Mapping):
            data = {"schema": LIST_SCHEMA, **checks.tree(x, where)}
            controls = _read_controls(data, name, where, problems)
            digest = files.sha256_of(json.dumps([controls.human, controls.neutral]))
            return controls, (f"controls {name}", digest)
        text = checks.path(x, where, "a name, a path, or a table with human and neutral")
        if text not in list_controls() and (
            os.path.lexists(folder / text) or text.endswith(".toml")
        ):
            text = os.fspath(folder / text)
        path = files.find_toml(text, _CONTROL_FOLDER, "control list")
        data = files.read_toml(path)
    except InputError as error:
        problems.append(error if where == "controls" else error.retold(where))
        return None, None
    shipped = path.parent == files.data_dir(_CONTROL_FOLDER)
    origin = f"{_CONTROL_FOLDER}/{path.name}" if shipped else str(path)
    return _read_controls(data, path.stem, str(path), problems), (origin, files.sha256_file(path))


def _read_controls(data: Mapping[str, Any], name: str, where: str, problems: Problems) -> Controls:
    keys = (*listchecks.ABOUT_KEYS, *CONTROLS)
    checks.known_keys(data, keys, where, problems=problems, hints=listchecks.MISPLACED)
    about = listchecks.read_about(data, name, where, problems)
    lists: dict[str, tuple[str, ...]] = dict.fromkeys(CONTROLS, ())
    for kind in (held := [kind for kind in CONTROLS if kind in data]):
        owner = f"a {kind} control list"
        lists[kind] = listchecks.checked_words(
            data[kind], f"{where}, {kind}", problems, owner, "words"
        )
    if not held:
        problems.add("has no control words", where, valid=CONTROLS)
    return Controls(human=lists["human"], neutral=lists["neutral"], **about)


def settled_controls(
    words: WordList, controls: Controls | None
) -> tuple[Controls | None, tuple[str, ...]]:
    """Drop control words that are something else already, and note it."""
    owners: dict[str, list[str]] = {}
    for c in words.classes:
        for word in dict.fromkeys(c.attributes):
            owners.setdefault(word, []).append(c.name)
    several = [word for word, names in owners.items() if len(names) > 1]
    has_stereotypes = bool(owners)
    for name, listed in words.attribute_sets.items():
        owners |= {word: [name] for word in listed}
    notes = []
    if several:
        notes.append(f"Stereotypes of several classes, associated with each: {some(several)}.")
    if len(words.classes) == 1 and has_stereotypes:
        notes.append("The list has one class, so no pair is 'different'.")
    elif several and all(len(names) == len(words.classes) for names in owners.values()):
        notes.append("All classes have the same attributes, so no pair is 'different'.")

    if controls is None and has_stereotypes:
        notes.append("There are no control words: stereotypes cannot be compared with others.")
    elif controls is not None:
        if taken := [w for w in (*controls.human, *controls.neutral) if w in owners]:
            dropped = some(taken, 20)
            notes.append(f"Dropped from the controls, because they are attributes here: {dropped}.")
        human = tuple(w for w in controls.human if w not in owners)
        if both := [w for w in controls.neutral if w in set(human)]:
            notes.append(f"Human and neutral at once, kept as human: {some(both, 20)}.")
        gone = {*owners, *human}
        neutral = tuple(w for w in controls.neutral if w not in gone)
        for kind, left in (("human", human), ("neutral", neutral)):
            if len(left) < 2:
                count = number_of(len(left), f"{kind} control word")
                notes.append(f"{count} in use: that group says little.")
        if len({words.language, controls.language} - {NOT_STATED}) > 1:
            theirs = f"the controls {controls.name} in {controls.language!r}"
            notes.append(f"The word list is in language {words.language!r}, {theirs}.")
        controls = dataclasses.replace(controls, human=human, neutral=neutral)

    others = dict.fromkeys(owners, "an attribute")
    if controls is not None:
        others |= dict.fromkeys(controls.human, "a human control word")
        others |= dict.fromkeys(controls.neutral, "a neutral control word")
    if twofold := [word for word in words.protected_words if word in others]:
        named = some(f"{word!r} (also {others[word]})" for word in twofold)
        notes.append(f"The pair of a protected word with itself is left out: {named}.")
    return controls, tuple(notes)
