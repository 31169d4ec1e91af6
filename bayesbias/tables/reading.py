"""Pair tables read from files and frames: our own layout, and the published one."""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.files import check_file, guarded, path_of, sha256_file
from bayesbias.core.formatting import some
from bayesbias.core.frames import plain_frame, read_csv, read_parquet
from bayesbias.embeddings.embedding import Embedding
from bayesbias.tables import rows
from bayesbias.tables.coverage import Coverage, found_by_class, thin_classes, without_lost_classes
from bayesbias.tables.pair_table import COLUMNS, PairTable, as_pair_columns
from bayesbias.tables.rows import PAIR, REPEATS, TEMPLATES, Codes, Source
from bayesbias.wordlists.wordlist import CONNECTIONS

__all__ = ["load_distances"]

_PUBLISHED = ("protected_word", "word_to_compare", "word_class", "cosine_distance", "connection")
NEEDED = tuple(column for column in COLUMNS if column != "attribute_kind")
"""The columns that a table of pairs cannot do without.

The kind of an attribute follows from its connection.
"""
_LABELS = {*COLUMNS[:-1], "word_to_compare", "word_class"}
_NUMBERS = ("distance", "cosine_distance", "cosine_similarity")
_LAYOUTS = f"{', '.join(COLUMNS)}; or the published {', '.join(_PUBLISHED)}"
_OF_VECTORS = (
    "of word vectors make a distance_table first, fit(distance_table(vectors, wordlist), model)"
)
MOST_TEXTS = 1_000_000
"""Rows up to which labels are plain texts.

Five columns of more would take hundreds of MB, and as categories take tens.
"""


