"""RNSB: a classifier of attributes, asked of protected words, and how unequal its answers are.

Source: Sweeney and Najafian (2019), "A Transparent Framework for Evaluating Unintended Demographic Bias in Word Embeddings".
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.guarding import guarded
from bayesbias.core.wording import number_of
from bayesbias.embeddings.embedding import Embedding
from bayesbias.scores.projections import vectors_of_words
from bayesbias.scores.resampling import RESAMPLES, ResampledScore, percentile_interval
from bayesbias.scores.stereotypes import classes_of_list, frame_of_rows, refuse_none_left
from bayesbias.wordlists.listfile import load_wordlist
from bayesbias.wordlists.wordlist import WordList

if TYPE_CHECKING:
    from bayesbias.scores.measures import Given

__all__ = ["RnsbResult", "rnsb"]

Array = npt.NDArray[np.float64]
SOURCE = "Sweeney and Najafian (2019)"
DEFECTS = (
    "it is above zero for any vectors whatever, more so for few attributes, and its bootstrap interval is too; it rises with the "
    "length of vectors and with less shrinkage; and differences within a class count as those between classes"
)


@dataclass(frozen=True, eq=False, repr=False)
class RnsbResult(ResampledScore):
    """Relative negative sentiment bias of the words of two classes.

    Attributes
    ----------
    value, low, high, prob, resamples, seed, source, defects
        As in every score with a bootstrap interval: the Kullback-Leibler divergence of the words' shares from equal ones, in
        nats, in [0, log n].
    largest : float
        log n, which the value cannot exceed.
    classes : tuple of str
        X and Y. The classifier tells the attributes of Y, the negative ones, from those of X.
    mean_probability : dict of str to float
        The mean probability of "an attribute of Y" over the words of either class.
    shrinkage : float
        C of the classifier: the smaller, the nearer its weights are to zero.
    x, y, a, b : tuple of str
        The protected words and the attributes.
    n_x, n_y, n_a, n_b : int
    dropped, notes
        As in `WeatResult`.
    """

    largest: float
    classes: tuple[str, str]
    mean_probability: dict[str, float]
    shrinkage: float
    x: tuple[str, ...]
    y: tuple[str, ...]
    a: tuple[str, ...]
    b: tuple[str, ...]
    n_x: int
    n_y: int
    n_a: int
    n_b: int

    def __repr__(self) -> str:
        return (
            f"<RnsbResult {self.name}: {self.value:.4f} of at most {self.largest:.3f}, {self.interval_in_words()}; "
            f"{self.n_x} {self.classes[0]}, {self.n_y} {self.classes[1]}, {self.n_a} + {self.n_b} attributes; "
            f"{number_of(len(self.dropped), 'word')} dropped>"
        )

    def in_words(self) -> list[str]:
        """Say what was found, in lines for the screen."""
        x, y = self.classes
        return [
            f"RNSB, {self.name}",
            f"  divergence {self.value_in_words()} (at most {self.largest:.4f}), {self.interval_in_words()} "
            "(over words and attributes)",
            f"  mean probability of an attribute of {y}: {x} ({self.n_x}) {self.mean_probability[x]:.4f}, "
            f"{y} ({self.n_y}) {self.mean_probability[y]:.4f}",
            *self.last_words(),
        ]


def rnsb(
    embedding: Embedding | Any,
    wordlist: str | os.PathLike[str] | Mapping[str, Any] | WordList,
    *,
    classes: Sequence[str] | None = None,
    shrinkage: float = 1.0,
    prob: float = 0.89,
    resamples: int = RESAMPLES,
    seed: int | None = None,
) -> RnsbResult:
    """Compute the relative negative sentiment bias of the words of two classes.

    Parameters
    ----------
    embedding : Embedding, or anything `load_embedding` reads
    wordlist
        What `load_wordlist` takes.
    classes : pair of str, optional
        As in `weat`. The attributes of the second count as the negative ones.
    shrinkage : float, default 1
        C of the logistic regression, from 1e-6 to 1e6, as in scikit-learn: C times the loss of every attribute, plus half the
        squared length of the weights; the intercept is not shrunk.
    prob, resamples, seed
        Of the bootstrap, which draws the attributes and the words of either class again, and trains the classifier anew.

    Returns
    -------
    RnsbResult
        Its ``pairs()`` have ``protected_word, protected_class, probability, share``.

    Raises
    ------
    InputError
        Unless there are two classes, each with a word and an attribute in the vocabulary; for attributes of both classes,
        of which no classifier can tell where they belong.

    Notes
    -----
    A logistic regression is trained on the vectors of the attributes, as they are. P holds, for each protected word, the
    probability that it is a negative attribute, over the sum of these; the score is the divergence of P from the uniform
    distribution. The regression is convex and is solved by Newton's method, in the space that the attributes
    span, so that no other library is needed; tests compare it with scikit-learn's.

    Examples
    --------
    >>> from bayesbias.scores import rnsb
    >>> result = rnsb("minilm-static", "weat7", resamples=99, seed=1)
    >>> 0 < result.value < result.largest, result.n_x, result.n_a
    (True, 8, 8)
    """
    shrinkage = checks.within(shrinkage, "shrinkage", checks.LEAST_SHRINKAGE, checks.MOST_SHRINKAGE)
    listed = load_wordlist(wordlist, controls="none")
    x, y = classes_of_list(listed, classes)
    both = [w for w in x.attributes if w in set(y.attributes)]
    if both:
        raise InputError(
            "attributes of both classes cannot be told apart", where=f"word list {listed.name}", found=both
        )
    asked = tuple(dict.fromkeys([*x.protected, *y.protected, *x.attributes, *y.attributes]))
    vectors, missing, notes, name = vectors_of_words(embedding, asked, unit=False)
    sets = [
        [w for w in dict.fromkeys(side) if w in vectors]
        for side in (x.protected, y.protected, x.attributes, y.attributes)
    ]
    refuse_none_left(sets[:2], (x, y), "word", name)
    refuse_none_left(sets[2:], (x, y), "attribute", name)
    # In the order of the alphabet, so that one seed draws the same words whatever their order in the list.
    words, attributes = ([*sorted(sets[i]), *sorted(sets[i + 1])] for i in (0, 2))
    trained = np.array([vectors[w] for w in attributes])
    # Weights that lie outside the span of the attributes would only add to their length.
    _, lengths, axes = np.linalg.svd(trained, full_matrices=False)
    axes = axes[lengths > lengths[0] * 1e-12]
    trained, asked_of = trained @ axes.T, np.array([vectors[w] for w in words]) @ axes.T
    negative = np.repeat([0.0, 1.0], [len(sets[2]), len(sets[3])])

    def log_probabilities(counts: Array) -> Array:
        return _log_logistic(asked_of, *fit_logistic(trained, negative, shrinkage * counts))

    def divergence(first: Array, second: Array, a: Array, b: Array) -> float:
        return divergence_from_equal(
            log_probabilities(np.concatenate([a, b])), np.concatenate([first, second])
        )

    sizes = [len(side) for side in sets]
    interval = percentile_interval(divergence, sizes, prob=prob, resamples=resamples, seed=seed)
    logs = log_probabilities(np.ones(len(attributes)))
    each, shares = np.exp(logs), np.exp(_log_shares(logs, np.ones(len(logs))))
    by_word = [  # of either class, since a word may stand in both
        dict(zip(words[part], zip(each[part].tolist(), shares[part].tolist(), strict=True), strict=True))
        for part in (slice(sizes[0]), slice(sizes[0], None))
    ]
    rows = [(w, c.name, *p[w]) for c, side, p in zip((x, y), sets[:2], by_word, strict=True) for w in side]
    return RnsbResult(
        name=f"{listed.name} in {name}",
        dropped=missing,
        notes=(*notes, *interval.notes),
        _pairs=frame_of_rows(rows, ["protected_word", "protected_class", "probability", "share"]),
        value=divergence_from_equal(logs, np.ones(len(logs))),
        **interval.fields(prob, resamples),
        source=SOURCE,
        defects=DEFECTS,
        largest=float(np.log(len(words))),
        classes=(x.name, y.name),
        mean_probability={
            x.name: float(each[: sizes[0]].mean()),
            y.name: float(each[sizes[0] :].mean()),
        },
        shrinkage=float(shrinkage),
        x=tuple(sets[0]),
        y=tuple(sets[1]),
        a=tuple(sets[2]),
        b=tuple(sets[3]),
        n_x=sizes[0],
        n_y=sizes[1],
        n_a=sizes[2],
        n_b=sizes[3],
    )


def divergence_from_equal(logs: Array, counts: Array) -> float:
    """Return the sum of p log(p n) of shares p, from logarithms of probabilities; each stands as often as it counts."""
    held = counts > 0
    shares = _log_shares(logs[held], counts[held])
    return max(0.0, float(counts[held] @ (np.exp(shares) * (shares + np.log(counts.sum())))))


def _log_shares(logs: Array, counts: Array) -> Array:
    """Return the logarithms of shares, also where all probabilities are too small to be told from zero."""
    highest = logs.max()
    with np.errstate(under="ignore"):
        return logs - highest - np.log(counts @ np.exp(logs - highest))


def fit_logistic(vectors: Array, labels: Array, weights: Array) -> tuple[Array, float]:
    """Return the coefficients and the intercept of a logistic regression.

    They minimise the weighted sum of the losses plus half the squared length of the coefficients, by Newton's method with
    steps halved until the sum falls.
    """
    design = np.column_stack([vectors, np.ones(len(vectors))])
    ridge = np.append(np.ones(vectors.shape[1]), 0.0)
    signs = 2 * labels - 1
    at = np.zeros(design.shape[1])

    def total(point: Array) -> float:
        return float(weights @ np.logaddexp(0.0, -signs * (design @ point)) + 0.5 * ridge @ point**2)

    value = total(at)
    for _ in range(100):
        p = 0.5 * (1 + np.tanh(0.5 * (design @ at)))
        gradient = design.T @ (weights * (p - labels)) + ridge * at
        curved = design.T @ (design * (weights * p * (1 - p))[:, None])
        curved.flat[:: len(at) + 1] += ridge
        with guarded("rnsb", "the classifier of the attributes cannot be fitted to vectors of such lengths"):
            step = np.linalg.solve(curved, gradient)
        if float(gradient @ step) < 1e-20:
            break
        size = 1.0
        while total(at - size * step) > value and size > 1e-8:
            size /= 2
        at = at - size * step
        value = total(at)
    return at[:-1], float(at[-1])


def _log_logistic(vectors: Array, coefficients: Array, intercept: float) -> Array:
    with np.errstate(under="ignore"):
        return -np.logaddexp(0.0, -(vectors @ coefficients + intercept))


def measured_rnsb(given: Given, **settings: Any) -> RnsbResult:
    """Compute RNSB as the command does."""
    assert given.words is not None  # vectors come with a word list
    return rnsb(given.vectors, given.words, classes=given.classes, **settings)
