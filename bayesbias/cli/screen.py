"""What commands print, and the only place that prints: texts for people as they are, data for programs untouched.

A text for people is made `literal`, so that a word does nothing to the terminal, and is written in characters that the
terminal has. Tables that are wider than the terminal are set row by row, so that no number is ever cut.
"""

from __future__ import annotations

import json
import math
import os
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TextIO

from bayesbias.core.digits import allowed, printed
from bayesbias.core.wording import literal

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.table import Table as RichTable

    from bayesbias.columns.table import Table

# Our own signs, for terminals that lack them.
_IN_ASCII = str.maketrans(
    {"−": "-", "–": "-", "…": "...", "±": "+/-", "×": "x", "≥": ">=", "≤": "<=", "→": "->", "†": "+", "─": "-", "━": "-"}
)
PIPE_CLOSED = 141  # 128 and the signal of a closed pipe
WIDE = 10_000  # where it is read by programs and pagers, which have no width to keep to
_NO_HEADINGS: Mapping[str, str] = MappingProxyType({})
_NARROWEST = 10  # characters in a line
_NAMED = 4  # files that are named one by one
_LONGEST = 200  # characters of a word in a table; of a longer one the middle is left out


def prepare() -> None:
    """Let no character that a terminal lacks end a command, whoever prints it, nor a stream that was closed."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - for as long as the process
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def shown(text: str, stream: TextIO | None = None, *, lines: bool = False) -> str:
    """Return a text as a stream may show it: standard output, if no other is named."""
    stream = sys.stdout if stream is None else stream
    encoding = getattr(stream, "encoding", None) or "utf-8"
    text = literal(text, lines=lines)
    if not encoding.lower().startswith("utf"):
        text = text.translate(_IN_ASCII).encode(encoding, "backslashreplace").decode(encoding)
    return text


def say(text: str, *, err: bool = False) -> None:
    """Print a text for people, which may have lines of its own, as it is; a terminal gets lines that end between words."""
    stream = sys.stderr if err else sys.stdout
    _print_lines(shown(text, stream, lines=True).split("\n"), stream)


def data(text: str, end: str = "\n") -> None:
    """Print what is read by programs, or is a file: every byte of it, in UTF-8, but on a terminal harmless."""
    if sys.stdout.isatty():
        sys.stdout.write(shown(text, lines=True) + end)
        sys.stdout.flush()
        return
    content = (text + end).encode(errors="backslashreplace")
    if (stream := getattr(sys.stdout, "buffer", None)) is None:  # one that takes texts alone
        sys.stdout.write(content.decode())
    else:  # past the encoding of the stream, which may be another
        sys.stdout.flush()
        stream.write(content)
    sys.stdout.flush()


def answer(command: str, content: Mapping[str, Any], version: int = 1) -> None:
    """Print what ``--json`` of a command prints: one object, which names its layout first.

    A version is raised where a key goes, or means something else; a key that is added raises none.
    """
    data(json.dumps({"schema": f"bayesbias.{command}/{version}", **content}, allow_nan=False))


def console(stream: TextIO | None = None) -> Console:
    """Return what prints: as wide as the terminal, or as wide as it needs where there is none."""
    from rich.console import Console

    class Own(Console):
        def on_broken_pipe(self) -> None:
            """End as a shell says it: rich ends with 1, which says that tests failed."""
            self.quiet = True
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise SystemExit(PIPE_CLOSED)

    terminal = (sys.stdout if stream is None else stream).isatty()
    return Own(
        file=stream,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=not terminal,
        width=max(shutil.get_terminal_size().columns, _NARROWEST) if terminal else WIDE,
        height=25,  # without it a terminal that calls itself dumb is taken for 80 wide
    )


def width() -> int | None:
    """Return the characters in a line of the terminal; None where there is none."""
    return console().width if sys.stdout.isatty() else None


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table; a column whose name begins with ``#``, which is not shown, is one of numbers."""
    print_table(title, columns, rows)


def show(columns: Table) -> None:
    """Print a table of `columns`."""
    print_table(columns.caption, *_typed(columns))


def fits(columns: Table) -> bool:
    """Say whether a table of `columns` is printed as one: it goes to no terminal, or to one that is wide enough."""
    return not sys.stdout.isatty() or width_of(laid_out("", *_typed(columns))) <= console().width


def _typed(columns: Table) -> tuple[list[str], list[list[str]]]:
    head = [f"#{heading.text}" if heading.number else heading.text for heading in columns.head]
    return head, [[cell.typed for cell in row] for row in columns.rows]


