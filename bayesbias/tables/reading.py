"""Pair tables read from files and frames: our own layout, and the published one.

The columns of a pair and the outcomes that have a range are checked, and repeated rows count once.
A model of one's own may name other columns and another outcome; `bayesbias.models.design` checks
these when the model is laid over them.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import InputError, checks, files, frames, join_words, some
from bayesbias.core.encodings import reading_in
from bayesbias.embeddings.embedding import Embedding
from bayesbias.tables import pair_table
from bayesbias.tables.coverage import Coverage
from bayesbias.tables.pair_table import COLUMNS, PairTable, labels_within
from bayesbias.wordlists.foreign import owned_sets
from bayesbias.wordlists.wordlist import CONNECTIONS, CONTROLS, SHARED

_PUBLISHED = ("protected_word", "word_to_compare", "word_class", "cosine_distance", "connection")
NEEDED = tuple(column for column in COLUMNS if column != "attribute_kind")
"""The columns that a table of pairs cannot do without.

The kind of an attribute follows from its connection. The connection is derived from the classes
where a file or frame has none.
"""
_OF_PSYCHWORDVEC = {
    "T_word": "protected_word", "Target": "protected_class",
    "A_word": "attribute", "Attrib": "attribute_class",
}  # fmt: skip
_DISTANCES = ("distance", "cosine_distance")
_SIMILARITIES = ("similarity", "cosine_similarity", "cos_sim", "cosine", "cos", "sim")
_LABELS = {*COLUMNS[:-1], "word_to_compare", "word_class", *_OF_PSYCHWORDVEC}
_NUMBERS = (*_DISTANCES, *_SIMILARITIES)
_LAYOUTS = (
    f"{', '.join(COLUMNS)} (similarity for distance, and connection may be left out); or the "
    f"published {', '.join(_PUBLISHED)}"
)
_OF_VECTORS = (
    "of word vectors make a distance_table first, fit(distance_table(vectors, wordlist), model), "
    "or compare them by name, compare({'one': vectors, 'two': others}, wordlist)"
)
_ENDINGS = (".csv", ".tsv", ".parquet", ".json", ".jsonl")
_TOLD_APART = (
    "if they are two observations, name the column that tells them apart in the model's "
    "[likelihood], key units"
)
MOST_TEXTS = 1_000_000
"""Rows up to which labels are plain texts.

Five columns of more would take hundreds of MB, and as categories take tens.
"""
# Published Google tables hold single precision: distance and 1 - similarity differ by up to 1.2e-7.
ROUNDING = 1e-6
_MISSING = -2.0  # marks a missing word in the published tables
SAME = 1e-9
"""Repeats whose numbers differ by no more are one observation."""
PAIR = ("protected_word", "attribute")
TEMPLATES = ("protected_template", "attribute_template")
SIMULATED = "simulated"
"""In ``frame.attrs``: the outcomes were drawn from a model.

Its normal noise knows no 0 and no 2.
"""
REPEATS = "repeats"
"""In ``frame.attrs``: ``keep`` if repeated rows were kept as asked.

