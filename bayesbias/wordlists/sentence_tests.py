"""A sentence test as a value, and the file in the published format that it is read from and written to.

A test has two sets of targets and two of attributes. Every sentence keeps the word and the template it was
made of, so that both can enter a model as effects.

Source: May, Wang, Bordia, Bowman & Rudinger (2019), arXiv:1903.10561, and the tests published with it.
"""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import read_json, sha256_of, whole_file
from bayesbias.wordlists.grammar import BARE_TEMPLATE, check_texts, is_sentence, recognised_sentences

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SentenceTest", "read_test", "write_test"]

_WORD = r"\w+(?:['’-]\w+)*"
_LONGEST_RUN = 4  # tokens of a word
SETS = ("targ1", "targ2", "attr1", "attr2")
SIDES = {"targets": SETS[:2], "attributes": SETS[2:]}


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
    unstated : tuple of str
        ``"targets"``, ``"attributes"`` or both: what is sentences of which nobody said the words and templates. Each
        counts as a word of its own there.

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
    frame: pd.DataFrame
    origin: str
    unstated: tuple[str, ...] = ()

    @property
    def sizes(self) -> dict[str, int]:
        """The number of examples in each set."""
        counts = self.frame["set"].value_counts()
        return {name: int(counts[name]) for name in SETS}

    @property
    def sha256(self) -> str:
        """SHA-256 of the test in the published format: the same for the same categories and examples."""
        return sha256_of(published_json(self))

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


def read_test(path: str | os.PathLike[str]) -> SentenceTest:
    """Read a test in the published format.

    The file holds one JSON object with the keys ``targ1``, ``targ2``, ``attr1`` and ``attr2``, each with
    ``category``, a text, and ``examples``, a list of texts (words, sentences or whole paragraphs).

    The two sets of targets, and the two of attributes, may also say which word and template each example was made
    of, in lists ``words`` and ``templates`` of the same length. Without them, two sets all of whose sentences could
    have been made of words of the published tests get those words and templates; in any other two every
    example is a word of its own, with the template ``{word}``, and where some are sentences they are ``unstated``.

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
    >>> from bayesbias import sentence_test
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "mine.jsonl"
    >>> _ = write_test(sentence_test("sent-weat7"), path)
    >>> read_test(path)
    <SentenceTest mine: Math 72, Arts 82 | MaleTerms 80, FemaleTerms 80>
    """
    path = Path(checks.path(path, "path", "the path of a sentence test in JSON"))
    data = read_json(path)
    checks.known_keys(checks.table(data, path), SETS, path, needed=SETS)
    categories, stated = [], {}
    for name in SETS:
        where, part = f"{path}, {name}", data[name]
        keys = ("category", "examples", "words", "templates")
        checks.known_keys(checks.table(part, where), keys, where, needed=keys[:2])
        checks.text(part["category"], f"{where}, category")
        count = len(part["examples"]) if isinstance(part["examples"], list) else 1
        for key in sorted(set(part) - {"category"}):
            check_texts(part[key], count, f"{where}, {key}")
            for i, text in enumerate(part[key], start=1):
                checks.label(text, f"{where}, {key}, number {i}")
        if ("words" in part) != ("templates" in part):
            raise InputError("words and templates are stated both or neither", where=where)
        categories.append(part["category"])
        if "words" in part:
            stated[name] = list(zip(part["words"], part["templates"], part["examples"], strict=True))
            _check_words(stated[name], where)
    rows: list[list[tuple[str, str, str]]] = []
    unstated = []
    for side, (first, second) in SIDES.items():
        if (first in stated) != (second in stated):
            has, lacks = (first, second) if first in stated else (second, first)
            raise InputError(
                f"words and templates are stated for both sets of {side} or for neither",
                where=f"{path}, {lacks}",
                found=[has],
                valid=f"lists words and templates beside the examples of {lacks} too",
            )
        if first in stated:
            rows += [stated[first], stated[second]]
            continue
        split = recognised_sentences(data[first]["examples"], data[second]["examples"])
        rows += split
        if any(
            template == BARE_TEMPLATE and is_sentence(word) for each in split for word, template, _ in each
        ):
            unstated.append(side)
    return assembled_test(path.stem, categories, rows, str(path), tuple(unstated))


