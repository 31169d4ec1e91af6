"""What every method of debiasing shares: definitional sets, their subspace, and the result.

*Definitional sets* are words that differ in the protected class only, such as he and she, or
church, mosque and synagogue. The differences within the sets span a subspace B. Only projections on
B are used, never its basis vectors, so that their signs and order cannot matter.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import plain
from bayesbias.core.formatting import number_of, some
from bayesbias.embeddings.embedding import Embedding, digest_of_vectors
from bayesbias.embeddings.loading import load_embedding
from bayesbias.embeddings.spelling import matched_spellings
from bayesbias.wordlists.listfile import load_wordlist
from bayesbias.wordlists.wordlist import WordList

__all__ = ["Debiased"]

_SAME = 1e-9  # a vector of length 1 that moved by less than this did not change
_TIED = 1e-9  # singular values closer than this, relative to the first, leave it undetermined


@dataclass(frozen=True, eq=False, repr=False)
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
    Debiased: mapping, hard debiased; subspace of 1 component (100% of the variance within 1 set)
      1 word neutralized, 1 set equalized; 1 of 3 vectors changed
    >>> np.round(result.embedding.vectors @ result.embedding["nurse"], 3)
    array([0.285, 0.285, 1.   ])
    """

    embedding: Embedding
    method: str
    subspace: np.ndarray
    explained: np.ndarray
    sets: tuple[tuple[str, ...], ...]
    equalized: tuple[tuple[str, ...], ...]
    neutralized: tuple[str, ...]
    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
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
        out = {name: plain(getattr(self, name)) for name in (*names, "settings", "notes")}
        counts = {"n_changed": len(self.changed), "n_unchanged": len(self.unchanged)}
        return {**out, **counts, "unchanged": list(self.unchanged[:100])}


@dataclass(frozen=True, eq=False)
class Prepared:
    """What a method works on."""

    embedding: Embedding
    unit: np.ndarray  # (n, d), float64, of length 1
    row: Mapping[str, int]
    basis: np.ndarray  # (k, d)
    explained: np.ndarray
    sets: tuple[tuple[str, ...], ...]
    neutralized: tuple[str, ...]
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
    vectors, spelling = _all_words(embedding, words, [*(w for s in listed for w in s), *own])
    row = {word: i for i, word in enumerate(vectors.words)}
    unit = np.array(vectors.vectors, dtype=float)
    length = np.linalg.norm(unit, axis=1, keepdims=True)
    if len(bad := np.flatnonzero(~(np.isfinite(length) & (length > 0)))):
        problem = "expected vectors with a direction"
        raise InputError(problem, where=vectors.name, found=vectors.words[bad[0]])
    unit /= length
    notes: list[str] = []
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


def _definitional_sets(
    words: WordList | None, sets: Iterable[Sequence[str]] | None
) -> tuple[tuple[str, ...], ...]:
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


def _all_words(
    embedding: Any, words: WordList | None, more: Iterable[str]
) -> tuple[Embedding, dict[str, str]]:
    """Return all words of the source, and under which of them each wanted word is found.

    A wanted word that is there in another spelling is that word, not a second one. Only vectors
    with an open vocabulary gain words: those they make from tokens.
    """
    vectors = load_embedding(embedding)
    wanted, held = dict.fromkeys([*(words.words if words else ()), *more]), set(vectors.words)
    lacking = [word for word in wanted if word not in held]
    if lacking and vectors.lookup is not None:
        extra = vectors.lookup(lacking)
        held |= set(extra.words)
        vectors = dataclasses.replace(
            vectors,
            words=(*vectors.words, *extra.words),
            vectors=np.concatenate([vectors.vectors, extra.vectors]),
            composed=(*vectors.composed, *extra.composed),
        )
    return vectors, matched_spellings(wanted, held)[0]


def _subspace(
    unit: np.ndarray, row: Mapping[str, int], sets: Sequence[tuple[str, ...]], k: int | None
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
    sets: Sequence[tuple[str, ...]],
    notes: list[str],
) -> tuple[str, ...]:
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
    equalized: tuple[tuple[str, ...], ...],
    notes: list[str],
    settings: Mapping[str, Any],
) -> Debiased:
    """Return new vectors with what was done."""
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
