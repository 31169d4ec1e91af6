"""What every public value has in common: an answer to `==` and `in`, a hash that agrees, a `repr` for notebooks."""

from __future__ import annotations

import copy
import dataclasses
import html
import importlib
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.places import rooms
from helpers.seeds import shifted

import bayesbias as bb
from bayesbias.core.values import Shown, as_html
from bayesbias.models.spec import RESULTS_OF_PAIRS
from bayesbias.scores.permutation import permutation_test
from bayesbias.simulation.nulls import null_distribution
from bayesbias.simulation.paper import PAPER_CASES, paper_draws
from bayesbias.simulation.scenario import Scenario
from bayesbias.sweeps.plan import SweepPlan
from bayesbias.sweeps.result import SweepResult
from bayesbias.tables.coverage import Coverage
from bayesbias.wordlists.occupations import load_occupations

CLASSES = sorted(
    {
        value
        for room in rooms()
        if room != "inference.kernel"
        for value in vars(importlib.import_module(f"bayesbias.{room}")).values()
        if dataclasses.is_dataclass(value)
        and isinstance(value, type)
        and value.__module__.startswith("bayesbias")
    },
    key=lambda cls: cls.__qualname__,
)
# What has no content that `==` could compare: frames, arrays, trees and draws, and what holds them.
NO_CONTENT = re.compile(r"DataFrame|Series|ndarray|NDArray|Floats|DataTree|BiasFit|PairTable|Embedding")
WITHOUT_HASH = re.compile(r"\b(Mapping|dict|list)\b")


def written_hash(cls: type) -> bool:
    return (
        cls.__hash__ is not None
        and cls.__hash__.__name__ == "__hash__"
        and "content_hash" in (cls.__hash__.__code__.co_names)
    )


def test_there_are_classes_to_hold():
    assert len(CLASSES) > 45


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__qualname__)
def test_only_what_has_comparable_content_is_compared(cls):
    compared = [field for field in dataclasses.fields(cls) if field.compare]
    if cls.__eq__ is object.__eq__:
        assert cls.__hash__ is object.__hash__
        return
    # A function is equal to itself, whatever it takes and gives.
    types = {field.name: str(field.type) for field in compared if not str(field.type).startswith("Callable")}
    assert not [name for name, kind in types.items() if NO_CONTENT.search(kind)]
    if cls.__dataclass_params__.frozen and any(WITHOUT_HASH.search(str(field.type)) for field in compared):
        assert written_hash(cls), "a mapping has no hash: see content_hash"


@pytest.fixture(scope="module")
def values() -> dict[str, object]:
    frame = pd.DataFrame(
        [
            (f"w{own}{i}", own, f"a{j}", kind, "associated" if own == kind else "different")
            for own in "xy"
            for i in range(3)
            for j, kind in enumerate("xxyy")
        ],
        columns=["protected_word", "protected_class", "attribute", "attribute_class", "connection"],
    )
    rng = np.random.default_rng(0)
    before, after = (
        bb.load_distances(
            frame.assign(distance=rng.uniform(0.5, 1.2, len(frame))), name=f"<i>{name}</i> & co"
        )
        for name in ("before", "after")
    )
    vectors = {word: rng.normal(size=4) for word in ("x1", "x2", "y1", "y2", "p", "q", "r", "s")}
    words = {
        c: {"protected": [f"{c}1", f"{c}2"], "attributes": list(a)} for c, a in (("x", "pq"), ("y", "rs"))
    }
    comparison = bb.compare(before, after, draws=50, tune=100, chains=2, seed=shifted(1))
    method = comparison.methods["debiased"]
    m1 = bb.list_predictions("m1")
    religion = bb.load_wordlist("religion")
    made = [
        before,
        before.coverage,
        comparison.original,
        comparison.original.spec,
        next(iter(comparison.original.spec.parameters.values())),
        RESULTS_OF_PAIRS,
        comparison,
        method,
        method.construction,
        bb.load_embedding(vectors),
        religion,
        religion.controls,
        load_occupations(),
        bb.sentence_test("weat6"),
        bb.seat("weat6", "minilm-static"),
        m1,
        bb.sentiment_analysis(m1),
        bb.mac(before),
        bb.weat(before),
        permutation_test([0.1, 0.2], [0.3, 0.1]),
        null_distribution(2, 2, draws=5),
        paper_draws(PAPER_CASES[0], draws=2),
        Scenario(),
        SweepPlan("plan", Path(), wordlists=("religion",)),
        bb.hard_debias(vectors, words, sets=[["x1", "y1"], ["x2", "y2"]]),
    ]
    return {type(value).__name__: value for value in made}


