"""The command ``bayesbias sample-size``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bayesbias.cli import shared
from bayesbias.core.errors import InputError
from bayesbias.core.files import records
from bayesbias.core.sections import Column

COLUMNS = (
    Column("words", "words", "count"),
    Column("attributes", "attributes", "count"),
    Column("pairs", "pairs", "count"),
    Column("mean", "reliability", "number", digits=2),
    Column("hpdi_low", "{prob} HPDI", "interval", digits=2, upper="hpdi_high"),
    Column("known_width", "width, SDs known", "number", digits=3),
    Column("simulated_width", "simulated", "number", digits=3),
    Column("simulated_80", "80% below", "number", digits=3),
    Column("enough", "enough"),
)


@click.command("sample-size", cls=shared.Command)
@click.option(
    "--width", type=shared.POSITIVE, metavar="W", help="Wanted width of the interval, in cosine."
)
@click.option(
    "--reliability",
    type=shared.FRACTION,
    metavar="R",
    help="Or wanted reliability.",
)
@click.option("--contrast", metavar="C", help="Contrast.")
@click.option(
    "--score",
    "measure",
    metavar="S",
    help="weat, word, class or attribute_set.",
)
@click.option("--coefficient", metavar="C", help="against_zero, absolute or relative.")
@click.option("--fit", type=shared.PATH, metavar="RUN", help="Run of fit with classes and SDs.")
@click.option(
    "--check", type=click.IntRange(0), default=20, help="Simulated tables for each check."
)
@shared.options("seed", "engine", "workers", "dask", "prob", "as_json", seed=0, engine="quick")
def sample_size(fit: Path | None, **given: Any) -> None:
    """Find how many words an interval or score needs."""
    import bayesbias as bb
    from bayesbias.inference.view import View
    from bayesbias.output.terminal import table_lines

    if (given["width"] is None) == (given["reliability"] is None):
        got = "neither" if given["width"] is None else "both"
        raise InputError(f"expected --width or --reliability, got {got}")
    fitted, each = None if fit is None else bb.load_run(fit).result, "per class"
    if given["reliability"] is not None:
        if fitted is None:
            raise InputError(
                "expected a fit of your own table, got none",
                where="--reliability",
                hint="add --fit RUN",
            )
        asked = {
            name: given[name] for name in ("measure", "coefficient") if given[name] is not None
        }
        frame = bb.simulation.plan_reliability(
            fitted, given["reliability"], prob=given["prob"], **asked
        )
        goal: dict[str, Any] = {"reliability": given["reliability"], **asked}
        title = f"Words and attributes {each} for a reliability of {given['reliability']:g}"
    else:
        scenario = None if fitted is None else bb.simulation.scenario_from_fit(fitted)
        names = ("contrast", "prob", "check", "engine", "seed", "workers", "dask")
        how = {name: given[name] for name in names if given[name] is not None}
        frame = bb.sample_size(given["width"], scenario=scenario, **how)
        goal = {"width": given["width"], **how}
        goal["contrast"] = contrast = frame.attrs["contrast"]
        if scenario is not None and scenario.sets:
            each = "per group and set"
        title = (
            f"Words and attributes {each} for a {given['prob']:.0%} interval of width "
            f"{given['width']:g}, {contrast}"
        )
    enough = frame[frame["enough"].fillna(False).astype(bool)]
    said = "No combination tried is enough."
    for row in enough.head(1).itertuples():
        said = f"{row.words} words and {row.attributes} attributes {each} are enough."
    shared.tell(
        {**goal, "rows": records(frame)},
        f"{title}\n",
        *table_lines(frame.head(20), COLUMNS, View(given["prob"])),
        f"\nResult   {said}",
    )
