"""What a model expects: before the data, and for data like the observed ones."""

import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy.ndimage import gaussian_filter1d

from bayesbias.core import checks, number_of
from bayesbias.core.formatting import percent
from bayesbias.core.result import opened
from bayesbias.inference.cross_validation import replicated
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.priors import predictive_of_pairs, prior_answers, usual_pairs
from bayesbias.models.spec import ModelSpec, list_models, load_model
from bayesbias.plots import forest as forests, style
from bayesbias.plots.style import COLOR, FAINT, HATCHED, INK, styled
from bayesbias.wordlists.wordlist import CONNECTIONS

REPLICATED = "#9A9A9A"
_PRIOR_DRAWS = 6000
_POSTERIOR = "posterior of the difference"
_FOOT, _TALL = 0.42, 0.8  # where a ridge stands below its row, and how high it is


@styled
def plot_ppc(fit: Any, *, replicates: int = 50, ax: Axes | None = None) -> Axes:
    """Compare the observed outcomes with tables that the fitted model would make.

    There is a row for each group of the results: for each connection, or of groups each attribute
    set, and of sentiment each classifier.

    Parameters
    ----------
    fit : BiasFit, ResponsesResult, Run or path
        What `fit` or `fit_responses` returned.
    replicates : int
        How many replicated tables are drawn, at most 200.
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
    >>> ax = bb.plot_ppc(fit, ax=Figure().subplots(), replicates=20)
    >>> len(ax.lines)  # four observed curves, each over twenty replicated ones
    84
    """
    result = opened(fit)
    fit = getattr(result, "fit", result)
    forests.need_fit(fit)
    column = fit.spec.results.group
    checks.count(replicates, "replicates", 1, 200)
    values, noun, color = fit.table[column].astype(str), "pairs", COLOR["different"]
    label = forests.outcome_label(fit.spec)
    if column in ("arm", "series"):  # of responses: with the model, where there are several
        parts = values.str.rsplit(" | ", n=1, expand=True)
        one_contrast = column == "series" and parts[0].nunique() == 1 < parts[1].nunique()
        values, noun = values.str.replace(" | ", ", ").str.removesuffix(", "), "rows"
        label = getattr(result, "scale", label)
        if one_contrast:
            values, label = parts[1], f"{parts[0].iloc[0]}, {label}"
    values, present = values.to_numpy(), checks.once(values)
    names = [c for c in CONNECTIONS if c in present] if column == "connection" else present
    observed = fit.table[fit.spec.outcome].to_numpy(dtype=float)
    tables = replicated(fit, replicates)
    low, high = _value_range([observed, tables.ravel()], 0.0005)
    margin = 0.15 * (high - low)
    # The tails of the replicated may be cut; what was observed is shown whole.
    ends = min(low - margin, observed.min()), max(high + margin, observed.max())
    grid = np.linspace(*ends, 301)
    ax = _ridge_axis(ax, names, ends)
    drawn = []
    for row, name in enumerate(names):
        mine = values == name
        width = bandwidth(observed[mine])
        curves = np.array([density(y, grid, width) for y in (observed[mine], *tables[:, mine])])
        for number, curve in enumerate(curves):
            drawn.append(pd.DataFrame({column: name, "table": number, "x": grid, "density": curve}))
        heights = row + _FOOT - 0.84 * curves / curves.max()
        look: dict[str, Any] = {"linewidth": 0.5, "alpha": 0.45, "zorder": 2}
        ax.plot(grid, heights[1:].T, color=REPLICATED, **look)
        look = {"color": COLOR.get(name, color) if column == "connection" else color}
        ax.plot(grid, heights[0], **look, linewidth=2, zorder=3, label="_observed")
        style.write_aside(ax, row, f"{mine.sum():,} {noun}")
    if fit.spec.outcome == "difference":
        label = "female − male, in probability of the positive class"
    ax.set_xlabel(label)
    made = f"{number_of(len(tables), 'table')} made by the fitted model"
    seen = color, f"observed {noun} (density)"
    if column == "connection":  # a color each
        seen = INK, f"observed {noun} (colored; density)"
    handles = [
        style.line_handle(*seen, linewidth=2),
        style.line_handle(REPLICATED, made, linewidth=0.8),
    ]
    data = pd.concat(drawn)
    return style.finish([ax], "Posterior predictive check", forests.source_of(fit), handles, data)


