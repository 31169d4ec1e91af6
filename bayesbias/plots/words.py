"""Distributions: every pair of every word, and the shape of vectors."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from bayesbias.core import checks
from bayesbias.core.conventions import PROB
from bayesbias.core.result import opened
from bayesbias.embeddings.shape import EDGES, VectorShape
from bayesbias.inference.estimands import holds_for
from bayesbias.plots import forest as forests, style
from bayesbias.plots.style import COLOR, FAINT, INK, MARKER, styled
from bayesbias.wordlists.wordlist import CONNECTIONS

_LINES = {"associated": "-", "different": "--", "human": "-.", "neutral": ":"}


@styled
def plot_words(
    fit: Any,
    *,
    prob: float = PROB,
    estimand: str = "population",
    words: Iterable[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Show every pair, and the posterior mean of each protected word.

    Each word has a row with one lane per connection, in the order of the legend: every pair as a
    point, and the posterior mean with its HPDI.

    Parameters
    ----------
    fit : BiasFit, Run or path
        What `fit` returned.
    prob : float in (0, 1)
        Probability of the HPDI that is drawn as a line.
    estimand : {"population", "listed_words"}
        Under ``population`` the mean is that over new attributes, so it may lie beside the middle
        of the points.
    words : iterable of str, optional
        Protected words to show, by default all. The axis is that of the whole table.
    ax : matplotlib Axes, optional
        By default a new figure, as tall as the words need.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        If a word is not in the table.

    Notes
    -----
    After the figures of Dobrzeniecka and Urbaniak, section 5.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> table = bb.distance_table("minilm-static", "religion")
    >>> fit = bb.fit(table, seed=1, draws=200, tune=300, chains=2)
    >>> ax = bb.plot_words(fit, ax=Figure(figsize=(7, 9)).subplots())
    >>> bool((ax.data["drawn"] == "pair").sum() == len(table))
    True
    """
    fit = opened(fit)
    forests.need_fit(fit, "connection", "protected_word", "protected_class")
    outcome, distance = fit.spec.outcome, fit.spec.outcome == "distance"
    labels = ["protected_word", "connection"]
    table = fit.table.assign(**{name: fit.table[name].astype(str) for name in labels})
    known = checks.once(table["protected_word"])
    wanted = known if words is None else [words] if isinstance(words, str) else list(words)
    wanted = [checks.choice(word, known, "words") for word in wanted]
    means = fit.words(prob, estimand)
    ends = table[outcome].min(), table[outcome].max()
    means = means[means["protected_word"].isin(wanted)]
    table = table[table["protected_word"].isin(wanted)]
    groups = forests.by_class(table)
    n = forests.rows_in(groups)
    (ax,) = style.axes_for(ax, style.rows_height(n, 0.5, 0.3))
    present = [name for name in CONNECTIONS if (table["connection"] == name).any()]
    lane = 0.84 / len(present)
    lanes = dict(zip(present, forests.lanes(len(present), lane), strict=True))
    series = []
    for name, shift in lanes.items():
        mine = means[means["connection"] == name].rename(columns={"protected_word": "key"})
        look = COLOR[name], MARKER[name], shift - 0.25 * lane
        series.append(forests.Series(mine, *look, width=2.0, size=4.6, label=f"_mean {name}"))
    rows = forests.draw_rows(ax, groups, series, zero=1.0 if distance else None, inside=True)
    points = style.points_per(ax, n) * lane
    size = float(np.clip(0.3 * points, 1.65, 2.4))
    band = float(np.clip(0.13 * (points - 3.0), 0.0, 0.26))
    for name, shift in lanes.items():
        mine = table[table["connection"] == name]
        within = mine.groupby("protected_word").cumcount()
        spread = (within + 0.5) * 0.6180339887498949 % 1.0  # shows no pattern, and is no chance
        # Points lie in the lower part of the lane, the interval in the upper: neither hides the
        # other.
        lower = (0.25 + band * (spread - 0.5)) * lane
        # A crowd of hundreds gets smaller and fainter points: controls must not drown the rest.
        crowd = len(mine) / mine["protected_word"].nunique()
        dot = size * (1.15 if crowd < 40 else 0.85) * (0.85 if MARKER[name] == "s" else 1)
        ax.scatter(
            mine[outcome],
            mine["protected_word"].map(rows).astype(float) + shift + lower,
            s=dot**2,
            color=COLOR[name],
            marker=MARKER[name],
            alpha=np.clip(3.2 / crowd**0.5, 0.4, 0.9),
            linewidths=0,
            zorder=2,
            rasterized=len(table) > 6000,
            label=f"_{name}",
        )
    ax.margins(x=0.03)
    style.show_x(ax, *ends)
    ax.set_xlabel(forests.outcome_label(fit.spec))
    handles = forests.connection_handles(present, 2)
    handles += [forests.one_handle()] if distance else []
    said = holds_for(fit.spec, "word", estimand)
    mean = forests.mean_and_interval(prob, estimand)
    note = (
        f"{forests.source_of(fit)}. Small points: single pairs; large: {mean} ({said}); in each "
        "row, from above, as in the legend."
    )
    shown = ["protected_class", *labels, "attribute_class", "attribute"]
    pairs = table[[c for c in shown if c in table]].assign(value=table[outcome], drawn="pair")
    drawn = means[[*labels, "hpdi_low", "hpdi_high"]].assign(
        value=means["mean"],
        drawn="posterior mean",
        protected_class=means["protected_word"].map(forests.class_of(table)),
    )
    data = pd.concat([pairs, drawn])
    title = "Distance of each protected word, per kind of pair"
    return style.finish([ax], title, note, handles, data)


