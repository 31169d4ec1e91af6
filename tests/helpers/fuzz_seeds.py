"""Whole files of each binary kind, small, and how each is read: what fuzzers begin with."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

WORDS = ["rabbi", "priest", "imam", "naïve", "New_York", "日本", "kind", "greedy"]
Target = tuple[str, Callable[[Path], Any], list[bytes]]


class Evil:
    """What makes a folder when it is unpickled."""

    def __init__(self, witness: Path) -> None:
        self.witness = witness

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.witness),)


def witness_in(folder: Path) -> Path:
    """Return the folder that must not be there: it is made by pickles that run."""
    return folder / "a-pickle-ran"


def _vectors(rows: int = len(WORDS), dim: int = 6) -> np.ndarray:
    return np.random.default_rng(3).standard_normal((rows, dim)).astype("<f4")


def _embedding(path: Path) -> Any:
    from bayesbias.embeddings.loading import load_embedding

    load_embedding(path, ["rabbi", "imam", "nowhere"], index=False)
    return load_embedding(path, index=False)


def word2vec_text(folder: Path) -> Target:
    rows = [f"{word} {' '.join(map(str, row.tolist()))}" for word, row in zip(WORDS, _vectors(), strict=True)]
    body = "\n".join(rows) + "\n"
    text = f"{len(WORDS)} 6\n{body}".encode()
    return ".txt", _embedding, [text, body.encode(), gzip.compress(text)]


def vectors_table(folder: Path) -> Target:
    names = ",".join(f"d{i}" for i in range(6))
    rows = [
        f'"{word}",{",".join(map(str, row.tolist()))}' for word, row in zip(WORDS, _vectors(), strict=True)
    ]
    text = f"word,{names}\n" + "\n".join(rows) + "\n"
    return ".csv", _embedding, [text.encode(), text.replace(",", "\t").encode(), gzip.compress(text.encode())]


def pair_table(folder: Path) -> Target:
    """A table of distances as CSV, packed and not, and as Parquet."""
    from bayesbias.tables.reading import load_distances
    from helpers.fits import pairs

    text = pairs().to_csv(index=False).encode()
    quoted = pairs().to_csv(index=False, quoting=1, lineterminator="\r\n").encode("utf-8-sig")
    return (
        ".csv",
        load_distances,
        [text, quoted, gzip.compress(text), bz2.compress(text), lzma.compress(text)],
    )


def pair_parquet(folder: Path) -> Target:
    from bayesbias.tables.reading import load_distances
    from helpers.fits import pairs

    stream = io.BytesIO()
    pairs().to_parquet(stream, index=False)
    return ".parquet", load_distances, [stream.getvalue()]


def word2vec_binary(folder: Path) -> Target:
    def of(dim: int) -> bytes:
        pairs = zip(WORDS, _vectors(dim=dim), strict=True)
        return b"%d %d\n" % (len(WORDS), dim) + b"".join(
            w.encode() + b" " + row.tobytes() for w, row in pairs
        )

    return ".bin", _embedding, [of(6), of(100), gzip.compress(of(6))]


def fasttext(folder: Path) -> Target:
    bucket, dim, count = 20, 5, len(WORDS)
    header = struct.pack("<2i12id", 793712314, 12, dim, 5, 5, 1, 5, 1, 1, 2, bucket, 3, 6, 100, 1e-4)
    header += struct.pack("<3i2q", count, count, 0, 1000, -1)
    words = b"".join(word.encode() + b"\0" + struct.pack("<qb", 5, 0) for word in WORDS)
    matrix = b"\0" + struct.pack("<2q", count + bucket, dim) + _vectors(count + bucket, dim).tobytes()
    out = b"\0" + struct.pack("<2q", count, dim) + _vectors(count, dim).tobytes()
    whole = header + words + matrix + out
    return ".bin", _embedding, [whole, whole, gzip.compress(whole)]


def npz(folder: Path) -> Target:
    evil = np.array([Evil(witness_in(folder)), "a"], dtype=object)
    seeds = []
    for save, words, vectors in (
        (np.savez, np.array(WORDS), _vectors()),
        (np.savez_compressed, np.array(WORDS), np.asfortranarray(_vectors().astype("<f8"))),
        (np.savez, evil, _vectors(2)),
    ):
        stream = io.BytesIO()
        save(stream, words=words, vectors=vectors)
        seeds.append(stream.getvalue())
    return ".npz", _embedding, seeds


def safetensors(folder: Path) -> Target:
    from safetensors.numpy import save

    content = save({"vectors": _vectors()}, metadata={"words": json.dumps(WORDS)})
    return ".safetensors", _embedding, [content]


def pickles(folder: Path) -> Target:
    """Files of gensim's endings, and pickles under every other."""
    evil = pickle.dumps(Evil(witness_in(folder)))
    return (
        ".kv",
        _embedding,
        [evil, pickle.dumps({"vectors": Evil(witness_in(folder))}, protocol=2), gzip.compress(evil)],
    )


