"""Word vectors from any common source, reading only the words asked for."""

import contextlib
import dataclasses
import functools
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.core import checks, files
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import some
from bayesbias.core.progress import ticking
from bayesbias.embeddings import memory, readers, spelling
from bayesbias.embeddings.embedding import (
    Embedding,
    digest_of_vectors,
    embedding_from_rows,
    none_found,
)
from bayesbias.embeddings.postprocessing import POSTPROCESSINGS, postprocess as postprocessed
from bayesbias.embeddings.readers.common import Layout, Reading, Rows
from bayesbias.embeddings.static import StaticModel, list_embeddings, shipped_model, static_model_at

__all__ = ["load_contexts", "load_embedding", "ranks_of"]

GENSIM_DATA = (
    *("conceptnet-numberbatch-17-06-300", "fasttext-wiki-news-subwords-300"),
    *(f"glove-twitter-{d}" for d in (25, 50, 100, 200)),
    *(f"glove-wiki-gigaword-{d}" for d in (50, 100, 200, 300)),
    *("word2vec-google-news-300", "word2vec-ruscorpora-300"),
)
"""The vectors of the gensim-data collection, which `load_embedding` can download by name."""
_HASHED_ALWAYS = 100_000_000  # bytes; hashing more would take longer than scanning a binary file
_LEAST = 5  # words whose alphabetical order is no accident


def load_embedding(
    x: Any,
    words: Iterable[str] | None = None,
    *,
    name: str | None = None,
    vocab: str | os.PathLike[str] | None = None,
    key: str | Sequence[str] | None = None,
    on_bad_lines: str = "skip",
    allow_pickle: bool = False,
    progress: bool | None = None,
    postprocess: str | None = None,
) -> Embedding:
    """Load word vectors, reading only the words asked for.

    Parameters
    ----------
    x : str, path, mapping, data frame, tuple, Embedding or gensim object
        The shipped name ``minilm-static``; the path of a file, whose format its content tells
        (word2vec, GloVe, fastText, CSV or TSV, npy, npz, safetensors, Parquet, Arrow; text also as
        .gz, .bz2, .xz, .zip or ``archive.zip:member``); the folder of a static model (model2vec,
        sentence-transformers) or of one such file; a name of the gensim-data collection, which
        gensim downloads once; a mapping word -> vector; a data frame with the words as its index or
        in a column ``word``, and a column a dimension or one of whole vectors; a tuple of words and
        a matrix; a gensim ``KeyedVectors`` or a model that has one.
    words : iterable of str, optional
        The words wanted; all words if None. Memory is used for these only. A word that is not
        there as given is looked for in other spellings, in the order of `SEPARATORS` and `CASES`;
        what was found is recorded in ``matched`` and ``rules``.
    name : str, optional
        A short name; by default that of the file without its endings.
    vocab : str or path, optional
        The file with the words of a matrix (.npy, .safetensors, text of numbers): a word a line, a
        table, JSON or a tokenizer. By default ``vocab.txt``, ``words.txt`` or a file of nearly the
        name of the matrix beside it.
    key : str or sequence of str, optional
        How the file writes its words, such as ``{word}_NOUN`` or ``/c/en/{word}``. Of several forms
        the first that is there is used.
    on_bad_lines : {"skip", "error"}
        What to do with lines that cannot be read, a header that does not fit, vectors of zeros and
        words with several vectors. By default lines and zeros are skipped, several vectors are
        given their mean, and ``notes`` counts both.
    allow_pickle : bool
        Loading a pickle runs code from the file: allow it for files of gensim that you trust.
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
        If the source is unknown or damaged, or no wanted word is found.

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
    checks.choice(on_bad_lines, ("skip", "error"), "value of on_bad_lines")
    asked = _asked(words)
    strict = on_bad_lines == "error"

    def loaded(asked: list[str] | None) -> Embedding:
        if isinstance(x, Embedding):
            return _from_embedding(x, asked, name)
        if model := _static_model(x, name):
            return _from_open(model.embedding, asked, name or model.name)
        rows, short, facts = _read(x, asked, vocab, key, strict, allow_pickle, progress)
        where = facts["source"]
        return embedding_from_rows(rows, asked, name or short, where, facts, strict)

    if postprocess is None:
        return loaded(asked)
    checks.choice(postprocess, POSTPROCESSINGS, "way to postprocess")
    everything = loaded(None)
    chosen = everything if asked is None else loaded(asked)
    return postprocessed(chosen, postprocess, background=everything)


def load_contexts(
    x: Any,
    words: Iterable[str] | None = None,
    *,
    vocab: str | os.PathLike[str] | None = None,
    key: str | Sequence[str] | None = None,
    on_bad_lines: str = "skip",
) -> dict[str, np.ndarray]:
    """Load every vector of each word, such as one for each occurrence.

    Parameters
    ----------
    x : str, path, data frame or tuple
        As in `load_embedding`; a word may stand there several times.
    words : iterable of str, optional
        The words wanted; all words if None.
    vocab, key, on_bad_lines : optional
        As in `load_embedding`.

    Returns
    -------
    dict of str to ndarray, shape (k, d)
        Word -> its k vectors, in the order of the source. Words without a vector are left out.

    Raises
    ------
    InputError
        If the source is unknown or damaged, or no wanted word is found.

    Examples
    --------
    >>> held = load_contexts((["nurse", "cook", "nurse"], [[1, 0], [0, 1], [1, 1]]), ["nurse"])
    >>> held["nurse"].tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    checks.choice(on_bad_lines, ("skip", "error"), "value of on_bad_lines")
    asked = _asked(words)
    rows, _, facts = _read(x, asked, vocab, key, on_bad_lines == "error")
    at, _ = rows.by_word()
    matched = (
        {word: word for word in at} if asked is None else spelling.matched_spellings(asked, at)[0]
    )
    if not matched:
        raise none_found(asked or [], facts["source"], keys=rows.sample)
    return {word: rows.vectors[at[spelling]] for word, spelling in matched.items()}


