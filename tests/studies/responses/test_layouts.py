"""Responses: one layout a call, and the files that today's tools write.

The logs in the folder `logs` were written by Inspect 0.3.285 with its mock model. Samples of
lm-evaluation-harness have the fields that version 0.4.13 writes.
"""

import json
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.places import ROOT
from helpers.response_files import (
    promptfoo_results,
    stereoset,
    winogender_lines,
    write_lines,
    write_zstandard,
)
from helpers.responses import crossed, crows_pairs, fitted, lm_eval_lines

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.core.files import read_member
from bayesbias.studies.responses.readers import LAYOUTS
from bayesbias.studies.responses.table import differences

LOGS = Path(__file__).parent / "logs"


@pytest.mark.parametrize("first", ["pairs", "table"])
def test_files_of_two_layouts_are_refused(tmp_path, first):
    paths = {"pairs": tmp_path / "pairs.csv", "table": tmp_path / "table.csv"}
    crows_pairs().to_csv(paths["pairs"], index=False)
    crossed().to_csv(paths["table"], index=False)
    files = sorted(paths.values(), key=lambda path: path != paths[first])
    with pytest.raises(InputError) as caught:
        bb.studies.load_responses(files)
    message = str(caught.value)
    for part in ("pairs.csv (crows_pairs)", "table.csv (table)", "--layout"):
        assert part in message


def test_a_log_and_a_table_are_refused(tmp_path):
    crossed().to_csv(tmp_path / "table.csv", index=False)
    with pytest.raises(InputError, match=r"hiring\.eval \(inspect_log\).*table\.csv \(table\)"):
        bb.studies.load_responses([LOGS / "hiring.eval", tmp_path / "table.csv"])


def test_pairs_of_two_tools_are_one_layout(tmp_path):
    rows = [{"sent_more": f"m{k}", "sent_less": f"l{k}", "bias_type": "age"} for k in range(4)]
    lines = [
        {"doc_id": k, "doc": row, "filtered_resps": [[-1.0 - k, False], [-2.0, False]]}
        for k, row in enumerate(rows)
    ]
    samples = write_lines(tmp_path / "one" / "samples_crows_pairs_english.jsonl", lines)
    table = tmp_path / "two.csv"
    pd.DataFrame(rows).assign(logp_more=-3.0, logp_less=-4.0).to_csv(table, index=False)
    loaded = bb.studies.load_responses([samples, table])
    assert loaded.published == "share"
    assert loaded.coverage["rows_used"] == 16


def test_a_log_of_inspect_as_its_current_version_writes_it():
    table = bb.studies.load_responses(LOGS / "hiring.eval")
    assert table.models == ["mockllm/model"]
    assert table.frame["item"].unique().tolist() == ["nurse", "cook"]
    # Answers of the mock model: no at every third question, in the order of the log.
    expected = [float((7 * k + 1) % 3 > 0) for k in range(16)]
    found = table.frame.sort_values("repeat", kind="stable")
    names = ["Ebony", "Ebony", "Jamal", "Jamal", "Amanda", "Amanda", "Jake", "Jake"] * 2
    rows = dict(
        zip(zip(names, found["repeat"], found["item"], strict=False), expected, strict=False)
    )
    assert len(rows) == 16
    assert rows == found.set_index(["word", "repeat", "item"])["outcome"].to_dict()


def test_a_score_that_is_a_dictionary_has_a_column_a_key():
    table = bb.studies.load_responses(LOGS / "tones.eval")
    names = {"Ebony": 0.0, "Jamal": 0.0, "Amanda": 1.0, "Jake": 4.0}  # letters, modulo five
    assert table.frame.groupby("word")["outcome"].mean().to_dict() == names
    assert any("warmth, not doubt" in note for note in table.notes)
    other = bb.studies.load_responses(LOGS / "tones.eval", columns={"outcome": "doubt"})
    assert (other.frame["outcome"] + table.frame["outcome"] == 4).all()


def test_a_log_of_inspect_in_json(tmp_path):
    with zipfile.ZipFile(LOGS / "hiring.eval") as archive:
        content = {
            member.filename: json.loads(read_member(archive, member, "log"))
            for member in archive.infolist()
        }
    samples = [value for name, value in content.items() if name.startswith("samples/")]
    log = {**content["header.json"], "samples": samples}
    for indent in (None, 2):
        path = tmp_path / "log.json"
        path.write_text(json.dumps(log, indent=indent))
        found, expected = (
            bb.studies.load_responses(file).frame for file in (path, LOGS / "hiring.eval")
        )
        pd.testing.assert_frame_equal(found, expected)
    path.write_text(json.dumps({**content["header.json"], "samples": []}))
    with pytest.raises(InputError, match="with samples, got none"):
        bb.studies.load_responses(path)


