"""The command ``bayesbias seat``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from bayesbias.cli import shared
from bayesbias.core.errors import InputError


@click.group(invoke_without_command=True)
@click.option(
    "--encoder",
    "encoders",
    multiple=True,
    metavar="E",
    default=("minilm-static",),
    help="Encoder. Repeatable.",
)
@click.option("--tests", default="all", metavar="T", help="Names with commas, all, or a file.")
@click.option(
    "--published-cut", is_flag=True, help="Leave out the sentences that the authors dropped."
)
@click.option("--bayes", is_flag=True, help="Fit the model to every test too.")
@click.option("--samples", type=click.IntRange(1), default=99_999, help="Partitions drawn for p.")
@click.option("--no-cache", is_flag=True, help="Keep no vectors on disk.")
@shared.options("covariates", "slope", *shared.SAMPLING[:-1], "prob", *shared.OUTPUT)
@click.pass_context
def seat(
    ctx: click.Context, encoders: tuple[str, ...], tests: str, no_cache: bool, **given: Any
) -> None:
    """Run sentence tests (SEAT) on sentence encoders."""
    if ctx.invoked_subcommand is not None:
        return
    import bayesbias as bb

    if bool(given["covariates"]) != bool(given["slope"]):
        raise InputError(
            "--covariates and --slope belong together", valid="--covariates FILE --slope COLUMN"
        )
    shared.check_out(given, "sentences")
    slopes = {}
    for each in given["slope"]:
        name, colon, by = each.partition(":")
        slopes[name] = by.split(",") if colon else None
    result = bb.seat(
        tests,
        encoders,
        published_cut=given["published_cut"],
        samples=given["samples"],
        bayes=given["bayes"],
        prob=given["prob"],
        covariates=list(given["covariates"]) or None,
        slopes=slopes,
        cache=not no_cache,
        progress=False if given["as_json"] else None,
        **shared.sampling_of(given),
    )
    shared.show(result, given)
    for row in result.failures.itertuples():
        click.echo(f"bayesbias: {row.test} on {row.model} could not be run: {row.reason}", err=True)
    ctx.exit(1 if len(result.failures) else 0)


@seat.command()
@click.argument("test", required=False)
@click.option(
    "--level",
    type=click.Choice(["word", "sentence", "unbleached"]),
    help="Level of a word list's test.",
)
@click.option(
    "--published-cut", is_flag=True, help="Leave out the sentences that the authors dropped."
)
@click.option("--parts", is_flag=True, help="Also write word and template of each sentence.")
@click.option("--out", type=shared.PATH, metavar="FILE", help="Write the test here.")
@shared.options("as_json")
def sentences(
    test: str | None,
    level: str | None,
    published_cut: bool,
    parts: bool,
    out: Path | None,
    as_json: str | None,
) -> None:
    """List the shipped tests, or write the sentences of one."""
    import bayesbias as bb
    from bayesbias.wordlists.sentence_tests import list_tests, published_json, write_test

    if test is None:
        if as_json:
            shared.print_json("seat sentences", {"tests": list(list_tests())})
        else:
            click.echo("\n".join(list_tests()))
        return
    made = bb.sentence_test(test, level=level, published_cut=published_cut)
    text = published_json(made, parts)
    if out is not None:
        write_test(made, out, parts=parts)
    if as_json:
        shared.print_json(
            "seat sentences",
            {"test": json.loads(text), "written": None if out is None else str(out)},
        )
    else:
        click.echo(text if out is None else f"Written  {out}")
