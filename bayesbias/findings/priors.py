"""What of a result rests on a prior, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayesbias.core.digits import printed
from bayesbias.core.errors import FitError
from bayesbias.core.wording import conjoined, number_of
from bayesbias.findings.parts import Doubt, Unexamined
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.scope import farther_than
from bayesbias.inference.sensitivity import LARGE_SHIFT, largest_shift, unexamined

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.models.spec import ModelSpec

__all__ = ["AS_WIDE", "largest_prior_shift", "parameter_in_words", "prior_doubts", "unexamined_priors"]

AS_WIDE = {"halved": "half as wide", "doubled": "twice as wide"}
# Why, by what `prior_sensitivity` says in `how`.
_UNKNOWN = {
    "not_refitted": "draws weighed anew are too few there, and only a second fit would tell "
    "(`prior_sensitivity(refit=True)`)",
    "unknown": "neither draws weighed anew nor a second fit are enough there; more draws may be",
}
_COLUMNS = {
    "protected_word": "protected word",
    "protected_class": "class",
    "attribute_class": "list of attributes",
    "attribute_kind": "kind of attributes",
}  # any other column is called by its name


def prior_doubts(
    fit: BiasFit, template: str = "{}", more_of: str = "words", refit: bool | None = None
) -> list[Doubt]:
    """Return the main contrasts that move by more than half their sd where a prior is half or twice as wide, errors aside.

    One doubt for each level at which there is one: it names the contrast that moves most and the parameter whose prior
    moves it, and how many others move so far. None of a fit that has not converged, whose draws show nothing of the kind.

    Parameters
    ----------
    fit : BiasFit
    template : str
        What a contrast is called, with ``{}`` in its place.
    more_of : str
        What to gather more of.
    refit : bool, optional
        As of `BiasFit.prior_sensitivity`.
    """
    table = _table(fit, refit)
    if table is None:
        return []
    far = [
        bool(farther_than(LARGE_SHIFT, shift, error))
        for shift, error in table.reindex(columns=["shift_in_sd", "error"]).itertuples(index=False)
    ]
    large = table.loc[far]
    out = []
    for level in dict.fromkeys(large["level"]):
        own = large[large["level"] == level]
        row: Any = largest_shift(own)
        of = _of(fit, row)
        others = len(own.drop_duplicates(["name", "contrast"])) - 1
        more = f"; so do{'es' if others == 1 else ''} {number_of(others, 'other contrast')}" if others else ""
        out.append(
            Doubt(
                kind="prior",
                text=f"{template.format(_called(row))}{of} rests on a prior: with {_which(fit, row)} it goes "
                f"from {_from_to(row)}, by {printed(abs(row['shift_in_sd']), row.get('error'), 1)} of its sd{more}; state "
                f"the prior with the result, or gather more {more_of}",
                level=str(level),
                contrast=str(row["contrast"]),
                group=None if level == "overall" else str(row["name"]),
                parameter=str(row["parameter"]),
            )
        )
    return out


def unexamined_priors(fit: BiasFit, refit: bool | None = None) -> tuple[Unexamined, ...]:
    """Return the changes of a prior of which it is not known what they do; none of a fit that has not converged.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> unexamined_priors(bb.fit(table, "crossed", seed=1, draws=500))
    ()
    """
    table = _table(fit, refit)
    return tuple(
        Unexamined("prior_not_refitted" if how == "not_refitted" else "prior_unknown", parameter, direction)
        for parameter, direction, how in ([] if table is None else unexamined(table))
    )


def largest_prior_shift(fit: BiasFit) -> str:
    """Say in one sentence how far half and twice as wide priors move the main contrasts; nothing where nothing is known.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> text = largest_prior_shift(bb.fit(table, "crossed", seed=1, pointwise=False))
    >>> text.split(" by ")[0]
    'With each prior half or twice as wide, no main contrast moves'
    """
    table = _table(fit)
    row: Any = None if table is None else largest_shift(table)
    if table is None or row is None:
        return ""
    of = _of(fit, row)
    rest = ""
    for kind, why in _UNKNOWN.items():
        unknown = [
            f"{parameter_in_words(fit.spec, parameter)} {AS_WIDE[direction]}"
            for parameter, direction, how in unexamined(table)
            if how == kind
        ]
        rest += f" With the prior of {conjoined(unknown)} it is not known: {why}." if unknown else ""
    return (
        "With each prior half or twice as wide, no main contrast moves by more than "
        f"{printed(abs(row['shift_in_sd']), row.get('error'), 2)} of its sd ({row['contrast']}{of}, "
        f"with {_which(fit, row)}).{rest}"
    )


def _from_to(row: Any) -> str:
    """Write a mean before and after, both to the digits that the error of the shift allows, which is in sd."""
    moved = abs(row["mean_after"] - row["mean_before"])
    error = row.get("error", 0.0) * moved / abs(row["shift_in_sd"])
    before, after = (printed(row[f"mean_{when}"], error, signed=True) for when in ("before", "after"))
    return f"{before} to {after}"


def _called(row: Any) -> str:
    return str(row["contrast"]) if " - " in row["contrast"] else f"the mean of {row['contrast']}"


def _of(fit: BiasFit, row: Any) -> str:
    """Name a class or a word; a list of stereotypes has the name of its class, and is called a list."""
    if row["level"] == "overall":
        return ""
    by = fit.spec.results.levels[row["level"]].by
    return f" of {'the list ' if by == 'attribute_class' else ''}{row['name']}"


def _which(fit: BiasFit, row: Any) -> str:
    return f"the prior of {parameter_in_words(fit.spec, row['parameter'])} {AS_WIDE[row['direction']]}"


def parameter_in_words(spec: ModelSpec, name: str) -> str:
    """Say what a parameter is, from its place in the model file and what it is indexed by; its name in brackets.

    Parameters
    ----------
    spec : ModelSpec
    name : str
        One that the model lacks is returned as it is.

    Examples
    --------
    >>> import bayesbias as bb
    >>> cells = bb.load_model("default")
    >>> for name in ("g", "d", "csd", "kw", "sigma"):
    ...     print(parameter_in_words(cells, name))
    the mean distance (g)
    how far the distance differs by connection (d)
    the spread of differences by protected word and connection (csd)
    how far the scatter by protected word differs by class (kw)
    the noise, for each connection (sigma)
    """
    if name not in spec.parameters:
        return name
    return f"{_role(spec, name)} ({name})"


_OF_NOISE = {"sigma": "noise", "nu": "tails of the noise"}


def _role(spec: ModelSpec, name: str) -> str:
    parameter = spec.parameters[name]
    each = f", for each {_named(parameter.dims)}" if parameter.dims else ""
    noise = next((arg for arg, value in spec.noise.items() if value == name), None)
    if noise is not None:
        return f"the {_OF_NOISE.get(noise, f'{noise} of the noise')}{each}"
    if name in spec.factors():
        return _factor(spec, name)
    above = next((p for p in spec.parameters.values() if name in p.args.values()), None)
    if above is not None and above.args.get("mu") != name:
        of = "differences" if above.covariate is None else f"slopes on {above.covariate}"
        by = f" by {_named(above.dims)}" if above.dims else ""
        by += "".join(f" towards {label}" for label in above.only.values())
        return f"the spread of {of}{by}{each if set(parameter.dims) - set(above.dims) else ''}"
    if parameter.covariate is not None:
        return f"the slope on {parameter.covariate}{each}"
    # Around zero a term says how far labels differ, if another one carries what they share.
    means = [
        other for other in spec.mu if spec.parameters[other].covariate is None and not spec.is_random(other)
    ]
    if parameter.dims and len(means) > 1 and above is None and parameter.args.get("mu") == 0:
        return f"how far the {_named((spec.outcome,))} differs by {_named(parameter.dims)}"
    return f"the mean {_named((spec.outcome,))}{each}"


def _factor(spec: ModelSpec, name: str) -> str:
    """Say what is multiplied: the labels that all terms with this factor scatter over."""
    scattered = [p.dims for p in spec.parameters.values() if p.times == name]
    shared = tuple(column for column in scattered[0] if all(column in dims for dims in scattered))
    of = f"the scatter by {_named(shared)}" if shared else "the scatter"
    dims = spec.parameters[name].dims
    return f"how far {of} differs by {_named(dims)}" if dims else f"the factor of {of}"


def _named(columns: tuple[str, ...]) -> str:
    return conjoined(_COLUMNS.get(column, column.replace("_", " ")) for column in columns)


def _table(fit: BiasFit, refit: bool | None = None) -> pd.DataFrame | None:
    if not fit.diagnostics()["ok"]:
        return None
    try:
        return fit.prior_sensitivity(refit)
    except FitError:  # a table with nothing to contrast has no main contrast
        return None
