"""Pickles, which can run code: refused, with the lines that convert them elsewhere."""

import re
from typing import Any

from bayesbias.core.errors import InputError
from bayesbias.core.files import guarded, opened
from bayesbias.embeddings.readers.common import Format, Head, Layout, Reading, Rows
from bayesbias.embeddings.readers.vocabulary import CONVERT, pickled_words


def refuse_pickle(reading: Reading) -> Rows:
    """Raise the error for a pickle."""
    path = reading.path
    with opened(path, unpack=True) as stream:
        start = stream.read(1 << 16)
    of_gensim, of_torch = b"gensim" in start, start.startswith(b"PK")
    if "vocab" in path.stem and not of_gensim:
        raise pickled_words(path)
    if of_torch:
        hint = (
            "load it where that is safe, and save it with np.savez('vectors.npz', words=..., "
            "vectors=...)"
        )
        raise InputError("is a pickle of torch, which can run code", where=path, hint=hint)
    file = path.name if len(path.name) < 30 else "FILE"
    if of_gensim:
        kind, of = ("Word2Vec", ".wv") if path.suffix == ".model" else ("KeyedVectors", "")
        code = (
            f"from gensim.models import {kind}; "
            f"{kind}.load('{file}'){of}.save_word2vec_format('vectors.txt')"
        )
    else:
        code = (
            f"import pickle, numpy as np; d = pickle.load(open('{file}', 'rb')); "
            "np.savez('vectors.npz', words=list(d), vectors=list(d.values()))"
        )
    problem, hint = "is a pickle, which can run code", f"{CONVERT}: {code}"
    raise InputError(problem, where=path, hint=hint)


def load_trusted(reading: Reading) -> Any:
    """Load what gensim pickled, for those who trust the file."""
    from gensim.models import KeyedVectors

    with opened(reading.path, unpack=True) as stream:
        of_gensim = b"gensim" in stream.read(1 << 16)
    if not of_gensim:
        refuse_pickle(reading)
    with guarded(reading.path, "gensim cannot load it"):  # a pickle can raise anything
        return KeyedVectors.load(str(reading.path), mmap="r")


def _recognize(head: Head) -> Layout | None:
    known = re.match(rb"\x80[\2-\5]|\(l|\(d|[\]}]q|c\w+\n\w+\n", head.start)
    of_torch = head.start.startswith(b"PK") and b"/data.pkl" in head.start[:4096]
    return Layout() if known or of_torch else None


FORMAT = Format("pickle", (".kv", ".model", ".pkl", ".pickle", ".pt"), _recognize, refuse_pickle)
