"""Word lists and control words from files and mappings: found, read, checked and paired.

A check adds what is wrong to a list of problems and goes on, so that all are reported at once.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from bayesbias.core import InputError, checks, files, join_words, nearest, number_of, some
from bayesbias.core.encodings import reading_in
from bayesbias.core.factors import MOST_FACTORS
from bayesbias.wordlists import foreign
from bayesbias.wordlists.wordlist import (
    CONTROLS,
    NOT_STATED,
    SHARED,
    Controls,
    WordClass,
    WordList,
    Words,
    check_number_of_pairs,
)

type Source = checks.FilePath | Mapping[str, Any]

_CONTROL_FOLDER = "wordlists/controls"
_SCHEMA = 1
_ABOUT = ("schema", "name", "title", "language", "source", "edits", "disagreements")
_KEYS = (
    *(*_ABOUT, "controls", "definitional_sets", "evaluation_sets", "published_spellings"),
    *("covariates", "attribute_sets", "kinds", "class"),  # sentence tests check the kinds
)
_TABLES = {
    "attribute_sets": 'warm = ["kind", "friendly"]',
    "published_spellings": 'bluebell = "blue-bell"',
    "covariates": "year = {nurse = 90.4}",
}
_CLASS_KEYS = ("name", "protected", "attribute_class", "attributes", "factors")
# In TOML a key belongs to the last table above it.
_MISPLACED = {
    key: f"move {key!r} above the first [[class]] or [controls]"
    for key in (*_ABOUT, "controls", "definitional_sets", "evaluation_sets")
}
_MISPLACED["attribute_sets"] = "write [attribute_sets] as a table of its own, below the classes"


class Problems(list[InputError]):
    """What is wrong with a file of words."""

    def add(self, problem: str, where: str, found: Any = None, **more: Any) -> None:
        """Add one problem."""
        self.append(InputError(problem, where=where, found=found, **more))

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Add the error of a block, and go on after it."""
        try:
            yield
        except InputError as error:
            self.append(error)


def list_wordlists() -> list[str]:
    """Return the names of the shipped word lists, sorted.

    Examples
    --------
    >>> [name for name in list_wordlists() if not name.startswith("weat")]  # doctest: +ELLIPSIS
    ['angry_black_woman', 'angry_black_woman_b', 'double_bind_competent', ..., 'race', 'religion', 'wefat']
    """
    return files.list_names("wordlists")


def list_controls() -> list[str]:
    """Return the names of the shipped control lists, sorted.

    Examples
    --------
    >>> list_controls()
    ['2021', '2022']
    """
    return files.list_names(_CONTROL_FOLDER)


def wordlist_template() -> str:
    """Return a commented word list to fill in, as TOML.

    Examples
    --------
    >>> print(wordlist_template().splitlines()[0])
    # Your own word list. Fill in the quotation marks and brackets, then run
    """
    return (files.data_dir("wordlists") / "template/wordlist.toml").read_text(encoding="utf-8")


