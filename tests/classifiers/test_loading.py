"""Classifiers of scikit-learn, made here or from a file."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.classifiers import LABELS, PHRASES, pipeline

import bayesbias as bb


@pytest.mark.slow
def test_pipelines():
    pipe = pipeline(LABELS)
    right = pipe.predict_proba(PHRASES)[:, 1]
    np.testing.assert_array_equal(bb.load_classifier(pipe)(PHRASES), right)
    # The positive class is the first column here, and is found by its name.
    named = pipeline(["Positive" if x else "negative!" for x in LABELS])
    assert named.classes_.tolist()[0] == "Positive"
    np.testing.assert_allclose(bb.load_classifier(named)(PHRASES), right, atol=1e-6)
    other = pipeline(["a" if x else "b" for x in LABELS])
    with pytest.raises(bb.InputError, match="name of the positive class, got a, b"):
        bb.load_classifier(other)
    np.testing.assert_allclose(bb.load_classifier(other, positive="a")(PHRASES), right, atol=1e-6)
    with pytest.raises(bb.InputError, match=r"positive: expected a or b, got 'c'"):
        bb.load_classifier(other, positive="c")
    numbered = pipeline([2 if x else 1 for x in LABELS])
    with pytest.raises(bb.InputError, match="name of the positive class"):
        bb.load_classifier(numbered)
    np.testing.assert_allclose(bb.load_classifier(numbered, positive=2)(PHRASES), right, atol=1e-6)
    from sklearn.linear_model import LogisticRegression

    with pytest.raises(bb.InputError, match="fitted classifier"):
        bb.load_classifier(LogisticRegression())


def test_a_third_class_is_spoken_of():
    two = bb.score_sentences(pipeline(LABELS), check=False)
    assert not any("classes" in note for note in two.notes)
    labels = ["positive" if x else "negative" for x in LABELS]
    three = bb.score_sentences(pipeline([*labels[:-1], "neutral"]), name="tripartite", check=False)
    said = "tripartite has 3 classes; the probability is that of positive, so that negative and neutral count alike"
    assert any(note.startswith(said) for note in three.notes), three.notes


def test_a_pickle_is_refused_until_it_is_allowed(tmp_path):
    pipe = pipeline(LABELS)
    import joblib

    path = tmp_path / "pipe.joblib"
    joblib.dump(pipe, path)
    for spec in (f"joblib:{path}", path):
        with pytest.raises(bb.InputError, match=r"got a pickle.*allow_pickle=True"):
            bb.load_classifier(spec)
        classifier = bb.load_classifier(spec, allow_pickle=True)
        np.testing.assert_array_equal(classifier(PHRASES), pipe.predict_proba(PHRASES)[:, 1])
    assert classifier.name == "pipe"
    joblib.dump({"no": "classifier"}, path)
    with pytest.raises(bb.InputError, match="predict_proba, got a dict"):
        bb.load_classifier(path, allow_pickle=True)
