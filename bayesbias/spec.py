"""Models as data: a TOML file becomes a `ModelSpec`; a spec and a table become a `Design`.

Nothing here samples. `Design` holds the index arrays that every way of fitting shares, so that the
plain PyMC model, the collapsed one and the predictive draws cannot disagree about who meets whom.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias._resources import find_toml, parse_toml, read_bytes, shipped_names
from bayesbias.errors import FitError, InputError, nearest

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DISTRIBUTIONS", "Design", "ModelSpec", "Parameter", "load_model", "shipped_models", "trimmed"]

SCHEMA = 1
CONNECTIONS = ("associated", "different", "human", "neutral")
_TAKEN = ("chain", "draw", "pair")  # the dimensions that a result has of its own


@dataclass(frozen=True)
class Distribution:
    """One entry of the allow-list: its arguments (PyMC's names), support and a sampler."""

    args: tuple[str, ...]
    support: str  # "real" or "positive"
    draw: Callable[..., np.ndarray]


def _half_student(rng: np.random.Generator, nu: Any, sigma: Any, size: Any) -> np.ndarray:
    return np.abs(rng.standard_t(nu, size)) * sigma


DISTRIBUTIONS: Mapping[str, Distribution] = {
    "Normal": Distribution(("mu", "sigma"), "real", lambda r, mu, sigma, size: r.normal(mu, sigma, size)),
    "StudentT": Distribution(
        ("nu", "mu", "sigma"),
        "real",
        lambda r, nu, mu, sigma, size: mu + sigma * r.standard_t(nu, size),
    ),
    "Exponential": Distribution(
        ("lam",), "positive", lambda r, lam, size: r.exponential(1 / np.asarray(lam), size)
    ),
    "Gamma": Distribution(
        ("alpha", "beta"),
        "positive",
        lambda r, alpha, beta, size: r.gamma(alpha, 1 / np.asarray(beta), size),
    ),
    "HalfCauchy": Distribution(
        ("beta",), "positive", lambda r, beta, size: np.abs(r.standard_cauchy(size)) * beta
    ),
    "HalfNormal": Distribution(
        ("sigma",), "positive", lambda r, sigma, size: np.abs(r.normal(0, sigma, size))
    ),
    "HalfStudentT": Distribution(("nu", "sigma"), "positive", _half_student),
    "InverseGamma": Distribution(
        ("alpha", "beta"),
        "positive",
        lambda r, alpha, beta, size: np.asarray(beta) / r.gamma(alpha, 1.0, size),
    ),
    "LogNormal": Distribution(
        ("mu", "sigma"), "positive", lambda r, mu, sigma, size: r.lognormal(mu, sigma, size)
    ),
}
LIKELIHOODS = ("Normal", "StudentT")
_POSITIVE_ARGS = {"sigma", "lam", "beta", "alpha", "nu"}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a model: ``name[dims] ~ distribution(args)``."""

    name: str
    dims: tuple[str, ...]
    distribution: str
    args: Mapping[str, float | str]

    @property
    def positive(self) -> bool:
        """Whether the parameter is a scale (or another positive number)."""
        return DISTRIBUTIONS[self.distribution].support == "positive"


@dataclass(frozen=True)
class Level:
    """A level at which results are given: one row per label of a column, some columns held."""

    by: str
    held: tuple[str, ...]


@dataclass(frozen=True)
class Results:
    """What the results of a model are about.

    Attributes
    ----------
    group : str
        The column whose labels get a mean each.
    fixed : tuple of str
        Dimensions whose labels are all there are, and no sample of more.
    levels : Mapping of str to Level
        Below ``overall``.
    estimands : Mapping of str to tuple of str
        Beyond ``population`` and ``these_words``: the columns that are held.
    """

    group: str
    fixed: tuple[str, ...]
    levels: Mapping[str, Level]
    estimands: Mapping[str, tuple[str, ...]]


_HELD = ("protected_word", "protected_class")
_PAIRS = Results(
    group="connection",
    fixed=("connection", "attribute_kind"),
    levels={"class": Level("protected_class", _HELD), "word": Level("protected_word", _HELD)},
    estimands={},
)


@dataclass(frozen=True)
class ModelSpec:
    """A model as its TOML file says it, checked.

    Attributes
    ----------
    name, description, source : str
    notes : tuple of str
        What a user should know before using the model; printed by ``bayesbias show``.
    units : tuple of str
        The columns that together identify one observation, by default protected word and attribute.
    outcome : str
        The column that is modelled.
    likelihood : str
        ``Normal`` or ``StudentT``.
    mu : tuple of str
        The parameters that are added up to the mean.
    noise : Mapping
        The other arguments of the likelihood: ``sigma`` and, for ``StudentT``, ``nu``.
    parameters : Mapping of str to Parameter
        In the order of the file.
    results : Results
        What means and levels the results are given for; by default connections, classes and words.
    trim : bool
        Whether `fit` leaves out first what a table says nothing of (`trimmed`).
    sha256, text : str
        Of the file.
    origin : str
        The file, for messages; empty for a shipped model. Two specs are equal whatever it is.
    """

    name: str
    description: str
    source: str
    notes: tuple[str, ...]
    units: tuple[str, ...]
    outcome: str
    likelihood: str
    mu: tuple[str, ...]
    noise: Mapping[str, float | str]
    parameters: Mapping[str, Parameter]
    results: Results = _PAIRS
    trim: bool = False
    sha256: str = ""
    text: str = field(default="", repr=False)
    origin: str = field(default="", repr=False, compare=False)

    @property
    def label(self) -> str:
        """How messages call the model: its name and, of a user's own, the file."""
        return f"model {self.name} ({self.origin})" if self.origin else f"model {self.name}"

    def is_random(self, name: str) -> bool:
        """Whether a parameter is a random effect: its spread is itself a parameter."""
        return isinstance(self.parameters[name].args.get("sigma"), str)

    def location_parameters(self) -> list[str]:
        """Return the parameters that reach the mean, each after the one it is centred on."""
        order: list[str] = []

        def visit(name: str) -> None:
            parent = self.parameters[name].args.get("mu")
            if isinstance(parent, str):
                visit(parent)
            if name not in order:
                order.append(name)

        for name in self.mu:
            visit(name)
        return order


def shipped_models() -> list[str]:
    """Return the names of the models that come with the package.

    Examples
    --------
    >>> "crossed" in shipped_models()
    True
    """
    return shipped_names("models")


def load_model(model: str | os.PathLike[str] | ModelSpec) -> ModelSpec:
    """Read a model by its shipped name or from the user's own TOML file.

    Parameters
    ----------
    model : str, path or ModelSpec
        A name as listed by `shipped_models`, or a path. A `ModelSpec` is returned as it is.

    Raises
    ------
    InputError
        For an unknown name, key, distribution or parameter, a cycle or an unused parameter; the
        message names the file and the key.

    Examples
    --------
    >>> spec = load_model("crossed")
    >>> spec.mu
    ('c', 'v')
    """
    if isinstance(model, ModelSpec):
        return model
    path = find_toml(model, "models", "model")
    spec = parse_model(read_bytes(path), where=str(path))
    return replace(spec, origin="") if os.fspath(model) in shipped_models() else spec


def parse_model(text: bytes, where: str) -> ModelSpec:
    """Check the text of a model file; `where` is what errors call it."""
    return _check(parse_toml(text, where), where, hashlib.sha256(text).hexdigest(), text.decode("utf-8"))


def _keys(table: Mapping[str, Any], allowed: set[str], required: set[str], where: str) -> None:
    for key in table:
        if key not in allowed:
            raise InputError(
                "unknown key", where=where, found=key, valid=sorted(allowed), hint=nearest(key, allowed)
            )
    for key in sorted(required):
        if key not in table:
            raise InputError(f"the key {key!r} is missing", where=where, valid=sorted(allowed))


def _strings(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise InputError("must be a list of strings", where=where, found=value)
    if len(set(value)) != len(value):
        raise InputError("holds an entry twice", where=where, found=value)
    return tuple(value)


def _check(raw: dict[str, Any], where: str, sha256: str, text: str) -> ModelSpec:
    _keys(
        raw,
        {"schema", "name", "description", "source", "notes", "trim", "likelihood", "parameter", "results"},
        {"schema", "name", "description", "likelihood", "parameter"},
        where,
    )
    if isinstance(raw["schema"], bool) or raw["schema"] != SCHEMA:
        raise InputError(
            "unknown schema number", where=f"{where}, key schema", found=raw["schema"], valid=str(SCHEMA)
        )
    for key in ("name", "description", "source"):
        if not isinstance(raw.get(key, ""), str):
            raise InputError("must be a string", where=f"{where}, key {key}", found=raw[key])
    if not isinstance(raw.get("trim", False), bool):
        raise InputError("must be true or false", where=f"{where}, key trim", found=raw["trim"])
    if not isinstance(raw["parameter"], dict) or not isinstance(raw["likelihood"], dict):
        raise InputError("`likelihood` and each `parameter.NAME` must be tables", where=where)

    parameters = {
        name: _check_parameter(name, table, f"{where}, [parameter.{name}]")
        for name, table in raw["parameter"].items()
    }
    lik, at = raw["likelihood"], f"{where}, [likelihood]"
    _keys(
        lik,
        {"outcome", "distribution", "mu", "sigma", "nu", "units"},
        {"outcome", "distribution", "mu", "sigma"},
        at,
    )
    if lik["distribution"] not in LIKELIHOODS:
        raise InputError(
            "unknown distribution of the outcome",
            where=f"{at}, key distribution",
            found=lik["distribution"],
            valid=LIKELIHOODS,
            hint=nearest(str(lik["distribution"]), LIKELIHOODS),
        )
    noise_args = ("nu", "sigma") if lik["distribution"] == "StudentT" else ("sigma",)
    if ("nu" in lik) != ("nu" in noise_args):
        raise InputError("`nu` belongs to StudentT, and StudentT needs it", where=at)
    if not isinstance(lik["outcome"], str) or not lik["outcome"]:
        raise InputError("must be the name of a column", where=f"{at}, key outcome", found=lik["outcome"])
    dims = {dim for parameter in parameters.values() for dim in parameter.dims}
    for name in parameters:
        if name in (*_TAKEN, *dims, lik["outcome"]):
            raise InputError(
                "a parameter cannot have the name of a dimension or of the outcome",
                where=f"{where}, [parameter.{name}]",
                found=name,
            )
    mu = _strings(lik["mu"], f"{at}, key mu")
    if not mu:
        raise InputError(
            "the mean needs at least one parameter", where=f"{at}, key mu", valid=list(parameters)
        )
    for name in mu:
        _known(name, parameters, f"{at}, key mu")
    units = _strings(lik.get("units", ["protected_word", "attribute"]), f"{at}, key units")
    if not units:
        raise InputError("must name at least one column", where=f"{at}, key units", found=[])
    noise = {}
    for arg in noise_args:
        noise[arg] = _argument(lik[arg], arg, parameters, f"{at}, key {arg}")
    spec = ModelSpec(
        name=raw["name"],
        description=raw["description"],
        source=raw.get("source", ""),
        notes=_strings(raw.get("notes", []), f"{where}, key notes"),
        units=units,
        outcome=lik["outcome"],
        likelihood=lik["distribution"],
        mu=mu,
        noise=noise,
        parameters=parameters,
        results=_check_results(raw["results"], f"{where}, [results]") if "results" in raw else _PAIRS,
        trim=raw.get("trim", False),
        sha256=sha256,
        text=text,
        origin=where,
    )
    _check_graph(spec, where)
    return spec


def _check_results(table: Any, at: str) -> Results:
    if not isinstance(table, dict):
        raise InputError("must be a table", where=at, found=table)
    _keys(table, {"group", "fixed", "level", "estimand"}, {"group"}, at)
    if not isinstance(table["group"], str) or not table["group"]:
        raise InputError("must be the name of a column", where=f"{at}, key group", found=table["group"])
    levels, estimands = {}, {}
    for kind in ("level", "estimand"):
        if not isinstance(table.get(kind, {}), dict):
            raise InputError("must be a table of tables", where=f"{at}, key {kind}", found=table[kind])
        for name, entry in table.get(kind, {}).items():
            here = f"{at[:-1]}.{kind}.{name}]"
            if not isinstance(entry, dict):
                raise InputError("must be a table", where=here, found=entry)
            if name in ("overall", "population", "these_words"):
                raise InputError("this name is taken", where=here, found=name)
            needed = {"by", "held"} if kind == "level" else {"held"}
            _keys(entry, needed, needed, here)
            held = _strings(entry["held"], f"{here}, key held")
            if kind == "estimand":
                estimands[name] = held
            elif not isinstance(entry["by"], str) or not entry["by"]:
                raise InputError("must be the name of a column", where=f"{here}, key by", found=entry["by"])
            else:
                levels[name] = Level(entry["by"], held)
    fixed = _strings(table.get("fixed", []), f"{at}, key fixed")
    return Results(table["group"], tuple(dict.fromkeys((table["group"], *fixed))), levels, estimands)


def _check_parameter(name: str, table: Any, at: str) -> Parameter:
    if not isinstance(table, dict):
        raise InputError("must be a table", where=at, found=table)
    if not name.isidentifier():
        raise InputError("a parameter's name must be a plain identifier", where=at, found=name)
    distribution = str(table.get("distribution"))
    if not isinstance(distribution, str) or distribution not in DISTRIBUTIONS:
        raise InputError(
            "unknown distribution",
            where=f"{at}, key distribution",
            found=table.get("distribution"),
            valid=list(DISTRIBUTIONS),
            hint=nearest(distribution, DISTRIBUTIONS),
        )
    args = DISTRIBUTIONS[distribution].args
    _keys(table, {"dims", "distribution", *args}, {"distribution", *args}, at)
    dims = _strings(table.get("dims", []), f"{at}, key dims")
    for dim in dims:
        if dim in _TAKEN:
            raise InputError("this dimension is taken by the draws", where=f"{at}, key dims", found=dim)
    return Parameter(
        name=name,
        dims=dims,
        distribution=distribution,
        args={arg: _argument(table[arg], arg, None, f"{at}, key {arg}") for arg in args},
    )


def _argument(value: Any, arg: str, parameters: Mapping[str, Parameter] | None, at: str) -> float | str:
    if isinstance(value, str):
        if parameters is not None:
            _known(value, parameters, at)
        return value
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not abs(value) <= sys.float_info.max:  # TOML's whole numbers have no bound
        raise InputError("must be a finite number or the name of a parameter", where=at, found=value)
    if arg in _POSITIVE_ARGS and value <= 0:
        raise InputError("must be positive", where=at, found=value)
    return float(value)


def _known(name: str, parameters: Mapping[str, Parameter], at: str) -> None:
    if name not in parameters:
        raise InputError(
            "no such parameter", where=at, found=name, valid=list(parameters), hint=nearest(name, parameters)
        )


def _check_graph(spec: ModelSpec, where: str) -> None:
    """Refuse unknown and unused parameters, cycles, and arguments of the wrong support."""
    used: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            raise InputError(
                "parameters depend on each other in a circle", where=where, found=" -> ".join((*path, name))
            )
        used.add(name)
        for arg, value in spec.parameters[name].args.items():
            if isinstance(value, str):
                at = f"{where}, [parameter.{name}], key {arg}"
                _known(value, spec.parameters, at)
                if arg in _POSITIVE_ARGS and not spec.parameters[value].positive:
                    raise InputError(f"{arg} needs a positive parameter; {value!r} may be negative", where=at)
                visit(value, (*path, name))

    for name in spec.mu:
        visit(name, ())
        if spec.parameters[name].positive:
            raise InputError(
                "a term of the mean must be free to be negative",
                where=f"{where}, [likelihood], key mu",
                found=name,
            )
    for arg, value in spec.noise.items():
        if isinstance(value, str):
            visit(value, ())
            if not spec.parameters[value].positive:
                raise InputError(
                    f"{arg} needs a positive parameter",
                    where=f"{where}, [likelihood], key {arg}",
                    found=value,
                )
    unused = [name for name in spec.parameters if name not in used]
    if unused:
        raise InputError("parameters are never used", where=where, found=unused)


@dataclass(frozen=True)
class Design:
    """A spec laid over a table: labels, flat index arrays, and the outcome.

    Attributes
    ----------
    spec : ModelSpec
    coords : Mapping of str to list of str
        The labels of every dimension in use, connections in their usual order, others as they come.
    y : ndarray, shape (n_pairs,)
        The outcome.
    index : Mapping of str to ndarray of int, shape (n_pairs,)
        For every location parameter and every noise parameter, the flat entry a row uses.
    parent : Mapping of (str, str) to ndarray of int
        For a parameter and one of its arguments that is itself a parameter, the flat entry of the
        latter that each flat entry of the former uses.
    """

    spec: ModelSpec
    coords: Mapping[str, list[str]]
    y: np.ndarray
    index: Mapping[str, np.ndarray]
    parent: Mapping[tuple[str, str], np.ndarray]
    units: Mapping[str, np.ndarray]

    @classmethod
    def of(cls, spec: ModelSpec, frame: pd.DataFrame) -> Design:
        """Lay `spec` over `frame`.

        Raises
        ------
        InputError
            Where a dimension is no column of the table, or a parameter of a prior has a dimension
            that the parameter it serves does not determine.
        """
        columns = {dim for parameter in spec.parameters.values() for dim in parameter.dims} | set(spec.units)
        for column in [*sorted(columns), spec.outcome]:
            if column not in frame.columns:
                raise InputError(
                    "the model needs a column that the table lacks",
                    where=f"{spec.label}, {_asked_by(spec, column)}",
                    found=column,
                    valid=[str(c) for c in frame.columns],
                    hint=nearest(column, [str(c) for c in frame.columns]),
                )
        try:
            y = frame[spec.outcome].to_numpy(dtype=float)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"the outcome {spec.outcome!r} is no column of numbers ({error})",
                where=f"{spec.label}, [likelihood], key outcome",
            ) from None
        if len(y) == 0:
            raise FitError("the table has no rows; nothing to fit")
        if not np.isfinite(y).all():
            row = int(np.flatnonzero(~np.isfinite(y))[0])
            raise InputError(
                f"the outcome {spec.outcome!r} is not finite", where=f"row {row}", found=float(y[row])
            )
        coords: dict[str, list[str]] = {}
        codes: dict[str, np.ndarray] = {}
        for column in sorted(columns):
            coords[column], codes[column] = labels_of(frame[column], column)

        def flat(dims: tuple[str, ...]) -> np.ndarray:
            out = np.zeros(len(y), dtype=np.int64)
            for dim in dims:
                out = out * len(coords[dim]) + codes[dim]
            return out

        maps = functools.partial(_parent_map, spec, coords, codes)
        parent = {
            (name, arg): maps(name, value)
            for name, parameter in spec.parameters.items()
            for arg, value in parameter.args.items()
            if isinstance(value, str)
        }
        names = [*spec.location_parameters(), *(v for v in spec.noise.values() if isinstance(v, str))]
        index: dict[str, np.ndarray] = {}
        for name in [*spec.mu, *(n for n in names if n not in spec.location_parameters())]:
            index[name] = flat(spec.parameters[name].dims)
        # A parent's entry follows from the child's, also where the parent has a dimension of its own.
        for name in reversed(spec.location_parameters()):
            up = spec.parameters[name].args["mu"]
            if isinstance(up, str) and up not in spec.mu:
                index[up] = parent[name, "mu"][index[name]]
        return cls(spec, coords, y, index, parent, {unit: codes[unit] for unit in spec.units})

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a parameter."""
        return tuple(len(self.coords[dim]) for dim in self.spec.parameters[name].dims)

    def size(self, name: str) -> int:
        """Return the number of entries of a parameter."""
        return int(np.prod(self.shape(name), dtype=int))

    def mean(self, draws: Mapping[str, np.ndarray]) -> np.ndarray:
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
            values = np.asarray(draws[name])
            lead = values.shape[: values.ndim - len(self.shape(name))]
            out = out + values.reshape((*lead, -1))[..., self.index[name]]
        return out

    def noise(self, draws: Mapping[str, np.ndarray], arg: str) -> np.ndarray | float:
        """Return ``sigma`` or ``nu`` of each row, or the one number they share."""
        value = self.spec.noise[arg]
        if not isinstance(value, str):
            return float(value)
        values = np.asarray(draws[value])
        lead = values.shape[: values.ndim - len(self.shape(value))]
        return values.reshape((*lead, -1))[..., self.index[value]]

    def prior_draws(
        self, n: int, seed: int, given: Mapping[str, np.ndarray] | None = None
    ) -> dict[str, np.ndarray]:
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
            flat = DISTRIBUTIONS[parameter.distribution].draw(rng, **values, size=(n, self.size(name)))
            done[name] = flat.reshape((n, *self.shape(name)))

        for name in self.spec.parameters:
            draw(name)
        return {name: done[name] for name in self.spec.parameters}

    def outcome_draws(self, draws: Mapping[str, np.ndarray], seed: int) -> np.ndarray:
        """Draw new outcomes for every row, given parameter values.

        Returns
        -------
        ndarray, shape (..., n_pairs)
        """
        rng = np.random.default_rng(seed)
        mean = self.mean(draws)
        sigma = self.noise(draws, "sigma")
        if self.spec.likelihood == "Normal":
            return mean + sigma * rng.standard_normal(mean.shape)
        nu = self.noise(draws, "nu")
        return mean + sigma * rng.standard_t(np.broadcast_to(nu, mean.shape))

    def log_likelihood(self, draws: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the log-density of each observed row, given parameter values.

        Returns
        -------
        ndarray, shape (..., n_pairs)
        """
        mean, sigma = self.mean(draws), self.noise(draws, "sigma")
        z = (self.y - mean) / sigma
        if self.spec.likelihood == "Normal":
            return -0.5 * z * z - np.log(sigma) - 0.5 * np.log(2 * np.pi)
        from scipy.special import gammaln

        nu = np.asarray(self.noise(draws, "nu"))
        constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu * np.pi) - np.log(sigma)
        return constant - (nu + 1) / 2 * np.log1p(z * z / nu)


