"""Occupational sentences, classifiers, and the published analysis."""

from __future__ import annotations

import csv
import json
import math
import shutil
import tomllib
import zlib
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import expit, logit

import bayesbias as bb
from bayesbias.basics.files import data_dir
from bayesbias.classifiers import reference, training
from bayesbias.tables.sentiment import CLIP

TOML = data_dir("wordlists") / "sentiment" / "occupations.toml"


@pytest.fixture(scope="module")
def gender(shared) -> Path:
    return shared / "data" / "gender_sentiment"


@pytest.fixture(scope="module")
def published(gender) -> tuple[bb.classifiers.Predictions, bb.classifiers.Predictions]:
    return (
        bb.read_predictions(gender / "predictions_logreg.txt", name="logreg"),
        bb.read_predictions(gender / "predictions_bert.tsv", name="bert"),
    )


@pytest.fixture(scope="module")
def analysis(published) -> bb.studies.SentimentAnalysis:
    return bb.published_analysis(*published, hypotheses=3)


def score(sentences):
    """A classifier whose predictions depend on the sentence alone, and know good from bad."""
    good = {"wonderful", "love", "delightful", "success", "happy", "best", "charming", "joy"}
    return [0.2 + 0.5 * any(w in s for w in good) + 0.25 * math.sin(sum(map(ord, s))) ** 2 for s in sentences]


def toy(name="toy", **changes) -> bb.classifiers.Predictions:
    return bb.predict(score, name=name, **changes)


# -- sentences -------------------------------------------------------------------------------------


def test_sentences_are_the_published_ones_in_the_published_order(gender):
    made = bb.words.occupation_sentences(control=True)
    for file, rows in (("bert_input_840.tsv", 840), ("gender.tsv", 800)):
        there = pd.read_csv(gender / file, sep="\t", quoting=csv.QUOTE_NONE)["sentence"]
        assert len(there) == rows
        assert made["sentence"][:rows].tolist() == there.tolist()
    assert made["control"].tolist() == [False] * 800 + [True] * 40
    assert bb.words.occupation_sentences().equals(made[:800])


def test_labels_are_the_published_ones_but_for_their_known_faults(gender):
    made = bb.words.occupation_sentences()
    there = pd.read_csv(gender / "gender_corpus.tsv", sep="\t", quoting=csv.QUOTE_NONE)
    assert made["gender"].tolist() == there["gender"].tolist()
    wrong = np.flatnonzero(made["profession"] != there["occupation"])
    assert wrong.tolist() == [120, 520]  # "He is a writer." and "She is a writer.", labelled scientist
    assert made.loc[wrong, "profession"].tolist() == ["writer", "writer"]
    nouns = there["noun phrase"].str.replace(r" (is|are)$", "", regex=True)
    assert made["noun"].tolist() == nouns.tolist()
    assert (made["noun"] != there["noun phrase"]).sum() == 120
    # Row i and row i + 400 are a pair.
    male, female = made[:400].reset_index(), made[400:].reset_index()
    assert (male["noun_pair"] == female["noun_pair"]).all()
    assert (male["profession"] == female["profession"]).all()


def test_the_shipped_list_agrees_with_the_reference(shared):
    there = json.loads((shared / "reference" / "wordlists.json").read_text(encoding="utf-8"))["sentiment"]
    own = bb.words.load_occupations()
    for gender_ in ("male", "female"):
        assert own.noun_pairs[gender_].tolist() == [p[gender_].split(",")[0] for p in there["noun_pairs"]]
    assert own.professions["profession"].tolist() == [p["name"] for p in there["professions"]]
    assert own.earnings == {
        p["name"]: p["median_weekly_earnings_usd"]
        for p in there["professions"]
        if p["median_weekly_earnings_usd"]
    }
    for ours, theirs in zip(own.professions.itertuples(), there["professions"], strict=True):
        assert (
            theirs["cps_2018_category"]
            .removeprefix("no clear CPS definition")
            .startswith(ours.category if ours.category != "no clear definition" else "")
        )
        share = theirs["female_share_percent_stated"]
        assert pd.isna(ours.female_share) if share is None else ours.female_share == share
    assert len(own.earnings) == 15


