"""Sentence tests: words put into sentences, as in the Sentence Encoder Association Test (SEAT).

A test has two sets of targets and two of attributes. At the level of words its entries are the words;
at the level of sentences each word stands in every bleached sentence of its kind ("This is love.");
an unbleached test puts it into one sentence that carries meaning ("The engineer is competent."). Every
sentence keeps the word and the template it was made of, so that both can enter a model as effects.

Source: May, Wang, Bordia, Bowman & Rudinger (2019), arXiv:1903.10561, and the tests published with it.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import os
import re
import string
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias._resources import data_dir, read_bytes, read_toml, whole_file
from bayesbias.errors import InputError, nearest
from bayesbias.wordlist import WordList, load_wordlist, shipped_wordlists

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SentenceTest", "read_test", "sentence_test", "shipped_tests", "write_test"]

# Kind and stated forms of each word.
_Kinds = dict[str, tuple[str, dict[str, str]]]

SETS = ("targ1", "targ2", "attr1", "attr2")
LEVELS = ("word", "sentence", "unbleached")
_BARE = "{word}"
_COUNT_NOUNS = ("person", "thing")
_FORMS = ("word", "article", "singular", "plural")
_HOW = (
    "state it in a table [kinds] of the word list, or as an argument, such as "
    "kinds = {{'person': [{word!r}]}}; of a count noun the forms may be stated as well: "
    "{{'word': 'knives', 'singular': 'knife', 'plural': 'knives', 'article': 'a'}}"
)


@dataclass(frozen=True, eq=False, repr=False)
class SentenceTest:
    """Two sets of targets and two of attributes, as sentences or as words.

    Made by :func:`sentence_test` and :func:`read_test`, not by hand.

    Parameters
    ----------
    name : str
        The name of the test, such as ``"sent-weat6"``; of a file, its name without the ending.
    categories : dict
        ``{set: what its examples stand for}``, in the order targ1, targ2, attr1, attr2.
    frame : pandas.DataFrame
        One row for each example, set after set, in the order of the test: ``set`` (categorical),
        ``category``, ``word`` (as in the word list), ``template`` (as in ``wordlists/seat``; ``{word}``
        for the bare word) and ``sentence``.
    origin : str
        The word list or the file that it was made of.

    Examples
    --------
    >>> test = sentence_test("sent-weat6")
    >>> test
    <SentenceTest sent-weat6: MaleNames 64, FemaleNames 64 | Career 101, Family 112>
    >>> test.frame.iloc[-1].tolist()
    ['attr2', 'Family', 'relatives', '{plural} are things.', 'Relatives are things.']
    """

    name: str
    categories: dict[str, str]
    frame: pd.DataFrame
    origin: str

    @property
    def sizes(self) -> dict[str, int]:
        """The number of examples in each set."""
        counts = self.frame["set"].value_counts()
        return {name: int(counts[name]) for name in SETS}

    @property
    def sha256(self) -> str:
        """SHA-256 of the test in the published format: the same for the same categories and examples."""
        return hashlib.sha256(_published(self).encode("utf-8")).hexdigest()

    def sentences(self, name: str) -> list[str]:
        """Return the examples of one set, in order.

        Parameters
        ----------
        name : {"targ1", "targ2", "attr1", "attr2"}
            The set.

        Examples
        --------
        >>> sentence_test("heilman_double_bind_competent_one_sentence").sentences("attr2")[0]
        'The engineer is incompetent.'
        """
        if name not in SETS:
            raise InputError("unknown set", found=name, valid=SETS, hint=nearest(str(name), SETS))
        return self.frame.loc[self.frame["set"] == name, "sentence"].tolist()

    def __repr__(self) -> str:
        said = [f"{self.categories[name]} {count}" for name, count in self.sizes.items()]
        return f"<SentenceTest {self.name}: {said[0]}, {said[1]} | {said[2]}, {said[3]}>"


def shipped_tests() -> list[str]:
    """Return the names of the tests that can be made without a file, named as published.

    Each word test, its bleached sentence test, and, for the double bind, its unbleached one. The
    multi-sentence scripts of the double bind are not shipped: read them with :func:`read_test`.

    Examples
    --------
    >>> names = shipped_tests()
    >>> len(names), names[:4], names[-1]
    (40, ['weat1', 'sent-weat1', 'weat2', 'sent-weat2'], 'heilman_double_bind_likable_one_sentence')
    """
    return [
        _level_name(name, level)
        for name, test in _data("tests")["tests"].items()
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
        The name of a published test (:func:`shipped_tests`), the name of its word list, a word list of
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
    if level is not None and level not in LEVELS:
        raise InputError("unknown level", found=level, valid=LEVELS, hint=nearest(str(level), LEVELS))
    if isinstance(source, os.PathLike):
        source = os.fspath(source)
    elif isinstance(source, WordList) and source.origin == f"wordlists/{source.name}.toml":
        source = source.name
    if isinstance(source, str) and Path(source).suffix in (".json", ".jsonl"):
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

    own: _Kinds = {}
    if base is None:
        words, own = _own_list(source)
        categories = [c.name for c in words.classes] + [c.attribute_class for c in words.classes]
        published = None
    else:
        entry = _data("tests")["tests"][base]
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
        known = {**_words(), **own, **_stated(kinds)}
        needed = [word for each in sets for word in each]
        _check_known(needed, known, words.origin)
        made = {word: _bleached(word, *known[word]) for word in needed}
        changed = any(made[word] != _bleached(word, *_words().get(word, known[word])) for word in needed)
        rows = [[row for word in each for row in made[word]] for each in sets]
    elif level == "unbleached":
        target, attribute = _check_templates(templates or published, words.origin)
        changed = [target, attribute] != published
        pair = (target, target, attribute, attribute)
        rows = [[(w, t, _fill(t, {"word": w})) for w in each] for t, each in zip(pair, sets, strict=True)]
    else:
        rows = [[(word, _BARE, word) for word in each] for each in sets]
    if base is not None and changed:
        name = f"{name}-own"
    elif base is not None and published_cut:
        dropped = _data("cuts")["cuts"].get(name, {})
        rows = [
            [row for row in each if row[2] not in dropped.get(which, ())]
            for which, each in zip(SETS, rows, strict=True)
        ]
    return _made(name, categories, rows, words.origin)


def read_test(path: str | os.PathLike[str]) -> SentenceTest:
    """Read a test in the published format.

    The file holds one JSON object with the keys ``targ1``, ``targ2``, ``attr1`` and ``attr2``, each with
    ``category``, a text, and ``examples``, a list of texts (words, sentences or whole paragraphs).

    A set may also say which word and template each example was made of, in lists ``words`` and
    ``templates`` of the same length. Without them, a set all of whose sentences could have been made of
    words of the published tests gets those words and templates; in any other set every example
    is a word of its own, with the template ``{word}``.

    Parameters
    ----------
    path : str or path
        The file; its name without the ending becomes the name of the test.

    Returns
    -------
    SentenceTest

    Raises
    ------
    InputError
        Where the file does not hold such an object, naming the key and the number of the example.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "mine.jsonl"
    >>> _ = write_test(sentence_test("sent-weat7"), path)
    >>> read_test(path)
    <SentenceTest mine: Math 72, Arts 82 | MaleTerms 80, FemaleTerms 80>
    """
    path = Path(path)
    try:
        data = json.loads(read_bytes(path).decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError("is not valid UTF-8", where=path, found=error.object[error.start :][:4]) from None
    except json.JSONDecodeError as error:
        raise InputError(
            f"is not one JSON object: {error.msg}", where=f"{path}, line {error.lineno}, column {error.colno}"
        ) from None
    _check_keys(data, SETS, (), str(path))
    categories, rows = [], []
    for name in SETS:
        where, part = f"{path}, {name}", data[name]
        _check_keys(part, ("category", "examples"), ("words", "templates"), where)
        if not isinstance(part["category"], str) or not part["category"].strip():
            raise InputError("must be a text", where=f"{where}, category", found=part["category"])
        for key in set(part) - {"category"}:
            _check_texts(part[key], len(part["examples"]), f"{where}, {key}")
        if ("words" in part) != ("templates" in part):
            raise InputError("words and templates are stated both or neither", where=where)
        categories.append(part["category"])
        if "words" in part:
            rows.append(list(zip(part["words"], part["templates"], part["examples"], strict=True)))
        else:
            rows.append(_recognised(part["examples"]))
    return _made(path.stem, categories, rows, str(path))


def write_test(test: SentenceTest, path: str | os.PathLike[str], *, parts: bool = False) -> Path:
    """Write a test in the published format, whole or not at all.

    Parameters
    ----------
    test : SentenceTest
        The test.
    path : str or path
        The file.
    parts : bool
        Whether to write the word and template of each sentence too, which the published format does not
        know. :func:`read_test` reads them; other programs may not.

    Returns
    -------
    pathlib.Path
        The path written. Without `parts` the file equals the published one byte for byte (but for a
        line end that weat5 has at its end).

    Raises
    ------
    InputError
        Where it cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> path = write_test(sentence_test("weat6"), Path(tempfile.mkdtemp()) / "weat6.jsonl")
    >>> path.read_text(encoding="utf-8").split()[:6]
    ['{', '"targ1":', '{', '"category":', '"MaleNames",', '"examples":']
    """
    with whole_file(path) as temporary:
        temporary.write_text(_published(test, parts), encoding="utf-8", newline="\n")
    return Path(path)


# From a word to its sentences ---------------------------------------------------------------------


def _bleached(word: str, kind: str, forms: Mapping[str, str]) -> list[tuple[str, str, str]]:
    slots = {"word": word}
    if kind in _COUNT_NOUNS:
        singular = forms.get("singular", word)
        slots |= {"singular": singular, "plural": forms.get("plural") or _plural(singular)}
        slots["a"] = forms.get("article") or _article(singular)
    return [(word, t, _fill(t, slots)) for t in _data("templates")["templates"][kind]]


def _fill(template: str, slots: Mapping[str, str]) -> str:
    sentence = template.format_map(slots)
    return sentence[:1].upper() + sentence[1:]


def _article(singular: str) -> str:
    rules = _data("forms")["article"]
    first = re.split(r"[\s-]", singular, maxsplit=1)[0]
    for article in ("a", "an"):
        if first in rules[article]:
            return article
    return "an" if first[:1].lower() in rules["vowels"] else "a"


def _plural(singular: str) -> str:
    rules = _data("forms")["plural"]
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


def _recognised(sentences: list[str]) -> list[tuple[str, str, str]]:
    made = _sentences_of_published_words()
    if all(sentence in made for sentence in sentences):
        return [(*made[sentence], sentence) for sentence in sentences]
    return [(sentence, _BARE, sentence) for sentence in sentences]


# Data ---------------------------------------------------------------------------------------------


@functools.cache
def _data(name: str) -> dict[str, Any]:
    return read_toml(data_dir("wordlists") / "seat" / f"{name}.toml")


@functools.cache
def _words() -> _Kinds:
    """Return kind and stated forms of every word of the published tests."""
    return _read_kinds(_data("words")["kinds"], "wordlists/seat/words.toml, kinds")


@functools.cache
def _sentences_of_published_words() -> dict[str, tuple[str, str]]:
    """Return word and template of every sentence that the published words can make."""
    out = {}
    for word, (kind, forms) in _words().items():
        for _, template, sentence in _bleached(word, kind, forms):
            out[sentence] = (word, template)
        for template in _data("templates")["unbleached"].get(kind, ()):
            out[_fill(template, {"word": word})] = (word, template)
    return out


def _stated(kinds: Any) -> _Kinds:
    """Read the argument `kinds`."""
    if kinds is None:
        return {}
    if isinstance(kinds, str | os.PathLike):
        table = read_toml(Path(kinds))
        if "kinds" not in table:
            raise InputError("has no table [kinds]", where=kinds, found=sorted(table))
        return _read_kinds(table["kinds"], f"{os.fspath(kinds)}, kinds")
    return _read_kinds(kinds, "kinds")


def _read_kinds(table: Any, where: str) -> _Kinds:
    known = _data("templates")["templates"]
    if not isinstance(table, Mapping):
        raise InputError("must be a table of kinds, each with a list of words", where=where, found=table)
    out: _Kinds = {}
    for kind, words in table.items():
        if kind not in known:
            raise InputError(
                "unknown kind", where=where, found=kind, valid=known, hint=nearest(str(kind), known)
            )
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
                _check_texts([value], 1, here)
            if len(forms) > 1 and kind not in _COUNT_NOUNS:
                raise InputError("only count nouns have forms", where=here, found=item, valid=_COUNT_NOUNS)
            if forms.get("article", "a") not in ("a", "an"):
                raise InputError("unknown article", where=here, found=forms["article"], valid="a, an")
            word = forms.pop("word")
            if word in out:
                raise InputError(f"the word is listed before, as {out[word][0]}", where=here, found=word)
            out[word] = (kind, forms)
    return out


def _published_name(source: Any) -> tuple[str | None, str | None]:
    """Return the published word test that a name stands for, and the level that the name implies."""
    if not isinstance(source, str):
        return None, None
    tests = _data("tests")["tests"]
    for base, test in tests.items():
        if source in (base, test["wordlist"]):
            return base, None
        for level in LEVELS[1:]:
            if source == _level_name(base, level) and (level == "sentence" or "unbleached" in test):
                return base, level
    if source in shipped_wordlists() or Path(source).suffix == ".toml" or os.sep in source:
        return None, None
    if Path(source).is_file():
        return None, None
    names = [*shipped_tests(), *shipped_wordlists()]
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


def _own_list(source: Any) -> tuple[WordList, _Kinds]:
    """Load a word list of one's own, and its table [kinds], which other uses of the list do not know."""
    if isinstance(source, str | os.PathLike) and Path(source).is_file():
        path = Path(source)
        data = read_toml(path)
        if "kinds" in data:
            own = _read_kinds(data.pop("kinds"), f"{path}, kinds")
            try:
                words = load_wordlist({"name": path.stem, **data}, controls="none")
            except InputError as error:
                raise InputError(str(error), where=path) from None
            return dataclasses.replace(words, origin=str(path)), own
    elif isinstance(source, Mapping) and "kinds" in source and "class" in source:
        own = _read_kinds(source["kinds"], "kinds")
        rest = {key: value for key, value in source.items() if key != "kinds"}
        return load_wordlist(rest, controls="none"), own
    return load_wordlist(source), {}


