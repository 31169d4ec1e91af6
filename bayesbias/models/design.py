"""A model laid over a table becomes a `Design`.

Nothing here samples. `Design` holds the index arrays that every way of fitting shares, so that the
plain PyMC model, the collapsed one and the predictive draws cannot disagree about who meets whom.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core.errors import FitError, InputError, nearest
from bayesbias.core.formatting import some
from bayesbias.models.distributions import DISTRIBUTIONS
from bayesbias.models.spec import ModelSpec
from bayesbias.wordlists.wordlist import CONNECTIONS

type Arrays = Mapping[str, np.ndarray]
"""Values of parameters, or what rows have, by name."""


@dataclass(frozen=True, eq=False)
class Design:
    """A spec laid over a table: labels, flat index arrays, and the outcome.

    Attributes
    ----------
    spec : ModelSpec
        The model.
    coords : Mapping of str to list of str
        The labels of each column of labels that the model or its results name, connections in their
        usual order, others in that of the alphabet: whatever is sampled does not depend on the
        order in which rows come.
    codes : Mapping of str to ndarray of int, shape (n_pairs,)
        The place of each row's label in `coords`.
    shown : Mapping of str to list of str
        The labels in the order in which they come in the table.
    y : ndarray, shape (n_pairs,)
        The outcome.
    index : Mapping of str to ndarray of int, shape (n_pairs,)
        For every location parameter and every noise parameter, the flat entry a row uses.
    parent : Mapping of (str, str) to ndarray of int
        For a parameter and one of its arguments that is itself a parameter, the flat entry of the
        latter that each flat entry of the former uses.
    covariates : Mapping of str to ndarray of float, shape (n_pairs,)
        The columns of numbers that terms are multiplied by.
    only : Mapping of str to ndarray of bool, shape (n_pairs,)
        For a term that not all rows have, which of them have it.
    trials : ndarray, shape (n_pairs,), optional
        How many trials each count is out of, where the outcome is binomial.
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

    @classmethod
    def of(cls, spec: ModelSpec, frame: pd.DataFrame) -> Design:
        """Lay `spec` over `frame`.

        Raises
        ------
        InputError
            Where a dimension is no column of the table, or a parameter of a prior has a dimension
            that the parameter it serves does not determine.
        """
        parameters = spec.parameters.items()
        numbers = [*spec.covariates(), spec.outcome, *([spec.trials] if spec.trials else [])]
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
            shown[column], coords[column], codes[column] = labels_of(frame[column], column)

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
        # A parent's entry follows from the child's, also where the parent has a dimension of its
        # own.
        for name in reversed(spec.location_parameters()):
            up = spec.parameters[name].args["mu"]
            if isinstance(up, str) and up not in spec.mu:
                index[up] = parent[name, "mu"][index[name]]
        only = {
            name: np.all(
                [np.equal(coords[c], label)[codes[c]] for c, label in own.only.items()], axis=0
            )
            for name, own in parameters
            if own.only
        }
        trials = _numbers(frame, spec.trials) if spec.trials else None
        if trials is not None and ((y < 0) | (y > trials)).any():
            where = f"the columns {spec.outcome}, {spec.trials}"
            raise InputError("expected counts from 0 to their number of trials", where=where)
        return cls(spec, coords, codes, shown, y, index, parent, covariates, only, trials)

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a parameter."""
        return tuple(len(self.coords[dim]) for dim in self.spec.parameters[name].dims)

    def size(self, name: str) -> int:
        """Return the number of entries of a parameter."""
        return int(np.prod(self.shape(name), dtype=int))

    @property
    def units(self) -> dict[str, np.ndarray]:
        """The codes of the columns that identify a row."""
        return {unit: self.codes[unit] for unit in self.spec.units}

    def labels(self, column: str) -> tuple[list[str], np.ndarray]:
        """Return the labels of a column as these rows have them, and the code of each row.

        Connections come in their usual order.
        """
        if column not in self.codes:
            raise FitError(f"{self.spec.label}: expected a table with the column {column!r}")
        if column == "connection":
            return self.coords[column], self.codes[column]
        codes, present = pd.factorize(self.codes[column])
        return [self.coords[column][k] for k in present], codes

    def order(self) -> np.ndarray | None:
        """Return the rows in the order of their labels, of one label in that of their outcome.

        None where they are so.
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
        order = np.lexsort(
            (self.y, *self.covariates.values(), *self.only.values(), *self.index.values(), joint)
        )
        return None if np.array_equal(order, np.arange(len(order))) else order

    def ordered(self) -> Design:
        """Return the same model on the same rows in their `order`.

        Sums over them are then always the same.
        """
        order = self.order()
        if order is None:
            return self
        moved: dict[int, np.ndarray] = {}

        def in_order(columns: Arrays) -> dict[str, np.ndarray]:
            for column in columns.values():
                if id(column) not in moved:
                    moved[id(column)] = column[order]
            return {name: moved[id(column)] for name, column in columns.items()}

        return replace(
            self,
            y=self.y[order],
            index=in_order(self.index),
            codes=in_order(self.codes),
            covariates=in_order(self.covariates),
            only=in_order(self.only),
            trials=None if self.trials is None else self.trials[order],
        )

    @functools.cached_property
    def _content(self) -> bytes:
        """The SHA-256 of the model file and of all rows, whatever their order."""
        rows = self.ordered()
        dims = {dim for parameter in self.spec.parameters.values() for dim in parameter.dims}
        own = {name: self.coords[name] for name in {*self.spec.units, *dims}}
        digest = hashlib.sha256(self.spec.text.encode("utf-8"))
        digest.update(repr(sorted(own.items())).encode("utf-8"))
        columns = {
            id(column): column for group in (rows.units, rows.index) for column in group.values()
        }
        trials = [] if rows.trials is None else [rows.trials]
        more = (*rows.covariates.values(), *rows.only.values(), *trials)
        for column in (rows.y, *columns.values(), *more):
            digest.update(np.ascontiguousarray(column))
        return digest.digest()

    def stream(self, seed: int) -> int:
        """Return the seed of the random numbers of one fit.

        Fits of other rows or models get others.
        """
        own = hashlib.sha256(self._content + str(int(seed)).encode("ascii")).digest()
        return int.from_bytes(own[:4], "little")

    def lever(self, name: str, rows: Any = slice(None)) -> np.ndarray | None:
        """Return what each row multiplies a term by.

        Its covariate, and 0 where it has not the term. None where all have 1.
        """
        covariate = self.spec.parameters[name].covariate
        out = None if covariate is None else self.covariates[covariate][rows]
        if name not in self.only:
            return out
        having = self.only[name][rows]
        return having.astype(float) if out is None else out * having

    def untouched(self, name: str) -> np.ndarray:
        """Return which entries of a location parameter no row says anything of.

        None has it, or their covariate is zero.
        """
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
        if not isinstance(value, str):
            return float(value)
        return self._of_rows(value, draws)

    def prior_draws(self, n: int, seed: int, given: Arrays | None = None) -> dict[str, np.ndarray]:
        """Draw every parameter from its prior, or from what some of them are given to be.

        Parameters
        ----------
        n, seed : int
        given : Mapping of str to ndarray, shape of the parameter, optional
            Parameters that are not drawn; those below them are drawn around them.

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
        mean = self.mean(draws)
        draw, args = DISTRIBUTIONS[self.spec.likelihood].draw, self._noise_args(draws)
        return draw(np.random.default_rng(seed), mu=mean, **args, size=mean.shape)

    def _noise_args(self, draws: Arrays) -> dict[str, np.ndarray | float]:
        own = {} if self.trials is None else {"trials": self.trials}
        return {arg: self.noise(draws, arg) for arg in self.spec.noise} | own

    def log_likelihood(self, draws: Arrays) -> np.ndarray:
        """Return the log-density of each observed row, given parameter values.

        Returns
        -------
        ndarray, shape (..., n_pairs)
        """
        density = DISTRIBUTIONS[self.spec.likelihood].log_density
        return density(self.y, mu=self.mean(draws), **self._noise_args(draws))


def _numbers(frame: pd.DataFrame, column: str) -> np.ndarray:
    """Return a column of finite numbers."""
    values = pd.to_numeric(frame[column], errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    if not (known := np.isfinite(values)).all():
        row = int(np.argmin(known))
        where, found = f"column {column}, row {row}", frame[column].iloc[[row]].tolist()[0]
        raise InputError("expected a finite number", where=where, found=found)
    return values


def labels_of(column: pd.Series, name: str) -> tuple[list[str], list[str], np.ndarray]:
    """Return labels as they come, in an order of their own, and the place of each row's in it.

    Connections come in their usual order in both.
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
    """For each flat entry of `child`, the flat entry of `parent`."""
    dims, up = spec.parameters[child].dims, spec.parameters[parent].dims
    shape = tuple(len(coords[dim]) for dim in dims)
    grid = np.indices(shape).reshape(len(dims), -1) if dims else np.zeros((0, 1), dtype=np.int64)
    out = np.zeros(grid.shape[1], dtype=np.int64)
    for dim in up:
        if dim in dims:
            level = grid[dims.index(dim)]
        else:
            level = None
            for position, own in enumerate(dims):
                mapped = determined(codes[own], codes[dim])
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
