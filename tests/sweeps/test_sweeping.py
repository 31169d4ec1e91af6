"""Cells are whole, failures stand beside them, and what is resumed does nothing twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from helpers.sweeps import cell_files, results, write_inputs, write_plan

import bayesbias
from bayesbias.core.errors import InputError
from bayesbias.inference.fitting import fit
from bayesbias.models.loading import load_model
from bayesbias.sweeps import cells as cells_room, store as store_room
from bayesbias.sweeps.plan import load_plan
from bayesbias.sweeps.sweeping import run_sweep
from bayesbias.tables.distances import distance_table
from bayesbias.tables.reading import load_distances


# -- cells and results -------------------------------------------------------------------------------
@pytest.mark.slow
def test_every_cell_is_there_in_the_order_of_the_plan(done):
    plan, out = done
    frame = pd.read_parquet(out / "results.parquet")
    cells = frame.drop_duplicates("cell")
    expected = [
        (e, w, m)
        for e in ("e0.npz", "e1.npz")
        for w in ("pets.toml", "meals.toml")
        for m in ("additive", "crossed")
    ]
    assert (
        list(cells[["embedding", "wordlist", "model"]].itertuples(index=False, name=None))
        == expected
    )
    assert set(cells["status"]) == {"ok"}
    assert set(cells["n_pairs"]) == {36}  # 6 protected words with 6 stereotypes each
    assert cells["fit_seed"].nunique() == len(cells)
    assert len(cell_files(out)) == len(load_plan(plan)) == 8
    assert not [name for name in os.listdir(out / "cells") if name.startswith(".")]


@pytest.mark.slow
def test_a_cell_holds_what_fit_gives_by_itself(done):
    """The numbers of a sweep are those of `fit` with the recorded seed, for means and contrasts alike."""
    plan, out = done
    frame = pd.read_parquet(out / "results.parquet")
    chosen = frame[
        (frame["embedding"] == "e1.npz")
        & (frame["wordlist"] == "meals.toml")
        & (frame["model"] == "crossed")
    ]
    table = distance_table(plan.parent / "e1.npz", plan.parent / "meals.toml")
    alone = fit(
        table,
        "crossed",
        draws=100,
        tune=100,
        chains=2,
        seed=int(chosen["fit_seed"].iloc[0]),
        pointwise=False,
    )
    means = chosen[chosen["quantity"] == "mean"]
    expected = pd.concat([alone.summary(), alone.summary(estimand="listed_words")])
    assert list(means["term"]) == ["associated", "different"] * 2
    for column in ("mean", "sd", "hpdi_low", "hpdi_high", "ess_bulk", "r_hat"):
        np.testing.assert_allclose(means[column].astype(float), expected[column], rtol=1e-9)
    contrasts, expected = chosen[chosen["quantity"] == "contrast"], alone.contrasts()
    assert list(contrasts["name"]) == list(expected["name"])
    assert list(contrasts["estimand"]) == list(expected["estimand"])
    for column in ("mean", "hpdi_low", "p_below_zero", "p_in_rope"):
        np.testing.assert_allclose(contrasts[column].astype(float), expected[column], rtol=1e-9)
    standard, expected = chosen[chosen["quantity"] == "standardized"], alone.standardized()
    assert list(standard["name"]) == list(expected["name"])
    assert list(standard["unit"]) == list(expected["unit"])
    for column in (
        "mean",
        "hpdi_low",
        "p_in_rope",
        "rope",
        "probability_of_superiority",
        "probability_of_superiority_low",
        "probability_of_superiority_high",
    ):
        np.testing.assert_allclose(standard[column].astype(float), expected[column], rtol=1e-9)
    assert chosen["min_ess_bulk"].iloc[0] == pytest.approx(
        alone.diagnostics()["min_ess_bulk"], rel=1e-9
    )


@pytest.mark.slow
def test_the_results_have_no_times_and_the_times_have_all_cells(done):
    _, out = done
    frame, timing = pd.read_csv(out / "results.csv"), pd.read_csv(out / "timing.csv")
    assert not [column for column in frame.columns if column.endswith("_s")]
    assert list(timing["cell"]) == list(frame["cell"].drop_duplicates())
    assert (timing[["load_s", "sample_s", "fit_s", "summarise_s"]] > 0).all(axis=None)


@pytest.mark.slow
def test_the_rest_of_the_plan_changes_no_cell(done, tmp_path):
    _, out = done
    write_inputs(tmp_path)
    write_plan(
        tmp_path, embeddings=["e1.npz"], wordlists=["meals.toml"], models=["crossed", "additive"]
    )
    alone = run_sweep(tmp_path / "plan.toml", tmp_path / "out", workers=1).frame
    whole = pd.read_parquet(out / "results.parquet")
    chosen = whole[(whole["embedding"] == "e1.npz") & (whole["wordlist"] == "meals.toml")]
    for model in ("crossed", "additive"):
        a, b = (f[f["model"] == model].reset_index(drop=True) for f in (alone, chosen))
        pd.testing.assert_frame_equal(a, b, check_exact=True)


@pytest.mark.slow
def test_tables_of_distances_seeds_and_kept_fits(tmp_path):
    write_inputs(tmp_path)
    distance_table(tmp_path / "e0.npz", tmp_path / "pets.toml").save(tmp_path / "pairs.csv")
    write_plan(
        tmp_path,
        embeddings=None,
        wordlists=None,
        models=["crossed"],
        distances=["pairs.csv"],
        settings={"seed": [1, 2], "keep_fits": True},
    )
    result = run_sweep(tmp_path / "plan.toml", tmp_path / "out", workers=1)
    cells = result.cells
    assert list(cells["seed"]) == [1, 2]
    assert list(cells["distances"]) == ["pairs.csv"] * 2
    assert cells["embedding"].isna().all()
    first = result.frame[(result.frame["seed"] == 1) & (result.frame["quantity"] == "mean")]
    kept = bayesbias.load_fit(tmp_path / "out" / "fits" / f"{cells['cell'][0]}.nc")
    np.testing.assert_allclose(kept.summary()["mean"], first["mean"].astype(float)[:2], rtol=1e-12)
    assert len(kept.table) == len(load_distances(tmp_path / "pairs.csv")) == 36


@pytest.mark.slow
def test_a_model_may_give_its_results_for_something_else_than_connections(tmp_path):
    write_inputs(tmp_path)
    distance_table(tmp_path / "e0.npz", tmp_path / "pets.toml").save(tmp_path / "pairs.csv")
    text = load_model("hierarchical").text.replace('"hierarchical"', '"of_kinds"', 1)
    results = '[results]\ngroup = "attribute_class"\nfixed = ["connection"]\n'
    (tmp_path / "own.toml").write_text(f"{text}\n{results}", encoding="utf-8")
    plan = {
        "embeddings": None,
        "wordlists": None,
        "distances": ["pairs.csv"],
        "models": ["hierarchical", "own.toml"],
    }
    write_plan(tmp_path, **plan)
    result = run_sweep(tmp_path / "plan.toml", tmp_path / "out", workers=1)
    assert list(result.cells["status"]) == ["ok", "ok"]
    terms = result.frame[
        (result.frame["model"] == "own.toml") & (result.frame["quantity"] == "mean")
    ]["term"]
    assert set(terms) == set(
        load_distances(tmp_path / "pairs.csv").frame["attribute_class"].astype(str)
    )
    # A record that lacks a part was damaged: its cell is fitted again, and nothing else is.
    record = tmp_path / "out" / "cells" / f"{result.cells['cell'][0]}.json"
    whole = json.loads(record.read_text(encoding="utf-8"))
    record.write_text(
        json.dumps({key: value for key, value in whole.items() if key != "diagnostics"})
    )
    again = run_sweep(tmp_path / "plan.toml", tmp_path / "out", workers=1, resume=True)
    assert again.reused == 1
    pd.testing.assert_frame_equal(again.frame, result.frame)


def test_a_name_with_brackets_hides_none_of_its_files(tmp_path):
    for name in ("vectors[50].kv", "vectors[50].kv.vectors.npy"):
        (tmp_path / name).write_bytes(b"x")
    assert set(cells_room.digest_of(str(tmp_path / "vectors[50].kv"), {})) == {
        "sha256",
        "vectors[50].kv.vectors.npy",
    }


# -- failures ----------------------------------------------------------------------------------------
@pytest.mark.slow
def test_a_failed_cell_stands_beside_the_others_and_is_tried_again(tmp_path):
    """Every kind of bad input fails its own cells only; mended, it is fitted, and nothing else is."""
    write_inputs(tmp_path)
    broken = np.load(tmp_path / "e0.npz")
    vectors = broken["vectors"].copy()
    vectors[list(broken["words"]).index("soup")] = np.nan  # a word of the second list alone
    np.savez(tmp_path / "nan.npz", words=broken["words"], vectors=vectors)
    (tmp_path / "own.toml").write_text("schema = 1\nname = 'own'", encoding="utf-8")
    write_plan(
        tmp_path,
        embeddings=["e0.npz", "nan.npz", "gone.npz"],
        models=["additive", "own.toml"],
        distances=["table.csv"],
    )
    (tmp_path / "table.csv").write_text("protected_word,distance\ncat,0.5\n", encoding="utf-8")
    out = tmp_path / "out"
    first = run_sweep(tmp_path / "plan.toml", out, workers=1)
    cells = first.cells.set_index(["embedding", "wordlist", "model"])
    assert len(cells) == 3 * 2 * 2 + 2
    good = cells[cells["status"] == "ok"]
    assert sorted(good.index) == [
        ("e0.npz", "meals.toml", "additive"),
        ("e0.npz", "pets.toml", "additive"),
        ("nan.npz", "pets.toml", "additive"),
    ]
    errors = cells["error"]
    assert "the vector of 'soup' holds NaN" in errors["nan.npz", "meals.toml", "additive"]
    assert "no such vector file" in errors["gone.npz", "pets.toml", "additive"]
    assert "own.toml" in errors["e0.npz", "pets.toml", "own.toml"]
    table = first.cells[first.cells["distances"].notna()]
    assert "column 'protected_class' is missing" in str(table["error"].iloc[0])
    assert first.frame.loc[first.frame["status"] == "failed", "mean"].isna().all()
    assert "11 failed" in repr(first)

    before = cell_files(out)
    np.savez(tmp_path / "nan.npz", words=broken["words"], vectors=broken["vectors"])
    again = run_sweep(tmp_path / "plan.toml", out, workers=1, resume=True)
    assert again.reused == 2  # of the three good ones the file of one has changed
    now = again.cells.set_index(["embedding", "wordlist", "model"])["status"]
    assert now["nan.npz", "meals.toml", "additive"] == "ok"
    assert (again.cells["status"] == "ok").sum() == 4
    assert all(cell_files(out)[name] == mark for name, mark in before.items())


@pytest.mark.slow
def test_a_class_without_a_word_in_the_vocabulary_fails_with_its_name(tmp_path):
    write_inputs(tmp_path)
    text = (tmp_path / "pets.toml").read_text(encoding="utf-8")
    (tmp_path / "pets.toml").write_text(
        text.replace('["cat", "kitten", "tom"]', '["lynx", "puma"]'), encoding="utf-8"
    )
    write_plan(tmp_path, embeddings=["e0.npz"], models=["additive"])
    failures = run_sweep(tmp_path / "plan.toml", tmp_path / "out", workers=1).failures
    assert list(failures["wordlist"]) == ["pets.toml"]
    assert "no word of the protected class 'one'" in failures["error"][0]


# -- resuming ----------------------------------------------------------------------------------------
@pytest.mark.slow
def test_resuming_a_finished_sweep_fits_nothing_and_changes_nothing(done):
    plan, out = done
    before, files = results(out), cell_files(out)
    result = run_sweep(plan, out, resume=True)
    assert result.reused == 8
    assert results(out) == before
    assert cell_files(out) == files


@pytest.mark.slow
def test_what_changed_is_fitted_again_and_nothing_else(tmp_path):
    """A changed embedding, word list or setting, and a damaged file; the order of the plan is no change."""
    plan, out = write_inputs(tmp_path), tmp_path / "out"
    write_plan(tmp_path, models=["additive"])
    first = run_sweep(plan, out, workers=1)
    vectors = np.load(tmp_path / "e1.npz")
    np.savez(tmp_path / "e1.npz", words=vectors["words"], vectors=vectors["vectors"] + 0.1)
    text = (tmp_path / "pets.toml").read_text(encoding="utf-8")
    (tmp_path / "pets.toml").write_text(text.replace("keen", "warm"), encoding="utf-8")
    second = run_sweep(plan, out, workers=1, resume=True)
    assert second.reused == 1  # the list of meals in e0
    assert (second.cells["status"] == "ok").all()
    assert (first.cells["cell"] == second.cells["cell"]).tolist() == [False, True, False, False]
    assert list(first.cells["fit_seed"]) == list(second.cells["fit_seed"])

    path = out / "cells" / f"{second.cells['cell'][1]}.json"
    path.write_text(path.read_text(encoding="utf-8")[:100], encoding="utf-8")
    write_plan(tmp_path, models=["additive"], embeddings=["e1.npz", "e0.npz"])
    third = run_sweep(plan, out, workers=1, resume=True)
    assert third.reused == 3
    assert list(third.cells["embedding"]) == ["e1.npz", "e1.npz", "e0.npz", "e0.npz"]
    for cell in second.cells["cell"]:
        a, b = (f[f["cell"] == cell].reset_index(drop=True) for f in (second.frame, third.frame))
        pd.testing.assert_frame_equal(a, b, check_exact=True)

    write_plan(tmp_path, models=["additive"], embeddings=["e0.npz"], settings={"prob": 0.5})
    wider, narrow = (
        third.frame[third.frame["embedding"] == "e0.npz"],
        run_sweep(plan, out, workers=1, resume=True),
    )
    assert narrow.reused == 0
    np.testing.assert_array_equal(wider["mean"].astype(float), narrow.frame["mean"].astype(float))
    assert (narrow.frame["hpdi_high"].to_numpy() < wider["hpdi_high"].to_numpy()).all()


@pytest.mark.slow
def test_a_folder_with_something_in_it_is_refused_without_resume(done, tmp_path):
    plan, out = done
    with pytest.raises(InputError, match=r"not empty; found: 'cells, .*--resume"):
        run_sweep(plan, out)
    (tmp_path / "letter.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"holds no sweep.*letter.txt"):
        run_sweep(plan, tmp_path, resume=True)
    with pytest.raises(InputError, match="must be a folder"):
        run_sweep(plan, tmp_path / "letter.txt")


HOLDS = """
import sys
from bayesbias.sweeps.plan import load_plan
from bayesbias.sweeps.store import sweep_folder
from pathlib import Path

