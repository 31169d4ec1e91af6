"""Sentence tests on encoders: scores against slow loops and the paper, failures that lose nothing."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest
from helpers import monte_carlo as mc
from helpers.seeds import shifted
from helpers.sentences import KINDS, OWN, own, slow_scores, static, toy

from bayesbias import sentence_test
from bayesbias.core.errors import InputError
from bayesbias.encoders.loading import load_encoder
from bayesbias.scores.permutation import holm, permutation_test
from bayesbias.studies.sentences import seat as sentences_room
from bayesbias.studies.sentences.result import PUBLISHED_COLUMNS
from bayesbias.studies.sentences.seat import leave_one_out, seat
from bayesbias.wordlists import read_test


# -- the scores ------------------------------------------------------------------------------------
def test_statistic_effect_size_and_exact_p_equal_a_slow_computation():
    test = own("word")
    x, y = slow_scores(test, toy)
    row = seat(test, toy, seed=shifted(1), cache=False).frame.iloc[0]
    both = x + y
    sd = math.sqrt(
        sum((s - np.mean(both)) ** 2 for s in both) / (len(both) - 1)
    )  # n - 1: appendix A
    assert row["effect_size"] == pytest.approx((np.mean(x) - np.mean(y)) / sd, abs=1e-12)
    assert row["statistic"] == pytest.approx(sum(x) - sum(y), abs=1e-12)
    observed = sum(x) - sum(y)
    counts = [
        2 * sum(both[i] for i in chosen) - sum(both) >= observed - 1e-12
        for chosen in itertools.combinations(range(6), 3)
    ]
    assert row["p_value"] == row["p_lower"] == row["p_upper"] == row["p_words"] == sum(counts) / 20
    assert row[["num_targ1", "num_targ2", "num_attr1", "num_attr2"]].tolist() == [3, 3, 3, 3]
    assert (row["level"], row["p_method"], row["dropped"]) == ("word", "exact", 0)


@pytest.mark.slow
def test_sentences_have_certain_bounds_and_a_p_over_words():
    test = own()
    x, y = (np.array(scores) for scores in slow_scores(test, toy))
    row = seat(test, toy, seed=shifted(1), cache=False).frame.iloc[0]
    assert row["effect_size"] == pytest.approx(
        (x.mean() - y.mean()) / np.std([*x, *y], ddof=1), abs=1e-12
    )
    assert row["p_method"] in ("exact", "bounds")
    sampled = permutation_test(x, y, method="montecarlo", samples=20_000, seed=shifted(5))
    hits = round(sampled.p_value * 20_001) - 1  # the observed order counts as one of the draws
    assert mc.fewest(20_000, row["p_lower"]) <= hits <= mc.most(20_000, row["p_upper"])
    assert row["p_lower"] <= row["p_value"] <= row["p_upper"]
    # Each word counts once, with the mean of its sentences.
    words = test.frame.set_index("set")["word"]
    means = [
        [scores[(words[name] == w).to_numpy()].mean() for w in dict.fromkeys(words[name])]
        for name, scores in (("targ1", x), ("targ2", y))
    ]
    assert row["p_words"] == permutation_test(*means).p_value
    assert row["p_words"] in [k / 20 for k in range(1, 21)]


@pytest.mark.slow
def test_glove_of_the_paper_gives_the_effect_sizes_of_the_paper(shared):
    """May et al. (2019), Table 4, column CBoW, rows word; section 4 for p of tests 7 and 3, 4, 5."""
    encoder = f"cbow:{shared / 'data' / 'vectors' / 'glove840B_union_300d.txt'}"
    names = ["weat1", "weat3", "weat4", "weat5", "weat6", "weat7", "weat8"]
    result = seat(names, encoder, seed=shifted(1), cache=False)
    frame = result.frame.set_index("test")
    assert frame.loc[["weat1", "weat3", "weat6"], "effect_size"].round(2).tolist() == [
        1.50,
        1.41,
        1.81,
    ]
    assert frame.at["weat7", "p_value"] == pytest.approx(0.0157, abs=5e-5)
    assert round(frame.at["weat7", "p_value"], 3) == 0.016
    assert frame.at["weat8", "p_value"] < 0.01  # "10^-2"
    for name in (
        "weat3",
        "weat4",
        "weat5",
    ):  # of 99,999 partitions, as many as the exact p makes likely, and one more
        exact, extreme = frame.at[name, "p_upper"], round(frame.at[name, "p_value"] * 100_000) - 1
        assert mc.fewest(99_999, exact) <= extreme <= mc.most(99_999, exact)
    assert (
        frame.loc[["weat3", "weat4"], "p_upper"] < 1e-5
    ).all()  # "10^-5", the least that could be said
    assert frame.at["weat5", "p_value"] == pytest.approx(1e-4, abs=9e-5)  # "10^-4"
    assert frame["dropped"].tolist() == [0] * 7
    table = result.table()[result.table().columns[0]]
    assert table["C1: Flowers/Insects", "word"] == "1.50**"
    assert table["C6: M/F Names, Career", "word"].rstrip("*") == "1.81"


@pytest.mark.slow
def test_all_list_tests_have_numbers_and_the_published_columns(tmp_path):
    result = seat(
        ["weat9", "sent-weat9", "weat6", "heilman_double_bind_likable_one_sentence"],
        seed=shifted(1),
        cache=False,
    )
    path = result.write_tsv(tmp_path / "results.tsv")
    read = pd.read_csv(path, sep="\t", keep_default_na=False)
    assert tuple(read.columns) == PUBLISHED_COLUMNS
    assert read["test"].tolist() == result.frame["test"].tolist()
    np.testing.assert_array_equal(read["p_value"], result.frame["p_value"])
    row = result.frame.set_index("test").loc["sent-weat9"]
    assert (row["num_targ1"], row["num_targ2"]) == (18, 73)  # before the authors cut the larger set
    cut = seat("sent-weat9", published_cut=True, seed=shifted(1), cache=False).frame.iloc[0]
    assert (cut["num_targ1"], cut["num_targ2"]) == (18, 18)


@pytest.mark.slow
def test_unequal_sets_have_a_difference_of_means():
    test = sentence_test("sent-weat9")
    x, y = (np.array(s) for s in slow_scores(test, lambda texts: list(static(texts))))
    row = seat(test, seed=shifted(1), cache=False).frame.iloc[0]
    assert row["effect_size"] == pytest.approx(
        (x.mean() - y.mean()) / np.std([*x, *y], ddof=1), abs=1e-6
    )
    assert row["p_lower"] <= row["p_upper"] <= 1


@pytest.mark.slow
def test_holm_is_over_the_whole_family_of_certain_values():
    result = seat(
        ["weat6", "sent-weat6", "weat7"], ["minilm-static", toy], seed=shifted(1), cache=False
    )
    assert len(result.frame) == 6
    np.testing.assert_array_equal(result.frame["p_holm"], holm(result.frame["p_upper"]))
    alone = seat("weat7", seed=shifted(1), cache=False).frame.iloc[0]
    together = result.frame.query("test == 'weat7' and model == 'minilm-static'").iloc[0]
    assert together["p_holm"] > alone["p_holm"] == alone["p_upper"]


@pytest.mark.claim
def test_a_test_does_not_depend_on_what_else_is_run():
    alone = seat("sent-weat6", seed=shifted(3), cache=False).frame.iloc[0]
    among = seat(
        ["weat7", "sent-weat6"], [toy, "minilm-static"], seed=shifted(3), cache=False
    ).frame
    same = among.query("test == 'sent-weat6' and model == 'minilm-static'").iloc[0]
    columns = [c for c in alone.index if c != "p_holm"]
    pd.testing.assert_series_equal(alone[columns], same[columns], check_names=False)
    other = seat("sent-weat6", seed=shifted(4), samples=999, cache=False).frame.iloc[0]
    assert other["p_upper"] == alone["p_upper"]  # no chance in it


@pytest.mark.slow
def test_sentences_that_tests_share_are_encoded_once():
    asked = []

    def remote(sentences):
        asked.extend(sentences)
        return toy(sentences)

    names = ["weat3", "weat4", "weat5"]
    result = seat(names, remote, seed=shifted(1))
    assert len(asked) == len(set(asked)) < sum(sum(sentence_test(n).sizes.values()) for n in names)
    assert len(result.frame) == 3


# -- failures --------------------------------------------------------------------------------------


def test_an_exception_in_the_third_batch_loses_one_test_and_no_batch(tmp_path):
    calls = []

    def flaky(sentences):
        calls.append(len(sentences))
        if len(calls) == 3:
            raise ConnectionError("reset by peer")
        return toy(sentences)

    encoder = load_encoder(flaky, name="flaky", version="1")
    store = tmp_path / "vectors.sqlite"
    result = seat(["weat6", "weat7"], encoder, seed=shifted(1), batch_size=8, cache=store)
    assert result.frame["test"].tolist() == ["weat7"]
    reason = result.failures["reason"].iloc[0]
    assert "ConnectionError: reset by peer" in reason
    assert "batch 3 of 4" in reason
    assert "16 sentences are kept" in reason
    calls.clear()
    calls.extend([0] * 3)
    again = seat(["weat6", "weat7"], encoder, seed=shifted(1), batch_size=8, cache=store)
    assert len(again.frame) == 2
    assert (
        sum(calls[3:]) == 17
    )  # sixteen that were lost, and one of the old ones, to see that they still hold


def test_an_account_that_fails_is_a_failure_and_no_crash():
    class Odd:
        name = "odd"

        def encode(self, sentences):
            return toy(sentences)

        def account(self, sentences):
            if "math" in sentences:
                raise KeyError("math")
            return {}

    result = seat(["weat7", "weat6"], Odd(), seed=shifted(1))
    assert result.frame["test"].tolist() == ["weat6"]
    assert (
        "cannot account for the sentences; found: \"KeyError: 'math'\""
        in result.failures["reason"].iloc[0]
    )


def test_a_fit_that_fails_keeps_its_row(monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("no initial point")

    monkeypatch.setattr(sentences_room, "fit", broken)
    result = seat(["weat6"], seed=shifted(1), bayes=True, cache=False)
    assert result.frame["contrast"].isna().all()
    assert result.frame["p_value"].notna().all()
    assert result.failures["reason"].tolist() == [
        "the model could not be fitted: RuntimeError: no initial point"
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sent-weat77",), "did you mean 'sent-weat7'"),
        (("",), "no test was named"),
        (([],), "no test was named"),
        ((["weat6", "weat6"],), "two tests have one name"),
        (("weat6", ["minilm-static", "minilm-static"]), "two encoders have one name"),
        (("weat6", []), "no encoder was named"),
        (("weat6", "minilm-statik"), "did you mean 'minilm-static'"),
    ],
)
def test_wrong_arguments_are_named_before_anything_is_run(arguments, message):
    with pytest.raises(InputError, match=message):
        seat(*arguments)


@pytest.mark.parametrize(
    "setting",
    [{"samples": 0}, {"samples": 1.5}, {"prob": 1.0}, {"seed": -1}, {"draws": 0}, {"chains": 0}],
)
def test_settings_are_checked_before_anything_is_run(setting):
    def never(sentences):
        raise AssertionError("encoded")

    with pytest.raises(InputError):
        seat("weat6", never, bayes=True, **setting)


def test_an_empty_set_and_an_unknown_kind_are_named(tmp_path):
    path = tmp_path / "empty.jsonl"
    part = {"category": "A", "examples": ["a"]}
    path.write_text(
        json.dumps(
            {
                "targ1": {"category": "A", "examples": []},
                "targ2": part,
                "attr1": part,
                "attr2": part,
            }
        )
    )
    with pytest.raises(
        InputError, match=r"empty\.jsonl, targ1, examples: must be a list of texts, 1 or more"
    ):
        seat(str(path))
    unknown = OWN | {"nurses": {**OWN["nurses"], "protected": ["flurb", "blorp"]}}
    with pytest.raises(InputError, match="the kind is not known of 'flurb', 'blorp'"):
        sentence_test(unknown, level="sentence", kinds=KINDS)


def test_a_path_with_a_comma_is_one_test(tmp_path):
    from bayesbias.wordlists.sentence_tests import write_test

    path = write_test(sentence_test("weat6"), tmp_path / "a,b.jsonl")
    assert seat(str(path), seed=shifted(1), cache=False).frame["test"].tolist() == ["a,b"]


@pytest.mark.slow
def test_leave_one_out_equals_running_the_rest():
    test = own()
    moved = leave_one_out(test, toy)
    whole = seat(test, toy, seed=shifted(1)).frame["effect_size"].iloc[0]

    def rest(mask):
        import dataclasses

        left = dataclasses.replace(test, frame=test.frame[~mask].reset_index(drop=True))
        x, y = (np.array(s) for s in slow_scores(left, toy))
        return (x.mean() - y.mean()) / np.std([*x, *y], ddof=1)

    sets = test.frame["set"].astype(str)
    for part, kind, label in [
        ("targets", "word", "nurse"), ("attributes", "word", "hard"), ("targets", "template", "This is {a} {singular}."),
    ]:  # fmt: skip
        row = moved.query("part == @part and kind == @kind and left_out == @label").iloc[0]
        mask = (test.frame[kind] == label) & sets.str.startswith(part[:4])
        assert row["examples"] == mask.sum() > 0
        assert row["effect_size"] == pytest.approx(rest(mask), abs=1e-12)
        assert row["change"] == pytest.approx(row["effect_size"] - whole, abs=1e-12)
    assert moved["change"].abs().is_monotonic_decreasing
    assert len(moved) == 12 + test.frame.groupby(sets.str[:4])["template"].nunique().sum()
    # A word's only sentence, and a set's only word, cannot be left out.
    alone = leave_one_out(own("word"), toy)
    assert set(alone["kind"]) == {"word"}
    assert len(alone) == 12


# -- the whole -------------------------------------------------------------------------------------
def test_scripts_of_several_sentences_run_by_path(shared):
    folder = shared / "data" / "sent_bias_tests"
    paths = [str(folder / f"heilman_double_bind_{of}_1-.jsonl") for of in ("competent", "likable")]
    result = seat(paths, seed=shifted(1), cache=False)
    assert result.frame["level"].tolist() == ["unbleached", "unbleached"]
    assert result.frame["p_words"].isna().all()
    assert result.table().index.tolist() == [
        ("Competent, Script 1-", "sent (u)"), ("Likable, Script 1-", "sent (u)"),
    ]  # fmt: skip
    x, y = slow_scores(read_test(paths[0]), lambda texts: list(static(texts)))
    assert result.frame["statistic"].iloc[0] == pytest.approx(sum(x) - sum(y), abs=1e-6)


def test_scores_do_not_depend_on_the_order_of_words():
    def shuffled(seed):
        random = np.random.default_rng(seed)
        lists = {
            name: {part: random.permutation(words).tolist() for part, words in sets.items()}
            for name, sets in OWN.items()
        }
        return seat(
            sentence_test(lists, level="sentence", kinds=KINDS), toy, seed=shifted(1), cache=False
        )

    first, *others = (
        shuffled(seed).frame[["effect_size", "statistic", "p_value", "p_words"]]
        for seed in range(4)
    )
    for other in others:
        pd.testing.assert_frame_equal(other, first, check_exact=True)
