"""The studies: which module says what is shown of a result."""

import dataclasses
from typing import Any, NamedTuple

from bayesbias.core import InputError
from bayesbias.core.sections import Interpretation
from bayesbias.inference.view import View
from bayesbias.studies.common import misfit_warnings
from bayesbias.studies.study import Study

KINDS = (
    "association", "groups", "corpora", "debiasing", "replicates", "sentences", "sentiment",
    "wefat", "responses", "sweep",
)  # fmt: skip
"""The values of the attribute `study` of results."""


def study_named(kind: str) -> Study:
    """Return the module that says what is shown of one kind of result; it is loaded when asked for.

    Raises
    ------
    InputError
        If no study has that name.
    """
    match kind:
        case "association":
            from bayesbias.studies.association import sections as association

            return association
        case "groups":
            from bayesbias.studies.groups import sections as groups

            return groups
        case "corpora":
            from bayesbias.studies.corpora import sections as corpora

            return corpora
        case "debiasing":
            from bayesbias.studies.debiasing import sections as debiasing

            return debiasing
        case "replicates":
            from bayesbias.studies.replicates import sections as replicates

            return replicates
        case "sentences":
            from bayesbias.studies.sentences import sections as sentences

            return sentences
        case "sentiment":
            from bayesbias.studies.sentiment import sections as sentiment

            return sentiment
        case "wefat":
            from bayesbias.studies.wefat import sections as wefat

            return wefat
        case "responses":
            from bayesbias.studies.responses import sections as responses

            return responses
        case "sweep":
            from bayesbias.sweeps import sections as sweep

            return sweep
    raise InputError("expected a kind of result", where="kind", found=kind, valid=KINDS)


def study_of(result: Any) -> Study:
    """Return the module that says what is shown of a result.

    Raises
    ------
    InputError
        If `result` is none of the results of this package.
    """
    kind = getattr(result, "study", None)
    if not isinstance(kind, str):
        raise InputError(
            "expected a result, such as a fit or a comparison",
            found=type(result).__name__,
            hint="give what fit, compare or seat returns, or the folder of a run",
        )
    return study_named(kind)


class Shown(NamedTuple):
    """A result as a view shows it.

    Attributes
    ----------
    study : Study
        The module that says what is shown.
    result : Result
        With the intervals and regions of practical equivalence of the view.
    view : View
        With the defaults of the result.
    """

    study: Study
    result: Any
    view: View


def shown(result: Any, view: View | None = None) -> Shown:
    """Return a result as a view shows it, by default its own.

    Raises
    ------
    InputError
        If `result` is none of this package, or the view has a ROPE and the result has none.
    """
    study = study_of(result)
    return Shown(study, *result.shown_with(View() if view is None else view))


def interpretation(result: Any, view: View | None = None) -> Interpretation:
    """Return what a study says, and warn of failed predictive checks of its fits."""
    study, result, view = shown(result, view)
    said = study.interpret(result, view)
    warnings = (*said.warnings, *misfit_warnings(result.fits_to_check()))
    return dataclasses.replace(said, warnings=warnings)
