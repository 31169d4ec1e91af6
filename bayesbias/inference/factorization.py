r"""The factorization of a sparse precision matrix whose pattern never changes.

A table with normal effects leads to the symmetric matrix

.. math:: M = I + S A S,

where A holds cross-products of the columns of the design and S the standard deviations (SDs) of the
effects on its diagonal. A is sparse: two effects share an entry only if some row has both. Its
pattern is that of the table, so that `Pattern.of` does once what depends on the pattern alone.
`Factor` then does the arithmetic for one S after another. A zero SD is harmless, since nothing
divides by it.

*Order.* Eliminating a column joins all columns that it shares rows with. Minimum degree puts first
what joins few. Terms in the order of their length, interactions before what they are of, may cost
less: of 500,000 answers to 250 items in 20 templates it is half. The cheaper order is taken. Columns
of short terms, such as the means of groups, go last: they share rows with all others.

*Head and tail.* The factor :math:`M = L D L^T` gets fuller from column to column. Its first columns,
the head, stay sparse and are made row by row (up-looking). The rest, the tail, is a dense matrix
that LAPACK factors as :math:`C C^T`. Where to cut follows from the number of entries
:math:`c_j` of each column: the head costs :math:`\sum_j c_j^2 + 10 c_j`, and a tail of t columns
:math:`t^3 / 3`, at 40 times the speed.

*Inverse.* The gradient of the log determinant needs :math:`M^{-1}` at the entries of A alone. The
tail is inverted as a whole. Going back through the head, the recursion of Takahashi gives the
entries of a column of the inverse from those of later columns, and only at entries of L.

For instance, four rows with the words (a, a, b, b) and the attributes (p, q, p, q) have the columns
a, b, p, q, and

.. math:: A = \begin{pmatrix} 2 & 0 & 1 & 1 \\ 0 & 2 & 1 & 1 \\ 1 & 1 & 2 & 0 \\ 1 & 1 & 0 & 2
          \end{pmatrix}.

Eliminating a joins p and q, to which b adds nothing new. So a and b are the head. The tail is the
2 x 2 matrix of p and q, whose zero is now filled. With a thousand words and ten attributes it is
still 10 x 10.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bayesbias.inference import lapack
from bayesbias.inference.kernel import compiled

_DENSE_RATE = 40.0  # how many times faster LAPACK's arithmetic is
_PER_ENTRY = 10.0  # what an entry of the head costs beside its arithmetic
_LEAST_OF_RUN = 4  # entries on average
_MANY_COLUMNS, _LITTLE_FILL = 20_000, 0.05
_APART = 1e-9  # entries beside the diagonal of a matrix that is ordered by its pattern alone


@dataclass(frozen=True, eq=False)
class Pattern:
    """Which entries a symmetric matrix and its factor have.

    Attributes
    ----------
    order : ndarray of int, shape (size,)
        The column of the design that stands at each place.
    head : int
        How many of the first columns are sparse.
    starts, columns : ndarray of int
        The lower triangle of A by rows, with its diagonal: row k has the columns
        ``columns[starts[k]:starts[k + 1]]``, in rising order.
    row_starts, row_columns : ndarray of int
        The head columns before the diagonal that each row of L has.
    column_starts, column_rows : ndarray of int
        The rows below the diagonal that each head column of L has.
    in_head : ndarray of int, shape (head,)
        How many of these rows are rows of the head.
    """

    order: np.ndarray
    head: int
    starts: np.ndarray
    columns: np.ndarray
    row_starts: np.ndarray
    row_columns: np.ndarray
    column_starts: np.ndarray
    column_rows: np.ndarray
    in_head: np.ndarray

    @classmethod
    def of(
        cls,
        matrix: Any,
        last: Sequence[int] = (),
        head: int | None = None,
        term_sizes: np.ndarray | None = None,
    ) -> Pattern:
        """Analyze a symmetric sparse matrix.

        Parameters
        ----------
        matrix : scipy.sparse array, shape (size, size)
            Its values do not matter. Entries of the diagonal may be missing.
        last : sequence of int
            Columns that go last.
        head : int, optional
            How many columns the head has; by default what costs least.
        term_sizes : ndarray, shape (size,), optional
            How many columns the term of each column has.
        """
        from scipy import sparse

        size = matrix.shape[0]
        is_last = np.zeros(size, dtype=bool)
        is_last[list(last)] = True
        first = np.flatnonzero(~is_last)
        whole = sparse.csr_array(matrix) + sparse.eye_array(size, format="csr")

        def eliminated(order: np.ndarray) -> _Elimination:
            return _Elimination.of(whole, np.concatenate([order, np.flatnonzero(is_last)]))

        found = []
        if term_sizes is not None:
            found.append(eliminated(first[np.argsort(-term_sizes[first], kind="stable")]))
        # Minimum degree took 18 s for 100,000 columns, and there is little to gain without fill.
        if not found or size < _MANY_COLUMNS or found[0].fill > _LITTLE_FILL:
            found.insert(0, eliminated(first[_minimum_degree(whole[first][:, first])]))
        best = min(found, key=lambda elimination: elimination.costs.min())
        if head is None:
            head = int(np.argmin(best.costs))
        of_factor = _rows_of_factor(head, best.starts, best.columns, best.parents)
        return cls(best.order, head, best.starts, best.columns, *of_factor)

    @staticmethod
    def bytes_at_least(matrix: Any, last: Sequence[int] = ()) -> float:
        """Return a lower bound of the memory of one `Factor`, without the work of minimum degree.

        It is a third of what columns in the order of their degree take. Minimum degree took between a
        third of that and all of it in tables of up to 38,000 columns.
        """
        degree = np.diff(matrix.indptr)
        degree[list(last)] = matrix.shape[0]
        elimination = _Elimination.of(matrix, np.argsort(degree, kind="stable"))
        head = int(np.argmin(elimination.costs))
        size = len(elimination.counts)
        return _bytes(elimination.counts[:head].sum(), size - head, size) / 3

    @property
    def size(self) -> int:
        """The number of columns."""
        return len(self.order)

    @property
    def tail(self) -> int:
        """The number of columns of the dense tail."""
        return self.size - self.head

    @functools.cached_property
    def places(self) -> np.ndarray:
        """The place of each column of the design in the order."""
        places = np.empty(self.size, dtype=np.int64)
        places[self.order] = np.arange(self.size)
        return places

    @functools.cached_property
    def rows(self) -> np.ndarray:
        """The row of each entry of the lower triangle of A."""
        return np.repeat(np.arange(self.size), np.diff(self.starts))

    @functools.cached_property
    def on_diagonal(self) -> np.ndarray:
        """Whether an entry of the lower triangle of A is on the diagonal."""
        return self.rows == self.columns

    @functools.cached_property
    def in_inverse(self) -> np.ndarray:
        """Where `Factor.inverse` finds each entry of A.

        Its arrays are taken one after another: the entries of the head, the diagonal, the tail.
        """
        return _places_in_inverse(
            self.head, self.starts, self.columns, self.column_starts, self.column_rows
        )

    @property
    def arithmetic(self) -> float:
        """The cost of a factorization, in operations of the sparse head."""
        lengths = np.diff(self.column_starts).astype(float)
        return float(np.sum(lengths**2 + _PER_ENTRY * lengths)) + self.tail**3 / 3 / _DENSE_RATE

    @property
    def nbytes(self) -> int:
        """The memory of one `Factor`, in bytes."""
        return _bytes(len(self.column_rows), self.tail, self.size)


class _Elimination(NamedTuple):
    """What an order of the columns of a symmetric matrix leads to.

    Attributes
    ----------
    order : ndarray of int, shape (size,)
    starts, columns : ndarray of int
        The lower triangle by rows.
    parents : ndarray of int, shape (size,)
        The first column that each column changes; -1 without one.
    counts : ndarray of int, shape (size,)
        The entries of each column of the factor below its diagonal.
    costs : ndarray, shape (size + 1,)
        What a head of 0, 1, ... columns costs with its tail, in operations of the head.
    """

    order: np.ndarray
    starts: np.ndarray
    columns: np.ndarray
    parents: np.ndarray
    counts: np.ndarray
    costs: np.ndarray

    @classmethod
    def of(cls, matrix: Any, order: np.ndarray) -> _Elimination:
        """Eliminate the columns of a matrix in an order, by its pattern alone."""
        from scipy import sparse

        lower = sparse.csr_array(sparse.tril(matrix[order][:, order]))
        lower.sort_indices()
        starts, columns = lower.indptr.astype(np.int64), lower.indices.astype(np.int32)
        parents, counts = _elimination_tree(starts, columns)
        lengths = counts.astype(float)
        head = np.concatenate([[0.0], np.cumsum(lengths**2 + _PER_ENTRY * lengths)])
        tail = np.arange(len(order), -1.0, -1.0) ** 3 / 3 / _DENSE_RATE
        return cls(order, starts, columns, parents, counts, head + tail)

    @property
    def fill(self) -> float:
        """How many entries the cheapest head has that the matrix has not, relative to those of both."""
        head = int(np.argmin(self.costs))
        of_matrix = int((self.columns < head).sum()) - head  # without the diagonal
        return (int(self.counts[:head].sum()) - of_matrix) / max(of_matrix, 1)


def _bytes(entries: int, tail: int, size: int) -> int:
    """Return the memory of a factor with so many entries of the head."""
    return 8 * (2 * int(entries) + 2 * tail**2 + 4 * size)


def _minimum_degree(matrix: Any) -> np.ndarray:
    """Return the columns of a symmetric matrix in an order that keeps its factor sparse."""
    from scipy import sparse
    from scipy.sparse.linalg import spilu

    size = matrix.shape[0]
    if size < 2:
        return np.arange(size)
    # An incomplete factorization that drops everything: SuperLU's order is all that is wanted.
    apart = sparse.csc_array(matrix)
    apart.data = np.full(len(apart.data), _APART)
    apart = sparse.csc_array(apart + sparse.eye_array(size, format="csc"))
    factored = spilu(
        apart,
        drop_tol=0.5,
        fill_factor=1,
        permc_spec="MMD_AT_PLUS_A",
        options={"SymmetricMode": True},
    )
    return np.argsort(factored.perm_c)


@compiled
def _elimination_tree(starts: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the parent of each column, and the number of entries below its diagonal."""
    size = len(starts) - 1
    parents = np.full(size, -1, np.int64)
    seen = np.full(size, -1, np.int64)
    counts = np.zeros(size, np.int64)
    for k in range(size):
        seen[k] = k
        for place in range(starts[k], starts[k + 1]):
            j = columns[place]
            while j < k and seen[j] != k:
                if parents[j] < 0:
                    parents[j] = k
                counts[j] += 1
                seen[j] = k
                j = parents[j]
    return parents, counts


