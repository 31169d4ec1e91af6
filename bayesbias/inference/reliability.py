r"""How reliable a score of k words and m attributes is: generalizability coefficients from the spreads of a model.

A score is a weighted sum of distances. Under a normal model each random term adds to its variance, and a replication,
the same object measured with other words and attributes, keeps some terms and draws others anew. What is kept is the
universe score, what is drawn anew is error, and

.. math:: E\rho^2, \Phi = \frac{\sigma^2(\tau)}{\sigma^2(\tau) + \sigma^2_k/k + \sigma^2_m/m + \sigma^2_{km}/(km)}

(Cronbach, Gleser, Nanda & Rajaratnam 1972; Brennan 2001, *Generalizability Theory*). With relative error the
coefficient is :math:`E\rho^2`, that of differences between objects measured with the same attributes; with absolute
error it is :math:`\Phi`, that of one object's score by itself. It is the correlation of two independent replications
of the score.

Objects are drawn like those of the table: words of one class; classes, in how their words lie to lists of stereotypes.
What has a prior with a fixed spread, such as a connection or a list as a whole, is no sample of anything. It is a
constant here, in the score and in its replication.

That all classes have an association does not make a score reliable in that sense, as little as a test is reliable because
all pass it. What tells a score from none is the coefficient against zero, :math:`\Phi(\lambda)` at :math:`\lambda = 0`
(Brennan & Kane 1977; Brennan 2001), with the classes of the table for all there are:

.. math:: \Phi(0) = \frac{\mu^2 + \sigma^2(\tau)}{\mu^2 + \sigma^2(\tau) + \sigma^2(\Delta)}

where :math:`\mu` is what the score of the object itself is with endless words and attributes. At 0.8 the score is two
of its standard errors away from zero.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import FitError, InputError
from bayesbias.inference.estimates import labelled_draws
from bayesbias.inference.spreads import check_normal_noise, noise_variance, term_variances
from bayesbias.models.design import Design

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["LEFT_OUT", "MEASURES", "Components", "score_components"]

MEASURES: Mapping[str, tuple[str, ...]] = {
    "word": ("relative", "absolute", "against_zero"),
    "class": ("relative", "absolute", "against_zero"),
    "stereotype": ("absolute", "against_zero"),
    "weat": ("absolute", "against_zero"),
    "mac": ("relative", "absolute"),
}
"""The scores that a coefficient is given for, and which coefficients.

- ``word``: associated - different of one word (its `words` are 1); the objects are words of a class;
- ``class``: associated - different of one class; the objects are classes;
- ``stereotype``: one list of stereotypes, its own class's words less those of the others;
- ``weat``: of two classes, the difference of the mean association of their words (equation 3 of the seed paper, over the
  number of words);
- ``mac``: the mean distance of the words of one class to all lists.

``relative``: differences between objects measured with the same attributes. ``absolute``: the score of one object by itself,
held against those of others. ``against_zero``: the score held against none at all, of the classes of the table; at 0.8 it is
two standard errors away.

Two or three classes say little of how classes differ, so that coefficients of classes held against others have wide intervals,
and lean on the prior of that spread; of two classes on two lists without controls they are left out. Lists and classes weigh
alike, whatever their lengths. The square of an association that is not clear of zero is on average too large, and a short list of
words makes the spread of words look large rather than small: from little data coefficients, above all those against zero,
come out too high rather than too low.
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
_NOISE = ""
_LEAST_CONTRASTS = 2  # of classes by lists; a spread known from a single one is its prior's
_GROUPED = {_WORD: _CLASS, _ATTRIBUTE: _LIST}


@dataclass(frozen=True, eq=False)
class Components:
    """The variance of a score, one number a draw: its universe score, and what k words and m attributes divide."""

    universe: np.ndarray
    per_word: np.ndarray
    per_attribute: np.ndarray
    per_pair: np.ndarray

    def coefficient(self, words: float, attributes: float) -> np.ndarray:
        """Return the coefficient of a score of so many words a class and attributes a list; either may be infinite."""
        error = (
            self.per_word / words
            + self.per_attribute / attributes
            + self.per_pair / (words * attributes)
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.universe > 0, self.universe / (self.universe + error), 0.0)


@dataclass(frozen=True, eq=False)
class _Cell:
    """The pairs of one class with one list under one connection."""

    labels: Mapping[str, str]
    rows: np.ndarray


@dataclass(frozen=True, eq=False)
class _Term:
    """A random term: what it belongs to, and the cells that share its entries, with the sd of these in each cell."""

    words: bool
    attributes: bool
    of_classes: bool
    groups: Sequence[
        tuple[np.ndarray, np.ndarray]
    ]  # cells of a group; sd of an entry in each, shape (n or 1, cells): an effect may count more in some classes

    def variance(self, weights: np.ndarray) -> Any:
        """Return what the term adds to the variance of a score with one weight a cell, of one word and one attribute."""
        return sum((sd @ weights[cells]) ** 2 for cells, sd in self.groups)


