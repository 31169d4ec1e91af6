"""A model with one of its priors made wider or narrower."""

from __future__ import annotations

import tomllib
from dataclasses import replace

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import toml_text
from bayesbias.models.distributions import stretched
from bayesbias.models.loading import parse_model
from bayesbias.models.spec import ModelSpec

__all__ = ["stretched_prior"]


def stretchable(spec: ModelSpec) -> list[str]:
    """Return the parameters whose prior has a width of its own: a number of the model file, not a parameter."""
    return [name for name in spec.parameters if arguments_stretched(spec, name, 1.0) is not None]


def arguments_stretched(spec: ModelSpec, name: str, factor: float) -> dict[str, float | str] | None:
    """Return the arguments of a prior some times as wide; None where it has no width of its own.

    What terms of the mean are multiplied by stays around the number it stands at: twice as wide a prior of it does not
    expect twice as large effects.
    """
    parameter = spec.parameters[name]
    return stretched(parameter.distribution, parameter.args, factor, around=name in spec.factors())


def stretched_prior(spec: ModelSpec, name: str, factor: float) -> ModelSpec:
    """Return the model with one prior some times as wide.

    A normal prior keeps its mean, and its sd is multiplied; so is the scale of a half-normal, half-Cauchy, Student-t or
    inverse gamma one. Of an exponential or gamma prior the rate is divided, and a log-normal one is shifted by the
    logarithm of the factor: all their values are multiplied. The log-normal prior of what terms are multiplied by keeps
    its median, and the sd of its logarithm is multiplied.

    Parameters
    ----------
    spec : ModelSpec
    name : str
        A parameter whose width is a number of the model file.
    factor : float > 0
        2 doubles the width.

    Returns
    -------
    ModelSpec
        Its text and its hash are those of the changed file; the name of the model is the same.

    Raises
    ------
    InputError
        For a parameter that the model does not have, or whose width is itself a parameter.

    Examples
    --------
    >>> import bayesbias as bb
    >>> spec = stretched_prior(bb.load_model("crossed"), "attribute_sd", 2)
    >>> dict(spec.parameters["attribute_sd"].args), dict(spec.parameters["connection_mean"].args)
    ({'lam': 1.0}, {'mu': 1.0, 'sigma': 0.3})
    """
    checks.positive(factor, "factor")
    checks.choice(name, list(spec.parameters), "parameter", spec.label)
    args = arguments_stretched(spec, name, factor)
    if args is None:
        raise InputError(
            "the prior of this parameter has no width of its own",
            where=spec.label,
            found=name,
            valid=stretchable(spec),
        )
    document = tomllib.loads(spec.text)
    document["parameter"][name].update(args)
    text = toml_text(document).encode("utf-8")
    return replace(parse_model(text, spec.origin or spec.name), origin=spec.origin)
