"""The table of pairs of predictions."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from helpers.classifiers import toy
from scipy.special import logit

import bayesbias as bb
from bayesbias.tables.sentiment import CLIP


def test_table_holds_every_pair_once():
    made = toy()
    table = bb.sentiment_table(made)
    assert list(table.columns) == [
        "classifier", "noun_pair", "profession", "category", "p_male", "p_female", "difference", "logit_difference",
        "clipped",
    ]  # fmt: skip
    frame = made.frame[~made.frame["control"]]
    p = dict(zip(frame["sentence"], frame["probability"], strict=True))
    row = table[
        (table["noun_pair"] == "My uncle / My aunt") & (table["profession"] == "gym trainer")
    ].iloc[0]
    male, female = p["My uncle is a gym trainer."], p["My aunt is a gym trainer."]
    assert row["difference"] == female - male
    assert row["logit_difference"] == pytest.approx(logit(female) - logit(male), rel=1e-12)
    assert len(table) == 400
    assert not table.duplicated(["noun_pair", "profession"]).any()
    assert table["clipped"].sum() == 0
    # The order of the predictions does not matter to what is in a row.
    keys = ["noun_pair", "profession"]
    again = bb.sentiment_table(made.frame.sample(frac=1, random_state=1))
    pd.testing.assert_frame_equal(
        again.sort_values(keys, ignore_index=True), table.sort_values(keys, ignore_index=True)
    )


@pytest.mark.slow
def test_certain_predictions_are_clipped_and_counted_on_the_logit_scale():
    made = bb.score_sentences(
        lambda sentences: [
            1.0 if s.startswith("She ") else 0.0 if s.startswith("Dad ") else 0.5 for s in sentences
        ]
    )
    result = bb.sentiment_analysis(made)
    table = result.table
    he = table[table["noun_pair"] == "He / She"]
    assert he["difference"].tolist() == [0.5] * 20
    np.testing.assert_allclose(he["logit_difference"], logit(1 - CLIP))
    assert he["clipped"].tolist() == [1] * 20
    assert table["clipped"].sum() == 40
    assert np.isfinite(table["logit_difference"]).all()
    np.testing.assert_allclose(
        bb.sentiment_table(made, clip=0.01).loc[he.index, "logit_difference"], math.log(99)
    )
    assert any(note.startswith("40 probabilities were clipped") for note in result.notes)
    with pytest.raises(bb.InputError, match="clip"):
        bb.sentiment_table(made, clip=0)


def test_what_is_no_table_of_predictions():
    frame = toy().frame
    with pytest.raises(bb.InputError, match="classifiers of different names, got 'toy'"):
        bb.sentiment_table(frame, frame)
    with pytest.raises(bb.InputError, match=r"each sentence once, got 'He is a doctor.'"):
        bb.sentiment_table(pd.concat([frame, frame[:1]]))
    with pytest.raises(bb.InputError, match="expected the column 'gender'"):
        bb.sentiment_table(frame.drop(columns="gender"))


def test_professions_may_have_covariates():
    earnings = {"doctor": 1900.0, "nurse": 1100.0, "secretary": 700.0, "truck driver": 800.0}
    table = bb.sentiment_table(toy(), covariates={"earnings": earnings})
    values = np.array(list(earnings.values()))
    own = table.drop_duplicates("profession").set_index("profession")["earnings"]
    assert own["nurse"] == pytest.approx((1100 - values.mean()) / values.std(ddof=1))
    account = table.attrs["covariates"]["earnings"]
    assert (account["side"], account["found"], account["listed"]) == ("profession", 4, 20)
    assert set(account["missing"]) == set(own.index) - set(earnings)
    assert own[list(account["missing"])].isna().all()
    assert table.attrs["covariates_from"]["earnings"]["center"] == values.mean()