def test_own_occupations(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        'template = "{noun} works as {a} {profession}."\ncontrol = "adult"\n'
        'noun_pairs = [{male = "He", female = "She"}, {male = "Sir", female = "Madam", template = "{noun}, {profession}!"}]\n'
        'professions = ["engineer", {name = "hourly worker", article = "an", earnings = 12.5, category = "paid"}]\n',
        encoding="utf-8",
    )
    own = bb.words.load_occupations(path)
    assert own.sentences(control=True)["sentence"].tolist() == [
        "He works as an engineer.", "Sir, engineer!", "He works as an hourly worker.", "Sir, hourly worker!",
        "She works as an engineer.", "Madam, engineer!", "She works as an hourly worker.", "Madam, hourly worker!",
        "He works as an adult.", "Sir, adult!", "She works as an adult.", "Madam, adult!",
    ]  # fmt: skip
    assert own.earnings == {"hourly worker": 12.5}
    assert own.professions["category"].tolist() == ["not stated", "paid"]
    table = bb.sentiment_table(bb.predict(score, path))
    assert len(table) == 4
    assert own.sha256 == bb.words.load_occupations(tomllib.loads(path.read_text(encoding="utf-8"))).sha256
    assert own.sha256 != bb.words.load_occupations().sha256


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"profesions": []}, "unknown key; found: 'profesions'.*did you mean 'professions'"),
        ({"professions": []}, "professions: must be a list that is not empty"),
        ({"professions": ["nurse", "nurse"]}, "a profession stands twice; found: 'nurse'"),
        ({"professions": ["nurse", "person"]}, "a sentence is made twice; found: 'He is a person.'"),
        ({"professions": [{"nme": "nurse"}]}, "professions, number 1: unknown key.*did you mean 'name'"),
        (
            {"professions": [{"name": "nurse", "earnings": -3}]},
            "number 1, earnings: must be a finite number of at least 0; found: -3",
        ),
        (
            {"professions": [{"name": "nurse", "female_share": 101}]},
            "female_share: must lie from 0 to 100; found: 101",
        ),
        (
            {"professions": [{"name": "nurse", "category": "malee"}], "categories": {"male": ""}},
            "did you mean 'male'",
        ),
        ({"professions": [""]}, "professions, number 1, name: must be a text"),
        ({"noun_pairs": [{"male": "He"}]}, "noun_pairs, number 1: lacks the key 'female'"),
        ({"noun_pairs": [["He", "She"]]}, "noun_pairs, number 1: must be a table"),
        ({"template": "{noun} is a {job}."}, "template: does not hold the right fields"),
        ({"template": "{noun is a {profession}."}, "template: "),
        ({"schema": 2}, "unknown schema; found: 2; valid: schema = 1"),
    ],
)
def test_faults_in_a_list_of_occupations_are_named(change, message):
    base = {"noun_pairs": [{"male": "He", "female": "She"}], "professions": ["nurse"]}
    with pytest.raises(bb.InputError, match=message):
        bb.words.load_occupations({**base, **change})


def test_an_unknown_list_says_what_there_is(tmp_path):
    with pytest.raises(bb.InputError, match="did you mean 'occupations'"):
        bb.words.load_occupations("ocupations")
    lacking = tmp_path / "x.toml"
    lacking.write_text("professions = ['nurse']\n", encoding="utf-8")
    with pytest.raises(bb.InputError, match=r"x.toml: lacks the key 'noun_pairs'"):
        bb.words.load_occupations(lacking)


# -- the published analysis ------------------------------------------------------------------------


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


def test_top_and_bottom_professions(analysis):
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
    fourth = bb.studies.top_bottom(analysis.table, 6)
    last = fourth[(fourth["classifier"] == "logreg") & (fourth["end"] == "bottom")].iloc[-1]
    assert last["place"] == 4
    assert len(last["professions"]) == 8


def test_mean_sentiment_is_that_of_figure_2(analysis, gender):
    theirs = pd.read_csv(gender / "plot_data.csv")["Sentiment"]
    ours = analysis.professions[analysis.professions["classifier"] == "bert"].set_index("profession")[
        "sentiment"
    ]
    order = bb.words.load_occupations().professions["profession"]
    np.testing.assert_allclose(ours[order], theirs, atol=2e-7)
    assert ours["scientist"].round(2) == 0.99
    assert ours["truck driver"].round(2) == 0.34


def test_differences_of_professions_and_noun_pairs(analysis):
    # Source: section 4.2.
    bert = analysis.professions[analysis.professions["classifier"] == "bert"].set_index("profession")
    lowest = bert["difference"].sort_values()
    assert lowest.round(3)[:3].to_dict() == {"flight attendant": -0.132, "bartender": -0.126, "clerk": -0.116}
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
    assert row["t"] == pytest.approx(stats.ttest_rel(son["p_male"], son["p_female"]).statistic, rel=1e-9)


def test_correlation_with_earnings(analysis, gender):
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
    narrower = bb.studies.earnings_correlation(analysis.table, prob=0.5)
    assert (narrower["high"] - narrower["low"] < analysis.earnings["high"] - analysis.earnings["low"]).all()


def test_results_as_plain_values(analysis):
    said = json.loads(json.dumps(analysis.as_dict("bert"), allow_nan=False))
    assert said["f_minus_m"] == pytest.approx(-0.0401956, abs=1e-7)
    assert said["t"] == pytest.approx(4.2501, abs=1e-4)
    assert (said["df"], said["n"], said["clipped"]) == (399, 400, 0)
    assert [row["unit"] for row in said["units"]] == ["noun_pair", "profession"]
    assert said["professions"][0]["profession"] == "scientist"
    assert said["noun_pairs"][0]["noun_pair"] == "This bachelor / This spinster"
    assert said["control"]["f_minus_m"] == pytest.approx(0.0387306, abs=1e-7)
    assert said["bottom"][0] == {
        "end": "bottom", "place": 1, "professions": ["truck driver"], "sentiment": said["professions"][-1]["sentiment"],
    }  # fmt: skip
    assert analysis.as_dict("logreg")["control"] is None
    flat = [row for row in analysis.as_dict("logreg")["noun_pairs"] if row["noun_pair"] == "Sir / Madam"]
    assert flat[0]["difference"] == 0
    assert flat[0]["t"] is None
    with pytest.raises(bb.InputError, match=r"which classifier.*valid: logreg, bert"):
        analysis.as_dict()


