"""Figures, sentences and the report of sentiment: what they show is what the tables say."""

from __future__ import annotations

import dataclasses
import json

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from bayesbias.findings.of_result import findings_of
from helpers import monte_carlo as mc
from helpers.draws import made_up_fit
from helpers.pages import Page, check_structure, without_figures
from helpers.places import ROOT
from helpers.seeds import shifted
from matplotlib.figure import Figure
from scipy import stats

import bayesbias as bb
from bayesbias.core.errors import FitError, InputError
from bayesbias.plots import sentiment

pytestmark = pytest.mark.slow  # figures of whole analyses are drawn

# R-hat must stay below its limit at every seed.
QUICK = {"seed": shifted(1), "draws": 2000, "tune": 500, "chains": 2, "pointwise": False}
EVIL = "<script>alert(1)</script> $x_1$"


def second(sentences):
    """Probabilities that depend on the words alone."""
    return [
        0.3 + 0.4 * np.sin(sum(map(ord, s))) ** 2 + 0.2 * any(w in s for w in ("great", "wonderful", "love"))
        for s in sentences
    ]


@pytest.fixture(scope="module")
def m1():
    return bb.list_predictions("m1")


@pytest.fixture(scope="module")
def analysis(m1):
    return bb.sentiment_analysis(m1, bb.score_sentences(second, name="second"), hypotheses=3)


@pytest.fixture(scope="module")
def fit(analysis):
    return bb.studies.with_analysis(bb.fit(analysis.table, "sentiment", **QUICK), analysis)


@pytest.fixture(scope="module")
def alone(m1):
    found = bb.sentiment_analysis(m1)
    return bb.studies.with_analysis(made_up_fit(found.table, "sentiment"), found)


def of(ax, label):
    return [line for line in ax.lines if line.get_label() == label]


# -- the shipped predictions ---------------------------------------------------------------------------


def test_list_predictions_are_the_published_ones(m1, shared):
    # Source: the published predictions of M.1, without control sentences.
    theirs = np.loadtxt(shared / "data" / "gender_sentiment" / "predictions_logreg.txt")
    ours = m1.frame.loc[~m1.frame["control"], "probability"].to_numpy()
    assert np.abs(ours - theirs).max() < 1.3e-4
    whole = bb.paired_test(bb.sentiment_table(m1)).iloc[0]
    assert whole["f_minus_m"] == pytest.approx(0.0345668, abs=5e-6)
    assert whole["t"] == pytest.approx(-5.906, abs=1e-3)


def test_list_predictions_say_what_they_are(m1):
    assert m1.frame["control"].sum() == 40
    comment = m1.provenance["m1"]["comment"]
    assert "SST-2 (SHA-256 dc4a1063" in comment
    assert "spinster" in comment.split("does not know")[1]
    with pytest.raises(InputError, match="no such predictions are shipped; found: 'm2'; valid: m1"):
        bb.list_predictions("m2")


def test_figures_of_bert_in_the_notebook_are_those_of_the_published_predictions(shared):
    path = ROOT / "notebooks" / "05_occupations_in_sentiment.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    (source,) = ["".join(c["source"]) for c in cells if "quoted" in c["metadata"].get("tags", [])]
    space: dict = {}
    exec(source.split("\nbert = ")[0], space)
    folder = shared / "data" / "gender_sentiment"
    table = bb.sentiment_table(bb.load_predictions(folder / "predictions_bert.tsv"))
    theirs = table.groupby("noun_pair")[["difference", "logit_difference"]].mean()
    quoted = pd.DataFrame(space["BERT"], index=["difference", "logit_difference"]).T.loc[theirs.index]
    np.testing.assert_allclose(quoted["difference"], theirs["difference"], atol=5.1e-5)
    np.testing.assert_allclose(quoted["logit_difference"], theirs["logit_difference"], atol=5.1e-4)


# -- sentences -----------------------------------------------------------------------------------------


