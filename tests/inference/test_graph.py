"""The PyMC model that states what is fitted, and its sampling pair by pair."""

import numpy as np
import pymc as pm
import pytest
from helpers import monte_carlo as mc
from helpers.seeds import shifted
from helpers.tables import grid

from bayesbias.inference.fitting import build, fit
from bayesbias.inference.graph import axes_of_effects, pymc_model
from bayesbias.models.design import Design
from bayesbias.models.spec import load_model


@pytest.mark.parametrize("model", ["robust", pytest.param("default", marks=pytest.mark.claim)])
def test_axes_are_a_change_of_coordinates(model):
    """The density along the axes is that of the plain model at the same point, but for a constant."""
    design = Design.of(load_model(model), grid((2, 2), (2, 2), 0, 2))
    center, root = axes_of_effects(design)
    along = pymc_model(design, (center, root))
    normal = [name for name in design.spec.location_parameters()]
    identity = pymc_model(design, (np.zeros_like(center), np.eye(len(center))))
    logps = [one.compile_logp(mode="FAST_COMPILE") for one in (along, identity)]
    start, rng = along.initial_point(), np.random.default_rng(0)
    differences = []
    for _ in range(3):
        point = {name: value + rng.normal(0, 0.3, np.shape(value)) for name, value in start.items()}
        moved = {**point, "standard": center + root @ point["standard"]}
        differences.append(float(logps[0](point)) - float(logps[1](moved)))
    np.testing.assert_allclose(differences, differences[0], atol=1e-8)
    assert sum(design.size(name) for name in normal) == len(center)


def agree(ours, sampled, least):
    """Mean and SD of every parameter agree within Monte Carlo errors."""
    for name in ours.spec.parameters:
        both = ours.idata["posterior"][name], sampled["posterior"][name]
        for estimate, method in ((mc.mean, "mean"), (mc.log_sd, "sd")):
            assert min(mc.effective(draws, method).min() for draws in both) > least, name
            mc.assert_near(estimate(both[0]), estimate(both[1]), name)


@pytest.mark.parametrize(
    ("model", "table", "draws"),
    [
        pytest.param("hierarchical", ((2, 2), (2, 2), 0, 2), 1000, marks=pytest.mark.claim),
        pytest.param("default", ((3, 3), (4, 4), 0, 4), 4000, marks=pytest.mark.claim),
        pytest.param("crossed", ((3, 3), (4, 4), 3, 4), 4000, marks=pytest.mark.claim),
        pytest.param("change", ((3, 3), (4, 4), 0, 4), 4000, marks=pytest.mark.claim),
    ],
)
def test_nuts_samples_what_is_built_and_agrees_with_the_exact_reduction(model, table, draws):
    frame = grid(*table).assign(change=lambda own: own["distance"] - 0.9)
    ours = fit(frame, model, seed=shifted(1), draws=2000)
    assert ours.provenance["sampler"]["method"] == "collapsed"
    with build(model, frame):
        sampled = pm.sample(
            draws, tune=1000, chains=2, cores=2, random_seed=shifted(2), target_accept=0.95,
            nuts_sampler="nutpie", progressbar=False, compute_convergence_checks=False,
        )  # fmt: skip
    agree(ours, sampled, draws / 25)
