"""Covariates joined to the rows of a table: from every source the same, and clear words for what is none."""

from __future__ import annotations

import gzip
import json
import math

import numpy as np
import pandas as pd
import pytest
from helpers.vectors import LIST, A, B, X, Y, vectors

from bayesbias.core.errors import InputError
from bayesbias.tables import join_covariates
from bayesbias.tables.covariates import covariates_given, with_covariates_known
from bayesbias.tables.distances import distance_table
from bayesbias.tables.reading import load_distances
from bayesbias.wordlists.listfile import load_wordlist

WOMEN = {"a1": 90.0, "a2": 10.5, "b1": 50.0, "b2": 33.0}
CONTROLS = {"neutral": ["n1", "n2", "n3"], "human": ["h1", "h2"]}
CSV = "word,percent_women,sector\na1,90,health\na2,10.5,trade\nb1,5e1,health\nb2,33,\nmidwife,99,health\n"


@pytest.fixture(scope="module")
def table():
    words = [*X, *Y, *A, *B, "n1", "n2", "n3", "h1", "h2"]
    return distance_table(vectors(3, words), LIST, controls=CONTROLS)


def value_of(table, column: str, side: str = "attribute") -> dict[str, float]:
    return dict(table.frame[[side, column]].dropna().drop_duplicates().itertuples(index=False))


def standard(values: dict[str, float]) -> dict[str, float]:
    mean, sd = np.mean(list(values.values())), np.std(list(values.values()), ddof=1)
    return {word: (value - mean) / sd for word, value in values.items()}


def test_a_file_a_frame_and_a_mapping_say_the_same(table, tmp_path) -> None:
    path = tmp_path / "occupations.csv"
    path.write_text(CSV)
    semicolons = tmp_path / "semicolons.csv"
    semicolons.write_text(
        "Word;percent_women;sector\r\n"
        + CSV.split("\n", 1)[1].replace(",", ";").replace("10.5", "10,5")
    )
    frame = pd.read_csv(path)
    for covariates in (
        path,
        str(path),
        semicolons,
        frame,
        frame.set_index("word"),
        frame.set_index("word").rename_axis("occupation"),
        {"percent_women": WOMEN, "sector": {"a1": "health", "a2": "trade", "b1": "health"}},
    ):
        joined = join_covariates(table, covariates)
        assert value_of(joined, "percent_women") == pytest.approx(standard(WOMEN))
        assert value_of(joined, "sector") == {"a1": "health", "a2": "trade", "b1": "health"}
        assert len(joined) == len(table)
        account = joined.coverage.covariates["percent_women"]
        assert (account["side"], account["listed"], account["found"]) == ("attribute", 10, 4)
        assert account["missing"] == ["b3", "h1", "h2", "n1", "n2", "n3"]
        told = joined.provenance["covariates"]["percent_women"]
        assert (told["center"], told["scale"]) == pytest.approx(
            (45.875, np.std(list(WOMEN.values()), ddof=1))
        )
        assert (told["kind"], told["least"], told["most"]) == ("number", 10.5, 90.0)
        assert joined.provenance["covariates"]["sector"]["categories"] == ["health", "trade"]
        assert any(
            line.strip().startswith("percent_women: 6 of 10 missing: b3, h1")
            for line in repr(joined.coverage).split("\n")
        )
        assert json.dumps(joined.coverage.as_dict())
        assert joined.coverage.columns == (
            "percent_women",
            "sector",
        )
    assert join_covariates(table, path, columns=["sector"]).coverage.columns == ("sector",)
    assert "sha256" in join_covariates(table, path).provenance["covariates"]["sector"]


@pytest.mark.parametrize("none", [None, math.nan, pd.NA])
def test_a_word_without_a_value_has_none(table, none) -> None:
    values = {**WOMEN, "h1": none}
    assert value_of(join_covariates(table, {"women": values}), "women") == pytest.approx(
        standard(WOMEN)
    )


