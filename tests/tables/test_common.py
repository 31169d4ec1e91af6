"""Tables of the same list keep the words that all of them have."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.tables.joining import keep_common

LIST = {
    "class": [
        {"name": "men", "protected": ["he", "him"], "attributes": ["math", "logic"]},
        {"name": "women", "protected": ["she", "her"], "attributes": ["arts", "dance"]},
    ]
}


def table(words):
    vectors = {word: np.random.default_rng([*word.encode()]).normal(size=4) for word in words}
    return bb.distance_table(vectors, bb.load_wordlist(LIST, controls="none"))


def test_the_others_are_missing_in_the_coverage():
    first = table(["he", "him", "she", "her", "math", "logic", "arts"])
    second = table(["he", "she", "her", "math", "arts", "dance"])
    kept = keep_common([first, second])
    for before, after in zip((first, second), kept, strict=True):
        assert set(after.frame["protected_word"]) == {"he", "she", "her"}
        assert set(after.frame["attribute"]) == {"math", "arts"}
        joined = after.frame.merge(before.frame, on=["protected_word", "attribute"])
        np.testing.assert_array_equal(joined["distance_x"], joined["distance_y"])
        for of in (*after.coverage.protected.values(), *after.coverage.attributes.values()):
            assert of.found + len(of.missing) == of.listed
        assert {"him", "logic", "dance"} <= set(after.coverage.missing)
    assert kept[0].coverage.protected["men"].not_in == {"mapping": ("him",)}
    assert "him" not in first.coverage.missing


def test_tables_without_a_common_pair_are_refused():
    with pytest.raises(InputError, match="words in common"):
        keep_common([table(["he", "she", "math", "arts"]), table(["him", "her", "math", "arts"])])
