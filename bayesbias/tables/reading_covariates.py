"""Covariates about words as they are given: files, frames, mappings and columns, each made one value a word."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.files import lies_at, sha256_file
from bayesbias.core.formatting import Shortened, put_in_words
from bayesbias.core.frames import plain_frame, unmarked
from bayesbias.tables.pair_table import COLUMNS, PairTable
from bayesbias.wordlists.foreign import separated_rows

if TYPE_CHECKING:
    import pandas as pd

SIDES = {"protected": "protected_word", "attribute": "attribute"}
# In tables of sentiment a row is of a profession and a pair of nouns.
_OTHERS = {"profession": "profession", "noun_pair": "noun_pair"}
_WORD = ("word", "words", "item", "term")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_POINTED = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d+)?")
_PER_CENT = re.compile(r"([+-]?\d+([.,]\d+)?) ?%")
_LONGEST_NAME = 100  # of a covariate, which stands in headings and names of parameters
_MINUS = "\N{MINUS SIGN}"
_NOTHING = {"", "na", "n/a", "nan", "null", "none", "-", "?"}
_TABLE = "a table with a column word, and one column a covariate or of counts"
OWN_COLUMN = "the table"
"""The source of a covariate that was a column already."""
_ITS_COLUMN = "in the unit of the table's column"

Value = float | str


@dataclass(frozen=True, eq=False)
class Given:
    """One covariate as it was given: its words, where it comes from."""

    name: str
    values: dict[str, Value]
    source: str
    sha256: str
    side: str | None = None
    without: tuple[str, ...] = ()  # words that stand there with an empty cell
    unit: str = ""  # of numbers, where it is known

    @property
    def numeric(self) -> bool:
        """Whether its values are numbers."""
        return not any(isinstance(value, str) for value in self.values.values())


def sides_of(frame: pd.DataFrame) -> dict[str, str]:
    """Return the sides whose words may have a covariate, and the columns that hold them, as far as a table has them."""
    return {side: column for side, column in {**SIDES, **_OTHERS}.items() if column in frame.columns}


def covariates_given(
    covariates: Any, columns: Sequence[str] | None = None, table: PairTable | None = None
) -> list[Given]:
    """Read covariates from wherever they are; a name may be that of a column of the table."""
    own = [] if table is None else [str(name) for name in table.frame.columns if name not in COLUMNS]
    several = covariates if isinstance(covariates, list | tuple) else [covariates]
    out: list[Given] = []
    for each in several:
        if table is not None and isinstance(each, str) and each in own:
            out.append(_of_column(table, each))
        elif isinstance(each, Given):
            out.append(each)
        elif isinstance(each, str | os.PathLike):
            path = Path(checks.path(each, "covariates"))
            if isinstance(each, str) and not lies_at(path) and path.suffix.lower() not in (".csv", ".tsv"):
                raise InputError(
                    "is neither a file of covariates nor a column of the table",
                    where="covariates",
                    found=each,
                    valid=[*own, "a .csv or .tsv file"],
                    hint=nearest(each, own),
                )
            names, rows, mark = separated_rows(path, _TABLE)
            rows = [(line, [unmarked(cell) for cell in row]) for line, row in rows]
            sha256 = sha256_file(path)
            out += _of_rows(names, rows, str(path), sha256, columns, separator=mark)
        elif hasattr(each, "columns"):
            plain = plain_frame(each, "data frame")
            names = [str(name) for name in plain.columns]
            cells: Any = plain.itertuples(index=False)
            index = list(plain.index)
            if (
                index
                and all(isinstance(w, str) for w in index)
                and not any(n.casefold() in _WORD for n in names)
            ):
                names = ["word", *names]
                cells = ((word, *row) for word, row in zip(index, cells, strict=True))
            rows = [(i, [_cell(v, f"data frame, row {i}") for v in row]) for i, row in enumerate(cells, 1)]
            out += _of_rows(names, rows, "data frame", "", columns, unit="row")
        elif hasattr(each, "to_dict") and isinstance(getattr(each, "name", None), str):  # a series
            out.append(_of_pairs(each.name, list(each.items())))
        elif isinstance(each, Mapping) and each and all(map(checks.is_number, each.values())):
            raise InputError(
                "the covariate has no name",
                where="covariates",
                found=Shortened(each),
                valid="{covariate: {word: value}}",
                hint='{"percent_women": {...}}',
            )
        elif isinstance(each, Mapping):
            out += [_of_mapping(str(name), values) for name, values in each.items()]
        else:
            raise InputError(
                "are no covariates",
                where="covariates",
                found=Shortened(each),
                valid="a .csv file, a data frame, or {covariate: {word: value}}",
            )
    for given in out:
        checks.label(checks.text(given.name, "the name of a covariate"), "the name of a covariate")
        if len(given.name) > _LONGEST_NAME:
            valid = f"at most {_LONGEST_NAME} characters"
            raise InputError(
                "is too long", where="the name of a covariate", found=Shortened(given.name), valid=valid
            )
    checks.distinct([given.name for given in out], "a covariate", "covariates")
    return out


def _cell(value: Any, where: str) -> str:
    """Return a cell of a frame as it would stand in a file."""
    return "" if _is_missing(value) else checks.label(str(value).strip(), where)


def _is_missing(value: Any) -> bool:
    """Say whether a value stands for none: None, pandas' NA and NaT, and NaN in any precision."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(value != value)