@compiled
def _rows_of_factor(
    head: int, starts: np.ndarray, columns: np.ndarray, parents: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the head columns of each row of L, the rows of each, and how many are in the head."""
    size = len(starts) - 1
    seen = np.full(size, -1, np.int64)
    row_starts = np.zeros(size + 1, np.int64)
    column_starts = np.zeros(head + 1, np.int64)
    in_head = np.zeros(head, np.int64)
    for k in range(size):
        count = 0
        seen[k] = k
        for place in range(starts[k], starts[k + 1]):
            j = columns[place]
            while j < k and j < head and seen[j] != k:
                count += 1
                column_starts[j + 1] += 1
                if k < head:
                    in_head[j] += 1
                seen[j] = k
                j = parents[j]
        row_starts[k + 1] = row_starts[k] + count
    for j in range(head):
        column_starts[j + 1] += column_starts[j]
    row_columns = np.empty(row_starts[size], np.int32)
    column_rows = np.empty(column_starts[head], np.int32)
    filled = column_starts[:head].copy()
    seen[:] = -1
    for k in range(size):
        end = row_starts[k]
        seen[k] = k
        for place in range(starts[k], starts[k + 1]):
            j = columns[place]
            while j < k and j < head and seen[j] != k:
                row_columns[end] = j
                end += 1
                column_rows[filled[j]] = k
                filled[j] += 1
                seen[j] = k
                j = parents[j]
        row_columns[row_starts[k] : end].sort()
    return row_starts, row_columns, column_starts, column_rows, in_head


@compiled
def _places_in_inverse(
    head: int,
    starts: np.ndarray,
    columns: np.ndarray,
    column_starts: np.ndarray,
    column_rows: np.ndarray,
) -> np.ndarray:
    """Return where an entry of A is among the entries of the head, the diagonal and the tail."""
    size = len(starts) - 1
    entries, tail = len(column_rows), size - head
    out = np.empty(len(columns), np.int64)
    for k in range(size):
        for place in range(starts[k], starts[k + 1]):
            j = columns[place]
            if j == k:
                out[place] = entries + k
            elif j >= head:
                out[place] = entries + size + (k - head) * tail + (j - head)
            else:
                start = column_starts[j]
                rows = column_rows[start : column_starts[j + 1]]
                out[place] = start + np.searchsorted(rows, k)
    return out


class Factor:
    """The factor of M for one set of values, and what is solved with it.

    It holds the memory that is used again for the next values, so that one thread at a time may use
    it.

    Attributes
    ----------
    pattern : Pattern
    entries : ndarray
        The entries of the head columns of L below the diagonal.
    pivots : ndarray, shape (head,)
        D.
    tail : ndarray, shape (tail, tail)
        C, the lower Cholesky factor of what the head leaves of the tail.
    """

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.entries = np.zeros(len(pattern.column_rows))
        self.pivots = np.zeros(pattern.head)
        self.tail = np.zeros((pattern.tail, pattern.tail))
        self._inverse: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    @property
    def nbytes(self) -> int:
        """The memory of a copy, in bytes."""
        return self.entries.nbytes + self.pivots.nbytes + self.tail.nbytes

    def copy(self) -> Factor:
        """Return a factor of the same values with memory of its own."""
        out = Factor.__new__(Factor)
        out.pattern, out._inverse = self.pattern, None
        out.entries, out.pivots = self.entries.copy(), self.pivots.copy()
        out.tail = self.tail.copy()
        return out

    def update(self, values: np.ndarray, sds: np.ndarray) -> float:
        """Factor I + diag(sds) A diag(sds), and return its log determinant.

        Parameters
        ----------
        values : ndarray
            The lower triangle of A, in the order of the pattern.
        sds : ndarray, shape (size,)

        Returns
        -------
        float
            NaN if the matrix is not positive definite in floating point.
        """
        pattern = self.pattern
        log_determinant = _factor(
            pattern.starts,
            pattern.columns,
            values,
            sds,
            pattern.row_starts,
            pattern.row_columns,
            pattern.column_starts,
            pattern.column_rows,
            pattern.in_head,
            self.entries,
            self.pivots,
            self.tail,
        )
        if pattern.tail and math.isfinite(log_determinant):
            if not lapack.cholesky(self.tail):
                return math.nan
            log_determinant += 2 * float(np.log(self.tail.diagonal()).sum())
        return log_determinant

    def whitened(self, right: np.ndarray) -> np.ndarray:
        """Return D^-1/2 L^-1 times columns, shape (size, number), which are overwritten.

        The sum of squares of a column c of the result is c'M^-1 c.
        """
        pattern = self.pattern
        _forward(pattern.column_starts, pattern.column_rows, self.entries, self.pivots, right)
        if pattern.tail:
            right[pattern.head :] = lapack.solved(self.tail, right[pattern.head :])
        return right

    def unwhitened(self, right: np.ndarray) -> np.ndarray:
        """Return L^-T D^-1/2 times columns, shape (size, number), which are overwritten.

        Of standard normals the result has the covariance M^-1.
        """
        pattern = self.pattern
        if pattern.tail:
            below = right[pattern.head :]
            right[pattern.head :] = lapack.solved(self.tail, below, transposed=True)
        _backward(pattern.column_starts, pattern.column_rows, self.entries, self.pivots, right)
        return right

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return M^-1 times a vector, shape (size,)."""
        columns = np.array(right, dtype=float)[:, None]
        return self.unwhitened(self.whitened(columns))[:, 0]

    def inverse(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return M^-1 at the entries of the head of L, on the diagonal, and in the tail.

        `Pattern.in_inverse` says where the entries of A are.
        """
        pattern = self.pattern
        if self._inverse is None:
            self._inverse = (
                np.zeros(len(self.entries)),
                np.zeros(pattern.size),
                np.zeros((pattern.tail, pattern.tail)),
            )
        entries, diagonal, tail = self._inverse
        if pattern.tail:
            tail[:] = self.tail
            lapack.inverse(tail)
        _selected_inverse(
            pattern.column_starts,
            pattern.column_rows,
            pattern.in_head,
            self.entries,
            self.pivots,
            tail,
            entries,
            diagonal,
        )
        return entries, diagonal, tail

    def inverse_at_entries(self) -> tuple[np.ndarray, np.ndarray]:
        """Return M^-1 at the entries of A, and its diagonal."""
        pattern = self.pattern
        entries, diagonal, tail = self.inverse()
        return _taken(pattern.in_inverse, entries, diagonal, tail.ravel()), diagonal


@compiled
def _taken(
    places: np.ndarray, entries: np.ndarray, diagonal: np.ndarray, tail: np.ndarray
) -> np.ndarray:
    """Take entries out of three arrays that are counted one after another."""
    out = np.empty(len(places))
    first, second = len(entries), len(entries) + len(diagonal)
    for k in range(len(places)):
        place = places[k]
        if place < first:
            out[k] = entries[place]
        elif place < second:
            out[k] = diagonal[place - first]
        else:
            out[k] = tail[place - second]
    return out


@compiled
def _factor(
    starts: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    sds: np.ndarray,
    row_starts: np.ndarray,
    row_columns: np.ndarray,
    column_starts: np.ndarray,
    column_rows: np.ndarray,
    in_head: np.ndarray,
    entries: np.ndarray,
    pivots: np.ndarray,
    tail: np.ndarray,
) -> float:
    """Factor the head, leave its Schur complement in the tail, and return its log determinant.

    Row k of L solves a triangular system with the rows before: a column j adds to the row what its
    entries times that of row k are. Rows of the tail need the columns' entries in the head alone.
    """
    size, head = len(starts) - 1, len(pivots)
    row = np.zeros(size)  # row k of M, as far as it is not yet eliminated
    filled = np.zeros(head, np.int64)
    tail[:, :] = 0.0
    log_determinant = 0.0
    for k in range(size):
        pivot = 1.0
        for place in range(starts[k], starts[k + 1]):
            j = columns[place]
            value = values[place] * sds[j] * sds[k]
            if j == k:
                pivot += value
            elif j < head:
                row[j] = value
            else:
                tail[k - head, j - head] = value
        for place in range(row_starts[k], row_starts[k + 1]):
            j = row_columns[place]
            left = row[j]
            row[j] = 0.0
            start = column_starts[j]
            new = start + filled[j]
            end = new if k < head else start + in_head[j]
            if left != 0.0:
                for below in range(start, end):
                    row[column_rows[below]] -= entries[below] * left
            entry = left / pivots[j]
            entries[new] = entry
            pivot -= left * entry
            filled[j] += 1
        if k >= head:
            tail[k - head, k - head] = pivot
        elif pivot > 0.0:
            pivots[k] = pivot
            log_determinant += math.log(pivot)
        else:
            return math.nan
    # Beside the diagonal, which has it already, the tail loses the products of the head's entries.
    runs = np.empty(size - head + 1, np.int64)
    for j in range(head):
        start, end = column_starts[j] + in_head[j], column_starts[j + 1]
        number = _find_runs(column_rows, start, end, runs)
        run = 0
        for below in range(start + 1, end):
            scaled = entries[below] * pivots[j]
            if scaled == 0.0:
                continue
            out = tail[column_rows[below] - head]
            if number == 0:
                for before in range(start, below):
                    out[column_rows[before] - head] -= scaled * entries[before]
                continue
            while runs[run + 1] <= below:
                run += 1
            for before in range(run + 1):
                first, last = runs[before], min(runs[before + 1], below)
                at = column_rows[first] - head
                left, values = out[at : at + last - first], entries[first:last]
                for k in range(last - first):
                    left[k] -= scaled * values[k]
    return log_determinant


@compiled
def _find_runs(rows: np.ndarray, start: int, end: int, runs: np.ndarray) -> int:
    """Write where runs of consecutive rows start, then the end of the last, and return their number.

    Arithmetic on a run takes a third of the time that single entries take. Short runs take longer:
    where they have few entries on average the number is 0.
    """
    number = 0
    for place in range(start, end):
        if place == start or rows[place] != rows[place - 1] + 1:
            runs[number] = place
            number += 1
    runs[number] = end
    return number if number * _LEAST_OF_RUN <= end - start else 0


@compiled
def _forward(
    column_starts: np.ndarray,
    column_rows: np.ndarray,
    entries: np.ndarray,
    pivots: np.ndarray,
    right: np.ndarray,
) -> None:
    """Eliminate the head from columns on the right-hand side, and scale it by D^-1/2."""
    number = right.shape[1]
    for j in range(len(pivots)):
        row = right[j]
        empty = True
        for c in range(number):
            if row[c] != 0.0:
                empty = False
                break
        if empty:
            continue
        for place in range(column_starts[j], column_starts[j + 1]):
            out, entry = right[column_rows[place]], entries[place]
            for c in range(number):
                out[c] -= entry * row[c]
        scale = 1.0 / math.sqrt(pivots[j])
        for c in range(number):
            row[c] *= scale


@compiled
def _backward(
    column_starts: np.ndarray,
    column_rows: np.ndarray,
    entries: np.ndarray,
    pivots: np.ndarray,
    right: np.ndarray,
) -> None:
    """Scale the head by D^-1/2, and substitute from its last column to its first."""
    number = right.shape[1]
    for j in range(len(pivots) - 1, -1, -1):
        row = right[j]
        scale = 1.0 / math.sqrt(pivots[j])
        for c in range(number):
            row[c] *= scale
        for place in range(column_starts[j], column_starts[j + 1]):
            below, entry = right[column_rows[place]], entries[place]
            for c in range(number):
                row[c] -= entry * below[c]


@compiled
def _selected_inverse(
    column_starts: np.ndarray,
    column_rows: np.ndarray,
    in_head: np.ndarray,
    entries: np.ndarray,
    pivots: np.ndarray,
    tail: np.ndarray,
    inverse: np.ndarray,
    diagonal: np.ndarray,
) -> None:
    """Write the inverse at the entries of the head and on the diagonal, given that of the tail.

    With w the entries of column j of the inverse below its diagonal, w is minus the inverse of all
    later columns times those of L; and the diagonal is 1/D minus their inner product.
    """
    size, head = len(diagonal), len(pivots)
    for r in range(size - head):
        diagonal[head + r] = tail[r, r]
        for c in range(r):
            tail[c, r] = tail[r, c]
    column = np.full(size, -1, np.int64)  # the last column that had an entry in a row
    factor_entry, w = np.zeros(size), np.zeros(size)
    runs = np.empty(size - head + 1, np.int64)
    for j in range(head - 1, -1, -1):
        start, end = column_starts[j], column_starts[j + 1]
        in_tail = start + in_head[j]
        for place in range(start, end):
            r = column_rows[place]
            column[r] = j
            factor_entry[r] = entries[place]
            w[r] = 0.0
        number = _find_runs(column_rows, in_tail, end, runs)
        for place in range(in_tail, end):
            row, entry = tail[column_rows[place] - head], entries[place]
            if number == 0:
                total = 0.0
                for other in range(in_tail, end):
                    total += row[column_rows[other] - head] * entries[other]
                w[column_rows[place]] -= total
            for run in range(number):
                first, length = column_rows[runs[run]], runs[run + 1] - runs[run]
                left, values = w[first : first + length], row[first - head : first - head + length]
                for k in range(length):
                    left[k] -= entry * values[k]
        for place in range(start, in_tail):
            k, entry = column_rows[place], entries[place]
            total = diagonal[k] * entry
            for other in range(column_starts[k], column_starts[k + 1]):
                r = column_rows[other]
                if column[r] == j:
                    w[r] -= inverse[other] * entry
                    total += inverse[other] * factor_entry[r]
            w[k] -= total
        value = 1.0 / pivots[j]
        for place in range(start, end):
            r = column_rows[place]
            inverse[place] = w[r]
            value -= entries[place] * w[r]
        diagonal[j] = value
