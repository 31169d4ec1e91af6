"""The checks that every room shares: what they take, what they refuse, and the words they refuse it in."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import plain
from bayesbias.core.packages import needed, versions_of

NAN, INF = math.nan, math.inf


WHOLE = "expected a whole number"


@pytest.mark.parametrize(
    ("check", "values", "words"),
    [
        (lambda v: checks.count(v, "n"), [0, 1.0, True], f"{WHOLE} of at least 1"),
        (lambda v: checks.count(v, "n", 1, 200), [0, 201], f"{WHOLE} from 1 to 200"),
        (lambda v: checks.finite(v, "n"), [NAN, INF, "1", True, 10**400], "expected a finite number"),
        (lambda v: checks.positive(v, "n"), [0, -1, NAN], "expected a finite number above 0"),
        (lambda v: checks.within(v, "n", 0, 100), [-1, 100.5, NAN], "expected a number from 0 to 100"),
        (lambda v: checks.probability(v, "n"), [0, 1, 95, "0.9"], "expected a number between 0 and 1"),
        (lambda v: checks.text(v, "n"), ["", 3], "expected a non-empty string"),
        (lambda v: checks.texts(v, "n", 2), [["a"], "ab"], "expected a list of texts"),
        (lambda v: checks.table(v, "n"), [[], "a"], "expected a table"),
        (lambda v: checks.several(v, "n"), ["abc", 3], "expected a list"),
        (lambda v: checks.path(v, "n"), ["", "a\0b", 3], "expected the path of a file"),
    ],
)  # fmt: skip
def test_what_is_refused_is_named_with_its_place(check, values, words):
    for value in values:
        with pytest.raises(InputError, match="^n: " + re.escape(words)) as caught:
            check(value)
        assert "got " in str(caught.value)
        assert len(str(caught.value)) < 200


def test_a_choice_names_the_valid_ones_and_the_nearest():
    with pytest.raises(InputError) as caught:
        checks.choice("exakt", ("exact", "bounds"), "own.toml, method")
    assert str(caught.value) == (
        "own.toml, method: expected exact or bounds, got 'exakt'. Did you mean 'exact'?"
    )
    with pytest.raises(
        InputError, match=r"key: expected a or 2, got \[1\].$"
    ):  # what cannot be hashed is refused too
        checks.choice([1], {"a": 1, 2: 3}, "key")


def test_unknown_and_missing_keys_are_raised_or_gathered():
    checks.known_keys({"a": 1, "b": 2}, ("a", "b", "c"), "x", needed=("a",))
    with pytest.raises(InputError) as caught:
        checks.known_keys({"colour": 1, "e": 2}, ("color",), "own.toml, [x]")
    assert str(caught.value) == (
        "own.toml, [x], key: expected color, got 'colour'. Did you mean 'color'?"
    )
    with pytest.raises(InputError, match=r"^x: expected the keys 'a' and 'b', got \['c'\].$"):
        checks.known_keys({"c": 1}, ("a", "b", "c"), "x", needed=("a", "b"))
    problems: list[InputError] = []
    checks.known_keys({"d": 1, 5: 2}, ("a", "b"), "x", needed=("b",), problems=problems)
    assert [str(problem).partition(", got")[0] for problem in problems] == [
        "x, key: expected a or b",
        "x, key: expected a or b",
        "x: expected the key 'b'",
    ]
    many = [f"key{i}" for i in range(20)]
    with pytest.raises(
        InputError, match="key19"
    ):  # every valid key is named, not only the first few
        checks.known_keys({"nothing": 1}, many, "x")


def test_what_stands_twice_is_named():
    assert checks.repeated([3, 1, 3, 2, 1, 3]) == [3, 1]
    assert checks.distinct(("a", "b"), "word", "x") == ("a", "b")
    with pytest.raises(InputError, match=r"^x: expected each word once, got 'b' twice or more.$"):
        checks.distinct(["a", "b", "b"], "word", "x")


def test_plain_values_are_what_json_holds():
    import json

    import pandas as pd

    value = {
        1: np.float32(0.5),
        "array": np.array([[1, 2], [3, 4]]),
        "none": [NAN, INF, np.nan, pd.NA, np.float64("nan")],
        "text": np.str_("a"),
        "flag": np.bool_(True),
        "nested": ({"a": np.array([NAN, 1.0])},),
    }
    assert plain(value) == {
        "1": 0.5, "array": [[1, 2], [3, 4]], "none": [None] * 5, "text": "a", "flag": True,
        "nested": [{"a": [None, 1.0]}],
    }  # fmt: skip
    json.dumps(plain(value), allow_nan=False)


def test_an_extra_that_is_absent_names_the_line_that_installs_it(monkeypatch):
    import sys

    assert needed("dask", "json", purpose="a test").__name__ == "json"
    assert [module.__name__ for module in needed("x", "json", "math", purpose="a test")] == [
        "json",
        "math",
    ]
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(InputError) as caught:
        needed(
            "classifiers", "sklearn", purpose="a test", where="x.joblib", instead="something else"
        )
    assert str(caught.value) == (
        "x.joblib: a test needs scikit-learn, which is not installed. Use something else. "
        "Install it in a checkout: pip install '.[classifiers]'"
    )


def test_versions_are_those_installed():
    import bayesbias

    assert versions_of("bayesbias") == {"bayesbias": bayesbias.__version__}
    assert versions_of("numpy") == {"numpy": np.__version__}


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ((0, 1, 4), "draws: expected a whole number of at least 1, got 0"),
        ((True, 1, 4), "draws: expected a whole number"),
        ((1, float("nan"), 4), "tune: expected a whole number"),
        ((1, 1, "4"), "chains: expected a whole number"),
    ],
)
def test_draws_that_are_no_numbers_are_refused_before_the_work(asked, says):
    with pytest.raises(InputError, match=says):
        checks.sampling(*asked)
