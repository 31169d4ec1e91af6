"""The command ``bayesbias seat``."""

import json
from pathlib import Path
from typing import Any

import click

import bayesbias as bb
from bayesbias.cli import shared
from bayesbias.core import InputError, files
from bayesbias.core.conventions import PUBLISHED_ALPHA


@click.group(cls=shared.Group, invoke_without_command=True)
@shared.options("own.seat", "covariates", "slope", *shared.SAMPLING[:-1], "samples", "prob")
@shared.options("alpha", "require", *shared.OUTPUT, alpha=PUBLISHED_ALPHA)
@click.pass_context
def seat(
    ctx: click.Context, encoders: tuple[str, ...], tests: str, no_cache: bool, **given: Any
) -> None:
    """Run sentence tests (SEAT) on sentence encoders."""
    if ctx.invoked_subcommand is not None:
        return
    if bool(given["covariates"]) != bool(given["slope"]):
        one = "--covariates" if given["covariates"] else "--slope"
        raise InputError(f"expected --covariates and --slope together, got {one} alone")
    shared.check_out(given, "sentences")
    result = bb.seat(
        tests,
        encoders,
        **shared.chosen(given, "published_cut", "samples", "bayes", "prob", "alpha", "prompt"),
        covariates=list(given["covariates"]) or None,
        slopes=shared.slopes_of(given["slope"]),
        cache=not no_cache,
        **shared.sampling_of(given),
    )
    for row in result.failures.itertuples():
        click.echo(f"bayesbias: {row.test} on {row.model} could not be run: {row.reason}", err=True)
    shared.show(result, given)
    ctx.exit(1 if len(result.failures) else 0)


@seat.command()
@click.argument("test", required=False)
@shared.options("own.seat-sentences", "as_json")
def sentences(test: str | None, parts: bool, out: Path | None, **given: Any) -> None:
    """List the shipped tests, or write the sentences of one."""
    from bayesbias.wordlists.sentence_tests import list_tests, published_json, write_test

    if test is None:
        shared.tell({"tests": list(list_tests())}, *list_tests())
        return
    if out is not None:
        files.check_not_input(out, [test])
    made = bb.sentence_test(test, level=given["level"], published_cut=given["published_cut"])
    text = published_json(made, parts)
    if out is not None:
        write_test(made, out, parts=parts)
    said = text if out is None else f"Written  {out}"
    shared.tell({"test": json.loads(text), "written": out and str(out)}, said)
