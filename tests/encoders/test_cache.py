"""What is kept of sentences that were encoded."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.encoders import SENTENCES, Fake, kept_in, vector_of

from bayesbias.core.errors import InputError
from bayesbias.encoders.encoder import function_encoder
from bayesbias.encoders.encoding import encode


def test_kept_vectors_come_back_bit_by_bit_and_nothing_is_asked_again(own_cache):
    rng = np.random.default_rng(5)
    table = {s: rng.standard_normal(7).astype(np.float32) for s in SENTENCES}
    first = encode(
        function_encoder(lambda s: [table[x] for x in s], name="t", version="1"), SENTENCES
    )

    def never(sentences):
        raise AssertionError(sentences)

    second = encode(function_encoder(never, name="t", version="1"), SENTENCES[::-1])
    np.testing.assert_array_equal(second, first[::-1])
    assert (first.dtype, second.dtype) == (np.float32, np.float32)
    assert kept_in(own_cache) == 10


def test_another_version_name_or_option_has_vectors_of_its_own(own_cache):
    for change in ({}, {"version": "2"}, {"name": "u"}, {"options": "pooling=cls"}):
        fake = Fake()
        settings = {"name": "t", "version": "1"} | change
        encode(function_encoder(fake.encode, **settings), SENTENCES)
        assert len(fake.asked) == 1
    assert kept_in(own_cache) == 40


def test_a_bare_callable_is_not_kept(own_cache, tmp_path):
    first, second = Fake(), Fake()
    encode(first.encode, SENTENCES)
    encode(second.encode, SENTENCES)
    assert len(first.asked) == len(second.asked) == 1
    assert not own_cache.exists()
    with pytest.raises(InputError, match=r"'encode': expected a version.*version="):
        encode(first.encode, SENTENCES, cache=tmp_path / "mine.sqlite")


def test_a_function_changed_under_its_version_is_found(own_cache):
    encode(function_encoder(Fake().encode, name="t", version="1"), SENTENCES[:5])
    changed = function_encoder(lambda s: [vector_of(x)[::-1] for x in s], name="t", version="1")
    with pytest.raises(InputError, match=r"expected the vector in the cache.*a new version"):
        encode(changed, SENTENCES)
    # Rounding, as between two devices, is no change.
    close = function_encoder(
        lambda s: [np.array(vector_of(x)) * (1 + 1e-6) for x in s], name="t", version="1"
    )
    assert encode(close, SENTENCES).shape == (10, 3)


def test_a_file_of_ones_own(tmp_path, own_cache):
    path = tmp_path / "deep" / "mine.sqlite"
    encode(Fake(), SENTENCES, cache=path)
    encode(Fake(), SENTENCES, cache=str(path))
    assert kept_in(path) == 10
    assert not own_cache.exists()
    encode(Fake(), SENTENCES, cache=False)
    assert not own_cache.exists()


def test_a_file_that_is_no_cache(tmp_path, own_cache):
    path = tmp_path / "text.sqlite"
    path.write_text("not a database, but long enough to look like one" * 10)
    with pytest.raises(
        InputError, match=r"text\.sqlite: expected a cache file, got .*file is not a database"
    ):
        encode(Fake(), SENTENCES, cache=path)
    own_cache.parent.mkdir()
    own_cache.write_bytes(path.read_bytes())
    with pytest.warns(UserWarning, match="vectors are not kept: .*file is not a database"):
        made = encode(Fake(), SENTENCES)  # nobody asked for this file: the work is done without
    assert made.shape == (10, 3)
