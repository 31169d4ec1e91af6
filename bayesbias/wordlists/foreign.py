"""Word lists in the forms of other programs, made into the mapping that `load_wordlist` checks.

Read are the queries of WEFE (``target_sets``, ``attribute_sets``), the tests of May et al. (2019;
``targ1`` to ``attr2``), the arguments and the tables of R's PsychWordVec (``T1`` to ``A2``;
``Target, Attrib, T_word, A_word``), the arguments of R's sweater (``S_words`` to ``B_words``), plain
tables, with one column a set or one row a word, and two published collections: the vocabularies of
Manzini, Lim, Tsvetkov and Black (2019), and WEATHub (Mukherjee et al., 2023, 24 languages).

The first set of targets goes with the first set of attributes and so on, unless their names say
otherwise. Where their numbers differ, and in queries of WEFE with more than two of either, sets of
attributes belong to no class. The notes of the list say so.
"""

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bayesbias.core import InputError, checks, files, join_words, nearest, number_of, some

FOREIGN_ENDINGS = (".json", ".jsonl", ".csv", ".tsv", ".parquet")
_FORMS = (
    "a .toml file, a .json file (a WEFE query, a test with targ1 to attr2, T1 to A2), or a .csv or "
    ".tsv table with the columns word, class, kind, or one column a set"
)
_OF_PAIRS = "bayesbias debias --definitional-sets FILE (sets= of hard_debias)"
_TEST = ("targ1", "targ2", "attr1", "attr2")
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
    **dict.fromkeys(("set", "attribute_set", "attribute set", "shared"), "set"),
    "human": "human",
    "neutral": "neutral",
}
_QUERY = "a WEFE query"
_MOST_BLANKS = 2  # in a word; a sentence has more

# Role, name and words of each set.
type _Sets = list[tuple[str, Any, Any]]
# What a list is called, and its sets.
type _Named = tuple[str, _Sets]
# A mapping in our form, and notes.
type Mapped = tuple[dict[str, Any], tuple[str, ...]]


def split_list(text: str) -> tuple[str, str]:
    """Split ``weathub.parquet:de/WEAT7`` into file and list.

    Examples
    --------
    >>> split_list("weathub.parquet:de/WEAT7"), split_list("mine.toml")
    (('weathub.parquet', 'de/WEAT7'), ('mine.toml', ''))
    """
    found = re.fullmatch(r"(.+\.(?:parquet|jsonl?|csv|tsv)):([^/\\]+/[^/\\]+)", text)
    return (found[1], found[2]) if found else (text, "")


def foreign_file(path: Path, which: str) -> Mapped:
    """Read a word list that is not a TOML file; return mapping and notes.

    `which` names a list in a file of several.
    """
    if (frame := _read_weathub(path)) is not None:
        return _of_weathub(frame, which, path)
    if path.suffix.lower() not in (".json", ".jsonl"):
        return _as_mapping(*_sets_of_table(path), str(path))
    return foreign_data(files.read_json(path), path)


def foreign_data(data: Any, where: object) -> Mapped:
    """Return what a JSON file or text holds as one of our mappings, and notes."""
    if are_sets(data):
        problem = "expected classes with protected words and attributes, got sets of words"
        raise InputError(problem, where=where, hint=f"of definitional pairs: {_OF_PAIRS}")
    if not isinstance(data, Mapping):
        hint = 'write {"CLASS": {"protected": [...], "attributes": [...]}, ...} for several classes'
        raise checks.wrong_kind(data, where, _FORMS, hint)
    if sets := foreign_mapping(data, str(where)):
        return sets
    if _is_ours(data):
        return dict(data), ()
    problem = f"expected sets of targets and their attributes, got the keys {some(data)}"
    valid = (
        "target_sets and attribute_sets; targ1 to attr2; T1, T2, A1, A2; or CLASS with protected "
        "and attributes"
    )
    raise InputError(problem, where=where, valid=valid)


