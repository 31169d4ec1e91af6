"""Figures of contrasts: intervals and their probabilities, overall, by class or by word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.digits import error_of, interval_known, number_known, probability_printed
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import as_percent, with_minus
from bayesbias.inference.estimands import CONTRASTS, ESTIMANDS, PROB, ROPE
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.scope import holds_for, words_said
from bayesbias.plots import headings, marks, outcomes
from bayesbias.plots.outcomes import need_columns, need_fit, source_of
from bayesbias.plots.plates import Plate, on_axes
from bayesbias.plots.rows import placed, row_axis
from bayesbias.plots.style import HEAD, INK, axes_or_new, pt, size_rows, styled

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["plot_contrasts"]

_LEVELS = ("overall", "class", "attribute_set", "word")
_COLUMN_OF_ESTIMAND = {
    "population": 32.0,
    "listed_words": 62.0,
}  # right ends of the columns, in points from the Axes


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

    Both estimands stand side by side: a filled circle on a thick line for the population, an open diamond on
    a thin line for these words only. At the right is the probability that the difference is negative.

    Parameters
    ----------
    fit : BiasFit
    prob : float in (0, 1)
        Probability of the HPDI that is drawn as a line.
    rope : float > 0
        Half-width of the region of practical equivalence (ROPE), drawn as a grey band.
    level : {"overall", "class", "attribute_set", "word"}
        The last three as far as the model has them: ``stereotype`` is a list of stereotypes, words of its own class against
        words of the others.
    contrasts : sequence of str, optional
        Which contrasts, such as ``"associated - different"``; by default all, and at level ``word`` the first.
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        For an unknown level or contrast.
    FitError
        Where the table holds one connection only.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> table = bb.distance_table("minilm-static", "religion")
    >>> result = bb.fit(table, seed=1, draws=200, tune=300, chains=2, pointwise=False)
    >>> ax = bb.plot_contrasts(result, ax=Figure().subplots())
    >>> ax.get_yticklabels()[0].get_text()
    'associated − different'
    """
    checks.instance(fit, BiasFit, "fit", "what bayesbias.fit returns")
    need_fit(fit)
    need_columns(fit.table, ("connection", "protected_word", "protected_class"), fit.spec)
    frame = _contrast_rows(fit, prob, rope, level, contrasts)
    ax = axes_or_new(ax, _size(fit, level, contrasts))
    rows, labels, heads = _contrast_grid(fit, frame, level)
    low, high = min(frame["hpdi_low"].min(), -rope), max(frame["hpdi_high"].max(), rope)
    pad = 0.06 * (high - low)
    row_points = row_axis(ax, labels, heads, (low - pad, high + pad))
    ax.axvspan(-rope, rope, color="#D9D9D9", linewidth=0, zorder=0.6)
    ax.axvline(0, color=INK, linewidth=pt(0.8), zorder=0.7)
    size, thick = float(np.clip(0.26 * row_points, 2.4, 6)), float(np.clip(0.1 * row_points, 0.9, 1.8))
    for line in frame.itertuples():
        row, colour = rows[line.contrast, line.name], marks.contrast_colour(line.estimand)
        population = line.estimand == "population"
        y = row + (-0.2 if population else 0.2)
        ax.plot(
            [line.hpdi_low, line.hpdi_high],
            [y, y],
            color=colour,
            linewidth=pt(thick if population else 0.6 * thick),
            solid_capstyle="butt",
            zorder=3,
            label="_interval",
        )
        ax.plot(
            [line.mean],
            [y],
            zorder=4,
            label=f"_{line.estimand}",
            **marks.contrast_marker(line.estimand, size),
        )
        shift = _COLUMN_OF_ESTIMAND[line.estimand]
        headings.write_aside(
            ax,
            row,
            _short_probability(line),
            min(8.0, 0.75 * row_points),
            shift=shift,
            ha="right",
            color=colour,
        )
    for which, name in (("population", "pop."), ("listed_words", "these")):
        headings.write_aside(
            ax,
            None,
            name,
            7.5,
            shift=_COLUMN_OF_ESTIMAND[which],
            up=4,
            ha="right",
            color=marks.contrast_colour(which),
        )
    headings.write_aside(ax, None, "P(< 0)", 8.0, up=14, weight="bold")
    nearer = "lies nearer" if fit.spec.outcome == "distance" else "is smaller"
    of = "cosine distance" if fit.spec.outcome == "distance" else outcomes.outcome_label(fit.spec)
    headings.name_x(ax, f"difference in {of} (below 0: the first of the two {nearer})")
    handles = [
        *(
            marks.line_handle(
                marks.contrast_colour(which),
                outcomes.estimand_said(fit.spec, level, which),
                width=1.8 if which == "population" else 1.1,
                **marks.contrast_marker(which, 5.5),
            )
            for which in ESTIMANDS
        ),
        marks.patch_handle("#D9D9D9", f"ROPE ±{rope:g}"),
    ]
    each = {
        "overall": "", "class": ", per protected class", "attribute_set": ", per list of stereotypes",
        "word": ", per protected word",
    }[level]  # fmt: skip
    one = frame["contrast"].unique()
    what = f"{with_minus(one[0])}" if level == "word" and len(one) == 1 else "Contrasts between connections"
    subtitle = f"{source_of(fit)}. Posterior mean and {as_percent(prob)} HPDI"
    headings.add_headings(ax, what + each, subtitle, handles, frame)
    return ax


