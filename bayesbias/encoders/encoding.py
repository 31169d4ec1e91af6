"""Encode sentences in batches, with a cache on the disk.

The cache is one SQLite file. Each batch is one transaction, so that a kill loses at most one batch.
"""

import contextlib
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.core import InputError, checks, describe_error, files
from bayesbias.core.errors import warn_user
from bayesbias.core.progress import ticking
from bayesbias.encoders.encoder import BATCH_SIZE, Encoder, checked_sentences, describe_encoder
from bayesbias.encoders.loading import load_encoder

_SAME = 0.01  # share of its length that a vector may move between two runs of one encoder


def encode(
    encoder: Encoder | Callable[..., Any] | checks.FilePath,
    sentences: Iterable[str],
    *,
    batch_size: int | None = None,
    cache: bool | checks.FilePath = True,
    progress: bool | None = None,
) -> np.ndarray:
    """Encode sentences in batches, and keep finished batches on the disk.

    Parameters
    ----------
    encoder : Encoder, callable or str
        Whatever `load_encoder` takes.
    sentences : iterable of str, length n
        A sentence that occurs several times is encoded once.
    batch_size : int, optional
        Sentences in a batch; by default what the encoder states, else 32. Encoders that only look
        vectors up (`cbow_encoder`, `static_encoder`, `vectors_encoder`) get all sentences at once.
    cache : bool or path
        True: keep vectors in ``encoders.sqlite`` in the user's cache folder (or
        ``BAYESBIAS_CACHE``). A path: in that file. False: keep nothing. Only encoders with a
        fingerprint are kept: models, and functions with a name and a version.
    progress : bool, optional
        Whether to show a bar after two seconds. By default on terminals.

    Returns
    -------
    ndarray, shape (n, d), float32 or float64
        As the encoder returned them, not normalized.

    Raises
    ------
    InputError
        If the encoder fails, or returns another shape or NaN, infinite or all-zero vectors. The
        batches before stay in the cache. Also if the cache holds vectors that the encoder no longer
        makes.

    Warns
    -----
    UserWarning
        If the encoder cut sentences off at its longest length, or the cache cannot be used.

    Notes
    -----
    The cache is keyed by the encoder's fingerprint and the sentence. Delete the file to empty it.
    Before new sentences are added to old ones, one old sentence is encoded again and compared, so
    that a model that was changed under the same name is found.

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
    unique = checks.once(texts)
    if batch_size is not None:
        checks.count(batch_size, "batch_size")
    own = getattr(encoder, "batch_size", BATCH_SIZE)
    size = len(unique) if own is None else int(batch_size or own)
    store = _cache_of(encoder, cache)
    vectors = {}
    if store:
        try:
            vectors = store.read(unique)
        except InputError as error:
            if cache is not True:
                raise
            warn_user(f"vectors are not kept: {error}")
            store = None
    todo = [text for text in unique if text not in vectors]
    if len(todo) > size:
        todo.sort(key=len)  # sentences of like length need least padding
    if todo and vectors:
        # One sentence of the cache is encoded again, to see that the encoder has not changed.
        text, old = min(vectors.items(), key=lambda item: len(item[0]))
        (new,) = _encoded_batch(encoder, [text], f"encoder {encoder.name!r}, the cache", None)
        if len(new) != len(old) or np.linalg.norm(new - old) > _SAME * np.linalg.norm(old):
            problem = "expected the vector in the cache, got another one"
            place = f"encoder {encoder.name!r}, sentence {text!r}, cache {store and store.path}"
            hint = "give a changed encoder a new version, or another cache file"
            raise InputError(problem, where=place, hint=hint)
    dim = len(next(iter(vectors.values()))) if vectors else None
    count = -(-len(todo) // size)
    with ticking(f"encoding with {encoder.name}", len(todo), progress) as tick:
        for number, first in enumerate(range(0, len(todo), size), start=1):
            batch = todo[first : first + size]
            where = f"encoder {encoder.name!r}, batch {number} of {count}"
            batch_vectors = _encoded_batch(encoder, batch, where, dim)
            dim = batch_vectors.shape[1]
            if store:
                store.write(batch, batch_vectors)
            vectors |= zip(batch, batch_vectors, strict=True)
            tick(len(batch))
    facts = describe_encoder(encoder, unique)["account"]
    if cut := facts.get("cut"):
        said = f"{len(cut)} of {len(unique)} sentences after {facts['max_length']} tokens"
        warn_user(f"encoder {encoder.name!r} cut {said}, such as {cut[0][:60]!r}...")
    return np.array([vectors[text] for text in texts])


def _encoded_batch(encoder: Encoder, batch: list[str], where: str, dim: int | None) -> np.ndarray:
    """Encode one batch and check the vectors."""
    try:
        array = np.asarray(encoder.encode(list(batch)))
    except InputError as error:  # names the sentence, and what to do
        raise error.retold(where) from error
    except Exception as error:  # an encoder may be anybody's code
        problem = f"expected vectors, got {describe_error(error)}"
        raise InputError(problem, where=f"{where}, sentence {batch[0]!r}") from error
    fits = array.ndim == 2 and array.shape == (len(batch), dim or array.shape[1])
    if not fits or array.dtype.kind not in "fiu":
        shape = f"({len(batch)}, {dim or 'd'})"
        got = f"shape {array.shape} and type {array.dtype}"
        raise InputError(f"expected numbers of shape {shape}, got {got}", where=where)
    wide = np.float32 if array.dtype in (np.float16, np.float32) else np.float64
    array = np.array(array, dtype=wide, order="C")  # its own: the encoder may use its array again
    bad = np.flatnonzero(~np.isfinite(array).all(axis=1) | ~array.any(axis=1))
    if len(bad):
        problem = "expected finite numbers that are not all 0, got NaN, infinity or zeros"
        raise InputError(problem, where=f"{where}, sentence {batch[bad[0]]!r}")
    return array


@dataclass(frozen=True)
class _Cache:
    """The vectors of one encoder in the cache file."""

    path: Path
    encoder: str

    @contextlib.contextmanager
    def _connection(self) -> Any:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with (
                contextlib.closing(sqlite3.connect(self.path, timeout=60)) as connection,
                connection,
            ):
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS vectors (encoder TEXT, sentence TEXT, type TEXT, "
                    "vector BLOB, PRIMARY KEY (encoder, sentence))"
                )
                yield connection
        except (sqlite3.Error, OSError) as error:
            problem = f"expected a cache file, got {describe_error(error)}"
            hint = "delete it, or pass cache=False"
            raise InputError(problem, where=self.path, hint=hint) from error

    def read(self, texts: list[str]) -> dict[str, np.ndarray]:
        """Return the vectors of the sentences that are known."""
        query = "SELECT type, vector FROM vectors WHERE encoder = ? AND sentence = ?"
        found = {}
        with self._connection() as connection:
            for text in texts:
                key = (self.encoder, files.sha256_of(text))
                if row := connection.execute(query, key).fetchone():
                    found[text] = np.frombuffer(row[1], row[0])
        return found

    def write(self, texts: list[str], vectors: np.ndarray) -> None:
        """Keep a batch, whole or not at all."""
        kind = f"<f{vectors.dtype.itemsize}"
        rows = [
            (self.encoder, files.sha256_of(text), kind, row.astype(kind).tobytes())
            for text, row in zip(texts, vectors, strict=True)
        ]
        with self._connection() as connection:
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)


def _cache_of(encoder: Encoder, cache: bool | checks.FilePath) -> _Cache | None:
    fingerprint = getattr(encoder, "fingerprint", None)
    if cache is False or (cache is True and fingerprint is None):
        return None
    if cache is not True:
        checks.path(cache, "cache", "True, False or the path of a file")
    if fingerprint is None:
        if getattr(encoder, "batch_size", BATCH_SIZE) is None:
            return None
        problem = "expected a version or fingerprint beside a cache file, got none"
        hint = "use load_encoder(function, name=..., version=...), or cache=False"
        raise InputError(problem, where=f"encoder {encoder.name!r}", hint=hint)
    path = files.cache_dir() / "encoders.sqlite" if cache is True else Path(cache).expanduser()
    return _Cache(path, str(fingerprint))
