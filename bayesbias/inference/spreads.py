"""By how much single pairs scatter, under each draw of a model's spreads.

A pair differs from another by every random term that the two do not share, and by the noise. Terms are independent
a priori, so that their variances add up. What is found here depends on the spreads alone and on no effect of a listed
word: given the spreads it is a number.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import FitError
from bayesbias.inference.cells import combinations
from bayesbias.models.design import Design
from bayesbias.models.spec import ModelSpec

__all__ = ["total_sd"]


def has_variance(spec: ModelSpec) -> bool:
    """Whether single pairs have a variance under every draw; with Student-t noise they need not."""
    return spec.likelihood == "Normal"


def check_normal_noise(spec: ModelSpec, what: str) -> None:
    """Refuse to give a variance that there need not be."""
    if not has_variance(spec):
        raise FitError(f"{what} need normal noise, and {spec.label} has another")


def term_variances(
    design: Design, draws: Mapping[str, np.ndarray], rows: np.ndarray
) -> dict[str, np.ndarray]:
    """Return draws of the variance of every random term, on average over some rows.

    Parameters
    ----------
    design : Design
    draws : Mapping of str to ndarray, shape (n, shape of the parameter)
    rows : ndarray
        Which rows of the table: a mask, or numbers.

    Returns
    -------
    dict of str to ndarray, shape (n,) or (1,)
        Location parameter -> its variance; of random slopes times the mean square of the number they are multiplied by.
    """
    spec = design.spec
    out = {}
    for name in spec.location_parameters():
        if spec.is_random(name):
            parameter = spec.parameters[name]
            entries = design.parent[name, "sigma"][design.index[name][rows]]
            factor = (
                None if parameter.times is None else (parameter.times, design.index[parameter.times][rows])
            )
            lever = design.lever(name, rows)
            out[name] = _variance(draws, parameter.args["sigma"], entries, factor, lever)
    return out


def noise_variance(design: Design, draws: Mapping[str, np.ndarray], rows: np.ndarray) -> np.ndarray:
    """Return draws of the variance of the noise, on average over some rows, shape (n,) or (1,)."""
    sigma = design.spec.noise["sigma"]
    return _variance(draws, sigma, design.index[sigma][rows] if isinstance(sigma, str) else rows)


def total_sd(
    design: Design, draws: Mapping[str, np.ndarray], rows: np.ndarray, held: Collection[str] = ()
) -> np.ndarray:
    """Return draws of the standard deviation of single pairs around the mean of their kind and classes.

    Its square is the sum of the variances of all random terms that the pairs take part in, and of the noise; the
    square root of ``var(y) = sum_k sigma_k ** 2 + sigma ** 2`` of a model with independent effects. A term that is one
    and the same for all the pairs moves their mean and is no part of it, unless it belongs to a word, of which another
    could be drawn. Nor is what belongs to classes alone where the model holds those to be all there are
    (``results.fixed``): as in a pooled standard deviation, groups are taken around their own means.

    Parameters
    ----------
    design : Design
    draws : Mapping of str to ndarray, shape (n, shape of the parameter)
    rows : ndarray
        Which rows of the table: a mask, or numbers. Where spreads differ between the rows, variances are averaged.
    held : collection of str
        Columns of which no other label could be drawn: ``protected_word`` where the rows are those of one word.

    Returns
    -------
    ndarray, shape (n,)

    Raises
    ------
    FitError
        For a model with Student-t noise, which need not have a variance.

    Examples
    --------
    >>> import bayesbias as bb
    >>> fit = bb.fit(bb.distance_table("minilm-static", "religion"), seed=1, draws=200, pointwise=False)
    >>> neutral = (fit.table["connection"] == "neutral").to_numpy()
    >>> sd = bb.inference.total_sd(fit.design, fit.draws(), neutral)
    >>> sd.shape, bool(abs(sd.mean() - fit.table["distance"][neutral].std()) < 0.01)
    ((800,), True)
    """
    rows = np.asarray(rows)
    if rows.ndim != 1 or rows.dtype.kind not in "biu":
        raise checks.wrong_kind(rows, "rows", "a mask of the rows of the table, or their numbers")
    held = [checks.text(column, "held") for column in checks.several(held, "column", "held")]
    spec = design.spec
    check_normal_noise(spec, "standard deviations of pairs")
    # Of what is all there is, such as the classifiers of a table, no other could be drawn either.
    free = set(design.units) - {*held, *spec.results.fixed}
    parts = [noise_variance(design, draws, rows)]
    for name, variance in term_variances(design, draws, rows).items():
        lever = design.lever(name, rows)
        differs = np.ptp(design.index[name][rows]) > 0 or (lever is not None and np.ptp(lever) > 0)
        # Of what is all there is, no pair has another than its own: how classes differ is no scatter of pairs. With two
        # classes their spread would be little but its prior, which knows no unit.
        dims = set(spec.parameters[name].dims)
        if free & dims or (differs and dims - set(spec.results.fixed)):
            parts.append(variance)
    lines = []
    for name in spec.mu:
        covariate = spec.parameters[name].covariate
        if covariate is not None and not spec.is_random(name):
            slopes = draws[name].reshape(len(draws[name]), -1)[:, design.index[name][rows]]
            lines.append(slopes * design.lever(name, rows))
    if lines:  # words lie along one line, whichever slopes it is the sum of
        parts.append(np.sum(lines, axis=0).var(axis=1))
    n = len(next(iter(draws.values())))
    return np.sqrt(np.broadcast_to(sum(np.broadcast_to(part, n) for part in parts), n))


def _variance(
    draws: Mapping[str, np.ndarray],
    spread: float | str,
    entries: np.ndarray,
    factor: tuple[str, np.ndarray] | None = None,
    lever: np.ndarray | None = None,
) -> np.ndarray:
    if not isinstance(spread, str):
        return np.array([spread**2])
    flat = draws[spread].reshape(len(draws[spread]), -1)
    used, which = combinations([entries] if factor is None else [entries, factor[1]])
    weights = np.bincount(which, None if lever is None else lever**2) / len(entries)
    own = flat[:, used[0]]
    if factor is not None:
        own = own * draws[factor[0]].reshape(len(flat), -1)[:, used[1]]
    return own**2 @ weights
