"""Word vectors out of any common source, reading only the words asked for."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest, nearest_file
from bayesbias.core.files import lies_at, list_names
from bayesbias.core.frames import plain_numbers
from bayesbias.core.opening import (
    as_plain_file,
    fingerprint,
    names_beside,
    path_of,
    sha256_file,
    state_of,
    unchanged,
)
from bayesbias.core.progress import ticking
from bayesbias.core.seals import check_summed
from bayesbias.core.wording import Shortened, some
from bayesbias.embeddings.embedding import Embedding, digest_of_vectors, embedding_from_rows, none_found
from bayesbias.embeddings.frames import from_frame, from_matrix, is_words_and_matrix
from bayesbias.embeddings.gensim import GENSIM_DATA, fetched_from_gensim, from_gensim, from_pickle
from bayesbias.embeddings.postprocessing import POSTPROCESSINGS, postprocess as postprocessed
from bayesbias.embeddings.readers import formats
from bayesbias.embeddings.readers.rows import Reading, Rows
from bayesbias.embeddings.spelling import notes_of_shared_vectors, spellings_of, unmatched_words
from bayesbias.embeddings.static import (
    list_embeddings,
    static_embedding,
)

__all__ = ["load_embedding"]

_HASHED_ALWAYS = 100_000_000  # bytes; hashing more than this would take longer than a binary file's scan
_INDEX_AFTER = 1.0  # seconds of reading from which on an index is worth its place


def load_embedding(
    x: Any,
    words: Iterable[str] | None = None,
    *,
    name: str | None = None,
    allow_pickle: bool = False,
    on_invalid_utf8: str = "error",
    progress: bool | None = None,
    index: bool | None = None,
    postprocess: str | None = None,
) -> Embedding:
    """Load word vectors, reading only the words asked for.

    Parameters
    ----------
    x : str, path, mapping, data frame, tuple, Embedding or gensim object
        The shipped name ``minilm-static``; the path of a file; a name of the gensim-data collection (extra
        ``gensim``; downloaded once, by gensim, into its own folder); a mapping word -> vector; a
        data frame with the words as its index or in a column ``word``, and a column for each dimension and for nothing
        else, or one of whole vectors (``vector`` or ``embedding``); a tuple of words and a matrix with a row for each; a gensim
        ``KeyedVectors`` or a model that has one. The format of a file is told from its content; the error for
        one that is not known lists those that are.
    words : iterable of str, optional
        The words wanted. Memory is used for these alone, whatever the size of the file. All words if None.
        A word that is not there as given is sought in the other spellings of `SEPARATORS` and `CASES`, in
        their order; what was found instead is recorded in ``matched`` and ``rules``.
    name : str, optional
        A short name; by default that of the file without its suffixes.
    allow_pickle : bool
        Loading a pickle runs code from the file: allow it for files you trust.
    on_invalid_utf8 : {"error", "skip"}
        What to do with a word that is not valid UTF-8. Skipped ones are counted in the notes.
    progress : bool, optional
        A bar on stderr for files that take more than two seconds. By default on terminals only.
    index : bool, optional
        An index in the user's cache folder (or ``BAYESBIAS_CACHE``) makes the second load of an uncompressed
        text or word2vec file immediate. None: use one that fits, write one where reading took more
        than a second. True: write one in any case. False: neither.
    postprocess : {"center", "standardize", "abtt"}, optional
        What is done to the vectors first; see `bayesbias.embeddings.postprocess`. The mean, the deviations and the
        components are those of all words of the source, so that all are read.

    Returns
    -------
    Embedding
        ``provenance["sha256"]`` is that of the file on the disk. It is None for uncompressed binary files of
        more than 100 MB, where hashing would take several times as long as reading; ``sha256_vectors``,
        of the words and vectors returned, is always there.

    Raises
    ------
    InputError
        Where the source is unknown, damaged or of another format, or does not agree with the SHA-256 in ``PATH.sha256``
        beside it, as `save_embedding` and ``sha256sum`` write it; where a wanted vector holds NaN, infinite
        or only zero numbers; where a wanted word stands there twice; where no wanted word is found.

    Examples
    --------
    >>> e = load_embedding("minilm-static", ["rabbi", "imam", "terrorist"])
    >>> e
    <Embedding 'minilm-static': 3 words, 128 dimensions, static tokens; any other word is made of pieces when asked for>
    >>> unit = e.vectors / np.linalg.norm(e.vectors, axis=1, keepdims=True)
    >>> [round(float(s), 2) for s in unit[:2] @ unit[2]]
    [0.15, 0.32]
    >>> load_embedding((["rabbi", "imam"], np.eye(2)), ["imam", "priest"]).missing
    ('priest',)
    """
    asked = _words_asked(words)
    if name is not None:
        checks.text(name, "name")
    checks.choice(on_invalid_utf8, ("error", "skip"), "value of on_invalid_utf8")
    how = (name, allow_pickle, on_invalid_utf8 == "skip", progress, index)
    if postprocess is None:
        return _loaded(x, asked, *how)
    checks.choice(postprocess, POSTPROCESSINGS, "way to postprocess")
    with _readable_twice(x) as source:
        everything = _loaded(source, None, *how)
        chosen = everything if asked is None else _loaded(source, asked, *how)
        if source is not x:
            chosen.provenance["source"] = str(x)
    return postprocessed(chosen, postprocess, background=everything)


@contextlib.contextmanager
def _readable_twice(x: Any) -> Iterator[Any]:
    """Yield what can be read again: of a pipe what it held, put aside; all else as it is."""
    if not isinstance(x, str | os.PathLike) or (isinstance(x, str) and x in list_embeddings()):
        yield x
        return
    path = path_of(os.fspath(x), "x", "a name, or the path of a file of vectors")
    if not lies_at(path) or not stat.S_ISFIFO(state_of(path, pipes=True, noun="vector file").st_mode):
        yield x
        return
    with as_plain_file(path, noun="vector file") as plain:
        yield plain


def _loaded(
    x: Any,
    asked: list[str] | None,
    name: str | None,
    allow_pickle: bool,
    skip_invalid: bool,
    progress: bool | None,
    index: bool | None,
) -> Embedding:
    """Load vectors as they are."""
    if isinstance(x, Embedding):
        return _from_embedding(x, asked, name)
    if isinstance(x, Mapping):
        return _from_mapping(x, asked, name)
    if hasattr(x, "columns"):
        return from_frame(x, asked, name)
    if is_words_and_matrix(x):
        return from_matrix(x, asked, name)
    if not isinstance(x, str | os.PathLike):
        return from_gensim(x, asked, name, {"source": f"a {type(x).__name__} object"})
    text = os.fspath(x)
    if isinstance(x, str) and text in list_embeddings():
        return _from_open(static_embedding, asked, name or text)
    path = path_of(text, "x", "a name, or the path of a file of vectors")
    there = lies_at(path)
    if not there and isinstance(x, str) and text in GENSIM_DATA:
        path, name = fetched_from_gensim(text, progress), name or text
    elif not there:
        raise _unknown_source(text, path)
    with as_plain_file(path, noun="vector file", valid=formats.valid_formats()) as plain, unchanged(plain):
        return read_vector_file(
            plain,
            asked,
            name,
            allow_pickle,
            skip_invalid,
            progress,
            index if plain is path else False,
            source=path,
        )


def _words_asked(words: Iterable[str] | None) -> list[str] | None:
    if words is None:
        return None
    asked = list(dict.fromkeys(checks.words(words)))
    if not asked:
        raise InputError(
            "the list of words is empty", where="words", valid="one word or more, or None for all"
        )
    return asked


def read_vector_file(
    path: Path,
    asked: list[str] | None,
    name: str | None,
    allow_pickle: bool,
    skip_invalid: bool,
    progress: bool | None,
    index: bool | None,
    source: Path | None = None,
) -> Embedding:
    from bayesbias.embeddings import file_index

    started = time.perf_counter()
    check_summed(path)
    form, kind = formats.recognise(path)
    size = path.stat().st_size
    name = name or formats.short_name(path)
    facts: dict[str, Any] = {"source": str(source or path), "format": kind.format, "bytes": size}
    if form.read is None:
        return from_pickle(path, asked, name, allow_pickle, facts)
    if kind.compressed:
        facts["format"] += ", gzipped"
    wanted = None if asked is None else {spelling for word in asked for spelling in spellings_of(word)}
    indexable = wanted is not None and index is not False and not kind.compressed and form.index is not None
    if indexable and wanted and (known := file_index.read_indexed(path, kind, wanted)):
        rows, head = known
        if not head["skipped"] or skip_invalid:
            rows.skipped = head["skipped"]
            facts |= {"sha256": head["sha256"], "index": "used"}
            return embedding_from_rows(rows, asked, name, path, facts)
    before = fingerprint(path)
    listed: list[Any] | None = [] if indexable else None
    cheap = kind.compressed or form.index == "lines" or size <= _HASHED_ALWAYS
    with contextlib.ExitStack() as stack:
        digest = stack.enter_context(_hashing(path)) if cheap else None
        tick = stack.enter_context(ticking(f"reading {path.name}", size, progress, of_bytes=True))
        unmatched = functools.partial(unmatched_words, asked or [])
        rows = form.read(Reading(path, kind, wanted, tick, skip_invalid, listed, unmatched))
        facts["sha256"] = digest() if digest else None
    result = embedding_from_rows(rows, asked, name, path, facts)
    if listed and (index or time.perf_counter() - started > _INDEX_AFTER):
        more = {"count": rows.count, "skipped": rows.skipped, "sha256": facts["sha256"]}
        result.provenance["index"] = file_index.write_index(path, kind, listed, before, more)
    return result


@contextlib.contextmanager
def _hashing(path: Path) -> Iterator[Callable[[], str]]:
    """Compute the SHA-256 of a file on a second thread while it is read."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(sha256_file, path).result


