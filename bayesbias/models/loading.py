"""A model's TOML file, read and checked key by key, becomes a `ModelSpec`.

Every refusal names the file and the key, what was found there, and what would do.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
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
    return _checked_model(parse_toml(text, where), where, sha256_of(text), text.decode("utf-8"))


def _checked_strings(value: Any, where: str) -> tuple[str, ...]:
    return checks.distinct(checks.texts(value, where), "an entry", where)


def _checked_model(raw: dict[str, Any], where: str, sha256: str, text: str) -> ModelSpec:
    checks.known_keys(
        raw, _KEYS, where, needed=("schema", "name", "description", "likelihood", "parameter")
    )
    checks.schema(raw, SCHEMA, where)
    for key in ("name", "description", "source"):
        if not isinstance(raw.get(key, ""), str):
            raise InputError("must be a string", where=f"{where}, key {key}", found=raw[key])
    checks.label(checks.text(raw["name"], f"{where}, key name"), f"{where}, key name")
    if not isinstance(raw.get("trim", False), bool):
        raise InputError("must be true or false", where=f"{where}, key trim", found=raw["trim"])
    for key in ("likelihood", "parameter"):
        checks.table(raw[key], f"{where}, key {key}")

    parameters = {
        name: _checked_parameter(name, table, f"{where}, [parameter.{name}]")
        for name, table in raw["parameter"].items()
    }
    lik, at = raw["likelihood"], f"{where}, [likelihood]"
    checks.known_keys(lik, _LIKELIHOOD_KEYS, at, needed=("outcome", "distribution", "mu", "sigma"))
    checks.choice(
        lik["distribution"], LIKELIHOODS, "distribution of the outcome", f"{at}, key distribution"
    )
    noise_args = [arg for arg in DISTRIBUTIONS[lik["distribution"]].args if arg != "mu"]
    if ("nu" in lik) != ("nu" in noise_args):
        raise InputError("`nu` belongs to StudentT, and StudentT needs it", where=at)
    if not isinstance(lik["outcome"], str) or not lik["outcome"]:
        raise InputError(
            "must be the name of a column", where=f"{at}, key outcome", found=lik["outcome"]
        )
    dims = {dim for parameter in parameters.values() for dim in parameter.dims}
    if lik["outcome"] in dims:
        raise InputError(
            "the outcome cannot be a dimension of a parameter",
            where=f"{at}, key outcome",
            found=lik["outcome"],
            valid="a column of numbers",
        )
    for name in parameters:
        if name in (*_TAKEN_DIMS, *dims, lik["outcome"]):
            raise InputError(
                "a parameter cannot have the name of a dimension or of the outcome",
                where=f"{where}, [parameter.{name}]",
                found=name,
            )
    mu = _checked_strings(lik["mu"], f"{at}, key mu")
    if not mu:
        raise InputError(
            "the mean needs at least one parameter", where=f"{at}, key mu", valid=list(parameters)
        )
    for name in mu:
        _check_parameter_name(name, parameters, f"{at}, key mu")
    units = _checked_strings(lik.get("units", ["protected_word", "attribute"]), f"{at}, key units")
    if not units:
        raise InputError("must name at least one column", where=f"{at}, key units", found=[])
    noise = {}
    for arg in noise_args:
        positive = arg in DISTRIBUTIONS[lik["distribution"]].positive_args
        noise[arg] = _checked_argument(lik[arg], positive, parameters, f"{at}, key {arg}")
    spec = ModelSpec(
        name=raw["name"],
        description=raw["description"],
        source=raw.get("source", ""),
        notes=_checked_strings(raw.get("notes", []), f"{where}, key notes"),
        units=units,
        outcome=lik["outcome"],
        likelihood=lik["distribution"],
        mu=mu,
        noise=noise,
        parameters=parameters,
        results=_checked_results(raw["results"], f"{where}, [results]")
        if "results" in raw
        else RESULTS_OF_PAIRS,
        trim=raw.get("trim", False),
        sha256=sha256,
        text=text,
        origin=where,
    )
    _check_graph(spec, where)
    return spec


def _checked_results(table: Any, at: str) -> Results:
    checks.table(table, at)
    checks.known_keys(table, ("group", "fixed", "level", "estimand"), at, needed=("group",))
    if not isinstance(table["group"], str) or not table["group"]:
        raise InputError(
            "must be the name of a column", where=f"{at}, key group", found=table["group"]
        )
    levels, estimands = {}, {}
    for kind in ("level", "estimand"):
        checks.table(table.get(kind, {}), f"{at}, key {kind}")
        for name, entry in table.get(kind, {}).items():
            here = f"{at[:-1]}.{kind}.{name}]"
            checks.table(entry, here)
            if name in ("overall", "population", "listed_words"):
                raise InputError("this name is taken", where=here, found=name)
            keys = ("by", "held") if kind == "level" else ("held",)
            some = (*keys, "population") if kind == "level" else keys
            checks.known_keys(entry, some, here, needed=keys)
            held = _checked_strings(entry["held"], f"{here}, key held")
            if kind == "estimand":
                estimands[name] = held
            elif not isinstance(entry["by"], str) or not entry["by"]:
                raise InputError(
                    "must be the name of a column", where=f"{here}, key by", found=entry["by"]
                )
            else:
                levels[name] = Level(entry["by"], held, entry.get("population") is not False)
    fixed = _checked_strings(table.get("fixed", []), f"{at}, key fixed")
    return Results(
        table["group"], tuple(dict.fromkeys((table["group"], *fixed))), levels, estimands
    )


def _checked_parameter(name: str, table: Any, at: str) -> Parameter:
    checks.table(table, at)
    if not name.isidentifier():
        raise InputError("a parameter's name must be a plain identifier", where=at, found=name)
    distribution = checks.choice(
        table.get("distribution"), DISTRIBUTIONS, "distribution", f"{at}, key distribution"
    )
    row = DISTRIBUTIONS[distribution]
    args = row.args
    keys = ("distribution", "dims", "times", "only", *args)
    checks.known_keys(table, keys, at, needed=("distribution", *args))
    times = table.get("times")
    if not isinstance(times, str | None) or times == "":
        raise InputError(
            "must be the name of a column of numbers",
            where=f"{at}, key times",
            found=times,
        )
    dims = _checked_strings(table.get("dims", []), f"{at}, key dims")
    for dim in dims:
        if dim in _TAKEN_DIMS:
            raise InputError(
                "this dimension is taken by the draws", where=f"{at}, key dims", found=dim
            )
    return Parameter(
        name=name,
        dims=dims,
        distribution=distribution,
        args={
            arg: _checked_argument(table[arg], arg in row.positive_args, None, f"{at}, key {arg}")
            for arg in args
        },
        covariate=times,
        only=_checked_only(table.get("only", {}), f"{at}, key only"),
    )


def _checked_only(only: Any, at: str) -> dict[str, str]:
    checks.table(only, at)
    for column, label in only.items():
        if not isinstance(label, str) or not label:
            raise InputError(f"{column} must be a label of that column", where=at, found=label)
    return dict(only)


def _checked_argument(
    value: Any, positive: bool, parameters: Mapping[str, Parameter] | None, at: str
) -> float | str:
    if isinstance(value, str):
        if parameters is not None:
            _check_parameter_name(value, parameters, at)
        return value
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not abs(value) <= sys.float_info.max:  # TOML's whole numbers have no bound
        raise InputError(
            "must be a finite number or the name of a parameter", where=at, found=value
        )
    if positive:
        checks.positive(value, at)
    if abs(value) > _LARGEST or (positive and value < 1 / _LARGEST):
        limits = (
            f"from {1 / _LARGEST:g} to {_LARGEST:g}"
            if positive
            else f"at most {_LARGEST:g} in size"
        )
        raise InputError(
            "is beyond what is reckoned with", where=at, found=value, valid=f"a number {limits}"
        )
    return float(value)


def _check_parameter_name(name: str, parameters: Mapping[str, Parameter], at: str) -> None:
    checks.choice(name, parameters, "parameter", at)


def _check_slope(spec: ModelSpec, name: str, at: str) -> None:
    """Refuse what is multiplied by a column of the table and cannot be."""
    covariate, parameter = str(spec.parameters[name].covariate), spec.parameters[name]
    if name not in spec.mu or isinstance(parameter.args.get("mu"), str):
        raise InputError(
            "only a term of the mean that scatters around a number may be multiplied by a column of the table",
            where=at,
            found=name,
            hint=nearest(covariate, list(spec.parameters)),
        )
    if covariate in (
        spec.outcome,
        *spec.units,
        *(dim for p in spec.parameters.values() for dim in p.dims),
    ):
        raise InputError(
            "must be a column of numbers; this column holds labels, or the outcome",
            where=at,
            found=covariate,
        )


def _check_graph(spec: ModelSpec, where: str) -> None:
    """Refuse unknown and unused parameters, cycles, and arguments of the wrong support."""
    used: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            raise InputError(
                "parameters depend on each other in a circle",
                where=where,
                found=" -> ".join((*path, name)),
            )
        used.add(name)
        needs_positive = DISTRIBUTIONS[spec.parameters[name].distribution].positive_args
        for arg, value in spec.parameters[name].args.items():
            if isinstance(value, str):
                at = f"{where}, [parameter.{name}], key {arg}"
                _check_parameter_name(value, spec.parameters, at)
                if arg in needs_positive and not spec.parameters[value].positive:
                    raise InputError(
                        f"{arg} needs a positive parameter; {value!r} may be negative", where=at
                    )
                if (
                    arg == "mu"
                    and not spec.parameters[name].positive
                    and spec.parameters[value].positive
                ):
                    raise InputError("a mean must be free to be negative", where=at, found=value)
                visit(value, (*path, name))

    for name in spec.mu:
        visit(name, ())
        if spec.parameters[name].positive:
            raise InputError(
                "a term of the mean must be free to be negative",
                where=f"{where}, [likelihood], key mu",
                found=name,
            )
    for name, parameter in spec.parameters.items():
        at = f"{where}, [parameter.{name}], key times"
        if parameter.covariate is not None:
            _check_slope(spec, name, at)
        if parameter.only and (
            name not in spec.mu or not spec.is_random(name) or parameter.args["mu"] != 0
        ):
            raise InputError(
                "only a term of the mean that scatters around zero, with a spread of its own, may be left out of rows",
                where=f"{where}, [parameter.{name}], key only",
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
