"""Figures of a fit to the sentiment of occupational sentences: professions, noun pairs, predictions.

Where there are several classifiers each has a panel of its own, side by side and with the same rows; on Axes of
your own one of them is drawn, see `classifier`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import FitError
from bayesbias.core.formatting import as_percent, number_of
from bayesbias.inference.estimands import PROB
from bayesbias.inference.posterior import BiasFit
from bayesbias.plots import headings, marks, sentiment_scatter, slopes
from bayesbias.plots.plates import Plate, on_axes
from bayesbias.plots.predictive import REPLICATED, draw_ridges
from bayesbias.plots.rows import row_axis
from bayesbias.plots.sentiment_scatter import chosen_classifiers, naming_classifiers, table_of
from bayesbias.plots.style import (
    HEAD,
    INK,
    new_panels,
    panels_of,
    pt,
    size_ridges,
    size_rows,
    style_now,
    styled,
)
from bayesbias.studies.sentiment.analysis import SentimentAnalysis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_noun_pairs", "plot_professions", "plot_sentiment_predictive"]

_SCALE = {
    "difference": "female − male, in probability of the positive class",
    "logit_difference": "female − male, in log odds of the positive class",
}
# What is new and what is listed in a mean over the pairs of one profession or noun pair.
_NEW = {"profession": "new nouns like these", "noun_pair": "new professions like these"}
_LISTED = {"profession": "observed, these nouns", "noun_pair": "observed, these professions"}


def plot_professions(
    fit: BiasFit, *, prob: float = PROB, classifier: str | None = None, ax: Axes | None = None
) -> Axes:
    """Show the difference female - male of every profession, from the lowest to the highest.

    Of each profession: the mean that was observed over its noun pairs (open diamond), which is known and has no interval,
    and the posterior mean for this profession with new nouns like these (filled circle) with its HPDI. The posterior
    draws alike professions together; new nouns bring their own luck, which the professions share: their intervals
    are wide together.

    Parameters
    ----------
    fit : BiasFit
        Of the model ``sentiment`` or ``sentiment_logit``.
    prob : float in (0, 1)
        Probability of the HPDI that is drawn as a line.
    classifier : str, optional
        Which to draw, and needed on Axes of your own where there are several.
    ax : matplotlib Axes, optional
        By default a new figure, with a panel for each classifier; rows are in the order of the first.

    Returns
    -------
    matplotlib Axes
        Of several panels the left one; all are in ``ax.figure.axes``.

    Raises
    ------
    InputError
        For a classifier that the fit does not hold, or a fit of something else.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> table = bb.sentiment_table(bb.list_predictions("m1"))
    >>> result = bb.fit(table, "sentiment", seed=1, draws=200, pointwise=False)
    >>> ax = bb.plots.plot_professions(result, ax=Figure().subplots())
    >>> len(ax.get_yticklabels())
    20
    """
    checks.instance(fit, BiasFit, "fit", "what bayesbias.fit returns")
    return _forest(fit, "profession", prob, ax, classifier)


def plot_noun_pairs(
    fit: BiasFit, *, prob: float = PROB, classifier: str | None = None, ax: Axes | None = None
) -> Axes:
    """Show the difference female - male of every noun pair, from the lowest to the highest.

    As `plot_professions`: the mean observed over the listed professions, and the posterior with new ones.

    Parameters
    ----------
    fit : BiasFit
    prob : float in (0, 1)
    classifier : str, optional
    ax : matplotlib Axes, optional
        All as in `plot_professions`.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import bayesbias as bb
    >>> table = bb.sentiment_table(bb.list_predictions("m1"))
    >>> fit = bb.fit(table, "sentiment", draws=100, tune=100, chains=2, seed=1)
    >>> ax = bb.plots.plot_noun_pairs(fit, ax=Figure().subplots())
    >>> len(ax.get_yticklabels()) == table["noun_pair"].nunique()
    True
    """
    checks.instance(fit, BiasFit, "fit", "what bayesbias.fit returns")
    return _forest(fit, "noun_pair", prob, ax, classifier)


@styled
def _forest(fit: BiasFit, level: str, prob: float, ax: Axes | None, classifier: str | None) -> Axes:
    names = chosen_classifiers(_classifiers(fit), ax, classifier)
    axes = [ax] if ax is not None else new_panels(_size_forest(fit, level, len(names)), len(names))
    return _draw_forest(fit, level, prob, names, axes)


def _draw_forest(fit: BiasFit, level: str, prob: float, names: Sequence[str], axes: Sequence[Axes]) -> Axes:
    means = fit.means(level, prob, "population")
    means = means[means["classifier"].isin(names)]
    group = fit.spec.results.group
    observed = fit.means(level, estimand="listed_words").set_index(["name", group])["mean"]
    order = list(observed.xs(names[0], level=1).sort_values(kind="stable").index)
    shown = observed[observed.index.get_level_values(1).isin(names)]
    low = min(means["hpdi_low"].min(), shown.min(), 0.0)
    high = max(means["hpdi_high"].max(), shown.max(), 0.0)
    pad = 0.04 * (high - low) or 0.1
    several = len(axes) > 1
    gap = HEAD if several else 0.0
    labels = [(gap + i + 0.5, _pair_label(name)) for i, name in enumerate(order)]
    for place, (name, ax) in enumerate(zip(names, axes, strict=True)):
        heads = [(gap / 2, name)] if several else []
        points = row_axis(ax, labels, heads, (low - pad, high + pad), inside=True)
        if place:
            ax.set_yticks([])
        ax.axvline(0, color=INK, linewidth=pt(0.8), zorder=0.7)
        size, thick = float(np.clip(0.3 * points, 2.6, 5.5)), float(np.clip(0.12 * points, 0.9, 1.8))
        rows = {label: at for (at, _), label in zip(labels, order, strict=True)}
        for r in means[means["classifier"] == name].itertuples():
            y = rows[str(r.name)] - 0.2
            ax.plot(
                [r.hpdi_low, r.hpdi_high],
                [y, y],
                color=marks.contrast_colour("population"),
                linewidth=pt(thick),
                solid_capstyle="butt",
                zorder=3,
                label="_interval",
            )
            ax.plot([r.mean], [y], zorder=4, label="_population", **marks.contrast_marker("population", size))
        for label, at in rows.items():
            ax.plot(
                [observed[label, name]],
                [at + 0.2],
                zorder=4,
                label="_observed",
                **marks.contrast_marker("listed_words", size),
            )
        headings.name_x(
            ax, _SCALE[fit.spec.outcome] if not several else _SCALE[fit.spec.outcome].split(", ")[0]
        )
    listed = marks.contrast_marker("listed_words", 5.5)
    handles = [
        marks.line_handle(
            marks.contrast_colour("population"),
            f"model, {_NEW[level]}",
            width=1.8,
            **marks.contrast_marker("population", 5.5),
        ),
        marks.line_handle(marks.contrast_colour("listed_words"), _LISTED[level], style="none", **listed),
    ]
    noun = "profession" if level == "profession" else "noun pair"
    subtitle = f"Model {fit.spec.name}, {naming_classifiers(names)}. Posterior mean and {as_percent(prob)} HPDI; observed mean"
    if several:
        scale = "probability" if fit.spec.outcome == "difference" else "log odds"
        subtitle += f", in {scale} of the positive class; rows in the order of {names[0]}"
    headings.add_headings(
        axes[0],
        f"Female − male, per {noun}",
        subtitle,
        handles,
        means.assign(
            observed=[observed[str(r.name), str(r.classifier)] for r in means.itertuples(index=False)]
        ),
        across=axes if several else (),
    )
    return axes[0]


def _pair_label(name: str) -> str:
    """Shorten a noun pair by the words that both sides share: "My father / mother"."""
    sides = name.split(" / ")
    if len(sides) != 2:
        return name
    male, female = (side.split() for side in sides)
    most = min(len(male), len(female)) - 1
    before = next((i for i in range(most) if male[i] != female[i]), most)
    after = next((i for i in range(most - before) if male[-1 - i] != female[-1 - i]), most - before)
    ends = len(male) - after, len(female) - after
    words = [*male[: ends[0]], "/", *female[before : ends[1]], *(male[ends[0] :] if after else [])]
    return " ".join(words)


@styled
def plot_sentiment_predictive(fit: BiasFit, *, replicates: int = 50, ax: Axes | None = None) -> Axes:
    """Hold the observed differences of each classifier against tables that the fitted model would make.

    Parameters
    ----------
    fit : BiasFit
        Of the model ``sentiment`` or ``sentiment_logit``.
    replicates : int
        How many replicated tables are drawn, at most 200.
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import bayesbias as bb
    >>> table = bb.sentiment_table(bb.list_predictions("m1"))
    >>> fit = bb.fit(table, "sentiment", draws=100, tune=100, chains=2, seed=1)
    >>> ax = bb.plots.plot_sentiment_predictive(fit, replicates=10, ax=Figure().subplots())
    >>> len(ax.lines)
    11
    """
    checks.instance(fit, BiasFit, "fit", "what bayesbias.fit returns")
    names = _classifiers(fit)
    colour = marks.colour_of("different")
    ax, n, curves = draw_ridges(fit, "classifier", dict.fromkeys(names, colour), replicates, ax)
    headings.name_x(ax, _SCALE[fit.spec.outcome])
    handles = [
        marks.line_handle(colour, "observed sentence pairs (density)", width=2),
        marks.line_handle(REPLICATED, f"{number_of(n, 'table')} made by the fitted model", width=0.8),
    ]
    source = f"Model {fit.spec.name}, {naming_classifiers(names)}"
    headings.add_headings(ax, "Posterior predictive check", source, handles, curves)
    return ax


def plates(
    result: BiasFit | SentimentAnalysis,
    prob: float = PROB,
    *,
    earnings: Mapping[str, float] | None = None,
    classifier: str | None = None,
) -> list[Plate]:
    """List the figures of a fit to sentiment or of an analysis.

    Parameters
    ----------
    result : BiasFit or SentimentAnalysis
        Of an analysis alone there are ``genders`` and ``earnings``; a fit adds ``professions``, ``noun_pairs`` and
        ``predictive``.
    prob : float in (0, 1)
        Probability of the HPDIs.
    earnings : mapping, optional
        See `plot_earnings`.
    classifier : str, optional
        Which to draw, by default each in a panel of its own. What is about all of them is then
        left out.
    """
    every = list(dict.fromkeys(map(str, table_of(result)["classifier"].unique())))
    names = chosen_classifiers(every, None, classifier)
    scatters = sentiment_scatter.plates(result, names, earnings)
    if not isinstance(result, BiasFit):
        return scatters
    check = Plate(
        "predictive",
        on_axes(plot_sentiment_predictive, result),
        size_ridges(len(every)),
        "The observed differences against tables that the fitted model would make: where the coloured curve leaves the grey "
        "ones, the model misses something.",
        "Densities of the observed differences per classifier over those of replicated tables.",
    )
    of_all = [check, *slopes.plates(result, prob)] if classifier is None else []
    return [*_forests(result, prob, names, len(every)), *of_all, *scatters]


def _forests(fit: BiasFit, prob: float, names: Sequence[str], of: int) -> list[Plate]:
    captions = {
        "profession": "Female − male of every profession: as observed, and with new nouns, where the model draws alike "
        "professions together and all share what those nouns would bring.",
        "noun_pair": "Female − male of every noun pair: as observed, and with new professions. What lies far from zero "
        "carries the mean.",
    }

    def forest(level: str, caption: str) -> Plate:
        return Plate(
            f"{level}s",
            lambda figure: _draw_forest(fit, level, prob, names, panels_of(figure, len(names))),
            _size_forest(fit, level, len(names)),
            f"{names[0]}: {caption}" if len(names) < of else caption,
            f"{', '.join(names)}: observed mean, posterior mean and HPDI of female minus male for each "
            f"{level.replace('_', ' ')}; the numbers are in the table.",
        )

    return [forest(level, caption) for level, caption in captions.items()]


def _classifiers(fit: BiasFit) -> list[str]:
    if fit.spec.results.group != "classifier" or fit.spec.outcome not in _SCALE:
        raise FitError(f"the figure is about sentiment, and {fit.spec.label} is about {fit.spec.outcome}")
    return list(dict.fromkeys(map(str, fit.table["classifier"].unique())))


def _size_forest(fit: BiasFit, level: str, panels: int) -> tuple[float, float]:
    width, height = size_rows(fit.table[level].nunique() + HEAD * (panels > 1), 0.34, 0.17)
    return (width if panels < 3 or style_now().asked else pt(1.6 + 2.6 * panels)), height
