"""Blocks, contrasts as weights of blocks, and the exact variance of what is drawn."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from helpers import monte_carlo as mc

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.inference.estimands import CONTRASTS
from bayesbias.simulation.grid import contrast_values, contrast_weights, grid_of, sampling_variance
from bayesbias.simulation.scenario import Scenario, scenario_frame, simulate_table

UNEQUAL = Scenario(words=(3, 5, 4), attributes=(4, 2, 3), human=6, neutral=3)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return simulate_table(UNEQUAL, 5)


def test_a_grid_gives_its_table_back(table):
    grid = grid_of(table, "here")
    assert grid.sizes()[0].tolist() == [3, 5, 4]
    assert grid.sizes()[1].tolist() == [4, 2, 3, 6, 3]
    assert grid.kinds == ("stereotype",) * 3 + ("human", "neutral")
    again = grid.frame()
    columns = ["protected_word", "protected_class", "attribute", "attribute_class", "attribute_kind"]
    assert again[columns].equals(table[columns])
    assert again["connection"].astype(str).equals(table["connection"].astype(str))
    assert again["distance"].equals(table["distance"])


def test_contrasts_are_differences_of_means_over_pairs(table):
    """At every level, against the means of the rows themselves."""
    grid = grid_of(table, "here")
    values = contrast_values(grid.means(), contrast_weights(grid, *grid.sizes()))
    expected = {}
    places = [("overall", "all", table)]
    places += [("class", c, part) for c, part in table.groupby("protected_class", sort=False)]
    places += [("attribute_set", c, part) for c, part in table.groupby("attribute_class", sort=False)]
    for level, name, part in places:
        mean = part.groupby("connection")["distance"].mean()
        for a, b in CONTRASTS:
            if a in mean and b in mean:
                expected[level, name, f"{a} - {b}"] = mean[a] - mean[b]
    assert values == pytest.approx(expected)
    assert {level for level, _, _ in values} == {"overall", "class", "attribute_set"}
    assert ("attribute_set", "human", "human - neutral") not in values


def test_the_variance_of_what_is_drawn_is_that_of_all_that_may_be_drawn():
    """Two words by three attributes, in one class and two lists: all 4 x 9 x 9 tables, each as likely."""
    frame = scenario_frame((2, 2), (3, 3), 0, 0)
    frame = frame.assign(distance=np.random.default_rng(2).uniform(0.2, 1.4, len(frame)))
    grid = grid_of(frame, "here")
    weights = contrast_weights(grid, np.array([1, 2]), np.array([2, 1]))
    drawn = {key: [] for key in weights}
    words = itertools.product(range(2), itertools.product(range(2, 4), repeat=2))
    attributes = list(itertools.product(itertools.product(range(3), repeat=2), range(3, 6)))
    for (first, second), (one, two) in itertools.product(words, attributes):
        rows, columns = ([first], list(second)), (list(one), [two])
        means = np.array([[grid.distances[np.ix_(r, c)].mean() for c in columns] for r in rows])
        for key, value in contrast_values(means, weights).items():
            drawn[key].append(value)
    assert len(drawn["overall", "all", "associated - different"]) == 2 * 4 * 9 * 3
    for key, w in weights.items():
        assert sampling_variance(grid, w, [1, 2], [2, 1]) == pytest.approx(np.var(drawn[key]), rel=1e-9), key


def test_parts_hold_the_words_they_are_asked_for(table):
    grid = grid_of(table, "here")
    part = grid.part(np.array([2, 0, 4, 9]), np.array([1, 5, 8, 17, 10]))
    assert part.words == ("w0.2", "w0.0", "w1.1", "w2.1")
    rows = table.set_index(["protected_word", "attribute"])["distance"]
    for row in part.frame().itertuples():
        assert row.distance == rows[row.protected_word, row.attribute]
    fewer = grid.of_lists(["class2", "neutral"])
    assert fewer.lists == ("class2", "neutral")
    assert [fewer.connections[k][0] for k in range(3)] == ["different", "different", "associated"]
    assert fewer.attributes == (*(f"a2.{i}" for i in range(3)), *(f"neutral.{i}" for i in range(3)))
    assert fewer.means() == pytest.approx(grid.means()[:, [2, 4]])


def test_what_is_no_grid_is_refused_or_left_out(table):
    lacking = grid_of(table.drop(index=table.index[table["attribute"] == "a1.0"][:2]), "here")
    assert lacking.left_out == ("a1.0",)
    assert lacking.sizes()[1].tolist() == [4, 1, 3, 6, 3]
    with pytest.raises(InputError, match="a pair stands twice"):
        grid_of(pd.concat([table, table.tail(1)]), "here")
    shared = {
        "a": {"protected": ["jew", "rabbi"], "attributes": ["greedy", "cheap"]},
        "b": {"protected": ["priest", "bible"], "attributes": ["judgemental", "cheap"]},
    }
    frame = bb.distance_table("minilm-static", shared).frame
    with pytest.raises(InputError, match=r"attributes stand in two lists.*cheap"):
        grid_of(frame, "here")


@pytest.mark.slow
def test_means_over_a_pool_are_those_of_tables_drawn_from_it(table):
    """Of a contrast by pairs, tables of unequal sizes have the pool's value on average."""
    grid = grid_of(table, "here")
    numbers = np.array([2, 3, 2]), np.array([2, 1, 2, 3, 2])
    weights = contrast_weights(grid, *numbers)
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(3000):
        rows = [rng.choice(np.flatnonzero(grid.class_of == k), n) for k, n in enumerate(numbers[0])]
        columns = [rng.choice(np.flatnonzero(grid.list_of == j), n) for j, n in enumerate(numbers[1])]
        means = [[grid.distances[np.ix_(r, c)].mean() for c in columns] for r in rows]
        drawn.append(list(contrast_values(np.array(means), weights).values()))
    mc.assert_near(mc.mean_of(drawn), list(contrast_values(grid.means(), weights).values()))
    sd = [0.5 * np.log(sampling_variance(grid, w, *numbers)) for w in weights.values()]
    mc.assert_near(mc.log_sd_of(drawn), sd)
