"""Where the command ``bayesbias`` starts: signals are handled before all else is imported."""

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

INTERRUPTED, TERMINATED = 130, 143  # 128 and the number of the signal
NOTHING_WRITTEN = "Stopped. Nothing was written."
_AT_ONCE = 1.0  # seconds in which further signals are those of the same key press


class _Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a command as Ctrl-C does."""


def code_of(error: BaseException | None) -> int:
    """Return the exit code of a signal."""
    return TERMINATED if isinstance(error, _Terminated) else INTERRUPTED


@contextlib.contextmanager
def signals() -> Iterator[None]:
    """Raise an exception at Ctrl-C and SIGTERM, so that unfinished files are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    last = -_AT_ONCE

    def stop(number: int, frame: Any) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < _AT_ONCE:  # while files of the first are removed
            return
        last = now
        raise KeyboardInterrupt if number == signal.SIGINT else _Terminated

    before = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:  # as in the background of a shell
            before[number] = signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def main() -> None:
    """Import the command and run it."""
    with signals():
        try:
            from bayesbias.cli.main import main as run
        except KeyboardInterrupt as stop:
            print(NOTHING_WRITTEN, file=sys.stderr)
            sys.exit(code_of(stop))
        run()
