"""The commands ``bayesbias fit`` and ``bayesbias demo``."""

from dataclasses import replace
from typing import Any

import click

import bayesbias as bb
from bayesbias.cli import shared
from bayesbias.core import InputError

DEMO = ("minilm-static", "gender")
SINGLE = ("distances", "slope", "counts", "covariates", "common_words")
"""Options of one set of vectors."""


@shared.command(
    *shared.VECTORS,
    "model",
    "own.fit",
    *shared.COVARIATES,
    *shared.READING,
    *shared.SAMPLING,
    *shared.VIEW,
    "require",
    *shared.OUTPUT,
)
def fit(model: str | None, compare_models: bool, **given: Any) -> None:
    """Fit a model to distances of words and attributes."""
    from bayesbias.inference.fitting import model_for
    from bayesbias.studies.association.sections import models_section

    if model is not None:
        bb.load_model(model)  # before minutes are spent on vectors
    several = any(given[name] for name in ("replicate", "contexts", "center", "kind"))
    if several and compare_models:
        raise InputError("--compare-models: expected one set of vectors, got replicates")
    if not several:
        table = shared.table_of(given)
        both = [*table.frame["protected_word"], *table.frame["attribute"]]
        words = list(dict.fromkeys(map(str, both)))
        alone = not any([compare_models, *(given[name] for name in (*SINGLE, "allow_pickle"))])
        found = table.provenance.get("embedding", {}).get("several_vectors", 0)
        if 2 * found > len(words) and given["contexts"] is None and alone:
            given |= {"contexts": 10}
            several = True
    if several:
        shared.check_out(given, "replicates")
        shared.show(_replicates(model, given), given)
        return
    spec = bb.load_model(model or model_for(table))
    shared.check_out(given, "groups" if spec.results.between else "association")
    if given["slope"]:
        spec = shared.with_slopes(spec, table, given["slope"])
    result = bb.fit(table, spec, **shared.sampling_of(given))
    if given["counts"] is not None:
        counts = shared.counts_of(given, words)
        result = bb.studies.with_frequency(result, counts, prob=given["prob"])
    more = [models_section(result, given["prob"])] if compare_models else []
    shared.show(result, given, more=more)


def _replicates(model: str | None, given: dict[str, Any]) -> Any:
    """Fit several sets of vectors, or resamples of the contexts of one file, and pool them."""
    sources = {path: path for path in given["replicate"]}
    apart = list(SINGLE)
    if given["contexts"]:
        apart += ["replicate", "center", "kind", "allow_pickle"]
    elif not sources:
        raise InputError("expected --replicate E, got none", where="--center and --kind")
    if unused := [f"--{name.replace('_', '-')}" for name in apart if given[name]]:
        option = "--contexts" if given["contexts"] else "--replicate"
        raise InputError(f"expected vectors and a word list, got {', '.join(unused)}", where=option)
    if given["embedding"] is None or given["wordlist"] is None:
        raise InputError("expected --embedding and --wordlist, got less")
    center = given["center"]
    if given["contexts"]:
        center = given["embedding"]
        words = bb.load_wordlist(given["wordlist"], controls=given["controls"]).words
        reading = {"vocab": given["vocab"], "key": given["key"], "on_bad_lines": given["bad_lines"]}
        reading["words"] = None if given["postprocess"] else words
        sources |= bb.resample_contexts(center, given["contexts"], given["seed"], **reading)
    else:
        sources = {given["embedding"]: given["embedding"], **sources}
        if len(sources) <= len(given["replicate"]):
            raise InputError("expected different files, got one twice", where="--replicate")
        names = [shared.stem(path) for path in sources]
        if len(set(names)) == len(names):
            sources = dict(zip(names, sources.values(), strict=True))

    def table(source: Any) -> Any:
        return shared.table_of({**given, "embedding": source})

    result = bb.fit_replicates(
        {name: table(source) for name, source in sources.items()},
        None,
        model,
        kind=given["kind"] or "resamples",
        center=None if center is None else table(center),
        **shared.sampling_of(given),
    )
    if not given["contexts"]:
        return result
    return replace(result, provenance={**result.provenance, "contexts": given["contexts"]})


@shared.command("seed", *shared.OUTPUT, seed=1)
def demo(seed: int, **given: Any) -> None:
    """Fit shipped vectors to a shipped word list."""
    shared.check_out(given, "association")
    if not given["as_json"]:
        click.echo(
            f"Fitting {DEMO[1]} in {DEMO[0]}: the first time takes about 20 seconds.", err=True
        )
    shared.show(bb.fit(bb.distance_table(*DEMO), seed=seed), given)
