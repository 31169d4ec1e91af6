"""Texts that would do something if they were let: made at random from what terminals, pages, figures and parsers obey."""

from __future__ import annotations

import unicodedata

import numpy as np

PIECES = [
    "[/]", "[bold]", "[/bold]", "[red", ":door:", "\\", "\x1b[2J", "\x1b]0;t\x07", "\x9b31m", "\0", "\x7f", "\r", "\n", "\t",
    "\u202e", "\u2066", "\u200f", "\u200b", "\u200d", "\ufeff", "\u00ad", "\u2028", "\U000e0041", "\ud800", "\ufffe",
    "$", "$x_1$", "\\frac{", "_", "^", "{0}", "%s", "<b>", "</text>", "<!--", "]]>", "&amp;", "&#0;", "\"", "'", "`",
    "=1+1", "+cmd", "-2", "@SUM", "'=", ",", ";", "שלום", "مرحبا", "日本", "👩\u200d🚀", "Ko\u0308nig", "König", "a",
    "nurse", " ", "x" * 70,
]  # fmt: skip


def word(rng: np.random.Generator, most: int = 4, *, acting: bool = True) -> str:
    """Return a text of a few pieces; without `acting` one that the checks of words let in."""
    while True:
        text = "".join(PIECES[i] for i in rng.integers(len(PIECES), size=rng.integers(1, most + 1))).strip()
        kinds = {unicodedata.category(c) for c in text}
        if text and (acting or not kinds & {"Cc", "Cs", "Zl", "Zp"}):
            return text if acting else unicodedata.normalize("NFC", text)


def words(rng: np.random.Generator, count: int, *, acting: bool = True) -> list[str]:
    """Return so many texts that differ."""
    out: dict[str, None] = {}
    while len(out) < count:
        out[word(rng, acting=acting)] = None
    return list(out)


def harmed(content: bytes, rng: np.random.Generator) -> bytes:
    """Return the content of a file of text with one to three things done to it that happen to files, or are done."""
    for _ in range(rng.integers(1, 4)):
        at, end = sorted(rng.integers(0, len(content) + 1, size=2).tolist())
        piece = PIECES[rng.integers(len(PIECES))].encode("utf-8", "surrogatepass")
        kinds = (
            content[:at] + piece + content[at:],
            content[:at] + piece * int(rng.integers(2, 400)) + content[end:],
            content[:at] + content[end:],
            content[:at] + content[at:end] * 2 + content[end:],
            content[:at] + bytes(rng.integers(0, 256, size=rng.integers(1, 9)).tolist()) + content[at + 1 :],
            content[:at] + (b"[" * 3000 if rng.random() < 0.5 else b"9" * 5000) + content[at:],
            content.replace(b"\n", (b"\r\n", b"\r", b"", b"\n\n", b",\n", b"\n1,")[rng.integers(6)]),
            content.replace(b",", (b";", b"\t", b"|", b",,")[rng.integers(4)]),
            content.decode("utf-8", "replace").encode(("utf-16", "utf-16-le", "utf-32", "cp1252")[rng.integers(4)], "replace"),
            b"\xef\xbb\xbf" + content,
        )  # fmt: skip
        content = kinds[rng.integers(len(kinds))] or b"\n"
    return content