def test_what_does_not_vary_has_no_test():
    made = bb.predict(lambda sentences: [0.6] * len(sentences), name="flat")
    result = bb.published_analysis(made)
    said = result.as_dict()
    assert (said["f_minus_m"], said["t"], said["p_value"], said["p_bonferroni"]) == (0, None, None, None)
    assert said["earnings"] == []
    (top,) = said["top"]
    assert top["sentiment"] == pytest.approx(0.6, rel=1e-12)
    assert len(top["professions"]) == 20
    assert any("do not vary" in note for note in result.notes)
    assert "no test over 400 sentence pairs" in repr(result)


def test_bonferroni_counts_the_classifiers_unless_told():
    table = bb.sentiment_table(toy("one"), toy("two"))
    p = float(bb.paired_test(table)["p_value"][0])
    assert bb.paired_test(table)["p_bonferroni"].tolist() == [min(1, 2 * p)] * 2
    assert bb.paired_test(table, hypotheses=10**6)["p_bonferroni"].tolist() == [1.0, 1.0]
    for wrong in (0, 1.5):
        with pytest.raises(bb.InputError, match="hypotheses"):
            bb.paired_test(table, hypotheses=wrong)
    with pytest.raises(bb.InputError, match="did you mean 'noun_pair'"):
        bb.paired_test(table, unit="noun pair")
    with pytest.raises(bb.InputError, match=r"no sentiment table.*lacks p_male"):
        bb.paired_test(table.drop(columns="p_male"))


# -- the table -------------------------------------------------------------------------------------


def test_table_holds_every_pair_once():
    made = toy()
    table = bb.sentiment_table(made)
    assert list(table.columns) == [
        "classifier", "noun_pair", "profession", "category", "p_male", "p_female", "difference", "logit_difference",
        "clipped",
    ]  # fmt: skip
    frame = made.frame[~made.frame["control"]]
    p = dict(zip(frame["sentence"], frame["probability"], strict=True))
    row = table[(table["noun_pair"] == "My uncle / My aunt") & (table["profession"] == "gym trainer")].iloc[0]
    male, female = p["My uncle is a gym trainer."], p["My aunt is a gym trainer."]
    assert row["difference"] == female - male
    assert row["logit_difference"] == pytest.approx(logit(female) - logit(male), rel=1e-12)
    assert len(table) == 400
    assert not table.duplicated(["noun_pair", "profession"]).any()
    assert table["clipped"].sum() == 0
    # The order of the predictions does not matter to what is in a row.
    keys = ["noun_pair", "profession"]
    again = bb.sentiment_table(made.frame.sample(frac=1, random_state=1))
    pd.testing.assert_frame_equal(
        again.sort_values(keys, ignore_index=True), table.sort_values(keys, ignore_index=True)
    )


def test_certain_predictions_are_clipped_and_counted_on_the_logit_scale():
    made = bb.predict(
        lambda sentences: [
            1.0 if s.startswith("She ") else 0.0 if s.startswith("Dad ") else 0.5 for s in sentences
        ]
    )
    result = bb.published_analysis(made)
    table = result.table
    he = table[table["noun_pair"] == "He / She"]
    assert he["difference"].tolist() == [0.5] * 20
    np.testing.assert_allclose(he["logit_difference"], logit(1 - CLIP))
    assert he["clipped"].tolist() == [1] * 20
    assert table["clipped"].sum() == 40
    assert np.isfinite(table["logit_difference"]).all()
    np.testing.assert_allclose(
        bb.sentiment_table(made, clip=0.01).loc[he.index, "logit_difference"], math.log(99)
    )
    assert any(note.startswith("40 probabilities were clipped") for note in result.notes)
    with pytest.raises(bb.InputError, match="clip"):
        bb.sentiment_table(made, clip=0)


def test_what_is_no_table_of_predictions():
    frame = toy().frame
    with pytest.raises(bb.InputError, match="two classifiers have one name; found: 'toy'"):
        bb.sentiment_table(frame, frame)
    with pytest.raises(bb.InputError, match="a pair lacks its male or female sentence"):
        bb.sentiment_table(frame.drop(index=5))
    with pytest.raises(bb.InputError, match=r"a sentence has two predictions; found: 'He is a doctor.'"):
        bb.sentiment_table(pd.concat([frame, frame[:1]]))
    with pytest.raises(bb.InputError, match=r"a column is missing.*valid: gender"):
        bb.sentiment_table(frame.drop(columns="gender"))
    with pytest.raises(bb.InputError, match="is not a number"):
        bb.sentiment_table(frame.assign(probability=np.nan))
    with pytest.raises(bb.InputError, match="no predictions for the control"):
        bb.sentiment_table(frame[~frame["control"]], control=True)


