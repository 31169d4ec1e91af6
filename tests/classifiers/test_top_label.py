"""Scores of the predicted label: what a transformers pipeline writes."""

import numpy as np
import pandas as pd
import pytest
from helpers.classifiers import toy

import bayesbias as bb
from bayesbias.classifiers.top_label import positive_scores
from bayesbias.core.errors import InputError
from bayesbias.tables.sentiment import sentiment_table

P = np.array([0.2, 0.9, 0.55, 0.35, 0.5])


def piped(p=P, labels=("NEGATIVE", "POSITIVE")) -> pd.DataFrame:
    """Return what a pipeline says that has these probabilities of its second label."""
    high = p >= 0.5
    return pd.DataFrame(
        {"label": np.where(high, labels[1], labels[0]), "score": np.where(high, p, 1 - p)}
    )


@pytest.mark.parametrize(
    "labels", [("NEGATIVE", "POSITIVE"), ("Negative", "positive"), ("neg", "pos")]
)
def test_scores_of_the_negative_label_are_turned(labels) -> None:
    values, note = positive_scores(piped(labels=labels), "score")
    assert values.to_numpy(dtype=float) == pytest.approx(P)
    assert note == f"'score' is that of the predicted 'label': {labels[0]} counts as 1 - score"


def test_other_labels_are_refused_until_one_is_named() -> None:
    frame = piped(labels=("LABEL_0", "LABEL_1"))
    with pytest.raises(InputError, match=r"in 'score', got the column 'label' beside it") as error:
        positive_scores(frame, "score", where="p.csv")
    assert "--positive LABEL_1" in str(error.value)
    values, _ = positive_scores(frame, "score", "label_1")
    assert values.to_numpy(dtype=float) == pytest.approx(P)
    reverse, _ = positive_scores(frame, "score", "LABEL_0")
    assert reverse.to_numpy(dtype=float) == pytest.approx(1 - P)
    with pytest.raises(InputError, match="positive"):
        positive_scores(frame, "score", "LABEL_2")


def test_three_labels_are_refused() -> None:
    frame = pd.DataFrame({"label": ["positive", "neutral", "negative"], "score": [0.9, 0.4, 0.6]})
    for positive in (None, "positive"):
        with pytest.raises(InputError, match="leave 'label' out"):
            positive_scores(frame, "score", positive)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"score": P}),
        pd.DataFrame(
            {"label": ["NEGATIVE", "POSITIVE", "POSITIVE", "NEGATIVE", "POSITIVE"], "score": P}
        ),
        pd.DataFrame({"label": list("abcde"), "score": [0.1, *P[1:]]}),
        pd.DataFrame({"label": list("ababa"), "score": [1, 2, 3, 4, 5]}),
        pd.DataFrame({"sentiment": ["joy", "fear"], "score": [0.9, 0.8]}),
        pd.DataFrame({"label": ["x", "y"], "score": ["yes", "no"]}),
    ],
)
def test_other_scores_stay_as_they_are(frame) -> None:
    values, note = positive_scores(frame, "score")
    assert values.equals(frame["score"])
    assert note == ""


@pytest.fixture(scope="module")
def predicted() -> pd.DataFrame:
    frame = toy("mine").frame
    p = np.random.default_rng(1).uniform(0.02, 0.98, len(frame))
    return frame[["sentence"]].assign(probability=p)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".json"])
def test_predictions_of_a_pipeline(tmp_path, predicted, ending) -> None:
    expected = predicted.set_index("sentence")["probability"]
    for labels, positive in ((("NEGATIVE", "POSITIVE"), None), (("LABEL_0", "LABEL_1"), "LABEL_1")):
        frame = piped(predicted["probability"].to_numpy(), labels)
        frame.insert(0, "sentence", predicted["sentence"])
        path = tmp_path / f"p{ending}"
        if ending.startswith(".json"):
            frame.to_json(path, orient="records", lines=ending == ".jsonl", double_precision=15)
        else:
            frame.to_csv(path, index=False, sep="," if ending == ".csv" else "\t")
        read = bb.load_predictions(path, positive=positive)
        got = read.frame["probability"].to_numpy()
        assert got == pytest.approx(expected[read.frame["sentence"]].to_numpy(), abs=1e-12)
        assert f"{labels[0]} counts as 1 - score" in " ".join(read.notes)
    with pytest.raises(InputError, match="'score', got the column 'label'"):
        bb.load_predictions(path)


def test_frames_of_predictions(predicted) -> None:
    frame = toy("mine").frame.assign(probability=predicted["probability"].to_numpy())
    expected = sentiment_table(frame)["difference"]
    rows = piped(predicted["probability"].to_numpy())
    turned = frame.assign(probability=rows["score"].to_numpy(), label=rows["label"].to_numpy())
    assert sentiment_table(turned)["difference"].to_numpy() == pytest.approx(expected.to_numpy())


def test_answers_of_a_pipeline(tmp_path) -> None:
    labels = {"group": list("ababa"), "word": list("vwvwv"), "item": list("11223")}
    for frame, positive in (
        (piped(), None),
        (piped(labels=("LABEL_0", "LABEL_1")), "LABEL_1"),
    ):
        frame = frame.assign(**labels)
        frame.to_csv(tmp_path / "p.csv", index=False)
        frame.to_json(tmp_path / "p.jsonl", orient="records", lines=True, double_precision=15)
        for source in (frame, tmp_path / "p.csv", tmp_path / "p.jsonl"):
            table = bb.responses_table(source, positive=positive)
            assert table.frame["outcome"].to_numpy() == pytest.approx(P)
            assert "counts as 1 - score." in table.notes[0]
            if positive:
                with pytest.raises(InputError, match="'score', got the column 'label'"):
                    bb.responses_table(source)
    named = bb.responses_table(frame.drop(columns="item"), item="label")  # labels of something else
    assert named.frame["outcome"].to_numpy() == pytest.approx(frame["score"].to_numpy())


def test_words_that_differ_by_capitals_count_once() -> None:
    answers = pd.DataFrame(
        {
            "group": ["a", "a", "a", "b", "b"],
            "word": ["Jamal", "JAMAL", "Will", "will", "Greg"],
            "prompt": ["One", "Two", "one", "One", "Two"],
            "score": [0.1, 0.2, 0.3, 0.4, 0.5],
        }
    )
    table = bb.responses_table(answers)
    assert table.frame["word"].tolist() == ["Jamal", "Jamal", "Will", "will", "Greg"]
    assert table.frame["template"].tolist() == answers["prompt"].tolist()
    assert table.notes == ("Words that differ only by capitals count once: Jamal/JAMAL.",)
