"""What is said of sentiment: verdicts in the words of other studies, and what carries a mean beside what would anyway."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.draws import made_up_fit

import bayesbias as bb
from bayesbias.findings.of_result import findings_of
from bayesbias.findings.sentiment import carrying_expected
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.verdicts import sentiment_verdict
from bayesbias.studies.sentiment_fit import little_of_ratings


@pytest.fixture(scope="module")
def fit() -> BiasFit:
    table = bb.sentiment_table(bb.list_predictions("m1"))
    made = made_up_fit(table, "sentiment")
    return bb.studies.with_analysis(made, bb.sentiment_analysis(bb.list_predictions("m1")))


@pytest.mark.parametrize("mean", [0.05, 0.3, 0.6, 0.9])
def test_how_many_of_three_carry_their_mean_is_that_of_the_circle(mean):
    """Three standardized values are sqrt(4/3) times the cosines of an angle and of that turned by a third, twice."""
    angles = np.linspace(0, 2 * np.pi, 200_001)[:-1, None] + 2 * np.pi / 3 * np.arange(3)
    x = np.sort(mean + np.sqrt(4 / 3) * np.cos(angles))[:, ::-1]
    counts = np.where(x[:, 1:].sum(axis=1) <= 0, 1, np.where(x[:, 2] <= 0, 2, 3))
    cumulative = np.array([np.mean(counts <= k) for k in (1, 2, 3)])
    assert (
        np.abs(cumulative[:, None] - [0.055, 0.945]).min() > 0.01
    )  # else 4000 samples could not tell the end
    exact = tuple(1 + int(np.argmax(cumulative >= q)) for q in (0.055, 0.945))
    assert carrying_expected(3, mean, 1.0) == carrying_expected(3, -mean, 1.0) == exact


def test_what_carries_the_mean_stands_beside_what_would_carry_it_anyway(fit):
    means = fit.table.groupby("noun_pair", observed=True)["difference"].mean()
    low, high = carrying_expected(len(means), means.mean(), means.std())
    said = " ".join(findings_of(fit).parts[0].lines())
    n = len(bb.findings.carrying_pairs(fit.table, "m1"))
    assert f"{n} of 20 noun pairs carry the difference" in said
    assert (
        f"the same mean and standard deviation the {low} to {high} largest would (in 89% of samples)" in said
    )
    assert ("no more than that the mean is small" in said) == (low <= n <= high)


def test_an_interval_that_reaches_near_zero_is_perhaps_little(fit):
    (little,) = little_of_ratings(fit).values()
    assert little == pytest.approx(0.1 * fit.table["difference"].std())
    ends = (
        (little / 9, 5 * little),
        (-5 * little, -little / 9),
        (little / 9, little / 2),
        (2 * little, 3 * little),
    )
    assert [sentiment_verdict(*each, little) for each in ends] == [
        "female higher, perhaps by little",
        "female lower, perhaps by little",
        "practically alike",
        "female higher",
    ]
    flat = fit.table.assign(difference=0.1)
    assert little_of_ratings(made_up_fit(flat, "sentiment")) == {"m1": None}


def test_the_finding_says_what_little_is_where_it_says_so(fit, monkeypatch):
    (little,) = little_of_ratings(fit).values()
    made = BiasFit.summary

    def summary(self, *args, **kwargs):
        return made(self, *args, **kwargs).assign(
            mean=little,
            hpdi_low=little / 9,
            hpdi_high=2 * little,
            mcse_mean=1e-6,
            mcse_low=1e-6,
            mcse_high=1e-6,
        )

    monkeypatch.setattr(BiasFit, "summary", summary)
    (part,) = findings_of(fit).parts
    assert "; female higher, perhaps by little)" in part.headline
    assert (
        f"A difference is called little below {little:.3f}, 0.1 standard deviations of sentence pairs."
        in part.sentences
    )