def test_the_fewest_noun_pairs_that_carry_the_mean(analysis):
    means = analysis.noun_pairs[analysis.noun_pairs["classifier"] == "m1"].set_index("noun_pair")[
        "difference"
    ]
    carrying = bb.findings.carrying_pairs(analysis.table, "m1")
    assert carrying == means.sort_values(ascending=False).index[:4].tolist()
    assert means.drop(carrying).mean() <= 0
    assert means.drop(carrying[:3]).mean() > 0
    frame = analysis.table[analysis.table["classifier"] == "m1"]
    assert bb.findings.carrying_pairs(_differing(frame, -frame["difference"]), "m1") == carrying
    assert bb.findings.carrying_pairs(_differing(frame, 0.1), "m1") == []
    assert bb.findings.carrying_pairs(_differing(frame, 0.0), "m1") == []


def _differing(frame, by):
    """Return pairs of sentences whose probabilities differ by so much."""
    return frame.assign(difference=by, p_male=0.5 - 0.5 * by, p_female=0.5 + 0.5 * by)




def test_a_fit_of_log_odds_says_the_tests_of_log_odds(m1):
    analysis = bb.sentiment_analysis(m1)
    result = made_up_fit(analysis.table, "sentiment_logit", draws=500)
    said = " ".join(findings_of(bb.studies.with_analysis(result, analysis)).lines())
    means = analysis.table.groupby("noun_pair")["logit_difference"].mean()
    test = stats.ttest_1samp(means, 0)
    assert f"over 20 noun pairs t(19) = {-test.statistic:.2f}, p = {test.pvalue:.2g}" in said
    assert "in log odds" in said


def test_nothing_is_concluded_from_a_fit_that_has_not_converged(analysis, tmp_path, monkeypatch):
    without_figures(monkeypatch)
    result = bb.fit(analysis.table, "sentiment", **QUICK | {"draws": 10, "tune": 10})
    assert not result.diagnostics()["ok"]
    result = bb.studies.with_analysis(result, analysis)
    said = findings_of(result).lines()
    assert sum("No conclusion from the model" in text for text in said) == 2
    assert not any("HPDI" in text or "variance" in text for text in said)
    assert findings_of(result).sentences == ()
    text = Page(bb.write_report(result, tmp_path / "x.html").read_text(encoding="utf-8")).all_text()
    top = text[text.index("The answer") : text.index("Data and coverage")]
    assert top.index("Not to be trusted yet") < top.index("no conclusion")
    assert "the sign is open" not in top


def test_heavy_tails_are_said(m1):
    analysis = bb.sentiment_analysis(m1)
    # Four of twenty noun pairs are unknown to M.1.
    (zeros,) = findings_of(made_up_fit(analysis.table, "sentiment")).doubts
    assert (zeros.kind, zeros.effect, zeros.group, zeros.model) == ("exact_zeros", None, "m1", None)
    assert zeros.text.startswith("m1: 20% of the differences are exactly zero")
    far = analysis.table["difference"].copy()
    far[[5, 133, 287]] = [0.9, -0.9, 0.95]
    table = _differing(analysis.table, far)
    (_, tails) = findings_of(made_up_fit(table, "sentiment")).doubts
    assert (tails.kind, tails.effect, tails.group, tails.model) == (
        "heavy_tails",
        None,
        "m1",
        "sentiment_logit",
    )
    assert tails.text.startswith(
        "m1: what noun pairs and professions leave over is little for most sentence pairs and much"
    )


def test_labels_are_called_that_in_one_sentence_in_place_of_doubts(m1):
    predicted = m1.frame.assign(
        probability=(m1.frame["probability"] > m1.frame["probability"].median()) * 1.0
    )
    analysis = bb.sentiment_analysis(predicted)
    found = findings_of(bb.studies.with_analysis(made_up_fit(analysis.table, "sentiment"), analysis))
    assert found.doubts == ()
    (said,) = found.notes
    assert said.startswith("m1: every prediction is 0 or 1, a label and no probability")
    assert said.endswith("hand over probabilities where the classifier has them")


