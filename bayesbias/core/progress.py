"""Progress bars for what may take over two seconds, of work done and of bytes read.

On a terminal, and in a notebook.

`BAYESBIAS_PROGRESS=off` in the environment shows none, where a notebook is run for its outputs.
"""

from __future__ import annotations

import contextlib
import html
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from bayesbias.core.formatting import literal

Tick = Callable[[int], None]
_PATIENCE = 2.0  # seconds before a bar appears
_APART = 0.2  # seconds between two pictures of a bar in a notebook
_SILENT = "BAYESBIAS_PROGRESS"


@contextlib.contextmanager
def ticking(
    label: str, total: int, wished: bool | None = None, *, of_bytes: bool = False
) -> Iterator[Tick]:
    """Yield a function that follows the work and shows a bar once it takes long.

    On stderr, or below a notebook's cell.

    Parameters
    ----------
    label : str
    total : int
    wished : bool, optional
        True or False to insist; by default only where stderr is a terminal, and in notebooks.
    of_bytes : bool
        Whether the function is told the position reached in a file, in place of how much more was
        done. A file that is read in two seconds has no bar, even where one is insisted on.
    """
    if wished is None and os.environ.get(_SILENT, "").lower() in ("off", "0", "false", "no"):
        wished = False
    in_notebook = wished is not False and _is_notebook()
    if not (wished or in_notebook or (wished is None and sys.stderr.isatty())):
        yield lambda count: None
        return
    bar = (_NotebookBar if in_notebook else _TerminalBar)(label, total, of_bytes)
    started, at_once = time.perf_counter(), bool(wished) and not of_bytes
    done = 0

    def tick(count: int) -> None:
        nonlocal done
        done = count if of_bytes else done + count
        bar.reach(done, at_once or time.perf_counter() - started > _PATIENCE)

    try:
        yield tick
    finally:
        bar.close()


def _is_notebook() -> bool:
    """Say whether a notebook shows what this process displays; a terminal of IPython does not."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class _TerminalBar:
    """A bar on standard error, gone when it is through."""

    def __init__(self, label: str, total: int, of_bytes: bool) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        done = DownloadColumn() if of_bytes else MofNCompleteColumn()
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            done,
            TimeRemainingColumn(),
        )
        self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self.task = self.bar.add_task(literal(label), total=total)

    def reach(self, done: int, shown: bool) -> None:
        """Move on, and appear where the work takes long."""
        self.bar.update(self.task, completed=done)
        if shown and not self.bar.live.is_started:
            self.bar.start()

    def close(self) -> None:
        """Vanish."""
        self.bar.stop()


class _NotebookBar:
    """A bar below the cell that runs: plain HTML, without widgets, emptied when it is through."""

    def __init__(self, label: str, total: int, of_bytes: bool) -> None:
        self.label, self.total, self.of_bytes = literal(label), total, of_bytes
        self.handle: Any = None
        self.last = time.perf_counter()

    def reach(self, done: int, shown: bool) -> None:
        """Move on, and appear where the work takes long.

        Not for every step, since each is sent to the browser.
        """
        now = time.perf_counter()
        often = now - self.last < _APART and done < self.total
        if not shown or (self.handle is not None and often):
            return
        self.last = now
        unit, name = (1e6, " MB") if self.of_bytes else (1, "")
        text = f"{self.label}: {done / unit:,.0f} of {self.total / unit:,.0f}{name}"
        bar = f'<progress value="{done}" max="{self.total}"></progress>'
        self._show(f"{bar} <small>{html.escape(text)}</small>", text)

    def close(self) -> None:
        """Leave nothing behind."""
        if self.handle is not None:
            self._show("", "")

    def _show(self, page: str, text: str) -> None:
        from IPython.display import display

        data = {"text/html": page, "text/plain": text}
        if self.handle is None:
            self.handle = display(data, raw=True, display_id=True)
        else:
            self.handle.update(data, raw=True)
