"""Encoders that need no torch: what encode() checks, what it keeps, and what is refused."""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from typing import ClassVar

import numpy as np
import pytest

from bayesbias.basics.errors import InputError
from bayesbias.encoders.averages import cbow_encoder, cbow_tokens, static_encoder
from bayesbias.encoders.encoder import Encoder, describe_encoder, function_encoder
from bayesbias.encoders.encoding import encode
from bayesbias.encoders.loading import load_encoder
from bayesbias.encoders.precomputed import vectors_encoder
from bayesbias.vectors.loading import load_embedding
from bayesbias.vectors.static import static_vectors

NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
SENTENCES = [f"This is sentence {word}." for word in NUMBERS]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BAYESBIAS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "encoders.sqlite"


def vector_of(sentence):
    """Return three numbers that depend on the whole text."""
    return [len(sentence), sum(map(ord, sentence)) % 997 + 1, sentence.count("e") + 0.5]


class Fake:
    """A tiny encoder that counts what it is asked, and can be told to do wrong from some batch on."""

    name = "fake"
    fingerprint = "fake, version 1"

    def __init__(self, wrong=None, at=2):
        self.asked: list[list[str]] = []
        self.wrong, self.at = wrong, at

    def encode(self, sentences):
        self.asked.append(list(sentences))
        made = np.array([vector_of(s) for s in sentences])
        return self.wrong(made) if self.wrong and len(self.asked) >= self.at else made


def kept_in(path):
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT count(*) FROM vectors").fetchone()[0]
    connection.close()
    return rows


# --- encode -----------------------------------------------------------------------------------------


def test_duplicates_are_encoded_once_and_the_order_is_kept():
    fake = Fake()
    asked = [SENTENCES[3], SENTENCES[0], SENTENCES[3], SENTENCES[1], SENTENCES[0]]
    made = encode(fake, asked, batch_size=2, cache=False)
    np.testing.assert_array_equal(made, [vector_of(s) for s in asked])
    assert sorted(text for batch in fake.asked for text in batch) == sorted(
        {SENTENCES[0], SENTENCES[1], SENTENCES[3]}
    )
    assert [len(batch) for batch in fake.asked] == [2, 1]


@pytest.mark.parametrize(
    ("given", "expected"),
    [(np.float16, np.float32), (np.float32, np.float32), (np.float64, np.float64), (np.int32, np.float64)],
)
def test_the_type_of_the_numbers(given, expected):
    made = encode(lambda sentences: np.ones((len(sentences), 4), given), SENTENCES, cache=False)
    assert made.dtype == expected
    assert made.shape == (10, 4)


def test_an_encoder_may_use_its_array_again():
    buffer = np.zeros((2, 3))

    def reuse(sentences):
        buffer[: len(sentences)] = [vector_of(s) for s in sentences]
        return buffer[: len(sentences)]

    np.testing.assert_array_equal(
        encode(reuse, SENTENCES, batch_size=2, cache=False), [vector_of(s) for s in SENTENCES]
    )


def test_any_object_with_name_and_encode_is_an_encoder():
    fake = Fake()
    assert isinstance(fake, Encoder)
    assert load_encoder(fake) is fake
    assert describe_encoder(fake, SENTENCES) == {
        "name": "fake", "options": "", "provenance": {}, "account": {},
    }  # fmt: skip


