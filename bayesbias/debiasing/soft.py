"""Soft debiasing: a linear map that weighs leaving the subspace against keeping inner products.

The map T of Bolukbasi et al. (2016, arXiv:1607.06520) and Manzini et al. (2019,
arXiv:1904.04047), which minimizes ``|(TW)'(TW) - W'W|^2 + lam |(TN)'(TB)|^2``: inner products of
the vocabulary W are to stay, the neutralized words N are to leave the subspace B.
"""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import FitError, InputError
from bayesbias.core.progress import ticking
from bayesbias.debiasing.subspace import Debiased, prepare, with_account
from bayesbias.wordlists.wordlist import WordList

__all__ = ["LAM", "soft_debias"]

LAM = 0.2
"""The published weight of leaving B against keeping inner products (Bolukbasi et al., appendix)."""
_STIFFEST = 1e6
"""The largest ratio of the two curvatures.

What is beyond is nearer to the limit than the solver's accuracy.
"""
_HARDLY = 0.95  # of the length in B left: what a reader would call nothing done


def soft_debias(
    embedding: Any,
    wordlist: str | os.PathLike[str] | Mapping[str, Any] | WordList | None = None,
    *,
    lam: float = LAM,
    sets: Iterable[Sequence[str]] | None = None,
    k: int | None = None,
    neutralize: str | Sequence[str] = "attributes",
) -> Debiased:
    """Apply one linear map that weighs keeping the vectors against leaving B.

    Parameters
    ----------
    embedding, wordlist, sets, k, neutralize
        As in `hard_debias`.
    lam : float >= 0
        Weight of taking the neutralized words out of B. The published 0.2 is against the *sum*
        over all pairs of the vocabulary, so that it removes less in a large vocabulary: with some
        thousand words it removes next to nothing; try 1000. A note says so if more than 95 % is
        left.

    Returns
    -------
    Debiased
        Vectors ``Tw / |Tw|``. T is determined up to a rotation, which changes no cosine; the
        symmetric one is taken.

    Raises
    ------
    InputError
        As `hard_debias`; also if `lam` is negative or nothing is neutralized.

    Notes
    -----
    The problem is convex in ``A = T'T``, positive semidefinite: ``|W'(A - I)W|^2 + lam
    |N'AB|^2``. The first term needs of the vocabulary only ``S = WW'``, d by d, and with ``X =
    S^(1/2) A S^(1/2)`` becomes ``|X - S|^2``; outside the span of the vocabulary A stays I. The
    optimum without the bound on A has a closed form, one linear system of d times k numbers,
    since B has k dimensions only. Where that X is positive semidefinite it is the answer; else
    accelerated projected gradients go on from there until X is at most 1e-12 of its size away
    from the optimum, or 1e-14 times the ratio of the two curvatures where that is more. That
    ratio bounds `lam`: beyond a million, rounding would decide.

    Examples
    --------
    >>> vectors = {"he": [1, 0.2], "she": [-1, 0.4], "nurse": [-0.5, 1], "day": [0.3, 1]}
    >>> result = soft_debias(vectors, sets=[["he", "she"]], neutralize=["nurse"], lam=1)
    >>> result.settings["solver"], result.settings["kept_in_subspace"] < 1
    ('closed form', True)
    """
    checks.within(lam, "lam", 0, math.inf)
    job = prepare(embedding, wordlist, sets, k, neutralize)
    if not job.neutralized:
        raise InputError("expected words to neutralize, got none", where="neutralize")
    mine = [job.row[word] for word in job.neutralized]
    transform, solved = _soft_map(job.unit, job.unit[mine], job.basis, float(lam))
    out = job.unit @ transform.T
    length = np.linalg.norm(out, axis=1, keepdims=True)
    if length.min() < 1e-8:
        word = job.embedding.words[int(length.argmin())]
        raise FitError(f"lam: the map leaves nothing of the vector of {word!r}; take a smaller one")
    out = out / length
    was, left = (float(np.linalg.norm(v[mine] @ job.basis.T)) for v in (job.unit, out))
    share = left / was if was else 1.0
    note = f"the neutralized words keep {share:.2%} of their length in the subspace"
    if share > _HARDLY:
        note += ": hardly anything was removed; try a larger lam"
    settings = {"lam": float(lam), **solved, "kept_in_subspace": share}
    return with_account(job, out, "soft", (), [*job.notes, note], settings)


