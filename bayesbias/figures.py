"""Figures: each `plot_*` takes a result and an optional Axes, and returns the Axes.

Without Axes a figure of a fitting size is made through pyplot, so that it shows in a notebook as any other;
nothing else here touches pyplot, and `save_figures` does without it. A script that the font lacks shows as
boxes; choose a font with ``matplotlib.rcParams["font.family"]``, which is respected. Style, rows and headings
are in `_canvas`.

Title and legend stand above the Axes, where they hide no data; give a figure of your own
``layout="constrained"``, so that it makes room for them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias import _canvas as canvas
from bayesbias.errors import InputError, nearest
from bayesbias.posterior import CONTRASTS, ESTIMANDS, PROB, ROPE, BiasFit
from bayesbias.spec import CONNECTIONS, Design, ModelSpec, load_model

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "plot_connections",
    "plot_contrasts",
    "plot_predictive",
    "plot_priors",
    "plot_words",
    "save_figures",
]

_TIGHT, _TIGHT_IN_COLUMNS = 0.3, 0.24  # inches; less, and the four lanes of a word run together
_LONGEST_IN_COLUMNS = 16  # letters of a word; longer ones leave half a page too narrow for distances
_LEVELS = ("overall", "class", "word")
_COLUMNS = {"population": 32.0, "these_words": 62.0}  # right ends of the columns, in points from the Axes
_PRIOR_DRAWS = 6000
_PRIOR_PAIRS = 20_000


# -- the five figures -----------------------------------------------------------------------------


@canvas.styled
def plot_priors(
    model_or_fit: str | os.PathLike[str] | ModelSpec | BiasFit, ax: Axes | None = None, *, seed: int = 0
) -> Axes:
    """Show what a model believes before it has seen a pair, against the possible distances.

    Per connection: the prior of the mean distance (filled), the prior predictive of a single pair (line),
    and the share of such pairs that falls outside [0, 2], where no cosine distance can lie.

    Parameters
    ----------
    model_or_fit : str, path, ModelSpec or BiasFit
        A model alone is shown for one protected word, and a fit for the words of its table; the two differ
        only where the mean is averaged over words, as in the additive model.
    ax : matplotlib Axes, optional
        By default a new figure.
    seed : int
        Of the draws from the prior.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        For an unknown model, or one that needs a column the table lacks.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> ax = bb.plot_priors("crossed", ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['associated', 'different', 'human', 'neutral']
    """
    fit = model_or_fit if isinstance(model_or_fit, BiasFit) else None
    spec = fit.spec if fit is not None else load_model(model_or_fit)  # type: ignore[arg-type]
    frame = _one_pair_each(spec) if fit is None else fit.table
    _need(frame, ("connection",), spec)
    means = _prior_means(spec, frame, seed)
    pairs = frame.drop_duplicates("connection")
    design = Design.of(spec, pairs)
    new = design.outcome_draws(design.prior_draws(_PRIOR_PAIRS, seed), seed + 1)
    predictive = {str(name): new[:, i] for i, name in enumerate(pairs["connection"])}

    names = list(means)
    ax = canvas.axes_or_new(ax, canvas.size_ridges(len(names)))
    possible = (0.0, 2.0) if spec.outcome == "distance" else None
    low, high = (-1.0, 3.0) if possible else canvas.value_range([*means.values(), *predictive.values()], 0.01)
    grid = np.linspace(low, high, 401)
    canvas.ridge_axis(ax, names, (low, high))
    if possible:
        for edges in ((low, possible[0]), (possible[1], high)):
            ax.axvspan(*edges, facecolor="#E4E4E4", edgecolor="#B5B5B5", hatch="////", linewidth=0, zorder=0)
    for row, name in enumerate(names):
        curves = [
            canvas.density(drawn, grid, 1.6 * canvas.bandwidth(drawn))
            for drawn in (means[name], predictive[name])
        ]
        # Each curve has its own scale, since a prior of the mean can be far narrower than that of a pair.
        up = [row + 0.42 - 0.8 * curve / curve.max() for curve in curves]
        ax.fill_between(
            grid,
            row + 0.42,
            up[0],
            color=canvas.colour_of(name),
            alpha=0.4,
            linewidth=0,
            zorder=2,
            label="_prior of the mean",
        )
        ax.plot(grid, up[1], color=canvas.INK, linewidth=1.2, zorder=3, label="_prior predictive of a pair")
        if possible:
            out = float(np.mean((predictive[name] < possible[0]) | (predictive[name] > possible[1])))
            canvas.write_aside(ax, row, f"{_percent(out)} of pairs\nimpossible")
    canvas.name_x(ax, canvas.outcome_label(spec))
    handles = [
        canvas.patch_handle(canvas.FAINT, "prior of the mean distance", alpha=0.5),
        canvas.line_handle(canvas.INK, "prior predictive of a single pair"),
        *([canvas.patch_handle("#E4E4E4", "impossible", hatch="////", edge="#B5B5B5")] if possible else []),
    ]
    said = f"Model {spec.name}" + (f" on {_table_name(fit)}" if fit is not None else "")
    canvas.add_headings(ax, "Before the data: prior against the possible distances", said, handles)
    return ax


@canvas.styled
def plot_connections(
    fit: BiasFit, prob: float = PROB, estimand: str = "population", ax: Axes | None = None
) -> Axes:
    """Show the posterior of the mean distance per connection, as `BiasFit.summary` gives it.

    Parameters
    ----------
    fit : BiasFit
    prob : float in (0, 1)
        Probability of the HPDI that is drawn as a line.
    estimand : {"population", "these_words"}
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> table = bb.distance_table(bb.load_embedding("minilm-static"), "religion")
    >>> result = bb.fit(table, seed=1, draws=200, pointwise=False)
    >>> ax = bb.plot_connections(result, ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['associated', 'different', 'human', 'neutral']
    """
    _need_fit(fit)
    _need(fit.table, ("connection",), fit.spec)
    frame = fit.summary(prob, estimand)
    ax = canvas.axes_or_new(ax, _size_connections(fit))
    names = list(frame["connection"])
    canvas.ridge_axis(ax, names, canvas.padded(frame["hpdi_low"].min(), frame["hpdi_high"].max(), fit.spec))
    canvas.mark_one(ax, fit.spec)
    for row, line in enumerate(frame.itertuples()):
        colour = canvas.colour_of(line.connection)
        ax.plot(
            [line.hpdi_low, line.hpdi_high],
            [row, row],
            color=colour,
            linewidth=2.4,
            zorder=3,
            solid_capstyle="butt",
        )
        canvas.draw_point(ax, line.mean, row, line.connection, 7)
        canvas.write_aside(ax, row, f"{line.mean:.3f}\n[{line.hpdi_low:.3f}, {line.hpdi_high:.3f}]")
    canvas.name_x(ax, canvas.outcome_label(fit.spec))
    handles = [
        canvas.line_handle(
            canvas.INK, f"posterior mean and {canvas.as_percent(prob)} HPDI", marker="o", width=2.4, size=6
        ),
        *canvas.one_handle(fit.spec),
    ]
    canvas.add_headings(
        ax, "Mean distance per connection", f"{_source(fit)}; {canvas.ESTIMAND[estimand]}", handles
    )
    return ax


@canvas.styled
def plot_words(
    fit: BiasFit,
    prob: float = PROB,
    ax: Axes | None = None,
    *,
    estimand: str = "population",
    words: Iterable[str] | None = None,
) -> Axes:
    """Show every pair and, over the pairs, what the model makes of each protected word.

    One row per protected word, grouped by protected class; in it one lane per connection, in the order of the
    legend, with every raw pair as a point and the posterior mean and HPDI of `BiasFit.words`. Points are spread
    within their lane, the same way each time, so that they can be seen.

    Few pairs that lie far from all others would press the rest together. The axis then leaves them out, each is
    drawn as a wedge at the edge it lies beyond, and the line below the title says how many there are and how
    far they reach. An interval is never cut.

    Parameters
    ----------
    fit : BiasFit
    prob : float in (0, 1)
        Probability of the HPDI that is drawn as a line.
    ax : matplotlib Axes, optional
        By default a new figure for a page: 7 inches wide, printed at that width with text of 7 to 8.5 points,
        and up to 9.4 inches high. Where more words are shown than one column can hold, there are two columns
        (about 66 words to the page); beyond that the figure grows higher, or see `words`.
    estimand : {"population", "these_words"}
        Under ``population`` the mean is that over new attributes, so that it may lie beside the middle of
        the points, which are those of the attributes at hand.
    words : iterable of str, optional
        Protected words to show, by default all: a long list can be drawn page by page. The axis is that of the
        whole table, so that the pages can be compared.

    Returns
    -------
    matplotlib Axes
        Of two columns the left one; both are in ``ax.figure.axes``.

    Raises
    ------
    InputError
        For a word that is not in the table.

    Notes
    -----
    After the figures of Dobrzeniecka and Urbaniak, section 5, which show raw pairs beside posterior
    intervals for each protected word.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> table = bb.distance_table(bb.load_embedding("minilm-static"), "religion")
    >>> result = bb.fit(table, seed=1, draws=200, pointwise=False)
    >>> ax = bb.plot_words(result, ax=Figure(figsize=(7, 9)).subplots())
    >>> sum(len(points.get_offsets()) for points in ax.collections) == len(table)
    True
    """
    _need_fit(fit)
    _need(fit.table, ("connection", "protected_word", "protected_class"), fit.spec)
    shown = _shown_words(fit, words)
    if ax is not None:
        return _draw_words(fit, prob, estimand, shown, [ax])
    import matplotlib.pyplot as plt

    columns = _columns(fit, shown)
    figure = plt.figure(figsize=_size_words(fit, columns, shown), layout="constrained")
    return _draw_words(fit, prob, estimand, shown, list(figure.subplots(1, columns, squeeze=False)[0]))


def _shown_words(fit: BiasFit, words: Iterable[str] | None) -> list[str]:
    """Return the words to show, in the order of the table."""
    known = list(dict.fromkeys(fit.table["protected_word"].astype(str)))
    if words is None:
        return known
    wanted = [words] if isinstance(words, str) else list(words)
    for word in wanted:
        if word not in known:
            raise InputError(
                "no such protected word in this fit", found=word, valid=known, hint=nearest(str(word), known)
            )
    if not wanted:
        raise InputError("no word is asked for", found=wanted, valid=known)
    return [word for word in known if word in wanted]


def _draw_words(fit: BiasFit, prob: float, estimand: str, shown: Sequence[str], axes: Sequence[Axes]) -> Axes:
    """Draw `plot_words` into one Axes, or into several that stand side by side as columns."""
    means = fit.words(prob, estimand)
    present = [c for c in CONNECTIONS if (fit.table["connection"].astype(str) == c).any()]
    span = _trimmed(fit, means)
    means = means[means["protected_word"].isin(shown)]
    table = fit.table[fit.table["protected_word"].astype(str).isin(shown)]
    grids = [canvas.placed(groups) for groups in _in_columns(canvas.by_class(table), len(axes))]
    # Every column is as long as the longest, so that all rows are equally high.
    longest = max(len(labels) + canvas.HEAD * len(heads) for _, labels, heads in grids)
    beyond = 0
    for ax, (rows, labels, heads) in zip(axes, grids, strict=True):
        row_points = canvas.row_axis(ax, labels, heads, _framed(span), inside=True, longest=longest)
        canvas.mark_one(ax, fit.spec)
        lane = 0.84 / len(present)
        lane_points = lane * row_points
        at = {c: (i - (len(present) - 1) / 2) * lane for i, c in enumerate(present)}
        here = table[table["protected_word"].astype(str).isin(list(rows))]
        beyond += _rain(ax, here, fit.spec.outcome, rows, at, span, lane_points, rasterized=len(table) > 6000)
        big, thick = (
            float(np.clip(0.57 * lane_points, 3.0, 4.6)),
            float(np.clip(0.28 * lane_points, 1.3, 2.0)),
        )
        for line in means[means["protected_word"].isin(list(rows))].itertuples():
            y = rows[line.protected_word] + at[line.connection] - 0.25 * lane
            canvas.draw_interval(ax, (line.hpdi_low, line.hpdi_high), y, line.connection, thick)
            canvas.draw_point(ax, line.mean, y, line.connection, big)
        canvas.name_x(
            ax,
            canvas.outcome_label(fit.spec)
            if len(axes) == 1
            else canvas.outcome_label(fit.spec).partition(" (")[0],
        )
    handles = [
        *(
            canvas.line_handle(canvas.colour_of(c), c, marker=canvas.MARKER[c], width=2, size=5)
            for c in present
        ),
        *canvas.one_handle(fit.spec),
    ]
    large = f"posterior mean with {canvas.as_percent(prob)} HPDI ({canvas.ESTIMAND_WITHIN[estimand]})"
    said = f"{_source(fit)}. Small points: single pairs; large: {large}; in each row, from above, as in the legend."
    if beyond:
        outcome = table[fit.spec.outcome]
        said += (
            f" Wedges at the edges: {beyond:,} of {len(table):,} pairs, which lie beyond the axis"
            f" (all pairs: {outcome.min():.2f} to {outcome.max():.2f})."
        )
    canvas.add_headings(
        axes[0], "Distance of each protected word, per connection", said, handles, across=axes
    )
    return axes[0]


def _rain(
    ax: Axes,
    table: pd.DataFrame,
    outcome: str,
    rows: Mapping[str, float],
    at: Mapping[str, float],
    span: tuple[float, float],
    lane_points: float,
    *,
    rasterized: bool,
) -> int:
    """Draw every pair in its lane, or as a wedge at the edge; return how many wedges there are."""
    lane = 0.84 / len(at)
    values = table[outcome].to_numpy(dtype=float)
    position = np.array([rows[str(word)] for word in table["protected_word"]], dtype=float)
    connection = table["connection"].astype(str).to_numpy()
    size = float(np.clip(0.3 * lane_points, 1.3, 2.4))
    edges = _framed(span)
    wedges = 0
    for name in at:
        mine = connection == name
        if not mine.any():
            continue
        where = position[mine]
        # Points rain in the lower part of the lane, the interval lies in the upper: neither hides the other.
        height = where + at[name] + (0.12 + 0.26 * _spread(where)) * lane
        # A crowd of hundreds gets smaller and fainter points: controls must not drown what is asked about.
        crowd = mine.sum() / len(np.unique(where))
        few = float(np.clip(3.2 / np.sqrt(crowd), 0.2, 0.75))
        dot = size * (1.15 if crowd < 40 else 0.85)
        inside = (values[mine] >= edges[0]) & (values[mine] <= edges[1])
        ax.scatter(
            values[mine][inside],
            height[inside],
            s=(0.85 * dot if canvas.MARKER[name] == "s" else dot) ** 2,  # a square looks larger than a disc
            marker=canvas.MARKER[name],
            color=canvas.colour_of(name),
            alpha=few,
            linewidths=0,
            zorder=2,
            # Ten thousand points as separate shapes make an SVG that browsers choke on.
            rasterized=rasterized,
            label=f"_{name}",
        )
        for side, marker in ((0, "<"), (1, ">")):
            out = values[mine] < edges[0] if side == 0 else values[mine] > edges[1]
            if out.any():
                ax.scatter(
                    np.full(out.sum(), (edges[side] + span[side]) / 2),
                    height[out],
                    s=float(np.clip(0.8 * lane_points, 3.0, 4.5)) ** 2,
                    marker=marker,
                    color=canvas.colour_of(name),
                    linewidths=0,
                    zorder=2.5,
                    label=f"_beyond {name}",
                )
                wedges += int(out.sum())
    return wedges


@canvas.styled
def plot_contrasts(
    fit: BiasFit,
    prob: float = PROB,
    rope: float = ROPE,
    level: str = "overall",
    ax: Axes | None = None,
    *,
    contrasts: Sequence[str] | None = None,
) -> Axes:
    """Show differences between connections against the region of practical equivalence (ROPE).

    Both estimands stand side by side: a filled circle on a thick line for the population, an open diamond on
    a thin line for these words only. At the right is the probability that the difference is negative.

    Parameters
    ----------
    fit : BiasFit
    prob : float in (0, 1)
    rope : float > 0
        Half-width of the ROPE.
    level : {"overall", "class", "word"}
    ax : matplotlib Axes, optional
        By default a new figure.
    contrasts : sequence of str, optional
        Which contrasts, such as ``"associated - different"``; by default all, and at level ``word`` the first.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        For an unknown level or contrast.
    FitError
        Where the table holds one connection only.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> table = bb.distance_table(bb.load_embedding("minilm-static"), "religion")
    >>> result = bb.fit(table, seed=1, draws=200, pointwise=False)
    >>> ax = bb.plot_contrasts(result, ax=Figure().subplots())
    >>> ax.get_yticklabels()[0].get_text()
    'associated − different'
    """
    _need_fit(fit)
    _need(fit.table, ("connection", "protected_word", "protected_class"), fit.spec)
    frame = _contrast_rows(fit, prob, rope, level, contrasts)
    ax = canvas.axes_or_new(ax, _size_contrasts(fit, level, contrasts))
    rows, labels, heads = _contrast_grid(fit, frame, level)
    low, high = min(frame["hpdi_low"].min(), -rope), max(frame["hpdi_high"].max(), rope)
    pad = 0.06 * (high - low)
    row_points = canvas.row_axis(ax, labels, heads, (low - pad, high + pad))
    ax.axvspan(-rope, rope, color="#D9D9D9", linewidth=0, zorder=0.6)
    ax.axvline(0, color=canvas.INK, linewidth=0.8, zorder=0.7)
    size, thick = float(np.clip(0.26 * row_points, 2.4, 6)), float(np.clip(0.1 * row_points, 0.9, 1.8))
    for line in frame.itertuples():
        row, colour = rows[line.contrast, line.name], canvas.contrast_colour(line.estimand)
        population = line.estimand == "population"
        y = row + (-0.2 if population else 0.2)
        ax.plot(
            [line.hpdi_low, line.hpdi_high],
            [y, y],
            color=colour,
            linewidth=thick if population else 0.6 * thick,
            solid_capstyle="butt",
            zorder=3,
            label="_interval",
        )
        ax.plot(
            [line.mean],
            [y],
            zorder=4,
            label=f"_{line.estimand}",
            **canvas.contrast_marker(line.estimand, size),
        )
        shift = _COLUMNS[line.estimand]
        canvas.write_aside(
            ax,
            row,
            _probability(line.p_below_zero),
            min(8.0, 0.75 * row_points),
            shift=shift,
            ha="right",
            color=colour,
        )
    for which, name in (("population", "pop."), ("these_words", "these")):
        canvas.write_aside(
            ax, None, name, 7.5, shift=_COLUMNS[which], up=4, ha="right", color=canvas.contrast_colour(which)
        )
    canvas.write_aside(ax, None, "P(< 0)", 8.0, up=14, weight="bold")
    nearer = "lies nearer" if fit.spec.outcome == "distance" else "is smaller"
    of = "cosine distance" if fit.spec.outcome == "distance" else canvas.outcome_label(fit.spec)
    canvas.name_x(ax, f"difference in {of} (below 0: the first of the two {nearer})")
    said_of = canvas.ESTIMAND if level == "overall" else canvas.ESTIMAND_WITHIN
    handles = [
        *(
            canvas.line_handle(
                canvas.contrast_colour(which),
                said_of[which],
                width=1.8 if which == "population" else 1.1,
                **canvas.contrast_marker(which, 5.5),
            )
            for which in ESTIMANDS
        ),
        canvas.patch_handle("#D9D9D9", f"ROPE ±{rope:g}"),
    ]
    each = {"overall": "", "class": ", per protected class", "word": ", per protected word"}[level]
    one = frame["contrast"].unique()
    what = f"{canvas.minus(one[0])}" if level == "word" and len(one) == 1 else "Contrasts between connections"
    said = f"{_source(fit)}. Posterior mean and {canvas.as_percent(prob)} HPDI"
    canvas.add_headings(ax, what + each, said, handles)
    return ax


@canvas.styled
def plot_predictive(fit: BiasFit, ax: Axes | None = None, *, replicates: int = 50) -> Axes:
    """Hold the observed distances of each connection against data the fitted model would make.

    Parameters
    ----------
    fit : BiasFit
        Without predictive draws in its tree they are made, with the same seed and so the same values.
    ax : matplotlib Axes, optional
        By default a new figure.
    replicates : int
        How many replicated tables are drawn, at most 200.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> table = bb.distance_table(bb.load_embedding("minilm-static"), "religion")
    >>> result = bb.fit(table, seed=1, draws=200, pointwise=False)
    >>> ax = bb.plot_predictive(result, ax=Figure().subplots(), replicates=20)
    >>> len(ax.lines)  # four observed curves, each over twenty replicated ones
    84
    """
    _need_fit(fit)
    _need(fit.table, ("connection",), fit.spec)
    if isinstance(replicates, bool) or not isinstance(replicates, int) or not 1 <= replicates <= 200:
        raise InputError("`replicates` must be a whole number from 1 to 200", found=replicates)
    observed = fit.table[fit.spec.outcome].to_numpy(dtype=float)
    drawn = _predictive(fit, replicates)
    connection = fit.table["connection"].astype(str).to_numpy()
    names = [c for c in CONNECTIONS if (connection == c).any()]
    low, high = canvas.value_range([observed, drawn.ravel()], 0.0005)
    margin = 0.15 * (high - low)
    # The tails of the replicated may be cut; what was observed is shown whole.
    grid = np.linspace(min(low - margin, observed.min()), max(high + margin, observed.max()), 301)
    ax = canvas.axes_or_new(ax, canvas.size_ridges(len(names)))
    canvas.ridge_axis(ax, names, (float(grid[0]), float(grid[-1])))
    for row, name in enumerate(names):
        mine = connection == name
        width = canvas.bandwidth(observed[mine])
        seen = canvas.density(observed[mine], grid, width)
        made = [canvas.density(values, grid, width) for values in drawn[:, mine]]
        scale = 0.84 / max(float(seen.max()), *(float(curve.max()) for curve in made))
        for curve in made:
            ax.plot(
                grid,
                row + 0.42 - scale * curve,
                color="#9A9A9A",
                linewidth=0.5,
                alpha=0.45,
                zorder=2,
                label="_replicated",
            )
        ax.plot(
            grid,
            row + 0.42 - scale * seen,
            color=canvas.colour_of(name),
            linewidth=2,
            zorder=3,
            label="_observed",
        )
        canvas.write_aside(ax, row, f"{mine.sum():,} pairs")
    canvas.name_x(ax, canvas.outcome_label(fit.spec))
    handles = [
        canvas.line_handle(canvas.INK, "observed pairs (coloured; density)", width=2),
        canvas.line_handle("#9A9A9A", f"{len(drawn)} tables made by the fitted model", width=0.8),
    ]
    canvas.add_headings(ax, "Posterior predictive check", _source(fit), handles)
    return ax


def save_figures(
    fit: BiasFit, folder: str | os.PathLike[str], formats: Iterable[str] = ("png", "svg")
) -> list[Path]:
    """Draw all figures of a fit and write them into a folder.

    Everything is drawn before anything is written, and each file is written whole or not at all. The same fit
    gives the same bytes: PNG at 200 dpi, SVG with its text as text, neither with a date.

    Parameters
    ----------
    fit : BiasFit
    folder : path
        Made where it does not exist.
    formats : iterable of str
        Of ``pdf``, ``png`` and ``svg``.

    Returns
    -------
    list of Path
        The files, figure by figure: ``priors``, ``connections``, ``words``, ``contrasts``,
        ``contrasts_class``, ``contrasts_word``, ``predictive``. Contrasts are left out where there is one
        connection only.

    Raises
    ------
    InputError
        For an unknown format, or where the folder cannot be written.
    """
    _need_fit(fit)
    present = set(fit.table["connection"].astype(str))
    to_contrast = any(a in present and b in present for a, b in CONTRASTS)
    shown = _shown_words(fit, None)
    columns = _columns(fit, shown)

    def words(figure: Figure) -> None:
        _draw_words(fit, PROB, "population", shown, list(figure.subplots(1, columns, squeeze=False)[0]))

    def on_axes(draw: Callable[..., Axes], **settings: Any) -> Callable[[Figure], object]:
        return lambda figure: draw(fit, ax=figure.subplots(), **settings)

    plots: dict[str, canvas.Plot] = {
        "priors": (on_axes(plot_priors), canvas.size_ridges(len(present))),
        "connections": (on_axes(plot_connections), _size_connections(fit)),
        "words": (words, _size_words(fit, columns)),
    }
    for level in _LEVELS if to_contrast else ():
        name = "contrasts" if level == "overall" else f"contrasts_{level}"
        plots[name] = (on_axes(plot_contrasts, level=level), _size_contrasts(fit, level, None))
    plots["predictive"] = (on_axes(plot_predictive), canvas.size_ridges(len(present)))

    return canvas.write_figures(plots, folder, formats)


# -- numbers --------------------------------------------------------------------------------------


def _need_fit(fit: object) -> None:
    if not isinstance(fit, BiasFit):
        raise InputError(
            "the figure is drawn from a fit",
            found=type(fit).__name__,
            valid="a BiasFit",
            hint="what fit() or load_fit() returns",
        )


def _need(frame: pd.DataFrame, columns: Iterable[str], spec: ModelSpec) -> None:
    for column in columns:
        if column not in frame.columns:
            raise InputError(
                "the figure needs a column that the table lacks",
                where=f"model {spec.name}",
                found=[str(c) for c in frame.columns],
                valid=column,
            )


def _one_pair_each(spec: ModelSpec) -> pd.DataFrame:
    """Return the smallest table with all four connections, for a model without data."""
    import pandas as pd

    frame = pd.DataFrame(
        {
            "protected_word": "word",
            "protected_class": "own",
            "attribute": [f"{name} attribute" for name in CONNECTIONS],
            "attribute_class": ["own", "other", "human", "neutral"],
            "attribute_kind": ["stereotype", "stereotype", "human", "neutral"],
            "connection": CONNECTIONS,
        }
    )
    columns = {dim for parameter in spec.parameters.values() for dim in parameter.dims} | set(spec.units)
    for column in sorted(columns.difference(frame.columns)):
        frame[column] = "any"
    frame[spec.outcome] = 1.0
    return frame


def _prior_means(spec: ModelSpec, frame: pd.DataFrame, seed: int) -> dict[str, np.ndarray]:
    """Draw the mean distance per connection, as `BiasFit.summary` defines it, from the prior."""
    import xarray as xr

    design = Design.of(spec, frame)
    drawn = design.prior_draws(_PRIOR_DRAWS, seed)
    variables = {
        name: (
            ("chain", "draw", *parameter.dims),
            drawn[name].reshape((1, _PRIOR_DRAWS, *design.shape(name))),
        )
        for name, parameter in spec.parameters.items()
    }
    # A posterior that is the prior: the estimand is then computed by the very code that reports it.
    prior = BiasFit(xr.DataTree.from_dict({"posterior": xr.Dataset(variables)}), frame, spec, {})
    keys, draws = prior._levels("population")
    return {name: draws[0, :, i] for i, (level, _, name) in enumerate(keys) if level == "overall"}


def _predictive(fit: BiasFit, replicates: int) -> np.ndarray:
    """Return replicated outcomes, shape (replicates, n_pairs)."""
    if "posterior_predictive" in fit.tree.children:
        values = (
            fit.tree["posterior_predictive"][fit.spec.outcome].transpose("chain", "draw", "pair").to_numpy()
        )
        values = values.reshape(-1, values.shape[-1])
    else:
        # As in `posterior.with_pointwise`, without the log-likelihood, which is large and not needed here.
        draws = fit.draws()
        total = len(next(iter(draws.values())))
        keep = np.linspace(0, total - 1, min(200, total)).astype(int)
        seed = int(fit.provenance["sampler"]["seed"])
        values = fit.design.outcome_draws({name: drawn[keep] for name, drawn in draws.items()}, seed + 1)
    return values[np.linspace(0, len(values) - 1, min(replicates, len(values))).astype(int)]


def _spread(group: np.ndarray) -> np.ndarray:
    """Spread the members of each group evenly over [0, 1), in an order that shows no pattern, with no chance."""
    order = np.argsort(group, kind="stable")
    starts = np.r_[0, np.flatnonzero(np.diff(group[order])) + 1]
    rank = np.empty(len(group))
    rank[order] = np.arange(len(group)) - np.repeat(starts, np.diff(np.r_[starts, len(group)]))
    return (rank + 0.5) * 0.6180339887498949 % 1.0  # multiples of the golden ratio


def _trimmed(fit: BiasFit, means: pd.DataFrame) -> tuple[float, float]:
    """Return the span that `plot_words` shows: all pairs, or all but a few that would press the rest together.

    Of each connection the middle 99 % are shown, which of fewer than 200 pairs is all; but nothing farther than
    four interquartile ranges from the quartiles of all pairs (six standard deviations, were they normal). Every
    interval is inside.
    """
    values = fit.table[fit.spec.outcome].to_numpy(dtype=float)
    connection = fit.table["connection"].astype(str).to_numpy()
    ends = (float(means["hpdi_low"].min()), float(means["hpdi_high"].max()))
    if fit.spec.outcome == "distance":
        ends = min(ends[0], 1.0), max(ends[1], 1.0)
    groups = [values[connection == name] for name in np.unique(connection)]
    quartiles = np.percentile(values, (25, 75))
    reach = 4 * float(quartiles[1] - quartiles[0])
    low = max(min(float(np.quantile(g, 0.005, method="lower")) for g in groups), quartiles[0] - reach)
    high = min(max(float(np.quantile(g, 0.995, method="higher")) for g in groups), quartiles[1] + reach)
    trimmed = min(float(low), ends[0]), max(float(high), ends[1])
    whole = min(float(values.min()), ends[0]), max(float(values.max()), ends[1])
    # Where little room is gained, everything is better shown in its place.
    return trimmed if whole[1] - whole[0] > 1.15 * (trimmed[1] - trimmed[0]) else whole


def _framed(span: tuple[float, float]) -> tuple[float, float]:
    """Return the limits of the axis around a span, with a margin for the wedges."""
    pad = 0.03 * (span[1] - span[0]) or 0.1
    return span[0] - pad, span[1] + pad


def _in_columns(groups: canvas.Groups, columns: int) -> list[canvas.Groups]:
    """Share groups out over columns of about equal length.

    A column ends with a class if that makes none much longer than it need be; if not, within one, whose heading
    is then repeated.
    """
    left, parts = dict(groups), []
    for remaining in range(columns, 1, -1):
        fair = sum(len(members) + canvas.HEAD for members in left.values()) / remaining
        names, used, taken = list(left), 0.0, 0
        while taken < len(names) - 1 and used + len(left[names[taken]]) + canvas.HEAD <= 1.12 * fair:
            used += len(left[names[taken]]) + canvas.HEAD
            taken += 1
        part = {name: left.pop(name) for name in names[:taken]}
        room = round(fair - used - canvas.HEAD)
        if used < 0.88 * fair and room > 0:
            name = names[taken]
            part[name], rest = left[name][:room], left.pop(name)[room:]
            left = ({f"{name} (continued)": rest} if rest else {}) | left
        parts.append(part)
    return [*parts, left]


def _contrast_names(fit: BiasFit, level: str, contrasts: Sequence[str] | None) -> list[str]:
    if level not in _LEVELS:
        raise InputError("unknown level", found=level, valid=_LEVELS, hint=nearest(str(level), _LEVELS))
    present = set(fit.table["connection"].astype(str))
    known = [f"{a} - {b}" for a, b in CONTRASTS if a in present and b in present]
    if contrasts is None:
        return known if level != "word" else known[:1]
    wanted = [contrasts] if isinstance(contrasts, str) else list(contrasts)
    for name in wanted:
        if name not in known:
            raise InputError(
                "no such contrast in this fit", found=name, valid=known, hint=nearest(str(name), known)
            )
    if not wanted:
        raise InputError("no contrast is asked for", found=wanted, valid=known)
    return wanted


def _contrast_rows(
    fit: BiasFit, prob: float, rope: float, level: str, contrasts: Sequence[str] | None
) -> pd.DataFrame:
    names = _contrast_names(fit, level, contrasts)
    frame = fit.contrasts(prob, rope)
    return frame[(frame["level"] == level) & frame["contrast"].isin(names)]


def _contrast_grid(
    fit: BiasFit, frame: pd.DataFrame, level: str
) -> tuple[dict[Any, float], list[tuple[float, str]], list[tuple[float, str]]]:
    """Place contrasts: alone, or as headings over classes or words; one contrast of words under their classes."""
    pairs = list(dict.fromkeys(zip(frame["contrast"], frame["name"], strict=True)))
    if level == "overall":
        return (
            {pair: i + 0.5 for i, pair in enumerate(pairs)},
            [(i + 0.5, canvas.minus(contrast)) for i, (contrast, _) in enumerate(pairs)],
            [],
        )
    groups: dict[str, list[tuple[Any, str]]] = {}
    names = list(dict.fromkeys(contrast for contrast, _ in pairs))
    words = fit.table.drop_duplicates("protected_word")
    classes = dict(
        zip(words["protected_word"].astype(str), words["protected_class"].astype(str), strict=True)
    )
    order = {name: i for i, name in enumerate(dict.fromkeys(classes.values()))}
    if level == "word":
        pairs.sort(key=lambda pair: order[classes[pair[1]]])  # stable: words keep their order
    for contrast in names:
        for pair in pairs:
            if pair[0] == contrast:
                head = [] if level == "word" and len(names) == 1 else [canvas.minus(contrast)]
                head += [classes[pair[1]]] if level == "word" else []
                groups.setdefault(", ".join(head), []).append((pair, pair[1]))
    return canvas.placed(groups)


# -- sizes, in inches -----------------------------------------------------------------------------


def _size_connections(fit: BiasFit) -> tuple[float, float]:
    return canvas.WIDTH, 1.35 + 0.42 * fit.table["connection"].nunique()


def _rows_of(groups: canvas.Groups) -> float:
    return sum(len(members) + canvas.HEAD for members in groups.values())


def _columns(fit: BiasFit, shown: Sequence[str]) -> int:
    """Return how many columns of words make a page: two where one is too long and the labels leave room."""
    groups = canvas.by_class(fit.table[fit.table["protected_word"].astype(str).isin(shown)])
    fits = canvas.ROOM_AROUND + _rows_of(groups) * _TIGHT <= canvas.PAGE
    return 1 if fits or max(map(len, shown)) > _LONGEST_IN_COLUMNS else 2


def _size_words(fit: BiasFit, columns: int = 1, shown: Sequence[str] | None = None) -> tuple[float, float]:
    table = fit.table if shown is None else fit.table[fit.table["protected_word"].astype(str).isin(shown)]
    rows = max(_rows_of(groups) for groups in _in_columns(canvas.by_class(table), columns))
    return canvas.size_rows(rows, 0.5, _TIGHT if columns == 1 else _TIGHT_IN_COLUMNS)


def _size_contrasts(fit: BiasFit, level: str, contrasts: Sequence[str] | None) -> tuple[float, float]:
    n = len(_contrast_names(fit, level, contrasts))
    words, classes = fit.table["protected_word"].nunique(), fit.table["protected_class"].nunique()
    rows = {"overall": n, "class": n * (classes + canvas.HEAD), "word": n * (words + canvas.HEAD * classes)}[
        level
    ]
    return canvas.size_rows(rows, 0.34 if level == "overall" else 0.27, 0.12)


# -- drawing --------------------------------------------------------------------------------------


# -- words ----------------------------------------------------------------------------------------


def _percent(share: float) -> str:
    return "< 1%" if 0 < share < 0.01 else f"{share:.0%}"


def _probability(p: float) -> str:
    """Three decimals, and never a certainty that a finite number of draws cannot give."""
    return "<.001" if p < 0.001 else ">.999" if p > 0.999 else f"{p:.3f}".lstrip("0")


def _table_name(fit: BiasFit) -> str:
    return str(fit.provenance.get("table", {}).get("name", "a table"))


def _source(fit: BiasFit) -> str:
    return f"Model {fit.spec.name} on {_table_name(fit)}"
