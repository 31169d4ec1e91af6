"""The paper's simulations digit for digit, and the calibration of the methods held to theory."""

from __future__ import annotations

import dataclasses
import json
import math
import statistics
import time

import numpy as np
import pandas as pd
import pytest
from bayesbias.cli.simulating import _grid_shows
from click.testing import CliRunner
from helpers import monte_carlo as mc
from helpers.seeds import shifted
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from scipy import stats

from bayesbias.cli.main import cli
from bayesbias.core.errors import InputError
from bayesbias.plots.critique import plot_false_alarms, plot_paper
from bayesbias.scores.association import effect_size, largest_effect_size
from bayesbias.scores.permutation import permutation_test
from bayesbias.simulation import alarms, paper as paper_room
from bayesbias.simulation.alarms import simulate_grid
from bayesbias.simulation.nulls import null_distribution
from bayesbias.simulation.paper import FORMULAS, PAPER_CASES, paper_draws, simulate_paper
from bayesbias.simulation.questions import METHODS, SINGLE_DRAW
from bayesbias.simulation.rrandom import RRandom


@pytest.fixture(scope="module")
def paper():
    return simulate_paper()


@pytest.fixture(scope="module")
def grid():
    return simulate_grid([2, 4, 8, 16], [0.1], [0.0, 0.06], draws=2000, seed=shifted(1))


# -- the paper -------------------------------------------------------------------------------------

# Section 3 of the seed paper, as printed.
PRINTED = {
    ("no difference, sd 0.05", "factor"): "0.02342637",
    ("no difference, sd 0.05", "numerator"): "0.04275325",
    ("no difference, sd 0.05", "bias"): "1.825005",
    ("no difference, sd 0.001", "factor"): "0.0006402666",
    ("no difference, sd 0.001", "numerator"): "-0.001237637",
    ("no difference, sd 0.001", "bias"): "-1.933003",
    ("difference, sd 0.05", "bias"): "1.490014",
    ("difference, sd 0.05", "mean"): "1.690664",
    ("difference, sd 0.05", "median"): "1.707511",
    ("difference, sd 0.05", "quantile 27.5%"): "1.539149",
    ("difference, sd 0.05", "quantile 97.5%"): "2.166488",
    ("difference, sd 0.1", "bias"): "1.223023",
    ("difference, sd 0.1", "mean"): "1.563319",
    ("difference, sd 0.1", "median"): "1.638136",
    ("difference, sd 0.1", "quantile 27.5%"): "1.300648",
    ("difference, sd 0.1", "quantile 97.5%"): "2.356815",
}


def test_every_printed_number_comes_out_as_coded(paper) -> None:
    coded = paper[paper["formula"] == "as coded"].set_index(["case", "quantity"])
    for key, text in PRINTED.items():
        assert f"{coded.loc[key, 'value']:.7g}" == text
        assert coded.loc[key, "printed"] == float(text)
    assert coded["printed"].notna().sum() == len(PRINTED)
    intended = paper[paper["formula"] == "as intended"]
    assert intended["printed"].isna().all()
    assert list(paper.columns) == ["case", "formula", "quantity", "printed", "value"]
    assert len(paper) == 4 * 2 * 8
    assert paper["value"].notna().all()


def test_the_single_draws_as_intended() -> None:
    # The values of the request; a hand calculation is in the next test.
    found = [paper_draws(case, 1).single["as intended"]["bias"] for case in PAPER_CASES]
    assert [f"{value:.4f}" for value in found] == ["0.6480", "-0.2200", "1.6768", "1.5530"]


