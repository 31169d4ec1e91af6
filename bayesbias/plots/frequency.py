"""Figures of frequency: of every word by class and list, and the contrasts without and with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core.digits import as_known
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import as_percent, with_minus
from bayesbias.inference.estimands import ROPE
from bayesbias.plots import headings, marks
from bayesbias.plots.outcomes import source_of
from bayesbias.plots.plates import Plate, on_axes
from bayesbias.plots.rows import placed, row_axis
from bayesbias.plots.style import (
    COLOUR,
    HEAD,
    INK,
    axes_or_new,
    pt,
    size_rows,
    styled,
)
from bayesbias.studies.association.frequency import Frequency, frequency_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesbias.inference.posterior import BiasFit

__all__ = ["plot_frequencies", "plot_frequency_contrasts"]

_SIDES = {"protected": "Protected words", "attribute": "Attributes"}


def plates(fit: BiasFit, rope: float = ROPE) -> list[Plate]:
    """List the figures of frequency; none where it was not asked."""
    frequency = frequency_of(fit)
    if frequency is None:
        return []
    row = frequency.contrasts.iloc[0]
    here, there = (as_known(row, field, signed=True) for field in ("without_mean", "with_mean"))
    return [
        Plate(
            "frequencies",
            on_axes(plot_frequencies, fit),
            _size_words(frequency),
            f"How frequent the words are, in powers of ten ({frequency.source}). Classes and lists whose means lie apart "
            "differ in "
            "more than what they are about.",
            "Log frequency of every word, by class and list; means: "
            + ", ".join(f"{name} {mean:.2f}" for name, mean in _means(frequency).items())
            + ".",
        ),
        Plate(
            "frequency_contrasts",
            on_axes(plot_frequency_contrasts, fit, rope=rope),
            _size_contrasts(frequency),
            "Contrasts as they are, and of words that are all of the mean frequency. Where they part, frequency is a rival "
            "explanation, or a part of what is to be explained.",
            f"{row['contrast']}: {here} without and {there} with log frequency.",
        ),
    ]


@styled
def plot_frequencies(fit: BiasFit, *, ax: Axes | None = None) -> Axes:
    """Show how frequent the words of every class and list are.

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
        For a fit that was not asked for frequency.

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
    import pandas as pd

    frequency = _asked(fit)
    groups = _groups(frequency)
    ax = axes_or_new(ax, _size_words(frequency))
    rows, labels, heads = placed(groups)
    values = frequency.words["log_frequency"].to_numpy(dtype=float)
    pad = 0.05 * float(np.ptp(values)) or 0.5
    row_axis(ax, labels, heads, (float(values.min()) - pad, float(values.max()) + pad))
    for (side, group), row in rows.items():
        own = frequency.words[(frequency.words["side"] == side) & (frequency.words["group"] == group)]
        x = own["log_frequency"].to_numpy(dtype=float)
        colour = COLOUR["associated"] if side == "protected" else COLOUR["different"]
        ax.plot(
            x,
            row + _spread(len(x)),
            linestyle="",
            marker="o" if side == "protected" else "s",
            markersize=pt(3),
            alpha=0.45,
            markeredgewidth=0,
            color=colour,
            label="_words",
        )
        ax.plot(
            [x.mean()], [row], marker="|", markersize=pt(15), markeredgewidth=pt(2), color=INK, zorder=4, label="_mean"
        )  # fmt: skip
    headings.name_x(ax, "log frequency, in powers of ten")
    means = (
        frequency.words.groupby(["side", "group"], sort=False, observed=True)["log_frequency"]
        .mean()
        .reset_index()
    )
    data = pd.concat([frequency.words.assign(drawn="word"), means.assign(drawn="mean")], ignore_index=True)
    handles = [
        marks.line_handle(INK, "mean", marker="|", width=0, size=9),
        marks.line_handle(COLOUR["associated"], "a protected word", marker="o", width=0, size=4),
        marks.line_handle(COLOUR["different"], "an attribute", marker="s", width=0, size=4),
    ]
    headings.add_headings(
        ax, "How frequent the words are", f"{source_of(fit)}; {frequency.source}", handles, data
    )
    return ax


