"""The contract of a study: what its ``sections`` module has, for every place that shows a result."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from bayesbias.core.sections import Interpretation, Section
from bayesbias.inference.view import View


@runtime_checkable
class Study(Protocol):
    """What a module has that says what is shown of one kind of result.

    Results and views reach it by `bayesbias.output.registry.shown`: the result has the intervals of
    the view, and the view the defaults of the result.

    Attributes
    ----------
    QUESTION : str
        What the study answers; it stands under the title of the page.
    TYPES : tuple of type
        The dataclasses that its results consist of, to read them from a run folder.
    ONE_VERDICT : bool
        Whether the first row of the first table answers the question, so that brief JSON gives its
        verdict; else all rows are equals.
    FILES_BEFORE : bool
        Whether the folder of a run has files before the run is saved, as that of a sweep.
    FIT_FILE : str
        The file of a fit without which a run may be replaced by one of other inputs, since nothing
        was fitted. "" where every run is kept.
    """

    QUESTION: str
    TYPES: tuple[type, ...]
    ONE_VERDICT: bool
    FILES_BEFORE: bool
    FIT_FILE: str

    def header(self, result: Any, view: View) -> list[str]:
        """Return the lines over the first table."""

    def sections(self, result: Any, view: View) -> list[Section]:
        """Return all tables and figures, in the order in which they are read."""

    def interpret(self, result: Any, view: View) -> Interpretation:
        """Say in sentences what the result shows."""

    def about(self, result: Any) -> dict[str, Any]:
        """Return what JSON says beside the tables."""

    def glossary(self, result: Any) -> Sequence[tuple[str, str]]:
        """Return the terms that the page explains, each with its meaning."""