The frame is then fitted as the table was.
"""


# Outcomes that are found but once, beside these columns; of others several measurements may be
# taken.
ONCE = {
    "distance": PAIR,
    "change": (*PAIR, "original"),
    "difference": ("classifier", "p_male", "p_female"),
}


def load_distances(
    source: checks.FilePath | pd.DataFrame | Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    repeats: str = "once",
    name: str | None = None,
    encoding: str | None = None,
) -> PairTable:
    """Read a table of distances, in our layout or the published one.

    The published layout has the columns ``protected_word, word_to_compare, word_class,
    cosine_distance, connection`` (and usually ``cosine_similarity``). Its connection ``none`` is
    ours of the name ``neutral``. A value below -1 marks a missing word, which goes to the coverage.
    The protected class of a word is the attribute class it is associated with.

    A column of similarities (``similarity``, ``cosine_similarity``, ``cos_sim``) in place of
    distances becomes 1 - similarity. The raw data of PsychWordVec (``Target``, ``Attrib``,
    ``T_word``, ``A_word``, ``cos_sim``) is read too. The notes of the coverage say so.

    A connection that is left out follows from the classes. An attribute class belongs to the
    protected class of its name. If none has such a name, the classes are paired in their order.
    Every stated connection is compared with the derived one. Other columns are kept with the rows,
    after our own.

    Parameters
    ----------
    source : path, DataFrame, mapping of columns, or list of records
        A path ends in ``.csv``, ``.tsv``, ``.parquet``, ``.json`` or ``.jsonl``. A frame is one of
        pandas or polars.
    repeats : {"once", "keep"}
        The published race tables list ten words eighteen times. By default a repeated row is the
        same observation and counts once. ``keep`` counts it as often as it is listed, as the
        published fits do.
    name : str, optional
        What to call the table; by default the file's name.
    encoding : str, optional
        Encoding of a file that is not UTF-8, such as ``cp1251``.

    Raises
    ------
    InputError
        If a column is missing, a value is no distance, or repeats or connections contradict each
        other.

    Examples
    --------
    >>> table = load_distances({
    ...     "protected_word": ["she", "he"], "protected_class": ["women", "men"],
    ...     "attribute": ["nurse", "nurse"], "attribute_class": ["women", "women"],
    ...     "connection": ["associated", "different"], "distance": [0.7, 0.9]})
    >>> len(table)
    2
    """
    checks.choice(repeats, ("once", "keep"), "repeats")
    if name is not None:
        checks.text(name, "name")
    if encoding is not None:
        with reading_in(encoding):
            return load_distances(source, repeats=repeats, name=name)
    if not isinstance(source, str | os.PathLike):
        return _pair_table(_as_frame(source), Source(name or "data frame"), repeats, name)
    path = files.path_of(source, "source")
    if not {*_ENDINGS} & {*path.suffixes}:
        problem = f"expected a {join_words(_ENDINGS, 'or')} file of distances, got {path.name}"
        raise InputError(problem, where="table", hint=_OF_VECTORS)
    files.check_file(path, "a .csv or .parquet file")
    if {".json", ".jsonl"} & {*path.suffixes}:
        frame = _as_frame(frames.read_rows(path))
        return _pair_table(frame, Source(str(path), path), repeats, name)
    # Labels are read as categories, so that many rows stay small.
    parquet = path.suffix.lower() == ".parquet"
    if parquet:
        table = frames.read_parquet(path, categories=_LABELS)
    else:
        table = frames.read_csv(path, _LABELS, _NUMBERS, _LAYOUTS)
    with files.guarded(path, "a table"):
        # Each column is freed when it is turned.
        frame = table.unify_dictionaries().to_pandas(split_blocks=True, self_destruct=True)
    frame = frame.reset_index(drop=True)
    del table
    if not parquet:
        for column in frame.columns.difference([*_LABELS, *_NUMBERS]):
            texts = frame[column]
            # Texts that are all numbers are numbers; codes such as 007 are not.
            if texts.str.strip().any() and not texts.str.match(r"0\d").any():
                with contextlib.suppress(ValueError):
                    frame[column] = pd.to_numeric(texts)
    return _pair_table(frame, Source(str(path), path), repeats, name)


def _as_frame(source: Any) -> pd.DataFrame:
    """Return the rows of a frame, a mapping or records."""
    if isinstance(source, Embedding):
        problem = f"expected a table of pairs, got the vectors {source.name!r}"
        raise InputError(problem, where="table", hint=_OF_VECTORS)
    records = isinstance(source, list | tuple) and all(isinstance(row, Mapping) for row in source)
    if isinstance(source, Mapping) or (records and source):
        with files.guarded("data frame", "columns of one length"):  # columns of different lengths
            source = pd.DataFrame(source)
    frame = frames.plain_frame(source, {*_LABELS, *_NUMBERS})
    return frame.reset_index(drop=True)


def _pair_table(
    raw: pd.DataFrame,
    source: Source,
    repeats: str,
    name: str | None,
    apart: Sequence[str] = (),
) -> PairTable:
    """Make a table of pairs; `apart` tells observations of a pair apart."""
    where, path = source.name, source.path
    checks.distinct([str(column) for column in raw.columns], "column", where)
    frames.refuse_answers(raw.columns, where)
    raw, remarks = _in_our_names(raw, source)
    published = "word_to_compare" in raw.columns
    needed = _PUBLISHED if published else [name for name in NEEDED if name != "connection"]
    checks.columns(raw, needed, where, f"the columns {_LAYOUTS}")
    if raw.empty:
        raise InputError("expected rows, got a header alone", where=where)
    ours = (*_PUBLISHED, "cosine_similarity") if published else COLUMNS
    named = [name for name in map(str, raw.columns) if name.strip() and "Unnamed: " not in name]
    own = [name for name in named if name not in ours]
    raw = _with_checked_texts(raw, own, where)
    # Blanks around a label make no other word, nor does another form of a letter.
    labels = {
        column: _labels_of(raw[column], f"{where}, column {column}")
        for column in ours
        if column in raw.columns and column in _LABELS
    }
    frame = raw.assign(**labels)
    if published:
        frame = _from_published(frame, source)
    if "connection" not in frame.columns:
        frame, of_classes = _with_connection(frame)
        remarks += of_classes
    _check_pairs(frame, source)
    distance = _checked_numbers(frame["distance"], source, frame, sentinel=published)
    frame = _with_kind(frame.assign(distance=distance))

    gone = frame["distance"].isna()
    absent = _absent_words(frame, gone)
    known = {word: word not in absent for column in PAIR for word in Codes.of(frame[column]).labels}
    groups = pair_table.found_by_class(frame, known, {})
    kept, lost_classes = pair_table.without_lost_classes(frame, known, groups, where)
    notes = [*remarks, *lost_classes, *pair_table.thin_classes(kept, known, groups)]
    if gone.any():
        notes.append(f"rows with the mark of a missing word (below -1): {int(gone.sum())}")
        lost = int((gone & ~frame[list(PAIR)].isin(absent).any(axis=1)).sum())
        if lost:
            notes.append(f"pairs without a distance, of words that are present, left out: {lost}")
    gone |= ~frame.index.isin(kept.index)
    key = dict.fromkeys([*PAIR, *(column for column in (*TEMPLATES, *apart) if column in own)])
    frame = frame[~gone] if gone.any() else frame
    hint = _TOLD_APART if apart else None
    frame, dropped, said = _counted_once(frame, source, list(key), "distance", repeats, hint)
    notes += said
    if own:
        notes.append(f"columns of your own, kept with the rows: {some(own)}")
    coverage = Coverage(groups[0], groups[1], {}, dropped, tuple(notes), tuple(own))
    provenance: dict[str, Any] = {
        "name": name or (where if path is None else path.stem),
        "source": where if path is None else path.name,
        "sha256": "" if path is None else files.sha256_file(path),
        "repeats": repeats,
    }
    if remarks:
        provenance["notes"] = remarks
    frame = with_repeats_noted(pair_table.as_pair_columns(_with_labels(frame), own), repeats)
    return PairTable(frame, coverage, provenance)


def _are_of_pairs(columns: set[str]) -> bool:
    """Whether columns are those of a table of pairs, in any layout that is read."""
    if columns >= {*_PUBLISHED} - {"cosine_distance"}:
        return bool(columns & {*_NUMBERS})
    ours = {_OF_PSYCHWORDVEC.get(column, column) for column in columns}
    return ours >= {*NEEDED} - {"connection", "distance"} and bool(columns & {*_NUMBERS})


def _in_our_names(raw: pd.DataFrame, source: Source) -> tuple[pd.DataFrame, list[str]]:
    """Return a table of similarities, or of another program, with our columns, and notes.

    A similarity s is the distance 1 - s. Where both are there, the distance counts.
    """
    notes = []
    names = {str(name) for name in raw.columns}
    if set(_OF_PSYCHWORDVEC) <= names and not names & {*COLUMNS[:4]}:
        raw = raw.rename(columns=_OF_PSYCHWORDVEC)
        notes.append("read as the raw data of PsychWordVec: T_word, Target, A_word and Attrib")
    spelt = {re.sub(r"[ .-]+", "_", str(name).strip().casefold()): name for name in raw.columns}
    similar = [spelt[name] for name in _SIMILARITIES if name in spelt]
    if not similar or names & set(_DISTANCES):
        return raw, notes
    column = similar[0]
    similarity = pd.to_numeric(raw[column], errors="coerce").astype(float)
    beyond = similarity.abs() > 1 + ROUNDING
    mark_of_missing = "word_to_compare" in names
    if mark_of_missing:  # below -1
        beyond &= similarity > 0
    wrong = beyond | ~np.isfinite(similarity)
    if wrong.any():
        row = _first_of(wrong)
        found = raw[column].iloc[row]
        found = found if isinstance(found, str) else float(found)
        place = source.at(row, str(column))
        raise InputError("expected a similarity from -1 to 1", where=place, found=found)
    outcome = "cosine_distance" if mark_of_missing else "distance"
    missing = similarity < -1 - ROUNDING
    raw = raw.assign(**{outcome: (1 - similarity).mask(missing, _MISSING)})
    notes.append(f"distances are 1 - similarity, of the column {column}")
    return raw.drop(columns=[column]), notes


def _with_connection(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows with connections that their classes give, and a note.

    Attribute classes of controls are told by their name or kind. The others belong to the
    protected class of their name; if none has such a name, to the classes in their order.
    """
    classes = Codes.of(frame["protected_class"])
    sets = Codes.of(frame["attribute_class"])
    of_no_class = {name: name for name in sets.labels if name in (*CONTROLS, SHARED)}
    if "attribute_kind" in frame.columns:
        kinds = labels_within(frame, "attribute_class", "attribute_kind")
        for name, held in kinds.items():
            if len(held) == 1 and held[0] in (*CONTROLS, SHARED):
                of_no_class[name] = held[0]
    names = [name for name in sets.labels if name not in of_no_class]
    owned = owned_sets(classes.labels, names)
    owners = {attributes: name for name, attributes in owned.items()}
    of_class = {
        name: of_no_class.get(name, "different" if name in owners else SHARED)
        for name in sets.labels
    }
    table = [
        ["associated" if owners.get(name) == protected else of_class[name] for name in sets.labels]
        for protected in classes.labels
    ]
    labels = np.array([*(np.array(table, dtype=object).ravel()), None], dtype=object)
    places = classes.of_row * len(sets.labels) + sets.of_row
    places = np.where((classes.of_row < 0) | (sets.of_row < 0), -1, places)
    connection = pd.Categorical(labels[places])
    how = "by the names of their classes"
    if owned and set(owned) != set(owned.values()):
        how = join_words(f"{name} with {attributes}" for name, attributes in owned.items())
        how += ", in their order"
    note = f"connections are derived: {how}"
    return frame.assign(connection=connection), [note]


