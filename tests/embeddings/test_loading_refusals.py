"""Bad files of vectors are refused with file, line and finding."""

from __future__ import annotations

import dataclasses
import gzip
import io
import sys

import numpy as np
import pytest
from helpers.vector_files import GOOD, LINES, WORDS, binary_file, text_file

from bayesbias.core.errors import InputError
from bayesbias.embeddings.loading import load_embedding
from bayesbias.embeddings.readers import formats
from bayesbias.embeddings.readers.rows import Kind
from bayesbias.embeddings.readers.text import GLOVE


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
        # As many blanks, and fewer or more numbers.
        (LINES.replace(b" 2 ", b" 2\t2 "), r"line 1: wrong dimension; found: '4 numbers'"),
        (LINES.replace(b" 2 ", b"  "), r"line 1: wrong dimension; found: '2 numbers'"),
        (LINES.replace(b"rabbi ", b"rabbi\t0 "), r"line 1: wrong dimension; found: '4 numbers'"),
        (LINES.replace(b"\n", b"\r"), "line 1: a line holds a carriage return.*old Macs"),
        (LINES.replace(b" 2 ", b" 1e150 "), "line 1: the vector of 'rabbi' holds numbers too large"),
        (LINES.replace(b"7 8 9", b"1e-150 0 0"), "line 3: the vector of 'imam' holds numbers too small"),
        (LINES.replace(b" 2 ", b" 2,5 "), r"line 1: is not a number; found: '2,5'"),
        (LINES.replace(b" 2 ", b" nan "), r"line 1: the vector of 'rabbi' holds NaN or infinite numbers"),
        (LINES.replace(b"7 8 9", b"inf 8 9"), r"line 3: the vector of 'imam' holds NaN or infinite numbers"),
        (LINES.replace(b"7 8 9", b"0 0 0"), r"line 3: the vector of 'imam' holds only zeros.*valid: finite"),
        (LINES + b"rabbi 3 2 1\n", r"the word 'rabbi' stands there twice; found: 'lines 1 and 4'"),
        (
            LINES.replace(b"priest", b"pri\xffest"),
            r"line 2: the word is not valid UTF-8.*on_invalid_utf8='skip'",
        ),
        (b"word,x,y\nrabbi,1,two\n", "is not a format of word vectors known here; found: 'word,x,y"),
        (b"BZh91AY", "found: 'bzip2; unpack it, or compress it with gzip'"),
        (b'{"rabbi": [1, 2]}', "found: 'JSON'"),
        (
            b"\x93NUMPY\x01\x00",
            r"a single numpy array, which holds no words.*load_embedding\(\(words, matrix\)\)$",
        ),
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
        assert e.notes == ("1 word that is not valid UTF-8 was skipped (line 3)",)
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
    check(twice, r"the word 'imam' stands there twice; found: 'records 3 and 7'")
    path.write_bytes(binary_file(path, ["rabbi", b"\xff\xfe", "imam"], vectors[:3]).read_bytes())
    e = load_embedding(path, ["rabbi", "imam"], on_invalid_utf8="skip")
    assert np.array_equal(e.vectors, vectors[[0, 2]])
    assert e.notes == ("1 word that is not valid UTF-8 was skipped (record 2)",)


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
    keyed.save_embedding_format(str(tmp_path / "glove-twitter-25" / "glove-twitter-25.gz"))
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


@pytest.mark.parametrize("gone", [False, True])
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, monkeypatch, gone):
    """What was read may be of two states, and the hash is of one."""
    path = tmp_path / "v.txt"
    path.write_bytes(LINES)
    read = GLOVE.read

    def disturbed(asked):
        rows = read(asked)
        if gone:
            path.unlink()
        else:
            path.write_bytes(LINES + LINES.replace(b"a", b"o"))
        return rows

    monkeypatch.setattr(formats, "recognise", lambda _: (dataclasses.replace(GLOVE, read=disturbed), kind))
    kind = Kind(GLOVE.name, False, 3, None, 0)
    # The hash is taken beside: it may find that the file is gone before all is read.
    said = "(changed while it was read|no such file)" if gone else "changed while it was read"
    with pytest.raises(InputError, match=rf"v\.txt: {said}"):
        load_embedding(path)
