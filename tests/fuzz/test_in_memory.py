"""Odd values handed over in Python where frames, arrays, words and numbers are meant: used as meant, or refused in one line.

Before there was `border.frames`, arrays in another order of bytes, signalling decimals, numbers without a text and half
surrogate pairs ended in errors of pandas and NumPy, and of complex numbers one part was left out without a word.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers import odd_values
from helpers.fits import pairs
from helpers.seeds import shifted

import bayesbias as bb
from bayesbias.core import checks
from bayesbias.core.errors import BayesbiasError
from bayesbias.tables import join_covariates, load_counts
from bayesbias.wordlists.controls import load_controls

COUNTS = [100, pytest.param(3000, marks=pytest.mark.claim)]
WORDS = ["she", "he", "her", "him", "nurse", "cook", "boss", "a"]
PAIRS = pairs().head(24)
TABLE = bb.load_distances(pairs())


def _frame(rng: np.random.Generator) -> Any:
    """Return a frame of pairs of which a column, or its names, are odd."""
    name = str(rng.choice([*PAIRS.columns, "own"]))
    values = odd_values.column(rng, len(PAIRS))
    if rng.random() < 0.4:
        return {**PAIRS.to_dict("list"), name: values}
    try:
        frame = PAIRS.assign(**{name: values})
    except Exception:  # pandas itself refuses it
        return {**PAIRS.to_dict("list"), name: list(values)}
    if rng.random() < 0.2:
        names = [*frame.columns[:-1], odd_values.cells(rng, 1)[0]]
        try:
            return frame.set_axis(pd.Index(names, dtype=object), axis=1)
        except Exception:
            return frame
    return frame


def _vectors(rng: np.random.Generator) -> Any:
    values = odd_values.column(rng, len(WORDS))
    ways: list[Callable[[], Any]] = [
        lambda: (WORDS, values),
        lambda: (list(values), np.eye(len(WORDS))),
        lambda: (WORDS, [[value, 1.0] for value in values]),
        lambda: {word: [value, 1.0] for word, value in zip(WORDS, values, strict=True)},
        lambda: dict(zip(WORDS, values, strict=True)),
        lambda: pd.DataFrame({"word": WORDS}).assign(d1=values, d2=1.0),
        lambda: pd.DataFrame({"word": WORDS}).assign(vector=values),
        lambda: pd.DataFrame(np.eye(len(WORDS))).assign(word=values),
    ]
    try:
        return ways[int(rng.integers(len(ways)))]()
    except Exception:
        return (WORDS, list(values))


def _covariates(rng: np.random.Generator) -> Any:
    words = list(dict.fromkeys(TABLE.frame["attribute"]))
    values = odd_values.column(rng, len(words))
    if rng.random() < 0.5:
        return {"f": dict(zip(words, values, strict=True))}
    try:
        return pd.DataFrame({"word": words}).assign(f=values)
    except Exception:
        return values


def _value(rng: np.random.Generator) -> Any:
    return odd_values.cells(rng, 1)[0] if rng.random() < 0.6 else odd_values.column(rng, len(WORDS))


def _list(rng: np.random.Generator) -> Any:
    odd = list(odd_values.column(rng, 3))
    short = {
        "a": {"protected": odd, "attributes": ["x", "y"]},
        "b": {"protected": ["c", "d"], "attributes": ["z", "w"]},
    }
    query = {"target_sets": [odd, ["c", "d"]], "attribute_sets": [["x", "y"], ["z", "w"]]}
    return short if rng.random() < 0.5 else query


DOORS: dict[str, tuple[Callable[[np.random.Generator], Any], Callable[[Any], Any]]] = {
    "tables": (_frame, bb.load_distances),
    "vectors": (_vectors, bb.load_embedding),
    "words asked for": (lambda rng: odd_values.column(rng, 4), lambda odd: bb.load_embedding(_ones(), odd)),
    "covariates": (_covariates, lambda odd: join_covariates(TABLE, odd)),
    "counts": (lambda rng: dict(zip(WORDS, odd_values.column(rng, 8), strict=True)), lambda odd: load_counts(odd, WORDS)),
    "counted words": (_value, lambda odd: load_counts({"a": 1}, odd)),
    "lists": (_list, bb.load_wordlist),
    "controls": (_value, load_controls),
    "choices": (_value, lambda odd: checks.choice(odd, ("once", "keep"), "choice")),
    "numbers": (_value, lambda odd: checks.finite(odd, "number")),
    "counts of draws": (_value, lambda odd: checks.sampling(odd, 1, 1)),
}  # fmt: skip


def _ones() -> Any:
    return {word: [1.0, 0.5] for word in WORDS}


def is_plain(frame: pd.DataFrame) -> bool:
    return all(
        isinstance(kind, pd.CategoricalDtype) or pd.api.types.is_string_dtype(kind) or kind.kind in "biufO"
        for kind in frame.dtypes
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("door", DOORS)
def test_odd_values_are_used_or_refused_in_one_line(door, count):
    make, hand_over = DOORS[door]
    rng, said = np.random.default_rng(shifted(61)), []
    for case in range(count):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            odd = make(rng)
        try:
            found = hand_over(odd)
        except BayesbiasError as error:
            said.append(str(error))
        else:
            if door == "tables":
                assert is_plain(found.frame), case
                assert np.isfinite(found.frame["distance"]).all(), case
            if door == "vectors":
                assert found.vectors.dtype.isnative, case
                assert np.isfinite(found.vectors).all(), case
    assert [text for text in said if len(text) > 300 or not text.isprintable()] == []


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.array([1j, 1]), "holds no real numbers; found: 'type complex128'"),
        (np.ma.masked_array([1.0, 2.0], [True, False]), "holds numbers that are masked"),
        ([True, False], "holds no real numbers"),
        (["1", "2"], "holds no real numbers"),
    ],
)
def test_vectors_that_are_no_numbers_are_named(values, said):
    with pytest.raises(BayesbiasError, match=said):
        bb.load_embedding({"a": values})


def test_other_orders_of_bytes_and_widths_say_the_same():
    usual = bb.load_distances(PAIRS).frame["distance"]
    for kind in (">f8", "g", "Float64", "category", object, "Sparse[float]"):
        other = bb.load_distances(PAIRS.assign(distance=PAIRS["distance"].astype(kind)))
        assert other.frame["distance"].tolist() == usual.tolist()
        assert other.frame["distance"].dtype == np.dtype(float)
