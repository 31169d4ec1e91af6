"""Effects are drawn where they are read, and are the same each time."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from helpers.definitions import SETTINGS

from bayesbias.inference.effects import Effects, effects_of
from bayesbias.inference.fitting import fit
from bayesbias.inference.likelihood import collapse


@pytest.fixture
def effects(crossed) -> Effects:
    seed = crossed.provenance["sampler"]["seed"]
    return effects_of(crossed.idata["posterior"].to_dataset(), crossed.design, seed)


def test_effects_are_those_of_the_reduction(crossed, effects):
    """One draw of all effects for each draw of the scales, from the seed's own stream."""
    reduced = collapse(crossed.design)
    scales = {name: crossed.draws()[name] for name in reduced.scales}
    rng = np.random.default_rng(np.random.SeedSequence([crossed.design.stream(effects.seed), 1]))
    expected = reduced.draw_effects(
        np.log(np.column_stack([scales[name].reshape(400, -1) for name in reduced.scales])), rng
    )
    assert set(expected) == set(crossed.spec.location_parameters())
    for name, values in expected.items():
        np.testing.assert_array_equal(crossed.draws()[name], values)
        np.testing.assert_array_equal(effects.drawn[name].reshape(values.shape), values)


def test_a_tree_offers_every_parameter_and_holds_the_scales(crossed, effects, pairs):
    posterior = crossed.idata["posterior"]
    assert list(posterior.data_vars) == list(crossed.spec.parameters)
    assert posterior["attribute_effect"].dims == ("chain", "draw", "attribute")
    drawn = effects.drawn
    np.testing.assert_array_equal(
        posterior["attribute_effect"].to_numpy(), drawn["attribute_effect"]
    )
    np.testing.assert_array_equal(
        posterior["word_by_connection"][1, 3:9:2, :, 0], drawn["word_by_connection"][1, 3:9:2, :, 0]
    )
    chosen = posterior["word_by_connection"].sel(connection="human", protected_word=["b1", "a1"])
    at = [posterior["protected_word"].to_numpy().tolist().index(word) for word in ("b1", "a1")]
    np.testing.assert_array_equal(chosen, drawn["word_by_connection"][:, :, at, 2])
    np.testing.assert_array_equal(
        posterior["attribute_effect"].transpose("attribute", ...),
        np.moveaxis(drawn["attribute_effect"], -1, 0),
    )
    content = pickle.dumps(fit(pairs, "crossed", **SETTINGS).idata)  # of which nothing was read yet
    effects_bytes = 8 * sum(values.size for values in drawn.values())
    without = pickle.dumps(crossed.idata["posterior"].to_dataset().drop_vars(list(drawn)))
    assert len(content) < len(without) + effects_bytes
    back = pickle.loads(content)
    np.testing.assert_array_equal(back["posterior"]["attribute_effect"], drawn["attribute_effect"])
