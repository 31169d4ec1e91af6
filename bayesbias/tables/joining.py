"""Tables of distances joined pair by pair: original with debiased, or several corpora.

The *differences* are modeled, so that what the tables share, such as words that are close to
everything, cancels.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from bayesbias.core import InputError, some
from bayesbias.tables import pair_table
from bayesbias.tables.coverage import Coverage
from bayesbias.tables.pair_table import COLUMNS, SIDES, PairTable
from bayesbias.tables.reading import as_pair_table
from bayesbias.wordlists.wordlist import CONNECTIONS

_PAIR = ["protected_word", "attribute"]
JOINED = ("original", "debiased", "change")
"""The columns of joined pairs that a single table does not have."""


def join_pairs(
    original: Any, debiased: Any, name: str = "debiased"
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Join two tables of distances pair by pair.

    Parameters
    ----------
    original, debiased : PairTable, DataFrame or path
        As `load_distances` takes them. Order does not matter.
    name : str, default "debiased"
        What messages call the second.

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
    (162, 3, ['3 of 165 pairs of the original left out: they are not in debiased'])
    """
    first, second = (as_pair_table(x).frame for x in (original, debiased))
    for frame, where in ((first, "original"), (second, name)):
        if taken := [column for column in (*JOINED, "repeat") if column in frame]:
            problem = f"expected columns of your own, got {taken[0]!r}, which is ours"
            raise InputError(problem, where=where, hint="rename it")
    # A repeated row that was kept meets the repeat of the same number.
    first, second = (
        frame.assign(repeat=frame.groupby(_PAIR, observed=True).cumcount())
        for frame in (first, second)
    )
    both = first.merge(second, on=[*_PAIR, "repeat"], suffixes=("", "_debiased"))
    if both.empty:
        got, wanted = (
            f"{some(frame['protected_word'], 4)} x {some(frame['attribute'], 4)}"
            for frame in (second, first)
        )
        problem = f"expected pairs of the original ({wanted}), got {got}"
        raise InputError(problem, where=name, hint="make both with the same word list")
    for column in ("connection", "protected_class"):
        other = both[column].astype(str) != both[f"{column}_debiased"].astype(str)
        if other.any():
            row = both[other].iloc[0]
            problem = (
                f"expected the {column.replace('_', ' ')} {row[column]} of the pair "
                f"{row['protected_word']!r} and {row['attribute']!r}, as in the original"
            )
            hint = "make all tables with the same word list and controls"
            raise InputError(problem, where=name, found=row[f"{column}_debiased"], hint=hint)
    notes, account = [], dict[str, Any](pairs=len(both))
    for side, frame, of, other, other_name in (
        ("original", first, "the original", second, name),
        ("debiased", second, name, first, "the original"),
    ):
        account[f"only_in_{side}"] = lost = len(frame) - len(both)
        known = pair_table.words_in(other)
        words = [word for word in pair_table.words_in(frame) if word not in known]
        account[f"words_only_in_{side}"] = words
        if lost:
            note = (
                f"{lost:,} of {len(frame):,} pairs of {of} left out: they are not in {other_name}"
            )
            notes.append(f"{note}, which lacks {some(words, 4)}" if words else note)
    every = [*first.columns, *second.columns]
    own = [column for column in dict.fromkeys(every) if column not in (*COLUMNS, "repeat")]
    both["original"], both["debiased"] = both["distance"], both["distance_debiased"]
    both["change"] = both["debiased"] - both["original"]
    both["connection"] = both["connection"].cat.remove_unused_categories()
    return both[[*COLUMNS[:-1], *JOINED, *own]], {**account, "columns": own, "notes": notes}


def common_pairs(
    joined: Mapping[str, tuple[pd.DataFrame, dict[str, Any]]],
) -> tuple[dict[str, pd.DataFrame], dict[str, dict[str, Any]]]:
    """Keep the pairs that all tables have, and say how many that costs."""
    keyed = {}
    for name, (frame, _) in joined.items():
        repeat = frame.groupby(_PAIR, observed=True).cumcount()
        keyed[name] = pd.MultiIndex.from_frame(frame[_PAIR].astype(str).assign(repeat=repeat))
    shared = functools.reduce(pd.MultiIndex.intersection, keyed.values())
    if shared.empty:
        raise InputError("expected pairs that are in all tables, got none", where=", ".join(joined))
    frames, accounts = {}, {}
    for name, (frame, account) in joined.items():
        kept = frame[keyed[name].isin(shared)].reset_index(drop=True)
        kept["connection"] = kept["connection"].cat.remove_unused_categories()
        notes = list(account["notes"])
        if n := len(frame) - len(kept):
            notes.append(f"{n:,} pairs left out: another table lacks them")
        lost = account["only_in_original"] + n
        frames[name] = kept
        accounts[name] = {**account, "pairs": len(kept), "only_in_original": lost, "notes": notes}
    return frames, accounts


def pairs_by_level(
    pairs: pd.DataFrame, levels: Mapping[str, str]
) -> dict[tuple[str, str, str], int]:
    """Return the number of pairs for each level, name and connection.

    `levels` gives the column of each level below ``overall``.
    """
    out: dict[tuple[str, str, str], int] = {}
    for level, column in {"overall": "", **levels}.items():
        names = pairs[column].astype(str) if column else pd.Series("all", pairs.index)
        counts = pairs.groupby([names, pairs["connection"].astype(str)], sort=False).size()
        for name in names.unique():
            out |= {
                (level, name, c): int(counts[name, c]) for c in CONNECTIONS if (name, c) in counts
            }
    return out


# -- words that all tables have --------------------------------------------------------------------


