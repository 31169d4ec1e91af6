"""The SD of single pairs under each draw of the SDs, and contrasts measured in it.

A pair differs from another by every random term that the two do not share, and by the noise. Terms
are independent a priori, so that their variances add up. Given the scales the result is a number.

Distances of one set of vectors vary more than those of another. So a standardized contrast is
divided, draw by draw, by the standard deviation of single pairs (`total_sd`), as in Cohen's d: of
neutral pairs or, without them, of the pairs of the two connections. The probability of superiority
needs no unit: how often a random pair of the first connection has a smaller distance than one of
the second. Of normal pairs it is Phi(-difference / sqrt(var_1 + var_2)), the common language effect
size of McGraw & Wong (1992, Psychological Bulletin 111: 361-365).
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.core import FitError, checks, join_words
from bayesbias.inference.estimands import PREDICTIVE, sides_of
from bayesbias.inference.estimates import Answer, keys_of_rows, labeled_draws, labels_of_rows
from bayesbias.models.design import Arrays, Design
from bayesbias.models.spec import ModelSpec

if TYPE_CHECKING:
    import xarray as xr

_YARDSTICK = "neutral"


def has_variance(spec: ModelSpec) -> bool:
    """Whether single pairs have a variance under every draw; with Student-t noise they need not."""
    return spec.outcome_type.normal


def has_fixed_slope(spec: ModelSpec, name: str) -> bool:
    """Whether a term is a slope on a covariate that is no random effect."""
    return spec.parameters[name].covariate is not None and not spec.is_random(name)


def check_normal_noise(spec: ModelSpec, what: str) -> None:
    """Refuse to give a variance that there need not be."""
    if not has_variance(spec):
        raise FitError(
            f"{what}: expected normal noise, got {spec.likelihood} of {spec.label}. Fit another model."
        )


def term_variances(design: Design, draws: Arrays, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Return draws of the variance of every random term, and of noise under the name ``""``.

    All are on the scale of the linear predictor. Variances are averaged over some rows, a mask or numbers. The variance of random slopes is
    multiplied by the mean square of the covariate.
    """
    spec = design.spec

    def mean_square(sd: str, entries: np.ndarray, lever: np.ndarray | None = None) -> np.ndarray:
        flat = draws[sd].reshape(len(draws[sd]), -1)
        by = None if lever is None else lever**2
        weights = np.bincount(entries, by, minlength=flat.shape[1])
        used = np.flatnonzero(weights)
        return flat[:, used] ** 2 @ (weights[used] / len(entries))

    out = {}
    for name in filter(spec.is_random, spec.location_parameters()):
        entries = design.parent[name, "sigma"][design.index[name][rows]]
        sd = str(spec.parameters[name].args["sigma"])
        out[name] = mean_square(sd, entries, design.lever(name, rows))
    sigma = spec.noise.get("sigma")
    if isinstance(sigma, str):
        out[""] = mean_square(sigma, design.index[sigma][rows])
    elif sigma is not None:
        out[""] = np.array([sigma**2])
    elif design.outcome_type.noise_variance is not None:
        out[""] = np.array([design.outcome_type.noise_variance])
    return out


def variance_of_sum(
    design: Design, draws: Arrays, weights: np.ndarray, held: Collection[str] = ()
) -> np.ndarray:
    r"""Return draws of the variance that the random terms give a weighted sum of rows.

    It is :math:`\sum_k \sigma_k^2 \sum_{j \in k} (\sum_{r \in j} c_r)^2` with weights :math:`c_r`,
    over standard deviations k and the entries j that have them.

    Parameters
    ----------
    design : Design
    draws : Mapping of str to ndarray
        Draws of the standard deviations.
    weights : ndarray, shape (n_rows,)
    held : collection of str
        Terms that are kept as they are, and add no variance.
    """
    return _weighted_squares(design, draws, weights, None, held)


def variance_of_independent(
    design: Design,
    draws: Arrays,
    weights: np.ndarray,
    alone: np.ndarray,
    held: Collection[str] = (),
) -> np.ndarray:
    r"""Return the same of a sum whose rows had effects of their own.

    What cancels in the sum counts for neither: with :math:`a_r` the square that a row has alone,
    each standard deviation counts :math:`\min(\sum_{j \in k} (\sum_{r \in j} c_r)^2, \sum_{r \in k}
    a_r)`.
    """
    return _weighted_squares(design, draws, weights, alone, held)


def _weighted_squares(
    design: Design,
    draws: Arrays,
    weights: np.ndarray,
    most: np.ndarray | None,
    held: Collection[str],
) -> np.ndarray:
    total = np.zeros(len(next(iter(draws.values()))))
    for name in filter(design.spec.is_random, design.spec.mu):
        if name in held:
            continue
        sd, entries = str(design.spec.parameters[name].args["sigma"]), design.index[name]
        flat, of_entry = draws[sd].reshape(len(total), -1), design.parent[name, "sigma"]
        squares = np.bincount(entries, weights, len(of_entry)) ** 2
        sums = np.bincount(of_entry, squares, flat.shape[1])
        if most is not None:
            sums = np.minimum(sums, np.bincount(of_entry[entries], most, flat.shape[1]))
        total += flat**2 @ sums
    return total


