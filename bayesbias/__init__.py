"""bayesbias: social association in vectors and classifiers, pair by pair, with honest uncertainty."""

from __future__ import annotations

import importlib
from typing import Any

_WHERE = {
    "errors": ["BayesbiasError", "FitError", "InputError"],
    "wordlist": [
        "WordList",
        "check_wordlist",
        "load_wordlist",
        "pairs",
        "shipped_wordlists",
        "wordlist_template",
    ],
    "embedding": ["Embedding", "load_embedding", "save_word2vec", "shipped_embeddings", "static_vectors"],
    "encoder": [
        "Encoder",
        "cbow_encoder",
        "describe_encoder",
        "encode",
        "function_encoder",
        "load_encoder",
        "sentence_transformers_encoder",
        "static_encoder",
        "transformers_encoder",
        "vectors_encoder",
    ],
    "distance": ["PairTable", "distance_table", "read_distances"],
    "sentences": ["SentenceTest", "read_test", "sentence_test", "shipped_tests", "write_test"],
    "_classifiers": ["Classifier", "train_bilstm", "train_bow"],
    "_predictions": [
        "ClassifierError",
        "Occupations",
        "Predictions",
        "load_classifier",
        "load_occupations",
        "occupation_sentences",
        "predict",
        "read_predictions",
    ],
    "sentiment": [
        "SentimentAnalysis",
        "analysis_of_table",
        "earnings_correlation",
        "noun_pair_differences",
        "paired_test",
        "profession_sentiment",
        "published_analysis",
        "sentiment_table",
        "shipped_predictions",
        "top_bottom",
    ],
    "debias": ["Debiased", "hard_debias", "soft_debias"],
    "spec": ["ModelSpec", "load_model", "shipped_models", "trimmed"],
    "permutation": ["PermutationResult", "holm", "permutation_test"],
    "baseline": ["direct_bias", "effect_size", "mac", "relative_norm_distance", "weat"],
    "rrandom": ["RRandom"],
    "simulation": ["null_distribution", "paper_draws", "simulate_grid", "simulate_paper"],
    "reporting": ["finding", "in_words", "shortcomings"],
    "_reporting_sentiment": [
        "classifier_contrasts",
        "analysis_of",
        "carrying_pairs",
        "sentiment_doubts",
        "sentiment_in_words",
        "with_analysis",
    ],
    "htmlreport": ["write_report"],
    "_figures_critique": ["plot_false_alarms", "plot_paper"],
    "posterior": ["ROPE", "BiasFit", "compare_models", "load_fit", "loo"],
    "model": ["build", "fit"],
    "association": ["SeatResult", "leave_one_out", "seat", "sentence_table"],
    "comparison": ["Comparison", "compare", "join_pairs", "load_comparison"],
    "construction": ["Construction", "find_construction"],
    "_figures_seat": ["plot_seat", "plot_seat_contrasts", "save_seat_figures"],
    "_figures_sentiment": [
        "plot_earnings",
        "plot_genders",
        "plot_noun_pairs",
        "plot_professions",
        "plot_sentiment_predictive",
        "save_sentiment_figures",
    ],
    "_figures_comparison": ["plot_changes", "plot_ranking", "plot_raw_pairs", "save_comparison_figures"],
    "calibration": [
        "Scenario",
        "calibrate",
        "negative_controls",
        "plan_words",
        "scenario_from_fit",
        "simulate_table",
    ],
    "sweep": ["SweepPlan", "SweepResult", "load_plan", "run_sweep"],
    "figures": [
        "plot_connections",
        "plot_contrasts",
        "plot_predictive",
        "plot_priors",
        "plot_words",
        "save_figures",
    ],
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
