"""Hard and soft debiasing.

**Hard** (Bolukbasi et al. 2016, arXiv:1607.06520, section 6, for two classes; Manzini et al. 2019,
arXiv:1904.04047, section 2, for several): all vectors get length 1. Neutralized words lose their
part in the subspace B and get length 1 again; the words of a set are made to differ only inside
B, all with the same length there.

**Soft** (the same papers): a linear map T that minimizes ``|(TW)'(TW) - W'W|^2 + lam
|(TN)'(TB)|^2``: inner products of the vocabulary W are to stay, the neutralized words N are to
leave the subspace B.

*Definitional sets* are words that differ in the protected class only, such as he and she, or
church, mosque and synagogue. The differences within the sets span the subspace B. Only projections
on B are used, never its basis vectors, so that their signs and order cannot matter.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bayesbias.core import FitError, InputError, checks, files, number_of, some
from bayesbias.core.progress import ticking
from bayesbias.embeddings.embedding import Embedding, digest_of_vectors, units
from bayesbias.embeddings.loading import load_embedding
from bayesbias.embeddings.spelling import (
    matched_spellings,
    notes_of_spellings,
    without_notes_of_words,
)
from bayesbias.wordlists.listfile import Source, load_wordlist
from bayesbias.wordlists.wordlist import WordList, Words

_EQUAL = 1e-10  # a set whose words differ by less than this outside B is equal already
type Sets = tuple[Words, ...]
"""Definitional sets of words."""
LAM = 0.2
"""The published weight of leaving B against keeping inner products (Bolukbasi et al., appendix)."""
_STIFFEST = 1e6
"""The largest ratio of the two curvatures.

What is beyond is nearer to the limit than the solver's accuracy.
"""
_HARDLY = 0.95  # of the length in B left: what a reader would call nothing done
_SAME = 1e-9  # a vector of length 1 that moved by less than this did not change
_TIED = 1e-9  # singular values closer than this, relative to the first, leave it undetermined


@dataclass(frozen=True, eq=False)
class Debiased:
    """Debiased vectors, and what was done to them.

    Attributes
    ----------
    embedding : Embedding
        The new vectors, float64, of length 1; write them with `save_embedding`.
    method : {"hard", "soft"}
    subspace : ndarray, shape (k, d)
        An orthonormal basis of B. Signs mean nothing.
    explained : ndarray, shape (k,)
        Share of the variance within the definitional sets that lies along each component.
    sets : tuple of tuple of str
        The definitional sets that were used.
    equalized : tuple of tuple of str
        The sets as they were equalized; none for the soft method.
    neutralized : tuple of str
    changed, unchanged : tuple of str
        Words whose vector has another direction than before, and words whose vector has not.
    settings : Mapping
        The arguments, and for the soft method what its solver did.
    notes : tuple of str
        What a reader should know.

    Examples
    --------
    >>> from bayesbias import hard_debias
    >>> result = hard_debias(
    ...     {"he": [1, 0.2], "she": [-1, 0.4], "nurse": [-0.5, 1]},
    ...     sets=[["he", "she"]],
    ...     neutralize=["nurse"],
    ... )
    >>> result
    Debiased: mapping, hard debiasing
      1 word neutralized, 1 set equalized; 1 of 3 vectors changed
      subspace: 1 component, 100% of the variance within 1 set
    >>> np.round(result.embedding.vectors @ result.embedding["nurse"], 3)
    array([0.285, 0.285, 1.   ])
    """

    embedding: Embedding
    method: str
    subspace: np.ndarray
    explained: np.ndarray
    sets: Sets
    equalized: Sets
    neutralized: Words
    changed: Words
    unchanged: Words
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        components = number_of(len(self.subspace), "component")
        words, sets = number_of(len(self.neutralized), "word"), number_of(len(self.sets), "set")
        total, composed = len(self.changed) + len(self.unchanged), len(self.embedding.composed)
        pieces = f"\n  {composed:,} listed words built from subwords" if composed else ""
        return (
            f"Debiased: {self.settings.get('of', 'vectors')}, {self.method} debiasing\n"
            f"  {words} neutralized, {number_of(len(self.equalized), 'set')} equalized; "
            f"{len(self.changed):,} of {total:,} vectors changed\n"
            f"  subspace: {components}, {self.explained.sum():.0%} of the variance within {sets}"
            f"{pieces}"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the result without the vectors as plain dictionaries and lists, for JSON."""
        names = ("method", "explained", "subspace", "sets", "equalized", "neutralized")
        out = {name: files.plain(getattr(self, name)) for name in (*names, "settings", "notes")}
        counts = {"n_changed": len(self.changed), "n_unchanged": len(self.unchanged)}
        return {**out, **counts, "unchanged": list(self.unchanged[:100])}


