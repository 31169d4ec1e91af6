"""The shipped lists against their sources."""

from __future__ import annotations

import csv
import itertools
import json
from pathlib import Path

import pytest

from bayesbias.wordlists.listfile import check_wordlist, load_controls, load_wordlist, pairs

WEAT = [*(f"weat{i}" for i in range(1, 11)), "weat3b", "weat5b", "weat6b", "weat7b", "weat8b"]


# Name here -> name of the file in W4ngatang/sent-bias (May et al. 2019).
SENT_BIAS = {
    **{name: name for name in WEAT},
    "angry_black_woman": "angry_black_woman_stereotype",
    "angry_black_woman_b": "angry_black_woman_stereotype_b",
    "double_bind_competent": "heilman_double_bind_competent_one_word",
    "double_bind_likable": "heilman_double_bind_likable_one_word",
}


ALL = sorted([*SENT_BIAS, "gender", "race", "religion", "wefat"])


@pytest.mark.parametrize("name", ALL)
def test_shipped_list_is_complete_and_passes_its_own_check(name: str) -> None:
    for controls in (None, "2021", "2022", "none"):
        assert check_wordlist(name, controls)[0] == []
    wordlist = load_wordlist(name)
    assert wordlist.name == name
    assert wordlist.language == "en"
    assert wordlist.controls.name == "2022"
    assert "arXiv:" in wordlist.source or "doi:" in wordlist.source


@pytest.mark.parametrize(("name", "file"), SENT_BIAS.items())
def test_weat_lists_hold_the_words_of_their_source_in_its_order(
    shared: Path, name: str, file: str
) -> None:
    source = json.loads(
        (shared / "data" / "sent_bias_tests" / f"{file}.jsonl").read_text(encoding="utf-8")
    )
    x, y = load_wordlist(name).classes
    assert [list(x.protected), list(y.protected), list(x.attributes), list(y.attributes)] == [
        source[key]["examples"] for key in ("targ1", "targ2", "attr1", "attr2")
    ]


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


def test_controls_of_the_two_years() -> None:
    early, late = load_controls("2021"), load_controls("2022")
    assert early is not None
    assert late is not None
    assert [len(early.human), len(early.neutral), len(late.human), len(late.neutral)] == [
        27,
        242,
        85,
        226,
    ]
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


def test_the_wefat_list_is_the_published_one(shared) -> None:
    import json

    published = json.loads(
        (shared / "data" / "facts" / "wefat_occupations.json").read_text(encoding="utf-8")
    )
    female, male = load_wordlist("wefat").classes
    assert (list(female.protected), list(male.protected)) == (
        published["female"],
        published["male"],
    )
    occupations = [*female.attributes, *male.attributes]
    assert sorted(occupations) == sorted(published["targets"])
    order = [published["targets"].index(word) for word in female.attributes]
    assert order == sorted(order)
