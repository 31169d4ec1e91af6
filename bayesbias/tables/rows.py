"""Rows of a table: labels as codes, the plain checks of pairs, and repeated rows counted once.

The columns of a pair and the outcomes that have a range are checked. A model of one's own may name
other columns and another outcome; `bayesbias.models.design` checks these when the model is laid
over them.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import some
from bayesbias.wordlists.wordlist import CONNECTIONS, CONTROLS, SHARED

COLUMNS = (
    "protected_word", "protected_class", "attribute", "attribute_class", "attribute_kind", "connection",
    "distance",
)  # fmt: skip

# Published Google tables hold single precision: distance and 1 - similarity differ by up to 1.2e-7.
ROUNDING = 1e-6
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
    "original": (*PAIR, "debiased"),
    "debiased": (*PAIR, "original"),
    "change": (*PAIR, "original"),
    "difference": ("classifier", "p_male", "p_female"),
}


@dataclass(frozen=True)
class Source:
    """What messages call a table and its rows."""

    name: str
    file: bool = False

    def row(self, position: int) -> str:
        """Name a row, counted from 0."""
        return f"line {position + 2}" if self.file else f"row {position}"

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
    def of(cls, column: pd.Series) -> "Codes":
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

    def categories(self, called: Callable[[str], str] = str) -> pd.Categorical:
        """Return the column as categories, each label called something else."""
        names = [called(label) for label in self.labels]
        place = {name: i for i, name in enumerate(dict.fromkeys(names))}
        codes = np.array([*(place[name] for name in names), -1])
        return pd.Categorical.from_codes(codes[self.of_row], list(place))

    def where(self, holds: Callable[[str], bool]) -> np.ndarray:
        """Mark the rows whose label is so; an empty cell is not."""
        return np.array([*map(holds, self.labels), False])[self.of_row]

    def label(self, position: int) -> str:
        """Return the label of a row."""
        return self.labels[self.of_row[position]]


def labels_within(frame: pd.DataFrame, outer: str, inner: str) -> dict[str, list[str]]:
    """Return the labels of one column within each label of another."""
    out: dict[str, list[str]] = {}
    for first, second in frame[[outer, inner]].drop_duplicates().itertuples(index=False):
        out.setdefault(str(first), []).append(str(second))
    return out


# -- checks ----------------------------------------------------------------------------------------


def is_simulated(frame: pd.DataFrame) -> bool:
    """Whether the outcomes were drawn from a model."""
    return bool(frame.attrs.get(SIMULATED, False))


def with_repeats_noted(frame: pd.DataFrame, repeats: str) -> pd.DataFrame:
    """Note in a frame whether repeated rows were kept as asked."""
    frame.attrs = {key: value for key, value in frame.attrs.items() if key != REPEATS}
    if repeats == "keep":
        frame.attrs[REPEATS] = repeats
    return frame


def check_pairs(frame: pd.DataFrame, source: Source) -> None:
    """Check that labels are filled and that classes and connections agree."""
    codes = {column: Codes.of(frame[column]) for column in COLUMNS[:-1] if column in frame}
    for column, of in codes.items():
        empty = (of.of_row < 0) | of.where(lambda label: not label.strip())
        if empty.any():
            place = source.at(first_of(empty), column)
            raise InputError("expected a label, got an empty cell", where=place)
    if not {"connection", "protected_class"} <= set(codes):
        return
    check_connections(codes["connection"], source)
    classes = labels_within(frame, "protected_word", "protected_class")
    if two := next((word for word, held in classes.items() if len(held) > 1), None):
        own, other = classes[two][:2]
        rows = (frame["protected_word"] == two) & (frame["protected_class"] == other)
        place = source.at(first_of(rows), "protected_class")
        problem = f"the protected word {two!r} stands in another class"
        raise InputError(problem, where=place, found=other, valid=own)
    if "attribute_class" in codes:
        _check_derived(frame, source, by_name=not any(column in frame for column in TEMPLATES))


def check_connections(
    connection: Codes, source: Source, valid: Sequence[str] = (*CONNECTIONS, SHARED)
) -> None:
    """Refuse a connection that is none of ours."""
    unknown = connection.where(lambda label: label not in (*CONNECTIONS, SHARED))
    if unknown.any():
        at = first_of(unknown)
        where = source.at(at, "connection")
        raise checks.unknown(connection.label(at), valid, "connection", where)


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
            row = first_of((frame[names] == list(labels)).all(axis=1))
            word, attribute = frame["protected_word"].iloc[row], frame["attribute"].iloc[row]
            both = f"{str(word)!r} ({of}) and {str(attribute)!r} ({kind})"
            problem = f"{both} contradict the connection that their classes have"
            raise InputError(problem, where=source.at(row), found=stated, valid=right)


def checked_numbers(
    column: pd.Series,
    source: Source,
    name: str = "distance",
    *,
    simulated: bool = False,
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
        place, value = source.at(first_of(bad), name), column.iloc[first_of(bad)]
        hint = "remove rows without a distance: words the vectors lack make no row"
        found = value if isinstance(value, str) else float(value)
        raise InputError("expected a finite number", where=place, found=found, hint=hint)
    if simulated:
        return numbers
    if sentinel:
        numbers = numbers.mask(numbers < -1 - ROUNDING)
    out = (numbers < -ROUNDING) | (numbers > 2 + ROUNDING)
    if out.any():
        similar = numbers.dropna().between(-1 - ROUNDING, 1 + ROUNDING).all()
        place, found = source.at(first_of(out), name), float(numbers.iloc[first_of(out)])
        what = "a similarity? distance = 1 - similarity" if similar else None
        raise InputError(
            "expected a distance from 0 to 2", where=place, found=found, valid="0 to 2", hint=what
        )
    return numbers.clip(0.0, 2.0)


def with_kind(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with the kind of each attribute."""
    kinds = Codes.of(frame["connection"]).categories(
        lambda c: c if c in (*CONTROLS, SHARED) else "stereotype"
    )
    return frame.assign(attribute_kind=kinds)


