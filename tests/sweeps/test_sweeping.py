"""Cells are whole, failures stand beside them, and what is resumed does nothing twice."""

import os

import numpy as np
import pandas as pd
import pytest
from helpers.sweeps import arrays_of, cell_files, results, write_inputs, write_plan

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.sweeps.plan import digest_of, load_plan
from bayesbias.sweeps.sweeping import run_sweep


@pytest.mark.slow
def test_every_cell_is_there_in_the_order_of_the_plan(done):
    plan, out = done
    cells = pd.read_parquet(out / "results.parquet").drop_duplicates("cell")
    expected = [
        (e, w, m)
        for e in ("e0.npz", "e1.npz")
        for w in ("pets.toml", "meals.toml")
        for m in ("additive", "crossed")
    ]
    labels = cells[["embedding", "wordlist", "model"]]
    assert list(labels.itertuples(index=False, name=None)) == expected
    assert set(cells["status"]) == {"ok"}
    assert set(cells["n_pairs"]) == {36}  # 6 protected words with 6 stereotypes each
    assert cells["fit_seed"].nunique() == len(cells)
    assert len(cell_files(out)) == len(load_plan(plan)) == 8
    assert not [name for name in os.listdir(out / "cells") if name.startswith(".")]


@pytest.mark.slow
def test_a_cell_holds_what_fit_gives_by_itself(done):
    """The numbers of a sweep are those of `fit` with the recorded seed."""
    plan, out = done
    frame = pd.read_parquet(out / "results.parquet")
    chosen = frame.query(
        "embedding == 'e1.npz' and wordlist == 'meals.toml' and model == 'crossed'"
    )
    table = bb.distance_table(plan.parent / "e1.npz", plan.parent / "meals.toml")
    how = {"draws": 100, "tune": 100, "chains": 2, "seed": int(chosen["fit_seed"].iloc[0])}
    alone = bb.fit(table, "crossed", pointwise=False, **how)
    means = pd.concat([alone.summary(), alone.summary(estimand="listed_words")])
    tables = {
        "mean": means,
        "contrast": alone.contrast_rows(),
        "standardized": alone.standardized(),
    }
    for quantity, expected in tables.items():
        own = chosen[chosen["quantity"] == quantity]
        assert list(own["estimand"]) == list(expected["estimand"])
        for column in own.columns.intersection(expected.select_dtypes("float").columns):
            np.testing.assert_allclose(own[column].astype(float), expected[column], rtol=1e-9)


@pytest.mark.slow
def test_common_words_keeps_what_all_vectors_have(tmp_path):
    plan = write_inputs(tmp_path)
    held = arrays_of(tmp_path / "e1.npz")
    rest = {name: values[held["words"] != "cat"] for name, values in held.items()}
    np.savez(tmp_path / "e1.npz", **rest)
    how = {"wordlists": ["pets.toml"], "models": ["crossed"]}
    write_plan(tmp_path, **how, settings={"common_words": True})
    found = run_sweep(plan, tmp_path / "out", workers=1)
    assert found.cells["n_pairs"].tolist() == [30, 30]
    assert found.cells["missing_words"].tolist() == [1, 1]
    # A finished cell is read again, since it decides which words are common.
    gone = found.cells["cell"].iloc[0]
    (tmp_path / "out" / "cells" / f"{gone}.json").unlink()
    again = run_sweep(plan, tmp_path / "out", workers=1, resume=True)
    assert again.reused == 1
    pd.testing.assert_frame_equal(again.frame, found.frame)
    # Vectors that cannot be read leave the others as they are.
    (tmp_path / "e1.npz").write_bytes(b"no vectors")
    alone = run_sweep(plan, tmp_path / "out2", workers=1)
    assert alone.cells["status"].tolist() == ["ok", "failed"]
    assert alone.cells["n_pairs"].iloc[0] == 36


@pytest.mark.slow
def test_the_rest_of_the_plan_changes_no_cell(done, tmp_path):
    write_inputs(tmp_path)
    changes = {"embeddings": ["e1.npz"], "wordlists": ["meals.toml"]}
    write_plan(tmp_path, **changes, models=["crossed", "additive"])
    alone = run_sweep(tmp_path / "plan.toml", tmp_path / "out", workers=1).frame
    whole = pd.read_parquet(done[1] / "results.parquet")
    chosen = whole.query("embedding == 'e1.npz' and wordlist == 'meals.toml'")
    for model in ("crossed", "additive"):
        a, b = (f[f["model"] == model].reset_index(drop=True) for f in (alone, chosen))
        pd.testing.assert_frame_equal(a, b, check_exact=True)


@pytest.mark.slow
def test_tables_of_distances_and_seeds(tmp_path):
    write_inputs(tmp_path)
    bb.distance_table(tmp_path / "e0.npz", tmp_path / "pets.toml").save(tmp_path / "pairs.csv")
    settings = {"seed": [1, 2]}
    changes = {"embeddings": None, "wordlists": None, "distances": ["pairs.csv"]}
    write_plan(tmp_path, **changes, models=["crossed"], settings=settings)
    result = run_sweep(tmp_path / "plan.toml", tmp_path / "out", workers=1)
    cells = result.cells
    assert list(cells["seed"]) == [1, 2]
    assert list(cells["distances"]) == ["pairs.csv"] * 2
    assert cells["embedding"].isna().all()


