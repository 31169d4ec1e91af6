"""An embedding as a value: vectors of words, where they come from, what was not found; saving it."""

import gzip
import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from bayesbias.core import InputError, checks, files, nearest, number_of, some
from bayesbias.embeddings import readers
from bayesbias.embeddings.readers.common import Rows
from bayesbias.embeddings.spelling import (
    KnownWords,
    fitting_key,
    matched_spellings,
    notes_of_shared_vectors,
    notes_of_spellings,
)

_MOST_LOOKED_AT = 2000  # keys of a source that has none of the words


@dataclass(frozen=True, eq=False)
class Embedding:
    """Vectors of words, with their source and the words that were not found.

    Attributes
    ----------
    name : str
        Short name, for tables and figures.
    words : tuple of str, length n
        The words as they were asked for, or all words of the source.
    vectors : ndarray, shape (n, d), read-only
        Row i belongs to ``words[i]``. float64 if the source is text, else as stored. Not
        normalized.
    provenance : dict
        ``source``, ``format``, ``bytes``, ``sha256`` of the file (None for a large binary file),
        ``sha256_vectors`` of the words and vectors held, ``dim``, ``count`` of words in the source.
    matched : dict
        Asked word -> word of the source, if the two differ.
    rules : dict
        Asked word -> the spelling rule that found it, for the words in `matched`.
    composed : tuple of str
        Words built from subwords: fastText words outside the dictionary (from character n-grams)
        and words of ``minilm-static`` of more than one token.
    misspelled : dict
        Of the words in `composed` those that may be misspelled -> the word that the source has and
        that is one letter away, or two for long words.
    missing : tuple of str
        Words asked for that the source does not have.
    notes : tuple of str
        What a reader should know: words found under another spelling, words that share one vector,
        skipped lines, a header that does not fit. Tables, scores and results keep these notes.
    lookup : callable, optional
        For an open vocabulary: takes a list of words (None for all that are listed) and returns the
        Embedding of those that have a vector, the others in its `missing`.

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
    composed: tuple[str, ...] = ()
    misspelled: dict[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    lookup: Callable[[Sequence[str] | None], Self] | None = None
    _row: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", checks.line(self.name, "name of the embedding"))
        words = tuple(self.words)
        vectors = np.asarray(self.vectors)
        if vectors.shape[:-1] != (len(words),) or vectors.dtype not in (np.float32, np.float64):
            got = f"{len(words)} words, an array of shape {vectors.shape}, type {vectors.dtype}"
            problem = f"expected a row of floats for each word, got {got}"
            raise InputError(problem, where=f"embedding {self.name!r}")
        vectors = vectors.view()
        vectors.flags.writeable = False
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "vectors", vectors)
        object.__setattr__(self, "_row", {word: row for row, word in enumerate(words)})
        if len(self._row) < len(words):
            checks.distinct(words, "word", f"embedding {self.name!r}")

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        if word in self._row:
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
            If a word has no vector; the message names all such words.
        """
        words = checks.several(words, "words")
        lacking = checks.once(word for word in words if word not in self._row)
        if not lacking:
            return self.vectors[[self._row[word] for word in words]]
        more = None if self.lookup is None else self.lookup(lacking)
        if more is None or more.missing:
            lacking = lacking if more is None else list(more.missing)
            problem = f"expected a vector for each word, got none for {', '.join(lacking)}"
            hint = nearest(lacking[0], self.words) if len(self.words) < 10_000 else None
            raise InputError(problem, where=f"embedding {self.name!r}", hint=hint)
        sources = [self if word in self._row else more for word in words]
        rows = [each.vectors[each._row[word]] for each, word in zip(sources, words, strict=True)]
        return np.array(rows, dtype=self.vectors.dtype)

    def same_vectors(self, words: Iterable[str] | None = None) -> list[tuple[str, ...]]:
        """Group words that have the same vector, up to rounding.

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
        >>> e = bb.load_embedding(
        ...     {"muslim": [1, 0], "mosque": [0, 1]}, ["Muslim", "muslim", "mosque"]
        ... )
        >>> e.same_vectors()
        [('Muslim', 'muslim')]
        """
        asked = checks.once(self.words if words is None else words)
        first = first_with_vector(self.vectors_of(asked)).tolist()
        groups = checks.grouped(zip(first, asked, strict=True))
        return [tuple(group) for group in groups.values() if len(group) > 1]

    @property
    def open_vocabulary(self) -> bool:
        """Whether words outside `words` have a vector too."""
        return self.lookup is not None

    def __repr__(self) -> str:
        n, d = self.vectors.shape
        facts = [number_of(n, "word"), number_of(d, "dimension"), self.provenance.get("format")]
        parts = [f"<Embedding {self.name!r}: {', '.join(filter(None, facts))}"]
        parts += ["other words are built from subwords"] * self.open_vocabulary
        held = {"missing": self.missing, "by another spelling": self.matched}
        for said, words in {**held, "composed": self.composed}.items():
            if words:
                parts.append(f"{len(words)} {said} ({some(words, 4)})")
        return "; ".join(parts) + ">"


