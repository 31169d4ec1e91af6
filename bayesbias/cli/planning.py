"""The commands ``bayesbias sweep``, ``bayesbias sample-size`` and ``bayesbias coverage``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import bayesbias as bb
from bayesbias.cli import shared
from bayesbias.cli.stopping import keep
from bayesbias.core import InputError, files, join_words
from bayesbias.core.sections import Column

if TYPE_CHECKING:
    from bayesbias.sweeps.plan import SweepPlan

SIZES = (
    Column("words", "words", "count"),
    Column("attributes", "attributes", "count"),
    Column("pairs", "pairs", "count"),
    Column("mean", "reliability", "number", digits=2),
    Column("hpdi_low", "{prob} HPDI", "range", digits=2, upper="hpdi_high"),
    Column("known_width", "if SDs are known", "number", digits=3),
    Column("simulated_width", "mean width", "number", digits=3),
    Column("simulated_80", "80% are below", "number", digits=3),
    Column("enough", "enough?"),
)
ANSWERS = (
    Column("design", "design"),
    Column("words", "words", "count"),
    Column("prompts", "prompts", "count"),
    Column("items", "items", "count"),
    Column("repeats", "repeats", "count"),
    Column("mean_width", "mean width", "number", digits=3),
    Column("se", "SE", "number", digits=3),
    Column("width_80", "80% are below", "number", digits=3),
    Column("enough", "enough?"),
)
OF_ANSWERS = ("words", "prompts", "items", "repeats")
COVERED = (
    "kind",
    "level",
    "name",
    "contrast",
    Column("truth", "truth", "signed", digits=3),
    Column("tables", "tables", "count"),
    Column("coverage", "coverage", "probability"),
    Column("coverage_se", "SE", "probability"),
    Column("called", "called", "probability"),
    Column("wrong_sign", "wrong", "probability"),
    Column("bias", "bias", "signed", digits=3),
    Column("width", "width", "number", digits=3),
)


@shared.command("own.sweep", "workers", "dask", "resume", *shared.OUTPUT[2:])
@click.argument("plan", type=shared.PATH, metavar="PLAN.toml")
@click.pass_context
def sweep(ctx: click.Context, plan: Path, out: Path, common_words: bool, **given: Any) -> None:
    """Fit every embedding, word list and model of a plan."""
    from bayesbias.output.replacing import settle

    asked = bb.sweeps.load_plan(plan)
    if common_words:
        asked = replace(asked, common_words=True)
    how = shared.chosen(given, "workers", "dask", "resume")
    settle(out)  # what was cut short when an earlier sweep was stopped
    try:
        result = bb.run_sweep(asked, out, progress=False if given["as_json"] else None, **how)
        shared.show(result, {**given, "out": out, "force": True})  # `run_sweep` checked the folder
    except KeyboardInterrupt:
        keep(ctx, _finished_cells(asked, out))
        raise
    ctx.exit(1 if len(result.failures) else 0)


def _finished_cells(plan: SweepPlan, out: Path) -> str:
    """Say how many cells of a stopped sweep are kept."""
    from bayesbias.sweeps.plan import group_cells

    cells = [cell for group in group_cells(plan) for cell in group.cells]
    kept = sum((out / "cells" / f"{cell.key}.json").is_file() for cell in cells)
    return f"{kept} of {len(cells)} cells are kept; continue with --resume."


@shared.command(
    "own.sample-size",
    "seed",
    "engine",
    "workers",
    "dask",
    "prob",
    "as_json",
    seed=0,
    engine="quick",
)
def sample_size(fit: Path | None, **given: Any) -> None:
    """Find how many words an interval or score needs."""
    if given["responses"] is not None or given["sds"]:
        _plan_answers(fit, given)
        return
    if unused := [name for name in OF_ANSWERS if given[name] is not None]:
        problem = f"expected --{unused[0]} beside --responses or --sds, got neither"
        raise InputError(problem, where=f"--{unused[0]}")
    if (given["width"] is None) == (given["reliability"] is None):
        got = "neither" if given["width"] is None else "both"
        raise InputError(f"expected --width or --reliability, got {got}")
    fitted, each = None if fit is None else bb.load_run(fit).result, "per class"
    notes = []
    if given["reliability"] is not None:
        if fitted is None:
            problem, hint = "expected a fit of your own table, got none", "add --fit RUN"
            raise InputError(problem, where="--reliability", hint=hint)
        target, prob = given["reliability"], given["prob"]
        goal = shared.chosen(given, "measure", "coefficient")
        frame = bb.simulation.plan_reliability(fitted, target, prob=prob, **goal)
        goal["reliability"] = target
        score, kind = goal.get("measure", "weat"), goal.get("coefficient", "against_zero")
        wanted = f"a reliability of {target:g}\nScore: {score}; coefficient: {kind}"
    else:
        scenario = None if fitted is None else bb.simulation.scenario_from_fit(fitted)
        names = ("width", "contrast", "prob", "check", "engine", "seed", "workers", "dask")
        goal = shared.chosen(given, *names)
        frame = bb.sample_size(scenario=scenario, **goal)
        goal["contrast"] = frame.attrs["contrast"]
        if scenario is not None and scenario.sets:
            each = "per group and set"
        whose = "of religion on Reddit; --fit RUN takes yours" if fit is None else f"of {fit}"
        wanted = (
            f"{given['prob']:.0%} intervals of width {given['width']:g}\n"
            f"Contrast: {goal['contrast']}\nSDs: {whose}"
        )
        notes.append(
            "Enough: 80% of fits to simulated tables have intervals this narrow or narrower. A fit has "
            "to estimate the SDs, so its intervals are wider than if the SDs are known."
        )
    enough = frame[frame["enough"].fillna(False).astype(bool)]
    shown = frame.head(10).assign(enough=frame["enough"].map({True: "yes", False: "no"}))
    said = "No combination tried is enough."
    for row in enough.head(1).itertuples():
        said = f"{row.words} words and {row.attributes} attributes {each} are enough{_width(row)}."
    answer = {**goal, "rows": files.records(frame)}
    title = f"\nWords and attributes {each} for {wanted}\n"
    lines = [title, *shared.lines_of(shown, SIZES, given["prob"])]
    shared.tell_table(answer, f"sample size | seed {given['seed']}", lines, said, notes)


def _plan_answers(fit: Path | None, given: dict[str, Any]) -> None:
    """Show the width of an interval of answers for several designs."""
    for name, value in (("fit", fit), ("reliability", given["reliability"])):
        if value is not None:
            problem = f"expected --responses or --sds alone, got --{name} too"
            raise InputError(problem, where=f"--{name}")
    source: Any = given["responses"]
    if source is not None and given["sds"]:
        raise InputError("expected --responses or --sds, got both", where="--sds")
    if source is None:
        source = shared.numbers_named(given["sds"], "--sds", "NAME=SD, such as word=0.2")
    else:
        source = bb.load_run(source).result
    names = ("width", "contrast", "estimand", "prob", "check", "seed", "workers", "dask")
    goal = shared.chosen(given, *names, *OF_ANSWERS)
    progress = False if given["as_json"] else None
    frame = bb.simulation.plan_responses(source, **goal, progress=progress)

    shown = frame.assign(enough=frame["enough"].map({True: "yes", False: "no"}))
    left_out = [name for name in OF_ANSWERS if frame[name].eq(1).all()]
    if given["width"] is None:
        left_out.append("enough")
    columns = [column for column in ANSWERS if column.name not in left_out]
    said = "No number clearly makes the interval narrower if it is doubled."
    if first := frame.attrs["first"]:
        now, row = frame.iloc[0], frame[frame["design"] == f"twice the {first}"].iloc[0]
        said = (
            f"Raise {first} first: twice as many make the interval {row['mean_width']:.3f} wide on "
            f"average instead of {now['mean_width']:.3f}."
        )
    floor = frame.attrs["floor"]
    if floor is not None:
        said += f" Repeats alone do not make it narrower than about {floor:.3f}."
    notes = ["Mean width over simulated tables, and the width that 80% of them stay below."]
    if given["width"] is not None:
        notes.append("Enough: 80% of studies have intervals as narrow as --width, or narrower.")
    if floor is None:
        notes.append(
            "There is one answer to each question, which does not tell what repeats change."
        )
    answer = {**goal, **frame.attrs, "rows": files.records(frame)}
    what = f"{given['prob']:.0%} interval of {frame.attrs['contrast']} ({frame.attrs['estimand']})"
    lines = [f"\nWidth of the {what}\n", *shared.lines_of(shown, columns, given["prob"])]
    shared.tell_table(answer, f"sample size | seed {given['seed']}", lines, said, notes)


def _width(row: Any) -> str:
    """Say how wide the intervals of studies of a size are, if studies were simulated."""
    width = getattr(row, "simulated_80", None)
    if width is None or width != width:  # unknown
        return ""
    return f": 80% of studies have an interval of {width:.3f} or narrower"


@shared.command(
    "own.coverage",
    "seed",
    "engine",
    "workers",
    "dask",
    *shared.READING,
    "prob",
    "as_json",
    seed=0,
    engine="quick",
)
def coverage(fit: Path | None, **given: Any) -> None:
    """Simulate a known truth and measure coverage."""
    how = shared.chosen(given, "tables", "seed", "prob", "engine", "workers", "dask", "methods")
    sizes = shared.chosen(given, "words", "attributes", "human", "neutral")
    controls, listed = given["controls"], given["pools"] or given["wordlist"]
    vectors: Any = None
    if given["embedding"] or listed:
        if not (given["embedding"] and listed):
            got = "--embedding alone" if given["embedding"] else "no --embedding"
            raise InputError(f"expected --embedding with --wordlist or --pools, got {got}")
        vectors = shared.vectors_of(given, bb.load_wordlist(listed, controls=controls).words)
    elif given["distances"]:
        vectors = bb.load_distances(given["distances"])
    if vectors is None:
        scenario = bb.simulation.Scenario()
        if fit is not None:
            scenario = bb.simulation.scenario_from_fit(bb.load_run(fit).result)
        # One number holds for each class.
        each: dict[str, Any] = {
            name: n * len(getattr(scenario, name)) if isinstance(n, tuple) and len(n) == 1 else n
            for name, n in sizes.items()
        }
        frame = bb.coverage_simulated(replace(scenario, **each), **how)
        title = "Coverage, false alarms and power in simulated tables"
    elif given["wordlist"]:
        model = how.pop("methods", ["default"])[0]
        frame = bb.simulation.negative_controls(vectors, listed, model, controls=controls, **how)
        title = (
            "How often an interval excludes 0: the list itself (real), and lists and vectors\n"
            "without a difference"
        )
    else:
        frame = bb.coverage_on_pools(vectors, listed, controls=controls, **sizes, **how)
        title = "Coverage of the value of the whole pool"
    alike = [
        name for name in ("level", "name", "tables") if name in frame and frame[name].nunique() == 1
    ]
    about = [f"{given['prob']:.0%} intervals", f"seed {given['seed']}"]
    if "tables" in alike:
        about.insert(0, f"{frame['tables'].iloc[0]:,} tables")
    head, *lines = shared.lines_of(frame.drop(columns=alike), COVERED, given["prob"])
    if "method" in frame:  # above its rows, so that lines stay short
        rows = zip(frame["method"], frame["method"].ne(frame["method"].shift()), lines, strict=True)
        lines = [line for name, first, row in rows for line in [name] * first + [f"  {row}"]]
        head = f"  {head}"
    notes = ["Called: share of tables whose interval excludes 0."]
    if "kind" in frame:
        notes[0] += f" Without a difference, {1 - given['prob']:.0%} or fewer are expected."
    if "wrong_sign" in frame:
        notes[0] += " Wrong: with the wrong sign."
    answer = {"rows": files.records(frame), **shared.chosen(given, "seed", "prob", "engine")}
    lines = [f"\n{title}\n", head, *lines]
    shared.tell_table(answer, f"coverage | {', '.join(about)}", lines, _covered(frame), notes)


def _covered(frame: Any) -> str:
    """Say in which share of tables intervals include the truth, or a difference is called."""
    known, by, said = "coverage", "method", "Intervals include the truth in"
    if "coverage" not in frame:
        real = frame["kind"] == "real"
        found = "excludes" if frame.loc[real, "called"].all() else "includes"
        said = f"The interval of the list itself {found} 0. Without a difference it excludes 0 in"
        frame, known, by = frame[~real], "called", "kind"
    rows = frame.dropna(subset=known).groupby(by, sort=False)[known].agg(["min", "max"])
    shares = (
        f"{low:.0%}{f' to {high:.0%}' if high > low else ''} of tables ({name})"
        for name, low, high in rows.itertuples()
    )
    return f"{said} {join_words(shares)}."
