"""Word vectors from any common source, reading only the words asked for."""

import contextlib
import dataclasses
import functools
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.files import guarded, list_names, sha256_file, state_of
from bayesbias.core.progress import ticking
from bayesbias.embeddings import memory, readers
from bayesbias.embeddings.embedding import (
    Embedding,
    digest_of_vectors,
    embedding_from_rows,
    none_found,
)
from bayesbias.embeddings.postprocessing import POSTPROCESSINGS, postprocess as postprocessed
from bayesbias.embeddings.readers.common import Reading, Rows
from bayesbias.embeddings.spelling import (
    matched_spellings,
    notes_of_shared_vectors,
    spellings_of,
    unmatched_words,
)
from bayesbias.embeddings.static import list_embeddings, static_embedding

__all__ = ["load_embedding", "ranks_of"]

GENSIM_DATA = (
    "conceptnet-numberbatch-17-06-300",
    "fasttext-wiki-news-subwords-300",
    "glove-twitter-100",
    "glove-twitter-200",
    "glove-twitter-25",
    "glove-twitter-50",
    "glove-wiki-gigaword-100",
    "glove-wiki-gigaword-200",
    "glove-wiki-gigaword-300",
    "glove-wiki-gigaword-50",
    "word2vec-google-news-300",
    "word2vec-ruscorpora-300",
)
"""The vectors of the gensim-data collection, which `load_embedding` can download by name."""
_HASHED_ALWAYS = 100_000_000  # bytes; hashing more would take longer than scanning a binary file
_LEAST = 5  # words whose alphabetical order is no accident


def load_embedding(
    x: Any,
    words: Iterable[str] | None = None,
    *,
    name: str | None = None,
    allow_pickle: bool = False,
    on_invalid_utf8: str = "error",
    progress: bool | None = None,
    postprocess: str | None = None,
) -> Embedding:
    """Load word vectors, reading only the words asked for.

    Parameters
    ----------
    x : str, path, mapping, data frame, tuple, Embedding or gensim object
        The shipped name ``minilm-static``; the path of a file, whose format is told from its
        content (word2vec, GloVe, fastText, CSV or TSV, each also gzipped; npz, safetensors,
        gensim); a name of the gensim-data collection, which gensim downloads once; a mapping word
        -> vector; a data frame with the words as its index or in a column ``word``, and a column
        a dimension or one of whole vectors (``vector`` or ``embedding``); a tuple of words and a
        matrix; a gensim ``KeyedVectors`` or a model that has one.
    words : iterable of str, optional
        The words wanted; all words if None. Memory is used for these only. A word that is not
        there as given is looked for in other spellings, in the order of `SEPARATORS` and `CASES`;
        what was found is recorded in ``matched`` and ``rules``.
    name : str, optional
        A short name; by default that of the file without its endings.
    allow_pickle : bool
        Loading a pickle runs code from the file: allow it for files you trust.
    on_invalid_utf8 : {"error", "skip"}
        What to do with a word that is not valid UTF-8. Skipped words are counted in the notes.
    progress : bool, optional
        Whether to show a bar for files that take more than two seconds. By default on terminals.
    postprocess : {"center", "standardize", "abtt"}, optional
        What is done to the vectors first; see `bayesbias.embeddings.postprocess`. It reads all
        words.

    Returns
    -------
    Embedding
        ``provenance["sha256"]`` is that of the file; None for binary files of more than 100 MB.

    Raises
    ------
    InputError
        If the source is unknown or damaged, no wanted word is found, a wanted word occurs twice, or
        its vector holds NaN, infinite or only zero numbers.

    Examples
    --------
    >>> import numpy as np
    >>> e = load_embedding("minilm-static", ["rabbi", "imam", "terrorist"])
    >>> e
    <Embedding 'minilm-static': 3 words, 128 dimensions, static tokens; other words are built from subwords>
    >>> unit = e.vectors / np.linalg.norm(e.vectors, axis=1, keepdims=True)
    >>> [round(float(s), 2) for s in unit[:2] @ unit[2]]
    [0.15, 0.32]
    >>> load_embedding((["rabbi", "imam"], np.eye(2)), ["imam", "priest"]).missing
    ('priest',)
    """
    if type(x).__name__ == "Debiased":  # of `hard_debias`; its folder imports this one
        x = x.embedding
    asked = None if words is None else list(dict.fromkeys(checks.words(words)))
    if asked is not None and not asked:
        raise InputError("the list of words is empty", where="words", valid="None for all words")
    checks.choice(on_invalid_utf8, ("error", "skip"), "value of on_invalid_utf8")
    how = (name, allow_pickle, on_invalid_utf8 == "skip", progress)
    if postprocess is None:
        return _loaded(x, asked, *how)
    checks.choice(postprocess, POSTPROCESSINGS, "way to postprocess")
    everything = _loaded(x, None, *how)
    chosen = everything if asked is None else _loaded(x, asked, *how)
    return postprocessed(chosen, postprocess, background=everything)


