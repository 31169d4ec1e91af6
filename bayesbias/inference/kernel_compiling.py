"""How functions are compiled: once, and kept on the disk where there is a place and room for that."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from numba import cfunc, njit
from numba.core.caching import FunctionCache


class _Kept(FunctionCache):
    """What was compiled, on the disk; a disk that is full costs the next process time, and nothing else."""

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)


def compiled[Function: Callable[..., Any]](function: Function) -> Function:
    """Compile a function where it is first called."""
    dispatcher: Any = njit(nogil=True, error_model="numpy")(function)
    with contextlib.suppress(RuntimeError):  # no folder could be written
        dispatcher._cache = _Kept(function)
    return dispatcher


def callback(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function that is called through C."""

    def compile_now(function: Callable[..., Any]) -> Any:
        try:
            return cfunc(signature, cache=True)(function)
        except (OSError, RuntimeError):  # no room, or no folder that could be written
            return cfunc(signature)(function)

    return compile_now
