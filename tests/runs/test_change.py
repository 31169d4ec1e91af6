"""The folder of a comparison: its pairs are those of the fits beside them."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from helpers.draws import made_up_comparison
from helpers.fits import pairs
from helpers.pages import without_figures

import bayesbias as bb
from bayesbias.basics.errors import InputError
from bayesbias.runs.manifest import MANIFEST

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def comparison():
    def of_two_words(seed):
        frame = pairs(seed=seed)
        return bb.read_distances(frame[frame["protected_word"].isin(["x0", "y0"])].reset_index(drop=True))

    return made_up_comparison(of_two_words(1), {"hard": of_two_words(2)})


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("connection", "zzz", "line 2, column connection: unknown connection"),
        ("attribute", "", "line 2, column attribute: an empty cell"),
        ("debiased", "5", "line 2, column debiased"),
        ("debiased", "0.123", "is damaged: these are not the pairs that were fitted"),
        ("protected_word", "nobody", "is damaged: these are not the pairs that were fitted"),
    ],
)
def test_pairs_of_a_comparison_that_are_not_those_of_its_fits_are_refused(
    column, value, says, comparison, tmp_path, monkeypatch
):
    without_figures(monkeypatch)
    folder = tmp_path / "run"
    bb.save_run(comparison, folder)
    (folder / MANIFEST).unlink()  # so that no hash tells
    path = folder / "pairs_0.csv"
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    frame.loc[0, column] = value
    frame.to_csv(path, index=False)
    with pytest.raises(InputError, match=re.escape(says)):
        bb.open_run(folder)
