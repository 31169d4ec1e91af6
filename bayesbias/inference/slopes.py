"""Slopes on covariates about words: what one standard deviation, or one unit, of a covariate does to means and contrasts.

The mean of a row is linear in a covariate, so that a slope is the mean at a covariate of one less that at zero: of connections (or
whatever a model gives its results for), of their contrasts, and at each level of the model, on average over new words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core.errors import FitError
from bayesbias.inference.answers import Asking, asked_rows
from bayesbias.inference.contrasts import described_with_rope, joined_rows, relabelled
from bayesbias.inference.estimands import PROB, ROPE, Rows, sides_of
from bayesbias.models.design import Design

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayesbias.inference.mixtures import Mixtures

_ESTIMAND = "population"


def slope_rows(
    design: Design, table: pd.DataFrame, covariate: str, contrasted: bool, shown: pd.DataFrame
) -> Rows:
    """Return the slopes on a covariate of the means, or of their contrasts, at the levels at which they differ.

    What no row with the covariate decides is left out: a connection whose words have it not, so that it is zero throughout; and
    contrasts that are zero by the form of the model, where both of their sides have one and the same slope.
    """
    at = {
        value: asked_rows(
            replace(design, covariates={**design.covariates, covariate: np.full(len(design.y), value)}),
            table,
            _ESTIMAND,
            contrasted,
            shown,
        )
        for value in (1.0, 0.0)
    }
    rows = replace(at[1.0], linear=at[1.0].linear.minus(at[0.0].linear))
    group = table[design.spec.results.group].astype(str).to_numpy()
    present = list(dict.fromkeys(group))
    varying = {label for label in present if (design.covariates[covariate][group == label] != 0).any()}
    known = [
        k
        for k, key in enumerate(rows.keys)
        if set(sides_of(key[2], present) if contrasted else [key[2]]) <= varying
    ]
    weights = _weights(rows)
    some = [k for k in known if weights[k].any()]
    return rows.chosen(_levels_that_differ(rows.chosen(some), weights[some], some))


def _weights(rows: Rows) -> np.ndarray:
    """Return what each row is made of; differences of equal shares cancel but for rounding."""
    parts = (part.weights.toarray() for part in rows.linear.parts)
    return np.concatenate([rows.linear.constant[:, None], *parts], axis=1).round(12) + 0.0


def _levels_that_differ(rows: Rows, weights: np.ndarray, numbers: list[int]) -> list[int]:
    """Return the numbers of the rows at levels of which one is none of those at the levels before."""
    own = [(key[2], row.tobytes()) for key, row in zip(rows.keys, weights, strict=True)]
    levels, seen = [], set[tuple[str, bytes]]()
    for level in dict.fromkeys(key[0] for key in rows.keys):
        here = {what for key, what in zip(rows.keys, own, strict=True) if key[0] == level}
        if not here <= seen:
            levels.append(level)
        seen |= here
    return [number for number, key in zip(numbers, rows.keys, strict=True) if key[0] in levels]


def _asked(asking: Asking, covariates: Iterable[str]) -> list[tuple[str, xr.DataArray, Mixtures | None]]:
    out = []
    for covariate in covariates:
        for contrasted in (False, True):
            draws, mixtures = asking.of_rows(
                ("slopes", covariate, contrasted),
                lambda covariate=covariate, contrasted=contrasted: slope_rows(  # type: ignore[misc]
                    asking.design, asking.table, covariate, contrasted, asking.shown
                ),
                contrasted,
            )
            if draws.sizes["row"]:
                column = "contrast" if contrasted else asking.design.spec.results.group
                labels = draws[column].to_numpy().tolist()
                named = {"covariate": [covariate] * len(labels), "level": draws["level"].to_numpy().tolist()}
                named |= {"name": draws["name"].to_numpy().tolist(), "of": labels}
                out.append(
                    (covariate, relabelled(draws, **named, **{column: None, "estimand": None}), mixtures)
                )
    return out


def _nothing(asking: Asking) -> FitError:
    covariates = ", ".join(asking.design.spec.covariates())
    return FitError(f"{asking.design.spec.label}: {covariates} is zero in all rows, and has no slope")


def _covariates_of(asking: Asking) -> list[str]:
    spec = asking.design.spec
    if not spec.covariates():
        raise FitError(f"{spec.label} has no slopes; bayesbias.models.with_slopes adds them")
    return spec.covariates()


def slope_draws(asking: Asking) -> xr.DataArray:
    """Return draws of all slopes, labelled ``covariate, level, name, of``."""
    parts = _asked(asking, _covariates_of(asking))
    if not parts:
        raise _nothing(asking)
    return joined_rows([draws for _, draws, _ in parts])


def described_slopes(
    asking: Asking, covariates: Mapping[str, Mapping[str, Any]], prob: float = PROB
) -> pd.DataFrame:
    """Return the table of slopes; `covariates` is what the provenance of the table says of its covariates. See `BiasFit.slopes`."""
    import pandas as pd

    frames = []
    for covariate, draws, mixtures in _asked(asking, _covariates_of(asking)):
        frame = described_with_rope(draws, prob, ROPE, mixtures)
        frame = frame.drop(columns=[name for name in frame if "rope" in str(name)])
        scale = float(covariates.get(covariate, {}).get("scale", 1.0))
        for end, of in (("", "mean"), ("_low", "hpdi_low"), ("_high", "hpdi_high")):
            frame[f"per_unit{end}"] = frame[of] / scale
            frame[f"mcse_per_unit{end}"] = frame[f"mcse_{of.removeprefix('hpdi_')}"] / scale
        frame["scale"] = scale
        frames.append(frame)
    if not frames:
        raise _nothing(asking)
    return pd.concat(frames, ignore_index=True)
