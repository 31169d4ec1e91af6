"""From what is asked of a fit to draws and mixtures: the rows of its tables, before they are described."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.inference.collapsed import Collapsed
from bayesbias.inference.contrasts import contrasted_groups, labelled_draws
from bayesbias.inference.estimands import PREDICTIVE, Rows, contrast_rows, mean_rows, times_of
from bayesbias.inference.mixtures import Mixtures
from bayesbias.inference.moments import conditional_moments
from bayesbias.inference.new_words import new_rows
from bayesbias.models.design import Design

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def asked_rows(design: Design, table: pd.DataFrame, estimand: str, contrasted: bool) -> Rows:
    """Return the means, or their contrasts, of an estimand at all levels, as functions of the effects."""
    group = design.spec.results.group
    pairs = contrasted_groups(group, table[group].astype(str))
    if estimand in PREDICTIVE:
        return new_rows(design, table, estimand, pairs if contrasted else None)
    means = mean_rows(design, table, estimand)
    return contrast_rows(means, pairs) if contrasted else means


def rows_at(rows: Rows, level: str) -> Rows:
    """Return the rows of one level."""
    return rows.chosen([k for k, key in enumerate(rows.keys) if key[0] == level])


def answer_draws(
    rows: Rows,
    design: Design,
    draws: Mapping[str, np.ndarray],
    chains: int,
    estimand: str,
    column: str,
    seed: int = 0,
) -> xr.DataArray:
    """Return draws of some rows, labelled ``level, name, <column>, estimand``.

    What a new word adds is drawn with `seed`; a row that is a mixture takes one of its parts in each draw.
    """
    values = rows.linear.draws(draws, times_of(design))
    if estimand in PREDICTIVE:
        rng = np.random.default_rng(np.random.SeedSequence([seed, 4]))
        sd = np.sqrt(rows.linear.new_variance(draws))
        values = values + sd * rng.standard_normal(values.shape)
        values = _one_part_each(values, rows, rng)
    levels, names, labels = zip(*rows.keys, strict=True) if rows.keys else ((), (), ())
    return labelled_draws(
        values.reshape(chains, len(values) // chains, len(rows.keys)),
        {
            "level": list(levels),
            "name": list(names),
            column: list(labels),
            "estimand": [estimand] * len(labels),
        },
    )


def _one_part_each(values: np.ndarray, rows: Rows, rng: np.random.Generator) -> np.ndarray:
    out = np.empty((len(values), len(rows.keys)))
    for row in range(len(rows.keys)):
        parts = np.flatnonzero(rows.row == row)
        which = parts[0] if len(parts) == 1 else rng.choice(parts, len(values), p=rows.weight[parts])
        out[:, row] = values[np.arange(len(values)), which]
    return out


def opposite_draws(rows: Rows, design: Design, draws: Mapping[str, np.ndarray], chains: int) -> xr.DataArray:
    """Return draws of the share of new words whose contrast has another sign than the mean over new words.

    In each draw the contrast of a new word is normal around that of its class, so that the share is a tail of it. The sign
    is that of the posterior mean.

    Parameters
    ----------
    rows : Rows
        Contrasts of one new word.
    """
    from scipy.special import ndtr

    centre = rows.linear.draws(draws, times_of(design))
    sd = np.sqrt(np.broadcast_to(rows.linear.new_variance(draws), centre.shape))
    own = np.arange(len(rows.keys))[:, None] == rows.row
    weights = np.where(own, rows.weight, 0.0).T  # (parts, rows)
    sign = np.sign((centre @ weights).mean(axis=0))[rows.row]
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = ndtr(-sign * centre / sd) @ weights
    levels, names, labels = zip(*rows.keys, strict=True)
    return labelled_draws(
        shares.reshape(chains, -1, len(rows.keys)), {"level": levels, "name": names, "contrast": labels}
    )


def answer_mixtures(
    rows: Rows,
    design: Design,
    reduced: Collapsed | None,
    draws: Mapping[str, np.ndarray],
    chains: int,
) -> Mixtures | None:
    """Return the rows as normal mixtures over the draws of the scales; None where they are not.

    Of a model that was sampled pair by pair only what is new is normal given the draws.
    """
    if not rows.keys:
        return None
    if reduced is not None and all((draws[name] > 0).all() for name in reduced.scales):
        mean, variance = conditional_moments(reduced, reduced.joined(draws), rows.linear)
    elif rows.linear.shared or rows.linear.apart:
        mean = rows.linear.draws(draws, times_of(design))
        variance = np.zeros_like(mean)
    else:
        return None
    variance = variance + rows.linear.new_variance(draws)
    if not (variance > 0).all():
        return None  # such as a mean that is a number of the model file
    shape = (chains, -1, mean.shape[1])
    return Mixtures(mean.reshape(shape), np.sqrt(variance).reshape(shape), rows.row, rows.weight)
