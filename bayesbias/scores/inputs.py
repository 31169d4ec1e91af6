"""What scores are computed from: the stereotype pairs of a table, each once, or vectors of words."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import join_words, some
from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.loading import load_embedding
from bayesbias.tables.distances import distance_table
from bayesbias.tables.pair_table import PairTable, holds_pairs
from bayesbias.tables.reading import as_pair_table
from bayesbias.wordlists.listfile import load_wordlist
from bayesbias.wordlists.wordlist import WordClass, WordList

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Grid:
    """The stereotype pairs of a table, each once."""

    name: str
    word_class: dict[str, str]
    own: dict[str, list[str]]  # protected class -> the attributes associated with it
    sets: dict[str, list[str]]  # attribute class -> its attributes
    sets_of: dict[str, list[str]]  # protected class -> the attribute classes associated with it
    distance: dict[tuple[str, str], float]
    missing_words: dict[str, list[str]]
    missing_attributes: dict[str, list[str]]
    notes: list[str]

    def two_classes(self, classes: Sequence[str] | None) -> tuple[str, str]:
        """Return the two classes to compare, both with attributes of their own."""
        chosen = pair_of_classes(list(self.own), classes, self.name)
        for c in chosen:
            if not self.own[c]:
                raise InputError(
                    f"no attribute is associated with the protected class {c!r}", where=self.name
                )
        return chosen

    def words_of(self, c: str) -> list[str]:
        """Return the words of a protected class."""
        return [w for w, own in self.word_class.items() if own == c]

    def called(self, c: str) -> str:
        """Return the name of the attribute set of a class.

        That of the class where it has none of its own.
        """
        return join_words(self.sets_of[c]) if self.sets_of[c] else c

    def missing(self, classes: Iterable[str]) -> tuple[str, ...]:
        """Return the missing words of some protected classes and of their attributes."""
        words = [w for c in classes for w in self.missing_words.get(c, [])]
        sets = [s for c in classes for s in self.sets_of[c]]
        words += [w for s in sets for w in self.missing_attributes.get(s, [])]
        return tuple(dict.fromkeys(words))

    def near(self, word: str, attributes: Sequence[str], letter: str) -> dict[str, float]:
        """Return the distances of a word to the attributes that it has a pair with.

        There must be one.
        """
        found = {v: self.distance[word, v] for v in attributes if (word, v) in self.distance}
        if not found:
            raise InputError(
                f"the protected word {word!r} has no pair with an attribute of set {letter}",
                where=self.name,
                valid="at least one pair with either set",
            )
        return found


def grid_of(source: Any, wordlist: Any = None) -> Grid:
    """Return the stereotype pairs of a table, a frame, a file, or vectors and a word list."""
    if wordlist is not None:
        if holds_pairs(source):
            raise InputError("a table already holds the words", hint="leave out the word list")
        return _grid(distance_table(source, load_wordlist(wordlist, controls="none")))
    is_text = isinstance(source, str | os.PathLike)
    if isinstance(source, Embedding) or (
        is_text and not os.fspath(source).endswith((".csv", ".parquet"))
    ):
        raise InputError(
            "not a table of distances",
            found=source if is_text else "an Embedding",
            valid="a PairTable, a data frame, a .csv or .parquet file",
            hint="vectors need a word list too",
        )
    return _grid(as_pair_table(source))


def _grid(table: PairTable) -> Grid:
    frame, name, coverage = table.frame, str(table.provenance.get("name", "pairs")), table.coverage
    frame = frame[frame["connection"].isin(["associated", "different"])]
    if frame.empty:
        raise InputError("the table has no pair of a protected word and a stereotype", where=name)
    repeated = frame.duplicated(["protected_word", "attribute"])
    notes = [f"{repeated.sum()} repeated pairs count once"] if repeated.any() else []
    frame = frame.loc[~repeated].astype({"connection": str})
    of = frame.drop_duplicates(["protected_word", "protected_class"])
    if (twice := of["protected_word"].duplicated()).any():
        found = of.loc[twice, "protected_word"].iloc[0]
        raise InputError("a protected word stands in two classes", where=name, found=found)
    word_class = dict(zip(of["protected_word"], map(str, of["protected_class"]), strict=True))
    near = frame[frame["connection"] == "associated"]
    classes = dict.fromkeys(word_class.values())
    notes += [note for note in coverage.notes if note.startswith("LEFT OUT")]
    used = {*word_class, *frame["attribute"]}
    if spelled := [f"{w} as {v}" for w, v in coverage.matched.items() if w in used]:
        notes.append(f"found under another spelling: {some(spelled)}")
    missing_words, missing_attributes = (
        {key: list(group["missing"]) for key, group in side.items()}
        for side in (coverage.protected, coverage.attributes)
    )
    pairs = zip(frame["protected_word"], frame["attribute"], strict=True)
    return Grid(
        name,
        word_class,
        own={c: [] for c in classes} | _lists(near, "protected_class", "attribute"),
        sets=_lists(frame, "attribute_class", "attribute"),
        sets_of={c: [] for c in classes} | _lists(near, "protected_class", "attribute_class"),
        distance=dict(zip(pairs, frame["distance"], strict=True)),
        missing_words=missing_words,
        missing_attributes=missing_attributes,
        notes=notes,
    )


def _lists(frame: Any, by: str, column: str) -> dict[str, list[str]]:
    """Return the different values of a column by group, both in their order in the table."""
    groups = frame.astype({by: str, column: str}).groupby(by, sort=False)[column]
    return {str(key): list(dict.fromkeys(values)) for key, values in groups}


def pair_of_classes(names: list[str], classes: Sequence[str] | None, where: str) -> tuple[str, str]:
    """Return the two names chosen, or the only two there are."""
    if classes is None:
        if len(names) != 2:
            hint = "name two with classes=(X, Y), or --classes X,Y"
            problem = "two protected classes are compared"
            raise InputError(problem, where=where, found=names, hint=hint)
        return names[0], names[1]
    x, y = classes if len(classes) == 2 else (None, None)
    if x is None or y is None or x == y:
        raise InputError("two different protected classes are compared", found=classes, valid=names)
    for c in (x, y):
        checks.choice(c, names, "protected class", where)
    return x, y


def classes_of_list(listed: WordList, classes: Sequence[str] | None) -> tuple[WordClass, WordClass]:
    """Return the two classes of a list that are chosen, or the only two there are."""
    by_name = {c.name: c for c in listed.classes}
    x, y = pair_of_classes(list(by_name), classes, f"word list {listed.name}")
    return by_name[x], by_name[y]


@dataclass(frozen=True, eq=False)
class Vectors:
    """The vectors of those of some words that have one."""

    name: str
    of: dict[str, Array]
    missing: tuple[str, ...]
    notes: list[str]

    def known(self, words: Iterable[str], what: str) -> list[str]:
        """Return the words that have a vector, each once; there must be one where it is needed."""
        found = [w for w in dict.fromkeys(words) if w in self.of]
        if what and not found:
            raise InputError(f"no {what} is in the vocabulary", where=self.name)
        return found

    def rows(self, words: Iterable[str]) -> Array:
        """Return the vectors of words, one row each."""
        return np.array([self.of[w] for w in words])


def vectors_of(embedding: Any, words: Iterable[str], unit: bool = True) -> Vectors:
    """Return the vectors of words, of length 1 unless `unit` is False."""
    asked = tuple(dict.fromkeys(words))
    held = embedding if isinstance(embedding, Embedding) else load_embedding(embedding, words=asked)
    present = [w for w in asked if w in held]
    if not present:
        raise InputError(
            "none of the words is in the vocabulary", where=held.name, found=some(asked)
        )
    matched = [f"{w} as {held.matched[w]}" for w in present if w in held.matched]
    notes = [f"found under another spelling: {some(matched)}"] if matched else []
    array = np.asarray(held.vectors_of(present), dtype=float)
    lengths = np.linalg.norm(array, axis=1)
    if not (usable := np.isfinite(lengths) & (lengths > 0)).all():
        bad = present[int(usable.argmin())]
        raise InputError("the vector has no direction", where=f"embedding {held.name!r}", found=bad)
    if unit:
        array = array / lengths[:, None]
    missing = tuple(w for w in asked if w not in set(present))
    return Vectors(held.name, dict(zip(present, array, strict=True)), missing, notes)


def defining_pairs(sets: Iterable[Sequence[str]] | None, where: str) -> list[tuple[str, str]]:
    """Return the pairs of words that define a direction."""
    couples = [tuple(couple) for couple in sets or ()]
    if not couples:
        valid = 'definitional_sets in the word list, or sets=[("he", "she"), ...]'
        raise InputError("no pairs define a direction", where=where, valid=valid)
    for couple in couples:
        if len(couple) != 2 or couple[0] == couple[1]:
            problem = "a direction is defined by pairs of different words"
            raise InputError(problem, where=where, found=couple, valid='such as ("he", "she")')
    return [(first, second) for first, second in couples]
