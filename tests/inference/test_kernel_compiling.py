"""What is compiled is kept where that can be; where it cannot, all is as before but slower."""

from __future__ import annotations

import errno
import os

import pytest
from numba import types
from numba.core.caching import FunctionCache

from bayesbias.inference import kernel, kernel_compiling, kernel_sampling


def twice(x):
    return 2.0 * x


def full(self, sig, data):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def no_folder(self, function):
    raise RuntimeError("cannot cache function: no locator available")


@pytest.mark.parametrize(("broken", "by"), [("save_overload", full), ("__init__", no_folder)])
def test_no_room_and_no_folder_cost_time_alone(broken, by, monkeypatch, tmp_path):
    tried = []
    monkeypatch.setattr(FunctionCache, broken, lambda self, *given: tried.append(broken) or by(self, *given))
    assert kernel_compiling.compiled(twice)(4.0) == 8.0
    made = kernel_compiling.callback(types.float64(types.float64))(twice)
    assert made.ctypes(4.0) == 8.0
    assert tried == [broken] * 2


def test_what_the_package_compiles_is_kept():
    kernel.prior_constant(0, 1.0, 1.0)
    for made in (kernel.prior_constant, kernel_sampling.logp_callback):
        assert isinstance(made._cache, FunctionCache)
