"""The kinds of answers: which one a table has, and what each says of itself."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.models.spec import load_model
from bayesbias.studies.responses.kinds import KINDS, kind_named, kind_of


def table(outcomes):
    """Answers of two groups to the same items."""
    n = len(outcomes) // 2
    frame = {
        "group": ["a"] * n + ["b"] * n,
        "word": "x",
        "item": [f"i{k}" for k in range(n)] * 2,
        "outcome": outcomes,
    }
    return bb.responses_table(pd.DataFrame(frame))


NUMBERS = [0.1, 0.5, 0.4, 0.3, 0.2, 0.9]


def test_the_kind_of_a_table():
    assert kind_of(table([0, 1, 0, 1, 1, 1])).name == "choice"
    assert kind_of(table(NUMBERS)).name == "paired"
    # With a second word in one group there is no single answer to each question.
    frame = table(NUMBERS).frame
    more = frame[frame["group"] == "a"].assign(word="y")
    answers = bb.responses_table(pd.concat([frame, more]))
    assert kind_of(answers).name == "number"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_kind_and_its_model_agree(kind):
    spec = load_model(kind.model)
    # Log odds are no unit of a ROPE, so such a kind has a scale of the answers before them.
    assert (kind.scales[0] == "outcome") == spec.outcome_type.in_units
    assert kind_named(kind.name) is kind
    # A difference has a zero, to which a figure of it draws a line.
    assert (kind.zero is not None) == (kind.row == "difference")


def test_the_default_rope_is_a_tenth_of_the_sd():
    sd = np.std(NUMBERS)
    number = kind_named("number")
    assert number.default_rope(table(NUMBERS), pd.DataFrame()) == float(f"{sd / 10:.2g}")
    differences = np.subtract(NUMBERS[:3], NUMBERS[3:])
    rows, notes = kind_named("paired").rows(table(NUMBERS), False)
    assert notes == []
    expected = float(f"{np.std(differences) / 10:.2g}")
    assert kind_named("paired").default_rope(table(NUMBERS), rows) == expected


def test_one_word_of_two_groups_is_two_words_for_numbers_alone():
    frame = table(NUMBERS).frame.assign(word=["x", "y", "x"] * 2)
    answers = bb.responses_table(frame)
    rows, _ = kind_named("number").rows(answers, False)
    assert {*rows["word"]} == {"x (a)", "y (a)", "x (b)", "y (b)"}
    counts, _ = kind_named("choice").rows(answers, False)
    assert {*counts["word"]} == {"x", "y"}
