"""Covariates joined to the rows of a table: from every source the same, and clear words for what is none."""

from __future__ import annotations

import dataclasses
import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from helpers.vectors import LIST, A, B, X, Y, vectors

from bayesbias.cli.main import cli
from bayesbias.core.errors import InputError
from bayesbias.inference import build
from bayesbias.models.loading import load_model, parse_model
from bayesbias.tables import join_covariates
from bayesbias.tables.counts import load_counts
from bayesbias.tables.covariates import with_covariates_known
from bayesbias.tables.distances import distance_table
from bayesbias.tables.reading import load_distances
from bayesbias.tables.reading_covariates import covariates_given
from bayesbias.wordlists.listfile import check_wordlist, load_wordlist

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
        "Word;percent_women;sector\r\n" + CSV.split("\n", 1)[1].replace(",", ";").replace("10.5", "10,5")
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
            s.startswith("percent_women: known of 4 of 10 attributes; not of b3, h1")
            for s in joined.coverage.sentences()
        )
        assert json.dumps(joined.coverage.as_dict())
        assert joined.coverage.columns == (
            "percent_women",
            "sector",
        )
    assert join_covariates(table, path, columns=["sector"]).coverage.columns == ("sector",)
    assert "sha256" in join_covariates(table, path).provenance["covariates"]["sector"]


@pytest.mark.parametrize(
    "none", [None, math.nan, np.float32("nan"), np.float16("nan"), np.float64("nan"), pd.NA]
)
def test_a_word_without_a_value_has_none_in_any_precision(table, none) -> None:
    joined = join_covariates(
        table,
        {
            "women": {**WOMEN, "h1": none},
            "sector": {"a1": "health", "a2": none, "b1": "trade", "b2": "trade"},
        },
    )
    assert value_of(joined, "women") == pytest.approx(standard(WOMEN))
    assert value_of(joined, "sector") == {"a1": "health", "b1": "trade", "b2": "trade"}
    with pytest.raises(InputError, match="must be a number or a text"):
        join_covariates(table, {"women": {**WOMEN, "h1": np.float32("inf")}})


def test_truths_are_categories_by_every_door_and_with_gaps(table) -> None:
    """A column of pandas' own kind for truths with gaps was taken for numbers, of which the mean was taken off."""
    words, truths = ["a1", "a2", "b1", "b2"], [True, None, False, False]
    wanted = {"a1": "True", "b1": "False", "b2": "False"}
    kinds = ("boolean", "bool[pyarrow]", object)
    frames = [pd.DataFrame({"word": words, "x": pd.Series(truths, dtype=kind)}) for kind in kinds]
    for covariates in (*frames, {"x": dict(zip(words, truths, strict=True))}):
        assert value_of(join_covariates(table, covariates), "x") == wanted


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
    counts = {w: math.log(10 + i) for i, w in enumerate([*X, *Y, *A, *B, "n1", "n2", "n3", "h1", "h2"])}
    both = join_covariates(table, {"log_count": counts})
    assert list(both.coverage.covariates) == ["protected_log_count", "attribute_log_count"]
    one = join_covariates(table, {"log_count": counts}, side="protected")
    assert list(one.coverage.covariates) == ["log_count"]
    assert value_of(one, "log_count", "protected_word") == pytest.approx(
        value_of(both, "protected_log_count", "protected_word")
    )


def test_words_are_matched_as_spelt_and_else_loosely(table) -> None:
    joined = join_covariates(
        table, {"f": {"A1": 1.0, "a-2": 5.0, "B1": 2.0, "b2": 3.0, "B2": 9.0, "b_3": 4.0}}, scale="none"
    )
    assert value_of(joined, "f") == {"a1": 1.0, "b1": 2.0, "b2": 3.0}


