"""What encode() checks, and a remote service."""

from __future__ import annotations

import contextlib
import http.server
import json
import textwrap
import threading
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from helpers.encoders import SENTENCES, Fake, kept_in, vector_of

from bayesbias.core.errors import InputError
from bayesbias.encoders.encoder import Encoder, describe_encoder, function_encoder
from bayesbias.encoders.encoding import encode
from bayesbias.encoders.loading import load_encoder


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
    "one vector for all": (lambda made: made[0], r"no table of numbers; found: 'shape \(3,\), type float64'"),
    "three dimensions": (lambda made: made[:, :, None], r"shape \(3, 3, 1\)"),
    "no dimension": (lambda made: made[:, :0], r"shape \(3, 0\)"),
    "complex": (lambda made: made + 1j, "type complex128"),
    "text": (lambda made: made.astype(str), "type <U"),
    "ragged": (lambda made: [[1.0], [1.0, 2.0], [3.0]], r"cannot be made an array; found: 'list; "),
    "masked": (lambda made: np.ma.masked_equal(made, made[0, 0]), "holds numbers that are masked"),
    "numbered": (lambda made: pd.DataFrame({"id": range(len(made)), "b": 1.0, "c": 2.0}), "the column 'id' is no dimension"),
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
    assert message.startswith("encoder 'fake', batch 2 of 4")  # the rest is cut to one line
    assert "vectors of 3 sentences are kept in " in message
    assert kept_in(own_cache) == 3
    again = Fake()
    np.testing.assert_array_equal(encode(again, SENTENCES), [vector_of(s) for s in SENTENCES])
    # One known sentence is compared, the seven others are encoded.
    assert [len(batch) for batch in again.asked] == [1, 7]


@pytest.mark.parametrize("dtype", ["Float64", "Float32", "Int64", "float64[pyarrow]"])
def test_frames_of_numbers_that_may_be_missing_are_read(dtype):
    def framed(made):
        return pd.DataFrame(
            {f"d{i}": pd.array(made[:, i].round(), dtype=dtype) for i in range(made.shape[1])}
        )

    plain = encode(Fake(lambda made: made.round()), SENTENCES, cache=False)
    np.testing.assert_array_equal(encode(Fake(framed), SENTENCES, cache=False), plain)


def spoiled(row, value):
    def spoil(made):
        made[row] = value
        return made

    return spoil


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (np.nan, "holds NaN or infinite numbers; found: '1 such vector in the batch'; valid: finite"),
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

    with pytest.raises(InputError, match=r"batch 3 .*HTTP Error 503.*8 sentences are kept in"):
        encode(function_encoder(fail_later, name="some-model", version="2025-01", batch_size=4), SENTENCES)
    assert kept_in(own_cache) == 8
    assert encode(encoder, SENTENCES).shape == (10, 3)
    assert [len(batch) for batch in Service.seen] == [4, 4, 1, 2]


def test_a_wrong_key_is_final(remote):
    Service.troubles = []
    with pytest.raises(InputError, match="HTTP Error 401"):
        encode(lambda s: remote(s, key="wrong"), SENTENCES)


@pytest.mark.parametrize(
    "change", [lambda given: given.sort(reverse=True), lambda given: given.append("one more")]
)
def test_an_encoder_that_changes_the_list_it_is_given_is_refused(change):
    class Changing(Fake):
        def encode(self, sentences):
            change(sentences)
            return super().encode(sentences)

    with pytest.raises(InputError, match="the encoder changed the list of sentences that it was given"):
        encode(Changing(), SENTENCES, cache=False)
