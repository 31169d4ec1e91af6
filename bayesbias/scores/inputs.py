"""The data of scores: stereotype pairs of a table, or vectors of words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import some
from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.loading import load_embedding
from bayesbias.tables.coverage import Coverage
from bayesbias.tables.distances import distance_table
from bayesbias.tables.reading import as_pair_table
from bayesbias.wordlists.listfile import load_wordlist
from bayesbias.wordlists.wordlist import SHARED, WordClass, WordList

if TYPE_CHECKING:
    import pandas as pd

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Grid:
    """The stereotype pairs of a table, each once."""

    name: str
    frame: "pd.DataFrame"
    coverage: Coverage
    notes: list[str]

    def two_classes(self, classes: Sequence[str] | None) -> "tuple[Grid, tuple[str, str]]":
        """Return the pairs, and the two classes to compare, both with attributes of their own.

        Of two attribute sets that belong to no class the first becomes that of X, the second of Y.
        """
        grid, frame = self, self.frame
        chosen = _pair(frame["protected_class"].unique(), classes, self.name)
        sets = frame["attribute_class"].unique()
        if (frame["connection"] == SHARED).all() and len(sets) == 2:
            owner = frame["attribute_class"].map(dict(zip(sets, chosen, strict=True)))
            own = np.where(owner == frame["protected_class"], "associated", "different")
            grid = replace(self, frame=frame.assign(connection=own))
        for c in chosen:
            if not grid.own(c):
                problem = f"expected attributes associated with {c!r}, got none"
                hint = "give each class its own, or the list two attribute sets"
                raise InputError(problem, where=self.name, hint=hint)
        return grid, chosen

    def own(self, c: str, column: str = "attribute") -> list[str]:
        """Return the attributes, or attribute sets, associated with a class."""
        near = (self.frame["connection"] == "associated") & (self.frame["protected_class"] == c)
        return list(self.frame.loc[near, column].unique())

    def sets(self, chosen: Iterable[str]) -> tuple[str, ...]:
        """Return the names of the attribute sets A and B."""
        return tuple(" and ".join(self.own(c, "attribute_class")) for c in chosen)

    def missing(self, classes: Iterable[str]) -> tuple[str, ...]:
        """Return the missing words of some protected classes and of their attributes."""
        coverage, classes = self.coverage, list(classes)
        groups = [coverage.protected.get(c) for c in classes]
        groups += [
            coverage.attributes.get(s) for c in classes for s in self.own(c, "attribute_class")
        ]
        return tuple(dict.fromkeys(word for group in groups if group for word in group["missing"]))

    def sides(self, chosen: tuple[str, str]) -> "pd.DataFrame":
        """Return the pairs of the words of two classes with attribute sets A and B."""
        import pandas as pd

        columns = ["protected_word", "protected_class", "attribute", "distance"]
        words = self.frame.loc[self.frame["protected_class"].isin(chosen), columns]
        parts = []
        for letter, c in zip("AB", chosen, strict=True):
            near = words[words["attribute"].isin(self.own(c))]
            if lone := set(words["protected_word"]) - set(near["protected_word"]):
                problem = f"expected a pair with attribute set {letter} for each word, got none for"
                raise InputError(f"{problem} {some(sorted(lone))}", where=self.name)
            parts.append(near.assign(attribute_set=letter))
        return pd.concat(parts, ignore_index=True)


def grid_of(source: Any, wordlist: Any = None) -> Grid:
    """Return the stereotype pairs of a table, or of vectors and a word list."""
    if wordlist is None:
        table = as_pair_table(source)
    else:
        table = distance_table(source, load_wordlist(wordlist, controls="none"))
    name, coverage = str(table.provenance.get("name", "pairs")), table.coverage
    frame = table.frame[table.frame["connection"].isin(["associated", "different", SHARED])]
    if frame.empty:
        raise InputError("expected pairs of protected words and stereotypes, got none", where=name)
    repeated = frame.duplicated(["protected_word", "attribute"])
    notes = [f"{repeated.sum()} repeated pairs count once"] if repeated.any() else []
    labels = ("protected_class", "attribute_class", "connection")
    frame = frame.loc[~repeated].astype(dict.fromkeys(labels, str))
    of = frame.drop_duplicates(["protected_word", "protected_class"])["protected_word"]
    if twice := checks.repeated(of):
        problem = f"expected one class for each protected word, got two for {twice[0]!r}"
        raise InputError(problem, where=name)
    notes += [note for note in coverage.notes if note.startswith("LEFT OUT")]
    used = {*of, *frame["attribute"]}
    if spelled := [f"{w} as {v}" for w, v in coverage.matched.items() if w in used]:
        notes.append(f"found under another spelling: {some(spelled)}")
    return Grid(name, frame, coverage, notes)


def _pair(names: Sequence[str], classes: Sequence[str] | None, where: str) -> tuple[str, str]:
    """Return the two names chosen, or the only two there are."""
    chosen = names if classes is None else classes
    for c in chosen:
        checks.choice(c, names, "protected class", where)
    if len(set(chosen)) != 2 or len(chosen) != 2:
        hint = "name two with classes=(X, Y), or --classes X,Y"
        raise InputError(
            f"expected two protected classes, got {some(chosen)}", where=where, hint=hint
        )
    return chosen[0], chosen[1]


def classes_of_list(listed: WordList, classes: Sequence[str] | None) -> tuple[WordClass, WordClass]:
    """Return the two classes of a list that are chosen, or the only two there are.

    Of attribute sets that belong to no class the first becomes that of X, and the others those of
    Y.
    """
    by_name = {c.name: c for c in listed.classes}
    x, y = (by_name[c] for c in _pair(list(by_name), classes, f"word list {listed.name}"))
    if listed.attribute_sets and not (x.attributes or y.attributes):
        first, *rest = listed.attribute_sets.values()
        others = tuple(word for words in rest for word in words)
        x, y = replace(x, attributes=first), replace(y, attributes=others)
    return x, y


@dataclass(frozen=True, eq=False)
class Vectors:
    """The vectors of those of some words that have one."""

    name: str
    of: dict[str, Array]
    missing: tuple[str, ...]
    notes: list[str]

    def known(self, words: Iterable[str], what: str) -> list[str]:
        """Return the words that have a vector, each once; there must be one."""
        found = [w for w in dict.fromkeys(words) if w in self.of]
        if not found:
            raise InputError(f"expected a vector of some {what}, got none", where=self.name)
        return found

    def of_classes(self, pair: Iterable[WordClass], side: str = "protected") -> list[list[str]]:
        """Return the words (or the attributes) of classes that have a vector."""
        noun = {"protected": "word", "attributes": "attribute"}[side]
        return [self.known(getattr(c, side), f"{noun} of class {c.name!r}") for c in pair]

    def rows(self, words: Iterable[str]) -> Array:
        """Return the vectors of words, one row each."""
        return np.array([self.of[w] for w in words])


def vectors_of(embedding: Any, words: Iterable[str], unit: bool = True) -> Vectors:
    """Return the vectors of words, of length 1 unless `unit` is False."""
    asked = tuple(dict.fromkeys(words))
    held = embedding if isinstance(embedding, Embedding) else load_embedding(embedding, words=asked)
    present = [w for w in asked if w in held]
    if not present:
        raise InputError(f"expected a vector of {some(asked)}, got none", where=held.name)
    matched = [f"{w} as {held.matched[w]}" for w in present if w in held.matched]
    notes = [f"found under another spelling: {some(matched)}"] if matched else []
    array = np.asarray(held.vectors_of(present), dtype=float)
    lengths = np.linalg.norm(array, axis=1)
    if not (usable := np.isfinite(lengths) & (lengths > 0)).all():
        bad = f"expected a vector with a direction, got none for {present[int(usable.argmin())]!r}"
        raise InputError(bad, where=f"embedding {held.name!r}")
    if unit:
        array = array / lengths[:, None]
    missing = tuple(w for w in asked if w not in set(present))
    return Vectors(held.name, dict(zip(present, array, strict=True)), missing, notes)


def defining_pairs(sets: Iterable[Sequence[str]] | None, where: str) -> list[tuple[str, str]]:
    """Return the pairs of words that define a direction."""
    couples = [tuple(couple) for couple in sets or ()]
    wrong = [couple for couple in couples if len(couple) != 2 or couple[0] == couple[1]]
    if wrong or not couples:
        got = some(wrong[0]) if wrong else "none"
        problem = f"expected pairs of words that define a direction, got {got}"
        hint = 'give definitional_sets in the word list, or sets=[("he", "she"), ...]'
        raise InputError(problem, where=where, hint=hint)
    return [(first, second) for first, second in couples]
