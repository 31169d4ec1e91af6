"""What encode() checks, and a remote service."""

from __future__ import annotations

import http.server
import json
import textwrap
import threading
from typing import ClassVar

import numpy as np
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
    [
        (np.float16, np.float32),
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.int32, np.float64),
    ],
)
def test_the_type_of_the_numbers(given, expected):
    made = encode(lambda sentences: np.ones((len(sentences), 4), given), SENTENCES, cache=False)
    assert made.dtype == expected
    assert made.shape == (10, 4)


def test_any_object_with_name_and_encode_is_an_encoder():
    fake = Fake()
    assert isinstance(fake, Encoder)
    assert load_encoder(fake) is fake
    assert describe_encoder(fake, SENTENCES) == {
        "name": "fake", "options": "", "provenance": {}, "account": {},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda made: made[0], r"shape \(3,\), type float64"),
        (lambda made: made.astype(str), "type <U"),
        (lambda made: [[1.0], [1.0, 2.0], [3.0]], "the encoder failed"),
        (lambda made: made[:-1], r"found: 'shape \(2, 3\), .*valid: numbers of shape \(3, 3\)"),
        (lambda made: made[:, :2], r"found: 'shape \(3, 2\)"),
        (lambda made: made * np.nan, "'This is sentence .*': the vector holds NaN"),
        (lambda made: made * 0, "the vector holds NaN, infinite or only zero numbers"),
    ],
)
def test_a_wrong_later_batch_is_named_and_the_earlier_ones_are_kept(own_cache, wrong, said):
    with pytest.raises(InputError, match=said) as caught:
        encode(Fake(wrong), SENTENCES, batch_size=3)
    assert str(caught.value).startswith("encoder 'fake', batch 2 of 4")
    assert "vectors of 3 sentences are kept in " in str(caught.value)
    again = Fake()
    np.testing.assert_array_equal(encode(again, SENTENCES), [vector_of(s) for s in SENTENCES])
    # One known sentence is compared, the seven others are encoded.
    assert [len(batch) for batch in again.asked] == [1, 7]


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
        (
            "This is love.",
            "one sentence was given where a list is expected; found: 'This is love.'",
        ),
        ([], "there are no sentences to encode"),
        (["love", ""], "sentence 2: must be a text that is not empty; found: ''"),
    ],
)
def test_what_is_not_a_list_of_sentences(sentences, said):
    with pytest.raises(InputError, match=said):
        encode("minilm-static", sentences)


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
        encode(
            function_encoder(fail_later, name="some-model", version="2025-01", batch_size=4),
            SENTENCES,
        )
    assert kept_in(own_cache) == 8
    assert encode(encoder, SENTENCES).shape == (10, 3)
    assert [len(batch) for batch in Service.seen] == [4, 4, 1, 2]
