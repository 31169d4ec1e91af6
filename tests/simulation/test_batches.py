"""Folders of batches: whose they are, and what they may hold."""

from __future__ import annotations

import pytest

from bayesbias.basics.errors import InputError
from bayesbias.simulation.batches import batch_folder


def test_what_the_killed_left_is_no_obstacle(tmp_path):
    """Killed before the first file stood in its place, a calibration begins anew in the same folder."""
    (tmp_path / ".calibration.json.a1b2c3d4.json").write_text("half of i")
    assert batch_folder(tmp_path, {"a": 1}, resume=True) == tmp_path
    assert [path.name for path in tmp_path.iterdir()] == ["calibration.json"]


def test_a_folder_with_other_things_is_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="not empty"):
        batch_folder(tmp_path, {"a": 1}, resume=False)


def test_one_calibration_is_not_taken_for_another(tmp_path):
    batch_folder(tmp_path, {"a": 1}, resume=False)
    assert batch_folder(tmp_path, {"a": 1}, resume=True) == tmp_path
    with pytest.raises(InputError, match="other settings"):
        batch_folder(tmp_path, {"a": 2}, resume=True)
    with pytest.raises(InputError, match="holds a calibration already"):
        batch_folder(tmp_path, {"a": 1}, resume=False)
