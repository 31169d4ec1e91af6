"""An analysis beside a fit with slopes on covariates about professions: those without the covariate are in neither, and are named."""

from __future__ import annotations

import sys

import pytest
from bayesbias.report.sentiment import of_sentiment
from helpers.fits import made_up
from helpers.pages import without_figures

import bayesbias as bb
from bayesbias.cli import main, sentiment_analysis
from bayesbias.models import slopes_for
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


def test_the_page_has_the_slopes_and_the_lines_that_make_them(carried, monkeypatch):
    without_figures(monkeypatch)
    page = of_sentiment(carried, 0.89)
    assert "Covariates about professions" in [part.title for part in page.sections]
    assert (
        "table = bb.sentiment_table(bb.list_predictions('m1'), covariates=['earnings.csv'])"
        in page.again.command
    )
    assert "fit = bb.fit(table, " in page.again.command


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
def test_bad_covariates_are_one_line_and_exit_code_two(
    said, tmp_path, covariates, arguments, message
):
    path = tmp_path / "pay.csv"
    path.write_text(covariates, encoding="utf-8")
    code, out, err = said("--covariates", path, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
