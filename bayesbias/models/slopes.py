"""A model with slopes on a fact about words: terms of its mean that a column of numbers multiplies."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bayesbias.basics import checks
from bayesbias.basics.errors import InputError
from bayesbias.models.loading import load_model, parse_model
from bayesbias.models.spec import ModelSpec

__all__ = ["with_slopes"]

SLOPE_SD = 0.1
"""Prior sd of a slope on distances, for one standard deviation of the fact: what the models give a difference."""


def with_slopes(
    model: str | os.PathLike[str] | ModelSpec,
    fact: str,
    by: Sequence[str | Sequence[str]] | None = None,
    *,
    varying: Sequence[str | Sequence[str]] = (),
    sd: float = SLOPE_SD,
) -> ModelSpec:
    r"""Return the model with slopes on a fact added to its mean.

    With :math:`x` the fact of a row, the mean gains :math:`x \, (s + \sum_k s_k[j_k] + \sum_l r_l[i_l])`: a slope that all
    rows share, what the labels of each column of `by` differ from it, and what those of `varying` scatter around it.

    Parameters
    ----------
    model : str, path or ModelSpec
        As of `bayesbias.load_model`; of a model that has slopes already further ones, of another fact.
    fact : str
        A column of the table, best centred and in standard deviations, as `bayesbias.tables.join_facts` makes it. It must be
        that of a word, or of whatever one of the model's ``units`` is.
    by : sequence, optional
        Columns, or several joined (``("protected_class", "connection")``), whose labels are all there are and have a slope
        each. By default the column that the results of the model are for: the connection. With ``()`` one slope alone.
    varying : sequence, optional
        Columns whose labels are a sample of more, each with a slope of its own around the others: ``"attribute"`` for a fact
        about protected words, since attributes differ in how their distances go with it. Without, the interval of a
        slope is that of the listed attributes.
    sd : float > 0, default 0.1
        Prior standard deviation of each slope, in units of the outcome for one standard deviation of the fact. The
        spread of those that vary has an exponential prior with this mean.

    Returns
    -------
    ModelSpec
        Its parameters are ``slope_FACT``, ``slope_FACT_COLUMN`` and, with their spread, ``slope_FACT_COLUMN_sd``; its name is
        that of the model and the fact. Its text is a model file like any other.

    Raises
    ------
    InputError
        For a fact that the model has already, is its outcome, or holds labels for it; and for columns named twice.

    Notes
    -----
    Means and contrasts of a fit are those of words with the facts of the listed ones: what slopes carry is part of them.

    Examples
    --------
    >>> import bayesbias as bb
    >>> spec = with_slopes("cells", "log_frequency", by=["protected_class"], varying=["protected_word"])
    >>> spec.name, spec.facts()
    ('cells + log_frequency', ['log_frequency'])
    >>> spec.mu[-3:-1]
    ('slope_log_frequency', 'slope_log_frequency_protected_class')
    >>> spec.parameters["slope_log_frequency_protected_word"].args["sigma"]
    'slope_log_frequency_protected_word_sd'
    """
    import tomlkit

    spec = load_model(model)
    if not isinstance(fact, str) or not fact:
        raise checks.wrong_kind(fact, "fact", "the name of a column")
    if fact in spec.facts():
        raise InputError("the model has slopes on this fact already", where=spec.label, found=fact)
    checks.positive(sd, "sd")
    fixed = [_columns(each, "by") for each in ((spec.results.group,) if by is None else by)]
    free = [_columns(each, "varying") for each in varying]
    checks.distinct([" x ".join(each) for each in (*fixed, *free)], "a column", "by and varying")
    stem = "slope_" + re.sub(r"\W", "_", fact)
    added: dict[str, dict[str, Any]] = {}
    terms = []
    for dims in ((), *fixed, *free):
        name = "_".join((stem, *dims))
        scatters = bool(dims) and dims in free
        table: dict[str, Any] = {"dims": list(dims)} if dims else {}
        table |= {"distribution": "Normal", "mu": 0, "sigma": f"{name}_sd" if scatters else float(sd)}
        added[name] = {**table, "times": fact}
        terms.append(name)
        if scatters:
            added[f"{name}_sd"] = {"distribution": "Exponential", "lam": round(1 / float(sd), 12)}
    if taken := [name for name in added if name in spec.parameters]:
        raise InputError("the model has parameters of these names", where=spec.label, found=taken)
    document = tomlkit.parse(spec.text).unwrap()
    document["name"] = f"{spec.name} + {fact}"
    document["likelihood"]["mu"] = [*spec.mu, *terms]
    document["parameter"] |= added
    text = tomlkit.dumps(document).encode("utf-8")
    return replace(parse_model(text, spec.origin or document["name"]), origin=spec.origin)


def _columns(given: str | Sequence[str], where: str) -> tuple[str, ...]:
    """Return the columns that one kind of slopes differs by."""
    names = (given,) if isinstance(given, str) else tuple(given)
    checks.texts(list(names), where)
    if not names:
        raise InputError(
            "must name a column", where=where, found=given, hint="one slope is added in any case"
        )
    return tuple(checks.distinct(names, "a column", where))