def _asked(words: Iterable[str] | None) -> list[str] | None:
    asked = None if words is None else list(dict.fromkeys(checks.words(words)))
    if asked is not None and not asked:
        raise InputError(
            "expected words, got an empty list", where="words", valid="None for all words"
        )
    return asked


def _static_model(x: Any, name: str | None) -> StaticModel | None:
    """Return the static model of a shipped name or of a folder, or None."""
    if isinstance(x, str) and x in list_embeddings():
        return shipped_model()
    path = Path(x).expanduser() if isinstance(x, str | os.PathLike) and os.fspath(x) else None
    return static_model_at(path, name) if path is not None and os.path.lexists(path) else None


def _read(
    x: Any,
    asked: list[str] | None,
    vocab: str | os.PathLike[str] | None = None,
    key: str | Sequence[str] | None = None,
    strict: bool = False,
    allow_pickle: bool = False,
    progress: bool | None = None,
) -> tuple[Rows, str, dict[str, Any]]:
    """Return the rows of the words asked for, a short name and facts."""
    keys = _patterns(key)
    known = None if asked is None or not keys else spelling.with_keys(asked, keys)
    reading = Reading(
        path=Path("x"),
        layout=Layout(),
        wanted=None if asked is None else dict.fromkeys(known or spelling.with_keys(asked, ())),
        vocab=None if vocab is None else files.path_of(vocab, "vocab"),
        strict=strict,
        unmatched=functools.partial(spelling.unmatched_words, asked or []),
    )
    facts: dict[str, Any]
    if isinstance(x, str | os.PathLike):
        path = _file_of(x, progress)
        form, layout, compressed = readers.recognized(path, reading.vocab)
        size = files.split_member(path)[0].stat().st_size
        short = os.fspath(x) if os.fspath(x) in GENSIM_DATA else readers.short_name(path)
        told = form.name + (", compressed" if compressed else "")
        facts = {"source": str(path), "format": told, "bytes": size, "sha256": None}
        with (
            ThreadPoolExecutor(1) as pool,
            ticking(f"reading {path.name}", size, progress, of_bytes=True) as tick,
        ):
            hashed = compressed or not form.sparse or size <= _HASHED_ALWAYS
            digest = pool.submit(files.sha256_file, files.split_member(path)[0]) if hashed else None
            reading = dataclasses.replace(reading, path=path, layout=layout, tick=tick)
            if form is readers.pickles.FORMAT and allow_pickle:
                trusted = readers.pickles.load_trusted(reading)
                rows, _, facts["format"], _ = memory.rows_in_memory(trusted, reading)
            else:
                rows = form.read(reading)
            facts["sha256"] = digest.result() if digest else None
    else:
        rows, source, form_of, short = memory.rows_in_memory(x, reading)
        facts = {"source": source, "format": form_of}
    if keys:
        facts["key"] = keys if len(keys) > 1 else keys[0]
        found: dict[str, list[int]] = {}
        for pattern in reversed(keys):  # of several forms the first that is there is used
            of_form: dict[str, list[int]] = {}
            for row, held in enumerate(rows.words):
                if (word := spelling.word_of_key(held, pattern)) is not None:
                    of_form.setdefault(word, []).append(row)
            found |= of_form
        chosen = sorted((row, word) for word, held_in in found.items() for row in held_in)
        rows = dataclasses.replace(
            rows,
            words=[word for _, word in chosen],
            vectors=rows.vectors[[row for row, _ in chosen]],
            places=[rows.places[row] for row, _ in chosen],
        )
    return rows, short, facts


