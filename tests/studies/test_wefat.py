"""The single-category test: published scores by hand, the model beside them, and input that cannot be tested."""

from __future__ import annotations

import dataclasses
import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from helpers.seeds import shifted
from scipy import stats

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.inference.linear import Mixtures
from bayesbias.studies.wefat.result import of_published, true_correlation
from bayesbias.studies.wefat.sections import main_table, many_off_line

WOMEN = {
    "nurse": 88.0, "engineer": 12.0, "teacher": 80.0, "plumber": 2.0, "lawyer": 35.0, "dancer": 79.0, "pilot": 7.0,
    "librarian": 83.0, "carpenter": 3.0, "secretary": 94.0, "physician": 38.0, "baker": 60.0,
}  # fmt: skip


@pytest.fixture(scope="module")
def found():
    return bb.wefat(
        "minilm-static", "wefat", {"women": WOMEN}, seed=shifted(1), samples=999, engine="quick"
    )


def test_the_published_half_is_the_published_test(found):
    """Whose own tests hold it to the equation."""
    published = bb.scores.wefat_score(
        "minilm-static", "wefat", {"women": WOMEN}, seed=shifted(1), samples=999
    )
    assert (found.r, found.p_value, found.published.scores) == (
        published.r,
        published.p_value,
        published.scores,
    )
    assert dict(zip(found.frame["target"], found.frame["score"], strict=True)) == published.scores
    assert found.sets == ("female", "male")


def test_targets_stand_in_the_order_of_the_covariate(found):
    assert list(found.frame["covariate"]) == sorted(WOMEN.values())
    assert (found.n, found.published.missing) == (len(WOMEN), ())
    assert found.center == pytest.approx(np.mean(list(WOMEN.values())))
    assert found.scale == pytest.approx(np.std(list(WOMEN.values()), ddof=1))


def test_associations_are_the_line_and_the_deviation(found):
    frame, x = found.frame, (found.frame["covariate"] - found.center) / found.scale
    line = np.polyfit(x, frame["association"] - frame["deviation"], 1)
    assert line[0] == pytest.approx(found.slope.mean, abs=1e-9)
    at = found.predict(frame["covariate"].to_list())
    np.testing.assert_allclose(at["line"], frame["association"] - frame["deviation"], atol=1e-9)
    assert (at["sd"] > (at["line_high"] - at["line_low"]) / 4).all()
    assert ((at["hpdi_low"] < at["line_low"]) & (at["hpdi_high"] > at["line_high"])).all()


def simulated(slope, noise=0.02, targets=40, seed=3):
    """Return cosines of 5 + 5 words whose difference of slopes is known, and the covariate."""
    rng = np.random.default_rng(seed)
    covariate = rng.normal(50, 20, targets)
    x = (covariate - covariate.mean()) / covariate.std(ddof=1)
    lines = np.repeat([[slope / 2], [-slope / 2]], 5, axis=0) * x
    own = np.repeat(rng.normal(0, 0.01, (2, targets)), 5, axis=0)
    cosines = 0.2 + lines + own + rng.normal(0, noise, (10, targets))
    words = [f"w{k}" for k in range(10)]
    return cosines, (words[:5], words[5:]), {f"t{k}": float(v) for k, v in enumerate(covariate)}


def outcome_of(cosines, words, values, sets=("a", "b")):
    """Fit the model to cosines, in place of vectors that have them."""
    gap = cosines[:5].mean(axis=0) - cosines[5:].mean(axis=0)
    scores = dict(zip(values, gap / cosines.std(axis=0, ddof=1), strict=True))
    published = SimpleNamespace(
        classes=sets, a=words[0], b=words[1], covariates=values, scores=scores
    )
    return of_published(published, cosines, list(values), 0.89, shifted(2), {}, engine="quick")


