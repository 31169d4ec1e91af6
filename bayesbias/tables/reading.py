"""Pair tables read from files and frames: our own layout, and the published one.

Everything is checked, and what is wrong is said with file and line: columns, numbers, classes, repeated
rows, and every stated connection against the derived one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.basics import checks
from bayesbias.basics.errors import InputError, nearest
from bayesbias.basics.files import sha256_file
from bayesbias.basics.wording import some
from bayesbias.tables.columns import kept_as_read, numbers_of_texts, own_columns
from bayesbias.tables.coverage import Coverage, found_by_class, refuse_empty_classes, thin_classes
from bayesbias.tables.pair_table import COLUMNS, PairTable, as_pair_columns
from bayesbias.words.pairing import CONNECTIONS
from bayesbias.words.wordlist import CONTROLS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_distances"]

_PUBLISHED = ("protected_word", "word_to_compare", "word_class", "cosine_distance", "connection")
# Published Google tables hold single precision: distance and 1 - similarity differ by up to 1.2e-7.
_ROUNDING = 1e-6
_LAYOUTS = f"{', '.join(COLUMNS)}; or the published {', '.join(_PUBLISHED)}"
_NO_ROW = "remove the row: words the vectors lack make no row"


def read_distances(
    source: str | os.PathLike[str] | pd.DataFrame, *, repeats: str = "once", name: str | None = None
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
    source : path or DataFrame
        ``.csv`` or ``.parquet``.
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
    """
    import pandas as pd

    checks.choice(repeats, ("once", "keep"), "treatment of repeated rows")
    if isinstance(source, pd.DataFrame):
        raw, where, sha = source.reset_index(drop=True), name or "data frame", ""
    else:
        raw, where, sha = _read_file(Path(source)), os.fspath(source), sha256_file(source)
    published = "word_to_compare" in raw.columns
    for column in _PUBLISHED if published else (c for c in COLUMNS if c != "attribute_kind"):
        if column not in raw.columns:
            raise InputError(
                f"the column {column!r} is missing",
                where=where,
                found=[str(c) for c in raw.columns],
                valid=_LAYOUTS,
                hint=nearest(column, [str(c) for c in raw.columns]),
            )
    ours = (*_PUBLISHED, "cosine_similarity") if published else COLUMNS
    own = own_columns(list(raw.columns), ours, COLUMNS, where)
    if raw.empty:
        raise InputError("the table has no rows, only a header", where=where, valid=_LAYOUTS)
    raw = raw.assign(**{column: kept_as_read(raw[column]) for column in own})
    if sha and Path(where).suffix != ".parquet":
        raw = raw.assign(**{column: numbers_of_texts(raw[column]) for column in own})
    frame = _from_published(raw, where) if published else raw.copy()
    stated = () if published else ("protected_class",)
    for column in ("protected_word", *stated, "attribute", "attribute_class", "connection"):
        empty = frame[column].isna() | (frame[column].astype(str).str.strip() == "")
        if empty.any():
            raise InputError("an empty cell", where=f"{where}, line {_line_of_first(empty)}, column {column}")
    frame["distance"] = _checked_numbers(frame["distance"], where, "distance", 0.0, 2.0, sentinel=published)
    _check_connections(frame, where, [*CONNECTIONS, "none"] if published else CONNECTIONS)
    if published:
        frame["protected_class"] = _protected_class(frame, where)
    else:
        _check_classes(frame, where)
    _check_derived(frame, where)
    frame["attribute_kind"] = np.where(frame["connection"].isin(CONTROLS), frame["connection"], "stereotype")

    gone = frame["distance"].isna()
    absent = _absent_words(frame, gone)
    known = {word: word not in absent for word in [*frame["protected_word"], *frame["attribute"]]}
    groups = found_by_class(frame, known, {})
    refuse_empty_classes(groups, where)
    notes = thin_classes(frame, known, groups, "table")
    marked = _marked(raw) if published else 0
    if marked:
        rows = "1 row carries" if marked == 1 else f"{marked} rows carry"
        notes.append(f"{rows} the mark of a missing word (below -1)")
    lost = gone & frame["protected_word"].map(known) & frame["attribute"].map(known)
    if lost.any():
        notes.append(
            f"{int(lost.sum())} pairs of words that are otherwise present have no distance and are left out"
        )
    frame = frame[~gone].reset_index(drop=True)
    repeated = _repeated(frame, where)
    count = int(repeated.sum())
    if count and repeats == "keep":
        notes.append(f"{count} repeated rows are kept, as asked: the same observation counts more than once")
    elif count:
        notes += _differing_repeats(frame, own)
        words = ", ".join(dict.fromkeys(frame.loc[repeated, "protected_word"].astype(str)))
        notes.append(
            f"a repeated row is the same observation, not a new one; repeated were the pairs of {words}"
        )
        frame = frame[~repeated]
    if own:
        notes.append(
            f"{'a column' if len(own) == 1 else 'columns'} of your own, kept with the rows: {some(own)}"
        )
    counted_once = count if repeats == "once" else 0
    coverage = Coverage(groups[0], groups[1], {}, counted_once, tuple(notes), tuple(own))
    provenance = {
        "name": name or (Path(where).stem if sha else where),
        "source": Path(where).name,
        "sha256": sha,
        "repeats": repeats,
    }
    return PairTable(as_pair_columns(frame, own), coverage, provenance)


