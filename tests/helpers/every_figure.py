"""Every public figure, drawn from results that no sampler has run for."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd

mpl.use("Agg")

import bayesbias as bb
from bayesbias import plots as figures
from bayesbias.embeddings import describe_vectors, postprocess
from bayesbias.models.variants import with_slopes
from bayesbias.simulation.false_alarms import simulate_grid
from bayesbias.simulation.paper import paper_draws
from bayesbias.tables.reading import as_pair_table
from helpers.changes import NONE, changed, table
from helpers.counted import counted
from helpers.covariates import made_up_test
from helpers.draws import made_up_comparison, made_up_fit
from helpers.figures import simulated
from helpers.fits import made_up, pairs
from helpers.sweeps import made_up_sweep
from helpers.tables import with_covariates

WORDS = {"men": ["he", "him", "his"], "women": ["she", "her", "hers"]}


@functools.cache
def _fit() -> Any:
    return made_up_fit(simulated(WORDS))


@functools.cache
def _comparison() -> Any:
    before = table()
    after = {
        "method 1": changed(before, NONE | {"associated": 0.1}, 1),
        "method 2": changed(before, NONE | {"associated": 0.05}, 2),
    }
    return made_up_comparison(
        as_pair_table(before), {k: as_pair_table(v) for k, v in after.items()}
    )


@functools.cache
def _corpora() -> Any:
    corpora = {"1930s": table(), "1980s": changed(table(), NONE | {"associated": -0.05}, 1)}
    return bb.compare(corpora, kind="corpora", draws=500, chains=2, seed=1, engine="quick")


@functools.cache
def _replicates() -> Any:
    sets = {f"r{k}": changed(table(), NONE, k) for k in range(1, 4)}
    return bb.fit_replicates(sets, draws=500, chains=2, seed=1, engine="quick")


@functools.cache
def _seat() -> Any:
    found = bb.seat(["weat7", "sent-weat7"], seed=1, cache=False)
    drawn = {"contrast": [-0.04, -0.02], "hpdi_low": [-0.07, -0.05], "hpdi_high": [-0.01, 0.01]}
    shares = {"share_word": [0.5, 0.4], "share_template": [0.0, 0.2], "share_sentence": [0.1, 0.1]}
    shares |= {"share_residual": [0.4, 0.3], "converged": [True, True]}
    provenance = {**found.provenance, "prob": 0.89}
    return dataclasses.replace(
        found, frame=found.frame.assign(**drawn, **shares), provenance=provenance
    )


@functools.cache
def _sentiment() -> Any:
    sentences = bb.sentiment_table(bb.list_predictions("m1"))
    return made_up_fit(sentences, "sentiment")


@functools.cache
def _analysis() -> Any:
    return bb.sentiment_analysis(bb.list_predictions("m1"))


@functools.cache
def _shapes() -> Any:
    rng = np.random.default_rng(1)
    vectors = {f"w{i}": rng.normal(size=12) + np.eye(12)[0] for i in range(30)}
    source = bb.load_embedding(vectors)
    return {
        "as they are": describe_vectors(source),
        "center": describe_vectors(postprocess(source, "center")),
    }


@functools.cache
def _grid() -> pd.DataFrame:
    return simulate_grid([2, 8], attribute_sd=[0.06], draws=100, seed=1)


@functools.cache
def _counted() -> Any:
    return counted(moved=0.03)


@functools.cache
def _wefat() -> Any:
    return made_up_test(far=0.3)


@functools.cache
def _sloped() -> Any:
    spec = with_slopes("crossed", "year")
    scales = {name: 0.1 for name, about in spec.parameters.items() if about.positive}
    return made_up(with_covariates(pairs()), spec, scales)


def _sweep() -> Any:
    return made_up_sweep([{"standardized": -0.5}, {"standardized": 0.2, "wordlist": "meals.toml"}])


@functools.cache
def _responses() -> Any:
    rng = np.random.default_rng(1)
    names = ("group", "word", "template", "item", "model")
    frame = pd.DataFrame(
        [
            (g, f"{g}{w}", f"prompt {t}", i, m)
            for g in ("black", "white")
            for w in range(3)
            for t in range(4)
            for i in ("angry", "happy", "sad")
            for m in ("one", "two")
        ],
        columns=names,
    ).assign(outcome=lambda own: rng.normal(0.5, 0.1, len(own)))
    table = bb.responses_table(frame)
    return bb.fit_responses(table, draws=500, chains=2, seed=1, engine="quick")


DATA: dict[str, tuple[Callable[..., Any], Callable[[], Any]]] = {
    "plot_changes": (figures.plot_changes, _comparison),
    "plot_connections": (bb.plot_connections, _fit),
    "plot_contrasts": (bb.plot_contrasts, _fit),
    "plot_controls": (figures.plot_controls, _comparison),
    "plot_corpora": (figures.plot_corpora, _corpora),
    "plot_correlations": (figures.plot_correlations, _wefat),
    "plot_cosines": (figures.plot_cosines, _shapes),
    "plot_dimensions": (figures.plot_dimensions, _shapes),
    "plot_earnings": (figures.plot_earnings, _analysis),
    "plot_covariate": (figures.plot_covariate, _wefat),
    "plot_false_alarms": (figures.plot_false_alarms, _grid),
    "plot_frequencies": (figures.plot_frequencies, _counted),
    "plot_frequency_contrasts": (figures.plot_frequency_contrasts, _counted),
    "plot_genders": (figures.plot_genders, _sentiment),
    "plot_noun_pairs": (figures.plot_noun_pairs, _sentiment),
    "plot_paper": (figures.plot_paper, lambda: paper_draws("no difference, sd 0.05")),
    "plot_ppc": (bb.plot_ppc, _fit),
    "plot_priors": (bb.plot_priors, _fit),
    "plot_professions": (figures.plot_professions, _sentiment),
    "plot_ranking": (figures.plot_ranking, _comparison),
    "plot_raw_pairs": (figures.plot_raw_pairs, _comparison),
    "plot_replicates": (figures.plot_replicates, _replicates),
    "plot_response_items": (figures.plot_response_items, _responses),
    "plot_response_models": (figures.plot_response_models, _responses),
    "plot_response_templates": (figures.plot_response_templates, _responses),
    "plot_seat": (figures.plot_seat, _seat),
    "plot_seat_contrasts": (figures.plot_seat_contrasts, _seat),
    "plot_ppc of sentiment": (bb.plot_ppc, _sentiment),
    "plot_slopes": (figures.plot_slopes, _sloped),
    "plot_sweep": (figures.plot_sweep, _sweep),
    "plot_words": (bb.plot_words, _fit),
}
