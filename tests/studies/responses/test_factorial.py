"""Groups that cross factors: weights of contrasts, the fit, the screen and limits."""

import itertools

import numpy as np
import pandas as pd
import pytest
from helpers.responses import quick
from matplotlib.figure import Figure

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.models.spec import load_model
from bayesbias.models.variants import with_factors
from bayesbias.studies import requirements
from bayesbias.studies.responses import factorial
from bayesbias.studies.responses.limits import check_names
from bayesbias.studies.responses.sections import _of_factors_in_words, sections

EFFECT = {("f", "a"): 0.0, ("f", "b"): 0.6, ("f", "c"): 0.3, ("m", "a"): 0.2, ("m", "b"): 0.1, ("m", "c"): 0.4}  # fmt: skip


def answers(items=8, seed=3):
    """Return answers of two genders by three ethnicities to the same items."""
    rng = np.random.default_rng(seed)
    item = rng.normal(0, 1, items)
    rows = [
        (gender, ethnicity, f"{gender}{ethnicity}{word}", f"i{i}", mean + item[i] + rng.normal(0, 0.2))
        for (gender, ethnicity), mean in EFFECT.items()
        for word in range(3)
        for i in range(items)
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["gender", "ethnicity", "name", "item", "score"])


def table_of(frame, group="gender*ethnicity"):
    return bb.responses_table(frame, group=group, word="name", outcome="score")


@pytest.fixture(scope="module")
def found():
    return quick(table_of(answers()), draws=300, tune=300, chains=2)


def cell_means(frame):
    return frame.groupby(["gender", "ethnicity"])["score"].mean()


def test_cells_are_groups():
    table = table_of(answers(), ["gender", "ethnicity"])
    assert table.groups == ["f, a", "f, b", "f, c", "m, a", "m, b", "m, c"]
    assert table.factors["gender"]["m, c"] == "m"
    assert not {"gender", "ethnicity"} & {*table.unused}


def test_contrasts_weigh_cells_alike_whatever_their_size():
    frame = pd.concat([answers(), answers(seed=4).query("gender == 'f' and ethnicity == 'a'")])
    contrasts = {each.name: each for each in factorial.contrasts_of(table_of(frame))}
    means = cell_means(frame)

    def value(name):
        weights = contrasts[name].weights
        return sum(weight * means[tuple(cell.split(", "))] for cell, weight in weights.items())

    by = means.unstack()
    gap = by.loc["f"] - by.loc["m"]
    assert value("f - m") == pytest.approx(gap.mean())
    assert value("a - others") == pytest.approx((by["a"] - by[["b", "c"]].mean(axis=1)).mean())
    assert value("a - mean") == pytest.approx((by["a"] - by.mean(axis=1)).mean())
    assert value("f - m (b)") == pytest.approx(gap["b"])
    assert value("(f - m): a - others") == pytest.approx(gap["a"] - gap[["b", "c"]].mean())
    assert contrasts["f - m (b)"].level == "simple"


def test_three_factors():
    cells = itertools.product("fm", "ab", "xy")
    frame = pd.DataFrame(cells, columns=["gender", "race", "age"]).assign(score=np.arange(8.0) ** 2)
    table = bb.responses_table(frame, group="gender*race*age", outcome="score")
    contrasts = {each.name: each.weights for each in factorial.contrasts_of(table)}
    assert contrasts["f - m (a)"] == {
        "f, a, x": 0.5,
        "f, a, y": 0.5,
        "m, a, x": -0.5,
        "m, a, y": -0.5,
    }
    assert contrasts["f - m (a, y)"] == {"f, a, y": 1.0, "m, a, y": -1.0}
    assert contrasts["(f - m): x - y"]["m, b, y"] == 0.5


def test_a_cell_without_answers_is_left_out_of_main_effects():
    frame = answers().query("not (gender == 'm' and ethnicity == 'c')")
    table = table_of(frame)
    contrasts = {each.name: each.weights for each in factorial.contrasts_of(table)}
    assert contrasts["f - m"] == {"f, a": 0.5, "f, b": 0.5, "m, a": -0.5, "m, b": -0.5}
    assert "f - m (c)" not in contrasts
    assert factorial.missing_cells(table) == ["m, c"]


def test_levels_that_two_factors_share_have_their_factor():
    frame = pd.DataFrame({"score": np.arange(8.0)}).assign(
        parent=["yes", "no"] * 4, disability=["yes", "yes", "no", "no"] * 2
    )
    table = bb.responses_table(frame, group="parent*disability", outcome="score")
    names = [each.name for each in factorial.contrasts_of(table)]
    assert names[:2] == ["parent no - parent yes", "disability no - disability yes"]


@pytest.mark.parametrize(
    ("group", "problem"),
    [
        ("gender*item*name*ethnicity", "two or three factors"),
        ("gender*age", "age"),
        ("gender*one", "two levels"),
    ],
)
def test_factors_that_cannot_be(group, problem):
    with pytest.raises(InputError, match=problem):
        table_of(answers().assign(one="x"), group)


