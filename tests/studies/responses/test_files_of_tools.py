"""Responses: small files of benchmarks and tools give the score that the tool publishes.

Those of `NO_OPTION` need no option. Each builder writes files to a folder, and returns them with
their options and the published score, from an independent computation.
"""

import json
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.response_files import (
    bbq_answers,
    bbq_questions,
    bbq_scores,
    promptfoo_results,
    stereoset,
    winogender_lines,
    write_lines,
)
from helpers.responses import choices, crows_pairs, winogender

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.core.files import read_member
from bayesbias.studies.responses.kinds import kind_of

LOGS = Path(__file__).parent / "logs"
WORDS = {"black": ["Ebony", "Jamal"], "white": ["Amanda", "Jake"]}


def names_by_job(outcomes):
    """Return a table of names, jobs and outcomes in turn."""
    rows = []
    for race, names in WORDS.items():
        for name in names:
            for job in ("nurse", "cook"):
                outcome = outcomes[len(rows) % len(outcomes)]
                rows.append({"race": race, "name": name, "job": job, "score": outcome})
    return pd.DataFrame(rows)


def sample_lines(docs, metrics):
    """Return samples of lm-evaluation-harness, with metrics by name."""
    lines = []
    for k, doc in enumerate(docs):
        values = {name: column[k] for name, column in metrics.items()}
        lines.append(
            {"doc_id": k, "doc": doc, "filtered_resps": [["-1.0", "False"], ["-2.0", "False"]],
             "filter": "none", "metrics": [*values], **values}
        )  # fmt: skip
    return lines


def means(table):
    """Return the mean of each group."""
    return table.frame.groupby("group")["outcome"].mean().to_dict()


def mean(table):
    return table.frame["outcome"].mean()


def published(table):
    """Return the published scores by name and score."""
    kind = kind_of(table)
    frame = kind.published(table, kind.rows(table, repeats=False)[0])
    return frame.set_index(["name", "score"])["mean_score"]


def inspect_eval(folder):
    path = shutil.copy(LOGS / "hiring.eval", folder)
    return path, {}, mean, 11 / 16  # accuracy in the header of the log


def inspect_json(folder):
    with zipfile.ZipFile(LOGS / "hiring.eval") as archive:
        members = {info.filename: read_member(archive, info, "log") for info in archive.infolist()}
    samples = [json.loads(text) for name, text in members.items() if name.startswith("samples/")]
    path = folder / "hiring.json"
    path.write_text(
        json.dumps({**json.loads(members["header.json"]), "samples": samples}, indent=2)
    )
    return path, {}, mean, 11 / 16


def inspect_dictionary(folder):
    path = shutil.copy(LOGS / "tones.eval", folder)
    return path, {}, means, {"black": 0.0, "white": 2.5}


def inspect_two_scorers(folder):
    samples = []
    for k, row in enumerate(names_by_job([1]).to_dict("records")):
        metadata = {key: row[key] for key in ("race", "name", "job")}
        scores = {"match": {"value": "CI"[k % 2]}, "judge": {"value": 3}}
        samples.append({"id": k, "epoch": 1, "metadata": metadata, "scores": scores})
    path = folder / "log.json"
    log = {"version": 2, "eval": {"task": "t", "model": "m"}, "samples": samples}
    path.write_text(json.dumps(log))
    return path, {}, means, {"black": 0.5, "white": 0.5}


def inspect_bbq(folder):
    rows = bbq_answers(bbq_questions())
    samples = []
    for row in rows:
        texts = [row[f"ans{place}"] for place in range(3)]
        answer = "ABC"[[text.lower() for text in texts].index(row["pred"])]
        samples.append(
            {"id": row["example_id"], "epoch": 1, "choices": texts, "target": "ABC"[row["label"]],
             "metadata": row, "scores": {"choice": {"value": "C", "answer": answer}}}
        )  # fmt: skip
    path = folder / "log.json"
    log = {"version": 2, "eval": {"task": "bbq", "model": ""}, "samples": samples}
    path.write_text(json.dumps(log))
    expected = bbq_scores(rows, "pred")["s_AMB"]
    return path, {}, lambda table: published(table)["Age", "s_AMB"], expected


