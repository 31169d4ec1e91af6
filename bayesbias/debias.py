"""Hard and soft debiasing of word vectors, with an account of what they did.

Both methods start from *definitional sets*: words that differ in the protected class alone, such as he
and she, or church, mosque and synagogue. The differences within the sets span a subspace B.

hard
    Bolukbasi et al. (2016, arXiv:1607.06520, section 6) for two classes, Manzini et al. (2019,
    arXiv:1904.04047, section 2) for several. All vectors are given length 1. Neutralised words lose their part
    in B and are given length 1 again; the words of a set are made to differ inside B alone, all with the same
    length there.
soft
    The linear map T of the same papers, which minimises
    ``|(TW)'(TW) - W'W|^2 + lam |(TN)'(TB)|^2``: inner products of the vocabulary W are to stay, the
    neutralised words N are to leave B.

Only projections on B are used, never its basis vectors, so that their signs and order cannot matter.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesbias._wording import number_of
from bayesbias.embedding import Embedding, _digest, _spellings, load_embedding
from bayesbias.errors import FitError, InputError, nearest
from bayesbias.wordlist import WordList, load_wordlist

__all__ = ["LAM", "Debiased", "hard_debias", "soft_debias"]

LAM = 0.2
"""The published weight of leaving B against keeping inner products (Bolukbasi et al., appendix)."""

_SAME = 1e-9  # a vector of length 1 that moved by less than this did not change
_EQUAL = 1e-10  # a set whose words differ by less than this outside B is equal already
_TIED = 1e-9  # singular values closer than this, relative to the first, leave a subspace undetermined


@dataclass(frozen=True, repr=False)
class Debiased:
    """Debiased vectors and the account of how they came about.

    Attributes
    ----------
    embedding : Embedding
        The new vectors, float64, of length 1; write them with `save_word2vec`.
    method : {"hard", "soft"}
    subspace : ndarray, shape (k, d)
        An orthonormal basis of B. Signs, and the order where two components explain the same, mean nothing.
    explained : ndarray, shape (k,)
        Share of the variance within the definitional sets that lies along each component.
    sets : tuple of tuple of str
        The definitional sets that were used, as far as their words are there.
    equalised : tuple of tuple of str
        The sets as they were equalised; none for the soft method.
    neutralised : tuple of str
    changed, unchanged : tuple of str
        Words whose vector points elsewhere than before, and words whose vector does not. Lengths do not
        count: they are all 1 afterwards.
    settings : Mapping
        The arguments, and for the soft method what its solver did.
    notes : tuple of str

    Examples
    --------
    >>> result = hard_debias({"he": [1, 0.2], "she": [-1, 0.4], "nurse": [-0.5, 1]}, sets=[["he", "she"]],
    ...                      neutralise=["nurse"])
    >>> result
    Debiased: mapping, hard debiased; subspace of 1 component, which explains 100% within 1 set
      1 word neutralised, 1 set equalised; 1 of 3 vectors changed, 2 did not
    >>> np.round(result.embedding.vectors @ result.embedding["nurse"], 3)
    array([0.285, 0.285, 1.   ])
    """

    embedding: Embedding
    method: str
    subspace: np.ndarray
    explained: np.ndarray
    sets: tuple[tuple[str, ...], ...]
    equalised: tuple[tuple[str, ...], ...]
    neutralised: tuple[str, ...]
    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        k, n = len(self.subspace), len(self.sets)
        return (
            f"Debiased: {self.settings.get('of', 'vectors')}, {self.method} debiased; subspace of "
            f"{number_of(k, 'component')}, which {'explains' if k == 1 else 'explain'} {self.explained.sum():.0%} "
            f"within {number_of(n, 'set')}\n"
            f"  {number_of(len(self.neutralised), 'word')} neutralised, {number_of(len(self.equalised), 'set')} equalised; "
            f"{self._changes()}"
        )

    def _changes(self) -> str:
        total = len(self.changed) + len(self.unchanged)
        if not self.unchanged:
            return f"all {total:,} vectors changed"
        if not self.changed:
            return f"none of the {total:,} vectors changed"
        return f"{len(self.changed):,} of {total:,} vectors changed, {len(self.unchanged):,} did not"

    def sentences(self) -> list[str]:
        """Say what was done, one sentence each."""
        out = [self._changes()]
        if 0 < len(self.unchanged) <= 12:
            out.append(f"unchanged: {', '.join(self.unchanged)}")
        out.append(
            f"the subspace of {number_of(len(self.subspace), 'component')} explains {self.explained.sum():.1%} of the "
            f"variance within {number_of(len(self.sets), 'definitional set')}"
        )
        return [*out, *self.notes]

    def as_dict(self) -> dict[str, Any]:
        """Return the account, without the vectors, as plain dictionaries and lists, for JSON."""
        return {
            "method": self.method,
            "explained": [float(v) for v in self.explained],
            "subspace": self.subspace.tolist(),
            "sets": [list(s) for s in self.sets],
            "equalised": [list(s) for s in self.equalised],
            "neutralised": list(self.neutralised),
            "n_changed": len(self.changed),
            "n_unchanged": len(self.unchanged),
            "unchanged": list(self.unchanged[:100]),
            "settings": dict(self.settings),
            "notes": list(self.notes),
        }


def hard_debias(
    embedding: Any,
    wordlist: str | os.PathLike[str] | Mapping[str, Any] | WordList | None = None,
    *,
    sets: Iterable[Sequence[str]] | None = None,
    k: int | None = None,
    neutralise: str | Sequence[str] = "attributes",
    equalise: bool = True,
    overlap: str = "merge",
) -> Debiased:
    """Debias hard: neutralise words, and equalise the definitional sets.

    Parameters
    ----------
    embedding : Embedding, or anything `load_embedding` reads
        All its words come out again; of vectors with an open vocabulary, those of the list as well.
    wordlist : str, path, mapping or WordList, optional
        Gives the definitional sets and the attributes.
    sets : iterable of sequences of str, optional
        Definitional sets in place of those of the list.
    k : int, optional
        Components of the subspace; by default one less than the size of the largest set, which is 1 for two
        classes (Bolukbasi et al.) and 2 for three (as the published religion and race tables were made).
    neutralise : "attributes", "all_others" or sequence of str
        The stereotypes of the list (as in the published tables); every word that is neither protected nor in a
        set; or words of your own.
    equalise : bool
    overlap : {"merge", "last"}
        What becomes of a word in several sets. ``merge`` joins sets that share a word and equalises the
        union, so that the promise holds for every set and their order does not matter. ``last`` equalises set
        by set and lets the last one win, as the published race tables do; sets whose words were taken by a
        later one are then equal no more, which the notes say.

    Returns
    -------
    Debiased

    Raises
    ------
    InputError
        Where no set has two words in the vocabulary, or the sets do not span k components, or a word is to
        be both neutralised and equalised.

    Notes
    -----
    The covariance is that of the words of each set around its mean, each set divided by its size. With unit
    vectors w, ``w_B`` the part in B, and m the mean of a set E: neutralised words become
    ``(w - w_B) / |w - w_B|``, words of E become ``v + sqrt(1 - |v|^2) (w_B - m_B) / |w_B - m_B|`` with
    ``v = m - m_B``. A set that is equal already (one v, and one length in B) is left as it is: with three
    classes and more the formula would turn its words once more, and applying the method twice would not be
    applying it once.

    Examples
    --------
    >>> import bayesbias as bb
    >>> result = hard_debias("minilm-static", "religion")
    >>> unit = result.embedding.vectors_of(["terrorist", "church", "mosque"])
    >>> bool(np.abs(result.subspace @ unit[0]).max() < 1e-10), bool(abs(unit[0] @ (unit[1] - unit[2])) < 1e-10)
    (True, True)
    """
    if overlap not in ("merge", "last"):
        raise InputError("unknown treatment of overlapping sets", found=overlap, valid=("merge", "last"))
    job = _prepared(embedding, wordlist, sets, k, neutralise)
    unit, row, basis = job.unit, job.row, job.basis
    out = unit.copy()
    equalised: tuple[tuple[str, ...], ...] = ()
    notes = list(job.notes)
    if equalise:
        equalised, said = _to_equalise(job.sets, overlap)
        notes += said
        taken = {word for group in equalised for word in group}
        both = [word for word in job.neutralised if word in taken]
        if both:
            raise InputError(
                "a word cannot be neutralised and equalised both",
                where="neutralise",
                found=", ".join(both[:12]),
                valid="words outside the definitional sets, or equalise=False",
            )
    rows = [row[word] for word in job.neutralised]
    if rows:
        rest = unit[rows] - _within(unit[rows], basis)
        # Once more, since the first pass leaves rounding errors of the size of the part taken away.
        rest -= _within(rest, basis)
        length = np.linalg.norm(rest, axis=1)
        gone = [word for word, size in zip(job.neutralised, length, strict=True) if size < 1e-8]
        if gone:
            raise InputError(
                "some words lie in the subspace whole, so that neutralising leaves nothing of them",
                where=f"embedding {job.embedding.name!r}", found=", ".join(gone[:12]), hint="leave them out",
            )  # fmt: skip
        out[rows] = rest / length[:, None]
    for group in equalised:
        mine = [row[word] for word in group]
        out[mine] = _equalised(unit[mine], basis, group)
    return _account(job, out, "hard", equalised, notes, {"equalise": equalise, "overlap": overlap})


def soft_debias(
    embedding: Any,
    wordlist: str | os.PathLike[str] | Mapping[str, Any] | WordList | None = None,
    *,
    lam: float = LAM,
    sets: Iterable[Sequence[str]] | None = None,
    k: int | None = None,
    neutralise: str | Sequence[str] = "attributes",
) -> Debiased:
    """Debias softly: one linear map of all vectors, between keeping them and taking words out of B.

    Parameters
    ----------
    embedding, wordlist, sets, k, neutralise
        As in `hard_debias`.
    lam : float >= 0
        Weight of taking the neutralised words out of B. The published 0.2 is against the *sum* over all pairs
        of the vocabulary, so that the same number does less in a large vocabulary than in a small one.

    Returns
    -------
    Debiased
        Vectors ``Tw / |Tw|``. T is determined up to a rotation, which changes no cosine; the symmetric one is
        taken.

    Raises
    ------
    InputError
        As `hard_debias`; also for a negative `lam` and where nothing is neutralised.

    Notes
    -----
    The problem is convex in ``A = T'T``, positive semidefinite: ``|W'(A - I)W|^2 + lam |N'AB|^2``. The first
    term needs of the vocabulary only ``S = WW'``, d by d, and with ``X = S^(1/2) A S^(1/2)`` becomes
    ``|X - S|^2``; outside the span of the vocabulary A stays I. The optimum without the bound on A
    has a closed form, one linear system of d times k numbers, since B has k dimensions only. Where that X is
    positive semidefinite it is the answer; else accelerated projected gradients go on from there until a
    step changes X by less than 1e-12 of its size.

    Examples
    --------
    >>> vectors = {"he": [1, 0.2], "she": [-1, 0.4], "nurse": [-0.5, 1], "day": [0.3, 1]}
    >>> result = soft_debias(vectors, sets=[["he", "she"]], neutralise=["nurse"], lam=1)
    >>> result.settings["solver"], result.settings["kept_in_subspace"] < 1
    ('closed form', True)
    """
    if not (lam >= 0 and np.isfinite(lam)):
        raise InputError("the weight must be a finite number of at least 0", where="lam", found=lam)
    job = _prepared(embedding, wordlist, sets, k, neutralise)
    if not job.neutralised:
        raise InputError("soft debiasing needs words to neutralise", where="neutralise", found="none")
    transform, solved = _soft_map(
        job.unit, job.unit[[job.row[word] for word in job.neutralised]], job.basis, float(lam)
    )
    out = job.unit @ transform.T
    length = np.linalg.norm(out, axis=1, keepdims=True)
    if length.min() < 1e-8:
        word = job.embedding.words[int(length.argmin())]
        raise FitError(f"the map leaves nothing of the vector of {word!r}; take a smaller lam")
    out = out / length
    mine = [job.row[word] for word in job.neutralised]
    was, left = (float(np.linalg.norm(v[mine] @ job.basis.T)) for v in (job.unit, out))
    share = left / was if was else 1.0
    notes = [*job.notes, f"the neutralised words keep {share:.2%} of their length in the subspace"]
    settings = {"lam": float(lam), **solved, "kept_in_subspace": share}
    return _account(job, out, "soft", (), notes, settings)


# --- what both methods begin with -------------------------------------------------------------------


@dataclass(frozen=True)
class _Job:
    embedding: Embedding
    unit: np.ndarray  # (n, d), float64, of length 1
    row: Mapping[str, int]
    basis: np.ndarray  # (k, d)
    explained: np.ndarray
    sets: tuple[tuple[str, ...], ...]
    neutralised: tuple[str, ...]
    settings: Mapping[str, Any]
    notes: tuple[str, ...]


def _prepared(
    embedding: Any,
    wordlist: Any,
    sets: Iterable[Sequence[str]] | None,
    k: int | None,
    neutralise: str | Sequence[str],
) -> _Job:
    words = None if wordlist is None else load_wordlist(wordlist)
    listed = _sets(words, sets)
    own = [] if isinstance(neutralise, str) else list(dict.fromkeys(neutralise))
    vectors, spelling = _all_words(embedding, words, [*(w for s in listed for w in s), *own])
    row = {word: i for i, word in enumerate(vectors.words)}
    unit = np.array(vectors.vectors, dtype=float)
    length = np.linalg.norm(unit, axis=1, keepdims=True)
    if not (np.isfinite(length) & (length > 0)).all():
        bad = vectors.words[int(np.flatnonzero(~(np.isfinite(length) & (length > 0)))[0])]
        raise InputError("a vector has no direction", where=f"embedding {vectors.name!r}", found=bad)
    unit /= length
    notes: list[str] = []
    present = []
    for group in listed:
        found = tuple(dict.fromkeys(spelling[word] for word in group if word in spelling))
        lost = ", ".join(word for word in group if word not in spelling)
        if lost:
            use = "is used without" if len(found) > 1 else "is left out, for want of"
            notes.append(f"the definitional set {'/'.join(group)} {use} {lost}")
        if len(found) > 1:
            present.append(found)
    if not present:
        raise InputError(
            "no definitional set has two words in the vocabulary",
            where=f"embedding {vectors.name!r}",
            found="; ".join("/".join(group) for group in listed[:4]),
        )
    basis, explained = _subspace(unit, row, present, k)
    neutral = _neutralised(neutralise, words, vectors, spelling, present, notes)
    settings = {
        "of": vectors.name,
        "k": len(basis),
        "neutralise": neutralise if isinstance(neutralise, str) else "words of one's own",
        "wordlist": None if words is None else {"name": words.name, "sha256": words.sha256},
        "normalised_first": True,
    }
    return _Job(vectors, unit, row, basis, explained, tuple(present), neutral, settings, tuple(notes))


def _sets(words: WordList | None, sets: Iterable[Sequence[str]] | None) -> tuple[tuple[str, ...], ...]:
    if sets is None:
        if words is None:
            raise InputError(
                "nothing says what to debias",
                valid="a word list with definitional_sets, or sets=[[...], ...]",
            )
        if not words.definitional_sets:
            raise InputError(
                "the word list has no definitional sets",
                where=words.origin,
                valid="definitional_sets = [[...], ...] in the list, or sets=[[...], ...]",
            )
        return words.definitional_sets
    out = []
    for group in sets:
        if isinstance(group, str) or len(group) < 2 or len(set(group)) < len(group):
            raise InputError(
                "a definitional set is two different words or more",
                where="sets",
                found=group,
                valid='["he", "she"]',
            )
        out.append(tuple(group))
    if not out:
        raise InputError("no definitional set is given", where="sets", found=[])
    return tuple(out)


def _all_words(
    embedding: Any, words: WordList | None, more: Iterable[str]
) -> tuple[Embedding, dict[str, str]]:
    """Return all words of the source, and under which of them each wanted word is found.

    A wanted word that is there in another spelling is that word, not a second one. Only vectors with an open
    vocabulary gain words: those they make from tokens.
    """
    vectors = load_embedding(embedding)
    wanted = list(dict.fromkeys([*(words.words if words else ()), *more]))
    held = set(vectors.words)
    spelling = {word: word for word in wanted if word in held}
    lacking = [word for word in wanted if word not in held]
    try:
        extra = load_embedding(vectors, lacking) if lacking else None
    except InputError:  # none of them is there under any spelling, which is said where it matters
        extra = None
    if extra is not None and vectors.open_vocabulary:
        spelling |= {word: word for word in extra.words}
        vectors = dataclasses.replace(
            vectors,
            words=(*vectors.words, *extra.words),
            vectors=np.concatenate([vectors.vectors, extra.vectors]),
            composed=(*vectors.composed, *extra.composed),
        )
    elif extra is not None:
        rows = {word: vectors.words[i] for i, word in enumerate(vectors.words)}
        for word in extra.words:
            # Recorded against the source; a word held under the name it was asked for keeps that name.
            found = next((s for s in _spellings(word) if s in rows), None)
            if found is not None:
                spelling[word] = found
    return vectors, spelling


def _subspace(
    unit: np.ndarray, row: Mapping[str, int], sets: Sequence[tuple[str, ...]], k: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return an orthonormal basis of the first k principal directions within the sets, and what they explain."""
    parts = []
    for group in sets:
        vectors = unit[[row[word] for word in group]]
        parts.append((vectors - vectors.mean(axis=0)) / np.sqrt(len(group)))
    _, lengths, directions = np.linalg.svd(np.concatenate(parts), full_matrices=False)
    rank = int((lengths > 1e-10).sum())  # of vectors of length 1
    if rank == 0:
        raise InputError("the words of each definitional set have the same vector, so there is no subspace")
    if k is None:
        k = min(max(map(len, sets)) - 1, rank)
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= rank:
        raise InputError(
            "the definitional sets do not span so many components", where="k", found=k, valid=f"1 to {rank}"
        )
    if k < rank and lengths[k - 1] - lengths[k] < _TIED * lengths[0]:
        raise InputError(
            f"components {k} and {k + 1} explain the same, so that it is open which belongs to the subspace",
            where="k",
            found=int(k),
            hint="take one more or one less",
        )
    basis = directions[:k]
    # LAPACK is free to turn the signs; one of the two is chosen, for accounts that can be compared.
    signs = np.sign(basis[np.arange(k), np.abs(basis).argmax(axis=1)])
    return basis * signs[:, None], lengths[:k] ** 2 / np.sum(lengths**2)