def plates(fit: BiasFit, prob: float = PROB, rope: float = ROPE) -> list[Plate]:
    """List the figures of contrasts: none where the table holds no two connections to contrast."""
    present = set(map(str, fit.table["connection"].unique()))
    if not any(a in present and b in present for a, b in CONTRASTS):
        return []
    overall = fit.contrasts(prob, rope, level="overall", estimand="population")
    values = "; ".join(
        f"{with_minus(r.contrast)} {number_known(r, 'mean', signed=True)} ({interval_known(r, signed=True)})"
        for r in overall.itertuples()
    )
    reading = {
        "overall": (
            "Differences between connections. The grey band is the region of practical equivalence: a difference inside "
            "it is taken to be too small to matter, which is for you to say (rope, --rope).",
            f"Posterior mean and {as_percent(prob)} HPDI of each difference, for {words_said(fit.spec)}: {values}.",
        ),
        "class": (
            f"The same differences for each protected class ({_holds(fit, 'class')}).",
            "Posterior mean and HPDI of each difference, per protected class; the numbers are in the table below.",
        ),
        "attribute_set": (
            "For each list of stereotypes, words of its own class against words of the others "
            f"({_holds(fit, 'attribute_set')}).",
            "Posterior mean and HPDI of the difference of each list of stereotypes; the numbers are in the tables.",
        ),
        "word": (
            f"The first difference for each protected word ({_holds(fit, 'word')}).",
            "Posterior mean and HPDI of the first difference, per protected word; the numbers are in the tables.",
        ),
    }
    return [
        Plate(
            "contrasts" if level == "overall" else f"contrasts_{level}",
            on_axes(plot_contrasts, fit, prob=prob, rope=rope, level=level),
            _size(fit, level),
            *reading[level],
        )
        for level in _levels(fit)
    ]


def _levels(fit: BiasFit) -> list[str]:
    """Return the levels that the model has, and at which the table has anything to contrast."""
    drawn = [level for level in _LEVELS if level == "overall" or level in fit.spec.results.levels]
    columns = {"class": "protected_class", "word": "protected_word"}
    return [
        level
        for level in drawn
        if (_lists(fit) if level == "attribute_set" else level not in columns or _known(fit, columns[level]))
    ]


def _known(fit: BiasFit, column: str | None = None) -> list[str]:
    """Return the contrasts whose two connections the table has; with a column, some one label of it has."""
    table = fit.table.assign(connection=fit.table["connection"].astype(str))
    if column is None:
        held = [set(table["connection"])]
    else:
        held = [set(each) for _, each in table.groupby(column, observed=True)["connection"]]
    return [f"{a} - {b}" for a, b in CONTRASTS if any(a in each and b in each for each in held)]