# -- files of predictions --------------------------------------------------------------------------


def lines_of(name="mine") -> pd.DataFrame:
    return toy(name).frame


def test_every_layout_reads_the_same(tmp_path):
    frame = lines_of()
    p = frame["probability"].to_numpy()
    two = np.column_stack([p, 1 - p])  # the first column is the positive class; its mean is below one half
    files = {
        "header.csv": lambda f: frame.to_csv(f, index=False),
        "shuffled.tsv": lambda f: frame.sample(frac=1, random_state=2).to_csv(f, index=False, sep="\t"),
        "bare.csv": lambda f: frame[["probability"]].to_csv(f, index=False),
        "pair.tsv": lambda f: frame[["sentence", "probability"]].to_csv(
            f, index=False, header=False, sep="\t"
        ),
        "riap.csv": lambda f: frame[["probability", "sentence"]].to_csv(f, index=False, header=False),
        "column.txt": lambda f: np.savetxt(f, p, header="dev accuracy: 0.83", fmt="%.18e"),
        "two.tsv": lambda f: np.savetxt(f, two, delimiter="\t", fmt="%.18e"),
        "classes.csv": lambda f: pd.DataFrame(two, columns=["positive", "negative"]).to_csv(f, index=False),
    }
    for name, write in files.items():
        write(tmp_path / name)
        read = bb.read_predictions(tmp_path / name, positive=0 if name == "two.tsv" else None, name="x")
        assert read.frame["sentence"].tolist() == frame["sentence"].tolist(), name
        np.testing.assert_allclose(read.frame["probability"], p, rtol=1e-15, err_msg=name)
        assert read.classifiers == ("x",)
        assert bool(read.notes) == (name == "shuffled.tsv")
    assert read.provenance["x"]["file"] == "classes.csv"
    assert len(read.provenance["x"]["sha256"]) == 64


def test_a_file_may_hold_several_classifiers_and_no_controls(tmp_path):
    frame = pd.concat([toy("a", control=False).frame, toy("b").frame])
    frame.to_csv(tmp_path / "both.csv", index=False)
    read = bb.read_predictions(tmp_path / "both.csv")
    assert read.frame.groupby("classifier").size().to_dict() == {"a": 800, "b": 840}
    assert bb.published_analysis(read).control["classifier"].tolist() == ["b"]
    with pytest.raises(bb.InputError, match="holds several classifiers; found: 'a, b'"):
        bb.load_classifier(tmp_path / "both.csv")


def change(row, column, value):
    def apply(frame):
        return frame.assign(**{column: [*frame[column][:row], value, *frame[column][row + 1 :]]})

    return apply


@pytest.mark.parametrize(
    ("alter", "message"),
    [
        (lambda f: f.drop(index=7), "1 sentences have no prediction; found: 'My uncle is a doctor.'"),
        (lambda f: f[["probability"]][:799], "number of predictions is wrong; found: 799; valid: 800 predictions, or 840"),
        (change(3, "probability", 1.5), "line 5: is not a probability; found: 1.5"),
        (change(3, "probability", -0.1), "line 5: is not a probability; found: -0.1"),
        (change(3, "probability", "nan"), "line 5: is not a number; found: nan"),
        (change(3, "probability", "inf"), "line 5: is not a number; found: inf"),
        (change(3, "probability", "high"), "line 5: is not a number; found: 'high'"),
        (change(3, "sentence", "My fathr is a doctor."), "line 5: unknown sentence.*did you mean 'My father is a doctor.'"),
        (change(3, "sentence", "He is a doctor."), "line 5: a sentence stands twice; found: 'He is a doctor.'"),
        (lambda f: f.assign(gender=f["gender"].map({"male": "female", "female": "male"})),
         "line 2: the gender does not fit the sentence 'He is a doctor.'; found: 'female'; valid: male"),
        (change(120, "profession", "scientist"), "line 122: the profession does not fit.*valid: writer"),
        (lambda f: f.assign(negative=0.9), "do not sum to 1"),
        (lambda f: f.rename(columns={"probability": "probabilty"}), "lacks a column.*did you mean 'probability'"),
    ],
)  # fmt: skip
def test_faults_in_a_file_are_named(tmp_path, alter, message):
    alter(lines_of().astype({"probability": object})).to_csv(tmp_path / "mine.csv", index=False)
    with pytest.raises(bb.InputError, match=message) as caught:
        bb.read_predictions(tmp_path / "mine.csv")
    assert "mine.csv" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no predictions"),
        ("# dev accuracy: 0.17\n" + "0.5\n" * 800, "accuracy below one half: are the classes swapped"),
        ("0.1\t0.9\n0.2\n", "line 2: wrong number of columns; found: 1; valid: 2"),
        ("0.1\t0.2\t0.3\n", "unknown layout; found: '3 columns"),
        ("0.5\t0.9\n" * 800, "line 1: the two classes' probabilities do not sum to 1"),
        ("0.9\t0.1\n" * 800, "columns may be swapped.*mean of 0.100.*positive=0"),
    ],
)
def test_faults_in_a_plain_file_are_named(tmp_path, text, message):
    (tmp_path / "p.txt").write_text(text, encoding="utf-8")
    with pytest.raises(bb.InputError, match=message):
        bb.read_predictions(tmp_path / "p.txt")


