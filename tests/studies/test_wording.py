"""Sentences that users quote: one wording for each condition, in every study."""

from __future__ import annotations

import dataclasses
import inspect
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.inference.view import Verdict, side, verdict
from bayesbias.output.text import to_json, to_text
from bayesbias.studies import common
from bayesbias.studies.sentences.sections import _fitted
from bayesbias.studies.sentiment.sections import _model, _test

WOMEN = {"nurse": 88, "engineer": 12, "teacher": 80, "plumber": 2, "lawyer": 35, "pilot": 7}


# -- levels of significance -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("p_value", "alpha", "said"),
    [(0.028, 0.05, "Significant at .05"), (0.028, None, "Not significant at .01")],
)
def test_one_p_of_a_sentence_test_is_significant_at_its_level(p_value, alpha, said):
    level = {} if alpha is None else {"alpha": alpha}
    result = bb.seat("weat6", seed=1, cache=False, progress=False, **level)
    frame = result.frame.assign(p_holm=p_value, p_words_holm=p_value)
    result = dataclasses.replace(result, frame=frame)
    headline = bb.interpret(result).headline
    assert headline.startswith(f"{said}: effect size ")
    assert "p = .028" in headline
    assert "nconclusive" not in headline
    assert to_json(result)["alpha"] == result.provenance["alpha"] == (alpha or 0.01)


def test_a_test_that_is_significant_over_sentences_alone_has_both_p():
    result = bb.seat("sent-weat6", seed=1, cache=False, progress=False, alpha=0.05)
    frame = result.frame.assign(p_holm=0.001, p_words=0.1, p_words_holm=0.2)
    said = bb.interpret(dataclasses.replace(result, frame=frame))
    assert said.headline.startswith("Not significant at .05: effect size ")
    assert "p = .001 over sentences, p = .200 over words" in said.headline
    assert "significant at .05 over sentences, but not over words" in said.warnings[0]
    # Result and warning have one rule: corrected p.
    frame = frame.assign(p_holm=0.06, p_upper=0.001)
    assert not bb.interpret(dataclasses.replace(result, frame=frame)).warnings


def test_tests_in_the_opposite_direction_are_not_among_those_without_an_effect():
    result = bb.seat(["weat1", "weat3b", "weat6"], seed=1, cache=False, progress=False)
    frame = result.frame.assign(
        effect_size=[1.2, -1.0, 0.3],
        p_value=[0.001, 0.998, 0.3],
        p_words=[0.001, 0.998, 0.3],
        p_holm=[0.003, 1.0, 0.6],
        p_words_holm=[0.003, 1.0, 0.6],
    )
    said = bb.interpret(dataclasses.replace(result, frame=frame)).headline
    assert said.startswith("1 of 3 tests significant at .01")
    assert "1 not significant" in said
    assert "1 in the opposite direction (one-sided p .99 or more): weat3b." in said
    # Significant over sentences of few words: their order alone gave p over words.
    few = frame.assign(p_words=[0.001, 0.9, 0.3])
    assert "opposite" not in bb.interpret(dataclasses.replace(result, frame=few)).headline
    alone = dataclasses.replace(result, frame=frame[1:2])
    assert bb.interpret(alone).headline.startswith("Opposite direction: effect size -1.00")


def test_a_positive_effect_of_a_sentence_test_is_a_comparison_of_both_sides():
    """WEAT does not say that the first set is nearer to the first attributes than the other is."""
    said = bb.interpret(bb.seat("weat7", seed=1, cache=False, progress=False))
    assert "greater leaning of Math than of Arts to MaleTerms over FemaleTerms" in said.notes[0]


