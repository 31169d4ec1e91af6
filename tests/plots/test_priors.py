"""Priors: what a model holds possible before it has seen a pair."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
from helpers.figures import drawn, simulated
from helpers.seeds import shifted

import bayesbias
from bayesbias.core.errors import InputError
from bayesbias.models.loading import load_model
from bayesbias.plots import priors
from bayesbias.plots.priors import plot_priors
from bayesbias.wordlists.pairing import CONNECTIONS


def test_prior_means_are_those_of_the_estimand() -> None:
    frame = simulated({"men": ["he", "him", "his"], "women": ["she", "her", "hers"]})
    hierarchical = priors._prior_means(load_model("crossed"), frame, 0)
    additive = priors._prior_means(load_model("additive"), frame, 0)
    for name in CONNECTIONS:
        # cbar ~ Normal(1, 0.3); and the mean of six shifts plus a coefficient: 0.25 / 6 + 0.25.
        assert hierarchical[name].mean() == pytest.approx(1, abs=0.02)
        assert hierarchical[name].std() == pytest.approx(0.3, rel=0.04)
        assert additive[name].std() == pytest.approx(np.sqrt(0.25 / 6 + 0.25), rel=0.04)


def test_the_impossible_share_is_computed(tmp_path: Path, ax: Any) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        'schema = 1\nname = "own"\ndescription = "for a test"\n'
        '[likelihood]\noutcome = "distance"\ndistribution = "Normal"\nmu = ["c"]\nsigma = 0.461\n'
        '[parameter.c]\ndims = ["connection"]\ndistribution = "Normal"\nmu = 1\nsigma = 0.3\n'
    )
    assert plot_priors(own, ax=ax) is ax
    # A pair is Normal(1, 0.55): 2 Phi(-1 / 0.55) = 6.9 % of it lies more than 1 from 1.
    assert [t.get_text() for t in ax.texts if "impossible" in t.get_text()] == ["7% of pairs\nimpossible"] * 4
    shaded = [p for p in ax.patches if p.get_hatch()]
    spans = [p.get_extents().transformed(ax.transData.inverted()).intervalx for p in shaded]
    np.testing.assert_allclose(spans, [[-1, 0], [2, 3]], atol=1e-9)
    with pytest.raises(InputError, match="did you mean 'crossed'"):
        plot_priors("crosed", ax=ax)


@pytest.mark.slow
def test_the_contrast_stands_below_prior_and_posterior_side_by_side(ax: Any) -> None:
    frame = simulated({"men": ["he", "him", "his"], "women": ["she", "her", "hers"]})
    table = frame.assign(distance=frame["distance"] - 0.4 * (frame["connection"] == "associated"))
    result = bayesbias.fit(table, "crossed", seed=shifted(1), draws=300, chains=2, pointwise=False)
    plot_priors(result, ax=ax)
    assert [label.get_text() for label in ax.get_yticklabels()][-1] == "associated - different"
    areas = {area.get_label(): area.get_paths()[0].vertices for area in ax.collections}
    prior, posterior = (areas[f"_{which} of a contrast"] for which in ("prior", "posterior"))
    values = result.draws_of("contrasts", level="overall", estimand="population").to_numpy()[..., 0]
    assert values.min() > posterior[:, 0].min()
    assert values.max() < posterior[:, 0].max()
    peak = posterior[np.argmin(posterior[:, 1]), 0]
    assert abs(peak - values.mean()) < values.std()
    # The prior of a difference of two means with sd 0.3: half of its height lies 1.18 * 0.42 from zero.
    high = prior[prior[:, 1] < 4.42 - 0.4]
    assert np.ptp(high[:, 0]) / 2 == pytest.approx(1.18 * 0.3 * np.sqrt(2), rel=0.15)
    (said,) = [text.get_text() for text in ax.texts if "posterior sd" in text.get_text()]
    before, after = said.split("\n")
    assert float(before.removeprefix("prior sd ")) == pytest.approx(0.3 * np.sqrt(2), abs=0.02)
    digits = after.partition(".")[2]  # as many as its error allows
    assert float(after.removeprefix("posterior sd ")) == pytest.approx(
        values.std(ddof=1), rel=0.1, abs=0.6 * 10 ** -len(digits)
    )
    listed = result.contrasts(level="overall", estimand="population")["sd"].iloc[
        0
    ]  # the number of the page's table
    assert after == f"posterior sd {listed:.{len(digits)}f}"


def test_without_two_connections_there_is_no_contrast(ax: Any) -> None:
    frame = simulated({"men": ["he", "him", "his"], "women": ["she", "her", "hers"]})
    one = frame[frame["connection"] == "neutral"].reset_index(drop=True)
    result = bayesbias.fit(one, "hierarchical", seed=shifted(1), draws=100, chains=2, pointwise=False)
    plot_priors(result, ax=ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["neutral"]


@pytest.mark.parametrize("model", ["additive", "crossed", "hierarchical", "robust"])
@pytest.mark.slow
def test_priors_of_every_model(model: str, ax: Any) -> None:
    plot_priors(model, ax=ax)
    curves = drawn(ax, "_prior predictive of a pair")
    assert len(curves) == 4
    for curve in curves:
        peak = curve.get_xdata()[np.argmin(curve.get_ydata())]
        assert peak == pytest.approx(1, abs=0.2)
    assert f"Model {model}" in [text.get_text() for text in ax.texts]
