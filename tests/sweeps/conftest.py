"""Fixtures of the tests in this folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.sweeps import write_inputs

from bayesbias.sweeps.sweeping import run_sweep


@pytest.fixture(scope="session")
def done(tmp_path_factory) -> tuple[Path, Path]:
    """Return a plan and the folder of its undisturbed sweep, done in this process."""
    folder = tmp_path_factory.mktemp("sweep")
    plan = write_inputs(folder)
    run_sweep(plan, folder / "out", workers=1)
    return plan, folder / "out"
