"""Counting subsets by size and sum: every one exactly, or within bounds that are certain.

Exactly, one by one, or by splitting the union into two halves and counting pairs of partial sums; within
bounds, by rounding the numbers to a grid.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt

from bayesbias.scores.partitions import Question, Tail, is_upper_part, other_side, sampling_width

_MOST_ENUMERATED = 100_000  # partitions; where May et al. (2019) stop enumerating
_MOST_PARTIAL_SUMS = 2**25  # in each half: all subsets of 25 words, 256 MiB
_COARSE = 2**11  # steps of the grid on which partial sums are counted before they are listed
MOST_WORDS_COUNTED = 1000  # beyond, the number of subsets leaves the range of double precision
_MOST_CELLS = 100_000_000  # of the tables of counts; as their rows are cut short, about 400 MB
_MOST_ADDITIONS = 20_000_000_000  # for the tables of counts, before rows are cut short; a few seconds


def count_all(question: Question) -> tuple[int, int, str] | None:
    """Return the count, the ties in it and how they were found, or None where this is too much work."""
    n, n_x = len(question.values), question.n_x
    partitions = math.comb(n, n_x)
    tails = question.tails()
    if partitions <= _MOST_ENUMERATED:
        counts = [_enumerate(tail) for tail in tails]
        note = f"each of the {partitions:,} partitions was looked at"
    else:
        counts = []
        for tail in tails:
            pair = _count_in_halves(tail)
            if pair is None:
                return None
            counts.append(pair)
        note = f"pairs of partial sums over two halves of the {n} words were counted"
    strictly = sum(strict for _, strict in counts)
    count = partitions if question.counts_everything else sum(loose for loose, _ in counts)
    return count, count - strictly, note


def _enumerate(tail: Tail) -> tuple[int, int]:
    """Count with and without ties by looking at each subset."""
    subsets = math.comb(len(tail.deficits), tail.size)
    chosen = itertools.chain.from_iterable(itertools.combinations(tail.deficits.tolist(), tail.size))
    sums = (
        np.fromiter(chosen, dtype=np.int64, count=subsets * tail.size).reshape(subsets, tail.size).sum(axis=1)
    )
    return int(np.count_nonzero(sums <= tail.limit)), int(np.count_nonzero(sums <= tail.strict))


def _count_in_halves(tail: Tail) -> tuple[int, int] | None:
    """Count with and without ties by pairs of partial sums; None if there are too many of them.

    The numbers are split into two halves. The sums of each half are listed by how many numbers they hold, in
    ascending order; a sum of j numbers from one half then meets all sums of size - j from the other that
    still fit under the limit, and these stand at the start of their list.
    """
    subsets = math.comb(len(tail.deficits), tail.size)
    if tail.limit >= int(tail.deficits[-tail.size :].sum()) and tail.strict < 0:
        return subsets, 0  # all of them tie
    # What lies beyond the middle is counted from the other end, where fewer sums are within the limits.
    flipped = is_upper_part(tail)
    near = other_side(tail) if flipped else tail
    # Every other number goes into each half, so that the halves are alike.
    halves = near.deficits[::2], near.deficits[1::2]
    if any(_surely_too_many(near, half, other) for half, other in (halves, halves[::-1])):
        return None
    left = _partial_sums(near, *halves)
    right = None if left is None else _partial_sums(near, *halves[::-1])
    if left is None or right is None:
        return None
    counts = []
    for limit in (near.limit, near.strict):
        count = 0
        for j in range(max(0, near.size + 1 - len(right)), min(near.size + 1, len(left))):
            fewer, more = sorted((left[j], right[near.size - j]), key=len)
            # Queries in ascending order walk through the list instead of jumping about in it.
            count += int(np.searchsorted(more, limit - fewer[::-1], side="right").sum())
        counts.append(count)
    loose, strict = counts
    return (subsets - strict, subsets - loose) if flipped else (loose, strict)


def _surely_too_many(tail: Tail, half: npt.NDArray[np.int64], other: npt.NDArray[np.int64]) -> bool:
    """Say whether `_partial_sums` is certain to give up, before it has filled its memory to find out.

    It ends with the subsets of `half` that the smallest numbers of `other` complete within the limit. Deficits
    rounded up to a coarse grid count no more of them than there are.
    """
    # Where there are few it does not matter; beyond some number their counts leave the range of double precision.
    if 2 ** len(half) <= _MOST_PARTIAL_SUMS or len(tail.deficits) > MOST_WORDS_COUNTED:
        return False
    step = max(1, -(-tail.limit // _COARSE))
    counts = _counts_by_sum(-(-tail.deficits // step), -(-half // step), tail.size, tail.limit // step)
    smallest = np.concatenate([[0], np.cumsum(other)])
    at_least = 0.0
    for j, by_sum in enumerate(counts):
        missing = tail.size - j
        if missing < len(smallest):
            at_least += float(by_sum[: max(0, (tail.limit - int(smallest[missing])) // step + 1)].sum())
    return at_least > 1.001 * _MOST_PARTIAL_SUMS  # far more than rounding can add


def _partial_sums(
    tail: Tail, half: npt.NDArray[np.int64], other: npt.NDArray[np.int64]
) -> list[npt.NDArray[np.int64]] | None:
    """List the sums of the subsets of `half`, by size and ascending; None if there are too many of them.

    A sum is dropped as soon as even the smallest numbers still to be had cannot complete it to the wanted
    size under the limit. Where p is small this leaves a small part of them.
    """
    sums = [np.zeros(1, dtype=np.int64)]
    for done, number in enumerate(half, start=1):
        smallest = np.concatenate([[0], np.cumsum(np.sort(np.concatenate([half[done:], other])))])
        grown = []
        for j in range(min(len(sums), tail.size) + 1):
            missing = tail.size - j
            if missing >= len(smallest):  # too few numbers are left to complete it
                grown.append(np.empty(0, dtype=np.int64))
                continue
            most = tail.limit - int(smallest[missing])
            without = sums[j] if j < len(sums) else sums[0][:0]
            added = sums[j - 1] if j > 0 else sums[0][:0]
            without = without[: np.searchsorted(without, most, side="right")]
            added = added[: np.searchsorted(added, most - number, side="right")] + number
            merged = np.concatenate([without, added])
            merged.sort(kind="stable")  # merges two ascending runs in one pass
            grown.append(merged)
        sums = grown
        if sum(map(len, sums)) > _MOST_PARTIAL_SUMS:
            return None
    return sums


def bound_all(question: Question, rel_width: float, samples: int | None) -> tuple[int, int, str]:
    """Return a lower and an upper bound of the count, and how they were found.

    With `samples` it stops as soon as it is clear that so many random partitions would tell more.
    """
    partitions = math.comb(len(question.values), question.n_x)
    if question.counts_everything:
        return partitions, partitions, "the observed difference is zero, so every partition counts"
    tails = question.tails()
    n, size = len(question.values), tails[0].size
    most_cells = max(64, min(_MOST_CELLS // (2 * (size + 1)), _MOST_ADDITIONS // (n * (size + 1))))
    cells, coarser, wider = min(2**13, most_cells), 1, math.inf
    while True:
        bounds = [_bound_tail(tail, cells) for tail in tails]
        lower = max(1, sum(low for low, _ in bounds))  # the observed partition counts
        upper = max(lower, min(partitions, sum(high for _, high in bounds)))
        width = (upper - lower) / math.sqrt(lower) / math.sqrt(upper)
        # The width falls in proportion to the grid once the grid is fine, until only ties are left.
        met, stuck = width <= rel_width, width > wider * (coarser / cells) ** 0.15
        if met or stuck or cells == most_cells:
            break
        best = (upper - lower) / partitions * cells / most_cells
        if samples is not None and width < 1 and best > sampling_width(upper / partitions, samples):
            break
        coarser, wider = cells, width
        cells = math.ceil(cells * min(max(1.2 * width / rel_width, 2), 16))
        if cells > 0.8 * most_cells:  # at once, rather than nearly the same work twice
            cells = most_cells
    note = f"subsets of scores rounded to a grid of {cells:,} steps were counted by size and sum"
    if not met:
        why = (
            "a finer grid than fits the time allowed"
            if not stuck
            else "ties to be resolved, which no grid does"
        )
        note += f"; a relative width of {rel_width:g} would need {why}"
    return lower, upper, note


def _bound_tail(tail: Tail, cells: int) -> tuple[int, int]:
    """Bound the number of subsets in a tail, on a grid of about `cells` steps up to its limit."""
    if is_upper_part(tail):
        subsets = math.comb(len(tail.deficits), tail.size)
        other = other_side(tail)
        lower, upper = _bound_count(other.deficits, other.size, other.strict, cells)
        return subsets - upper, subsets - lower
    return _bound_count(tail.deficits, tail.size, tail.limit, cells)


def _bound_count(deficits: npt.NDArray[np.int64], size: int, limit: int, cells: int) -> tuple[int, int]:
    """Bound the count by rounding each deficit down to the grid.

    Write a deficit as step * q + r with 0 <= r < step. For a subset with grid sum Q, the true sum lies
    between step * Q + (the `size` smallest r of all) and step * Q + (the `size` largest). So every subset
    with Q <= (limit - largest) // step is within the limit, and every subset within it has
    Q <= (limit - smallest) // step. Both numbers of subsets are counted from one table.

    The counts are kept in double precision. They are sums of products of counts, none negative, so every
    rounding changes a result by a factor of at most 1 + 2^-53, and a result goes through at most
    `roundings` of them: one for each number, each step of the grid (twice: adding up and combining) and each
    size. Widening by twice that, in whole numbers, covers them with room to spare. A result below
    2^52 is exact, since no count that goes into it is larger.
    """
    subsets = math.comb(len(deficits), size)
    if limit < int(deficits[:size].sum()):
        return 0, 0
    if limit >= int(deficits[-size:].sum()):
        return subsets, subsets
    step = max(1, -(-limit // cells))
    grid, rest = np.divmod(deficits, step)
    rest.sort()
    surely = (limit - int(rest[-size:].sum())) // step
    possibly = (limit - int(rest[:size].sum())) // step
    low, high = _count_on_grid(grid, size, surely, possibly)
    roundings = len(grid) + 2 * (possibly + 1) + size + 10
    parts = 2**52 // roundings  # the margin is one part in so many
    lower = int(low) if low < 2**52 else int(low) - int(low) // parts - 1
    upper = int(high) if high < 2**52 else int(high) + int(high) // parts + 1
    return lower, min(subsets, upper)


def _count_on_grid(grid: npt.NDArray[np.int64], size: int, surely: int, possibly: int) -> tuple[float, float]:
    """Count subsets with a grid sum of at most `surely` and of at most `possibly`, which is no smaller."""
    # The two halves are counted apart and then combined, which takes a quarter of the additions.
    left = _counts_by_sum(grid, grid[::2], size, possibly)
    right = _counts_by_sum(grid, grid[1::2], size, possibly)
    low = high = 0.0
    for j in range(max(0, size + 1 - len(right)), min(size + 1, len(left))):
        for_each = left[j]
        if not (right[size - j].size and for_each.size):
            continue
        # Backwards in memory, so that the products below read both arrays forwards.
        down_from = np.ascontiguousarray(np.cumsum(right[size - j])[::-1])
        low += _pairs_within(for_each, down_from, surely)
        high += _pairs_within(for_each, down_from, possibly)
    return low, high


def _pairs_within(for_each: npt.NDArray[np.float64], down_from: npt.NDArray[np.float64], limit: int) -> float:
    """Return the sum over q of for_each[q] * up_to[limit - q], where `up_to` stays flat beyond its end.

    `down_from` is `up_to` read from its end.
    """
    last = len(down_from) - 1
    fits = for_each[: max(0, limit + 1)]
    all_of_them = max(0, limit - last)  # for these q even the last of `up_to` fits
    pairs = float(fits[:all_of_them].sum()) * float(down_from[0])
    some = fits[all_of_them:]
    start = last - (limit - all_of_them)
    return pairs + float(np.dot(some, down_from[start : start + len(some)]))


def _counts_by_sum(
    grid: npt.NDArray[np.int64], half: npt.NDArray[np.int64], size: int, most: int
) -> list[npt.NDArray[np.float64]]:
    """Return for each number of terms j the counts of subsets of `half` by sum, as far as they matter."""
    # A subset of j needs size - j more, whose sum is at least that of the smallest ones of the whole grid.
    smallest = np.concatenate([[0], np.cumsum(grid)])
    rows = [
        np.zeros(max(0, most - int(smallest[size - j]) + 1), dtype=np.float64)
        for j in range(min(size, len(half)) + 1)
    ]
    if rows[0].size:
        rows[0][0] = 1.0
    reach = np.concatenate([[0], np.cumsum(half)])  # half is ascending, so its last j are its largest
    for done, number in enumerate(half.tolist()):
        for j in range(min(done + 1, len(rows) - 1), 0, -1):
            end = int(reach[done] - reach[done - j + 1]) + 1  # past the largest sum of j - 1 so far
            begin = int(reach[j - 1])
            end = min(end, len(rows[j - 1]), len(rows[j]) - number)
            if begin < end:
                rows[j][begin + number : end + number] += rows[j - 1][begin:end]
    return rows