def test_swapped_columns_of_the_published_file_are_found(gender, tmp_path):
    rows = [
        line.split("\t")
        for line in (gender / "predictions_bert.tsv").read_text(encoding="utf-8").splitlines()
    ]
    swapped = tmp_path / "swapped.tsv"
    swapped.write_text("\n".join(f"{b}\t{a}" for a, b in rows), encoding="utf-8")
    with pytest.raises(bb.InputError, match="may be swapped"):
        bb.read_predictions(swapped)
    stated = bb.read_predictions(swapped, positive=0)
    right = bb.read_predictions(gender / "predictions_bert.tsv", positive=1)
    assert stated.frame["probability"].equals(right.frame["probability"])
    with pytest.raises(bb.InputError, match="positive: must be the number of a column"):
        bb.read_predictions(swapped, positive=2)


# -- classifiers -----------------------------------------------------------------------------------


def test_a_callable_is_asked_in_batches_for_each_sentence_once():
    asked = []

    def watched(sentences):
        asked.append(list(sentences))
        return score(sentences)

    made = bb.predict(watched, batch=100, check=False)
    assert [len(part) for part in asked] == [100] * 8 + [40]
    assert [s for part in asked for s in part] == bb.words.occupation_sentences(control=True)[
        "sentence"
    ].tolist()
    np.testing.assert_array_equal(made.frame["probability"], score(made.frame["sentence"]))
    assert made.classifiers == ("watched",)
    bb.predict(watched, control=False)
    assert sum(map(len, asked)) == 840 + 800 + 16  # and the plain sentences of the check


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda s: [0.5] * (len(s) - 1), "number of predictions is wrong; found: 31; valid: 32"),
        (lambda s: [[0.4, 0.6]] * len(s), "shape \\(32, 2\\).*column of the positive class"),
        (lambda s: [float("nan")] * len(s), "'He is a doctor.': is not a number; found: nan"),
        (lambda s: [-0.2] * len(s), "is not a probability; found: -0.2"),
        (lambda s: [2.5] * len(s), "are these scores or logits"),
        (lambda s: ["good"] * len(s), "does not return numbers"),
    ],
)
def test_what_is_no_probability_is_refused(answer, message):
    with pytest.raises(bb.classifiers.ClassifierError, match=message):
        bb.predict(answer)


def test_rounding_of_single_precision_is_no_fault():
    classifier = bb.classifiers.Classifier("x", lambda s: np.full(len(s), np.float32(1) + np.float32(1.2e-7)))
    assert classifier(["a"]).tolist() == [1.0]


def test_finished_work_is_kept_and_taken_up(tmp_path):
    kept, calls = tmp_path / "kept.csv", []

    def fails_once(sentences):
        calls.append(len(sentences))
        if len(calls) == 4:
            raise RuntimeError("out of memory")
        return score(sentences)

    with pytest.raises(
        bb.classifiers.ClassifierError,
        match=r"sentences 301 to 400 of 840: RuntimeError: out of memory.*300 finished",
    ) as e:
        bb.predict(fails_once, batch=100, partial=kept)
    assert e.value.finished["sentence"].tolist() == bb.words.occupation_sentences()["sentence"][:300].tolist()
    np.testing.assert_array_equal(e.value.finished["probability"], score(e.value.finished["sentence"]))
    with pytest.raises(bb.InputError, match="does not hold unfinished predictions of this classifier"):
        bb.predict(score, partial=kept, name="another")
    made = bb.predict(fails_once, batch=100, partial=kept, check=False)
    assert sum(calls) == 840 + 100
    np.testing.assert_array_equal(made.frame["probability"], score(made.frame["sentence"]))
    assert any("300 predictions were taken from kept.csv" in note for note in made.notes)
    assert not kept.exists()


def test_swapped_classes_are_found(tmp_path):
    def swapped(sentences):
        return [1 - p for p in score(sentences)]

    with pytest.raises(bb.classifiers.ClassifierError, match="seems to have its classes swapped") as caught:
        bb.predict(swapped)
    assert len(caught.value.finished) == 840
    made = bb.predict(swapped, check=False)
    np.testing.assert_allclose(made.frame["probability"], [1 - p for p in score(made.frame["sentence"])])
    table = dict(zip(made.frame["sentence"], made.frame["probability"], strict=True))
    looked_up = bb.predict(lambda sentences: [table[s] for s in sentences])
    assert looked_up.frame["probability"].equals(made.frame["probability"])
    assert "could not be checked: KeyError" in looked_up.notes[0]


