"""The model of sentence tests: simulated truth is recovered, and rows say what the fit says."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from helpers import monte_carlo as mc
from helpers.fits import made_up
from helpers.seeds import shifted
from helpers.sentences import FAST, own, toy

import bayesbias as bb
from bayesbias import load_model, sentence_test
from bayesbias.core.errors import InputError
from bayesbias.inference.fitting import fit
from bayesbias.models.variants import trimmed
from bayesbias.studies.sentences import seat as module
from bayesbias.studies.sentences.result import FITTED_COLUMNS, fitted_row
from bayesbias.studies.sentences.seat import slopes_of_tests
from bayesbias.tables.covariates import with_covariates_known
from bayesbias.tables.sentences import sentence_table

MATHS = ["math", "algebra", "geometry", "calculus", "equations"]
YEARS = {"year": {word: 1500.0 + 40 * k for k, word in enumerate(MATHS)}}
LENGTHS = {"length": {word: float(len(word)) for word in sentence_test("weat7").frame["word"]}}


@pytest.fixture(scope="module")
def result():
    tests = [own("word"), own()]
    return bb.seat(tests, toy, seed=shifted(1), cache=False, bayes=True, prob=0.5, **FAST)


@pytest.mark.slow
def test_rows_say_what_the_fit_says(result):
    """With the seed of the test, so that the fit is the same."""
    row = result.frame.iloc[1]
    table = sentence_table(own(), toy, cache=False)
    seed = module._seed_of_test(shifted(1), own())
    found = fit(table, "sentence", seed=seed, pointwise=False, **FAST)
    gap = found.contrasts(0.5, estimand="population", level="overall").iloc[0]
    ends = ["hpdi_low", "hpdi_high"]
    assert row[["contrast", *ends]].tolist() == gap[["mean", *ends]].tolist()
    standard = found.standardized(estimand="population", level="overall").iloc[0]
    assert row["standardized"] == standard["mean"]
    assert row["probability_of_superiority"] == standard["probability_of_superiority"]
    assert row["prior_sensitivity"] == found.prior_sensitivity()["prior"].iloc[0]
    shares = found.variance_partition().set_index("source")["mean"]
    words = [name for name in shares.index if "template" not in name and name != "residual"]
    assert row["share_word"] == pytest.approx(shares[words].sum())
    assert row["share_residual"] == pytest.approx(shares["residual"])
    classes = found.contrasts(0.5, level="class")
    own_classes = result.classes[result.classes["test"] == row["test"]]
    assert own_classes["mean"].tolist() == classes["mean"].tolist()
    assert own_classes["estimand"].unique().tolist() == ["population", "listed_words"]


@pytest.mark.slow
def test_every_column_of_a_fit_has_a_value_and_follows_another_interval(result):
    columns = list(FITTED_COLUMNS)
    assert result.frame[columns].notna().any().all()
    shown = result.shown_with(bb.View(prob=0.8))[0].frame
    rows = [fitted_row(fitted, 0.8) for fitted in result.fits().values()]
    expected = pd.DataFrame(rows).reindex(columns=columns)
    pd.testing.assert_frame_equal(
        shown[columns].reset_index(drop=True), expected, check_dtype=False
    )


@pytest.mark.slow
def test_the_headline_needs_both_p_and_a_failed_predictive_check_is_a_warning(result):
    assert ((result.frame["misfit"] >= 0) & (result.frame["misfit"] < 1)).all()
    small = {"p_holm": 0.001, "converged": True}
    both, words = (
        dataclasses.replace(result, frame=result.frame.assign(**small, p_words_holm=p, misfit=m))
        for p, m in ((0.001, 0.0), (0.2, 0.5))
    )
    said = bb.interpret(both)
    assert said.headline.startswith("2 of 2 tests significant")
    assert not any("predictive" in warning for warning in said.warnings)
    said = bb.interpret(words)
    assert said.headline.startswith("0 of 2 tests significant")
    assert any("predictive check failed" in warning for warning in said.warnings)


@pytest.mark.slow
def test_a_word_test_is_fitted_without_templates(result):
    rows = result.frame.set_index("level")
    assert rows.loc["word", ["share_template", "share_sentence"]].isna().all()
    assert rows.at["sentence", "share_template"] > 0.02
    shares = [name for name in rows.columns if name.startswith("share_")]
    np.testing.assert_allclose(rows[shares].sum(axis=1), 1, atol=1e-9)
    assert rows["contrast"].between(rows["hpdi_low"], rows["hpdi_high"]).all()


def simulated(rng, words=5, templates=6, gap=-0.06, word=0.03, template=0.03, noise=0.02):
    """Return a sentence table from the model: `word` and `template` are the SDs of the gap."""
    effects: dict[object, float] = {}

    def effect(key, sd):
        if key not in effects:
            effects[key] = rng.normal(0, sd)
        return effects[key]

    targets = [
        (f"{c}{i}", c, f"T{t}") for c in "xy" for i in range(words) for t in range(templates)
    ]
    others = [
        (f"a{c}{i}", c, f"A{t}") for c in "xy" for i in range(words) for t in range(templates)
    ]
    rows = []
    for w, c, p in targets:
        for b, d, q in others:
            which = "associated" if c == d else "different"
            mean = (
                0.9
                + (gap if c == d else 0)
                + effect(("c", w, which), word)
                + effect(("u", b, c), word)
            )
            mean += effect(("pc", p, which), template) + effect(("qc", q, which), template)
            mean += sum(
                effect((at, key), 0.05) for at, key in zip("mvpq", (w, b, p, q), strict=True)
            )
            mean += effect(("s", w, p), 0.02) + effect(("r", b, q), 0.02) + rng.normal(0, noise)
            rows.append((w, c, p, b, d, q, "stereotype", which, mean))
    names = [
        "protected_word",
        "protected_class",
        "protected_template",
        "attribute",
        "attribute_class",
    ]
    names += ["attribute_template", "attribute_kind", "connection", "distance"]
    return pd.DataFrame(rows, columns=names)


def gaps(table, seed):
    spec = trimmed(load_model("sentence"), table)
    found = fit(table, spec, pointwise=False, seed=shifted(seed), draws=500, tune=500, chains=2)
    estimands = ("listed_words", "new_templates", "new_words", "population")
    frames = [found.contrasts(estimand=each, level="overall", detail=True) for each in estimands]
    return pd.concat(frames).set_index("estimand")


# Intervals of 89 %: 3 or fewer of 6 have a chance of 1 in 30.
@pytest.mark.claim
def test_truth_is_recovered_and_new_words_and_templates_cost_certainty():
    inside, templates = 0, []
    for seed in range(6):
        frame = gaps(simulated(np.random.default_rng(seed)), seed)
        inside += frame.loc["population", "hpdi_low"] < -0.06 < frame.loc["population", "hpdi_high"]
        sd = frame["sd"]
        assert sd["listed_words"] < min(sd["new_words"], sd["new_templates"])
        wider = {name: mc.log_sd_of_row(frame.loc[name]) for name in frame.index}
        for name in ("new_words", "new_templates"):
            assert (wider["population"] - wider[name]).may_reach(0), name
        quiet = gaps(simulated(np.random.default_rng(seed), template=0.0), seed)
        templates.append((sd["new_templates"], quiet.loc["new_templates", "sd"]))
    assert inside >= 4
    # Where templates do not vary the gap, new ones cost nearly nothing.
    loud, quiet = np.mean(templates, axis=0)
    assert quiet < 0.4 * loud


# -- slopes on covariates ---------------------------------------------------------------------------------------------


@pytest.fixture
def made(monkeypatch):
    """Fits are made up; the slopes of a mean are what its name says."""

    def fit(table, spec, **_):
        table = with_covariates_known(table, spec.covariates())
        spec = trimmed(spec, table.frame)
        scales = {name: 0.1 for name, about in spec.parameters.items() if about.positive}
        slopes = {
            name: (lambda connection: 0.02 if connection == "associated" else -0.02)
            for name, about in spec.parameters.items()
            if about.covariate and about.dims == ("connection",)
        }
        coverage = {"notes": list(table.coverage.notes)}
        return made_up(table.frame, spec, scales | slopes, coverage=coverage)

    monkeypatch.setattr(module, "fit", fit)


def test_covariates_of_one_side_and_of_both_have_slopes():
    tests = [sentence_test("weat7"), sentence_test("weat6")]
    asked = slopes_of_tests(YEARS, ["year"], tests)
    table, spec, lacking = asked.of_test(bb.sentence_table("weat7"), load_model("sentence"))
    assert (lacking, spec.covariates(), spec.name) == ([], ["year"], "sentence + year")
    assert table.provenance["covariates"]["year"]["center"] == 1580.0
    table, spec, lacking = asked.of_test(bb.sentence_table("weat6"), load_model("sentence"))
    assert (spec.name, lacking) == ("sentence", ["year"])
    both = ["protected_length", "attribute_length"]
    for name, covariates in (("length", both), ("attribute_length", both[1:])):
        asked = slopes_of_tests(LENGTHS, {name: ["protected_class"]}, tests[:1])
        _, spec, _ = asked.of_test(bb.sentence_table("weat7"), load_model("sentence"))
        assert spec.covariates() == covariates
        assert f"slope_{covariates[0]}_protected_class" in spec.parameters


@pytest.mark.parametrize(
    ("covariates", "slopes", "said"),
    [
        (YEARS, [], "expected covariates and slopes"),
        (YEARS, ["yaer"], "expected .*got 'yaer'.*Did you mean 'year'"),
        ({"year": {"math": 1.0, "algebra": 2.0}}, ["year"], "three words of a test"),
        ({"kind": {"math": "a", "algebra": "b", "geometry": "a"}}, ["kind"], "expected numbers"),
    ],
)
def test_bad_covariates_are_refused_before_anything_is_run(covariates, slopes, said):
    with pytest.raises(InputError, match=said):
        bb.seat("weat7", lambda texts: 1 / 0, covariates=covariates, slopes=slopes)


def test_slopes_of_every_test_are_in_the_result(made):
    settings = {"seed": 1, "cache": False, "samples": 99}
    result = bb.seat("weat7,weat6", covariates=YEARS, slopes=["year"], **settings)
    assert set(result.slopes["test"]) == {"weat7"}
    overall = result.slopes[result.slopes["level"] == "overall"].set_index("of")["mean"]
    assert overall["associated"] == pytest.approx(0.02, abs=0.002)
    assert overall["associated - different"] == pytest.approx(0.04, abs=0.002)
    notes = result.notes.groupby("test")["note"].agg(list)
    assert notes["weat6"] == ["fewer than three of its words have year, so that it has no slope"]
    assert any(
        note.startswith("left out of the fit, since they have no year") for note in notes["weat7"]
    )
    assert result.frame["contrast"].notna().all()
    assert result.provenance["slopes"] == {"year": None}
