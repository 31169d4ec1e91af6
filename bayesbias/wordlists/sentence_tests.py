"""Sentence tests: words and the sentences made of them, as in SEAT.

A test has two sets of targets and two of attributes. Every sentence keeps its word and its
template, so that both can enter a model as effects. The entries of a word test are the words; in
a sentence test each word is in every bleached sentence of its kind ("This is love."); an
unbleached test puts it into one sentence that carries meaning ("The engineer is competent."). The
rules, the templates and the kinds of the published words are in ``wordlists/seat``.

Source: May, Wang, Bordia, Bowman & Rudinger (2019), arXiv:1903.10561, and the tests published
with it.
"""

import functools
import json
import os
import re
import string
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.core import InputError, checks, files, some
from bayesbias.core.formatting import literal
from bayesbias.wordlists.listfile import Source, list_wordlists, load_wordlist
from bayesbias.wordlists.wordlist import WordList

if TYPE_CHECKING:
    import pandas as pd

# Kind and stated forms of each word.
type KindsOfWords = dict[str, tuple[str, dict[str, str]]]

# Word, template and sentence.
type Row = tuple[str, str, str]

SETS = ("targ1", "targ2", "attr1", "attr2")
SIDES = {"targets": SETS[:2], "attributes": SETS[2:]}
LEVELS = ("word", "sentence", "unbleached")
BARE_TEMPLATE = "{word}"
_LONGEST_TERM = 3  # words, of the published tests
_ENDS_A_SENTENCE = re.compile(r"\s\S*[.!?…]\W*$|[。！？]\W*$")
_COUNT_NOUNS = ("person", "thing")
_FORMS = ("word", "article", "singular", "plural")


