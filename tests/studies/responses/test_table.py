"""Responses: rows, answers, pairs, and the sentences to ask for."""

import numpy as np
import pandas as pd
import pytest
from helpers.places import ROOT
from helpers.responses import crossed, long_table, quick

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.studies.responses.table import cells, differences, group_contrasts


def test_rows_without_an_answer_are_counted_by_reason():
    frame = {
        "race": ["x"] * 6,
        "said": ["yes", "0", "I cannot help with that", "perhaps", "", None],
    }
    table = bb.responses_table(frame, group="race", outcome="said")
    assert table.frame["outcome"].tolist() == [1, 0]
    assert table.coverage == {
        "rows_read": 6, "rows_used": 2, "dropped": {"missing": 2, "refusals": 1, "unparseable": 1},
        "groups": {"x": {"read": 6, "used": 2, "missing": 2, "refusals": 1, "unparseable": 1}},
        "examples": ["perhaps"], "repeats": 2, "apart": [], "distinct": [], "hidden": [],
    }  # fmt: skip


def test_texts_that_begin_with_yes_or_no_are_read():
    yes = ["Yes.", '"Yes."', "yes!", "**Yes**", "Yes, I would.", "Yes - often", "True."]
    no = ["No.", "NO", " no ; never", "no - not her", "No: no reason", "Incorrect."]
    numbers = ["0.25", "'1'", "-1.", "1e-3"]
    unread = ["No idea", "Not sure", "Yes and no", "No-one knows", "Nothing.", "..."]
    given = [*yes, *no, *numbers, *unread]
    table = bb.responses_table({"group": ["a"] * len(given), "outcome": given})
    assert table.frame["outcome"].tolist() == [1] * len(yes) + [0] * len(no) + [0.25, 1, -1, 0.001]
    assert table.coverage["dropped"]["unparseable"] == len(unread)
    assert table.coverage["examples"] == ["No idea", "Not sure"]
    assert table.outcome == "outcome = yes"
    refused = [
        "No, I cannot help with that.",
        "I won't say",
        "No, I won't.",
    ]  # the last is an answer
    table = bb.responses_table({"group": ["a"] * 3, "outcome": refused})
    assert table.coverage["dropped"]["refusals"] == 2
    assert table.frame["outcome"].tolist() == [0]


def test_unknown_columns_are_refused():
    with pytest.raises(InputError, match="race"):
        bb.responses_table({"rcae": ["a"], "outcome": [1]}, group="race")
    with pytest.raises(InputError, match="answer"):
        bb.responses_table({"outcome": ["", None]})


def test_the_same_question_to_each_group_is_paired():
    frame = crossed()
    assert bb.responses_table(frame).pairing is None  # words of their own
    shared_words = frame.assign(word=frame["word"].str[1:])
    assert "word" in bb.responses_table(shared_words).pairing
    one_word = frame[frame["word"].str.endswith("0")]
    assert bb.responses_table(one_word).pairing == ["model", "item", "template"]


def test_differences_are_between_groups_and_between_models():
    frame = crossed(words=1, models=("m", "n"))
    found, lacking = differences(bb.responses_table(frame))
    wide = frame.pivot(index=["item", "template"], columns=["group", "model"], values="outcome")
    expected = (wide["a"]["m"] - wide["b"]["m"]) - (wide["a"]["n"] - wide["b"]["n"])
    own = found[found["model"] == "m - n"].set_index(["item", "template"])["outcome"]
    pd.testing.assert_series_equal(own.sort_index(), expected.sort_index(), check_names=False)
    assert lacking == 0
    assert differences(bb.responses_table(frame.iloc[1:]))[1] > 0


def test_repeats_are_counted():
    frame = pd.DataFrame(
        {"group": ["a", "a", "a", "b"], "word": ["x", "x", "y", "z"], "outcome": [1, 0, 1, 1]}
    )
    own = cells(bb.responses_table(frame))
    assert own[["chosen", "answers"]].to_numpy().tolist() == [[1, 2], [1, 1], [1, 1]]


def test_each_group_is_compared_with_each_other_and_with_the_others():
    assert len(group_contrasts(list("abcd"))) == 6 + 4
    assert group_contrasts(["a", "b"]) == [("a - b", ("a",), ("b",))]


