"""Sentence tests on encoders: scores against slow loops and the paper, failures that lose nothing, the model."""

from __future__ import annotations

import itertools
import json
import math
import zlib

import numpy as np
import pandas as pd
import pytest
from helpers import monte_carlo as mc
from helpers.seeds import shifted

from bayesbias import sentence_test
from bayesbias.basics.errors import InputError
from bayesbias.encoders.averages import cbow_encoder
from bayesbias.encoders.loading import load_encoder
from bayesbias.figures.saving import save_figures
from bayesbias.figures.sentences import plot_seat, plot_seat_contrasts
from bayesbias.findings.sentences import findings_of_sentences
from bayesbias.inference.fitting import build, fit
from bayesbias.models.loading import load_model, parse_model
from bayesbias.models.trimming import trimmed
from bayesbias.scores.permutation import holm, permutation_test
from bayesbias.studies import sentences as sentences_room
from bayesbias.studies.seat_result import PUBLISHED_COLUMNS
from bayesbias.studies.sentences import leave_one_out, seat
from bayesbias.tables.sentences import sentence_table
from bayesbias.words import read_test
from bayesbias.words.sentence_tests import SETS

OWN = {
    "nurses": {"protected": ["nurse", "midwife", "carer"], "attributes": ["warm", "kind", "soft"]},
    "engineers": {"protected": ["engineer", "welder", "smith"], "attributes": ["cold", "harsh", "hard"]},
}
KINDS = {
    "person": ["nurse", "midwife", "carer", "engineer", "welder", "smith"],
    "adjective": ["warm", "kind", "soft", "cold", "harsh", "hard"],
}
FAST = {"draws": 200, "tune": 300, "chains": 2}


def own(level="sentence"):
    return sentence_test(OWN, level=level, kinds=KINDS if level == "sentence" else None)


def vector(text):
    return np.random.default_rng(zlib.crc32(text.encode())).normal(size=12)


def toy(sentences):
    """Mean of one vector per token and a part of the whole sentence's own: words, templates and residual."""
    return [
        np.mean([vector(token) for token in text.split()], axis=0) + 0.2 * vector(text) for text in sentences
    ]


def cosine(u, v):
    return float(np.dot(u, v) / math.sqrt(np.dot(u, u) * np.dot(v, v)))


def slow_scores(test, encode):
    """s(w, A, B) of every target, sentence by sentence (section 2 of the paper)."""
    vectors = {name: encode(test.sentences(name)) for name in SETS}

    def score(w):
        return np.mean([cosine(w, a) for a in vectors["attr1"]]) - np.mean(
            [cosine(w, b) for b in vectors["attr2"]]
        )

    return [score(w) for w in vectors["targ1"]], [score(w) for w in vectors["targ2"]]


# -- the scores ------------------------------------------------------------------------------------


def test_statistic_effect_size_and_exact_p_equal_a_slow_computation():
    test = own("word")
    x, y = slow_scores(test, toy)
    row = seat(test, toy, seed=shifted(1), cache=False).frame.iloc[0]
    both = x + y
    sd = math.sqrt(sum((s - np.mean(both)) ** 2 for s in both) / (len(both) - 1))  # n - 1: appendix A
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
    assert row["effect_size"] == pytest.approx((x.mean() - y.mean()) / np.std([*x, *y], ddof=1), abs=1e-12)
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


def test_glove_of_the_paper_gives_the_effect_sizes_of_the_paper(shared):
    """May et al. (2019), Table 4, column CBoW, rows word; section 4 for p of tests 7 and 3, 4, 5."""
    encoder = f"cbow:{shared / 'data' / 'vectors' / 'glove840B_union_300d.txt'}"
    names = ["weat1", "weat3", "weat4", "weat5", "weat6", "weat7", "weat8"]
    result = seat(names, encoder, seed=shifted(1), cache=False)
    frame = result.frame.set_index("test")
    assert frame.loc[["weat1", "weat3", "weat6"], "effect_size"].round(2).tolist() == [1.50, 1.41, 1.81]
    assert frame.at["weat7", "p_value"] == pytest.approx(0.0157, abs=5e-5)
    assert round(frame.at["weat7", "p_value"], 3) == 0.016
    assert frame.at["weat8", "p_value"] < 0.01  # "10^-2"
    assert frame.loc[["weat3", "weat4"], "p_value"].tolist() == [1e-5, 1e-5]
    assert frame.at["weat5", "p_value"] == pytest.approx(1e-4, abs=9e-5)  # "10^-4"
    assert frame["dropped"].tolist() == [0] * 7
    table = result.table()[result.table().columns[0]]
    assert table["C1: Flowers/Insects", "word"] == "1.50**"
    assert table["C6: M/F Names, Career", "word"].rstrip("*") == "1.81"


