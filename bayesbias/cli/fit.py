"""The commands ``bayesbias fit`` and ``bayesbias demo``."""

from __future__ import annotations

from typing import Any

import click

from bayesbias.cli import shared

DEMO = ("minilm-static", "religion")


@click.command()
@shared.options(*shared.VECTORS, "model")
@click.option("--compare-models", is_flag=True, help="Fit the other models of distances too.")
@shared.options(*shared.COVARIATES, *shared.READING, *shared.SAMPLING, *shared.VIEW, *shared.OUTPUT)
def fit(model: str | None, compare_models: bool, **given: Any) -> None:
    """Fit a model to distances of words and attributes."""
    import bayesbias as bb
    from bayesbias.inference.fitting import model_for
    from bayesbias.studies.association.sections import models_section

    if model is not None:
        bb.load_model(model)  # before minutes are spent on vectors
    table = shared.table_of(given)
    spec = bb.load_model(model or model_for(table))
    shared.check_out(given, "groups" if spec.results.between else "association")
    if given["slope"]:
        spec = shared.with_slopes(spec, table, given["slope"])
    result = bb.fit(table, spec, **shared.sampling_of(given))
    if given["counts"] is not None:
        words = [
            str(word)
            for side in ("protected_word", "attribute")
            for word in table.frame[side].unique()
        ]
        result = bb.studies.with_frequency(
            result, shared.counts_of(given, words), prob=given["prob"]
        )
    more = [models_section(result, shared.view_of(given))] if compare_models else []
    shared.show(result, given, more=more)


@click.command()
@click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=1, help="Seed of all random numbers."
)
@shared.options(*shared.OUTPUT)
def demo(seed: int, **given: Any) -> None:
    """Fit shipped vectors to a shipped word list."""
    import bayesbias as bb

    if not given["as_json"]:
        click.echo(
            f"Fitting {DEMO[1]} in {DEMO[0]}: the first time takes about 20 seconds.", err=True
        )
    shared.show(bb.fit(bb.distance_table(*DEMO), seed=seed), given)