def test_numbers_are_scaled_as_is_recorded(table) -> None:
    raw = value_of(join_covariates(table, {"women": WOMEN}, scale="none"), "women")
    assert raw == WOMEN
    centred = join_covariates(table, {"women": WOMEN}, scale="center")
    assert value_of(centred, "women") == pytest.approx({w: v - 45.875 for w, v in WOMEN.items()})
    assert centred.provenance["covariates"]["women"]["scale"] == 1.0
    for scale in ("standard", "center"):
        joined = join_covariates(table, {"women": WOMEN}, scale=scale)
        told = joined.provenance["covariates"]["women"]
        back = {w: v * told["scale"] + told["center"] for w, v in value_of(joined, "women").items()}
        assert back == pytest.approx(WOMEN)


def test_the_side_is_that_whose_words_have_it(table) -> None:
    ages = dict(zip([*X, *Y], range(20, 27), strict=True))
    joined = join_covariates(table, {"age": ages})
    assert joined.provenance["covariates"]["age"]["side"] == "protected"
    assert value_of(joined, "age", "protected_word") == pytest.approx(standard(ages))
    counts = {
        w: math.log(10 + i) for i, w in enumerate([*X, *Y, *A, *B, "n1", "n2", "n3", "h1", "h2"])
    }
    both = join_covariates(table, {"log_count": counts})
    assert list(both.coverage.covariates) == ["protected_log_count", "attribute_log_count"]
    one = join_covariates(table, {"log_count": counts}, side="protected")
    assert list(one.coverage.covariates) == ["log_count"]
    assert value_of(one, "log_count", "protected_word") == pytest.approx(
        value_of(both, "protected_log_count", "protected_word")
    )


def test_words_are_matched_as_spelt_and_else_loosely(table) -> None:
    joined = join_covariates(
        table,
        {"f": {"A1": 1.0, "a-2": 5.0, "B1": 2.0, "b2": 3.0, "B2": 9.0, "b_3": 4.0}},
        scale="none",
    )
    assert value_of(joined, "f") == {"a1": 1.0, "b1": 2.0, "b2": 3.0}


def test_a_column_that_the_table_has_is_a_covariate_too(table, tmp_path) -> None:
    path = tmp_path / "pairs.csv"
    frame = table.frame.assign(
        women=table.frame["attribute"].map(WOMEN),
        age=table.frame["protected_word"].map(len),
        odd=range(len(table)),
    )
    frame["age"] = frame["protected_word"].map(dict(zip([*X, *Y], range(7), strict=True)))
    frame.to_csv(path, index=False)
    own = load_distances(path)
    joined = join_covariates(own, ["women", "age"])
    assert value_of(joined, "women") == pytest.approx(standard(WOMEN))
    assert {name: f["side"] for name, f in joined.coverage.covariates.items()} == {
        "women": "attribute",
        "age": "protected",
    }
    assert joined.coverage.columns == ("women", "age", "odd")
    with pytest.raises(InputError, match="for each word, got several"):
        join_covariates(own, "odd")
    with pytest.raises(InputError, match="Did you mean 'women'"):
        join_covariates(own, "woman")


def test_a_word_list_brings_its_covariates(tmp_path) -> None:
    path = tmp_path / "list.toml"
    text = """
schema = 1
name = "jobs"
[[class]]
name = "x"
protected = ["x1", "x2", "x3"]
attributes = ["a1", "a2"]
[[class]]
name = "y"
protected = ["y1", "y2", "y3", "y4"]
attributes = ["b1", "b2", "b3"]
[covariates.percent_women]
a1 = 90
a2 = 10.5
b1 = 50
b2 = 33
[covariates.coined]
x1 = "old"
x2 = "new"
y1 = "old"
"""
    path.write_text(text)
    assert load_wordlist(path).covariates["percent_women"] == WOMEN
    joined = distance_table(vectors(3), path)
    assert value_of(joined, "percent_women") == pytest.approx(standard(WOMEN))
    assert joined.coverage.covariates["coined"]["missing"] == ["x3", "y2", "y3", "y4"]
    more = distance_table(vectors(3), path, covariates={"len": {"x1": 1, "x2": 2, "y1": 4}})
    assert list(more.coverage.covariates) == ["percent_women", "coined", "len"]


