"""Figure of what a model expects before it has seen data, and of what the data made of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.basics.wording import percent
from bayesbias.figures import headings, marks, outcomes
from bayesbias.figures.outcomes import need_columns, table_name_of
from bayesbias.figures.plates import Plate, on_axes
from bayesbias.figures.rows import ridge_axis
from bayesbias.figures.style import FAINT, INK, axes_or_new, size_ridges, styled
from bayesbias.inference.contrasts import chosen_rows, keys_of_rows, level_draws
from bayesbias.inference.posterior import BiasFit
from bayesbias.models.design import Design
from bayesbias.models.loading import load_model
from bayesbias.models.spec import ModelSpec
from bayesbias.words.pairing import CONNECTIONS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["plot_priors"]

_PRIOR_DRAWS = 6000
_PRIOR_PAIRS = 20_000


@styled
def plot_priors(
    model_or_fit: str | os.PathLike[str] | ModelSpec | BiasFit, *, seed: int = 0, ax: Axes | None = None
) -> Axes:
    """Show what a model believes before it has seen a pair, against the possible distances.

    Per connection: the prior of the mean distance (filled), the prior predictive of a single pair (line),
    and the share of such pairs that falls outside [0, 2], where no cosine distance can lie.

    Parameters
    ----------
    model_or_fit : str, path, ModelSpec or BiasFit
        A model alone is shown for one protected word, and a fit for the words of its table; the two differ
        only where the mean is averaged over words, as in the additive model.
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
    ['associated', 'different', 'human', 'neutral']
    """
    fit = model_or_fit if isinstance(model_or_fit, BiasFit) else None
    spec = fit.spec if fit is not None else load_model(model_or_fit)  # type: ignore[arg-type]
    frame = _one_pair_each(spec) if fit is None else fit.table
    need_columns(frame, ("connection",), spec)
    means = _prior_means(spec, frame, seed)
    pairs = frame.drop_duplicates("connection")
    design = Design.of(spec, pairs)
    new = design.outcome_draws(design.prior_draws(_PRIOR_PAIRS, seed), seed + 1)
    predictive = {str(name): new[:, i] for i, name in enumerate(pairs["connection"])}

    names = list(means)
    ax = axes_or_new(ax, size_ridges(len(names)))
    possible = (0.0, 2.0) if spec.outcome == "distance" else None
    low, high = (-1.0, 3.0) if possible else marks.value_range([*means.values(), *predictive.values()], 0.01)
    grid = np.linspace(low, high, 401)
    ridge_axis(ax, names, (low, high))
    if possible:
        for edges in ((low, possible[0]), (possible[1], high)):
            ax.axvspan(*edges, facecolor="#E4E4E4", edgecolor="#B5B5B5", hatch="////", linewidth=0, zorder=0)
    for row, name in enumerate(names):
        curves = [
            marks.density(drawn, grid, 1.6 * marks.bandwidth(drawn))
            for drawn in (means[name], predictive[name])
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
        ax.plot(grid, up[1], color=INK, linewidth=1.2, zorder=3, label="_prior predictive of a pair")
        if possible:
            out = float(np.mean((predictive[name] < possible[0]) | (predictive[name] > possible[1])))
            headings.write_aside(ax, row, f"{percent(out)} of pairs\nimpossible")
    headings.name_x(ax, outcomes.outcome_label(spec))
    handles = [
        marks.patch_handle(FAINT, "prior of the mean distance", alpha=0.5),
        marks.line_handle(INK, "prior predictive of a single pair"),
        *([marks.patch_handle("#E4E4E4", "impossible", hatch="////", edge="#B5B5B5")] if possible else []),
    ]
    subtitle = f"Model {spec.name}" + (f" on {table_name_of(fit)}" if fit is not None else "")
    headings.add_headings(ax, "Before the data: prior against the possible distances", subtitle, handles)
    return ax


def plate(fit: BiasFit) -> Plate:
    """Return the priors of a fit's model as a figure."""
    return Plate(
        "priors",
        on_axes(plot_priors, fit),
        size_ridges(fit.table["connection"].nunique()),
        "What the model believed before it saw a pair, against the distances that are possible.",
        "Prior of the mean distance and prior predictive of a single pair, per connection.",
    )


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
    columns = {dim for parameter in spec.parameters.values() for dim in parameter.dims} | set(spec.units)
    for column in sorted(columns.difference(frame.columns)):
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
