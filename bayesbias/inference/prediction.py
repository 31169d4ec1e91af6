r"""The mean of a finite number of new units: words, attributes, prompts, items.

New units are laid out as the listed ones: each has as many rows as a listed unit has on average, with partners
like its own. So a listed table stands in for the new one. With :math:`c_r` the weight of row r in a mean or
contrast, m new units in the place of U listed ones have effects of the variance

.. math:: \frac{U}{m} \sum_j \sigma_{k(j)}^2 \Bigl( \sum_{r \in j} c_r \Bigr)^2

for each term that belongs to new units, over its entries j with the standard deviations k(j); and the noise of
their rows :math:`\frac{U}{m} \sum_r \sigma_r^2 c_r^2`. Where U / m differs between groups, it is a factor of
the rows. Terms of listed units alone keep their posterior.

Where units have partners of their own, such as three of many items each, those of new units differ too. With
:math:`t_u = \sum_{r \in u} c_r (\eta_r - \bar\eta)`, what the terms of partners give to the rows of unit u
beyond the mean of its rows, new units and listed ones are both a sample of more layouts:

.. math:: U^2 \Bigl( \frac{1}{m} + \frac{1}{U} \Bigr) \operatorname{var}_u(t_u) .

It is zero where all units of a group have the same partners. Units that have one partner each of a kind,
such as words about one item, are strata: as large a share of the new units has this partner.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import FitError, InputError, checks, join_words, some
from bayesbias.inference.estimands import averaged, combinations, levels_of
from bayesbias.inference.linear import Key, NewEffects, Quantities, joined
from bayesbias.models.design import Arrays, Design, determined

ESTIMAND = "new_units"
GROUP_OF = {"protected_word": "protected_class", "attribute": "attribute_class", "word": "group"}
"""The column of the groups that units belong to."""
NOUNS = {"words": "protected_word", "attributes": "attribute"}
"""What users call the units of a table of pairs."""
FEWEST = 2  # listed units, to learn how they vary
ALL = "all"
_LAYOUT_DRAWS = 50
_MOSTLY = 0.5  # of units; if fewer are of several groups, one of two groups is two units
_NUMBERS = 4_000_000
_TINY = 1e-9


@dataclass(frozen=True, eq=False)
class NewUnits:
    """New units of one kind, such as words.

    Attributes
    ----------
    column : str
        The column of the units.
    columns : frozenset of str
        Columns that have new labels: that of the units, and those that belong to them.
    codes : ndarray of int, shape (n_rows,)
        The listed unit of each row.
    stratum : ndarray of int, shape (n_rows,)
        The group of each row, with the one partner of its unit where units have one each.
    number : ndarray, shape (strata,)
        How many new units each stratum has, on average.
    """

    column: str
    columns: frozenset[str]
    codes: np.ndarray
    stratum: np.ndarray
    number: np.ndarray

    @property
    def listed(self) -> np.ndarray:
        """The number of listed units of each stratum."""
        pairs = np.unique(np.stack([self.stratum, self.codes]), axis=1)
        return np.bincount(pairs[0], minlength=len(self.number))

    @property
    def per_new(self) -> np.ndarray:
        """The number of listed units over that of new ones, for each row."""
        return (self.listed / self.number)[self.stratum]

    def of_rows(self, rows: Any) -> NewUnits:
        """Return new units for some rows, where as large a share of them has rows as of the listed ones."""
        some = replace(self, codes=self.codes[rows], stratum=self.stratum[rows])
        listed = np.maximum(some.listed, 1)  # of a stratum without rows nothing is asked
        return replace(some, number=self.number * listed / self.listed)


def new_units(
    design: Design, table: pd.DataFrame, new: Any, nouns: Mapping[str, str]
) -> list[NewUnits]:
    """Return what is new, from what a user asks for.

    Parameters
    ----------
    design : Design
    table : DataFrame
        The rows of the design, in its order.
    new : Mapping of str to int, or to Mapping of str to int
        What is new, and how many of each group.
    nouns : Mapping of str to str
        Column of each kind of units, by the nouns that a user may write.

    Raises
    ------
    InputError
        If `new` is no such mapping, or the table has no such units.
    """
    names = {**{unit: unit for unit in nouns.values()}, **nouns}
    valid = [noun for noun in nouns if nouns[noun] in design.codes]
    if not isinstance(new, Mapping) or not new:
        problem = "expected a mapping of what is new to how many"
        example = f'{{"{valid[0]}": 10}}' if valid else None
        raise InputError(problem, where="new", found=new, valid=example)
    out = []
    for noun, number in new.items():
        column = names[checks.choice(noun, names, "new")]
        if column not in design.codes:
            problem = f"expected units of this table ({join_words(valid, 'or')})"
            raise InputError(problem, where="new", found=noun)
        out.append(_units(design, table, column, str(noun), number))
    columns = [units.column for units in out]
    if repeated := checks.repeated(columns):
        problem = f"expected each kind of units once, got {repeated[0]} twice"
        raise InputError(problem, where="new")
    return out


def _units(design: Design, table: pd.DataFrame, column: str, noun: str, number: Any) -> NewUnits:
    """Return new units of one column."""
    codes = design.codes[column]
    where = f"new, {noun}"
    listed = len(np.unique(codes))
    if listed < FEWEST:
        named = design.coords[column] != [""]  # else the table has no such column
        got = "one" if named else "none"
        raise InputError(f"expected {FEWEST} or more of the table, got {got}", where=where)
    groups, group = [ALL], np.zeros(len(codes), dtype=np.int64)
    by = GROUP_OF.get(column)
    if by is not None and by in table:
        group, labels = pd.factorize(table[by].astype(str), sort=True)
        groups = [str(label) for label in labels]
    if isinstance(number, Mapping):
        if {*number} != {*groups}:
            problem = f"expected a number for each group ({some(groups)})"
            raise InputError(problem, where=where, found=[*number])
        counts = [checks.count(number[name], f"{where}, {name}") for name in groups]
    else:
        counts = [checks.count(number, where)] * len(groups)

    units = codes
    if determined(codes, group) is None:
        pairs, unit_of_group = combinations([codes, group])
        if np.mean(np.bincount(pairs[0]) > 1) <= _MOSTLY:  # a few names that groups have in common
            units = unit_of_group
        elif len(set(counts)) > 1:
            problem = f"expected one number, since groups share {noun}"
            raise InputError(problem, where=where, found=counts)
        else:
            counts, group = counts[:1], np.zeros_like(group)

    # What belongs to one unit alone is new with it, such as the question about a word.
    results = design.spec.results
    kept = {*results.fixed, results.group, *filter(None, [by])}
    belongs = [name for name in design.codes if name not in kept]
    fresh = [name for name in belongs if determined(design.codes[name], codes) is not None]

    strata = [group]
    for unit in design.spec.units:
        partner = design.codes[unit]
        if unit not in (column, *fresh) and determined(units, partner) is not None:
            strata.append(partner)
    cells, stratum = combinations(strata)
    found = NewUnits(column, frozenset({column, *fresh}), units, stratum, np.ones(cells.shape[1]))
    of_group = np.bincount(cells[0], found.listed)
    return replace(found, number=np.array(counts)[cells[0]] * found.listed / of_group[cells[0]])


def predicted_means(
    design: Design,
    new: Sequence[NewUnits],
    effects: Callable[[Collection[str], int], Arrays],
    variance: np.ndarray | None = None,
    levels: Collection[str] | None = None,
) -> Quantities:
    """Return means of the outcome in rows about new units, with the variance these add.

    Parameters
    ----------
    design : Design
        Its outcome has normal noise.
    new : sequence of NewUnits
    effects : callable
        ``effects(names, most)`` returns at most so many posterior draws of some parameters.
    variance : ndarray, shape (n_rows,), optional
        The variance of the noise of each row over that of an answer; by default that of `design`.
    levels : collection of str, optional
        By default overall, and those of labels that are no units.
    """
    if not design.outcome_type.normal:
        raise FitError(f"new: expected normal noise, got {design.spec.likelihood}")
    present, group = design.labels(design.spec.results.group)
    fresh = frozenset[str]().union(*(units.columns for units in new))
    if variance is None:
        weights = design.weights
        variance = np.ones(len(group)) if weights is None else 1 / weights
    kept = {*design.coords, *design.spec.results.fixed} - fresh
    kept |= {*design.spec.results.fixed}
    eta = _kept_of_rows(design, kept, effects)
    keys: list[Key] = []
    parts = []
    for level, (labels, codes, _) in levels_of(design, "listed_words").items():
        by = "" if level == "overall" else design.spec.results.levels[level].by
        if by in fresh or by in design.spec.units or (levels is not None and level not in levels):
            continue
        cells, cell = combinations([codes, group])
        counts = np.bincount(cell)
        keys += [(level, labels[name], present[which]) for name, which in cells.T.tolist()]
        linear = averaged(design, kept, cell, counts)
        share = 1.0 / counts[cell]
        shared = _effects(design, new, kept, cell, share, len(counts))
        shared += _layouts(new, eta, cell, counts)
        noise = _noise(design, new, cell, share**2 * variance, len(counts))
        parts.append(replace(linear, shared=shared, apart=(noise,)))
    return Quantities.plain(keys, joined(parts))


def _effects(
    design: Design,
    new: Sequence[NewUnits],
    kept: Collection[str],
    cell: np.ndarray,
    share: np.ndarray,
    number: int,
) -> tuple[NewEffects, ...]:
    """Return the effects of new units: those of listed ones stand in for them."""
    spec, out = design.spec, []
    for name in spec.location_parameters():
        dims = {*spec.parameters[name].dims}
        if not spec.is_random(name) or dims <= {*kept}:
            continue
        lever = design.lever(name)
        amount = share if lever is None else share * lever
        for units in new:
            if dims & units.columns:
                amount = amount * np.sqrt(units.per_new)
        weights = np.zeros((number, design.size(name)))
        np.add.at(weights, (cell, design.index[name]), amount)
        sd = str(spec.parameters[name].args["sigma"])
        out.append(NewEffects(sd, design.parent[name, "sigma"], weights))
    return tuple(out)


def _kept_of_rows(
    design: Design, kept: set[str], effects: Callable[[Collection[str], int], Arrays]
) -> np.ndarray:
    """Return draws of what the terms of listed units give to each row, shape (n, n_rows)."""
    rows = np.arange(len(design.y))
    linear = averaged(design, kept, rows, np.ones(len(rows)))
    most = min(max(_NUMBERS // len(rows), 1), _LAYOUT_DRAWS)
    if not linear.weights:
        return linear.constant[None]
    return linear.draws(effects(linear.weights, most))


def _layouts(
    new: Sequence[NewUnits], eta: np.ndarray, cell: np.ndarray, counts: np.ndarray
) -> tuple[NewEffects, ...]:
    """Return by how much new units may have other partners, as effects of SD one."""
    from scipy import sparse

    out = []
    means = np.stack([np.bincount(cell, values) / counts for values in eta])
    apart = (eta - means[:, cell]) / counts[cell]
    for place, units in enumerate(new):
        pairs, unit = combinations([units.stratum, units.codes])
        n = pairs.shape[1]
        listed = units.listed[pairs[0]]
        t = np.zeros((len(counts), len(eta), n))
        for k, values in enumerate(apart):
            np.add.at(t[:, k], (cell, unit), values)
        shape = (n, len(units.number))
        strata = sparse.csr_array((np.ones(n), (np.arange(n), pairs[0])), shape=shape)
        flat = t.reshape(-1, n)
        flat -= (flat @ strata)[:, pairs[0]] / listed
        if np.abs(t).max() <= _TINY * np.abs(eta).max():
            continue
        variance = listed**2 * (1 / units.number[pairs[0]] + 1 / listed)
        t *= np.sqrt(variance / np.maximum(listed - 1, 1) / len(eta))
        out.append(NewEffects(1.0, np.full(t[0].size, place), t.reshape(len(counts), -1)))
    return tuple(out)


def _noise(
    design: Design, new: Sequence[NewUnits], cell: np.ndarray, square: np.ndarray, number: int
) -> NewEffects:
    """Return the noise of the rows about new units."""
    sigma = design.spec.noise["sigma"]
    entries = design.index[sigma] if isinstance(sigma, str) else np.zeros(len(cell), dtype=int)
    for units in new:
        square = square * units.per_new
    weights = np.zeros((number, entries.max() + 1))
    np.add.at(weights, (cell, entries), square)
    return NewEffects(sigma, np.arange(entries.max() + 1), weights)


@dataclass(frozen=True, eq=False)
class NewRows:
    """Rows about new units, each a copy of a row about a listed one.

    Attributes
    ----------
    source : ndarray of int
        The listed row that each row copies.
    copies : list of ndarray of int
        For each kind of new units, the new unit of each row.
    """

    source: np.ndarray
    copies: list[np.ndarray]


def new_rows(new: Sequence[NewUnits], rng: np.random.Generator) -> NewRows:
    """Lay new units out as listed ones, which are a sample of more and are drawn from as such."""
    source = np.arange(len(new[0].codes))
    copies: list[np.ndarray] = []
    for units in new:
        codes, stratum = units.codes[source], units.stratum[source]
        # Shares of units are rounded by chance, and the number of a group is kept.
        ends = np.floor(np.cumsum(units.number) + rng.random() * (1 - _TINY) + _TINY / 2)
        counts = np.diff(ends, prepend=0).astype(int)
        rows: list[np.ndarray] = []
        names: list[np.ndarray] = []
        for place, count in enumerate(counts):
            listed = np.unique(codes[stratum == place])
            if len(listed) == 0:
                continue
            sample = rng.choice(listed, len(listed))
            for unit in rng.choice(sample, count):
                chosen = np.flatnonzero((codes == unit) & (stratum == place))
                rows.append(chosen)
                names.append(np.full(len(chosen), len(names)))
        chosen = np.concatenate(rows)
        source, copies = source[chosen], [copy[chosen] for copy in copies]
        copies.append(np.concatenate(names))
    return NewRows(source, copies)