def test_a_slope_and_the_true_correlation_are_found_behind_noise():
    """Noise deflates the published r, and not that of true associations: .05 / sqrt(.05^2 + 2 x .01^2) = .96."""
    found = outcome_of(*simulated(0.05, noise=0.1))
    assert np.corrcoef(found.frame["score"], found.frame["covariate"])[0, 1] < 0.9
    assert abs(found.slope.mean - 0.05) < 4 * found.slope.sd
    assert found.true_correlation.low < 0.962 < found.true_correlation.high


def test_the_sign_follows_the_order_of_the_sets():
    cosines, (first, second), values = simulated(0.05)
    turned = outcome_of(np.roll(cosines, 5, axis=0), (second, first), values, sets=("b", "a"))
    assert outcome_of(cosines, (first, second), values).slope.mean > 0 > turned.slope.mean


def test_the_screen_has_the_undivided_r_and_says_what_divides(found):
    rows = main_table(found).set_index("label")
    undivided = rows.loc["r of scores not divided by SDs"]
    pairs = found.published.pairs()
    expected = stats.pearsonr(pairs["mean_a"] - pairs["mean_b"], pairs["covariate"]).statistic
    assert undivided["mean"] == pytest.approx(expected)
    assert undivided["p_value"] == found.published.p_undivided
    assert "divides the score of each word by the SD" in bb.interpret(found).notes[0]


def test_many_words_off_the_line_are_a_warning(found):
    """Chance puts 11 % of them there: of 20 words, seven or more once in a hundred times."""
    for number, is_warning in ((2, False), (8, True)):
        off = np.arange(len(found.frame)) < number
        said = bb.interpret(dataclasses.replace(found, frame=found.frame.assign(off_line=off)))
        start = f"{number} words off the line"
        assert any(text.startswith(start) for text in said.warnings) == is_warning
        assert any(text.startswith(start) for text in said.details) != is_warning
    for words, least in ((10, 5), (20, 7), (50, 12)):
        tail = [sum(stats.binom.pmf(np.arange(k, words + 1), words, 0.11)) for k in range(words)]
        assert min(k for k in range(words) if tail[k] < 0.01) == least
        assert many_off_line(least, words, 0.11)
        assert not many_off_line(least - 1, words, 0.11)


def test_a_target_far_from_the_line_is_named():
    cosines, words, values = simulated(0.05)
    cosines[:5, 7] += 0.08
    cosines[5:, 7] -= 0.08
    assert "t7" in list(outcome_of(cosines, words, values).frame.query("off_line")["target"])


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("wefat", {"f": {"nurse": 1.0, "baker": 2.0, "pilot": 3.0}}), ["4 words or more"]),
        (("wefat", {"f": WOMEN, "g": WOMEN}), ["the name of one of f, g"]),
    ],
    ids=["few", "two covariates"],
)
def test_what_cannot_be_tested_is_said(arguments, parts):
    with pytest.raises(InputError) as error:
        bb.wefat("minilm-static", *arguments, seed=1)
    assert all(part in str(error.value) for part in parts), error.value


def test_a_set_that_lost_all_words_but_one_is_refused():
    rng = np.random.default_rng(0)
    vectors = {word: rng.normal(size=8) for word in ["she", "he", "him", *WOMEN]}
    sets = {
        "f": {"protected": ["she", "her"], "attributes": ["a", "b"]},
        "m": {"protected": ["he", "him"], "attributes": ["c", "d"]},
    }
    with pytest.raises(InputError, match="two words with vectors"):
        bb.wefat(vectors, sets, {"women": WOMEN}, seed=1)


