"""A model's TOML file, read and checked key by key, becomes a `ModelSpec`.

Every refusal names the file and the key, what was found there, and what would do.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.files import MOST_TEXT, find_toml, list_names, parse_toml, read_bytes, sha256_of
from bayesbias.models.distributions import DISTRIBUTIONS, LIKELIHOODS
from bayesbias.models.spec import RESULTS_OF_PAIRS, Level, ModelSpec, Parameter, Results

__all__ = ["DEFAULT_MODEL", "list_models", "load_model"]

SCHEMA = 1
DEFAULT_MODEL = "default"
"""The shipped model that fits distances where none is named.

Examples
--------
>>> import bayesbias as bb
>>> bb.models.DEFAULT_MODEL in bb.models.list_models()
True
"""
_LARGEST = 1e9  # of numbers in priors, whatever the unit of the outcome
_KEYS = (
    "schema",
    "name",
    "description",
    "source",
    "notes",
    "trim",
    "likelihood",
    "parameter",
    "results",
)
_LIKELIHOOD_KEYS = ("outcome", "distribution", "mu", "sigma", "nu", "units")
_TAKEN_DIMS = ("chain", "draw", "pair")  # the dimensions that a result has of its own


def list_models() -> list[str]:
    """Return the names of the models that come with the package.

    Examples
    --------
    >>> "crossed" in list_models()
    True
    """
    return list_names("models")


def load_model(model: str | os.PathLike[str] | ModelSpec) -> ModelSpec:
    """Read a model by its shipped name or from the user's own TOML file.

    Parameters
    ----------
    model : str, path or ModelSpec
        A name as listed by `list_models`, or a path. A `ModelSpec` is returned as it is.

    Raises
    ------
    InputError
        For an unknown name, key, distribution or parameter, a cycle or an unused parameter; the
        message names the file and the key.

    Examples
    --------
    >>> spec = load_model("crossed")
    >>> spec.mu
    ('word_by_connection', 'attribute_effect')
    """
    if isinstance(model, ModelSpec):
        return model
    path = find_toml(model, "models", "model")
    spec = parse_model(read_bytes(path, MOST_TEXT), where=str(path))
    return replace(spec, origin="") if os.fspath(model) in list_models() else spec


def parse_model(text: bytes, where: str) -> ModelSpec:
    """Check the text of a model file; `where` is what errors call it."""
    raw = parse_toml(text, where)
    checks.known_keys(
        raw, _KEYS, where, needed=("schema", "name", "description", "likelihood", "parameter")
    )
    checks.schema(raw, SCHEMA, where)
    for key in ("name", "description", "source"):
        own = raw.get(key, "")
        _refuse(not isinstance(own, str), "must be a string", f"{where}, key {key}", own)
    checks.label(checks.text(raw["name"], f"{where}, key name"), f"{where}, key name")
    trim = raw.get("trim", False)
    _refuse(not isinstance(trim, bool), "must be true or false", f"{where}, key trim", trim)
    for key in ("likelihood", "parameter"):
        checks.table(raw[key], f"{where}, key {key}")
    parameters = {
        name: _parameter(name, table, f"{where}, [parameter.{name}]")
        for name, table in raw["parameter"].items()
    }
    lik, at = raw["likelihood"], f"{where}, [likelihood]"
    checks.known_keys(lik, _LIKELIHOOD_KEYS, at, needed=("outcome", "distribution", "mu", "sigma"))
    checks.choice(
        lik["distribution"], LIKELIHOODS, "distribution of the outcome", f"{at}, key distribution"
    )
    row = DISTRIBUTIONS[lik["distribution"]]
    _refuse(
        ("nu" in lik) != ("nu" in row.args), "`nu` belongs to StudentT, and StudentT needs it", at
    )
    outcome, here = lik["outcome"], f"{at}, key outcome"
    _refuse(
        not isinstance(outcome, str) or not outcome, "must be the name of a column", here, outcome
    )
    dims = {dim for parameter in parameters.values() for dim in parameter.dims}
    _refuse(outcome in dims, "the outcome cannot be a dimension of a parameter", here, outcome)
    for name in parameters:
        taken = name in (*_TAKEN_DIMS, *dims, outcome)
        message = "a parameter cannot have the name of a dimension or of the outcome"
        _refuse(taken, message, f"{where}, [parameter.{name}]", name)
    mu, units = (
        _strings(lik.get(key, usual), f"{at}, key {key}")
        for key, usual in (("mu", []), ("units", ["protected_word", "attribute"]))
    )
    _refuse(not mu, "the mean needs at least one parameter", f"{at}, key mu", [])
    _refuse(not units, "must name at least one column", f"{at}, key units", [])
    noise = {
        arg: _argument(lik[arg], arg in row.positive_args, f"{at}, key {arg}")
        for arg in row.args
        if arg != "mu"
    }
    for key, names in (("mu", mu), *((arg, [value]) for arg, value in noise.items())):
        for name in names:
            if isinstance(name, str):
                checks.choice(name, parameters, "parameter", f"{at}, key {key}")
    spec = ModelSpec(
        name=raw["name"],
        description=raw["description"],
        source=raw.get("source", ""),
        notes=_strings(raw.get("notes", []), f"{where}, key notes"),
        units=units,
        outcome=outcome,
        likelihood=lik["distribution"],
        mu=mu,
        noise=noise,
        parameters=parameters,
        results=_results(raw["results"], f"{where}, [results]")
        if "results" in raw
        else RESULTS_OF_PAIRS,
        trim=trim,
        sha256=sha256_of(text),
        text=text.decode("utf-8"),
        origin=where,
    )
    _check_graph(spec, where)
    return spec


def _refuse(
    bad: bool, message: str, where: str, found: Any = None, hint: str | None = None
) -> None:
    if bad:
        raise InputError(message, where=where, found=found, hint=hint)


def _strings(value: Any, where: str) -> tuple[str, ...]:
    return checks.distinct(checks.texts(value, where), "an entry", where)


def _results(table: Any, at: str) -> Results:
    checks.table(table, at)
    checks.known_keys(table, ("group", "fixed", "level", "estimand"), at, needed=("group",))

    def column(value: Any, where: str) -> str:
        _refuse(
            not isinstance(value, str) or not value, "must be the name of a column", where, value
        )
        return str(value)

    group = column(table["group"], f"{at}, key group")
    levels, estimands = {}, {}
    for kind in ("level", "estimand"):
        for name, entry in checks.table(table.get(kind, {}), f"{at}, key {kind}").items():
            here = f"{at[:-1]}.{kind}.{name}]"
            checks.table(entry, here)
            _refuse(
                name in ("overall", "population", "listed_words"), "this name is taken", here, name
            )
            keys = ("by", "held") if kind == "level" else ("held",)
            known = (*keys, "population") if kind == "level" else keys
            checks.known_keys(entry, known, here, needed=keys)
            held = _strings(entry["held"], f"{here}, key held")
            if kind == "estimand":
                estimands[name] = held
            else:
                by = column(entry["by"], f"{here}, key by")
                levels[name] = Level(by, held, entry.get("population") is not False)
    fixed = _strings(table.get("fixed", []), f"{at}, key fixed")
    return Results(group, tuple(dict.fromkeys((group, *fixed))), levels, estimands)


def _parameter(name: str, table: Any, at: str) -> Parameter:
    checks.table(table, at)
    _refuse(not name.isidentifier(), "a parameter's name must be a plain identifier", at, name)
    distribution = table.get("distribution")
    row = DISTRIBUTIONS[
        checks.choice(distribution, DISTRIBUTIONS, "distribution", f"{at}, key distribution")
    ]
    checks.known_keys(
        table,
        ("distribution", "dims", "times", "only", *row.args),
        at,
        needed=("distribution", *row.args),
    )
    times = table.get("times")
    bad = not isinstance(times, str | None) or times == ""
    _refuse(bad, "must be the name of a column of numbers", f"{at}, key times", times)
    dims = _strings(table.get("dims", []), f"{at}, key dims")
    for dim in dims:
        _refuse(dim in _TAKEN_DIMS, "this dimension is taken by the draws", f"{at}, key dims", dim)
    only = dict(checks.table(table.get("only", {}), f"{at}, key only"))
    for column, label in only.items():
        bad = not isinstance(label, str) or not label
        _refuse(bad, f"{column} must be a label of that column", f"{at}, key only", label)
    args = {
        arg: _argument(table[arg], arg in row.positive_args, f"{at}, key {arg}") for arg in row.args
    }
    return Parameter(name, dims, distribution, args, times, only)


def _argument(value: Any, positive: bool, at: str) -> float | str:
    if isinstance(value, str):
        return value
    number = isinstance(value, int | float) and not isinstance(value, bool)
    bad = not number or not abs(value) <= sys.float_info.max  # TOML's whole numbers have no bound
    _refuse(bad, "must be a finite number or the name of a parameter", at, value)
    if positive:
        checks.positive(value, at)
    far = abs(value) > _LARGEST or (positive and value < 1 / _LARGEST)
    _refuse(
        far, f"must lie within {_LARGEST:g} (and above {1 / _LARGEST:g} if positive)", at, value
    )
    return float(value)


def _check_graph(spec: ModelSpec, where: str) -> None:
    """Refuse unknown and unused parameters, cycles, and arguments of the wrong support."""
    used: set[str] = set()
    parameters = spec.parameters

    def visit(name: str, path: tuple[str, ...]) -> None:
        circle = " -> ".join((*path, name))
        _refuse(name in path, "parameters depend on each other in a circle", where, circle)
        used.add(name)
        row = DISTRIBUTIONS[parameters[name].distribution]
        for arg, value in parameters[name].args.items():
            if isinstance(value, str):
                at = f"{where}, [parameter.{name}], key {arg}"
                checks.choice(value, parameters, "parameter", at)
                bad = arg in row.positive_args and not parameters[value].positive
                _refuse(bad, f"{arg} needs a positive parameter; {value!r} may be negative", at)
                bad = arg == "mu" and not parameters[name].positive and parameters[value].positive
                _refuse(bad, "a mean must be free to be negative", at, value)
                visit(value, (*path, name))

    for name in spec.mu:
        visit(name, ())
        at = f"{where}, [likelihood], key mu"
        _refuse(
            parameters[name].positive, "a term of the mean must be free to be negative", at, name
        )
    labels = (spec.outcome, *spec.units, *(dim for p in parameters.values() for dim in p.dims))
    for name, parameter in parameters.items():
        at = f"{where}, [parameter.{name}], key"
        if parameter.covariate is not None:
            _refuse(
                name not in spec.mu or isinstance(parameter.args.get("mu"), str),
                "only a term of the mean around a number may be multiplied by a column of the table",
                f"{at} times",
                name,
                nearest(parameter.covariate, list(parameters)),
            )
            message = "must be a column of numbers; this column holds labels, or the outcome"
            _refuse(parameter.covariate in labels, message, f"{at} times", parameter.covariate)
        _refuse(
            bool(parameter.only)
            and (name not in spec.mu or not spec.is_random(name) or parameter.args["mu"] != 0),
            "only a term of the mean that scatters around zero, with a standard deviation of its own, may be left "
            "out of rows",
            f"{at} only",
            name,
        )
    for arg, value in spec.noise.items():
        if isinstance(value, str):
            visit(value, ())
            at = f"{where}, [likelihood], key {arg}"
            _refuse(not parameters[value].positive, f"{arg} needs a positive parameter", at, value)
    unused = [name for name in parameters if name not in used]
    _refuse(bool(unused), "parameters are never used", where, unused)
