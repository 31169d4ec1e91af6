"""The table of the shapes of vectors: as they are, and after each way to postprocess them."""

from __future__ import annotations

from bayesbias.columns.table import Cell, Column
from bayesbias.core.wording import number_of
from bayesbias.embeddings.shape import Cosines


def shape_columns(top: int) -> list[Column]:
    """Return the columns of shapes; a row is a name and a `VectorShape`."""
    carried = f"carried by {number_of(top, 'dimension')}"
    return [
        Column("vectors", lambda row: Cell(row[0])),
        Column("mean cosine", lambda row: _mean(row[1].words), True),
        Column(carried, lambda row: _share(row[1].words), True),
        Column("of neutral words", lambda row: _mean(row[1].neutral), True),
        Column(carried, lambda row: _share(row[1].neutral), True),
        Column("hubness", lambda row: Cell(f"{row[1].hubness:.2f}", True), True),
    ]


def _mean(cosines: Cosines | None) -> Cell:
    return (
        Cell("–", True)
        if cosines is None
        else Cell(f"{cosines.mean:.4f} ({cosines.se:.4f})", True, repr(cosines.mean))
    )


def _share(cosines: Cosines | None) -> Cell:
    if cosines is None or cosines.share_top is None:
        return Cell("–", True, screen="-")
    return Cell(f"{cosines.share_top:.0%}", True, repr(cosines.share_top))
