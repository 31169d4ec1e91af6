"""Vectors centered, standardized, or without their leading components, before cosines are taken.

A common direction, or a few dimensions with large numbers, can carry most of every cosine.
Compare an association before and after to see how much of it they explain.

Sources: Mu and Viswanath (2018), "All-but-the-Top"; Timkey and van Schijndel (2021), "All Bark
and No Bite" (standardization).
"""

import dataclasses
from collections.abc import Callable

import numpy as np

from bayesbias.core import InputError, checks
from bayesbias.embeddings.embedding import Embedding, digest_of_vectors

POSTPROCESSINGS = ("center", "standardize", "abtt")
_LEAST = 10  # vectors from which a centre is taken


def postprocess(
    embedding: Embedding,
    method: str,
    *,
    components: int | None = None,
    background: Embedding | None = None,
) -> Embedding:
    """Center or standardize vectors, or remove their leading components.

    Parameters
    ----------
    embedding : Embedding
        Word vectors.
    method : {"center", "standardize", "abtt"}
        ``center`` subtracts the mean vector. ``standardize`` also divides by the standard
        deviation of each dimension. ``abtt`` (all but the top) subtracts the mean vector and the
        part along the leading principal components.
    components : int, optional
        How many components ``abtt`` removes; by default the dimensions over 100, and at least 1.
    background : Embedding, optional
        The vectors that give the mean, deviations and components. By default the embedding itself,
        which should then hold more than the words of a list.

    Returns
    -------
    Embedding
        float64; ``provenance["postprocess"]`` says what was done.

    Raises
    ------
    InputError
        If the method is unknown, the background has fewer than ten vectors, there are too many
        components, or nothing is left of a word.

    Notes
    -----
    The components are those of the centered background, and a vector's part along them is taken
    after centering; algorithm 1 of Mu and Viswanath takes it before, which shifts all vectors
    alike.

    Examples
    --------
    >>> from bayesbias import load_embedding, load_wordlist
    >>> from bayesbias.embeddings import postprocess
    >>> vectors = load_embedding("minilm-static", load_wordlist("religion").control_words)
    >>> moved = postprocess(vectors, "abtt")
    >>> moved.provenance["postprocess"]["components"], bool(abs(moved.vectors.mean()) < 1e-9)
    (1, True)
    """
    checks.choice(method, POSTPROCESSINGS, "method")
    source = embedding if background is None else background
    if len(source) < _LEAST:
        problem = f"expected {_LEAST} vectors or more to take a mean of, got {len(source)}"
        raise InputError(problem, where=f"embedding {embedding.name!r}")
    if components is not None and method != "abtt":
        raise InputError(f"expected the method abtt, got {method}", where="components")
    held = np.asarray(source.vectors, dtype=float)
    d = held.shape[1]
    mean, scale, top = held.mean(axis=0), np.ones(d), np.empty((d, 0))
    facts = {
        "method": method,
        "background_words": len(source),
        "background_sha256_vectors": source.provenance.get("sha256_vectors"),
    }
    if method == "standardize":
        scale = held.std(axis=0)
        scale[scale == 0] = 1.0
    if method == "abtt":
        usual = max(1, round(d / 100))
        k = checks.count(usual if components is None else components, "components", most=d - 1)
        centered = held - mean
        variances, axes = np.linalg.eigh(centered.T @ centered)
        top = axes[:, ::-1][:, :k]
        facts |= {"components": k, "explained": float(variances[::-1][:k].sum() / variances.sum())}

    def moved(vectors: np.ndarray) -> np.ndarray:
        away = (vectors - mean) / scale
        return away - (away @ top) @ top.T

    return _moved(embedding, moved, facts)


def _moved(
    embedding: Embedding, moved: Callable[[np.ndarray], np.ndarray], facts: dict[str, object]
) -> Embedding:
    before = np.asarray(embedding.vectors, dtype=float)
    vectors = moved(before)
    gone = np.linalg.norm(vectors, axis=1) <= 1e-12 * np.linalg.norm(before, axis=1)
    if gone.any():
        word = embedding.words[int(np.argmax(gone))]
        problem = f"expected vectors other than the mean, got nothing left of {word!r}"
        raise InputError(problem, where=f"{embedding.name}, {facts['method']}")
    lookup = embedding.lookup
    return dataclasses.replace(
        embedding,
        name=f"{embedding.name} ({facts['method']})",
        vectors=vectors,
        provenance={
            **embedding.provenance,
            "postprocess": dict(facts),
            "sha256_vectors": digest_of_vectors(embedding.words, vectors),
        },
        lookup=lookup and (lambda words: _moved(lookup(words), moved, facts)),
    )
