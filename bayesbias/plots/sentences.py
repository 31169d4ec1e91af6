"""Figures of sentence tests, and of associations against a covariate (WEFAT)."""

import textwrap
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from bayesbias.core import InputError, checks, number_of
from bayesbias.core.formatting import as_percent
from bayesbias.core.result import opened
from bayesbias.plots import forest as forests, style
from bayesbias.plots.style import COLOR, FAINT, INK, MARKER, pt, styled
from bayesbias.wordlists.sentence_tests import list_tests

# One hue from light to dark: not significant, alone, after Holm's correction; then what was not
# run.
_SHADES = ("#FFFFFF", "#A6CBE3", "#0B5A92", "#EFEFEF")
_NUMBERS = 36.0  # points that numbers take beside the bars
_LEVELS = {
    "word": (COLOR["associated"], "o", "words"),
    "sent": (COLOR["different"], "s", "sentences, several frames a word"),
    "sent (u)": (COLOR["neutral"], "^", "sentences, one a word"),
    "text": (COLOR["human"], "D", "sentences, words not stated"),
}
_PUBLISHED = {"sent": "bleached sentences", "sent (u)": "unbleached sentences"}


@styled
def plot_seat(result: Any, *, alpha: float | None = None, ax: Axes | None = None) -> Axes:
    """Show effect sizes and significance of each test on each encoder.

    A bar reaches from zero to the effect size. White: not significant; light: p at most `alpha`;
    dark: also after Holm's correction over all tests. A ring marks sentence tests that are
    significant only as long as sentences of one word count as independent.

    Parameters
    ----------
    result : SeatResult, Run or path
        The result to show.
    alpha : float in (0, 1), optional
        Level of significance; by default that of the result.
    ax : matplotlib Axes, optional
        By default a new figure, as tall as the tests need.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    After Figure 1 of May et al. (2019), which has neither effect sizes nor rings.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> result = bb.seat("weat7,sent-weat7", seed=1, cache=False)
    >>> ax = bb.plots.plot_seat(result, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts[:2]]
    ['1.37', '0.86']
    """
    result = opened(result)
    alpha = checks.probability(result.alpha if alpha is None else alpha, "alpha")
    frame = result.named()
    rows = checks.once(zip(frame["title"], frame["context"], strict=True))
    models = checks.once(frame["encoder"])
    (ax,) = style.axes_for(ax, style.rows_height(len(rows), 0.24, 0.165))
    ax.set(xlim=(0, len(models)), ylim=(len(rows), 0))
    points = style.points_per(ax, len(rows))
    size = min(0.62 * points, 8.0)
    room = (72 * style.across() - 180) / len(models)  # of a column, in points
    at_number = 1 - (_NUMBERS - size) / room
    half = (1 - _NUMBERS / room) / 2
    largest = float(np.fmax(2.0, frame["effect_size"].abs().max()))
    unit = 0.94 * half / largest
    cells = np.full((len(rows), len(models)), 3)
    for row in frame.itertuples():
        x, y = models.index(row.encoder), rows.index((row.title, row.context))
        cells[y, x] = 2 if row.p_holm <= alpha else int(row.p_value <= alpha)
        ink = "white" if cells[y, x] == 2 else INK
        known = row.effect_size == row.effect_size
        at = (x + at_number, y + 0.53)
        middle = {"ha": "center", "va": "center", "fontsize": pt(size), "color": ink}
        ax.text(*at, style.number(row.effect_size, 2) if known else "none", **middle)
        if known:
            ax.plot(
                (x + half, x + half + unit * row.effect_size),
                (y + 0.5, y + 0.5),
                color=ink,
                linewidth=0.22 * points,
                zorder=3,
                label="_effect",
            )
        if row.level != "word" and row.p_value <= alpha < row.p_words:
            ring = {"xytext": (pt(2 * size), 0), "textcoords": "offset points", "label": "_words"}
            ax.annotate("○", at, **ring, **middle)
    ax.pcolormesh(
        cells,
        cmap=ListedColormap(_SHADES),
        vmin=0,
        vmax=3,
        edgecolors="#C9C9C9",
        linewidth=0.5,
        zorder=1,
    )
    zeros = np.arange(len(models)) + half
    ax.vlines(zeros, 0, len(rows), color=FAINT, linewidth=0.6, zorder=2)
    wide = room >= 75  # or ticks would meet
    if wide:
        limit = f"{largest:.3g}"
        ticks = np.add.outer(zeros, np.array([-1, 0, 1]) * largest * unit).ravel()
        ax.set_xticks(ticks, labels=[f"−{limit}", "0", limit] * len(models), minor=True)
        ax.tick_params(axis="x", which="minor", length=2, pad=1.5, labelsize=pt(6.5))
    size = min(0.66 * points, 8.0)
    style.name_rows(ax, [i + 0.5 for i in range(len(rows))], [name for _, name in rows], size)
    for i, (title, _) in enumerate(rows):
        if i == 0 or title != rows[i - 1][0]:
            ax.axhline(i, color=FAINT, linewidth=0.9 * (i > 0), zorder=2)
            name = style.plain(title)
            style.write_aside(ax, i + 0.5, name, size, x=0, shift=-5.2 * size, ha="right")
    label = 7.5 if len(models) <= 6 else 6.5
    letters = max(8, int(room / (0.55 * label)))  # that fit into a column
    labels = [_encoder_label(name, letters) for name in models]
    ax.set_xticks(np.arange(len(models)) + 0.5, labels=labels)
    ax.tick_params(axis="x", length=0, labelsize=pt(label), pad=12 if wide else 2)
    ax.spines[:].set_visible(False)
    boxes = ["not significant", f"p ≤ {alpha:g}", "also after Holm's correction"]
    boxes += ["not run"] if (cells == 3).any() else []
    handles = [
        style.patch_handle(text, facecolor=shade, edgecolor=FAINT, linewidth=0.6)
        for text, shade in zip(boxes, _SHADES, strict=False)
    ]
    look = {"linewidth": 0, "markerfacecolor": "none", "markersize": 4.5}
    handles.insert(3, style.line_handle(INK, "but not over words", "o", **look))
    unequal = " (beyond 2 where sets are of unequal size)" if largest > 2 else ""
    note = (
        f"Bars: effect sizes, of −{largest:.3g} to {largest:.3g}{unequal}; "
        f"{number_of(len(frame), 'test')} "
        "in the family. One-sided: a negative effect is never significant."
    )
    data = frame.drop(columns="encoder")
    return style.finish([ax], "Significance of every test on every encoder", note, handles, data)


