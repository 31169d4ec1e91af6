"""What is said of results that rest on a prior."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.changes import NONE, changed, table
from helpers.draws import made_up_comparison, made_up_fit
from helpers.fits import made_up, pairs
from helpers.seeds import shifted
from helpers.tables import grid

import bayesbias as bb
from bayesbias.findings.of_result import findings_of
from bayesbias.findings.parts import Effect, Unexamined
from bayesbias.findings.priors import (
    largest_prior_shift,
    parameter_in_words,
    prior_doubts,
    unexamined_priors,
)
from bayesbias.inference.fitting import fit
from bayesbias.inference.posterior import BiasFit
from bayesbias.models.loading import load_model, parse_model
from bayesbias.models.stretching import stretchable, stretched_prior
from bayesbias.tables.reading import as_pair_table


@pytest.fixture(scope="module")
def rests_on_it() -> BiasFit:
    """Words whose two connections lie far apart, under a prior that holds them together."""
    words = grid((3, 3), (2, 2), human=0, neutral=0, seed=2)
    words = words.assign(distance=words["distance"] + 0.5 * (words["connection"] == "different"))
    narrow = stretched_prior(load_model("hierarchical"), "cbar", 0.2)
    return fit(words, narrow, seed=shifted(1), draws=1500, pointwise=False)


def test_a_shift_within_twice_its_error_of_half_an_sd_is_no_doubt(monkeypatch):
    made = made_up_fit(grid())
    row = {
        "level": "overall", "name": "all", "contrast": "associated - different", "parameter": "csd", "direction": "doubled",
        "shift_in_sd": -0.6, "mean_before": 0.1, "mean_after": 0.04, "how": "weights",
    }  # fmt: skip

    monkeypatch.setattr(BiasFit, "diagnostics", lambda _: {"ok": True, "problems": []})
    for error, said in ((0.06, 0), (0.04, 1), (float("nan"), 1)):
        table = pd.DataFrame([row | {"error": error}])
        monkeypatch.setattr(BiasFit, "prior_sensitivity", lambda _, refit, table=table: table)
        assert len(prior_doubts(made)) == said


@pytest.mark.slow
def test_a_doubt_names_the_parameter_the_contrast_and_the_level(rests_on_it):
    state = rests_on_it.diagnostics()
    assert state["ok"], state["problems"]
    table = rests_on_it.prior_sensitivity()
    doubts = {doubt.level: doubt for doubt in prior_doubts(rests_on_it)}
    assert "overall" in doubts
    for level, doubt in doubts.items():
        own = table[(table["level"] == level)]
        row = own.loc[own["shift_in_sd"].abs().idxmax()]
        assert (doubt.kind, doubt.effect, doubt.model) == ("prior", None, None)
        assert (doubt.parameter, doubt.contrast) == (row["parameter"], "associated - different")
        assert doubt.group == (None if level == "overall" else row["name"])
        assert doubt.as_dict()["parameter"] == row["parameter"]
    moved = table[table["shift_in_sd"].abs() - 2 * table["error"] > 0.5]
    assert set(doubts) == set(moved["level"])
    found = findings_of(rests_on_it)
    assert {doubt.kind for doubt in found.doubts} >= {"prior"}
    assert doubts["overall"].line in found.lines()


@pytest.mark.slow
def test_a_prior_is_no_reason_to_call_intervals_wrong(rests_on_it, monkeypatch):
    from bayesbias.findings import words

    kept = tuple(prior_doubts(rests_on_it))
    monkeypatch.setattr(words, "word_doubts", lambda fit, refit=None: list(kept))
    alone = findings_of(rests_on_it)
    monkeypatch.setattr(words, "word_doubts", lambda fit, refit=None: [])
    assert alone.doubts == kept
    assert alone.headline == findings_of(rests_on_it).headline
    assert not any(doubt.effect in set(Effect) for doubt in kept)


def test_nothing_is_said_where_nothing_moves_or_nothing_is_known():
    values = {"cbar": 0.9, "c": 0.9, "csd": 0.1, "ws": 0.1, "sigma": 0.1}
    settled = made_up(pairs(), values=values)
    assert prior_doubts(settled) == []
    shift = settled.prior_sensitivity()["shift_in_sd"].abs().max()
    assert f"more than {shift:.2f} of its sd" in largest_prior_shift(settled)
    wild = made_up(pairs(), values=values, apart=0.1)
    assert not wild.diagnostics()["ok"]
    assert prior_doubts(wild) == []
    assert largest_prior_shift(wild) == ""


@pytest.mark.slow
def test_what_is_not_known_is_said(monkeypatch):
    values = {"cbar": 0.9, "c": 0.9, "csd": 0.1, "ws": 0.1, "sigma": 0.1}
    result = made_up(pairs(), values=values)
    frame = result.prior_sensitivity()
    lost = frame["parameter"] == "ws"
    frame.loc[lost, "how"] = "unknown"
    frame.loc[lost, ["shift_in_sd", "mean_after"]] = np.nan
    monkeypatch.setattr(BiasFit, "prior_sensitivity", lambda self, refit=None: frame)
    assert largest_prior_shift(result).endswith(
        "With the prior of the spread of differences by attribute (ws) half as wide and the spread of differences by attribute "
        "(ws) twice as wide it is not known: neither draws weighed anew nor a second fit are enough there; more draws may be."
    )
    not_known = (Unexamined("prior_unknown", "ws", "halved"), Unexamined("prior_unknown", "ws", "doubled"))
    assert unexamined_priors(result) == not_known
    said = findings_of(result)
    assert said.unexamined == not_known
    assert said.as_dict()["unexamined"][0] == {
        "kind": "prior_unknown", "parameter": "ws", "direction": "halved",
    }  # fmt: skip
    frame.loc[lost, "how"] = "not_refitted"
    assert {each.kind for each in unexamined_priors(result)} == {"prior_not_refitted"}
    empty: pd.DataFrame = frame[lost]
    monkeypatch.setattr(BiasFit, "prior_sensitivity", lambda self, refit=None: empty)
    assert largest_prior_shift(result) == ""


OWN = """
schema = 1
name = "own"
description = "Words in their places."
[likelihood]
outcome = "distance"
distribution = "StudentT"
nu = "nu"
mu = ["g", "cell", "word", "slope_my_covariate"]
sigma = 0.1
[parameter.g]
distribution = "Normal"
mu = 1
sigma = 0.3
[parameter.cell]
dims = ["connection", "protected_class"]
distribution = "Normal"
mu = 0
sigma = 0.3
[parameter.word]
dims = ["protected_word"]
distribution = "Normal"
mu = 0
sigma = "wide"
times = "more"
[parameter.slope_my_covariate]
dims = ["own_column"]
distribution = "Normal"
mu = 0
sigma = "tilt"
times = "my_covariate"
[parameter.wide]
distribution = "Exponential"
lam = 2
[parameter.tilt]
distribution = "Exponential"
lam = 2
[parameter.more]
dims = ["own_column"]
distribution = "LogNormal"
mu = 0
sigma = 0.4
[parameter.nu]
distribution = "Gamma"
alpha = 2
beta = 0.1
"""


def test_a_parameter_of_any_model_is_said_in_words():
    own = parse_model(OWN.encode(), "own.toml")
    assert {name: parameter_in_words(own, name) for name in (*stretchable(own), "gone")} == {
        "g": "the mean distance (g)",
        "cell": "how far the distance differs by connection and class (cell)",
        "wide": "the spread of differences by protected word (wide)",
        "tilt": "the spread of slopes on my_covariate by own column (tilt)",
        "more": "how far the scatter by protected word differs by own column (more)",
        "nu": "the tails of the noise (nu)",
        "gone": "gone",
    }
    for name in ("additive", "default", "change", "crossed", "wefat", "sentence", "sentiment"):
        shipped = load_model(name)
        for parameter in stretchable(shipped):
            said = parameter_in_words(shipped, parameter)
            assert said.endswith(f" ({parameter})")
            assert "_" not in said


def a_prior_that_moves(monkeypatch, **row):
    """Let every fit say that one contrast moves far, and another prior is not known."""
    told = {"level": "overall", "name": "all", "contrast": "associated - different", "mean_before": -0.2}
    told |= {
        "parameter": "d",
        "direction": "halved",
        "mean_after": -0.1,
        "shift_in_sd": 0.8,
        "how": "weights",
    }
    unknown = {"parameter": "kw", "direction": "doubled", "how": "not_refitted", "shift_in_sd": np.nan}
    monkeypatch.setattr(
        BiasFit, "prior_sensitivity", lambda fit, refit=None: pd.DataFrame([told | row, told | unknown])
    )


@pytest.mark.slow
def test_a_comparison_says_which_change_and_which_gap_rest_on_a_prior(monkeypatch):
    before = table()
    after = {name: as_pair_table(changed(before, NONE, seed)) for seed, name in enumerate("ab", 1)}
    both = made_up_comparison(as_pair_table(before), after, draws=1000)
    a_prior_that_moves(monkeypatch)
    parts = findings_of(both).parts
    assert [part.subject for part in parts] == list(both.methods)
    for part in parts:
        said = [doubt for doubt in part.doubts if doubt.kind == "prior"]
        assert [doubt.parameter for doubt in said] == ["d", "d"]
        for doubt, what in zip(said, ("the change of {}", "{}, after,"), strict=True):
            assert doubt.text.startswith(
                f"{part.subject}: {what.format('associated - different')} rests on a prior: "
            )
            assert "from -0.200 to -0.100, by 0.8 of its sd" in doubt.text
        assert part.unexamined == (Unexamined("prior_not_refitted", "kw", "doubled"),)


@pytest.mark.slow
def test_sentiment_says_which_mean_rests_on_a_prior(monkeypatch):
    analysis = bb.sentiment_table(bb.list_predictions("m1"))
    result = made_up_fit(analysis, "sentiment", draws=1000)
    a_prior_that_moves(monkeypatch, contrast="m1", parameter="b")
    (doubt,) = (doubt for doubt in findings_of(result).doubts if doubt.kind == "prior")
    assert doubt.text.startswith(
        "the mean of m1 rests on a prior: with the prior of the mean difference, for each classifier (b) half as wide"
    )
    assert doubt.text.endswith("or gather more sentences")
    assert [each.parameter for each in findings_of(result).unexamined] == ["kw"]
