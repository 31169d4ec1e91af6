"""The shape of a set of vectors: mean cosine, the dimensions that carry it, and hubs.

Read a cosine against these. If two random words have a cosine of 0.4, a cosine of 0.4 says nothing.

Sources: Ethayarajh (2019), "How Contextual are Contextualized Word Representations?" (mean
cosine, anisotropy); Timkey and van Schijndel (2021), "All Bark and No Bite" (what a dimension
carries); Radovanovic, Nanopoulos and Ivanovic (2010), "Hubs in Space" (skewness of how often a
word is among the nearest of others).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesbias.core import InputError, files
from bayesbias.core.conventions import ROPE
from bayesbias.embeddings.embedding import Embedding, units
from bayesbias.embeddings.loading import load_embedding
from bayesbias.wordlists.listfile import load_controls

_MOST_COMPARED = 5_000  # words for hubness
_MOST_IN_BINS = 1_500  # words for the histogram: a million pairs
_LEAST = 3
TOP, NEAREST = 3, 10  # dimensions and words that are looked at, where there are as many
EDGES = np.linspace(-1.0, 1.0, 201)


@dataclass(frozen=True)
class Cosines:
    """The cosines of all pairs of different words among some.

    Attributes
    ----------
    n_words : int
    mean : float
        In [-1, 1].
    se : float
        Jackknife standard error over words, as if these were a sample of such words.
    share_top : float or None
        The share of the mean that the three leading dimensions carry; None if the mean is not above
        the default ROPE (0.02) by two standard errors.
    dimensions : tuple of int
        Those dimensions, counted from 1, the largest first.

    Examples
    --------
    >>> import bayesbias as bb
    >>> words = bb.load_wordlist("religion").words
    >>> shape = bb.embeddings.describe_vectors(bb.load_embedding("minilm-static", words=words))
    >>> -1 <= shape.words.mean <= 1, shape.words.n_words > 300
    (True, True)
    """

    n_words: int
    mean: float
    se: float
    share_top: float | None
    dimensions: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class VectorShape:
    """The shape of a set of vectors.

    Attributes
    ----------
    name : str
        The vectors.
    dim : int
    words : Cosines
        Of all words that were looked at.
    neutral : Cosines or None
        Of the neutral control words among the vocabulary; None for fewer than three.
    contributions : ndarray, shape (dim,)
        What each dimension adds to the mean cosine of all words; they add up to it.
    hubness : float
        Skewness of how many words have a word among their nearest; about 0 without hubs.
    hubs : tuple of (str, int)
        The five words that are among the 10 nearest of most others, and of how many.
    never : float
        The share of words that are among the nearest of none.
    n_compared : int
        Words that hubness is about: the first 5,000 where there are more.
    histogram : ndarray, shape (200,)
        Pairs, of the first 1,500 words, with a cosine in each of 200 equal bins from -1 to 1.
    provenance : dict

    Examples
    --------
    >>> import bayesbias as bb
    >>> words = bb.load_wordlist("religion").words
    >>> shape = bb.embeddings.describe_vectors(bb.load_embedding("minilm-static", words=words))
    >>> shape.dim, len(shape.hubs) > 0
    (128, True)
    """

    name: str
    dim: int
    words: Cosines
    neutral: Cosines | None
    contributions: np.ndarray
    hubness: float
    hubs: tuple[tuple[str, int], ...]
    never: float
    n_compared: int
    histogram: np.ndarray
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def mean_cosine(self) -> float:
        """The mean cosine of all words looked at."""
        return self.words.mean

    def __repr__(self) -> str:
        lines = [f"{self.name}, {self.dim} dimensions"]
        for held, noun in ((self.words, "words"), (self.neutral, "neutral words")):
            if held is not None:
                mean = f"{held.n_words:,} {noun} {held.mean:.4f} (se {held.se:.4f})"
                share = "none" if held.share_top is None else f"{held.share_top:.0%}"
                which = ", ".join(map(str, held.dimensions))
                lines.append(f"mean cosine of {mean}; share of dimensions {which}: {share}")
        hubs = ", ".join(f"{word} {count}" for word, count in self.hubs[:3])
        nearest = f"{NEAREST} nearest of {self.n_compared:,} words"
        lines.append(f"hubness {self.hubness:.2f} ({nearest}; {hubs}; never {self.never:.0%})")
        return "VectorShape: " + "\n  ".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Return the values as plain numbers, texts and lists, for JSON."""
        out = files.plain(self) | {"mean_cosine": self.mean_cosine}
        out.pop("histogram")
        return out


