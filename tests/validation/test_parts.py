"""The parts of the validation run, on a few cases."""

import types

import numpy as np
import pytest
from scipy.special import expit

import validation.__main__ as validation_run
from validation import calibration, designs, factorial, pvalues, responses


def test_counts_of_partitions_by_hand():
    assert pvalues.counted([4, 3, 2], [3, 1, -2], 1) == 0.15
    assert pvalues.counted([1], [0], 2) == 1.0


def test_p_values_of_ten_cases_are_right():
    assert all(held for *_, held in pvalues.run(0.001))


def test_a_run_goes_on_where_it_stopped(tmp_path, capsys, monkeypatch):
    ran = []

    def run(share, piece):
        ran.append(piece)
        yield f"claim of {piece}", "2 tables", ".9", ".89", piece != "second"

    module = types.SimpleNamespace(PIECES=("first", "second"), run=run)
    monkeypatch.setattr(validation_run.importlib, "import_module", lambda name: module)
    monkeypatch.setattr(validation_run, "commit", lambda: "abc")
    command = ["--parts", "made", "--share", "0.5", "--out", str(tmp_path / "rows.jsonl")]
    assert validation_run.main([*command, "--minutes", "-1"]) == validation_run.UNFINISHED
    assert not ran
    assert "Left: made first, made second." in capsys.readouterr().err
    assert validation_run.main(command) == 1
    first = capsys.readouterr().out
    assert "| claim of first | 2 tables | .9 | .89 |" in first
    assert "**failed** claim of second" in first
    assert validation_run.main(command) == 1
    assert capsys.readouterr().out == first
    assert ran == ["first", "second"]
    monkeypatch.setattr(validation_run, "commit", lambda: "other")
    validation_run.main(command)
    assert ran == ["first", "second"] * 2


@pytest.mark.slow
@pytest.mark.parametrize("model", ["default", "crossed"])
def test_a_table_from_the_prior_has_ranks(model):
    ranks, held = calibration.one(model, 30)
    assert set(ranks) == set(held)
    assert len(ranks) > 100
    assert all(0 <= rank <= 1 for rank in ranks.values())


@pytest.mark.slow
@pytest.mark.parametrize("kind", responses.KINDS)
def test_tables_of_answers_have_the_true_difference_and_both_intervals(kind):
    rows = responses.one(kind, 1)
    scales = ["log_odds", "probability"] if kind == "responses_choice" else ["outcome"]
    if kind == responses.TWO:
        scales = [
            f"{of}, {scale}" for scale in ("log_odds", "probability") for of in ("m0", "m0 - m1")
        ]
    assert [row["scale"] for row in rows] == scales
    found = responses.coverage(rows)
    assert (found["width"] > found["t_width"].fillna(0)).all()
    assert found["model"].isin([0, 1]).all()


def test_the_true_probability_of_choices_is_that_of_new_words_and_templates():
    """Of many words and templates, against the mean of their probabilities."""
    rng = np.random.default_rng(0)
    _, truth = responses.choices(np.random.default_rng(3))
    again = np.random.default_rng(3)
    true, mean = again.normal(0, 1.5), again.normal(0, 1)
    spread = np.sqrt(1.65**2 + 0.6**2 + 0.87**2 + 0.33**2) * rng.normal(size=400_000)
    a, b = (expit(mean + sign * true / 2 + spread).mean() for sign in (1, -1))
    assert truth["probability"] == pytest.approx(a - b, abs=0.002)
    assert truth["log_odds"] == true


@pytest.mark.parametrize("name", designs.DESIGNS)
def test_means_of_many_simulated_answers_are_the_truth_of_their_design(name):
    """Over many tables the answers of a group have the true mean for what a design holds."""
    about, rng = designs.DESIGNS[name], np.random.default_rng(5)
    gaps = []
    for _ in range(300):
        rows, truth = about.draw(rng)
        y = np.array([row[-1] for row in rows])
        first = np.array([row[0] == "g0" for row in rows])
        others = np.array([row[0] != "g0" for row in rows])
        gaps.append(y[first].mean() - y[others].mean() - (truth[0] - truth[1:].mean()))
    error = np.std(gaps) / np.sqrt(len(gaps))
    assert abs(np.mean(gaps)) < 4 * error


@pytest.mark.slow
def test_an_interval_of_a_design_holds_its_estimate():
    found = designs.one("two_templates", 0)
    assert found["low"] < found["high"]


@pytest.mark.slow
def test_a_table_of_two_factors_has_the_true_effects_and_their_intervals(monkeypatch):
    for name in ("WORD_SD", "TEMPLATE_SD", "CELL_BY_TEMPLATE_SD", "ANSWER_SD"):
        monkeypatch.setattr(factorial, name, 0.001)
    frame, means = factorial.drawn(np.random.default_rng([0, 43]))
    cells = frame.groupby(["first", "second"])["outcome"].mean().unstack()
    np.testing.assert_allclose(cells, means, atol=0.005)
    found = factorial.one(0)
    assert all(found[kind] for kind in factorial.ROWS)
    assert all(found[f"{kind} width"] < 0.05 for kind in factorial.ROWS)
