"""Figures of sentence tests."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.digits import number_text
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import as_percent, number_of
from bayesbias.plots import headings, marks, slopes
from bayesbias.plots.plates import Plate, on_axes
from bayesbias.plots.rows import name_rows
from bayesbias.plots.style import (
    FAINT,
    INK,
    across,
    axes_or_new,
    height_of,
    plain,
    pt,
    size_rows,
    styled,
)
from bayesbias.studies.sentences.result import SeatResult
from bayesbias.wordlists.sentence_tests import list_tests

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["plot_seat", "plot_seat_contrasts"]

# One hue from light to dark: three steps that stay apart in grey print and for every eye.
_SHADES = {"not": "#FFFFFF", "alone": "#A6CBE3", "holm": "#0B5A92"}
_GRID = "#C9C9C9"
_WIDE = 75.0  # points: a column this wide has its numbers beside the bars, a narrower one above them
_NUMBERS = 36.0  # points that numbers take beside the bars
_LARGEST = 2.0  # no effect size of WEAT is as large with equally many words on both sides
_LEVELS = {
    "word": ("#D55E00", "o"),
    "sent": ("#0072B2", "s"),
    "sent (u)": ("#404040", "^"),
    "text": ("#CC79A7", "D"),
}
_LEVEL_NAMES = {
    "word": "words",
    "sent": "sentences, several frames a word",
    "sent (u)": "sentences, one a word",
    "text": "sentences, words not stated",
}
_PUBLISHED = {"sent": "bleached sentences", "sent (u)": "unbleached sentences"}


@styled
def plot_seat(result: SeatResult, *, alpha: float = 0.01, ax: Axes | None = None) -> Axes:
    """Show which tests are significant on which encoders, with the effect size of each.

    A row for each test, a column for each encoder, in which a bar reaches from zero to the effect size. White: not
    significant; light: p below `alpha`; dark: also after Holm's correction over the whole family. A ring marks sentence
    tests whose p is below `alpha` only as long as sentences of one word count as independent, and not when each word
    counts once.

    Parameters
    ----------
    result : SeatResult
    alpha : float in (0, 1)
    ax : matplotlib Axes, optional
        By default a new figure, as tall as the tests need: 46 of them take a page.

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
    import pandas as pd

    alpha = checks.probability(alpha, "alpha")
    named = result.named()
    rows = list(dict.fromkeys(zip(named["title"], named["context"], strict=True)))
    row_of = {key: i for i, key in enumerate(rows)}
    models = list(dict.fromkeys(zip(result.frame["model"], result.frame["options"], strict=True)))
    ax = axes_or_new(ax, _size_seat(result))
    # The texts of the cells first, so that they come before those of the headings.
    columns = len(models)
    room = (72 * across() - 180) / columns  # of a column, in points; what stands at the left takes some 180
    wide = room >= _WIDE
    ax.set_xlim(0, columns)
    ax.set_ylim(len(rows), 0)
    points = height_of(ax) / len(rows)
    size = float(np.clip(0.62 * points, 4.0, 8.0))
    # Sets of unequal size may be farther apart.
    largest = float(np.fmax(_LARGEST, result.frame["effect_size"].abs().max()))
    limit = f"{largest:.3g}"
    seen = set()
    for at, row in zip(named.index, result.frame.loc[named.index].itertuples(), strict=True):
        y, x = row_of[named.at[at, "title"], named.at[at, "context"]], models.index((row.model, row.options))
        seen.add((x, y))
        step = "holm" if row.p_holm < alpha else "alone" if row.p_value < alpha else "not"
        _cell(ax, x, y, _SHADES[step])
        ink = "white" if step == "holm" else INK
        ax.text(
            x + (1 - (_NUMBERS - size) / room if wide else 0.5),
            y + (0.53 if wide else 0.43),
            "none" if pd.isna(row.effect_size) else number_text(row.effect_size, 2),
            ha="center",
            va="center",
            fontsize=pt(size),
            color=ink,
        )
        if pd.notna(row.effect_size):
            zero, per_unit = _scale(x, _NUMBERS / room if wide else 0.0, largest)
            bar_y = y + (0.5 if wide else 0.86)
            end = zero + per_unit * row.effect_size
            ax.plot(
                [zero, end],
                [bar_y, bar_y],
                color=ink,
                linewidth=pt(0.22 * points if wide else 0.12 * points),
                solid_capstyle="butt",
                zorder=3,
                label="_effect",
            )
        if row.level != "word" and row.p_value < alpha <= row.p_words:
            ax.plot(
                [x + (1 - (_NUMBERS - size) / room if wide else 0.5)],
                [y + (0.5 if wide else 0.4)],
                marker="o",
                markersize=pt(0.55 * size),
                markerfacecolor="none",
                markeredgecolor=ink,
                markeredgewidth=pt(0.8),
                transform=ax.transData + _shift(ax, 2.0 * size),
                label="_words",
                clip_on=False,
            )
    for x in range(len(models)):
        for y in range(len(rows)):
            if (x, y) not in seen:
                _cell(ax, x, y, "#EFEFEF", hatch="////")
    for x in range(columns):
        zero, per_unit = _scale(x, _NUMBERS / room if wide else 0.0, largest)
        # In narrow columns it is no longer than the bars, which lie below the numbers.
        tops = [0.0] if wide else [y + 0.76 for y in range(len(rows))]
        ends = [float(len(rows))] if wide else [y + 0.96 for y in range(len(rows))]
        ax.vlines([zero] * len(tops), tops, ends, color=FAINT, linewidth=pt(0.6), zorder=2, label="_zero")
        if wide:
            marked = [zero - largest * per_unit, zero, zero + largest * per_unit]
            ax.set_xticks([*ax.get_xticks(minor=True), *marked], minor=True)
    if wide:
        ax.set_xticks(ax.get_xticks(minor=True), labels=[f"−{limit}", "0", limit] * columns, minor=True)
        ax.tick_params(axis="x", which="minor", length=pt(2), pad=pt(1.5), labelsize=pt(6.5))
    _row_names(ax, rows, points)
    label = 7.5 if columns <= 6 else 6.5
    longest = max(8, int(room / (0.55 * label)))  # as many letters as fit into a column
    ax.set_xticks(
        [x + 0.5 for x in range(len(models))], labels=[_encoder_label(*model, longest) for model in models]
    )
    ax.tick_params(axis="x", length=0, labelsize=pt(label), pad=pt(12 if wide else 2))
    for spine in ax.spines.values():
        spine.set_visible(False)
    handles = [
        _box(_SHADES["not"], "cell: not significant"),
        _box(_SHADES["alone"], f"p < {alpha:g}"),
        _box(_SHADES["holm"], "also after Holm's correction"),
        marks.line_handle(
            INK,
            "not when each word counts once",
            marker="o",
            size=4.5,
            style="none",
            markerfacecolor="none",
            markeredgewidth=pt(0.8),
        ),
    ]
    if len(seen) < len(models) * len(rows):
        handles.append(marks.patch_handle("#EFEFEF", "not run", hatch="////", edge="#B5B5B5"))
    unequal = " (beyond 2 where sets are of unequal size)" if largest > _LARGEST else ""
    subtitle = (
        f"Bars: effect sizes, of −{limit} to {limit}{unequal}; {number_of(len(result.frame), 'test')} in the family. "
        "One-sided: a negative effect is never significant."
    )
    headings.add_headings(
        ax,
        "Significance of every test on every encoder",
        subtitle,
        handles,
        result.frame.loc[named.index].assign(title=named["title"], context=named["context"]),
    )
    return ax


