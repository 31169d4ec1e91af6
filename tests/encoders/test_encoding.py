"""What encode() checks."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.encoders import SENTENCES, Fake, vector_of

from bayesbias.core.errors import InputError
from bayesbias.encoders.encoder import Encoder, describe_encoder
from bayesbias.encoders.encoding import encode
from bayesbias.encoders.loading import load_encoder


# --- encode -----------------------------------------------------------------------------------------
def test_duplicates_are_encoded_once_and_the_order_is_kept():
    fake = Fake()
    asked = [SENTENCES[3], SENTENCES[0], SENTENCES[3], SENTENCES[1], SENTENCES[0]]
    made = encode(fake, asked, batch_size=2, cache=False)
    np.testing.assert_array_equal(made, [vector_of(s) for s in asked])
    assert sorted(text for batch in fake.asked for text in batch) == sorted(
        {SENTENCES[0], SENTENCES[1], SENTENCES[3]}
    )
    assert [len(batch) for batch in fake.asked] == [2, 1]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (np.float16, np.float32),
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.int32, np.float64),
    ],
)
def test_the_type_of_the_numbers(given, expected):
    made = encode(lambda sentences: np.ones((len(sentences), 4), given), SENTENCES, cache=False)
    assert made.dtype == expected
    assert made.shape == (10, 4)


def test_any_object_with_name_and_encode_is_an_encoder():
    fake = Fake()
    assert isinstance(fake, Encoder)
    assert load_encoder(fake) is fake
    assert describe_encoder(fake, SENTENCES) == {
        "name": "fake", "options": "", "provenance": {}, "account": {},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda made: made[0], r"got shape \(3,\)"),
        (lambda made: [[1.0], [1.0, 2.0], [3.0]], "got ValueError"),
        (lambda made: made[:-1], r"shape \(3, 3\), got shape \(2, 3\)"),
        (lambda made: made * np.nan, "'This is sentence .*': expected finite"),
        (lambda made: made * 0, "NaN, infinity or zeros"),
    ],
)
def test_a_wrong_later_batch_is_named_and_the_earlier_ones_are_kept(own_cache, wrong, said):
    with pytest.raises(InputError, match=said) as caught:
        encode(Fake(wrong), SENTENCES, batch_size=3)
    assert str(caught.value).startswith("encoder 'fake', batch 2 of 4")
    again = Fake()
    np.testing.assert_array_equal(encode(again, SENTENCES), [vector_of(s) for s in SENTENCES])
    # One known sentence is compared, the seven others are encoded.
    assert [len(batch) for batch in again.asked] == [1, 7]
