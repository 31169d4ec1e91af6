"""Facts about words: numbers or categories of each word or attribute, joined to the rows of a table of pairs.

The share of women in an occupation, the year a name was common, the log frequency of a word. A fact is a column of the
table that is the same in all rows of a word, so that a model may name it (``times = "percent_women"``). Numbers are centred
and divided by their standard deviation over the words, and both are recorded, so that a slope is per standard deviation.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayesbias.basics import checks
from bayesbias.basics.errors import InputError, nearest
from bayesbias.basics.files import lies_at
from bayesbias.basics.kinds import tells_kinds
from bayesbias.basics.wording import Shortened, closest, number_of, put_in_words, some
from bayesbias.border.cleaning import checked_label
from bayesbias.border.frames import plain_frame
from bayesbias.border.opening import sha256_file, unchanged
from bayesbias.tables.coverage import FACT_NOUNS, fitted_alone
from bayesbias.tables.fact_accounts import joined_once_more, share_between_classes
from bayesbias.tables.pair_table import COLUMNS, PairTable
from bayesbias.words.foreign import separated_rows
from bayesbias.words.wordlist import CONTROLS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["join_facts"]

SCALES = ("standard", "center", "none")
SIDES = {"protected": "protected_word", "attribute": "attribute"}
# In tables of sentiment a row is of a profession and a pair of nouns.
_OTHERS = {"profession": "profession", "noun_pair": "noun_pair"}
_CLASS_OF = {"protected": "protected_class", "attribute": "attribute_class", "profession": "category"}
_WORD = ("word", "words", "item", "term")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_POINTED = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d+)?")
_PER_CENT = re.compile(r"([+-]?\d+([.,]\d+)?) ?%")
_NOTHING = {"", "na", "n/a", "nan", "null", "none", "-", "?"}
_LEAST = 3
_MOST_NOTED, _MOST_HELD_AGAINST = 10, 500  # rows of facts that may be meant otherwise
_ROUNDING = 1e-9  # of the largest number: what differs by less differs by nothing that was meant
_TABLE = "a table with a column word, and one column a fact or of counts"
OWN_COLUMN = "the table"
"""The source of a fact that was a column already."""
_ITS_COLUMN = "in the unit of the table's column"
_CONFOUNDED = 0.9  # of a fact's variance between classes, from which on it is said

Value = float | str


@dataclass(frozen=True, eq=False)
class Given:
    """One fact as it was given: its words, where it comes from."""

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


@tells_kinds
def join_facts(
    table: PairTable,
    facts: Any,
    *,
    side: Literal["protected", "attribute", "both", "profession", "noun_pair"] | None = None,
    columns: Sequence[str] | None = None,
    scale: str = "standard",
) -> PairTable:
    """Join numbers or categories of words to the rows of a table.

    Parameters
    ----------
    table : PairTable
    facts : path, data frame, mapping, the name of a column of the table, or a list of these
        A ``.csv`` or ``.tsv`` file, or a frame, with a column ``word`` and one column a fact; of a frame the words may be the
        index; or ``{fact: {word: value}}``.
        Cells that are empty, or NA, say nothing of a word. Commas, semicolons (then with decimal commas) and tabs separate.
        A column that the table has already is checked, and centred and scaled where it stands. Where it is a fact that was
        joined before, center and scale remain those of the numbers that were given first; of a file nothing of them is known,
        and the unit is that of its column.
    side : {"protected", "attribute", "both"}, optional
        Whose words are meant; of a table of sentiment ``profession`` or ``noun_pair``. By default those sides of which at least
        half of the words have the fact (of attributes, half of the stereotypes will do), or else the one of which more have
        it. On both sides a fact makes two columns, with ``protected_`` and ``attribute_`` before its name.
    columns : sequence of str, optional
        The facts to take of a file or a frame; by default all.
    scale : {"standard", "center", "none"}, default "standard"
        What is done to numbers: less their mean over the words that have one, and that over their standard deviation (n - 1).
        A word counts once, however many rows it has.

    Returns
    -------
    PairTable
        With a column for each fact, after those it had: float64, and NaN where there is none; of categories texts. Its
        ``coverage.facts`` says how many words have it and which have none, and ``provenance["facts"]`` where it is from
        and what was taken away and divided by.

    Raises
    ------
    InputError
        For a file that is no such table; a word with two different values; a column of numbers with a text in it; numbers
        that are not finite, or the same for all words; a fact of fewer than three words; a name that the table has already.

    Notes
    -----
    Words are matched as they are spelt, else without regard to capitals and with blanks for underscores and hyphens, where
    that leaves one.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "weat7")
    >>> years = {"year_born": {"math": 1891, "algebra": 1551, "poetry": 1380, "sculpture": 1390}}
    >>> from bayesbias.tables import join_facts
    >>> joined = join_facts(table, years)
    >>> joined.coverage.facts["year_born"]["side"], joined.coverage.facts["year_born"]["found"]
    ('protected', 4)
    >>> round(joined.provenance["facts"]["year_born"]["center"], 2)
    1553.0
    """
    if not isinstance(table, PairTable):
        raise checks.wrong_kind(table, "table", "what distance_table or read_distances returns")
    if side is not None:
        checks.choice(side, (*sides_of(table.frame), "both"), "side of a pair", "side")
    checks.choice(scale, SCALES, "scale", "scale")
    for given in facts_given(facts, columns, table):
        table = _joined(table, given, given.side if side is None else side, scale)
    return table


def with_facts_known(table: PairTable, names: Sequence[str]) -> PairTable:
    """Return the rows that a model with these facts can take.

    Of a fact that hardly any control word has (the share of women, of occupations), control words have no part in its slope: it
    is 0 there. Otherwise the rows of words without the fact are left out, and the coverage says whose.
    """
    whole = table.frame
    for name in names:
        if name not in table.frame.columns:
            continue  # what it lacks is said when the model is laid over it
        frame = table.frame
        gone = frame[name].isna()
        if not gone.any() or gone.all():
            continue
        control = frame["attribute_kind"].isin(CONTROLS) if "attribute_kind" in frame else gone & False
        notes = []
        number = frame[name].dtype.kind == "f"
        of_attributes = table.coverage.facts.get(name, {}).get("side", "attribute") == "attribute"
        if number and of_attributes and control.any() and not gone[~control].all():
            with_it = frame.loc[control & ~gone, "attribute"].nunique()
            listed = frame.loc[control, "attribute"].nunique()
            # A few that happen to have it would leave nothing of the others.
            if 2 * with_it < listed:
                frame = frame.assign(**{name: frame[name].mask(control, 0.0)})
                lack = f"{listed - with_it} of {listed} control words have no {name}, and none has a"
                notes.append(
                    f"{lack} part in what is told by it"
                    if with_it
                    else f"control words have no {name}, and no part in what is told by it"
                )
                gone &= ~control
        if gone.any():
            rest = frame[~gone]
            words = [
                word
                for column in sides_of(frame).values()
                for word in dict.fromkeys(frame.loc[gone, column].astype(str))
                if not (rest[column] == word).any()
            ]
            notes.append(f"left out of the fit, since they have no {name}: {some(words)}")
            frame = rest.reset_index(drop=True)
        coverage = replace(table.coverage, notes=(*table.coverage.notes, *notes))
        table = replace(table, frame=frame, coverage=coverage)
    if len(table.frame) < len(whole):
        table = replace(table, coverage=fitted_alone(table.coverage, whole, table.frame))
    return table


def sides_of(frame: pd.DataFrame) -> dict[str, str]:
    """Return the sides whose words may have a fact, and the columns that hold them, as far as a table has them."""
    return {side: column for side, column in {**SIDES, **_OTHERS}.items() if column in frame.columns}


def columns_of_fact(table: PairTable, name: str) -> list[str]:
    """Return the columns of a table that hold a fact: one of that name, or those on either side; by default the name alone."""
    if name in table.frame.columns:
        return [name]
    about = table.provenance.get("facts", {})
    return [
        column
        for column, of in about.items()
        if name in (of["of"], f"{of['side']}_{of['of']}") and column in table.frame.columns
    ] or [name]


def facts_given(
    facts: Any, columns: Sequence[str] | None = None, table: PairTable | None = None
) -> list[Given]:
    """Read facts from wherever they are; a name may be that of a column of the table."""
    own = [] if table is None else [str(name) for name in table.frame.columns if name not in COLUMNS]
    several = facts if isinstance(facts, list | tuple) else [facts]
    out: list[Given] = []
    for each in several:
        if table is not None and isinstance(each, str) and each in own:
            out.append(_of_column(table, each))
        elif isinstance(each, Given):
            out.append(each)
        elif isinstance(each, str | os.PathLike):
            path = Path(checks.path(each, "facts"))
            if isinstance(each, str) and not lies_at(path) and path.suffix.lower() not in (".csv", ".tsv"):
                raise InputError(
                    "is neither a file of facts nor a column of the table",
                    where="facts",
                    found=each,
                    valid=[*own, "a .csv or .tsv file"],
                    hint=nearest(each, own),
                )
            with unchanged(path):
                names, rows, mark = separated_rows(path, _TABLE)
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
            out.append(_of_mapping(each.name, each.to_dict()))
        elif isinstance(each, Mapping) and each and all(map(checks.is_number, each.values())):
            raise InputError(
                "the fact has no name",
                where="facts",
                found=Shortened(each),
                valid="{fact: {word: value}}",
                hint='{"percent_women": {...}}',
            )
        elif isinstance(each, Mapping):
            out += [_of_mapping(str(name), values) for name, values in each.items()]
        else:
            raise InputError(
                "are no facts",
                where="facts",
                found=Shortened(each),
                valid="a .csv file, a data frame, or {fact: {word: value}}",
            )
    checks.distinct([given.name for given in out], "a fact", "facts")
    return out


def _cell(value: Any, where: str) -> str:
    """Return a cell of a frame as it would stand in a file."""
    return "" if _is_missing(value) else checked_label(str(value), where)


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
            raise checks.unknown(name, [n for n in names if n != names[at]], "fact", where)
        if not name:
            raise InputError("a column has no name", where=where, found=names)
        place = names.index(name)
        own = [(line, row[at], row[place]) for line, row in rows]
        out.append(_of_cells(name, own, where, digest, unit, separator))
    if not out:
        raise InputError(
            "holds words and no fact", where=where, found=names, valid="a column word, and one or more others"
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
    """Return one column as a fact: numbers where most of its cells are, else categories."""
    filled = [(line, word, cell) for line, word, cell in cells if cell.casefold() not in _NOTHING]
    plain = [cell.replace(",", ".", 1) if cell.count(",") == 1 else cell for _, _, cell in filled]
    forms = (_NUMBER, _GROUPED, _POINTED, _PER_CENT)  # those that are refused are meant as numbers, too
    meant = sum(
        any(form.fullmatch(each) for form in forms for each in (cell, text))
        for (_, _, cell), text in zip(filled, plain, strict=True)
    )
    numeric = meant * 2 >= max(1, len(filled))
    if numeric:
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
    where = f"fact {name!r}"
    out: dict[str, Value] = {}
    for word, value in checks.table(values, where, "{word: value}").items():
        if _is_missing(value):
            continue
        here = f"{where}, word {Shortened(word)}"
        spelt = checked_label(put_in_words(word, str), here)
        if isinstance(value, str):
            out[spelt] = checked_label(str(value), here)
        elif checks.is_number(value) and np.isfinite(float(value)):
            out[spelt] = float(value)
        else:
            raise InputError("must be a number or a text", where=here, found=Shortened(value))
    if len({isinstance(value, str) for value in out.values()}) > 1:
        word = next(word for word, value in out.items() if isinstance(value, str))
        raise InputError(
            "holds numbers and texts", where=where, found=(word, out[word]), valid="one or the other"
        )
    return Given(name, out, "a mapping", "")


def _of_column(table: PairTable, name: str) -> Given:
    """Return a column of the table as a fact of the side on which each word has one value."""
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
        f"the column {name!r} is a fact neither of protected words nor of attributes: a word has several values",
        where=str(table.provenance.get("name", "the table")),
        found=f"{twice[0]}: {', '.join(map(str, list(twice[1])[:3]))}",
        valid="one value a word",
    )


def _joined(table: PairTable, given: Given, side: str | None, scale: str) -> PairTable:
    name, frame = given.name, table.frame
    matched = {each: values_of(given, _words(frame, column)) for each, column in sides_of(frame).items()}
    if side is None:
        share = {each: _share(frame, each, values) for each, values in matched.items()}
        chosen = [each for each, part in share.items() if part >= 0.5] or [
            max(share, key=lambda each: share[each])
        ]
    else:
        chosen = [each for each in SIDES if each in matched] if side == "both" else [side]
    if given.source != OWN_COLUMN:
        words = [word for each in chosen for word in _words(frame, sides_of(frame)[each])]
        notes = _otherwise_spelt(given, dict.fromkeys(words))
        coverage = replace(table.coverage, notes=(*table.coverage.notes, *notes))
        table = replace(table, coverage=coverage)
    for each in chosen:
        column = name if len(chosen) == 1 else f"{each}_{name}"
        if column in COLUMNS or (column in frame.columns and given.source != OWN_COLUMN):
            raise InputError(
                f"the table has a column {column!r} already",
                where=given.source,
                hint="name the fact otherwise",
            )
        table = _with_column(table, given, each, column, matched[each], scale)
    return table


def _words(frame: pd.DataFrame, column: str) -> list[str]:
    import pandas as pd

    return list(dict.fromkeys(str(word) for word in pd.unique(frame[column])))


def _share(frame: pd.DataFrame, side: str, values: Mapping[str, Value]) -> float:
    words = _words(frame, sides_of(frame)[side])
    shares = [len(values) / len(words)]
    if side == "attribute" and "attribute_kind" in frame.columns:
        stereotypes = _words(frame[~frame["attribute_kind"].isin(CONTROLS)], "attribute")
        shares.append(sum(word in values for word in stereotypes) / max(1, len(stereotypes)))
    return max(shares)


def values_of(given: Given, words: list[str]) -> dict[str, Value]:
    """Return the value of each word that has one, by its spelling, or by a looser one that only one word has."""
    loose: dict[str, set[Value]] = {}
    for word, value in given.values.items():
        loose.setdefault(_loosely(word), set()).add(value)
    out: dict[str, Value] = {}
    for word in words:
        if word in given.values:
            out[word] = given.values[word]
        elif len(near := loose.get(_loosely(word), set())) == 1:
            out[word] = next(iter(near))
    return out


def _otherwise_spelt(given: Given, words: Collection[str]) -> list[str]:
    """Say which rows of the facts may be meant for words of the table, and are not taken for them."""
    notes = []
    near: dict[str, list[str]] = {}
    for word in given.values:
        if word not in words:
            near.setdefault(_loosely(word), []).append(word)
    for word in words:
        others = [w for w in near.get(_loosely(word), []) if given.values[w] != given.values.get(word)]
        if word in given.values and others:
            notes.append(
                f"{given.name} of {word} is that of its own spelling ({_shown(given.values[word])}), "
                f"not that of {others[0]} ({_shown(given.values[others[0]])})"
            )
        elif len({given.values[w] for w in others}) > 1:
            notes.append(
                f"{word} has no {given.name}, since {some(others)} have several; a row for {word} would say which"
            )
    unknown = [w for own in near.values() for w in own][:_MOST_HELD_AGAINST]
    for word in words:
        if word in given.values or word in given.without or _loosely(word) in near or not unknown:
            continue
        if meant := closest(word, unknown):
            notes.append(f"{word} has no {given.name}; may the row of {meant!r} be meant for it?")
    return notes[:_MOST_NOTED]


def _shown(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _loosely(word: str) -> str:
    return re.sub(r"[ _-]+", " ", word).casefold().strip()


def _with_column(
    table: PairTable, given: Given, side: str, column: str, of_words: Mapping[str, Value], scale: str
) -> PairTable:
    frame = table.frame
    words = _words(frame, sides_of(frame)[side])
    noun = FACT_NOUNS[side]
    if len(of_words) < _LEAST:
        raise InputError(
            f"{number_of(len(of_words), 'word')} of the table {'has' if len(of_words) == 1 else 'have'} the fact {given.name!r}",
            where=given.source,
            found=f"{some(given.values, 6) or 'no words'}",
            valid=f"at least {_LEAST} of the {noun}: {some(words, 6)}",
        )
    facts: dict[str, Any] = {"of": given.name, "side": side, "source": given.source, "sha256": given.sha256}
    earlier = table.provenance.get("facts", {}).get(column, {}) if given.source == OWN_COLUMN else {}
    notes: list[str] = []
    kept: dict[str, Any]
    if given.numeric:
        numbers = np.array([float(value) for value in of_words.values()])
        if np.ptp(numbers) <= _ROUNDING * np.abs(numbers).max():  # 0.3 beside 0.1 + 0.2
            raise InputError(
                f"the fact {given.name!r} is the same for all {len(of_words)} {noun}",
                where=given.source,
                found=float(numbers[0]),
                valid="numbers that differ",
            )
        size = float(np.abs(numbers).max())
        if not 1 / checks.LARGEST < size < checks.LARGEST:
            raise InputError(
                f"the fact {given.name!r} has numbers too {'large' if size > 1 else 'small'} for their squares",
                where=given.source,
                found=float(numbers[np.argmax(np.abs(numbers))]),
                valid="numbers whose largest lies between 1e-100 and 1e100: take another unit",
            )
        center = float(numbers.mean()) if scale != "none" else 0.0
        divisor = float(numbers.std(ddof=1)) if scale == "standard" else 1.0
        kept = {word: (float(value) - center) / divisor for word, value in of_words.items()}
        facts |= {
            "kind": "number",
            "center": center,
            "scale": divisor,
            "least": float(numbers.min()),
            "most": float(numbers.max()),
            **({"unit": given.unit} if given.unit else {}),
        }
        label = _CLASS_OF.get(side, "")
        between = share_between_classes(frame, sides_of(frame)[side], label, kept)
        if between >= 1 - 1e-12:
            notes.append(
                f"{column} is the same for all words of a class: what it tells cannot be told from the classes"
            )
        elif between >= _CONFOUNDED:
            notes.append(
                f"words of one class are much alike in {column}: {between:.0%} of its variance lies between classes, so that "
                "what goes with it can hardly be told from what goes with the classes"
            )
    else:
        kept = {word: str(value) for word, value in of_words.items()}
        facts |= {"kind": "category", "categories": sorted(set(kept.values()))}
        if len(set(kept.values())) == 1:
            raise InputError(
                f"the fact {given.name!r} is the same for all {len(of_words)} {noun}",
                where=given.source,
                found=next(iter(kept.values())),
                valid="categories that differ",
            )
    if earlier.get("side") == side:
        facts = joined_once_more(facts, earlier)
    import pandas as pd

    codes, labels = pd.factorize(frame[sides_of(frame)[side]])  # a million rows have few words
    nothing: Any = np.nan
    known = [kept.get(str(label), nothing) for label in labels]
    values = np.array([*known, nothing], dtype=float if given.numeric else object)[codes]
    frame = frame.assign(**{column: values})
    missing = [word for word in words if word not in kept]
    account = {"side": side, "listed": len(words), "found": len(kept), "missing": missing}
    coverage = replace(
        table.coverage,
        facts={**table.coverage.facts, column: account},
        columns=tuple(dict.fromkeys([*table.coverage.columns, column])),
        notes=(*table.coverage.notes, *notes),
    )
    provenance = {**table.provenance, "facts": {**table.provenance.get("facts", {}), column: facts}}
    return PairTable(frame, coverage, provenance)