# -- repeated rows ---------------------------------------------------------------------------------


def counted_once(
    frame: pd.DataFrame,
    source: Source,
    key: Sequence[str],
    outcome: str,
    *,
    repeats: str = "once",
    positions: np.ndarray | None = None,
    hint: str | None = None,
) -> tuple[pd.DataFrame, int, list[str]]:
    """Count each observation once: a repeated row is not a new one.

    Rows are the same if `key` is; `positions` are their places in the source. Return the rows, how
    many were dropped, and notes. Repeats of an outcome that is found but once (`ONCE`) must agree.
    """
    again = frame.duplicated(list(key)).to_numpy()
    if not again.any():
        return frame, 0, []
    groups = frame.groupby(list(key), sort=False, observed=True).ngroup()
    values = frame[outcome].astype(float)
    other = ((values - values.groupby(groups).transform("first")).abs() > SAME).to_numpy()
    if other.any():
        if outcome not in ONCE or not set(ONCE[outcome]) <= set(frame.columns):
            return frame, 0, []
        later = first_of(other)
        before = first_of(groups == groups.iloc[later])
        at = [source.row(int(i if positions is None else positions[i])) for i in (before, later)]
        what = "the pair" if set(PAIR) <= set(key) else "the observation"
        labels = ", ".join(repr(str(frame[column].iloc[later])) for column in key)
        problem = (
            f"{what} {labels} is listed twice with different {outcome}s, in {at[0]} and {at[1]}"
        )
        found = (float(values.iloc[before]), float(values.iloc[later]))
        raise InputError(problem, where=source.name, found=found, hint=hint)
    count = int(again.sum())
    if repeats == "keep":
        return frame, 0, [f"repeated rows kept, as asked: {count} count more than once"]
    again_of = some(frame.loc[again, key[0]])
    note = f"a repeated row is the same observation, not a new one; repeated: {again_of}"
    return frame[~again].reset_index(drop=True), count, [note]


def first_of(mask: Collection[bool] | pd.Series | np.ndarray) -> int:
    """Return the place of the first row that is marked."""
    return int(np.argmax(np.asarray(mask)))


# -- columns of one's own --------------------------------------------------------------------------


def own_columns(
    names: Sequence[object], ours: Collection[str], taken: Collection[str], where: str
) -> list[str]:
    """Return the columns of a table that are its own."""
    named = [str(n) for n in names if str(n).strip() and not str(n).startswith("Unnamed: ")]
    own = [name for name in checks.distinct(named, "a column", where) if name not in ours]
    if clash := [name for name in own if name in taken]:
        problem = f"a column of your own is called {clash[0]!r}, which is ours"
        raise InputError(problem, where=where, hint="rename it")
    return own


def numbers_of_texts(column: pd.Series) -> pd.Series:
    """Return texts as numbers if all of them are numbers."""
    # Codes such as 007 are texts.
    if column.empty or column.str.fullmatch(r"\s*|0\d+").all() or column.str.match(r"0\d").any():
        return column
    try:
        return pd.to_numeric(column)
    except ValueError:
        return column
