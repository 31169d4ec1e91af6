"""What a study shows: sections of tables and figures, and an interpretation.

Renderers in `bayesbias.output` print them.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

from bayesbias.core.advice import in_python
from bayesbias.core.files import plain
from bayesbias.core.formatting import UNKNOWN, as_percent, format_value, is_known


@dataclass(frozen=True)
class Column:
    """How one column of a frame is printed.

    Attributes
    ----------
    name : str
        Column of the frame. An interval names the column of its lower end and has the other in
        `upper`.
    heading : str
        What stands over the column. ``{prob}`` becomes the probability of the intervals, such as
        89%.
    kind : {"text", "count", "number", "signed", "interval", "range", "estimate", "probability", "p_value", "percent"}
        An interval has signs before its ends, and a range has none. An estimate has its interval in
        a line below it.
    digits : int, optional
        Decimals. By default they follow from the median SD of the frame, so that a column has two
        significant digits of it.
    upper : str
        Column of the upper end of an interval.
    lower : str
        Column of the lower end of the interval of an estimate.
    """

    name: str
    heading: str
    kind: str = "text"
    digits: int | None = None
    upper: str = ""
    lower: str = ""

    @property
    def is_number(self) -> bool:
        """Whether cells are aligned to the right."""
        return self.kind != "text"

    def cells(self, frame: pd.DataFrame) -> list[str]:
        """Return the printed cells of a frame."""
        digits = self.digits if self.digits is not None else decimals(frame)
        if self.kind in ("interval", "range"):
            cells = self._intervals(frame, self.name, digits)
        elif self.kind == "estimate":
            means = [format_value(value, "signed", digits) for value in frame[self.name]]
            intervals = self._intervals(frame, self.lower, digits)
            cells = ["\n".join(pair) for pair in zip(means, intervals, strict=True)]
        else:
            cells = [format_value(value, self.kind, digits) for value in frame[self.name]]
        if self.is_number and "is_heading" in frame:
            return [
                "" if head is True else cell
                for head, cell in zip(frame["is_heading"], cells, strict=True)
            ]
        return cells

    def _intervals(self, frame: pd.DataFrame, lower: str, digits: int) -> list[str]:
        """Return the printed intervals between two columns."""
        sign = "" if self.kind == "range" else "+"
        return [
            f"[{low:{sign}.{digits}f}, {high:{sign}.{digits}f}]"
            if is_known(low) and is_known(high)
            else UNKNOWN
            for low, high in zip(frame[lower], frame[self.upper], strict=True)
        ]


def printed(
    frame: pd.DataFrame, columns: Sequence[Column | str], prob: float
) -> list[tuple[Column, str, list[str]]]:
    """Return the columns that a frame has, each with its heading and its cells.

    A name alone is a column of text with its name as heading.
    """
    named = [Column(of, of.replace("_", " ")) if isinstance(of, str) else of for of in columns]
    return [
        (column, column.heading.format(prob=as_percent(prob)), column.cells(frame))
        for column in named
        if column.name in frame
    ]


def decimals(frame: pd.DataFrame) -> int:
    """Return the decimals that two significant digits of the median SD need; three without SDs."""
    sds = frame["sd"].to_numpy(dtype=float) if "sd" in frame else []
    sds = [sd for sd in sds if math.isfinite(sd) and sd > 0]
    if not sds:
        return 3
    return int(min(max(1 - math.floor(math.log10(sorted(sds)[len(sds) // 2])), 0), 5))


@dataclass(frozen=True, eq=False)
class Section:
    """One table of a result, with an optional figure.

    Attributes
    ----------
    name : str
        Name of its CSV file, its key in JSON and its anchor on the page.
    title : str
    make : function, optional
        Returns the frame; called when the section is shown, and once only. None where there is only
        text or a figure.
    columns : sequence of Column or str
        What terminal and page print of the frame. A name alone is a column of text with its name as
        heading. CSV and JSON have all columns.
    figure : function, optional
        Draws its figure and returns its axes; for page and run folder.
    text : str
        A paragraph before the table, on the page.
    note : str or function
        A line below the table, or what makes it from the rows that are shown.
    more : str
        A line below the table on the terminal, where ``--detail`` has more of it.
    show_on : str
        Some of ``terminal, brief, detail, page, fold, files, folder``, with blanks between them.
        ``terminal`` prints always, ``detail`` with and ``brief`` without ``--detail``; ``page`` is
        a part of the page and ``fold`` one that opens on a click; ``files`` are the run folder and
        JSON, ``folder`` the run folder alone.
    importance : function, optional
        Returns a number for each row of the frame. Where the terminal has no room for all rows,
        those with the smallest numbers are left out. By default the last rows are.
    """

    name: str
    title: str
    make: Callable[[], pd.DataFrame | None] | None = None
    columns: Sequence[Column | str] = ()
    figure: Callable[[], Any] | None = None
    text: str = ""
    note: str | Callable[[pd.DataFrame], str] = ""
    more: str = ""
    show_on: str = "detail fold files"
    importance: Callable[[pd.DataFrame], Sequence[float]] | None = None

    def shown_on(self, *places: str) -> bool:
        """Say whether the section is shown on one of some places."""
        return not set(places).isdisjoint(self.show_on.split())

    def note_for(self, shown: pd.DataFrame) -> str:
        """Return the line below the table for the rows that are shown."""
        return self.note(shown) if callable(self.note) else self.note

    @cached_property
    def frame(self) -> pd.DataFrame | None:
        """The frame; None where the section has none."""
        return None if self.make is None else self.make()

    def draw(self) -> Figure:
        """Draw the figure of the section."""
        assert self.figure is not None
        return self.figure().figure


@dataclass(frozen=True)
class Interpretation:
    """What a result says, in sentences.

    Attributes
    ----------
    subject : str
        What was measured, such as ``gender in minilm-static``.
    headline : str
        The result in one or two sentences.
    warnings : sequence of str
        What may make the result wrong, and what to do about it. Usually empty.
    notes : sequence of str
        What else a reader should know: missing words, words built from subwords.
    make_details : function
        Returns further sentences about the result, for the page and ``--detail``: see `details`.

    Examples
    --------
    >>> print(
    ...     Interpretation(
    ...         "toy", "Own-class stereotypes are closer.", warnings=("Two words only.",)
    ...     )
    ... )
    Result   Own-class stereotypes are closer.
    Warning  Two words only.
    """

    subject: str
    headline: str
    warnings: Sequence[str] = ()
    notes: Sequence[str] = ()
    make_details: Callable[[], Sequence[str]] = tuple

    @cached_property
    def details(self) -> tuple[str, ...]:
        """Further sentences, made when they are read."""
        return tuple(self.make_details())

    def labelled(self) -> list[tuple[str, str]]:
        """Return (label, sentence) of the headline, the warnings and the notes."""
        rows = [("Result", self.headline), *(("Warning", text) for text in self.warnings)]
        return [*rows, *(("Note", text) for text in self.notes)]

    def in_python(self) -> Interpretation:
        """Return the same with options of a command as arguments of Python."""
        return Interpretation(
            self.subject,
            in_python(self.headline),
            tuple(map(in_python, self.warnings)),
            tuple(map(in_python, self.notes)),
            lambda: [in_python(text) for text in self.details],
        )

    def __repr__(self) -> str:
        rows = self.in_python().labelled()
        return "\n".join(f"{label:<9}{text}" for label, text in rows)

    def _repr_html_(self) -> str:
        rows = self.in_python().labelled()
        return "".join(f"<p><b>{label}</b> {html.escape(text)}</p>" for label, text in rows)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, for JSON."""
        names = ("subject", "headline", "warnings", "notes", "details")
        return plain({name: getattr(self, name) for name in names})
