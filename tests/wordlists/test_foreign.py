"""Word lists in the forms of other programs: the same list from each, and clear words for what is none."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from bayesbias.core.errors import InputError
from bayesbias.wordlists.listfile import check_wordlist, list_wordlists, load_wordlist

MATH, ARTS, MALE, FEMALE = (
    ["math", "algebra", "sums"],
    ["poetry", "art"],
    ["he", "man"],
    ["she", "woman", "girl"],
)
QUERY = {
    "target_sets": [MATH, ARTS], "attribute_sets": [MALE, FEMALE],
    "target_sets_names": ["math", "arts"], "attribute_sets_names": ["male", "female"],
}  # fmt: skip
TEST = {
    key: {"category": name, "examples": words}
    for key, name, words in zip(
        ("targ1", "targ2", "attr1", "attr2"),
        ("math", "arts", "male", "female"),
        (MATH, ARTS, MALE, FEMALE),
        strict=True,
    )
}
ARGUMENTS = {
    "T1": MATH, "T2": ", ".join(ARTS), "A1": MALE, "A2": FEMALE,
    "labels": {"T1": "math", "T2": "arts", "A1": "male", "A2": "female"},
}  # fmt: skip
WIDE = "math;arts;male;female\nmath;poetry;he;she\nalgebra;art;man;woman\n\nsums;;;girl\n"
LONG = "word,class,kind\n" + "".join(
    f"{w},{c},{kind}\n"
    for c, kind, words in (
        ("math", "protected", MATH),
        ("arts", "Target", ARTS),
        ("male", "attribute", MALE),
        ("female", "a", FEMALE),
    )
    for w in words
)
RAW = '"","Target","Attrib","T_word","A_word","cos_sim"\n' + "".join(
    f'"{i}","{t}","{a}","{w}","{v}",0.1\n'
    for i, (t, a, w, v) in enumerate(
        (t, a, w, v)
        for t, targets in (("math", MATH), ("arts", ARTS))
        for a, attributes in (("male", MALE), ("female", FEMALE))
        for w in targets
        for v in attributes
    )
)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("query.json", json.dumps(QUERY)), ("test.jsonl", json.dumps(TEST)), ("arguments.json", json.dumps(ARGUMENTS)),
        ("wide.csv", WIDE), ("wide.csv", WIDE.replace(";", ",")), ("wide.tsv", WIDE.replace(";", "\t")),
        ("bom.csv", "\ufeff" + WIDE),
        ("long.csv", LONG), ("long.csv", LONG.replace(",", ";").replace("\n", "\r\n")), ("raw.csv", RAW),
    ],
)  # fmt: skip
def test_one_list_from_every_form(name: str, content: str, tmp_path) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8", newline="")
    words = load_wordlist(path)
    read = [
        (c.name, list(c.protected), c.attribute_class, list(c.attributes)) for c in words.classes
    ]
    assert read == [("math", MATH, "male", MALE), ("arts", ARTS, "female", FEMALE)]
    assert words.name == path.stem
    assert words.notes[0].startswith("Read as ")
    assert words.notes[0].endswith("math with male and arts with female, in their order.")
    assert words.digests[0][0] == str(path)
    assert check_wordlist(path)[0] == []


@pytest.mark.parametrize("mapping", [QUERY, TEST, ARGUMENTS])
def test_a_mapping_in_another_form_is_read_too(mapping) -> None:
    words = load_wordlist(mapping, controls="2022")
    assert [c.attribute_class for c in words.classes] == ["male", "female"]
    assert words.controls.name == "2022"


def test_a_query_object_of_wefe_is_read() -> None:
    query = SimpleNamespace(**QUERY, query_name="Math and Arts wrt Male and Female")
    assert load_wordlist(query).words == load_wordlist(QUERY).words
    assert load_wordlist(query).name == query.query_name
    assert load_wordlist({**QUERY, "name": "math"}).name == "math"


def test_names_tell_which_attributes_belong_to_a_class(tmp_path) -> None:
    path = tmp_path / "named.csv"
    path.write_text(
        "art attributes,math protected,art protected,math attributes,neutral\nshe,math,poetry,he,grass\nher,sums,art,him,clock\n"
    )
    words = load_wordlist(path)
    assert [(c.name, c.protected, c.attributes) for c in words.classes] == [
        ("math", ("math", "sums"), ("he", "him")), ("art", ("poetry", "art"), ("she", "her")),
    ]  # fmt: skip
    assert words.controls.neutral == ("grass", "clock")
    assert words.notes[0].endswith("attributes by the name of their class.")


@pytest.mark.parametrize("order", [("T1", "T2", "A2", "A1"), ("A2", "T2", "A1", "T1")])
@pytest.mark.parametrize("form", ["mapping", "test", "columns", "letters", "rows"])
def test_codes_say_what_goes_with_what_in_any_order(tmp_path, order, form) -> None:
    sets = {
        "T1": ["math", "sums"],
        "T2": ["art", "poetry"],
        "A1": ["he", "him"],
        "A2": ["she", "her"],
    }
    as_test = {"T1": "targ1", "T2": "targ2", "A1": "attr1", "A2": "attr2"}
    as_letters = {"T1": "X", "T2": "Y", "A1": "A", "A2": "B"}
    source = tmp_path / "x.csv"
    if form == "mapping":
        source = {code: sets[code] for code in order}
    elif form == "test":
        source = {
            as_test[code]: {"category": code.lower(), "examples": sets[code]} for code in order
        }
    elif form == "rows":
        rows = [f"{word},{code}" for code in order for word in sets[code]]
        source.write_text("\n".join(["word,class", *rows]) + "\n")
    else:
        names = [as_letters[code] if form == "letters" else code for code in order]
        lines = [names, *zip(*(sets[code] for code in order), strict=True)]
        source.write_text("\n".join(map(",".join, lines)) + "\n")
    goes_with = {c.protected: c.attributes for c in load_wordlist(source).classes}
    assert goes_with == {("math", "sums"): ("he", "him"), ("art", "poetry"): ("she", "her")}


def test_a_long_table_takes_controls_and_codes(tmp_path) -> None:
    path = tmp_path / "long.csv"
    path.write_text(LONG + "somebody,,human\nanyone,,human\nclock,,neutral\ngrass,,neutral\n")
    controls = load_wordlist(path).controls
    assert (controls.human, controls.neutral) == (("somebody", "anyone"), ("clock", "grass"))


def test_a_word_listed_twice_counts_once_and_is_noted() -> None:
    words = load_wordlist({**QUERY, "target_sets": [[*MATH, "math"], ARTS]})
    assert words.classes[0].protected == tuple(MATH)
    assert words.notes[1] == "Listed more than once in a set, and counted once: math."


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.json", "[1, 2]", "a WEFE query"),
        ("x.json", '["altar", "bible"]', 'Write .*"CLASS": .*"protected"'),
        ("x.json", '{"flowers": ["aster"]}', "expected sets of targets"),
        ("x.json", json.dumps({**TEST, "targ3": 1}), "targ3"),
        ("x.csv", "", "expected a table"),
        ("x.csv", "a,b,c\n1,2,3\n", "expected headings"),
        ("x.csv", "T1,T2\nmath,art\nsums,poetry\n", "sets of targets and of attributes"),
        ("x.csv", "word,class\na,flowers\n", "T1, T2, A1 or A2"),
        ("x.csv", "word,class,kind\na,flowers,tagret\n", "Did you mean 'target'"),
        ("x.csv", "word,class,role\na,,control\n", "line 2, role: .* human .* neutral"),
    ],
)
def test_what_is_no_list_says_why(name: str, content: str, said: str, tmp_path) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InputError, match=said):
        load_wordlist(path)


def test_the_published_tests_are_our_shipped_lists(shared) -> None:
    for path in sorted((shared / "data" / "sent_bias_tests").glob("weat*.jsonl")):
        if path.stem in list_wordlists():
            read, ours = load_wordlist(path), load_wordlist(path.stem)
            for a, b in zip(read.classes, ours.classes, strict=True):
                assert {w.casefold() for w in a.protected} == {w.casefold() for w in b.protected}
                assert {w.casefold() for w in a.attributes} == {w.casefold() for w in b.attributes}
    with pytest.raises(InputError, match=r"expected words.*bayesbias seat"):
        load_wordlist(shared / "data" / "sent_bias_tests" / "sent-weat7.jsonl")
