"""Sentences encoded: batches, checks, the progress bar, and a cache on the disk that survives a kill."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError, warn_user
from bayesbias.core.files import cache_dir
from bayesbias.core.frames import in_order_of, plain_numbers
from bayesbias.core.opening import path_of
from bayesbias.core.progress import ticking
from bayesbias.core.wording import number_of
from bayesbias.embeddings.readers.tables import check_dimensions
from bayesbias.encoders.cache import UNREADABLE, Cache, refused_cache
from bayesbias.encoders.encoder import BATCH_SIZE, Encoder, checked_sentences, describe_encoder
from bayesbias.encoders.loading import load_encoder

__all__ = ["encode"]

_SAME = 0.01  # share of its length that a vector may move between two runs of one encoder


def encode(
    encoder: Encoder | Callable[..., Any] | str | os.PathLike[str],
    sentences: Iterable[str],
    *,
    batch_size: int | None = None,
    cache: bool | str | os.PathLike[str] = True,
    progress: bool | None = None,
) -> np.ndarray:
    """Encode sentences, checked, in batches, with finished batches kept on the disk.

    Parameters
    ----------
    encoder : Encoder, callable or str
        Whatever `load_encoder` takes.
    sentences : iterable of str, length n
        A sentence that stands there several times is encoded once.
    batch_size : int, optional
        Sentences in a batch; by default what the encoder states, else 32. Encoders that only look vectors
        up (`cbow_encoder`, `static_encoder`, `vectors_encoder`) get all sentences at once in any case.
    cache : bool or path
        True: keep vectors in ``encoders.sqlite`` in the user's cache folder (or ``BAYESBIAS_CACHE``).
        A path: in that file. False: keep nothing. Only encoders with a fingerprint are kept: those that are
        read from weights, and callables that were given a name and a version. What is looked up is not.
    progress : bool, optional
        A bar on stderr once it takes more than two seconds. By default on terminals only.

    Returns
    -------
    ndarray, shape (n, d), float32 or float64
        As the encoder returned them, not normalised; half precision and integers are widened.

    Raises
    ------
    InputError
        Where the encoder fails, or returns another shape, fewer rows, another dimension than before, or NaN,
        infinite or all-zero vectors: naming encoder, batch and sentence. The batches before stay in the
        cache. Also where the cache holds vectors that the encoder does not make any more, and where a cache
        that was named is damaged.

    Warns
    -----
    UserWarning
        Where the encoder cut sentences off at its longest length, where the cache cannot be used, and where vectors in it
        are damaged, and so made again, or were written without a hash.

    Notes
    -----
    The cache is one SQLite file, keyed by the encoder's fingerprint and the SHA-256 of the sentence, and
    written in one transaction a batch: a kill loses at most the batch at work, and several processes
    may use it at once. Delete the file to empty it. Before new sentences are added to old ones, one old
    sentence is encoded again and compared, so that a model that was changed under the same name is found.

    Examples
    --------
    >>> encode("minilm-static", ["This is a nurse.", "This is a doctor."]).shape
    (2, 128)
    >>> def length(sentences):
    ...     return [[len(s), s.count(" ") + 1] for s in sentences]
    >>> encode(length, ["This is Katie.", "There is love."], cache=False)
    array([[14.,  3.],
           [14.,  3.]])
    """
    encoder = load_encoder(encoder)
    texts = checked_sentences(sentences)
    unique = list(dict.fromkeys(texts))
    size = _batch_size(encoder, batch_size, len(unique))
    store = _opened_cache(encoder, cache)
    store, vectors = _kept_before(store, unique, asked_for=cache is not True)
    todo = [text for text in unique if text not in vectors]
    if len(todo) > size:
        todo.sort(key=len)  # sentences of like length need least padding
    if todo and vectors:
        _check_unchanged(encoder, vectors, store)
    dim = len(next(iter(vectors.values()))) if vectors else None
    count = -(-len(todo) // size)
    with ticking(f"encoding with {encoder.name}", len(todo), progress) as tick:
        for number, first in enumerate(range(0, len(todo), size), start=1):
            batch = todo[first : first + size]
            kept = (
                f"vectors of {number_of(len(vectors), 'sentence')} are kept in {store.path}"
                if store
                else None
            )
            where = f"encoder {encoder.name!r}, batch {number} of {count}"
            batch_vectors = _encoded_batch(encoder, batch, where, kept if vectors else None, dim)
            dim = batch_vectors.shape[1]
            if store and (problem := store.write(batch, batch_vectors)):
                warn_user(f"vectors are no longer kept: {problem}")
                store = None
            vectors |= zip(batch, batch_vectors, strict=True)
            tick(len(batch))
    _warn_of_cut(encoder, unique)
    return np.array([vectors[text] for text in texts])


def _kept_before(
    store: Cache | None, texts: list[str], asked_for: bool
) -> tuple[Cache | None, dict[str, np.ndarray]]:
    """Return the cache, if it can be used, and what it holds; say what is damaged, or cannot be told."""
    if store is None:
        return None, {}
    try:
        kept = store.read(texts)
    except InputError as error:
        if asked_for:
            raise
        warn_user(f"vectors are not kept: {error}")
        return None, {}
    if kept.damaged:
        problem = f"{number_of(kept.damaged, 'vector')} in the cache damaged: made again"
        warn_user(f"{store.path}: {problem}")
    if kept.unverified:
        problem = (
            f"{number_of(kept.unverified, 'vector')} in the cache written without a hash: used unverified"
        )
        warn_user(f"{store.path}: {problem}; delete the file to have them made again")
    return store, kept.vectors


def _batch_size(encoder: Encoder, asked: int | None, count: int) -> int:
    if asked is not None:
        checks.count(asked, "batch_size")
    own = getattr(encoder, "batch_size", BATCH_SIZE)
    return max(count, 1) if own is None else int(asked or own)


def _encoded_batch(
    encoder: Encoder, batch: list[str], where: str, kept: str | None, dim: int | None
) -> np.ndarray:
    """Encode one batch, and see that it can be used."""

    def refuse(problem: str, at: int | None = None, hint: str | None = None, **more: Any) -> InputError:
        place = f"{where}, sentence {batch[at or 0]!r}"
        if at is None and len(batch) > 1:
            place = f"{where}, sentences {batch[0]!r} to {batch[-1]!r}"
        return InputError(problem, where=place, hint="; ".join(filter(None, (hint, kept))) or None, **more)

    shape = f"numbers of shape ({len(batch)}, d), one row per sentence"
    handed = list(batch)
    try:
        output = encoder.encode(handed)
    except InputError as error:  # says itself which sentence, and what to do
        raise InputError(str(error), where=where, hint=kept) from error
    except Exception as error:  # an encoder may be anybody's code
        reason = f"{type(error).__name__}: {error}"
        by_size = isinstance(error, MemoryError | RuntimeError | OSError)  # as libraries of tensors say it
        raise refuse(
            f"the encoder failed: {reason}",
            hint="where memory ran out, a smaller batch_size may do" if by_size else None,
        ) from error
    if handed != batch:
        raise refuse(
            "the encoder changed the list of sentences that it was given: whose vectors these are, nobody knows",
            hint="let it work on a copy",
        )
    try:
        if np.ma.is_masked(output):
            raise InputError("holds numbers that are masked", where=where, valid=shape)
        if hasattr(output, "columns"):
            check_dimensions(
                [str(name) for name in output.columns],
                where,
                "return the frame without it, .drop(columns={}), or where it is a dimension rename it",
            )
        rows = in_order_of(output, batch, where)
        array = np.asarray(rows.to_numpy() if hasattr(rows, "columns") else rows)
        if array.dtype.kind == "O" and hasattr(
            rows, "columns"
        ):  # numbers that may be missing, of which none is
            array = plain_numbers(array, where, shape)
    except InputError as error:  # says itself where
        raise InputError(str(error), hint=kept) from None
    except Exception as error:
        reason = f"{type(output).__name__}; {error}"
        raise refuse("cannot be made an array", found=reason, valid=shape) from error
    if array.ndim != 2 or array.dtype.kind not in "fiu" or not array.shape[1]:
        shape_text = f"shape {array.shape}, type {array.dtype}"
        raise refuse("the encoder returned no table of numbers", found=shape_text, valid=shape)
    if len(array) != len(batch):
        raise refuse(
            "the encoder returned another number of vectors", found=len(array), valid=str(len(batch))
        )
    if dim is not None and array.shape[1] != dim:
        raise refuse("the encoder changed its dimension", found=array.shape[1], valid=f"{dim}, as before")
    wide = np.float32 if array.dtype in (np.float16, np.float32) else np.float64
    array = np.array(array, dtype=wide, order="C")  # its own: the encoder may use its array again
    broken = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(broken):
        raise refuse(
            "the vector holds NaN or infinite numbers",
            int(broken[0]),
            found=f"{number_of(len(broken), 'such vector')} in the batch",
            valid="finite numbers",
        )
    zero = np.flatnonzero(~array.any(axis=1))
    if len(zero):
        raise refuse(
            "the vector holds only zeros, and no cosine can be computed from it",
            int(zero[0]),
            found=f"{number_of(len(zero), 'such vector')} in the batch",
        )
    return array


def _check_unchanged(encoder: Encoder, vectors: dict[str, np.ndarray], store: Cache | None) -> None:
    """Encode one sentence of the cache again: it must come out as it stands there."""
    text, old = min(vectors.items(), key=lambda item: len(item[0]))
    new = _encoded_batch(encoder, [text], f"encoder {encoder.name!r}, a sentence of the cache", None, None)[0]
    if len(new) != len(old) or np.linalg.norm(new - old) > _SAME * np.linalg.norm(old):
        raise InputError(
            "the encoder no longer gives the vector that is in the cache",
            where=f"encoder {encoder.name!r}, sentence {text!r}, cache {store.path if store else ''}",
            valid=f"the same to {_SAME:.0%} of its length",
            hint="give a changed encoder a new version, or another cache file",
        )


def _warn_of_cut(encoder: Encoder, texts: list[str]) -> None:
    account = getattr(encoder, "account", None)
    facts = account(texts) if account else {}
    if cut := facts.get("cut"):
        warn_user(
            f"encoder {encoder.name!r} cut {len(cut)} of {len(texts)} sentences after {facts['max_length']} "
            f"tokens, such as {cut[0][:60]!r}..."
        )


def _opened_cache(encoder: Encoder, cache: bool | str | os.PathLike[str]) -> Cache | None:
    if cache is False:
        return None
    if cache is not True and not isinstance(cache, str | os.PathLike):
        raise InputError(
            "is not a cache", where="cache", found=cache, valid="True, False or the path of a file"
        )
    fingerprint = getattr(encoder, "fingerprint", None)
    if fingerprint is None:
        if cache is not True and getattr(encoder, "batch_size", BATCH_SIZE) is not None:
            raise InputError(
                "the vectors of this encoder cannot be kept: nothing tells when it changes",
                where=f"encoder {encoder.name!r}",
                hint="load_encoder(function, name=..., version=...), or an attribute fingerprint, or cache=False",
            )
        return None
    path = cache_dir() / "encoders.sqlite" if cache is True else path_of(cache, "cache")
    store = Cache(path, str(fingerprint))
    try:
        store.start(describe_encoder(encoder))
    except (*UNREADABLE, OSError) as error:
        problem = refused_cache(path, error)
        if cache is True:  # nobody asked for this file
            warn_user(f"vectors are not kept: {problem}")
            return None
        raise problem from error
    return store
