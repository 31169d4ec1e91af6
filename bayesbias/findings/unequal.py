"""A doubt where an overall difference lies outside those of all classes, since classes weigh otherwise in its two sides.

Overall each pair counts once. With lists of unequal length a class has another share of the associated pairs than of the
different ones, so that what sets the class apart from others on all attributes enters the difference (Simpson's paradox).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayesbias.core.digits import as_known, ends_as_known, error_of
from bayesbias.core.wording import as_percent, conjoined
from bayesbias.findings.parts import Doubt
from bayesbias.inference.scope import sure_ends
from bayesbias.inference.verdicts import Verdict, side

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["unequal_doubts", "unlike_all_classes"]

_ESTIMANDS = {"population": "on average over new words", "listed_words": "for the listed words"}
_UNEQUAL = (
    "lists are of unequal length, so that classes have other shares of its first side than of its second"
)
_LEAST = 0.1  # of the width of the overall interval: less than that no reader would see


def unequal_doubts(frame: pd.DataFrame, table: pd.DataFrame) -> list[Doubt]:
    """Return a doubt where the first contrast, overall, is below or above that of every class.

    Parameters
    ----------
    frame : DataFrame
        As `BiasFit.contrasts` returns it.
    table : DataFrame
        The pairs, as ``fit.table``.

    Returns
    -------
    list of Doubt
        One of the kind ``unequal_lists``, or none.

    Examples
    --------
    >>> import bayesbias as bb
    >>> fit = bb.fit(bb.distance_table("minilm-static", "religion"), seed=1, draws=200)
    >>> unequal_doubts(fit.contrasts(), fit.table)
    []
    """
    if not _weighed_otherwise(frame, table):
        return []
    for estimand, said in _ESTIMANDS.items():
        overall, classes = _rows(frame, estimand)
        if overall is None or not _outside(overall, classes):
            continue
        each = ", ".join(f"{c.name} {_quoted(c)}" for c in classes.itertuples())
        return [
            Doubt(
                "unequal_lists",
                f"{said} {overall.contrast} is {_quoted(overall)} overall ({as_percent(overall.prob)} HPDI), which is "
                f"{'below' if overall.mean < classes['mean'].min() else 'above'} that of every class: {each}; "
                f"{_on_one_side(overall.contrast, table) or _UNEQUAL}, and how near a class is to everything enters: "
                "read the classes",
                level="overall",
                contrast=overall.contrast,
            )
        ]
    return []


def unlike_all_classes(frame: pd.DataFrame, table: pd.DataFrame) -> str:
    """Say so where the first contrast, for new words, is clear overall and in no class; empty elsewhere."""
    overall, classes = _rows(frame, "population")
    if overall is None or not _weighed_otherwise(frame, table):
        return ""
    where = side(*sure_ends(overall))
    if where is Verdict.OPEN or not _outside(overall, classes):
        return ""
    if any(side(*sure_ends(row)) is where for row in classes.itertuples()):
        return ""
    other = (classes["mean"] >= 0).all() if where is Verdict.BELOW else (classes["mean"] <= 0).all()
    how = "goes that way" if other else "shows that by itself"
    why = _on_one_side(overall.contrast, table) or "lists are of unequal length"
    return f"No class {how}, as {why}: read the classes."


def _weighed_otherwise(frame: pd.DataFrame, table: pd.DataFrame) -> bool:
    """Say whether a class has another share of the pairs of the first side of a contrast than of those of the second."""
    import pandas as pd

    if not {"connection", "protected_class"} <= set(table.columns):
        return False
    first, second = frame["contrast"].iloc[0].split(" - ")
    pairs = pd.crosstab(table["connection"].astype(str), table["protected_class"].astype(str))
    shares = pairs.div(pairs.sum(axis=1), axis=0)
    return bool(
        {first, second} <= set(shares.index) and (shares.loc[first] - shares.loc[second]).abs().max() > 1e-9
    )


def _on_one_side(contrast: str, table: pd.DataFrame) -> str:
    """Name the classes that have pairs on one side of the contrast alone; all that sets them apart from others enters it."""
    sides = contrast.split(" - ")
    label, connection = table["protected_class"].astype(str), table["connection"].astype(str)
    first, second = (dict.fromkeys(label[connection == name]) for name in sides)
    alone = ([c for c in first if c not in second], [c for c in second if c not in first])
    said = [
        f"{conjoined(names)} {'has' if len(names) == 1 else 'have'} {name} pairs alone of the two"
        for name, names in zip(sides, alone, strict=True)
        if names
    ]
    return conjoined(said) if said else ""


def _rows(frame: pd.DataFrame, estimand: str) -> tuple[Any, pd.DataFrame]:
    """Return the first contrast overall, and by class; None where there are fewer than two classes."""
    of = frame[frame["estimand"] == estimand]
    overall = next(of[of["level"] == "overall"].itertuples(), None)
    if overall is None:
        return None, of
    classes = of[(of["level"] == "class") & (of["contrast"] == overall.contrast)]
    return (overall if len(classes) > 1 else None), classes


def _outside(overall: Any, classes: pd.DataFrame) -> bool:
    by = _LEAST * (overall.hpdi_high - overall.hpdi_low)
    errors = [error_of(row, "mean") for row in (overall, *classes.itertuples())]
    by = max(by, 2 * max((error for error in errors if error == error), default=0.0))
    return bool(overall.mean < classes["mean"].min() - by or overall.mean > classes["mean"].max() + by)


def _quoted(row: Any) -> str:
    return f"{as_known(row, 'mean', signed=True)} ({' to '.join(ends_as_known(row, signed=True))})"
