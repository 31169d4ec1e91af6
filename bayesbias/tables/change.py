"""Two tables of distances joined pair by pair, original and debiased.

The *differences* are what is modelled, so that what the two share, such as words that lie near everything,
cancels.
"""

from __future__ import annotations

import csv
import io
import itertools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import decoded, guarded, read_bytes
from bayesbias.core.formatting import number_of, some
from bayesbias.core.frames import unmarked, without_marks
from bayesbias.tables.checking import SIMULATED, Source, check_rows
from bayesbias.tables.columns import numbers_of_texts, own_columns
from bayesbias.tables.pair_table import COLUMNS, PairTable
from bayesbias.tables.reading import as_pair_table
from bayesbias.wordlists.pairing import CONNECTIONS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["join_pairs"]

_PAIR = ["protected_word", "attribute"]
JOINED = ("original", "debiased", "change")
"""The columns of joined pairs that a single table has not."""


def join_pairs(
    original: PairTable | pd.DataFrame | str | os.PathLike[str],
    debiased: PairTable | pd.DataFrame | str | os.PathLike[str],
    name: str = "debiased",
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Join two tables of distances pair by pair.

    Parameters
    ----------
    original, debiased : PairTable, DataFrame or path
        As `load_distances` takes them. Order does not matter.
    name : str
        What to call the second in messages.

    Returns
    -------
    frame : DataFrame
        The columns of a pair table up to ``connection``, then ``original``, ``debiased`` and
        ``change = debiased - original``, one row per pair that is in both, in the order of the original; then the
        columns of the reader's own. Where both tables have one of a name and differ, that of the second has
        ``_debiased`` after its name.
    account : dict
        ``pairs`` joined; ``only_in_original`` and ``only_in_debiased`` (counts of pairs);
        ``words_only_in_original`` and ``words_only_in_debiased``; ``reordered``; ``columns`` (of the reader's own);
        ``notes`` (sentences).

    Raises
    ------
    InputError
        Where no pair is in both, or a pair has another connection or protected class in the second.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> frame, account = join_pairs(table, table.frame.iloc[:-3])
    >>> len(frame), account["only_in_original"], account["notes"]
    (162, 3, ['3 of 165 pairs of the original are not in debiased and are left out'])
    """
    checks.text(name, "name")
    first, second = (as_pair_table(x).frame.copy() for x in (original, debiased))
    own, others = (_own_columns(frame, where) for frame, where in ((first, "original"), (second, name)))
    for frame in (first, second):
        # A repeated row that was kept meets the repeat of the same number.
        frame["repeat"] = frame.groupby(_PAIR, observed=True).cumcount()
    key = [*_PAIR, "repeat"]
    columns = [*key, "protected_class", "attribute_class", "connection", "distance"]
    both = first.merge(second[columns], on=key, suffixes=("", "_2"), how="inner")
    if both.empty:
        raise InputError(
            "no pair of protected word and attribute is in both tables",
            where=name,
            found=f"{some(second['protected_word'], 4)} x {some(second['attribute'], 4)}",
            valid=f"{some(first['protected_word'], 4)} x {some(first['attribute'], 4)}",
            hint="were both made with the same word list?",
        )
    for column in ("connection", "protected_class"):
        other = both[column].astype(str) != both[f"{column}_2"].astype(str)
        if other.any():
            row = both[other].iloc[0]
            raise InputError(
                f"{_pairs_have(int(other.sum()))} another {column.replace('_', ' ')} than in the original, the first "
                f"{row['protected_word']!r} and {row['attribute']!r}: the two tables do not ask the same question",
                where=name,
                found=str(row[f"{column}_2"]),
                valid=str(row[column]),
                hint="make both with the same word list and controls",
            )
    notes = []
    lost, gained = len(first) - len(both), len(second) - len(both)
    if lost:
        are = "is" if lost == 1 else "are"
        notes.append(
            f"{lost:,} of {number_of(len(first), 'pair')} of the original {are} not in {name} and {are} left out"
        )
    if gained:
        are = "is" if gained == 1 else "are"
        notes.append(
            f"{gained:,} of {number_of(len(second), 'pair')} of {name} {are} not in the original and {are} left out"
        )
    words = [
        [w for w in dict.fromkeys([*a["protected_word"], *a["attribute"]]) if w not in known]
        for a, b in ((first, second), (second, first))
        for known in [{*b["protected_word"], *b["attribute"]}]
    ]
    for missing, place in zip(words, ("the original", name), strict=True):
        if missing:
            notes.append(f"only in {place}: {some(missing, 12)}")
    renamed = both["attribute_class"].astype(str) != both["attribute_class_2"].astype(str)
    if renamed.any():
        notes.append(
            f"{_pairs_have(int(renamed.sum()))} another attribute class in {name}, with the same connection; the "
            "original's is kept"
        )
    both, own, differing = _with_own_columns(both, second, key, own, others)
    if differing:
        notes.append(
            f"{some(differing)} differ{'s' if len(differing) == 1 else ''} in {name}; what that says stands beside it, "
            f"in {some(f'{column}_debiased' for column in differing)}"
        )
    row_of = {pair: i for i, pair in enumerate(second[key].itertuples(index=False, name=None))}
    positions = [row_of[pair] for pair in both[key].itertuples(index=False, name=None)]
    both = both.rename(columns={"distance": "original", "distance_2": "debiased"})
    both["change"] = both["debiased"] - both["original"]
    both["connection"] = both["connection"].cat.remove_unused_categories()
    account = {
        "pairs": len(both),
        "only_in_original": lost,
        "only_in_debiased": gained,
        "words_only_in_original": [str(w) for w in words[0]],
        "words_only_in_debiased": [str(w) for w in words[1]],
        "reordered": any(b < a for a, b in itertools.pairwise(positions)),
        "columns": own,
        "notes": notes,
    }
    return both[[*COLUMNS[:-1], *JOINED, *own]], account


def _pairs_have(n: int) -> str:
    return f"{number_of(n, 'pair')} {'has' if n == 1 else 'have'}"


def check_joined(pairs: pd.DataFrame, *more: str) -> None:
    """Refuse what are no joined pairs, or have not some columns more."""
    needed = ["protected_word", "attribute", "connection", *JOINED, *more]
    checks.columns(pairs, needed, "pairs", "the first that bayesbias.tables.join_pairs returns")


def _own_columns(frame: pd.DataFrame, where: str) -> list[str]:
    return own_columns(list(frame.columns), COLUMNS, (*JOINED, "repeat"), where)


def _with_own_columns(
    both: pd.DataFrame, second: pd.DataFrame, key: list[str], own: list[str], others: list[str]
) -> tuple[pd.DataFrame, list[str], list[str]]:
    """Return the joined rows with the columns of one's own of the second table, all of their names, and what differs.

    Those of the original are there already. A column that both have and that says the same stands once.
    """
    theirs = both[key].merge(second[[*key, *others]], on=key, how="left")
    names, differing = list(own), []
    for column in others:
        as_named = column
        if column in own:
            mine, other = both[column], theirs[column]
            if bool(((mine == other) | (mine.isna() & other.isna())).all()):
                continue
            differing.append(column)
            as_named = f"{column}_debiased"
            if as_named in (*own, *others):
                raise InputError(
                    f"the tables differ in the column {column!r}, and {as_named!r} is taken",
                    hint="rename one",
                )
        both = both.assign(**{as_named: theirs[column].to_numpy()})
        names.append(as_named)
    return both, names, differing


def read_joined_pairs(path: Path, *, simulated: bool = False) -> pd.DataFrame:
    """Read the pairs that a comparison kept; `simulated` distances may lie beyond 0 and 2.

    Raises
    ------
    InputError
        For rows that cannot be what they say they are.
    """
    import pandas as pd

    content = read_bytes(path)
    text = decoded(content, path)
    with guarded(path, "is damaged"):
        header = next(csv.reader(io.StringIO(text, newline="")))
        texts = [column for column in header if column not in JOINED]
        raw = pd.read_csv(io.BytesIO(content), dtype=dict.fromkeys(texts, str), keep_default_na=False)
    frame = without_marks(raw)
    checks.columns(frame, [*COLUMNS[:-1], *JOINED], path, "the pairs of a comparison")
    own = [unmarked(column) for column in texts if column not in COLUMNS]
    frame = frame.assign(**{column: numbers_of_texts(frame[column]) for column in own})
    if simulated:
        frame.attrs[SIMULATED] = True
    check_rows(frame, Source(str(path), file=True), JOINED)
    present = [c for c in CONNECTIONS if (frame["connection"] == c).any()]
    frame["connection"] = pd.Categorical(frame["connection"], categories=present)
    return frame


def common_pairs(
    joined: Mapping[str, tuple[pd.DataFrame, dict[str, Any]]],
) -> tuple[dict[str, pd.DataFrame], dict[str, dict[str, Any]]]:
    """Keep the pairs that all tables have, and say how many that costs."""
    keyed = {}
    for name, (frame, _) in joined.items():
        repeat = frame.groupby(_PAIR, observed=True).cumcount()
        keyed[name] = list(zip(frame["protected_word"], frame["attribute"], repeat, strict=True))
    shared = set.intersection(*(set(keys) for keys in keyed.values()))
    if not shared:
        raise InputError("no pair is in all of the tables", found=", ".join(joined))
    frames, accounts = {}, {}
    for name, (frame, account) in joined.items():
        keep = np.array([key in shared for key in keyed[name]])
        kept = frame[keep].reset_index(drop=True)
        kept["connection"] = kept["connection"].cat.remove_unused_categories()
        notes = list(account["notes"])
        if not keep.all():
            n = int((~keep).sum())
            notes.append(
                f"{number_of(n, 'pair')} {'is' if n == 1 else 'are'} left out because another table lacks "
                f"{'it' if n == 1 else 'them'}"
            )
        frames[name], accounts[name] = kept, {**account, "pairs": len(kept), "notes": notes}
    return frames, accounts


def pairs_by_level(pairs: pd.DataFrame, levels: Mapping[str, str]) -> dict[tuple[str, str, str], int]:
    """Return the number of pairs per (level, name, connection), connections in their usual order.

    `levels` says by which column each level below ``overall`` goes.
    """
    connection = pairs["connection"].astype(str).to_numpy()
    by_level = {"overall": np.full(len(pairs), "all")}
    by_level |= {level: pairs[by].astype(str).to_numpy() for level, by in levels.items()}
    out = {}
    for level, names in by_level.items():
        for name in dict.fromkeys(names.tolist()):
            mine = connection[names == name]
            for c in CONNECTIONS:
                if count := int((mine == c).sum()):
                    out[level, str(name), c] = count
    return out
