"""Cells are compared in standard deviations, and never on cosine distance alone."""

import pytest
from helpers.sweeps import made_up_sweep

import bayesbias as bb

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
        with pytest.raises(bb.InputError, match="of this sweep"):
            result.compared(**{name: value})
    assert made_up_sweep([{"embedding": "gone", "error": "e"}]).compared().empty


def test_the_interpretation_counts_verdicts_failures_and_units():
    said = bb.interpret(made_up_sweep(CELLS))
    for part in ("below in 1", "below, size uncertain in 1", "inconclusive in 1"):
        assert part in said.headline
    assert any("1 cell failed: no such vector file" in text for text in said.warnings)
    other = [*CELLS, {"embedding": "bare", "unit": "sd of associated and different pairs"}]
    assert any("several units" in text for text in bb.interpret(made_up_sweep(other)).warnings)


@pytest.mark.parametrize(("higher", "word"), [(0.01, "excludes"), (-0.01, "includes")])
def test_the_difference_of_the_two_farthest_cells_has_an_interval(higher, word):
    """Both intervals reach 0.3 to either side, and that of their difference 0.3 times the root of 2."""
    at = -0.5 + 0.3 * 2**0.5 + higher
    cells = [{"embedding": "a", "standardized": -0.5}, {"embedding": "b", "standardized": at}]
    assert f"difference {word} 0" in bb.interpret(made_up_sweep(cells)).details[0]


def test_cells_whose_classes_point_different_ways_are_named():
    cells = [
        {"embedding": "a", "classes": {"x": -0.2, "y": -0.1}},
        {"embedding": "b", "classes": {"x": -0.2, "y": 0.3}},
        {"embedding": "c", "classes": {"x": -0.2, "y": 0.04}},  # the interval of y includes zero
        {"embedding": "d", "classes": {"x": -0.2, "y": 0.3}, "trusted": False},
    ]
    said = bb.interpret(made_up_sweep(cells)).details[-1]
    assert said.startswith("Classes differ in direction in 1 cell: b")