@styled
def plot_seat_contrasts(result: Any, *, encoder: str | None = None, ax: Axes | None = None) -> Axes:
    """Show the contrast of each test with its HPDI, for new words.

    Words, bleached and unbleached sentences of one test stand in one row. Left of zero lies what
    the test supposes. At the right is the share of variance between words and between templates.

    Parameters
    ----------
    result : SeatResult, Run or path
        Of ``seat(..., bayes=True)``.
    encoder : str, optional
        As in ``result.table().columns``; by default the first.
    ax : matplotlib Axes, optional
        By default a new figure, as tall as the tests need.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        If nothing was fitted, or the encoder is unknown.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import bayesbias as bb
    >>> result = bb.seat(
    ...     "weat7", "minilm-static", bayes=True, draws=100, tune=100, chains=2, seed=1, cache=False
    ... )
    >>> ax = bb.plots.plot_seat_contrasts(result, ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['C7: Math/Arts, M/F Terms']
    """
    result = opened(result)
    frame = result.named()
    fitted = frame[frame["contrast"].notna()] if "contrast" in frame else frame[:0]
    if not len(fitted):
        raise InputError("no model was fitted", hint="seat(..., bayes=True)")
    known = checks.once(fitted["encoder"])
    encoder = known[0] if encoder is None else checks.choice(encoder, known, "encoder")
    frame = fitted[fitted["encoder"] == encoder]
    rows = frame.rename(columns={"contrast": "mean"}).assign(key=frame["title"])
    titles = checks.once(rows["title"])
    contexts = [name for name in _LEVELS if name in set(rows["context"])]
    series, handles = [], []
    shifts = forests.lanes(len(contexts), 0.8 / len(contexts))
    for name, shift in zip(contexts, shifts, strict=True):
        color, marker, label = _LEVELS[name]
        own = rows[rows["context"] == name]
        if set(own["test"]) <= set(list_tests()):
            label = _PUBLISHED.get(name, label)
        handles.append(style.line_handle(color, label, marker, linewidth=1.8))
        for converged, part in own.groupby(own["converged"].astype(bool)):
            series.append(
                forests.Series(
                    part,
                    color,
                    marker,
                    shift,
                    size=5.5,
                    hollow=not converged,
                    label=f"_{name}",
                )
            )
    if not rows["converged"].all():
        open_ = {"linewidth": 0, "markerfacecolor": "white"}
        handles.append(style.line_handle(INK, "not converged", "o", **open_))
    shares = rows.dropna(subset="share_word").sort_values("share_template", ascending=False)
    shares = shares.drop_duplicates("key")
    beside = []
    if (shares["share_template"] > 0).any():
        for name, at in (("word", 22.0), ("template", 63.0)):
            texts = forests.by_key(shares, "{:.0%}".format, f"share_{name}")
            beside.append(forests.Beside(texts, name, at, ha="right"))
    prob = forests.mean_and_interval(result.provenance["prob"])
    ax = forests.forest(
        ax,
        forests.ungrouped(titles),
        series,
        roomy=0.42,
        tight=0.26,
        handles=handles,
        beside=beside,
        title="The association, with its uncertainty",
        note=f"{encoder}, model sentence; {prob}, for new words and new templates",
        xlabel="associated − different, in cosine distance (below 0: as the test supposes)",
        data=frame,
    )
    if beside:
        style.write_aside(
            ax, None, "share of variance", 7.5, shift=63.0, up=14, ha="right", weight="bold"
        )
    return ax


