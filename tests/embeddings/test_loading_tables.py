"""Vectors as CSV and TSV: what pandas, R and spreadsheets write is read, and what is no such table says what to do."""

from __future__ import annotations

import csv
import gzip

import numpy as np
import pandas as pd
import pytest

from bayesbias.core.errors import InputError
from bayesbias.embeddings.loading import load_embedding

WORDS = ["rabbi", "priest, father", 'the "imam"', "naïve", "日本", "0.5", "NA"]
VECTORS = np.round(np.random.default_rng(3).normal(size=(len(WORDS), 5)), 6)
FRAME = pd.DataFrame(VECTORS, columns=[f"d{i}" for i in range(1, 6)])


@pytest.mark.parametrize(
    ("ending", "options"),
    [(".csv", {}), (".tsv", {"sep": "\t"}), (".csv", {"sep": ";"}), (".csv", {"quoting": csv.QUOTE_ALL}),
     (".txt", {}), (".csv", {"lineterminator": "\r\n"}), (".csv", {"encoding": "utf-8-sig"})],
)  # fmt: skip
@pytest.mark.parametrize("form", ["column", "index", "numbered"])
def test_what_pandas_writes(ending, options, form, tmp_path):
    path = tmp_path / f"vectors{ending}"
    frame = FRAME.set_axis(range(5), axis=1) if form == "numbered" else FRAME
    if form == "column":
        frame.assign(word=WORDS)[["word", *frame.columns]].to_csv(path, index=False, **options)
    else:
        frame.set_axis(WORDS).to_csv(path, **options)
    found = load_embedding(path)
    assert found.words == tuple(WORDS)
    np.testing.assert_array_equal(found.vectors, VECTORS)
    some = load_embedding(path, ["日本", "absent", "rabbi"])
    assert (some.words, some.missing) == (("日本", "rabbi"), ("absent",))
    assert some.provenance["count"] == len(WORDS)
    packed = tmp_path / f"packed{ending}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert load_embedding(packed).words == found.words


@pytest.mark.parametrize(("mark", "ending"), [(",", ".csv"), ("\t", ".tsv")])
def test_blanks_other_than_those_of_a_keyboard_are_words(mark, ending, tmp_path):
    """Crawled text has such tokens; other formats take them, too."""
    path = tmp_path / f"v{ending}"
    rows = [("word", "d1", "d2"), ("the", "1", "2"), ("\u3000", "3", "4"), ("\u00a0", "5", "6")]
    path.write_text("".join(f"{mark.join(row)}\n" for row in rows), encoding="utf-8")
    assert load_embedding(path, ["the"]).words == ("the",)
    assert load_embedding(path).words == ("the", "\u3000", "\u00a0")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"word,a,b\nx,1,2\ny,1\n", "line 3: wrong number of cells; found: 2; valid: 3, as in the header"),
        (b"word,a,b\nx,1,2\ny,1,z\n", "line 3: is not a number; found: 'z'"),
        (b"word,a,b\nx,1,2\ny,1,1_0\n", "line 3: is not a number; found: '1_0'"),
        (b"word;a;b\nx;1;2\ny;1,5;2\n", "line 3: is not a number; found: '1,5'.*decimal comma"),
        (b"word,a,b\nx,1,2\n,1,2\n", "line 3: the word is missing"),
        (b"word,a,b\nx,1,2\n  ,1,2\n", "line 3: the word is missing"),
        (b"word,a,b\nx,1,2\nx,3,4\n", "'x' stands .*twice; found: 'lines 2 and 3'"),
        (b"word,a,b\nx,1,2\ny,1,nan\n", "line 3: the vector of 'y' holds NaN"),
        (b'word,a,b\nx,1,2\n"y,1,2\n', "is not a table .*quotation mark"),
        (b"word,a,b\nx,1,2\n\xff,1,2\n", "line 3: the word is not valid UTF-8"),
        (
            b"word,count,0,1\nx,1,2,3\n",
            "column 'count' is no dimension beside 0 to 1; drop 'count' from the file",
        ),
        (b"Token\td1\td2\trank\nx\t1\t2\t3\n", "column 'rank' is no dimension beside d1 to d2"),
        (b"word,5,7\nx,1,2\n", "found: 'word,5,7'; valid: a table"),
        (b"word,a,b\nx,1,two\n", "not a format of word vectors known here.*header is word, d1, d2"),
        (b"word,freq,vector\nx,1,[1 2]\n", "not a format of word vectors known here.*header is word, d1, d2"),
    ],
)
def test_what_is_no_such_table_says_why(text, said, tmp_path):
    path = tmp_path / "v.csv"
    path.write_bytes(text)
    with pytest.raises(InputError, match=said) as caught:
        load_embedding(path)
    assert str(path) in str(caught.value)


def test_glove_text_that_begins_with_a_comma_is_no_table(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text(", 0.5\nthe 0.25\n")
    found = load_embedding(path)
    assert (found.words, found.provenance["format"]) == ((",", "the"), "GloVe text")


@pytest.mark.parametrize(
    "content", [b"word\r\r,\n", b"word\r\r,\nx,1\n", b"\r>, 6\n\x8e\xca ]", b"\r\r,\nword,1\n"]
)
def test_lone_carriage_returns_make_no_table(content, tmp_path):
    """A guided fuzzer came to them: a division by zero, and a list that was empty."""
    for name in ("v.csv", "v.bin", "v.txt"):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError):
            load_embedding(tmp_path / name)
