"""An embedding as a value: vectors of words, where they come from and what was not found.

`embedding_from_rows` makes one of the rows that a source holds: it chooses, checks, and says what is missing.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.wording import number_of, some
from bayesbias.embeddings.readers.rows import Rows
from bayesbias.embeddings.spelling import matched_spellings, notes_of_shared_vectors

__all__ = ["Embedding"]


@dataclass(frozen=True, eq=False, repr=False)
class Embedding:
    """Vectors of words, with where they come from and what was not found.

    Attributes
    ----------
    name : str
        Short name, for tables and figures.
    words : tuple of str, length n
        The words as they were asked for (or, where none were named, all words of the source).
    vectors : ndarray, shape (n, d), read-only
        Row i belongs to ``words[i]``. float64 where the source is text, else as stored. Not normalised.
    provenance : dict
        ``source``, ``format``, ``bytes``, ``sha256`` of the file (None for a large binary file, see
        `load_embedding`), ``sha256_vectors`` of the words and vectors held, ``dim``, ``count`` of words in
        the source, ``index``.
    matched : dict
        Asked word -> word of the source, only where the two differ.
    rules : dict
        Asked word -> the spelling rule that found it, for the words in `matched`.
    composed : tuple of str
        Words put together from parts: fastText words outside the dictionary (from character n-grams), and
        words of ``minilm-static`` of more than one token.
    missing : tuple of str
        Words asked for that the source does not have.
    notes : tuple of str
        What a reader should know, such as two asked words that share one vector.
    lookup : callable, optional
        Of an open vocabulary, where words outside `words` have a vector too: takes a list of words (None for all that
        are listed) and returns the Embedding of those that have one, the others in its `missing`.

    Examples
    --------
    >>> from bayesbias import load_embedding
    >>> e = load_embedding({"rabbi": [1.0, 0.0], "priest": [0.8, 0.6]}, ["Rabbi", "imam"])
    >>> e.words, e.matched, e.missing
    (('Rabbi',), {'Rabbi': 'rabbi'}, ('imam',))
    """

    name: str
    words: tuple[str, ...]
    vectors: np.ndarray
    provenance: dict[str, Any] = field(default_factory=dict)
    matched: dict[str, str] = field(default_factory=dict)
    rules: dict[str, str] = field(default_factory=dict)
    composed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    lookup: Callable[[Sequence[str] | None], Embedding] | None = None
    _row: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        words = tuple(self.words)
        vectors = np.asarray(self.vectors)
        if (
            vectors.ndim != 2
            or len(vectors) != len(words)
            or vectors.dtype not in (np.float32, np.float64)
        ):
            raise InputError(
                "vectors do not fit the words",
                where=f"embedding {self.name!r}",
                found=f"{len(words)} words, an array of shape {vectors.shape}, type {vectors.dtype}",
                valid="float32 or float64, one row per word",
            )
        vectors = vectors.view()
        vectors.flags.writeable = False
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "vectors", vectors)
        object.__setattr__(self, "_row", {word: row for row, word in enumerate(words)})
        if len(self._row) < len(words):
            twice = next(word for row, word in enumerate(words) if self._row[word] != row)
            raise InputError("a word stands twice", where=f"embedding {self.name!r}", found=twice)

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        if self._spelt(word) is not None:
            return True
        return self.lookup is not None and isinstance(word, str) and len(self.lookup([word])) > 0

    def __getitem__(self, word: str) -> np.ndarray:
        return self.vectors_of([word])[0]

    def vectors_of(self, words: Sequence[str]) -> np.ndarray:
        """Return the vectors of some words.

        Parameters
        ----------
        words : sequence of str
            In any order, repeats allowed.

        Returns
        -------
        ndarray, shape (len(words), d)
            A new array.

        Raises
        ------
        InputError
            Naming every word that has no vector.
        """
        if isinstance(words, set | frozenset):
            raise InputError(
                "has no order, and rows could not be told apart", where="words", valid="[word, ...]"
            )
        words = checks.several(words, "word", "words")
        lacking = [word for word in words if self._spelt(word) is None]
        if lacking and self.lookup is not None:
            more = self.lookup(list(dict.fromkeys(lacking)))
            lacking = list(more.missing)
            if not lacking:
                rows = [
                    (more if self._spelt(word) is None else self)._vector(word) for word in words
                ]
                return np.array(rows, dtype=self.vectors.dtype)
        if lacking:
            raise InputError(
                "has no vector for some words",
                where=f"embedding {self.name!r}",
                found=", ".join(dict.fromkeys(lacking)),
                hint=nearest(lacking[0], self.words) if len(self.words) < 10_000 else None,
            )
        return self.vectors[[self._row[self._spelt(word) or word] for word in words]]

    def same_vectors(self, words: Iterable[str] | None = None) -> list[tuple[str, ...]]:
        """Group words that have the same vector, number for number.

        Two spellings can be one vector (*Muslim* and *muslim* of uncased vectors), and so can
        words of pruned vectors. Such words are one word for a table: it keeps the first of a group.

        Parameters
        ----------
        words : iterable of str, optional
            The words to group. By default all words of the embedding.

        Returns
        -------
        list of tuple of str
            The groups of two words or more, in the order of `words`.

        Raises
        ------
        InputError
            If a word has no vector.

        Examples
        --------
        >>> import bayesbias as bb
        >>> e = bb.load_embedding({"muslim": [1, 0], "mosque": [0, 1]}, ["Muslim", "muslim", "mosque"])
        >>> e.same_vectors()
        [('Muslim', 'muslim')]
        """
        asked = list(dict.fromkeys(self.words if words is None else words))
        groups: dict[bytes, list[str]] = {}
        for word, row in zip(asked, self.vectors_of(asked) + 0.0, strict=True):  # -0 and 0 are one
            groups.setdefault(row.tobytes(), []).append(word)
        return [tuple(group) for group in groups.values() if len(group) > 1]

    def _vector(self, word: str) -> np.ndarray:
        return self.vectors[self._row[self._spelt(word) or word]]

    def _spelt(self, word: object) -> str | None:
        """Return a word as it stands in `words`, where an accent may be a letter's own or a mark of its own; None elsewhere."""
        if word in self._row:
            return str(word)
        if not isinstance(word, str) or word.isascii():
            return None
        composed = unicodedata.normalize("NFC", word)
        return composed if composed in self._row else self._decomposed().get(composed)

    def _decomposed(self) -> dict[str, str]:
        """Return the words that are not in Unicode's composed form, by that form."""
        if (
            "_by_form" not in self.__dict__
        ):  # looked through once, and only where a word is asked for that may be one
            found = (w for w in reversed(self.words) if not unicodedata.is_normalized("NFC", w))
            object.__setattr__(
                self, "_by_form", {unicodedata.normalize("NFC", w): w for w in found}
            )
        by_form: dict[str, str] = self.__dict__["_by_form"]
        return by_form

    @property
    def open_vocabulary(self) -> bool:
        """Whether words outside `words` have a vector too."""
        return self.lookup is not None

    def __repr__(self) -> str:
        shape = (
            f"{number_of(len(self.words), 'word')}, {number_of(self.vectors.shape[1], 'dimension')}"
        )
        kind = self.provenance.get("format", "")
        facts = [f"<Embedding {self.name!r}: {shape}" + (f", {kind}" if kind else "")]
        if self.open_vocabulary:
            facts.append("any other word is made of pieces when asked for")
        if self.missing:
            facts.append(f"{len(self.missing)} missing ({some(self.missing, 4)})")
        if self.matched:
            facts.append(f"{len(self.matched)} by another spelling ({some(self.matched, 4)})")
        if self.composed:
            facts.append(f"{len(self.composed)} composed ({some(self.composed, 4)})")
        return "; ".join(facts) + ">"


