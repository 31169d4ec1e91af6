"""Limits that a comparison must meet, compared with the ends of intervals."""

from __future__ import annotations

import dataclasses
import math

import arviz as az
import numpy as np
import pytest
from helpers.changes import destroyed_comparison
from helpers.draws import made_up_comparison, made_up_fit
from helpers.tables import grid

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.inference.estimates import contrast_draws
from bayesbias.studies.debiasing.comparison import Comparison
from bayesbias.studies.requirements import (
    Requirement,
    check_requirements,
    contrast_named,
    read_requirements,
)
from bayesbias.tables.reading import as_pair_table


@pytest.fixture(scope="module")
def found() -> Comparison:
    words = bb.load_wordlist("religion", controls="2021")
    before = bb.distance_table("minilm-static", words)
    after = bb.distance_table(bb.hard_debias("minilm-static", words).embedding, words)
    return made_up_comparison(before, {"hard": after}, draws=1000)


def checked(found: Comparison, text: str, prob: float = 0.89) -> tuple[bool, float]:
    (check,) = check_requirements(found, text, prob)
    return check.met, check.value


def test_requirements_are_read():
    assert read_requirements(" gap<0.02,controls >= .9 , moved<=1e-2,slope>-1") == (
        Requirement("gap", "<", 0.02),
        Requirement("controls", ">=", 0.9),
        Requirement("moved", "<=", 0.01),
        Requirement("slope", ">", -1.0),
    )


def test_names_may_have_commas():
    text = "converged,black, male - mean>-1, gap<2,a - b (old, x)>0"
    names = [limit.name for limit in read_requirements(text)]
    assert names == ["converged", "black, male - mean", "gap", "a - b (old, x)"]


@pytest.mark.parametrize("text", ["", "gap", "gap<0.02,", "gap=0.02", "gap<0,02", "gap<nan"])
def test_other_texts_are_refused(text):
    with pytest.raises(InputError, match="requirement"):
        read_requirements(text)


def test_labels_may_have_brackets():
    assert contrast_named("a (x) - b", ["a (x) - b"]) == ("a (x) - b", [], False)
    assert contrast_named("m: b - a (i) (listed_words)", ["a - b"]) == (
        "a - b", ["m", "i", "listed_words"], True,
    )  # fmt: skip


def test_capitals_matter_only_where_they_tell_names_apart():
    known = ["Black - White", "Black - mean"]
    for name in ("black - white", "BLACK - White", "Black - White"):
        assert contrast_named(name, known) == ("Black - White", [], False)
    assert contrast_named("m1 - m2: white - black (New)", known) == (
        "Black - White", ["m1 - m2", "New"], True,
    )  # fmt: skip
    both = ["a - c", "A - c"]
    assert [contrast_named(name, both)[0] for name in both] == both
    with pytest.raises(InputError, match="requirement"):
        contrast_named("a - C", both)
    with pytest.raises(InputError, match="Did you mean 'm1 - m2: Black - White'") as error:
        contrast_named("m1 - m2: black - wite", known)
    assert "got 'm1 - m2: black - wite'" in str(error.value)
    assert [str(limit) for limit in read_requirements("Converged")] == ["converged"]


def test_unknown_names_are_refused(found):
    for result in (found, found.methods["hard"].after):
        with pytest.raises(InputError, match="gpa"):
            check_requirements(result, "gpa<0.1")


def test_limits_of_a_fit(found):
    fit = found.methods["hard"].after
    rows = fit.contrasts(0.8).set_index(["level", "name", "contrast", "estimand"])
    name = "human - neutral"
    for of, at in (
        ("", ("overall", "all", name, "population")),
        (" (listed_words)", ("overall", "all", name, "listed_words")),
        (" (islam)", ("class", "islam", name, "population")),
    ):
        row = rows.loc[at]
        (upper,) = check_requirements(fit, f"{name}{of}<5", 0.8)
        (lower,) = check_requirements(fit, f"{name}{of} > {row.hpdi_high:.5f}", 0.8)
        assert (upper.met, upper.value) == (True, row.hpdi_high)
        assert (lower.met, lower.value) == (False, row.hpdi_low)
    high = float(rows.loc[("overall", "all", name, "population")].hpdi_high)
    limits = f"{name}<{high!r}, coverage>.99, converged"
    close, covered, converged = check_requirements(fit, limits, 0.8)
    assert not close.met
    assert (covered.met, covered.value) == (True, 1.0)
    assert converged.met == fit.diagnostics()["ok"]


