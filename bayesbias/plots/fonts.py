"""Fonts for what the chosen one lacks: others on the machine stand in, and what none of them has is said."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from bayesbias.core.errors import warn_user

if TYPE_CHECKING:
    from matplotlib.text import Text

# Families that are made for reading and cover whole scripts, asked first; then all others of the machine.
_BOXES = "Last Resort"  # the font that has every character, as a box
_FIRST = (
    "DejaVu Sans",
    "Noto Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Source Han Sans SC",
    "PingFang SC",
    "Hiragino Sans",
    "Microsoft YaHei",
    "SimHei",
    "Malgun Gothic",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "Arial Unicode MS",
)
_EAST_ASIAN = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC", "FULLWIDTH")
_SHOWN = 12  # characters in a warning


def cover(texts: Iterable[Text]) -> set[str]:
    """Give each text the fonts that its characters need, after its own; return the characters that no font has."""
    missing: set[str] = set()
    for text in texts:
        written = text.get_text()
        if written.isascii():
            continue
        font = text.get_fontproperties()
        families = list(font.get_family())
        files = [_file_of(family, len(_entries())) for family in families]
        added = []
        for char in dict.fromkeys(written):
            if char.isspace() or _takes_no_room(char) or any(_has(file, char) for file in files):
                continue
            stand_in = _stand_in(char, len(_entries())) or _stand_in(char, _with_new_fonts())
            if stand_in is None:
                missing.add(char)
            else:
                added.append(stand_in[0])
                files.append(stand_in[1])
        if added:
            text.set_fontfamily([*families, *added])
    return missing


def warn_of(missing: Iterable[str]) -> None:
    """Say which characters are drawn as boxes, and which font has them."""
    chars = sorted(missing)
    if not chars:
        return
    wanted = dict.fromkeys(_wanted(char) for char in chars)
    more = f" and {len(chars) - _SHOWN} more" if len(chars) > _SHOWN else ""
    warn_user(
        f"no font on this machine has {''.join(chars[:_SHOWN])}{more}, drawn as boxes; "
        f"install {' and '.join(wanted)}, or name a font in matplotlib.rcParams['font.family']"
    )


def _entries() -> list[Any]:
    from matplotlib import font_manager

    return font_manager.fontManager.ttflist


# The number of fonts known is part of each key below: what was looked up before a font was added is not asked again.
@functools.lru_cache(maxsize=256)
def _file_of(family: str, known: int) -> str:
    from matplotlib import font_manager

    return str(font_manager.findfont(font_manager.FontProperties(family=[family])))


@functools.lru_cache(maxsize=4096)
def _has(file: str, char: str) -> bool:
    from matplotlib import font_manager

    try:
        font = font_manager.get_font(file)
    except (OSError, RuntimeError):  # a font that cannot be read, such as one of coloured pictures alone
        return False
    return bool(font.get_char_index(ord(char)))


@functools.lru_cache(maxsize=4096)
def _stand_in(char: str, known: int) -> tuple[str, str] | None:
    """Return a family that has a character, and its file: an upright one of ordinary weight where there is one."""
    first = {name: place for place, name in enumerate(_FIRST)}

    def rank(entry: Any) -> tuple[Any, ...]:
        plain = entry.style == "normal" and entry.weight in (400, "normal", "regular")
        unfit = any(part in entry.name for part in ("Mono", "Serif", "Symbols", "Math", _BOXES))
        return not plain, first.get(entry.name, len(first)), unfit, entry.name, entry.fname

    for entry in sorted(_entries(), key=rank):
        if _BOXES not in entry.name and _has(entry.fname, char):
            return entry.name, entry.fname
    return None


@functools.cache
def _with_new_fonts() -> int:
    """Take up the fonts that were installed since matplotlib made its list; return how many it knows then.

    The list is kept between sessions, and a font that was installed because a figure asked for it is not in it.
    """
    from matplotlib import font_manager

    known = {entry.fname for entry in _entries()}
    for file in sorted(set(font_manager.findSystemFonts()) - known):
        try:
            font_manager.fontManager.addfont(file)
        except (OSError, RuntimeError, ValueError, KeyError):  # not a font that matplotlib can draw with
            continue
    return len(_entries())


def _takes_no_room(char: str) -> bool:
    return unicodedata.category(char) in ("Cf", "Mn", "Me", "Cc")


def _wanted(char: str) -> str:
    """Name the font that has a character, after the script that Unicode names it by."""
    script = unicodedata.name(char, "").partition(" ")[0].partition("-")[0]
    if script in _EAST_ASIAN:
        return "Noto Sans CJK"
    category = unicodedata.category(char)
    if category == "So":
        return "Noto Emoji"
    return f"Noto Sans {script.title()}".strip() if category[0] in "LM" else "Noto Sans"
