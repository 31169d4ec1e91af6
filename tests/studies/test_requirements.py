"""Limits that a comparison must meet: read, never evaluated, and held against the end of an interval."""

from __future__ import annotations

import dataclasses
import math

import arviz as az
import numpy as np
import pytest
from helpers.changes import destroyed_comparison
from helpers.draws import made_up_comparison

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.studies.debiasing.comparison import Comparison
from bayesbias.studies.debiasing.construction import Forced
from bayesbias.studies.debiasing.requirements import (
    Requirement,
    check_requirements,
    read_requirements,
)
from bayesbias.tables.reading import as_pair_table


@pytest.fixture(scope="module")
def found() -> Comparison:
    words = bb.load_wordlist("religion", controls="2021")
    before = bb.distance_table("minilm-static", words)
    return made_up_comparison(
        before,
        {"hard": bb.distance_table(bb.hard_debias("minilm-static", words).embedding, words)},
        draws=300,
    )


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


@pytest.mark.parametrize(
    "text", ["", "gap", "gap<", "gap<0.02,", "gap=0.02", "gap<0,02", "gap<nan", "gpa<0.1"]
)
def test_what_is_no_requirement_is_refused(text):
    with pytest.raises(InputError, match="requirement"):
        read_requirements(text)


def test_limits_at_the_end_of_a_range_and_of_what_has_none_are_read():
    assert (
        len(read_requirements("gap<=0, gap>0, controls>=1, controls<1, controls>-1, slope<-3")) == 6
    )


def test_a_limit_is_held_against_the_end_of_the_interval(found):
    after = found.methods["hard"].after
    means = after.draws_of("means", level="overall", estimand="population")
    at = means["connection"].to_numpy().tolist()
    draws = means.to_numpy()
    gap = draws[..., at.index("associated")] - draws[..., at.index("different")]
    high = np.abs(az.hdi(gap.ravel(), prob=0.8)).max()
    assert checked(found, "gap<0.5", 0.8) == (True, pytest.approx(high, abs=1e-12))
    assert checked(found, f"gap<{high / 2}", 0.8) == (False, pytest.approx(high, abs=1e-12))
    assert checked(found, f"gap>{high / 2}", 0.8) == (False, 0.0)  # the interval holds zero
    geometry = found.geometry_of("hard", 0.8)
    assert checked(found, "gap_sd<9", 0.8)[1] == pytest.approx(high / geometry.sd_after, abs=1e-12)
    assert checked(found, "controls>0.5") == (True, found.methods["hard"].geometry.least.low)
    assert checked(found, "controls<1") == (True, found.methods["hard"].geometry.least.high)
    assert checked(found, "slope>0.5") == (True, found.methods["hard"].geometry.slope.low)
    rms = found.methods["hard"].control_rms
    assert checked(found, f"moved<={rms!r}") == (True, rms)
    assert checked(found, f"moved<{rms!r}") == (False, rms)
    change = found.draws_of("changes", method="hard", estimand="population")
    mine = (change["level"] == "overall") & (change["connection"] == "neutral")
    neutral = change.to_numpy()[..., np.flatnonzero(mine.to_numpy())[0]]
    farther = np.abs(az.hdi(neutral.ravel(), prob=0.89)).max()
    assert checked(found, "neutral<9")[1] == pytest.approx(farther, abs=1e-12)


@pytest.mark.slow
def test_of_classes_the_worst_counts(found):
    means = found.methods["hard"].after.draws_of("means", level="class", estimand="population")
    keys = list(zip(means["name"].to_numpy(), means["connection"].to_numpy(), strict=True))
    ends = {}
    for name in dict.fromkeys(name for name, _ in keys):
        one, other = (
            means.to_numpy()[..., keys.index((name, c))] for c in ("associated", "different")
        )
        ends[name] = az.hdi((one - other).ravel(), prob=0.89)
    worst = max(ends, key=lambda name: np.abs(ends[name]).max())
    for limit, said in (("9", "is met"), ("0.001", "is NOT met")):
        (check,) = check_requirements(found, f"class_gap<{limit}")
        assert check.value == pytest.approx(np.abs(ends[worst]).max(), abs=1e-12)
        assert (check.protected_class, check.as_dict()["protected_class"]) == (worst, worst)
        assert f"class_gap < {limit} {said} (" in check.line
        assert f"for {worst}" in check.line
    nearest = [0.0 if low <= 0 <= high else min(abs(low), abs(high)) for low, high in ends.values()]
    assert checked(found, "class_gap>0")[1] == pytest.approx(min(nearest), abs=1e-12)