@pytest.mark.claim
def test_classifiers_are_compared_sentence_pair_by_sentence_pair(m1):
    """What two classifiers share cancels: as certain as a paired test over noun pairs, not as two fits apart."""
    rng = np.random.default_rng(0)
    shift = 0.02 * (m1.frame["gender"] == "female") + rng.normal(0, 0.003, len(m1.frame))
    close = m1.frame.assign(classifier="close", probability=m1.frame["probability"] + shift)
    table = bb.sentiment_table(m1, close, m1.frame.assign(classifier="same"))
    result = bb.fit(table, "sentiment", **QUICK)
    found = bb.studies.classifier_contrasts(result).set_index(["contrast", "estimand"])
    wide = table.pivot(index=["noun_pair", "profession"], columns="classifier", values="difference")
    means = (wide["m1"] - wide["close"]).groupby("noun_pair").mean()
    row = found.loc[("m1 - close", "population")]
    # The sampler is believed, so there are 400 effective draws or more.
    assert abs(row["mean"] - means.mean()) < mc.K / np.sqrt(400) * row["sd"]
    assert row["hpdi_low"] < means.mean() < row["hpdi_high"]
    assert 0.5 < row["sd"] / (means.std() / np.sqrt(20)) < 3
    assert row["p_below_zero"] == 1
    assert (found.loc["m1 - same", "sd"] == 0).all()
    apart = result.contrasts(level="overall", estimand="population").set_index("contrast")
    assert row["sd"] < apart.loc["m1 - close", "sd"] / 20
    said = findings_of(result).sentences
    assert any(
        "m1 - same: the differences female - male of the two are the same in every sentence pair." in s
        for s in said
    )
    with pytest.raises(FitError, match="not about sentiment"):
        bb.studies.classifier_contrasts(made_up_fit(bb.distance_table("minilm-static", "gender")))


def test_the_analysis_travels_with_the_fit(analysis, fit, tmp_path):
    fit.save(tmp_path / "fit.nc")
    back = bb.studies.analysis_of(bb.load_fit(tmp_path / "fit.nc"))
    assert back.provenance == analysis.provenance
    assert back.notes == analysis.notes
    for name in ("tests", "professions", "noun_pairs", "control", "earnings"):
        pd.testing.assert_frame_equal(
            getattr(back, name).reset_index(drop=True), getattr(analysis, name).reset_index(drop=True),
            check_dtype=False,
        )  # fmt: skip
    other = dataclasses.replace(analysis, table=analysis.table.assign(difference=0.0))
    with pytest.raises(InputError, match="the fit is of another table"):
        bb.studies.with_analysis(fit, other)
    plain = bb.studies.analysis_of(made_up_fit(analysis.table, "sentiment"))
    assert plain.control.empty
    assert plain.provenance["hypotheses"] == 2


def test_what_is_not_sentiment_is_refused():
    table = bb.distance_table("minilm-static", "religion", controls="none")
    distances = made_up_fit(table)
    with pytest.raises(FitError, match="not about sentiment"):
        bb.studies.analysis_of(distances)
    with pytest.raises(FitError, match="the figure is about sentiment"):
        bb.plots.plot_professions(distances)