def _soft_map(
    unit: np.ndarray, neutral: np.ndarray, basis: np.ndarray, lam: float
) -> tuple[np.ndarray, dict[str, Any]]:
    """Return the symmetric map T, shape (d, d), and what the solver did; see `soft_debias`."""
    d = unit.shape[1]
    _, sizes, axes = np.linalg.svd(np.linalg.qr(unit, mode="r"))
    kept = sizes > 1e-10 * sizes[0]
    sizes, axes = sizes[kept], axes[: len(sizes)][kept]
    scaled, s = (neutral @ axes.T) / sizes, np.diag(sizes**2)
    _, strength, e = np.linalg.svd((basis @ axes.T) / sizes, full_matrices=False)
    p, g = scaled.T @ scaled, strength**2
    pull = float(np.linalg.norm(p, 2) * g.max())
    if lam * pull > _STIFFEST:
        valid = f"0 to {_STIFFEST / pull:.2g} for these vectors"
        problem = "is more than double precision allows"
        raise InputError(problem, where="lam", found=lam, valid=valid)
    x = _unbounded(s, p, g, e, lam)
    least = float(np.linalg.eigvalsh(x)[0])
    solver, steps = "closed form", 0
    if least < -1e-10 * float(sizes[0]) ** 2:
        x, steps = _bounded(x, s, p, (e.T * g) @ e, lam)
        solver = "accelerated projected gradients"
    a = x / np.outer(sizes, sizes)
    values, vectors = np.linalg.eigh((a + a.T) / 2)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    solved = {"solver": solver, "steps": steps, "kept_dimensions": int(kept.sum())}
    return np.eye(d) + axes.T @ (root - np.eye(len(sizes))) @ axes, solved


def _unbounded(
    s: np.ndarray, p: np.ndarray, g: np.ndarray, e: np.ndarray, lam: float
) -> np.ndarray:
    """Minimize ``|X - S|^2 + lam tr(X P X Q)`` over symmetric X, in closed form.

    Here ``Q = sum g_j e_j e_j'``.

    The optimum is ``X = S - lam/2 (P X Q + Q X P)``, which needs X on the few e_j only: ``y_j = X
    e_j``.
    """
    k, r = e.shape
    half, pe = lam / 2, p @ e.T
    matrix = np.zeros((k, r, k, r))
    for i in range(k):
        matrix[i, :, i, :] += np.eye(r) + half * g[i] * p
        for j in range(k):
            matrix[i, :, j, :] += half * g[j] * np.outer(e[j], pe[:, i])
    right = (s @ e.T).T.ravel()
    y = np.linalg.solve(matrix.reshape(k * r, k * r), right).reshape(k, r)
    part = (p @ y.T * g) @ e
    return s - half * (part + part.T)


def _bounded(
    x: np.ndarray, s: np.ndarray, p: np.ndarray, q: np.ndarray, lam: float, most: int = 50_000
) -> tuple[np.ndarray, int]:
    """Minimize the same over positive semidefinite X.

    By accelerated projected gradients with restarts.
    """
    curvature = 1 + lam * float(np.linalg.norm(p, 2) * np.linalg.norm(q, 2))
    step, size = 1 / curvature, float(np.linalg.norm(s))
    # The first term grows with the square of the way from the optimum, so that X is at most twice
    # `off` away from it.
    accuracy = max(1e-12, 1e-14 * curvature)

    def projected(m: np.ndarray) -> np.ndarray:
        values, vectors = np.linalg.eigh((m + m.T) / 2)
        return (vectors * np.maximum(values, 0.0)) @ vectors.T

    x = previous = projected(x)
    momentum = 1.0
    with ticking("steps of soft debiasing, at most", most) as tick:
        for count in range(1, most + 1):
            following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead = x + (momentum - 1) / following * (x - previous)
            part = p @ ahead @ q
            gradient = ahead - s + lam / 2 * (part + part.T)
            new = projected(ahead - step * gradient)
            restart = float(np.sum((ahead - new) * (new - x))) > 0
            off = curvature * float(np.linalg.norm(ahead - new))
            previous, x, momentum = (new, new, 1.0) if restart else (x, new, following)
            if off < accuracy * size:
                return x, count
            tick(1)
    raise FitError(f"lam: no convergence in {most:,} steps with {lam:g}; try a smaller lam")
