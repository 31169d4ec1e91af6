"""The spellings in which a word is looked for, and which of them a source holds."""

import functools
import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bayesbias.core import checks, files, some

SHARED_VECTOR = "share its vector"  # ends the note on words of one vector
ANOTHER_SPELLING = "found under another spelling"  # starts the note on other spellings
MOST_KNOWN = 100_000  # words of a source, in its order, that a misspelled word is compared with
MISSPELLED = "perhaps misspelled"  # starts the note and the warning on such words
_MOST_CHECKED = 2000  # words built from subwords; more are a vocabulary, which nobody typed
_SHORTEST = 4  # letters; every shorter word is near many others
_LONG = 8  # letters from which on two of them may be wrong
_INFLECTIONS = (
    *("s", "es", "d", "ed", "r", "er", "rs", "ers", "y", "ly", "n", "en", "st", "est"),
    *("ing", "al", "ic"),
)
# Endings with which a word of its own is made of a stem that other known words have.
_DERIVED = (
    *(
        "able",
        "less",
        "ment",
        "ness",
        "ers",
        "age",
        "ery",
        "est",
        "ful",
        "ing",
        "ion",
        "ish",
        "ist",
    ),
    *("ity", "ive", "ous", "al", "ed", "en", "er", "es", "ic", "ly", "or", "e", "s", "y"),
)
_OF_STEMS = ("", "s", "es", "ed", "er", "ing", "e", "ion", "y", "al")
_SHORTEST_STEM = 3
# Letters that are taken for each other, as they may sound alike.
_CONFUSED = tuple(map(frozenset, ("cs", "ck", "sz", "iy")))
_VOWELS = frozenset("aeiou")
# Letters from which on a word with one letter too many is seldom another word.
_TOO_MANY = 7
# Two spellings of one word: British and American English.
_VARIANTS = (
    ("our", "or"), ("is", "iz"), ("ys", "yz"), ("ae", "e"), ("oe", "e"),
    ("ller", "ler"), ("lled", "led"), ("lling", "ling"), ("llor", "lor"),
)  # fmt: skip

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
        re.sub("[ _]", "\N{NO-BREAK SPACE}", word),
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
    return [f"{some(same, 6)}: spellings of one word, which {SHARED_VECTOR}"] if same else []


def notes_of_spellings(matched: Mapping[str, str]) -> list[str]:
    """Say which asked words were found under another spelling.

    Examples
    --------
    >>> notes_of_spellings({"US": "us", "he": "he"})
    ['found under another spelling: US as us']
    """
    taken = [
        f"{word} as {spelling}"
        for word, spelling in matched.items()
        if word != checks.plain_spaces(spelling)
    ]
    return [f"{ANOTHER_SPELLING}: {some(taken, 6)}"] if taken else []


def without_notes_of_words(notes: Iterable[str]) -> list[str]:
    """Return notes without those that depend on which words are asked for."""
    return [
        note
        for note in notes
        if not note.endswith(SHARED_VECTOR) and not note.startswith(ANOTHER_SPELLING)
    ]


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


# -- misspelled words ------------------------------------------------------------------------------


def note_on_misspelled(words: Mapping[str, str]) -> str:
    """Say which words may be misspelled, and what they may stand for.

    Examples
    --------
    >>> note_on_misspelled({"fathre": "father", "nurce": "nurse"})
    'perhaps misspelled: fathre (father?), nurce (nurse?)'
    """
    return f"{MISSPELLED}: {some(f'{word} ({known}?)' for word, known in words.items())}"