def _neutralised(
    neutralise: str | Sequence[str],
    words: WordList | None,
    vectors: Embedding,
    spelling: Mapping[str, str],
    sets: Sequence[tuple[str, ...]],
    notes: list[str],
) -> tuple[str, ...]:
    in_sets = {word for group in sets for word in group}
    if not isinstance(neutralise, str):
        lacking = [word for word in neutralise if word not in spelling]
        if lacking:
            raise InputError(
                "words to neutralise are not in the vocabulary",
                where=f"embedding {vectors.name!r}",
                found=", ".join(map(str, lacking[:12])),
                hint=nearest(str(lacking[0]), vectors.words) if len(vectors) < 10_000 else None,
            )
        return tuple(dict.fromkeys(spelling[word] for word in neutralise))
    if neutralise == "all_others":
        kept = in_sets | {spelling.get(word, word) for word in (words.protected_words if words else ())}
        return tuple(word for word in vectors.words if word not in kept)
    if neutralise != "attributes":
        raise InputError(
            "unknown choice of words to neutralise",
            where="neutralise",
            found=neutralise,
            valid="attributes, all_others or a list of words",
            hint=nearest(neutralise, ("attributes", "all_others")),
        )
    if words is None:
        raise InputError(
            "without a word list there are no attributes to neutralise",
            where="neutralise",
            valid='"all_others", or a list of words',
        )
    lost = [word for word in words.attribute_words if word not in spelling]
    if lost:
        notes.append(f"not in the vocabulary, so not neutralised: {', '.join(lost)}")
    found = dict.fromkeys(spelling[word] for word in words.attribute_words if word in spelling)
    held = [word for word in found if word in in_sets]
    if held:
        notes.append(f"in a definitional set, so not neutralised: {', '.join(held)}")
    return tuple(word for word in found if word not in in_sets)


