"""Cells of a sweep held against each other: on the scale of single pairs, which all vectors share.

Never on cosine distance alone, which scatters more in one set of vectors than in another; it stands
beside.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from bayesbias.core import checks
from bayesbias.core.digits import as_known, ends_as_known, error_of
from bayesbias.core.formatting import as_percent, number_of, some
from bayesbias.inference.estimands import CONTRASTS
from bayesbias.inference.spreads import in_full
from bayesbias.inference.verdicts import LISTS_AGREE, disagreement, lists_agree, verdict

if TYPE_CHECKING:
    import pandas as pd

LABELS = ("embedding", "wordlist", "controls", "distances", "model", "seed")
ERRORS = tuple(
    f"mcse_{name}"
    for name in (
        "mean", "sd", "low", "high", "p_below_zero", "p_in_rope",
        *(f"probability_of_superiority{end}" for end in ("", "_low", "_high")),
    )
)  # fmt: skip
"""The Monte Carlo errors of the columns of a sweep."""
_KEY = ["cell", "name"]
_TRIED = 50  # pairs of cells, whose Monte Carlo errors are looked at one by one


def compared_cells(
    frame: pd.DataFrame, contrast: str | None, level: str, estimand: str
) -> pd.DataFrame:
    """Return one contrast of every cell that has it; see `SweepResult.compared`."""
    import pandas as pd

    # Tables of earlier versions have no Monte Carlo errors.
    frame = frame.reindex(
        columns=[*frame.columns, *(name for name in ERRORS if name not in frame.columns)]
    )
    raw = frame[frame["quantity"] == "contrast"]
    present = list(dict.fromkeys(raw["term"]))
    if contrast is None:
        usual = [f"{a} - {b}" for a, b in CONTRASTS]
        contrast = next((name for name in usual if name in present), present[0] if present else "")
    if present:
        checks.choice(contrast, present, "contrast of this sweep")
        checks.choice(level, list(dict.fromkeys(raw["level"])), "level of this sweep")
        checks.choice(estimand, list(dict.fromkeys(raw["estimand"])), "estimand of this sweep")
    chosen = (
        (frame["term"] == contrast) & (frame["level"] == level) & (frame["estimand"] == estimand)
    )
    chosen = chosen.fillna(False)
    raw = frame[chosen & (frame["quantity"] == "contrast")]
    standard = frame[chosen & (frame["quantity"] == "standardized")]
    ends = {"mean": "", "hpdi_low": "_low", "hpdi_high": "_high"}
    errors = {f"mcse_{name.removeprefix('hpdi_')}": end for name, end in ends.items()}
    superiority = [f"probability_of_superiority{end}" for end in ends.values()]
    superiority += [f"mcse_{name}" for name in superiority]
    left = raw[[*_KEY, *LABELS, "trusted", "prob", "p_below_zero", "mcse_p_below_zero"]].assign(
        contrast=contrast, level=level, estimand=estimand
    )
    left = left.assign(**{f"distance{end}": raw[name] for name, end in ends.items()})
    left = left.assign(**{f"mcse_distance{end}": raw[name] for name, end in errors.items()})
    right = standard[[*_KEY, "unit", "p_in_rope", "rope", *superiority]]
    right = right.assign(**{f"standardized{end}": standard[name] for name, end in ends.items()})
    right = right.assign(
        **{f"mcse_standardized{end}": standard[name] for name, end in errors.items()}
    )
    out = left.merge(right, on=_KEY, how="left").sort_values(
        "standardized", kind="stable", na_position="last", ignore_index=True
    )
    out["verdict"] = pd.array([_verdict(row) for row in out.itertuples()], dtype="string")
    order = [
        "cell", *LABELS, "trusted", "contrast", "level", "name", "estimand", "unit",
        *(f"standardized{end}" for end in ends.values()), "p_in_rope", "rope", "verdict", *superiority,
        *(f"distance{end}" for end in ends.values()), "p_below_zero", "prob",
    ]  # fmt: skip
    return out[[*order, *(name for name in out if name.startswith("mcse_") and name not in order)]]


def _verdict(row: Any) -> str | None:
    """Say what the interval means; nothing is concluded from a cell that is not to be trusted."""
    import pandas as pd

    if pd.isna(row.standardized) or pd.isna(row.trusted) or not row.trusted:
        return None
    errors = [
        0.0 if pd.isna(error) else error
        for error in (row.mcse_standardized_low, row.mcse_standardized_high)
    ]
    return verdict(row.standardized_low, row.standardized_high, row.rope, errors)


def telling_labels(cells: pd.DataFrame) -> dict[str, list[str]]:
    """Return the labels that tell the cells apart, each shortened to the last part of its path where that still does.

    A label that is the same everywhere tells nothing; one cell alone shows all it has.
    """
    import pandas as pd

    # A cell has either an embedding or a table, so that having none tells as well; of the rest it does not.
    own = ("embedding", "distances")
    shown = [
        name
        for name in LABELS
        if cells[name].nunique(dropna=name not in own) > 1 or len(cells) == 1
    ]
    return {
        name: short_names(["" if pd.isna(value) else str(value) for value in cells[name]])
        for name in shown
        if cells[name].notna().any()
    }


def short_names(texts: list[str]) -> list[str]:
    """Return the last part of each path, where that leaves different paths different."""
    last = {text: re.split(r"[/\\]", text.rstrip("/\\"))[-1] for text in texts}
    taken = Counter(last.values())
    return [last[text] if taken[last[text]] == 1 else text for text in texts]


def cell_names(cells: pd.DataFrame) -> list[str]:
    """Name each cell by the labels that tell it from the others."""
    labels = telling_labels(cells)
    return [", ".join(filter(None, of)) for of in zip(*labels.values(), strict=True)]


def unit_of(compared: pd.DataFrame) -> str:
    """Name the unit of the compared cells, as a sentence does."""
    units = list(dict.fromkeys(compared["unit"].dropna()))
    return in_full(units[0]) if len(units) == 1 else "standard deviations of pairs"


def of_another_unit(compared: pd.DataFrame) -> set[str]:
    """Return the cells that are not measured in standard deviations of what most are, and cannot be compared with those."""
    units = compared["unit"].dropna()
    return (
        set(compared.loc[units.index[units != units.mode().iloc[0]], "cell"])
        if len(units)
        else set()
    )


def in_words(compared: pd.DataFrame, frame: pd.DataFrame) -> list[str]:
    """Say what the cells say together: how many of each verdict, whether the two farthest apart differ, and what means hide.

    Parameters
    ----------
    compared : DataFrame
        As `compared_cells` returns it.
    frame : DataFrame
        All of the sweep, whose classes may disagree.
    """
    import pandas as pd

    known = compared[compared["verdict"].notna()]
    if not len(known):
        return [
            "No cell has a contrast in standard deviations that is to be trusted: there is nothing to compare."
        ]
    contrast = str(known["contrast"].iloc[0])
    each = [
        f"{name} in {count}" for name, count in known["verdict"].value_counts(sort=False).items()
    ]
    out = [
        f"{contrast} in {number_of(len(known), 'cell')}, judged in {unit_of(known)} for new words like these; the first is "
        f"{'; '.join(each)}."
    ]
    if known["unit"].nunique() > 1:
        units = ", others in ".join(map(in_full, known["unit"].unique()))
        out.append(
            f"These are not all on one scale: some cells are measured in {units}. "
            "Compare those of one unit, or give all lists neutral controls."
        )
    if len(known) > 2:
        prob = float(known["prob"].iloc[0])
        chance = len(known) * (1 - prob)
        out.append(
            f"Each cell is judged by itself: of {len(known)} intervals of {as_percent(prob)} some {max(1, round(chance))} would "
            "leave zero out where there is nothing, and the lowest and the highest are picked from all."
        )
    names = pd.Series(cell_names(known), index=known.index)
    for unit, cells in known.groupby("unit", sort=False):
        if len(cells) > 1:
            lead = f"Of those in {in_full(str(unit))}, the" if len(cells) < len(known) else "The"
            out.append(_farthest(cells, names, lead))
    return [
        *out,
        *_disagreements(known, frame),
        *_left_out(known, frame),
        *_without(contrast, compared, frame),
    ]


def cells_without(compared: pd.DataFrame, frame: pd.DataFrame) -> list[str]:
    """Return the keys of the fitted cells that lack a contrast, such as those of a list of one class."""
    fitted = frame.loc[frame["status"] == "ok", "cell"].drop_duplicates()
    return fitted[~fitted.isin(compared["cell"])].tolist()


def _without(contrast: str, compared: pd.DataFrame, frame: pd.DataFrame) -> list[str]:
    """Name the fitted cells that lack the contrast: their pairs have not both connections."""
    cells = frame.drop_duplicates("cell")
    lacking = set(cells_without(compared, frame))
    said = [
        name or key
        for key, name in zip(cells["cell"], cell_names(cells), strict=True)
        if key in lacking
    ]
    if not said:
        return []
    first, second = contrast.split(" - ")
    return [
        f"{number_of(len(said), 'cell')} {'has' if len(said) == 1 else 'have'} no such contrast, since no pair is {first}, or "
        f"none {second}, as in a list of one class: {some(said, 4)}."
    ]


def _left_out(known: pd.DataFrame, frame: pd.DataFrame) -> list[str]:
    """Say which cells lack classes that others have: their means are of other lists."""
    of_cell = frame.dropna(subset="classes_left_out").groupby("cell")["classes_left_out"].first()
    said = [
        f"{name} ({of_cell[cell]})" if name else of_cell[cell]
        for cell, name in zip(known["cell"], cell_names(known), strict=True)
        if cell in of_cell
    ]
    if not said:
        return []
    return [
        f"Classes are left out, since no word or no stereotype of theirs was found, in {number_of(len(said), 'cell')}: "
        f"{some(said, 4)}."
    ]


def _farthest(cells: pd.DataFrame, names: pd.Series, lead: str) -> str:
    """Name the two cells of one unit that are farthest apart, and say whether they can be told apart."""
    ends = [
        f"{names[at]} ({as_known(row, 'standardized', 2, signed=True)}, {as_percent(row['prob'])} HPDI "
        f"{' to '.join(ends_as_known(row, 'standardized_low', 'standardized_high', 2, signed=True))}; "
        f"{as_known(row, 'distance', signed=True)} in cosine distance)"
        for at, row in ((at, cells.loc[at]) for at in (cells.index[0], cells.index[-1]))
    ]
    if _apart(cells.iloc[0], cells.iloc[-1]):
        return f"{lead} lowest is {ends[0]}, the highest {ends[1]}."
    return (
        f"{lead} two farthest apart cannot be told apart, since the interval of their difference holds zero: {ends[0]} and "
        f"{ends[1]}.{_surest(cells, names)}"
    )


def _surest(cells: pd.DataFrame, names: pd.Series) -> str:
    """Name the two cells whose difference is surest, where others than the farthest can be told apart; empty elsewhere."""
    import numpy as np

    mean, low, high = (
        cells[name].to_numpy(dtype=float)
        for name in ("standardized", "standardized_low", "standardized_high")
    )
    # Rows are the lower of the two, as in `_apart`, which has the last word.
    margin = mean[None, :] - mean[:, None] - np.hypot((high - mean)[:, None], (mean - low)[None, :])
    for at in np.argsort(-margin, axis=None)[:_TRIED]:
        first, second = np.unravel_index(at, margin.shape)
        if margin[first, second] > 0 and _apart(cells.iloc[int(first)], cells.iloc[int(second)]):
            below, above = names[cells.index[int(first)]], names[cells.index[int(second)]]
            return f" Others can, the surest of them {below}, which is lower, and {above}."
    return ""


def _disagreements(known: pd.DataFrame, frame: pd.DataFrame) -> list[str]:
    """Say so where the mean over the classes of a cell hides that they clearly point different ways."""
    import pandas as pd

    of = {"quantity": "contrast", "term": known["contrast"].iloc[0]}
    own = frame[(frame[list(of)] == pd.Series(of)).fillna(False).all(axis=1)]
    of_cell: dict[Any, str] = {}
    for estimand, lead in (("population", ""), ("listed_words", "of the listed words: ")):
        for cell, rows in own[own["estimand"] == estimand].groupby("cell", sort=False):
            by_level = {level: rows[rows["level"] == level] for level in ("class", "attribute_set")}
            if (how := disagreement(by_level["class"])) and cell not in of_cell:
                why = f"; {LISTS_AGREE}" if lists_agree(by_level["attribute_set"]) else ""
                of_cell[cell] = f"{lead}{how}{why}"
    said = [
        f"{name} ({of_cell[cell]})" if name else of_cell[cell]
        for cell, name in zip(known["cell"], cell_names(known), strict=True)
        if of_cell.get(cell)
    ]
    if not said:
        return []
    return [
        f"In {number_of(len(said), 'cell')} the classes disagree, which the mean over them hides: {some(said, 4)}."
    ]


def _apart(low: Any, high: Any) -> bool:
    """Say whether the difference of two cells' standardized contrasts is above zero, beyond twice its Monte Carlo error.

    From their intervals, for two results that know nothing of each other: the lower end of the
    difference is d - sqrt((m2 - l2)^2 + (u1 - m1)^2) (Zou & Donner 2008). Cells that share words or
    vectors mostly err the same way, so that this is cautious of them.
    """
    ends = [
        (low, "standardized", "standardized_high"),
        (high, "standardized", "standardized_low"),
    ]
    half = math.hypot(*(float(row[end]) - float(row[mean]) for row, mean, end in ends))
    errors = [error_of(row, name) for row, *names in ends for name in names]
    error = math.hypot(*(each for each in errors if each == each))
    return float(high["standardized"]) - float(low["standardized"]) - half > 2 * error
