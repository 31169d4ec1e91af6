"""Static models: texts as means of token vectors, without torch or a network.

``minilm-static`` is in the package; folders of model2vec and sentence-transformers are read.
"""

import functools
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.core import InputError, checks, files, some
from bayesbias.embeddings.embedding import Embedding, embedding_of
from bayesbias.embeddings.spelling import KnownWords

STATIC_FORMAT = "static tokens"  # how provenance names the vectors that are shipped
STATIC_EMBEDDING = "minilm-static"
_TOKEN_VECTORS = ("embeddings", "embedding.weight", "embeddings.weight")


def list_embeddings() -> list[str]:
    """Return the names of the embeddings in the package, which need no network.

    Examples
    --------
    >>> list_embeddings()
    ['minilm-static']
    """
    return sorted(path.parent.name for path in files.data_dir("embeddings").glob("*/MODEL.toml"))


def static_vectors(texts: Sequence[str]) -> np.ndarray:
    """Return ``minilm-static`` vectors of texts, means of token vectors.

    Unknown tokens are left out; underscores count as spaces; the tokenizer ignores case and
    accents.

    Parameters
    ----------
    texts : sequence of str, length n

    Returns
    -------
    ndarray, shape (n, 128), float32
        Not normalized.

    Raises
    ------
    InputError
        If a text has no known token.

    Examples
    --------
    >>> static_vectors(["a nurse", "The nurse is a doctor."]).shape
    (2, 128)
    """
    texts = checks.words(texts, "texts")
    tokens, _ = shipped_model().tokens(texts)
    if empty := [text for text, ids in zip(texts, tokens, strict=True) if not ids]:
        problem = f"expected words that its English tokenizer knows, got {some(map(repr, empty))}"
        raise InputError(problem, where=STATIC_EMBEDDING)
    return shipped_model().means(tokens)


@dataclass(frozen=True, eq=False)
class StaticModel:
    """A tokenizer and a vector for each token; texts are means of token vectors.

    Attributes
    ----------
    name : str
        The model.
    tokenizer : tokenizers.Tokenizer
    rows : ndarray, shape (n, d)
    scales : ndarray, shape (tokens,)
        What the row of a token is multiplied by.
    row_of : ndarray, shape (tokens,)
        The row of each token.
    facts : dict
        ``source``, ``format`` and ``sha256``, for the provenance.
    """

    name: str
    tokenizer: Any
    rows: np.ndarray
    scales: np.ndarray
    row_of: np.ndarray
    facts: dict[str, Any]

    @functools.cached_property
    def _unknown(self) -> int | None:
        model = json.loads(self.tokenizer.to_str())["model"]
        return self.tokenizer.token_to_id(model.get("unk_token") or "[UNK]")

    @functools.cached_property
    def whole_words(self) -> tuple[str, ...]:
        """The words of one token, in the order of the vocabulary."""
        vocabulary = self.tokenizer.get_vocab()
        pieces = (token.lstrip("\u2581\u0120") for token in sorted(vocabulary, key=vocabulary.get))
        words = (piece for piece in pieces if piece.isalpha() and len(piece) > 1)
        return tuple(dict.fromkeys(words))

    @functools.cached_property
    def _known(self) -> KnownWords:
        return KnownWords(self.whole_words)

    def misspelled(self, words: Sequence[str]) -> dict[str, str]:
        """Return the words of several tokens that may be misspelled, and what they may stand for."""
        tokens, _ = self.tokens(words)
        composed = [word for word, ids in zip(words, tokens, strict=True) if len(ids) > 1]
        return self._known.misspelled(composed)

    def tokens(self, texts: Sequence[str]) -> tuple[list[list[int]], list[str]]:
        """Return the known tokens of each text, and the texts with others."""
        unknown = self._unknown
        plain = (text.replace("_", " ") for text in texts)
        every = [self.tokenizer.encode(text, add_special_tokens=False).ids for text in plain]
        partly = [text for text, ids in zip(texts, every, strict=True) if unknown in ids]
        return [[i for i in ids if i != unknown] for ids in every], partly

    def means(self, ids: Sequence[Sequence[int]]) -> np.ndarray:
        """Return the mean vectors of lists of tokens."""
        out = np.empty((len(ids), self.rows.shape[1]), dtype=np.float32)
        for first in range(0, len(ids), 4096):  # the tokens of a million sentences would not fit
            part = ids[first : first + 4096]
            lengths, flat = np.array([len(tokens) for tokens in part]), np.concatenate(part)
            starts = np.cumsum(lengths) - lengths
            scaled = self.rows[self.row_of[flat]] * self.scales[flat, None]
            out[first : first + 4096] = np.add.reduceat(scaled, starts) / lengths[:, None]
        return out

    def embedding(self, asked: Sequence[str] | None = None) -> Embedding:
        """Return an embedding of some words, or of all whole words.

        Its vocabulary is open: other words are built from tokens. Words without a known token are
        missing.
        """
        if asked is None:
            asked = sorted(self.whole_words)
        normalizer = self.tokenizer.normalizer
        spell = normalizer.normalize_str if normalizer else str
        tokens, partly = self.tokens(asked)
        ids = {word: held for word, held in zip(asked, tokens, strict=True) if held}
        spelt = {word: spell(word.replace("_", " ")).strip(" \u2581") for word in ids}
        notes = []
        if partly := [word for word in partly if word in ids]:
            notes = [f"tokens outside the vocabulary were left out of {some(partly, 4)}"]
        composed = tuple(word for word, held in ids.items() if len(held) > 1)
        return embedding_of(
            self.name,
            spelt,
            self.means(list(ids.values())),
            {**self.facts, "count": len(self.rows)},
            asked,
            notes,
            composed=composed,
            misspelled=self._known.misspelled(composed) if composed else {},
            lookup=self.embedding,
        )


