"""The direction of a doubt is right: held against refits with the model that it names."""

from __future__ import annotations

import pytest
from helpers.seeds import shifted

from bayesbias.findings.residuals import word_doubts
from bayesbias.inference.fitting import fit
from bayesbias.tables.reading import load_distances

QUICK = {"draws": 500, "pointwise": False}


@pytest.mark.claim
def test_the_direction_of_a_doubt_is_that_of_a_refit(shared):
    """On the published tables: an interval called too narrow is wider under the model named, one called too wide narrower."""
    directed = 0
    for path in sorted((shared / "data/bayesbias_distances").glob("*/*.csv")):
        table = load_distances(path)
        first = fit(table, "crossed", seed=shifted(1), **QUICK)
        doubts = [
            doubt for doubt in word_doubts(first) if doubt.effect is not None and doubt.model is not None
        ]
        for doubt in doubts:
            second = fit(table, doubt.model, seed=shifted(2), **QUICK)
            widths = []
            for result in (first, second):
                frame = result.contrasts(estimand="population", level=doubt.level)
                frame = frame[frame["contrast"] == "associated - different"]
                widths.append((frame["hpdi_high"] - frame["hpdi_low"]).to_numpy())
            wider = widths[1] > widths[0]
            assert wider.all() if doubt.effect == "too narrow" else not wider.any(), (
                path.name,
                doubt,
                widths,
            )
            directed += 1
    assert directed >= 8
