"""Two tables of distances joined pair by pair, original and debiased.

The *differences* are modelled, so that what the two share, such as words that lie near everything,
cancels.
"""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import some
from bayesbias.tables.pair_table import COLUMNS, PairTable
from bayesbias.tables.reading import as_pair_table
from bayesbias.wordlists.wordlist import CONNECTIONS, SHARED

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
        ``change = debiased - original``, one row per pair that is in both, in the order of the
        original; then your own columns, those of both tables as in the original.
    account : dict
        ``pairs`` joined; ``only_in_original`` and ``only_in_debiased`` (counts of pairs);
        ``words_only_in_original`` and ``words_only_in_debiased``; ``columns`` (your own); ``notes``
        (sentences).

    Raises
    ------
    InputError
        If no pair is in both, or a pair has another connection or protected class in the second.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> frame, account = join_pairs(table, table.frame.iloc[:-3])
    >>> len(frame), account["only_in_original"], account["notes"]
    (162, 3, ['pairs of the original that are not in debiased, left out: 3 of 165'])
    """
    first, second = (as_pair_table(x).frame.copy() for x in (original, debiased))
    for frame, where in ((first, "original"), (second, name)):
        if taken := [column for column in (*JOINED, "repeat") if column in frame]:
            problem = f"a column of your own is called {taken[0]!r}, which is ours"
            raise InputError(problem, where=where, hint="rename it")
        # A repeated row that was kept meets the repeat of the same number.
        frame["repeat"] = frame.groupby(_PAIR, observed=True).cumcount()
    owned = first["connection"] != SHARED
    if not owned.any():
        raise InputError(
            "expected stereotypes to compare, got attribute sets of no class",
            where="original",
            hint="compare them with kind='corpora' (--corpora), which compares groups",
        )
    key = [*_PAIR, "repeat"]
    both = first[owned].merge(second, on=key, suffixes=("", "_debiased"), how="inner")
    if both.empty:
        raise InputError(
            "expected pairs that are in both tables",
            where=name,
            found=f"{some(second['protected_word'], 4)} x {some(second['attribute'], 4)}",
            valid=f"{some(first['protected_word'], 4)} x {some(first['attribute'], 4)}",
            hint="were both made with the same word list?",
        )
    for column in ("connection", "protected_class"):
        other = both[column].astype(str) != both[f"{column}_debiased"].astype(str)
        if other.any():
            row = both[other].iloc[0]
            pair = f"{row['protected_word']!r} and {row['attribute']!r}"
            raise InputError(
                f"the pair {pair} has another {column.replace('_', ' ')} than in the original",
                where=name,
                found=str(row[f"{column}_debiased"]),
                valid=str(row[column]),
                hint="make both with the same word list and controls",
            )
    first, second = first[owned], second[second["connection"] != SHARED]
    lost, gained = len(first) - len(both), len(second) - len(both)
    notes = [] if owned.all() else ["attribute sets of no class are left out of the comparison"]
    words = []
    for n, frame, of, other, other_name in (
        (lost, first, "the original", second, name),
        (gained, second, name, first, "the original"),
    ):
        known = {*other["protected_word"], *other["attribute"]}
        listed = dict.fromkeys(map(str, [*frame["protected_word"], *frame["attribute"]]))
        words.append([word for word in listed if word not in known])
        if n:
            notes.append(
                f"pairs of {of} that are not in {other_name}, left out: {n:,} of {len(frame):,}"
            )
        if words[-1]:
            notes.append(f"only in {of}: {some(words[-1], 12)}")
    shared = [c for c in first.columns if c in second.columns and c not in (*COLUMNS, "repeat")]
    both = both.drop(columns=[f"{column}_debiased" for column in shared])
    both["original"], both["debiased"] = both["distance"], both["distance_debiased"]
    both["change"] = both["debiased"] - both["original"]
    both["connection"] = both["connection"].cat.remove_unused_categories()
    ours = {*COLUMNS, *JOINED, "repeat", *(f"{column}_debiased" for column in COLUMNS)}
    own = [column for column in both.columns if column not in ours]
    account = {
        "pairs": len(both),
        "only_in_original": lost,
        "only_in_debiased": gained,
        "words_only_in_original": words[0],
        "words_only_in_debiased": words[1],
        "columns": own,
        "notes": notes,
    }
    return both[[*COLUMNS[:-1], *JOINED, *own]], account


def check_joined(pairs: pd.DataFrame, *more: str) -> None:
    """Refuse what are no joined pairs, or have not some columns more."""
    needed = ["protected_word", "attribute", "connection", *JOINED, *more]
    checks.columns(pairs, needed, "pairs", "the first that bayesbias.tables.join_pairs returns")


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
        raise InputError("expected pairs that are in all tables", found=", ".join(joined))
    frames, accounts = {}, {}
    for name, (frame, account) in joined.items():
        keep = np.array([key in shared for key in keyed[name]])
        kept = frame[keep].reset_index(drop=True)
        kept["connection"] = kept["connection"].cat.remove_unused_categories()
        notes = list(account["notes"])
        if n := int((~keep).sum()):
            notes.append(f"pairs that another table lacks, left out: {n:,}")
        frames[name], accounts[name] = kept, {**account, "pairs": len(kept), "notes": notes}
    return frames, accounts


def pairs_by_level(
    pairs: pd.DataFrame, levels: Mapping[str, str]
) -> dict[tuple[str, str, str], int]:
    """Return the number of pairs for each level, name and connection.

    `levels` says by which column each level below ``overall`` goes.
    """
    connection = pairs["connection"].astype(str).to_numpy()
    by_level = {"overall": np.full(len(pairs), "all")}
    by_level |= {level: pairs[by].astype(str).to_numpy() for level, by in levels.items()}
    out: dict[tuple[str, str, str], int] = {}
    for level, names in by_level.items():
        counts = pd.crosstab(names, connection)
        for name in dict.fromkeys(names.tolist()):
            held = {c: int(counts.loc[name].get(c, 0)) for c in CONNECTIONS}
            out |= {(level, str(name), c): count for c, count in held.items() if count}
    return out