@pytest.mark.parametrize("case", PAPER_CASES, ids=lambda case: case.name)
def test_the_loops_against_the_code_written_out(case) -> None:
    random = RRandom(case.seed)

    def draw() -> tuple[float, float]:
        s = []
        for word in range(4):
            mean_a, mean_b = (case.mean, 0.0) if word < 2 else (0.0, case.mean)
            a = random.rnorm(5, mean_a, case.sd)
            b = random.rnorm(5, mean_b, case.sd)
            s.append(statistics.fmean(a) - statistics.fmean(b))
        factor = statistics.stdev(s)
        return (s[0] - s[2]) / factor, ((s[0] + s[1]) / 2 - (s[2] + s[3]) / 2) / factor

    single = draw()
    if case.seed == 124:  # the one seed the paper sets again before its loop
        random = RRandom(case.seed)
    loop = np.array([draw() for _ in range(20)])
    result = paper_draws(case.name, 20)
    assert [result.single[f]["bias"] for f in FORMULAS] == pytest.approx(single, abs=1e-12)
    for column, formula in enumerate(FORMULAS):
        assert result.effect_sizes[formula] == pytest.approx(loop[:, column], abs=1e-12)


def test_the_printed_null_results_are_impossible_as_intended() -> None:
    bound = largest_effect_size(2, 2)
    assert bound == pytest.approx(math.sqrt(3), rel=1e-15)
    for case in PAPER_CASES:
        draws = paper_draws(case)
        assert np.abs(draws.effect_sizes["as intended"]).max() <= bound * (1 + 1e-12)
        coded = np.abs(draws.effect_sizes["as coded"])
        assert bound < coded.max() <= math.sqrt(6) * (1 + 1e-12)
    for case in PAPER_CASES[:2]:
        assert abs(case.printed["bias"]) > bound
    # sqrt(6) is reached where the two words that count lie apart and the others between them
    s = np.array([[1.0, 0.0, -1.0, 0.0]])
    assert paper_room._paper_effect_sizes(s)["as coded"]["bias"][0] == pytest.approx(math.sqrt(6))


def test_the_second_null_case_is_the_first_on_another_scale() -> None:
    case = PAPER_CASES[0]
    small = dataclasses.replace(case, sd=0.001)
    for formula in FORMULAS:
        one, other = paper_draws(case, 500), paper_draws(small, 500)
        assert other.effect_sizes[formula] == pytest.approx(one.effect_sizes[formula], abs=1e-9)
        assert other.single[formula]["factor"] == pytest.approx(one.single[formula]["factor"] / 50, rel=1e-9)


def test_ten_thousand_draws_take_well_under_a_second() -> None:
    paper_draws(PAPER_CASES[0], 10)
    started = time.process_time()
    paper_draws(PAPER_CASES[0])
    assert time.process_time() - started < 0.5


# -- the null distribution -------------------------------------------------------------------------


def test_the_null_distribution_of_two_and_two_words_is_uniform() -> None:
    null = null_distribution(2, 2, n_attributes=5, draws=20_000, seed=shifted(3))
    share = (null.effect_sizes / math.sqrt(3) + 1) / 2
    assert stats.kstest(share, "uniform").pvalue > mc.CHANCE
    assert null.quantile([0, 0.25, 1]) == pytest.approx([-math.sqrt(3), -math.sqrt(3) / 2, math.sqrt(3)])
    assert null.above(1.5) == pytest.approx(1 - 1.5 / math.sqrt(3))


@pytest.mark.parametrize(
    ("n_x", "n_y", "denominator"), [(3, 5, "union_n_minus_1"), (8, 8, "union_n"), (1, 2, "union_n")]
)
def test_the_exact_null_distribution(n_x, n_y, denominator) -> None:
    null = null_distribution(n_x, n_y, 2, denominator=denominator, draws=20_000, seed=shifted(4))
    assert null.largest == largest_effect_size(n_x, n_y, denominator)
    assert np.abs(null.effect_sizes).max() <= null.largest * (1 + 1e-12)
    for q in (0.025, 0.3, 0.9):
        at = float(null.quantile(q))
        assert np.mean(null.effect_sizes <= at) == pytest.approx(
            q, abs=mc.K * math.sqrt(q * (1 - q) / 20_000)
        )
        assert null.above(at) == pytest.approx(2 * min(q, 1 - q), abs=1e-9)
    frame = null.summary().set_index("quantity")
    mc.assert_near(mc.log_sd_of(null.effect_sizes), math.log(frame.loc["sd", "exact"]))
    assert frame.loc["sd", "simulated"] == pytest.approx(null.effect_sizes.std(ddof=1), rel=1e-3)
    # A quantile lies where its share of the draws does, to within the error of a share.
    for name, row in frame.drop(["sd", "largest |d|"]).iterrows():
        if name.startswith("quantile"):
            p = float(name.split()[1].rstrip("%")) / 100
            found = np.mean(null.effect_sizes <= row["exact"])
            assert row["simulated"] == pytest.approx(np.quantile(null.effect_sizes, p), rel=1e-9)
        else:
            p, found = row["exact"], row["simulated"]
        assert abs(found - p) <= mc.K * math.sqrt(p * (1 - p) / 20_000), name