def keep_common(tables: Sequence[PairTable]) -> list[PairTable]:
    """Keep the words that all tables have; others count as missing.

    ``not_in`` of the coverage names the tables that lack these words.

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
    abouts = [table.provenance.get("embedding") or table.provenance for table in tables]
    labels = [about.get("name", "another table") for about in abouts]
    there = [{word: set(table.frame[word].astype(str)) for *_, word in SIDES} for table in tables]
    common = {word: set.intersection(*(words[word] for words in there)) for *_, word in SIDES}
    out = []
    for table in tables:
        frame, accounts = table.frame, dict[str, Any]()
        for side, group, word in SIDES:
            lost = frame.loc[~frame[word].isin(common[word]), [group, word]].astype(str)
            groups = dict(getattr(table.coverage, side))
            for name, rows in lost.groupby(group):
                words = rows[word].unique().tolist()
                not_in: dict[str, tuple[str, ...]] = {}
                for label, has in zip(labels, there, strict=True):
                    lacking = tuple(w for w in words if w not in has[word])
                    if lacking:
                        not_in[label] = not_in.get(label, ()) + lacking
                missing = (*groups[str(name)].missing, *words)
                groups[str(name)] = replace(groups[str(name)], missing=missing, not_in=not_in)
            accounts[side] = groups
        keep = frame["protected_word"].isin(common["protected_word"])
        frame = frame[keep & frame["attribute"].isin(common["attribute"])]
        if frame.empty:
            names = some(each.provenance.get("name", "pairs") for each in tables)
            raise InputError("expected words in common, got none", where=names)
        own = [column for column in frame if column not in COLUMNS]
        coverage = replace(table.coverage, **accounts)
        out.append(replace(table, frame=pair_table.as_pair_columns(frame, own), coverage=coverage))
    return out


@dataclass(frozen=True, eq=False)
class JoinedTables:
    """The pairs that several tables have.

    Attributes
    ----------
    frame : DataFrame
        The labels of the pairs, and the first table's own columns.
    distances : DataFrame
        One column for each table.
    coverage : Coverage
        Listed words, and those that all tables have.
    missing : dict of str to list of str
        The words that each table lacks and another has, or the word list.
    tables : mapping of str to PairTable
        As they were before.
    """

    frame: pd.DataFrame
    distances: pd.DataFrame
    coverage: Coverage
    missing: dict[str, list[str]]
    tables: Mapping[str, PairTable]

    def table(self, name: str) -> PairTable:
        """Return one of the tables with the common pairs alone."""
        frame = self.frame.assign(distance=self.distances[name])
        return PairTable(frame, self.coverage, self.tables[name].provenance)

    @property
    def about(self) -> dict[str, Any]:
        """What the provenance of a result says of its tables."""
        listed = next(iter(self.tables.values())).provenance
        return {
            "name": str(listed.get("wordlist", {}).get("name", "")) or "pairs",
            "tables": {name: dict(table.provenance) for name, table in self.tables.items()},
            "coverage": self.coverage.as_dict(),
            "missing": self.missing,
        }


def join_tables(tables: Mapping[str, PairTable]) -> JoinedTables:
    """Keep the pairs that all of two or more tables have."""
    first, *others = tables
    kept = dict(zip(tables, keep_common(list(tables.values())), strict=True))
    frames, _ = common_pairs({name: join_pairs(kept[first], kept[name], name) for name in others})
    labels = frames[others[0]]
    own = [column for column in kept[first].frame if column not in COLUMNS]
    there = {name: pair_table.words_in(table.frame) for name, table in tables.items()}
    lacking = [word for table in tables.values() for word in table.coverage.missing]
    every = dict.fromkeys([*(word for words in there.values() for word in words), *lacking])
    missing = {name: [w for w in every if w not in words] for name, words in there.items()}
    # What all lists have and no table has is in the coverage.
    nowhere = set.intersection(*(set(table.coverage.missing) for table in tables.values()))
    without: dict[tuple[str, ...], list[str]] = {}  # names of tables, by the words missing there
    for name, words in missing.items():
        only_here = tuple(word for word in words if word not in nowhere)
        if only_here:
            without.setdefault(only_here, []).append(name)
    notes = []
    for lacked, names in without.items():
        lost = [*lacked, *(word for word in every if word in nowhere)]
        number = f"{len(lost)} of {len(every)} words missing"
        notes.append(f"{number} in {some(names)} and left out: {some(lost, 4)}")
    of_vectors: dict[str, list[str]] = {}
    for name, table in tables.items():
        for note in pair_table.notes_of_vectors(table):
            of_vectors.setdefault(note, []).append(name)
    for note, names in of_vectors.items():
        notes.append(note if len(names) == len(tables) else f"{', '.join(names)}: {note}")
    coverage = replace(kept[first].coverage, notes=tuple(notes))
    coverage = _with_misspelled(coverage, [table.coverage for table in tables.values()])
    return JoinedTables(
        labels[[*COLUMNS[:-1], *own]],
        pd.DataFrame({first: labels["original"], **{n: frames[n]["debiased"] for n in others}}),
        coverage,
        missing,
        tables,
    )


def _with_misspelled(coverage: Coverage, others: Sequence[Coverage]) -> Coverage:
    """Return a coverage with the words that may be misspelled by any of several."""
    sides: dict[str, Any] = {}
    for side, *_ in SIDES:
        groups = dict(getattr(coverage, side))
        for name, group in groups.items():
            misspelled = dict(group.misspelled)
            for other in others:
                if same := getattr(other, side).get(name):
                    misspelled = {**same.misspelled, **misspelled}
            groups[name] = replace(group, misspelled=misspelled)
        sides[side] = groups
    return replace(coverage, **sides)
