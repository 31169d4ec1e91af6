"""Blocks, contrasts as weights of blocks, exact variances, and intervals without a model against computations of their own."""

import dataclasses
import functools
import itertools

import numpy as np
import pandas as pd
import pytest
from helpers import monte_carlo as mc
from scipy import stats

from bayesbias.core import InputError
from bayesbias.core.conventions import PROB
from bayesbias.inference.estimands import CONTRASTS
from bayesbias.simulation.grid import (
    LEVEL_COLUMNS,
    Grid,
    contrast_values,
    contrast_weights,
    crossed_intervals,
    grid_of,
    moments,
    sampling_variance,
    t_intervals,
)
from bayesbias.simulation.scenario import Scenario, simulate_table

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
    columns = [
        "protected_word",
        "protected_class",
        "attribute",
        "attribute_class",
        "attribute_kind",
    ]
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
    places += [
        (list(LEVEL_COLUMNS)[1], c, part)
        for c, part in table.groupby("attribute_class", sort=False)
    ]
    for level, name, part in places:
        mean = part.groupby("connection")["distance"].mean()
        for a, b in CONTRASTS:
            if a in mean and b in mean:
                expected[level, name, f"{a} - {b}"] = mean[a] - mean[b]
    assert values == pytest.approx(expected)
    assert {level for level, _, _ in values} == {"overall", *LEVEL_COLUMNS}
    assert (list(LEVEL_COLUMNS)[1], "human", "human - neutral") not in values


def test_the_variance_of_what_is_drawn_is_that_of_all_that_may_be_drawn():
    """Two words by three attributes, in one class and two lists: all 4 x 9 x 9 tables, each as likely."""
    frame = Scenario(words=(2, 2), attributes=(3, 3), human=0, neutral=0).frame
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
        assert sampling_variance(grid, w, [1, 2], [2, 1]) == pytest.approx(
            np.var(drawn[key]), rel=1e-9
        ), key


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
        columns = [
            rng.choice(np.flatnonzero(grid.list_of == j), n) for j, n in enumerate(numbers[1])
        ]
        means = [[grid.distances[np.ix_(r, c)].mean() for c in columns] for r in rows]
        drawn.append(list(contrast_values(np.array(means), weights).values()))
    mc.assert_near(mc.mean_of(drawn), list(contrast_values(grid.means(), weights).values()))
    sd = [0.5 * np.log(sampling_variance(grid, w, *numbers)) for w in weights.values()]
    mc.assert_near(mc.log_sd_of(drawn), sd)


KEY = ("class", "class0", "associated - different")


@functools.cache
def empty(words: tuple[int, ...], attributes: tuple[int, ...], neutral: int) -> Grid:
    scenario = Scenario(words=words, attributes=attributes, human=0, neutral=neutral)
    return grid_of(scenario.frame, "here")


def layout(
    words, attributes, seed=0, neutral=0, of_words=0.1, of_attributes=0.1, of_pairs=0.1
) -> Grid:
    """Return a grid whose distances have effects of words, of attributes and of pairs, with these spreads."""
    grid = empty(words, attributes, neutral)
    rng = np.random.default_rng(seed)
    n, m = grid.distances.shape
    effects = rng.normal(0, of_words, (n, 1)) + rng.normal(0, of_attributes, (1, m))
    return dataclasses.replace(grid, distances=1 + effects + rng.normal(0, of_pairs, (n, m)))


def squares(d: np.ndarray) -> tuple[float, float, float]:
    """Return the mean squares of rows, columns and what is left: the textbook table of a two-way layout."""
    n, m = d.shape
    total = ((d - d.mean()) ** 2).sum()
    rows = m * ((d.mean(axis=1) - d.mean()) ** 2).sum()
    columns = n * ((d.mean(axis=0) - d.mean()) ** 2).sum()
    return rows / (n - 1), columns / (m - 1), (total - rows - columns) / ((n - 1) * (m - 1))


def test_of_one_block_it_is_the_textbook_analysis_of_variance():
    """Var(mean) = (MS_rows + MS_columns - MS_rest) / nm, with Satterthwaite's degrees of freedom."""
    grid = layout((6, 4), (5, 7))
    weights = np.array([[1.0, 0.0], [0.0, 0.0]])
    n, m = 6, 5
    rows, columns, rest = squares(grid.distances[:6, :5])
    variance, freedom = moments(grid, weights)
    assert min(rows, columns) > rest  # nothing is taken for zero here
    assert variance == pytest.approx((rows + columns - rest) / (n * m))
    parts = [(rows, n - 1), (columns, m - 1), (-rest, (n - 1) * (m - 1))]
    assert freedom == pytest.approx(
        (rows + columns - rest) ** 2 / sum(ms**2 / df for ms, df in parts), rel=1e-9
    )


