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

from bayesbias.core.formatting import literal

Tick = Callable[[int], None]
_PATIENCE = 2.0  # seconds before a bar appears
_APART = 0.2  # seconds between two pictures of a bar in a notebook
_SILENT = "BAYESBIAS_PROGRESS"


@contextlib.contextmanager
def ticking(
    label: str,
    total: int,
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
    total : int
        Number of steps.
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
    if not (wished or in_notebook or (wished is None and sys.stderr.isatty())):
        yield lambda count: None
        return
    show, close = (_notebook_bar if in_notebook else _terminal_bar)(label, total, of_bytes)
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
        if at_once or time.perf_counter() - started > _PATIENCE:
            show(done)

    try:
        yield tick
    finally:
        if begin is not None:
            begin.cancel()
            begin.join()
        close()


def _terminal_bar(label: str, total: int, of_bytes: bool) -> tuple[Tick, Callable[[], None]]:
    """Return what shows a bar on standard error, and what removes it."""
    from rich import progress
    from rich.console import Console

    bar = progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.DownloadColumn() if of_bytes else progress.MofNCompleteColumn(),
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(literal(label), total=total)

    def show(done: int) -> None:
        bar.update(task, completed=done)
        bar.start()

    return show, bar.stop


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
