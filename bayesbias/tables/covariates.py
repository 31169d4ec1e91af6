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

from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.files import path_of, sha256_file
from bayesbias.core.formatting import Shortened, join_words, some
from bayesbias.core.frames import plain_frame
from bayesbias.tables.pair_table import COLUMNS, PairTable
from bayesbias.wordlists.foreign import separated_rows
from bayesbias.wordlists.wordlist import CONTROLS

__all__ = ["join_covariates"]

Value = float | str
SIDES = {"protected": "protected_word", "attribute": "attribute"}
_COLUMN_OF = {**SIDES, "profession": "profession", "noun_pair": "noun_pair"}
_CLASS_OF = {
    "protected": "protected_class",
    "attribute": "attribute_class",
    "profession": "category",
}
_NOUNS = {
    "protected": "protected words",
    "attribute": "attributes",
    "profession": "professions",
    "noun_pair": "pairs of nouns",
}
OWN_COLUMN = "the table"
"""The source of a covariate that was a column already."""
_WORD = ("word", "words", "item", "term")
_NOTHING = {"", "na", "n/a", "nan", "null", "none", "-", "?"}
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")
_MEANT = re.compile(r"[+-]?[\d.,]*\d[\d.,]*([eE][+-]?\d+)? ?%?")
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}([.,]\d{3})+")
_LEAST = 3  # words with a covariate
_CONFOUNDED = 0.5  # of a covariate's variance between classes, from which on it is said


# -- reading ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Given:
    """One covariate as it was given: a value a word, and where it comes from."""

    name: str
    values: dict[str, Value]
    source: str
    sha256: str = ""
    side: str | None = None
    without: tuple[str, ...] = ()  # words that stand there with an empty cell
    unit: str = ""  # of numbers, if it is known

    @property
    def numeric(self) -> bool:
        """Whether its values are numbers."""
        return not any(isinstance(value, str) for value in self.values.values())


def covariates_given(
    covariates: Any, columns: Sequence[str] | None = None, table: PairTable | None = None
) -> list[Given]:
    """Read covariates from wherever they are; a name may be that of a column of the table."""
    own = (
        [] if table is None else [str(name) for name in table.frame.columns if name not in COLUMNS]
    )
    out: list[Given] = []
    for each in covariates if isinstance(covariates, list | tuple) else [covariates]:
        if table is not None and isinstance(each, str) and each in own:
            out.append(_of_column(table, each))
        elif isinstance(each, Given):
            out.append(each)
        elif isinstance(each, str | os.PathLike):
            path = path_of(each, "covariates")
            if not os.path.exists(path) and path.suffix.lower() not in (".csv", ".tsv"):
                raise InputError(
                    "is neither a file of covariates nor a column of the table",
                    where="covariates",
                    found=str(each),
                    valid=[*own, "a .csv or .tsv file"],
                    hint=nearest(str(each), own),
                )
            out += _of_file(path, columns)
        elif hasattr(each, "columns"):
            out += _of_frame(each, columns)
        elif hasattr(each, "items") and isinstance(getattr(each, "name", None), str):  # a series
            out.append(_of_pairs(each.name, each.items()))
        elif isinstance(each, Mapping) and all(isinstance(v, Mapping) for v in each.values()):
            out += [_of_pairs(str(name), values.items()) for name, values in each.items()]
        else:
            raise InputError(
                "are no covariates",
                where="covariates",
                found=Shortened(each),
                valid="a .csv file, a data frame, or {covariate: {word: value}}",
            )
    checks.distinct([given.name for given in out], "a covariate", "covariates")
    return out


def _of_file(path: Path, columns: Sequence[str] | None) -> list[Given]:
    names, rows, mark = separated_rows(
        path, "a table with a column word, and one column a covariate or of counts"
    )
    if names and names[0] == "" and len(names) > 1:  # the numbers of rows
        names, rows = names[1:], [(line, row[1:]) for line, row in rows]
    checks.distinct(names, "a column", path)
    at = _words_at(names, path)
    sha256 = sha256_file(path)
    return [
        _of_cells(
            name,
            [(f"line {line}", row[at], row[names.index(name)]) for line, row in rows],
            str(path),
            sha256,
            decimal_comma=mark != ",",
        )
        for name in _wanted(names, at, columns, path)
    ]


def _of_frame(given: Any, columns: Sequence[str] | None) -> list[Given]:
    frame = plain_frame(given, "data frame")
    names = [str(name) for name in frame.columns]
    if frame.index.map(lambda word: isinstance(word, str)).all() and not any(
        n.casefold() in _WORD for n in names
    ):
        frame, names = frame.rename_axis("word").reset_index(), ["word", *names]
    at = _words_at(names, "data frame")
    words = frame.iloc[:, at].fillna("").astype(str)
    return [
        _of_pairs(name, zip(words, frame.iloc[:, names.index(name)], strict=True), "data frame")
        for name in _wanted(names, at, columns, "data frame")
    ]