def hard_debias(
    embedding: Any,
    wordlist: Source | WordList | None = None,
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
    equalized: Sets = ()
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


def _to_equalize(sets: Sequence[Words], overlap: str) -> tuple[Sets, list[str]]:
    """Return the sets as they are equalized, without shared words, and the steps taken."""
    if overlap == "last":
        last = {word: i for i, group in enumerate(sets) for word in group}
        lost = [any(last[word] != i for word in group) for i, group in enumerate(sets)]
        broken = ["/".join(group) for group, gone in zip(sets, lost, strict=True) if gone]
        note = f"equal no more, since a later set took words of them: {', '.join(broken)}"
        return tuple(sets), [note] if broken else []
    merged: list[Words] = []
    for group in sets:
        touching = [other for other in merged if set(other) & set(group)]
        merged = [other for other in merged if other not in touching]
        merged.append(tuple(dict.fromkeys(word for part in (*touching, group) for word in part)))
    large = [" / ".join(group) for group in merged if group not in sets]
    note = f"sets that share words were equalized as one: {'; '.join(large)}"
    return tuple(merged), [note] if large else []


def _equalized(vectors: np.ndarray, basis: np.ndarray, group: Words) -> np.ndarray:
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
            "the middle of its set",
            where=f"set {'/'.join(group)}",
            hint="take more components (k), or leave the word out of its set",
        )
    return common + np.sqrt(max(0.0, 1.0 - float(common @ common))) * apart / length