def _check_words(rows: list[tuple[str, str, str]], where: str) -> None:
    """Refuse words that were swapped or shifted against their sentences: which belong together is taken from them.

    A sentence may hold its word in another form, and words of others beside it. It is told by a sentence that lacks its word and
    holds another of the set, where no sentence of that other word holds it, or one holds the first in its place.
    """
    texts = [" ".join(re.findall(_WORD, sentence.casefold())) for _, _, sentence in rows]
    words = [" ".join(re.findall(_WORD, word.casefold())) for word, _, _ in rows]
    of_word: dict[str, list[str]] = {}
    for word, text in zip(words, texts, strict=True):
        of_word.setdefault(word, []).append(text)

    @functools.cache
    def lacking(word: str) -> tuple[bool, frozenset[str]]:
        """Return whether all sentences of a word lack it, and what those hold that do."""
        without = [text for text in of_word[word] if word not in text]
        return len(without) == len(of_word[word]), frozenset(run for text in without for run in _runs(text))

    for number, (word, text) in enumerate(zip(words, texts, strict=True)):
        if not word or word in text:
            continue
        for other in _runs(text):
            if other in of_word and (lacking(other)[0] or word in lacking(other)[1]):
                raise InputError(
                    f"the word of example {number + 1} is not in it, and another of the set is",
                    where=f"{where}, words",
                    found=f"{rows[number][0]!r} for {rows[number][2]!r}",
                    valid=repr(other),
                )


def _runs(text: str) -> Iterator[str]:
    """Yield all runs of a few tokens, the longest first."""
    tokens = text.split()
    for length in range(_LONGEST_RUN, 0, -1):
        for first in range(len(tokens) - length + 1):
            yield " ".join(tokens[first : first + length])


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
        Where it cannot be written, or the path does not end in ``.jsonl`` or ``.json``.

    Examples
    --------
    >>> from bayesbias import sentence_test
    >>> import tempfile
    >>> path = write_test(sentence_test("weat6"), Path(tempfile.mkdtemp()) / "weat6.jsonl")
    >>> path.read_text(encoding="utf-8").split()[:6]
    ['{', '"targ1":', '{', '"category":', '"MaleNames",', '"examples":']
    """
    if Path(path).suffix.lower() not in (".json", ".jsonl"):
        raise InputError(
            "a test is written in the form that read_test reads", where=path, valid="a .jsonl or .json file"
        )
    with whole_file(path) as temporary:
        temporary.write_text(published_json(test, parts), encoding="utf-8", newline="\n")
    return Path(path)


def assembled_test(
    name: str,
    categories: list[str],
    rows: list[list[tuple[str, str, str]]],
    origin: str,
    unstated: tuple[str, ...] = (),
) -> SentenceTest:
    import pandas as pd

    named = dict(zip(SETS, categories, strict=True))
    flat = [(which, named[which], *row) for which, each in zip(SETS, rows, strict=True) for row in each]
    frame = pd.DataFrame(flat, columns=["set", "category", "word", "template", "sentence"])
    frame["set"] = pd.Categorical(frame["set"], categories=SETS)
    return SentenceTest(name, named, frame, origin, unstated)


def published_json(test: SentenceTest, parts: bool = False) -> str:
    data: dict[str, dict[str, Any]] = {}
    for name in SETS:
        rows = test.frame[test.frame["set"] == name]
        data[name] = {"category": test.categories[name], "examples": rows["sentence"].tolist()}
        if parts:
            data[name] |= {"words": rows["word"].tolist(), "templates": rows["template"].tolist()}
    return json.dumps(data, indent=2, ensure_ascii=False)
