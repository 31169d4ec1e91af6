"""How functions are compiled: once, and kept on the disk where there is a place and room for that."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Any

from bayesbias.core.errors import AsWritten, InputError
from bayesbias.core.formatting import in_one_line

try:
    from numba import cfunc, njit
    from numba.core.caching import FunctionCache
except ValueError as error:  # it reads its variables where it is first imported
    asked = {name: value for name, value in os.environ.items() if name.startswith("NUMBA_")}
    raise InputError(
        f"numba refuses what the environment asks of it ({in_one_line(str(error))})",
        where=", ".join(sorted(asked)) or "numba",
        found=AsWritten(in_one_line(", ".join(f"{name}={value}" for name, value in sorted(asked.items())))),
        hint="unset it",
    ) from None


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
