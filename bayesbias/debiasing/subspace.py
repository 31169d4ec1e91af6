"""What every method of debiasing begins with: definitional sets, their subspace, the words to neutralise.

*Definitional sets* are words that differ in the protected class alone, such as he and she, or church,
mosque and synagogue. The differences within the sets span a subspace B. Only projections on B are used,
never its basis vectors, so that their signs and order cannot matter.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.formatting import some
from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.loading import load_embedding
from bayesbias.embeddings.spelling import spellings_of
from bayesbias.wordlists.listfile import load_wordlist
from bayesbias.wordlists.wordlist import WordList

_TIED = 1e-9  # singular values closer than this, relative to the first, leave a subspace undetermined


@dataclass(frozen=True, eq=False)
class Prepared:
    """What a method works on: checked vectors and words, and the bias subspace they span."""

    embedding: Embedding
    unit: np.ndarray  # (n, d), float64, of length 1
    row: Mapping[str, int]
    basis: np.ndarray  # (k, d)
    explained: np.ndarray
    sets: tuple[tuple[str, ...], ...]
    neutralised: tuple[str, ...]
    settings: Mapping[str, Any]
    notes: tuple[str, ...]


def prepare(
    embedding: Any,
    wordlist: Any,
    sets: Iterable[Sequence[str]] | None,
    k: int | None,
    neutralise: str | Sequence[str],
) -> Prepared:
    """Check the words, find their rows, and take the subspace of the ``k`` leading directions."""
    words = None if wordlist is None else load_wordlist(wordlist)
    listed = _definitional_sets(words, sets)
    own = (
        []
        if isinstance(neutralise, str)
        else list(dict.fromkeys(checks.texts(checks.several(neutralise, "word", "neutralise"), "neutralise")))
    )
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
        known = tuple(dict.fromkeys(spelling[word] for word in group if word in spelling))
        lost = ", ".join(word for word in group if word not in spelling)
        if lost:
            use = "is used without" if len(known) > 1 else "is left out, for want of"
            notes.append(f"the definitional set {'/'.join(group)} {use} {lost}")
        if len(known) > 1:
            present.append(known)
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
    return Prepared(vectors, unit, row, basis, explained, tuple(present), neutral, settings, tuple(notes))


def _definitional_sets(
    words: WordList | None, sets: Iterable[Sequence[str]] | None
) -> tuple[tuple[str, ...], ...]:
    if sets is None:
        if words is None:
            raise InputError(
                "nothing says what to debias",
                valid="a word list with definitional_sets, or in Python sets=[[...], ...]",
            )
        if not words.definitional_sets:
            raise InputError(
                "the word list has no definitional sets",
                where=words.origin,
                valid="definitional_sets = [[...], ...] before the first class of the list, or in Python sets=[[...], ...]",
            )
        return words.definitional_sets
    out = []
    for group in checks.several(sets, "set", "sets"):
        if (
            not isinstance(group, Sized)
            or isinstance(group, str)
            or len(group) < 2
            or len(set(group)) < len(group)
        ):
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
            known_as = next((s for s in spellings_of(word) if s in rows), None)
            if known_as is not None:
                spelling[word] = known_as
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
                found=some(lacking),
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
    known = dict.fromkeys(spelling[word] for word in words.attribute_words if word in spelling)
    held = [word for word in known if word in in_sets]
    if held:
        notes.append(f"in a definitional set, so not neutralised: {', '.join(held)}")
    return tuple(word for word in known if word not in in_sets)
