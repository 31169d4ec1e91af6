"""The studies: which module says what is shown of a result."""

import dataclasses
import importlib
from typing import Any

from bayesbias.core import InputError
from bayesbias.core.sections import Interpretation
from bayesbias.inference.view import PROB, ROPE, STANDARD_ROPE, View
from bayesbias.studies.common import misfit_warnings

# The attribute `study` of a result's class names one of these modules. Each has ``QUESTION``, which
# stands under the title of the page, perhaps ``GLOSSARY``, terms that the page explains, and
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
            hint="give what fit, compare or seat returns; of a saved run its .result",
        )
    return importlib.import_module(STUDIES[name])


def interpret(
    result: Any, prob: float = PROB, rope: float = ROPE, standard_rope: float = STANDARD_ROPE
) -> Interpretation:
    """Say in sentences what a result shows, with warnings and notes.

    Parameters
    ----------
    result : BiasFit, Comparison, SeatResult, SentimentAnalysis, WefatResult or SweepResult
        What `fit`, `compare`, `seat`, `sentiment_analysis`, `wefat` or `run_sweep` returned.
    prob : float in (0, 1)
        Probability of the intervals.
    rope : float
        Half-width of the region of practical equivalence, in units of the outcome.
    standard_rope : float
        The same in standard deviations.

    Returns
    -------
    Interpretation
        With ``headline``, ``warnings``, ``notes`` and ``details``; print it to read all.

    Raises
    ------
    InputError
        If `result` is none of the results of this package.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> fit = bb.fit(table, seed=1, draws=200, chains=2)
    >>> bb.interpret(fit).subject
    'religion in minilm-static'
    """
    return interpretation(result, View(prob, rope, standard_rope))


def interpretation(result: Any, view: View) -> Interpretation:
    """Return what a study says, and warn of failed predictive checks of its fits."""
    said = study_of(result).interpret(result, view)
    warnings = (*said.warnings, *misfit_warnings(result.fits()))
    return dataclasses.replace(said, warnings=warnings)
