"""The command ``bayesbias sweep``."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import bayesbias
from bayesbias.cli import options, screen
from bayesbias.core.digits import as_known, ends_as_known
from bayesbias.core.files import records
from bayesbias.core.wording import as_percent, conjoined, number_of

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.sweeps.result import SweepResult

_SHOWN = 40
# What gives way where the terminal is narrow, step by step: how many characters names are cut down to, and what is left
# to the files of results. Where that is not enough, each cell is a paragraph, with everything in it.
_STEPS: tuple[tuple[int, tuple[str, ...]], ...] = (
    (16, ()),
    (16, ("cosine",)),
    (16, ("cosine", "sup.")),
    (10, ("cosine", "sup.")),
)
_SHORT_FOR = {"sup.": "superiority", "cosine": "in cosine distance"}
_SAID = "the first is"  # a column of the table
_NOTE = 24  # characters of it in one line of a terminal


@click.command()
@click.argument("plan", type=options.Source(), metavar="PLAN.toml")
@options.folder("Write cells and results here.", required=True)
@options.figure_style
@options.spreadsheet_safe
@options.hands()
@click.option(
    "--resume", is_flag=True, help="Go on with the sweep in DIR; failed and changed cells are fitted."
)
@options.as_json
def sweep(
    plan: Path,
    out: Path,
    spreadsheet_safe: bool,
    workers: int | None,
    dask: str | None,
    resume: bool,
    as_json: bool,
) -> None:
    """Fit every embedding, word list and model of PLAN.toml.

    \b
    schema = 1
    embeddings = ["minilm-static", "vectors/glove.txt"]
    wordlists = ["religion", "gender"]
    controls = ["2022", "none"]       # optional; each list's own by default
    distances = ["tables/mine.csv"]   # optional: tables in place of, or beside, the above
    models = ["default"]              # optional
    [settings]                        # optional; these are the defaults
    draws = 1000
    tune = 1000
    chains = 4
    seed = 0                          # or a list: each cell once for each
    prob = 0.89
    rope = 0.02                       # in cosine distance
    standard_rope = 0.1               # in standard deviations
    keep_fits = false                 # true: also save every fit as netCDF
    repeats = "once"                  # or "keep": repeated rows of a table
    invalid_utf8 = "error"            # or "skip"
    allow_pickle = false              # true runs code in the files

    Paths are relative to the plan. Every cell is fitted with a fit_seed of its own, made from the seed and the
    names in the plan; it is in the results, and `fit --seed` with it gives the same numbers. DIR receives
    cells/, results.csv, results.parquet, compared.csv, timing.csv and figures/. Cells are compared in standard
    deviations of single neutral pairs, since cosine distances scatter more in one set of vectors than in another;
    `bayesbias report DIR` makes a page of it. A cell that cannot be fitted is a row with its error
    beside the others.

    \b
    Exit codes: 0 all cells were fitted; 1 the results were written, but some cells failed;
    2 the plan or DIR cannot be used, and nothing was fitted.
    """  # noqa: D301 - click's mark for a paragraph to leave as it is
    from bayesbias.sweeps.sweeping import run_sweep

    started = time.perf_counter()
    if resume and not (out / "sweep.json").is_file():
        screen.say(f"{out} holds no sweep yet: starting anew", err=True)
    try:
        result = run_sweep(
            plan, out, workers=workers, dask=dask, resume=resume, progress=False if as_json else None
        )
    except KeyboardInterrupt:
        screen.say("stopped; finished cells are kept, and --resume goes on with the rest", err=True)
        raise
    files = bayesbias.save_run(result, out, command=options.given(), spreadsheet_safe=spreadsheet_safe)
    failures = result.failures
    if as_json:
        labels = ["cell", "embedding", "wordlist", "controls", "distances", "model", "seed"]
        payload = {
            "cells": len(result.cells),
            "failed": len(failures),
            "reused": result.reused,
            "of_other_plans": result.others,
            "damaged": result.damaged,
            "unverified": result.unverified,
            "not_to_be_trusted": records(_doubtful(result)[[*labels, "problems"]]),
            "look_again": records(
                result.cells.loc[result.cells["look_again"].notna(), [*labels, "look_again"]]
            ),
            "failures": records(failures[[*labels, "error"]]),
            "compared": records(result.compared()),
            "results": [str(out / "results.csv"), str(out / "results.parquet")],
            "written": str(out),
            "timing": {"total_s": round(time.perf_counter() - started, 4)},
        }
        screen.answer("sweep", payload)
    else:
        _print_sweep(result)
        screen.written(files, run=out)
    sys.exit(1 if len(failures) else 0)


def _doubtful(result: SweepResult) -> pd.DataFrame:
    cells = result.cells
    return cells[~cells["trusted"].fillna(True)]


def _print_sweep(result: SweepResult) -> None:
    """Print how the sweep went and what it says, then the table of cells."""
    from bayesbias.sweeps.comparing import in_words

    cells, doubtful, again = result.cells, _doubtful(result), result.cells["look_again"].dropna()
    screen.lines([_how_it_went(result)])
    screen.lines(in_words(result.compared(), result.frame))
    # One bad file fails many cells with one message.
    for error, count in result.failures["error"].value_counts(sort=False).items():
        screen.lines([f"failed ({number_of(int(count), 'cell')}): {error}"])
    if len(doubtful):
        such = doubtful["problems"].iloc[0]
        screen.lines([f"not to be trusted ({number_of(len(doubtful), 'cell')}), such as: {such}"])
    if len(again):
        screen.lines([f"look again ({number_of(len(again), 'cell')}), such as: {again.iloc[0]}"])
    screen.lines(result.of_damage())
    screen.lines([""])
    _print_table(result, screen.width())
    if len(cells) > _SHOWN:
        screen.lines([f"and {len(cells) - _SHOWN} more cells in the results"])
    if result.others:
        kept = f"kept in {result.out / 'cells'}, and not part of these results"
        screen.lines([f"{number_of(result.others, 'cell')} of earlier plans: {kept}"])


def _how_it_went(result: SweepResult) -> str:
    """Say how many cells were fitted, and how many of them need a look."""
    before = f" ({result.reused} of them before)" if result.reused else ""
    failed = f", {len(result.failures)} failed" if len(result.failures) else ""
    doubts = [
        f"{count} {state}"
        for count, state in (
            (len(_doubtful(result)), "not to be trusted"),
            (result.cells["look_again"].notna().sum(), "to look at again"),
        )
        if count
    ]
    more = f", {', '.join(doubts)} (see the columns problems and look_again of the results)" if doubts else ""
    fitted = int((result.cells["status"] == "ok").sum())
    return f"{number_of(len(result.cells), 'cell')}: {fitted} fitted{before}{failed}{more}"


def _print_table(result: SweepResult, width: int | None) -> None:
    """Print the table of cells; names, never numbers, are shortened to fit `width` characters."""
    from bayesbias.sweeps.comparing import of_another_unit, telling_labels

    compared, cells = result.compared(), result.cells
    # Sorted as they are compared; those without the contrast follow.
    order = list(dict.fromkeys([*compared["cell"], *cells["cell"]]))
    cells = cells.set_index("cell", drop=False).loc[order]
    prob = compared["prob"].dropna()
    interval = f"{as_percent(prob.iloc[0])} HPDI" if len(prob) else "HPDI"
    labels = telling_labels(cells)
    marked = of_another_unit(compared)
    cells = cells.head(_SHOWN)
    names = {name: texts[:_SHOWN] for name, texts in labels.items()}
    columns = ["in sds", interval, "sup.", "cosine", _SAID]
    rest: dict[str, list[str]] = {name: [] for name in columns}
    contrast_of = {row.cell: row for row in compared.itertuples()}
    for row in cells.itertuples():
        numbers, verdict = [""] * 4, ""
        if row.cell in contrast_of:
            numbers, verdict = _numbers(contrast_of[row.cell], row.cell in marked)
        note = "failed" if row.status == "failed" else _note(row)
        if row.status != "failed" and row.cell not in contrast_of:
            note = "; ".join(filter(None, ["no such contrast", note]))
        texts = [*numbers, "; ".join(filter(None, [verdict, note]))]
        for column, text in zip(rest.values(), texts, strict=True):
            column.append(text)
    fitted = names, rest
    for shortest, left_out in _STEPS:
        kept = {name: texts for name, texts in rest.items() if name not in left_out}
        shorter = _shortened(names, kept, width, shortest)
        if width is None or _width(shorter, kept, width) <= width:
            fitted = shorter, kept
            break
    screen.print_table(_title(compared, fitted[1]), *_laid_out(*fitted, width))
    if gone := [name for name in rest if name not in fitted[1]]:
        screen.lines([f"left out at this width: {', '.join(gone)} (see results.csv)"])


def _shortened(
    names: dict[str, list[str]], rest: dict[str, list[str]], width: int | None, shortest: int
) -> dict[str, list[str]]:
    """Cut names until the table fits, at most down to so many characters; names that differ stay different."""
    names = dict(names)
    while width is not None and (excess := _width(names, rest, width) - width) > 0:
        # The widest column gives way first, down to the others.
        for name in sorted(names, key=lambda name: -max(map(len, names[name]))):
            longest = max(map(len, names[name]))
            target = max(shortest, len(name), longest - min(excess, max(1, longest // 4)))
            shorter = [screen.middle_out(text, target) for text in names[name]]
            if target < longest and len(set(shorter)) == len(set(names[name])):
                names[name] = shorter
                break
        else:
            break
    return names


def _title(compared: pd.DataFrame, shown: Iterable[str]) -> str:
    from bayesbias.inference.standard import in_full

    if not len(compared):
        return "No cell has a contrast"
    units = compared["unit"].dropna()
    unit = in_full(units.mode().iloc[0]) if len(units) else "standard deviations of pairs"
    others = [in_full(other) for other in dict.fromkeys(units) if in_full(other) != unit]
    return (
        f"{compared['contrast'].iloc[0]}, for new words like these (population), in {unit}"
        f"{f' (* {conjoined(others)})' if others else ''}"
        + "".join(f"; {name}: {long}" for name, long in _SHORT_FOR.items() if name in shown)
    )


def _numbers(row: Any, marked: bool) -> tuple[list[str], str]:
    """Return the contrast in standard deviations and in cosine distance, and what the first says."""
    import pandas as pd

    if pd.isna(row.standardized):
        return ["", "", "", as_known(row, "distance", signed=True)], ""
    mark = "*" if marked else ""
    numbers = [
        f"{as_known(row, 'standardized', 2, signed=True)}{mark}",
        " to ".join(ends_as_known(row, "standardized_low", "standardized_high", 2, signed=True)),
        as_known(row, "superiority", 2),
        as_known(row, "distance", signed=True),
    ]
    return numbers, "" if pd.isna(row.verdict) else row.verdict


def _note(row: Any) -> str:
    """Say in few words what has to be known before a fitted cell is compared with others."""
    import pandas as pd

    out = [] if row.trusted else ["not to be trusted"]
    if pd.notna(row.look_again):
        out.append("look again")
    lacking = [
        f"{listed - found} of {listed} {side}"
        for side, listed, found in (
            ("protected words", row.protected_listed, row.protected_found),
            ("stereotypes", row.stereotypes_listed, row.stereotypes_found),
        )
        if pd.notna(found) and found < listed
    ]
    if lacking:
        out.append("lacks " + ", ".join(lacking))
    if pd.notna(row.classes_left_out):
        out.append(f"without the classes {row.classes_left_out}")
    return "; ".join(out)


def _laid_out(
    names: dict[str, list[str]], rest: dict[str, list[str]], width: int | None
) -> tuple[list[str], list[tuple[str, ...]], dict[str, int | None]]:
    """Return heads, rows, and what may take several lines where there is a width to keep to."""
    heads = [*names, *(name if name == _SAID else f"#{name}" for name in rest)]
    rows = list(zip(*names.values(), *rest.values(), strict=True))
    return heads, rows, {_SAID: None if width is None else _NOTE}


def _width(names: dict[str, list[str]], rest: dict[str, list[str]], width: int | None) -> int:
    return screen.width_of(screen.laid_out("", *_laid_out(names, rest, width)))
