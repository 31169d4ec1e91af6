"""Runs without their manifest, of which a value is another: it is refused, or what is left can be said and printed."""

from __future__ import annotations

import functools
import json
import shutil
import warnings

import numpy as np
import pytest
from bayesbias.runs.manifest import MANIFEST
from helpers.odd_json import odd_cells, odd_json
from helpers.pages import without_figures
from helpers.seeds import shifted

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.inference import fitting

pytestmark = pytest.mark.slow
WOMEN = {"nurse": 88.0, "engineer": 12.0, "teacher": 80.0, "plumber": 2.0, "lawyer": 35.0, "dancer": 79.0}
FILES = {
    "wefat": ("wefat.json", "scores.csv"),
    "sentences": ("provenance.json", "results.csv"),
    "sentiment": ("provenance.json", "pairs.csv"),
}


def _made(kind):
    few = {"draws": 50, "tune": 50, "chains": 2, "seed": 1}
    if kind == "wefat":
        return bb.wefat("minilm-static", "wefat", {"share": WOMEN}, samples=500, **few)
    if kind == "sentences":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of so few draws
            return bb.seat(["weat7", "weat8"], "minilm-static", bayes=True, cache=False, **few)
    return bb.sentiment_analysis(bb.list_predictions("m1"))


@pytest.fixture(scope="module", params=FILES)
def run(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param) / "run"
    with pytest.MonkeyPatch.context() as patch:
        without_figures(patch)
        bb.save_run(_made(request.param), folder)
    (folder / MANIFEST).unlink()
    return request.param, folder


@pytest.mark.parametrize("n", [60, pytest.param(700, marks=pytest.mark.claim)])
def test_a_value_that_is_another_is_refused_or_does_no_harm(n, run, tmp_path, monkeypatch):
    kind, whole = run
    folder = shutil.copytree(whole, tmp_path / "run")
    monkeypatch.setattr(fitting, "load_fit", functools.cache(fitting.load_fit))  # which stay as they are
    rng = np.random.default_rng(shifted(5))
    of_json, of_csv = FILES[kind]
    text, table = (folder / of_json).read_text(), (folder / of_csv).read_text()
    content = json.loads(text)
    cases = [
        *(
            (of_json, place, value, json.dumps(changed))
            for place, value, changed in odd_json(content, n, rng)
        ),
        *((of_csv, *case) for case in odd_cells(table, n, rng)),
    ]
    refused = 0
    for name, place, value, changed in cases:
        (folder / name).write_text(changed)
        try:
            found = bb.load_run(folder).result
        except InputError as error:
            refused += 1
            told = str(error)
        else:
            told = ""
            lines = bb.findings_of(found).lines()
            assert lines, (name, place, value)
            if refused % 10 == 0 and kind != "sentiment":  # of which there is no page without a fit
                bb.write_report(found, tmp_path / "page.html")
        finally:
            (folder / of_json).write_text(text)
            (folder / of_csv).write_text(table)
        assert len(told) <= 400, (name, place, value)
    assert refused > len(cases) / 5
