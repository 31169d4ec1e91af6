"""Word lists: protected words, their stereotypes and control words, read from TOML and checked.

A word list says which words stand for a protected class and which attributes are stereotypes of it.
Nothing else is typed in: the connection of a pair (associated, different, human, neutral) follows from
the list and is derived by :func:`pairs`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bayesbias._resources import data_dir, find_toml, read_toml, sha256_file, shipped_names
from bayesbias._wording import conjoined, number_of, some
from bayesbias.errors import InputError, nearest

__all__ = [
    "Controls",
    "WordClass",
    "WordList",
    "check_wordlist",
    "load_controls",
    "load_wordlist",
    "pairs",
    "shipped_controls",
    "shipped_wordlists",
    "wordlist_template",
]

_SCHEMA = 1
_CONTROL_KIND = "wordlists/controls"
CONTROLS = ("human", "neutral")
_ABOUT_KEYS = ("schema", "name", "title", "language", "source", "edits", "disagreements")
_LIST_KEYS = (
    *_ABOUT_KEYS,
    "controls",
    "definitional_sets",
    "evaluation_sets",
    "published_spellings",
    "kinds",  # what sort of word each is, which only sentence tests ask for and check
    "class",
)
_CLASS_KEYS = ("name", "protected", "attribute_class", "attributes")
_CONTROL_KEYS = (*_ABOUT_KEYS, *CONTROLS)
# Below this many words a class still counts, but a note says that its own spread is weakly known.
# Two words is the hard limit; the shortest published stereotype list has three.
_FEW = 4
_ONE_WORD = "with one, the spread between words cannot be told from the word's own"
_NOT_STATED = "not stated"


@dataclass(frozen=True)
class WordClass:
    """One protected class: the words that stand for it, and its stereotypes.

    Parameters
    ----------
    name : str
        The protected class, such as ``"islam"``.
    protected : tuple of str
        The words that stand for it, in the order of the list.
    attribute_class : str
        What its stereotypes are called; the name of the class unless the list says otherwise.
    attributes : tuple of str
        Its stereotypes, in the order of the list.
    """

    name: str
    protected: tuple[str, ...]
    attribute_class: str
    attributes: tuple[str, ...]


@dataclass(frozen=True)
class Controls:
    """Control words: about people in general, and about nothing in particular.

    Parameters
    ----------
    name : str
        The name of the control list; ``"own"`` where the word list holds it, ``"custom"`` where it was
        handed over as a mapping.
    human, neutral : tuple of str
        The words. Either may be empty, not both.
    title, language, source : str
        As in the file.
    edits, disagreements : tuple of str
        As in the file.
    """

    name: str
    human: tuple[str, ...]
    neutral: tuple[str, ...]
    title: str = ""
    language: str = _NOT_STATED
    source: str = _NOT_STATED
    edits: tuple[str, ...] = ()
    disagreements: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Controls {self.name}: {len(self.human)} human, {len(self.neutral)} neutral>"


@dataclass(frozen=True, repr=False)
class WordList:
    """A checked word list. Made by :func:`load_wordlist`, not by hand.

    Parameters
    ----------
    name, title, language, source : str
        As in the file; ``"not stated"`` where a list of one's own leaves out language or source.
    edits : tuple of str
        What the list changes against its source.
    disagreements : tuple of str
        Known differences between published versions.
    classes : tuple of WordClass
        The protected classes in the order of the list. In a WEAT list the first is X with A, the
        second Y with B.
    controls : Controls or None
        The control words in use, without those that are stereotypes of this list (see `notes`).
    definitional_sets, evaluation_sets : tuple of tuple of str
        Sets of words that differ in the class alone, for debiasing; the sets MAC was published with.
    published_spellings : dict
        ``{word in this list: its spelling in the published distance tables}``.
    sha256 : str
        SHA-256 of the file; of the two digests, one after the other, where the control words come from
        a file of their own. For a mapping, of its canonical JSON.
    origin : str
        Where the list comes from: a path, ``wordlists/NAME.toml`` for a shipped list, or ``"mapping"``.
    digests : tuple of (str, str)
        Origin and SHA-256 of each file that was read.
    notes : tuple of str
        What a reader should know and what was done about it: words dropped from the controls, pairs
        left out, short classes.

    Examples
    --------
    >>> load_wordlist("religion")
    <WordList religion: 3 classes, 15 protected words, 11 attributes, controls 2022 (85 human, 226 neutral)>
    """

    name: str
    title: str
    language: str
    source: str
    edits: tuple[str, ...]
    disagreements: tuple[str, ...]
    classes: tuple[WordClass, ...]
    controls: Controls | None
    definitional_sets: tuple[tuple[str, ...], ...]
    evaluation_sets: tuple[tuple[str, ...], ...]
    published_spellings: dict[str, str] = field(hash=False)
    sha256: str
    origin: str
    digests: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]

    @property
    def protected_words(self) -> tuple[str, ...]:
        """All protected words, in the order of the list."""
        return tuple(word for c in self.classes for word in c.protected)

    @property
    def attribute_words(self) -> tuple[str, ...]:
        """All stereotype words, each once, in the order of the list; control words are not among them."""
        return _distinct(word for c in self.classes for word in c.attributes)

    @property
    def control_words(self) -> tuple[str, ...]:
        """The human control words, then the neutral ones."""
        return (*self.controls.human, *self.controls.neutral) if self.controls else ()

    @property
    def words(self) -> tuple[str, ...]:
        """Every word an embedding is asked for, each once: protected, stereotype, human, neutral."""
        return _distinct((*self.protected_words, *self.attribute_words, *self.control_words))

    def __repr__(self) -> str:
        controls = (
            f"controls {self.controls.name} "
            f"({len(self.controls.human)} human, {len(self.controls.neutral)} neutral)"
            if self.controls
            else "no controls"
        )
        return (
            f"<WordList {self.name}: {number_of(len(self.classes), 'class', 'classes')}, "
            f"{number_of(len(self.protected_words), 'protected word')}, "
            f"{number_of(len(self.attribute_words), 'attribute')}, {controls}>"
        )


def shipped_wordlists() -> list[str]:
    """Return the names of the shipped word lists, sorted.

    Examples
    --------
    >>> [name for name in shipped_wordlists() if not name.startswith("weat")]  # doctest: +ELLIPSIS
    ['angry_black_woman', 'angry_black_woman_b', 'double_bind_competent', ..., 'race', 'religion']
    """
    return shipped_names("wordlists")


def shipped_controls() -> list[str]:
    """Return the names of the shipped control lists, sorted.

    Examples
    --------
    >>> shipped_controls()
    ['2021', '2022']
    """
    return shipped_names(_CONTROL_KIND)


def wordlist_template() -> str:
    """Return a commented word list to fill in.

    It parses as it stands; :func:`check_wordlist` names what is still to be filled in.

    Returns
    -------
    str
        TOML.

    Examples
    --------
    >>> print(wordlist_template().splitlines()[0])
    # A word list of your own. Fill in what stands between quotation marks and brackets, save it as
    """
    return (data_dir("wordlists") / "template" / "wordlist.toml").read_text(encoding="utf-8")


def load_wordlist(
    x: str | os.PathLike[str] | Mapping[str, Any] | WordList,
    controls: str | os.PathLike[str] | Mapping[str, Any] | Controls | None = None,
) -> WordList:
    """Read and check a word list.

    Parameters
    ----------
    x : str, path, mapping or WordList
        The name of a shipped list, the path of a TOML file, a mapping of the same form, or the short
        mapping ``{class: {"protected": [...], "attributes": [...]}}``.
    controls : str, path, mapping or Controls, optional
        Control words to use in place of the list's own default: ``"2021"``, ``"2022"``, ``"none"``, the
        path of a control list, or ``{"human": [...], "neutral": [...]}`` (either may be left out). A list
        that names no controls has none.

    Returns
    -------
    WordList

    Raises
    ------
    InputError
        For the first thing that is wrong, naming file and key. :func:`check_wordlist` lists all.

    Notes
    -----
    A class needs at least two protected words and two attributes: with one, the spread between words
    cannot be told from the word's own. A word may be listed once in a class, and a protected word in one
    class only, or its connection could not be derived. What is unusual but can be worked with is not an
    error: it is said in `WordList.notes`.

    Examples
    --------
    >>> load_wordlist("gender", controls="2021")
    <WordList gender: 2 classes, 14 protected words, 25 attributes, controls 2021 (27 human, 242 neutral)>
    >>> age = {"young": {"protected": ["young", "youth"], "attributes": ["reckless", "lively"]},
    ...        "old": {"protected": ["old", "elderly"], "attributes": ["frail", "wise"]}}
    >>> load_wordlist(age, controls={"neutral": ["clock", "grass"]})
    <WordList custom: 2 classes, 4 protected words, 4 attributes, controls custom (0 human, 2 neutral)>
    """
    problems: list[InputError] = []
    wordlist = _build(x, controls, problems)
    if problems:
        first, rest = problems[0], len(problems) - 1
        if rest:
            raise InputError(f"{first}; and {number_of(rest, 'more problem')}, which check_wordlist lists")
        raise first
    assert wordlist is not None  # nothing built means at least one problem
    return wordlist


def check_wordlist(
    x: str | os.PathLike[str] | Mapping[str, Any] | WordList,
    controls: str | os.PathLike[str] | Mapping[str, Any] | Controls | None = None,
) -> list[str]:
    """Say everything that is wrong with a word list, at once.

    Parameters
    ----------
    x, controls
        As for :func:`load_wordlist`.

    Returns
    -------
    list of str
        One sentence for each problem, with file and key; empty if the list can be used. What is merely
        worth knowing is in the `notes` of the loaded list.

    Examples
    --------
    >>> check_wordlist("religion")
    []
    >>> young = {"protected": ["young", "young"], "atributes": ["reckless", "lively"]}
    >>> for problem in check_wordlist({"young": young}, controls="2022"):
    ...     print(problem)  # doctest: +NORMALIZE_WHITESPACE
    mapping, class 'young', atributes: unknown key; valid: protected, attribute_class, attributes;
        did you mean 'attributes'?
    mapping, class 'young', protected: the word is listed 2 times; found: 'young'; valid: each word once
    mapping, class 'young', attributes: is missing; valid: a list of at least two words
    """
    problems: list[InputError] = []
    _build(x, controls, problems)
    return [str(problem) for problem in problems]


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
    controls, _ = _resolve_controls(x, Path(), "controls", problems)
    if problems:
        raise problems[0]
    return controls


def pairs(wordlist: str | os.PathLike[str] | Mapping[str, Any] | WordList) -> dict[str, list[str]]:
    """Derive every pair of a word list, with its connection.

    The rules, and why:

    * One row for each distinct protected word and attribute. A pair of words has one distance, so a
      second row for it would be the same observation counted twice.
    * A pair is ``associated`` if the attribute is a stereotype of the protected word's own class, else
      ``different`` if it is one of another class, else ``human`` or ``neutral``. The own
      class comes first: whoever else a stereotype is told of, for this word it is its own.
    * An attribute listed for two classes is one word. It has one row with each protected word; its
      `attribute_class` there is the class that gives the connection: the word's own where the pair is
      associated, else the first that lists it.
    * A stereotype that is also a control word stays a stereotype, and a word in both control lists
      stays human: the control groups answer "near for a reason other than the stereotype?", which a
      stereotype cannot answer, nor a word about people the question of neutral ones. Both are dropped
      when the list is loaded, and noted there.
    * A protected word that is itself an attribute or control is not paired with itself: that distance is
      0 whatever the embedding. Its pairs with other words stay. Noted when the list is loaded.

    Parameters
    ----------
    wordlist : WordList, or what `load_wordlist` takes

    Returns
    -------
    dict of str to list of str
        Columns of equal length, ready for ``pandas.DataFrame``: ``protected_word``, ``protected_class``,
        ``attribute``, ``attribute_class`` (``human`` and ``neutral`` for control words),
        ``attribute_kind`` (``stereotype``, ``human``, ``neutral``) and ``connection`` (``associated``,
        ``different``, ``human``, ``neutral``). Rows run over the protected words in the order of the
        list; within one, over stereotypes, human and neutral words in the order of the list.

    Examples
    --------
    >>> table = pairs("religion")
    >>> len(table["connection"])  # 15 protected words with 11 + 85 + 226
    4830
    >>> [column[0] for column in table.values()]
    ['judaism', 'judaism', 'greedy', 'judaism', 'stereotype', 'associated']
    """
    wordlist = load_wordlist(wordlist)
    first_class: dict[str, str] = {}
    for c in wordlist.classes:
        for word in c.attributes:
            first_class.setdefault(word, c.attribute_class)
    attributes = [*first_class, *wordlist.control_words]
    controls = wordlist.controls
    control_kinds = ["human"] * len(controls.human) + ["neutral"] * len(controls.neutral) if controls else []
    kinds = ["stereotype"] * len(first_class) + control_kinds
    position = {word: i for i, word in enumerate(attributes)}

    names = ("protected_word", "protected_class", "attribute", "attribute_class", "attribute_kind")
    columns: dict[str, list[str]] = {name: [] for name in (*names, "connection")}
    for c in wordlist.classes:
        # Everything but the protected word is the same for all words of a class.
        own = set(c.attributes)
        classes = [c.attribute_class if w in own else first for w, first in first_class.items()]
        connections = ["associated" if w in own else "different" for w in first_class]
        rows = (attributes, [*classes, *control_kinds], kinds, [*connections, *control_kinds])
        for word in c.protected:
            itself = position.get(word)
            kept = rows if itself is None else tuple(r[:itself] + r[itself + 1 :] for r in rows)
            count = len(kept[0])
            values = ([word] * count, [c.name] * count, *kept)
            for column, value in zip(columns.values(), values, strict=True):
                column.extend(value)
    return columns


# Reading ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Draft:
    """A word list as read, before its control words are settled."""

    about: dict[str, Any]
    classes: tuple[WordClass, ...]
    controls: Any
    folder: Path
    definitional_sets: tuple[tuple[str, ...], ...]
    evaluation_sets: tuple[tuple[str, ...], ...]
    published_spellings: dict[str, str]
    where: str
    origin: str
    sha256: str


def _build(x: Any, controls: Any, problems: list[InputError]) -> WordList | None:
    if isinstance(x, WordList):
        if controls is None:
            return x
        words = x
        own_digest = x.digests[0]
        settled, digest = _resolve_controls(controls, Path(), "controls", problems)
        where = x.origin
    else:
        draft = _read(x, problems)
        if draft is None:
            return None
        own_digest = (draft.origin, draft.sha256)
        if controls is None:
            key = f"{draft.where}, controls"
            settled, digest = _resolve_controls(draft.controls, draft.folder, key, problems, name="own")
            digest = None if isinstance(draft.controls, Mapping) else digest
        else:
            settled, digest = _resolve_controls(controls, Path(), "controls", problems)
        words = WordList(
            **draft.about,
            classes=draft.classes,
            controls=None,
            definitional_sets=draft.definitional_sets,
            evaluation_sets=draft.evaluation_sets,
            published_spellings=draft.published_spellings,
            sha256="",
            origin=draft.origin,
            digests=(),
            notes=(),
        )
        where = draft.where
        known = {*words.words, *((*settled.human, *settled.neutral) if settled else ())}
        for word in draft.published_spellings:
            if word not in known:
                problems.append(
                    InputError(
                        "is not a word of this list",
                        where=f"{where}, published_spellings",
                        found=word,
                        hint=nearest(word, sorted(known)),
                    )
                )
    if len(words.classes) == 1 and settled is None:
        problems.append(
            InputError(
                "one class and no controls leave nothing to compare its words with",
                where=where,
                valid="two or more classes, or control words",
            )
        )
    if problems:
        return None
    kept, notes = _settle(words, settled)
    digests = (own_digest,) if digest is None else (own_digest, digest)
    joined = digests[0][1] if len(digests) == 1 else _digest("".join(d for _, d in digests))
    return dataclasses.replace(words, controls=kept, notes=notes, digests=digests, sha256=joined)


def _read(x: Any, problems: list[InputError]) -> _Draft | None:
    """Turn a name, a path or a mapping into a draft; None where it cannot even be read."""
    if isinstance(x, Mapping):
        data, where, origin, folder, name = dict(x), "mapping", "mapping", Path(), "custom"
        short_form = "schema" not in data and "class" not in data
        if short_form:
            data = {"class": _short_form(data, problems)}
        data = {"schema": _SCHEMA, **data}
    elif isinstance(x, str | os.PathLike):
        try:
            path = find_toml(os.fspath(x), "wordlists", "word list")
            data = read_toml(path)
        except InputError as error:
            problems.append(error)
            return None
        shipped = path.parent == data_dir("wordlists")
        origin = f"wordlists/{path.name}" if shipped else str(path)
        where, folder, name, short_form = str(path), path.parent, path.stem, False
    else:
        problems.append(
            InputError(
                "cannot be read as a word list",
                found=type(x).__name__,
                valid="the name of a shipped list, a path, a mapping or a WordList",
            )
        )
        return None

    before = len(problems)
    _check_keys(data, _LIST_KEYS, where, problems)
    about = _about(data, name, where, problems)
    classes = _classes(data.get("class"), where, problems, short_form)
    definitional = _sets(data, "definitional_sets", where, problems)
    evaluation = _sets(data, "evaluation_sets", where, problems)
    spellings = _spellings(data.get("published_spellings", {}), f"{where}, published_spellings", problems)
    if isinstance(x, Mapping):
        plain = len(problems) == before  # only strings and lists: it can be written as JSON
        sha256 = _digest(json.dumps(_plain(data), ensure_ascii=False, default=repr)) if plain else ""
    else:
        sha256 = sha256_file(where)
    return _Draft(
        about,
        classes,
        data.get("controls"),
        folder,
        definitional,
        evaluation,
        spellings,
        where,
        origin,
        sha256,
    )


def _short_form(data: Mapping[Any, Any], problems: list[InputError]) -> list[Any]:
    """Rewrite ``{class: {"protected": ..., "attributes": ...}}`` as the list of classes it stands for."""
    classes = []
    for name, words in data.items():
        if not isinstance(words, Mapping):
            problems.append(
                InputError(
                    "must be a mapping with the keys 'protected' and 'attributes'",
                    where=f"mapping, class {name!r}",
                    found=_short(words),
                )
            )
        elif "name" in words:
            problems.append(
                InputError(
                    "unknown key",
                    where=f"mapping, class {name!r}, name",
                    valid=_CLASS_KEYS[1:],
                    hint="the class is named by its key",
                )
            )
        else:
            classes.append({"name": name, **words})
    return classes


def _resolve_controls(
    x: Any, folder: Path, where: str, problems: list[InputError], name: str = "custom"
) -> tuple[Controls | None, tuple[str, str] | None]:
    """Return the control words, with the origin and digest of the file or mapping they came from."""
    if x is None or x == "none":
        return None, None
    if isinstance(x, Controls):
        return x, (f"controls {x.name}", _digest(json.dumps([x.human, x.neutral], ensure_ascii=False)))
    if isinstance(x, Mapping):
        controls = _controls({"schema": _SCHEMA, **x}, name, where, problems)
        return controls, (f"controls {name}", _digest(json.dumps([controls.human, controls.neutral])))
    if not isinstance(x, str | os.PathLike):
        problems.append(
            InputError(
                "cannot be read as control words",
                where=where,
                found=_short(x),
                valid=[*shipped_controls(), "none", "a path", "a table with human and neutral"],
            )
        )
        return None, None
    text = os.fspath(x)
    if text not in shipped_controls() and not os.path.isabs(text):
        text = os.fspath(folder / text) if (folder / text).exists() or text.endswith(".toml") else text
    try:
        path = find_toml(text, _CONTROL_KIND, "control list")
        data = read_toml(path)
    except InputError as error:
        message = f"{where}: {error}" if where != "controls" else str(error)
        close = nearest(text, ["none"])  # find_toml knows the names of files, not the word none
        problems.append(InputError(message, hint=close or "'none' for no controls"))
        return None, None
    shipped = path.parent == data_dir(_CONTROL_KIND)
    origin = f"{_CONTROL_KIND}/{path.name}" if shipped else str(path)
    return _controls(data, path.stem, str(path), problems), (origin, sha256_file(path))


def _controls(data: Mapping[str, Any], name: str, where: str, problems: list[InputError]) -> Controls:
    _check_keys(data, _CONTROL_KEYS, where, problems)
    about = _about(data, name, where, problems)
    lists = {
        kind: _words(data[kind], f"{where}, {kind}", problems, f"a {kind} control list", "words")
        if kind in data
        else ()
        for kind in CONTROLS
    }
    if not any(kind in data for kind in CONTROLS):
        problems.append(InputError("has no control words", where=where, valid=CONTROLS))
    return Controls(human=lists["human"], neutral=lists["neutral"], **about)


def _about(data: Mapping[str, Any], name: str, where: str, problems: list[InputError]) -> dict[str, Any]:
    """Read what a list says about itself."""
    schema = data.get("schema")
    if type(schema) is not int or schema != _SCHEMA:
        problem = "is missing" if schema is None else "is a form of word list this version cannot read"
        problems.append(InputError(problem, where=f"{where}, schema", found=schema, valid=str(_SCHEMA)))
    about: dict[str, Any] = {}
    for key in ("name", "title", "language", "source"):
        value = data.get(key)
        if isinstance(value, str) and value.strip():
            about[key] = value.strip()
            continue
        if value is not None:
            problems.append(
                InputError("must be a text that is not empty", where=f"{where}, {key}", found=_short(value))
            )
        about[key] = {"name": name, "title": about.get("name")}.get(key, _NOT_STATED)
    for key in ("edits", "disagreements"):
        value = data.get(key, ())
        if not isinstance(value, list | tuple) or not all(isinstance(s, str) and s.strip() for s in value):
            problems.append(
                InputError("must be a list of sentences", where=f"{where}, {key}", found=_short(value))
            )
            value = ()
        about[key] = tuple(s.strip() for s in value)
    return about


def _classes(tables: Any, where: str, problems: list[InputError], short_form: bool) -> tuple[WordClass, ...]:
    if tables is None or (isinstance(tables, list | tuple) and not tables):
        problems.append(
            InputError("the list has no class", where=f"{where}, class", valid="one [[class]] or more")
        )
        return ()
    if not isinstance(tables, list | tuple):
        problems.append(
            InputError(
                "must be a list of tables, written [[class]]", where=f"{where}, class", found=_short(tables)
            )
        )
        return ()
    classes = []
    for number, table in enumerate(tables, start=1):
        if not isinstance(table, Mapping):
            problems.append(
                InputError("must be a table", where=f"{where}, class number {number}", found=_short(table))
            )
            continue
        name = table.get("name")
        named = isinstance(name, str) and bool(name.strip())
        here = f"{where}, class {name!r}" if named else f"{where}, class number {number}"
        if not named:
            problems.append(
                InputError(
                    "is missing" if name is None else "must be a text that is not empty",
                    where=f"{here}, name",
                    found=_short(name) if name is not None else None,
                )
            )
            name = f"class number {number}"
        # In the short form the name is the key: naming it as a valid key would mislead.
        valid = _CLASS_KEYS[1:] if short_form else _CLASS_KEYS
        _check_keys(table, _CLASS_KEYS, here, problems, valid)
        protected = _words(
            table.get("protected"), f"{here}, protected", problems, "a class", "protected words"
        )
        attributes = _words(table.get("attributes"), f"{here}, attributes", problems, "a class", "attributes")
        attribute_class = table.get("attribute_class", name)
        if not isinstance(attribute_class, str) or not attribute_class.strip():
            problems.append(
                InputError(
                    "must be a text that is not empty",
                    where=f"{here}, attribute_class",
                    found=_short(attribute_class),
                )
            )
        elif attribute_class in CONTROLS:
            problems.append(
                InputError(
                    "is the name of a control group, and cannot be that of an attribute class",
                    where=f"{here}, attribute_class",
                    found=attribute_class,
                )
            )
        classes.append(WordClass(str(name), protected, str(attribute_class), attributes))
    _check_across(classes, where, problems)
    return tuple(classes)


def _check_across(classes: list[WordClass], where: str, problems: list[InputError]) -> None:
    """Check what no class can be asked alone."""
    for name in _repeated(c.name for c in classes):
        problems.append(InputError("two classes have one name", where=f"{where}, class", found=name))
    for word in _repeated(w for c in classes for w in dict.fromkeys(c.protected)):
        owners = [c.name for c in classes if word in c.protected]
        problems.append(
            InputError(
                "a protected word stands in two classes, so its connection cannot be derived",
                where=f"{where}, classes {conjoined(map(repr, owners))}, protected",
                found=word,
                valid="each protected word in one class",
            )
        )
    first: dict[str, WordClass] = {}
    for c in classes:
        other = first.setdefault(c.attribute_class, c)
        if set(other.attributes) != set(c.attributes) and other.name != c.name:
            problems.append(
                InputError(
                    f"the classes {other.name!r} and {c.name!r} give one name to two lists of attributes",
                    where=f"{where}, class {c.name!r}, attribute_class",
                    found=c.attribute_class,
                    hint="name them differently, or give both the same attributes",
                )
            )


def _words(value: Any, where: str, problems: list[InputError], owner: str, noun: str) -> tuple[str, ...]:
    """Check one list of words; what is wrong with it is added to `problems`."""
    if value is None:
        problems.append(InputError("is missing", where=where, valid="a list of at least two words"))
        return ()
    if not isinstance(value, list | tuple):
        problems.append(
            InputError("must be a list of words", where=where, found=_short(value), valid='["word", "word"]')
        )
        return ()
    good = []
    for number, word in enumerate(value, start=1):
        problem = _word_problem(word)
        if problem:
            problems.append(InputError(problem, where=f"{where}, word number {number}", found=_short(word)))
        else:
            good.append(word)
    for word in _repeated(good):
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
    if any(unicodedata.category(c) in ("Cc", "Zl", "Zp") for c in word):
        return "a word holds a tab, a line break or another control character"
    return None


def _sets(data: Mapping[str, Any], key: str, where: str, problems: list[InputError]) -> tuple:
    value = data.get(key, ())
    if not isinstance(value, list | tuple):
        problems.append(
            InputError("must be a list of lists of words", where=f"{where}, {key}", found=_short(value))
        )
        return ()
    return tuple(
        _words(words, f"{where}, {key}, set number {i}", problems, "a set", "words")
        for i, words in enumerate(value, start=1)
    )


def _spellings(value: Any, where: str, problems: list[InputError]) -> dict[str, str]:
    if not isinstance(value, Mapping):
        problems.append(
            InputError(
                'must be a table of lines such as bluebell = "blue-bell"', where=where, found=_short(value)
            )
        )
        return {}
    for word, spelling in value.items():
        problem = _word_problem(word) or _word_problem(spelling)
        if problem:
            problems.append(InputError(problem, where=f"{where}, {word}", found=_short(spelling)))
    return {str(word): str(spelling) for word, spelling in value.items()}


def _check_keys(
    data: Mapping[Any, Any],
    known: tuple[str, ...],
    where: str,
    problems: list[InputError],
    valid: tuple[str, ...] | None = None,
) -> None:
    for key in data:
        if key not in known:
            problems.append(
                InputError(
                    "unknown key",
                    where=f"{where}, {key}",
                    valid=", ".join(valid or known),
                    hint=nearest(str(key), valid or known),
                )
            )


# What follows from a list -------------------------------------------------------------------------


def _settle(words: WordList, controls: Controls | None) -> tuple[Controls | None, tuple[str, ...]]:
    """Drop control words that are something else already, and write down what a reader should know."""
    notes = []
    owners: dict[str, list[str]] = {}
    for c in words.classes:
        for word in c.attributes:
            owners.setdefault(word, []).append(c.name)
    several = {word: names for word, names in owners.items() if len(names) > 1}
    for word, names in several.items():
        notes.append(
            f"The attribute {word!r} is a stereotype of {conjoined(map(repr, names))}: "
            "its pairs with the words of each of them are associated."
        )
    if len(words.classes) == 1:
        notes.append("The list has one class, so no pair is 'different'.")
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
        if _NOT_STATED not in (words.language, controls.language) and words.language != controls.language:
            notes.append(
                f"The word list is in language {words.language!r}, "
                f"the controls {controls.name} in {controls.language!r}."
            )
        controls = dataclasses.replace(controls, human=human, neutral=neutral)

    others = {**dict.fromkeys(owners, "an attribute")}
    if controls is not None:
        others |= dict.fromkeys(controls.human, "a human control word")
        others |= dict.fromkeys(controls.neutral, "a neutral control word")
    twofold = [word for word in words.protected_words if word in others]
    for word in twofold:
        notes.append(f"The protected word {word!r} is also {others[word]}: its pair with itself is left out.")
    if len(twofold) > 1:
        notes.append(
            f"Of {conjoined(map(repr, twofold))} any two are paired twice, once with each as the protected word: "
            "the same distance enters two rows."
        )
    alike: dict[str, list[str]] = {}
    for word in _distinct((*words.protected_words, *others)):
        alike.setdefault(unicodedata.normalize("NFKC", word).casefold(), []).append(word)
    for forms in alike.values():
        if len(forms) > 1:
            notes.append(
                f"{conjoined(map(repr, forms))} differ only in capitals or character form: "
                "an embedding that does not tell them apart gives them one vector."
            )
    for c in words.classes:
        few = [
            number_of(len(items), noun)
            for items, noun in ((c.protected, "protected word"), (c.attributes, "attribute"))
            if len(items) < _FEW
        ]
        if few:
            notes.append(
                f"The class {c.name!r} has {conjoined(few)}: how far its words vary is weakly known."
            )
    return controls, tuple(notes)


# Small things -------------------------------------------------------------------------------------


def _distinct(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


def _repeated(items: Iterable[str]) -> list[str]:
    """Return what occurs more than once, each once, in order."""
    counts: dict[str, int] = {}
    for item in items:
        counts[item] = counts.get(item, 0) + 1
    return [item for item, count in counts.items() if count > 1]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _plain(value: Any) -> Any:
    """Turn mappings and sequences of other types into those that JSON can write."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _short(value: Any) -> Any:
    """Return a value as it may be shown in a message: long ones by their beginning."""
    text = repr(value)
    return value if len(text) <= 60 else f"{text[:57]}..."