def _read_file(path: Path) -> pd.DataFrame:
    import pandas as pd

    if path.is_dir():
        raise InputError("is a folder, not a table", where=path, valid="a .csv or .parquet file")
    if not path.is_file():
        beside = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        raise InputError("no such file", where=path, hint=nearest(path.name, beside))
    try:
        _refuse_format(path)
        if path.suffix == ".parquet":
            return pd.read_parquet(path)
        # Words such as "nan", "null" or "NA" are words.
        as_text: Any = {"dtype": str, "keep_default_na": False, "encoding": "utf-8"}
        frame = pd.read_csv(path, **as_text)
        # Names that stand twice are told apart by pandas, and those left out get one.
        header = pd.read_csv(path, header=None, nrows=1, **as_text).iloc[0].tolist()
        if len(header) == frame.shape[1]:
            frame.columns = pd.Index(header)
        return frame
    except UnicodeDecodeError:
        lines = path.read_bytes().splitlines()
        line = next(i for i, text in enumerate(lines, 1) if not _is_utf8(text))  # pandas counts in cells
        raise InputError(
            "is not valid UTF-8", where=f"{path}, line {line}", hint="save it as UTF-8"
        ) from None
    except InputError:
        raise
    except pd.errors.EmptyDataError:
        raise InputError("is empty", where=path, valid=f"a table with the columns {_LAYOUTS}") from None
    except (ValueError, OSError) as error:  # pandas and pyarrow raise subclasses of these
        raise InputError(f"cannot be read as a table ({str(error).splitlines()[0]})", where=path) from None


def _refuse_format(path: Path) -> None:
    """Say what a file is that is no table of ours, as far as its beginning tells."""
    if path.suffix == ".toml":
        raise InputError(
            "is a TOML file, not a table",
            where=path,
            valid="a .csv or .parquet file",
            hint="a word list is read with load_wordlist, a model with load_model",
        )
    with open(path, "rb") as file:
        head = file.read(65536)
    if not head:
        raise InputError("is empty", where=path, valid=f"a table with the columns {_LAYOUTS}")
    kind = hint = None
    if head[0] == 0x80 and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        kind, hint = "a pickle", "pickles can run code and are not read; save it as CSV or Parquet"
    elif head.startswith(b"\x89HDF") or re.match(rb"CDF[\x01\x02\x05]", head):
        kind, hint = "netCDF", "a fit is read with load_fit"
    elif head.startswith(b"PK\x03\x04"):
        kind, hint = "a zip archive (such as .xlsx or .npz)", "save the table as CSV"
    elif head.startswith(b"PAR1") and path.suffix != ".parquet":
        kind, hint = "Parquet by its content", "rename it to end in .parquet"
    elif head.startswith((b"\xff\xfe", b"\xfe\xff")) or re.match(rb"([ -~]\0){4}|(\0[ -~]){4}", head):
        kind, hint = "UTF-16 text", "save it as UTF-8"
    if kind:
        raise InputError(f"is {kind}", where=path, valid="CSV in UTF-8, or Parquet named .parquet", hint=hint)
    header = next((line for line in head.splitlines() if line.strip()), b"")
    for mark, called in ((b";", "';'"), (b"\t", "a tab"), (b"|", "'|'")):
        # Of other compressed and binary files the header is no text; pandas or the columns say what is wrong.
        if b"protected_word" in header and header.count(mark) > header.count(b","):
            raise InputError(f"is separated by {called}", where=path, hint="save it with commas")


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _from_published(raw: pd.DataFrame, where: str) -> pd.DataFrame:
    frame = raw.rename(columns={"word_to_compare": "attribute", "cosine_distance": "distance"})
    frame["connection"] = frame["connection"].replace({"none": "neutral"})
    frame["attribute_class"] = frame["word_class"].astype(str).str.removesuffix("_stereotype")
    if "cosine_similarity" in frame.columns:
        distance = _checked_numbers(frame["distance"], where, "cosine_distance", 0.0, 2.0, sentinel=True)
        similarity = _checked_numbers(
            frame["cosine_similarity"], where, "cosine_similarity", -1.0, 1.0, sentinel=True
        )
        apart = (distance - (1 - similarity)).abs() > _ROUNDING
        if apart.any():
            line = _line_of_first(apart)
            raise InputError(
                "distance and similarity do not add up to 1",
                where=f"{where}, line {line}",
                found=(float(distance[line - 2]), float(similarity[line - 2])),
            )
        frame["distance"] = distance.where(similarity.notna())
    return frame