def load_wordlist(
    x: Any,
    controls: Source | Controls | None = None,
    *,
    encoding: str | None = None,
) -> WordList:
    """Read and check a word list.

    Parameters
    ----------
    x : str, path, mapping, data frame or WordList
        The name of a shipped list, the path of a TOML file, a mapping of the same form, or the
        short mapping ``{class: {"protected": [...], "attributes": [...]}}``. Or a list in the form
        of another program: a query of WEFE (or its object), a test of May et al. with ``targ1`` to
        ``attr2``, a vocabulary of Manzini et al., a list of WEATHub (``weathub.parquet:de/WEAT7``),
        PsychWordVec's ``T1`` to ``A2`` or its tables, as JSON or mappings; a ``.csv`` or ``.tsv``
        table with columns ``word, class, kind`` (``protected``, ``attribute``, ``human``,
        ``neutral``), or with one column a set; a data frame of such a table (pandas or polars); the
        text of a JSON or TOML file. The notes of the list say how it was understood.
    controls : str, path, mapping or Controls, optional
        Control words instead of the list's own default: ``"2021"``, ``"2022"``, ``"none"``, the
        path of a control list, or ``{"human": [...], "neutral": [...]}`` (either may be left
        out).
    encoding : str, optional
        Encoding of files that are not UTF-8, such as ``cp1251``.

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
    with reading_in(encoding):
        problems, wordlist = check_wordlist(x, controls)
    if len(problems) > 1:
        more = number_of(len(problems) - 1, "more problem")
        raise InputError(f"{problems[0]} `bayesbias wordlist check` lists {more}.")
    if problems:
        raise problems[0]
    assert wordlist is not None  # nothing built means at least one problem
    return wordlist


def check_wordlist(
    x: Any,
    controls: Source | Controls | None = None,
) -> tuple[list[InputError], WordList | None]:
    """List everything that is wrong with a word list.

    Parameters
    ----------
    x, controls
        As for :func:`load_wordlist`.

    Returns
    -------
    problems : list of InputError
        One for each problem, with file and key; empty if the list can be used.
    words : WordList or None
        The list as far as it can be read.

    Examples
    --------
    >>> check_wordlist("religion")[0]
    []
    >>> young = {"protected": ["young", "young"], "atributes": ["reckless", "lively"]}
    >>> for problem in check_wordlist({"young": young}, controls="2022")[0]:
    ...     print(problem)  # doctest: +NORMALIZE_WHITESPACE
    mapping, class 'young', key: expected protected, attribute_class, attributes or
        factors, got 'atributes'. Did you mean 'attributes'?
    mapping, class 'young', protected: expected each word once, got 'young' 2 times.
    mapping, class 'young', attributes: expected a list of two words or more, got none.
        To compare groups, add [attribute_sets].
    """
    problems = Problems()
    if isinstance(x, WordList) and controls is None:
        return problems, x
    remarks: tuple[str, ...] = ()
    if isinstance(x, WordList):
        words = x
        settled, digest = _controls(controls, "controls", problems)
    else:
        read = _read(x, problems)
        if read is None:
            return problems, None
        data, where, origin, short_form, remarks = read
        words = _listed(data, where, origin, short_form, problems)
        if controls is None:
            own = data.get("controls")
            folder = Path() if origin == "mapping" else Path(where).parent
            settled, digest = _controls(own, f"{where}, controls", problems, folder, "own")
            digest = None if isinstance(own, Mapping) else digest
        else:
            settled, digest = _controls(controls, "controls", problems)
        known = replace(words, controls=settled).words
        _check_known(words.published_spellings, known, f"{where}, published_spellings", problems)
    words, more = _settled_sets(words, problems)
    sets = len(words.attribute_sets) + sum(bool(c.attributes) for c in words.classes)
    if len(words.classes) == 1 and settled is None and sets < 2:
        problem = "expected two classes or more, or control words, got one class alone"
        problems.add(problem, words.origin, hint="add a class, or controls")
    if problems:
        return problems, replace(words, controls=settled)
    kept, notes = _settled_controls(words, settled)
    digests = words.digests[:1] if digest is None else (words.digests[0], digest)
    joined = "".join(each for _, each in digests)
    words = replace(
        words,
        controls=kept,
        notes=(*remarks, *more, *notes),
        digests=digests,
        sha256=joined if digest is None else files.sha256_of(joined),
    )
    return problems, words


def load_controls(
    x: Source | Controls | None,
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
    controls, _ = _controls(x, "controls", problems)
    if problems:
        raise problems[0]
    return controls


def pairs(wordlist: Source | WordList) -> dict[str, list[str]]:
    """Derive every pair of a word list, with its connection.

    The rules, and why:

    * One row for each distinct protected word and attribute. A pair of words has one distance, so a
      second row for it would be the same observation counted twice.
    * A pair with an attribute of a set that belongs to no class is ``shared``.
    * Otherwise a pair is ``associated`` if the attribute is a stereotype of the protected word's
      own class, else ``different`` if it is one of another class, else ``human`` or ``neutral``.
      The own class comes first: whoever else a stereotype is told of, for this word it is its own.
    * An attribute listed for two classes is one word. It has one row with each protected word; its
      `attribute_class` there is the class that gives the connection: the word's own where the
      pair is associated, else the first that lists it.
    * A stereotype that is also a control word stays a stereotype, and a word in both control lists
      stays human: the control groups answer "near for a reason other than the stereotype?", which
      a stereotype cannot answer, nor a word about people the question of neutral ones. Both are
      dropped when the list is loaded, and noted there.
    * A protected word that is itself an attribute or control is not paired with itself: that
      distance is 0 whatever the embedding. Its pairs with other words stay. Noted when the list is
      loaded.

    Parameters
    ----------
    wordlist : WordList, or what `load_wordlist` takes
        The word list.

    Returns
    -------
    dict of str to list of str
        Columns of equal length, ready for ``pandas.DataFrame``: ``protected_word``,
        ``protected_class``, ``attribute``, ``attribute_class`` (``human`` and ``neutral`` for
        control words), ``attribute_kind`` (``stereotype``, ``shared``, ``human``, ``neutral``) and
        ``connection`` (``associated``, ``different``, ``shared``, ``human``, ``neutral``). Rows run
        over the protected words in the order of the list; within one, over stereotypes, sets of no
        class, human and neutral words in the order of the list.

    Examples
    --------
    >>> table = pairs("religion")
    >>> len(table["connection"])  # 15 protected words with 11 + 85 + 226
    4830
    >>> [column[0] for column in table.values()]
    ['judaism', 'judaism', 'greedy', 'judaism', 'stereotype', 'associated']
    """
    wordlist = load_wordlist(wordlist)
    check_number_of_pairs(wordlist)
    first_class: dict[str, str] = {}
    for c in wordlist.classes:
        for word in c.attributes:
            first_class.setdefault(word, c.attribute_class)
    # Word, attribute class and kind of the attributes of no class.
    others = [(w, name, SHARED) for name, words in wordlist.attribute_sets.items() for w in words]
    for kind in CONTROLS:
        others += [(word, kind, kind) for word in getattr(wordlist.controls, kind, ())]
    names = ("protected_word", "protected_class", "attribute", "attribute_class", "attribute_kind")
    columns: dict[str, list[str]] = {name: [] for name in (*names, "connection")}
    attributes = {*wordlist.attribute_words, *wordlist.control_words}
    for c in wordlist.classes:
        # Everything but the protected word is the same for all words of a class.
        own = set(c.attributes)
        rows = [
            (word, c.attribute_class, "stereotype", "associated")
            if word in own
            else (word, first, "stereotype", "different")
            for word, first in first_class.items()
        ]
        rows += [(word, name, kind, kind) for word, name, kind in others]
        for word in c.protected:
            kept = [row for row in rows if row[0] != word] if word in attributes else rows
            values = ([word] * len(kept), [c.name] * len(kept), *zip(*kept, strict=True))
            for column, value in zip(columns.values(), values, strict=True):
                column.extend(value)
    return columns


def _listed(
    data: Mapping[str, Any], where: str, origin: str, short_form: bool, problems: Problems
) -> WordList:
    """Return what the data of a list hold, without control words."""
    is_file = origin != "mapping"
    checks.known_keys(data, _KEYS, where, problems=problems)
    about = _about(data, Path(where).stem if is_file else "custom", where, problems)
    classes = _classes(data, where, problems, short_form)
    tables: dict[str, Mapping[str, Any]] = {key: {} for key in _TABLES}
    for key, line in _TABLES.items():
        with problems.kept():
            tables[key] = checks.table(
                data.get(key, {}), f"{where}, {key}", f"lines such as {line}"
            )
    taken = {*CONTROLS, *(name for c in classes for name in (c.name, c.attribute_class))}
    sets: dict[str, Words] = {}
    for name, held in tables["attribute_sets"].items():
        here = f"{where}, attribute_sets"
        if name in taken:
            problems.add("expected another name than those of classes and controls", here, name)
        sets[str(name)] = _words(held, f"{here}, {name}", problems)
    known = {word for c in classes for word in (*c.protected, *c.attributes)}
    known |= {word for words in sets.values() for word in words}
    covariates = {}
    for name, values in tables["covariates"].items():
        here = f"{where}, covariates.{name}"
        with problems.kept():
            checks.table(values, here, "lines such as nurse = 90.4")
            _check_known(values, known, here, problems)
            kept = {
                word: value if isinstance(value, str) else checks.finite(value, f"{here}, {word}")
                for word, value in values.items()
            }
            if len(set(map(type, kept.values()))) > 1:
                problems.add("expected numbers or texts, got both", here)
            covariates[str(name)] = kept
    written = json.dumps(files.plain(data), ensure_ascii=False, default=repr)
    return WordList(
        **about,
        classes=classes,
        controls=None,
        definitional_sets=_sets(data, "definitional_sets", where, problems),
        evaluation_sets=_sets(data, "evaluation_sets", where, problems),
        published_spellings=dict(tables["published_spellings"]),
        sha256="",
        origin=origin,
        digests=((origin, (files.sha256_file(where) if is_file else files.sha256_of(written))),),
        notes=(),
        covariates=covariates,
        attribute_sets=sets,
    )


def _read(
    x: Any, problems: Problems
) -> tuple[dict[str, Any], str, str, bool, tuple[str, ...]] | None:
    """Return data, place, origin, form and remarks; None if unreadable."""
    remarks: tuple[str, ...] = ()
    where = origin = "mapping"
    has_schema = False
    if "target_sets" in getattr(x, "__dict__", {}):  # a query of WEFE
        x = vars(x) | {"name": getattr(x, "query_name", "custom")}
    try:
        if isinstance(x, Mapping):
            data = dict(checks.tree(x))
            data, remarks = foreign.foreign_mapping(data) or (data, remarks)
        elif hasattr(x, "collect_schema") or hasattr(x, "columns"):
            from bayesbias.core.frames import as_pandas

            data, remarks = foreign.foreign_frame(as_pandas(x))
        elif isinstance(x, str) and (inside := _content_of(x)) is not None:
            data, has_schema = inside, "schema" in inside
            if not has_schema:
                data, remarks = foreign.foreign_data(data, where)
        elif foreign.are_sets(x):
            data, remarks = foreign.foreign_data(x, where)
        else:
            valid = "the name of a shipped list, a path, a mapping, a data frame or a WordList"
            text, which = foreign.split_list(checks.path(x, "word list", valid))
            path = files.find_toml(text, "wordlists", "word list", foreign.FOREIGN_ENDINGS)
            if path.suffix.lower() in foreign.FOREIGN_ENDINGS:
                data, remarks = foreign.foreign_file(path, which)
            else:
                data, has_schema = files.read_toml(path), True
            where, origin = str(path), files.origin_of(path, "wordlists")
    except InputError as error:
        exchanged = (
            isinstance(x, str) and (files.data_dir("embeddings") / x / "MODEL.toml").is_file()
        )
        hint = "these are word vectors: are the two exchanged?" if exchanged else None
        problems.append(error.retold(hint=hint))
        return None
    short_form = not has_schema and "schema" not in data and "class" not in data
    if short_form:  # {class: {"protected": ..., "attributes": ...}}
        shared = {"attribute_sets": data.pop("attribute_sets")} if "attribute_sets" in data else {}
        classes = []
        for name, words in data.items():
            with problems.kept():
                valid = "a mapping with the keys 'protected' and 'attributes'"
                table = checks.table(words, f"mapping, class {name!r}", valid)
                classes.append({**table, "name": name})
        data = {"class": classes, **shared}
    return data if has_schema else {"schema": _SCHEMA, **data}, where, origin, short_form, remarks


def _content_of(text: str) -> Any:
    """Return the data of a text in JSON or TOML; None for a name or a path."""
    start = text.lstrip()
    if start.startswith(("{", "[")) and not start.startswith("[["):
        try:
            return files.parse_json(text, "the text")
        except InputError:
            if start.startswith("{") or "\n" not in text:
                raise
    if start.startswith('[["'):
        return files.parse_json(text, "the text")
    return files.parse_toml(text.encode(), "the text") if "\n" in text else None


def _about(data: Mapping[str, Any], name: str, where: str, problems: Problems) -> dict[str, Any]:
    """Read what a list says about itself."""
    about: dict[str, Any] = {"name": name, "title": None}
    with problems.kept():
        checks.schema(data, _SCHEMA, where)
    for key in ("name", "title", "language", "source"):
        about.setdefault(key, NOT_STATED)
        with problems.kept():
            if key in data and (key == "name" or data[key] != ""):  # as in the template
                about[key] = checks.line(data[key], f"{where}, {key}")
    about["title"] = about["title"] or about["name"]
    for key in ("edits", "disagreements"):
        about[key] = ()
        with problems.kept():
            texts = checks.texts(data.get(key, ()), f"{where}, {key}")
            about[key] = tuple(text.strip() for text in texts)
    return about


def _words(value: Any, where: str, problems: Problems, hint: str | None = None) -> Words:
    """Check one list of words."""
    if not isinstance(value, list | tuple):
        got = "none" if value is None else repr(value)
        problems.add(f"expected a list of two words or more, got {got}", where, hint=hint)
        return ()
    good = []
    for number, text in enumerate(value, start=1):
        word = checks.plain_spaces(text) if isinstance(text, str) else text
        if isinstance(word, str) and word and word == word.strip() and word.isprintable():
            good.append(word)
        else:
            problem = "expected a text of visible characters, without blanks around it"
            problems.add(problem, f"{where}, word number {number}", word)
    for word in checks.repeated(good):
        problems.add(f"expected each word once, got {word!r} {good.count(word)} times", where)
    if len(value) < 2:
        hint = "one word says nothing about how words vary" if value else "fill the list"
        problems.add("expected two words or more", where, list(value), hint=hint)
    return tuple(good)


def _sets(data: Mapping[str, Any], key: str, where: str, problems: Problems) -> tuple[Words, ...]:
    """Check a list of sets of words."""
    return tuple(
        _words(words, f"{where}, {key}, set number {i}", problems)
        for i, words in enumerate(data.get(key, ()), start=1)
    )


def _check_known(
    words: Iterable[Any], known: Iterable[str], where: str, problems: Problems
) -> None:
    for word in words:
        if word not in known:
            problem, hint = "expected a word of this list", nearest(str(word), known)
            problems.add(problem, where, word, hint=hint)


def _classes(
    data: Mapping[str, Any], where: str, problems: Problems, short_form: bool
) -> tuple[WordClass, ...]:
    tables, shared = data.get("class"), data.get("attribute_sets")
    listed = tables if isinstance(tables, list | tuple) else ()
    if not listed or not all(isinstance(table, Mapping) for table in listed):
        problem = f"expected one class or more, each a table [[class]], got {tables!r}"
        problems.add(problem, f"{where}, class")
        return ()
    classes, are_factors = [], True
    for number, table in enumerate(listed, start=1):
        here, name = f"{where}, class number {number}", f"class number {number}"
        with problems.kept():
            name = checks.line(table.get("name"), f"{here}, name")
            here = f"{where}, class {name!r}"
        # In the short form the name is the key: naming it as a valid key would mislead.
        stated = [key for key in table if not (short_form and key == "name")]
        valid = _CLASS_KEYS[short_form:]
        checks.known_keys(stated, valid, here, problems=problems, hints=_MISPLACED)
        protected = _words(table.get("protected"), f"{here}, protected", problems)
        attributes: Words = ()
        if "attributes" in table or not shared:
            key, hint = f"{here}, attributes", "to compare groups, add [attribute_sets]"
            attributes = _words(table.get("attributes"), key, problems, hint)
        attribute_class, key = name, f"{here}, attribute_class"
        with problems.kept():
            attribute_class = checks.line(table.get("attribute_class", name), key)
        if attribute_class in CONTROLS:
            problems.add("expected another name than that of controls", key, attribute_class)
        factors: dict[str, str] = {}
        try:
            factors = _factors(table.get("factors", {}), f"{here}, factors")
        except InputError as error:
            problems.append(error)
            are_factors = False
        classes.append(WordClass(name, protected, attribute_class, attributes, factors))
    if are_factors:
        _check_factors(classes, where, problems)
    for name in checks.repeated(c.name for c in classes):
        problems.add("expected one class of each name", f"{where}, class", name)
    for word in checks.repeated(w for c in classes for w in dict.fromkeys(c.protected)):
        owners = join_words(repr(c.name) for c in classes if word in c.protected)
        problem = f"expected each protected word in one class, got {word!r} in {owners}"
        problems.add(problem, f"{where}, class")
    first: dict[str, WordClass] = {}
    for c in classes:
        other = first.setdefault(c.attribute_class, c)
        if set(other.attributes) != set(c.attributes) and other.name != c.name and c.attributes:
            problem = f"expected another name than for the attributes of {other.name!r}"
            key = f"{where}, class {c.name!r}, attribute_class"
            problems.add(problem, key, c.attribute_class)
    return tuple(classes)


def _factors(stated: Any, where: str) -> dict[str, str]:
    """Return the factors of one class."""
    checks.table(stated, where, 'levels such as {race = "black", gender = "woman"}')
    return {
        checks.line(factor, where): checks.line(level, f"{where}, {factor}")
        for factor, level in stated.items()
    }


def _check_factors(classes: Sequence[WordClass], where: str, problems: Problems) -> None:
    """Check that classes cross two or three factors, each in a cell of its own; one problem at most."""
    stated = [c for c in classes if c.factors]
    if not stated:
        return
    first, here = stated[0], f"{where}, class {{!r}}, factors"
    names = [*first.factors]
    if not 2 <= len(names) <= MOST_FACTORS:
        problems.add(f"expected two or three factors, got {some(names)}", here.format(first.name))
        return
    for c in classes:
        if {*c.factors} != {*names}:
            got = some(c.factors) if c.factors else "none"
            problem = f"expected the factors {join_words(names)}, got {got}"
            hint = "write the same factors in each class"
            problems.add(problem, here.format(c.name), hint=hint)
            return
    for name in names:
        levels = checks.once(c.factors[name] for c in classes)
        if len(levels) < 2:
            problem = f"expected two levels of {name!r} or more, got {some(levels)}"
            problems.add(problem, f"{where}, factors", hint="leave the factor out of all classes")
            return
    cells: dict[tuple[str, ...], str] = {}
    for c in classes:
        other = cells.setdefault(tuple(c.factors[name] for name in names), c.name)
        if other != c.name:
            problem = f"expected another combination than that of {other!r}"
            got = some(f"{name} {c.factors[name]}" for name in names)
            problems.add(
                f"{problem}, got {got}", here.format(c.name), hint="write one class for both"
            )
            return


def _settled_sets(words: WordList, problems: Problems) -> tuple[WordList, list[str]]:
    """Drop from sets of no class the words that others hold, and note it."""
    sets = words.attribute_sets
    owned = {word for c in words.classes for word in c.attributes}
    several = checks.repeated(word for held in sets.values() for word in held)
    mine = [word for held in sets.values() for word in held if word in owned]
    kept = {
        name: tuple(word for word in held if word not in (*several, *mine))
        for name, held in sets.items()
    }
    for name, held in kept.items():
        if len(held) < 2 <= len(sets[name]):
            problem = "expected two words or more that no other set holds"
            problems.add(problem, f"{words.origin}, attribute_sets, {name}", list(held))
    notes = [
        f"{said}: {some(dropped, 20)}."
        for said, dropped in (
            ("In several attribute sets, and left out of all", several),
            ("Left out of the attribute sets, because they are stereotypes of a class", mine),
        )
        if dropped
    ]
    return replace(words, attribute_sets=kept), notes


def _controls(
    x: Any, where: str, problems: Problems, folder: Path = Path(), name: str = "custom"
) -> tuple[Controls | None, tuple[str, str] | None]:
    """Return the control words, with their origin and digest."""
    if x is None or (isinstance(x, str) and x == "none"):
        return None, None
    if isinstance(x, Mapping):
        x = _read_controls({"schema": _SCHEMA, **checks.tree(x)}, name, where, problems)
    if isinstance(x, Controls):
        return x, (f"controls {x.name}", files.sha256_of(json.dumps([x.human, x.neutral])))
    try:
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
    origin = files.origin_of(path, _CONTROL_FOLDER)
    return _read_controls(data, path.stem, str(path), problems), (origin, files.sha256_file(path))


def _read_controls(data: Mapping[str, Any], name: str, where: str, problems: Problems) -> Controls:
    checks.known_keys(data, (*_ABOUT, *CONTROLS), where, problems=problems, hints=_MISPLACED)
    about = _about(data, name, where, problems)
    lists = {
        kind: _words(data[kind], f"{where}, {kind}", problems) if kind in data else ()
        for kind in CONTROLS
    }
    if not any(kind in data for kind in CONTROLS):
        problems.add("expected human or neutral control words, got none", where)
    return Controls(human=lists["human"], neutral=lists["neutral"], **about)


def _settled_controls(
    words: WordList, controls: Controls | None
) -> tuple[Controls | None, list[str]]:
    """Drop control words that are something else already, and note it."""
    owners = checks.grouped((word, c.name) for c in words.classes for word in c.attributes)
    several = [word for word, names in owners.items() if len(names) > 1]
    has_stereotypes = bool(owners)
    owners |= {word: [name] for name, listed in words.attribute_sets.items() for word in listed}
    notes = []
    if several:
        notes.append(f"Stereotypes of several classes, associated with each: {some(several)}.")
    if len(words.classes) == 1 and has_stereotypes:
        notes.append("The list has one class, so no pair is 'different'.")
    elif several and all(len(names) == len(words.classes) for names in owners.values()):
        notes.append("All classes have the same attributes, so no pair is 'different'.")

    others = dict.fromkeys(owners, "an attribute")
    if controls is None and has_stereotypes:
        notes.append(
            "There are no control words, so stereotypes are compared only with each other. "
            "--controls 2022 adds English ones."
        )
    elif controls is not None:
        if taken := [w for w in (*controls.human, *controls.neutral) if w in owners]:
            dropped = some(taken, 20)
            notes.append(f"Dropped from the controls, because they are attributes here: {dropped}.")
        human = tuple(w for w in controls.human if w not in owners)
        if both := [w for w in controls.neutral if w in human]:
            notes.append(f"Human and neutral at once, kept as human: {some(both, 20)}.")
        neutral = tuple(w for w in controls.neutral if w not in {*owners, *human})
        for kind, left in (("human", human), ("neutral", neutral)):
            others |= dict.fromkeys(left, f"a {kind} control word")
            if len(left) < 2 and getattr(controls, kind):  # else none were wanted
                count = number_of(len(left), f"{kind} control word")
                notes.append(f"{count} in use: that group says little.")
        if len({words.language, controls.language} - {NOT_STATED}) > 1:
            theirs = f"the controls {controls.name} in {controls.language!r}"
            notes.append(f"The word list is in language {words.language!r}, {theirs}.")
        controls = replace(controls, human=human, neutral=neutral)
    if twofold := [word for word in words.protected_words if word in others]:
        named = some(f"{word!r} (also {others[word]})" for word in twofold)
        notes.append(f"The pair of a protected word with itself is left out: {named}.")
    return controls, notes
