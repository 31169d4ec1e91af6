"""The command ``bayesbias sweep``."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import click

from bayesbias.cli import shared


@click.command(cls=shared.Command)
@click.argument("plan", type=shared.PATH, metavar="PLAN.toml")
@click.option(
    "--out", type=shared.PATH, required=True, metavar="DIR", help="Write cells and results here."
)
@click.option("--common-words", is_flag=True, help="Keep the words that all embeddings have.")
@shared.options("workers", "dask", "resume", *shared.OUTPUT[1:])
@click.pass_context
def sweep(ctx: click.Context, plan: Path, out: Path, common_words: bool, **given: Any) -> None:
    """Fit every embedding, word list and model of a plan."""
    import bayesbias as bb

    how = {name: given[name] for name in ("workers", "dask", "resume")}
    asked = bb.sweeps.load_plan(plan)
    if common_words:
        asked = dataclasses.replace(asked, common_words=True)
    result = bb.run_sweep(asked, out, progress=False if given["as_json"] else None, **how)
    shared.show(result, {**given, "out": out})
    ctx.exit(1 if len(result.failures) else 0)
