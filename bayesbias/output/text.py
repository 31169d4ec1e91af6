"""Results for a terminal, a notebook, or as one JSON object.

Header, tables, then result, warnings and notes.
"""

from __future__ import annotations

import html
import itertools
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from bayesbias.core import number_of
from bayesbias.core.advice import in_python
from bayesbias.core.conventions import PROB
from bayesbias.core.files import records
from bayesbias.core.sections import Column, Interpretation, Section, printed
from bayesbias.inference.view import View
from bayesbias.output import registry
from bayesbias.studies.study import Study

WIDTH = 80
NARROW = 12  # columns of text are not made narrower
LEFT_OUT = ("p_below_zero", "p_in_rope", "d")  # of a brief answer
MOST_ROWS = 200  # of one table; what is shown first has fewer
MOST_LINES = 25  # of what is printed without --detail: one screen
MOST_LINES_OF_CELL = 50  # in a notebook, whose cells scroll
FEWEST_ROWS = 3  # of a table, however much is said below it
# Names of rows are at the left, where JupyterLab puts cells at the right.
_FIRST_CELL = re.compile(r"(<tr[^>]*>\s*)<td>")
_LEFT = '<td style="text-align: left">'


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
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> fit = bb.fit(table, seed=1, draws=200, chains=2)
    >>> print(bb.output.to_text(fit).splitlines()[1])
    165 pairs: 15 words x 11 attributes (11 stereotypes)
    """
    study, result, view = registry.shown(result, view)
    header = _header(study, result, view)
    tables = _tables(study.sections(result, view), ("terminal", "detail" if detail else "brief"))
    said = registry.interpretation(result, view)
    if not detail:
        _fit_on_screen(tables, view.prob, f"{header}\n\n{interpretation_text(said)}", MOST_LINES)
    tables += _tables(more, ("terminal", "detail" if detail else "brief"))
    blocks = [header, *(table.text(view.prob, detail) for table in tables)]
    return "\n\n".join([*blocks, interpretation_text(said, detail)])


def to_python(result: Any) -> str:
    """Return a result as Python prints it: as a terminal, with advice in words of Python."""
    study, result, view = registry.shown(result)
    header = _header(study, result, view)
    tables = _tables(study.sections(result, view), ("terminal", "brief"), in_python)
    said = interpretation_text(registry.interpretation(result, view).in_python())
    _fit_on_screen(tables, view.prob, f"{header}\n\n{said}", MOST_LINES)
    return "\n\n".join([header, *(table.text(view.prob, False) for table in tables), said])


def _header(study: Study, result: Any, view: View) -> str:
    """Return the lines over the first table."""
    return "\n".join(line for text in study.header(result, view) for line in wrapped(text))


@dataclass
class _Table:
    """A table as the terminal prints it: some rows of a section."""

    section: Section
    rows: pd.DataFrame
    n_left_out: int = 0
    is_dense: bool = False  # without an empty line below the title
    words: Callable[[str], str] = str  # what is said below it, such as in the words of Python

    @property
    def title(self) -> str:
        """The title of the section; of a very long table also how many rows it has."""
        frame = self.section.frame
        assert frame is not None
        title = self.section.title
        if len(frame) > MOST_ROWS:
            title += f" (the first {MOST_ROWS} of {len(frame):,} rows; --out and the page have all)"
        return title

    @property
    def left_out(self) -> str:
        """Says how many rows there are beside those that are shown."""
        return f"{number_of(self.n_left_out, 'more row')}: --detail." if self.n_left_out else ""

    def text(self, prob: float, detail: bool) -> str:
        """Return the lines of the table, under its title and over its notes."""
        section = self.section
        lines = [*wrapped(self.title), *([] if self.is_dense else [""])]
        lines += table_lines(self.rows, section.columns, prob)
        for line in self.below(detail):
            lines += wrapped(line)
        return "\n".join(lines)

    def below(self, detail: bool) -> list[str]:
        """Return what stands below the table; that there is more of it is said once."""
        more = "" if detail or self.left_out else self.section.more
        lines = (self.left_out, self.section.note_for(self.rows), more)
        return [self.words(line) for line in lines if line]

    @property
    def numbered(self) -> pd.Series:
        """Whether each row has numbers, and is no heading of others."""
        if "is_heading" not in self.rows:
            return pd.Series(True, index=self.rows.index)
        return self.rows["is_heading"].isna()

    def leave_out(self, number: int) -> None:
        """Leave out some of the least important rows, and headings without rows."""
        rows = self.rows[self.numbered]
        importance = self.section.importance or (lambda rows: range(len(rows), 0, -1))
        number = min(number, len(rows) - FEWEST_ROWS)
        # Of equal rows the last ones are left out.
        ranked = pd.Series(importance(rows), index=rows.index)[::-1].sort_values(kind="stable")
        kept = self.rows.drop(ranked.index[:number])
        self.n_left_out += number

        numbered = self.numbered[kept.index]
        empty = ~numbered & ~numbered.shift(-1, fill_value=False)
        self.rows = kept[~empty]


def _tables(
    sections: Sequence[Section], places: Sequence[str], words: Callable[[str], str] = str
) -> list[_Table]:
    """Return the tables of the sections that are shown on one of some places."""
    return [
        _Table(section, section.frame.head(MOST_ROWS), words=words)
        for section in sections
        if section.shown_on(*places) and section.frame is not None and not section.frame.empty
    ]


def _fit_on_screen(tables: Sequence[_Table], prob: float, rest: str, most: int) -> None:
    """Leave out rows, first of the longest table, until all has at most so many lines.

    Where that is not enough, tables follow their titles without an empty line.
    """
    complete = [table.rows for table in tables]
    while (excess := _excess(tables, prob, rest, most)) > 0:
        longest = max(tables, key=lambda table: table.numbered.sum(), default=None)
        if longest is None or longest.numbered.sum() <= FEWEST_ROWS:
            break
        longest.leave_out(max(1, excess // 4))

    for table, rows in zip(tables, complete, strict=True):
        if table.n_left_out == 1:  # the line that says so may take as much room as the row
            shortened, excess = table.rows, _excess(tables, prob, rest, most)
            table.rows, table.n_left_out = rows, 0
            if _excess(tables, prob, rest, most) > max(excess, 0):
                table.rows, table.n_left_out = shortened, 1
    for table in tables:
        table.is_dense = _excess(tables, prob, rest, most) > 0


def _excess(tables: Sequence[_Table], prob: float, rest: str, most: int) -> int:
    """Return how many lines the tables and the rest have beyond one screen."""
    n_lines = len(rest.splitlines())
    for table in tables:
        n_lines += 1 + len(table.text(prob, detail=False).splitlines())
    return n_lines - most


def to_html(result: Any) -> str:
    """Return what a notebook shows: the words of the terminal, with tables and advice for Python."""
    study, result, view = registry.shown(result)
    tables = _tables(study.sections(result, view), ("terminal", "brief"), in_python)
    said = registry.interpretation(result, view).in_python()
    rest = f"{_header(study, result, view)}\n\n{interpretation_text(said)}"
    _fit_on_screen(tables, view.prob, rest, MOST_LINES_OF_CELL)
    parts = [f"<p>{html.escape(line)}</p>" for line in study.header(result, view)]
    for table in tables:
        section = table.section
        columns = printed(table.rows, section.columns, view.prob)
        cells = zip(*(cells for _, _, cells in columns), strict=True)
        shown = pd.DataFrame(cells, columns=[head for _, head, _ in columns])
        shown = shown.replace("\n", " ", regex=True)
        parts.append(f"<p><b>{html.escape(table.title)}</b></p>")
        whole = shown.to_html(index=False, border=0)
        parts.append(_FIRST_CELL.sub(rf"\1{_LEFT}", whole))
        for line in table.below(detail=False):
            parts.append(f"<p>{html.escape(line)}</p>")
    return "".join([*parts, said._repr_html_()])


def table_lines(
    frame: pd.DataFrame, columns: Sequence[Column | str], prob: float = PROB
) -> list[str]:
    """Return the lines of a table: texts to the left, numbers to the right.

    To fit the terminal, numbers stand closer together, then long texts take several lines.
    """
    shown = printed(frame, columns, prob)
    natural = [
        max(len(line) for cell in (head, *cells) for line in cell.split("\n"))
        for _, head, cells in shown
    ]
    numbers = [column.is_number for column, _, _ in shown]
    widest = max(natural, default=0)
    for gap, most in ((2, widest), *((1, n) for n in range(widest, NARROW - 1, -1))):
        gaps = [gap if number else 2 for number in numbers]
        widths = [n if number else min(n, most) for n, number in zip(natural, numbers, strict=True)]
        if sum(widths) + sum(gaps[1:]) <= WIDTH:
            break
    else:
        widths, gaps = natural, [2] * len(natural)
    lines = []
    for row in zip(*((head, *cells) for _, head, cells in shown), strict=True):
        parts = [_folded(*each) for each in zip(row, widths, strict=True)]
        for texts in itertools.zip_longest(*parts, fillvalue=""):
            line = ""
            for text, width, space, number in zip(texts, widths, gaps, numbers, strict=True):
                line += " " * space + (text.rjust(width) if number else text.ljust(width))
            lines.append(line[gaps[0] :].rstrip())
    return lines


def _folded(text: str, width: int) -> list[str]:
    """Return the lines of a cell; a name is broken after an underscore rather than anywhere.

    Lines after the first of an indented text are indented further, so that they are no row. A cell
    of several lines keeps them.
    """
    if "\n" in text or len(text) <= width:
        return text.split("\n")
    indent = len(text) - len(text.lstrip())
    further = " " * (indent + 2 if indent else 0)
    lines = textwrap.TextWrapper(width, subsequent_indent=further)
    lines.wordsep_re = re.compile(r"(\s+|[^\s_-]*[_-]+)")
    return lines.wrap(text)


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
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> fit = bb.fit(table, seed=1, draws=200, chains=2)
    >>> answer = bb.output.to_json(fit)
    >>> answer["kind"], answer["contrasts"][0]["contrast"]
    ('association', 'associated - different')
    """
    said = registry.interpretation(result, view)
    study, result, view = registry.shown(result, view)
    if brief:
        return _brief(study, result, view, said)
    out: dict[str, Any] = {
        "kind": result.study,
        "finding": said.headline,
        "interpretation": said.as_dict(),
    }
    for section in [*study.sections(result, view), *more]:
        if section.shown_on("files"):
            out[section.name] = None if section.frame is None else records(section.frame)
    return {**out, **study.about(result)}


