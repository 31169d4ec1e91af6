"""Effects are drawn where they are read, and are the same each time."""

import pickle

import numpy as np
from helpers.definitions import SETTINGS

from bayesbias.inference.fitting import fit
from bayesbias.inference.likelihood import collapse


def test_effects_are_those_of_the_reduction(crossed):
    """One draw of all effects for each draw of the scales, from the seed's own stream."""
    reduced = collapse(crossed.design)
    scales = {name: crossed.parameter_draws()[name] for name in reduced.scales}
    stream = crossed.design.stream(crossed.provenance["sampler"]["seed"])
    rng = np.random.default_rng(np.random.SeedSequence([stream, 1]))
    expected = reduced.draw_effects(
        np.log(np.column_stack([scales[name].reshape(400, -1) for name in reduced.scales])), rng
    )
    assert set(expected) == set(crossed.spec.location_parameters())
    for name, values in expected.items():
        np.testing.assert_array_equal(crossed.parameter_draws()[name], values)


def test_a_fit_offers_every_parameter_and_holds_the_scales(crossed, pairs):
    posterior = crossed.idata["posterior"]
    assert list(posterior.data_vars) == list(crossed.spec.parameters)
    assert posterior["attribute_effect"].dims == ("chain", "draw", "attribute")
    drawn = crossed.parameter_draws()["word_by_connection"].reshape(2, 200, 5, 4)
    chosen = posterior["word_by_connection"].sel(connection="human", protected_word=["b1", "a1"])
    at = [posterior["protected_word"].to_numpy().tolist().index(word) for word in ("b1", "a1")]
    np.testing.assert_array_equal(chosen, drawn[:, :, at, 2])
    again = fit(pairs, "crossed", **SETTINGS)
    assert set(again.sampled["posterior"].data_vars) == set(collapse(again.design).scales)
    back = pickle.loads(pickle.dumps(again))
    np.testing.assert_array_equal(
        back.idata["posterior"]["attribute_effect"], posterior["attribute_effect"]
    )
