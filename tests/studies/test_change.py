"""Changes by level: for whom a method moved distances."""

from __future__ import annotations

import pytest
from helpers import monte_carlo as mc
from helpers.changes import NONE, changed, table
from helpers.draws import made_up_comparison
from helpers.seeds import shifted

from bayesbias.core.errors import BayesbiasError, InputError
from bayesbias.studies.debiasing.comparing import compare
from bayesbias.tables.reading import as_pair_table


@pytest.mark.slow
def test_changes_stand_at_the_levels_that_both_models_know():
    before = table()
    after = as_pair_table(changed(before, NONE, 1))
    both = made_up_comparison(as_pair_table(before), {"a": after})
    assert both.levels_of("a") == {
        "class": "protected_class",
        "attribute_set": "attribute_class",
        "word": "protected_word",
    }
    changes, gaps = (
        frame.set_index(["level", "name"]).sort_index() for frame in (both.changes(), both.contrasts())
    )
    assert set(changes.loc[("attribute_set", "x"), "connection"]) == {"associated", "different"}
    own = changes.loc[("attribute_set", "x")].query("connection == 'associated'")
    assert set(own["n_pairs"]) == {4 * 6}
    assert set(gaps.loc[("attribute_set", "y"), "contrast"]) == {"associated - different"}
    one = made_up_comparison(as_pair_table(before), {"a": after}, level_model="crossed")
    assert list(one.levels_of("a")) == ["word"]
    assert set(one.contrasts()["level"]) == {"overall", "word"}


@pytest.mark.claim  # a fit that must converge
def test_a_class_that_moved_alone_is_not_drawn_to_the_others():
    before = table(words=6, attributes=10)
    after = changed(before, NONE, 7)
    own = (before["protected_class"] == "x") & (before["connection"] == "associated")
    after.loc[own, "distance"] += 0.15
    found = compare(before, after, draws=500, tune=500, chains=2, seed=shifted(1))
    frame = found.contrasts(estimand="population").set_index(["level", "name", "contrast"])
    moved, still = (frame.loc[("class", name, "associated - different")] for name in ("x", "y"))
    raw = (
        found.methods["debiased"]
        .pairs.groupby(["protected_class", "connection"], observed=True)["change"]
        .mean()
    )
    for name, row in (("x", moved), ("y", still)):
        apart = mc.mean_of_row(row) - (raw[name, "associated"] - raw[name, "different"])
        assert abs(apart.value) < row["sd"] + mc.K * apart.error, name
    # What belongs to the class shows there, and the list is told from the words of its class.
    low, _ = mc.ends_of_row(frame.loc[("attribute_set", "x", "associated - different")])
    assert not low.may_stay_below(0)
    assert moved["verdict"].startswith(("below", "above"))
    assert not still["verdict"].startswith(("below", "above"))


_PAIRS = table()


@pytest.mark.parametrize(
    ("debiased", "says"),
    [
        ({"a": _PAIRS, "b": None}, "^method 'b'.*is no table of pairs"),
        ({"a": _PAIRS, "b": _PAIRS.assign(distance=-1.0)}, "^method 'b', data frame, row 0.*out of range"),
        ({"a": _PAIRS.iloc[:0]}, "^method 'a', data frame: the table has no rows"),
        ({"a": _PAIRS, "b": _PAIRS.assign(distance=0.5)}, "^method 'b': every row has the same distance"),
        ([_PAIRS, _PAIRS], "told apart by names; found: 'a list of tables'; valid: a mapping"),
        ({}, "nothing to compare the original with"),
        ({"original": _PAIRS}, "cannot be called as the table before it is; found: 'original'"),
        ({"": _PAIRS}, "^method number 1: must be a text that is not empty"),
        ({"a": _PAIRS, 1: _PAIRS}, "^method number 2: must be a text.*found: 1"),
        ({"a": _PAIRS, "a ": _PAIRS}, "two methods have one name"),
        ({"a\nb": _PAIRS}, "^method number 1: holds a tab"),
    ],
)
def test_what_is_wrong_with_one_of_several_tables_names_it(debiased, says):
    with pytest.raises(BayesbiasError, match=says):
        compare(_PAIRS, debiased, draws=50, tune=50, chains=2, seed=shifted(1))


def test_a_mapping_of_tables_is_no_original():
    with pytest.raises(InputError, match=r"one table is the original.*come second, by names"):
        compare({"a": _PAIRS}, _PAIRS)
