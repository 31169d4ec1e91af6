"""Covariates about words: numbers or categories of each word or attribute, joined to the rows of a table of pairs.

The share of women in an occupation, the year a name was common, the log frequency of a word. A covariate is a column of the
table that is the same in all rows of a word, so that a model may name it (``times = "percent_women"``). Numbers are centred
and divided by their standard deviation over the words, and both are recorded, so that a slope is per standard deviation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import some
from bayesbias.tables.covariate_accounts import (
    joined_once_more,
    otherwise_spelt,
    share_between_classes,
    values_of,
)
from bayesbias.tables.coverage import FACT_NOUNS, fitted_alone, without_silent_classes
from bayesbias.tables.pair_table import COLUMNS, PairTable
from bayesbias.tables.reading_covariates import OWN_COLUMN, SIDES, Given, Value, covariates_given, sides_of
from bayesbias.wordlists.wordlist import CONTROLS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["join_covariates"]

SCALES = ("standard", "center", "none")
_CLASS_OF = {"protected": "protected_class", "attribute": "attribute_class", "profession": "category"}
_LEAST = 3
_ROUNDING = 1e-9  # of the largest number: what differs by less differs by nothing that was meant
_ONE = 1e-15  # 0.3 beside 0.1 + 0.2
_WHOLE = 2.0**53  # beyond, neighbouring whole numbers are one
_NO_CONTROL_LEFT = (
    "no control word is left in the fit: nothing tells nearness to a stereotype from nearness to any word"
)
_MUCH = 0.9
_CONFOUNDED = 0.5  # of a covariate's variance between classes, from which on it is said


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
        A ``.csv`` or ``.tsv`` file, or a frame, with a column ``word`` and one column a covariate; of a frame the words may be the
        index; or ``{covariate: {word: value}}``.
        Cells that are empty, or NA, say nothing of a word. Commas, semicolons (then with decimal commas) and tabs separate.
        A column that the table has already is checked, and centred and scaled where it stands. Where it is a covariate that was
        joined before, center and scale remain those of the numbers that were given first; of a file nothing of them is known,
        and the unit is that of its column.
    side : {"protected", "attribute", "both"}, optional
        Whose words are meant; of a table of sentiment ``profession`` or ``noun_pair``. By default those sides of which at least
        half of the words have the covariate (of attributes, half of the stereotypes will do), or else the one of which more have
        it. On both sides a covariate makes two columns, with ``protected_`` and ``attribute_`` before its name.
    columns : sequence of str, optional
        The covariates to take of a file or a frame; by default all.
    scale : {"standard", "center", "none"}, default "standard"
        What is done to numbers: less their mean over the words that have one, and that over their standard deviation (n - 1).
        A word counts once, however many rows it has.

    Returns
    -------
    PairTable
        With a column for each covariate, after those it had: float64, and NaN where there is none; of categories texts. Its
        ``coverage.covariates`` says how many words have it and which have none, and ``provenance["covariates"]`` where it is from
        and what was taken away and divided by.

    Raises
    ------
    InputError
        For a file that is no such table; a word with two different values; a column of numbers with a text in it; numbers
        that are not finite, or the same for all words; a covariate of fewer than three words; a name that the table has already.

    Notes
    -----
    Words are matched as they are spelt, else without regard to capitals and with blanks for underscores and hyphens, where
    that leaves one.

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
    checks.choice(scale, SCALES, "scale", "scale")
    for given in covariates_given(covariates, columns, table):
        table = _joined(table, given, given.side if side is None else side, scale)
    return table


def with_covariates_known(table: PairTable, names: Sequence[str]) -> PairTable:
    """Return the rows that a model with these covariates can take.

    Of a covariate that hardly any control word has (the share of women, of occupations), control words have no part in its slope: it
    is 0 there. Otherwise the rows of words without the covariate are left out, and the coverage says whose; with them classes of which
    no stereotype has it.

    Raises
    ------
    InputError
        Where no two classes have stereotypes with the covariate.
    """
    whole = table.frame
    without: dict[str, str] = {}  # covariate -> what is said of control words that lack it
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
        of_attributes = table.coverage.covariates.get(name, {}).get("side", "attribute") == "attribute"
        if number and of_attributes and control.any() and not gone[~control].all():
            with_it = frame.loc[control & ~gone, "attribute"].nunique()
            listed = frame.loc[control, "attribute"].nunique()
            # A few that happen to have it would leave nothing of the others.
            if 2 * with_it < listed:
                frame = frame.assign(**{name: frame[name].mask(control, 0.0)})
                lack = f"{listed - with_it} of {listed} control words have no {name}, and none has a"
                without[name] = (
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
                for word in dict.fromkeys(map(str, frame.loc[gone, column].unique()))
                if not (rest[column] == word).any()
            ]
            notes.append(f"left out of the fit, since they have no {name}: {some(words)}")
            rest, silent = without_silent_classes(frame, rest, name)
            notes += [
                f"LEFT OUT: the class {lost}, since none of its stereotypes has {name}" for lost in silent
            ]
            frame = rest.reset_index(drop=True)
        coverage = replace(table.coverage, notes=(*table.coverage.notes, *notes))
        table = replace(table, frame=frame, coverage=coverage)
    said = [*without.values()]
    if _has_controls(whole) and not _has_controls(table.frame):
        said = [_NO_CONTROL_LEFT]
    if said:
        table = replace(table, coverage=replace(table.coverage, notes=(*table.coverage.notes, *said)))
    if len(table.frame) < len(whole):
        table = replace(table, coverage=fitted_alone(table.coverage, whole, table.frame))
    return table


def _has_controls(frame: pd.DataFrame) -> bool:
    return "attribute_kind" in frame and bool(frame["attribute_kind"].isin(CONTROLS).any())


def columns_of_covariate(table: PairTable, name: str) -> list[str]:
    """Return the columns of a table that hold a covariate: one of that name, or those on either side; by default the name alone."""
    if name in table.frame.columns:
        return [name]
    about = table.provenance.get("covariates", {})
    return [
        column
        for column, of in about.items()
        if name in (of["of"], f"{of['side']}_{of['of']}") and column in table.frame.columns
    ] or [name]


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
        notes = otherwise_spelt(given, dict.fromkeys(words))
        coverage = replace(table.coverage, notes=(*table.coverage.notes, *notes))
        table = replace(table, coverage=coverage)
    for each in chosen:
        column = name if len(chosen) == 1 else f"{each}_{name}"
        if column in COLUMNS or (column in frame.columns and given.source != OWN_COLUMN):
            raise InputError(
                f"the table has a column {column!r} already",
                where=given.source,
                hint="name the covariate otherwise",
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


def _with_column(
    table: PairTable, given: Given, side: str, column: str, of_words: Mapping[str, Value], scale: str
) -> PairTable:
    frame = table.frame
    words = _words(frame, sides_of(frame)[side])
    noun = FACT_NOUNS[side]
    if len(of_words) < _LEAST:
        have = f"{len(of_words)} of {len(words)} {noun} {'has' if len(of_words) == 1 else 'have'}"
        raise InputError(
            f"{have if of_words else 'no word of the table has'} the covariate {given.name!r}",
            where=given.source,
            found=f"{some(given.values, 6) or 'no words'}",
            valid=f"at least {_LEAST} of the {noun}: {some(words, 6)}",
        )
    covariates: dict[str, Any] = {
        "of": given.name,
        "side": side,
        "source": given.source,
        "sha256": given.sha256,
    }
    earlier = table.provenance.get("covariates", {}).get(column, {}) if given.source == OWN_COLUMN else {}
    notes: list[str] = []
    kept: dict[str, Any]
    if given.numeric:
        numbers = np.array([float(value) for value in of_words.values()])
        with np.errstate(over="ignore"):  # too large numbers are refused below
            apart = np.ptp(numbers)
        if apart <= _ROUNDING * np.abs(numbers).max():
            alike = apart <= _ONE * np.abs(numbers).max()
            raise InputError(
                f"the covariate {given.name!r} is the same for all {len(of_words)} {noun}"
                if alike
                else f"the covariate {given.name!r} differs by less than a billionth of its size between the {noun}",
                where=given.source,
                found=float(numbers[0]),
                valid="numbers that differ",
                hint=None
                if alike and np.abs(numbers).max() < _WHOLE
                else "take what it is beyond some round number",
            )
        size = float(np.abs(numbers).max())
        if not 1 / checks.LARGEST < size < checks.LARGEST:
            raise InputError(
                f"the covariate {given.name!r} has numbers too {'large' if size > 1 else 'small'} for their squares",
                where=given.source,
                found=float(numbers[np.argmax(np.abs(numbers))]),
                valid="numbers whose largest lies between 1e-100 and 1e100: take another unit",
            )
        center = float(numbers.mean()) if scale != "none" else 0.0
        divisor = float(numbers.std(ddof=1)) if scale == "standard" else 1.0
        kept = {word: (float(value) - center) / divisor for word, value in of_words.items()}
        covariates |= {
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
            how, told = ("much alike", "hardly") if between >= _MUCH else ("alike", "not well")
            notes.append(
                f"words of one class are {how} in {column}: {between:.0%} of its variance lies between classes, so that "
                f"what goes with it can {told} be told from what goes with the classes"
            )
    else:
        kept = {word: str(value) for word, value in of_words.items()}
        covariates |= {"kind": "category", "categories": sorted(set(kept.values()))}
        if len(set(kept.values())) == len(kept):
            notes.append(
                f"{column} is another text for each word, such as {next(iter(kept.values()))!r}: a category of one word tells "
                "nothing beyond the word; if these are numbers, write them as such"
            )
        if len(set(kept.values())) == 1:
            raise InputError(
                f"the covariate {given.name!r} is the same for all {len(of_words)} {noun}",
                where=given.source,
                found=next(iter(kept.values())),
                valid="categories that differ",
            )
    if earlier.get("side") == side:
        covariates = joined_once_more(covariates, earlier)
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
        covariates={**table.coverage.covariates, column: account},
        columns=tuple(dict.fromkeys([*table.coverage.columns, column])),
        notes=(*table.coverage.notes, *notes),
    )
    provenance = {
        **table.provenance,
        "covariates": {**table.provenance.get("covariates", {}), column: covariates},
    }
    return PairTable(frame, coverage, provenance)
