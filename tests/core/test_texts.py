"""Text, TOML and JSON from outside: clean, bounded, and refused in one line."""

from __future__ import annotations

import time
import unicodedata

import pytest

from bayesbias.core.errors import InputError
from bayesbias.core.texts import decoded, lines_of, parse_json, parse_toml, read_text


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_text_of_another_width_is_named(encoding):
    with pytest.raises(InputError, match=r"^x: is UTF-(16|32) text; valid: UTF-8; save it as UTF-8$"):
        decoded("schema = 1\n".encode(encoding), "x")


def test_a_mark_of_utf8_is_taken_off_and_latin1_is_named_by_line():
    assert decoded(b"\xef\xbb\xbfa", "x") == "a"
    with pytest.raises(InputError, match=r"^x, line 2: is not valid UTF-8; found: b'\\xe9'.*Latin-1"):
        decoded("a\né".encode("latin-1"), "x")


@pytest.mark.parametrize("parse", [parse_toml, parse_json])
@pytest.mark.parametrize(
    ("toml", "json", "said"),
    [
        # Beyond any limit of recursion: other libraries raise that of the process.
        pytest.param("a = " + "[" * 100_000, "[" * 100_000, "it is nested too deeply", id="never closed"),
        ("a = " + "[" * 150 + "]" * 150, "[" * 150 + "]" * 150, "is nested too deeply; valid: at most 100"),
        (
            "a = " + "9" * 5000,
            "9" * 5000,
            "holds a number of more digits than are read; valid: at most 4,300 digits",
        ),
        ('a = "b\\u0000"', '{"a": "b\\u0000"}', "x, a: holds a control character; found: '\\x00'"),
        ('a = ["b", "\\u001b[1m"]', '{"a": ["b", "\\u001b[1m"]}', "x, a, 2: holds a control character"),
        ('a = "\\ud800"', '{"a": "\\ud800"}', ""),
        ("a = 1\na = 2", '{"a": 1, "a": 2}', ""),
        (
            'a = "a' + "\u0301\u0323" * 60 + '"',
            '["a' + "\u0301\u0323" * 60 + '"]',
            "holds a letter with more than 100 marks",
        ),
        ('"\u00e4" = 1\n"a\u0308" = 2', '{"\u00e4": 1, "a\u0308": 2}', "a key stands twice"),
    ],
)
def test_what_no_such_file_holds_is_refused_in_one_line(parse, toml, json, said):
    content = (toml if parse is parse_toml else json).encode()
    with pytest.raises(InputError) as refused:
        parse(content, "x")
    message = str(refused.value)
    assert message.startswith("x")
    assert len(message) <= 300
    assert message.isprintable()
    assert said.replace("\\x00", "\\x00") in message


def test_texts_come_composed_and_our_own_as_they_were_written():
    apart = unicodedata.normalize("NFD", "König")
    assert parse_toml(f'"{apart}" = ["{apart}"]'.encode(), "x") == {"König": ["König"]}
    assert parse_json(f'{{"a": "{apart}"}}'.encode(), "x") == {"a": "König"}
    assert parse_json(f'{{"a": "{apart}", "a": "{apart}"}}'.encode(), "x", as_written=True) == {"a": apart}


def test_a_control_character_in_a_text_is_named_by_its_line(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"a\r\nb\nc\x1b[1m\n")
    with pytest.raises(InputError, match=r"x\.csv, line 3: holds a control character; found: '\\x1b'"):
        read_text(path)
    path.write_bytes("Ko\u0308nig\r\nb\u2028c\n".encode())
    assert lines_of(read_text(path)) == ["König", "b\u2028c"]


@pytest.mark.parametrize(
    "text", ["a." * 100_000 + "a = 1", "[" + "a . " * 101 + "a]", '"a".' * 101 + "a = 1"], ids=len
)
def test_keys_of_very_many_parts_are_refused_before(text):
    began = time.process_time()
    with pytest.raises(InputError, match="x: is nested too deeply; valid: at most 100 levels"):
        parse_toml(text.encode(), "x")
    assert time.process_time() - began < 0.5
    parse_toml(b"a = 0x" + b"f" * 500_000, "x")  # one part, however long
    assert time.process_time() - began < 0.5
    assert parse_toml(b'a = "so ... it.is.said"\nb.c.d = 1.5', "x")["b"] == {"c": {"d": 1.5}}


@pytest.mark.parametrize(
    ("read", "content"),
    [
        (lambda text: parse_toml(text, "a.toml"), b"a = 1\n" * 200_000),
        (lambda text: parse_toml(text, "a.toml"), b"".join(b"[a%d]\n" % i for i in range(20_001))),
        (lambda text: parse_toml(text, "a.toml"), b"[a]\n" * 20_001 + b"b=0x" + b"f" * 900_000),
        (lambda text: parse_json(text, "a.json"), b"[" + b"1," * (1 << 21) + b"1]"),
        (lambda text: parse_json(text, "a.json"), b"[" + b"[]," * (1 << 20) + b"1]"),
        (lambda text: parse_json(text, "a.json", as_written=True), b"[" + b"[]," * (1 << 21) + b"1]"),
    ],
)
def test_what_a_parser_would_take_long_over_is_refused_before(read, content):
    began = time.process_time()
    with pytest.raises(InputError, match=r"(larger|more lists|more tables) than any such file"):
        read(content)
    assert time.process_time() - began < 0.5
