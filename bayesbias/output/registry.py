"""The studies: which module says what is shown of a result."""

import dataclasses
import importlib
from typing import Any

from bayesbias.core import InputError
from bayesbias.core.sections import Interpretation
from bayesbias.inference.view import View
from bayesbias.studies.common import misfit_warnings

# The attribute `study` of a result's class names one of these modules. Each has ``QUESTION``, which
# stands under the title of the page, perhaps ``GLOSSARY``, terms that the page explains in place of
# those of distances, or ``glossary(result)``, terms that come before those, and
# ``header(result, view)``, the lines over the first table, ``sections(result, view)``,
# ``interpret(result, view)`` and ``about(result)``, what is known of its making, for JSON.
STUDIES = {
    "association": "bayesbias.studies.association.sections",
    "corpora": "bayesbias.studies.corpora.sections",
    "debiasing": "bayesbias.studies.debiasing.sections",
    "replicates": "bayesbias.studies.replicates.sections",
    "sentences": "bayesbias.studies.sentences.sections",
    "sentiment": "bayesbias.studies.sentiment.sections",
    "groups": "bayesbias.studies.groups.sections",
    "wefat": "bayesbias.studies.wefat.sections",
    "responses": "bayesbias.studies.responses.sections",
    "sweep": "bayesbias.sweeps.sections",
}


def study_of(result: Any) -> Any:
    """Return the module that says what is shown of a result.

    Raises
    ------
    InputError
        If `result` is none of the results of this package.
    """
    name = getattr(result, "study", None)
    if not isinstance(name, str):
        raise InputError(
            "expected a result, such as a fit or a comparison",
            found=type(result).__name__,
            hint="give what fit, compare or seat returns, or the folder of a run",
        )
    return importlib.import_module(STUDIES[name])


def interpretation(result: Any, view: View) -> Interpretation:
    """Return what a study says, and warn of failed predictive checks of its fits."""
    said = study_of(result).interpret(result, view)
    warnings = (*said.warnings, *misfit_warnings(result.fits()))
    return dataclasses.replace(said, warnings=warnings)
