"""Scatters of the sentiment of occupational sentences: female against male, and against earnings.

Also the panels that all figures of sentiment share: where there are several classifiers each has a panel of its
own, side by side and with the same rows; on Axes of your own one of them is drawn, see `classifier`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import as_percent
from bayesbias.inference.posterior import BiasFit
from bayesbias.plots import headings, marks
from bayesbias.plots.labels import label_points
from bayesbias.plots.plates import Plate
from bayesbias.plots.style import (
    INK,
    MARKER,
    across,
    inches,
    make_square,
    new_panels,
    panels_of,
    pt,
    styled,
)
from bayesbias.studies.sentiment.analysis import SentimentAnalysis
from bayesbias.studies.sentiment.published import earnings_correlation, profession_sentiment
from bayesbias.tables.sentiment import classifiers_in
from bayesbias.wordlists.occupations import load_occupations

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["plot_earnings", "plot_genders"]

_FEWEST = 4  # professions with earnings, of which there is a figure
_GENDERS, _EARNINGS = 6.2, 4.8  # inches of height, where there is one panel
_PANEL = 3.5  # inches of width of a panel, where there are several


@styled
def plot_genders(
    table: pd.DataFrame | SentimentAnalysis | BiasFit,
    *,
    classifier: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Show for each profession the mean probability of male against that of female sentences.

    Above the diagonal the female sentences are rated higher. Names are left out where they would collide.

    Parameters
    ----------
    table : DataFrame, SentimentAnalysis or BiasFit
        From `sentiment_table`; of an analysis or a fit its table.
    classifier : str, optional
        Which to draw, and needed on Axes of your own where there are several.
    ax : matplotlib Axes, optional
        By default a new figure, with a panel for each classifier.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> ax = bb.plots.plot_genders(bb.sentiment_table(bb.list_predictions("m1")), ax=Figure().subplots())
    >>> ax.get_xlabel()
    'male sentences: mean probability of the positive class'
    """
    frame = table_of(table)
    names = chosen_classifiers(list(dict.fromkeys(map(str, frame["classifier"].unique()))), ax, classifier)
    axes = [ax] if ax is not None else new_panels(_size(len(names), _GENDERS), len(names), sharey=True)
    return _draw_genders(frame, names, axes)


def _draw_genders(frame: pd.DataFrame, names: Sequence[str], axes: Sequence[Axes]) -> Axes:
    ranked = profession_sentiment(frame[frame["classifier"].astype(str).isin(names)])
    values = ranked[["p_male", "p_female"]].to_numpy(dtype=float)
    pad = 0.12 * float(np.ptp(values)) or 0.05
    low, high = values.min() - pad, values.max() + pad
    labelled = []
    for name, ax in zip(names, axes, strict=True):
        part = ranked[ranked["classifier"] == name]
        ax.plot([low, high], [low, high], color=INK, linewidth=pt(0.8), zorder=1, label="_alike")
        x, y = part["p_male"].to_numpy(dtype=float), part["p_female"].to_numpy(dtype=float)
        ax.plot(
            x,
            y,
            marker=MARKER["different"],
            linestyle="none",
            markersize=pt(5),
            color=marks.colour_of("different"),
            markeredgecolor="white",
            markeredgewidth=pt(0.6),
            zorder=3,
            label="_professions",
        )
        ax.set_xlim(low, high)
        ax.set_ylim(low, high)
        make_square(ax)
        labelled.append((ax, x, y, part["profession"].astype(str).tolist()))
        headings.name_x(
            ax,
            "male sentences: mean probability of the positive class" if len(axes) == 1 else f"male, {name}",
        )
    axes[0].set_ylabel(
        "female sentences: mean probability" if len(axes) == 1 else "female sentences", fontsize=pt(8.5)
    )
    n = frame["noun_pair"].nunique()
    subtitle = f"Mean probability of the positive class over {n} noun pairs, {naming_classifiers(names)}"
    handles = [
        marks.line_handle(
            marks.colour_of("different"),
            "profession",
            marker=MARKER["different"],
            style="none",
            size=5,
        ),
        marks.line_handle(INK, "rated alike; above it the female sentences are rated higher", width=0.8),
    ]
    headings.add_headings(
        axes[0],
        "Professions: male against female",
        subtitle,
        handles,
        ranked,
        across=axes if len(axes) > 1 else (),
    )
    for ax, x, y, professions in labelled:
        label_points(ax, x, y, professions, lines=[(np.array([low, high]), np.array([low, high]))])
    return axes[0]


