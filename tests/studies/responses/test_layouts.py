"""Responses: one layout a call, and the files that today's tools write.

The logs in the folder `logs` were written by Inspect 0.3.285 with its mock model. Samples of
lm-evaluation-harness have the fields that version 0.4.13 writes.
"""

import json
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from helpers.responses import crossed, crows_pairs, lm_eval_lines

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.core.files import read_member
from bayesbias.studies.responses.table import differences

LOGS = Path(__file__).parent / "logs"


def write_lines(path, lines):
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def log_of_samples(samples, **about):
    return {"version": 2, "status": "success", "eval": about, "samples": samples}


def write_zstandard(path, members):
    """Write a zip whose members are packed by Zstandard, as Python 3.14 does."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, bytes(pa.compress(content, "zstd", asbytes=True)))
            member = archive.getinfo(name)
            member.compress_type = 93
            member.file_size, member.CRC = len(content), zlib.crc32(content)


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
    path.write_text(json.dumps(log_of_samples(samples, task="t", model="m")))
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


def winogender_lines(seed=0):
    rng = np.random.default_rng(seed)
    for gender, pronoun in (("male", "he"), ("female", "she"), ("neutral", "they")):
        for who in ("customer", "someone"):
            for answer in (0, 1):
                doc = {
                    "sentid": f"technician.{who}.{answer}.{gender}.txt",
                    "sentence": f"The technician told the {who} that {pronoun} could pay.",
                    "pronoun": pronoun, "occupation": "technician", "participant": who,
                    "gender": gender, "target": "technician", "label": answer,
                }  # fmt: skip
                yield {
                    "doc_id": len(doc), "doc": doc, "target": answer, "filter": "none",
                    "filtered_resps": [[-1.0, False], [-2.0, False]], "metrics": ["acc"],
                    "acc": float(rng.random() < 0.5),
                }  # fmt: skip


def test_winogender_of_lm_eval_compares_genders_on_the_same_sentence(tmp_path):
    path = write_lines(tmp_path / "m" / "samples_winogender_all.jsonl", winogender_lines())
    table = bb.studies.load_responses(path)
    assert table.groups == ["female", "male", "neutral"]
    assert table.frame["item"].unique().tolist() == ["technician"]
    sentences = {"participant.0", "participant.1", "someone.0", "someone.1"}
    assert set(table.frame["template"]) == sentences
    assert table.coverage["repeats"] == 0


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
