"""Word vectors from any common source, reading only the words asked for."""

import contextlib
import itertools
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.core import InputError, checks, files, nearest, some
from bayesbias.core.encodings import given_encoding, reading_in
from bayesbias.core.progress import ticking, without_bars
from bayesbias.embeddings import readers, spelling
from bayesbias.embeddings.embedding import Embedding, embedding_from_rows, embedding_of, none_found
from bayesbias.embeddings.postprocessing import POSTPROCESSINGS, postprocess as postprocessed
from bayesbias.embeddings.readers.common import Reading, Rows
from bayesbias.embeddings.readers.tables import numbers, rows_of_matrix, stacked, words_and_vectors
from bayesbias.embeddings.static import list_embeddings, static_model

GENSIM_DATA = (
    *("conceptnet-numberbatch-17-06-300", "fasttext-wiki-news-subwords-300"),
    *(f"glove-twitter-{d}" for d in (25, 50, 100, 200)),
    *(f"glove-wiki-gigaword-{d}" for d in (50, 100, 200, 300)),
    *("word2vec-google-news-300", "word2vec-ruscorpora-300"),
)
"""The vectors of the gensim-data collection, which `load_embedding` can download by name."""
_OF_SPACY = (
    "import spacy, numpy as np; v = spacy.load('MODEL').vocab; keys = list(v.vectors.keys()); "
    "np.savez('vectors.npz', words=[v.strings[k] for k in keys], vectors=[v.vectors[k] for k in keys])"
)
# owner/name, or the name of a well-known family of models
_OF_HUB = re.compile(
    r"[\w-][\w.-]*/[\w-][\w.-]*|(?:distil|xlm-|al|de)?(?:ro)?bert(?:a)?-[\w.-]+|gpt2?(?:-[\w.-]+)?"
    r"|(?:all|paraphrase|multi-qa)-[\w.-]+|(?:e5|gte|bge)-[\w.-]+|(?:t5|xlnet|electra|mpnet)-[\w.-]+",
    re.IGNORECASE,
)
_HASHED_ALWAYS = 100_000_000  # bytes; hashing more would take longer than scanning a binary file
_LEAST = 5  # words whose alphabetical order is no accident


