"""Word lists from files and mappings: found, read, checked, and made into a `WordList`."""

import dataclasses
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.files import (
    data_dir,
    find_toml,
    list_names,
    plain,
    read_toml,
    sha256_file,
    sha256_of,
)
from bayesbias.core.formatting import join_words, number_of, some
from bayesbias.wordlists import listchecks
from bayesbias.wordlists.controls import resolved_controls, settled_controls
from bayesbias.wordlists.foreign import FOREIGN_ENDINGS, foreign_file, foreign_mapping
from bayesbias.wordlists.listchecks import LIST_SCHEMA, Problems
from bayesbias.wordlists.published import split_list
from bayesbias.wordlists.wordlist import CONTROLS, Controls, WordClass, WordList

__all__ = ["check_wordlist", "list_wordlists", "load_wordlist", "wordlist_template"]

_LIST_KEYS = (
    *(*listchecks.ABOUT_KEYS, "controls", "definitional_sets", "evaluation_sets"),
    *(
        "published_spellings",
        "covariates",
        "attribute_sets",
        "kinds",
        "class",
    ),  # sentence tests check the kinds
)
_CLASS_KEYS = ("name", "protected", "attribute_class", "attributes")


def list_wordlists() -> list[str]:
    """Return the names of the shipped word lists, sorted.

    Examples
    --------
    >>> [name for name in list_wordlists() if not name.startswith("weat")]  # doctest: +ELLIPSIS
    ['angry_black_woman', 'angry_black_woman_b', 'double_bind_competent', ..., 'race', 'religion', 'wefat']
    """
    return list_names("wordlists")


def wordlist_template() -> str:
    """Return a commented word list to fill in.

    :func:`check_wordlist` names what is still to be filled in.

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
        The name of a shipped list, the path of a TOML file, a mapping of the same form, or the
        short mapping ``{class: {"protected": [...], "attributes": [...]}}``. Or a list in the form
        of another program: a query of WEFE, a test of May et al. with ``targ1`` to ``attr2``, a
        vocabulary of Manzini et al., one list of WEATHub (``weathub.parquet:de/WEAT7``),
        PsychWordVec's ``T1`` to ``A2`` or its tables, as JSON or mappings; a ``.csv`` or ``.tsv``
        table with columns ``word, class, kind`` (``protected``, ``attribute``, ``human``,
        ``neutral``), or with one column a set. The notes of the list say how it was understood.
    controls : str, path, mapping or Controls, optional
        Control words instead of the list's own default: ``"2021"``, ``"2022"``, ``"none"``, the
        path of a control list, or ``{"human": [...], "neutral": [...]}`` (either may be left
        out).

    Returns
    -------
    WordList

    Raises
    ------
    InputError
        If something is wrong, naming file and key. :func:`check_wordlist` lists all problems.

    Notes
    -----
    A class needs at least two protected words and two attributes. A word may be listed once in a
    class, and a protected word in one class only. What is unusual is said in `WordList.notes`.

    Examples
    --------
    >>> load_wordlist("gender", controls="2021")
    <WordList gender: 2 classes, 14 protected words, 25 attributes, controls 2021 (27 human, 242 neutral)>
    >>> age = {"young": {"protected": ["young", "youth"], "attributes": ["reckless", "lively"]},
    ...        "old": {"protected": ["old", "elderly"], "attributes": ["frail", "wise"]}}
    >>> load_wordlist(age, controls={"neutral": ["clock", "grass"]})
    <WordList custom: 2 classes, 4 protected words, 4 attributes, controls custom (0 human, 2 neutral)>
    """
    problems = Problems()
    wordlist = _build(x, controls, problems)
    if problems:
        first, rest = problems[0], len(problems) - 1
        if rest:
            more = number_of(rest, "more problem")
            raise InputError(f"{first}; and {more}, which `bayesbias wordlist check` lists")
        raise first
    assert wordlist is not None  # nothing built means at least one problem
    return wordlist


def check_wordlist(
    x: str | os.PathLike[str] | Mapping[str, Any] | WordList,
    controls: str | os.PathLike[str] | Mapping[str, Any] | Controls | None = None,
) -> list[str]:
    """List everything that is wrong with a word list.

    Parameters
    ----------
    x, controls
        As for :func:`load_wordlist`.

    Returns
    -------
    list of str
        One sentence for each problem, with file and key; empty if the list can be used.

    Examples
    --------
    >>> check_wordlist("religion")
    []
    >>> young = {"protected": ["young", "young"], "atributes": ["reckless", "lively"]}
    >>> for problem in check_wordlist({"young": young}, controls="2022"):
    ...     print(problem)  # doctest: +NORMALIZE_WHITESPACE
    mapping, class 'young': unknown key, got 'atributes'. Valid: protected, attribute_class, attributes.
        Did you mean 'attributes'?
    mapping, class 'young', protected: the word is listed 2 times, got 'young'. Valid: each word once
    mapping, class 'young', attributes: is missing. Valid: a list of at least two words.
        To compare groups, add [attribute_sets]
    """
    return examined(x, controls)[0]