def test_null_draws_are_effect_sizes() -> None:
    null = null_distribution(3, 4, 6, 0.2, draws=1, seed=shifted(9))
    pairs = np.random.default_rng(shifted(9)).standard_normal((7, 2, 6)) * 0.2
    s = [float(p[0].mean() - p[1].mean()) for p in pairs]
    assert null.effect_sizes[0] == pytest.approx(effect_size(s[:3], s[3:]), rel=1e-12)
    two = null_distribution(1, 1, draws=100)
    assert np.abs(two.effect_sizes) == pytest.approx(np.full(100, math.sqrt(2)))
    assert (two.quantile([0.1, 0.9]).round(6).tolist(), two.above(1.4), two.above(1.5)) == (
        [-1.414214, 1.414214], 1.0, 0.0,
    )  # fmt: skip


def test_the_null_distribution_has_no_scale() -> None:
    one, other = (null_distribution(4, 4, sd=sd, draws=1000) for sd in (0.05, 1e-9))
    assert other.effect_sizes == pytest.approx(one.effect_sizes, abs=1e-9)


# -- the grid --------------------------------------------------------------------------------------


def cell(frame, n: int, attribute_sd: float, question: str, method: str):
    rows = frame[(frame["n_words"] == n) & (frame["attribute_sd"] == attribute_sd)]
    rows = rows[(rows["question"] == question) & (rows["method"] == method)]
    assert len(rows) == 1
    return rows.iloc[0]


@pytest.mark.slow
def test_where_attributes_do_not_vary_every_method_keeps_its_promise(grid) -> None:
    for n in (2, 4, 8, 16):
        for question, method in METHODS:
            assert cell(grid, n, 0.0, question, method)["alarms"] * 2000 <= mc.most(2000, 0.05)
    # With two words a class a one-sided p is at least 1/6, and a two-sided one at least 1/3.
    for attribute_sd in (0.0, 0.06):
        for method in ("weat", "weat_two_sided"):
            assert cell(grid, 2, attribute_sd, "classes", method)["alarms"] == 0


@pytest.mark.slow
def test_where_attributes_vary_alarms_grow_with_words(grid) -> None:
    for key in [("classes", "weat"), ("classes", "pairs"), ("tables", "manzini"), ("tables", "pairs")]:
        rates = [cell(grid, n, 0.06, *key)["alarms"] for n in (4, 8, 16)]
        low, middle, high = (mc.Estimate(p, math.sqrt(p * (1 - p) / 2000)) for p in rates)
        assert low.value * 2000 > mc.most(2000, 0.05)
        assert (middle - low).may_reach(0)
        assert (high - middle).may_reach(0)
        assert not (low - high).may_reach(0)
        assert high.may_reach(0.2)
        assert not high.may_stay_below(0.1)
    for n in (2, 4, 8, 16):
        for question in ("classes", "tables"):
            row = cell(grid, n, 0.06, question, "attributes")
            assert mc.fewest(2000, 0.05) <= row["alarms"] * 2000 <= mc.most(2000, 0.05)


