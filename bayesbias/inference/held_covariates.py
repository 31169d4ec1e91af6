"""Contrasts of words that all have one value of a covariate, and what slopes on the covariate carry of a contrast.

Means and contrasts of a model with slopes are those of words with the covariates of the listed ones: where classes differ in the
covariate, slopes are part of them. Held at one value on all rows, that part is gone. Both are linear in the effects, and so is
their difference: each has a posterior of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.inference.answers import answer_draws, asked_rows, mixed_rows, rows_at
from bayesbias.inference.collapsed import collapse
from bayesbias.inference.contrasts import check_level, described_with_rope, no_contrasts
from bayesbias.inference.effects import joined_draws
from bayesbias.inference.estimands import ESTIMANDS, PROB, ROPE, Rows
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.row_order import in_own_order
from bayesbias.models.design import Design

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["contrasts_at"]


def contrasts_at(
    fit: BiasFit,
    covariates: Mapping[str, float],
    *,
    carried: bool = False,
    prob: float = PROB,
    rope: float = ROPE,
    estimand: str = "population",
    level: str | None = None,
) -> pd.DataFrame:
    """Return the contrasts of words and attributes that all have given values of some covariates.

    Parameters
    ----------
    fit : BiasFit
        Of a model with slopes; see `bayesbias.models.with_slopes`.
    covariates : Mapping of str to float
        Covariates of the model and their value on all rows, in the units of the table's column: of one that was centred, 0 is
        the mean over the words. Covariates that are not named stay as they are.
    carried : bool
        Return instead what slopes on these covariates carry: the contrast at the covariates of the listed words, less that.
    prob, rope, level
        As of `BiasFit.contrasts`.
    estimand : {"population", "listed_words"}
        Or one that the model declares.

    Returns
    -------
    DataFrame
        The columns of `BiasFit.contrasts`.

    Raises
    ------
    InputError
        For a covariate on which the model has no slope, or a value that is no finite number.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from bayesbias.models import with_slopes
    >>> table = bb.distance_table("minilm-static", "weat7", controls="none")
    >>> frame = table.frame.assign(length=table.frame["attribute"].str.len() - 5.0)
    >>> fit = bb.fit(frame, with_slopes("default", "length", ["protected_class"]), seed=1, draws=200, chains=2)
    >>> row = contrasts_at(fit, {"length": 0}, level="overall").iloc[0]
    >>> row["contrast"], bool(row["hpdi_low"] < row["mean"] < row["hpdi_high"])
    ('associated - different', True)
    """
    import pandas as pd

    checks.instance(fit, BiasFit, "fit", "what bayesbias.fit returns")
    known = fit.spec.covariates()
    if not known:
        raise InputError(
            f"{fit.spec.label} has no slope on a covariate",
            where="fit",
            hint="bayesbias.models.with_slopes gives a model one",
        )
    if not covariates:
        raise InputError("no covariate is named", where="covariates", valid=known)
    for name, value in covariates.items():
        checks.choice(name, known, "covariate of the model", "covariates")
        checks.finite(value, f"covariates, {name}")
    checks.choice(estimand, (*ESTIMANDS, *fit.spec.results.estimands), "estimand", "estimand")
    prob = checks.probability(prob)
    rope = checks.positive(rope, "rope")
    if level is not None:
        check_level(fit.spec, level)
    design, table = in_own_order(fit.design, fit.table)
    values = {name: np.full(len(design.y), float(value)) for name, value in covariates.items()}
    held = replace(design, covariates={**design.covariates, **values})
    rows = asked_rows(held, table, estimand, True, fit.table)
    if carried:
        own = asked_rows(design, table, estimand, True, fit.table)
        rows = replace(own, linear=own.linear.minus(rows.linear))
    levels = ("overall", *fit.spec.results.levels) if level is None else (level,)
    frames = [_described(fit, design, rows_at(rows, each), prob, rope, estimand) for each in levels]
    frames = [frame for frame in frames if frame is not None]
    if not frames:
        raise no_contrasts(fit.spec)
    return pd.concat(frames, ignore_index=True)


def _described(
    fit: BiasFit, design: Design, rows: Rows, prob: float, rope: float, estimand: str
) -> pd.DataFrame | None:
    if not rows.keys:
        return None
    sampler = fit.provenance.get("sampler", {})
    chains, seed = int(fit.idata["posterior"].sizes["chain"]), fit.design.stream(int(sampler.get("seed", 0)))
    reduced = collapse(design) if sampler.get("method") == "collapsed" else None
    names = [name for name, about in fit.spec.parameters.items() if about.positive or reduced is None]
    draws = joined_draws(fit.idata["posterior"].dataset, names)
    mixed = mixed_rows(rows, design, reduced, draws, chains)
    if mixed is None:
        own = answer_draws(rows, design, fit.draws(), chains, estimand, "contrast", seed)
        return described_with_rope(own, prob, rope)
    return described_with_rope(mixed.draws(estimand, "contrast", seed), prob, rope, mixed.mixtures)
