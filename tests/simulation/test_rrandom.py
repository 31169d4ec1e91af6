"""R's random numbers, held to what R prints."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest

from bayesbias.core.errors import InputError
from bayesbias.simulation.rrandom import RRandom, qnorm

# The cases of section 3 of the seed paper, in its manuscript: for the protected words
# t1 ... t4, the means of their similarities to A and to B.
NO_DIFFERENCE = np.zeros((4, 2))
DIFFERENCE = np.array([[0.1, 0.0], [0.1, 0.0], [0.0, 0.1], [0.0, 0.1]])


def draw_tables(random: RRandom, n: int, means: np.ndarray, sd: float) -> np.ndarray:
    """Draw n times t1 ... t4 as the paper does: data.frame(A = rnorm(5, ..), B = rnorm(5, ..)) for each."""
    drawn = random.rnorm(n * 40).reshape(n, 4, 2, 5)
    return means[:, :, None] + sd * drawn


def as_coded(tables: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return factor, numerator and bias of each draw, as the paper's code computes them."""
    s = tables[:, :, 0].mean(axis=2) - tables[:, :, 1].mean(axis=2)
    factor = s.std(axis=1, ddof=1)
    # mean(s(t1), s(t2)) - mean(s(t3), s(t4)): R's mean() takes one vector, and its second argument is `trim`.
    numerator = s[:, 0] - s[:, 2]
    return factor, numerator, numerator / factor


def as_intended(tables: np.ndarray) -> np.ndarray:
    s = tables[:, :, 0].mean(axis=2) - tables[:, :, 1].mean(axis=2)
    return (s[:, :2].mean(axis=1) - s[:, 2:].mean(axis=1)) / s.std(axis=1, ddof=1)


@pytest.mark.parametrize(
    ("seed", "expected"),
    [
        (123, [-0.56047565, -0.23017749, 1.55870831]),
        (1, [-0.6264538, 0.1836433, -0.8356286]),
        (42, [1.37095845, -0.56469817, 0.36312841]),
    ],
)
def test_rnorm_as_r_prints_it(seed: int, expected: list[float]) -> None:
    np.testing.assert_allclose(RRandom(seed).rnorm(3), expected, rtol=0, atol=5.1e-8)


@pytest.mark.parametrize(
    ("seed", "expected"),
    [(42, [0.9148060, 0.9370754, 0.2861395]), (1, [0.2655087, 0.3721239, 0.5728534])],
)
def test_runif_as_r_prints_it(seed: int, expected: list[float]) -> None:
    np.testing.assert_allclose(RRandom(seed).runif(3), expected, rtol=0, atol=5.1e-8)


@pytest.mark.parametrize(
    ("seed", "means", "sd", "factor", "numerator", "bias", "intended"),
    [
        (123, NO_DIFFERENCE, 0.05, "0.02342637", "0.04275325", "1.825005", "0.6480"),
        (124, NO_DIFFERENCE, 0.001, "0.0006402666", "-0.001237637", "-1.933003", "-0.2200"),
        (766, DIFFERENCE, 0.05, None, None, "1.490014", "1.6768"),
        (766, DIFFERENCE, 0.1, None, None, "1.223023", "1.5530"),
    ],
)
def test_single_draws_of_the_paper(seed, means, sd, factor, numerator, bias, intended) -> None:
    tables = draw_tables(RRandom(seed), 1, means, sd)
    got = [f"{value[0]:.7g}" for value in as_coded(tables)]
    assert got[2] == bias
    if factor is not None:
        assert got[:2] == [factor, numerator]
    assert f"{as_intended(tables)[0]:.4f}" == intended


