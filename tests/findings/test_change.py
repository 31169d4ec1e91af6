"""Sentences on a comparison say what its draws say of the classes, too."""

from __future__ import annotations

import pytest
from helpers.changes import NONE, changed, table
from helpers.draws import made_up_comparison

from bayesbias.findings.of_result import findings_of
from bayesbias.tables.reading import as_pair_table


@pytest.mark.parametrize("apart", [True, False])
def test_classes_that_disagree_about_what_is_left_are_named(apart):
    before = table()
    turned = (before["protected_class"] == "y") & (before["connection"] == "associated")
    if apart:
        before.loc[turned, "distance"] += 0.4
    after = changed(before, {**NONE, "associated": -0.1}, 1)
    found = made_up_comparison(as_pair_table(before), {"a": as_pair_table(after)}, draws=400)
    headline = findings_of(found).headline
    assert "it is now" in headline
    assert ("The classes disagree, after: nearer for x, farther for y." in headline) is apart


def test_changes_too_small_to_be_printed_are_said_to_be_less():
    before = table()
    after = changed(before, NONE, 1)
    after["distance"] = before["distance"] + 1e-4 * (after["distance"] - before["distance"])
    found = made_up_comparison(as_pair_table(before), {"a": as_pair_table(after)}, draws=400)
    said = " ".join(findings_of(found).lines())
    assert "(root mean square), all by less than 0.005" in said
    assert "single pairs by less than 0.0005 (root mean square)" in said
    assert "root mean square change less than 0.0005, where" in said
