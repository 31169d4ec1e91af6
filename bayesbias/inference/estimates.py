"""Rows of results: draws, or mixtures of normals, described in one schema.

Tables of a fit, a comparison, a sweep or a test are made by `estimates` (those of pooled replicates
in `studies.replicates.pooling`): columns that label a row, then those of `COLUMNS`. A new column is
added here: `estimates` computes it for every frame, CSV file and JSON, and `CONTRAST_COLUMNS` and
`MEAN_COLUMNS` say what terminal and page print. Tables of new words and slopes have those of
`WITHOUT_ROPE` alone.

==================================  ============================================================================
column                              what it holds
==================================  ============================================================================
``mean, sd``                        of the posterior
``hpdi_low, hpdi_high, prob``       highest posterior density interval, and its probability
``p_below_zero``                    probability of a negative value
``p_in_rope, rope``                 probability of lying inside plus or minus `rope`
``verdict``                         one of `bayesbias.inference.view.VERDICTS`
``mcse_*``                          Monte Carlo error of the column named after it
``ess_bulk, r_hat``                 effective draws (not of mixtures), and rank-normalized split R-hat
``observed``                        of the listed words alone: the mean of the rows of the table
==================================  ============================================================================

The columns from ``p_below_zero`` to ``verdict`` are those of quantities that may be zero, such as
contrasts.

Draws of the rows of a table are an ``xarray.DataArray`` with the dimensions ``chain, draw, row``; the
coordinates of `row` are the label columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from bayesbias.core import checks
from bayesbias.core.sections import Column
from bayesbias.inference.diagnostics import r_hat_and_ess
from bayesbias.inference.estimands import CONTRASTS
from bayesbias.inference.view import verdict

if TYPE_CHECKING:
    import xarray as xr

    from bayesbias.inference.linear import Key, Mixtures
    from bayesbias.models.design import Arrays

COLUMNS = (
    "mean", "sd", "hpdi_low", "hpdi_high", "prob", "p_below_zero", "p_in_rope", "rope", "verdict",
    "mcse_mean", "mcse_sd", "mcse_low", "mcse_high", "mcse_p_below_zero", "mcse_p_in_rope", "ess_bulk", "r_hat",
    "observed",
)  # fmt: skip
# Of quantities that may be zero, but that no ROPE is about.
WITHOUT_ROPE = (
    "mean", "sd", "hpdi_low", "hpdi_high", "prob", "p_below_zero",
    "mcse_mean", "mcse_sd", "mcse_low", "mcse_high", "mcse_p_below_zero",
)  # fmt: skip
CONVERGENCE = ("ess_bulk", "r_hat")
# What tables of contrasts have with ``detail`` alone, beside Monte Carlo errors.
_DETAIL = ("sd", "observed", "prob", "rope", *CONVERGENCE)
# How terminal and page print them.
MEAN = Column("mean", "mean", "signed")
HPDI = Column("hpdi_low", "{prob} HPDI", "interval", upper="hpdi_high")
BELOW = Column("p_below_zero", "P(<0)", "probability")
IN_ROPE = Column("p_in_rope", "P(ROPE)", "probability")
OBSERVED = Column("observed", "observed", "signed")
CONTRAST_COLUMNS = (MEAN, HPDI, BELOW, IN_ROPE)
MEAN_COLUMNS = (
    Column("mean", "mean", "number"),
    Column("hpdi_low", "{prob} HPDI", "range", upper="hpdi_high"),
)
# Of parameters alone: other tables come from mixtures, of which draws say less.
CONVERGENCE_COLUMNS = (
    Column("ess_bulk", "ESS", "count"),
    Column("r_hat", "R-hat", "number", digits=3),
)

_BATCHES_PER_CHAIN = 5
_LEAST_BATCH = 20
_LEAST_EFFECTIVE = 5  # draws in a batch, on average


class Answer(NamedTuple):
    """Quantities under the posterior, as draws and as mixtures.

    Attributes
    ----------
    draws : DataArray
    parameters : Mapping of str to ndarray
        The draws of parameters that gave `draws`, one by one; the scales alone if there are
        mixtures.
    mixtures : Mixtures, optional
        The same quantities as normal mixtures.
    observed : ndarray, optional
        The observed values, of quantities about the listed words.
    """

    draws: xr.DataArray
    parameters: Arrays
    mixtures: Mixtures | None = None
    observed: np.ndarray | None = None


def estimates(
    draws: xr.DataArray,
    prob: float,
    rope: float | None = None,
    mixtures: Mixtures | None = None,
    observed: np.ndarray | None = None,
) -> pd.DataFrame:
    """Return the table of results of labeled draws, with one row for each.

    Parameters
    ----------
    draws : DataArray, dimensions (chain, draw, row)
    prob : float in (0, 1)
        Probability of the intervals.
    rope : float > 0, optional
        Half-width of the region of practical equivalence. Without it there are no probabilities and
        no verdict.
    mixtures : Mixtures, optional
        The same rows as normal mixtures, which then give mean, sd, interval and probabilities.
    observed : ndarray, shape (rows,), optional
        Observed values, for the column of that name.
    """
    prob = checks.probability(prob)
    if mixtures is None:
        frame = describe_draws(draws.to_numpy(), prob)
        ess = frame["ess_bulk"].to_numpy()
    else:
        r_hat, ess = r_hat_and_ess(draws.to_numpy())
        frame = pd.DataFrame(describe_mixtures(mixtures, prob))
        # No `ess_bulk`: a mixture is over few of the draws, and more precise than these.
        frame = frame.assign(prob=prob, r_hat=r_hat)
    if observed is not None:
        frame["observed"] = observed
    if rope is not None:
        rope = checks.positive(rope, "rope")
        ends = (frame[name] for name in ("hpdi_low", "hpdi_high", "mcse_low", "mcse_high"))
        frame = frame.assign(
            rope=rope,
            **_probabilities(draws, rope, mixtures, ess),
            verdict=[verdict(low, high, rope, of) for low, high, *of in zip(*ends, strict=True)],
        )
    labels = pd.DataFrame(labels_of_rows(draws), index=frame.index)
    return pd.concat([labels, frame[[name for name in COLUMNS if name in frame]]], axis=1)


def _probabilities(
    draws: xr.DataArray, rope: float, mixtures: Mixtures | None, ess: np.ndarray
) -> Arrays:
    """Return the probabilities of lying below zero and in the ROPE, and their errors."""

    def of(mixtures: Mixtures) -> tuple[np.ndarray, np.ndarray]:
        return mixtures.below(0.0), mixtures.below(rope) - mixtures.below(-rope)

    if mixtures is None:
        flat = joined_chains(draws.to_numpy())
        shares = (flat < 0).mean(axis=0), (np.abs(flat) < rope).mean(axis=0)
    else:
        shares = of(mixtures)
    if mixtures is not None and (batches := batches_of(*mixtures.mean.shape[:2])) > 1:
        errors = [_error_of_mean(each, batches) for each in of(mixtures.in_batches(batches))]
    else:
        # The binomial error, with half a draw added on either side.
        n = np.where(np.isnan(ess), 1.0, ess)
        middles = ((share * n + 0.5) / (n + 1) for share in shares)
        errors = [np.sqrt(middle * (1 - middle) / n) for middle in middles]
    names = ("p_below_zero", "p_in_rope")
    return dict(zip(names, shares, strict=True)) | {
        f"mcse_{name}": error for name, error in zip(names, errors, strict=True)
    }


def _error_of_mean(values: np.ndarray, batches: int) -> np.ndarray:
    """Return the error of a mean over batches, from values of one batch after another."""
    return values.reshape(batches, -1).std(axis=0, ddof=1) / np.sqrt(batches)


def describe_draws(draws: np.ndarray, prob: float) -> pd.DataFrame:
    """Return mean, sd, HPDI, their Monte Carlo errors, ESS and R-hat of n quantities.

    Draws have the shape (chain, draw, n). Errors of the sd and of the ends come from batches of
    draws. If draws are too few for batches, they are those of as many effective draws of a normal.
    """
    flat = joined_chains(draws)
    with np.errstate(invalid="ignore", divide="ignore"):
        r_hat, ess = r_hat_and_ess(draws)
        sd = flat.std(axis=0, ddof=1) if len(flat) > 1 else np.full(flat.shape[1], np.nan)
    low, high = shortest_interval(flat, prob)
    # Where chains are too short to be counted all draws may tell no more than one.
    error_mean = sd / np.sqrt(np.where(np.isnan(ess), 1.0, ess))
    error_sd, error_low, error_high = error_mean / np.sqrt(2), *2 * [error_mean * end_to_mean(prob)]
    batches = batches_of(*draws.shape[:2])
    if batches > 1:
        length = len(flat) // batches
        parts = flat[: batches * length].reshape(batches, length, -1).transpose(1, 0, 2)
        in_batches = _error_of_mean(parts.std(axis=0, ddof=1), batches)
        # Batches of few effective draws all look narrow.
        few = ess < _LEAST_EFFECTIVE * batches
        error_sd = np.where(few, np.fmax(in_batches, error_sd), in_batches)
        # The ends of a shortest interval converge by the cube root of the draws (Kim and Pollard
        # 1990, section 6.3).
        error_low, error_high = (
            ends.std(axis=0, ddof=1) / np.cbrt(batches) for ends in shortest_interval(parts, prob)
        )
    return pd.DataFrame(
        {
            "mean": flat.mean(axis=0), "sd": sd, "hpdi_low": low, "hpdi_high": high, "prob": prob,
            "mcse_mean": error_mean, "mcse_sd": error_sd, "mcse_low": error_low, "mcse_high": error_high,
            "ess_bulk": ess, "r_hat": r_hat,
        }
    )  # fmt: skip


def describe_mixtures(mixtures: Mixtures, prob: float) -> Arrays:
    """Return mean, sd and HPDI of normal mixtures, and their Monte Carlo errors from batches."""
    out = mixtures.described(prob)
    chains, draws = mixtures.mean.shape[:2]
    batches = batches_of(chains, draws)
    if batches > 1:
        parts = mixtures.in_batches(batches).described(prob)
        errors = {name: _error_of_mean(parts[name], batches) for name in out}
    else:  # those of so many draws of the whole mixture, which are larger
        error = out["sd"] / np.sqrt(chains * draws)
        ends = dict.fromkeys(("low", "high"), error * end_to_mean(prob))
        errors = {"mean": error, "sd": error / np.sqrt(2), **ends}
    out = {f"hpdi_{name}" if name in ("low", "high") else name: out[name] for name in out}
    return out | {f"mcse_{name}": error for name, error in errors.items()}


def beside(frame: pd.DataFrame, name: str) -> dict[str, pd.Series]:
    """Return mean and HPDI of rows as columns ``name, name_low, name_high``, with their errors."""
    out = {}
    for end, column in (("", "mean"), ("_low", "hpdi_low"), ("_high", "hpdi_high")):
        out[f"{name}{end}"] = frame[column]
        out[f"mcse_{name}{end}"] = frame[f"mcse_{column.removeprefix('hpdi_')}"]
    return out


def without_detail(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table of contrasts with the columns of the screen, and ``d`` before the verdict.

    The probability of the intervals is in ``attrs`` of the frame.

    Examples
    --------
    >>> frame = pd.DataFrame({"mean": [0.1], "sd": [0.2], "prob": [0.89], "mcse_mean": [0.01]})
    >>> without_detail(frame).columns.tolist(), without_detail(frame).attrs
    (['mean'], {'prob': 0.89})
    """
    columns = [name for name in frame if name not in _DETAIL and not str(name).startswith("mcse_")]
    if "d" in columns:
        columns.remove("d")
        columns.insert(columns.index("verdict"), "d")
    out = frame[columns].copy()
    if len(frame):
        out.attrs["prob"] = float(frame["prob"].iloc[0])
    return out


