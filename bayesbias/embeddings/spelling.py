"""The spellings in which a word is looked for, and which of them a source holds."""

import functools
import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bayesbias.core import checks, some

TOKEN_FORMS = ("\u0120{word}", "\u2581{word}", "{word}</w>")
"""How tokenizers write a whole word, or its start: byte-level BPE, SentencePiece, BPE.

Beside it the word without the mark is a piece inside other words, with another vector.
"""
OF_TOKENS = "a matrix of tokens:"
"""How a note begins that says which keys of such a source are words."""
_MOST_KEYS = 50_000  # of a source, that are looked at for marks
_CERTAIN = 0.25  # share of marked keys from which on a source holds tokens
_PERHAPS = 0.01


@functools.lru_cache(maxsize=100_000)
def spellings_of(word: str) -> tuple[str, ...]:
    """Return the spellings of a word, in the order in which they are tried.

    Every case of the word as it is, then of each other way to write a phrase.
    """
    phrases = (
        word,
        word.replace(" ", "_"),
        word.replace("_", " "),
        word.replace("-", "_"),
        word.replace("-", " "),
        re.sub("[ _]", "-", word),
    )
    out = []
    for phrase in dict.fromkeys(phrases):
        titled = re.sub(r"[^\s_-]+", lambda part: part[0].capitalize(), phrase)
        out += [phrase, phrase.lower(), phrase.capitalize(), titled, phrase.upper()]
    if not word.isascii():  # letters with marks are written as one character or as two
        out += [unicodedata.normalize(form, each) for each in out for form in ("NFC", "NFD")]
    return tuple(dict.fromkeys(out))


def matched_spellings(asked: Iterable[str], known: Collection[str]) -> dict[str, str]:
    """Return the word of the source for each word asked that it holds in some spelling."""
    found = ((word, next((s for s in spellings_of(word) if s in known), "")) for word in asked)
    return {word: spelling for word, spelling in found if spelling}


def notes_of_shared_vectors(matched: Mapping[str, str]) -> list[str]:
    """Say which asked words are one word of the source."""
    asked_as = checks.grouped((spelling, word) for word, spelling in matched.items())
    same = ["/".join(words) for words in asked_as.values() if len(words) > 1]
    return [f"{some(same, 6)}: spellings of one word, which share its vector"] if same else []


def unmatched_words(asked: list[str], known: Collection[str]) -> list[str]:
    """Return the asked words that a source holds in no spelling."""
    matched = matched_spellings(asked, known)
    return [word for word in asked if word not in matched]


def with_keys(words: Iterable[str], patterns: Collection[str]) -> list[str]:
    """Return all spellings of words, in the forms of a source."""
    spelt = dict.fromkeys(spelling for word in words for spelling in spellings_of(word))
    if not patterns:
        return list(spelt)
    return [pattern.replace("{word}", each) for pattern in patterns for each in spelt]


def word_of_key(key: str, patterns: Sequence[str]) -> tuple[str, int]:
    """Return the word in a key such as ``he_NOUN``, and the number of the form that it has.

    Examples
    --------
    >>> word_of_key("he_NOUN", ["{word}_VERB", "{word}_NOUN"]), word_of_key("he", ["{word}_NOUN"])
    (('he', 1), ('', 1))
    """
    for number, pattern in enumerate(patterns):
        before, after = pattern.split("{word}")
        word = key.removeprefix(before).removesuffix(after)
        if word and key == before + word + after:
            return word, number
    return "", len(patterns)


@dataclass
class Marks:
    """How many keys of a source have the form of a token.

    Examples
    --------
    >>> marks = Marks()
    >>> marks.count(["\u2581he".encode(), "\u2581she".encode(), b"he"])
    >>> marks.certain, marks.possible
    ('▁{word}', '▁{word}')
    """

    keys: int = 0
    forms: Counter[str] = field(default_factory=Counter)

    def count(self, keys: Iterable[bytes]) -> None:
        """Count keys, until enough were seen."""
        chosen = list(itertools.islice(keys, max(0, _MOST_KEYS - self.keys)))
        self.keys += len(chosen)
        for form in TOKEN_FORMS:
            before, after = (part.encode() for part in form.split("{word}"))
            self.forms[form] += sum(
                key.startswith(before) and key.endswith(after) for key in chosen
            )

    @property
    def certain(self) -> str | None:
        """The form of the words, where many keys have it."""
        return self._form(_CERTAIN)

    @property
    def possible(self) -> str | None:
        """The form that more than a few keys have."""
        return self._form(_PERHAPS)

    def _form(self, share: float) -> str | None:
        form, times = max(self.forms.items(), key=lambda item: item[1], default=("", 0))
        return form if times and times >= share * self.keys else None


def fitting_key(asked: Collection[str], keys: Iterable[str]) -> str | None:
    """Return the form that most asked words have among the keys.

    Examples
    --------
    >>> fitting_key(["he", "she"], ["/c/en/a", "/c/en/he", "/c/en/she"])
    '/c/en/{word}'
    """
    wanted = set(with_keys(asked, ()))
    forms: Counter[str] = Counter()
    for key in keys:
        for part in re.finditer(r"[^\W_\u0120]+", key):
            if part[0] in wanted and part[0] != key:
                forms[f"{key[: part.start()]}{{word}}{key[part.end() :]}"] += 1
    form, times = max(forms.items(), key=lambda item: item[1], default=("", 0))
    return form if times > 1 or (times and len(asked) == 1) else None