def lm_eval_winogender(folder):
    lines = list(winogender_lines())
    correct = {gender: [] for gender in ("female", "male", "neutral")}
    for line in lines:
        correct[line["doc"]["gender"]].append(line["acc"])
    path = write_lines(folder / "samples_winogender_all.jsonl", lines)
    return path, {}, means, {gender: np.mean(values) for gender, values in correct.items()}


def lm_eval_toxigen(folder):
    docs = [
        {"text": f"t{k}", "target_group": "ab"[k % 2], "toxicity_ai": 1.0, "toxicity_human": 2.0}
        for k in range(6)
    ]
    lines = sample_lines(docs, {"acc": [1.0, 0.0, 1.0, 1.0, 0.0, 0.0], "acc_norm": [1.0] * 6})
    path = write_lines(folder / "samples_toxigen.jsonl", lines)
    return path, {}, means, {"a": 2 / 3, "b": 1 / 3}


def lm_eval_cooccurrence(folder):
    likelihoods = np.random.default_rng(0).normal(-4, 1, (4, 4))
    female, male = np.exp(likelihoods[:, :2]).sum(axis=1), np.exp(likelihoods[:, 2:]).sum(axis=1)
    metric = np.log(female / male)
    docs = [{"sentence": f"The job {k} was a", "occupation": f"job {k}"} for k in range(4)]
    lines = sample_lines(docs, {"likelihood_diff": [*metric], "pct_male_preferred": [0.0] * 4})
    for line, scores in zip(lines, likelihoods, strict=True):
        line["filtered_resps"] = [[str(score), "False"] for score in scores]
    path = write_lines(folder / "samples_simple_cooccurrence_bias.jsonl", lines)
    name = ("female - male", "paired t over pairs")
    return path, {}, lambda table: published(table)[name], metric.mean()


def lm_eval_crows_pairs(folder):
    docs = [{"sent_more": f"m{k}", "sent_less": f"l{k}", "bias_type": "age"} for k in range(5)]
    more = [-1.0, -3.0, -1.5, -4.0, -0.5]
    stereotyped = [float(score > -2.0) for score in more]
    lines = sample_lines(docs, {"likelihood_diff": [1.0] * 5, "pct_stereotype": stereotyped})
    for line, score in zip(lines, more, strict=True):
        line["filtered_resps"] = [[str(score), "False"], ["-2.0", "False"]]
    path = write_lines(folder / "samples_crows_pairs_english.jsonl", lines)
    name = ("all", "share of stereotyped choices")
    return path, {}, lambda table: published(table)[name], 0.6


def lm_eval_bbq(folder):
    rows = bbq_answers(bbq_questions())
    judged = []
    for row in rows:
        texts = [row[f"ans{place}"].lower() for place in range(3)]
        place = texts.index(row["pred"])
        *_, group = row["answer_info"][f"ans{place}"]
        biased = group != "unknown" and (group == "old") == (row["question_polarity"] == "neg")
        judged.append(
            [float(place == row["label"]), float(biased), float(group != "unknown"), False]
        )
    lines = sample_lines(rows, {"acc": [part[0] for part in judged], "amb_bias_score": judged})
    path = write_lines(folder / "samples_bbq.jsonl", lines)
    expected = bbq_scores(rows, "pred")["s_DIS"]
    return path, {}, lambda table: published(table)["Age", "s_DIS"], expected


def lm_eval_two_filters(folder):
    docs = names_by_job([1]).drop(columns="score").to_dict("records")
    strict = sample_lines(docs, {"exact_match": [1.0, 0.0] * 4})
    flexible = [{**line, "filter": "flexible", "exact_match": 1.0} for line in strict]
    path = write_lines(folder / "samples_hiring.jsonl", [*flexible, *strict])
    return path, {}, means, {"black": 0.5, "white": 0.5}


