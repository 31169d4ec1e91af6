"""How many words make a score reliable: a fit turned round."""

from __future__ import annotations

import functools
import json
import sys

import numpy as np
import pandas as pd
import pytest
from helpers.fits import made_up, pairs

from bayesbias.cli import main
from bayesbias.core.errors import FitError, InputError
from bayesbias.models.loading import DEFAULT_MODEL
from bayesbias.simulation import planning, scenario as scenario_room
from bayesbias.simulation.planning import plan_reliability, sample_size
from bayesbias.simulation.scenario import Scenario

SPREADS = {"word_by_connection_sd": 0.1, "attribute_sd": 0.08, "class_by_attribute_sd": 0.05, "ms": 0.02, "sigma": 0.06}


def _cbar(connection: str) -> float:
    return 0.8 if connection == "associated" else 0.9


@pytest.fixture(scope="module")
def shared():
    """Spreads that hardly vary between draws, so that coefficients are those of the definition."""
    table = pairs().assign(
        attribute_kind=lambda t: t["connection"].where(
            t["connection"].isin(["human", "neutral"]), "stereotype"
        )
    )
    return made_up(table, "shared", {**SPREADS, "connection_mean": _cbar}, sd=1e-7)  # fmt: skip


def _weat(words: float, attributes: float) -> float:
    """Two classes, each with its own list: four cells; word effects per connection, and attributes by class."""
    mean = 2 * (0.8 - 0.9)
    error = 4 * 0.1**2 / words + 4 * 0.05**2 / attributes + 4 * 0.06**2 / (words * attributes)
    return mean**2 / (mean**2 + error)


def test_combinations_are_those_of_the_definition(shared):
    plan = plan_reliability(shared, 0.8, words=(3, 8), attributes=(4, 12))
    assert (plan.measure, plan.coefficient) == ("weat", "against_zero")
    for row in plan.combinations.itertuples():
        assert row.mean == pytest.approx(_weat(row.words, row.attributes), rel=1e-4)
        assert row.enough == (row.mean >= 0.8)
        assert row.p_reached == float(row.enough)
    assert plan.now["mean"] == pytest.approx(_weat(3, 3), rel=1e-4)
    assert plan.endless_words == pytest.approx(_weat(np.inf, 3), rel=1e-4)
    assert plan.endless_attributes == pytest.approx(_weat(3, np.inf), rel=1e-4)
    fit = shared.reliability(words=8, attributes=12).set_index(["measure", "coefficient"])
    row = plan.combinations.set_index(["words", "attributes"]).loc[(8, 12)]
    assert row["mean"] == pytest.approx(fit.loc[("weat", "against_zero"), "mean"], rel=1e-12)


@pytest.mark.slow
def test_the_leanest_comes_first_and_the_fewest_are_fewest(shared):
    plan = plan_reliability(shared, 0.7)
    enough = plan.combinations[plan.combinations["enough"]]
    assert plan.best == enough.iloc[0].to_dict()
    assert (enough["words"] + enough["attributes"]).is_monotonic_increasing
    assert plan.limit == ""
    for n, at in (
        (plan.fewest_words, lambda k: _weat(k, 3)),
        (plan.fewest_attributes, lambda m: _weat(3, m)),
    ):
        assert at(n) >= 0.7 > at(n - 1)


@pytest.mark.parametrize(("target", "limit"), [(0.85, "words"), (0.93, "both")])
@pytest.mark.slow
def test_what_no_number_of_words_reaches_is_said(shared, target, limit):
    plan = plan_reliability(shared, target)
    assert plan.limit == limit
    assert (_weat(3, np.inf) < target) == (plan.fewest_attributes is None) == (limit in ("words", "both"))
    assert (_weat(np.inf, 3) < target) == (plan.fewest_words is None) == (limit in ("attributes", "both"))


def test_the_score_of_a_word_is_of_one_word(shared):
    plan = plan_reliability(shared, 0.8, measure="word", coefficient="relative")
    assert set(plan.combinations["words"]) == {1}
    assert plan.fewest_words is None
    words, noise = 2 * 0.1**2, 2 * 0.06**2  # what is common to both kinds of attributes cancels in the gap
    assert plan.now["mean"] == pytest.approx(words / (words + noise / 3), rel=1e-4)
    assert plan.endless_attributes == pytest.approx(1)
    assert plan.limit in ("", "attributes")