@pytest.mark.slow
def test_how_far_the_truth_lies_is_what_theory_says(grid) -> None:
    sigma, k = 0.1, 8
    # Relative errors of an sd, and of a normal 97.5 % quantile, from 2,000 tables.
    of_sd = mc.K / math.sqrt(2 * 2000)
    of_end = mc.K * math.sqrt(0.025 * 0.975 / 2000) / (stats.norm.pdf(1.96) * 1.96)
    for n in (2, 8, 16):
        for tau in (0.0, 0.06):
            weat = cell(grid, n, tau, "classes", "weat")
            assert weat["truth_sd"] == pytest.approx(math.sqrt(4 * (tau**2 + sigma**2 / n) / k), rel=of_sd)
            # what is claimed knows of the pairs only
            assert weat["claimed_sd"] == pytest.approx(math.sqrt(4 * sigma**2 / (n * k)), rel=of_sd)
            tables = cell(grid, n, tau, "tables", "attributes")
            expected = math.sqrt((tau**2 + sigma**2 / n) / (2 * k))
            assert tables["truth_sd"] == pytest.approx(expected, rel=of_sd)
            assert tables["claimed_sd"] == pytest.approx(expected, rel=of_sd)
            assert weat["truth_high"] == pytest.approx(1.96 * weat["truth_sd"], rel=of_end)
            assert weat["truth_low"] == pytest.approx(-1.96 * weat["truth_sd"], rel=of_end)
    assert (
        cell(grid, 16, 0.06, "tables", "manzini")["claimed_sd"]
        < 0.5 * cell(grid, 16, 0.06, "tables", "manzini")["truth_sd"]
    )
    null = null_distribution(8, 8, draws=1)
    row = cell(grid, 8, 0.0, "classes", "weat")
    assert [row["effect_low"], row["effect_high"]] == pytest.approx(null.quantile([0.025, 0.975]), rel=of_end)


@pytest.mark.slow
def test_a_row_depends_on_nothing_but_its_own_settings(grid) -> None:
    again = simulate_grid([8], [0.1], [0.06], draws=2000, seed=shifted(1))
    mine = grid[(grid["n_words"] == 8) & (grid["attribute_sd"] == 0.06)].reset_index(drop=True)
    assert again.equals(mine)
    other = simulate_grid([8], [0.1], [0.06], draws=2000, seed=shifted(2))
    assert not other["truth_sd"].equals(mine["truth_sd"])


def test_alarms_have_no_scale() -> None:
    for n in (4, 9):
        one, other = (
            alarms._simulate_cell(np.random.default_rng(5), n, 4, 0.1 * scale, 0.05 * scale, 0.0, 0.05, 300)
            for scale in (1, 1e-4)
        )
        for key in METHODS:
            assert (one[key].alarm == other[key].alarm).all()
            assert other[key].score == pytest.approx(one[key].score * 1e-4, rel=1e-9, abs=1e-15)