def _sentences(path: Path) -> Any:
    from bayesbias.encoders.precomputed import vectors_encoder

    return vectors_encoder(path)


def sentences_npz(folder: Path) -> Target:
    evil = np.array([Evil(witness_in(folder)), "a"], dtype=object)
    seeds = []
    for sentences in (np.array(WORDS), evil):
        stream = io.BytesIO()
        np.savez(stream, sentences=sentences, vectors=_vectors(len(sentences)))
        seeds.append(stream.getvalue())
    stream = io.BytesIO()
    np.save(stream, evil, allow_pickle=True)
    return ".npz", _sentences, [*seeds, stream.getvalue()]


def sentences_parquet(folder: Path) -> Target:
    import pyarrow as pa
    import pyarrow.parquet as pq

    seeds = []
    for options in ({}, {"compression": "zstd", "write_page_checksum": True}, {"use_dictionary": False}):
        stream = io.BytesIO()
        pq.write_table(pa.table({"sentences": WORDS, "vectors": list(_vectors())}), stream, **options)
        seeds.append(stream.getvalue())
    return ".parquet", _sentences, seeds


def sentences_hdf5(folder: Path) -> Target:
    import h5py

    seeds = []
    for number, options in enumerate(({}, {"compression": "gzip", "chunks": True})):
        path = folder / f"whole{number}.h5"
        with h5py.File(path, "w") as file:
            file["sentences"] = WORDS
            file.create_dataset("vectors", data=_vectors(), **options)
        seeds.append(path.read_bytes())
    return ".h5", _sentences, seeds


def fit_netcdf(folder: Path) -> Target:
    """A fit as earlier versions wrote it, without a seal: it is read in a process of its own."""
    import xarray as xr

    from helpers.fits import made_up, pairs

    path = folder / "whole.nc"
    made_up(pairs(), values={"c": 0.9}).save(path)
    with xr.open_datatree(path, engine="h5netcdf") as opened:
        idata = opened.load()
    del idata.attrs["bayesbias_sealed"]
    return ".nc", _fit, [bytes(idata.to_netcdf(engine="h5netcdf"))]


def _fit(path: Path) -> Any:
    from bayesbias.inference.fitting import load_fit

    return load_fit(path)


def index_of_words(folder: Path) -> Target:
    """The index of a file of vectors, in the user's cache."""
    from bayesbias.embeddings.file_index import index_path
    from bayesbias.embeddings.loading import load_embedding

    suffix, _, (content, *_) = word2vec_binary(folder)
    path = folder / f"indexed{suffix}"
    path.write_bytes(content)
    expected = load_embedding(path, WORDS, index=True)
    assert load_embedding(path, WORDS).provenance["index"] == "used"

    def read(damaged: Path) -> None:
        index_path(path).write_bytes(damaged.read_bytes())
        found = load_embedding(path, WORDS)
        if found.words != expected.words or not np.array_equal(found.vectors, expected.vectors):
            raise AssertionError("another vector than that of the file")

    return ".index", read, [index_path(path).read_bytes()]


READERS: dict[str, Callable[[Path], Target]] = {
    "word2vec-text": word2vec_text,
    "vectors-table": vectors_table,
    "pair-table": pair_table,
    "pair-parquet": pair_parquet,
    "word2vec-binary": word2vec_binary,
    "fasttext": fasttext,
    "npz": npz,
    "safetensors": safetensors,
    "pickles": pickles,
    "sentences-npz": sentences_npz,
    "sentences-parquet": sentences_parquet,
}
IN_A_CHILD: dict[str, Callable[[Path], Target]] = {"sentences-hdf5": sentences_hdf5, "fit-netcdf": fit_netcdf}
