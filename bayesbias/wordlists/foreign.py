"""Word lists in the forms of other programs, made into the mapping that `load_wordlist` checks.

Read are the queries of WEFE (``target_sets``, ``attribute_sets``), the tests of May et al. (2019; ``targ1`` to
``attr2``), the arguments and the tables of R's PsychWordVec (``T1`` to ``A2``; ``Target, Attrib, T_word, A_word``), and
plain tables, with one column a set or one row a word, separated by commas, semicolons or tabs.

All of these name sets of targets and sets of attributes. The first set of targets goes with the first of attributes and
so on, unless their names say otherwise; that is noted, since no file says it.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import guarded, read_json, read_text, separated
from bayesbias.core.formatting import Shortened, closest, join_words, number_of, some

FOREIGN_ENDINGS = (".json", ".jsonl", ".csv", ".tsv")
FORMS = (
    "a .toml file, a .json file (a WEFE query, a test with targ1 to attr2, T1 to A2), or a .csv or .tsv table with the columns "
    "word, class, kind, or one column a set"
)
_CODE = re.compile(r"(?:(t|targ|target|x|y)|(a|attr|attrib|attribute|b))[ _.]?(\d{0,4})")
# A name ends before the marks that part it from its role: were it free to end among them, a row of marks would take the square of
# its length. Of a name that is all marks the first stands for it.
_NAMED = re.compile(
    r"(.*[^ _.:\-\n]|[ _.:-])[ _.:-]+(?:(protected|targets?|words?)|(attributes?|attribs?|stereotypes?))",
    re.IGNORECASE,
)
_WORD = ("word", "words", "item", "term")
_SET = ("class", "set", "category", "condition", "group", "concept", "label")
_KIND = ("kind", "role", "type")
_KINDS = {
    **dict.fromkeys(("protected", "target", "targets", "t"), "target"),
    **dict.fromkeys(("attribute", "attributes", "attrib", "stereotype", "a"), "attribute"),
    "human": "human",
    "neutral": "neutral",
}
_FORMS_BY_KEYS = (("target_sets", "attribute_sets"), ("targ1", "attr1"))
_QUERY = ("target_sets", "attribute_sets", "target_sets_names", "attribute_sets_names")
_MOST_COMPARED = 100  # keys that are held against those of other programs
_MOST_BLANKS = 2  # in a word; a sentence has more


@dataclass
class Sets:
    """The sets of a list as they are found: name to words, in order."""

    form: str
    targets: dict[str, list[str]] = field(default_factory=dict)
    attributes: dict[str, list[str]] = field(default_factory=dict)
    controls: dict[str, list[str]] = field(default_factory=dict)


def foreign_file(path: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Read a word list that is no TOML file.

    Returns
    -------
    dict, tuple of str
        The mapping that `load_wordlist` takes, and what to note.

    Raises
    ------
    InputError
        Where the file cannot be read, or its form is not known.
    """
    if path.suffix.lower() in (".json", ".jsonl"):
        data = read_json(path)
        if not isinstance(data, Mapping):
            raise InputError("is no word list", where=path, found=Shortened(data), valid=FORMS)
        sets = foreign_mapping(data, str(path))
        if sets is None and not _is_ours(data):
            raise _unknown(data, path)
        return sets or (dict(data), ())
    return _as_mapping(_sets_of_table(path), str(path))


def foreign_mapping(
    data: Mapping[Any, Any], where: str = "mapping"
) -> tuple[dict[str, Any], tuple[str, ...]] | None:
    """Return a mapping in the form of another program as one of ours; None where it has no such form."""
    if _is_ours(data):
        return None
    keys = {str(key) for key in data}
    if {"target_sets", "attribute_sets"} <= keys:
        return _as_mapping(_sets_of_query(data, where), where)
    if {"targ1", "attr1"} <= keys:
        return _as_mapping(_sets_of_test(data, where), where)
    if {"T1", "A1"} <= keys:
        return _as_mapping(_sets_of_arguments(data, where), where)
    for form in _FORMS_BY_KEYS:
        # Of which one key is there, or both are nearly: what was meant is a form, not a list with classes of these names.
        meant = {key: closest(key, form) for key in itertools.islice(map(str, data), _MOST_COMPARED)}
        if any(key in form for key in keys) or all(name in meant.values() for name in form):
            lacking = next(name for name in form if name not in keys)
            near = next((key for key, name in meant.items() if name == lacking and key not in _QUERY), None)
            raise InputError(
                f"lacks the key {lacking!r}",
                where=where,
                found=some(keys),
                valid=form,
                hint=f"{near!r} may be meant as {lacking!r}" if near else None,
            )
    return None


def _is_ours(data: Mapping[Any, Any]) -> bool:
    return "class" in data or any(isinstance(v, Mapping) and "protected" in v for v in data.values())


