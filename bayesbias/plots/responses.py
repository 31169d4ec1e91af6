"""Plots of responses, and of the sentiment of sentences about occupations.

Of responses: items as points by group, differences by item or template as a caterpillar, models side by
side. Of sentiment several classifiers have a panel each with the same rows; on Axes of your own one is
drawn.
"""

from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from bayesbias.core import FitError, InputError, checks, join_words
from bayesbias.core.conventions import PROB
from bayesbias.core.formatting import as_percent, with_minus
from bayesbias.core.result import opened
from bayesbias.inference.posterior import BiasFit
from bayesbias.plots import forest as forests, style
from bayesbias.plots.style import COLOR, INK, MARKER, styled
from bayesbias.tables.sentiment import classifiers_in

_MOST = 30  # rows
_MOST_RANKED = 60  # rows of groups under items
_MOST_DIFFERENCES = 6  # of groups, by item and template
_MOST_CONTRASTS = 16  # of all groups
_MOST_INTERACTIONS = 8
_FEWEST = 8  # of one difference
_SCALES = {"difference": "probability", "logit_difference": "log odds"}
_BLUE, _MARK = COLOR["different"], MARKER["different"]
_POINTS = {"color": _BLUE, "markeredgecolor": "white", "markeredgewidth": 0.6, "markersize": 5}
_LEVELS = {
    "profession": ("new nouns like these", "these nouns", "profession"),
    "noun_pair": ("new professions like these", "these professions", "noun pair"),
}


