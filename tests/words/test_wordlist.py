"""Word lists: the shipped ones against their sources, the rules of the connection, and bad input."""

from __future__ import annotations

import copy
import csv
import dataclasses
import hashlib
import itertools
import json
import os
import pickle
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from helpers.places import ROOT

from bayesbias.basics.errors import InputError
from bayesbias.words.controls import load_controls, shipped_controls
from bayesbias.words.listfile import check_wordlist, load_wordlist, shipped_wordlists, wordlist_template
from bayesbias.words.pairing import pairs
from bayesbias.words.wordlist import Controls, WordList

WEAT = [*(f"weat{i}" for i in range(1, 11)), "weat3b", "weat5b", "weat6b", "weat7b", "weat8b"]
# Name here -> name of the file in W4ngatang/sent-bias (May et al. 2019).
SENT_BIAS = {
    **{name: name for name in WEAT},
    "angry_black_woman": "angry_black_woman_stereotype",
    "angry_black_woman_b": "angry_black_woman_stereotype_b",
    "double_bind_competent": "heilman_double_bind_competent_one_word",
    "double_bind_likable": "heilman_double_bind_likable_one_word",
}
ALL = sorted([*SENT_BIAS, "gender", "race", "religion"])

AGE = {
    "young": {"protected": ["young", "youth"], "attributes": ["reckless", "lively", "loud"]},
    "old": {"protected": ["old", "elderly"], "attributes": ["frail", "wise", "loud"]},
}
GOOD = """\
schema = 1
name = "age"
language = "en"

[controls]
human = ["breakfast", "journey"]
neutral = ["clock", "grass"]

[[class]]
name = "young"
protected = ["young", "youth"]
attributes = ["reckless", "lively"]

[[class]]
name = "old"
protected = ["old", "elderly"]
attributes = ["frail", "wise"]
"""


def rows(wordlist: WordList | dict) -> list[tuple[str, ...]]:
    return list(zip(*pairs(wordlist).values(), strict=True))