def _marked(raw: pd.DataFrame) -> int:
    """Count the rows of a published table with a value below -1, which marks a word the vectors lacked."""
    import pandas as pd

    columns = [c for c in ("cosine_distance", "cosine_similarity") if c in raw.columns]
    return int((raw[columns].apply(pd.to_numeric, errors="coerce") < -1 - _ROUNDING).any(axis=1).sum())


def _line_of_first(mask: Any) -> int:
    """Return the line in the file of the first True; the header is line 1."""
    return int(np.flatnonzero(np.asarray(mask))[0]) + 2


def _checked_numbers(
    column: pd.Series, where: str, name: str, low: float, high: float, *, sentinel: bool = False
) -> pd.Series:
    """Turn a column into numbers in [low, high]; a sentinel (below -1) becomes missing."""
    import pandas as pd

    numbers = pd.to_numeric(column, errors="coerce").astype(float)
    if column.dtype.kind != "f":  # text: what is no number is an error; a NaN of ours is already missing
        bad = numbers.isna() | ~np.isfinite(numbers)
        if bad.any():
            line = _line_of_first(bad)
            value = column[line - 2]
            text = str(value).strip()
            hint = None
            if pd.isna(value) or text.lower() in ("", "nan", "na", "n/a", "null", "none"):
                hint = _NO_ROW
            elif re.fullmatch(r"[+-]?\d*,\d+", text):
                hint = f"decimal comma? write {text.replace(',', '.')}"
            raise InputError(
                "is not a finite number" if text else "an empty cell",
                where=f"{where}, line {line}, column {name}",
                found=value,
                hint=hint,
            )
    elif np.isinf(numbers).any() or (numbers.isna().any() and not sentinel):
        line = _line_of_first(~np.isfinite(numbers))
        raise InputError(
            "is not a finite number",
            where=f"{where}, line {line}, column {name}",
            found=float(column[line - 2]),
            hint=_NO_ROW if numbers.isna()[line - 2] else None,
        )
    if sentinel:
        numbers = numbers.mask(numbers < -1 - _ROUNDING)
    out = (numbers < low - _ROUNDING) | (numbers > high + _ROUNDING)
    if out.any():
        line = _line_of_first(out)
        raise InputError(
            "is out of range",
            where=f"{where}, line {line}, column {name}",
            found=float(numbers[line - 2]),
            valid=f"{low:g} to {high:g}",
            hint=_mistaken(numbers.dropna()) if low == 0 else None,
        )
    return numbers.clip(low, high)


def _mistaken(numbers: pd.Series) -> str | None:
    """Say what numbers that are no distances may be; one stray value is not taken for a kind."""
    if numbers.between(-1 - _ROUNDING, 1 + _ROUNDING).all():
        return "a similarity? distance = 1 - similarity"
    if numbers.between(-100, 100).all() and (numbers.abs() > 2).mean() > 0.5:
        if (numbers < 0).any():
            return "a similarity in percent? distance = 1 - similarity / 100"
        return "a percentage? divide by 100 (and of a similarity, distance = 1 - similarity)"
    return None


