"""Every public function, given the wrong kind of thing: one message in one line, and never a traceback of our insides."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.draws import made_up_fit

import bayesbias as bb
from bayesbias.core.errors import BayesbiasError, InputError


class Odd:
    """Something that nobody knows."""


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    """One valid thing of each kind."""
    table = bb.distance_table("minilm-static", "religion", controls="none")
    return {
        "table": table,
        "fit": made_up_fit(table),
        "spec": bb.load_model("crossed"),
        "vectors": bb.load_embedding("minilm-static", words=["priest", "rabbi"]),
        "wordlist": bb.load_wordlist("religion"),
        "predictions": bb.list_predictions("m1"),
        "sentiment": bb.sentiment_table(bb.list_predictions("m1")),
        "scenario": bb.simulation.Scenario(),
    }


# What each function takes first and second: a text names a valid thing above, or is itself what is taken.
VALID: dict[str, tuple[Any, ...]] = {
    "coverage_simulated": ("scenario",),
    "coverage_on_pools": ("minilm-static", "religion"),
    "compare": ("table", "table"),
    "compare_models": (["fit", "fit"],),
    "direct_bias": ("minilm-static", "religion"),
    "distance_table": ("minilm-static", "religion"),
    "encode": ("minilm-static", ["a rabbi"]),
    "finding": ("fit",),
    "findings_of": ("fit",),
    "fit": ("table", "crossed"),
    "hard_debias": ("minilm-static", "religion"),
    "load_classifier": ("m1",),
    "load_embedding": ("minilm-static",),
    "load_encoder": ("minilm-static",),
    "load_fit": ("fit.nc",),
    "load_model": ("crossed",),
    "load_wordlist": ("religion",),
    "mac": ("minilm-static", "religion"),
    "load_run": ("run",),
    "pairs": ("religion",),
    "paired_test": ("sentiment",),
    "sample_size": (0.1,),
    "plot_connections": ("fit",),
    "plot_contrasts": ("fit",),
    "plot_ppc": ("fit",),
    "plot_priors": ("crossed",),
    "plot_words": ("fit",),
    "predict": ("m1",),
    "sentiment_analysis": ("predictions",),
    "load_distances": ("pairs.csv",),
    "load_predictions": ("m1.csv",),
    "relative_norm_distance": ("minilm-static", "weat7"),
    "run_sweep": ("plan.toml", "out"),
    "save_run": ("fit", "run"),
    "save_embedding": ("vectors", "two.txt"),
    "seat": (["weat7"], "minilm-static"),
    "sentence_table": ("sent-weat6", "minilm-static"),
    "sentence_test": ("sent-weat6",),
    "sentiment_table": ("predictions",),
    "wefat": (
        "minilm-static",
        "wefat",
        {"f": {"nurse": 1.0, "clerk": 3.0, "chemist": 2.0, "baker": 5.0}},
    ),
    "list_predictions": ("m1",),
    "soft_debias": ("minilm-static", "religion"),
    "weat": ("minilm-static", "weat7"),
    "write_report": ("fit", "run.html"),
}

WRONG: dict[str, Callable[[dict[str, Any]], Any]] = {
    "None": lambda made: None,
    "a number": lambda made: float("nan"),
    "bytes": lambda made: b"abc",
    "something odd": lambda made: Odd(),
    "a list of numbers": lambda made: [1, 2],
    "an empty mapping": lambda made: {},
    "an array": lambda made: np.arange(3),
    "a frame": lambda made: pd.DataFrame({"a": [1]}),
    "a table": lambda made: made["table"],
    "a fit": lambda made: made["fit"],
    "a model": lambda made: made["spec"],
    "a function": lambda made: len,
}

# What is right for a function although it is wrong for most; those that run for long are not run here.
TAKEN = {
    ("compare", 0, "a table"), ("compare", 1, "a table"),
    ("finding", 0, "a fit"), ("findings_of", 0, "a fit"),
    ("fit", 0, "a table"), ("fit", 1, "a model"),
    ("load_classifier", 0, "a function"), ("load_encoder", 0, "a function"),
    ("load_model", 0, "a model"),
    ("plot_connections", 0, "a fit"), ("plot_contrasts", 0, "a fit"), ("plot_ppc", 0, "a fit"),
    ("plot_priors", 0, "a fit"), ("plot_priors", 0, "a model"), ("plot_words", 0, "a fit"),
    ("save_run", 0, "a fit"), ("write_report", 0, "a fit"),
    ("coverage_on_pools", 0, "a table"),
}  # fmt: skip


def functions() -> set[str]:
    return {name for name in bb.__all__ if inspect.isfunction(getattr(bb, name)) and not name.startswith("_")}


def test_every_function_of_the_face_is_asked():
    assert set(VALID) == functions()


def valid(name: str, made: dict[str, Any]) -> list[Any]:
    def one(item: Any) -> Any:
        return [one(x) for x in item] if isinstance(item, list) else made.get(str(item), item)

    return [one(item) for item in VALID[name]]


CASES = [
    (name, place, kind)
    for name, arguments in VALID.items()
    for place in range(len(arguments))
    for kind in WRONG
    if (name, place, kind) not in TAKEN
]


@pytest.mark.parametrize(("name", "place", "kind"), CASES)
def test_the_wrong_kind_is_refused_in_one_line(name, place, kind, made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = valid(name, made)
    arguments[place] = WRONG[kind](made)
    with pytest.raises(BayesbiasError) as caught:
        getattr(bb, name)(*arguments)
    message = str(caught.value)
    assert message
    assert "\n" not in message
    assert len(message) < 500
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("name", [name for name, arguments in VALID.items() if len(arguments) == 2])
def test_swapped_arguments_are_refused_in_one_line(name, made, tmp_path, monkeypatch):
    if name == "compare":
        return  # two tables, either of which may be the first
    monkeypatch.chdir(tmp_path)
    first, second = valid(name, made)
    with pytest.raises(BayesbiasError) as caught:
        getattr(bb, name)(second, first)
    assert "\n" not in str(caught.value)


def test_what_was_probably_meant_is_said(made, tmp_path):
    with pytest.raises(InputError, match=r"this is a model: the table comes first, fit\(table, model\)"):
        bb.fit("crossed", made["table"])
    with pytest.raises(InputError, match=r"this is a model"):
        bb.fit(made["spec"], made["table"])
    with pytest.raises(InputError, match="a file is read with load_distances"):
        bb.fit("pairs.csv")
    with pytest.raises(
        InputError, match=r"found: 'PairTable'.*fit the table first: findings_of\(fit\(table\)\)"
    ):
        bb.finding(made["table"])
    with pytest.raises(InputError, match=r"the result comes first, save_run\(result, folder\)"):
        bb.save_run(str(tmp_path / "run"), made["fit"])
    with pytest.raises(InputError, match=r"the run comes first, write_report\(run, path\)"):
        bb.write_report(str(tmp_path / "run.html"), made["fit"])
    with pytest.raises(InputError, match=r"compare takes tables of distances.*compare_models"):
        bb.compare(made["fit"], made["fit"])


OPTIONS = {
    "prob": ("finding", "findings_of", "plot_words", "plot_contrasts", "plot_connections"),
    "rope": ("finding", "findings_of", "plot_contrasts"),
    "seed": ("fit", "plot_priors", "coverage_simulated"),
    "words": ("mac", "direct_bias", "relative_norm_distance", "plot_words", "load_embedding"),
    "sets": ("direct_bias", "hard_debias", "soft_debias"),
    "neutralise": ("hard_debias", "soft_debias"),
    "classes": ("weat",),
    "methods": ("coverage_simulated",),
    "out": ("coverage_simulated",),
    "model": ("compare", "fit"),
    "earnings": ("sentiment_analysis",),
    "predictions": ("save_run",),
    "contrasts": ("plot_contrasts",),
}


@pytest.mark.parametrize(("option", "name"), [(o, name) for o, names in OPTIONS.items() for name in names])
def test_options_of_the_wrong_kind_are_refused_in_one_line(option, name, made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = valid(name, made)[: 1 if option == "model" and name == "fit" else 2]
    for wrong in (Odd(), -1.5):
        with pytest.raises(BayesbiasError) as caught:
            getattr(bb, name)(*arguments, **{option: wrong})
        assert "\n" not in str(caught.value)