def embedding_of(
    name: str,
    spelt: Mapping[str, str],
    vectors: np.ndarray,
    facts: Mapping[str, Any],
    asked: Iterable[str] | None,
    notes: Iterable[str],
    **more: Any,
) -> Embedding:
    """Return an embedding of words, each with the word of the source that it was found as."""
    digest = digest_of_vectors(spelt.values(), vectors)
    return Embedding(
        name=name,
        words=tuple(spelt),
        vectors=vectors,
        provenance={**facts, "dim": int(vectors.shape[1]), "sha256_vectors": digest},
        matched={word: spelling for word, spelling in spelt.items() if spelling != word},
        missing=tuple(word for word in asked or () if word not in spelt),
        notes=(*notes_of_shared_vectors(spelt), *notes, *notes_of_spellings(spelt)),
        **more,
    )


def embedding_from_rows(
    rows: Rows, asked: list[str] | None, name: str, facts: dict[str, Any], strict: bool
) -> Embedding:
    """Choose among the rows read, check them, and say what is missing."""
    (at, broken), where = rows.by_word(), facts["source"]
    if asked is None:
        spelt = {word: word for word in at}
        lost = [word for word in broken if word not in at]
    else:
        spelt = matched_spellings(asked, at)
        lost = [word for word in matched_spellings(asked, set(broken)) if word not in spelt]
    if not spelt and not lost:
        if not asked:
            raise InputError("expected words, got none", where=where)
        held = f"it holds {number_of(rows.count, 'word')}"
        raise none_found(asked, where, held, rows.sample, rows.encoding)
    several = [word for word, spelling in spelt.items() if len(at[spelling]) > 1]
    notes = rows.notes
    for words, found, done in (
        (lost, "only zeros, NaN or extreme numbers", "count as missing"),
        (several, "several vectors", "are given their mean; --contexts resamples them"),
    ):
        if words and (strict or not spelt):
            problem = f"expected a vector for {words[0]!r}, got {found}"
            raise InputError(problem, where=where, hint=f"by default such words {done}")
        if words:
            said = f"{number_of(len(words), 'word')} with {found} {done} ({some(words, 4)})"
            notes = [*notes, said]
    chosen = [at[spelling] for spelling in spelt.values()]
    vectors = rows.vectors
    if several:
        vectors = np.stack([vectors[each].mean(axis=0) for each in chosen]).astype(vectors.dtype)
    elif asked is not None or len(chosen) < len(vectors):
        vectors = vectors[[row for (row,) in chosen]]
    composed = tuple(word for word, spelling in spelt.items() if spelling in rows.composed)
    facts = {**facts, "count": rows.count}
    if several:
        facts["several_vectors"] = len(several)
    misspelled = KnownWords(rows.known).misspelled(composed) if composed else {}
    return embedding_of(
        name, spelt, vectors, facts, asked, notes, composed=composed, misspelled=misspelled
    )


def none_found(
    asked: Sequence[str],
    where: object,
    hint: str | None = None,
    keys: Sequence[str] = (),
    encoding: str | None = None,
) -> InputError:
    """Return the error for words that a source does not have."""
    which = f"the word {asked[0]!r}"
    if len(asked) > 1:
        which = f"any of {len(asked):,} words ({some(asked[:4])})"
    got = "none of them"
    if keys:
        got = f"words such as {', '.join(repr(key[:40]) for key in keys[:3])}"
        hint = _fitting_advice(asked, keys[:_MOST_LOOKED_AT], encoding)
    if pattern := fitting_key(asked, keys):
        quoted = f"'{pattern}'" if '"' in pattern else f'"{pattern}"'
        hint = f"name the form of its words: --key {quoted} (key=)"
    return InputError(f"expected {which}, got {got}", where=where, hint=hint)


