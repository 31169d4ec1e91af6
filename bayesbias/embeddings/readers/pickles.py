"""Pickles, which can run code: refused, with the line that converts them elsewhere."""

import re
from pathlib import Path
from typing import Any

from bayesbias.core import InputError, files
from bayesbias.embeddings.readers.common import Format, Head, Layout, Reading, Rows

# What is pickled -> the line that converts it.
_CONVERT = {
    "words": "import json, pickle; words = pickle.load(open('{file}', 'rb')); "
    "json.dump(list(words), open('{stem}.json', 'w'))",
    "array": "import numpy as np; d = np.load('{file}', allow_pickle=True).item(); "
    "np.savez('vectors.npz', words=list(d), vectors=list(d.values()))",
    "dict": "import pickle, numpy as np; d = pickle.load(open('{file}', 'rb')); "
    "np.savez('vectors.npz', words=list(d), vectors=list(d.values()))",
    "frame": "import pandas as pd; pd.read_pickle('{file}').to_parquet('vectors.parquet')",
    "torch": "load it with torch.load, then np.savez('vectors.npz', words=..., vectors=...)",
    "KeyedVectors": "from gensim.models import KeyedVectors; "
    "KeyedVectors.load('{file}').save_word2vec_format('vectors.txt')",
    "Word2Vec": "from gensim.models import Word2Vec; "
    "Word2Vec.load('{file}').wv.save_word2vec_format('vectors.txt')",
}


def pickled(path: Path, kind: str) -> InputError:
    """Return the error for a pickle."""
    file = path.name if len(path.name) < 30 else "FILE"
    code = _CONVERT[kind].format(file=file, stem=Path(file).stem)
    problem = f"expected {'words' if kind == 'words' else 'vectors'}, got a pickle"
    hint = f"it can run code; convert it where that is safe: `{code}`"
    return InputError(problem, where=path, hint=hint)


def refuse_pickle(reading: Reading) -> Rows:
    """Raise the error for a pickle."""
    path = reading.path
    with files.opened(path, unpack=True) as stream:
        start = stream.read(1 << 16)
    kind = "words" if "vocab" in path.stem else "dict"
    if b"gensim" in start:
        kind = "Word2Vec" if path.suffix == ".model" else "KeyedVectors"
    elif b"pandas" in start:
        kind = "frame"
    raise pickled(path, "torch" if start.startswith(b"PK") else kind)


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
    known = re.match(rb"\x80[\2-\5]|\(l|\(d|[\]}]q|c\w+\n\w+\n", head.start)
    of_torch = head.start.startswith(b"PK") and b"/data.pkl" in head.start[:4096]
    return Layout() if known or of_torch else None


FORMAT = Format("pickle", (".kv", ".model", ".pkl", ".pickle", ".pt"), _recognize, refuse_pickle)