def _lists(fit: BiasFit) -> int:
    """Count the lists that are paired with words of their own class and of others."""
    kinds = fit.table[fit.table["connection"].astype(str).isin(["associated", "different"])]
    return int((kinds.groupby("attribute_class", observed=True)["connection"].nunique() > 1).sum())


def _holds(fit: BiasFit, level: str) -> str:
    return holds_for(fit.spec, level) if level in _levels(fit) else ""


def _contrast_names(fit: BiasFit, level: str, contrasts: Sequence[str] | None) -> list[str]:
    checks.choice(level, _levels(fit), "level", fit.spec.label)
    known = _known(fit, {"class": "protected_class", "word": "protected_word"}.get(level))
    if contrasts is None:
        across = [name for name in known if name == "associated - different"]
        return known[:1] if level == "word" else across if level == "attribute_set" else known
    wanted = [contrasts] if isinstance(contrasts, str) else checks.several(contrasts, "contrast", "contrasts")
    for name in wanted:
        checks.choice(name, known, "contrast of this fit")
    if not wanted:
        raise InputError("no contrast is asked for", found=wanted, valid=known)
    return wanted


def _contrast_rows(
    fit: BiasFit, prob: float, rope: float, level: str, contrasts: Sequence[str] | None
) -> pd.DataFrame:
    names = _contrast_names(fit, level, contrasts)
    frame = fit.contrasts(prob, rope)
    return frame[(frame["level"] == level) & frame["contrast"].isin(names)]


def _contrast_grid(
    fit: BiasFit, frame: pd.DataFrame, level: str
) -> tuple[dict[Any, float], list[tuple[float, str]], list[tuple[float, str]]]:
    """Place contrasts: alone, or as headings over classes or words; one contrast of words under their classes."""
    pairs = list(dict.fromkeys(zip(frame["contrast"], frame["name"], strict=True)))
    if level == "overall":
        return (
            {pair: i + 0.5 for i, pair in enumerate(pairs)},
            [(i + 0.5, with_minus(contrast)) for i, (contrast, _) in enumerate(pairs)],
            [],
        )
    groups: dict[str, list[tuple[Any, str]]] = {}
    names = list(dict.fromkeys(contrast for contrast, _ in pairs))
    words = fit.table.drop_duplicates("protected_word")
    classes = dict(
        zip(words["protected_word"].astype(str), words["protected_class"].astype(str), strict=True)
    )
    order = {name: i for i, name in enumerate(dict.fromkeys(classes.values()))}
    if level == "word":
        pairs.sort(key=lambda pair: order[classes[pair[1]]])  # stable: words keep their order
    for contrast in names:
        for pair in pairs:
            if pair[0] == contrast:
                head = [] if level == "word" and len(names) == 1 else [with_minus(contrast)]
                head += [classes[pair[1]]] if level == "word" else []
                groups.setdefault(", ".join(head), []).append((pair, pair[1]))
    return placed(groups)


def _size(fit: BiasFit, level: str, contrasts: Sequence[str] | None = None) -> tuple[float, float]:
    n = len(_contrast_names(fit, level, contrasts))
    words, classes = fit.table["protected_word"].nunique(), fit.table["protected_class"].nunique()
    rows = {
        "overall": n,
        "class": n * (classes + HEAD),
        "attribute_set": n * (_lists(fit) + HEAD) if level == "attribute_set" else 0,
        "word": n * (words + HEAD * classes),
    }[level]
    return size_rows(rows, 0.34 if level == "overall" else 0.27, 0.12)


def _short_probability(row: Any) -> str:
    """As many decimals as its error allows, and never a certainty that a finite number of draws cannot give."""
    text = probability_printed(row.p_below_zero, error_of(row, "p_below_zero"))
    return text.replace(" 0.", ".").removeprefix("0") if "0." in text else text
