"""Random halves of the words of one group: the split, the count of intervals, and the command."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import stats

import bayesbias as bb
from bayesbias.cli.main import cli
from bayesbias.core import InputError
from bayesbias.studies.responses import placebo

FAST = {"progress": False, "draws": 100}


def frame_of(words=9, items=5, seed=1):
    """Return answers of two groups of words to the same items."""
    rng = np.random.default_rng(seed)
    of_item, rows = rng.normal(0, 0.3, items), []
    for group in "ab":
        for word in range(words):
            of_word = rng.normal(0, 0.5)
            for item, shared in enumerate(of_item):
                score = of_word + shared + rng.normal(0, 0.3)
                rows.append((group, f"{group}{word}", f"i{item}", score))
    return pd.DataFrame(rows, columns=["group", "word", "item", "outcome"])


@pytest.fixture(scope="module")
def table():
    return bb.responses_table(frame_of())


def test_halves_have_the_words_of_the_group(table):
    frame = table.frame[table.frame["group"] == "a"]
    halves = placebo.split_in_two(table, frame, frame["word"].unique(), 1)
    words = halves.frame.groupby("group")["word"].unique()
    assert {*words["half 1"], *words["half 2"]} == {f"a{k}" for k in range(9)}
    assert sorted(map(len, words)) == [4, 5]
    again = placebo.split_in_two(table, frame, frame["word"].unique(), 2)
    assert {*again.frame.query("group == 'half 1'")["word"]} != {*words["half 1"]}
    assert halves.frame["outcome"].tolist() == frame["outcome"].tolist()


def test_intervals_that_exclude_zero_are_counted(table):
    found = bb.studies.fit_placebo(table, "a", splits=3, seed=4, **FAST)
    outside = [
        low > 0 or high < 0 for low, high in zip(found["hpdi_low"], found["hpdi_high"], strict=True)
    ]
    assert found["excludes_zero"].tolist() == outside
    assert found.attrs["excluded"] == sum(outside)
    assert found.attrs["expected"] == pytest.approx(0.33)
    again = bb.studies.fit_placebo(table, "a", splits=3, seed=4, **FAST)
    pd.testing.assert_frame_equal(found, again)


def test_the_mean_is_the_difference_of_the_halves(table):
    found = bb.studies.fit_placebo(table, "b", splits=2, seed=2, **FAST)
    frame = table.frame[table.frame["group"] == "b"]
    for row in found.itertuples():
        own = placebo.checks.derived_seed(2, row.split)
        halves = placebo.split_in_two(table, frame, frame["word"].unique(), own)
        means = halves.frame.groupby("group")["outcome"].mean()
        assert row.mean == pytest.approx(means["half 1"] - means["half 2"], abs=0.1)


def test_the_range_has_95_percent_of_counts():
    about = placebo.expected_by_chance(0, 300, 0.89)
    low, high = about["range"]
    inside = stats.binom.cdf(high, 300, 0.11) - stats.binom.cdf(low - 1, 300, 0.11)
    assert about["expected"] == 33
    assert inside >= 0.95


def test_cells_of_factors_have_halves():
    frame = frame_of(words=8)
    frame["age"] = np.where(frame["word"].str[1:].astype(int) < 4, "old", "young")
    crossed = bb.responses_table(frame, group=["group", "age"], outcome="outcome")
    found = bb.studies.fit_placebo(crossed, "a, old", splits=1, **FAST)
    assert found.attrs["words"] == 4


def test_a_group_without_enough_words_is_refused(table):
    with pytest.raises(InputError, match="group: expected a or b, got 'c'"):
        bb.studies.fit_placebo(table, "c", **FAST)
    few = bb.responses_table(frame_of(words=3))
    with pytest.raises(InputError, match="a: expected a group with 4 words or more, got 3"):
        bb.studies.fit_placebo(few, "a", **FAST)


def test_the_command(tmp_path):
    path = tmp_path / "answers.csv"
    frame_of().to_csv(path, index=False)
    arguments = ["responses", "placebo", str(path), "--group", "a", "--splits", "2"]
    done = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    text = " ".join(done.output.split())
    assert "9 words of a in two random halves" in text
    assert "of 2 intervals exclude 0. By chance 0.2 are expected" in text
    answer = json.loads(CliRunner().invoke(cli, [*arguments, "--json"]).stdout)
    assert [row["split"] for row in answer["rows"]] == [1, 2]
    assert answer["excluded"] == sum(row["excludes_zero"] for row in answer["rows"])


@pytest.mark.full
@pytest.mark.claim
def test_intervals_exclude_zero_as_often_as_they_should():
    """Of halves of one group 11 % of the intervals exclude 0, about those that t-tests of words name."""
    parts, tests = [], []
    tables = 40
    for seed in range(tables):
        simulated = bb.responses_table(frame_of(words=20, items=8, seed=seed))
        parts.append(bb.studies.fit_placebo(simulated, "a", splits=5, seed=seed, progress=False))
        frame = simulated.frame[simulated.frame["group"] == "a"]
        for split in range(1, 6):
            own = placebo.checks.derived_seed(seed, split)
            halves = placebo.split_in_two(simulated, frame, frame["word"].unique(), own)
            means = halves.frame.groupby(["group", "word"])["outcome"].mean()
            test = stats.ttest_ind(means["half 1"], means["half 2"], equal_var=False)
            tests.append(test.pvalue < 0.11)
    share = pd.concat(parts)["excludes_zero"].mean()
    assert abs(share - 0.11) < 0.04 + 2 * np.sqrt(0.11 * 0.89 / (5 * tables))
    assert abs(share - np.mean(tests)) < 0.04
