"""Sentence tests on encoders: scores against slow loops and the paper, failures that lose nothing."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest
from helpers import monte_carlo as mc
from helpers.seeds import shifted
from helpers.sentences import KINDS, OWN, own, several, slow_scores, static, toy, vector

from bayesbias import sentence_test
from bayesbias.core.errors import InputError
from bayesbias.encoders.averages import cbow_encoder
from bayesbias.encoders.loading import load_encoder
from bayesbias.scores.resampling import holm, permutation_test
from bayesbias.studies.sentences import seat as module
from bayesbias.studies.sentences.result import PUBLISHED_COLUMNS
from bayesbias.studies.sentences.seat import leave_one_out, seat
from bayesbias.wordlists.sentence_tests import SETS, read_test, write_test


def run(*arguments, **settings):
    return seat(*arguments, **{"seed": shifted(1), "cache": False, **settings})


def effect(x, y):
    return (np.mean(x) - np.mean(y)) / np.std([*x, *y], ddof=1)  # n - 1: appendix A


# -- the scores -------------------------------------------------------------------------------------------------------


def test_statistic_effect_size_and_exact_p_equal_a_slow_computation():
    test = own("word")
    x, y = slow_scores(test, toy)
    row = run(test, toy).frame.iloc[0]
    both, observed = x + y, sum(x) - sum(y)
    assert row["effect_size"] == pytest.approx(effect(x, y), abs=1e-12)
    assert row["statistic"] == pytest.approx(observed, abs=1e-12)
    extreme = [
        2 * sum(both[i] for i in chosen) - sum(both) >= observed - 1e-12
        for chosen in itertools.combinations(range(6), 3)
    ]
    assert row["p_value"] == row["p_lower"] == row["p_upper"] == row["p_words"] == sum(extreme) / 20
    assert row[[f"num_{name}" for name in SETS]].tolist() == [3, 3, 3, 3]
    assert (row["level"], row["p_method"], row["dropped"]) == ("word", "exact", 0)


def test_sentences_have_certain_bounds_and_a_p_over_words():
    test = own()
    x, y = (np.array(scores) for scores in slow_scores(test, toy))
    row = run(test, toy).frame.iloc[0]
    assert row["effect_size"] == pytest.approx(effect(x, y), abs=1e-12)
    assert row["p_method"] in ("exact", "bounds")
    sampled = permutation_test(x, y, method="montecarlo", samples=20_000, seed=shifted(5))
    hits = round(sampled.p_value * 20_001) - 1  # the observed order counts as one of the draws
    assert mc.fewest(20_000, row["p_lower"]) <= hits <= mc.most(20_000, row["p_upper"])
    # Each word counts once, with the mean of its sentences.
    words = test.frame.set_index("set")["word"]
    means = [
        [scores[(words[name] == w).to_numpy()].mean() for w in dict.fromkeys(words[name])]
        for name, scores in (("targ1", x), ("targ2", y))
    ]
    assert row["p_words"] == permutation_test(*means).p_value


@pytest.mark.slow
def test_glove_of_the_paper_gives_the_effect_sizes_of_the_paper(shared):
    """May et al. (2019), Table 4, column CBoW, rows word; section 4 for p of tests 7, 3, 4 and 5."""
    encoder = f"cbow:{shared / 'data' / 'vectors' / 'glove840B_union_300d.txt'}"
    names = ["weat1", "weat3", "weat4", "weat5", "weat6", "weat7", "weat8"]
    frame = run(names, encoder).frame.set_index("test")
    assert frame.loc[["weat1", "weat3", "weat6"], "effect_size"].round(2).tolist() == [
        1.50,
        1.41,
        1.81,
    ]
    assert frame.at["weat7", "p_value"] == pytest.approx(0.0157, abs=5e-5)
    assert frame.at["weat8", "p_value"] < 0.01  # "10^-2"
    for name in ("weat3", "weat4", "weat5"):  # of 99,999 sampled partitions
        extreme = round(frame.at[name, "p_value"] * 100_000) - 1
        exact = frame.at[name, "p_upper"]
        assert mc.fewest(99_999, exact) <= extreme <= mc.most(99_999, exact)
    assert (frame.loc[["weat3", "weat4"], "p_upper"] < 1e-5).all()  # "10^-5"
    assert frame.at["weat5", "p_value"] == pytest.approx(1e-4, abs=9e-5)  # "10^-4"
    assert frame["dropped"].tolist() == [0] * 7


@pytest.mark.slow
def test_unequal_sets_have_a_difference_of_means():
    test = sentence_test("sent-weat9")
    x, y = slow_scores(test, lambda texts: list(static(texts)))
    row = run(test).frame.iloc[0]
    assert (row["num_targ1"], row["num_targ2"]) == (18, 73)  # before the authors cut the larger set
    assert row["effect_size"] == pytest.approx(effect(x, y), abs=1e-6)
    cut = run("sent-weat9", published_cut=True).frame.iloc[0]
    assert (cut["num_targ1"], cut["num_targ2"]) == (18, 18)


@pytest.mark.slow
def test_holm_is_over_all_rows_and_a_test_does_not_depend_on_the_others():
    frame = run(["weat6", "sent-weat6", "weat7"], ["minilm-static", toy]).frame
    np.testing.assert_array_equal(frame["p_holm"], holm(frame["p_upper"]))
    np.testing.assert_array_equal(frame["p_words_holm"], holm(frame["p_words"]))
    alone = run("weat7").frame.iloc[0]
    together = frame.query("test == 'weat7' and model == 'minilm-static'").iloc[0]
    columns = [name for name in alone.index if name not in ("p_holm", "p_words_holm")]
    pd.testing.assert_series_equal(alone[columns], together[columns], check_names=False)
    assert together["p_holm"] > alone["p_holm"] == alone["p_upper"]


def test_scores_do_not_depend_on_the_order_of_words():
    def shuffled(seed):
        random = np.random.default_rng(seed)
        lists = {
            name: {part: random.permutation(words).tolist() for part, words in sets.items()}
            for name, sets in OWN.items()
        }
        return run(sentence_test(lists, level="sentence", kinds=KINDS), toy).frame

    columns = ["effect_size", "statistic", "p_value", "p_words"]
    first, other = shuffled(0)[columns], shuffled(1)[columns]
    pd.testing.assert_frame_equal(other, first, rtol=1e-12)


def test_leave_one_out_equals_running_the_rest():
    test = own()
    moved = leave_one_out(test, toy)
    whole = run(test, toy).frame["effect_size"].iloc[0]
    sets = test.frame["set"].astype(str)
    for part, kind, label in [
        ("targets", "word", "nurse"), ("attributes", "word", "hard"), ("targets", "template", "This is {a} {singular}."),
    ]:  # fmt: skip
        row = moved.query("part == @part and kind == @kind and left_out == @label").iloc[0]
        mask = (test.frame[kind] == label) & sets.str.startswith(part[:4])
        left = dataclasses.replace(test, frame=test.frame[~mask].reset_index(drop=True))
        assert row["examples"] == mask.sum() > 0
        assert row["effect_size"] == pytest.approx(effect(*slow_scores(left, toy)), abs=1e-12)
        assert row["change"] == pytest.approx(row["effect_size"] - whole, abs=1e-12)
    assert moved["change"].abs().is_monotonic_decreasing
    # A word's only sentence, and a set's only word, cannot be left out.
    assert set(leave_one_out(own("word"), toy)["kind"]) == {"word"}


# -- what it says -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_table_has_the_order_of_table_4_and_its_stars():
    result = several()
    table, frame = result.table(), result.frame.set_index("test")
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
    row = frame.loc["weat5b"]
    assert row["p_value"] < 0.01 < row["p_holm"]
    assert table.at[("C5b: EA/AA Terms", "word"), "minilm-static"] == f"{row['effect_size']:.2f}*"
    assert table.at[("C7: Math/Arts, M/F Terms", "sent"), "minilm-static"].endswith("**")
    assert tuple(result.published().columns) == PUBLISHED_COLUMNS
    related = result.consistency()
    assert related["tests"].tolist()[0] in [
        ("weat7", "weat8"),
        ("weat3b", "weat5b"),
        ("sent-weat7", "sent-weat8"),
    ]
    for each in related.itertuples():
        sizes = frame.loc[list(each.tests), "effect_size"]
        assert each.effect_sizes == tuple(sizes)
        assert each.same_sign == (sizes.gt(0).nunique() == 1)
        assert each.same_verdict == (frame.loc[list(each.tests), "p_upper"].lt(0.01).nunique() == 1)


def written(folder, name, *, parts=False, **sets):
    """Write a test of given examples, with their words and templates or without."""
    test = own()
    data = {}
    for key in SETS:
        part = test.frame[test.frame["set"] == key]
        examples = sets.get(key, part["sentence"].tolist())
        data[key] = {"category": test.categories[key], "examples": examples}
        if parts:
            data[key] |= {"words": part["word"].tolist(), "templates": part["template"].tolist()}
    path = folder / name
    path.write_text(json.dumps(data))
    return str(path)


@pytest.mark.parametrize(
    ("sets", "said"),
    [
        ({"attr1": ["warm", "kind"], "attr2": ["kind", "warm"]}, "the same mean vector"),
        ({"targ1": ["nurse", "nurse"], "targ2": ["smith", "welder"]}, "1 examples repeat"),
        ({"targ1": ["nurse"], "targ2": ["smith"]}, "1.41 or -1.41"),
    ],
)
def test_notes_on_numbers(tmp_path, sets, said):
    result = run(written(tmp_path, "own.jsonl", **sets), toy)
    assert result.notes["note"].str.contains(said).any()


def test_notes_on_encoders():
    words = {text for name in SETS for text in own("word").sentences(name)}
    lone = cbow_encoder({word: vector(word) for word in sorted(words)}, name="lone")
    assert "the same vector as another sentence of their word" in run(own(), lone).notes["note"][0]
    few = words - {"nurse", "midwife"}
    few = cbow_encoder({word: vector(word) for word in sorted(few)}, name="few")
    result = run(own("word"), few)
    assert result.notes["note"].tolist() == ["the encoder has only 1 of 3 words of nurses"]
    assert result.dropped["word"].tolist() == ["nurse", "midwife"]
    equal = run(own(), lambda texts: np.ones((len(texts), 3)))
    assert equal.notes["note"].tolist() == [
        "all vectors are the same, so that there is nothing to test"
    ]


def test_words_that_are_not_stated_have_no_p(tmp_path):
    targets = {
        "targ1": ["This is Wilhelmina.", "That is Ann."],
        "targ2": ["This is Zebedee.", "That is Brad."],
    }
    attributes = {
        "attr1": ["This is joy.", "This is love."],
        "attr2": ["This is agony.", "This is dreadful."],
    }
    words = {"targ1": ["Wilhelmina", "Ann"], "targ2": ["Zebedee", "Brad"]}
    paths = [
        written(tmp_path, "none.jsonl", **targets, **attributes),
        written(tmp_path, "targets.jsonl", **words, **attributes),
    ]
    result = run(paths, toy)
    assert result.frame["p_words"].isna().tolist() == [True, False]
    # What is missing is no test of the family that is corrected.
    assert result.frame["p_words_holm"].isna().tolist() == [True, False]
    assert result.frame["p_words_holm"][1] == result.frame["p_words"][1]
    assert result.frame["level"].tolist() == ["text", "text"]
    assert "not stated" in result.notes["note"][0]


def test_a_file_of_another_content_does_not_pass_for_a_published_test(tmp_path):
    row = run(written(tmp_path, "weat7.jsonl", parts=True), toy).frame
    assert row[["test", "level"]].values.tolist() == [["weat7 (file)", "sentence"]]
    published = write_test(sentence_test("weat7"), tmp_path / "copy" / "weat7.jsonl")
    assert run(str(published), toy).frame["test"].tolist() == ["weat7"]


def test_scripts_of_several_sentences_run_by_path(shared):
    folder = shared / "data" / "sent_bias_tests"
    path = str(folder / "heilman_double_bind_competent_1-.jsonl")
    result = run(path)
    assert result.frame["level"].tolist() == ["unbleached"]
    assert result.frame["p_words"].isna().all()
    assert result.table().index.tolist() == [("Competent, Script 1-", "sent (u)")]
    x, y = slow_scores(read_test(path), lambda texts: list(static(texts)))
    assert result.frame["statistic"][0] == pytest.approx(sum(x) - sum(y), abs=1e-6)


# -- failures and arguments -------------------------------------------------------------------------------------------


def test_an_exception_in_the_third_batch_loses_one_test_and_no_batch(tmp_path):
    calls = []

    def flaky(sentences):
        calls.append(len(sentences))
        if len(calls) == 3:
            raise ConnectionError("reset by peer")
        return toy(sentences)

    encoder = load_encoder(flaky, name="flaky", version="1")
    settings = {"batch_size": 8, "cache": tmp_path / "vectors.sqlite"}
    result = run(["weat6", "weat7"], encoder, **settings)
    assert result.frame["test"].tolist() == ["weat7"]
    assert "ConnectionError: reset by peer" in result.failures["reason"][0]
    calls.extend([0] * 3)
    assert len(run(["weat6", "weat7"], encoder, **settings).frame) == 2


def test_a_fit_that_fails_keeps_its_row(monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("no initial point")

    monkeypatch.setattr(module, "fit", broken)
    result = run("weat6", bayes=True)
    assert result.frame["contrast"].isna().all()
    assert result.frame["p_value"].notna().all()
    assert "RuntimeError: no initial point" in result.failures["reason"][0]
    assert math.isnan(result.frame["share_word"][0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sent-weat77",), "Did you mean 'sent-weat7'"),
        (("",), "tests: expected"),
        ((["weat6", "weat6"],), "expected each test once"),
        (("weat6", ["minilm-static", "minilm-static"]), "expected each encoder once"),
        (("weat6", []), "encoders: expected"),
        (("weat6", "minilm-statik"), "Did you mean 'minilm-static'"),
    ],
)
def test_wrong_arguments_are_named_before_anything_is_run(arguments, message):
    with pytest.raises(InputError, match=message):
        seat(*arguments)


def test_a_path_with_a_comma_is_one_test_and_vectors_may_be_files(tmp_path):
    path = write_test(own("word"), tmp_path / "a,b.jsonl")
    texts = [text for name in SETS for text in own("word").sentences(name)]
    np.savez(tmp_path / "v.npz", sentences=np.array(texts), vectors=np.array(toy(texts)))
    frame = run(str(path), f"{tmp_path / 'v.npz'}?name=Mine").frame
    assert frame[["model", "test"]].values.tolist() == [["Mine", "a,b"]]
