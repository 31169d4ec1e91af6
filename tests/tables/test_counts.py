"""Counts of words from a file, from the order of vectors, and from wordfreq."""

from __future__ import annotations

import gzip
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from helpers.vector_files import text_file

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.tables.counts import load_counts
from bayesbias.tables.covariates import join_covariates

WORDS = ["rabbi", "Mosque", "new york", "absent"]


def test_counts_of_tables_and_lines_are_the_same(tmp_path):
    forms = {
        "a.csv": "word,count\nrabbi,100\nmosque,10\nNew_York,1000\nother,\n",
        "b.tsv": "word\tyear\tcount\nrabbi\t1990\t100\nmosque\t1990\t10\nNew_York\t1990\t1000\n",
        "c.txt": "the 5000\nrabbi 100\nmosque 10.0\nNew_York 1e3\n\n",
        "d.txt": "word count\nthe\t5000\nrabbi\t100\nmosque\t10\nNew York\t1000\n",
    }
    for name, text in forms.items():
        path = tmp_path / name
        path.write_text(text)
        found = load_counts(path, WORDS)
        assert found.log_frequency == {"rabbi": 2.0, "Mosque": 1.0, "new york": 3.0}, name
        assert (found.missing, found.kind) == (("absent",), "counts")
        assert found.matched["Mosque"] == "mosque"
        assert found.origin == f"counts of {name}"
    packed = tmp_path / "e.txt.gz"
    packed.write_bytes(gzip.compress(forms["c.txt"].encode()))
    assert load_counts(packed, WORDS).log_frequency["rabbi"] == 2.0


def test_mappings_frames_and_counts_themselves():
    plain = load_counts({"rabbi": 100, "mosque": 0}, ["rabbi", "mosque"])
    assert (plain.log_frequency, plain.missing) == (
        {"rabbi": 2.0},
        ("mosque",),
    )  # a count of zero is none
    frame = pd.DataFrame({"word": ["rabbi", "imam"], "n": [100, 10]})
    assert load_counts(frame, ["imam"]).log_frequency == {"imam": 1.0}
    again = load_counts(plain, ["rabbi", "imam"])
    assert (again.log_frequency, again.missing) == ({"rabbi": 2.0}, ("imam",))


def test_counts_are_a_covariate_of_both_sides():
    table = bb.distance_table("minilm-static", "weat7", controls="none")
    words = [*table.frame["protected_word"].unique(), *table.frame["attribute"].unique()]
    counts = load_counts({word: 10.0 ** len(word) for word in words}, words)
    joined = join_covariates(
        table, {"log_frequency": dict(counts.log_frequency)}, side="both", scale="none"
    )
    assert (joined.frame["attribute_log_frequency"] == joined.frame["attribute"].str.len()).all()


def test_an_order_is_minus_the_logarithm_of_the_rank(tmp_path):
    path = text_file(tmp_path / "v.txt", [("the", [1.0, 0.0]), ("rabbi", [0.5, 1.0])])
    found = load_counts("order", ["rabbi", "the", "imam"], embedding=path)
    assert found.log_frequency == pytest.approx({"rabbi": -np.log10(2), "the": 0.0})
    assert (found.kind, found.missing, found.origin) == (
        "order",
        ("imam",),
        "the order of words in v.txt",
    )


def test_wordfreq_is_asked_word_by_word(monkeypatch):
    zipf = {"rabbi": 3.69, "european american": 4.0}
    monkeypatch.setitem(
        sys.modules,
        "wordfreq",
        SimpleNamespace(
            zipf_frequency=lambda word, language: zipf.get(word, 0.0),
            available_languages=lambda _: {"en": "", "de": ""},
        ),
    )
    monkeypatch.setattr("bayesbias.core.packages.versions_of", lambda name: {name: "3.1.1"})
    found = load_counts("wordfreq", ["rabbi", "european_american", "xq"])
    assert found.log_frequency == {"rabbi": 3.69, "european_american": 4.0}
    assert (found.missing, found.source, found.sha256) == (("xq",), "en", "3.1.1")
    with pytest.raises(InputError, match="language: expected de or en"):
        load_counts("wordfreq", ["rabbi"], language="xx")


def test_the_real_wordfreq():
    pytest.importorskip("wordfreq", reason="needs wordfreq, of the extra frequency")
    found = load_counts("wordfreq", ["the", "rabbi", "xqzzt"])
    assert found.log_frequency["the"] - found.log_frequency["rabbi"] > 3
    assert found.missing == ("xqzzt",)


def test_published_counts_agree_with_a_published_order(shared):
    """COHA's 1990s counts and the order of GloVe 6B vectors are about the same English."""
    counts = shared / "data/facts/word_counts_coha_1990.txt.gz"
    vectors = shared / "data/vectors/glove6B_top2441_50d.txt"
    words = [
        "the",
        "government",
        "people",
        "woman",
        "church",
        "doctor",
        "water",
        "family",
        "music",
        "percent",
        "league",
    ]
    one, two = load_counts(counts, words), load_counts("order", words, embedding=vectors)
    common = [word for word in words if word in one.log_frequency and word in two.log_frequency]
    assert len(common) > 7
    x, y = ([each.log_frequency[word] for word in common] for each in (one, two))
    assert np.corrcoef(x, y)[0, 1] > 0.8


@pytest.mark.parametrize("first", ["rabbi 10", "word count\nrabbi 10"])
def test_a_byte_order_mark_and_another_spelling_of_a_letter_lose_no_word(tmp_path, first):
    path = tmp_path / "c.txt"
    path.write_bytes(f"\ufeff{first}\nK\u00f6nig 20\nCafe\u0301 30\n".encode())
    assert set(load_counts(path, ["rabbi", "König", "Café"]).log_frequency) == {
        "rabbi",
        "König",
        "Café",
    }
