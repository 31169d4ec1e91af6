"""Vectors centred, standardized and without their leading components, by another way than the code takes."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.vectors import vectors

from bayesbias.core.errors import InputError
from bayesbias.embeddings import describe_vectors, postprocess
from bayesbias.embeddings.loading import load_embedding
from bayesbias.embeddings.postprocessing import POSTPROCESSINGS
from bayesbias.tables.distances import distance_table
from bayesbias.wordlists.listfile import load_wordlist

WORDS = [f"w{i}" for i in range(50)]


def held(d: int = 8):
    mapping = {w: v * np.arange(1, d + 1) + 3 for w, v in vectors(2, WORDS, d).items()}
    return load_embedding(mapping)


def test_each_way_by_hand() -> None:
    source = held()
    array = source.vectors
    assert postprocess(source, "center").vectors == pytest.approx(array - array.mean(axis=0))
    assert postprocess(source, "standardize").vectors == pytest.approx(
        (array - array.mean(axis=0)) / array.std(axis=0)
    )
    centred = array - array.mean(axis=0)
    for k in (1, 3):
        u, s, axes = np.linalg.svd(centred, full_matrices=False)
        s[:k] = 0  # all but the top
        moved = postprocess(source, "abtt", components=k)
        assert moved.vectors == pytest.approx(u * s @ axes, abs=1e-10)
        assert moved.provenance["postprocess"]["components"] == k
    told = postprocess(source, "abtt").provenance["postprocess"]
    share = np.linalg.svd(centred)[1][0] ** 2 / (centred**2).sum()
    assert told["explained"] == pytest.approx(share)


@pytest.mark.parametrize("method", POSTPROCESSINGS)
def test_the_background_is_all_of_the_source(method: str) -> None:
    source = held()
    some = load_embedding(source, WORDS[:4], postprocess=method)
    everything = load_embedding(source, postprocess=method)
    assert some.vectors == pytest.approx(everything.vectors[:4])
    assert some.provenance["postprocess"] == everything.provenance["postprocess"]
    assert (
        some.provenance["sha256_vectors"]
        != load_embedding(source, WORDS[:4]).provenance["sha256_vectors"]
    )
    assert some.name.endswith(f"({method})")


def test_an_open_vocabulary_stays_open() -> None:
    source = load_embedding("minilm-static", load_wordlist("weat1").words)
    moved = postprocess(source, "center")
    mean = source.vectors.astype(float).mean(axis=0)
    assert "schoolteacher" in moved
    assert moved["schoolteacher"] == pytest.approx(source["schoolteacher"] - mean)
    table, plain = (distance_table(each, "weat7") for each in (moved, source))
    assert table.provenance["embedding"]["postprocess"]["method"] == "center"
    assert np.abs(table.frame["distance"] - plain.frame["distance"]).max() > 1e-3


@pytest.mark.slow
def test_centred_vectors_have_no_common_direction(shared) -> None:
    vectors_ = load_embedding(shared / "data" / "vectors" / "glove6B_top2441_50d.txt")
    for method in POSTPROCESSINGS:
        assert abs(describe_vectors(postprocess(vectors_, method)).mean_cosine) < 0.002


def test_what_cannot_be_postprocessed() -> None:
    source = held()
    mean = {**dict(zip(WORDS, source.vectors, strict=True)), "mean": source.vectors.mean(axis=0)}
    for of, method, options, said in [
        (source, "centre", {}, "Did you mean 'center'"),
        (load_embedding(source, WORDS[:4]), "center", {}, "10 vectors or more"),
        (source, "center", {"components": 1}, "expected the method abtt"),
        (load_embedding(mean), "center", {}, "nothing left of 'mean'"),
    ]:
        with pytest.raises(InputError, match=said):
            postprocess(of, method, **options)
