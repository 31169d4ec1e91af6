"""Intervals of the listed words against what was observed of them."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.fits import made_up, pairs
from helpers.seeds import shifted
from scipy.stats import binom

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.inference.observed import Excluded, excluded_observed, observed_means


def far_off(words: int):
    """A fit whose cells are where they were observed, but for those of some words, which lie far off."""
    table = pairs()
    means = table.groupby(["protected_word", "connection"])["distance"].mean()
    off = sorted(table["protected_word"].unique())[:words]
    cells = {
        "word_by_connection": lambda word, connection: means[word, connection] + 0.1 * (word in off)
    }
    return table, made_up(table, "hierarchical", cells, sd=0.001)


@pytest.mark.parametrize("words", [0, 1, 6])
def test_intervals_that_leave_out_what_was_observed_are_counted(words):
    _, fit = far_off(words)
    found = excluded_observed(fit, "word", 0.8)
    excluded = 4 * words
    assert (found.level, found.group, found.excluded, found.rows, found.prob) == (
        "word",
        None,
        excluded,
        24,
        0.8,
    )
    # P(X >= k) of a binomial with chance 1 - prob, summed.
    assert found.p_value == pytest.approx(sum(binom.pmf(range(excluded, 25), 24, 0.2)))
    assert found.far_too_often is (words == 6)
    assert excluded_observed(fit, "overall", 0.8).excluded == 4 * bool(words)


def test_one_label_is_looked_at_alone():
    _, fit = far_off(6)
    found = excluded_observed(fit, "word", 0.8, "human")
    assert (found.group, found.excluded, found.rows) == ("human", 6, 6)
    with pytest.raises(InputError, match="unknown connection; found: 'humans'"):
        excluded_observed(fit, "word", 0.8, "humans")


def test_observed_means_are_those_of_the_rows():
    table, fit = far_off(0)
    for level, column in (("word", "protected_word"), ("class", "protected_class")):
        observed = observed_means(fit, level)
        frame = fit.means(level, 0.5, "listed_words")
        assert len(observed) == len(frame)
        for row in frame.itertuples():
            mine = (table[column] == row.name) & (table["connection"] == row.connection)
            expected = np.mean(table.loc[mine, "distance"].to_numpy())
            assert observed[row.name, row.connection] == pytest.approx(expected)
    overall = observed_means(fit, "overall")
    assert overall["all", "human"] == pytest.approx(
        table.loc[table["connection"] == "human", "distance"].mean()
    )


def test_clearly_more_is_more_than_chance():
    assert Excluded("word", None, 12, 20, 0.89, 1e-7, 2.0, 1e-5).too_alike
    assert not Excluded("word", None, 12, 20, 0.89, 1e-7, 10.0, 0.2).too_alike
    assert not Excluded("word", None, 5, 20, 0.89, 0.06, 2.0, 1e-5).far_too_often


def test_what_the_model_expects_is_what_it_does_on_tables_of_its_own():
    """Labels that differ by nothing beyond the noise of their pairs are drawn together, rightly, and their means lie outside."""
    rng, expected, excluded, alarms = np.random.default_rng(shifted(5)), 0.0, 0, 0
    frame = bb.sentiment_table(bb.list_predictions("m1"))
    for seed in range(8):
        noise = rng.normal(0.03, 0.08, len(frame))
        table = frame.assign(p_male=0.5 - noise / 2, p_female=0.5 + noise / 2, difference=noise)
        fit = bb.fit(table, "sentiment", seed=seed, engine="quick", pointwise=False)
        for level in ("profession", "noun_pair"):
            found = excluded_observed(fit, level)
            expected, excluded = expected + found.expected, excluded + found.excluded
            alarms += found.too_alike
    assert alarms == 0
    assert excluded == pytest.approx(expected, abs=4 * expected**0.5)
    assert (
        excluded > 0.2 * 8 * 40
    )  # where 11 % of the labels would do so in intervals of the observed means
