"""A model laid over a table, as index arrays: `Design`.

Every way of fitting reads the same arrays: the PyMC model, the reduction and predictive draws.
Nothing here samples.

A parameter with the dimensions (word, connection) is an array with one entry for each combination
of their labels. A *flat entry* is the place of an entry in the flattened array. ``index[name][n]``
is the flat entry that row n uses, so that ``values[name].ravel()[index[name]]`` is what each row
has.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import FitError, InputError, nearest, some
from bayesbias.models.distributions import DISTRIBUTIONS
from bayesbias.models.outcomes import Outcome
from bayesbias.models.spec import ModelSpec
from bayesbias.wordlists.wordlist import CONNECTIONS

type Arrays = Mapping[str, np.ndarray]
"""Values of parameters, or what rows have, by name."""


@dataclass(frozen=True, eq=False)
class Design:
    """A model laid over a table: labels, flat index arrays, and the outcome.

    Attributes
    ----------
    spec : ModelSpec
        The model.
    coords : Mapping of str to list of str
        The labels of each column that the model or its results name: connections in their usual
        order, others sorted, so that what is sampled does not depend on the order of the rows.
    codes : Mapping of str to ndarray of int, shape (n_pairs,)
        The place of each row's label in `coords`.
    shown : Mapping of str to list of str
        The same labels in the order of the table, as results show them.
    y : ndarray, shape (n_pairs,)
        The outcome.
    index : Mapping of str to ndarray of int, shape (n_pairs,)
        The flat entry that each row uses, of every location and every noise parameter.
    parent : Mapping of (str, str) to ndarray of int
        For a parameter and an argument of its prior that is another parameter, such as ``(name,
        "sigma")``: the flat entry of the other one that each flat entry uses.
    covariates : Mapping of str to ndarray of float, shape (n_pairs,)
        The columns of numbers that terms are multiplied by.
    only : Mapping of str to ndarray of bool, shape (n_pairs,)
        Which rows have a term, for terms that some rows lack.
    trials : ndarray, shape (n_pairs,), optional
        The number of trials of each row, where the outcome is a count of trials.
    weights : ndarray, shape (n_pairs,), optional
        The number of observations that the outcome of each row is the mean of.
    """

    spec: ModelSpec
    coords: Mapping[str, list[str]]
    codes: Arrays
    shown: Mapping[str, list[str]]
    y: np.ndarray
    index: Arrays
    parent: Mapping[tuple[str, str], np.ndarray]
    covariates: Arrays = field(default_factory=dict)
    only: Arrays = field(default_factory=dict)
    trials: np.ndarray | None = None
    weights: np.ndarray | None = None

    @classmethod
    def of(cls, spec: ModelSpec, frame: pd.DataFrame) -> Design:
        """Lay `spec` over `frame`.

        Raises
        ------
        InputError
            If a column is missing, or a parameter of a prior has a dimension that those of its
            child do not determine.
        """
        parameters = spec.parameters.items()
        numbers = [*spec.covariates(), spec.outcome, *filter(None, (spec.trials, spec.weights))]
        for column in [*sorted(spec.label_columns()), *numbers]:
            if column not in frame.columns:
                names = list(map(str, frame.columns))
                hint = nearest(column, names)
                if not spec.origin and not set(spec.units) <= set(names):  # another kind of table
                    hint = f"a row of it is one {' x '.join(spec.units)}"
                problem = f"expected a table with the column {column!r}, got {some(names)}"
                raise InputError(problem, where=spec.label, hint=hint)
        if len(frame) == 0:
            raise FitError(f"{spec.label}: expected a table with rows, got none")
        y = _numbers(frame, spec.outcome)
        covariates = {name: _numbers(frame, name) for name in spec.covariates()}
        coords: dict[str, list[str]] = {}
        codes: dict[str, np.ndarray] = {}
        shown: dict[str, list[str]] = {}
        by = [spec.results.group, *(level.by for level in spec.results.levels.values())]
        by.append("attribute_class")  # reliability has scores of attribute sets
        for column in sorted(spec.label_columns() | set(by) & set(frame.columns)):
            shown[column], coords[column], codes[column] = encoded(frame[column], column)

        @functools.cache  # parameters of the same dimensions share an array of some MB
        def flat(dims: tuple[str, ...]) -> np.ndarray:
            if len(dims) == 1:
                return codes[dims[0]]
            out = np.zeros(len(y), dtype=np.int32)
            for dim in dims:
                out *= len(coords[dim])
                out += codes[dim]
            return out

        parent = {
            (name, arg): _parent_map(spec, coords, codes, name, value)
            for name, parameter in parameters
            for arg, value in parameter.args.items()
            if isinstance(value, str)
        }
        noise = [value for value in spec.noise.values() if isinstance(value, str)]
        index = {name: flat(spec.parameters[name].dims) for name in (*spec.mu, *noise)}
        # A parent's entry follows from the child's, also where the parent has another dimension.
        for name in reversed(spec.location_parameters()):
            up = spec.parameters[name].args["mu"]
            if isinstance(up, str) and up not in spec.mu:
                index[up] = parent[name, "mu"][index[name]]
        only = {
            name: np.all(
                [np.equal(coords[c], label)[codes[c]] for c, label in term.only.items()], axis=0
            )
            for name, term in parameters
            if term.only
        }
        trials = _numbers(frame, spec.trials) if spec.trials else None
        weights = _numbers(frame, spec.weights) if spec.weights else None
        if not spec.outcome_type.possible(y, trials, spec.noise).all():
            where = f"the column {spec.outcome}"
            if spec.trials:
                where = f"the columns {spec.outcome}, {spec.trials}"
            raise InputError(f"expected {spec.outcome_type.possible_words}", where=where)
        return cls(spec, coords, codes, shown, y, index, parent, covariates, only, trials, weights)

    @property
    def outcome_type(self) -> Outcome:
        """What the likelihood takes the outcome to be."""
        return self.spec.outcome_type

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a parameter."""
        return tuple(len(self.coords[dim]) for dim in self.spec.parameters[name].dims)

    def size(self, name: str) -> int:
        """Return the number of entries of a parameter."""
        return int(np.prod(self.shape(name), dtype=int))

    @property
    def effects(self) -> int:
        """The number of effects that enter rows."""
        return sum(len(np.unique(self.index[name])) for name in self.spec.mu)

    @property
    def units(self) -> Arrays:
        """The codes of the columns that identify a row."""
        return {unit: self.codes[unit] for unit in self.spec.units}

    def labels(self, column: str) -> tuple[list[str], np.ndarray]:
        """Return the labels of a column and each row's code, in the order of these rows.

        Connections keep their usual order.
        """
        if column not in self.codes:
            raise FitError(f"{self.spec.label}: expected a table with the column {column!r}")
        if column == "connection":
            return self.coords[column], self.codes[column]
        codes, present = pd.factorize(self.codes[column])
        return [self.coords[column][k] for k in present], codes

    def order(self) -> np.ndarray | None:
        """Return the rows sorted by unit labels, then by outcome; None if they are sorted.

        What is sampled then does not depend on the order in which rows came.
        """
        joint = np.zeros(len(self.y), dtype=np.int64)
        for unit, codes in self.units.items():
            joint = joint * len(self.coords[unit]) + codes
        if (joint[1:] > joint[:-1]).all():
            return None
        order = np.argsort(joint, kind="stable")
        ordered = joint[order]
        if (ordered[1:] > ordered[:-1]).all():
            return order
        weights = [] if self.weights is None else [self.weights]
        order = np.lexsort(
            (
                *weights,
                self.y,
                *self.covariates.values(),
                *self.only.values(),
                *self.index.values(),
                joint,
            )
        )
        return None if np.array_equal(order, np.arange(len(order))) else order

    def ordered(self) -> Design:
        """Return the same design with its rows sorted (`order`)."""
        order = self.order()
        return self if order is None else self.of_rows(order)

    def of_rows(self, rows: np.ndarray) -> Design:
        """Return the same design with some of its rows, by their places or a mask."""
        taken: dict[int, np.ndarray] = {}

        def of(columns: Arrays) -> dict[str, np.ndarray]:
            for column in columns.values():
                if id(column) not in taken:
                    taken[id(column)] = column[rows]
            return {name: taken[id(column)] for name, column in columns.items()}

        return replace(
            self,
            y=self.y[rows],
            index=of(self.index),
            codes=of(self.codes),
            covariates=of(self.covariates),
            only=of(self.only),
            trials=None if self.trials is None else self.trials[rows],
            weights=None if self.weights is None else self.weights[rows],
        )

    @functools.cached_property
    def _content(self) -> bytes:
        """The SHA-256 of the model file and of all rows, whatever their order."""
        rows = self.ordered()
        dims = {dim for parameter in self.spec.parameters.values() for dim in parameter.dims}
        labels = {name: self.coords[name] for name in {*self.spec.units, *dims}}
        digest = hashlib.sha256(self.spec.text.encode("utf-8"))
        digest.update(repr(sorted(labels.items())).encode("utf-8"))
        columns = {
            id(column): column for group in (rows.units, rows.index) for column in group.values()
        }
        trials = [each for each in (rows.trials, rows.weights) if each is not None]
        more = (*rows.covariates.values(), *rows.only.values(), *trials)
        for column in (rows.y, *columns.values(), *more):
            digest.update(np.ascontiguousarray(column))
        return digest.digest()

    def stream(self, seed: int) -> int:
        """Return the seed of a fit's random numbers, which depends on the rows and the model."""
        digest = hashlib.sha256(self._content + str(int(seed)).encode("ascii")).digest()
        return int.from_bytes(digest[:4], "little")

    def lever(self, name: str, rows: Any = slice(None)) -> np.ndarray | None:
        """Return the factor of a term in each row; None if it is 1 in all.

        It is the covariate of the row, and 0 where the row lacks the term.
        """
        covariate = self.spec.parameters[name].covariate
        out = None if covariate is None else self.covariates[covariate][rows]
        if name not in self.only:
            return out
        present = self.only[name][rows]
        return present.astype(float) if out is None else out * present

    def without_data(self, name: str) -> np.ndarray:
        """Return a mask of the entries of a location parameter that enter no row."""
        rows, lever = self.index[name], self.lever(name)
        out = np.ones(self.size(name), dtype=bool)
        out[rows if lever is None else rows[lever != 0]] = False
        return out

    def mean(self, draws: Arrays) -> np.ndarray:
        """Return the mean of each row for given parameter values.

        Parameters
        ----------
        draws : Mapping of str to ndarray, shape (..., *shape of the parameter)

        Returns
        -------
        ndarray, shape (..., n_pairs)
        """
        out: Any = 0.0
        for name in self.spec.mu:
            term = self._of_rows(name, draws)
            lever = self.lever(name)
            if lever is not None:
                term = term * lever
            out = out + term
        return out

    def _of_rows(self, name: str, draws: Arrays) -> np.ndarray:
        """Return the value of a parameter that each row uses."""
        values = np.asarray(draws[name])
        lead = values.shape[: values.ndim - len(self.shape(name))]
        return values.reshape((*lead, -1))[..., self.index[name]]

    def noise(self, draws: Arrays, arg: str) -> np.ndarray | float:
        """Return ``sigma`` or ``nu`` of each row, or the one number they share."""
        value = self.spec.noise[arg]
        noise = self._of_rows(value, draws) if isinstance(value, str) else float(value)
        if self.weights is None or arg != "sigma":
            return noise
        return noise / np.sqrt(self.weights)

    def prior_draws(self, n: int, seed: int, given: Arrays | None = None) -> Arrays:
        """Draw every parameter from its prior, given values of some.

        Parameters
        ----------
        n, seed : int
        given : Mapping of str to ndarray, shape of the parameter, optional
            Values of parameters that are not drawn.

        Returns
        -------
        dict of str to ndarray, shape (n, *shape of the parameter)
        """
        rng = np.random.default_rng(seed)
        done: dict[str, np.ndarray] = {
            name: np.broadcast_to(np.asarray(value, dtype=float), (n, *self.shape(name)))
            for name, value in (given or {}).items()
        }

        def draw(name: str) -> None:
            if name in done:
                return
            parameter = self.spec.parameters[name]
            values: dict[str, Any] = {}
            for arg, value in parameter.args.items():
                if isinstance(value, str):
                    draw(value)
                    values[arg] = done[value].reshape(n, -1)[:, self.parent[name, arg]]
                else:
                    values[arg] = value
            flat = DISTRIBUTIONS[parameter.distribution].draw(
                rng, **values, size=(n, self.size(name))
            )
            done[name] = flat.reshape((n, *self.shape(name)))

        for name in self.spec.parameters:
            draw(name)
        return {name: done[name] for name in self.spec.parameters}

    def outcome_draws(self, draws: Arrays, seed: int) -> np.ndarray:
        """Draw new outcomes for every row, given parameter values.

        Returns
        -------
        ndarray, shape (..., n_pairs)
        """
        order = self.order()
        if order is not None:
            out = np.empty(np.shape(self.mean(draws)))
            out[..., order] = self.ordered().outcome_draws(draws, seed)
            return out
        mean, rng = self.mean(draws), np.random.default_rng(seed)
        return self.outcome_type.draw(rng, mu=mean, **self._noise_args(draws), size=mean.shape)

    def _noise_args(self, draws: Arrays) -> dict[str, np.ndarray | float]:
        trials = {} if self.trials is None else {"trials": self.trials}
        return {arg: self.noise(draws, arg) for arg in self.spec.noise} | trials

    def log_likelihood(self, draws: Arrays) -> np.ndarray:
        """Return the log-density of each observed row, given parameter values.

        Returns
        -------
        ndarray, shape (..., n_pairs)
        """
        density = self.outcome_type.log_density
        return density(self.y, mu=self.mean(draws), **self._noise_args(draws))