def test_the_tests_of_the_grid_are_the_usual_ones() -> None:
    random = np.random.default_rng(8)
    tables = random.normal(0, 1, (40, 2, 3, 2, 4)) + random.normal(0, 0.7, (40, 2, 1, 2, 4))
    alpha = 0.15  # 3 + 3 words have no two-sided p below 0.1
    classes = alarms._ask_classes(tables, alpha, random)
    changes = alarms._ask_tables(tables, alpha)
    for i, t in enumerate(tables):
        s = t.mean(axis=3)[..., 0] - t.mean(axis=3)[..., 1]
        assert classes["weat"].score[i] == pytest.approx(s[0].mean() - s[1].mean())
        assert classes["weat"].effect[i] == pytest.approx(effect_size(s[0], s[1]))
        assert classes["weat"].alarm[i] == (permutation_test(s[0], s[1]).p_value < alpha)
        assert classes["weat_two_sided"].alarm[i] == (permutation_test(s[0], s[1], sides=2).p_value < alpha)
        associated = np.concatenate([t[0, :, 0].ravel(), t[1, :, 1].ravel()])
        different = np.concatenate([t[0, :, 1].ravel(), t[1, :, 0].ravel()])
        test = stats.ttest_ind(associated, different)
        assert classes["pairs"].alarm[i] == (test.pvalue < alpha)
        assert classes["pairs"].score[i] / classes["pairs"].error[i] == pytest.approx(test.statistic)
        leans = t[0].mean(axis=0) - t[1].mean(axis=0)
        test = stats.ttest_ind(leans[0], leans[1])
        assert classes["attributes"].score[i] / classes["attributes"].error[i] == pytest.approx(
            test.statistic
        )
        assert classes["attributes"].alarm[i] == (test.pvalue < alpha)
        for name, values in (
            ("manzini", t.mean(axis=3)), ("pairs", t), ("attributes", t.mean(axis=(0, 1))),
        ):  # fmt: skip
            test = stats.ttest_1samp(values.ravel(), 0)
            assert changes[name].score[i] / changes[name].error[i] == pytest.approx(test.statistic)
            assert changes[name].alarm[i] == (test.pvalue < alpha)
    for calls in (*classes.values(), *changes.values()):
        assert 0 < calls.alarm.sum() < 40


@pytest.mark.slow
def test_drawn_partitions_agree_with_the_exact_test() -> None:
    random = np.random.default_rng(10)
    s = random.normal(size=(6, 18))
    s[:3, :9] += 0.8
    upper, both = alarms._permutation_p(s, np.random.default_rng(shifted(10)))
    for i, row in enumerate(s):
        for found, sides in ((upper[i], 1), (both[i], 2)):
            exact = permutation_test(row[:9], row[9:], sides=sides).p_value
            assert (
                abs(found - exact) < mc.K * math.sqrt(exact * (1 - exact) / 2000) + 1e-3
            )  # (1 + hits) / 2001


def test_a_true_difference_is_found() -> None:
    frame = simulate_grid([8], [0.1], [0.03], draws=500, difference=0.1, seed=shifted(4))
    for question, method in METHODS:
        row = cell(frame, 8, 0.03, question, method)
        assert row["alarms"] > 0.75
        # the truth still lies around the score
        error = math.sqrt(2 * 0.025 * 0.975 / 500) / (stats.norm.pdf(1.96) * 1.96)  # of two ends, relative
        assert abs(row["truth_low"] + row["truth_high"]) < mc.K * error * row["truth_high"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: paper_draws("no diference, sd 0.05"), "did you mean 'no difference, sd 0.05'"),
        (lambda: paper_draws(PAPER_CASES[0], 0), "draws"),
        (lambda: null_distribution(0, 2), "n_x"),
        (lambda: null_distribution(sd=0), "sd"),
        (lambda: null_distribution(denominator="pooled"), "no ceiling"),
        (lambda: null_distribution(draws=1).quantile(1.5), "probability"),
        (lambda: simulate_grid([1]), "n_words"),
        (lambda: simulate_grid([]), "n_words"),
        (lambda: simulate_grid([4, 4]), "each once"),
        (lambda: simulate_grid(4), "a list is expected"),
        (lambda: simulate_grid([4], [0.0]), "pair_sd"),
        (lambda: simulate_grid([4], attribute_sd=[-1]), "attribute_sd"),
        (lambda: simulate_grid([4], n_attributes=1), "n_attributes"),
        (lambda: simulate_grid([4], alpha=1), "alpha"),
        (lambda: simulate_grid([4], difference=math.nan), "difference"),
        (lambda: simulate_grid([4], seed=-1), "seed"),
    ],
)
def test_bad_arguments_are_named(call, said) -> None:
    with pytest.raises(InputError, match=said):
        call()


