"""The page on a sweep: its cells against each other, and what has to be known of each."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from bayesbias.columns.sweeps import cell_columns, compared_columns
from bayesbias.columns.table import Table, page_table
from bayesbias.core.digits import number_known
from bayesbias.core.errors import InputError
from bayesbias.core.wording import as_percent, conjoined, ended, number_of, with_minus
from bayesbias.inference.estimands import STANDARD_ROPE
from bayesbias.plots.sweeps import plates
from bayesbias.report.again import called, reproduction
from bayesbias.report.parts import Again, Answer, Box, Data, Labelled, Page, Part, labelled
from bayesbias.report.pictures import Gallery
from bayesbias.sweeps.comparing import (
    cell_names,
    cells_without,
    in_words,
    of_another_unit,
    telling_labels,
    unit_of,
)
from bayesbias.sweeps.result import SweepResult

if TYPE_CHECKING:
    import pandas as pd


def of_sweep(result: SweepResult, prob: float, command: Sequence[str] | None = None) -> Page:
    """Return the page on a sweep."""
    made_with = [float(value) for value in result.frame["prob"].dropna().unique()]
    if made_with and prob not in made_with:
        raise InputError(
            "the intervals of a sweep are made with it",
            where="prob",
            found=prob,
            valid=str(made_with[0]),
            hint="prob in [settings] of the plan",
        )
    frame = result.compared()
    return Page(
        kicker="One contrast over many embeddings, word lists and models",
        title=f"Sweep {result.out.name}",
        question="How near do associated words lie in each, measured so that one can be compared with another?",
        answer=Answer(
            in_words(frame, result.frame),
            warnings=_warnings(result),
            covariates=_covariates(result, frame),
            doubts=_doubts(result),
        ),
        data=Data(
            [
                f"{number_of(len(result.cells), 'cell')}, each one fit. Words that an embedding lacks make no pair; a cell "
                "that lacks words answers for those it has."
            ],
            [_cells_table(result, frame)],
        ),
        sections=_sections(result, frame, prob),
        models=[],
        without_model=f"Every cell was fitted with the model that is named in its row: {conjoined(_models(result))}. "
        "bayesbias show NAME prints a shipped one.",
        trust=Part(sentences=_trust(result)),
        again=_again(command),
        glossary=_glossary(frame, prob),
    )


def _models(result: SweepResult) -> list[str]:
    return list(dict.fromkeys(map(str, result.cells["model"])))


def _named(cells: pd.DataFrame, chosen: Any) -> list[tuple[str, Any]]:
    rows = zip(cell_names(cells), cells.itertuples(), chosen.fillna(False), strict=True)
    return [(name, row) for name, row, mine in rows if mine]


def _warnings(result: SweepResult) -> list[Box]:
    cells = result.cells
    doubtful = _named(cells, ~cells["trusted"].fillna(True))
    failed = _named(cells, cells["status"] == "failed")
    boxes = []
    if doubtful:
        boxes.append(
            Box("Not to be trusted yet", [f"{name}: {ended(row.problems)}" for name, row in doubtful])
        )
    if failed:
        boxes.append(Box("Not fitted", [f"{name}: {ended(row.error)}" for name, row in failed]))
    return boxes


def _doubts(result: SweepResult) -> list[Box]:
    cells = result.cells
    doubts: dict[str, list[str]] = {}
    for name, row in _named(cells, cells["look_again"].notna()):
        doubts.setdefault(str(row.look_again), []).append(name)
    if not doubts:
        return []
    return [
        Box("Look again before you rely on it", [f"{'; '.join(of)}: {text}." for text, of in doubts.items()])
    ]


def _covariates(result: SweepResult, frame: pd.DataFrame) -> list[Labelled]:
    cells = result.cells
    covariates = [
        Labelled("cells", f"{len(cells):,}"),
        Labelled("fitted", f"{(cells['status'] == 'ok').sum():,}"),
    ]
    known = frame[frame["verdict"].notna()]
    known = known[~known["cell"].isin(of_another_unit(known))]  # what cannot be compared spans no range
    if not len(known):
        return covariates
    shown = [number_known(known.iloc[at], "standardized", 2, signed=True) for at in (0, -1)]
    label = f"{with_minus(known['contrast'].iloc[0])}, in {unit_of(known)}"
    return [Labelled(label, f"{shown[0]} to {shown[1]}" if len(known) > 1 else shown[0]), *covariates]


def _with_labels(frame: pd.DataFrame) -> tuple[dict[str, list[str]], list[Any]]:
    """Return the labels that tell rows apart, and the rows with them; what is missing is None."""
    labels = telling_labels(frame)
    rows = [
        SimpleNamespace(**record, labels={name: of[at] for name, of in labels.items()})
        for at, record in enumerate(frame.astype(object).where(frame.notna(), None).to_dict("records"))
    ]
    return labels, rows


def _cells_table(result: SweepResult, frame: pd.DataFrame) -> Table:
    cells = result.cells
    lacking = set(cells_without(frame, result.frame)) if len(frame) else set()
    again, left = cells["look_again"].notna(), cells["classes_left_out"].fillna("")
    notes = [
        "; ".join(
            [
                *(["look again"] if doubted else []),
                *([f"without the classes {classes}"] if classes else []),
                *([f"has no {with_minus(str(frame['contrast'].iloc[0]))}"] if cell in lacking else []),
            ]
        )
        for cell, doubted, classes in zip(cells["cell"], again, left, strict=True)
    ]
    labels, rows = _with_labels(cells.assign(note=notes))
    return page_table("t-cells", "The cells", cell_columns(labels), rows)


def _sections(result: SweepResult, frame: pd.DataFrame, prob: float) -> list[Part]:
    if not len(frame):
        return []
    gallery = Gallery(plates(result))
    lead = str(frame["contrast"].iloc[0])
    present = result.frame.loc[result.frame["quantity"] == "contrast", "term"]
    folded = [
        Part(with_minus(name), tables=[_compared_table(f"t-compared-{at}", result.compared(name), prob)])
        for at, name in enumerate(dict.fromkeys(present))
        if name != lead
    ]
    if (result.frame["estimand"] == "listed_words").any():
        own = result.compared(lead, estimand="listed_words")
        these = Part("For these words alone", tables=[_compared_table("t-compared-these", own, prob)])
        folded.insert(0, these)
    table = _compared_table("t-compared", frame, prob)
    return [
        Part(
            f"{with_minus(lead)} in every cell", figures=gallery.take("sweep"), tables=[table], folded=folded
        )
    ]


def _compared_table(id_: str, frame: pd.DataFrame, prob: float) -> Table:
    labels, rows = _with_labels(frame)
    units = frame["unit"].nunique()
    caption = f"{with_minus(frame['contrast'].iloc[0])}, for {_HOLDS[frame['estimand'].iloc[0]]}, in {unit_of(frame)}"
    note = (
        "Sorted by standard deviations; cosine distances of one set of vectors cannot be compared with those of "
        "another."
    )
    return page_table(id_, caption, compared_columns(labels, prob, units), rows, note)


_HOLDS = {"population": "new words like these", "listed_words": "these words alone"}


def _trust(result: SweepResult) -> list[str]:
    fitted = result.cells[result.cells["status"] == "ok"]
    doubtful = int((~fitted["trusted"].fillna(True)).sum())
    if doubtful:
        are = "is" if doubtful == 1 else "are"
        return [
            f"Of {number_of(len(fitted), 'fitted cell')} {doubtful} {are} not to be trusted yet; the reasons stand above."
        ]
    if not len(fitted):
        return ["No cell was fitted."]
    return [
        f"The chains of {'every cell' if len(fitted) > 1 else 'the cell'} agree: R-hat at most "
        f"{fitted['max_r_hat'].max():.3f}, at least {fitted['min_ess_bulk'].min():.0f} effective draws.",
        "What single cells are doubted for stands above; a page on one cell is made of its own fit "
        "(bayesbias fit with its fit_seed, or keep_fits in the plan).",
    ]


def _again(command: Sequence[str] | None) -> Again:
    lines = [called("run_sweep", "plan.toml", "sweep-out")]
    notes = [
        "Every cell has a seed of its own, fit_seed in results.csv, made from that of the plan and its labels."
    ]
    return reproduction(lines, command, None, {}, {}, notes)


def _glossary(frame: pd.DataFrame, prob: float) -> list[Labelled]:
    rope = frame["rope"].dropna()
    entries = {
        "Standard deviations": "A difference of mean cosine distances over the standard deviation of single neutral pairs "
        "in the same vectors (without neutral controls, of the pairs that are compared). Distances scatter more in one set "
        "of vectors than in another, so that the same cosine distance is much here and little there; this scale travels.",
        "Superiority": "The probability that a random pair of the first connection is nearer than a random pair of the "
        "second; 0.5 is chance.",
        f"{as_percent(prob)} HPDI": f"The narrowest interval that holds the value with a probability of "
        f"{as_percent(prob)}, given the data "
        "and the model.",
    }
    if len(rope):
        half = float(rope.iloc[0])
        convention = ": half of what is by convention called a small effect" if half == STANDARD_ROPE else ""
        entries[f"ROPE, ±{half:g}"] = (
            f"The region of practical equivalence, in standard deviations{convention}. Nearer or farther: the interval leaves "
            "it; perhaps by little: it excludes zero alone; practically equal: inside it; else unclear."
        )
    return labelled(entries)
