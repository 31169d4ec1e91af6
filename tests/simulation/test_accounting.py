"""Covers, width and sign, of intervals made by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.seeds import shifted

from bayesbias.simulation.accounting import accounts, engine_in_words, standard_error_of_share


def test_a_report_counts_what_its_rows_say():
    """Four intervals of a difference of 1: two hold it, three leave out zero, one of them on the wrong side."""
    ends = [(0.5, 1.5), (-0.2, 1.2), (2.0, 3.0), (-2.0, -1.0)]
    rows = [
        {"method": "m", "contrast": "a - b", "estimate": (low + high) / 2, "low": low, "high": high}
        for low, high in ends
    ]
    rows += [{"method": "weat", "contrast": "a - b", "p_value": p} for p in (0.01, 0.2, 0.1, 0.12)]
    report = accounts(rows, {("a - b",): 1.0}, ["m", "weat"], 0.89, ["contrast"]).set_index("method")
    row = report.loc["m"]
    assert row[["coverage", "called", "wrong_sign"]].tolist() == [0.5, 0.75, 0.25]
    assert row["bias"] == pytest.approx((1.0 + 0.5 + 2.5 - 1.5) / 4 - 1)
    assert row["width"] == pytest.approx((1.0 + 1.4 + 1.0 + 1.0) / 4)
    assert row["bias_se"] == pytest.approx(np.std([1.0, 0.5, 2.5, -1.5], ddof=1) / 2)
    assert (report.loc["weat", "called"], report.loc["weat", "tables"]) == (0.5, 4)
    assert np.isnan(report.loc["weat", "coverage"])
    none = accounts(rows, {("a - b",): 0.0}, ["m"], 0.89, ["contrast"]).iloc[0]
    assert none["coverage"] == 0.25
    assert np.isnan(none["wrong_sign"])  # there is no direction to be wrong about


def test_seconds_convergence_and_error_are_those_of_the_answers():
    ends = [(0.5, 1.5, 0.1, True), (-0.2, 1.2, 0.3, False), (2.0, 3.0, 9.0, True)]
    rows = [
        {"method": "m", "level": "class", "name": "x", "contrast": "a - b", "estimate": (low + high) / 2, "low": low,
         "high": high, "seconds": seconds, "converged": ok}
        for low, high, seconds, ok in ends
    ]  # fmt: skip
    labels = ["level", "name", "contrast"]
    truth = {("class", "x", "a - b"): -1.0, ("class", "y", "a - b"): 0.0}
    report = accounts(rows, truth, ["m", "absent"], 0.89, labels)
    assert report[["method", *labels]].to_numpy().tolist() == [["m", "class", "x", "a - b"]]
    row = report.iloc[0]
    assert row["coverage"] == 0
    assert row["wrong_sign"] == pytest.approx(2 / 3)  # above zero, where the truth is below
    assert row["rmse"] == pytest.approx(np.sqrt((2.0**2 + 1.5**2 + 3.5**2) / 3))
    assert (row["seconds"], row["converged"]) == (0.3, pytest.approx(2 / 3))
    assert row["coverage_se"] == standard_error_of_share(0.0, 3) > 0


def test_what_sampled_the_fits_is_said_with_how_often():
    frame = pd.DataFrame(
        {
            "method": ["default", "default", "crossed", "weat"],
            "tables": [1000, 1000, 1000, 1000],
            "quick": [0.997, 0.997, 1.0, np.nan],
        }
    )
    said = engine_in_words(frame, "quick")
    assert "NUTS took over: of cells in 0.3% of 1,000." in said
    assert "crossed" not in said
    assert engine_in_words(frame[frame["method"] == "crossed"], "quick").endswith("in every one.")
    assert engine_in_words(frame, "nuts") == "Fits by NUTS."
    assert engine_in_words(frame[frame["method"] == "weat"], "quick") == ""


@pytest.mark.slow
def test_errors_are_those_of_other_tables():
    """Of accounts of many sets of tables, each quantity varies as its error says."""
    rng = np.random.default_rng(shifted(4))
    n, sets, found = 60, 200, []
    for _ in range(sets):
        estimate, half = rng.normal(0.1, 0.2, n), rng.uniform(0.1, 0.4, n)
        rows = [
            {"method": "m", "contrast": "c", "estimate": e, "low": e - h, "high": e + h}
            for e, h in zip(estimate, half, strict=True)
        ]
        found.append(accounts(rows, {("c",): 0.05}, ["m"], 0.89, ["contrast"]).iloc[0])
    frame = pd.DataFrame(found)
    for name in ("coverage", "wrong_sign", "rmse", "width", "bias"):
        ratio = frame[name].std(ddof=1) / frame[f"{name}_se"].mean()
        # A standard deviation from so many sets is known to 1 / sqrt(2 n) of itself; shares add two of each kind.
        assert abs(np.log(ratio)) < 5 / np.sqrt(2 * sets), name
