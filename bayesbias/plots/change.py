"""Figures of comparisons: original with debiased vectors, and one corpus with another."""

from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from bayesbias.core import FitError, checks
from bayesbias.core.conventions import PROB, ROPE, STANDARD_ROPE
from bayesbias.core.formatting import as_percent, with_minus
from bayesbias.core.result import opened
from bayesbias.inference.estimands import holds_for
from bayesbias.plots import forest as forests, style
from bayesbias.plots.style import COLOR, FAINT, INK, MARKER, pt, styled
from bayesbias.wordlists.wordlist import CONNECTIONS, CONTROLS

# Area and opacity of a point: there are ten times as many neutral pairs as others.
_POINTS = {"human": (9, 0.6), "neutral": (5, 0.3)}
_HEADS = {
    "overall": "",
    "class": "by class",
    "attribute_set": "by attribute set",
    "between": "between groups",
}
_EQUALIZED = {
    "equalized": ". By construction, stereotypes have one distance to all words of a definitional "
    "set",
    "equalized_partly": ". Partly by construction: stereotypes have one distance to the words of "
    "some definitional sets",
}
_FORCED = {"partly": "partly by construction", "wholly": "by construction"}


@styled
def plot_changes(
    comparison: Any,
    *,
    method: str | None = None,
    prob: float = PROB,
    ax: Axes | None = None,
) -> Axes:
    """Show how far each protected word moved, per connection.

    Arrows from the original to the debiased mean.

    An arrow begins at the mean distance in the original fit and is as long as the mean change. The
    band around its head is the HPDI of the change. A band that reaches back over the beginning
    is inconclusive.

    Parameters
    ----------
    comparison : Comparison, Run or path
        What `compare` returned.
    method : str, optional
        By default the first.
    prob : float in (0, 1)
        Probability of the HPDI of the change.
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
    >>> after = bb.distance_table(
    ...     bb.hard_debias("minilm-static", "religion").embedding, "religion", controls="none"
    ... )
    >>> found = bb.compare(before, after, draws=100, tune=100, chains=2, seed=1)
    >>> ax = bb.plots.plot_changes(found, ax=Figure(figsize=(7, 9)).subplots())
    >>> len(ax.get_yticklabels())
    18
    """
    comparison = opened(comparison)
    name = comparison.chosen_methods(method)[0]
    spec = comparison.original.spec
    moved = comparison.changes(prob, estimand="population", method=name)
    moved = moved[moved["level"] == "word"]
    start = comparison.original.words(prob)
    start = start.set_index(["protected_word", "connection"])["mean"]
    keys = list(zip(moved["name"], moved["connection"], strict=True))
    moved = moved.assign(original=start.loc[keys].to_numpy(dtype=float))
    groups = forests.by_class(comparison.methods[name].pairs)
    n = forests.rows_in(groups)
    (ax,) = style.axes_for(ax, style.rows_height(n, 0.42, 0.17))
    present = [c for c in CONNECTIONS if c in set(moved["connection"])]
    lane = 0.84 / len(present)
    size = float(np.clip(0.55 * lane * style.points_per(ax, n), 2.6, 5.5))
    distance = spec.outcome == "distance"
    rows = forests.draw_rows(ax, groups, zero=1.0 if distance else None)
    y = moved["name"].map(rows).astype(float)
    for which, shift in zip(present, forests.lanes(len(present), lane), strict=True):
        mine = moved["connection"] == which
        y[mine] += shift
        own, color = moved[mine], COLOR[which]
        low, high = (own["original"] + own[end] for end in ("hpdi_low", "hpdi_high"))
        ax.hlines(y[mine], low, high, color, lw=0.8 * size, alpha=0.35, zorder=2, label="_interval")
        ax.plot(
            own["original"],
            y[mine],
            MARKER[which],
            color=color,
            markersize=1.3 * size,
            markeredgecolor="white",
            markeredgewidth=0.4,
            label="_original",
        )
    style.show_x(ax)
    for move in moved.assign(y=y).itertuples():
        color, end = COLOR[move.connection], move.original + move.mean
        _arrow(ax, move.original, end, move.y, color, 0.9, 1.9 * size)
    ax.set_xlabel(forests.DISTANCE)
    handles = [
        *forests.connection_handles(present, 1.2),
        style.line_handle(INK, "from original to debiased", ">", linewidth=0.9, markersize=4),
        style.patch_handle(f"{as_percent(prob)} HPDI of the change", facecolor=INK, alpha=0.35),
        *([forests.one_handle()] if distance else []),
    ]
    label = holds_for(spec, "word", "population")
    note = f"{label}; {_source(comparison, name)}"
    return style.finish([ax], "From original to debiased, per protected word", note, handles, moved)


