"""Quantities that are linear in the effects of a model, given its scales: means, contrasts, new words.

Every mean and contrast of a normal model is such a quantity. So its posterior is a mixture of normals over the draws
of the scales (`bayesbias.inference.moments`), and for any model its draws follow from those of the effects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Part:
    """Some entries of one parameter, weighed for each row.

    Attributes
    ----------
    name : str
    factor : int or None
        The flat entry of the parameter that multiplies it.
    weights : scipy.sparse.csr_array, shape (rows, entries)
    """

    name: str
    factor: int | None
    weights: Any


@dataclass(frozen=True, eq=False)
class Fresh:
    """Effects of a new word, attribute or pair: normal, with the spread that the model gives them.

    Attributes
    ----------
    spread : str or float
        The parameter that is their standard deviation, or a number.
    entries : ndarray of int, shape (cells,)
        The flat entry of `spread` for each of the new effects.
    times : str or None
        The parameter that multiplies them, and `factors` (shape (cells,)) its flat entries.
    weights : ndarray, shape (rows, cells)
        Weights of the new effects; of `Linear.apart` their squares.
    """

    spread: str | float
    entries: np.ndarray
    times: str | None
    factors: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True, eq=False)
class Linear:
    """Some quantities, one a row.

    Attributes
    ----------
    constant : ndarray, shape (rows,)
    parts : tuple of Part
    shared : tuple of Fresh
        New effects that rows of one table share (a new word), so that they cancel in a difference.
    apart : tuple of Fresh
        New effects of each row alone (attributes, noise), by the squares of their weights.
    """

    constant: np.ndarray
    parts: tuple[Part, ...]
    shared: tuple[Fresh, ...] = ()
    apart: tuple[Fresh, ...] = ()

    def __len__(self) -> int:
        return len(self.constant)

    def taken(self, rows: Sequence[int] | np.ndarray) -> Linear:
        """Return some rows."""
        at = np.asarray(rows, dtype=np.int64)
        return Linear(
            self.constant[at],
            tuple(replace(part, weights=part.weights[at]) for part in self.parts),
            tuple(replace(new, weights=new.weights[at]) for new in self.shared),
            tuple(replace(new, weights=new.weights[at]) for new in self.apart),
        )

    def minus(self, other: Linear) -> Linear:
        """Return the differences to the rows of another of the same table."""
        mine, its = self, other
        return Linear(
            mine.constant - its.constant,
            tuple(
                replace(a, weights=a.weights - b.weights) for a, b in zip(mine.parts, its.parts, strict=True)
            ),
            tuple(
                replace(a, weights=a.weights - b.weights)
                for a, b in zip(mine.shared, its.shared, strict=True)
            ),
            tuple(
                replace(a, weights=a.weights + b.weights) for a, b in zip(mine.apart, its.apart, strict=True)
            ),
        )

    def draws(self, draws: Mapping[str, np.ndarray], times: Mapping[str, str | None]) -> np.ndarray:
        """Return the quantities for given parameter values, new effects at their mean of zero.

        Parameters
        ----------
        draws : Mapping of str to ndarray, shape (n, *shape of the parameter)
        times : Mapping of str to str or None
            The parameter that multiplies each.

        Returns
        -------
        ndarray, shape (n, rows)
        """
        n = len(next(iter(draws.values())))
        out = np.broadcast_to(self.constant, (n, len(self))).copy()
        for part in self.parts:
            own = (part.weights @ draws[part.name].reshape(n, -1).T).T
            if part.factor is not None:
                own = own * draws[str(times[part.name])].reshape(n, -1)[:, part.factor, None]
            out += own
        return out

    def new_variance(self, draws: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the variance that new effects add, for given values of the scales, shape (n or 1, rows)."""
        out = np.zeros((1, len(self)))
        for squared, group in ((False, self.shared), (True, self.apart)):
            for new in group:
                weights = new.weights if squared else new.weights**2
                if isinstance(new.spread, str):
                    values = draws[new.spread]
                    cells = values.reshape(len(values), -1)[:, new.entries] ** 2
                else:
                    cells = np.full((1, len(new.entries)), float(new.spread) ** 2)
                if new.times is not None:
                    values = draws[new.times]
                    cells = cells * values.reshape(len(values), -1)[:, new.factors] ** 2
                out = out + cells @ weights.T
        return out


def joined(tables: Sequence[Linear]) -> Linear:
    """Return the rows of some tables of the same model, one after the other."""
    from scipy import sparse

    constant = np.concatenate([np.zeros(0), *(table.constant for table in tables)])
    starts = np.cumsum([0, *(len(table) for table in tables)])

    def stacked(group: str, add: Any) -> dict[Any, list[tuple[int, Any]]]:
        at: dict[Any, list[tuple[int, Any]]] = {}
        for place, table in enumerate(tables):
            for item in getattr(table, group):
                at.setdefault(add(item), []).append((place, item))
        return at

    parts = []
    for (name, factor), items in stacked("parts", lambda part: (part.name, part.factor)).items():
        own = {place: part.weights for place, part in items}
        width = items[0][1].weights.shape[1]
        blocks = [own.get(k, sparse.csr_array((len(table), width))) for k, table in enumerate(tables)]
        parts.append(Part(name, factor, sparse.vstack(blocks, format="csr")))

    def fresh(group: str) -> tuple[Fresh, ...]:
        out = []
        for items in stacked(
            group, lambda new: (new.spread, new.times, new.entries.tobytes(), new.factors.tobytes())
        ).values():
            weights = np.zeros((len(constant), items[0][1].weights.shape[1]))
            for place, new in items:
                weights[starts[place] : starts[place + 1]] += new.weights
            out.append(replace(items[0][1], weights=weights))
        return tuple(out)

    return Linear(constant, tuple(parts), fresh("shared"), fresh("apart"))
