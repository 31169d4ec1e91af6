"""Cells are compared in standard deviations, and never on cosine distance alone."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from helpers.sweeps import made_up_sweep

from bayesbias.core.errors import InputError
from bayesbias.sweeps.cells import digest_of
from bayesbias.sweeps.comparing import (
    cell_names,
    compared_cells,
    in_words,
    short_names,
    telling_labels,
)

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
    # All distances lie by themselves beyond, or within, a ROPE of 0.02 in another way.
    assert frame["verdict"].fillna("none").tolist() == [
        "below", "none", "below, size uncertain", "inconclusive", "none",
    ]  # fmt: skip
    assert frame["distance"].tolist() == [-0.02, -0.1, -0.01, -0.2, -0.5]
    ends = frame[["standardized_low", "standardized_high", "distance_low", "distance_high"]].iloc[0]
    assert ends.tolist() == pytest.approx([-1.2, -0.6, -0.07, 0.03])
    assert set(frame["rope"].dropna()) == {0.1}
    assert frame["probability_of_superiority"].isna().tolist() == [False, False, False, False, True]


def test_the_contrast_that_there_is_stands_in_for_the_usual_one():
    result = made_up_sweep(CELLS, contrast="human - neutral")
    assert set(result.compared()["contrast"]) == {"human - neutral"}
    with pytest.raises(
        InputError, match=r"unknown contrast of this sweep; found: 'associated - different'"
    ):
        result.compared("associated - different")
    with pytest.raises(InputError, match="unknown level of this sweep"):
        result.compared(level="class")
    with pytest.raises(InputError, match="unknown estimand of this sweep"):
        result.compared(estimand="listed_words")
    assert made_up_sweep([{"embedding": "gone", "error": "e"}]).compared().empty


def said_of(result):
    return in_words(result.compared(), result.frame)


def test_cells_without_the_contrast_are_named():
    result = made_up_sweep(CELLS)
    lone = result.frame["embedding"] == "wide"
    other = result.frame.assign(term=result.frame["term"].mask(lone, "associated - human"))
    result = dataclasses.replace(result, frame=other)
    said = in_words(result.compared("associated - different"), result.frame)
    assert said[-1] == (
        "1 cell has no such contrast, since no pair is associated, or none different, as in a list of one class: wide."
    )


def test_what_is_said_counts_verdicts_and_names_both_ends():
    said = said_of(made_up_sweep(CELLS))
    assert said == [
        "associated - different in 3 cells, judged in standard deviations of neutral pairs for new words like these; the "
        "first is below in 1; below, size uncertain in 1; inconclusive in 1.",
        "Each cell is judged by itself: of 3 intervals of 89% some 1 would leave zero out where there is nothing, and the "
        "lowest and the highest are picked from all.",
        "The lowest is narrow (-0.90, 89% HPDI -1.20 to -0.60; -0.020 in cosine distance), the highest wide (-0.05, 89% HPDI "
        "-0.35 to +0.25; -0.200 in cosine distance).",
    ]
    other = [*CELLS, {"embedding": "bare", "unit": "sd of associated and different pairs"}]
    assert "These are not all on one scale" in said_of(made_up_sweep(other))[1]
    assert said_of(made_up_sweep(other))[3:] == [
        said[2].replace(
            "The lowest", "Of those in standard deviations of neutral pairs, the lowest"
        )
    ]
    two = [
        {"embedding": "one"},
        {"embedding": "bare", "unit": "sd of associated and different pairs"},
    ]
    assert len(said_of(made_up_sweep(two))) == 2  # no two cells of one unit
    nothing = said_of(made_up_sweep([CELLS[1], CELLS[2], CELLS[4]]))
    assert nothing == [
        "No cell has a contrast in standard deviations that is to be trusted: there is nothing to compare."
    ]


def test_cells_whose_classes_point_different_ways_are_named():
    apart, alike, near = (
        {"x": -0.2, "y": 0.3, "z": 0.0},
        {"x": -0.2, "y": -0.1},
        {"x": -0.2, "y": 0.04},
    )
    cells = [
        {"embedding": "a", "classes": alike},
        {"embedding": "b", "classes": apart},
        {"embedding": "c", "classes": near},  # the interval of y holds zero
        {"embedding": "d", "classes": apart, "trusted": False},
    ]
    disagree = "In 1 cell the classes disagree, which the mean over them hides: b (nearer for x, farther for y)."
    assert said_of(made_up_sweep(cells))[-1] == disagree
    assert not any("disagree" in line for line in said_of(made_up_sweep([cells[0], *cells[2:]])))
    other = made_up_sweep(cells, contrast="human - neutral")
    assert said_of(other)[-1] == disagree
    listed = other.frame.assign(
        estimand=other.frame["estimand"].mask(other.frame["level"] == "class", "listed_words")
    )
    assert in_words(other.compared(), listed)[-1] == disagree.replace(
        "b (", "b (of the listed words: "
    )
    lists = made_up_sweep(cells).frame
    of_b = (lists["level"] == "class") & (lists["embedding"] == "b")
    by_list = lists[of_b].assign(level="attribute_set", hpdi_low=-0.3, hpdi_high=0.3)
    together = pd.concat([lists, by_list], ignore_index=True)
    assert in_words(made_up_sweep(cells).compared(), together)[-1] == disagree.replace(
        "farther for y)", "farther for y; list by list they do not)"
    )
    uncertain = other.frame.assign(mcse_low=0.13)  # twice that reaches over zero
    assert not any("disagree" in line for line in in_words(other.compared(), uncertain))


def test_the_lowest_and_the_highest_are_named_only_where_their_difference_is_clear_of_zero():
    def said(higher, **more):
        cells = [
            {"embedding": "a", "standardized": -0.5},
            {"embedding": "b", "standardized": -0.5 + higher},
        ]
        result = made_up_sweep(cells)
        return in_words(result.compared().assign(**more), result.frame)[-1]

    half = 0.3 * 2**0.5  # both intervals reach 0.3 to either side
    assert said(half + 0.01).startswith("The lowest is a (-0.50, ")
    near = "The two farthest apart cannot be told apart, since the interval of their difference holds zero: a (-0.50, "
    assert said(half - 0.01).startswith(near)
    assert said(half + 0.01, mcse_standardized_low=0.01).startswith(
        "The two farthest apart cannot be told apart"
    )


def test_where_the_farthest_are_unsure_those_that_can_be_told_apart_are_named():
    """The farthest apart is often the least known, and a reader took it that nothing differs."""
    cells = [
        {"embedding": name, "standardized": at}
        for name, at in (("a", -0.60), ("b", -0.58), ("c", -0.20))
    ]
    result = made_up_sweep(cells)
    half = np.array([0.5, 0.2, 0.2])
    compared = result.compared()
    at = compared["standardized"].to_numpy()
    compared = compared.assign(standardized_low=at - half, standardized_high=at + half)
    said = in_words(compared, result.frame)[-1]
    assert said.startswith("The two farthest apart cannot be told apart")
    assert said.endswith("Others can, the surest of them b, which is lower, and c.")
    assert "Others" not in in_words(compared.assign(mcse_standardized_low=0.1), result.frame)[-1]


def test_cells_are_named_by_what_tells_them_apart():
    cells = pd.DataFrame(
        {
            "embedding": ["a/v.txt", "b/v.txt", None], "wordlist": ["x/pets.toml", "x/meals.toml", None],
            "controls": ["none", "none", None], "distances": [None, None, "t/pairs.csv"],
            "model": "crossed", "seed": 1,
        }
    )  # fmt: skip
    assert telling_labels(cells) == {
        "embedding": ["a/v.txt", "b/v.txt", ""],
        "wordlist": ["pets.toml", "meals.toml", ""],
        "distances": ["", "", "pairs.csv"],
    }
    assert cell_names(cells) == ["a/v.txt, pets.toml", "b/v.txt, meals.toml", "pairs.csv"]
    assert list(telling_labels(cells.head(1))) == [
        "embedding",
        "wordlist",
        "controls",
        "model",
        "seed",
    ]
    assert short_names(["a/v.txt", "b/v.txt", "c/w.txt", "c/w.txt"]) == [
        "a/v.txt",
        "b/v.txt",
        "w.txt",
        "w.txt",
    ]


def test_nothing_is_concluded_within_twice_the_error_of_an_end():
    frame = made_up_sweep([{"embedding": "e", "standardized": -0.5}]).frame
    assert compared_cells(frame, None, "overall", "population")["verdict"].tolist() == ["below"]
    (row,) = frame.index[frame["quantity"] == "standardized"].tolist()[:1]
    frame.loc[frame["quantity"] == "standardized", "mcse_high"] = 0.2
    assert frame.loc[row, "hpdi_high"] < -0.1
    assert compared_cells(frame, None, "overall", "population")["verdict"].tolist() == [
        "too close to call"
    ]


def test_a_path_that_leads_to_no_file_has_no_hash_and_stops_nothing(tmp_path):
    assert digest_of(str(tmp_path), {}) is None
    assert digest_of(str(tmp_path / "none.txt"), {}) is None
