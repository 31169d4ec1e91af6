"""Folders of batches: whose they are, and what they may hold."""

from __future__ import annotations

import functools

import pandas as pd
import pytest
from helpers.clusters import local_cluster
from helpers.seeds import shifted

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.core.workers import Hands
from bayesbias.simulation import batches
from bayesbias.simulation.batches import batch_folder, in_batches
from bayesbias.simulation.scenario import Scenario

SMALL = Scenario(words=(3, 3), attributes=(3, 3), human=4, neutral=6)
SEED = shifted(2)


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


def _squares(first: int, count: int) -> list[dict[str, int]]:
    return [{"table": number, "square": number**2} for number in range(first, first + count)]


def _broken(first: int, count: int) -> list[dict[str, int]]:
    raise ValueError("such a table")


@pytest.mark.slow  # processes start
def test_hands_that_are_needed_again_are_not_started_twice():
    with Hands(2) as hands:
        assert not hands.alone(5)
        assert hands.alone(1)
        once = in_batches(_squares, 7, None, hands, "tables", False, 2)
        started = hands.started(1)
        assert in_batches(_squares, 7, None, hands, "tables", False, 2) == once == _squares(0, 7)
        assert hands.started(9) is started
        with pytest.raises(InputError, match="a batch of tables failed: ValueError: such a table"):
            in_batches(_broken, 7, None, hands, "tables", False, 2)


def test_a_worker_of_another_version_is_refused(monkeypatch):
    monkeypatch.setattr(batches, "own_version", lambda: "0.0")
    with Hands(1) as hands, pytest.raises(InputError, match=r"the worker has bayesbias .*, here is 0\.0"):
        in_batches(_squares, 2, None, hands, "tables", False, 1)


@pytest.mark.parametrize(
    "ask",
    [
        functools.partial(bb.coverage_simulated, SMALL, tables=1),
        functools.partial(bb.sample_size, 0.1, check=1),
        functools.partial(bb.simulation.negative_controls, "minilm-static", "gender", tables=1),
    ],
    ids=["coverage_simulated", "plan", "negative controls"],
)
def test_processes_and_a_cluster_at_once_are_refused(ask):
    with pytest.raises(InputError, match="choose one"):
        ask(workers=2, dask="tcp://127.0.0.1:1")


@pytest.mark.claim  # a scheduler and two workers are started
def test_a_cluster_gives_the_numbers_of_one_process(tmp_path):
    pytest.importorskip("distributed")
    asked = {
        "coverage_simulated": functools.partial(
            bb.coverage_simulated,
            SMALL,
            tables=41,
            methods=["crossed", "moments"],
            seed=SEED,
            draws=100,
            tune=100,
        ),
        "pools": functools.partial(
            bb.coverage_on_pools,
            "minilm-static",
            "gender",
            words=4,
            attributes=4,
            tables=9,
            methods=["moments"],
        ),
        "plan": functools.partial(
            bb.sample_size, 0.4, scenario=SMALL, words=[3, 4], attributes=[3, 4], check=12, seed=SEED
        ),
        "negative controls": functools.partial(
            bb.simulation.negative_controls,
            "minilm-static",
            "gender",
            "crossed",
            tables=3,
            draws=100,
            tune=100,
            seed=SEED,
        ),
    }
    with local_cluster(tmp_path) as (address, _):
        for name, ask in asked.items():
            alone, spread = ask(workers=1, progress=False), ask(dask=address, progress=False)
            apart = ["seconds"] if name == "pools" else []
            pd.testing.assert_frame_equal(alone.drop(columns=apart), spread.drop(columns=apart), rtol=1e-9)


@pytest.mark.parametrize("content", [b"", b"[]", b"null", b"\xff\x00"])
def test_a_file_of_settings_that_holds_none_is_damaged(tmp_path, content):
    batch_folder(tmp_path, {"a": 1}, resume=False)
    (tmp_path / "calibration.json").write_bytes(content)
    with pytest.raises(InputError, match="damaged"):
        batch_folder(tmp_path, {"a": 1}, resume=True)
