"""The figure of slopes on covariates: its rows, whatever the result is of."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest
from helpers.every_figure import DATA
from helpers.fits import made_up, pairs
from helpers.tables import opinions, with_covariates
from matplotlib.figure import Figure

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.models import with_slopes
from bayesbias.plots.slopes import plates


def drawn(result, prob=0.89):
    return bb.plots.plot_slopes(result, prob=prob, ax=Figure(figsize=(6, 4)).subplots())


def ends(ax, label):
    return [tuple(line.get_xdata()) for line in ax.lines if line.get_label() == label]


def test_every_slope_that_is_not_of_one_word_is_drawn_with_its_interval():
    fit = DATA["plot_slopes"][1]()
    frame = fit.slopes(0.6)
    frame = frame[frame["level"] != "word"]
    ax = drawn(fit, 0.6)
    assert ends(ax, "_interval") == list(zip(frame["hpdi_low"], frame["hpdi_high"], strict=True))
    assert [x for (x,) in ends(ax, "_slope")] == frame["mean"].tolist()
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names[0] == "year"
    assert names[1:] == [name.replace(" - ", " − ") for name in frame["of"]]
    assert ax.data["p_below_zero"].tolist() == frame["p_below_zero"].tolist()
    assert ax.get_xlabel() == "cosine distance: change for one standard deviation of the covariate"


def test_of_sentiment_the_axis_is_in_probability():
    spec = with_slopes("sentiment", "pay")
    table = opinions().assign(pay=lambda own: own["profession"].str[1].astype(float) - 1.5)
    fit = made_up(table, spec, {name: 0.1 for name, about in spec.parameters.items() if about.positive})
    ax = drawn(fit)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["pay", "a", "b", "a − b"]
    assert ax.get_xlabel().startswith("female − male, in probability")


@pytest.mark.slow
def test_of_sentence_tests_each_has_a_heading_and_overall_rows_alone():
    fit = DATA["plot_slopes"][1]()
    found = bb.seat("weat7", seed=1, cache=False)
    names = {"model": "minilm-static", "options": "", "test": ["weat7", "sent-weat7"]}
    rows = pd.DataFrame(names).merge(fit.slopes(), how="cross")
    result = dataclasses.replace(found, slopes=rows, provenance={**found.provenance, "prob": 0.89})
    labels = [label.get_text() for label in drawn(result).get_yticklabels()]
    assert labels.count("weat7: year") == labels.count("sent-weat7: year") == 1
    several = dataclasses.replace(result, slopes=rows.assign(model=["a", "b"] * (len(rows) // 2)))
    assert any(label.get_text().startswith("weat7, a: year") for label in drawn(several).get_yticklabels())
    assert [plate.name for plate in plates(result)] == ["slopes"]
    with pytest.raises(InputError, match="has no slopes"):
        drawn(found)


def test_without_slopes_there_is_no_figure():
    fit = made_up(with_covariates(pairs()))
    assert plates(fit) == []
    with pytest.raises(InputError, match=r"has no slopes.*with_slopes"):
        drawn(fit)
    with pytest.raises(InputError, match="valid: a fit, a comparison, or the result of sentence tests"):
        drawn("weat7")
