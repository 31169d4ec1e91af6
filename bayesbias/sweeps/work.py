"""The work of a sweep that is done in another process: tables made, cells fitted.

Each embedding is read once, for the words of all lists together. Whatever goes wrong belongs to its
cell and does not end the sweep.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bayesbias.core.errors import FitError, InputError
from bayesbias.core.files import plain
from bayesbias.core.workers import describe_error
from bayesbias.embeddings.loading import load_embedding
from bayesbias.embeddings.static import STATIC_FORMAT
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
    location: str,
    sha256: str | None,
    wordlists: Sequence[WordList] | None,
    options: Mapping[str, Any],
) -> tuple[list[PairTable | str], float]:
    """Make the tables of one group: one of distances, or one of each word list; text where that fails."""
    started = time.perf_counter()
    if wordlists is None:
        table_or_message = _table_or_message(
            lambda: _unchanged(load_distances(location, repeats=options["repeats"]), sha256)
        )
        return [table_or_message], time.perf_counter() - started

    def load(words: Sequence[str]) -> Any:
        return load_embedding(
            location,
            words=words,
            allow_pickle=options["allow_pickle"],
            on_invalid_utf8=options["invalid_utf8"],
            progress=False,
        )

    def table(words: WordList) -> PairTable:
        source = load(words.words) if every is None else load_embedding(every, words=words.words)
        return _unchanged(distance_table(source, words), sha256)

    every: Any = None
    try:
        every = load(list(dict.fromkeys(word for words in wordlists for word in words.words)))
    except (
        Exception
    ):  # one list may ask for a word whose vector is broken; the others must not fail with it
        every = None
    tables = [_table_or_message(table, words) for words in wordlists]
    return tables, time.perf_counter() - started


def _table_or_message(make: Callable[..., PairTable], *arguments: Any) -> PairTable | str:
    try:
        return make(*arguments)
    except Exception as error:  # whatever it is, it belongs to this cell and must not end the sweep
        return describe_error(error)


def _unchanged(table: PairTable, expected: str | None) -> PairTable:
    """Refuse a file that changed after its hash was taken: the cell would be filed under the wrong name."""
    digest = table.provenance.get("embedding", table.provenance).get("sha256")
    # The shipped vectors are checked against their card when they are read.
    shipped = table.provenance.get("embedding", {}).get("format") == STATIC_FORMAT
    if expected and digest and digest != expected and not shipped:
        raise InputError("the file changed while the sweep ran", hint="run it again with --resume")
    return table


def fit_cell(table: PairTable, model: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Fit one cell and return all that is kept of it, or ``{"error": message}``."""
    try:
        return _fit_and_summarise(table, model, settings)
    except Exception as error:  # whatever it is, it belongs to this cell and must not end the sweep
        return {"error": describe_error(error)}


def _fit_and_summarise(table: PairTable, model: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    import tempfile

    started = time.perf_counter()
    spec = parse_model(model.encode("utf-8"), settings["model"])
    # One core: there are as many workers as cores already.
    result = fit(
        table,
        spec,
        draws=settings["draws"],
        tune=settings["tune"],
        chains=settings["chains"],
        seed=settings["fit_seed"],
        pointwise=False,
        cores=1,
        progress=False,
    )
    fitted = time.perf_counter()
    prob, rope = settings["prob"], settings["rope"]
    provenance = dict(result.provenance)
    coverage, timing = provenance.pop("coverage"), provenance.pop("timing")
    summaries = [
        record
        for estimand in ("population", "listed_words")
        for record in plain(result.summary(prob, estimand=estimand).to_dict(orient="records"))
    ]
    try:
        contrasts = plain(result.contrasts(prob, rope).to_dict(orient="records"))
    except FitError:  # no two connections to set against each other; the means stand for themselves
        contrasts = []
    standardized = []
    if contrasts and has_variance(spec):
        standardized = plain(
            result.standardized(prob, settings["standard_rope"]).to_dict(orient="records")
        )
    outcome = {
        "n_pairs": len(table),
        "group": spec.results.group,
        "outcome": spec.outcome,
        "summary": summaries,
        "contrasts": contrasts,
        "standardized": standardized,
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
    if settings["keep_fits"]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "fit.nc"
            result.save(path)
            outcome["netcdf"] = path.read_bytes()
    return outcome
