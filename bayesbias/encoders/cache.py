"""The cache of sentence vectors: one SQLite file, one transaction a batch.

Each vector ends with a hash of itself and of what it is the vector of, so that a changed bit in it, or in the idata that
leads to it, makes it unknown.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.core.errors import InputError
from bayesbias.core.files import sha256_of
from bayesbias.core.seals import damaged

_HASHED = " hashed"  # in the type of a vector that ends with its hash
_BYTES = 16  # of the hash
UNREADABLE = (sqlite3.Error, UnicodeDecodeError)  # a damaged file: what SQLite says of it may be no text
SCHEMA = """
CREATE TABLE IF NOT EXISTS encoders (
    fingerprint TEXT PRIMARY KEY, name TEXT NOT NULL, options TEXT NOT NULL, provenance TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS vectors (
    encoder TEXT NOT NULL, sentence TEXT NOT NULL, type TEXT NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (encoder, sentence)
);
"""


@dataclass(frozen=True, eq=False)
class Kept:
    """What a cache holds of some sentences.

    Attributes
    ----------
    vectors : dict of str to ndarray
        Those that are as they were written.
    damaged, unverified : int
        How many others are not; how many of them were written without a hash.
    """

    vectors: dict[str, np.ndarray]
    damaged: int
    unverified: int


@dataclass(frozen=True)
class Cache:
    """The vectors of one encoder in the cache file. Each call opens and closes it: a fork may follow."""

    path: Path
    encoder: str

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Open the file for one reading or writing that other processes wait for; undone on an error."""
        # The default journal, not WAL, which network file systems do not bear.
        opened = sqlite3.connect(self.path, timeout=60, isolation_level="IMMEDIATE")
        with contextlib.closing(opened) as connection, connection:
            yield connection

    def start(self, description: Mapping[str, Any]) -> None:
        """Make the file where there is none; `description` (name, options, provenance) is for its reader."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        row = (
            self.encoder,
            description["name"],
            description["options"],
            json.dumps(description["provenance"], default=str),
        )
        with self.transaction() as connection:
            connection.executescript(SCHEMA)
            connection.execute("INSERT OR IGNORE INTO encoders VALUES (?, ?, ?, ?)", row)

    def read(self, texts: list[str]) -> Kept:
        """Return what is known, in the order of `texts`; a damaged vector counts as unknown."""
        try:
            return self._read(texts)
        except UNREADABLE as error:
            raise refused_cache(self.path, error) from error

    def _read(self, texts: list[str]) -> Kept:
        keys = {_key_of(text): text for text in texts}
        vectors_kept, broken, unverified = {}, 0, 0
        with self.transaction() as connection:
            for first in range(0, len(texts), 500):
                part = list(keys)[first : first + 500]
                marks = ",".join("?" * len(part))
                rows = connection.execute(
                    f"SELECT sentence, type, vector FROM vectors WHERE encoder = ? AND sentence IN ({marks})",
                    (self.encoder, *part),
                )
                for key, kind, blob in rows:
                    vector = self._vector(key, kind, blob)
                    if vector is None or key not in keys:
                        broken += 1
                        continue
                    vectors_kept[keys[key]] = vector
                    unverified += not kind.endswith(_HASHED)
        usual = Counter(map(len, vectors_kept.values())).most_common(1)
        vectors = {
            text: vectors_kept[text]
            for text in texts
            if text in vectors_kept and len(vectors_kept[text]) == usual[0][0]
        }
        return Kept(vectors, broken + len(vectors_kept) - len(vectors), unverified)

    def _vector(self, key: object, kind: object, blob: object) -> np.ndarray | None:
        """Return the vector in a row, or None where it is damaged."""
        if not isinstance(key, str) or not isinstance(kind, str) or not isinstance(blob, bytes):
            return None
        number = kind.removesuffix(_HASHED)
        if number not in ("<f4", "<f8"):
            return None
        if number != kind:
            blob, seal = blob[:-_BYTES], blob[-_BYTES:]
            if seal != self._hash(key, kind, blob):
                return None
        if not blob or len(blob) % int(number[-1]):
            return None
        vector = np.frombuffer(blob, number).astype(number[1:])
        return vector if np.isfinite(vector).all() and vector.any() else None

    def _hash(self, key: str, kind: str, blob: bytes) -> bytes:
        about = f"{self.encoder}\0{key}\0{kind}\0".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(about + blob, digest_size=_BYTES).digest()

    def write(self, texts: list[str], vectors: np.ndarray) -> str | None:
        """Keep a batch, whole or not at all; returns what went wrong, if anything did."""
        number = f"<f{vectors.dtype.itemsize}"
        kind = number + _HASHED
        rows = []
        for text, row in zip(texts, vectors, strict=True):
            key, blob = _key_of(text), row.astype(number).tobytes()
            rows.append((self.encoder, key, kind, blob + self._hash(key, kind, blob)))
        try:
            with self.transaction() as connection:
                connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)
        except (*UNREADABLE, OSError) as error:  # a full disk must not cost the work at hand
            return f"{self.path}: {error}"
        return None


def _key_of(text: str) -> str:
    return sha256_of(text)


def refused_cache(path: Path, error: Exception) -> InputError:
    """Return the error for a file that cannot be used: one that is damaged, or is none."""
    if getattr(error, "sqlite_errorname", "").startswith("SQLITE_CORRUPT"):
        return damaged(path, str(error), "delete it, or pass cache=False")
    if getattr(error, "sqlite_errorname", "") == "SQLITE_FULL":
        return InputError(f"the vectors cannot be kept: {error}", where=path, hint="or pass cache=False")
    valid = "a file that encode() made, or a new one"
    return InputError(f"cannot be used as a cache: {error}", where=path, valid=valid)
