"""The reader of word2vec binary."""

import itertools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from bayesbias.core.errors import InputError
from bayesbias.embeddings.readers.common import Block, Format, Head, Layout, Reading, Rows, gather
from bayesbias.embeddings.readers.text import layout_of_headed

_AT_ONCE = 16
_BLOCK = 1 << 19  # bytes read and walked at once: fits the processor's cache


def read_binary(reading: Reading) -> Rows:
    """Read word2vec binary: a header, then records of word and numbers.

    A record has no fixed length, so the file must be walked record by record. One regular
    expression walks some 400 of them a call without touching the numbers, a set intersection
    finds the wanted ones. One small buffer, filled again and again, stays in the cache.
    """
    return gather(reading, _records(reading), "<f4", "record")


def _records(reading: Reading) -> Iterator[Block]:
    dim = reading.layout.dim
    record = rb"([^ ]*+) .{%d}+" % (4 * dim)
    # Sixteen at once take a quarter less time than one by one.
    patterns = [re.compile(record * times, re.DOTALL) for times in (_AT_ONCE, 1)]
    room = bytearray(max(_BLOCK, 16 * dim))
    view = memoryview(room)
    words: list[bytes] = []

    def rows_of(chosen: list[int]) -> list[Any]:
        starts = list(itertools.accumulate((len(w) + 1 + 4 * dim for w in words), initial=0))
        return [np.frombuffer(room, "<f4", dim, starts[i] + len(words[i]) + 1) for i in chosen]

    left = 0
    with reading.opened() as stream:
        while got := stream.readinto(view[left:]):  # type: ignore[attr-defined]
            words, walked, end = [], 0, left + got
            for pattern in patterns:
                while match := pattern.match(room, walked, end):
                    words += match.groups()
                    walked = match.end()
            yield words, rows_of
            left = end - walked
            view[:left] = view[walked:end]
            reading.told(stream)
    if bytes(view[:left]).strip():
        found = "a last record that is cut off"
        hint = "download or copy it again"
        raise InputError("expected whole records", where=reading.path, found=found, hint=hint)


def _recognize(head: Head) -> Layout | None:
    return layout_of_headed(head, text=False)


FORMAT = Format("word2vec binary", (".bin", ".w2v"), _recognize, read_binary, sparse=True)
