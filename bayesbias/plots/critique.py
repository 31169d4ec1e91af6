"""Figures of the critique of averaged scores."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.plots import headings, marks
from bayesbias.plots.data import long
from bayesbias.plots.style import WIDTH, axes_or_new, inches, pt, styled
from bayesbias.scores.association import largest_effect_size
from bayesbias.simulation.false_alarms import METHODS
from bayesbias.simulation.paper import PaperDraws, paper_draws

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["plot_false_alarms", "plot_paper"]

_CODED, _INTENDED, _SINGLE = "#BDBDBD", "#0072B2", "#D55E00"  # grey, and two of Okabe and Ito's
_IMPOSSIBLE: dict[str, Any] = {"facecolor": "#F3F3F3", "edgecolor": "#B5B5B5", "hatch": "////"}
# Colour, marker and line of each method: the tests of averages in colour, the right unit in dark grey.
_LOOK: dict[tuple[str, str], tuple[str, str, str]] = {
    ("classes", "weat"): ("#D55E00", "o", "-"),
    ("classes", "weat_two_sided"): ("#D55E00", "o", ":"),
    ("tables", "manzini"): ("#0072B2", "s", "-"),
    ("classes", "pairs"): ("#CC79A7", "^", "-"),
    ("tables", "pairs"): ("#CC79A7", "^", ":"),
    ("classes", "attributes"): ("#404040", "D", "-"),
    ("tables", "attributes"): ("#404040", "D", ":"),
}
_OF_A_GRID = (
    "n_words", "pair_sd", "attribute_sd", "n_attributes", "question", "method", "alarms", "alarms_low", "alarms_high", "draws",
)  # fmt: skip
_TOP = 0.2  # of the axis of false alarms, at least
_SHOWN = (("classes", "weat"), ("tables", "manzini"), ("classes", "pairs"), ("classes", "attributes"))


@styled
def plot_paper(case: str | PaperDraws, *, bins: int = 60, ax: Axes | None = None) -> Axes:
    """Show the effect sizes of one of the seed paper's simulations, as coded and as intended.

    The hatched regions are those in which no effect size of 2 + 2 words can lie; where the paper's
    histogram reaches into them, it shows the slip in its code. The filled triangle is the single draw that
    the paper prints, the open one the same draw as intended.

    Parameters
    ----------
    case : str or PaperDraws
        The name of one of `PAPER_CASES`, or what `paper_draws` returns.
    bins : int, default 60
        Of equal width, between the ceilings of the coded formula, -sqrt(6) and sqrt(6).
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        For an unknown case.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from bayesbias.plots import plot_paper
    >>> ax = plot_paper("no difference, sd 0.05", ax=Figure().subplots())
    >>> ax.get_xlabel()
    'effect size of WEAT, 2 + 2 protected words'
    """
    import pandas as pd
    from matplotlib.lines import Line2D

    draws = paper_draws(case) if isinstance(case, str) else case
    ax = axes_or_new(ax, inches(WIDTH, 3.4))
    ceiling, widest = largest_effect_size(2, 2), math.sqrt(6)
    assert ceiling is not None
    coded, intended = draws.effect_sizes["as coded"], draws.effect_sizes["as intended"]
    edges = np.linspace(-widest, widest, bins + 1)
    # The impossible region begins within a bin; an edge there keeps the bars of the intended out of it.
    edges = np.unique(
        np.concatenate([edges[np.abs(np.abs(edges) - ceiling) > widest / bins], [-ceiling, ceiling]])
    )
    printed: dict[str, Any] = {
        "color": _SINGLE,
        "marker": "^",
        "markersize": pt(9),
        "markeredgecolor": "white",
    }
    same = printed | {
        "color": _INTENDED,
        "markerfacecolor": "white",
        "markeredgecolor": _INTENDED,
        "markersize": pt(8),
    }
    for side in (-1, 1):
        ax.axvspan(side * ceiling, side * 2.6, linewidth=0, zorder=0, **_IMPOSSIBLE)
    ax.hist(coded, edges.tolist(), density=True, color=_CODED, zorder=2, label="_as coded")
    ax.hist(
        intended,
        edges.tolist(),
        density=True,
        histtype="step",
        color=_INTENDED,
        linewidth=pt(1.4),
        zorder=3,
        label="_as intended",
    )
    for formula, look in (("as coded", printed), ("as intended", same)):
        ax.plot(
            [draws.single[formula]["bias"]],
            [0],
            zorder=4,
            clip_on=False,
            linestyle="none",
            label=f"_single draw, {formula}",
            transform=ax.get_xaxis_transform(),
            **look,
        )
    ax.set_xlim(-2.6, 2.6)
    ax.set_xticks([-math.sqrt(3), -1, 0, 1, math.sqrt(3)], labels=["−√3", "−1", "0", "1", "√3"])
    ax.set_xlabel("effect size of WEAT, 2 + 2 protected words")
    ax.set_ylabel("density")
    beyond = float(np.mean(np.abs(coded) > ceiling))
    handles = [
        marks.patch_handle(_CODED, "as coded"),
        marks.line_handle(_INTENDED, "as intended", width=1.4),
        marks.patch_handle(
            _IMPOSSIBLE["facecolor"], "impossible", hatch="////", edge=_IMPOSSIBLE["edgecolor"]
        ),
        Line2D([], [], linestyle="none", label="single draw printed", **printed | {"markersize": pt(7)}),
        Line2D([], [], linestyle="none", label="the same draw as intended", **same | {"markersize": pt(6.5)}),
    ]
    subtitle = f"{len(coded):,} simulated scores; as coded {beyond:.0%} are larger than any effect size of so few words can be"
    data = long(
        {
            "formula": formula,
            "low": edges[:-1],
            "high": edges[1:],
            "density": np.histogram(drawn, edges, density=True)[0],
        }
        for formula, drawn in (("as coded", coded), ("as intended", intended))
    )
    printed_draws = [
        {"formula": f"single draw, {formula}", "low": single["bias"], "high": single["bias"]}
        for formula, single in draws.single.items()
    ]
    data = pd.concat([data, pd.DataFrame(printed_draws)], ignore_index=True)
    headings.add_headings(ax, f"The paper's simulation: {draws.case.name}", subtitle, handles, data)
    return ax


@styled
def plot_false_alarms(
    grid: pd.DataFrame,
    *,
    attribute_sd: float | None = None,
    pair_sd: float | None = None,
    methods: Iterable[tuple[str, str]] = _SHOWN,
    alpha: float = 0.05,
    ax: Axes | None = None,
) -> Axes:
    """Show how often each method calls a difference that is not there, against words per class.

    Methods stand a little beside each other, so that those which agree can be told apart. The axis reaches to
    0.2 at least.

    Parameters
    ----------
    grid : DataFrame
        What `simulate_grid` returns, with a `difference` of 0.
    attribute_sd, pair_sd : float, optional
        The spreads to show; the largest in `grid` by default.
    methods : iterable of (question, method)
        The lines, of the keys of `METHODS`.
    alpha : float, default 0.05
        The level the tests were made at, drawn as a dashed line.
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        For spreads or methods that are not in `grid`.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from bayesbias.plots import plot_false_alarms
    >>> from bayesbias.simulation import simulate_grid
    >>> grid = simulate_grid([2, 4, 8], attribute_sd=[0.06], draws=200)
    >>> plot_false_alarms(grid, ax=Figure().subplots()).get_xlabel()
    'protected words per class'
    """
    import pandas as pd

    checks.columns(grid, _OF_A_GRID, "grid", "what bayesbias.simulation.simulate_grid returns")
    chosen = grid
    for column, value in (("attribute_sd", attribute_sd), ("pair_sd", pair_sd)):
        value = float(grid[column].max()) if value is None else float(value)
        if not (grid[column] == value).any():
            raise InputError(
                "the grid has no such spread",
                where=column,
                found=value,
                valid=map(str, sorted(set(grid[column]))),
            )
        chosen = chosen[chosen[column] == value]
    from matplotlib.transforms import ScaledTranslation

    ax = axes_or_new(ax, inches(WIDTH, 3.8))
    handles: list[Any] = []
    drawn = []
    methods, top = list(methods), alpha
    figure = ax.get_figure(root=True)
    assert figure is not None
    for i, key in enumerate(methods):
        rows = chosen[(chosen["question"] == key[0]) & (chosen["method"] == key[1])].sort_values("n_words")
        if rows.empty:
            raise InputError("the grid has no such method", found=key, valid=[f"{q} {m}" for q, m in METHODS])
        drawn.append(rows)
        colour, marker, style = _LOOK[key]
        x = rows["n_words"].to_numpy()
        # Methods that agree would hide each other: each stands a few points beside the others, at the same number of words.
        aside = ScaledTranslation((i - (len(methods) - 1) / 2) * pt(5) / 72, 0, figure.dpi_scale_trans)
        ax.vlines(
            x,
            rows["alarms_low"],
            rows["alarms_high"],
            color=colour,
            linewidth=pt(1.1),
            zorder=2,
            transform=ax.transData + aside,
            label=f"_interval {key[0]} {key[1]}",
        )
        ax.plot(
            x,
            rows["alarms"],
            color=colour,
            marker=marker,
            markersize=pt(5),
            linewidth=pt(1),
            linestyle=style,
            markeredgecolor="white",
            markeredgewidth=pt(0.6),
            zorder=3,
            label=f"_{key[0]} {key[1]}",
            clip_on=False,
            transform=ax.transData + aside,
        )
        handles.append(marks.line_handle(colour, METHODS[key], marker=marker, width=1.4, style=style))
        top = max(top, float(rows["alarms_high"].max()))
    ax.axhline(alpha, color="#222222", linewidth=pt(0.8), linestyle=(0, (4, 3)), zorder=1)
    handles.append(
        marks.line_handle("#222222", f"what a test at {alpha:g} promises", style=(0, (4, 3)), width=0.8)
    )
    words = sorted(set(chosen["n_words"]))
    ax.set_xscale("log", base=2)
    ax.set_xticks(words, labels=[str(n) for n in words])
    ax.minorticks_off()
    ax.set_xlim(words[0] / 1.3, words[-1] * 1.3)
    # Rates near the level would else be blown up until chance looks like a finding.
    ax.set_ylim(0, max(_TOP, 1.05 * top))
    ax.set_xlabel("protected words per class")
    ax.set_ylabel("false alarms, share of tables")
    first = chosen.iloc[0]
    subtitle = (
        f"no true difference; {first['n_attributes']} attributes in A and in B that vary by {first['attribute_sd']:g}, "
        f"pairs by {first['pair_sd']:g}; {first['draws']:,} tables each, bars are 95% intervals"
    )
    headings.add_headings(
        ax,
        "How often each method finds what is not there",
        subtitle,
        handles,
        pd.concat(drawn, ignore_index=True),
    )
    return ax
