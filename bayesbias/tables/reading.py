"""Pair tables read from files and frames: our own layout, and the published one.

Everything is checked, and what is wrong is said with file and line: columns, numbers, classes, repeated
rows, and every stated connection against the derived one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import AsWritten, InputError, nearest
from bayesbias.core.files import as_plain_file, guarded, path_of, sha256_file
from bayesbias.core.formatting import Shortened, number_of, some
from bayesbias.core.frames import plain_frame
from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.readers.tables import is_word_column
from bayesbias.tables.checking import (
    PAIR,
    RANGES,
    REPEATS,
    ROUNDING,
    TEMPLATES,
    Range,
    Source,
    check_connections,
    check_pairs,
    check_rows,
    checked_numbers,
    counted_once,
    source_is_simulated,
    with_kind,
    with_repeats_noted,
)
from bayesbias.tables.cleaning import cleaned_texts
from bayesbias.tables.codes import Codes, labels_within
from bayesbias.tables.columns import kept_as_read, numbers_of_texts, own_columns
from bayesbias.tables.coverage import Coverage, found_by_class, thin_classes, without_lost_classes
from bayesbias.tables.pair_table import COLUMNS, PairTable, as_pair_columns
from bayesbias.tables.table_files import read_frame
from bayesbias.wordlists.pairing import CONNECTIONS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["load_distances"]

_PUBLISHED = ("protected_word", "word_to_compare", "word_class", "cosine_distance", "connection")
NEEDED = tuple(column for column in COLUMNS if column != "attribute_kind")
"""The columns that a table of pairs cannot do without; the kind of an attribute follows from its connection."""
_LABELS = {*COLUMNS[:-1], "word_to_compare", "word_class"}
_NUMBERS = ("distance", "cosine_distance", "cosine_similarity")
_KNOWN = {*_LABELS, *_NUMBERS, *COLUMNS}
_LAYOUTS = f"{', '.join(COLUMNS)}; or the published {', '.join(_PUBLISHED)}"
MOST_TEXTS = 1_000_000
"""Rows up to which labels are plain texts; five columns of more would take hundreds of MB, and as categories take tens."""
_DOORS = "a data frame, a mapping of columns, a list of records, or a table that distance_table or load_distances made"


def load_distances(
    source: str | os.PathLike[str] | pd.DataFrame | Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    repeats: str = "once",
    name: str | None = None,
) -> PairTable:
    """Read a table of distances: one this package wrote, or one in the published layout.

    The published layout has the columns ``protected_word, word_to_compare, word_class,
    cosine_distance, connection`` (and usually ``cosine_similarity``); the connection ``none`` is ours of
    the name ``neutral``, and a value below -1 marks a word the vectors lacked. Such words go to the
    coverage and never become a distance. The protected class of a word is the attribute class it is
    associated with, and every stated connection is checked against the derived one.

    Other columns are kept with the rows, after our own: numbers as numbers, texts as texts. Unnamed columns that
    stand first hold the numbers of the rows, and are left out. Where repeated rows differ in such a column, what the
    first of them says is kept, and a note says so.

    Parameters
    ----------
    source : path, DataFrame, mapping of columns, or list of records
        A path ends in ``.csv`` or ``.parquet``.
    repeats : {"once", "keep"}
        The published race tables list ten words eighteen times. A repeated row is the same observation;
        by default it is counted once. ``keep`` counts it as often as it is listed, as the published fits do.
    name : str, optional
        What to call the table; by default the file's name.

    Raises
    ------
    InputError
        For missing columns, values that are no distances, contradictory repeats or connections; the
        message names file and row.

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
        with as_plain_file(path, noun="table", valid="a .csv or .parquet file") as plain:
            frame = read_frame(plain, _LABELS, _NUMBERS, _LAYOUTS, path)
            return _pair_table(frame, Source(str(path), file=True), repeats, name, plain)
    return _pair_table(as_frame(source), Source(name or "data frame"), repeats, name)


