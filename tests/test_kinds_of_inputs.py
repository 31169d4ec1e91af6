"""The same content as a file, a frame, a list or a text gives the same table."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb

CLASSES = {
    "men": (["he", "him", "man"], ["career", "salary", "new york"]),
    "women": (["she", "her", "woman"], ["home", "family", "wedding"]),
}
WORDS = [word for pair in CLASSES.values() for words in pair for word in words]
# Four decimals, so that texts hold the numbers exactly.
MATRIX = np.random.default_rng(5).integers(-20_000, 20_000, (len(WORDS), 6)) / 10_000
LISTS = {
    name: {"protected": protected, "attributes": attributes}
    for name, (protected, attributes) in CLASSES.items()
}
ROWS = pd.DataFrame(
    [
        (word, name, kind)
        for name, sets in LISTS.items()
        for kind, words in (("protected", sets["protected"]), ("attribute", sets["attributes"]))
        for word in words
    ],
    columns=["word", "class", "kind"],
)
FRAME = pd.DataFrame(MATRIX, index=WORDS, columns=[f"d{i}" for i in range(6)])
WHOLE = pd.DataFrame({"word": WORDS, "vector": MATRIX.tolist()})


def toml_of_lists() -> str:
    """Return the word list as TOML."""
    tables = []
    for name, sets in LISTS.items():
        lines = [f"{key} = {json.dumps(words)}" for key, words in sets.items()]
        tables.append("\n".join(["[[class]]", f'name = "{name}"', *lines]))
    return "\n".join(['schema = 1\nname = "mini"', *tables])


def expected() -> dict[tuple[str, str], float]:
    """Return the cosine distance of each pair, computed here."""
    unit = MATRIX / np.linalg.norm(MATRIX, axis=1, keepdims=True)
    place = {word: row for row, word in enumerate(WORDS)}
    attributes = [word for sets in LISTS.values() for word in sets["attributes"]]
    protected = [word for sets in LISTS.values() for word in sets["protected"]]
    return {
        (word, other): 1 - float(unit[place[word]] @ unit[place[other]])
        for word in protected
        for other in attributes
    }


def check_table(vectors: Any, words: Any) -> None:
    """Compare the table of vectors and a word list with the distances computed here."""
    table = bb.distance_table(vectors, words, controls="none").frame
    pairs = zip(table["protected_word"], table["attribute"], strict=True)
    distances = dict(zip(pairs, table["distance"], strict=True))
    assert distances == pytest.approx(expected(), abs=1e-12)
    own = table["protected_class"] == table["attribute_class"]
    assert (table["connection"] == "associated").tolist() == own.tolist()


def written(path: Path, content: str) -> Path:
    """Write a text, and return its path."""
    path.write_text(content, encoding="utf-8", newline="")
    return path


VECTORS: dict[str, Callable[[Path], Any]] = {
    "mapping": lambda _: dict(zip(WORDS, MATRIX, strict=True)),
    "arrays of shape (1, d)": lambda _: dict(zip(WORDS, MATRIX[:, None], strict=True)),
    "list of pairs": lambda _: list(zip(WORDS, MATRIX, strict=True)),
    "list of records": lambda _: WHOLE.to_dict("records"),
    "words and matrix": lambda _: (WORDS, MATRIX),
    "frame": lambda _: FRAME,
    "Float64": lambda _: FRAME.astype("Float64"),
    "pyarrow columns": lambda _: FRAME.astype("double[pyarrow]"),
    "objects": lambda _: FRAME.astype(object),
    "numbers as text": lambda _: FRAME.map(str),
    "column of lists": lambda _: WHOLE,
    "column of arrays (1, d)": lambda _: WHOLE.assign(vector=list(MATRIX[:, None])),
    "column of text": lambda _: WHOLE.assign(vector=WHOLE["vector"].map(str)),
    "text as of numpy": lambda _: WHOLE.assign(vector=[repr(row) for row in MATRIX]),
    "text as of torch": lambda _: WHOLE.assign(
        vector=[f"tensor({row.tolist()}, device='cuda:0')" for row in MATRIX]
    ),
    "series": lambda _: pd.Series(list(MATRIX), index=WORDS),
    "Arrow table": lambda _: __import__("pyarrow").Table.from_pandas(WHOLE),
    "CSV": lambda folder: written(folder / "v.csv", FRAME.to_csv()),
    "CSV of Excel": lambda folder: written(folder / "v.csv", "sep=,\r\n" + FRAME.to_csv()),
    "TSV": lambda folder: written(folder / "v.tsv", FRAME.to_csv(sep="\t")),
    "CSV of lists": lambda folder: written(folder / "v.csv", WHOLE.to_csv(index=False)),
    "CSV of tensors": lambda folder: written(
        folder / "v.csv",
        WHOLE.assign(vector=[f"tensor({row.tolist()})" for row in MATRIX]).to_csv(index=False),
    ),
    "JSON": lambda folder: written(
        folder / "v.json", json.dumps(dict(zip(WORDS, MATRIX.tolist(), strict=True)))
    ),
    "JSON lines": lambda folder: written(
        folder / "v.jsonl", WHOLE.to_json(orient="records", lines=True)
    ),
    "Chroma": lambda folder: written(
        folder / "v.json",
        json.dumps(
            {
                "ids": [str(i) for i in range(len(WORDS))],
                "documents": WORDS,
                "embeddings": MATRIX.tolist(),
                "metadatas": None,
                "included": ["documents", "embeddings"],
            }
        ),
    ),
    "batch of OpenAI": lambda folder: written(
        folder / "v.jsonl",
        "\n".join(
            json.dumps(
                {
                    "custom_id": word,
                    "response": {"body": {"data": [{"index": 0, "embedding": row}]}},
                }
            )
            for word, row in zip(WORDS, MATRIX.tolist(), strict=True)
        ),
    ),
    "no-break spaces": lambda _: {
        word.replace(" ", "\N{NO-BREAK SPACE}"): row
        for word, row in zip(WORDS, MATRIX, strict=True)
    },
    "file with no-break spaces": lambda folder: written(
        folder / "v.vec",
        "\n".join(
            " ".join([word.replace(" ", "\N{NO-BREAK SPACE}"), *map(str, row)])
            for word, row in zip(WORDS, MATRIX.tolist(), strict=True)
        ),
    ),
}
LISTS_OF_WORDS: dict[str, Callable[[Path], Any]] = {
    "mapping": lambda _: LISTS,
    "frame": lambda _: ROWS,
    "categories": lambda _: ROWS.astype("category"),
    "Arrow table": lambda _: __import__("pyarrow").Table.from_pandas(ROWS),
    "text of JSON": lambda _: json.dumps(LISTS),
    "text of TOML": lambda _: toml_of_lists(),
    "JSON": lambda folder: written(folder / "w.json", json.dumps(LISTS)),
    "TOML": lambda folder: written(folder / "w.toml", toml_of_lists()),
    "CSV": lambda folder: written(folder / "w.csv", ROWS.to_csv(index=False)),
    "CSV of Excel": lambda folder: written(
        folder / "w.csv", "sep=;\r\n" + ROWS.to_csv(index=False, sep=";")
    ),
    "TSV": lambda folder: written(folder / "w.tsv", ROWS.to_csv(index=False, sep="\t")),
    "no-break spaces": lambda _: ROWS.assign(
        word=ROWS["word"].str.replace(" ", "\N{NO-BREAK SPACE}")
    ),
    "TOML with no-break spaces": lambda folder: written(
        folder / "w.toml", toml_of_lists().replace("new york", "new\N{NO-BREAK SPACE}york")
    ),
}


@pytest.mark.parametrize("kind", VECTORS)
def test_vectors_of_any_kind_give_one_table(kind, tmp_path):
    check_table(VECTORS[kind](tmp_path), LISTS)


@pytest.mark.parametrize("kind", LISTS_OF_WORDS)
def test_word_lists_of_any_kind_give_one_table(kind, tmp_path):
    check_table(dict(zip(WORDS, MATRIX, strict=True)), LISTS_OF_WORDS[kind](tmp_path))


@pytest.mark.parametrize("lazy", [False, True])
def test_frames_of_polars_give_one_table(lazy):
    polars = pytest.importorskip("polars")
    vectors = polars.DataFrame({"word": WORDS, "vector": MATRIX.tolist()})
    columns = {"word": WORDS, **{f"d{i}": MATRIX[:, i] for i in range(6)}}
    dimensions = polars.DataFrame(columns)
    listed = polars.DataFrame(ROWS.to_dict("list"))
    frames = [vectors, dimensions, listed]
    if lazy:
        frames = [frame.lazy() for frame in frames]
    check_table(frames[0], frames[2])
    check_table(frames[1], LISTS)
    table = bb.distance_table(dict(zip(WORDS, MATRIX, strict=True)), LISTS).frame
    pairs = polars.DataFrame(table.to_dict("list"))
    back = bb.load_distances(pairs.lazy() if lazy else pairs).frame
    assert back["distance"].tolist() == table["distance"].tolist()


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        ({"he": np.ones((2, 3))}, r"key 'he': expected a vector, got 'shape \(2, 3\)'\.$"),
        (FRAME.astype(object).assign(d1="far"), "got 'd1'"),
        (WHOLE.assign(vector="[0.1 0.2 ... 0.3]"), r"'\[0.1 0.2 ... 0.3\] ...', shortened by"),
        ([("he", [1.0, 2.0]), ("she", ["x", "y"])], "word 'she': expected numbers"),
        ([1, 2], "got a list"),
    ],
)
def test_objects_that_hold_no_vectors_are_refused(vectors, said):
    with pytest.raises(bb.InputError, match=said):
        bb.load_embedding(vectors, ["he"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"men": ', "the text: expected JSON"),
        ("name = [\n", "the text: expected TOML"),
        ('[["woman", "man"], ["girl", "boy"]]', "got sets of words.*--definitional-sets FILE"),
        (pd.DataFrame({"word": ["he"]}), "data frame: expected the columns word, class and kind"),
        (ROWS.replace("protected", "target words"), r"data frame, row \d+, kind: expected"),
    ],
)
def test_texts_and_frames_that_are_no_word_list(text, said):
    with pytest.raises(bb.InputError, match=said):
        bb.load_wordlist(text)


@pytest.mark.parametrize("kind", ["sentence", "text"])
def test_a_column_of_sentences_is_the_item_in_python_too(tmp_path, kind):
    answers = pd.DataFrame(
        {"group": ["a", "b"] * 2, kind: ["A.", "B.", "C.", "D."], "outcome": [0.1, 0.2, 0.3, 0.4]}
    )
    table = bb.responses_table(answers)
    answers.to_csv(tmp_path / "answers.csv", index=False)
    from_file = bb.responses_table(tmp_path / "answers.csv")
    pd.testing.assert_frame_equal(table.frame, from_file.frame)
    assert table.frame["item"].tolist() == ["A.", "B.", "C.", "D."]
    assert f"The items are the texts of the column {kind}." in table.notes