def _words_at(names: Sequence[str], where: object) -> int:
    for i, name in enumerate(names):
        if name.casefold() in _WORD:
            return i
    raise InputError(
        "no column holds the words", where=where, found=list(names), valid="a column named word"
    )


def _wanted(
    names: Sequence[str], at: int, columns: Sequence[str] | None, where: object
) -> list[str]:
    others = [name for i, name in enumerate(names) if i != at and name]
    for name in columns or ():
        if name not in others:
            raise checks.unknown(name, others, "covariate", where)
    if not others:
        raise InputError(
            "holds words and no covariate",
            where=where,
            found=list(names),
            valid="a column word, and one or more others",
        )
    return others if columns is None else list(columns)


def _of_cells(
    name: str,
    cells: Iterable[tuple[str, str, str]],
    where: str,
    sha256: str = "",
    *,
    decimal_comma: bool = False,
) -> Given:
    """Return one column as a covariate: numbers if at least half of its cells are, else categories."""
    filled, empty = [], []
    for row, word, cell in cells:
        if cell.casefold() in _NOTHING:
            empty.append(word)
            continue
        cell = cell.replace("\N{MINUS SIGN}", "-")
        filled.append((row, word, cell, cell.replace(",", ".") if decimal_comma else cell))
    # A number with marks between thousands or a percent sign is meant as one, and refused below.
    meant = sum(bool(_MEANT.fullmatch(cell)) for _, _, cell, _ in filled)
    numeric = 2 * meant >= max(1, len(filled))
    if numeric and decimal_comma:
        marks = [mark for mark in ",." if any(mark in cell for _, _, cell, _ in filled)]
        marked = [cell for _, _, cell, _ in filled if "," in cell or "." in cell]
        if len(marks) > 1 or (marked and all(_GROUPED.fullmatch(cell) for cell in marked)):
            raise InputError(
                f"{name} may have marks between thousands, or decimal ones",
                where=where,
                found=marked[0],
                valid="decimal commas, and no mark between thousands",
            )
    values: dict[str, Value] = {}
    places: dict[str, str] = {}
    for row, word, cell, text in filled:
        here = f"{where}, {row}"
        if not word:
            raise InputError("the word is missing", where=here, found=cell)
        if numeric and not (_NUMBER.fullmatch(text) and np.isfinite(float(text))):
            valid = "a number with a decimal point, or an empty cell"
            raise InputError(f"{name} is no number", where=here, found=cell, valid=valid)
        value: Value = float(text) if numeric else checks.label(cell, here)
        if values.setdefault(checks.label(word, here), value) != value:
            raise InputError(
                f"the word {word!r} has two values of {name}",
                where=f"{where}, {places[word]} and {row}",
                found=(values[word], value),
                valid="one value a word",
            )
        places.setdefault(word, row)
    without = tuple(word for word in dict.fromkeys(empty) if word and word not in values)
    return Given(checks.label(name, where), values, where, sha256, without=without)


def _of_pairs(name: str, pairs: Iterable[tuple[Any, Any]], where: str = "a mapping") -> Given:
    """Return words and their values as a covariate; truth values are categories."""
    cells = [
        (f"word {word}", str(word).strip(), "" if pd.isna(value) is True else str(value).strip())
        for word, value in pairs
    ]
    return _of_cells(name, cells, where)


def _of_column(table: PairTable, name: str) -> Given:
    """Return a column of the table as a covariate of the side on which each word has one value."""
    for side, column in sides_of(table.frame).items():
        held = table.frame[[column, name]].dropna().drop_duplicates()
        if not held[column].duplicated().any():
            values = {
                str(w): v if isinstance(v, str) else float(v)
                for w, v in held.itertuples(index=False)
            }
            return Given(
                name, values, OWN_COLUMN, "", side, unit="in the unit of the table's column"
            )
    raise InputError(
        f"the column {name!r} is a covariate neither of protected words nor of attributes: a word has several values",
        where=str(table.provenance.get("name", "the table")),
        valid="one value a word",
    )


