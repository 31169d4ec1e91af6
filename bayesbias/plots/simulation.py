"""Figures of the critique of averaged scores."""

import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.transforms import ScaledTranslation

from bayesbias.core import checks
from bayesbias.plots import style
from bayesbias.plots.forest import lanes
from bayesbias.plots.style import COLOR, HATCHED, INK, styled

_CODED, _INTENDED, _SINGLE = "#BDBDBD", COLOR["different"], COLOR["associated"]
# Color, marker and name of each method: the tests of averages in color, the right unit in dark
# gray.
_LOOK = {
    ("classes", "weat"): (_SINGLE, "o", "WEAT's permutation test, one-sided as published"),
    ("tables", "manzini"): (_INTENDED, "s", "Manzini's paired t-test of averages"),
    ("classes", "pairs"): (COLOR["human"], "^", "t-test of associated against different pairs"),
    ("classes", "attributes"): (COLOR["neutral"], "D", "t-test of one number per attribute word"),
}


@styled
def plot_paper(case: Any, *, ax: Axes | None = None) -> Axes:
    """Show effect sizes of a simulation of the paper, as coded and as intended.

    The hatched regions are those in which no effect size of 2 + 2 words can lie. The filled
    triangle is the single draw that the paper prints, the open one the same draw as intended.

    Parameters
    ----------
    case : PaperDraws
        What `bayesbias.simulation.paper_draws` returns.
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from bayesbias.plots import plot_paper
    >>> from bayesbias.simulation import paper_draws
    >>> ax = plot_paper(paper_draws("no difference, sd 0.05"), ax=Figure().subplots())
    >>> ax.get_xlabel()
    'effect size of WEAT, 2 + 2 protected words'
    """
    (ax,) = style.axes_for(ax, 3.4)
    ceiling = math.sqrt(3)  # of the effect size of 2 + 2 words; as coded it is the root of 6
    # An edge where the impossible begins keeps the bars of the intended out of it.
    edges = ceiling / 21 * np.arange(-30, 31)
    for side in (-1, 1):
        ax.axvspan(side * ceiling, side * 2.6, linewidth=0, zorder=0, **HATCHED)
    looks: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "as coded": (
            {"color": _CODED},
            {"color": _SINGLE, "markeredgecolor": "white", "markersize": 9},
        ),
        "as intended": (
            {"color": _INTENDED, "histtype": "step", "linewidth": 1.4},
            {"color": _INTENDED, "markerfacecolor": "white", "markersize": 8},
        ),
    }
    data = []
    for formula, (bars, mark) in looks.items():
        sizes, single = case.effect_sizes[formula], case.single[formula]["bias"]
        ax.hist(sizes, edges, density=True, zorder=2, label=f"_{formula}", **bars)
        label = f"single draw, {formula}"
        ax.plot(
            [single],
            [0],
            "^",
            transform=ax.get_xaxis_transform(),
            clip_on=False,
            zorder=4,
            label=f"_{label}",
            **mark,
        )
        density = np.histogram(sizes, edges, density=True)[0]
        ends = {"low": edges[:-1], "high": edges[1:], "density": density}
        data.append(pd.DataFrame({"formula": formula, **ends}))
        data.append(pd.DataFrame({"formula": [label], "low": [single], "high": [single]}))
    ax.set_xlim(-2.6, 2.6)
    ax.set_xticks([-ceiling, -1, 0, 1, ceiling], labels=["−√3", "−1", "0", "1", "√3"])
    ax.set_xlabel("effect size of WEAT, 2 + 2 protected words")
    ax.set_ylabel("density")
    small = {"linewidth": 0, "marker": "^"}
    handles = [
        style.patch_handle("as coded", facecolor=_CODED),
        style.line_handle(_INTENDED, "as intended", linewidth=1.4),
        style.patch_handle("impossible", **HATCHED),
        style.line_handle(label="single draw printed", **looks["as coded"][1] | small),
        style.line_handle(label="the same draw as intended", **looks["as intended"][1] | small),
    ]
    coded = case.effect_sizes["as coded"]
    beyond = float(np.mean(np.abs(coded) > ceiling))
    note = (
        f"{len(coded):,} simulated scores; as coded {beyond:.0%} are larger than any effect size "
        "of so few words can be"
    )
    title = f"The paper's simulation: {case.case.name}"
    return style.finish([ax], title, note, handles, pd.concat(data))