def are_sets(data: Any) -> bool:
    """Whether data is a list of sets of words, as the definitional pairs of debiaswe.

    Examples
    --------
    >>> are_sets([["woman", "man"], ["girl", "boy"]]), are_sets([{"word": "he"}])
    (True, False)
    """
    if not isinstance(data, list | tuple) or not data:
        return False
    for words in data:
        if not isinstance(words, list | tuple) or len(words) < 2:
            return False
        if not all(isinstance(word, str) for word in words):
            return False
    return True


def load_sets(path: checks.FilePath) -> tuple[tuple[str, ...], ...] | None:
    """Return the sets of words of a JSON file such as debiaswe's; None for another file."""
    file = Path(path)
    if file.suffix.lower() != ".json" or not file.is_file():
        return None
    data = files.read_json(file)
    return tuple(tuple(words) for words in data) if are_sets(data) else None


def foreign_frame(frame: Any, which: str = "") -> Mapped:
    """Return a data frame, with the columns of a table of words, as one of our mappings."""
    where = "data frame"
    frame = frame.rename(columns=str)
    if "targ1.examples" in frame.columns:
        return _of_weathub(frame, which, where)
    cells = frame.astype(object).where(frame.notna(), "").map(str)
    return _as_mapping(*_sets_of_cells(cells, where), where)


def foreign_mapping(data: Mapping[Any, Any], where: str = "mapping") -> Mapped | None:
    """Return a mapping of another program as one of ours, or None."""
    if _is_ours(data):
        return None
    if "analogy_templates" in data and "definite_sets" in data:
        vocabulary = _list_of_manzini(data, where)
        classes = join_words(c["name"] for c in vocabulary["class"])
        return vocabulary, (f"Read as a vocabulary of Manzini et al.: {classes}.",)
    for first, second, read in (
        ("target_sets", "attribute_sets", _sets_of_query),
        ("targ1", "attr1", _sets_of_test),
        ("T1", "A1", _sets_of_arguments),
        ("S_words", "A_words", _sets_of_sweater),
    ):
        if first in data and second in data:
            mapping, notes = _as_mapping(*read(data, where), where)
            ours = ("name", "language", "source", "controls")
            given = {key: data[key] for key in ours if isinstance(data.get(key), str)}
            return {**mapping, **given}, notes
        if first in data or second in data:
            missing, other = (second, first) if first in data else (first, second)
            problem = f"expected the key {missing!r} beside {other!r}, got {some(data)}"
            hint = nearest(missing, [str(key) for key in data if key != other])
            raise InputError(problem, where=where, hint=hint)
    return None


def _is_ours(data: Mapping[Any, Any]) -> bool:
    classes = any(isinstance(v, Mapping) and "protected" in v for v in data.values())
    return "class" in data or classes


def _sets_of_query(data: Mapping[Any, Any], where: str) -> _Named:
    """Return the sets of a query of WEFE."""
    out = []
    for role in ("target", "attribute"):
        sets, names = data[f"{role}_sets"], data.get(f"{role}_sets_names")
        if isinstance(sets, Mapping):
            names, sets = list(sets), list(sets.values())
        if not isinstance(sets, list | tuple):
            place = f"{where}, {role}_sets"
            raise InputError("expected a list of lists of words", where=place, found=sets)
        names = names or [f"{role} set {i}" for i in range(1, len(sets) + 1)]
        if not isinstance(names, list | tuple) or len(names) != len(sets):
            problem = f"expected {number_of(len(sets), 'name')}, one for each set"
            raise InputError(problem, where=f"{where}, {role}_sets_names", found=names)
        out += [(role, name, words) for name, words in zip(names, sets, strict=True)]
    return _QUERY, out


def _sets_of_test(data: Mapping[Any, Any], where: str) -> _Named:
    """Return the sets of a test in the form of May et al. (2019)."""
    out = []
    for key in sorted(map(str, data), key=_place):
        here, keys = f"{where}, {key}", ("category", "examples", "words", "templates")
        if not re.fullmatch(r"(targ|attr)\d+", key):
            raise checks.unknown(key, _TEST, f"{where}, key")
        part = checks.table(data[key], here)
        checks.known_keys(part, keys, here, needed=keys[:2])
        words = checks.once(part["words"]) if "words" in part else part["examples"]
        out.append(("target" if key[0] == "t" else "attribute", part["category"], words))
    return "a test with targ1 to attr2", out