def load_distances(
    source: str | os.PathLike[str] | pd.DataFrame | Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    repeats: str = "once",
    name: str | None = None,
) -> PairTable:
    """Read a table of distances, in our layout or the published one.

    The published layout has the columns ``protected_word, word_to_compare, word_class,
    cosine_distance, connection`` (and usually ``cosine_similarity``). Its connection ``none`` is
    ours of the name ``neutral``. A value below -1 marks a missing word, which goes to the coverage.
    The protected class of a word is the attribute class it is associated with.

    Every stated connection is compared with the derived one. Other columns are kept with the rows,
    after our own.

    Parameters
    ----------
    source : path, DataFrame, mapping of columns, or list of records
        A path ends in ``.csv`` or ``.parquet``.
    repeats : {"once", "keep"}
        The published race tables list ten words eighteen times. By default a repeated row is the
        same observation and counts once. ``keep`` counts it as often as it is listed, as the
        published fits do.
    name : str, optional
        What to call the table; by default the file's name.

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
    checks.choice(repeats, ("once", "keep"), "treatment of repeated rows")
    if name is not None:
        checks.text(name, "name")
    if isinstance(source, str | os.PathLike):
        path = path_of(source, "source")
        check_file(path, noun="table", valid="a .csv or .parquet file")
        return _pair_table(read_frame(path), Source(str(path), file=True), repeats, name, path)
    return _pair_table(as_frame(source), Source(name or "data frame"), repeats, name)


def read_frame(
    path: Path, called: Path | None = None, numbers: Collection[str] = _NUMBERS
) -> pd.DataFrame:
    """Read a file, labels as categories, so that many rows stay small."""
    parquet = path.suffix.lower() == ".parquet"
    if parquet:
        table = read_parquet(path, categories=_LABELS)
    else:
        table = read_csv(path, _LABELS, numbers, _LAYOUTS, called or path)
    with guarded(called or path, "cannot be read as a table"):
        # Each column is freed when it is turned.
        frame = table.unify_dictionaries().to_pandas(split_blocks=True, self_destruct=True)
    frame = frame.reset_index(drop=True)
    if parquet:
        return frame
    own = [column for column in frame.columns if column not in (*_LABELS, *numbers)]
    return frame.assign(**{column: rows.numbers_of_texts(frame[column]) for column in own})


def as_frame(source: Any) -> pd.DataFrame:
    """Return the rows of a frame, a mapping or records."""
    if isinstance(source, Embedding):
        raise InputError(
            "expected a table of pairs", where="table", found=source.name, hint=_OF_VECTORS
        )
    records = isinstance(source, list | tuple) and all(isinstance(row, Mapping) for row in source)
    if isinstance(source, Mapping) or (records and source):
        with guarded("data frame", "cannot be read as a table"):  # columns of different lengths
            source = pd.DataFrame(source)
    known = {*_LABELS, *_NUMBERS}
    return plain_frame(source, "data frame", known=known).reset_index(drop=True)


def _pair_table(
    raw: pd.DataFrame,
    source: Source,
    repeats: str,
    name: str | None,
    path: Path | None = None,
    apart: Sequence[str] = (),
    hint: str | None = None,
) -> PairTable:
    """Make a table of pairs; `apart` tells observations of a pair apart."""
    where = source.name
    published = "word_to_compare" in raw.columns
    checks.distinct([str(column) for column in raw.columns], "a column", where)
    for column in _PUBLISHED if published else NEEDED:
        if column not in raw.columns:
            raise _no_column(column, raw, where)
    if raw.empty:
        raise InputError("expected rows, got a header alone", where=where, valid=_LAYOUTS)
    ours = (*_PUBLISHED, "cosine_similarity") if published else COLUMNS
    own = rows.own_columns(list(raw.columns), ours, COLUMNS, where)
    # Blanks around a label make no other word, nor does another form of a letter.
    labels = {
        column: Codes.of(raw[column]).categories(lambda text: checks.label(text.strip(), where))
        for column in ours
        if column in raw.columns and column in _LABELS
    }
    frame = raw.assign(**labels)
    if published:
        frame = _from_published(frame, source)
    rows.check_pairs(frame, source)
    distance = rows.checked_numbers(
        frame["distance"], source, simulated=rows.is_simulated(frame), sentinel=published
    )
    frame = rows.with_kind(frame.assign(distance=distance))

    gone = frame["distance"].isna()
    absent = _absent_words(frame, gone)
    known = {word: word not in absent for column in PAIR for word in Codes.of(frame[column]).labels}
    groups = found_by_class(frame, known, {})
    kept, lost_classes = without_lost_classes(frame, known, groups, where)
    notes = [*lost_classes, *thin_classes(kept, known, groups)]
    if gone.any():
        notes.append(f"rows with the mark of a missing word (below -1): {int(gone.sum())}")
        lost = int((gone & ~frame[list(PAIR)].isin(absent).any(axis=1)).sum())
        if lost:
            notes.append(f"pairs without a distance, of words that are present, left out: {lost}")
    if len(kept) < len(frame):
        gone = gone | ~frame.index.isin(kept.index)
    key = dict.fromkeys([*PAIR, *(column for column in (*TEMPLATES, *apart) if column in own)])
    frame, dropped, said = rows.counted_once(
        frame[~gone].reset_index(drop=True) if gone.any() else frame,
        source,
        list(key),
        "distance",
        repeats=repeats,
        positions=np.flatnonzero(~gone),
        hint=hint,
    )
    notes += said
    if own:
        notes.append(f"columns of your own, kept with the rows: {some(own)}")
    coverage = Coverage(groups[0], groups[1], {}, dropped, tuple(notes), tuple(own))
    provenance = {
        "name": name or (where if path is None else path.stem),
        "source": where if path is None else path.name,
        "sha256": "" if path is None else sha256_file(path),
        "repeats": repeats,
    }
    frame = rows.with_repeats_noted(as_pair_columns(_with_labels(frame), own), repeats)
    return PairTable(frame, coverage, provenance)


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


def _no_column(column: str, frame: pd.DataFrame, where: str) -> InputError:
    names = [str(name) for name in frame.columns]
    problem, hint = f"the column {column!r} is missing", nearest(column, names)
    return InputError(problem, where=where, found=names, valid=_LAYOUTS, hint=hint)


def holds_tables(source: Any) -> bool:
    """Say whether a mapping has tables by name."""
    return isinstance(source, Mapping) and "protected_word" not in source


def as_pair_table(source: Any) -> PairTable:
    """Return a table of distances of whatever holds one."""
    if not isinstance(source, PairTable):
        return load_distances(source)
    for column in NEEDED:
        if column not in source.frame.columns:
            raise _no_column(column, source.frame, str(source.provenance.get("name", "the table")))
    return source


def rows_to_model(
    table: Any, outcome: str, apart: Sequence[str], hint: str | None = None
) -> PairTable:
    """Return a checked table whose rows count once.

    A frame with all columns of a pair becomes what `load_distances` makes of it; one with others is
    checked as far as its columns are known. The columns in `apart` tell observations apart; `hint`
    is for two that contradict each other.
    """
    if isinstance(table, PairTable):
        frame = table.frame
        if {"connection", *PAIR} <= set(frame.columns) and "attribute_kind" not in frame.columns:
            return replace(table, frame=rows.with_kind(frame))
        return table
    frame = as_frame(table)
    source = Source("data frame")
    repeats = "keep" if frame.attrs.get(REPEATS) == "keep" else "once"
    columns = {str(column) for column in frame.columns}
    if len(frame) and not columns & {*COLUMNS, *_PUBLISHED, *apart, outcome}:
        problem, found = "expected the columns that the model needs", list(columns)
        valid = list(dict.fromkeys([*apart, outcome]))
        raise InputError(problem, where="data frame", found=found, valid=valid, hint=_OF_VECTORS)
    if outcome == "distance" and (columns >= set(NEEDED) or columns >= set(_PUBLISHED)):
        return _pair_table(frame, source, repeats, "a data frame", apart=apart, hint=hint)
    if frame.empty:
        raise InputError("expected rows, got none", where="data frame")
    checks.distinct(list(map(str, frame.columns)), "a column", source.name)
    if set(PAIR) <= columns:
        if outcome == "distance" and outcome in columns:
            simulated = rows.is_simulated(frame)
            frame["distance"] = rows.checked_numbers(frame[outcome], source, simulated=simulated)
        rows.check_pairs(frame, source)
    if {"connection", *PAIR} <= columns and "attribute_kind" not in columns:
        frame = rows.with_kind(frame)
    # The classes, the kind and the connection of a pair follow from the pair.
    key = [column for column in apart if column in PAIR or column not in COLUMNS]
    key = list(dict.fromkeys([*key, *(column for column in TEMPLATES if column in columns)]))
    dropped, notes = 0, list(frame.attrs.get("covariates_noted", ()))
    if outcome in columns and set(key) <= columns:  # else the design says what the model lacks
        frame, dropped, said = rows.counted_once(
            frame, source, key, outcome, repeats=repeats, hint=hint
        )
        notes += said
    known = {"covariates": frame.attrs.get("covariates_from"), "repeats": frame.attrs.get(REPEATS)}
    provenance = {"name": "a data frame", **{key: value for key, value in known.items() if value}}
    covariates = frame.attrs.get("covariates", {})
    coverage = Coverage({}, {}, repeats=dropped, notes=tuple(notes), covariates=covariates)
    return PairTable(frame, coverage, provenance)


def _from_published(raw: pd.DataFrame, source: Source) -> pd.DataFrame:
    """Return the columns of our own layout of a table in the published one."""
    stated = Codes.of(raw["connection"])
    connection = stated.categories(lambda label: "neutral" if label == "none" else label)
    rows.check_connections(Codes.of(pd.Series(connection)), source, [*CONNECTIONS, "none"])
    frame = raw.rename(columns={"word_to_compare": "attribute", "cosine_distance": "distance"})
    frame["connection"] = connection
    frame["attribute_class"] = Codes.of(frame["word_class"]).categories(
        lambda label: label.removesuffix("_stereotype")
    )
    distance = rows.checked_numbers(frame["distance"], source, "cosine_distance", sentinel=True)
    if "cosine_similarity" in frame.columns:
        similarity = pd.to_numeric(frame["cosine_similarity"], errors="coerce")
        distance = distance.mask(similarity < -1 - rows.ROUNDING)
    return frame.assign(distance=distance, protected_class=_protected_class(frame, source))


def _protected_class(frame: pd.DataFrame, source: Source) -> pd.Categorical:
    """Return the class of each protected word, by its associations."""
    columns = ["protected_word", "attribute_class"]
    associated = frame.loc[frame["connection"] == "associated", columns]
    own = rows.labels_within(associated, "protected_word", "attribute_class")
    words = Codes.of(frame["protected_word"])
    for place, word in enumerate(words.labels):
        classes = own.get(word, [])
        if len(classes) != 1:
            at = rows.first_of(words.of_row == place)
            raise InputError(
                "the class of a protected word is the one it is associated with, and must be one",
                where=f"{source.at(at)}, protected word {word!r}",
                found=classes or "no associated attribute",
            )
    return words.categories(lambda word: own[word][0])


def _absent_words(frame: pd.DataFrame, gone: pd.Series) -> set[str]:
    """Return the words all of whose rows lack a distance."""
    if not gone.any():
        return set()
    by_word = gone.groupby(frame["protected_word"], observed=True).all()
    absent = set(by_word[by_word].index)
    rest = ~frame["protected_word"].isin(absent)
    by_attribute = gone[rest].groupby(frame.loc[rest, "attribute"], observed=True).all()
    return absent | set(by_attribute[by_attribute].index)
