"""Results for a terminal or a notebook: header, tables, then result, warnings and notes."""

from __future__ import annotations

import html
import itertools
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bayesbias.core.sections import Column, Interpretation, Section, printed
from bayesbias.inference.view import View
from bayesbias.output.registry import interpretation, study_of

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 80
NARROW = 12  # columns of text are not made narrower
MOST_ROWS = 40  # of one table; what is shown first has fewer


def to_text(
    result: Any,
    view: View | None = None,
    *,
    detail: bool = False,
    more: Sequence[Section] = (),
) -> str:
    """Return a result as a terminal prints it.

    Parameters
    ----------
    result : BiasFit, Comparison, SeatResult, SentimentAnalysis, WefatResult or SweepResult
        What a study returned.
    view : View, optional
        Probability of the intervals and the regions of practical equivalence.
    detail : bool
        Whether to print all tables and further sentences.
    more : sequence of Section
        Further tables, after those of the study.

    Returns
    -------
    str
        Lines of at most 80 columns, except where a table needs more.

    Examples
    --------
    >>> import bayesbias as bb
    >>> fit = bb.fit(
    ...     bb.distance_table("minilm-static", "religion", controls="none"),
    ...     seed=1,
    ...     draws=200,
    ...     chains=2,
    ... )
    >>> print(bb.output.to_text(fit).splitlines()[1])
    165 pairs: 15 words x 11 attributes (11 stereotypes)
    """
    view = view or View()
    study = study_of(result)
    wanted = {"terminal", "detail"} if detail else {"terminal"}
    blocks = ["\n".join(line for text in study.header(result, view) for line in wrapped(text))]
    for section in [*study.sections(result, view), *more]:
        if wanted & set(section.show_on) and (text := section_text(section, view)):
            blocks.append(text)
    blocks.append(interpretation_text(interpretation(result, view), detail))
    return "\n\n".join(blocks)


def to_html(result: Any) -> str:
    """Return what a notebook shows: header, first table, result, warnings and notes."""
    import pandas as pd

    view, study = View(), study_of(result)
    parts = [f"<p>{html.escape(line)}</p>" for line in study.header(result, view)]
    for section in study.sections(result, view):
        frame = section.frame if "terminal" in section.show_on else None
        if frame is not None and not frame.empty:
            shown = printed(frame.head(MOST_ROWS), section.columns, view.prob)
            cells = zip(*(cells for _, _, cells in shown), strict=True)
            table = pd.DataFrame(cells, columns=[head for _, head, _ in shown])
            parts.append(f"<p><b>{html.escape(section.title)}</b></p>")
            parts.append(table.to_html(index=False, border=0))
            parts.append(f"<p>{html.escape(section.note)}</p>" if section.note else "")
    return "".join([*parts, study.interpret(result, view)._repr_html_()])


def section_text(section: Section, view: View) -> str:
    """Return the title, the table and the note of a section; empty where it has no rows."""
    frame = section.frame
    if frame is None or frame.empty:
        return ""
    lines = [*wrapped(section.title), ""]
    lines += table_lines(frame.head(MOST_ROWS), section.columns, view)
    if len(frame) > MOST_ROWS:
        lines.append(f"and {len(frame) - MOST_ROWS:,} more rows: --out writes all")
    if section.note:
        lines += wrapped(section.note)
    return "\n".join(lines)


def table_lines(frame: pd.DataFrame, columns: Sequence[Column], view: View) -> list[str]:
    """Return the lines of a table: texts to the left, numbers to the right.

    Long texts take several lines where that makes the table fit the terminal.
    """
    shown = printed(frame, columns, view.prob)
    natural = [max(map(len, (head, *cells))) for _, head, cells in shown]
    numbers = [column.is_number for column, _, _ in shown]
    for most in range(max(natural, default=0), NARROW - 1, -1):
        widths = [n if of else min(n, most) for n, of in zip(natural, numbers, strict=True)]
        if sum(widths) + 2 * (len(widths) - 1) <= WIDTH:
            break
    else:
        widths = natural
    lines = []
    for row in zip(*((head, *cells) for _, head, cells in shown), strict=True):
        parts = [textwrap.wrap(*each) for each in zip(row, widths, strict=True)]
        for line in itertools.zip_longest(*parts, fillvalue=""):
            texts = [
                text.rjust(width) if number else text.ljust(width)
                for number, text, width in zip(numbers, line, widths, strict=True)
            ]
            lines.append("  ".join(texts).rstrip())
    return lines


def interpretation_text(said: Interpretation, detail: bool = False) -> str:
    """Return result, warnings and notes, each with its label before it."""
    rows = said.labelled()
    if detail:
        rows[1:1] = [("", text) for text in said.details]
    lines = []
    for label, text in rows:
        lines += wrapped(text, f"{label:<9}", " " * 9)
    return "\n".join(lines)


def wrapped(text: str, first: str = "", others: str = "") -> list[str]:
    """Return the lines of a paragraph, with what stands before the first and the others."""
    indents: Any = {"initial_indent": first, "subsequent_indent": others}
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False, **indents)
