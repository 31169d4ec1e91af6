"""What commands print for people: tables, lines, and the files they wrote. Every text is shown as it is."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from bayesbias.columns.table import Table

PIPED = 120  # characters in a line of a table that is not printed on a terminal
WIDE = 10_000  # where it is read by programs and pagers, which have no width to keep to


def console(piped: int = PIPED) -> Console:
    """Return what prints: as wide as the terminal, or `piped` where there is none."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else piped)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *, piped: int = PIPED) -> None:
    """Print a table; a column whose name begins with ``#``, which is not shown, is one of numbers."""
    console(piped).print(laid_out(title, columns, rows))


def show(columns: Table, *, piped: int = PIPED) -> None:
    """Print a table of `columns`."""
    head = [f"#{heading.text}" if heading.number else heading.text for heading in columns.head]
    table(columns.caption, head, [[cell.typed for cell in row] for row in columns.rows], piped=piped)


def laid_out(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    wrapped: Mapping[str, int | None] | None = None,
) -> RichTable:
    """Return a table to be printed; columns in `wrapped` take several lines from so many characters on."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    out = Table(
        title=escape(title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1)
    )
    for name in columns:
        shown = escape(name.removeprefix("#"))
        if wrapped and name in wrapped:
            out.add_column(shown, max_width=wrapped[name])
        else:
            out.add_column(shown, no_wrap=True, justify="right" if name.startswith("#") else "left")
    for row in rows:
        out.add_row(*map(escape, row))
    return out


def lines(texts: Iterable[str]) -> None:
    """Print texts, one a line; the terminal breaks what is too long."""
    from rich.markup import escape

    printer = console()
    for text in texts:
        printer.print(escape(text))


def converged(state: Mapping[str, object]) -> None:
    """Say what the diagnostics of a fit rest on, where they find nothing wrong."""
    if state["ok"]:
        lines(
            [
                f"converged: R-hat at most {state['max_r_hat']:.3f}, at least {state['min_ess_bulk']:.0f} effective draws"
            ]
        )


def written(files: Sequence[Path]) -> None:
    """Name the files that were written, if any."""
    if files:
        lines(["written:", *(f"  {path}" for path in files)])
