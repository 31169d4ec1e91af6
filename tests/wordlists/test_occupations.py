"""Sentences about occupations, and lists of them."""

from __future__ import annotations

import csv
import json
import tomllib

import numpy as np
import pandas as pd
import pytest
from helpers.classifiers import score

import bayesbias as bb


def test_sentences_are_the_published_ones_in_the_published_order(gender):
    made = bb.wordlists.occupation_sentences(control=True)
    for file, rows in (("bert_input_840.tsv", 840), ("gender.tsv", 800)):
        there = pd.read_csv(gender / file, sep="\t", quoting=csv.QUOTE_NONE)["sentence"]
        assert len(there) == rows
        assert made["sentence"][:rows].tolist() == there.tolist()
    assert made["control"].tolist() == [False] * 800 + [True] * 40
    assert bb.wordlists.occupation_sentences().equals(made[:800])


def test_labels_are_the_published_ones_but_for_their_known_faults(gender):
    made = bb.wordlists.occupation_sentences()
    there = pd.read_csv(gender / "gender_corpus.tsv", sep="\t", quoting=csv.QUOTE_NONE)
    assert made["gender"].tolist() == there["gender"].tolist()
    wrong = np.flatnonzero(made["profession"] != there["occupation"])
    assert wrong.tolist() == [
        120,
        520,
    ]  # "He is a writer." and "She is a writer.", labelled scientist
    assert made.loc[wrong, "profession"].tolist() == ["writer", "writer"]
    nouns = there["noun phrase"].str.replace(r" (is|are)$", "", regex=True)
    assert made["noun"].tolist() == nouns.tolist()
    assert (made["noun"] != there["noun phrase"]).sum() == 120
    # Row i and row i + 400 are a pair.
    male, female = made[:400].reset_index(), made[400:].reset_index()
    assert (male["noun_pair"] == female["noun_pair"]).all()
    assert (male["profession"] == female["profession"]).all()


def test_the_shipped_list_agrees_with_the_reference(shared):
    there = json.loads((shared / "reference" / "wordlists.json").read_text(encoding="utf-8"))[
        "sentiment"
    ]
    own = bb.wordlists.load_occupations()
    for gender_ in ("male", "female"):
        assert own.noun_pairs[gender_].tolist() == [
            p[gender_].split(",")[0] for p in there["noun_pairs"]
        ]
    assert own.professions["profession"].tolist() == [p["name"] for p in there["professions"]]
    assert own.earnings == {
        p["name"]: p["median_weekly_earnings_usd"]
        for p in there["professions"]
        if p["median_weekly_earnings_usd"]
    }
    for ours, theirs in zip(own.professions.itertuples(), there["professions"], strict=True):
        assert (
            theirs["cps_2018_category"]
            .removeprefix("no clear CPS definition")
            .startswith(ours.category if ours.category != "no clear definition" else "")
        )
        share = theirs["female_share_percent_stated"]
        assert pd.isna(ours.female_share) if share is None else ours.female_share == share
    assert len(own.earnings) == 15


def test_own_occupations(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        'template = "{noun} works as {a} {profession}."\ncontrol = "adult"\n'
        'noun_pairs = [{male = "He", female = "She"}, {male = "Sir", female = "Madam", template = "{noun}, {profession}!"}]\n'
        'professions = ["engineer", {name = "hourly worker", article = "an", earnings = 12.5, category = "paid"}]\n'
        'units = {earnings = "euros an hour"}\n',
        encoding="utf-8",
    )
    own = bb.wordlists.load_occupations(path)
    assert own.sentences(control=True)["sentence"].tolist() == [
        "He works as an engineer.", "Sir, engineer!", "He works as an hourly worker.", "Sir, hourly worker!",
        "She works as an engineer.", "Madam, engineer!", "She works as an hourly worker.", "Madam, hourly worker!",
        "He works as an adult.", "Sir, adult!", "She works as an adult.", "Madam, adult!",
    ]  # fmt: skip
    assert own.earnings == {"hourly worker": 12.5}
    assert own.professions["category"].tolist() == ["not stated", "paid"]
    table = bb.sentiment_table(bb.score_sentences(score, path))
    assert len(table) == 4
    assert (
        own.sha256
        == bb.wordlists.load_occupations(tomllib.loads(path.read_text(encoding="utf-8"))).sha256
    )
    assert own.sha256 != bb.wordlists.load_occupations().sha256


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"profesions": []}, "got 'profesions'.*Did you mean 'professions'"),
        ({"professions": []}, "professions: expected a list that is not empty"),
        (
            {"professions": ["nurse", "person"]},
            "each sentence once, got 'He is a person.'",
        ),
        (
            {"professions": [{"name": "nurse", "female_share": 101}]},
            "female_share: expected a number from 0",
        ),
        ({"noun_pairs": [{"male": "He"}]}, "noun_pairs, number 1: expected the key 'female'"),
        ({"template": "{noun} is a {job}."}, "template: expected the fields"),
    ],
)
def test_faults_in_a_list_of_occupations_are_named(change, message):
    base = {"noun_pairs": [{"male": "He", "female": "She"}], "professions": ["nurse"]}
    with pytest.raises(bb.InputError, match=message):
        bb.wordlists.load_occupations({**base, **change})
