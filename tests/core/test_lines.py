"""Lines of a stream: the same as ever, and none without an end."""

from __future__ import annotations

import io
import itertools
import time

import pytest

from bayesbias.core.errors import InputError
from bayesbias.core.lines import blocks_of_lines


@pytest.mark.parametrize("content", [b"", b"a", b"a\n", b"\n", b"a\n\nbb\r\nccc", b"a\nbb\nccc\n\n"])
@pytest.mark.parametrize("chunk", [1, 2, 3, 100])
def test_lines_are_the_same_whatever_is_read_at_a_time(content, chunk):
    lines = list(itertools.chain.from_iterable(blocks_of_lines(io.BytesIO(content), "x", chunk=chunk)))
    expected = content.split(b"\n")
    assert lines == (expected if expected[-1] else expected[:-1])


@pytest.mark.parametrize("chunk", [3, 8, 100])
def test_a_line_that_is_too_long_is_named(chunk):
    content = b"ab\ncd\n" + b"x" * 12 + b"\nef\n"
    with pytest.raises(InputError, match=r"x\.txt, line 3: the line is longer"):
        list(blocks_of_lines(io.BytesIO(content), "x.txt", most=9, chunk=chunk))


class Endless(io.RawIOBase):
    taken = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        self.taken += size
        return b"x" * size


def test_a_line_without_end_takes_no_more_than_it_may_have():
    stream, started = Endless(), time.process_time()
    with pytest.raises(InputError, match="line 1: the line is longer"):
        list(blocks_of_lines(stream, "x"))
    assert stream.taken < 30e6
    assert time.process_time() - started < 1
