"""Forest plots: rows of estimates with their intervals. All of them are drawn by `forest`."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import as_percent, number_of, with_minus
from bayesbias.inference.estimands import CONTRASTS, ESTIMANDS, holds_for, words_scatter
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.view import PROB, ROPE
from bayesbias.models.spec import ModelSpec
from bayesbias.plots import style
from bayesbias.plots.style import COLOR, FAINT, INK, MARKER, pt, styled

__all__ = [
    "plot_connections",
    "plot_contrasts",
    "plot_frequencies",
    "plot_frequency_contrasts",
    "plot_slopes",
    "plot_sweep",
]

HEAD = 0.75  # height of a heading, in rows
DISTANCE = "cosine distance (0 = same direction, 1 = unrelated, 2 = opposite)"
POPULATION, LISTED = COLOR["different"], COLOR["associated"]
_LEVELS = ("overall", "class", "attribute_set", "word")
type Groups = Mapping[str, Sequence[tuple[Hashable, str]]]
"""Heading -> rows under it, each a key and a label. The heading ``""`` is not drawn."""


@dataclass(frozen=True)
class Series:
    """One mark and interval in each row.

    Attributes
    ----------
    rows : DataFrame
        ``key`` (of the row), ``mean`` and, where there is an interval, ``hpdi_low, hpdi_high``.
    color, marker : str
    shift : float
        Down from the middle of the row, in rows.
    width, size : float
        Points of the line and the marker.
    hollow : bool
    label : str
        Of the marks; that of intervals is ``_interval``.
    """

    rows: pd.DataFrame
    color: str
    marker: str = "o"
    shift: float = 0.0
    width: float = 1.8
    size: float = 6.0
    hollow: bool = False
    label: str = "_mean"

    def handle(self, label: str) -> Any:
        """Return the entry of the legend."""
        line = {"linewidth": self.width if "hpdi_low" in self.rows else 0}
        return style.line_handle(self.color, label, self.marker, **line, **self._look())

    def _look(self) -> dict[str, Any]:
        face = "white" if self.hollow else self.color
        return {"markerfacecolor": face, "markeredgewidth": 1.1 if self.hollow else 0.5}


@dataclass(frozen=True)
class Beside:
    """A column of text at the right: its title, its distance in points, and the text of each row."""

    texts: Mapping[Any, str]
    title: str = ""
    shift: float = 6.0
    color: str = INK
    ha: str = "left"


def forest(
    ax: Axes,
    groups: Groups,
    series: Sequence[Series] = (),
    *,
    span: tuple[float, float] | None = None,
    zero: float | None = 0.0,
    rope: float | None = None,
    beside: Sequence[Beside] = (),
    inside: bool = False,
) -> dict[Hashable, float]:
    """Draw rows of estimates, under headings, against a line and a region of practical equivalence.

    Parameters
    ----------
    ax : matplotlib Axes
    groups : Groups
        Rows and their headings.
    series : sequence of Series
        What is drawn in each row.
    span : (float, float), optional
        What the axis must show; by default all intervals, the line and the region.
    zero : float, optional
        Where a line stands.
    rope : float, optional
        Half-width of the region around zero.
    beside : sequence of Beside
        Columns of text at the right.
    inside : bool
        Whether headings stand inside the Axes, where a long one takes no room from the data.

    Returns
    -------
    dict
        The height of each row, by its key.
    """
    rows: dict[Hashable, float] = {}
    ticks: list[tuple[float, str, bool]] = []
    edge = 0.0
    heads = [name for name in groups if name]
    for name, members in groups.items():
        if name and edge:
            ax.axhline(edge, color=FAINT, linewidth=0.6, zorder=0.5)
        if name:
            ticks.append((edge + HEAD / 2, name, True))
            edge += HEAD
        for number, (key, label) in enumerate(members):
            rows[key] = edge + 0.5
            ticks.append((edge + 0.5, label, False))
            if number % 2 == 0:  # so that the eye finds its way from the label to its marks
                ax.axhspan(edge, edge + 1, color=style.SHADE, linewidth=0, zorder=0)
            edge += 1
    points = style.points_per(ax, edge)
    size = float(np.clip(0.88 * points, 3.0, 8.5))
    ax.set_ylim(edge, 0)
    named = [tick for tick in ticks if not (inside and tick[2])]
    style.name_rows(ax, [at for at, _, _ in named], [label for _, label, _ in named], size)
    for label, (_, _, head) in zip(ax.get_yticklabels(), named, strict=True):
        label.set_fontweight("bold" if head else "normal")
    for at, text, head in ticks if inside and heads else ():
        if head:
            ax.annotate(
                style.plain(text, 40),
                (0, at),
                (pt(4), 0),
                xycoords=ax.get_yaxis_transform(),
                textcoords="offset points",
                va="center",
                fontsize=pt(size),
                fontweight="bold",
                bbox={"facecolor": "white", "linewidth": 0, "pad": 1},
            )
    ends = list(span or ())
    lanes = len({each.shift for each in series})
    for each in series:
        frame, scale = each.rows, points * (0.3 if lanes < 3 else 0.5 / lanes)
        y = np.array([rows[key] for key in frame["key"]]) + each.shift
        if "hpdi_low" in frame:
            low, high = (frame[end].to_numpy(dtype=float) for end in ("hpdi_low", "hpdi_high"))
            width = min(each.width, max(0.9, 0.4 * scale))
            ax.hlines(y, low, high, color=each.color, linewidth=width, zorder=3, label="_interval")
            ends += [*low, *high]
        means = frame["mean"].to_numpy(dtype=float)
        ax.plot(
            means,
            y,
            linestyle="none",
            marker=each.marker,
            markersize=min(each.size, max(2.6, scale)),
            color=each.color,
            zorder=4,
            label=each.label,
            **each._look(),
        )
        ends += [*means]
    if rope is not None:
        ax.axvspan(-rope, rope, color=style.ROPE_GRAY, linewidth=0, zorder=0.6, label="_rope")
        ends += [-rope, rope]
    if zero is not None:
        look = {"linestyle": style.DOTTED if zero else "-", "linewidth": 0.8}
        ax.axvline(zero, color=INK, zorder=0.7, label="_zero", **look)
        ends.append(zero)
    style.limit_x(ax, min(ends), max(ends))
    for column in beside:
        aside: dict[str, Any] = {"shift": column.shift, "color": column.color, "ha": column.ha}
        for key, text in column.texts.items():
            style.write_aside(ax, rows[key], text, min(8.0, 0.75 * points), **aside)
        if column.title:
            style.write_aside(ax, None, column.title, 7.5, **aside)
    return rows


def group_rows(groups: Groups) -> float:
    """Return the height of groups, in rows."""
    return sum(len(members) + HEAD * bool(name) for name, members in groups.items())


def by_class(table: pd.DataFrame) -> dict[str, list[tuple[Hashable, str]]]:
    """Return the words of each class, both in the order of the table."""
    groups: dict[str, list[tuple[Hashable, str]]] = {}
    first = (
        table[["protected_class", "protected_word"]].astype(str).drop_duplicates("protected_word")
    )
    for name, word in first.itertuples(index=False):
        groups.setdefault(name, []).append((word, word))
    return groups


def rope_handle(rope: float) -> Any:
    """Return the entry of the legend for the region of practical equivalence."""
    return style.patch_handle(f"ROPE ±{rope:g}", facecolor=style.ROPE_GRAY)


def need_fit(fit: object, *columns: str) -> None:
    """Refuse what is no fit, or lacks a column that the figure draws."""
    checks.instance(fit, BiasFit, "fit", "what bayesbias.fit returns")
    assert isinstance(fit, BiasFit)
    checks.columns(fit.table, columns, f"model {fit.spec.name}", "a fit to pairs of words")


def source_of(fit: BiasFit) -> str:
    """Say which model was fitted to which table."""
    name = fit.provenance.get("table", {}).get("name", "a table")
    return f"Model {fit.spec.name} on {name}"


def outcome_label(spec: ModelSpec) -> str:
    """Name the outcome of a model as its axis does."""
    return DISTANCE if spec.outcome == "distance" else spec.outcome.replace("_", " ")


def estimand_label(spec: ModelSpec, level: str, estimand: str) -> str:
    """Say in a legend what an estimand holds for at a level of a model."""
    if estimand == "listed_words":
        return "these words only"
    if estimand != "population":
        return holds_for(spec, level, estimand)
    if level == "overall" and words_scatter(spec):
        return "population: new words like these"
    return f"population: {holds_for(spec, level)}"


@styled
def plot_connections(
    fit: BiasFit, *, prob: float = PROB, estimand: str = "population", ax: Axes | None = None
) -> Axes:
    """Show the posterior of the mean distance per connection.

    Parameters
    ----------
    fit : BiasFit
    prob : float in (0, 1)
        Probability of the HPDI that is drawn as a line.
    estimand : {"population", "listed_words"}
        Whether means are for new words or for these words only.
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
    >>> fit = bb.fit(table, seed=1, draws=200, tune=300, chains=2, pointwise=False)
    >>> ax = bb.plot_connections(fit, ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['associated', 'different', 'human', 'neutral']
    """
    need_fit(fit, "connection")
    frame = fit.summary(prob, estimand)
    frame = frame.assign(key=frame["connection"].astype(str))
    (ax,) = style.axes_for(ax, 1.35 + 0.42 * len(frame))
    series = [
        Series(part, COLOR.get(str(name), FAINT), MARKER.get(str(name), "o"), width=2.4, size=7)
        for name, part in frame.groupby("key", sort=False)
    ]
    texts = {
        row.key: f"{style.number(row.mean)}\n{style.interval(row.hpdi_low, row.hpdi_high)}"
        for row in frame.itertuples()
    }
    distance = fit.spec.outcome == "distance"
    groups = {"": [(key, key) for key in frame["key"]]}
    forest(ax, groups, series, zero=1.0 if distance else None, beside=[Beside(texts)])
    ax.set_xlabel(outcome_label(fit.spec))
    handles = [
        style.line_handle(
            INK, f"posterior mean and {as_percent(prob)} HPDI", "o", linewidth=2.4, markersize=6
        )
    ]
    handles += [one_handle()] if distance else []
    note = f"{source_of(fit)}; {estimand_label(fit.spec, 'overall', estimand)}"
    return style.finish([ax], "Mean distance per connection", note, handles, frame)


def one_handle() -> Any:
    """Return the entry of the legend for the line at distance 1."""
    return style.line_handle(INK, "1 = no similarity", linestyle=style.DOTTED, linewidth=0.8)


@styled
def plot_contrasts(
    fit: BiasFit,
    *,
    prob: float = PROB,
    rope: float = ROPE,
    level: str = "overall",
    contrasts: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Show differences between connections against the region of practical equivalence (ROPE).

    Both estimands stand side by side: a filled circle for the population, an open diamond for these
    words only. At the right is the probability that the difference is negative.

    Parameters
    ----------
    fit : BiasFit
    prob : float in (0, 1)
        Probability of the HPDI that is drawn as a line.
    rope : float > 0
        Half-width of the ROPE, drawn as a gray band.
    level : {"overall", "class", "attribute_set", "word"}
        The last three as far as the model has them.
    contrasts : sequence of str, optional
        Such as ``"associated - different"``; by default all, and at level ``word`` the first.
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        If the level or a contrast is unknown.
    FitError
        If the table holds one connection only.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> table = bb.distance_table("minilm-static", "religion")
    >>> fit = bb.fit(table, seed=1, draws=200, tune=300, chains=2, pointwise=False)
    >>> ax = bb.plot_contrasts(fit, ax=Figure().subplots())
    >>> ax.get_yticklabels()[0].get_text()
    'associated − different'
    """
    need_fit(fit, "connection", "protected_word", "protected_class")
    checks.choice(level, contrast_levels(fit), "level", fit.spec.label)
    frame = fit.contrasts(prob, rope)
    frame = frame[frame["level"] == level]
    if level == "attribute_set":
        frame = frame[frame["contrast"] == "associated - different"]
    known = list(dict.fromkeys(frame["contrast"]))
    if contrasts is None:
        names = known[:1] if level == "word" else known
    else:
        given = [contrasts] if isinstance(contrasts, str) else contrasts
        names = [checks.choice(name, known, "contrast of this fit") for name in given]
    frame = frame[frame["contrast"].isin(names)]
    frame = frame.assign(key=list(zip(frame["contrast"], frame["name"], strict=True)))
    groups = _contrast_groups(fit, frame, level)
    roomy = 0.34 if level == "overall" else 0.27
    (ax,) = style.axes_for(ax, style.rows_height(group_rows(groups), roomy, 0.12))
    series, beside, handles = [], [], []
    looks: dict[str, Any] = {
        "population": (POPULATION, "pop.", {"shift": -0.2}),
        "listed_words": (
            LISTED,
            "these",
            {"shift": 0.2, "marker": "D", "width": 1.1, "size": 5, "hollow": True},
        ),
    }
    for place, which in enumerate(ESTIMANDS):
        color, short, look = looks[which]
        part = frame[frame["estimand"] == which]
        series.append(Series(part, color, label=f"_{which}", **look))
        texts = dict(zip(part["key"], map(style.p_text, part["p_below_zero"]), strict=True))
        beside.append(Beside(texts, short, 32.0 + 30 * place, color, "right"))
        handles.append(series[-1].handle(estimand_label(fit.spec, level, which)))
    forest(ax, groups, series, rope=rope, beside=beside)
    style.write_aside(ax, None, "P(< 0)", up=14, weight="bold")
    distance = fit.spec.outcome == "distance"
    of = "cosine distance" if distance else outcome_label(fit.spec)
    nearer = "lies nearer" if distance else "is smaller"
    ax.set_xlabel(f"difference in {of} (below 0: the first of the two {nearer})")
    each = {
        "overall": "",
        "class": ", per protected class",
        "attribute_set": ", per attribute set",
        "word": ", per protected word",
    }[level]
    alone = level == "word" and len(names) == 1
    title = (with_minus(names[0]) if alone else "Contrasts between connections") + each
    note = f"{source_of(fit)}. Posterior mean and {as_percent(prob)} HPDI"
    handles.append(rope_handle(rope))
    return style.finish([ax], title, note, handles, frame.drop(columns="key"))


def contrast_levels(fit: BiasFit) -> list[str]:
    """Return the levels at which the model and the table have anything to contrast."""
    by = {"class": "protected_class", "attribute_set": "attribute_class", "word": "protected_word"}
    table = fit.table.assign(connection=fit.table["connection"].astype(str))

    def contrasted(column: str, pairs: Sequence[tuple[str, str]]) -> bool:
        held = table.groupby(column, observed=True)["connection"].agg(set)
        return any({a, b} <= each for each in held for a, b in pairs)

    return [
        level
        for level in _LEVELS
        if level == "overall"
        or (
            level in fit.spec.results.levels
            and contrasted(by[level], CONTRASTS[:1] if level == "attribute_set" else CONTRASTS)
        )
    ]


def _contrast_groups(
    fit: BiasFit, frame: pd.DataFrame, level: str
) -> dict[str, list[tuple[Hashable, str]]]:
    """Place contrasts: alone, or as headings over classes or words; one contrast of words under classes."""
    keys = list(dict.fromkeys(frame["key"]))
    if level == "overall":
        return {"": [(key, with_minus(key[0])) for key in keys]}
    groups: dict[str, list[tuple[Hashable, str]]] = {}
    alone = frame["contrast"].nunique() == 1
    if level != "word":
        for key in keys:
            groups.setdefault(with_minus(key[0]), []).append((key, key[1]))
        return groups
    for contrast in dict.fromkeys(frame["contrast"]):
        for name, words in by_class(fit.table).items():
            head = name if alone else f"{with_minus(contrast)}, {name}"
            members: Any = [((contrast, word), label) for word, label in words]
            if members := [member for member in members if member[0] in keys]:
                groups[head] = members
    return groups


@styled
def plot_slopes(result: Any, *, prob: float = PROB, ax: Axes | None = None) -> Axes:
    """Show slopes on covariates about words: the change with one standard deviation of a covariate.

    Circles are slopes of means, diamonds those of their differences. At the right is the
    probability that a slope is negative. Slopes of single words are left out.

    Parameters
    ----------
    result : BiasFit, Comparison or SeatResult
        Of a model with slopes (`bayesbias.models.with_slopes`).
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
        If the result has no slopes.

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
    if not has_slopes(result):
        valid = "a model with slopes: bayesbias.models.with_slopes"
        raise InputError("has no slopes", where="result", valid=valid)
    source, unit = "Changes of distances", "change of the cosine distance"
    if isinstance(result, BiasFit):
        units = {
            "distance": "cosine distance",
            "difference": "female − male, in probability",
            "logit_difference": "female − male, in log odds",
        }
        unit = units.get(result.spec.outcome, result.spec.outcome.replace("_", " "))
        source = source_of(result)
    if callable(result.slopes):
        frame = result.slopes(prob)
    else:
        frame, prob = result.slopes, float(result.provenance["prob"])
        source, unit = "Sentence tests", "cosine distance"
    frame = frame[~frame["level"].isin(["word", "profession", "noun_pair", "template"])]
    if "test" in frame:
        frame = frame[frame["level"] == "overall"]
    owners = [c for c in ("test", "model", "options", "method") if c in frame]
    told = [c for c in owners if c == "test" or frame[c].nunique() > 1]
    heads = [
        ": ".join(filter(None, [", ".join(str(row[c]) for c in told if row[c]), row["covariate"]]))
        for row in frame.to_dict("records")
    ]
    frame = frame.assign(head=heads, key=range(len(frame)))
    groups: dict[str, list[tuple[Hashable, str]]] = {}
    for row in frame.itertuples():
        label = (
            with_minus(row.of) if row.level == "overall" else f"{with_minus(row.of)}, {row.name}"
        )
        groups.setdefault(row.head, []).append((row.key, label))
    (ax,) = style.axes_for(ax, style.rows_height(group_rows(groups), 0.3, 0.14))
    contrast = frame["of"].str.contains(" - ", regex=False)
    series = [
        Series(part, color, marker, width=1.4, size=4.5, label="_slope")
        for part, color, marker in (
            (frame[~contrast], COLOR["different"], "o"),
            (frame[contrast], INK, "D"),
        )
        if len(part)
    ]
    texts = dict(zip(frame["key"], map(style.p_text, frame["p_below_zero"]), strict=True))
    forest(ax, groups, series, beside=[Beside(texts, "P(< 0)")])
    ax.set_xlabel(f"{unit}: change for one standard deviation of the covariate")
    labels = {"o": f"slope of a mean, {as_percent(prob)} HPDI", "D": "of a difference of means"}
    handles = [each.handle(labels[each.marker]) for each in series]
    data = frame.drop(columns="key")
    return style.finish([ax], "Slopes on covariates", source, handles, data)


def has_slopes(result: Any) -> bool:
    """Say whether the model of a result has slopes on covariates."""
    if isinstance(result, BiasFit):
        return bool(result.spec.covariates())
    slopes = getattr(result, "slopes", ())
    return bool(result.has_slopes) if callable(slopes) else len(slopes) > 0


@styled
def plot_sweep(
    result: Any,
    *,
    contrast: str | None = None,
    estimand: str = "population",
    ax: Axes | None = None,
) -> Axes:
    """Show one contrast of every cell of a sweep on the scale that all vectors share.

    The contrast is in standard deviations of single pairs, the lowest first. At the right are the
    probability of superiority and the contrast in cosine distance. A cell that did not converge is
    hollow. A star marks another unit, a dagger a cell that lacks most of its words or whose checks
    warn.

    Parameters
    ----------
    result : SweepResult
    contrast, estimand : str, optional
        As in `SweepResult.compared`.
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        If the contrast is unknown, or no cell has it in standard deviations.

    Examples
    --------
    >>> import tempfile
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> plan = {"embeddings": ["minilm-static"], "wordlists": ["religion"], "models": ["crossed"],
    ...         "settings": {"draws": 200, "chains": 2, "seed": 1}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = bb.run_sweep(plan, folder, workers=1, progress=False)
    >>> ax = bb.plots.plot_sweep(result, ax=Figure().subplots())
    >>> ax.get_title()
    'associated − different in every cell'
    """
    frame = result.compared(contrast, estimand=estimand)
    frame = frame[frame["standardized"].notna()].reset_index(drop=True)
    if not len(frame):
        hint = "a fitted cell with two connections, of a model with normal noise"
        raise InputError("no cell has a contrast in standard deviations", where="result", hint=hint)
    frame = frame.assign(mark=_sweep_marks(result, frame))
    ends = {
        "standardized": "mean",
        "standardized_low": "hpdi_low",
        "standardized_high": "hpdi_high",
    }
    rows = frame.rename(columns={"cell": "key"} | ends)
    groups = _sweep_groups(frame)
    (ax,) = style.axes_for(ax, style.rows_height(group_rows(groups), 0.3, 0.14))
    rope, prob = float(frame["rope"].iloc[0]), float(frame["prob"].iloc[0])
    population = estimand == "population"
    look = {"color": POPULATION} if population else {"color": LISTED, "marker": "D", "hollow": True}
    trusted = frame["trusted"].fillna(False).astype(bool)
    series = [Series(rows[trusted], **look)] if trusted.any() else []
    if not trusted.all():
        series.append(Series(rows[~trusted], **look | {"hollow": True}))
    numbers = [
        ("probability_of_superiority", 44.0, lambda value: style.number(value, 2)),
        ("distance", 92.0, lambda value: style.number(value, signed=True)),
    ]
    beside = [
        Beside(
            dict(zip(frame["cell"], map(form, frame[name]), strict=True)),
            name.split("_")[-1],
            at,
            ha="right",
        )
        for name, at, form in numbers
    ]
    forest(ax, groups, series, rope=rope, beside=beside)
    units = frame["unit"].unique()
    unit = units[0].replace("sd of", "standard deviations of") if len(units) == 1 else ""
    unit = unit or "standard deviations of pairs"
    ax.set_xlabel(f"difference in {unit} (below 0: the first of the two lies nearer)")
    said = "population: new words like these" if population else estimand.replace("_", " ")
    handles = [series[0].handle(said), rope_handle(rope)]
    if 0 < trusted.sum() < len(frame):
        handles.append(series[-1].handle("not converged"))
    note = f"{number_of(len(frame), 'cell')} of a sweep. Posterior mean and {as_percent(prob)} HPDI"
    if frame["mark"].str.contains("*", regex=False).any():
        note += ". * in another unit, not to be compared with the others"
    if frame["mark"].str.contains("†", regex=False).any():
        note += ". † lacks most of its words, or its checks warn"
    title = f"{with_minus(frame['contrast'].iloc[0])} in every cell"
    return style.finish([ax], title, note, handles, frame)


def _sweep_marks(result: Any, frame: pd.DataFrame) -> list[str]:
    """Mark cells in another unit than most (*), and those that lack words or whose checks warn (†)."""
    cells = result.cells.set_index("cell").loc[frame["cell"]]
    usual = frame["unit"].mode().iloc[0]
    warned = cells["warnings"].notna()
    for side in ("protected", "stereotypes"):
        warned |= (cells[f"{side}_found"] < 0.5 * cells[f"{side}_listed"]).fillna(False)
    return [
        "*" * (unit != usual) + "†" * bool(doubt)
        for unit, doubt in zip(frame["unit"], warned, strict=True)
    ]


def _sweep_groups(frame: pd.DataFrame) -> dict[str, list[tuple[Hashable, str]]]:
    """Name cells by the labels that differ, those of each word list under its name."""
    labels = ["embedding", "distances", "controls", "model", "seed"]
    told = [c for c in labels if frame[c].nunique(dropna=False) > 1]
    told = told or [c for c in labels if frame[c].notna().any()]
    lists = frame["wordlist"].nunique(dropna=False) > 1
    short = frame[told].astype("string").fillna("")
    for column in told:
        last = short[column].str.split(r"[/\\]", regex=True).str[-1]
        if last.nunique() == short[column].nunique():
            short[column] = last
    groups: dict[str, list[tuple[Hashable, str]]] = {}
    for row, parts in zip(frame.itertuples(), short.itertuples(index=False), strict=True):
        name = ", ".join(filter(None, parts)) + row.mark
        head = str(row.wordlist) if lists and row.wordlist == row.wordlist else ""
        groups.setdefault(head, []).append((row.cell, name))
    return groups


@styled
def plot_frequencies(fit: BiasFit, *, ax: Axes | None = None) -> Axes:
    """Show how frequent the words of every class and attribute set are.

    Parameters
    ----------
    fit : BiasFit
        As `bayesbias.studies.with_frequency` returns it.
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        If the fit was not asked for frequency.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> table = bb.distance_table("minilm-static", "weat7", controls="none")
    >>> fit = bb.fit(table, seed=1, draws=200, chains=2, engine="quick")
    >>> counts = {word: 10.0 ** -len(word) for word in [*fit.table["protected_word"], *fit.table["attribute"]]}
    >>> ax = bb.plots.plot_frequencies(bb.studies.with_frequency(fit, counts), ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()][:3]
    ['Protected words', 'math', 'arts']
    """
    frequency = _frequency(fit)
    words = frequency.words
    groups: dict[str, list[tuple[Hashable, str]]] = {}
    for side, head in (("protected", "Protected words"), ("attribute", "Attributes")):
        names = dict.fromkeys(words.loc[words["side"] == side, "group"])
        if names:
            groups[head] = [((side, name), str(name)) for name in names]
    (ax,) = style.axes_for(ax, style.rows_height(group_rows(groups), 0.34, 0.2))
    values = words["log_frequency"].to_numpy(dtype=float)
    rows = forest(ax, groups, span=(float(values.min()), float(values.max())), zero=None)
    looks = {"protected": (COLOR["associated"], "o"), "attribute": (COLOR["different"], "s")}
    for (side, group), own in words.groupby(["side", "group"], sort=False, observed=True):
        x, row, (color, marker) = (
            own["log_frequency"].to_numpy(float),
            rows[side, group],
            looks[side],
        )
        # The same heights each time, so that words of one frequency are seen.
        height = row + (0.3 * np.sin(2.4 * np.arange(len(x))) if len(x) > 1 else 0)
        look = {"alpha": 0.45, "markersize": 3, "markeredgewidth": 0}
        ax.plot(x, np.broadcast_to(height, x.shape), marker, color=color, label="_words", **look)
        ax.plot([x.mean()], [row], "|", markersize=15, markeredgewidth=2, color=INK, label="_mean")
    ax.set_xlabel("log frequency, in powers of ten")
    means = words.groupby(["side", "group"], sort=False, observed=True)["log_frequency"].mean()
    data = [words.assign(drawn="word"), means.reset_index().assign(drawn="mean")]
    handles = [
        style.line_handle(INK, "mean", "|", linewidth=0, markersize=9),
        style.line_handle(COLOR["associated"], "a protected word", "o", linewidth=0, markersize=4),
        style.line_handle(COLOR["different"], "an attribute", "s", linewidth=0, markersize=4),
    ]
    note = f"{source_of(fit)}; {frequency.source}"
    drawn = pd.concat(data, ignore_index=True)
    return style.finish([ax], "How frequent the words are", note, handles, drawn)


@styled
def plot_frequency_contrasts(fit: BiasFit, *, rope: float = ROPE, ax: Axes | None = None) -> Axes:
    """Show contrasts as they are, and of words that all have the mean frequency.

    Parameters
    ----------
    fit : BiasFit
        As `bayesbias.studies.with_frequency` returns it.
    rope : float > 0
        Half-width of the ROPE, drawn as a gray band.
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        If the fit was not asked for frequency.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> table = bb.distance_table("minilm-static", "weat7", controls="none")
    >>> fit = bb.fit(table, seed=1, draws=200, chains=2, engine="quick")
    >>> counts = {word: 10.0 ** -len(word) for word in [*fit.table["protected_word"], *fit.table["attribute"]]}
    >>> ax = bb.plots.plot_frequency_contrasts(bb.studies.with_frequency(fit, counts), ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()][:2]
    ['associated − different', 'all']
    """
    frequency = _frequency(fit)
    frame = frequency.contrasts
    keys = list(zip(frame["contrast"], frame["level"], frame["name"], strict=True))
    titles = {"overall": "all", "class": "{}", "attribute_set": "list {}"}
    groups: dict[str, list[tuple[Hashable, str]]] = {}
    for key in keys:
        label = titles[key[1]].format(key[2])
        groups.setdefault(with_minus(key[0]), []).append((key, label))
    (ax,) = style.axes_for(ax, style.rows_height(group_rows(groups), 0.34, 0.2))
    series = []
    for which, color, marker, shift in (
        ("without", INK, "o", -0.18),
        ("with", COLOR["different"], "D", 0.18),
    ):
        names = {f"{which}_{a}": b for a, b in _ENDS.items()}
        part = frame[list(names)].rename(columns=names).assign(key=keys)
        series.append(Series(part, color, marker, shift, 1.4, 4.5, label=f"_{which}"))
    forest(ax, groups, series, rope=rope)
    ax.set_xlabel("difference of mean cosine distances")
    handles = [
        series[0].handle(f"as it is, {as_percent(frequency.prob)} HPDI"),
        series[1].handle("at equal frequency"),
        rope_handle(rope),
    ]
    note = f"{source_of(fit)}; {frequency.source}"
    return style.finish([ax], "Contrasts without and with log frequency", note, handles, frame)


_ENDS = {"mean": "mean", "low": "hpdi_low", "high": "hpdi_high"}


def _frequency(fit: BiasFit) -> SimpleNamespace:
    """Return what `with_frequency` left in a fit."""
    kept = fit.provenance.get("frequency")
    if kept is None:
        valid = "what with_frequency returns"
        raise InputError(
            "was not asked for frequency", where="fit", found=fit.spec.name, valid=valid
        )
    frames = {name: pd.DataFrame(kept[name]) for name in ("words", "contrasts")}
    return SimpleNamespace(**{**kept, **frames})