# -- figures ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_histogram_shows_what_is_impossible() -> None:
    ax = plot_paper("no difference, sd 0.05", ax=Figure().subplots())
    hatched = [p for p in ax.patches if p.get_hatch()]
    edges = sorted(x for p in hatched for x in (p.get_x(), p.get_x() + p.get_width()))
    assert edges == pytest.approx([-2.6, -math.sqrt(3), math.sqrt(3), 2.6])
    bars = [p for p in ax.patches if isinstance(p, Rectangle) and not p.get_hatch()]
    area = sum(p.get_width() * p.get_height() for p in bars)
    assert area == pytest.approx(1, abs=1e-6)
    beyond = sum(
        p.get_width() * p.get_height() for p in bars if abs(p.get_x() + p.get_width() / 2) > math.sqrt(3)
    )
    coded = paper_draws("no difference, sd 0.05").effect_sizes["as coded"]
    assert beyond == pytest.approx(np.mean(np.abs(coded) > math.sqrt(3)), abs=1e-6)
    singles = [line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 1]
    assert singles == pytest.approx([1.825005, 0.648], abs=1e-4)


@pytest.mark.slow
def test_the_alarm_lines_are_those_of_the_grid(grid) -> None:
    ax = plot_false_alarms(grid, ax=Figure().subplots())
    lines = {line.get_label(): line for line in ax.lines}
    for question, method in [("classes", "weat"), ("tables", "manzini"), ("classes", "pairs")]:
        line = lines[f"_{question} {method}"]
        assert line.get_xdata().tolist() == [2, 4, 8, 16]
        assert line.get_ydata().tolist() == [
            cell(grid, n, 0.06, question, method)["alarms"] for n in (2, 4, 8, 16)
        ]
    ax = plot_false_alarms(grid, ax=Figure().subplots(), attribute_sd=0.0, methods=[("tables", "attributes")])
    assert ax.lines[0].get_ydata()[0] == cell(grid, 2, 0.0, "tables", "attributes")["alarms"]
    with pytest.raises(InputError, match="no such spread"):
        plot_false_alarms(grid, ax=Figure().subplots(), pair_sd=3)
    with pytest.raises(InputError, match="no such method"):
        plot_false_alarms(grid, ax=Figure().subplots(), methods=[("classes", "manzini")])


# -- the command -----------------------------------------------------------------------------------