def _numbers(frame: pd.DataFrame, column: str) -> np.ndarray:
    """Return a column of finite numbers."""
    values = pd.to_numeric(frame[column], errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    if not (finite := np.isfinite(values)).all():
        row = int(np.argmin(finite))
        where, found = f"column {column}, row {row}", frame[column].iloc[[row]].tolist()[0]
        raise InputError("expected a finite number", where=where, found=found)
    return values


def encoded(column: pd.Series, name: str) -> tuple[list[str], list[str], np.ndarray]:
    """Return the labels in the order of the rows, the labels sorted, and each row's place in these.

    Connections keep their usual order in both.
    """
    if column.isna().any():
        row = int(np.flatnonzero(column.isna().to_numpy())[0])
        raise InputError("expected a label, got an empty cell", where=f"column {name}, row {row}")
    if isinstance(column.dtype, pd.CategoricalDtype):  # a million rows of ten labels stay numbers
        codes, used = pd.factorize(column.cat.codes.to_numpy())
        names = column.cat.categories[used]
    else:
        codes, names = pd.factorize(column.astype(str).to_numpy())
    shown = [str(label) for label in names]
    usual = {c: k for k, c in enumerate(CONNECTIONS)} if name == "connection" else {}
    order = sorted(shown, key=lambda label: (usual.get(label, len(usual)), label))
    place = {label: k for k, label in enumerate(order)}
    places = np.array([place[label] for label in shown], dtype=np.int32)
    return order if usual else shown, order, places[codes]


def _parent_map(
    spec: ModelSpec,
    coords: dict[str, list[str]],
    codes: dict[str, np.ndarray],
    child: str,
    parent: str,
) -> np.ndarray:
    """Return the flat entry of `parent` that each flat entry of `child` uses."""
    dims, up = spec.parameters[child].dims, spec.parameters[parent].dims
    shape = tuple(len(coords[dim]) for dim in dims)
    grid = np.indices(shape).reshape(len(dims), -1) if dims else np.zeros((0, 1), dtype=np.int64)
    out = np.zeros(grid.shape[1], dtype=np.int64)
    for dim in up:
        if dim in dims:
            level = grid[dims.index(dim)]
        else:
            level = None
            for position, known in enumerate(dims):
                mapped = determined(codes[known], codes[dim])
                if mapped is not None:
                    level = mapped[grid[position]]
                    break
            if level is None:
                problem = f"expected dims of {parent!r} that those of {child!r} determine"
                where = f"{spec.label}, [parameter.{child}]"
                raise InputError(problem, where=where, found=dim, valid=dims)
        out = out * len(coords[dim]) + level
    return out


def determined(codes: np.ndarray, values: np.ndarray) -> np.ndarray | None:
    """Return the value of each code, or None where rows of one code differ in it."""
    out = np.zeros(codes.max() + 1, dtype=values.dtype)
    out[codes] = values
    return out if np.array_equal(out[codes], values) else None