def test_bad_goals_are_refused(shared):
    for arguments in (
        {"target": 1.0},
        {"measure": "weta"},
        {"coefficient": "alpha"},
        {"measure": "mac", "coefficient": "against_zero"},
        {"words": ()},
        {"attributes": (0,)},
        {"prob": 2},
    ):
        with pytest.raises(InputError):
            plan_reliability(shared, **arguments)
    with pytest.raises(FitError, match="takes all classes to be alike"):
        plan_reliability(shared, measure="mac")


def test_numbers_to_try_come_in_any_form_and_count_once(shared):
    usual = plan_reliability(shared, 0.8, words=(3, 8), attributes=(4, 12)).combinations
    for words in (iter((3, 8)), np.array([3, 8]), pd.Series([3, 8]), [3, 8, 3], range(3, 9, 5)):
        found = plan_reliability(shared, 0.8, words=words, attributes=(n for n in (4, 12))).combinations
        pd.testing.assert_frame_equal(found, usual)
    how = {"check": 0, "seed": 1, "progress": False}
    usual = sample_size(0.1, words=[3, 4], attributes=[3], **how)
    for words in (iter((3, 4)), np.array([3, 4]), [3, 4, 4]):
        found = sample_size(0.1, words=words, attributes=iter([3]), **how)
        pd.testing.assert_frame_equal(found, usual)


@pytest.mark.parametrize("numbers", ["3", 3, None, [], np.array([]), [[3]], [3.5], [0], {}, iter(())])
def test_what_is_no_list_of_numbers_to_try_is_refused(shared, numbers):
    for plan in (
        lambda: plan_reliability(shared, words=numbers),
        lambda: plan_reliability(shared, attributes=numbers),
        lambda: sample_size(0.1, words=numbers, check=0, progress=False),
        lambda: sample_size(0.1, attributes=numbers, check=0, progress=False),
    ):
        with pytest.raises(InputError):
            plan()


@pytest.fixture
def run(monkeypatch, capsys, shared, tmp_path):
    """Run ``bayesbias plan`` with the fit in a file, which is opened as it is here."""
    monkeypatch.setattr("bayesbias.inference.fitting.load_fit", lambda path: shared)

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["bayesbias", "plan", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main.main()
        return ended.value.code or 0, *capsys.readouterr()

    return call


def planned(**columns):
    """Return two combinations as `sample_size` does, the first of them enough."""
    frame = pd.DataFrame(
        {
            "words": [12, 10], "attributes": [3, 3], "pairs": [900, 800], "known_width": [0.0951, 0.0999],
            "enough": [True, False], "simulated_width": [0.0996, 0.1004], "simulated_se": 0.004, "simulated_80": 0.103,
            **columns,
        }
    )  # fmt: skip
    return frame.astype({"enough": "boolean"})


def test_widths_are_printed_to_the_digits_that_decided(run, monkeypatch):
    monkeypatch.setattr(planning, "sample_size", lambda *_, **__: planned())
    _, out, _ = run("--width", "0.1", "--check", "20")
    rows = [line.split() for line in out.splitlines()]
    assert ["12", "3", "900", "0.095", "yes", "0.0996", "0.004", "0.10"] in rows
    assert ["10", "3", "800", "0.0999", "no", "0.1004", "0.004", "0.10"] in rows
    assert (
        "make it 0.0996 wide on average in 20 simulated tables (standard error 0.004), and in 80% of" in out
    )
    assert "a close call" in out
    monkeypatch.setattr(planning, "sample_size", lambda *_, **__: planned(simulated_width=[0.0871, 0.13]))
    assert "a close call" not in run("--width", "0.1", "--check", "20")[1]


def test_of_one_table_nothing_is_said_of_others(run, monkeypatch):
    one = planned(simulated_width=[0.05, 0.2], simulated_se=np.nan, simulated_80=np.nan)
    monkeypatch.setattr(planning, "sample_size", lambda *_, **__: one)
    _, out, _ = run("--width", "0.1", "--check", "1")
    assert "80% of" not in out
    assert out.rstrip().endswith(
        "0.050 wide on average in 1 simulated table; a close call, which more tables (--check) decide"
    )


@pytest.mark.slow
def test_four_tables_have_no_quantile_of_80_per_cent():
    how = {"words": [3], "attributes": [3], "seed": 1, "progress": False}
    (four,) = sample_size(5, check=4, **how).to_dict("records")
    assert np.isnan(four["simulated_80"])
    assert four["simulated_se"] > 0
    (five,) = sample_size(5, check=5, **how).to_dict("records")
    assert five["simulated_80"] > 0


@pytest.mark.slow
def test_the_command_says_what_is_enough_and_what_limits(run, shared):
    code, out, _ = run("--reliability", "0.85", "--fit", "fit.nc", "--json")
    assert code == 0
    found = json.loads(out)
    plan = plan_reliability(shared, 0.85)
    assert (found["limit"], found["fewest_words"], found["best"]) == ("words", plan.fewest_words, plan.best)
    assert len(found["combinations"]) == len(plan.combinations)
    code, out, _ = run("--reliability", "0.85", "--fit", "fit.nc")
    assert code == 0
    assert (
        f"{plan.best['words']:g} words per class and {plan.best['attributes']:g} stereotypes per list" in out
    )
    assert f"with the stereotypes as they are (3): {plan.fewest_words} words per class" in out
    assert "not reachable with any number of stereotypes" in out
    assert "the words are the limit" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "one of two goals"),
        (["--width", "0.1", "--reliability", "0.8"], "one of two goals"),
        (["--reliability", "0.8"], "fit of your own table"),
        (["--reliability", "0.8", "--fit", "fit.nc", "--check", "3"], "no meaning with --reliability"),
        (["--width", "0.1", "--measure", "weat"], "no meaning with --width"),
        (["--reliability", "80", "--fit", "fit.nc"], "--reliability: must lie between 0 and 1"),
        (["--width", "0.1", "--fit", ""], "the value is empty"),
    ],
)
def test_the_command_refuses_what_does_not_fit(run, arguments, says):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert says in err