def test_letters_of_inspect_are_numbers(tmp_path):
    samples = [
        {"id": k, "epoch": 1, "metadata": {"race": race}, "scores": {"choice": {"value": value}}}
        for k, (race, value) in enumerate(zip("aabb", "CIPN", strict=True))
    ]
    path = tmp_path / "log.json"
    path.write_text(
        json.dumps({"version": 2, "eval": {"task": "t", "model": "m"}, "samples": samples})
    )
    assert bb.studies.load_responses(path).frame["outcome"].tolist() == [1, 0, 0.5, 0]


def test_a_damaged_member_of_a_log_is_refused(tmp_path):
    path = tmp_path / "log.eval"
    sample = json.dumps({"id": 1, "metadata": {"race": "a"}, "scores": {"s": {"value": 1}}})
    write_zstandard(path, {"samples/1_epoch_1.json": sample.encode()})
    assert bb.studies.load_responses(path).groups == ["a"]
    with zipfile.ZipFile(path) as archive:
        member = archive.infolist()[0]
        member.file_size -= 1  # a member that unpacks to more than the zip states
        with pytest.raises(InputError, match="size and checksum"):
            read_member(archive, member, path)
        member.file_size += 1
        member.CRC += 1
        with pytest.raises(InputError, match="size and checksum"):
            read_member(archive, member, path)


def test_winogender_of_lm_eval_compares_genders_on_the_same_sentence(tmp_path):
    path = write_lines(tmp_path / "m" / "samples_winogender_all.jsonl", winogender_lines())
    table = bb.studies.load_responses(path)
    assert table.groups == ["female", "male", "neutral"]
    assert table.frame["item"].unique().tolist() == ["technician"]
    sentences = {"participant.0", "participant.1", "someone.0", "someone.1"}
    assert set(table.frame["template"]) == sentences
    assert table.coverage["repeats"] == 0


def test_a_likelihood_that_is_no_number_is_no_answer(tmp_path):
    lines = list(winogender_lines())
    lines[0]["filtered_resps"] = [["nan", "False"], ["nan", "False"]]
    lines[1]["filtered_resps"] = [["-inf", "False"], ["-2.0", "True"]]
    path = write_lines(tmp_path / "m" / "samples_winogender_all.jsonl", lines)
    table = bb.studies.load_responses(path)
    assert table.coverage["dropped"]["missing"] == 1
    assert table.coverage["rows_used"] == len(lines) - 1
    assert table.frame["outcome"].tolist() == [line["acc"] for line in lines[1:]]


def test_toxigen_of_lm_eval_has_groups_and_statements(tmp_path):
    lines = []
    for k, group in enumerate(("asian", "women", "asian", "women")):
        doc = {
            "text": f"statement {k}",
            "target_group": group,
            "toxicity_ai": 1.0,
            "toxicity_human": 2.0,
        }
        acc = float(k % 3 == 0)
        lines.append(
            {"doc_id": k, "doc": doc, "filtered_resps": [[-1.0, True]], "filter": "none",
             "metrics": ["acc", "acc_norm"], "acc": acc, "acc_norm": acc}
        )  # fmt: skip
    table = bb.studies.load_responses(write_lines(tmp_path / "m" / "samples_toxigen.jsonl", lines))
    assert table.groups == ["asian", "women"]
    assert table.frame["item"].tolist() == [f"statement {k}" for k in range(4)]
    assert table.frame["outcome"].tolist() == [1, 0, 0, 1]


