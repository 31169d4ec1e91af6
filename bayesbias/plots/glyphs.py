"""One warning for all characters that the fonts of figures do not have."""

import contextlib
import contextvars
import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterator

from matplotlib import font_manager

from bayesbias.core.errors import warn_user
from bayesbias.core.formatting import number_of, some

# What matplotlib says for each character, each time that it is drawn.
_MISSING = re.compile(r"Glyph (\d+) \(.*\) missing from|Matplotlib currently does not support")
_SHOWN = 5  # characters that the warning names
_EAST_ASIAN = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC", "FULLWIDTH")
_BOXES = "Last Resort"  # its glyphs are boxes for whole scripts
_COLLECTED = contextvars.ContextVar[set[str] | None]("missing_glyphs", default=None)


@contextlib.contextmanager
def missing_glyphs_once() -> Iterator[None]:
    """Warn once, at the end of the block, of all characters that were drawn as boxes."""
    if _COLLECTED.get() is not None:  # a wider block warns
        yield
        return
    missing: set[str] = set()
    token = _COLLECTED.set(missing)
    caught: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.filterwarnings("always", _MISSING.pattern)
            yield
    finally:
        _COLLECTED.reset(token)
        for warning in caught:
            found = _MISSING.match(str(warning.message))
            if found is None:
                warnings.warn_explicit(
                    warning.message, warning.category, warning.filename, warning.lineno
                )
            elif found[1]:
                missing.add(chr(int(found[1])))
        if missing:
            warn_user(_warning(sorted(missing)))


def _warning(missing: list[str]) -> str:
    """Say how many characters are missing, and which font has them."""
    shown = some([repr(character)[1:-1] for character in missing], _SHOWN)
    number = number_of(len(missing), "character")
    said = f"figures: the fonts in use lack {number} ({shown}), drawn as boxes"
    font = _installed_font(missing)
    if font is None:
        font = _usual_font(missing)
        return f"{said}. Install a font with them, such as {font}, and set it as font.family in a matplotlibrc file."
    return f'{said}. Set "font.family: {font}" in a matplotlibrc file.'


def _installed_font(missing: list[str]) -> str | None:
    """Return the installed font with most of the characters, or None if none has half of them."""
    best, most = None, (len(missing) - 1) // 2
    for entry in font_manager.fontManager.ttflist:
        if entry.name.startswith(_BOXES):
            continue
        try:
            characters = font_manager.get_font(entry.fname).get_charmap()
        except (OSError, RuntimeError):  # a file that is gone, or is not of the form it claims
            continue
        number = sum(ord(character) in characters for character in missing)
        if number > most:
            best, most = entry.name, number
    return best


def _usual_font(missing: list[str]) -> str:
    """Return a font of the script that most of the characters are of."""
    fonts = Counter(map(_font_of_script, missing))
    return fonts.most_common(1)[0][0]


def _font_of_script(character: str) -> str:
    script = unicodedata.name(character, "").partition(" ")[0]
    if script in _EAST_ASIAN:
        return "Noto Sans CJK SC"
    if unicodedata.category(character).startswith(("L", "M")) and script:
        return f"Noto Sans {script.title()}"
    return "Noto Emoji"