@styled
def plot_frequency_contrasts(fit: BiasFit, *, rope: float = ROPE, ax: Axes | None = None) -> Axes:
    """Show contrasts as they are, and of words that are all of the mean frequency.

    Parameters
    ----------
    fit : BiasFit
        As `bayesbias.studies.with_frequency` returns it.
    rope : float > 0
        Half-width of the region of practical equivalence (ROPE), drawn as a grey band.
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        For a fit that was not asked for frequency.

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
    frequency = _asked(fit)
    ax = axes_or_new(ax, _size_contrasts(frequency))
    rows, labels, heads = placed(_contrast_groups(frequency))
    ends = frequency.contrasts[["without_low", "with_low", "without_high", "with_high"]].to_numpy(dtype=float)
    low, high = min(float(ends.min()), -rope), max(float(ends.max()), rope)
    pad = 0.06 * (high - low)
    row_axis(ax, labels, heads, (low - pad, high + pad))
    ax.axvspan(-rope, rope, color="#D9D9D9", linewidth=0, zorder=0.6)
    ax.axvline(0, color=INK, linewidth=pt(0.8), zorder=0.7)
    looks = {"without": (INK, "o", -0.18), "with": (COLOUR["different"], "D", 0.18)}
    for line in frequency.contrasts.itertuples():
        row = rows[line.contrast, line.level, line.name]
        for which, (colour, marker, shift) in looks.items():
            mean, start, stop = (getattr(line, f"{which}_{end}") for end in ("mean", "low", "high"))
            ax.plot([start, stop], [row + shift] * 2, color=colour, linewidth=pt(1.4), label="_interval")
            ax.plot(
                [mean], [row + shift], marker=marker, markersize=pt(4.5), color=colour, zorder=4, label=f"_{which}"
            )  # fmt: skip
    headings.name_x(ax, "difference of mean cosine distances")
    handles = [
        marks.line_handle(INK, f"as it is, {as_percent(frequency.prob)} HPDI", marker="o", width=1.4, size=5),
        marks.line_handle(COLOUR["different"], "at equal frequency", marker="D", width=1.4, size=5),
        marks.patch_handle("#D9D9D9", f"ROPE ±{rope:g}"),
    ]
    headings.add_headings(
        ax,
        "Contrasts without and with log frequency",
        f"{source_of(fit)}; {frequency.source}",
        handles,
        frequency.contrasts,
    )
    return ax


def _asked(fit: BiasFit) -> Frequency:
    frequency = frequency_of(fit)
    if frequency is None:
        raise InputError(
            "was not asked for frequency",
            where="fit",
            found=fit.spec.name,
            valid="what with_frequency returns",
        )
    return frequency


def _groups(frequency: Frequency) -> dict[str, list[tuple[Any, str]]]:
    out: dict[str, list[tuple[Any, str]]] = {}
    for side, head in _SIDES.items():
        names = dict.fromkeys(frequency.words.loc[frequency.words["side"] == side, "group"])
        if names:
            out[head] = [((side, name), str(name)) for name in names]
    return out


def _contrast_groups(frequency: Frequency) -> dict[str, list[tuple[Any, str]]]:
    titles = {"overall": "all", "class": "{}", "attribute_set": "list {}"}
    out: dict[str, list[tuple[Any, str]]] = {}
    for contrast, rows in frequency.contrasts.groupby("contrast", sort=False):
        out[with_minus(str(contrast))] = [
            ((contrast, row.level, row.name), titles[row.level].format(row.name))
            for row in rows[["level", "name"]].itertuples(index=False)
        ]
    return out


def _means(frequency: Frequency) -> dict[str, float]:
    means = frequency.words.groupby("group", sort=False)["log_frequency"].mean()
    return {str(group): float(mean) for group, mean in means.items()}


def _spread(n: int) -> np.ndarray:
    """Return heights around a row, the same each time, so that words of one frequency are seen."""
    return 0.3 * np.sin(2.4 * np.arange(n)) if n > 1 else np.zeros(n)


def _size_words(frequency: Frequency) -> tuple[float, float]:
    groups = _groups(frequency)
    return size_rows(sum(len(own) + HEAD for own in groups.values()), 0.34, 0.2)


def _size_contrasts(frequency: Frequency) -> tuple[float, float]:
    groups = _contrast_groups(frequency)
    return size_rows(sum(len(own) + HEAD for own in groups.values()), 0.34, 0.2)
