r"""How reliable a score of k words and m attributes is.

Generalizability coefficients from the spreads of a model.

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
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.core import checks
from bayesbias.core.errors import FitError, InputError
from bayesbias.inference.estimands import averaged
from bayesbias.inference.estimates import labelled_draws
from bayesbias.inference.spreads import check_normal_noise, noise_variance, term_variances
from bayesbias.models.design import Design

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["LEFT_OUT", "MEASURES", "Components", "score_components"]

MEASURES: Mapping[str, tuple[str, ...]] = {
    "word": ("relative", "absolute", "against_zero"),
    "class": ("relative", "absolute", "against_zero"),
    "attribute_set": ("absolute", "against_zero"),
    "weat": ("absolute", "against_zero"),
    "mac": ("relative", "absolute"),
}
"""The scores that a coefficient is given for, and which coefficients.

- ``word``: associated - different of one word (its `words` are 1); the objects are words of a
  class;
- ``class``: associated - different of one class; the objects are classes;
- ``attribute_set``: one attribute set, its own class's words minus those of the others;
- ``weat``: of two classes, the difference of the mean association of their words (equation 3 of the
  seed paper, over the number of words);
- ``mac``: the mean distance of the words of one class to all attribute sets.

``relative``: differences between objects measured with the same attributes. ``absolute``: the score
of one object by itself, against those of others. ``against_zero``: the score against zero, of the
classes of the table; at 0.8 it is two standard errors away. Sets and classes have equal weight,
whatever their lengths. From little data coefficients come out too high rather than too low.
"""

LEFT_OUT: Mapping[str, str] = {
    "one_class": "the table holds no two classes that have stereotypes of their own and meet each other's",
    "no_words": "the model has no spread of words in this score",
    "no_classes": "the model has no spread of how classes lie to lists of stereotypes, and takes all classes to be alike",
    "few_classes": "two classes on two lists have one contrast to tell how classes differ by, which leaves it to the prior",
    "fixed_words": "the model takes effects of words or attributes as fixed, and no sample of more",
    "other_columns": "the model varies over other columns than words, attributes, their classes and connections",
}
"""Why a coefficient is left out: the kinds, and how to say them."""

_MOST_WORDS = 10**9  # of which a coefficient is asked: as good as endless
_WORD, _ATTRIBUTE = "protected_word", "attribute"
_CLASS, _LIST = "protected_class", "attribute_class"
_CELL = (_CLASS, _LIST, "connection")
_GROUPED = {_WORD: _CLASS, _ATTRIBUTE: _LIST}
_LEAST_CONTRASTS = 2  # of classes by sets; an SD known from a single one is its prior's


@dataclass(frozen=True, eq=False)
class Components:
    """The variance of a score, one number a draw.

    Its universe score, and what k words and m attributes divide.
    """

    universe: np.ndarray
    per_word: np.ndarray
    per_attribute: np.ndarray
    per_pair: np.ndarray

    def coefficient(self, words: float, attributes: float) -> np.ndarray:
        """Return the coefficient of a score of so many words a class and attributes a set.

        Either may be infinite.
        """
        error = self.per_word / words + self.per_attribute / attributes
        error = error + self.per_pair / (words * attributes)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.universe > 0, self.universe / (self.universe + error), 0.0)


@dataclass(frozen=True, eq=False)
class _Term:
    """A random term: its columns, and the cells that share its entries.

    With the SD of these in each cell.

    What is fixed has an SD of NaN. An effect may count more in some classes than in others.
    """

    dims: Collection[str]
    groups: Sequence[tuple[list[int], np.ndarray]]  # cells; SD, shape (n or 1, cells)

    def variance(self, weights: np.ndarray) -> np.ndarray:
        """Return the variance the term adds to a score of one word and one attribute.

        Given weights of the cells.

        Groups whose weights cancel are left out. Weights are quotients, and cancel but for
        rounding.
        """
        out: np.ndarray = np.zeros(1)
        for cells, sd in self.groups:
            known = not np.isnan(sd).any()
            share = sd @ weights[cells] if known else np.array([weights[cells].sum()])
            if np.abs(share).max() > 1e-12:
                out = out + (share**2 if known else np.nan)
        return out


def check_scores(design: Design, table: pd.DataFrame) -> None:
    """Refuse a model or a table that no such score comes from."""
    spec = design.spec
    check_normal_noise(spec, "coefficients of reliability")
    for name in spec.location_parameters():
        if spec.is_random(name) and spec.parameters[name].distribution != "Normal":
            other = spec.parameters[name].distribution
            effects = f"{name} of {spec.label} has {other}"
            raise FitError(f"reliability needs normal effects, and {effects}")
    what = "reliability is that of scores of words by attributes"
    if lacking := [name for name in (_WORD, _ATTRIBUTE, *_CELL) if name not in table.columns]:
        raise FitError(f"{what}; the table lacks {lacking[0]}")
    if set(spec.units) - {_WORD, _ATTRIBUTE} or spec.results.between:
        raise FitError(f"{what}, and {spec.label} is not")


def numbers_of_words(table: pd.DataFrame) -> tuple[float, float]:
    """Return the words of a class and the stereotypes of a set.

    Harmonic means, as they divide variances.
    """
    rows = table[table["connection"].isin(["associated", "different"])]
    out = []
    for key, name in ((_CLASS, _WORD), (_LIST, _ATTRIBUTE)):
        counts = rows.groupby(key, observed=True)[name].nunique().to_numpy()
        out.append(round(float(len(counts) / (1 / counts).sum()), 12) if len(counts) else 1.0)
    return out[0], out[1]


def score_components(
    design: Design, table: pd.DataFrame, draws: Mapping[str, np.ndarray]
) -> dict[tuple[str, str], Components | str]:
    """Return the variance components of every score, or why there are none.

    By measure and coefficient.

    Parameters
    ----------
    design : Design
    table : DataFrame
        The rows the design was laid over.
    draws : Mapping of str to ndarray, shape (n, shape of the parameter)
        Of the SDs, and of what classes, sets and connections have as such.

    Returns
    -------
    dict of (str, str) to Components or str
        A text is a key of `LEFT_OUT`.

    Raises
    ------
    FitError
        If noise or effects are not normal, or the table is not one of words by attributes.
    """
    check_scores(design, table)
    kinds = [(measure, kind) for measure, of_it in MEASURES.items() for kind in of_it]
    chosen = table["connection"].isin(["associated", "different"]).to_numpy()
    labels = table[list(_CELL)].astype(str).reset_index(drop=True)
    rows = list(labels[chosen].groupby(list(_CELL), sort=False).groups.values())
    if not rows:
        return dict.fromkeys(kinds, "one_class")
    cells = labels.iloc[[own[0] for own in rows]].reset_index(drop=True)
    spec = design.spec
    random = [name for name in spec.location_parameters() if spec.is_random(name)]
    for dim in {dim for name in random for dim in spec.parameters[name].dims} - {*_GROUPED, *_CELL}:
        values = table[dim].astype(str).to_numpy()
        if any(len(set(values[own])) > 1 for own in rows):
            return dict.fromkeys(kinds, "other_columns")
    terms = _terms(design, draws, rows, table)
    group = np.full(len(table), -1)
    for cell, own in enumerate(rows):
        group[own] = cell
    held = set(design.coords) - set(_GROUPED)
    means = averaged(design, held, group, np.array([len(own) for own in rows]))
    mean_of_cells = means.draws(draws)
    scores = _scores(cells)
    few = (table[_CLASS].nunique() - 1) * (table[_LIST].nunique() - 1) < _LEAST_CONTRASTS
    out: dict[tuple[str, str], Components | str] = {}
    for measure, kind in kinds:
        part = _components(measure, kind, scores[measure], terms, mean_of_cells)
        if few and measure != "word" and kind != "against_zero" and isinstance(part, Components):
            part = "few_classes"
        out[measure, kind] = part
    return out


def reliability_draws(
    design: Design,
    table: pd.DataFrame,
    draws: Mapping[str, np.ndarray],
    chains: int,
    words: int | Sequence[int] | None,
    attributes: int | Sequence[int] | None,
) -> xr.DataArray:
    """Return draws of the coefficients, labeled by the columns of `BiasFit.reliability`.

    NaN where left out.
    """
    check_scores(design, table)
    numbers = []
    for given, name, listed in zip(
        (words, attributes), ("words", "attributes"), numbers_of_words(table), strict=True
    ):
        several = [given] if given is None or not isinstance(given, Sequence) else given
        asked = [
            listed if each is None else checks.count(each, name, most=_MOST_WORDS)
            for each in several
        ]
        if not asked:
            raise InputError("expected at least one whole number", where=name, found=given)
        numbers.append(asked)
    rows, columns = [], []
    n = len(next(iter(draws.values())))
    for (measure, kind), part in score_components(design, table, draws).items():
        # The score of a word is of one word, however many a class has.
        for k, m in itertools.product([1] if measure == "word" else numbers[0], numbers[1]):
            left_out = part if isinstance(part, str) else ""
            rows.append((measure, f"{k:.12g}", f"{m:.12g}", kind, left_out))
            columns.append(np.full(n, np.nan) if isinstance(part, str) else part.coefficient(k, m))
    names = ("measure", "words", "attributes", "coefficient", "left_out")
    labels = dict(zip(names, zip(*rows, strict=True), strict=True))
    return labelled_draws(np.stack(columns, axis=-1).reshape(chains, -1, len(rows)), labels)


def _scores(cells: pd.DataFrame) -> dict[str, list[np.ndarray]]:
    """Return the scores of every measure as weights of the cells, one score for each object."""
    classes, sets = cells[_CLASS].unique(), cells[_LIST].unique()

    def mean(**labels: str) -> np.ndarray:
        chosen = np.all([cells[name] == label for name, label in labels.items()], axis=0)
        weights = chosen.astype(float)
        return weights / weights.sum() if weights.any() else np.full(len(cells), np.nan)

    def gap(**labels: str) -> np.ndarray:
        return mean(**labels, connection="associated") - mean(**labels, connection="different")

    def own_less_other(c: str, other: str) -> np.ndarray:
        sides = []
        for of in (c, other):
            own = cells[(cells[_CLASS] == of) & (cells["connection"] == "associated")]
            parts = [mean(protected_class=c, attribute_class=a) for a in sorted(own[_LIST])]
            sides.append(np.mean(parts, axis=0) if parts else np.full(len(cells), np.nan))
        return sides[0] - sides[1]

    gaps, two = [gap(protected_class=c) for c in classes], itertools.combinations(classes, 2)
    scores_of = {
        "word": gaps,
        "class": gaps,
        "attribute_set": [gap(attribute_class=a) for a in sets],
        # The difference of the mean s(w) of two classes, with the sign turned.
        "weat": [own_less_other(x, y) + own_less_other(y, x) for x, y in two],
        "mac": [
            np.mean([mean(protected_class=c, attribute_class=a) for a in sets], axis=0)
            for c in classes
        ],
    }
    return {name: [w for w in scores if np.isfinite(w).all()] for name, scores in scores_of.items()}


def _terms(
    design: Design,
    draws: Mapping[str, np.ndarray],
    rows: Sequence[np.ndarray],
    table: pd.DataFrame,
) -> list[_Term]:
    """Return the terms of the mean and the noise over the cells."""
    spec = design.spec
    of_terms = (term_variances(design, draws, own) for own in rows)
    noise = (noise_variance(design, draws, own) for own in rows)
    variances = [{**own, "": rest} for own, rest in zip(of_terms, noise, strict=True)]
    dims = {name: spec.parameters[name].dims for name in spec.location_parameters()}
    terms = []
    for name, own in {**dims, "": (_WORD, _ATTRIBUTE, *_CELL)}.items():
        # What tells the entries of a cell from those of another.
        columns = sorted({_GROUPED.get(dim, dim) for dim in own})
        shared: dict[tuple[str, ...], list[int]] = {}
        for cell, at in enumerate(rows):
            key = tuple(str(table[dim].iloc[at[0]]) for dim in columns)
            shared.setdefault(key, []).append(cell)
        groups = []
        for members in shared.values():
            each = [variances[cell].get(name, np.array([np.nan])) for cell in members]
            groups.append((members, np.sqrt(np.stack(np.broadcast_arrays(*each), axis=-1))))
        terms.append(_Term(own, groups))
    return terms


def _components(
    measure: str,
    kind: str,
    objects: Sequence[np.ndarray],
    terms: Sequence[_Term],
    means: np.ndarray,
) -> Components | str:
    """Sort what each term adds to a score into universe score and errors.

    Averaged over the objects.
    """
    if kind == "relative" and measure != "word":
        # Half the squared difference of two objects: what all have in common drops out.
        objects = [(a - b) / np.sqrt(2) for a, b in itertools.combinations(objects, 2)]
    if not objects:
        return "one_class"
    parts: dict[str, Any] = dict.fromkeys(("universe", "word", "attribute", "pair"), 0.0)
    if kind == "against_zero":
        parts["universe"] = np.mean([(means @ weights) ** 2 for weights in objects], axis=0)
    for term in terms:
        place = _place(measure, kind, term.dims)
        if place is None:
            continue
        variance = sum(term.variance(weights) for weights in objects) / len(objects)
        if not np.isnan(variance).any():
            parts[place] = parts[place] + variance
        elif {_WORD, _ATTRIBUTE} & set(term.dims):
            return "fixed_words"
    if not np.any(parts["universe"]):
        return "no_words" if measure == "word" else "no_classes"
    return Components(*np.broadcast_arrays(*parts.values()))


def _place(measure: str, kind: str, dims: Collection[str]) -> str | None:
    """Return where the variance of a term goes.

    None where it is the same for all objects, or no variance.
    """
    words, attributes = _WORD in dims, _ATTRIBUTE in dims
    if measure == "word":
        if words:
            return "attribute" if attributes else "universe"
        return "attribute" if attributes and kind != "relative" else None
    if words:
        return "pair" if attributes else "word"
    if attributes:
        return "attribute"
    # Against zero the classes are those of the table, and theirs is a mean, not a variance.
    return "universe" if {_CLASS, _LIST} & set(dims) and kind != "against_zero" else None