def total_sd(
    design: Design, draws: Arrays, rows: np.ndarray, held: Collection[str] = ()
) -> np.ndarray:
    """Return draws of the SD of single pairs around the mean of their kind and classes.

    Its square is the sum of the variances of all random terms that the pairs take part in, and of
    the noise; the square root of ``var(y) = sum_k sigma_k ** 2 + sigma ** 2`` of a model with
    independent effects. A term that is one and the same for all the pairs moves their mean and is
    no part of it, unless it belongs to a word, of which another could be drawn. Nor is what belongs
    to classes alone where the model holds those to be all there are (``results.fixed``): as in a
    pooled standard deviation, groups are taken around their own means.

    Parameters
    ----------
    design : Design
    draws : Mapping of str to ndarray, shape (n, shape of the parameter)
    rows : ndarray
        Which rows of the table: a mask, or numbers. Variances are averaged over them.
    held : collection of str
        Columns of which no other label could be drawn: ``protected_word`` if the rows are those of
        one word.

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
    >>> table = bb.distance_table("minilm-static", "religion")
    >>> fit = bb.fit(table, seed=1, draws=200)
    >>> neutral = (fit.table["connection"] == "neutral").to_numpy()
    >>> sd = total_sd(fit.design, fit.parameter_draws(), neutral)
    >>> sd.shape, bool(abs(sd.mean() - fit.table["distance"][neutral].std()) < 0.01)
    ((800,), True)
    """
    spec = design.spec
    check_normal_noise(spec, "standard deviations of pairs")
    # Nor could others be drawn of what is fixed, such as the classifiers of a table.
    free = set(design.units) - {*held, *spec.results.fixed}
    of_terms = term_variances(design, draws, rows)
    parts = [of_terms.pop("")]
    for name, variance in of_terms.items():
        lever = design.lever(name, rows)
        differs = np.ptp(design.index[name][rows]) > 0 or (lever is not None and np.ptp(lever) > 0)
        # How fixed classes differ is no variance of pairs. With two classes their SD would be
        # little but its prior, which knows no unit.
        dims = set(spec.parameters[name].dims)
        if free & dims or (differs and dims - set(spec.results.fixed)):
            parts.append(variance)
    n = len(next(iter(draws.values())))
    slopes, levers = [], []
    for name in spec.mu:
        if has_fixed_slope(spec, name):
            at = design.index[name][rows]
            slopes.append(draws[name].reshape(n, -1))
            lever = np.asarray(design.lever(name, rows))[:, None]
            levers.append((at[:, None] == np.arange(design.size(name))) * lever)
    if slopes:  # words lie along one line b x, whichever slopes it is the sum of
        b, covariance = np.hstack(slopes), np.cov(np.hstack(levers), rowvar=False, bias=True)
        parts.append(((b @ np.atleast_2d(covariance)) * b).sum(axis=1))
    return np.sqrt(np.broadcast_to(sum(np.broadcast_to(part, n) for part in parts), n))


def variance_partition_draws(
    design: Design, draws: Arrays, chains: int, group: str | None
) -> xr.DataArray:
    """Return draws of the shares of `BiasFit.variance_partition`, labeled ``source``."""
    spec = design.spec
    check_normal_noise(spec, "shares of variance")
    labels, codes = design.labels(spec.results.group)
    if group is not None:
        checks.choice(group, labels, str(spec.results.group).replace("_", " "))
    rows = np.ones(len(codes), dtype=bool) if group is None else codes == labels.index(group)
    sources: dict[str, np.ndarray] = {}
    of_terms = term_variances(design, draws, rows)
    noise = of_terms.pop("")
    for name, variance in of_terms.items():
        dims = [dim for dim in spec.parameters[name].dims if dim not in spec.results.fixed]
        source = " x ".join(sorted(dims)) or name
        sources[source] = sources.get(source, np.zeros(1)) + variance
    sources["residual"] = noise
    n = len(next(iter(draws.values())))
    parts = np.stack([np.broadcast_to(part, n) for part in sources.values()], axis=-1)
    shares = parts / parts.sum(axis=-1, keepdims=True)
    return labeled_draws(shares.reshape(chains, -1, len(sources)), {"source": list(sources)})


def pair_sd(
    design: Design, draws: Arrays, contrast: str, compared: Sequence[str] | None = None
) -> tuple[str, np.ndarray]:
    """Return what a contrast is measured in, and its value in every draw, shape (n,).

    `compared` are the groups of results that it is of; by default those that it is named after.
    """
    column = design.spec.results.group
    groups = _yardsticks(design, contrast, compared)
    each = [total_sd(design, draws, rows) ** 2 for rows in groups.values()]
    rows_are = "pairs" if column == "connection" else "rows"
    return f"sd of {join_words([*groups])} {rows_are}", np.sqrt(np.mean(each, axis=0))


