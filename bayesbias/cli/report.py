"""The commands ``bayesbias report`` and ``bayesbias verify``."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click

from bayesbias.cli import shared


@click.command()
@click.argument("run", type=shared.PATH)
@click.option(
    "--out", type=shared.PATH, metavar="FILE.html", help="Write the page here [RUN.html]."
)
@click.option(
    "--prob",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Probability of intervals [that of RUN].",
)
@click.option(
    "--rope", type=shared.POSITIVE, help="Half-width of practical equivalence [that of RUN]."
)
@click.option("--standard-rope", type=shared.POSITIVE, help="The same in SDs [that of RUN].")
@shared.options("as_json")
def report(run: Path, out: Path | None, as_json: str | None, **changed: float | None) -> None:
    """Write one HTML page about a run.

    RUN is a folder that a command wrote with --out.
    """
    import bayesbias as bb

    opened = bb.load_run(run)
    view = dataclasses.replace(
        opened.view, **{name: value for name, value in changed.items() if value is not None}
    )
    beside = Path(f"{run.resolve()}.html") if run.name in ("", "..") else Path(f"{run}.html")
    page = bb.write_report(opened, out or beside, view=view)
    if as_json:
        shared.print_json("report", {"run": str(run), "written": str(page)})
    else:
        click.echo(f"Written  {page}")


@click.command()
@click.argument("runs", type=shared.PATH, metavar="RUN...", nargs=-1, required=True)
@shared.options("as_json")
@click.pass_context
def verify(ctx: click.Context, runs: tuple[Path, ...], as_json: str | None) -> None:
    """Check the files of runs against their hashes."""
    from bayesbias.output.store import verify_run

    states = {str(run): verify_run(run) for run in runs}
    wrong = {
        run: {name: state for name, state in files.items() if state != "ok"}
        for run, files in states.items()
    }
    ok = not any(wrong.values())
    if as_json:
        shared.print_json("verify", {"ok": ok, "runs": states})
    else:
        for run, files in states.items():
            for name, state in wrong[run].items():
                click.echo(f"{run}/{name}: {state}")
            click.echo(
                f"{run}: {len(files) - len(wrong[run])} of {len(files)} files are as they were written"
            )
    ctx.exit(0 if ok else 2)
