"""Count the partitions that are as extreme: exactly, in bounds, or sampled.

Two facts carry everything. The total over the union of X and Y is fixed, so a partition is judged
by the sum over the words in X alone; and it makes no difference which of the two sets is followed,
so the smaller one is. The test is then a question about one number line: *how many subsets of k out
of n numbers have a sum of at most some limit?* That is counted exactly, by splitting the
union into two halves and counting pairs of partial sums; or within bounds, by rounding the
numbers to a grid.

Scores become whole numbers first (see `_as_integers`). Sums of whole numbers do not depend on the
order of their terms, so neither does any p-value, and ties are found by an allowance that is stated
and argued rather than by luck.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

type Ints = npt.NDArray[np.int64]
type Floats = npt.NDArray[np.float64]

# A score is trusted to this fraction of the largest absolute score, 2e-13. Mean cosines in double
# precision are wrong by about 1e-15, or by 1e-14 of the largest where the scores are small.
_TRUSTED = 2.0**-42
_SAMPLING_CONFIDENCE = 0.99
_MOST_PARTIAL_SUMS = 2**25  # in each half: all subsets of 25 words, 256 MiB
_COARSE = 2**11  # steps of the grid on which subsets are counted before sums are listed
MOST_WORDS_COUNTED = 1000  # beyond, the number of subsets leaves the range of double precision
_MOST_CELLS = 100_000_000  # of the tables of counts; as their rows are cut short, about 400 MB
_MOST_ADDITIONS = (
    20_000_000_000  # for the tables of counts, before rows are cut short; a few seconds
)


@dataclass(frozen=True, eq=False)
class Tail:
    """Count the subsets of `size` of the `deficits` whose sum is at most `limit`.

    The deficits are ascending whole numbers, none negative; `size` is at most half their number.
    `strict` is the limit that leaves the ties out.
    """

    deficits: Ints
    size: int
    limit: int
    strict: int


@dataclass(frozen=True, eq=False)
class Question:
    """The test in whole numbers.

    A partition is judged by n sum_X - n_x total, which is n_x n_y times its difference of means,
    freed from fractions, or by the absolute value of that. Those within `allowance` of `observed`
    tie with it.
    """

    values: Ints  # of the union, ascending
    n_x: int
    sides: int
    observed: int
    allowance: int

    @classmethod
    def ask(cls, x: Floats, y: Floats, sides: int) -> "Question":
        """Put the question to two groups.

        Their values as integers of one scale, so that ties are exact.
        """
        values, allowance = _as_integers(np.concatenate([x, y]))
        n, n_x = len(values), len(x)
        observed = n * int(values[:n_x].sum()) - n_x * int(values.sum())
        return cls(
            np.sort(values), n_x, sides, observed if sides == 1 else abs(observed), n * allowance
        )

    @property
    def bars(self) -> tuple[int, int]:
        """The lowest values that count with and without ties."""
        return self.observed - self.allowance, self.observed + self.allowance + 1

    @property
    def counts_everything(self) -> bool:
        """Whether the observed difference is zero.

        Then every partition is at least as far from it.
        """
        return self.sides == 2 and self.bars[0] <= 0

    def tails(self) -> list[Tail]:
        """Return the one tail or the two tails that are counted; two do not overlap."""
        n, middle = len(self.values), self.n_x * int(self.values.sum())
        # n sum_X >= middle + bar, and for the lower tail n sum_X <= middle - bar. The lower tail is
        # counted
        # as the upper tail of the negated values.
        least = [-(-(middle + bar) // n) for bar in self.bars]
        upper = _upper_tail(self.values, self.n_x, *least)
        if self.sides == 1:
            return [upper]
        most = [(middle - bar) // n for bar in self.bars]
        return [upper, _upper_tail(-self.values[::-1], self.n_x, -most[0], -most[1])]


def _as_integers(scores: Floats) -> tuple[Ints, int]:
    """Round scores to whole multiples of a small unit.

    Return them and the allowance for ties, in units.

    The unit is a power of two near 2^-47 of the largest absolute score. Rounding moves a score by
    half a unit at most. Two partitions differ in no more than n words. If their sums are equal by
    right, and each score is wrong by no more than 2^-42 of the largest (16 to 32 units), then the
    rounded sums differ by less than the allowance: that much and one unit for each of n words. For
    thousands of words the unit is coarser, so that no sum of 64 bits overflows.
    """
    largest = float(np.abs(scores).max())
    if largest == 0:
        return np.zeros(len(scores), dtype=np.int64), 0
    n = len(scores)
    bits = min(47, 59 - n.bit_length())
    exponent = math.frexp(largest)[1]  # largest < 2 ** exponent
    values = np.rint(np.ldexp(scores, bits - exponent)).astype(np.int64)
    allowance = n * math.ceil(_TRUSTED * math.ldexp(largest, bits - exponent) + 1)
    return values, allowance


def _upper_tail(values: Ints, size: int, least: int, strict_least: int) -> Tail:
    """Ask for sums of at least `least`, as one for deficits from the largest value."""
    n, top = len(values), int(values[-1])
    deficits = top - values[::-1]
    limit, strict = size * top - least, size * top - strict_least
    if 2 * size > n:
        # Follow the words left out: their deficits make up the rest of the total.
        total, far = int(deficits.sum()), int(deficits[-1])
        deficits, size = far - deficits[::-1], n - size
        limit, strict = size * far - total + limit, size * far - total + strict
    return Tail(deficits, size, limit, strict)


def other_side(tail: Tail) -> Tail:
    """Return the tail of the subsets this one leaves out, its two limits exchanged."""
    far = int(tail.deficits[-1])
    full = tail.size * far
    return Tail(far - tail.deficits[::-1], tail.size, full - tail.strict - 1, full - tail.limit - 1)


def is_upper_part(tail: Tail) -> bool:
    """Say whether the limit lies above the mean sum, so that the other side is the shorter way."""
    return tail.limit * len(tail.deficits) > tail.size * int(tail.deficits.sum())


def p_by_sampling(question: Question, samples: int, seed: int) -> tuple[float, tuple[float, float]]:
    """Estimate p from random partitions, one of them counted in advance.

    See May et al. (2019), appendix A.

    The values are in ascending order and the smaller set is the one drawn, so that the result
    depends on neither the order of the words nor which set is called X.
    """
    hits = samples if question.counts_everything else 0
    random = np.random.default_rng(seed)
    n, total = len(question.values), int(question.values.sum())
    size = min(question.n_x, n - question.n_x)
    # The sum over X has these limits; where Y is drawn, X has the rest of the total.
    middle, bar = question.n_x * total, question.bars[0]
    least, most = -(-(middle + bar) // n), (middle - bar) // n
    at_once = max(1, 4_000_000 // n)
    for start in range(0, samples - hits, at_once):
        keys = random.random((min(at_once, samples - start), n))
        sums = question.values[np.argpartition(keys, size - 1, axis=1)[:, :size]].sum(axis=1)
        if size != question.n_x:
            sums = total - sums
        extreme = sums >= least
        if question.sides == 2:
            extreme |= sums <= most
        hits += int(np.count_nonzero(extreme))
    return (hits + 1) / (samples + 1), clopper_pearson(hits, samples)


def clopper_pearson(
    hits: int, samples: int, confidence: float = _SAMPLING_CONFIDENCE
) -> tuple[float, float]:
    """Return the exact interval of a share.

    That of ``scipy.stats.binomtest``, whose p-value takes 20 ms more.
    """
    from scipy.special import betaincinv

    outside = (1 - confidence) / 2
    lower = 0.0 if hits == 0 else float(betaincinv(hits, samples - hits + 1, outside))
    upper = 1.0 if hits == samples else float(betaincinv(hits + 1, samples - hits, 1 - outside))
    return lower, upper


def sampling_width(p: float, samples: int) -> float:
    """Return about how wide the interval of `clopper_pearson` will be where the p-value is `p`."""
    lower, upper = clopper_pearson(round(p * samples), samples)
    return upper - lower


def count_all(question: Question) -> tuple[int, int] | None:
    """Return the count and the ties in it, or None where this is too much work."""
    partitions = math.comb(len(question.values), question.n_x)
    counts = [found for tail in question.tails() if (found := _count_in_halves(tail))]
    if len(counts) < question.sides:
        return None
    loose, strict = map(sum, zip(*counts, strict=True))
    loose = partitions if question.counts_everything else loose
    return loose, loose - strict


def _count_in_halves(tail: Tail) -> tuple[int, int] | None:
    """Count with and without ties by pairs of partial sums; None if there are too many of them.

    The numbers are split into two halves. The sums of each half are listed by how many numbers they
    hold, in ascending order; a sum of j numbers from one half then meets all sums of size - j from
    the other that still fit under the limit, and these stand at the start of their list.
    """
    subsets = math.comb(len(tail.deficits), tail.size)
    if tail.limit >= int(tail.deficits[-tail.size :].sum()) and tail.strict < 0:
        return subsets, 0  # all of them tie
    # What lies beyond the middle is counted from the other end, where fewer sums are within the
    # limits.
    flipped = is_upper_part(tail)
    near = other_side(tail) if flipped else tail
    # Of so many subsets one half has too many parts: this is foreseen before memory is filled.
    n, most = len(near.deficits), _MOST_PARTIAL_SUMS
    many = 2 ** (n // 2) > most and n <= MOST_WORDS_COUNTED
    if many and _bound_tail(near, _COARSE)[0] > most**1.5:
        return None
    # Every other number goes into each half, so that the halves are alike.
    halves = near.deficits[::2], near.deficits[1::2]
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


def _partial_sums(tail: Tail, half: Ints, other: Ints) -> list[Ints] | None:
    """List the sums of the subsets of `half`, by size and ascending.

    None if there are too many of them.

    A sum is dropped as soon as even the smallest numbers still to be had cannot complete it to the
    wanted size under the limit. Where p is small this leaves a small part of them.
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


