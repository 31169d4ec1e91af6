"""Comparisons by name, beside the same sums of draws and of rows of the table."""

import numpy as np
import pandas as pd
import pytest
from helpers import monte_carlo as mc
from helpers.draws import made_up_fit
from helpers.tables import grid
from matplotlib.figure import Figure

import bayesbias as bb
from bayesbias.core import InputError


@pytest.fixture(scope="module")
def made():
    return made_up_fit(grid(), "default")


@pytest.fixture(scope="module")
def groups():
    return made_up_fit(grid(human=0, neutral=0), "groups")


def narrowest(draws, prob):
    """Return the shortest interval between two draws that has a share of them."""
    ordered = sorted(draws)
    inside = int(prob * len(ordered))
    widths = [ordered[k + inside] - ordered[k] for k in range(len(ordered) - inside)]
    first = widths.index(min(widths))
    return ordered[first], ordered[first + inside]


def assert_describes(row, draws, prob, rope):
    """Assert that a row has the numbers of these draws."""
    assert row["mean"] == pytest.approx(draws.mean(), abs=1e-12)
    assert row["sd"] == pytest.approx(draws.std(ddof=1), abs=1e-12)
    ends = row["hpdi_low"], row["hpdi_high"]
    assert ends == pytest.approx(narrowest(draws, prob), abs=1e-12)
    assert row["p_below_zero"] == np.mean(draws < 0)
    assert row["p_in_rope"] == np.mean(np.abs(draws) < rope)


def test_classes_on_one_set_of_stereotypes(made):
    """No table has these rows: two classes on the stereotypes of a third."""
    row = made.compare(
        "class1 - class2", on="class0", prob=0.7, rope=0.03, estimand="population", detail=True
    ).iloc[0]
    cells = made.idata["posterior"]["class_by_set"].sel(
        attribute_class="class0", connection="different"
    )
    sides = [cells.sel(protected_class=name).to_numpy().ravel() for name in ("class1", "class2")]
    assert_describes(row, sides[0] - sides[1], 0.7, 0.03)
    labels = row[["level", "name", "contrast", "estimand"]].tolist()
    assert labels == ["between", "class1 - class2", "class0", "population"]


def test_weights_of_classes_on_a_difference_of_sets(made):
    """The difference between two differences, with classes weighed."""
    weights = {"class0": 0.25, "class1": 0.75, "class2": -1}
    row = made.compare(weights, on="human - neutral", estimand="population", detail=True).iloc[0]
    cells = made.idata["posterior"]["class_by_set"]
    total = 0.0
    for kind, sign in (("human", 1), ("neutral", -1)):
        cell = cells.sel(attribute_class=kind, connection=kind)
        for name, weight in weights.items():
            total = total + sign * weight * cell.sel(protected_class=name).to_numpy().ravel()
    assert_describes(row, total, 0.89, made.default_rope())
    assert row["name"] == "0.25 class0 + 0.75 class1 - class2"


def test_the_listed_words_have_the_means_of_their_rows(made):
    frame = made.compare("w00 - others", on="human - neutral", detail=True)
    row = frame.set_index("estimand").loc["listed_words"]
    table = made.table
    means = table.groupby(["protected_word", "connection"], observed=True)["distance"].mean()
    by_word = means.unstack()
    differences = by_word["human"] - by_word["neutral"]
    expected = differences["w00"] - differences.drop("w00").mean()
    assert row["observed"] == pytest.approx(expected, abs=1e-12)
    assert row["level"] == "word"


@pytest.mark.parametrize("level", ["between", "others"])
def test_printed_rows_of_groups_are_found_by_name(groups, level):
    """R-hat and ESS are of ranks, and the made-up draws have ties but for rounding."""
    labels = ["level", "name", "contrast", "estimand", "verdict"]
    printed = groups.contrasts(level=level, detail=True)
    for _, row in printed.iterrows():
        again = groups.compare(
            row["name"], on=row["contrast"], estimand=row["estimand"], detail=True
        )
        assert again.iloc[0][labels].tolist() == row[labels].tolist()
        numbers = row.drop([*labels, "r_hat", "ess_bulk", "mcse_mean"]).astype(float).dropna()
        assert again.iloc[0][list(numbers.index)].tolist() == pytest.approx(
            numbers.tolist(), abs=1e-9
        )


def test_printed_rows_of_a_class_are_found_by_name(made):
    printed = made.contrasts(level="class", estimand="population", detail=True)
    row = printed[printed["name"].eq("class1") & printed["contrast"].eq("different - neutral")]
    for again in (
        made.compare("different - neutral", on="class1", estimand="population", detail=True),
        made.compare(" class1 ", on="different - neutral", estimand="population", detail=True),
    ):
        pd.testing.assert_frame_equal(again, row.reset_index(drop=True), rtol=1e-9)
    turned = made.compare("neutral - different", on="class1", estimand="population").iloc[0]
    assert turned["mean"] == pytest.approx(-row["mean"].item(), abs=1e-12)
    assert (turned["hpdi_low"], turned["hpdi_high"]) == pytest.approx(
        (-row["hpdi_high"].item(), -row["hpdi_low"].item()), abs=1e-3
    )


