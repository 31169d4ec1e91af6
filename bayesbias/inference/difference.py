"""The difference of two independent results, such as fits of two sets of vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import InputError
from bayesbias.core.conventions import PROB, ROPE
from bayesbias.core.result import opened
from bayesbias.inference import estimates

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


@dataclass(frozen=True, eq=False)
class Difference:
    """The first result minus the second, contrast by contrast; made by `difference`.

    Attributes
    ----------
    table : DataFrame
        The labels that both results have in common (``level, name, contrast, estimand``), and the
        columns of `bayesbias.inference.estimates`.
    draws : xarray.DataArray
        The draws behind it, with the dimensions ``chain, draw, row``.

    Examples
    --------
    >>> import bayesbias as bb
    >>> tables = [
    ...     bb.distance_table("minilm-static", "religion", controls=c) for c in ("none", "2021")
    ... ]
    >>> one, other = (bb.fit(table, seed=1, draws=100, tune=100, chains=2) for table in tables)
    >>> bb.difference(one, other).draws.dims
    ('chain', 'draw', 'row')
    """

    table: pd.DataFrame
    draws: xr.DataArray

    def __repr__(self) -> str:
        columns = [*self.draws.coords, "mean", "hpdi_low", "hpdi_high", "verdict"]
        return str(self.table[columns].head(8).to_string(index=False))


def difference(
    a: Any,
    b: Any,
    *,
    prob: float = PROB,
    rope: float = ROPE,
    estimand: str | None = None,
    level: str | None = None,
) -> Difference:
    """Estimate the difference between two independent results.

    Parameters
    ----------
    a, b : BiasFit, Comparison, Run or path
        Two results, or the folders of their runs, with contrasts of the same names, such as fits of two word lists or two groups
        of vectors. The difference is `a` minus `b`.
    prob : float in (0, 1)
        Probability of the highest posterior density interval.
    rope : float > 0
        Half-width of the region of practical equivalence.
    estimand : str, optional
        As in `BiasFit.contrasts`; by default all that both results have.
    level : str, optional
        ``overall`` or a level of both models; by default all.

    Returns
    -------
    Difference
        With ``table`` and ``draws``.

    Raises
    ------
    InputError
        If the results share their random numbers, or have no contrast in common.

    Notes
    -----
    Fits of different tables have different random streams, so that their draws are independent. The
    draws are subtracted one by one. For the same words in two sets of vectors the interval is too
    wide, since effects of words that both share do not cancel: `compare` cancels them.

    Examples
    --------
    >>> import bayesbias as bb
    >>> tables = [
    ...     bb.distance_table("minilm-static", name, controls="none")
    ...     for name in ("gender", "religion")
    ... ]
    >>> one, other = (bb.fit(table, seed=1, draws=100, tune=100, chains=2) for table in tables)
    >>> found = bb.difference(one, other, level="overall", estimand="population")
    >>> found.table["contrast"].tolist()
    ['associated - different']
    """
    a, b = opened(a), opened(b)
    asked = {"estimand": estimand, "level": level}
    for name, result in (("a", a), ("b", b)):
        if not hasattr(result, "contrasts"):
            raise InputError(
                f"{name}: expected a fit or a comparison, got {type(result).__name__}",
                hint="give the fit that the result holds",
            )
    frames = [result.contrasts(prob, rope, **asked, detail=True) for result in (a, b)]
    draws = [result.table_draws("contrasts", **asked) for result in (a, b)]
    labels = [str(name) for name in draws[0].coords if name in draws[1].coords]
    keys = [estimates.keys_of_rows(each, *labels) for each in draws]
    places = {key: place for place, key in enumerate(keys[1])}
    common = [(place, places[key]) for place, key in enumerate(keys[0]) if key in places]
    if not common:
        raise InputError("a, b: expected contrasts in common, got none", found=str(keys[0][0]))
    chains, length = (min(each.sizes[name] for each in draws) for name in ("chain", "draw"))
    one, other = (
        each.isel(chain=slice(chains), draw=slice(length), row=list(rows)).to_numpy()
        for each, rows in zip(draws, zip(*common, strict=True), strict=True)
    )
    if np.any((np.ptp(one, axis=(0, 1)) > 0) & (one == other).all(axis=(0, 1))):
        raise InputError(
            "a, b: expected independent results, got two with the same random numbers",
            hint="a fit differs from itself by nothing; fit other vectors, or give another seed",
        )
    rows = draws[0].isel(row=[place for place, _ in common])
    kept = {name: rows[name].to_numpy().tolist() for name in labels}
    apart = estimates.labeled_draws(one - other, kept)
    table = estimates.estimates(apart, prob, rope)
    # Means and SDs of fits are known more exactly than their draws say.
    first, second = (
        frame.iloc[list(rows)].reset_index(drop=True)
        for frame, rows in zip(frames, zip(*common, strict=True), strict=True)
    )
    table["mean"] = first["mean"] - second["mean"]
    for name in ("sd", "mcse_mean"):
        table[name] = np.hypot(first[name], second[name])
    return Difference(table, apart)
