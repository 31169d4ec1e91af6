"""The command ``bayesbias sweep``."""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import bayesbias
from bayesbias.basics.files import records
from bayesbias.basics.wording import number_of
from bayesbias.cli import options, screen

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from bayesbias.sweeps.result import SweepResult

_SHOWN = 40
_SHORTEST = 10  # characters that a shortened name keeps
_NOTE = 24  # characters of a note in one line of a terminal


@click.command()
@click.argument("plan", type=click.Path(path_type=Path), metavar="PLAN.toml")
@options.folder("Write cells and results here.", required=True)
@click.option(
    "--workers",
    type=click.IntRange(1),
    metavar="N",
    help="Local processes; by default one per core. With 1 this process does the work itself.",
)
@click.option(
    "--dask", metavar="ADDRESS", help="A Dask scheduler that does the fits, such as tcp://host:8786."
)
@click.option(
    "--resume", is_flag=True, help="Go on with the sweep in DIR; failed and changed cells are fitted."
)
@options.as_json()
def sweep(plan: Path, out: Path, workers: int | None, dask: str | None, resume: bool, as_json: bool) -> None:
    """Fit every embedding, word list and model of PLAN.toml.

    \b
    schema = 1
    embeddings = ["minilm-static", "vectors/glove.txt"]
    wordlists = ["religion", "gender"]
    controls = ["2022", "none"]       # optional; each list's own by default
    distances = ["tables/mine.csv"]   # optional: tables in place of, or beside, the above
    models = ["crossed"]              # optional
    [settings]                        # optional; these are the defaults
    draws = 1000
    tune = 1000
    chains = 4
    seed = 0                          # or a list: each cell once for each
    prob = 0.89
    rope = 0.02
    keep_fits = false                 # true: also save every fit as netCDF
    repeats = "once"                  # or "keep": repeated rows of a table
    invalid_utf8 = "error"            # or "skip"
    allow_pickle = false              # true runs code in the files

    Paths are relative to the plan. Every cell is fitted with a fit_seed of its own, made from the seed and the
    names in the plan; it is in the results, and `fit --seed` with it gives the same numbers. DIR receives
    cells/, results.csv, results.parquet and timing.csv. A cell that cannot be fitted is a row with its error
    beside the others.

    \b
    Exit codes: 0 all cells were fitted; 1 the results were written, but some cells failed;
    2 the plan or DIR cannot be used, and nothing was fitted.
    """  # noqa: D301 - click's mark for a paragraph to leave as it is
    from bayesbias.sweeps.sweeping import run_sweep

    started = time.perf_counter()
    if resume and not (out / "sweep.json").is_file():
        click.echo(f"{out} holds no sweep yet: starting anew", err=True)
    try:
        result = run_sweep(
            plan, out, workers=workers, dask=dask, resume=resume, progress=False if as_json else None
        )
    except KeyboardInterrupt:
        click.echo("stopped; finished cells are kept, and --resume goes on with the rest", err=True)
        raise
    files = bayesbias.save_run(result, out, command=options.given())
    failures = result.failures
    if as_json:
        labels = ["cell", "embedding", "wordlist", "controls", "distances", "model", "seed"]
        payload = {
            "cells": len(result.cells),
            "failed": len(failures),
            "reused": result.reused,
            "of_other_plans": result.others,
            "not_to_be_trusted": records(_doubtful(result)[[*labels, "problems"]]),
            "look_again": records(
                result.cells.loc[result.cells["look_again"].notna(), [*labels, "look_again"]]
            ),
            "failures": records(failures[[*labels, "error"]]),
            "results": [str(out / "results.csv"), str(out / "results.parquet")],
            "timing": {"total_s": round(time.perf_counter() - started, 4)},
        }
        click.echo(json.dumps(payload, allow_nan=False))
    else:
        _print_sweep(result, files)
    sys.exit(1 if len(failures) else 0)


def _doubtful(result: SweepResult) -> pd.DataFrame:
    cells = result.cells
    return cells[~cells["trusted"].fillna(True)]


