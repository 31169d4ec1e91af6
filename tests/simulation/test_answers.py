"""The plan of answers: designs, their widths, what it says of repeats, and the command."""

import functools
import json
import os

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from helpers.responses import quick

import bayesbias as bb
from bayesbias.cli.main import cli
from bayesbias.core import InputError
from bayesbias.simulation import answers
from validation import designs

SDS = {"word": 0.2, "template": 0.1, "group_by_template": 0.05, "answer": 0.15}
FAST = {"check": 2, "progress": False}


def frame_of(repeats=2, words=3, seed=1, choice=False):
    """Return answers of two groups with words of their own to the same prompts."""
    rng = np.random.default_rng(seed)
    of_template, rows = rng.normal(0, 0.3, 4), []
    for group in "ab":
        for word in range(words):
            of_word = rng.normal(0, 0.5)
            for template, shared in enumerate(of_template):
                for _ in range(repeats):
                    score = of_word + shared + rng.normal(0, 0.4)
                    outcome = float(score > 0) if choice else score
                    rows.append((group, f"{group}{word}", f"t{template}", outcome))
    return pd.DataFrame(rows, columns=["group", "word", "template", "outcome"])


def command(*arguments):
    return CliRunner().invoke(cli, [*map(str, arguments)])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    quick(frame_of(), draws=200, chains=2).save(folder / "r")
    return folder / "r"


@pytest.fixture(scope="module")
def plan(run):
    return bb.simulation.plan_responses(run, width=3.0, **FAST)


@pytest.mark.slow
def test_the_design_is_that_of_the_run(plan):
    first = plan.iloc[0]
    assert first["design"] == "as given"
    assert first[["words", "prompts", "items", "repeats", "answers"]].tolist() == [3, 4, 1, 2, 48]
    assert plan["design"].tolist()[1:] == [
        "twice the words",
        "twice the prompts",
        "twice the repeats",
        "endless repeats",
    ]
    assert plan["answers"].dropna().tolist() == [48, 96, 96, 96]
    assert plan.attrs["contrast"] == "a - b"
    assert plan.attrs["floor"] == plan["mean_width"].iloc[-1]


@pytest.mark.slow
def test_enough_compares_the_width_that_80_percent_stay_below(run, plan):
    assert plan["enough"].all()
    exact = bb.simulation.plan_responses(run, width=plan["width_80"].iloc[0] * 0.999, **FAST)
    assert not exact["enough"].iloc[0]
    pd.testing.assert_series_equal(exact["width_80"], plan["width_80"])  # of the same seed


def test_a_table_has_the_labels_and_the_sds_of_the_truth():
    truth, _ = answers._of_sds({"word": 0.5, "answer": 0.25})
    size = answers.Size(words=400, repeats=3)
    labels = truth.labels(size)
    assert labels.groupby("group")["word"].nunique().tolist() == [400, 400]
    assert labels.duplicated().sum() == 2 * 800
    blank = truth.table(labels.assign(outcome=0.1 * np.arange(len(labels))))
    rows, _ = truth.kind.rows(blank, True)
    design = answers.Design.of(truth.spec, rows)
    drawn = {name: v[0] for name, v in design.prior_draws(1, 1, truth.given(design)).items()}
    y = pd.Series(design.outcome_draws(drawn, seed=2)).groupby(labels["word"])
    assert y.std().pow(2).mean() == pytest.approx(0.25**2, rel=0.15)
    assert y.mean().var() == pytest.approx(0.5**2 + 0.25**2 / 3, rel=0.15)


def test_counts_and_differences_become_answers():
    truth, _ = answers._of_sds({"word": 0.5, "rate": 0.3})
    labels = truth.labels(answers.Size(words=2, repeats=3))
    made = answers._answers(truth, labels, labels[::3], np.array([0, 1, 2, 3]), 3)
    assert made.groupby("word", sort=False)["outcome"].sum().tolist() == [0, 1, 2, 3]


@pytest.mark.slow
def test_paired_and_crossed_groups():
    frame = frame_of(repeats=1).drop(columns="word").drop_duplicates(["group", "template"])
    parts = []
    for k in range(3):
        shift = np.random.default_rng(k).normal(0, 0.3, len(frame))
        parts.append(frame.assign(item=f"i{k}", outcome=frame["outcome"] + shift))
    frame = pd.concat(parts)
    paired = quick(frame, draws=200, chains=2)
    assert paired.kind == "paired"
    plan = bb.simulation.plan_responses(paired, **FAST)
    assert plan.attrs["floor"] is None  # one answer to each question
    assert plan["design"].tolist() == ["as given", "twice the prompts", "twice the items"]

    rows = frame_of(words=8)
    rows["age"] = np.where(rows["word"].str[1:].astype(int) < 4, "old", "young")
    crossed = bb.responses_table(rows, group=["group", "age"], outcome="outcome")
    fit = quick(crossed, draws=200, chains=2)
    plan = bb.simulation.plan_responses(fit, contrast="(a - b): old - young", **FAST)
    assert plan["answers"].iloc[0] == 2 * 2 * 4 * 4 * 2


