"""The kind of any result, a sweep among them: what can be saved, drawn and put on a page."""

from __future__ import annotations

from bayesbias.studies.kinds import kind_of
from bayesbias.sweeps.result import SweepResult


def kind_of_any(result: object) -> str | None:
    """Return the kind of a result of a study, or ``sweep``; None of what is neither."""
    return "sweep" if isinstance(result, SweepResult) else kind_of(result)