def _labels_of(column: pd.Series, where: str) -> pd.Categorical:
    """Return a column of labels without blanks around them, each checked once."""
    return Codes.of(column).categories(lambda text: checks.label(text.strip(), where))


def _with_checked_texts(frame: pd.DataFrame, columns: Sequence[str], where: str) -> pd.DataFrame:
    """Return a frame with the texts of some columns checked, and the names of all columns."""
    checks.labels([str(name) for name in frame.columns], f"{where}, name of a column")
    checked = {}
    for column in columns:
        if column in frame.columns:
            place = f"{where}, column {column}"
            checked[column] = frames.checked_texts(frame[column], place, checks.free_texts)
    return frame.assign(**checked)


def _with_labels(frame: pd.DataFrame) -> pd.DataFrame:
    """Return labels as texts, or, of many rows, as sorted categories."""
    for column in COLUMNS[:5]:
        if len(frame) <= MOST_TEXTS:
            frame[column] = frame[column].astype(str)
        else:
            labels = frame[column].cat
            used = np.bincount(labels.codes, minlength=len(labels.categories)) > 0
            frame[column] = labels.set_categories(sorted(labels.categories[used]))
    return frame


def as_pair_table(source: Any) -> PairTable:
    """Return a table of distances of whatever holds one."""
    if not isinstance(source, PairTable):
        return load_distances(source)
    where = str(source.provenance.get("name", "the table"))
    checks.columns(source.frame, NEEDED, where, f"the columns {_LAYOUTS}")
    return source


