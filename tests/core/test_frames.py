"""Answers of functions of somebody else's, which may carry an order of their own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.core.frames import in_order_of, plain_numbers

TEXTS = ["b", "a", "c"]


def test_rows_that_name_their_texts_are_put_in_their_order():
    answer = pd.Series([0.1, 0.2, 0.3], index=["a", "b", "c"])
    assert in_order_of(answer, TEXTS, "x").tolist() == [0.2, 0.1, 0.3]
    assert in_order_of(answer.to_frame(), TEXTS, "x")[0].tolist() == [0.2, 0.1, 0.3]
    for plain in ([1, 2, 3], np.arange(3), pd.Series([3.0, 2, 1]), pd.Series([3.0, 2, 1], index=[4, 7, 9])):
        assert in_order_of(plain, TEXTS, "x") is plain


@pytest.mark.parametrize(
    ("index", "says"),
    [
        (["a", "b", "d"], "an index that is not that of the sentences"),
        (["a", "b", "b"], "an index that is not that of the sentences"),
        ([2, 0, 1], r"rows in another order, by their index.*sort_index"),
    ],
)
def test_rows_whose_order_nobody_knows_are_refused(index, says):
    with pytest.raises(InputError, match=says):
        in_order_of(pd.Series([0.1, 0.2, 0.3], index=index), TEXTS, "x")


def test_a_classifier_and_an_encoder_may_answer_in_another_order():
    """Their numbers went to the sentences by position: a SEAT effect had the other sign."""

    def rated(sentences):
        return pd.Series([len(s) / 200 for s in sentences], index=sentences).sort_values()

    def plain(sentences):
        return [len(s) / 200 for s in sentences]

    both = [bb.predict(each, name="toy", check=False).frame["probability"] for each in (rated, plain)]
    assert both[0].tolist() == both[1].tolist()

    def encoded(sentences):
        return pd.DataFrame([np.array([len(s), s.count("e"), 1.0]) for s in sentences], index=sentences)

    effects = [
        bb.seat("weat7", lambda s, f=f: f(encoded(s)), seed=1, cache=False).frame["effect_size"].iloc[0]
        for f in (lambda frame: frame.sort_index(), lambda frame: frame.to_numpy())
    ]
    assert effects[0] == effects[1]


def test_missing_values_among_numbers_are_called_so():
    held = np.array([1.0, pd.NA, 2.0], dtype=object)
    with pytest.raises(InputError, match=r"^x: holds 1 missing value; valid: numbers"):
        plain_numbers(held, "x", "numbers")
    assert plain_numbers(held[[0, 2]], "x").tolist() == [1.0, 2.0]