WRONG = {
    "one vector for all": (lambda made: made[0], r"another shape or type; found: 'shape \(3,\), type float64'"),
    "three dimensions": (lambda made: made[:, :, None], r"shape \(3, 3, 1\)"),
    "no dimension": (lambda made: made[:, :0], r"shape \(3, 0\)"),
    "complex": (lambda made: made + 1j, "type complex128"),
    "text": (lambda made: made.astype(str), "type <U"),
    "ragged": (lambda made: [[1.0], [1.0, 2.0], [3.0]], r"cannot be made an array; found: 'list; .*inhomogeneous"),
    "nothing": (lambda made: None, "type object"),
    "fewer rows": (lambda made: made[:-1], "another number of vectors; found: 2; valid: 3"),
    "more rows": (lambda made: np.vstack([made, made]), "another number of vectors; found: 6; valid: 3"),
    "other dimension": (lambda made: made[:, :2], "changed its dimension; found: 2; valid: 3, as before"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_later_batch_is_named_and_the_earlier_ones_are_kept(own_cache, case):
    wrong, said = WRONG[case]
    with pytest.raises(InputError, match=said) as caught:
        encode(Fake(wrong), SENTENCES, batch_size=3)
    message = str(caught.value)
    assert "encoder 'fake', batch 2 of 4, sentences 'This is sentence " in message
    assert f"the vectors of 3 sentences are kept in {own_cache}" in message
    assert kept_in(own_cache) == 3
    again = Fake()
    np.testing.assert_array_equal(encode(again, SENTENCES), [vector_of(s) for s in SENTENCES])
    # One known sentence is compared, the seven others are encoded.
    assert [len(batch) for batch in again.asked] == [1, 7]


def spoiled(row, value):
    def spoil(made):
        made[row] = value
        return made

    return spoil


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (np.nan, "holds NaN or infinite numbers; found: '1 such vectors in the batch'; valid: finite"),
        ([1, np.inf, 1], "holds NaN or infinite numbers"),
        (0.0, "holds only zeros, and no cosine can be computed from it"),
    ],
)
def test_a_broken_vector_is_named_with_its_sentence(own_cache, value, said):
    fake = Fake(spoiled(1, value))
    with pytest.raises(InputError, match=said) as caught:
        encode(fake, SENTENCES, batch_size=3)
    assert f"encoder 'fake', batch 2 of 4, sentence {fake.asked[1][1]!r}: the vector" in str(caught.value)
    assert kept_in(own_cache) == 3


def test_an_encoder_that_fails_is_named_and_what_it_said():
    def fails(sentences):
        if SENTENCES[7] in sentences:
            raise ConnectionError("no line")
        return [vector_of(s) for s in sentences]

    with pytest.raises(
        InputError, match=r"'fails', batch \d+ of 5.*failed: ConnectionError: no line"
    ) as caught:
        encode(fails, SENTENCES, batch_size=2)
    assert isinstance(caught.value.__cause__, ConnectionError)
    assert "kept in" not in str(caught.value)  # a bare callable is not


@pytest.mark.parametrize(
    ("sentences", "said"),
    [
        ("This is love.", "one sentence was given where a list is expected; found: 'This is love.'"),
        ([], "there are no sentences to encode"),
        (["love", ""], "sentence 2: must be a text that is not empty; found: ''"),
        (["love", " \n"], "sentence 2: must be a text that is not empty"),
        (["love", None, "x"], "sentence 2: must be a text that is not empty"),
        (["love", b"x"], "sentence 2: must be a text that is not empty; found: b'x'"),
    ],
)
def test_what_is_not_a_list_of_sentences(sentences, said):
    with pytest.raises(InputError, match=said):
        encode("minilm-static", sentences)


@pytest.mark.parametrize("size", [0, -3, 1.5, True, "8"])
def test_what_is_not_a_batch_size(size):
    with pytest.raises(InputError, match="batch_size: must be a whole number of at least 1; found"):
        encode(Fake(), SENTENCES, batch_size=size)


def test_progress_counts_every_sentence(monkeypatch):
    said, ticks = [], []

    @contextlib.contextmanager
    def ticking(*arguments):
        said.append(arguments)
        yield ticks.append

    monkeypatch.setattr("bayesbias.encoders.encoding.ticking", ticking)
    encode(Fake(), SENTENCES[:4])
    encode(Fake(), SENTENCES * 2, batch_size=4, progress=True)
    assert said == [("encoding with fake", 4, None), ("encoding with fake", 6, True)]
    assert ticks == [4, 4, 2]


# --- the cache --------------------------------------------------------------------------------------


def test_kept_vectors_come_back_bit_by_bit_and_nothing_is_asked_again(own_cache):
    rng = np.random.default_rng(5)
    table = {s: rng.standard_normal(7).astype(np.float32) for s in SENTENCES}
    first = encode(function_encoder(lambda s: [table[x] for x in s], name="t", version="1"), SENTENCES)

    def never(sentences):
        raise AssertionError(sentences)

    second = encode(function_encoder(never, name="t", version="1"), SENTENCES[::-1])
    np.testing.assert_array_equal(second, first[::-1])
    assert (first.dtype, second.dtype) == (np.float32, np.float32)
    assert kept_in(own_cache) == 10


