"""The numbers of the lesson's JavaScript equal those of the package."""

import dataclasses
import json
import shutil
import subprocess

import numpy as np
import pytest
from helpers import monte_carlo as mc
from helpers.places import PACKAGE
from helpers.seeds import shifted
from scipy import special, stats

import bayesbias as bb
from bayesbias.lesson.page import COVERAGE
from bayesbias.scores import permutation_test
from bayesbias.simulation import grid as grids
from bayesbias.simulation.coverage import analyse_table

SCRIPT = PACKAGE / "_data" / "lesson" / "averaging.js"
NODE = shutil.which("node")
KEY = ("overall", "all", "associated - different")
PROB = 0.95
needs_node = pytest.mark.skipif(NODE is None, reason="needs node, which is not installed")


def in_node(folder, code, value):
    """Run code after the script in node, where `given` is a value, and return what it prints as JSON."""
    script = folder / "run.mjs"
    given = f"const given = {json.dumps(value)};\n"
    printed = "\nconsole.log(JSON.stringify(result));\n"
    script.write_text(SCRIPT.read_text(encoding="utf-8") + given + code + printed, encoding="utf-8")
    done = subprocess.run([NODE, str(script)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def layout(words, attributes):
    """Return a grid of two classes and two sets, with zeros for distances."""
    x, y = words
    a, b = attributes
    return grids.Grid(
        classes=("X", "Y"),
        lists=("A", "B"),
        words=tuple(f"word{number}" for number in range(x + y)),
        attributes=tuple(f"attribute{number}" for number in range(a + b)),
        class_of=np.repeat([0, 1], [x, y]),
        list_of=np.repeat([0, 1], [a, b]),
        connections=(("associated", "different"), ("different", "associated")),
        kinds=("stereotype", "stereotype"),
        distances=np.zeros((x + y, a + b)),
    )


def drawn(grid, rng, word_sd, attribute_sd, pair_sd):
    """Return distances in which words differ by set, attributes by class, and pairs."""
    of_words = rng.normal(0, word_sd, (len(grid.words), 2))[:, grid.list_of]
    of_attributes = rng.normal(0, attribute_sd, (2, len(grid.attributes)))[grid.class_of]
    return 1 + of_words + of_attributes + rng.normal(0, pair_sd, grid.distances.shape)


def random_grid(rng):
    """Return a small table of unequal sizes; in some, words or attributes do not differ."""
    words, attributes = rng.integers(2, 9, 2), rng.integers(2, 10, 2)
    grid = layout(words, attributes)
    sds = rng.choice([0, 0.02, 0.1], 2)
    return dataclasses.replace(grid, distances=drawn(grid, rng, *sds, rng.choice([0.03, 0.1])))


def of_package(grid):
    """Return what the package gives for a table: estimates with intervals, and p-values."""
    weights = {KEY: grids.contrast_weights(grid, *grid.sizes())[KEY]}
    of_a, of_b = (grid.distances @ grid.averaging()[1]).T
    is_x = grid.class_of == 0
    is_associated = grid.class_of[:, None] == grid.list_of
    pairs = stats.ttest_ind(
        grid.distances[is_associated], grid.distances[~is_associated], equal_var=False
    )
    manzini = stats.ttest_1samp(np.where(is_x, of_a - of_b, of_b - of_a), 0)
    estimate = grid.distances[is_associated].mean() - grid.distances[~is_associated].mean()
    scores = of_b - of_a
    weat = permutation_test(scores[is_x], scores[~is_x], sides=2)
    return {
        "pairs": [estimate, *pairs.confidence_interval(PROB)],
        "manzini": [
            np.where(is_x, of_a - of_b, of_b - of_a).mean(),
            *manzini.confidence_interval(PROB),
        ],
        "words": grids.t_intervals(grid, weights, PROB, grids.averages)[KEY],
        "crossed": grids.t_intervals(grid, weights, PROB, grids.moments)[KEY],
        "p": [pairs.pvalue, manzini.pvalue, weat.p_value],
    }


def of_public_names(grid):
    """Return the same by the names that users call, and by the methods of `coverage_simulated`."""
    frame = grid.frame()
    out = {}
    for name, method in (("pairs", "pairs_t"), ("manzini", "averages_t")):
        (answer,) = analyse_table(frame, method, 1, {"prob": PROB})
        out[name] = [answer["estimate"], answer["low"], answer["high"]]
    crossed = bb.simulation.crossed_intervals(frame, PROB).iloc[0]
    out["crossed"] = crossed[["estimate", "low", "high"]].astype(float).tolist()
    out["weat"] = bb.weat(frame, sides=2).p_value
    return out


@needs_node
def test_300_random_tables_give_the_numbers_of_the_package(tmp_path):
    rng = np.random.default_rng(1)
    tables = [random_grid(rng) for _ in range(300)]
    given = []
    for grid in tables:
        (x, y), (a, b) = (map(int, sizes) for sizes in grid.sizes())
        given.append({"distances": grid.distances.ravel().tolist(), "x": x, "y": y, "a": a, "b": b})
    code = """
    const result = given.map((table) => {
      const tests = { pairs: pairsTest(table), manzini: manziniTest(table), words: wordsTest(table) };
      tests.crossed = crossedTest(table);
      const out = { p: [tests.pairs.p, tests.manzini.p, weatTest(table).p] };
      for (const name in tests) out[name] = [tests[name].estimate, ...interval(tests[name], 0.95)];
      return out;
    });"""
    answers = in_node(tmp_path, code, given)
    for grid, answer in zip(tables, answers, strict=True):
        for name, expected in of_package(grid).items():
            assert answer[name] == pytest.approx(expected, rel=1e-9, abs=1e-9), name
    for grid, answer in zip(tables[:5], answers[:5], strict=True):
        expected = of_public_names(grid)
        assert answer["p"][2] == pytest.approx(expected.pop("weat"), abs=1e-9)
        for name, numbers in expected.items():
            assert answer[name] == pytest.approx(numbers, rel=1e-9, abs=1e-9), name


@needs_node
def test_distributions_are_exact(tmp_path):
    rng = np.random.default_rng(2)
    degrees = np.concatenate([[1, 1.3, 2, 2.5, 3, 30, 1e4], 10 ** rng.uniform(0, 3.5, 200)])
    outside = np.concatenate([[0.05, 1e-9, 0.999], 10 ** rng.uniform(-12, -0.01, len(degrees) - 3)])
    t = stats.t.isf(outside / 2, degrees)
    given = {"degrees": degrees.tolist(), "outside": outside.tolist(), "t": t.tolist()}
    code = """const result = given.degrees.map((df, i) => [
      tQuantile(given.outside[i], df), twoSidedP(given.t[i], df), logGamma(df / 2),
      incompleteBeta(df / 2, 1.5, given.outside[i]),
    ]);"""
    quantiles, p_values, gammas, betas = np.transpose(in_node(tmp_path, code, given))
    assert quantiles == pytest.approx(t, rel=1e-11)
    assert p_values == pytest.approx(outside, rel=1e-11)
    assert gammas == pytest.approx(special.gammaln(degrees / 2), rel=1e-13, abs=1e-13)
    assert betas == pytest.approx(special.betainc(degrees / 2, 1.5, outside), rel=1e-11)


@needs_node
def test_equal_sums_are_ties(tmp_path):
    """As in the example of the package: equal sums that differ in their last bits."""
    pairs = [
        ([0.4, 0.3, 0.2], [0.3, 0.1, -0.2]),
        ([0.1, 0.1], [0.1, 0.1, 0.1]),
        ([1, 2], [3, 5, 9]),
    ]
    answers = in_node(
        tmp_path, "const result = given.map((pair) => permutationTest(...pair).p);", pairs
    )
    expected = [permutation_test(x, y, sides=2).p_value for x, y in pairs]
    assert answers == pytest.approx(expected, abs=1e-12)


@needs_node
@pytest.mark.parametrize(("words", "attributes"), [(8, 8), (16, 4)])
def test_simulated_tables_have_the_variances_of_the_sliders(tmp_path, words, attributes):
    """The variance of the estimate follows from the SDs; so do false alarms of the crossed test."""
    sds = {"wordSd": 0.03, "attributeSd": 0.05, "pairSd": 0.08}
    settings = {
        "words": words,
        "attributes": attributes,
        "difference": 0.02,
        "tables": 4000,
        "prob": 0.95,
    }
    given = {**settings, **sds, "seed": shifted(1)}
    code = """const found = simulate(given); const result = {
      estimates: found.estimates, weat: countBelow(found.p.weat, 0.05),
      covered: countCovering(found.intervals.crossed, given.difference) };"""
    answer = in_node(tmp_path, code, given)
    estimates = np.array(answer["estimates"])
    # Four blocks with weights of one half each.
    parts = 0.03**2 / words + 0.05**2 / attributes + 0.08**2 / (words * attributes)
    mc.assert_near(mc.mean_of(estimates), 0.02)
    mc.assert_near(mc.log_sd_of(estimates), np.log(np.sqrt(parts)))
    assert 0 < answer["weat"] < 4000
    assert mc.fewest(4000, 0.94) < answer["covered"] < mc.most(4000, 0.98)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("attributes", "words", "share"),
    [
        (8, 8, float(COVERAGE["share"])),
        (2, 2, float(COVERAGE["share_of_two"])),
        (32, 8, 100 - float(COVERAGE["alarms_of_32"])),
    ],
)
def test_crossed_intervals_cover_what_the_page_says(attributes, words, share):
    tables = 4000
    grid = layout((words, words), (attributes, attributes))
    weights = grids.contrast_weights(grid, *grid.sizes())[KEY]
    rng = np.random.default_rng(shifted(3))
    covered = 0
    for _ in range(tables):
        table = dataclasses.replace(grid, distances=drawn(grid, rng, 0.03, 0.04, 0.08))
        _, low, high = grids.t_intervals(table, {KEY: weights}, PROB, grids.moments)[KEY]
        covered += low <= 0 <= high
    assert mc.fewest(tables, share / 100) <= covered <= mc.most(tables, share / 100)
