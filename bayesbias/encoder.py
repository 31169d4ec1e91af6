"""Sentence encoders: one small protocol, the encoders that fulfil it, and a cache that survives a kill.

An encoder has a `name` and a method ``encode(sentences) -> (n, d) array``. Everything else is `encode`'s:
batches, checks, the progress bar, and the vectors on the disk. Published results on BERT moved from -0.11
to 1.16 by a fault in casing and pooling: so tokenizer, casing, pooling, layer, versions and a hash of the
weights stand in the `provenance` of every encoder that has them.

Source of the baseline and of the pooling: May, Wang, Bordia, Bowman & Rudinger (2019), arXiv:1903.10561,
section 4 and appendix C.
"""

from __future__ import annotations

import inspect
import os
import re
import sqlite3
import urllib.parse
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from bayesbias import _encodermodels as models
from bayesbias._encodercache import Cache, fingerprint_of
from bayesbias._encoderfiles import read_hdf5, read_npz, read_parquet
from bayesbias._progress import ticking
from bayesbias._resources import data_dir, read_toml, sha256_file
from bayesbias._vectorindex import cache_dir
from bayesbias.embedding import GENSIM_DATA, Embedding, load_embedding, shipped_embeddings, static_vectors
from bayesbias.errors import InputError, nearest

__all__ = [
    "POOLINGS",
    "Encoder",
    "cbow_encoder",
    "describe_encoder",
    "encode",
    "function_encoder",
    "load_encoder",
    "sentence_transformers_encoder",
    "static_encoder",
    "transformers_encoder",
    "vectors_encoder",
]

POOLINGS = ("cls", "mean", "max", "last")
"""How the vectors of a sentence's tokens become one vector."""

_STATIC = "minilm-static"
_FILES = (".npz", ".h5", ".hdf5", ".parquet")
_BATCH = 32
_SAME = 0.01  # share of its length that a vector may move between two runs of one encoder
_OPTIONS: dict[str, tuple[str, ...]] = {
    "cbow": ("name",),
    "sentence-transformers": ("max_length", "device", "revision", "name"),
    "transformers": ("pooling", "layer", "special_tokens", "max_length", "device", "revision", "name"),
}
_VALID = (
    f"{_STATIC}, cbow:EMBEDDING, sentence-transformers:NAME_OR_PATH, "
    "transformers:NAME_OR_PATH?pooling=mean&layer=-1, or the path of vectors (.npz, .h5, .hdf5, .parquet)"
)


@runtime_checkable
class Encoder(Protocol):
    """What turns sentences into vectors.

    Any object with these two will do. An encoder may also have

    ``options`` : str
        Its settings as ``key=value`` pairs joined by semicolons, for tables.
    ``provenance`` : mapping
        Where its vectors come from: model, tokenizer, pooling, versions, hashes.
    ``fingerprint`` : str or None
        Stands for all that the vectors depend on. With it `encode` keeps them on the disk; without it, or
        with None, it does not.
    ``batch_size`` : int or None
        How many sentences it is best given at once; None for all.
    ``account(sentences)`` -> dict
        What became of the sentences: words that were not found, sentences that were cut.
    """

    @property
    def name(self) -> str:
        """Short name, for tables and figures."""

    def encode(self, sentences: Sequence[str], /) -> Any:
        """Return the vectors of n sentences, shape (n, d)."""


@dataclass(frozen=True, eq=False, repr=False)
class _Shipped:
    """An encoder made by one of the functions below; see `Encoder` for its parts."""

    name: str
    run: Callable[[list[str]], Any]
    options: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    fingerprint: str | None = None
    batch_size: int | None = _BATCH
    look: Callable[[list[str]], dict[str, Any]] | None = None

    def __post_init__(self) -> None:
        for what, text in (("name", self.name), ("options", self.options)):
            if not isinstance(text, str) or re.search(r"[\t\r\n]", text) or (what == "name" and not text):
                raise InputError(
                    f"is not the {what} of an encoder", where=what, found=text, valid="one line without tabs"
                )

    def encode(self, sentences: Sequence[str], /) -> Any:
        return self.run(list(sentences))

    def account(self, sentences: Sequence[str]) -> dict[str, Any]:
        return self.look(list(sentences)) if self.look else {}

    def __repr__(self) -> str:
        return f"<Encoder {self.name!r}{': ' if self.options else ''}{self.options}>"


# --- encoding ---------------------------------------------------------------------------------------