def test_another_version_name_or_option_has_vectors_of_its_own(own_cache):
    for change in ({}, {"version": "2"}, {"name": "u"}, {"options": "pooling=cls"}):
        fake = Fake()
        settings = {"name": "t", "version": "1"} | change
        encode(function_encoder(fake.encode, **settings), SENTENCES)
        assert len(fake.asked) == 1
    assert kept_in(own_cache) == 40
    with sqlite3.connect(own_cache) as connection:
        rows = connection.execute("SELECT name, options, provenance FROM encoders ORDER BY rowid").fetchall()
    connection.close()
    assert [row[:2] for row in rows] == [("t", ""), ("t", ""), ("u", ""), ("t", "pooling=cls")]
    assert json.loads(rows[1][2])["version"] == "2"


def test_a_bare_callable_is_not_kept(own_cache, tmp_path):
    first, second = Fake(), Fake()
    encode(first.encode, SENTENCES)
    encode(second.encode, SENTENCES)
    assert len(first.asked) == len(second.asked) == 1
    assert not own_cache.exists()
    with pytest.raises(InputError, match=r"'encode': the vectors of this encoder cannot be kept.*version="):
        encode(first.encode, SENTENCES, cache=tmp_path / "mine.sqlite")


def test_a_version_needs_a_name():
    with pytest.raises(InputError, match="a version needs a name of its own; found: \"version='2'\""):
        function_encoder(Fake().encode, version="2")


def test_a_function_changed_under_its_version_is_found(own_cache):
    encode(function_encoder(Fake().encode, name="t", version="1"), SENTENCES[:5])
    changed = function_encoder(lambda s: [vector_of(x)[::-1] for x in s], name="t", version="1")
    with pytest.raises(InputError, match=r"no longer gives the vector that is in the cache.*a new version"):
        encode(changed, SENTENCES)
    wider = function_encoder(lambda s: [[*vector_of(x), 1] for x in s], name="t", version="1")
    with pytest.raises(InputError, match="no longer gives the vector that is in the cache"):
        encode(wider, SENTENCES)
    assert kept_in(own_cache) == 5
    # Rounding, as between two devices, is no change.
    close = function_encoder(
        lambda s: [np.array(vector_of(x)) * (1 + 1e-6) for x in s], name="t", version="1"
    )
    assert encode(close, SENTENCES).shape == (10, 3)


def test_a_file_of_ones_own(tmp_path, own_cache):
    path = tmp_path / "deep" / "mine.sqlite"
    encode(Fake(), SENTENCES, cache=path)
    encode(Fake(), SENTENCES, cache=str(path))
    assert kept_in(path) == 10
    assert not own_cache.exists()
    encode(Fake(), SENTENCES, cache=False)
    assert not own_cache.exists()


def test_a_file_that_is_no_cache(tmp_path, own_cache):
    path = tmp_path / "text.sqlite"
    path.write_text("not a database, but long enough to look like one" * 10)
    with pytest.raises(InputError, match=r"text\.sqlite: cannot be used as a cache: file is not a database"):
        encode(Fake(), SENTENCES, cache=path)
    own_cache.parent.mkdir()
    own_cache.write_bytes(path.read_bytes())
    with pytest.warns(UserWarning, match="vectors are not kept: .*file is not a database"):
        made = encode(Fake(), SENTENCES)  # nobody asked for this file: the work is done without
    assert made.shape == (10, 3)


@pytest.mark.parametrize(
    "blob", [b"", b"123", np.full(3, np.nan).tobytes(), np.zeros(3).tobytes(), np.ones(2).tobytes()]
)
def test_a_damaged_row_is_made_again(own_cache, blob):
    good = encode(Fake(), SENTENCES)
    with sqlite3.connect(own_cache) as connection:
        connection.execute("UPDATE vectors SET vector = ? WHERE rowid = 4", (blob,))
    connection.close()
    fake = Fake()
    np.testing.assert_array_equal(encode(fake, SENTENCES), good)
    assert [len(batch) for batch in fake.asked] == [1, 1]
    np.testing.assert_array_equal(encode(Fake(np.negative, at=1), SENTENCES), good)  # mended on the disk


