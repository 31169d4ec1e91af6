"""Sentences on a comparison say what its draws say of the classes, too."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest
from helpers.changes import NONE, changed, table
from helpers.draws import made_up_comparison

from bayesbias.findings.change import construction_sentences
from bayesbias.findings.of_result import findings_of
from bayesbias.studies.comparison import Comparison
from bayesbias.studies.construction import find_construction
from bayesbias.tables.change import join_pairs
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
    still = made_up_comparison(as_pair_table(before), {"a": as_pair_table(before)}, draws=400)
    assert (
        "and changed by less than 0.00005 either way (89% HPDI: practically unchanged)"
        in findings_of(still).headline
    )
    assert "(root mean square), all by less than 0.005" in said
    assert "single pairs by less than 0.0005 (root mean square)" in said
    assert "root mean square change less than 0.0005, where" in said


@pytest.mark.parametrize("apart", [True, False])
def test_what_is_left_is_said_by_class_and_of_the_listed_words_where_they_alone_disagree(apart, monkeypatch):
    before = table()
    found = made_up_comparison(
        as_pair_table(before), {"a": as_pair_table(changed(before, NONE, 1))}, draws=400
    )
    made = Comparison.contrasts

    def contrasts(self, prob=0.89, rope=0.02, estimand=None, method=None):
        frame = made(self, prob, rope, estimand, method)
        for name, middle in (("x", -0.1), ("y", 0.1 if apart else -0.1)):
            for which, half in (("population", 0.2), ("listed_words", 0.02)):
                mine = (frame["level"] == "class") & (frame["name"] == name) & (frame["estimand"] == which)
                for end, by in (("", 0), ("_low", -half), ("_high", half)):
                    frame.loc[mine, f"after{end}"] = middle + by
                    frame.loc[mine, f"mcse_after{end}"] = 1e-4
        return frame

    monkeypatch.setattr(Comparison, "contrasts", contrasts)
    (part,) = findings_of(found).parts
    (by_class,) = [text for text in part.sentences if text.startswith("By class")]
    (left, sign) = ("+0.100 (-0.100 to +0.300)", "+") if apart else ("-0.100 (-0.300 to +0.100)", "-")
    said = (
        f"own stereotypes less others, after (new words of the class): x -0.100 (-0.300 to +0.100), y {left}"
    )
    assert f"By class, {said}" in by_class
    listed = f"; of the listed words alone x -0.100 (-0.120 to -0.080), y {sign}0.100"
    assert (listed in by_class) is apart
    hidden = "Of the listed words alone the classes disagree, after: nearer for x, farther for y. List by list they do not: "
    assert (hidden in part.headline) is apart


def test_what_is_forced_for_no_word_and_what_controls_would_tell_is_not_said():
    before = table()
    pairs = join_pairs(as_pair_table(before), as_pair_table(changed(before, NONE, 1)))[0]
    plain = find_construction(pairs)
    sets = pd.DataFrame(
        {
            "words": [("x0", "y0")],
            "gap_before": [0.3],
            "gap_after": [1e-16],
            "control_gap_after": [0.0],
            "control_gap_before": [0.1],
        }
    )
    partly = dataclasses.replace(plain, flags=("equalised_partly",), sets=sets)
    nothing = " ".join(construction_sentences(dataclasses.replace(partly, share=0.0)))
    assert "drawn together" not in nothing
    assert "how far the controls drifted" in nothing
    some = " ".join(construction_sentences(dataclasses.replace(partly, share=0.25)))
    assert "drawn together for 25% of the protected words" in some
    assert "how near they are to each other is no evidence of success" in some
    without = dataclasses.replace(partly, share=0.25, controls=partly.controls.iloc[:0])
    assert construction_sentences(without)[-1] == "what can still be learned: the gap there was before"
