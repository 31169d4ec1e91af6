"""Neutral words as frequent as the stereotypes: an assignment no other beats, its account, and what cannot be matched."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.tables.counts import load_counts, matched_controls, pool_of

LIST = {
    "young": {"protected": ["young", "youthful", "teenage"], "attributes": ["lazy", "brave"]},
    "old": {"protected": ["old", "elderly", "aged"], "attributes": ["slow", "wise"]},
}
POOL = ["clock", "grass", "river", "table", "window", "lamp", "stone"]
LOGS = {"lazy": 2.0, "brave": 3.0, "slow": 4.1, "wise": 4.0} | dict(
    zip(POOL, (2.2, 2.9, 3.9, 4.4, 6.0, 1.0, 3.2), strict=True)
)
COUNTS = {word: 10**value for word, value in LOGS.items()}


def words(pool=POOL):
    return bb.load_wordlist(LIST, controls={"human": ["person", "guest"], "neutral": list(pool)})


def known():
    return load_counts(COUNTS, list(COUNTS))


def test_no_other_choice_comes_nearer():
    found, account = matched_controls(words(), known(), per=1)
    listed = ["lazy", "brave", "slow", "wise"]
    best = min(
        sum(abs(LOGS[a] - LOGS[b]) for a, b in zip(listed, order, strict=True))
        for order in itertools.permutations(POOL, 4)
    )
    own = [abs(LOGS[word] - LOGS[chosen[0]]) for word, chosen in account["pairs"].items()]
    assert sum(own) == pytest.approx(best)
    assert account["largest_gap"] == pytest.approx(max(own))
    assert list(account["pairs"]) == listed
    assert set(found.controls.neutral) == {
        word for chosen in account["pairs"].values() for word in chosen
    }
    assert found.controls.human == ("person", "guest")
    assert account["mean_stereotypes"] == pytest.approx(np.mean([LOGS[word] for word in listed]))
    assert account["mean_neutral"] == pytest.approx(
        np.mean([LOGS[w] for w in found.controls.neutral])
    )


def test_each_word_is_chosen_once_and_as_many_as_the_pool_allows():
    _, account = matched_controls(words(), known(), per=3)
    assert account["per"] == 1  # seven words for four stereotypes
    more = {**COUNTS, "door": 100}
    _, account = matched_controls(words([*POOL, "door"]), load_counts(more, list(more)), per=3)
    chosen = [word for each in account["pairs"].values() for word in each]
    assert account["per"] == 2
    assert len(chosen) == len(set(chosen)) == 8
    assert (
        "larger pool would match better" in account["note"]
    )  # window is a hundred times as frequent


def test_a_pool_holds_no_word_of_the_list():
    assert pool_of(words(), ["clock", "lazy", "old", "person", "clock", "grass"]) == [
        "clock",
        "grass",
    ]
    assert pool_of(words(), "2021") == [*bb.wordlists.listfile.load_controls("2021").neutral]
    with pytest.raises(InputError, match="neutral words to choose from"):
        pool_of(bb.load_wordlist(LIST, controls="none"))


def test_what_cannot_be_matched_is_refused():
    with pytest.raises(InputError, match=r"got 2 neutral words and 4 stereotypes"):
        matched_controls(words(), known(), ["clock", "grass"])
    with pytest.raises(InputError, match="counts for matched controls"):
        bb.distance_table("minilm-static", LIST, controls="matched", pool=POOL)
    with pytest.raises(InputError, match="beside counts or a pool"):
        bb.distance_table("minilm-static", LIST, controls="2022", counts=COUNTS)


def test_a_table_has_the_account_and_how_it_is_made_again():
    table = bb.distance_table("minilm-static", LIST, controls="matched", counts=COUNTS, pool=POOL)
    account = table.provenance["wordlist"]["matched"]
    frame = table.frame
    assert set(frame.loc[frame["connection"] == "neutral", "attribute"]) == {
        word for chosen in account["pairs"].values() for word in chosen
    }
    assert account["note"] in table.coverage.notes
    assert table.provenance["wordlist"]["controls"] == "matched"