def _check_connections(frame: pd.DataFrame, where: str, valid: Sequence[str]) -> None:
    unknown = ~frame["connection"].isin(CONNECTIONS)
    if unknown.any():
        line = _line_of_first(unknown)
        value = str(frame["connection"].iloc[line - 2])
        raise InputError(
            "unknown connection",
            where=f"{where}, line {line}, column connection",
            found=value,
            valid=valid,
            hint=nearest(value, valid),
        )


def _protected_class(frame: pd.DataFrame, where: str) -> pd.Series:
    """Return the class of each row's protected word: the attribute class it is associated with."""
    own = frame[frame["connection"] == "associated"].groupby("protected_word")["attribute_class"].unique()
    for word in dict.fromkeys(frame["protected_word"]):
        classes = list(own.get(word, []))
        if len(classes) != 1:
            raise InputError(
                "the class of a protected word is the one it is associated with, and must be one",
                where=f"{where}, line {_line_of_first(frame['protected_word'] == word)}, protected word {word!r}",
                found=classes or "no associated attribute",
            )
    return frame["protected_word"].map({word: str(classes[0]) for word, classes in own.items()})


def _check_classes(frame: pd.DataFrame, where: str) -> None:
    """Refuse a protected word in two classes."""
    first = frame.groupby("protected_word", sort=False, observed=True)["protected_class"].transform("first")
    other = frame["protected_class"].astype(str) != first.astype(str)
    if other.any():
        line = _line_of_first(other)
        raise InputError(
            f"the protected word {frame['protected_word'].iloc[line - 2]!r} stands in another class above",
            where=f"{where}, line {line}, column protected_class",
            found=str(frame["protected_class"].iloc[line - 2]),
            valid=str(first.iloc[line - 2]),
        )


def _check_derived(frame: pd.DataFrame, where: str) -> None:
    """Hold every stated connection to the derived one: two classes have one connection.

    Control words have the connection of their list; of other classes it is the one that most rows give.
    """
    connection, kind = frame["connection"].astype(str), frame["attribute_class"].astype(str)
    usual = connection.groupby([frame["protected_class"].astype(str), kind]).transform(
        lambda stated: stated.value_counts().idxmax()
    )
    usual = kind.where(kind.isin(CONTROLS), usual)
    other = connection != usual
    if other.any():
        line = _line_of_first(other)
        row = frame.iloc[line - 2]
        raise InputError(
            f"{row['protected_word']!r} ({row['protected_class']}) and {row['attribute']!r} ({row['attribute_class']}) "
            "contradict the connection that their classes have",
            where=f"{where}, line {line}",
            found=str(row["connection"]),
            valid=str(usual.iloc[line - 2]),
        )


def _absent_words(frame: pd.DataFrame, gone: pd.Series) -> set[str]:
    """Words all of whose rows lack a distance; protected words first, then attributes of the others."""
    by_word = gone.groupby(frame["protected_word"]).all()
    absent = set(by_word[by_word].index)
    rest = ~frame["protected_word"].isin(absent)
    by_attribute = gone[rest].groupby(frame.loc[rest, "attribute"]).all()
    return absent | set(by_attribute[by_attribute].index)


def _repeated(frame: pd.DataFrame, where: str) -> pd.Series:
    """Mark rows whose pair stands further up; a repeat with another distance is an error."""
    key = ["protected_word", "attribute"]
    repeated = frame.duplicated(key)
    first = frame.groupby(key, sort=False)["distance"].transform("first")
    other = (frame["distance"] - first).abs() > 1e-9
    if other.any():
        row = frame[other].iloc[0]
        raise InputError(
            f"the pair {row['protected_word']!r}, {row['attribute']!r} stands twice with different distances",
            where=where,
            found=(float(first[other].iloc[0]), float(row["distance"])),
        )
    return repeated


def _differing_repeats(frame: pd.DataFrame, own: Sequence[str]) -> list[str]:
    """Say in which columns of one's own repeated rows differ; a repeat is counted once, as its first row has it."""
    groups = frame.groupby(["protected_word", "attribute"], sort=False, observed=True)
    differ = [c for c in own if (groups[c].nunique(dropna=False) > 1).any()]
    return [f"repeated rows differ in {some(differ)}; what the first of them says is kept"] if differ else []


def as_pair_table(x: Any) -> PairTable:
    return x if isinstance(x, PairTable) else read_distances(x)
