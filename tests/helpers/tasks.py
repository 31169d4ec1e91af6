"""Tasks for workers, which import them by this name."""

from __future__ import annotations

import os
import signal
import warnings
from pathlib import Path


def dies() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dies_once(mark: str) -> str:
    if not os.path.exists(mark):
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "lived"


def panics() -> None:
    raise BaseException("a compiled library panicked")


def threads() -> int:
    from threadpoolctl import threadpool_info

    return max((pool["num_threads"] for pool in threadpool_info()), default=1)


def interrupted() -> None:
    raise KeyboardInterrupt


def warns() -> None:
    warnings.warn("a warning of a task", UserWarning, stacklevel=1)