@pytest.mark.parametrize("scale", ["standard", "center", "none"])
def test_a_covariate_that_is_joined_again_has_the_unit_of_the_numbers_that_were_given(table, scale) -> None:
    once = join_covariates(table, {"women": WOMEN})
    few = once.frame[once.frame["attribute"] != "a1"].reset_index(drop=True)
    fewer = dataclasses.replace(once, frame=few)
    for before, words in ((once, WOMEN), (fewer, {word: WOMEN[word] for word in ("a2", "b1", "b2")})):
        again = join_covariates(before, "women", scale=scale)
        about = again.provenance["covariates"]["women"]
        assert (about["of"], about["source"], "unit" in about) == ("women", "a mapping", False)
        back = {w: about["center"] + about["scale"] * z for w, z in value_of(again, "women").items()}
        assert back == pytest.approx(words)
        assert (about["least"], about["most"]) == pytest.approx((min(words.values()), max(words.values())))


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
    assert joined.provenance["covariates"]["women"]["unit"] == "in the unit of the table's column"
    with pytest.raises(InputError, match="a word has several values"):
        join_covariates(own, "odd")
    with pytest.raises(InputError, match="did you mean 'women'"):
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
    path.write_text(
        text.replace("a2 = 10.5", "a2 = nan\nnurse = 3\na3 = true").replace('x2 = "new"', "x2 = 1")
    )
    said = "\n".join(check_wordlist(path))
    for part in (
        "covariates.percent_women, a2: must be a finite number",
        "found: 'nurse'",
        "a3: must be a finite",
        "coined: holds numbers and texts",
    ):
        assert part in said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("word,f\na1,1\na2,nought\nb1,3\n", "line 3: f is no number; found: 'nought'"),
        ("word,f\na1,1\na2,inf\nb1,3\nb2,4\n", "line 3: f is no number; found: 'inf'"),
        ("word,f\na1,1\na2,1e999\nb1,3\n", "x.csv"),
        ("word,f\na1,1\na2,2\na1,3\nb1,1\n", "lines 2 and 4: the word 'a1' has two values of f; found: (1.0, 3.0)"),
        ("word,f\na1,x\na2,y\na1,z\n", "lines 2 and 4: the word 'a1' has two values of f"),
        ("word,f\na1,5\na2,5\nb1,5\n", "the covariate 'f' is the same for all 3 attributes; found: 5.0"),
        ("word,f\na1,0.3\na2,0.30000000000000004\nb1,0.3\n", "the covariate 'f' is the same for all 3 attributes; found: 0.3"),
        ("word,f\na1,red\na2,red\nb1,red\n", "the covariate 'f' is the same for all 3 attributes; found: 'red'"),
        ("word,f\na1,5\na2,6\nb9,5\n", "2 of 10 attributes have the covariate 'f'"),
        ("word,f\nq,5\nr,6\nt,7\n", "no word of the table has the covariate 'f'; found: 'q, r, t'"),
        ("name,f\na1,5\n", "no column holds the words"),
        ("word\na1\n", "holds words and no covariate"),
        ("word,distance\na1,5\na2,6\nb1,7\n", "the table has a column 'distance' already"),
        ("word,f,f\na1,5,6\n", "f"),
        ("word,f\n,5\na1,3\n", "line 2: the word is missing"),
    ],
)  # fmt: skip
def test_what_is_no_covariate_says_why(table, content: str, said: str, tmp_path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        join_covariates(table, path)
    assert said in str(caught.value)


def test_repeats_that_agree_and_empty_cells_are_no_fault(table, tmp_path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("word,f\na1,1\na2,2\na1,1.0\nb1,\nb2,NA\nb3,nan\nn1,7\n")
    assert value_of(join_covariates(table, path, scale="none"), "f") == {"a1": 1.0, "a2": 2.0, "n1": 7.0}


@pytest.mark.parametrize(
    ("covariates", "options", "said"),
    [
        (3, {}, "are no covariates"), ({"f": [1]}, {}, "{word: value}"), ({"f": {"a1": [1]}}, {}, "must be a number or a text"),
        ({"f": {"a1": 1, "a2": "x", "b1": 2}}, {}, "holds numbers and texts"), ({"f": {"a1": math.inf}}, {}, "must be a number"),
        ("nowhere.csv", {}, "no such file"), ({"f": WOMEN}, {"side": "left"}, "side"), ({"f": WOMEN}, {"scale": "z"}, "scale"),
        ([{"f": WOMEN}, {"f": WOMEN}], {}, "a covariate"),
    ],
)  # fmt: skip
def test_what_join_covariates_refuses(table, covariates, options, said: str) -> None:
    with pytest.raises(InputError, match=said):
        join_covariates(table, covariates, **options)
    with pytest.raises(InputError, match="distance_table or load_distances"):
        join_covariates(table.frame, {"f": WOMEN})


def test_a_covariate_that_is_all_class_is_said(table) -> None:
    flat = join_covariates(table, {"f": {"a1": 1, "a2": 1, "b1": 2, "b2": 2, "b3": 2}})
    assert any("the same for all words of a class" in note for note in flat.coverage.notes)
    nearly = join_covariates(table, {"f": {"a1": 1, "a2": 1.1, "b1": 2, "b2": 2, "b3": 2.1}})
    assert any("much alike in f: 9" in note for note in nearly.coverage.notes)
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
    assert "control words have no women, and no part in what is told by it" in kept.coverage.notes
    both = with_covariates_known(joined, ["women", "age"])
    assert set(both.frame["protected_word"]) == set(X)
    assert with_covariates_known(joined, []) is joined
    some = {"n1": 3.0, "n2": 4.0, "h1": 5.0}  # most controls have it: the others lack it
    counted = with_covariates_known(
        join_covariates(table, {"count": {**WOMEN, "b3": 1.0, **some}}), ["count"]
    )
    assert set(counted.frame["attribute"]) & {"n1", "n2", "n3", "h1", "h2"} == set(some)


THREE = {
    name: {"protected": [f"{name}{i}" for i in range(3)], "attributes": [f"{name}t{i}" for i in range(3)]}
    for name in "xyz"
}


@pytest.mark.parametrize("controls", ["none", CONTROLS])
def test_a_class_of_which_no_stereotype_has_the_covariate_goes_as_where_vectors_lack_it(controls) -> None:
    """Its words stood on one side of the difference alone, so that what set them apart from all others entered it."""
    words = [word for each in THREE.values() for word in (*each["protected"], *each["attributes"])]
    held = vectors(5, [*words, *CONTROLS["neutral"], *CONTROLS["human"]])
    whole = distance_table(held, THREE, controls=controls)
    has = [word for name in "xy" for word in THREE[name]["attributes"]]
    kept = with_covariates_known(
        join_covariates(whole, {"pay": {word: float(i) for i, word in enumerate(has)}}), ["pay"]
    )
    said = [note for note in kept.coverage.notes if note.startswith("LEFT OUT")]
    assert said == ["LEFT OUT: the class z, since none of its stereotypes has pay"]
    lacking = {word: v for word, v in held.items() if not word.startswith("zt")}
    rows = (
        distance_table(lacking, THREE, controls=controls).frame[["protected_word", "attribute"]].astype(str)
    )
    same = kept.frame[["protected_word", "attribute"]].astype(str)
    assert set(same.itertuples(index=False)) == set(rows.itertuples(index=False))
    # With one class left there is nobody to hold it against, as where vectors lack all others.
    alone = join_covariates(whole, {"pay": {word: float(i) for i, word in enumerate(has[:3])}})
    with pytest.raises(
        InputError, match="covariate 'pay': no stereotype of y and z has the covariate, and one class alone"
    ):
        with_covariates_known(alone, ["pay"])


def test_what_is_thin_is_said_of_the_words_that_are_fitted(table) -> None:
    words = {"a": {"protected": X, "attributes": A}, "b": {"protected": Y, "attributes": B}}
    whole = distance_table(vectors(3, [*X, *Y, *A, *B]), words)
    lasting = [note for note in whole.coverage.notes if note not in whole.coverage.thin]
    kept = with_covariates_known(
        join_covariates(whole, {"year": {X[0]: 2, Y[0]: 1, Y[1]: 4}}), ["year"]
    ).coverage
    alone = (
        "only one protected word of a was fitted; its class rests on that word, and one word shows no scatter"
    )
    assert alone in kept.thin
    assert any(note.startswith("b has 2 protected words") for note in kept.thin)
    assert kept.notes == (*lasting, kept.notes[-len(kept.thin) - 1], *kept.thin)
    assert kept.as_dict()["thin"] == list(kept.thin)
    assert not set(whole.coverage.thin) & set(kept.notes) - set(kept.thin)


def test_a_few_control_words_that_happen_to_have_a_covariate_do_not_cost_the_others(table) -> None:
    kept = with_covariates_known(
        join_covariates(table, {"count": {**WOMEN, "b3": 1.0, "n1": 3.0}}), ["count"]
    )
    controls = kept.frame["attribute_kind"] != "stereotype"
    assert set(kept.frame.loc[controls, "attribute"]) == {"n1", "n2", "n3", "h1", "h2"}
    assert (kept.frame.loc[controls, "count"] == 0).all()
    assert (
        kept.coverage.notes[-1]
        == "4 of 5 control words have no count, and none has a part in what is told by it"
    )
    # A covariate about protected words is none of the control words'.
    ages = join_covariates(table, {"age": dict.fromkeys([X[0], X[1]], 1.0) | {X[2]: 2.0}})
    assert set(with_covariates_known(ages, ["age"]).frame["protected_word"]) == {X[0], X[1], X[2]}


@pytest.mark.slow
def test_a_model_takes_a_covariate_that_was_joined(table) -> None:
    text = load_model("default").text
    slope = '\n[parameter.slope]\ndims = ["connection"]\ntimes = "women"\ndistribution = "Normal"\nmu = 0\nsigma = 0.05\n'

    mu = re.search(r"^mu = \[(.*?)\]", text, re.MULTILINE)
    spec = parse_model((text.replace(mu.group(0), f'mu = [{mu.group(1)}, "slope"]') + slope).encode(), "mine")
    joined = join_covariates(table, {"women": WOMEN})
    assert "slope" in {variable.name for variable in build(spec, joined).free_RVs}


def test_the_command_joins_covariates(tmp_path) -> None:
    path = tmp_path / "covariates.csv"
    path.write_text("word,f\nmath,1\n")
    done = CliRunner().invoke(
        cli, ["fit", "--embedding", "minilm-static", "--wordlist", "weat7", "--covariates", str(path)]
    )
    assert isinstance(done.exception, InputError)
    assert "1 of 16 protected words has the covariate 'f'" in str(done.exception)


@pytest.mark.parametrize(
    ("default", "says"),
    [
        (("1,234", "12,500", "300"), r"pay may have commas between thousands.*1234 or 1\.234$"),
        (("1,234", "900", "5.5"), "pay has commas between thousands.*valid: 1234$"),  # the point is decimal
    ],
)
def test_commas_between_thousands_are_not_taken_for_decimal_ones(cells, says, tmp_path):
    path = tmp_path / "pay.csv"
    path.write_text("word,pay\n" + "".join(f'w{i},"{cell}"\n' for i, cell in enumerate(cells)))
    with pytest.raises(InputError, match=rf"pay\.csv, line 2: {says}"):
        covariates_given(path)
    with pytest.raises(InputError, match="between thousands"):
        load_counts(path, ["w0", "w1", "w2"])


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_decimal_points_beside_decimal_commas_are_refused(separator, tmp_path):
    """Of them nobody knows what 1,234 means."""
    path = tmp_path / "pay.csv"
    cells = ["1,234", "5.6", "3,5"]
    path.write_text(f"word{separator}pay\n" + "".join(f'w{i}{separator}"{c}"\n' for i, c in enumerate(cells)))
    with pytest.raises(
        InputError, match=r"pay\.csv, lines 4 and 3: pay has decimal commas and decimal points.*3,5.*5\.6"
    ):
        covariates_given(path)


def test_a_number_that_is_too_small_is_no_zero(tmp_path):
    path = tmp_path / "pay.csv"
    path.write_text("word,pay\na,1e-400\nb,2\nc,0e-400\n")
    with pytest.raises(InputError, match=r"line 2: pay is too small for a number; found: '1e-400'"):
        covariates_given(path)


def test_decimal_commas_are_read_where_one_shows_what_they_are(tmp_path):
    path = tmp_path / "pay.csv"
    path.write_text("word;pay\na;1,234\nb;0,5\nc;12,25\n")
    (given,) = covariates_given(path)
    assert given.values == {"a": 1.234, "b": 0.5, "c": 12.25}


@pytest.mark.parametrize(
    ("default", "says"),
    [
        (
            ("3.100", "167", "4.200"),
            r"line 2: pay may have points between thousands.*3\.100'; valid: 3100 or 3\.1$",
        ),
        (("167", "2.125"), r"line 3: pay may have points .*2125 or 2\.1250$"),
        (("3,100", "167"), r"line 2: pay may have commas .*3100 or 3\.1$"),
        (
            ("3.100.000", "2.5"),
            "line 2: pay has points between thousands; found: '?3.100.000'?; valid: 3100000$",
        ),
        (("3.100", "0,5"), r"line 2: pay has points between thousands.*3\.100'; valid: 3100$"),
        (("3.100,5", "2,5"), r"line 2: pay has points between thousands.*valid: 3100\.5$"),
    ],
)
def test_points_between_thousands_are_not_taken_for_decimal_ones(cells, says, tmp_path):
    path = tmp_path / "pay.csv"
    path.write_text("word;pay\n" + "".join(f"w{i};{cell}\n" for i, cell in enumerate(cells)))
    with pytest.raises(InputError, match=says):
        covariates_given(path)
    with pytest.raises(InputError, match="between thousands"):
        load_counts(path, ["w0", "w1"])


@pytest.mark.parametrize("default", [("3.100", "2.5"), ("0.100", "3.100"), ("3.1", "2"), ("3100.125", "7")])
def test_points_are_decimal_where_one_shows_it_and_where_commas_separate(cells, tmp_path):
    path = tmp_path / "pay.csv"
    for mark, values in ((";", cells), (",", ("3.100", "167"))):
        path.write_text(f"word{mark}pay\n" + "".join(f"w{i}{mark}{cell}\n" for i, cell in enumerate(values)))
        (given,) = covariates_given(path)
        assert list(given.values.values()) == [float(cell) for cell in values]


def test_what_can_only_be_thousands_is_advised_as_one_number_that_is_then_read(tmp_path):
    path = tmp_path / "pay.csv"
    for cells in (("3,100,000", "5"), ("3,100.5", "5"), ("3,100,000", "2,100,000")):
        path.write_text("word,pay\n" + "".join(f'w{i},"{cell}"\n' for i, cell in enumerate(cells)))
        with pytest.raises(InputError) as refused:
            covariates_given(path)
        advised = str(refused.value).rpartition("valid: ")[2]
        assert advised == cells[0].replace(",", "")
        path.write_text(f"word,pay\nw0,{advised}\nw1,5\n")
        assert covariates_given(path)[0].values == {"w0": float(advised), "w1": 5.0}


@pytest.mark.parametrize("default", [("90%", "83", "75"), ("90%", "83%", "75%")])
def test_per_cent_is_refused_with_its_line_and_what_to_write(cells, tmp_path):
    path = tmp_path / "women.csv"
    path.write_text("word,women\n" + "".join(f"w{i},{cell}\n" for i, cell in enumerate(cells)))
    with pytest.raises(
        InputError, match=r"women\.csv, line 2: women is no number; found: '?90%'?; valid: 90 or 0\.9"
    ):
        covariates_given(path)


def test_a_row_that_lost_a_cell_is_refused(table, tmp_path):
    """Its numbers would stand under the wrong headings."""
    path = tmp_path / "f.csv"
    path.write_text("word,a,b\na1,1,10\na2,20\nb1,3,30\nb2,4,40\n")
    with pytest.raises(InputError, match="line 3: has 2 cells, and there are 3 headings"):
        join_covariates(table, path)
    path.write_text("word,a,b\na1,1,10\na2,,20\nb1,3,30\nb2,4,40\n")
    assert value_of(join_covariates(table, path, scale="none"), "b")["a2"] == 20


@pytest.mark.parametrize("scale", ["standard", "center", "none"])
def test_numbers_whose_squares_are_none_are_refused(table, scale):
    for size, said in ((1e155, "large"), (1e-155, "small")):
        with pytest.raises(InputError, match=f"the covariate 'f' has numbers too {said} for their squares"):
            join_covariates(table, {"f": {word: size * value for word, value in WOMEN.items()}}, scale=scale)
    large = join_covariates(table, {"f": {word: 1e90 * value for word, value in WOMEN.items()}})
    assert value_of(large, "f") == pytest.approx(standard(WOMEN))


def test_rows_that_may_be_meant_for_a_word_are_said(table):
    """One of them was taken and the other passed over, and a misspelt one was never named."""
    covariates = {"f": {"a1": 90.0, "A1": 10.0, "a2": 1.0, "b1": 2.0, "B2": 3.0, "B-2": 4.0}}
    notes = join_covariates(table, covariates).coverage.notes
    assert "f of a1 is that of its own spelling (90), not that of A1 (10)" in notes
    near = {"f": {"nurse": 1.0, "teacher": 2.0, "surgeon": 3.0, "plumberr": 9.0}}
    test = {c: {"protected": p, "attributes": a} for c, p, a in (
        ("x", ["nurse", "teacher"], ["she", "woman"]), ("y", ["surgeon", "plumber"], ["he", "man"]))}  # fmt: skip
    joined = join_covariates(distance_table("minilm-static", test, controls="none"), near)
    assert joined.coverage.covariates["f"]["missing"] == ["plumber"]
    assert "plumber has no f; may the row of 'plumberr' be meant for it?" in joined.coverage.notes
    far = {
        "f": {"nurse": 1.0, "teacher": 2.0, "surgeon": 3.0, "lumber": 9.0, "plumbing": 9.0, "clumber": 8.0}
    }
    said = join_covariates(distance_table("minilm-static", test, controls="none"), far).coverage.notes
    assert [note for note in said if "meant" in note] == [
        "plumber has no f; may the row of 'lumber' be meant for it?"
    ]


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 101])
def test_a_covariate_has_a_name_of_one_line(name):
    with pytest.raises(InputError, match="the name of a covariate"):
        covariates_given({name: {"a": 1.0, "b": 2.0}})