def chosen_columns(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return some columns of a table of results; of mixtures it has no ``ess_bulk``."""
    return frame[[name for name in names if name in frame]]


def batches_of(chains: int, draws: int) -> int:
    """Return how many batches draws are cut into for a Monte Carlo error; 1 if they are too few."""
    per_chain = min(_BATCHES_PER_CHAIN, draws // _LEAST_BATCH)
    return chains * per_chain if per_chain else 1


def end_to_mean(prob: float) -> float:
    """Return the error of an interval's end, a quantile, over that of the mean, for a normal."""
    from scipy.stats import norm

    tail = (1 - prob) / 2
    return float(np.sqrt(tail * (1 - tail)) / norm.pdf(norm.ppf(tail)))


def joined_chains(draws: np.ndarray) -> np.ndarray:
    """Return draws, shape (chain, draw, n), one chain after the other; n may be 0."""
    chains, length, n = draws.shape
    return draws.reshape(chains * length, n)


def shortest_interval(draws: np.ndarray, prob: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the shortest interval with `prob` of the draws along the first axis."""
    ordered = np.sort(draws, axis=0)
    # Of few draws, or next to nothing or all of them, it is still between two.
    inside = min(max(1, int(np.floor(prob * len(ordered)))), len(ordered) - 1)
    first = np.argmin(ordered[inside:] - ordered[: len(ordered) - inside], axis=0)
    low, high = (np.take_along_axis(ordered, at[None], axis=0)[0] for at in (first, first + inside))
    return low, high


def labeled_draws(draws: np.ndarray, labels: Mapping[str, str | Sequence[str]]) -> xr.DataArray:
    """Return draws of shape (chain, draw, row) with labels of their rows; one text labels all."""
    import xarray as xr

    rows = draws.shape[-1]
    columns = {}
    for name, values in labels.items():
        of_rows = [values] * rows if isinstance(values, str) else list(values)
        columns[name] = ("row", np.array(of_rows, dtype=str))
    return xr.DataArray(draws, dims=("chain", "draw", "row"), coords=columns)


def labels_of_rows(draws: xr.DataArray) -> dict[str, list[str]]:
    """Return the labels of the rows, column by column."""
    return {str(name): labels.to_numpy().tolist() for name, labels in draws.coords.items()}


def keys_of_rows(draws: xr.DataArray, *columns: str) -> list[tuple[str, ...]]:
    """Return the labels of the rows, row by row, of some columns."""
    return list(zip(*(draws[name].to_numpy().tolist() for name in columns), strict=True))


def joined_rows(parts: Sequence[xr.DataArray]) -> xr.DataArray:
    """Return the rows of some arrays with the same label columns, one after the other."""
    import xarray as xr

    return xr.concat(parts, dim="row") if len(parts) > 1 else parts[0]


def relabeled(draws: xr.DataArray, **labels: Sequence[str] | None) -> xr.DataArray:
    """Return the draws with the given label columns first; None removes a column."""
    kept = {name: values for name, values in labels_of_rows(draws).items() if name not in labels}
    given = {name: values for name, values in labels.items() if values is not None}
    return labeled_draws(draws.to_numpy(), {**given, **kept})


def keyed_draws(
    values: np.ndarray, keys: Sequence[Key], column: str, estimand: str
) -> xr.DataArray:
    """Label draws by the keys of their rows: ``level, name, <column>, estimand``."""
    levels, names, labels = zip(*keys, strict=True) if keys else ((), (), ())
    return labeled_draws(
        values, {"level": levels, "name": names, column: labels, "estimand": estimand}
    )


def contrast_draws(
    means: xr.DataArray, pairs: Sequence[tuple[str, str]] = CONTRASTS
) -> xr.DataArray:
    """Return draws of the differences between connections, if both exist.

    They are labeled as the means are, with ``contrast`` in the place of ``connection``.
    """
    columns = [str(name) for name in means.coords]
    place = columns.index("connection")
    at = dict(zip(keys_of_rows(means, *columns), np.moveaxis(means.to_numpy(), -1, 0), strict=True))
    found = {
        (*before, f"{a} - {b}", *after): at[*before, a, *after] - at[*before, b, *after]
        for before, after in dict.fromkeys((key[:place], key[place + 1 :]) for key in at)
        for a, b in pairs
        if {(*before, a, *after), (*before, b, *after)} <= at.keys()
    }
    columns[place] = "contrast"
    labels = {name: [key[k] for key in found] for k, name in enumerate(columns)}
    none = means.to_numpy()[..., :0]
    return labeled_draws(np.stack([*found.values()], axis=-1) if found else none, labels)
