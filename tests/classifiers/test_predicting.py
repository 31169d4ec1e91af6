"""Classifiers are asked once for each sentence, and their answers are checked."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from helpers.classifiers import score, toy

import bayesbias as bb


@pytest.mark.slow
def test_a_callable_is_asked_in_batches_for_each_sentence_once():
    asked = []

    def watched(sentences):
        asked.append(list(sentences))
        return score(sentences)

    made = bb.score_sentences(watched, batch=100, check=False)
    assert [len(part) for part in asked] == [100] * 8 + [40]
    assert [s for part in asked for s in part] == bb.wordlists.occupation_sentences(control=True)[
        "sentence"
    ].tolist()
    np.testing.assert_array_equal(made.frame["probability"], score(made.frame["sentence"]))
    assert made.classifiers == ("watched",)
    bb.score_sentences(watched, control=False)
    assert sum(map(len, asked)) == 840 + 800 + 16  # and the plain sentences of the check


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda s: [0.5] * (len(s) - 1), "expected one probability for each sentence.*31"),
        (
            lambda s: [[0.4, 0.6]] * len(s),
            "got 2 columns",
        ),
        (lambda s: [[[0.5]]] * len(s), "one probability for each sentence"),
        (
            lambda s: [float("nan")] * len(s),
            "'He is a doctor.': expected a probability from 0 to 1, got nan",
        ),
        (lambda s: [-0.2] * len(s), "probability from 0 to 1, got -0.2"),
        (lambda s: [2.5] * len(s), "logits are not probabilities"),
        (lambda s: ["good"] * len(s), "name of the positive class, got good"),
        (lambda s: [None, *["0.5x"] * len(s)], "expected one probability"),
    ],
)
def test_what_is_no_probability_is_refused(answer, message):
    with pytest.raises(bb.InputError, match=message):
        bb.score_sentences(answer)


def test_finished_work_is_kept_and_taken_up(tmp_path):
    kept, calls = tmp_path / "kept.csv", []

    def fails_once(sentences):
        calls.append(len(sentences))
        if len(calls) == 4:
            raise RuntimeError("out of memory")
        return score(sentences)

    with pytest.raises(
        bb.InputError,
        match=r"sentences 301 to 400 of 840, got .*RuntimeError: out of memory.*300 finished",
    ):
        bb.score_sentences(fails_once, batch=100, partial=kept)
    assert len(kept.read_text().splitlines()) == 302  # with the owner and a header
    with pytest.raises(bb.InputError, match="expected unfinished predictions of this classifier"):
        bb.score_sentences(score, partial=kept, name="another")
    made = bb.score_sentences(fails_once, batch=100, partial=kept, check=False)
    assert sum(calls) == 840 + 100
    np.testing.assert_array_equal(made.frame["probability"], score(made.frame["sentence"]))
    assert "taken from kept.csv: 300 predictions" in made.notes
    assert not kept.exists()


def test_swapped_classes_are_found(tmp_path):
    def swapped(sentences):
        return [1 - p for p in score(sentences)]

    with pytest.raises(bb.InputError, match="its classes seem swapped"):
        bb.score_sentences(swapped)
    made = bb.score_sentences(swapped, check=False)
    np.testing.assert_allclose(
        made.frame["probability"], [1 - p for p in score(made.frame["sentence"])]
    )
    table = dict(zip(made.frame["sentence"], made.frame["probability"], strict=True))
    looked_up = bb.score_sentences(lambda sentences: [table[s] for s in sentences])
    assert looked_up.frame["probability"].equals(made.frame["probability"])
    assert "could not be checked: KeyError" in looked_up.notes[0]


def test_predictions_are_saved_by_the_ending(tmp_path):
    made = toy(control=False)
    again = bb.load_predictions(made.save(tmp_path / "p.tsv"), name="again")
    assert again.frame["probability"].equals(made.frame["probability"])
    assert again.classifiers == ("again",)
    with pytest.raises(bb.InputError, match="load_predictions"):
        bb.load_classifier(tmp_path / "p.tsv")
    with pytest.raises(bb.InputError, match=r"expected .csv or .tsv"):
        made.save(tmp_path / "p.xls")


@pytest.mark.slow
def test_words_that_a_classifier_does_not_see_are_named():
    """M.1 has no token of eight professions and of four noun pairs in its training sentences."""
    made = bb.list_predictions("m1")
    notes = bb.sentiment_analysis(made).notes
    by_hand: dict[tuple[float, ...], set[str]] = {}
    for profession in bb.wordlists.load_occupations().professions["profession"]:
        values = made.frame[made.frame["profession"] == profession].sort_values(
            ["noun_pair", "gender"]
        )["probability"]
        by_hand.setdefault(tuple(values), set()).add(profession)
    (alike,) = (group for group in by_hand.values() if len(group) > 1)
    (said,) = (note for note in notes if "rates these professions alike" in note)
    assert alike == set(said.rstrip(".").split(": ")[1].split(", "))
    assert {"nurse", "lawyer", "mechanic"} <= alike
    sees = bb.score_sentences(
        lambda ss: [0.3 + 0.4 * zlib.crc32(s.encode()) / 2**32 for s in ss],
        name="sees",
        check=False,
    )
    assert not any("apart" in note for note in bb.sentiment_analysis(sees).notes)


@pytest.mark.slow
def test_labels_without_probabilities_are_called_that():
    made = bb.score_sentences(
        lambda sentences: [float("a" in s.split()[1]) for s in sentences], name="hard", check=False
    )
    assert "gives labels" in str(bb.interpret(bb.sentiment_analysis(made)))