@pytest.mark.slow
def test_the_published_correlation(shared, tmp_path):
    """50 occupations by the share of women in 2015, weighed by employment, on GloVe 840B: r = .9029 (published .90)."""
    covariates = shared / "data/facts"
    asked = json.loads((covariates / "wefat_occupations.json").read_text())
    rows = pd.read_csv(covariates / "occupations_bls_2015.tsv", sep="\t", header=None, skiprows=1)
    share = {}
    for target in asked["targets"]:
        own = rows[(rows.iloc[:, 6:] == target).any(axis=1)].iloc[:, :2].astype(float).dropna()
        share[target] = float(np.average(own[1], weights=own[0]))
    file = tmp_path / "occupations.csv"
    pd.Series(share, name="percent_women").rename_axis("word").to_csv(file)
    vectors = shared / "data/vectors/glove840B_union_300d.txt"
    found = bb.wefat(vectors, "wefat", file, seed=shifted(1), samples=999, engine="quick")
    assert round(found.r, 4) == 0.9029
    assert (found.n, found.published.covariate) == (50, "percent_women")
    assert found.true_correlation.low > 0.8


def test_the_true_correlation_is_that_of_slopes_drawn_for_each_draw_of_the_scales():
    """beta / sqrt(beta^2 + 2 sigma_b^2), of 4 million draws: its mean, sd, and equal-tailed quantiles."""
    rng = np.random.default_rng(shifted(6))
    spread = 0.03 * np.exp(0.4 * rng.standard_normal((4, 250)))
    slope = Mixtures(
        0.02 + 0.03 * rng.standard_normal((4, 250, 1)),
        0.02 + 0.01 * rng.random((4, 250, 1)),
        np.arange(1),
        np.ones(1),
    )
    found = true_correlation(slope, spread, 0.89)
    beta = slope.mean + slope.sd * rng.standard_normal((4, 250, 4000))
    drawn = np.sort((beta / np.sqrt(beta**2 + 2 * spread[..., None] ** 2)).ravel())
    error = drawn.std() / np.sqrt(len(drawn))
    assert abs(found.mean - drawn.mean()) < 5 * error
    assert found.sd == pytest.approx(drawn.std(), rel=2e-3)
    for end, share in ((found.low, 0.055), (found.high, 0.945)):
        assert abs(np.mean(drawn < end) - share) < 5 * np.sqrt(0.055 * 0.945 / len(drawn))


def test_the_interval_of_a_true_correlation_near_one_leaves_out_its_end():
    """Draws pile up at 1; the shortest interval reaches to it, the equal-tailed one and its limit do not."""
    true = outcome_of(*simulated(0.05, noise=0.02)).true_correlation
    assert 0.5 < true.low < true.mean < true.high < 0.9999


def test_limits_and_tables_of_a_true_correlation_have_its_interval_and_no_verdict(found):
    true = found.true_correlation
    for limit, met in ((true.low - 0.02, True), (true.low + 0.02, False)):
        (check,) = bb.studies.check_requirements(found, f"true correlation>{limit:.6f}")
        assert (check.met, check.value) == (met, true.low)
    row = next(row for row in bb.output.to_json(found)["result"] if "true" in row["label"])
    assert (row["hpdi_low"], row["hpdi_high"]) == (true.low, true.high)
    assert not {"verdict", "p_below_zero"} & {name for name, value in row.items() if value}


@pytest.mark.full
@pytest.mark.claim
def test_covariates_dealt_out_anew_have_a_slope_no_more_often_than_an_interval_misses():
    """Of intervals of 89 % at most 11 % exclude zero where nothing is to be found: 120 deals to real vectors."""
    listed = bb.load_wordlist("wefat", controls="none")
    targets = [word for group in listed.classes for word in group.attributes]
    rng, deals, excluded = np.random.default_rng(shifted(5)), 120, 0
    vectors = bb.load_embedding("minilm-static", [*listed.protected_words, *targets])
    for deal in range(deals):
        dealt = dict(zip(targets, rng.permutation(len(targets)).astype(float), strict=True))
        found = bb.wefat(
            vectors,
            listed,
            {"dealt": dealt},
            seed=shifted(deal),
            samples=99,
            engine="quick",
            draws=250,
            chains=2,
        )
        excluded += not found.slope.hpdi_low <= 0 <= found.slope.hpdi_high
    assert excluded <= stats.binom.ppf(1 - 1e-6, deals, 0.11)