def encode(
    encoder: Encoder | Callable[..., Any] | str | os.PathLike[str],
    sentences: Iterable[str],
    *,
    batch_size: int | None = None,
    cache: bool | str | os.PathLike[str] = True,
    progress: bool | None = None,
) -> np.ndarray:
    """Encode sentences, checked, in batches, with finished batches kept on the disk.

    Parameters
    ----------
    encoder : Encoder, callable or str
        Whatever `load_encoder` takes.
    sentences : iterable of str, length n
        A sentence that stands there several times is encoded once.
    batch_size : int, optional
        Sentences in a batch; by default what the encoder states, else 32. Encoders that only look vectors
        up (`cbow_encoder`, `static_encoder`, `vectors_encoder`) get all sentences at once in any case.
    cache : bool or path
        True: keep vectors in ``encoders.sqlite`` in the user's cache folder (or ``BAYESBIAS_CACHE``).
        A path: in that file. False: keep nothing. Only encoders with a fingerprint are kept: those that are
        read from weights, and callables that were given a name and a version. What is looked up is not.
    progress : bool, optional
        A bar on stderr once it takes more than two seconds. By default on terminals only.

    Returns
    -------
    ndarray, shape (n, d), float32 or float64
        As the encoder returned them, not normalised; half precision and integers are widened.

    Raises
    ------
    InputError
        Where the encoder fails, or returns another shape, fewer rows, another dimension than before, or NaN,
        infinite or all-zero vectors: naming encoder, batch and sentence. The batches before stay in the
        cache. Also where the cache holds vectors that the encoder does not make any more.

    Warns
    -----
    UserWarning
        Where the encoder cut sentences off at its longest length, and where the cache cannot be used.

    Notes
    -----
    The cache is one SQLite file, keyed by the encoder's fingerprint and the SHA-256 of the sentence, and
    written in one transaction a batch: a kill loses at most the batch at work, and several processes
    may use it at once. Delete the file to empty it. Before new sentences are added to old ones, one old
    sentence is encoded again and compared, so that a model that was changed under the same name is found.

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
    texts = _texts(sentences)
    unique = list(dict.fromkeys(texts))
    size = _batch_size(encoder, batch_size, len(unique))
    store = _opened_cache(encoder, cache)
    vectors = store.read(unique) if store else {}
    todo = [text for text in unique if text not in vectors]
    if len(todo) > size:
        todo.sort(key=len)  # sentences of like length need least padding
    if todo and vectors:
        _check_unchanged(encoder, vectors, store)
    dim = len(next(iter(vectors.values()))) if vectors else None
    count = -(-len(todo) // size)
    with ticking(f"encoding with {encoder.name}", len(todo), progress) as tick:
        for number, first in enumerate(range(0, len(todo), size), start=1):
            batch = todo[first : first + size]
            kept = f"the vectors of {len(vectors)} sentences are kept in {store.path}" if store else None
            where = f"encoder {encoder.name!r}, batch {number} of {count}"
            made = _checked(encoder, batch, where, kept if vectors else None, dim)
            dim = made.shape[1]
            if store and (problem := store.write(batch, made)):
                warnings.warn(f"vectors are no longer kept: {problem}", UserWarning, stacklevel=2)
                store = None
            vectors |= zip(batch, made, strict=True)
            tick(len(batch))
    _warn_of_cut(encoder, unique)
    return np.array([vectors[text] for text in texts])


def describe_encoder(encoder: Encoder, sentences: Iterable[str] | None = None) -> dict[str, Any]:
    """Return what is known about an encoder, whether or not it states it all.

    Parameters
    ----------
    encoder : Encoder
    sentences : iterable of str, optional
        Sentences to account for.

    Returns
    -------
    dict
        ``name``, ``options`` (text, may be empty) and ``provenance`` (dict, may be empty). With `sentences`
        also ``account``: of a `cbow_encoder` ``missing`` (token -> number of sentences), ``matched`` (token
        -> spelling used) and ``lacking`` (sentence -> its tokens without a vector); of models ``cut``, the
        sentences longer than ``max_length`` tokens. Empty where the encoder gives none.

    Examples
    --------
    >>> vectors = {"this": [1.0, 0.0], "is": [0.8, 0.6], "love": [0.0, 1.0]}
    >>> told = describe_encoder(cbow_encoder(vectors), ["This is love."])
    >>> told["name"], told["account"]["missing"], told["account"]["matched"]
    ('CBoW', {'.': 1}, {'This': 'this'})
    """
    out: dict[str, Any] = {
        "name": encoder.name,
        "options": getattr(encoder, "options", ""),
        "provenance": dict(getattr(encoder, "provenance", {})),
    }
    if sentences is not None:
        account = getattr(encoder, "account", None)
        out["account"] = account(_texts(sentences)) if account else {}
    return out


def load_encoder(
    spec: Encoder | Callable[..., Any] | str | os.PathLike[str],
    *,
    name: str | None = None,
    version: str | None = None,
    device: str | None = None,
) -> Encoder:
    """Make an encoder of what names it.

    Parameters
    ----------
    spec : str, path, callable or Encoder
        * ``minilm-static``: the one in the package (`static_encoder`);
        * ``cbow:EMBEDDING``: means of word vectors of any embedding (`cbow_encoder`);
        * ``sentence-transformers:NAME_OR_PATH`` (`sentence_transformers_encoder`);
        * ``transformers:NAME_OR_PATH?pooling=cls&layer=-2`` (`transformers_encoder`);
        * the path of vectors computed elsewhere: ``.npz``, ``.h5``, ``.hdf5``, ``.parquet``
          (`vectors_encoder`);
        * a callable, sentences -> array (`function_encoder`);
        * an `Encoder`, which is returned as it is.

        After a ``?`` stand options of the function, such as ``name=BERT&max_length=128``.
    name : str, optional
        Short name, in place of the one the function would choose.
    version : str, optional
        For a callable: see `function_encoder`.
    device : str, optional
        For models: ``cpu``, ``cuda``, ``cuda:1``, ``mps``. By default the first accelerator, else the
        processor.

    Returns
    -------
    Encoder

    Raises
    ------
    InputError
        For an unknown name or option, naming the nearest, and where an extra is not installed.

    Examples
    --------
    >>> load_encoder("minilm-static")
    <Encoder 'minilm-static'>
    >>> load_encoder("cbow:minilm-static", name="CBoW").provenance["pooling"]
    'mean of the vectors of the tokens found'
    """
    text = os.fspath(spec) if isinstance(spec, str | os.PathLike) else None
    kind, colon, rest = text.partition(":") if text is not None else ("", "", "")
    if version is not None and text is not None:
        raise InputError("is for callables", where="version", found=version)
    if device is not None and not (colon and kind in ("sentence-transformers", "transformers")):
        raise InputError("only models run on a device", where="device", found=device)
    if text is None:
        return _from_object(spec, name, version)
    if text == _STATIC:
        return static_encoder(name=name)
    if colon and kind in _OPTIONS and not Path(text).exists():
        target, options = _parsed(kind, rest, text)
        given = {"name": name, "device": device}
        options |= {key: value for key, value in given.items() if value is not None}
        if kind == "cbow":
            return cbow_encoder(target, **options)
        make = transformers_encoder if kind == "transformers" else sentence_transformers_encoder
        return make(target, **options)
    if Path(text).suffix.lower() in _FILES:
        return vectors_encoder(text, name=name)
    file, asked, _ = text.partition("?")
    if asked and Path(file).suffix.lower() in _FILES:
        target, options = _parsed("file", text, text)
        return vectors_encoder(target, **options | ({} if name is None else {"name": name}))
    raise _unknown(text)


def _from_object(spec: Any, name: str | None, version: str | None) -> Encoder:
    if isinstance(spec, Encoder) and isinstance(spec.name, str) and spec.name and callable(spec.encode):
        if name is not None or version is not None:
            raise InputError("an encoder has a name of its own", where="load_encoder", found=spec.name)
        return spec
    if callable(getattr(spec, "encode", None)) and not isinstance(spec, str):
        raise InputError(
            "has a method encode, but no name",
            found=type(spec).__name__,
            hint="give its method and a name: load_encoder(model.encode, name='...')",
        )
    if not callable(spec):
        raise InputError("cannot be used as an encoder", found=type(spec).__name__, valid=_VALID)
    return function_encoder(spec, name=name, version=version)


def _parsed(kind: str, rest: str, text: str) -> tuple[str, dict[str, Any]]:
    """Split ``NAME?key=value&key=value``; numbers become numbers."""
    target, asked, query = rest.partition("?")
    if not target:
        raise InputError(
            "names no model" if kind != "cbow" else "names no embedding", found=text, valid=_VALID
        )
    options: dict[str, Any] = {}
    for part in query.split("&") if asked else []:
        key, equals, value = part.partition("=")
        key, value = urllib.parse.unquote(key), urllib.parse.unquote(value)
        where = f"encoder {text!r}"
        known = _OPTIONS.get(kind, ("name",))  # of files their name alone
        if key not in known:
            raise InputError("unknown option", where=where, found=key, valid=known, hint=nearest(key, known))
        if not equals or not value or key in options:
            problem = "the option stands twice" if key in options else "the option has no value"
            raise InputError(problem, where=where, found=part, valid=f"{key}=VALUE, once")
        if key in ("layer", "max_length"):
            try:
                options[key] = int(value)
            except ValueError:
                raise InputError(f"{key} must be a whole number", where=where, found=value) from None
        else:
            options[key] = value
    return target, options


def _unknown(text: str) -> InputError:
    kind, colon, _ = text.partition(":")
    path = Path(text).expanduser()
    if path.is_dir():
        hint: str | None = f"a model in a folder: transformers:{text} or sentence-transformers:{text}"
    elif path.is_file() or text in GENSIM_DATA:
        hint = f"the mean of its word vectors: cbow:{text}"
    elif colon:
        hint = nearest(kind, _OPTIONS)
    else:
        hint = nearest(text, [_STATIC, *_OPTIONS])
    return InputError("unknown encoder", found=text, valid=_VALID, hint=hint)


# --- what encode() checks ---------------------------------------------------------------------------


def _texts(sentences: Iterable[str]) -> list[str]:
    if isinstance(sentences, str):
        raise InputError(
            "one sentence was given where a list is expected", found=sentences, valid="[sentence, ...]"
        )
    texts = list(sentences)
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str) or not text.strip():
            raise InputError(
                "is not a sentence", where=f"sentence {number}", found=text, valid="a text that is not empty"
            )
    if not texts:
        raise InputError("there are no sentences to encode", where="sentences", valid="one or more")
    return texts


def _batch_size(encoder: Encoder, asked: int | None, count: int) -> int:
    if asked is not None and (
        not isinstance(asked, int | np.integer) or isinstance(asked, bool) or asked < 1
    ):
        raise InputError("is not a number of sentences", where="batch_size", found=asked, valid="1 or more")
    own = getattr(encoder, "batch_size", _BATCH)
    return max(count, 1) if own is None else int(asked or own)


def _checked(encoder: Encoder, batch: list[str], where: str, kept: str | None, dim: int | None) -> np.ndarray:
    """Encode one batch, and see that it can be used."""

    def refuse(problem: str, at: int | None = None, hint: str | None = None, **more: Any) -> InputError:
        place = f"{where}, sentence {batch[at or 0]!r}"
        if at is None and len(batch) > 1:
            place = f"{where}, sentences {batch[0]!r} to {batch[-1]!r}"
        return InputError(problem, where=place, hint="; ".join(filter(None, (hint, kept))) or None, **more)

    shape = f"numbers of shape ({len(batch)}, d), one row per sentence"
    try:
        made = encoder.encode(batch)
    except InputError as error:  # says itself which sentence, and what to do
        raise InputError(str(error), where=where, hint=kept) from error
    except Exception as error:  # an encoder may be anybody's code
        told = f"{type(error).__name__}: {error}"
        raise refuse(
            f"the encoder failed: {told}", hint="where memory ran out, a smaller batch_size may do"
        ) from error
    try:
        array = np.asarray(made)
    except Exception as error:
        told = f"{type(made).__name__}; {error}"
        raise refuse("cannot be made an array", found=told, valid=shape) from error
    if array.ndim != 2 or array.dtype.kind not in "fiu" or not array.shape[1]:
        found = f"shape {array.shape}, type {array.dtype}"
        raise refuse("the encoder returned another shape or type", found=found, valid=shape)
    if len(array) != len(batch):
        raise refuse(
            "the encoder returned another number of vectors", found=len(array), valid=str(len(batch))
        )
    if dim is not None and array.shape[1] != dim:
        raise refuse("the encoder changed its dimension", found=array.shape[1], valid=f"{dim}, as before")
    wide = np.float32 if array.dtype in (np.float16, np.float32) else np.float64
    array = np.array(array, dtype=wide, order="C")  # its own: the encoder may use its array again
    broken = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(broken):
        raise refuse(
            "the vector holds NaN or infinite numbers",
            int(broken[0]), found=f"{len(broken)} such vectors in the batch", valid="finite numbers",
        )  # fmt: skip
    zero = np.flatnonzero(~array.any(axis=1))
    if len(zero):
        raise refuse(
            "the vector holds only zeros, and no cosine can be computed from it",
            int(zero[0]), found=f"{len(zero)} such vectors in the batch",
        )  # fmt: skip
    return array


def _check_unchanged(encoder: Encoder, vectors: dict[str, np.ndarray], store: Cache | None) -> None:
    """Encode one sentence of the cache again: it must come out as it stands there."""
    text, old = min(vectors.items(), key=lambda item: len(item[0]))
    new = _checked(encoder, [text], f"encoder {encoder.name!r}, a sentence of the cache", None, None)[0]
    if len(new) != len(old) or np.linalg.norm(new - old) > _SAME * np.linalg.norm(old):
        raise InputError(
            "the encoder no longer gives the vector that is in the cache",
            where=f"encoder {encoder.name!r}, sentence {text!r}, cache {store.path if store else ''}",
            valid=f"the same to {_SAME:.0%} of its length",
            hint="give a changed encoder a new version, or another cache file",
        )


def _warn_of_cut(encoder: Encoder, texts: list[str]) -> None:
    account = getattr(encoder, "account", None)
    told = account(texts) if account else {}
    if cut := told.get("cut"):
        warnings.warn(
            f"encoder {encoder.name!r} cut {len(cut)} of {len(texts)} sentences after {told['max_length']} "
            f"tokens, such as {cut[0][:60]!r}...",
            UserWarning,
            stacklevel=3,
        )


def _opened_cache(encoder: Encoder, cache: bool | str | os.PathLike[str]) -> Cache | None:
    if cache is False:
        return None
    if cache is not True and not isinstance(cache, str | os.PathLike):
        raise InputError(
            "is not a cache", where="cache", found=cache, valid="True, False or the path of a file"
        )
    fingerprint = getattr(encoder, "fingerprint", None)
    if fingerprint is None:
        if cache is not True and getattr(encoder, "batch_size", _BATCH) is not None:
            raise InputError(
                "the vectors of this encoder cannot be kept: nothing tells when it changes",
                where=f"encoder {encoder.name!r}",
                hint="load_encoder(function, name=..., version=...), or an attribute fingerprint, or cache=False",
            )
        return None
    path = cache_dir() / "encoders.sqlite" if cache is True else Path(cache).expanduser()
    store = Cache(path, str(fingerprint))
    try:
        store.start(describe_encoder(encoder))
    except (sqlite3.Error, OSError) as error:
        if cache is True:  # nobody asked for this file
            warnings.warn(f"vectors are not kept: {path}: {error}", UserWarning, stacklevel=3)
            return None
        raise InputError(
            f"cannot be used as a cache: {error}", where=path, valid="a file that encode() made, or a new one"
        ) from error
    return store


# --- without torch ----------------------------------------------------------------------------------


def static_encoder(*, name: str | None = None) -> Encoder:
    """Return the encoder in the package: ``minilm-static``, which takes a sentence as a whole.

    A sentence's vector is the mean of the vectors of its tokens (word pieces), 128 dimensions; unknown
    tokens are left out, case and accents are ignored. Needs neither torch nor a network. See
    `bayesbias.static_vectors`.

    Parameters
    ----------
    name : str, optional
        Short name.

    Returns
    -------
    Encoder
        Not cached: it makes 10,000 sentences in about a second.

    Examples
    --------
    >>> encoder = static_encoder()
    >>> encode(encoder, ["This is Katie."]).dtype
    dtype('float32')
    >>> encoder.provenance["casing"]
    'ignored'
    """
    card = read_toml(data_dir("embeddings") / _STATIC / "MODEL.toml")
    facts = {
        "source": _STATIC,
        "made_from": card["source"],
        "licence": card["licence"],
        "tokenizer": "WordPiece",
        "casing": "ignored",
        "pooling": "mean over known tokens, without special tokens",
        "sha256": dict(card["sha256"]),
    }
    return _Shipped(name or _STATIC, static_vectors, provenance=facts, batch_size=None)


_CLITIC = re.compile(r"(?i)(?<=\w)(n't|'(?:s|m|d|re|ve|ll))$")


def cbow_tokens(sentence: str) -> list[str]:
    """Split a sentence much as the Penn Treebank does, which the paper's baseline used.

    Examples
    --------
    >>> cbow_tokens("The person's name isn't Jean-Luc.")
    ['The', 'person', "'s", 'name', 'is', "n't", 'Jean-Luc', '.']
    """
    out = []
    for piece in sentence.replace("\u2019", "'").split():
        whole = re.fullmatch(r"([^\w']*)(.*?)([^\w]*)", piece, re.DOTALL)
        assert whole is not None  # the three parts take anything
        before, core, after = whole.groups()
        clitic = _CLITIC.search(core)
        out += list(before)
        if clitic:
            out += [core[: clitic.start()], clitic.group()]
        elif core:
            out.append(core)
        out += list(after)
    return out


def cbow_encoder(embedding: Any, *, name: str | None = None) -> Encoder:
    """Return the paper's baseline: the mean of the word vectors of a sentence.

    Tokens are made as the Penn Treebank makes them: split at blanks; punctuation at either end is a token of
    its own, and so are ``'s``, ``n't`` and their like; hyphens inside a word stay. Case is kept; a token that
    the embedding lacks as written is sought in the other spellings that `load_embedding` tries. Tokens found
    in none are left out of the mean and accounted for; a sentence of which no word is found is an error.

    Parameters
    ----------
    embedding : str, path, mapping, Embedding or gensim object
        Whatever `bayesbias.load_embedding` takes. Of a file only the words of the sentences are read.
    name : str, optional
        Short name; by default "CBoW" and the name of the embedding.

    Returns
    -------
    Encoder
        ``provenance["embedding"]`` is that of the embedding, once a sentence was encoded. Its ``account``
        holds ``missing`` (token -> number of sentences), ``matched`` (token -> spelling used) and
        ``lacking`` (sentence -> its tokens without a vector). Not cached: an index of the file is
        (`load_embedding`).

    Raises
    ------
    InputError
        Where the embedding is unknown; when encoding, where no word of a sentence is found.

    Notes
    -----
    Source: May et al. (2019), appendix C, "CBoW"; their program used NLTK's word tokenizer, kept the case, and
    counted punctuation and repeated words in the mean.

    Examples
    --------
    >>> encoder = cbow_encoder({"this": [1.0, 0.0], "is": [0.0, 1.0], "love": [2.0, 5.0]})
    >>> encode(encoder, ["This is love."])
    array([[1., 2.]])
    >>> encoder.account(["This is love."])["lacking"]
    {'This is love.': ('.',)}
    """
    if isinstance(embedding, str | os.PathLike):
        text = os.fspath(embedding)
        if not Path(text).expanduser().is_file() and text not in (*shipped_embeddings(), *GENSIM_DATA):
            load_embedding(embedding, ["the"])  # says what is wrong before any work is done
        of = re.sub(r"(\.(txt|bin|vec|kv|model|npz|safetensors|gz|w2v))+$", "", Path(text).name)
    else:
        of = embedding.name if isinstance(embedding, Embedding) else ""
    facts: dict[str, Any] = {
        "tokenizer": "Penn Treebank rules: punctuation and clitics are tokens, hyphens stay",
        "casing": "kept; another spelling where the embedding lacks the token",
        "pooling": "mean of the vectors of the tokens found",
        "embedding": {"source": str(embedding) if isinstance(embedding, str | os.PathLike) else of},
    }
    vectors: dict[str, np.ndarray] = {}
    matched: dict[str, str] = {}
    absent: set[str] = set()

    def fetch(split: list[list[str]]) -> None:
        new = {
            token: None
            for tokens in split
            for token in tokens
            if token not in vectors and token not in absent
        }
        if not new:
            return
        anchor = next(iter(vectors), None)  # with one word that is there, "none is found" is no error
        loaded = load_embedding(embedding, [*new, *([anchor] if anchor else [])])
        facts["embedding"] = {
            k: v for k, v in loaded.provenance.items() if k not in ("sha256_vectors", "index")
        }
        vectors.update(zip(loaded.words, loaded.vectors, strict=True))
        matched.update(loaded.matched)
        absent.update(loaded.missing)

    def run(sentences: list[str]) -> np.ndarray:
        split = [cbow_tokens(sentence) for sentence in sentences]
        fetch(split)
        for sentence, tokens in zip(sentences, split, strict=True):
            if not any(token in vectors and re.search(r"\w", token) for token in tokens):
                raise InputError(
                    "no word of the sentence is in the embedding",
                    where=f"sentence {sentence!r}",
                    found=", ".join(tokens),
                    hint="leave the sentence out, or use an embedding that has its words",
                )
        return np.array([np.mean([vectors[t] for t in tokens if t in vectors], axis=0) for tokens in split])

    def look(sentences: list[str]) -> dict[str, Any]:
        split = {sentence: cbow_tokens(sentence) for sentence in sentences}
        fetch(list(split.values()))
        lacking = {s: tuple(t for t in tokens if t in absent) for s, tokens in split.items()}
        counts = Counter(token for tokens in lacking.values() for token in dict.fromkeys(tokens))
        used = dict.fromkeys(token for tokens in split.values() for token in tokens)
        return {
            "missing": dict(counts.most_common()),
            "matched": {token: matched[token] for token in used if token in matched},
            "lacking": {sentence: tokens for sentence, tokens in lacking.items() if tokens},
        }

    return _Shipped(name or f"CBoW {of}".strip(), run, provenance=facts, batch_size=None, look=look)


def function_encoder(
    function: Callable[[list[str]], Any],
    *,
    name: str | None = None,
    version: str | None = None,
    batch_size: int = _BATCH,
    options: str = "",
) -> Encoder:
    """Make an encoder of a callable.

    Parameters
    ----------
    function : callable
        Takes a list of n sentences, returns numbers of shape (n, d).
    name : str, optional
        Short name; by default that of the function.
    version : str, optional
        With a name and a version the vectors are kept in the cache of `encode`; without them they are not,
        since nothing would tell when the function changes. Whoever states a version promises to state another
        one when the vectors change. The promise is checked on one sentence whenever new sentences join kept
        ones; where all are kept, the function is not called at all.
    batch_size : int
        Sentences in a call, unless `encode` is told otherwise.
    options : str
        Settings, for tables.

    Returns
    -------
    Encoder

    Raises
    ------
    InputError
        For a version without a name.

    Notes
    -----
    A remote service is a callable as well. This one answers in the form that many of them share; busy and
    broken lines are tried again, and what was paid for is in the cache after each batch::

        import json
        import time
        import urllib.request

        def remote(sentences, url="https://api.example.org/v1/embeddings", key="", tries=5, wait=1.0):
            body = json.dumps({"model": "some-model", "input": sentences}).encode()
            head = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
            for attempt in range(1, tries + 1):
                try:
                    request = urllib.request.Request(url, body, head)
                    with urllib.request.urlopen(request, timeout=60) as answer:
                        rows = json.load(answer)["data"]
                    return [row["embedding"] for row in sorted(rows, key=lambda row: row["index"])]
                except OSError as error:  # no line, or an answer such as 429 or 503
                    final = getattr(error, "code", 500) in (400, 401, 403, 404)
                    if final or attempt == tries:
                        raise
                    time.sleep(wait * 2 ** (attempt - 1))

        encoder = function_encoder(remote, name="some-model", version="2025-01", batch_size=64)

    Examples
    --------
    >>> import tempfile
    >>> def letters(sentences):
    ...     return [[s.count("a"), s.count("e") + 1] for s in sentences]
    >>> encoder = function_encoder(letters, name="letters", version="1")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     encode(encoder, ["an apple", "a pear"], cache=f"{folder}/mine.sqlite")
    array([[2., 2.],
           [2., 2.]])
    """
    if not callable(function):
        raise InputError("cannot be called", where="function", found=type(function).__name__)
    if version is not None and not name:
        raise InputError(
            "a version needs a name of its own",
            found=f"version={version!r}",
            hint="two functions of one name would share their vectors",
        )
    if not isinstance(batch_size, int) or batch_size < 1:
        raise InputError(
            "is not a number of sentences", where="batch_size", found=batch_size, valid="1 or more"
        )
    own = name or getattr(function, "__name__", type(function).__name__).strip("<>")
    facts: dict[str, Any] = {"source": "a callable", "callable": own}
    if inspect.isroutine(function):
        facts["callable"] = f"{function.__module__}.{function.__qualname__}"
    fingerprint = None
    if version is not None:
        facts["version"] = str(version)
        fingerprint = fingerprint_of({"callable": own, "version": str(version), "options": options})
    return _Shipped(own, function, options, facts, fingerprint, batch_size)


# --- vectors computed elsewhere ---------------------------------------------------------------------


def vectors_encoder(path: str | os.PathLike[str], *, name: str | None = None, options: str = "") -> Encoder:
    """Return an encoder that looks sentences up in a file of vectors computed elsewhere.

    For encoders that live in frameworks nobody installs any more. In every format the file holds n
    ``sentences`` and as many ``vectors``:

    * ``.npz``: arrays ``sentences``, shape (n,), of text, and ``vectors``, shape (n, d), of numbers;
      ``np.savez(path, sentences=np.array(sentences), vectors=vectors)``;
    * ``.h5``, ``.hdf5``: datasets of these names and shapes at the top, sentences as UTF-8;
    * ``.parquet``: a column ``sentences`` of text and a column ``vectors`` of lists of d numbers.

    Nothing is unpickled: arrays of objects are refused.

    Parameters
    ----------
    path : str or path
    name : str, optional
        Short name; by default that of the file without its ending.
    options : str
        Settings of the encoder that made the vectors, for tables.

    Returns
    -------
    Encoder
        Sentences must stand in the file letter for letter. Not cached.

    Raises
    ------
    InputError
        Where the file is not as stated, or a sentence stands there twice with different vectors; when
        encoding, where sentences are not in the file, naming them.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "elmo.npz"
    >>> np.savez(path, sentences=np.array(["This is Katie.", "There is love."]), vectors=np.eye(2))
    >>> encode(path, ["There is love."])
    array([[0., 1.]])
    >>> folder.cleanup()
    """
    path = Path(path).expanduser()
    kind = path.suffix.lower()
    if kind not in _FILES:
        raise InputError("is not a file of vectors", where=path, valid=_FILES, hint=nearest(kind, _FILES))
    if not path.is_file():
        problem = "is a folder, not a file of vectors" if path.is_dir() else "no such file of vectors"
        beside = [other.name for other in path.parent.glob("*")] if path.parent.is_dir() else []
        raise InputError(problem, where=path, hint=nearest(path.name, beside))
    read = {".npz": read_npz, ".parquet": read_parquet}.get(kind, read_hdf5)
    sentences, vectors = read(path)
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu" or len(vectors) != len(sentences):
        raise InputError(
            "vectors do not fit the sentences",
            where=path,
            found=f"{len(sentences)} sentences, vectors of shape {vectors.shape} and type {vectors.dtype}",
            valid="numbers of shape (n, d), one row per sentence",
        )
    at: dict[str, int] = {}
    for row, sentence in enumerate(sentences):
        first = at.setdefault(sentence, row)
        if first != row and not np.array_equal(vectors[first], vectors[row], equal_nan=True):
            raise InputError(
                "a sentence stands twice with different vectors",
                where=f"{path}, rows {first + 1} and {row + 1}",
                found=sentence,
            )

    def run(asked: list[str]) -> np.ndarray:
        missing = [sentence for sentence in asked if sentence not in at]
        if missing:
            more = f" and of {len(missing) - 8} more" if len(missing) > 8 else ""
            raise InputError(
                f"has no vector of {', '.join(map(repr, missing[:8]))}{more}",
                where=path,
                hint=nearest(missing[0], at) if len(at) < 20_000 else None,
            )
        return vectors[[at[sentence] for sentence in asked]]

    facts = {
        "source": str(path),
        "sha256": sha256_file(path),
        "sentences": len(at),
        "dim": int(vectors.shape[1]),
        "pooling": "as in the file",
    }
    return _Shipped(name or path.stem, run, options, facts, batch_size=None)


# --- models, with torch -----------------------------------------------------------------------------


def sentence_transformers_encoder(
    model: str | os.PathLike[str],
    *,
    max_length: int | None = None,
    device: str | None = None,
    revision: str | None = None,
    name: str | None = None,
) -> Encoder:
    """Return a sentence-transformers model, with its own pooling and normalisation.

    Parameters
    ----------
    model : str or path
        The folder of a model, or its name on the model hub (downloaded once, by that library).
    max_length : int, optional
        Longest sentence in tokens, special ones included; by default what the model states. `encode` warns of
        sentences that were cut.
    device : str, optional
        ``cpu``, ``cuda``, ``mps``; by default the first accelerator, else the processor.
    revision : str, optional
        Branch, tag or commit on the hub.
    name : str, optional
        Short name; by default the last part of `model`.

    Returns
    -------
    Encoder
        Computed in single precision. ``provenance`` holds the modules of the model, tokenizer class, casing,
        pooling, prompt, longest length, versions, and ``weights_sha256`` (as in `transformers_encoder`).
        Code that comes with a model is never run (``trust_remote_code=False``).

    Raises
    ------
    InputError
        Where the extra ``encoders`` is not installed, or the model cannot be loaded.

    Examples
    --------
    >>> load_encoder("sentence-transformers:some/folder?maxlength=128")
    Traceback (most recent call last):
    ...
    bayesbias.errors.InputError: ...unknown option; found: 'maxlength'; valid: max_length, ...
    """
    torch, _ = models.import_libraries("sentence_transformers")
    from sentence_transformers import SentenceTransformer

    text, local = models.model_name(model)
    where = models.device_of(torch, device)
    with models.loading(text, local):
        loaded = (
            SentenceTransformer(text, device=where, revision=revision, trust_remote_code=False).float().eval()
        )
    limit = loaded.max_seq_length
    if max_length is not None:
        models.check_length(max_length, limit if limit is not None else models.UNBOUNDED, text)
        loaded.max_seq_length = limit = max_length
    limit = None if limit is None or limit >= models.UNBOUNDED else int(limit)
    modules = [{"type": type(module).__name__, **models.config_of(module)} for module in loaded]
    pooling = next((str(m["pooling_mode"]) for m in modules if "pooling_mode" in m), "as the model does")
    tokenizer = getattr(loaded, "tokenizer", None)
    prompt = getattr(loaded, "default_prompt_name", None)
    vital = {
        "library": "sentence-transformers",
        **models.tokenizer_facts(tokenizer),
        "pooling": pooling,
        "modules": modules,
        "prompt": (loaded.prompts or {}).get(prompt) if prompt else None,
        "max_length": limit,
        "precision": "float32",
        "weights_sha256": models.weights_hash(loaded),
        "versions": models.versions("sentence-transformers", "transformers", "tokenizers", "torch"),
    }
    facts = {
        "model": text,
        **models.origin(text, local, getattr(loaded, "config", None)),
        **vital,
        "device": where,
    }
    models.warn_of_casing(text, facts["casing"])

    def run(sentences: list[str]) -> Any:
        return loaded.encode(
            sentences, batch_size=len(sentences), show_progress_bar=False, convert_to_numpy=True
        )

    look = models.cut_finder(tokenizer, limit) if facts["casing"] != "unknown" else None
    options = "" if max_length is None else f"max_length={max_length}"
    return _Shipped(name or models.short_name(text), run, options, facts, fingerprint_of(vital), look=look)


def transformers_encoder(
    model: str | os.PathLike[str],
    *,
    pooling: str = "mean",
    layer: int = -1,
    special_tokens: str = "include",
    max_length: int | None = None,
    device: str | None = None,
    revision: str | None = None,
    name: str | None = None,
) -> Encoder:
    """Return a Hugging Face transformer, with the pooling and the layer of your choice.

    Parameters
    ----------
    model : str or path
        The folder of a model, or its name on the model hub (downloaded once, by that library). Of an
        encoder-decoder model the encoder is used.
    pooling : {"mean", "cls", "max", "last"}
        How the vectors of a sentence's tokens become one: their mean or largest values, that of the [CLS]
        token (wherever the tokenizer puts it), or that of the last token. Padding never counts.
    layer : int
        The layer whose output is pooled: 0 is the input embeddings, 1 the first layer; -1 the last, -2 the
        one before it.
    special_tokens : {"include", "exclude"}
        Whether mean, max and last see the tokens that the tokenizer adds, such as [CLS] and [SEP]. The model
        sees them in either case. sentence-transformers includes them.
    max_length : int, optional
        Longest sentence in tokens, special ones included; by default what tokenizer and model bear. `encode`
        warns of sentences that were cut.
    device : str, optional
        ``cpu``, ``cuda``, ``mps``; by default the first accelerator, else the processor.
    revision : str, optional
        Branch, tag or commit on the hub.
    name : str, optional
        Short name; by default the last part of `model`.

    Returns
    -------
    Encoder
        Computed in single precision, padded on the right whatever the tokenizer says, so that positions
        count from a sentence's first token. ``provenance`` holds tokenizer class, casing as it behaves,
        pooling, layer, special tokens, longest length, versions, and ``weights_sha256``: over all tensors
        of the model in the order of their names, for each its name, type, shape and bytes, after conversion
        to single precision. Of a local folder also the SHA-256 of its weight files, of the hub the commit.
        Code that comes with a model is never run (``trust_remote_code=False``).

    Raises
    ------
    InputError
        Where the extra ``encoders`` is not installed; for an unknown pooling or layer; where the model
        cannot be loaded, or its file lacks weights, which would be random.

    Warns
    -----
    UserWarning
        Where a model named cased has a tokenizer that ignores case, or the other way round.

    Notes
    -----
    The paper's BERT (May et al. 2019, appendix C) is ``pooling="cls", layer=-1``: the topmost hidden state of
    [CLS], not the pooler's output. Its GPT is ``pooling="last"``.

    Examples
    --------
    >>> transformers_encoder("some/folder", pooling="avg")
    Traceback (most recent call last):
    ...
    bayesbias.errors.InputError: unknown pooling; found: 'avg'; valid: cls, mean, max, last
    """
    if pooling not in POOLINGS:
        raise InputError(
            "unknown pooling", found=pooling, valid=POOLINGS, hint=nearest(str(pooling), POOLINGS)
        )
    if special_tokens not in ("include", "exclude"):
        raise InputError(
            "unknown value of special_tokens", found=special_tokens, valid=["include", "exclude"],
            hint=nearest(str(special_tokens), ["include", "exclude"]),
        )  # fmt: skip
    if pooling == "cls" and special_tokens == "exclude":
        raise InputError("[CLS] is itself a special token", found="pooling=cls, special_tokens=exclude")
    torch, transformers = models.import_libraries("transformers")
    text, local = models.model_name(model)
    where = models.device_of(torch, device)
    with models.loading(text, local):
        common = {"revision": revision or "main", "trust_remote_code": False}
        tokenizer = transformers.AutoTokenizer.from_pretrained(text, **common)
        loaded, told = transformers.AutoModel.from_pretrained(text, output_loading_info=True, **common)
    random = sorted(key for key in told["missing_keys"] if "pooler" not in key)  # we never use a pooler
    if random:
        raise InputError(
            "the files of the model lack weights, which would be random numbers",
            where=text,
            found=f"{len(random)} tensors without values, such as {random[0]}",
        )
    if getattr(loaded.config, "is_encoder_decoder", False):
        loaded = loaded.get_encoder()
    loaded = loaded.float().eval().to(where)
    if tokenizer.pad_token is None:  # as of GPT-2; the mask hides it
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    if pooling == "cls" and tokenizer.cls_token_id is None:
        raise InputError(
            "the tokenizer has no [CLS] token", where=text, found="pooling=cls", valid=["mean", "max", "last"]
        )
    bounds = [tokenizer.model_max_length, getattr(loaded.config, "max_position_embeddings", None)]
    most = min((bound for bound in bounds if bound and bound < models.UNBOUNDED), default=None)
    if max_length is not None:
        models.check_length(max_length, most or models.UNBOUNDED, text)
    limit = max_length or most

    def states(sentences: list[str]) -> tuple[Any, Any]:
        batch = tokenizer(
            sentences, padding=True, padding_side="right", truncation=limit is not None, max_length=limit,
            return_tensors="pt", return_special_tokens_mask=True,
        )  # fmt: skip
        special = batch.pop("special_tokens_mask")
        batch = batch.to(where)
        with torch.inference_mode():
            made = loaded(**batch, output_hidden_states=True, return_dict=True)
        seen = batch["attention_mask"].bool()
        if special_tokens == "exclude":
            seen &= ~special.bool().to(where)
        if pooling == "cls":
            seen &= batch["input_ids"] == tokenizer.cls_token_id
        return made.hidden_states, seen

    def run(sentences: list[str]) -> np.ndarray:
        hidden, seen = states(sentences)
        empty = (~seen.any(dim=1)).nonzero()
        if len(empty):
            raise InputError(
                "the sentence has no token to pool over",
                where=f"sentence {sentences[int(empty[0])]!r}",
                found=f"pooling={pooling}, special_tokens={special_tokens}",
            )
        return models.pooled(torch, hidden[index], seen, pooling).cpu().numpy()

    layers = len(states(["a"])[0]) - 1
    if not isinstance(layer, int) or not -layers - 1 <= layer <= layers:
        valid = f"0 (input embeddings) to {layers}, or -1 (last) to {-layers - 1}"
        raise InputError("the model has no such layer", where=text, found=layer, valid=valid)
    index = layer % (layers + 1)
    vital = {
        "library": "transformers",
        "architecture": type(loaded).__name__,
        **models.tokenizer_facts(tokenizer),
        "pooling": pooling,
        "layer": index,
        "layers": layers,
        "special_tokens": special_tokens,
        "max_length": limit,
        "padding": "right",
        "precision": "float32",
        "weights_sha256": models.weights_hash(loaded),
        "versions": models.versions("transformers", "tokenizers", "torch"),
    }
    facts = {"model": text, **models.origin(text, local, loaded.config), **vital, "device": where}
    models.warn_of_casing(text, facts["casing"])
    options = f"pooling={pooling};layer={layer}"
    options += ";special_tokens=exclude" if special_tokens == "exclude" else ""
    options += f";max_length={max_length}" if max_length is not None else ""
    look = models.cut_finder(tokenizer, limit)
    return _Shipped(name or models.short_name(text), run, options, facts, fingerprint_of(vital), look=look)