def test_a_component_below_zero_is_taken_for_zero():
    """Words that differ in nothing: the variance is that of attributes alone, whose mean squares hold the pairs'."""
    grid, weights = layout((6, 4), (5, 7), seed=1), np.array([[1.0, 0.0], [0.0, 0.0]])
    d = grid.distances
    grid = dataclasses.replace(grid, distances=d - d[:, :5].mean(axis=1, keepdims=True))
    rows, columns, rest = squares(grid.distances[:6, :5])
    assert rows == pytest.approx(0, abs=1e-20)
    assert columns > rest
    variance, freedom = moments(grid, weights)
    assert variance == pytest.approx(columns / 30)
    assert freedom == pytest.approx(4)
    # And where neither differ, that of the pairs.
    d = grid.distances
    grid = dataclasses.replace(grid, distances=d - d[:6].mean(axis=0))
    variance, freedom = moments(grid, weights)
    assert variance == pytest.approx(squares(grid.distances[:6, :5])[2] / 30)
    assert freedom == pytest.approx(20)


def test_what_blocks_share_cancels():
    """Of the same words over two lists, the difference is that of paired scores: the t-test's variance."""
    grid = layout((8, 2), (3, 3), of_attributes=0.0, of_pairs=0.0, of_words=0.3)
    weights = contrast_weights(grid, *grid.sizes())[KEY]
    variance, _ = moments(grid, weights)
    assert variance == pytest.approx(
        0, abs=1e-25
    )  # a word lies as near to one list as to the other
    extra = np.zeros(grid.distances.shape)
    extra[:8, :3] = np.random.default_rng(1).normal(0, 0.2, (8, 1))
    grid = dataclasses.replace(grid, distances=grid.distances + extra)
    variance, freedom = moments(grid, weights)
    assert variance == pytest.approx(np.var(extra[:8, 0], ddof=1) / 8)
    assert freedom == pytest.approx(7)
    frame = grid.frame()
    own = frame["protected_class"] == "class0"
    scores = (
        frame[own]
        .groupby(["protected_word", "connection"], observed=True)["distance"]
        .mean()
        .unstack()
    )
    test = stats.ttest_rel(scores["associated"], scores["different"])
    interval = test.confidence_interval(PROB)
    _, low, high = t_intervals(grid, {KEY: weights}, PROB, moments)[KEY]
    assert (low, high) == pytest.approx((interval.low, interval.high))


@pytest.mark.claim
def test_the_variance_by_moments_is_right_on_average():
    """Of contrasts over several blocks, against the spread of their estimates over many simulated tables."""
    estimates, variances = [], []
    for seed in range(600):
        grid = layout((6, 9), (7, 5), seed=seed, neutral=8, of_words=0.3, of_attributes=0.3)
        weights = contrast_weights(grid, *grid.sizes())
        estimates.append([float((w * grid.means()).sum()) for w in weights.values()])
        variances.append([moments(grid, w)[0] for w in weights.values()])
    logs = mc.log_sd_of(estimates)
    mean = mc.mean_of(variances)
    half = mc.Estimate(0.5 * np.log(mean.value), 0.5 * mean.error / mean.value)
    mc.assert_near(half, logs)


def test_crossed_intervals_are_t_intervals_by_the_method_of_moments(table):
    grid = grid_of(table, "here")
    weights = contrast_weights(grid, *grid.sizes())
    shown = crossed_intervals(table, 0.8).set_index(["level", "name", "contrast"])
    assert list(shown.index) == list(weights)
    for key, ends in t_intervals(grid, weights, 0.8, moments).items():
        row = shown.loc[key]
        assert row[["estimate", "low", "high"]].tolist() == pytest.approx(ends, rel=1e-12)
        variance, freedom = moments(grid, weights[key])
        assert (row["se"], row["df"]) == pytest.approx((np.sqrt(variance), freedom))


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("protected_word", "at least two words of each class"),
        ("attribute", "at least two attributes of each set"),
    ],
)
def test_crossed_intervals_need_two_of_each(table, column, message):
    """What varies cannot be learned from one."""
    outer = {"protected_word": "protected_class", "attribute": "attribute_class"}[column]
    first = table[outer].iloc[0]
    others = table.loc[table[outer] == first, column].unique()[1:]
    with pytest.raises(InputError, match=message):
        crossed_intervals(table[~table[column].isin(others)])
