"""An overall difference that lies outside those of all classes, since lists are of unequal length."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.seeds import shifted

import bayesbias as bb

SIZES = {"a": 12, "b": 4}


def table(sizes=None, farther=0.15, own=0.03):
    """Return pairs of which one class is farther from everything, and all words are farther from their own stereotypes."""
    sizes = sizes or SIZES
    rng = np.random.default_rng(shifted(3))
    rows = [
        (
            f"{c}{i}", c, f"{d}_{j}", d, "associated" if c == d else "different",
            0.8 + farther * (c == "b") + own * (c == d) + rng.normal(0, 0.03),
        )
        for c, n in sizes.items() for i in range(n) for d, m in sizes.items() for j in range(m)
    ]  # fmt: skip
    names = ["protected_word", "protected_class", "attribute", "attribute_class", "connection", "distance"]
    return bb.load_distances(pd.DataFrame(rows, columns=names))


def findings(pairs):
    fit = bb.fit(pairs, seed=shifted(1), engine="quick", draws=500, pointwise=False, progress=False)
    return bb.findings_of(fit)


def test_a_difference_that_no_class_has_is_doubted_and_the_headline_says_so():
    found = findings(table())
    assert "are nearer" in found.headline
    assert "No class goes that way, as lists are of unequal length: read the classes." in found.headline
    (doubt,) = [doubt for doubt in found.doubts if doubt.kind == "unequal_lists"]
    assert (doubt.level, doubt.contrast) == ("overall", "associated - different")
    assert "which is below that of every class: a +0.0" in doubt.text


def test_so_it_is_where_classes_have_no_difference_of_their_own():
    found = findings(table(farther=0.3, own=0.0))
    assert "No class shows that by itself" in found.headline or "No class goes that way" in found.headline


@pytest.mark.parametrize(
    ("sizes", "farther"), [({"a": 8, "b": 8}, 0.15), (SIZES, 0.0)], ids=["equal lists", "classes alike"]
)
def test_where_classes_weigh_alike_or_are_alike_nothing_is_doubted(sizes, farther):
    found = findings(table(sizes, farther))
    assert not [doubt for doubt in found.doubts if doubt.kind == "unequal_lists"]
    assert "No class" not in found.headline


def test_a_class_that_stands_on_one_side_alone_is_named():
    """Words of a third class without stereotypes of its own, far from everything, on equal lists."""
    whole = table({"a": 6, "b": 6}, farther=0.0, own=0.0).frame
    third = whole[whole["protected_class"] == "b"].assign(protected_class="c", connection="different")
    third["protected_word"] = "c" + third["protected_word"].astype(str)
    third["distance"] += 0.3
    frame = pd.concat([whole.astype({"protected_class": str, "connection": str}), third], ignore_index=True)
    found = findings(bb.load_distances(frame[list(whole.columns)]))
    (doubt,) = [doubt for doubt in found.doubts if doubt.kind == "unequal_lists"]
    assert (
        "; c has different pairs alone of the two, and how near a class is to everything enters" in doubt.text
    )
    assert "as c has different pairs alone of the two: read the classes." in found.headline