def test_a_cache_that_breaks_in_the_middle_costs_no_work(own_cache):
    class Breaking(Fake):
        def encode(self, sentences):
            if len(self.asked) == 1:
                own_cache.unlink()
                own_cache.mkdir()
            return super().encode(sentences)

    with pytest.warns(UserWarning, match="vectors are no longer kept: .*unable to open"):
        made = encode(Breaking(), SENTENCES, batch_size=3)
    np.testing.assert_array_equal(made, [vector_of(s) for s in SENTENCES])


def test_a_batch_is_kept_whole_or_not_at_all(own_cache):
    encode(Fake(), ["x"])
    with sqlite3.connect(own_cache) as connection:
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON vectors WHEN (SELECT count(*) FROM vectors) >= 5 "
            "BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"
        )
    connection.close()
    with pytest.warns(UserWarning, match="vectors are no longer kept: .*the disk is full"):
        made = encode(Fake(), SENTENCES, batch_size=3)
    np.testing.assert_array_equal(made, [vector_of(s) for s in SENTENCES])
    assert kept_in(own_cache) == 4  # the fifth vector fits, its batch does not


WORKER = """
import sys, time
import numpy as np
from bayesbias import encode
from bayesbias.encoders import function_encoder

count = 0
def slow(sentences):
    global count
    count += len(sentences)
    time.sleep(float(sys.argv[2]))
    return [[len(s), float(s.split()[-1]) + 1] for s in sentences]

made = encode(function_encoder(slow, name="slow", version="1"), [f"sentence {i}" for i in range(60)],
              batch_size=3, cache=sys.argv[1])
assert made.tolist() == [[len(f"sentence {i}"), i + 1] for i in range(60)]
print(count)
"""


def started(path, seconds):
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, str(path), str(seconds)], stdout=subprocess.PIPE, text=True
    )


def test_a_kill_costs_one_batch_at_most(tmp_path):
    path = tmp_path / "kept.sqlite"
    process = started(path, 0.15)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if path.exists() and path.stat().st_size and kept_in_or_none(path) >= 9:
            break
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    kept = kept_in(path)
    assert 9 <= kept < 60
    assert kept % 3 == 0  # whole batches
    second = started(path, 0)
    out, _ = second.communicate(timeout=60)
    assert second.returncode == 0
    assert int(out) == 60 - kept + 1  # and one to compare
    assert kept_in(path) == 60


def kept_in_or_none(path):
    try:
        return kept_in(path)
    except sqlite3.OperationalError:  # not made yet
        return -1


@pytest.mark.slow
def test_two_processes_may_use_one_cache(tmp_path):
    path = tmp_path / "shared.sqlite"
    pair = [started(path, 0.01), started(path, 0.01)]
    for process in pair:
        process.communicate(timeout=60)
    assert [process.returncode for process in pair] == [0, 0]
    assert kept_in(path) == 60


# --- a remote service, as the docstring shows it ------------------------------------------------------