def _patterns(key: str | Sequence[str] | None) -> tuple[str, ...]:
    patterns = () if not key else (key,) if isinstance(key, str) else tuple(key)
    for pattern in patterns:
        if not isinstance(pattern, str) or pattern.count("{word}") != 1:
            valid = "a form with {word} once, such as {word}_NOUN"
            raise InputError("expected the form of a word", where="key", found=pattern, valid=valid)
    return patterns


def _file_of(x: str | os.PathLike[str], progress: bool | None) -> Path:
    """Return the file of a path, a folder or a gensim-data name."""
    text = checks.path(x, "x", "a name, or the path of a file of vectors")
    path = Path(text).expanduser()
    on_disk = files.split_member(path)[0]
    if on_disk.is_file():
        return path
    if path.is_dir():
        return _only_file(path)
    if text in GENSIM_DATA:
        return _downloaded(text, progress)
    if os.sep in text or on_disk.suffix in readers.suffixes():
        files.state_of(on_disk, noun="vector file", valid=readers.valid_formats())
    if text in files.list_names("wordlists"):
        raise InputError("expected vectors, got a word list: are the two exchanged?", where=text)
    raise checks.unknown(text, [*list_embeddings(), "a path", *GENSIM_DATA], "embedding")


def _only_file(folder: Path) -> Path:
    """Return the one file of vectors in a folder."""
    endings = {".safetensors", ".npy", ".npz", ".bin", ".vec", ".parquet", ".arrow", ".feather"}
    with files.guarded(folder):
        inside = sorted(path for path in folder.iterdir() if path.suffix in endings)
    if len(inside) != 1:
        found = some([path.name for path in inside], 6) or "none"
        hint = "name a file; a transformer is an encoder: bayesbias seat --encoder FOLDER"
        problem = "is a folder: expected a static model or one file of vectors in it"
        raise InputError(problem, where=folder, found=found, hint=hint)
    return inside[0]


def _downloaded(name: str, progress: bool | None) -> Path:
    """Return the file of a gensim-data name, downloaded if needed."""
    folder = Path(os.environ.get("GENSIM_DATA_DIR") or os.path.expanduser("~/gensim-data"))
    path = folder / name / f"{name}.gz"
    if path.is_file():
        return path
    import gensim.downloader

    quiet = progress is False or (progress is None and not sys.stderr.isatty())
    hint = f"without a network put the file of gensim-data at {path}"
    # gensim draws its bar on stdout, which may carry our result.
    with (
        files.guarded(name, "could not be downloaded", hint=hint),
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
    rows.sample = [] if any(w in x for w in asked) else list(x.words[:1000])
    chosen = embedding_from_rows(rows, asked, name or x.name, f"embedding {x.name!r}", x.provenance)
    spellings = {word: chosen.matched.get(word, word) for word in chosen.words}
    source = {word: x.matched.get(spelling, spelling) for word, spelling in spellings.items()}
    matched = {word: spelling for word, spelling in source.items() if spelling != word}
    digest = digest_of_vectors(source.values(), chosen.vectors)
    kept = (note for note in x.notes if not note.endswith("share its vector"))
    return dataclasses.replace(
        chosen,
        provenance={**chosen.provenance, "sha256_vectors": digest},
        matched=matched,
        rules={w: chosen.rules.get(w) or x.rules[spellings[w]] for w in matched},
        notes=(*spelling.notes_of_shared_vectors(source), *kept),
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
    r"""Return the place of words in the order of vectors, counted from 1.

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
    key = None
    if isinstance(source, Embedding):
        key, source = source.provenance.get("key"), source.provenance.get("source", "")
    named = isinstance(source, str | os.PathLike) and (
        files.split_member(Path(source))[0].is_file() or os.fspath(source) in GENSIM_DATA
    )
    if not named and not hasattr(getattr(source, "wv", source), "key_to_index"):
        raise InputError(
            "expected words in the order of frequency",
            where="counts from the order of vectors",
            found=source if isinstance(source, str) else type(source).__name__,
            valid="a file of vectors in the order of frequency, or a gensim KeyedVectors object",
        )
    rows, _, facts = _read(source, list(words), key=key)
    about = {"source": facts["source"], "sha256": facts.get("sha256") or ""}
    places_of = zip(reversed(rows.words), reversed(rows.places), strict=True)
    known = {word: place for word, place in places_of if place}
    matched, _ = spelling.matched_spellings(words, known)
    places = sorted((known[spelling], spelling) for spelling in set(matched.values()))
    spelt = [spelling.casefold() for _, spelling in places]
    if len(spelt) >= _LEAST and spelt in (sorted(spelt), sorted(spelt, reverse=True)):
        problem = "expected words in the order of frequency, got alphabetical order"
        raise InputError(problem, where=about["source"], found=", ".join(spelt[:4]))
    ranks = {word: known[spelling] for word, spelling in matched.items()}
    return ranks, {word: spelling for word, spelling in matched.items() if word != spelling}, about