def check_scores(design: Design, table: pd.DataFrame) -> None:
    """Refuse a model or a table that no such score comes from."""
    spec = design.spec
    check_normal_noise(spec, "coefficients of reliability")
    other = [
        name
        for name in spec.location_parameters()
        if spec.is_random(name) and spec.parameters[name].distribution != "Normal"
    ]
    if other:
        raise FitError(
            f"reliability needs normal effects, and {other[0]} of {spec.label} has {spec.parameters[other[0]].distribution}"
        )
    lacking = [
        name
        for name in (_WORD, _CLASS, _ATTRIBUTE, _LIST, "connection")
        if name not in table.columns
    ]
    if lacking or set(spec.units) - {_WORD, _ATTRIBUTE}:
        what = (
            f"the table lacks {lacking[0]}"
            if lacking
            else f"its pairs are told by {', '.join(spec.units)}"
        )
        raise FitError(
            f"reliability is that of scores of words by attributes; of {spec.label} {what}"
        )


def numbers_of_words(table: pd.DataFrame) -> tuple[float, float]:
    """Return the words of a class and the stereotypes of a list: harmonic means, as they divide variances."""
    rows = table[table["connection"].isin(["associated", "different"])]
    out = []
    for key, name in ((_CLASS, _WORD), (_LIST, _ATTRIBUTE)):
        counts = rows.groupby(key, observed=True)[name].nunique().to_numpy()
        out.append(round(float(len(counts) / (1 / counts).sum()), 12) if len(counts) else 1.0)
    return out[0], out[1]


def score_components(
    design: Design, table: pd.DataFrame, draws: Mapping[str, np.ndarray]
) -> dict[tuple[str, str], Components | str]:
    """Return the variance components of every score, by measure and coefficient, or why there are none.

    Parameters
    ----------
    design : Design
    table : DataFrame
        The rows the design was laid over.
    draws : Mapping of str to ndarray, shape (n, *shape of the parameter)
        Of the spreads, and of what classes, lists and connections have as such.

    Returns
    -------
    dict of (str, str) to Components or str
        A text is a key of `LEFT_OUT`.

    Raises
    ------
    FitError
        For noise or effects that are not normal, and a table that is not one of words by attributes.
    """
    check_scores(design, table)
    cells = _cells(table)
    kinds = [(measure, kind) for measure, of_it in MEASURES.items() for kind in of_it]
    if not cells:
        return dict.fromkeys(kinds, "one_class")
    if any(not _within(cells, table, dim) for dim in _random_dims(design)):
        return dict.fromkeys(kinds, "other_columns")
    scores = _scores(cells)
    terms = _terms(design, draws, cells, table)
    means = _cell_means(design, draws, cells)
    parts_of = {
        (measure, kind): _components(measure, kind, scores, terms, means) for measure, kind in kinds
    }
    if (table[_CLASS].nunique() - 1) * (table[_LIST].nunique() - 1) < _LEAST_CONTRASTS:
        for (measure, kind), parts in parts_of.items():
            if measure != "word" and kind != "against_zero" and isinstance(parts, Components):
                parts_of[measure, kind] = "few_classes"
    return parts_of


def reliability_draws(
    design: Design,
    table: pd.DataFrame,
    draws: Mapping[str, np.ndarray],
    chains: int,
    words: int | Sequence[int] | None,
    attributes: int | Sequence[int] | None,
) -> xr.DataArray:
    """Return draws of the coefficients, labelled by the columns of `BiasFit.reliability`; NaN where left out."""
    parts_of = score_components(design, table, draws)
    listed = numbers_of_words(table)
    many_words = _numbers(words, "words", listed[0])
    many_attributes = _numbers(attributes, "attributes", listed[1])
    rows, columns = [], []
    n = len(next(iter(draws.values())))
    for (measure, kind), parts in parts_of.items():
        # The score of a word is of one word, however many a class has.
        for k, m in itertools.product([1] if measure == "word" else many_words, many_attributes):
            left_out = parts if isinstance(parts, str) else ""
            rows.append((measure, f"{k:.12g}", f"{m:.12g}", kind, left_out))
            columns.append(
                np.full(n, np.nan) if isinstance(parts, str) else parts.coefficient(k, m)
            )
    labels = {
        name: [row[place] for row in rows]
        for place, name in enumerate(("measure", "words", "attributes", "coefficient", "left_out"))
    }
    return labelled_draws(np.stack(columns, axis=-1).reshape(chains, -1, len(rows)), labels)


