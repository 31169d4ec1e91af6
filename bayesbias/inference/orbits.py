"""Which levels of a unit are alike: levels whose rows differ in nothing but the level form an orbit.

Tables have millions of rows, so rows are compared as one number each: the codes of all columns that matter, put together
as digits of a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

import numpy as np

from bayesbias.inference.estimands import combinations
from bayesbias.models.design import Design

MOST_DIGITS = 2**62
"""Up to here several codes fit into one number."""


def factors_of(design: Design) -> list[np.ndarray]:
    """Return the unit columns as codes, and a counter of repeats where they do not identify a row."""
    factors = list(design.units.values())
    if in_order(factors):
        return factors
    order = np.lexsort(factors[::-1])
    new = np.zeros(len(order), dtype=bool)
    new[0] = True
    for codes in factors:
        new[1:] |= codes[order[1:]] != codes[order[:-1]]
    if not new.all():
        starts = np.flatnonzero(new)
        repeat = np.empty(len(order), dtype=np.int64)
        repeat[order] = np.arange(len(order)) - np.repeat(starts, np.diff([*starts, len(order)]))
        factors.append(repeat)
    return factors


def in_order(factors: list[np.ndarray]) -> bool:
    """Whether rows stand in the order of their factors, the first before the second, and none repeats another."""
    parts = list(joined(factors))
    return len(parts) == 1 and bool((parts[0][1:] > parts[0][:-1]).all())


def within_one_level(idx: np.ndarray, codes: np.ndarray) -> bool:
    """Whether each entry is used by rows of one level only."""
    first = np.zeros(idx.max() + 1, dtype=codes.dtype)
    first[idx] = codes
    return bool(np.array_equal(first[idx], codes))


def own_of_levels(index: Mapping[str, np.ndarray], factors: list[np.ndarray]) -> dict[str, tuple[bool, ...]]:
    """Return for each term whether its entries are used by rows of one level only, for each factor."""
    within: dict[int, tuple[bool, ...]] = {}  # terms of the same dimensions share an array
    out = {}
    for name, idx in index.items():
        if id(idx) not in within:
            within[id(idx)] = tuple(within_one_level(idx, codes) for codes in factors)
        out[name] = within[id(idx)]
    return out


def find_orbits(
    factors: list[np.ndarray],
    index: Mapping[str, np.ndarray],
    variance_of: Mapping[str, np.ndarray],
    kinds: list[np.ndarray],
    own: Mapping[str, tuple[bool, ...]],
) -> list[np.ndarray]:
    """For each factor the orbit of each level: levels whose rows differ in nothing but the level.

    Parameters
    ----------
    factors : list of ndarray of int, shape (rows,)
    index : Mapping of str to ndarray of int, shape (rows,)
        Of each term the entry that a row uses.
    variance_of : Mapping of str to ndarray of int, shape (entries,)
    kinds : list of ndarray of int, shape (rows,)
        Codes of the rows that levels of one orbit must share, such as which noise a row has.
    own : Mapping of str to tuple of bool
        What `own_of_levels` says of the terms.

    Returns
    -------
    list of ndarray of int, shape (levels,)
        Numbered in the order of their first levels.
    """
    sorted_rows = in_order(factors)
    out = []
    for f, codes in enumerate(factors):
        others = [factor for g, factor in enumerate(factors) if g != f]
        order: np.ndarray | None = None  # by level, then by the others
        if not sorted_rows:
            order = np.lexsort([*others[::-1], codes])
        elif f:
            order = sorted_stably(codes)
        counts = np.bincount(codes)
        bounds = np.concatenate([[0], np.cumsum(counts)])
        orbit = _numbered(counts.tolist())
        columns = _columns_of(f, codes, [*others, *kinds], index, variance_of, own)
        for rows in joined(columns):
            in_levels = rows if order is None else rows[order]
            parts = (in_levels[start:stop].tobytes() for start, stop in pairwise(bounds))
            orbit = _numbered(zip(orbit.tolist(), parts, strict=True))
        out.append(orbit)
    return out


def sorted_stably(codes: np.ndarray) -> np.ndarray:
    """Return the places of codes in rising order, of equal ones in the order in which they stand."""
    most = int(codes.max(initial=0))
    few = next((kind for kind in (np.uint8, np.uint16) if most <= np.iinfo(kind).max), codes.dtype)
    return np.argsort(codes.astype(few), kind="stable")  # in one pass where codes are that short


def _columns_of(
    f: int,
    codes: np.ndarray,
    given: list[np.ndarray],
    index: Mapping[str, np.ndarray],
    variance_of: Mapping[str, np.ndarray],
    own: Mapping[str, tuple[bool, ...]],
) -> Iterator[np.ndarray]:
    """Yield the codes that rows of levels of one orbit share."""
    seen: set[int] = set()
    for column in (*given, *(idx for name, idx in index.items() if not own[name][f])):
        if id(column) not in seen:
            seen.add(id(column))
            yield column
    for name, idx in index.items():
        if not own[name][f]:
            continue  # a variance follows from the entry
        if np.ptp(variance_of[name]) > 0:
            yield variance_of[name][idx]
        if id(idx) not in seen:
            seen.add(id(idx))
            yield _ranks(idx, codes)


def _ranks(idx: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the place of each row's entry among those of its level: entries of one level alone count by their order."""
    level = np.full(int(idx.max()) + 1, -1, dtype=np.int64)
    level[idx] = codes
    used = np.flatnonzero(level >= 0)
    by_level = used[np.argsort(level[used], kind="stable")]
    starts = np.searchsorted(level[by_level], level[by_level])
    rank = np.zeros(len(level), dtype=np.int32)
    rank[by_level] = np.arange(len(by_level)) - starts
    return rank[idx]


def joined(columns: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """Put codes of the rows together, as many in one number as fit; rows are equal where all the numbers are.

    Parameters
    ----------
    columns : iterable of ndarray of int, shape (rows,)
        None negative; the first is the highest digit.

    Yields
    ------
    ndarray of int64, shape (rows,)
    """
    joint, size = None, 1
    for column in columns:
        digits = int(column.max(initial=0)) + 1
        if joint is not None and digits == 1:
            continue
        if joint is not None and size * digits < MOST_DIGITS:
            joint *= digits
            joint += column
            size *= digits
        else:
            if joint is not None:
                yield joint
            joint, size = column.astype(np.int64), digits
    if joint is not None:
        yield joint


def blocks_of(factors: list[np.ndarray], orbits: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return which orbits meet, shape (factors, blocks), in rising order, and of each row the block."""
    kinds = [orbit[codes] for orbit, codes in zip(orbits, factors, strict=True)]
    return combinations(kinds)


def in_blocks(factors: list[np.ndarray], block: np.ndarray) -> np.ndarray:
    """Return the rows by block, in each by their factors."""
    if in_order(factors):
        return sorted_stably(block)
    return np.lexsort([*factors[::-1], block])


def _numbered(keys: Iterable[object]) -> np.ndarray:
    """Return a number for each key, in the order in which they come first."""
    seen: dict[object, int] = {}
    return np.array([seen.setdefault(key, len(seen)) for key in keys], dtype=np.int64)
