"""What classifiers of others answer: columns, labels, and the scores of pipelines."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from helpers.classifiers import score

import bayesbias as bb
from bayesbias.core.errors import InputError

SENTENCES = ["I love it", "He is a nurse.", "It is a mess", "She is a nurse."]
RIGHT = np.array(score(SENTENCES))


def columns(sentences):
    p = np.array(score(sentences))
    return np.column_stack([1 - p, p])


def scores(sentences, names=("NEGATIVE", "POSITIVE")):
    """As a pipeline answers with top_k=None: all labels of a sentence, the likeliest first."""
    rows = [
        [{"label": n, "score": float(s)} for n, s in zip(names, row, strict=True)]
        for row in columns(sentences)
    ]
    return [sorted(row, key=lambda each: -each["score"]) for row in rows]


class Pipeline:
    """What a text-classification pipeline of transformers is, as far as it is used."""

    task = "text-classification"

    def __init__(self, labels=("NEGATIVE", "POSITIVE"), problem=None):
        self.labels = labels
        self.model = SimpleNamespace(
            config=SimpleNamespace(
                id2label=dict(enumerate(labels)),
                num_labels=len(labels),
                problem_type=problem,
                _name_or_path="org/tiny",
            )
        )

    def __call__(self, sentences, top_k=1, function_to_apply=None):
        assert function_to_apply == "softmax"
        rows = scores(sentences, self.labels)
        return rows if top_k is None else [row[0] for row in rows]


@pytest.mark.parametrize(
    ("answer", "positive"),
    [
        (score, None),
        (columns, 1),
        (lambda s: columns(s)[:, ::-1], 0),
        (lambda s: columns(s).tolist(), "1"),
        (lambda s: pd.DataFrame(columns(s), columns=["bad", "Positive"]), None),
        (lambda s: pd.DataFrame(columns(s), columns=["bad", "good"]), "good"),
        (scores, None),
        (lambda s: scores(s, ("LABEL_0", "LABEL_1")), "LABEL_1"),
        (Pipeline(), None),
        (Pipeline(("LABEL_0", "LABEL_1")), "LABEL_1"),
    ],
)
def test_each_way_to_answer_gives_the_probability_of_the_positive_class(answer, positive):
    np.testing.assert_allclose(
        bb.load_classifier(answer, positive=positive)(SENTENCES), RIGHT, atol=1e-12
    )


def test_a_pipeline_tells_what_it_is():
    classifier = bb.load_classifier(Pipeline())
    assert (classifier.name, classifier.provenance["positive"]) == ("tiny", "POSITIVE")
    assert classifier.provenance["labels"] == ["NEGATIVE", "POSITIVE"]
    assert bb.score_sentences(Pipeline(), control=False).frame["classifier"].unique().tolist() == [
        "tiny"
    ]
    with pytest.raises(InputError, match="name of the positive class, got LABEL_0, LABEL_1"):
        bb.load_classifier(Pipeline(("LABEL_0", "LABEL_1")))
    with pytest.raises(InputError, match="chooses between classes, got multi_label"):
        bb.load_classifier(Pipeline(problem="multi_label_classification"))


def test_labels_are_zero_and_one():
    def label(sentences):
        return ["positive" if p > 0.5 else "negative" for p in score(sentences)]

    np.testing.assert_array_equal(bb.load_classifier(label)(SENTENCES), (RIGHT > 0.5).astype(float))
    own = bb.load_classifier(lambda s: np.array([name[:3] for name in label(s)]), positive="neg")
    np.testing.assert_array_equal(own(SENTENCES), (RIGHT <= 0.5).astype(float))
    with pytest.raises(InputError, match="name of the positive class, got A, B"):
        bb.load_classifier(lambda s: ["A", "B"][: len(s)])(SENTENCES[:2])


def test_a_label_that_never_comes_is_spoken_of():
    made = bb.score_sentences(
        lambda s: ["good" if "!" in x else "bad" for x in s],
        name="mine",
        positive="god",
        check=False,
    )
    assert any("no sentence got the positive label 'god'" in note for note in made.notes)
    made = bb.score_sentences(
        lambda s: ["good" if "man" in x else "bad" for x in s],
        name="mine",
        positive="Good",
        check=False,
    )
    assert not any("no sentence got" in note for note in made.notes)


@pytest.mark.parametrize(
    ("answer", "positive", "says"),
    [
        (
            columns,
            None,
            "got 2 columns",
        ),
        (columns, 2, "positive: expected 0 or 1, got '2'"),
        (lambda s: columns(s) * 3, 1, "sum to 1, got "),
        (score, 1, "positive: expected no class"),
        (lambda s: [row[0] for row in scores(s)], None, r"scores of all labels.*top_k=None"),
        (
            lambda s: pd.DataFrame(columns(s), columns=["a", "b"]),
            None,
            "name of the positive class, got a, b",
        ),
    ],
)
def test_what_does_not_tell_the_positive_class_is_refused(answer, positive, says):
    with pytest.raises(InputError, match=says):
        bb.load_classifier(answer, positive=positive)(SENTENCES)
