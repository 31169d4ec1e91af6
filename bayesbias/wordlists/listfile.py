"""Word lists from files and mappings: found, read, checked, and made into a `WordList`."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import (
    data_dir,
    find_toml,
    lies_at,
    list_names,
    plain,
    read_toml,
    sha256_file,
    sha256_of,
)
from bayesbias.core.formatting import Shortened, join_words, number_of
from bayesbias.wordlists.controls import overlaps, resolved_controls, settled_controls
from bayesbias.wordlists.foreign import FOREIGN_ENDINGS, foreign_file, foreign_mapping
from bayesbias.wordlists.listchecks import (
    ABOUT_KEYS,
    LIST_SCHEMA,
    MISPLACED_IN_A_CLASS,
    checked_covariates,
    checked_sets,
    checked_spellings,
    checked_words,
    hints_from,
    not_of_one_line,
    read_about,
)
from bayesbias.wordlists.wordlist import CONTROLS, Controls, WordClass, WordList

__all__ = ["check_wordlist", "list_wordlists", "load_wordlist", "wordlist_template"]

_LIST_KEYS = (
    *ABOUT_KEYS,
    "controls",
    "definitional_sets",
    "evaluation_sets",
    "published_spellings",
    "covariates",
    "kinds",  # what sort of word each is, which only sentence tests ask for and check
    "class",
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
        mapping ``{class: {"protected": [...], "attributes": [...]}}``. Or a list in the form of another program: a
        query of WEFE, a test of May et al. with ``targ1`` to ``attr2``, PsychWordVec's ``T1`` to ``A2`` or its tables, as JSON or
        mappings; a ``.csv`` or ``.tsv`` table with columns ``word, class, kind`` (``protected``, ``attribute``, ``human``,
        ``neutral``), or with one column a set. How it was understood is in the notes of the list.
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
            raise InputError(
                f"{first}; and {number_of(rest, 'more problem')}, which `bayesbias check-wordlist` lists"
            )
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
    mapping, class 'young': unknown key; found: 'atributes'; valid: protected, attribute_class, attributes;
        did you mean 'attributes'?
    mapping, class 'young', protected: the word is listed 2 times; found: 'young'; valid: each word once
    mapping, class 'young', attributes: is missing; valid: a list of at least two words
    """
    return examined(x, controls)[0]


def examined(x: Any, controls: Any = None) -> tuple[list[str], list[str], WordList | None]:
    """Say what is wrong with a word list and what is worth knowing of it, and return what of it can be read in spite of that."""
    problems: list[InputError] = []
    notes: list[str] = []
    words = _build(x, controls, problems, notes)
    return [str(problem) for problem in problems], notes, words


@dataclass(frozen=True, eq=False)
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
    remarks: tuple[str, ...]  # how a list in another program's form was understood
    covariates: dict[str, dict[str, float | str]]


