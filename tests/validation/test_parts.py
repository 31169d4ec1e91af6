"""The parts of the validation run, on a few cases."""

import pytest

from validation import calibration, pvalues


def test_counts_of_partitions_by_hand():
    assert pvalues.counted([4, 3, 2], [3, 1, -2], 1) == 0.15
    assert pvalues.counted([1], [0], 2) == 1.0


def test_p_values_of_ten_cases_are_right():
    assert all(held for *_, held in pvalues.run(0.001))


@pytest.mark.slow
@pytest.mark.parametrize("model", ["default", "crossed"])
def test_a_table_from_the_prior_has_ranks(model):
    ranks, held = calibration.one(model, 30)
    assert set(ranks) == set(held)
    assert len(ranks) > 100
    assert all(0 <= rank <= 1 for rank in ranks.values())