def embedding_from_rows(
    rows: Rows,
    asked: list[str] | None,
    name: str,
    where: object,
    facts: dict[str, Any],
) -> Embedding:
    """Choose among the rows read, check them, and say what is missing."""
    at = {word: row for row, word in enumerate(rows.words)}
    if asked is None:
        asked = []
        matched, rules = {word: word for word in rows.words}, dict[str, str]()
        vectors = rows.vectors
    else:
        matched, rules = matched_spellings(asked, at)
        vectors = rows.vectors[[at[spelling] for spelling in matched.values()]]
    if not matched:
        if not asked:
            raise InputError("holds no words", where=where)
        held = number_of(rows.count, "word"), number_of(rows.vectors.shape[1], "dimension")
        raise InputError(
            none_found(asked),
            where=where,
            found=some(asked, 8),
            hint=f"it holds {held[0]} of {held[1]}",
        )
    chosen = [at[spelling] for spelling in matched.values()]
    for row in chosen:
        word = rows.words[row]
        if word in rows.repeats:
            several = f"{rows.unit[:-1]}ies" if rows.unit.endswith("y") else f"{rows.unit}s"
            raise InputError(
                f"the word {word!r} stands there twice",
                where=where,
                found=f"{several} {rows.places[row]} and {rows.repeats[word]}",
                valid="one vector per word",
                hint="remove one of the two",
            )
    with np.errstate(all="ignore"):  # signalling NaNs
        sums = np.abs(vectors).sum(axis=1, dtype=np.float64)
    broken = np.flatnonzero(~((sums > 1 / checks.LARGEST) & (sums < checks.LARGEST)))
    if len(broken):
        row, total = chosen[broken[0]], sums[broken[0]]
        kind = "NaN or infinite numbers" if not np.isfinite(total) else "only zeros"
        if np.isfinite(total) and total > 0:
            kind = f"numbers too {'large' if total > 1 else 'small'} for their squares"
        raise InputError(
            f"the vector of {rows.words[row]!r} holds {kind}",
            where=f"{where}, {rows.unit} {rows.places[row]}" if rows.places[row] else where,
            found=f"{len(broken)} such vectors" if len(broken) > 1 else None,
            valid="finite numbers, not all zero, that add up to between 1e-100 and 1e100",
            hint="a cosine cannot be computed from it; mend the file or drop the word from the list",
        )
    notes = notes_of_shared_vectors(matched)
    if rows.skipped:
        one = len(rows.skipped) == 1
        notes.append(
            f"{number_of(len(rows.skipped), 'word')} that {'is' if one else 'are'} not valid UTF-8 {'was' if one else 'were'} "
            f"skipped ({some(rows.skipped, 4)})"
        )
    composed = set(rows.composed)
    return Embedding(
        name=name,
        words=tuple(matched),
        vectors=vectors,
        provenance={
            **facts,
            "dim": int(vectors.shape[1]),
            "count": rows.count,
            "sha256_vectors": digest_of_vectors(matched.values(), vectors),
        },
        matched={word: spelling for word, spelling in matched.items() if spelling != word},
        rules=rules,
        composed=tuple(word for word, spelling in matched.items() if spelling in composed),
        missing=tuple(word for word in asked if word not in matched),
        notes=tuple(notes),
    )


def none_found(asked: Sequence[str]) -> str:
    """Say that no word was found, of one or of several."""
    return (
        "the word is not in the embedding"
        if len(asked) == 1
        else f"none of the {len(asked):,} words is in the embedding"
    )


def digest_of_vectors(words: Iterable[str], vectors: np.ndarray) -> str:
    digest = hashlib.sha256(json.dumps(list(words)).encode())
    digest.update(np.ascontiguousarray(vectors, vectors.dtype.newbyteorder("<")).data)
    return digest.hexdigest()