# -- figures -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["profession", "noun_pair"])
def test_rows_are_in_the_order_of_the_effect_and_hold_the_posterior(alone, level):
    draw = bb.plots.plot_professions if level == "profession" else bb.plots.plot_noun_pairs
    ax = draw(alone, prob=0.8, ax=Figure(figsize=(7, 8)).subplots())
    new = alone.means(level, 0.8, "population").set_index("name")
    observed = alone.table.groupby(level, sort=False, observed=True)["difference"].mean()
    order = observed.sort_values(kind="stable").index
    assert [t.get_text() for t in ax.get_yticklabels()] == [sentiment._pair_label(name) for name in order]
    at = {round(float(y), 6): name for y, name in zip(ax.get_yticks(), order, strict=True)}
    for label, means, shift in (("_observed", observed, 0.2), ("_population", new["mean"], -0.2)):
        points = of(ax, label)
        assert len(points) == 20
        for line in points:
            name = at[round(float(line.get_ydata()[0]) - shift, 6)]
            assert line.get_xdata()[0] == pytest.approx(means[name])
    # What was observed is known, and has no interval.
    intervals = of(ax, "_interval")
    assert len(intervals) == 20
    for line in intervals:
        name = at[round(float(line.get_ydata()[0]) + 0.2, 6)]
        assert line.get_xdata() == pytest.approx(new.loc[name, ["hpdi_low", "hpdi_high"]].tolist())


def test_several_classifiers_have_panels_side_by_side(fit):
    ax = bb.plots.plot_professions(fit)
    left, right = ax.figure.axes
    assert ax is left
    assert left.get_ylim() == right.get_ylim()
    assert left.get_xlim() == right.get_xlim()
    texts = [[t.get_text() for t in panel.texts] for panel in (left, right)]
    assert "m1" in texts[0]
    assert "second" in texts[1]
    second_ = fit.table.query("classifier == 'second'").groupby("profession")["difference"].mean()
    assert sorted(float(line.get_xdata()[0]) for line in of(right, "_observed")) == pytest.approx(
        sorted(second_)
    )
    mpl.pyplot.close(ax.figure)


def test_one_axes_shows_one_classifier(fit, analysis):
    for draw in (
        bb.plots.plot_professions,
        bb.plots.plot_noun_pairs,
        bb.plots.plot_genders,
        bb.plots.plot_earnings,
    ):
        with pytest.raises(InputError, match="one Axes shows one classifier"):
            draw(fit, ax=Figure().subplots())
        with pytest.raises(InputError, match=r"unknown classifier; found: 'secnd'.*did you mean 'second'"):
            draw(fit, ax=Figure().subplots(), classifier="secnd")
    ax = bb.plots.plot_genders(analysis, classifier="second", ax=Figure().subplots())
    assert "second" in ax.texts[0].get_text()


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("My father / My mother", "My father / mother"),
        ("The male candidate / The female candidate", "The male / female candidate"),
        ("He / She", "He / She"),
        ("Sir / Madam", "Sir / Madam"),
        ("a b c / a b d", "a b c / d"),
        ("my old aunt / my aunt", "my old aunt / aunt"),
        ("a / b / c", "a / b / c"),
    ],
)
def test_noun_pairs_are_labelled_by_what_differs(name, short):
    assert sentiment._pair_label(name) == short


def test_genders_show_the_means_of_each_profession(analysis, m1):
    ax = bb.plots.plot_genders(bb.sentiment_table(m1), ax=Figure(figsize=(7, 6.2)).subplots())
    (points,) = of(ax, "_professions")
    ranked = analysis.professions[analysis.professions["classifier"] == "m1"]
    np.testing.assert_allclose(np.column_stack(points.get_data()), ranked[["p_male", "p_female"]])
    named = {t.get_text() for t in ax.texts}
    # Eight professions that the classifier does not know lie on one point, named by the first of the alphabet.
    assert "bartender and 7 more" in named
    assert {"secretary", "truck driver"} <= named
    boxes = [t.get_window_extent() for t in ax.texts if t.get_text() in set(ranked["profession"])]
    assert len(boxes) > 8
    for i, a in enumerate(boxes):
        assert not any(a.overlaps(b) for b in boxes[i + 1 :])


