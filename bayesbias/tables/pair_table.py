"""The pair table as a value.

One row for each protected word and attribute, with an account of both.

Distances are float64 and lie in [0, 2].
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import whole_file
from bayesbias.core.formatting import number_of
from bayesbias.tables.coverage import Coverage
from bayesbias.tables.rows import COLUMNS
from bayesbias.wordlists.wordlist import CONNECTIONS, SHARED

__all__ = ["COLUMNS", "PairTable"]


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
        counts = ", ".join(
            f"{n:,} {name}"
            for name, n in self.frame["connection"].value_counts(sort=False).items()
            if n
        )
        words = self.frame["protected_word"].nunique(), self.frame["attribute"].nunique()
        missing = len(self.coverage.missing)
        return (
            f"PairTable: {self.provenance.get('name', 'pairs')}, "
            f"{number_of(len(self.frame), 'pair')} of {number_of(words[0], 'protected word')} and "
            f"{number_of(words[1], 'attribute')} ({counts}); {number_of(missing, 'word')} missing"
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the pairs as ``.csv`` or ``.parquet``, whole or not at all."""
        path = Path(checks.path(path, "path", "the path of a .csv or .parquet file"))
        checks.choice(path.suffix, (".csv", ".parquet"), "kind of table file", path)
        with whole_file(path) as temporary:
            if path.suffix == ".csv":
                self.frame.to_csv(temporary, index=False)
            else:
                self.frame.to_parquet(temporary, index=False)


def holds_pairs(x: Any) -> bool:
    """Say whether a value is a table of pairs, or a frame of one."""
    columns = getattr(x, "columns", None)
    return isinstance(x, PairTable) or (
        isinstance(columns, Iterable) and "protected_word" in columns
    )


def keep_common(tables: Sequence[PairTable]) -> list[PairTable]:
    """Keep the words that all tables have; others count as missing.

    Raises
    ------
    InputError
        If they have no pair of words in common.

    Examples
    --------
    >>> import bayesbias as bb
    >>> whole = bb.distance_table("minilm-static", "weat7", controls="none")
    >>> part = whole.frame[whole.frame["attribute"] != "he"]
    >>> [len(table) for table in keep_common([whole, bb.load_distances(part)])] == [len(part)] * 2
    True
    """
    sides = (
        ("protected", "protected_word", "protected_class"),
        ("attributes", "attribute", "attribute_class"),
    )
    common = {
        word: set.intersection(*(set(table.frame[word].astype(str)) for table in tables))
        for _, word, _ in sides
    }
    out = []
    for table in tables:
        frame, accounts = table.frame, dict[str, Any]()
        for side, word, group in sides:
            lost = frame.loc[~table.frame[word].isin(common[word]), [group, word]].astype(str)
            accounts[side] = {name: dict(of) for name, of in getattr(table.coverage, side).items()}
            for name, own in lost.groupby(group):
                of, words = accounts[side][str(name)], own[word].unique().tolist()
                of |= {"found": of["found"] - len(words), "missing": [*of["missing"], *words]}
        keep = frame["protected_word"].isin(common["protected_word"])
        frame = frame[keep & frame["attribute"].isin(common["attribute"])]
        if frame.empty:
            names = [str(each.provenance.get("name", "pairs")) for each in tables]
            raise InputError("the tables have no pair of words in common", found=names)
        own = [column for column in frame if column not in COLUMNS]
        coverage = replace(table.coverage, **accounts)
        out.append(replace(table, frame=as_pair_columns(frame, own), coverage=coverage))
    return out


def as_pair_columns(frame: pd.DataFrame, own: Sequence[str] = ()) -> pd.DataFrame:
    frame = frame[[*COLUMNS, *own]].copy()
    present = [c for c in (*CONNECTIONS, SHARED) if (frame["connection"] == c).any()]
    known = frame["connection"]
    if isinstance(known.dtype, pd.CategoricalDtype):  # a million rows of a few labels stay numbers
        frame["connection"] = known.cat.set_categories(present, ordered=False)
    else:
        frame["connection"] = pd.Categorical(known, categories=present)
    frame["distance"] = frame["distance"].astype(float)
    return frame.reset_index(drop=True)
