"""Pickles, which can run code: refused, with the line that converts them elsewhere."""

import re
from pathlib import Path
from typing import Any

from bayesbias.core import InputError, files
from bayesbias.embeddings.readers.common import Format, Head, Layout, Reading, Rows

_LOADED = "import pickle, numpy as np; d = pickle.load(open({file}, 'rb')); "
# What is pickled -> the line that converts it.
_CONVERT = {
    "words": "import json, pickle; words = pickle.load(open({file}, 'rb')); "
    "json.dump(list(words), open({stem}, 'w'))",
    "array": "import numpy as np; d = np.load({file}, allow_pickle=True).item(); "
    "np.savez('vectors.npz', words=list(d), vectors=list(d.values()))",
    "dict": f"{_LOADED}np.savez('vectors.npz', words=list(d), vectors=list(d.values()))",
    "pairs": f"{_LOADED}np.savez('vectors.npz', words=[w for w, v in d], vectors=[v for w, v in d])",
    "tuple": f"{_LOADED}np.savez('vectors.npz', words=list(d[0]), vectors=d[1])",
    "matrix": f"{_LOADED}np.save('vectors.npy', d)",
    "frame": "import pandas as pd; pd.read_pickle({file}).to_parquet('vectors.parquet')",
    "torch": "load it with torch.load, then np.savez('vectors.npz', words=..., vectors=...)",
    "KeyedVectors": "from gensim.models import KeyedVectors; "
    "KeyedVectors.load({file}).save_word2vec_format('vectors.txt')",
    **{
        name: f"from gensim.models import {name}; "
        f"{name}.load({{file}}).wv.save_word2vec_format('vectors.txt')"
        for name in ("Word2Vec", "FastText", "Doc2Vec")
    },
}
_TAIL = 16  # bytes at the end of a pickle that tell its type
_TUPLE = re.compile(rb"[\x86t](?:q.|r....|p\d+\n|\x94)?\.\Z", re.DOTALL)
_ARRAY = re.compile(rb"\A.{0,32}numpy.{1,40}?(_reconstruct|_frombuffer)", re.DOTALL)


def pickled(path: Path, kind: str) -> InputError:
    """Return the error for a pickle, with the line that converts it."""
    stem = str(path.with_suffix(".json"))
    code = _CONVERT[kind].format(file=repr(str(path)), stem=repr(stem))
    problem = f"expected {'words' if kind == 'words' else 'vectors'}, got a pickle"
    hint = f"it can run code; convert it where that is safe: `{code}`"
    return InputError(problem, where=path, hint=hint)


def refuse_pickle(reading: Reading) -> Rows:
    """Raise the error for a pickle."""
    path = reading.path
    with files.opened(path, unpack=True) as stream:
        start = stream.read(1 << 16)
    raise pickled(path, _kind_of(path, start))


def _kind_of(path: Path, start: bytes) -> str:
    """Return what is pickled, by the bytes at both ends; nothing is run."""
    if start.startswith(b"PK"):
        return "torch"
    if b"gensim" in start:
        models = (name for name in ("FastText", "Doc2Vec") if name.encode() in start[:400])
        of_model = "Word2Vec" if path.suffix == ".model" else "KeyedVectors"
        return next(models, of_model)
    if b"pandas" in start:
        return "frame"
    if "vocab" in path.stem:
        return "words"
    # Behind the numbers of protocol and frame stands what is made first.
    content = re.sub(rb"\A\x80.(\x95.{8})?", b"", start, flags=re.DOTALL)
    with open(path, "rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL))
        end = file.read()
    if _TUPLE.search(end):
        return "tuple"
    if content.startswith((b"c", b"\x8c")) and _ARRAY.match(content):
        return "matrix"
    return "pairs" if content.startswith((b"]", b"(l")) else "dict"


def load_trusted(reading: Reading) -> Any:
    """Load what gensim pickled, for those who trust the file."""
    from gensim.models import KeyedVectors

    with files.opened(reading.path, unpack=True) as stream:
        of_gensim = b"gensim" in stream.read(1 << 16)
    if not of_gensim:
        refuse_pickle(reading)
    with files.guarded(reading.path, "vectors that gensim can load"):  # a pickle can raise anything
        return KeyedVectors.load(str(reading.path), mmap="r")


def _recognize(head: Head) -> Layout | None:
    known = re.match(rb"\x80[\2-\5]|\({1,2}l|\({1,2}d|[\]}]q|c\w+\n\w+\n", head.start)
    of_torch = head.start.startswith(b"PK") and b"/data.pkl" in head.start[:4096]
    return Layout() if known or of_torch else None


FORMAT = Format("pickle", (".kv", ".model", ".pkl", ".pickle", ".pt"), _recognize, refuse_pickle)