def rows_to_model(table: Any, outcome: str, apart: Sequence[str]) -> PairTable:
    """Return a checked table whose rows count once.

    A frame with all columns of a pair becomes what `load_distances` makes of it; one with others is
    checked as far as its columns are known. The columns in `apart` tell observations apart.
    """
    if isinstance(table, PairTable):
        frame = table.frame
        if {"connection", *PAIR} <= set(frame.columns) and "attribute_kind" not in frame.columns:
            return replace(table, frame=_with_kind(frame))
        return table
    frame = _as_frame(table)
    source = Source("data frame")
    repeats = "keep" if frame.attrs.get(REPEATS) == "keep" else "once"
    columns = {str(column) for column in frame.columns}
    known = {*COLUMNS, *_PUBLISHED, *_OF_PSYCHWORDVEC, *apart, outcome}
    if len(frame) and not columns & known:
        problem = f"expected the columns {join_words(dict.fromkeys([*apart, outcome]))}"
        raise InputError(problem, where="data frame", found=list(columns), hint=_OF_VECTORS)
    if outcome == "distance" and _are_of_pairs(columns):
        return _pair_table(frame, source, repeats, "a data frame", apart)
    if frame.empty:
        raise InputError("expected rows, got none", where="data frame")
    checks.distinct(list(map(str, frame.columns)), "column", source.name)
    frame = _with_checked_texts(frame, sorted(columns), source.name)
    if set(PAIR) <= columns:
        if outcome == "distance" and outcome in columns:
            frame["distance"] = _checked_numbers(frame[outcome], source, frame)
        _check_pairs(frame, source)
    if {"connection", *PAIR} <= columns and "attribute_kind" not in columns:
        frame = _with_kind(frame)
    # The classes, the kind and the connection of a pair follow from the pair.
    key = [column for column in apart if column in PAIR or column not in COLUMNS]
    key = checks.once([*key, *(column for column in TEMPLATES if column in columns)])
    dropped, notes = 0, list(frame.attrs.get("covariates_noted", ()))
    if outcome in columns and set(key) <= columns:  # else the design says what the model lacks
        frame, dropped, said = _counted_once(frame, source, key, outcome, repeats, _TOLD_APART)
        notes += said
    given = {"covariates": frame.attrs.get("covariates_from"), "repeats": frame.attrs.get(REPEATS)}
    provenance = {"name": "a data frame", **{key: value for key, value in given.items() if value}}
    covariates = frame.attrs.get("covariates", {})
    coverage = Coverage({}, {}, repeats=dropped, notes=tuple(notes), covariates=covariates)
    return PairTable(frame, coverage, provenance)