@pytest.mark.slow
def test_all_shipped_tests_have_numbers_and_the_published_columns(tmp_path):
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
    x, y = (np.array(s) for s in slow_scores(test, lambda texts: list(_static(texts))))
    row = seat(test, seed=shifted(1), cache=False).frame.iloc[0]
    assert row["effect_size"] == pytest.approx((x.mean() - y.mean()) / np.std([*x, *y], ddof=1), abs=1e-6)
    assert row["p_lower"] <= row["p_upper"] <= 1


def _static(texts):
    return load_encoder("minilm-static").encode(texts)


@pytest.mark.slow
def test_holm_is_over_the_whole_family_of_certain_values():
    result = seat(["weat6", "sent-weat6", "weat7"], ["minilm-static", toy], seed=shifted(1), cache=False)
    assert len(result.frame) == 6
    np.testing.assert_array_equal(result.frame["p_holm"], holm(result.frame["p_upper"]))
    alone = seat("weat7", seed=shifted(1), cache=False).frame.iloc[0]
    together = result.frame.query("test == 'weat7' and model == 'minilm-static'").iloc[0]
    assert together["p_holm"] > alone["p_holm"] == alone["p_upper"]


@pytest.mark.slow
def test_a_test_does_not_depend_on_what_else_is_run():
    alone = seat("sent-weat6", seed=shifted(3), cache=False).frame.iloc[0]
    among = seat(["weat7", "sent-weat6"], [toy, "minilm-static"], seed=shifted(3), cache=False).frame
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


# -- what it says ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def result():
    names = ["sent-weat7", "weat3b", "weat5b", "weat7", "weat8", "sent-weat8", "weat1"]
    return seat([*names, own()], seed=shifted(1), cache=False)


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


@pytest.mark.slow
def test_consistency_of_related_tests(result):
    table = result.consistency().set_index(["group", "level"])
    terms = table.loc["European/African American terms, pleasant", "word"]
    assert terms["tests"] == ("weat3b", "weat5b")
    assert (terms["same_sign"], terms["same_verdict"], terms["p_rises"]) == (False, False, False)
    sizes = result.frame.set_index("test")["effect_size"]
    assert terms["spread"] == pytest.approx(sizes["weat5b"] - sizes["weat3b"])
    both = table.loc["math or science against arts, gender terms", "sentence"]
    assert both["tests"] == ("sent-weat7", "sent-weat8")
    assert (both["same_sign"], both["same_verdict"]) == (True, True)
    assert both["p_rises"] is pd.NA
    assert both["p_words"] == tuple(result.frame.set_index("test")["p_words"][list(both["tests"])])
    assert len(table) == 3  # what was not run twice is not compared


@pytest.mark.slow
def test_sentences_say_where_words_and_sentences_disagree(result):
    said = findings_of_sentences(result).lines()
    row = result.frame.set_index("test").loc["sent-weat7"]
    assert row["p_upper"] < 1e-7
    assert row["p_words"] > 0.01
    assert any("sent-weat7: p 1e-08 over sentences, 0.05 over words" in text for text in said)
    (terms,) = [text for text in said if text.startswith("weat3b, weat5b")]
    assert "effects of opposite sign" in terms
    assert "p falls where fewer words should make it rise" in terms
    (maths,) = [text for text in said if text.startswith("weat7, weat8")]
    assert "rise" not in maths
    assert repr(result).splitlines()[0] == "SeatResult: 8 tests on 1 encoder"


# -- failures --------------------------------------------------------------------------------------


