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


@click.command("sample-size")
@click.option(
    "--width", type=shared.POSITIVE, help="Wanted width of the interval, in cosine distance."
)
@click.option(
    "--reliability",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="R",
    help="Or wanted reliability.",
)
@click.option("--contrast", default="associated - different", help="Contrast.")
@click.option(
    "--score",
    "measure",
    metavar="S",
    help="Reliability of weat, word, class, attribute_set or mac [weat].",
)
@click.option(
    "--coefficient", metavar="C", help="against_zero, absolute or relative [against_zero]."
)
@shared.options("prob")
@click.option(
    "--fit", type=shared.PATH, metavar="RUN", help="Take classes, SDs and model from a run of fit."
)
@click.option(
    "--check", type=click.IntRange(0), default=20, help="Simulated tables for each check."
)
@click.option(
    "--engine",
    type=click.Choice(["quick", "nuts"]),
    default="quick",
    help="Importance sampling or NUTS.",
)
@click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=0, help="Seed of all random numbers."
)
@click.option("--workers", type=click.IntRange(1), metavar="N", help="Local processes.")
@click.option("--dask", metavar="ADDRESS", help="A Dask scheduler.")
@shared.options("as_json")
def sample_size(fit: Path | None, as_json: str | None, **given: Any) -> None:
    """Find how many words an interval or score needs."""
    import bayesbias as bb
    from bayesbias.inference.view import View
    from bayesbias.output.terminal import table_lines

    if (given["width"] is None) == (given["reliability"] is None):
        raise InputError("one goal is needed", valid="--width W, or --reliability R --fit RUN")
    fitted = None if fit is None else bb.load_run(fit).result
    if given["reliability"] is not None:
        if fitted is None:
            raise InputError("--reliability needs a fit of your own table", valid="--fit RUN")
        asked = {
            name: given[name] for name in ("measure", "coefficient") if given[name] is not None
        }
        frame = bb.simulation.plan_reliability(
            fitted, given["reliability"], prob=given["prob"], **asked
        )
        goal: dict[str, Any] = {"reliability": given["reliability"], **asked}
        title = f"Words and attributes per class for a reliability of {given['reliability']:g}"
    else:
        scenario = None if fitted is None else bb.simulation.scenario_from_fit(fitted)
        names = ("contrast", "prob", "check", "engine", "seed", "workers", "dask")
        how = {name: given[name] for name in names if given[name] is not None}
        frame = bb.sample_size(given["width"], scenario=scenario, **how)
        goal = {"width": given["width"], **how}
        title = (
            f"Words and attributes per class for a {given['prob']:.0%} interval of width "
            f"{given['width']:g}, {given['contrast']}"
        )
    if as_json:
        shared.print_json("sample-size", {**goal, "rows": records(frame)})
        return
    click.echo(f"{title}\n")
    click.echo("\n".join(table_lines(frame.head(20), COLUMNS, View(given["prob"]))))
    enough = frame[frame["enough"].fillna(False).astype(bool)]
    if enough.empty:
        click.echo("\nResult   No combination tried is enough.")
    else:
        row = enough.iloc[0]
        click.echo(
            f"\nResult   {row['words']} words and {row['attributes']} attributes per class are enough."
        )
