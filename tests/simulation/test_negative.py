"""Negative controls: lists dealt anew, of which none is the real one, and vectors without meaning."""

import itertools

import numpy as np
import pandas as pd
import pytest
from helpers import monte_carlo as mc
from helpers.seeds import shifted

import bayesbias as bb
from bayesbias.simulation import coverage, real_words as shuffles
from bayesbias.simulation.real_words import _dealt, _partition, deals, negative_controls

SMALL = {
    "x": {"protected": ["she", "woman"], "attributes": ["art", "poetry"]},
    "y": {"protected": ["he", "man"], "attributes": ["science", "math"]},
}


@pytest.mark.parametrize("labels", ["aabb", "aab", "aabbcc", "aaabb"])
def test_deals_are_counted_and_all_drawn_but_the_real_one(labels):
    every = {_partition(order) for order in itertools.permutations(labels)}
    assert deals(labels) == len(every) - 1
    rng = np.random.default_rng(shifted(1))
    drawn = {_partition(_dealt(list(labels), rng)) for _ in range(400)}
    assert drawn == every - {_partition(labels)}


@pytest.mark.slow
def test_a_short_list_is_not_held_to_its_own_deal():
    """Two of six deals of two and two words were the real one, and were called: a third of all, beyond any promise."""
    found = negative_controls(
        "minilm-static", SMALL, kinds=["shuffled_classes"], tables=12, seed=shifted(1), draws=100, tune=100,
        controls="none", progress=False,
    )  # fmt: skip
    row = found[found["kind"] == "shuffled_classes"].iloc[0]
    assert row["called_se"] > 0.15  # of two deals, however often they come
    one = {name: {**own, "protected": own["protected"][:1]} for name, own in SMALL.items()}
    with pytest.raises(bb.InputError):
        negative_controls(
            "minilm-static", one, kinds=["shuffled_classes"], tables=2, controls="none"
        )


@pytest.mark.claim
def test_meaning_is_taken_out():
    real = bb.distance_table("minilm-static", "religion").frame
    words = bb.load_wordlist("religion")
    d = bb.load_embedding("minilm-static", words=words.words).vectors.shape[1]
    rng = np.random.default_rng(shifted(0))
    shuffled = shuffles.without_meaning(real, words, d, "shuffled_classes", rng)
    assert (shuffled["distance"] == real["distance"]).all()
    assert shuffled.drop_duplicates("protected_word")[
        "protected_class"
    ].value_counts().tolist() == [5, 5, 5]
    agree = shuffled["attribute_class"] == shuffled["protected_class"]
    assert (
        (shuffled["connection"] == "associated")
        == (agree & (shuffled["attribute_kind"] == "stereotype"))
    ).all()
    attributes = shuffles.without_meaning(real, words, d, "shuffled_attributes", rng)
    sizes = attributes[attributes["attribute_kind"] == "stereotype"].drop_duplicates("attribute")[
        "attribute_class"
    ]
    assert sorted(sizes.value_counts()) == [3, 4, 4]
    random = shuffles.without_meaning(real, words, d, "random_vectors", rng)
    # Cosines of random vectors in d dimensions have variance 1 / d and do not correlate.
    assert abs(random["distance"].mean() - 1) < mc.K / np.sqrt(d * len(random))
    report = negative_controls(
        "minilm-static", "religion", tables=3, draws=100, tune=100, progress=False
    )
    assert report["kind"].tolist() == ["real", *shuffles.NEGATIVE_CONTROLS]


SHARED_STEREOTYPE = {
    "a": {"protected": ["jew", "rabbi", "torah"], "attributes": ["greedy", "cheap", "hairy"]},
    "b": {
        "protected": ["christian", "priest", "bible"],
        "attributes": ["conservative", "judgemental", "cheap"],
    },
    "d": {
        "protected": ["muslim", "imam", "quran"],
        "attributes": ["violent", "terrorist", "dirty"],
    },
}


