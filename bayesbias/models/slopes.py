"""A model with slopes on a covariate about words: terms of its mean that a column of numbers multiplies."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import toml_text
from bayesbias.models.loading import load_model, parse_model
from bayesbias.models.spec import ModelSpec

if TYPE_CHECKING:
    import pandas as pd


__all__ = ["slopes_for", "with_slopes"]

SLOPE_SD = 0.1
"""Prior sd of a slope on distances, for one standard deviation of the covariate: what the models give a difference."""

# The same by outcome; of a logit half of what a prior gives the overall difference, as of distances.
_SD_OF = {"distance": SLOPE_SD, "change": SLOPE_SD, "difference": 0.1, "logit_difference": 0.5}
# Whose words a slope on a covariate of some word scatters over: those on the other side of a pair.
_ACROSS: dict[str, tuple[str, ...]] = {
    "protected_word": ("attribute",),
    "attribute": ("protected_word",),
    "profession": ("noun_pair", "classifier"),
    "noun_pair": ("profession", "classifier"),
}
_LEAST = 3  # labels that a slope scatters over


def slopes_for(
    model: str | os.PathLike[str] | ModelSpec,
    table: pd.DataFrame | Any,
    covariate: str,
    by: str | Sequence[str | Sequence[str]] | None = None,
) -> ModelSpec:
    """Return the model with the slopes on a covariate that its table calls for; what ``--slope`` of the commands does.

    The slope differs by what the results of the model are for, and scatters over the words of the
    other side: of a covariate about protected words over attributes, so that its interval is that
    of new attributes. A word's own deviation from the line is in the model already. The prior is as
    wide as a difference of the outcome may be for one standard deviation.

    Parameters
    ----------
    model : str, path or ModelSpec
    table : DataFrame or PairTable
        With the covariate as a column, which is that of one of the model's units.
    covariate : str
    by : sequence, optional
        As of `with_slopes`.

    Returns
    -------
    ModelSpec

    Raises
    ------
    InputError
        For a column that is not there, is no number, or is no covariate: it differs within every
        unit.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "weat7", controls="none")
    >>> length = {"length": {word: len(word) for word in bb.load_wordlist("weat7").protected_words}}
    >>> spec = slopes_for("default", bb.tables.join_covariates(table, length), "length")
    >>> spec.name, spec.parameters["slope_length_attribute"].dims
    ('default + length', ('attribute',))
    """
    spec = load_model(model)
    frame = getattr(table, "frame", table)
    checks.columns(frame, (), "table", "a PairTable or a data frame")
    if covariate not in frame.columns:
        known = [
            str(name)
            for name in frame.columns
            if frame[name].dtype.kind in "fi" and name != spec.outcome
        ]
        if not known:
            raise InputError(
                "the table has no covariates",
                where="slope",
                found=covariate,
                valid="--covariates FILE of the command, or in Python join_covariates, joins covariates to the table first",
            )
        raise checks.unknown(covariate, known, "covariate", "the table")
    if frame[covariate].dtype.kind not in "fiu":
        raise InputError(
            "a slope needs numbers, and this covariate is none",
            where="the table",
            found=f"{covariate}: {_first_known(frame[covariate])}",
            valid="numbers (of yes and no, 1 and 0); a slope on another covariate can differ by this one (--slope AGE:SORT of the "
            "command, by= in Python)",
        )
    unit = next((unit for unit in spec.units if _is_of(frame, unit, covariate)), None)
    if unit is None:
        raise InputError(
            "is a covariate of none of the units of the model: it differs within each of them",
            where=spec.label,
            found=covariate,
            valid=spec.units,
        )
    _refuse_nothing_to_tell(frame, covariate, _several(by or ()))
    across = tuple(name for name in _ACROSS.get(unit, ()) if name in spec.units)
    enough = bool(across) and frame[across[0]].nunique() >= _LEAST
    sd = _SD_OF.get(spec.outcome, SLOPE_SD)
    return with_slopes(spec, covariate, by, varying=[across] if enough else [], sd=sd)


def _refuse_nothing_to_tell(
    frame: pd.DataFrame, covariate: str, by: Sequence[str | Sequence[str]]
) -> None:
    """Refuse a covariate that does not vary, or not within any label that is to have a slope of its own."""
    known = frame[frame[covariate].notna()]
    if known[covariate].nunique() < 2:
        value = float(known[covariate].iloc[0]) if len(known) else "none"
        raise InputError(
            f"the covariate {covariate!r} is the same in all rows",
            found=value,
            valid="numbers that differ",
        )
    for each in by:
        columns = list(_columns(each, "by"))
        if set(columns) <= set(frame.columns) and (
            known.groupby(columns, observed=True)[covariate].nunique().max() < 2
        ):
            raise InputError(
                f"the covariate {covariate!r} is the same for all words of each {' and '.join(columns)}, so that neither can be told "
                "from the other",
                where="by",
                found=" x ".join(columns),
                valid="columns within whose labels the covariate differs",
            )


def _first_known(column: pd.Series) -> object:
    known = column.dropna()
    return known.iloc[0] if len(known) else "nothing"


def _is_of(frame: pd.DataFrame, unit: str, covariate: str) -> bool:
    if unit not in frame.columns:
        return False
    known = frame[[unit, covariate]].dropna().drop_duplicates()
    return not known[unit].duplicated().any()


def with_slopes(
    model: str | os.PathLike[str] | ModelSpec,
    covariate: str,
    by: str | Sequence[str | Sequence[str]] | None = None,
    *,
    varying: str | Sequence[str | Sequence[str]] = (),
    sd: float = SLOPE_SD,
) -> ModelSpec:
    r"""Return the model with slopes on a covariate added to its mean.

    With :math:`x` the covariate of a row, the mean gains :math:`x \, (s + \sum_k s_k[j_k] + \sum_l
    r_l[i_l])`: a slope that all rows share, what the labels of each column of `by` differ from it,
    and what those of `varying` scatter around it.

    Parameters
    ----------
    model : str, path or ModelSpec
        As of `bayesbias.load_model`; of a model that has slopes already further ones, of another
        covariate.
    covariate : str
        A column of the table, best centred and in standard deviations, as
        `bayesbias.tables.join_covariates` makes it. It must be that of a word, or of whatever one
        of the model's ``units`` is.
    by : sequence, optional
        Columns, or several joined (``("protected_class", "connection")``), whose labels are all
        there are and have a slope each. By default the column that the results of the model are
        for: the connection. With ``()`` one slope alone.
    varying : sequence, optional
        Columns whose labels are a sample of more, each with a slope of its own around the others:
        ``"attribute"`` for a covariate about protected words, since attributes differ in how their
        distances go with it. Without, the interval of a slope is that of the listed attributes.
    sd : float > 0, default 0.1
        Prior standard deviation of each slope, in units of the outcome for one standard deviation
        of the covariate. The spread of those that vary has an exponential prior with this mean.

    Returns
    -------
    ModelSpec
        Its parameters are ``slope_FACT``, ``slope_FACT_COLUMN`` and, with their spread,
        ``slope_FACT_COLUMN_sd``; its name is that of the model and the covariate. Its text is a
        model file like any other.

    Raises
    ------
    InputError
        For a covariate that the model has already, is its outcome, or holds labels for it; and for
        columns named twice.

    Notes
    -----
    Means and contrasts of a fit are those of words with the covariates of the listed ones: what slopes carry is part of them.

    Examples
    --------
    >>> import bayesbias as bb
    >>> spec = with_slopes("default", "log_frequency", by=["protected_class"], varying=["protected_word"])
    >>> spec.name, spec.covariates()
    ('default + log_frequency', ['log_frequency'])
    >>> spec.mu[-3:-1]
    ('slope_log_frequency', 'slope_log_frequency_protected_class')
    >>> spec.parameters["slope_log_frequency_protected_word"].args["sigma"]
    'slope_log_frequency_protected_word_sd'
    """
    spec = load_model(model)
    if not isinstance(covariate, str) or not covariate:
        raise checks.wrong_kind(covariate, "covariate", "the name of a column")
    if covariate in spec.parameters:
        raise InputError(
            "the covariate has the name of a parameter of the model",
            where=spec.label,
            found=covariate,
            hint="name its column otherwise",
        )
    if covariate in spec.covariates():
        raise InputError(
            "the model has slopes on this covariate already", where=spec.label, found=covariate
        )
    checks.positive(sd, "sd")
    fixed = [
        _columns(each, "by") for each in ((spec.results.group,) if by is None else _several(by))
    ]
    free = [_columns(each, "varying") for each in _several(varying)]
    checks.distinct([" x ".join(each) for each in (*fixed, *free)], "a column", "by and varying")
    stem = "slope_" + re.sub(r"\W", "_", covariate)
    added: dict[str, dict[str, Any]] = {}
    terms = []
    for dims in ((), *fixed, *free):
        name = "_".join((stem, *dims))
        scatters = bool(dims) and dims in free
        table: dict[str, Any] = {"dims": list(dims)} if dims else {}
        table |= {
            "distribution": "Normal",
            "mu": 0,
            "sigma": f"{name}_sd" if scatters else float(sd),
        }
        added[name] = {**table, "times": covariate}
        terms.append(name)
        if scatters:
            added[f"{name}_sd"] = {"distribution": "Exponential", "lam": round(1 / float(sd), 12)}
    if taken := [name for name in added if name in spec.parameters]:
        raise InputError("the model has parameters of these names", where=spec.label, found=taken)
    document = tomllib.loads(spec.text)
    document["name"] = f"{spec.name} + {covariate}"
    document["likelihood"]["mu"] = [*spec.mu, *terms]
    document["parameter"] |= added
    text = toml_text(document).encode("utf-8")
    return replace(parse_model(text, spec.origin or document["name"]), origin=spec.origin)


def _several(given: str | Sequence[str | Sequence[str]]) -> Sequence[str | Sequence[str]]:
    """Return what slopes differ by; the name of one column is one of them."""
    return (given,) if isinstance(given, str) else given


def _columns(given: str | Sequence[str], where: str) -> tuple[str, ...]:
    """Return the columns that one kind of slopes differs by."""
    names = (given,) if isinstance(given, str) else tuple(given)
    checks.texts(list(names), where)
    if not names:
        raise InputError(
            "must name a column", where=where, found=given, hint="one slope is added in any case"
        )
    return tuple(checks.distinct(names, "a column", where))
