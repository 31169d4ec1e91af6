"""Whatever a library throws becomes one error in one line."""

from __future__ import annotations

import pytest

from bayesbias.core.errors import FitError, InputError
from bayesbias.core.guarding import guarded, reason


def deep(n: int) -> int:
    return deep(n + 1) + 1


class Speechless(Exception):  # noqa: N818 - as a library may call it
    def __str__(self) -> str:
        raise ValueError("no words")


class PanicException(BaseException):
    pass


LONG = "x" * 5000
THROWN = [
    ValueError("first\nsecond\x1b[31m red\x00"),
    KeyError("a"),
    MemoryError(),
    OSError(5, "Input/output error"),
    UnicodeDecodeError("utf-8", b"\xff" * 900, 0, 1, "invalid start byte"),
    Speechless(),
    PanicException("index out of bounds"),
    RuntimeError(LONG),
    AssertionError(),
]


@pytest.mark.parametrize("error", THROWN, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("where", ["file.bin", f"a/{LONG}\nb", None])
def test_what_a_library_throws_is_one_short_line(error, where):
    with pytest.raises(InputError) as caught, guarded(where, valid=LONG, hint="copy it again"):
        raise error
    text = str(caught.value)
    assert len(text) <= 300
    assert text.isprintable()
    assert "cannot be read" in text


def test_want_of_room_for_recursion_is_told():
    with pytest.raises(InputError, match="nested too deeply"), guarded("model.toml"):
        deep(0)


def test_a_damaged_size_that_no_memory_holds_is_told():
    with pytest.raises(InputError, match="more memory than there is"), guarded("x.npy"):
        bytearray(1 << 60)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_ctrl_c_and_ends_pass(error):
    with pytest.raises(error), guarded("x"):
        raise error


@pytest.mark.parametrize("error", [InputError("is empty", where="x"), FitError("no")])
def test_errors_made_on_purpose_pass_as_they_are(error):
    with pytest.raises(type(error)) as caught, guarded("y"):
        raise error
    assert caught.value is error


def test_the_reason_of_the_system_is_its_words():
    assert reason(PermissionError(13, "Permission denied", "/x")) == "Permission denied"
    assert reason(ValueError("")) == "ValueError"
