"""Readers of vectors, held to gensim."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest
from helpers.vector_files import GOOD, WORDS, binary_file, text_file

from bayesbias.core.errors import InputError
from bayesbias.embeddings.loading import load_embedding


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_reads_what_gensim_writes(tmp_path, keyed, vectors, binary, suffix):
    path = tmp_path / f"made.vec{suffix}"
    keyed.save_embedding_format(str(path), binary=binary)
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
    keyed.save_embedding_format(str(path), binary=True)
    assert np.array_equal(load_embedding(path, ["imam"]).vectors[0], vectors[2])


def test_binary_with_newlines_as_word2vec_c_writes_them(tmp_path, vectors):
    path = binary_file(tmp_path / "c.bin", WORDS, vectors, newline=b"\n")
    assert np.array_equal(load_embedding(path, WORDS).vectors, vectors)
    assert np.array_equal(load_embedding(path).vectors, vectors)


def test_binary_over_many_blocks(tmp_path, monkeypatch):
    from bayesbias.embeddings.readers import binary as binary_room, rows as rows_room, text as text_room

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


@pytest.mark.slow
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
    with pytest.raises(InputError, match=r"runs code.*allow_pickle=True"):
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
    with pytest.raises(InputError, match=r"lacks the array words; found: 'other'; .*'words'"):
        load_embedding(path)
    np.savez(path, words=np.array(WORDS, dtype=object), vectors=vectors)
    with pytest.raises(InputError, match="holds an array of objects, which is a pickle"):
        load_embedding(path)
    np.savez(path, words=np.array(WORDS), vectors=vectors)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(InputError, match=r"a\.npz: the zip file is damaged"):
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
    for name in (np.int64(3), b"x", "", "\ud800"):
        with pytest.raises(InputError, match=r"^name: "):
            load_embedding({"a": [1, 2]}, name=name)
    with pytest.raises(InputError, match=r"key 'b': wrong dimension.*found: .shape \(3,\)"):
        load_embedding({"a": [1, 2], "b": [1, 2, 3]})
    with pytest.raises(InputError, match=r"key 'b'.*valid: strings -> 2 numbers"):
        load_embedding({"a": [1, 2], "b": ["x", "y"]})
    with pytest.raises(InputError, match="is empty"):
        load_embedding({})


def test_a_new_format_is_one_file_and_one_row(tmp_path, monkeypatch):
    from bayesbias.embeddings.readers import formats
    from bayesbias.embeddings.readers.rows import Format, Gathered, Kind
    from bayesbias.encoders.averages import cbow_encoder

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
    with pytest.raises(InputError, match="the word 'imam' stands there twice"):
        load_embedding(path, ["imam"])
    with pytest.raises(InputError, match=r"no such vector file; found: 'yours\.jrows'"):
        load_embedding("yours.jrows")
    with pytest.raises(InputError, match=r"\.jrows with one list a line \(each also gzipped\)"):
        load_embedding(tmp_path)
    assert cbow_encoder(path).name == "CBoW mine"


def test_a_pipe_is_read_as_a_file_is(tmp_path):
    path = text_file(tmp_path / "a.txt", GOOD)
    read, write = os.pipe()
    try:
        os.write(write, gzip.compress(path.read_bytes()))
        os.close(write)
        e = load_embedding(f"/dev/fd/{read}", ["rabbi", "imam"])
    finally:
        os.close(read)
    assert np.array_equal(e.vectors, load_embedding(path, ["rabbi", "imam"]).vectors)
    assert e.provenance["source"] == f"/dev/fd/{read}"
    assert e.provenance["sha256"] is not None


def test_the_checksum_of_an_npz_is_looked_at_to_its_end(tmp_path, vectors):
    path = tmp_path / "a.npz"
    np.savez(path, words=np.array(WORDS), vectors=vectors)
    good = path.read_bytes()
    at = good.rindex(vectors.tobytes()) + vectors.nbytes - 1  # in the row of a word that nobody asks for
    path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
    with pytest.raises(InputError, match=r"the array is damaged \(Bad CRC"):
        load_embedding(path, [WORDS[0]])


@pytest.mark.parametrize("first", ["{", "{{", "{a}", '{"a":'])
def test_a_word_may_begin_with_a_brace(first, tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text(f"{first} 1 2\nthe 3 4\n")
    assert load_embedding(path).words == (first, "the")