def test_a_stereotype_of_two_classes_stays_one_when_meaning_is_taken_out():
    words = bb.load_wordlist(SHARED_STEREOTYPE, controls="none")
    vectors = bb.load_embedding("minilm-static", words=words.words)
    real = bb.distance_table(vectors, words).frame
    owners = {"cheap": {"a", "b"}} | {
        a: {c.name} for c in words.classes for a in c.attributes if a != "cheap"
    }
    for seed in range(5):
        classes = shuffles.without_meaning(
            real, words, vectors, "shuffled_classes", np.random.default_rng(seed)
        )
        own = [
            c in owners[a]
            for c, a in zip(classes["protected_class"], classes["attribute"], strict=True)
        ]
        assert (classes["connection"] == np.where(own, "associated", "different")).all()
        dealt = shuffles.without_meaning(
            real, words, vectors, "shuffled_attributes", np.random.default_rng(seed)
        )
        near = dealt[dealt["connection"] == "associated"]
        assert near.groupby("protected_class")["attribute"].nunique().to_dict() == {
            "a": 3,
            "b": 3,
            "d": 3,
        }
        assert (near["attribute_class"] == near["protected_class"]).all()
        twice = near.groupby("attribute")["protected_class"].nunique()
        assert (twice == 2).sum() == 1  # some word is shared, as cheap was


def test_every_negative_control_is_fitted_with_a_seed_of_its_own(monkeypatch):
    seen = []

    def answer(table, model, seed, settings, laid):
        seen.append(seed)
        label = {"level": "overall", "contrast": "associated - different"}
        return [{**label, "estimate": 0.0, "low": -1.0, "high": 1.0, "quick": 1.0}]

    monkeypatch.setattr(coverage, "analyse_table", answer)
    for seed in (1, 2):
        negative_controls(
            "minilm-static", "gender", tables=2, seed=seed, controls="none", progress=False
        )
    assert len(set(seen)) == len(seen) == 2 * (1 + 3 * 2)


def test_what_shuffles_hold_on_average_is_that_of_all_of_them():
    """Two classes of 2 and 3 words, and lists of 3 and 2: all deals, by hand."""
    listed = {
        "a": {"protected": ["a1", "a2"], "attributes": ["x1", "x2", "x3"]},
        "b": {"protected": ["b1", "b2", "b3"], "attributes": ["y1", "y2"]},
    }
    words = bb.load_wordlist(listed, controls=None)
    class_of = {w: name for name, part in listed.items() for w in part["protected"]}
    list_of = {w: name for name, part in listed.items() for w in part["attributes"]}
    frame = pd.DataFrame(
        [(w, a, c, s) for w, c in class_of.items() for a, s in list_of.items()],
        columns=["protected_word", "attribute", "protected_class", "attribute_class"],
    )
    own = frame["protected_class"] == frame["attribute_class"]
    frame["connection"] = np.where(own, "associated", "different")
    frame["attribute_kind"] = "stereotype"
    frame["distance"] = np.random.default_rng(3).normal(1, 0.1, len(frame))
    found = shuffles.expected_of_deals(frame, words)

    def difference(classes, lists):
        own = frame["protected_word"].map(classes) == frame["attribute"].map(lists)
        return frame["distance"][own].mean() - frame["distance"][~own].mean()

    deals_of = [
        [dict(zip(of, dealt, strict=True)) for dealt in set(itertools.permutations(of.values()))]
        for of in (class_of, list_of)
    ]
    by_classes = [difference(deal, list_of) for deal in deals_of[0]]
    by_lists = [difference(class_of, deal) for deal in deals_of[1]]
    assert found["shuffled_classes"] == pytest.approx(np.mean(by_classes), abs=1e-12)
    assert found["shuffled_attributes"] == pytest.approx(np.mean(by_lists), abs=1e-12)
    listed["b"]["attributes"] = ["x1", "y2"]  # a stereotype of two classes
    assert shuffles.expected_of_deals(frame, bb.load_wordlist(listed, controls=None)) == {}