@pytest.mark.slow
def test_a_plan_names_the_words_of_a_matrix_and_their_form(tmp_path):
    write_inputs(tmp_path)
    held = arrays_of(tmp_path / "e0.npz")
    np.save(tmp_path / "matrix.npy", held["vectors"])
    keys = [f"{word}_NOUN" for word in held["words"]]
    (tmp_path / "nouns.txt").write_text("\n".join(keys), encoding="utf-8")
    settings = {"vocab": "nouns.txt", "key": "{word}_NOUN"}
    write_plan(
        tmp_path,
        embeddings=["matrix.npy"],
        wordlists=["pets.toml"],
        models=["additive"],
        settings=settings,
    )
    result = run_sweep(tmp_path / "plan.toml", tmp_path / "out", workers=1)
    assert list(result.cells["status"]) == ["ok"]


@pytest.mark.slow
def test_a_failed_cell_stands_beside_the_others_and_is_tried_again(tmp_path):
    """Every kind of bad input fails its own cells only; repaired, it is fitted, and nothing else is."""
    write_inputs(tmp_path)
    broken = arrays_of(tmp_path / "e0.npz")
    vectors = broken["vectors"].copy()
    vectors[list(broken["words"]).index("soup")] = np.nan  # a word of the second list alone
    np.savez(tmp_path / "nan.npz", words=broken["words"], vectors=vectors)
    (tmp_path / "own.toml").write_text("schema = 1\nname = 'own'", encoding="utf-8")
    (tmp_path / "table.csv").write_text("protected_word,distance\ncat,0.5\n", encoding="utf-8")
    embeddings = ["e0.npz", "nan.npz", "gone.npz"]
    write_plan(
        tmp_path,
        embeddings=embeddings,
        models=["additive", "own.toml"],
        distances=["table.csv"],
        settings={"bad_lines": "error"},
    )
    out = tmp_path / "out"
    first = run_sweep(tmp_path / "plan.toml", out, workers=1)
    cells = first.cells.set_index(["embedding", "wordlist", "model"])
    assert len(cells) == 3 * 2 * 2 + 2
    assert sorted(cells.index[cells["status"] == "ok"]) == [
        ("e0.npz", "meals.toml", "additive"),
        ("e0.npz", "pets.toml", "additive"),
        ("nan.npz", "pets.toml", "additive"),
    ]
    errors = cells["error"]
    assert "'soup'" in errors["nan.npz", "meals.toml", "additive"]
    assert "expected a file of vectors" in errors["gone.npz", "pets.toml", "additive"]
    assert "own.toml" in errors["e0.npz", "pets.toml", "own.toml"]
    assert first.frame.loc[first.frame["status"] == "failed", "mean"].isna().all()

    before = cell_files(out)
    np.savez(tmp_path / "nan.npz", words=broken["words"], vectors=broken["vectors"])
    again = run_sweep(tmp_path / "plan.toml", out, workers=1, resume=True)
    assert again.reused == 2  # of the three good ones the file of one has changed
    assert (again.cells["status"] == "ok").sum() == 4
    assert all(cell_files(out)[name] == mark for name, mark in before.items())


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
    """A changed embedding, word list or setting; the order of the plan is no change."""
    plan, out = write_inputs(tmp_path), tmp_path / "out"
    write_plan(tmp_path, models=["additive"])
    first = run_sweep(plan, out, workers=1)
    vectors = arrays_of(tmp_path / "e1.npz")
    np.savez(tmp_path / "e1.npz", words=vectors["words"], vectors=vectors["vectors"] + 0.1)
    text = (tmp_path / "pets.toml").read_text(encoding="utf-8")
    (tmp_path / "pets.toml").write_text(text.replace("keen", "warm"), encoding="utf-8")
    second = run_sweep(plan, out, workers=1, resume=True)
    assert second.reused == 1  # the list of meals in e0
    assert (first.cells["cell"] == second.cells["cell"]).tolist() == [False, True, False, False]
    assert list(first.cells["fit_seed"]) == list(second.cells["fit_seed"])

    write_plan(tmp_path, models=["additive"], embeddings=["e1.npz", "e0.npz"])
    third = run_sweep(plan, out, workers=1, resume=True)
    assert third.reused == 4
    assert list(third.cells["embedding"]) == ["e1.npz", "e1.npz", "e0.npz", "e0.npz"]
    write_plan(tmp_path, models=["additive"], embeddings=["e0.npz"], settings={"prob": 0.5})
    narrow = run_sweep(plan, out, workers=1, resume=True)
    wide = third.frame[third.frame["embedding"] == "e0.npz"]
    assert (narrow.reused, narrow.others) == (0, 7)
    np.testing.assert_array_equal(wide["mean"].astype(float), narrow.frame["mean"].astype(float))
    assert (narrow.frame["hpdi_high"].to_numpy() < wide["hpdi_high"].to_numpy()).all()


@pytest.mark.slow
def test_a_folder_with_something_in_it_is_refused_without_resume(done, tmp_path):
    plan, out = done
    with pytest.raises(InputError, match="an empty folder"):
        run_sweep(plan, out)
    (tmp_path / "letter.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="the folder of a sweep"):
        run_sweep(plan, tmp_path, resume=True)


def test_files_beside_a_file_of_vectors_belong_to_it(tmp_path):
    for name in ("vectors[50].kv", "vectors[50].kv.vectors.npy"):
        (tmp_path / name).write_bytes(b"x")
    assert list(digest_of(str(tmp_path / "vectors[50].kv"))) == [
        "vectors[50].kv",
        "vectors[50].kv.vectors.npy",
    ]
    assert digest_of(str(tmp_path / "none")) is None