def test_sizes_and_probabilities_of_the_contrasts_of_a_fit(found):
    fit = found.methods["hard"].after
    name = "human - neutral"
    rows = fit.contrasts(0.8, level="overall").set_index(["contrast", "estimand"])
    new = rows.loc[name, "population"]
    size, probability, listed = check_requirements(
        fit, f"|neutral - human|<9, P({name} < 0)<2, P({name} < 0) (listed_words)<2", 0.8
    )
    assert size.value == pytest.approx(max(abs(new.hpdi_low), abs(new.hpdi_high)))
    assert probability.value == pytest.approx(new.p_below_zero, abs=0.05)
    expected = rows.loc[name, "listed_words"].p_below_zero
    assert listed.value == pytest.approx(expected, abs=0.05)
    with pytest.raises(InputError, match="joint draws"):
        check_requirements(found, f"P({name} < 0)<2")
    assert checked(found, "|controls|>0.1")[0]


def test_limits_of_a_comparison_on_changes_of_contrasts(found):
    rows = found.contrasts(0.8, estimand="population").set_index(["level", "name", "contrast"])
    name = "associated - different"
    for of, at in (("", ("overall", "all", name)), (" (islam)", ("class", "islam", name))):
        row = rows.loc[at]
        assert checked(found, f"{name}{of}<5", 0.8) == (True, row.hpdi_high)
        assert checked(found, f"{name}{of}>-5", 0.8) == (True, row.hpdi_low)
    assert checked(found, "coverage>.99") == (True, 1.0)
    fewer = found.original.table[found.original.table["protected_word"] != "rabbi"]
    before = bb.distance_table("minilm-static", bb.load_wordlist("religion", controls="2021"))
    (check,) = check_requirements(made_up_comparison(before, {"fewer": fewer}), "coverage>.999")
    groups = (*before.coverage.protected.values(), *before.coverage.attributes.values())
    listed = sum(group.listed for group in groups)
    assert (check.met, check.value) == (False, pytest.approx((listed - 1) / listed))


def test_limits_of_tests_without_a_model():
    tests = bb.seat("weat7,sent-weat7", seed=1, cache=False)
    size = tests.frame.set_index("test").loc["sent-weat7", "effect_size"]
    effect, covered = check_requirements(tests, "sent-weat7<1.9, coverage>.9")
    assert (effect.met, effect.value) == (True, size)
    assert (covered.met, covered.value) == (True, 1.0)
    analysis = bb.sentiment_analysis(bb.list_predictions("m1"))
    assert checked(analysis, "coverage>.9") == (True, 1.0)
    for result in (tests, analysis):
        with pytest.raises(InputError, match="--bayes"):
            check_requirements(result, "converged")
    fitted = bb.studies.fit_sentiment(analysis, seed=1, draws=200, tune=300, chains=2)
    short, long, covered = check_requirements(fitted, "F - M<1, female - male<1, coverage>.9")
    assert (short.value, covered.value) == (long.value, 1.0)


def gaps(found: Comparison, level: str, prob: float) -> dict[str, np.ndarray]:
    means = found.methods["hard"].after.table_draws("means", level=level, estimand="population")
    draws = contrast_draws(means, [("associated", "different")])
    names = draws["name"].to_numpy().tolist()
    return {n: az.hdi(draws.to_numpy()[..., i].ravel(), prob=prob) for i, n in enumerate(names)}


def test_a_limit_is_compared_with_the_end_of_the_interval(found):
    (ends,) = gaps(found, "overall", 0.8).values()
    high = pytest.approx(np.abs(ends).max(), abs=1e-12)
    assert checked(found, "gap<0.5", 0.8) == (True, high)
    assert checked(found, f"gap<{np.abs(ends).max() / 2}", 0.8) == (False, high)
    assert checked(found, "gap>0.001", 0.8) == (False, 0.0)  # the interval includes zero
    geometry = found.geometry_of("hard", 0.8)
    in_sds = pytest.approx(np.abs(ends).max() / geometry.sd_after, abs=1e-12)
    assert checked(found, "gap_sd<9", 0.8) == (True, in_sds)
    geometry = found.methods["hard"].geometry
    assert checked(found, "controls>0.5") == (True, geometry.least.low)
    assert checked(found, "controls<1") == (True, geometry.least.high)
    assert checked(found, "slope>0.5") == (True, geometry.slope.low)
    assert checked(found, f"moved<={geometry.rms!r}") == (True, geometry.rms)
    assert checked(found, f"moved<{geometry.rms!r}") == (False, geometry.rms)
    change = found.changes(estimand="population", level="overall").set_index("connection")
    farther = change.loc["neutral", ["hpdi_low", "hpdi_high"]].abs().max()
    assert checked(found, "neutral<9") == (True, farther)


