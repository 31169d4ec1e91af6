"""The one check of rows, whichever way they came in: a file, a data frame, a mapping, a table that was changed.

What is known is checked: the columns of a pair and the outcomes that have a range. A model of one's own may name other
columns and another outcome; of these only is asked that cells are filled and numbers finite, when the model is laid
over them (`bayesbias.models.design`).
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import Shortened, number_of, some
from bayesbias.tables.codes import Codes
from bayesbias.tables.pair_table import COLUMNS
from bayesbias.wordlists.pairing import CONNECTIONS
from bayesbias.wordlists.wordlist import CONTROLS

if TYPE_CHECKING:
    import pandas as pd

# Published Google tables hold single precision: distance and 1 - similarity differ by up to 1.2e-7.
ROUNDING = 1e-6
SAME = 1e-9
"""Repeats whose numbers differ by no more are one observation."""
PAIR = ("protected_word", "attribute")
TEMPLATES = ("protected_template", "attribute_template")
SIMULATED = "simulated"
"""In ``frame.attrs``: the outcomes were drawn from a model, whose normal noise knows no 0 and no 2."""
REPEATS = "repeats"
"""In ``frame.attrs``: ``keep`` where repeated rows were kept as asked, so that the rows alone are fitted as the table was."""
_NO_ROW = "remove the row: words the vectors lack make no row"
_STEREOTYPE = "stereotype"
_CELLS_A_ROW = 4


@dataclass(frozen=True)
class Range:
    """Where an outcome lies, and the columns beside which its name means what it means here."""

    low: float
    high: float
    beside: tuple[str, ...]


# Cosine distances and their differences; probabilities and theirs. Log odds have no ends.
RANGES: Mapping[str, Range] = {
    "distance": Range(0.0, 2.0, PAIR),
    "original": Range(0.0, 2.0, (*PAIR, "debiased", "change")),
    "debiased": Range(0.0, 2.0, (*PAIR, "original", "change")),
    "change": Range(-2.0, 2.0, (*PAIR, "original", "debiased")),
    "difference": Range(-1.0, 1.0, ("classifier", "p_male", "p_female")),
}


_OTHER = Range(0.0, 1.0, ())


@dataclass(frozen=True)
class Source:
    """What messages call a table and the rows of it: lines of a file (its header is line 1), rows of a data frame."""

    name: str
    file: bool = False

    def at(self, position: int, column: str | None = None) -> str:
        """Name a row, counted from 0, and a column in it."""
        row = f"{self.name}, {self.row(position)}"
        return row if column is None else f"{row}, column {column}"

    def row(self, position: int) -> str:
        """Name a row without its table."""
        return f"line {position + 2}" if self.file else f"row {position}"


@dataclass(frozen=True, eq=False)
class Counted:
    """Rows of which each observation is one, and what was done for it."""

    frame: pd.DataFrame
    repeats: int
    notes: tuple[str, ...]


def check_rows(frame: pd.DataFrame, source: Source, outcomes: Iterable[str] = ("distance",)) -> None:
    """Refuse rows that cannot be what they say they are, as far as their columns are known.

    Checked are, each where its columns are there: filled cells, finite numbers within the range of an outcome, known
    connections, a protected word of one class, and the connection that follows from the classes.

    Parameters
    ----------
    frame : DataFrame
        With its rows numbered from 0.
    source : Source
    outcomes : iterable of str
        The columns of numbers that are to be looked at.

    Raises
    ------
    InputError
    """
    checks.distinct([str(name) for name in frame.columns], "a column", source.name)
    for outcome in outcomes:
        if is_known(outcome, frame.columns):
            checked_numbers(frame[outcome], source, outcome, RANGES[outcome], source_is_simulated(frame))
    if all(column in frame for column in PAIR):
        check_pairs(frame, source)


def is_known(outcome: str, columns: Iterable[Any]) -> bool:
    """Whether an outcome is one whose range is known, by its name and the columns beside it."""
    return outcome in RANGES and {outcome, *RANGES[outcome].beside} <= set(columns)


def source_is_simulated(frame: pd.DataFrame) -> bool:
    """Whether the outcomes were drawn from a model."""
    return bool(frame.attrs.get(SIMULATED, False))


def with_repeats_noted(frame: pd.DataFrame, repeats: str) -> pd.DataFrame:
    """Return rows of one's own that say of themselves whether repeated ones were kept as asked."""
    rest = {key: value for key, value in frame.attrs.items() if key != REPEATS}
    frame.attrs = {**rest, REPEATS: repeats} if repeats == "keep" else rest
    return frame


