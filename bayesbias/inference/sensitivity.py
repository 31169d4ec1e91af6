r"""How far a result rests on a prior: the contrasts with each prior half and twice as wide.

Draws of the posterior are weighted by :math:`p_\text{new}(\theta) / p_\text{old}(\theta)`, the weights smoothed by a
generalized Pareto distribution (Vehtari, Simpson, Gelman, Yao & Gabry 2024, *Journal of Machine Learning Research* 25:72);
the idea of asking it of every fit is that of Kallioinen, Paananen, Bürkner & Vehtari (2024, *Statistics and Computing* 34:57).

Of a collapsed fit only the scales are weighted. For a prior of a scale the ratio is that of the two prior densities. For a
prior of a location it is the ratio of the two collapsed densities, :math:`p_\text{new}(y|\theta) / p_\text{old}(y|\theta)`,
and the effects come from their exact posterior under the new prior: far steadier than weights on the effects. Given the scales
contrasts are normal, so that means and widths under either prior are those of weighted mixtures of normals
(`bayesbias.inference.mixtures`), and nothing of them is drawn.

Where weights cannot be trusted (Pareto k above :math:`\min(0.7, 1 - 1 / \log_{10} S)` for S draws, the rule of the paper on
smoothing, or a Monte Carlo error above a tenth of an sd) the collapsed model is fitted again with the changed prior. Unless it
is asked for, not for the factors that terms of the mean are multiplied by: a spread takes up what their common level leaves,
so that weights on a wider prior of them often fail although contrasts hardly move.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core.errors import FitError
from bayesbias.inference.answers import MOST_MIXED
from bayesbias.inference.collapsed import Collapsed, collapse
from bayesbias.inference.contrasts import contrasted_groups, no_contrasts
from bayesbias.inference.estimands import PROB, Rows, contrast_rows, mean_rows, times_of
from bayesbias.inference.from_arviz import LEAST_TO_SMOOTH, pareto_smoothed
from bayesbias.inference.linear import joined
from bayesbias.inference.mixing import standard_errors
from bayesbias.inference.mixtures import mixture_interval, mixture_mean_sd
from bayesbias.inference.moments import conditional_moments
from bayesbias.inference.sampling import (
    FEWEST_TO_THIN,
    MOST_CUBES_TO_THIN,
    sample_collapsed,
)
from bayesbias.models.design import Design
from bayesbias.models.distributions import DISTRIBUTIONS
from bayesbias.models.spec import ModelSpec
from bayesbias.models.stretching import arguments_stretched, stretchable

if TYPE_CHECKING:
    import pandas as pd

LARGE_SHIFT = 0.5
"""The shift of a contrast, in its posterior sd, from which on a result is said to rest on a prior."""
_LEAST_DRAWS = 2  # of which a spread and an error can be told
DIRECTIONS: Mapping[str, float] = {"halved": 0.5, "doubled": 2.0}
MOST_PARETO_K = 0.7
LARGEST_ERROR = 0.1  # of a shift, in sd: a fifth of what counts as large
# A changed prior of a location costs two evaluations of the density a draw, where one of a scale costs none.
_MOST_DRAWS = 500
_FEWEST_DRAWS = 200
_SHORT = {"draws": FEWEST_TO_THIN - 1, "tune": 500}  # of a refit, before one with the settings of the fit


@dataclass(frozen=True, eq=False)
class _Contrasts:
    """The contrasts that are looked at: what they are called, and how they follow from parameters.

    Where groups are no connections, as of sentiment, their overall means come first.
    """

    design: Design
    table: pd.DataFrame

    @functools.cached_property
    def rows(self) -> Rows:
        """The contrasts, which are no mixtures, as functions of the effects."""
        group = self.design.spec.results.group
        means = mean_rows(self.design, self.table, "population")
        known = contrast_rows(means, contrasted_groups(group, self.table[group].astype(str)))
        parts = []
        if group != "connection":
            parts.append(means.chosen([place for place, key in enumerate(means.keys) if key[0] == "overall"]))
        if known.keys:
            first = known.keys[0][2]
            main = [k for k, key in enumerate(known.keys) if key[0] == "overall" or key[2] == first]
            parts.append(known.chosen(main))
        if not parts:
            raise no_contrasts(self.design.spec)
        keys = [key for part in parts for key in part.keys]
        linear = joined([part.linear for part in parts])
        return Rows(keys, linear, np.arange(len(keys)), np.ones(len(keys)))

    def of(self, draws: Mapping[str, np.ndarray]) -> tuple[list[tuple[str, str, str]], np.ndarray]:
        """Return level, name and contrast of each, and their values, shape (draws, contrasts)."""
        return self.rows.keys, self.rows.linear.draws(draws, times_of(self.design))


@dataclass(frozen=True, eq=False)
class _Normals:
    """The contrasts given each draw: normal around `mean`; a sd of zero where draws are of the contrasts themselves."""

    mean: np.ndarray
    sd: np.ndarray

    def chosen(self, some: np.ndarray) -> _Normals:
        """Return those of some draws."""
        return _Normals(self.mean[some], self.sd[some])

    @functools.cached_property
    def width(self) -> np.ndarray:
        """The width of the shortest interval of each contrast."""
        return self.width_under(np.full(len(self.mean), 1 / len(self.mean)))

    def width_under(self, weights: np.ndarray) -> np.ndarray:
        """Return the same under weights on the draws."""
        normal = (self.sd > 0).all(axis=0)
        out = np.empty(len(normal))
        out[~normal] = weighted_width(self.mean[:, ~normal], weights, PROB)
        if normal.any():
            some = np.unique(np.linspace(0, len(self.mean) - 1, MOST_MIXED).astype(int))
            own = weights[some] / weights[some].sum()
            low, high = mixture_interval(self.mean[some][:, normal], self.sd[some][:, normal], PROB, own)
            out[normal] = high - low
        return out

    def spread(self) -> np.ndarray:
        """Return the sd of each contrast."""
        return mixture_mean_sd(self.mean, self.sd)[1]


def main_contrasts(design: Design, table: pd.DataFrame) -> _Contrasts:
    """Choose the main contrasts: overall all of them, at each level that is not of single units the first."""
    results = design.spec.results
    levels = {
        name: level for name, level in results.levels.items() if not set(design.spec.units) & {level.by}
    }
    spec = replace(design.spec, results=replace(results, levels=levels))
    return _Contrasts(replace(design, spec=spec), table)


def prior_sensitivity(
    design: Design,
    table: pd.DataFrame,
    draws: Mapping[str, np.ndarray],
    sampler: Mapping[str, Any],
    chains: int,
    refit: bool | None = None,
) -> pd.DataFrame:
    """Return the table of `BiasFit.prior_sensitivity`: what becomes of the main contrasts under wider and narrower priors.

    Each prior of the model file in turn that has a width of its own: the sd of a normal prior, the scale of a half-normal
    one and its like, the mean of an exponential one is halved and doubled.

    Parameters
    ----------
    design : Design
    table : DataFrame
        The rows the design was laid over.
    draws : Mapping of str to ndarray, shape (chains * draws, *shape of the parameter)
    sampler : Mapping
        As in the provenance of a fit: ``method`` and the settings.
    chains : int
    refit : bool, optional
        Whether to fit again where weights cannot be trusted; by default where an evaluation of the collapsed density
        takes less than some tenth of a millisecond.

    Returns
    -------
    DataFrame
        One row per prior, direction (``halved``, ``doubled``) and contrast for new words like these: all of them overall,
        the first at levels of several words. Where groups are no connections, the overall mean of each as well. Columns:
        ``parameter, direction, level, name, contrast, mean_before, mean_after, shift_in_sd, error, width_ratio, pareto_k, how,
        engine``. The shift is in sd of the posterior at hand, `error` is its Monte
        Carlo error in the same unit, `width_ratio` that of the 89 % intervals, new to old. `pareto_k` is above 0.7 (of
        fewer draws somewhat less) where weights cannot be trusted; `how` then says ``refit``, and `engine` what sampled it:
        ``quick``, or ``nuts`` where the quick engine gave up. Where there was none it says
        ``not_refitted``, and where the refit is not to be trusted either ``unknown``, and the numbers are NaN. Without any
        difference between weights `pareto_k` is ``-inf``.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> frame = bb.fit(table, "crossed", seed=1, draws=500, pointwise=False).prior_sensitivity()
    >>> list(frame["parameter"].unique()), sorted(frame["how"].unique())
    (['connection_mean', 'word_by_connection_sd', 'attribute_sd', 'sigma'], ['weights'])
    """
    import pandas as pd

    if (n := len(next(iter(draws.values())))) < _LEAST_DRAWS:
        raise FitError(
            f"what rests on a prior is told from {_LEAST_DRAWS} draws or more, of all chains, and here is {n}"
        )
    spec = design.spec
    contrasts = main_contrasts(design, table)
    reduced = collapse(design) if sampler.get("method") == "collapsed" else None
    weighing = _Weighing(contrasts, reduced, draws, chains, sampler)
    if refit is None:
        refit = reduced is not None and _cubes(reduced) <= MOST_CUBES_TO_THIN
    elif refit and reduced is None:
        raise FitError(
            f"only a collapsed fit is fitted again with another prior; {spec.label} was sampled pair by pair"
        )
    keys = contrasts.rows.keys
    sd = weighing.normals.spread()
    before = weighing.normals.mean.mean(axis=0)
    rows = []
    for name in stretchable(spec):
        for direction, factor in DIRECTIONS.items():
            changed = _with_prior(spec, name, factor)
            answer = weighing.weighed(changed, name, sd)
            again = refit and not answer.trusted
            if again:
                answer = weighing.fitted_again(changed, sd, answer.pareto_k, short=True)
                if not answer.trusted:
                    answer = weighing.fitted_again(changed, sd, answer.pareto_k, short=False)
            how = answer.how if answer.trusted else "unknown" if again else "not_refitted"
            for place, (level, label, contrast) in enumerate(keys):
                shift, error, ratio = (
                    (answer.shift[place], answer.error[place], answer.width_ratio[place])
                    if answer.trusted
                    else (np.nan, np.nan, np.nan)
                )
                rows.append(
                    {
                        "parameter": name,
                        "direction": direction,
                        "level": level,
                        "name": label,
                        "contrast": contrast,
                        "mean_before": before[place],
                        "mean_after": before[place] + shift * sd[place],
                        "shift_in_sd": shift,
                        "error": error,
                        "width_ratio": ratio,
                        "pareto_k": answer.pareto_k,
                        "how": how,
                        "engine": answer.engine if answer.trusted else "",
                    }
                )
    return pd.DataFrame(rows, columns=COLUMNS)


COLUMNS = [
    "parameter",
    "direction",
    "level",
    "name",
    "contrast",
    "mean_before",
    "mean_after",
    "shift_in_sd",
    "error",
    "width_ratio",
    "pareto_k",
    "how",
    "engine",
]


@dataclass(frozen=True, eq=False)
class _Answer:
    """What another prior does to each contrast; shift and its Monte Carlo error in sd of the posterior at hand."""

    shift: np.ndarray
    error: np.ndarray
    width_ratio: np.ndarray
    pareto_k: float
    how: str
    trusted: bool
    engine: str = ""  # of a refit


@dataclass(frozen=True, eq=False)
class _AtHand:
    """Draws of the log-scales, and under the prior at hand their log-density and the contrasts."""

    theta: np.ndarray
    density: np.ndarray
    normals: _Normals


class _Weighing:
    """A posterior at hand, to be asked what it would be under other priors."""

    def __init__(
        self,
        contrasts: _Contrasts,
        reduced: Collapsed | None,
        draws: Mapping[str, np.ndarray],
        chains: int,
        sampler: Mapping[str, Any],
    ) -> None:
        self.contrasts, self.reduced, self.draws = contrasts, reduced, draws
        self.chains, self.sampler = chains, sampler
        if reduced is None:
            values = contrasts.of(draws)[1]
            self.normals = _Normals(values, np.zeros_like(values))
        else:
            n = len(draws[reduced.scales[0]])
            self.theta = np.concatenate(
                [np.log(draws[name]).reshape(n, -1) for name in reduced.scales], axis=1
            )
            self.normals = self.given(reduced, self.theta)

    def given(self, reduced: Collapsed, theta: np.ndarray) -> _Normals:
        """Return the contrasts given the scales, exactly."""
        mean, variance = conditional_moments(reduced, theta, self.contrasts.rows.linear)
        return _Normals(mean, np.sqrt(np.maximum(variance, 0.0)))

    def weighed(self, changed: ModelSpec, name: str, sd: np.ndarray) -> _Answer:
        """Answer by weights; where the prior of a location changes, on some of the draws, on all where these are too few."""
        old, new = self.contrasts.design.spec.parameters[name], changed.parameters[name]
        if self.reduced is None or old.positive:
            ratio = self._log_prior(name, new.args) - self._log_prior(name, old.args)
            return self._answer(ratio, self.normals, self.normals, sd)
        reduced = collapse(replace(self.reduced.design, spec=changed))
        answer = self._at_another(reduced, self._few, sd)
        if not answer.trusted and _cubes(reduced) <= MOST_CUBES_TO_THIN:
            answer = self._at_another(reduced, self._all, sd)
        return answer

    def _at_another(self, reduced: Collapsed, draws: _AtHand, sd: np.ndarray) -> _Answer:
        """Answer by weights on some draws of the scales, and by the contrasts given these under the new prior."""
        ratio = reduced.log_densities(draws.theta) - draws.density
        return self._answer(ratio, draws.normals, self.given(reduced, draws.theta), sd)

    def _answer(self, ratio: np.ndarray, old: _Normals, new: _Normals, sd: np.ndarray) -> _Answer:
        """Weight by a log-ratio: the contrasts given the draws under the old prior and the new one."""
        weights, k = smoothed_weights(ratio)
        shift = weights @ new.mean - old.mean.mean(axis=0)
        # The influence of each draw on the shift: the error of a ratio of two means.
        influence = len(weights) * weights[:, None] * (new.mean - weights @ new.mean)
        influence -= old.mean - old.mean.mean(axis=0)
        error = _standard_error(influence.reshape(self.chains, -1, len(sd)))
        widths = old.width, new.width_under(weights)
        limit = min(MOST_PARETO_K, 1 - 1 / np.log10(len(weights)))
        trusted = bool(k <= limit and (error <= LARGEST_ERROR * sd).all())
        return _Answer(_over(shift, sd), _over(error, sd), _over(widths[1], widths[0]), k, "weights", trusted)

    def fitted_again(self, changed: ModelSpec, sd: np.ndarray, k: float, short: bool) -> _Answer:
        """Answer by a fit with the changed prior; a short one has few draws, whose exact conditional means say enough."""
        assert self.reduced is not None
        names = ("draws", "tune", "chains", "seed")
        settings = {name: self.sampler[name] for name in names} | {"engine": "quick"}
        settings["target_accept"] = self.sampler.get("target_asked")
        if short:
            settings |= {name: min(settings[name], most) for name, most in _SHORT.items()}
        reduced = collapse(replace(self.reduced.design, spec=changed))
        cores = min(int(settings["chains"]), os.cpu_count() or 1)
        idata = sample_collapsed(reduced, settings, cores)
        posterior = idata["posterior"]
        scales = [posterior[name].transpose("chain", "draw", ...).to_numpy() for name in reduced.scales]
        theta = np.concatenate([np.log(x).reshape(x.shape[0] * x.shape[1], -1) for x in scales], axis=1)
        again = self.given(reduced, theta)
        errors = [
            _standard_error(x.reshape(chains, -1, len(sd)))
            for x, chains in ((again.mean, posterior.sizes["chain"]), (self.normals.mean, self.chains))
        ]
        error = np.hypot(*errors)
        return _Answer(
            _over(again.mean.mean(axis=0) - self.normals.mean.mean(axis=0), sd),
            _over(error, sd),
            _over(again.width, self.normals.width),
            k,
            "refit",
            bool((error <= LARGEST_ERROR * sd).all()),
            str(settings["engine"]["name"]),
        )

    @functools.cached_property
    def _few(self) -> _AtHand:
        assert self.reduced is not None
        return self._at_hand(self._some(_cubes(self.reduced)))

    @functools.cached_property
    def _all(self) -> _AtHand:
        return self._at_hand(np.arange(len(self.theta)))

    def _at_hand(self, some: np.ndarray) -> _AtHand:
        assert self.reduced is not None
        theta = self.theta[some]
        return _AtHand(theta, self.reduced.log_densities(theta), self.normals.chosen(some))

    def _some(self, cubes: float) -> np.ndarray:
        """Choose draws evenly, as many of each chain: fewer where an evaluation of the density costs much."""
        per_chain = len(self.theta) // self.chains
        wanted = max(_FEWEST_DRAWS, int(_MOST_DRAWS * min(1.0, MOST_CUBES_TO_THIN / cubes)))
        kept = np.unique(np.linspace(0, per_chain - 1, max(1, wanted // self.chains)).astype(int))
        return (np.arange(self.chains)[:, None] * per_chain + kept).ravel()

    def _log_prior(self, name: str, args: Mapping[str, float | str]) -> np.ndarray:
        return log_prior_draws(self.contrasts.design, self.draws, name, args)


def log_prior_draws(
    design: Design, draws: Mapping[str, np.ndarray], name: str, args: Mapping[str, float | str] | None = None
) -> np.ndarray:
    """Return the log prior density of all entries of a parameter, given its parents, shape (draws,).

    `args` are in place of those of the model.
    """
    parameter = design.spec.parameters[name]
    values: dict[str, Any] = {}
    for arg, value in (parameter.args if args is None else args).items():
        if isinstance(value, str):
            values[arg] = draws[value].reshape(len(draws[value]), -1)[:, design.parent[name, arg]]
        else:
            values[arg] = value
    log_density = DISTRIBUTIONS[parameter.distribution].log_density
    assert log_density is not None
    return log_density(draws[name].reshape(len(draws[name]), -1), **values).sum(axis=1)


def smoothed_weights(log_ratio: np.ndarray) -> tuple[np.ndarray, float]:
    """Return importance weights that sum to one, their tail smoothed, and the Pareto k of it.

    Parameters
    ----------
    log_ratio : ndarray, shape (draws,)

    Returns
    -------
    weights : ndarray, shape (draws,)
    pareto_k : float
        ``-inf`` where all weights are the same to the last digits, so that there is no tail; infinite where a ratio is
        not finite, and of fewer draws than have a tail.
    """
    even = np.full(len(log_ratio), 1 / len(log_ratio))
    if not np.isfinite(log_ratio).all():
        return even, np.inf
    if np.ptp(log_ratio) < _SAME and len(log_ratio) > 1:
        return even, -np.inf
    if len(log_ratio) < LEAST_TO_SMOOTH:
        return even, np.inf
    log_weights, k = pareto_smoothed(log_ratio)
    weights = np.exp(log_weights - float(log_weights.max()))
    return weights / weights.sum(), k


_SAME = 1e-9


def weighted_width(values: np.ndarray, weights: np.ndarray, prob: float) -> np.ndarray:
    """Return the width of the shortest interval of each column that holds some of the weight.

    Parameters
    ----------
    values : ndarray, shape (draws, n)
    weights : ndarray, shape (draws,)
        They sum to one.
    """
    out = np.empty(values.shape[1])
    for column in range(values.shape[1]):
        order = np.argsort(values[:, column])
        ordered, held = values[order, column], np.cumsum(weights[order])
        before = held - weights[order]
        last = np.searchsorted(held, before + prob)
        inside = last < len(held)
        out[column] = (ordered[last[inside]] - ordered[inside]).min()
    return out


def _over(values: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Divide; what no draw tells apart does not move either."""
    return np.divide(values, unit, out=np.zeros_like(values), where=unit > 0)