def _unknown(data: Mapping[Any, Any], path: Path) -> InputError:
    if data and all(isinstance(v, list) for v in data.values()):
        return InputError(
            "holds sets of words, but not which are targets and which their attributes",
            where=path,
            found=some(map(str, data)),
            valid="target_sets and attribute_sets; targ1 to attr2; T1, T2, A1, A2; or CLASS with protected and attributes",
        )
    return InputError("is no word list", where=path, found=some(map(str, data)), valid=FORMS)


def _sets_of_query(data: Mapping[Any, Any], where: str) -> Sets:
    """Return the sets of a query of WEFE."""
    query = Sets("a WEFE query")
    for key in map(str, data):
        if key not in _QUERY and closest(key, _QUERY):
            raise checks.unknown(key, _QUERY, "key", where)
    for which, into in (("target", query.targets), ("attribute", query.attributes)):
        sets = data[f"{which}_sets"]
        names = data.get(f"{which}_sets_names")
        if isinstance(sets, Mapping):
            names, sets = list(sets), list(sets.values())
        if not isinstance(sets, list | tuple):
            raise InputError(
                "must be a list of lists of words", where=f"{where}, {which}_sets", found=Shortened(sets)
            )
        if names is None:
            names = [f"{which} set {i}" for i in range(1, len(sets) + 1)]
        if not isinstance(names, list | tuple) or len(names) != len(sets):
            raise InputError(
                f"must be {number_of(len(sets), 'name')}, one a set",
                where=f"{where}, {which}_sets_names",
                found=Shortened(names),
            )
        for name, words in zip(names, sets, strict=True):
            _add(into, name, words, f"{where}, {which}_sets")
    return query


def _sets_of_test(data: Mapping[Any, Any], where: str) -> Sets:
    """Return the sets of a test in the form of May et al. (2019)."""
    sets = Sets("a test with targ1 to attr2")
    for key, value in sorted(data.items(), key=lambda item: _place(str(item[0]))):
        match = re.fullmatch(r"(targ|attr)(\d+)", str(key))
        if not match:
            raise checks.unknown(key, ("targ1", "targ2", "attr1", "attr2"), "key", where)
        here = f"{where}, {key}"
        part = checks.table(value, here, "a table with category and examples")
        checks.known_keys(
            part, ("category", "examples", "words", "templates"), here, needed=("category", "examples")
        )
        words = part.get("words", part["examples"])
        words = list(dict.fromkeys(words)) if "words" in part and isinstance(words, list) else words
        _add(sets.targets if match[1] == "targ" else sets.attributes, part["category"], words, here)
    return sets


def _sets_of_arguments(data: Mapping[Any, Any], where: str) -> Sets:
    """Return the sets that PsychWordVec's ``test_WEAT`` takes, with its labels."""
    sets = Sets("the arguments of PsychWordVec")
    labels = checks.table(data.get("labels", {}), f"{where}, labels")
    for key, value in sorted(data.items(), key=lambda item: _place(str(item[0]))):
        if key == "labels":
            continue
        match = re.fullmatch(r"([TA])(\d+)", str(key))
        if not match:
            raise checks.unknown(key, ("T1", "T2", "A1", "A2", "labels"), "key", where)
        words = _parted(value) if isinstance(value, str) else value
        _add(
            sets.targets if match[1] == "T" else sets.attributes,
            labels.get(key, key),
            words,
            f"{where}, {key}",
        )
    return sets


def _parted(text: str) -> list[str]:
    """Return the words of a text between commas, semicolons and line ends; blanks and empty lines beside these are nothing."""
    return [
        word
        for part in map(str.strip, re.split("[,;]", text))
        for word in map(str.strip, part.split("\n"))
        if word or not part
    ]


def _place(name: str) -> tuple[str, int]:
    """Return where a set stands among its like by its code: T1 before T2 and X before Y, in whatever order they are written."""
    coded = _CODE.fullmatch(name.casefold())
    return ((coded[1] or coded[2])[0], int(coded[3] or 0)) if coded else ("", 0)


def _add(into: dict[str, list[str]], name: Any, words: Any, where: str) -> None:
    if not isinstance(name, str) or not name.strip():
        raise InputError(
            "the name of a set must be a text that is not empty", where=where, found=Shortened(name)
        )
    if not isinstance(words, list | tuple):
        raise InputError(
            "must be a list of words", where=where, found=Shortened(words), valid='["word", "word"]'
        )
    if name.strip() in into:
        raise InputError("two sets have one name", where=where, found=name)
    into[name.strip()] = list(words)