@styled
def plot_cosines(
    shapes: VectorShape | Mapping[str, VectorShape], *, ax: Axes | None = None
) -> Axes:
    """Show the cosines of all pairs of words, of one or several embeddings.

    Parameters
    ----------
    shapes : VectorShape, or a mapping of names to them
        At most four, such as vectors before and after postprocessing.
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from bayesbias import load_wordlist
    >>> from bayesbias.plots import plot_cosines
    >>> from bayesbias.embeddings import describe_vectors
    >>> ax = plot_cosines(
    ...     describe_vectors("minilm-static", load_wordlist("religion").words),
    ...     ax=Figure().subplots(),
    ... )
    >>> ax.get_xlabel()
    'cosine of a pair of words'
    """
    (ax,) = style.axes_for(ax, 3.0)
    middles = (EDGES[:-1] + EDGES[1:]) / 2
    shown, drawn, looks = [], [], _looks(shapes)
    for name, shape, look in looks:
        total, mean = shape.histogram.sum(), shape.mean_cosine
        density = shape.histogram / (total * (EDGES[1] - EDGES[0]))
        columns = {"vectors": name, "cosine": middles, "density": density, "mean": mean}
        drawn.append(pd.DataFrame(columns))
        ax.plot(middles, density, label=style.plain(name), **look)
        ax.plot([mean], [0], color=look["color"], marker=2, markersize=9, clip_on=False)
        shares = np.cumsum(shape.histogram) / total
        shown += [*middles[np.searchsorted(shares, (0.0005, 0.9995))]]
    ax.axvline(0, color=FAINT, linewidth=0.6, zorder=0)
    ax.set_xlim(min(shown) - 0.02, max(shown) + 0.02)
    ax.set_ylim(0, None)
    ax.set_xlabel("cosine of a pair of words")
    ax.set_ylabel("density")
    handles = [style.line_handle(label=name, **look) for name, _, look in looks]
    handles.append(style.line_handle(INK, "mean", "|", linewidth=0, markersize=9))
    return style.finish(
        [ax], "Cosines of pairs of words", looks[0][1].name, handles, pd.concat(drawn)
    )


@styled
def plot_dimensions(
    shapes: VectorShape | Mapping[str, VectorShape], *, ax: Axes | None = None
) -> Axes:
    """Show what the leading dimensions add to the mean cosine of two words.

    Parameters
    ----------
    shapes : VectorShape or mapping of str to VectorShape
        As in `plot_cosines`.
    ax : matplotlib Axes, optional
        As in `plot_cosines`.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from bayesbias import load_wordlist
    >>> from bayesbias.plots import plot_dimensions
    >>> from bayesbias.embeddings import describe_vectors
    >>> ax = plot_dimensions(
    ...     describe_vectors("minilm-static", load_wordlist("religion").words),
    ...     ax=Figure().subplots(),
    ... )
    >>> ax.get_ylabel()
    'mean cosine they carry'
    """
    (ax,) = style.axes_for(ax, 3.0)
    drawn, looks = [], _looks(shapes)
    for name, shape, look in looks:
        carried = np.cumsum(np.sort(shape.contributions)[::-1])
        dimensions = np.arange(1, shape.dim + 1)
        columns = {"vectors": name, "dimensions": dimensions, "mean cosine": carried}
        drawn.append(pd.DataFrame(columns))
        ax.plot(dimensions, carried, label=style.plain(name), **look)
        if shape.words.share_top is not None and shape.mean_cosine > 0.01:
            top, color = len(shape.words.dimensions), look["color"]
            at = (top, carried[top - 1])
            ax.plot(*at, "o", color=color)
            text = f"{shape.words.share_top:.0%} of it in {top}"
            ax.annotate(text, at, (7, -11), color=color, textcoords="offset points")
    ax.axhline(0, color=FAINT, linewidth=0.6, zorder=0)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.set_xlabel("leading dimensions")
    ax.set_ylabel("mean cosine they carry")
    handles = [style.line_handle(label=name, **look) for name, _, look in looks]
    title = "Mean cosine by leading dimensions"
    return style.finish([ax], title, looks[0][1].name, handles, pd.concat(drawn))


def _looks(shapes: Any) -> list[tuple[str, VectorShape, dict[str, Any]]]:
    """Return each shape with its name and the look of its curve: another color and another line."""
    named = shapes if isinstance(shapes, Mapping) else {shapes.name: shapes}
    return [
        (name, shape, {"color": COLOR[of], "linestyle": line, "linewidth": 1.3})
        for (name, shape), (of, line) in zip(named.items(), _LINES.items(), strict=False)
    ]