class Service(http.server.BaseHTTPRequestHandler):
    """Answers 503 twice, then drops the line once, then works."""

    troubles: ClassVar[list[str]] = []
    seen: ClassVar[list[list[str]]] = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers["Authorization"] != "Bearer secret":
            self.send_error(401)
            return
        if self.troubles:
            trouble = self.troubles.pop(0)
            if trouble == "drop":
                self.connection.close()
            else:
                self.send_error(int(trouble))
            return
        self.seen.append(body["input"])
        rows = [{"index": i, "embedding": vector_of(s)} for i, s in enumerate(body["input"])]
        answer = json.dumps({"data": rows[::-1]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args):
        pass


@pytest.fixture
def service():
    Service.troubles, Service.seen = [], []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1/embeddings"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def remote(service):
    """Return the function of the docstring's example, talking to the local service."""
    text = textwrap.dedent(function_encoder.__doc__.split("::\n", 1)[1].split("Examples\n")[0])
    code = textwrap.dedent(text)
    assert "def remote(" in code
    space = {"function_encoder": function_encoder}
    exec(code, space)
    assert (space["encoder"].name, space["encoder"].batch_size) == ("some-model", 64)

    def ask(sentences, key="secret", tries=5):
        return space["remote"](sentences, service, key, tries, wait=0.01)

    return ask


@pytest.mark.slow
def test_a_remote_service_that_fails_at_first(remote, own_cache):
    Service.troubles = ["503", "429", "drop"]
    encoder = function_encoder(remote, name="some-model", version="2025-01", batch_size=4)
    made = encode(encoder, SENTENCES)
    np.testing.assert_array_equal(made, [vector_of(s) for s in SENTENCES])
    assert [len(batch) for batch in Service.seen] == [4, 4, 2]
    Service.troubles = ["401"]  # would be final: but nothing is asked again
    np.testing.assert_array_equal(encode(encoder, SENTENCES), made)
    assert Service.troubles == ["401"]


def test_a_remote_service_that_gives_up_loses_nothing_paid_for(remote, own_cache):
    encoder = function_encoder(
        lambda s: remote(s, tries=2), name="some-model", version="2025-01", batch_size=4
    )

    def fail_later(sentences):
        if len(Service.seen) == 2:
            Service.troubles = ["503"] * 2
        return remote(sentences, tries=2)

    with pytest.raises(InputError, match=r"batch 3 of 3.*HTTP Error 503.*8 sentences are kept in"):
        encode(function_encoder(fail_later, name="some-model", version="2025-01", batch_size=4), SENTENCES)
    assert kept_in(own_cache) == 8
    assert encode(encoder, SENTENCES).shape == (10, 3)
    assert [len(batch) for batch in Service.seen] == [4, 4, 1, 2]


def test_a_wrong_key_is_final(remote):
    Service.troubles = []
    with pytest.raises(InputError, match="HTTP Error 401"):
        encode(lambda s: remote(s, key="wrong"), SENTENCES)


# --- CBoW -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "tokens"),
    [
        ("This is Katie.", "This is Katie ."),
        ("The person's name is Amy.", "The person 's name is Amy ."),
        ("The person\u2019s name", "The person 's name"),
        ("It isn't, they're, I'd", "It is n't , they 're , I 'd"),
        ("short-term", "short-term"),
        ("New_York (again)", "New_York ( again )"),
        ("in the top 5% of", "in the top 5 % of"),
        ('a "stellar performer" here', 'a " stellar performer " here'),
        ("'s", "'s"),
        ("\u65e5\u672c \u3002", "\u65e5\u672c \u3002"),
        ("one  two\tthree\n", "one two three"),
        ("O'Brien's", "O'Brien 's"),
        ("...", ". . ."),
    ],
)
def test_tokens_as_the_penn_treebank_makes_them(sentence, tokens):
    assert cbow_tokens(sentence) == tokens.split()


def test_cbow_is_the_mean_of_the_vectors_found():
    vectors = {"This": [1, 0, 0], "is": [0, 2, 0], "Katie": [0, 0, 4], ".": [2, 2, 2], "love": [5.0, 5, 5]}
    encoder = cbow_encoder(vectors)
    made = encode(encoder, ["This is Katie.", "love", "This is is.", "This is Zoe."])
    expected = [[0.75, 1, 1.5], [5, 5, 5], [0.75, 1.5, 0.5], [1, 4 / 3, 2 / 3]]
    np.testing.assert_allclose(made, expected, rtol=1e-15)
    told = encoder.account(["This is Zoe.", "Zoe is Amy.", "love"])
    assert told["missing"] == {"Zoe": 2, "Amy": 1}
    assert told["lacking"] == {"This is Zoe.": ("Zoe",), "Zoe is Amy.": ("Zoe", "Amy")}
    assert told["matched"] == {}


def test_cbow_keeps_the_case_where_it_can():
    encoder = cbow_encoder({"this": [1.0, 0], "Love": [0.0, 1], "love": [0.0, 3]})
    np.testing.assert_array_equal(encode(encoder, ["This Love", "this love"]), [[0.5, 0.5], [0.5, 1.5]])
    assert encoder.account(["This Love"])["matched"] == {"This": "this"}
    assert encoder.provenance["casing"].startswith("kept")