@dataclass(frozen=True, eq=False)
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
        ``category``, ``word`` (as in the word list), ``template`` (as in ``wordlists/seat``;
        ``{word}`` for the bare word) and ``sentence``.
    origin : str
        The word list or the file that it was made of.
    unstated : tuple of str
        ``"targets"``, ``"attributes"`` or both: the sides whose sentences have no stated words and
        templates. Each sentence counts as a word there.

    Examples
    --------
    >>> from bayesbias import sentence_test
    >>> test = sentence_test("sent-weat6")
    >>> test
    <SentenceTest sent-weat6: MaleNames 64, FemaleNames 64 | Career 101, Family 112>
    >>> test.frame.iloc[-1].tolist()
    ['attr2', 'Family', 'relatives', '{plural} are things.', 'Relatives are things.']
    """

    name: str
    categories: dict[str, str]
    frame: "pd.DataFrame"
    origin: str
    unstated: tuple[str, ...] = ()

    @property
    def sizes(self) -> dict[str, int]:
        """The number of examples in each set."""
        return self.frame["set"].value_counts(sort=False).to_dict()

    @property
    def sha256(self) -> str:
        """SHA-256 of the test in the published format."""
        return files.sha256_of(published_json(self))

    def sentences(self, name: str) -> list[str]:
        """Return the examples of one set, in order.

        Parameters
        ----------
        name : {"targ1", "targ2", "attr1", "attr2"}
            The set.

        Examples
        --------
        >>> from bayesbias import sentence_test
        >>> sentence_test("heilman_double_bind_competent_one_sentence").sentences("attr2")[0]
        'The engineer is incompetent.'
        """
        checks.choice(name, SETS, "set")
        return self.frame.loc[self.frame["set"] == name, "sentence"].tolist()

    def __repr__(self) -> str:
        sizes = [f"{self.categories[name]} {count}" for name, count in self.sizes.items()]
        return f"<SentenceTest {self.name}: {sizes[0]}, {sizes[1]} | {sizes[2]}, {sizes[3]}>"


def read_test(path: checks.FilePath) -> SentenceTest:
    """Read a test in the published format.

    The file holds one JSON object with the keys ``targ1``, ``targ2``, ``attr1`` and ``attr2``,
    each with ``category``, a text, and ``examples``, a list of texts (words, sentences or whole
    paragraphs).

    Lists ``words`` and ``templates`` of the same length may say which word and template each
    example was made of, for both sets of targets, or of attributes. Without them, sentences made
    of words of the published tests get those words and templates; otherwise every example is a
    word with the template ``{word}``, and sentences are ``unstated``.

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
        If the file does not hold such an object, naming the key and the number of the example.

    Examples
    --------
    >>> from bayesbias import sentence_test
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "mine.jsonl"
    >>> _ = write_test(sentence_test("sent-weat7"), path)
    >>> read_test(path)
    <SentenceTest mine: Math 72, Arts 82 | MaleTerms 80, FemaleTerms 80>
    """
    path = Path(checks.path(path, "path", "the path of a sentence test in JSON"))
    data = files.read_json(path)
    checks.known_keys(checks.table(data, path), SETS, path, needed=SETS)
    categories, stated = [], {}
    for name in SETS:
        where, part = f"{path}, {name}", data[name]
        keys = ("category", "examples", "words", "templates")
        checks.known_keys(checks.table(part, where), keys, where, needed=keys[:2])
        categories.append(checks.line(part["category"], f"{where}, category"))
        columns = {k: checks.texts(part[k], f"{where}, {k}", 1) for k in keys[1:] if k in part}
        if len(columns) == 2 or len(set(map(len, columns.values()))) > 1:
            problem = "expected a word and a template for each example, or neither"
            raise InputError(problem, where=where, found=list(map(len, columns.values())))
        if len(columns) == 3:
            stated[name] = list(zip(*(columns[k] for k in (*keys[2:], "examples")), strict=True))
    rows = []
    unstated = []
    for side, names in SIDES.items():
        known = [stated[name] for name in names if name in stated]
        if len(known) == 1:
            problem = f"expected words and templates for both sets of {side}, or for neither"
            raise InputError(problem, where=path, found=list(stated))
        # Both sets or none: a template that only one of them has could not be told from the list.
        lists = [data[name]["examples"] for name in names]
        published, every = _sentences_of_published_words(), [*lists[0], *lists[1]]
        if not known and all(sentence in published for sentence in every):
            known = [[(*published[sentence], sentence) for sentence in each] for each in lists]
        elif not known:
            known = [[(sentence, BARE_TEMPLATE, sentence) for sentence in each] for each in lists]
            # Sentences rather than words.
            if any(len(e.split()) > _LONGEST_TERM or _ENDS_A_SENTENCE.search(e) for e in every):
                unstated.append(side)
        rows += known
    return assembled_test(literal(path.stem), categories, rows, str(path), tuple(unstated))


def write_test(test: SentenceTest, path: checks.FilePath, *, parts: bool = False) -> Path:
    """Write a test in the published format.

    Parameters
    ----------
    test : SentenceTest
        The test.
    path : str or path
        The file.
    parts : bool
        Whether to write the word and template of each sentence too, which :func:`read_test` reads.

    Returns
    -------
    pathlib.Path
        The path written. Without `parts` the file equals the published one byte for byte.

    Raises
    ------
    InputError
        If it cannot be written, or the path does not end in ``.jsonl`` or ``.json``.

    Examples
    --------
    >>> from bayesbias import sentence_test
    >>> import tempfile
    >>> path = write_test(sentence_test("weat6"), Path(tempfile.mkdtemp()) / "weat6.jsonl")
    >>> path.read_text(encoding="utf-8").split()[:6]
    ['{', '"targ1":', '{', '"category":', '"MaleNames",', '"examples":']
    """
    if Path(path).suffix.lower() not in (".json", ".jsonl"):
        raise InputError("expected a path that ends in .jsonl or .json", where="path", found=path)
    files.write_whole(path, published_json(test, parts))
    return Path(path)


def assembled_test(
    name: str,
    categories: list[str],
    rows: list[list[Row]],
    origin: str,
    unstated: tuple[str, ...] = (),
) -> SentenceTest:
    """Make a test of the rows of its four sets."""
    import pandas as pd

    named = dict(zip(SETS, categories, strict=True))
    flat = [
        (which, named[which], *row) for which, each in zip(SETS, rows, strict=True) for row in each
    ]
    frame = pd.DataFrame(flat, columns=["set", "category", "word", "template", "sentence"])
    frame["set"] = pd.Categorical(frame["set"], categories=SETS)
    return SentenceTest(name, named, frame, origin, unstated)


def published_json(test: SentenceTest, parts: bool = False) -> str:
    """Return the text of a test in the published format."""
    data = {}
    for name in SETS:
        rows = test.frame[test.frame["set"] == name]
        data[name] = {"category": test.categories[name], "examples": rows["sentence"].tolist()}
        if parts:
            data[name] |= {"words": rows["word"].tolist(), "templates": rows["template"].tolist()}
    return json.dumps(data, indent=2, ensure_ascii=False)


def list_tests() -> list[str]:
    """Return the names of the tests that can be made without a file.

    Each word test, its bleached sentence test, and, for the double bind, its unbleached one. The
    multi-sentence scripts of the double bind are not shipped: read them with :func:`read_test`.

    Examples
    --------
    >>> names = list_tests()
    >>> len(names), names[:4], names[-1]
    (40, ['weat1', 'sent-weat1', 'weat2', 'sent-weat2'], 'heilman_double_bind_likable_one_sentence')
    """
    return list(published_tests())


def sentence_test(
    source: Source | WordList | SentenceTest,
    *,
    level: str | None = None,
    kinds: Mapping[str, Any] | checks.FilePath | None = None,
    templates: tuple[str, str] | None = None,
    published_cut: bool = False,
) -> SentenceTest:
    """Make a test of words or sentences.

    Parameters
    ----------
    source : str, path, mapping, WordList or SentenceTest
        The name of a published test (:func:`list_tests`) or of its word list, a word list with two
        classes (as for `load_wordlist`), or the path of a test for :func:`read_test`
        (``.json``, ``.jsonl``). A test is returned as it is.
    level : {"word", "sentence", "unbleached"}, optional
        The words themselves, the bleached sentences of their kinds, or one sentence for each
        word. By default what the name of a published test says, else ``"word"``.
    kinds : mapping or path, optional
        The kinds of words that the published tests lack: ``{kind: [word, ...]}``, or the path of
        a TOML file with a table ``[kinds]`` of that form. Kinds are name, adjective, verb, mass,
        person, thing (the last two count nouns), subject_pronoun, object_pronoun and
        possessive_pronoun. A count noun may also be ``{"word": ..., "article": ..., "singular":
        ..., "plural": ...}``. A word list may hold such a table itself. The argument comes first,
        then the list, then the published kinds. A published test that is changed by it, or by
        `templates`, gets a name that ends in ``-own``.
    templates : tuple of (str, str), optional
        For ``level="unbleached"``: the sentence of targets and that of attributes, each with
        ``{word}``. The double-bind tests have their own.
    published_cut : bool
        Whether to leave out the sentences that the authors dropped at random from the larger target
        set of six tests. By default all are kept.

    Returns
    -------
    SentenceTest

    Raises
    ------
    InputError
        If the name or level is unknown, the list has other than two classes, or a word has no kind.

    Notes
    -----
    The rules are those of the published sentence tests: words in the order of the list, for each
    all templates of its kind, for a count noun first the singular and then the plural, the first
    letter a capital. Forms of one's own words follow the same rules and the exceptions in
    ``wordlists/seat/forms.toml``; the kind of a word is never guessed.

    Examples
    --------
    >>> own = {
    ...     "nurses": {"protected": ["nurse", "midwife"], "attributes": ["warm", "kind"]},
    ...     "engineers": {"protected": ["engineer", "welder"], "attributes": ["cold", "harsh"]},
    ... }
    >>> test = sentence_test(
    ...     own,
    ...     level="sentence",
    ...     kinds={
    ...         "person": ["nurse", "midwife", "engineer", "welder"],
    ...         "adjective": ["warm", "cold"],
    ...     },
    ... )
    >>> test
    <SentenceTest sent-custom: nurses 26, engineers 26 | nurses 6, engineers 6>
    >>> test.sentences("targ1")[-2:]
    ['The midwives are there.', 'Midwives are people.']
    """
    if isinstance(source, SentenceTest):
        return source
    checks.choice(level or "word", LEVELS, "level")
    if isinstance(source, os.PathLike):
        source = os.fspath(source)
    elif isinstance(source, WordList) and source.origin == f"wordlists/{source.name}.toml":
        source = source.name
    if isinstance(source, str) and Path(source).suffix in (".json", ".jsonl"):
        if level is not None or kinds is not None or templates is not None:
            problem = "expected no level, kinds or templates beside the file of a test, got some"
            raise InputError(problem, where=source, hint="leave them out")
        return read_test(source)
    base, implied = _published_name(source) if isinstance(source, str) else (None, None)
    if implied and level not in (None, implied):
        problem = f"expected the level of {source}, {implied}, got {level!r}"
        raise InputError(problem, where="level", hint="leave it out")
    level = level or implied or "word"
    if templates is not None and level != "unbleached":
        raise InputError(f"expected level='unbleached', got {level!r}", where="templates")

    own = {}
    if base is None:
        words = load_wordlist(source, controls="none")
        own = _own_kinds(source)
        categories = [c.name for c in words.classes] + [c.attribute_class for c in words.classes]
        published = None
    else:
        entry = seat_data("tests")["tests"][base]
        words, categories = load_wordlist(entry["wordlist"]), entry["categories"]
        published = entry.get("unbleached")
    if len(words.classes) != 2:
        found = [c.name for c in words.classes]
        raise InputError("expected two classes", where=words.origin, found=found)
    sets = [c.protected for c in words.classes] + [c.attributes for c in words.classes]

    name, changed = _level_name(base or words.name, level), False
    if level == "sentence":
        known = {**published_kinds(), **own, **_stated_kinds(kinds)}
        needed = dict.fromkeys(word for each in sets for word in each)
        if unknown := [word for word in needed if word not in known]:
            problem = f"expected the kind of each word, got none of {some(map(repr, unknown), 8)}"
            valid = ", ".join(seat_data("templates")["templates"])
            own_kinds = f"kinds={{'person': [{unknown[0]!r}]}}"
            hint = f"state it in a table [kinds] of the word list, or as {own_kinds}"
            raise InputError(problem, where=words.origin, valid=valid, hint=hint)
        changed = any(known[word] != published_kinds().get(word) for word in needed)
        rows = [[row for w in each for row in bleached_sentences(w, *known[w])] for each in sets]
    elif level == "unbleached":
        given = templates or published
        if given is None:
            valid = "templates=(sentence of targets, sentence of attributes), each with {word}"
            problem = "expected unbleached sentences, got none"
            raise InputError(problem, where=words.origin, valid=valid)
        if len(given) != 2 or any(fields_of(template) != {"word"} for template in given):
            problem = "expected two sentences, each with {word} and no other field"
            raise InputError(problem, where="templates", found=given)
        checks.texts(list(given), "templates")
        target, attribute = given
        changed = [target, attribute] != published
        pairs = zip((target, target, attribute, attribute), sets, strict=True)
        rows = [[(w, t, fill_template(t, {"word": w})) for w in each] for t, each in pairs]
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


@functools.cache
def published_tests() -> dict[str, tuple[str, str]]:
    """Return the word test and the level of each test that can be made without a file."""
    return {
        _level_name(base, level): (base, level)
        for base, test in seat_data("tests")["tests"].items()
        for level in LEVELS
        if level != "unbleached" or "unbleached" in test
    }


def _level_name(base: str, level: str) -> str:
    if level == "unbleached":
        return f"{base.removesuffix('_one_word')}_one_sentence"
    return f"sent-{base}" if level == "sentence" else base


def _published_name(source: str) -> tuple[str | None, str | None]:
    """Return the published test of a name, and the level it implies."""
    bases = {test["wordlist"]: base for base, test in seat_data("tests")["tests"].items()}
    base, level = published_tests().get(source, (bases.get(source), "word"))
    if base is not None:
        return base, None if level == "word" else level
    if source in list_wordlists() or Path(source).suffix == ".toml" or Path(source).exists():
        return None, None
    raise checks.unknown(source, [*list_tests(), *list_wordlists()], "test")


def _own_kinds(source: Any) -> KindsOfWords:
    """Return the kinds that a word list of one's own states."""
    data, where = source, "mapping"
    if isinstance(source, str) and Path(source).suffix == ".toml":
        data, where = files.read_toml(Path(source)), source
    has_kinds = isinstance(data, Mapping) and "class" in data and "kinds" in data
    return read_kinds(data["kinds"], f"{where}, kinds") if has_kinds else {}