def test_a_file_of_predictions_is_a_classifier(tmp_path):
    made = toy(control=False)
    made.save(tmp_path / "p.tsv")
    again = bb.predict(tmp_path / "p.tsv", name="again")
    assert again.frame["probability"].equals(made.frame["probability"])
    assert again.classifiers == ("again",)
    assert "no predictions for the control sentences" in again.notes
    classifier = bb.load_classifier(tmp_path / "p.tsv")
    assert classifier.name == "toy"
    with pytest.raises(
        bb.InputError, match=r"has no prediction for a sentence; found: 'He is a docto.'.*did you mean"
    ):
        classifier(["He is a docto."])
    with pytest.raises(bb.InputError, match="unknown kind of file"):
        made.save(tmp_path / "p.xls")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nothing.csv", "no such classifier; found: 'nothing.csv'"),
        ("transformer:bert", "did you mean 'transformers'"),
        ("joblib:", "names nothing"),
        ("joblib:nothing.joblib", "no such file"),
        (3, "is no classifier; found: 'int'"),
    ],
)
def test_what_is_no_classifier(spec, message):
    with pytest.raises(bb.InputError, match=message):
        bb.load_classifier(spec)
    with pytest.raises(bb.InputError, match="one sentence was given"):
        bb.classifiers.Classifier("x", score)("He is a doctor.")


def test_extras_are_named_where_they_are_not_installed(tmp_path, monkeypatch):
    import builtins

    there = builtins.__import__

    def without(name, *rest, **more):
        if name.split(".")[0] in ("torch", "transformers", "sklearn", "joblib"):
            raise ModuleNotFoundError(name)
        return there(name, *rest, **more)

    file = tmp_path / "train.tsv"
    file.write_text("label\tsentence\n1\tgood\n0\tbad\n", encoding="utf-8")
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(bb.InputError, match=r"bayesbias\[encoders\]"):
        bb.load_classifier("transformers:bert")
    with pytest.raises(bb.InputError, match=r"bayesbias\[encoders\]"):
        bb.classifiers.train_bilstm(file, {"good": [1.0, 0.0]})
    with pytest.raises(bb.InputError, match=r"bayesbias\[classifiers\]"):
        bb.classifiers.train_bow(file)
    with pytest.raises(bb.InputError, match=r"bayesbias\[classifiers\]"):
        bb.load_classifier(f"joblib:{file}", allow_pickle=True)


# -- scikit-learn ----------------------------------------------------------------------------------

PHRASES = [
    "a wonderful film",
    "I love it",
    "charming and happy",
    "a terrible film",
    "I hate it",
    "dull and bad",
]
LABELS = [1, 1, 1, 0, 0, 0]


def pipeline(labels):
    sklearn = pytest.importorskip("sklearn", reason="needs the extra `classifiers`")
    assert sklearn
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    return make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(PHRASES, labels)


def test_pipelines():
    pipe = pipeline(LABELS)
    right = pipe.predict_proba(PHRASES)[:, 1]
    np.testing.assert_array_equal(bb.load_classifier(pipe)(PHRASES), right)
    # The positive class is the first column here, and is found by its name.
    named = pipeline(["Positive" if x else "negative!" for x in LABELS])
    assert named.classes_.tolist()[0] == "Positive"
    np.testing.assert_allclose(bb.load_classifier(named)(PHRASES), right, atol=1e-6)
    other = pipeline(["a" if x else "b" for x in LABELS])
    with pytest.raises(bb.InputError, match="does not say which class is positive; found: 'a, b'"):
        bb.load_classifier(other)
    np.testing.assert_allclose(bb.load_classifier(other, positive="a")(PHRASES), right, atol=1e-6)
    with pytest.raises(bb.InputError, match="unknown class; found: 'c'; valid: a, b"):
        bb.load_classifier(other, positive="c")
    numbered = pipeline([2 if x else 1 for x in LABELS])
    with pytest.raises(bb.InputError, match="does not say which class is positive"):
        bb.load_classifier(numbered)
    np.testing.assert_allclose(bb.load_classifier(numbered, positive=2)(PHRASES), right, atol=1e-6)
    from sklearn.linear_model import LogisticRegression

    with pytest.raises(bb.InputError, match="valid: a fitted classifier"):
        bb.load_classifier(LogisticRegression())


def test_a_third_class_is_spoken_of():
    two = bb.predict(pipeline(LABELS), check=False)
    assert not any("classes" in note for note in two.notes)
    labels = ["positive" if x else "negative" for x in LABELS]
    three = bb.predict(pipeline([*labels[:-1], "neutral"]), name="tripartite", check=False)
    said = "tripartite has 3 classes; the probability is that of positive, so that negative and neutral count alike"
    assert any(note.startswith(said) for note in three.notes), three.notes


def test_a_pickle_is_refused_until_it_is_allowed(tmp_path):
    pipe = pipeline(LABELS)
    import joblib

    path = tmp_path / "pipe.joblib"
    joblib.dump(pipe, path)
    for spec in (f"joblib:{path}", path):
        with pytest.raises(bb.InputError, match=r"is a pickle.*allow_pickle=True"):
            bb.load_classifier(spec)
        classifier = bb.load_classifier(spec, allow_pickle=True)
        np.testing.assert_array_equal(classifier(PHRASES), pipe.predict_proba(PHRASES)[:, 1])
    assert classifier.name == "pipe"
    joblib.dump({"no": "classifier"}, path)
    with pytest.raises(bb.InputError, match="holds no classifier with probabilities; found: 'dict'"):
        bb.load_classifier(path, allow_pickle=True)


