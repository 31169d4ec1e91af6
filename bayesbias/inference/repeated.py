"""Many tables of the same pairs: what depends on their labels alone is made once.

A simulated table differs from the last one in its outcomes only. The model laid over the pairs, the
rotation into components, and what is asked of the posterior stay, so that a fit costs the sampling
of its scales and little else. The answers are those that `fit` and its table of contrasts give.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.inference.estimands import Rows, asked_rows
from bayesbias.inference.fitting import refuse_no_noise, refuse_no_spread
from bayesbias.inference.laplace import Engine
from bayesbias.inference.likelihood import Collapsed, NotCollapsible, collapse, factors_of
from bayesbias.inference.linear import Projected
from bayesbias.inference.mixtures import mixed_rows
from bayesbias.inference.sampling import sample_theta
from bayesbias.models.design import Design
from bayesbias.models.spec import ModelSpec
from bayesbias.models.trimming import trimmed

if TYPE_CHECKING:
    import pandas as pd

ESTIMAND = "population"


@dataclass(frozen=True, eq=False)
class Repeated:
    """A collapsed model on pairs whose outcomes are still to come.

    Attributes
    ----------
    order : ndarray of int or None
        The pairs in the order of `reduced`.
    reduced : Collapsed
        Of any outcome.
    asked : tuple
        The contrasts of each level, and the same turned as the components are.
    """

    order: np.ndarray | None
    reduced: Collapsed
    asked: tuple[tuple[Rows, Projected], ...]

    def intervals(
        self, y: np.ndarray, settings: Mapping[str, Any], prob: float
    ) -> tuple[list[tuple[tuple[str, str, str], dict[str, float]]], Engine] | None:
        """Fit one outcome, and return the contrasts of the population.

        Parameters
        ----------
        y : ndarray, shape (n_pairs,)
            In the order of the table that it was laid over.
        settings : Mapping
            ``draws, tune, chains, seed, engine``, as of `fit`.
        prob : float in (0, 1)

        Returns
        -------
        list of (level, name, contrast) and ``estimate, low, high``
        Engine
            Or None in the place of both, where an answer is a number of the model's file, and no
            mixture.

        Raises
        ------
        FitError
            As `fit` does.
        """
        y = np.asarray(y, dtype=float)
        reduced = self.reduced.of_outcome(y if self.order is None else y[self.order])
        refuse_no_spread(reduced.design)
        refuse_no_noise(reduced)
        own = dict(settings)
        theta = sample_theta(reduced, own, 1)[0]
        chains = theta.shape[0]
        scales = {
            name: values.reshape(-1, *values.shape[2:])
            for name, values in reduced.split(theta).items()
        }
        out = []
        for rows, projected in self.asked:
            mixed = mixed_rows(rows, reduced.design, reduced, scales, chains, projected)
            if mixed is None:
                return None
            ends = mixed[0].described(prob)
            named = {"estimate": ends["mean"], "low": ends["low"], "high": ends["high"]}
            out += [
                (key, {name: float(values[row]) for name, values in named.items()})
                for row, key in enumerate(rows.keys)
            ]
        return out, Engine.of(own)


def repeated(spec: ModelSpec, frame: pd.DataFrame, levels: Sequence[str]) -> Repeated | None:
    """Lay a model over pairs, whatever their outcomes; None where only `fit` itself can do it.

    That is so for models that are sampled pair by pair, and for tables with two rows of one pair,
    whose order is that of their outcomes.

    Parameters
    ----------
    spec : ModelSpec
    frame : DataFrame
        Its outcomes are not read.
    levels : sequence of str
        At which contrasts are asked for.
    """
    if spec.outcome not in frame.columns:
        return None  # which fit says
    rng = np.random.default_rng(0)
    table = frame.assign(**{spec.outcome: rng.standard_normal(len(frame))})
    if spec.trim:
        spec = trimmed(spec, table)
    shown = Design.of(spec, table)
    order = shown.order()
    design, rows = shown.ordered(), table if order is None else table.iloc[order]
    if len(factors_of(design)) > len(design.units):
        return None
    try:
        reduced = collapse(design)
    except NotCollapsible:
        return None
    if reduced.n_theta == 0:
        return None
    whole = asked_rows(design, rows, ESTIMAND, contrasted=True, shown=table)
    asked = [whole.at(level) for level in levels]
    return Repeated(
        order, reduced, tuple((own, Projected.of(reduced, own.linear)) for own in asked if own.keys)
    )
