"""Contrasts on a scale that travels from one set of vectors to another.

Cosine distances of one set of vectors scatter more than those of another, so that a difference of 0.02 is much here
and little there. Each draw of a contrast is therefore divided by the standard deviation of single pairs under the
same draw (`total_sd`), as Cohen's d divides a difference of means: of neutral pairs, which show how distances scatter
for no particular reason; where there are none, of the pairs of the two connections that are contrasted.

The probability of superiority says the same without a unit: how often a random pair of the first connection lies
nearer than a random pair of the second. Of normal pairs it is Phi(-difference / sqrt(var_1 + var_2)), the common
language effect size of McGraw & Wong (1992, Psychological Bulletin 111: 361-365).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.core.errors import InputError
from bayesbias.core.formatting import join_words
from bayesbias.inference.contrasts import (
    beside,
    described,
    described_with_rope,
    keys_of_rows,
    labelled_draws,
    labels_of_rows,
)
from bayesbias.inference.estimands import ESTIMANDS, PREDICTIVE, sides_of
from bayesbias.inference.mixtures import Mixtures
from bayesbias.inference.spreads import has_variance, total_sd
from bayesbias.models.design import Design, labels_of

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_YARDSTICK = "neutral"


def standardized_draws(
    design: Design, table: pd.DataFrame, draws: Mapping[str, np.ndarray], contrasts: xr.DataArray
) -> xr.DataArray:
    """Return contrasts in standard deviations, with a last label ``unit`` that says of which pairs they are."""
    units, sd = _yardsticks(design, table, draws, contrasts)
    return labelled_draws(contrasts.to_numpy() / sd, {**labels_of_rows(contrasts), "unit": units})


def described_standard(
    design: Design,
    table: pd.DataFrame,
    contrasts: xr.DataArray,
    mixtures: Mixtures | None,
    draws: Mapping[str, np.ndarray],
    prob: float,
    rope: float,
) -> pd.DataFrame:
    """Describe contrasts in standard deviations, with the probability of superiority; see `BiasFit.standardized`.

    Where contrasts are normal mixtures these are too: given the scales, of which the standard deviation t is one,
    N(mu, s) over t is N(mu / t, s / t).
    """
    own = standardized_draws(design, table, draws, contrasts)
    if mixtures is not None:
        sd = _yardsticks(design, table, draws, contrasts)[1][..., mixtures.row]
        mixtures = Mixtures(mixtures.mean / sd, mixtures.sd / sd, mixtures.row, mixtures.weight)
    frame = described_with_rope(own, prob, rope, mixtures)
    if set(frame["estimand"]) & set(PREDICTIVE):
        return frame.assign(**dict.fromkeys(beside(frame, "superiority"), np.nan))
    return frame.assign(
        **beside(described(superiority_draws(design, table, draws, contrasts), prob), "superiority")
    )


def _yardsticks(
    design: Design, table: pd.DataFrame, draws: Mapping[str, np.ndarray], contrasts: xr.DataArray
) -> tuple[list[str], np.ndarray]:
    """Return of every row what it is measured in, and that in every draw, shape (chain, draw, row)."""
    column = design.spec.results.group
    present, codes = labels_of(table[column], column)
    shape, units, columns = contrasts.shape[:2], [], []
    known: dict[Sequence[str], np.ndarray] = {}
    for (contrast,) in keys_of_rows(contrasts, "contrast"):
        groups = _measured_in(column, present, contrast)
        if groups not in known:
            each = [total_sd(design, draws, codes == present.index(group)) ** 2 for group in groups]
            known[groups] = np.sqrt(np.mean(each, axis=0)).reshape(shape)
        columns.append(known[groups])
        units.append(_unit(column, groups))
    return units, np.stack(columns, axis=-1) if columns else np.empty((*shape, 0))


def _measured_in(column: str, present: Sequence[str], contrast: str) -> tuple[str, ...]:
    if column == "connection" and _YARDSTICK in present:
        return (_YARDSTICK,)
    return sides_of(contrast, present)


def pair_sd(
    design: Design, table: pd.DataFrame, draws: Mapping[str, np.ndarray], contrast: str
) -> tuple[str, np.ndarray]:
    """Return what a contrast is measured in, and that in every draw, shape (n,).

    Where the noise need have no variance it is that of the distances at hand, shape (1,).
    """
    column = design.spec.results.group
    present, codes = labels_of(table[column], column)
    groups = _measured_in(column, present, contrast)
    of = [codes == present.index(group) for group in groups]
    if has_variance(design.spec):
        each = [total_sd(design, draws, rows) ** 2 for rows in of]
    else:
        each = [np.atleast_1d(np.var(design.y[rows])) for rows in of]
    return _unit(column, groups), np.sqrt(np.mean(each, axis=0))


def _unit(column: str, groups: Sequence[str]) -> str:
    return f"sd of {join_words(groups)} {'pairs' if column == 'connection' else 'rows'}"


def unit_of_sides(contrast: str) -> str:
    """Name what a contrast of connections is measured in where there are no neutral pairs, as in sentence tests.

    Examples
    --------
    >>> unit_of_sides("associated - different")
    'sd of associated and different pairs'
    """
    return _unit("connection", contrast.split(" - "))


def in_full(unit: str) -> str:
    """Name the unit of a standardized contrast as a sentence does.

    Examples
    --------
    >>> in_full("sd of neutral pairs")
    'standard deviations of neutral pairs'
    """
    return unit.replace("sd of", "standard deviations of", 1)


def superiority_draws(
    design: Design, table: pd.DataFrame, draws: Mapping[str, np.ndarray], contrasts: xr.DataArray
) -> xr.DataArray:
    """Return probabilities that a random pair of the first group lies below a random pair of the second.

    Pairs scatter as those of their own class or word do; what belongs to the word is the same for all pairs of one.
    """
    from scipy.special import ndtr

    results = design.spec.results
    foreign = [name for name in PREDICTIVE if name in set(contrasts["estimand"].to_numpy())]
    if foreign:
        raise InputError(
            "single words and pairs have no probability of superiority: their own scatter is in the contrast",
            where="estimand",
            found=foreign[0],
            valid=(*ESTIMANDS, *results.estimands),
        )
    groups = table[results.group].astype(str).to_numpy()
    values = contrasts.to_numpy()
    out = np.empty_like(values)
    present = set(groups)
    known: dict[tuple[str, str, str], np.ndarray] = {}

    def variance(level: str, name: str, group: str) -> np.ndarray:
        if (level, name, group) not in known:
            rows, held = groups == group, tuple[str, ...]()
            if level != "overall":
                by = results.levels[level].by
                rows, held = rows & (table[by].astype(str).to_numpy() == name), (by,)
            sd = total_sd(design, draws, np.flatnonzero(rows), held)
            known[level, name, group] = sd.reshape(values.shape[:2]) ** 2
        return known[level, name, group]

    for row, (level, name, contrast) in enumerate(keys_of_rows(contrasts, "level", "name", "contrast")):
        first, second = sides_of(contrast, present)
        together = variance(level, name, first) + variance(level, name, second)
        out[..., row] = ndtr(-values[..., row] / np.sqrt(together))
    return labelled_draws(out, labels_of_rows(contrasts))