def test_a_covariate_that_is_all_class_is_said(table) -> None:
    flat = join_covariates(table, {"f": {"a1": 1, "a2": 1, "b1": 2, "b2": 2, "b3": 2}})
    assert any("one value for all words of each class" in note for note in flat.coverage.notes)
    free = join_covariates(table, {"f": WOMEN})
    assert free.coverage.notes == table.coverage.notes


def test_rows_without_the_covariate_are_left_out_of_the_fit_by_name(table) -> None:
    joined = join_covariates(table, {"women": WOMEN, "age": dict(zip(X, (1, 2, 4), strict=True))})
    kept = with_covariates_known(joined, ["women"])
    controls = kept.frame["attribute_kind"] != "stereotype"
    assert (kept.frame.loc[controls, "women"] == 0).all()
    assert controls.sum() == 5 * 7
    assert set(kept.frame["attribute"]) == {*WOMEN, *CONTROLS["neutral"], *CONTROLS["human"]}
    assert "left out of the fit, since they have no women: b3" in kept.coverage.notes
    assert any("no control word has a part in its slope" in note for note in kept.coverage.notes)
    both = with_covariates_known(joined, ["women", "age"])
    assert set(both.frame["protected_word"]) == set(X)
    assert with_covariates_known(joined, []).frame is joined.frame
    some = {"n1": 3.0, "n2": 4.0, "h1": 5.0}  # most controls have it: the others lack it
    counted = with_covariates_known(
        join_covariates(table, {"count": {**WOMEN, "b3": 1.0, **some}}), ["count"]
    )
    assert set(counted.frame["attribute"]) & {"n1", "n2", "n3", "h1", "h2"} == set(some)


THREE = {
    name: {
        "protected": [f"{name}{i}" for i in range(3)],
        "attributes": [f"{name}t{i}" for i in range(3)],
    }
    for name in "xyz"
}


@pytest.mark.parametrize("controls", ["none", CONTROLS])
def test_a_class_of_which_no_stereotype_has_the_covariate_goes_as_where_vectors_lack_it(
    controls,
) -> None:
    """Its words stood on one side of the difference alone, so that what set them apart from all others entered it."""
    words = [word for each in THREE.values() for word in (*each["protected"], *each["attributes"])]
    held = vectors(5, [*words, *CONTROLS["neutral"], *CONTROLS["human"]])
    whole = distance_table(held, THREE, controls=controls)
    has = [word for name in "xy" for word in THREE[name]["attributes"]]
    kept = with_covariates_known(
        join_covariates(whole, {"pay": {word: float(i) for i, word in enumerate(has)}}), ["pay"]
    )
    said = [note for note in kept.coverage.notes if "left out, " in note]
    assert said == ["the class z is left out, since none of its stereotypes has pay"]
    lacking = {word: v for word, v in held.items() if not word.startswith("zt")}
    rows = (
        distance_table(lacking, THREE, controls=controls)
        .frame[["protected_word", "attribute"]]
        .astype(str)
    )
    same = kept.frame[["protected_word", "attribute"]].astype(str)
    assert set(same.itertuples(index=False)) == set(rows.itertuples(index=False))
    # With one class left there is nobody to hold it against, as where vectors lack all others.
    alone = join_covariates(whole, {"pay": {word: float(i) for i, word in enumerate(has[:3])}})
    with pytest.raises(
        InputError,
        match="covariate 'pay': expected it of stereotypes of two classes, got none of y and z",
    ):
        with_covariates_known(alone, ["pay"])


