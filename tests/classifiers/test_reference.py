"""The reference classifiers, and how they are trained."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from helpers.classifiers import LABELS, PHRASES
from scipy.special import expit

import bayesbias as bb
from bayesbias.classifiers import reference, training


def training_file(path: Path) -> Path:
    path.write_text(
        "label\tsentence\n" + "".join(f"{y}\t{s}\n" for y, s in zip(LABELS, PHRASES, strict=True))
    )
    return path


@pytest.mark.claim
def test_bow_reproduces_the_published_predictions(gender, published, tmp_path):
    # Source: predictions_logreg.txt; its comment states the accuracy 0.8268348623853211.
    pytest.importorskip("sklearn", reason="needs the extra `classifiers`")
    made = bb.classifiers.train_bow(
        gender / "sst2_train.tsv", dev=gender / "sst2_dev.tsv", out=tmp_path / "bow"
    )
    assert made.provenance["dev_accuracy"] == 0.8268348623853211
    ours = bb.score_sentences(tmp_path / "bow")
    theirs = published[0].frame["probability"]
    assert np.abs(ours.frame["probability"][:800] - theirs).max() < 2e-4
    assert "lawyer" in made.unknown_words(["He is a lawyer."])


def test_bow_is_the_pipeline_of_scikit_learn_without_scikit_learn(tmp_path):
    pytest.importorskip("sklearn", reason="needs the extra `classifiers`")
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    made = bb.classifiers.train_bow(
        training_file(tmp_path / "train.tsv"), out=tmp_path / "bow", C=2.0
    )
    vectorizer = TfidfVectorizer()
    fitted = LogisticRegression(C=2.0, solver="liblinear").fit(
        vectorizer.fit_transform(PHRASES), LABELS
    )
    asked = [*PHRASES, "Film film FILM, love!", "nothing known", ""]
    right = fitted.predict_proba(vectorizer.transform(asked))[:, 1]
    np.testing.assert_allclose(made(asked), right, rtol=1e-12)
    np.testing.assert_allclose(bb.load_classifier(tmp_path / "bow")(asked), right, rtol=1e-12)
    assert made.unknown_words(["a lovely, LOVE film"]) == ("lovely",)
    assert sorted(p.name for p in (tmp_path / "bow").iterdir()) == [
        "classifier.json",
        "weights.safetensors",
    ]
    for wrong in (0, -1, float("inf"), "1"):
        with pytest.raises(bb.InputError, match="C: expected a finite number above 0"):
            bb.classifiers.train_bow(tmp_path / "train.tsv", C=wrong)


def hand_made(tmp_path: Path, hidden: int = 2, dim: int = 3) -> bb.classifiers.Classifier:
    rng = np.random.default_rng(5)
    shapes = {"vectors": (4, dim), "output": (2 * hidden,), "output_bias": (1,)}
    for side in ("forward", "backward"):
        shapes |= {
            f"{side}_input": (4 * hidden, dim),
            f"{side}_state": (4 * hidden, hidden),
            f"{side}_bias": (4 * hidden,),
        }
    weights = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    model = reference.BiLstm({"he": 0, "is": 1, "good": 2, ".": 3}, weights, {})
    bb.classifiers.Classifier("lstm", model, {"kind": "bilstm"}).save(tmp_path / "lstm")
    return bb.load_classifier(tmp_path / "lstm")


def test_bilstm_follows_its_equations(tmp_path):
    """Hochreiter and Schmidhuber's cell with forget gates, one number at a time."""
    classifier = hand_made(tmp_path)
    w, vocabulary = classifier.predict.weights, classifier.predict.vocabulary

    def last(words, side):
        state, cell = [0.0, 0.0], [0.0, 0.0]
        for word in words:
            x = w["vectors"][vocabulary[word]] if word in vocabulary else np.zeros(3)
            gate = [
                w[f"{side}_input"][k] @ x
                + w[f"{side}_state"][k] @ np.array(state)
                + w[f"{side}_bias"][k]
                for k in range(8)
            ]
            cell = [
                expit(gate[2 + u]) * cell[u] + expit(gate[u]) * math.tanh(gate[4 + u])
                for u in (0, 1)
            ]
            state = [expit(gate[6 + u]) * math.tanh(cell[u]) for u in (0, 1)]
        return state

    sentences = {
        "He is good.": ["he", "is", "good", "."],
        "Good": ["good"],
        "he isn't": ["he", "is", "?", "?"],
    }
    for sentence, words in sentences.items():
        if sentence == "he isn't":
            words = ["he", "is", "n't"]
        z = (
            np.array([*last(words, "forward"), *last(words[::-1], "backward")]) @ w["output"]
            + w["output_bias"][0]
        )
        assert classifier([sentence])[0] == pytest.approx(expit(z), rel=1e-12)
    # No prediction depends on the others of its batch.
    np.testing.assert_allclose(
        classifier(list(sentences)), [classifier([s])[0] for s in sentences], rtol=1e-14
    )
    assert classifier.unknown_words(["He isn't bad."]) == ("n't", "bad")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("sentence\tlabel\na b\t1\nc\t0\n", (["a b", "c"], [1, 0])),
        ("1\ta b\n0\tc\n", (["a b", "c"], [1, 0])),
        ("a b\t1\nc\t0\n", (["a b", "c"], [1, 0])),
        ('7\t1\ta\t"a b\n8\t0\ta\tc', (['"a b', "c"], [1, 0])),
        ("sentence\tlabel\na b\t1\nc\n", "line 3: expected the label 0"),
        ("sentence\tlabel\na b\t1\nc\t2\n", "line 3: expected the label 0"),
        ("sentence\tlabel\na b\t1\n \t0\n", "line 3: expected the label 0"),
        ("sentence\tlabl\na b\t1\n", "expected labels.*Did you mean 'labl'"),
        ("a\t1\nb\t1\n", "expected both labels"),
        ("a\tgood\nb\tbad\n", "expected labels and sentences"),
        ("a\nb\n", "expected labels and sentences"),
        ("", "expected sentences with labels"),
    ],
)
def test_labelled_sentences(tmp_path, text, found):
    file = tmp_path / "train.tsv"
    file.write_text(text, encoding="utf-8")
    if isinstance(found, str):
        with pytest.raises(bb.InputError, match=found):
            training.read_labelled(file)
    else:
        sentences, labels = training.read_labelled(file)
        assert (sentences, labels.tolist()) == found
