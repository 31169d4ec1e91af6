"""Cells are compared in standard deviations, and never on cosine distance alone."""

import dataclasses

import numpy as np
import pytest
from helpers.seeds import shifted
from helpers.sweeps import made_up_sweep

import bayesbias as bb
from bayesbias.inference.estimates import shortest_interval
from bayesbias.sweeps.result import subtract_cells

CELLS = [
    {"embedding": "wide", "standardized": -0.05, "distance": -0.2},
    {"embedding": "heavy", "standardized": None, "distance": -0.5},
    {"embedding": "early", "standardized": -0.8, "distance": -0.1, "trusted": False},
    {"embedding": "narrow", "standardized": -0.9, "distance": -0.02},
    {"embedding": "gone", "error": "no such vector file"},
    {"embedding": "between", "standardized": -0.35, "distance": -0.01},
]


def test_cells_are_sorted_and_judged_in_standard_deviations_with_the_distance_beside_them():
    frame = made_up_sweep(CELLS).compared()
    assert frame["embedding"].tolist() == ["narrow", "early", "between", "wide", "heavy"]
    assert frame["standardized"].dropna().tolist() == [-0.9, -0.8, -0.35, -0.05]
    # A ROPE of 0.02 in cosine distance would judge each another way.
    verdicts = ["below", "none", "below, size uncertain", "inconclusive", "none"]
    assert frame["verdict"].fillna("none").tolist() == verdicts
    assert frame["distance"].tolist() == [-0.02, -0.1, -0.01, -0.2, -0.5]
    ends = frame[["standardized_low", "standardized_high", "distance_low", "distance_high"]].iloc[0]
    assert ends.tolist() == pytest.approx([-1.2, -0.6, -0.07, 0.03])
    assert set(frame["rope"].dropna()) == {0.1}


def test_the_first_contrast_that_there_is_is_compared():
    result = made_up_sweep(CELLS, contrast="human - neutral")
    assert set(result.compared()["contrast"]) == {"human - neutral"}
    for name, value in (("contrast", "associated - different"), ("level", "class")):
        with pytest.raises(bb.InputError, match=f"{name}: expected"):
            result.compared(**{name: value})
    assert made_up_sweep([{"embedding": "gone", "error": "e"}]).compared().empty


def test_the_interpretation_counts_verdicts_failures_and_units():
    said = bb.interpret(made_up_sweep(CELLS))
    for part in (
        "by more than the ROPE in 1 (narrow",
        "perhaps by less than the ROPE, in 1 (between",
        "inconclusive in 1 (wide",
    ):
        assert part in said.headline
    assert any("1 cell failed: no such vector file" in text for text in said.warnings)
    other = [*CELLS, {"embedding": "bare", "unit": "sd of associated and different pairs"}]
    assert any("several units" in text for text in bb.interpret(made_up_sweep(other)).warnings)


def test_vectors_are_subtracted_draw_by_draw_from_the_first_of_their_list(tmp_path):
    rng = np.random.default_rng(shifted(1))
    (tmp_path / "draws").mkdir()
    cells = [
        {"embedding": name, "wordlist": of, "standardized": mean}
        for of in ("pets.toml", "meals.toml")
        for name, mean in (("a", -0.5), ("b", 0.5), ("c", None))
    ]
    drawn = {}
    for at, cell in enumerate(cells):
        draws = rng.normal(0.0, 0.3, (4, 500, 1)) + (cell["standardized"] or -0.05)
        drawn[at] = draws.astype(np.float32).astype(float)
        terms = np.array(["associated - different"])
        kept = {"terms": terms, "standardized": drawn[at], "contrast": drawn[at]}
        np.savez(tmp_path / "draws" / f"{at}.npz", **kept)
    result = made_up_sweep(cells)
    apart = subtract_cells(result.frame, tmp_path)
    frame = dataclasses.replace(result, apart=apart).differences()
    assert frame[["vectors", "minus", "wordlist"]].to_numpy().tolist() == [
        [name, "a", of] for of in ("pets.toml", "meals.toml") for name in "bc"
    ]
    assert frame["unit"].tolist() == ["sd of neutral pairs", "cosine distance"] * 2
    apart = (drawn[1] - drawn[0]).ravel()
    ends = shortest_interval(apart, 0.89)
    row = frame.iloc[0]
    assert row["mean"] == pytest.approx(1.0)  # the means of the fits, as difference has them
    assert row[["hpdi_low", "hpdi_high"]].tolist() == pytest.approx([*map(float, ends)])
    assert row["p_below_zero"] == pytest.approx((apart < 0).mean())
    assert made_up_sweep(CELLS).differences().empty


def test_cells_whose_classes_point_different_ways_are_named():
    cells = [
        {"embedding": "a", "classes": {"x": -0.2, "y": -0.1}},
        {"embedding": "b", "classes": {"x": -0.2, "y": 0.3}},
        {"embedding": "c", "classes": {"x": -0.2, "y": 0.04}},  # the interval of y includes zero
        {"embedding": "d", "classes": {"x": -0.2, "y": 0.3}, "trusted": False},
    ]
    said = bb.interpret(made_up_sweep(cells)).details[-1]
    assert said.startswith("Classes differ in direction in 1 cell: b")
