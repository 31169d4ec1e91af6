"""One progress bar for everything that may take over two seconds."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

_PATIENCE = 2.0  # seconds before a bar appears


@contextlib.contextmanager
def ticking(label: str, total: int, wished: bool | None = None) -> Iterator[Callable[[int], None]]:
    """Yield a function that counts work done and, on a terminal, shows a bar on stderr once it takes long.

    Parameters
    ----------
    label : str
    total : int
    wished : bool, optional
        True or False to insist; by default only where stderr is a terminal.
    """
    if wished is False or (wished is None and not sys.stderr.isatty()):
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(label, total=total)
    started, shown = time.monotonic(), False

    def tick(count: int) -> None:
        nonlocal shown
        bar.advance(task, count)
        if not shown and (wished or time.monotonic() - started > _PATIENCE):
            bar.start()
            shown = True

    try:
        yield tick
    finally:
        bar.stop()
