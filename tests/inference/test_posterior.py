"""What a fit answers, held to plain numpy on its draws."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.definitions import (
    FITS,
    SETTINGS,
    assert_described,
    brute_hpdi,
    by_hand,
    edited,
    observed,
)

from bayesbias.core.conventions import PROB
from bayesbias.core.errors import FitError, InputError
from bayesbias.inference.estimands import CONTRASTS
from bayesbias.inference.fitting import fit
from bayesbias.inference.view import verdict
from bayesbias.models.spec import parse_model
from bayesbias.wordlists.wordlist import CONNECTIONS

pytestmark = pytest.mark.slow  # several models are fitted


@pytest.mark.parametrize("result", FITS, indirect=True)
@pytest.mark.parametrize("estimand", ["population", "listed_words"])
def test_summary_and_words_equal_the_definition(result, estimand):
    frame = result.summary(prob=0.8, estimand=estimand)
    assert frame["connection"].tolist() == list(CONNECTIONS)
    assert set(frame["estimand"]) == {estimand}
    assert frame["n_pairs"].tolist() == [13, 12, 15, 15]
    for row in frame.itertuples():
        x = by_hand(result, estimand, "overall", "all", row.connection)
        assert_described(row, x, 0.8, observed(result, estimand, "overall", "all", row.connection))
    words = result.words(estimand=estimand)
    listed = [(w, k) for w in ("a1", "a2", "a3", "b1", "b2") for k in CONNECTIONS]
    assert list(zip(words["protected_word"], words["connection"], strict=True)) == listed
    assert words["protected_class"].tolist() == ["a"] * 12 + ["b"] * 8
    for row in words.itertuples():
        place = (estimand, "word", row.protected_word, row.connection)
        assert_described(row, by_hand(result, *place), PROB, observed(result, *place))


@pytest.mark.parametrize("result", FITS, indirect=True)
def test_contrasts_equal_differences_of_the_same_draws(result):
    frame = result.contrasts(rope=0.05, detail=True)
    levels = [
        ("overall", "all"),
        *(("class", c) for c in "ab"),
        *(("word", w) for w in WORDS_LISTED),
    ]
    expected = [
        (level, name, f"{a} - {b}", estimand)
        for estimand in ("population", "listed_words")
        for level, name in levels
        if (level, estimand, result.spec.name)
        != ("class", "population", "crossed")  # covers too rarely
        for a, b in CONTRASTS
    ]
    columns = ["level", "name", "contrast", "estimand"]
    assert list(frame[columns].itertuples(index=False, name=None)) == expected
    for row in frame.itertuples():
        places = [(row.estimand, row.level, row.name, side) for side in row.contrast.split(" - ")]
        a, b = (by_hand(result, *place) for place in places)
        known = [observed(result, *place) for place in places]
        x = a - b
        assert_described(row, x, PROB, None if None in known else known[0] - known[1])
        assert row.verdict == verdict(
            row.hpdi_low, row.hpdi_high, 0.05, (row.mcse_low, row.mcse_high)
        )
        assert row.p_below_zero == pytest.approx((x < 0).mean())
        assert row.p_in_rope == pytest.approx((np.abs(x) < 0.05).mean())
        assert row.rope == 0.05
    only = result.contrasts(estimand="listed_words", rope=0.05, detail=True)
    pd.testing.assert_frame_equal(
        only, frame[frame["estimand"] == "listed_words"].reset_index(drop=True), check_exact=True
    )


WORDS_LISTED = ["a1", "a2", "a3", "b1", "b2"]


FIXED_CENTRE = """
schema = 1
name = "fixed"
description = "cell means around a number"
[likelihood]
outcome = "distance"
distribution = "Normal"
mu = ["word_by_connection"]
sigma = 0.2
[parameter.word_by_connection]
dims = ["protected_word", "connection"]
distribution = "Normal"
mu = 0.9
sigma = "word_by_connection_sd"
[parameter.word_by_connection_sd]
distribution = "Exponential"
lam = 2
"""


def test_a_population_whose_mean_is_a_number_of_the_model_file(pairs):
    result = edited(fit(pairs, parse_model(FIXED_CENTRE.encode(), "fixed.toml"), **SETTINGS))
    frame = result.summary()
    assert frame["mean"].tolist() == pytest.approx([0.9] * 4)
    assert frame["sd"].tolist() == pytest.approx([0] * 4, abs=1e-12)
    words = result.words().set_index(["protected_word", "connection"])
    at = (
        result.design.coords["protected_word"].index("b1"),
        result.design.coords["connection"].index("human"),
    )
    assert words.loc[("b1", "human"), "mean"] == pytest.approx(
        result.parameter_draws()["word_by_connection"][:, *at].mean()
    )


TABLES = [
    ("summary", {}),
    ("summary", {"estimand": "listed_words", "prob": 0.5}),
    ("words", {}),
    ("means", {"level": "word"}),
    ("means", {"level": "word", "estimand": "listed_words"}),
    ("contrasts", {}),
    ("contrasts", {"level": "word", "estimand": "listed_words", "rope": 0.1}),
    ("standardized", {}),
    ("standardized", {"level": "word", "estimand": "listed_words", "rope": 0.3}),
    ("probability_of_superiority", {"level": "class"}),
    ("variance_partition", {}),
    ("variance_partition", {"group": "human"}),
    ("parameters", {}),
]


@pytest.mark.parametrize(("table", "arguments"), TABLES, ids=lambda x: str(x))
def test_the_draws_behind_every_row_of_every_table(crossed, table, arguments):
    crossed = edited(crossed)
    asked = {name: value for name, value in arguments.items() if name not in ("prob", "rope")}
    more = {"detail": True} if table == "contrasts" else {}
    draws, frame = crossed.table_draws(table, **asked), getattr(crossed, table)(**arguments, **more)
    assert draws.dims == ("chain", "draw", "row")
    assert dict(draws.sizes) == {"chain": 2, "draw": 200, "row": len(frame)}
    assert draws.name == table
    texts = [
        column
        for column in frame.columns
        if frame[column].dtype.kind not in "fiub" and column != "verdict"
    ]
    assert list(draws.coords) == texts
    for column in texts:
        assert draws[column].to_numpy().tolist() == frame[column].tolist()
    flat = draws.to_numpy().reshape(-1, len(frame))
    known = (
        frame["estimand"] == "listed_words" if "estimand" in frame else np.zeros(len(frame), bool)
    )
    np.testing.assert_allclose(flat.mean(axis=0)[~known], frame["mean"][~known], rtol=0, atol=1e-12)
    np.testing.assert_allclose(flat.std(axis=0, ddof=1), frame["sd"], rtol=0, atol=1e-12)
    ends = [brute_hpdi(values, arguments.get("prob", PROB)) for values in flat.T]
    np.testing.assert_allclose(ends, frame[["hpdi_low", "hpdi_high"]], rtol=0, atol=1e-12)


@pytest.mark.parametrize("prob", [0, 1, 89, -0.5, np.nan])
def test_probabilities_are_checked(crossed, prob):
    with pytest.raises(InputError, match="between 0 and 1"):
        crossed.summary(prob=prob)


def test_other_arguments_are_checked(crossed):
    with pytest.raises(
        InputError, match=r"estimand: expected population, listed_words.*got 'both'"
    ):
        crossed.summary(estimand="both")
    for rope in (0, -1, np.nan):
        with pytest.raises(InputError, match="rope: expected a finite number above 0"):
            crossed.contrasts(rope=rope)


def test_a_table_of_one_connection_has_a_summary_and_no_contrasts(pairs):
    frame = pairs.frame[pairs.frame["connection"] == "neutral"]
    result = fit(frame, "hierarchical", **SETTINGS)
    assert result.summary()["connection"].tolist() == ["neutral"]
    for asked in (result.contrasts, result.new_words):
        with pytest.raises(FitError, match="two connections that are contrasted"):
            asked()
    assert repr(result).startswith("BiasFit: model hierarchical, a data frame, 15 rows")
    assert len(repr(result).splitlines()) == 2


def test_crossed_says_nothing_of_new_words_of_a_class(crossed):
    levels = crossed.contrasts().groupby("estimand")["level"].unique().map(set).to_dict()
    assert levels["population"] == {"overall", "word"}
    assert levels["listed_words"] == {"overall", "class", "word"}
    with pytest.raises(InputError, match="no intervals by class for new words"):
        crossed.contrasts(level="class", estimand="population")
