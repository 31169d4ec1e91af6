"""The command ``bayesbias responses`` and its subcommands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bayesbias.cli import shared
from bayesbias.core.errors import InputError


@click.group(cls=shared.Group)
def responses() -> None:
    """Compare answers about groups, of any model."""


@responses.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--layout", metavar="NAME", help="Layout of the files; by default what fits.")
@click.option("--columns", metavar="OURS=THEIRS,...", help="Such as outcome=score,group=race.")
@click.option("--model", metavar="M", help="A model of your own (TOML).")
@shared.options(*shared.SAMPLING, "prob", "rope", "require", *shared.OUTPUT, rope=None)
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
                f"expected OURS=THEIRS, such as outcome=score, got {part!r}", where="--columns"
            )
        if part:
            named[ours.strip()] = theirs.strip()
    table = bb.studies.load_responses(files, layout=layout, columns=named)
    result = bb.studies.fit_responses(table, model, rope=given["rope"], **shared.sampling_of(given))
    shared.show(result, {**given, "rope": result.rope})


@responses.command()
@click.option(
    "--words", required=True, metavar="TOML", help="Groups of words, templates and items."
)
@click.option("--out", type=shared.PATH, required=True, metavar="FILE", help="A .csv or .tsv file.")
@shared.options("as_json")
def sentences(words: str, out: Path, **given: Any) -> None:
    """Write balanced sentences to rate."""
    import bayesbias as bb

    if out.suffix not in (".csv", ".tsv"):
        raise InputError(f"expected a .csv or .tsv file, got {out.name!r}", where="--out")
    frame = bb.studies.response_sentences(words)
    frame.to_csv(out, index=False, sep="," if out.suffix == ".csv" else "\t")
    said = f"Written  {len(frame)} sentences to {out}"
    shared.tell({"sentences": len(frame), "written": str(out)}, said)
