"""The page on a fit of distances."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from helpers.changes import NONE, changed, table
from helpers.draws import made_up_comparison, made_up_fit
from helpers.pages import without_figures, without_pictures

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.tables.reading import as_pair_table


@pytest.mark.slow  # whole pages are drawn
def test_the_region_in_standard_deviations_is_that_of_the_run_unless_another_is_asked_for(
    tmp_path, monkeypatch
):
    without_figures(monkeypatch)
    without_pictures(monkeypatch)
    before = table(words=2, attributes=3)
    pairs = as_pair_table(before)
    bb.save_run(made_up_fit(pairs), tmp_path / "run", standard_rope=0.25)
    assert set(pd.read_csv(tmp_path / "run" / "standardized.csv")["rope"]) == {0.25}
    assert json.loads((tmp_path / "run" / "run.json").read_text())["settings"]["standard_rope"] == 0.25
    page = tmp_path / "page.html"
    for asked, shown in ((None, "±0.25"), (0.3, "±0.3")):
        bb.write_report(tmp_path / "run", page, standard_rope=asked)
        text = page.read_text(encoding="utf-8")
        assert f"P(in {shown})" in text
        assert "half of what is by convention" not in text
        assert f"standard_rope={shown[1:]}" in text
    with pytest.raises(InputError, match="standard_rope: must be a finite number above 0"):
        bb.save_run(made_up_fit(pairs), tmp_path / "other", standard_rope=0)
    comparison = made_up_comparison(pairs, {"a": as_pair_table(changed(before, NONE, 1))})
    with pytest.raises(InputError, match="only a fit of distances is judged in standard deviations"):
        bb.write_report(comparison, page, standard_rope=0.2)