@pytest.mark.parametrize(
    ("sd", "mean", "median", "quantiles"),
    [
        (0.05, "1.690664", "1.707511", ["1.539149", "2.166488"]),
        (0.1, "1.563319", "1.638136", ["1.300648", "2.356815"]),
    ],
)
def test_loops_of_the_paper(sd, mean, median, quantiles) -> None:
    # The seed is set once, before the single draw; the loop goes on from there.
    random = RRandom(766)
    draw_tables(random, 1, DIFFERENCE, sd)
    bias = as_coded(draw_tables(random, 10_000, DIFFERENCE, sd))[2]
    assert f"{bias.mean():.7g}" == mean
    assert f"{np.median(bias):.7g}" == median
    # R's default quantile is type 7, numpy's "linear". The paper says 27.5 % where it means 2.5 %.
    got = np.quantile(bias, [0.275, 0.975], method="linear")
    assert [f"{value:.7g}" for value in got] == quantiles


def test_scalar_mean_and_sd_scale_the_draws() -> None:
    z = RRandom(7).rnorm(20)
    np.testing.assert_array_equal(RRandom(7).rnorm(20, 0.1, 0.05), 0.1 + 0.05 * z)


def test_the_stream_goes_on() -> None:
    whole = RRandom(9).rnorm(700)
    random = RRandom(9)
    parts = np.concatenate([random.rnorm(1), random.rnorm(0), random.rnorm(399), random.rnorm(300)])
    np.testing.assert_array_equal(parts, whole)
    other = RRandom(9)
    other.runif(2)
    assert other.rnorm(1)[0] == whole[1]


def test_no_spread_takes_nothing_from_the_stream() -> None:
    random = RRandom(9)
    np.testing.assert_array_equal(random.rnorm(3, mean=2.5, sd=0), [2.5, 2.5, 2.5])
    assert random.rnorm(1)[0] == RRandom(9).rnorm(1)[0]


def test_negative_seeds_differ_from_positive_ones() -> None:
    # R takes the seed as a 32-bit word, in which -1 is 4294967295.
    assert RRandom(-1).runif(1)[0] != RRandom(1).runif(1)[0]
    assert RRandom(np.int64(5)).runif(1)[0] == RRandom(5).runif(1)[0]


def test_uniforms_stay_inside_the_open_interval() -> None:
    uniforms = RRandom(3).runif(200_000)
    assert 0 < uniforms.min() < 1e-4
    assert 1 - 1e-4 < uniforms.max() < 1
    assert abs(uniforms.mean() - 0.5) < 0.003


def test_qnorm_agrees_with_another_implementation_of_as241() -> None:
    # Python's statistics module carries the same algorithm; centre, tail and far tail are all met.
    p = np.concatenate(
        [np.linspace(0.001, 0.999, 997), 10.0 ** -np.arange(4, 300), 1 - 10.0 ** -np.arange(4, 16)]
    )
    expected = [NormalDist().inv_cdf(value) for value in p]
    np.testing.assert_allclose(qnorm(p), expected, rtol=4e-16, atol=0)


def test_qnorm_keeps_the_shape_and_knows_the_ends() -> None:
    assert qnorm(0.5).shape == ()
    np.testing.assert_array_equal(qnorm([[0.0, 1.0]]), [[-np.inf, np.inf]])


@pytest.mark.parametrize("seed", [1.5, True, 2**31, -(2**31), "123", None])
def test_seeds_r_does_not_take_are_refused(seed) -> None:
    with pytest.raises(InputError, match="seed: must be a whole number from -2147483647 to"):
        RRandom(seed)


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(InputError, match="n: must be a whole number of at least 0"):
        RRandom(1).runif(-1)
    with pytest.raises(InputError, match="n: must be a whole number of at least 0"):
        RRandom(1).rnorm(2.0)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="sd: must be a finite number of at least 0"):
        RRandom(1).rnorm(1, sd=-0.1)
    with pytest.raises(InputError, match="mean: must be a finite number; found: nan"):
        RRandom(1).rnorm(1, mean=float("nan"))
    with pytest.raises(InputError, match=r"not a probability; found: 1\.5"):
        qnorm([0.2, 1.5])
    with pytest.raises(InputError, match="not a probability; found: nan"):
        qnorm(float("nan"))
