r"""What holds of several groups together: intervals of a family, ranks, and the rate of each group.

All come from joint draws of the means of groups. Given the SDs these are normal, with the covariances
that the variances of their differences tell: :math:`\operatorname{cov}(a, b) = (v_a + v_b - v_{a - b}) / 2`.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.core import InputError
from bayesbias.inference.estimates import estimates, labeled_draws
from bayesbias.inference.linear import Key, Quantities, mixtures_of, weights_of
from bayesbias.studies.responses import factorial

if TYPE_CHECKING:
    from bayesbias.studies.responses.fitting import ResponsesResult

MOST_IN_PAIRS = 40  # groups under models; of more their effects are drawn
FEWEST = 2  # rows of a family


def joint_draws(fit: Any, means: Quantities, estimand: str) -> np.ndarray:
    """Return joint draws of means of a normal model, shape (chains, draws, means)."""
    n = len(means.keys)
    pairs = list(itertools.combinations(range(n), 2))
    sums: list[dict[int, float]] = [{k: 1.0} for k in range(n)]
    sums += [{a: 1.0, b: -1.0} for a, b in pairs]
    mixed = None
    if n <= MOST_IN_PAIRS and fit._reduced is not None:
        keys: list[Key] = [("overall", "all", str(k)) for k in range(len(sums))]
        asked = means.combined(keys, weights_of(sums, n))
        mixed = mixtures_of(asked, fit._reduced, fit._scales, fit.shape[0])
    if mixed is None:
        return fit.answer_from_effects(means, estimand, "arm").draws.to_numpy()
    center, variance = mixed[0].mean[..., :n], mixed[0].sd ** 2
    covariance = np.zeros((*center.shape, n))
    diagonal = np.arange(n)
    covariance[..., diagonal, diagonal] = variance[..., :n]
    for k, (a, b) in enumerate(pairs, start=n):
        of_both = (variance[..., a] + variance[..., b] - variance[..., k]) / 2
        covariance[..., a, b] = covariance[..., b, a] = of_both
    squares, turn = np.linalg.eigh(covariance)
    root = turn * np.sqrt(np.maximum(squares, 0.0))[..., None, :]
    repeats = max(1, -(-2000 // (center.shape[0] * center.shape[1])))
    rng = np.random.default_rng([fit.stream, 17])
    normal = rng.standard_normal((*center.shape[:2], n, repeats))
    draws = center[..., None] + root @ normal
    return np.moveaxis(draws, -1, 2).reshape(center.shape[0], -1, n)


def with_families(
    frame: pd.DataFrame, result: ResponsesResult, estimand: str, prob: float
) -> pd.DataFrame:
    """Return overall contrasts with the intervals that hold for a family together, with its name.

    An interval is the mean and so many SDs that all of a family cover their values with the
    probability.
    """
    labels, draws = result.answer_kind.joint(result, estimand)
    family = families(frame, result)
    low = pd.Series(np.nan, index=frame.index)
    high = low.copy()
    places = {label: k for k, label in enumerate(labels)}
    for name in family[family.ne("")].unique():
        rows = frame.index[family == name]
        values = of_rows(frame.loc[rows, "series"].astype(str), result, places, draws)
        center, sd = values.mean(axis=0), values.std(axis=0)
        far = (np.abs(values - center) / np.where(sd > 0, sd, 1.0)).max(axis=1)
        width = np.quantile(far, prob) * frame.loc[rows, "sd"]
        low[rows], high[rows] = frame.loc[rows, "mean"] - width, frame.loc[rows, "mean"] + width
    return frame.assign(family=family, low_family=low, high_family=high)


def families(frame: pd.DataFrame, result: ResponsesResult) -> pd.Series:
    """Return the family of each overall contrast: all pairs of groups, or of the levels of a factor."""
    known = {each.name: each for each in factorial.contrasts_of(result.responses)}
    series = frame["series"].astype(str).str.rsplit(" | ", n=1)
    contrast, model = series.str[0], series.str[-1]
    between = ~model.isin(["", *result.responses.models])

    def of(name: str) -> str:
        if name not in known:
            return "pairs of models"
        each = known[name]
        what = each.factor or "groups"
        against = f"pairs of {what}" if each.against == "pairs" else f"{what} - {each.against}"
        return against if each.level in ("overall", "main") else f"{against}, {each.level}"

    family = contrast.map(of).mask(between, contrast.map(of) + ", between models")
    several = family.groupby([family, frame["scale"]]).transform("size") >= FEWEST
    return family.where(several, "")


def of_rows(
    series: pd.Series, result: ResponsesResult, places: dict[str, int], draws: np.ndarray
) -> np.ndarray:
    """Return joint draws of contrasts, shape (n, contrasts)."""
    flat = draws.reshape(-1, draws.shape[-1])
    if all(name in places for name in series):  # of paired answers
        return flat[:, [places[name] for name in series]]
    weights = {f"{name} | {model}": arms for model, name, arms in result._pairs()}
    sums = [{places[arm]: by for arm, by in weights[name].items()} for name in series]
    return flat @ weights_of(sums, len(places)).toarray().T


def rates(result: ResponsesResult, prob: float, estimand: str) -> pd.DataFrame:
    """Return the rate or the mean of each group, with ranks, the highest first."""
    labels, draws = result.answer_kind.joint(result, estimand)
    parts = [label.rsplit(" | ", 1) for label in labels]
    group, model = [part[0] for part in parts], [part[1] for part in parts]
    frame = estimates(labeled_draws(draws, {"group": group, "model": model}), prob)
    frame = frame.rename(columns={"mean": "rate", "hpdi_low": "rate_low", "hpdi_high": "rate_high"})
    frame = frame[["group", "model", "rate", "sd", "rate_low", "rate_high", "prob"]]

    flat = draws.reshape(-1, draws.shape[-1])
    for model_name in dict.fromkeys(model):
        here = np.flatnonzero(np.array(model) == model_name)
        order = np.argsort(flat[:, here], axis=1)
        n = np.arange(len(here))[:, None]
        frame.loc[here, "p_highest"] = (order[:, -1] == n).mean(axis=1)
        frame.loc[here, "p_lowest"] = (order[:, 0] == n).mean(axis=1)
        if result.responses.is_choice:
            top = here[int(np.argmax(flat[:, here].mean(axis=0)))]
            ratio = labeled_draws(draws[..., here] / draws[..., [top]], {"group": list(np.array(group)[here])})  # fmt: skip
            of_top = estimates(ratio, prob)
            for ours, theirs in (("", "mean"), ("_low", "hpdi_low"), ("_high", "hpdi_high")):
                frame.loc[here, f"ratio{ours}"] = of_top[theirs].to_numpy()
    for name, shares in result.answer_kind.shares(result, estimand).items():
        of_level = estimates(labeled_draws(shares, {"group": group, "model": model}), prob)
        frame[name] = of_level["mean"]
        frame[f"{name}_low"] = of_level["hpdi_low"]
        frame[f"{name}_high"] = of_level["hpdi_high"]
    counts = result.responses.coverage["groups"]
    for name in ("read", "used", "missing", "refusals", "unparseable"):
        frame[name] = [counts.get(of, {}).get(name, 0) for of in group]
    by = ["model", "rate"] if len(set(model)) > 1 else ["rate"]
    return frame.sort_values(by, ascending=[True, False][-len(by) :], ignore_index=True)


def draws_of(result: ResponsesResult, rows: pd.DataFrame) -> np.ndarray:
    """Return joint draws of contrasts over all items and templates, shape (n, rows).

    Rows have ``model, drawn, times`` and one estimand. For what is not new, draws have the mean and SD
    of the row, which compares groups on the questions that both answered.

    Raises
    ------
    InputError
        If a row is of one item or template.
    """
    if not rows["level"].isin(("overall", "models")).all():
        problem = "expected a probability over all items and prompts"
        hint = f"Leave out ({rows['name'].iloc[0]}), or limit its interval"
        raise InputError(problem, where="requirement", found=rows["name"].iloc[0], hint=hint)
    estimand = str(rows["estimand"].iloc[0])
    labels, draws = result.answer_kind.joint(result, estimand)
    places = {label: k for k, label in enumerate(labels)}
    values = of_rows(rows["drawn"] + " | " + rows["model"], result, places, draws)
    if estimand != "population":
        center, sd = values.mean(axis=0), values.std(axis=0)
        mean = rows["mean"].to_numpy(float) / rows["times"].to_numpy(float)
        scale = rows["sd"].to_numpy(float) / np.where(sd > 0, sd, 1.0)
        values = mean + (values - center) * scale
    return values * rows["times"].to_numpy(float)
