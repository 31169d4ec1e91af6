"""Readers of vectors, held to gensim."""

from __future__ import annotations

import gzip
import hashlib
import json
import pickle
import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from gensim.models import FastText, KeyedVectors, fasttext
from helpers.vector_files import LINES, WORDS, binary_file, text_file

from bayesbias.core.errors import InputError
from bayesbias.embeddings import readers
from bayesbias.embeddings.loading import load_embedding, ranks_of
from bayesbias.embeddings.readers.common import Format, Layout, gather


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
        ", compressed" if suffix else ""
    )
    assert e.provenance["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (e.provenance["dim"], e.provenance["count"], e.name) == (7, 6, "made")
    everything = load_embedding(path)
    assert everything.words == tuple(WORDS)
    assert np.array_equal(everything.vectors.astype(np.float32), vectors)


def test_binary_with_newlines_as_word2vec_c_writes_them(tmp_path, vectors):
    path = binary_file(tmp_path / "c.bin", WORDS, vectors, newline=b"\n")
    assert np.array_equal(load_embedding(path, WORDS).vectors, vectors)
    assert np.array_equal(load_embedding(path).vectors, vectors)


def test_binary_over_many_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("bayesbias.embeddings.readers.word2vec._BLOCK", 1024)
    monkeypatch.setattr("bayesbias.core.files._CHUNK", 3000)
    rng = np.random.default_rng(2)
    words = [f"w{'x' * int(n)}{i}" for i, n in enumerate(rng.integers(0, 40, 3000))]
    table = rng.standard_normal((3000, 11)).astype(np.float32)
    rows = [0, 1, 77, 1500, 2998, 2999]
    path = binary_file(tmp_path / "many.bin", words, table, newline=b"\n")
    packed = tmp_path / "many.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    plain = text_file(
        tmp_path / "many.txt", [(w, v.tolist()) for w, v in zip(words, table, strict=True)]
    )
    for file in (path, packed, plain):
        assert np.array_equal(load_embedding(file, [words[i] for i in rows]).vectors, table[rows])
        assert np.array_equal(load_embedding(file).vectors, table)


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
        ("googlenews_sweater_256x300.txt", True, False),
    ],
)
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # gensim, without a header
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_published_samples_as_gensim_reads_them(shared, file, header, binary):
    path = shared / "data" / "vectors" / file
    theirs = KeyedVectors.load_word2vec_format(str(path), binary=binary, no_header=not header)
    some = theirs.index_to_key[:: max(1, len(theirs) // 50)]
    e = load_embedding(path, some)
    assert e.words == tuple(some)
    assert not e.matched
    assert np.array_equal(e.vectors.astype(np.float32), np.stack([theirs[w] for w in some]))
    whole = load_embedding(path)
    assert list(whole.words) == theirs.index_to_key
    assert np.array_equal(whole.vectors.astype(np.float32), theirs.vectors)


@pytest.fixture(scope="module")
def fasttext_model():
    sentences = [
        ["rabbi", "priest", "imam", "naïve", "日本", "church", "mosque"],
        ["priest", "church"],
    ] * 5
    return FastText(
        sentences,
        vector_size=9,
        min_count=1,
        bucket=200,
        min_n=2,
        max_n=4,
        epochs=1,
        seed=3,
        workers=1,
    )


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_fasttext_binary_as_gensim_computes_it(tmp_path, fasttext_model, suffix):
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


def test_fasttext_names_words_that_may_be_misspelled(tmp_path, fasttext_model):
    path = tmp_path / "model.bin"
    fasttext.save_facebook_model(fasttext_model, str(path))
    asked = ["rabbi", "mosuqe", "mosques", "chruch", "synagogue"]
    for source in (path, fasttext_model):
        e = load_embedding(source, asked)
        assert e.composed == ("mosuqe", "mosques", "chruch", "synagogue")
        assert e.misspelled == {"mosuqe": "mosque", "chruch": "church"}
        assert load_embedding(e, ["rabbi", "chruch"]).misspelled == {"chruch": "church"}
    assert load_embedding(path).misspelled == {}


def test_fasttext_keyed_vectors_object_composes_too(fasttext_model):
    e = load_embedding(fasttext_model, ["rabbi", "Mosque", "mosques"])
    assert e.composed == ("mosques",)
    assert e.matched == {"Mosque": "mosque"}
    assert np.array_equal(e["mosques"], fasttext_model.wv["mosques"])


def test_keyed_vectors_object_and_its_pickle(tmp_path, keyed, vectors):
    e = load_embedding(keyed, ["imam", "rabbi"], name="mine")
    assert (e.name, e.provenance["format"]) == ("mine", "gensim KeyedVectors")
    assert np.array_equal(e.vectors, vectors[[2, 0]])
    path = tmp_path / "mine.kv"
    keyed.save(str(path))
    with pytest.raises(InputError, match=r"a pickle.*save_word2vec_format\('vectors.txt'\)`$"):
        load_embedding(path, ["imam"])
    assert np.array_equal(load_embedding(path, ["imam"], allow_pickle=True).vectors[0], vectors[2])


def test_a_hostile_pickle_is_not_run(tmp_path):
    class Hostile:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "ran",))

    path = tmp_path / "vectors.txt"
    path.write_bytes(pickle.dumps(Hostile()))
    with pytest.raises(InputError, match="a pickle"):
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