def _fitting_advice(asked: Sequence[str], keys: Sequence[str], encoding: str | None) -> str:
    """Say what to do where a source has none of the words, by what its keys look like."""
    if encoding is not None:
        return f"its words are not UTF-8: add --encoding {encoding} (encoding=)"
    letters = [key for key in keys if any(letter.isalpha() for letter in key)]
    if 2 * len(letters) < len(keys):
        return "its keys are no words: take the file or column that has the words"
    if _scripts(asked).isdisjoint(_scripts(letters)):
        return "use vectors of the language of the list"
    return "name the form of its words with --key (key=), or use vectors that have these words"


def _scripts(words: Iterable[str]) -> set[str]:
    """Return the scripts of most letters of words, such as LATIN."""
    letters = Counter(letter for word in words for letter in word if letter.isalpha())
    scripts: Counter[str] = Counter()
    for letter, times in letters.items():
        scripts[unicodedata.name(letter, "").partition(" ")[0]] += times
    total = scripts.total()
    return {script for script, times in scripts.items() if 5 * times > total}


def units(vectors: Any, where: object = "vectors") -> np.ndarray:
    """Return vectors of length 1, one a row, in double precision."""
    array = np.array(vectors, dtype=float)
    check_dimensions(array, where)
    array /= np.linalg.norm(array, axis=1, keepdims=True)
    return array


def check_dimensions(vectors: np.ndarray, where: object = "vectors") -> None:
    """Refuse vectors of one dimension."""
    if vectors.shape[1] == 1:
        hint = "every cosine of such vectors is 1 or -1: take vectors of more dimensions"
        raise InputError("expected two dimensions or more, got one", where=where, hint=hint)


def digest_of_vectors(words: Iterable[str], vectors: np.ndarray) -> str:
    """Return the SHA-256 of words and vectors."""
    digest = hashlib.sha256(json.dumps(list(words)).encode())
    digest.update(np.ascontiguousarray(vectors, vectors.dtype.newbyteorder("<")).data)
    return digest.hexdigest()


def first_with_vector(vectors: np.ndarray, close: float = 1e-6) -> np.ndarray:
    """Return for each row the first row with the same vector, up to rounding."""
    x = np.asarray(vectors, dtype=float)
    size = close * np.linalg.norm(x, axis=1)
    direction = np.random.default_rng(0).normal(size=x.shape[1])
    line = x @ (direction / np.linalg.norm(direction))  # equal vectors are neighbors on any line
    order = np.argsort(line, kind="stable")
    apart = np.diff(line[order]) > np.maximum(size[order][1:], size[order][:-1])
    first = np.arange(len(x))
    for run in np.split(order, np.flatnonzero(apart) + 1):
        left = np.sort(run)
        while len(left) > 1:
            equal = np.linalg.norm(x[left] - x[left[0]], axis=1) <= size[left[0]]
            first[left[equal]] = left[0]
            left = left[~equal]
    return first


# -- writing ---------------------------------------------------------------------------------------


def save_embedding(embedding: Embedding, path: checks.FilePath) -> None:
    """Write an embedding in the format that the ending of the path names.

    Parameters
    ----------
    embedding : Embedding
        Word vectors.
    path : str or path
        ``.npz``: the arrays ``words`` and ``vectors``, with every digit, and words with blanks too.
        ``.bin``: word2vec binary, in single precision. Others, such as ``.txt`` or ``.vec``:
        word2vec text, with every digit. Both also compressed, with ``.gz``.

    Raises
    ------
    InputError
        If the ending is that of another format, a word2vec file cannot hold the words, or the file
        cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from bayesbias import load_embedding
    >>> e = load_embedding({"rabbi": [1.0, 0.1], "priest": [0.8, 0.6]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_embedding(e, f"{folder}/two.txt")
    ...     print(Path(folder, "two.txt").read_text(), end="")
    2 2
    rabbi 1.0 0.1
    priest 0.8 0.6
    """
    embedding = getattr(embedding, "embedding", embedding)  # of `hard_debias`
    checks.instance(embedding, Embedding, "embedding", "an Embedding (from load_embedding)")
    writer, zipped = readers.writer_for(checks.path(path, "path"))
    bad = [word for word in embedding.words if not word or re.search(r"\s", word)]
    if bad and not writer.blanks:
        problem = f"expected words without blanks, got {some(map(repr, bad))}"
        raise InputError(problem, where=path, hint="write phrases with underscores, or write .npz")
    with files.whole_file(path) as temporary, open(temporary, "wb") as raw:
        if zipped:
            with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
                writer.write(packed, embedding.words, embedding.vectors)
        else:
            writer.write(raw, embedding.words, embedding.vectors)
