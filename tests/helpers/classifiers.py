"""A classifier that needs no library, and phrases to train one on."""

from __future__ import annotations

import math

import pytest

import bayesbias as bb
from bayesbias.classifiers.predictions import Predictions


def score(sentences):
    """A classifier whose predictions depend on the sentence alone, and know good from bad."""
    good = {"wonderful", "love", "delightful", "success", "happy", "best", "charming", "joy"}
    return [
        0.2 + 0.5 * any(w in s for w in good) + 0.25 * math.sin(sum(map(ord, s))) ** 2
        for s in sentences
    ]


def toy(name="toy", **changes) -> Predictions:
    return bb.score_sentences(score, name=name, **changes)


PHRASES = [
    "a wonderful film",
    "I love it",
    "charming and happy",
    "a terrible film",
    "I hate it",
    "dull and bad",
]


LABELS = [1, 1, 1, 0, 0, 0]


def pipeline(labels):
    sklearn = pytest.importorskip("sklearn", reason="needs the extra `classifiers`")
    assert sklearn
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    return make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(PHRASES, labels)
