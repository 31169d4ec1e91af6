"""Sentence tests made of word lists: words put into sentences, as in the Sentence Encoder Association Test.

At the level of words the entries of a test are the words; at the level of sentences each word stands in
every bleached sentence of its kind ("This is love."); an unbleached test puts it into one sentence that
carries meaning ("The engineer is competent.").

Source: May, Wang, Bordia, Bowman & Rudinger (2019), arXiv:1903.10561, and the tests published with it.
"""

from __future__ import annotations

import dataclasses
import os
import string
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.files import lies_at, read_toml
from bayesbias.wordlists.foreign import FOREIGN_ENDINGS
from bayesbias.wordlists.grammar import (
    BARE_TEMPLATE,
    KindsOfWords,
    bleached_sentences,
    check_kinds_known,
    fill_template,
    published_kinds,
    read_kinds,
    seat_data,
    stated_kinds,
)
from bayesbias.wordlists.listfile import list_wordlists, load_wordlist
from bayesbias.wordlists.sentence_tests import SETS, SentenceTest, assembled_test, read_test
from bayesbias.wordlists.wordlist import WordList

__all__ = ["list_tests", "sentence_test"]

LEVELS = ("word", "sentence", "unbleached")


def list_tests() -> list[str]:
    """Return the names of the tests that can be made without a file, named as published.

    Each word test, its bleached sentence test, and, for the double bind, its unbleached one. The
    multi-sentence scripts of the double bind are not shipped: read them with :func:`read_test`.

    Examples
    --------
    >>> names = list_tests()
    >>> len(names), names[:4], names[-1]
    (40, ['weat1', 'sent-weat1', 'weat2', 'sent-weat2'], 'heilman_double_bind_likable_one_sentence')
    """
    return [
        _level_name(name, level)
        for name, test in seat_data("tests")["tests"].items()
        for level in LEVELS
        if level != "unbleached" or "unbleached" in test
    ]


def sentence_test(
    source: str | os.PathLike[str] | Mapping[str, Any] | WordList,
    *,
    level: str | None = None,
    kinds: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    templates: tuple[str, str] | None = None,
    published_cut: bool = False,
) -> SentenceTest:
    """Make a test of words or sentences.

    Parameters
    ----------
    source : str, path, mapping or WordList
        The name of a published test (:func:`list_tests`), the name of its word list, a word list of
        one's own with two classes (as for `load_wordlist`), or the path of a test (``.json``, ``.jsonl``),
        which is then read by :func:`read_test`.
    level : {"word", "sentence", "unbleached"}, optional
        The words themselves, the bleached sentences of their kinds, or one sentence for each word. By
        default what the name of a published test says, else ``"word"``.
    kinds : mapping or path, optional
        The kinds of words that the published tests lack: ``{kind: [word, ...]}``, or the path of a TOML
        file with a table ``[kinds]`` of that form. Kinds are name, adjective, verb, mass, person, thing
        (the last two count nouns), subject_pronoun, object_pronoun and possessive_pronoun. In place of
        a count noun may stand ``{"word": ..., "article": ..., "singular": ..., "plural": ...}``, of
        which what is left out follows from the rules. A word list may hold such a table itself. What is
        said here comes before it, and both before the published kinds; a published test that is changed
        by it, or by `templates`, is no longer the published one, and its name ends in ``-own``.
    templates : tuple of (str, str), optional
        For ``level="unbleached"``: the sentence of targets and that of attributes, each with ``{word}``.
        The double-bind tests have their own.
    published_cut : bool
        Whether to leave out the sentences that the authors dropped at random from the larger target
        set of six tests. By default all are kept, and the two target sets differ in size; any test
        without such a cut is the same either way.

    Returns
    -------
    SentenceTest

    Raises
    ------
    InputError
        For an unknown name or level, a list with other than two classes, or a word of unknown kind.

    Notes
    -----
    The rules are those of the published sentence tests: words in the order of the list, for each all
    templates of its kind, for a count noun first the singular and then the plural, the first letter a
    capital. Forms of one's own words follow the same rules and the exceptions in
    ``wordlists/seat/forms.toml``; the kind of a word is never guessed.

    Examples
    --------
    >>> own = {"nurses": {"protected": ["nurse", "midwife"], "attributes": ["warm", "kind"]},
    ...        "engineers": {"protected": ["engineer", "welder"], "attributes": ["cold", "harsh"]}}
    >>> test = sentence_test(own, level="sentence", kinds={
    ...     "person": ["nurse", "midwife", "engineer", "welder"], "adjective": ["warm", "cold"]})
    >>> test
    <SentenceTest sent-custom: nurses 26, engineers 26 | nurses 6, engineers 6>
    >>> test.sentences("targ1")[-2:]
    ['The midwives are there.', 'Midwives are people.']
    """
    if level is not None:
        checks.choice(level, LEVELS, "level")
    if isinstance(source, os.PathLike):
        source = os.fspath(source)
    elif isinstance(source, WordList) and source.origin == f"wordlists/{source.name}.toml":
        source = source.name
    if isinstance(source, str) and (
        Path(source).suffix in (".json", ".jsonl")
    ):
        if level is not None or kinds is not None or templates is not None:
            raise InputError(
                "a test is taken from its file as it stands",
                where=source,
                valid="no level, kinds or templates",
            )
        return read_test(source)

    base, implied = _published_name(source)
    if implied and level not in (None, implied):
        raise InputError("the test has a level of its own", where=source, found=level, valid=implied)
    level = level or implied or "word"
    if templates is not None and level != "unbleached":
        raise InputError("are for level='unbleached'", where="templates", found=f"level={level!r}")

    own: KindsOfWords = {}
    if base is None:
        words, own = _own_list(source)
        categories = [c.name for c in words.classes] + [c.attribute_class for c in words.classes]
        published = None
    else:
        entry = seat_data("tests")["tests"][base]
        words, categories, published = (
            load_wordlist(entry["wordlist"]),
            entry["categories"],
            entry.get("unbleached"),
        )
    if len(words.classes) != 2:
        raise InputError(
            "a test compares two classes", where=words.origin, found=[c.name for c in words.classes]
        )
    sets = [c.protected for c in words.classes] + [c.attributes for c in words.classes]

    name, changed = _level_name(base or words.name, level), False
    if level == "sentence":
        known = {**published_kinds(), **own, **stated_kinds(kinds)}
        needed = [word for each in sets for word in each]
        check_kinds_known(needed, known, words.origin)
        sentences_of = {word: bleached_sentences(word, *known[word]) for word in needed}
        changed = any(
            sentences_of[word] != bleached_sentences(word, *published_kinds().get(word, known[word]))
            for word in needed
        )
        rows = [[row for word in each for row in sentences_of[word]] for each in sets]
    elif level == "unbleached":
        target, attribute = _check_templates(templates or published, words.origin)
        changed = [target, attribute] != published
        pair = (target, target, attribute, attribute)
        rows = [
            [(w, t, fill_template(t, {"word": w})) for w in each] for t, each in zip(pair, sets, strict=True)
        ]
    else:
        rows = [[(word, BARE_TEMPLATE, word) for word in each] for each in sets]
    if base is not None and changed:
        name = f"{name}-own"
    elif base is not None and published_cut:
        dropped = seat_data("cuts")["cuts"].get(name, {})
        rows = [
            [row for row in each if row[2] not in dropped.get(which, ())]
            for which, each in zip(SETS, rows, strict=True)
        ]
    return assembled_test(name, categories, rows, words.origin)