def test_earnings_have_intervals_and_the_correlation(analysis, m1):
    table = bb.sentiment_table(m1)
    ax = bb.plots.plot_earnings(table, ax=Figure(figsize=(7, 4.8)).subplots())
    (bars,) = ax.containers
    points, _, (intervals,) = bars.lines
    earnings = bb.wordlists.load_occupations().earnings
    means = bb.studies.profession_sentiment(table).set_index("profession")["sentiment"]
    assert dict(zip(*points.get_data(), strict=True)) == pytest.approx(
        {earnings[p]: means[p] for p in earnings}
    )
    # Morey (2008), by hand: profession "doctor", 20 noun pairs, all 20 professions.
    wide = table.assign(s=(table["p_male"] + table["p_female"]) / 2).pivot(
        index="noun_pair", columns="profession", values="s"
    )
    left = wide.sub(wide.mean(axis=1), axis=0) + wide.to_numpy().mean()
    half = stats.t.ppf(0.975, 19) * left["doctor"].std() * np.sqrt(20 / 19) / np.sqrt(20)
    ends = next(s for s in intervals.get_segments() if s[0, 0] == earnings["doctor"])
    assert ends[:, 1] == pytest.approx([means["doctor"] - half, means["doctor"] + half])
    row = analysis.earnings[analysis.earnings["classifier"] == "m1"].iloc[0]
    said = " ".join(t.get_text() for t in ax.texts).replace("\n", " ").replace("−", "-")
    assert f"Pearson's r {row['r']:+.2f} [{row['low']:+.2f}, {row['high']:+.2f}]" in said
    with pytest.raises(InputError, match="too few professions have earnings"):
        bb.plots.plot_earnings(table, earnings={"doctor": 1.0}, ax=Figure().subplots())


def test_predictive_shows_each_classifier(fit):
    ax = bb.plots.plot_sentiment_predictive(fit, replicates=10, ax=Figure().subplots())
    assert [t.get_text() for t in ax.get_yticklabels()] == ["m1", "second"]
    assert len(ax.lines) == 22
    assert len(of(ax, "_observed")) == 2
    with pytest.raises(InputError, match="whole number from 1 to 200"):
        bb.plots.plot_sentiment_predictive(fit, replicates=0, ax=Figure().subplots())


@pytest.mark.claim
def test_figures_are_the_same_each_time(alone, tmp_path):
    both = [bb.plots.save_figures(alone, tmp_path / name, "svg") for name in ("a", "b")]
    assert [path.read_bytes() for path in both[0]] == [path.read_bytes() for path in both[1]]


@pytest.mark.claim
def test_all_figures_are_written(alone, analysis, tmp_path):
    files = bb.plots.save_figures(alone, tmp_path / "a")
    assert [f.name for f in files[::2]] == [
        "professions.png", "noun_pairs.png", "predictive.png", "genders.png", "earnings.png",
    ]  # fmt: skip
    assert all(f.stat().st_size > 5000 for f in files)
    few = bb.plots.save_figures(analysis, tmp_path / "c", ["svg"])
    assert [f.name for f in few] == ["genders.svg", "earnings.svg"]
    poor = bb.studies.analysis_of_table(analysis.table, earnings={})
    none = bb.plots.save_figures(poor, tmp_path / "d", ["svg"])
    assert [f.name for f in none] == ["genders.svg"]
    with pytest.raises(InputError, match=r"unknown figure format.*did you mean 'svg'"):
        bb.plots.save_figures(analysis, tmp_path / "e", ["svgg"])
    (tmp_path / "f").write_text("x")
    with pytest.raises(InputError, match="is a file, not a folder"):
        bb.plots.save_figures(analysis, tmp_path / "f")


# -- the report ----------------------------------------------------------------------------------------


