"""Groups of answers that cross two or three factors, such as gender and ethnicity.

Columns of factors become cells, and cells are groups. What is compared between them is in
`bayesbias.core.factors`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

import pandas as pd

from bayesbias.core import InputError, checks, factors as crossed, some
from bayesbias.core.factors import CROSS, JOIN, MOST_FACTORS, Contrast, Factors

if TYPE_CHECKING:
    from bayesbias.studies.responses.table import Responses

CELL = "cell"
LEVELS = (*crossed.LEVELS, CELL)
"""What a contrast of a factorial table is: a level of `bayesbias.core.factors`, or a cell against the
mean of all cells."""
MANY_CELLS = 500  # cells by items
UNSEEN = 0.2  # p-value


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
        level_of = dict(zip(cells[kept], levels, strict=True))
        out[name] = dict(sorted(level_of.items(), key=itemgetter(1)))
    return out


# -- contrasts -------------------------------------------------------------------------------------


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
            for name, weights, against in crossed.sides(table.groups)
        ]
    out = crossed.contrasts_of(table.factors, table.groups)
    for name, weights, against in crossed.against_mean(table.groups):
        out.append(Contrast(CELL, name, weights, against, CROSS.join(table.factors)))
    return out


def main_effects(table: Responses) -> list[Contrast]:
    """Return the main effects that a screen and figures have."""
    contrasts = contrasts_of(table)
    names = crossed.main_effects(contrasts)
    return [contrast for contrast in contrasts if contrast.name in names]


def missing_cells(table: Responses) -> list[str]:
    """Return the combinations of levels that no answer is about."""
    return crossed.missing_cells(table.factors, table.groups)


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
