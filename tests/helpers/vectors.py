"""Vectors made up for a small list, and cosines one by one."""

from __future__ import annotations

import math

import numpy as np

LIST = {
    "x": {"protected": ["x1", "x2", "x3"], "attributes": ["a1", "a2"]},
    "y": {"protected": ["y1", "y2", "y3", "y4"], "attributes": ["b1", "b2", "b3"]},
}


X, Y, A, B = ["x1", "x2", "x3"], ["y1", "y2", "y3", "y4"], ["a1", "a2"], ["b1", "b2", "b3"]


def vectors(seed: int = 0, words: list[str] | None = None, d: int = 5) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {word: random.normal(size=d) for word in words or [*X, *Y, *A, *B]}


def cosine(u: np.ndarray, v: np.ndarray) -> float:
    return sum(map(float, u * v)) / math.sqrt(sum(map(float, u * u)) * sum(map(float, v * v)))