@pytest.mark.claim
def test_the_report_says_what_the_draws_say(fit, analysis, tmp_path):
    raw = bb.write_report(fit, tmp_path / "report.html").read_text(encoding="utf-8")
    parsed = check_structure(raw)
    text = parsed.all_text()
    assert [attrs["id"] for attrs in parsed.of("section")] == [
        "answer", "data", "details", "model", "trust", "again", "reading",
    ]  # fmt: skip
    assert "occupations by m1 and second" in text
    headlines = {part.subject: part.headline for part in findings_of(fit).parts}
    for name in analysis.classifiers:
        assert f"{name}: {headlines[name][0].lower()}{headlines[name][1:]}" in text
    for estimand in ("population", "new_nouns", "new_professions", "listed_words"):
        for r in fit.summary(estimand=estimand).itertuples():
            assert f"{r.hpdi_low:+.3f} to {r.hpdi_high:+.3f}".replace("-", "−") in text
    for r in fit.means("noun_pair").itertuples():
        assert f"{r.hpdi_low:+.3f} to {r.hpdi_high:+.3f}".replace("-", "−") in text.replace(
            " 0.000", " +0.000"
        )
    assert "7.5e−09" in text
    assert "Control experiment" in text
    assert " ".join(fit.spec.text.split()) in text
    assert (
        "bb.list_predictions('m1'), bb.load_predictions('second.csv', name='second'), hypotheses=3)" in text
    )
    assert f"bb.fit(analysis.table, 'sentiment', seed={shifted(1)}, draws=2000, tune=500, chains=2)" in text
    assert fit.provenance["sentiment"]["classifiers"]["m1"]["sha256"] in text
    assert "have to be saved to a file first" in text
    assert len(parsed.of("figure")) == 9  # of each classifier four; and the predictive check


@pytest.mark.slow
def test_every_word_of_a_user_is_text(tmp_path, monkeypatch):
    words = {
        "name": EVIL,
        "noun_pairs": [{"male": "He", "female": "She"}, {"male": "A <b>man</b>", "female": "A woman"}],
        "professions": [EVIL, "nurse", "</td></table>"],
    }
    made = bb.score_sentences(second, words, name="<i>mine</i>")
    analysis = bb.sentiment_analysis(made)
    result = bb.studies.with_analysis(bb.fit(analysis.table, "sentiment", **QUICK), analysis)
    parsed = check_structure(bb.write_report(result, tmp_path / "r.html").read_text(encoding="utf-8"))
    text = parsed.all_text()
    for word in (EVIL, "A <b>man</b> / A woman", "</td></table>", "<i>mine</i>"):
        assert word in text
    assert not parsed.of("i")
    assert not parsed.of("b")
    assert len(parsed.of("script")) == 1


def test_a_plain_fit_has_a_report_too(analysis, tmp_path, monkeypatch):
    without_figures(monkeypatch)
    result = bb.fit(analysis.table[analysis.table["classifier"] == "m1"], "sentiment_logit", **QUICK)
    result.save(tmp_path / "fit.nc")
    result.summary(0.5).to_csv(tmp_path / "summary.csv", index=False)
    text = Page(bb.write_report(tmp_path, tmp_path / "a.html").read_text(encoding="utf-8")).all_text()
    assert "50% HPDI" in text
    assert "There are no predictions for control sentences." in text
    assert "Log odds" in text
    assert f"bb.fit(analysis.table, 'sentiment_logit', seed={shifted(1)}" in text


def test_intervals_of_a_probability_end_at_one(m1):
    rng = np.random.default_rng(0)
    frame = m1.frame.assign(probability=np.where(rng.random(len(m1.frame)) < 0.9, 1.0, 0.5))
    analysis = bb.sentiment_analysis(frame)
    ax = bb.plots.plot_earnings(analysis, ax=Figure(figsize=(7, 5)).subplots())
    ends = np.concatenate(
        [np.asarray(line)[:, 1] for bar in ax.containers for line in bar[2][0].get_segments()]
    )
    paid = analysis.professions[
        analysis.professions["profession"].isin(list(analysis.provenance["earnings"]))
    ]
    assert (2 * paid["sentiment"] - paid["low"]).max() > 1  # or this would show nothing
    assert ends.max() == pytest.approx(1.0)
    assert ends.min() >= 0
