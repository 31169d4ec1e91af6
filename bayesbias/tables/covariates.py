"""Covariates of words: read from files, frames and mappings, and joined to the rows of a table.

The share of women in an occupation, the year a name was common, the log frequency of a word. A
covariate is a column of the table that is the same in all rows of a word, so that a model may name
it (``times = "percent_women"``). Numbers are centered and divided by their standard deviation over
the words, and both are recorded, so that a slope is per standard deviation.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from bayesbias.core import InputError, checks, files, frames, join_words, some
from bayesbias.core.formatting import in_one_line
from bayesbias.tables.pair_table import COLUMNS, PairTable
from bayesbias.wordlists.wordlist import CONTROLS

Value = float | str
SIDES = {"protected": "protected_word", "attribute": "attribute"}
_COLUMN_OF = {**SIDES, "profession": "profession", "noun_pair": "noun_pair"}
_CLASS_OF = {
    "protected": "protected_class", "attribute": "attribute_class", "profession": "category"
}  # fmt: skip
_NOUNS = {
    "protected": "protected words", "attribute": "attributes", "profession": "professions",
    "noun_pair": "pairs of nouns",
}  # fmt: skip
OWN_COLUMN = "the table"
"""The source of a covariate that was a column already."""
_WORD = ("word", "words", "item", "term", "occupation", "profession", "name")
_NOTHING = {"", "na", "n/a", "nan", "null", "none", "-", "?"}
_MEANT = r"[+-]?[\d.,]*\d[\d.,]*([eE][+-]?\d+)? ?%?"
_GROUPED = r"[+-]?[1-9]\d{0,2}([.,]\d{3})+"
_FRAME = "data frame"
_LEAST = 3  # words with a covariate


# -- reading ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Given:
    """One covariate as it was given: a value a word, and where it comes from."""

    name: str
    values: dict[str, Value]
    source: str
    sha256: str = ""
    side: str | None = None
    without: tuple[str, ...] = ()  # words that stand there with an empty cell

    @property
    def numeric(self) -> bool:
        """Whether its values are numbers."""
        return not any(isinstance(value, str) for value in self.values.values())


def covariates_given(
    covariates: Any, columns: Sequence[str] | None = None, table: PairTable | None = None
) -> list[Given]:
    """Read covariates from files, frames, mappings or columns of the table."""
    own = [] if table is None else [str(c) for c in table.frame.columns if c not in COLUMNS]
    out = []
    for each in covariates if isinstance(covariates, list | tuple) else [covariates]:
        if isinstance(each, Given):
            out.append(each)
        elif table is not None and isinstance(each, str) and each in own:
            out.append(_of_column(table, each))
        elif isinstance(each, str | os.PathLike):
            path, condition = _split_condition(files.path_of(each, "covariates"))
            if not path.exists() and path.suffix.lower() not in (".csv", ".tsv"):
                raise checks.unknown(str(each), [*own, "a .csv file"], "covariates")
            frame, mark = frames.read_cells(path)
            frame = frame.rename(index="line {}".format)
            where = str(path)
            if condition:
                frame, where = _rows_with(frame, condition, where)
            out += _of_frame(frame, columns, where, files.sha256_file(path), mark)
        elif frames.is_frame(each) or isinstance(each, pd.Series):
            held = each.to_frame() if isinstance(each, pd.Series) else each
            frame = frames.plain_frame(held)
            named = any(str(name).casefold() in _WORD for name in frame.columns)
            if not named and all(isinstance(word, str) for word in frame.index):
                frame = frame.rename_axis("word").reset_index()
            out += _of_frame(frame, columns, _FRAME)
        elif isinstance(each, Mapping) and all(isinstance(v, Mapping) for v in each.values()):
            out += [_of_cells(str(n), of, of.values(), of, "a mapping") for n, of in each.items()]
        else:
            kind = "a .csv file, a data frame, or {covariate: {word: value}}"
            raise checks.wrong_kind(each, "covariates", kind)
    checks.distinct([given.name for given in out], "covariate", "covariates")
    return out


def _of_frame(
    frame: pd.DataFrame,
    columns: Sequence[str] | None,
    where: str,
    sha256: str = "",
    mark: str = ",",
) -> list[Given]:
    names = checks.distinct([str(name) for name in frame.columns], "column", where)
    word = next((name for name in names if name.casefold() in _WORD), None)
    others = [name for name in names if name not in (word, "")]
    if word is None or not others:
        problem = "expected a column named word, and a column for each covariate"
        raise InputError(problem, where=where, found=list(names))
    frame = frame.set_axis(list(names), axis=1)
    frame = frame[frame[word].notna() & (frame[word] != "")]  # R writes the word "null" as none
    out = []
    for name in columns or others:
        name = checks.choice(name, others, f"{where}, column")
        _check_one_row_a_word(frame, word, name, where)
        out.append(
            _of_cells(name, frame[word], frame[name], frame.index, where, sha256, mark != ",")
        )
    return out


def _split_condition(path: Path) -> tuple[Path, str]:
    """Split ``shares.csv?year=1990`` into the file and the condition on its rows."""
    found = re.fullmatch(r"(.+\.(?:csv|tsv))\?(.+=.*)", str(path), re.IGNORECASE)
    return (Path(found[1]), found[2]) if found and not path.exists() else (path, "")


def _rows_with(frame: pd.DataFrame, condition: str, where: str) -> tuple[pd.DataFrame, str]:
    """Return the rows in which a column has a value, without the column, and what they are."""
    name, _, value = condition.partition("=")
    column = checks.choice(name.strip(), list(frame.columns), f"{where}, column")
    cells = frame[column].astype(str).str.strip()
    value = checks.choice(value.strip(), checks.once(cells), f"{where}, {column}")
    return frame[cells == value].drop(columns=column), f"{where}, {column} {value}"


def _check_one_row_a_word(frame: pd.DataFrame, word: str, name: str, where: str) -> None:
    """Refuse rows of one word that differ, where another column tells them apart."""
    rows = frame[[word, name]].drop_duplicates()
    again = rows[word].duplicated()
    if not again.any():
        return
    others = [column for column in frame.columns if column not in (word, name)]
    for column in sorted(others, key=lambda other: frame[other].nunique()):
        if frame.duplicated([word, column]).any() or frame[column].nunique() == len(frame):
            continue
        first = rows[word][again].iloc[0]
        values = frame.loc[frame[word] == first, [column, name]].to_numpy().tolist()
        shown = join_words(f"{value} ({column} {level})" for level, value in values[:2])
        problem = f"expected one value of {name} for the word {first!r}, got {shown}"
        level = values[0][0]
        hint = f"keep the rows of one {column}, and say so"
        if where != _FRAME:
            hint += f": --covariates '{where}?{column}={level}'"
        raise InputError(problem, where=where, hint=hint)


def _of_cells(
    name: str,
    words: Iterable[Any],
    cells: Iterable[Any],
    places: Iterable[Any],
    where: str,
    sha256: str = "",
    comma: bool = False,
) -> Given:
    """Return a column as a covariate: numbers, else categories."""
    columns = {"word": list(words), "value": list(cells)}
    held = pd.DataFrame(columns, index=list(places), dtype=object)
    held = held.map(lambda cell: "" if pd.isna(cell) is True else str(cell).strip())
    texts = held["value"].str.replace("\N{MINUS SIGN}", "-")
    known = ~texts.str.casefold().isin(_NOTHING)
    filled, texts = held[known], texts[known]

    def wrong(expected: str, marked: pd.Series) -> InputError:
        place, found = texts[marked].index[0], texts[marked].iloc[0]
        return InputError(f"expected {expected}", where=f"{where}, {place}", found=found)

    # A number with marks between thousands or a percent sign is meant as one, and refused.
    if not texts.str.fullmatch(_MEANT).mean() < 0.5:
        marked = texts.str.contains("[.,]")
        if comma and marked.any():
            both = texts.str.contains(",").any() and texts.str.contains("[.]").any()
            if both or texts[marked].str.fullmatch(_GROUPED).all():
                raise wrong(f"numbers of {name} without marks between thousands", marked)
            texts = texts.str.replace(",", ".")
        numbers = pd.to_numeric(texts, errors="coerce").astype(float)
        if (bad := ~np.isfinite(numbers)).any():
            raise wrong(f"a number of {name} with a decimal point, or an empty cell", bad)
        texts = numbers
    values: dict[str, Value] = {}
    for place, word, value in zip(filled.index, filled["word"], texts, strict=True):
        word = checks.line(word, f"{where}, {place}, word")
        if values.setdefault(word, value) != value:
            problem = f"expected one value of {name} for the word {word!r}"
            raise InputError(problem, where=f"{where}, {place}", found=(values[word], value))
    without = tuple(w for w in dict.fromkeys(held["word"]) if w and w not in values)
    categories = [value for value in values.values() if isinstance(value, str)]
    composed = checks.labels(categories, f"{where}, {in_one_line(name)}")
    if composed:
        values = dict(zip(values, composed, strict=True))
    return Given(checks.label(name, where), values, where, sha256, without=without)


def _of_column(table: PairTable, name: str) -> Given:
    """Return a column of the table as a covariate."""
    for side, column in sides_of(table.frame).items():
        held = table.frame[[column, name]].dropna().drop_duplicates()
        if not held[column].duplicated().any():
            pairs = held.itertuples(index=False)
            values = {str(w): v if isinstance(v, str) else float(v) for w, v in pairs}
            return Given(name, values, OWN_COLUMN, "", side)
    where = str(table.provenance.get("name", "the table"))
    raise InputError(f"expected one value of {name} for each word, got several", where=where)


# -- joining ---------------------------------------------------------------------------------------


def join_covariates(
    table: PairTable,
    covariates: Any,
    *,
    side: Literal["protected", "attribute", "both", "profession", "noun_pair"] | None = None,
    columns: Sequence[str] | None = None,
    scale: str = "standard",
) -> PairTable:
    """Join numbers or categories of words to the rows of a table.

    Parameters
    ----------
    table : PairTable
        The table of pairs.
    covariates : path, data frame, mapping, the name of a column of the table, or a list of these
        A ``.csv`` or ``.tsv`` file, or a frame, with a column ``word`` and one column a covariate;
        the words may be the index of a frame. ``shares.csv?year=1990`` keeps the rows of one year,
        or of another value of a column; or ``{covariate: {word: value}}``. Cells that are
        empty, or NA, say nothing of a word. Commas, semicolons (then with decimal commas) and tabs
        separate. A column that the table has already is centered and scaled where it stands.
    side : {"protected", "attribute", "both"}, optional
        Whose words are meant; of a table of sentiment ``profession`` or ``noun_pair``. By default
        those sides of which at least half of the words have the covariate (of attributes, half of
        the stereotypes will do), or else the one of which more have it. On both sides a covariate
        makes two columns, with ``protected_`` and ``attribute_`` before its name.
    columns : sequence of str, optional
        The covariates to take of a file or a frame; by default all.
    scale : {"standard", "center", "none"}, default "standard"
        What is done to numbers: minus their mean over the words that have one, divided by their
        standard deviation (n - 1). A word counts once, however many rows it has.

    Returns
    -------
    PairTable
        With a column for each covariate, after those it had: float64, and NaN where there is none;
        texts for categories. Its ``coverage.covariates`` says how many words have it and which have
        none. ``provenance["covariates"]`` says where it is from, its center and its scale.

    Raises
    ------
    InputError
        If a file is no such table, a word has two different values, a number is none, all words
        have the same value, fewer than three words have one, or the table has a column of that name
        already.

    Notes
    -----
    Words are matched as they are spelt, else without regard to capitals and with blanks for
    underscores and hyphens, if that leaves one value.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "weat7")
    >>> years = {"year_born": {"math": 1891, "algebra": 1551, "poetry": 1380, "sculpture": 1390}}
    >>> from bayesbias.tables import join_covariates
    >>> joined = join_covariates(table, years)
    >>> (
    ...     joined.coverage.covariates["year_born"]["side"],
    ...     joined.coverage.covariates["year_born"]["found"],
    ... )
    ('protected', 4)
    >>> round(joined.provenance["covariates"]["year_born"]["center"], 2)
    1553.0
    """
    if side is not None:
        checks.choice(side, (*sides_of(table.frame), "both"), "side")
    checks.choice(scale, ("standard", "center", "none"), "scale")
    for given in covariates_given(covariates, columns, table):
        frame, own = table.frame, given.side if side is None else side
        sides = sides_of(frame).items()
        matched = {each: values_of(given, _words(frame[column])) for each, column in sides}
        if own == "both":
            chosen = [each for each in SIDES if each in matched]
        elif own is not None:
            chosen = [own]
        else:
            share = {each: _share(frame, each, values) for each, values in matched.items()}
            chosen = [each for each, part in share.items() if part >= 0.5]
            chosen = chosen or [max(share, key=lambda each: share[each])]
        for each in chosen:
            column = given.name if len(chosen) == 1 else f"{each}_{given.name}"
            if column in COLUMNS or (column in frame.columns and given.source != OWN_COLUMN):
                problem = f"expected a name that no column of the table has, got {column!r}"
                raise InputError(problem, where=given.source, hint="rename the covariate")
            table = _with_column(table, given, each, column, matched[each], scale)
    return table


def sides_of(frame: pd.DataFrame) -> dict[str, str]:
    """Return the sides that may have a covariate, and their columns."""
    return {side: column for side, column in _COLUMN_OF.items() if column in frame.columns}


def values_of(given: Given, words: Sequence[str]) -> dict[str, Value]:
    """Return the value of each word that has one."""
    loose: dict[str, set[Value]] = {}
    for word, value in given.values.items():
        loose.setdefault(_loosely(word), set()).add(value)
    out = {}
    for word in words:
        if word in given.values:
            out[word] = given.values[word]
        elif len(near := loose.get(_loosely(word), set())) == 1:
            out[word] = next(iter(near))
    return out


def _loosely(word: str) -> str:
    return re.sub(r"[ _-]+", " ", word).casefold().strip()


def _words(column: pd.Series) -> list[str]:
    return checks.once(str(word) for word in pd.unique(column))


def _share(frame: pd.DataFrame, side: str, values: Mapping[str, Value]) -> float:
    """Return the share of the words of a side that have values."""
    share = len(values) / len(_words(frame[_COLUMN_OF[side]]))
    if side == "attribute" and "attribute_kind" in frame.columns:
        stereotypes = _words(frame.loc[~frame["attribute_kind"].isin(CONTROLS), "attribute"])
        share = max(share, sum(word in values for word in stereotypes) / max(1, len(stereotypes)))
    return share


def _with_column(
    table: PairTable,
    given: Given,
    side: str,
    column: str,
    of_words: Mapping[str, Value],
    scale: str,
) -> PairTable:
    frame, noun = table.frame, _NOUNS[side]
    words = _words(frame[_COLUMN_OF[side]])
    if len(of_words) < _LEAST:
        problem = (
            f"expected the covariate {given.name!r} of {_LEAST} or more {noun} of the table "
            f"({some(words, 6)}), got it of {len(of_words)}"
        )
        hint = f"it is given of {some(given.values, 6) or 'no words'}"
        raise InputError(problem, where=given.source, hint=hint)
    values = list(of_words.values())
    numbers = np.array(values if given.numeric else [0.0, 1.0], dtype=float)
    if len(set(values)) == 1 or np.ptp(numbers) <= 1e-9 * np.abs(numbers).max():
        got = f"{values[0]!r} for all {len(values)} {noun}"
        problem = f"expected values of {given.name!r} that differ, got {got}"
        raise InputError(problem, where=given.source)
    about: dict[str, Any] = {
        "of": given.name,
        "side": side,
        "source": given.source,
        "sha256": given.sha256,
    }
    notes: list[str] = []
    kept: dict[str, Any] = dict(of_words)
    if given.numeric:
        center = float(numbers.mean()) if scale != "none" else 0.0
        divisor = float(numbers.std(ddof=1)) if scale == "standard" else 1.0
        kept = {word: (float(value) - center) / divisor for word, value in of_words.items()}
        ends = {"least": float(numbers.min()), "most": float(numbers.max())}
        about |= {"kind": "number", "center": center, "scale": divisor, **ends}
        label = _CLASS_OF.get(side, "")
        if label in frame.columns:
            numbers_of = frame[_COLUMN_OF[side]].astype(str).map(kept).astype(float)
            by_class = numbers_of.groupby(frame[label].astype(str)).nunique()
            if len(by_class) > 1 and by_class.max() == 1 and len(kept) > len(by_class):
                notes.append(f"the covariate {column} has one value for all words of each class")
    else:
        about |= {"kind": "category", "categories": sorted(set(kept.values()))}
    codes, labels = pd.factorize(frame[_COLUMN_OF[side]])  # a million rows have few words
    nothing: Any = np.nan
    known = [kept.get(str(label), nothing) for label in labels]
    column_values = np.array([*known, nothing], dtype=float if given.numeric else object)[codes]
    missing = [word for word in words if word not in kept]
    account = {"side": side, "listed": len(words), "found": len(kept), "missing": missing}
    coverage = replace(
        table.coverage,
        covariates={**table.coverage.covariates, column: account},
        columns=tuple(dict.fromkeys([*table.coverage.columns, column])),
        notes=(*table.coverage.notes, *notes),
    )
    covariates = {**table.provenance.get("covariates", {}), column: about}
    return PairTable(
        frame.assign(**{column: column_values}),
        coverage,
        {**table.provenance, "covariates": covariates},
    )


# -- what a model can take -------------------------------------------------------------------------


def columns_of_covariate(table: PairTable, name: str) -> list[str]:
    """Return the columns that hold a covariate, on either side."""
    if name in table.frame.columns:
        return [name]
    return [
        column
        for column, of in table.provenance.get("covariates", {}).items()
        if name in (of["of"], f"{of['side']}_{of['of']}") and column in table.frame.columns
    ] or [name]


def with_covariates_known(table: PairTable, names: Sequence[str]) -> PairTable:
    """Return the rows that a model with these covariates can take.

    If hardly any control word has a covariate (the share of women, of occupations), control words
    have no part in its slope: it is 0 there. Otherwise the rows of words without the covariate are
    left out, and the coverage says whose; with them classes of which no stereotype has it.

    Raises
    ------
    InputError
        If no two classes have stereotypes with the covariate.
    """
    frame = table.frame
    notes = []
    said = []  # of control words that lack a covariate
    for name in names:
        if name not in frame.columns:
            continue  # what it lacks is said when the model is laid over it
        gone = frame[name].isna()
        if not gone.any() or gone.all():
            continue
        control = _controls(frame)
        side = table.coverage.covariates.get(name, {}).get("side", "attribute")
        numeric = frame[name].dtype.kind == "f"
        if side == "attribute" and numeric and control.any() and not gone[~control].all():
            with_it = frame.loc[control & ~gone, "attribute"].nunique()
            listed = frame.loc[control, "attribute"].nunique()
            # A few that happen to have it would leave nothing of the others.
            if 2 * with_it < listed:
                frame = frame.assign(**{name: frame[name].mask(control, 0.0)})
                said.append(
                    f"{listed - with_it} of {listed} control words have no {name}: no control word "
                    "has a part in its slope"
                )
                gone &= ~control
        if gone.any():
            rest = frame[~gone]
            words = [
                word
                for column in sides_of(frame).values()
                for word in _words(frame.loc[gone, column])
                if not (rest[column] == word).any()
            ]
            notes.append(f"left out of the fit, since they have no {name}: {some(words)}")
            silent = _silent_classes(frame, rest, name)
            notes += [
                f"the class {lost} is left out, since none of its stereotypes has {name}"
                for lost in silent
            ]
            if silent:
                rest = rest[~rest["protected_class"].astype(str).isin(silent)]
            frame = rest.reset_index(drop=True)
    if _controls(table.frame).any() and not _controls(frame).any():
        said = [
            "no control word is left: nothing tells nearness to a stereotype from nearness at all"
        ]
    coverage = replace(table.coverage, notes=(*table.coverage.notes, *notes, *said))
    return replace(table, frame=frame, coverage=coverage)


def _controls(frame: pd.DataFrame) -> pd.Series:
    kind = frame["attribute_kind"] if "attribute_kind" in frame else pd.Series("", frame.index)
    return kind.isin(CONTROLS)


def _silent_classes(before: pd.DataFrame, left: pd.DataFrame, covariate: str) -> list[str]:
    """Return the classes of which no stereotype has a covariate.

    Their words would stand on one side of a difference alone, so that what sets them apart from
    other classes enters it.
    """
    columns = set(before.columns)
    if not {"connection", "protected_class"} <= columns or "protected_template" in columns:
        return []
    own = [
        _words(f.loc[f["connection"] == "associated", "protected_class"]) for f in (before, left)
    ]
    there = _words(left["protected_class"])
    silent = [name for name in own[0] if name not in own[1] and name in there]
    if silent and len(own[1]) < 2:
        problem = f"expected it of stereotypes of two classes, got none of {join_words(silent)}"
        hint = "fit without it, or a list of the other class and control words"
        raise InputError(problem, where=f"covariate {covariate!r}", hint=hint)
    return silent
