"""Results as one JSON object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayesbias.core.files import records
from bayesbias.core.sections import Interpretation, Section
from bayesbias.inference.view import View
from bayesbias.output.registry import interpretation, study_of

LEFT_OUT = ("p_below_zero", "p_in_rope", "d")  # of a brief answer


def to_json(
    result: Any, view: View | None = None, *, more: Sequence[Section] = (), brief: bool = False
) -> dict[str, Any]:
    """Return a result as one object: tables, meaning and provenance.

    Parameters
    ----------
    result : BiasFit, Comparison, SeatResult, SentimentAnalysis, WefatResult or SweepResult
        What a study returned.
    view : View, optional
        Probability of the intervals and the regions of practical equivalence.
    more : sequence of Section
        Further tables, after those of the study.

    brief : bool
        Whether to return only the keys ``kind, result, verdict, contrasts, converged, warnings``.

    Returns
    -------
    dict
        ``kind``, ``finding`` (the headline), ``interpretation``, a list of records for each table,
        and what the study adds: ``diagnostics, coverage, provenance, timing``.

    Examples
    --------
    >>> import bayesbias as bb
    >>> fit = bb.fit(
    ...     bb.distance_table("minilm-static", "religion", controls="none"),
    ...     seed=1,
    ...     draws=200,
    ...     chains=2,
    ... )
    >>> answer = bb.output.to_json(fit)
    >>> answer["kind"], answer["contrasts"][0]["contrast"]
    ('association', 'associated - different')
    """
    view = view or View()
    study = study_of(result)
    said = interpretation(result, view)
    if brief:
        return _brief(result, view, said)
    out: dict[str, Any] = {
        "kind": study.kind,
        "finding": said.headline,
        "interpretation": said.as_dict(),
    }
    for section in [*study.sections(result, view), *more]:
        if "files" in section.show_on:
            out[section.name] = None if section.frame is None else records(section.frame)
    return {**out, **study.about(result)}


def _brief(result: Any, view: View, said: Interpretation) -> dict[str, Any]:
    """Return the headline, the main rows of the first table, and what may make them wrong."""
    study = study_of(result)
    first = next(s for s in study.sections(result, view) if "terminal" in s.show_on)
    frame = first.frame
    assert frame is not None
    main = ["contrast" if "contrast" in frame else "label"]
    if "level" in frame and "between" in set(frame["level"]):  # groups are compared in pairs
        main = ["name", "contrast"]
    for column, value in (("level", "overall"), ("level", "between"), ("estimand", "population")):
        if column in frame and (frame[column] == value).any():
            frame = frame[frame[column] == value]
    printed = [name for c in first.columns if c.name != "label" for name in (c.name, c.upper)]
    names = [
        n for n in dict.fromkeys([*main, *printed, "verdict"]) if n in frame and n not in LEFT_OUT
    ]
    rows = [
        {name: _rounded(value) for name, value in row.items() if value is not None}
        for row in records(frame[names])
    ]
    converged = (study.about(result).get("diagnostics") or {}).get("ok")
    return {
        "kind": study.kind,
        "result": said.headline,
        "verdict": rows[0].get("verdict") if rows and converged is not False else None,
        "contrasts": rows,
        "converged": converged,
        "warnings": list(said.warnings),
    }


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.4g}")
    return value.strip() if isinstance(value, str) else value