def test_sentences_are_balanced_over_any_groups():
    made = bb.wordlists.response_sentences(
        {"groups": {"x": ["A", "B"], "y": ["C", "D"], "z": ["E", "F"]}, "templates": ["{word} is {a} {item}.", "Hi {word}."],
         "items": ["actor", "cook"]}
    )  # fmt: skip
    assert made.groupby("group").size().tolist() == [6, 6, 6]
    assert "A is an actor." in set(made["sentence"])
    assert set(made.loc[made["item"] == "", "sentence"]) >= {"Hi A."}


def test_a_list_of_sentiment_with_other_groups_is_one_of_that_kind(tmp_path):
    path = tmp_path / "names.toml"
    path.write_text('template = "{noun} is {a} {profession}."\nprofessions = [{ name = "doctor" }]\n'
                    'noun_pairs = [{ white = "Emily", black = "Lakisha" }]\n')  # fmt: skip
    made = bb.wordlists.response_sentences(str(path))
    assert made["group"].tolist() == ["white", "black"]
    assert bb.responses_table(made.assign(outcome=[0.1, 0.2]), word="pair").pairing


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"templates": ["Hello."]}, "{word}"),
        ({"items": []}, "expected items"),
        ({"groups": {"a": ["x"]}}, "two groups"),
        ({"groups": {"a": ["x", "y"], "b": ["y"]}}, "each word once"),
        ({"groups": {"a": "x,y", "b": ["z"]}}, "list"),
    ],
)
def test_lists_that_make_no_comparison_are_refused(changed, said):
    words = {
        "groups": {"a": ["x"], "b": ["y"]},
        "templates": ["{word} is {a} {item}."],
        "items": ["cook"],
    }
    assert len(bb.wordlists.response_sentences(words)) == 2
    with pytest.raises(InputError) as error:
        bb.wordlists.response_sentences(words | changed)
    assert said in str(error.value)


def test_the_sentences_of_the_sentiment_study_are_one_file_of_that_kind():
    occupations = ROOT / "wordlists" / "sentiment" / "occupations.toml"
    made = bb.wordlists.response_sentences(occupations)
    assert made["group"].value_counts().to_dict() == {"male": 400, "female": 400}
    ours = bb.wordlists.load_occupations("occupations").sentences()
    assert set(made["sentence"]) == set(ours["sentence"])


def test_prompts_with_the_pronoun_in_them_do_not_prevent_pairs():
    frame = long_table(1).rename(columns={"sentence": "template"})
    table = bb.responses_table(frame, group="pronoun", item="task")
    assert table.pairing == ["model", "item"]
    plain = bb.responses_table(frame.drop(columns="template"), group="pronoun", item="task")
    expected, _ = differences(plain)
    pd.testing.assert_frame_equal(differences(table)[0], expected)
    notes = quick(table).notes
    assert any("no prompts in common" in n and "same item are paired" in n for n in notes)
    frames = long_table().rename(columns={"sentence": "template"})
    for columns in ({"item": "task"}, {}):  # nothing tells which sentence belongs to which
        table = bb.responses_table(frames, group="pronoun", **columns)
        assert table.pairing is None
        assert any("no prompts in common" in n and "{word}" in n for n in quick(table).notes)


def test_usual_names_are_recognized_in_python():
    frame = crossed().rename(columns={"group": "race", "word": "name", "outcome": "score"})
    table = bb.responses_table(frame.rename(columns={"template": "prompt", "item": "emotion"}))
    expected = bb.responses_table(crossed())
    pd.testing.assert_frame_equal(table.frame, expected.frame)
    assert table.outcome == "score"
    of_sentences = bb.responses_table(long_table(), group="pronoun")
    assert of_sentences.unused == ("task",)
    assert of_sentences.frame["item"].tolist() == long_table()["sentence"].tolist()
    named = bb.responses_table(frame, item="name")  # no word as well
    assert named.frame["word"].eq("").all()
    with pytest.raises(InputError, match="outcome=NAME"):
        bb.responses_table(frame.drop(columns="score"))


def test_a_list_of_files_is_one_table(tmp_path):
    paths = []
    for group in ("women", "men"):
        path = tmp_path / f"{group}.csv"
        path.write_text(f"gender,name,score\n{group},{group[0]}a,1\n{group},{group[0]}b,2\n")
        paths.append(path)
    columns = {"group": "gender", "word": "name", "outcome": "score"}
    table = bb.responses_table([str(path) for path in paths], **columns)
    assert sorted(table.groups) == ["men", "women"]
    assert table.frame.equals(bb.studies.load_responses(paths, columns=columns).frame)


