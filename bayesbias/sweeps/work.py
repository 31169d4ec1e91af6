"""The work of a sweep that is done in another process: tables made, cells fitted.

Each embedding is read once, for the words of all lists together. Whatever goes wrong belongs to its
cell and does not end the sweep.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bayesbias.core.errors import FitError
from bayesbias.core.files import plain, records
from bayesbias.core.workers import describe_error
from bayesbias.embeddings.loading import load_embedding
from bayesbias.inference.fitting import fit
from bayesbias.inference.spreads import has_variance
from bayesbias.inference.view import View
from bayesbias.models.loading import parse_model
from bayesbias.studies.association.interpretation import interpret_fit
from bayesbias.tables.distances import distance_table
from bayesbias.tables.pair_table import PairTable
from bayesbias.tables.reading import load_distances
from bayesbias.wordlists.wordlist import WordList


def make_tables(
    location: str, wordlists: Sequence[WordList] | None, options: Mapping[str, Any]
) -> tuple[list[PairTable | str], float]:
    """Make the table of distances, or one of each word list; a text where that fails.

    Return them and the seconds it took.
    """
    started = time.perf_counter()

    def load(words: Sequence[str]) -> Any:
        return load_embedding(
            location,
            words=words,
            vocab=options["vocab"],
            key=options["key"],
            on_bad_lines=options["bad_lines"],
            allow_pickle=options["allow_pickle"],
            progress=False,
        )

    if wordlists is None:
        tables = [_or_message(load_distances, location, repeats=options["repeats"])]
    else:
        every = _or_message(
            load, list(dict.fromkeys(w for words in wordlists for w in words.words))
        )
        if isinstance(every, str):  # one list may ask for a word whose vector is broken
            tables = [
                _or_message(lambda of: distance_table(load(of.words), of), of) for of in wordlists
            ]
        else:
            tables = [_or_message(distance_table, every, words) for words in wordlists]
    return tables, time.perf_counter() - started


def _or_message(make: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    try:
        return make(*arguments, **options)
    except Exception as error:  # whatever it is, it belongs to this cell
        return describe_error(error)


def fit_cell(table: PairTable, model: str, settings: Mapping[str, Any]) -> dict[str, Any] | str:
    """Fit one cell and return all that is kept of it, or a message."""
    return _or_message(_fit_and_describe, table, model, settings)


def _fit_and_describe(table: PairTable, model: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    started = time.perf_counter()
    spec = parse_model(model.encode("utf-8"), settings["model"])
    sampling = {name: settings[name] for name in ("draws", "tune", "chains", "seed")}
    # One core: there are as many workers as cores already.
    result = fit(table, spec, pointwise=False, cores=1, progress=False, **sampling)
    fitted = time.perf_counter()
    prob, rope = settings["prob"], settings["rope"]
    provenance = dict(result.provenance)
    coverage, timing = provenance.pop("coverage"), provenance.pop("timing")
    unit = "cosine distance" if spec.outcome == "distance" else spec.outcome
    rows: list[dict[str, Any]] = []
    drawn, overall = {}, {"level": "overall", "estimand": "population"}
    for estimand in ("population", "listed_words"):
        means = result.summary(prob, estimand=estimand).rename(columns={spec.results.group: "term"})
        rows += records(means.assign(quantity="mean", level="overall", name="all", unit=unit))
    try:
        contrasts = result.contrasts(prob, rope).rename(columns={"contrast": "term"})
        rows += records(contrasts.assign(quantity="contrast", unit=unit))
        drawn["contrast"] = result.draws_of("contrasts", **overall)
        if has_variance(spec):
            standard = result.standardized(prob, settings["standard_rope"])
            standard = standard.rename(columns={"contrast": "term"})
            rows += records(standard.assign(quantity="standardized"))
            drawn["standardized"] = result.draws_of("standardized", **overall)
    except FitError:  # no two connections to contrast; the means stand for themselves
        pass
    out = {
        "n_pairs": len(table),
        "rows": rows,
        "diagnostics": plain(result.diagnostics()),
        "warnings": list(interpret_fit(result, View(prob, rope)).warnings),
        "coverage": coverage,
        "provenance": provenance,
        "timing": {
            "sample_s": timing["sample_s"],
            "fit_s": round(fitted - started, 4),
            "summarise_s": round(time.perf_counter() - fitted, 4),
        },
    }
    if drawn:
        buffer = io.BytesIO()
        arrays: Any = {name: each.to_numpy().astype(np.float32) for name, each in drawn.items()}
        np.savez_compressed(buffer, terms=drawn["contrast"]["contrast"].to_numpy(), **arrays)
        out["draws"] = buffer.getvalue()
    return out
