"""The command ``bayesbias report``."""

from __future__ import annotations

from pathlib import Path

import click

from bayesbias.cli import options, screen


@click.command()
@click.argument("run", type=options.Source(), metavar="RUN")
@click.option(
    "--out",
    type=options.Place(),
    required=True,
    metavar="FILE.html",
    help="Write the report here.",
)
@click.option(
    "--prob",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Probability of the intervals; by default that of the tables in RUN.",
)
@click.option(
    "--rope",
    type=options.Positive(),
    help="Half-width of practical equivalence; by default that of the tables in RUN. Of a fit of distances, or a "
    "comparison.",
)
@click.option(
    "--standard-rope",
    type=options.Positive(),
    help="The same in standard deviations, of a fit of distances; by default that of the tables in RUN.",
)
@options.as_json
def report(
    run: Path,
    out: Path,
    prob: float | None,
    rope: float | None,
    standard_rope: float | None,
    as_json: bool,
) -> None:
    """Write one self-contained HTML file on a run.

    RUN is a folder that `bayesbias fit`, `bayesbias compare`, `bayesbias seat`, `bayesbias wefat`, `bayesbias sweep` or
    `bayesbias sentiment --bayes` wrote with --out, or a .nc file of a fit. The file needs no network and no other
    file; it can be mailed, opened in any browser and printed.
    """
    from bayesbias.report.page import write_report

    page = write_report(run, out, prob=prob, rope=rope, standard_rope=standard_rope)
    if as_json:
        screen.answer("report", {"run": str(run), "written": str(page)})
    else:
        screen.say(f"written: {page}")
