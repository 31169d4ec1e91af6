"""Figures of a fit to the sentiment of occupational sentences: professions, noun pairs, predictions.

Where there are several classifiers each has a panel of its own, side by side and with the same rows; on Axes of
your own one of them is drawn, see `classifier`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.basics.errors import FitError, InputError
from bayesbias.figures import headings, marks, saving
from bayesbias.figures.outcomes import replicated_outcomes
from bayesbias.figures.rows import ridge_axis, row_axis
from bayesbias.figures.sentiment_scatter import (
    chosen_classifiers,
    draw_earnings,
    draw_genders,
    earnings_of,
    naming_classifiers,
    panels_of,
    size_scatter,
    table_of,
)
from bayesbias.figures.style import HEAD, INK, as_percent, size_ridges, size_rows, styled
from bayesbias.inference.estimands import PROB
from bayesbias.inference.posterior import BiasFit
from bayesbias.studies.sentiment import SentimentAnalysis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_noun_pairs", "plot_professions", "plot_sentiment_predictive", "save_sentiment_figures"]

_SCALE = {
    "difference": "female − male, in probability of the positive class",
    "logit_difference": "female − male, in log odds of the positive class",
}
# What is new and what is listed in a mean over the pairs of one profession or noun pair.
_NEW = {"profession": "new nouns like these", "noun_pair": "new professions like these"}
_LISTED = {"profession": "these nouns only", "noun_pair": "these professions only"}
_ESTIMANDS = ("population", "these_words")


def plot_professions(
    fit: BiasFit, prob: float = PROB, ax: Axes | None = None, *, classifier: str | None = None
) -> Axes:
    """Show the difference female - male of every profession, from the lowest to the highest.

    Of each profession: the raw mean over its noun pairs (a short upright line), the posterior for these nouns alone
    (open diamond) and for this profession with new nouns like these (filled circle), each with its HPDI. New nouns
    bring their own luck, which the professions share: their intervals are wide together.

    Parameters
    ----------
    fit : BiasFit
        Of the model ``sentiment`` or ``sentiment_logit``.
    prob : float in (0, 1)
        Probability of the HPDI that is drawn as a line.
    ax : matplotlib Axes, optional
        By default a new figure, with a panel for each classifier; rows are in the order of the first.
    classifier : str, optional
        Which to draw, and needed on Axes of your own where the fit has several.

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
    >>> table = bb.sentiment_table(bb.shipped_predictions("m1"))
    >>> result = bb.fit(table, "sentiment", seed=1, draws=200, pointwise=False)
    >>> ax = bb.figures.plot_professions(result, ax=Figure().subplots())
    >>> len(ax.get_yticklabels())
    20
    """
    return _forest(fit, "profession", prob, ax, classifier)


def plot_noun_pairs(
    fit: BiasFit, prob: float = PROB, ax: Axes | None = None, *, classifier: str | None = None
) -> Axes:
    """Show the difference female - male of every noun pair, from the lowest to the highest.

    As `plot_professions`: the posterior for the listed professions alone, and for this noun pair with new ones.

    Parameters
    ----------
    fit : BiasFit
    prob : float in (0, 1)
    ax : matplotlib Axes, optional
    classifier : str, optional

    Returns
    -------
    matplotlib Axes
    """
    return _forest(fit, "noun_pair", prob, ax, classifier)


@styled
def _forest(fit: BiasFit, level: str, prob: float, ax: Axes | None, classifier: str | None) -> Axes:
    names = chosen_classifiers(_classifiers(fit), ax, classifier)
    if ax is not None:
        return _draw_forest(fit, level, prob, names, [ax])
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=size_forest(fit, level, len(names)), layout="constrained")
    return _draw_forest(fit, level, prob, names, panels_of(figure, len(names), sharey=False))


def _draw_forest(fit: BiasFit, level: str, prob: float, names: Sequence[str], axes: Sequence[Axes]) -> Axes:
    means = {e: fit.means(level, prob, e) for e in _ESTIMANDS}
    raw = fit.table.groupby(["classifier", level], sort=False, observed=True)[fit.spec.outcome].mean()
    first = means["these_words"]
    first = first[first["classifier"] == names[0]].sort_values("mean", kind="stable")
    order = [str(name) for name in first["name"]]
    ends = [means[e].loc[means[e]["classifier"].isin(names), ["hpdi_low", "hpdi_high"]] for e in _ESTIMANDS]
    low, high = min(e.to_numpy().min() for e in ends), max(e.to_numpy().max() for e in ends)
    shown = raw[raw.index.get_level_values(0).isin(names)]
    low, high = min(low, shown.min(), 0.0), max(high, shown.max(), 0.0)
    pad = 0.04 * (high - low) or 0.1
    several = len(axes) > 1
    gap = HEAD if several else 0.0
    labels = [(gap + i + 0.5, _pair_label(name)) for i, name in enumerate(order)]
    for place, (name, ax) in enumerate(zip(names, axes, strict=True)):
        heads = [(gap / 2, name)] if several else []
        points = row_axis(ax, labels, heads, (low - pad, high + pad), inside=True)
        if place:
            ax.set_yticks([])
        ax.axvline(0, color=INK, linewidth=0.8, zorder=0.7)
        size, thick = float(np.clip(0.3 * points, 2.6, 5.5)), float(np.clip(0.12 * points, 0.9, 1.8))
        rows = {label: at for (at, _), label in zip(labels, order, strict=True)}
        for estimand in _ESTIMANDS:
            population = estimand == "population"
            for r in means[estimand][means[estimand]["classifier"] == name].itertuples():
                y = rows[str(r.name)] + (-0.2 if population else 0.2)
                ax.plot(
                    [r.hpdi_low, r.hpdi_high], [y, y], color=marks.contrast_colour(estimand),
                    linewidth=thick if population else 0.6 * thick, solid_capstyle="butt", zorder=3, label="_interval",
                )  # fmt: skip
                ax.plot(
                    [r.mean], [y], zorder=4, label=f"_{estimand}", **marks.contrast_marker(estimand, size)
                )
        for label, at in rows.items():
            ax.plot(
                [raw[name, label]], [at + 0.2], marker="|", markersize=1.5 * size, color=INK,
                markeredgewidth=1.0, zorder=5, label="_raw",
            )  # fmt: skip
        headings.name_x(
            ax, _SCALE[fit.spec.outcome] if not several else _SCALE[fit.spec.outcome].split(", ")[0]
        )
    handles = [
        *(
            marks.line_handle(
                marks.contrast_colour(e), said[level], width=1.8 if e == "population" else 1.1,
                **marks.contrast_marker(e, 5.5),
            )
            for e, said in (("population", _NEW), ("these_words", _LISTED))
        ),
        marks.line_handle(INK, "raw mean", marker="|", style="none", size=8, markeredgewidth=1.0),
    ]  # fmt: skip
    noun = "profession" if level == "profession" else "noun pair"
    said = f"Model {fit.spec.name}, {naming_classifiers(names)}. Posterior mean and {as_percent(prob)} HPDI"
    if several:
        scale = "probability" if fit.spec.outcome == "difference" else "log odds"
        said += f", in {scale} of the positive class; rows in the order of {names[0]}"
    headings.add_headings(
        axes[0], f"Female − male, per {noun}", said, handles, across=axes if several else ()
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
def plot_sentiment_predictive(fit: BiasFit, ax: Axes | None = None, *, replicates: int = 50) -> Axes:
    """Hold the observed differences of each classifier against tables that the fitted model would make.

    Parameters
    ----------
    fit : BiasFit
        Of the model ``sentiment`` or ``sentiment_logit``.
    ax : matplotlib Axes, optional
        By default a new figure.
    replicates : int
        How many replicated tables are drawn, at most 200.

    Returns
    -------
    matplotlib Axes
    """
    names = _classifiers(fit)
    if isinstance(replicates, bool) or not isinstance(replicates, int) or not 1 <= replicates <= 200:
        raise InputError("`replicates` must be a whole number from 1 to 200", found=replicates)
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=size_ridges(len(names)), layout="constrained")[1]
    observed = fit.table[fit.spec.outcome].to_numpy(dtype=float)
    drawn = replicated_outcomes(fit, replicates)
    low, high = marks.value_range([observed, drawn.ravel()], 0.0005)
    margin = 0.15 * (high - low)
    grid = np.linspace(min(low - margin, observed.min()), max(high + margin, observed.max()), 301)
    ridge_axis(ax, names, (float(grid[0]), float(grid[-1])))
    for row, name in enumerate(names):
        mine = (fit.table["classifier"].astype(str) == name).to_numpy()
        width = marks.bandwidth(observed[mine])
        seen = marks.density(observed[mine], grid, width)
        made = [marks.density(values, grid, width) for values in drawn[:, mine]]
        scale = 0.84 / max(float(seen.max()), *(float(curve.max()) for curve in made))
        for curve in made:
            ax.plot(grid, row + 0.42 - scale * curve, color="#9A9A9A", linewidth=0.5, alpha=0.45, zorder=2)
        colour = marks.colour_of("different")
        ax.plot(grid, row + 0.42 - scale * seen, color=colour, linewidth=2, zorder=3, label="_observed")
    headings.name_x(ax, _SCALE[fit.spec.outcome])
    handles = [
        marks.line_handle(marks.colour_of("different"), "observed sentence pairs (density)", width=2),
        marks.line_handle("#9A9A9A", f"{len(drawn)} tables made by the fitted model", width=0.8),
    ]
    said = f"Model {fit.spec.name}, {naming_classifiers(names)}"
    headings.add_headings(ax, "Posterior predictive check", said, handles)
    return ax


def save_sentiment_figures(
    result: BiasFit | SentimentAnalysis,
    folder: str | os.PathLike[str],
    formats: Iterable[str] = ("png", "svg"),
    *,
    prob: float = PROB,
    earnings: Mapping[str, float] | None = None,
) -> list[Path]:
    """Draw all figures of a fit or an analysis and write them into a folder; return the paths.

    Parameters
    ----------
    result : BiasFit or SentimentAnalysis
        Of an analysis alone there are ``genders`` and ``earnings``; a fit adds ``professions``, ``noun_pairs`` and
        ``predictive``.
    folder : path
        Made where it does not exist.
    formats : iterable of str
        Of ``pdf``, ``png`` and ``svg``.
    prob : float in (0, 1)
        Probability of the HPDIs.
    earnings : mapping, optional
        See `plot_earnings`. Where fewer than four professions have any, there is no such figure.

    Raises
    ------
    InputError
        For an unknown format, or where the folder cannot be written.
    """
    frame = table_of(result)
    names = list(dict.fromkeys(frame["classifier"].astype(str)))
    pay = earnings_of(result) if earnings is None else dict(earnings)
    plots: dict[str, saving.Plot] = {}
    if isinstance(result, BiasFit):
        for level, name in (("profession", "professions"), ("noun_pair", "noun_pairs")):

            def forest(figure: Figure, level: str = level) -> None:
                _draw_forest(result, level, prob, names, panels_of(figure, len(names), sharey=False))

            plots[name] = (forest, size_forest(result, level, len(names)))
        plots["predictive"] = (
            lambda figure: plot_sentiment_predictive(result, ax=figure.subplots()),
            size_ridges(len(names)),
        )
    plots["genders"] = (
        lambda figure: draw_genders(frame, names, panels_of(figure, len(names))),
        size_scatter(len(names), 6.2),
    )
    if frame["profession"].isin(list(pay)).groupby(frame["profession"]).any().sum() >= 4:
        plots["earnings"] = (
            lambda figure: draw_earnings(frame, pay, 0.95, names, panels_of(figure, len(names))),
            size_scatter(len(names), 4.8),
        )
    return saving.write_figures(plots, folder, formats)


def _classifiers(fit: BiasFit) -> list[str]:
    if fit.spec.results.group != "classifier" or fit.spec.outcome not in _SCALE:
        raise FitError(f"the figure is about sentiment, and {fit.spec.label} is about {fit.spec.outcome}")
    return list(dict.fromkeys(fit.table["classifier"].astype(str)))


def size_forest(fit: BiasFit, level: str, panels: int) -> tuple[float, float]:
    width, height = size_rows(fit.table[level].nunique() + HEAD * (panels > 1), 0.34, 0.17)
    return (width if panels < 3 else 1.6 + 2.6 * panels), height
