"""A ROPE that is wide beside the scatter of pairs is named, and nothing inside it is called equal."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.fits import made_up, pairs

from bayesbias.findings.of_result import findings_of
from bayesbias.findings.wide_rope import rope_doubts, wide_rope
from bayesbias.inference.verdicts import contrast_phrase

SPREADS = {"csd": 0.001, "ws": 0.001}


def narrow(associated: float, model: str = "crossed", scale: float = 1.0, **more):
    """A fit of vectors whose cosines are all much alike: pairs scatter by some 0.007 times `scale`."""
    mean = {"associated": associated, "different": 0.06, "human": 0.06, "neutral": 0.06}
    spreads = {name: scale * value for name, value in SPREADS.items()} | {"sigma": 0.007 * scale}
    return made_up(pairs(mean, 0.007 * scale), model, {"cbar": mean.get, **spreads, **more}, sd=0.0001)


def test_a_wide_rope_is_named_and_nothing_inside_it_is_called_equal():
    found = findings_of(narrow(0.048))
    (doubt,) = [doubt for doubt in found.doubts if doubt.kind == "wide_rope"]
    size = 0.02 / np.sqrt(0.007**2 + 0.001**2 + 0.001**2)
    assert size == pytest.approx(2.8, abs=0.05)
    assert f" The ROPE of 0.02 is {size:.1f} standard deviations of neutral pairs here." in found.headline
    assert "own class are nearer, by less than the ROPE, than the stereotypes" in found.headline
    assert doubt.line in found.lines()
    assert "standardized" in doubt.text


@pytest.mark.parametrize(
    ("ends", "says"),
    [
        ((-0.01, 0.01), "not clearly nearer or farther than"),
        ((0.01, 0.015), "farther, by less than the ROPE, than"),
        ((0.01, 0.03), "farther, though perhaps by little, than"),
        ((-0.05, -0.03), "nearer than"),
    ],
)
def test_only_what_lies_inside_is_called_otherwise(ends, says):
    assert contrast_phrase(*ends, wide=True) == says
    assert (contrast_phrase(*ends) == says) is (ends[1] > 0.02 or ends[0] < -0.02)


@pytest.mark.parametrize(
    ("scale", "rope", "wide"), [(1, 0.0034, False), (1, 0.0038, True), (6, 0.02, False), (5, 0.02, True)]
)
def test_it_is_wide_from_half_a_standard_deviation_on(scale, rope, wide):
    """One of 0.00714 times the scale."""
    assert bool(wide_rope(narrow(0.06, scale=scale), "associated - different", rope)) is wide


def test_noise_without_a_variance_is_held_against_the_distances_at_hand():
    fit = narrow(0.06, "robust", nu=5)
    sd = fit.table.loc[fit.table["connection"] == "neutral", "distance"].std(ddof=0)
    said = wide_rope(fit, "associated - different")
    assert said == f"ROPE of 0.02 is {0.02 / sd:.1f} standard deviations of neutral pairs here"
    assert "standardized" not in rope_doubts(said, standard=False)[0].text
