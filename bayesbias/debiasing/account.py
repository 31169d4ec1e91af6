"""Debiased vectors, and the account of how they came about that they carry."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesbias.core.formatting import number_of
from bayesbias.debiasing.subspace import Prepared
from bayesbias.embeddings.embedding import Embedding, digest_of_vectors

__all__ = ["Debiased"]

_SAME = 1e-9  # a vector of length 1 that moved by less than this did not change


@dataclass(frozen=True, eq=False, repr=False)
class Debiased:
    """Debiased vectors and the account of how they came about.

    Attributes
    ----------
    embedding : Embedding
        The new vectors, float64, of length 1; write them with `save_embedding`.
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
    >>> from bayesbias import hard_debias
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
        composed = len(self.embedding.composed)
        pieces = f" ({composed:,} of all are listed words made of pieces)" if composed else ""
        return (
            f"Debiased: {self.settings.get('of', 'vectors')}, {self.method} debiased; subspace of "
            f"{number_of(k, 'component')}, which {'explains' if k == 1 else 'explain'} {self.explained.sum():.0%} "
            f"within {number_of(n, 'set')}\n"
            f"  {number_of(len(self.neutralised), 'word')} neutralised, {number_of(len(self.equalised), 'set')} equalised; "
            f"{self._changes()}{pieces}"
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


def with_account(
    job: Prepared,
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
        equalised=equalised,
        neutralised=job.neutralised,
        changed=tuple(words[moved]),
        unchanged=tuple(words[~moved]),
        settings=everything,
        notes=tuple(notes),
    )
