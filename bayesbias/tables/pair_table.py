"""The pair table as a value, and the accounts of its words that make up its coverage.

The table has one row for each protected word and attribute. Distances are float64 and lie in
[0, 2]. A word that the vectors lack makes no row: the coverage names it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import Any

import pandas as pd

from bayesbias.core import InputError, checks, files, frames, number_of, some
from bayesbias.tables.coverage import Coverage, GroupCoverage
from bayesbias.wordlists.wordlist import CONNECTIONS, CONTROLS, FEW_WORDS, SHARED

COLUMNS = (
    "protected_word", "protected_class", "attribute", "attribute_class", "attribute_kind", "connection",
    "distance",
)  # fmt: skip
SIDES = (
    ("protected", "protected_class", "protected_word"),
    ("attributes", "attribute_class", "attribute"),
)
"""Both sides of a pair: their name in the coverage, and the columns of their classes and words."""
Groups = tuple[dict[str, GroupCoverage], dict[str, GroupCoverage]]
"""What `found_by_class` returns: of protected words and of attributes, class -> its coverage."""
SameVector = tuple[dict[str, str], dict[str, str]]
"""Of protected words and of attributes, dropped word -> the word that is kept for its vector."""


@dataclass(frozen=True, eq=False)
class PairTable:
    """A tidy table of pairs and the account of how it came about.

    Attributes
    ----------
    frame : pandas.DataFrame
        ``protected_word, protected_class, attribute, attribute_class, attribute_kind`` (texts;
        above a million rows categorical, with categories in the order of the alphabet),
        ``connection`` (categorical) and ``distance`` (float64), one row per pair; then columns of
        the reader's own, as they were read.
    coverage : Coverage
        Words found and missing.
    provenance : Mapping
        Names and hashes of the word list and the vectors, or of the imported file.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> table.frame.columns.tolist()[:4], len(table)
    (['protected_word', 'protected_class', 'attribute', 'attribute_class'], 165)
    >>> table.frame["connection"].value_counts().to_dict()
    {'different': 110, 'associated': 55}
    """

    frame: pd.DataFrame
    coverage: Coverage
    provenance: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.frame)

    def __repr__(self) -> str:
        return frames.first_rows(self._size(), self.frame)

    def _repr_html_(self) -> str:
        return frames.first_rows_html(self._size(), self.frame)

    def _size(self) -> list[str]:
        """Say how many pairs and words there are, and how many words are missing."""
        counts = ", ".join(
            f"{n:,} {name}"
            for name, n in self.frame["connection"].value_counts(sort=False).items()
            if n
        )
        words = self.frame["protected_word"].nunique(), self.frame["attribute"].nunique()
        missing = len(self.coverage.missing)
        return [
            f"PairTable: {self.provenance.get('name', 'pairs')}, "
            f"{number_of(len(self.frame), 'pair')} of {number_of(words[0], 'protected word')} and "
            f"{number_of(words[1], 'attribute')}",
            f"{counts}; {number_of(missing, 'word')} missing",
        ]

    def save(self, path: checks.FilePath) -> None:
        """Write the pairs as ``.csv`` or ``.parquet``, whole or not at all."""
        path = Path(checks.path(path, "path", "the path of a .csv or .parquet file"))
        checks.choice(path.suffix, (".csv", ".parquet"), f"{path}, ending")
        with files.whole_file(path) as temporary:
            if path.suffix == ".csv":
                files.write_csv(self.frame, temporary, exact=True)
            else:
                self.frame.to_parquet(temporary, index=False)


def holds_pairs(x: Any) -> bool:
    """Say whether a value is a table of pairs, or a frame of one."""
    columns = getattr(x, "columns", None)
    return isinstance(x, PairTable) or (
        isinstance(columns, Iterable) and "protected_word" in columns
    )


def as_pair_columns(frame: pd.DataFrame, own: Sequence[str] = ()) -> pd.DataFrame:
    """Return the columns of a table of pairs, with labels as categories."""
    frame = frame[[*COLUMNS, *own]].copy()
    present = [c for c in (*CONNECTIONS, SHARED) if (frame["connection"] == c).any()]
    known = frame["connection"]
    if isinstance(known.dtype, pd.CategoricalDtype):  # a million rows of a few labels stay numbers
        frame["connection"] = known.cat.set_categories(present, ordered=False)
    else:
        frame["connection"] = pd.Categorical(known, categories=present)
    frame["distance"] = frame["distance"].astype(float)
    return frame.reset_index(drop=True)


def notes_of_vectors(table: PairTable) -> list[str]:
    """Return what the loader of the vectors, or of the table, noted, such as lines that were skipped."""
    embedding = table.provenance.get("embedding") or {}
    return [*table.provenance.get("notes", ()), *embedding.get("notes", ())]


# -- accounts of words ----------------------------------------------------------------------------


def labels_within(frame: pd.DataFrame, outer: str, inner: str) -> dict[str, list[str]]:
    """Return the labels of one column within each label of another."""
    pairs = frame[[outer, inner]].drop_duplicates().itertuples(index=False)
    return checks.grouped((str(first), str(second)) for first, second in pairs)


def words_in(frame: pd.DataFrame) -> dict[str, None]:
    """Return the words of both sides of pairs, each once."""
    words = [*frame["protected_word"].unique(), *frame["attribute"].unique()]
    return dict.fromkeys(map(str, words))


def found_by_class(
    frame: pd.DataFrame,
    known: Mapping[str, bool],
    matched: Mapping[str, str],
    composed: Collection[str] = (),
    misspelled: Mapping[str, str] | None = None,
) -> Groups:
    """Return the coverage of each class; control words are not checked for misspellings."""
    doubtful = misspelled or {}
    out: Groups = ({}, {})
    for groups, (_, label, column) in zip(out, SIDES, strict=True):
        for name, words in labels_within(frame, label, column).items():
            groups[name] = GroupCoverage(
                listed=len(words),
                missing=tuple(word for word in words if not known[word]),
                matched={word: matched[word] for word in words if word in matched},
                composed=tuple(word for word in words if word in composed),
                misspelled={
                    word: doubtful[word]
                    for word in words
                    if word in doubtful and name not in CONTROLS
                },
            )
    return out


def name_same_vectors(
    groups: Groups, listed: tuple[Mapping[str, list[str]], ...], same: SameVector
) -> list[str]:
    """Enter words that share a vector in the coverage; return one note."""
    for coverages, classes, kept_as in zip(groups, listed, same, strict=True):
        for name, words in classes.items():
            missing = coverages[name].missing
            sharing = [word for word in words if word in kept_as and word not in missing]
            by_kept = checks.grouped((kept_as[word], word) for word in sharing)
            same_vector = {kept: tuple(others) for kept, others in by_kept.items()}
            coverages[name] = replace(coverages[name], same_vector=same_vector)
    dropped = {word: kept for kept_as in same for word, kept in kept_as.items()}
    if not dropped:
        return []
    together = checks.grouped((kept, word) for word, kept in dropped.items())
    named = some(("/".join([kept, *words]) for kept, words in together.items()), 4)
    return [f"{len(dropped) + len(together):,} words with the same vector count once: {named}"]


def _stereotypes(frame: pd.DataFrame) -> dict[str, list[str]]:
    # An attribute of two classes stands in one attribute class, but is associated with both.
    columns = ["protected_class", "attribute"]
    return labels_within(frame.loc[frame["connection"] == "associated", columns], *columns)


def thin_classes(
    frame: pd.DataFrame, known: Mapping[str, bool], groups: Groups, same: SameVector = ({}, {})
) -> list[str]:
    """Say which classes rest on few words: fewer than `FEW_WORDS`."""
    stereotypes = _stereotypes(frame)
    protected = labels_within(frame, "protected_class", "protected_word")
    thin: list[tuple[int, str]] = []
    sets = labels_within(frame[frame["connection"] == SHARED], "attribute_class", "attribute")
    for name in dict.fromkeys([*protected, *sets]):
        for words, kept_as, noun in (
            (protected.get(name, []), same[0], "protected words"),
            (stereotypes.get(name, []), same[1], "stereotypes"),
            (sets.get(name, []), same[1], "attributes"),
        ):
            distinct = len({kept_as.get(word, word) for word in words if known[word]})
            if 1 <= distinct < FEW_WORDS:
                thin.append((distinct, f"{noun} of {name} ({distinct})"))
    notes = []
    if thin:
        fewest, *others = [named for _, named in sorted(thin, key=itemgetter(0))]
        more = f" and {number_of(len(others), 'other set')}" if others else ""
        notes.append(f"few words: {fewest}{more}")
    for name in CONTROLS:
        control = groups[1].get(name)
        if control and control.found == 1 < control.listed:
            notes.append(f"only one {name} control word was found: too few to compare with")
    return notes


def without_lost_classes(
    frame: pd.DataFrame,
    known: Mapping[str, bool],
    groups: Groups,
    source: str,
) -> tuple[pd.DataFrame, list[str]]:
    """Leave out classes and controls of which no word was found.

    Without its stereotypes a class has nothing that it could be nearer to, so that its words go as
    well. The stereotypes of a class without words stay: for other classes they are those of another
    class. Without control words there are no contrasts with them, and all others stand.

    The protected classes that are left out are marked in `groups`.

    Raises
    ------
    InputError
        If fewer than two classes have words and stereotypes left, or no pair is left.
    """
    shared = set(frame.loc[frame["connection"] == SHARED, "attribute_class"].astype(str))
    lost = {name: group for name, group in groups[1].items() if not group.found}
    notes = [
        f"no {name} control word was found ({group.listed} listed): no contrasts with them"
        for name, group in lost.items()
        if name in CONTROLS
    ]
    notes += [
        f"{name} is left out, since none of its attributes was found"
        for name in lost
        if name in shared
    ]
    if len(lost) == len(groups[1]):
        none = some((word for group in lost.values() for word in group.missing), 8)
        raise InputError(f"expected attributes in the vocabulary, got none of {none}", where=source)
    stereotypes = _stereotypes(frame)
    silent = [name for name, words in stereotypes.items() if not any(known[w] for w in words)]
    wordless = [name for name, group in groups[0].items() if not group.found]
    left = [name for name in groups[0] if name not in (*silent, *wordless)]
    if (silent or wordless) and len(left) < 2:
        what, name = ("words", wordless[0]) if wordless else ("stereotypes", silent[0])
        missing = groups[0][name].missing if wordless else stereotypes[name]
        problem = (
            f"expected words and stereotypes of two classes in the vocabulary, got no {what} of "
            f"{name!r} ({some(missing, 8)})"
        )
        raise InputError(problem, where=source)
    for name in dict.fromkeys((*wordless, *silent)):
        groups[0][name] = replace(groups[0][name], left_out=True)
        what = "protected words" if name in wordless else "stereotypes"
        notes.append(f"the class {name} is left out, since none of its {what} was found")
    if not silent:
        return frame, notes
    return frame[~frame["protected_class"].isin(silent)], notes
