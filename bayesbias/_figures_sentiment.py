"""Figures of the sentiment of occupational sentences, in the style of `figures`.

Where there are several classifiers each has a panel of its own, side by side and with the same rows; on Axes of
your own one of them is drawn, see `classifier`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bayesbias import _canvas as canvas
from bayesbias.errors import FitError, InputError, nearest
from bayesbias.figures import _predictive
from bayesbias.posterior import PROB, BiasFit
from bayesbias.sentiment import (
    SentimentAnalysis,
    earnings_correlation,
    load_occupations,
    profession_sentiment,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "plot_earnings",
    "plot_genders",
    "plot_noun_pairs",
    "plot_professions",
    "plot_sentiment_predictive",
    "save_sentiment_figures",
]

_PANEL = 3.5  # inches of width of a panel, where there are several
_SCALE = {
    "difference": "female − male, in probability of the positive class",
    "logit_difference": "female − male, in log odds of the positive class",
}
# What is new and what is listed in a mean over the pairs of one profession or noun pair.
_NEW = {"profession": "new nouns like these", "noun_pair": "new professions like these"}
_LISTED = {"profession": "these nouns only", "noun_pair": "these professions only"}
_ESTIMANDS = ("population", "these_words")
_TIED = 1e-9  # sentiments this near to each other are one value
_LABEL = 7.5  # points
_ROUND = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))  # places for a label


# -- professions and noun pairs ----------------------------------------------------------------------


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
    >>> ax = bb.plot_professions(result, ax=Figure().subplots())
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


@canvas.styled
def _forest(fit: BiasFit, level: str, prob: float, ax: Axes | None, classifier: str | None) -> Axes:
    names = _chosen(_classifiers(fit), ax, classifier)
    if ax is not None:
        return _draw_forest(fit, level, prob, names, [ax])
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=_size_forest(fit, level, len(names)), layout="constrained")
    return _draw_forest(fit, level, prob, names, _panels(figure, len(names), sharey=False))


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
    gap = canvas.HEAD if several else 0.0
    labels = [(gap + i + 0.5, _pair_label(name)) for i, name in enumerate(order)]
    for place, (name, ax) in enumerate(zip(names, axes, strict=True)):
        heads = [(gap / 2, name)] if several else []
        points = canvas.row_axis(ax, labels, heads, (low - pad, high + pad), inside=True)
        if place:
            ax.set_yticks([])
        ax.axvline(0, color=canvas.INK, linewidth=0.8, zorder=0.7)
        size, thick = float(np.clip(0.3 * points, 2.6, 5.5)), float(np.clip(0.12 * points, 0.9, 1.8))
        rows = {label: at for (at, _), label in zip(labels, order, strict=True)}
        for estimand in _ESTIMANDS:
            population = estimand == "population"
            for r in means[estimand][means[estimand]["classifier"] == name].itertuples():
                y = rows[str(r.name)] + (-0.2 if population else 0.2)
                ax.plot(
                    [r.hpdi_low, r.hpdi_high], [y, y], color=canvas.contrast_colour(estimand),
                    linewidth=thick if population else 0.6 * thick, solid_capstyle="butt", zorder=3, label="_interval",
                )  # fmt: skip
                ax.plot(
                    [r.mean], [y], zorder=4, label=f"_{estimand}", **canvas.contrast_marker(estimand, size)
                )
        for label, at in rows.items():
            ax.plot(
                [raw[name, label]], [at + 0.2], marker="|", markersize=1.5 * size, color=canvas.INK,
                markeredgewidth=1.0, zorder=5, label="_raw",
            )  # fmt: skip
        canvas.name_x(
            ax, _SCALE[fit.spec.outcome] if not several else _SCALE[fit.spec.outcome].split(", ")[0]
        )
    handles = [
        *(
            canvas.line_handle(
                canvas.contrast_colour(e), said[level], width=1.8 if e == "population" else 1.1,
                **canvas.contrast_marker(e, 5.5),
            )
            for e, said in (("population", _NEW), ("these_words", _LISTED))
        ),
        canvas.line_handle(canvas.INK, "raw mean", marker="|", style="none", size=8, markeredgewidth=1.0),
    ]  # fmt: skip
    noun = "profession" if level == "profession" else "noun pair"
    said = f"Model {fit.spec.name}, {_of(names)}. Posterior mean and {canvas.as_percent(prob)} HPDI"
    if several:
        scale = "probability" if fit.spec.outcome == "difference" else "log odds"
        said += f", in {scale} of the positive class; rows in the order of {names[0]}"
    canvas.add_headings(axes[0], f"Female − male, per {noun}", said, handles, across=axes if several else ())
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


# -- male against female ---------------------------------------------------------------------------------


@canvas.styled
def plot_genders(
    table: pd.DataFrame | SentimentAnalysis | BiasFit,
    ax: Axes | None = None,
    *,
    classifier: str | None = None,
) -> Axes:
    """Show for each profession the mean probability of male against that of female sentences.

    Above the diagonal the female sentences are rated higher. Names are left out where they would collide.

    Parameters
    ----------
    table : DataFrame, SentimentAnalysis or BiasFit
        From `sentiment_table`; of an analysis or a fit its table.
    ax : matplotlib Axes, optional
        By default a new figure, with a panel for each classifier.
    classifier : str, optional
        Which to draw, and needed on Axes of your own where there are several.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> ax = bb.plot_genders(bb.sentiment_table(bb.shipped_predictions("m1")), ax=Figure().subplots())
    >>> ax.get_xlabel()
    'male sentences: mean probability of the positive class'
    """
    frame = _table_of(table)
    names = _chosen(list(dict.fromkeys(frame["classifier"].astype(str))), ax, classifier)
    if ax is not None:
        return _draw_genders(frame, names, [ax])
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=_size_scatter(len(names), 6.2), layout="constrained")
    return _draw_genders(frame, names, _panels(figure, len(names)))


def _draw_genders(frame: pd.DataFrame, names: Sequence[str], axes: Sequence[Axes]) -> Axes:
    ranked = profession_sentiment(frame[frame["classifier"].astype(str).isin(names)])
    values = ranked[["p_male", "p_female"]].to_numpy(dtype=float)
    pad = 0.12 * float(np.ptp(values)) or 0.05
    low, high = values.min() - pad, values.max() + pad
    labelled = []
    for name, ax in zip(names, axes, strict=True):
        part = ranked[ranked["classifier"] == name]
        ax.plot([low, high], [low, high], color=canvas.INK, linewidth=0.8, zorder=1, label="_alike")
        x, y = part["p_male"].to_numpy(dtype=float), part["p_female"].to_numpy(dtype=float)
        ax.plot(
            x, y, marker=canvas.MARKER["different"], linestyle="none", markersize=5, color=canvas.colour_of("different"),
            markeredgecolor="white", markeredgewidth=0.6, zorder=3, label="_professions",
        )  # fmt: skip
        ax.set_xlim(low, high)
        ax.set_ylim(low, high)
        ax.set_box_aspect(1)
        labelled.append((ax, x, y, part["profession"].astype(str).tolist()))
        canvas.name_x(
            ax,
            "male sentences: mean probability of the positive class" if len(axes) == 1 else f"male, {name}",
        )
    axes[0].set_ylabel(
        "female sentences: mean probability" if len(axes) == 1 else "female sentences", fontsize=8.5
    )
    n = frame["noun_pair"].nunique()
    said = f"Mean probability of the positive class over {n} noun pairs, {_of(names)}"
    handles = [
        canvas.line_handle(
            canvas.colour_of("different"),
            "profession",
            marker=canvas.MARKER["different"],
            style="none",
            size=5,
        ),
        canvas.line_handle(
            canvas.INK, "rated alike; above it the female sentences are rated higher", width=0.8
        ),
    ]
    canvas.add_headings(
        axes[0], "Professions: male against female", said, handles, across=axes if len(axes) > 1 else ()
    )
    for ax, *points in labelled:
        _label_points(ax, *points, panels=len(axes))
    return axes[0]


# -- earnings -----------------------------------------------------------------------------------------


@canvas.styled
def plot_earnings(
    table: pd.DataFrame | SentimentAnalysis | BiasFit,
    earnings: Mapping[str, float] | None = None,
    prob: float = 0.95,
    ax: Axes | None = None,
    *,
    classifier: str | None = None,
) -> Axes:
    """Show the earnings of professions against their mean sentiment, with the uncertainty of both mean and correlation.

    A profession's line is a `prob` confidence interval of its mean over noun pairs, after what noun pairs have in
    common is taken out (Morey 2008, Tutorials in Quantitative Methods for Psychology 4, 61-64): it says how well
    professions can be told apart with these nouns. The heading states the correlation with its interval.

    Parameters
    ----------
    table : DataFrame, SentimentAnalysis or BiasFit
    earnings : mapping, optional
        Profession -> earnings; by default those of the analysis or of the published list.
    prob : float in (0, 1)
        Of all intervals.
    ax : matplotlib Axes, optional
        By default a new figure, with a panel for each classifier.
    classifier : str, optional
        Which to draw, and needed on Axes of your own where there are several.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        Where fewer than four professions have earnings.

    Notes
    -----
    Source: figure 2 of Bhaskaran & Bhallamudi (2019), which shows the points alone.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> ax = bb.plot_earnings(bb.sentiment_table(bb.shipped_predictions("m1")), ax=Figure().subplots())
    >>> ax.get_xlabel()
    'median weekly earnings, US dollars'
    """
    frame = _table_of(table)
    earnings = _earnings_of(table) if earnings is None else dict(earnings)
    names = _chosen(list(dict.fromkeys(frame["classifier"].astype(str))), ax, classifier)
    if ax is not None:
        return _draw_earnings(frame, earnings, prob, names, [ax])
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=_size_scatter(len(names), 4.8), layout="constrained")
    return _draw_earnings(frame, earnings, prob, names, _panels(figure, len(names)))


def _draw_earnings(
    frame: pd.DataFrame,
    earnings: Mapping[str, float],
    prob: float,
    names: Sequence[str],
    axes: Sequence[Axes],
) -> Axes:
    frame = frame[frame["classifier"].astype(str).isin(names)]
    found = earnings_correlation(frame, earnings, prob=prob)
    parts = {name: _profession_means(frame[frame["classifier"] == name], earnings, prob) for name in names}
    # A mean probability lies between 0 and 1, and so do the ends of its interval.
    low = max(0.0, min(float((p["sentiment"] - p["half"]).min()) for p in parts.values()))
    high = min(1.0, max(float((p["sentiment"] + p["half"]).max()) for p in parts.values()))
    pay = np.concatenate([p["earnings"] for p in parts.values()])
    pads = 0.1 * (high - low) or 0.05, 0.1 * float(np.ptp(pay)) or 50.0
    labelled, said = [], []
    for name, ax in zip(names, axes, strict=True):
        part = parts[name]
        ax.errorbar(
            part["earnings"], part["sentiment"], fmt=canvas.MARKER["different"], markersize=5,
            yerr=[part["half"].clip(upper=part["sentiment"]), part["half"].clip(upper=1 - part["sentiment"])],
            color=canvas.colour_of("different"), markeredgecolor="white", markeredgewidth=0.6, elinewidth=1.1, zorder=3,
        )  # fmt: skip
        ax.set_xlim(pay.min() - pads[1], pay.max() + pads[1])
        ax.set_ylim(low - pads[0], high + pads[0])
        labelled.append((ax, part))
        own = found[found["classifier"] == name].set_index("method")
        told = [
            f"{label} {r['r']:+.2f} [{r['low']:+.2f}, {r['high']:+.2f}]".replace("-", "−")
            for method, label in (("pearson", "Pearson's r"), ("spearman", "Spearman's"))
            if method in own.index
            for r in [own.loc[method]]
        ]
        if told:
            said.append((f"{name}: " if len(names) > 1 else "") + ", ".join(told))
        unit = "median weekly earnings, US dollars"
        canvas.name_x(ax, unit if len(axes) == 1 else f"{name}: weekly earnings, US dollars")
    axes[0].set_ylabel("mean probability of the positive class", fontsize=8.5)
    n = len(next(iter(parts.values())))
    lead = f"{n} professions with earnings, {_of(names)}. "
    lead += (
        f"Correlation with {canvas.as_percent(prob)} interval, professions taken for a sample: "
        if said
        else ""
    )
    handles = [
        canvas.line_handle(
            canvas.colour_of("different"),
            f"profession, mean with {canvas.as_percent(prob)} interval (spread between noun pairs, their "
            "common part removed)",
            marker=canvas.MARKER["different"], width=1.1, size=5,
        )
    ]  # fmt: skip
    across = axes if len(axes) > 1 else ()
    canvas.add_headings(axes[0], "Earnings and sentiment", lead + "; ".join(said), handles, across=across)
    for ax, part in labelled:
        x, y, half = (part[column].to_numpy(dtype=float) for column in ("earnings", "sentiment", "half"))
        _label_points(ax, x, y, part.index.tolist(), panels=len(axes), half=half)
    return axes[0]


def _profession_means(part: pd.DataFrame, earnings: Mapping[str, float], prob: float) -> pd.DataFrame:
    """Mean sentiment of each profession with earnings, and the half-width of its interval (Morey 2008)."""
    from scipy.special import stdtrit

    part = part.assign(sentiment=(part["p_male"] + part["p_female"]) / 2)
    part = part.assign(
        left=part["sentiment"]
        - part.groupby("noun_pair", observed=True)["sentiment"].transform("mean")
        + part["sentiment"].mean()
    )
    groups = part.groupby("profession", sort=False, observed=True)
    k, n = groups.ngroups, groups.size()
    if (n < 2).any():
        raise InputError("an interval needs two or more noun pairs", found=int(n.min()))
    spread = groups["left"].std(ddof=1) * math.sqrt(k / (k - 1) if k > 1 else 1.0)
    half = spread / np.sqrt(n) * stdtrit(n - 1, 0.5 + prob / 2)
    out = groups["sentiment"].mean().to_frame().assign(half=half)
    out = out[out.index.isin(list(earnings))]
    return out.assign(earnings=[float(earnings[p]) for p in out.index])


# -- posterior predictive -------------------------------------------------------------------------------


@canvas.styled
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

        ax = plt.subplots(figsize=canvas.size_ridges(len(names)), layout="constrained")[1]
    observed = fit.table[fit.spec.outcome].to_numpy(dtype=float)
    drawn = _predictive(fit, replicates)
    low, high = canvas.value_range([observed, drawn.ravel()], 0.0005)
    margin = 0.15 * (high - low)
    grid = np.linspace(min(low - margin, observed.min()), max(high + margin, observed.max()), 301)
    canvas.ridge_axis(ax, names, (float(grid[0]), float(grid[-1])))
    for row, name in enumerate(names):
        mine = (fit.table["classifier"].astype(str) == name).to_numpy()
        width = canvas.bandwidth(observed[mine])
        seen = canvas.density(observed[mine], grid, width)
        made = [canvas.density(values, grid, width) for values in drawn[:, mine]]
        scale = 0.84 / max(float(seen.max()), *(float(curve.max()) for curve in made))
        for curve in made:
            ax.plot(grid, row + 0.42 - scale * curve, color="#9A9A9A", linewidth=0.5, alpha=0.45, zorder=2)
        colour = canvas.colour_of("different")
        ax.plot(grid, row + 0.42 - scale * seen, color=colour, linewidth=2, zorder=3, label="_observed")
    canvas.name_x(ax, _SCALE[fit.spec.outcome])
    handles = [
        canvas.line_handle(canvas.colour_of("different"), "observed sentence pairs (density)", width=2),
        canvas.line_handle("#9A9A9A", f"{len(drawn)} tables made by the fitted model", width=0.8),
    ]
    said = f"Model {fit.spec.name}, {_of(names)}"
    canvas.add_headings(ax, "Posterior predictive check", said, handles)
    return ax


# -- all of them -------------------------------------------------------------------------------------------


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
    frame = _table_of(result)
    names = list(dict.fromkeys(frame["classifier"].astype(str)))
    pay = _earnings_of(result) if earnings is None else dict(earnings)
    plots: dict[str, canvas.Plot] = {}
    if isinstance(result, BiasFit):
        for level, name in (("profession", "professions"), ("noun_pair", "noun_pairs")):

            def forest(figure: Figure, level: str = level) -> None:
                _draw_forest(result, level, prob, names, _panels(figure, len(names), sharey=False))

            plots[name] = (forest, _size_forest(result, level, len(names)))
        plots["predictive"] = (
            lambda figure: plot_sentiment_predictive(result, ax=figure.subplots()),
            canvas.size_ridges(len(names)),
        )
    plots["genders"] = (
        lambda figure: _draw_genders(frame, names, _panels(figure, len(names))),
        _size_scatter(len(names), 6.2),
    )
    if frame["profession"].isin(list(pay)).groupby(frame["profession"]).any().sum() >= 4:
        plots["earnings"] = (
            lambda figure: _draw_earnings(frame, pay, 0.95, names, _panels(figure, len(names))),
            _size_scatter(len(names), 4.8),
        )
    return canvas.write_figures(plots, folder, formats)


# -- small things ---------------------------------------------------------------------------------------


def _classifiers(fit: BiasFit) -> list[str]:
    if fit.spec.results.group != "classifier" or fit.spec.outcome not in _SCALE:
        raise FitError(f"the figure is about sentiment, and {fit.spec.label} is about {fit.spec.outcome}")
    return list(dict.fromkeys(fit.table["classifier"].astype(str)))


def _chosen(names: list[str], ax: Axes | None, classifier: str | None) -> list[str]:
    if classifier is not None:
        if classifier not in names:
            raise InputError(
                "no such classifier", found=classifier, valid=names, hint=nearest(str(classifier), names)
            )
        return [classifier]
    if ax is not None and len(names) > 1:
        raise InputError("one Axes shows one classifier; say which", where="classifier", valid=names)
    return names


def _table_of(x: Any) -> pd.DataFrame:
    return x.table if isinstance(x, BiasFit | SentimentAnalysis) else x


def _earnings_of(x: Any) -> dict[str, float]:
    about: Any = x.provenance if isinstance(x, SentimentAnalysis) else {}
    if isinstance(x, BiasFit):
        about = x.provenance.get("sentiment", {})
    return dict(about["earnings"]) if "earnings" in about else load_occupations().earnings


def _of(names: Sequence[str]) -> str:
    return f"classifier {names[0]}" if len(names) == 1 else f"classifiers {', '.join(names)}"


def _panels(figure: Figure, n: int, *, sharey: bool = True) -> list[Axes]:
    return list(figure.subplots(1, n, squeeze=False, sharey=sharey and n > 1)[0])


def _size_forest(fit: BiasFit, level: str, panels: int) -> tuple[float, float]:
    width, height = canvas.size_rows(fit.table[level].nunique() + canvas.HEAD * (panels > 1), 0.34, 0.17)
    return (width if panels < 3 else 1.6 + 2.6 * panels), height


def _size_scatter(panels: int, one: float) -> tuple[float, float]:
    return (7.0, one) if panels == 1 else (max(7.0, _PANEL * panels), 4.7)


def _label_points(
    ax: Axes,
    x: npt.NDArray[np.float64],
    y: npt.NDArray[np.float64],
    names: Sequence[str],
    *,
    panels: int,
    half: npt.NDArray[np.float64] | None = None,
) -> None:
    """Name points where a name meets neither another name nor another point; points that lie together share one.

    Where there is the choice, names also keep clear of the diagonal, or of intervals of `half` the height.
    """
    figure = ax.get_figure(root=True)
    assert figure is not None
    # The layout is still to come: about the width and height that the Axes will have, in points.
    width = float(figure.get_size_inches()[0] * 72 / panels) - 55.0
    height = float(figure.get_size_inches()[1] * 72) - 95.0
    if ax.get_box_aspect() is not None:
        width = height = min(width, height)
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()

    def placed(x: Any, y: Any) -> npt.NDArray[np.float64]:
        return np.column_stack([(x - x0) / (x1 - x0) * width, (y - y0) / (y1 - y0) * height])

    at = placed(x, y)
    groups: dict[int, list[int]] = {}
    for i in range(len(names)):
        same = next((j for j in groups if math.dist((x[i], y[i]), (x[j], y[j])) < _TIED), i)
        groups.setdefault(same, []).append(i)
    taken = [_Box(px - 4, py - 4, px + 4, py + 4) for px, py in at]
    if half is None:
        steps = placed(np.linspace(x0, x1, 150), np.linspace(x0, x1, 150))
        better_not = [_Box(px - 1, py - 1, px + 1, py + 1) for px, py in steps]
    else:
        ends = placed(x, y - half), placed(x, y + half)
        better_not = [_Box(a[0] - 1, a[1], b[0] + 1, b[1]) for a, b in zip(*ends, strict=True)]
    # Those with the most room about them wait: a crowded point has fewer places for its name.
    crowd = {i: np.sort(np.hypot(*(at - at[i]).T))[: 4 + len(groups[i])].sum() for i in groups}
    for first in sorted(groups, key=lambda i: crowd[i]):
        members = groups[first]
        text = names[first] + (f" and {len(members) - 1} more" if len(members) > 1 else "")
        wide, tall = 0.53 * _LABEL * len(text), 1.15 * _LABEL
        others = [box for i, box in enumerate(taken) if i not in members]
        possible = []
        for place, (dx, dy) in enumerate(_ROUND):
            reach = 6.0 if 0 in (dx, dy) else 4.5
            left = at[first][0] + dx * reach - (0.5 - 0.5 * dx) * wide
            low = at[first][1] + dy * reach - (0.5 - 0.5 * dy) * tall
            box = _Box(left, low, left + wide, low + tall)
            inside = left >= 0 and low >= 0 and box.right <= width and box.top <= height
            if inside and not any(box.meets(other) for other in others):
                crossed = sum(box.meets(other) for other in better_not)
                possible.append((crossed > 0, place, (dx, dy), reach, box))
        if not possible:
            continue
        _, _, (dx, dy), reach, box = min(possible, key=lambda found: found[:2])
        ax.annotate(
            canvas.plain(text), (x[first], y[first]), (dx * reach, dy * reach), textcoords="offset points",
            ha={1: "left", 0: "center", -1: "right"}[dx], va={1: "bottom", 0: "center", -1: "top"}[dy],
            fontsize=_LABEL, zorder=4,
        )  # fmt: skip
        taken.append(box)


class _Box(NamedTuple):
    left: float
    low: float
    right: float
    top: float

    def meets(self, other: _Box) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.low < other.top
            and other.low < self.top
        )