def _of_rows(
    names: list[str],
    rows: list[tuple[int, list[str]]],
    where: str,
    digest: str,
    columns: Sequence[str] | None,
    unit: str = "line",
    separator: str = ",",
) -> list[Given]:
    if names and names[0] == "" and len(names) > 1:  # the numbers of rows
        names, rows = names[1:], [(line, row[1:]) for line, row in rows]
    checks.distinct(names, "a column", where)
    at = next((i for i, name in enumerate(names) if name.casefold() in _WORD), None)
    if at is None:
        raise InputError("no column holds the words", where=where, found=names, valid="a column named word")
    wanted = [name for i, name in enumerate(names) if i != at] if columns is None else list(columns)
    out = []
    for name in wanted:
        if name not in names or name == names[at]:
            raise checks.unknown(name, [n for n in names if n != names[at]], "covariate", where)
        if not name:
            raise InputError("a column has no name", where=where, found=names)
        place = names.index(name)
        own = [(line, row[at], row[place]) for line, row in rows]
        out.append(_of_cells(name, own, where, digest, unit, separator))
    if not out:
        raise InputError(
            "holds words and no covariate",
            where=where,
            found=names,
            valid="a column word, and one or more others",
        )
    return out


def _refuse_thousands(
    name: str, cells: list[tuple[int, str, str]], where: str, unit: str, separator: str
) -> None:
    """Refuse marks between thousands, and such as may as well be decimal unless another cell shows that they are.

    A mark that stands there twice, or beside the other one, is between thousands. Points may be so in tables
    separated by semicolons, as programs write them where the comma is decimal.
    """
    for mark, other, called, form in ((",", ".", "commas", _GROUPED), (".", ",", "points", _POINTED)):
        marked = [(line, cell) for line, _, cell in cells if mark in cell]
        grouped = [(line, cell) for line, cell in marked if form.fullmatch(cell)]
        decimal = any(  # the other mark, as a cell of other lengths shows
            cell.count(other) == 1 and mark not in cell and not _three_after(cell, other)
            for _, _, cell in cells
        )
        certain = [
            (line, cell)
            for line, cell in grouped
            if cell.count(mark) > 1
            or (other in cell and cell.index(mark) < cell.index(other))
            or (decimal and len(grouped) == len(marked))
        ]
        if certain:
            line, cell = certain[0]
            raise InputError(
                f"{name} has {called} between thousands",
                where=f"{where}, {unit} {line}",
                found=cell,
                valid=cell.replace(mark, "").replace(other, "."),
            )
        if grouped and len(grouped) == len(marked) and (mark == "," or separator == ";"):
            line, cell = grouped[0]
            read = cell.replace(",", ".")
            if separator == ";":  # where three digits after a point say nothing
                read = f"{read}0" if read[-1] != "0" else f"{float(read)}"
            raise InputError(
                f"{name} may have {called} between thousands, or decimal {called}",
                where=f"{where}, {unit} {line}",
                found=cell,
                valid=f"{cell.replace(mark, '')} or {read}",
            )


def _refuse_two_marks(name: str, cells: list[tuple[int, str, str]], where: str, unit: str) -> None:
    """Refuse decimal points beside decimal commas: of two people's cells nobody knows what 1,234 means."""
    first = {
        mark: next(
            (
                (line, cell)
                for line, _, cell in cells
                if cell.count(mark) == 1
                and other not in cell
                and not _three_after(cell, mark)
                and _NUMBER.fullmatch(cell.replace(mark, "."))
            ),
            None,
        )
        for mark, other in ((",", "."), (".", ","))
    }
    if (comma := first[","]) and (point := first["."]):
        raise InputError(
            f"{name} has decimal commas and decimal points",
            where=f"{where}, {unit}s {comma[0]} and {point[0]}",
            found=(comma[1], point[1]),
            valid="one of the two in all cells",
        )


def _three_after(cell: str, mark: str) -> bool:
    """Say whether a mark may stand between thousands: with one to three digits before it and three after."""
    return re.fullmatch(rf"[+-]?[1-9]\d{{0,2}}{re.escape(mark)}\d{{3}}", cell) is not None


