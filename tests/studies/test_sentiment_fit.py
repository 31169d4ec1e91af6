"""An analysis beside a fit with slopes on covariates about professions: those without the covariate are in neither, and are named."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from bayesbias.findings.sentiment import findings_of_sentiment
from bayesbias.report.sentiment import of_sentiment
from bayesbias.runs.sentiment import sentiment_as_json
from helpers.fits import made_up
from helpers.pages import without_figures

import bayesbias as bb
from bayesbias.cli import main, sentiment_analysis
from bayesbias.core.errors import InputError
from bayesbias.models import slopes_for, with_slopes
from bayesbias.wordlists import load_occupations

pytestmark = pytest.mark.slow  # the whole published analysis
WITHOUT = [
    "tailor",
    "baker",
    "professor",
    "soldier",
    "dancer",
]  # which the shipped list states no earnings of


@pytest.fixture(scope="module")
def analysis():
    return bb.sentiment_analysis(bb.list_predictions("m1"))


def fitted(table, spec):
    scales = {name: 0.1 for name, about in spec.parameters.items() if about.positive}
    rest = table.dropna(subset=spec.covariates()).reset_index(drop=True)
    return made_up(rest, spec, scales | {"slope_earnings": 0.05}, sd=0.001)


@pytest.fixture(scope="module")
def fit(analysis):
    table = bb.sentiment_table(
        bb.list_predictions("m1"), covariates={"earnings": load_occupations().earnings}
    )
    return fitted(table, slopes_for("sentiment", table, "earnings"))


@pytest.fixture(scope="module")
def carried(analysis, fit):
    return bb.studies.with_analysis(fit, analysis)


def test_tests_and_fit_are_of_the_same_professions(analysis, fit, carried):
    found = bb.studies.analysis_of(carried)
    assert len(found.table) == len(fit.table) == 300
    assert not set(found.professions["profession"]) & set(WITHOUT)
    rest = analysis.table[~analysis.table["profession"].isin(WITHOUT)]
    assert found.tests["f_minus_m"].iloc[0] == pytest.approx(rest["difference"].mean(), rel=1e-12)
    assert (
        found.notes.count(f"left out of tests and fit, since they have no earnings: {', '.join(WITHOUT)}")
        == 1
    )
    alike = [note for note in found.notes if "does not tell these professions apart" in note]
    assert len(alike) == 1
    assert "soldier" not in alike[0]  # noted of the rows that are left, not of those before
    assert any(
        "has no earnings" in line or "no earnings:" in line for line in findings_of_sentiment(carried).lines()
    )


def test_where_all_have_the_covariate_nothing_is_left_out(analysis):
    table = bb.sentiment_table(
        bb.list_predictions("m1"),
        covariates={"letters": {job: len(job) for job in load_occupations().professions["profession"]}},
    )
    spec = with_slopes("sentiment", "letters")
    whole = bb.studies.with_analysis(
        made_up(table, spec, {name: 0.1 for name in ("noun_pair_sd", "profession_sd", "sigma")}), analysis
    )
    assert bb.studies.analysis_of(whole).notes == analysis.notes
    assert len(bb.studies.analysis_of(whole).table) == 400


def test_a_covariate_that_is_one_number_in_each_category_is_noted(analysis):
    jobs = load_occupations().professions
    codes = {name: float(k) for k, name in enumerate(dict.fromkeys(jobs["category"]))}
    same = {"kind": dict(zip(jobs["profession"], map(codes.get, jobs["category"]), strict=True))}
    table = bb.sentiment_table(bb.list_predictions("m1"), covariates=same)
    fit = made_up(table, with_slopes("sentiment", "kind"), {name: 0.1 for name in ("noun_pair_sd", "profession_sd", "sigma")})
    note = bb.studies.with_analysis(fit, analysis).provenance["sentiment"]["notes"][-1]
    assert note == "kind is the same for all words of a class: what it tells cannot be told from the classes"


@pytest.mark.parametrize("lost", ["rows", "a profession", "numbers"])
def test_a_fit_of_another_table_is_refused_as_before(analysis, fit, lost):
    table = fit.table.copy()
    if lost == "rows":  # of a profession that has the covariate
        table = table.drop(index=[3, 7])
    elif lost == "numbers":
        table["difference"] = np.arange(len(table)) / 1000
    else:
        table = analysis.table[analysis.table["profession"] != "nurse"]
    spec = "sentiment" if lost == "a profession" else fit.spec
    other = made_up(table.reset_index(drop=True), spec, {name: 0.1 for name in ("noun_pair_sd", "profession_sd", "sigma")})
    with pytest.raises(InputError, match="the fit is of another table"):
        bb.studies.with_analysis(other, analysis)


def test_slopes_are_in_the_result(carried):
    printed = {
        "schema": "bayesbias.sentiment/1",
        **sentiment_as_json(bb.studies.analysis_of(carried), carried, 0.89),
    }
    json.dumps(printed, default=str)
    (row,) = [row for row in printed["slopes"] if row["level"] == "overall"]
    assert (row["covariate"], row["of"]) == ("earnings", "m1")
    assert row["mean"] == pytest.approx(0.05, abs=0.005)


def test_the_page_has_the_slopes_and_the_lines_that_make_them(carried, monkeypatch):
    without_figures(monkeypatch)
    page = of_sentiment(carried, 0.89)
    assert "Covariates about professions" in [part.title for part in page.sections]
    assert (
        "table = bb.sentiment_table(bb.list_predictions('m1'), covariates=['earnings.csv'])"
        in page.again.command
    )
    assert "fit = bb.fit(table, " in page.again.command


def test_the_lines_that_make_an_analysis_hold_what_is_not_usual_of_it(carried, monkeypatch):
    without_figures(monkeypatch)
    asked = {"n": 5, "clip": 0.01, "prob": 0.9}
    own = bb.sentiment_analysis(bb.list_predictions("m1"), **asked)
    fit = bb.studies.with_analysis(carried, own)
    page = of_sentiment(fit, 0.89)
    assert "bb.sentiment_analysis(bb.list_predictions('m1'), n=5, clip=0.01, prob=0.9)" in page.again.command
    assert (
        "bb.sentiment_table(bb.list_predictions('m1'), clip=0.01, covariates=['earnings.csv'])"
        in page.again.command
    )
    again = bb.studies.analysis_of(fit)
    assert {key: again.provenance[key] for key in asked} == asked
    assert (len(again.extremes), again.earnings["prob"].unique().tolist()) == (len(own.extremes), [0.9])


@pytest.fixture
def said(monkeypatch, capsys):
    """Run the command without a sampler; return exit code, standard output and standard error."""

    tables = []

    def fit(table, spec, **_):
        tables.append(table)
        return fitted(table, spec)

    def call(*arguments: object):
        monkeypatch.setattr(sentiment_analysis.bayesbias, "fit", fit)
        monkeypatch.setattr(
            sys, "argv", ["bayesbias", "sentiment", "--predictions", "m1", *map(str, arguments)]
        )
        with pytest.raises(SystemExit) as ended:
            main.main()
        return int(ended.value.code or 0), *capsys.readouterr()

    call.tables = tables
    return call


def test_the_command_takes_earnings_from_the_list(said):
    code, out, _ = said("--slope", "earnings")
    assert code == 0
    assert "Slopes on covariates about professions" in out
    (table,) = said.tables
    assert table.attrs["covariates_from"]["earnings"]["unit"] == "US dollars a week"
    assert "no earnings: tailor" in out


@pytest.mark.parametrize(
    ("covariates", "arguments", "message"),
    [
        ("word,pay\nnurse,1\npilot,2\nchef,3\n", ["--slope", "pya"], "--slope: unknown covariate; found: 'pya'; valid: pay, earnings"),
        ("word,pay\nnurse,1\npilot,2\nchef,3\n", [], "--covariates alone says nothing"),
        ("word,pay\nnurse,1\npilot,high\nchef,3\n", ["--slope", "pay"], "line 3: pay is no number; found: 'high'"),
        ("word,pay\nnurse,1\npilot,2\n", ["--slope", "pay"], "2 of 20 professions have the covariate 'pay'"),
        ("word,kind\nnurse,a\npilot,b\nchef,a\n", ["--slope", "kind"], "a slope needs numbers"),
        ("word,pay\nnurse,1\npilot,2\nchef,3\n", ["--slope", "pay:profession"], "is the same for all words of each profession"),
    ],
)  # fmt: skip
def test_bad_covariates_are_one_line_and_exit_code_two(said, tmp_path, covariates, arguments, message):
    path = tmp_path / "pay.csv"
    path.write_text(covariates, encoding="utf-8")
    code, out, err = said("--covariates", path, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
