"""What is said of results that rest on a prior."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.fits import made_up, pairs
from helpers.seeds import shifted
from helpers.tables import grid

from bayesbias.findings.of_result import findings_of
from bayesbias.findings.parts import Effect, Unexamined
from bayesbias.findings.priors import largest_prior_shift, prior_doubts, unexamined_priors
from bayesbias.inference.fitting import fit
from bayesbias.inference.posterior import BiasFit
from bayesbias.models.loading import load_model
from bayesbias.models.stretching import stretched_prior


@pytest.fixture(scope="module")
def rests_on_it() -> BiasFit:
    """Words whose two connections lie far apart, under a prior that holds them together."""
    table = grid((3, 3), (2, 2), human=0, neutral=0, seed=2)
    table = table.assign(distance=table["distance"] + 0.5 * (table["connection"] == "different"))
    narrow = stretched_prior(load_model("hierarchical"), "cbar", 0.2)
    return fit(table, narrow, seed=shifted(1), draws=1500, pointwise=False)


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
    moved = table[table["shift_in_sd"].abs() > 0.5]
    assert set(doubts) == set(moved["level"])
    found = findings_of(rests_on_it)
    assert {doubt.kind for doubt in found.doubts} >= {"prior"}
    assert doubts["overall"].line in found.lines()


def test_a_prior_is_no_reason_to_call_intervals_wrong(rests_on_it, monkeypatch):
    from bayesbias.findings import words

    kept = tuple(prior_doubts(rests_on_it))
    monkeypatch.setattr(words, "word_doubts", lambda fit: list(kept))
    alone = findings_of(rests_on_it)
    monkeypatch.setattr(words, "word_doubts", lambda fit: [])
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


def test_what_is_not_known_is_said(monkeypatch):
    values = {"cbar": 0.9, "c": 0.9, "csd": 0.1, "ws": 0.1, "sigma": 0.1}
    result = made_up(pairs(), values=values)
    frame = result.prior_sensitivity()
    lost = frame["parameter"] == "ws"
    frame.loc[lost, "how"] = "unknown"
    frame.loc[lost, ["shift_in_sd", "mean_after"]] = np.nan
    monkeypatch.setattr(BiasFit, "prior_sensitivity", lambda self: frame)
    assert largest_prior_shift(result).endswith(
        "With the prior of ws half as wide and ws twice as wide it is not known."
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
    monkeypatch.setattr(BiasFit, "prior_sensitivity", lambda self: empty)
    assert largest_prior_shift(result) == ""