def lm_eval_own_metric(folder):
    docs = names_by_job([1]).drop(columns="score").to_dict("records")
    lines = sample_lines(docs, {"judged": [[0.2], [0.4]] * 4, "parts": [[1.0, 2.0]] * 8})
    path = write_lines(folder / "samples_hiring.jsonl", lines)
    return path, {}, means, {"black": 0.3, "white": 0.3}


def crows_pairs_table(folder):
    frame = crows_pairs()
    frame.to_csv(folder / "crows.csv", index=False)
    ahead = frame["logp_more"] > frame["logp_less"]
    expected = ahead[frame["model"] == "one"].mean()
    name = ("all, one", "share of stereotyped choices")
    return folder / "crows.csv", {}, lambda table: published(table)[name], expected


def crows_pairs_by_id(folder):
    frame = pd.DataFrame({"id": range(6), "score_more": [3.0, 1, 3, 1, 3, 3], "score_less": 2.0})
    frame.to_csv(folder / "crows.csv", index=False)
    name = ("all", "share of stereotyped choices")
    return folder / "crows.csv", {}, lambda table: published(table)[name], 4 / 6


def winogender_tsv(folder):
    frame = winogender(shift=0.4)
    frame.to_csv(folder / "winogender.tsv", sep="\t", index=False)
    expected = (frame["female_score"] - frame["male_score"]).mean()
    name = ("female - male", "paired t over pairs")
    return folder / "winogender.tsv", {}, lambda table: published(table)[name], expected


def fmat(folder):
    rows = [
        {"query": query, "MASK": mask, "M_word": word, "T_word": job, "prob": prob}
        for query in ("[MASK] is {TARGET}.", "[MASK] works as {TARGET}.")
        for job in ("a nurse", "a doctor")
        for mask, word, prob in (("Male", "He", 0.1), ("Female", "She", 0.05))
    ]
    pd.DataFrame(rows).to_csv(folder / "fmat.csv", index=False)
    name = ("Female - Male", "paired t over pairs")
    return folder / "fmat.csv", {}, lambda table: published(table)[name], -np.log(2)


def chat_choices(folder):
    reply = "joy - young\nlove - young\nhurt - old\nevil - old"
    path = choices(folder, [reply] * 2)
    expected = 2 / (2 + 0.01) + 2 / (2 + 0.01) - 1
    return path, {}, lambda table: published(table)["age", "score per reply"], expected


def predictions_of_sentiment(folder):
    frame = bb.list_predictions("m1").frame
    path = folder / "predictions.csv"
    frame.to_csv(path, index=False)
    kept = (
        frame[~frame["control"].astype(str).str.lower().eq("true")] if "control" in frame else frame
    )
    return path, {}, means, kept.groupby("gender")["probability"].mean().to_dict()


def promptfoo_json(folder):
    path = folder / "out.json"
    path.write_text(json.dumps(promptfoo_results(), indent=2))
    return path, {}, means, {"black": 0.25, "white": 0.75}


def promptfoo_csv(folder):
    frame = names_by_job([1]).drop(columns="score")
    cells = ["[PASS] yes", "[FAIL] (no) no"] * 4
    frame.assign(**{"[openai:m] Hire {{name}}?": cells}).to_csv(folder / "out.csv", index=False)
    return folder / "out.csv", {}, means, {"black": 0.5, "white": 0.5}


def bbq_predictions(folder):
    rows = bbq_answers(bbq_questions())
    path = write_lines(folder / "preds_Age.jsonl", rows)
    expected = bbq_scores(rows, "pred")["s_AMB"]
    return path, {}, lambda table: published(table)["Age", "s_AMB"], expected


