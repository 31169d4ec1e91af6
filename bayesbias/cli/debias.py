"""The command ``bayesbias debias``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bayesbias.cli import shared
from bayesbias.core.errors import InputError


@click.command(cls=shared.Command)
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
    metavar="WORDS",
    help="What to neutralize, or all_others.",
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
def debias(method: str, out: Path, **given: Any) -> None:
    """Debias word vectors and write them."""
    import dataclasses

    import bayesbias as bb

    if given["embedding"] is None or given["wordlist"] is None:
        raise InputError("expected --embedding and --wordlist, got less")
    listed = bb.load_wordlist(given["wordlist"], controls=given["controls"])
    in_sets = [word for group in listed.definitional_sets for word in group]
    wanted = list(dict.fromkeys([*listed.words, *in_sets])) if given["words"] == "listed" else None
    vectors = shared.vectors_of(given, wanted)
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
    notes = [f"Note     {note}" for note in result.notes]
    answer = {**result.as_dict(), "written": str(out)}
    shared.tell(answer, repr(result), *notes, f"Written  {out}")