def soft_debias(
    embedding: Any,
    wordlist: Source | WordList | None = None,
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


# -- what both methods share -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Prepared:
    """What a method works on."""

    embedding: Embedding
    unit: np.ndarray  # (n, d), float64, of length 1
    row: Mapping[str, int]
    basis: np.ndarray  # (k, d)
    explained: np.ndarray
    sets: Sets
    neutralized: Words
    settings: Mapping[str, Any]
    notes: tuple[str, ...]


def prepare(
    embedding: Any,
    wordlist: Any,
    sets: Iterable[Sequence[str]] | None,
    k: int | None,
    neutralize: str | Sequence[str],
) -> Prepared:
    """Check the words, find their rows, and take the subspace of the ``k`` leading directions."""
    words = None if wordlist is None else load_wordlist(wordlist)
    listed = _definitional_sets(words, sets)
    own = [] if isinstance(neutralize, str) else checks.words(neutralize, "neutralize")
    wanted = dict.fromkeys([*(words.words if words else ()), *itertools.chain(*listed), *own])
    vectors = load_embedding(embedding)
    held = set(vectors.words)
    lacking = [word for word in wanted if word not in held]
    if lacking and vectors.lookup is not None:  # an open vocabulary makes words from tokens
        extra = vectors.lookup(lacking)
        held |= set(extra.words)
        vectors = replace(
            vectors,
            words=(*vectors.words, *extra.words),
            vectors=np.concatenate([vectors.vectors, extra.vectors]),
            composed=(*vectors.composed, *extra.composed),
            matched={**vectors.matched, **extra.matched},
            misspelled={**vectors.misspelled, **extra.misspelled},
        )
    # A wanted word that is there in another spelling is that word, not a second one.
    spelling = matched_spellings(wanted, held)
    row = {word: i for i, word in enumerate(vectors.words)}
    unit = units(vectors.vectors, vectors.name)
    taken = {word: vectors.matched.get(held, held) for word, held in spelling.items()}
    notes = [*notes_of_spellings(taken), *without_notes_of_words(vectors.notes)]
    present = []
    for group in listed:
        known = tuple(dict.fromkeys(spelling[word] for word in group if word in spelling))
        lost = ", ".join(word for word in group if word not in spelling)
        if lost:
            use = "is used without" if len(known) > 1 else "is left out, for want of"
            notes.append(f"the definitional set {'/'.join(group)} {use} {lost}")
        if len(known) > 1:
            present.append(known)
    if not present:
        found = "; ".join("/".join(group) for group in listed[:4])
        problem = "expected a definitional set with two words in the vocabulary"
        raise InputError(problem, where=f"embedding {vectors.name!r}", found=found)
    basis, explained = _subspace(unit, row, present, k)
    neutral = _neutralized(neutralize, words, vectors, spelling, present, notes)
    settings = {
        "of": vectors.name,
        "k": len(basis),
        "neutralize": neutralize if isinstance(neutralize, str) else "words of one's own",
        "wordlist": None if words is None else {"name": words.name, "sha256": words.sha256},
        "normalized_first": True,
    }
    return Prepared(
        vectors, unit, row, basis, explained, tuple(present), neutral, settings, tuple(notes)
    )


def _definitional_sets(words: WordList | None, sets: Iterable[Sequence[str]] | None) -> Sets:
    if sets is None:
        if words is None or not words.definitional_sets:
            raise InputError(
                "expected definitional sets, got none",
                where=words.origin if words else None,
                valid="a word list with definitional_sets, or in Python sets=[[...], ...]",
            )
        return words.definitional_sets
    out = tuple(tuple(checks.words(group, "sets")) for group in checks.several(sets, "sets"))
    for group in out:
        if len(group) < 2 or len(set(group)) < len(group):
            problem = "expected two or more different words in each definitional set"
            raise InputError(problem, where="sets", found=group)
    return out


def _subspace(
    unit: np.ndarray, row: Mapping[str, int], sets: Sequence[Words], k: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return a basis of the first k principal directions, and what they explain.

    The basis is orthonormal, of the directions within the sets.
    """
    parts = []
    for group in sets:
        vectors = unit[[row[word] for word in group]]
        parts.append((vectors - vectors.mean(axis=0)) / np.sqrt(len(group)))
    _, lengths, directions = np.linalg.svd(np.concatenate(parts), full_matrices=False)
    rank = int((lengths > 1e-10).sum())  # of vectors of length 1
    if rank == 0:
        problem = "expected words with different vectors in a definitional set, got one vector"
        raise InputError(problem, where="sets")
    if k is None:
        k = min(max(map(len, sets)) - 1, rank)
    k = checks.count(k, "k", most=rank)
    if k < rank and lengths[k - 1] - lengths[k] < _TIED * lengths[0]:
        problem = (
            f"expected components that explain different shares, got the same of {k} and {k + 1}"
        )
        raise InputError(problem, where="k", hint="take one more or one less")
    basis = directions[:k]
    # LAPACK is free to turn the signs; one of the two is chosen, for accounts that can be compared.
    signs = np.sign(basis[np.arange(k), np.abs(basis).argmax(axis=1)])
    return basis * signs[:, None], lengths[:k] ** 2 / np.sum(lengths**2)


def _neutralized(
    neutralize: str | Sequence[str],
    words: WordList | None,
    vectors: Embedding,
    spelling: Mapping[str, str],
    sets: Sequence[Words],
    notes: list[str],
) -> Words:
    in_sets = {word for group in sets for word in group}
    if not isinstance(neutralize, str):
        lacking = [word for word in neutralize if word not in spelling]
        if lacking:
            problem = "expected words to neutralize that are in the vocabulary"
            raise InputError(problem, where=f"embedding {vectors.name!r}", found=some(lacking))
        return tuple(dict.fromkeys(spelling[word] for word in neutralize))
    if neutralize == "all_others":
        protected = words.protected_words if words else ()
        kept = in_sets | {spelling.get(word, word) for word in protected}
        return tuple(word for word in vectors.words if word not in kept)
    checks.choice(neutralize, ("attributes", "all_others"), "neutralize")
    if words is None:
        problem = "expected 'all_others' or words without a word list, got 'attributes'"
        raise InputError(problem, where="neutralize")
    if lost := [word for word in words.attribute_words if word not in spelling]:
        notes.append(f"not in the vocabulary, so not neutralized: {', '.join(lost)}")
    known = dict.fromkeys(spelling[word] for word in words.attribute_words if word in spelling)
    if held := [word for word in known if word in in_sets]:
        notes.append(f"in a definitional set, so not neutralized: {', '.join(held)}")
    return tuple(word for word in known if word not in in_sets)


def with_account(
    job: Prepared,
    out: np.ndarray,
    method: str,
    equalized: Sets,
    notes: list[str],
    settings: Mapping[str, Any],
) -> Debiased:
    """Return new vectors with what was done."""
    moved = np.linalg.norm(out - job.unit, axis=1) > _SAME
    source = job.embedding
    words = np.array(source.words, dtype=object)
    everything = {**job.settings, **settings}
    embedding = replace(
        source,
        name=f"{source.name} ({method} debiased)",
        vectors=out,
        provenance={
            "source": f"{method} debiasing of {source.name}",
            "format": f"{method} debiased",
            "original": dict(source.provenance),
            "settings": everything,
            "dim": int(out.shape[1]),
            "count": len(out),
            "sha256": None,
            "sha256_vectors": digest_of_vectors(source.words, out),
        },
        lookup=None,
    )
    return Debiased(
        embedding=embedding,
        method=method,
        subspace=job.basis,
        explained=job.explained,
        sets=job.sets,
        equalized=equalized,
        neutralized=job.neutralized,
        changed=tuple(words[moved]),
        unchanged=tuple(words[~moved]),
        settings=everything,
        notes=tuple(notes),
    )
