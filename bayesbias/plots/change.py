"""Figures of a comparison of original and debiased vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.digits import (
    as_known,
    ends_as_known,
    interval_known,
    interval_text,
    number_known,
    number_text,
)
from bayesbias.core.errors import FitError
from bayesbias.core.formatting import as_percent
from bayesbias.inference.estimands import PROB, ROPE
from bayesbias.plots import headings, marks, outcomes, slopes
from bayesbias.plots.plates import Plate, on_axes
from bayesbias.plots.rows import grouped, ridge_axis, row_axis
from bayesbias.plots.style import (
    FAINT,
    HEAD,
    INK,
    MARKER,
    WIDTH,
    across,
    axes_or_new,
    inches,
    make_square,
    new_figure,
    plain,
    pt,
    size_rows,
    square,
    styled,
)
from bayesbias.studies.debiasing.comparison import Comparison, Method
from bayesbias.studies.debiasing.construction import Forced
from bayesbias.studies.debiasing.geometry import Left
from bayesbias.wordlists.pairing import CONNECTIONS
from bayesbias.wordlists.wordlist import CONTROLS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_changes", "plot_controls", "plot_ranking", "plot_raw_pairs"]

_PANEL = 2.4  # inches
_ACROSS = 3

_CROWD = {
    "human": (9, 0.6),
    "neutral": (5, 0.3),
}  # area and opacity: there are ten times as many neutral pairs


@styled
def plot_changes(
    comparison: Comparison,
    *,
    method: str | None = None,
    prob: float = PROB,
    estimand: str = "population",
    ax: Axes | None = None,
) -> Axes:
    """Show how far each protected word moved, per connection: arrows from the original to the debiased mean.

    An arrow begins at the mark of the connection, the mean distance in the original fit, and is as long as the mean
    change; the line around its head is the HPDI of the change, from the fit of the differences. An arrow whose line reaches back
    over its beginning shows no evidence of change, and a move too short for a head has none.

    Parameters
    ----------
    comparison : Comparison
    method : str, optional
        By default the first.
    prob : float in (0, 1)
        Probability of the HPDI of the change, drawn as a band.
    estimand : {"population", "listed_words"}
    ax : matplotlib Axes, optional
        By default a new figure, as tall as the words need.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> before = bb.distance_table("minilm-static", "religion", controls="none")
    >>> after = bb.distance_table(bb.hard_debias("minilm-static", "religion").embedding, "religion", controls="none")
    >>> found = bb.compare(before, after, draws=100, tune=100, chains=2, seed=1)
    >>> ax = bb.plots.plot_changes(found, ax=Figure(figsize=(7, 9)).subplots())
    >>> len(ax.get_yticklabels())
    18
    """
    name = _method(comparison, method)
    item = comparison.methods[name]
    changes = comparison.changes(prob, estimand=estimand, method=name)
    changes = changes[changes["level"] == "word"]
    start = comparison.original.words(prob, estimand).set_index(["protected_word", "connection"])["mean"]
    rows, labels, heads = grouped(item.pairs)
    ax = axes_or_new(ax, _size_changes(item))
    begin = start.loc[list(zip(changes["name"], changes["connection"], strict=True))].to_numpy(dtype=float)
    ends = [begin, begin + changes["hpdi_low"], begin + changes["hpdi_high"]]
    spec = comparison.original.spec
    span = outcomes.around(float(min(map(np.min, ends))), float(max(map(np.max, ends))))
    points = row_axis(ax, labels, heads, span)
    # Moves may be far from the distance at which nothing is similar, and are to be seen.
    one = span[0] <= 1 <= span[1]
    if one:
        outcomes.mark_one(ax, spec)
    present = [c for c in CONNECTIONS if c in set(changes["connection"])]
    lane = 0.84 / len(present)
    size = float(np.clip(0.55 * lane * points, 2.6, 5.5))
    for at, r in zip(begin, changes.itertuples(), strict=True):
        y = rows[r.name] + (present.index(r.connection) - (len(present) - 1) / 2) * lane
        colour = marks.colour_of(r.connection)
        ax.plot(
            [at + r.hpdi_low, at + r.hpdi_high],
            [y, y],
            color=colour,
            alpha=0.35,
            linewidth=pt(0.8 * size),
            solid_capstyle="butt",
            zorder=2,
            label="_interval",
        )
        ax.plot(
            [at],
            [y],
            marker=MARKER[r.connection],
            markersize=pt(1.3 * size),
            color=colour,
            markeredgecolor="white",
            markeredgewidth=pt(0.4),
            linestyle="none",
            zorder=2.5,
            label="_original",
        )
        marks.draw_move(ax, at, at + r.mean, y, colour=colour, width=0.9, scale=1.9 * size, above=3)
    headings.name_x(ax, outcomes.OUTCOME["distance"])
    handles = [marks.line_handle(marks.colour_of(c), c, marker=MARKER[c], width=1.2) for c in present]
    handles += [marks.line_handle(INK, "from original to debiased", marker=">", width=0.9, size=4)]
    handles += [marks.patch_handle(INK, f"{as_percent(prob)} HPDI of the change", alpha=0.35)]
    handles += outcomes.one_handle(spec) if one else []
    subtitle = (
        f"{name} against {comparison.provenance['original']}; "
        f"{outcomes.estimand_said(comparison.original.spec, 'word', estimand)}"
        f"{_warning(comparison, name)}"
    )
    headings.add_headings(
        ax, "From original to debiased, per protected word", subtitle, handles, changes.assign(original=begin)
    )
    return ax


@styled
def plot_raw_pairs(comparison: Comparison, *, method: str | None = None, ax: Axes | None = None) -> Axes:
    """Show every pair: its distance before against its distance after.

    Pairs on the diagonal kept their distance. Stereotypes that debiasing made equal to a set of words
    lie in short horizontal rows.

    Parameters
    ----------
    comparison : Comparison
    method : str, optional
        By default the first.
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import bayesbias as bb
    >>> before = bb.distance_table("minilm-static", "religion", controls="none")
    >>> after = before.frame.assign(distance=(1 + before.frame["distance"]) / 2)  # every cosine halved
    >>> found = bb.compare(before, after, draws=100, tune=100, chains=2, seed=1)
    >>> ax = bb.plots.plot_raw_pairs(found, ax=Figure().subplots())
    >>> sum(len(points.get_offsets()) for points in ax.collections) == len(before)
    True
    """
    name = _method(comparison, method)
    pairs = comparison.methods[name].pairs
    ax = axes_or_new(ax, _size_pairs())
    connection = pairs["connection"].astype(str).to_numpy()
    before, after = (pairs[c].to_numpy(dtype=float) for c in ("original", "debiased"))
    low, high = min(before.min(), after.min()), max(before.max(), after.max())
    pad = 0.03 * (high - low) or 0.1
    ax.plot([low, high], [low, high], color=INK, linewidth=pt(0.8), zorder=1.5, label="_unchanged")
    for which in reversed([c for c in CONNECTIONS if (connection == c).any()]):
        mine = connection == which
        few = which in ("associated", "different")
        ax.scatter(
            before[mine],
            after[mine],
            s=pt(1) ** 2 * (16 if few else _CROWD.get(which, (5, 0.3))[0]),
            marker=MARKER[which],
            color=marks.colour_of(which),
            alpha=0.85 if few else _CROWD.get(which, (5, 0.3))[1],
            linewidths=pt(0.4 if few else 0),
            edgecolors="white" if few else "none",
            zorder=4 if few else 2,
            rasterized=len(pairs) > 6000,
            label=f"_{which}",
        )
    ax.set_xlim(low - pad, high + pad)
    ax.set_ylim(low - pad, high + pad)
    make_square(ax)
    headings.name_x(ax, "cosine distance, original")
    ax.set_ylabel(f"cosine distance, {plain(name)}")
    handles = [
        marks.line_handle(marks.colour_of(c), c, marker=MARKER[c], style="none")
        for c in CONNECTIONS
        if (connection == c).any()
    ]
    handles.append(marks.line_handle(INK, "unchanged", width=0.8))
    subtitle = f"{len(pairs):,} pairs, {name} against {comparison.provenance['original']}{_warning(comparison, name)}"
    headings.add_headings(ax, "Every pair, before and after", subtitle, handles, pairs)
    return ax


@styled
def plot_controls(
    comparison: Comparison, *, method: str | None = None, prob: float = PROB, ax: Axes | None = None
) -> Axes:
    """Show distances to control words before and after: what is left of the geometry that nobody meant to treat.

    Around the diagonal the vectors are still there; a cloud without direction is what noise gives. The line is the
    regression of distances after on those before.

    Parameters
    ----------
    comparison : Comparison
    method : str, optional
        By default all, each in a panel of its own.
    prob : float in (0, 1)
        Probability of the interval of the correlation.
    ax : matplotlib Axes, optional
        For one method, by default the first; without it a new figure.

    Returns
    -------
    matplotlib Axes
        Of several panels the first; all are in ``ax.figure.axes``.

    Raises
    ------
    FitError
        Where the tables hold no control words.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import bayesbias as bb
    >>> before = bb.distance_table("minilm-static", "religion")
    >>> after = before.frame.assign(distance=(1 + before.frame["distance"]) / 2)  # every cosine halved
    >>> found = bb.compare(before, after, draws=100, tune=100, chains=2, seed=1)
    >>> ax = bb.plots.plot_controls(found, ax=Figure().subplots())
    >>> ax.get_xlabel()
    'distance before'
    """
    names = _checked(comparison).chosen_methods(method)
    if ax is not None:
        names = names[:1]
        return _draw_controls(comparison, names, prob, [ax])
    figure = new_figure(_size_controls(len(names)))
    return _draw_controls(comparison, names, prob, _panels(figure, len(names)))


def _panels(figure: Figure, n: int) -> list[Axes]:
    across = min(n, _ACROSS)
    axes = figure.subplots(-(-n // across), across, squeeze=False, sharex=True, sharey=True).ravel()
    for empty in axes[n:]:
        empty.remove()
    return list(axes[:n])


@styled
def _draw_controls(comparison: Comparison, names: list[str], prob: float, axes: list[Axes]) -> Axes:
    import pandas as pd

    geometries = [comparison.geometry_of(name, prob) for name in names]
    tables = [comparison.methods[name].pairs for name in names]
    tables = [table[table["connection"].isin(CONTROLS)] for table in tables]
    if any(table.empty for table in tables):
        raise FitError("the tables hold no control words, whose distances this figure shows")
    values = [table[["original", "debiased"]].to_numpy(dtype=float) for table in tables]
    low, high = min(map(np.min, values)), max(map(np.max, values))
    pad = 0.03 * (high - low) or 0.1
    present = [c for c in CONTROLS if any((table["connection"] == c).any() for table in tables)]
    for name, geometry, table, each, ax in zip(names, geometries, tables, values, axes, strict=True):
        ax.plot([low, high], [low, high], color=INK, linewidth=pt(0.8), zorder=3, label="_unchanged")
        for which in reversed(present):
            mine = (table["connection"] == which).to_numpy()
            ax.scatter(
                each[mine, 0],
                each[mine, 1],
                s=pt(1) ** 2 * _CROWD[which][0],
                marker=MARKER[which],
                color=marks.colour_of(which),
                alpha=_CROWD[which][1],
                linewidths=0,
                zorder=2,
                rasterized=len(table) > 2000,
                label=f"_{which}",
            )
        middle, ends = each.mean(axis=0), np.array([each[:, 0].min(), each[:, 0].max()])
        if np.isfinite(geometry.slope.value):
            line = middle[1] + geometry.slope.value * (ends - middle[0])
            ax.plot(
                ends, line, color=marks.colour_of("associated"), linewidth=pt(1.6), zorder=4, label="_slope"
            )
        ax.set_xlim(low - pad, high + pad)
        ax.set_ylim(low - pad, high + pad)
        make_square(ax)
        r = geometry.least
        text = (
            f"r = {number_text(r.value, 2)} ({interval_text(r.low, r.high, digits=2)})"
            if np.isfinite(r.low)
            else "r is not known"
        )
        ax.annotate(
            f"{plain(name)}: {geometry.left.label}\n{text}",
            (0.03, 0.98),
            xycoords="axes fraction",
            va="top",
            fontsize=pt(7.5),
            zorder=5,
            bbox={"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": pt(1.5)},
        )
    first = axes[0]
    for place, ax in enumerate(axes):
        if place + _ACROSS >= len(axes):
            ax.tick_params(labelbottom=True)
            headings.name_x(ax, "distance before")
        if place % _ACROSS == 0:
            ax.set_ylabel("distance after", fontsize=pt(8.5))
    handles = [marks.line_handle(marks.colour_of(c), c, marker=MARKER[c], style="none") for c in present]
    handles += [
        marks.line_handle(INK, "unchanged", width=0.8),
        marks.line_handle(marks.colour_of("associated"), "regression", width=1.6),
    ]
    subtitle = (
        f"{comparison.provenance['original']}; r: the lower of the correlation and that without the means of words, with its "
        f"{as_percent(prob)} interval"
    )
    across = axes[:_ACROSS] if len(axes) > 1 else ()
    headings.add_headings(
        first,
        "Distances to control words, before and after",
        subtitle,
        handles,
        pd.concat([t.assign(method=name) for name, t in zip(names, tables, strict=True)]),
        across=across,
    )
    for ax in axes:
        ax.data = first.data  # type: ignore[attr-defined]
    return first


@styled
def plot_ranking(
    comparison: Comparison,
    *,
    prob: float = PROB,
    rope: float = ROPE,
    estimand: str = "population",
    ax: Axes | None = None,
) -> Axes:
    """Show what each method leaves of the gap between associated and different attributes, best first.

    Parameters
    ----------
    comparison : Comparison
    prob : float in (0, 1)
        Probability of the HPDI that is drawn as a line.
    rope : float > 0
        Half-width of the region of practical equivalence (ROPE), drawn as a grey band.
    estimand : {"population", "listed_words"}
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    FitError
        Where the tables hold no associated and different attributes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import bayesbias as bb
    >>> before = bb.distance_table("minilm-static", "religion", controls="none")
    >>> after = before.frame.assign(distance=(1 + before.frame["distance"]) / 2)  # every cosine halved
    >>> found = bb.compare(before, after, draws=100, tune=100, chains=2, seed=1)
    >>> ax = bb.plots.plot_ranking(found, ax=Figure().subplots())
    >>> len(ax.get_yticklabels())
    2
    """
    import pandas as pd

    frame = _checked(comparison).ranking(prob, rope, estimand)
    gap = comparison.original.contrasts(prob, rope, estimand)
    gap = gap[(gap["level"] == "overall") & (gap["contrast"] == "associated - different")].iloc[0]
    names = ["original", *frame["method"]]
    before = pd.DataFrame(
        {"method": ["original"], "gap": gap["mean"], "gap_low": gap["hpdi_low"], "gap_high": gap["hpdi_high"]}
    )
    ax = axes_or_new(ax, _size_ranking(comparison))
    ends = [gap["hpdi_low"], gap["hpdi_high"], *frame["gap_low"], *frame["gap_high"], -rope, rope]
    pad = 0.06 * (max(ends) - min(ends))
    ridge_axis(ax, names, (min(ends) - pad, max(ends) + pad))
    ax.axvspan(-rope, rope, color="#D9D9D9", linewidth=0, zorder=0.6)
    ax.axvline(0, color=INK, linewidth=pt(0.8), zorder=0.7)
    ax.plot(
        [gap["hpdi_low"], gap["hpdi_high"]], [0, 0], color=FAINT, linewidth=pt(2.4), solid_capstyle="butt"
    )
    ax.plot([gap["mean"]], [0], marker="o", markersize=pt(7), color=FAINT, markeredgecolor="white", zorder=4)
    headings.write_aside(
        ax, 0, f"{as_known(gap, 'mean', signed=True)}\n[{', '.join(ends_as_known(gap, signed=True))}]"
    )
    for row, r in enumerate(frame.itertuples(), 1):
        left = Left(r.geometry)
        colour = FAINT if left.destroyed else marks.colour_of("associated")
        ax.plot(
            [r.gap_low, r.gap_high],
            [row, row],
            color=colour,
            linewidth=pt(2.4),
            solid_capstyle="butt",
            zorder=3,
            label="_interval",
        )
        ax.plot(
            [r.gap],
            [row],
            marker=MARKER["associated"],
            markersize=pt(7),
            color=colour,
            markeredgecolor="white",
            zorder=4,
        )
        marks.draw_move(ax, gap["mean"], r.gap, row - 0.22, colour=INK, width=0.7, scale=8, above=3)
        narrow = across() < 5
        said = Forced(r.by_construction).label
        forced = ("\n" if narrow or r.by_construction == Forced.PARTLY else " ") + f"({said})" if said else ""
        forced += f"\ncontrols {left.label}" if left.marked else ""
        ends_said = ", ".join(ends_as_known(r, "gap_low", "gap_high", signed=True))
        headings.write_aside(ax, row, f"{as_known(r, 'gap', signed=True)}\n[{ends_said}]{forced}")
    headings.name_x(ax, "associated − different, in cosine distance (negative: own stereotypes lie nearer)")
    handles = [
        marks.line_handle(
            INK,
            f"posterior mean and {as_percent(prob)} HPDI of the gap",
            marker="o",
            width=2.4,
            size=6,
        ),
        marks.patch_handle("#D9D9D9", f"ROPE ± {rope:g}"),
    ]
    headings.add_headings(
        ax,
        "What is left of the gap",
        f"{comparison.provenance['original']}; {outcomes.ESTIMAND_OF_CHANGE[estimand]}",
        handles,
        pd.concat([before, frame], ignore_index=True),
    )
    return ax


def plates(comparison: Comparison, prob: float = PROB, rope: float = ROPE) -> list[Plate]:
    """List the figures of a comparison: of each method its changes and pairs, and the ranking of the methods."""
    listed = []
    for number, (name, item) in enumerate(comparison.methods.items(), 1):
        stem = f"_{number}" if len(comparison.methods) > 1 else ""
        listed += [
            Plate(
                f"changes{stem}",
                on_axes(plot_changes, comparison, method=name, prob=prob),
                _size_changes(item),
                f"From the original to {name}: an arrow per protected word and connection, with the interval of the change.",
                "One row per protected word, one arrow per connection from the mean distance before to that after; the "
                "numbers are in the table of changes per word.",
            ),
            Plate(
                f"pairs{stem}",
                on_axes(plot_raw_pairs, comparison, method=name),
                _size_pairs(),
                f"Every pair before and after ({name}). Pairs on the diagonal kept their distance.",
                f"All {len(item.pairs):,} pairs: cosine distance in the original against that in {name}; the mean distances "
                "per connection are in the table of raw means.",
            ),
        ]
    if set(CONTROLS) & set(comparison.original.table["connection"]):
        names = list(comparison.methods)
        left = "; ".join(
            f"{name} {geometry.left.label}, correlation {number_text(geometry.least.value, 2)}"
            for name, geometry in ((name, comparison.geometry_of(name, prob)) for name in names)
        )
        listed.append(
            Plate(
                "controls",
                lambda figure: _draw_controls(comparison, names, prob, _panels(figure, len(names))),
                _size_controls(len(names)),
                "Distances to control words before and after. Around the diagonal the vectors are still there; a cloud "
                "without direction is what noise gives.",
                f"One point per pair of a protected word and a control word, before against after: {left}.",
            )
        )
    if {"associated", "different"} <= set(comparison.original.table["connection"]):
        gaps = "; ".join(
            f"{r.method} {number_known(r, 'gap', signed=True)} ({interval_known(r, 'gap_low', 'gap_high', signed=True)})"
            for r in comparison.ranking(prob, rope).itertuples()
        )
        listed.append(
            Plate(
                "ranking",
                on_axes(plot_ranking, comparison, prob=prob, rope=rope),
                _size_ranking(comparison),
                "What each method leaves of the gap, best first. The grey band is the region of practical equivalence.",
                f"Gap between associated and different after each method: {gaps}.",
            )
        )
    return [*listed, *slopes.plates(comparison, prob)]


def _size_changes(item: Method) -> tuple[float, float]:
    rows = item.pairs["protected_word"].nunique() + HEAD * item.pairs["protected_class"].nunique()
    return size_rows(rows, 0.42, 0.17)


def _size_controls(n: int) -> tuple[float, float]:
    rows = -(-n // _ACROSS)
    return square(4.4, 0.95) if n == 1 else inches(WIDTH, 0.9 + _PANEL * rows)


def _size_ranking(comparison: Comparison) -> tuple[float, float]:
    return inches(WIDTH, 1.6 + 0.46 * (1 + len(comparison.methods)))


def _size_pairs() -> tuple[float, float]:
    return square(6.0, 1.05)


def _method(comparison: Comparison, method: str | None) -> str:
    return _checked(comparison).chosen_methods(method)[0]


def _checked(comparison: Comparison) -> Comparison:
    return checks.instance(comparison, Comparison, "comparison", "what bayesbias.compare returns")


def _warning(comparison: Comparison, name: str) -> str:
    flags: Any = set(comparison.methods[name].construction.flags)
    if "equalized" in flags:
        return ". By construction, stereotypes have one distance to all words of a definitional set"
    if "equalized_partly" in flags:
        return (
            ". Partly by construction: stereotypes have one distance to the words of some definitional sets"
        )
    return ""