def trimmed(spec: ModelSpec, frame: pd.DataFrame) -> ModelSpec:
    """Return the model without the terms of which a table can say nothing.

    A term goes where its entries divide the rows as those of another location parameter do, or not at all,
    or into single rows as the noise does: the effect of a template where every word stands in the same one,
    or of a word's sentence where each word has one sentence. Kept, such a term would have the spread of its
    prior, and all that is said of new templates with it.

    Parameters
    ----------
    spec : ModelSpec
    frame : DataFrame
        The rows to be fitted.

    Returns
    -------
    ModelSpec
        The same model where every term is needed; else a note names what was left out.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesbias import load_model
    >>> frame = pd.DataFrame({"protected_word": ["she", "he"] * 2, "attribute": ["nurse"] * 2 + ["boss"] * 2,
    ...     "connection": ["associated", "different"] * 2, "distance": [0.7, 0.8, 0.9, 0.7]})
    >>> trimmed(load_model("crossed"), frame).mu
    ('c', 'v')
    """
    design = Design.of(spec, frame)
    free = [
        name
        for name in spec.mu
        if spec.is_random(name) and not isinstance(spec.parameters[name].args["mu"], str)
    ]
    n = len(design.y)
    seen = {_partition(np.zeros(n, dtype=np.int64)): "no difference", _partition(np.arange(n)): "the noise"}
    gone = {}
    for name in [*(name for name in spec.location_parameters() if name not in free), *free]:
        key = _partition(design.index[name])
        if name in free and key in seen:
            gone[name] = seen[key]
        seen.setdefault(key, name)
    if not gone:
        return spec
    said = ", ".join(f"{name} (from {twin})" for name, twin in gone.items())
    return without_terms(spec, gone, f"Left out, since the table cannot tell these terms from others: {said}.")