WORDS_OF_TABLE = ["rabbi", "priest, father", 'the "imam"', "naïve", "日本", "0.5", "NA"]


@pytest.mark.parametrize(
    ("ending", "options"),
    [
        (".csv", {}),
        (".tsv", {"sep": "\t"}),
        (".csv", {"sep": ";"}),
        (".csv", {"encoding": "utf-8-sig"}),
    ],
)
def test_tables_that_pandas_writes(ending, options, tmp_path):
    path = tmp_path / f"vectors{ending}"
    table = np.random.default_rng(3).normal(size=(len(WORDS_OF_TABLE), 5))
    frame = pd.DataFrame(table, columns=[f"d{i}" for i in range(1, 6)])
    for written in (
        frame.assign(word=WORDS_OF_TABLE).set_index("word"),
        frame.set_axis(range(5), axis=1).set_axis(WORDS_OF_TABLE),
    ):
        written.to_csv(path, **options)
        found = load_embedding(path)
        assert found.words == tuple(WORDS_OF_TABLE)
        np.testing.assert_array_equal(found.vectors, table)
        some = load_embedding(path, ["日本", "absent", "rabbi"])
        assert (some.words, some.missing, some.provenance["count"]) == (
            ("日本", "rabbi"),
            ("absent",),
            7,
        )


