"""Every reader of text on harmed files: what it can use, or one short line that names the file; nothing else, and soon."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.fits import pairs
from helpers.hostile import harmed
from helpers.inputs import wordlist_text
from helpers.seeds import shifted

import bayesbias as bb
from bayesbias.classifiers.training import read_labelled
from bayesbias.core.cleaning import steering
from bayesbias.core.errors import InputError
from bayesbias.sweeps.plan import load_plan
from bayesbias.wordlists.controls import load_controls
from bayesbias.wordlists.occupations import load_occupations
from bayesbias.wordlists.sentence_tests import SETS, read_test

COUNTS = [100, pytest.param(1000, marks=pytest.mark.claim)]
OCCUPATIONS = {"noun_pairs": [{"male": "He", "female": "She"}], "professions": ["nurse", "cook, chef"]}
SENTENCES = [f"{noun} is a {job}." for noun in ("He", "She") for job in ("nurse", "cook, chef")]


def _predictions(path: Path) -> Any:
    return bb.load_predictions(path, OCCUPATIONS)


TESTS = {name: {"category": name, "examples": [f"a {name}", "ö"]} for name in SETS}
FOREIGN = {"T1": ["he", "him"], "T2": ["she", "her"], "A1": ["a", "b"], "A2": ["c", "d"]}
PLAN = 'schema = 1\ndistances = ["a.csv"]\nmodels = ["crossed"]\n[settings]\ndraws = 10\nseed = [1, 2]\n'
JOBS = 'noun_pairs = [{male = "He", female = "She"}]\nprofessions = ["nurse", "cook"]\n'
PREDICTED = "sentence,probability\n" + "".join(f'"{s}",0.{i + 1}\n' for i, s in enumerate(SENTENCES))
READERS: dict[str, tuple[Callable[[Path], Any], str, str]] = {
    "list": (bb.load_wordlist, ".toml", wordlist_text()),
    "controls": (
        load_controls,
        ".toml",
        'schema = 1\nhuman = ["hand", "head"]\nneutral = ["door", "lämp"]\n',
    ),
    "model": (bb.load_model, ".toml", bb.load_model("crossed").text),
    "plan": (load_plan, ".toml", PLAN),
    "occupations": (load_occupations, ".toml", JOBS),
    "test": (read_test, ".jsonl", json.dumps(TESTS)),
    "foreign": (bb.load_wordlist, ".json", json.dumps(FOREIGN)),
    "table": (bb.load_distances, ".csv", pairs().to_csv(index=False)),
    "predictions": (_predictions, ".csv", PREDICTED),
    "labels": (read_labelled, ".tsv", "label\tsentence\n1\ta charming film\n0\tbleak\n"),
}


def texts_in(value: Any) -> list[str]:
    """Return all texts of what was read."""
    if isinstance(value, str):
        return [value]
    if hasattr(value, "select_dtypes"):
        return [str(cell) for name in value.select_dtypes(exclude="number") for cell in value[name].unique()]
    if isinstance(value, dict):
        return [text for item in value.items() for text in texts_in(item)]
    if isinstance(value, list | tuple):
        return [text for item in value for text in texts_in(item)]
    fields = getattr(value, "__dataclass_fields__", ())
    return [
        text
        for name in fields
        if name not in ("text", "provenance")
        for text in texts_in(getattr(value, name))
    ]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("kind", READERS)
def test_a_harmed_file_is_read_or_refused_in_one_line(kind, count, tmp_path):
    read, ending, text = READERS[kind]
    rng = np.random.default_rng(shifted(41))
    path = tmp_path / f"file{ending}"
    path.write_text(text, encoding="utf-8")
    assert read(path) is not None
    for case in range(count):
        path.write_bytes(harmed(text.encode(), rng))
        begun = time.perf_counter()
        try:
            found = read(path)
        except InputError as error:
            message = str(error)
            assert len(message) <= 300, (case, message)
            assert message.isprintable() or "\u200d" in message, (case, message)
            assert "file" in message or "sentence" in message, (case, message)
        else:
            assert all(steering(each) is None for each in texts_in(found)), case
        assert time.perf_counter() - begun < 5, case
