"""Vectors moved before cosines are taken: centred, standardized, or without their leading components.

A common direction, or a few dimensions with large numbers, can carry most of every cosine. What an association owes to
them is seen by comparing it before and after.

Sources: Mu and Viswanath (2018), "All-but-the-Top"; Timkey and van Schijndel (2021), "All Bark and No Bite" (standardisation).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.embeddings.embedding import Embedding, digest_of_vectors

__all__ = ["POSTPROCESSINGS", "postprocess"]

POSTPROCESSINGS = ("center", "standardize", "abtt")
_LEAST = 10  # vectors from which a centre is taken

Array = npt.NDArray[np.float64]


def postprocess(
    embedding: Embedding,
    method: str,
    *,
    components: int | None = None,
    background: Embedding | None = None,
) -> Embedding:
    """Move vectors before cosines are taken.

    Parameters
    ----------
    embedding : Embedding
    method : {"center", "standardize", "abtt"}
        ``center`` takes away the mean vector. ``standardize`` divides by the standard deviation of each dimension too.
        ``abtt`` (all but the top) takes away the mean vector and what lies along the leading principal components.
    components : int, optional
        How many components ``abtt`` takes away; by default the dimensions over 100, and at least 1.
    background : Embedding, optional
        The vectors whose mean, deviations and components are meant: all of the source. By default the embedding's own,
        which should then be more than the words of a list, or what they share is taken away as well.

    Returns
    -------
    Embedding
        float64; ``provenance["postprocess"]`` says what was done.

    Raises
    ------
    InputError
        For an unknown method, fewer than ten background vectors, a dimension that does not vary (``standardize``), more
        components than there are dimensions, or where nothing is left of a word.

    Notes
    -----
    Vectors are as they are, not of length 1. The components are those of the centred background, and a vector's part
    along them is taken after centring; algorithm 1 of Mu and Viswanath takes it before, which shifts all vectors alike.

    Examples
    --------
    >>> from bayesbias import load_embedding, load_wordlist
    >>> from bayesbias.embeddings import postprocess
    >>> vectors = load_embedding("minilm-static", load_wordlist("religion").control_words)
    >>> moved = postprocess(vectors, "abtt")
    >>> moved.provenance["postprocess"]["components"], bool(abs(moved.vectors.mean()) < 1e-9)
    (1, True)
    """
    checks.choice(method, POSTPROCESSINGS, "way to postprocess")
    source = embedding if background is None else background
    where = f"embedding {embedding.name!r}"
    if len(source) < _LEAST:
        raise InputError(
            "too few vectors to take a mean of",
            where=where,
            found=f"{len(source)} words",
            valid=f"at least {_LEAST}",
        )
    if components is not None and method != "abtt":
        raise InputError("components are for abtt", where="components", found=method)
    held = np.asarray(source.vectors, dtype=np.float64)
    mean = held.mean(axis=0)
    facts: dict[str, object] = {
        "method": method,
        "background_words": len(source),
        "background_sha256_vectors": source.provenance.get("sha256_vectors"),
    }
    if method == "center":

        def moved(vectors: Array) -> Array:
            return vectors - mean

    elif method == "standardize":
        sd = held.std(axis=0)
        if not (sd > 0).all():
            raise InputError(
                "a dimension does not vary, so it cannot be standardized",
                where=where,
                found=f"dimension {int(np.argmin(sd > 0)) + 1}",
            )

        def moved(vectors: Array) -> Array:
            return (vectors - mean) / sd

    else:
        d = held.shape[1]
        k = (
            max(1, round(d / 100))
            if components is None
            else checks.count(components, "components", most=d - 1)
        )
        centred = held - mean
        variances, axes = np.linalg.eigh(centred.T @ centred)
        top = axes[:, ::-1][:, :k]
        facts |= {"components": k, "explained": float(variances[::-1][:k].sum() / variances.sum())}

        def moved(vectors: Array) -> Array:
            away = vectors - mean
            return away - (away @ top) @ top.T

    return _moved(embedding, moved, facts)


def _moved(embedding: Embedding, moved: Callable[[Array], Array], facts: dict[str, object]) -> Embedding:
    vectors = moved(np.asarray(embedding.vectors, dtype=np.float64))
    lengths = np.linalg.norm(vectors, axis=1)
    usual = np.linalg.norm(np.asarray(embedding.vectors, dtype=np.float64), axis=1)
    gone = [
        word
        for word, left, before in zip(embedding.words, lengths, usual, strict=True)
        if left <= 1e-12 * before
    ]
    if gone:
        raise InputError(
            f"nothing is left of a vector after {facts['method']!r}",
            where=f"embedding {embedding.name!r}",
            found=gone[0],
        )
    lookup = embedding.lookup

    def look_up(words: Sequence[str] | None) -> Embedding:
        assert lookup is not None
        return _moved(lookup(words), moved, facts)

    return dataclasses.replace(
        embedding,
        name=f"{embedding.name} ({facts['method']})",
        vectors=vectors,
        provenance={
            **embedding.provenance,
            "postprocess": dict(facts),
            "sha256_vectors": digest_of_vectors(embedding.words, vectors),
        },
        lookup=None if lookup is None else look_up,
    )