def test_words_that_the_encoder_lacks_are_left_out_and_named():
    words = {text for name in SETS for text in own("word").sentences(name)} | {"this", "is", "a"}
    vectors = {word: vector(word) for word in sorted(words - {"midwife", "hard"})}
    result = seat([own("word"), own()], cbow_encoder(vectors, name="own"), seed=shifted(1))
    by_level = result.frame.set_index("level")
    assert by_level.loc["word", ["num_targ1", "num_attr2", "dropped"]].tolist() == [2, 2, 2]
    dropped = result.dropped
    assert set(dropped[dropped["test"] == "custom"]["word"]) == {"midwife", "hard"}
    sentences = dropped[dropped["test"] == "sent-custom"]
    # Plurals have no vector either: "Nurses are people." says nothing of nurses; "This is a nurse." does.
    assert "Nurses are people." in set(sentences["sentence"])
    assert "This is a nurse." not in set(sentences["sentence"])
    assert by_level.at["sentence", "dropped"] == len(sentences)
    table = sentence_table(own("word"), cbow_encoder(vectors, name="own"))
    assert table.coverage.missing == ("midwife", "hard")
    assert "2 of 12 examples left out" in table.coverage.notes[0]
    assert len(table) == 5 * 5
    lost = dropped["word"].nunique(), len(dropped)
    assert any(
        f"own lacks forms of {lost[0]} words; {lost[1]} examples" in text
        for text in findings_of_sentences(result).lines()
    )


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (lambda made: [[*row, 0.0] for row in made], "changed its dimension"),
        (lambda made: [row * np.nan for row in made], "NaN or infinite"),
        (lambda made: [row * 0 for row in made], "only zeros"),
        (lambda made: made[:-1], "another number of vectors"),
        (lambda made: np.ravel(made), "another shape"),
        (lambda made: 1 / 0, "ZeroDivisionError"),
    ],
    ids=["wider", "NaN", "zero", "fewer", "flat", "exception"],
)
def test_an_encoder_that_fails_on_one_test_leaves_the_others(fault, message):
    bad = set(sentence_test("weat7").sentences("targ1"))  # "math": in tests 7 and 7b alone

    def encoder(sentences):
        made = toy(sentences)
        return fault(made) if bad & set(sentences) else made

    result = seat(["weat6", "weat7", "weat10"], encoder, seed=shifted(1))
    expected = seat(["weat6", "weat10"], toy, seed=shifted(1))
    assert result.frame["test"].tolist() == ["weat6", "weat10"]
    np.testing.assert_allclose(result.frame["effect_size"], expected.frame["effect_size"])
    assert result.failures["test"].tolist() == ["weat7"]
    assert message in result.failures["reason"].iloc[0]
    assert "1 could not be run" in repr(result)


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
        "cannot account for the sentences; found: \"KeyError: 'math'\"" in result.failures["reason"].iloc[0]
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


def test_where_nothing_can_be_run_the_reason_is_an_error():
    def none(sentences):
        raise OSError("no route to host")

    with pytest.raises(InputError, match=r"no test could be run.*no route to host.*2 such failures"):
        seat("weat6,weat7", none, seed=shifted(1))


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
    "setting", [{"samples": 0}, {"samples": 1.5}, {"prob": 1.0}, {"seed": -1}, {"draws": 0}, {"chains": 0}]
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
        json.dumps({"targ1": {"category": "A", "examples": []}, "targ2": part, "attr1": part, "attr2": part})
    )
    with pytest.raises(
        InputError, match=r"empty\.jsonl, targ1, examples: must be a list of texts, 1 or more"
    ):
        seat(str(path))
    unknown = OWN | {"nurses": {**OWN["nurses"], "protected": ["flurb", "blorp"]}}
    with pytest.raises(InputError, match="the kind is not known of 'flurb', 'blorp'"):
        sentence_test(unknown, level="sentence", kinds=KINDS)


def test_a_path_with_a_comma_is_one_test(tmp_path):
    from bayesbias.words.sentence_tests import write_test

    path = write_test(sentence_test("weat6"), tmp_path / "a,b.jsonl")
    assert seat(str(path), seed=shifted(1), cache=False).frame["test"].tolist() == ["a,b"]


# -- the table of pairs ----------------------------------------------------------------------------