def load_embedding(
    x: Any,
    words: Iterable[str] | None = None,
    *,
    name: str | None = None,
    vocab: checks.FilePath | None = None,
    key: str | Sequence[str] | None = None,
    on_bad_lines: str = "skip",
    allow_pickle: bool = False,
    progress: bool | None = None,
    postprocess: str | None = None,
    encoding: str | None = None,
) -> Embedding:
    """Load word vectors, reading only the words asked for.

    Parameters
    ----------
    x : str, path, mapping, data frame, tuple, Embedding or gensim object
        The shipped name ``minilm-static``; the path of a file, whose format its content tells
        (word2vec, GloVe, fastText, CSV, TSV, JSON, npy, npz, HDF5, safetensors, Parquet, Arrow;
        text also as .gz, .bz2, .xz, .zip or ``archive.zip:member``); the folder of a static model
        (model2vec, sentence-transformers) or of one such file; a name of the gensim-data
        collection, which gensim downloads once; a mapping word -> vector; a data frame with the
        words as its index or in a column, and a column a dimension or one of whole vectors (of
        pandas or polars, or an Arrow table); a tuple of words and a matrix; a list of pairs
        (word, vector) or of records; a gensim ``KeyedVectors`` or a model that has one.
    words : iterable of str, optional
        The words wanted; all words if None. Memory is used for these only. A word that is not
        there as given is looked for in other spellings: other capitals, or another mark between
        the parts of a phrase; what was found is recorded in ``matched`` and ``rules``.
    name : str, optional
        A short name; by default that of the file without its endings.
    vocab : str or path, optional
        The file with the words of a matrix (.npy, .safetensors, text of numbers): a word a line, a
        table, JSON or a tokenizer. By default ``vocab.txt``, ``words.txt`` or a file of nearly the
        name of the matrix beside it.
    key : str or sequence of str, optional
        How the file writes its words, such as ``{word}_NOUN`` or ``/c/en/{word}``. Of several forms
        the first that is there is used. Without one, words of a matrix of tokens are those with the
        mark of its tokenizer, such as ``\u0120he``; ``{word}`` takes keys as they are.
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
    encoding : str, optional
        Encoding of words that are not UTF-8, such as ``cp1251`` or ``koi8-r``. By default
        Windows-1252 (Latin-1); the notes say where it was taken.

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
    if isinstance(getattr(x, "embedding", None), Embedding):  # as what `hard_debias` returns has
        x = x.embedding
    checks.choice(on_bad_lines, ("skip", "error"), "on_bad_lines")
    if encoding is not None:
        with reading_in(encoding):
            return load_embedding(
                x, words, name=name, vocab=vocab, key=key, on_bad_lines=on_bad_lines,
                allow_pickle=allow_pickle, progress=progress, postprocess=postprocess,
            )  # fmt: skip
    asked = _asked(words)
    strict = on_bad_lines == "error"

    def loaded(asked: list[str] | None) -> Embedding:
        if isinstance(x, Embedding):
            return _from_embedding(x, asked, name)
        if model := static_model(x, name):
            return _from_open(model.embedding, asked, name or model.name)
        rows, short, facts = read_rows(x, asked, vocab, key, strict, allow_pickle, progress)
        return embedding_from_rows(rows, asked, name or short, facts, strict)

    if postprocess is None:
        return loaded(asked)
    checks.choice(postprocess, POSTPROCESSINGS, "postprocess")
    everything = loaded(None)
    chosen = everything if asked is None else loaded(asked)
    return postprocessed(chosen, postprocess, background=everything)


def load_contexts(
    x: Any,
    words: Iterable[str] | None = None,
    *,
    vocab: checks.FilePath | None = None,
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
    checks.choice(on_bad_lines, ("skip", "error"), "on_bad_lines")
    asked = _asked(words)
    rows, _, facts = read_rows(x, asked, vocab, key, on_bad_lines == "error")
    at, _ = rows.by_word()
    matched = (
        {word: word for word in at} if asked is None else spelling.matched_spellings(asked, at)
    )
    if not matched:
        raise none_found(asked or [], facts["source"], keys=rows.sample)
    return {word: rows.vectors[at[spelling]] for word, spelling in matched.items()}


def _asked(words: Iterable[str] | None) -> list[str] | None:
    asked = None if words is None else checks.once(checks.words(words))
    if asked == []:
        raise InputError("expected words, or None for all, got an empty list", where="words")
    return asked


def read_rows(
    x: Any,
    asked: list[str] | None,
    vocab: checks.FilePath | None = None,
    key: str | Sequence[str] | None = None,
    strict: bool = False,
    allow_pickle: bool = False,
    progress: bool | None = None,
) -> tuple[Rows, str, dict[str, Any]]:
    """Return the rows of the words asked for, a short name and facts."""
    keys = () if not key else (key,) if isinstance(key, str) else tuple(key)
    for pattern in keys:
        if not isinstance(pattern, str) or pattern.count("{word}") != 1:
            problem = "expected a form with {word} once, such as {word}_NOUN"
            raise InputError(problem, where="key", found=pattern)
    forms = keys or ("{word}", *spelling.TOKEN_FORMS)
    reading = Reading(
        wanted=None if asked is None else dict.fromkeys(spelling.with_keys(asked, forms)),
        vocab=None if vocab is None else files.path_of(vocab, "vocab"),
        strict=strict,
        asked=asked or [],
    )
    facts: dict[str, Any]
    if isinstance(x, str | os.PathLike):
        path = _file_of(x, progress)
        form, layout, compressed = readers.recognized(path, reading.vocab)
        on_disk = files.split_member(path)[0]
        size = on_disk.stat().st_size
        short = os.fspath(x) if os.fspath(x) in GENSIM_DATA else readers.short_name(path)
        told = form.name + (", compressed" if compressed else "")
        facts = {"source": str(path), "format": told, "bytes": size, "sha256": None}
        if given_encoding() is not None:
            facts["encoding"] = given_encoding()
        with ticking(f"reading {path.name}", size, progress, of_bytes=True) as tick:
            reading = replace(reading, path=path, layout=layout, tick=tick)
            if form is readers.pickles.FORMAT and allow_pickle:
                trusted = readers.pickles.load_trusted(reading)
                rows, _, facts["format"], _ = _rows_in_memory(trusted, reading)
            else:
                rows = form.read(reading)
        if compressed or not form.sparse or size <= _HASHED_ALWAYS:
            facts["sha256"] = files.sha256_file(on_disk)
    else:
        rows, source, form_of, short = _rows_in_memory(x, reading)
        facts = {"source": source, "format": form_of}
    if not keys and (form_of_tokens := _form_of_tokens(rows, asked, facts["source"])):
        keys = (form_of_tokens,)
    if keys:
        facts["key"] = keys if len(keys) > 1 else keys[0]
        held = [spelling.word_of_key(word, keys) for word in rows.words]
        best: dict[str, int] = {}  # of several forms the first that is there is used
        for word, number in held:
            best[word] = min(number, best.get(word, number))
        chosen = [row for row, (word, number) in enumerate(held) if word and number == best[word]]
        rows.words = [held[row][0] for row in chosen]
        rows.vectors = rows.vectors[chosen]
        rows.places = [rows.places[row] for row in chosen]
    elif asked is not None:
        _without_tokens(rows, asked)
    return rows, short, facts


def _form_of_tokens(rows: Rows, asked: list[str] | None, where: object) -> str | None:
    """Return the form of the words of a matrix of tokens; None for other sources.

    A note says what counts as a word. Where it is not certain, words with a rival are refused.
    """
    form = rows.marks.certain or rows.marks.possible
    if form is None:
        return None
    known = set(rows.words)
    in_form = {spelling.word_of_key(word, [form])[0] for word in known} - {""}
    if asked is None:
        if rows.marks.certain:
            rows.notes = [*rows.notes, _about_tokens(form, min(in_form), [])]
        return rows.marks.certain
    pieces = spelling.matched_spellings(asked, known)
    marked = spelling.matched_spellings(asked, in_form)
    if not rows.marks.certain:
        if rivals := [word for word in pieces if word in marked]:
            first, second = pieces[rivals[0]], form.replace("{word}", marked[rivals[0]])
            problem = f"expected one key for {rivals[0]!r}, got {first!r} and {second!r}"
            hint = f'name the form of its words: --key "{{word}}" or --key "{form}" (key=)'
            raise InputError(problem, where=where, hint=hint)
        return None
    lost = [word for word in pieces if word not in marked]
    if lost and not marked:
        form_of_first = form.replace("{word}", lost[0])
        problem = f"expected words such as {form_of_first!r}, got only pieces inside words"
        hint = 'to take pieces nevertheless: --key "{word}" (key=)'
        raise InputError(problem, where=where, found=some(lost), hint=hint)
    if pieces and marked:
        rows.notes = [*rows.notes, _about_tokens(form, next(iter(marked)), lost)]
    return form


def _about_tokens(form: str, example: str, lost: list[str]) -> str:
    """Say which keys of a matrix of tokens are words."""
    key = form.replace("{word}", example)
    note = f"{spelling.OF_TOKENS} the word {example} is {key}, not {example}, a piece of words"
    if lost:
        note += f"; pieces only, so out of vocabulary: {some(lost)}"
    return note


def _without_tokens(rows: Rows, asked: list[str]) -> None:
    """Drop rows that were read as words of tokens, which the source does not hold."""
    plain = {*spelling.with_keys(asked, ()), *rows.composed}
    chosen = [row for row, word in enumerate(rows.words) if word in plain]
    if len(chosen) == len(rows.words):
        return
    if not chosen:
        rows.sample = rows.sample or list(rows.words)
    rows.words = [rows.words[row] for row in chosen]
    rows.vectors = rows.vectors[chosen]
    rows.places = [rows.places[row] for row in chosen]


def _file_of(x: checks.FilePath, progress: bool | None) -> Path:
    """Return the file of a path, a folder or a gensim-data name."""
    text = checks.path(x, "x", "a name, or the path of a file of vectors")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", text):
        problem, hint = "expected a file, got an address", "download it first, then give its path"
        raise InputError(problem, where=text, hint=hint)
    path = Path(text).expanduser()
    on_disk = files.split_member(path)[0]
    if on_disk.is_file():
        return path
    if path.is_dir():
        return _only_file(path)
    if text in GENSIM_DATA:
        return _downloaded(text, progress)
    of_hub = _OF_HUB.fullmatch(text) and on_disk.suffix not in readers.suffixes()
    if of_hub and (os.sep not in text or not path.parent.is_dir()):
        problem = "expected word vectors, got what looks like a model of a hub"
        hint = f"a model is an encoder: bayesbias seat --encoder transformers:{text}"
        raise InputError(problem, where=text, hint=hint)
    if os.sep in text or on_disk.suffix in readers.suffixes():
        files.check_file(on_disk, "a file of vectors")
    if text in files.list_names("wordlists"):
        raise InputError("expected vectors, got a word list: are the two exchanged?", where=text)
    names = [*list_embeddings(), *GENSIM_DATA]
    problem = f"expected a path, or one of {some(names)}"
    raise InputError(problem, where="embedding", found=text, hint=nearest(text, names))


def _only_file(folder: Path) -> Path:
    """Return the one file of vectors in a folder."""
    with files.guarded(folder, "a folder that can be read"):
        paths = sorted(path for path in folder.iterdir() if path.suffix in readers.suffixes())
        of_spacy = any((folder / inner / "key2row").is_file() for inner in ("", "vocab"))
    inside = [path for path in paths if path.suffix not in (".txt", ".tsv", ".json")] or paths
    if len(inside) != 1 or of_spacy:
        found = some([path.name for path in inside], 6) or "none"
        hint = "name a file; a transformer is an encoder: bayesbias seat --encoder FOLDER"
        if of_spacy:
            found, hint = "vectors of spaCy", f"convert them: {_OF_SPACY}"
        problem = f"expected a static model, or one file of vectors, in the folder, got {found}"
        raise InputError(problem, where=folder, hint=hint)
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
        without_bars(),
        files.guarded(name, "vectors to download", hint),
        open(os.devnull, "w") as null,
        contextlib.redirect_stdout(null if quiet else sys.stderr),
    ):
        return Path(gensim.downloader.load(name, return_path=True))


def _rows_in_memory(x: Any, reading: Reading) -> tuple[Rows, str, str, str]:
    """Return rows of what is in memory, its name, format and short name."""
    from bayesbias.core import frames

    if isinstance(x, Mapping):
        where, keys = "the mapping", list(x)
        marks = spelling.Marks()
        marks.count(_bytes_of(keys))
        if not x:
            raise InputError("expected word -> vector, got nothing", where=where)
        if reading.wanted is not None:
            keys = [key for key in reading.wanted if key in x] or keys[:1000]
        vectors = stacked([x[key] for key in keys], [f"{where}, key {key!r}" for key in keys])
        rows = rows_of_matrix(reading, keys, vectors, where)
        rows.count, rows.marks = len(x), marks
        return rows, where, "mapping", "mapping"
    if isinstance(x, list) and x:
        where = "the list"
        if all(isinstance(record, Mapping) for record in x):
            import pandas as pd

            rows = rows_of_matrix(reading, *words_and_vectors(pd.DataFrame(x), where), where)
            return rows, where, "records", "records"
        if all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in x) and all(
            isinstance(word, str) for word, _ in x
        ):
            keys = [word for word, _ in x]
            matrix = stacked([v for _, v in x], [f"{where}, word {word!r}" for word in keys])
            rows = rows_of_matrix(reading, keys, matrix, where)
            return rows, where, "pairs", "pairs"
    if frames.is_frame(x) or hasattr(x, "to_frame"):
        where = "the data frame"
        frame = frames.as_pandas(x.to_frame() if hasattr(x, "to_frame") else x)
        rows = rows_of_matrix(reading, *words_and_vectors(frame, where), where)
        return rows, where, "data frame", "frame"
    if isinstance(x, tuple) and len(x) == 2 and not isinstance(x[0], str | bytes):
        words, where = list(x[0]), "(words, matrix)"
        if words and np.ndim(words[0]) == 1:
            raise InputError("expected words, then a matrix, got them swapped", where=where)
        rows = rows_of_matrix(reading, words, numbers(x[1], where), where)
        return rows, where, "matrix", "matrix"
    vectors = getattr(x, "wv", x)
    if not hasattr(vectors, "key_to_index") or not hasattr(vectors, "get_vector"):
        kind = (
            "a name, a path, a mapping, a data frame, (words, matrix), a list of (word, vector) or "
            "a gensim KeyedVectors"
        )
        hint = "an array has no words: pass (words, matrix)" if hasattr(x, "ndim") else None
        raise checks.wrong_kind(x, "embedding", kind, hint)
    known, wanted = vectors.key_to_index, reading.wanted
    chosen = list(known) if wanted is None else [word for word in wanted if word in known]
    composed = []  # from subwords
    if wanted is not None and hasattr(vectors, "vectors_ngrams"):
        lacking = spelling.unmatched_words(reading.asked, set(chosen))
        composed = [word for word in lacking if word in vectors]
    words = [*chosen, *composed]
    dtype = np.float64 if vectors.vectors.dtype.itemsize > 4 else np.float32
    matrix = np.array([vectors.get_vector(word) for word in words], dtype)
    places = [known[word] + 1 for word in chosen] + [0] * len(composed)
    rows = Rows(words, matrix.reshape(-1, vectors.vector_size), places, len(known))
    rows.composed, rows.sample = composed, list(known)[:1000]
    if composed:
        rows.known = list(itertools.islice(known, spelling.MOST_KNOWN))
    rows.marks.count(_bytes_of(known))
    kind = type(vectors).__name__
    return rows, f"a {type(x).__name__} object", f"gensim {kind}", kind


def _bytes_of(keys: Iterable[Any]) -> Iterator[bytes]:
    """Yield the keys that are texts, as they stand in files."""
    return (key.encode("utf-8", "surrogatepass") for key in keys if isinstance(key, str))


def _from_embedding(x: Embedding, asked: list[str] | None, name: str | None) -> Embedding:
    """Choose words of an embedding; what was matched before stays recorded."""
    if x.lookup is not None:
        return _from_open(x.lookup, asked, name or x.name)
    if asked is None:
        return x
    chosen = spelling.matched_spellings(asked, set(x.words))
    if not chosen:
        raise none_found(asked, f"embedding {x.name!r}", keys=x.words[:1000])
    return embedding_of(
        name or x.name,
        {word: x.matched.get(held, held) for word, held in chosen.items()},
        x.vectors_of(list(chosen.values())),
        x.provenance,
        asked,
        spelling.without_notes_of_words(x.notes),
        composed=tuple(word for word, held in chosen.items() if held in x.composed),
        misspelled={
            word: x.misspelled[held] for word, held in chosen.items() if held in x.misspelled
        },
    )


def _from_open(
    lookup: Callable[[Sequence[str] | None], Embedding], asked: list[str] | None, name: str
) -> Embedding:
    """Choose words of an open vocabulary."""
    chosen = lookup(asked)
    if asked and not len(chosen):
        raise none_found(asked, f"embedding {name!r}")
    return replace(chosen, name=name)


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
        kind = "a file of vectors in the order of frequency, or a gensim KeyedVectors object"
        raise checks.wrong_kind(source, "counts from the order of vectors", kind)
    rows, _, facts = read_rows(source, list(words), key=key)
    about = {"source": facts["source"], "sha256": facts.get("sha256") or ""}
    places_of = zip(reversed(rows.words), reversed(rows.places), strict=True)
    known = {word: place for word, place in places_of if place}
    matched = spelling.matched_spellings(words, known)
    places = sorted((known[spelling], spelling) for spelling in set(matched.values()))
    spelt = [spelling.casefold() for _, spelling in places]
    if len(spelt) >= _LEAST and spelt in (sorted(spelt), sorted(spelt, reverse=True)):
        problem = "expected words in the order of frequency, got alphabetical order"
        raise InputError(problem, where=about["source"], found=", ".join(spelt[:4]))
    ranks = {word: known[spelling] for word, spelling in matched.items()}
    return ranks, {word: spelling for word, spelling in matched.items() if word != spelling}, about
