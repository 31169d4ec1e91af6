"""The stereotype pairs of a table, each once; and what every score says of itself.

Two conventions hold for all scores. A repeated row of a table is the same observation and counts once. What
cannot be computed is None with a note that says why, or an error; it is never NaN.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import plain
from bayesbias.core.wording import conjoined, some
from bayesbias.embeddings.embedding import Embedding
from bayesbias.tables.coverage import Coverage, Loss, losses
from bayesbias.tables.distances import distance_table
from bayesbias.tables.pair_table import PairTable, holds_pairs
from bayesbias.tables.reading import as_pair_table
from bayesbias.wordlists.listfile import load_wordlist
from bayesbias.wordlists.wordlist import WordClass, WordList

if TYPE_CHECKING:
    import pandas as pd

# Mean cosines in double precision are wrong by about 1e-16. Scores that differ by less than this are equal.
ROUNDING = 2.0**-42
_STEREOTYPES = ("associated", "different")


def caveats(defects: str, source: str) -> list[str]:
    """Say, below a score on the screen, what is known to be wrong with it, and where it is from."""
    return [f"  known: {defects}", f"  source: {source}"]


@dataclass(frozen=True, eq=False, repr=False)
class ScoreResult:
    """What every score says of itself."""

    name: str
    dropped: tuple[str, ...]
    notes: tuple[str, ...]
    _pairs: pd.DataFrame = field(repr=False)

    def pairs(self) -> pd.DataFrame:
        """Return a copy of the table from which the score can be followed by hand."""
        return self._pairs.copy()

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, but for the table of pairs, as plain numbers, texts, lists and dictionaries."""
        return {f.name: plain(getattr(self, f.name)) for f in dataclasses.fields(self) if f.name != "_pairs"}

    def as_json(self) -> dict[str, Any]:
        """Return what the command prints as JSON."""
        return self.as_dict()

    def in_words(self) -> list[str]:
        """Say what was found, in lines for the screen."""
        return [
            f"{key.replace('_', ' ')}: {value}" for key, value in self.as_json().items() if key != "notes"
        ]


@dataclass(frozen=True, eq=False)
class StereotypeGrid:
    """The stereotype pairs of a table, each once."""

    name: str
    words: list[str]
    word_class: dict[str, str]
    own_attributes: dict[str, list[str]]  # protected class -> the attributes associated with it
    attribute_sets: dict[str, list[str]]  # attribute class -> its attributes
    distance: dict[tuple[str, str], float]
    notes: list[str]
    _missing_protected: dict[str, list[str]]
    _missing_attributes: dict[str, list[str]]
    _names_of_sets: dict[str, list[str]]  # protected class -> the attribute classes associated with it

    def missing(self, classes: Iterable[str]) -> tuple[str, ...]:
        """Return the missing words of some protected classes and of their attributes."""
        protected = [w for c in classes for w in self._missing_protected.get(c, [])]
        sets = [name for c in classes for name in self._names_of_sets[c]]
        return tuple(
            dict.fromkeys([*protected, *(w for s in sets for w in self._missing_attributes.get(s, []))])
        )

    def attributes_called(self, c: str) -> str:
        """Return the name of the attributes of a class; that of the class where they have none of their own."""
        return conjoined(self._names_of_sets[c]) if self._names_of_sets[c] else c

    def missing_attributes(self) -> list[str]:
        """All attributes that the vectors lack, set by set."""
        return [w for name in self.attribute_sets for w in self._missing_attributes.get(name, [])]

    def missing_protected(self) -> list[str]:
        """All protected words that the vectors lack, class by class."""
        return [w for words in self._missing_protected.values() for w in words]


def called_set(letter: str, name: str, classes: Sequence[str], n: int | None = None) -> str:
    """Call a set of attributes by its letter and, where that says more than the classes do, its name; and count it.

    Examples
    --------
    >>> called_set("A", "Career", ("men", "women"), 8), called_set("A", "men", ("men", "women"))
    ('A Career (8)', 'A')
    """
    named = letter if name in classes else f"{letter} {name}"
    return named if n is None else f"{named} ({n})"


def table_of_source(source: Any, wordlist: Any) -> PairTable:
    """Return the pairs of whatever a score was given: a table, a frame, a file, or vectors and a list."""
    if wordlist is not None:
        if holds_pairs(source):
            raise InputError(
                "a table already holds the words and their distances",
                hint="leave out the word list, or give vectors in place of the table",
            )
        return distance_table(source, load_wordlist(wordlist, controls="none"))
    if isinstance(source, str | os.PathLike) and not os.fspath(source).endswith((".csv", ".parquet")):
        raise InputError(
            "not a table of distances",
            found=os.fspath(source),
            valid="a PairTable, a data frame, a .csv or .parquet file",
            hint="vectors need a word list too",
        )
    if isinstance(source, Embedding):
        raise InputError(
            "not a table of distances", found=type(source).__name__, hint="vectors need a word list too"
        )
    return as_pair_table(source)