def examined(x: Any, controls: Any = None) -> tuple[list[str], list[str], WordList | None]:
    """Return the problems of a word list, its notes, and the list."""
    problems = Problems()
    words = _build(x, controls, problems)
    notes = list(words.notes) if words and not problems else []
    return [str(problem) for problem in problems], notes, words


def _build(x: Any, controls: Any, problems: Problems) -> WordList | None:
    """Build a list as far as it can be read; add what is wrong."""
    if isinstance(x, WordList):
        if controls is None:
            return x
        words, own_digest = x, x.digests[0]
        remarks: tuple[str, ...] = ()
        settled, digest = resolved_controls(controls, Path(), "controls", problems)
    else:
        read = _read(x, problems)
        if read is None:
            return None
        data, where, origin, short_form, remarks = read
        folder = Path(where).parent if origin != "mapping" else Path()
        checks.known_keys(data, _LIST_KEYS, where, problems=problems)
        name = Path(where).stem if origin != "mapping" else "custom"
        about = listchecks.read_about(data, name, where, problems)
        shared = data.get("attribute_sets", {})
        classes = _read_classes(data.get("class"), where, problems, short_form, bool(shared))
        key = f"{where}, attribute_sets"
        shared = listchecks.checked_attribute_sets(shared, classes, key, problems)
        key, value = f"{where}, published_spellings", data.get("published_spellings", {})
        spellings = listchecks.checked_spellings(value, key, problems)
        key, value = f"{where}, covariates", data.get("covariates", {})
        words = WordList(
            **about,
            classes=classes,
            controls=None,
            definitional_sets=listchecks.checked_sets(data, "definitional_sets", where, problems),
            evaluation_sets=listchecks.checked_sets(data, "evaluation_sets", where, problems),
            published_spellings=spellings,
            sha256="",
            origin=origin,
            digests=(),
            notes=(),
            covariates=listchecks.checked_covariates(value, classes, shared, key, problems),
            attribute_sets=shared,
        )
        written = json.dumps(plain(data), ensure_ascii=False, default=repr)
        own_digest = (origin, sha256_of(written) if origin == "mapping" else sha256_file(where))
        if controls is None:
            key = f"{where}, controls"
            settled, digest = resolved_controls(data.get("controls"), folder, key, problems, "own")
            digest = None if isinstance(data.get("controls"), Mapping) else digest
        else:
            settled, digest = resolved_controls(controls, Path(), "controls", problems)
        known = {*words.words, *((*settled.human, *settled.neutral) if settled else ())}
        for word in spellings:
            if word not in known:
                here, hint = f"{where}, published_spellings", nearest(word, known)
                problems.add("is not a word of this list", here, word, hint=hint)
    words, more = _settled_sets(words, problems)
    sets = len(words.attribute_sets) + sum(bool(c.attributes) for c in words.classes)
    if len(words.classes) == 1 and settled is None and sets < 2:
        problem = "one class and no controls leave nothing to compare its words with"
        problems.add(problem, words.origin, valid="two or more classes, or control words")
    if problems:
        return dataclasses.replace(words, controls=settled)
    kept, notes = settled_controls(words, settled)
    digests = (own_digest,) if digest is None else (own_digest, digest)
    joined = digests[0][1] if len(digests) == 1 else sha256_of("".join(d for _, d in digests))
    return dataclasses.replace(
        words, controls=kept, notes=(*remarks, *more, *notes), digests=digests, sha256=joined
    )


def _settled_sets(words: WordList, problems: Problems) -> tuple[WordList, tuple[str, ...]]:
    """Drop from sets of no class the words that others hold, and note it."""
    sets = words.attribute_sets
    owned = {word for c in words.classes for word in c.attributes}
    several = checks.repeated(word for held in sets.values() for word in held)
    mine = dict.fromkeys(word for held in sets.values() for word in held if word in owned)
    kept = {
        name: tuple(word for word in held if word not in (*several, *mine))
        for name, held in sets.items()
    }
    for name, held in kept.items():
        if len(held) < 2 <= len(sets[name]):
            problem = "too few words are left of the set, since other sets hold the rest"
            problems.add(problem, f"{words.origin}, attribute_sets, {name}", list(held))
    notes = [
        f"{said}: {some(words_of, 20)}."
        for said, words_of in (
            ("In several attribute sets, and left out of all", several),
            ("Left out of the attribute sets, because they are stereotypes of a class", mine),
        )
        if words_of
    ]
    return dataclasses.replace(words, attribute_sets=kept), tuple(notes)


