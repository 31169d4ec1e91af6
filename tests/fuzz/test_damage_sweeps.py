"""A sweep whose files are damaged: the cell is fitted again, nothing else is, and the numbers are the same."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from helpers.damage import cases, files_in
from helpers.odd_json import odd_json
from helpers.seeds import shifted
from helpers.sweeps import made_up_cell, write_inputs, write_plan

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.core.seals import SEAL_KEY, State, sealed_json

COUNTS = [100, pytest.param(1000, marks=pytest.mark.claim)]


@pytest.fixture
def swept(tmp_path, monkeypatch):
    """A finished sweep of made-up numbers, that keeps its fits: plan, folder, and result."""
    monkeypatch.setattr("bayesbias.sweeps.sweeping.fit_cell", made_up_cell)
    plan = write_inputs(tmp_path)
    write_plan(tmp_path, embeddings=["e0.npz"], models=["additive", "crossed"], settings={"keep_fits": True})
    return plan, tmp_path / "out", bb.run_sweep(plan, tmp_path / "out", workers=1)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.slow
def test_a_damaged_file_of_a_sweep_is_made_again(swept, count):
    plan, out, first = swept
    rng = np.random.default_rng(shifted(1))
    tables = {path.name: path.read_bytes() for path in out.glob("results.*")}
    for path, _ in cases(out, count, rng):
        name = path.relative_to(out).as_posix()
        found = bb.runs.verify_run(out)
        assert [file.name for file in found.files if file.state is State.DAMAGED][:1] == [name]
        if name in ("sweep.json", "results.parquet", "timing.csv", "results.csv"):
            with pytest.raises(InputError, match=f"{name}: is damaged"):
                bb.load_run(out)
        again = bb.run_sweep(plan, out, workers=1, resume=True)
        of_cell = name.startswith(("cells/", "fits/"))
        assert (again.damaged, again.reused) == (of_cell, len(first.cells) - of_cell)
        assert repr(again).count("1 finished cell damaged since: fitted again") == of_cell
        pd.testing.assert_frame_equal(again.frame, first.frame, check_exact=True)
        assert bb.runs.verify_run(out).ok
        assert {path.name: path.read_bytes() for path in out.glob("results.*")} == tables


def test_a_number_that_somebody_changed_is_not_taken_over(swept):
    plan, out, first = swept
    record = out / "cells" / f"{first.cells['cell'][0]}.json"
    number = repr(json.loads(record.read_bytes())["summary"][0]["mean"]).encode()
    record.write_bytes(record.read_bytes().replace(number, b"0.5"))
    again = bb.run_sweep(plan, out, workers=1, resume=True)
    assert again.damaged == 1
    pd.testing.assert_frame_equal(again.frame, first.frame, check_exact=True)


def without_seals(out) -> None:
    """As the first versions wrote records."""
    for path in out.glob("cells/*.json"):
        content = json.loads(path.read_bytes())
        path.write_text(json.dumps({k: v for k, v in content.items() if k not in (SEAL_KEY, "fit")}))


def test_records_without_a_seal_are_reused_and_said_to_be_unverified(swept):
    plan, out, first = swept
    without_seals(out)
    assert bb.runs.verify_run(out).count(State.UNVERIFIED) == 4
    again = bb.run_sweep(plan, out, workers=1, resume=True)
    assert (again.reused, again.damaged, again.unverified) == (4, 0, 4)
    assert "4 cells reused unverified: written without a hash" in repr(again)
    pd.testing.assert_frame_equal(again.frame, first.frame, check_exact=True)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.slow
def test_whatever_stands_in_a_record_without_a_seal_resuming_goes_on(swept, count):
    """Nobody can tell a changed number there; but no such record ends the sweep."""
    plan, out, _ = swept
    without_seals(out)
    rng, seen = np.random.default_rng(shifted(2)), 0
    for _ in cases(out / "cells", count, rng):
        again = bb.run_sweep(plan, out, workers=1, resume=True)
        assert len(again.cells) == 4
        assert not len(again.failures)
        assert again.reused + again.damaged == 4
        seen += again.damaged
        without_seals(out)
    assert seen > count / 3


@pytest.mark.parametrize("n", [100, pytest.param(3000, marks=pytest.mark.claim)])
@pytest.mark.slow
def test_a_record_with_a_seal_of_its_own_and_odd_values_is_fitted_again_or_does_no_harm(n, swept):
    """Anyone can write a seal; no table holds what no fit gives, and no record ends the sweep."""
    plan, out, first = swept
    path = out / "cells" / f"{first.cells['cell'][1]}.json"
    whole = json.loads(path.read_bytes())
    del whole[SEAL_KEY]
    damaged = 0
    for place, value, changed in odd_json(whole, n, np.random.default_rng(shifted(4))):
        try:
            path.write_bytes(
                sealed_json(changed) if isinstance(changed, dict) else json.dumps(changed).encode()
            )
        except ValueError:  # what JSON does not hold
            continue
        again = bb.run_sweep(plan, out, workers=1, resume=True)
        damaged += again.damaged
        assert not len(again.failures), (place, value)
        numbers = again.frame.select_dtypes("number").astype(float)
        assert (numbers.abs().max().dropna() < 1e20).all(), (place, value)
        shares = (
            again.frame[["p_below_zero", "p_in_rope", "superiority", "prob"]].astype(float).stack().dropna()
        )
        assert shares.between(0, 1).all(), (place, value)
    assert damaged > n / 3


@pytest.mark.parametrize("files", [1e308, True, [1], {"results.csv": None}, {"results.csv": {"a": 1}}, "x"])
def test_an_account_of_tables_that_is_none_is_damage(swept, files):
    _, out, _ = swept
    path = out / "sweep.json"
    content = json.loads(path.read_bytes())
    del content[SEAL_KEY]
    path.write_bytes(sealed_json({**content, "files": files}))
    assert not bb.runs.verify_run(out).ok


PARTS = ("summary", "contrasts", "diagnostics", "coverage", "timing", "look_again", "provenance")
VALUES = (None, 7, "text", [1], [{"mean": "high"}], {"a": []})


@pytest.mark.parametrize(
    ("part", "value"),
    [
        *zip(PARTS, (*VALUES, None), strict=True),
        *(
            pytest.param(part, value, marks=pytest.mark.claim)
            for part in PARTS
            for value in VALUES
            if (part, value) != ("look_again", [1])
        ),
    ],
)
def test_parts_of_another_kind_are_damage(swept, part, value):
    plan, out, first = swept
    without_seals(out)
    path = out / "cells" / f"{first.cells['cell'][1]}.json"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), part: value}))
    again = bb.run_sweep(plan, out, workers=1, resume=True)
    assert again.damaged == 1
    pd.testing.assert_frame_equal(again.frame, first.frame, check_exact=True)


def test_files_under_each_others_names_are_damage(swept):
    plan, out, first = swept
    a, b, *_ = files_in(out / "cells")
    one, other = a.read_bytes(), b.read_bytes()
    a.write_bytes(other)
    b.write_bytes(one)
    assert bb.runs.verify_run(out).count(State.DAMAGED) >= 2
    again = bb.run_sweep(plan, out, workers=1, resume=True)
    assert again.damaged == 2
    pd.testing.assert_frame_equal(again.frame, first.frame, check_exact=True)