def test_cbow_over_glove_equals_its_words(shared):
    path = shared / "data" / "vectors" / "glove840B_union_300d.txt"
    encoder = load_encoder(f"cbow:{path}?name=CBoW")
    made = encode(encoder, ["rose", "The rose and the short-term tulip."])
    words = load_embedding(path, ["rose", "tulip", "short-term"])
    np.testing.assert_array_equal(made[0], words["rose"])
    np.testing.assert_allclose(made[1], words.vectors.mean(axis=0), rtol=1e-12)
    told = encoder.account(["The rose and the short-term tulip."])
    assert told["missing"] == {"The": 1, "and": 1, "the": 1, ".": 1}
    assert encoder.provenance["embedding"]["sha256"].startswith("41b15e30ea01f943")
    assert encoder.name == "CBoW"


def test_a_sentence_without_a_known_word_is_an_error_not_a_zero():
    encoder = cbow_encoder({"is": [1.0, 2], ".": [3.0, 4]}, name="tiny")
    said = (
        r"encoder 'tiny', batch 1 of 1: sentence 'Zoe Amy\.': no word of the sentence is in the embedding; "
    )
    with pytest.raises(InputError, match=said + r"found: 'Zoe, Amy, \.'"):
        encode(encoder, ["Zoe is.", "Zoe Amy."])
    # Later calls may bring nothing but unknown words, and say the same.
    with pytest.raises(InputError, match="sentence 'Lisa': no word of the sentence is in the embedding"):
        encode(encoder, ["Lisa"])
    with pytest.raises(InputError, match="none of the 2 words is in the embedding"):
        encode(cbow_encoder({"is": [1.0, 2]}), ["Zoe Amy"])


def test_cbow_over_an_open_vocabulary():
    encoder = load_encoder("cbow:minilm-static")
    assert encoder.name == "CBoW minilm-static"
    made = encode(encoder, ["nurses heal"])
    np.testing.assert_allclose(made[0], static_vectors(["nurses", "heal"]).mean(axis=0), rtol=1e-6)


def test_an_unknown_embedding_is_said_before_any_work(tmp_path):
    with pytest.raises(
        InputError, match=r"unknown embedding; found: 'minilm-sttic'.*did you mean 'minilm-static'"
    ):
        load_encoder("cbow:minilm-sttic")
    with pytest.raises(InputError, match="no such vector file"):
        cbow_encoder(tmp_path / "none.txt")


# --- the one in the package ---------------------------------------------------------------------------


def test_the_static_encoder_takes_sentences_as_a_whole(own_cache):
    encoder = load_encoder("minilm-static")
    made = encode(encoder, ["This is a nurse.", "THIS IS A NURSE."])
    np.testing.assert_array_equal(made, static_vectors(["This is a nurse.", "this is a nurse."]))
    facts = describe_encoder(encoder)["provenance"]
    assert facts["sha256"]["model.safetensors"].startswith("327f8303d7bf5bef")
    assert facts["made_from"] == "sentence-transformers/all-MiniLM-L6-v2"
    assert not own_cache.exists()  # looking up is quicker than keeping
    with pytest.raises(
        InputError, match=r"no token of some texts is known; found: \"'\U00013000', '\U00013001'\""
    ):
        encode(static_encoder(name="x"), ["\U00013000", "This is love.", "\U00013001"])


# --- vectors computed elsewhere -----------------------------------------------------------------------


def saved(path, sentences, vectors):
    if path.suffix == ".npz":
        np.savez(path, sentences=np.array(sentences), vectors=vectors)
    elif path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"sentences": sentences, "vectors": list(vectors)}), path)
    else:
        import h5py

        with h5py.File(path, "w") as file:
            file["sentences"], file["vectors"] = sentences, vectors
    return path


FORMATS = [".npz", ".h5", ".hdf5", ".parquet"]


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_vectors_of_each_format(tmp_path, suffix, dtype):
    vectors = np.random.default_rng(2).standard_normal((10, 6)).astype(dtype)
    sentences = [*SENTENCES[:9], "Na\u00efve \u65e5\u672c."]
    path = saved(tmp_path / f"InferSent{suffix}", sentences, vectors)
    encoder = load_encoder(path)
    made = encode(encoder, [sentences[9], sentences[2], sentences[9]])
    np.testing.assert_array_equal(made, vectors[[9, 2, 9]])
    assert made.dtype == dtype
    assert encoder.name == "InferSent"
    facts = encoder.provenance
    assert (facts["sentences"], facts["dim"], len(facts["sha256"])) == (10, 6, 64)
    with pytest.raises(InputError, match=r"InferSent\..*: has no vector of 'This is love\.', 'x'"):
        encode(encoder, ["This is love.", sentences[0], "x"])
    with pytest.raises(InputError, match=r"has no vector of .*did you mean 'This is sentence two\.'"):
        encode(encoder, ["This is sentence tow."])


