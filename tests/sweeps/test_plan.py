"""Plans are checked before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.sweeps import write_inputs, write_plan

from bayesbias.core.errors import InputError
from bayesbias.sweeps.plan import load_plan


def test_a_plan_counts_its_cells_and_knows_its_folder(tmp_path):
    write_inputs(tmp_path)
    write_plan(tmp_path, controls=["none", "default"], settings={"seed": [1, 2, 3]})
    plan = load_plan(tmp_path / "plan.toml")
    assert len(plan) == 2 * 2 * 2 * 2 * 3
    assert (plan.folder, plan.seeds, plan.draws, plan.prob) == (
        tmp_path.resolve(),
        (1, 2, 3),
        100,
        0.89,
    )
    assert load_plan(plan) is plan


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"embedings": ["minilm-static"]},
            r"unknown key; found: 'embedings'.*did you mean 'embeddings'",
        ),
        ({"schema": 2}, r"schema: unknown schema; found: 2"),
        ({"models": ["crosed"]}, r"models: unknown name; found: 'crosed'.*did you mean 'crossed'"),
        (
            {"wordlists": ["religon"]},
            r"wordlists: unknown name; found: 'religon'.*did you mean 'religion'",
        ),
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
        (
            {"settings": {"draws": 0}},
            r"settings, draws: must be a whole number from 1 to 1000000; found: 0",
        ),
        ({"settings": {"chains": True}}, r"settings, chains: must be a whole number"),
        ({"settings": {"seed": -1}}, r"settings, seed: must be a whole number from 0"),
        ({"settings": {"seed": [1, 1]}}, r"settings, seed: a seed stands twice"),
        ({"settings": {"prob": 1.0}}, r"settings, prob: must lie between 0 and 1; found: 1.0"),
        ({"settings": {"rope": 0}}, r"settings, rope: must be a finite number above 0"),
        (
            {"settings": {"standard_rope": -0.1}},
            r"settings, standard_rope: must be a finite number above 0",
        ),
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


def test_one_file_in_two_spellings_is_one_cell():
    with pytest.raises(
        InputError,
        match=r"distances: an entry stands twice; found: 'a\.csv and \./a\.csv, which are one file'",
    ):
        load_plan({"distances": ["a.csv", "./a.csv"]})
    here = Path.cwd()
    with pytest.raises(InputError, match="which are one file"):
        load_plan({"distances": ["a.csv", str(here.parent / here.name / "a.csv")]})