def _sets_of_arguments(data: Mapping[Any, Any], where: str) -> _Named:
    """Return the sets that PsychWordVec's ``test_WEAT`` takes, with its labels."""
    out = []
    labels = checks.table(data.get("labels", {}), f"{where}, labels")
    for key in sorted(map(str, {*data} - {"labels"}), key=_place):
        if not re.fullmatch(r"[TA]\d+", key):
            raise checks.unknown(key, ("T1", "T2", "A1", "A2", "labels"), f"{where}, key")
        words = data[key]
        if isinstance(words, str):
            words = [word.strip() for word in re.split("[,;\n]", words) if word.strip()]
        out.append(("target" if key[0] == "T" else "attribute", labels.get(key, key), words))
    return "the arguments of PsychWordVec", out


def _sets_of_sweater(data: Mapping[Any, Any], where: str) -> _Named:
    """Return the sets that the functions of sweater take."""
    roles = dict.fromkeys(("S_words", "T_words"), "target")
    roles |= dict.fromkeys(("A_words", "B_words"), "attribute")
    checks.known_keys(data, roles, where)
    sets = [(role, key[0], data[key]) for key, role in roles.items() if key in data]
    return "the arguments of sweater", sets


def _place(name: str) -> tuple[str, int]:
    """Return the place of a set by its code, such as T1 before T2."""
    coded = _CODE.fullmatch(name.casefold())
    return ((coded[1] or coded[2])[0], int(coded[3] or 0)) if coded else ("", 0)


def _sets_of_table(path: Path) -> _Named:
    from bayesbias.core.frames import read_cells

    return _sets_of_cells(read_cells(path)[0], path)


def _sets_of_cells(cells: Any, path: object) -> _Named:
    """Return the sets of a table of texts; `path` names it in messages."""
    frame = cells.rename(columns=str.strip).map(str.strip)
    frame = frame[(frame != "").any(axis=1)]
    named = frame.rename(columns=str.casefold)
    checks.distinct(list(named), "column", path)
    if {"target", "attrib", "t_word", "a_word"} <= set(named):
        # Each word is there once a pair.
        sides = (("target", ["target", "t_word"]), ("attribute", ["attrib", "a_word"]))
        words = [
            (role, *row)
            for role, columns in sides
            for row in named[columns].drop_duplicates().itertuples(index=False)
        ]
        return "a table of PsychWordVec", _grouped(words)
    if any(name in _WORD for name in named):
        return "a table with one row a word", _sets_of_rows(named, path)
    return _sets_of_columns(frame, path)


def _grouped(words: Iterable[tuple[str, str, str]]) -> _Sets:
    """Return sets of (role, name, word), each set where its first word is."""
    sets = checks.grouped(((role, name), word) for role, name, word in words)
    return [(role, name, held) for (role, name), held in sets.items()]


def _sets_of_rows(frame: Any, path: object) -> _Sets:
    """Return the sets of a table with one row a word."""
    word, group, kind = (
        next((name for name in frame if name in known), "") for known in (_WORD, _SET, _KIND)
    )
    if not group:
        problem = "expected the columns word, class and kind"
        raise InputError(problem, where=path, found=list(frame))
    if "study" in frame and frame["study"].nunique() > 1:
        problem = "expected the rows of one list, got several in the column study"
        raise InputError(problem, where=path)
    out = []
    for line, row in frame.to_dict("index").items():
        place = f"line {line}" if isinstance(path, Path) else f"row {line}"
        here, name = f"{path}, {place}", row[group]
        if kind:
            if (given := row[kind].casefold()) not in _KINDS:
                valid = ("protected", "target", "attribute", "set", "human", "neutral")
                hint = "for controls, write human or neutral" if "control" in given else None
                raise checks.unknown(row[kind], valid, f"{here}, {kind}", hint)
            role = _KINDS[given]
        elif coded := _CODE.fullmatch(name.casefold()):
            role = "target" if coded[1] else "attribute"
        else:
            problem = "expected T1, T2, A1 or A2 as class, or a column kind"
            raise InputError(problem, where=here, found=name)
        name = role if role in ("human", "neutral") else name
        if not row[word] or not name:
            raise InputError("expected a word and a class", where=here, found=[*row.values()])
        out.append((role, name, row[word]))
    return _grouped(out)