def test_rows_without_a_group_are_counted_and_groups_in_other_capitals_are_named():
    groups = ["black", "Black", "white", "", None]
    with pytest.warns(UserWarning, match="black and Black"):
        table = bb.responses_table({"group": groups, "outcome": [0.1, 0.2, 0.3, 0.4, 0.5]})
    dropped = {why: n for why, n in table.coverage["dropped"].items() if n}
    assert dropped == {"without a group": 2}


def test_the_order_of_rows_does_not_turn_contrasts():
    frame = crossed(("b", "c", "a"), models=("n", "m"))
    one, two = (bb.responses_table(f) for f in (frame, frame.sample(frac=1, random_state=1)))
    assert one.groups == two.groups == ["a", "b", "c"]
    assert one.models == two.models == ["m", "n"]
    words = frame["word"].str[1:]  # the same in each group, so that answers are paired
    found, again = (
        differences(bb.responses_table(f.assign(word=words)))[0].set_index("series")["outcome"]
        for f in (frame, frame.sample(frac=1, random_state=1))
    )
    means = found.groupby(level=0).mean()
    pd.testing.assert_series_equal(means, again.groupby(level=0).mean())
    of = frame.groupby(["group", "model"])["outcome"].mean()
    expected = of["a", "m"] - of["b", "m"] - of["a", "n"] + of["b", "n"]
    assert means["a - b | m - n"] == pytest.approx(expected)


def test_another_outcome_is_no_label():
    frame = crossed().drop(columns=["template", "model"])
    rng = np.random.default_rng(1)
    frame["warmth"] = 1 + rng.binomial(4, 0.6, len(frame))
    frame["confidence"] = rng.random(len(frame))
    frame["decision"] = np.where(rng.random(len(frame)) > 0.5, "YES", "NO")
    frame["prompt number"] = frame.groupby(["group", "word", "item"]).cumcount()
    table = bb.responses_table(frame)
    assert table.unused == ("prompt number",)
    assert table.coverage["apart"] == ["prompt number"]
    alone = bb.responses_table(frame.drop(columns="prompt number"))
    said = bb.interpret(quick(alone, draws=200))
    assert not any("tells them" in text for text in [*said.warnings, *said.notes])
    assert any("rows have the labels of another row" in text for text in said.notes)


def test_capitals_of_usual_names_do_not_matter():
    frame = crossed().rename(columns={"group": "Race", "word": "NAME", "outcome": "Score"})
    table = bb.responses_table(frame.rename(columns={"item": "Job"}))
    expected = bb.responses_table(crossed())
    pd.testing.assert_frame_equal(table.frame, expected.frame)


def test_numbers_of_prompts_are_labels_where_answers_are_missing():
    frame = pd.concat([crossed()] * 3, ignore_index=True)
    frame["prompt number"] = frame.pop("template").str.removeprefix("t").astype(int)
    frame.loc[[0, 7, 20, 33], "outcome"] = np.nan
    table = bb.responses_table(frame)
    assert table.coverage["apart"] == ["prompt number"]


def test_two_columns_of_groups_are_named(tmp_path):
    frame = crossed().rename(columns={"group": "gender"}).assign(race=["x", "y", "y"] * 24)
    path = tmp_path / "x.csv"
    frame.to_csv(path, index=False)
    for table in (bb.responses_table(frame), bb.studies.load_responses(path)):
        assert table.groups == ["a", "b"]
        assert table.notes[0].endswith('"group=gender*race" compares those of race too.')
    assert not bb.responses_table(frame, group="gender").notes
    assert not bb.responses_table(crossed().assign(gender="x")).notes


def test_the_note_on_two_columns_of_groups_has_all_columns(tmp_path):
    rows = [
        (race, gender, f"{race}{gender}{k}", f"s{k}", k % 3)
        for race in ("black", "white")
        for gender in ("man", "woman")
        for k in range(3)
    ]
    columns = ["race", "gender", "applicant", "scenario", "rating"]
    path = tmp_path / "ratings.csv"
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
    table = bb.studies.load_responses(path)
    assert table.frame["item"].unique().tolist() == ["s0", "s1", "s2"]
    (note,) = [note for note in table.notes if "--columns" in note]
    command = '"outcome=rating,group=gender*race,word=applicant,item=scenario"'
    assert f"--columns {command} compares those of race too." in note
    named = dict(part.split("=") for part in command.strip('"').split(","))
    assert [*bb.studies.load_responses(path, columns=named).factors] == ["gender", "race"]
