"""Forest plots: rows of estimates with their intervals. All of them are drawn by `forest`."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from bayesbias.core import FitError, InputError, checks, number_of
from bayesbias.core.conventions import PROB
from bayesbias.core.factors import LEVELS
from bayesbias.core.formatting import as_percent, format_value, percent, with_minus
from bayesbias.core.result import opened
from bayesbias.inference.estimands import ESTIMANDS, holds_for
from bayesbias.inference.posterior import BiasFit
from bayesbias.models.spec import ModelSpec
from bayesbias.plots import style
from bayesbias.plots.style import COLOR, FAINT, INK, MARKER, styled

HEAD = 1.0  # height of a heading, in rows
DISTANCE = "cosine distance (0 = same direction, 1 = unrelated, 2 = opposite)"
PROBABILITY = partial(format_value, kind="probability")
POPULATION, LISTED = COLOR["different"], COLOR["associated"]
# One color and marker for each of several fits or groups.
LOOKS = (
    *((COLOR[name], MARKER[name]) for name in ("different", "associated", "human", "neutral")),
    ("#009E73", "v"), ("#E69F00", "P"), ("#56B4E9", "X"),
)  # fmt: skip
MORE_ESTIMANDS = {"new_words": (COLOR["human"], "s"), "new_prompts": (COLOR["neutral"], "^")}
_LEVELS = {
    "overall": "",
    "class": ", per protected class",
    "between": " and between groups",
    "others": " and between a group and the others",
    **dict.fromkeys(LEVELS, ", by factors"),
    "attribute_set": ", per attribute set",
    "word": ", per protected word",
}
type Groups = Mapping[str, list[tuple[Hashable, str]]]
"""Heading -> rows under it, each a key and a label. The heading ``""`` is not drawn."""


def grouped(rows: Iterable[tuple[str, Hashable, str]]) -> Groups:
    """Put rows (heading, key, label) under their headings."""
    groups: dict[str, list[tuple[Hashable, str]]] = {}
    for head, key, label in rows:
        groups.setdefault(head, []).append((key, label))
    return groups


def ungrouped(keys: Iterable[Any]) -> Groups:
    """Return rows under no heading, each called by its key."""
    return {"": [(key, str(key)) for key in keys]}


def rows_in(groups: Groups) -> float:
    """Return the height of groups in rows."""
    return sum(len(members) + HEAD * bool(name) for name, members in groups.items())


def lanes(n: int, apart: float) -> list[float]:
    """Return how far each of several series stands from the middle of a row."""
    return [(i - (n - 1) / 2) * apart for i in range(n)]


@dataclass(frozen=True)
class Series:
    """One mark and interval in each row.

    Attributes
    ----------
    rows : DataFrame
        ``key`` (of the row), ``mean`` and, where there is an interval, ``hpdi_low, hpdi_high``.
    color, marker : str
        Color and marker of the series.
    shift : float
        Down from the middle of the row, in rows.
    width, size : float
        Points of the line and the marker.
    hollow : bool
    label : str
        Of the marks; that of intervals is ``_interval``.
    legend : str
        Its entry; none where it is empty.
    """

    rows: pd.DataFrame
    color: str
    marker: str = "o"
    shift: float = 0.0
    width: float = 1.8
    size: float = 6.0
    hollow: bool = False
    label: str = "_mean"
    legend: str = ""

    @property
    def look(self) -> dict[str, Any]:
        """The look of its marks."""
        face = "white" if self.hollow else self.color
        return {"markerfacecolor": face, "markeredgewidth": 1.1 if self.hollow else 0.5}


@dataclass(frozen=True)
class Beside:
    """A column of text at the right.

    The text of each row, its title, and its distance in points.
    """

    texts: Mapping[Any, str]
    title: str = ""
    shift: float = 6.0
    color: str = INK
    ha: str = "left"


def forest(
    ax: Axes | None,
    groups: Groups,
    series: Sequence[Series],
    *,
    title: str,
    note: str,
    xlabel: str,
    data: pd.DataFrame,
    roomy: float = 0.34,
    tight: float = 0.14,
    height: float | None = None,
    handles: Sequence[Any] = (),
    rope: float | None = None,
    **rest: Any,
) -> Axes:
    """Draw a whole figure of estimates: rows, axis, legend, title and source.

    Parameters
    ----------
    ax : matplotlib Axes, optional
        By default a new figure, as tall as its rows need: each `roomy` inches, or down to `tight`.
    groups, series
        As in `draw_rows`, which also takes what is not listed here.
    title, note, xlabel : str
    data : DataFrame
        What the Axes keep.
    height : float, optional
        Of the figure in inches.
    handles : sequence
        Entries of the legend after those of the series.
    rope : float, optional
        Half-width of the region of practical equivalence.
    """
    (ax,) = style.axes_for(ax, height or style.rows_height(rows_in(groups), roomy, tight))
    draw_rows(ax, groups, series, rope=rope, **rest)
    ax.set_xlabel(xlabel)
    entries = [*handle_series(series), *handles]
    if rope is not None:
        entries.append(rope_handle(rope))
    data = data.drop(columns="key", errors="ignore")
    return style.finish([ax], title, note, entries, data)


def handle_series(series: Iterable[Series]) -> list[Any]:
    """Return the entries of series in a legend."""
    out = []
    for each in series:
        if each.legend:
            width = each.width if "hpdi_low" in each.rows else 0
            look = {"linewidth": width, **each.look}
            out.append(style.line_handle(each.color, each.legend, each.marker, **look))
    return out


def draw_rows(
    ax: Axes,
    groups: Groups,
    series: Sequence[Series] = (),
    *,
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
    heads: list[tuple[float, str]] = []
    labels: list[tuple[float, str]] = []
    edge = 0.0
    for name, members in groups.items():
        if name:
            if edge:
                ax.axhline(edge, color=FAINT, linewidth=0.6, zorder=0.5)
            heads.append((edge + HEAD / 2, name))
            edge += HEAD
        for number, (key, label) in enumerate(members):
            rows[key] = edge + 0.5
            labels.append((edge + 0.5, label))
            if number % 2 == 0:  # so that the eye finds its way from the label to its marks
                ax.axhspan(edge, edge + 1, color=style.SHADE, linewidth=0, zorder=0)
            edge += 1
    points = style.points_per(ax, edge)
    size = min(0.88 * points, 8.5)
    ax.set_ylim(edge, 0)
    named = labels if inside else sorted([*labels, *heads])
    lines = 2 if points > 2.6 * size else 1
    style.name_rows(ax, [at for at, _ in named], [label for _, label in named], size, lines)
    for text, tick in zip(ax.get_yticklabels(), named, strict=True):
        text.set_fontweight("bold" if tick in heads else "normal")
    for at, name in heads if inside else ():
        box = {"facecolor": "white", "linewidth": 0, "pad": 1}
        text = style.plain(name, 40)
        style.write_aside(ax, at, text, size, x=0, shift=4, fontweight="bold", bbox=box)
    different = len({each.shift for each in series})
    scale = points * (0.3 if different < 3 else 0.5 / different)
    for each in series:
        y = each.rows["key"].map(rows).to_numpy(dtype=float) + each.shift
        if "hpdi_low" in each.rows:
            ends = each.rows[["hpdi_low", "hpdi_high"]].to_numpy(dtype=float).T
            width = min(each.width, max(0.9, 0.4 * scale))
            ax.hlines(y, *ends, color=each.color, linewidth=width, zorder=3, label="_interval")
        ax.plot(
            each.rows["mean"],
            y,
            each.marker,
            color=each.color,
            markersize=min(each.size, max(2.6, scale)),
            zorder=4,
            label=each.label,
            **each.look,
        )
    if rope is not None:
        ax.axvspan(-rope, rope, color=style.ROPE_GRAY, linewidth=0, zorder=0.6, label="_rope")
    if zero is not None:
        dots = style.DOTTED if zero else "-"
        ax.axvline(zero, color=INK, zorder=0.7, linestyle=dots, linewidth=0.8)
    style.show_x(ax)
    for column in beside:
        aside: dict[str, Any] = {"shift": column.shift, "color": column.color, "ha": column.ha}
        for key, text in column.texts.items():
            style.write_aside(ax, rows[key], text, min(8.0, 0.75 * points), **aside)
        style.write_aside(ax, None, column.title, 7.5, **aside)
    figure = ax.get_figure(root=True)
    if beside and figure.get_layout_engine() is None:  # else columns would run into a neighbor
        place, over = ax.get_position(), ax.get_tightbbox().x1 - ax.bbox.x1
        width = max(place.width / 2, place.width - over / figure.bbox.width)
        ax.set_position([place.x0, place.y0, width, place.height])
    return rows


def by_key(frame: pd.DataFrame, write: Any, column: str | None = None) -> dict[Any, str]:
    """Write a column, or the whole row, of each key of a frame."""
    values = frame.itertuples() if column is None else frame[column]
    return dict(zip(frame["key"], map(write, values), strict=True))


def class_of(table: pd.DataFrame) -> dict[str, str]:
    """Return the class of each word, in the order of the table."""
    first = table.drop_duplicates("protected_word").astype(str)
    return dict(zip(first["protected_word"], first["protected_class"], strict=True))


def by_class(table: pd.DataFrame) -> Groups:
    """Return the words of each class, both in the order of the table."""
    return grouped((name, word, word) for word, name in class_of(table).items())


def connection_handles(connections: Iterable[str], linewidth: float = 0) -> list[Any]:
    """Return the entries of the legend for connections."""
    looks = [(COLOR[name], name, MARKER[name]) for name in connections]
    return [style.line_handle(*look, linewidth=linewidth) for look in looks]


def rope_handle(rope: float) -> Any:
    """Return the entry of the legend for the region of practical equivalence."""
    return style.patch_handle(f"ROPE ±{rope:g}", facecolor=style.ROPE_GRAY)


def one_handle() -> Any:
    """Return the entry of the legend for the line at distance 1."""
    return style.line_handle(INK, "1 = no similarity", linestyle=style.DOTTED, linewidth=0.8)


def need_fit(fit: object, *columns: str) -> None:
    """Refuse what is no fit, or lacks its groups or a column that the figure draws."""
    checks.instance(fit, BiasFit, "fit", "a fit (from bayesbias.fit) or the folder of its run")
    assert isinstance(fit, BiasFit)
    needed = (fit.spec.results.group, *columns)
    checks.columns(fit.table, needed, f"model {fit.spec.name}", "a fit to pairs of words")


def source_of(fit: BiasFit) -> str:
    """Say which model was fitted to which table."""
    return f"Model {fit.spec.name} on {fit.table_name}"


def outcome_label(spec: ModelSpec) -> str:
    """Name the outcome of a model as its axis does."""
    return DISTANCE if spec.outcome == "distance" else spec.outcome.replace("_", " ")


def mean_and_interval(prob: float, estimand: str = "population") -> str:
    """Say what mark and line are."""
    of = " for the listed words" if estimand == "listed_words" else ""
    return f"posterior mean and {as_percent(prob)} HPDI{of}"


@styled
def plot_connections(
    fit: Any, *, prob: float = PROB, estimand: str = "population", ax: Axes | None = None
) -> Axes:
    """Show the posterior of the mean distance per connection.

    Parameters
    ----------
    fit : BiasFit, Run or path
        What `fit` returned.
    prob : float in (0, 1)
        Probability of the HPDI that is drawn as a line.
    estimand : {"population", "listed_words"}
        Whether means are for new words or for the listed words.
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
    >>> fit = bb.fit(table, seed=1, draws=200, tune=300, chains=2)
    >>> ax = bb.plot_connections(fit, ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['associated', 'different', 'human', 'neutral']
    """
    fit = opened(fit)
    need_fit(fit, "connection")
    frame = fit.summary(prob, estimand)
    frame = frame.assign(key=frame["connection"].astype(str))
    series = [
        Series(part, COLOR.get(str(name), FAINT), MARKER.get(str(name), "o"), width=2.4, size=7)
        for name, part in frame.groupby("key", sort=False)
    ]
    distance, said = fit.spec.outcome == "distance", mean_and_interval(prob, estimand)
    handle = style.line_handle(INK, said, "o", linewidth=2.4, markersize=6)
    return forest(
        ax,
        ungrouped(frame["key"]),
        series,
        height=1.35 + 0.42 * len(frame),
        zero=1.0 if distance else None,
        beside=[Beside(by_key(frame, style.estimate))],
        handles=[handle, one_handle()] if distance else [handle],
        title="Mean distance per kind of pair",
        note=f"{source_of(fit)}; {holds_for(fit.spec, 'overall', estimand)}",
        xlabel=outcome_label(fit.spec),
        data=frame,
    )


@styled
def plot_contrasts(
    fit: Any,
    *,
    prob: float = PROB,
    rope: float | None = None,
    level: str | Sequence[str] = "overall",
    contrasts: Sequence[str] | None = None,
    labels: Mapping[tuple[str, str], str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Show differences between connections, with intervals and the ROPE.

    Of one fit both estimands stand side by side: a filled circle for the population, an open
    diamond for the listed words. Several fits have one color each; of them the population is drawn,
    or the listed words where the level has no population. At the right is the probability that the
    difference is negative.

    Parameters
    ----------
    fit : BiasFit, Run or path, or a sequence of them, or a mapping of str to them, or a DataFrame
        A path is the folder of a run. Several fits are drawn side by side. The keys of a mapping
        name them in the legend; fits of a sequence are named by their tables. A DataFrame has the
        rows of `BiasFit.compare`, and is drawn as it is.
    prob : float in (0, 1)
        Probability of the HPDI that is drawn as a line. A DataFrame has its own.
    rope : float > 0, optional
        Half-width of the ROPE, drawn as a gray band. By default that of the fit or the rows, and of
        several fits the smallest.
    level : str, or sequence of str
        ``overall``, or ``class``, ``between``, ``others``, ``attribute_set`` or ``word`` as far as
        the model has them; ``main``, ``simple`` or ``interaction`` where classes state factors. Several
        are drawn one below the other.
    contrasts : sequence of str, optional
        Such as ``"associated - different"``; by default all, and at level ``word`` the first.
    labels : mapping of (level, name) to str, optional
        What rows are called; others are left out. By default the names of all rows.
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        If the level or a contrast is unknown, or the fits have several outcomes.
    FitError
        If the table holds one connection only.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> table = bb.distance_table("minilm-static", "religion")
    >>> fit = bb.fit(table, seed=1, draws=200, tune=300, chains=2)
    >>> ax = bb.plot_contrasts(fit, ax=Figure().subplots())
    >>> ax.get_yticklabels()[0].get_text()
    'associated − different'

    Two fits side by side:

    >>> gender = bb.fit(bb.distance_table("minilm-static", "gender"), seed=1, engine="quick")
    >>> ax = bb.plot_contrasts({"religion": fit, "gender": gender}, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['religion', 'gender', 'ROPE ±0.018']

    A comparison by name:

    >>> rows = fit.compare("islam - judaism", on="different")
    >>> ax = bb.plot_contrasts(rows, ax=Figure().subplots())
    >>> ax.get_yticklabels()[0].get_text()
    'islam − judaism, different'
    """
    if isinstance(fit, pd.DataFrame):
        return _plot_rows(fit, rope, ax)
    fits = _named_fits(fit)
    first, several = next(iter(fits.values())), len(fits) > 1
    if rope is None:
        rope = min(each.default_rope() for each in fits.values())
    spec = first.spec
    levels = [level] if isinstance(level, str) else list(level)
    frames = [
        each.contrast_rows(prob, rope, level=one).assign(fit=name)
        for name, each in fits.items()
        for one in levels
    ]
    frame = pd.concat(frames, ignore_index=True)
    known = checks.once(frame["contrast"])
    names = known[:1] if {"word", "attribute_set"} & {*levels} else known
    if contrasts is not None:
        given = [contrasts] if isinstance(contrasts, str) else contrasts
        names = [checks.choice(name, known, "contrast") for name in given]
    frame = frame[frame["contrast"].isin(names)]
    if labels is not None:
        keys = zip(frame["level"], frame["name"], strict=True)
        frame = frame[[key in labels for key in keys]]
    columns_of_key = (frame[name] for name in ("contrast", "level", "name"))
    frame = frame.assign(key=list(zip(*columns_of_key, strict=True)))
    alone = levels == ["word"] and len(names) == 1
    classes: dict[str, str] = {}
    if "word" in levels:
        for each in fits.values():
            need_fit(each, "protected_word", "protected_class")
            classes |= class_of(each.table)

    def placed(contrast: str, of_level: str, name: str) -> tuple[str, Hashable, str]:
        head, label = with_minus(contrast), with_minus(name)
        if labels is not None:
            label = with_minus(labels[of_level, name])
        if of_level == "overall":
            head, label = "", head
        elif of_level == "word":
            head = classes[name] if alone else f"{head}, {classes[name]}"
        return head, (contrast, of_level, name), label

    estimand = next(each for each in ESTIMANDS if each in set(frame["estimand"]))
    looks: dict[str, tuple[str, str, str]]
    looks = {"population": ("new", POPULATION, "o"), "listed_words": ("listed", LISTED, "D")}
    if several:
        frame = frame[frame["estimand"] == estimand]
        looks = {name: ("", *LOOKS[i % len(LOOKS)]) for i, name in enumerate(fits)}
    series, columns = [], []
    shifts = lanes(len(looks), 0.4 * min(1, 2 / len(looks)))
    for place, (which, (short, color, marker)) in enumerate(looks.items()):
        part = frame[frame["fit" if several else "estimand"] == which]
        look: dict[str, Any] = {"legend": which if several else holds_for(spec, levels[0], which)}
        if color == LISTED and not several:
            look |= {"width": 1.1, "size": 5, "hollow": True}
        series.append(Series(part, color, marker, shifts[place], label=f"_{which}", **look))
        texts = by_key(part, PROBABILITY, "p_below_zero")
        columns.append(Beside(texts, short, 32.0 + 30 * place, color, "right"))
    kinds = {"connection": "kinds of pairs", "attribute_class": "attribute sets"}
    group = spec.results.group
    by_level = _LEVELS.get(levels[0], f", per {levels[0]}")
    for one in levels[1:]:
        if one in LEVELS and by_level.endswith(_LEVELS[one]):
            continue
        by_level += _LEVELS.get(one, f", per {one}").replace(", per ", " and ")
    title = f"Contrasts between {kinds.get(group, group.replace('_', ' ') + 's')}"
    distance = spec.outcome == "distance"
    of = "cosine distance" if distance else outcome_label(spec)
    closer = "is closer" if distance else "is smaller"
    said = f"Posterior mean and {as_percent(prob)} HPDI"
    note = f"{source_of(first)}. {said}"
    if several:
        scope, mean = holds_for(spec, levels[0], estimand), mean_and_interval(prob, estimand)
        note = f"{number_of(len(fits), 'fit')}; {scope}; {mean}"
    ax = forest(
        ax,
        grouped(placed(*key) for key in dict.fromkeys(frame["key"])),
        series,
        roomy=(0.34 if levels == ["overall"] else 0.27) * max(1, len(looks) / 2),
        tight=0.12,
        rope=rope,
        beside=columns,
        title=(with_minus(names[0]) if alone else title) + by_level,
        note=note,
        xlabel=f"difference in {of} (below 0: the first of the two {closer})",
        data=frame if several else frame.drop(columns="fit"),
    )
    style.write_aside(ax, None, "P(< 0)", up=4 if several else 14, weight="bold")
    return ax


def _plot_rows(rows: pd.DataFrame, rope: float | None, ax: Axes | None) -> Axes:
    """Draw rows of `BiasFit.compare`, or of several of its tables, one below the other."""
    needed = ("contrast", "estimand", "mean", "hpdi_low", "hpdi_high")
    checks.columns(rows, needed, "fit", "what compare() of a fit returns")
    about = rows.attrs
    if rope is None:
        rope = about.get("rope")
    if "scale" in rows:  # probabilities and log odds have no axis in common
        rows = rows[rows["scale"] == rows["scale"].iloc[0]]

    keys = []
    for row in rows.fillna("").itertuples():
        name = _name_of_words(row) if getattr(row, "level", "") == "word" else row.name
        parts = [getattr(row, "model", ""), name, row.contrast]
        keys.append(with_minus(", ".join(part for part in parts if part not in ("", "all"))))
    rows = rows.assign(key=keys)
    looks = {
        "population": ("new", POPULATION, "o"),
        "listed_words": ("listed", LISTED, "D"),
        **{name: (name.removeprefix("new_"), *look) for name, look in MORE_ESTIMANDS.items()},
    }
    estimands = checks.once(rows["estimand"])
    shifts = lanes(len(estimands), 0.8 / max(2, len(estimands)))
    series, columns = [], []
    for place, estimand in enumerate(estimands):
        short, color, marker = looks.get(estimand, (estimand, INK, "o"))
        part = rows[rows["estimand"] == estimand]
        legend = "new words" if estimand == "population" else estimand.replace("_", " ")
        if estimand == "population" and "level" in part and part["level"].eq("word").all():
            legend = "these words, new attributes"
        legend = about.get("scopes", {}).get(estimand, legend)
        look: dict[str, Any] = {"legend": legend, "label": f"_{estimand}"}
        if estimand == "listed_words":
            look |= {"width": 1.1, "size": 5, "hollow": True}
        series.append(Series(part, color, marker, shifts[place], **look))
        if "p_below_zero" in rows:
            texts = by_key(part, PROBABILITY, "p_below_zero")
            columns.append(Beside(texts, short, 32.0 + 34 * place, color, "right"))

    notes = [about.get("source", "")]
    if "prob" in about:
        notes.append(f"Posterior mean and {as_percent(about['prob'])} HPDI")
    closer = "closer" if about.get("outcome") == "cosine distance" else "smaller"
    ax = forest(
        ax,
        ungrouped(checks.once(keys)),
        series,
        rope=rope,
        beside=columns,
        title="Comparisons by name",
        note=". ".join(filter(None, notes)),
        xlabel=f"difference in {about.get('outcome', 'the outcome')} (below 0: the first is {closer})",
        data=rows,
    )
    if columns:
        style.write_aside(ax, None, "P(< 0)", up=14, weight="bold")
    return ax


def _name_of_words(row: Any) -> str:
    """Return the name of a row of single words, which are not taken for classes."""
    return f"{row.name} (two words)" if row.name.count(" - ") == 1 else f"{row.name} (words)"


@styled
def plot_replicates(
    result: Any, *, prob: float = PROB, rope: float | None = None, ax: Axes | None = None
) -> Axes:
    """Show contrasts pooled over sets of vectors, above those of each set.

    A filled circle with its interval is the pooled estimate. Small open circles are the estimates
    of the sets. At the right is the share of the variance that comes from the choice of sets.

    Parameters
    ----------
    result : Replicates, Run or path
        The result to show.
    prob : float in (0, 1)
        Probability of the intervals.
    rope : float > 0, optional
        Half-width of the ROPE, drawn as a gray band. By default that of the result.
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> fits = [
    ...     bb.fit(bb.distance_table("minilm-static", "weat7", controls=c), seed=1, engine="quick")
    ...     for c in ("2021", "2022")
    ... ]
    >>> ax = bb.plots.plot_replicates(bb.pool_replicates(fits), ax=Figure().subplots())
    >>> ax.get_yticklabels()[1].get_text()
    'associated − different'
    """
    result = opened(result)
    rope = result.default_rope() if rope is None else rope
    frame, sets = result.contrasts(prob, rope, detail=True), result.by_set(prob, rope)
    labels = [name for name in ("estimand", "change", "level", "name", "contrast") if name in frame]
    frame, sets = (
        own.assign(key=list(own[labels].itertuples(index=False, name=None)))
        for own in (frame, sets)
    )
    first = frame["contrast"] == frame["contrast"].iloc[0]
    shown = frame["level"].isin(["class", "attribute_set", "between"]) & first
    frame = frame[(frame["level"] == "overall") | shown]
    sets = sets[sets["key"].isin(frame["key"]) & (sets["set"] != "center")]
    heads = {"population": "New words", "listed_words": "Listed words"}

    def placed(row: dict[str, Any]) -> tuple[str, Hashable, str]:
        head = heads[row["estimand"]] + (f", {row['change']}" if "change" in row else "")
        kinds = {"overall": row["contrast"], "attribute_set": f"attributes of {row['name']}"}
        return head, row["key"], with_minus(kinds.get(row["level"], row["name"]))

    each = Series(
        sets[["key", "mean"]],
        INK,
        shift=0.25,
        size=3.2,
        hollow=True,
        label="_sets",
        legend="each set",
    )
    return forest(
        ax,
        grouped(map(placed, frame.to_dict("records"))),
        [
            Series(frame, POPULATION, shift=-0.15, label="_pooled", legend="pooled, with interval"),
            each,
        ],
        tight=0.16,
        rope=rope,
        beside=[Beside(by_key(frame, percent, "share_between"), "between", 34.0, ha="right")],
        title=f"Pooled over {number_of(len(result.results), 'set')} of vectors",
        note=f"{result.provenance['name']}. Pooled mean and {as_percent(prob)} interval (Rubin's "
        "rules); between: share of the variance between sets",
        xlabel="difference of mean cosine distances (below 0: the first of the two is closer)",
        data=frame,
    )


def _named_fits(given: Any) -> dict[str, BiasFit]:
    """Return one fit, or several, by the names that the legend shows."""
    if isinstance(given, Mapping):
        names, fits = list(map(str, given)), list(given.values())
    else:
        fits = list(given) if isinstance(given, list | tuple) and len(given) else [given]
    fits = list(map(opened, fits))
    for fit in fits:
        need_fit(fit)
    if len(outcomes := {fit.spec.outcome for fit in fits}) != 1:
        raise InputError("expected fits of one outcome", where="fit", found=outcomes)
    if not isinstance(given, Mapping):
        names = [fit.table_name for fit in fits]
        if len(set(names)) < len(fits):
            names = [f"{place}: {source_of(fit)}" for place, fit in enumerate(fits, 1)]
    return dict(zip(names, fits, strict=True))


@styled
def plot_slopes(result: Any, *, prob: float = PROB, ax: Axes | None = None) -> Axes:
    """Show slopes on covariates: the change with one SD of a covariate.

    Circles are slopes of means, diamonds those of their differences. At the right is the
    probability that a slope is negative. Slopes of single words are left out.

    Parameters
    ----------
    result : BiasFit, Comparison, SeatResult, Run or path
        Of a model with slopes (`bayesbias.models.slopes_for`).
    prob : float in (0, 1)
        Probability of the HPDIs; of sentence tests it is that of the result.
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    FitError
        If the model has no slopes.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> words = bb.load_wordlist("weat7", controls="none")
    >>> lengths = {"length": {word: len(word) for word in words.attribute_words}}
    >>> table = bb.distance_table("minilm-static", words, covariates=lengths)
    >>> fit = bb.fit(
    ...     table,
    ...     bb.models.slopes_for("default", table, "length"),
    ...     seed=1,
    ...     draws=200,
    ...     chains=2,
    ...     engine="quick",
    ... )
    >>> ax = bb.plots.plot_slopes(fit, ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['length', 'associated', 'different', 'associated − different']
    """
    result = opened(result)
    if isinstance(result, BiasFit):
        frame, source, outcome = result.slopes(prob), source_of(result), result.spec.outcome
        units = {
            "distance": "cosine distance",
            "difference": "female − male, in probability",
            "logit_difference": "female − male, in log odds",
        }
        unit = units.get(outcome, outcome.replace("_", " "))
    elif callable(result.slopes):
        source, unit = "Changes of distances", "change of the cosine distance"
        frame = result.slopes(prob)
    else:
        frame, source, unit = result.slopes, "Sentence tests", "cosine distance"
        prob = float(result.provenance["prob"])
        if frame.empty:
            raise FitError("the tests have no slopes; seat(..., slopes=) asks for them")
    frame = frame[~frame["level"].isin(["word", "profession", "noun_pair", "template"])]
    if "test" in frame:
        frame = frame[frame["level"] == "overall"]
    owners = [c for c in ("test", "model", "options", "method") if c in frame]
    told = [c for c in owners if c == "test" or frame[c].nunique() > 1]
    frame = frame.assign(key=range(len(frame)))

    def placed(row: dict[str, Any]) -> tuple[str, Hashable, str]:
        owner = ", ".join(str(row[c]) for c in told if row[c])
        label = with_minus(row["of"]) + (f", {row['name']}" if row["level"] != "overall" else "")
        return ": ".join(filter(None, [owner, row["covariate"]])), row["key"], label

    contrast = frame["of"].str.contains(" - ", regex=False)
    mean = f"slope of a mean, {as_percent(prob)} HPDI"
    looks = (
        (frame[~contrast], COLOR["different"], "o", mean),
        (frame[contrast], INK, "D", "slope of a difference of means"),
    )
    return forest(
        ax,
        grouped(map(placed, frame.to_dict("records"))),
        [
            Series(part, color, marker, width=1.4, size=4.5, label="_slope", legend=legend)
            for part, color, marker, legend in looks
            if len(part)
        ],
        roomy=0.3,
        beside=[Beside(by_key(frame, PROBABILITY, "p_below_zero"), "P(< 0)")],
        title="Slopes on covariates",
        note=source,
        xlabel=f"{unit}: change for one standard deviation of the covariate",
        data=frame,
    )


@styled
def plot_sweep(result: Any, *, contrast: str | None = None, ax: Axes | None = None) -> Axes:
    """Show one contrast of every cell of a sweep, in standard deviations.

    The contrast is in standard deviations of single pairs, the lowest first. At the right are the
    probability of superiority and the contrast in cosine distance. A cell that did not converge is
    hollow. A star marks another unit, a dagger a cell that lacks most of its words or whose checks
    warn.

    Parameters
    ----------
    result : SweepResult, Run or path
        The result to show.
    contrast : str, optional
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
    >>> plan = {
    ...     "embeddings": ["minilm-static"],
    ...     "wordlists": ["religion"],
    ...     "models": ["crossed"],
    ...     "settings": {"draws": 200, "chains": 2, "seed": 1},
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = bb.run_sweep(plan, folder, workers=1, progress=False)
    >>> ax = bb.plots.plot_sweep(result, ax=Figure().subplots())
    >>> ax.get_title()
    'associated − different in every cell'
    """
    result = opened(result)
    frame = result.compared(contrast)
    frame = frame[frame["standardized"].notna()].reset_index(drop=True)
    if not len(frame):
        hint = "a fitted cell with two connections, of a model with normal noise"
        raise InputError("no cell has a contrast in standard deviations", where="result", hint=hint)
    # Marked are cells in another unit than most (*), and those without most words or with warnings
    # (†).
    cells = result.cells.set_index("cell").loc[frame["cell"]]
    few = [
        cells[f"{side}_found"] < 0.5 * cells[f"{side}_listed"]
        for side in ("protected", "stereotypes")
    ]
    doubt = (cells["warnings"].notna() | few[0].fillna(False) | few[1].fillna(False)).to_numpy()
    other = frame["unit"] != frame["unit"].mode().iloc[0]
    frame = frame.assign(mark=np.where(other, "*", "") + np.where(doubt, "†", ""))
    names = {"cell": "key", "standardized": "mean"}
    names |= {f"standardized_{end}": f"hpdi_{end}" for end in ("low", "high")}
    rows = frame.drop(columns="name").rename(columns=names)
    trusted = frame["trusted"].fillna(False).astype(bool)
    said = "new words"
    series = [
        Series(rows[chosen], POPULATION, hollow=hollow, legend=legend)
        for chosen, hollow, legend in (
            (trusted, False, said),
            (~trusted, True, "not converged" if trusted.any() else said),
        )
        if chosen.any()
    ]
    superiority = by_key(rows, lambda value: style.number(value, 2), "probability_of_superiority")
    distance = by_key(rows, lambda value: style.number(value, signed=True), "distance")
    unit = "standard deviations of pairs"
    if frame["unit"].nunique() == 1:
        unit = frame["unit"].iloc[0].replace("sd of", "standard deviations of")
    mean = mean_and_interval(float(frame["prob"].iloc[0]))
    note = f"{number_of(len(frame), 'cell')} of a sweep; {mean}"
    if other.any():
        note += ". * in another unit, not to be compared with the others"
    if doubt.any():
        note += ". † lacks most of its words, or its checks warn"
    return forest(
        ax,
        _sweep_groups(frame),
        series,
        roomy=0.3,
        rope=float(frame["rope"].iloc[0]),
        beside=[
            Beside(superiority, "superiority", 44.0, ha="right"),
            Beside(distance, "distance", 92.0, ha="right"),
        ],
        title=f"{with_minus(frame['contrast'].iloc[0])} in every cell",
        note=note,
        xlabel=f"difference in {unit} (below 0: the first of the two is closer)",
        data=frame,
    )


def _sweep_groups(frame: pd.DataFrame) -> Groups:
    """Name cells by the labels that differ, those of each word list under its name."""
    labels = ["embedding", "distances", "controls", "model", "seed"]
    told = [c for c in labels if frame[c].nunique(dropna=False) > 1]
    told = told or [c for c in labels if frame[c].notna().any()]
    short = frame[told].astype("string").fillna("")
    for column in told:
        last = short[column].str.split(r"[/\\]", regex=True).str[-1]
        if last.nunique() == short[column].nunique():
            short[column] = last
    lists = frame["wordlist"].nunique(dropna=False) > 1
    heads = frame["wordlist"].fillna("") if lists else [""] * len(frame)
    names = [", ".join(filter(None, parts)) for parts in short.itertuples(index=False)]
    return grouped(zip(heads, frame["cell"], names + frame["mark"], strict=True))


@styled
def plot_frequencies(fit: Any, *, ax: Axes | None = None) -> Axes:
    """Show how frequent the words of every class and attribute set are.

    Parameters
    ----------
    fit : BiasFit, Run or path
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
    >>> counts = {
    ...     word: 10.0 ** -len(word)
    ...     for word in [*fit.table["protected_word"], *fit.table["attribute"]]
    ... }
    >>> ax = bb.plots.plot_frequencies(
    ...     bb.studies.with_frequency(fit, counts), ax=Figure().subplots()
    ... )
    >>> [label.get_text() for label in ax.get_yticklabels()][:3]
    ['Protected words', 'math', 'arts']
    """
    fit = opened(fit)
    words, about = _frequency(fit, "words")
    sides = {
        "protected": ("Protected words", "a protected word", COLOR["associated"], "o"),
        "attribute": ("Attributes", "an attribute", COLOR["different"], "s"),
    }
    each = words.groupby(["side", "group"], sort=False, observed=True)["log_frequency"]
    groups = grouped(
        (head, (side, name), str(name))
        for side, (head, *_) in sides.items()
        for name in words.loc[words["side"] == side, "group"].unique()
    )
    (ax,) = style.axes_for(ax, style.rows_height(rows_in(groups), 0.34, 0.2))
    rows = draw_rows(ax, groups, zero=None)
    for key, values in each:
        _, _, color, marker = sides[key[0]]
        # The same heights each time, so that words of one frequency are seen.
        y = rows[key] + 0.3 * np.sin(2.4 * np.arange(len(values)))
        ax.plot(
            values,
            y,
            marker,
            color=color,
            markersize=3,
            markeredgewidth=0,
            alpha=0.45,
            label="_words",
        )
        ax.plot(
            [values.mean()],
            [rows[key]],
            "|",
            color=INK,
            markersize=15,
            markeredgewidth=2,
            label="_mean",
        )
    style.show_x(ax)
    ax.set_xlabel("log frequency, in powers of ten")
    handles = [style.line_handle(INK, "mean", "|", linewidth=0, markersize=9)]
    for _, said, color, marker in sides.values():
        handles.append(style.line_handle(color, said, marker, linewidth=0, markersize=4))
    parts = [words.assign(drawn="word"), each.mean().reset_index().assign(drawn="mean")]
    drawn, note = pd.concat(parts), f"{source_of(fit)}; {about['source']}"
    return style.finish([ax], "How frequent the words are", note, handles, drawn)


@styled
def plot_frequency_contrasts(
    fit: Any, *, rope: float | None = None, ax: Axes | None = None
) -> Axes:
    """Show contrasts as they are, and of words that all have the mean frequency.

    Parameters
    ----------
    fit : BiasFit, Run or path
        As `bayesbias.studies.with_frequency` returns it.
    rope : float > 0, optional
        Half-width of the ROPE, drawn as a gray band. By default that of the result.
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
    >>> counts = {
    ...     word: 10.0 ** -len(word)
    ...     for word in [*fit.table["protected_word"], *fit.table["attribute"]]
    ... }
    >>> ax = bb.plots.plot_frequency_contrasts(
    ...     bb.studies.with_frequency(fit, counts), ax=Figure().subplots()
    ... )
    >>> [label.get_text() for label in ax.get_yticklabels()][:2]
    ['associated − different', 'all']
    """
    fit = opened(fit)
    frame, about = _frequency(fit, "contrasts")
    rope = fit.default_rope() if rope is None else rope
    keys = list(frame[["contrast", "level", "name"]].itertuples(index=False, name=None))
    titles = {"overall": "all", "class": "{}", "attribute_set": "attributes of {}"}
    groups = grouped((with_minus(key[0]), key, titles[key[1]].format(key[2])) for key in keys)
    series = []
    for which, color, marker, shift, legend in (
        ("without", INK, "o", -0.18, f"as fitted, {as_percent(about['prob'])} HPDI"),
        ("with", COLOR["different"], "D", 0.18, "at equal frequency"),
    ):
        names = [f"{which}_{end}" for end in ("mean", "low", "high")]
        part = frame[names].set_axis(["mean", "hpdi_low", "hpdi_high"], axis=1).assign(key=keys)
        series.append(
            Series(part, color, marker, shift, 1.4, 4.5, label=f"_{which}", legend=legend)
        )
    return forest(
        ax,
        groups,
        series,
        tight=0.2,
        rope=rope,
        title="Contrasts without and with log frequency",
        note=f"{source_of(fit)}; {about['source']}",
        xlabel="difference of mean cosine distances",
        data=frame,
    )


def _frequency(fit: BiasFit, frame: str) -> tuple[pd.DataFrame, Mapping[str, Any]]:
    """Return a frame that `with_frequency` left in a fit, and all that it left."""
    if (kept := fit.frequency) is None:
        hint = "give what bayesbias.studies.with_frequency returns"
        raise InputError("expected a fit with frequencies", where="fit", hint=hint)
    return pd.DataFrame(kept[frame]), kept
