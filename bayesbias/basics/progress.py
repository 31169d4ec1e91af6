"""Progress bars on stderr for what may take over two seconds: of work done, and of bytes read."""

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


Tick = Callable[[int], None]


@contextlib.contextmanager
def reading_bar(label: str, total: int, wished: bool | None) -> Iterator[Tick]:
    """Show a bar on stderr from the second second on; nothing where stderr is not a terminal."""
    if wished is False or (wished is None and not sys.stderr.isatty()):
        yield lambda position: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    started = time.perf_counter()
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(label, total=total)

    def tick(position: int) -> None:
        if not bar.live.is_started and time.perf_counter() - started > 2:
            bar.start()
        bar.update(task, completed=position)

    try:
        yield tick
    finally:
        bar.stop()
