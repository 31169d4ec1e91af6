"""Files damaged at random in the ways that readers of binary files stumble over, and the limits that reading them is held to."""

from __future__ import annotations

import resource
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.core.errors import InputError

MOST_SECONDS = 5.0  # of the processor, for one file
MOST_MEMORY = 1 << 30  # bytes that all of them may add
MOST_CHARACTERS = 300  # of a message

# Numbers that headers lie with: none, one too many, the largest of each width, and negative ones.
_LIES = (0, 1, 2, 7, 127, 255, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1)
_SPELLED = (b"0", b"99999999", b"4294967296", b"-1", b"9" * 30, b"1e9", b"nan")


def _flips(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    out = bytearray(content)
    near = len(out) if rng.random() < 0.5 else min(len(out), 256)  # headers are where it hurts
    for _ in range(int(rng.integers(1, 9))):
        out[int(rng.integers(near))] = int(rng.integers(256))
    return bytes(out)


def _cut(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    return content[: int(rng.integers(len(content)))]


def _lie(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Write a number where one of 2, 4 or 8 bytes may stand."""
    out = bytearray(content)
    near = len(out) if rng.random() < 0.3 else min(len(out), 400)
    for _ in range(int(rng.integers(1, 4))):
        width = int(rng.choice([2, 4, 8]))
        number = int(rng.choice(np.array(_LIES, dtype=object))) % (1 << 8 * width)
        at = int(rng.integers(near))
        out[at : at + width] = struct.pack("<Q", number)[: min(width, len(out) - at)]
    return bytes(out)


def _respelled(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Replace a number that is written in digits, as headers of text and of JSON have them."""
    places = [i for i in range(min(len(content), 4000)) if content[i : i + 1].isdigit()]
    if not places:
        return _flips(content, other, rng)
    start = end = int(rng.choice(places))
    while content[end : end + 1].isdigit():
        end += 1
    return content[:start] + _SPELLED[int(rng.integers(len(_SPELLED)))] + content[end:]


def _spliced(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    return content[: int(rng.integers(len(content) + 1))] + other[int(rng.integers(len(other))) :]


def _moved(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Take a part out and put it in elsewhere, or twice."""
    start = int(rng.integers(len(content)))
    part = content[start : start + int(rng.integers(1, 300))]
    rest = content if rng.random() < 0.5 else content[:start] + content[start + len(part) :]
    at = int(rng.integers(len(rest) + 1))
    return rest[:at] + part + rest[at:]


def _blank(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Put the same byte, very often, where something else stood: what has no end is searched for long."""
    at = int(rng.integers(len(content)))
    return content[:at] + bytes([int(rng.integers(256))]) * int(rng.integers(1, 400_000))


def _noise(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    return content[: int(rng.integers(40))] + rng.bytes(int(rng.integers(0, 4000)))


WAYS: tuple[Callable[[bytes, bytes, np.random.Generator], bytes], ...] = (
    _flips, _flips, _lie, _lie, _respelled, _cut, _spliced, _moved, _blank, _noise,
)  # fmt: skip


def damaged(content: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Return a file damaged in one way, or in two."""
    for _ in range(1 + (rng.random() < 0.25)):
        content = WAYS[int(rng.integers(len(WAYS)))](content or b"\0", other or b"\0", rng)
    return content


@dataclass
class Account:
    """What reading damaged files came to."""

    read: int = 0
    refused: int = 0
    wrong: list[str] = field(default_factory=list)
    slowest: float = 0.0
    memory: int = 0

    @property
    def cases(self) -> int:
        return self.read + self.refused


def fuzzed(
    read: Callable[[Path], Any],
    seeds: list[bytes],
    folder: Path,
    count: int,
    rng: np.random.Generator,
    suffix: str = "",
    keep: Path | None = None,
) -> Account:
    """Read `count` damaged files; nothing but `InputError` may come of it, within the limits.

    What goes wrong is told by its number, so that the seed gives it again; with `keep` the file is kept there.
    """
    account = Account()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    path = folder / f"damaged{suffix}"
    for number in range(count):
        content = seeds[number % len(seeds)]
        bad = damaged(content, seeds[int(rng.integers(len(seeds)))], rng)
        path.unlink(missing_ok=True)
        path.write_bytes(bad)
        started, wrong = time.process_time(), ""
        try:
            read(path)
            account.read += 1
        except InputError as error:
            account.refused += 1
            text = str(error)
            if len(text) > MOST_CHARACTERS or not text.isprintable():
                wrong = f"a message of {len(text)} characters: {text[:200]!r}"
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            wrong = f"{type(error).__name__}: {str(error)[:200]}"
        seconds = time.process_time() - started
        account.slowest = max(account.slowest, seconds)
        if seconds > MOST_SECONDS:
            wrong = wrong or f"took {seconds:.1f} s"
        if wrong:
            account.wrong.append(f"case {number} of seed file {number % len(seeds)}: {wrong}")
            if keep is not None:
                (keep / f"{number}{suffix}").write_bytes(bad)
    account.memory = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    if account.memory > MOST_MEMORY:
        account.wrong.append(f"{account.memory:,} bytes of memory were added")
    return account
