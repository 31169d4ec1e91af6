"""The reference of files names what is in them."""

from __future__ import annotations

import tomllib

import pytest
from bayesbias.runs.kinds import LAYOUTS
from helpers.draws import made_up_fit

import bayesbias as bb
from bayesbias.models.distributions import DISTRIBUTIONS
from bayesbias.tables.pair_table import COLUMNS
from tools.pages.file_formats import COLUMNS_OF_RESULTS, COLUMNS_OF_TABLES, MODEL_KEYS, pages

TEXTS = {name: text.decode() for name, text in pages()}


def named(rows: dict[str, str]) -> set[str]:
    return {key for names in rows for key in names.rpartition("] ")[2].split(", ")}


@pytest.mark.slow
def test_columns_of_tables_and_results_are_explained():
    assert named(COLUMNS_OF_TABLES) == set(COLUMNS)
    fit = made_up_fit(bb.distance_table("minilm-static", "religion", controls="none"), "default")
    frames = [fit.summary(), fit.contrasts(), fit.standardized(), fit.new_words()]
    held = {column for frame in frames for column in frame.columns}
    told = {key for key in named(COLUMNS_OF_RESULTS) if not key.startswith("mcse_")}
    errors = {column for column in held if column.startswith("mcse_")}
    assert held - errors == told
    of = {"low": "hpdi_low", "high": "hpdi_high"}
    assert {of.get(column[5:], column[5:]) for column in errors} <= told
    assert "mcse_mean" in errors


def test_keys_of_models_are_those_that_models_have():
    models = [tomllib.loads(bb.load_model(name).text) for name in bb.models.list_models()]
    above = {key for model in models for key in model} - {"likelihood", "parameter", "results"}
    noise = {key for model in models for key in model["likelihood"]}
    assert named({k: v for k, v in MODEL_KEYS.items() if not k.startswith("[")}) == above
    assert named({k: v for k, v in MODEL_KEYS.items() if k.startswith("[likelihood]")}) == noise
    arguments = {arg for row in DISTRIBUTIONS.values() for arg in row.args}
    of_parameters = {key for model in models for p in model["parameter"].values() for key in p} - arguments
    assert named({k: v for k, v in MODEL_KEYS.items() if k.startswith("[parameter.NAME]")}) == of_parameters


def test_every_model_and_every_file_of_a_run_is_there():
    for name in bb.models.list_models():
        assert bb.load_model(name).text.strip() in TEXTS["reference/model-files.md"]
    for kind, layout in LAYOUTS.items():
        assert f"| {kind} |" in TEXTS["reference/tables.md"]
        assert all(f"`{name}`" in TEXTS["reference/tables.md"] for name in layout.files)
