"""Messages: one line, which names place, finding and what is valid, and does nothing."""

from __future__ import annotations

from bayesbias.core.errors import InputError, nearest


def test_a_message_is_one_line_and_whole():
    where = "/folder/" + "w" * 400 + "/list.toml, class 'x', attributes"
    hint = nearest("crosed", ["crossed"])
    message = str(InputError("expected a model", where=where, found="f\n\x1b[2J" * 400, hint=hint))
    assert message.startswith(f"{where}: expected a model, got 'f")
    assert message.endswith(".... Did you mean 'crossed'?")
    assert message.isprintable()
    long = "must hold what " + "it must hold " * 40
    assert str(InputError(long.strip())) == f"{long.strip()}."


def test_the_former_name_of_a_model_has_its_new_one_as_hint():
    assert nearest("cells", ["crossed", "default"]) == "did you mean 'default'?"
    assert nearest("cells", ["cell"]) == "did you mean 'cell'?"


def test_what_was_found_is_shown_by_its_beginning():
    assert len(str(InputError("wrong", found="f" * 900))) < 200
    assert "Use valid0, valid1" in str(InputError("x", valid=[f"valid{i}" for i in range(99)]))


def test_words_do_nothing_in_a_message():
    error = InputError(
        "no \x1b[1m", where="\u202eelif", found="a\0", valid=["\u200b"], hint="line\nbreak"
    )
    assert str(error) == r"\u202eelif: no \x1b[1m, got 'a\x00'. Use \u200b. Line break."


def test_a_message_is_retold_with_a_wider_place():
    error = InputError("wrong", where="here", found="f", valid=["a", "b"]).retold("list")
    assert str(error) == "list, here: wrong, got 'f'. Use a, b."
