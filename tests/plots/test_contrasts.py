"""Contrasts: what is drawn equals what the fit says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
from helpers.draws import prior_fit
from helpers.figures import drawn, row_of, simulated
from helpers.fits import made_up, pairs
from helpers.seeds import shifted
from matplotlib.colors import to_hex

import bayesbias as bb
from bayesbias.core.digits import probability_printed
from bayesbias.core.errors import FitError, InputError
from bayesbias.inference.posterior import BiasFit
from bayesbias.plots.contrasts import plates, plot_contrasts
from bayesbias.plots.saving import save_figures
from bayesbias.plots.words import plot_connections, plot_words


@pytest.mark.parametrize("level", ["overall", "class", "word"])
def test_contrasts_show_both_estimands(fit: BiasFit, ax: Any, level: str) -> None:
    plot_contrasts(fit, prob=0.7, rope=0.05, level=level, ax=ax)
    frame = fit.contrasts(0.7, 0.05)
    frame = frame[frame["level"] == level]
    if level == "word":
        frame = frame[frame["contrast"] == "associated - different"]
    for estimand in ("population", "listed_words"):
        means = [line.get_xdata()[0] for line in drawn(ax, f"_{estimand}")]
        np.testing.assert_allclose(sorted(means), sorted(frame.loc[frame["estimand"] == estimand, "mean"]))
    bars = sorted(tuple(line.get_xdata()) for line in drawn(ax, "_interval"))
    np.testing.assert_allclose(bars, sorted(zip(frame["hpdi_low"], frame["hpdi_high"], strict=True)))
    band = [p for p in ax.patches if to_hex(p.get_facecolor()) == "#d9d9d9"]
    assert [
        round(float(x), 9) for x in band[0].get_extents().transformed(ax.transData.inverted()).intervalx
    ] == [-0.05, 0.05]


def test_contrasts_stand_in_their_own_rows(fit: BiasFit, ax: Any) -> None:
    plot_contrasts(fit, ax=ax)
    frame = fit.contrasts(estimand="listed_words")
    frame = frame[frame["level"] == "overall"].set_index("contrast")
    rows = row_of(ax)
    assert list(rows) == [name.replace("-", "\N{MINUS SIGN}") for name in frame.index]
    for line in drawn(ax, "_listed_words"):
        name = min(rows, key=lambda label: abs(rows[label] - line.get_ydata()[0]))
        assert line.get_xdata()[0] == pytest.approx(frame.loc[name.replace("\N{MINUS SIGN}", "-"), "mean"])


def test_estimands_differ_without_colour(fit: BiasFit, ax: Any) -> None:
    plot_contrasts(fit, ax=ax)
    one, other = drawn(ax, "_population")[0], drawn(ax, "_listed_words")[0]
    assert one.get_marker() != other.get_marker()
    assert other.get_markerfacecolor() == "white"
    assert one.get_markerfacecolor() != "white"


def test_the_probability_beside_a_contrast_is_that_of_the_fit(fit: BiasFit, ax: Any) -> None:
    plot_contrasts(fit, ax=ax)
    frame = fit.contrasts()
    frame = frame[frame["level"] == "overall"]
    written = [text.get_text() for text in ax.texts]
    for row in frame.itertuples():
        said = probability_printed(row.p_below_zero, row.mcse_p_below_zero)
        assert said.replace("0.", ".").replace(" ", "") in written


def test_chosen_contrasts_and_wrong_ones(fit: BiasFit, ax: Any) -> None:
    plot_contrasts(fit, level="word", contrasts=["human - neutral", "associated - human"], ax=ax)
    heads = [t.get_text() for t in ax.get_yticklabels() if t.get_fontweight() == "bold"]
    assert heads == [
        f"{contrast}, {name}"
        for contrast in ("associated − human", "human − neutral")
        for name in ("men", "women")
    ]
    with pytest.raises(InputError, match="did you mean 'associated - human'"):
        plot_contrasts(fit, contrasts=["associated - humen"], ax=ax)
    with pytest.raises(InputError, match="overall, class, word"):
        plot_contrasts(fit, level="words", ax=ax)
    with pytest.raises(InputError, match="unknown estimand"):
        plot_connections(fit, estimand="everyone", ax=ax)
    with pytest.raises(InputError, match="between 0 and 1"):
        plot_words(fit, prob=89, ax=ax)


@pytest.mark.slow
def test_one_connection_has_no_contrasts(tmp_path: Path, ax: Any) -> None:
    frame = simulated({"men": ["he", "him"], "women": ["she"]})
    fit = prior_fit(frame[frame["connection"] == "neutral"].reset_index(drop=True))
    made = save_figures(fit, tmp_path, "svg")
    assert [path.stem for path in made] == ["priors", "connections", "words", "predictive"]
    with pytest.raises(FitError, match="the table holds"):
        plot_contrasts(fit, ax=ax)


@pytest.mark.slow
def test_lists_of_stereotypes_are_drawn_where_the_model_has_them(ax: Any) -> None:
    table = bb.distance_table("minilm-static", "gender", controls=None)
    quick = {"seed": shifted(1), "draws": 200, "tune": 300, "chains": 2, "pointwise": False}
    cells, crossed = bb.fit(table, "default", **quick), bb.fit(table, "crossed", **quick)
    plot_contrasts(cells, level="attribute_set", ax=ax)
    rows = cells.contrasts(level="attribute_set", estimand="population")
    means = [line.get_xdata()[0] for line in drawn(ax, "_population")]
    assert len(rows) == 2
    np.testing.assert_allclose(sorted(means), sorted(rows["mean"]))
    assert "contrasts_attribute_set" in [plate.name for plate in plates(cells)]
    assert "contrasts_attribute_set" not in [plate.name for plate in plates(crossed)]
    with pytest.raises(InputError, match="unknown level"):
        plot_contrasts(crossed, level="attribute_set", ax=ax)
    for fitted, says in ((cells, "new words of the class"), (crossed, "its listed words, new attributes")):
        caption = next(plate.caption for plate in plates(fitted) if plate.name == "contrasts_class")
        assert says in caption


def test_what_no_class_and_no_word_has_is_not_drawn(tmp_path: Path) -> None:
    """Covariates of one class's stereotypes leave each word with pairs of one kind: limits of the axis were no numbers."""
    frame = pairs(seed=1)
    stereotypes = frame["connection"].isin(["associated", "different"])
    one = frame["attribute_class"] == frame.loc[stereotypes, "attribute_class"].iloc[0]
    for rows in (frame[one | ~stereotypes], frame[one & stereotypes]):
        fit = made_up(rows.reset_index(drop=True), values={"word_by_connection": 0.9}, sd=0.01)
        drawn_here = {plate.name: plate.figure() for plate in plates(fit)}
        assert "contrasts" in drawn_here
        # With controls a word has something else to show.
        assert ("contrasts_word" in drawn_here) == (
            not rows["connection"].isin(["associated", "different"]).all()
        )