def run(*args: object) -> str:
    result = CliRunner().invoke(cli, ["simulate", *map(str, args)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.slow
def test_simulate_paper_prints_its_rows(paper) -> None:
    rows = json.loads(run("paper", "--json"))["rows"]
    assert [list(row) for row in rows] == [["case", "formula", "quantity", "printed", "value"]] * len(paper)
    for row, value in zip(rows, paper["value"], strict=True):
        assert row["value"] == pytest.approx(value, abs=1e-14)
        if row["printed"] is not None:
            assert row["value"] == pytest.approx(row["printed"], rel=5e-7)
    assert sum(row["printed"] is not None for row in rows) == len(PRINTED)
    said = run("paper")
    assert "1.825005" in said
    ends = paper.set_index(["formula", "case", "quantity"])["value"]["as intended"]
    for sd in ("0.05", "0.001"):
        low, high = (ends[f"no difference, sd {sd}", f"quantile {q}"] for q in ("2.5%", "97.5%"))
        assert f"in {low:+.2f} to {high:+.2f} if" in said.splitlines()[-1]
    assert said.count("1.707511") == 2  # a median that the paper prints, of as many draws
    assert "Where nothing differs, 95 % of" in run("paper", "--draws", 40)
    assert "Where nothing differs" not in run("paper", "--draws", 39)  # of which none lies beyond the ends
    few = [line.split() for line in run("paper", "--draws", 500).splitlines() if " median " in line]
    assert {len(line[-1].lstrip("-")) for line in few} <= {
        3,
        4,
    }  # one decimal, or two where the spread is small


def test_the_grid_names_an_excess_only_where_it_is_clear() -> None:
    """Of classes Welch's test of pairs is clear in two rows, of tables the paired one of the same name in none."""
    columns = ["question", "method", "alarms", "alarms_low", "alarms_high"]
    rows = [
        ("classes", "weat_two_sided", 0.09, 0.04, 0.17),
        ("classes", "pairs", 0.20, 0.06, 0.44),
        ("classes", "pairs", 0.12, 0.105, 0.136),
        ("tables", "pairs", 0.08, 0.02, 0.19),
        ("tables", "manzini", 0.06, 0.01, 0.17),
    ]
    grid = pd.DataFrame(rows, columns=columns)
    said = (
        "Methods with more alarms than the 5 % they claim, beyond the 95 % interval, each where that is clearest: "
        'for "classes" pairs (12.0%, 10.5% to 13.6%); for "tables" none.'
    )
    assert _grid_shows(grid.assign(n_words=4)) == said
    # With few words the permutation test cannot reject, and no alarm looks like safety.
    mute = " WEAT has a p of at least 1/6 with 2 words a class: it calls nothing there, whatever there is."
    assert _grid_shows(grid.assign(n_words=2)) == said + mute
    assert _grid_shows(grid.assign(n_words=3)).endswith(
        "Two-sided WEAT has a p of at least 2/20 with 3 words a class"
        ": it calls nothing there, whatever there is."
    )


def test_what_rows_are_called_is_explained_where_they_stand_and_in_the_help() -> None:
    help_, grid, of_paper = (
        run("--help"),
        run("grid", "--words", 2, "--draws", 40),
        run("paper", "--draws", 2),
    )
    for (question, method), text in METHODS.items():
        for said in (help_, grid):
            (line,) = (
                line
                for line in said.splitlines()
                if line.strip().startswith(f"{question}, {method}  ".replace("_", " "))
            )
            assert line.endswith(text)
    for name, text in SINGLE_DRAW.items():
        for said in (help_, of_paper):
            assert any(line.split() == [name, *text.split()] for line in said.splitlines())
    lines = grid.splitlines()
    shows = [i for i, line in enumerate(lines) if line.startswith("Methods with more alarms than")]
    assert (
        shows[0]
        < next(i for i, line in enumerate(lines) if "its 95% interval" in line)
        < shows[1]
        == len(lines) - 1
    )


@pytest.mark.slow
def test_simulate_null_and_grid() -> None:
    printed = json.loads(
        run("null", "--words", 4, "--attributes", 3, "--seed", shifted(5), "--draws", 100, "--json")
    )
    null = null_distribution(4, 4, 3, draws=100, seed=shifted(5))
    assert (printed["n_x"], printed["largest"]) == (4, null.largest)
    found = {row["quantity"]: row["simulated"] for row in printed["summary"]}
    assert found["largest |d|"] == pytest.approx(np.abs(null.effect_sizes).max())
    args = [
        "grid",
        "--words",
        "2,4",
        "--pair-sd",
        "0.2",
        "--attribute-sd",
        "0,0.1",
        "--draws",
        50,
        "--attributes",
        3,
    ]
    said = run(*args, "--seed", shifted(6))
    assert "_" not in said
    assert {"words", "alarms", "claimed"} <= set(said.split())
    last, at_once = said.splitlines()[-1], run("null", "--words", 2, "--draws", 100).splitlines()[-1]
    assert "2 + 2 words have an effect size of 0.8 or more, up or down, in 54% of tables" in at_once
    rows = json.loads(run(*args, "--seed", shifted(6), "--json"))["rows"]
    expected = simulate_grid([2, 4], [0.2], [0, 0.1], n_attributes=3, draws=50, seed=shifted(6))
    assert [row["alarms"] for row in rows] == expected["alarms"].tolist()
    assert last.startswith("Methods with more alarms than the 5 % they claim")
    assert {row["effect_low"] is None for row in rows if row["method"] == "manzini"} == {True}
    for args, said in [
        (["paper", "--words", "2"], "no meaning"),
        (["null", "--words", "2,3"], "one number"),
        (["grid", "--words", "2,x"], "not a number"),
    ]:
        with pytest.raises(InputError, match=said):
            run(*args)
