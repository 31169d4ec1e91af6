"""The commands ``bayesbias report`` and ``bayesbias verify``."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import click

from bayesbias.cli import shared


@click.command(cls=shared.Command)
@click.argument("run", type=shared.PATH)
@click.option(
    "--out", type=shared.PATH, metavar="FILE.html", help="Write the page here [RUN.html]."
)
@shared.options(*shared.VIEW, "as_json", prob=None, rope=None, standard_rope=None)
def report(run: Path, out: Path | None, **changed: Any) -> None:
    """Write one HTML page about a run.

    RUN is a folder that a command wrote with --out. Its settings hold unless you change them.
    """
    import bayesbias as bb

    opened = bb.load_run(run)
    asked = {name: changed[name] for name in shared.VIEW if changed[name] is not None}
    view = dataclasses.replace(opened.view, **asked)
    if "rope" in asked and hasattr(opened.result, "rope"):  # of responses
        result = dataclasses.replace(opened.result, rope=asked["rope"])
        opened = dataclasses.replace(opened, result=result)
    beside = Path(f"{run.resolve()}.html") if run.name in ("", "..") else Path(f"{run}.html")
    page = bb.write_report(opened, out or beside, view=view)
    shared.tell({"run": str(run), "written": str(page)}, f"Written  {page}")


@click.command(cls=shared.Command)
@click.argument("runs", type=shared.PATH, metavar="RUN...", nargs=-1, required=True)
@shared.options("as_json")
@click.pass_context
def verify(ctx: click.Context, runs: tuple[Path, ...], **given: Any) -> None:
    """Check the files of runs against their hashes."""
    from bayesbias.output.store import verify_run

    states = {str(run): verify_run(run) for run in runs}
    wrong = {
        run: {name: state for name, state in files.items() if state != "ok"}
        for run, files in states.items()
    }
    ok = not any(wrong.values())
    lines = []
    for run, files in states.items():
        lines += [f"{run}/{name}: {state}" for name, state in wrong[run].items()]
        unchanged = len(files) - len(wrong[run])
        lines.append(f"{run}: {unchanged} of {len(files)} files are unchanged")
    shared.tell({"ok": ok, "runs": states}, *lines)
    ctx.exit(0 if ok else 2)
