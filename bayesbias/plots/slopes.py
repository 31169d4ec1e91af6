"""The figure of slopes on covariates about words, of any study whose model has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayesbias.core import checks
from bayesbias.core.digits import as_known, error_of, interval_known, probability_printed
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import as_percent, with_minus
from bayesbias.inference.estimands import PROB
from bayesbias.inference.posterior import BiasFit
from bayesbias.plots import headings, marks
from bayesbias.plots.outcomes import source_of
from bayesbias.plots.plates import Plate, on_axes
from bayesbias.plots.rows import placed, row_axis
from bayesbias.plots.style import COLOUR, HEAD, INK, axes_or_new, pt, size_rows, styled
from bayesbias.studies.debiasing.comparison import Comparison
from bayesbias.studies.sentences.result import SeatResult

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["plot_slopes"]

# Of each kind of slope the colour and the marker: of a mean, and of a difference of two.
_LOOKS: Mapping[bool, tuple[str, str]] = {False: (COLOUR["different"], "o"), True: (INK, "D")}
_UNITS = {
    "distance": "cosine distance",
    "change": "change of the cosine distance",
    "difference": "female − male, in probability",
    "logit_difference": "female − male, in log odds",
}


@styled
def plot_slopes(
    result: BiasFit | Comparison | SeatResult, *, prob: float = PROB, ax: Axes | None = None
) -> Axes:
    """Show slopes on covariates about words: what one standard deviation of a covariate goes with.

    Circles are slopes of means, diamonds those of their differences, with their intervals; at the right stands the
    probability that a slope is negative. Slopes of single words are left out.

    Parameters
    ----------
    result : BiasFit, Comparison or SeatResult
        Whose model has slopes (`bayesbias.models.with_slopes`); of sentence tests there are those of every test.
    prob : float in (0, 1)
        Probability of the HPDIs; of sentence tests it is that of the result.
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        For a result without slopes.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> covariates = {"length": {word: len(word) for word in bb.load_wordlist("weat7").protected_words}}
    >>> table = bb.distance_table("minilm-static", "weat7", controls="none", covariates=covariates)
    >>> fit = bb.fit(table, bb.models.slopes_for("default", table, "length"), seed=1, draws=200, chains=2, engine="quick")
    >>> ax = bb.plots.plot_slopes(fit, ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['length', 'associated', 'different', 'associated − different']
    """
    frame, subtitle, unit, prob = _shown(result, prob)
    ax = axes_or_new(ax, _size(frame))
    rows, labels, heads = placed(_groups(frame))
    low, high = min(float(frame["hpdi_low"].min()), 0.0), max(float(frame["hpdi_high"].max()), 0.0)
    pad = 0.06 * (high - low) or 0.01
    row_axis(ax, labels, heads, (low - pad, high + pad))
    ax.axvline(0, color=INK, linewidth=pt(0.8), zorder=0.7, label="_zero")
    for number, line in enumerate(frame.itertuples()):
        y, (colour, marker) = rows[number], _LOOKS[_is_contrast(line)]
        ax.plot(
            [line.hpdi_low, line.hpdi_high],
            [y, y],
            color=colour,
            linewidth=pt(1.4),
            solid_capstyle="butt",
            label="_interval",
        )
        ax.plot([line.mean], [y], marker=marker, markersize=pt(4.5), color=colour, zorder=4, label="_slope")
        below = probability_printed(line.p_below_zero, error_of(line, "p_below_zero"))
        headings.write_aside(ax, y, below, 7.5)
    headings.write_aside(ax, None, "P(< 0)", 8.0, up=4, weight="bold")
    headings.name_x(ax, f"{unit}: change for one standard deviation of the covariate")
    share = as_percent(prob)
    words = {False: f"slope of a mean, {share} HPDI", True: "of a difference of means"}
    handles = [
        marks.line_handle(colour, words[kind], marker=marker, width=1.4)
        for kind, (colour, marker) in _LOOKS.items()
        if any(_is_contrast(row) == kind for row in frame.itertuples())
    ]
    headings.add_headings(ax, "Slopes on covariates", subtitle, handles, frame)
    return ax


def plates(result: BiasFit | Comparison | SeatResult, prob: float = PROB) -> list[Plate]:
    """List the figure of slopes; none where a model has none."""
    if not has_slopes(result):
        return []
    frame, _, unit, prob = _shown(result, prob)
    slopes = "; ".join(
        f"{row.head}, {_label(row)}: {as_known(row, 'mean', signed=True)} ({interval_known(row, signed=True)})"
        for row in frame.head(6).itertuples()
    )
    return [
        Plate(
            "slopes",
            on_axes(plot_slopes, result, prob=prob),
            _size(frame),
            "What one standard deviation of a covariate about words goes with, on average over new words. A slope is no cause.",
            f"Slopes in {unit}, with {as_percent(prob)} HPDI: {slopes}.",
        )
    ]


def has_slopes(result: BiasFit | Comparison | SeatResult) -> bool:
    """Whether the model of a result has slopes on covariates."""
    if isinstance(result, SeatResult):
        return len(result.slopes) > 0
    return result.has_slopes if isinstance(result, Comparison) else bool(result.spec.covariates())


def _shown(result: BiasFit | Comparison | SeatResult, prob: float) -> tuple[pd.DataFrame, str, str, float]:
    """Return the rows to draw with the heading of each (``head``), what they are of, their unit, and their probability."""
    if not isinstance(result, BiasFit | Comparison | SeatResult):
        raise checks.wrong_kind(result, "result", "a fit, a comparison, or the result of sentence tests")
    if not has_slopes(result):
        raise InputError(
            "has no slopes", where="result", valid="a model with slopes: bayesbias.models.with_slopes"
        )
    if isinstance(result, SeatResult):
        frame = result.slopes[result.slopes["level"] == "overall"]
        several = frame.groupby(["model", "options"]).ngroups > 1
        names = [f"{model} ({options})" if options else model for model, options in zip(frame["model"], frame["options"], strict=True)]
        tests = [
            f"{test}, {name}" if several else test for test, name in zip(frame["test"], names, strict=True)
        ]
        frame = frame.assign(
            head=[f"{test}: {covariate}" for test, covariate in zip(tests, frame["covariate"], strict=True)]
        )
        return frame, "Sentence tests", _UNITS["distance"], float(result.provenance["prob"])
    frame = result.slopes(prob).query("level != 'word'")
    if isinstance(result, BiasFit):
        unit = _UNITS.get(result.spec.outcome, result.spec.outcome.replace("_", " "))
        return frame.assign(head=frame["covariate"]), source_of(result), unit, prob
    several = frame["method"].nunique() > 1
    heads = [f"{m}: {f}" if several else f for m, f in zip(frame["method"], frame["covariate"], strict=True)]
    return frame.assign(head=heads), "Changes of distances", _UNITS["change"], prob


def _is_contrast(row: Any) -> bool:
    return " - " in row.of


def _label(row: Any) -> str:
    name = with_minus(row.of)
    return name if row.level == "overall" else f"{name}, {row.name}"


def _groups(frame: pd.DataFrame) -> dict[str, list[tuple[Any, str]]]:
    out: dict[str, list[tuple[Any, str]]] = {}
    for number, row in enumerate(frame.itertuples()):
        out.setdefault(str(row.head), []).append((number, _label(row)))
    return out


def _size(frame: pd.DataFrame) -> tuple[float, float]:
    return size_rows(len(frame) + HEAD * frame["head"].nunique(), 0.3, 0.14)
