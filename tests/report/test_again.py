"""The call that makes a table again makes it again: with its covariates, and with vectors that were moved first."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from helpers.tables import grid
from helpers.vectors import LIST, A, B, X, Y, vectors

import bayesbias as bb
from bayesbias.embeddings.writing import save_embedding
from bayesbias.report.again import (
    command_text,
    model_of,
    reproduction,
    sampler_settings,
    table_call,
    without_folders,
)


def test_the_table_is_made_again_from_its_provenance(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = [*X, *Y, *A, *B, *(f"n{i}" for i in range(9))]
    save_embedding(bb.load_embedding(vectors(3, words)), "v.txt")
    (tmp_path / "mine.json").write_text(json.dumps(LIST))
    (tmp_path / "years.csv").write_text("word,year,age\nx1,1900,3\nx2,1950,4\ny1,1960,9\n")
    source = tmp_path / "v.txt"
    table = bb.distance_table(
        bb.load_embedding(source, postprocess="center"),
        tmp_path / "mine.json",
        covariates=tmp_path / "years.csv",
    )
    notes: list[str] = []
    call = table_call(table.provenance, "pairs.csv", notes)
    assert call == (
        "bb.distance_table(bb.load_embedding('v.txt', postprocess='center'), 'mine.json', controls='none', covariates=['years.csv'])"
    )
    again = eval(call, {"bb": bb})
    pd.testing.assert_frame_equal(again.frame, table.frame)
    made = reproduction([call], None, None, {}, {"": table.provenance}, notes)
    cells = [[cell.text for cell in row] for row in made.tables[0].rows]
    assert ["covariates", "years.csv", table.provenance["covariates"]["year"]["sha256"]] in cells
    assert len([row for row in cells if row[0] == "covariates"]) == 1


def test_a_table_that_was_read_is_read_again_with_its_repeats_and_covariates(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "years.csv").write_text("word,year\nw00,1900\nw01,1950\nw10,1960\n")
    once = grid().assign(size=lambda own: own["attribute"].str.len() + own["attribute"].str[-1].map(ord))
    pd.concat([once, once.head(4)]).to_csv("pairs.csv", index=False)
    read = bb.load_distances("pairs.csv", repeats="keep")
    table = bb.tables.join_covariates(bb.tables.join_covariates(read, tmp_path / "years.csv"), "size")
    notes: list[str] = []
    call = table_call(table.provenance, "pairs.csv", notes)
    assert (
        call
        == "bb.tables.join_covariates(bb.load_distances('pairs.csv', repeats='keep'), ['years.csv', 'size'])"
    )
    pd.testing.assert_frame_equal(eval(call, {"bb": bb}).frame, table.frame)
    assert notes == []
    given = bb.tables.join_covariates(read, {"year": {"w00": 1, "w01": 2, "w10": 3}})
    assert table_call(given.provenance, "", notes) == "bb.load_distances('pairs.csv', repeats='keep')"
    assert notes == ["Covariates that came from memory are not in a file of their own."]


def test_what_was_asked_of_the_sampler_is_said_where_it_is_not_usual() -> None:
    plain = {"draws": 30, "tune": 30, "chains": 1, "seed": 1}
    asked = {"target_accept": 0.97, "engine": "quick"}
    found = bb.fit(grid(), "hierarchical", **plain, **asked)
    assert sampler_settings(found.provenance) == {**plain, **asked}


@pytest.mark.parametrize("form", [dict, pd.DataFrame], ids=["mapping", "frame"])
def test_covariates_from_memory_are_said_not_to_be_in_a_file(form) -> None:
    words = {"math": 1, "algebra": 2, "poetry": 3}
    frame = form({"f": words}) if form is dict else form({"word": list(words), "f": list(words.values())})
    table = bb.distance_table("minilm-static", "weat7", covariates=frame)
    notes: list[str] = []
    assert (
        table_call(table.provenance, "pairs.csv", notes)
        == "bb.distance_table('minilm-static', 'weat7', controls='2022')"
    )
    assert notes == ["Covariates that came from memory or the word list are not in a file of their own."]


@pytest.mark.parametrize("form", ["mapping", "words and a matrix", "file"])
def test_vectors_from_memory_are_said_to_be(form, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    held = bb.load_embedding(vectors(3, [*X, *Y, *A, *B]))
    save_embedding(held, "a file.txt")
    source = {
        "mapping": dict(zip(held.words, held.vectors, strict=True)),
        "words and a matrix": (held.words, held.vectors),
        "file": "a file.txt",
    }[form]
    table = bb.distance_table(source, LIST, controls="none")
    notes: list[str] = []
    reproduction([], None, None, {}, {"": table.provenance}, notes)
    assert any("came from memory" in note for note in notes) is (form != "file")


def test_a_slash_in_a_name_is_no_folder() -> None:
    about = {
        "source": "/own/t.csv",
        "covariates": {"a/b": {"of": "a/b", "source": "the table", "sha256": ""}},
    }
    command = [
        "fit",
        "--distances",
        "/own/t.csv",
        "--covariates",
        "a/b",
        "--covariates",
        "own/years.csv",
        "--slope",
        "a/b:x",
    ]
    made = reproduction([], command, None, {}, {"": about}, [])
    assert (
        made.command
        == "bayesbias fit --distances t.csv --covariates a/b --covariates years.csv --slope a/b:x"
    )
    assert command_text(["wefat", "--classes", "men/he,women/she", "--out", "own/run"], 3) == (
        "bayesbias wefat --classes men/he,women/she --out run --seed 3"
    )


def test_a_page_tells_no_folders() -> None:
    assert [without_folders(word) for word in ("/own/place/run/", "transformers:/own/place/m/", "transformers:own/m")] == [
        "run", "transformers:m", "transformers:own/m",
    ]  # fmt: skip
    assert [model_of(name) for name in ("own/m", "/own/place/m", "C:\\me\\m")] == ["own/m", "m", "m"]