def _from_mapping(x: Mapping[Any, Any], asked: list[str] | None, name: str | None) -> Embedding:
    where = f"the mapping {name!r}" if name else "the mapping"
    if not x:
        raise InputError("is empty", where=where, valid="word -> vector")
    keys = list(x) if asked is None else [s for word in asked for s in spellings_of(word) if s in x]
    table: dict[str, np.ndarray] = {}
    for word in dict.fromkeys(keys):
        usual = len(next(iter(table.values()))) if table else 0
        valid = f"strings -> {usual or 'd'} numbers each"
        vector = plain_numbers(x[word], f"{where}, key {Shortened(word)}", valid)
        if not isinstance(word, str) or vector.ndim != 1 or vector.size != (usual or vector.size):
            raise InputError(
                "is not a vector of numbers"
                if vector.ndim != 1 or not vector.size
                else "wrong dimension or type",
                where=f"{where}, key {Shortened(word)}",
                found=f"shape {vector.shape}, type {vector.dtype}",
                valid=valid,
            )
        table[word] = vector
    dtype = np.float32 if table and all(v.dtype == np.float32 for v in table.values()) else np.float64
    dim = 0 if table else np.size(next(iter(x.values())))  # of none that was found the first says it
    vectors = np.array(list(table.values()) or np.empty((0, dim)), dtype=dtype)
    rows = Rows(list(table), vectors, [0] * len(table), "key", len(x))
    return embedding_from_rows(
        rows, asked, name or "mapping", where, {"source": "a mapping", "format": "mapping"}
    )