def test_the_worst_class_counts(found):
    ends = gaps(found, "class", 0.89)
    worst = max(ends, key=lambda name: np.abs(ends[name]).max())
    (check,) = check_requirements(found, "class_gap<9")
    assert (check.met, check.protected_class) == (True, worst)
    assert check.value == pytest.approx(np.abs(ends[worst]).max(), abs=1e-12)
    nearest = [0.0 if low <= 0 <= high else min(abs(low), abs(high)) for low, high in ends.values()]
    assert checked(found, "class_gap>0")[1] == pytest.approx(min(nearest), abs=1e-12)


def test_what_is_not_known_is_not_met():
    before = bb.distance_table("minilm-static", "religion", controls="none")
    bare = made_up_comparison(before, {"same": before})
    wanted = ", ".join(f"{name}<1" for name in ("controls", "slope", "moved", "human", "gap_sd"))
    for check in check_requirements(bare, wanted):
        assert (check.met, check.as_dict()["value"]) == (False, None)
        assert math.isnan(check.value)
    controls = bb.distance_table("minilm-static", "religion", controls="2021").frame
    controls = as_pair_table(controls[controls["connection"].isin(["human", "neutral"])])
    for check in check_requirements(
        made_up_comparison(controls, {"same": controls}), "gap<1, gap_sd<1, class_gap<1"
    ):
        assert not check.met
        assert "not known" in check.line


def test_a_fit_that_has_not_converged_meets_nothing(found):
    item = found.methods["hard"]
    idata = item.after.sampled.copy(deep=True)
    for name in list(idata["posterior"].data_vars):  # chains that are far apart
        values = idata["posterior"][name]
        apart = np.arange(values.sizes["chain"]).reshape(-1, *[1] * (values.ndim - 1))
        idata["posterior"][name] = values + apart
    broken = dataclasses.replace(item, after=dataclasses.replace(item.after, sampled=idata))
    comparison = Comparison(found.original, {"hard": broken}, found.provenance)
    gap, controls = check_requirements(comparison, "gap<1000, controls>0.5")
    assert (gap.met, controls.met) == (False, True)
    assert "has not converged" in gap.line


def test_a_gap_that_is_forced_to_zero_is_met_without_evidence(found):
    gap, in_sds, controls = check_requirements(found, "gap<0.5, gap_sd<9, controls>0.5")
    for check in (gap, in_sds):
        assert (check.met, check.by_construction) == (True, "wholly")
        assert "by construction: no evidence" in check.line
        assert check.as_dict()["by_construction"] == "wholly"
    assert (controls.by_construction, controls.why) == ("no", "")
    (missed,) = check_requirements(found, "gap<1e-12")
    assert (missed.met, missed.by_construction, missed.why) == (False, "wholly", "")


@pytest.mark.full
@pytest.mark.slow
def test_noise_does_not_meet_an_upper_limit_of_a_gap():
    found = destroyed_comparison()
    destroyed = [item.geometry.destroyed for item in found.methods.values()]
    for name in ("gap", "gap_sd", "class_gap"):
        met = [check.met for check in check_requirements(found, f"{name}<100")]
        assert met == [not each for each in destroyed]
    assert all("noise" not in check.why for check in check_requirements(found, "gap>0.001"))


def test_pairs_that_are_missing_are_counted():
    before = bb.distance_table("minilm-static", "religion", controls="2021")
    fewer = before.frame[before.frame["protected_word"] != "rabbi"]
    fewer = fewer.assign(distance=fewer["distance"] + 0.01)
    (check,) = check_requirements(made_up_comparison(before, {"fewer": fewer}), "pairs>0.95")
    assert (check.met, check.value) == (False, pytest.approx(len(fewer) / len(before)))


def test_a_limit_may_be_on_a_comparison_that_no_table_has():
    fit = made_up_fit(grid(), "default", draws=400)
    for name, estimand, arguments in (
        ("different (class0 - class1)", "population", ("class0 - class1", "different")),
        ("class1 - class0 (different)", "population", ("class1 - class0", "different")),
        ("class1 - class2 (class0) (listed_words)", "listed_words", ("class1 - class2", "class0")),
    ):
        rows = fit.compare(arguments[0], on=arguments[1], estimand=estimand, prob=0.8)
        above, below = check_requirements(fit, f"{name} < 9, {name} > -9", 0.8)
        assert (above.value, below.value) == pytest.approx(
            (rows["hpdi_high"].item(), rows["hpdi_low"].item()), abs=1e-9
        )
    with pytest.raises(InputError, match="requirement: expected associated - different"):
        check_requirements(fit, "different (class0 - class9) < 1")
