"""The cache of sentence vectors: one SQLite file, one transaction a batch."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.basics.errors import InputError
from bayesbias.basics.files import sha256_of

SCHEMA = """
CREATE TABLE IF NOT EXISTS encoders (
    fingerprint TEXT PRIMARY KEY, name TEXT NOT NULL, options TEXT NOT NULL, provenance TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS vectors (
    encoder TEXT NOT NULL, sentence TEXT NOT NULL, type TEXT NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (encoder, sentence)
);
"""


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

    def start(self, told: Mapping[str, Any]) -> None:
        """Make the file where there is none; `told` (name, options, provenance) is for its reader."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        row = (self.encoder, told["name"], told["options"], json.dumps(told["provenance"], default=str))
        with self.transaction() as connection:
            connection.executescript(SCHEMA)
            connection.execute("INSERT OR IGNORE INTO encoders VALUES (?, ?, ?, ?)", row)

    def read(self, texts: list[str]) -> dict[str, np.ndarray]:
        """Return what is known, in the order of `texts`; a damaged row counts as unknown."""
        try:
            return self._read(texts)
        except sqlite3.Error as error:
            raise InputError(
                f"the cache cannot be read: {error}", where=self.path, hint="delete it, or pass cache=False"
            ) from error

    def _read(self, texts: list[str]) -> dict[str, np.ndarray]:
        keys = {_key_of(text): text for text in texts}
        vectors_kept = {}
        with self.transaction() as connection:
            for first in range(0, len(texts), 500):
                part = list(keys)[first : first + 500]
                marks = ",".join("?" * len(part))
                rows = connection.execute(
                    f"SELECT sentence, type, vector FROM vectors WHERE encoder = ? AND sentence IN ({marks})",
                    (self.encoder, *part),
                )
                for key, kind, blob in rows:
                    if kind not in ("<f4", "<f8") or len(blob) % int(kind[-1]):
                        continue
                    vector = np.frombuffer(blob, kind).astype(kind[1:])
                    if len(vector) and np.isfinite(vector).all() and vector.any():
                        vectors_kept[keys[key]] = vector
        usual = Counter(map(len, vectors_kept.values())).most_common(1)
        return {
            text: vectors_kept[text]
            for text in texts
            if text in vectors_kept and len(vectors_kept[text]) == usual[0][0]
        }

    def write(self, texts: list[str], vectors: np.ndarray) -> str | None:
        """Keep a batch, whole or not at all; returns what went wrong, if anything did."""
        kind = f"<f{vectors.dtype.itemsize}"
        rows = [
            (self.encoder, _key_of(text), kind, row.astype(kind).tobytes())
            for text, row in zip(texts, vectors, strict=True)
        ]
        try:
            with self.transaction() as connection:
                connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)
        except (sqlite3.Error, OSError) as error:  # a full disk must not cost the work at hand
            return f"{self.path}: {error}"
        return None


def _key_of(text: str) -> str:
    return sha256_of(text)