@pytest.mark.parametrize("suffix", FORMATS)
def test_vectors_that_do_not_fit(tmp_path, suffix):
    path = saved(tmp_path / f"twice{suffix}", ["a", "b", "a"], np.eye(3))
    with pytest.raises(
        InputError, match="rows 1 and 3: a sentence stands twice with different vectors; found: 'a'"
    ):
        vectors_encoder(path)
    same = saved(tmp_path / f"same{suffix}", ["a", "b", "a"], np.eye(3)[[0, 1, 0]])
    np.testing.assert_array_equal(encode(same, ["a", "b"]), np.eye(3)[:2])
    broken = saved(tmp_path / f"broken{suffix}", ["a", "b"], np.array([[1.0, 2], [np.nan, 1]]))
    np.testing.assert_array_equal(encode(broken, ["a"]), [[1, 2]])  # nobody asked for the other
    with pytest.raises(InputError, match="sentence 'b': the vector holds NaN"):
        encode(broken, ["a", "b"])
    damaged = tmp_path / f"damaged{suffix}"
    damaged.write_bytes(path.read_bytes()[:200])
    with pytest.raises(InputError, match=rf"damaged\{suffix}: cannot be read as"):
        vectors_encoder(damaged)


def test_pickles_are_refused(tmp_path):
    witness = tmp_path / "witness"

    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(witness),)

    path = tmp_path / "evil.npz"
    np.savez(path, sentences=np.array([Evil(), "a"], dtype=object), vectors=np.eye(2))
    with pytest.raises(InputError, match=r"evil\.npz: holds an array of objects, which is a pickle"):
        vectors_encoder(path)
    assert not witness.exists()


def test_files_of_another_layout(tmp_path):
    import h5py
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "a.npz"
    np.savez(path, sentence=np.array(["a"]), vectors=np.eye(1))
    with pytest.raises(
        InputError, match=r"lacks the array sentences; found: 'sentence, vectors'.*did you mean 'sentence'"
    ):
        vectors_encoder(path)
    np.savez(path, sentences=np.arange(2), vectors=np.eye(2))
    with pytest.raises(InputError, match=r"sentences are not text; found: 'shape \(2,\), type int64'"):
        vectors_encoder(path)
    np.savez(path, sentences=np.array(["a", "b"]), vectors=np.eye(3))
    with pytest.raises(
        InputError, match=r"do not fit the sentences; found: '2 sentences, vectors of shape \(3, 3\)"
    ):
        vectors_encoder(path)
    np.savez(path, sentences=np.array(["a", "b"]), vectors=np.array(["x", "y"]))
    with pytest.raises(InputError, match="do not fit the sentences"):
        vectors_encoder(path)
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["sentences"] = np.arange(2)
        file.create_group("vectors")
    with pytest.raises(InputError, match="lacks the dataset vectors"):
        vectors_encoder(path)
    with h5py.File(path, "w") as file:
        file["sentences"], file["vectors"] = np.arange(2), np.eye(2)
    with pytest.raises(InputError, match="sentences are not text"):
        vectors_encoder(path)
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"sentences": ["a", "b"], "vectors": [[1.0], [1.0, 2.0]]}), path)
    with pytest.raises(InputError, match="vectors are not all of one dimension"):
        vectors_encoder(path)
    pq.write_table(pa.table({"sentences": ["a", "b"], "vectors": [1.0, 2.0]}), path)
    with pytest.raises(InputError, match="vectors are not lists of numbers; found: 'double'"):
        vectors_encoder(path)
    pq.write_table(pa.table({"sentences": ["a", None], "vectors": [[1.0], [2.0]]}), path)
    with pytest.raises(InputError, match="row 2 of sentences: is not a sentence"):
        vectors_encoder(path)
    pq.write_table(pa.table({"texts": ["a"]}), path)
    with pytest.raises(InputError, match="lacks the column sentences; found: 'texts'"):
        vectors_encoder(path)
    with pytest.raises(InputError, match=r"no such file of vectors; did you mean 'a\.parquet'"):
        vectors_encoder(tmp_path / "b.parquet")
    (tmp_path / "folder.h5").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        load_encoder(tmp_path / "folder.h5")