def write(folder: Path, text: str, name: str = "age.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


# The shipped lists --------------------------------------------------------------------------------


def test_all_lists_of_the_request_are_shipped_and_nothing_else() -> None:
    assert shipped_wordlists() == ALL
    assert shipped_controls() == ["2021", "2022"]


@pytest.mark.parametrize("name", ALL)
def test_shipped_list_is_complete_and_passes_its_own_check(name: str) -> None:
    for controls in (None, "2021", "2022", "none"):
        assert check_wordlist(name, controls) == []
    wordlist = load_wordlist(name)
    assert wordlist.name == name
    assert wordlist.language == "en"
    assert wordlist.controls is not None
    assert wordlist.controls.name == "2022"
    assert len(wordlist.title) > 10
    assert "arXiv:" in wordlist.source or "doi:" in wordlist.source
    assert wordlist.disagreements
    assert all(s == " ".join(s.split()) for s in (wordlist.source, *wordlist.edits, *wordlist.disagreements))


def test_repr_is_one_line_with_the_counts() -> None:
    assert repr(load_wordlist("race", controls="none")) == (
        "<WordList race: 3 classes, 10 protected words, 15 attributes, no controls>"
    )


@pytest.mark.parametrize(("name", "file"), SENT_BIAS.items())
def test_weat_lists_hold_the_words_of_their_source_in_its_order(shared: Path, name: str, file: str) -> None:
    source = json.loads((shared / "data" / "sent_bias_tests" / f"{file}.jsonl").read_text(encoding="utf-8"))
    x, y = load_wordlist(name).classes
    assert [list(x.protected), list(y.protected), list(x.attributes), list(y.attributes)] == [
        source[key]["examples"] for key in ("targ1", "targ2", "attr1", "attr2")
    ]


def test_weat_classes_are_named_after_targets_and_attributes() -> None:
    def names(name: str) -> list[tuple[str, str]]:
        return [(c.name, c.attribute_class) for c in load_wordlist(name).classes]

    assert names("weat1") == [("flowers", "pleasant"), ("insects", "unpleasant")]
    assert names("weat6") == [("male_names", "career"), ("female_names", "family")]
    assert names("weat7") == [("math", "male_terms"), ("arts", "female_terms")]
    assert names("weat9") == [("mental_disease", "temporary"), ("physical_disease", "permanent")]


def test_stated_disagreements_of_the_weat_lists_are_true() -> None:
    unpleasant = {name: set(load_wordlist(name).classes[1].attributes) for name in WEAT}
    assert unpleasant["weat1"] == unpleasant["weat2"]
    assert unpleasant["weat3"] == unpleasant["weat3b"] == unpleasant["weat4"]
    assert unpleasant["weat1"] - unpleasant["weat3"] == {"agony", "prison"}
    assert unpleasant["weat3"] - unpleasant["weat1"] == {"bomb", "evil"}
    assert unpleasant["weat5"] == unpleasant["weat5b"] == unpleasant["weat10"]
    assert "bomb" in load_wordlist("weat2").protected_words
    assert load_wordlist("weat4").protected_words == load_wordlist("weat5").protected_words
    assert {c.protected for c in load_wordlist("weat6").classes} == {
        c.attributes for c in load_wordlist("weat7b").classes
    }
    terms_of_7 = {c.attributes for c in load_wordlist("weat7").classes}
    assert {c.protected for c in load_wordlist("weat6b").classes} == terms_of_7
    assert {c.attributes for c in load_wordlist("weat8").classes} != terms_of_7


@pytest.mark.parametrize(
    ("name", "renamed"),
    [
        ("religion", {"jew": "judaism", "christian": "christianity", "muslim": "islam"}),
        ("gender", {}),
        ("race", {}),
    ],
)
def test_manzini_lists_against_the_source(shared: Path, name: str, renamed: dict[str, str]) -> None:
    path = shared / "data" / "manzini_vocab" / f"{name}_attributes_optm.json"
    source = json.loads(path.read_text(encoding="utf-8"))
    wordlist = load_wordlist(name)
    assert [list(s) for s in wordlist.definitional_sets] == source["definite_sets"]
    assert [list(s) for s in wordlist.evaluation_sets] == source["eval_targets"]
    (attributes,) = source["analogy_templates"].values()
    for key, words in attributes.items():
        words = ["critical" if word == "judgemental" else word for word in words]
        (cls,) = (c for c in wordlist.classes if c.name == renamed.get(key, key))
        assert list(cls.attributes) == words
        assert cls.attribute_class == cls.name
    # A class is a column of the definitional sets; a word repeated in the column is listed once.
    columns = {frozenset(column) for column in zip(*source["definite_sets"], strict=True)}
    assert {frozenset(c.protected) for c in wordlist.classes} == columns
    assert len(wordlist.protected_words) == len(set(wordlist.protected_words))


def test_race_repeats_follow_from_the_definitional_sets() -> None:
    wordlist = load_wordlist("race")
    places = list(itertools.chain(*wordlist.definitional_sets))
    assert (len(places), len(set(places))) == (18, 10)
    assert set(places) == set(wordlist.protected_words)
    assert sorted(w for w in set(places) if places.count(w) == 3) == ["africa", "asian"]
    assert len(wordlist.evaluation_sets) == 2


def test_controls_of_the_two_years() -> None:
    early, late = load_controls("2021"), load_controls("2022")
    assert early is not None
    assert late is not None
    assert [len(early.human), len(early.neutral), len(late.human), len(late.neutral)] == [27, 242, 85, 226]
    assert set(early.human) < set(late.human)
    gone = [word for word in early.neutral if word not in late.neutral]
    assert [word for word in early.neutral if word in late.neutral] == list(late.neutral)
    assert len(gone) == 16
    assert all(", ".join(gone) in c.disagreements[0] for c in (early, late))
    assert "literaly" in late.neutral  # spelled as published
    assert late.language == "en"
    assert late.source.startswith("Dobrzeniecka & Urbaniak")


def tables() -> list[str]:
    return [
        "google_2021/genderGoogle",
        "google_2021/raceGoogle",
        "google_2021/religionGoogle",
        "reddit_pairs_2021/debiasedGenderReddit",
        "reddit_pairs_2021/debiasedRaceReddit",
        "reddit_pairs_2021/debiasedReligionReddit",
        "reddit_pairs_2021/genderReddit",
        "reddit_pairs_2021/raceReddit",
        "reddit_pairs_2021/religionReddit",
        "weat/weat_1_reddit",
        "weat/weat_7_reddit",
        "with_controls_2022/gender_group_reddit_dataset",
        "with_controls_2022/race_group_reddit_dataset",
        "with_controls_2022/religion_group_glove_dataset",
        "with_controls_2022/religion_group_reddit_dataset",
    ]


def test_every_published_table_is_rebuilt(shared: Path) -> None:
    folder = shared / "data" / "bayesbias_distances"
    assert {f"{p.parent.name}/{p.stem}" for p in folder.glob("*/*.csv")} == set(tables())


@pytest.mark.parametrize("table", tables())
def test_pairs_and_connections_of_the_published_tables(shared: Path, table: str) -> None:
    """The sets (protected word, attribute, connection) are those of rfl-urbaniak/BayesBias, exactly."""
    path = shared / "data" / "bayesbias_distances" / f"{table}.csv"
    low = path.stem.lower().replace("weat_", "weat")
    name = next(n for n in ("religion", "gender", "race", "weat1", "weat7") if n in low)
    wordlist = load_wordlist(name, controls="2021" if "2021" in table else "2022")
    spelled = wordlist.published_spellings
    with open(path, encoding="utf-8", newline="") as file:
        published = [
            (
                r["protected_word"],
                r["word_to_compare"],
                "neutral" if r["connection"] == "none" else r["connection"],
            )
            for r in csv.DictReader(file)
        ]
    columns = pairs(wordlist)
    ours = [
        (spelled.get(p, p), spelled.get(a, a), c)
        for p, a, c in zip(
            columns["protected_word"], columns["attribute"], columns["connection"], strict=True
        )
    ]
    assert len(ours) == len(set(ours))
    assert set(ours) == set(published)
    # Repeats, too, are explained: a word has its rows once for each definitional set that holds it.
    places = list(itertools.chain(*wordlist.definitional_sets))
    times = {word: places.count(word) for word in wordlist.protected_words} if places else {}
    assert len(published) == sum(times.get(word, 1) for word in columns["protected_word"])


# The rules of the connection ----------------------------------------------------------------------


def test_pairs_of_a_small_list_in_full() -> None:
    wordlist = load_wordlist(AGE, controls={"human": ["journey", "birthday"], "neutral": ["clock", "grass"]})
    assert rows(wordlist)[:9] == [
        ("young", "young", "reckless", "young", "stereotype", "associated"),
        ("young", "young", "lively", "young", "stereotype", "associated"),
        ("young", "young", "loud", "young", "stereotype", "associated"),
        ("young", "young", "frail", "old", "stereotype", "different"),
        ("young", "young", "wise", "old", "stereotype", "different"),
        ("young", "young", "journey", "human", "human", "human"),
        ("young", "young", "birthday", "human", "human", "human"),
        ("young", "young", "clock", "neutral", "neutral", "neutral"),
        ("young", "young", "grass", "neutral", "neutral", "neutral"),
    ]
    assert len(rows(wordlist)) == 4 * 9


def test_an_attribute_of_two_classes_is_one_word_and_associated_with_both() -> None:
    three = {**AGE, "middle": {"protected": ["adult", "grown"], "attributes": ["busy", "steady"]}}
    wordlist = load_wordlist(three)
    loud = {row[0]: (row[3], row[5]) for row in rows(wordlist) if row[2] == "loud"}
    assert loud == {
        "young": ("young", "associated"),
        "youth": ("young", "associated"),
        "old": ("old", "associated"),
        "elderly": ("old", "associated"),
        "adult": ("young", "different"),  # the first class that lists it
        "grown": ("young", "different"),
    }
    assert len({row[:3:2] for row in rows(wordlist)}) == len(rows(wordlist)) == 6 * 7
    assert any("'loud' is a stereotype of 'young' and 'old'" in note for note in wordlist.notes)


def test_a_stereotype_is_no_control_and_human_comes_before_neutral() -> None:
    wordlist = load_wordlist(
        AGE, controls={"human": ["wise", "journey", "walk"], "neutral": ["frail", "clock", "walk", "grass"]}
    )
    assert wordlist.controls is not None
    assert wordlist.controls.human == ("journey", "walk")
    assert wordlist.controls.neutral == ("clock", "grass")
    kinds = {row[2]: row[4] for row in rows(wordlist)}
    assert (kinds["wise"], kinds["frail"], kinds["walk"]) == ("stereotype", "stereotype", "human")
    assert len({row[:3:2] for row in rows(wordlist)}) == len(rows(wordlist)) == 4 * 9
    assert "Dropped from the controls, because they are stereotypes here: wise, frail." in wordlist.notes
    assert "Human and neutral at once, kept as human: walk." in wordlist.notes


def test_a_word_is_not_paired_with_itself() -> None:
    data = copy.deepcopy(AGE)
    data["old"]["attributes"].append("youth")
    wordlist = load_wordlist(data, controls={"neutral": ["old", "clock"]})
    got = {(row[0], row[2]): row[5] for row in rows(wordlist)}
    assert ("youth", "youth") not in got
    assert ("old", "old") not in got
    assert got["young", "youth"] == "different"
    assert got["elderly", "youth"] == "associated"
    assert got["young", "old"] == "neutral"
    assert len(got) == 4 * 8 - 2
    assert (
        "The protected word 'youth' is also an attribute: its pair with itself is left out." in wordlist.notes
    )
    assert (
        "The protected word 'old' is also a neutral control word: its pair with itself is left out."
        in wordlist.notes
    )
    assert any("'youth' and 'old' any two are paired twice" in note for note in wordlist.notes)
    columns = pairs(wordlist)
    assert {len(column) for column in columns.values()} == {30}


def test_classes_may_share_one_attribute_list_by_name() -> None:
    shared_list = {
        "ant": {"protected": ["ant", "flea"], "attribute_class": "bad", "attributes": ["filth", "stink"]},
        "wasp": {"protected": ["wasp", "bee"], "attribute_class": "bad", "attributes": ["stink", "filth"]},
    }
    wordlist = load_wordlist(shared_list)
    assert {row[5] for row in rows(wordlist)} == {"associated"}
    assert "All classes have the same attributes, so no pair is 'different'." in wordlist.notes


def test_a_million_pairs_take_well_under_a_second() -> None:
    big = {
        c: {"protected": [f"{c}p{i}" for i in range(500)], "attributes": [f"{c}a{i}" for i in range(500)]}
        for c in "xy"
    }
    wordlist = load_wordlist(big)
    start = time.perf_counter()
    columns = pairs(wordlist)
    assert time.perf_counter() - start < 2  # 0.02 s measured; the bound allows for a busy machine
    assert len(columns["connection"]) == 1_000_000
    assert columns["connection"].count("associated") == 500_000


def test_words_are_distinct_and_in_order() -> None:
    wordlist = load_wordlist(AGE, controls={"human": ["journey", "walk"], "neutral": ["clock", "old"]})
    assert wordlist.protected_words == ("young", "youth", "old", "elderly")
    assert wordlist.attribute_words == ("reckless", "lively", "loud", "frail", "wise")
    assert wordlist.control_words == ("journey", "walk", "clock", "old")
    assert wordlist.words == (
        *wordlist.protected_words,
        *wordlist.attribute_words,
        "journey",
        "walk",
        "clock",
    )


# Notes --------------------------------------------------------------------------------------------


def test_notes_say_what_is_unusual() -> None:
    assert load_wordlist("weat10").notes == (
        "'Billy' and 'billy' differ only in capitals or character form: "
        "an embedding that does not tell them apart gives them one vector.",
    )
    assert load_wordlist("religion").notes == (
        "The class 'christianity' has 3 attributes: how far its words vary is weakly known.",
    )
    assert load_wordlist("gender").notes == ()
    assert load_wordlist("gender", "none").notes == (
        "There are no control words: nothing tells nearness to a stereotype from nearness to any word.",
    )


def test_one_class_needs_controls_and_says_what_it_lacks() -> None:
    one = {"young": {"protected": ["a", "b", "c", "d"], "attributes": ["e", "f", "g", "h"]}}
    assert load_wordlist(one, "2022").notes == ("The list has one class, so no pair is 'different'.",)
    with pytest.raises(InputError, match="one class and no controls leave nothing to compare"):
        load_wordlist(one)


def test_controls_in_another_language_are_noted(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD.replace('"en"', '"pl"'))
    assert (
        "The word list is in language 'pl', the controls 2022 in 'en'." in load_wordlist(path, "2022").notes
    )
    assert not any("language" in note for note in load_wordlist(path).notes)


def test_controls_used_up_by_stereotypes_are_noted() -> None:
    wordlist = load_wordlist(AGE, controls={"human": ["wise", "frail"], "neutral": ["clock", "grass"]})
    assert "0 human control words in use: that group says little." in wordlist.notes


# Ways to hand a list over -------------------------------------------------------------------------


def test_path_text_mapping_and_full_mapping_agree(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    by_path, by_text = load_wordlist(path), load_wordlist(os.fspath(path))
    by_mapping = load_wordlist(tomllib.loads(GOOD))
    assert by_path == by_text
    assert by_path.classes == by_mapping.classes
    assert by_path.controls == by_mapping.controls
    assert by_path.controls is not None
    assert by_path.controls.human == ("breakfast", "journey")
    assert by_path.controls.neutral == ("clock", "grass")
    assert by_path.controls.name == "own"
    assert by_path.name == by_mapping.name == "age"
    assert by_path.title == "age"
    assert by_path.source == "not stated"
    assert load_wordlist(by_path) is by_path
    assert pairs(path) == pairs(by_mapping)


def test_name_falls_back_on_the_file(tmp_path: Path) -> None:
    assert load_wordlist(write(tmp_path, GOOD.replace('name = "age"\n', ""), "mine.toml")).name == "mine"


def test_digests_are_those_of_the_files(tmp_path: Path) -> None:
    def sha(data: bytes) -> str:
        return hashlib.sha256(data).hexdigest()

    path = write(tmp_path, GOOD)
    assert load_wordlist(path).sha256 == sha(GOOD.encode())
    assert load_wordlist(path).digests == ((str(path), sha(GOOD.encode())),)
    race = load_wordlist("race")
    parts = [sha((ROOT / f).read_bytes()) for f in ("wordlists/race.toml", "wordlists/controls/2022.toml")]
    assert race.digests == tuple(
        zip(("wordlists/race.toml", "wordlists/controls/2022.toml"), parts, strict=True)
    )
    assert race.sha256 == sha("".join(parts).encode())
    assert race.origin == "wordlists/race.toml"
    assert load_wordlist("race", "none").sha256 == parts[0]
    # A mapping: the same words give the same digest, one word changed another.
    other = copy.deepcopy(AGE)
    other["old"]["protected"][0] = "aged"
    assert load_wordlist(AGE).sha256 == load_wordlist(copy.deepcopy(AGE)).sha256
    assert load_wordlist(AGE).sha256 != load_wordlist(other).sha256
    with_controls = [load_wordlist(AGE, {"neutral": words}).sha256 for words in (["a", "b"], ["a", "c"])]
    assert len({*with_controls, load_wordlist(AGE).sha256}) == 3


def test_controls_can_be_changed_in_every_way(tmp_path: Path) -> None:
    control_file = write(tmp_path, 'schema = 1\nneutral = ["clock", "grass"]\n', "plain.toml")
    expected = {
        None: ("2022", 85, 226),
        "2021": ("2021", 27, 242),
        "2022": ("2022", 85, 226),
        control_file: ("plain", 0, 2),
        os.fspath(control_file): ("plain", 0, 2),
    }
    for controls, (name, human, neutral) in expected.items():
        got = load_wordlist("religion", controls=controls).controls
        assert got is not None
        assert (got.name, len(got.human), len(got.neutral)) == (name, human, neutral)
    assert load_wordlist("religion", "none").controls is None
    assert load_controls("none") is None
    assert load_controls(None) is None
    own = load_wordlist("religion", {"human": ["walk", "talk"]}).controls
    assert own == Controls("custom", ("walk", "talk"), (), title="custom")
    assert load_wordlist("religion", own).controls == own


def test_controls_of_a_loaded_list_can_be_replaced_and_nothing_of_the_old_ones_stays() -> None:
    for first, second in itertools.permutations(("2021", "2022", "none"), 2):
        assert load_wordlist(load_wordlist("weat10", first), second) == load_wordlist("weat10", second)


def test_controls_by_a_path_relative_to_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "lists"
    (folder / "more").mkdir(parents=True)
    write(folder / "more", 'schema = 1\nneutral = ["clock", "grass"]\n', "plain.toml")
    head, tail = GOOD.split("[controls]")
    text = head + 'controls = "more/plain.toml"\n' + tail[tail.index("[[class]]") :]
    path = write(folder, text)
    monkeypatch.chdir(tmp_path)  # not the folder of the list
    assert load_wordlist(path).control_words == ("clock", "grass")
    with pytest.raises(InputError, match="no such control list file") as error:
        load_wordlist(write(folder, text.replace("more/plain", "more/plane")))
    assert "age.toml, controls" in str(error.value)
    # As an argument a path is relative to where one is.
    assert load_wordlist("race", "lists/more/plain.toml").control_words == ("clock", "grass")


def test_a_list_without_controls_has_none(tmp_path: Path) -> None:
    head, tail = GOOD.split("[controls]")
    wordlist = load_wordlist(write(tmp_path, head + tail[tail.index("[[class]]") :]))
    assert wordlist.controls is None
    assert {row[5] for row in rows(wordlist)} == {"associated", "different"}


def test_a_list_survives_pickling_and_is_frozen() -> None:
    wordlist = load_wordlist("weat1")
    assert pickle.loads(pickle.dumps(wordlist)) == wordlist
    assert hash(wordlist) == hash(pickle.loads(pickle.dumps(wordlist)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        wordlist.name = "x"  # type: ignore[misc]


# The template -------------------------------------------------------------------------------------


def test_template_says_what_to_fill_in_and_passes_when_filled(tmp_path: Path) -> None:
    text = wordlist_template()
    assert tomllib.loads(text)["schema"] == 1
    path = write(tmp_path, text, "template.toml")
    problems = check_wordlist(path)
    places = ["name", "title", "language", "source", "protected", "attributes"]
    assert all(any(f"{place}:" in problem for problem in problems) for place in places)
    assert len(problems) == 10
    fills = {
        'name = ""': iter(["age", "young", "old"]),
        'title = ""': iter(["Age"]),
        'language = ""': iter(["en"]),
        'source = ""': iter(["Nobody (2024)"]),
        "protected = []": iter([AGE["young"]["protected"], AGE["old"]["protected"]]),
        "attributes = []": iter([AGE["young"]["attributes"], AGE["old"]["attributes"]]),
    }
    lines = []
    for line in text.splitlines():
        for blank, values in fills.items():
            if line.startswith(blank):
                line = f"{blank.split(' = ')[0]} = {json.dumps(next(values))}"
        lines.append(line)
    path = write(tmp_path, "\n".join(lines), "filled.toml")
    assert check_wordlist(path) == []
    assert load_wordlist(path).classes == load_wordlist(AGE).classes
    assert repr(load_wordlist(path)).endswith("controls 2022 (85 human, 226 neutral)>")


# Bad input ----------------------------------------------------------------------------------------

BAD = {
    "wrong schema": ("schema = 1", "schema = 2", ["schema", "found: 2", "valid: 1"]),
    "boolean schema": ("schema = 1", "schema = true", ["schema", "found: True"]),
    "no schema": ("schema = 1\n", "", ["schema: is missing", "valid: 1"]),
    "unknown key": ("language", "langage", ["unknown key; found: 'langage'", "did you mean 'language'?"]),
    "unknown key of a class": (
        'attributes = ["frail"',
        'atributes = ["frail"',
        ["class 'old': unknown key; found: 'atributes'", "did you mean 'attributes'?"],
    ),
    "unknown key of the controls": (
        "neutral",
        "nuetral",
        ["controls: unknown key; found: 'nuetral'", "did you mean 'neutral'?"],
    ),
    "empty name": ('name = "age"', 'name = " "', ["name: must be a text that is not empty"]),
    "name is a number": ('name = "age"', "name = 3", ["name: must be a text", "found: 3"]),
    "edits are no list": ('language = "en"', 'edits = "none"', ["edits: must be a list of sentences"]),
    "class without a name": ('name = "old"\n', "", ["class number 2, name: is missing"]),
    "class name twice": ('name = "old"', 'name = "young"', ["two classes have one name", "'young'"]),
    "class without attributes": (
        'attributes = ["frail", "wise"]\n',
        "",
        ["class 'old', attributes: is missing"],
    ),
    "empty class": ('["old", "elderly"]', "[]", ["class 'old', protected: the list is empty"]),
    "one-word class": (
        '["old", "elderly"]',
        '["old"]',
        ["class 'old', protected: a class needs at least two protected words", "found: ['old']"],
    ),
    "one attribute": (
        '["frail", "wise"]',
        '["frail"]',
        ["class 'old', attributes: a class needs at least two attributes: with one, the spread"],
    ),
    "word twice in a class": (
        '["frail", "wise"]',
        '["frail", "wise", "frail"]',
        ["class 'old', attributes: the word is listed 2 times", "found: 'frail'"],
    ),
    "protected word in two classes": (
        '["old", "elderly"]',
        '["old", "youth"]',
        ["a protected word stands in two classes", "'young' and 'old'", "found: 'youth'"],
    ),
    "not a text": ('"elderly"', "65", ["class 'old', protected, word number 2", "found: 65"]),
    "empty word": ('"elderly"', '""', ["class 'old', protected, word number 2: a word is empty"]),
    "blank at the end": ('"elderly"', '"elderly "', ["begins or ends with a blank", "found: 'elderly '"]),
    "tab in a word": ('"elderly"', r'"eld\terly"', ["tab, a line break or another control character"]),
    "a text for a list": ('["old", "elderly"]', '"old"', ["must be a list of words", "found: 'old'"]),
    "reserved attribute class": (
        'name = "old"',
        'name = "old"\nattribute_class = "neutral"',
        ["class 'old', attribute_class: is the name of a control group"],
    ),
    "one attribute class, two lists": (
        'name = "old"',
        'name = "old"\nattribute_class = "young"',
        ["the classes 'young' and 'old' give one name to two lists"],
    ),
    "one control word": (
        '["clock", "grass"]',
        '["clock"]',
        ["controls, neutral: a neutral control list needs at least two words"],
    ),
    "empty controls": (
        'human = ["breakfast", "journey"]\nneutral = ["clock", "grass"]\n',
        "",
        ["controls: has no control words", "valid: human, neutral"],
    ),
    "unknown controls": (
        '[controls]\nhuman = ["breakfast", "journey"]\nneutral = ["clock", "grass"]\n',
        'controls = "2023"\n',
        ["controls: unknown control list", "found: '2023'", "2021, 2022", "did you mean '2022'?"],
    ),
    "controls are a number": (
        '[controls]\nhuman = ["breakfast", "journey"]\nneutral = ["clock", "grass"]\n',
        "controls = 2022\n",
        ["controls: cannot be read as control words", "found: 2022"],
    ),
    "definitional sets are words": (
        'language = "en"',
        'definitional_sets = ["young", "old"]',
        ["definitional_sets, set number 1: must be a list of words", "found: 'young'"],
    ),
    "spelling of an unknown word": (
        "[controls]",
        '[published_spellings]\nelderley = "aged"\n[controls]',
        ["published_spellings: is not a word of this list", "'elderley'", "did you mean 'elderly'?"],
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_lists_are_named_with_file_and_key(tmp_path: Path, case: str) -> None:
    old, new, expected = BAD[case]
    assert old in GOOD
    path = write(tmp_path, GOOD.replace(old, new, 1))
    problems = check_wordlist(path)
    message = problems[0]
    assert str(path) in message
    for part in expected:
        assert any(part in problem for problem in problems), problems
    with pytest.raises(InputError) as error:
        load_wordlist(path)
    assert str(error.value).startswith(message)


def test_all_problems_are_listed_at_once(tmp_path: Path) -> None:
    text = (
        GOOD.replace("schema = 1", "schema = 9")
        .replace('"wise"', '"wise "')
        .replace('["clock", "grass"]', "[]")
    )
    path = write(tmp_path, text)
    problems = check_wordlist(path)
    assert len(problems) == 3
    assert [key for key in ("schema", "attributes", "neutral") if any(key in p for p in problems)] == [
        "schema",
        "attributes",
        "neutral",
    ]
    with pytest.raises(InputError, match=r"and 2 more problems, which check_wordlist lists$"):
        load_wordlist(path)


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ("religon", ["unknown word list", "did you mean 'religion'?"]),
        ("nowhere/mine.toml", ["no such word list file"]),
        ({}, ["class: the list has no class"]),
        ({"class": []}, ["class: the list has no class"]),
        ({"schema": 1, "class": {"name": "a"}}, ["must be a list of tables"]),
        ({"class": ["young"]}, ["class number 1: must be a table", "found: 'young'"]),
        ({"man": ["he", "him"]}, ["class 'man': must be a mapping", "['he', 'him']"]),
        ({1: AGE["old"], "b": AGE["young"]}, ["class number 1, name: must be a text"]),
        ({"young": {**AGE["young"], "name": "y"}}, ["class 'young', name: unknown key"]),
        (3.5, ["cannot be read as a word list", "'float'"]),
        (None, ["cannot be read as a word list", "'NoneType'"]),
    ],
)
def test_what_is_no_word_list(x: object, expected: list[str]) -> None:
    problems = check_wordlist(x)  # type: ignore[arg-type]
    for part in expected:
        assert any(part in problem for problem in problems), problems
    with pytest.raises(InputError):
        load_wordlist(x)  # type: ignore[arg-type]


def test_files_that_are_no_toml_name_file_and_line(tmp_path: Path) -> None:
    broken = tmp_path / "latin.toml"
    broken.write_bytes(GOOD.replace("elderly", "né").encode("latin-1"))
    with pytest.raises(InputError, match=r"latin\.toml, line 16: is not valid UTF-8"):
        load_wordlist(broken)
    with pytest.raises(InputError, match=r"half\.toml: is not valid TOML: .*line \d+"):
        load_wordlist(write(tmp_path, GOOD.replace("schema = 1", "schema 1"), "half.toml"))
    with pytest.raises(InputError, match="is a folder, not a word list file"):
        load_wordlist(tmp_path)
    with pytest.raises(InputError, match=r"empty\.toml, schema: is missing; valid: 1; and 1 more problem,"):
        load_wordlist(write(tmp_path, "", "empty.toml"))


@pytest.mark.parametrize(
    ("controls", "expected"),
    [
        ("nne", "did you mean 'none'?"),
        ("2020", "did you mean '2022'?"),
        ("no/such.toml", "no such control list file"),
        (7, "cannot be read as control words"),
        ({"humans": ["a", "b"]}, "did you mean 'human'?"),
        ({}, "has no control words"),
        ({"human": ["a", "a"]}, "the word is listed 2 times"),
        ({"human": {"a", "b"}}, "must be a list of words"),
    ],
)
def test_bad_controls(controls: object, expected: str) -> None:
    with pytest.raises(InputError) as error:
        load_wordlist("race", controls)  # type: ignore[arg-type]
    assert expected in str(error.value)
    with pytest.raises(InputError):
        load_controls(controls)  # type: ignore[arg-type]


def test_a_word_list_is_no_control_list() -> None:
    with pytest.raises(InputError, match="unknown key; found: 'controls'"):
        load_controls(ROOT / "wordlists" / "race.toml")


def test_reading_lists_needs_no_heavy_library() -> None:
    code = (
        "import sys; from bayesbias import load_wordlist, pairs; pairs('race');"
        "print([m for m in ('numpy', 'pandas', 'pymc', 'arviz') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert result.stdout.strip() == "[]"


def test_the_published_paper_is_cited_wherever_it_is_named():
    doi = "10.1162/coli_a_00507"
    root = ROOT
    sources = {name: load_wordlist(name, "none").source for name in shipped_wordlists()}
    named = {name for name, source in sources.items() if "Dobrzeniecka" in source}
    assert {"gender", "race", "religion"} <= named
    assert all(doi in sources[name] for name in named)
    for path in [
        root / "CITATION.cff",
        root / "README.md",
        *(root / "wordlists" / "controls").glob("202?.toml"),
    ]:
        assert doi in path.read_text(encoding="utf-8"), path.name