def test_a_few_control_words_that_happen_to_have_a_covariate_do_not_cost_the_others(table) -> None:
    kept = with_covariates_known(
        join_covariates(table, {"count": {**WOMEN, "b3": 1.0, "n1": 3.0}}), ["count"]
    )
    controls = kept.frame["attribute_kind"] != "stereotype"
    assert set(kept.frame.loc[controls, "attribute"]) == {"n1", "n2", "n3", "h1", "h2"}
    assert (kept.frame.loc[controls, "count"] == 0).all()
    assert kept.coverage.notes[-1].startswith("4 of 5 control words have no count")
    # A covariate about protected words is none of the control words'.
    ages = join_covariates(table, {"age": dict.fromkeys([X[0], X[1]], 1.0) | {X[2]: 2.0}})
    assert set(with_covariates_known(ages, ["age"]).frame["protected_word"]) == {X[0], X[1], X[2]}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("word,f\na1,1\na2,nought\nb1,3\n", "line 3: expected a number of f"),
        (
            "word,f\na1,1\na2,2\na1,3\nb1,1\n",
            "line 4: expected one value of f for the word 'a1'",
        ),
        ("word,f\na1,5\na2,5\nb1,5\n", "got 5.0 for all 3 attributes"),
        ("word,f\na1,5\na2,6\nb9,5\n", "got it of 2"),
        ("word,f\nq,5\nr,6\nt,7\n", "got it of 0. It is given of q, r, t"),
        ("word,distance\na1,5\na2,6\nb1,7\n", "no column of the table has, got 'distance'"),
        ("word;f\na1;3.100\na2;167\nb1;4.200\n", "numbers of f without marks between thousands"),
    ],
)
def test_what_is_no_covariate_says_why(table, content, said, tmp_path):
    (tmp_path / "x.csv").write_text(content)
    with pytest.raises(InputError) as caught:
        join_covariates(table, tmp_path / "x.csv")
    assert said in str(caught.value)


def test_decimal_commas_and_truth_values(table, tmp_path):
    (tmp_path / "x.csv").write_text("word;f\na1;1,234\na2;0,5\nb1;12,25\n")
    (given,) = covariates_given(tmp_path / "x.csv")
    assert given.values == {"a1": 1.234, "a2": 0.5, "b1": 12.25}
    truths = pd.DataFrame({"word": ["a1", "a2", "b1", "b2"], "x": [True, None, False, False]})
    assert value_of(join_covariates(table, truths), "x") == {
        "a1": "True",
        "b1": "False",
        "b2": "False",
    }


def test_a_packed_table_is_read_and_a_row_without_a_word_left_out(tmp_path):
    path = tmp_path / "valence.csv.gz"
    path.write_bytes(gzip.compress(b"word,valence\nsun,6.5\n,4.3\nrain,3.9\n"))
    (given,) = covariates_given(str(path))
    assert given.values == {"sun": 6.5, "rain": 3.9}


SHARES = pd.DataFrame(
    {
        "Census year": [1950] * 4 + [1980] * 4,
        "Occupation": ["a1", "a2", "b1", "b2"] * 2,
        "Female": [0.2, 0.3, 0.5, 0.7, 0.25, 0.3, 0.6, 0.9],
        "Male": [0.8, 0.7, 0.5, 0.3, 0.75, 0.7, 0.4, 0.1],
    }
)


def test_shares_by_year_are_told_apart_by_the_year(table, tmp_path):
    path = tmp_path / "census.csv"
    SHARES.to_csv(path, index=False)
    said = (
        r"one value of Female for the word 'a1', got 0\.2 \(Census year 1950\) and 0\.25 "
        r"\(Census year 1980\)\. Keep the rows of one Census year, and say so: "
        rf"--covariates '{path}\?Census year=1950'"
    )
    with pytest.raises(InputError, match=said):
        join_covariates(table, path, columns=["Female"])
    with pytest.raises(InputError, match="one Census year, and say so"):
        join_covariates(table, SHARES, columns=["Female"])

    for year in (1950, 1980):
        joined = join_covariates(table, f"{path}?Census year={year}", columns=["Female"])
        rows = SHARES[SHARES["Census year"] == year]
        expected = dict(zip(rows["Occupation"], rows["Female"], strict=True))
        assert value_of(joined, "Female") == pytest.approx(standard(expected))
        source = joined.provenance["covariates"]["Female"]["source"]
        assert source == f"{path}, Census year {year}"


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("Census year=1990", "Census year: expected 1950 or 1980, got '1990'"),
        ("census=1950", "column: expected Census year.*got 'census'"),
    ],
)
def test_a_condition_that_no_row_meets(table, tmp_path, condition, said):
    path = tmp_path / "census.csv"
    SHARES.to_csv(path, index=False)
    with pytest.raises(InputError, match=said):
        join_covariates(table, f"{path}?{condition}", columns=["Female"])
