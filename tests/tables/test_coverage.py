"""What is lost with missing words: said where it is much, left out where it is all."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from bayesbias.findings.of_result import findings_of
from bayesbias.findings.parts import sentence_of_losses
from helpers.draws import made_up_comparison, made_up_fit

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.tables.coverage import LEAST_LEFT, LOW_SHARE, LossKind, loss_of, losses, losses_for_covariates

WORDS = {
    name: {
        "protected": [f"{name}{i}" for i in range(4)],
        "attributes": [f"{name}-{i}" for i in range(16 if name == "a" else 5)],
    }
    for name in "abc"
}
CONTROLS = {"human": ["hand", "head", "neck", "foot"], "neutral": ["door", "lamp", "roof", "leaf"]}


def vectors(without: tuple[str, ...] = ()) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    listed = [w for group in WORDS.values() for words in group.values() for w in words]
    listed += [w for words in CONTROLS.values() for w in words]
    made = {word: rng.normal(size=10) for word in listed}
    return {word: vector for word, vector in made.items() if word not in without}


def lost(of: str, part: str, left: int) -> tuple[str, ...]:
    return tuple(WORDS[of][part][left:])


def table_without(*gone: tuple[str, ...], controls=CONTROLS):
    return bb.distance_table(vectors(sum(gone, ())), WORDS, controls=controls)


@pytest.mark.parametrize(
    ("listed", "found", "kind"),
    [
        (16, 0, LossKind.GONE),
        (16, 5, LossKind.MOST),
        (16, 7, LossKind.MOST),
        (16, 8, None),
        (4, 2, LossKind.FEW_LEFT),
        (3, 2, LossKind.FEW_LEFT),
        (4, 3, None),
        (2, 2, None),
        (1, 1, None),
        (1, 0, LossKind.GONE),
    ],
)
def test_what_is_little_is_decided_by_two_numbers(listed, found, kind):
    loss = loss_of("attribute", "a", listed, found)
    assert (loss and loss.kind) == kind
    little = found < listed and (found < LOW_SHARE * listed or found < LEAST_LEFT)
    assert (loss is not None) == little


@pytest.mark.slow
def test_the_headline_says_what_a_list_lost():
    found = findings_of(made_up_fit_of(table_without(lost("a", "attributes", 5))))
    assert "Many words are missing: only 5 of 16 stereotypes of a were found." in found.headline
    assert [(loss.kind, loss.side, loss.name, loss.listed, loss.found) for loss in found.losses] == [
        (LossKind.MOST, "attribute", "a", 16, 5)
    ]
    assert found.as_dict()["losses"] == [
        {"kind": "most", "side": "attribute", "name": "a", "listed": 16, "found": 5}
    ]
    whole = findings_of(made_up_fit_of(table_without()))
    assert "missing" not in whole.headline
    assert whole.losses == ()
    few = findings_of(made_up_fit_of(table_without(lost("b", "protected", 1), lost("a", "attributes", 9))))
    assert "only 1 of 4 protected words of b was found." in few.headline


def made_up_fit_of(table):
    fit = made_up_fit(table, chains=4, draws=200)
    return dataclasses.replace(fit, provenance={**fit.provenance, "coverage": table.coverage.as_dict()})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("left", "said"),
    [
        ({"a": 4}, " Many words are missing: none of 16 stereotypes of b has the covariate pay, and the class is left out."),
        ({"a": 4, "b": 1},
         " Many words are missing: none of 16 stereotypes of b has the covariate pay, and the class is left out."),
    ],
    ids=["class gone", "words lost too"],
)  # fmt: skip
def test_a_list_can_lack_the_covariates_of_its_own_side_alone(left, said):
    groups = {name: {"listed": 16, "found": 16, "missing": []} for name in "ab"}
    words = {name: {"listed": 4, "found": 4, "missing": []} for name in "ab"}
    coverage = {
        "protected": words, "attributes": groups, "covariates": {"pay": {"side": "attribute"}, "age": {"side": "protected"}}
    }  # fmt: skip
    found = losses_for_covariates(coverage, ["age", "pay"], {"protected": left, "attributes": {"a": 16}})
    assert sentence_of_losses(found) == said
    ages = losses_for_covariates(coverage, ["age"], {"protected": {"a": 4, "b": 1}, "attributes": {"a": 16}})
    assert sentence_of_losses(ages).endswith("only 1 of 4 protected words of b has the covariate age.")


def test_many_lost_lists_are_counted():
    gone = [lost(of, part, 2) for of in "abc" for part in ("protected", "attributes")]
    headline = findings_of(made_up_fit_of(table_without(*gone))).headline
    assert "only 2 of 5 stereotypes of c were found" in headline  # the smaller share
    assert "and 3 more lists." in headline


@pytest.mark.slow
def test_control_words_that_are_not_there_take_their_contrasts_with_them():
    table = table_without(tuple(CONTROLS["human"]))
    assert set(table.frame["connection"]) == {"associated", "different", "neutral"}
    note = "no human control word was found (4 listed): contrasts with human control words are left out"
    assert note in table.coverage.notes
    assert table.coverage.attributes["human"] == {"listed": 4, "found": 0, "missing": CONTROLS["human"]}
    fit = made_up_fit_of(table)
    assert not fit.contrasts()["contrast"].str.contains("human").any()
    assert fit.contrasts()["contrast"].str.contains("neutral").any()
    found = findings_of(fit)
    assert note in found.notes
    assert [loss.kind for loss in found.losses] == [LossKind.GONE]
    assert "human" not in found.headline  # which is about stereotypes
    # Where controls are all there is to compare with, the headline is about them.
    alone = {"a": WORDS["a"]}
    few = bb.distance_table(vectors(tuple(CONTROLS["neutral"][1:])), alone, controls=CONTROLS)
    assert "only 1 of 4 neutral control words was found" not in findings_of(made_up_fit_of(few)).headline
    only = bb.distance_table(
        vectors(tuple(CONTROLS["neutral"][1:])), alone, controls={"neutral": CONTROLS["neutral"]}
    )
    assert "only 1 of 4 neutral control words was found" in findings_of(made_up_fit_of(only)).headline


@pytest.mark.slow
def test_a_class_without_words_is_left_out_where_two_remain():
    table = table_without(lost("c", "protected", 0))
    assert sorted(table.frame["protected_class"].unique()) == ["a", "b"]
    # Its stereotypes are those of another class to the others.
    others = table.frame[table.frame["attribute_class"] == "c"]
    assert set(others["connection"]) == {"different"}
    assert "LEFT OUT: the class c, since none of its protected words was found" in table.coverage.notes
    headline = findings_of(made_up_fit_of(table)).headline
    assert "none of 4 protected words of c was found, and the class is left out" in headline
    with pytest.raises(InputError, match="no word of the protected class 'b' is in the vocabulary"):
        table_without(lost("c", "protected", 0), lost("b", "protected", 0))


@pytest.mark.slow
def test_a_class_without_stereotypes_is_left_out_where_two_remain():
    table = table_without(lost("c", "attributes", 0))
    assert sorted(table.frame["protected_class"].unique()) == ["a", "b"]
    assert "c" not in set(table.frame["attribute_class"])
    assert "LEFT OUT: the class c, since none of its stereotypes was found" in table.coverage.notes
    assert (
        "none of 5 stereotypes of c was found, and the class is left out"
        in findings_of(made_up_fit_of(table)).headline
    )
    assert any("stereotypes of c" in note for note in bb.mac(table).notes)
    with pytest.raises(InputError, match="no stereotype of the protected class 'b' is in the vocabulary"):
        table_without(lost("c", "attributes", 0), lost("b", "attributes", 0))
    with pytest.raises(InputError, match="valid: words and stereotypes of at least two classes"):
        table_without(lost("c", "attributes", 0), lost("b", "protected", 0))


def test_a_published_table_leaves_out_the_same():
    rows = [
        {
            "protected_word": word,
            "word_to_compare": attribute,
            "word_class": "neutral" if kind == "neutral" else f"{kind}_stereotype",
            "cosine_distance": -100.0 if gone(attribute) else 0.5 + 0.01 * i,
            "connection": "none" if kind == "neutral" else "associated" if kind == of else "different",
        }
        for i, (of, word) in enumerate((of, f"{of}{k}") for of in "abc" for k in range(3))
        for kind, attribute in [("a", "kind"), ("b", "late"), ("c", "loud"), ("neutral", "door")]
        for gone in [lambda attribute: attribute in ("loud", "door")]
    ]
    table = bb.load_distances(pd.DataFrame(rows))
    assert sorted(table.frame["protected_class"].unique()) == ["a", "b"]
    assert set(table.frame["connection"]) == {"associated", "different"}
    assert any(note.startswith("LEFT OUT: the class c") for note in table.coverage.notes)
    assert any(note.startswith("no neutral control word was found") for note in table.coverage.notes)


@pytest.mark.slow
def test_a_comparison_says_what_was_not_compared():
    before = table_without()
    after = table_without(lost("a", "attributes", 5))
    found = findings_of(made_up_comparison(before, {"soft": after}, chains=4, draws=200))
    assert "only 5 of 16 stereotypes of a were found." in found.headline
    assert [loss.name for loss in found.parts[0].losses] == ["a"]
    assert (
        "missing"
        not in findings_of(made_up_comparison(before, {"soft": before}, chains=4, draws=200)).headline
    )


def test_sentence_tests_say_which_set_an_encoder_hardly_knows():
    words = ["flower", "rose", "tulip", "wasp", "ant", "flea", "love", "joy", "hate", "pain"]
    rng = np.random.default_rng(1)
    test = {
        "name": "own",
        "x": {"protected": ["rose", "tulip", "aster", "clover", "orchid"], "attributes": ["love", "joy"]},
        "y": {"protected": ["wasp", "ant", "flea"], "attributes": ["hate", "pain"]},
    }
    del test["name"]
    encoder = bb.encoders.cbow_encoder({word: rng.normal(size=6) for word in words})
    result = bb.seat([bb.sentence_test(test)], encoder, seed=1, cache=False)
    found = findings_of(result)
    assert len(found.losses) == 1
    assert found.losses[0].kind is LossKind.MOST
    assert (found.losses[0].listed, found.losses[0].found) == (5, 2)
    assert "only 2 of 5 examples of the first targets of" in found.headline


def test_losses_are_told_of_the_coverage_and_of_its_dictionary():
    coverage = table_without(lost("a", "attributes", 5), lost("c", "protected", 0)).coverage
    assert losses(coverage) == losses(coverage.as_dict())
    assert [loss.kind for loss in losses(coverage)] == [LossKind.GONE, LossKind.MOST]


def test_words_made_of_pieces_are_named():
    words = {
        "young": {"protected": ["teenagr", "youth"], "attributes": ["lively", "energtic"]},
        "old": {"protected": ["old", "aged"], "attributes": ["wise", "slow"]},
    }
    coverage = bb.distance_table("minilm-static", bb.load_wordlist(words, controls="2022")).coverage
    assert coverage.protected["young"]["composed"] == ["teenagr"]
    assert coverage.attributes["young"]["composed"] == ["energtic"]
    assert "composed" not in coverage.attributes["old"]
    controls = sum(len(coverage.attributes[name].get("composed", ())) for name in ("human", "neutral"))
    assert controls > 50
    said = f"{2 + controls} words are made of pieces, as misspelt ones would be: teenagr, energtic; and {controls} control words"
    assert said in coverage.sentences()
