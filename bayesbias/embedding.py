"""Word vectors out of any common file, reading only the words asked for."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias import _vectorfiles as files
from bayesbias._resources import data_dir, read_toml, sha256_file, whole_file
from bayesbias.errors import InputError, nearest

__all__ = [
    "CASES",
    "GENSIM_DATA",
    "SEPARATORS",
    "Embedding",
    "load_embedding",
    "save_word2vec",
    "shipped_embeddings",
    "static_vectors",
]

CASES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("as given", lambda word: word),
    ("lower case", str.lower),
    ("Capitalised", str.capitalize),
    ("Title Case", lambda word: re.sub(r"[^\s_-]+", lambda part: part[0].capitalize(), word)),
    ("UPPER CASE", str.upper),
)
"""Spellings of a word that are tried, in this order; the first one found is used and recorded."""

SEPARATORS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("", lambda word: word),
    ("spaces as underscores", lambda word: word.replace(" ", "_")),
    ("underscores as spaces", lambda word: word.replace("_", " ")),
    ("hyphens as underscores", lambda word: word.replace("-", "_")),
    ("hyphens as spaces", lambda word: word.replace("-", " ")),
    ("spaces and underscores as hyphens", lambda word: re.sub("[ _]", "-", word)),
)
"""Ways to write a phrase, in the order tried: every entry of `CASES` for the first, then for the second..."""

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
"""The vectors of the gensim-data collection, which `load_embedding` can fetch by name."""

_STATIC = "minilm-static"
_HASHED_ALWAYS = 100_000_000  # bytes; hashing more than this would take longer than a binary file's scan
_INDEX_AFTER = 1.0  # seconds of reading from which on an index is worth its place
_INDEXED = ("word2vec text", "word2vec binary", "GloVe text")


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
    open_vocabulary : bool
        True for ``minilm-static``: words outside `words` have a vector too, made from their tokens.

    Examples
    --------
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
    open_vocabulary: bool = False
    _row: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        words = tuple(self.words)
        vectors = np.asarray(self.vectors)
        if vectors.ndim != 2 or len(vectors) != len(words) or vectors.dtype not in (np.float32, np.float64):
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
        if word in self._row:
            return True
        return self.open_vocabulary and isinstance(word, str) and bool(_static_tokens([word])[0])

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
        if isinstance(words, str):
            raise InputError("one word was given where a list is expected", found=words, valid="[word, ...]")
        lacking = [word for word in words if word not in self._row]
        if lacking and self.open_vocabulary:
            made = dict(zip(lacking, static_vectors(lacking), strict=True))
            rows = [made[word] if word in made else self.vectors[self._row[word]] for word in words]
            return np.array(rows, dtype=self.vectors.dtype)
        if lacking:
            raise InputError(
                "has no vector for some words",
                where=f"embedding {self.name!r}",
                found=", ".join(dict.fromkeys(lacking)),
                hint=nearest(lacking[0], self.words) if len(self.words) < 10_000 else None,
            )
        return self.vectors[[self._row[word] for word in words]]

    def __repr__(self) -> str:
        shape = f"{len(self.words):,} words, {self.vectors.shape[1]} dimensions"
        kind = self.provenance.get("format", "")
        facts = [f"<Embedding {self.name!r}: {shape}" + (f", {kind}" if kind else "")]
        if self.missing:
            facts.append(f"{len(self.missing)} missing ({_some(self.missing)})")
        if self.matched:
            facts.append(f"{len(self.matched)} by another spelling ({_some(self.matched)})")
        if self.composed:
            facts.append(f"{len(self.composed)} composed ({_some(self.composed)})")
        return "; ".join(facts) + ">"


def shipped_embeddings() -> list[str]:
    """Return the names of the embeddings in the package, which need no network.

    Examples
    --------
    >>> shipped_embeddings()
    ['minilm-static']
    """
    return sorted(path.parent.name for path in data_dir("embeddings").glob("*/MODEL.toml"))


def load_embedding(
    x: Any,
    words: Iterable[str] | None = None,
    *,
    name: str | None = None,
    allow_pickle: bool = False,
    on_invalid_utf8: str = "error",
    progress: bool | None = None,
    index: bool | None = None,
) -> Embedding:
    """Load word vectors, reading only the words asked for.

    Parameters
    ----------
    x : str, path, mapping, Embedding or gensim object
        The shipped name ``minilm-static``; the path of a file; a name of the gensim-data collection (extra
        ``gensim``; downloaded once, by gensim, into its own folder); a mapping word -> vector; a gensim
        ``KeyedVectors`` or a model that has one. Files are told from their content: word2vec text and
        binary, GloVe text, fastText ``.vec`` and ``.bin``, each of them gzipped too; ``.npz`` with the arrays
        ``words`` and ``vectors``; safetensors with the tensor ``vectors`` and the metadata entry ``words``,
        a JSON list; gensim ``.kv`` and ``.model`` files, which are pickles, with ``allow_pickle=True``.
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

    Returns
    -------
    Embedding
        ``provenance["sha256"]`` is that of the file on the disk. It is None for uncompressed binary files of
        more than 100 MB, where hashing would take several times as long as reading; ``sha256_vectors``,
        of the words and vectors returned, is always there.

    Raises
    ------
    InputError
        Where the source is unknown, damaged or of another format; where a wanted vector holds NaN, infinite
        or only zero numbers; where a wanted word stands in the file twice; where no wanted word is found.

    Examples
    --------
    >>> e = load_embedding("minilm-static", ["rabbi", "imam", "terrorist"])
    >>> e
    <Embedding 'minilm-static': 3 words, 128 dimensions, static tokens>
    >>> unit = e.vectors / np.linalg.norm(e.vectors, axis=1, keepdims=True)
    >>> [round(float(s), 2) for s in unit[:2] @ unit[2]]
    [0.15, 0.32]
    """
    asked = _asked(words)
    if on_invalid_utf8 not in ("error", "skip"):
        raise InputError("unknown value of on_invalid_utf8", found=on_invalid_utf8, valid=["error", "skip"])
    if isinstance(x, Embedding):
        return _from_embedding(x, asked, name)
    if isinstance(x, Mapping):
        return _from_mapping(x, asked, name)
    if not isinstance(x, str | os.PathLike):
        return _from_gensim(x, asked, name, {"source": f"a {type(x).__name__} object"})
    text = os.fspath(x)
    if isinstance(x, str) and text in shipped_embeddings():
        return _from_static(asked, name)
    path = Path(text).expanduser()
    if not path.exists() and isinstance(x, str) and text in GENSIM_DATA:
        path, name = _fetched(text, progress), name or text
    if path.is_dir():
        raise InputError("is a folder, not a vector file", where=path, valid=files.FORMATS)
    if not path.exists():
        raise _unknown(text, path)
    return _from_file(path, asked, name, allow_pickle, on_invalid_utf8 == "skip", progress, index)


def static_vectors(texts: Sequence[str]) -> np.ndarray:
    """Return ``minilm-static`` vectors of words, phrases or sentences: the mean of their token vectors.

    Needs neither torch nor a network. Unknown tokens are left out; underscores count as spaces; the
    tokenizer ignores case and accents.

    Parameters
    ----------
    texts : sequence of str, length n

    Returns
    -------
    ndarray, shape (n, 128), float32
        Not normalised.

    Raises
    ------
    InputError
        Naming the texts without one known token.

    Examples
    --------
    >>> static_vectors(["a nurse", "The nurse is a doctor."]).shape
    (2, 128)
    """
    ids = _static_tokens(texts)
    empty = [text for text, tokens in zip(texts, ids, strict=True) if not tokens]
    if empty:
        raise InputError(
            "no token of some texts is known", where=_STATIC, found=", ".join(map(repr, empty[:12])),
            valid="text in a script that the English tokenizer knows",
        )  # fmt: skip
    _, rows, scales, _ = _static_model()
    out = np.empty((len(ids), rows.shape[1]), dtype=np.float32)
    for first in range(0, len(ids), 4096):  # the tokens of a million sentences would not fit memory
        part = ids[first : first + 4096]
        flat = np.concatenate([np.asarray(tokens) for tokens in part])
        lengths = np.array([len(tokens) for tokens in part])
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        sums = np.add.reduceat(rows[flat] * scales[flat, None], starts, axis=0)
        out[first : first + 4096] = sums / lengths[:, None]
    return out


def save_word2vec(embedding: Embedding, path: str | os.PathLike[str], binary: bool = False) -> None:
    """Write an embedding as word2vec text or binary, whole or not at all; gensim reads it back.

    Parameters
    ----------
    embedding : Embedding
    path : str or path
        A path that ends in ``.gz`` is compressed.
    binary : bool
        Binary holds single precision. Text holds every digit needed to read the same numbers back.

    Raises
    ------
    InputError
        Where a word is empty or holds blanks, which the format cannot hold, or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> e = load_embedding({"rabbi": [1.0, 0.1], "priest": [0.8, 0.6]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_word2vec(e, f"{folder}/two.txt")
    ...     print(Path(folder, "two.txt").read_text(), end="")
    2 2
    rabbi 1.0 0.1
    priest 0.8 0.6
    """
    import gzip

    bad = [word for word in embedding.words if not word or re.search(r"\s", word)]
    if bad:
        raise InputError(
            "word2vec files cannot hold these words",
            where=path,
            found=", ".join(map(repr, bad[:12])),
            valid="words without blanks",
            hint="write phrases with underscores",
        )
    with whole_file(path) as temporary, contextlib.ExitStack() as stack:
        file: Any = stack.enter_context(open(temporary, "wb"))
        if os.fspath(path).endswith(".gz"):
            file = stack.enter_context(gzip.GzipFile("", "wb", fileobj=file, mtime=0))
        file.write(f"{len(embedding.words)} {embedding.vectors.shape[1]}\n".encode())
        for word, row in zip(embedding.words, embedding.vectors, strict=True):
            if binary:
                file.write(word.encode() + b" " + row.astype("<f4").tobytes())
            elif row.dtype == np.float32:
                file.write(f"{word} {' '.join(f'{v:.9g}' for v in row.tolist())}\n".encode())
            else:
                file.write(f"{word} {' '.join(map(repr, row.tolist()))}\n".encode())


# --- what was asked for, and what is found ----------------------------------------------------------


def _asked(words: Iterable[str] | None) -> list[str] | None:
    if words is None:
        return None
    if isinstance(words, str):
        raise InputError("one word was given where a list is expected", found=words, valid="[word, ...]")
    asked = list(dict.fromkeys(words))
    odd = [word for word in asked if not isinstance(word, str) or not word.strip()]
    if odd:
        raise InputError("is not a word", where="words", found=odd[0], valid="non-empty strings")
    if not asked:
        raise InputError(
            "the list of words is empty", where="words", valid="one word or more, or None for all"
        )
    return asked


@functools.lru_cache(maxsize=100_000)
def _spellings(word: str) -> dict[str, str]:
    """Return the spellings of a word in the order tried, each with the rule that makes it."""
    out: dict[str, str] = {word: "as given"}
    for way, rewrite in SEPARATORS:
        phrase = rewrite(word)
        if way and phrase == word:
            continue
        for case, recase in CASES:
            out.setdefault(recase(phrase), f"{way}, {case}" if way else case)
    return out


def _matched(asked: Iterable[str], known: Collection[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return asked word -> word of the source, and asked word -> rule where they differ."""
    found, rules = {}, {}
    for word in asked:
        for spelling, rule in _spellings(word).items():
            if spelling in known:
                found[word] = spelling
                if spelling != word:
                    rules[word] = rule
                break
    return found, rules


def _embedding(
    rows: files.Rows,
    asked: list[str] | None,
    name: str,
    where: object,
    facts: dict[str, Any],
) -> Embedding:
    """Choose among the rows read, check them, and say what is missing."""
    at = {word: row for row, word in enumerate(rows.words)}
    if asked is None:
        asked = []
        found, rules = {word: word for word in rows.words}, dict[str, str]()
        vectors = rows.vectors
    else:
        found, rules = _matched(asked, at)
        vectors = rows.vectors[[at[spelling] for spelling in found.values()]]
    if not found:
        raise InputError(
            f"none of the {len(asked)} words is in the embedding",
            where=where,
            found=_some(asked, 8),
            hint=f"it holds {rows.count:,} words of {rows.vectors.shape[1]} dimensions",
        )
    chosen = [at[spelling] for spelling in found.values()]
    for row in chosen:
        word = rows.words[row]
        if word in rows.repeats:
            raise InputError(
                f"the word {word!r} stands in the file twice",
                where=where,
                found=f"{rows.unit}s {rows.places[row]} and {rows.repeats[word]}",
                valid="one vector per word",
                hint="remove one of the two",
            )
    sums = np.abs(vectors).sum(axis=1, dtype=np.float64)
    broken = np.flatnonzero(~np.isfinite(sums) | (sums == 0))
    if len(broken):
        row = chosen[broken[0]]
        kind = "only zeros" if sums[broken[0]] == 0 else "NaN or infinite numbers"
        raise InputError(
            f"the vector of {rows.words[row]!r} holds {kind}",
            where=f"{where}, {rows.unit} {rows.places[row]}" if rows.places[row] else where,
            found=f"{len(broken)} such vectors" if len(broken) > 1 else None,
            valid="finite numbers, not all zero",
            hint="a cosine cannot be computed from it; mend the file or drop the word from the list",
        )
    notes = _shared(found)
    if rows.skipped:
        notes.append(
            f"{len(rows.skipped)} words that are not valid UTF-8 were skipped ({_some(rows.skipped)})"
        )
    made = set(rows.composed)
    return Embedding(
        name=name,
        words=tuple(found),
        vectors=vectors,
        provenance={
            **facts,
            "dim": int(vectors.shape[1]),
            "count": rows.count,
            "sha256_vectors": _digest(found.values(), vectors),
        },
        matched={word: spelling for word, spelling in found.items() if spelling != word},
        rules=rules,
        composed=tuple(word for word, spelling in found.items() if spelling in made),
        missing=tuple(word for word in asked if word not in found),
        notes=tuple(notes),
    )


def _shared(found: Mapping[str, str]) -> list[str]:
    asked_as: dict[str, list[str]] = {}
    for word, spelling in found.items():
        asked_as.setdefault(spelling, []).append(word)
    return [
        f"{' and '.join(map(repr, words))} are one word here ({spelling!r}) and share its vector"
        for spelling, words in asked_as.items()
        if len(words) > 1
    ]


def _digest(words: Iterable[str], vectors: np.ndarray) -> str:
    digest = hashlib.sha256(json.dumps(list(words)).encode())
    digest.update(np.ascontiguousarray(vectors, vectors.dtype.newbyteorder("<")).data)
    return digest.hexdigest()


def _some(items: Iterable[Any], most: int = 4) -> str:
    items = list(items)
    return ", ".join(map(str, items[:most])) + (", ..." if len(items) > most else "")


# --- sources ----------------------------------------------------------------------------------------


def _from_file(
    path: Path,
    asked: list[str] | None,
    name: str | None,
    allow_pickle: bool,
    skip_invalid: bool,
    progress: bool | None,
    index: bool | None,
) -> Embedding:
    from bayesbias import _vectorindex

    started = time.perf_counter()
    kind = files.recognise(path)
    size = path.stat().st_size
    name = name or re.sub(r"(\.(txt|bin|vec|kv|model|npz|safetensors|gz|w2v|magnitude))+$", "", path.name)
    facts: dict[str, Any] = {"source": str(path), "format": kind.format, "bytes": size}
    if kind.format == "pickle":
        return _from_pickle(path, asked, name, allow_pickle, facts)
    if kind.compressed:
        facts["format"] += ", gzipped"
    wanted = None if asked is None else {spelling for word in asked for spelling in _spellings(word)}
    indexable = wanted is not None and index is not False and not kind.compressed and kind.format in _INDEXED
    if indexable and wanted and (known := _vectorindex.read_indexed(path, kind, wanted)):
        rows, head = known
        if not head["skipped"] or skip_invalid:
            rows.skipped = head["skipped"]
            facts |= {"sha256": head["sha256"], "index": "used"}
            return _embedding(rows, asked, name, path, facts)
    before = _vectorindex.fingerprint(path)
    listed: list[Any] | None = [] if indexable else None
    cheap = kind.compressed or kind.format in ("word2vec text", "GloVe text") or size <= _HASHED_ALWAYS
    common: dict[str, Any] = {"skip_invalid": skip_invalid}
    with contextlib.ExitStack() as stack:
        digest = stack.enter_context(_hashing(path)) if cheap else None
        tick = stack.enter_context(_progress(f"reading {path.name}", size, progress))
        match kind.format:
            case "word2vec text" | "GloVe text":
                rows = files.read_text(path, kind, wanted, tick=tick, listed=listed, **common)
            case "word2vec binary":
                rows = files.read_binary(path, kind, wanted, tick=tick, listed=listed, **common)
            case "fastText binary":
                rows = files.read_fasttext(
                    path, kind, wanted, functools.partial(_unresolved, asked or []), tick=tick, **common
                )
            case "npz":
                rows = files.read_npz(path, wanted, tick=tick)
            case _:
                rows = files.read_safetensors(path, wanted, tick=tick)
        facts["sha256"] = digest() if digest else None
    result = _embedding(rows, asked, name, path, facts)
    if listed and (index or time.perf_counter() - started > _INDEX_AFTER):
        more = {"count": rows.count, "skipped": rows.skipped, "sha256": facts["sha256"]}
        result.provenance["index"] = _vectorindex.write_index(path, kind, listed, before, more)
    return result


def _unresolved(asked: list[str], known: Collection[str]) -> list[str]:
    found, _ = _matched(asked, known)
    return [word for word in asked if word not in found]


@contextlib.contextmanager
def _hashing(path: Path) -> Iterator[Callable[[], str]]:
    """Compute the SHA-256 of a file on a second thread while it is read."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(sha256_file, path).result


@contextlib.contextmanager
def _progress(label: str, total: int, wished: bool | None) -> Iterator[files.Tick]:
    """Show a bar on stderr from the second second on; nothing where stderr is not a terminal."""
    if wished is False or (wished is None and not sys.stderr.isatty()):
        yield lambda position: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    started = time.perf_counter()
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(label, total=total)

    def tick(position: int) -> None:
        if not bar.live.is_started and time.perf_counter() - started > 2:
            bar.start()
        bar.update(task, completed=position)

    try:
        yield tick
    finally:
        bar.stop()


def _from_mapping(x: Mapping[Any, Any], asked: list[str] | None, name: str | None) -> Embedding:
    where = f"the mapping {name!r}" if name else "the mapping"
    if not x:
        raise InputError("is empty", where=where, valid="word -> vector")
    keys = list(x) if asked is None else [s for word in asked for s in _spellings(word) if s in x]
    table: dict[str, np.ndarray] = {}
    for word in dict.fromkeys(keys):
        try:
            vector = np.asarray(x[word], dtype=None if hasattr(x[word], "dtype") else float)
        except (TypeError, ValueError):
            vector = np.empty(0)
        usual = len(next(iter(table.values()))) if table else vector.size
        if (
            not isinstance(word, str)
            or vector.ndim != 1
            or vector.size != usual
            or vector.dtype.kind not in "fiu"
        ):
            raise InputError(
                "is not a vector of numbers"
                if vector.ndim != 1 or not vector.size
                else "wrong dimension or type",
                where=f"{where}, key {word!r}",
                found=f"shape {vector.shape}, type {vector.dtype}",
                valid=f"strings -> {usual or 'd'} numbers each",
            )
        table[word] = vector
    dtype = np.float32 if table and all(v.dtype == np.float32 for v in table.values()) else np.float64
    vectors = np.array(list(table.values()) or np.empty((0, 1)), dtype=dtype)
    rows = files.Rows(list(table), vectors, [0] * len(table), "key", len(x))
    return _embedding(rows, asked, name or "mapping", where, {"source": "a mapping", "format": "mapping"})


def _from_embedding(x: Embedding, asked: list[str] | None, name: str | None) -> Embedding:
    """Choose words of an embedding; what was matched before stays recorded."""
    if x.open_vocabulary:
        return _from_static(asked, name or x.name)
    if asked is None:
        return x
    rows = files.Rows(list(x.words), x.vectors, [0] * len(x.words), "row", x.provenance.get("count", len(x)))
    chosen = _embedding(rows, asked, name or x.name, f"embedding {x.name!r}", x.provenance)
    found = {word: chosen.matched.get(word, word) for word in chosen.words}
    source = {word: x.matched.get(spelling, spelling) for word, spelling in found.items()}
    rules = {
        word: ", then ".join(dict.fromkeys(r for r in (chosen.rules.get(word), x.rules.get(spelling)) if r))
        for word, spelling in found.items()
    }
    return Embedding(
        name=chosen.name,
        words=chosen.words,
        vectors=chosen.vectors,
        provenance={**chosen.provenance, "sha256_vectors": _digest(source.values(), chosen.vectors)},
        matched={word: spelling for word, spelling in source.items() if spelling != word},
        rules={word: rule for word, rule in rules.items() if rule and source[word] != word},
        composed=tuple(word for word, spelling in found.items() if spelling in x.composed),
        missing=chosen.missing,
        notes=tuple([*_shared(source), *(note for note in x.notes if "UTF-8" in note)]),
    )


def _from_gensim(x: Any, asked: list[str] | None, name: str | None, facts: dict[str, Any]) -> Embedding:
    """Read a gensim KeyedVectors object, or a model that has one."""
    vectors = getattr(x, "wv", x)
    if not hasattr(vectors, "key_to_index") or not hasattr(vectors, "get_vector"):
        raise InputError(
            "cannot be read as word vectors",
            found=type(x).__name__,
            valid=f"a name, a path, a mapping, a gensim KeyedVectors object; files: {files.FORMATS}",
        )
    kind = type(vectors).__name__
    known = vectors.key_to_index
    if asked is None:
        chosen = [word for word in known if isinstance(word, str)]
    else:
        chosen = list(dict.fromkeys(s for word in asked for s in _spellings(word) if s in known))
    composed = []
    if asked is not None and hasattr(vectors, "vectors_ngrams"):
        composed = [word for word in _unresolved(asked, set(chosen)) if word in vectors]
    dim = int(vectors.vector_size)
    table = np.empty((len(chosen) + len(composed), dim), dtype=vectors.vectors.dtype)
    for row, word in enumerate([*chosen, *composed]):
        table[row] = vectors.get_vector(word)
    places = [known[word] + 1 for word in chosen] + [0] * len(composed)
    rows = files.Rows([*chosen, *composed], table, places, "row", len(known), composed=composed)
    facts = {**facts, "format": f"gensim {kind}"}
    return _embedding(rows, asked, name or kind, facts["source"], facts)


def _from_pickle(
    path: Path, asked: list[str] | None, name: str, allow_pickle: bool, facts: dict[str, Any]
) -> Embedding:
    if not allow_pickle:
        raise InputError(
            "is a pickle (as gensim's .kv and .model files are); loading it runs code from the file",
            where=path,
            found="a pickle",
            valid=files.FORMATS,
            hint="for a file you trust pass allow_pickle=True (--allow-pickle; in the [settings] of a sweep "
            "allow_pickle = true), or save it with save_word2vec_format",
        )
    keyed = _gensim("a pickle of gensim").models.KeyedVectors
    try:
        loaded = keyed.load(str(path), mmap="r")
    except Exception as error:  # a pickle can raise anything
        raise InputError(
            f"cannot be loaded by gensim: {type(error).__name__}: {error}",
            where=path,
            valid="a file written by gensim's save(), beside its .npy files",
        ) from error
    return _from_gensim(loaded, asked, name, {**facts, "sha256": sha256_file(path)})


def _gensim(what: str) -> Any:
    try:
        import gensim.downloader
        import gensim.models
    except ImportError:
        raise InputError(
            f"{what} needs gensim, which is not installed",
            valid=[*shipped_embeddings(), "or a file of word2vec, GloVe or fastText"],
            hint="install it with: pip install 'bayesbias[gensim]'",
        ) from None
    return gensim


def _fetched(name: str, progress: bool | None) -> Path:
    """Return the file of a gensim-data name, downloading it where it is not there yet."""
    folder = Path(os.environ.get("GENSIM_DATA_DIR") or Path.home() / "gensim-data")
    path = folder / name / f"{name}.gz"
    if path.is_file():
        return path
    import socket

    downloader = _gensim(f"the gensim-data name {name!r}").downloader
    before = socket.getdefaulttimeout()
    quiet = progress is False or (progress is None and not sys.stderr.isatty())
    try:
        socket.setdefaulttimeout(before or 30)  # gensim sets none: a dead line would hang for ever
        # gensim draws its bar on stdout, which may carry our result
        with contextlib.ExitStack() as stack:
            out = stack.enter_context(open(os.devnull, "w")) if quiet else sys.stderr
            stack.enter_context(contextlib.redirect_stdout(out))
            return Path(downloader.load(name, return_path=True))
    except Exception as error:  # gensim raises ValueError, OSError, URLError and AssertionError here
        raise InputError(
            f"{name!r} is not on this machine and could not be downloaded: {error}",
            valid=f"without a network: {', '.join(shipped_embeddings())}, or the path of a file",
            hint=f"or put the file of gensim-data at {path}",
        ) from error
    finally:
        socket.setdefaulttimeout(before)


def _unknown(text: str, path: Path) -> InputError:
    folder = path.parent if path.parent.is_dir() else None
    try:
        beside = sorted(p.name for p in folder.iterdir() if p.is_file()) if folder else []
    except OSError:
        beside = []
    prefix = text[: len(text) - len(path.name)]
    options = [*shipped_embeddings(), *GENSIM_DATA, *(prefix + file for file in beside)]
    looks_like_path = os.sep in text or path.suffix in (
        ".txt",
        ".bin",
        ".vec",
        ".gz",
        ".npz",
        ".kv",
        ".safetensors",
    )
    return InputError(
        "no such vector file" if looks_like_path else "unknown embedding",
        found=text,
        valid=[
            *shipped_embeddings(),
            "a gensim-data name such as glove-wiki-gigaword-100",
            "or the path of a file",
        ],
        hint=nearest(text, options) if folder else f"there is no folder {path.parent}",
    )


# --- the shipped static embedding -------------------------------------------------------------------


@functools.cache
def _static_model() -> tuple[Any, np.ndarray, np.ndarray, dict[str, Any]]:
    """Return tokenizer, int8 rows, scales and card, each file held to its SHA-256."""
    from safetensors.numpy import load
    from tokenizers import Tokenizer

    folder = data_dir("embeddings") / _STATIC
    card = read_toml(folder / "MODEL.toml")
    content = {}
    for file, expected in card["sha256"].items():
        content[file] = (folder / file).read_bytes()
        if (found := hashlib.sha256(content[file]).hexdigest()) != expected:
            raise InputError(
                "the shipped file was changed or damaged",
                where=folder / file,
                found=found,
                valid=expected,
                hint="install bayesbias again",
            )
    tensors = load(content["model.safetensors"])
    tokenizer = Tokenizer.from_str(content["tokenizer.json"].decode())
    return tokenizer, tensors["vectors"], tensors["scales"], card


def _static_tokens(texts: Sequence[str]) -> list[list[int]]:
    """Return the token ids of each text, without unknown tokens; an empty list where none is known."""
    if isinstance(texts, str):
        raise InputError("one text was given where a list is expected", found=texts, valid="[text, ...]")
    tokenizer, *_ = _static_model()
    unknown = tokenizer.token_to_id("[UNK]")
    plain = [text.replace("_", " ") for text in texts]
    if len(plain) < 2000:  # a batch starts threads, which later forks would complain about
        encoded = [tokenizer.encode(text, add_special_tokens=False) for text in plain]
    else:
        encoded = tokenizer.encode_batch_fast(plain, add_special_tokens=False)
    return [[i for i in one.ids if i != unknown] for one in encoded]


def _from_static(asked: list[str] | None, name: str | None) -> Embedding:
    tokenizer, rows, _, card = _static_model()
    where = f"embedding {_STATIC!r}"
    facts = {
        "source": _STATIC,
        "format": "static tokens",
        "sha256": card["sha256"]["model.safetensors"],
        "licence": card["licence"],
        "made_from": card["source"],
    }
    if asked is None:
        # whole words of the vocabulary; every other word is made from tokens when it is asked for
        asked = sorted(token for token in tokenizer.get_vocab() if token.isalpha() and len(token) > 1)
    spelt = {word: tokenizer.normalizer.normalize_str(word.replace("_", " ")).strip() for word in asked}
    ids = dict(zip(asked, _static_tokens(asked), strict=True))
    found = [word for word in asked if ids[word]]
    if not found:
        raise InputError(
            f"none of the {len(asked)} words is in the embedding", where=where, found=_some(asked, 8)
        )
    vectors = static_vectors(found)
    partly = [
        word for word in found if "[UNK]" in tokenizer.encode(spelt[word], add_special_tokens=False).tokens
    ]
    notes = _shared({word: spelt[word] for word in found})
    if partly:
        notes.append(f"tokens outside the vocabulary were left out of {_some(partly)}")
    return Embedding(
        name=name or _STATIC,
        words=tuple(found),
        vectors=vectors,
        provenance={
            **facts,
            "dim": int(vectors.shape[1]),
            "count": len(rows),
            "sha256_vectors": _digest((spelt[word] for word in found), vectors),
        },
        matched={word: spelt[word] for word in found if spelt[word] != word},
        rules={word: "as the tokenizer normalises it" for word in found if spelt[word] != word},
        composed=tuple(word for word in found if len(ids[word]) > 1),
        missing=tuple(word for word in asked if not ids[word]),
        notes=tuple(notes),
        open_vocabulary=True,
    )
