"""Texts that do nothing to the page around them, and sentences with their capital and stop."""

from __future__ import annotations

import re
from typing import Any

from bayesbias.core.wording import ended, literal

_RTL = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
_RTL_RUN = re.compile(f"[{_RTL}]+(?:[\\s\u200c\u200d'-]+[{_RTL}]+)*")


def as_sentence(text: str, lead: str = "") -> str:
    """Begin with a capital, unless a name leads, and end with a stop, where the text does neither."""
    named = re.match(r"[^\s:]+: ", text)  # the name of a classifier, a method or a test stays as it is
    text = lead + text if lead or named else text[:1].upper() + text[1:]
    return ended(text)


def escaped(value: Any) -> Any:
    """Escape a text for the page; words written from right to left do not disturb the order of those around them."""
    from markupsafe import Markup

    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    text = literal(value, lines=True)
    out = Markup()
    at = 0
    for run in _RTL_RUN.finditer(text):
        out += Markup.escape(text[at : run.start()]) + Markup("<bdi>{}</bdi>").format(run[0])
        at = run.end()
    return out + Markup.escape(text[at:])
