"""Word lists in the forms of other programs, made into the mapping that `load_wordlist` checks.

Read are the queries of WEFE (``target_sets``, ``attribute_sets``), the tests of May et al. (2019;
``targ1`` to ``attr2``), the arguments and the tables of R's PsychWordVec (``T1`` to ``A2``;
``Target, Attrib, T_word, A_word``), and plain tables, with one column a set or one row a word.

The first set of targets goes with the first set of attributes and so on, unless their names say
otherwise. The notes of the list say so.
"""

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.files import read_json, read_text
from bayesbias.core.formatting import Shortened, join_words, number_of, some

FOREIGN_ENDINGS = (".json", ".jsonl", ".csv", ".tsv")
FORMS = (
    "a .toml file, a .json file (a WEFE query, a test with targ1 to attr2, T1 to A2), or a .csv or .tsv "
    "table with the columns word, class, kind, or one column a set"
)
_CODE = re.compile(r"(?:(t|targ|target|x|y)|(a|attr|attrib|attribute|b))[ _.]?(\d{0,4})")
_NAMED = re.compile(
    r"(.*[^ _.:-])[ _.:-]+(?:(protected|targets?|words?)|(attributes?|attribs?|stereotypes?))",
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
_MOST_BLANKS = 2  # in a word; a sentence has more


@dataclass
class _Sets:
    """The sets of a list as they are found: role to name to words, in order."""

    form: str
    by_role: dict[str, dict[str, list[str]]] = field(
        default_factory=lambda: {"target": {}, "attribute": {}, "control": {}}
    )

    def add(self, role: str, name: Any, words: Any, where: str) -> None:
        """Add a set of words."""
        if not checks.is_text(name):
            raise InputError("the name of a set must be a text", where=where, found=Shortened(name))
        if not isinstance(words, list | tuple):
            raise InputError("must be a list of words", where=where, found=Shortened(words))
        into = self.by_role["control" if role in ("human", "neutral") else role]
        if name.strip() in into:
            raise InputError("two sets have one name", where=where, found=name)
        into[name.strip()] = list(words)

    def append(self, role: str, name: str, word: str) -> None:
        """Add a word to a set."""
        into = self.by_role["control" if role in ("human", "neutral") else role]
        into.setdefault(name, []).append(word)


def foreign_file(path: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Read a word list that is not a TOML file: the mapping that `load_wordlist` takes, and notes."""
    if path.suffix.lower() not in (".json", ".jsonl"):
        return _as_mapping(_sets_of_table(path), str(path))
    data = read_json(path)
    if not isinstance(data, Mapping):
        raise InputError("is not a word list", where=path, found=Shortened(data), valid=FORMS)
    if sets := foreign_mapping(data, str(path)):
        return sets
    if _is_ours(data):
        return dict(data), ()
    raise InputError(
        "does not say which sets are targets and which their attributes",
        where=path,
        found=some(map(str, data)),
        valid="target_sets and attribute_sets; targ1 to attr2; T1, T2, A1, A2; or CLASS with protected and attributes",
    )


def foreign_mapping(
    data: Mapping[Any, Any], where: str = "mapping"
) -> tuple[dict[str, Any], tuple[str, ...]] | None:
    """Return a mapping in the form of another program as one of ours; None if it has no such form."""
    if _is_ours(data):
        return None
    forms = (
        ("target_sets", "attribute_sets", _sets_of_query),
        ("targ1", "attr1", _sets_of_test),
        ("T1", "A1", _sets_of_arguments),
    )
    for first, second, read in forms:
        if first in data and second in data:
            return _as_mapping(read(data, where), where)
        if first in data or second in data:
            lacking = second if first in data else first
            hint = nearest(lacking, map(str, data))
            raise InputError(f"lacks the key {lacking!r}", where=where, found=some(data), hint=hint)
    return None


def _is_ours(data: Mapping[Any, Any]) -> bool:
    return "class" in data or any(
        isinstance(v, Mapping) and "protected" in v for v in data.values()
    )


def _sets_of_query(data: Mapping[Any, Any], where: str) -> _Sets:
    """Return the sets of a query of WEFE."""
    query = _Sets("a WEFE query")
    for role in ("target", "attribute"):
        sets, names = data[f"{role}_sets"], data.get(f"{role}_sets_names")
        if isinstance(sets, Mapping):
            names, sets = list(sets), list(sets.values())
        if not isinstance(sets, list | tuple):
            place = f"{where}, {role}_sets"
            raise InputError("must be a list of lists of words", where=place, found=Shortened(sets))
        if names is None:
            names = [f"{role} set {i}" for i in range(1, len(sets) + 1)]
        if not isinstance(names, list | tuple) or len(names) != len(sets):
            problem, place = (
                f"must be {number_of(len(sets), 'name')}, one a set",
                f"{where}, {role}_sets_names",
            )
            raise InputError(problem, where=place, found=Shortened(names))
        for name, words in zip(names, sets, strict=True):
            query.add(role, name, words, f"{where}, {role}_sets")
    return query


def _sets_of_test(data: Mapping[Any, Any], where: str) -> _Sets:
    """Return the sets of a test in the form of May et al. (2019)."""
    sets = _Sets("a test with targ1 to attr2")
    for key in sorted(data, key=lambda key: _place(str(key))):
        if not (match := re.fullmatch(r"(targ|attr)\d+", str(key))):
            raise checks.unknown(key, ("targ1", "targ2", "attr1", "attr2"), "key", where)
        here = f"{where}, {key}"
        part, keys = checks.table(data[key], here), ("category", "examples", "words", "templates")
        checks.known_keys(part, keys, here, needed=keys[:2])
        words = list(dict.fromkeys(part["words"])) if "words" in part else part["examples"]
        sets.add("target" if match[1] == "targ" else "attribute", part["category"], words, here)
    return sets


def _sets_of_arguments(data: Mapping[Any, Any], where: str) -> _Sets:
    """Return the sets that PsychWordVec's ``test_WEAT`` takes, with its labels."""
    sets = _Sets("the arguments of PsychWordVec")
    labels = checks.table(data.get("labels", {}), f"{where}, labels")
    for key in sorted((key for key in data if key != "labels"), key=lambda key: _place(str(key))):
        if not (match := re.fullmatch(r"([TA])\d+", str(key))):
            raise checks.unknown(key, ("T1", "T2", "A1", "A2", "labels"), "key", where)
        words = data[key]
        if isinstance(words, str):
            words = [word.strip() for word in re.split("[,;\n]", words) if word.strip()]
        sets.add(
            "target" if match[1] == "T" else "attribute",
            labels.get(key, key),
            words,
            f"{where}, {key}",
        )
    return sets


def _place(name: str) -> tuple[str, int]:
    """Return the place of a set by its code: T1 before T2 and X before Y, in whatever order written."""
    coded = _CODE.fullmatch(name.casefold())
    return ((coded[1] or coded[2])[0], int(coded[3] or 0)) if coded else ("", 0)


def separated_rows(
    path: Path, valid: str = FORMS, *, ragged: bool = False
) -> tuple[list[str], list[tuple[int, list[str]]], str]:
    """Return headings, rows, each with its line, and the separator: that which most headings have.

    Unless rows may be ragged, one that is too short is refused.
    """
    lines = read_text(path).splitlines(keepends=True)
    first = next((line for line in lines if line.strip()), "")
    mark = max(",;\t", key=lambda each: len(next(csv.reader([first], delimiter=each), [])))
    reader = csv.reader(lines, delimiter=mark, strict=True)
    try:
        rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except csv.Error as error:
        where = f"{path}, line {reader.line_num}"
        raise InputError(
            f"is not a table ({error})", where=where, hint="close all quotation marks"
        ) from None
    rows = [(line, row) for line, row in rows if any(row)]
    if not rows:
        raise InputError("the table is empty", where=path, valid=valid)
    names = rows[0][1]
    for line, row in rows[1:]:
        if (len(row) < len(names) and not ragged) or any(row[len(names) :]):
            problem = f"has {number_of(len(row), 'cell')}, and there are {number_of(len(names), 'heading')}"
            hint = "an empty cell keeps its separator"
            raise InputError(problem, where=f"{path}, line {line}", found=row, hint=hint)
    return names, rows[1:], mark


def _sets_of_table(path: Path) -> _Sets:
    names, rows, _ = separated_rows(path, ragged=True)
    rows = [(line, [*row, *[""] * (len(names) - len(row))]) for line, row in rows]
    if names[0] == "" and len(names) > 1:  # the numbers of rows that R and pandas write
        names, rows = names[1:], [(line, row[1:]) for line, row in rows]
    lower = [name.casefold() for name in names]
    checks.distinct([name for name in lower if name], "a column", path)
    if {"target", "attrib", "t_word", "a_word"} <= set(lower):
        sets = _Sets("a table of PsychWordVec")
        for role, word, name in (("target", "t_word", "target"), ("attribute", "a_word", "attrib")):
            # Each word is there once a pair.
            for one, group in dict.fromkeys(
                (row[lower.index(word)], row[lower.index(name)]) for _, row in rows
            ):
                sets.append(role, group, one)
        return sets
    if any(name in _WORD for name in lower):
        return _sets_of_rows(lower, rows, path)
    return _sets_of_columns(names, rows, path)


def _sets_of_rows(names: list[str], rows: list[tuple[int, list[str]]], path: Path) -> _Sets:
    """Return the sets of a table with one row a word."""
    word, group, kind = (
        next((names.index(n) for n in names if n in known), None) for known in (_WORD, _SET, _KIND)
    )
    assert word is not None
    if group is None:
        problem = "no column says to which class a word belongs"
        raise InputError(problem, where=path, found=names, valid="word, class, kind")
    if "study" in names and len(studies := {row[names.index("study")] for _, row in rows}) > 1:
        problem, where = "holds several lists; keep the rows of one", f"{path}, column study"
        raise InputError(problem, where=where, found=some(sorted(studies)))
    sets = _Sets("a table with one row a word")
    for line, row in rows:
        here, name = f"{path}, line {line}", row[group]
        if kind is not None:
            where = f"{here}, column {names[kind]}"
            role = _KINDS[checks.choice(row[kind].casefold(), _KINDS, "kind of word", where)]
        elif coded := _CODE.fullmatch(name.casefold()):
            role = "target" if coded[1] else "attribute"
        else:
            valid = "a column kind with protected or attribute; or T1, T2, A1, A2 as classes"
            problem = "does not say whether the word is protected or an attribute"
            raise InputError(problem, where=here, found=name, valid=valid)
        name = role if role in ("human", "neutral") else name
        if not row[word] or not name:
            raise InputError("a cell is empty", where=here, found=row)
        sets.append(role, name, row[word])
    return sets


def _sets_of_columns(names: list[str], rows: list[tuple[int, list[str]]], path: Path) -> _Sets:
    """Return the sets of a table with one column a set."""
    sets = _Sets("a table with one column a set")
    roles: list[tuple[str, str]] = []
    for name in names:
        if coded := _CODE.fullmatch(name.casefold()):
            roles.append(("target" if coded[1] else "attribute", name))
        elif named := _NAMED.fullmatch(name):
            roles.append(("target" if named[2] else "attribute", named[1]))
        elif name.casefold() in ("human", "neutral"):
            roles.append((name.casefold(), name.casefold()))
    if len(roles) < len(names):
        if len(names) != 4 or not all(names):
            raise InputError(
                "the headings do not say which columns are protected words and which attributes",
                where=path,
                found=some(map(repr, names)),
                valid="T1, T2, A1, A2; CLASS protected and CLASS attributes; four columns X, Y, A, B; or columns word, class, kind",
            )
        sets.form += ", in the order of two protected classes and their two sets of attributes"
        roles = list(zip(("target", "target", "attribute", "attribute"), names, strict=True))
    for place, (role, name) in enumerate(roles):
        words = [row[place] for _, row in rows if row[place]]
        sets.add(role, name, words, f"{path}, column {names[place]}")
    return sets


def _as_mapping(sets: _Sets, where: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return sets as the mapping that `load_wordlist` takes, and notes on what was made of them."""
    by_role = sets.by_role
    targets, attributes = list(by_role["target"]), list(by_role["attribute"])
    if not targets or len(targets) != len(attributes):
        one = len(attributes) == 1 and targets
        raise InputError(
            f"each set of targets needs its own set of attributes; there are {_counted(targets, 'target')} "
            f"and {_counted(attributes, 'attribute')}",
            where=where,
            hint="repeat the one set of attributes for every set of targets" if one else None,
        )
    every = [w for group in by_role.values() for words in group.values() for w in words]
    long = [w for w in every if isinstance(w, str) and w.count(" ") > _MOST_BLANKS]
    if len(long) > len(every) / 2:
        hint = "a test of sentences is for `bayesbias seat`"
        raise InputError("holds sentences, not words", where=where, found=long[0], hint=hint)
    if all(_CODE.fullmatch(name.casefold()) for name in (*targets, *attributes)):
        targets, attributes = (sorted(names, key=_place) for names in (targets, attributes))
    by_name = set(targets) == set(attributes)
    again: list[str] = []
    classes = []
    for target, other in zip(targets, targets if by_name else attributes, strict=True):
        classes.append(
            {
                "name": target,
                "protected": _once(by_role["target"][target], again),
                "attribute_class": other,
                "attributes": _once(by_role["attribute"][other], again),
            }
        )
    together = join_words(f"{c['name']} with {c['attribute_class']}" for c in classes)
    how = "attributes by the name of their class" if by_name else f"{together}, in their order"
    notes = [f"Read as {sets.form}: {how}."]
    controls = {kind: _once(words, again) for kind, words in by_role["control"].items()}
    if again:
        notes.append(f"Listed more than once in a set, and counted once: {some(again)}.")
    data: dict[str, Any] = {"schema": 1, "class": classes}
    return ({**data, "controls": controls} if controls else data), tuple(notes)


def _once(words: Iterable[Any], again: list[str]) -> list[Any]:
    """Return words, each once; words that occur again are added to a list."""
    out: list[Any] = []
    for word in words:
        (again if word in out else out).append(word)
    return out


def _counted(names: list[str], role: str) -> str:
    found = f" ({', '.join(names)})" if names else ""
    return number_of(len(names), f"set of {role}s", f"sets of {role}s") + found
