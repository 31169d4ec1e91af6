"""The command ``bayesbias wefat``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bayesbias.cli import shared
from bayesbias.core.errors import InputError


@click.command(cls=shared.Command)
@shared.options("embedding", "own.wefat", "postprocess", *shared.READING, *shared.SAMPLING)
@shared.options("samples", "prob", "require", *shared.OUTPUT)
def wefat(
    sets: str, classes: str | None, covariates: Path, covariate: str | None, **given: Any
) -> None:
    """Relate associations to a number about words."""
    import bayesbias as bb
    from bayesbias.tables.covariates import covariates_given

    if given["embedding"] is None:
        raise InputError("expected vectors, got none", hint="add --embedding E")
    shared.check_out(given, "wefat")
    known = covariates_given(covariates, None if covariate is None else [covariate])
    words = bb.load_wordlist(sets, controls="none")
    asked = dict.fromkeys(
        [*words.protected_words, *(word for each in known for word in each.values)]
    )
    vectors = shared.vectors_of(given, list(asked))
    result = bb.wefat(
        vectors,
        words,
        known,
        covariate,
        classes=None if classes is None else classes.split(","),
        prob=given["prob"],
        samples=given["samples"],
        **{name: given[name] for name in shared.SAMPLING},
    )
    shared.show(result, given)
