"""The command ``bayesbias responses`` and its subcommands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bayesbias.cli import shared
from bayesbias.core.errors import InputError


@click.group()
def responses() -> None:
    """Compare answers about groups, of any model."""


@responses.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--layout", metavar="NAME", help="Layout of the files [what their columns tell].")
@click.option(
    "--columns", metavar="OURS=THEIRS,...", help="Columns, such as outcome=score,group=race."
)
@click.option("--model", metavar="M", help="A model of your own (TOML).")
@shared.options(*shared.SAMPLING, "prob", *shared.OUTPUT)
def fit(
    files: tuple[str, ...], layout: str | None, columns: str | None, model: str | None, **given: Any
) -> None:
    """Fit crossed effects of words, prompts and items."""
    import bayesbias as bb
    from bayesbias.output.store import check_folder

    if given["out"] is not None:
        check_folder(given["out"], "responses", force=given["force"])
    named = {}
    for part in (columns or "").split(","):
        ours, mark, theirs = part.partition("=")
        if part and not (mark and ours.strip() and theirs.strip()):
            raise InputError(
                "--columns: expected OURS=THEIRS", found=part, valid="outcome=score,group=race"
            )
        if part:
            named[ours.strip()] = theirs.strip()
    table = bb.studies.load_responses(files, layout=layout, columns=named)
    progress = False if given["as_json"] else None
    result = bb.studies.fit_responses(table, model, progress=progress, **shared.sampling_of(given))
    shared.show(result, given)


@responses.command()
@click.option(
    "--words", required=True, metavar="TOML", help="Groups of words, templates and items."
)
@click.option("--out", type=shared.PATH, required=True, metavar="FILE", help="A .csv or .tsv file.")
@shared.options("as_json")
def sentences(words: str, out: Path, as_json: bool) -> None:
    """Write balanced sentences to rate."""
    import bayesbias as bb

    if out.suffix not in (".csv", ".tsv"):
        raise InputError(
            "unknown kind of file", where=str(out), found=out.suffix, valid=".csv, .tsv"
        )
    frame = bb.studies.response_sentences(words)
    frame.to_csv(out, index=False, sep="," if out.suffix == ".csv" else "\t")
    if as_json:
        shared.print_json("responses sentences", {"sentences": len(frame), "written": str(out)})
    else:
        click.echo(f"Written  {len(frame)} sentences to {out}")
