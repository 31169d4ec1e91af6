"""Vectors computed elsewhere, as an encoder."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest
from helpers.encoders import SENTENCES

from bayesbias.core.errors import InputError
from bayesbias.encoders.averages import vectors_encoder
from bayesbias.encoders.encoding import encode
from bayesbias.encoders.loading import load_encoder


def saved(path, sentences, vectors):
    if path.suffix == ".npz":
        np.savez(path, sentences=np.array(sentences), vectors=vectors)
    elif path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"sentences": sentences, "vectors": list(vectors)}), path)
    else:
        import h5py

        with h5py.File(path, "w") as file:
            file["sentences"], file["vectors"] = sentences, vectors
    return path


FORMATS = [".npz", ".h5", ".hdf5", ".parquet"]


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_vectors_of_each_format(tmp_path, suffix, dtype):
    vectors = np.random.default_rng(2).standard_normal((10, 6)).astype(dtype)
    sentences = [*SENTENCES[:9], "Na\u00efve \u65e5\u672c."]
    path = saved(tmp_path / f"InferSent{suffix}", sentences, vectors)
    encoder = load_encoder(path)
    made = encode(encoder, [sentences[9], sentences[2], sentences[9]])
    np.testing.assert_array_equal(made, vectors[[9, 2, 9]])
    assert made.dtype == dtype
    assert encoder.name == "InferSent"
    facts = encoder.provenance
    assert (facts["sentences"], facts["dim"], len(facts["sha256"])) == (10, 6, 64)
    with pytest.raises(InputError, match=r"InferSent\..*.*got none of 2: 'This is love\.', 'x'"):
        encode(encoder, ["This is love.", sentences[0], "x"])


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.slow
def test_vectors_that_do_not_fit(tmp_path, suffix):
    path = saved(tmp_path / f"twice{suffix}", ["a", "b", "a"], np.eye(3))
    with pytest.raises(InputError, match="row 3: expected one vector"):
        vectors_encoder(path)
    same = saved(tmp_path / f"same{suffix}", ["a", "b", "a"], np.eye(3)[[0, 1, 0]])
    np.testing.assert_array_equal(encode(same, ["a", "b"]), np.eye(3)[:2])
    broken = saved(tmp_path / f"broken{suffix}", ["a", "b"], np.array([[1.0, 2], [np.nan, 1]]))
    np.testing.assert_array_equal(encode(broken, ["a"]), [[1, 2]])  # nobody asked for the other
    with pytest.raises(InputError, match=r"sentence 'b': .*NaN"):
        encode(broken, ["a", "b"])
    damaged = tmp_path / f"damaged{suffix}"
    damaged.write_bytes(path.read_bytes()[:200])
    with pytest.raises(InputError, match=rf"damaged\{suffix}: expected .*got an error"):
        vectors_encoder(damaged)


def test_pickles_are_refused(tmp_path):
    witness = tmp_path / "witness"

    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(witness),)

    path = tmp_path / "evil.npz"
    np.savez(path, sentences=np.array([Evil(), "a"], dtype=object), vectors=np.eye(2))
    with pytest.raises(InputError, match=r"evil\.npz: .*holds a pickle"):
        vectors_encoder(path)
    assert not witness.exists()


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_vectors_in_text(tmp_path, suffix):
    path = tmp_path / f"api{suffix}"
    rows = {"This is Katie, a nurse.": [1.0, 2.0], "There is love.": [3.0, 4.0]}
    frame = pd.DataFrame({"sentence": list(rows), "vector": list(rows.values())})
    if suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_json(path, orient="records", lines=True)
    np.testing.assert_array_equal(encode(path, list(rows)[::-1]), [[3, 4], [1, 2]])