# -- the reference classifiers ---------------------------------------------------------------------


def training_file(path: Path) -> Path:
    path.write_text(
        "label\tsentence\n" + "".join(f"{y}\t{s}\n" for y, s in zip(LABELS, PHRASES, strict=True))
    )
    return path


@pytest.mark.slow
def test_bow_reproduces_the_published_predictions(gender, published, tmp_path):
    # Source: predictions_logreg.txt; its comment states the accuracy 0.8268348623853211.
    pytest.importorskip("sklearn", reason="needs the extra `classifiers`")
    made = bb.classifiers.train_bow(
        gender / "sst2_train.tsv", dev=gender / "sst2_dev.tsv", out=tmp_path / "bow"
    )
    assert made.provenance["dev_accuracy"] == 0.8268348623853211
    ours = bb.predict(tmp_path / "bow")
    theirs = published[0].frame["probability"]
    assert np.abs(ours.frame["probability"][:800] - theirs).max() < 2e-4
    assert "lawyer" in made.unknown_words(["He is a lawyer."])


def test_bow_is_the_pipeline_of_scikit_learn_without_scikit_learn(tmp_path):
    pytest.importorskip("sklearn", reason="needs the extra `classifiers`")
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    made = bb.classifiers.train_bow(training_file(tmp_path / "train.tsv"), out=tmp_path / "bow", C=2.0)
    vectorizer = TfidfVectorizer()
    fitted = LogisticRegression(C=2.0, solver="liblinear").fit(vectorizer.fit_transform(PHRASES), LABELS)
    asked = [*PHRASES, "Film film FILM, love!", "nothing known", ""]
    right = fitted.predict_proba(vectorizer.transform(asked))[:, 1]
    np.testing.assert_allclose(made(asked), right, rtol=1e-12)
    np.testing.assert_allclose(bb.load_classifier(tmp_path / "bow")(asked), right, rtol=1e-12)
    assert made.unknown_words(["a lovely, LOVE film"]) == ("lovely",)
    assert sorted(p.name for p in (tmp_path / "bow").iterdir()) == ["classifier.json", "weights.safetensors"]
    for wrong in (0, -1, float("inf"), "1"):
        with pytest.raises(bb.InputError, match="C: must be a finite number above 0"):
            bb.classifiers.train_bow(tmp_path / "train.tsv", C=wrong)


def hand_made(tmp_path: Path, hidden: int = 2, dim: int = 3) -> bb.classifiers.Classifier:
    rng = np.random.default_rng(5)
    shapes = {"vectors": (4, dim), "output": (2 * hidden,), "output_bias": (1,)}
    for side in ("forward", "backward"):
        shapes |= {
            f"{side}_input": (4 * hidden, dim),
            f"{side}_state": (4 * hidden, hidden),
            f"{side}_bias": (4 * hidden,),
        }
    weights = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    model = reference.BiLstm({"he": 0, "is": 1, "good": 2, ".": 3}, weights, {})
    bb.classifiers.Classifier("lstm", model, {"kind": "bilstm"}).save(tmp_path / "lstm")
    return bb.load_classifier(tmp_path / "lstm")


def test_bilstm_follows_its_equations(tmp_path):
    """Hochreiter and Schmidhuber's cell with forget gates, one number at a time."""
    classifier = hand_made(tmp_path)
    w, vocabulary = classifier.predict.weights, classifier.predict.vocabulary

    def last(words, side):
        state, cell = [0.0, 0.0], [0.0, 0.0]
        for word in words:
            x = w["vectors"][vocabulary[word]] if word in vocabulary else np.zeros(3)
            gate = [
                w[f"{side}_input"][k] @ x + w[f"{side}_state"][k] @ np.array(state) + w[f"{side}_bias"][k]
                for k in range(8)
            ]
            cell = [expit(gate[2 + u]) * cell[u] + expit(gate[u]) * math.tanh(gate[4 + u]) for u in (0, 1)]
            state = [expit(gate[6 + u]) * math.tanh(cell[u]) for u in (0, 1)]
        return state

    sentences = {
        "He is good.": ["he", "is", "good", "."],
        "Good": ["good"],
        "he isn't": ["he", "is", "?", "?"],
    }
    for sentence, words in sentences.items():
        if sentence == "he isn't":
            words = ["he", "is", "n't"]
        z = (
            np.array([*last(words, "forward"), *last(words[::-1], "backward")]) @ w["output"]
            + w["output_bias"][0]
        )
        assert classifier([sentence])[0] == pytest.approx(expit(z), rel=1e-12)
    # No prediction depends on the others of its batch.
    np.testing.assert_allclose(
        classifier(list(sentences)), [classifier([s])[0] for s in sentences], rtol=1e-14
    )
    assert classifier.unknown_words(["He isn't bad."]) == ("n't", "bad")


