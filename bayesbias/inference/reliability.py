r"""The reliability of a score of k words and m attributes: generalizability coefficients.

A score is a weighted sum of distances. Under a normal model each random term adds to its variance,
and a replication, the same object measured with other words and attributes, keeps some terms and
draws others anew. What is kept is the universe score, what is drawn anew is error, and

.. math:: E\rho^2, \Phi = \frac{\sigma^2(\tau)}{\sigma^2(\tau) + \sigma^2_k/k + \sigma^2_m/m + \sigma^2_{km}/(km)}

(Cronbach, Gleser, Nanda & Rajaratnam 1972; Brennan 2001, *Generalizability Theory*). With relative
error the coefficient is :math:`E\rho^2`, that of differences between objects measured with the same
attributes; with absolute error it is :math:`\Phi`, that of one object's score by itself. It is the
correlation of two independent replications. What has a prior with a fixed SD, such as a connection
or a set as a whole, is a constant.

The coefficient against zero is :math:`\Phi(\lambda)` at :math:`\lambda = 0` (Brennan & Kane 1977),
with the classes of the table as all there are, and :math:`\mu` the score of the object with endless
words and attributes:

.. math:: \Phi(0) = \frac{\mu^2 + \sigma^2(\tau)}{\mu^2 + \sigma^2(\tau) + \sigma^2(\Delta)}
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayesbias.core import FitError, checks
from bayesbias.inference import variances
from bayesbias.inference.estimands import averaged, combinations
from bayesbias.inference.estimates import labeled_draws
from bayesbias.models.design import Arrays, Design

if TYPE_CHECKING:
    import xarray as xr

    from bayesbias.inference.posterior import BiasFit

MEASURES: Mapping[str, tuple[str, ...]] = {
    "word": ("relative", "absolute", "against_zero"),
    "class": ("against_zero",),
    "attribute_set": ("against_zero",),
    "weat": ("against_zero",),
}
"""The scores that a coefficient is given for, and which coefficients.

- ``word``: associated - different of one word (its `words` are 1); the objects are words of a
  class;
- ``class``: associated - different of one class;
- ``attribute_set``: one attribute set, its own class's words minus those of the others;
- ``weat``: of two classes, the difference of the mean association of their words (equation 3 of the
  seed paper, over the number of words).