@styled
def plot_seat_contrasts(result: SeatResult, *, encoder: str | None = None, ax: Axes | None = None) -> Axes:
    """Show the hierarchical reading: the association contrast of each test with its HPDI, for new words and templates.

    Words, bleached and unbleached sentences of one test stand in one row, from above. Left of zero lies what the test
    supposes. At the right: the share of variance that lies between words and between templates, in sentences where
    there are any.

    Parameters
    ----------
    result : SeatResult
        Of ``seat(..., bayes=True)``.
    encoder : str, optional
        Its name, with its options in brackets where it has any, as in ``result.table().columns``. Needed where there
        are several.
    ax : matplotlib Axes, optional
        By default a new figure, as tall as the tests need.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        Where nothing was fitted, or for an unknown encoder.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import bayesbias as bb
    >>> result = bb.seat("weat7", "minilm-static", bayes=True, draws=100, tune=100, chains=2, seed=1, cache=False)
    >>> ax = bb.plots.plot_seat_contrasts(result, ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['C7: Math/Arts, M/F Terms']
    """
    rows = _contrast_rows(result, encoder)
    titles = list(dict.fromkeys(rows["title"]))
    contexts = [name for name in _LEVELS if name in set(rows["context"])]
    ax = axes_or_new(ax, _size_seat_contrasts(result))
    low, high = min(rows["hpdi_low"].min(), 0.0), max(rows["hpdi_high"].max(), 0.0)
    pad = 0.05 * (high - low) or 0.01
    ax.set_xlim(low - pad, high + pad)
    ax.set_ylim(len(titles), 0)
    points = height_of(ax) / len(titles)
    for i in range(0, len(titles), 2):
        ax.axhspan(i, i + 1, color="#F3F3F3", linewidth=0, zorder=0)
    ax.axvline(0, color=INK, linewidth=pt(0.8), zorder=0.7)
    lane = 0.8 / len(contexts)
    lanes = rows.groupby("title", sort=False)["context"].agg(list)
    marker_size = float(np.clip(0.5 * lane * points, 2.6, 5.5))
    size = float(np.clip(0.62 * points, 4.5, 8.0))
    for row in rows.itertuples():
        colour, marker = _LEVELS[row.context]
        here = lanes[row.title]
        y = titles.index(row.title) + 0.5 + (here.index(row.context) - (len(here) - 1) / 2) * lane
        ax.plot(
            [row.hpdi_low, row.hpdi_high],
            [y, y],
            color=colour,
            linewidth=pt(0.34 * marker_size),
            solid_capstyle="butt",
            zorder=3,
            label="_interval",
        )
        ax.plot(
            [row.contrast],
            [y],
            marker=marker,
            markersize=pt(marker_size),
            color=colour,
            zorder=4,
            # What has not converged is drawn open.
            markerfacecolor=colour if row.converged else "white",
            markeredgewidth=pt(0.8),
            linestyle="none",
            label=f"_{row.context}",
        )
    known = rows[rows["share_word"].notna()]
    # Of words and sentences in one row, those that have templates.
    shares = known.sort_values("share_template", ascending=False, kind="stable").drop_duplicates("title")
    shares = shares.set_index("title") if (known["share_template"] > 0).any() else shares.iloc[:0]
    for i, title in enumerate(titles):
        if title in shares.index:
            row = shares.loc[title]
            of = {name: f"{row[name]:.0%}" for name in row.index if str(name).startswith("share_") and row[name] == row[name]}
            for column, at in (("share_word", 22.0), ("share_template", 63.0)):
                if column in of:
                    headings.write_aside(ax, i + 0.5, of[column], min(size, 7.5), shift=at, ha="right")
    if len(shares):
        # Beside the intervals of words and of sentences stand the shares of the latter.
        what = "sentences: share of variance" if len(known) > len(shares) else "share of variance"
        headings.write_aside(ax, None, "word", 7.5, shift=22.0, up=3, ha="right")
        headings.write_aside(ax, None, "template", 7.5, shift=63.0, up=3, ha="right")
        headings.write_aside(ax, None, what, 7.5, shift=63.0, up=13, ha="right", weight="bold")
    name_rows(ax, [i + 0.5 for i in range(len(titles))], titles)
    ax.tick_params(axis="y", length=0, labelsize=pt(size))
    ax.tick_params(axis="x", labelsize=pt(8))
    headings.name_x(ax, "associated − different, in cosine distance (below 0: as the test supposes)")
    handles = [
        marks.line_handle(
            _LEVELS[name][0], _level_name(name, rows), marker=_LEVELS[name][1], width=1.8, size=5
        )
        for name in contexts
    ]
    if not rows["converged"].all():
        handles.append(
            marks.line_handle(
                INK, "not to be trusted yet", marker="o", style="none", markerfacecolor="white", size=5
            )
        )
    prob = as_percent(result.provenance["prob"])
    subtitle = f"{rows['column'].iloc[0]}, model sentence. Posterior mean and {prob} HPDI, for new words and new templates"
    headings.add_headings(ax, "The association, with its uncertainty", subtitle, handles, rows)
    return ax


