"""Plans are checked before anything runs."""

from __future__ import annotations

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
        ({"embedings": ["minilm-static"]}, "embedings.*Did you mean 'embeddings'"),
        ({"models": ["crosed"]}, "models.*crosed.*Did you mean 'crossed'"),
        ({"models": ["crossed", "crossed"]}, "models: expected each entry once"),
        ({"wordlists": None}, "expected embeddings and wordlists together"),
        ({"embeddings": None, "wordlists": None}, "tables to fit"),
        ({"settings": {"draw": 5}}, "draw.*Did you mean 'draws'"),
        ({"settings": {"draws": 0}}, "settings, draws"),
        ({"settings": {"seed": [1, 1]}}, "settings, seed"),
        ({"settings": {"prob": 1.0}}, "settings, prob"),
        ({"settings": {"repeats": "twice"}}, "settings, repeats"),
    ],
)
def test_a_bad_plan_is_refused(change, message):
    plan = {"embeddings": ["minilm-static"], "wordlists": ["religion"], **change}
    with pytest.raises(InputError, match=message):
        load_plan({key: value for key, value in plan.items() if value is not None})