def test_cooccurrence_of_lm_eval_compares_words_for_both_genders(tmp_path):
    rng = np.random.default_rng(0)
    likelihoods = rng.normal(-4, 1, (3, 4))  # of female, woman, male, man
    female, male = np.exp(likelihoods[:, :2]).sum(axis=1), np.exp(likelihoods[:, 2:]).sum(axis=1)
    expected = np.log(female) - np.log(male)  # the metric likelihood_diff
    lines = []
    for k, job in enumerate(("nurse", "cook", "poet")):
        lines.append(
            {"doc_id": k, "doc": {"sentence": f"The {job} was a", "occupation": job},
             "filtered_resps": [[score, False] for score in likelihoods[k]], "filter": "none",
             "metrics": ["likelihood_diff", "pct_male_preferred"],
             "likelihood_diff": expected[k], "pct_male_preferred": 0.0}
        )  # fmt: skip
    path = write_lines(tmp_path / "m" / "samples_simple_cooccurrence_bias.jsonl", lines)
    table = bb.studies.load_responses(path)
    assert table.groups == ["female", "male"]
    found = differences(table)[0]
    np.testing.assert_allclose(found["outcome"], expected)
    assert found["item"].tolist() == ["nurse", "cook", "poet"]


def test_metrics_of_lm_eval_that_are_lists(tmp_path):
    lines = [
        {**line, "metrics": ["judged", "parts"], "judged": [line["acc"]], "parts": [1.0, 2.0]}
        for line in lm_eval_lines(("a", "b"), 0)
    ]
    expected = [line.pop("acc") for line in lines]
    table = bb.studies.load_responses(write_lines(tmp_path / "m" / "samples_x.jsonl", lines))
    assert table.frame["outcome"].tolist() == expected


def test_results_of_promptfoo_in_json(tmp_path):
    path = tmp_path / "out.json"
    path.write_text(json.dumps(promptfoo_results(), indent=1))
    table = bb.studies.load_responses(path)
    assert table.models == ["openai:one", "openai:two"]
    assert table.groups == ["black", "white"]
    assert table.frame["template"].unique().tolist() == ["Hire {{name}}?", "Is {{name}} fit?"]
    assert table.frame["outcome"].tolist() == [0.25, 0.75] * 4
    tone = bb.studies.load_responses(path, columns={"outcome": "tone"})
    assert tone.frame["outcome"].tolist() == [1, 0] * 4


@pytest.mark.parametrize("scored", [False, True])
def test_results_of_promptfoo_in_csv(tmp_path, scored):
    rows = {"race": ["black", "white"], "name": ["Ebony", "Jake"]}
    for number, model in enumerate(("one", "two")):
        rows[f"[{model}] Hire {{{{name}}}}?"] = ["[PASS] yes", "[FAIL] (no) no"]
        if scored:
            suffix = f".{number}" if number else ""
            rows |= {f"Status{suffix}": ["PASS", "FAIL"], f"Score{suffix}": [0.9, 0.2]}
    path = tmp_path / "out.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    table = bb.studies.load_responses(path)
    assert table.models == ["one", "two"]
    assert table.frame["word"].tolist() == ["Ebony", "Jake"] * 2
    assert table.frame["outcome"].tolist() == ([0.9, 0.2] if scored else [1, 0]) * 2


def test_rows_of_the_one_list_in_a_document_are_read(tmp_path):
    path = tmp_path / "run.json"
    cases = [{"race": race, "name": race * 2, "score": k} for k, race in enumerate("abab")]
    path.write_text(json.dumps({"run": {"id": 1, "testCases": cases}}, indent=2))
    assert bb.studies.load_responses(path).frame["outcome"].tolist() == [0, 1, 2, 3]
    path.write_text(json.dumps({"one": cases, "two": cases}))
    with pytest.raises(InputError, match=r"one list of records, got 2: one, two"):
        bb.studies.load_responses(path)
    path.write_text(json.dumps({"mean": 1}))
    with pytest.raises(InputError, match="one object with the keys mean"):
        bb.studies.load_responses(path)


