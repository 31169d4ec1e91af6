"""The words for an interval, and that none is given within Monte Carlo error of a line."""

import numpy as np
import pytest
from helpers.draws import made_up_fit
from helpers.tables import grid

from bayesbias.inference.estimates import COLUMNS
from bayesbias.inference.view import TOO_CLOSE, VERDICTS, place, verdict


@pytest.mark.parametrize(
    ("low", "high", "says"),
    [
        (-0.09, -0.03, "below"),
        (-0.09, -0.01, "below, size uncertain"),
        (-0.019, 0.019, "negligible"),
        (-0.09, 0.03, "inconclusive"),
        (0.01, 0.09, "above, size uncertain"),
        (0.03, 0.09, "above"),
    ],
)
def test_where_an_interval_lies(low, high, says):
    assert place(low, high, 0.02).value == says == verdict(low, high, 0.02, (np.nan, 1e-6))
    assert says in VERDICTS


@pytest.mark.parametrize(
    "ends", [(-0.09, -0.0015), (-0.019, 0.01), (0.0015, 0.09), (-0.019, 0.019), (-0.03, -0.0005)]
)
def test_near_a_line_few_draws_give_no_verdict(ends):
    """With a larger error than 2 % of the width; a smaller one widens the interval."""
    error = 0.021 * (ends[1] - ends[0])
    assert verdict(*ends, 0.02, (error, error)) == TOO_CLOSE
    error = 0.019 * (ends[1] - ends[0])
    assert verdict(*ends, 0.02, (error, error)) in ("inconclusive", "below, size uncertain")
    assert verdict(*ends, 0.02, (0.0001, 0.0001)) != TOO_CLOSE


@pytest.mark.parametrize(("ends", "side"), [((-0.09, -0.021), "below"), ((0.019, 0.09), "above")])
def test_the_side_stands_where_only_the_size_is_near_a_line(ends, side):
    assert verdict(*ends, 0.02, (0.001, 0.001)) == f"{side}, size uncertain"


def test_every_table_has_the_columns_of_the_schema_in_their_order():
    fit = made_up_fit(grid(), "crossed")
    assert [name for name in fit.contrasts(detail=True) if name in COLUMNS] == list(COLUMNS)
    short = [
        name
        for name in COLUMNS
        if name
        not in (
            "observed",
            "p_below_zero",
            "p_in_rope",
            "rope",
            "verdict",
            "mcse_p_below_zero",
            "mcse_p_in_rope",
        )
    ]
    for table in (
        fit.summary(),
        fit.words(),
        fit.parameters(),
        fit.variance_partition(),
        fit.probability_of_superiority(),
    ):
        assert [name for name in table if name in COLUMNS] == short