def check_pairs(frame: pd.DataFrame, source: Source) -> None:
    """Check the texts of pairs: words, classes and connections. Columns that are not there are not asked for."""
    codes = {column: Codes.of(frame[column]) for column in COLUMNS[:-1] if column in frame}
    for column, of in codes.items():
        empty = of.of_row < 0
        if any(not label.strip() for label in of.labels):
            empty |= of.where(lambda label: not label.strip())
        if empty.any():
            raise InputError("an empty cell", where=source.at(_first(empty), column))
    if "connection" not in codes:
        return
    connection = codes["connection"]
    check_connections(connection, source)
    if "protected_class" in codes:
        _check_classes(codes, source)
        if "attribute_class" in codes:
            # The sets of a sentence test are named for what is in them, not for each other.
            _check_derived(codes, source, by_name=not any(column in frame for column in TEMPLATES))
    if "attribute_kind" in codes:
        _check_kinds(codes, source)


def check_connections(
    connection: Codes, source: Source, valid: Sequence[str] = CONNECTIONS, column: str = "connection"
) -> None:
    """Refuse a connection that is none of ours."""
    unknown = connection.where(lambda label: label not in CONNECTIONS)
    if unknown.any():
        position = _first(unknown)
        raise checks.unknown(connection.label(position), valid, "connection", source.at(position, column))


def checked_numbers(
    column: pd.Series,
    source: Source,
    name: str,
    within: Range,
    simulated: bool = False,
    *,
    sentinel: bool = False,
) -> pd.Series:
    """Turn a column into numbers of a range; with a sentinel, what lies below -1 becomes missing.

    What lies beyond an end by rounding is drawn in. Of simulated numbers only is asked that they are finite.
    """
    import pandas as pd

    numbers = pd.to_numeric(column, errors="coerce").astype(float)
    values = numbers.to_numpy()
    bad = ~np.isfinite(values) if column.dtype.kind != "b" else np.ones(len(values), dtype=bool)
    if column.dtype == object:  # a truth value among numbers would be 0 or 1
        bad |= np.fromiter((isinstance(value, bool | np.bool_) for value in column), bool, len(column))
    if column.dtype.kind == "f" and sentinel:  # a NaN of ours is already missing
        bad &= ~np.isnan(values)
    if bad.any():
        raise _no_number(column, _first(bad), source, name)
    if simulated:
        return numbers
    if sentinel:
        numbers = numbers.mask(numbers < -1 - ROUNDING)
        values = numbers.to_numpy()
    out = (values < within.low - ROUNDING) | (values > within.high + ROUNDING)
    if out.any():
        raise InputError(
            "is out of range",
            where=source.at(_first(out), name),
            found=float(values[_first(out)]),
            valid=f"{within.low:g} to {within.high:g}",
            hint=_mistaken(numbers.dropna()) if within.low == 0 else None,
        )
    return numbers.clip(within.low, within.high)


def _no_number(column: pd.Series, position: int, source: Source, name: str) -> InputError:
    import pandas as pd

    value = column.iloc[position]
    text = str(value).strip()
    hint = None
    if pd.isna(value) or text.lower() in ("", "nan", "na", "n/a", "null", "none"):
        hint = _NO_ROW if RANGES.get(name, _OTHER).beside[:2] == PAIR else None
    elif re.fullmatch(r"[+-]?\d*,\d+", text):
        hint = f"decimal comma? write {text.replace(',', '.')}"
    return InputError(
        "is not a finite number" if text else "an empty cell",
        where=source.at(position, name),
        found=float(value)
        if isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)
        else Shortened(value),
        hint=hint,
    )


