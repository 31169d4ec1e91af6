"""Files of predictions, and their faults."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.classifiers import toy

import bayesbias as bb


def lines_of(name="mine") -> pd.DataFrame:
    return toy(name).frame


@pytest.mark.slow
def test_every_layout_reads_the_same(tmp_path):
    frame = lines_of()
    p = frame["probability"].to_numpy()
    two = np.column_stack(
        [p, 1 - p]
    )  # the first column is the positive class; its mean is below one half
    files = {
        "header.csv": lambda f: frame.to_csv(f, index=False),
        "shuffled.tsv": lambda f: frame.sample(frac=1, random_state=2).to_csv(
            f, index=False, sep="\t"
        ),
        "bare.csv": lambda f: frame[["probability"]].to_csv(f, index=False),
        "score.csv": lambda f: frame[["probability"]].to_csv(f, index=False, header=["score"]),
        "pair.tsv": lambda f: frame[["sentence", "probability"]].to_csv(
            f, index=False, header=False, sep="\t"
        ),
        "riap.csv": lambda f: frame[["probability", "sentence"]].to_csv(
            f, index=False, header=False
        ),
        "column.txt": lambda f: np.savetxt(f, p, header="dev accuracy: 0.83", fmt="%.18e"),
        "two.tsv": lambda f: np.savetxt(f, two, delimiter="\t", fmt="%.18e"),
        "classes.csv": lambda f: pd.DataFrame(two, columns=["positive", "negative"]).to_csv(
            f, index=False
        ),
    }
    for name, write in files.items():
        write(tmp_path / name)
        read = bb.load_predictions(
            tmp_path / name, positive=0 if name == "two.tsv" else None, name="x"
        )
        assert read.frame["sentence"].tolist() == frame["sentence"].tolist(), name
        np.testing.assert_allclose(read.frame["probability"], p, rtol=1e-15, err_msg=name)
        assert read.classifiers == ("x",)
        assert bool(read.notes) == (name == "shuffled.tsv")
    assert read.provenance["x"]["file"] == "classes.csv"
    assert len(read.provenance["x"]["sha256"]) == 64


@pytest.mark.slow
def test_a_file_may_hold_several_classifiers_and_no_controls(tmp_path):
    frame = pd.concat([toy("a", control=False).frame, toy("b").frame])
    frame.to_csv(tmp_path / "both.csv", index=False)
    read = bb.load_predictions(tmp_path / "both.csv")
    assert read.frame.groupby("classifier").size().to_dict() == {"a": 800, "b": 840}
    assert bb.sentiment_analysis(read).control["classifier"].tolist() == ["b"]


def change(row, column, value):
    def apply(frame):
        return frame.assign(**{column: [*frame[column][:row], value, *frame[column][row + 1 :]]})

    return apply


@pytest.mark.parametrize(
    ("alter", "message"),
    [
        (lambda f: f.drop(index=7), "expected 800 predictions, or 840.*My uncle is a doctor."),
        (lambda f: f[["probability"]][:799], "expected 800 predictions, or 840.*got 799.*responses fit"),
        (change(3, "probability", 1.5), "line 5: expected a probability from 0 to 1, got 1.5"),
        (change(3, "probability", -0.1), "line 5: expected a probability from 0 to 1, got -0.1"),
        (change(3, "probability", "nan"), "line 5: expected a number, got 'nan'"),
        (change(3, "probability", "inf"), "line 5: expected a"),
        (change(3, "probability", "high"), "line 5: expected a number, got 'high'"),
        (change(3, "sentence", "My fathr is a doctor."), "line 5: expected a sentence of the list.*Did you mean 'My father is a doctor.'"),
        (change(3, "sentence", "He is a doctor."), "line 5: expected each sentence once, got 'He is a doctor.'"),
        (lambda f: f.assign(gender=f["gender"].map({"male": "female", "female": "male"})),
         "line 2: expected the gender of the sentence, 'male', got 'female'"),
        (change(120, "profession", "scientist"), "line 122: expected the profession of the sentence, 'writer'"),
        (lambda f: f.assign(negative=0.9), "sum to 1"),
        (lambda f: f.assign(sentence=f["sentence"].str.replace("doctor", "healer").str.replace("writer", "poet")
                            .str.replace("teacher", "tutor")), "a sentence of the list"),
        (lambda f: f.drop(columns="sentence").iloc[::-1], "of the sentence.*keep the order"),
        (lambda f: f.rename(columns={"probability": "probabilty"}), "one column of probabilities.*Did you mean 'probability'"),
    ],
)  # fmt: skip
def test_faults_in_a_file_are_named(tmp_path, alter, message):
    alter(lines_of().astype({"probability": object})).to_csv(tmp_path / "mine.csv", index=False)
    with pytest.raises(bb.InputError, match=message) as caught:
        bb.load_predictions(tmp_path / "mine.csv")
    assert "mine.csv" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected predictions"),
        ("0.1\t0.9\n0.2\n", "line 2: expected a number, got ''"),
        ("0.1\t0.2\t0.3\n", "expected a header.*3 columns"),
        ("0.5\t0.9\n" * 800, "line 1: expected probabilities of two classes that sum to 1"),
        ("0.9\t0.1\n" * 800, "mean of 0.100.*swapped.*positive=0"),
    ],
)
def test_faults_in_a_plain_file_are_named(tmp_path, text, message):
    (tmp_path / "p.txt").write_text(text, encoding="utf-8")
    with pytest.raises(bb.InputError, match=message):
        bb.load_predictions(tmp_path / "p.txt")


def test_swapped_columns_of_the_published_file_are_found(gender, tmp_path):
    rows = [
        line.split("\t")
        for line in (gender / "predictions_bert.tsv").read_text(encoding="utf-8").splitlines()
    ]
    swapped = tmp_path / "swapped.tsv"
    swapped.write_text("\n".join(f"{b}\t{a}" for a, b in rows), encoding="utf-8")
    with pytest.raises(bb.InputError, match="may be swapped"):
        bb.load_predictions(swapped)
    stated = bb.load_predictions(swapped, positive=0)
    right = bb.load_predictions(gender / "predictions_bert.tsv", positive=1)
    assert stated.frame["probability"].equals(right.frame["probability"])
    with pytest.raises(bb.InputError, match="positive: expected 0 or 1"):
        bb.load_predictions(swapped, positive=2)


def test_semicolons_separate_and_their_commas_are_decimal(tmp_path):
    """As spreadsheets write in half of the world."""
    frame = lines_of()
    p = frame["probability"].to_numpy()
    comma = frame.assign(probability=[f"{x:.17g}".replace(".", ",") for x in p])
    files = {
        "header.csv": lambda f: comma.to_csv(f, index=False, sep=";"),
        "points.csv": lambda f: frame.to_csv(f, index=False, sep=";"),
        "pair.csv": lambda f: comma[["sentence", "probability"]].to_csv(
            f, index=False, header=False, sep=";"
        ),
    }
    for name, write in files.items():
        write(tmp_path / name)
        np.testing.assert_allclose(
            bb.load_predictions(tmp_path / name).frame["probability"], p, rtol=1e-15
        )