@styled
def plot_response_items(result: Any, *, prob: float = PROB, ax: Axes | None = None) -> Axes:
    """Show the mean of each group by item, for new words and prompts.

    Of paired answers the differences of each two groups are shown.

    Parameters
    ----------
    result : ResponsesResult, Run or path
        The result to show.
    prob : float in (0, 1), default 0.89
        Probability of the intervals.
    ax : matplotlib Axes, optional
        By default of a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import bayesbias as bb
    >>> scores = {
    ...     "group": ["a", "b"] * 8,
    ...     "item": [f"t{k // 2}" for k in range(16)],
    ...     "outcome": [k % 5 / 10 for k in range(16)],
    ... }
    >>> found = bb.fit_responses(
    ...     bb.responses_table(scores), seed=1, draws=200, tune=300, chains=2
    ... )
    >>> ax = bb.plots.plot_response_items(found, ax=Figure().subplots())
    >>> len(ax.get_yticklabels())
    8
    """
    result = opened(result)
    answers, kind = result.responses, result.answer_kind
    models = answers.models[: max(1, len(forests.LOOKS) // len(answers.groups))]
    frame = result.items(prob).rename(columns={"name": "key"})
    frame = frame[frame["model"].isin(models) & ~frame["group"].str.endswith(" - others")]
    if len(models) > 1:
        frame = frame.assign(group=frame["group"] + ", " + frame["model"])
    first = frame[frame["group"] == frame["group"].iloc[0]].sort_values("mean")
    if frame["group"].nunique() > len(forests.LOOKS):
        return _ranked_items(result, frame, first["key"].tolist(), prob, ax)
    own, cut = _ends(first)
    order = own["key"].tolist()
    groups = frame[frame["key"].isin(order)].groupby("group", sort=False)
    shifts = forests.lanes(len(groups), min(0.3, 0.8 / len(groups)))
    series = [
        forests.Series(rows, *look, shift, label=f"_{name}", legend=with_minus(name))
        for (name, rows), look, shift in zip(groups, cycle(forests.LOOKS), shifts, strict=False)
    ]
    return forests.forest(
        ax,
        forests.ungrouped(order),
        series,
        zero=kind.zero,
        title=result.items_title,
        note="; ".join(filter(None, [forests.mean_and_interval(prob), *models * (len(models) < 2)]))
        + cut,
        xlabel=result.scale if kind.zero is None else f"difference in {result.scale}",
        data=frame,
    )


def _ranked_items(
    result: Any, frame: pd.DataFrame, order: list[str], prob: float, ax: Axes | None
) -> Axes:
    """Show many groups as rows under each item, the highest first."""
    most = max(2, _MOST_RANKED // frame["group"].nunique())
    kept, cut = _ends(pd.DataFrame({"key": order}), most)
    rows = frame[frame["key"].isin(kept["key"])].rename(columns={"key": "item"})
    rank = rows["item"].map({item: place for place, item in enumerate(kept["key"])})
    rows = rows.assign(rank=rank).sort_values(["rank", "mean"], ascending=[True, False])
    rows = rows.assign(key=[*zip(rows["item"], rows["group"], strict=True)])
    kind = result.answer_kind
    return forests.forest(
        ax,
        forests.grouped(zip(rows["item"], rows["key"], rows["group"].map(with_minus), strict=True)),
        [forests.Series(rows, forests.POPULATION, legend="a group")],
        zero=kind.zero,
        title=result.items_title,
        note=f"{forests.mean_and_interval(prob)}, the highest group first{cut}",
        xlabel=result.scale if kind.zero is None else f"difference in {result.scale}",
        data=rows.drop(columns="rank"),
    )


@styled
def plot_response_templates(
    result: Any,
    *,
    prob: float = PROB,
    level: str | None = None,
    contrast: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Show differences between groups in each template and item, of the first model.

    Parameters
    ----------
    result : ResponsesResult, Run or path
        The result to show.
    prob : float in (0, 1), default 0.89
        Probability of the intervals.
    level : {"template", "item"}, optional
        By default both, where there are several.
    contrast : str, optional
        Such as ``"black - white"`` or its reverse; by default each two groups, of many groups the
        largest differences, and of factors the main effects.
    ax : matplotlib Axes, optional
        By default of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        If the level or the contrast is unknown.
    """
    result = opened(result)
    frame = result.contrasts(prob, "new_words", level, detail=True)
    frame = frame[frame["scale"] == result.main_scale]
    model = frame["model"].iloc[0]
    frame = frame[frame["model"] == model]
    parts = frame["level"].isin(("item", "template"))
    frame = frame[parts] if parts.any() else frame
    known = frame["contrast"].unique()
    names, largest = _differences_shown(result, prob, known), ""
    if contrast is None and len(names) < len([name for name in known if _is_pair(name)]):
        largest = "; contrasts.csv has the others"
    if contrast is not None:
        turned = " - ".join(contrast.split(" - ")[::-1])
        if turned in known and contrast not in known:
            own, known = frame[frame["contrast"] == turned], [contrast]
            ends = {"hpdi_low": -own["hpdi_high"], "hpdi_high": -own["hpdi_low"]}
            frame = own[["level", "name"]].assign(contrast=contrast, mean=-own["mean"], **ends)
        names = [checks.choice(contrast, known, "contrast")]
    frame = frame[frame["contrast"].isin(names)]
    pairs = frame["contrast"].map(with_minus)
    of = pairs.iloc[0] if pairs.nunique() == 1 else "difference"
    heads = "by " + frame["level"] if pairs.nunique() == 1 else pairs + " by " + frame["level"]
    frame = frame.assign(head=heads, key=[*zip(heads, frame["name"], strict=True)])
    by_head = frame.groupby("head", sort=False)
    most = max(_FEWEST, _MOST // len(by_head))
    rows, cut = zip(*(_ends(own.sort_values("mean"), most) for _, own in by_head), strict=True)
    own, what = pd.concat(rows), result.estimands
    legend = what.get("new_words") or what.get("listed_words", "mean")
    return forests.forest(
        ax,
        forests.grouped(zip(own["head"], own["key"], own["name"], strict=True)),
        [forests.Series(own, forests.POPULATION, legend=legend)],
        rope=result.rope,
        title=f"Differences between groups by {join_words(own['level'].unique())}",
        note="; ".join(filter(None, [forests.mean_and_interval(prob), model]))
        + max(cut, key=len)
        + largest,
        xlabel=f"{of} in {result.scale}",
        data=own,
    )


def _is_pair(name: str) -> bool:
    """Whether a contrast is between two groups or levels."""
    return not name.endswith((" - others", " - mean"))


def _differences_shown(result: Any, prob: float, known: Any) -> list[str]:
    """Return the contrasts that a figure by item has: each two groups, of many the largest.

    Of factors these are the main effects, of several levels each against the others.
    """
    if result.responses.factors:
        names = [name for name in result.main_effects if name in known]
    else:
        names = [name for name in known if _is_pair(name)]
    if len(names) <= _MOST_DIFFERENCES:
        return names
    frame = result.contrasts(prob, "population", "overall")
    frame = frame[(frame["scale"] == result.main_scale) & frame["contrast"].isin(names)]
    sizes = frame.drop_duplicates("contrast").set_index("contrast")["mean"].abs()
    largest = sizes.sort_values(ascending=False, kind="stable").index[:_MOST_DIFFERENCES]
    return [name for name in names if name in largest]


def _ends(rows: pd.DataFrame, most: int = _MOST) -> tuple[pd.DataFrame, str]:
    """Return the first and the last of many rows, and a note on those left out."""
    if len(rows) <= most:
        return rows, ""
    half = most // 2
    kept = pd.concat([rows.head(half), rows.tail(half)])
    return kept, f"; {half} lowest and {half} highest of {len(rows)}"


@styled
def plot_response_models(
    result: Any, *, prob: float = PROB, level: str | None = None, ax: Axes | None = None
) -> Axes:
    """Show the differences between each two groups, of all models side by side.

    Models are compared on the same items. Of many groups each is compared with the others, the highest
    first. Of factors there are the main effects and the interactions.

    Parameters
    ----------
    result : ResponsesResult, Run or path
        The result to show.
    prob : float in (0, 1), default 0.89
        Probability of the intervals.
    level : {"main", "simple", "interaction", "cell"}, optional
        Of factors: what is shown. With ``cell`` each combination of levels, the lowest first, is
        compared with the mean of all.
    ax : matplotlib Axes, optional
        By default of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    result = opened(result)
    frame = result.contrasts(prob, level=level or "overall", detail=True)
    frame = frame[frame["scale"] == result.main_scale]
    frame, about = _contrasts_shown(result, frame) if level is None else _sorted(frame)
    frame = frame.assign(key=frame["model"] + " " + frame["contrast"])
    pair, model = (frame[of].map(with_minus) for of in ("contrast", "model"))
    several = model.nunique() > 1
    frame = frame.assign(head=pair if several else "", label=model if several else pair)
    rows = frame.drop_duplicates("key")[["head", "key", "label"]]
    groups = forests.grouped(rows.itertuples(index=False, name=None))
    what = result.estimands
    new, these = (frame[frame["estimand"] == own] for own in ("population", "listed_words"))
    look: dict[str, Any] = {"size": 5.0, "hollow": True, "label": "_listed"}
    look["legend"] = what.get("listed_words", "these")
    series = [
        forests.Series(new, forests.POPULATION, "o", -0.15, legend=what["population"]),
        forests.Series(these, forests.LISTED, "D", 0.15, **look),
    ]
    return forests.forest(
        ax,
        groups,
        series,
        rope=result.rope,
        roomy=0.4,
        tight=0.2,
        title="Cells and the mean of all cells"
        if level == "cell"
        else "Differences between groups",
        note=forests.mean_and_interval(prob) + about,
        xlabel=f"difference in {result.scale}",
        data=frame,
    )


def _sorted(frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return contrasts, the lowest of the first model first, and a note on those left out."""
    new = frame[frame["estimand"] == "population"].drop_duplicates("contrast")
    kept, cut = _ends(new.sort_values("mean", kind="stable"))
    rank = frame["contrast"].map({name: place for place, name in enumerate(kept["contrast"])})
    frame = frame.assign(rank=rank).dropna(subset=["rank"])
    return frame.sort_values("rank", kind="stable").drop(columns="rank"), cut


def _largest_of(interactions: pd.DataFrame) -> list[str]:
    """Return the interactions that a figure has room for, those farthest from 0 in SDs."""
    new = interactions[interactions["estimand"] == "population"]
    far = (new["mean"] / new["sd"]).abs().groupby(new["contrast"], sort=False).max()
    return list(far.sort_values(ascending=False, kind="stable").index[:_MOST_INTERACTIONS])


def _contrasts_shown(result: Any, frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return the contrasts that one figure has room for, and a note on those left out."""
    if result.responses.factors:
        main = frame["contrast"].isin(result.main_effects)
        interactions = frame["level"].eq("interaction")
        of_others = interactions & frame["contrast"].str.contains(" - others", regex=False)
        if of_others.any():
            interactions = of_others
        interactions &= frame["contrast"].isin(_largest_of(frame[interactions]))
        return frame[main | interactions], "; contrasts.csv has all"
    if frame["contrast"].nunique() <= _MOST_CONTRASTS:
        return frame, ""
    others = frame[frame["contrast"].str.endswith(" - others")]
    new = others[others["estimand"] == "population"]
    order = new.groupby("contrast")["mean"].mean().sort_values(ascending=False, kind="stable")
    rank = others["contrast"].map({name: place for place, name in enumerate(order.index)})
    kept = others.assign(rank=rank).sort_values("rank", kind="stable").drop(columns="rank")
    return kept, "; contrasts.csv has each two groups"


@styled
def plot_professions(
    fit: Any, *, prob: float = PROB, classifier: str | None = None, ax: Axes | None = None
) -> Axes:
    """Show the difference female - male of every profession, lowest first.

    Open diamonds are the means observed over the noun pairs, which are known. Filled circles are
    posterior means for new nouns like these, with their HPDI. What new nouns bring is shared by all
    professions, so their intervals are wide together.

    Parameters
    ----------
    fit : BiasFit, SentimentAnalysis, DataFrame, Run or path
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
    >>> fit = bb.fit(table, "sentiment", seed=1, draws=200)
    >>> ax = bb.plots.plot_professions(fit, ax=Figure().subplots())
    >>> len(ax.get_yticklabels())
    20
    """
    fit = opened(fit)
    return _differences(fit, "profession", prob, classifier, ax)


@styled
def plot_noun_pairs(
    fit: Any, *, prob: float = PROB, classifier: str | None = None, ax: Axes | None = None
) -> Axes:
    """Show the difference female - male of every noun pair, lowest first.

    As `plot_professions`: the mean observed over the listed professions, and the posterior with new
    ones.

    Parameters
    ----------
    fit : BiasFit, Run or path
        What `fit` returned.
    prob : float in (0, 1)
        Probability of the intervals.
    classifier : str, optional
        Classifier to draw; by default the first.
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
    fit = opened(fit)
    return _differences(fit, "noun_pair", prob, classifier, ax)


def _differences(
    fit: Any, level: str, prob: float, classifier: str | None, ax: Axes | None
) -> Axes:
    table = _table_of(fit)
    names = _chosen(table, classifier, ax)
    n, outcome, fitted = len(names), "difference", isinstance(fit, BiasFit)
    means = pd.DataFrame(columns=["name", "classifier", "mean", "hpdi_low", "hpdi_high"])
    if isinstance(fit, BiasFit):
        outcome = fit.spec.outcome
        if fit.spec.results.group != "classifier" or outcome not in _SCALES:
            raise FitError(f"the figure is about sentiment, and {fit.spec.label} about {outcome}")
        means = fit.means(level, prob, "population")
    keys = [table[column].astype(str) for column in (level, "classifier")]
    observed = table[outcome].groupby(keys, sort=False).mean().rename("observed")
    data = observed.rename_axis(["name", "classifier"]).reset_index()
    data = data[data["classifier"].isin(names)].merge(means, how="left", on=["name", "classifier"])
    first = data[data["classifier"] == names[0]].sort_values("observed", kind="stable")
    order = list(first["name"])
    height = style.rows_height(len(order) + forests.HEAD * (n > 1), 0.34, 0.17)
    width = max(style.WIDTH, 1.6 + 2.6 * n) if n > 2 else style.WIDTH
    axes = style.axes_for(ax, height, width, n, sharex=n > 1)
    new, listed, title = _LEVELS[level]
    unit = f", in {_SCALES[outcome]} of the positive class"
    series: list[forests.Series] = []
    for name, panel in zip(names, axes, strict=True):
        own = data[data["classifier"] == name].rename(columns={"name": "key"})
        known = own[["key", "observed"]].rename(columns={"observed": "mean"})
        look: dict[str, Any] = {"size": 5.0, "hollow": True, "label": "_observed"}
        look |= {"shift": 0.2 * fitted, "legend": f"observed, {listed}"}
        series = [forests.Series(known, forests.LISTED, "D", **look)]
        if fitted:
            look = {"shift": -0.2, "label": "_population", "legend": f"model, {new}"}
            series.append(forests.Series(own, forests.POPULATION, **look))
        groups = {name if n > 1 else "": [(key, _pair_label(key)) for key in order]}
        forests.draw_rows(panel, groups, series, inside=True)
        if panel is not axes[0]:
            panel.set_yticks([])
        panel.set_xlabel(f"female − male{'' if n > 1 else unit}")
    note = f"{_said(names)}. Observed mean"
    if isinstance(fit, BiasFit):
        note = f"Model {fit.spec.name}, {note}; {forests.mean_and_interval(prob)}"
    if n > 1:
        note += f"{unit}; rows in the order of {names[0]}"
    handles = forests.handle_series(series)
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
    """Show the mean probability of male and female sentences by profession.

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
    >>> ax = bb.plots.plot_genders(
    ...     bb.sentiment_table(bb.list_predictions("m1")), ax=Figure().subplots()
    ... )
    >>> ax.get_xlabel()
    'male sentences: mean probability of the positive class'
    """
    frame = _table_of(table)
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
        panel.plot(ends, ends, color=INK, linewidth=0.8, zorder=1)
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
def plot_earnings(result: Any, *, classifier: str | None = None, ax: Axes | None = None) -> Axes:
    """Show earnings of professions against mean sentiment, with uncertainty.

    The uncertainty is that of mean and correlation.

    The line of a profession is the confidence interval of its mean over noun pairs, after what noun
    pairs have in common is taken out (Morey 2008, Tutorials in Quantitative Methods for Psychology
    4, 61-64).

    Parameters
    ----------
    result : SentimentAnalysis, Run or path
        From `bayesbias.sentiment_analysis`, which takes earnings and the probability of intervals.
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
        If there is one noun pair only.

    Notes
    -----
    Source: figure 2 of Bhaskaran & Bhallamudi (2019), which shows the points alone.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> found = bb.sentiment_analysis(bb.list_predictions("m1"))
    >>> ax = bb.plots.plot_earnings(found, ax=Figure().subplots())
    >>> ax.get_xlabel()
    'median weekly earnings, US dollars'
    """
    result = opened(result)
    if not hasattr(result, "professions"):
        raise checks.wrong_kind(result, "result", "a result of bayesbias.sentiment_analysis")
    names = _chosen(_table_of(result), classifier, ax)
    n, pay = len(names), result.provenance["earnings"]
    ranked = result.professions.astype({"classifier": str, "profession": str})
    ranked = ranked.assign(earnings=ranked["profession"].map(pay).astype(float))
    ranked = ranked[ranked["earnings"].notna() & ranked["classifier"].isin(names)]
    if ranked["low"].isna().any():
        found = int(result.table["noun_pair"].nunique())
        raise InputError("expected at least two noun pairs", found=found)
    ranked = ranked.astype({"low": float, "high": float})
    panels = dict(zip(names, _panels(ax, n, 4.8), strict=True))
    said = []
    labels = {"pearson": "Pearson's r", "spearman": "Spearman's"}
    for name, panel in panels.items():
        own = ranked[ranked["classifier"] == name]
        error = [own["sentiment"] - own["low"], own["high"] - own["sentiment"]]
        look = _POINTS | {"elinewidth": 1.1, "zorder": 3}
        panel.errorbar(own["earnings"], own["sentiment"], yerr=error, fmt=_MARK, **look)
        panel.margins(0.1)
        rows = result.earnings[result.earnings["classifier"] == name]
        rows = rows.rename(columns={"r": "mean", "low": "hpdi_low", "high": "hpdi_high"})
        said += [
            (f"{name}: " if n > 1 else "")
            + f"{labels[row.method]} {style.estimate(row, 2, signed=True, between=' ')}"
            for row in rows.itertuples()
        ]
        unit = "median weekly earnings, US dollars"
        panel.set_xlabel(unit if n == 1 else f"{name}: weekly earnings, US dollars")
    axes = list(panels.values())
    axes[0].set_ylabel("mean probability of the positive class")
    note = f"{len(ranked) // n} professions with earnings, {_said(names)}."
    prob = as_percent(result.provenance["prob"])
    if said:
        note += f" Correlation with {prob} interval, professions as a sample: {', '.join(said)}"
    spread = "spread between noun pairs, their common part removed"
    text = f"profession, mean with {prob} interval ({spread})"
    handles = [style.line_handle(_BLUE, text, _MARK, linewidth=1.1)]
    style.finish(axes, "Earnings and sentiment", note, handles, ranked)
    for name, panel in panels.items():
        own = ranked[ranked["classifier"] == name]
        x, y, low, high = own[["earnings", "sentiment", "low", "high"]].to_numpy(dtype=float).T
        lines = [([at, at], ends) for at, *ends in zip(x, low, high, strict=True)]
        style.label_points(panel, x, y, own["profession"].tolist(), lines=lines)
    return axes[0]


def _table_of(result: Any) -> pd.DataFrame:
    """Return the sentiment table of a result, or what was given as one."""
    frame: pd.DataFrame = getattr(result, "table", result)
    classifiers_in(frame)
    return frame


def _chosen(frame: pd.DataFrame, classifier: str | None, ax: Axes | None) -> list[str]:
    names = checks.once(map(str, frame["classifier"].unique()))
    if classifier is not None:
        return [checks.choice(classifier, names, "classifier")]
    if ax is not None and len(names) > 1:
        raise InputError(
            "expected one classifier for ax=, got several", where="classifier", valid=names
        )
    return names


def _said(names: list[str]) -> str:
    return f"classifier {names[0]}" if len(names) == 1 else f"classifiers {', '.join(names)}"


def _panels(ax: Axes | None, n: int, height: float) -> list[Axes]:
    across = style.across()
    if n == 1:
        return style.axes_for(ax, min(height, across + 0.6))
    return style.axes_for(ax, min(4.7, 2.0 + across / n), max(7.0, 3.5 * n), n, sharey=True)