def _brief(study: Study, result: Any, view: View, said: Interpretation) -> dict[str, Any]:
    """Return the headline, the main rows of the first table, and what may make them wrong."""
    first = next(s for s in study.sections(result, view) if s.shown_on("terminal"))
    frame = first.frame
    assert frame is not None
    if "label" in frame:
        frame = frame.assign(label=frame["label"].str.strip())
    if "is_heading" in frame:
        frame = frame[frame["is_heading"].isna()]
    main = ["classifier", "contrast" if "contrast" in frame else "label"]
    if "level" in frame and "between" in set(frame["level"]):  # groups are compared in pairs
        main = ["name", "contrast"]
    for column, value in (("level", "overall"), ("level", "between"), ("estimand", "population")):
        if column in frame and (frame[column] == value).any():
            frame = frame[frame[column] == value]
    shown = [of for of, *_ in printed(frame, first.columns, view.prob) if of.name != "label"]
    if "model" in frame and frame["model"].nunique() > 1:
        main = ["model", *main]
    names = list(main)
    for printed_column in shown:
        names += [printed_column.name, printed_column.lower, printed_column.upper]
    names.append("verdict")
    names = [n for n in dict.fromkeys(names) if n in frame and n not in LEFT_OUT]
    rows = [
        {
            name: float(f"{value:.4g}") if isinstance(value, float) else value
            for name, value in row.items()
            if value is not None
        }
        for row in records(frame[names])
    ]
    one = len(rows) == 1 or study.ONE_VERDICT
    converged = (study.about(result).get("diagnostics") or {}).get("ok")
    if converged is False:
        rows = [{**row, "verdict": None} if "verdict" in row else row for row in rows]
    return {
        "kind": result.study,
        "result": said.headline,
        "verdict": rows[0].get("verdict") if rows and one else None,
        "contrasts": rows,
        "converged": converged,
        "warnings": list(said.warnings),
    }