def _numbers(value: Any, where: str, default: float) -> list[float]:
    if value is None:
        return [default]
    several = (
        list(value)
        if isinstance(value, Sequence | np.ndarray)
        and not isinstance(value, str | bytes | bytearray)
        else [value]
    )
    if not several:
        raise InputError(
            "holds no number", where=where, found=value, valid="at least one whole number"
        )
    return list(dict.fromkeys(checks.count(number, where, most=_MOST_WORDS) for number in several))


# -- a table as cells of class by list -------------------------------------------------------------------


def _cells(table: pd.DataFrame) -> list[_Cell]:
    """Return the cells of class, list and connection that hold stereotypes."""
    keys = [_CLASS, _LIST, "connection"]
    labels = table[keys].astype(str).reset_index(drop=True)
    chosen = labels[labels["connection"].isin(["associated", "different"])]
    groups = chosen.groupby(keys, sort=False, observed=True).indices
    positions = chosen.index.to_numpy()
    return [
        _Cell(dict(zip(keys, map(str, key), strict=True)), positions[np.asarray(at)])
        for key, at in groups.items()
    ]


def _random_dims(design: Design) -> list[str]:
    """Return the columns that random terms and the noise belong to."""
    spec = design.spec
    names = [name for name in spec.location_parameters() if spec.is_random(name)]
    return list(dict.fromkeys(dim for name in names for dim in spec.parameters[name].dims))


def _within(cells: Sequence[_Cell], table: pd.DataFrame, dim: str) -> bool:
    """Whether a column is a unit, or the same in all pairs of a cell."""
    if dim in _GROUPED or dim in (_CLASS, _LIST, "connection"):
        return True
    values = table[dim].astype(str).to_numpy()
    return all(len(set(values[cell.rows])) == 1 for cell in cells)


def _scores(cells: Sequence[_Cell]) -> dict[str, list[np.ndarray]]:
    """Return the scores of every measure as weights of the cells, one score for each object."""
    classes = list(dict.fromkeys(cell.labels[_CLASS] for cell in cells))
    lists = list(dict.fromkeys(cell.labels[_LIST] for cell in cells))

    def mean(**labels: str) -> np.ndarray:
        weights = np.array(
            [float(all(cell.labels[k] == v for k, v in labels.items())) for cell in cells]
        )
        return weights / weights.sum() if weights.sum() else np.full(len(cells), np.nan)

    gaps = [
        mean(protected_class=c, connection="associated")
        - mean(protected_class=c, connection="different")
        for c in classes
    ]
    on_lists = [
        mean(attribute_class=a, connection="associated")
        - mean(attribute_class=a, connection="different")
        for a in lists
    ]
    # Of two classes: own less the other's, of both, which is the difference of the mean s(w) with the sign turned.
    weats = []
    for x, y in itertools.combinations(classes, 2):
        own = {
            c: {cell.labels[_LIST] for cell in cells if cell.labels[_CLASS] == c and cell.labels["connection"] == "associated"}
            for c in (x, y)
        }  # fmt: skip
        weights = np.zeros(len(cells))
        for c, other in ((x, y), (y, x)):
            for sign, of_lists in ((1, own[c]), (-1, own[other])):
                parts = [mean(protected_class=c, attribute_class=a) for a in sorted(of_lists)]
                weights = weights + (sign * np.mean(parts, axis=0) if parts else np.nan)
        weats.append(weights)
    macs = [
        np.mean([mean(protected_class=c, attribute_class=a) for a in lists], axis=0)
        for c in classes
    ]
    scores_of = {"word": gaps, "class": gaps, "stereotype": on_lists, "weat": weats, "mac": macs}
    return {name: [w for w in scores if np.isfinite(w).all()] for name, scores in scores_of.items()}


# -- terms -----------------------------------------------------------------------------------------------


def _terms(
    design: Design, draws: Mapping[str, np.ndarray], cells: Sequence[_Cell], table: pd.DataFrame
) -> list[_Term]:
    """Return the terms of the mean and the noise over the cells; what is fixed has a variance of NaN."""
    spec = design.spec
    dims = {name: spec.parameters[name].dims for name in spec.location_parameters()}
    dims[_NOISE] = (_WORD, _ATTRIBUTE, _CLASS, _LIST, "connection")
    by_cell = [
        {
            **term_variances(design, draws, cell.rows),
            _NOISE: noise_variance(design, draws, cell.rows),
        }
        for cell in cells
    ]
    terms = []
    for name, own in dims.items():
        shared: dict[tuple[str, ...], list[int]] = {}
        for place, cell in enumerate(cells):
            shared.setdefault(_key(cell, own, table), []).append(place)
        groups = []
        for members in shared.values():
            each = np.broadcast_arrays(*(by_cell[i].get(name, np.array([np.nan])) for i in members))
            groups.append((np.array(members), np.sqrt(np.stack(each, axis=-1))))
        terms.append(
            _Term(_WORD in own, _ATTRIBUTE in own, bool({_CLASS, _LIST} & set(own)), groups)
        )
    return terms