# Checks, and the published form -------------------------------------------------------------------


def _check_known(words: list[str], known: Mapping[str, Any], where: str) -> None:
    unknown = [word for word in dict.fromkeys(words) if word not in known]
    if unknown:
        rest = f" and of {len(unknown) - 8} more" if len(unknown) > 8 else ""
        raise InputError(
            f"the kind is not known of {', '.join(map(repr, unknown[:8]))}{rest}",
            where=where,
            valid=", ".join(_data("templates")["templates"]),
            hint=_HOW.format(word=unknown[0]),
        )


def _check_templates(templates: Any, where: str) -> tuple[str, str]:
    if templates is None:
        raise InputError(
            "the test has no unbleached sentences",
            where=where,
            valid="templates=(sentence of targets, sentence of attributes), each with {word}",
        )
    if isinstance(templates, str) or len(templates) != 2:
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


def _check_keys(data: Any, needed: tuple[str, ...], more: tuple[str, ...], where: str) -> None:
    if not isinstance(data, dict):
        raise InputError("must be a JSON object", where=where, found=type(data).__name__, valid=needed)
    for key in data:
        if key not in (*needed, *more):
            raise InputError(
                "unknown key",
                where=where,
                found=key,
                valid=(*needed, *more),
                hint=nearest(key, (*needed, *more)),
            )
    missing = [key for key in needed if key not in data]
    if missing:
        raise InputError("lacks a key", where=where, found=list(data), valid=missing)


