"""Responses: BBQ in three forms, its published scores and their intervals for new templates."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.response_files import bbq_answers, bbq_questions, bbq_scores, write_lines
from helpers.responses import fitted, shared

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.studies.responses.template_scores import (
    degrees_of_freedom,
    other_templates,
    template_scores,
)


def scores_of(table, prob=0.89):
    frame = template_scores(table.answer_counts, prob)
    return frame.set_index(["model", "category", "score"])


@pytest.mark.parametrize("category", ["Religion", "Age"])
def test_scores_are_as_published(category):
    (path,) = shared("audits", "bbq", f"preds_{category}.jsonl")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    table = bb.studies.load_responses(path)
    found = scores_of(table)["value"]
    assert len(table.models) == 3
    for model in table.models:
        expected = bbq_scores(rows, model)
        for name, value in expected.items():
            assert found[model, category, name] == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize(
    ("category", "s_amb", "s_dis", "error"),
    [("Religion", 14.33, 0.18, 5.2), ("Age", 29.78, 1.16, 7.8)],  # by R, see shared/data/audits
)
def test_the_error_is_that_over_templates(category, s_amb, s_dis, error):
    (path,) = shared("audits", "bbq", f"preds_{category}.jsonl")
    rows = scores_of(bb.studies.load_responses(path)).loc["unifiedqa-t5-11b_pred_race", category, :]
    assert rows.loc["s_AMB", "value"] == pytest.approx(s_amb, abs=0.005)
    assert rows.loc["s_DIS", "value"] == pytest.approx(s_dis, abs=0.005)
    assert rows.loc["s_AMB", "se"] == pytest.approx(error, rel=0.25)
    assert rows.loc["s_DIS", "se"] == pytest.approx(0.7, rel=0.25)


def test_degrees_of_freedom_are_those_of_simulated_variances():
    """A chi-squared variable with f degrees of freedom has 2 / f of its squared mean as variance."""
    assert degrees_of_freedom(np.full(7, 30.0)) == pytest.approx(6)
    sizes = np.array([10.0, 20, 20, 40, 150])
    drawn = np.random.default_rng(1).normal(size=(200_000, len(sizes)))
    mean = drawn @ sizes / sizes.sum()
    left = (drawn @ sizes)[:, None] - drawn * sizes
    variance = ((left / (sizes.sum() - sizes) - mean[:, None]) ** 2).sum(axis=1)
    simulated = 2 * variance.mean() ** 2 / variance.var()
    assert degrees_of_freedom(sizes) == pytest.approx(simulated, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("category", ["Age", pytest.param("Religion", marks=pytest.mark.full)])
def test_intervals_hold_the_score_of_other_templates(category):
    (path,) = shared("audits", "bbq", f"preds_{category}.jsonl")
    counts = bb.studies.load_responses(path).answer_counts
    two_models = counts["model"].str.endswith(("race", "arc"))
    counts = counts[two_models & (counts["context"] == "ambiguous")]
    templates = counts["template"].unique()
    rng = np.random.default_rng(3)
    held = []
    for _ in range(200):
        chosen = rng.permutation(templates)[: len(templates) // 2]
        in_sample = counts["template"].isin(chosen)
        others = len(templates) - len(chosen)
        intervals = other_templates(counts[in_sample], others, 0.89)
        intervals = intervals[intervals["score"] == "s_AMB"].set_index("model")
        rest = template_scores(counts[~in_sample], 0.89)
        rest = rest[rest["score"] == "s_AMB"].set_index("model")["value"]
        held.append(rest.between(intervals["low"], intervals["high"]).mean())
    assert 0.84 <= np.mean(held) <= 0.94


def test_predictions_may_be_texts_places_or_letters(tmp_path):
    rows = bbq_answers(bbq_questions())
    expected = bbq_scores(rows, "pred")
    for name, write in (
        ("texts", str),
        ("places", lambda place: place),
        ("letters", lambda place: "ABC"[place]),
    ):
        lines = []
        for row in rows:
            texts = [row[f"ans{place}"].lower() for place in range(3)]
            place = texts.index(row["pred"])
            lines.append({**row, "pred": row["pred"] if name == "texts" else write(place)})
        table = bb.studies.load_responses(write_lines(tmp_path / f"{name}.jsonl", lines))
        found = scores_of(table)["value"]["", "Age"]
        assert found.to_dict() == pytest.approx(expected)


def test_samples_of_lm_eval_have_the_scores_of_the_harness(tmp_path):
    rows = bbq_answers(bbq_questions())
    lines = []
    for k, row in enumerate(rows):
        # The tuples that the harness averages: accuracy, biased, not unknown, disambiguated.
        doc = {key: value for key, value in row.items() if key != "pred"}
        texts = [row[f"ans{place}"].lower() for place in range(3)]
        place = texts.index(row["pred"])
        *_, group = row["answer_info"][f"ans{place}"]
        known = float(group != "unknown")
        biased = float((group == "old") == (row["question_polarity"] == "neg")) * known
        judged = [float(place == row["label"]), biased, known, row["context_condition"] != "ambig"]
        lines.append(
            {"doc_id": k, "doc": doc, "filtered_resps": [["-1.0", "False"]], "filter": "none",
             "metrics": ["acc", "amb_bias_score", "disamb_bias_score"], "acc": judged[0],
             "amb_bias_score": judged, "disamb_bias_score": judged,
             "amb_bias_score_Religion": [judged[0], float("nan"), float("nan"), float("nan")]}
        )  # fmt: skip
    path = write_lines(tmp_path / "org__m" / "samples_bbq_2026-01-01T00-00-00.jsonl", lines)
    table = bb.studies.load_responses(path)
    assert table.models == ["org__m"]
    found = scores_of(table)["value"]["org__m", "Age"]
    assert found.to_dict() == pytest.approx(bbq_scores(rows, "pred"))
    # The harness takes the first choice where likelihoods are not numbers.
    lines[0]["filtered_resps"] = [["nan", "False"]] * 3
    table = bb.studies.load_responses(write_lines(path, lines))
    found = scores_of(table)["value"]["org__m", "Age"]
    assert found.to_dict() == pytest.approx(bbq_scores(rows[1:], "pred"))


def test_a_log_of_inspect_has_the_published_scores(tmp_path):
    rows = bbq_answers(bbq_questions())
    samples = []
    for row in rows:
        texts = [row[f"ans{place}"] for place in range(3)]
        place = [text.lower() for text in texts].index(row["pred"])
        keys = ("category", "question_index", "question_polarity", "context_condition")
        metadata = {key: row[key] for key in (*keys, "answer_info", "additional_metadata")}
        score = {"value": "C" if place == row["label"] else "I", "answer": "ABC"[place]}
        samples.append(
            {"id": f"Age_{row['example_id']:05d}", "epoch": 1, "choices": texts,
             "target": "ABC"[row["label"]], "metadata": metadata, "scores": {"choice": score}}
        )  # fmt: skip
    log = {"version": 2, "eval": {"task": "bbq", "model": "org/m"}, "samples": samples}
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    found = scores_of(bb.studies.load_responses(path))["value"]["org/m", "Age"]
    assert found.to_dict() == pytest.approx(bbq_scores(rows, "pred"))


def test_places_of_stereotyped_answers_come_from_the_metadata(tmp_path):
    rows = bbq_answers(bbq_questions())
    expected = bbq_scores(rows, "pred")
    places = []
    for row in rows:
        groups = [row["answer_info"][f"ans{place}"][1] for place in range(3)]
        places.append({**{key: row[key] for key in ("example_id", "category", "question_index")},
                       "target_loc": groups.index("old")})  # fmt: skip
    without = [{key: row[key] for key in row if key != "additional_metadata"} for row in rows]
    path = write_lines(tmp_path / "preds_Age.jsonl", without)
    with pytest.raises(InputError, match=r"target_loc.*additional_metadata\.csv"):
        bb.studies.load_responses(path)
    metadata = tmp_path / "elsewhere" / "additional_metadata.csv"
    metadata.parent.mkdir()
    pd.DataFrame(places[::-1]).to_csv(metadata, index=False)
    for files in ([path, metadata], [metadata, path]):
        found = scores_of(bb.studies.load_responses(files))["value"]["", "Age"]
        assert found.to_dict() == pytest.approx(expected)
    with pytest.raises(InputError, match="expected answers"):
        bb.studies.load_responses(metadata)


def test_models_are_compared_on_the_same_templates(tmp_path):
    paths = []
    for seed, model in enumerate(("one", "two")):
        lines = [
            *bbq_answers(bbq_questions(), seed),
            *bbq_answers(bbq_questions(category="SES"), seed + 7),
        ]
        paths.append(write_lines(tmp_path / model / "preds.jsonl", lines))
    table = bb.studies.load_responses(paths)
    assert table.models == ["one", "two"]
    found = scores_of(table)
    assert set(found.index.get_level_values("category")) == {"all", "Age", "SES"}
    for category in ("all", "Age", "SES"):
        one, two, both = (
            found.loc[name, category, "s_DIS"] for name in ("one", "two", "one - two")
        )
        assert both["value"] == pytest.approx(one["value"] - two["value"])
    # Jackknife of the difference, computed anew from the counts.
    counts = table.answer_counts.query("context == 'disambiguated' and category == 'Age'")
    without = []
    for template in counts["template"].unique():
        sums = counts[counts["template"] != template].groupby("model")[["biased", "known"]].sum()
        without.append(200 * (sums["biased"] / sums["known"]).sub(0).diff().iloc[-1] * -1)
    row = found.loc["one - two", "Age", "s_DIS"]
    deviations = (np.array(without) - row["value"]) ** 2
    assert row["se"] == pytest.approx(np.sqrt(5 / 6 * deviations.sum()))


def test_a_fit_shows_the_scores_and_the_answers_by_group(tmp_path):
    path = write_lines(tmp_path / "preds.jsonl", bbq_answers(bbq_questions()))
    result = fitted(path)
    assert result.kind == "stereotype"
    rows = result.contrasts(estimand="listed_words", level="overall", detail=True)
    # Contexts have two polarities each, so that the mean over contexts is the pooled score.
    expected = bbq_scores(bbq_answers(bbq_questions()), "pred")["s_AMB"]
    assert 100 * rows["observed"].iloc[0] == pytest.approx(expected)
    text = bb.output.to_text(result)
    assert f"{expected:+.2f}" in text
    folder = tmp_path / "run"
    result.save(folder)
    again = bb.load_run(folder)
    assert bb.output.to_text(again.result) == text
    by_group = again.tables["bbq_answers"]
    assert by_group[["biased", "counter_biased", "unknown"]].sum(axis=1).tolist() == [100.0]
    assert by_group["group"].tolist() == ["old"]


def test_a_model_that_always_says_unknown_has_no_bias(tmp_path):
    rows = [{**row, "pred": "not known"} for row in bbq_questions()]
    result = fitted(write_lines(tmp_path / "preds.jsonl", rows))
    assert result.fit is None
    scores = result.published.set_index("score")["mean_score"]
    assert scores["s_AMB"] == 0
    assert scores["accuracy, ambiguous"] == 100
