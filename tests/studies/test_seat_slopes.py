"""Slopes on covariates about words in sentence tests: what is joined to which test, and what a test that lacks them says."""

from __future__ import annotations

import json

import pytest
from bayesbias.cli.sentence_tests import seat_json
from bayesbias.report.sentences import of_sentences
from helpers.fits import made_up
from helpers.pages import without_figures

import bayesbias as bb
from bayesbias import load_model, sentence_test
from bayesbias.core.errors import InputError
from bayesbias.models.trimming import trimmed
from bayesbias.studies.sentences import seat as sentences
from bayesbias.studies.sentences.slopes import slopes_of_tests
from bayesbias.tables.covariates import with_covariates_known

MATHS = ["math", "algebra", "geometry", "calculus", "equations"]
YEARS = {"year": {word: 1500.0 + 40 * k for k, word in enumerate(MATHS)}}
LENGTHS = {"length": {word: float(len(word)) for word in sentence_test("weat7").frame["word"]}}


@pytest.fixture
def made(monkeypatch):
    """Fits are made up; the slopes of a mean are what its name says."""

    def fit(table, spec, **_):
        table = with_covariates_known(table, spec.covariates())
        spec = trimmed(spec, table.frame)
        coverage = {"notes": list(table.coverage.notes)}
        scales = {name: 0.1 for name, about in spec.parameters.items() if about.positive}
        slopes = {
            name: (lambda connection: 0.02 if connection == "associated" else -0.02)
            for name, about in spec.parameters.items()
            if about.covariate and about.dims == ("connection",)
        }
        return made_up(table.frame, spec, scales | slopes, coverage=coverage)

    monkeypatch.setattr(sentences, "fit", fit)


def test_a_covariate_of_one_side_is_joined_and_has_slopes():
    asked = slopes_of_tests(YEARS, ["year"], [sentence_test("weat7")])
    table, spec, lacking = asked.of_test(bb.sentence_table("weat7"), load_model("sentence"))
    assert (lacking, spec.covariates(), spec.name) == ([], ["year"], "sentence + year")
    known = table.frame.drop_duplicates("protected_word").set_index("protected_word")["year"]
    assert known.notna().sum() == len(MATHS)
    assert table.provenance["covariates"]["year"]["center"] == 1580.0
    assert spec.parameters["slope_year_attribute"].dims == (
        "attribute",
    )  # scatters over the other side


@pytest.mark.slow
def test_a_covariate_of_both_sides_has_slopes_on_both_and_each_can_be_named():
    test, table = sentence_test("weat7"), bb.sentence_table("weat7")
    both = ["protected_length", "attribute_length"]
    for name, covariates in (
        ("length", both),
        ("attribute_length", both[1:]),
        ("protected_length", both[:1]),
    ):
        asked = slopes_of_tests(LENGTHS, {name: ["protected_class"]}, [test])
        _, spec, _ = asked.of_test(table, load_model("sentence"))
        assert spec.covariates() == covariates
        assert f"slope_{covariates[0]}_protected_class" in spec.parameters


def test_a_test_whose_words_lack_the_covariate_is_fitted_without():
    asked = slopes_of_tests(YEARS, ["year"], [sentence_test("weat7"), sentence_test("weat6")])
    spec = load_model("sentence")
    table, same, lacking = asked.of_test(bb.sentence_table("weat6"), spec)
    assert (same, lacking) == (spec, ["year"])
    assert "year" not in table.frame


@pytest.mark.parametrize(
    ("covariates", "slopes", "said"),
    [
        (YEARS, [], "covariates are given without slopes.*valid: slopes"),
        (None, ["year"], "slopes are given without covariates"),
        (YEARS, ["yaer"], "unknown covariate.*'yaer'.*did you mean 'year'"),
        (YEARS, {"year": ["protected_clas"]}, "unknown column of a table of sentences.*did you mean 'protected_class'"),
        (YEARS, ["year", "year"], "a covariate stands twice"),
        ({"year": {"math": 1.0, "algebra": 2.0}}, ["year"], "no test has the covariate 'year' of three words or more"),
        ({"kind": {"math": "a", "algebra": "b", "geometry": "a"}}, ["kind"], "a slope needs numbers.*kind: a"),
        ({"year": {"math": 1.0, "algebra": "old", "geometry": 2.0}}, ["year"], "holds numbers and texts"),
        ({"year": {"math": 1.0, "algebra": float("inf")}}, ["year"], "must be a number or a text.*inf"),
    ],
)  # fmt: skip
def test_bad_covariates_are_refused_before_anything_is_run(covariates, slopes, said):
    with pytest.raises(InputError, match=said):
        bb.seat("weat7", lambda texts: 1 / 0, covariates=covariates, slopes=slopes)


@pytest.mark.slow
def test_slopes_of_every_test_are_in_the_result_its_json_and_its_provenance(made, monkeypatch):
    result = bb.seat(
        "weat7,weat6", seed=1, cache=False, samples=99, covariates=YEARS, slopes=["year"]
    )
    assert set(result.slopes["test"]) == {"weat7"}
    overall = result.slopes[result.slopes["level"] == "overall"].set_index("of")["mean"]
    assert overall["associated"] == pytest.approx(0.02, abs=0.002)
    assert overall["associated - different"] == pytest.approx(0.04, abs=0.002)
    said = result.notes.groupby("test")["note"].agg(list).to_dict()
    assert said["weat6"] == ["fewer than three of its words have year, so that it has no slope"]
    assert any(
        note.startswith("left out of the fit, since they have no year: ") for note in said["weat7"]
    )
    assert result.frame["contrast"].notna().all()  # and both are fitted
    assert result.provenance["slopes"] == {"year": None}
    assert set(result.provenance["covariates"]) == {"year"}
    printed = {"schema": "bayesbias.seat/1", **seat_json(result), "written": None}
    json.dumps(printed)
    assert len(printed["slopes"]) == len(result.slopes)
    assert "slopes" not in seat_json(bb.seat("weat7", seed=1, cache=False))
    without_figures(monkeypatch)
    page = of_sentences(result, 0.89)  # whose lines in Python name the covariates
    assert "covariates=['year.csv']" in page.again.command
    assert "slopes=['year']" in page.again.command
    assert any("year was not read from a file" in note for note in page.again.notes)
    assert "Covariates about words" in [part.title for part in page.sections]


def test_a_covariate_that_does_not_differ_within_a_class_has_no_slopes_by_class(made):
    same = {
        "year": {word: 1500.0 for word in MATHS}
        | {"poetry": 1600.0, "art": 1600.0, "dance": 1600.0}
    }
    result = bb.seat(
        "weat7", seed=1, cache=False, covariates=same, slopes={"year": ["protected_class"]}
    )
    (reason,) = result.failures["reason"]
    assert "the covariate 'year' is the same for all words of each protected_class" in reason
    assert result.slopes.empty