def bound_all(question: Question, rel_width: float, samples: int | None) -> tuple[int, int]:
    """Return a lower and an upper bound of the count.

    With `samples` it stops as soon as it is clear that so many random partitions would tell more.
    """
    partitions = math.comb(len(question.values), question.n_x)
    if question.counts_everything:
        return partitions, partitions
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
        stuck = width > wider * (coarser / cells) ** 0.15
        if width <= rel_width or stuck or cells == most_cells:
            return lower, upper
        best = (upper - lower) / partitions * cells / most_cells
        if samples is not None and width < 1 and best > sampling_width(upper / partitions, samples):
            return lower, upper
        coarser, wider = cells, width
        cells = math.ceil(cells * min(max(1.2 * width / rel_width, 2), 16))
        if cells > 0.8 * most_cells:  # at once, rather than nearly the same work twice
            cells = most_cells


def _bound_tail(tail: Tail, cells: int) -> tuple[int, int]:
    """Bound the number of subsets in a tail, on a grid of about `cells` steps up to its limit."""
    if is_upper_part(tail):
        subsets = math.comb(len(tail.deficits), tail.size)
        other = other_side(tail)
        lower, upper = _bound_count(other.deficits, other.size, other.strict, cells)
        return subsets - upper, subsets - lower
    return _bound_count(tail.deficits, tail.size, tail.limit, cells)