def test_a_number_that_is_not_known_is_refused(run):
    with pytest.raises(
        InputError, match="items: expected 1, got 3: nothing is known about how items"
    ):
        bb.simulation.plan_responses(run, items=3, **FAST)
    with pytest.raises(InputError, match="SD of: expected"):
        bb.simulation.plan_responses({"words": 0.2, "answer": 0.1}, **FAST)
    with pytest.raises(InputError, match="answer: expected the SD of repeated answers"):
        bb.simulation.plan_responses({"word": 0.2}, **FAST)
    with pytest.raises(InputError, match="plan: expected two or more of words, got one"):
        bb.simulation.plan_responses({"word": 0.2, "answer": 0.1}, **FAST)


@pytest.mark.slow
def test_the_command(run):
    done = command("sample-size", "--responses", run, "--check", 2, "--width", 2)
    assert "Width of the 89% interval of a - b" in done.output
    assert "endless repeats" in done.output
    assert "Repeats alone do not make it narrower" in " ".join(done.output.split())
    done = command(
        "sample-size", "--sds", "word=0.2,answer=0.1", "--words", 4, "--check", 2, "--json"
    )
    answer = json.loads(done.stdout)
    assert answer["rows"][0]["words"] == 4
    assert answer["contrast"] == "a - b"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--words", 3], "--words: expected --words beside --responses or --sds"),
        (["--sds", "word=0.2", "--reliability", 0.8], "expected --responses or --sds alone"),
        (["--sds", "word=x"], "--sds: expected a number for 'word', got 'x'"),
    ],
)
def test_options_that_do_not_go_together(arguments, problem):
    done = command("sample-size", *arguments)
    assert isinstance(done.exception, InputError)
    assert problem in str(done.exception)


NUMBERS = functools.partial(designs.crossed, estimand="population")
CHOICES = {
    "rate": 0.5,
    "word": 1.0,
    "template": 0.4,
    "group_by_template": 0.3,
    "question": 0.3,
}


@pytest.mark.claim
@pytest.mark.parametrize(
    ("sds", "size", "draw"),
    [
        (SDS, {"words": 10, "prompts": 4}, NUMBERS),
        (SDS, {"words": 5, "prompts": 4}, functools.partial(NUMBERS, words=5)),
        (SDS, {"words": 20, "prompts": 8}, functools.partial(NUMBERS, words=20, templates=8)),
        (
            {"word": 0.2, "item": 0.15, "answer": 0.15},
            {"words": 20, "items": 10},
            functools.partial(NUMBERS, words=20, templates=1, items=10),
        ),
        pytest.param(
            CHOICES,
            {"words": 10, "prompts": 4, "repeats": 5},
            designs.chosen,
            marks=pytest.mark.full,
        ),
    ],
)
def test_the_width_is_that_of_tables_simulated_otherwise(sds, size, draw):
    """Tables of another simulator, with the same SDs, have intervals of the planned mean width."""
    tables = 10 if os.environ.get("BAYESBIAS_TEST_SHORT") else 25
    widths = []
    for number in range(tables):
        rows, _ = draw(np.random.default_rng([number, 78]))
        table = bb.responses_table(pd.DataFrame(rows, columns=designs.COLUMNS))
        found = bb.fit_responses(table, seed=number, **answers.SAMPLING)
        row = found.contrasts(0.89, "population", "overall", families=False).iloc[0]
        widths.append(row["hpdi_high"] - row["hpdi_low"])
    truth, own = answers._of_sds(sds)
    planned = answers._widths(truth, answers._sized(truth, own, size), None, "population", 0.89, 0, 0, tables)  # fmt: skip
    error = np.hypot(pd.Series(widths).sem(), pd.Series(planned).sem())
    assert abs(np.mean(planned) - np.mean(widths)) < 0.1 * np.mean(widths) + 2 * error


@pytest.mark.slow
def test_a_long_simulation_is_announced_by_its_first_design(monkeypatch, capsys):
    monkeypatch.setattr("bayesbias.core.progress._LONG_S", 0.0)
    sds = {"word": 0.2, "template": 0.1, "answer": 0.15}
    bb.simulation.plan_responses(sds, words=3, prompts=3, check=2)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("Simulating 4 more designs takes about ")
    bb.simulation.plan_responses(sds, words=3, prompts=3, check=2, progress=False)
    assert capsys.readouterr().err == ""