def stereotype_grid(table: PairTable) -> StereotypeGrid:
    """Lay the pairs of words and stereotypes out by word and attribute; controls are left out."""
    frame = table.frame
    name = str(table.provenance.get("name", "pairs"))
    frame = frame[frame["connection"].isin(_STEREOTYPES)]
    if frame.empty:
        raise InputError("the table has no pair of a protected word and a stereotype", where=name)
    columns = ["protected_word", "protected_class", "attribute", "attribute_class", "connection", "distance"]
    distance: dict[tuple[str, str], float] = {}
    word_class: dict[str, str] = {}
    own: dict[str, dict[str, None]] = {}
    sets: dict[str, dict[str, None]] = {}
    names: dict[str, dict[str, None]] = {}
    repeats = 0
    for word, c, attribute, attribute_class, connection, value in zip(
        *(frame[column].tolist() for column in columns), strict=True
    ):
        if word_class.setdefault(word, c) != c:
            raise InputError(
                "a protected word stands in two classes",
                where=name,
                found=word,
                valid="each protected word in one class",
            )
        if not math.isfinite(value):
            raise InputError("a distance is not finite", where=name, found=(word, attribute))
        repeats += (word, attribute) in distance
        if abs(distance.setdefault((word, attribute), value) - value) > 1e-9:
            raise InputError("a pair has two distances", where=name, found=(word, attribute))
        sets.setdefault(attribute_class, {})[attribute] = None
        own.setdefault(c, {})
        names.setdefault(c, {})
        if connection == "associated":
            own[c][attribute] = None
            names[c][attribute_class] = None
    notes = [f"{repeats} repeated pairs count once"] if repeats else []
    notes += [f"{loss.text}, and the class is left out" for loss in _left_out(table.coverage)]
    if table.coverage.matched:
        used = {*word_class, *(v for s in sets.values() for v in s)}
        spelled = [f"{w} as {v}" for w, v in table.coverage.matched.items() if w in used]
        notes += [f"found under another spelling: {some(spelled)}"] if spelled else []
    return StereotypeGrid(
        name,
        list(word_class),
        word_class,
        {c: list(words) for c, words in own.items()},
        {c: list(words) for c, words in sets.items()},
        distance,
        notes,
        {c: list(group["missing"]) for c, group in table.coverage.protected.items()},
        {c: list(group["missing"]) for c, group in table.coverage.attributes.items()},
        {c: list(found) for c, found in names.items()},
    )


def _left_out(coverage: Coverage) -> list[Loss]:
    """Return the classes of which nothing was found."""
    return [loss for loss in losses(coverage) if loss.left_out]


def two_classes(grid: StereotypeGrid, classes: Sequence[str] | None) -> tuple[str, str]:
    """Return the two classes to compare, both with stereotypes of their own."""
    chosen = pair_of_classes(list(grid.own_attributes), classes, grid.name)
    for c in chosen:
        if not grid.own_attributes[c]:
            raise InputError(f"no attribute is associated with the protected class {c!r}", where=grid.name)
    return chosen


_CHOOSE = "name two with classes=(X, Y)"


def pair_of_classes(
    names: list[str], classes: Sequence[str] | None, where: str, how: str = _CHOOSE
) -> tuple[str, str]:
    """Return the two names chosen, or the only two there are; `how` says what to do where there are more."""
    if classes is None:
        if len(names) != 2:
            raise InputError(
                "two protected classes are compared",
                where=where,
                found=names,
                valid="two classes",
                hint=how if len(names) > 2 else None,
            )
        return names[0], names[1]
    classes = checks.several(classes, "class", "classes")
    if len(classes) != 2 or classes[0] == classes[1]:
        raise InputError("two different protected classes are compared", found=classes, valid=names)
    for c in classes:
        checks.choice(c, names, "protected class", where)
    return classes[0], classes[1]


def classes_of_list(
    listed: WordList, classes: Sequence[str] | None, how: str = _CHOOSE
) -> tuple[WordClass, WordClass]:
    """Return the two classes of a list that are chosen, or the only two there are; see `pair_of_classes`."""
    by_name = {c.name: c for c in listed.classes}
    x, y = pair_of_classes(list(by_name), classes, f"word list {listed.name}", how)
    return by_name[x], by_name[y]


def refuse_none_left(
    left: Sequence[Sequence[str]], classes: Sequence[WordClass], noun: str, where: str
) -> None:
    """Refuse a class of which no word, or no attribute, is in the vocabulary."""
    for words, c in zip(left, classes, strict=True):
        if not words:
            raise InputError(f"no {noun} of the protected class {c.name!r} is in the vocabulary", where=where)


def choose_protected(grid: StereotypeGrid, words: Iterable[str] | None) -> tuple[list[str], list[str]]:
    """Return the protected words to use, and those among the wanted that are missing."""
    missing = grid.missing_protected()
    if words is None:
        return grid.words, missing
    wanted = unique_words(words, "words", repeats=True)
    for word in wanted:
        if word not in grid.word_class and word not in missing:
            raise checks.unknown(word, grid.words, "protected word", grid.name)
    return [w for w in wanted if w in grid.word_class], [w for w in wanted if w in missing]


def unique_words(words: Iterable[str], what: str, repeats: bool = False) -> tuple[str, ...]:
    """Return words once each; a word listed twice is refused unless ``repeats`` may be."""
    listed = checks.several(words, "word", what)
    return tuple(dict.fromkeys(listed)) if repeats else checks.distinct(listed, "a word", what)


def frame_of_rows(rows: list[tuple[Any, ...]], columns: list[str]) -> pd.DataFrame:
    """Make a data frame of rows, with its columns even where there is no row."""
    import pandas as pd

    return pd.DataFrame(rows, columns=columns)