# -- joining ------------------------------------------------------------------------------------------


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
    covariates : path, data frame, mapping, the name of a column of the table, or a list of these
        A ``.csv`` or ``.tsv`` file, or a frame, with a column ``word`` and one column a covariate;
        the words may be the index of a frame; or ``{covariate: {word: value}}``. Cells that are
        empty, or NA, say nothing of a word. Commas, semicolons (then with decimal commas) and tabs
        separate. A column that the table has already is centered and scaled where it stands. If it
        was joined before, center and scale remain those of the numbers that were given first.
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
    Words are matched as they are spelt, else without regard to capitals and with blanks for underscores and hyphens, if that
    leaves one value.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "weat7")
    >>> years = {"year_born": {"math": 1891, "algebra": 1551, "poetry": 1380, "sculpture": 1390}}
    >>> from bayesbias.tables import join_covariates
    >>> joined = join_covariates(table, years)
    >>> joined.coverage.covariates["year_born"]["side"], joined.coverage.covariates["year_born"]["found"]
    ('protected', 4)
    >>> round(joined.provenance["covariates"]["year_born"]["center"], 2)
    1553.0
    """
    if not isinstance(table, PairTable):
        raise checks.wrong_kind(table, "table", "what distance_table or load_distances returns")
    if side is not None:
        checks.choice(side, (*sides_of(table.frame), "both"), "side of a pair", "side")
    checks.choice(scale, ("standard", "center", "none"), "scale", "scale")
    for given in covariates_given(covariates, columns, table):
        frame, own = table.frame, given.side if side is None else side
        matched = {
            each: values_of(given, _words(frame[column]))
            for each, column in sides_of(frame).items()
        }
        if own == "both":
            chosen = [each for each in SIDES if each in matched]
        elif own is not None:
            chosen = [own]
        else:
            share = {each: _share(frame, each, values) for each, values in matched.items()}
            chosen = [each for each, part in share.items() if part >= 0.5] or [
                max(share, key=lambda s: share[s])
            ]
        for each in chosen:
            column = given.name if len(chosen) == 1 else f"{each}_{given.name}"
            if column in COLUMNS or (column in frame.columns and given.source != OWN_COLUMN):
                raise InputError(
                    f"the table has a column {column!r} already",
                    where=given.source,
                    hint="name the covariate otherwise",
                )
            table = _with_column(table, given, each, column, matched[each], scale)
    return table


def sides_of(frame: pd.DataFrame) -> dict[str, str]:
    """Return the sides whose words may have a covariate, and the columns that hold them, as far as a table has them."""
    return {side: column for side, column in _COLUMN_OF.items() if column in frame.columns}


def values_of(given: Given, words: Sequence[str]) -> dict[str, Value]:
    """Return the value of each word that has one, by its spelling, or by a looser one that only one value has."""
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


def _loosely(word: str) -> str:
    return re.sub(r"[ _-]+", " ", word).casefold().strip()


def _words(column: pd.Series) -> list[str]:
    return list(dict.fromkeys(str(word) for word in pd.unique(column)))


def _share(frame: pd.DataFrame, side: str, values: Mapping[str, Value]) -> float:
    """Return the share of the words of a side that have values; of attributes, of the stereotypes if that is more."""
    words = _words(frame[_COLUMN_OF[side]])
    share = len(values) / len(words)
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
        have = f"{len(of_words)} of {len(words)} {noun} {'has' if len(of_words) == 1 else 'have'}"
        raise InputError(
            f"{have if of_words else 'no word of the table has'} the covariate {given.name!r}",
            where=given.source,
            found=some(given.values, 6) or "no words",
            valid=f"at least {_LEAST} of the {noun}: {some(words, 6)}",
        )
    values = list(of_words.values())
    if len(set(values)) == 1 or (
        given.numeric
        and np.ptp(np.array(values, dtype=float))
        <= 1e-9 * np.abs(np.array(values, dtype=float)).max()
    ):
        raise InputError(
            f"the covariate {given.name!r} is the same for all {len(values)} {noun}",
            where=given.source,
            found=values[0],
            valid="values that differ",
        )
    about: dict[str, Any] = {
        "of": given.name,
        "side": side,
        "source": given.source,
        "sha256": given.sha256,
    }
    notes: list[str] = []
    kept: dict[str, Any] = dict(of_words)
    if given.numeric:
        numbers = np.array(values, dtype=float)
        center = float(numbers.mean()) if scale != "none" else 0.0
        divisor = float(numbers.std(ddof=1)) if scale == "standard" else 1.0
        kept = {word: (float(value) - center) / divisor for word, value in of_words.items()}
        about |= {"kind": "number", "center": center, "scale": divisor}
        about |= {"least": float(numbers.min()), "most": float(numbers.max())}
        if given.unit:
            about["unit"] = given.unit
        between = _share_between_classes(frame, side, kept)
        if between >= 1 - 1e-12:
            notes.append(
                f"{column} is the same for all words of a class, so that it cannot be told from the classes"
            )
        elif between >= _CONFOUNDED:
            notes.append(
                f"words of one class are much alike in {column}: {between:.0%} of its variance lies between classes"
            )
    else:
        about |= {"kind": "category", "categories": sorted(set(kept.values()))}
        if len(set(kept.values())) == len(kept):
            notes.append(
                f"{column} is another text for each word: a category of one word tells nothing beyond the word"
            )
    earlier = (
        table.provenance.get("covariates", {}).get(column, {}) if given.source == OWN_COLUMN else {}
    )
    if (
        earlier.get("side") == side
    ):  # joined before: the numbers that were given first keep their unit
        about = {key: value for key, value in about.items() if key != "unit"}
        about |= {key: earlier[key] for key in ("of", "source", "sha256", "unit") if key in earlier}
        if {about["kind"], earlier.get("kind")} == {"number"}:
            by = float(earlier["scale"])
            about |= {
                key: float(earlier["center"]) + by * about[key]
                for key in ("center", "least", "most")
            }
            about["scale"] = by * about["scale"]
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


def _share_between_classes(frame: pd.DataFrame, side: str, values: Mapping[str, float]) -> float:
    """Return the share of a covariate's variance over words that lies between their classes; 0 for one class."""
    label = _CLASS_OF.get(side, "")
    if label not in frame.columns:
        return 0.0
    classes = frame[[_COLUMN_OF[side], label]].drop_duplicates(_COLUMN_OF[side]).astype(str)
    own = classes[label].set_axis(classes[_COLUMN_OF[side]])
    numbers = pd.Series(values, dtype=float)
    own = own.reindex(numbers.index)
    if own.nunique() < 2 or own.nunique() == len(own):
        return 0.0
    within = (numbers - numbers.groupby(own).transform("mean")) ** 2
    return float(1.0 - within.sum() / ((numbers - numbers.mean()) ** 2).sum())