@styled
def plot_priors(model_or_fit: Any, *, ax: Axes | None = None) -> Axes:
    """Show the distances that the priors of a model expect.

    Per connection: the prior of the mean distance (filled), the prior predictive of a single pair
    (line), and the share of such pairs outside [0, 2], where no cosine distance can lie. Below are
    the prior of the first contrast and, of a fit, its posterior.

    Parameters
    ----------
    model_or_fit : str, path, ModelSpec, BiasFit or Run
        A model alone is shown for one protected word, a fit for the words of its table. A path is
        that of a model file, or the folder of a run.
    ax : matplotlib Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        If the model is unknown, or needs a column that the table lacks.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from matplotlib.figure import Figure
    >>> ax = bb.plot_priors("crossed", ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['associated', 'different', 'human', 'neutral', 'associated - different']
    """
    given = model_or_fit if model_or_fit in list_models() else opened(model_or_fit)
    fit = given if isinstance(given, BiasFit) else None
    spec = fit.spec if fit is not None else load_model(given)
    frame = _one_pair_each(spec) if fit is None else fit.table
    checks.columns(frame, ("connection",), f"model {spec.name}", "a model of distances")
    means = _overall_prior(spec, frame)
    predictive = predictive_of_pairs(spec, frame, seed=0)
    usual = usual_pairs(spec) if fit is None else frame
    contrasts = {} if usual is None else _overall_prior(spec, usual, contrasted=True)
    name, prior = next(iter(contrasts.items()), ("", np.empty(0)))  # none of one connection
    posterior = None
    if name and fit is not None:
        draws = fit.table_draws("contrasts", level="overall", estimand="population")
        posterior = draws.to_numpy()[..., 0].ravel()
    rows = [*means, *([name] if name else [])]
    possible = (0.0, 2.0) if spec.outcome == "distance" else None
    every = [*means.values(), *predictive.values(), *([prior] if name else [])]
    low, high = (-1.0, 3.0) if possible else _value_range(every, 0.01)
    grid = np.linspace(low, high, 401)
    ax = _ridge_axis(ax, rows, (low, high))
    size = min(style.points_per(ax, len(rows)) / 3.2, 8.0)
    for edges in ((low, possible[0]), (possible[1], high)) if possible else ():
        ax.axvspan(*edges, linewidth=0, zorder=0, **HATCHED)
    drawn: list[dict[str, Any]] = []

    def ridge(
        row: int, curve: np.ndarray, said: str, color: str, x: Any = grid, **look: Any
    ) -> None:
        drawn.append({"row": rows[row], "curve": said, "x": x, "density": curve})
        # Each curve has its own scale: a prior of the mean can be far narrower than that of a pair.
        up, foot = row + _FOOT - _TALL * curve / curve.max(), row + _FOOT
        if look:
            ax.fill_between(x, foot, up, color=color, label=f"_{said}", **look)
        else:
            ax.plot(x, up, color=color, linewidth=1.2, zorder=3, label=f"_{said}")

    soft = {"alpha": 0.4, "linewidth": 0, "zorder": 2}
    for row, of in enumerate(means):
        ridge(row, _smooth(means[of], grid), "prior of the mean", COLOR.get(of, FAINT), **soft)
        ridge(row, _smooth(predictive[of], grid), "prior predictive of a pair", INK)
        if possible:
            out = float(((predictive[of] < possible[0]) | (predictive[of] > possible[1])).mean())
            drawn[-1]["impossible"] = out
            style.write_aside(ax, row, f"{percent(out)} of pairs\nimpossible", size)
    if name:
        row, foot = len(means), len(means) + _FOOT
        ax.axhspan(row - 0.5, row + 0.6, facecolor="white", linewidth=0, zorder=0.5)
        look = {"linewidth": 0.8, "linestyle": style.DOTTED, "zorder": 1}
        ax.plot((0, 0), (row - 0.45, foot), color=INK, **look)
        ridge(row, _smooth(prior, grid), "prior of the difference", FAINT, **soft)
        text = f"prior sd {style.number(float(prior.std(ddof=1)), 2)}"
        if posterior is not None and fit is not None:
            fine = np.linspace(*_value_range([posterior], 0.0, 0.1), 201)
            look = {"linewidth": 1.2, "zorder": 3}
            ridge(row, density(posterior, fine), _POSTERIOR, forests.POPULATION, fine, **look)
            listed = fit.contrast_rows(level="overall", estimand="population").set_index("contrast")
            text += f"\nposterior sd {style.number(listed.at[name, 'sd'])}"
        style.write_aside(ax, row, text, size)
    ax.set_xlabel(forests.outcome_label(spec))
    handles = [
        style.patch_handle("prior of the mean distance", facecolor=FAINT, alpha=0.5),
        style.line_handle(INK, "prior predictive of a single pair"),
        *([style.patch_handle("impossible", **HATCHED)] if possible else []),
    ]
    if posterior is not None:
        handles.append(style.line_handle(forests.POPULATION, _POSTERIOR, linewidth=2))
    note = f"Model {spec.name}" if fit is None else forests.source_of(fit)
    data = pd.concat([pd.DataFrame(part) for part in drawn])
    title = "Before the data: prior against the possible distances"
    return style.finish([ax], title, note, handles, data)