def test_estimates_are_those_of_cell_means(found):
    """In a balanced table the restricted maximum likelihood estimate is the contrast of raw means."""
    rows = found.contrasts(estimand="population", level="overall", detail=True).set_index(
        "contrast"
    )
    gap = cell_means(answers()).unstack().pipe(lambda by: by.loc["f"] - by.loc["m"])
    for name, expected in (
        ("f - m", gap.mean()),
        ("f - m (b)", gap["b"]),
        ("(f - m): a - others", gap["a"] - gap[["b", "c"]].mean()),
    ):
        row = rows.loc[name]
        assert row["mean"] == pytest.approx(expected, abs=0.1 * row["sd"] + 3 * row["mcse_mean"])
    assert rows.loc["f - m", "level"] == "main"
    assert {*found.contrasts(level="interaction")["level"]} == {"interaction"}
    by_item = found.contrasts(level="item")
    assert {"f - m", "a - others"} <= {*by_item["contrast"]}
    assert not by_item["contrast"].str.contains(r"[(:]").any()


def test_the_screen_has_main_effects_and_the_largest_interaction(found):
    text = bb.output.to_text(found)
    assert "f - m " in text
    assert "a - others" in text
    assert text.count("(f - m): ") >= 1
    assert "f - m (a)" not in text
    assert len(text.splitlines()) <= 25
    assert "f - m (a)" in bb.output.to_text(found, detail=True)


def test_limits_take_the_names(found):
    rows = found.contrasts(estimand="population", level="overall").set_index("contrast")
    low, high = rows.loc["f - m (b)", ["hpdi_low", "hpdi_high"]]
    limits = f"f - m (b)>{low - 0.1}, m - f (b)>{-high - 0.1}, (f - m): others - a<{low - 9}"
    first, turned, last = requirements.check_requirements(found, limits)
    assert (first.met, turned.met, last.met) == (True, True, False)
    assert first.value == pytest.approx(low)
    assert turned.value == pytest.approx(-high)


def test_cells_are_compared_with_their_mean(found):
    rows = found.contrasts(estimand="population", level="cell", detail=True).set_index("contrast")
    means = cell_means(answers())
    assert len(rows) == 6
    row = rows.loc["f, b - mean"]
    expected = means["f", "b"] - means.mean()
    assert row["mean"] == pytest.approx(expected, abs=0.1 * row["sd"] + 3 * row["mcse_mean"])
    largest = rows[["hpdi_low", "hpdi_high"]].abs().max(axis=None)
    of_levels = found.contrasts(estimand="population", level="main").set_index("contrast")
    limits = "f, b - mean<9, |each cell - mean|<9, |each level - mean|<9"
    cell, cells, levels = requirements.check_requirements(found, limits)
    assert cell.value == pytest.approx(row["hpdi_high"])
    assert cells.value == pytest.approx(largest)
    by_level = [of_levels.loc[f"{name} - mean", ["hpdi_low", "hpdi_high"]] for name in "abc"]
    half = of_levels.loc["f - m", ["hpdi_low", "hpdi_high"]].abs().max() / 2
    assert levels.value == pytest.approx(max([*(ends.abs().max() for ends in by_level), half]))


def test_cells_have_a_figure_and_a_table_of_their_own(found):
    rows = found.contrasts(estimand="population", level="cell").sort_values("mean")
    ax = bb.plots.plot_response_models(found, level="cell", ax=Figure().subplots())
    shown = [label.get_text().replace("\N{MINUS SIGN}", "-") for label in ax.get_yticklabels()]
    assert sorted(shown) == sorted(rows["contrast"])
    drawn = ax.data[ax.data["estimand"] == "population"]
    assert drawn["contrast"].tolist() == rows["contrast"].tolist()
    (section,) = [
        part
        for part in sections(found, bb.View().resolved(rope=found.rope))
        if part.name == "cells"
    ]
    assert sorted(section.make()["contrast"]) == sorted(rows["contrast"])


def test_the_note_counts_differences_by_kind(found):
    known = factorial.contrasts_of(found.responses)
    numbers = [
        len([each for each in known if each.level == level and each.against != "mean"])
        for level in ("main", "simple", "interaction")
    ]
    said = bb.interpret(found)
    assert f"Largest of {numbers[2]} interactions" in said.headline
    counts = "{} main effects, {} simple effects, {} interactions".format(*numbers)
    assert any(f"{sum(numbers)} differences are compared ({counts})" in note for note in said.notes)


