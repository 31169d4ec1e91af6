"""The command ``bayesbias wefat``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bayesbias.cli import shared
from bayesbias.core.errors import InputError


@click.command()
@shared.options("embedding")
@click.option(
    "--sets", default="wefat", metavar="LIST", help="A word list with the two sets as classes."
)
@click.option("--classes", metavar="X,Y", help="Two classes of LIST.")
@click.option(
    "--covariates",
    type=shared.PATH,
    required=True,
    metavar="FILE",
    help="CSV with a column word and numbers.",
)
@click.option("--covariate", metavar="COLUMN", help="The column of FILE.")
@click.option("--samples", type=click.IntRange(1), default=99_999, help="Permutations drawn for p.")
@shared.options("postprocess", *shared.READING, *shared.SAMPLING, "prob", *shared.OUTPUT)
def wefat(
    embedding: str | None,
    sets: str,
    classes: str | None,
    covariates: Path,
    covariate: str | None,
    samples: int,
    **given: Any,
) -> None:
    """Relate associations to a number about words."""
    import bayesbias as bb
    from bayesbias.tables.covariates import covariates_given

    if embedding is None:
        raise InputError("nothing to read", valid="--embedding E --covariates FILE")
    shared.check_out(given, "wefat")
    known = covariates_given(covariates, None if covariate is None else [covariate])
    words = bb.load_wordlist(sets, controls="none")
    asked = dict.fromkeys(
        [*words.protected_words, *(word for each in known for word in each.values)]
    )
    vectors = shared.vectors_of({**given, "embedding": embedding}, list(asked))
    result = bb.wefat(
        vectors,
        words,
        covariates,
        covariate,
        classes=None if classes is None else classes.split(","),
        prob=given["prob"],
        samples=samples,
        **shared.sampling_of(given),
    )
    shared.show(result, given)