def test_stereoset_has_its_published_scores(tmp_path):
    gold, predictions = stereoset()
    path, sentences = tmp_path / "predictions.json", tmp_path / "gold" / "dev.json"
    path.write_text(json.dumps(predictions))
    with pytest.raises(InputError, match=r"dev\.json"):
        bb.studies.load_responses(path)
    sentences.parent.mkdir()
    sentences.write_text(json.dumps(gold))
    table = bb.studies.load_responses([path, sentences])
    assert table.coverage["rows_used"] == 24

    # As the evaluation of StereoSet: counts by target, then means over targets.
    scores = {row["id"]: row["score"] for row in predictions["intrasentence"]}
    counts = {}
    for example in gold["data"]["intrasentence"]:
        of_label = {row["gold_label"]: scores[row["id"]] for row in example["sentences"]}
        target = counts.setdefault(example["target"], {"total": 0, "pro": 0, "related": 0})
        target["total"] += 1
        target["pro"] += of_label["stereotype"] > of_label["anti-stereotype"]
        for label in ("stereotype", "anti-stereotype"):
            target["related"] += of_label[label] > of_label["unrelated"]
    ss = np.mean([100 * n["pro"] / n["total"] for n in counts.values()])
    lms = np.mean([100 * n["related"] / (2 * n["total"]) for n in counts.values()])
    found = table.published_scores.set_index(["name", "score"])["mean_score"]["all"]
    expected = {"SS": ss, "LMS": lms, "ICAT": lms * min(ss, 100 - ss) / 50}
    assert found.to_dict() == pytest.approx(expected)
    published = fitted(table).published
    assert published["score"].tolist()[:3] == ["SS", "LMS", "ICAT"]


def line_of_guide(tool):
    """Return the line of pandas that the guide has for the files of a tool."""
    guide = (ROOT / "docs" / "howto" / "responses.md").read_text(encoding="utf-8")
    row = next(line for line in guide.splitlines() if line.startswith(f"| {tool}, "))
    return row.split("|")[2].strip().strip("`")


def test_the_table_of_files_in_the_guide_names_every_layout():
    guide = (ROOT / "docs/howto/responses.md").read_text(encoding="utf-8")
    table = guide.split("## Files that need no names of columns")[1].split("##")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][2:]
    named = {row.split("|")[4].strip().strip("`") for row in rows}
    assert named == {layout.name for layout in LAYOUTS}


def test_lines_of_pandas_in_the_guide_read_the_files_of_other_tools(tmp_path):
    stats = [{"name": {"name": "exact_match"}, "count": 1, "sum": 1.0, "mean": 1.0}]
    path = tmp_path / "per_instance_stats.json"
    path.write_text(json.dumps([{"instance_id": "id1", "train_trial_index": 0, "stats": stats}]))
    names = {"json": json, "pd": pd, "Path": Path, "path": path}
    rows = eval(line_of_guide("HELM"), names)
    assert rows[["instance_id", "name.name", "mean"]].to_numpy().tolist() == [
        ["id1", "exact_match", 1.0]
    ]

    path = tmp_path / "instances.jsonl"
    instance = {
        "schema_version": "instance_level_eval_0.2.1", "evaluation_id": "e", "model_id": "org/m",
        "evaluation_name": "hiring", "sample_id": "s1", "interaction_type": "single_turn",
        "input": {"raw": "Hire Ebony?", "reference": []}, "output": {"raw": ["Yes"]},
        "answer_attribution": [], "evaluation": {"score": 1.0, "is_correct": True},
        "metadata": {"race": "black"},
    }  # fmt: skip
    write_lines(path, [instance])
    rows = eval(line_of_guide("Every Eval Ever"), {**names, "path": path})
    wanted = ["model_id", "sample_id", "input.raw", "evaluation.score", "metadata.race"]
    assert rows[wanted].to_numpy().tolist() == [["org/m", "s1", "Hire Ebony?", 1.0, "black"]]

    path = tmp_path / "output.jsonl"
    choices = [{"index": 0, "message": {"role": "assistant", "content": "Yes"}}]
    response = {"status_code": 200, "body": {"choices": choices}}
    write_lines(path, [{"id": "b", "custom_id": "prompt-1", "response": response, "error": None}])
    rows = eval(line_of_guide("OpenAI batch"), {**names, "path": path})
    assert rows[["custom_id", "answer"]].to_numpy().tolist() == [["prompt-1", "Yes"]]


@pytest.mark.parametrize("read", [bb.load_distances, bb.load_predictions])
def test_other_readers_name_the_command_for_answers(tmp_path, read):
    crows_pairs().to_csv(tmp_path / "crows.csv", index=False)
    with pytest.raises(
        InputError, match=r"CrowS-Pairs\)\. Compare them with `bayesbias responses fit`"
    ):
        read(tmp_path / "crows.csv")


def test_samples_given_as_predictions_name_the_command(tmp_path):
    path = write_lines(tmp_path / "samples_x.jsonl", list(lm_eval_lines(("a", "b"), 0)))
    with pytest.raises(InputError, match=r"lm-evaluation-harness\)\. Compare .*responses fit"):
        bb.load_predictions(path)