def _of_cells(
    name: str,
    cells: list[tuple[int, str, str]],
    where: str,
    digest: str,
    unit: str,
    separator: str,
) -> Given:
    """Return one column as a covariate: numbers where most of its cells are, else categories."""
    filled = [(line, word, cell) for line, word, cell in cells if cell.casefold() not in _NOTHING]
    # A minus sign is one, though keyboards have a hyphen for it.
    filled = [(line, word, f"-{cell[1:]}" if cell[:1] == _MINUS else cell) for line, word, cell in filled]
    plain = [cell.replace(",", ".", 1) if cell.count(",") == 1 else cell for _, _, cell in filled]
    forms = (_NUMBER, _GROUPED, _POINTED, _PER_CENT)  # those that are refused are meant as numbers, too
    meant = sum(
        any(form.fullmatch(each) for form in forms for each in (cell, text))
        for (_, _, cell), text in zip(filled, plain, strict=True)
    )
    numeric = meant * 2 >= max(1, len(filled))
    if numeric:
        _refuse_two_marks(name, filled, where, unit)
        _refuse_thousands(name, filled, where, unit, separator)
    values: dict[str, Value] = {}
    lines: dict[str, int] = {}
    for (line, word, cell), text in zip(filled, plain, strict=True):
        here = f"{where}, {unit} {line}"
        if not word:
            raise InputError("the word is missing", where=here, found=cell)
        if numeric and not _NUMBER.fullmatch(text):
            raise InputError(f"{name} is no number", where=here, found=cell, valid=as_number(cell))
        value: Value = float(text) if numeric else cell
        if numeric and not np.isfinite(float(text)):
            raise InputError(f"{name} is not finite", where=here, found=cell)
        if value == 0 and re.search("[1-9]", re.split("[eE]", text)[0]):
            raise InputError(
                f"{name} is too small for a number", where=here, found=cell, hint="take another unit"
            )
        if values.setdefault(word, value) != value:
            raise InputError(
                f"the word {word!r} has two values of {name}",
                where=f"{where}, {unit}s {lines[word]} and {line}",
                found=(values[word], value),
                valid="one value a word",
            )
        lines.setdefault(word, line)
    empty = {
        word: None for _, word, cell in cells if word and word not in values and cell.casefold() in _NOTHING
    }
    return Given(name, values, where, digest, without=tuple(empty))


def as_number(cell: str) -> str:
    """Say what to write in place of a cell that is no number: per cent as such or as a share, all of them alike."""
    if not (share := _PER_CENT.fullmatch(cell)):
        return "a number, or an empty cell"
    number = share[1].replace(",", ".")
    return f"{number} or {float(number) / 100:.12g}, alike in all cells"


def _of_mapping(name: str, values: Any) -> Given:
    return _of_pairs(name, list(checks.table(values, f"covariate {name!r}", "{word: value}").items()))


def _of_pairs(name: str, pairs: Sequence[tuple[Any, Any]]) -> Given:
    """Return words and their values as a covariate; a word may stand twice, in a series or in two spellings of Unicode."""
    where = f"covariate {name!r}"
    out: dict[str, Value] = {}
    for word, value in pairs:
        if _is_missing(value):
            continue
        here = f"{where}, word {Shortened(word)}"
        spelt = checks.label(put_in_words(word, str), here)
        if isinstance(value, str):
            own: Value = checks.label(str(value), here)
        elif isinstance(value, bool | np.bool_):  # a category, as in a column of a frame
            own = str(value)
        elif checks.is_number(value) and np.isfinite(float(value)):
            own = float(value)
        else:
            raise InputError("must be a number or a text", where=here, found=Shortened(value))
        if out.setdefault(spelt, own) != own:
            raise InputError(
                "the word has two values", where=here, found=(out[spelt], own), valid="one value a word"
            )
    if len({isinstance(value, str) for value in out.values()}) > 1:
        word = next(word for word, value in out.items() if isinstance(value, str))
        raise InputError(
            "holds numbers and texts", where=where, found=(word, out[word]), valid="one or the other"
        )
    return Given(name, out, "a mapping", "")


def _of_column(table: PairTable, name: str) -> Given:
    """Return a column of the table as a covariate of the side on which each word has one value."""
    frame = table.frame
    for side, column in sides_of(frame).items():
        held = frame[[column, name]].dropna().drop_duplicates()
        if not held[column].duplicated().any():
            values = {
                str(w): (v if isinstance(v, str) else float(v)) for w, v in held.itertuples(index=False)
            }
            return Given(name, values, OWN_COLUMN, "", side, unit=_ITS_COLUMN)
    word, both = next(iter(held.groupby(column, observed=True)[name].unique().items()))
    twice = next(
        ((w, v) for w, v in held.groupby(column, observed=True)[name].unique().items() if len(v) > 1),
        (word, both),
    )
    raise InputError(
        f"the column {name!r} is a covariate neither of protected words nor of attributes: a word has several values",
        where=str(table.provenance.get("name", "the table")),
        found=f"{twice[0]}: {', '.join(map(str, list(twice[1])[:3]))}",
        valid="one value a word",
    )