def _loaded(
    x: Any,
    asked: list[str] | None,
    name: str | None,
    allow_pickle: bool,
    skip_invalid: bool,
    progress: bool | None,
) -> Embedding:
    """Load vectors as they are."""
    if isinstance(x, Embedding):
        return _from_embedding(x, asked, name)
    if isinstance(x, Mapping):
        return memory.from_mapping(x, asked, name)
    if hasattr(x, "columns"):
        return memory.from_frame(x, asked, name)
    if memory.is_words_and_matrix(x):
        return memory.from_matrix(x, asked, name)
    if not isinstance(x, str | os.PathLike):
        return memory.from_gensim(x, asked, name, {"source": f"a {type(x).__name__} object"})
    if isinstance(x, str) and x in list_embeddings():
        return _from_open(static_embedding, asked, name or x)
    path = _file_of(x, progress)
    form, layout, compressed = readers.recognized(path)
    size = path.stat().st_size
    name = name or (os.fspath(x) if os.fspath(x) in GENSIM_DATA else readers.short_name(path))
    told = form.name + (", compressed" if compressed else "")
    facts: dict[str, Any] = {"source": str(path), "format": told, "bytes": size, "sha256": None}
    if form.read is None:
        if not allow_pickle:
            hint = "for a file you trust pass allow_pickle=True (--allow-pickle)"
            problem = "is a pickle (as gensim's .kv and .model files are); loading it runs code from the file"
            raise InputError(problem, where=path, hint=hint)
        from gensim.models import KeyedVectors

        with guarded(path, "gensim cannot load it"):  # a pickle can raise anything
            loaded = KeyedVectors.load(str(path), mmap="r")
        return memory.from_gensim(loaded, asked, name, {**facts, "sha256": sha256_file(path)})
    wanted = None if asked is None else {s for word in asked for s in spellings_of(word)}
    unmatched = functools.partial(unmatched_words, asked or [])
    with (
        ThreadPoolExecutor(1) as pool,
        ticking(f"reading {path.name}", size, progress, of_bytes=True) as tick,
    ):
        hashed = compressed or not form.sparse or size <= _HASHED_ALWAYS
        digest = pool.submit(sha256_file, path) if hashed else None
        rows = form.read(Reading(path, layout, wanted, tick, skip_invalid, unmatched))
        facts["sha256"] = digest.result() if digest else None
    return embedding_from_rows(rows, asked, name, path, facts)


def _file_of(x: str | os.PathLike[str], progress: bool | None) -> Path:
    """Return the file of a path, or of a name of the gensim-data collection."""
    text = checks.path(x, "x", "a name, or the path of a file of vectors")
    path = Path(text).expanduser()
    if path.is_file():
        return path
    if text in GENSIM_DATA:
        return _downloaded(text, progress)
    if path.is_dir() or os.sep in text or path.suffix in readers.suffixes():
        state_of(path, noun="vector file", valid=readers.valid_formats())
    hint = nearest(text, [*list_embeddings(), *GENSIM_DATA])
    if text in list_names("wordlists"):
        hint = "this is a word list: are the two exchanged?"
    raise InputError(
        "unknown embedding",
        found=text,
        valid=[*list_embeddings(), "a gensim-data name such as glove-wiki-gigaword-100", "a path"],
        hint=hint,
    )


def _downloaded(name: str, progress: bool | None) -> Path:
    """Return the file of a gensim-data name, which gensim downloads if it is not there yet."""
    folder = Path(os.environ.get("GENSIM_DATA_DIR") or os.path.expanduser("~/gensim-data"))
    path = folder / name / f"{name}.gz"
    if path.is_file():
        return path
    import gensim.downloader

    quiet = progress is False or (progress is None and not sys.stderr.isatty())
    hint = f"without a network put the file of gensim-data at {path}"
    # gensim draws its bar on stdout, which may carry our result.
    with (
        guarded(name, "could not be downloaded", hint=hint),
        open(os.devnull, "w") as null,
        contextlib.redirect_stdout(null if quiet else sys.stderr),
    ):
        return Path(gensim.downloader.load(name, return_path=True))


