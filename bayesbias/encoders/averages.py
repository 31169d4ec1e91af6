"""Encoders without a network: means of vectors of words, and sentence vectors in a file.

Source of the baseline: May, Wang, Bordia, Bowman & Rudinger (2019), arXiv:1903.10561, section 4 and
appendix C.
"""

import functools
import itertools
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.core import InputError, checks, files, some
from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.loading import load_embedding, read_rows
from bayesbias.embeddings.readers import short_name
from bayesbias.embeddings.spelling import without_notes_of_words
from bayesbias.embeddings.static import STATIC_EMBEDDING, shipped_model, static_vectors
from bayesbias.encoders.encoder import BuiltEncoder, Encoder


def static_encoder(*, name: str | None = None) -> Encoder:
    """Return the shipped encoder: ``minilm-static``.

    A sentence's vector is the mean of the vectors of its tokens (word pieces), 128 dimensions;
    unknown tokens are left out, case and accents are ignored. See
    `bayesbias.embeddings.static.static_vectors`.

    Parameters
    ----------
    name : str, optional
        Short name.

    Returns
    -------
    Encoder
        Not cached.

    Examples
    --------
    >>> from bayesbias import encode
    >>> encoder = static_encoder()
    >>> encode(encoder, ["This is Katie."]).dtype
    dtype('float32')
    >>> encoder.provenance["casing"]
    'ignored'
    """
    card = files.read_toml(files.data_dir("embeddings") / STATIC_EMBEDDING / "MODEL.toml")
    facts = {
        "source": STATIC_EMBEDDING,
        "made_from": card["source"],
        "licence": card["licence"],
        "tokenizer": "WordPiece",
        "casing": "ignored",
        "pooling": "mean over known tokens, without special tokens",
        "sha256": dict(card["sha256"]),
    }
    return BuiltEncoder(
        name or STATIC_EMBEDDING,
        static_vectors,
        provenance=facts,
        batch_size=None,
        look_up=lambda words: {"misspelled": shipped_model().misspelled(words)},
    )


# Marks before a word, and after it in a piece read backwards.
_BEFORE, _AFTER = re.compile(r"\A[^\w']*"), re.compile(r"\A\W*")
_CLITIC = re.compile(r"(?i)(?<=\w)(n't|'(?:s|m|d|re|ve|ll))$")


