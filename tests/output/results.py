"""Eight results, one of each kind, for the tests of all outputs."""

import functools
from typing import Any

import pandas as pd

import bayesbias as bb

WORDS = [
    "nurse",
    "doctor",
    "engineer",
    "teacher",
    "secretary",
    "pilot",
    "lawyer",
    "cook",
    "janitor",
    "artist",
]
WOMEN = dict(zip(WORDS, (90, 30, 12, 75, 95, 8, 35, 42, 30, 50), strict=True))
QUICK = {"seed": 1, "engine": "quick", "pointwise": False, "progress": False}


def fit() -> Any:
    return bb.fit(bb.distance_table("minilm-static", "gender"), **QUICK)


def fit_with_slopes() -> Any:
    table = bb.distance_table("minilm-static", "gender", controls="2021")
    length = pd.DataFrame({"word": list(dict.fromkeys(table.frame["attribute"]))})
    table = bb.tables.join_covariates(
        table, length.assign(length=length["word"].str.len().astype(float))
    )
    return bb.fit(table, bb.models.slopes_for("default", table.frame, "length"), **QUICK)


def comparison() -> Any:
    before = bb.distance_table("minilm-static", "gender", controls="2021")
    hard = bb.hard_debias("minilm-static", "gender").embedding
    after = bb.distance_table(hard, "gender", controls="2021")
    return bb.compare(before, {"hard": after}, seed=1, progress=False)


def seat() -> Any:
    return bb.seat("weat6,weat7,sent-weat7", seed=1, cache=False, progress=False)


def sentiment() -> Any:
    return bb.sentiment_analysis(bb.list_predictions("m1"))


def sentiment_with_fit() -> Any:
    return bb.studies.fit_sentiment(sentiment(), seed=1, progress=False)


def wefat() -> Any:
    return bb.wefat("minilm-static", "wefat", {"percent_women": WOMEN}, seed=1)


def sweep(folder: str) -> Any:
    plan = {
        "embeddings": ["minilm-static"],
        "wordlists": ["gender", "weat7"],
        "controls": ["2021"],
        "settings": {"seed": 1},
    }
    return bb.run_sweep(plan, folder, workers=1, progress=False)


MAKERS = {
    maker.__name__: functools.cache(maker)
    for maker in (fit, fit_with_slopes, comparison, seat, sentiment, sentiment_with_fit, wefat)
}