def test_a_plan_is_for_the_model_that_claims_are_made_with(run, monkeypatch):
    how = {"words": [4], "attributes": [5], "check": 0, "progress": False}
    usual = sample_size(0.1, **how)
    pd.testing.assert_frame_equal(usual, sample_size(0.1, scenario=Scenario.for_claims(), **how))
    other = sample_size(0.1, scenario=Scenario(), **how)  # by crossed, which is what it was
    assert usual["known_width"].iloc[0] < other["known_width"].iloc[0]
    monkeypatch.setattr(planning, "sample_size", functools.partial(sample_size, words=[4], attributes=[5]))
    found = json.loads(run("--width", "0.1", "--check", "0", "--json")[1])
    assert found["model"] == found["scenario"]["model"] == DEFAULT_MODEL
    assert "simulated from the model cells" in run("--width", "0.1", "--check", "0")[1]


def test_a_plan_for_another_model_says_so(run, monkeypatch):
    monkeypatch.setattr(planning, "sample_size", lambda *_, **__: planned())
    monkeypatch.setattr(scenario_room, "scenario_from_fit", lambda fit: Scenario())
    out = run("--width", "0.1", "--fit", "fit.nc")[1]
    assert "The answer is for crossed: claims are made with cells" in out
    assert "The answer is for" not in run("--width", "0.1")[1]


def test_only_what_has_an_answer_is_shown_and_what_decides_is_said(run, monkeypatch):
    frame = pd.concat([planned(), planned(words=[20, 21], enough=pd.NA, simulated_width=np.nan,
                                          simulated_se=np.nan, simulated_80=np.nan)], ignore_index=True)  # fmt: skip
    monkeypatch.setattr(planning, "sample_size", lambda *_, **__: frame.astype({"enough": "boolean"}))
    out = run("--width", "0.1")[1]
    rows = [line.split() for line in out.splitlines()]
    assert {row[0] for row in rows if len(row) == 8 and row[0].isdigit()} == {"12", "10"}
    assert (
        "enough: the mean width in simulated tables is at most 0.1; that of a single study may be more" in out
    )
    known = planned(simulated_width=np.nan, simulated_se=np.nan, simulated_80=np.nan)
    monkeypatch.setattr(planning, "sample_size", lambda *_, **__: known)
    out = run("--width", "0.1", "--check", "0")[1]
    assert "enough: the width at known spreads is at most 0.1." in out
    assert ["12", "3", "900", "0.095", "yes"] in [line.split() for line in out.splitlines()]
