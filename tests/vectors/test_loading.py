"""Readers of vectors, held to gensim; spellings; bad input; the shipped embedding."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import pickle
import struct
import subprocess
import sys
import tomllib
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from bayesbias.basics.errors import InputError
from bayesbias.basics.files import data_dir
from bayesbias.vectors import file_index
from bayesbias.vectors.embedding import Embedding
from bayesbias.vectors.loading import load_embedding
from bayesbias.vectors.spelling import CASES, SEPARATORS
from bayesbias.vectors.static import shipped_embeddings, static_vectors
from bayesbias.vectors.writing import save_word2vec

WORDS = ["rabbi", "priest", "imam", "naïve", "New_York", "日本"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BAYESBIAS_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def vectors():
    return np.random.default_rng(1).standard_normal((len(WORDS), 7)).astype(np.float32)


@pytest.fixture
def keyed(vectors):
    gensim = pytest.importorskip("gensim.models")
    out = gensim.KeyedVectors(vector_size=7)
    out.add_vectors(WORDS, vectors)
    return out


def text_file(path, rows, header=True, end="\n"):
    lines = [f"{len(rows)} {len(rows[0][1])}"] if header else []
    lines += [f"{word} {' '.join(map(str, numbers))}" for word, numbers in rows]
    path.write_bytes((end.join(lines) + end).encode())
    return path


def binary_file(path, words, vectors, count=None, newline=b""):
    parts = [b"%d %d\n" % (count or len(words), vectors.shape[1])]
    for word, row in zip(words, vectors, strict=True):
        raw = word if isinstance(word, bytes) else word.encode()
        parts.append(raw + b" " + row.astype("<f4").tobytes() + newline)
    path.write_bytes(b"".join(parts))
    return path


# --- formats, against gensim ------------------------------------------------------------------------


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_reads_what_gensim_writes(tmp_path, keyed, vectors, binary, suffix):
    path = tmp_path / f"made.vec{suffix}"
    keyed.save_word2vec_format(str(path), binary=binary)
    e = load_embedding(path, [*reversed(WORDS), "absent"])
    assert e.words == tuple(reversed(WORDS))
    assert e.missing == ("absent",)
    assert np.array_equal(e.vectors.astype(np.float32), vectors[::-1])
    assert e.provenance["format"] == f"word2vec {'binary' if binary else 'text'}" + (
        ", gzipped" if suffix else ""
    )
    assert e.provenance["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (e.provenance["dim"], e.provenance["count"], e.name) == (7, 6, "made")
    everything = load_embedding(path)
    assert everything.words == tuple(WORDS)
    assert np.array_equal(everything.vectors.astype(np.float32), vectors)


def test_the_suffix_does_not_matter(tmp_path, keyed, vectors):
    path = tmp_path / "vectors.txt"
    keyed.save_word2vec_format(str(path), binary=True)
    assert np.array_equal(load_embedding(path, ["imam"]).vectors[0], vectors[2])


def test_binary_with_newlines_as_word2vec_c_writes_them(tmp_path, vectors):
    path = binary_file(tmp_path / "c.bin", WORDS, vectors, newline=b"\n")
    assert np.array_equal(load_embedding(path, WORDS).vectors, vectors)
    assert np.array_equal(load_embedding(path).vectors, vectors)


def test_binary_over_many_blocks(tmp_path, monkeypatch):
    from bayesbias.vectors.readers import binary as binary_room, rows as rows_room, text as text_room

    monkeypatch.setattr(binary_room, "_BLOCK", 1024)
    for room in (rows_room, binary_room, text_room):
        monkeypatch.setattr(room, "CHUNK_BYTES", 3000)
    rng = np.random.default_rng(2)
    words = [f"w{'x' * int(n)}{i}" for i, n in enumerate(rng.integers(0, 40, 3000))]
    table = rng.standard_normal((3000, 11)).astype(np.float32)
    wanted = [words[i] for i in (0, 1, 77, 1500, 2998, 2999)]
    path = binary_file(tmp_path / "many.bin", words, table, newline=b"\n")
    packed = tmp_path / "many.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    for file in (path, packed):
        assert np.array_equal(load_embedding(file, wanted).vectors, table[[0, 1, 77, 1500, 2998, 2999]])
        assert np.array_equal(load_embedding(file).vectors, table)
    plain = text_file(tmp_path / "many.txt", [(w, v.tolist()) for w, v in zip(words, table, strict=True)])
    assert np.array_equal(load_embedding(plain, wanted).vectors, table[[0, 1, 77, 1500, 2998, 2999]])
    assert np.array_equal(load_embedding(plain).vectors, table)


def test_text_dialects_give_the_same_numbers(tmp_path):
    rows = [("rabbi", [0.1, -2.0, 3e-5]), ("imam", [1.0, 0.25, 7.0])]
    expected = [[0.1, -2.0, 3e-5], [1.0, 0.25, 7.0]]
    plain = text_file(tmp_path / "a.txt", rows)
    variants = {
        "windows": plain.read_bytes().replace(b"\n", b"\r\n"),
        "trailing blank": plain.read_bytes().replace(b"\n", b" \n").replace(b"2 3 \n", b"2 3\n", 1),
        "tabs": plain.read_bytes().replace(b" ", b"\t"),
        "no last newline": plain.read_bytes().rstrip(b"\n"),
        "blank lines at the end": plain.read_bytes() + b"\n\n",
        "byte order mark": b"\xef\xbb\xbf" + plain.read_bytes(),
        "no header": plain.read_bytes().partition(b"\n")[2],
    }
    for name, content in variants.items():
        path = tmp_path / f"{name}.txt"
        path.write_bytes(content)
        e = load_embedding(path, ["rabbi", "imam"])
        assert e.vectors.dtype == np.float64
        assert np.array_equal(e.vectors, expected), name


def test_glove_tokens_with_blanks_are_split_from_the_right(tmp_path):
    rows = [
        ("the", [1.5, 2.5]),
        (". . .", [3.5, 4.5]),
        ("at name@domain.com", [5.5, 6.5]),
        ("new york", [7.5, 8.5]),
    ]
    path = text_file(tmp_path / "glove.txt", rows, header=False)
    e = load_embedding(path, ["the", ". . .", "at name@domain.com", "New_York"])
    assert e.provenance["format"] == "GloVe text"
    assert e.vectors.tolist() == [[1.5, 2.5], [3.5, 4.5], [5.5, 6.5], [7.5, 8.5]]
    assert e.matched == {"New_York": "new york"}


@pytest.mark.parametrize(
    ("file", "header", "binary"),
    [
        ("gensim_samples/word2vec_pre_kv_c", True, False),
        ("gensim_samples/lee_fasttext.vec", True, False),
        ("gensim_samples/test_glove.txt", False, False),
        ("gensim_samples/high_precision.kv.bin", True, True),
        ("gensim_samples/high_precision.kv.txt", True, False),
        ("glove6B_top2441_50d.txt", True, False),
        ("googlenews_sweater_256x300.txt", True, False),
    ],
)
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # gensim, without a header
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_published_samples_as_gensim_reads_them(shared, file, header, binary):
    gensim = pytest.importorskip("gensim.models")
    path = shared / "data" / "vectors" / file
    theirs = gensim.KeyedVectors.load_word2vec_format(str(path), binary=binary, no_header=not header)
    some = theirs.index_to_key[:: max(1, len(theirs) // 50)]
    e = load_embedding(path, some)
    assert e.words == tuple(some)
    assert not e.matched
    assert np.array_equal(e.vectors.astype(np.float32), np.stack([theirs[w] for w in some]))
    whole = load_embedding(path)
    assert list(whole.words) == theirs.index_to_key
    assert np.array_equal(whole.vectors.astype(np.float32), theirs.vectors)


def test_a_published_file_with_a_broken_byte(shared):
    gensim = pytest.importorskip("gensim.models")
    path = shared / "data" / "vectors" / "gensim_samples" / "pang_lee_polarity_fasttext.vec"
    with pytest.raises(
        InputError, match=r"line \d+: the word is not valid UTF-8; found: .*on_invalid_utf8='skip'"
    ):
        load_embedding(path, ["film"])
    e = load_embedding(path, ["film", "bad"], on_invalid_utf8="skip")
    theirs = gensim.KeyedVectors.load_word2vec_format(str(path), unicode_errors="replace")
    assert np.array_equal(e.vectors.astype(np.float32), np.stack([theirs["film"], theirs["bad"]]))
    assert e.notes[0].startswith("5 words that are not valid UTF-8 were skipped (line 150, ")
    assert len(load_embedding(path, on_invalid_utf8="skip")) == 1689


@pytest.fixture(scope="module")
def fasttext_model():
    gensim = pytest.importorskip("gensim.models")
    sentences = [["rabbi", "priest", "imam", "naïve", "日本", "church", "mosque"], ["priest", "church"]] * 5
    return gensim.FastText(
        sentences, vector_size=9, min_count=1, bucket=200, min_n=2, max_n=4, epochs=1, seed=3, workers=1
    )


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_fasttext_binary_as_gensim_computes_it(tmp_path, fasttext_model, suffix):
    from gensim.models import fasttext

    path = tmp_path / "model.bin"
    fasttext.save_facebook_model(fasttext_model, str(path))
    if suffix:
        path.with_suffix(".bin.gz").write_bytes(gzip.compress(path.read_bytes()))
        path = path.with_suffix(".bin.gz")
    theirs = fasttext.load_facebook_vectors(str(tmp_path / "model.bin"))
    asked = ["rabbi", "naïve", "日本", "mosques", "rabbinisch", "日本語"]
    e = load_embedding(path, asked)
    assert e.composed == ("mosques", "rabbinisch", "日本語")
    assert e.provenance["format"].startswith("fastText binary")
    # gensim sums in single precision
    assert np.allclose(e.vectors, np.stack([theirs[w] for w in asked]), rtol=0, atol=1e-8)
    assert np.abs(e.vectors).max() > 1e-3
    whole = load_embedding(path)
    assert list(whole.words) == theirs.index_to_key
    assert np.allclose(whole.vectors, theirs.vectors, rtol=0, atol=1e-8)


def test_fasttext_keyed_vectors_object_composes_too(fasttext_model):
    e = load_embedding(fasttext_model, ["rabbi", "Mosque", "mosques"])
    assert e.composed == ("mosques",)
    assert e.matched == {"Mosque": "mosque"}
    assert np.array_equal(e["mosques"], fasttext_model.wv["mosques"])


@pytest.mark.parametrize("cut", [3, 40, 120, 700, 3000, -1])
def test_truncated_fasttext_binary(tmp_path, fasttext_model, cut):
    from gensim.models import fasttext

    path = tmp_path / "model.bin"
    fasttext.save_facebook_model(fasttext_model, str(path))
    whole = path.read_bytes()
    path.write_bytes(whole[:cut])
    with pytest.raises(InputError, match=r"truncated: it ends inside its|not a format") as error:
        load_embedding(path, ["rabbi"])
    assert str(path) in str(error.value)
    packed = tmp_path / "model.bin.gz"
    packed.write_bytes(gzip.compress(whole[:cut]))
    with pytest.raises(InputError, match=r"truncated: it ends inside its|not a format"):
        load_embedding(packed, ["rabbi"])


def test_quantised_fasttext_is_refused(tmp_path, fasttext_model):
    from gensim.models import fasttext

    path = tmp_path / "model.bin"
    fasttext.save_facebook_model(fasttext_model, str(path))
    content = bytearray(path.read_bytes())
    struct.pack_into("<q", content, 8 + 48 + 8 + 12 + 8, 5)  # pruneidx_size
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"quantised fastText model.*valid: the full model \(\.bin\)"):
        load_embedding(path, ["rabbi"])


def test_keyed_vectors_object_and_its_pickle(tmp_path, keyed, vectors):
    e = load_embedding(keyed, ["imam", "rabbi"], name="mine")
    assert (e.name, e.provenance["format"]) == ("mine", "gensim KeyedVectors")
    assert np.array_equal(e.vectors, vectors[[2, 0]])
    path = tmp_path / "mine.kv"
    keyed.save(str(path))
    with pytest.raises(InputError, match=r"runs code from the file.*allow_pickle=True"):
        load_embedding(path, ["imam"])
    assert np.array_equal(load_embedding(path, ["imam"], allow_pickle=True).vectors[0], vectors[2])


def test_a_hostile_pickle_is_not_run(tmp_path):
    class Hostile:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "ran",))

    path = tmp_path / "vectors.txt"
    path.write_bytes(pickle.dumps(Hostile()))
    with pytest.raises(InputError, match="is a pickle"):
        load_embedding(path, ["imam"])
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npz(tmp_path, vectors, dtype, order):
    path = tmp_path / "a.npz"
    table = np.asarray(vectors, dtype=dtype, order=order)
    np.savez_compressed(path, words=np.array(WORDS), vectors=table)
    e = load_embedding(path, ["imam", "rabbi"])
    assert e.vectors.dtype == (np.float64 if dtype == "f8" else np.float32)
    assert np.array_equal(e.vectors, table[[2, 0]])
    assert np.array_equal(load_embedding(path).vectors, table)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_safetensors(tmp_path, vectors, dtype):
    from safetensors.numpy import save_file

    path = tmp_path / "a.safetensors"
    save_file({"vectors": vectors.astype(dtype)}, path, metadata={"words": json.dumps(WORDS)})
    e = load_embedding(path, ["imam", "rabbi"])
    assert np.array_equal(e.vectors, vectors.astype(dtype)[[2, 0]])
    assert e.provenance["format"] == "safetensors"
    save_file({"vectors": vectors}, path, metadata={"words": json.dumps(WORDS[:-1])})
    with pytest.raises(InputError, match=r"found: '5 words and an array of shape \(6, 7\)"):
        load_embedding(path, ["imam"])
    save_file({"vectors": vectors}, path)
    with pytest.raises(InputError, match=r"'words' is no list of words.*a JSON list"):
        load_embedding(path, ["imam"])


def test_npz_with_other_arrays_or_objects(tmp_path, vectors):
    path = tmp_path / "a.npz"
    np.savez(path, other=vectors)
    with pytest.raises(InputError, match=r"without word vectors; found: \['other.npy'\].*'words'"):
        load_embedding(path)
    np.savez(path, words=np.array(WORDS, dtype=object), vectors=vectors)
    with pytest.raises(InputError, match="arrays of objects are pickles"):
        load_embedding(path)
    np.savez(path, words=np.array(WORDS), vectors=vectors)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(InputError, match=r"\.npz file is damaged"):
        load_embedding(path)


def test_mapping(vectors):
    e = load_embedding(dict(zip(WORDS, vectors, strict=True)), ["imam", "Rabbi", "mosque"], name="mine")
    assert (e.name, e.words, e.missing, e.matched) == (
        "mine",
        ("imam", "Rabbi"),
        ("mosque",),
        {"Rabbi": "rabbi"},
    )
    assert np.array_equal(e.vectors, vectors[[2, 0]])
    with pytest.raises(InputError, match=r"key 'b': wrong dimension.*found: .shape \(3,\)"):
        load_embedding({"a": [1, 2], "b": [1, 2, 3]})
    with pytest.raises(InputError, match=r"key 'b'.*valid: strings -> 2 numbers"):
        load_embedding({"a": [1, 2], "b": ["x", "y"]})
    with pytest.raises(InputError, match="is empty"):
        load_embedding({})


# --- spellings --------------------------------------------------------------------------------------


def test_spellings_in_the_stated_order(tmp_path):
    assert [name for name, _ in CASES] == [
        "as given",
        "lower case",
        "Capitalised",
        "Title Case",
        "UPPER CASE",
    ]
    assert [name for name, _ in SEPARATORS][:3] == ["", "spaces as underscores", "underscores as spaces"]
    order = ["new york City", "new york city", "New york city", "New York City", "NEW YORK CITY"]
    order += [word.replace(" ", "_") for word in order]
    order += ["new-york-City", "new-york-city"]
    for first in range(len(order)):
        table = {word: [float(i), 1.0] for i, word in enumerate(order) if i >= first}
        e = load_embedding(dict(reversed(table.items())), ["new york City"])
        assert e.vectors[0, 0] == first
        if first:
            assert e.matched == {"new york City": order[first]}
    assert e.rules == {"new york City": "spaces and underscores as hyphens, lower case"}


def test_an_exact_word_is_not_replaced_and_shared_vectors_are_noted(tmp_path):
    path = text_file(tmp_path / "a.txt", [("Bill", [1, 2]), ("bill", [3, 4]), ("us", [5, 6])])
    e = load_embedding(path, ["Bill", "bill", "US", "us", "Us"])
    assert e.matched == {"US": "us", "Us": "us"}
    assert e.rules == {"US": "lower case", "Us": "lower case"}
    assert e["Bill"].tolist() == [1, 2]
    assert e.notes == ("'US' and 'us' and 'Us' are one word here ('us') and share its vector",)


def test_words_are_taken_once_and_checked(tmp_path):
    table = {"a": [1.0], "b": [2.0]}
    assert load_embedding(table, ["b", "a", "b"]).words == ("b", "a")
    with pytest.raises(InputError, match="list of words is empty"):
        load_embedding(table, [])
    with pytest.raises(InputError, match="one word was given"):
        load_embedding(table, "a")
    with pytest.raises(InputError, match="is not a word"):
        load_embedding(table, ["a", " "])
    with pytest.raises(InputError, match="none of the 2 words is in the embedding"):
        load_embedding(table, ["x", "y"])


# --- bad files --------------------------------------------------------------------------------------

GOOD = [("rabbi", [1.0, 2.0, 3.0]), ("priest", [4.0, 5.0, 6.0]), ("imam", [7.0, 8.0, 9.0])]
LINES = b"rabbi 1 2 3\npriest 4 5 6\nimam 7 8 9\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty; found: '0 bytes'"),
        (b" \n\n", "is empty"),
        (b"3 3\n", r"line 1: the header does not fit the file; found: '0 words'; valid: 3 words of 3"),
        (b"4 3\n" + LINES, r"line 1: the header does not fit the file; found: '3 words'; valid: 4 words"),
        (b"2 3\n" + LINES, r"line 1: the header does not fit the file; found: '3 words'; valid: 2 words"),
        (
            b"3 4\n" + LINES,
            r"line 2: wrong dimension; found: '3 numbers'; valid: a word and 4 numbers, as the head",
        ),
        (b"3 2\n" + LINES, r"line 2: wrong dimension; found: '3 numbers'; valid: a word and 2 numbers"),
        (b"0 3\n" + LINES, r"line 1: the header names no vectors; found: '0 3'"),
        (b"3 3\n" + LINES.replace(b"4 5 6", b"4 5"), r"line 3: wrong dimension; found: '2 numbers'"),
        (
            LINES.replace(b"4 5 6", b"4 5"),
            r"line 2: wrong dimension; found: '2 numbers'; .*as the other lines hold",
        ),
        (LINES.replace(b"4 5 6", b"4 5 6 7"), r"line 2: wrong dimension; found: '4 numbers'"),
        (LINES[:-4], r"line 3: wrong dimension; found: '1 numbers'.*truncated"),
        (LINES.replace(b"imam", b"\nimam"), r"line 3: wrong dimension; found: 'no numbers'"),
        (LINES.replace(b" 2 ", b" 2,5 "), r"line 1: is not a number; found: '2,5'"),
        (LINES.replace(b" 2 ", b" nan "), r"line 1: the vector of 'rabbi' holds NaN or infinite numbers"),
        (LINES.replace(b"7 8 9", b"inf 8 9"), r"line 3: the vector of 'imam' holds NaN or infinite numbers"),
        (LINES.replace(b"7 8 9", b"0 0 0"), r"line 3: the vector of 'imam' holds only zeros.*valid: finite"),
        (LINES + b"rabbi 3 2 1\n", r"the word 'rabbi' stands in the file twice; found: 'lines 1 and 4'"),
        (
            LINES.replace(b"priest", b"pri\xffest"),
            r"line 2: the word is not valid UTF-8.*on_invalid_utf8='skip'",
        ),
        (b"word,x,y\nrabbi,1,2\n", "is not a format of word vectors known here; found: b'word,x,y"),
        (b"BZh91AY", "found: 'bzip2; unpack it, or compress it with gzip'"),
        (b'{"rabbi": [1, 2]}', "found: 'JSON'"),
        (b"\x93NUMPY\x01\x00", "a single numpy array, which holds no words"),
        (b"\x00\x01\x02\x03" * 40, "is not a format of word vectors known here"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_bad_text(tmp_path, content, message, packed):
    path = tmp_path / "bad.txt"
    path.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(InputError, match=message) as error:
        load_embedding(path, ["rabbi", "imam"])
    assert str(path) in str(error.value)
    assert not (tmp_path / "cache").exists()


def test_faults_in_words_that_nobody_wants_do_not_matter(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(LINES + b"priest 3 2 1\nodd nan 0 0\nzero 0 0 0\n")
    assert load_embedding(path, ["rabbi", "imam"]).words == ("rabbi", "imam")
    # another spelling of an asked word is no second occurrence of it
    path.write_bytes(LINES + b"Imam 3 2 1\nImam 3 2 1\n")
    assert load_embedding(path, ["imam"])["imam"].tolist() == [7, 8, 9]


def test_skipped_words_are_counted(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"3 3\n" + LINES.replace(b"priest", b"pri\xffest"))
    for words in (["rabbi"], None):
        e = load_embedding(path, words, on_invalid_utf8="skip")
        assert e.notes == ("1 words that are not valid UTF-8 were skipped (line 3)",)
    assert e.words == ("rabbi", "imam")
    with pytest.raises(
        InputError, match=r"unknown value of on_invalid_utf8; found: 'ignore'; valid: error, skip"
    ):
        load_embedding(path, on_invalid_utf8="ignore")


@pytest.mark.parametrize("packed", [False, True])
def test_bad_binary(tmp_path, vectors, packed):
    path = tmp_path / "bad.bin"

    def check(content, message, **options):
        path.write_bytes(gzip.compress(content) if packed else content)
        with pytest.raises(InputError, match=message) as error:
            load_embedding(path, ["rabbi", "imam"], **options)
        assert str(path) in str(error.value)

    good = binary_file(path, WORDS, vectors).read_bytes()
    check(
        good[:-3],
        r"record 6: the file is truncated; found: '5 whole records and \d+ bytes'; valid: 6 records",
    )
    check(good[:40], r"record 2: the file is truncated; found: '1 whole records and \d+ bytes'")
    check(
        good.replace(b"6 7", b"9 7", 1), r"line 1: the header does not fit the file; found: '6 whole records'"
    )
    check(
        good.replace(b"6 7", b"5 7", 1),
        r"line 1: .*more follows the last record; found: 'more than 5 records",
    )
    check(good.replace(b"6 7", b"6 8", 1), r"valid UTF-8|truncated|does not fit")
    check(good.replace(b"6 7", b"6 6", 1), r"valid UTF-8|truncated|does not fit")
    check(
        good.replace("naïve".encode(), b"na\xefve"),
        r"record 4: the word is not valid UTF-8; found: b'na\\xefve'",
    )
    bad = vectors.copy()
    bad[2, 3] = np.nan
    check(binary_file(path, WORDS, bad).read_bytes(), r"record 3: the vector of 'imam' holds NaN or infinite")
    bad[2] = 0
    check(binary_file(path, WORDS, bad).read_bytes(), r"record 3: the vector of 'imam' holds only zeros")
    twice = binary_file(path, [*WORDS, "imam"], np.vstack([vectors, vectors[:1]])).read_bytes()
    check(twice, r"the word 'imam' stands in the file twice; found: 'records 3 and 7'")
    path.write_bytes(binary_file(path, ["rabbi", b"\xff\xfe", "imam"], vectors[:3]).read_bytes())
    e = load_embedding(path, ["rabbi", "imam"], on_invalid_utf8="skip")
    assert np.array_equal(e.vectors, vectors[[0, 2]])
    assert e.notes == ("1 words that are not valid UTF-8 were skipped (record 2)",)


def test_truncated_or_damaged_gzip(tmp_path):
    numbers = "".join(f"w{i} {i} {i * 7 % 13} {i * i % 101}\n" for i in range(1, 5000)).encode()
    whole = gzip.compress(numbers)
    path = tmp_path / "a.txt.gz"
    path.write_bytes(whole[:-500])
    with pytest.raises(InputError, match="the gzip file is truncated"):
        load_embedding(path, ["w7"])
    damaged = bytearray(whole)
    damaged[-6] ^= 255  # the checksum
    path.write_bytes(damaged)
    with pytest.raises(InputError, match="the gzip file is damaged"):
        load_embedding(path, ["w7"])


def test_unknown_names_and_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text_file(tmp_path / "vectors.txt", GOOD)
    (tmp_path / "folder").mkdir()
    for name, message in [
        ("minilm-statik", r"unknown embedding; found: 'minilm-statik'; .*did you mean 'minilm-static'\?"),
        ("glove-wiki-gigaword-120", r"unknown embedding.*did you mean 'glove-wiki-gigaword-\d+'\?"),
        ("vectosr.txt", r"no such vector file; .*did you mean 'vectors.txt'\?"),
        (str(tmp_path / "vectors.tx"), r"no such vector file; .*did you mean '.*vectors.txt'\?"),
        ("nowhere/vectors.txt", r"no such vector file; .*there is no folder nowhere"),
        ("folder", r"is a folder, not a vector file"),
    ]:
        with pytest.raises(InputError, match=message):
            load_embedding(name, ["rabbi"])
    with pytest.raises(InputError, match=r"cannot be read as word vectors; found: 'int'"):
        load_embedding(3)


def test_gensim_data(tmp_path, monkeypatch, keyed, vectors):
    import gensim.downloader

    monkeypatch.setenv("GENSIM_DATA_DIR", str(tmp_path))

    def offline(name, return_path):
        print("gensim talks on stdout")
        raise OSError("no route to host")

    monkeypatch.setattr(gensim.downloader, "load", offline)
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    with pytest.raises(
        InputError, match=r"no route to host; valid: without a network: minilm-static, or the path"
    ):
        load_embedding("glove-twitter-25", ["rabbi"])
    assert out.getvalue() == ""
    # what gensim once downloaded needs no network
    (tmp_path / "glove-twitter-25").mkdir()
    keyed.save_word2vec_format(str(tmp_path / "glove-twitter-25" / "glove-twitter-25.gz"))
    e = load_embedding("glove-twitter-25", ["imam"])
    assert e.name == "glove-twitter-25"
    assert np.array_equal(e.vectors[0].astype(np.float32), vectors[2])


def test_without_gensim_the_message_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setenv("GENSIM_DATA_DIR", str(tmp_path))
    monkeypatch.setitem(sys.modules, "gensim.downloader", None)
    with pytest.raises(
        InputError, match=r"needs gensim, which is not installed.*pip install 'bayesbias\[gensim\]'"
    ):
        load_embedding("glove-twitter-25", ["rabbi"])


# --- the index --------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["binary", "newlines", "text", "glove"])
def test_index_gives_the_same_and_notices_changes(tmp_path, form):
    rng = np.random.default_rng(4)
    words = [f"wörd{i}" if i % 3 else f"word{i}" for i in range(500)] + ["new-york"]
    table = rng.standard_normal((501, 5)).astype(np.float32)
    path = tmp_path / "a.vec"

    def write(table):
        if form in ("binary", "newlines"):
            binary_file(path, words, table, newline=b"\n" if form == "newlines" else b"")
        else:
            text_file(
                path, [(w, v.tolist()) for w, v in zip(words, table, strict=True)], header=form == "text"
            )

    write(table)
    asked = ["Word3", "wörd4", "new_york", "word0", "absent"]
    first = load_embedding(path, asked, index=True)
    assert first.provenance["index"] == "written"
    second = load_embedding(path, asked)
    assert second.provenance["index"] == "used"
    assert np.array_equal(first.vectors, second.vectors)
    assert np.array_equal(second.vectors, table[[3, 4, 500, 0]])
    assert (second.matched, second.missing) == ({"Word3": "word3", "new_york": "new-york"}, ("absent",))
    same = ("sha256", "sha256_vectors", "count", "dim", "format")
    assert [first.provenance[key] for key in same] == [second.provenance[key] for key in same]
    assert "index" not in load_embedding(path, asked, index=False).provenance
    write(-table)
    os.utime(path, ns=(1, 1))
    third = load_embedding(path, asked, index=True)
    assert third.provenance["index"] == "written"
    assert np.array_equal(third.vectors, -table[[3, 4, 500, 0]])


def test_a_false_or_damaged_index_is_not_believed(tmp_path):
    path = text_file(
        tmp_path / "a.txt", [(w, [i + 1.0, 2.0]) for i, w in enumerate(["aa", "bb", "cc", "dd"])]
    )
    load_embedding(path, ["bb"], index=True)
    at = file_index.index_path(path)
    good = at.read_bytes()
    offsets = np.frombuffer(good[-32:], np.int64)
    for content in (
        good[:-32] + np.roll(offsets, 1).tobytes(),
        good[:-8],
        b"{}" + good[2:],
        b"",
        good.replace(b'"version": 1', b'"version": 0'),
    ):
        at.write_bytes(content)
        e = load_embedding(path, ["bb"])
        assert e["bb"].tolist() == [2.0, 2.0]
        assert "index" not in e.provenance
    at.write_bytes(good)
    assert load_embedding(path, ["bb"]).provenance["index"] == "used"


def test_an_index_that_cannot_be_written_does_no_harm(tmp_path, monkeypatch):
    (tmp_path / "blocked").write_text("a file where a folder should be")
    monkeypatch.setenv("BAYESBIAS_CACHE", str(tmp_path / "blocked"))
    path = text_file(tmp_path / "a.txt", GOOD)
    e = load_embedding(path, ["imam"], index=True)
    assert e.provenance["index"].startswith("not written: ")
    assert e["imam"].tolist() == [7, 8, 9]


def test_the_index_knows_repeats_and_skipped_words(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(LINES + b"imam 1 1 1\nb\xffd 1 2 3\n")
    assert (
        load_embedding(path, ["rabbi"], index=True, on_invalid_utf8="skip").provenance["index"] == "written"
    )
    assert "skipped (line 5)" in load_embedding(path, ["rabbi"], on_invalid_utf8="skip").notes[0]
    with pytest.raises(InputError, match="not valid UTF-8"):
        load_embedding(path, ["rabbi"])
    with pytest.raises(InputError, match="'imam' stands in the file twice"):
        load_embedding(path, ["imam"], on_invalid_utf8="skip")


# --- the value --------------------------------------------------------------------------------------


def test_embedding_value(vectors):
    e = Embedding("mine", tuple(WORDS), vectors)
    assert "imam" in e
    assert "Imam" not in e
    assert len(e) == 6
    assert np.array_equal(e.vectors_of(["imam", "rabbi", "imam"]), vectors[[2, 0, 2]])
    with pytest.raises(
        InputError, match=r"'mine': has no vector for some words; found: 'imma, x'; did you mean 'imam'"
    ):
        e.vectors_of(["imma", "rabbi", "x"])
    with pytest.raises(ValueError, match="read-only"):
        e.vectors[0, 0] = 1
    again = pickle.loads(pickle.dumps(e))
    assert np.array_equal(again["imam"], vectors[2])
    with pytest.raises(InputError, match="vectors do not fit the words"):
        Embedding("mine", ("a",), vectors)
    with pytest.raises(InputError, match="a word stands twice; found: 'imam'"):
        Embedding("mine", ("imam", "imam"), vectors[:2])


def test_repr_is_short_and_says_what_matters():
    e = load_embedding({"rabbi": [1.0, 2.0], "priest": [3.0, 4.0]}, ["Rabbi", "priest", "imam"], name="mine")
    assert repr(e) == (
        "<Embedding 'mine': 2 words, 2 dimensions, mapping; 1 missing (imam); 1 by another spelling (Rabbi)>"
    )


def test_choosing_from_an_embedding_keeps_the_record(tmp_path):
    whole = load_embedding({"rabbi": [1.0, 2.0], "priest": [3.0, 4.0]}, ["Rabbi", "priest"])
    e = load_embedding(whole, ["rabbi", "Priest", "imam"])
    assert e.words == ("rabbi", "Priest")
    assert e.matched == {"Priest": "priest"}
    assert e.missing == ("imam",)
    assert e["Priest"].tolist() == [3.0, 4.0]
    assert load_embedding(whole) is whole


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_saved_files_come_back(tmp_path, vectors, binary, suffix, dtype):
    gensim = pytest.importorskip("gensim.models")
    table = vectors.astype(dtype) * np.pi
    path = tmp_path / f"out.vec{suffix}"
    save_word2vec(Embedding("mine", tuple(WORDS), table), path, binary=binary)
    theirs = gensim.KeyedVectors.load_word2vec_format(str(path), binary=binary)
    assert theirs.index_to_key == WORDS
    assert np.array_equal(theirs.vectors, table.astype(np.float32))
    ours = load_embedding(path)
    assert np.array_equal(
        ours.vectors, table.astype(np.float32) if binary else table.astype(ours.vectors.dtype)
    ) or (dtype == "f4" and np.array_equal(ours.vectors.astype(np.float32), table))


def test_nothing_half_written(tmp_path, vectors):
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(InputError, match=r"cannot hold these words; found: \"'new york'\""):
        save_word2vec(Embedding("mine", ("a", "new york"), vectors[:2]), path)
    assert path.read_text() == "old"
    with pytest.raises(InputError, match="cannot be written"):
        save_word2vec(Embedding("mine", tuple(WORDS), vectors), tmp_path / "out.txt" / "x.txt")
    assert [p.name for p in tmp_path.iterdir()] == ["out.txt"]


def test_memory_is_used_for_the_wanted_words_alone(tmp_path):
    table = np.ones((20_000, 300), dtype=np.float32)
    path = binary_file(tmp_path / "big.bin", [f"w{i}" for i in range(20_000)], table)
    del table
    load_embedding(path, ["w5"])
    tracemalloc.start()
    try:
        load_embedding(path, [f"w{i}" for i in range(0, 20_000, 100)])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert path.stat().st_size > 24_000_000
    assert peak < 4_000_000


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_goes_to_stderr_and_only_on_a_terminal(tmp_path, capsys, monkeypatch):
    from bayesbias.basics import progress

    clock = iter(range(0, 10_000, 3))
    monkeypatch.setattr(progress.time, "perf_counter", lambda: next(clock))
    path = text_file(tmp_path / "slow.txt", GOOD)
    load_embedding(path, ["imam"], index=False)
    assert capsys.readouterr() == ("", "")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    load_embedding(path, ["imam"], progress=False, index=False)
    assert terminal.getvalue() == ""
    load_embedding(path, ["imam"], index=False)
    assert "reading slow.txt" in terminal.getvalue()
    assert capsys.readouterr().out == ""


# --- minilm-static ----------------------------------------------------------------------------------


def test_the_shipped_files_are_those_that_were_made():
    folder = data_dir("embeddings") / "minilm-static"
    card = tomllib.loads((folder / "MODEL.toml").read_text())
    assert shipped_embeddings() == ["minilm-static"]
    assert set(card["sha256"]) == {"model.safetensors", "tokenizer.json"}
    for file, digest in card["sha256"].items():
        assert hashlib.sha256((folder / file).read_bytes()).hexdigest() == digest
    assert (card["licence"], card["dim"], card["tokens"]) == ("Apache-2.0", 128, 29525)
    assert "Apache License" in (folder / "LICENSE").read_text()
    assert sum(path.stat().st_size for path in folder.iterdir()) < 8_000_000


def test_static_vectors_are_means_of_tokens():
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    folder = data_dir("embeddings") / "minilm-static"
    tensors = load_file(folder / "model.safetensors")
    rows = tensors["vectors"] * tensors["scales"][:, None]
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    texts = ["rabbi", "receptionist", "The nurse is very good.", "word " * 900]
    for text, vector in zip(texts, static_vectors(texts), strict=True):
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        assert np.allclose(vector, rows[ids].mean(axis=0), atol=2e-6)
    many = static_vectors(["a nurse", "the church bell"] * 2500)
    assert np.allclose(many, np.tile(static_vectors(["a nurse", "the church bell"]), (2500, 1)), atol=1e-7)


def test_static_vectors_are_those_of_model2vec():
    """Golden values: model2vec 0.10.0, StaticModel.encode, the float32 model before rounding to int8."""
    golden = json.loads((Path(__file__).parent / "golden" / "minilm_static.json").read_text())
    ours = static_vectors(list(golden))
    theirs = np.array(list(golden.values()))
    norms = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
    assert np.abs(ours - theirs).max() < 0.012  # rows are rounded to 1/127 of their largest number
    assert ((ours * theirs).sum(axis=1) / norms).min() > 0.9999


def test_static_embedding_is_open_and_says_what_it_did():
    e = load_embedding("minilm-static", ["Bill", "bill", "blue_bell", "rancher", "☃"])
    assert e.missing == ("☃",)
    assert e.matched == {"Bill": "bill", "blue_bell": "blue bell"}
    assert "blue_bell" in e.composed
    assert "bill" not in e.composed
    assert e.notes == ("'Bill' and 'bill' are one word here ('bill') and share its vector",)
    assert "homemaker" in e  # never asked for
    assert "☃" not in e
    assert np.array_equal(e.vectors_of(["homemaker", "bill"])[0], static_vectors(["homemaker"])[0])
    with pytest.raises(InputError, match="has no vector for some words; found: '☃'"):
        e.vectors_of(["bill", "☃"])
    with pytest.raises(InputError, match="none of the 1 words"):
        load_embedding("minilm-static", ["☃"])
    whole = load_embedding("minilm-static")
    assert len(whole) > 15_000
    assert np.array_equal(whole["church"], e["church"])


def test_any_vectors_may_have_an_open_vocabulary():
    def lookup(words):
        found = [word for word in words or ["a"] if word.isascii()]
        table = np.array([[len(word), 1.0] for word in found]).reshape(-1, 2)
        return Embedding(
            "lengths", tuple(found), table, missing=tuple(w for w in words or () if w not in found)
        )

    e = Embedding("lengths", ("rabbi",), np.array([[5.0, 1.0]]), lookup=lookup)
    assert e.open_vocabulary
    assert "imam" in e
    assert "☃" not in e
    assert 3 not in e
    assert e.vectors_of(["imam", "rabbi", "imam", "at"]).tolist() == [[4, 1], [5, 1], [4, 1], [2, 1]]
    with pytest.raises(InputError, match="'lengths': has no vector for some words; found: '☃'"):
        e.vectors_of(["imam", "☃"])
    chosen = load_embedding(e, ["to", "☃"], name="mine")
    assert (chosen.name, chosen.words, chosen.missing) == ("mine", ("to",), ("☃",))
    with pytest.raises(InputError, match="embedding 'lengths': none of the 1 words is in the embedding"):
        load_embedding(e, ["☃"])
    closed = Embedding("lengths", ("rabbi",), np.array([[5.0, 1.0]]))
    assert not closed.open_vocabulary
    assert "imam" not in closed


def test_a_new_format_is_one_file_and_one_row(tmp_path, monkeypatch):
    from bayesbias.encoders.averages import cbow_encoder
    from bayesbias.vectors.readers import formats
    from bayesbias.vectors.readers.rows import Format, Gathered, Kind

    def tells(head):
        return Kind("rows of JSON", head.compressed, 2) if head.start.startswith(b'["') else None

    def read(asked):
        with gzip.open(asked.path) if asked.kind.compressed else open(asked.path, "rb") as file:
            lines = file.read().splitlines()
        gathered = Gathered(asked.kind.dim, "<f8", "line", len(lines))
        for number, line in enumerate(lines, start=1):
            word, *numbers = json.loads(line)
            if asked.wanted is None or word in asked.wanted:
                gathered.add(word, numbers, number)
        asked.tick(asked.path.stat().st_size)
        return gathered.rows(len(lines))

    content = b'["Rabbi", 1, 2]\n["imam", 3, 4]\n["imam", 5, 6]\n'
    path, packed = tmp_path / "mine.jrows", tmp_path / "mine.jrows.gz"
    path.write_bytes(content)
    packed.write_bytes(gzip.compress(content))
    with pytest.raises(InputError, match="is not a format of word vectors known here"):
        load_embedding(path)
    row = Format("rows of JSON", ".jrows with one list a line", (".jrows",), tells, read)
    monkeypatch.setattr(formats, "KNOWN", (*formats.KNOWN, row))
    for file in (path, packed):
        e = load_embedding(file, ["rabbi", "priest"])
        assert (e.name, e.words, e.vectors.tolist()) == ("mine", ("rabbi",), [[1, 2]])
        assert (e.matched, e.missing) == ({"rabbi": "Rabbi"}, ("priest",))
        assert e.provenance["format"].startswith("rows of JSON")
        assert e.provenance["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    with pytest.raises(InputError, match="the word 'imam' stands in the file twice"):
        load_embedding(path, ["imam"])
    with pytest.raises(InputError, match=r"no such vector file; found: 'yours\.jrows'"):
        load_embedding("yours.jrows")
    with pytest.raises(InputError, match=r"\.jrows with one list a line \(each also gzipped\)"):
        load_embedding(tmp_path)
    assert cbow_encoder(path).name == "CBoW mine"


@pytest.mark.parametrize("name", ["religion", "gender", "race"])
def test_static_embedding_orders_the_connections(name):
    from bayesbias.words.listfile import load_wordlist
    from bayesbias.words.pairing import pairs

    words = load_wordlist(name)
    e = load_embedding("minilm-static", words.words)
    assert e.missing == ()
    columns = pairs(words)
    a, b = (e.vectors_of(list(columns[key])).astype(float) for key in ("protected_word", "attribute"))
    distance = 1 - (a * b).sum(axis=1) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))
    connection = np.asarray(columns["connection"])
    means = [distance[connection == kind].mean() for kind in ("associated", "different", "human", "neutral")]
    assert means == sorted(means)
    assert means[-1] - means[0] > 0.05


def test_a_changed_shipped_file_is_noticed(tmp_path, monkeypatch):
    import shutil

    from bayesbias.vectors import static

    shutil.copytree(data_dir("embeddings") / "minilm-static", tmp_path / "minilm-static")
    with open(tmp_path / "minilm-static" / "tokenizer.json", "ab") as file:
        file.write(b" ")
    monkeypatch.setattr(static, "data_dir", lambda kind: tmp_path)
    static.static_model.cache_clear()
    try:
        with pytest.raises(InputError, match=r"tokenizer.json: the shipped file was changed or damaged"):
            load_embedding("minilm-static", ["rabbi"])
    finally:
        static.static_model.cache_clear()


def test_heavy_libraries_are_left_alone():
    code = (
        "import sys; from bayesbias import load_embedding;"
        "load_embedding('minilm-static', ['rabbi']);"
        "print([m for m in ('torch', 'gensim', 'pandas', 'numba', 'scipy', 'pymc') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert done.stderr == ""
