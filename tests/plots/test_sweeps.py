"""The figure of a sweep shows the compared cells where they are, in their order."""

from __future__ import annotations

from typing import Any

import pytest
from helpers.sweeps import made_up_sweep

from bayesbias.core.errors import InputError
from bayesbias.plots.saving import plates_of
from bayesbias.plots.sweeps import plot_sweep

CELLS = [
    {"embedding": "wide", "standardized": -0.05, "distance": -0.2},
    {"embedding": "heavy", "standardized": None},
    {"embedding": "early", "standardized": -0.8, "distance": -0.1, "trusted": False},
    {"embedding": "narrow", "standardized": -0.9, "distance": -0.02},
]


def test_every_cell_has_its_interval_its_superiority_and_its_distance(ax: Any) -> None:
    plot_sweep(made_up_sweep(CELLS), ax=ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["narrow", "early", "wide"]
    means = [line for line in ax.lines if line.get_label() == "_mean"]
    assert [line.get_xdata()[0] for line in means] == [-0.9, -0.8, -0.05]
    assert [line.get_ydata()[0] for line in means] == [0.5, 1.5, 2.5]
    assert [line.get_markerfacecolor() == "white" for line in means] == [False, True, False]
    intervals = [line.get_xdata() for line in ax.lines if line.get_label() == "_interval"]
    assert [list(ends) for ends in intervals] == [
        pytest.approx([mean - 0.3, mean + 0.3]) for mean in (-0.9, -0.8, -0.05)
    ]
    texts = [text.get_text() for text in ax.texts]
    assert texts.count("0.64") == 3
    assert {"−0.020", "−0.100", "−0.200", "superiority", "distance"} <= set(texts)
    assert "in standard deviations of neutral pairs" in ax.get_xlabel().replace("\n", " ")


def test_word_lists_stand_over_their_cells(ax: Any) -> None:
    lists = [{**cell, "wordlist": name} for name in ("b.toml", "a.toml") for cell in CELLS[2:]]
    plot_sweep(made_up_sweep(lists), ax=ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "b.toml", "narrow", "early", "a.toml", "narrow", "early",
    ]  # fmt: skip


def test_a_sweep_without_such_contrasts_has_no_figure(ax: Any) -> None:
    nothing = made_up_sweep([CELLS[1]])
    assert plates_of(nothing) == []
    with pytest.raises(InputError, match="no cell has a contrast in standard deviations"):
        plot_sweep(nothing, ax=ax)
    (plate,) = plates_of(made_up_sweep(CELLS))
    assert plate.name == "sweep"
    assert "narrow −0.90; early −0.80; wide −0.05" in plate.alt


def test_cells_of_another_unit_and_cells_that_lack_their_words_are_marked(ax: Any) -> None:
    cells = [
        {**CELLS[0], "protected_listed": 10, "protected_found": 4},
        {**CELLS[3], "stereotypes_listed": 10, "stereotypes_found": 9},
        {"embedding": "bare", "standardized": -0.5, "unit": "sd of associated and different pairs"},
        {"embedding": "again", "standardized": -0.3, "warnings": "one class lost its words"},
    ]
    plot_sweep(made_up_sweep(cells), ax=ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["narrow", "bare*", "again†", "wide†"]
    (plate,) = plates_of(made_up_sweep(cells))
    for said in (
        "* in standard deviations of associated and different pairs, not to be compared with the others",
        "† lacks most of its words, or is to be looked at again",
    ):
        assert said in plate.caption
        assert said in " ".join(text.get_text() for text in ax.texts).replace("\n", " ")
    assert "bare −0.50*" in plate.alt
    (plain,) = plates_of(made_up_sweep(CELLS))
    assert "*" not in plain.caption
    assert "†" not in plain.caption