@functools.cache
def shipped_model() -> StaticModel:
    """Return the model of ``minilm-static``."""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    folder = files.data_dir("embeddings") / STATIC_EMBEDDING
    tensors, card = load_file(folder / "model.safetensors"), files.read_toml(folder / "MODEL.toml")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    rows, scales = tensors["vectors"], tensors["scales"]
    facts = {"source": STATIC_EMBEDDING, "sha256": card["sha256"]["model.safetensors"]}
    facts |= {"licence": card["licence"], "made_from": card["source"], "format": STATIC_FORMAT}
    return StaticModel(STATIC_EMBEDDING, tokenizer, rows, scales, np.arange(len(rows)), facts)


def static_model(x: Any, name: str | None) -> StaticModel | None:
    """Return the model of a shipped name, of a folder, or of its ``model.safetensors``, or None."""
    if isinstance(x, str) and x in list_embeddings():
        return shipped_model()
    if not isinstance(x, str | os.PathLike) or not (path := Path(x).expanduser()).exists():
        return None
    folders = [path, *path.glob("*_StaticEmbedding")] if path.is_dir() else [path.parent]
    folder = next((f for f in folders if (f / "tokenizer.json").is_file()), None)
    file = path if path.is_file() else (folder or path) / "model.safetensors"
    if folder is None or file.suffix != ".safetensors" or not file.is_file():
        return None
    from safetensors import safe_open
    from tokenizers import Tokenizer

    with (
        files.guarded(file, "a static model of tokens"),
        safe_open(file, framework="numpy") as held,
    ):
        keys = set(held.keys())
        if not (named := [key for key in _TOKEN_VECTORS if key in keys]):
            return None
        rows = held.get_tensor(named[0])
        more = {key: held.get_tensor(key) for key in keys & {"weights", "mapping"}}
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    size = tokenizer.get_vocab_size()
    row_of = more.get("mapping", np.arange(size))
    scales = more.get("weights", np.ones(size, rows.dtype if rows.dtype.kind == "f" else "f4"))
    if rows.ndim != 2 or len(row_of) < size or row_of.max() >= len(rows):
        found = f"{size:,} tokens and an array of shape {rows.shape}"
        raise InputError(f"expected a vector for each token, got {found}", where=file)
    facts = {"source": str(file), "format": STATIC_FORMAT, "sha256": files.sha256_file(file)}
    called = name or (path if path.is_dir() else path.parent).resolve().name
    return StaticModel(called, tokenizer, rows, scales, row_of, facts)
