"""The model of sentiment beside the published tests, with slopes on covariates about professions."""

import pytest

import bayesbias as bb
from bayesbias.models import slopes_for
from bayesbias.tables.sentiment import with_profession_covariates
from bayesbias.wordlists import load_occupations

pytestmark = pytest.mark.slow
QUICK = {"seed": 1, "draws": 250, "tune": 500, "chains": 2, "progress": False}
WITHOUT = {"tailor", "baker", "professor", "soldier", "dancer"}  # the list states no earnings of


@pytest.fixture(scope="module")
def analysis():
    return bb.sentiment_analysis(bb.list_predictions("m1"))


@pytest.fixture(scope="module")
def fitted(analysis):
    return bb.studies.fit_sentiment(analysis, **QUICK)


def test_the_model_keeps_nouns_and_professions_apart(analysis, fitted):
    """The t-test over noun pairs and the model agree that new nouns may be rated otherwise; these sentences are known."""
    new, here = (fitted.fit.summary(0.89, of).iloc[0] for of in ("population", "listed_words"))
    assert new["hpdi_low"] < 0 < new["hpdi_high"]
    assert here["mean"] == pytest.approx(analysis.tests["f_minus_m"][0], abs=0.002)
    assert new["sd"] > 3 * here["sd"]


def test_professions_without_a_covariate_are_left_out_of_fit_and_tests_and_are_named(analysis):
    table = with_profession_covariates(analysis.table, {"earnings": load_occupations().earnings})
    spec = slopes_for("sentiment", table, "earnings")
    found = bb.studies.fit_sentiment(analysis, spec, table=table, **QUICK)
    for rows in (found.table, found.fit.table):
        assert not WITHOUT & set(rows["profession"])
    assert found.tests["n"][0] == 20 * 15
    assert all(name in found.notes[-1] for name in WITHOUT)
    assert "Slopes on covariates" in bb.output.to_text(found)


def test_classifiers_are_compared_on_the_same_sentences():
    m1 = bb.list_predictions("m1")
    other = m1.frame.assign(classifier="other", probability=m1.frame["probability"] ** 1.1)
    same = m1.frame.assign(classifier="same")
    found = bb.studies.fit_sentiment(bb.sentiment_analysis(m1, other, same), **QUICK)
    rows = found.classifier_contrasts().query("estimand == 'listed_words'").set_index("contrast")
    means = found.table.groupby("classifier")["difference"].mean()
    assert rows.loc["m1 - other", "mean"] == pytest.approx(means["m1"] - means["other"], abs=0.001)
    assert "m1 - same" not in rows.index  # nothing varies, and a note says so
    assert any(note.startswith("m1 and same rate all sentences equally") for note in found.notes)
    alone = found.fit.summary(estimand="population")["sd"]
    both = found.classifier_contrasts().query("estimand == 'population'").set_index("contrast")
    assert both.loc["m1 - other", "sd"] < alone.max() / 2  # what they share cancels
    shown = bb.output.to_text(found)
    lines = shown.splitlines()
    for name in ("m1", "other", "same"):  # each classifier has the row that the Result is about
        assert lines[lines.index(name) + 1].startswith(("  t-test over 400", "  model, new"))
    detail = bb.output.to_text(found, detail=True)
    assert ("\nm1 - other\n  model, new" in detail) == found.fit.diagnostics()["ok"]
