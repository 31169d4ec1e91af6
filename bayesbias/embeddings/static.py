"""Static models: texts as means of token vectors, without torch or a network.

``minilm-static`` is in the package; folders of model2vec and sentence-transformers are read.
"""

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import data_dir, guarded, read_toml, sha256_file
from bayesbias.core.formatting import some
from bayesbias.embeddings.embedding import Embedding, digest_of_vectors
from bayesbias.embeddings.spelling import notes_of_shared_vectors

__all__ = ["list_embeddings", "static_vectors"]

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
    return sorted(path.parent.name for path in data_dir("embeddings").glob("*/MODEL.toml"))


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
    vectors, empty = shipped_model().vectors(texts)
    if empty:
        found, valid = some(map(repr, empty)), "text in a script that the English tokenizer knows"
        problem = "no token of some texts is known"
        raise InputError(problem, where=STATIC_EMBEDDING, found=found, valid=valid)
    return vectors


@dataclass(frozen=True, eq=False)
class StaticModel:
    """A tokenizer and a vector for each token; texts are means of token vectors.

    Attributes
    ----------
    name : str
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

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text, without unknown tokens."""
        model = json.loads(self.tokenizer.to_str())["model"]
        unknown = self.tokenizer.token_to_id(model.get("unk_token") or "[UNK]")
        plain = [text.replace("_", " ") for text in texts]
        if len(plain) < 2000:  # a batch starts threads, which later forks would complain about
            encoded = [self.tokenizer.encode(text, add_special_tokens=False) for text in plain]
        else:
            encoded = self.tokenizer.encode_batch_fast(plain, add_special_tokens=False)
        return [[i for i in one.ids if i != unknown] for one in encoded]

    def vectors(self, texts: Sequence[str]) -> tuple[np.ndarray, list[str]]:
        """Return vectors of texts, and the texts without a known token (NaN)."""
        ids = self.tokens(texts)
        out = np.full((len(ids), self.rows.shape[1]), np.nan, dtype=np.float32)
        full = np.array([i for i, tokens in enumerate(ids) if tokens], dtype=int)
        for first in range(0, len(full), 4096):  # the tokens of a million sentences would not fit
            part = full[first : first + 4096]
            flat = np.concatenate([np.asarray(ids[i]) for i in part])
            lengths = np.array([len(ids[i]) for i in part])
            starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
            scaled = self.rows[self.row_of[flat]] * self.scales[flat, None]
            out[part] = np.add.reduceat(scaled, starts, axis=0) / lengths[:, None]
        return out, [text for text, tokens in zip(texts, ids, strict=True) if not tokens]

    def embedding(self, asked: Sequence[str] | None = None) -> Embedding:
        """Return an embedding of some words, or of all whole words.

        Its vocabulary is open: other words are built from tokens. Words without a known token are
        missing.
        """
        if asked is None:
            pieces = (token.lstrip("\u2581\u0120") for token in self.tokenizer.get_vocab())
            asked = sorted({piece for piece in pieces if piece.isalpha() and len(piece) > 1})
        normalizer = self.tokenizer.normalizer
        spell = normalizer.normalize_str if normalizer else str
        spelt = {word: spell(word.replace("_", " ")).strip(" \u2581") for word in asked}
        ids = dict(zip(asked, self.tokens(asked), strict=True))
        known = [word for word in asked if ids[word]]
        vectors, _ = self.vectors(known)
        matched = {word: spelt[word] for word in known if spelt[word] != word}
        notes = notes_of_shared_vectors({word: spelt[word] for word in known})
        tokens = {w: self.tokenizer.encode(spelt[w], add_special_tokens=False) for w in known}
        if partly := [word for word in known if len(tokens[word].ids) > len(ids[word])]:
            notes.append(f"tokens outside the vocabulary were left out of {some(partly, 4)}")
        return Embedding(
            name=self.name,
            words=tuple(known),
            vectors=vectors,
            provenance={
                **self.facts,
                "dim": int(vectors.shape[1]),
                "count": len(self.rows),
                "sha256_vectors": digest_of_vectors((spelt[word] for word in known), vectors),
            },
            matched=matched,
            rules=dict.fromkeys(matched, "as the tokenizer normalizes it"),
            composed=tuple(word for word in known if len(ids[word]) > 1),
            missing=tuple(word for word in asked if not ids[word]),
            notes=tuple(notes),
            lookup=self.embedding,
        )


@functools.cache
def shipped_model() -> StaticModel:
    """Return the model of ``minilm-static``."""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    folder = data_dir("embeddings") / STATIC_EMBEDDING
    tensors, card = load_file(folder / "model.safetensors"), read_toml(folder / "MODEL.toml")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    rows, scales = tensors["vectors"], tensors["scales"]
    facts = {"source": STATIC_EMBEDDING, "sha256": card["sha256"]["model.safetensors"]}
    facts |= {"licence": card["licence"], "made_from": card["source"], "format": STATIC_FORMAT}
    return StaticModel(STATIC_EMBEDDING, tokenizer, rows, scales, np.arange(len(rows)), facts)


def static_model_at(path: Path, name: str | None) -> StaticModel | None:
    """Return the static model in a folder, or None.

    Parameters
    ----------
    path : Path
        The folder, or its ``model.safetensors``.
    name : str or None
        The name of the model; by default that of the folder.
    """
    folders = [path, *path.glob("*_StaticEmbedding")] if path.is_dir() else [path.parent]
    folder = next((f for f in folders if (f / "tokenizer.json").is_file()), None)
    file = path if path.is_file() else (folder or path) / "model.safetensors"
    if folder is None or file.suffix != ".safetensors" or not file.is_file():
        return None
    from safetensors import safe_open
    from tokenizers import Tokenizer

    with (
        guarded(file, valid="a static model of tokens"),
        safe_open(file, framework="numpy") as held,
    ):
        keys = [key for key in _TOKEN_VECTORS if key in held.keys()]  # noqa: SIM118
        if not keys:
            return None
        rows = held.get_tensor(keys[0])
        more = {key: held.get_tensor(key) for key in ("weights", "mapping") if key in held.keys()}  # noqa: SIM118
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    size = tokenizer.get_vocab_size()
    row_of = more.get("mapping", np.arange(size))
    scales = more.get("weights", np.ones(size, rows.dtype if rows.dtype.kind == "f" else "f4"))
    if rows.ndim != 2 or len(row_of) < size or row_of.max() >= len(rows):
        found = f"{size:,} tokens and an array of shape {rows.shape}"
        raise InputError("expected a vector for each token", where=file, found=found)
    facts = {"source": str(file), "format": STATIC_FORMAT, "sha256": sha256_file(file)}
    called = name or (path if path.is_dir() else path.parent).resolve().name
    return StaticModel(called, tokenizer, rows, scales, row_of, facts)
