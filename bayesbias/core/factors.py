"""Groups that cross two or three factors, such as gender and race: what is compared between them.

Groups are groups of answers, or classes of a word list. A group is then a cell of factors, such as
*female, asian*. Contrasts are weights over the means of cells, so that cells of unequal size count
alike.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from bayesbias.core import checks

CROSS = "*"  # between the names of two factors
JOIN = ", "  # between the levels of a cell
LEVELS = ("main", "simple", "interaction")
"""What a contrast of crossed groups is: averaged over the other factors, within a level, or by levels."""
MOST_FACTORS = 3

type Factors = Mapping[str, Mapping[str, str]]
"""The level that each group has of each factor; levels are in the order in which they come."""


class Contrast(NamedTuple):
    """A difference between groups.

    Attributes
    ----------
    level : str
        ``overall``, or of crossed groups one of `LEVELS`.
    name : str
        Such as ``female - male (asian)``.
    weights : Mapping of str to float
        The weight of each group.
    against : {"pairs", "others", "mean"}
        Whether a level is compared with another, the mean of the others, or that of all.
    factor : str
        What has these levels; of an interaction both factors. Empty where groups cross none.
    """

    level: str
    name: str
    weights: Mapping[str, float]
    against: str = "pairs"
    factor: str = ""


def sides(labels: Sequence[str]) -> list[tuple[str, dict[str, float], str]]:
    """Return each two labels and, of three and more, each and all others: name, weights, what against.

    Examples
    --------
    >>> [name for name, *_ in sides(["a", "b", "c"])]
    ['a - b', 'a - c', 'b - c', 'a - others', 'b - others', 'c - others']
    """
    found = [
        (f"{a} - {b}", {a: 1.0, b: -1.0}, "pairs") for a, b in itertools.combinations(labels, 2)
    ]
    if len(labels) > 2:
        rest = -1 / (len(labels) - 1)
        for label in labels:
            weights = {other: rest for other in labels if other != label}
            found.append((f"{label} - others", {label: 1.0, **weights}, "others"))
    return found


def against_mean(labels: Sequence[str]) -> list[tuple[str, dict[str, float], str]]:
    """Return each label against the mean of all, itself included."""
    share = 1 / len(labels)
    return [
        (f"{label} - mean", {other: (other == label) - share for other in labels}, "mean")
        for label in labels
    ]


def contrasts_of(factors: Factors, groups: Sequence[str]) -> list[Contrast]:
    """Return the main effects, the effects within levels, and the interactions of two factors.

    Parameters
    ----------
    factors : Mapping of str to Mapping of str to str
        The level that each group has of each factor.
    groups : sequence of str
        Those that are compared; others have no weight.

    Examples
    --------
    >>> factors = {"gender": {"w1": "woman", "w2": "woman", "m1": "man", "m2": "man"},
    ...            "race": {"w1": "black", "w2": "white", "m1": "black", "m2": "white"}}
    >>> for contrast in contrasts_of(factors, ["w1", "w2", "m1", "m2"]):
    ...     print(f"{contrast.level:<12}{contrast.name}")
    main        woman - man
    main        black - white
    simple      woman - man (black)
    simple      woman - man (white)
    simple      black - white (woman)
    simple      black - white (man)
    interaction (woman - man): black - white
    """
    names, cells = [*factors], _Cells(factors, groups)
    levels = {name: cells.levels(name) for name in names}
    out: list[Contrast] = []

    def add(
        level: str, name: str, parts: Mapping[str, Mapping[str, float]], against: str, of: str
    ) -> None:
        weights = cells.weights(parts)
        if weights:
            out.append(Contrast(level, name, weights, against, of))

    for factor in names:
        compared = sides(levels[factor])
        if len(levels[factor]) > 2:
            compared += against_mean(levels[factor])
        for name, weights, against in compared:
            add("main", name, {factor: weights}, against, factor)

    for factor in names:
        others = [other for other in names if other != factor]
        within = [(other,) for other in others] + [tuple(others)] * (len(others) > 1)
        for given in within:
            for held in itertools.product(*(levels[other] for other in given)):
                kept = {other: {level: 1.0} for other, level in zip(given, held, strict=True)}
                for name, weights, against in sides(levels[factor]):
                    parts = {factor: weights, **kept}
                    add("simple", f"{name} ({JOIN.join(held)})", parts, against, factor)

    for first, second in itertools.combinations(names, 2):
        by_level = sides(levels[second])
        if len(levels[second]) > 2:
            by_level = [side for side in by_level if side[2] == "others"]
        both = itertools.product(sides(levels[first]), by_level)
        for (name, of_first, against), (by, of_second, _) in both:
            parts = {first: of_first, second: of_second}
            add("interaction", f"({name}): {by}", parts, against, f"{first}{CROSS}{second}")
    return out


class _Cells:
    """The cells that there are, by their levels."""

    def __init__(self, factors: Factors, groups: Sequence[str]) -> None:
        self.factors = factors
        self.shown = _distinct_levels(factors)
        self.at = {}
        for group in groups:
            cell = (self.shown[name][by_group[group]] for name, by_group in factors.items())
            self.at[tuple(cell)] = group

    def levels(self, factor: str) -> list[str]:
        """Return the levels of a factor that a cell has, in the order of the factor."""
        place = [*self.factors].index(factor)
        there = {cell[place] for cell in self.at}
        return [level for level in self.shown[factor].values() if level in there]

    def weights(self, parts: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
        """Return the weights of groups: products of those of levels, averaged over other factors.

        The average has equal weights, over the levels at which no cell is missing. Empty if there
        are none.
        """
        free = [self.levels(name) for name in self.factors if name not in parts]
        tables = []
        for stratum in itertools.product(*free):
            rest = iter(stratum)
            by_factor = [
                [*parts[name].items()] if name in parts else [(next(rest), 1.0)]
                for name in self.factors
            ]
            tables.append(self._products(by_factor))
        complete = [table for table in tables if table]
        out: dict[str, float] = {}
        for table in complete:
            for group, weight in table.items():
                out[group] = out.get(group, 0.0) + weight / len(complete)
        return out

    def _products(self, by_factor: Sequence[Sequence[tuple[str, float]]]) -> dict[str, float]:
        """Return the weights of the cells of a stratum; empty where a cell is missing."""
        out = {}
        for combination in itertools.product(*by_factor):
            cell = tuple(level for level, _ in combination)
            if cell not in self.at:
                return {}
            weight = 1.0
            for _, own in combination:
                weight *= own
            out[self.at[cell]] = weight
        return out


def _distinct_levels(factors: Factors) -> dict[str, dict[str, str]]:
    """Return what each level is called: with its factor, where two factors have one of that name."""
    levels = {name: checks.once(by_group.values()) for name, by_group in factors.items()}
    every = [level for known in levels.values() for level in known]
    return {
        name: {
            level: f"{name} {level}" if every.count(level) > 1 else level for level in levels[name]
        }
        for name in factors
    }


def missing_cells(factors: Factors, groups: Sequence[str]) -> list[str]:
    """Return the combinations of levels that no group has."""
    cells = _Cells(factors, groups)
    every = itertools.product(*(cells.levels(name) for name in factors))
    return [JOIN.join(cell) for cell in every if cell not in cells.at]


def of_groups(factors: Factors, groups: Collection[str]) -> Factors:
    """Return the factors of some groups: those of which these have two levels, if there are two.

    Examples
    --------
    >>> factors = {"gender": {"a": "woman", "b": "man"}, "race": {"a": "black", "b": "white"}}
    >>> of_groups(factors, ["a", "b"]) == factors, of_groups(factors, ["a"])
    (True, {})
    """
    out: dict[str, dict[str, str]] = {}
    for name, by_group in factors.items():
        if not {*groups} <= by_group.keys():
            return {}
        kept = {group: level for group, level in by_group.items() if group in groups}
        if len(set(kept.values())) > 1:
            out[name] = kept
    cells = [tuple(of[group] for of in out.values()) for group in groups]
    return out if len(out) > 1 and len(set(cells)) == len(cells) else {}


def main_effects(contrasts: Iterable[Contrast]) -> list[str]:
    """Return the main effects that a screen has.

    A factor of two levels has one, and any other factor one of each level against the others.
    """
    main = [contrast for contrast in contrasts if contrast.level == "main"]
    several = {contrast.factor for contrast in main if contrast.against == "others"}
    return [
        contrast.name
        for contrast in main
        if contrast.against == ("others" if contrast.factor in several else "pairs")
    ]


def weights_of_cells(level_of: Mapping[str, str], weights: Mapping[str, float]) -> dict[str, float]:
    """Return the weight of each cell from those of the levels of a factor, of which cells share it.

    Examples
    --------
    >>> weights_of_cells({"f, old": "f", "f, young": "f", "m, old": "m"}, {"f": 1, "m": -1})
    {'f, old': 0.5, 'f, young': 0.5, 'm, old': -1.0}
    """
    levels = [*level_of.values()]
    return {
        cell: weights[level] / levels.count(level)
        for cell, level in level_of.items()
        if level in weights
    }
