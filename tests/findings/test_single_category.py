"""What a single-category test says."""

from __future__ import annotations

import pytest
from helpers.facts import made_up_test

from bayesbias.findings.of_result import findings_of


@pytest.mark.parametrize(
    ("slope", "said"),
    [
        (0.04, "nearer to female than to male"),
        (-0.04, "nearer to male than to female"),
        (0.0, "not shown to be nearer"),
    ],
)
def test_the_headline_follows_the_slope(slope, said):
    result = made_up_test(slope, seed=5)
    found = findings_of(result)
    assert said in found.headline
    assert f"r = {result.r:.4f}" in found.sentences[0]
    assert found.notes == (
        "a note",
        "1 target without a vector: zzx",
        "1 word of female and male without a vector: hers",
    )


@pytest.mark.slow
def test_targets_off_the_line_are_named_with_their_side():
    assert "t6 nearer to female than" in findings_of(made_up_test(far=0.3)).sentences[-1]
    assert "t6 nearer to male than" in findings_of(made_up_test(far=-0.3)).sentences[-1]
    assert (
        findings_of(made_up_test()).sentences[-1]
        == "Of no target the 89% interval of its distance from the line excludes 0."
    )


def test_nothing_is_concluded_from_chains_that_disagree():
    found = findings_of(made_up_test(apart=0.01))
    assert "no conclusion" in found.headline
    assert found.problems
    assert len(found.sentences) == 1