def plates(result: SeatResult) -> list[Plate]:
    """List the figures of sentence tests: all tests on all encoders, and the hierarchical reading of each encoder."""
    listed = [
        Plate(
            "seat",
            on_axes(plot_seat, result),
            _size_seat(result),
            "Every test on every encoder: its effect size, and whether it is significant, alone and among all tests.",
            f"A grid of {number_of(len(result.frame), 'test')}, a row per test and a column per encoder, shaded by significance; "
            "the numbers are in the table of results.",
        )
    ]
    fitted = _fitted(result)
    for number, name in enumerate(fitted, 1):
        listed.append(
            Plate(
                f"seat_contrasts_{number}" if len(fitted) > 1 else "seat_contrasts",
                on_axes(plot_seat_contrasts, result, encoder=name),
                _size_seat_contrasts(result),
                f"The association contrast of each test on {name}, for new words and templates. Left of zero lies what the "
                "test supposes.",
                f"Posterior mean and {as_percent(result.provenance['prob'])} HPDI of the contrast of each test on {name}; "
                "the numbers are in the table of results.",
            )
        )
    return [*listed, *slopes.plates(result)]


def _size_seat(result: SeatResult) -> tuple[float, float]:
    rows = result.named()[["title", "context"]].drop_duplicates()
    return size_rows(len(rows), 0.24, 0.165)