def _from_published(raw: pd.DataFrame, source: Source) -> pd.DataFrame:
    """Return the columns of our own layout of a table in the published one."""
    stated = Codes.of(raw["connection"])
    connection = stated.categories(lambda label: "neutral" if label == "none" else label)
    _check_connections(Codes.of(pd.Series(connection)), source, [*CONNECTIONS, "none"])
    frame = raw.rename(columns={"word_to_compare": "attribute", "cosine_distance": "distance"})
    frame["connection"] = connection
    frame["attribute_class"] = Codes.of(frame["word_class"]).categories(
        lambda label: label.removesuffix("_stereotype")
    )
    distance = _checked_numbers(frame["distance"], source, raw, "cosine_distance", sentinel=True)
    if "cosine_similarity" in frame.columns:
        similarity = pd.to_numeric(frame["cosine_similarity"], errors="coerce")
        distance = distance.mask(similarity < -1 - ROUNDING)
    return frame.assign(distance=distance, protected_class=_protected_class(frame, source))


def _protected_class(frame: pd.DataFrame, source: Source) -> pd.Categorical:
    """Return the class of each protected word, by its associations."""
    columns = ["protected_word", "attribute_class"]
    associated = frame.loc[frame["connection"] == "associated", columns]
    own = labels_within(associated, "protected_word", "attribute_class")
    words = Codes.of(frame["protected_word"])
    for place, word in enumerate(words.labels):
        classes = own.get(word, [])
        if len(classes) != 1:
            got = join_words(classes) if classes else "none"
            problem = f"expected one class that {word!r} is associated with, got {got}"
            raise InputError(problem, where=source.at(_first_of(words.of_row == place)))
    return words.categories(lambda word: own[word][0])


def _absent_words(frame: pd.DataFrame, gone: pd.Series) -> set[str]:
    """Return the words all of whose rows lack a distance."""
    if not gone.any():
        return set()
    absent: set[str] = set()
    for column in PAIR:
        rest = ~frame["protected_word"].isin(absent)
        lacking = gone[rest].groupby(frame.loc[rest, column], observed=True).all()
        absent |= set(lacking[lacking].index)
    return absent