def frame(
    rows: pd.DataFrame,
    digits: int = 3,
    title: str = "",
    *,
    general: bool = False,
    least: int | None = None,
    headings: Mapping[str, str] = _NO_HEADINGS,
) -> None:
    """Print a frame: its numbers with so many decimals (or, `general`, digits), yes or no, a dash for what does not exist.

    A column stands under its heading, or its name if it has none.

    A number whose error stands in a column ``<its name>_se`` has no more digits than that allows, but `least` decimals where
    that is given; so it is where a column ``mcse_<its name>`` tells the error, which is not shown.
    """
    import pandas as pd

    def cell(value: Any, error: float) -> str:
        if value is None or value is pd.NA or value != value:
            return "-"
        if pd.api.types.is_bool(value):
            return "yes" if value else "no"
        if not isinstance(value, float):
            return f"{value:,}" if pd.api.types.is_integer(value) else str(value)
        text = f"{value:.{digits}{'g' if general else 'f'}}"
        decimals = len(text.partition("e")[0].partition(".")[2])
        if "e" in text:
            return text
        known = allowed(error, decimals)
        return printed(value, usual=known if least is None else max(known, min(least, decimals)))

    hidden = [f"mcse_{name}" for name in rows.columns]
    names = [str(name) for name in rows.columns if name not in hidden]
    numbers = [pd.api.types.is_numeric_dtype(rows[name].dtype) for name in names]
    called = [headings.get(name, name) for name in names]
    head = [f"#{name}" if number else name for name, number in zip(called, numbers, strict=True)]
    cells = [
        [cell(row[name], row.get(f"mcse_{name}", row.get(f"{name}_se", math.nan))) for name in names]
        for row in rows.to_dict("records")
    ]
    print_table(title, head, cells)


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    wrapped: Mapping[str, int | None] | None = None,
) -> None:
    """Print a table, or its rows one below the other where the terminal is too narrow for it."""
    rows = [list(row) for row in rows]
    laid = laid_out(title, columns, rows, wrapped)
    printer = console()
    if not sys.stdout.isatty() or width_of(laid) <= printer.width:
        printer.print(laid)
        return
    lines([title] if title else [])
    _print_rows(columns, rows, printer.width)


def _print_rows(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> None:
    """Print each row as a paragraph: its first cell, and below it the others with their names."""
    from rich.cells import cell_len

    names = [shown(name.removeprefix("#")) for name in columns]
    widest = min(max(map(cell_len, names[1:]), default=0), max(8, width // 2))
    out, first = [""], names[0]
    for row in rows:
        cells = [shown(cell) for cell in row]
        first = cells[0] or first  # left out where it is that of the row above
        out.append(first)
        for name, cell in zip(names[1:], cells[1:], strict=True):
            if cell:
                out.append(f"  {name}{' ' * max(0, widest - cell_len(name))}  {cell}")
    _print_lines([*out, ""])


def laid_out(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    wrapped: Mapping[str, int | None] | None = None,
) -> RichTable:
    """Return a table to be printed; columns in `wrapped` take several lines from so many characters on."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    out = Table(
        title=Text(shown(title), style="table.title") if title else None,
        title_justify="left",
        box=box.SIMPLE_HEAD if _draws_lines() else _ascii_head(),
        pad_edge=False,
        padding=(0, 1),
        safe_box=False,
    )
    for name in columns:
        head = Text(shown(name.removeprefix("#")), style="table.header")
        if wrapped and name in wrapped:
            out.add_column(head, max_width=wrapped[name], overflow="fold")
        else:
            out.add_column(head, no_wrap=True, justify="right" if name.startswith("#") else "left")
    for row in rows:
        out.add_row(*(Text(shown(middle_out(cell, _LONGEST))) for cell in row))
    return out


def _draws_lines() -> bool:
    return (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")


def _ascii_head() -> Any:
    """Return the lines of a table in ASCII: one below the head."""
    from rich.box import Box

    return Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)


def width_of(laid: RichTable) -> int:
    """Return the characters that a table needs with nothing cut."""
    from rich.console import Console

    return Console(width=WIDE, height=25).measure(laid).maximum


def middle_out(text: str, width: int) -> str:
    """Return a text in at most `width` characters, with its beginning and its end."""
    if len(text) <= width:
        return text
    tail = (width - 3) // 2
    return text[: width - 3 - tail] + "..." + text[len(text) - tail :]


def lines(texts: Iterable[str]) -> None:
    """Print texts, one a line; a terminal gets lines that end between words."""
    _print_lines([shown(text) for text in texts])


def _print_lines(texts: Iterable[str], stream: TextIO | None = None, *, whole: bool = False) -> None:
    """Print lines that may be shown; on a terminal they are broken between words, unless they are to stay whole."""
    stream = sys.stdout if stream is None else stream
    if whole or not stream.isatty():
        stream.writelines(f"{text}\n" for text in texts)
        stream.flush()
        return
    from rich.text import Text

    printer = console(stream)
    for text in texts:
        printer.print(Text(text, overflow="fold"))


def converged(state: Mapping[str, object]) -> None:
    """Say what the diagnostics of a fit rest on, where they find nothing wrong."""
    if state["ok"]:
        lines(
            [
                f"converged: of every parameter R-hat is at most {state['max_r_hat']:.3f}, and there are at least "
                f"{state['min_ess_bulk']:.0f} effective draws"
            ]
        )


def written(files: Sequence[Path], *, run: Path | None = None) -> None:
    """Name the files that were written, if any; of many their folder, and how many there are of each kind.

    A path is never broken, so that it can be copied. Of the folder of a `run` the command that makes a page of it is named.
    """
    if not files:
        return
    if len(files) <= _NAMED:
        out = ["written:", *(f"  {path}" for path in files)]
    else:
        folder = os.path.commonpath([path.parent for path in files])
        kinds = Counter(path.suffix for path in files)
        counted = ", ".join(f"{count} {kind or 'without an ending'}" for kind, count in sorted(kinds.items()))
        out = [f"written: {len(files)} files in {folder} ({counted})"]
    if run is not None:
        page = shlex.join(["bayesbias", "report", str(run), "--out", f"{run}.html"])
        out.append(f"a page of it: {page}")
    _print_lines([shown(text) for text in out], whole=True)
