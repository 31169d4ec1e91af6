"""Results of every kind, for the tests of all outputs."""

import functools
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from helpers import changes, responses as answers

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
QUICK = {
    "seed": 1,
    "engine": "quick",
    "draws": 500,
    "chains": 2,
    "pointwise": False,
    "progress": False,
}
SETTINGS = {"seed": 1, "engine": "quick", "draws": 1000, "chains": 2, "progress": False}
GROUPS = {
    "care": ["nurse", "midwife", "nanny", "caregiver"],
    "trades": ["plumber", "welder", "carpenter", "mechanic"],
    "music": ["violinist", "pianist", "cellist"],
    "law": ["judge", "attorney", "prosecutor", "barrister"],
}
SETS = {"tools": ["wrench", "hammer", "drill", "saw"], "health": ["patient", "ward", "clinic"]}
NEAR = {"care": "health", "trades": "tools"}
CONTROLS = ["sky", "rain", "river", "cloud"]


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
    return bb.compare(before, {"hard": after}, seed=1, draws=1000, chains=2, progress=False)


def seat() -> Any:
    return bb.seat("weat6,weat7,sent-weat7", seed=1, cache=False, progress=False)


def seat_with_fits() -> Any:
    settings = {"seed": 1, "cache": False, "progress": False, "draws": 300, "tune": 300}
    return bb.seat("weat7", bayes=True, **settings)


def sentiment() -> Any:
    return bb.sentiment_analysis(bb.list_predictions("m1"))


def sentiment_with_fit() -> Any:
    return bb.studies.fit_sentiment(sentiment(), seed=1, progress=False)


def wefat() -> Any:
    return bb.wefat("minilm-static", "wefat", {"percent_women": WOMEN}, seed=1)


def group_vectors(seed: int = 0) -> tuple[list[str], np.ndarray]:
    """Return vectors in which groups lie far from or close to attribute sets, so that results are clear."""
    rng = np.random.default_rng(seed)
    center = {name: rng.normal(0, 1, 50) for name in ("all", "neutral", *SETS)}
    words = {word: center["neutral"] for word in CONTROLS}
    for name, attributes in SETS.items():
        words |= dict.fromkeys(attributes, center[name])
    for name, protected in GROUPS.items():
        side = NEAR.get(name)
        moved = center["all"] + (center[side] if side else 0)
        words |= dict.fromkeys(protected, moved)
    vectors = np.stack([middle + rng.normal(0, 0.5, 50) for middle in words.values()])
    return list(words), vectors


def group_list(*names: str) -> dict[str, Any]:
    """Return a word list of some groups; no vectors have the last word of a set."""
    listed: dict[str, Any] = {name: {"protected": GROUPS[name]} for name in names}
    sets = {name: [*words, f"rare {name}"] for name, words in SETS.items()}
    return {**listed, "attribute_sets": sets}


def groups() -> Any:
    """Three groups, so that they are compared in pairs."""
    table = bb.distance_table(group_vectors(), group_list("care", "trades", "music"))
    return bb.fit(table, **QUICK)


def groups_and_others() -> Any:
    """Four groups, so that each is compared with the others, and control words."""
    controls = {"neutral": CONTROLS}
    table = bb.distance_table(group_vectors(), group_list(*GROUPS), controls=controls)
    return bb.fit(table, **QUICK | {"draws": 1000, "chains": 4})


def _periods() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Three corpora; the stereotypes of a class come closer to it in each."""
    closer = {**changes.NONE, "associated": -0.1}
    first = changes.table()
    second = changes.changed(first, closer, 1)
    return first, second, changes.changed(second, closer, 2)


def corpora() -> Any:
    """Two corpora, with attribute sets that have other names than the classes."""
    first, _, last = _periods()
    names = {"attribute_class": {"x": "warm", "y": "able"}}
    tables = {"1930s": first.replace(names), "1980s": last.replace(names)}
    return bb.compare(tables, kind="corpora", **SETTINGS)


def corpora_in_order() -> Any:
    """Three corpora on a path that bends."""
    first, second, last = _periods()
    tables = {"1930s": first, "1950s": last, "1980s": second}
    return bb.compare(tables, kind="corpora", ordered=True, **SETTINGS)


def replicates() -> Any:
    """Five sets of vectors."""
    closer = {**changes.NONE, "associated": -0.1}
    tables = {f"r{k}": changes.changed(changes.table(), closer, k) for k in range(1, 6)}
    return bb.fit_replicates(tables, **SETTINGS)


def replicates_with_center() -> Any:
    """Two sets around a center with a stronger association."""
    tables = {f"r{k}": changes.changed(changes.table(), changes.NONE, k) for k in (1, 2)}
    full = changes.changed(changes.table(), {**changes.NONE, "associated": -0.1}, 9)
    return bb.fit_replicates(tables, center=full, **SETTINGS)


def replicates_of_groups() -> Any:
    words, vectors = group_vectors()
    noise = np.random.default_rng(1).normal(0, 0.1, (5, *vectors.shape))
    sets = {f"r{k}": (words, vectors + shift) for k, shift in enumerate(noise)}
    return bb.fit_replicates(sets, group_list("care", "trades"), **SETTINGS)


def responses() -> Any:
    """Numbers about two groups, with an interval of each item and prompt."""
    return answers.quick(answers.crossed(difference=1.0, spread=0.1))


def responses_with_missing() -> Any:
    """Numbers; one group has texts instead of some of its answers."""
    frame = answers.crossed()
    lost = frame["group"].eq("a") & frame["item"].eq("i0")
    texts = frame["outcome"].round(3).astype(str)
    return answers.quick(frame.assign(outcome=texts.mask(lost, "I would not know")))


def responses_in_pairs() -> Any:
    """Each group is asked the same questions."""
    return answers.quick(answers.crossed(words=1, templates=4, items=5, difference=1.0, spread=0.1))


def responses_of_models() -> Any:
    """Four groups and two models, so that only the largest differences are named."""
    names = ("a", "b", "c", "d")
    frame = answers.crossed(names, models=("m", "n"), words=2, difference=3.0, spread=0.2)
    return answers.quick(frame, draws=2000)


def responses_without_groups() -> Any:
    """Two models, compared with each other."""
    frame = answers.crossed(models=("m", "n"), groups=("a",), words=6)
    return answers.quick(frame.drop(columns="group"))


def responses_of_choices() -> Any:
    """Answers of 0 or 1, several to each question."""
    return answers.fitted(answers.choice_answers())


def responses_of_sentence_pairs() -> Any:
    """Two models and seven types of bias, so that published scores are cut on the terminal."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "crows.csv"
        answers.crows_pairs().to_csv(path, index=False)
        return answers.quick(path)


def sweep(folder: str) -> Any:
    plan = {
        "embeddings": ["minilm-static"],
        "wordlists": ["gender", "weat8"],
        "controls": ["2021"],
        "settings": {"seed": 1},
    }
    return bb.run_sweep(plan, folder, workers=1, progress=False)


MAKERS = {
    maker.__name__: functools.cache(maker)
    for maker in (
        fit,
        fit_with_slopes,
        comparison,
        seat,
        seat_with_fits,
        sentiment,
        sentiment_with_fit,
        wefat,
        groups,
        groups_and_others,
        corpora,
        corpora_in_order,
        replicates,
        replicates_with_center,
        replicates_of_groups,
        responses,
        responses_with_missing,
        responses_in_pairs,
        responses_of_models,
        responses_without_groups,
        responses_of_choices,
        responses_of_sentence_pairs,
    )
}
