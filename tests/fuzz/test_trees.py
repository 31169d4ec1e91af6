"""Files of keys and lists with one thing in them another: put elsewhere, left out, twice, or of a kind that nobody meant.

What `test_texts` does to bytes mostly breaks the grammar, which a parser sees. These files are whole, and mean nothing: of a test
whose examples are a number the length was asked.
"""

from __future__ import annotations

import copy
import json
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.inputs import wordlist_text
from helpers.seeds import shifted

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.sweeps.plan import load_plan
from bayesbias.wordlists.controls import load_controls
from bayesbias.wordlists.occupations import load_occupations
from bayesbias.wordlists.sentence_tests import SETS, read_test

COUNTS = [100, pytest.param(3000, marks=pytest.mark.claim)]
ODD: list[Any] = [
    0, -1, 2**63, 10**400, 1.5, 1e308, 5e-324, float("nan"), float("inf"), True, False, "", " ", "a" * 5000, "ä" * 300, "İ",
    "[/]", "distance", "protected_word", "neutral", "none", "__class__", "../../etc/passwd", "nan", "1", [], [[]], [[[1]]],
    ["a"], ["a", "a"], [1], [{}], {}, {"a": 1}, {"name": "normal"}, {"": ""}, {"distribution": "normal", "sd": -1},
    ["protected_word", "protected_word"],
]  # fmt: skip
PLAN = {"schema": 1, "embeddings": ["minilm-static"], "wordlists": ["weat7"], "controls": ["2022"], "models": ["crossed"],
        "distances": ["a.csv"], "settings": {"draws": 10, "tune": 10, "chains": 2, "seed": [1, 2]}}  # fmt: skip
TEST = {name: {"category": name, "examples": [f"a {name}", "ö"]} for name in SETS}
QUERY = {
    "target_sets": [["a", "b"], ["c", "d"]],
    "attribute_sets": [["e", "f"], ["g", "h"]],
    "target_sets_names": ["x", "y"],
}
ARGUMENTS = {"T1": ["a", "b"], "T2": "c, d", "A1": ["e", "f"], "A2": ["g", "h"], "labels": {"T1": "x"}}
KINDS: dict[str, tuple[Callable[[Path], Any], str, dict[str, Any]]] = {
    "crossed": (bb.load_model, ".toml", tomllib.loads(bb.load_model("crossed").text)),
    "sentiment": (bb.load_model, ".toml", tomllib.loads(bb.load_model("sentiment").text)),
    "plan": (load_plan, ".toml", PLAN),
    "list": (bb.load_wordlist, ".toml", tomllib.loads(wordlist_text())),
    "controls": (load_controls, ".toml", {"schema": 1, "human": ["a", "b"], "neutral": ["c", "d"]}),
    "occupations": (load_occupations, ".toml", {"noun_pairs": [{"male": "He", "female": "She"}], "professions": ["nurse"]}),
    "test": (read_test, ".jsonl", TEST),
    "query": (bb.load_wordlist, ".json", QUERY),
    "arguments": (bb.load_wordlist, ".json", ARGUMENTS),
}  # fmt: skip


def toml(value: Any) -> str:
    """Return a value as TOML writes it; tables stand in braces."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, float) and not np.isfinite(value):
        return repr(value)
    return json.dumps(value)


def written(idata: dict[str, Any], ending: str) -> str:
    if ending != ".toml":
        return json.dumps(idata)
    return "".join(f"{json.dumps(key)} = {toml(value)}\n" for key, value in idata.items())


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Give the way to every value in a idata."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield (*at, key)
        yield from places(value[key], (*at, key))


def changed(idata: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Return a idata with one or two values another, left out, twice, or that of another place."""
    out = copy.deepcopy(idata)
    for _ in range(int(rng.integers(1, 3))):
        ways = list(places(out))
        if not ways:
            break
        *way, last = ways[int(rng.integers(len(ways)))]
        branch: Any = out
        for key in way:
            branch = branch[key]
        done = rng.integers(5)
        if done < 2:
            branch[last] = copy.deepcopy(ODD[int(rng.integers(len(ODD)))])
        elif done == 2:
            del branch[last]
        elif done == 3:
            other: Any = out
            for key in ways[int(rng.integers(len(ways)))]:
                other = other[key]
            branch[last] = copy.deepcopy(other)
        elif isinstance(branch, list):
            branch.append(copy.deepcopy(branch[last]))
        else:
            branch[f"{last}s"[: int(rng.integers(1, 9))]] = copy.deepcopy(branch[last])
    return out


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_whole_and_means_nothing_is_refused_in_one_line(kind, count, tmp_path):
    read, ending, idata = KINDS[kind]
    path = tmp_path / f"file{ending}"
    path.write_text(written(idata, ending), encoding="utf-8")
    assert read(path) is not None
    rng, said = np.random.default_rng(shifted(71)), []
    for case in range(count):
        path.write_text(written(changed(idata, rng), ending), encoding="utf-8")
        began = time.process_time()
        try:
            read(path)
        except InputError as error:
            said.append(str(error))
        assert time.process_time() - began < 5, case
    assert [text for text in said if len(text) > 300 or not text.isprintable()] == []
    assert len(said) > count / 5
