"""Groups compared by name, beside the same sums of draws of their means."""

import numpy as np
import pandas as pd
import pytest
from helpers.responses import crossed, quick
from matplotlib.figure import Figure

import bayesbias as bb
from bayesbias.core import InputError
from bayesbias.studies.responses.fitting import weights_of_series

LABELS = ["model", "contrast", "level", "name", "estimand", "scale", "verdict"]
NUMBERS = ["mean", "sd", "hpdi_low", "hpdi_high", "p_below_zero", "p_in_rope"]


@pytest.fixture(scope="module")
def three():
    return quick(crossed(groups=("a", "b", "c"), models=("m1", "m2")))


def test_printed_differences_are_found_by_name(three):
    printed = three.contrasts(detail=True, families=False)
    printed = printed[printed["level"].eq("overall") & printed["model"].isin(["m1", "m2"])]
    for name in ("b - c", "a - others"):
        frame = three.compare(name, detail=True)
        rows = printed[printed["contrast"] == name].reset_index(drop=True)
        columns = [*LABELS, *NUMBERS]
        pd.testing.assert_frame_equal(frame[columns], rows[columns], rtol=1e-9)


def test_weights_are_those_of_the_means_of_groups(three):
    """The mean is linear, and the listed words have the means of their answers."""
    weights = {"a": 0.25, "b": 0.75, "c": -1}
    frame = three.compare(weights, detail=True)
    means = three.responses.frame.groupby(["model", "group"])["outcome"].mean().unstack()
    expected = 0.25 * means["a"] + 0.75 * means["b"] - means["c"]
    listed = frame[frame["estimand"] == "listed_words"].set_index("model")
    assert listed["observed"].to_dict() == pytest.approx(expected.to_dict(), abs=1e-9)

    new = frame[frame["estimand"] == "population"].set_index("model")["mean"]
    of_groups = three.fit.summary().set_index("arm")["mean"]
    for model in ("m1", "m2"):
        total = sum(weight * of_groups[f"{name} | {model}"] for name, weight in weights.items())
        assert new[model] == pytest.approx(total, abs=1e-9)
    assert frame["contrast"].unique().tolist() == ["0.25 a + 0.75 b - c"]


def test_a_reversed_difference_on_one_item(three):
    frame = three.compare("b - a", on="i1", detail=True)
    printed = three.contrasts(level="item", detail=True)
    rows = printed[printed["contrast"].eq("a - b") & printed["name"].eq("i1")]
    rows = rows[rows["model"].isin(["m1", "m2"])].reset_index(drop=True)
    assert frame["mean"].tolist() == pytest.approx((-rows["mean"]).tolist(), abs=1e-9)
    assert frame["hpdi_low"].tolist() == pytest.approx((-rows["hpdi_high"]).tolist(), abs=1e-6)
    assert set(frame["name"]) == {"i1"}


@pytest.mark.slow
def test_probabilities_are_compared_draw_by_draw():
    table = crossed(groups=("a", "b", "c"), words=6, spread=1.5)
    chosen = table.assign(outcome=(table["outcome"] > table["outcome"].median()).astype(int))
    result = quick(chosen)
    row = result.compare({"a": 0.5, "b": 0.5, "c": -1}, estimand="population", detail=True).iloc[0]
    labels, draws = result.answer_kind.joint(result, "population")
    by_group = dict(zip(labels, np.moveaxis(draws, -1, 0), strict=True))
    own = (by_group["a | "] + by_group["b | "]) / 2 - by_group["c | "]
    assert row["scale"] == "probability"
    assert row["mean"] == pytest.approx(own.mean(), abs=1e-12)
    ordered = np.sort(own.ravel())
    inside = int(0.89 * ordered.size)
    first = np.argmin(ordered[inside:] - ordered[:-inside])
    ends = [row["hpdi_low"], row["hpdi_high"]]
    assert ends == pytest.approx([ordered[first], ordered[first + inside]], abs=1e-12)

    ax = bb.plot_contrasts(result.compare("a - c"), ax=Figure().subplots())
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a − c"]  # log odds are no row


def test_levels_of_a_factor_weigh_their_cells_alike():
    rows = crossed(groups=("f, old", "f, young", "m, old", "m, young"))
    factors = rows["group"].str.split(", ", expand=True)
    table = rows.drop(columns="group").assign(gender=factors[0], age=factors[1])
    result = quick(bb.responses_table(table, group="gender*age"))
    printed = result.contrasts(level="main", estimand="population", detail=True, families=False)
    main = result.compare("f - m", estimand="population", detail=True)
    row = printed[printed["contrast"] == "f - m"].iloc[0]
    assert main.iloc[0][NUMBERS].tolist() == pytest.approx(row[NUMBERS].tolist(), abs=1e-9)

    cells = result.compare("f, old - m, young", estimand="population").iloc[0]
    means = result.fit.summary().set_index("arm")["mean"]
    expected = means["f, old | "] - means["m, young | "]
    assert cells["mean"] == pytest.approx(expected, abs=1e-9)


def test_paired_answers_have_differences_alone():
    table = crossed(groups=("a", "c"), words=1).assign(word="")
    result = quick(table)
    assert result.kind == "paired"
    printed = result.contrasts(level="overall", estimand="population", detail=True, families=False)
    row = printed[printed["contrast"] == "a - c"].iloc[0]
    turned = result.compare("c - a", estimand="population", detail=True).iloc[0]
    assert turned["mean"] == pytest.approx(-row["mean"], abs=1e-12)
    assert turned["contrast"] == "c - a"
    half = result.compare({"a": 0.5, "c": -0.5}, estimand="population", detail=True).iloc[0]
    assert half["mean"] == pytest.approx(row["mean"] / 2, abs=1e-12)
    with pytest.raises(InputError, match="compare: expected a contrast of paired answers: a - c"):
        weights_of_series({"a": 0.3, "b": 0.7, "c": -1}, {"a - c": {"a": 1, "c": -1}}, "a, b - c")


def test_unknown_names_are_refused(three):
    with pytest.raises(InputError, match="compare: expected a, b or c, got 'd'"):
        three.compare("a - d")
    with pytest.raises(InputError, match=r"on: expected i0, .* got 'x0'"):
        three.compare("a - b", on="x0")
    with pytest.raises(InputError, match="weights add up to 0"):
        three.compare({"a": 1, "b": 1})
    with pytest.raises(InputError, match="estimand: expected"):
        three.compare("a - b", estimand="new")
