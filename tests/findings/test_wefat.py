"""What a single-category test says."""

from __future__ import annotations

import pytest
from helpers.covariates import made_up_test

from bayesbias.findings.of_result import findings_of


@pytest.mark.parametrize(
    ("slope", "said"),
    [
        (
            0.04,
            "The higher its percent_women, the nearer a target of made up lies to female rather than to male words: "
            "one standard deviation of percent_women goes with +",
        ),
        (
            -0.04,
            "The higher its percent_women, the nearer a target of made up lies to male rather than to female words: "
            "one standard deviation of percent_women goes with -",
        ),
        (
            0.0,
            "Whether a target of made up lies nearer to female or to male words the higher its percent_women is open: "
            "one standard deviation of percent_women goes with ",
        ),
    ],
)
def test_the_headline_follows_the_slope(slope, said):
    result = made_up_test(slope, seed=5)
    found = findings_of(result)
    assert found.headline.startswith(said)  # and the interval that decides it follows
    assert "in cosine towards female (89% HPDI" in found.headline
    assert "; true associations correlate with it by " in found.headline
    assert f"r = {result.r:.4f}" in found.sentences[0]
    assert found.notes == (
        "a note",
        "1 target without a vector: zzx",
        "1 word of female and male without a vector: hers",
    )


def test_the_true_correlation_is_not_said_to_lie_on_one_side_of_the_undivided_one():
    """It may be drawn towards zero by the prior as well as away from it, as noise is left out."""
    for slope in (0.04, 0.002):
        said = findings_of(made_up_test(slope, seed=5)).sentences[1]
        assert "So it may be the stronger or the weaker." in said
        assert "from there" not in said


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
