"""The published analysis of sentiment comes out."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from helpers.classifiers import toy
from scipy import stats

import bayesbias as bb
from bayesbias.studies.sentiment.analysis import SentimentAnalysis


@pytest.fixture(scope="module")
def analysis(published) -> SentimentAnalysis:
    return bb.sentiment_analysis(*published, hypotheses=3)


def test_published_table_comes_out(analysis, gender):
    # Source: results.txt of the published data (rows logreg, lstm, bert), and table 1 of the paper.
    theirs = np.loadtxt(gender / "results.txt")[[0, 2]]
    whole = analysis.tests[analysis.tests["unit"] == "sentence_pair"]
    assert whole["classifier"].tolist() == ["logreg", "bert"]
    np.testing.assert_allclose(
        whole["t"].to_numpy(float), theirs[:, 0], rtol=1e-7
    )  # BERT in single precision
    np.testing.assert_allclose(whole["p_value"].to_numpy(float), theirs[:, 1], rtol=1e-6)
    np.testing.assert_allclose(whole["f_minus_m"], theirs[:, 2], rtol=1e-7)
    np.testing.assert_allclose(whole["p_bonferroni"].to_numpy(float), 3 * theirs[:, 1], rtol=1e-6)
    assert whole["f_minus_m"].round(7).tolist() == [0.0345668, -0.0401956]
    assert whole["df"].tolist() == [399, 399]


def test_noun_pairs_as_units_take_the_certainty_away(analysis):
    # Source: issue on sentiment classifiers; computed from the published predictions.
    pairs = analysis.tests[analysis.tests["unit"] == "noun_pair"]
    assert [round(p, 2) for p in pairs["p_value"]] == [0.19, 0.18]
    assert pairs["df"].tolist() == [19, 19]
    np.testing.assert_allclose(pairs["f_minus_m"], [0.0345668, -0.0401956], atol=1e-7)


def test_top_and_bottom_professions(analysis, published):
    # Source: table 2; scientist is third lowest of logreg, where the paper says "many".
    ends = {
        (name, end): part["professions"].tolist()
        for (name, end), part in analysis.extremes.groupby(["classifier", "end"])
    }
    assert ends == {
        ("logreg", "top"): [("secretary",), ("teacher",), ("writer",)],
        ("logreg", "bottom"): [("truck driver",), ("flight attendant",), ("scientist",)],
        ("bert", "top"): [("scientist",), ("chef",), ("dancer",)],
        ("bert", "bottom"): [("truck driver",), ("clerk",), ("tailor",)],
    }
    professions = analysis.professions[analysis.professions["classifier"] == "logreg"]
    tied = professions[professions["tied"] > 1]
    assert set(tied["tied"]) == {8}
    assert set(tied["rank"]) == {10}
    assert set(tied["profession"]) == {
        "lawyer", "nurse", "chef", "soldier", "dancer", "gym trainer", "mechanic", "bartender",
    }  # fmt: skip
    fourth = bb.sentiment_analysis(*published, n=6).extremes
    last = fourth[(fourth["classifier"] == "logreg") & (fourth["end"] == "bottom")].iloc[-1]
    assert last["place"] == 4
    assert len(last["professions"]) == 8


def test_mean_sentiment_is_that_of_figure_2(analysis, gender):
    theirs = pd.read_csv(gender / "plot_data.csv")["Sentiment"]
    ours = analysis.professions[analysis.professions["classifier"] == "bert"].set_index(
        "profession"
    )["sentiment"]
    order = bb.wordlists.load_occupations().professions["profession"]
    np.testing.assert_allclose(ours[order], theirs, atol=2e-7)
    assert ours["scientist"].round(2) == 0.99
    assert ours["truck driver"].round(2) == 0.34


def test_differences_of_professions_and_noun_pairs(analysis):
    # Source: section 4.2.
    bert = analysis.professions[analysis.professions["classifier"] == "bert"].set_index(
        "profession"
    )
    lowest = bert["difference"].sort_values()
    assert lowest.round(3)[:3].to_dict() == {
        "flight attendant": -0.132,
        "bartender": -0.126,
        "clerk": -0.116,
    }
    assert lowest.index[-1] == "pilot"
    pairs = analysis.noun_pairs[analysis.noun_pairs["classifier"] == "bert"].reset_index()
    assert pairs.loc[0, "noun_pair"] == "This bachelor / This spinster"
    assert round(pairs.loc[0, "difference"], 3) == -0.404
    assert pairs.loc[0, "p_value"] < 0.01
    assert pairs["difference"].is_monotonic_increasing
    assert pairs.loc[19, "noun_pair"] == "This widower / This widow"


def test_control_experiment_is_not_significant(analysis, published):
    # Source: section 4.2 for the difference; the paper states no test. t is of male - female.
    (control,) = analysis.control.to_dict("records")
    assert control["classifier"] == "bert"
    assert round(control["f_minus_m"], 4) == 0.0387
    assert round(control["t"], 2) == -0.96
    assert round(control["p_value"], 2) == 0.35
    assert control["n"] == 20
    table = bb.sentiment_table(published[1], control=True)
    assert table["profession"].unique().tolist() == ["person"]
    result = stats.ttest_rel(table["p_male"], table["p_female"])
    assert control["t"] == pytest.approx(result.statistic, rel=1e-12)


def test_tests_are_those_of_scipy(published, analysis):
    table = bb.sentiment_table(published[0])
    result = stats.ttest_rel(table["p_male"], table["p_female"])
    row = bb.paired_test(table).iloc[0]
    assert row["t"] == pytest.approx(result.statistic, rel=1e-12)
    assert row["p_value"] == pytest.approx(result.pvalue, rel=1e-9)
    assert row["p_bonferroni"] == row["p_value"]  # one classifier, one test
    means = table.groupby("profession")[["p_male", "p_female"]].mean()
    result = stats.ttest_rel(means["p_male"], means["p_female"])
    assert bb.paired_test(table, unit="profession").iloc[0]["p_value"] == pytest.approx(
        result.pvalue, rel=1e-9
    )
    son = table[table["noun_pair"] == "My son / My daughter"]
    row = analysis.noun_pairs[analysis.noun_pairs["noun_pair"] == "My son / My daughter"].iloc[0]
    assert row["t"] == pytest.approx(
        stats.ttest_rel(son["p_male"], son["p_female"]).statistic, rel=1e-9
    )


def test_correlation_with_earnings(analysis, gender, published):
    # Figure 2 gives no number; the values are computed here from the published plot data.
    data = pd.read_csv(gender / "plot_data.csv").dropna()
    rows = analysis.earnings[analysis.earnings["classifier"] == "bert"].set_index("method")
    pearson = stats.pearsonr(data["Median Weekly Earnings"], data["Sentiment"])
    interval = pearson.confidence_interval(0.95)
    assert rows.loc["pearson", "r"] == pytest.approx(pearson.statistic, abs=1e-6)
    assert rows.loc["pearson", "p_value"] == pytest.approx(pearson.pvalue, abs=1e-6)
    assert rows.loc["pearson", "low"] == pytest.approx(interval.low, abs=1e-6)
    assert rows.loc["pearson", "high"] == pytest.approx(interval.high, abs=1e-6)
    spearman = stats.spearmanr(data["Median Weekly Earnings"], data["Sentiment"])
    r = spearman.statistic
    half = 1.959963984540054 * math.sqrt((1 + r**2 / 2) / 12)  # Bonett and Wright (2000)
    assert rows.loc["spearman", "r"] == pytest.approx(r, rel=1e-12)
    assert rows.loc["spearman", "p_value"] == pytest.approx(spearman.pvalue, rel=1e-9)
    assert rows.loc["spearman", "low"] == pytest.approx(math.tanh(math.atanh(r) - half), rel=1e-9)
    assert rows.loc["spearman", "high"] == pytest.approx(math.tanh(math.atanh(r) + half), rel=1e-9)
    assert rows["n"].tolist() == [15, 15]
    narrower = bb.sentiment_analysis(*published, prob=0.5).earnings
    assert (
        narrower["high"] - narrower["low"] < analysis.earnings["high"] - analysis.earnings["low"]
    ).all()


@pytest.mark.slow
def test_what_does_not_vary_has_no_test():
    made = bb.score_sentences(lambda sentences: [0.6] * len(sentences), name="flat")
    result = bb.sentiment_analysis(made)
    (row,) = result.tests[result.tests["unit"] == "sentence_pair"].to_dict("records")
    assert row["f_minus_m"] == 0
    assert pd.isna([row["t"], row["p_value"], row["p_bonferroni"]]).all()
    assert result.earnings.empty
    (top,) = result.extremes.query("end == 'top'").to_dict("records")
    assert top["sentiment"] == pytest.approx(0.6, rel=1e-12)
    assert len(top["professions"]) == 20
    assert any("do not vary" in note for note in result.notes)
    assert "no test" in repr(result)


def test_classifiers_that_rate_all_sentences_alike_are_asked_whether_they_are_one():
    one, two, three = toy("one"), toy("two"), toy("three")
    nearly = two.frame.assign(probability=two.frame["probability"] + 5e-4)
    apart = three.frame.copy()
    apart.loc[0, "probability"] += 0.002
    found = bb.sentiment_analysis(one, nearly.sample(frac=1, random_state=1), apart)
    (note,) = [note for note in found.notes if "equally" in note]
    assert note.startswith("one and two rate all sentences equally")
    assert found.classifiers == ("one", "two", "three")  # nothing is dropped
    assert found.provenance["hypotheses"] == 3
    assert not any("equally" in note for note in bb.sentiment_analysis(one, apart).notes)


@pytest.mark.slow
def test_the_published_predictions_and_those_shipped_are_of_one_classifier(gender):
    read = bb.load_predictions(gender / "predictions_logreg.txt")
    assert any(
        "different classifiers" in note
        for note in bb.sentiment_analysis(bb.list_predictions("m1"), read).notes
    )


def test_bonferroni_counts_the_classifiers_unless_told():
    table = bb.sentiment_table(toy("one"), toy("two"))
    p = float(bb.paired_test(table)["p_value"][0])
    assert bb.paired_test(table)["p_bonferroni"].tolist() == [min(1, 2 * p)] * 2
    assert bb.paired_test(table, hypotheses=10**6)["p_bonferroni"].tolist() == [1.0, 1.0]
    with pytest.raises(bb.InputError, match="Did you mean 'noun_pair'"):
        bb.paired_test(table, unit="noun pair")


def test_the_tables_of_tests_do_not_depend_on_the_order_of_rows():
    frame = bb.list_predictions("m1").frame
    expected = bb.sentiment_analysis(frame)
    for seed in range(3):
        found = bb.sentiment_analysis(frame.sample(frac=1, random_state=seed))
        for name in ("tests", "professions", "noun_pairs", "extremes", "earnings", "control"):
            pd.testing.assert_frame_equal(
                getattr(found, name), getattr(expected, name), check_exact=True
            )
