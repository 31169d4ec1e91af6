"""The columns of tables of contrasts: those of the screen, and all others with `detail`."""

import pandas as pd
import pytest
from helpers.draws import made_up_fit
from helpers.every_figure import DATA
from helpers.tables import grid

import bayesbias as bb
from bayesbias.inference.estimates import COLUMNS

SCREEN = ["mean", "hpdi_low", "hpdi_high", "p_below_zero", "p_in_rope"]
LABELS = ["level", "name", "contrast", "estimand"]
ENDS = ["", "_low", "_high"]


@pytest.fixture(scope="module")
def result():
    return made_up_fit(grid(), "crossed")


def test_a_fit_has_the_columns_of_the_screen_and_d(result):
    frame, whole = result.contrasts(0.8, 0.03), result.contrasts(0.8, 0.03, detail=True)
    assert list(frame) == [*LABELS, *SCREEN, "d", "verdict"]
    assert set(whole) == {*LABELS, *COLUMNS, "d"}
    pd.testing.assert_frame_equal(frame, whole[list(frame)], check_exact=True)
    assert list(result.contrast_rows(0.8, 0.03)) == [name for name in whole if name != "d"]


@pytest.mark.parametrize("estimand", [None, "one_new_word", "one_new_pair"])
@pytest.mark.parametrize("figure", ["plot_contrasts", "plot_slopes"])
def test_d_is_the_mean_in_sds_of_single_pairs(figure, estimand):
    """Of models with slopes too, where the ratio is taken draw by draw."""
    fit = DATA[figure][1]()
    standard = fit.standardized(estimand=estimand)
    assert fit.contrasts(estimand=estimand)["d"].tolist() == pytest.approx(
        standard["mean"].tolist(), rel=1e-9
    )


def test_noise_without_a_variance_has_no_d():
    fit = made_up_fit(grid(), "robust")
    assert "d" not in fit.contrasts()
    assert "d" not in fit.contrasts(detail=True)


@pytest.mark.parametrize(
    ("figure", "labels", "more"),
    [
        ("plot_changes", ["method", *LABELS], ("before", "after")),
        ("plot_corpora", ["change", *LABELS], ("first", "last")),
        ("plot_replicates", LABELS, ()),
        ("plot_response_items", ["model", "contrast", "level", "name", "estimand", "scale"], ()),
    ],
)
def test_other_results_have_the_columns_of_the_screen(figure, labels, more):
    found = DATA[figure][1]()
    frame, whole = found.contrasts(), found.contrasts(detail=True)
    ends = [f"{when}{end}" for when in more for end in ENDS]
    others = {
        "plot_changes": ["verdict_after", "by_construction"],
        "plot_replicates": ["sd_within", "sd_between", "share_between", "df"],
    }.get(figure, [])
    assert list(frame) == [*labels, *SCREEN, "verdict", *ends, *others]
    pd.testing.assert_frame_equal(frame, whole[list(frame)], check_exact=True)
    assert {"sd", "prob", "rope", "mcse_low"} <= set(whole)


def test_a_latex_table_of_some_rows_knows_their_interval(result):
    rows = result.contrasts(0.7).query("level == 'overall'")
    assert r"70\% HPDI" in bb.output.latex_table(rows)
    whole = result.contrasts(0.7, detail=True).query("level == 'overall'")
    assert r"70\% HPDI" in bb.output.latex_table(whole)


def test_what_subtracts_and_pools_results_takes_all_columns(result):
    """`difference` has the Monte Carlo errors of means, which plain contrasts do not show."""
    other = made_up_fit(grid(), "crossed", seed=2)
    table = bb.difference(result, other, level="overall", estimand="population").table
    assert (table["mcse_mean"] > 0).all()