@dataclass(frozen=True)
class Source:
    """What messages call a table and its rows."""

    name: str
    path: Path | None = None

    def row(self, position: int) -> str:
        """Name a row, counted from 0."""
        return f"line {position + 2}" if self.path else f"row {position}"

    def at(self, position: int, column: str | None = None) -> str:
        """Name a row in its table, and a column in it."""
        row = f"{self.name}, {self.row(position)}"
        return row if column is None else f"{row}, column {column}"


# -- labels as codes: a million rows of ten labels take moments ------------------------------------


@dataclass(frozen=True, eq=False)
class Codes:
    """A column as distinct labels and the place of each row's label."""

    labels: list[str]
    of_row: np.ndarray

    @classmethod
    def of(cls, column: pd.Series) -> Codes:
        """Make the codes of a column; labels of one text are one."""
        if isinstance(column.dtype, pd.CategoricalDtype):
            codes, labels = column.cat.codes.to_numpy(), column.cat.categories
        else:
            codes, labels = pd.factorize(column)
        texts = [str(label) for label in labels]
        place = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        if len(place) < len(texts):
            codes = np.append([place[text] for text in texts], -1)[codes]
        return cls(list(place), np.asarray(codes, dtype=np.int32))

    def categories(self, called: Callable[[str], str]) -> pd.Categorical:
        """Return the column as categories, each label called something else."""
        names = [called(label) for label in self.labels]
        place = {name: i for i, name in enumerate(dict.fromkeys(names))}
        codes = np.array([*(place[name] for name in names), -1])
        return pd.Categorical.from_codes(codes[self.of_row], list(place))

    def where(self, holds: Callable[[str], bool]) -> np.ndarray:
        """Mark the rows whose label is so; an empty cell is not."""
        return np.array([*map(holds, self.labels), False])[self.of_row]


# -- checks ----------------------------------------------------------------------------------------


def with_repeats_noted(frame: pd.DataFrame, repeats: str) -> pd.DataFrame:
    """Note in a frame whether repeated rows were kept as asked."""
    frame.attrs = {key: value for key, value in frame.attrs.items() if key != REPEATS}
    if repeats == "keep":
        frame.attrs[REPEATS] = repeats
    return frame


def _check_pairs(frame: pd.DataFrame, source: Source) -> None:
    """Check that labels are filled and that classes and connections agree."""
    codes = {column: Codes.of(frame[column]) for column in COLUMNS[:-1] if column in frame}
    for column, of in codes.items():
        empty = (of.of_row < 0) | of.where(lambda label: not label.strip())
        if empty.any():
            place = source.at(_first_of(empty), column)
            raise InputError("expected a label, got an empty cell", where=place)
    if not {"connection", "protected_class"} <= set(codes):
        return
    _check_connections(codes["connection"], source)
    classes = labels_within(frame, "protected_word", "protected_class")
    if two := next((word for word, held in classes.items() if len(held) > 1), None):
        own, other = classes[two][:2]
        rows = (frame["protected_word"] == two) & (frame["protected_class"] == other)
        place = source.at(_first_of(rows), "protected_class")
        problem = f"expected one class of {two!r}, got {other!r} beside {own!r}"
        raise InputError(problem, where=place)
    if "attribute_class" in codes:
        _check_derived(frame, source, by_name=not any(column in frame for column in TEMPLATES))


def _check_connections(
    connection: Codes, source: Source, valid: Sequence[str] = (*CONNECTIONS, SHARED)
) -> None:
    """Refuse a connection that is none of ours."""
    unknown = connection.where(lambda label: label not in (*CONNECTIONS, SHARED))
    if unknown.any():
        at = _first_of(unknown)
        where = source.at(at, "connection")
        raise checks.unknown(connection.labels[connection.of_row[at]], valid, where)


def _check_derived(frame: pd.DataFrame, source: Source, by_name: bool) -> None:
    """Check each connection against that of its two classes.

    Control words have the connection of their list. With `by_name`, attributes that are called as
    the protected class are associated with it. Otherwise the connection is the one that most rows
    of the two classes give.
    """
    names = ["protected_class", "attribute_class", "connection"]
    counts = frame.groupby(names, observed=True, sort=False).size()
    usual = counts.groupby(level=[0, 1], observed=True, sort=False).idxmax()
    for labels in counts.index:
        of, kind, stated = map(str, labels)
        if kind in CONTROLS:
            right = kind
        else:
            right = "associated" if by_name and of == kind else str(usual[labels[:2]][2])
        if stated != right:
            row = _first_of((frame[names] == list(labels)).all(axis=1))
            word, attribute = frame["protected_word"].iloc[row], frame["attribute"].iloc[row]
            both = f"{str(word)!r} ({of}) and {str(attribute)!r} ({kind})"
            problem = f"expected the connection {right} of {both}"
            raise InputError(problem, where=source.at(row), found=stated)


