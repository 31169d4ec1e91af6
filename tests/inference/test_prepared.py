"""Many tables of the same pairs: the very answers of a fit, and what only a fit can do is left to it."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.seeds import shifted
from helpers.tables import grid

from bayesbias.core.errors import FitError
from bayesbias.inference.fitting import fit, prepare
from bayesbias.models.spec import load_model

SETTINGS = {"draws": 60, "tune": 60, "chains": 2, "engine": "quick", "seed": shifted(3)}


@pytest.mark.parametrize("model", ["default", "hierarchical"])
@pytest.mark.slow
def test_answers_are_those_of_the_fit(model):
    table = grid().sample(frac=1, random_state=shifted(1))  # rows in no order
    laid = prepare(load_model(model), table.assign(distance=1.0), ["overall", "class"])
    for by in (1.0, 0.98):
        own = table.assign(distance=table["distance"] * by)
        found, engine = laid.intervals(own["distance"].to_numpy(), SETTINGS, 0.8)
        result = fit(own, model, **SETTINGS, progress=False)
        assert engine == result.engine
        frames = [
            result.contrasts(0.8, estimand="population", level=level)
            for level in ("overall", "class")
        ]
        rows = [row for frame in frames for row in frame.to_dict("records")]
        expected = {(row["level"], row["name"], row["contrast"]): row for row in rows}
        assert {key for key, _ in found} == set(expected)
        for key, answer in found:
            row = expected[key]
            assert tuple(answer.values()) == pytest.approx(
                (row["mean"], row["hpdi_low"], row["hpdi_high"]), rel=1e-12
            )


def test_what_only_a_fit_can_do_is_left_to_it():
    table = grid()
    assert prepare(load_model("robust"), table, ["overall"]) is None
    assert prepare(load_model("default"), table.drop(columns="distance"), ["overall"]) is None
    assert prepare(load_model("default"), table.loc[[0, 0, *table.index]], ["overall"]) is None


def test_outcomes_without_noise_are_refused():
    laid = prepare(load_model("crossed"), grid(), ["overall"])
    with pytest.raises(FitError, match="nothing to model"):
        laid.intervals(np.ones(len(grid())), SETTINGS, 0.8)
