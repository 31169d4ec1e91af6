"""What frequency may have to do with a fit of distances, where it was asked: one sentence, and that conditional."""

from __future__ import annotations

from bayesbias.core.digits import as_known, ends_as_known
from bayesbias.core.wording import as_percent, conjoined, ended, number_of
from bayesbias.findings.parts import Doubt
from bayesbias.inference.estimands import ROPE
from bayesbias.inference.posterior import BiasFit
from bayesbias.studies.frequency import SIDES, Crossing, frequency_of
from bayesbias.tables.coverage import loss_of, words_of_groups

__all__ = ["frequency_doubts", "frequency_notes", "frequency_sentences"]


def frequency_notes(fit: BiasFit) -> list[str]:
    """Say of which lists too few words have a count to stand for them in the comparison at equal frequency."""
    frequency = frequency_of(fit)
    if frequency is None or not frequency.missing:
        return []
    few = []
    for side, (word, group) in SIDES.items():
        if group not in fit.table.columns:
            continue
        counted = frequency.words.loc[frequency.words["side"] == side, "word"]
        rows = fit.table[fit.table[word].astype(str).isin(counted)]
        left = words_of_groups(rows, group, word)
        for name, there in words_of_groups(fit.table, group, word).items():
            if loss := loss_of(side, name, there, left.get(name, 0)):
                few.append(loss)
    if not few:
        return []
    lists = conjoined([f"{loss.found} of {loss.listed} {loss.noun}" for loss in few])
    silent = [loss.name for loss in few if loss.left_out and loss.side == "attribute"]
    if silent:
        lists += f" ({conjoined(silent)} {'is' if len(silent) == 1 else 'are'} left out there)"
    return [
        f'the comparison at equal frequency is of words with a count alone, and few have one: {lists}; "as it is" there '
        "is of these words, too"
    ]


_BECOMES = {
    Crossing.LOST: ("begins to hold zero", "begin to hold zero"),
    Crossing.WON: ("ceases to hold zero", "cease to hold zero"),
    Crossing.TURNED: ("lies on the other side of zero", "lie on the other side of zero"),
    Crossing.UNKNOWN: (
        "has an end too near to zero for its Monte Carlo error to tell",
        "have an end too near to zero for its Monte Carlo error to tell",
    ),
}


def frequency_sentences(fit: BiasFit) -> list[str]:
    """Say which intervals of the first contrast begin or cease to hold zero at equal frequency, or that none does.

    Of models that have not converged it is said that nothing is concluded.
    """
    frequency = frequency_of(fit)
    if frequency is None:
        return []
    if frequency.problems:
        return [
            f"At equal frequency ({frequency.source}) nothing is concluded: {ended(frequency.problems[0])}"
        ]
    contrast, crossings = frequency.contrasts["contrast"].iloc[0], frequency.crossings()
    changed = [
        f"{'that' if len(rows) == 1 else 'those'} of {conjoined([_row_called(level, name) for level, name in rows])} "
        f"{_BECOMES[kind][len(rows) > 1]}"
        for kind, rows in crossings.items()
        if kind in _BECOMES
    ]
    kept = {*crossings} <= {Crossing.KEPT, Crossing.UNKNOWN}
    n = sum(map(len, crossings.values()))
    of = f"At equal frequency ({frequency.source}), of {number_of(n, 'interval')} of {contrast}"
    none = ["none begins or ceases to hold zero"] if kept else []
    return [f"{of}, overall and by class and list, {conjoined([*none, *changed])}."]


def _row_called(level: str, name: str) -> str:
    return {"class": f"the class {name}", "stereotype": f"the list {name}"}.get(level, "all words")


def frequency_doubts(fit: BiasFit, rope: float = ROPE) -> list[Doubt]:
    """Return a doubt where a contrast moves by more than its region of practical equivalence at equal frequency.

    Of several that do it names that of the headline, or else the one that moves farthest. Nothing is said of models that
    have not converged, which the page shows as such.
    """
    frequency = frequency_of(fit)
    if frequency is None or frequency.problems:
        return []
    moved = frequency.moved(rope)
    if moved.empty:
        return []
    lead = frequency.contrasts["contrast"].iloc[0]
    own = moved[(moved["level"] == "overall") & (moved["contrast"] == lead)]
    row = (own if len(own) else moved).iloc[0]
    where = {"overall": "", "class": f" of {row['name']}", "stereotype": f" of the list {row['name']}"}
    low, high = ends_as_known(row, "with_low", "with_high", signed=True)
    more = len(moved) - 1
    others = (
        f"; {number_of(more, 'other contrast')} {'moves' if more == 1 else 'move'} by more than {rope:g}, too"
    )
    there, here = (as_known(row, field, signed=True) for field in ("with_mean", "without_mean"))
    text = (
        f"at equal frequency ({frequency.source}) {row['contrast']}{where[row['level']]} is {there} "
        f"({as_percent(frequency.prob)} HPDI {low} to {high}) and not {here}: if "
        "frequency is a nuisance here, so much of it is that of frequent and rare words, and if it is itself the social covariate, "
        f"nothing is to be taken away{others if more else ''}"
    )
    overall = row["level"] == "overall"
    return [
        Doubt(
            "frequency", text, level=row["level"], contrast=row["contrast"], group=None if overall else row["name"]
        )
    ]  # fmt: skip