def _from_embedding(x: Embedding, asked: list[str] | None, name: str | None) -> Embedding:
    """Choose words of an embedding; what was matched before stays recorded."""
    if x.lookup is not None:
        return _from_open(x.lookup, asked, name or x.name)
    if asked is None:
        return x
    rows = Rows(list(x.words), x.vectors, [0] * len(x.words), "row", x.provenance.get("count", len(x)))
    chosen = embedding_from_rows(rows, asked, name or x.name, f"embedding {x.name!r}", x.provenance)
    spellings = {word: chosen.matched.get(word, word) for word in chosen.words}
    source = {word: x.matched.get(spelling, spelling) for word, spelling in spellings.items()}
    rules = {
        word: ", then ".join(dict.fromkeys(r for r in (chosen.rules.get(word), x.rules.get(spelling)) if r))
        for word, spelling in spellings.items()
    }
    return Embedding(
        name=chosen.name,
        words=chosen.words,
        vectors=chosen.vectors,
        provenance={
            **chosen.provenance,
            "sha256_vectors": digest_of_vectors(source.values(), chosen.vectors),
        },
        matched={word: spelling for word, spelling in source.items() if spelling != word},
        rules={word: rule for word, rule in rules.items() if rule and source[word] != word},
        composed=tuple(word for word, spelling in spellings.items() if spelling in x.composed),
        missing=chosen.missing,
        notes=tuple([*notes_of_shared_vectors(source), *(note for note in x.notes if "UTF-8" in note)]),
    )


def _from_open(
    lookup: Callable[[list[str] | None], Embedding], asked: list[str] | None, name: str
) -> Embedding:
    """Choose words of an open vocabulary."""
    chosen = lookup(asked)
    if asked and not len(chosen):
        raise InputError(
            none_found(asked),
            where=f"embedding {name!r}",
            found=some(asked, 8),
        )
    return dataclasses.replace(chosen, name=name)


def _unknown_source(text: str, path: Path) -> InputError:
    beside = names_beside(path)
    looks_like_path = os.sep in text or path.suffix in formats.suffixes()
    known = None if looks_like_path else nearest(text, [*list_embeddings(), *GENSIM_DATA])
    if text in list_names("wordlists"):
        known = "this is a word list: are the two exchanged?"
    return InputError(
        "no such vector file" if looks_like_path else "unknown embedding",
        found=text,
        valid=[
            *list_embeddings(),
            "a gensim-data name such as glove-wiki-gigaword-100",
            "or the path of a file",
        ],
        hint=f"there is no folder {path.parent}"
        if beside is None
        else known or nearest_file(path.name, beside),
    )