def _check_texts(values: Any, count: int, where: str) -> None:
    if not isinstance(values, list) or not values:
        found = type(values).__name__ if values != [] else "an empty list"
        raise InputError("must be a list of one or more texts", where=where, found=found)
    for i, value in enumerate(values, start=1):
        if not isinstance(value, str) or not value.strip():
            raise InputError(
                "must be a text, and not an empty one", where=f"{where}, number {i}", found=value
            )
    if len(values) != count:
        raise InputError(
            "there must be one for each example", where=where, found=len(values), valid=str(count)
        )


def _made(
    name: str, categories: list[str], rows: list[list[tuple[str, str, str]]], origin: str
) -> SentenceTest:
    import pandas as pd

    named = dict(zip(SETS, categories, strict=True))
    flat = [(which, named[which], *row) for which, each in zip(SETS, rows, strict=True) for row in each]
    frame = pd.DataFrame(flat, columns=["set", "category", "word", "template", "sentence"])
    frame["set"] = pd.Categorical(frame["set"], categories=SETS)
    return SentenceTest(name, named, frame, origin)


def _published(test: SentenceTest, parts: bool = False) -> str:
    data: dict[str, dict[str, Any]] = {}
    for name in SETS:
        rows = test.frame[test.frame["set"] == name]
        data[name] = {"category": test.categories[name], "examples": rows["sentence"].tolist()}
        if parts:
            data[name] |= {"words": rows["word"].tolist(), "templates": rows["template"].tolist()}
    return json.dumps(data, indent=2, ensure_ascii=False)