@styled
def plot_raw_pairs(comparison: Any, *, method: str | None = None, ax: Axes | None = None) -> Axes:
    """Show every pair: its distance before against its distance after.

    Pairs on the diagonal kept their distance. Stereotypes that debiasing made equal to a set of
    words lie in short horizontal rows.

    Parameters
    ----------
    comparison : Comparison, Run or path
        What `compare` returned.
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
    >>> after = before.frame.assign(
    ...     distance=(1 + before.frame["distance"]) / 2
    ... )  # every cosine halved
    >>> found = bb.compare(before, after, draws=100, tune=100, chains=2, seed=1)
    >>> ax = bb.plots.plot_raw_pairs(found, ax=Figure().subplots())
    >>> sum(len(points.get_offsets()) for points in ax.collections) == len(before)
    True
    """
    comparison = opened(comparison)
    name = comparison.chosen_methods(method)[0]
    pairs = comparison.methods[name].pairs
    (ax,) = style.axes_for(ax, min(6.0, style.across()) + 1.05, 6.0)
    handles = _square_scatter([ax], [pairs], CONNECTIONS)
    ax.set_xlabel("cosine distance, original")
    ax.set_ylabel(f"cosine distance, {style.plain(name)}")
    note = f"{len(pairs):,} pairs, {_source(comparison, name)}"
    return style.finish([ax], "Every pair, before and after", note, handles, pairs)


