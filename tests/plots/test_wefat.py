"""The figures of a single-category test show its numbers."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.covariates import made_up_test
from matplotlib.figure import Figure

from bayesbias.core.errors import InputError
from bayesbias.plots.wefat import plates, plot_correlations, plot_covariate


@pytest.fixture(scope="module")
def result():
    return made_up_test(far=0.3)


def test_points_line_and_band_are_those_of_the_result(result) -> None:
    ax = plot_covariate(result, ax=Figure().subplots())
    drawn = {line.get_label(): line for line in ax.lines}
    at = result.predict([0.0, 100.0])
    line = drawn["_line"]
    np.testing.assert_allclose(np.interp(50, *line.get_data()), at["line"].mean(), atol=1e-9)
    (off,) = [c for c in ax.containers if c.get_label() == "_off"]
    first = result.frame.iloc[6]
    assert off.lines[0].get_xydata().tolist() == [[first["covariate"], first["association"]]]
    (on,) = [c for c in ax.containers if c.get_label() == "_on"]
    np.testing.assert_allclose(on.lines[0].get_ydata(), result.frame["association"].drop(6))
    ends = on.lines[2][0].get_segments()
    np.testing.assert_allclose([s[1][1] for s in ends], result.frame["hpdi_high"].drop(6))


@pytest.mark.slow
def test_targets_off_the_line_are_named_in_bold(result) -> None:
    texts = {t.get_text(): t for t in plot_covariate(result, ax=Figure().subplots()).texts}
    assert texts["t6"].get_fontweight() == "bold"
    assert "t2" in texts
    alone = [t.get_text() for t in plot_covariate(result, names=False, ax=Figure().subplots()).texts]
    assert "t6" in alone
    assert "t2" not in alone


def test_both_correlations_have_their_interval(result) -> None:
    ax = plot_correlations(result, ax=Figure().subplots())
    spans = [line.get_xdata().tolist() for line in ax.lines if line.get_label() == "_interval"]
    known, true = result.published, result.true_correlation
    assert spans == [[known.low, known.high], [true.hpdi_low, true.hpdi_high]]


def test_plates_and_what_is_no_test(result) -> None:
    assert [plate.name for plate in plates(result)] == ["covariate", "correlations"]
    with pytest.raises(InputError, match="wefat"):
        plot_covariate(result.frame)