def test_every_value_answers_to_equality_and_membership(values):
    for name, value in values.items():
        twin = copy.copy(value)
        other = dataclasses.replace(value) if name not in ("Embedding", "WordList") else copy.copy(value)
        assert value == value, name
        assert value in [0, value], name
        assert (value == 3) is False, name
        assert (value != None) is True, name  # noqa: E711
        for copied in (twin, other):
            assert (value == copied) in (True, False), name
            assert (value in [copied]) is (value == copied), name
            if value == copied:
                assert hash(value) == hash(copied), name
        assert len({value, value}) == 1, name


def test_what_holds_frames_is_itself_alone_and_the_rest_is_its_content(values):
    for name in (
        "PairTable",
        "BiasFit",
        "Comparison",
        "SeatResult",
        "SentimentAnalysis",
        "Embedding",
        "Debiased",
    ):
        assert values[name] != copy.copy(values[name])
    for name in (
        "Coverage",
        "ModelSpec",
        "Scenario",
        "SweepPlan",
        "Parameter",
        "Results",
        "PermutationResult",
    ):
        assert values[name] == copy.deepcopy(values[name])
        assert hash(values[name]) == hash(copy.deepcopy(values[name]))
    assert Coverage({}, {}, repeats=1) != Coverage({}, {}, repeats=2)
    assert bb.load_model("crossed") == bb.load_model("crossed") != bb.load_model("shared")
    assert len({bb.load_model("crossed"), bb.load_model("crossed"), bb.load_model("shared")}) == 2


@pytest.mark.claim
def test_notebooks_show_what_repr_says_and_run_nothing(values):
    shown = [name for name, value in values.items() if isinstance(value, Shown)]
    assert set(values) - set(shown) == {"Parameter", "Results"}
    for name in shown:
        page = values[name]._repr_html_()
        assert html.unescape(re.sub(r"</?pre[^<>]*>", "", page)) == repr(values[name]), name
        assert re.findall(r"<(\w+)", page) == ["pre"], name
    assert "&lt;i&gt;before&lt;/i&gt; &amp; co" in values["PairTable"]._repr_html_()
    assert "&lt;i&gt;before&lt;/i&gt; &amp; co" in values["BiasFit"]._repr_html_()
    assert as_html("<script>") == '<pre style="white-space: pre-wrap">&lt;script&gt;</pre>'


@pytest.mark.slow
def test_a_repr_is_short_and_begins_with_what_it_is(values):
    for name, value in values.items():
        lines = repr(value).splitlines()
        assert len(lines) <= 12, name
        assert name.removeprefix("Built") in lines[0], name
        assert "object at 0x" not in repr(value), name


def test_a_sweep_is_itself_alone(tmp_path):
    columns = {"cell": ["a"], "status": ["fitted"], "trusted": [True], "error": [None]}
    result = SweepResult(pd.DataFrame(columns), pd.DataFrame(), tmp_path, 0)
    assert result != copy.copy(result)
    assert result in [result]
    assert isinstance(hash(result), int)


def test_names_from_outside_do_nothing_where_a_value_is_shown():
    odd = "\x1b[2Jx\r\u202e"
    frame = bb.distance_table("minilm-static", "weat7", controls="none").frame
    shown = [
        bb.load_embedding({"a": [1.0, 0.0], "b": [0.0, 1.0]}, ["a", "b", odd]),
        bb.predict(lambda sentences: [0.5 + 0.01 * (i % 7) for i in range(len(sentences))], name=odd),
        bb.load_distances(frame, name=odd),
        dataclasses.replace(bb.sentence_test("weat6"), name=odd),
    ]
    for value in shown:
        for text in (repr(value), str(value), value._repr_html_()):
            assert not {"\x1b", "\r", "\u202e"} & set(text), text
            assert r"\x1b[2Jx\x0d\u202e" in text
