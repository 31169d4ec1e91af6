"""Messages: one line of at most 300 characters, which name place, finding and what is valid, and do nothing."""

from __future__ import annotations

import itertools

import pytest

from bayesbias.core.errors import InputError, nearest

LONG = {
    "where": "/folder/" + "w" * 900 + "/list.toml, class 'x', attributes",
    "found": "f\n\x1b[2J" * 400,
    "valid": [f"valid{i}" * 9 for i in range(99)],
}


@pytest.mark.parametrize("parts", [p for n in range(4) for p in itertools.combinations(LONG, n)])
def test_a_message_is_one_short_line_whatever_it_is_about(parts):
    hint = nearest("crosed", ["crossed"])
    message = str(InputError("unknown model", hint=hint, **{part: LONG[part] for part in parts}))
    assert len(message) <= 300
    assert message.isprintable()
    assert "unknown model" in message
    assert "did you mean 'crossed'?" in message
    for part in parts:
        assert {"where": "attributes: ", "found": "found: 'f", "valid": "valid: valid0"}[
            part
        ] in message
    assert message.startswith("/folder/w") == ("where" in parts)


def test_a_long_problem_is_cut_and_a_short_message_is_not():
    assert len(str(InputError("p" * 900, where="w" * 400))) == 300
    short = "a" * 200
    assert (
        str(InputError(short, where="here", valid="b" * 50)) == f"here: {short}; valid: {'b' * 50}"
    )


def test_words_do_nothing_in_a_message():
    message = str(
        InputError(
            "no \x1b[1m", where="\u202eelif", found="a\0", valid=["\u200b"], hint="line\nbreak"
        )
    )
    assert message == r"\u202eelif: no \x1b[1m; found: 'a\x00'; valid: \u200b; line break"


def test_the_parts_of_a_message_are_whole():
    error = InputError("wrong", where="here", found="f" * 900, valid=["a", "b"])
    assert len(str(error)) <= 300
    assert error.parts == {
        "where": "here",
        "problem": "wrong",
        "found": repr("f" * 900),
        "valid": "a, b",
        "hint": "",
    }