def without_terms(spec: ModelSpec, terms: Collection[str], note: str) -> ModelSpec:
    """Return the model without some terms of its mean, and without what only they used.

    Parameters
    ----------
    spec : ModelSpec
    terms : collection of str
        Terms of the mean.
    note : str
        Why; the last of the notes of the model that is returned.
    """
    import tomlkit

    kept = [name for name in spec.mu if name not in terms]
    used = {value for value in spec.noise.values() if isinstance(value, str)}
    waiting = list(kept)
    while waiting:
        name = waiting.pop()
        used.add(name)
        waiting += [value for value in spec.parameters[name].args.values() if isinstance(value, str)]
    document = tomlkit.parse(spec.text).unwrap()
    document["likelihood"]["mu"] = kept
    document["notes"] = [*spec.notes, note]
    document["parameter"] = {
        name: document["parameter"][name] for name in spec.parameters if name in used
    }
    text = tomlkit.dumps(document).encode("utf-8")
    return replace(parse_model(text, spec.origin or spec.name), origin=spec.origin)


def _partition(index: np.ndarray) -> bytes:
    """Return how flat entries divide the rows, whatever the entries are called."""
    first, codes = np.unique(index, return_index=True, return_inverse=True)[1:]
    return np.argsort(np.argsort(first))[codes].tobytes()


