"""The default ROPE: the smaller of 0.02 and 0.2 SDs of pairs, wherever a result is shown."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from helpers.draws import made_up_comparison
from helpers.fits import made_up, pairs
from helpers.seeds import shifted
from matplotlib.figure import Figure

import bayesbias as bb
from bayesbias.core.conventions import ROPE
from bayesbias.inference.view import View
from bayesbias.models.spec import load_model, parse_model
from bayesbias.tables.reading import as_pair_table

NOISE = {"associated": 0.04, "different": 0.05, "human": 0.06, "neutral": 0.07}
VALUES = {
    "connection_mean": 0.9,
    "word_by_connection": 0.9,
    "attribute_effect": 0.0,
    "word_by_connection_sd": 0.02,
    "sigma": lambda connection: NOISE[connection],
    "attribute_sd": 0.03,
}


def two_digits(value: float) -> float:
    return round(value, 1 - int(np.floor(np.log10(value))))


def sds(fit: bb.BiasFit) -> dict[str, float]:
    """Return the posterior mean of the SD of single pairs of each connection, of the model crossed."""
    draws = fit.parameter_draws()
    out = {}
    for place, connection in enumerate(fit.design.coords["connection"]):
        own = draws["word_by_connection_sd"][:, place] ** 2 + draws["sigma"][:, place] ** 2
        out[connection] = np.sqrt(own + draws["attribute_sd"] ** 2).mean()
    return out


def test_it_is_a_fifth_of_the_sd_of_neutral_pairs():
    fit = made_up(pairs(), "crossed", VALUES, sd=0.002)
    expected = two_digits(0.2 * sds(fit)["neutral"])
    assert 0.01 < expected < ROPE
    assert fit.default_rope() == expected
    assert set(fit.contrasts(detail=True)["rope"]) == {expected}
    assert set(fit.contrasts(rope=0.03, detail=True)["rope"]) == {0.03}
    assert set(fit.standardized()["rope"]) == {0.1}


def test_without_neutral_pairs_it_is_that_of_both_kinds_pooled():
    table = pairs({"associated": 0.8, "different": 0.9})
    fit = made_up(table, "crossed", VALUES, sd=0.002)
    by_kind = sds(fit)
    pooled = np.sqrt((by_kind["associated"] ** 2 + by_kind["different"] ** 2) / 2)
    assert fit.default_rope() == two_digits(0.2 * pooled)


def test_where_pairs_differ_much_it_is_the_conventional_one():
    wide = VALUES | {"sigma": 0.3}
    assert made_up(pairs(), "crossed", wide, sd=0.002).default_rope() == ROPE


def test_it_comes_from_the_raw_rows_where_the_noise_has_no_variance():
    table = pairs(noise=0.05)
    fit = made_up(table, "robust", None)
    neutral = table.loc[table["connection"] == "neutral", "distance"]
    assert fit.default_rope() == two_digits(0.2 * neutral.std(ddof=0))


def test_of_other_outcomes_than_distances_it_is_the_conventional_one():
    text = load_model("crossed").text.replace('outcome = "distance"', 'outcome = "change"')
    table = pairs().rename(columns={"distance": "change"})
    fit = made_up(table, parse_model(text.encode(), "crossed"), VALUES, sd=0.002)
    assert 0.2 * sds(fit)["neutral"] < ROPE
    assert fit.default_rope() == ROPE


@pytest.mark.parametrize("by", [1, 10])
def test_the_verdict_does_not_depend_on_how_close_vectors_lie(by):
    """Distances whose spread is a tenth have a tenth of the ROPE, and the same verdict."""
    table = pairs({"associated": 0.75, "different": 0.9, "human": 0.9, "neutral": 0.9}, noise=0.08)
    mean = table["distance"].mean()
    shrunk = table.assign(distance=mean + (table["distance"] - mean) / by)
    settings = {"seed": shifted(3), "draws": 1000, "engine": "quick"}
    fit = bb.fit(shrunk, "crossed", **settings)
    assert fit.default_rope() == min(ROPE, two_digits(0.2 * sds(fit)["neutral"]))
    row = fit.contrasts(level="overall", estimand="population").iloc[0]
    assert row["verdict"] == "below"
    if by > 1:
        assert fit.contrasts(rope=0.02, level="overall")["verdict"].iloc[0] != "below"


@pytest.fixture(scope="module")
def close() -> bb.BiasFit:
    """A fit whose ROPE is neither the conventional one nor that of religion or race."""
    return bb.fit(pairs(noise=0.05), "crossed", seed=shifted(4), engine="quick")


def test_screen_json_figure_and_folder_have_the_same(close, tmp_path):
    rope = close.default_rope()
    assert rope < ROPE
    answer = bb.output.to_json(close)
    assert {row["rope"] for row in answer["contrasts"]} == {rope}
    ax = bb.plot_contrasts(close, ax=Figure().subplots())
    assert f"ROPE ±{rope:g}" in [text.get_text() for text in ax.get_legend().get_texts()]
    bb.save_run(close, tmp_path / "run", figures=())
    stored = json.loads((tmp_path / "run" / "run.json").read_text())
    assert stored["view"]["rope"] == rope
    assert pd.read_csv(tmp_path / "run" / "contrasts.csv")["rope"].unique() == [rope]
    assert f"of ±{rope:g}" in bb.methods_paragraph(close)


def test_a_chosen_one_stands(close):
    _, view = close.shown_with(View(rope=0.02))
    assert view.rope == 0.02
    answer = bb.output.to_json(close, View(rope=0.02))
    assert {row["rope"] for row in answer["contrasts"]} == {0.02}


def test_results_of_several_fits_have_the_smallest():
    near, far = (
        made_up(pairs(seed=seed), "crossed", VALUES | {"sigma": sigma}, sd=0.002, seed=seed)
        for seed, sigma in ((2, 0.03), (3, 0.06))
    )
    assert near.default_rope() < far.default_rope()
    smallest = {near.default_rope()}
    assert set(bb.difference(far, near).table["rope"]) == smallest
    pooled = bb.pool_replicates({"a": far, "b": near})
    assert {pooled.default_rope()} == smallest
    assert set(pooled.contrasts(detail=True)["rope"]) == smallest
    assert set(pooled.by_set()["rope"]) == smallest
    assert pooled.shown_with(View())[1].rope == near.default_rope()


def test_a_comparison_has_that_of_the_distances_before():
    before = pairs(noise=0.05)
    mean = before["distance"].mean()
    after = before.assign(distance=mean + (before["distance"] - mean) / 10)
    found = made_up_comparison(as_pair_table(before), {"weak": as_pair_table(after)})
    rope = found.original.default_rope()
    assert found.methods["weak"].after.default_rope() < rope
    assert found.default_rope() == rope
    assert set(found.contrasts(detail=True)["rope"]) == set(found.changes()["rope"]) == {rope}
    assert found.shown_with(View())[1].rope == rope
    assert found.shown_with(View(rope=0.02))[1].rope == 0.02
