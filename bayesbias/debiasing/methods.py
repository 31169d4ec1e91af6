"""Hard and soft debiasing.

**Hard** (Bolukbasi et al. 2016, arXiv:1607.06520, section 6, for two classes; Manzini et al. 2019,
arXiv:1904.04047, section 2, for several): all vectors get length 1. Neutralized words lose their
part in the subspace B and get length 1 again; the words of a set are made to differ only inside
B, all with the same length there.

**Soft** (the same papers): a linear map T that minimizes ``|(TW)'(TW) - W'W|^2 + lam
|(TN)'(TB)|^2``: inner products of the vocabulary W are to stay, the neutralized words N are to
leave the subspace B.
"""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import FitError, InputError
from bayesbias.core.formatting import some
from bayesbias.core.progress import ticking
from bayesbias.debiasing.subspace import Debiased, prepare, with_account
from bayesbias.wordlists.wordlist import WordList

__all__ = ["LAM", "hard_debias", "soft_debias"]

_EQUAL = 1e-10  # a set whose words differ by less than this outside B is equal already
LAM = 0.2
"""The published weight of leaving B against keeping inner products (Bolukbasi et al., appendix)."""
_STIFFEST = 1e6
"""The largest ratio of the two curvatures.

What is beyond is nearer to the limit than the solver's accuracy.
"""
_HARDLY = 0.95  # of the length in B left: what a reader would call nothing done


def hard_debias(
    embedding: Any,
    wordlist: str | os.PathLike[str] | Mapping[str, Any] | WordList | None = None,
    *,
    sets: Iterable[Sequence[str]] | None = None,
    k: int | None = None,
    neutralize: str | Sequence[str] = "attributes",
    equalize: bool = True,
    overlap: str = "merge",
) -> Debiased:
    """Neutralize words, and equalize the definitional sets.

    Parameters
    ----------
    embedding : Embedding, or anything `load_embedding` reads
        All its words are returned; for an open vocabulary, those of the list as well.
    wordlist : str, path, mapping or WordList, optional
        Gives the definitional sets and the attributes.
    sets : iterable of sequences of str, optional
        Definitional sets instead of those of the list.
    k : int, optional
        Components of the subspace; by default one less than the size of the largest set: 1 for two
        classes (Bolukbasi et al.) and 2 for three (Manzini et al.).
    neutralize : "attributes", "all_others" or sequence of str
        The stereotypes of the list (as in the published tables); every word that is neither
        protected nor in a set; or your own words.
    equalize : bool
        Whether to equalize the sets after neutralizing.
    overlap : {"merge", "last"}
        ``merge`` joins sets that share a word and equalizes the union, so that the order of sets
        does not matter. ``last`` equalizes set by set and lets the last one win, as the published
        race tables do; the notes name sets that are then no longer equal.

    Returns
    -------
    Debiased

    Raises
    ------
    InputError
        If no set has two words in the vocabulary, the sets do not span k components, or a word is
        to be both neutralized and equalized.

    Notes
    -----
    The covariance is that of the words of each set around its mean, each set divided by its size.
    With unit vectors w, ``w_B`` the part in B, and m the mean of a set E: neutralized words
    become ``(w - w_B) / |w - w_B|``, words of E become ``v + sqrt(1 - |v|^2) (w_B - m_B) / |w_B -
    m_B|`` with ``v = m - m_B``. A set that is equal already (one v, and one length in B) is left
    as it is, so that applying the method twice is applying it once.

    Examples
    --------
    >>> import bayesbias as bb
    >>> result = hard_debias("minilm-static", "religion")
    >>> unit = result.embedding.vectors_of(["terrorist", "church", "mosque"])
    >>> (
    ...     bool(np.abs(result.subspace @ unit[0]).max() < 1e-10),
    ...     bool(abs(unit[0] @ (unit[1] - unit[2])) < 1e-10),
    ... )
    (True, True)
    """
    checks.choice(overlap, ("merge", "last"), "overlap")
    job = prepare(embedding, wordlist, sets, k, neutralize)
    unit, row, basis = job.unit, job.row, job.basis
    out = unit.copy()
    equalized: tuple[tuple[str, ...], ...] = ()
    notes = list(job.notes)
    if equalize:
        equalized, of_sets = _to_equalize(job.sets, overlap)
        notes += of_sets
        taken = {word for group in equalized for word in group}
        if both := [word for word in job.neutralized if word in taken]:
            problem = "expected words that are not equalized"
            raise InputError(problem, where="neutralize", found=some(both))
    if rows := [row[word] for word in job.neutralized]:
        rest = unit[rows] - _within(unit[rows], basis)
        # Once more, since the first pass leaves rounding errors of the size of the part taken away.
        rest -= _within(rest, basis)
        length = np.linalg.norm(rest, axis=1)
        gone = [word for word, size in zip(job.neutralized, length, strict=True) if size < 1e-8]
        if gone:
            problem = "expected words to neutralize that do not lie wholly in the subspace"
            raise InputError(problem, where=job.embedding.name, found=some(gone))
        out[rows] = rest / length[:, None]
    for group in equalized:
        mine = [row[word] for word in group]
        out[mine] = _equalized(unit[mine], basis, group)
    settings = {"equalize": equalize, "overlap": overlap}
    return with_account(job, out, "hard", equalized, notes, settings)


