"""What the sampler calls through C: the log-density of `bayesbias.inference.kernel` in the coordinates that it moves in."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numba import carray, types

from bayesbias.inference.coordinates import Coordinates
from bayesbias.inference.kernel import log_density
from bayesbias.inference.kernel_compiling import callback, compiled

_ARRAYS = 17  # the arguments of `log_density` between `theta` and `grad`
_FLOATS = (1, 2, 3, 4, 6, 11, 15)  # which of them hold no whole numbers
_TURN, _PAIRS, _ROOT, _SHAPES, _LEFT, _RIGHT = range(_ARRAYS, _ARRAYS + 6)  # what the coordinates need
_PARTS = _RIGHT + 1
_BENT_FROM, _BENT_BY = 1.5, 0.5  # scores beyond are drawn in, as the logarithm does
_HEAD = 1 + 2 * _PARTS


def packed(arrays: Sequence[np.ndarray], coordinates: Coordinates) -> np.ndarray:
    """Return the block of words that the callbacks read.

    Parameters
    ----------
    arrays : sequence of ndarray
        The arguments of `log_density` between `theta` and `grad`.
    coordinates : Coordinates
    """
    parts = [
        *arrays,
        coordinates.turn,
        np.array(coordinates.pairs, dtype=np.int64),
        coordinates.root,
        coordinates.shapes,
        coordinates.left,
        coordinates.right,
    ]
    assert len(parts) == _PARTS
    lengths = np.array([part.size for part in parts])
    starts = _HEAD + np.concatenate([[0], np.cumsum(lengths)[:-1]])
    out = np.zeros(_HEAD + int(lengths.sum()), dtype=np.int64)
    out[0] = len(out)
    out[1:_HEAD:2], out[2:_HEAD:2] = starts, lengths
    for place, (start, part) in enumerate(zip(starts, parts, strict=True)):
        real = place in _FLOATS or (place >= _ARRAYS and place != _PAIRS)
        assert part.dtype == (np.float64 if real else np.int64)
        out[start : start + part.size] = np.ascontiguousarray(part).ravel().view(np.int64)
    return out


@compiled
def _packed_log_density(theta: np.ndarray, words: np.ndarray, numbers: np.ndarray, grad: np.ndarray) -> float:
    def whole(k: int) -> np.ndarray:
        return words[words[1 + 2 * k] : words[1 + 2 * k] + words[2 + 2 * k]]

    def real(k: int) -> np.ndarray:
        return numbers[words[1 + 2 * k] : words[1 + 2 * k] + words[2 + 2 * k]]

    return log_density(
        theta,
        whole(0),
        real(1),
        real(2),
        real(3),
        real(4),
        whole(5),
        real(6),
        whole(7),
        whole(8),
        whole(9),
        whole(10),
        real(11),
        whole(12),
        whole(13),
        whole(14),
        real(15),
        whole(16),
        grad,
    )


@compiled
def _real(words: np.ndarray, numbers: np.ndarray, k: int) -> np.ndarray:
    return numbers[words[1 + 2 * k] : words[1 + 2 * k] + words[2 + 2 * k]]


@compiled
def _theta_of(
    words: np.ndarray,
    numbers: np.ndarray,
    at: np.ndarray,
    straight: np.ndarray,
    slopes: np.ndarray,
    bends: np.ndarray,
    theta: np.ndarray,
) -> float:
    """Write the logarithms of the scales, and what leads there; return the logarithm of the volume.

    `straight` are the coordinates of `bayesbias.inference.straight`, `slopes` their derivatives with respect to the normal
    scores, and `bends` the derivatives of the logarithms of these.
    """
    n = at.shape[0]
    turn, root, shapes = (
        _real(words, numbers, _TURN),
        _real(words, numbers, _ROOT),
        _real(words, numbers, _SHAPES),
    )
    left, right = _real(words, numbers, _LEFT), _real(words, numbers, _RIGHT)
    start, n_pairs = words[1 + 2 * _PAIRS], words[2 + 2 * _PAIRS] // 2
    volume = 0.0
    if shapes.shape[0] == 0:
        for k in range(
            n
        ):  # a slice that is filled from another compiles a message for where their lengths differ
            straight[k] = at[k]
    else:
        n_left, width = left.shape[0], 2 + left.shape[0] + right.shape[0]
        product = 1.0
        for k in range(n):
            z = 0.0
            for r in range(k + 1):
                z += root[k * n + r] * at[r]
            # To the right the prior of a spread falls ever more steeply: steps become shorter there.
            far = max(z - _BENT_FROM, 0.0)
            shrunk = 1.0 / (1.0 + _BENT_BY * far)
            z = min(z, _BENT_FROM) - math.log(shrunk) / _BENT_BY
            own = shapes[k * width : (k + 1) * width]
            value, slope, bend = own[0] + own[1] * z, own[1], 0.0
            for c in range(n_left):
                by = z - left[c]
                if by < 0.0:
                    value -= own[2 + c] * by * by
                    slope -= 2.0 * own[2 + c] * by
                    bend -= 2.0 * own[2 + c]
            for c in range(right.shape[0]):
                by = z - right[c]
                if by > 0.0:
                    value += own[2 + n_left + c] * by * by
                    slope += 2.0 * own[2 + n_left + c] * by
                    bend += 2.0 * own[2 + n_left + c]
            straight[k] = value
            bends[k] = (bend / slope - (_BENT_BY if far > 0.0 else 0.0)) * shrunk
            slope *= shrunk
            slopes[k] = slope
            product *= slope
            if not 1e-100 < product < 1e100:
                volume += math.log(product)
                product = 1.0
        volume += math.log(product)
    turned = straight.copy()
    for p in range(n_pairs - 1, -1, -1):
        a, b = words[start + 2 * p], words[start + 2 * p + 1]
        u = straight[b]
        # The cosine as the sine of the rest, which is exact where it is small.
        log_cos = math.log(math.sin(0.25 * math.pi * math.erfc(u * math.sqrt(0.5))))
        log_sin = math.log(math.sin(0.25 * math.pi * math.erfc(-u * math.sqrt(0.5))))
        turned[b] = turned[a] + log_sin
        turned[a] += log_cos
        volume += 0.5 * math.log(math.pi / 8.0) - log_cos - log_sin - 0.5 * u * u
    for r in range(n):
        total = 0.0
        for k in range(n):
            total += turn[r * n + k] * turned[k]
        theta[r] = total
    return volume


@compiled
def _slope_back(
    words: np.ndarray,
    numbers: np.ndarray,
    straight: np.ndarray,
    slopes: np.ndarray,
    bends: np.ndarray,
    grad: np.ndarray,
    out: np.ndarray,
) -> None:
    """Turn the gradient with respect to the logarithms of the scales into that of the sampler's coordinates."""
    n = grad.shape[0]
    turn, root = _real(words, numbers, _TURN), _real(words, numbers, _ROOT)
    shaped = words[2 + 2 * _SHAPES] > 0
    start, n_pairs = words[1 + 2 * _PAIRS], words[2 + 2 * _PAIRS] // 2
    own = np.zeros(n)
    for r in range(n):
        for k in range(n):
            own[k] += turn[r * n + k] * grad[r]
    for p in range(n_pairs):
        a, b = words[start + 2 * p], words[start + 2 * p + 1]
        u = straight[b]
        by = math.sqrt(math.pi / 8.0) * math.exp(-0.5 * u * u)  # the derivative of the angle
        tan = math.tan(0.25 * math.pi * math.erfc(-u * math.sqrt(0.5)))
        uphill = (1.0 - own[a]) * tan - (1.0 - own[b]) / tan
        own[a] += own[b]
        own[b] = uphill * by - u
    if not shaped:
        for k in range(n):
            out[k] = own[k]
        return
    out[:] = 0.0
    for k in range(n):
        score = own[k] * slopes[k] + bends[k]
        for r in range(k + 1):
            out[r] += root[k * n + r] * score