@pytest.mark.slow
def test_a_limit_that_the_printed_interval_reaches_is_not_met(found):
    row = found.contrasts(method="hard", estimand="population").iloc[0]
    low, high = row["after_low"], row["after_high"]
    assert low < 0 < high  # as after debiasing that closed a gap
    (check,) = check_requirements(found, "gap<9")
    assert (check.low, check.high) == (
        pytest.approx(low, abs=1e-12),
        pytest.approx(high, abs=1e-12),
    )
    assert (check.as_dict()["low"], check.as_dict()["high"]) == (check.low, check.high)
    for limit in (0.999 * max(-low, high), max(-low, high)):
        assert not check_requirements(found, (Requirement("gap", "<", limit),))[0].met


def test_what_cannot_be_known_is_not_met():
    before = bb.distance_table("minilm-static", "religion", controls="none")
    bare = made_up_comparison(before, {"same": before})
    for name in ("controls", "slope", "moved", "human", "neutral", "gap_sd"):
        for sign in "<>":
            (check,) = check_requirements(bare, f"{name}{sign}0.1")
            assert not check.met
            assert check.why
            assert math.isnan(check.value)
            assert check.as_dict()["value"] is None


def test_a_gap_that_the_tables_do_not_hold_is_not_met():
    before = bb.distance_table("minilm-static", "religion", controls="2021").frame
    controls = before[before["connection"].isin(["human", "neutral"])]
    bare = made_up_comparison(as_pair_table(controls), {"same": as_pair_table(controls)})
    for name in ("gap", "gap_sd", "class_gap"):
        (check,) = check_requirements(bare, f"{name}<1")
        assert not check.met
        assert "not known" in check.line


@pytest.mark.slow
def test_a_fit_that_cannot_be_believed_meets_nothing(found):
    item = found.methods["hard"]
    idata = item.after.idata.copy(deep=True)
    for name in list(idata["posterior"].data_vars):  # chains that lie apart
        values = idata["posterior"][name]
        apart = np.arange(values.sizes["chain"]).reshape(-1, *[1] * (values.ndim - 1))
        idata["posterior"][name] = values + apart
    broken = dataclasses.replace(item, after=dataclasses.replace(item.after, idata=idata))
    result = check_requirements(
        Comparison(found.original, {"hard": broken}, {}, found.provenance), "gap<1000, controls>0.5"
    )
    assert [check.met for check in result] == [False, True]
    assert "has not converged" in result[0].line


@pytest.mark.slow
def test_a_gap_that_is_zero_by_construction_is_met_without_evidence(found):
    gap, in_sds, controls = check_requirements(found, "gap<0.5, gap_sd<9, controls>0.5")
    for check in (gap, in_sds):
        assert (check.met, check.by_construction) == (True, Forced.WHOLLY)
        assert "by construction: no evidence" in check.line
        assert (check.as_dict()["by_construction"], check.as_dict()["why"]) == (
            "wholly",
            "by construction: no evidence",
        )
    assert (controls.by_construction, controls.why) == (Forced.NO, "")
    assert "controls > 0.5 is met (" in controls.line
    (missed,) = check_requirements(found, "gap<1e-12")
    assert (missed.met, missed.by_construction, missed.why) == (False, Forced.WHOLLY, "")
    assert "is NOT met (" in missed.line


@pytest.mark.slow
def test_a_gap_that_nothing_forces_is_met_with_evidence_and_by_noise_it_is_not():
    found = destroyed_comparison()
    destroyed = [item.geometry.left.destroyed for item in found.methods.values()]
    assert set(destroyed) == {True, False}
    for name in ("gap", "gap_sd", "class_gap"):
        for check, noise in zip(check_requirements(found, f"{name}<100"), destroyed, strict=True):
            assert (check.met, check.by_construction) == (not noise, Forced.NO)
            assert check.why.startswith("noise has no gap either") is noise
    # That a gap is left is no merit of noise.
    assert all(
        check.met or "noise" not in check.why for check in check_requirements(found, "gap>0.001")
    )


@pytest.mark.slow
def test_words_that_are_gone_are_counted_in_a_requirement():
    """A file that had kept fourteen words met every limit there was."""
    before = bb.distance_table("minilm-static", "religion", controls="2021")
    after = before.frame[before.frame["protected_word"] != "rabbi"].assign(
        distance=lambda rows: rows["distance"] + 0.01
    )
    found = made_up_comparison(before, {"fewer": after})
    share = len(after) / len(before)
    (check,) = check_requirements(found, "pairs>0.95")
    assert (check.met, check.value) == (False, pytest.approx(share))
    assert check.line == f"fewer: pairs > 0.95 is NOT met ({share:.4g})"
    assert check_requirements(found, f"pairs>={share!r}")[0].met
