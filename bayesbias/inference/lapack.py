"""Dense factors by LAPACK, without the lock of the interpreter.

The wrappers of `scipy.linalg.lapack` hold the lock, so that one thread at a time factors. SciPy
publishes the same routines as C pointers, and a call through `ctypes` releases the lock.

A symmetric positive definite matrix M is :math:`C C^T` with C a lower triangle. LAPACK reads arrays
by columns: of an array by rows it sees the transpose, so that C is an upper triangle to it.
"""

import ctypes
from typing import Any

import numpy as np
import scipy.linalg.cython_lapack  # noqa: F401 - numba finds its pointers
from numba.extending import get_cython_function_address


def _routine(name: str, arguments: int) -> Any:
    """Return a routine of LAPACK; each of its arguments is a pointer."""
    address = get_cython_function_address("scipy.linalg.cython_lapack", name)
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(address)


_POTRF, _POTRI, _TRTRS = _routine("dpotrf", 5), _routine("dpotri", 5), _routine("dtrtrs", 10)


def cholesky(matrix: np.ndarray) -> bool:
    """Overwrite the lower triangle of a matrix, by rows, with C.

    Returns
    -------
    bool
        False if the matrix is not positive definite in floating point.
    """
    return _of_triangle(_POTRF, matrix) == 0


def inverse(factor: np.ndarray) -> None:
    """Overwrite C, by rows, with the lower triangle of the inverse of M."""
    _of_triangle(_POTRI, factor)


def solved(factor: np.ndarray, right: np.ndarray, *, transposed: bool = False) -> np.ndarray:
    """Return C^-1, or its transpose, times columns of the shape (size, number)."""
    out = np.array(right, dtype=float, order="F")
    size, number, failed = _integer(len(factor)), _integer(out.shape[1]), _integer(0)
    which = b"N" if transposed else b"T"  # LAPACK sees the transpose of C
    letters = _letter(b"U"), _letter(which), _letter(b"N")
    _TRTRS(*letters, size, number, factor.ctypes.data, size, out.ctypes.data, size, failed)
    return out


def _of_triangle(routine: Any, matrix: np.ndarray) -> int:
    """Call a routine on a square array by rows, and return its error code."""
    size, failed = ctypes.c_int(len(matrix)), ctypes.c_int(0)
    at = ctypes.byref(size)
    routine(_letter(b"U"), at, matrix.ctypes.data, at, ctypes.byref(failed))
    return failed.value


def _integer(value: int) -> Any:
    """Return a pointer to an integer."""
    return ctypes.byref(ctypes.c_int(value))


def _letter(letter: bytes) -> Any:
    """Return a pointer to a letter."""
    return ctypes.byref(ctypes.c_char(letter))
