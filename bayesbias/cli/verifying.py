"""The command ``bayesbias verify``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from bayesbias.cli import options, screen


@click.command()
@click.argument("runs", type=click.Path(path_type=Path), metavar="RUN...", nargs=-1, required=True)
@options.as_json
def verify(runs: tuple[Path, ...], as_json: bool) -> None:
    """Check that the files of a run are as they were written.

    RUN is a folder that a command wrote with --out, a sweep that has not ended among them, a .nc file of a fit, or
    vectors that `bayesbias debias` wrote. Each file is intact, damaged, missing, or unverified (written
    without a hash, as first versions did).

    \b
    Exit codes: 0 nothing is damaged or missing; 2 something is, or RUN is no run.
    """  # noqa: D301 - click's mark for a paragraph to leave as it is
    from bayesbias.runs.verifying import verify_run

    verified = [verify_run(run) for run in runs]
    ok = all(each.ok for each in verified)
    if as_json:
        screen.answer("verify", {"ok": ok, "runs": [each.as_dict() for each in verified]})
    else:
        for each in verified:
            screen.lines(each.lines())
    sys.exit(0 if ok else 2)
