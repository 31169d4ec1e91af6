"""The figure of a sweep: one contrast of every cell, in standard deviations of single pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core.digits import number_known
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import as_percent, join_words, number_of, with_minus
from bayesbias.inference.spreads import in_full
from bayesbias.plots import headings, marks
from bayesbias.plots.outcomes import ESTIMAND
from bayesbias.plots.plates import Plate, on_axes
from bayesbias.plots.rows import placed, row_axis
from bayesbias.plots.style import HEAD, INK, axes_or_new, pt, size_rows, styled
from bayesbias.sweeps.comparing import cell_names, of_another_unit, telling_labels, unit_of
from bayesbias.sweeps.result import SweepResult

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["plot_sweep"]

_STAR, _DAGGER = "*", "†"
_SUPERIORITY, _DISTANCE = 44.0, 92.0  # right ends of the columns, in points from the Axes


@styled
def plot_sweep(
    result: SweepResult, *, contrast: str | None = None, estimand: str = "population", ax: Axes | None = None
) -> Axes:
    """Show one contrast of every cell of a sweep on the scale that all vectors share.

    In standard deviations of single pairs, the lowest first; of several word lists each under its name. At the right
    the probability of superiority, and the contrast as it is, in cosine distance. A cell that is not to be trusted is
    drawn hollow; one that is measured in another unit than most, and cannot be compared with those, has a star, and one
    that lacks most of its words, or is to be looked at again, a dagger.

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
        For an unknown contrast or estimand, or where no cell has the contrast in standard deviations.

    Examples
    --------
    >>> import tempfile
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> plan = {"embeddings": ["minilm-static"], "wordlists": ["religion"], "models": ["crossed"],
    ...         "settings": {"draws": 200, "chains": 2, "seed": 1}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ax = bb.plots.plot_sweep(bb.run_sweep(plan, folder, workers=1, progress=False), ax=Figure().subplots())
    >>> ax.get_title(loc="left")
    'associated − different in every cell'
    """
    frame = _drawn(result, contrast, estimand)
    if not len(frame):
        raise InputError(
            "no cell has a contrast in standard deviations",
            where="result",
            hint="a fitted cell with two connections, of a model with normal noise",
        )
    ax = axes_or_new(ax, _size(frame))
    rope, prob = float(frame["rope"].iloc[0]), float(frame["prob"].iloc[0])
    low, high = min(frame["standardized_low"].min(), -rope), max(frame["standardized_high"].max(), rope)
    pad = 0.06 * (high - low)
    rows, labels, heads = _grid(frame)
    points = row_axis(ax, labels, heads, (low - pad, high + pad))
    ax.axvspan(-rope, rope, color="#D9D9D9", linewidth=0, zorder=0.6)
    ax.axvline(0, color=INK, linewidth=pt(0.8), zorder=0.7)
    size, thick = float(np.clip(0.32 * points, 2.4, 6)), float(np.clip(0.12 * points, 0.9, 1.8))
    look = marks.contrast_marker(estimand, size)
    for line in frame.itertuples():
        y = rows[line.cell]
        ax.plot(
            [line.standardized_low, line.standardized_high],
            [y, y],
            color=look["color"],
            linewidth=pt(thick),
            solid_capstyle="butt",
            zorder=3,
            label="_interval",
        )
        face = {} if line.trusted else {"markerfacecolor": "white"}
        ax.plot([line.standardized], [y], zorder=4, label="_mean", **look | face)
        beside = (
            (_SUPERIORITY, number_known(line, "probability_of_superiority", 2)),
            (_DISTANCE, number_known(line, "distance", signed=True)),
        )
        for shift, text in beside:
            headings.write_aside(ax, y, text, min(8.0, 0.75 * points), shift=shift, ha="right")
    for shift, name in ((_SUPERIORITY, "superiority"), (_DISTANCE, "distance")):
        headings.write_aside(ax, None, name, 7.5, shift=shift, up=4, ha="right")
    headings.name_x(ax, f"difference in {unit_of(frame)} (below 0: the first of the two lies nearer)")
    handles = [
        marks.line_handle(
            look["color"], ESTIMAND.get(estimand, estimand), width=1.8, **marks.contrast_marker(estimand, 5.5)
        ),
        marks.patch_handle("#D9D9D9", f"ROPE ±{rope:g}"),
    ]
    if not frame["trusted"].all():
        hollow = marks.contrast_marker(estimand, 5.5) | {"markerfacecolor": "white"}
        handles.append(marks.line_handle(look["color"], "not to be trusted yet", width=1.8, **hollow))
    subtitle = f"{number_of(len(frame), 'cell')} of a sweep. Posterior mean and {as_percent(prob)} HPDI"
    subtitle += "".join(f". {mark} {meaning}" for mark, meaning in _marks_said(frame))
    headings.add_headings(
        ax, f"{with_minus(frame['contrast'].iloc[0])} in every cell", subtitle, handles, frame
    )
    return ax


def plates(result: SweepResult) -> list[Plate]:
    """List the figure of a sweep: none where no cell has a contrast in standard deviations."""
    frame = _drawn(result, None, "population")
    if not len(frame):
        return []
    values = "; ".join(
        f"{name} {number_known(row, 'standardized', 2, signed=True)}{row.mark}"
        for name, row in zip(cell_names(frame), frame.itertuples(), strict=True)
    )
    contrast = with_minus(frame["contrast"].iloc[0])
    return [
        Plate(
            "sweep",
            on_axes(plot_sweep, result),
            _size(frame),
            f"{contrast} in every cell, in {unit_of(frame)}. The grey band is the region of practical equivalence. "
            "At the right: how often a random pair of the first connection is nearer, and the difference in cosine "
            "distance, which cannot be compared between vectors."
            + "".join(f" {mark} {meaning}." for mark, meaning in _marks_said(frame)),
            f"{contrast} in {unit_of(frame)}: {values}.",
        )
    ]


def _drawn(result: SweepResult, contrast: str | None, estimand: str) -> pd.DataFrame:
    frame = result.compared(contrast, estimand=estimand)
    frame = frame[frame["standardized"].notna()].reset_index(drop=True)
    cells = result.cells.set_index("cell").loc[frame["cell"]]
    apart = frame["cell"].isin(of_another_unit(frame))
    few = [
        (cells[f"{side}_found"] < 0.5 * cells[f"{side}_listed"]).fillna(False)
        for side in ("protected", "stereotypes")
    ]
    doubted = (cells["warnings"].notna() | few[0] | few[1]).to_numpy(bool)
    return frame.assign(
        mark=[
            f"{_STAR if star else ''}{_DAGGER if dagger else ''}"
            for star, dagger in zip(apart, doubted, strict=True)
        ]
    )


def _marks_said(frame: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the marks that rows have, and what they mean."""
    out = []
    apart = frame["mark"].str.contains(_STAR, regex=False)
    if apart.any():
        units = join_words(in_full(unit) for unit in dict.fromkeys(frame.loc[apart, "unit"]))
        out.append((_STAR, f"in {units}, not to be compared with the others"))
    if frame["mark"].str.contains(_DAGGER, regex=False).any():
        out.append((_DAGGER, "lacks most of its words, or is to be looked at again"))
    return out


def _grid(frame: pd.DataFrame) -> Any:
    """Place the cells, those of each word list under its name where there are several lists."""
    labels = telling_labels(frame)
    names, heads = cell_names(frame), [""] * len(frame)
    if len(labels) > 1 and "wordlist" in labels:
        heads = [name or "tables" for name in labels.pop("wordlist")]
        names = [", ".join(filter(None, of)) for of in zip(*labels.values(), strict=True)]
    names = [f"{name}{mark}" for name, mark in zip(names, frame["mark"], strict=True)]
    groups: dict[str, list[tuple[Any, str]]] = {}
    for cell, head, name in zip(frame["cell"], heads, names, strict=True):
        groups.setdefault(head, []).append((cell, name))
    if list(groups) == [""]:
        return (
            {cell: at + 0.5 for at, cell in enumerate(frame["cell"])},
            [(at + 0.5, name) for at, name in enumerate(names)],
            [],
        )
    return placed(groups)


def _size(frame: pd.DataFrame) -> tuple[float, float]:
    heads = frame["wordlist"].nunique() if frame["wordlist"].nunique() > 1 else 0
    return size_rows(len(frame) + HEAD * heads, 0.3, 0.14)
