"""The command ``bayesbias sweep``."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import click

from bayesbias.cli import shared


@click.command()
@click.argument("plan", type=shared.PATH, metavar="PLAN.toml")
@click.option(
    "--out", type=shared.PATH, required=True, metavar="DIR", help="Write cells and results here."
)
@click.option(
    "--workers", type=click.IntRange(1), metavar="N", help="Local processes [one per core]."
)
@click.option("--dask", metavar="ADDRESS", help="A Dask scheduler, such as tcp://host:8786.")
@click.option("--common-words", is_flag=True, help="Keep the words that all embeddings have.")
@click.option("--resume", is_flag=True, help="Continue the sweep in DIR.")
@shared.options(*shared.OUTPUT[1:])
@click.pass_context
def sweep(
    ctx: click.Context,
    plan: Path,
    out: Path,
    workers: int | None,
    dask: str | None,
    common_words: bool,
    resume: bool,
    **given: Any,
) -> None:
    """Fit every embedding, word list and model of a plan."""
    import bayesbias as bb

    progress = False if given["as_json"] else None
    asked = bb.sweeps.load_plan(plan)
    if common_words:
        asked = dataclasses.replace(asked, common_words=True)
    result = bb.run_sweep(asked, out, workers=workers, dask=dask, resume=resume, progress=progress)
    shared.show(result, {**given, "out": out})
    ctx.exit(1 if len(result.failures) else 0)
