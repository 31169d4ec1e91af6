"""Progress bars for what may take over two seconds, of work done and of bytes read.

On a terminal, and in a notebook.

`BAYESBIAS_PROGRESS=off` in the environment shows none, where a notebook is run for its outputs.
"""

import contextlib
import html
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from bayesbias.core.formatting import literal

Tick = Callable[[int], None]
_PATIENCE = 2.0  # seconds before a bar appears
_APART = 0.2  # seconds between two pictures of a bar in a notebook
_SILENT = "BAYESBIAS_PROGRESS"
# Bars on the terminal, the innermost last: that one is shown, and those that it covers wait.
_BARS: list[Any] = []
_HIDDEN: list[None] = []  # one item for each block that shows none
_LOCK = threading.RLock()


@contextlib.contextmanager
def without_bars() -> Iterator[None]:
    """Show no bar on the terminal, as while results are printed."""
    with _LOCK:
        if _BARS and not _HIDDEN:
            _BARS[-1].stop()
        _HIDDEN.append(None)
    try:
        yield
    finally:
        with _LOCK:
            _HIDDEN.pop()
            if _BARS and not _HIDDEN:
                _BARS[-1].start()


@contextlib.contextmanager
def working(label: str) -> Iterator[None]:
    """Show that work goes on that takes long, wherever no other bar is shown."""
    with ticking(label, None, long_steps=True):
        yield


_LONG_S = 10.0  # seconds that are announced


def announce(what: str, seconds: float, wished: bool | None = None) -> None:
    """Say on standard error how long work takes, if that is over ten seconds, unless unwished."""
    if seconds > _LONG_S and wished is not False:
        amount = f"{seconds:.0f} seconds" if seconds < 120 else f"{seconds / 60:.0f} minutes"
        print(f"{what} takes about {amount}.", file=sys.stderr)


def unseen(count: int) -> None:
    """Follow work that no bar is shown of."""


@contextlib.contextmanager
def ticking(
    label: str,
    total: int | None,
    wished: bool | None = None,
    *,
    of_bytes: bool = False,
    long_steps: bool = False,
) -> Iterator[Tick]:
    """Yield a function that follows the work and shows a bar once it takes long.

    On stderr, or below a notebook's cell.

    Parameters
    ----------
    label : str
        What is being done.
    total : int, optional
        Number of steps; without it the bar shows how long the work has taken.
    wished : bool, optional
        True or False to insist; by default only where stderr is a terminal, and in notebooks.
    of_bytes : bool
        Whether the function is told the position reached in a file, in place of how much more was
        done. A file that is read in two seconds has no bar, even where one is insisted on.
    long_steps : bool
        Whether one step may take long, so that a terminal's bar appears before the first is done.
    """
    if wished is None and os.environ.get(_SILENT, "").lower() in ("off", "0", "false", "no"):
        wished = False
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    # A terminal of IPython has no kernel.
    in_notebook = wished is not False and getattr(shell, "kernel", None) is not None
    on_terminal = bool(wished) or (wished is None and sys.stderr.isatty())
    if not (in_notebook or on_terminal) or (in_notebook and total is None):
        yield unseen
        return
    if in_notebook and total is not None:
        show, close = _notebook_bar(label, total, of_bytes)
    else:
        show, close = _terminal_bar(label, total, of_bytes)
    thread = threading.get_ident()
    started, at_once = time.perf_counter(), bool(wished) and not of_bytes
    done = 0
    begin = None
    if long_steps and not in_notebook:  # a notebook shows what its own thread sends
        begin = threading.Timer(_PATIENCE, lambda: show(done))
        begin.daemon = True
        begin.start()

    def tick(count: int) -> None:
        nonlocal done
        if begin is not None:
            begin.cancel()
        done = count if of_bytes else done + count
        if in_notebook and threading.get_ident() != thread:
            return
        if at_once or time.perf_counter() - started > _PATIENCE:
            show(done)

    try:
        yield tick
    finally:
        if begin is not None:
            begin.cancel()
            begin.join()
        close()


def _terminal_bar(label: str, total: int | None, of_bytes: bool) -> tuple[Tick, Callable[[], None]]:
    """Return what shows a bar on standard error, and what removes it."""
    bar: Any = None

    def show(done: int) -> None:
        nonlocal bar
        with _LOCK:
            if bar is None:
                bar = _rich_bar(label, total, of_bytes)
            bar.update(bar.task_ids[0], completed=done)
            if bar not in _BARS:
                if _BARS:
                    _BARS[-1].stop()
                _BARS.append(bar)
            if _BARS[-1] is bar and not _HIDDEN:
                bar.start()

    def close() -> None:
        with _LOCK:
            if bar is None:
                return
            bar.stop()
            _BARS.remove(bar)
            if _BARS and not _HIDDEN:
                _BARS[-1].start()

    return show, close


def _rich_bar(label: str, total: int | None, of_bytes: bool) -> Any:
    from rich import progress
    from rich.console import Console

    counted: list[progress.ProgressColumn] = [progress.TimeElapsedColumn()]
    if of_bytes:
        counted = [progress.DownloadColumn(), progress.TimeRemainingColumn()]
    elif total is not None:
        counted = [progress.MofNCompleteColumn(), progress.TimeRemainingColumn()]
    bar = progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        *counted,
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,  # results may go to a file
    )
    bar.add_task(literal(label), total=total)
    return bar


def _notebook_bar(label: str, total: int, of_bytes: bool) -> tuple[Tick, Callable[[], None]]:
    """Return what shows a bar below the cell that runs, and what empties it: without widgets."""
    from IPython.display import display

    unit, name = (1e6, " MB") if of_bytes else (1, "")
    handle = None
    last = 0.0

    def show(done: int) -> None:
        nonlocal handle, last
        now = time.perf_counter()
        if handle is None or done >= total or now - last >= _APART:  # each is sent to the browser
            last = now
            text = f"{literal(label)}: {done / unit:,.0f} of {total / unit:,.0f}{name}"
            bar = f'<progress value="{done}" max="{total}"></progress>'
            page = f"{bar} <small>{html.escape(text)}</small>"
            data = {"text/html": page, "text/plain": text}
            if handle is None:
                handle = display(data, raw=True, display_id=True)
            else:
                handle.update(data, raw=True)

    def close() -> None:
        if handle is not None:
            handle.update({"text/html": "", "text/plain": ""}, raw=True)

    return show, close