def test_the_level_of_a_t_test_is_the_one_that_was_asked():
    """Source of p: scipy, over the mean differences of the noun pairs."""
    predictions = bb.list_predictions("m1")
    result = bb.sentiment_analysis(predictions)
    means = result.table.groupby("noun_pair", observed=True)["difference"].mean()
    p_value = stats.ttest_1samp(means, 0.0).pvalue
    assert 0.05 < p_value < 0.3
    said = bb.interpret(result)
    assert said.headline.startswith(
        f"m1: no clear direction, female minus male {means.mean():+.4f}"
    )
    assert "Not significant at .05 (p = " in said.headline
    assert "not significant at .05" in said.warnings[0]
    liberal = bb.sentiment_analysis(predictions, alpha=0.3)
    said = bb.interpret(liberal)
    assert f"higher than male ones by {means.mean():.4f} [" in said.headline
    assert said.headline.endswith(f"Significant at .3 (p = {p_value:.3f}).".replace("0.", ".", 1))
    assert not any("treats pairs as independent" in text for text in said.warnings)
    assert to_json(liberal)["alpha"] == 0.3


@pytest.mark.slow
def test_the_published_correlation_has_a_level():
    made = {
        alpha: bb.wefat("minilm-static", "wefat", {"women": WOMEN}, seed=1, alpha=alpha)
        for alpha in (0.05, 0.999)
    }
    for alpha, said in ((0.05, "Not significant at .05"), (0.999, "Significant at .999")):
        assert f"Published r: {said}" in to_text(made[alpha])
        assert to_json(made[alpha])["published"]["alpha"] == alpha
    with pytest.raises(InputError, match="alpha"):
        bb.wefat("minilm-static", "wefat", {"women": WOMEN}, seed=1, alpha=0)


def test_the_level_of_a_command_is_that_of_its_function():
    from bayesbias.cli.responses import sentiment
    from bayesbias.cli.score import wefat
    from bayesbias.cli.seat import seat

    functions = {bb.seat: seat, bb.wefat: wefat, bb.sentiment_analysis: sentiment}
    for function, command in functions.items():
        (level,) = (option.default for option in command.params if option.name == "alpha")
        assert inspect.signature(function).parameters["alpha"].default == level


# -- estimates in sentences -------------------------------------------------------------------------


def row(mean, low, high, **more):
    return SimpleNamespace(mean=mean, hpdi_low=low, hpdi_high=high, **more)


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ((-0.0689, -0.0951, -0.0429), "0.069 [0.043, 0.095]"),
        ((0.0689, 0.0429, 0.0951), "0.069 [0.043, 0.095]"),
        ((-0.05, -0.1, -0.0003), "0.0500 [0.0003, 0.1000]"),  # no end is printed as zero
        ((4e-5, 2e-5, 6e-5), "0.000040 [0.000020, 0.000060]"),
    ],
)
def test_a_clear_difference_has_its_size_and_interval(ends, said):
    assert common.size(row(*ends)) == said


@pytest.mark.parametrize(
    ("low", "high", "said", "ends"),
    [
        (-0.1, 0.0, "ends at 0", "[-0.100, 0.000]"),
        (-0.1, 0.0002, "ends at 0", "[-0.100, 0.000]"),
        (-0.0002, 0.1, "ends at 0", "[0.000, +0.100]"),
        (-0.1, 0.05, "includes 0", "[-0.100, +0.050]"),
        (-0.1, -0.001, "ends at 0 (within Monte Carlo error)", "[-0.100, -0.001]"),
        (-0.0003, 0.0002, "includes 0", "[-0.00030, +0.00020]"),
    ],
)
def test_an_end_at_zero_is_said_to_be_one(low, high, said, ends):
    assert common.zero_in(row(0.0, low, high)) == said
    assert common.interval(row(0.0, low, high)) == ends


# -- zero has no direction --------------------------------------------------------------------------


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.0), (-1e-16, -1e-17), (-0.1, 0.0), (1e-12, 0.1)])
def test_an_interval_that_ends_at_zero_is_on_no_side(low, high):
    assert side(low, high) is Verdict.INCONCLUSIVE
    assert verdict(low, high, 0.02) in ("negligible", "inconclusive")
    ends = {"hpdi_low": low, "hpdi_high": high, "first_low": -0.3, "first_high": -0.1}
    ends |= {"last_low": -0.2, "last_high": -0.1, "first": -0.2, "last": -0.15}
    assert common.direction(SimpleNamespace(**ends)) == ""


