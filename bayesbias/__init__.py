"""bayesbias: social association in vectors and classifiers, pair by pair, with honest uncertainty."""

from __future__ import annotations

import importlib
from typing import Any

_WHERE = {
    "basics.errors": ["BayesbiasError", "FitError", "InputError"],
    "classifiers.bag_of_words": ["train_bow"],
    "classifiers.bilstm": ["train_bilstm"],
    "classifiers.classifier": ["Classifier"],
    "classifiers.loading": ["load_classifier"],
    "classifiers.predicting": ["ClassifierError", "predict"],
    "classifiers.prediction_files": ["Predictions", "read_predictions", "shipped_predictions"],
    "debiasing.account": ["Debiased"],
    "debiasing.hard": ["hard_debias"],
    "debiasing.soft": ["soft_debias"],
    "encoders.averages": ["cbow_encoder", "static_encoder"],
    "encoders.encoder": ["Encoder", "describe_encoder", "function_encoder"],
    "encoders.encoding": ["encode"],
    "encoders.loading": ["load_encoder"],
    "encoders.precomputed": ["vectors_encoder"],
    "encoders.pretrained": ["sentence_transformers_encoder", "transformers_encoder"],
    "figures.change": ["plot_changes", "plot_ranking", "plot_raw_pairs", "save_comparison_figures"],
    "figures.contrasts": ["plot_contrasts"],
    "figures.critique": ["plot_false_alarms", "plot_paper"],
    "figures.predictive": ["plot_predictive"],
    "figures.priors": ["plot_priors"],
    "figures.sentences": ["plot_seat", "plot_seat_contrasts", "save_seat_figures"],
    "figures.sentiment": [
        "plot_noun_pairs",
        "plot_professions",
        "plot_sentiment_predictive",
        "save_sentiment_figures",
    ],
    "figures.sentiment_scatter": ["plot_earnings", "plot_genders"],
    "figures.words": ["plot_connections", "plot_words", "save_figures"],
    "findings.sentiment": ["carrying_pairs", "sentiment_doubts", "sentiment_in_words"],
    "findings.words": ["finding", "in_words", "shortcomings"],
    "inference.estimands": ["ROPE"],
    "inference.fitting": ["build", "fit"],
    "inference.posterior": ["BiasFit"],
    "inference.prediction": ["compare_models", "loo"],
    "inference.saving": ["load_fit"],
    "models.loading": ["load_model", "shipped_models"],
    "models.spec": ["ModelSpec"],
    "models.trimming": ["trimmed"],
    "report.page": ["write_report"],
    "scores.association": ["effect_size", "weat"],
    "scores.averages": ["mac"],
    "scores.permutation": ["PermutationResult", "holm", "permutation_test"],
    "scores.projections": ["direct_bias", "relative_norm_distance"],
    "simulation.alarms": ["simulate_grid"],
    "simulation.calibration": ["calibrate"],
    "simulation.nulls": ["null_distribution"],
    "simulation.paper": ["paper_draws", "simulate_paper"],
    "simulation.planning": ["plan_words"],
    "simulation.rrandom": ["RRandom"],
    "simulation.scenario": ["Scenario", "scenario_from_fit", "simulate_table"],
    "simulation.shuffles": ["negative_controls"],
    "studies.change": ["compare"],
    "studies.comparison": ["Comparison", "load_comparison"],
    "studies.construction": ["Construction", "find_construction"],
    "studies.seat_result": ["SeatResult"],
    "studies.sentences": ["leave_one_out", "seat"],
    "studies.sentiment": ["SentimentAnalysis", "analysis_of_table", "published_analysis"],
    "studies.sentiment_fit": ["analysis_of", "classifier_contrasts", "with_analysis"],
    "studies.sentiment_tests": [
        "earnings_correlation",
        "noun_pair_differences",
        "paired_test",
        "profession_sentiment",
        "top_bottom",
    ],
    "sweeps.plan": ["SweepPlan", "load_plan"],
    "sweeps.result": ["SweepResult"],
    "sweeps.sweeping": ["run_sweep"],
    "tables.change": ["join_pairs"],
    "tables.distances": ["distance_table"],
    "tables.pair_table": ["PairTable"],
    "tables.reading": ["read_distances"],
    "tables.sentences": ["sentence_table"],
    "tables.sentiment": ["sentiment_table"],
    "vectors.embedding": ["Embedding"],
    "vectors.loading": ["load_embedding"],
    "vectors.static": ["shipped_embeddings", "static_vectors"],
    "vectors.writing": ["save_word2vec"],
    "words.listfile": ["check_wordlist", "load_wordlist", "shipped_wordlists", "wordlist_template"],
    "words.occupations": ["Occupations", "load_occupations", "occupation_sentences"],
    "words.pairing": ["pairs"],
    "words.sentence_making": ["sentence_test", "shipped_tests"],
    "words.sentence_tests": ["SentenceTest", "read_test", "write_test"],
    "words.wordlist": ["WordList"],
}
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names}

__version__ = "0.1.0"
__all__ = ["__version__", *sorted(_MODULE_OF)]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'bayesbias' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"bayesbias.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