def _pair_table(
    raw: pd.DataFrame,
    source: Source,
    repeats: str,
    name: str | None,
    path: Path | None = None,
    apart: Sequence[str] = (),
    hint: str | None = None,
) -> PairTable:
    """Make a table of the columns of a file or a frame; `apart` tells observations of one pair apart."""
    where = source.name
    published = "word_to_compare" in raw.columns
    for column in _PUBLISHED if published else NEEDED:
        if column not in raw.columns:
            raise _no_column(column, raw, where)
    ours = (*_PUBLISHED, "cosine_similarity") if published else COLUMNS
    own = own_columns(list(raw.columns), ours, COLUMNS, where)
    if raw.empty:
        raise InputError("the table has no rows, only a header", where=where, valid=_LAYOUTS)
    raw = raw.assign(**{column: kept_as_read(raw[column]) for column in own})
    if path is not None and path.suffix.lower() != ".parquet":
        raw = raw.assign(**{column: numbers_of_texts(raw[column]) for column in own})
    texts = [name for name in raw.columns if name in (*ours, *own) and name not in _NUMBERS]
    raw, respelt = cleaned_texts(raw, texts, source)
    frame = _from_published(raw, source) if published else raw.copy()
    if published:
        check_connections(Codes.of(frame["connection"]), source, [*CONNECTIONS, "none"])
    check_pairs(frame, source)
    frame["distance"] = checked_numbers(
        frame["distance"],
        source,
        "distance",
        RANGES["distance"],
        source_is_simulated(frame),
        sentinel=published,
    )
    if published:
        frame["protected_class"] = _protected_class(frame, source)
        check_pairs(frame, source)
    frame = with_kind(frame)

    gone = frame["distance"].isna()
    absent = _absent_words(frame, gone)
    known = {word: word not in absent for column in PAIR for word in Codes.of(frame[column]).labels}
    groups = found_by_class(frame, known, {})
    kept, lost_classes = without_lost_classes(frame, known, groups, where)
    thin = thin_classes(kept, known, groups, "is in the table")
    notes = [*respelt, *lost_classes, *thin]
    marked = _marked(raw) if published else 0
    if marked:
        rows = "1 row carries" if marked == 1 else f"{marked} rows carry"
        notes.append(f"{rows} the mark of a missing word (below -1)")
    lost = int((gone & ~frame[list(PAIR)].isin(absent).any(axis=1)).sum()) if gone.any() else 0
    if lost:
        notes.append(
            f"{number_of(lost, 'pair')} of words that are otherwise present {'has' if lost == 1 else 'have'} no distance and "
            f"{'is' if lost == 1 else 'are'} left out"
        )
    others = [column for column in (*TEMPLATES, *apart) if column in own]
    key = dict.fromkeys([*PAIR, *others])
    if len(kept) < len(frame):
        gone = gone | ~frame.index.isin(kept.index)
    counted = counted_once(
        frame[~gone].reset_index(drop=True) if gone.any() else frame,
        source,
        list(key),
        "distance",
        repeats=repeats,
        own=own,
        positions=np.flatnonzero(~gone),
        hint=hint,
    )
    notes += counted.notes
    if own:
        notes.append(
            f"{'a column' if len(own) == 1 else 'columns'} of your own, kept with the rows: {some(own)}"
        )
    coverage = Coverage(groups[0], groups[1], {}, counted.repeats, tuple(notes), tuple(own), thin=tuple(thin))
    provenance = {
        "name": name or (where if path is None else path.stem),
        "source": where if path is None else path.name,
        "sha256": "" if path is None else sha256_file(path),
        "repeats": repeats,
    }
    rows = with_repeats_noted(_with_labels(as_pair_columns(counted.frame, own)), repeats)
    return PairTable(rows, coverage, provenance)