def _sets_of_columns(frame: Any, path: object) -> _Named:
    """Return the sets of a table with one column a set."""
    form, names = "a table with one column a set", list(frame)
    roles = []
    for name in names:
        if coded := _CODE.fullmatch(name.casefold()):
            roles.append(("target" if coded[1] else "attribute", name))
        elif named := _NAMED.fullmatch(name):
            roles.append(("target" if named[2] else "attribute", named[1]))
        elif name.casefold() in ("human", "neutral"):
            roles.append((name.casefold(), name.casefold()))
    if len(roles) < len(names):
        if len(names) != 4:
            problem = "expected headings that name protected words and attributes"
            valid = (
                "T1, T2, A1, A2; CLASS protected and CLASS attributes; four columns X, Y, A, B; or "
                "columns word, class, kind"
            )
            raise InputError(problem, where=path, found=names, valid=valid)
        form += ", in the order of two protected classes and their two sets of attributes"
        roles = list(zip(("target", "target", "attribute", "attribute"), names, strict=True))
    columns = ([word for word in frame[name] if word] for name in names)
    return form, [(*role, words) for role, words in zip(roles, columns, strict=True)]


def _as_mapping(form: str, sets: _Sets, where: str) -> Mapped:
    """Return sets as the mapping that `load_wordlist` takes, and notes."""
    by_role: dict[str, dict[str, Sequence[Any]]] = {
        role: {} for role in ("target", "attribute", "set", "control")
    }
    every: list[Any] = []
    again = []
    for role, name, words in sets:
        name = checks.line(name, f"{where}, name of a set")
        if not isinstance(words, list | tuple):
            raise InputError("expected a list of words", where=f"{where}, {name}", found=words)
        into = by_role["control" if role in ("human", "neutral") else role]
        if name in into:
            raise InputError(f"expected each set once, got {name!r} twice", where=where)
        into[name] = checks.once(words)
        again += checks.repeated(words)
        every += words
    targets, attributes = list(by_role["target"]), list(by_role["attribute"])
    shared = by_role["set"]
    if not targets or not (attributes or shared):
        got = f"{some(targets) or 'no targets'} and {some(attributes) or 'no attributes'}"
        raise InputError(f"expected sets of targets and of attributes, got {got}", where=where)
    long = [w for w in every if isinstance(w, str) and w.count(" ") > _MOST_BLANKS]
    if len(long) > len(every) / 2:
        hint = "a test of sentences is for `bayesbias seat`"
        raise InputError(f"expected words, got {long[0]!r}", where=where, hint=hint)
    if all(_CODE.fullmatch(name.casefold()) for name in (*targets, *attributes)):
        targets, attributes = (sorted(names, key=_place) for names in (targets, attributes))
    by_name = set(targets) == set(attributes)
    if form == _QUERY and len(targets) > 2:
        owned = {name: name for name in targets if name in attributes}
    else:
        owned = owned_sets(targets, attributes)
    shared = {name: by_role["attribute"][name] for name in attributes} | shared
    classes = []
    for target in targets:
        classes.append({"name": target, "protected": by_role["target"][target]})
        if target in owned:
            own = owned[target]
            classes[-1] |= {"attribute_class": own, "attributes": shared.pop(own)}
    pairs = [f"{target} with {other}" for target, other in owned.items()]
    how = f"{join_words(pairs)}, in their order" if pairs else ""
    if by_name:
        how = "attributes by the name of their class"
    if shared:
        own = f" ({how})" if how else ""
        how = f"{join_words(targets)}{own}; attribute sets of no class: {join_words(shared)}"
    notes = [f"Read as {form}: {how}."]
    if again:
        notes.append(f"Listed more than once in a set, and counted once: {some(again)}.")
    more = {"attribute_sets": shared, "controls": by_role["control"]}
    given = {key: value for key, value in more.items() if value}
    return {"schema": 1, "class": classes, **given}, tuple(notes)