def rows_of_table(path: Path, valid: str = FORMS) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the headings of a table and its rows, each with its line; short rows, of the longer of two sets, are filled."""
    names, rows, _ = separated_rows(path, valid, ragged=True)
    filled = [(line, [*row, *[""] * (len(names) - len(row))]) for line, row in rows]
    return names, filled


def separated_rows(
    path: Path, valid: str = FORMS, *, ragged: bool = False
) -> tuple[list[str], list[tuple[int, list[str]]], str]:
    """Return headings, rows as they are, each with its line, and the separator: that which most headings have.

    Unless rows may be ragged, one that is too short is refused: which cell it lost, nobody knows.
    """
    text = read_text(path)
    first = next((line for line in text.splitlines() if line.strip()), "")
    with guarded(path, "is not a table"):
        counts = {mark: len(next(csv.reader([first], delimiter=mark), [])) for mark in ",;\t"}
    mark = max(counts, key=lambda each: counts[each])
    rows = [
        (line, [cell.strip() for cell in row])
        for line, row in separated(io.StringIO(text, newline=""), mark, path)
        if any(cell.strip() for cell in row)
    ]
    if not rows:
        raise InputError("the table is empty", where=path, valid=valid)
    names = rows[0][1]
    for line, row in rows[1:]:
        short = len(row) < len(names) and not ragged
        if short or (len(row) > len(names) and any(row[len(names) :])):
            verb = "is" if len(names) == 1 else "are"
            raise InputError(
                f"has {number_of(len(row), 'cell')}, and there {verb} {number_of(len(names), 'heading')}",
                where=f"{path}, line {line}",
                found=row,
                hint="an empty cell keeps its separator" if short else None,
            )
    return names, rows[1:], mark


def _sets_of_table(path: Path) -> Sets:
    names, rows = rows_of_table(path)
    if names and names[0] == "" and len(names) > 1:  # the numbers of rows that R and pandas write
        names, rows = names[1:], [(line, row[1:]) for line, row in rows]
    lower = [name.casefold() for name in names]
    checks.distinct([name for name in lower if name], "a column", path)
    if {"target", "attrib", "t_word", "a_word"} <= set(lower):
        table_sets = Sets("a table of PsychWordVec")
        for words, sets, into in (
            ("t_word", "target", table_sets.targets),
            ("a_word", "attrib", table_sets.attributes),
        ):
            for _, row in rows:
                into.setdefault(row[lower.index(sets)], []).append(row[lower.index(words)])
        for side in (table_sets.targets, table_sets.attributes):  # each word stands there once a pair
            side |= {name: list(dict.fromkeys(words)) for name, words in side.items()}
        return table_sets
    if any(name in _WORD for name in lower):
        return _sets_of_rows(lower, rows, path)
    return _sets_of_columns(names, rows, path)


def _sets_of_rows(names: list[str], rows: list[tuple[int, list[str]]], path: Path) -> Sets:
    """Return the sets of a table with one row a word."""
    word, group, kind = (
        next((names.index(n) for n in names if n in known), None) for known in (_WORD, _SET, _KIND)
    )
    assert word is not None
    if group is None:
        raise InputError(
            "no column says to which class a word belongs",
            where=path,
            found=names,
            valid=("word", "class", "kind"),
        )
    if "study" in names and len(studies := {row[names.index("study")] for _, row in rows}) > 1:
        raise InputError(
            "holds several lists; keep the rows of one",
            where=f"{path}, column study",
            found=some(sorted(studies)),
        )
    sets = Sets("a table with one row a word")
    for line, row in rows:
        here = f"{path}, line {line}"
        if not row[word] or not (row[group] or kind is not None):
            raise InputError("a cell is empty", where=here, found=row)
        if kind is not None:
            asked = checks.choice(
                row[kind].casefold(), _KINDS, "kind of word", f"{here}, column {names[kind]}"
            )
            role, name = _KINDS[asked], row[group]
        else:
            coded = _CODE.fullmatch(row[group].casefold())
            if not coded:
                raise InputError(
                    "does not say whether the word is protected or an attribute",
                    where=here,
                    found=row[group],
                    valid="a column kind with protected or attribute; or T1, T2, A1, A2 as classes",
                )
            role, name = ("target" if coded[1] else "attribute"), row[group]
        if role in ("human", "neutral"):
            sets.controls.setdefault(role, []).append(row[word])
            continue
        if not name:
            raise InputError("the class is missing", where=here, found=row)
        (sets.targets if role == "target" else sets.attributes).setdefault(name, []).append(row[word])
    return sets


def _sets_of_columns(names: list[str], rows: list[tuple[int, list[str]]], path: Path) -> Sets:
    """Return the sets of a table with one column a set."""
    sets = Sets("a table with one column a set")
    coded = [_CODE.fullmatch(name.casefold()) for name in names]
    named = [_NAMED.fullmatch(name) for name in names]
    roles: list[tuple[str, str]] = []
    if all(coded):
        roles = [
            ("target" if m and m[1] else "attribute", name) for m, name in zip(coded, names, strict=True)
        ]
    elif all(m or name.casefold() in ("human", "neutral") for m, name in zip(named, names, strict=True)):
        for m, name in zip(named, names, strict=True):
            roles.append((name.casefold(), name) if m is None else ("target" if m[2] else "attribute", m[1]))
    elif len(names) == 4 and all(names):
        _refuse_other_order(names, path)
        sets.form += ", in the order of two protected classes and their two sets of attributes"
        roles = list(zip(("target", "target", "attribute", "attribute"), names, strict=True))
    else:
        raise InputError(
            "the headings do not say which columns are protected words and which attributes",
            where=path,
            found=some(map(repr, names)),
            valid="T1, T2, A1, A2; CLASS protected and CLASS attributes; four columns X, Y, A, B; or columns word, class, kind",
        )
    for place, (role, name) in enumerate(roles):
        words = [row[place] for _, row in rows if row[place]]
        into = {"target": sets.targets, "attribute": sets.attributes}.get(role, sets.controls)
        _add(into, name, words, f"{path}, column {names[place]}")
    return sets


def _refuse_other_order(names: list[str], path: Path) -> None:
    """Refuse four columns of which one is named after another that it would not be held beside, such as old and old_attr."""
    folded = [name.casefold() for name in names]
    for i, j in itertools.permutations(range(4), 2):
        rest = folded[j].removeprefix(folded[i])
        if rest != folded[j] and rest[:1] and not rest[0].isalnum() and (i, j) not in ((0, 2), (1, 3)):
            raise InputError(
                f"{names[j]!r} is named after {names[i]!r}, and four columns are two protected classes and then their attributes",
                where=path,
                found=names,
                valid="the order X, Y, A, B, with A that of X; or headings CLASS protected and CLASS attributes",
            )


def _as_mapping(sets: Sets, where: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return sets as the mapping that `load_wordlist` takes, with what was made of them."""
    targets, attributes = list(sets.targets), list(sets.attributes)
    if not targets or len(targets) != len(attributes):
        raise InputError(
            "each set of targets needs its own set of attributes; there are "
            f"{_counted(targets, 'set of targets', 'sets of targets')} and "
            f"{_counted(attributes, 'set of attributes', 'sets of attributes')}",
            where=where,
            valid="as many of either",
            hint="repeat the one set of attributes for every set of targets"
            if len(attributes) == 1 and targets
            else "swap targets and attributes, then repeat the one set of attributes for every set of targets"
            if len(targets) == 1 and attributes
            else "give every class its attributes"
            if targets
            else None,
        )
    every = [
        w
        for group in (sets.targets, sets.attributes, sets.controls)
        for words in group.values()
        for w in words
    ]
    long = [w for w in every if isinstance(w, str) and w.count(" ") > _MOST_BLANKS]
    if len(long) > len(every) / 2:
        raise InputError(
            "holds sentences, not words",
            where=where,
            found=long[0],
            hint="a test of sentences is for `bayesbias seat`",
        )
    if all(_CODE.fullmatch(name.casefold()) for name in (*targets, *attributes)):
        targets, attributes = (sorted(names, key=_place) for names in (targets, attributes))
    own = dict(zip(targets, targets, strict=True))
    by_name = set(own) == set(attributes)
    notes = []
    again: list[str] = []
    classes = []
    for target, other in zip(targets, attributes, strict=True):
        chosen = target if by_name else other
        protected, stereotypes = (
            _once(words, again) for words in (sets.targets[target], sets.attributes[chosen])
        )
        classes.append(
            {"name": target, "protected": protected, "attribute_class": chosen, "attributes": stereotypes}
        )
    together = join_words(f"{c['name']} with {c['attribute_class']}" for c in classes)
    notes.append(
        f"Read as {sets.form}: "
        + ("attributes by the name of their class." if by_name else f"{together}, in their order.")
    )
    controls = {kind: _once(words, again) for kind, words in sets.controls.items()}
    if again:
        notes.append(f"Listed more than once in a set, and counted once: {some(dict.fromkeys(again))}.")
    data: dict[str, Any] = {"schema": 1, "class": classes}
    return ({**data, "controls": controls} if controls else data), tuple(notes)


def _once(words: Iterable[Any], again: list[str]) -> list[Any]:
    """Return words, each once; what stood there again is added to a list."""
    out: list[Any] = []
    known: set[str] = set()
    for word in words:
        if isinstance(word, str) and word in known:
            again.append(word)
            continue
        out.append(word)
        if isinstance(word, str):
            known.add(word)
    return out


def _counted(names: list[str], noun: str, plural: str) -> str:
    return number_of(len(names), noun, plural) + (f" ({', '.join(names)})" if names else "")