def _encoder_label(name: str, longest: int) -> str:
    """Put name and options on lines of their own, none longer than its column."""
    model, _, options = name.removesuffix(")").partition(" (")
    lines = [model, *options.split(";")] if options else [name]
    parts = [part for line in lines for part in textwrap.wrap(line, longest)]
    return "\n".join(style.plain(part, longest) for part in parts)


@styled
def plot_covariate(result: Any, *, ax: Axes | None = None) -> Axes:
    """Show the association of each target against its covariate.

    The band is the HPDI of the line, the dashed lines hold a single new target. Targets off the
    line are filled and named in bold; other names stand where there is room, unless there are more
    than twenty targets.

    Parameters
    ----------
    result : WefatResult, Run or path
        The result to show.
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> women = {"nurse": 88, "engineer": 12, "teacher": 80, "plumber": 2, "lawyer": 35}
    >>> found = bb.wefat("minilm-static", "wefat", {"percent_women": women}, seed=1, engine="quick")
    >>> ax = bb.plots.plot_covariate(found, ax=Figure().subplots())
    >>> ax.get_xlabel()
    'percent_women'
    """
    result = opened(result)
    frame, true, slope = result.frame, result.true_correlation, result.slope
    (ax,) = style.axes_for(ax, min(5.0, style.across() + 0.6))
    columns = ["covariate", "association", "hpdi_low", "hpdi_high"]
    x, y, low, high = frame[columns].to_numpy(dtype=float).T
    pad = 0.04 * float(np.ptp(x))
    line = result.predict(np.linspace(x.min() - pad, x.max() + pad, 61).tolist())
    blue, orange, along = COLOR["different"], COLOR["associated"], line["covariate"]
    ax.fill_between(
        along,
        line["line_low"],
        line["line_high"],
        color=blue,
        alpha=0.22,
        linewidth=0,
    )
    ax.plot(along, line["line"], color=blue, linewidth=1.4, zorder=2, label="_line")
    dashed: dict[str, Any] = {"linewidth": 0.8, "linestyle": (0, (5, 3))}
    ax.plot(along, line[["hpdi_low", "hpdi_high"]], color=blue, zorder=1, **dashed)
    ax.axhline(0, color=FAINT, linewidth=0.7, zorder=0)
    off = frame["off_line"].to_numpy(dtype=bool)
    look = {"fmt": "o", "markersize": 4.5, "color": orange, "ecolor": FAINT, "elinewidth": 0.7}
    for chosen, face, label in ((~off, "white", "_on"), (off, orange, "_off")):
        if chosen.any():
            look |= {"markerfacecolor": face, "zorder": 3, "label": label}
            ax.errorbar(x[chosen], y[chosen], [(y - low)[chosen], (high - y)[chosen]], **look)
    bottom, top = min(low.min(), line["hpdi_low"].min()), max(high.max(), line["hpdi_high"].max())
    room = 0.05 * (top - bottom)
    ax.set(xlim=(x.min() - pad, x.max() + pad), ylim=(bottom - room, top + room))
    ax.set_xlabel(style.plain(result.published.covariate, 60))
    first, second = result.sets
    ax.set_ylabel(style.plain(f"cosine: {first} minus {second}", 60))
    row = SimpleNamespace(**true.as_row())
    said = [style.estimate(of, n, signed=True, between=" ") for of, n in ((row, 2), (slope, 3))]
    note = (
        f"{result.published.data}: {result.n} targets. True associations: r {said[0]}; average "
        f"scores: r {style.number(result.r, 2, signed=True)}. Slope {said[1]} per standard "
        "deviation."
    )
    share = as_percent(result.prob)
    handles = [
        style.line_handle(
            orange, f"target, {share} HPDI", "o", linewidth=0.7, markerfacecolor="white"
        ),
        style.line_handle(orange, "off the line", "o", linewidth=0),
        style.patch_handle(f"line, {share} HPDI", facecolor=blue, alpha=0.35),
        style.line_handle(blue, f"a new target, {share} HPDI", **dashed),
    ]
    fitted = line.rename(columns={"line": "association"}).assign(drawn="line")
    data = pd.concat([frame.assign(drawn="target"), fitted])
    style.finish([ax], "Association against a covariate", note, handles, data)
    # Of many targets a few names, where chance left room, would look as if they were chosen.
    shown = off | (len(x) <= 20 or not off.any())
    lines = [(along, line[of]) for of in ("line", "hpdi_low", "hpdi_high")]
    lines += [(np.array(ax.get_xlim()), np.zeros(2))]
    lines += [([at, at], ends) for at, *ends in zip(x, low, high, strict=True)]
    named = frame["target"].astype(str)[shown].tolist()
    style.label_points(ax, x[shown], y[shown], named, lines=lines, lead=off[shown].tolist())
    return ax


