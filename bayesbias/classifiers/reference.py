"""The two reference classifiers once trained: tables of numbers that predict with numpy alone.

A bag of words (M.1) and a bidirectional LSTM on word vectors (M.2) of Bhaskaran & Bhallamudi
(2019), section 3; how either splits a sentence into words, and the weights that it consists of.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

BOW_TOKEN = re.compile(r"\b\w\w+\b")
_TREEBANK_TOKEN = re.compile(r"\w+(?=n't\b)|n't\b|'\w+|\w+|[^\w\s]")


@dataclass(frozen=True, eq=False, repr=False)
class BagOfWords:
    """A trained bag of words: log odds = intercept + coefficients . unit(counts * idf)."""

    vocabulary: dict[str, int]
    weights: dict[str, np.ndarray]  # idf (v,), coefficients (v,), intercept (1,)
    settings: dict[str, Any]

    def __call__(self, sentences: list[str]) -> np.ndarray:
        """Rate the sentences: the probability of "positive" of each, from 0 to 1."""
        out = np.empty(len(sentences))
        idf, coefficients = self.weights["idf"], self.weights["coefficients"]
        for row, sentence in enumerate(sentences):
            words = self.tokens(sentence)
            known = [self.vocabulary[word] for word in words if word in self.vocabulary]
            columns, counts = np.unique(np.array(known, dtype=np.int64), return_counts=True)
            values = counts * idf[columns]
            length = np.linalg.norm(values)
            out[row] = coefficients[columns] @ values / length if length else 0.0
        return _logistic(out + self.weights["intercept"][0])

    @staticmethod
    def tokens(sentence: str) -> list[str]:
        """Split a sentence into its words."""
        return BOW_TOKEN.findall(sentence.lower())


@dataclass(frozen=True, eq=False, repr=False)
class BiLstm:
    """A trained bidirectional LSTM on word vectors, run by numpy.

    Sentences are taken in groups of one length, so that nothing is padded and no prediction depends
    on the others of its batch.
    """

    vocabulary: dict[str, int]
    # vectors (v, d); and for each direction, forward and backward: input (4h, d), state (4h, h),
    # bias (4h,), the gates in the order input, forget, cell, output; output (2h,), output_bias (1,)
    weights: dict[str, np.ndarray]
    settings: dict[str, Any]

    def __call__(self, sentences: list[str]) -> np.ndarray:
        """Rate the sentences: the probability of "positive" of each, from 0 to 1."""
        # -1: a word without a vector, which counts as zeros; so does a sentence without a word.
        ids = [
            [self.vocabulary.get(word, -1) for word in self.tokens(sentence)] or [-1]
            for sentence in sentences
        ]
        out = np.empty(len(ids))
        for rows in rows_by_length(ids):
            at = np.array([ids[row] for row in rows])
            vectors = np.where(at[..., None] < 0, 0, self.weights["vectors"][at])
            states = [self._last_state(vectors, "forward")]
            states.append(self._last_state(vectors[:, ::-1], "backward"))
            weights, bias = self.weights["output"], self.weights["output_bias"]
            out[rows] = np.concatenate(states, axis=1) @ weights + bias[0]
        return _logistic(out)

    def _last_state(self, vectors: np.ndarray, side: str) -> np.ndarray:
        w = self.weights
        inputs = vectors @ w[f"{side}_input"].T + w[f"{side}_bias"]
        hidden = w[f"{side}_state"].shape[1]
        state = np.zeros((len(vectors), hidden), dtype=inputs.dtype)
        cell = np.zeros_like(state)
        for step in range(vectors.shape[1]):
            gates = inputs[:, step] + state @ w[f"{side}_state"].T
            taken, kept, new, shown = np.split(gates, 4, axis=1)
            cell = _logistic(kept) * cell + _logistic(taken) * np.tanh(new)
            state = _logistic(shown) * np.tanh(cell)
        return state

    @staticmethod
    def tokens(sentence: str) -> list[str]:
        """Split a sentence as the Penn Treebank does, in lower case (``don't`` gives ``do n't``)."""
        return _TREEBANK_TOKEN.findall(sentence.lower())


REFERENCE_KINDS: dict[str, type[BagOfWords] | type[BiLstm]] = {"bow": BagOfWords, "bilstm": BiLstm}


def rows_by_length(ids: Sequence[Sequence[int]]) -> list[np.ndarray]:
    """Return the rows of each length."""
    lengths = np.array([len(row) for row in ids], dtype=np.int64)
    return [np.flatnonzero(lengths == length) for length in np.unique(lengths)]


def _logistic(x: np.ndarray) -> np.ndarray:
    return 0.5 * (1.0 + np.tanh(0.5 * x))
