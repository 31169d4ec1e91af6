"""What limits are compared with: rows of contrasts, other named quantities, and convergence.

Each kind of result makes it (`Result.measured`); `bayesbias.studies.check_requirements` compares it
with limits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core.factors import LEVELS
from bayesbias.tables.coverage import Coverage

ENDS = ["hpdi_low", "hpdi_high", "mcse_low", "mcse_high"]
_KEYS = ["level", "name", "contrast", "estimand"]


@dataclass(frozen=True, eq=False)
class Measure:
    """One quantity, as a limit is compared with it.

    Attributes
    ----------
    rows : DataFrame
        ``hpdi_low, hpdi_high``, perhaps ``mcse_low, mcse_high``, and ``shown``: whose interval it
        is, "" where there is one. A limit has to be met by each.
    converged : bool
        Whether the fits that it rests on have converged.
    is_size : bool
        Whether limits are for its size, whatever its sign.
    by_construction : {"no", "partly", "wholly"}
        How much of it a method forces to zero whatever the vectors were.
    refused, refused_below : str
        Why no limit is met anyway, or no upper limit; "" where there is no such reason.
    more : str
        What narrows the interval, in the plural.
    """

    rows: pd.DataFrame
    converged: bool = True
    is_size: bool = False
    by_construction: str = "no"
    refused: str = ""
    refused_below: str = ""
    more: str = "data"


@dataclass(frozen=True, eq=False)
class Measured:
    """All that limits on a result, or on one of its methods, are compared with.

    Attributes
    ----------
    make_contrasts : function, optional
        Returns ``contrast, level, name, estimand, shown`` with the ends of the intervals and their
        Monte Carlo errors; called where a limit names a contrast. Without it there are none.
    converged : bool or None
        None without a model.
    other : mapping of str to function
        Further names, such as ``coverage``, each with what makes its `Measure`.
    refused : str
        Why no limit on a contrast is met, such as that nothing was fitted.
    draws : function, optional
        ``draws(rows)`` returns joint draws of rows of the contrasts, shape (draws, rows).
    every : mapping of str to function
        Names of several contrasts, such as ``each difference``, each with what chooses their rows among
        those of `contrasts`.
    more : str
        What narrows the intervals, in the plural.
    compare : function, optional
        ``compare(names, on, estimand)`` returns the row of a contrast that no table has, as
        `BiasFit.compare` does.
    """

    make_contrasts: Callable[[], pd.DataFrame] | None
    converged: bool | None
    other: Mapping[str, Callable[[], Measure]] = field(default_factory=dict)
    refused: str = ""
    draws: Callable[[pd.DataFrame], np.ndarray] | None = None
    every: Mapping[str, Callable[[pd.DataFrame], pd.DataFrame]] = field(default_factory=dict)
    more: str = "data"
    compare: Callable[[str, str | None, str], pd.DataFrame] | None = None

    @cached_property
    def contrasts(self) -> pd.DataFrame:
        """The rows of contrasts; empty where there are none."""
        if self.make_contrasts is None:
            return pd.DataFrame({"contrast": []})
        return self.make_contrasts()


def exact(low: float | None, high: float | None = None, **about: Any) -> Measure:
    """Return a number, or an interval, without Monte Carlo error.

    Examples
    --------
    >>> exact(0.9).rows[["hpdi_low", "hpdi_high"]].values.tolist()
    [[0.9, 0.9]]
    """
    high = low if high is None else high
    return Measure(pd.DataFrame({"hpdi_low": [low], "hpdi_high": [high], "shown": [""]}), **about)


def with_coverage(share: float | None) -> dict[str, Callable[[], Measure]]:
    """Return the name ``coverage`` with a share, or nothing where the share is not known."""
    return {} if share is None else {"coverage": lambda: exact(share)}


def share_found(coverage: Mapping[str, Any] | None, lost: int = 0) -> float | None:
    """Return the share of the listed words that were found, and not lost later."""
    groups = [group for _, _, group in Coverage.from_dict(coverage).groups()]
    listed = sum(group.listed for group in groups)
    found = sum(group.found for group in groups) - lost
    return found / listed if listed else None


def named_by_factors(rows: pd.DataFrame) -> pd.DataFrame:
    """Return contrasts, and those of factors once more under the names that a screen has.

    Such as ``woman - man``: of the first contrast, and of another with its name.
    """
    of_factors = rows[rows["level"].isin(LEVELS)]
    if of_factors.empty:
        return rows
    first = of_factors["contrast"] == of_factors["contrast"].iloc[0]
    named = of_factors.assign(
        contrast=of_factors["name"],
        name=of_factors["contrast"].mask(first, ""),
        level=of_factors["level"].mask(first, "overall"),
        shown=of_factors["contrast"],
    )
    return pd.concat([rows, named], ignore_index=True)


def measured_contrasts(result: Any, prob: float) -> dict[str, Measured]:
    """Return what limits on a result with contrasts and a coverage are compared with."""

    def contrasts() -> pd.DataFrame:
        rows = result.contrasts(prob=prob, detail=True)
        rows = rows.assign(shown=rows["name"].where(rows["level"] != "overall", ""))
        keys = rows[_KEYS].itertuples(index=False, name=None)
        return named_by_factors(rows.assign(key=[*keys]))

    def draws(rows: pd.DataFrame) -> np.ndarray:
        parts = []
        for level, name, contrast, estimand in rows["key"]:
            table = result.table_draws("contrasts", level=level, estimand=estimand)
            is_row = (table["name"] == name) & (table["contrast"] == contrast)
            parts.append(table.to_numpy()[..., is_row.to_numpy()].ravel())
        return np.stack(parts, axis=-1)

    def compare(names: str, on: str | None, estimand: str) -> pd.DataFrame:
        rows: pd.DataFrame = result.compare(names, on, prob=prob, estimand=estimand, detail=True)
        return rows.assign(shown="")

    converged = all(fit.diagnostics()["ok"] for fit in result.fits().values())
    share = share_found(result.provenance.get("coverage"))
    by_name = compare if hasattr(result, "compare") else None
    drawn = draws if hasattr(result, "table_draws") else None
    return {"": Measured(contrasts, converged, with_coverage(share), draws=drawn, compare=by_name)}