@styled
def plot_correlations(result: Any, *, ax: Axes | None = None) -> Axes:
    """Show the published correlation, and that of the true associations.

    Parameters
    ----------
    result : WefatResult, Run or path
        The result to show.
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> women = {"nurse": 88, "engineer": 12, "teacher": 80, "plumber": 2, "lawyer": 35}
    >>> found = bb.wefat("minilm-static", "wefat", {"percent_women": women}, seed=1, engine="quick")
    >>> ax = bb.plots.plot_correlations(found, ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['average scores', 'true associations']
    """
    result = opened(result)
    known, true = result.published, result.true_correlation
    rows = [
        ("average scores", known.r, known.low, known.high),
        ("true associations", true.mean, true.low, true.high),
    ]
    frame = pd.DataFrame(rows, columns=["key", "mean", "hpdi_low", "hpdi_high"])
    share = as_percent(result.prob)
    legends = {
        "different": f"r of the published score, {share} interval by Fisher's z",
        "associated": f"posterior mean and equal-tailed {share} interval, noise taken out",
    }
    series = [
        forests.Series(frame[i : i + 1], COLOR[of], MARKER[of], width=2.4, size=7, legend=legend)
        for i, (of, legend) in enumerate(legends.items())
    ]
    ax = forests.forest(
        ax,
        forests.ungrouped(frame["key"]),
        series,
        height=2.3,
        beside=[forests.Beside(forests.by_key(frame, lambda row: style.estimate(row, 2)))],
        title="Two correlations",
        note=f"{known.data}, {result.n} targets",
        xlabel=style.plain(f"correlation with {known.covariate}", 60),
        data=frame.set_axis(["of", "r", "low", "high"], axis=1),
    )
    left, right = ax.get_xlim()
    ax.set_xlim(max(-1.0, left), min(1.0, right))
    return ax
