"""Figures of the sentiment of occupational sentences.

Several classifiers have a panel each, side by side and with the same rows. On Axes of your own one
of them is drawn.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from bayesbias.core import checks
from bayesbias.core.errors import FitError, InputError
from bayesbias.core.formatting import as_percent
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.view import PROB
from bayesbias.plots import forest as forests, style
from bayesbias.plots.style import COLOR, INK, MARKER, styled
from bayesbias.tables.sentiment import classifiers_in
from bayesbias.wordlists.occupations import load_occupations

__all__ = ["plot_earnings", "plot_genders", "plot_noun_pairs", "plot_professions"]

_BLUE, _MARK = COLOR["different"], MARKER["different"]
_SCALE = {"difference": "probability", "logit_difference": "log odds"}
_POINTS = {"color": _BLUE, "markeredgecolor": "white", "markeredgewidth": 0.6, "markersize": 5}


@styled
def plot_professions(
    fit: BiasFit, *, prob: float = PROB, classifier: str | None = None, ax: Axes | None = None
) -> Axes:
    """Show the difference female - male of every profession, from the lowest to the highest.

    Open diamonds are the means observed over the noun pairs, which are known. Filled circles are
    posterior means for new nouns like these, with their HPDI. What new nouns bring is shared by all
    professions, so their intervals are wide together.

    Parameters
    ----------
    fit : BiasFit, SentimentAnalysis or DataFrame
        Of the model ``sentiment`` or ``sentiment_logit``. Without a fit only the observed means are
        drawn.
    prob : float in (0, 1)
        Probability of the HPDI that is drawn as a line.
    classifier : str, optional
        Which to draw. Needed on Axes of your own where there are several.
    ax : matplotlib Axes, optional
        By default a new figure, with a panel for each classifier; rows are in the order of the
        first.

    Returns
    -------
    matplotlib Axes
        Of several panels the left one; all are in ``ax.figure.axes``.

    Raises
    ------
    InputError
        If the fit does not hold the classifier.
    FitError
        If the fit is not about sentiment.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> table = bb.sentiment_table(bb.list_predictions("m1"))
    >>> fit = bb.fit(table, "sentiment", seed=1, draws=200, pointwise=False)
    >>> ax = bb.plots.plot_professions(fit, ax=Figure().subplots())
    >>> len(ax.get_yticklabels())
    20
    """
    return _differences(fit, "profession", prob, classifier, ax)


@styled
def plot_noun_pairs(
    fit: BiasFit, *, prob: float = PROB, classifier: str | None = None, ax: Axes | None = None
) -> Axes:
    """Show the difference female - male of every noun pair, from the lowest to the highest.

    As `plot_professions`: the mean observed over the listed professions, and the posterior with new
    ones.

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
    return _differences(fit, "noun_pair", prob, classifier, ax)


def _differences(
    fit: Any, level: str, prob: float, classifier: str | None, ax: Axes | None
) -> Axes:
    table = table_of(fit)
    names = _chosen(table, classifier, ax)
    n = len(names)
    means = pd.DataFrame(columns=["name", "classifier", "mean", "hpdi_low", "hpdi_high"])
    if isinstance(fit, BiasFit):
        if fit.spec.results.group != "classifier" or fit.spec.outcome not in _SCALE:
            about = f"{fit.spec.label} is about {fit.spec.outcome}"
            raise FitError(f"the figure is about sentiment, and {about}")
        means = fit.means(level, prob, "population")
        means = means[means["classifier"].isin(names)]
    outcome = fit.spec.outcome if isinstance(fit, BiasFit) else "difference"
    keys = [table[column].astype(str) for column in (level, "classifier")]
    observed = table[outcome].groupby(keys, sort=False).mean()
    order = list(observed.xs(names[0], level=1).sort_values(kind="stable").index)
    shown = [float(observed[name, of]) for name in order for of in names]
    span = min(*shown, *means["hpdi_low"]), max(*shown, *means["hpdi_high"])
    height = style.rows_height(len(order) + forests.HEAD * (n > 1), 0.34, 0.17)
    axes = style.axes_for(ax, height, max(style.WIDTH, 1.6 + 2.6 * n) if n > 2 else style.WIDTH, n)
    scale, series = _SCALE[outcome], []
    for name, panel in zip(names, axes, strict=True):
        known = pd.DataFrame({"key": order, "mean": [float(observed[key, name]) for key in order]})
        open_: dict[str, Any] = {"size": 5.0, "hollow": True, "label": "_observed"}
        shift = 0.2 if len(means) else 0.0
        series = [forests.Series(known, forests.LISTED, "D", shift, **open_)]
        if len(means):
            model = means[means["classifier"] == name].rename(columns={"name": "key"})
            look: dict[str, Any] = {"shift": -0.2, "label": "_population"}
            series.append(forests.Series(model, forests.POPULATION, **look))
        groups = {name if n > 1 else "": [(key, _pair_label(key)) for key in order]}
        forests.forest(panel, groups, series, span=span, inside=True)
        if panel is not axes[0]:
            panel.set_yticks([])
        where = "" if n > 1 else f", in {scale} of the positive class"
        panel.set_xlabel(f"female − male{where}")
    new, listed, title = {
        "profession": ("new nouns like these", "these nouns", "profession"),
        "noun_pair": ("new professions like these", "these professions", "noun pair"),
    }[level]
    labels = [f"observed, {listed}", f"model, {new}"]
    handles = [each.handle(label) for each, label in zip(series, labels, strict=False)]
    note = f"{_said(names)}. Observed mean"
    if len(means):
        note = f"Model {fit.spec.name}, {note}; posterior mean and {as_percent(prob)} HPDI"
    if n > 1:
        note += f", in {scale} of the positive class; rows in the order of {names[0]}"
    data = observed.rename("observed").rename_axis(["name", "classifier"]).reset_index()
    data = data[data["classifier"].isin(names)].merge(means, how="left", on=["name", "classifier"])
    return style.finish(axes, f"Female − male, per {title}", note, handles, data)


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
    return " ".join([*male[: ends[0]], "/", *female[before : ends[1]], *male[ends[0] :]])