@pytest.mark.parametrize(
    ("limit", "hint"),
    [
        ("f, a - m, a>0", "These two cells are f - m (a)."),
        ("m, b - f, b>0", "These two cells are f - m (b), reversed."),
        ("f, a - m, b>0", "each compared with the mean of all"),
        ("f, a - men>0", "Did you mean 'f, a - mean'?"),
        ("|each group - mean|<1", "each level of a factor, or each cell"),
    ],
)
def test_names_of_limits_that_a_table_does_not_have(limit, hint):
    table = table_of(answers())
    with pytest.raises(InputError) as error:
        check_names(table, limit)
    message = str(error.value)
    assert hint in message
    examples = ['"f - m (a) > -0.05"', '"|each level - mean| < 0.05"', '"f, a - mean > -0.05"']
    assert all(example in message for example in examples)
    for example in examples:
        check_names(table, example.strip('"'))


def three_factors(races=("black", "white")):
    """Return answers of which one of three ages is rated lower, by less than genders differ."""
    rng = np.random.default_rng(2)
    rows = [
        (gender, race, age, f"i{i}", 0.8 * (gender == "f") - 0.3 * (age == "old") + rng.normal(0, 0.3))
        for gender in "fm"
        for race in races
        for age in ("middle", "old", "young")
        for i in range(6)
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["gender", "race", "age", "item", "score"])
    return bb.responses_table(frame, group="gender*race*age", outcome="score")


def test_each_factor_is_on_the_screen_and_in_the_result():
    found = quick(three_factors(), draws=500, tune=300, chains=2)
    text = bb.output.to_text(found)
    assert len(text.splitlines()) <= 25
    for name in ("f - m  ", "black - white  ", "old - others  "):
        assert any(line.startswith(name) for line in text.splitlines())
    result = bb.interpret(found).headline
    assert "of 3 differences of a level from the others exclude 0" in result
    assert "Largest: old - others -0." in result
    assert "size uncertain" not in text
    kinds = [contrast.level for contrast in factorial.contrasts_of(found.responses)]
    assert f"Largest of {kinds.count('interaction')} interactions: (" in result
    # What is said of rows and tests is about the largest main effect, not the first by name.
    assert found.independent()["contrast"].tolist() == ["f - m"]


def test_an_item_without_rows_of_a_factor_has_no_sentence_about_it(found):
    rows = found.contrasts(estimand="population", level="main", detail=True)
    rows = rows[rows["contrast"] == "f - m"].assign(label="f - m")
    said = _of_factors_in_words(found.responses, rows, "new words")
    assert said.startswith("f ")
    assert "ethnicity" not in said


def test_cells_do_not_lack_the_names_of_others():
    frame = answers(items=4).assign(age="old")
    frame = pd.concat([frame, frame.assign(age="young")])
    found = quick(table_of(frame, "gender*ethnicity*age"), draws=200, tune=200, chains=2)
    assert not any("lacks" in note for note in found.notes)


def test_figures_of_three_factors_have_the_largest_interactions():
    table = three_factors(("asian", "black", "latino", "white"))
    found = quick(table, draws=200, tune=200, chains=2)
    rows = found.contrasts(estimand="population", level="interaction", detail=True)
    rows = rows[rows["contrast"].str.contains(" - others", regex=False)]
    far = (rows.set_index("contrast")["mean"] / rows.set_index("contrast")["sd"]).abs()
    expected = {*far.nlargest(8).index}
    assert len(far) > 8
    drawn = bb.plots.plot_response_models(found).data
    assert {*drawn.loc[drawn["level"] == "interaction", "contrast"]} == expected
    assert {*drawn.loc[drawn["level"] == "main", "contrast"]} == {*found.main_effects}


def test_figures_of_factors_have_main_effects_and_interactions(found):
    labels = [tick.get_text() for tick in bb.plots.plot_response_models(found).get_yticklabels()]
    assert labels == [
        "f − m", "a − others", "b − others", "c − others",
        "(f − m): a − others", "(f − m): b − others", "(f − m): c − others",
    ]  # fmt: skip
    by_item = bb.plots.plot_response_templates(found)
    assert {*by_item.data["contrast"]} == {"f - m", "a - others", "b - others", "c - others"}


def test_effects_of_factors_by_items_have_sds():
    spec = with_factors(load_model("responses"), {"gender": "factor gender"}, words_cross=True)
    assert spec.parameters["gender_by_item"].dims == ("factor gender", "item")
    assert "group_by_word" in spec.mu
    table = table_of(answers())
    rows = factorial.with_factors(table.frame.assign(arm=table.frame["group"] + " | "), table)
    assert {*rows["factor gender"]} == {"f", "m"}


@pytest.mark.parametrize(
    ("spread", "left_out"), [(0.0, ["gender", "ethnicity"]), (0.5, ["ethnicity"])]
)
def test_large_tables_keep_the_effects_by_item_that_means_show(spread, left_out):
    frame = answers(items=120, seed=9)
    rng = np.random.default_rng(1)
    own = {f"i{k}": rng.normal(0, spread) if spread else 0.0 for k in range(120)}
    frame["score"] += frame["item"].map(own).where(frame["gender"] == "f", 0.0)
    table = table_of(frame)
    assert factorial.factors_alike(table.frame, table, "item") == left_out