def fields_of(template: str) -> set[str | None]:
    """Return the names of the fields of a template."""
    try:
        return {name for _, name, _, _ in string.Formatter().parse(template)} - {None}
    except ValueError:
        return set()


def bleached_sentences(word: str, kind: str, forms: Mapping[str, str]) -> list[Row]:
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


@functools.cache
def seat_data(name: str) -> dict[str, Any]:
    """Read one of the shipped files on sentence tests."""
    return files.read_toml(files.data_dir("wordlists") / "seat" / f"{name}.toml")


@functools.cache
def published_kinds() -> KindsOfWords:
    """Return kind and stated forms of every word of the published tests."""
    return read_kinds(seat_data("words")["kinds"], "wordlists/seat/words.toml, kinds")


@functools.cache
def _sentences_of_published_words() -> dict[str, tuple[str, str]]:
    """Return word and template of each sentence of published words."""
    out = {}
    for word, (kind, forms) in published_kinds().items():
        for _, template, sentence in bleached_sentences(word, kind, forms):
            out[sentence] = (word, template)
        for template in seat_data("templates")["unbleached"].get(kind, ()):
            out[fill_template(template, {"word": word})] = (word, template)
    return out


def _stated_kinds(kinds: Any) -> KindsOfWords:
    """Read the argument `kinds`."""
    if not isinstance(kinds, str | os.PathLike):
        return read_kinds(kinds or {}, "kinds")
    table = files.read_toml(Path(kinds))
    checks.known_keys(table, table, kinds, needed=("kinds",))
    return read_kinds(table["kinds"], f"{os.fspath(kinds)}, kinds")


def read_kinds(table: Any, where: str) -> KindsOfWords:
    """Check a table of kinds and their words, with own forms."""
    known = seat_data("templates")["templates"]
    out = {}
    for kind, words in checks.table(table, where, "kinds, each with a list of words").items():
        checks.choice(kind, known, f"{where}, kind")
        for i, item in enumerate(checks.several(words, f"{where}, {kind}"), start=1):
            here = f"{where}, {kind}, number {i}"
            forms = dict(item) if isinstance(item, Mapping) else {"word": item}
            known_forms = _FORMS if kind in _COUNT_NOUNS else _FORMS[:1]
            checks.known_keys(forms, known_forms, here, needed=_FORMS[:1])
            word = checks.line(forms.pop("word"), here)
            if word in out:
                raise InputError(f"expected each word once, got {word!r} twice", where=here)
            out[word] = (kind, forms)
    return out
