"""Plots of responses.

Items as points by group, differences by item or template as a caterpillar, models side by side.
"""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from bayesbias.core.formatting import with_minus
from bayesbias.inference.view import PROB
from bayesbias.plots import forest as forests
from bayesbias.plots.style import COLOR, MARKER, styled

__all__ = ["plot_response_items", "plot_response_models", "plot_response_templates"]

_MOST = 30  # rows
_SCALES = {"probability": "probability", "outcome": "outcome"}


@styled
def plot_response_items(result: Any, *, prob: float = PROB, ax: Axes | None = None) -> Axes:
    """Show the mean of each group by item, for these words and prompts.

    Parameters
    ----------
    result : ResponsesResult
    prob : float in (0, 1), default 0.89
        Probability of the intervals.
    ax : matplotlib Axes, optional
        By default of a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import bayesbias as bb
    >>> scores = {
    ...     "group": ["a", "b"] * 8,
    ...     "item": [f"t{k // 2}" for k in range(16)],
    ...     "outcome": [
    ...         0.2,
    ...         0.5,
    ...         0.1,
    ...         0.4,
    ...         0.3,
    ...         0.5,
    ...         0.2,
    ...         0.6,
    ...         0.2,
    ...         0.3,
    ...         0.1,
    ...         0.5,
    ...         0.4,
    ...         0.5,
    ...         0.2,
    ...         0.5,
    ...     ],
    ... }
    >>> found = bb.studies.fit_responses(
    ...     bb.responses_table(scores), seed=1, draws=200, tune=300, chains=2
    ... )
    >>> ax = bb.plots.plot_response_items(found, ax=Figure().subplots())
    >>> len(ax.get_yticklabels())
    8
    """
    frame = result.items(prob)
    model = frame["model"].iloc[0]
    frame = frame[frame["model"] == model].rename(columns={"name": "key"})
    names = list(dict.fromkeys(frame["group"]))
    order = frame[frame["group"] == names[0]].sort_values("mean")["key"].tolist()[-_MOST:]
    looks = list(zip(COLOR.values(), MARKER.values(), strict=True))[: len(names)]
    series = []
    for place, (name, (color, marker)) in enumerate(zip(names, looks, strict=False)):
        rows = frame[(frame["group"] == name) & frame["key"].isin(order)]
        shift = 0.3 * (place - (len(looks) - 1) / 2)
        series.append(forests.Series(rows, color, marker, shift, label=f"_{name}", legend=name))
    return forests.forest(
        ax,
        {"": [(key, str(key)) for key in order]},
        series,
        zero=None,
        title="Each group by item",
        note=f"{forests.mean_and_interval(prob)}{f'; {model}' if model else ''}",
        xlabel="probability" if result.kind == "choice" else "mean",
        data=frame,
    )


@styled
def plot_response_templates(
    result: Any, *, prob: float = PROB, level: str | None = None, ax: Axes | None = None
) -> Axes:
    """Show the first difference between groups in each template or item, lowest first.

    Parameters
    ----------
    result : ResponsesResult
    prob : float in (0, 1), default 0.89
        Probability of the intervals.
    level : {"template", "item"}, optional
        By default templates, where there are several.
    ax : matplotlib Axes, optional
        By default of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    frame = _on_first_scale(result.contrasts(prob, "new_words"))
    levels = [own for own in ("template", "item") if (frame["level"] == own).any()]
    shown = level or (levels[0] if levels else "overall")
    first = frame.iloc[0]
    own = frame[
        (frame["level"] == shown)
        & (frame["contrast"] == first["contrast"])
        & (frame["model"] == first["model"])
    ]
    own = own.sort_values("mean", ascending=False).rename(columns={"name": "key"})
    own = own if len(own) <= _MOST else pd.concat([own.head(_MOST // 2), own.tail(_MOST // 2)])
    return forests.forest(
        ax,
        {"": [(key, str(key)) for key in own["key"]]},
        [forests.Series(own, forests.POPULATION, legend=result.estimands.get("new_words", "mean"))],
        rope=result.rope,
        title=f"{with_minus(first['contrast'])} by {shown}",
        note=forests.mean_and_interval(prob),
        xlabel=f"{with_minus(first['contrast'])}, {_SCALES[first['scale']]}",
        data=own,
    )


@styled
def plot_response_models(result: Any, *, prob: float = PROB, ax: Axes | None = None) -> Axes:
    """Show the differences between groups of all models side by side.

    Models are compared on the same items.

    Parameters
    ----------
    result : ResponsesResult
    prob : float in (0, 1), default 0.89
        Probability of the intervals.
    ax : matplotlib Axes, optional
        By default of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    frame = _on_first_scale(result.contrasts(prob, level="overall"))
    frame = frame.assign(key=frame["model"] + " " + frame["contrast"])
    groups: dict[str, list[tuple[Any, str]]] = {}
    for row in frame.drop_duplicates("key").itertuples():
        groups.setdefault(with_minus(str(row.contrast)), []).append(
            (row.key, with_minus(str(row.model)) or "model")
        )
    what = result.estimands
    new, these = (frame[frame["estimand"] == own] for own in ("population", "listed_words"))
    look: dict[str, Any] = {"size": 5.0, "hollow": True, "label": "_listed"}
    series = [
        forests.Series(new, forests.POPULATION, "o", -0.15, legend=what["population"]),
        forests.Series(
            these, forests.LISTED, "D", 0.15, legend=what.get("listed_words", "these"), **look
        ),
    ]
    return forests.forest(
        ax,
        groups,
        series,
        rope=result.rope,
        roomy=0.4,
        tight=0.2,
        title="Differences between groups",
        note=forests.mean_and_interval(prob),
        xlabel=f"difference, {_SCALES[frame['scale'].iloc[0]]}",
        data=frame,
    )


def _on_first_scale(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["scale"] != "log_odds"]