def owned_sets(targets: Sequence[str], attributes: Sequence[str]) -> dict[str, str]:
    """Return the set of attributes of each set of targets, by name or, if none has one, in order.

    Examples
    --------
    >>> owned_sets(["men", "women"], ["career", "family"])
    {'men': 'career', 'women': 'family'}
    >>> owned_sets(["men", "women"], ["women", "men", "science"])
    {'men': 'men', 'women': 'women'}
    """
    named = {name: name for name in targets if name in attributes}
    if not named and len(targets) == len(attributes):
        return dict(zip(targets, attributes, strict=True))
    return named


def _read_weathub(path: Path) -> Any:
    """Return the table of WEATHub; None for a file of another form."""
    import pandas as pd

    from bayesbias.core.frames import read_cells

    ending = path.suffix.lower()
    with files.guarded(path, "a table"):
        if ending == ".parquet":
            frame = pd.read_parquet(path)
        elif "targ1.examples" not in (text := files.read_text(path)):
            return None
        elif ending in (".csv", ".tsv"):
            frame, _ = read_cells(path)
        else:
            frame = pd.read_json(io.StringIO(text), dtype=False, lines=text.lstrip()[0] == "{")
    return frame


def _of_weathub(frame: Any, which: str, path: object) -> Mapped:
    """Return one test of WEATHub as a mapping of ours, and notes."""
    needed = [f"{name}.{key}" for name in _TEST for key in ("category", "examples")]
    valid = "the columns of WEATHub: language, weat, targ1.examples ..."
    checks.columns(frame, ["language", "weat", *needed], path, valid)
    titles = frame["language"] + "/" + frame["weat"]
    names = titles.str.casefold()
    if not which and len(frame) > 1:
        found = f"{number_of(len(frame), 'list')} ({some(titles, 3)})"
        hint = "give the row of one of them"
        if isinstance(path, Path):
            hint = f"name one, as in {path.name}:{titles.iloc[0]}"
        raise InputError(f"expected one word list, got {found}", where=path, hint=hint)
    chosen = checks.choice(which.casefold() or names.iloc[0], names, f"{path}, list")
    row = frame[names == chosen].iloc[0]
    sets = {
        name: {"category": row[f"{name}.category"], "examples": _cell(row[f"{name}.examples"])}
        for name in _TEST
    }
    about = {"language": row["language"], "name": f"{row['weat']} ({row['language']})"}
    read, notes = _as_mapping(*_sets_of_test(sets, str(path)), str(path))
    return {**read, **about, "source": "WEATHub, Mukherjee et al. (2023)"}, notes


def _cell(cell: Any) -> list[str]:
    """Return the words of a cell: a list, or one that was written as text."""
    if not isinstance(cell, str):
        return [str(word).strip() for word in cell]
    quoted = re.findall(r"'([^']*)'|\"([^\"]*)\"", cell)
    words = ["".join(each) for each in quoted] or cell.strip("[]").split(",")
    return [word.strip() for word in words if word.strip()]


def _list_of_manzini(data: Mapping[Any, Any], where: str) -> dict[str, Any]:
    """Return a vocabulary of Manzini et al. as a word list."""
    with files.guarded(where, "a vocabulary of Manzini et al."):
        sets = [list(map(str, group)) for group in data["definite_sets"]]
        columns = [checks.once(column) for column in zip(*sets, strict=True)]
        groups = {
            k: list(v) for each in data["analogy_templates"].values() for k, v in each.items()
        }
        if len(groups) != len(columns):
            problem = f"expected a list of attributes for each class, got {some(groups)}"
            raise InputError(problem, where=where)
        own = {name: column for name in groups for column in columns if name in column}
        free = (column for column in columns if column not in own.values())
        classes = [
            {"name": name, "protected": own.get(name) or next(free), "attributes": attributes}
            for name, attributes in groups.items()
        ]
    more = {"definitional_sets": sets, "evaluation_sets": data.get("eval_targets", sets)}
    return {"schema": 1, "class": classes, "source": "Manzini et al. (2019)", **more}
