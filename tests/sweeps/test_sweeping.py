"""Sweeps: plans are checked, cells are whole, and what is killed and resumed ends as if nothing had happened."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections import deque
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from helpers.seeds import shifted

import bayesbias
from bayesbias.basics.errors import FitError, InputError
from bayesbias.basics.workers import Here, Processes, Task, carry_out
from bayesbias.cli.sweeping import _middle_out, _note, _print_sweep, _short_names, sweep
from bayesbias.inference.fitting import fit
from bayesbias.models.loading import load_model
from bayesbias.sweeps import cells as cells_room, store as store_room
from bayesbias.sweeps.plan import load_plan
from bayesbias.sweeps.result import _CELL_COLUMNS, _ROW_COLUMNS, SweepResult
from bayesbias.sweeps.sweeping import run_sweep
from bayesbias.tables.distances import distance_table
from bayesbias.tables.reading import read_distances

QUICK = {"draws": 100, "tune": 100, "chains": 2, "seed": shifted(7)}
LISTS = {
    "pets": (
        ("cat", "kitten", "tom"),
        ("aloof", "sly", "quiet"),
        ("dog", "puppy", "hound"),
        ("loyal", "loud", "keen"),
    ),
    "meals": (
        ("soup", "stew", "broth"),
        ("warm", "thin", "quiet"),
        ("cake", "tart", "bun"),
        ("sweet", "soft", "sly"),
    ),
}
LABELS = ["embedding", "wordlist", "controls", "distances", "model", "seed"]


def write_inputs(folder: Path) -> Path:
    """Write two embeddings, two word lists and a plan of all with two models; return the plan."""
    words = sorted({word for groups in LISTS.values() for group in groups for word in group})
    for number in range(2):
        vectors = np.random.default_rng(number).normal(size=(len(words), 12))
        np.savez(folder / f"e{number}.npz", words=np.array(words), vectors=vectors)
    for name, (x, a, y, b) in LISTS.items():
        classes = [
            f'[[class]]\nname = "{title}"\nprotected = {json.dumps(p)}\nattributes = {json.dumps(s)}\n'
            for title, p, s in (("one", x, a), ("two", y, b))
        ]
        (folder / f"{name}.toml").write_text("schema = 1\n" + "\n".join(classes), encoding="utf-8")
    write_plan(folder)
    return folder / "plan.toml"


def write_plan(folder: Path, **changes) -> None:
    """Write the plan with some of its keys changed; a key that is None is left out."""
    plan = {
        "embeddings": ["e0.npz", "e1.npz"],
        "wordlists": ["pets.toml", "meals.toml"],
        "models": ["additive", "crossed"],
        **changes,
    }
    settings = {**QUICK, **plan.pop("settings", {})}
    lines = [
        "schema = 1",
        *(f"{key} = {json.dumps(value)}" for key, value in plan.items() if value is not None),
    ]
    lines += ["[settings]", *(f"{key} = {json.dumps(value)}" for key, value in settings.items())]
    (folder / "plan.toml").write_text("\n".join(lines), encoding="utf-8")


def results(out: Path) -> tuple[bytes, bytes]:
    return (out / "results.csv").read_bytes(), (out / "results.parquet").read_bytes()


def cell_files(out: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (out / "cells").iterdir()}


@pytest.fixture(scope="module")
def done(tmp_path_factory) -> tuple[Path, Path]:
    """Return a plan and the folder of its undisturbed sweep, done in this process."""
    folder = tmp_path_factory.mktemp("sweep")
    plan = write_inputs(folder)
    run_sweep(plan, folder / "out", workers=1)
    return plan, folder / "out"


# -- plans -------------------------------------------------------------------------------------------


def test_a_plan_counts_its_cells_and_knows_its_folder(tmp_path):
    write_inputs(tmp_path)
    write_plan(tmp_path, controls=["none", "default"], settings={"seed": [1, 2, 3]})
    plan = load_plan(tmp_path / "plan.toml")
    assert len(plan) == 2 * 2 * 2 * 2 * 3
    assert (plan.folder, plan.seeds, plan.draws, plan.prob) == (tmp_path.resolve(), (1, 2, 3), 100, 0.89)
    assert load_plan(plan) is plan


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"embedings": ["minilm-static"]}, r"unknown key; found: 'embedings'.*did you mean 'embeddings'"),
        ({"schema": 2}, r"schema: unknown schema; found: 2"),
        ({"models": ["crosed"]}, r"models: unknown name; found: 'crosed'.*did you mean 'crossed'"),
        ({"wordlists": ["religon"]}, r"wordlists: unknown name; found: 'religon'.*did you mean 'religion'"),
        ({"embeddings": ["minilm"]}, r"embeddings: unknown name; found: 'minilm'.*minilm-static"),
        ({"controls": ["2023"]}, r"controls: unknown name; found: '2023'.*did you mean '202"),
        ({"models": ["crossed", "crossed"]}, r"models: an entry stands twice; found: 'crossed'"),
        ({"models": []}, r"models: the list is empty"),
        ({"models": [3]}, r"models: must be a list of names or paths; found: \[3\]"),
        ({"wordlists": None}, r"wordlists: embeddings and word lists need each other"),
        (
            {"embeddings": None, "wordlists": None},
            r"nothing to fit; valid: embeddings and wordlists, or distances",
        ),
        ({"settings": {"draw": 5}}, r"settings: unknown key; found: 'draw'.*did you mean 'draws'"),
        ({"settings": {"draws": 0}}, r"settings, draws: must be a whole number of at least 1; found: 0"),
        ({"settings": {"chains": True}}, r"settings, chains: must be a whole number"),
        ({"settings": {"seed": -1}}, r"settings, seed: must be a whole number from 0"),
        ({"settings": {"seed": [1, 1]}}, r"settings, seed: a seed stands twice"),
        ({"settings": {"prob": 1.0}}, r"settings, prob: must lie between 0 and 1; found: 1.0"),
        ({"settings": {"rope": 0}}, r"settings, rope: must be a finite number above 0"),
        (
            {"settings": {"repeats": "twice"}},
            r"settings, repeats: unknown value; found: 'twice'; valid: once, keep",
        ),
        ({"settings": {"keep_fits": 1}}, r"settings, keep_fits: must be true or false"),
        ({"settings": [1]}, r"settings: must be a table"),
    ],
)
def test_a_bad_plan_is_refused(change, message):
    plan = {"embeddings": ["minilm-static"], "wordlists": ["religion"], **change}
    with pytest.raises(InputError, match=message):
        load_plan({key: value for key, value in plan.items() if value is not None})


def test_a_plan_that_is_not_there_names_the_nearest(tmp_path):
    write_inputs(tmp_path)
    with pytest.raises(InputError, match=r"no such plan.*did you mean 'plan.toml'"):
        load_plan(tmp_path / "plam.toml")


def test_controls_alone_are_refused():
    with pytest.raises(InputError, match="controls without a word list"):
        load_plan({"distances": ["a.csv"], "controls": ["2022"]})


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
    assert list(cells[["embedding", "wordlist", "model"]].itertuples(index=False, name=None)) == expected
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
        (frame["embedding"] == "e1.npz") & (frame["wordlist"] == "meals.toml") & (frame["model"] == "crossed")
    ]
    table = distance_table(plan.parent / "e1.npz", plan.parent / "meals.toml")
    alone = fit(
        table, "crossed", draws=100, tune=100, chains=2, seed=int(chosen["fit_seed"].iloc[0]), pointwise=False
    )
    means = chosen[chosen["quantity"] == "mean"]
    expected = pd.concat([alone.summary(), alone.summary(estimand="these_words")])
    assert list(means["term"]) == ["associated", "different"] * 2
    for column in ("mean", "sd", "hpdi_low", "hpdi_high", "ess_bulk", "r_hat"):
        np.testing.assert_allclose(means[column].astype(float), expected[column], rtol=1e-9)
    contrasts, expected = chosen[chosen["quantity"] == "contrast"], alone.contrasts()
    assert list(contrasts["name"]) == list(expected["name"])
    assert list(contrasts["estimand"]) == list(expected["estimand"])
    for column in ("mean", "hpdi_low", "p_below_zero", "p_in_rope"):
        np.testing.assert_allclose(contrasts[column].astype(float), expected[column], rtol=1e-9)
    assert chosen["min_ess_bulk"].iloc[0] == pytest.approx(alone.diagnostics()["min_ess_bulk"], rel=1e-9)


@pytest.mark.slow
def test_the_results_have_no_times_and_the_times_have_all_cells(done):
    _, out = done
    frame, timing = pd.read_csv(out / "results.csv"), pd.read_csv(out / "timing.csv")
    assert not [column for column in frame.columns if column.endswith("_s")]
    assert list(timing["cell"]) == list(frame["cell"].drop_duplicates())
    assert (timing[["load_s", "sample_s", "fit_s", "summarise_s"]] > 0).all(axis=None)


def test_the_rest_of_the_plan_changes_no_cell(done, tmp_path):
    _, out = done
    write_inputs(tmp_path)
    write_plan(tmp_path, embeddings=["e1.npz"], wordlists=["meals.toml"], models=["crossed", "additive"])
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
    assert len(kept.table) == len(read_distances(tmp_path / "pairs.csv")) == 36


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
    terms = result.frame[(result.frame["model"] == "own.toml") & (result.frame["quantity"] == "mean")]["term"]
    assert set(terms) == set(read_distances(tmp_path / "pairs.csv").frame["attribute_class"].astype(str))
    # A record that lacks a part was damaged: its cell is fitted again, and nothing else is.
    record = tmp_path / "out" / "cells" / f"{result.cells['cell'][0]}.json"
    whole = json.loads(record.read_text(encoding="utf-8"))
    record.write_text(json.dumps({key: value for key, value in whole.items() if key != "diagnostics"}))
    again = run_sweep(tmp_path / "plan.toml", tmp_path / "out", workers=1, resume=True)
    assert again.reused == 1
    pd.testing.assert_frame_equal(again.frame, result.frame)


@pytest.mark.slow
def test_what_has_to_be_known_of_a_cell_stands_beside_its_numbers(tmp_path):
    plan = {"embeddings": ["minilm-static"], "wordlists": ["religion"], "controls": ["none"],
            "settings": {"draws": 200, "tune": 200, "chains": 2, "seed": shifted(1)}}  # fmt: skip
    result = run_sweep(plan, tmp_path / "out", workers=1)
    (row,) = result.cells.itertuples()
    table = distance_table("minilm-static", "religion", controls="none")
    alone = fit(table, "crossed", draws=200, tune=200, chains=2, seed=int(row.fit_seed), pointwise=False)
    assert row.look_again == "; ".join(doubt.text for doubt in bayesbias.findings_of(alone).doubts) != ""
    assert (None if pd.isna(row.problems) else row.problems) == (
        "; ".join(alone.diagnostics()["problems"]) or None
    )
    assert (row.protected_listed, row.protected_found) == (15, 15)
    assert (row.stereotypes_listed, row.stereotypes_found) == (11, 11)
    # Another plan in the same folder is allowed, and what the first one left is spoken of.
    other = run_sweep({**plan, "wordlists": ["weat7"]}, tmp_path / "out", workers=1, resume=True)
    assert (other.reused, other.others) == (0, 1)
    words = [*table.frame["protected_word"].unique()[:-2], *table.frame["attribute"].unique()]
    random = np.random.default_rng(0)
    np.savez(tmp_path / "few.npz", words=words, vectors=random.normal(size=(len(words), 9)))
    few = run_sweep({**plan, "embeddings": [str(tmp_path / "few.npz")]}, tmp_path / "few", workers=1)
    (row,) = few.cells.itertuples()
    assert (row.protected_listed, row.protected_found) == (15, 13)
    assert "lacks 2 of 15 protected words" in _note(row)


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
    with pytest.raises(InputError, match="whole number of at least 1"):
        run_sweep(done[0], tmp_path, workers=workers)


# -- workers that die --------------------------------------------------------------------------------


def _dies() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _dies_once(mark: str) -> str:
    if not os.path.exists(mark):
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "lived"


@pytest.mark.slow
def test_a_task_that_kills_its_worker_is_tried_twice_and_reported(tmp_path):
    """The other tasks are done, whichever worker they were on."""
    answers: dict[str, str] = {}

    def task(name, work, *arguments):
        return Task(
            work,
            arguments,
            lambda value: answers.update({name: value}),
            lambda error: answers.update({name: error}),
        )

    tasks = deque([task("deadly", _dies), task("once", _dies_once, str(tmp_path / "mark"))])
    tasks += [task(f"good {k}", str, k) for k in range(6)]
    tasks.append(task("wrong", int, "x"))
    with Processes(2) as pool:
        carry_out(tasks, pool)
    assert answers.pop("deadly").startswith("the worker process died 2 times")
    assert answers.pop("once") == "lived"
    assert answers.pop("wrong").startswith("ValueError: invalid literal")
    assert answers == {f"good {k}": str(k) for k in range(6)}


def _answers(*tasks: tuple) -> list[str]:
    """Return what each task gave, in the order in which this process came to it."""
    said: list[str] = []
    with Here() as pool:
        carry_out(deque(Task(work, rest, said.append, said.append) for work, *rest in tasks), pool)
    return said


def _panics() -> None:
    raise BaseException("a compiled library panicked")


def _threads() -> int:
    from threadpoolctl import threadpool_info

    return max((pool["num_threads"] for pool in threadpool_info()), default=1)


def _warned() -> str:
    warnings.warn("a word to the user", UserWarning, stacklevel=1)
    warnings.warn("a word to developers", DeprecationWarning, stacklevel=1)
    return "lived"


def test_without_workers_an_error_is_still_that_of_its_task_alone():
    said = _answers((int, "x"), (_panics,), (str, 3))
    assert said[0].startswith("ValueError: invalid literal")
    assert said[1:] == ["BaseException: a compiled library panicked", "3"]
    with pytest.raises(KeyboardInterrupt):  # that is for the sweep, not for one cell
        _answers((_interrupted,), (str, 3))


def _interrupted() -> None:
    raise KeyboardInterrupt


def test_without_workers_libraries_have_one_thread_and_warnings_fail_nothing():
    import scipy.linalg  # noqa: F401 - brings its own copy of the linear algebra

    before = _threads()
    assert _answers((_threads,)) == [1]
    assert _threads() == before
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("error")
        assert _answers((_warned,)) == ["lived"]
    assert [str(warning.message) for warning in shown] == ["a word to the user"]


def test_without_workers_what_a_task_adds_comes_before_the_next_task():
    """So that only the tables of one file at a time are held in memory."""
    order: list[str] = []
    tasks: deque[Task] = deque()

    def then(table: str) -> None:
        order.append(table)
        tasks.appendleft(Task(str, (f"fit of {table}",), order.append, order.append))

    tasks.extend(Task(str, (name,), then, order.append, tables=True) for name in "ab")
    with Here() as pool:
        carry_out(tasks, pool)
    assert order == ["a", "fit of a", "b", "fit of b"]


def test_workers_are_told_to_use_one_thread():
    before = dict(os.environ)
    with Processes(1) as pool:
        assert pool.slots[0].submit(os.getenv, "OMP_NUM_THREADS").result() == "1"
    assert dict(os.environ) == before


@pytest.mark.slow
def test_a_worker_killed_from_outside_loses_nothing(done, tmp_path):
    plan, out = done
    killed = []

    def kill_one() -> None:
        while not (tmp_path / "out" / "cells").exists() or not os.listdir(tmp_path / "out" / "cells"):
            time.sleep(0.01)
        victim = multiprocessing.active_children()[0]
        killed.append(victim.pid)
        victim.kill()

    thread = threading.Thread(target=kill_one, daemon=True)
    thread.start()
    result = run_sweep(plan, tmp_path / "out", workers=2)
    thread.join(timeout=5)
    assert len(killed) == 1
    assert (result.cells["status"] == "ok").all()
    assert results(tmp_path / "out") == results(out)


def test_a_script_without_the_guard_is_told_so(tmp_path):
    write_inputs(tmp_path)
    (tmp_path / "script.py").write_text(
        f"from bayesbias import run_sweep\nrun_sweep({str(tmp_path / 'plan.toml')!r}, {str(tmp_path / 'o')!r})\n",
        encoding="utf-8",
    )
    made = subprocess.run(
        [sys.executable, str(tmp_path / "script.py")], capture_output=True, text=True, timeout=60
    )
    assert made.returncode == 1
    assert '__name__ == "__main__"' in made.stderr
    assert FitError.__name__ in made.stderr


# -- the command -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_prints_results_and_exits_with_one_where_a_cell_failed(tmp_path):
    write_inputs(tmp_path)
    write_plan(tmp_path, embeddings=["e0.npz", "gone.npz"], wordlists=["pets.toml"], models=["additive"])
    arguments = [str(tmp_path / "plan.toml"), "--out", str(tmp_path / "out"), "--workers", "1"]
    made = CliRunner().invoke(sweep, arguments)
    assert made.exit_code == 1
    assert "2 cells: 1 fitted, 1 failed, " in made.stdout
    assert "failed (1 cell): no such vector file" in made.stdout
    assert str(tmp_path / "out" / "results.csv") in made.stdout
    refused = CliRunner().invoke(sweep, arguments)
    assert isinstance(refused.exception, InputError)
    resumed = CliRunner().invoke(sweep, [*arguments, "--resume", "--json"])
    payload = json.loads(resumed.stdout)
    assert (payload["cells"], payload["failed"], payload["reused"]) == (2, 1, 1)
    assert payload["failures"][0]["embedding"] == "gone.npz"
    write_plan(tmp_path, embeddings=["e0.npz"], wordlists=["pets.toml"], models=["additive"])
    assert CliRunner().invoke(sweep, [*arguments, "--resume"]).exit_code == 0


def _made_up(names: list[str], trusted: list[bool]) -> SweepResult:
    """Return a result of one fitted cell per embedding, with numbers that must not be cut."""
    rows = [
        {
            "cell": str(i), "embedding": name, "wordlist": "pets.toml", "model": "crossed", "seed": 7,
            "status": "ok", "trusted": ok, "level": "overall", "term": "associated - different",
            "estimand": "population", "mean": -0.123, "hpdi_low": -0.456, "hpdi_high": 0.789, "prob": 0.89,
            "p_below_zero": 0.875,
        }
        for i, (name, ok) in enumerate(zip(names, trusted, strict=True))
    ]  # fmt: skip
    columns = {**_CELL_COLUMNS, **_ROW_COLUMNS}
    frame = pd.DataFrame({c: pd.array([row.get(c) for row in rows], dtype=k) for c, k in columns.items()})
    return SweepResult(frame, pd.DataFrame(), Path("out"), 0)


def test_the_printed_table_cuts_names_and_never_numbers(capsys, monkeypatch):
    long = [f"/data/vectors/{c}{'x' * 60}-{c}.txt" for c in "abc"]
    result = _made_up(long, [True, False, True])
    _print_sweep(result, [])
    piped = capsys.readouterr().out
    for name in long:  # whole in a pipe, without its folder
        assert f"{Path(name).name} " in piped
    assert "/data/vectors" not in piped
    assert [line.split()[0][0] for line in piped.splitlines() if "not to be trusted" in line][:-2] == ["b"]
    assert piped.splitlines()[-1] == (
        "3 cells: 3 fitted, 1 not to be trusted (see the columns problems and look_again of the results)"
    )
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for width in (80, 30):
        monkeypatch.setenv("COLUMNS", str(width))
        _print_sweep(result, [])
        rows = [line for line in capsys.readouterr().out.splitlines() if "-0.456 to +0.789" in line]
        assert [row.split()[0][0] for row in rows] == ["a", "b", "c"]
        assert all("..." in row and "-0.123" in row and "0.875" in row for row in rows)
        assert all(row.split()[0].endswith(f"-{c}.txt"[-3:]) for row, c in zip(rows, "abc", strict=True))
        assert width == 30 or max(map(len, rows)) <= 80


def test_paths_of_one_name_stay_apart():
    assert _short_names(["a/v.txt", "b/v.txt", "c/w.txt", "c/w.txt"]) == [
        "a/v.txt",
        "b/v.txt",
        "w.txt",
        "w.txt",
    ]
    assert _middle_out("abcdefghijklmnop", 10) == "abcd...nop"


def test_the_command_is_there():
    from bayesbias.cli.main import cli

    shown = CliRunner().invoke(cli, ["sweep", "--help"]).stdout
    assert "Exit codes: 0 all cells were fitted; 1" in shown
    assert 'embeddings = ["minilm-static", "vectors/glove.txt"]' in shown


# -- kill -9, and a real cluster ---------------------------------------------------------------------


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize(("kills", "seeds"), [(2, 4), pytest.param(10, 13, marks=pytest.mark.claim)])
def test_killed_and_resumed_the_results_are_the_same(tmp_path, kills, seeds):
    """`kill -9` at random moments: workers end with the sweep, no cell is torn, none is fitted twice."""
    plan, out = write_inputs(tmp_path), tmp_path / "out"
    write_plan(tmp_path, settings={"seed": list(range(seeds))})
    run_sweep(plan, tmp_path / "undisturbed", workers=1)
    total = len(load_plan(plan))
    (tmp_path / "go.py").write_text(
        "import sys\nfrom bayesbias import run_sweep\n"
        'if __name__ == "__main__":\n    run_sweep(sys.argv[1], sys.argv[2], workers=2, resume=True)\n',
        encoding="utf-8",
    )

    def finished() -> dict[str, int]:
        files = cell_files(out) if (out / "cells").is_dir() else {}
        return {name: mark for name, mark in files.items() if not name.startswith(".")}

    random = np.random.default_rng(3)
    counts = [0]
    for turn in range(kills):
        before = finished()
        process = subprocess.Popen(
            [sys.executable, str(tmp_path / "go.py"), str(plan), str(out)], start_new_session=True
        )
        # Every third time while it starts; else some moments after it has begun to write.
        while turn % 3 and process.poll() is None and len(finished()) == len(before):
            time.sleep(0.005)
        time.sleep(random.uniform(0.2, 2.0) if turn % 3 == 0 else random.uniform(0.0, 0.4))
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, "it was through before it could be killed"
        for _ in range(100):
            if not _alive(process.pid):
                break
            time.sleep(0.1)
        assert not _alive(process.pid), "a worker outlived the sweep"
        now = finished()
        assert all(now[name] == mark for name, mark in before.items()), "a finished cell was fitted again"
        assert all(json.loads((out / "cells" / name).read_text(encoding="utf-8"))["summary"] for name in now)
        counts.append(len(now))
    assert len(set(counts)) > kills // 2, counts  # it got further most times
    assert counts[-1] < total
    assert run_sweep(plan, out, workers=1, resume=True).reused == counts[-1]
    assert results(out) == results(tmp_path / "undisturbed")
    assert not list(out.glob("cells/.*"))


def _start(*arguments: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler" if arguments[0] == "scheduler" else
         "distributed.cli.dask_worker", *arguments[1:]],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.fixture
def cluster(tmp_path):
    """Start a scheduler and two workers on loopback; return its address and the workers."""
    pytest.importorskip("distributed")
    port_file = tmp_path / "scheduler.json"
    started = [
        _start(
            "scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
            "--scheduler-file",
            str(port_file),
        )
    ]
    try:
        limit = time.monotonic() + 30
        while not port_file.exists() or not port_file.read_text(encoding="utf-8"):
            assert time.monotonic() < limit, "the scheduler did not start"
            time.sleep(0.1)
        address = json.loads(port_file.read_text(encoding="utf-8"))["address"]
        for number in range(2):
            local = str(tmp_path / f"worker{number}")
            started.append(
                _start(
                    "worker",
                    address,
                    "--nthreads",
                    "1",
                    "--no-nanny",
                    "--no-dashboard",
                    "--local-directory",
                    local,
                )
            )
        yield address, started[1:]
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


@pytest.mark.slow
def test_a_cluster_gives_the_same_results_and_survives_a_killed_worker(done, cluster, tmp_path):
    plan, out = done
    address, workers = cluster
    fitted = []

    def kill_one() -> None:
        folder = tmp_path / "out" / "cells"
        while not folder.exists() or len(os.listdir(folder)) < 2:
            time.sleep(0.01)
        fitted.append(len(os.listdir(folder)))
        workers[0].kill()

    thread = threading.Thread(target=kill_one, daemon=True)
    thread.start()
    result = run_sweep(plan, tmp_path / "out", dask=address)
    thread.join(timeout=5)
    assert fitted[0] < 8
    assert workers[0].wait(timeout=5) == -signal.SIGKILL
    assert (result.cells["status"] == "ok").all()
    columns = ["cell", *LABELS, "quantity", "level", "name", "term", "estimand"]
    local = pd.read_parquet(out / "results.parquet")
    pd.testing.assert_frame_equal(result.frame[columns], local[columns])
    np.testing.assert_allclose(result.frame["mean"].astype(float), local["mean"].astype(float), rtol=1e-9)


@pytest.mark.slow
def test_an_address_where_no_scheduler_listens_is_refused(done, tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("bayesbias.basics.workers._ANSWER_S", 1)
    with pytest.raises(InputError, match="no Dask scheduler answers"):
        run_sweep(done[0], tmp_path / "out", dask="tcp://127.0.0.1:1")
    # Nothing was fitted in the folder, so that it is as good as new: another try need not say that it resumes.
    assert (tmp_path / "out" / "sweep.json").is_file()
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'bayesbias\[dask\]'"):
        run_sweep(done[0], tmp_path / "out", dask="tcp://127.0.0.1:1")


@pytest.mark.slow
def test_without_distributed_the_message_says_how_to_get_it(done, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'bayesbias\[dask\]'"):
        run_sweep(done[0], tmp_path / "out", dask="tcp://127.0.0.1:1")
