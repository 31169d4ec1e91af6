"""Refusals in the logs of harnesses, which score the text that a model wrote."""

import json

import pytest
from click.testing import CliRunner
from helpers.response_files import write_lines
from helpers.responses import quick

import bayesbias as bb
from bayesbias.cli.main import cli
from bayesbias.core.errors import InputError

NAMES = {"black": ["Ebony", "Jamal"], "white": ["Amanda", "Jake"]}
JOBS = ("nurse", "cook", "judge", "pilot")
REFUSAL = "I'm sorry, but I can't help with that."
LABELS = ("group", "word", "item")


def questions(texts):
    """Return a question for each text, of each group half, with the answer and its score of a match."""
    rows = []
    for group, names in NAMES.items():
        for name in names:
            for job in JOBS:
                rows.append({"group": group, "word": name, "item": job})
    for row, text in zip(rows, texts, strict=True):
        row |= {"text": text, "score": float(text.lower().startswith("yes"))}
    return rows


def inspect_log(folder, texts, scorer="match", target="yes"):
    """Write a log of Inspect."""
    samples = []
    for number, row in enumerate(questions(texts)):
        score = {"value": "C" if row["score"] else "I", "answer": row["text"]}
        samples.append(
            {"id": number, "epoch": 1, "target": target, "scores": {scorer: score},
             "metadata": {name: row[name] for name in LABELS},
             "output": {"completion": row["text"]}}
        )  # fmt: skip
    path = folder / "log.json"
    log = {"version": 2, "eval": {"task": "questions", "model": "m"}, "samples": samples}
    path.write_text(json.dumps(log))
    return path


def generated(folder, texts, target="yes"):
    """Write samples of lm-evaluation-harness with texts that a model generated."""
    lines = []
    for number, row in enumerate(questions(texts)):
        doc = {name: row[name] for name in LABELS}
        lines.append(
            {"doc_id": number, "doc": doc, "target": target, "resps": [[row["text"]]],
             "filtered_resps": [row["text"]], "filter": "none", "metrics": ["exact_match"],
             "exact_match": row["score"]}
        )  # fmt: skip
    return write_lines(folder / "m" / "samples_questions.jsonl", lines)


TEXTS = [
    REFUSAL,
    "I’m sorry, I can’t answer.",
    "No, I cannot help with that.",
    "No.",
    *["Yes."] * 4,
]
WHITE = ["Yes, she would.", "no", "No I can't recommend her", "Perhaps", "", *["No."] * 3]


@pytest.mark.parametrize("write", [inspect_log, generated])
def test_refusals_of_questions_for_yes_or_no_are_no_answers(tmp_path, write):
    path = write(tmp_path, [*TEXTS, *WHITE])
    table = bb.studies.load_responses(path)
    assert table.coverage["dropped"] == {"missing": 1, "refusals": 3, "unparseable": 1}
    assert table.coverage["groups"]["black"]["refusals"] == 3
    assert table.coverage["groups"]["white"]["refusals"] == 0
    assert table.coverage["examples"] == ["Perhaps"]
    assert table.frame.groupby("group")["outcome"].agg(["sum", "size"]).to_numpy().tolist() == [
        [4, 5],
        [1, 6],
    ]
    assert "refusals_scored" not in table.coverage
    refused = bb.studies.load_responses(path, refused=True)
    assert refused.outcome == "refused"
    assert refused.frame.groupby("group")["outcome"].agg(["sum", "size"]).to_numpy().tolist() == [
        [3, 8],
        [0, 7],
    ]


@pytest.mark.parametrize(
    ("write", "other", "score"),
    [
        (inspect_log, {"scorer": "judge"}, "judge"),
        (inspect_log, {"target": "a nurse"}, "match"),
        (generated, {"target": "a nurse"}, "exact_match"),
    ],
)
def test_of_other_tasks_a_warning_counts_what_looks_like_a_refusal(tmp_path, write, other, score):
    path = write(tmp_path, [*TEXTS, *["No."] * 8], **other)
    table = bb.studies.load_responses(path)
    assert table.coverage["dropped"] == {"missing": 0, "refusals": 0, "unparseable": 0}
    assert table.frame["outcome"].sum() == 4
    warnings = bb.interpret(quick(table, draws=100, tune=100, chains=2)).warnings
    (warning,) = [text for text in warnings if "refusal" in text]
    assert warning == (
        "3 of 16 answers look like refusals (black 3, white 0). They count as 0 in "
        f"{score}. Compare the refusals themselves too: --outcome refused."
    )
    refused = bb.studies.load_responses(path, refused=True)
    assert refused.frame.groupby("group")["outcome"].sum().to_dict() == {"black": 3, "white": 0}
    fewer = bb.studies.load_responses(path, where="item != nurse")
    assert fewer.coverage["refusals_scored"]["number"] == 2


def test_without_a_refusal_there_is_nothing_to_compare(tmp_path):
    path = inspect_log(tmp_path, ["Yes.", "No."] * 8)
    assert "refusals_scored" not in bb.studies.load_responses(path).coverage
    done = CliRunner().invoke(cli, ["responses", "fit", str(path), "--outcome", "refused"])
    assert isinstance(done.exception, InputError)
    assert str(done.exception) == (
        "--outcome refused: expected refusals, got none among 16 answers. There is nothing to compare."
    )


def test_without_texts_refusals_cannot_be_counted(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("race,job,score\na,nurse,0.5\nb,nurse,1\na,cook,\n")
    with pytest.raises(InputError, match="numbers alone, in which refusals cannot be counted"):
        bb.studies.load_responses(path, refused=True)
