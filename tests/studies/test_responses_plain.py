"""0/1 answers that leave no random effect: each question asked once of one group, or one question."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import bayesbias as bb
from bayesbias.output.text import to_text

PROB = 0.89
DEMAND = 6  # Monte Carlo standard errors


def nested(ones, asked, column="item"):
    """Return answers to questions that are asked once, each of one group."""
    rows = []
    for group, count in ones.items():
        for question in range(asked):
            rows.append((group, f"{group} {question}", int(question < count)))
    return pd.DataFrame(rows, columns=["group", column, "outcome"])


def repeated(ones, asked, **labels):
    """Return repeated answers to one question."""
    return nested(ones, asked).drop(columns="item").assign(**labels)


def fitted(frame, **given):
    return bb.fit_responses(bb.responses_table(frame), seed=1, progress=False, **given)


def short(frame, **given):
    return fitted(frame, draws=200, tune=200, chains=2, **given)


def differences(found, scale="probability"):
    frame = found.contrasts(PROB, level="overall", detail=True)
    return frame[frame["scale"] == scale].set_index("estimand")


def exact_difference(first, second, scale, prior_sd=2.5):
    """Return the values of a difference and their posterior probabilities, in order, by a grid.

    Each side is (ones, answers). Log odds have independent normal priors with the SD of the model
    file, around the log odds of all answers.
    """
    log_odds = np.linspace(-16, 16, 801)
    zeros = first[1] + second[1] - first[0] - second[0]
    center = np.log((first[0] + second[0] + 0.5) / (zeros + 0.5))
    sides = []
    for ones, answers in (first, second):
        log_density = ones * log_odds - answers * np.logaddexp(0, log_odds)
        log_density -= 0.5 * ((log_odds - center) / prior_sd) ** 2
        density = np.exp(log_density - log_density.max())
        sides.append(density / density.sum())
    values = expit(log_odds) if scale == "probability" else log_odds
    difference = np.subtract.outer(values, values).ravel()
    order = np.argsort(difference)
    return difference[order], np.outer(*sides).ravel()[order]


def coverage(values, weights, low, high):
    return float(weights[(values >= low) & (values <= high)].sum())


DESIGNS = {
    "items once": (nested({"a": 16, "b": 32}, 40), (16, 40), (32, 40)),
    "words once": (nested({"a": 16, "b": 32}, 60, "word"), (16, 60), (32, 60)),
    "prompts once": (nested({"a": 16, "b": 32}, 40, "template"), (16, 40), (32, 40)),
    "one prompt": (repeated({"a": 56, "b": 30}, 100, template="p"), (56, 100), (30, 100)),
    "none of 20": (nested({"a": 0, "b": 11}, 20), (0, 20), (11, 20)),
    "eight rows": (nested({"a": 1, "b": 3}, 4), (1, 4), (3, 4)),
    "twelve rows": (nested({"a": 2, "b": 3}, 6), (2, 6), (3, 6)),
    "forty rows": (nested({"a": 9, "b": 13}, 20), (9, 20), (13, 20)),
}


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["nuts", "quick"])
@pytest.mark.parametrize("name", DESIGNS)
def test_the_difference_is_that_of_an_integral(name, engine):
    frame, first, second = DESIGNS[name]
    found = fitted(frame, engine=engine)
    assert found.fit.spec.mu == ("arm_mean",)
    for scale in ("probability", "log_odds"):
        row = differences(found, scale).loc["population"]
        values, weights = exact_difference(first, second, scale)
        mean = values @ weights
        sd = np.sqrt(values**2 @ weights - mean**2)
        effective = row["ess_bulk"]
        assert abs(row["mean"] - mean) < DEMAND * sd / np.sqrt(effective)
        assert row["sd"] == pytest.approx(sd, rel=DEMAND / np.sqrt(effective))
        # The share of an interval of draws varies by chance about as that of a tail on each side.
        inside = coverage(values, weights, row["hpdi_low"], row["hpdi_high"])
        error = np.sqrt(PROB * (1 - PROB) / effective)
        assert abs(inside - PROB) < DEMAND * error


@pytest.mark.parametrize("name", ["items once", "one prompt"])
def test_many_answers_give_the_standard_error_of_two_samples(name):
    frame, first, second = DESIGNS[name]
    row = differences(fitted(frame)).loc["population"]
    shares = np.array([first[0] / first[1], second[0] / second[1]])
    error = np.sqrt((shares * (1 - shares) / [first[1], second[1]]).sum())
    assert abs(row["mean"] - (shares[0] - shares[1])) < error / 5
    assert row["sd"] == pytest.approx(error, rel=0.1)


@pytest.mark.slow
def test_each_of_many_groups_has_the_mean_of_an_integral():
    ones = {f"g{k:02}": 4 * k + 3 for k in range(13)}
    found = fitted(nested(ones, 60))
    frame = found.contrasts(PROB, level="overall", estimand="population", detail=True)
    frame = frame[frame["scale"] == "probability"].set_index("contrast")
    assert len(frame) == 13 * 12 / 2 + 13
    for pair in ("g00 - g12", "g05 - g06"):
        sides = [(ones[group], 60) for group in pair.split(" - ")]
        values, weights = exact_difference(*sides, "probability")
        mean = values @ weights
        sd = np.sqrt(values**2 @ weights - mean**2)
        row = frame.loc[pair]
        assert abs(row["mean"] - mean) < DEMAND * sd / np.sqrt(row["ess_bulk"])


@pytest.mark.slow
def test_pymc_samples_the_same_model():
    frame, first, second = DESIGNS["one prompt"]
    row = differences(fitted(frame, sampler="pairwise"), "log_odds").loc["population"]
    values, weights = exact_difference(first, second, "log_odds")
    mean = values @ weights
    sd = np.sqrt(values**2 @ weights - mean**2)
    assert abs(row["mean"] - mean) < DEMAND * sd / np.sqrt(row["ess_bulk"])


def test_one_prompt_says_nothing_about_new_prompts():
    found = short(repeated({"a": 56, "b": 30}, 100, prompt="p"))
    assert found.estimands == {"population": "answers like these"}
    text = to_text(found)
    assert "new prompts" not in text
    assert any("nothing is known about other prompts" in note for note in found.notes)


def test_a_prompt_of_each_group_says_nothing_about_new_prompts():
    parts = [
        repeated({group: ones}, 60, prompt=f"p {group}") for group, ones in (("a", 30), ("b", 20))
    ]
    found = short(pd.concat(parts))
    assert found.estimands == {"population": "answers like these"}
    assert any("one prompt only" in note for note in found.notes)


def test_an_item_of_each_group_says_nothing_about_new_items():
    rng = np.random.default_rng(3)
    rows = [
        (group, f"item {group}", f"p{k}", int(rng.random() < 0.5))
        for group in "ab"
        for k in range(20)
    ]
    frame = pd.DataFrame(rows, columns=["group", "item", "prompt", "outcome"])
    found = short(frame)
    assert found.estimands["population"] == "new prompts"
    assert any("nothing is known about other items" in note for note in found.notes)


def test_answers_without_a_column_of_questions_count_as_one_question():
    found = short(repeated({"a": 20, "b": 30}, 60))
    assert found.estimands == {"population": "answers like these"}
    assert any("count as answers to one question" in note for note in found.notes)


def test_items_asked_once_are_new_items_with_one_interval():
    found = short(nested({"a": 16, "b": 32}, 40))
    frame = differences(found)
    assert list(frame.index) == ["population", "listed_words"]
    assert frame["hpdi_low"].nunique() == 1
    assert any("have one answer each" in note for note in found.notes)
    said = bb.interpret(found)
    assert not any("independent ones" in note for note in said.notes)  # true by assumption


def test_two_models_are_compared_on_one_prompt():
    parts = [
        repeated({"a": 16, "b": 32}, 40, prompt="p", model="m"),
        repeated({"a": 20, "b": 25}, 40, prompt="p", model="n"),
    ]
    found = short(pd.concat(parts))
    frame = found.contrasts(PROB, level="overall", detail=True).query("scale == 'probability'")
    assert frame["model"].tolist() == ["m", "n", "m - n"]
    assert frame["estimand"].unique().tolist() == ["population"]


@pytest.mark.parametrize("name", ["items once", "one prompt"])
def test_all_that_is_made_of_a_fit_is_made(name, tmp_path: Path):
    found = short(DESIGNS[name][0], pointwise=True)
    sampled = found.fit.sampled
    assert {"log_likelihood", "posterior_predictive", "prior_predictive"} <= set(sampled.children)
    assert np.isfinite(bb.inference.loo(found.fit).elpd)
    assert np.isfinite(found.fit.prior_sensitivity()[["prior", "likelihood"]]).all(axis=None)
    assert found.variance()["source"].tolist() == ["answer"]
    bb.save_run(found, tmp_path / "run")
    json.loads((tmp_path / "run" / "result.json").read_text(encoding="utf-8"))
    saved = pd.read_csv(tmp_path / "run" / "contrasts.csv")
    assert set(saved["level"]) == {"overall"}
    details = bb.interpret(found).details
    assert not any("question" in line for line in details)  # no item is asked of two groups
    found.fit.save(tmp_path / "fit.nc")
    again = bb.load_fit(tmp_path / "fit.nc")
    old, new = (fit.parameter_draws()["arm_mean"] for fit in (found.fit, again))
    assert np.array_equal(old, new)


def test_numbers_that_are_asked_once_are_shown_in_detail():
    frame = nested({"a": 16, "b": 32}, 40)
    frame["outcome"] += np.random.default_rng(0).normal(0, 0.1, len(frame))
    found = short(frame)
    assert len(found.contrasts(PROB, level="item")) == 0
    assert "a - b" in to_text(found, detail=True)
