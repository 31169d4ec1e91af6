"""What a figure was drawn from, on the Axes that a `plot_*` function returns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def give_data(axes: Iterable[Axes], data: pd.DataFrame, title: str, note: str) -> None:
    """Put the numbers of a figure on its Axes as ``.data``, with the title and the line below it as ``.data.attrs``.

    Of several panels each has those of all.
    """
    frame = data.reset_index(drop=True)
    frame.attrs = {"title": title, "note": note}
    for ax in axes:
        holder: Any = ax
        holder.data = frame


def long(parts: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return one table of curves: the columns of each, of which those that are one value are repeated."""
    import pandas as pd

    return pd.concat([pd.DataFrame(part) for part in parts], ignore_index=True)