def _from_embedding(x: Embedding, asked: list[str] | None, name: str | None) -> Embedding:
    """Choose words of an embedding; what was matched before stays recorded."""
    if x.lookup is not None:
        return _from_open(x.lookup, asked, name or x.name)
    if asked is None:
        return x
    rows = Rows(list(x.words), x.vectors, [0] * len(x), x.provenance.get("count", len(x)))
    rows.composed = list(x.composed)
    chosen = embedding_from_rows(rows, asked, name or x.name, f"embedding {x.name!r}", x.provenance)
    spellings = {word: chosen.matched.get(word, word) for word in chosen.words}
    source = {word: x.matched.get(spelling, spelling) for word, spelling in spellings.items()}
    matched = {word: spelling for word, spelling in source.items() if spelling != word}
    digest = digest_of_vectors(source.values(), chosen.vectors)
    return dataclasses.replace(
        chosen,
        provenance={**chosen.provenance, "sha256_vectors": digest},
        matched=matched,
        rules={w: chosen.rules.get(w) or x.rules[spellings[w]] for w in matched},
        notes=(*notes_of_shared_vectors(source), *(note for note in x.notes if "UTF-8" in note)),
    )


def _from_open(
    lookup: Callable[[Sequence[str] | None], Embedding], asked: list[str] | None, name: str
) -> Embedding:
    """Choose words of an open vocabulary."""
    chosen = lookup(asked)
    if asked and not len(chosen):
        raise none_found(asked, f"embedding {name!r}")
    return dataclasses.replace(chosen, name=name)


def ranks_of(
    source: Any, words: Sequence[str]
) -> tuple[dict[str, int], dict[str, str], dict[str, Any]]:
    r"""Return the place of words in the order of a source of vectors, counted from 1.

    word2vec, fastText and GloVe write their words from the most frequent on. A file does not say
    whether it does.

    Parameters
    ----------
    source : path, name of the gensim-data collection, Embedding or gensim KeyedVectors
        For an Embedding, the file that it was read from.
    words : sequence of str

    Returns
    -------
    ranks, matched : dict
        Of the words that are in the source; and the spellings that were found, if others.
    about : dict
        ``source`` and ``sha256`` of the file.

    Raises
    ------
    InputError
        If the source has no order (a mapping, shipped vectors) or is in alphabetical order.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "v.txt").write_text("the 0.1 0.2\nof 0.3 0.1\nrabbi 0.2 0.2\n")
    ...     ranks_of(f"{folder}/v.txt", ["Rabbi", "of"])[0]
    {'Rabbi': 3, 'of': 2}
    """
    if isinstance(source, Embedding):
        source = source.provenance.get("source", "")
    vectors = getattr(source, "wv", source)
    if hasattr(vectors, "key_to_index"):
        known = {str(word): place + 1 for word, place in vectors.key_to_index.items()}
        about = {"source": type(source).__name__, "sha256": ""}
    else:
        form = None
        named = isinstance(source, str | os.PathLike)
        if named and (Path(source).is_file() or os.fspath(source) in GENSIM_DATA):
            path = _file_of(source, None)
            form, layout, _ = readers.recognized(path)
        if form is None or form.read is None:
            raise InputError(
                "has no order that could mean frequency",
                where="counts from the order of vectors",
                found=source if isinstance(source, str) else type(source).__name__,
                valid="a file of vectors in the order of frequency, or a gensim KeyedVectors object",
            )
        wanted = {spelling for word in words for spelling in spellings_of(word)}
        rows = form.read(Reading(path, layout, wanted, skip_invalid=True))
        known = {word: place for word, place in zip(rows.words, rows.places, strict=True) if place}
        about = {"source": str(path), "sha256": sha256_file(path)}
    matched, _ = matched_spellings(words, known)
    places = sorted((known[spelling], spelling) for spelling in set(matched.values()))
    spelt = [spelling.casefold() for _, spelling in places]
    if len(spelt) >= _LEAST and spelt in (sorted(spelt), sorted(spelt, reverse=True)):
        problem = "the words are in alphabetical order, which says nothing about their frequency"
        raise InputError(problem, where=about["source"], found=", ".join(spelt[:4]))
    ranks = {word: known[spelling] for word, spelling in matched.items()}
    return ranks, {word: spelling for word, spelling in matched.items() if word != spelling}, about
