"""Figures of a single-category test: targets against their covariate with the line, and the two correlations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.core import checks
from bayesbias.core.digits import as_known, ends_as_known
from bayesbias.core.formatting import as_percent
from bayesbias.plots import headings, marks
from bayesbias.plots.labels import label_points
from bayesbias.plots.plates import Plate, on_axes
from bayesbias.plots.style import (
    COLOUR,
    FAINT,
    MARKER,
    WIDTH,
    across,
    axes_or_new,
    inches,
    plain,
    pt,
    styled,
)
from bayesbias.studies.wefat.result import Estimated, WefatResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_correlations", "plot_covariate"]

_HEIGHT, _LOW = 5.0, 2.3  # inches: of the scatter, of the correlations
_POINTS = 61  # of the line
_NAMED = 20  # targets of which all are named; of more those off the line


def plates(result: WefatResult) -> list[Plate]:
    """List the figures of a single-category test."""
    known, true = result.published, result.true_correlation
    return [
        Plate(
            "covariate",
            on_axes(plot_covariate, result),
            _size(),
            f"Association of each target against its {known.covariate}, with the line. Bars: what is not known of a target's "
            "association; band: of the line; both hold what other words of the sets would do to all targets alike. "
            "Between the dashed lines lies a single new target. In bold: off the line.",
            f"Scatter of {result.n} targets, association against {known.covariate}, with a line of slope "
            f"{as_known(result.slope, 'mean', signed=True)} in cosine per standard deviation; the numbers are in the table.",
        ),
        Plate(
            "correlations",
            on_axes(plot_correlations, result),
            inches(WIDTH, _LOW),
            "The correlation of average scores, as published, each divided by the standard deviation of its target's cosines, "
            "and that of true associations, in cosine, whose noise is taken out.",
            f"r of average scores {known.r:.2f}, interval {known.low:.2f} to {known.high:.2f}; of true associations "
            f"{as_known(true, 'mean', 2)}, {' to '.join(ends_as_known(true, usual=2))}.",
        ),
    ]


def _size() -> tuple[float, float]:
    return inches(WIDTH, min(_HEIGHT, across() + 0.6))


def _checked(result: WefatResult) -> WefatResult:
    if not isinstance(result, WefatResult):
        raise checks.wrong_kind(result, "result", "what wefat returns")
    return result


@styled
def plot_covariate(result: WefatResult, *, names: bool = True, ax: Axes | None = None) -> Axes:
    """Show the association of each target against its covariate, with the uncertainty of both targets and line.

    The association is that with new words like those of the sets. The band is the interval of the line, the dashed lines
    hold a single new target. Targets whose interval of the deviation from the line excludes zero are drawn full and named
    in bold; names of others stand where there is room, unless there are more than twenty targets.

    Parameters
    ----------
    result : WefatResult
    names : bool
        Whether targets on the line are named too.
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> women = {"nurse": 88.0, "engineer": 12.0, "teacher": 80.0, "plumber": 2.0, "lawyer": 35.0, "dancer": 79.0}
    >>> found = bb.wefat("minilm-static", "wefat", {"percent_women": women}, seed=1, engine="quick")
    >>> ax = bb.plots.plot_covariate(found, ax=Figure().subplots())
    >>> ax.get_xlabel()
    'percent_women'
    """
    import pandas as pd

    frame, (first, second) = _checked(result).frame, result.sets
    ax = axes_or_new(ax, _size())
    x, y = frame["covariate"].to_numpy(dtype=float), frame["association"].to_numpy(dtype=float)
    low, high = frame["hpdi_low"].to_numpy(dtype=float), frame["hpdi_high"].to_numpy(dtype=float)
    pad = 0.04 * float(np.ptp(x))
    line = result.predict(np.linspace(x.min() - pad, x.max() + pad, _POINTS).tolist())
    colour = COLOUR["different"]
    ax.fill_between(
        line["covariate"],
        line["line_low"],
        line["line_high"],
        color=colour,
        alpha=0.22,
        linewidth=0,
        label="_band",
    )
    ax.plot(line["covariate"], line["line"], color=colour, linewidth=pt(1.4), zorder=2, label="_line")
    for end in ("hpdi_low", "hpdi_high"):
        ax.plot(
            line["covariate"],
            line[end],
            color=colour,
            linewidth=pt(0.8),
            linestyle=(0, (5, 3)),
            zorder=1,
            label="_new",
        )
    ax.axhline(0, color=FAINT, linewidth=pt(0.7), zorder=0, label="_zero")
    off = frame["off_line"].to_numpy(dtype=bool)
    for chosen, face in ((~off, "white"), (off, COLOUR["associated"])):
        if chosen.any():
            ax.errorbar(
                x[chosen],
                y[chosen],
                yerr=[(y - low)[chosen], (high - y)[chosen]],
                fmt=MARKER["associated"],
                markersize=pt(4.5),
                color=COLOUR["associated"],
                ecolor=FAINT,
                elinewidth=pt(0.7),
                markerfacecolor=face,
                markeredgewidth=pt(1.0),
                zorder=3,
                label="_off" if face != "white" else "_on",
            )
    spread = 0.05 * float(max(high.max(), line["hpdi_high"].max()) - min(low.min(), line["hpdi_low"].min()))
    ax.set_xlim(x.min() - pad, x.max() + pad)
    ax.set_ylim(
        min(low.min(), line["hpdi_low"].min()) - spread, max(high.max(), line["hpdi_high"].max()) + spread
    )
    headings.name_x(ax, result.published.covariate)
    ax.set_ylabel(plain(f"cosine: {first} less {second}", 60), fontsize=pt(8.5))
    true, share = result.true_correlation, as_percent(result.prob)
    numbers = (
        f"True associations: r {as_known(true, 'mean', 2, signed=True)} "
        f"[{', '.join(ends_as_known(true, usual=2, signed=True))}]; average scores: r {result.r:+.2f}. Slope "
        f"{as_known(result.slope, 'mean', signed=True)} [{', '.join(ends_as_known(result.slope, signed=True))}] per standard "
        "deviation."
    ).replace("-", "−")
    subtitle = f"{result.published.data}: {result.n} targets. {numbers}"
    handles = [
        marks.line_handle(
            COLOUR["associated"],
            f"target, {share} HPDI",
            marker=MARKER["associated"],
            width=0.7,
            markerfacecolor="white",
        ),
        marks.line_handle(COLOUR["associated"], "off the line", marker=MARKER["associated"], style="none"),
        marks.patch_handle(colour, f"line, {share} HPDI", alpha=0.35),
        marks.line_handle(colour, "a new target", width=0.8, style=(0, (5, 3))),
    ]
    shown_too = line.rename(columns={"line": "association"}).assign(drawn="line")
    data = pd.concat([frame.assign(drawn="target"), shown_too], ignore_index=True)
    headings.add_headings(ax, "Association against a covariate", subtitle, handles, data)
    # Of many targets a few names, where chance left room, would look as if they were chosen.
    all_named = names and (len(x) <= _NAMED or not off.any())
    shown = range(len(x)) if all_named else np.flatnonzero(off)
    chosen = list(shown)
    label_points(
        ax,
        x[chosen],
        y[chosen],
        frame["target"].iloc[chosen].astype(str).tolist(),
        intervals=(low[chosen], high[chosen]),
        lines=[
            (np.array(ax.get_xlim()), np.zeros(2)),
            *(
                (line["covariate"].to_numpy(), line[of].to_numpy())
                for of in ("line", "hpdi_low", "hpdi_high")
            ),
        ],
        lead=off[chosen].tolist(),
    )
    return ax


@styled
def plot_correlations(result: WefatResult, *, ax: Axes | None = None) -> Axes:
    """Show the correlation of average scores with the covariate, and that of true associations, each with its interval.

    Parameters
    ----------
    result : WefatResult
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> women = {"nurse": 88.0, "engineer": 12.0, "teacher": 80.0, "plumber": 2.0, "lawyer": 35.0, "dancer": 79.0}
    >>> found = bb.wefat("minilm-static", "wefat", {"percent_women": women}, seed=1, engine="quick")
    >>> ax = bb.plots.plot_correlations(found, ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['average scores', 'true associations']
    """
    import pandas as pd

    known, true = _checked(result).published, result.true_correlation
    ax = axes_or_new(ax, inches(WIDTH, _LOW))
    share = as_percent(result.prob)
    exact = Estimated(known.r, math.nan, known.low, known.high)
    rows = ((exact, "different"), (true, "associated"))
    for row, (of, look) in enumerate(rows):
        mean, low, high = of.mean, of.hpdi_low, of.hpdi_high
        ax.plot(
            [low, high],
            [row, row],
            color=COLOUR[look],
            linewidth=pt(2.4),
            solid_capstyle="butt",
            label="_interval",
        )
        marks.draw_point(ax, mean, row, look, 7)
        text = f"{as_known(of, 'mean', 2)}\n[{', '.join(ends_as_known(of, usual=2))}]".replace("-", "−")
        headings.write_aside(ax, row, text)
    ax.axvline(0, color=FAINT, linewidth=pt(0.7), zorder=0, label="_zero")
    ends = [0.0, known.low, known.high, true.hpdi_low, true.hpdi_high]
    ax.set_xlim(max(-1.0, min(ends) - 0.05), min(1.0, max(ends) + 0.05))
    ax.set_yticks([0, 1], ["average scores", "true associations"])
    ax.set_ylim(1.6, -0.6)
    headings.name_x(ax, f"correlation with {known.covariate}")
    handles = [
        marks.line_handle(
            COLOUR["different"],
            f"r of the published score, {share} interval by Fisher's z",
            marker="s",
            width=2.4,
        ),
        marks.line_handle(
            COLOUR["associated"], f"posterior mean and {share} HPDI, noise taken out", marker="o", width=2.4
        ),
    ]
    names = ("average scores", "true associations")
    data = pd.DataFrame(
        [
            {"of": name, "r": of.mean, "low": of.hpdi_low, "high": of.hpdi_high}
            for name, (of, _) in zip(names, rows, strict=True)
        ]
    )
    headings.add_headings(ax, "Two correlations", f"{known.data}, {result.n} targets", handles, data)
    return ax