def test_the_table_equals_a_slow_loop():
    test = own()
    table = sentence_table(test, toy)
    rows = []
    sides = {name: test.frame[test.frame["set"] == name] for name in SETS}
    for targets in SETS[:2]:
        for one in sides[targets].itertuples():
            for attributes in SETS[2:]:
                rows += [
                    (
                        one.word, one.category, one.template, other.word, other.category, other.template,
                        "associated" if targets[-1] == attributes[-1] else "different",
                        1 - cosine(toy([one.sentence])[0], toy([other.sentence])[0]),
                    )
                    for other in sides[attributes].itertuples()
                ]  # fmt: skip
    columns = ["protected_word", "protected_class", "protected_template", "attribute", "attribute_class"]
    slow = pd.DataFrame(rows, columns=[*columns, "attribute_template", "connection", "distance"])
    fast = table.frame[slow.columns].astype({c: str for c in slow.columns[:-1]})
    pd.testing.assert_frame_equal(fast, slow.astype({c: str for c in slow.columns[:-1]}), atol=1e-12, rtol=0)
    assert table.frame["distance"].between(0, 2).all()
    assert table.provenance["test"]["sha256"] == test.sha256


def test_a_table_of_many_pairs_holds_codes_and_no_texts():
    table = sentence_table("sent-weat1")
    assert len(table) == 700 * 465
    kinds = table.frame.dtypes
    assert all(isinstance(kinds[c], pd.CategoricalDtype) for c in kinds.index if c != "distance")
    assert {str(table.frame[c].cat.codes.dtype) for c in kinds.index if c != "distance"} == {"int8"}
    assert table.frame.memory_usage(deep=True).sum() / len(table) < 20  # bytes a pair: a million are 20 MB


def test_a_repeated_example_is_one_observation(tmp_path):
    sets = {"targ1": ["he", "she", "he"], "targ2": ["it", "they"], "attr1": ["a", "b"], "attr2": ["c", "d"]}
    path = tmp_path / "again.jsonl"
    path.write_text(json.dumps({k: {"category": "same", "examples": v} for k, v in sets.items()}))
    table = sentence_table(str(path), toy)
    assert len(table) == 4 * 4
    assert "1 examples that repeat another of their set counted once" in table.coverage.notes
    # Sets of one name are told apart.
    assert table.frame["protected_class"].cat.categories.tolist() == ["same (targ1)", "same (targ2)"]
    assert set(table.coverage.protected) == {"same (targ1)", "same (targ2)"}
    assert seat(str(path), toy, seed=shifted(1)).frame["num_targ1"].tolist() == [
        3
    ]  # the published score counts it


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


# -- the model -------------------------------------------------------------------------------------


def made(rng, words=5, templates=6, gap=-0.06, word=0.03, template=0.03, noise=0.02):
    """Return a sentence table out of the model: `word` and `template` are the spreads of the gap."""
    effects: dict[object, float] = {}

    def effect(key, sd):
        if key not in effects:
            effects[key] = rng.normal(0, sd)
        return effects[key]

    targets = [(f"{c}{i}", c, f"T{t}") for c in "xy" for i in range(words) for t in range(templates)]
    others = [(f"a{c}{i}", c, f"A{t}") for c in "xy" for i in range(words) for t in range(templates)]
    rows = []
    for w, c, p in targets:
        for b, d, q in others:
            which = "associated" if c == d else "different"
            mean = 0.9 + (gap if c == d else 0) + effect(("c", w, which), word) + effect(("u", b, c), word)
            mean += effect(("pc", p, which), template) + effect(("qc", q, which), template)
            mean += (
                effect(("m", w), 0.05)
                + effect(("v", b), 0.05)
                + effect(("p", p), 0.05)
                + effect(("q", q), 0.05)
            )
            mean += effect(("s", w, p), 0.02) + effect(("r", b, q), 0.02) + rng.normal(0, noise)
            rows.append((w, c, p, b, d, q, "stereotype", which, mean))
    names = ["protected_word", "protected_class", "protected_template", "attribute", "attribute_class"]
    return pd.DataFrame(
        rows, columns=[*names, "attribute_template", "attribute_kind", "connection", "distance"]
    )


def gaps(table, **settings):
    found = fit(table, trimmed(load_model("sentence"), table), pointwise=False, **settings)
    frames = [
        found.contrasts(estimand=e, level="overall")
        for e in ("these_words", "new_templates", "new_words", "population")
    ]
    return found, pd.concat(frames).set_index("estimand")