@pytest.mark.parametrize("mean", [0.0, 1e-17, -1e-17])
def test_a_mean_of_zero_is_neither_higher_nor_lower(mean):
    said = _test("m1", {"p_value": 0.97, "f_minus_m": mean}, 0.99, 0.89)
    assert "higher" not in said
    assert "lower" not in said


def modeled(ends, word):
    """Say what a model says of one classifier, with these ends and this verdict."""
    frame = pd.DataFrame({"classifier": ["m1"], "mean": sum(ends) / 2, "verdict": word})
    frame = frame.assign(hpdi_low=ends[0], hpdi_high=ends[1])
    fit = SimpleNamespace(
        quantities=lambda *_: None,
        describe=lambda *_: frame,
        table=pd.DataFrame({"classifier": ["m1"] * 3, "difference": [0.1, 0.2, 0.3]}),
        spec=SimpleNamespace(outcome="difference"),
    )
    return _model(SimpleNamespace(fit=fit), "m1", bb.View())


@pytest.mark.parametrize(
    ("ends", "word", "said"),
    [
        ((0.01, 0.03), "above", "higher than male ones by 0.0200 [0.0100, 0.0300] for new nouns"),
        (
            (-0.03, -0.01),
            "below, size uncertain",
            "lower than male ones by 0.0200 [0.0100, 0.0300]",
        ),
        ((-0.03, 0.0), "inconclusive", "minus male -0.0150 [-0.0300, 0.0000]; the interval ends"),
        ((0.0, 0.0), "negligible", "professions: female minus male 0.0000 [0.0000"),
    ],
)
def test_a_classifier_has_a_direction_where_its_interval_excludes_zero(ends, word, said):
    text = modeled(ends, word)
    assert said in text
    assert ("higher" in text or "lower" in text) == (ends[0] * ends[1] > 0)


def test_an_effect_size_of_zero_has_no_sign():
    result = bb.seat("weat7,weat8", seed=1, cache=False, progress=False)
    for sizes, same in (((0.5, 0.4), True), ((0.5, -0.4), False), ((0.5, 1e-17), None)):
        frame = dataclasses.replace(result, frame=result.frame.assign(effect_size=sizes))
        (found,) = frame.consistency()["same_sign"]
        assert (found is pd.NA) if same is None else bool(found) == same


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ((-0.2, 0.1), "inconclusive, difference -0.050 [-0.200, +0.100]."),
        ((-0.2, -0.1), "as expected, difference -0.150 [-0.200, -0.100]."),
        ((-0.2, -1e-12), "inconclusive, difference -0.100 [-0.200, 0.000]."),
    ],
)
def test_one_fitted_test_has_its_estimate(ends, said):
    row = {"contrast": sum(ends) / 2, "hpdi_low": ends[0], "hpdi_high": ends[1], "converged": True}
    assert _fitted(pd.DataFrame([row])) == [f"For new words: {said}"]


@pytest.mark.slow
def test_a_slope_of_zero_has_no_direction():
    found = bb.wefat("minilm-static", "wefat", {"women": WOMEN}, seed=1, engine="quick")
    for ends, said in (((0.02, 0.1), "On average, the higher women"), ((0.0, 0.0), "Inconclusive")):
        slope = dataclasses.replace(
            found.slope, mean=sum(ends) / 2, hpdi_low=ends[0], hpdi_high=ends[1]
        )
        headline = bb.interpret(dataclasses.replace(found, slope=slope)).headline
        assert headline.startswith(said)
        assert ("closer" in headline) == (ends[0] > 0)


@pytest.mark.slow
def test_equal_distances_are_said_to_be_equal():
    """A table in which all attributes are equally far gives exact zeros and no direction."""
    table = bb.distance_table("minilm-static", "religion", controls="none").frame
    table = table.assign(distance=0.9 + 0.01 * np.random.default_rng(1).normal(size=len(table)))
    means = table.groupby(["protected_word", "connection"], observed=True)["distance"]
    table["distance"] += 0.9 - means.transform("mean")
    said = bb.interpret(bb.fit(table, seed=1, engine="quick", progress=False), rope=0.02)
    assert "practically equal" in said.headline
    assert "closer" not in said.headline