def _print_sweep(result: SweepResult, files: list[Path]) -> None:
    from rich.console import Console
    from rich.markup import escape

    # What is piped is read by programs and pagers, which have no width to keep to.
    terminal = sys.stdout.isatty()
    console = screen.console(screen.WIDE)
    cells = result.cells
    table = _table(result, console.width if terminal else None)
    # Where names cannot be made short enough the terminal wraps the lines; no number is cut.
    Console(highlight=False, soft_wrap=True, width=max(console.width, _width(table))).print(table)
    if len(cells) > _SHOWN:
        console.print(f"and {len(cells) - _SHOWN} more cells in the results")
    # One bad file fails many cells with one message.
    for error, count in result.failures["error"].value_counts(sort=False).items():
        console.print(escape(f"failed ({number_of(int(count), 'cell')}): {error}"))
    doubtful = _doubtful(result)
    if len(doubtful):
        console.print(
            escape(
                f"not to be trusted ({number_of(len(doubtful), 'cell')}), such as: {doubtful['problems'].iloc[0]}"
            )
        )
    again = result.cells["look_again"].dropna()
    if len(again):
        console.print(escape(f"look again ({number_of(len(again), 'cell')}), such as: {again.iloc[0]}"))
    screen.written(files)
    before = f" ({result.reused} of them before)" if result.reused else ""
    failed = f", {len(result.failures)} failed" if len(result.failures) else ""
    doubts = [
        f"{len(found)} {said}"
        for found, said in ((doubtful, "not to be trusted"), (again, "to look at again"))
        if len(found)
    ]
    console.print(
        f"{number_of(len(cells), 'cell')}: {int((cells['status'] == 'ok').sum())} fitted{before}{failed}"
        + (
            f", {', '.join(doubts)} (see the columns problems and look_again of the results)"
            if doubts
            else ""
        )
    )
    if result.others:
        console.print(
            f"{number_of(result.others, 'cell')} of earlier plans: kept in {escape(str(result.out / 'cells'))}, and not part of "
            "these results"
        )


def _table(result: SweepResult, width: int | None) -> Table:
    """Return the table of cells; names, never numbers, are shortened to fit `width` characters."""
    import pandas as pd

    frame, cells = result.frame, result.cells
    chosen = frame[
        (frame["level"] == "overall")
        & (frame["term"] == "associated - different")
        & (frame["estimand"] == "population")
    ].set_index("cell")
    labels = ["embedding", "wordlist", "controls", "distances", "model", "seed"]
    # A label that is the same everywhere tells nothing; one cell alone shows all it has.
    shown = [name for name in labels if cells[name].nunique(dropna=False) > 1 or len(cells) == 1]
    shown = [name for name in shown if cells[name].notna().any()]
    interval = f"{frame['prob'].dropna().iloc[0]:.0%} HPDI" if frame["prob"].notna().any() else "HPDI"
    cells = cells.head(_SHOWN)
    names = {
        name: _short_names(["" if pd.isna(value) else str(value) for value in cells[name]]) for name in shown
    }
    rest: dict[str, list[str]] = {name: [] for name in ("mean", interval, "P(<0)", "note")}
    for row in cells.itertuples():
        numbers = ["", "", ""]
        if row.cell in chosen.index:
            record = chosen.loc[row.cell]
            low, high = record["hpdi_low"], record["hpdi_high"]
            numbers = [
                f"{record['mean']:+.3f}",
                f"{low:+.3f} to {high:+.3f}",
                f"{record['p_below_zero']:.3f}",
            ]
        note = "failed" if row.status == "failed" else _note(row)
        for column, text in zip(rest.values(), [*numbers, note], strict=True):
            column.append(text)
    table = _laid_out(names, rest, width)
    while width is not None and (excess := _width(table) - width) > 0:
        # The widest column gives way first, down to the others; names that differ stay different.
        for name in sorted(names, key=lambda name: -max(map(len, names[name]))):
            longest = max(map(len, names[name]))
            target = max(_SHORTEST, len(name), longest - min(excess, max(1, longest // 4)))
            shorter = [_middle_out(text, target) for text in names[name]]
            if target < longest and len(set(shorter)) == len(set(names[name])):
                names[name] = shorter
                break
        else:
            break
        table = _laid_out(names, rest, width)
    return table


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
    return "; ".join([*out, *(["lacks " + ", ".join(lacking)] if lacking else [])])


def _laid_out(names: dict[str, list[str]], rest: dict[str, list[str]], width: int | None) -> Table:
    return screen.laid_out(
        "associated - different, for new words like these (population)",
        [*names, *(name if name == "note" else f"#{name}" for name in rest)],
        zip(*names.values(), *rest.values(), strict=True),
        # Notes may take several lines where there is a width to keep to.
        {"note": None if width is None else _NOTE},
    )


def _width(table: Table) -> int:
    """Return the characters that a table needs with nothing cut."""
    from rich.console import Console

    console = Console(width=screen.WIDE)
    return console.measure(table).maximum


def _short_names(texts: list[str]) -> list[str]:
    """Return the last part of each path, where that leaves different paths different."""
    last = {text: re.split(r"[/\\]", text.rstrip("/\\"))[-1] for text in texts}
    taken = Counter(last.values())
    return [last[text] if taken[last[text]] == 1 else text for text in texts]


def _middle_out(text: str, width: int) -> str:
    """Return `text` in at most `width` characters, with its beginning and its end."""
    if len(text) <= width:
        return text
    tail = (width - 3) // 2
    return text[: width - 3 - tail] + "..." + text[len(text) - tail :]