def _one_pair_each(spec: ModelSpec) -> pd.DataFrame:
    """Return the smallest table with all four connections, for a model without data."""
    labels = {
        "protected_word": "word",
        "protected_class": "own",
        "attribute": [f"{name} attribute" for name in CONNECTIONS],
        "attribute_class": ["own", "other", "human", "neutral"],
        "attribute_kind": ["stereotype", "stereotype", "human", "neutral"],
        "connection": CONNECTIONS,
    }
    lacking = sorted(spec.label_columns().difference(labels))
    return pd.DataFrame(labels | dict.fromkeys(lacking, "any") | {spec.outcome: 1.0})


def _overall_prior(
    spec: ModelSpec, frame: pd.DataFrame, contrasted: bool = False
) -> dict[str, np.ndarray]:
    """Draw the overall means, as `BiasFit.summary` defines them, or contrasts from the prior."""
    drawn = prior_answers(spec, frame, contrasted, _PRIOR_DRAWS, seed=0)
    return {label: values for (level, _, label), values in drawn.items() if level == "overall"}


def _ridge_axis(ax: Axes | None, names: list[str], span: tuple[float, float]) -> Axes:
    """Set up an axis with one named ridge a row, the first on top."""
    (ax,) = style.axes_for(ax, 1.35 + 0.78 * len(names))
    ax.set_ylim(len(names) - 0.45, -0.55)
    ax.margins(x=0)
    style.show_x(ax, *span)
    style.name_rows(ax, range(len(names)), names, 8.5, lines=3)
    return ax


def bandwidth(values: np.ndarray) -> float:
    """Return Silverman's bandwidth, robust to heavy tails by the quartiles."""
    spread = [float(np.std(values)), float(np.subtract(*np.percentile(values, (75, 25)))) / 1.34]
    return 1.06 * min((s for s in spread if s > 0), default=0.01) * len(values) ** -0.2


def density(values: np.ndarray, grid: np.ndarray, width: float | None = None) -> np.ndarray:
    """Estimate a density with a Gaussian kernel on an even grid, from a fine histogram."""
    step = float(grid[1] - grid[0])
    width = max(bandwidth(values) if width is None else width, step) / step
    reach = math.ceil(4 * width)
    edges = grid[0] + step * (np.arange(-reach, len(grid) + reach + 1) - 0.5)
    counts, _ = np.histogram(values, edges)
    return gaussian_filter1d(counts / (len(values) * step), width)[reach:-reach]


def _smooth(values: np.ndarray, grid: np.ndarray) -> np.ndarray:
    return density(values, grid, 1.6 * bandwidth(values))


def _value_range(arrays: list[Any], tail: float, margin: float = 0.0) -> tuple[float, float]:
    """Return the span of all arrays, without a share ``tail`` of each at either end."""
    low = min(float(np.quantile(values, tail)) for values in arrays)
    high = max(float(np.quantile(values, 1 - tail)) for values in arrays)
    pad = margin * (high - low)
    return (low - pad, high + pad) if high > low else (low - 0.5, high + 0.5)