def test_a_word_that_stands_twice_has_no_two_values():
    """The last one was taken in silence."""
    twice = pd.Series([1.0, 2.0, 3.0], index=["a", "b", "a"], name="f")
    for covariates in (twice, {"f": {"caf\u00e9": 1.0, "cafe\u0301": 2.0, "b": 3.0}}):
        with pytest.raises(
            InputError, match=r"covariate 'f', word .*: the word has two values; found: \(1\.0, [23]\.0\)"
        ):
            covariates_given(covariates)
    (same,) = covariates_given(pd.Series([1.0, 2.0, 1.0], index=["a", "b", "a"], name="f"))
    assert same.values == {"a": 1.0, "b": 2.0}


def test_cells_of_a_frame_are_read_as_those_of_a_file(tmp_path):
    frame = pd.DataFrame({"word": [" a ", "b", "c"], "f": [" 0.5 ", "\N{MINUS SIGN}1.5", "2"]})
    frame.to_csv(tmp_path / "f.csv", index=False)
    for source in (frame, tmp_path / "f.csv"):
        (given,) = covariates_given(source)
        assert given.values == {"a": 0.5, "b": -1.5, "c": 2.0}


def test_where_no_control_word_is_left_nothing_is_said_of_their_part(table) -> None:
    of = ["a1", "a2", "b1", "b2", "b3"]
    joined = join_covariates(table, {"pay": dict(zip(of, (1.0, 2.0, 4.0, 3.0, 7.0), strict=True))})
    joined = join_covariates(joined, {"sort": dict(zip(of, "uvuvu", strict=True))})
    numbers = with_covariates_known(joined, ["pay"])
    assert any("no part in what is told by it" in note for note in numbers.coverage.notes)
    both = with_covariates_known(joined, ["pay", "sort"])
    assert not (both.frame["attribute_kind"].isin(["human", "neutral"])).any()
    assert any("no control word is left in the fit" in note for note in both.coverage.notes)
    assert not any("no part in what is told by it" in note for note in both.coverage.notes)