def _standard_error(draws: np.ndarray) -> np.ndarray:
    """Return the Monte Carlo error of the mean, of draws of shape (chain, draw, n)."""
    error = standard_errors(draws)
    spread = draws.std(axis=(0, 1))
    return np.where(spread > 0, error, 0.0)  # of what is the same in every draw, nothing is in doubt


def _with_prior(spec: ModelSpec, name: str, factor: float) -> ModelSpec:
    """Return the model with another prior and the text it had, which nobody reads here."""
    parameter, args = spec.parameters[name], arguments_stretched(spec, name, factor)
    assert args is not None
    return replace(spec, parameters={**spec.parameters, name: replace(parameter, args=args)})


def _cubes(reduced: Collapsed) -> float:
    """Return what an evaluation of the density costs, in the units of `sampling`."""
    return sum(float(size) ** 3 for size in reduced.component_sizes)


def unexamined(table: pd.DataFrame) -> list[tuple[str, str, str]]:
    """Return parameter, direction and ``how`` of each change of a prior of which `prior_sensitivity` knows nothing."""
    unknown = table[table["how"].isin(["not_refitted", "unknown"])]
    return list(
        unknown[["parameter", "direction", "how"]].drop_duplicates().itertuples(index=False, name=None)
    )


def largest_shift(table: pd.DataFrame) -> Mapping[str, Any] | None:
    """Return the row of `prior_sensitivity` with the largest shift; None where nothing is known of any."""
    known = table[table["shift_in_sd"].notna()]
    if not len(known):
        return None
    return dict(known.loc[known["shift_in_sd"].abs().idxmax()])
