"""Lists dealt anew: none of the deals is the real one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from helpers.seeds import shifted

import bayesbias as bb
from bayesbias.simulation.shuffles import _dealt, _partition, deals, negative_controls

SMALL = {
    "x": {"protected": ["she", "woman"], "attributes": ["art", "poetry"]},
    "y": {"protected": ["he", "man"], "attributes": ["science", "math"]},
}


@pytest.mark.parametrize("labels", ["aabb", "aab", "aabbcc", "aaabb"])
def test_deals_are_counted_and_all_drawn_but_the_real_one(labels):
    every = {_partition(order) for order in itertools.permutations(labels)}
    assert deals(labels) == len(every) - 1
    rng = np.random.default_rng(shifted(1))
    drawn = {_partition(_dealt(list(labels), rng)) for _ in range(400)}
    assert drawn == every - {_partition(labels)}


def test_a_short_list_is_not_held_to_its_own_deal():
    """Two of six deals of two and two words were the real one, and were called: a third of all, beyond any promise."""
    found = negative_controls(
        "minilm-static", SMALL, kinds=["shuffled_classes"], tables=12, seed=shifted(1), draws=100, tune=100,
        controls="none", progress=False,
    )  # fmt: skip
    row = found[found["kind"] == "shuffled_classes"].iloc[0]
    assert row["called_se"] > 0.15  # of two deals, however often they come
    one = {name: {**own, "protected": own["protected"][:1]} for name, own in SMALL.items()}
    with pytest.raises(bb.InputError):
        negative_controls("minilm-static", one, kinds=["shuffled_classes"], tables=2, controls="none")