``relative``: differences between objects measured with the same attributes. ``absolute``: the score
of one object by itself, against those of others. ``against_zero``: the score against zero, of the
classes of the table; at 0.8 it is two standard errors away. Classes are all there are, and no
sample, so that their scores have this coefficient alone. Sets and classes have equal weight,
whatever their lengths. From little data coefficients come out too high rather than too low.
"""

LEFT_OUT: Mapping[str, str] = {
    "one_class": "the table holds no two classes that have stereotypes of their own and meet each other's",
    "no_words": "the model has no spread of words in this score",
    "fixed_words": "the model takes effects of words or attributes as fixed, and no sample of more",
    "other_columns": "the model varies over other columns than words, attributes, their classes and connections",
}
"""Why a coefficient is left out: the kinds, and how to say them."""

_WORD, _ATTRIBUTE = "protected_word", "attribute"
_CLASS, _LIST = "protected_class", "attribute_class"
_CELL = (_CLASS, _LIST, "connection")
_GROUPED = {_WORD: _CLASS, _ATTRIBUTE: _LIST}
_NOTHING = 1e-20  # what rounding leaves of a variance whose weights cancel


@dataclass(frozen=True, eq=False)
class ScoreVariance:
    """The variance of a score in each draw: its universe score, and errors by what divides them."""

    universe: np.ndarray
    per_word: np.ndarray
    per_attribute: np.ndarray
    per_pair: np.ndarray

    def coefficient(self, words: float, attributes: float) -> np.ndarray:
        """Return the coefficient of a score of so many words a class and attributes a set."""
        error = self.per_word / words + self.per_attribute / attributes
        return self.universe / (self.universe + error + self.per_pair / (words * attributes))


class _Term(NamedTuple):
    """A term of the mean, or the noise, in each cell: a class, a set and a connection."""

    dims: Collection[str]
    random: bool
    sd: np.ndarray  # (n or 1, cells)
    same: np.ndarray  # (cells, cells): which share its entries

    def variance(self, weights: np.ndarray) -> np.ndarray:
        """Return what it adds to the variance of a score of one word and one attribute."""
        weighted = self.sd * weights
        return ((weighted @ self.same) * weighted).sum(axis=1)


def _rows_of_scores(design: Design) -> np.ndarray:
    """Return which rows are about the stereotypes of some class."""
    labels = np.array(design.coords["connection"])[design.codes["connection"]]
    return np.flatnonzero(np.isin(labels, ("associated", "different")))


def score_variances(design: Design, draws: Arrays) -> dict[tuple[str, str], ScoreVariance | str]:
    """Return the variance of every score, or why there is none.

    Parameters
    ----------
    design : Design
    draws : Mapping of str to ndarray, shape (n, shape of the parameter)
        Draws of the SDs, and of the effects of classes, sets and connections.

    Returns
    -------
    dict of (measure, coefficient) to ScoreVariance or str
        A text is a key of `LEFT_OUT`.

    Raises
    ------
    FitError
        If noise or effects are not normal, or the table is not one of words by attributes.
    """
    spec = design.spec
    variances.check_normal_noise(spec, "coefficients of reliability")
    for name in spec.location_parameters():
        other = spec.parameters[name].distribution
        if spec.is_random(name) and other != "Normal":
            raise FitError(
                f"reliability: expected normal effects, got {other} of {name} of {spec.label}"
            )
    for name in (_WORD, _ATTRIBUTE, *_CELL):
        if name not in design.coords:
            raise FitError(f"reliability: expected a table with the column {name!r}")
    if set(spec.units) - {_WORD, _ATTRIBUTE} or spec.results.between:
        raise FitError(f"reliability: expected a model of words by attributes, got {spec.label}")
    kinds = [(measure, kind) for measure, of_it in MEASURES.items() for kind in of_it]
    codes, rows = design.codes, _rows_of_scores(design)
    if not len(rows):
        return dict.fromkeys(kinds, "one_class")
    cells, cell = combinations([codes[column][rows] for column in _CELL])
    members = [rows[cell == k] for k in range(cells.shape[1])]
    dims = {name: spec.parameters[name].dims for name in spec.location_parameters()}
    columns = {dim for name in dims if spec.is_random(name) for dim in dims[name]}
    for dim in columns - {*_GROUPED, *_CELL}:
        if any(np.ptp(codes[dim][of_cell]) > 0 for of_cell in members):
            return dict.fromkeys(kinds, "other_columns")
    each = [variances.term_variances(design, draws, of_cell) for of_cell in members]
    first = [of_cell[0] for of_cell in members]
    terms = []
    for name, of_term in {**dims, "": (_WORD, _ATTRIBUTE, *_CELL)}.items():
        same = np.ones((len(members), len(members)))
        for column in {_GROUPED.get(dim, dim) for dim in of_term}:
            same *= np.equal.outer(codes[column][first], codes[column][first])
        random = name in each[0]
        of_cells = [by_name[name] for by_name in each] if random else [np.ones(1)] * len(members)
        sd = np.sqrt(np.stack(np.broadcast_arrays(*of_cells), axis=-1))
        terms.append(_Term(of_term, random, sd, same))
    group = np.full(len(design.y), -1)
    group[rows] = cell
    held = set(design.coords) - set(_GROUPED)
    means = averaged(design, held, group, np.bincount(cell)).draws(draws)
    own_set = np.equal(design.coords["connection"], "associated")[cells[2]]
    scores = _scores(cells[0], cells[1], own_set)
    return {
        (measure, kind): _score_variance(measure, kind, scores[measure], terms, means)
        for measure, kind in kinds
    }


def reliability_draws(
    fit: BiasFit,
    words: int | Sequence[int] | None = None,
    attributes: int | Sequence[int] | None = None,
) -> xr.DataArray:
    """Return draws of the coefficients, labeled as in `BiasFit.reliability`; NaN if left out."""
    design, spec = fit.ordered, fit.spec
    means = {
        name
        for name in spec.location_parameters()
        if not spec.is_random(name) or not set(spec.units) & set(spec.parameters[name].dims)
    }
    draws = fit.scales_and_effects(means)
    parts = score_variances(design, draws)
    rows, numbers = _rows_of_scores(design), []
    for given, unit in ((words, _WORD), (attributes, _ATTRIBUTE)):
        if given is None:  # the harmonic mean of the numbers of the table, as they divide variances
            both = combinations([design.codes[name][rows] for name in (_GROUPED[unit], unit)])[0]
            counts = np.unique(both[0], return_counts=True)[1] if len(rows) else np.ones(1)
            numbers.append([round(float(len(counts) / (1 / counts).sum()), 12)])
        else:
            several = given if isinstance(given, Sequence) else [given]
            where = "words" if unit == _WORD else "attributes"
            numbers.append([checks.count(each, where) for each in several])
    labels, columns = [], []
    n = len(next(iter(draws.values())))
    for (measure, kind), part in parts.items():
        # The score of a word is of one word, however many a class has.
        for k, m in itertools.product([1] if measure == "word" else numbers[0], numbers[1]):
            left_out = part if isinstance(part, str) else ""
            labels.append((measure, f"{k:.12g}", f"{m:.12g}", kind, left_out))
            columns.append(np.full(n, np.nan) if isinstance(part, str) else part.coefficient(k, m))
    names = ("measure", "words", "attributes", "coefficient", "left_out")
    by_name = dict(zip(names, zip(*labels, strict=True), strict=True))
    return labeled_draws(np.stack(columns, axis=-1).reshape(*fit.shape, -1), by_name)


def _scores(
    classes: np.ndarray, sets: np.ndarray, own_set: np.ndarray
) -> dict[str, list[np.ndarray]]:
    """Return the scores of every measure as weights of the cells, one score for each object."""

    def mean(chosen: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return chosen / chosen.sum()

    def gap(chosen: np.ndarray) -> np.ndarray:
        return mean(chosen & own_set) - mean(chosen & ~own_set)

    def association(of: int, other: int) -> np.ndarray:
        """Return the mean association of a class, its own sets minus those of the other."""
        sides = []
        for c in (of, other):
            own_sets = np.unique(sets[(classes == c) & own_set])
            each = [mean((classes == of) & (sets == a)) for a in own_sets]
            sides.append(np.mean(each or [np.full(len(sets), np.nan)], axis=0))
        return sides[0] - sides[1]

    gaps = [gap(classes == c) for c in np.unique(classes)]
    scores = {
        "word": gaps,
        "class": gaps,
        "attribute_set": [gap(sets == a) for a in np.unique(sets)],
        # The difference of the mean s(w) of two classes, with the sign turned.
        "weat": [
            association(x, y) + association(y, x)
            for x, y in itertools.combinations(np.unique(classes), 2)
        ],
    }
    return {name: [w for w in each if np.isfinite(w).all()] for name, each in scores.items()}


def _score_variance(
    measure: str,
    kind: str,
    objects: Sequence[np.ndarray],
    terms: Sequence[_Term],
    means: np.ndarray,
) -> ScoreVariance | str:
    """Sort what terms add to a score, averaged over objects, into universe score and errors."""
    if not objects:
        return "one_class"
    parts = dict.fromkeys(("universe", "word", "attribute", "pair"), np.zeros(1))
    if kind == "against_zero":
        parts["universe"] = np.mean([(means @ weights) ** 2 for weights in objects], axis=0)
    for term in terms:
        words, attributes = _WORD in term.dims, _ATTRIBUTE in term.dims
        if measure == "word":
            # Its own effect is the universe score; another list has other attributes.
            drawn_anew = attributes and (words or kind != "relative")
            place = "attribute" if drawn_anew else "universe" if words and not attributes else ""
        else:
            place = "word" if words else "attribute" if attributes else ""
            place = "pair" if words and attributes else place
        if not place:
            continue
        variance = np.mean([term.variance(weights) for weights in objects], axis=0)
        if term.random:
            parts[place] = parts[place] + variance
        elif variance.max() > _NOTHING:
            return "fixed_words"
    if not (parts["universe"] > _NOTHING).any():
        return "no_words"
    return ScoreVariance(*np.broadcast_arrays(*parts.values()))
