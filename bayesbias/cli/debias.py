"""The command ``bayesbias debias``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bayesbias.cli import shared
from bayesbias.core.errors import InputError


@click.command()
@shared.options("embedding", "wordlist", "controls")
@click.option(
    "--method", type=click.Choice(["hard", "soft"]), default="hard", help="Method of debiasing."
)
@click.option(
    "--out",
    type=shared.PATH,
    required=True,
    metavar="FILE",
    help="New vectors: .txt, .vec, .bin, .npz.",
)
@click.option("--k", type=click.IntRange(1), help="Components of the bias subspace [classes - 1].")
@click.option(
    "--neutralize",
    type=click.Choice(["attributes", "all_others"]),
    default="attributes",
    help="Words to neutralize.",
)
@click.option(
    "--words", type=click.Choice(["all", "listed"]), default="all", help="Vectors to write."
)
@click.option(
    "--equalize/--no-equalize", default=True, help="Hard: equalize the definitional sets."
)
@click.option(
    "--overlap",
    type=click.Choice(["merge", "last"]),
    default="merge",
    help="Hard: sets that share words.",
)
@click.option("--lam", type=shared.POSITIVE, default=0.2, help="Soft: weight of the bias subspace.")
@shared.options(*shared.READING, "as_json")
def debias(
    embedding: str | None,
    wordlist: str | None,
    controls: str | None,
    method: str,
    out: Path,
    as_json: str | None,
    **given: Any,
) -> None:
    """Debias word vectors and write them."""
    import dataclasses

    import bayesbias as bb

    if embedding is None or wordlist is None:
        raise InputError("nothing to debias", valid="--embedding E --wordlist W")
    listed = bb.load_wordlist(wordlist, controls=controls)
    in_sets = [word for group in listed.definitional_sets for word in group]
    wanted = list(dict.fromkeys([*listed.words, *in_sets])) if given["words"] == "listed" else None
    vectors = shared.vectors_of({**given, "embedding": embedding}, wanted)
    if wanted is not None and vectors.open_vocabulary:
        vectors = dataclasses.replace(vectors, lookup=None)
    settings = {"k": given["k"], "neutralize": given["neutralize"]}
    if method == "hard":
        result = bb.hard_debias(
            vectors, listed, equalize=given["equalize"], overlap=given["overlap"], **settings
        )
    else:
        result = bb.soft_debias(vectors, listed, lam=given["lam"], **settings)
    bb.save_embedding(result.embedding, out)
    if as_json:
        shared.print_json("debias", {**result.as_dict(), "written": str(out)})
        return
    click.echo(repr(result))
    for note in result.notes:
        click.echo(f"Note     {note}")
    click.echo(f"Written  {out}")
