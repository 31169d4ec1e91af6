"""Encodings of text: UTF-8, else the one that the user names; which one would read a text."""

import contextlib
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from contextvars import ContextVar

from bayesbias.core.errors import InputError

LATIN = "cp1252"
"""The encoding of words in vector files that are not UTF-8, where none is named."""
_ACCENTED = "àâäáãåæçéèêëíìîïñóòôöõøœúùûüýÿß"
_CYRILLIC = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё"
# The letters that are usual beside ASCII, most often first where they tell two encodings apart.
_LETTERS = {
    "cp1252": f"{_ACCENTED}’“”",
    "cp1251": f"{_CYRILLIC}іїєґўјљњћђџ",
    "koi8-r": _CYRILLIC,
    "koi8-u": f"{_CYRILLIC}іїєґ",
    "cp866": _CYRILLIC,
    "cp1250": "ąćęłńóśźżáčďéěíňřšťúůýžäöüőűľĺŕôșțşţăâî",
    "iso8859-2": "ąćęłńóśźżáčďéěíňřšťúůýžäöüőűľĺŕôşţăâî",
    "cp1253": "αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋ",
    "cp1254": "çğıöşüâîû",
    "cp1255": "אבגדהוזחטיכלמנסעפצקרשתךםןףץ",
    "cp1256": "ابتثجحخدذرزسشصضطظعغفقكلمنهويةىءأإآ",
}
# How usual letters are, by the start of their names.
_WEIGHTS = {
    "euc-kr": {"HANGUL SYLLABLE": 1.0, "CJK UNIFIED": 0.2},
    "shift_jis": {"HIRAGANA": 1.0, "KATAKANA LETTER": 1.0, "KATAKANA-": 1.0, "CJK UNIFIED": 0.6},
    "euc-jp": {"HIRAGANA": 1.0, "KATAKANA LETTER": 1.0, "KATAKANA-": 1.0, "CJK UNIFIED": 0.6},
    "gb18030": {"CJK UNIFIED": 0.9},
    "big5": {"CJK UNIFIED": 0.8},
}
ENCODINGS = (*_LETTERS, *_WEIGHTS)
"""Encodings that a text is tried in, to say which of them would read it."""
_MOST_WORDS = 500  # that are looked at
_given: ContextVar[str | None] = ContextVar("encoding", default=None)


@contextlib.contextmanager
def reading_in(encoding: str | None) -> Iterator[None]:
    """Read text that is not UTF-8 in this encoding, as long as the block runs.

    Examples
    --------
    >>> with reading_in("cp1251"):
    ...     given_encoding()
    'cp1251'
    """
    if encoding is None:
        yield
        return
    token = _given.set(checked_encoding(encoding))
    try:
        yield
    finally:
        _given.reset(token)


def given_encoding() -> str | None:
    """Return the encoding that text is read in where it is not UTF-8, if one was named."""
    return _given.get()


def checked_encoding(name: object) -> str:
    """Return the name of an encoding of text, as it was given.

    Examples
    --------
    >>> checked_encoding("cp12511")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: encoding: expected an encoding that Python knows, got 'cp12511'. Use such as cp1251, koi8-r or cp1250.
    """
    try:
        "word".encode(str(name)).decode(str(name))
    except (LookupError, UnicodeError):
        problem = "expected an encoding that Python knows"
        valid = "such as cp1251, koi8-r or cp1250"
        raise InputError(problem, where="encoding", found=name, valid=valid) from None
    return str(name)


def is_utf8(content: bytes) -> bool:
    """Whether bytes are text in UTF-8."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def likely_encoding(words: Iterable[bytes], known: Collection[str] = ()) -> str | None:
    """Return the encoding in which most words that are not UTF-8 are words.

    Parameters
    ----------
    words : iterable of bytes
    known : collection of str
        Words that are looked for: an encoding in which some of them are there comes first.

    Examples
    --------
    >>> likely_encoding(["он".encode("cp1251"), "она".encode("cp1251")])
    'cp1251'
    >>> likely_encoding(["он".encode("koi8-r"), "она".encode("koi8-r")])
    'koi8-r'
    >>> likely_encoding(["café".encode("cp1252"), b"he"])
    'cp1252'
    """
    foreign = [word for word in words if not is_utf8(word)]
    held = set(foreign)
    wanted = [word for word in known if not word.isascii()]
    best, most = None, 0.0
    for encoding in ENCODINGS if wanted else ():
        hits = sum(_encoded(word, encoding) in held for word in wanted)
        if hits > most:
            best, most = encoding, hits
    if best is not None:
        return best

    for encoding in ENCODINGS:
        score = sum(_plausible(word, encoding) for word in foreign[:_MOST_WORDS])
        if score > most:
            best, most = encoding, score
    return best


def _encoded(word: str, encoding: str) -> bytes:
    """Return a word in an encoding; nothing if it has other letters."""
    try:
        return word.encode(encoding)
    except UnicodeEncodeError:
        return b""


def _plausible(word: bytes, encoding: str) -> float:
    """Return how likely a word is one in an encoding, from 0 to 1."""
    try:
        text = word.decode(encoding)
    except UnicodeDecodeError:
        return 0.0
    letters = [letter for letter in text if not letter.isascii()]
    if not letters or not all(letter.isprintable() for letter in letters):
        return 0.0
    if encoding in _WEIGHTS:
        weights = _WEIGHTS[encoding]
        values = []
        for letter in letters:
            name = unicodedata.name(letter, "")
            values.append(next((w for start, w in weights.items() if name.startswith(start)), 0.0))
        return sum(values) / len(values) if min(values) > 0 else 0.0

    usual_letters = _LETTERS[encoding]
    scripts = {_script(letter) for letter in text if letter.isalpha()}
    if len(scripts) > 1 or any(letter.lower() not in usual_letters for letter in letters):
        return 0.0
    lower = sum(letter in usual_letters for letter in letters)
    score = (lower + 0.3 * (len(letters) - lower)) / len(letters)
    # Few words of Latin letters have accented ones alone.
    alone = scripts == {"LATIN"} and not any(letter.isascii() for letter in text)
    return score * 0.2 if alone else score


def _script(letter: str) -> str:
    """Return the script of a letter, such as LATIN."""
    return unicodedata.name(letter, "").partition(" ")[0]
