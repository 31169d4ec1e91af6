"""The readers of word2vec text and GloVe text."""

import collections
import itertools
import re
from collections.abc import Iterator

from bayesbias.core.errors import InputError
from bayesbias.core.files import blocks_of_lines
from bayesbias.embeddings.readers import common
from bayesbias.embeddings.readers.common import Format, Head, Layout, Reading, Rows, gather

_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_HEADER = re.compile(rb"\s{0,16}(\d{1,15})[ \t]{1,16}(\d{1,15})\s{0,16}\Z")


def read_text(reading: Reading) -> Rows:
    """Read word2vec text (with a header) or GloVe text (without one).

    The number of fields is checked on every line, numbers are read on wanted lines only. A word
    may hold spaces (some of GloVe 840B do): a line is split from the right.
    """
    before = int(reading.layout.count is not None)
    return gather(reading, _blocks(reading, before), "<f8", "line", before)


def _blocks(reading: Reading, before: int) -> Iterator[common.Block]:
    dim, number = reading.layout.dim, before  # of lines read
    words: list[bytes] = []
    lines: list[bytes] = []

    def skip(i: int, problem: str, found: object) -> None:
        reading.skip(f"line {number + i + 1}", problem, found)

    def row_of(i: int) -> list[float] | None:
        fields = lines[i].lstrip()[len(words[i]) :].split()
        bad = next((text for text in fields if not common.is_number(text)), None)
        if bad is None and len(fields) == dim:
            return list(map(float, fields))
        if bad is None:
            skip(i, "expected as many numbers as in most lines", f"{len(fields)} numbers")
        else:
            skip(i, "expected a number", bad[:60].decode("utf-8", "replace"))
        return None

    with reading.opened() as stream:
        for lines in blocks_of_lines(stream, reading.path):
            words = []
            for line in lines:
                # A trailing blank is how word2vec.c and fastText write.
                if line.count(b" ") - line.endswith(b" ") == dim and not line.startswith(b" "):
                    words.append(line[: line.find(b" ")])
                    continue
                # More fields than numbers: a word with spaces, unless all of them are numbers.
                fields = line.split()
                surplus = len(fields) - dim - 1
                if not fields:
                    words.append(b"")
                elif surplus < 0 or (surplus > 0 and all(map(common.is_number, fields[1:]))):
                    skip(
                        len(words),
                        "expected as many numbers as in most lines",
                        f"{len(fields) - 1} numbers",
                    )
                    words.append(b"")
                else:
                    words.append(line.strip().rsplit(None, dim)[0])
            yield words, lambda chosen: list(map(row_of, chosen))
            number += len(lines)
            reading.told(stream)


def layout_of_headed(head: Head, text: bool) -> Layout | None:
    """Return the layout of text (or binary) with a header of word2vec."""
    first, _, rest = head.start[head.mark :].partition(b"\n")
    header = _HEADER.match(first)
    if not header:
        return None
    count, dim = int(header[1]), int(header[2])
    if count < 1 or not 1 <= dim <= common.MOST_DIMENSIONS:
        found, where = first.decode("ascii").strip(), f"{head.path}, line 1"
        raise InputError("expected a header with words and dimensions", where=where, found=found)
    sample = rest[:4096].partition(b" ")[2]
    plain = sum(byte in b"0123456789.eE+- \t\r\n" for byte in sample)
    if text != (not _CONTROL.search(sample) and 2 * plain >= len(sample)):
        return None
    return Layout(dim, count, head.mark + len(first) + 1)


def _layout_of_glove(head: Head) -> Layout | None:
    lines = head.start[head.mark :].split(b"\n")
    lines = lines[: min(max(1, len(lines) - 1), 100)]  # the last may be cut
    fields = [line.split() for line in lines if line.strip()]
    numbers = any(len(f) > 1 and common.is_number(f[-1]) for f in fields)
    if not numbers or _CONTROL.search(b"".join(lines)):
        return None
    # Numbers at the end of a line, most often: a word may hold blanks, but few end in a number.
    lengths = (
        sum(1 for _ in itertools.takewhile(common.is_number, reversed(f[1:]))) for f in fields
    )
    dim = collections.Counter(lengths).most_common(1)[0][0]
    return Layout(dim, None, head.mark) if dim else None


def _layout_of_word2vec(head: Head) -> Layout | None:
    return layout_of_headed(head, text=True)


WORD2VEC = Format("word2vec text", (".txt", ".vec", ".w2v"), _layout_of_word2vec, read_text)
GLOVE = Format("GloVe text", (".txt",), _layout_of_glove, read_text)
