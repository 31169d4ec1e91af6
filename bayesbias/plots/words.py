"""Figures of a fit to words: every pair and word, means per connection; and the list of all figures of such a fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.core import checks
from bayesbias.core.digits import as_known, ends_as_known, interval_known
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import as_percent
from bayesbias.inference.estimands import PROB, ROPE
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.scope import words_said
from bayesbias.plots import contrasts, frequency, headings, marks, outcomes, predictive, priors, slopes
from bayesbias.plots.outcomes import need_columns, need_fit, source_of
from bayesbias.plots.plates import Plate, on_axes
from bayesbias.plots.rows import Groups, by_class, placed, ridge_axis, row_axis
from bayesbias.plots.style import (
    HEAD,
    INK,
    MARKER,
    ROOM_AROUND,
    WIDTH,
    axes_or_new,
    inches,
    new_panels,
    page,
    panels_of,
    pt,
    size_rows,
    styled,
)
from bayesbias.wordlists.pairing import CONNECTIONS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["plot_connections", "plot_words"]

_TIGHT, _TIGHT_IN_COLUMNS = 0.3, 0.24  # inches; less, and the four lanes of a word run together
_FAINTEST, _FULLEST = 0.4, 0.9  # opacity of a point: of a crowd, and of few
_LONGEST_IN_COLUMNS = 16  # letters of a word; longer ones leave half a page too narrow for distances


@styled
def plot_connections(
    fit: BiasFit, *, prob: float = PROB, estimand: str = "population", ax: Axes | None = None
) -> Axes:
    """Show the posterior of the mean distance per connection, as `BiasFit.summary` gives it.

    Parameters
    ----------
    fit : BiasFit
    prob : float in (0, 1)
        Probability of the HPDI that is drawn as a line.
    estimand : {"population", "listed_words"}
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> table = bb.distance_table("minilm-static", "religion")
    >>> result = bb.fit(table, seed=1, draws=200, tune=300, chains=2, pointwise=False)
    >>> ax = bb.plot_connections(result, ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['associated', 'different', 'human', 'neutral']
    """
    checks.instance(fit, BiasFit, "fit", "what bayesbias.fit returns")
    need_fit(fit)
    need_columns(fit.table, ("connection",), fit.spec)
    frame = fit.summary(prob, estimand)
    ax = axes_or_new(ax, _size_connections(fit))
    names = list(frame["connection"])
    ridge_axis(ax, names, outcomes.padded(frame["hpdi_low"].min(), frame["hpdi_high"].max(), fit.spec))
    outcomes.mark_one(ax, fit.spec)
    for row, line in enumerate(frame.itertuples()):
        colour = marks.colour_of(line.connection)
        ax.plot(
            [line.hpdi_low, line.hpdi_high],
            [row, row],
            color=colour,
            linewidth=pt(2.4),
            zorder=3,
            solid_capstyle="butt",
        )
        marks.draw_point(ax, line.mean, row, line.connection, 7)
        headings.write_aside(ax, row, f"{as_known(line, 'mean')}\n[{', '.join(ends_as_known(line))}]")
    headings.name_x(ax, outcomes.outcome_label(fit.spec))
    handles = [
        marks.line_handle(INK, f"posterior mean and {as_percent(prob)} HPDI", marker="o", width=2.4, size=6),
        *outcomes.one_handle(fit.spec),
    ]
    about = f"{source_of(fit)}; {outcomes.estimand_said(fit.spec, 'overall', estimand)}"
    headings.add_headings(ax, "Mean distance per connection", about, handles, frame)
    return ax


@styled
def plot_words(
    fit: BiasFit,
    *,
    prob: float = PROB,
    estimand: str = "population",
    words: Iterable[str] | None = None,
    ax: Axes | None = None,
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
    estimand : {"population", "listed_words"}
        Under ``population`` the mean is that over new attributes, so that it may lie beside the middle of
        the points, which are those of the attributes at hand.
    words : iterable of str, optional
        Protected words to show, by default all: a long list can be drawn page by page. The axis is that of the
        whole table, so that the pages can be compared.
    ax : matplotlib Axes, optional
        By default a new figure for a page: 7 inches wide, printed at that width with text of 7 to 8.5 points,
        and up to 9.4 inches high. Where more words are shown than one column can hold, there are two columns
        (about 66 words to the page); beyond that the figure grows higher, or see `words`.

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
    >>> table = bb.distance_table("minilm-static", "religion")
    >>> result = bb.fit(table, seed=1, draws=200, tune=300, chains=2, pointwise=False)
    >>> ax = bb.plot_words(result, ax=Figure(figsize=(7, 9)).subplots())
    >>> sum(len(points.get_offsets()) for points in ax.collections) == len(table)
    True
    """
    checks.instance(fit, BiasFit, "fit", "what bayesbias.fit returns")
    need_fit(fit)
    need_columns(fit.table, ("connection", "protected_word", "protected_class"), fit.spec)
    shown = _shown_words(fit, words)
    columns = _columns_of_words(fit, shown)
    axes = [ax] if ax is not None else new_panels(_size_words(fit, columns, shown), columns)
    return _draw_words(fit, prob, estimand, shown, axes)


def plates(
    fit: BiasFit, prob: float = PROB, rope: float = ROPE, *, columns: int | None = None
) -> list[Plate]:
    """List the figures of a fit to words.

    Parameters
    ----------
    fit : BiasFit
    prob : float in (0, 1)
    rope : float > 0
    columns : int, optional
        Of the figure of words; by default as many as a printed page needs.
    """
    need_fit(fit)
    shown = _shown_words(fit, None)
    n = _columns_of_words(fit, shown) if columns is None else columns
    means = "; ".join(
        f"{r.connection} {as_known(r, 'mean')} ({interval_known(r)})" for r in fit.summary(prob).itertuples()
    )
    return [
        priors.plate(fit),
        Plate(
            "connections",
            on_axes(plot_connections, fit, prob=prob),
            _size_connections(fit),
            f"Mean distance per connection, for {words_said(fit.spec)}. The nearer to 0, the nearer two words.",
            f"Posterior mean and {as_percent(prob)} HPDI per connection: {means}.",
        ),
        Plate(
            "words",
            lambda figure: _draw_words(fit, prob, "population", shown, panels_of(figure, n)),
            _size_words(fit, n),
            "Every pair as a small point, and over the pairs what the model makes of each protected word.",
            f"One row per protected word with all {len(fit.table):,} pairs as points and the posterior mean and HPDI per "
            "connection; the numbers are in the table of means per word.",
        ),
        *contrasts.plates(fit, prob, rope),
        *slopes.plates(fit, prob),
        *frequency.plates(fit, rope),
        predictive.plate(fit),
    ]


def _shown_words(fit: BiasFit, words: Iterable[str] | None) -> list[str]:
    """Return the words to show, in the order of the table."""
    known = list(dict.fromkeys(map(str, fit.table["protected_word"].unique())))
    if words is None:
        return known
    wanted = [words] if isinstance(words, str) else checks.several(words, "word", "words")
    for word in wanted:
        checks.choice(word, known, "protected word of this fit")
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
    grids = [placed(groups) for groups in _in_columns(by_class(table), len(axes))]
    # Every column is as long as the longest, so that all rows are equally high.
    longest = max(len(labels) + HEAD * len(heads) for _, labels, heads in grids)
    beyond = 0
    for ax, (rows, labels, heads) in zip(axes, grids, strict=True):
        row_points = row_axis(ax, labels, heads, _framed(span), inside=True, longest=longest)
        outcomes.mark_one(ax, fit.spec)
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
            marks.draw_interval(ax, (line.hpdi_low, line.hpdi_high), y, line.connection, thick)
            marks.draw_point(ax, line.mean, y, line.connection, big)
        headings.name_x(
            ax,
            outcomes.outcome_label(fit.spec)
            if len(axes) == 1
            else outcomes.outcome_label(fit.spec).partition(" (")[0],
        )
    handles = [
        *(marks.line_handle(marks.colour_of(c), c, marker=MARKER[c], width=2, size=5) for c in present),
        *outcomes.one_handle(fit.spec),
    ]
    large = (
        f"posterior mean with {as_percent(prob)} HPDI ({outcomes.estimand_said(fit.spec, 'word', estimand)})"
    )
    subtitle = f"{source_of(fit)}. Small points: single pairs; large: {large}; in each row, from above, as in the legend."
    if beyond:
        outcome = table[fit.spec.outcome]
        subtitle += (
            f" Wedges at the edges: {beyond:,} of {len(table):,} pairs, which lie beyond the axis"
            f" (all pairs: {outcome.min():.2f} to {outcome.max():.2f})."
        )
    headings.add_headings(
        axes[0],
        "Distance of each protected word, per connection",
        subtitle,
        handles,
        _pairs_and_means(table, means, fit.spec.outcome),
        across=axes,
    )
    return axes[0]


def _pairs_and_means(table: pd.DataFrame, means: pd.DataFrame, outcome: str) -> pd.DataFrame:
    """Return what `plot_words` shows: a row for each pair and each posterior mean, as ``drawn`` says."""
    import pandas as pd

    names = ["protected_class", "protected_word", "connection"]
    given = [*names, *(c for c in ("attribute_class", "attribute") if c in table)]
    pairs = table[[*given, outcome]].astype(dict.fromkeys(names, str)).rename(columns={outcome: "value"})
    classes = dict(zip(pairs["protected_word"], pairs["protected_class"], strict=True))
    mean = means[["protected_word", "connection", "mean", "hpdi_low", "hpdi_high"]].rename(
        columns={"mean": "value"}
    )
    mean = mean.assign(protected_class=mean["protected_word"].map(classes))
    return pd.concat([pairs.assign(drawn="pair"), mean.assign(drawn="posterior mean")], ignore_index=True)


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
    # In a tight lane points stay large enough to be seen, and lie on one line instead of in a band.
    size = float(np.clip(0.3 * lane_points, 1.65, 2.4))
    band = float(np.clip(0.13 * (lane_points - 3.0), 0.0, 0.26))
    edges = _framed(span)
    wedges = 0
    for name in at:
        mine = connection == name
        if not mine.any():
            continue
        where = position[mine]
        # Points rain in the lower part of the lane, the interval lies in the upper: neither hides the other.
        height = where + at[name] + (0.25 + band * (_spread(where) - 0.5)) * lane
        # A crowd of hundreds gets smaller and fainter points: controls must not drown what is asked about.
        crowd = mine.sum() / len(np.unique(where))
        few = float(np.clip(3.2 / np.sqrt(crowd), _FAINTEST, _FULLEST))
        dot = size * (1.15 if crowd < 40 else 0.85)
        inside = (values[mine] >= edges[0]) & (values[mine] <= edges[1])
        ax.scatter(
            values[mine][inside],
            height[inside],
            s=pt(0.85 * dot if MARKER[name] == "s" else dot) ** 2,  # a square looks larger than a disc
            marker=MARKER[name],
            color=marks.colour_of(name),
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
                    s=pt(float(np.clip(0.8 * lane_points, 3.0, 4.5))) ** 2,
                    marker=marker,
                    color=marks.colour_of(name),
                    linewidths=0,
                    zorder=2.5,
                    label=f"_beyond {name}",
                )
                wedges += int(out.sum())
    return wedges


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


def _in_columns(groups: Groups, columns: int) -> list[Groups]:
    """Share groups out over columns of about equal length.

    A column ends with a class if that makes none much longer than it need be; if not, within one, whose heading
    is then repeated.
    """
    left, parts = dict(groups), []
    for remaining in range(columns, 1, -1):
        fair = sum(len(members) + HEAD for members in left.values()) / remaining
        names, used, taken = list(left), 0.0, 0
        while taken < len(names) - 1 and used + len(left[names[taken]]) + HEAD <= 1.12 * fair:
            used += len(left[names[taken]]) + HEAD
            taken += 1
        part = {name: left.pop(name) for name in names[:taken]}
        room = round(fair - used - HEAD)
        if used < 0.88 * fair and room > 0:
            name = names[taken]
            part[name], rest = left[name][:room], left.pop(name)[room:]
            left = ({f"{name} (continued)": rest} if rest else {}) | left
        parts.append(part)
    return [*parts, left]


def _size_connections(fit: BiasFit) -> tuple[float, float]:
    return inches(WIDTH, 1.35 + 0.42 * fit.table["connection"].nunique())


def _rows_of(groups: Groups) -> float:
    return sum(len(members) + HEAD for members in groups.values())


def _columns_of_words(fit: BiasFit, shown: Sequence[str]) -> int:
    """Return how many columns of words make a page: two where one is too long and the labels leave room."""
    groups = by_class(fit.table[fit.table["protected_word"].astype(str).isin(shown)])
    fits = ROOM_AROUND + _rows_of(groups) * _TIGHT <= page()
    return 1 if fits or max(map(len, shown)) > _LONGEST_IN_COLUMNS else 2


def _size_words(fit: BiasFit, columns: int = 1, shown: Sequence[str] | None = None) -> tuple[float, float]:
    table = fit.table if shown is None else fit.table[fit.table["protected_word"].astype(str).isin(shown)]
    rows = max(_rows_of(groups) for groups in _in_columns(by_class(table), columns))
    return size_rows(rows, 0.5, _TIGHT if columns == 1 else _TIGHT_IN_COLUMNS)