def sd_of_rows(design: Design, contrast: str) -> float:
    """Return the SD of the outcomes of the rows that a contrast is measured in."""
    groups = _yardsticks(design, contrast)
    return float(np.sqrt(np.mean([design.y[rows].var() for rows in groups.values()])))


def _yardsticks(
    design: Design, contrast: str, compared: Sequence[str] | None = None
) -> dict[str, np.ndarray]:
    """Return the groups whose SD a contrast is measured in, and a mask of the rows of each."""
    column = design.spec.results.group
    present, codes = design.labels(column)
    groups: Sequence[str]
    if column == "connection" and _YARDSTICK in present:
        groups = (_YARDSTICK,)
    elif compared is not None:
        groups = compared
    else:
        groups = sides_of(contrast, present)
    return {group: codes == present.index(group) for group in groups}


def standardized(design: Design, answer: Answer) -> Answer:
    """Divide contrasts by the SD of pairs under the same draw, and add the label ``unit``.

    The SD t is a function of the scales. Given them, a normal N(mu, s) divided by t is N(mu / t, s
    / t).
    """
    contrasts, draws, mixtures, observed = answer
    shape = contrasts.shape[:2]
    names = contrasts["contrast"].to_numpy().tolist()
    each = {name: pair_sd(design, draws, name) for name in dict.fromkeys(names)}
    n = shape[0] * shape[1]
    sd = np.stack([np.broadcast_to(each[k][1], n).reshape(shape) for k in names], axis=-1)
    labels = {**labels_of_rows(contrasts), "unit": [each[name][0] for name in names]}
    if mixtures is not None:
        by = sd[..., mixtures.quantity]
        mixtures = replace(mixtures, mean=mixtures.mean / by, sd=mixtures.sd / by)
    if observed is not None:
        observed = observed * (1 / sd).mean(axis=(0, 1))
    return Answer(labeled_draws(contrasts.to_numpy() / sd, labels), draws, mixtures, observed)


def means_in_sd(
    design: Design, answer: Answer, compared: Sequence[str] | None = None
) -> np.ndarray:
    """Return the means of `standardized` alone, one for each row; `compared` as in `pair_sd`."""
    contrasts, draws, mixtures, _ = answer
    shape = contrasts.shape[:2]
    names = contrasts["contrast"].to_numpy()
    out = np.empty(len(names))
    for name in dict.fromkeys(names.tolist()):
        _, sd = pair_sd(design, draws, name, compared)
        inverse = 1 / np.broadcast_to(sd, shape[0] * shape[1]).reshape(shape)
        rows = names == name
        if mixtures is None:
            values = contrasts.to_numpy()[..., rows]
            out[rows] = np.einsum("cdr,cd->r", values, inverse) / inverse.size
            continue

        parts = rows[mixtures.quantity]
        means = np.einsum("cdp,cd->p", mixtures.mean[..., parts], inverse) / inverse.size
        weighted = mixtures.weight[parts] * means
        out[rows] = np.bincount(mixtures.quantity[parts], weighted, minlength=len(names))[rows]
    return out


def superiority_draws(design: Design, answer: Answer) -> xr.DataArray:
    """Return draws of the probability that a pair of the first group has the smaller outcome.

    At the level of a class or word both pairs are its own; what belongs to a word is the same for
    all its pairs. Differences between classes have no such pairs, and no rows.
    """
    from scipy.special import ndtr

    contrasts, draws = answer[:2]
    results = design.spec.results
    own = np.isin(contrasts["level"].to_numpy(), ["overall", *results.levels])
    contrasts = contrasts.isel(row=np.flatnonzero(own))
    if not contrasts.sizes["row"]:
        raise FitError(
            "probability_of_superiority: expected a level of pairs, got differences of classes"
        )
    if set(contrasts["estimand"].to_numpy()) & set(PREDICTIVE):
        raise FitError(
            "probability_of_superiority: expected population or listed_words, got one_new_word or "
            "one_new_pair. Name another estimand."
        )
    present, groups = design.labels(results.group)
    values = contrasts.to_numpy()

    @functools.cache
    def variance(level: str, name: str, group: str) -> np.ndarray:
        rows, held = groups == present.index(group), list[str]()
        if level != "overall":
            by = results.levels[level].by
            rows, held = rows & (design.codes[by] == design.coords[by].index(name)), [by]
        return total_sd(design, draws, np.flatnonzero(rows), held) ** 2

    out = np.empty_like(values)
    keys = keys_of_rows(contrasts, "level", "name", "contrast")
    for row, (level, name, contrast) in enumerate(keys):
        both = sum(variance(level, name, side) for side in sides_of(contrast, present))
        out[..., row] = ndtr(-values[..., row] / np.sqrt(both).reshape(values.shape[:2]))
    return labeled_draws(out, labels_of_rows(contrasts))