@styled
def plot_false_alarms(
    grid: pd.DataFrame,
    *,
    attribute_sd: float | None = None,
    pair_sd: float | None = None,
    alpha: float = 0.05,
    ax: Axes | None = None,
) -> Axes:
    """Show false alarms of each method against the number of words.

    Parameters
    ----------
    grid : DataFrame
        What `simulate_grid` returns, with a `difference` of 0.
    attribute_sd, pair_sd : float, optional
        The standard deviations to show; the largest in `grid` by default.
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
        If `grid` lacks a standard deviation.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from bayesbias.plots import plot_false_alarms
    >>> from bayesbias.simulation import simulate_grid
    >>> grid = simulate_grid([2, 4, 8], attribute_sd=[0.06], draws=200)
    >>> plot_false_alarms(grid, ax=Figure().subplots()).get_xlabel()
    'protected words per class'
    """
    chosen = grid
    for column, value in (("attribute_sd", attribute_sd), ("pair_sd", pair_sd)):
        known = sorted(set(grid[column]))
        value = known[-1] if value is None else value
        checks.choice(value, known, column)
        chosen = chosen[chosen[column] == value]
    (ax,) = style.axes_for(ax, 3.8)
    figure = ax.get_figure(root=True)
    handles, drawn = [], []
    top = alpha
    asides = lanes(len(_LOOK), 5 / 72)
    for aside, (key, (color, marker, name)) in zip(asides, _LOOK.items(), strict=True):
        rows = chosen[(chosen["question"] == key[0]) & (chosen["method"] == key[1])]
        rows = rows.sort_values("n_words")
        drawn.append(rows)
        # Methods that agree would hide each other: each stands a few points beside the others.
        place = ax.transData + ScaledTranslation(aside, 0, figure.dpi_scale_trans)
        low, high, label = rows["alarms_low"], rows["alarms_high"], f"{key[0]} {key[1]}"
        look: dict[str, Any] = {"color": color, "transform": place}
        ax.vlines(rows["n_words"], low, high, lw=1.1, label=f"_interval {label}", **look)
        look |= {"marker": marker, "markeredgecolor": "white", "markeredgewidth": 0.6}
        look |= {"markersize": 5, "linewidth": 1, "clip_on": False}
        ax.plot(rows["n_words"], rows["alarms"], label=f"_{label}", **look)
        handles.append(style.line_handle(color, name, marker, linewidth=1.4))
        top = max(top, float(high.max()))
    dashed: dict[str, Any] = {"linewidth": 0.8, "linestyle": (0, (4, 3))}
    ax.axhline(alpha, color=INK, zorder=1, **dashed)
    handles.append(style.line_handle(INK, f"what a test at {alpha:g} promises", **dashed))
    words = sorted(set(chosen["n_words"]))
    ax.set_xscale("log", base=2)
    ax.set_xticks(words, labels=[str(n) for n in words])
    ax.minorticks_off()
    ax.set_xlim(words[0] / 1.3, words[-1] * 1.3)
    ax.set_ylim(0, max(0.2, 1.05 * top))  # or chance would look like a finding
    ax.set_xlabel("protected words per class")
    ax.set_ylabel("false alarms, share of tables")
    first = chosen.iloc[0]
    note = (
        f"no true difference; {first['n_attributes']} attributes in A and in B that vary by "
        f"{first['attribute_sd']:g}, pairs by {first['pair_sd']:g}; {first['draws']:,} tables "
        "each, bars are 95% intervals"
    )
    title = "How often each method finds what is not there"
    return style.finish([ax], title, note, handles, pd.concat(drawn))