with sweep_folder(Path(sys.argv[1]), load_plan({"distances": ["a.csv"]}), resume=True):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
def test_two_sweeps_do_not_share_a_folder(tmp_path):
    plan = load_plan({"distances": ["a.csv"]})
    with store_room.sweep_folder(tmp_path, plan, resume=True):
        pass
    with store_room.sweep_folder(tmp_path, plan, resume=True):  # the lock was given back
        pass
    command = [sys.executable, "-c", HOLDS, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"held\n"
        with (
            pytest.raises(InputError, match="another sweep is running"),
            store_room.sweep_folder(tmp_path, plan, resume=True),
        ):
            pytest.fail("two sweeps in one folder")
        other.kill()  # a killed sweep does not keep the folder
    with store_room.sweep_folder(tmp_path, plan, resume=True):
        pass


def test_large_files_are_hashed_once_while_they_stay_as_they_are(tmp_path, monkeypatch):
    from bayesbias.sweeps import cells as cells_room

    path = tmp_path / "e.bin"
    path.write_bytes(b"one")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    monkeypatch.setattr(cells_room, "_HASHED_ALWAYS", 1)
    known: dict = {}
    first = cells_room.digest_of(str(path), known)
    monkeypatch.setattr(cells_room, "sha256_file", lambda _: "hashed again")
    assert cells_room.digest_of(str(path), known) == first
    path.write_bytes(b"two")
    assert cells_room.digest_of(str(path), known) == {"sha256": "hashed again"}
    assert cells_room.digest_of(str(tmp_path / "none"), known) is None


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 1.5, True])
def test_a_number_of_workers_that_is_none_is_refused(done, tmp_path, workers):
    with pytest.raises(InputError, match="whole number from 1 to 1024"):
        run_sweep(done[0], tmp_path, workers=workers)