def test_mixtures_agree_with_draws(crossed):
    """The interval of a fit comes from a mixture; draws of the effects give it as well."""
    frame = crossed.compare("a - b", on="human", detail=True)
    draws = crossed.table_draws("compare", comparison="a - b", on="human")
    assert frame["estimand"].tolist() == ["listed_words"]  # this model has no new words of a class
    means = crossed.table_draws("means", level="class", estimand="listed_words")
    sides = []
    for name in ("a", "b"):
        rows = (means["name"] == name) & (means["connection"] == "human")
        sides.append(means[..., rows.to_numpy()].to_numpy().ravel())
    own = draws.isel(row=0).to_numpy().ravel()
    np.testing.assert_allclose(own, sides[0] - sides[1], atol=1e-12)

    row = frame.iloc[0]
    error = own.std(ddof=1) / np.sqrt(len(own) / 4)
    assert abs(row["mean"] - own.mean()) < mc.K * error
    width = row["hpdi_high"] - row["hpdi_low"]
    low, high = narrowest(own, 0.89)
    assert abs((high - low) / width - 1) < mc.K * 2 / np.sqrt(len(own) / 4)


def test_both_estimands_have_the_columns_of_contrasts(groups):
    frame = groups.compare("class0 - class1", on="class2 - class1")
    assert frame["estimand"].tolist() == ["population", "listed_words"]
    assert frame.columns.tolist() == groups.contrasts().columns.tolist()


@pytest.mark.parametrize(
    ("comparison", "on", "message"),
    [
        ("class1 - klass2", "human", "compare: expected .* got 'klass2'. Did you mean 'class2'"),
        ("class1 - class2", "humans", "on: expected .* got 'humans'. Did you mean 'human'"),
        ("class1 - class2", None, 'on: .* compared on: associated, .* Write on="associated"'),
        ("class1", "human", "compare 'class1': expected a difference.* a sum of 1"),
        ("class1 - class1", "human", "two different names, got 'class1 - class1'"),
        ({"class1": 1, "w00": -1}, "human", "expected names of one kind"),
        ({"class1": "1"}, "human", "weight of 'class1': expected a finite number"),
        ({}, "human", "expected a weight that is not zero"),
        (3, "human", 'expected "NAME - NAME", or a weight for each name, got 3'),
        ("class1 - class2", "w00", "on: expected"),
        ("class0 - class1", "associated - x", "on: expected .* got 'x'"),
    ],
)
def test_unknown_and_unfinished_comparisons_are_refused_in_one_line(made, comparison, on, message):
    with pytest.raises(InputError, match=message) as error:
        made.compare(comparison, on=on)
    assert "\n" not in str(error.value)


def test_an_unknown_name_suggests_classes_before_words_and_lists_that_have_it(made):
    """`w0` is nearer to a word than to a class, and single words are rarely meant."""
    with pytest.raises(InputError, match=r"The classes are class0, class1, class2\.$"):
        made.compare("w0 - w9", on="human")
    with pytest.raises(InputError, match=r"on: .* The shipped lists weat6 and weat6b have it\.$"):
        made.compare("class1 - class2", on="family")


def test_single_words_are_not_taken_for_groups(made):
    frame = made.compare("w00 - w01", on="human")
    assert frame["level"].tolist() == ["word", "word"]
    ax = bb.plot_contrasts(frame, ax=Figure().subplots())
    labels = [text.get_text().replace("\n", " ") for text in ax.get_yticklabels()]
    assert labels == ["w00 − w01 (two words), human"]
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "these words, new attributes" in legend
    assert "new words" not in legend


def test_estimands_without_a_comparison_are_refused(made, crossed):
    with pytest.raises(InputError, match="estimand: expected population or listed_words"):
        made.compare("human - neutral", estimand="one_new_word")
    with pytest.raises(InputError, match="no intervals by class for new words"):
        crossed.compare("a - b", on="human", estimand="population")
    with pytest.raises(InputError, match="level: expected class, overall"):
        made.compare("human - neutral", level="group")


def test_a_name_of_class_and_set_is_told_apart_by_level(made):
    of_classes = made.compare("class0 - class1", on="human")
    of_sets = made.compare("class0 - class1", on="different", level="attribute_set")
    assert of_classes["contrast"].tolist() == ["human"] * 2
    cells = made.table.query("connection == 'different'")
    means = cells.groupby("attribute_class", observed=True)["distance"].mean()
    row = made.compare(
        "class0 - class1", on="different", level="attribute_set", detail=True
    ).set_index("estimand")
    expected = means["class0"] - means["class1"]
    assert row.loc["listed_words", "observed"] == pytest.approx(expected, abs=1e-12)
    assert of_sets["name"].tolist() == ["class0 - class1"] * 2


def test_comparisons_are_drawn(made):
    tables = [
        made.compare("class1 - class2", on="human"),
        made.compare("class1 - class2", on="class0"),
    ]
    rows = pd.concat(tables)
    ax = bb.plot_contrasts(rows, ax=Figure().subplots())
    labels = [text.get_text().replace("\n", " ") for text in ax.get_yticklabels()]
    assert labels == ["class1 − class2, human", "class1 − class2, class0"]
    marks = {line.get_label(): list(line.get_xdata()) for line in ax.lines}
    of_new = rows[rows["estimand"] == "population"]
    assert marks["_population"] == of_new["mean"].tolist()
    assert ax.get_xlabel().startswith("difference in cosine distance")
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["new words", "listed words", f"ROPE ±{made.default_rope():g}"]

    with pytest.raises(InputError, match="fit: expected the columns"):
        bb.plot_contrasts(pd.DataFrame({"mean": [1.0]}))
