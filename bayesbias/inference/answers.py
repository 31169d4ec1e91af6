"""From what is asked of a fit to draws and mixtures: the rows of its tables, before they are described."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.inference.collapsed import Collapsed, collapse
from bayesbias.inference.contrasts import (
    check_estimand,
    check_level,
    contrasted_groups,
    labelled_draws,
    no_contrasts,
    taken_rows,
)
from bayesbias.inference.estimands import PREDICTIVE, Rows, contrast_rows, mean_rows, times_of
from bayesbias.inference.mixtures import Mixtures, noise_of_rows
from bayesbias.inference.moments import Projected
from bayesbias.inference.new_words import new_rows
from bayesbias.models.design import Design, labels_of

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

MOST_MIXED = 1000
MOST_AT_ONCE = 2000
"""Rows of a table that are made and described together; each takes some 100 kB meanwhile."""
_MOST_LOADS = 1 << 24  # numbers, of all rows at once, that say what they have in the entries of an effect
_MOST_NOISE = 1 << 25  # numbers drawn and kept, for some blocks of rows


def asked_rows(
    design: Design, table: pd.DataFrame, estimand: str, contrasted: bool, shown: pd.DataFrame | None = None
) -> Rows:
    """Return the means, or their contrasts, of an estimand at all levels, as functions of the effects.

    Labels of a group other than connections are contrasted in the order in which they come in `shown`.
    """
    group = design.spec.results.group
    pairs = contrasted_groups(group, labels_of((table if shown is None else shown)[group], group)[0])
    if estimand in PREDICTIVE:
        return new_rows(design, table, estimand, pairs if contrasted else None)
    means = mean_rows(design, table, estimand)
    return contrast_rows(means, pairs) if contrasted else means


def rows_at(rows: Rows, level: str) -> Rows:
    """Return the rows of one level."""
    return rows.chosen([k for k, key in enumerate(rows.keys) if key[0] == level])


def answer_draws(
    rows: Rows,
    design: Design,
    draws: Mapping[str, np.ndarray],
    chains: int,
    estimand: str,
    column: str,
    seed: int = 0,
) -> xr.DataArray:
    """Return draws of some rows, labelled ``level, name, <column>, estimand``.

    What a new word adds is drawn with `seed`; a row that is a mixture takes one of its parts in each draw.
    """
    values = rows.linear.draws(draws, times_of(design))
    if estimand in PREDICTIVE:
        rng = np.random.default_rng(np.random.SeedSequence([seed, 4]))
        sd = np.sqrt(rows.linear.new_variance(draws))
        values = values + sd * rng.standard_normal(values.shape)
        values = _one_part_each(values, rows, rng)
    return _labelled(values.reshape(chains, len(values) // chains, len(rows.keys)), rows, estimand, column)


def _one_part_each(values: np.ndarray, rows: Rows, rng: np.random.Generator) -> np.ndarray:
    out = np.empty((len(values), len(rows.keys)))
    for row in range(len(rows.keys)):
        parts = np.flatnonzero(rows.row == row)
        which = parts[0] if len(parts) == 1 else rng.choice(parts, len(values), p=rows.weight[parts])
        out[:, row] = values[np.arange(len(values)), which]
    return out


def opposite_draws(rows: Rows, design: Design, draws: Mapping[str, np.ndarray], chains: int) -> xr.DataArray:
    """Return draws of the share of new words whose contrast has another sign than the estimated mean over new words.

    In each draw the contrast of a new word is normal around that of its class, so that the share is a tail of it. The sign
    is that of the posterior mean, the same in every draw.

    Parameters
    ----------
    rows : Rows
        Contrasts of one new word.
    """
    from scipy.special import ndtr

    centre = rows.linear.draws(draws, times_of(design))
    sd = np.sqrt(np.broadcast_to(rows.linear.new_variance(draws), centre.shape))
    own = np.arange(len(rows.keys))[:, None] == rows.row
    weights = np.where(own, rows.weight, 0.0).T  # (parts, rows)
    sign = np.sign((centre @ weights).mean(axis=0))[rows.row]
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = ndtr(-sign * centre / sd) @ weights
    levels, names, labels = zip(*rows.keys, strict=True)
    return labelled_draws(
        shares.reshape(chains, -1, len(rows.keys)), {"level": levels, "name": names, "contrast": labels}
    )


@dataclass(frozen=True, eq=False)
class Mixed:
    """The rows of a table as normal mixtures, and the draws of the scales that they are mixtures over."""

    rows: Rows
    mixtures: Mixtures
    scales: Mapping[str, np.ndarray]

    def draws(self, estimand: str, column: str, seed: int) -> xr.DataArray:
        """Draw once from each of the normals: for effective draws and R-hat, and where a shape is asked for."""
        return _labelled(self.mixtures.sampled(seed), self.rows, estimand, column)


def mixed_rows(
    rows: Rows,
    design: Design,
    reduced: Collapsed | None,
    draws: Mapping[str, np.ndarray],
    chains: int,
    projected: Projected | None = None,
) -> Mixed | None:
    """Return the rows as normal mixtures over draws of the scales; None where they are not.

    `projected` are the same rows turned as the components of the reduction are, where that is done already.
    Of a model that was sampled pair by pair only what is new is normal given the draws. No more than `MOST_MIXED` draws are
    mixed, evenly chosen: of mixtures these say as much as many times as many draws of the rows themselves.
    """
    if not rows.keys:
        return None
    names = list(draws) if reduced is None else list(reduced.scales)
    n = len(draws[names[0]])
    step = -(-n // MOST_MIXED)
    # The same number of draws of each chain.
    chosen = np.concatenate(
        [np.arange(chain * (n // chains), (chain + 1) * (n // chains), step) for chain in range(chains)]
    )
    some = {name: draws[name][chosen] for name in names}
    if reduced is not None and all((some[name] > 0).all() for name in names):
        turned = Projected.of(reduced, rows.linear) if projected is None else projected
        mean, variance = turned.moments(reduced, reduced.joined(some))
    elif reduced is None and (rows.linear.shared or rows.linear.apart):
        mean = rows.linear.draws(some, times_of(design))
        variance = np.zeros_like(mean)
    else:
        return None
    variance = variance + rows.linear.new_variance(some)
    if not (variance > 0).all():
        return None  # such as a mean that is a number of the model file
    shape = (chains, len(chosen) // chains, mean.shape[1])
    mixtures = Mixtures(mean.reshape(shape), np.sqrt(variance).reshape(shape), rows.row, rows.weight)
    return Mixed(rows, mixtures, some)


def _labelled(values: np.ndarray, rows: Rows, estimand: str, column: str) -> xr.DataArray:
    levels, names, labels = zip(*rows.keys, strict=True) if rows.keys else ((), (), ())
    return labelled_draws(
        values,
        {
            "level": list(levels),
            "name": list(names),
            column: list(labels),
            "estimand": [estimand] * len(labels),
        },
    )


@dataclass(frozen=True, eq=False)
class Asking:
    """A fit as far as its tables of means and contrasts ask it: each thing is made once, and kept with it.

    Attributes
    ----------
    design, table
        The model on its rows, both in their own order (`Design.ordered`), so that whatever is drawn for them is too.
    shown : DataFrame
        The rows as they came: in the order of their labels answers are given.
    draws : callable
        Gives the draws of all parameters, chains joined.
    scales : callable
        Gives those of the scales alone: effects of a collapsed fit take ten times as long, and mixtures need none.
    chains, seed : int
    collapsed : bool
        Whether the effects were integrated out.
    """

    design: Design
    table: pd.DataFrame
    shown: pd.DataFrame
    draws: Callable[[], Mapping[str, np.ndarray]]
    scales: Callable[[], Mapping[str, np.ndarray]]
    chains: int
    seed: int
    collapsed: bool
    _made: dict[Any, Any] = field(default_factory=dict, init=False)

    def drawn(self, level: str, estimand: str, contrasted: bool) -> xr.DataArray:
        """Return draws of the rows of a level."""
        rows = rows_at(self._rows(level, estimand, contrasted), level)
        column = self._column(contrasted)
        draws = answer_draws(rows, self.design, self.draws(), self.chains, estimand, column, self.seed)
        return taken_rows(draws, self._order(rows))

    def opposite(self) -> xr.DataArray:
        """Return draws of the shares of new words that go the other way; see `opposite_draws`."""
        rows = self._rows("overall", "one_new_word", contrasted=True)
        if not rows.keys:
            raise no_contrasts(self.design.spec)
        return taken_rows(opposite_draws(rows, self.design, self.draws(), self.chains), self._order(rows))

    def answered(
        self, level: str, estimand: str, contrasted: bool
    ) -> tuple[xr.DataArray, Mixtures | None, Mapping[str, np.ndarray]]:
        """Return draws of the rows of a level, the rows as mixtures where they are, and the draws of the scales behind."""
        rows = rows_at(self._rows(level, estimand, contrasted), level)
        own = self._once(("mixed", level, estimand, contrasted), lambda: self._mixed(rows))
        if own is None:
            return self.drawn(level, estimand, contrasted), None, self.draws()
        order = self._order(own.rows)
        draws = taken_rows(own.draws(estimand, self._column(contrasted), self.seed), order)
        return draws, own.mixtures.chosen(order), own.scales

    def described(
        self, level: str, estimand: str, contrasted: bool, describe: Callable[..., pd.DataFrame]
    ) -> pd.DataFrame | None:
        """Return the rows of a level described, of their draws and mixtures; None where there are none."""
        import pandas as pd

        blocks = self._answered_in_blocks(level, estimand, contrasted)
        frames = [describe(draws, mixtures=mixtures) for draws, mixtures in blocks if draws.sizes["row"]]
        return pd.concat(frames, ignore_index=True) if len(frames) > 1 else next(iter(frames), None)

    def _answered_in_blocks(
        self, level: str, estimand: str, contrasted: bool
    ) -> Iterator[tuple[xr.DataArray, Mixtures | None]]:
        """Give draws and mixtures as `answered` returns them, of some rows at a time where there are very many."""
        rows = rows_at(self._rows(level, estimand, contrasted), level)
        single = len(rows.row) == len(rows.keys)  # else which part a draw is of is drawn after all else
        if len(rows.keys) <= MOST_AT_ONCE or not (self.collapsed and single):
            draws, mixtures, _ = self.answered(level, estimand, contrasted)
            yield draws, mixtures
            return
        order, column = self._order(rows), self._column(contrasted)
        reduced = self._reduced()
        assert reduced is not None
        size = max(int(np.prod(one.data.shape[1:])) for one in reduced.components if one.data is not None)
        step = min(MOST_AT_ONCE, max(100, _MOST_LOADS // size))
        kept = step * max(1, _MOST_NOISE // (MOST_MIXED * step))
        for first in range(0, len(order), kept):
            noise = None
            for start in range(first, min(first + kept, len(order)), step):
                some = rows.chosen(order[start : min(start + step, first + kept)])
                own = self._mixed(some)
                if own is None:
                    yield (
                        answer_draws(
                            some, self.design, self.draws(), self.chains, estimand, column, self.seed
                        ),
                        None,
                    )
                    continue
                if noise is None:
                    shape = (*own.mixtures.mean.shape[:2], len(order))
                    noise = noise_of_rows(self.seed, shape, order[first : first + kept])
                values = own.mixtures.with_noise(noise[..., start - first :][..., : len(some.keys)])
                yield _labelled(values, some, estimand, column), own.mixtures

    def to_divide(
        self, level: str, estimand: str
    ) -> tuple[xr.DataArray, Mixtures | None, Mapping[str, np.ndarray]]:
        """Return contrasts as `answered` does, to be divided by the standard deviation of pairs under the same draw.

        Where words lie along a line that deviation depends on the slope, so that given the scales the ratio is not normal.
        """
        spec = self.design.spec
        if any(spec.parameters[name].covariate is not None and not spec.is_random(name) for name in spec.mu):
            return self.drawn(level, estimand, contrasted=True), None, self.draws()
        return self.answered(level, estimand, contrasted=True)

    def of_rows(
        self, key: Any, make: Callable[[], Rows], contrasted: bool
    ) -> tuple[xr.DataArray, Mixtures | None]:
        """Return draws of rows that are none of its own, made once for each key, and the rows as mixtures where they are."""
        rows = self._once(("rows", key), make)
        mixed, order = self._once(("mixed", key), lambda: self._mixed(rows)), self._order(rows)
        column = self._column(contrasted)
        if mixed is not None:
            return taken_rows(mixed.draws("population", column, self.seed), order), mixed.mixtures.chosen(
                order
            )
        draws = answer_draws(rows, self.design, self.draws(), self.chains, "population", column, self.seed)
        return taken_rows(draws, order), None

    def _order(self, rows: Rows) -> list[int]:
        """Return the numbers of rows in the order in which their labels come in the table."""
        results = self.design.spec.results
        levels = ["overall", *results.levels]
        places = {
            column: {label: place for place, label in enumerate(labels_of(self.shown[column], column)[0])}
            for column in (results.group, *(about.by for about in results.levels.values()))
        }

        def at(row: int) -> tuple[int, int, int, int]:
            level, name, label = rows.keys[row]
            by = {"all": 0} if level == "overall" else places[results.levels[level].by]
            return levels.index(level), by[name], places[results.group].get(label, 0), row

        return sorted(range(len(rows.keys)), key=at)

    def _mixed(self, rows: Rows) -> Mixed | None:
        draws = self.scales() if self.collapsed else self.draws()
        return mixed_rows(rows, self.design, self._reduced(), draws, self.chains)

    def _rows(self, level: str, estimand: str, contrasted: bool) -> Rows:
        check_level(self.design.spec, level)
        check_estimand(self.design.spec, estimand)
        return self._once(
            ("rows", estimand, contrasted),
            lambda: asked_rows(self.design, self.table, estimand, contrasted, self.shown),
        )

    def _reduced(self) -> Collapsed | None:
        return self._once("reduced", lambda: collapse(self.design)) if self.collapsed else None

    def _column(self, contrasted: bool) -> str:
        return "contrast" if contrasted else self.design.spec.results.group

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]