def _mistaken(numbers: pd.Series) -> str | None:
    """Say what numbers that are no distances may be; one stray value is not taken for a kind."""
    if numbers.between(-1 - ROUNDING, 1 + ROUNDING).all():
        return "a similarity? distance = 1 - similarity"
    if numbers.between(-100, 100).all() and (numbers.abs() > 2).mean() > 0.5:
        if (numbers < 0).any():
            return "a similarity in percent? distance = 1 - similarity / 100"
        return "a percentage? divide by 100 (and of a similarity, distance = 1 - similarity)"
    if numbers.between(-2, 200).all() and (numbers > 2).mean() > 0.5:
        return "a percentage? divide by 100"
    return None


def _check_kinds(codes: Mapping[str, Codes], source: Source) -> None:
    """Hold the kind of every attribute to the connection: control words have the kind of their list."""
    kind, connection = codes["attribute_kind"], codes["connection"]
    both = kind.beside(connection)
    for cell in np.unique(both):
        stated = kind.labels[cell // len(connection.labels)]
        follows = connection.labels[cell % len(connection.labels)]
        follows = follows if follows in CONTROLS else _STEREOTYPE
        if stated != follows:
            raise InputError(
                "the kind of an attribute contradicts its connection",
                where=source.at(_first(both == cell), "attribute_kind"),
                found=stated,
                valid=follows,
            )


def _check_classes(codes: Mapping[str, Codes], source: Source) -> None:
    """Refuse a protected word in two classes."""
    word, of = codes["protected_word"], codes["protected_class"]
    first = np.empty(len(word.labels), dtype=np.int64)
    first[word.of_row[::-1]] = of.of_row[::-1]
    other = of.of_row != first[word.of_row]
    if other.any():
        position = _first(other)
        before = _first(word.of_row == word.of_row[position])
        raise InputError(
            f"the protected word {word.label(position)!r} stands in another class in {source.row(before)}",
            where=source.at(position, "protected_class"),
            found=of.label(position),
            valid=of.label(before),
        )


def _check_derived(codes: Mapping[str, Codes], source: Source, by_name: bool) -> None:
    """Hold every stated connection to the derived one: two classes have one connection.

    Control words have the connection of their list, and attributes called by the name of the protected class are
    associated with it; of other classes it is the one that most rows give.
    """
    stated, of, kind = (codes[name] for name in ("connection", "protected_class", "attribute_class"))
    cell = of.beside(kind)
    places = len(stated.labels)
    counts = np.bincount(cell * places + stated.of_row, minlength=len(of.labels) * len(kind.labels) * places)
    usual = [stated.labels[i] for i in counts.reshape(-1, places).argmax(axis=1)]
    for i, name in enumerate(of.labels):
        for j, attributes in enumerate(kind.labels):
            if attributes in CONTROLS:
                usual[i * len(kind.labels) + j] = attributes
            elif by_name and attributes == name:
                usual[i * len(kind.labels) + j] = CONNECTIONS[0]
    place = {label: i for i, label in enumerate(stated.labels)}
    other = stated.of_row != np.array([place.get(label, -1) for label in usual])[cell]
    if other.any():
        position = _first(other)
        words = f"{codes['protected_word'].label(position)!r} ({of.label(position)})"
        raise InputError(
            f"{words} and {codes['attribute'].label(position)!r} ({kind.label(position)}) contradict the connection that "
            "their classes have",
            where=source.at(position),
            found=stated.label(position),
            valid=usual[cell[position]],
        )


def with_kind(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with the kind of each attribute, which follows from the connection."""
    kinds = Codes.of(frame["connection"]).categories(
        lambda label: label if label in CONTROLS else _STEREOTYPE
    )
    return frame.assign(attribute_kind=kinds)


def counted_once(
    frame: pd.DataFrame,
    source: Source,
    key: Sequence[str],
    outcome: str,
    *,
    repeats: str = "once",
    own: Sequence[str] = (),
    positions: np.ndarray | None = None,
    hint: str | None = None,
) -> Counted:
    """Count each observation once: a row that repeats another is the same observation, not a new one.

    Parameters
    ----------
    frame : DataFrame
        With its rows numbered from 0.
    source : Source
    key : sequence of str
        The columns that together identify an observation.
    outcome : str
    repeats : {"once", "keep"}
        ``keep`` only looks for contradictions.
    own : sequence of str
        Columns in which repeats may differ, which is noted.
    positions : ndarray of int, optional
        Where the rows stood in the source, if some were left out.
    hint : str, optional
        What to do where two rows contradict each other.

    Returns
    -------
    Counted

    Raises
    ------
    InputError
        Where repeats have different numbers and the outcome is one that is known to be found but once, as a distance
        is. Numbers of a model of one's own that differ are several measurements, and then equal ones may be too: all
        are kept.
    """
    again = _repeated(frame, key)
    if not again.any():
        return Counted(frame, 0, ())
    groups = frame.groupby(list(key), sort=False, observed=True)
    values = frame[outcome].astype(float)
    first = values.groupby(groups.ngroup().to_numpy()).transform("first")
    other = ((values - first).abs() > SAME).to_numpy()
    if other.any():
        if not is_known(outcome, frame.columns):
            return Counted(frame, 0, ())
        raise _contradiction(frame, source, key, outcome, _first(other), positions, hint)
    count = int(again.sum())
    if repeats == "keep":
        rows = f"{number_of(count, 'repeated row')} {'is' if count == 1 else 'are'}"
        text = f"{rows} kept, as asked: the same observation counts more than once"
        return Counted(frame, 0, (text,))
    differ = [column for column in own if (groups[column].nunique(dropna=False) > 1).any()]
    notes = [f"repeated rows differ in {some(differ)}; what the first of them says is kept"] if differ else []
    of = "pairs" if key[0] in PAIR else "rows"
    notes.append(
        f"a repeated row is the same observation, not a new one; repeated were the {of} of "
        f"{some(frame.loc[again, key[0]])}"
    )
    return Counted(frame[~again].reset_index(drop=True), count, tuple(notes))


def _contradiction(
    frame: pd.DataFrame,
    source: Source,
    key: Sequence[str],
    outcome: str,
    later: int,
    positions: np.ndarray | None,
    hint: str | None,
) -> InputError:
    """Return the error for a row that repeats another with another number; it names both."""
    own = frame[list(key)].astype(str)
    before = _first((own == own.iloc[later]).all(axis=1).to_numpy())
    at = [int(i if positions is None else positions[i]) for i in (before, later)]
    what = "the pair" if set(PAIR) <= set(key) else "the observation"
    numbers = "distances" if outcome == "distance" else "numbers"
    return InputError(
        f"{what} {', '.join(map(repr, own.iloc[later]))} stands twice with different {numbers}, in "
        f"{source.row(at[0])} and {source.row(at[1])}",
        where=source.name,
        found=tuple(float(frame[outcome].iloc[i]) for i in (before, later)),
        hint=hint,
    )


def _repeated(frame: pd.DataFrame, key: Sequence[str]) -> np.ndarray:
    """Mark the rows whose key stands further up."""
    import pandas as pd

    joint, size = np.zeros(len(frame), dtype=np.int64), 1
    for column in key:
        codes = Codes.of(frame[column])
        if size * (len(codes.labels) + 1) > 2**62:  # as few numbers as there are rows
            joint, distinct = pd.factorize(joint)
            size = len(distinct)
        joint = joint * (len(codes.labels) + 1) + codes.of_row + 1
        size *= len(codes.labels) + 1
    if size <= _CELLS_A_ROW * len(frame) and np.bincount(joint).max(initial=0) <= 1:
        return np.zeros(len(frame), dtype=bool)  # of a grid with few holes counting is quicker than hashing
    return pd.Series(joint).duplicated().to_numpy()


def _first(mask: Any) -> int:
    return int(np.flatnonzero(np.asarray(mask))[0])
