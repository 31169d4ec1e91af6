"""A small sentence test, a made-up encoder, and the scores by slow loops."""

from __future__ import annotations

import math
import zlib

import numpy as np

from bayesbias import seat, sentence_test
from bayesbias.encoders.loading import load_encoder
from bayesbias.wordlists.sentence_tests import SETS
from helpers.seeds import shifted

OWN = {
    "nurses": {"protected": ["nurse", "midwife", "carer"], "attributes": ["warm", "kind", "soft"]},
    "engineers": {
        "protected": ["engineer", "welder", "smith"],
        "attributes": ["cold", "harsh", "hard"],
    },
}


KINDS = {
    "person": ["nurse", "midwife", "carer", "engineer", "welder", "smith"],
    "adjective": ["warm", "kind", "soft", "cold", "harsh", "hard"],
}


FAST = {"draws": 200, "tune": 300, "chains": 2}


def own(level="sentence"):
    return sentence_test(OWN, level=level, kinds=KINDS if level == "sentence" else None)


def vector(text):
    return np.random.default_rng(zlib.crc32(text.encode())).normal(size=12)


def toy(sentences):
    """Mean of one vector per token and a part of the whole sentence's own: words, templates and residual."""
    return [
        np.mean([vector(token) for token in text.split()], axis=0) + 0.2 * vector(text)
        for text in sentences
    ]


def cosine(u, v):
    return float(np.dot(u, v) / math.sqrt(np.dot(u, u) * np.dot(v, v)))


def slow_scores(test, encode):
    """s(w, A, B) of every target, sentence by sentence (section 2 of the paper)."""
    vectors = {name: encode(test.sentences(name)) for name in SETS}

    def score(w):
        return np.mean([cosine(w, a) for a in vectors["attr1"]]) - np.mean(
            [cosine(w, b) for b in vectors["attr2"]]
        )

    return [score(w) for w in vectors["targ1"]], [score(w) for w in vectors["targ2"]]


def static(texts):
    return load_encoder("minilm-static").encode(texts)


def several():
    """Return the result of tests that are related, of words and of sentences, and of one of our own."""
    names = ["sent-weat7", "weat3b", "weat5b", "weat7", "weat8", "sent-weat8", "weat1"]
    return seat([*names, own()], seed=shifted(1), cache=False)
