"""Sentence grammar: kinds of words, their forms, and the bleached sentences made of them.

The rules, the templates and the kinds of the published words lie in ``wordlists/seat``.

Source: May, Wang, Bordia, Bowman & Rudinger (2019), arXiv:1903.10561, and the tests published with it.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import data_dir, read_toml
from bayesbias.core.formatting import some

# Kind and stated forms of each word.
KindsOfWords = dict[str, tuple[str, dict[str, str]]]
BARE_TEMPLATE = "{word}"
_LONGEST_TERM = 3  # words, of the published tests
_ENDS_A_SENTENCE = re.compile(r"\s\S*[.!?…]\W*$|[。！？]\W*$")
_COUNT_NOUNS = ("person", "thing")
_FORMS = ("word", "article", "singular", "plural")
_HOW_TO_STATE_KINDS = (
    "state it in a table [kinds] of the word list, person = [{word!r}], or as kinds={{'person': [{word!r}]}}"
)


def bleached_sentences(word: str, kind: str, forms: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Return word, template and sentence for each template of the word's kind."""
    slots = {"word": word}
    if kind in _COUNT_NOUNS:
        singular = forms.get("singular", word)
        slots |= {"singular": singular, "plural": forms.get("plural") or _plural_of(singular)}
        slots["a"] = forms.get("article") or article_of(singular)
    return [(word, t, fill_template(t, slots)) for t in seat_data("templates")["templates"][kind]]


def fill_template(template: str, slots: Mapping[str, str]) -> str:
    """Fill the slots of a template and begin with a capital."""
    sentence = template.format_map(slots)
    return sentence[:1].upper() + sentence[1:]


def article_of(singular: str) -> str:
    """Return "a" or "an" for a noun: exceptions first, then its first letter."""
    rules = seat_data("forms")["article"]
    first = re.split(r"[\s-]", singular, maxsplit=1)[0]
    for article in ("a", "an"):
        if first in rules[article]:
            return article
    return "an" if first[:1].lower() in rules["vowels"] else "a"


def _plural_of(singular: str) -> str:
    rules = seat_data("forms")["plural"]
    head, of, rest = singular.partition(" of ")  # woman of color, women of color
    before, blank, noun = head.rpartition(" ")
    if noun in rules["irregular"]:
        noun = rules["irregular"][noun]
    elif noun.endswith(tuple(rules["es_after"])) and noun not in rules["same"]:
        noun += "es"
    elif re.search("[^aeiou]y$", noun):
        noun = f"{noun[:-1]}ies"
    elif noun not in rules["same"]:
        noun += "s"
    return f"{before}{blank}{noun}{of}{rest}"


def recognised_sentences(*lists: list[str]) -> list[list[tuple[str, str, str]]]:
    """Find word and template of each sentence among the published ones; else all of all lists stand for themselves.

    Lists that are compared are split together or not at all: a template that only one of them has could not be told from
    the list itself.
    """
    known = _sentences_of_published_words()
    if all(sentence in known for each in lists for sentence in each):
        return [[(*known[sentence], sentence) for sentence in each] for each in lists]
    return [[(sentence, BARE_TEMPLATE, sentence) for sentence in each] for each in lists]


def is_sentence(text: str) -> bool:
    """Whether a text looks like a sentence rather than like a word or a term of some words.

    Examples
    --------
    >>> [is_sentence(text) for text in ("woman of color", "She is.", "The engineer is competent", "这是爱。")]
    [False, True, True, True]
    """
    return len(text.split()) > _LONGEST_TERM or _ENDS_A_SENTENCE.search(text) is not None


@functools.cache
def seat_data(name: str) -> dict[str, Any]:
    """Read one of the shipped files on sentence tests."""
    return read_toml(data_dir("wordlists") / "seat" / f"{name}.toml")


@functools.cache
def published_kinds() -> KindsOfWords:
    """Return kind and stated forms of every word of the published tests."""
    return read_kinds(seat_data("words")["kinds"], "wordlists/seat/words.toml, kinds")


@functools.cache
def _sentences_of_published_words() -> dict[str, tuple[str, str]]:
    """Return word and template of every sentence that the published words can make."""
    out = {}
    for word, (kind, forms) in published_kinds().items():
        for _, template, sentence in bleached_sentences(word, kind, forms):
            out[sentence] = (word, template)
        for template in seat_data("templates")["unbleached"].get(kind, ()):
            out[fill_template(template, {"word": word})] = (word, template)
    return out


def stated_kinds(kinds: Any) -> KindsOfWords:
    """Read the argument `kinds`."""
    if kinds is None:
        return {}
    if isinstance(kinds, str | os.PathLike):
        table = read_toml(Path(kinds))
        if "kinds" not in table:
            raise InputError("has no table [kinds]", where=kinds, found=sorted(table))
        return read_kinds(table["kinds"], f"{os.fspath(kinds)}, kinds")
    return read_kinds(kinds, "kinds")


def read_kinds(table: Any, where: str) -> KindsOfWords:
    """Check a table of kinds (such as ``name`` or ``adjective``) and their words, with own forms."""
    known = seat_data("templates")["templates"]
    checks.table(table, where, "kinds, each with a list of words")
    out: KindsOfWords = {}
    for kind, words in table.items():
        checks.choice(kind, known, "kind", where)
        if not isinstance(words, list | tuple):
            raise InputError("must be a list of words", where=f"{where}, {kind}", found=words)
        for i, item in enumerate(words, start=1):
            here = f"{where}, {kind}, number {i}"
            forms = dict(item) if isinstance(item, Mapping) else {"word": item}
            if "word" not in forms or set(forms) - set(_FORMS):
                raise InputError(
                    "must be a word, or a table of its forms", where=here, found=item, valid=_FORMS
                )
            for value in forms.values():
                check_texts([value], 1, here)
            if len(forms) > 1 and kind not in _COUNT_NOUNS:
                raise InputError("only count nouns have forms", where=here, found=item, valid=_COUNT_NOUNS)
            checks.choice(forms.get("article", "a"), ("a", "an"), "article", here)
            word = forms.pop("word")
            if word in out:
                raise InputError(f"the word is listed before, as {out[word][0]}", where=here, found=word)
            out[word] = (kind, forms)
    return out


def check_kinds_known(words: list[str], known: Mapping[str, Any], where: str) -> None:
    """Refuse words whose kind, and so their sentences, is not known."""
    unknown = [word for word in dict.fromkeys(words) if word not in known]
    if unknown:
        raise InputError(
            f"the kind is not known of {some(map(repr, unknown), 8)}",
            where=where,
            valid=", ".join(seat_data("templates")["templates"]),
            hint=_HOW_TO_STATE_KINDS.format(word=unknown[0]),
        )


def check_texts(values: Any, count: int, where: str) -> None:
    """Refuse what is no list of ``count`` texts, none of them empty."""
    checks.texts(values, where, least=1)
    if len(values) != count:
        raise InputError(
            "there must be one for each example", where=where, found=len(values), valid=str(count)
        )
