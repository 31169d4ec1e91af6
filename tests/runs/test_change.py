"""The folder of a comparison: its parts are those of the fits beside them."""

from __future__ import annotations

import functools
import json
import re
import shutil

import numpy as np
import pandas as pd
import pytest
from helpers.draws import made_up_comparison
from helpers.fits import pairs
from helpers.odd_json import odd_json
from helpers.pages import without_figures
from helpers.seeds import shifted

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.findings.change import findings_of_change
from bayesbias.inference import fitting
from bayesbias.runs.manifest import MANIFEST

pytestmark = pytest.mark.slow
_NOT_FITTED = "pairs_0.csv: is damaged: these are not the pairs that were fitted"
_NOT_THE_CHANGE = "pairs_0.csv: is damaged: change is not debiased less original"


@pytest.fixture(scope="module")
def comparison():
    def of_two_words(seed):
        frame = pairs(seed=seed)
        return bb.load_distances(frame[frame["protected_word"].isin(["x0", "y0"])].reset_index(drop=True))

    return made_up_comparison(of_two_words(1), {"hard": of_two_words(2), "soft": of_two_words(3)})


@pytest.fixture(scope="module")
def written(comparison, tmp_path_factory):
    folder = tmp_path_factory.mktemp("change") / "run"
    with pytest.MonkeyPatch.context() as patch:
        without_figures(patch)
        bb.save_run(comparison, folder)
    (folder / MANIFEST).unlink()  # so that no hash tells
    return folder


@pytest.fixture
def folder(written, tmp_path):
    return shutil.copytree(written, tmp_path / "run")


def _put(folder, column, value):
    def change(frame):
        frame.loc[0, column] = value
        return frame

    return _edited(folder, change)


def _edited(folder, change):
    path = folder / "pairs_0.csv"
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    change(frame).to_csv(path, index=False)


def _moved(frame, *columns):
    """Move the first row's distances so that they agree with each other."""
    for column in columns:
        frame.loc[0, column] = repr(float(frame.loc[0, column]) + 0.01)
    return frame


def test_a_comparison_without_its_manifest_opens_as_it_was(folder, comparison):
    opened = bb.load_run(folder).result
    assert findings_of_change(opened).lines() == findings_of_change(comparison).lines()
    assert opened.provenance == json.loads(json.dumps(comparison.provenance))


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("connection", "zzz", "line 2, column connection: unknown connection"),
        ("attribute", "", "line 2, column attribute: an empty cell"),
        ("debiased", "5", "line 2, column debiased"),
        ("debiased", "0.123", _NOT_THE_CHANGE),
        ("original", "0.123", _NOT_THE_CHANGE),
        ("change", "0.123", _NOT_THE_CHANGE),
        ("protected_word", "nobody", _NOT_FITTED),
    ],
)
def test_pairs_of_a_comparison_that_are_not_those_of_its_fits_are_refused(column, value, says, folder):
    _put(folder, column, value)
    with pytest.raises(InputError, match=re.escape(says)):
        bb.load_run(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: _moved(frame, "debiased", "change"),
        lambda frame: _moved(frame, "original", "debiased"),
        lambda frame: pd.concat([frame, frame.iloc[:1]]),
        lambda frame: frame.iloc[1:],
    ],
    ids=["debiased and change", "original and debiased", "a row more", "a row less"],
)
def test_pairs_that_agree_with_themselves_alone_are_refused(change, folder):
    _edited(folder, change)
    with pytest.raises(InputError, match=re.escape(_NOT_FITTED)):
        bb.load_run(folder)


@pytest.mark.parametrize("column", ["original", "debiased", "change", "protected_word", "connection"])
def test_pairs_without_a_column_name_their_file(column, folder):
    _edited(folder, lambda frame: frame.drop(columns=column))
    with pytest.raises(InputError, match=rf"pairs_0\.csv: .*{column}"):
        bb.load_run(folder)


def test_fits_that_were_exchanged_are_refused(folder):
    content = json.loads((folder / "comparison.json").read_text())
    names = [content["original"], *(item[key] for item in content["methods"] for key in ("after", "change"))]
    names += [item["fit"] for item in content["between"]]
    assert len(set(names)) == 6
    for other in names[1:]:
        for one, two in ((names[0], other), (other, names[0])):
            shutil.copy(folder / two, folder / "kept")
            shutil.copy(folder / one, folder / two)
            with pytest.raises(
                InputError, match=r"fit_\d\.nc: is a fit of something else|not the pairs|not that of its fits"
            ):
                bb.load_run(folder)
            shutil.move(folder / "kept", folder / two)
    assert bb.load_run(folder)


@pytest.mark.parametrize("n", [60, pytest.param(3000, marks=pytest.mark.claim)])
def test_whatever_stands_in_its_account_is_refused_or_does_no_harm(
    n, folder, comparison, tmp_path, monkeypatch
):
    without_figures(monkeypatch)
    monkeypatch.setattr(fitting, "load_fit", functools.cache(fitting.load_fit))  # which stay as they are
    rng = np.random.default_rng(shifted(11))
    messages, opened = [], []
    for place, value, changed in odd_json(json.loads((folder / "comparison.json").read_text()), n, rng):
        (folder / "comparison.json").write_text(json.dumps(changed))
        try:
            found = bb.load_run(folder).result
        except InputError as error:
            messages.append(str(error))
            continue
        assert found.provenance == json.loads(json.dumps(comparison.provenance)), (place, value)
        assert [item.exact for item in found.methods.values()] == [{}, {}], (place, value)
        opened.append(found)
    assert len(messages) > len(opened)
    assert all(re.search(r"comparison\.json|pairs_\d|fit_\d", text) for text in messages)
    for found in opened[:2]:  # what is left may be said and printed
        assert findings_of_change(found).headline == findings_of_change(comparison).headline
        bb.write_report(found, tmp_path / "page.html")
