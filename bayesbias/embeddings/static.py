"""The static vectors in the package, ``minilm-static``: texts as means of token vectors.

They need neither torch nor a network.
"""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import data_dir, read_toml
from bayesbias.core.formatting import some
from bayesbias.embeddings.embedding import Embedding, digest_of_vectors
from bayesbias.embeddings.spelling import notes_of_shared_vectors

__all__ = ["list_embeddings", "static_vectors"]

STATIC_FORMAT = "static tokens"  # how provenance names the vectors that are shipped
STATIC_EMBEDDING = "minilm-static"


def list_embeddings() -> list[str]:
    """Return the names of the embeddings in the package, which need no network.

    Examples
    --------
    >>> list_embeddings()
    ['minilm-static']
    """
    return sorted(path.parent.name for path in data_dir("embeddings").glob("*/MODEL.toml"))


def static_vectors(texts: Sequence[str]) -> np.ndarray:
    """Return ``minilm-static`` vectors of texts: the means of their token vectors.

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
    ids = static_tokens(texts)
    empty = [text for text, tokens in zip(texts, ids, strict=True) if not tokens]
    if empty:
        found, valid = some(map(repr, empty)), "text in a script that the English tokenizer knows"
        problem = "no token of some texts is known"
        raise InputError(problem, where=STATIC_EMBEDDING, found=found, valid=valid)
    _, rows, scales, _ = static_model()
    out = np.empty((len(ids), rows.shape[1]), dtype=np.float32)
    for first in range(0, len(ids), 4096):  # the tokens of a million sentences would not fit memory
        part = ids[first : first + 4096]
        flat = np.concatenate([np.asarray(tokens) for tokens in part])
        lengths = np.array([len(tokens) for tokens in part])
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        sums = np.add.reduceat(rows[flat] * scales[flat, None], starts, axis=0)
        out[first : first + 4096] = sums / lengths[:, None]
    return out


@functools.cache
def static_model() -> tuple[Any, np.ndarray, np.ndarray, dict[str, Any]]:
    """Return tokenizer, int8 rows, scales and card."""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    folder = data_dir("embeddings") / STATIC_EMBEDDING
    tensors = load_file(folder / "model.safetensors")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    return tokenizer, tensors["vectors"], tensors["scales"], read_toml(folder / "MODEL.toml")


def static_tokens(texts: Sequence[str]) -> list[list[int]]:
    """Return the token ids of each text, without unknown tokens."""
    tokenizer, *_ = static_model()
    unknown = tokenizer.token_to_id("[UNK]")
    plain = [text.replace("_", " ") for text in texts]
    if len(plain) < 2000:  # a batch starts threads, which later forks would complain about
        encoded = [tokenizer.encode(text, add_special_tokens=False) for text in plain]
    else:
        encoded = tokenizer.encode_batch_fast(plain, add_special_tokens=False)
    return [[i for i in one.ids if i != unknown] for one in encoded]


def static_embedding(asked: Sequence[str] | None = None) -> Embedding:
    """Return ``minilm-static`` as an embedding of some words, or of all whole words.

    Its vocabulary is open: other words are built from tokens. Words without a known token are
    missing.
    """
    tokenizer, rows, _, card = static_model()
    if asked is None:
        asked = sorted(t for t in tokenizer.get_vocab() if t.isalpha() and len(t) > 1)
    spell = tokenizer.normalizer.normalize_str
    spelt = {word: spell(word.replace("_", " ")).strip() for word in asked}
    ids = dict(zip(asked, static_tokens(asked), strict=True))
    known = [word for word in asked if ids[word]]
    vectors = static_vectors(known)
    matched = {word: spelt[word] for word in known if spelt[word] != word}
    notes = notes_of_shared_vectors({word: spelt[word] for word in known})
    tokens = {w: tokenizer.encode(spelt[w], add_special_tokens=False).tokens for w in known}
    if partly := [word for word in known if "[UNK]" in tokens[word]]:
        notes.append(f"tokens outside the vocabulary were left out of {some(partly, 4)}")
    return Embedding(
        name=STATIC_EMBEDDING,
        words=tuple(known),
        vectors=vectors,
        provenance={
            "source": STATIC_EMBEDDING,
            "format": STATIC_FORMAT,
            "sha256": card["sha256"]["model.safetensors"],
            "licence": card["licence"],
            "made_from": card["source"],
            "dim": int(vectors.shape[1]),
            "count": len(rows),
            "sha256_vectors": digest_of_vectors((spelt[word] for word in known), vectors),
        },
        matched=matched,
        rules=dict.fromkeys(matched, "as the tokenizer normalizes it"),
        composed=tuple(word for word in known if len(ids[word]) > 1),
        missing=tuple(word for word in asked if not ids[word]),
        notes=tuple(notes),
        lookup=static_embedding,
    )
