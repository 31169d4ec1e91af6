"""Responses: items as points by group, differences by item or template as a caterpillar, models side by side."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from bayesbias.core.formatting import as_percent, with_minus
from bayesbias.inference.view import PROB
from bayesbias.plots import forest as forests, style
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
    >>> scores = {"group": ["a", "b"] * 8, "item": [f"t{k // 2}" for k in range(16)],
    ...     "outcome": [0.2, 0.5, 0.1, 0.4, 0.3, 0.5, 0.2, 0.6, 0.2, 0.3, 0.1, 0.5, 0.4, 0.5, 0.2, 0.5]}
    >>> found = bb.studies.fit_responses(bb.responses_table(scores), seed=1, draws=200, tune=300, chains=2)
    >>> ax = bb.plots.plot_response_items(found, ax=Figure().subplots())
    >>> len(ax.get_yticklabels())
    8
    """
    frame = result.items(prob)
    model = frame["model"].iloc[0]
    frame = frame[frame["model"] == model].rename(columns={"name": "key"})
    names = list(dict.fromkeys(frame["group"]))
    order = frame[frame["group"] == names[0]].sort_values("mean")["key"].tolist()[-_MOST:]
    axes = style.axes_for(ax, style.rows_height(len(order), 0.34, 0.17), style.WIDTH, 1)
    looks = list(zip(COLOR.values(), MARKER.values(), strict=True))
    series = []
    for place, name in enumerate(names[: len(looks)]):
        color, marker = looks[place]
        shift = 0.3 * (place - (min(len(names), len(looks)) - 1) / 2)
        rows = frame[(frame["group"] == name) & frame["key"].isin(order)]
        series.append(forests.Series(rows, color, marker, shift, label=f"_{name}"))
    spans = frame["hpdi_low"].min(), frame["hpdi_high"].max()
    forests.forest(axes[0], {"": [(key, str(key)) for key in order]}, series, span=spans, zero=None)
    axes[0].set_xlabel("probability" if result.kind == "choice" else "mean")
    handles = [each.handle(name) for each, name in zip(series, names, strict=False)]
    note = f"Posterior mean and {as_percent(prob)} HPDI{f'; {model}' if model else ''}"
    return style.finish(axes, "Each group by item", note, handles, frame)


@styled
def plot_response_templates(
    result: Any, *, prob: float = PROB, level: str | None = None, ax: Axes | None = None
) -> Axes:
    """Show the first difference between groups in each template or item, from the lowest to the highest.

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
    axes = style.axes_for(ax, style.rows_height(len(own), 0.34, 0.17), style.WIDTH, 1)
    series = [forests.Series(own, forests.POPULATION)]
    forests.forest(axes[0], {"": [(key, str(key)) for key in own["key"]]}, series, rope=result.rope)
    axes[0].set_xlabel(f"{with_minus(first['contrast'])}, {_SCALES[first['scale']]}")
    note = f"New words like these; posterior mean and {as_percent(prob)} HPDI; band: ROPE ±{result.rope:.2g}"
    return style.finish(
        axes,
        f"{with_minus(first['contrast'])} by {shown}",
        note,
        [series[0].handle("new words")],
        own,
    )


@styled
def plot_response_models(result: Any, *, prob: float = PROB, ax: Axes | None = None) -> Axes:
    """Show the differences between groups of all models side by side, and models compared on the same items.

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
    rows = sum(map(len, groups.values()))
    axes = style.axes_for(
        ax, style.rows_height(rows + forests.HEAD * len(groups), 0.4, 0.2), style.WIDTH, 1
    )
    new, these = (
        frame[frame["estimand"] == estimand] for estimand in ("population", "listed_words")
    )
    series = [
        forests.Series(new, forests.POPULATION, "o", -0.15, label="_population"),
        forests.Series(these, forests.LISTED, "D", 0.15, size=5.0, hollow=True, label="_listed"),
    ]
    forests.forest(axes[0], groups, series, rope=result.rope)
    axes[0].set_xlabel(f"difference, {_SCALES[frame['scale'].iloc[0]]}")
    handles = [
        series[0].handle("new words and prompts"),
        series[1].handle("these words and prompts"),
    ]
    note = f"Posterior mean and {as_percent(prob)} HPDI; band: ROPE ±{result.rope:.2g}"
    return style.finish(axes, "Differences between groups", note, handles, frame)


def _on_first_scale(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["scale"] != "log_odds"]