@styled
def plot_genders(table: Any, *, classifier: str | None = None, ax: Axes | None = None) -> Axes:
    """Show for each profession the mean probability of male against that of female sentences.

    Above the diagonal the female sentences are rated higher. Names are left out where they would
    collide.

    Parameters
    ----------
    table : DataFrame, SentimentAnalysis or BiasFit
        From `sentiment_table`; of an analysis or a fit its table.
    classifier : str, optional
        Which to draw. Needed on Axes of your own where there are several.
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
    names = _chosen(frame, classifier, ax)
    frame = frame[frame["classifier"].astype(str).isin(names)]
    by = ["classifier", "profession"]
    means = frame.groupby(by, sort=False, observed=True)[["p_male", "p_female"]].mean()
    means = means.reset_index().astype(dict.fromkeys(by, str))
    values = means[["p_male", "p_female"]].to_numpy(dtype=float)
    pad = 0.12 * float(np.ptp(values)) or 0.05
    ends = np.array([values.min() - pad, values.max() + pad])
    n = len(names)
    axes = _panels(ax, n, 6.2)
    for name, panel in zip(names, axes, strict=True):
        own = means[means["classifier"] == name]
        panel.plot(ends, ends, color=INK, linewidth=0.8, zorder=1, label="_alike")
        panel.plot(own["p_male"], own["p_female"], _MARK, zorder=3, label="_professions", **_POINTS)
        panel.set(xlim=ends, ylim=ends, box_aspect=1)
        panel.set_anchor("S")
        long = "male sentences: mean probability of the positive class"
        panel.set_xlabel(long if n == 1 else f"male, {name}")
    long = "female sentences: mean probability"
    axes[0].set_ylabel(long if n == 1 else "female sentences")
    pairs = frame["noun_pair"].nunique()
    note = f"Mean probability of the positive class over {pairs} noun pairs, {_said(names)}"
    said = "rated alike; above it the female sentences are rated higher"
    handles = [
        style.line_handle(_BLUE, "profession", _MARK, linewidth=0),
        style.line_handle(INK, said, linewidth=0.8),
    ]
    style.finish(axes, "Professions: male against female", note, handles, means)
    for name, panel in zip(names, axes, strict=True):
        own = means[means["classifier"] == name]
        x, y = (own[column].to_numpy(dtype=float) for column in ("p_male", "p_female"))
        style.label_points(panel, x, y, own["profession"].tolist(), lines=[(ends, ends)])
    return axes[0]


@styled
def plot_earnings(
    table: Any,
    *,
    earnings: Mapping[str, float] | None = None,
    prob: float = 0.95,
    classifier: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Show the earnings of professions against their mean sentiment, with the uncertainty of mean and correlation.

    The line of a profession is the confidence interval of its mean over noun pairs, after what noun
    pairs have in common is taken out (Morey 2008, Tutorials in Quantitative Methods for Psychology
    4, 61-64).

    Parameters
    ----------
    table : DataFrame, SentimentAnalysis or BiasFit
        From `sentiment_table`; of an analysis or a fit its table.
    earnings : mapping, optional
        Profession -> earnings; by default those of the analysis or of the published list.
    prob : float in (0, 1)
        Of all intervals.
    classifier : str, optional
        Which to draw. Needed on Axes of your own where there are several.
    ax : matplotlib Axes, optional
        By default a new figure, with a panel for each classifier.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        If fewer than four professions have earnings.

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
    from bayesbias.studies.sentiment.published import earnings_correlation, profession_sentiment

    frame = table_of(table)
    pay = earnings_of(table) if earnings is None else dict(earnings)
    names = _chosen(frame, classifier, ax)
    n = len(names)
    frame = frame[frame["classifier"].astype(str).isin(names)]
    correlations = earnings_correlation(frame, pay, prob=prob).set_index(["classifier", "method"])
    ranked = profession_sentiment(frame, prob=prob)
    ranked = ranked[ranked["profession"].isin(list(pay))]
    if ranked["low"].isna().any():
        found = int(frame["noun_pair"].nunique())
        raise InputError("an interval needs two or more noun pairs", found=found)
    ranked = ranked.astype({"low": float, "high": float, "classifier": str})
    ranked = ranked.assign(earnings=[float(pay[name]) for name in ranked["profession"]])
    axes = _panels(ax, n, 4.8)
    said = []
    for name, panel in zip(names, axes, strict=True):
        own = ranked[ranked["classifier"] == name]
        error = [own["sentiment"] - own["low"], own["high"] - own["sentiment"]]
        look = _POINTS | {"elinewidth": 1.1, "zorder": 3}
        panel.errorbar(own["earnings"], own["sentiment"], yerr=error, fmt=_MARK, **look)
        panel.margins(0.1)
        texts = []
        for method, label in (("pearson", "Pearson's r"), ("spearman", "Spearman's")):
            if (name, method) in correlations.index:
                row = correlations.loc[(name, method)]
                ends = style.interval(row["low"], row["high"], 2, signed=True)
                texts.append(f"{label} {style.number(row['r'], 2, signed=True)} {ends}")
        if texts:
            said.append((f"{name}: " if n > 1 else "") + ", ".join(texts))
        unit = "median weekly earnings, US dollars"
        panel.set_xlabel(unit if n == 1 else f"{name}: weekly earnings, US dollars")
    axes[0].set_ylabel("mean probability of the positive class")
    note = f"{len(ranked) // n} professions with earnings, {_said(names)}."
    if said:
        note += f" Correlation with {as_percent(prob)} interval, professions as a sample: {'; '.join(said)}"
    said_line = f"profession, mean with {as_percent(prob)} interval (spread between noun pairs, their common part removed)"
    handles = [style.line_handle(_BLUE, said_line, _MARK, linewidth=1.1)]
    style.finish(axes, "Earnings and sentiment", note, handles, ranked)
    columns = ["earnings", "sentiment", "low", "high"]
    for name, panel in zip(names, axes, strict=True):
        own = ranked[ranked["classifier"] == name]
        x, y, low, high = own[columns].to_numpy(dtype=float).T
        lines = [([at, at], ends) for at, *ends in zip(x, low, high, strict=True)]
        style.label_points(panel, x, y, own["profession"].astype(str).tolist(), lines=lines)
    return axes[0]


def table_of(result: Any) -> pd.DataFrame:
    """Return the sentiment table of a result, or what was given as one."""
    frame = getattr(result, "table", result)
    classifiers_in(frame)
    return frame


def earnings_of(result: Any) -> dict[str, float]:
    """Return the earnings that an analysis was made with, or the published ones."""
    provenance = getattr(result, "provenance", {})
    about = provenance.get("sentiment", provenance)
    return dict(about["earnings"]) if "earnings" in about else load_occupations().earnings


def _chosen(frame: pd.DataFrame, classifier: str | None, ax: Axes | None) -> list[str]:
    names = list(dict.fromkeys(map(str, frame["classifier"].unique())))
    if classifier is not None:
        return [checks.choice(classifier, names, "classifier")]
    if ax is not None and len(names) > 1:
        raise InputError(
            "one Axes shows one classifier; say which", where="classifier", valid=names
        )
    return names


def _said(names: list[str]) -> str:
    return f"classifier {names[0]}" if len(names) == 1 else f"classifiers {', '.join(names)}"


def _panels(ax: Axes | None, n: int, height: float) -> list[Axes]:
    across = style.across()
    if n == 1:
        return style.axes_for(ax, min(height, across + 0.6))
    return style.axes_for(ax, min(4.7, 2.0 + across / n), max(7.0, 3.5 * n), n, sharey=True)