def describe_vectors(
    embedding: Any, words: Iterable[str] | None = None, *, neutral: str = "2022"
) -> VectorShape:
    """Describe the shape of a set of vectors.

    Parameters
    ----------
    embedding : Embedding, or anything `load_embedding` reads
        Word vectors.
    words : iterable of str, optional
        The words to look at; by default all that the embedding holds.
    neutral : str
        A control list, whose neutral words are also described alone; see `load_wordlist`.

    Returns
    -------
    VectorShape

    Raises
    ------
    InputError
        If there are fewer than three words.

    Notes
    -----
    With unit vectors u the mean cosine of pairs of n different words is ``(|sum u|^2 - n) / (n (n
    - 1))``; dimension by dimension it says what each carries. Its standard error is the
    jackknife's. Hubness is the skewness of N_k, the number of words that have a word among their
    k = 10 nearest by cosine.

    Examples
    --------
    >>> from bayesbias.embeddings import describe_vectors
    >>> from bayesbias import load_wordlist
    >>> shape = describe_vectors("minilm-static", load_wordlist("religion").words)
    >>> round(shape.mean_cosine, 2), round(shape.neutral.mean, 2)
    (0.02, 0.02)
    >>> shape.words.share_top is None  # of so small a mean a share says nothing
    True
    """
    as_it_is = isinstance(embedding, Embedding) and words is None
    held = embedding if as_it_is else load_embedding(embedding, words=words)
    if len(held) < _LEAST:
        raise InputError(f"expected {_LEAST} words or more, got {len(held)}", where=held.name)
    unit = units(held.vectors, held.name)
    compared, some = unit[:_MOST_COMPARED], unit[:_MOST_IN_BINS]
    controls = load_controls(neutral)
    aside = [w for w in (controls.neutral if controls else ()) if w in held]
    counts = _counts_of_nearness(compared, min(NEAREST, len(compared) - 1))
    deviations = (counts - counts.mean()) / (counts.std() or 1)
    cosines = (some @ some.T)[np.triu_indices(len(some), 1)]
    return VectorShape(
        name=held.name,
        dim=unit.shape[1],
        words=_cosines(unit),
        neutral=_cosines(units(held.vectors_of(aside))) if len(aside) >= _LEAST else None,
        contributions=dimension_shares(unit),
        hubness=float(np.mean(deviations**3)),
        hubs=tuple((held.words[i], int(counts[i])) for i in np.argsort(-counts, kind="stable")[:5]),
        never=float(np.mean(counts == 0)),
        n_compared=len(compared),
        histogram=np.histogram(np.clip(cosines, -1.0, 1.0), EDGES)[0],
        provenance=dict(held.provenance),
    )


def dimension_shares(units: np.ndarray) -> np.ndarray:
    """Return what each dimension adds to the mean cosine of unit vectors."""
    n = len(units)
    return (units.sum(axis=0) ** 2 - (units**2).sum(axis=0)) / (n * (n - 1))


def _cosines(units: np.ndarray) -> Cosines:
    n, each = len(units), dimension_shares(units)
    mean = float(each.sum())
    own = (units @ units.sum(axis=0) - 1) / (n - 1)  # the mean cosine of a word with the others
    without = (n * mean - 2 * own) / (n - 2)
    se = float(np.sqrt((n - 1) / n * np.sum((without - without.mean()) ** 2)))
    leading = np.argsort(-each, kind="stable")[:TOP]
    share = float(each[leading].sum() / mean) if mean - 2 * se > ROPE else None
    return Cosines(n, mean, se, share, tuple(int(i) + 1 for i in leading))


def _counts_of_nearness(units: np.ndarray, k: int) -> np.ndarray:
    """Return how often each row is among the k nearest of another."""
    n = len(units)
    counts = np.zeros(n)
    for first in range(0, n, 500):
        block = units[first : first + 500] @ units.T
        np.fill_diagonal(block[:, first:], -np.inf)  # no word is its own neighbor
        nearest = np.argpartition(-block, k - 1, axis=1)[:, :k]
        counts += np.bincount(nearest.ravel(), minlength=n)
    return counts