# --- load_encoder -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("minilm-sttic", "unknown encoder; found: 'minilm-sttic'; valid: minilm-static, .*did you mean 'minilm-static'"),
        ("transformer:bert", "unknown encoder; .*did you mean 'transformers'"),
        ("glove-wiki-gigaword-100", "the mean of its word vectors: cbow:glove-wiki-gigaword-100"),
        ("transformers:x?poling=cls", r"encoder 'transformers:x\?poling=cls': unknown option; found: 'poling'; .*'pooling'"),
        ("sentence-transformers:x?pooling=cls", "unknown option; found: 'pooling'; valid: max_length, device"),
        ("cbow:x?layer=2", "unknown option; found: 'layer'; valid: name"),
        ("transformers:x?layer=two", "layer must be a whole number; found: 'two'"),
        ("transformers:x?layer=1&layer=2", "the option stands twice; found: 'layer=2'"),
        ("transformers:x?pooling=", "the option has no value; found: 'pooling='; valid: pooling=VALUE, once"),
        ("transformers:x?pooling=men", "unknown pooling; found: 'men'; valid: cls, mean, max, last; did you mean 'mean'"),
        ("transformers:x?special_tokens=no", "unknown value of special_tokens; found: 'no'; valid: include, exclude"),
        ("transformers:", "names no model"),
        ("cbow:", "names no embedding"),
        ("", "unknown encoder; found: ''"),
        (3, "cannot be used as an encoder; found: 'int'"),
        (None, "cannot be used as an encoder; found: 'NoneType'"),
    ],
)  # fmt: skip
def test_what_names_no_encoder(spec, said):
    with pytest.raises(InputError, match=said):
        load_encoder(spec)


def test_folders_and_other_files_say_how_to_name_them(tmp_path):
    with pytest.raises(InputError, match=f"a model in a folder: transformers:{tmp_path} or sentence"):
        load_encoder(tmp_path)
    (tmp_path / "glove.txt").write_text("a 1 2\n")
    with pytest.raises(InputError, match=f"the mean of its word vectors: cbow:{tmp_path}/glove.txt"):
        load_encoder(tmp_path / "glove.txt")


def test_objects_with_encode_but_no_name():
    class Nameless:
        def encode(self, sentences):
            return [vector_of(s) for s in sentences]

        def __call__(self, sentences):
            raise AssertionError

    with pytest.raises(
        InputError, match=r"has a method encode, but no name.*load_encoder\(model\.encode, name="
    ):
        load_encoder(Nameless())
    assert encode(load_encoder(Nameless().encode, name="n"), SENTENCES, cache=False).shape == (10, 3)
    with pytest.raises(InputError, match="an encoder has a name of its own"):
        load_encoder(Fake(), name="other")


@pytest.mark.parametrize("name", ["a\tb", "a\nb", 3])
def test_names_that_no_table_can_hold(name):
    with pytest.raises(InputError, match="is not the name of an encoder"):
        load_encoder("minilm-static", name=name)


def test_settings_that_do_not_apply():
    with pytest.raises(InputError, match="device: only models run on a device; found: 'cuda'"):
        load_encoder("minilm-static", device="cuda")
    with pytest.raises(InputError, match="version: is for callables"):
        load_encoder("minilm-static", version="1")
    with pytest.raises(InputError, match="cache: is not a cache; found: 3"):
        encode(Fake(), SENTENCES, cache=3)


@pytest.mark.parametrize("kind", ["transformers", "sentence-transformers"])
def test_without_the_extra_it_says_how_to_install_it(monkeypatch, kind):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match=rf"needs {kind} and torch, .*pip install 'bayesbias\[encoders\]'"):
        load_encoder(f"{kind}:owner/name")


def test_importing_the_module_loads_nothing_heavy():
    code = "import sys, bayesbias.encoders.loading, bayesbias.encoders.encoding; print(*{n.split('.')[0] for n in sys.modules})"
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "bayesbias" in out
    assert not {"torch", "transformers", "sentence_transformers", "h5py", "pyarrow", "pandas"} & set(out)