def _published_name(source: Any) -> tuple[str | None, str | None]:
    """Return the published word test that a name stands for, and the level that the name implies."""
    if not isinstance(source, str):
        return None, None
    tests = seat_data("tests")["tests"]
    for base, test in tests.items():
        if source in (base, test["wordlist"]):
            return base, None
        for level in LEVELS[1:]:
            if source == _level_name(base, level) and (level == "sentence" or "unbleached" in test):
                return base, level
    if source in list_wordlists() or Path(source).suffix == ".toml" or os.sep in source:
        return None, None
    if lies_at(source):
        return None, None
    names = [*list_tests(), *list_wordlists()]
    raise InputError(
        "unknown test",
        found=source,
        valid="a name that `bayesbias seat sentences` or `bayesbias list wordlists` prints, or the path of a test (.jsonl) or "
        "word list (.toml)",
        hint=nearest(source, names),
    )


def _level_name(base: str, level: str) -> str:
    if level == "unbleached":
        return f"{base.removesuffix('_one_word')}_one_sentence"
    return f"sent-{base}" if level == "sentence" else base


def _own_list(source: Any) -> tuple[WordList, KindsOfWords]:
    """Load a word list of one's own, and its table [kinds], which other uses of the list do not know."""
    path = Path(source) if isinstance(source, str | os.PathLike) else Path()
    if path.suffix.lower() not in FOREIGN_ENDINGS and os.path.isfile(path):  # other forms hold no kinds
        data = read_toml(path)
        if "kinds" in data:
            own = read_kinds(data.pop("kinds"), f"{path}, kinds")
            try:
                words = load_wordlist({"name": path.stem, **data}, controls="none")
            except InputError as error:
                raise InputError(str(error), where=path) from None
            return dataclasses.replace(words, origin=str(path)), own
    elif isinstance(source, Mapping) and "kinds" in source and "class" in source:
        own = read_kinds(source["kinds"], "kinds")
        rest = {key: value for key, value in source.items() if key != "kinds"}
        return load_wordlist(rest, controls="none"), own
    return load_wordlist(source), {}


def _check_templates(templates: Any, where: str) -> tuple[str, str]:
    if templates is None:
        raise InputError(
            "the test has no unbleached sentences",
            where=where,
            valid="templates=(sentence of targets, sentence of attributes), each with {word}",
        )
    if not isinstance(templates, list | tuple) or len(templates) != 2:
        raise InputError(
            "must be two sentences, of targets and of attributes", where="templates", found=templates
        )
    for template in templates:
        try:
            fields = [field for _, field, _, _ in string.Formatter().parse(template) if field is not None]
        except (ValueError, TypeError):
            fields = []
        if set(fields) != {"word"}:
            raise InputError("must hold {word} and no other field", where="templates", found=template)
    return templates[0], templates[1]