# -- what a model can take ----------------------------------------------------------------------------


def columns_of_covariate(table: PairTable, name: str) -> list[str]:
    """Return the columns that hold a covariate: one of that name, or those on either side; by default the name alone."""
    if name in table.frame.columns:
        return [name]
    about = table.provenance.get("covariates", {})
    return [
        column
        for column, of in about.items()
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
    whole = table.frame
    said: list[str] = []  # of control words that lack a covariate
    for name in names:
        if name not in table.frame.columns:
            continue  # what it lacks is said when the model is laid over it
        frame = table.frame
        gone = frame[name].isna()
        if not gone.any() or gone.all():
            continue
        notes = []
        control = _controls(frame)
        of_attributes = (
            table.coverage.covariates.get(name, {}).get("side", "attribute") == "attribute"
        )
        if (
            frame[name].dtype.kind == "f"
            and of_attributes
            and control.any()
            and not gone[~control].all()
        ):
            with_it = frame.loc[control & ~gone, "attribute"].nunique()
            listed = frame.loc[control, "attribute"].nunique()
            # A few that happen to have it would leave nothing of the others.
            if 2 * with_it < listed:
                frame = frame.assign(**{name: frame[name].mask(control, 0.0)})
                said.append(
                    f"{listed - with_it} of {listed} control words have no {name}: no control word has a part in its slope"
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
                f"LEFT OUT: the class {lost}, since none of its stereotypes has {name}"
                for lost in silent
            ]
            if silent:
                rest = rest[~rest["protected_class"].astype(str).isin(silent)]
            frame = rest.reset_index(drop=True)
        coverage = replace(table.coverage, notes=(*table.coverage.notes, *notes))
        table = replace(table, frame=frame, coverage=coverage)
    if _controls(whole).any() and not _controls(table.frame).any():
        said = [
            "no control word is left in the fit: nothing tells nearness to a stereotype from nearness to any word"
        ]
    if said:
        table = replace(
            table, coverage=replace(table.coverage, notes=(*table.coverage.notes, *said))
        )
    return table


def _controls(frame: pd.DataFrame) -> pd.Series:
    kind = frame["attribute_kind"] if "attribute_kind" in frame else pd.Series("", frame.index)
    return kind.isin(CONTROLS)


def _silent_classes(before: pd.DataFrame, left: pd.DataFrame, covariate: str) -> list[str]:
    """Return the classes of which no stereotype has a covariate; in a sentence test, whose sets are compared, none.

    Their words would stand on one side of a difference alone, so that what sets them apart from
    other classes enters it.
    """
    if (
        not {"connection", "protected_class"} <= set(before.columns)
        or "protected_template" in before.columns
    ):
        return []
    own = [
        _words(f.loc[f["connection"] == "associated", "protected_class"]) for f in (before, left)
    ]
    there = _words(left["protected_class"])
    silent = [name for name in own[0] if name not in own[1] and name in there]
    if silent and len(own[1]) < 2:
        raise InputError(
            f"no stereotype of {join_words(silent)} has the covariate, and one class alone has none to compare with",
            where=f"covariate {covariate!r}",
            valid="stereotypes with the covariate in at least two classes",
            hint="fit without it, or a list of the other class and control words",
        )
    return silent