def _build(
    x: Any, controls: Any, problems: list[InputError], told: list[str] | None = None
) -> WordList | None:
    """Build a list as far as it can be read; what is wrong is added to `problems`, what is worth knowing even then to `told`."""
    told = [] if told is None else told
    if isinstance(x, WordList):
        if controls is None:
            told += x.notes
            return x
        words = x
        own_digest = x.digests[0]
        settled, digest = resolved_controls(controls, Path(), "controls", problems)
        where = x.origin
    else:
        draft = _read_draft(x, problems)
        if draft is None:
            return None
        own_digest = (draft.origin, draft.sha256)
        if controls is None:
            key = f"{draft.where}, controls"
            settled, digest = resolved_controls(draft.controls, draft.folder, key, problems, name="own")
            digest = None if isinstance(draft.controls, Mapping) else digest
        else:
            settled, digest = resolved_controls(controls, Path(), "controls", problems)
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
            notes=draft.remarks,
            covariates=draft.covariates,
        )
        where = draft.where
        known = {*words.words, *((*settled.human, *settled.neutral) if settled else ())}
        hint = hints_from(known)
        for word in draft.published_spellings:
            if word not in known:
                problems.append(
                    InputError(
                        "is not a word of this list",
                        where=f"{where}, published_spellings",
                        found=word,
                        hint=hint(word),
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
        told += [*overlaps(words, settled), *words.thin]
        return dataclasses.replace(words, controls=settled)
    kept, notes = settled_controls(words, settled)
    if not isinstance(x, WordList):
        notes = (*words.notes, *notes)
    told += notes
    digests = (own_digest,) if digest is None else (own_digest, digest)
    joined = digests[0][1] if len(digests) == 1 else sha256_of("".join(d for _, d in digests))
    return dataclasses.replace(words, controls=kept, notes=notes, digests=digests, sha256=joined)


def _read_draft(x: Any, problems: list[InputError]) -> _Draft | None:
    """Turn a name, a path or a mapping into a draft; None where it cannot even be read."""
    remarks: tuple[str, ...] = ()
    if isinstance(x, Mapping):
        where, origin, folder, name = "mapping", "mapping", Path(), "custom"
        try:
            data = dict(checks.tree(x, where))
        except InputError as error:
            problems.append(error)
            return None
        try:
            data, remarks = foreign_mapping(data) or (data, ())
        except InputError as error:
            problems.append(error)
            return None
        short_form = "schema" not in data and "class" not in data
        if short_form:
            data = {"class": _short_form(data, problems)}
        data = {"schema": LIST_SCHEMA, **data}
    elif isinstance(x, str | os.PathLike):
        try:
            path = find_toml(os.fspath(x), "wordlists", "word list", others=FOREIGN_ENDINGS)
            foreign = path.suffix.lower() in FOREIGN_ENDINGS
            data, remarks = foreign_file(path) if foreign else (read_toml(path), ())
        except InputError as error:
            problems.append(error.retold(hint=_hint_of_vectors(os.fspath(x))))
            return None
        shipped = path.parent == data_dir("wordlists")
        origin = f"wordlists/{path.name}" if shipped else str(path)
        where, folder, name = str(path), path.parent, path.stem
        short_form = foreign and "schema" not in data and "class" not in data
        if short_form:
            data = {"schema": LIST_SCHEMA, "class": _short_form(data, problems)}
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
    checks.known_keys(data, _LIST_KEYS, where, problems=problems)
    about = read_about(data, name, where, problems)
    classes = _read_classes(data.get("class"), where, problems, short_form)
    definitional = checked_sets(data, "definitional_sets", where, problems)
    evaluation = checked_sets(data, "evaluation_sets", where, problems)
    spellings = checked_spellings(
        data.get("published_spellings", {}), f"{where}, published_spellings", problems
    )
    covariates = checked_covariates(data.get("covariates", {}), classes, f"{where}, covariates", problems)
    if isinstance(x, Mapping):
        sound = len(problems) == before  # only strings and lists: it can be written as JSON
        sha256 = sha256_of(json.dumps(plain(data), ensure_ascii=False, default=repr)) if sound else ""
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
        remarks,
        covariates,
    )


def _hint_of_vectors(source: str) -> str | None:
    """Say that vectors may have been given for a list: by the name of an embedding, or by how the file's name ends."""
    if source in {path.parent.name for path in data_dir("embeddings").glob("*/MODEL.toml")}:
        return "these are word vectors: are the two exchanged?"
    endings = (".toml", *FOREIGN_ENDINGS)
    ending = Path(source).suffix.lower()
    if not lies_at(source) or os.path.isdir(source) or not ending or ending in endings:
        return None
    return f"files of word lists end in {', '.join(endings)}; are these word vectors, and the two exchanged?"


def _short_form(data: Mapping[Any, Any], problems: list[InputError]) -> list[Any]:
    """Rewrite ``{class: {"protected": ..., "attributes": ...}}`` as the list of classes it stands for."""
    classes = []
    for name, words in data.items():
        if not isinstance(words, Mapping):
            problems.append(
                InputError(
                    "must be a mapping with the keys 'protected' and 'attributes'",
                    where=f"mapping, class {name!r}",
                    found=Shortened(words),
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


def _read_classes(
    tables: Any, where: str, problems: list[InputError], short_form: bool
) -> tuple[WordClass, ...]:
    if tables is None or (isinstance(tables, list | tuple) and not tables):
        problems.append(
            InputError("the list has no class", where=f"{where}, class", valid="one [[class]] or more")
        )
        return ()
    if not isinstance(tables, list | tuple):
        problems.append(
            InputError(
                "must be a list of tables, written [[class]]",
                where=f"{where}, class",
                found=Shortened(tables),
            )
        )
        return ()
    classes = []
    for number, table in enumerate(tables, start=1):
        if not isinstance(table, Mapping):
            problems.append(
                InputError("must be a table", where=f"{where}, class number {number}", found=Shortened(table))
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
                    found=Shortened(name) if name is not None else None,
                )
            )
            name = f"class number {number}"
        elif checks.breaks_line(str(name)):
            problems.append(not_of_one_line(f"{here}, name", str(name)))
        # In the short form the name is the key: naming it as a valid key would mislead.
        stated = [key for key in table if not (short_form and key == "name")]
        checks.known_keys(
            stated, _CLASS_KEYS[short_form:], here, problems=problems, hints=MISPLACED_IN_A_CLASS
        )
        protected = checked_words(
            table.get("protected"), f"{here}, protected", problems, "a class", "protected words"
        )
        attributes = checked_words(
            table.get("attributes"), f"{here}, attributes", problems, "a class", "attributes"
        )
        attribute_class = table.get("attribute_class", name)
        if not isinstance(attribute_class, str) or not attribute_class.strip():
            problems.append(
                InputError(
                    "must be a text that is not empty",
                    where=f"{here}, attribute_class",
                    found=Shortened(attribute_class),
                )
            )
        elif attribute_class != name and checks.breaks_line(attribute_class):
            problems.append(not_of_one_line(f"{here}, attribute_class", attribute_class))
        elif attribute_class in CONTROLS:
            problems.append(
                InputError(
                    "is the name of a control group, and cannot be that of an attribute class",
                    where=f"{here}, attribute_class",
                    found=attribute_class,
                )
            )
        classes.append(WordClass(str(name), protected, str(attribute_class), attributes))
    _check_across_classes(classes, where, problems)
    return tuple(classes)


def _check_across_classes(classes: list[WordClass], where: str, problems: list[InputError]) -> None:
    """Check what no class can be asked alone."""
    for name in checks.repeated(c.name for c in classes):
        problems.append(InputError("two classes have one name", where=f"{where}, class", found=name))
    for word in checks.repeated(w for c in classes for w in dict.fromkeys(c.protected)):
        owners = [c.name for c in classes if word in c.protected]
        problems.append(
            InputError(
                "a protected word stands in two classes, so its connection cannot be derived",
                where=f"{where}, classes {join_words(map(repr, owners))}, protected",
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
