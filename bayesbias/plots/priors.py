"""Figure of what a model expects before it has seen data, and of what the data made of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.digits import as_known
from bayesbias.core.errors import FitError
from bayesbias.core.formatting import percent
from bayesbias.inference.estimands import PROB
from bayesbias.inference.estimates import chosen_rows, describe_draws, keys_of_rows, level_draws
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.priors import (
    fits_usual_pairs,
    predictive_of_pairs,
    prior_contrasts,
    usual_pairs,
)
from bayesbias.models.design import Design
from bayesbias.models.loading import load_model
from bayesbias.models.spec import ModelSpec
from bayesbias.plots import headings, marks, outcomes
from bayesbias.plots.data import long
from bayesbias.plots.outcomes import need_columns, table_name_of
from bayesbias.plots.plates import Plate, on_axes
from bayesbias.plots.rows import ridge_axis
from bayesbias.plots.style import FAINT, INK, axes_or_new, height_of, pt, size_ridges, styled
from bayesbias.wordlists.pairing import CONNECTIONS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["plot_priors"]

_PRIOR_DRAWS = 6000
_CURVES = ("prior of the mean", "prior predictive of a pair")
_POSTERIOR = marks.contrast_colour("population")


@styled
def plot_priors(
    model_or_fit: str | os.PathLike[str] | ModelSpec | BiasFit, *, seed: int = 0, ax: Axes | None = None
) -> Axes:
    """Show what a model believes before it has seen a pair, against the possible distances.

    Per connection: the prior of the mean distance (filled), the prior predictive of a single pair (line),
    and the share of such pairs that falls outside [0, 2], where no cosine distance can lie. Below, in the same units, the
    prior of the first contrast overall, and of a fit its posterior beside it.

    Parameters
    ----------
    model_or_fit : str, path, ModelSpec or BiasFit
        A model alone is shown for one protected word (its contrast on the list religion), and a fit for the words of its
        table; the two differ only where the mean is averaged over words, as in the additive model.
    seed : int
        Of the draws from the prior.
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        For an unknown model, or one that needs a column the table lacks.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> ax = bb.plot_priors("crossed", ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['associated', 'different', 'human', 'neutral', 'associated - different']
    """
    checks.seed(seed)
    fit = model_or_fit if isinstance(model_or_fit, BiasFit) else None
    spec = fit.spec if fit is not None else load_model(model_or_fit)  # type: ignore[arg-type]
    frame = _one_pair_each(spec) if fit is None else fit.table
    need_columns(frame, ("connection",), spec)
    means = _prior_means(spec, frame, seed)
    predictive = predictive_of_pairs(spec, frame, seed)
    contrast = _contrast_of(spec, fit, seed)

    names = list(means)
    rows = [*names, *([contrast.name] if contrast else [])]
    ax = axes_or_new(ax, size_ridges(len(rows)))
    possible = (0.0, 2.0) if spec.outcome == "distance" else None
    every = [*means.values(), *predictive.values(), *([contrast.prior] if contrast else [])]
    low, high = (-1.0, 3.0) if possible else marks.value_range(every, 0.01)
    grid = np.linspace(low, high, 401)
    ridge_axis(ax, rows, (low, high))
    aside = _size_beside(ax, len(rows))
    if possible:
        for edges in ((low, possible[0]), (possible[1], high)):
            ax.axvspan(*edges, facecolor="#E4E4E4", edgecolor="#B5B5B5", hatch="////", linewidth=0, zorder=0)
    differences: list[dict[str, Any]] = []
    if contrast:
        differences = _draw_contrast(ax, contrast, len(names), grid, aside)
    shown: list[dict[str, Any]] = []
    for row, name in enumerate(names):
        curves = [
            marks.density(drawn, grid, 1.6 * marks.bandwidth(drawn))
            for drawn in (means[name], predictive[name])
        ]
        shown += [
            {"row": name, "curve": label, "x": grid, "density": curve}
            for label, curve in zip(_CURVES, curves, strict=True)
        ]
        # Each curve has its own scale, since a prior of the mean can be far narrower than that of a pair.
        up = [row + 0.42 - 0.8 * curve / curve.max() for curve in curves]
        ax.fill_between(
            grid,
            row + 0.42,
            up[0],
            color=marks.colour_of(name),
            alpha=0.4,
            linewidth=0,
            zorder=2,
            label="_prior of the mean",
        )
        ax.plot(grid, up[1], color=INK, linewidth=pt(1.2), zorder=3, label="_prior predictive of a pair")
        if possible:
            out = float(np.mean((predictive[name] < possible[0]) | (predictive[name] > possible[1])))
            shown[-1]["impossible"] = out
            headings.write_aside(ax, row, f"{percent(out)} of pairs\nimpossible", aside)
    headings.name_x(ax, outcomes.outcome_label(spec))
    handles = [
        marks.patch_handle(FAINT, "prior of the mean distance", alpha=0.5),
        marks.line_handle(INK, "prior predictive of a single pair"),
        *([marks.patch_handle("#E4E4E4", "impossible", hatch="////", edge="#B5B5B5")] if possible else []),
    ]
    if contrast and contrast.posterior is not None:
        handles.append(marks.line_handle(_POSTERIOR, "posterior of the difference", width=2))
    subtitle = f"Model {spec.name}" + (f" on {table_name_of(fit)}" if fit is not None else "")
    title = "Before the data: prior against the possible distances"
    headings.add_headings(ax, title, subtitle, handles, long([*shown, *differences]))
    return ax


def plate(fit: BiasFit) -> Plate:
    """Return the priors of a fit's model as a figure."""
    return Plate(
        "priors",
        on_axes(plot_priors, fit),
        size_ridges(fit.table["connection"].nunique() + 1),
        "What the model believed before it saw a pair, against the distances that are possible; and the first difference, "
        "before and after the data. Each curve is drawn to one height.",
        "Prior of the mean distance and prior predictive of a single pair, per connection; prior and posterior of the first "
        "difference.",
    )


@dataclass(frozen=True, eq=False)
class _Contrast:
    """The first contrast overall for new words, before the data and after."""

    name: str
    prior: np.ndarray
    posterior: np.ndarray | None
    posterior_sd: str = ""


def _contrast_of(spec: ModelSpec, fit: BiasFit | None, seed: int) -> _Contrast | None:
    """Draw the first contrast from the prior; None where there is none, or no usual table for a model alone."""
    if fit is None and not fits_usual_pairs(spec):
        return None
    table = usual_pairs(spec) if fit is None else fit.table
    try:
        chosen = chosen_rows(prior_contrasts(spec, table, _PRIOR_DRAWS, seed), level="overall")
    except FitError:  # a table of one connection
        return None
    name = keys_of_rows(chosen, "contrast")[0][0]
    prior = chosen.to_numpy()[0, :, 0]
    if fit is None:
        return _Contrast(name, prior, None)
    draws = fit.draws_of("contrasts", level="overall", estimand="population")
    # Of the table, so that a page prints one number: where the model is normal it is not that of the draws.
    listed = fit.contrasts(level="overall", estimand="population")
    row = listed[listed["contrast"] == name].iloc[0].to_dict()
    return _Contrast(name, prior, draws.to_numpy()[..., 0].ravel(), _sd(row, ".2g"))


def _sd(about: Mapping[str, Any], form: str) -> str:
    """Write an sd in a form, to the digits that its Monte Carlo error allows."""
    usual = len(f"{about['sd']:{form}}".partition(".")[2])
    return as_known(about, "sd", usual)


def _size_beside(ax: Axes, ridges: int) -> float:
    """Return the size of letters of which two lines stand beside a ridge."""
    return float(np.clip(height_of(ax) / ridges / 3.2, 5.0, 8.0))


def _draw_contrast(
    ax: Axes, contrast: _Contrast, row: int, grid: np.ndarray, aside: float
) -> list[dict[str, Any]]:
    """Draw a ridge of differences, which are possible on both sides of zero; return its curves."""
    foot = row + 0.42
    ax.axhspan(row - 0.5, row + 0.6, facecolor="white", linewidth=0, zorder=0.5)
    ax.plot((0, 0), (row - 0.45, foot), color=INK, linewidth=pt(0.8), linestyle=(0, (1, 1.5)), zorder=1)
    curve = marks.density(contrast.prior, grid, 1.6 * marks.bandwidth(contrast.prior))
    drawn = [{"row": contrast.name, "curve": "prior of the difference", "x": grid, "density": curve}]
    up = foot - 0.8 * curve / curve.max()
    ax.fill_between(
        grid, foot, up, color=FAINT, alpha=0.4, linewidth=0, zorder=2, label="_prior of a contrast"
    )
    (about,) = describe_draws(contrast.prior.reshape(1, -1, 1), PROB).to_dict("records")
    spread = f"prior sd {_sd(about, '.2f')}"
    if contrast.posterior is not None:
        # A posterior is far narrower than the prior: a grid of its own keeps its shape.
        low, high = marks.value_range([contrast.posterior], 0.0)
        fine = np.linspace(low - 0.1 * (high - low), high + 0.1 * (high - low), 201)
        curve = marks.density(contrast.posterior, fine)
        drawn.append(
            {"row": contrast.name, "curve": "posterior of the difference", "x": fine, "density": curve}
        )
        ax.fill_between(
            fine,
            foot,
            foot - 0.8 * curve / curve.max(),
            color=_POSTERIOR,
            linewidth=pt(1.2),
            zorder=3,
            label="_posterior of a contrast",
        )
        spread += f"\nposterior sd {contrast.posterior_sd}"
    headings.write_aside(ax, row, spread, aside)
    return drawn


def _one_pair_each(spec: ModelSpec) -> pd.DataFrame:
    """Return the smallest table with all four connections, for a model without data."""
    import pandas as pd

    frame = pd.DataFrame(
        {
            "protected_word": "word",
            "protected_class": "own",
            "attribute": [f"{name} attribute" for name in CONNECTIONS],
            "attribute_class": ["own", "other", "human", "neutral"],
            "attribute_kind": ["stereotype", "stereotype", "human", "neutral"],
            "connection": CONNECTIONS,
        }
    )
    for column in sorted(spec.label_columns().difference(frame.columns)):
        frame[column] = "any"
    frame[spec.outcome] = 1.0
    return frame


def _prior_means(spec: ModelSpec, frame: pd.DataFrame, seed: int) -> dict[str, np.ndarray]:
    """Draw the mean distance per connection, as `BiasFit.summary` defines it, from the prior."""
    design = Design.of(spec, frame)
    draws = level_draws(design, frame, design.prior_draws(_PRIOR_DRAWS, seed), "population")
    overall = chosen_rows(draws, level="overall")
    names = [name for (name,) in keys_of_rows(overall, "connection")]
    return dict(zip(names, overall.to_numpy()[0].T, strict=True))
