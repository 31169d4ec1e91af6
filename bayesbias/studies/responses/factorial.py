"""Groups that cross two or three factors, such as gender and ethnicity, and what is compared between them.

A group is then a cell of factors, such as *female, asian*. Contrasts are weights over the means of
cells, so that cells of unequal size count alike.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from bayesbias.core import InputError, checks, some

if TYPE_CHECKING:
    from bayesbias.studies.responses.table import Responses

CROSS = "*"  # between the names of two columns of factors
JOIN = ", "  # between the levels of a cell
LEVELS = ("main", "simple", "interaction", "cell")
"""What a contrast of a factorial table is: averaged over the other factors, within a level, by levels,
or a cell against the mean of all cells."""
MOST_FACTORS = 3
MANY_CELLS = 500  # cells by items
UNSEEN = 0.2  # p-value

type Factors = Mapping[str, Mapping[str, str]]
"""The level that each group has of each factor."""


class Contrast(NamedTuple):
    """A difference between groups.

    Attributes
    ----------
    level : str
        ``overall``, or of a factorial table one of `LEVELS`.
    name : str
        Such as ``female - male (asian)``.
    weights : Mapping of str to float
        The weight of each group.
    against : {"pairs", "others", "mean"}
        Whether a level is compared with another, the mean of the others, or that of all.
    factor : str
        What has these levels; of an interaction both factors. Empty where groups have one column.
    """

    level: str
    name: str
    weights: Mapping[str, float]
    against: str = "pairs"
    factor: str = ""


# -- columns ---------------------------------------------------------------------------------------


def factors_named(group: str, columns: Collection[str]) -> list[str]:
    """Return the columns of factors, or no columns where groups have one column.

    Examples
    --------
    >>> factors_named("gender*ethnicity", ["gender", "ethnicity", "score"])
    ['gender', 'ethnicity']
    >>> factors_named("race", ["race", "score"])
    []
    """
    if group in columns or CROSS not in group:
        return []
    names = [part.strip() for part in group.split(CROSS)]
    if not 2 <= len(names) <= MOST_FACTORS:
        raise InputError(
            f"expected one column, or two or three factors, got {len(names)}", where="group"
        )
    checks.distinct(names, "factor", "group")
    for name in names:
        checks.choice(name, columns, "the column of a factor of group")
    return names


def joined(frame: pd.DataFrame, names: Sequence[str]) -> pd.Series:
    """Return the cell of each row; empty where a factor is missing."""
    parts = [frame[name].fillna("").astype(str).str.strip() for name in names]
    cell = parts[0].str.cat(parts[1:], sep=JOIN)
    lacking = pd.concat(parts, axis=1).eq("").any(axis=1)
    return cell.mask(lacking, "")


def with_cells(frame: pd.DataFrame, group: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the frame with a column of cells called as `group` names factors, and these factors."""
    names = factors_named(group, frame.columns)
    return (frame.assign(**{group: joined(frame, names)}) if names else frame), names


def factors_of(frame: pd.DataFrame, names: Sequence[str], groups: Collection[str]) -> Factors:
    """Return the level of each factor that each group has.

    Raises
    ------
    InputError
        If a factor has one level only.
    """
    cells = joined(frame, names)
    kept = cells.isin([*groups])
    out = {}
    for name in names:
        levels = frame.loc[kept, name].fillna("").astype(str).str.strip()
        if levels.nunique() < 2:
            problem = f"expected a factor with two levels or more, got {some(levels.unique())}"
            raise InputError(problem, where=f"the column {name}", hint="leave it out of group")
        out[name] = dict(zip(cells[kept], levels, strict=True))
    return out


# -- contrasts -------------------------------------------------------------------------------------


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


def contrasts_of(table: Responses) -> list[Contrast]:
    """Return what is compared between the groups of a table, the first first.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesbias as bb
    >>> rows = [(g, a, k / 9) for k, g in enumerate("fm") for a in ("old", "young")]
    >>> frame = pd.DataFrame(rows, columns=["gender", "age", "score"])
    >>> table = bb.responses_table(frame, group=["gender", "age"], outcome="score")
    >>> [contrast.name for contrast in contrasts_of(table) if contrast.level != "cell"]
    ['f - m', 'old - young', 'f - m (old)', 'f - m (young)', 'old - young (f)', 'old - young (m)', '(f - m): old - young']
    >>> [contrast.name for contrast in contrasts_of(table) if contrast.level == "cell"]
    ['f, old - mean', 'f, young - mean', 'm, old - mean', 'm, young - mean']
    """
    if not table.factors:
        return [
            Contrast("overall", name, weights, against)
            for name, weights, against in sides(table.groups)
        ]
    return _factorial(table)