_DOUBLES = types.CPointer(types.float64)


@callback(types.int64(types.uint64, _DOUBLES, _DOUBLES, _DOUBLES, types.voidptr))
def logp_callback(n, at_at, grad_at, value_at, data):
    """Give the sampler log density and gradient where it is; 0, or 3 or 4 where one is not finite."""
    head = carray(data, (1,), np.int64)
    words = carray(data, (head[0],), np.int64)
    numbers = carray(data, (head[0],), np.float64)
    theta, own, straight, slopes, bends = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    volume = _theta_of(words, numbers, carray(at_at, (n,)), straight, slopes, bends, theta)
    value = _packed_log_density(theta, words, numbers, own) + volume
    carray(value_at, (1,))[0] = value
    if not math.isfinite(value):
        return 4  # a divergence, as the sampler calls it
    grad = carray(grad_at, (n,))
    _slope_back(words, numbers, straight, slopes, bends, own, grad)
    for t in range(n):
        if not math.isfinite(grad[t]):
            return 3
    return 0


@callback(types.int64(types.uint64, types.uint64, _DOUBLES, _DOUBLES, types.voidptr))
def expand_callback(n, expanded, at_at, out_at, data):
    """Write ``theta``, the draw to be kept."""
    head = carray(data, (1,), np.int64)
    words = carray(data, (head[0],), np.int64)
    numbers = carray(data, (head[0],), np.float64)
    straight, slopes, bends = np.empty(n), np.empty(n), np.empty(n)
    _theta_of(words, numbers, carray(at_at, (n,)), straight, slopes, bends, carray(out_at, (n,)))
    return 0