def test_a_new_format_is_one_file_and_one_row(tmp_path, monkeypatch):
    def recognize(head):
        return Layout(2) if head.start.startswith(b'["') else None

    def read(reading):
        rows = [json.loads(line) for line in reading.path.read_bytes().splitlines()]
        words = [word.encode() for word, *_ in rows]
        return gather(
            reading, [(words, lambda chosen: [rows[i][1:] for i in chosen])], "f8", "line"
        )

    path = tmp_path / "mine.jrows"
    path.write_bytes(b'["Rabbi", 1, 2]\n["imam", 3, 4]\n["imam", 5, 6]\n')
    row = Format("rows of JSON", (".jrows",), recognize, read)
    monkeypatch.setattr(readers, "KNOWN", (*readers.KNOWN, row))
    e = load_embedding(path, ["rabbi", "priest"])
    assert (e.name, e.words, e.vectors.tolist()) == ("mine", ("rabbi",), [[1, 2]])
    assert (e.matched, e.missing) == ({"rabbi": "Rabbi"}, ("priest",))
    assert e.provenance["format"] == "rows of JSON"
    assert e.provenance["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "got an empty file"),
        (
            b"3 4\n" + LINES,
            "line 2: expected a word and 4 numbers, got 3 numbers. If the header is wrong",
        ),
        (b"rabbi 1,5 2,5\nimam 1,5 2,5\n", "expected word vectors"),
        (b"word,a,b\nrabbi,1,x\n", "a dimension in each column, got 'b'"),
        (b"rabbi nan 2\nimam 0 0\n", "expected a vector for 'rabbi', got only zeros, NaN"),
        (b"word,a,b\nrabbi,1,2\nimam,1\nx,1\n", "line 3: expected a word and 3 cells"),
        (b"word,year,d0,d1\nrabbi,1,2,3\n", "a dimension in each column, got 'year'"),
        (b'{"rabbi": 1}', "or records such as"),
        (b"4 3\nrabbi \0\0\0\0\0\0\0\0\0\0\0\0imam \0", "whole records"),
        (struct.pack("<2i", 793712314, 12) + b"x" * 20, "damaged or truncated"),
        (gzip.compress(LINES, mtime=0)[:-9], "got an error .Compressed file ended"),
        (b"PK\3\4x", "can be read"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(tmp_path, content, message):
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as error:
        load_embedding(path, ["rabbi", "imam"])
    assert str(path) in str(error.value)


def test_faults_in_words_that_nobody_wants_do_not_matter(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(LINES + b"priest 3 2 1\nodd nan 0 0\nImam 0 0 0\nImam 3 2 1\n")
    assert load_embedding(path, ["rabbi", "imam"]).vectors.tolist() == [[1, 2, 3], [7, 8, 9]]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("minilm-statik", r"embedding: expected .*Did you mean 'minilm-static'"),
        (
            "nowhere/vectors.txt",
            "expected a file of vectors, got nothing.*There is no folder nowhere",
        ),
        (".", "expected a static model, or one file of vectors"),
    ],
)
def test_unknown_names_and_folders(name, message):
    with pytest.raises(InputError, match=message):
        load_embedding(name, ["rabbi"])


def test_gensim_data(tmp_path, monkeypatch, keyed, vectors, capsys):
    import gensim.downloader

    monkeypatch.setenv("GENSIM_DATA_DIR", str(tmp_path))

    def offline(name, return_path):
        print("gensim talks on stdout")
        raise OSError("no route to host")

    monkeypatch.setattr(gensim.downloader, "load", offline)
    with pytest.raises(InputError, match=r"vectors to download.*no route to host"):
        load_embedding("glove-twitter-25", ["rabbi"])
    assert capsys.readouterr().out == ""
    (tmp_path / "glove-twitter-25").mkdir()  # what gensim once downloaded needs no network
    keyed.save_word2vec_format(str(tmp_path / "glove-twitter-25" / "glove-twitter-25.gz"))
    e = load_embedding("glove-twitter-25", ["imam"])
    assert e.name == "glove-twitter-25"
    assert np.array_equal(e.vectors[0].astype(np.float32), vectors[2])


RANKED = ["the", "of", "New_York", "rabbi", "apple", "imam"]


@pytest.mark.parametrize("kind", ["headed", "plain", "binary"])
def test_ranks_count_words_from_one(kind, tmp_path):
    table = np.random.default_rng(0).normal(size=(6, 4))
    path = tmp_path / "v.txt"
    if kind == "binary":
        binary_file(path, RANKED, table)
    else:
        text_file(
            path,
            [(w, list(row)) for w, row in zip(RANKED, table, strict=True)],
            header=kind == "headed",
        )
    for source in (path, load_embedding(path, ["imam", "the"])):
        ranks, matched, about = ranks_of(source, ["imam", "Rabbi", "new york", "the", "absent"])
        assert ranks == {"imam": 6, "Rabbi": 4, "new york": 3, "the": 1}
        assert matched == {"Rabbi": "rabbi", "new york": "New_York"}
        assert about == {
            "source": str(path),
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }


def test_ranks_of_gensim_and_of_what_has_no_order(tmp_path):
    keyed = KeyedVectors(vector_size=2)
    keyed.add_vectors(["the", "of", "a", "rabbi"], np.eye(4, 2) + 1)
    assert ranks_of(keyed, ["Rabbi", "of"])[0] == {"Rabbi": 4, "of": 2}
    for none in ("minilm-static", load_embedding("minilm-static", ["rabbi"]), {"a": [1.0]}):
        with pytest.raises(InputError, match="the order of frequency"):
            ranks_of(none, ["rabbi"])
    rows = [(word, [1.0, float(i)]) for i, word in enumerate(sorted(RANKED, key=str.casefold))]
    with pytest.raises(InputError, match="got alphabetical order"):
        ranks_of(text_file(tmp_path / "v.txt", rows), RANKED)