def cbow_tokens(sentence: str) -> list[str]:
    """Split a sentence much as the Penn Treebank does.

    Examples
    --------
    >>> cbow_tokens("The person's name isn't Jean-Luc.")
    ['The', 'person', "'s", 'name', 'is', "n't", 'Jean-Luc', '.']
    """
    out = []
    for piece in sentence.replace("\u2019", "'").split():
        rest = _BEFORE.sub("", piece)
        core = _AFTER.sub("", rest[::-1])[::-1]
        before, after = piece[: len(piece) - len(rest)], rest[len(core) :]
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

    Tokens follow the Penn Treebank: split at blanks; punctuation at either end is a token, and so
    are ``'s``, ``n't`` and the like; hyphens inside a word stay. Case is kept; a token that the
    embedding lacks is looked for in the other spellings of `load_embedding`. Tokens that are not
    found are left out of the mean; a sentence without a known word is an error.

    Parameters
    ----------
    embedding : Embedding, or anything `load_embedding` reads
        Whatever `bayesbias.load_embedding` takes. Of a file only the words of the sentences are
        read.
    name : str, optional
        Short name; by default "CBoW" and the name of the embedding.

    Returns
    -------
    Encoder
        ``provenance["embedding"]`` is that of the embedding, once a sentence was encoded. Its
        ``account`` holds ``missing`` (token -> number of sentences), ``matched`` (token -> spelling
        used) and ``lacking`` (sentence -> its tokens without a vector). Not cached.

    Raises
    ------
    InputError
        If the embedding is unknown, or (when encoding) no word of a sentence is found.

    Notes
    -----
    Source: May et al. (2019), appendix C, "CBoW"; their program used NLTK's word tokenizer, kept
    the case, and counted punctuation and repeated words in the mean.

    Examples
    --------
    >>> from bayesbias import encode
    >>> encoder = cbow_encoder({"this": [1.0, 0.0], "is": [0.0, 1.0], "love": [2.0, 5.0]})
    >>> encode(encoder, ["This is love."])
    array([[1., 2.]])
    >>> encoder.account(["This is love."])["lacking"]
    {'This is love.': ('.',)}
    """
    of = embedding.name if isinstance(embedding, Embedding) else ""
    if isinstance(embedding, str | os.PathLike):
        of = short_name(embedding)
    facts = {
        "tokenizer": "Penn Treebank rules: punctuation and clitics are tokens, hyphens stay",
        "casing": "kept; another spelling where the embedding lacks the token",
        "pooling": "mean of the vectors of the tokens found",
        "embedding": {"source": of},
    }

    last: list[Embedding] = []  # the vectors of the sentences that were read last

    @functools.lru_cache(maxsize=1)
    def read(sentences: tuple[str, ...]) -> tuple[dict[str, list[str]], Embedding]:
        """Split sentences into tokens, and read their vectors."""
        split = {sentence: cbow_tokens(sentence) for sentence in sentences}
        loaded = load_embedding(embedding, dict.fromkeys(itertools.chain(*split.values())))
        last[:] = [loaded]
        facts["embedding"] = {k: v for k, v in loaded.provenance.items() if k != "sha256_vectors"}
        return split, loaded

    def run(sentences: list[str]) -> np.ndarray:
        split, loaded = read(tuple(sentences))
        lacking, out = set(loaded.missing), []
        for sentence in sentences:
            known = [token for token in split[sentence] if token not in lacking]
            if not any(re.search(r"\w", token) for token in known):
                problem = f"expected a word with a vector, got {', '.join(split[sentence])}"
                raise InputError(problem, where=f"sentence {sentence!r}")
            out.append(loaded.vectors_of(known).mean(axis=0))
        return np.array(out)

    def look(sentences: list[str]) -> dict[str, Any]:
        split, loaded = read(tuple(sentences))
        gone = set(loaded.missing)
        lacking = {s: tuple(t for t in tokens if t in gone) for s, tokens in split.items()}
        counts = Counter(token for tokens in lacking.values() for token in dict.fromkeys(tokens))
        return {
            "missing": dict(counts.most_common()),
            "matched": loaded.matched,
            "lacking": {sentence: tokens for sentence, tokens in lacking.items() if tokens},
        }

    def look_up(words: list[str]) -> dict[str, Any]:
        """Return what is known about words of the sentences that were read last."""
        if not last:
            return {}
        loaded = last[-1]
        tokens = {token for word in words for token in cbow_tokens(word)}
        return {
            "misspelled": {t: w for t, w in loaded.misspelled.items() if t in tokens},
            "matched": {t: w for t, w in loaded.matched.items() if t in tokens},
            "notes": without_notes_of_words(loaded.notes),
        }

    name = name or f"CBoW {of}".strip()
    return BuiltEncoder(name, run, provenance=facts, batch_size=None, look=look, look_up=look_up)


def vectors_encoder(
    path: checks.FilePath, *, name: str | None = None, options: str = ""
) -> Encoder:
    """Return an encoder that looks sentences up in a file of vectors.

    The file holds n sentences and as many vectors of d numbers, in any format of
    `bayesbias.load_embedding`: arrays ``sentences`` and ``vectors`` in ``.npz`` or ``.h5``; columns
    of these names in ``.parquet``, ``.csv`` or ``.jsonl``. Pickled arrays of objects are refused.

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
        Sentences must be in the file letter for letter. Not cached.

    Raises
    ------
    InputError
        If the file is not as stated, or a sentence occurs twice with different vectors; when
        encoding, if sentences are not in the file.

    Examples
    --------
    >>> from bayesbias import encode
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "elmo.npz"
    >>> np.savez(path, sentences=np.array(["This is Katie.", "There is love."]), vectors=np.eye(2))
    >>> encode(path, ["There is love."])
    array([[0., 1.]])
    >>> folder.cleanup()
    """
    rows, short, read = read_rows(Path(checks.path(path, "path")).expanduser(), None)
    at: dict[str, int] = {}
    for row, sentence in enumerate(rows.words):
        first = at.setdefault(sentence, row)
        if first != row and not np.array_equal(rows.vectors[first], rows.vectors[row], True):
            problem = f"expected one vector for each sentence, got two for {sentence!r}"
            raise InputError(problem, where=f"{path}, row {row + 1}")

    def run(asked: list[str]) -> np.ndarray:
        if missing := [sentence for sentence in asked if sentence not in at]:
            lacking = f"{len(missing):,}: {some(map(repr, missing), 3)}"
            problem = f"expected vectors of all {len(asked):,} sentences, got none of {lacking}"
            hint = "encode them too; `bayesbias seat sentences TEST` prints all of a test"
            raise InputError(problem, where=path, hint=hint)
        return rows.vectors[[at[sentence] for sentence in asked]]

    facts = {
        "source": read["source"],
        "sha256": read["sha256"],
        "sentences": len(at),
        "dim": int(rows.vectors.shape[1]),
        "pooling": "as in the file",
    }
    return BuiltEncoder(name or short, run, options, facts, batch_size=None)
