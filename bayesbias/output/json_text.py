"""Results as one JSON object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayesbias.core.files import records
from bayesbias.core.sections import Section
from bayesbias.inference.view import View
from bayesbias.output.registry import study_of

SCHEMA = 2


def to_json(
    result: Any, view: View | None = None, *, more: Sequence[Section] = ()
) -> dict[str, Any]:
    """Return a result as one object: its tables by name, what they mean, and how they were made.

    Parameters
    ----------
    result : BiasFit, Comparison, SeatResult, SentimentAnalysis, WefatResult or SweepResult
        What a study returned.
    view : View, optional
        Probability of the intervals and the regions of practical equivalence.
    more : sequence of Section
        Further tables, after those of the study.

    Returns
    -------
    dict
        ``kind``, ``finding`` (the headline), ``interpretation``, a list of records for each table,
        and what the study adds: ``diagnostics, coverage, provenance, timing``.

    Examples
    --------
    >>> import bayesbias as bb
    >>> fit = bb.fit(bb.distance_table("minilm-static", "religion", controls="none"), seed=1, draws=200, chains=2)
    >>> answer = bb.output.to_json(fit)
    >>> answer["kind"], answer["contrasts"][0]["contrast"]
    ('association', 'associated - different')
    """
    view = view or View()
    study = study_of(result)
    said = study.interpret(result, view)
    out: dict[str, Any] = {
        "kind": study.kind,
        "finding": said.headline,
        "interpretation": said.as_dict(),
    }
    for section in [*study.sections(result, view), *more]:
        if "files" in section.show_on:
            out[section.name] = None if section.frame is None else records(section.frame)
    return {**out, **study.about(result)}
