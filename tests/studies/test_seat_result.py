"""What the result of sentence tests says, and what a reader has to know of its numbers."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from helpers.seeds import shifted
from helpers.sentences import FAST, own, several, toy, vector

from bayesbias import sentence_test
from bayesbias.core.errors import InputError
from bayesbias.encoders.averages import cbow_encoder
from bayesbias.inference.fitting import fit
from bayesbias.models.loading import load_model
from bayesbias.models.trimming import trimmed
from bayesbias.studies.sentences.seat import seat
from bayesbias.tables.sentences import sentence_table
from bayesbias.wordlists.sentence_tests import SETS


# -- what it says ----------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def result():
    return several()


@pytest.mark.slow
def test_the_table_has_the_order_of_table_4_and_its_stars(result):
    table = result.table()
    assert table.index.tolist() == [
        ("C1: Flowers/Insects", "word"),
        ("C3b: EA/AA Terms", "word"),
        ("C5b: EA/AA Terms", "word"),
        ("C7: Math/Arts, M/F Terms", "word"),
        ("C7: Math/Arts, M/F Terms", "sent"),
        ("C8: Science/Arts, M/F Terms", "word"),
        ("C8: Science/Arts, M/F Terms", "sent"),
        ("sent-custom", "sent"),
    ]
    frame = result.frame.set_index("test")
    row = frame.loc["weat5b"]
    assert row["p_value"] < 0.01 < row["p_holm"]
    assert table.at[("C5b: EA/AA Terms", "word"), "minilm-static"] == f"{row['effect_size']:.2f}*"
    assert table.at[("C7: Math/Arts, M/F Terms", "sent"), "minilm-static"].endswith("**")
    assert result.table(alpha=1e-12).map(lambda text: text.count("*")).to_numpy().sum() == 0
    with pytest.raises(InputError, match="alpha"):
        result.table(alpha=0)


# -- what a reader has to know of a number --------------------------------------------------------
def written(folder, name, *, parts=False, **sets):
    """Write a test of given examples, with their words and templates or without."""
    test = own()
    data = {}
    for key in SETS:
        part = test.frame[test.frame["set"] == key]
        data[key] = {
            "category": test.categories[key],
            "examples": sets.get(key, part["sentence"].tolist()),
        }
        if parts and key not in sets:
            data[key] |= {"words": part["word"].tolist(), "templates": part["template"].tolist()}
    path = folder / name
    path.write_text(json.dumps(data))
    return path


def notes_of(result, test=None):
    return [row.note for row in result.notes.itertuples() if test in (None, row.test)]


def test_a_test_that_is_split_on_one_side_says_which_words_are_not_stated(tmp_path):
    sentences = {
        "targ1": ["This is Wilhelmina.", "That is Wilhelmina."],
        "targ2": ["This is Zebedee.", "That is Zebedee."],
    }
    # All targets are words; of the attributes only one set is made of published words.
    half = {
        "attr1": ["This is joy.", "This is love."],
        "attr2": ["This is agony.", "This is dreadful."],
    }
    known = {"attr1": half["attr1"], "attr2": ["This is agony.", "This is awful."]}
    tests = [
        written(tmp_path, "none.jsonl", **sentences, **half),
        written(tmp_path, "attributes.jsonl", **sentences, **known),
        written(
            tmp_path,
            "targets.jsonl",
            targ1=["Wilhelmina", "Ann"],
            targ2=["Zebedee", "Brad"],
            **half,
        ),
    ]
    result = seat([str(path) for path in tests], toy, seed=shifted(1), cache=False)
    frame = result.frame.set_index("test")
    assert frame["level"].to_dict() == {
        "none": "text",
        "attributes": "unbleached",
        "targets": "text",
    }
    assert frame["p_words"].isna().to_dict() == {"none": True, "attributes": True, "targets": False}
    assert notes_of(result, "none")[0].startswith("its words and templates are not stated")
    (said,) = notes_of(result, "attributes")
    assert said.startswith("words and templates of its targets are not stated")
    assert "there is no p_words" in said
    (said,) = notes_of(result, "targets")
    assert said.startswith("words and templates of its attributes are not stated")
    assert "p_words" not in said
    pairs = sentence_table(str(tests[0]), toy, cache=False).frame
    assert pairs["attribute_template"].nunique() == pairs["protected_template"].nunique() == 1


@pytest.mark.slow
def test_vectors_that_do_not_see_templates_are_told():
    words = {text for name in SETS for text in own("word").sentences(name)}
    lone = cbow_encoder({word: vector(word) for word in sorted(words)}, name="lone")
    result = seat([own("word"), own()], lone, seed=shifted(1), bayes=True, **FAST)
    (said,) = notes_of(result)
    assert "have the same vector as another sentence of their word" in said
    assert result.failures.empty  # the fit counts each vector once
    equal = seat(own(), lambda texts: np.ones((len(texts), 3)), seed=shifted(1), cache=False)
    assert notes_of(equal) == ["all vectors are the same, so that there is nothing to test"]
    targets = {text for name in ("targ1", "targ2") for text in own().sentences(name)}
    level = seat(
        own(),
        lambda texts: [[1.0 if t in targets else (-1.0) ** len(t)] for t in texts],
        seed=1,
        cache=False,
    )
    assert (
        "all targets lie equally near to the attributes, so that there is no effect size"
        in notes_of(level)
    )


@pytest.mark.slow
def test_what_cannot_be_tested_says_why(tmp_path):
    same = written(tmp_path, "same.jsonl", attr1=["warm", "kind"], attr2=["kind", "warm"])
    result = seat(str(same), toy, seed=shifted(1), cache=False, bayes=True, **FAST)
    assert any("the same mean vector" in note for note in notes_of(result))
    assert "LinAlg" not in "".join(result.failures["reason"])
    twice = written(
        tmp_path, "twice.jsonl", targ1=["nurse", "nurse", "carer"], targ2=["smith", "welder"]
    )
    assert any(
        "1 examples repeat" in note
        for note in notes_of(seat(str(twice), toy, seed=shifted(1), cache=False))
    )
    pair = written(tmp_path, "pair.jsonl", targ1=["nurse"], targ2=["smith"])
    assert any(
        "1.41 or -1.41" in note
        for note in notes_of(seat(str(pair), toy, seed=shifted(1), cache=False))
    )


def test_sets_that_lost_most_of_their_words_are_marked():
    words = {text for name in SETS for text in own("word").sentences(name)} - {"nurse", "midwife"}
    few = cbow_encoder({word: vector(word) for word in sorted(words)}, name="few")
    assert notes_of(seat(own("word"), few, seed=shifted(1))) == [
        "the encoder has only 1 of 3 words of targ1 (nurses)"
    ]


@pytest.mark.slow
def test_a_file_of_another_content_does_not_pass_for_a_published_test(tmp_path):
    own_file = written(tmp_path, "weat7.jsonl", parts=True)
    row = seat(str(own_file), toy, seed=shifted(1), cache=False)
    assert row.frame[["test", "level"]].values.tolist() == [["weat7 (file)", "sentence"]]
    assert row.table().index.tolist() == [("weat7 (file)", "sent")]
    from bayesbias.wordlists import write_test

    published = write_test(sentence_test("weat7"), tmp_path / "copy" / "weat7.jsonl")
    assert seat(str(published), toy, seed=shifted(1), cache=False).frame["test"].tolist() == [
        "weat7"
    ]


def test_the_model_is_trimmed_to_the_table_by_itself():
    table = sentence_table(own("word"), toy, cache=False)
    found = fit(table, "sentence", seed=shifted(1), pointwise=False, **FAST)
    assert found.spec == trimmed(load_model("sentence"), table.frame)
    assert not any("template" in source for source in found.variance_partition()["source"])


@pytest.mark.slow
def test_names_of_tests_and_files_of_vectors(tmp_path):
    with pytest.raises(InputError, match=r"unknown test.*weat7x"):
        seat("all,weat7x", toy, seed=shifted(1))
    with pytest.raises(InputError, match=r"unknown test.*weat7x"):
        seat(pd.Series(["weat7x"]), toy, seed=shifted(1))
    with pytest.raises(InputError, match="tests"):
        seat(3, toy, seed=shifted(1))
    texts = [text for name in SETS for text in own("word").sentences(name)]
    path = tmp_path / "v.npz"
    np.savez(path, sentences=np.array(texts), vectors=np.array(toy(texts)))
    result = seat(own("word"), [str(path), f"{path}?name=Mine"], seed=shifted(1), cache=False)
    assert result.frame["model"].tolist()[1] == "Mine"
    with pytest.raises(InputError, match=r"PATH\?name=NAME"):
        seat(own("word"), [str(path), str(path)], seed=shifted(1), cache=False)
    with pytest.raises(InputError, match="seed: must be a whole number from 0 to 4294967295"):
        seat(own("word"), toy, seed="a")
