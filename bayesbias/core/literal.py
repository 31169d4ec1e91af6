"""Texts from outside as they may be shown: every character stands for itself, and none does anything.

Words of a list, names of files and labels of a table may hold what a terminal, a page or a figure obeys: escape
sequences, marks that turn the direction of text, characters that take no room. Whatever prints for people makes its
texts `literal` first: terminal, page and figure show the same.
"""

from __future__ import annotations

import codecs
import re
import unicodedata

# Controls of terminals (C0, C1); line and paragraph separators; marks of direction; characters of no width, but the
# joiners of Persian, Indic scripts and emoji; fillers that look like nothing; tags; halves of characters; what is no
# character. Of these a text shows the code.
_ACTING = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"
)
# Those beyond the first 65,536 characters have a pattern of their own, which few texts need and which is slow.
_ACTING_BEYOND = (
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
    + "".join(chr(plane + last) for plane in range(0x10000, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF))
)
_ACTS = re.compile(f"[\t\n{_ACTING}]")
_ACTS_IN_LINES = re.compile(f"[{_ACTING}]")
_ACTS_BEYOND = re.compile(f"[{_ACTING_BEYOND}]")
_JOINERS = re.compile("[\u200c\u200d]")
_RTL = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
RTL_RUN = re.compile(f"[{_RTL}]+(?:[\\s\u200c\u200d'-]+[{_RTL}]+)*")
"""Words written from right to left, with what stands between them."""
_LEFT_TO_RIGHT = "\u200e"
# What this package writes itself, in the characters that every terminal has.
_IN_ASCII = str.maketrans(
    {
        "−": "-", "–": "-", "…": "...", "±": "+/-", "×": "x", "≥": ">=", "≤": "<=", "→": "->", "†": "+",
        "’": "'", "‘": "'", "“": '"', "”": '"', "\u00a0": " ", "\u2009": " ", "─": "-", "━": "-", "╸": "-", "╺": "-",
    }
)  # fmt: skip
ERRORS = "bayesbias.literal"
"""The name under which `stream_errors` is known to Python's encoders."""


def literal(text: str, *, lines: bool = False) -> str:
    r"""Return a text in which what would act on a terminal, a page or a figure is written as its code.

    Parameters
    ----------
    text : str
    lines : bool
        Whether the text has lines of its own: tabs and line feeds then stay.

    Examples
    --------
    >>> print(literal("nurse\x1b[2J"), literal("\u202eesrever"), literal("zero\u200bwidth"))
    nurse\x1b[2J \u202eesrever zero\u200bwidth
    >>> literal("Köln, שלום, 👩‍🚀") == "Köln, שלום, 👩‍🚀"
    True
    """
    if text.isascii() and text.isprintable():
        return text
    text = (_ACTS_IN_LINES if lines else _ACTS).sub(_code, text)
    if text and max(text) > "\uffff":
        text = _ACTS_BEYOND.sub(_code, text)
    return _JOINERS.sub(_joined, text) if "\u200c" in text or "\u200d" in text else text


def _code(match: re.Match[str]) -> str:
    """Write a character by its code."""
    number = ord(match[0])
    return (
        f"\\x{number:02x}"
        if number < 0x100
        else f"\\u{number:04x}"
        if number < 0x10000
        else f"\\U{number:08x}"
    )


def _joined(match: re.Match[str]) -> str:
    """Keep a joiner between two visible characters; elsewhere it joins nothing, and only hides."""
    before, after = match.string[: match.start()][-1:], match.string[match.end() :][:1]
    joins = all(c and not c.isspace() and unicodedata.category(c)[0] in "LMSN" for c in (before, after))
    return match[0] if joins and not f"{before}{after}".isascii() else _code(match)


def in_order(text: str) -> str:
    """Return a text for a terminal that turns right-to-left words around: numbers beside them keep their places."""
    return RTL_RUN.sub(lambda run: f"{_LEFT_TO_RIGHT}{run[0]}{_LEFT_TO_RIGHT}", text)


def encodable(text: str, encoding: str) -> str:
    r"""Return a text that an encoding can hold: our own signs in ASCII, all else that it lacks as its code.

    Examples
    --------
    >>> encodable("−0.1 ± 0.2, Köln, שלום", "latin-1")
    '-0.1 ± 0.2, Köln, \\u05e9\\u05dc\\u05d5\\u05dd'
    """
    codecs.register_error(ERRORS, stream_errors)
    return text.encode(encoding, ERRORS).decode(encoding)


def stream_errors(error: UnicodeError) -> tuple[str, int]:
    """Replace what an encoding lacks; Python's encoders call it (see `codecs.register_error`)."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_IN_ASCII)
    return re.sub(r"[^\x00-\x7f]", _code, text), error.end