def _within(vectors: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Return the part of vectors that lies in the subspace."""
    return (vectors @ basis.T) @ basis


def _account(
    job: _Job,
    out: np.ndarray,
    method: str,
    equalised: tuple[tuple[str, ...], ...],
    notes: list[str],
    settings: Mapping[str, Any],
) -> Debiased:
    moved = np.linalg.norm(out - job.unit, axis=1) > _SAME
    source = job.embedding
    words = np.array(source.words, dtype=object)
    everything = {**job.settings, **settings}
    embedding = dataclasses.replace(
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
            "sha256_vectors": _digest(source.words, out),
        },
        open_vocabulary=False,
    )
    return Debiased(
        embedding=embedding,
        method=method,
        subspace=job.basis,
        explained=job.explained,
        sets=job.sets,
        equalised=equalised,
        neutralised=job.neutralised,
        changed=tuple(words[moved]),
        unchanged=tuple(words[~moved]),
        settings=everything,
        notes=tuple(notes),
    )


# --- the hard method ----------------------------------------------------------------------------------


def _to_equalise(
    sets: Sequence[tuple[str, ...]], overlap: str
) -> tuple[tuple[tuple[str, ...], ...], list[str]]:
    """Return the sets as they are equalised, none sharing a word, and what was done to get there."""
    if overlap == "last":
        last = {word: i for i, group in enumerate(sets) for word in group}
        broken = ["/".join(group) for i, group in enumerate(sets) if any(last[word] != i for word in group)]
        notes = (
            [f"equal no more, since a later set took words of them: {', '.join(broken)}"] if broken else []
        )
        return tuple(sets), notes
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
    return tuple(merged), [f"sets that share words were equalised as one: {'; '.join(large)}"]


def _equalised(vectors: np.ndarray, basis: np.ndarray, group: tuple[str, ...]) -> np.ndarray:
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
            f"{group[int(length.argmin())]!r} lies in the middle of its set within the subspace, so that equalising "
            "has no direction to move it",
            where=f"set {'/'.join(group)}",
            hint="take more components (k), or leave the word out of its set",
        )
    return common + np.sqrt(max(0.0, 1.0 - float(common @ common))) * apart / length


# --- the soft method ----------------------------------------------------------------------------------


def _soft_map(
    unit: np.ndarray, neutral: np.ndarray, basis: np.ndarray, lam: float
) -> tuple[np.ndarray, dict[str, Any]]:
    """Return the symmetric map T, shape (d, d), and what the solver did; see `soft_debias`."""
    d = unit.shape[1]
    _, sizes, axes = np.linalg.svd(np.linalg.qr(unit, mode="r"))
    kept = sizes > 1e-10 * sizes[0]
    sizes, axes = sizes[kept], axes[: len(sizes)][kept]
    p = (neutral @ axes.T) / sizes
    b = (basis @ axes.T) / sizes
    _, strength, directions = np.linalg.svd(b, full_matrices=False)
    p_matrix, g, e = p.T @ p, strength**2, directions
    x = _unbounded(np.diag(sizes**2), p_matrix, g, e, lam)
    least = float(np.linalg.eigvalsh(x)[0])
    solved: dict[str, Any] = {"solver": "closed form", "steps": 0}
    if least < -1e-10 * float(sizes[0]) ** 2:
        x, steps = _bounded(x, np.diag(sizes**2), p_matrix, (e.T * g) @ e, lam)
        solved = {"solver": "accelerated projected gradients", "steps": steps}
    a = x / np.outer(sizes, sizes)
    values, vectors = np.linalg.eigh((a + a.T) / 2)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    solved["kept_dimensions"] = int(kept.sum())
    return np.eye(d) + axes.T @ (root - np.eye(len(sizes))) @ axes, solved


def _unbounded(s: np.ndarray, p: np.ndarray, g: np.ndarray, e: np.ndarray, lam: float) -> np.ndarray:
    """Minimise ``|X - S|^2 + lam tr(X P X Q)`` over symmetric X, with ``Q = sum g_j e_j e_j'``, in closed form.

    The optimum is ``X = S - lam/2 (P X Q + Q X P)``, which needs X on the few e_j only: ``y_j = X e_j``.
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
    x: np.ndarray, s: np.ndarray, p: np.ndarray, q: np.ndarray, lam: float, most: int = 20_000
) -> tuple[np.ndarray, int]:
    """Minimise the same over positive semidefinite X, by accelerated projected gradients with restarts."""
    curvature = 1 + lam * float(np.linalg.norm(p, 2) * np.linalg.norm(q, 2))
    step, size = 1 / curvature, float(np.linalg.norm(s))

    def projected(m: np.ndarray) -> np.ndarray:
        values, vectors = np.linalg.eigh((m + m.T) / 2)
        return (vectors * np.maximum(values, 0.0)) @ vectors.T

    x = previous = projected(x)
    momentum = 1.0
    for count in range(1, most + 1):
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = x + (momentum - 1) / following * (x - previous)
        part = p @ ahead @ q
        gradient = ahead - s + lam / 2 * (part + part.T)
        new = projected(ahead - step * gradient)
        restart = float(np.sum((ahead - new) * (new - x))) > 0
        moved = float(np.linalg.norm(new - x))
        previous, x, momentum = (new, new, 1.0) if restart else (x, new, following)
        if moved < 1e-12 * size:
            return x, count
    raise FitError(
        f"the soft method did not settle in {most} steps; a smaller lam, or a larger vocabulary, is easier"
    )