@pytest.mark.slow
def test_a_word_test_is_fitted_without_templates():
    result = seat([own("word"), own()], toy, seed=shifted(1), bayes=True, **FAST)
    rows = result.frame.set_index("level")
    # Without templates there is no such share; it is not zero.
    assert rows.loc["word", ["share_template", "share_sentence"]].isna().all()
    assert rows.at["sentence", "share_template"] > 0.02
    shares = [c for c in rows.columns if c.startswith("share_")]
    np.testing.assert_allclose(rows[shares].sum(axis=1), 1, atol=1e-9)
    spec = trimmed(load_model("sentence"), sentence_table(own("word"), toy).frame)
    assert spec.mu == ("c", "v", "u", "m")
    assert (rows["hpdi_low"] < rows["contrast"]).all()
    assert (rows["contrast"] < rows["hpdi_high"]).all()


@pytest.mark.slow
def test_rows_say_what_the_fit_says():
    """With the seed of the test, so that the fit is the same."""
    test = own()
    row = seat([test], toy, seed=shifted(7), bayes=True, prob=0.5, **FAST).frame.iloc[0]
    table = sentence_table(test, toy)
    own_seed = sentences_room._seed_of_test(shifted(7), test)
    spec = trimmed(load_model("sentence"), table.frame)
    found = fit(table, spec, seed=own_seed, pointwise=False, **FAST)
    gap = found.contrasts(0.5, estimand="population", level="overall").iloc[0]
    assert (
        row[["contrast", "hpdi_low", "hpdi_high"]].tolist() == gap[["mean", "hpdi_low", "hpdi_high"]].tolist()
    )
    shares = found.shares().set_index("source")["mean"]
    words = ["protected_word", "attribute", "attribute x protected_class", "attribute x protected_word"]
    assert row["share_word"] == pytest.approx(shares[words].sum())
    assert row["share_residual"] == pytest.approx(shares["residual"])


@pytest.mark.claim  # that the density is PyMC's, to eight digits, is held in test_collapsed.py
def test_the_contrast_agrees_with_a_plain_pymc_fit():
    """With narrower priors of the spreads: with the wide ones of the file, plain NUTS hardly gets about."""
    import pymc as pm

    table = made(np.random.default_rng(0), words=4, templates=3)
    text = load_model("sentence").text.replace("lam = 2\n", "lam = 30\n")
    spec = parse_model(text.encode(), "narrower")
    assert trimmed(spec, table) == spec
    ours = fit(table, spec, seed=shifted(1), draws=3000, pointwise=False)
    assert ours.provenance["sampler"]["method"] == "collapsed"
    with build(spec, table):
        sampled = pm.sample(
            1500, tune=600, chains=2, cores=2, random_seed=shifted(2), target_accept=0.9, nuts_sampler="nutpie",
            progressbar=False, compute_convergence_checks=False,
        )  # fmt: skip
    both = ours.tree["posterior"], sampled["posterior"]
    gaps = [draws["cbar"][..., 0] - draws["cbar"][..., 1] for draws in both]
    for name in ("gap", "csd", "us", "pcs", "qcs", "ss", "sigma"):
        draws = gaps if name == "gap" else [posterior[name] for posterior in both]
        for estimate, method in ((mc.mean, "mean"), (mc.log_sd, "sd")):
            # Plain NUTS gets about slowly even so.
            assert min(mc.effective(each, method).min() for each in draws) > 80, name
            mc.assert_near(estimate(draws[0]), estimate(draws[1]), name)
    row = ours.contrasts(estimand="population", level="overall").iloc[0]
    assert row["mean"] == pytest.approx(float(gaps[0].mean()))


@pytest.mark.slow
def test_truth_is_recovered_and_new_words_and_templates_cost_certainty():
    truth, inside, templates = -0.06, 0, []
    for seed in range(6):
        table = made(np.random.default_rng(seed), gap=truth)
        _, frame = gaps(table, seed=shifted(seed), draws=500, tune=500, chains=2)
        row = frame.loc["population"]
        inside += row["hpdi_low"] < truth < row["hpdi_high"]
        sd = frame["sd"]
        assert sd["these_words"] < min(sd["new_words"], sd["new_templates"])
        wider = {name: mc.log_sd_of_row(frame.loc[name]) for name in frame.index}
        for name in ("new_words", "new_templates"):
            assert (wider["population"] - wider[name]).may_reach(0), name
        still = made(np.random.default_rng(seed), gap=truth, template=0.0)
        _, quiet = gaps(still, seed=shifted(seed), draws=500, tune=500, chains=2)
        templates.append((sd["new_templates"], quiet.loc["new_templates", "sd"]))
    assert inside >= 4  # of 6 intervals of 89 %; 3 or fewer have a chance of 1 in 30
    # Where templates do not vary the gap, new ones cost nearly nothing.
    loud, quiet = np.mean(templates, axis=0)
    assert quiet < 0.4 * loud