def _within(vectors: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Return the part of vectors that lies in the subspace."""
    return (vectors @ basis.T) @ basis


def _to_equalize(
    sets: Sequence[tuple[str, ...]], overlap: str
) -> tuple[tuple[tuple[str, ...], ...], list[str]]:
    """Return the sets as they are equalized, without shared words, and the steps taken."""
    if overlap == "last":
        last = {word: i for i, group in enumerate(sets) for word in group}
        lost = [any(last[word] != i for word in group) for i, group in enumerate(sets)]
        broken = ["/".join(group) for group, gone in zip(sets, lost, strict=True) if gone]
        note = f"equal no more, since a later set took words of them: {', '.join(broken)}"
        return tuple(sets), [note] if broken else []
    merged: list[tuple[str, ...]] = []
    for group in sets:
        touching = [other for other in merged if set(other) & set(group)]
        merged = [other for other in merged if other not in touching]
        merged.append(tuple(dict.fromkeys(word for part in (*touching, group) for word in part)))
    large = [" / ".join(group) for group in merged if group not in sets]
    note = f"sets that share words were equalized as one: {'; '.join(large)}"
    return tuple(merged), [note] if large else []


def _equalized(vectors: np.ndarray, basis: np.ndarray, group: tuple[str, ...]) -> np.ndarray:
    """Make vectors of length 1 differ in the subspace alone, at the same length there."""
    inside = _within(vectors, basis)
    outside = vectors - inside
    sizes = np.linalg.norm(inside, axis=1)
    if np.abs(outside - outside.mean(axis=0)).max() < _EQUAL and np.ptp(sizes) < _EQUAL:
        return vectors
    common = outside.mean(axis=0)
    common -= _within(common, basis)
    apart = inside - inside.mean(axis=0)
    length = np.linalg.norm(apart, axis=1, keepdims=True)
    if length.min() < 1e-8:
        raise InputError(
            f"expected words that differ in the subspace, got {group[int(length.argmin())]!r} in "
            f"the middle of its set",
            where=f"set {'/'.join(group)}",
            hint="take more components (k), or leave the word out of its set",
        )
    return common + np.sqrt(max(0.0, 1.0 - float(common @ common))) * apart / length


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
        If no set has two words in the vocabulary, or `lam` is negative or nothing is neutralized.

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
    note = f"The neutralized words keep {share:.2%} of their length in the subspace"
    if share > _HARDLY:
        note += ": hardly anything was removed. Raise lam"
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
        problem = f"expected at most {_STIFFEST / pull:.2g} for these vectors (double precision)"
        raise InputError(problem, where="lam", found=lam)
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