def _asked_by(spec: ModelSpec, column: str) -> str:
    """Return the key of the model file that names a column."""
    for name, parameter in spec.parameters.items():
        if column in parameter.dims:
            return f"[parameter.{name}], key dims"
    return f"[likelihood], key {'outcome' if column == spec.outcome else 'units'}"


def labels_of(column: pd.Series, name: str) -> tuple[list[str], np.ndarray]:
    """Return the labels of a column as they come (connections in their usual order), and the code of each row."""
    import pandas as pd

    if column.isna().any():
        row = int(np.flatnonzero(column.isna().to_numpy())[0])
        raise InputError("has an empty cell", where=f"column {name}, row {row}")
    if isinstance(column.dtype, pd.CategoricalDtype):  # a million rows of ten labels stay numbers
        codes, used = pd.factorize(column.cat.codes.to_numpy())
        labels = [str(label) for label in column.cat.categories[used]]
    else:
        codes, found = pd.factorize(column.astype(str).to_numpy())
        labels = [str(label) for label in found]
    if name == "connection":
        order = [c for c in CONNECTIONS if c in labels] + [c for c in labels if c not in CONNECTIONS]
        codes = np.array([order.index(label) for label in labels])[codes]
        labels = order
    return labels, codes.astype(np.int64)


def _parent_map(
    spec: ModelSpec, coords: dict[str, list[str]], codes: dict[str, np.ndarray], child: str, parent: str
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
                mapped = _determined(codes[own], codes[dim], len(coords[own]))
                if mapped is not None:
                    level = mapped[grid[position]]
                    break
            if level is None:
                raise InputError(
                    f"the dimension {dim!r} of {parent!r} does not follow from those of {child!r}",
                    where=f"{spec.label}, [parameter.{child}]",
                    found=list(up),
                    valid=f"dims among {list(dims)}, or a column that one of them determines",
                )
        out = out * len(coords[dim]) + level
    return out


def _determined(own: np.ndarray, other: np.ndarray, n: int) -> np.ndarray | None:
    """Return the level of `other` for each level of `own`, or None where it is not unique."""
    mapped = np.zeros(n, dtype=np.int64)
    mapped[own] = other
    return mapped if np.array_equal(mapped[own], other) else None