def bbq_places(folder):
    rows = bbq_answers(bbq_questions())
    lines = []
    for row in rows:
        texts = [row[f"ans{place}"].lower() for place in range(3)]
        groups = [row["answer_info"][f"ans{place}"][1] for place in range(3)]
        flat = {key: value for key, value in row.items() if not isinstance(value, dict)}
        lines.append({**flat, "pred": texts.index(row["pred"]), "target_loc": groups.index("old")})
    pd.DataFrame(lines).to_csv(folder / "bbq.csv", index=False)
    expected = bbq_scores(rows, "pred")["s_DIS"]
    return folder / "bbq.csv", {}, lambda table: published(table)["Age", "s_DIS"], expected


def stereoset_beside(folder):
    gold, predictions = stereoset(contexts=10)
    scores = {row["id"]: row["score"] for row in predictions["intrasentence"]}
    (folder / "dev.json").write_text(json.dumps(gold))
    path = folder / "predictions.json"
    path.write_text(json.dumps(predictions))
    # Two contexts of each target.
    ahead = [scores[f"{k:04d}stereotype"] > scores[f"{k:04d}anti-stereotype"] for k in range(10)]
    return path, {}, lambda table: published(table)["all", "SS"], 100 * np.mean(ahead)


def table_of_labels(folder):
    names_by_job(["Hire", "Reject"]).to_csv(folder / "hire.csv", index=False)
    return folder / "hire.csv", {}, means, {"black": 0.5, "white": 0.5}


def table_of_a_spreadsheet(folder):
    names_by_job(["0,25", "0,75"]).to_csv(folder / "excel.csv", index=False, sep=";")
    return folder / "excel.csv", {}, means, {"black": 0.5, "white": 0.5}


def nested_records(folder):
    records = names_by_job([0.2, 0.4]).to_dict("records")
    (folder / "cases.json").write_text(json.dumps({"run": {"testCases": records}}, indent=2))
    return folder / "cases.json", {}, means, {"black": 0.3, "white": 0.3}


def own_labels(folder):
    names_by_job(["Invite", "Decline it"]).to_csv(folder / "own.csv", index=False)
    values = {"Invite": 1, "Decline it": 0}
    return folder / "own.csv", {"values": values}, means, {"black": 0.5, "white": 0.5}


NO_OPTION = (
    inspect_eval, inspect_json, inspect_dictionary, inspect_two_scorers, inspect_bbq,
    lm_eval_winogender, lm_eval_toxigen, lm_eval_cooccurrence, lm_eval_crows_pairs, lm_eval_bbq,
    lm_eval_two_filters, lm_eval_own_metric, crows_pairs_table, crows_pairs_by_id, winogender_tsv,
    fmat, chat_choices, predictions_of_sentiment, promptfoo_json, promptfoo_csv, bbq_predictions,
    bbq_places, stereoset_beside, table_of_labels, table_of_a_spreadsheet, nested_records,
)  # fmt: skip


@pytest.mark.parametrize("build", NO_OPTION, ids=lambda build: build.__name__)
def test_a_file_alone_gives_the_published_score(tmp_path, build):
    path, _, score, expected = build(tmp_path)
    assert score(bb.studies.load_responses(path)) == pytest.approx(expected, abs=1e-9)


def test_labels_of_their_own_need_one_option_that_is_named(tmp_path):
    path, options, score, expected = own_labels(tmp_path)
    with pytest.raises(InputError, match=r"--map \"Invite=0,Decline it=1\""):
        bb.studies.load_responses(path)
    assert score(bb.studies.load_responses(path, **options)) == expected


def test_bbq_without_its_metadata_needs_one_file_that_is_named(tmp_path):
    rows = bbq_answers(bbq_questions())
    without = [{key: row[key] for key in row if key != "additional_metadata"} for row in rows]
    with pytest.raises(InputError, match=r"additional_metadata\.csv"):
        bb.studies.load_responses(write_lines(tmp_path / "preds_Age.jsonl", without))