def _read(
    x: Any, problems: Problems
) -> tuple[dict[str, Any], str, str, bool, tuple[str, ...]] | None:
    """Return data, place, origin, form and remarks; None if unreadable."""
    remarks: tuple[str, ...] = ()
    try:
        if isinstance(x, Mapping):
            where = origin = "mapping"
            data = dict(checks.tree(x, where))
            data, remarks = foreign_mapping(data) or (data, remarks)
            has_schema = False
        elif isinstance(x, str | os.PathLike):
            text, which = split_list(os.fspath(x))
            path = find_toml(text, "wordlists", "word list", others=FOREIGN_ENDINGS)
            foreign = path.suffix.lower() in FOREIGN_ENDINGS
            data, remarks = foreign_file(path, which) if foreign else (read_toml(path), remarks)
            where = str(path)
            origin = f"wordlists/{path.name}" if path.parent == data_dir("wordlists") else where
            has_schema = not foreign
        else:
            valid = "the name of a shipped list, a path, a mapping or a WordList"
            problems.add("cannot be read as a word list", "x", type(x).__name__, valid=valid)
            return None
    except InputError as error:
        exchanged = isinstance(x, str) and (data_dir("embeddings") / x / "MODEL.toml").is_file()
        hint = "these are word vectors: are the two exchanged?" if exchanged else None
        problems.append(error.retold(hint=hint))
        return None
    short_form = not has_schema and "schema" not in data and "class" not in data
    if short_form:  # {class: {"protected": ..., "attributes": ...}}
        classes = []
        shared = data.pop("attribute_sets", {})
        for name, words in data.items():
            if isinstance(words, Mapping):
                classes.append({**words, "name": name})
            else:
                problem = "must be a mapping with the keys 'protected' and 'attributes'"
                problems.add(problem, f"mapping, class {name!r}", words)
        data = {"class": classes, **({"attribute_sets": shared} if shared else {})}
    if not has_schema:
        data = {"schema": LIST_SCHEMA, **data}
    return data, where, origin, short_form, remarks


def _read_classes(
    tables: Any, where: str, problems: Problems, short_form: bool, shared: bool
) -> tuple[WordClass, ...]:
    if not tables:
        problems.add("expected a class", f"{where}, class", valid="one [[class]] or more")
        return ()
    if not isinstance(tables, list | tuple):
        problems.add("expected a list of tables, written [[class]]", f"{where}, class", tables)
        return ()
    classes: list[WordClass] = []
    for number, table in enumerate(tables, start=1):
        if not isinstance(table, Mapping):
            problems.add("expected a table", f"{where}, class number {number}", table)
            continue
        name = table.get("name")
        named = listchecks.is_line(name)
        here = f"{where}, class {name!r}" if named else f"{where}, class number {number}"
        if not named:
            problem = "is missing" if name is None else "must be a text of one line"
            problems.add(problem, f"{here}, name", name)
            name = f"class number {number}"
        # In the short form the name is the key: naming it as a valid key would mislead.
        stated = [key for key in table if not (short_form and key == "name")]
        valid, hints = _CLASS_KEYS[short_form:], listchecks.MISPLACED
        checks.known_keys(stated, valid, here, problems=problems, hints=hints)
        protected, attributes = (
            ()
            if shared and key == "attributes" and key not in table
            else listchecks.checked_words(
                table.get(key), f"{here}, {key}", problems, "a class", noun
            )
            for key, noun in (("protected", "protected words"), ("attributes", "attributes"))
        )
        attribute_class = table.get("attribute_class", name)
        if not listchecks.is_line(attribute_class):
            problems.add("must be a text of one line", f"{here}, attribute_class", attribute_class)
        elif attribute_class in CONTROLS:
            problem = "is the name of a control group"
            problems.add(problem, f"{here}, attribute_class", attribute_class)
        classes.append(WordClass(str(name), protected, str(attribute_class), attributes))
    _check_across_classes(classes, where, problems)
    return tuple(classes)


def _check_across_classes(classes: list[WordClass], where: str, problems: Problems) -> None:
    """Check what concerns several classes."""
    for name in checks.repeated(c.name for c in classes):
        problems.add("two classes have one name", f"{where}, class", name)
    for word in checks.repeated(w for c in classes for w in dict.fromkeys(c.protected)):
        owners = join_words(repr(c.name) for c in classes if word in c.protected)
        problem = "a protected word is in two classes"
        valid = "each protected word in one class"
        problems.add(problem, f"{where}, classes {owners}, protected", word, valid=valid)
    first: dict[str, WordClass] = {}
    for c in classes:
        other = first.setdefault(c.attribute_class, c)
        if set(other.attributes) != set(c.attributes) and other.name != c.name and c.attributes:
            both = f"the classes {other.name!r} and {c.name!r}"
            problem = f"{both} give one name to two sets of attributes"
            problems.add(problem, f"{where}, class {c.name!r}, attribute_class", c.attribute_class)
