"""The command ``bayesbias verify``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from bayesbias.cli import options, screen
from bayesbias.core.errors import InputError


@click.command()
@click.argument("runs", type=options.Source(), metavar="RUN...", nargs=-1, required=True)
@options.as_json
def verify(runs: tuple[Path, ...], as_json: bool) -> None:
    """Check that the files of a run are as they were written.

    RUN is a folder that a command wrote with --out, a sweep that has not ended among them, a .nc file of a fit, or
    vectors that `bayesbias debias` wrote. Each file is intact, damaged, missing, or unverified (written

    without a hash, as first versions did). What is no run is named, and the others are checked; the tables of
    `bayesbias describe` are none, and bear no hash. A .sha256 file is left to the file it belongs to.

    \b
    Exit codes: 0 nothing is damaged or missing; 2 something is, or a RUN is no run.
    """  # noqa: D301 - click's mark for a paragraph to leave as it is
    from bayesbias.runs.verifying import verify_run

    verified, refused = [], []
    for run in runs:
        if run.suffix == ".sha256" and run.with_suffix("").is_file():
            continue
        try:
            verified.append(verify_run(run))
        except InputError as error:
            refused.append(str(error))
    ok = all(each.ok for each in verified) and not refused
    if as_json:
        screen.answer("verify", {"ok": ok, "runs": [each.as_dict() for each in verified], "refused": refused})
    else:
        for each in verified:
            screen.lines(each.lines())
    for problem in refused:
        screen.say(f"bayesbias: {problem}", err=True)
    sys.exit(0 if ok else 2)