def main_effects(table: Responses) -> list[Contrast]:
    """Return the main effects that a screen and figures have.

    Of a factor with two levels it is their difference, and of one with more each against the others.
    """
    main = [contrast for contrast in contrasts_of(table) if contrast.level == "main"]
    several = {contrast.factor for contrast in main if contrast.against == "others"}
    out = []
    for contrast in main:
        against = "others" if contrast.factor in several else "pairs"
        if contrast.against == against:
            out.append(contrast)
    return out


def _factorial(table: Responses) -> list[Contrast]:
    """Return main effects, effects within levels, interactions of two factors, and cells."""
    names, cells = [*table.factors], _Cells(table)
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

    for name, weights, against in against_mean(table.groups):
        out.append(Contrast("cell", name, weights, against, CROSS.join(names)))
    return out


class _Cells:
    """The cells that a factorial table has, by their levels."""

    def __init__(self, table: Responses) -> None:
        self.factors = table.factors
        self.shown = _distinct_levels(table.factors)
        self.at = {
            tuple(self.shown[name][by_group[group]] for name, by_group in self.factors.items()): (
                group
            )
            for group in table.groups
        }

    def levels(self, factor: str) -> list[str]:
        """Return the levels of a factor, in the order of the alphabet."""
        place = [*self.factors].index(factor)
        return sorted({cell[place] for cell in self.at})

    def weights(self, parts: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
        """Return the weights of groups: products of those of levels, averaged over other factors.

        The average has equal weights, over the levels at which every cell has answers. Empty if there
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
        """Return the weights of the cells of a stratum; empty where a cell has no answers."""
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


def missing_cells(table: Responses) -> list[str]:
    """Return the combinations of levels that no answer is about."""
    cells = _Cells(table)
    every = itertools.product(*(cells.levels(name) for name in table.factors))
    return [JOIN.join(cell) for cell in every if cell not in cells.at]


def with_factors(frame: pd.DataFrame, table: Responses) -> pd.DataFrame:
    """Return rows of a fit with a column for each factor."""
    columns = {column_of(name): frame["group"].map(dict(of)) for name, of in table.factors.items()}
    return frame.assign(**columns)


def terms_left_out(rows: pd.DataFrame, table: Responses) -> list[tuple[str, str]]:
    """Return the factors, each with the column by which its effects need no SD of their own."""
    return [(name, by) for by in ("item", "template") for name in factors_alike(rows, table, by)]


def column_of(factor: str) -> str:
    """Return the column of a factor in the rows of a fit; ours have no such names."""
    return f"factor {factor}"


# -- effects of factors by items -------------------------------------------------------------------


def factors_alike(rows: pd.DataFrame, table: Responses, by: str) -> list[str]:
    r"""Return the factors whose effects differ from item to item no more than those of single cells do.

    Of the means of cells by item, less those of cells and of items, the part :math:`a` of a factor has
    the mean square :math:`c \sum a^2 / ((l - 1)(n - 1))`, with c cells a level, l levels and n items. Where
    factors add nothing it is that of the rest. A factor is returned if an F test has p > .2: with
    hundreds of cells by items its SD would change an interval by a few percent, at many times the
    time. Small tables keep all.
    """
    from scipy import stats

    means = rows.groupby(["group", by], observed=True)["outcome"].mean().unstack(by)
    means = means.dropna(axis=1)
    cells, n = means.shape
    if cells * n < MANY_CELLS:
        return []
    left = means.sub(means.mean(axis=1), axis=0).sub(means.mean(axis=0) - means.stack().mean())
    rest, df_rest = left.copy(), (cells - 1) * (n - 1)
    parts = {}
    for name, of in table.factors.items():
        level = left.index.map(dict(of))
        part = left.groupby(level).transform("mean")
        df = (level.nunique() - 1) * (n - 1)
        parts[name] = float((part.to_numpy() ** 2).sum()) / df, df
        rest, df_rest = rest - part, df_rest - df
    if df_rest <= 0:
        return []
    noise = float((rest.to_numpy() ** 2).sum()) / df_rest
    return [
        name
        for name, (square, df) in parts.items()
        if stats.f.sf(square / max(noise, 1e-300), df, df_rest) > UNSEEN
    ]
