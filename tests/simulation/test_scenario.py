"""Scenarios: a table with a known truth, chosen or taken from a fit."""

import numpy as np
import pytest
from helpers import monte_carlo as mc
from helpers.draws import made_up_fit
from helpers.seeds import shifted
from helpers.tables import grid

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.simulation import scenario as scenario_room
from bayesbias.simulation.scenario import RELIGION_REDDIT, Scenario, simulate_table, true_contrasts

MEAN, WORD_SD, ATTRIBUTE_SD, SIGMA = (
    RELIGION_REDDIT  # the names of the parameters of the model crossed
)


def test_truth_is_what_was_asked_for():
    values = RELIGION_REDDIT[MEAN]
    truth = {contrast: value for (*_, contrast), value in true_contrasts(Scenario()).items()}
    assert truth["associated - different"] == pytest.approx(
        values["associated"] - values["different"]
    )
    assert truth["human - neutral"] == pytest.approx(values["human"] - values["neutral"])
    alike = Scenario(values={**RELIGION_REDDIT, MEAN: 0.9})  # one number for all labels
    assert set(true_contrasts(alike).values()) == {0.0}


def test_tables_have_the_moments_of_the_scenario():
    """Variance of a pair = csd^2 + ws^2 + sigma^2; pairs sharing an attribute covary by ws^2."""
    scenario = Scenario(words=(2, 2), attributes=(2, 2), human=2, neutral=2)
    tables = [simulate_table(scenario, shifted(seed)) for seed in range(600)]
    y = np.stack([t["distance"] for t in tables])
    frame = tables[0]
    v = RELIGION_REDDIT
    for connection in ("associated", "different", "human", "neutral"):
        columns = np.flatnonzero(frame["connection"] == connection)
        variance = v[WORD_SD][connection] ** 2 + v[ATTRIBUTE_SD] ** 2 + v[SIGMA][connection] ** 2
        apart = (
            y[:, columns] - v[MEAN][connection]
        )  # pairs of one table are not independent, tables are
        mc.assert_near(mc.mean_of(apart.mean(axis=1)), 0)
        mc.assert_near(mc.mean_of((apart**2).mean(axis=1)), variance)
    same = np.flatnonzero(frame["attribute"] == "neutral.0")
    other = [i for i in same if frame["protected_word"][i] != frame["protected_word"][same[0]]]
    together = (y[:, same[0]] - v[MEAN]["neutral"]) * (y[:, other[0]] - v[MEAN]["neutral"])
    mc.assert_near(mc.mean_of(together), v[ATTRIBUTE_SD] ** 2)


def test_a_list_need_not_be_called_as_its_class():
    table = grid(human=0, neutral=0)
    renamed = table.assign(attribute_class="l" + table["attribute_class"].str[5:])
    fit = made_up_fit(renamed, "default", draws=20)
    scenario = scenario_room.scenario_from_fit(fit)
    simulated = simulate_table(scenario, 1)
    assert set(simulated["attribute_class"]) == {"class0", "class1", "class2"}
    at = fit.design.coords["attribute_class"].index("l1")
    name = next(
        name for name, p in fit.spec.parameters.items() if tuple(p.dims) == ("attribute_class",)
    )
    assert scenario.values[name]["class1"] == float(fit.parameter_draws()[name].mean(axis=0)[at])
    lone = (renamed["protected_class"] == "class1") & (renamed["connection"] == "associated")
    with pytest.raises(InputError, match=r"class1: expected stereotypes"):
        scenario_room.scenario_from_fit(made_up_fit(renamed[~lone], "crossed", draws=20))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"words": (5,), "attributes": (4, 3)}, "attributes: expected 1 number"),
        ({"words": (5, 0), "attributes": (4, 3)}, "at least 1"),
        ({"values": {MEAN: 1.0}}, "expected a value"),
        ({"values": {**RELIGION_REDDIT, "wz": 1.0}}, "population parameter.*got 'wz'"),
        ({"values": {**RELIGION_REDDIT, ATTRIBUTE_SD: 0.0}}, "above 0"),
        ({"values": {**RELIGION_REDDIT, WORD_SD: {"human": 1.0}}}, "expected a value for"),
    ],
)
def test_bad_scenarios_are_refused(change, says):
    with pytest.raises(InputError, match=says):
        true_contrasts(Scenario(**change))


@pytest.mark.slow
@pytest.mark.parametrize("model", ["additive", "crossed", "hierarchical", "shared"])
def test_every_fit_can_be_simulated_from_or_says_why_not(model):
    fit = bb.fit(
        bb.distance_table("minilm-static", "religion"),
        model,
        seed=shifted(1),
        draws=100,
        tune=100,
        chains=2,
        pointwise=False,
    )
    if model == "additive":
        with pytest.raises(InputError, match="belongs to the words of the table"):
            scenario_room.scenario_from_fit(fit)
    else:
        assert len(simulate_table(scenario_room.scenario_from_fit(fit), 1)) == 15 * (11 + 85 + 226)


@pytest.mark.claim
def test_the_values_of_cells_are_those_of_the_published_table(shared):
    table = bb.load_distances(
        shared / "data/bayesbias_distances/with_controls_2022/religion_group_reddit_dataset.csv"
    )
    fit = bb.fit(table, seed=shifted(1), progress=False)
    found, named = scenario_room.scenario_from_fit(fit), Scenario.for_claims()
    sizes = ("words", "attributes", "human", "neutral", "model")
    assert [getattr(found, name) for name in sizes] == [getattr(named, name) for name in sizes]
    for name in (WORD_SD, ATTRIBUTE_SD, SIGMA):
        for label, value in named.values[name].items():
            draws = fit.parameter_draws()[name][
                :, fit.design.coords[fit.spec.parameters[name].dims[0]].index(label)
            ]
            error = draws.std() / np.sqrt(
                len(draws) / 10
            )  # of draws that are worth a tenth of as many
            assert abs(found.values[name][label] - value) < 4 * error + 0.0005, (name, label)