@styled
def plot_controls(
    comparison: Any, *, method: str | None = None, prob: float = PROB, ax: Axes | None = None
) -> Axes:
    """Show distances to control words before and after debiasing.

    Around the diagonal the vectors are still there; noise gives a cloud without direction. The line
    is the regression of distances after on those before.

    Parameters
    ----------
    comparison : Comparison, Run or path
        What `compare` returned.
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
        If the tables hold no control words.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import bayesbias as bb
    >>> before = bb.distance_table("minilm-static", "religion")
    >>> after = before.frame.assign(
    ...     distance=(1 + before.frame["distance"]) / 2
    ... )  # every cosine halved
    >>> found = bb.compare(before, after, draws=100, tune=100, chains=2, seed=1)
    >>> ax = bb.plots.plot_controls(found, ax=Figure().subplots())
    >>> ax.get_xlabel()
    'distance before'
    """
    comparison = opened(comparison)
    names = comparison.chosen_methods(method)[: None if ax is None else 1]
    tables = [comparison.methods[name].pairs for name in names]
    tables = [table[table["connection"].isin(CONTROLS)] for table in tables]
    if any(table.empty for table in tables):
        raise FitError("the tables hold no control words, whose distances this figure shows")
    n, across = len(names), style.across()
    height, width = min(4.4, across) + 0.95, 4.4
    if n > 1:
        height, width = 1.6 + max(2.0, across / n), max(style.WIDTH, 2.2 * n)
    axes = style.axes_for(ax, height, width, n, sharey=n > 1)
    handles = _square_scatter(axes, tables, CONTROLS)
    regression: dict[str, Any] = {"color": COLOR["associated"], "linewidth": 1.6}
    for panel, name, table in zip(axes, names, tables, strict=True):
        geometry = comparison.geometry_of(name, prob)
        means, x = table[["original", "debiased"]].mean(), table["original"]
        ends = np.array([x.min(), x.max()])
        line = means["debiased"] + geometry.slope.value * (ends - means["original"])
        panel.plot(ends, line, zorder=4, label="_slope", **regression)
        r, text = geometry.least, "r is not known"
        if np.isfinite(r.low):
            value, low, high = (style.number(each, 2) for each in (r.value, r.low, r.high))
            text = f"r = {value} ({low} to {high})"
        panel.annotate(
            f"{style.plain(name)}: {geometry.left.replace('_', ' ')}\n{text}",
            (0.03, 0.98),
            xycoords="axes fraction",
            va="top",
            fontsize=pt(7.5),
            bbox={"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 1.5},
            zorder=5,
        )
        panel.set_xlabel("distance before")
    axes[0].set_ylabel("distance after")
    handles.append(style.line_handle(label="regression", **regression))
    note = (
        f"{comparison.provenance['original']}; r: the lower of the correlation and that without "
        f"the means of words, with its {as_percent(prob)} interval"
    )
    data = pd.concat([t.assign(method=name) for name, t in zip(names, tables, strict=True)])
    return style.finish(axes, "Distances to control words, before and after", note, handles, data)


@styled
def plot_ranking(
    comparison: Any,
    *,
    prob: float = PROB,
    rope: float = ROPE,
    ax: Axes | None = None,
) -> Axes:
    """Show what each method leaves of the gap between attributes, best first.

    The gap is that between associated and different attributes.

    Parameters
    ----------
    comparison : Comparison, Run or path
        What `compare` returned.
    prob : float in (0, 1)
        Probability of the HPDI that is drawn as a line.
    rope : float > 0
        Half-width of the region of practical equivalence (ROPE), drawn as a gray band.
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    FitError
        If the tables hold no associated and different attributes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import bayesbias as bb
    >>> before = bb.distance_table("minilm-static", "religion", controls="none")
    >>> after = before.frame.assign(
    ...     distance=(1 + before.frame["distance"]) / 2
    ... )  # every cosine halved
    >>> found = bb.compare(before, after, draws=100, tune=100, chains=2, seed=1)
    >>> ax = bb.plots.plot_ranking(found, ax=Figure().subplots())
    >>> len(ax.get_yticklabels())
    2
    """
    comparison = opened(comparison)
    ranked = comparison.ranking(prob, rope, "population")
    gap = comparison.original.contrast_rows(prob, rope, "population", "overall")
    gap = gap[gap["contrast"] == "associated - different"].iloc[0]
    ends = {"gap": "mean", "gap_low": "hpdi_low", "gap_high": "hpdi_high"}
    original = {"method": "original"} | {name: gap[end] for name, end in ends.items()}
    frame = pd.concat([pd.DataFrame([original]), ranked], ignore_index=True)
    rows = frame.rename(columns={"method": "key"} | ends)
    geometries = {name: comparison.geometry_of(name, prob) for name in ranked["method"]}
    gray = np.array([True, *(each.destroyed for each in geometries.values())])

    def text(row: Any) -> str:
        said = [style.estimate(row, signed=True)]
        if forced := _FORCED.get(row.by_construction):
            said.append(f"({forced})")
        if row.key in geometries and "kept" not in (left := geometries[row.key].left):
            said.append(f"controls {left.replace('_', ' ')}")
        return "\n".join(said)

    mean = f"{forests.mean_and_interval(prob)} of the gap"
    ax = forests.forest(
        ax,
        forests.ungrouped(rows["key"]),
        [
            forests.Series(rows[mask], color, width=2.4, size=7)
            for mask, color in ((gray, FAINT), (~gray, COLOR["associated"]))
            if mask.any()
        ],
        height=1.6 + 0.46 * len(rows),
        rope=rope,
        beside=[forests.Beside(forests.by_key(rows, text))],
        handles=[style.line_handle(INK, mean, "o", linewidth=2.4, markersize=6)],
        title="What is left of the gap",
        note=f"{comparison.provenance['original']}; population: new words, treated in the same way",
        xlabel="associated − different, in cosine distance (negative: own stereotypes are closer)",
        data=frame,
    )
    for place, end in enumerate(rows["mean"][1:], 1):
        _arrow(ax, float(gap["mean"]), end, place + 0.25, INK, 0.7, 8)
    return ax


@styled
def plot_corpora(
    result: Any,
    *,
    contrast: str | None = None,
    prob: float = PROB,
    rope: float | None = None,
    standardized: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Show one contrast in every corpus, and its change.

    Open marks are the corpora, from top to bottom in their order. At the right are the changes,
    each with its HPDI.

    Parameters
    ----------
    result : CorpusComparison, Run or path
        The result to show.
    contrast : str, optional
        By default the first.
    prob : float in (0, 1)
        Probability of the HPDIs.
    rope : float > 0, optional
        Half-width of the region of practical equivalence (ROPE), drawn as a gray band. By default
        0.02, or 0.1 SDs.
    standardized : bool
        Whether to show SDs of the pairs of each corpus in place of distances.
    ax : matplotlib Axes, optional
        Shows the changes alone; by default a new figure with both panels.

    Returns
    -------
    matplotlib Axes
        Of two panels the first; both are in ``ax.figure.axes``.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import bayesbias as bb
    >>> settings = {"seed": 1, "draws": 100, "tune": 100, "chains": 2}
    >>> later = bb.load_embedding(
    ...     "minilm-static", bb.load_wordlist("religion").words, postprocess="abtt"
    ... )
    >>> found = bb.compare(
    ...     {"a": "minilm-static", "b": later}, "religion", kind="corpora", **settings
    ... )
    >>> bb.plots.plot_corpora(found, ax=Figure().subplots()).get_xlabel()
    'change of the difference'
    """
    result = opened(result)
    near = (STANDARD_ROPE if standardized else ROPE) if rope is None else rope
    if standardized:
        frame = result.standardized(prob, near, "population")
    else:
        frame = result.contrasts(prob, near, "population", detail=True)
    names = checks.once(frame["contrast"])
    name = names[0] if contrast is None else checks.choice(contrast, names, "contrast")
    frame, levels = (
        own[(own["contrast"] == name) & own["level"].isin(list(_HEADS))]
        for own in (frame, result.by_corpus(prob, near, standardized))
    )
    groups = forests.grouped(
        (_HEADS[level], (level, of), of if _HEADS[level] else "all classes")
        for level, of in dict.fromkeys(zip(frame["level"], frame["name"], strict=True))
    )
    lanes = max(len(result.corpora), len(result.changes))
    height = sum(map(len, groups.values())) * max(1.0, 0.5 * lanes) + len(groups)
    alone = ax is not None
    axes = style.axes_for(ax, style.rows_height(height, 0.34, 0.14), n=1 if alone else 2)

    def series(own: pd.DataFrame, by: str, colors: Any, hollow: bool) -> list[forests.Series]:
        own = own.assign(key=list(zip(own["level"], own["name"], strict=True)))
        parts = [(str(said), part) for said, part in own.groupby(by, sort=False)]
        shifts = forests.lanes(len(parts), 0.7 / len(parts))
        return [
            forests.Series(part, color, shift=shift, hollow=hollow, legend=said)
            for (said, part), color, shift in zip(parts, colors, shifts, strict=True)
        ]

    shades: Any = [COLOR["associated"]]
    if len(result.changes) > 1:
        shades = matplotlib.colormaps["plasma"](np.linspace(0.3, 0.8, len(result.changes)))
    drawn = series(frame, "change", shades, False)
    near = float(frame["rope"].iloc[0])
    forests.draw_rows(axes[-1], groups, drawn, rope=near)
    unit = ", in SDs" if standardized else ""
    said = "slope per step" if result.has_slope else "change of the difference"
    axes[-1].set_xlabel(said + unit)
    if not alone:
        shades = matplotlib.colormaps["viridis"](np.linspace(0.1, 0.8, len(result.corpora)))
        in_each = series(levels, "corpus", shades, True)
        forests.draw_rows(axes[0], groups, in_each)
        axes[0].set_xlabel(f"{with_minus(name)} in each corpus{unit}")
        axes[-1].tick_params(labelleft=False)
        drawn = [*in_each, *drawn]
    handles = [*forests.handle_series(drawn), forests.rope_handle(near)]
    note = f"{result.provenance['name']}; new words. Posterior mean and {as_percent(prob)} HPDI"
    return style.finish(axes, "What differs between corpora", note, handles, frame)


def _square_scatter(
    axes: list[Axes], tables: list[pd.DataFrame], connections: tuple[str, ...]
) -> list[Any]:
    """Draw distances after against those before in squares with a diagonal; return the legend."""
    values = pd.concat(tables)[["original", "debiased"]].to_numpy()
    low, high = float(values.min()), float(values.max())
    pad = 0.03 * (high - low) or 0.1
    present = [c for c in connections if any((t["connection"] == c).any() for t in tables)]
    for ax, table in zip(axes, tables, strict=True):
        ax.plot([low, high], [low, high], color=INK, linewidth=0.8, zorder=3)
        for which in reversed(present):
            own, many = table[table["connection"] == which], which in _POINTS
            area, alpha = _POINTS.get(which, (16, 0.85))
            ax.scatter(
                own["original"],
                own["debiased"],
                area,
                COLOR[which],
                marker=MARKER[which],
                alpha=alpha,
                linewidths=0 if many else 0.4,
                edgecolors="face" if many else "white",
                zorder=2 if many else 4,
                rasterized=len(table) > 2000,
                label=f"_{which}",
            )
        ax.set(xlim=(low - pad, high + pad), ylim=(low - pad, high + pad), box_aspect=1)
        ax.set_anchor("S")  # what room is left stands above, where the title is
    unchanged = style.line_handle(INK, "unchanged", linewidth=0.8)
    return [*forests.connection_handles(present), unchanged]


def _arrow(
    ax: Axes, begin: float, end: float, y: float, color: str, width: float, scale: float
) -> None:
    """Draw an arrow; a move hardly longer than its head as a line."""
    figure = ax.get_figure(root=True)
    low, high = ax.get_xlim()
    points = 0.75 * figure.get_size_inches()[0] * 72 * abs(end - begin) / (high - low)
    head = "-|>,head_length=0.4" if points > 0.5 * scale else "-"
    look = {"color": color, "linewidth": width, "mutation_scale": scale, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", (end, y), (begin, y), zorder=3, arrowprops={"arrowstyle": head, **look})


def _source(comparison: Any, name: str) -> str:
    """Say what is compared, and what the method forces."""
    forced = [_EQUALIZED.get(flag, "") for flag in comparison.methods[name].construction.flags]
    return f"{name} against {comparison.provenance['original']}{''.join(forced)}"