def _with_labels(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with labels as plain texts, or, of very many rows, as categories in the order of the alphabet."""
    import pandas as pd

    for name in COLUMNS[:5]:
        if isinstance(frame[name].dtype, pd.CategoricalDtype):
            if len(frame) <= MOST_TEXTS:
                frame[name] = frame[name].astype(str)
            else:  # they sort as their texts do
                used = frame[name].cat.remove_unused_categories().cat
                frame[name] = used.reorder_categories(sorted(used.categories))
    return frame


def _no_column(column: str, frame: pd.DataFrame, where: str) -> InputError:
    names = [str(name) for name in frame.columns]
    return InputError(
        f"the column {column!r} is missing",
        where=where,
        found=names,
        valid=_LAYOUTS,
        hint=nearest(column, names),
    )


def as_frame(source: Any) -> pd.DataFrame:
    """Return the rows of a data frame, a mapping of columns or a list of records, numbered from 0."""
    import pandas as pd

    if isinstance(source, pd.DataFrame):
        return plain_frame(source.reset_index(drop=True), "data frame", known=_KNOWN)
    records = isinstance(source, list | tuple) and bool(source)
    if not isinstance(source, Mapping) and not (records and all(isinstance(row, Mapping) for row in source)):
        raise InputError(
            "is no table of pairs",
            found=Shortened(source) if isinstance(source, str) else type(source).__name__,
            valid=_DOORS,
            hint="turn it into a pandas DataFrame with .to_pandas()"
            if hasattr(source, "to_pandas")
            else None,
        )
    # Columns of different lengths, or single numbers
    with guarded("data frame", "cannot be read as a table", valid=_DOORS):
        frame = pd.DataFrame(source if isinstance(source, Mapping) else list(source))
    return plain_frame(frame, "data frame", known=_KNOWN)


def holds_tables(source: Any) -> bool:
    """Whether a mapping has tables by name; one that has the column of protected words is a table itself."""
    return isinstance(source, Mapping) and "protected_word" not in source


def as_pair_table(source: Any) -> PairTable:
    """Return a table of distances, checked, of whatever holds one: a table, a frame, a mapping, a file."""
    if isinstance(source, PairTable):
        for column in NEEDED:
            if column not in source.frame.columns:
                raise _no_column(column, source.frame, str(source.provenance.get("name", "the table")))
        checked = rows_to_model(source, "distance", PAIR)
        ours = checked.frame["distance"].dtype.kind == "f" and hasattr(checked.frame["connection"], "cat")
        own = [str(name) for name in checked.frame.columns if name not in COLUMNS]
        return checked if ours else replace(checked, frame=as_pair_columns(checked.frame, own))
    return load_distances(source)


def rows_to_model(table: Any, outcome: str, apart: Sequence[str], hint: str | None = None) -> PairTable:
    """Return a table whose rows passed the check and count once, with an account of both.

    Parameters
    ----------
    table : PairTable, DataFrame, mapping of columns, or list of records
        A frame with all columns of a pair becomes what `load_distances` makes of it; one with others is checked as
        far as its columns are known.
    outcome : str
        The column that is modelled.
    apart : sequence of str
        The columns that tell observations apart: the units and the dimensions of the model.
    hint : str, optional
        What to do where two rows of one observation contradict each other.

    Raises
    ------
    InputError
    """
    if isinstance(table, Embedding):
        raise _are_vectors(table.name)
    if not isinstance(table, PairTable):
        frame = as_frame(table)
        columns = {str(column) for column in frame.columns}
        if len(frame) and not columns & {*COLUMNS, *_PUBLISHED, *apart, outcome}:
            if _only_numbers(frame):
                raise _are_vectors(f"a frame of {frame.shape[0]:,} rows and {frame.shape[1]:,} columns")
            needed = list(dict.fromkeys([*apart, outcome]))
            raise InputError(
                "has none of the columns that the model needs",
                where="data frame",
                found=list(columns),
                valid=needed,
            )
        if outcome == "distance" and (columns >= set(NEEDED) or columns >= set(_PUBLISHED)):
            source = Source("data frame")
            return _pair_table(frame, source, _repeats_of(frame), "a data frame", apart=apart, hint=hint)
        known = {"covariates": frame.attrs["covariates_from"]} if "covariates_from" in frame.attrs else {}
        known |= {"repeats": "keep"} if _repeats_of(frame) == "keep" else {}
        noted = tuple(frame.attrs.get("covariates_noted", ()))
        coverage = Coverage({}, {}, notes=noted, covariates=frame.attrs.get("covariates", {}))
        table = PairTable(frame, coverage, {"name": "a data frame", **known})
    source = Source(str(table.provenance.get("name", "the table")))
    frame = (
        plain_frame(table.frame, source.name, known=_KNOWN)
        if hasattr(table.frame, "columns")
        else as_frame(table.frame)
    )
    if frame.empty:
        raise InputError("the table has no rows", where=table.provenance.get("name"))
    check_rows(frame, source, [outcome])
    if {"connection", *PAIR} <= set(frame.columns) and "attribute_kind" not in frame.columns:
        frame = with_kind(frame)
    # The classes, the kind and the connection of a pair follow from the pair.
    apart = [column for column in apart if column in PAIR or column not in COLUMNS]
    key = list(dict.fromkeys([*apart, *(column for column in TEMPLATES if column in frame.columns)]))
    if outcome not in frame.columns or not set(key) <= set(frame.columns):
        return replace(table, frame=frame)  # what the model lacks is said when it is laid over the table
    repeats = str(table.provenance.get("repeats", "once"))
    own = [str(name) for name in frame.columns if name not in (*COLUMNS, *key, outcome)]
    counted = counted_once(frame, source, key, outcome, repeats=repeats, own=own, hint=hint)
    if not counted.repeats:
        return table if frame is table.frame else replace(table, frame=frame)
    coverage = replace(
        table.coverage,
        repeats=table.coverage.repeats + counted.repeats,
        notes=(*table.coverage.notes, *counted.notes),
    )
    return replace(table, frame=counted.frame, coverage=coverage)


def _repeats_of(frame: pd.DataFrame) -> str:
    """Return what a frame says of its repeated rows: those of a table that kept them are kept again."""
    return "keep" if frame.attrs.get(REPEATS) == "keep" else "once"


def _only_numbers(frame: pd.DataFrame) -> bool:
    """Whether a frame holds several columns of numbers and no other, but for one of words."""
    rest = [frame[name].dtype.kind for name in frame.columns if not is_word_column(str(name))]
    return len(rest) > 1 and all(kind in "fiu" for kind in rest)


def _are_vectors(found: str) -> InputError:
    return InputError(
        "is no table of pairs: these seem to be word vectors",
        where="table",
        found=AsWritten(found),
        hint="make a distance_table first, fit(distance_table(vectors, wordlist), model)",
    )


def _from_published(raw: pd.DataFrame, source: Source) -> pd.DataFrame:
    frame = raw.rename(columns={"word_to_compare": "attribute", "cosine_distance": "distance"})
    frame["connection"] = Codes.of(frame["connection"]).categories(
        lambda label: "neutral" if label == "none" else label
    )
    frame["attribute_class"] = Codes.of(frame["word_class"]).categories(
        lambda label: label.removesuffix("_stereotype")
    )
    within = RANGES["distance"]
    distance = checked_numbers(frame["distance"], source, "cosine_distance", within, sentinel=True)
    if "cosine_similarity" in frame.columns:
        similarity = checked_numbers(
            frame["cosine_similarity"], source, "cosine_similarity", Range(-1.0, 1.0, ()), sentinel=True
        )
        apart = ((distance - (1 - similarity)).abs() > ROUNDING).to_numpy()
        if apart.any():
            at = int(np.flatnonzero(apart)[0])
            raise InputError(
                "distance and similarity do not add up to 1",
                where=source.at(at),
                found=(float(distance.iloc[at]), float(similarity.iloc[at])),
            )
        distance = distance.where(similarity.notna())
    return frame.assign(distance=distance)


def _marked(raw: pd.DataFrame) -> int:
    """Count the rows of a published table with a value below -1, which marks a word the vectors lacked."""
    import pandas as pd

    columns = [c for c in ("cosine_distance", "cosine_similarity") if c in raw.columns]
    return int((raw[columns].apply(pd.to_numeric, errors="coerce") < -1 - ROUNDING).any(axis=1).sum())


def _protected_class(frame: pd.DataFrame, source: Source) -> pd.Categorical:
    """Return the class of each row's protected word: the attribute class it is associated with."""
    associated = frame.loc[frame["connection"] == "associated", ["protected_word", "attribute_class"]]
    own = labels_within(associated, "protected_word", "attribute_class")
    words = Codes.of(frame["protected_word"])
    for place, word in enumerate(words.labels):
        classes = own.get(word, [])
        at = words.of_row == place
        if len(classes) != 1 and at.any():
            raise InputError(
                "the class of a protected word is the one it is associated with, and must be one",
                where=f"{source.at(int(np.argmax(at)))}, protected word {word!r}",
                found=classes or "no associated attribute",
            )
    return words.categories(lambda word: own[word][0] if word in own else word)


def _absent_words(frame: pd.DataFrame, gone: pd.Series) -> set[str]:
    """Words all of whose rows lack a distance; protected words first, then attributes of the others."""
    if not gone.any():
        return set()
    by_word = gone.groupby(frame["protected_word"], observed=True).all()
    absent = set(by_word[by_word].index)
    rest = ~frame["protected_word"].isin(absent)
    by_attribute = gone[rest].groupby(frame.loc[rest, "attribute"], observed=True).all()
    return absent | set(by_attribute[by_attribute].index)