def _size_seat_contrasts(result: SeatResult) -> tuple[float, float]:
    return size_rows(result.named()["title"].nunique(), 0.42, 0.26)


def _fitted(result: SeatResult) -> list[str]:
    """Return the encoders of which at least one test was fitted."""
    if "contrast" not in result.frame:
        return []
    frame = result.frame.dropna(subset="contrast")
    return list(
        dict.fromkeys(_contrast_column(*key) for key in zip(frame["model"], frame["options"], strict=True))
    )


def _contrast_rows(result: SeatResult, encoder: str | None) -> pd.DataFrame:
    known = _fitted(result)
    if not known:
        raise InputError("no model was fitted", hint="seat(..., bayes=True)")
    if encoder is None and len(known) > 1:
        raise InputError("there are several encoders, and one is shown", where="encoder", valid=known)
    if encoder is not None:
        checks.choice(encoder, known, "encoder")
    named = result.named()
    frame = result.frame.loc[named.index].assign(title=named["title"], context=named["context"])
    frame["column"] = [_contrast_column(*key) for key in zip(frame["model"], frame["options"], strict=True)]
    return frame[(frame["column"] == (encoder or known[0])) & frame["contrast"].notna()]


def _level_name(context: str, rows: pd.DataFrame) -> str:
    """Name the sentences of a level; bleached or not were those of the published tests, nobody knows of others."""
    published = set(rows.loc[rows["context"] == context, "test"]) <= set(list_tests())
    return _PUBLISHED.get(context, _LEVEL_NAMES[context]) if published else _LEVEL_NAMES[context]


def _contrast_column(model: str, options: str) -> str:
    return f"{model} ({options})" if options else model


def _encoder_label(model: str, options: str, longest: int) -> str:
    """Put name and options on lines of their own, none longer than its column."""
    lines = [model, *options.split(";")] if options else [model]
    return "\n".join(plain(part, longest) for line in lines for part in textwrap.wrap(line, longest))


def _cell(ax: Axes, x: float, y: float, colour: str, hatch: str | None = None) -> None:
    from matplotlib.patches import Rectangle

    edge = "#B5B5B5" if hatch else _GRID
    ax.add_patch(
        Rectangle((x, y), 1, 1, facecolor=colour, edgecolor=edge, linewidth=pt(0.5), hatch=hatch, zorder=1)
    )


def _scale(x: int, taken: float, largest: float) -> tuple[float, float]:
    """Return where zero lies in the column of an encoder, and how far one unit reaches; a share is taken by numbers."""
    half = (1 - taken) / 2
    return x + half, 0.94 * half / largest


def _row_names(ax: Axes, rows: list[tuple[str, str]], points: float) -> None:
    """Name each test once, beside the first of its rows, and the context of every row."""
    size = float(np.clip(0.66 * points, 4.0, 8.0))
    name_rows(ax, [i + 0.5 for i in range(len(rows))], [context for _, context in rows])
    ax.tick_params(axis="y", length=0, labelsize=pt(size))
    last = ""
    for i, (title, _) in enumerate(rows):
        if title == last:
            continue
        if i:
            ax.axhline(i, color=FAINT, linewidth=pt(0.9), zorder=2)
        last = title
        ax.annotate(
            plain(title),
            (0, i + 0.5),
            (pt(-5.2 * size), 0),
            xycoords=ax.get_yaxis_transform(),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=pt(size),
            annotation_clip=False,
        )


def _shift(ax: Axes, right: float) -> Any:
    from matplotlib.transforms import ScaledTranslation

    return ScaledTranslation(pt(right) / 72, 0, ax.get_figure(root=True).dpi_scale_trans)  # type: ignore[union-attr]


def _box(colour: str, label: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(facecolor=colour, edgecolor=FAINT, linewidth=pt(0.6), label=label)
