"""Hard debiasing: neutralized words leave the subspace, words of a set differ only inside it.

Bolukbasi et al. (2016, arXiv:1607.06520, section 6) for two classes, Manzini et al. (2019,
arXiv:1904.04047, section 2) for several. All vectors get length 1. Neutralized words lose their
part in the subspace B and get length 1 again; the words of a set are made to differ only inside
B, all with the same length there.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import some
from bayesbias.debiasing.subspace import Debiased, prepare, with_account
from bayesbias.wordlists.wordlist import WordList

__all__ = ["hard_debias"]

_EQUAL = 1e-10  # a set whose words differ by less than this outside B is equal already


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
    checks.choice(overlap, ("merge", "last"), "treatment of overlapping sets")
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
            problem = "a word cannot be both neutralized and equalized"
            raise InputError(problem, where="neutralize", found=some(both))
    if rows := [row[word] for word in job.neutralized]:
        rest = unit[rows] - _within(unit[rows], basis)
        # Once more, since the first pass leaves rounding errors of the size of the part taken away.
        rest -= _within(rest, basis)
        length = np.linalg.norm(rest, axis=1)
        gone = [word for word, size in zip(job.neutralized, length, strict=True) if size < 1e-8]
        if gone:
            problem, hint = "some words lie wholly in the subspace", "leave them out"
            raise InputError(problem, where=job.embedding.name, found=some(gone), hint=hint)
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
    joined = 0
    for group in sets:
        touching = [other for other in merged if set(other) & set(group)]
        joined += any(set(other) != set(group) for other in touching)
        merged = [other for other in merged if other not in touching]
        merged.append(tuple(dict.fromkeys(word for part in (*touching, group) for word in part)))
    if not joined:
        return tuple(merged), []
    large = [" / ".join(group) for group in merged if group not in sets]
    return tuple(merged), [f"sets that share words were equalized as one: {'; '.join(large)}"]


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
        problem = f"{group[int(length.argmin())]!r} is the middle of its set within the subspace"
        hint = "take more components (k), or leave the word out of its set"
        raise InputError(problem, where=f"set {'/'.join(group)}", hint=hint)
    return common + np.sqrt(max(0.0, 1.0 - float(common @ common))) * apart / length