def test_damaged_folders_are_named(tmp_path):
    hand_made(tmp_path)
    folder = tmp_path / "lstm"
    said = json.loads((folder / "classifier.json").read_text(encoding="utf-8"))

    def write(**changes):
        (folder / "classifier.json").write_text(json.dumps({**said, **changes}), encoding="utf-8")

    write(kind="forest")
    with pytest.raises(
        bb.InputError, match="unknown kind of classifier; found: 'forest'; valid: bow, bilstm"
    ):
        bb.load_classifier(folder)
    write(vocabulary=["he"])
    with pytest.raises(bb.InputError, match="the vocabulary does not fit the weights; found: 1; valid: 4"):
        bb.load_classifier(folder)
    write(weights_sha256="0")
    with pytest.raises(bb.InputError, match=r"weights.safetensors: does not belong to classifier.json"):
        bb.load_classifier(folder)
    (folder / "classifier.json").write_text("{", encoding="utf-8")
    with pytest.raises(bb.InputError, match="is damaged"):
        bb.load_classifier(folder)
    write()
    (folder / "weights.safetensors").unlink()
    with pytest.raises(bb.InputError, match=r"weights.safetensors: is not there"):
        bb.load_classifier(folder)
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(bb.InputError, match=r"is not the folder of a classifier.*transformers:"):
        bb.load_classifier(folder)
    with pytest.raises(bb.InputError, match="cannot be saved here"):
        bb.classifiers.Classifier("x", score).save(tmp_path / "x")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("sentence\tlabel\na b\t1\nc\t0\n", (["a b", "c"], [1, 0])),
        ("1\ta b\n0\tc\n", (["a b", "c"], [1, 0])),
        ("a b\t1\nc\t0\n", (["a b", "c"], [1, 0])),
        ('7\t1\ta\t"a b\n8\t0\ta\tc', (['"a b', "c"], [1, 0])),
        ("sentence\tlabel\na b\t1\nc\n", "line 3: wrong number of columns; found: 1; valid: 2"),
        ("sentence\tlabel\na b\t1\nc\t2\n", "line 3: not a label; found: '2'"),
        ("sentence\tlabel\na b\t1\n \t0\n", "line 3: the sentence is empty"),
        ("sentence\tlabl\na b\t1\n", "lacks a column.*valid: label.*did you mean 'labl'"),
        ("a\t1\nb\t1\n", "all sentences have one label"),
        ("a\tgood\nb\tbad\n", "no column holds labels"),
        ("a\nb\n", "unknown layout; found: '1 columns'"),
        ("", "is empty"),
    ],
)
def test_labelled_sentences(tmp_path, text, found):
    file = tmp_path / "train.tsv"
    file.write_text(text, encoding="utf-8")
    if isinstance(found, str):
        with pytest.raises(bb.InputError, match=found):
            training.read_labelled(file)
    else:
        sentences, labels = training.read_labelled(file)
        assert (sentences, labels.tolist()) == found


def test_settings_of_training_are_checked(tmp_path):
    file = training_file(tmp_path / "train.tsv")
    for name, wrong in (
        ("hidden", 0),
        ("batch", 1.5),
        ("epochs", 0),
        ("patience", -1),
        ("learning_rate", 0),
        ("dropout", 1),
    ):
        with pytest.raises(bb.InputError, match=f"{name}: must be"):
            bb.classifiers.train_bilstm(file, {"film": [1.0, 0.0]}, **{name: wrong})


def test_torch_is_not_needed_here():
    """The fast lane has no torch; what needs it is tested in tests/with_torch."""
    if find_spec("torch") is not None:
        pytest.skip("torch is installed")
    with pytest.raises(bb.InputError, match=r"a Hugging Face model needs torch and transformers"):
        bb.load_classifier("transformers:anything")


def test_words_that_a_classifier_does_not_see_are_named():
    """M.1 has no token of eight professions and of four noun pairs in its training sentences."""
    made = bb.shipped_predictions("m1")
    notes = bb.published_analysis(made).notes
    by_hand: dict[tuple[float, ...], set[str]] = {}
    for profession in bb.words.load_occupations().professions["profession"]:
        values = made.frame[made.frame["profession"] == profession].sort_values(["noun_pair", "gender"])[
            "probability"
        ]
        by_hand.setdefault(tuple(values), set()).add(profession)
    (alike,) = (group for group in by_hand.values() if len(group) > 1)
    (said,) = (note for note in notes if "does not tell these professions apart" in note)
    assert alike == set(said.split(" for ")[1].split(":")[0].split(", "))
    assert {"nurse", "lawyer", "mechanic"} <= alike
    sees = bb.predict(
        lambda ss: [0.3 + 0.4 * zlib.crc32(s.encode()) / 2**32 for s in ss], name="sees", check=False
    )
    assert not any("apart" in note for note in bb.published_analysis(sees).notes)


def test_labels_without_probabilities_are_called_that():
    made = bb.predict(
        lambda sentences: [float("a" in s.split()[1]) for s in sentences], name="hard", check=False
    )
    assert any("a label and no probability" in note for note in bb.published_analysis(made).notes)