def _checked_numbers(
    column: pd.Series,
    source: Source,
    frame: pd.DataFrame,
    name: str = "distance",
    *,
    sentinel: bool = False,
) -> pd.Series:
    """Return a column as distances, rounding at the ends of 0 to 2 removed.

    Simulated numbers need only be finite. With a sentinel, what lies below -1 becomes missing.
    """
    numbers = pd.to_numeric(column, errors="coerce").astype(float)
    bad = ~np.isfinite(numbers)
    if sentinel and column.dtype.kind == "f":  # a NaN of ours is already missing
        bad &= column.notna()
    if bad.any():
        place, value = source.at(_first_of(bad), name), column.iloc[_first_of(bad)]
        hint = "remove rows without a distance: words the vectors lack make no row"
        found = value if isinstance(value, str) else float(value)
        raise InputError("expected a finite number", where=place, found=found, hint=hint)
    if frame.attrs.get(SIMULATED):
        return numbers
    if sentinel:
        numbers = numbers.mask(numbers < -1 - ROUNDING)
    out = (numbers < -ROUNDING) | (numbers > 2 + ROUNDING)
    if out.any():
        similar = numbers.dropna().between(-1 - ROUNDING, 1 + ROUNDING).all()
        place, found = source.at(_first_of(out), name), float(numbers.iloc[_first_of(out)])
        what = "a similarity? distance = 1 - similarity" if similar else None
        raise InputError("expected a distance from 0 to 2", where=place, found=found, hint=what)
    return numbers.clip(0.0, 2.0)


def _with_kind(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with the kind of each attribute."""
    kinds = Codes.of(frame["connection"]).categories(
        lambda c: c if c in (*CONTROLS, SHARED) else "stereotype"
    )
    return frame.assign(attribute_kind=kinds)


# -- repeated rows ---------------------------------------------------------------------------------


def _counted_once(
    frame: pd.DataFrame,
    source: Source,
    key: list[str],
    outcome: str,
    repeats: str,
    hint: str | None,
) -> tuple[pd.DataFrame, int, list[str]]:
    """Count each observation once: a repeated row is not a new one.

    Rows are the same if `key` is. Return the rows, how many were dropped, and notes. Repeats of an
    outcome that is found but once (`ONCE`) must agree.
    """
    again = frame.duplicated(key).to_numpy()
    if not again.any():
        return frame, 0, []
    groups = frame.groupby(key, sort=False, observed=True).ngroup()
    values = frame[outcome].astype(float)
    other = ((values - values.groupby(groups).transform("first")).abs() > SAME).to_numpy()
    if other.any():
        if outcome not in ONCE or not set(ONCE[outcome]) <= set(frame.columns):
            return frame, 0, []
        later = _first_of(other)
        before = _first_of(groups == groups.iloc[later])
        at = [source.row(int(frame.index[place])) for place in (before, later)]
        what = "the pair" if set(PAIR) <= set(key) else "the observation"
        labels = ", ".join(repr(str(frame[column].iloc[later])) for column in key)
        two = f"{values.iloc[before]:g} in {at[0]} and {values.iloc[later]:g} in {at[1]}"
        problem = f"expected one {outcome} of {what} {labels}, got {two}"
        raise InputError(problem, where=source.name, hint=hint)
    count = int(again.sum())
    if repeats == "keep":
        return frame, 0, [f"repeated rows kept, as asked: {count} count more than once"]
    again_of = some(frame.loc[again, key[0]])
    note = f"a repeated row is the same observation, not a new one; repeated: {again_of}"
    return frame[~again].reset_index(drop=True), count, [note]


def _first_of(mask: Collection[bool] | pd.Series | np.ndarray) -> int:
    """Return the place of the first row that is marked."""
    return int(np.argmax(np.asarray(mask)))