def _bound_count(deficits: Ints, size: int, limit: int, cells: int) -> tuple[int, int]:
    """Bound the count by rounding each deficit down to the grid.

    Write a deficit as step * q + r with 0 <= r < step. For a subset with grid sum Q, the true sum
    lies between step * Q + (the `size` smallest r of all) and step * Q + (the `size` largest). So
    every subset with Q <= (limit - largest) // step is within the limit, and every subset within it
    has Q <= (limit - smallest) // step. Both numbers of subsets are counted from one table.

    The counts are kept in double precision. They are sums of products of counts, none negative, so
    every rounding changes a result by a factor of at most 1 + 2^-53, and a result goes through at
    most `roundings` of them: one for each number, each step of the grid (twice: adding up and
    combining) and each size. Widening by twice that, in whole numbers, covers them with room to
    spare. A result below 2^52 is exact, since no count that goes into it is larger.
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


def _count_on_grid(grid: Ints, size: int, surely: int, possibly: int) -> tuple[float, float]:
    """Count subsets with a grid sum of at most `surely` and of at most `possibly`.

    The second is no smaller.
    """
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


def _pairs_within(for_each: Floats, down_from: Floats, limit: int) -> float:
    """Return the sum over q of for_each[q] * up_to[limit - q].

    `up_to` stays flat beyond its end.

    `down_from` is `up_to` read from its end.
    """
    last = len(down_from) - 1
    fits = for_each[: max(0, limit + 1)]
    all_of_them = max(0, limit - last)  # for these q even the last of `up_to` fits
    pairs = float(fits[:all_of_them].sum()) * float(down_from[0])
    some = fits[all_of_them:]
    start = last - (limit - all_of_them)
    return pairs + float(np.dot(some, down_from[start : start + len(some)]))


def _counts_by_sum(grid: Ints, half: Ints, size: int, most: int) -> list[Floats]:
    """Return for each number of terms j the counts of subsets of `half` by sum.

    Only those that matter are counted.
    """
    # A subset of j needs size - j more, whose sum is at least that of the smallest ones of the
    # whole grid.
    smallest = np.concatenate([[0], np.cumsum(grid)])
    rows = [
        np.zeros(max(0, most - int(smallest[size - j]) + 1), dtype=float)
        for j in range(min(size, len(half)) + 1)
    ]
    if rows[0].size:
        rows[0][0] = 1.0
    reach = np.concatenate(
        [[0], np.cumsum(half)]
    )  # half is ascending, so its last j are its largest
    for done, number in enumerate(half.tolist()):
        for j in range(min(done + 1, len(rows) - 1), 0, -1):
            end = int(reach[done] - reach[done - j + 1]) + 1  # past the largest sum of j - 1 so far
            begin = int(reach[j - 1])
            end = min(end, len(rows[j - 1]), len(rows[j]) - number)
            if begin < end:
                rows[j][begin + number : end + number] += rows[j - 1][begin:end]
    return rows
