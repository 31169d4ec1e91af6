"""Control characters in names and texts are refused wherever data come in."""

import json

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.core import InputError, some
from bayesbias.studies.responses.table import responses_table
from bayesbias.sweeps import load_plan
from bayesbias.tables import join_covariates, load_counts

ONE_LINE = "expected one line of visible characters"
NO_CONTROL = "expected text without control characters"
BAD = ("a\0b", "\x1b[31mred\x1b]0;title\x07", "a\x9bb")


def answers(**changed):
    rows = [
        {"group": g, "word": f"{g}{w}", "template": f"t{t}", "item": "i", "model": "m", "outcome": (w + t) % 2}
        for g in "ab" for w in range(3) for t in range(3)
    ]  # fmt: skip
    rows[4] |= changed
    return pd.DataFrame(rows)


def pairs(**changed):
    frame = pd.DataFrame(
        {
            "protected_word": ["she", "he", "she", "he"],
            "protected_class": ["women", "men", "women", "men"],
            "attribute": ["nurse", "nurse", "boss", "boss"],
            "attribute_class": ["women", "women", "men", "men"],
            "connection": ["associated", "different", "different", "associated"],
            "distance": [0.7, 0.9, 0.8, 0.6],
            "rater": ["r1", "r1", "r2", "r2"],
        }
    )
    for column, value in changed.items():
        frame.loc[1, column] = value
    return frame


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", ""])
@pytest.mark.parametrize("column", ["group", "model", "word", "template", "item"])
def test_answers(tmp_path, column, ending, bad):
    frame = answers(**{column: bad})
    path = tmp_path / f"answers.{ending}"
    if ending == "csv":
        frame.to_csv(path, index=False)
    elif ending == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif ending == "parquet":
        frame.to_parquet(path)
    expected = ONE_LINE if column in ("group", "model") else NO_CONTROL
    with pytest.raises(InputError, match=f"column {column}: {expected}") as error:
        responses_table(path if ending else frame)
    assert str(error.value).isprintable()


def test_prompts_keep_their_newlines_and_tabs():
    prompt = "Who was it?\n\tAnswer:"
    table = responses_table(answers(template=prompt))
    assert prompt in set(table.frame["template"])


def test_newlines_of_a_text_are_codes_in_a_cell():
    column = bb.core.sections.Column("item", "item")
    assert column.cells(pd.DataFrame({"item": ["  two\nlines", "\x1b[2J"]})) == [r"  two\nlines", r"\x1b[2J"]  # fmt: skip


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("ending", ["csv", "parquet", ""])
@pytest.mark.parametrize(
    "column", ["protected_word", "protected_class", "attribute", "attribute_class", "rater"]
)
def test_tables_of_pairs(tmp_path, column, ending, bad):
    frame = pairs(**{column: bad})
    source = tmp_path / f"pairs.{ending}" if ending else frame
    if ending == "csv":
        frame.to_csv(source, index=False)
    elif ending == "parquet":
        frame.to_parquet(source)
    with pytest.raises(InputError, match=f"column {column}: ({ONE_LINE}|{NO_CONTROL})"):
        bb.load_distances(source)
    if not ending:
        with pytest.raises(InputError, match=f"column {column}"):
            bb.fit(frame, draws=20, tune=20)


@pytest.mark.parametrize("bad", BAD)
def test_names_of_columns(bad):
    with pytest.raises(InputError, match=ONE_LINE):
        bb.load_distances(pairs().rename(columns={"rater": bad}))
    with pytest.raises(InputError, match=ONE_LINE):
        responses_table(answers().rename(columns={"group": bad}), group=bad)


@pytest.mark.parametrize("bad", BAD)
def test_predictions(tmp_path, bad):
    made = bb.score_sentences(lambda sentences: [0.6] * len(sentences), name="toy")
    path = tmp_path / "toy.csv"
    made.frame.assign(classifier=bad).to_csv(path, index=False)
    with pytest.raises(InputError, match=f"column classifier: {ONE_LINE}"):
        bb.load_predictions(path)
    made.save(path)
    with pytest.raises(InputError, match=f"name: {ONE_LINE}"):
        bb.load_predictions(path, name=bad)
    with pytest.raises(InputError, match=f"classifier: {ONE_LINE}"):
        bb.score_sentences(lambda sentences: [0.6] * len(sentences), name=bad)
    for column in ("classifier", "noun_pair", "profession", "category"):
        changed = made.frame.assign(**{column: bad})
        with pytest.raises(InputError, match=f"{column}: {ONE_LINE}"):
            bb.sentiment_analysis(changed)


@pytest.mark.parametrize("bad", BAD)
def test_covariates_and_counts(bad):
    table = bb.distance_table("minilm-static", "weat7", controls="none")
    values = {word: float(n) for n, word in enumerate(table.frame["protected_word"].unique())}
    kinds = {word: "odd" if value % 2 else bad for word, value in values.items()}
    for given in ({bad: values}, {"rank": {**values, bad: 3.0}}, {"kind": kinds}):
        with pytest.raises(InputError, match=ONE_LINE):
            join_covariates(table, given)
    with pytest.raises(InputError, match=ONE_LINE):
        load_counts({bad: 3, "rabbi": 4}, ["rabbi"])


@pytest.mark.parametrize("bad", BAD)
def test_sentence_tests(tmp_path, bad):
    path = tmp_path / "test.json"
    made = bb.wordlists.write_test(bb.sentence_test("weat7"), tmp_path / "made.json")
    for key, value in (("category", bad), ("examples", [bad, "math"])):
        data = json.loads(made.read_text())
        data["targ1"][key] = value
        path.write_text(json.dumps(data))
        with pytest.raises(InputError, match=f"targ1, {key}.*{ONE_LINE}|{NO_CONTROL}"):
            bb.sentence_test(str(path))
    with pytest.raises(InputError, match=NO_CONTROL):
        bb.sentence_test("weat7", level="unbleached", templates=(f"{{word}}{bad}", "{word}"))


@pytest.mark.parametrize("bad", BAD)
def test_names_given_in_python(bad):
    table = bb.distance_table("minilm-static", "religion", controls="none")
    for give_name in (
        lambda: bb.load_embedding("minilm-static", ["rabbi"], name=bad),
        lambda: bb.load_encoder("minilm-static", name=bad),
        lambda: bb.compare({bad: table, "other": table}, None),
        lambda: bb.compare(table, {bad: table}),
        lambda: load_plan({"embeddings": [f"{bad}.txt"], "wordlists": ["religion"]}),
    ):
        with pytest.raises(InputError, match=ONE_LINE):
            give_name()


def test_the_name_of_a_file_is_shown_with_codes(tmp_path):
    path = tmp_path / "\x1b[31mred.txt"
    path.write_text("2 2\nrabbi 1 0\npriest 0 1\n")
    assert bb.load_embedding(path).name == r"\x1b[31mred"


def test_words_listed_in_a_message_are_shown_with_codes():
    assert some(["nurse", "\x1b[2J"]) == r"nurse, \x1b[2J"
