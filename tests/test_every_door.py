"""Every public function and method, each of its parameters in turn given what it is not for: one line of ours, or it works."""

from __future__ import annotations

import contextlib
import inspect
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.every_door import (
    FUNCTIONS,
    METHODS,
    OWNERS,
    asked_of,
    call,
    doors,
    public_classes,
    public_functions,
    public_methods,
    thing,
)
from helpers.seeds import shifted

import bayesbias as bb
from bayesbias.core.errors import MOST_CHARACTERS
from bayesbias.core.kinds import fits


class Odd:
    """Something that nobody knows."""


ODD: dict[str, Callable[[], Any]] = {
    "a number": lambda: 3,
    "a negative number": lambda: -1.5,
    "a text": lambda: "odd",
    "bytes": lambda: b"odd",
    "None": lambda: None,
    "something odd": Odd,
    "a list of numbers": lambda: [1, 2],
    "a list of texts": lambda: ["odd", "odder"],
    "a mapping": lambda: {"odd": 1},
    "an array": lambda: np.arange(3.0),
    "a frame": lambda: pd.DataFrame({"odd": [1, 2]}),
    "a function": lambda: len,
    "a table": lambda: thing("table"),
    "a model": lambda: thing("spec"),
    "a fit": lambda: thing("fit"),
    "a fit of sentiment": lambda: thing("sentiment fit"),
    "a comparison": lambda: thing("comparison"),
    "sentence tests": lambda: thing("seat"),
    "a sweep": lambda: thing("sweep"),
}
# What draws, fits, trains or draws figures for long even with the least that it may be given: asked in the whole walk alone.
LONG = (
    "coverage_simulated", "coverage_on_pools", "compare", "fit", "sample_size", "run_sweep", "save_run", "seat", "wefat",
    "write_report", "classifiers.train_bilstm", "figures.save_figures", "inference.answers_by_model", "inference.build",
    "inference.loo", "inference.power_scaling", "inference.prior_expectation", "predict", "simulation.negative_controls",
    "studies.with_frequency", "hard_debias", "soft_debias",
)  # fmt: skip
PARTS = 16  # of the whole walk, for as many workers as there are


def test_no_door_is_left_out():
    assert set(FUNCTIONS) == set(public_functions())
    assert set(public_classes().values()) <= set(OWNERS.values())
    assert set(METHODS) == set(OWNERS)
    assert set(LONG) <= set(FUNCTIONS)


def test_every_door_tells_of_kinds():
    assert [
        name for name, function in public_functions().items() if not hasattr(function, "__wrapped__")
    ] == []


def test_every_method_tells_of_kinds():
    for owner, kind in OWNERS.items():
        for name, method in public_methods(kind):
            assert hasattr(method, "__wrapped__"), (owner, name)


def problem(name: str, parameter: str, odd: str, folder: Path) -> str | None:
    """Knock at one door with one odd argument; return what is wrong with the answer."""
    get, arguments = doors()[name]
    function, value = get(), ODD[odd]()
    about = inspect.signature(function).parameters[parameter]
    given = (value,) if about.kind is about.VAR_POSITIONAL else value
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = call(function, {**arguments, parameter: given}, folder)
            if isinstance(found, contextlib.AbstractContextManager):
                with found:
                    pass
    except bb.BayesbiasError as error:
        message = str(error)
        if "\n" in message or not 0 < len(message) <= MOST_CHARACTERS:
            return f"is no single line of {MOST_CHARACTERS} characters: {message!r}"
        # That a fit has nothing to say is true whatever else was handed over.
        named = (
            re.search(rf"\b{parameter}\b", message)
            or isinstance(error, bb.FitError)
            or fits(value, about.annotation, vars(inspect.getmodule(inspect.unwrap(function))))
        )
        return None if named else f"does not name it: {message}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        from matplotlib import pyplot as plt

        plt.close("all")
    return None


def cases(*, long: bool) -> list[tuple[str, str, str]]:
    return [
        (name, parameter, odd)
        for name, parameters in asked_of().items()
        if long or name not in LONG
        for parameter in parameters
        for odd in ODD
    ]


def wrong(asked: list[tuple[str, str, str]], folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("BAYESBIAS_PROGRESS", "off")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    out = []
    for i, (name, parameter, odd) in enumerate(asked):
        place = folder / str(i)
        place.mkdir()
        monkeypatch.chdir(place)
        if told := problem(name, parameter, odd, place):
            out.append(f"{name}({parameter}={odd}) {told}")
    return out


@pytest.mark.slow
def test_odd_arguments_at_some_doors_are_refused_in_one_line(tmp_path, monkeypatch):
    every = cases(long=False)
    chosen = np.random.default_rng(shifted(1)).choice(len(every), 100, replace=False)
    assert wrong([every[i] for i in chosen], tmp_path, monkeypatch) == []


@pytest.mark.claim
@pytest.mark.parametrize("part", range(PARTS))
def test_odd_arguments_at_every_door_are_refused_in_one_line(part, tmp_path, monkeypatch):
    every = cases(long=True)
    assert len(every) > 12_000
    assert wrong(every[part::PARTS], tmp_path, monkeypatch) == []
