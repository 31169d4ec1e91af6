"""Progress bars on stderr for what may take over two seconds: of work done, and of bytes read."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from bayesbias.basics.literal import literal

Tick = Callable[[int], None]
_PATIENCE = 2.0  # seconds before a bar appears


@contextlib.contextmanager
def ticking(label: str, total: int, wished: bool | None = None, *, of_bytes: bool = False) -> Iterator[Tick]:
    """Yield a function that follows the work and, on a terminal, shows a bar on stderr once it takes long.

    Parameters
    ----------
    label : str
    total : int
    wished : bool, optional
        True or False to insist; by default only where stderr is a terminal.
    of_bytes : bool
        Whether the function is told the position reached in a file, in place of how much more was done. A file that is
        read in two seconds has no bar, even where one is insisted on.
    """
    if wished is False or (wished is None and not sys.stderr.isatty()):
        yield lambda count: None
        return
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
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), done, TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(literal(label), total=total)
    started, at_once = time.perf_counter(), bool(wished) and not of_bytes

    def tick(count: int) -> None:
        if of_bytes:
            bar.update(task, completed=count)
        else:
            bar.advance(task, count)
        if not bar.live.is_started and (at_once or time.perf_counter() - started > _PATIENCE):
            bar.start()

    try:
        yield tick
    finally:
        bar.stop()