@styled
def plot_earnings(
    table: pd.DataFrame | SentimentAnalysis | BiasFit,
    *,
    earnings: Mapping[str, float] | None = None,
    prob: float = 0.95,
    classifier: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Show the earnings of professions against their mean sentiment, with the uncertainty of both mean and correlation.

    A profession's line is a `prob` confidence interval of its mean over noun pairs, after what noun pairs have in
    common is taken out (Morey 2008, Tutorials in Quantitative Methods for Psychology 4, 61-64): it says how well
    professions can be told apart with these nouns. The heading states the correlation with its interval.

    Parameters
    ----------
    table : DataFrame, SentimentAnalysis or BiasFit
        From `sentiment_table`; of an analysis or a fit its table.
    earnings : mapping, optional
        Profession -> earnings; by default those of the analysis or of the published list.
    prob : float in (0, 1)
        Of all intervals.
    classifier : str, optional
        Which to draw, and needed on Axes of your own where there are several.
    ax : matplotlib Axes, optional
        By default a new figure, with a panel for each classifier.

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
    >>> ax = bb.plots.plot_earnings(bb.sentiment_table(bb.list_predictions("m1")), ax=Figure().subplots())
    >>> ax.get_xlabel()
    'median weekly earnings, US dollars'
    """
    frame = table_of(table)
    earnings = _earnings_of(table) if earnings is None else dict(earnings)
    names = chosen_classifiers(list(dict.fromkeys(map(str, frame["classifier"].unique()))), ax, classifier)
    axes = [ax] if ax is not None else new_panels(_size(len(names), _EARNINGS), len(names), sharey=True)
    return _draw_earnings(frame, earnings, prob, names, axes)


def plates(
    result: SentimentAnalysis | BiasFit, names: Sequence[str], earnings: Mapping[str, float] | None = None
) -> list[Plate]:
    """List the scatters of some classifiers; earnings only where four or more professions have any."""
    frame = table_of(result)
    pay = _earnings_of(result) if earnings is None else dict(earnings)
    n = len(names)
    lead, alt = (f"{names[0]}: " if n == 1 < frame["classifier"].nunique() else ""), f"{', '.join(names)}: "
    listed = [
        Plate(
            "genders",
            lambda figure: _draw_genders(frame, names, panels_of(figure, n, sharey=True)),
            _size(n, _GENDERS),
            f"{lead}The mean probability of male against that of female sentences, per profession.",
            f"{alt}one point per profession, male against female mean probability; the numbers are in the table.",
        )
    ]
    enough = len(set(map(str, frame["profession"].unique())) & set(pay)) >= _FEWEST
    if enough and frame["noun_pair"].nunique() > 1:  # or there is no interval
        listed.append(
            Plate(
                "earnings",
                lambda figure: _draw_earnings(frame, pay, 0.95, names, panels_of(figure, n, sharey=True)),
                _size(n, _EARNINGS),
                f"{lead}Median weekly earnings and mean sentiment of the professions that have earnings.",
                f"{alt}one point per profession with the interval of its mean; the correlations are in the table.",
            )
        )
    return listed


def _draw_earnings(
    frame: pd.DataFrame,
    earnings: Mapping[str, float],
    prob: float,
    names: Sequence[str],
    axes: Sequence[Axes],
) -> Axes:
    frame = frame[frame["classifier"].astype(str).isin(names)]
    correlations = earnings_correlation(frame, earnings, prob=prob)
    ranked = profession_sentiment(frame, prob=prob)
    ranked = ranked[ranked["profession"].isin(list(earnings))]
    if ranked["low"].isna().any():
        raise InputError("an interval needs two or more noun pairs", found=int(frame["noun_pair"].nunique()))
    ranked = ranked.astype({"low": float, "high": float})
    ranked = ranked.assign(earnings=[float(earnings[p]) for p in ranked["profession"]])
    parts = {name: ranked[ranked["classifier"] == name] for name in names}
    low, high = float(ranked["low"].min()), float(ranked["high"].max())
    pay = np.concatenate([p["earnings"] for p in parts.values()])
    pads = 0.1 * (high - low) or 0.05, 0.1 * float(np.ptp(pay)) or 50.0
    labelled, values = [], []
    for name, ax in zip(names, axes, strict=True):
        part = parts[name]
        ax.errorbar(
            part["earnings"],
            part["sentiment"],
            fmt=MARKER["different"],
            markersize=pt(5),
            yerr=[part["sentiment"] - part["low"], part["high"] - part["sentiment"]],
            color=marks.colour_of("different"),
            markeredgecolor="white",
            markeredgewidth=pt(0.6),
            elinewidth=pt(1.1),
            zorder=3,
        )
        ax.set_xlim(pay.min() - pads[1], pay.max() + pads[1])
        ax.set_ylim(low - pads[0], high + pads[0])
        labelled.append((ax, part))
        own = correlations[correlations["classifier"] == name].set_index("method")
        texts = [
            f"{label} {r['r']:+.2f} [{r['low']:+.2f}, {r['high']:+.2f}]".replace("-", "−")
            for method, label in (("pearson", "Pearson's r"), ("spearman", "Spearman's"))
            if method in own.index
            for r in [own.loc[method]]
        ]
        if texts:
            values.append((f"{name}: " if len(names) > 1 else "") + ", ".join(texts))
        unit = "median weekly earnings, US dollars"
        headings.name_x(ax, unit if len(axes) == 1 else f"{name}: weekly earnings, US dollars")
    axes[0].set_ylabel("mean probability of the positive class", fontsize=pt(8.5))
    n = len(next(iter(parts.values())))
    lead = f"{n} professions with earnings, {naming_classifiers(names)}. "
    lead += (
        f"Correlation with {as_percent(prob)} interval, professions taken for a sample: " if values else ""
    )
    handles = [
        marks.line_handle(
            marks.colour_of("different"),
            f"profession, mean with {as_percent(prob)} interval (spread between noun pairs, their "
            "common part removed)",
            marker=MARKER["different"],
            width=1.1,
            size=5,
        )
    ]
    across = axes if len(axes) > 1 else ()
    subtitle = lead + "; ".join(values)
    headings.add_headings(axes[0], "Earnings and sentiment", subtitle, handles, ranked, across=across)
    for ax, part in labelled:
        x, y, low, high = (part[c].to_numpy(dtype=float) for c in ("earnings", "sentiment", "low", "high"))
        label_points(ax, x, y, part["profession"].astype(str).tolist(), intervals=(low, high))
    return axes[0]


def chosen_classifiers(names: list[str], ax: Axes | None, classifier: str | None) -> list[str]:
    if classifier is not None:
        return [checks.choice(classifier, names, "classifier")]
    if ax is not None and len(names) > 1:
        raise InputError("one Axes shows one classifier; say which", where="classifier", valid=names)
    return names


def table_of(x: Any) -> pd.DataFrame:
    """Return the sentiment table of a result, or what was handed over as one."""
    frame = x.table if isinstance(x, BiasFit | SentimentAnalysis) else x
    classifiers_in(frame)
    return frame


def _earnings_of(x: Any) -> dict[str, float]:
    about: Any = x.provenance if isinstance(x, SentimentAnalysis) else {}
    if isinstance(x, BiasFit):
        about = x.provenance.get("sentiment", {})
    return dict(about["earnings"]) if "earnings" in about else load_occupations().earnings


def naming_classifiers(names: Sequence[str]) -> str:
    return f"classifier {names[0]}" if len(names) == 1 else f"classifiers {', '.join(names)}"


def _size(panels: int, one: float) -> tuple[float, float]:
    if panels == 1:
        return inches(7.0, min(one, across() + 0.6))
    return inches(max(7.0, _PANEL * panels), min(4.7, 2.0 + across() / panels))
