"""Published collections read as word lists."""

import json

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.core.errors import InputError

ROWS = [
    {
        "language": language,
        "weat": weat,
        "attr1.category": "Career",
        "attr1.examples": ["Büro", "Gehalt", "Beruf"],
        "attr2.category": "Family",
        "attr2.examples": ["Haus", "Eltern", "Kinder's"],
        "targ1.category": "MaleNames",
        "targ1.examples": ["Paul", "Max", "Jan"],
        "targ2.category": "FemaleNames",
        "targ2.examples": ["Anna", "Lena", "Eva" if language == "de" else "Amy"],
    }
    for language in ("de", "en")
    for weat in ("WEAT6", "WEAT7")
]


@pytest.mark.parametrize("ending", [".parquet", ".jsonl", ".json", ".csv"])
def test_a_list_of_weathub(tmp_path, ending):
    path, frame = tmp_path / f"weathub{ending}", pd.DataFrame(ROWS)
    if ending == ".parquet":
        frame.to_parquet(path)
    elif ending == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_json(path, orient="records", lines=ending == ".jsonl")
    words = bb.load_wordlist(f"{path}:de/weat6", controls="none")
    male, female = words.classes
    assert (words.name, words.language) == ("WEAT6 (de)", "de")
    assert (male.name, male.attribute_class) == ("MaleNames", "Career")
    assert female.protected == ("Anna", "Lena", "Eva")
    assert female.attributes == ("Haus", "Eltern", "Kinder's")
    with pytest.raises(InputError, match=r"one word list.*4 lists.*as in weathub\..*:de/WEAT6"):
        bb.load_wordlist(path)
    with pytest.raises(InputError, match=r"list: expected .*got 'fr/weat6'"):
        bb.load_wordlist(f"{path}:fr/WEAT6")


def test_a_parquet_file_of_something_else_is_no_word_list(tmp_path):
    pd.DataFrame({"word": ["a"]}).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(InputError, match="columns of WEATHub"):
        bb.load_wordlist(tmp_path / "x.parquet")


@pytest.mark.parametrize("name", ["religion", "gender", "race"])
def test_vocabularies_of_manzini_are_the_shipped_lists(shared, name):
    folder = shared / "data" / "manzini_vocab"
    theirs = bb.load_wordlist(folder / f"{name}_attributes_optm.json", controls="2022")
    ours = bb.load_wordlist(name)
    sets = {frozenset(c.protected): set(c.attributes) for c in ours.classes}
    read = {frozenset(c.protected): set(c.attributes) for c in theirs.classes}
    assert set(read) == set(sets)
    for words, attributes in read.items():
        assert len(attributes ^ sets[words]) <= 2  # the shipped lists name what they change
    assert len(theirs.definitional_sets) == len(ours.definitional_sets)
    with pytest.raises(InputError):
        bb.load_wordlist({"definite_sets": [["he", "she"]], "analogy_templates": {"role": {}}})
    with pytest.raises(InputError, match="a WEFE query"):
        bb.load_wordlist(folder / "religion_specific.json")


def test_a_mapping_of_manzini_is_read(shared):
    path = shared / "data" / "manzini_vocab" / "race_attributes_optm.json"
    words = bb.load_wordlist(json.loads(path.read_text()), controls="none")
    assert [c.name for c in words.classes] == ["caucasian", "asian", "black"]
    assert words.classes[2].protected == ("black", "african", "africa")