# -- figures ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_figure_has_a_cell_for_every_test_and_hatches_what_is_missing(result):
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    both = seat(["weat7", "sent-weat7"], ["minilm-static", toy], seed=shifted(1), cache=False)
    import dataclasses

    both = dataclasses.replace(both, frame=both.frame.iloc[:-1])
    ax = plot_seat(both, ax=Figure(figsize=(7, 4)).subplots())
    cells = [p for p in ax.patches if isinstance(p, Rectangle)]
    assert len(cells) == 4
    assert [p.get_hatch() for p in cells].count("////") == 1
    said = {text.get_text() for text in ax.texts}
    assert {f"{size:.2f}".replace("-", "−") for size in both.frame["effect_size"]} <= said
    assert [label.get_text() for label in ax.get_yticklabels()] == ["word", "sent"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["minilm-static", "toy"]
    rings = [line for line in ax.lines if line.get_label() == "_words"]
    frame = both.frame
    assert len(rings) == ((frame["p_value"] < 0.01) & (frame["p_words"] >= 0.01)).sum() >= 1
    dark = [p for p in cells if p.get_facecolor()[2] < 0.6]
    assert len(dark) == (frame["p_holm"] < 0.01).sum()
    with pytest.raises(InputError, match="alpha"):
        plot_seat(both, alpha=2)


@pytest.mark.slow
def test_contrasts_are_drawn_where_they_were_fitted(result, tmp_path):
    from matplotlib.figure import Figure

    with pytest.raises(InputError, match="no model was fitted"):
        plot_seat_contrasts(result)
    fitted = seat(
        [own("word"), own()], [toy, "minilm-static"], seed=shifted(1), bayes=True, cache=False, **FAST
    )
    with pytest.raises(InputError, match="several encoders"):
        plot_seat_contrasts(fitted)
    with pytest.raises(InputError, match="did you mean 'toy'"):
        plot_seat_contrasts(fitted, encoder="toi")
    ax = plot_seat_contrasts(fitted, encoder="toy", ax=Figure(figsize=(7, 4)).subplots())
    mine = fitted.frame[fitted.frame["model"] == "toy"]
    drawn = [list(line.get_xdata()) for line in ax.lines if line.get_label() == "_interval"]
    assert drawn == mine[["hpdi_low", "hpdi_high"]].values.tolist()
    files = save_figures(fitted, tmp_path / "figures")
    assert [path.name for path in files] == [
        f"{name}.{kind}"
        for name in ("seat", "seat_contrasts_1", "seat_contrasts_2")
        for kind in ("png", "svg")
    ]
    assert files[0].read_bytes() == save_figures(fitted, tmp_path / "again")[0].read_bytes()
    with pytest.raises(InputError, match="unknown figure format"):
        save_figures(fitted, tmp_path, formats=("gif",))


# -- the whole -------------------------------------------------------------------------------------


def test_scripts_of_several_sentences_run_by_path(shared):
    folder = shared / "data" / "sent_bias_tests"
    paths = [str(folder / f"heilman_double_bind_{of}_1-.jsonl") for of in ("competent", "likable")]
    result = seat(paths, seed=shifted(1), cache=False)
    assert result.frame["level"].tolist() == ["unbleached", "unbleached"]
    assert result.table().index.tolist() == [
        ("Competent, Script 1-", "sent (u)"), ("Likable, Script 1-", "sent (u)"),
    ]  # fmt: skip
    x, y = slow_scores(read_test(paths[0]), lambda texts: list(_static(texts)))
    assert result.frame["statistic"].iloc[0] == pytest.approx(sum(x) - sum(y), abs=1e-6)


# -- what a reader has to know of a number --------------------------------------------------------


def written(folder, name, *, parts=False, **sets):
    """Write a test of given examples, with their words and templates or without."""
    test = own()
    data = {}
    for key in SETS:
        part = test.frame[test.frame["set"] == key]
        data[key] = {"category": test.categories[key], "examples": sets.get(key, part["sentence"].tolist())}
        if parts and key not in sets:
            data[key] |= {"words": part["word"].tolist(), "templates": part["template"].tolist()}
    path = folder / name
    path.write_text(json.dumps(data))
    return path


def notes_of(result, test=None):
    return [row.note for row in result.notes.itertuples() if test in (None, row.test)]


@pytest.mark.slow
def test_a_test_without_words_has_no_p_over_words(tmp_path):
    bare, whole = written(tmp_path, "bare.jsonl"), written(tmp_path, "whole.jsonl", parts=True)
    result = seat([str(bare), str(whole)], toy, seed=shifted(1), cache=False)
    by_test = result.frame.set_index("test")
    assert math.isnan(by_test.at["bare", "p_words"])
    assert by_test.at["whole", "p_words"] in [k / 20 for k in range(1, 21)]
    assert by_test.at["bare", "p_upper"] == by_test.at["whole", "p_upper"]
    (said,) = notes_of(result)
    assert "words and templates are not stated" in said
    assert result.table().loc[("bare", "text")].item().endswith("†")
    assert not result.table().loc[("whole", "sent")].item().endswith("†")
    assert "bare: its words and templates" in repr(result)
    assert any(text.startswith("† bare: its words") for text in findings_of_sentences(result).lines())


def test_vectors_that_do_not_see_templates_are_told():
    words = {text for name in SETS for text in own("word").sentences(name)}
    lone = cbow_encoder({word: vector(word) for word in sorted(words)}, name="lone")
    result = seat([own("word"), own()], lone, seed=shifted(1), bayes=True, **FAST)
    (said,) = notes_of(result)
    assert "have the same vector as another sentence of their word" in said
    assert result.failures["test"].tolist() == ["sent-custom"]
    assert "sentences with the same vector" in result.failures["reason"].item()
    equal = seat(own(), lambda texts: np.ones((len(texts), 3)), seed=shifted(1), cache=False)
    assert notes_of(equal) == ["all vectors are the same, so that there is nothing to test"]


@pytest.mark.slow
def test_what_cannot_be_tested_says_why(tmp_path):
    same = written(tmp_path, "same.jsonl", attr1=["warm", "kind"], attr2=["kind", "warm"])
    result = seat(str(same), toy, seed=shifted(1), cache=False, bayes=True, **FAST)
    assert any("the same mean vector" in note for note in notes_of(result))
    assert "LinAlg" not in "".join(result.failures["reason"])
    twice = written(tmp_path, "twice.jsonl", targ1=["nurse", "nurse", "carer"], targ2=["smith", "welder"])
    assert any(
        "1 examples repeat" in note for note in notes_of(seat(str(twice), toy, seed=shifted(1), cache=False))
    )
    pair = written(tmp_path, "pair.jsonl", targ1=["nurse"], targ2=["smith"])
    assert any(
        "1.41 or -1.41" in note for note in notes_of(seat(str(pair), toy, seed=shifted(1), cache=False))
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
    from bayesbias.words import write_test

    published = write_test(sentence_test("weat7"), tmp_path / "copy" / "weat7.jsonl")
    assert seat(str(published), toy, seed=shifted(1), cache=False).frame["test"].tolist() == ["weat7"]


def test_the_model_is_trimmed_to_the_table_by_itself():
    table = sentence_table(own("word"), toy, cache=False)
    found = fit(table, "sentence", seed=shifted(1), pointwise=False, **FAST)
    assert found.spec == trimmed(load_model("sentence"), table.frame)
    assert not any("template" in source for source in found.shares()["source"])


def test_names_of_tests_and_files_of_vectors(tmp_path):
    with pytest.raises(InputError, match=r"unknown test.*weat7x"):
        seat("all,weat7x", toy, seed=shifted(1))
    texts = [text for name in SETS for text in own("word").sentences(name)]
    path = tmp_path / "v.npz"
    np.savez(path, sentences=np.array(texts), vectors=np.array(toy(texts)))
    result = seat(own("word"), [str(path), f"{path}?name=Mine"], seed=shifted(1), cache=False)
    assert result.frame["model"].tolist()[1] == "Mine"
    with pytest.raises(InputError, match=r"PATH\?name=NAME"):
        seat(own("word"), [str(path), str(path)], seed=shifted(1), cache=False)
    with pytest.raises(InputError, match="seed: must be a whole number from 0 to 4294967295"):
        seat(own("word"), toy, seed="a")
