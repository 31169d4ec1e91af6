"""Responses: answers as labels, and words that stand inside prompts."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from helpers.responses import quick

import bayesbias as bb
from bayesbias.cli.main import cli
from bayesbias.core.errors import InputError
from bayesbias.studies.responses.answer_labels import numbers_of

GROUPS = {"black": ["Ebony", "Jamal", "Tyrone"], "white": ["Amanda", "Jake", "Emily"]}
FRAMES = ("{} is angry.", "I made {} feel sad.", "The talk with {} was funny.")


def answers(labels):
    """Return a table with the labels in turn."""
    n = 2 * len(labels)
    groups, items = ["a", "b"] * (n // 2), [f"i{k // 2}" for k in range(n)]
    return pd.DataFrame({"group": groups, "item": items, "outcome": [*labels] * 2})


@pytest.mark.parametrize(
    ("labels", "numbers"),
    [
        (["Hire", "Reject", "hire."], [1, 0, 1]),
        (["A", "B", "B"], [1, 0, 0]),
        (["POSITIVE", "NEGATIVE", "NEGATIVE"], [1, 0, 0]),
        (["Ja", "Nein", "Ja"], [1, 0, 1]),
        (["Agree", "Neutral", "Strongly disagree"], [4, 3, 1]),
        (["52.3%", "49 %", "1,5 %"], [0.523, 0.49, 0.015]),
        (["0,523", "0,498", "1,000"], [0.523, 0.498, 1.0]),
    ],
)
def test_known_labels_are_numbers_and_are_named(labels, numbers):
    table = bb.responses_table(answers(labels))
    np.testing.assert_allclose(table.frame["outcome"], numbers * 2)
    assert len(table.notes) == 1


@pytest.mark.parametrize(
    ("answers", "numbers", "note"),
    [
        (["4/5", "2 / 5", "I'm sorry, I can't rate people."], [4, 2, None], "up to 5"),
        (["Rating: 4 out of 5", "**3,5/5**"], [4, 3.5], "up to 5"),
        (["Rating: 4", "Score = 2.", "3"], [4, 2, 3], ""),
        (["4", "3/5"], [4, 3], "up to 5"),
        (["4/5", "8/10"], [None, None], ""),
    ],
)
def test_ratings_on_a_scale_are_numbers(answers, numbers, note):
    read = numbers_of(pd.Series(answers))
    assert [None if pd.isna(value) else value for value in read.values] == numbers
    assert note in " ".join(read.notes)
    assert len(read.notes) == bool(note)


def test_labels_get_the_numbers_of_the_user(tmp_path):
    labels = ["Invite", "Maybe", "Decline it"]
    values = {"Invite": 1, "Maybe": 0.5, "decline it": 0}
    frame = answers(labels)
    assert bb.responses_table(frame, values=values).frame["outcome"].tolist() == [1, 0.5, 0] * 2
    path = tmp_path / "x.csv"
    frame.to_csv(path, index=False)
    with pytest.raises(InputError) as caught:
        bb.studies.load_responses(path)
    for label in labels:
        assert repr(label) in str(caught.value)
    assert "--map" in str(caught.value)
    turned = bb.responses_table(answers(["A", "B"]), values={"A": 0, "B": 1})
    assert turned.frame["outcome"].tolist() == [0, 1] * 2


def test_texts_that_are_no_scale_stay_unread():
    table = bb.responses_table(answers(["3", "Agree", "4"]))
    assert table.coverage["dropped"]["unparseable"] == 2
    table = bb.responses_table(answers(["1", "0", "1,234"]))  # a separator of thousands
    assert table.coverage["dropped"]["unparseable"] == 2
    table = bb.responses_table(answers(["Hire", "I'm sorry, I cannot help.", "Reject"]))
    assert table.coverage["dropped"]["refusals"] == 2
    assert table.frame["outcome"].tolist() == [1, 0] * 2


@pytest.mark.parametrize("option", ["Hire", "Hire=many"])
def test_a_map_that_is_none_is_refused(tmp_path, option):
    path = tmp_path / "x.csv"
    answers(["Hire", "Reject"]).to_csv(path, index=False)
    done = CliRunner().invoke(cli, ["responses", "fit", str(path), "--map", option])
    assert done.exit_code != 0
    assert "--map" in str(done.exception) + done.output


def prompts(seed=0):
    """Return scores of prompts with names inside, which differ between names and not between groups."""
    rng = np.random.default_rng(seed)
    rows = []
    for group, names in GROUPS.items():
        for name in names:
            effect = rng.normal(0, 0.1)
            for frame in FRAMES:
                score = 0.5 + effect + rng.normal(0, 0.01)
                rows.append({"race": group, "prompt": frame.format(name), "score": score})
    return pd.DataFrame(rows)


def test_names_inside_prompts_are_found_and_warned_of():
    table = bb.responses_table(prompts())
    assert table.coverage["hidden"] == [name for names in GROUPS.values() for name in names]
    warnings = bb.interpret(quick(table)).warnings
    assert any("word_in_text" in warning and "Ebony" in warning for warning in warnings)


def test_names_inside_prompts_can_be_named_as_words(tmp_path):
    path = tmp_path / "x.csv"
    prompts().to_csv(path, index=False)
    named = {"word": "word_in_text", "template": "text_without_word"}
    for table in (
        bb.studies.load_responses(path, columns=named),
        bb.responses_table(prompts(), **named),
    ):
        assert set(table.frame["template"]) == {frame.format("{word}") for frame in FRAMES}
        assert table.frame["word"].nunique() == 6
        assert table.coverage["hidden"] == []
    wide, narrow = (
        quick(found).contrasts(estimand="population", level="overall").iloc[0]
        for found in (table, bb.responses_table(prompts()))
    )
    assert wide["hpdi_high"] - wide["hpdi_low"] > 1.5 * (narrow["hpdi_high"] - narrow["hpdi_low"])


def test_pronouns_and_texts_of_their_own_are_no_hidden_words():
    rows = [
        {"group": who, "prompt": f"{who} is a {job}.", "score": 0.1 * k}
        for k, job in enumerate(("nurse", "cook", "poet")) for who in ("he", "she")
    ]  # fmt: skip
    assert bb.responses_table(pd.DataFrame(rows)).coverage["hidden"] == []
    texts = ["A calm day.", "Rain fell late.", "Birds sing here.", "No one came home."]
    frame = pd.DataFrame({"group": list("aabb"), "prompt": texts, "score": [1.0, 2, 3, 4]})
    assert bb.responses_table(frame).coverage["hidden"] == []
    with pytest.raises(InputError, match="word_in_text"):
        bb.responses_table(frame, word="word_in_text")