class KnownWords:
    """The words that vectors hold as a whole, to look up what a misspelled word may stand for.

    Parameters
    ----------
    words : iterable of str
        The words of a source, the most frequent first.

    Examples
    --------
    >>> known = KnownWords(["father", "mother", "nurse", "rabbi"])
    >>> known.near("fathre"), known.near("rabbis"), known.near("tulip")
    ('father', '', '')
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._rank: dict[str, int] = {}
        self._groups: dict[tuple[str, int], list[tuple[str, int]]] = {}
        self._nearest: dict[str, str] = {}  # what was looked up before
        for word in words:
            spelt = word.lower()
            if spelt in self._rank or len(spelt) < _SHORTEST or not spelt.isalpha():
                continue
            self._rank[spelt] = len(self._rank)
            group = self._groups.setdefault((spelt[0], len(spelt)), [])
            group.append((spelt, _letters(spelt)))

    def misspelled(self, words: Iterable[str]) -> dict[str, str]:
        """Return the words that may be misspelled, each with the known word that it is near.

        Of a phrase every part is looked up. Words of the shipped lists are spelled well.
        """
        words = list(words)
        out: dict[str, str] = {}
        if len(words) > _MOST_CHECKED:
            return out
        for word in words:
            parts = re.split(r"[\s_-]+", word)
            for part in parts:
                if part not in self._nearest:
                    self._nearest[part] = self.near(part)
            nearest = [self._nearest[part] or part for part in parts]
            if nearest != parts:
                out[word] = " ".join(nearest)
        return out

    def near(self, word: str) -> str:
        """Return the known word of which a word is a likely misspelling, or an empty text.

        One letter is wrong, missing or too many, or two neighbors are swapped. In long words
        there may be two such errors. The first letter counts as right, since few errors are
        there. A wrong letter is one that may sound like the right one, since *welder* is not
        *wilder*. A known word with another ending, such as a plural, is no misspelling, nor is a
        word that shares its stem with known ones.
        """
        spelt = word.lower()
        if len(spelt) < _SHORTEST or not spelt.isalpha() or spelt in self._rank:
            return ""
        most = 2 if len(spelt) >= _LONG else 1
        letters = _letters(spelt)
        nearest = []
        for first in dict.fromkeys(spelt[:2]):
            for length in range(len(spelt) - most, len(spelt) + most + 1):
                for known, others in self._groups.get((first, length), ()):
                    # An edit changes at most two of the letters that occur.
                    if (letters ^ others).bit_count() > 2 or not _may_be_meant(word, known):
                        continue
                    distance = edit_distance(spelt, known, most)
                    if distance <= most and self._is_error(spelt, known, distance):
                        nearest.append((distance, self._rank[known], known))
        if not nearest or spelt in _shipped_words():
            return ""
        return min(nearest)[2]

    def _is_error(self, word: str, known: str, distance: int) -> bool:
        """Whether the edits between two words are such as people make in writing."""
        if distance == 2:
            # One of both is a doubled letter.
            rest = edit_distance(_without_doubles(word), _without_doubles(known), 1)
            return rest <= 1 and not self._has_known_stem(word, known)
        if len(word) <= _SHORTEST and len(word) == len(known):
            return False
        if _doubles(word, known) or _doubles(known, word):
            return True
        if len(word) != len(known):
            shortest = _TOO_MANY if len(word) > len(known) else _SHORTEST + 1
            return len(word) >= shortest and not self._has_known_stem(word, known)

        places = [i for i, letter in enumerate(word) if letter != known[i]]
        if len(places) == 2:  # neighbors are swapped
            return True
        wrong = {word[places[0]], known[places[0]]}
        first_vowel = next((i for i, letter in enumerate(word) if letter in _VOWELS), len(word))
        # The first vowel is stressed in most words, so that errors are rare there.
        unstressed = wrong <= _VOWELS and places[0] > first_vowel
        return (unstressed or wrong in _CONFUSED) and not self._has_known_stem(word, known)

    def _has_known_stem(self, word: str, near: str) -> bool:
        """Whether known words have the stem of a word, as *welded* has that of *welder*.

        The known word that it is near does not count.
        """
        for ending in _DERIVED:
            stem = word.removesuffix(ending)
            if stem == word or len(stem) < _SHORTEST_STEM:
                continue
            stems = [stem]
            if len(stem) > _SHORTEST_STEM and stem[-1] == stem[-2]:
                stems.append(stem[:-1])
            for base, other in itertools.product(stems, _OF_STEMS):
                if other != ending and base + other != near and base + other in self._rank:
                    return True
        return False


def _doubles(longer: str, shorter: str) -> bool:
    """Whether one word has a letter twice that the other has once.

    Examples
    --------
    >>> _doubles("familly", "family"), _doubles("plant", "plan")
    (True, False)
    """
    if len(longer) != len(shorter) + 1:
        return False
    return any(
        longer[i] == longer[i - 1] and longer[:i] + longer[i + 1 :] == shorter
        for i in range(1, len(longer))
    )


def _without_doubles(word: str) -> str:
    return re.sub(r"(.)\1", r"\1", word)


def _letters(word: str) -> int:
    """Return the set of letters of a word, as bits."""
    bits = 0
    for letter in word:
        bits |= 1 << (ord(letter) % 61)
    return bits


def edit_distance(first: str, second: str, most: int) -> int:
    """Return how many letters differ; more than `most` counts as one more than that.

    A letter is added, left out, replaced, or swapped with its neighbor.

    Examples
    --------
    >>> edit_distance("fathre", "father", 2), edit_distance("cat", "father", 2)
    (1, 3)
    """
    if abs(len(first) - len(second)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, letter in enumerate(first, 1):
        new = [i]
        for j, other in enumerate(second, 1):
            cost = min(row[j] + 1, new[-1] + 1, row[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == second[j - 2] and other == first[i - 2]:
                cost = min(cost, before[j - 2] + 1)
            new.append(cost)
        if min(new) > most:
            return most + 1
        before, row = row, new
    return min(row[-1], most + 1)


def _may_be_meant(word: str, known: str) -> bool:
    """Whether a word near a known one is more likely an error than a word of its own."""
    spelt = word.lower()
    letters, others = Counter(spelt), Counter(known)
    changed = (letters - others).total() + (others - letters).total()
    if changed > 2:
        return False  # of two errors not both replace a letter: that is another word
    if spelt[0] != known[0] and (changed or spelt[1::-1] != known[:2]):
        return False
    if word != spelt and (changed or len(spelt) <= _SHORTEST):
        return False  # a name, and names have many spellings
    stem = 0
    while spelt[stem : stem + 1] == known[stem : stem + 1] != "":
        stem += 1
    endings = {spelt[stem:], known[stem:]}
    if endings <= {"", *_INFLECTIONS} and ("" in endings or spelt[-1] != known[-1]):
        return False  # another form of the word, unless one letter before the end is missing
    return _american(spelt) != _american(known)


def _american(word: str) -> str:
    for british, american in _VARIANTS:
        word = word.replace(british, american)
    return word


@functools.cache
def _shipped_words() -> frozenset[str]:
    """Return the words in the shipped lists, and in what they say about themselves."""
    paths = files.data_dir("wordlists").rglob("*.toml")
    texts = [path.read_text(encoding="utf-8").lower() for path in paths]
    return frozenset(re.findall(r"[^\W\d_]+", " ".join(texts)))
