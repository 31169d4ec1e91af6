"""Sentence tests: held to the published ones, and to the rules for words of one's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bayesbias.core.errors import InputError
from bayesbias.wordlists.listfile import load_wordlist
from bayesbias.wordlists.sentence_tests import (
    SETS,
    _plural_of,
    article_of,
    list_tests,
    published_kinds,
    read_test,
    sentence_test,
    write_test,
)

SCRIPTS = {
    f"heilman_double_bind_{of}_{which}"
    for of in ("competent", "likable")
    for which in ("1", "1-", "1+3-")
}
# Full size of the target sets that the authors cut: words of each kind times its templates.
CUT = {
    ("sent-weat2", "targ1"): 25 * 14,
    ("sent-weat7", "targ2"): 3 * 4 + 5 * 14,
    ("sent-weat7b", "targ2"): 3 * 4 + 5 * 14,
    ("sent-weat8", "targ2"): 3 * 4 + 8 + 4 * 14,
    ("sent-weat8b", "targ2"): 3 * 4 + 8 + 4 * 14,
    ("sent-weat9", "targ2"): 3 + 5 * 14,
}


def published(shared: Path) -> dict[str, Path]:
    return {path.stem: path for path in (shared / "data" / "sent_bias_tests").glob("*.jsonl")}


def parts(path: Path) -> dict[str, list[str]]:
    data = json.loads(path.read_text(encoding="utf-8"))
    return {name: data[name]["examples"] for name in data}


# -- against the published tests ------------------------------------------------------------------


@pytest.mark.slow
def test_all_published_tests_are_made_again_to_the_byte(shared, tmp_path):
    """W4ngatang/sent-bias, tests/*.jsonl, as far as they lie beside the checkout."""
    files = published(shared)
    assert len(files) >= 40
    made = set(list_tests())
    for name, path in files.items():
        test = sentence_test(name, published_cut=True) if name in made else read_test(path)
        written = write_test(test, tmp_path / path.name)
        # weat5 alone ends with a line end.
        assert written.read_bytes() == path.read_bytes().rstrip(b"\n"), name
    assert set(files) - made == SCRIPTS


@pytest.mark.slow
def test_a_published_test_read_from_its_file_knows_its_words_and_templates(shared):
    for name, path in published(shared).items():
        if name not in SCRIPTS:
            again, made = read_test(path), sentence_test(name, published_cut=True)
            assert again.frame.equals(made.frame), name
            assert again.sha256 == made.sha256
            assert again.categories == made.categories


@pytest.mark.slow
def test_only_the_six_cut_sets_differ_and_only_by_what_was_dropped(shared):
    reference = json.loads((shared / "reference" / "wordlists.json").read_text(encoding="utf-8"))
    dropped = {}
    for name in list_tests():
        full, cut = sentence_test(name), sentence_test(name, published_cut=True)
        for which in SETS:
            kept = cut.sentences(which)
            gone = [s for s in full.sentences(which) if s not in kept]
            assert [s for s in full.sentences(which) if s not in gone] == kept
            if gone:
                dropped[f"{name.removeprefix('sent-')}/{which}"] = gone
                assert len(full.sentences(which)) == CUT[name, which]
        assert cut.sizes["targ1"] == cut.sizes["targ2"], name
    published_drops = reference["seat"]["randomly_dropped"]
    assert set(dropped) == set(published_drops)
    for key, gone in dropped.items():
        assert sorted(gone) == sorted(published_drops[key]), key


def test_forms_and_kinds_of_all_published_words_follow_the_rules(shared):
    reference = json.loads((shared / "reference" / "wordlists.json").read_text(encoding="utf-8"))[
        "seat"
    ]
    ours = {"person_name": "name", "mass_noun": "mass"}
    assert set(published_kinds()) == set(reference["lexicon"])
    for word, entry in reference["lexicon"].items():
        kind, forms = published_kinds()[word]
        if entry["pos"] != "count_noun":
            assert kind == ours.get(entry["pos"], entry["pos"]), word
            continue
        assert kind == ("person" if entry["person"] else "thing"), word
        singular = forms.get("singular", word)
        assert singular == entry["singular"]
        assert forms.get("plural", _plural_of(singular)) == entry["plural"]
        assert article_of(singular) == entry["article"]


# -- what a test holds ----------------------------------------------------------------------------


def test_every_sentence_keeps_its_set_word_and_template():
    frame = sentence_test("sent-weat6b").frame
    assert frame.columns.tolist() == ["set", "category", "word", "template", "sentence"]
    assert frame["set"].cat.categories.tolist() == list(SETS)
    assert not frame.isna().to_numpy().any()
    words = load_wordlist("weat6b")
    made = frame[frame["set"] == "targ1"]
    assert list(dict.fromkeys(made["word"])) == list(words.classes[0].protected)
    # Sizes by hand: male, man, boy, brother, son are persons with 13; he 5, him 3, his 7.
    assert made.groupby("word", sort=False).size().to_dict() == {
        "male": 13, "man": 13, "boy": 13, "brother": 13, "he": 5, "him": 3, "his": 7, "son": 13,
    }  # fmt: skip
    assert made[made["word"] == "man"]["sentence"].tolist() == [
        "This is a man.", "That is a man.", "There is a man.", "Here is a man.", "The man is here.",
        "The man is there.", "A man is a person.", "These are men.", "Those are men.", "They are men.",
        "The men are here.", "The men are there.", "Men are people.",
    ]  # fmt: skip
    children = frame[frame["word"] == "children"]["sentence"].tolist()
    assert children[0] == "This is a child."
    assert children[-1] == "Children are things."


def test_a_word_list_stands_for_its_published_test():
    for source in (
        "double_bind_competent",
        Path("double_bind_competent"),
        load_wordlist("double_bind_competent"),
    ):
        assert sentence_test(source).name == "heilman_double_bind_competent_one_word"
        test = sentence_test(source, level="sentence")
        assert test.name == "sent-heilman_double_bind_competent_one_word"
        assert test.sizes == {"targ1": 64, "targ2": 64, "attr1": 30, "attr2": 30}
        test = sentence_test(source, level="unbleached")
        assert test.name == "heilman_double_bind_competent_one_sentence"
        assert set(test.frame["template"]) == {"{word} is an engineer.", "The engineer is {word}."}


# -- words of one's own ----------------------------------------------------------------------------

OWN = {
    "nurses": {"protected": ["nurse", "he"], "attributes": ["warm", "kind"]},
    "cooks": {"protected": ["cook", "she"], "attributes": ["Zen", "knife"]},
}
KINDS = {
    "person": ["nurse", {"word": "cook", "article": "an", "plural": "cookes"}],
    "adjective": ["warm"],
    "name": ("Zen",),
}


def test_an_own_list_needs_only_the_kinds_that_are_not_published():
    test = sentence_test(OWN, level="sentence", kinds=KINDS)
    assert test.categories == {
        "targ1": "nurses",
        "targ2": "cooks",
        "attr1": "nurses",
        "attr2": "cooks",
    }
    assert test.sizes == {"targ1": 13 + 5, "targ2": 13 + 5, "attr1": 6, "attr2": 8 + 14}
    assert test.sentences("targ2")[0] == "This is an cook."
    assert "Cookes are people." in test.sentences("targ2")
    assert test.sentences("targ1")[13:15] == ["He is here.", "He is there."]


def test_kinds_stand_in_the_list_in_a_file_or_in_the_argument(tmp_path):
    table = '[kinds]\nperson = ["nurse", {word = "cook", article = "an", plural = "cookes"}]\nname = ["Zen"]\n'
    rest = "".join(
        f'[[class]]\nname = "{name}"\nprotected = {c["protected"]}\nattributes = {c["attributes"]}\n'
        for name, c in OWN.items()
    )
    (tmp_path / "mine.toml").write_text(
        f'schema = 1\ncontrols = "beside.toml"\n{table}adjective = ["warm"]\n{rest}'
    )
    (tmp_path / "kinds.toml").write_text(f'{table}adjective = ["warm"]\n')
    by_list = sentence_test(tmp_path / "mine.toml", level="sentence")
    by_file = sentence_test(OWN, level="sentence", kinds=tmp_path / "kinds.toml")
    by_argument = sentence_test(OWN, level="sentence", kinds=KINDS)
    assert by_list.name == "sent-mine"
    assert by_list.origin == str(tmp_path / "mine.toml")
    assert by_list.frame.equals(by_argument.frame)
    assert by_file.frame.equals(by_argument.frame)
    # What is said in the call comes before the list.
    changed = sentence_test(tmp_path / "mine.toml", level="sentence", kinds={"adjective": ["Zen"]})
    assert changed.sizes["attr2"] == 3 + 14
    mapping = {"class": [{"name": n, **c} for n, c in OWN.items()], "kinds": KINDS}
    assert sentence_test(mapping, level="sentence").frame.equals(by_argument.frame)
    assert "kinds" in mapping


def test_an_own_list_in_one_sentence():
    test = sentence_test(
        OWN, level="unbleached", templates=("Here comes a {word}.", "{word} it is.")
    )
    assert test.name == "custom_one_sentence"
    assert test.sentences("targ1") == ["Here comes a nurse.", "Here comes a he."]
    assert test.sentences("attr1") == ["Warm it is.", "Kind it is."]
    assert test.frame["word"].tolist()[-1] == "knife"


def test_a_published_test_with_other_words_is_not_called_published():
    mended = sentence_test("sent-weat2", kinds={"thing": ["whip", "drill"]})
    assert mended.name == "sent-weat2"
    mended = sentence_test("sent-weat2", kinds={"thing": ["knife"]})
    assert mended.name == "sent-weat2-own"
    assert "Knives are things." in mended.sentences("targ2")
    name = "heilman_double_bind_likable_one_sentence"
    assert (
        sentence_test(name, templates=("{word} cooks.", "Cooks are {word}.")).name == f"{name}-own"
    )


@pytest.mark.parametrize(
    ("singular", "article", "plural"),
    [
        ("fox", "a", "foxes"),
        ("hour", "an", "hours"),
        ("university", "a", "universities"),
        ("wife", "a", "wives"),
        ("sheep", "a", "sheep"),
        ("species", "a", "species"),
        ("child of divorce", "a", "children of divorce"),
    ],
)
def test_articles_and_plurals(singular, article, plural):
    assert (article_of(singular), _plural_of(singular)) == (article, plural)


# -- what cannot be used ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sent-weat11",), r"test: expected .*'sent-weat11'.*Did you mean 'sent-weat1"),
        (("weat6", "sentences"), r"level: expected word.*'sentences'.*Did you mean 'sentence'"),
        (("sent-weat6", "word"), "expected the level of .*sentence, got 'word'"),
        (("religion", "word"), "two classes.*'judaism', 'christianity', 'islam'"),
    ],
)
def test_an_unknown_test_or_level_is_named(arguments, message):
    with pytest.raises(InputError, match=message):
        sentence_test(arguments[0], level=arguments[1] if len(arguments) > 1 else None)


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        (None, r"the kind of each word, got none of 'nurse', 'cook', 'warm', 'Zen'.*\[kinds\]"),
        ({"persons": ["nurse"]}, "kind: expected .*'persons'.*Did you mean 'person'"),
    ],
)
def test_a_kind_is_never_guessed_and_a_wrong_one_named(kinds, message):
    with pytest.raises(InputError, match=message):
        sentence_test(OWN, level="sentence", kinds=kinds)


# -- files -----------------------------------------------------------------------------------------


def test_an_own_test_runs_by_path_with_its_words_and_templates(tmp_path):
    own = sentence_test(
        OWN, level="unbleached", templates=("Here comes a {word}.", "{word} it is.")
    )
    plain = sentence_test(write_test(own, tmp_path / "plain.jsonl"))
    assert plain.name == "plain"
    assert plain.frame["sentence"].equals(own.frame["sentence"])
    assert plain.frame["word"].equals(own.frame["sentence"])
    assert set(plain.frame["template"]) == {"{word}"}
    full = sentence_test(str(write_test(own, tmp_path / "full.json", parts=True)))
    assert full.frame.equals(own.frame)
    with pytest.raises(InputError, match="no level, kinds or templates"):
        sentence_test(tmp_path / "plain.jsonl", level="sentence")


def mixed(**changes):
    """Sentences of one's own, of which those of attr1 alone happen to be those of published words."""
    examples = {
        "targ1": ["This is Wilhelmina.", "That is Wilhelmina."],
        "targ2": ["This is Zebedee.", "That is Zebedee."],
        "attr1": ["This is joy.", "This is love."],
        "attr2": ["This is agony.", "This is dreadful."],
    } | changes
    return {
        name: {"category": name, **(part if isinstance(part, dict) else {"examples": part})}
        for name, part in examples.items()
    }


def read_again(data, tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(data))
    return read_test(path)


def test_sets_that_are_compared_are_split_into_words_and_templates_together_or_not_at_all(tmp_path):
    test = read_again(mixed(), tmp_path)
    assert set(test.frame["template"]) == {"{word}"}  # else the template of attr1 would be its list
    assert test.frame["word"].equals(test.frame["sentence"])
    assert test.unstated == ("targets", "attributes")
    test = read_again(mixed(attr2=["This is agony.", "This is awful."]), tmp_path)
    assert test.unstated == ("targets",)
    assert test.frame["word"].tolist()[-4:] == ["joy", "love", "agony", "awful"]
    test = read_again(
        mixed(targ1=["Wilhelmina", "woman of color"], targ2=["Zebedee", "Ann"]), tmp_path
    )
    assert test.unstated == ("attributes",)
    assert sentence_test("sent-weat7").unstated == sentence_test("weat7").unstated == ()


def test_words_are_stated_for_both_sets_that_are_compared(tmp_path):
    def stated(word):
        examples = [f"This is {word}.", f"That is {word}."]
        return {
            "examples": examples,
            "words": [word] * 2,
            "templates": ["This is {word}.", "That is {word}."],
        }

    test = read_again(mixed(targ1=stated("Wilhelmina"), targ2=stated("Zebedee")), tmp_path)
    assert test.unstated == ("attributes",)
    assert test.frame["word"].tolist()[:4] == ["Wilhelmina", "Wilhelmina", "Zebedee", "Zebedee"]
    with pytest.raises(InputError, match="both sets of targets, or for neither"):
        read_again(mixed(targ1=stated("Wilhelmina")), tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"targ1": {"category": "A", "exmaples": []}}, "Did you mean 'examples'"),
        ({"targ1": {"category": "A", "examples": ["One.", 2]}}, "examples, number 2: .*got 2"),
    ],
)
def test_a_file_that_is_not_a_test_is_named_by_key_and_number(change, message, tmp_path):
    path = tmp_path / "bad.jsonl"
    good = {name: {"category": name, "examples": ["One.", "Two."]} for name in SETS}
    path.write_text(json.dumps({**good, **change}))
    with pytest.raises(InputError, match=message):
        read_test(path)