def _key(cell: _Cell, dims: Sequence[str], table: pd.DataFrame) -> tuple[str, ...]:
    """Return what tells the entries of a cell from those of another."""
    grouped = sorted({_GROUPED.get(dim, dim) for dim in dims})
    first = cell.rows[0]
    return tuple(
        cell.labels[dim] if dim in cell.labels else str(table[dim].iloc[first]) for dim in grouped
    )


def _cell_means(
    design: Design, draws: Mapping[str, np.ndarray], cells: Sequence[_Cell]
) -> np.ndarray:
    """Return the mean of every cell over new words and attributes, shape (n, cells)."""
    spec = design.spec

    def term(name: str, index: np.ndarray, lever: np.ndarray) -> Any:
        parameter = spec.parameters[name]
        if spec.is_random(name) and {_WORD, _ATTRIBUTE} & set(parameter.dims):
            centre = parameter.args["mu"]
            if isinstance(centre, str):
                return term(centre, design.parent[name, "mu"][index], lever)
            return float(centre) * np.array([lever[cell.rows].mean() for cell in cells])
        flat = draws[name].reshape(len(draws[name]), -1)
        averages = []
        for cell in cells:
            entries = [index[cell.rows]]
            if parameter.times is not None:
                entries.append(design.index[parameter.times][cell.rows])
            used, at = np.unique(np.stack(entries), axis=1, return_inverse=True)
            values = flat[:, used[0]]
            if parameter.times is not None:
                values = values * draws[parameter.times].reshape(len(flat), -1)[:, used[1]]
            averages.append(values @ (np.bincount(at.ravel(), lever[cell.rows]) / len(cell.rows)))
        return np.stack(averages, axis=-1)

    def lever_of(name: str) -> np.ndarray:
        lever = design.lever(name)
        return np.ones(len(design.y)) if lever is None else lever

    size = (len(next(iter(draws.values()))), len(cells))
    return np.broadcast_to(
        sum(term(name, design.index[name], lever_of(name)) for name in spec.mu), size
    )


def _components(
    measure: str,
    kind: str,
    scores: Mapping[str, Sequence[np.ndarray]],
    terms: Sequence[_Term],
    means: np.ndarray,
) -> Components | str:
    """Sort what each term adds to a score into its universe score and its errors, averaged over the objects."""
    objects = scores[measure]
    if kind == "relative" and measure != "word":
        # Half the squared difference of two objects: what all have in common drops out.
        objects = [(a - b) / np.sqrt(2) for a, b in itertools.combinations(objects, 2)]
    if not objects:
        return "one_class"
    parts: dict[str, Any] = {"universe": 0.0, "word": 0.0, "attribute": 0.0, "pair": 0.0}
    if kind == "against_zero":
        parts["universe"] = np.mean([(means @ weights) ** 2 for weights in objects], axis=0)
    for term in terms:
        place = _place(measure, kind, term)
        added = [term.variance(weights) for weights in objects if place and _counts(term, weights)]
        if place is None or not added:
            continue
        variance = sum(added) / len(objects)
        if not np.isnan(variance).any():
            parts[place] = parts[place] + variance
        elif term.words or term.attributes:
            return "fixed_words"
    if not np.any(parts["universe"]):
        return "no_words" if measure == "word" else "no_classes"
    universe, *errors = np.broadcast_arrays(*parts.values())
    return Components(universe, *errors)


def _counts(term: _Term, weights: np.ndarray) -> bool:
    """Whether a term does not cancel in a score; the weights are quotients, and cancel but for rounding.

    Where an effect counts more in some classes than in others it does not cancel though the weights do.
    """
    for cells, sd in term.groups:
        # What is fixed has no sd (NaN), and cancels with its weights.
        left = np.where(np.isnan(sd).any(axis=-1), weights[cells].sum(), sd @ weights[cells])
        if np.abs(left).max() > 1e-12:
            return True
    return False


def _place(measure: str, kind: str, term: _Term) -> str | None:
    """Return where the variance of a term goes; None where it is the same for all objects, or no variance."""
    if measure == "word":
        if term.words:
            return "attribute" if term.attributes else "universe"
        return "attribute" if term.attributes and kind != "relative" else None
    if term.words:
        return "pair" if term.attributes else "word"
    if term.attributes:
        return "attribute"
    # Against zero the classes are those of the table, and theirs is a mean, not a variance.
    return "universe" if term.of_classes and kind != "against_zero" else None
