"""The factorization: log determinant, solves, inverse and draws against dense linear algebra."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.seeds import shifted
from scipy import sparse

from bayesbias.inference import factorization, lapack
from bayesbias.inference.factorization import Factor, Pattern


def cross_products(seed: int, rows: int, terms: tuple[int, ...]) -> sparse.csr_array:
    """The cross-products of the columns of crossed terms in random rows."""
    rng = np.random.default_rng(seed)
    parts = []
    for levels in terms:
        level = rng.integers(0, levels, rows)
        # Each level has a row.
        level[:levels] = np.arange(levels)
        coefs = rng.normal(1, 0.3, rows)
        parts.append(sparse.csr_array((coefs, (np.arange(rows), level)), shape=(rows, levels)))
    design = sparse.hstack(parts, format="csr")
    return sparse.csr_array(design.T @ design)


def factored(matrix: sparse.csr_array, sds: np.ndarray, head: int | None, last=()):
    """The factor, its log determinant, and the dense matrix in the order of the pattern."""
    pattern = Pattern.of(matrix, last, head)
    ordered = matrix.toarray()[np.ix_(pattern.order, pattern.order)]
    in_order = sds[pattern.order]
    dense = np.eye(len(sds)) + in_order[:, None] * ordered * in_order
    factor = Factor(pattern)
    log_determinant = factor.update(ordered[pattern.rows, pattern.columns], in_order)
    return factor, log_determinant, dense


TERMS = [(40, 15, 3), (200, 6), (1, 30), (12, 1, 1, 25), (5,), (1,)]


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("share", [None, 0.0, 0.5, 1.0])
@pytest.mark.parametrize("zeros", ["none", "some", "all"])
def test_it_is_that_of_the_dense_matrix(terms, share, zeros):
    seed = shifted(1)
    matrix = cross_products(seed, 220, terms)
    size, rng = matrix.shape[0], np.random.default_rng([seed, 1])
    sds = np.exp(rng.normal(0, 2, size))
    if zeros != "none":
        sds[rng.random(size) < (0.4 if zeros == "some" else 1.1)] = 0.0
    head = None if share is None else int(share * size)
    last = range(size - terms[-1], size) if share is None else ()
    factor, log_determinant, dense = factored(matrix, sds, head, last)
    assert log_determinant == pytest.approx(np.linalg.slogdet(dense)[1], rel=1e-10, abs=1e-9)

    inverse = np.linalg.inv(dense)
    right = rng.normal(size=size)
    np.testing.assert_allclose(factor.solve(right), inverse @ right, rtol=1e-7, atol=1e-9)

    pattern = factor.pattern
    entries, diagonal = factor.inverse_at_entries()
    expected = inverse[pattern.rows, pattern.columns]
    np.testing.assert_allclose(entries, expected, rtol=1e-6, atol=1e-10)
    np.testing.assert_allclose(diagonal, inverse.diagonal(), rtol=1e-6, atol=1e-10)

    # A draw is L^-T D^-1/2 z; all unit vectors z give a root of the inverse.
    root = factor.unwhitened(np.eye(size))
    np.testing.assert_allclose(root @ root.T, inverse, rtol=1e-6, atol=1e-9)
    whitened = factor.whitened(np.stack([right, 2 * right], axis=1))
    expected = right @ inverse @ right * np.array([1, 4])
    np.testing.assert_allclose((whitened**2).sum(axis=0), expected, rtol=1e-7)


def grid(
    groups: int, items: int, templates: int, words: int
) -> tuple[sparse.csr_array, np.ndarray]:
    """The cross-products of a grid with interactions, and how many columns the term of each has."""
    shape = groups, items, templates, words
    group, item, template, word = np.indices(shape).reshape(4, -1)
    of_group = group * items + item
    terms = [
        group,
        item,
        template,
        group * words + word,
        item * templates + template,
        of_group,
        group * templates + template,
        of_group * templates + template,
    ]
    rows = np.arange(len(group))
    parts = [sparse.csr_array((np.ones(len(rows)), (rows, term))) for term in terms]
    design = sparse.hstack(parts, format="csr")
    sizes = np.concatenate([np.full(part.shape[1], part.shape[1]) for part in parts])
    return sparse.csr_array(design.T @ design), sizes


def test_a_large_grid_is_eliminated_term_by_term():
    """Minimum degree would begin with groups by items, which join all cells of an item."""
    matrix, sizes = grid(5, 120, 20, 20)
    plain = Pattern.of(matrix, range(5))
    pattern = Pattern.of(matrix, range(5), term_sizes=sizes)
    assert pattern.arithmetic < 0.6 * plain.arithmetic
    of_head = sizes[pattern.order[: pattern.head]]
    assert (np.diff(of_head) <= 0).all()


def test_many_columns_without_fill_need_no_minimum_degree(monkeypatch):
    """For 100,000 columns it takes 18 s, and would change little."""
    sizes = (900, 20, 2)
    matrix = cross_products(shifted(7), 5000, sizes)
    of_terms = np.repeat(sizes, sizes)
    expected = Pattern.of(matrix, range(920, 922))

    def refused(_):
        raise AssertionError

    monkeypatch.setattr(factorization, "_minimum_degree", refused)
    monkeypatch.setattr(factorization, "_MANY_COLUMNS", 500)
    pattern = Pattern.of(matrix, range(920, 922), term_sizes=of_terms)
    assert pattern.arithmetic <= 1.1 * expected.arithmetic
    # Items that join names have fill.
    with pytest.raises(AssertionError):
        Pattern.of(cross_products(shifted(7), 2500, (600, 500)), term_sizes=np.ones(1100))


@pytest.mark.parametrize("head", [None, 200, 290])
def test_long_runs_and_single_entries_in_the_tail_come_to_the_same(head):
    matrix, sizes = grid(3, 9, 8, 6)
    sds = np.exp(np.random.default_rng(shifted(6)).normal(-1, 1, len(sizes)))
    factor, log_determinant, dense = factored(matrix, sds, head, range(3))
    assert log_determinant == pytest.approx(np.linalg.slogdet(dense)[1], rel=1e-10)
    pattern, inverse = factor.pattern, np.linalg.inv(dense)
    assert pattern.tail > 20
    entries, diagonal = factor.inverse_at_entries()
    expected = inverse[pattern.rows, pattern.columns]
    np.testing.assert_allclose(entries, expected, rtol=1e-6, atol=1e-10)
    np.testing.assert_allclose(diagonal, inverse.diagonal(), rtol=1e-6)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_columns_that_repeat_others_do_no_harm(share):
    """An intercept beside the means of all groups, and SDs that are millions of times the noise."""
    groups = np.repeat(np.eye(4), 6, axis=0)
    design = np.concatenate([np.ones((24, 1)), groups, groups], axis=1)
    sds = np.array([1e4, *[1e3] * 4, *[0.5] * 4])
    matrix = sparse.csr_array(design.T @ design)
    factor, log_determinant, dense = factored(matrix, sds, int(share * 9))
    assert log_determinant == pytest.approx(np.linalg.slogdet(dense)[1], rel=1e-9)
    _, diagonal = factor.inverse_at_entries()
    np.testing.assert_allclose(diagonal, np.linalg.inv(dense).diagonal(), rtol=1e-5)


def test_a_factor_is_used_again():
    matrix = cross_products(shifted(3), 90, (30, 8))
    ones = np.ones(38)
    factor, first, dense = factored(matrix, ones, None)
    pattern = factor.pattern
    ordered = matrix.toarray()[np.ix_(pattern.order, pattern.order)]
    values = ordered[pattern.rows, pattern.columns]
    factor.inverse()
    other = factor.update(values, 3 * ones)
    assert other == pytest.approx(np.linalg.slogdet(np.eye(38) + 9 * ordered)[1])
    assert factor.update(values, ones) == first
    assert first == pytest.approx(np.linalg.slogdet(dense)[1])


def test_long_terms_stay_sparse():
    """Names that occur in few items are eliminated first, and leave a short tail."""
    matrix = cross_products(shifted(4), 3000, (1500, 20, 2))
    pattern = Pattern.of(matrix, range(1520, 1522))
    assert pattern.tail < 150
    assert set(pattern.order[-2:]) == {1520, 1521}
    np.testing.assert_array_equal(pattern.order[pattern.places], np.arange(1522))


def test_what_is_not_positive_definite_has_no_determinant():
    matrix = sparse.csr_array(np.array([[1.0, 0.5], [0.5, 1.0]]))
    for head in (0, 1, 2):
        pattern = Pattern.of(matrix, (), head)
        assert np.isnan(Factor(pattern).update(np.array([-9.0, 0.5, -9.0]), np.ones(2)))


@pytest.mark.parametrize("terms", [*TERMS, (300, 200, 150), (150, 40, 30, 20)])
def test_the_lower_bound_of_memory_is_one(terms):
    matrix = cross_products(shifted(3), 400, terms)
    last = range(matrix.shape[0] - terms[-1], matrix.shape[0])
    assert 0 < Pattern.bytes_at_least(matrix, last) <= Pattern.of(matrix, last).nbytes


@pytest.mark.parametrize("size", [1, 2, 30])
def test_dense_factors_are_those_of_numpy(size):
    rng = np.random.default_rng([shifted(5), size])
    root = rng.normal(size=(size, size + 2))
    matrix, right = root @ root.T + np.eye(size), rng.normal(size=(size, 3))
    factor = matrix.copy()
    assert lapack.cholesky(factor)
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(matrix), atol=1e-12)

    half = lapack.solved(factor, right)
    np.testing.assert_allclose(np.tril(factor) @ half, right, atol=1e-12)
    whole = lapack.solved(factor, half, transposed=True)
    np.testing.assert_allclose(matrix @ whole, right, atol=1e-10)
    lapack.inverse(factor)
    np.testing.assert_allclose(np.tril(factor), np.tril(np.linalg.inv(matrix)), atol=1e-12)


def test_a_dense_matrix_that_is_not_positive_definite_has_no_factor():
    assert not lapack.cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]))


def test_a_copy_of_a_factor_does_not_change_with_it():
    matrix = cross_products(shifted(6), 60, (9, 4))
    sds = np.ones(matrix.shape[0])
    factor, _, dense = factored(matrix, sds, 5)
    copy, right = factor.copy(), np.arange(1.0, len(sds) + 1)
    pattern = factor.pattern
    ordered = matrix.toarray()[np.ix_(pattern.order, pattern.order)]
    factor.update(ordered[pattern.rows, pattern.columns], 3 * sds)
    np.testing.assert_allclose(dense @ copy.solve(right), right, rtol=1e-9)
    assert copy.nbytes == 8 * (len(copy.entries) + len(copy.pivots) + copy.tail.size)
