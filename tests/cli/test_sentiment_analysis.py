"""The commands on sentiment: what they print and write, and that bad input is one message and exit code 2."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers import monte_carlo as mc
from helpers.pages import without_figures, without_pictures
from helpers.seeds import shifted

import bayesbias as bb
from bayesbias.classifiers import predicting
from bayesbias.cli import main, sentiment_analysis

pytestmark = pytest.mark.slow  # whole commands

# R-hat must stay below its limit at every seed.
QUICK = ["--draws", "2000", "--tune", "500", "--chains", "2", "--seed", str(shifted(1))]
SHORT = [
    "--draws",
    "50",
    "--tune",
    "100",
    "--chains",
    "2",
    "--seed",
    str(shifted(1)),
]  # where no conclusion is asked for


@pytest.fixture(scope="module")
def gender(shared) -> Path:
    return shared / "data" / "gender_sentiment"


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command in this process; return exit code, stdout and stderr."""

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["bayesbias", "sentiment", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main.main()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return call


@pytest.fixture
def printed(run):
    """Run the command with --json and return its object."""

    def call(*arguments: object) -> dict:
        code, out, err = run(*arguments, "--json")
        assert (code, err) == (0, "")
        assert out.count("\n") == 1
        return json.loads(out)

    return call


@pytest.fixture
def refused(run):
    """Run the command with bad input and check that it says so in one line."""

    def call(*arguments: object, says: str) -> str:
        code, out, err = run(*arguments)
        assert (code, out) == (2, ""), err
        assert err.startswith("bayesbias: ")
        assert err.count("\n") == 1
        assert "Traceback" not in err
        assert says in err, err
        return err

    return call


# -- the published numbers -----------------------------------------------------------------------------


def test_json_of_one_classifier_is_the_published_table(gender, printed):
    # Source: the results published with the paper; the control experiment and p over noun pairs: the issue.
    found = printed("--predictions", gender / "predictions_bert.tsv", "--hypotheses", 3)
    assert found["classifier"] == "predictions_bert"
    assert found["f_minus_m"] == pytest.approx(-0.0401956, abs=1e-7)
    assert found["t"] == pytest.approx(4.2501, abs=1e-4)
    assert found["df"] == 399
    assert found["p_value"] == pytest.approx(2.663e-05, rel=1e-3)
    assert found["p_bonferroni"] == pytest.approx(3 * found["p_value"])
    assert found["hypotheses"] == 3
    assert found["directions"] == {"f_minus_m": "female - male", "t": "male - female"}
    assert [row["unit"] for row in found["units"]] == ["noun_pair", "profession"]
    assert round(found["units"][0]["p_value"], 2) == 0.18
    assert [row["professions"] for row in found["top"]] == [["scientist"], ["chef"], ["dancer"]]
    assert [row["professions"] for row in found["bottom"]] == [["truck driver"], ["clerk"], ["tailor"]]
    assert len(found["professions"]) == len(found["noun_pairs"]) == 20
    lowest = found["noun_pairs"][0]
    assert lowest["noun_pair"] == "This bachelor / This spinster"
    assert round(lowest["difference"], 3) == -0.404
    assert round(found["control"]["f_minus_m"], 4) == 0.0387
    assert round(found["control"]["p_value"], 2) == 0.35
    assert {row["method"]: round(row["r"], 2) for row in found["earnings"]} == {
        "pearson": 0.36, "spearman": 0.33,
    }  # fmt: skip
    assert "overall" not in found
    assert found["provenance"]["classifiers"]["predictions_bert"]["kind"] == "predictions"


@pytest.mark.claim
def test_with_bayes_the_certainty_is_that_of_noun_pairs(gender, printed):
    files = gender / "predictions_logreg.txt", gender / "predictions_bert.tsv"
    found = printed(
        "--predictions", files[0], "--predictions", files[1], "--name", "logreg", "--name", "bert", "--bayes", *QUICK
    )  # fmt: skip
    assert found["diagnostics"]["ok"]
    of_mean = mc.K / np.sqrt(found["diagnostics"]["min_ess_bulk"])  # in posterior standard deviations
    assert found["model"] == "sentiment"
    assert found["hypotheses"] == 2
    assert "f_minus_m" not in found
    for one, f_minus_m, p in zip(
        found["classifiers"], (0.0345668, -0.0401956), (7.501e-09, 2.663e-05), strict=True
    ):
        assert one["f_minus_m"] == pytest.approx(f_minus_m, abs=1e-7)
        assert one["p_value"] == pytest.approx(p, rel=1e-3)
        assert one["p_bonferroni"] == pytest.approx(2 * p, rel=1e-3)
        new, these = one["population"], one["overall"]
        # Zero lies in the middle of what is left open for new nouns (an end of an interval may lie near it), and far
        # out for these sentences.
        for row in (new, one["new_nouns"]):
            assert abs(row["mean"]) < 2 * row["sd"]
        assert these["hpdi_low"] * these["hpdi_high"] > 0
        assert abs(these["mean"] - f_minus_m) < of_mean * these["sd"]
        assert these["sd"] < new["sd"] / 4
        assert (these["estimand"], these["prob"]) == ("listed_words", 0.89)
        shares = {name: row["mean"] for name, row in one["shares"].items()}
        assert set(shares) == {"noun_pair", "profession", "residual"}
        assert sum(shares.values()) == pytest.approx(1)
        assert shares["noun_pair"] > 5 * shares["profession"]
        assert {"mean", "sd", "hpdi_low", "hpdi_high", "prob"} == set(one["noun_pairs"][0]["listed_words"])
    assert [one["classifier"] for one in found["classifiers"]] == ["logreg", "bert"]
    assert round(found["classifiers"][0]["shares"]["noun_pair"]["mean"], 1) == 0.9
    contrasts = {row["estimand"]: row for row in found["contrasts"]}
    assert contrasts["population"]["contrast"] == "logreg - bert"
    # The prior draws it a little towards zero from the raw difference.
    raw = 0.0345668 + 0.0401956
    assert abs(contrasts["population"]["mean"] - raw) < (of_mean + 0.1) * contrasts["population"]["sd"]
    assert any("leave over is little for most sentence pairs" in text for text in found["doubts"])


def test_log_odds(gender, printed):
    found = printed("--predictions", gender / "predictions_bert.tsv", "--logit", *QUICK)
    assert (found["model"], found["outcome"]) == ("sentiment_logit", "logit_difference")
    of_mean = mc.K / np.sqrt(found["diagnostics"]["min_ess_bulk"])
    assert abs(found["overall"]["mean"] + 0.625) < of_mean * found["overall"]["sd"] + 0.0005  # three decimals
    assert found["f_minus_m"] == pytest.approx(-0.0401956, abs=1e-7)  # the tests stay those of the paper


# -- what is printed and written ------------------------------------------------------------------------


def test_the_list_predictions_in_words(run):
    code, out, err = run("--predictions", "m1", "--bayes", *QUICK)
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines()]
    assert ["sentence", "pair", "400", "+0.0346", "-5.91", "7.5e-09"] in rows
    assert ["noun", "pair", "20", "+0.0346", "-1.36", "0.19"] in rows
    assert "m1: female - male by the model sentiment, in probability" in out
    line = next(line for line in out.splitlines() if line.lstrip().startswith("new nouns, new professions"))
    low, high = map(float, re.search(r"([+-][\d.]+) to ([+-][\d.]+)", line).groups())
    assert ("the sign is open" in line) == (low < 0 < high)  # the lower end lies near zero
    line = next(line for line in out.splitlines() if line.lstrip().startswith("these sentences alone"))
    assert "female higher" in line
    assert "4 of 20 noun pairs carry the difference" in out
    assert "converged: of every parameter R-hat is at most 1.0" in out


def test_no_conclusion_without_convergence(run):
    code, out, _ = run(
        "--predictions",
        "m1",
        "--bayes",
        "--draws",
        "10",
        "--tune",
        "10",
        "--chains",
        "2",
        "--seed",
        str(shifted(1)),
    )
    assert code == 0
    assert "NOT TO BE TRUSTED YET" in out
    assert "No conclusion from the model" in out
    assert "the sign is open" not in out
    assert "HPDI" not in out
    assert "p = 0.19" in out  # the tests do not depend on the sampler


@pytest.mark.claim
def test_a_folder_holds_all_and_nothing_of_an_earlier_run(printed, tmp_path, monkeypatch):
    without_figures(monkeypatch)
    out = tmp_path / "out"
    found = printed("--predictions", "m1", "--bayes", *QUICK, "--out", out)
    files = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    tables = {"predictions", "pairs", "tests", "professions", "noun_pairs", "control", "earnings"}
    figures = {"professions", "noun_pairs", "predictive", "genders", "earnings"}
    assert files == {
        "fit.nc", "result.json", "result.txt", "provenance.json", "run.json",
        *(f"{name}.csv" for name in tables | {"summary", "shares", "effects"}),
        *(f"figures/{name}.{kind}" for name in figures for kind in ("png", "svg")),
    }  # fmt: skip
    stored = json.loads((out / "result.json").read_text(encoding="utf-8"))
    for of_the_command in ("schema", "written", "timing"):
        found.pop(of_the_command)
    assert stored == found
    assert len(pd.read_csv(out / "pairs.csv")) == 400
    assert (out / "result.txt").read_text(encoding="utf-8").splitlines() == [
        *found["sentences"],
        *(f"Look again: {doubt}." for doubt in found["doubts"]),
        *(f"Note: {note}." for note in found["notes"]),
    ]
    summary = pd.read_csv(out / "summary.csv").set_index("estimand")
    assert summary.loc["population", "hpdi_low"] == pytest.approx(found["population"]["hpdi_low"])
    # Predictions as they were understood are read again.
    again = printed("--predictions", out / "predictions.csv")
    assert again["t"] == found["t"]
    fit = bb.load_fit(out / "fit.nc")
    assert bb.studies.analysis_of(fit).control["f_minus_m"].iloc[0] == pytest.approx(
        found["control"]["f_minus_m"]
    )
    # What an earlier run made and this one does not is gone, and what is not ours stays.
    (out / "notes.txt").write_text("mine")
    printed("--predictions", "m1", "--out", out)
    left = {path.name for path in out.iterdir()}
    assert {"notes.txt", "tests.csv"} <= left
    assert not left & {"fit.nc", "summary.csv", "effects.csv"}
    assert {path.name for path in (out / "figures").iterdir()} == {
        "genders.png", "genders.svg", "earnings.png", "earnings.svg",
    }  # fmt: skip


@pytest.mark.claim
def test_a_folder_keeps_what_it_held_where_something_fails(run, tmp_path, monkeypatch):
    out = tmp_path / "out"
    assert run("--predictions", "m1", "--out", out)[0] == 0
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}

    def fails(*_, **__):
        raise bb.InputError("cannot be drawn")

    monkeypatch.setattr("bayesbias.plots.saving.save_figures", fails)
    code, _, err = run("--predictions", "m1", "--name", "other", "--out", out)
    assert (code, err) == (2, "bayesbias: cannot be drawn\n")
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert run("--predictions", "m1", "--out", tmp_path / "new")[0] == 2
    assert not (tmp_path / "new").exists()


def test_own_words(run, printed, tmp_path):
    words = tmp_path / "mine.toml"
    words.write_text(
        'noun_pairs = [{male = "He", female = "She"}, {male = "A lad", female = "A lass"}]\n'
        'professions = ["plumber", "judge", "poet"]\n',
        encoding="utf-8",
    )
    assert run("sentences", "--words", words, "--out", tmp_path / "s.txt")[0] == 0
    sentences = (tmp_path / "s.txt").read_text(encoding="utf-8").splitlines()
    assert len(sentences) == 12
    assert sentences[7] == "A lass is a plumber."
    numbers = [0.5 + 0.01 * len(s) + 0.003 * i for i, s in enumerate(sentences)]
    (tmp_path / "p.txt").write_text("\n".join(map(str, numbers)), encoding="utf-8")
    found = printed("--predictions", tmp_path / "p.txt", "--words", words)
    assert found["n"] == 6
    assert found["control"] is None
    assert found["earnings"] == []
    assert not any("earnings" in note for note in found["notes"])  # nobody stated any
    assert found["f_minus_m"] == pytest.approx(np.mean(np.subtract(numbers[6:], numbers[:6])))


def test_sentences_are_written_in_the_published_order(run, tmp_path):
    for kind, delimiter in (("tsv", "\t"), ("csv", ",")):
        path = tmp_path / f"s.{kind}"
        code, out, _ = run("sentences", "--control", "--out", path)
        assert (code, out) == (0, f"written: {path} (840 sentences)\n")
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter=delimiter))
        assert [row["sentence"] for row in rows] == bb.wordlists.occupation_sentences(control=True)[
            "sentence"
        ].tolist()
    assert run("sentences", "--out", tmp_path / "s.txt")[1].endswith("(800 sentences)\n")


# -- classifiers ------------------------------------------------------------------------------------------


def test_training_and_using_a_classifier(run, printed, tmp_path, monkeypatch):
    pytest.importorskip("sklearn")
    without_figures(monkeypatch)
    good = [
        "a wonderful film",
        "great, I love it",
        "he is happy",
        "a superb teacher",
        "excellent",
        "a joy she made",
    ]
    bad = [
        "a terrible film",
        "awful, I hate it",
        "he is unhappy",
        "a boring nurse",
        "dreadful",
        "a mess she made",
    ]
    lines = [f"1\t{s}" for s in good * 5] + [f"0\t{s}" for s in bad * 5]
    (tmp_path / "train.tsv").write_text("label\tsentence\n" + "\n".join(lines) + "\n", encoding="utf-8")
    data = ["--model", "bow", "--data", tmp_path / "train.tsv", "--dev", tmp_path / "train.tsv"]
    covariates = printed("train", *data, "--out", tmp_path / "bow", "--name", "mine")
    assert (covariates["name"], covariates["kind"], covariates["sentences"]) == ("mine", "bow", 60)
    assert covariates["dev_accuracy"] == 1.0
    found = printed("--classifier", tmp_path / "bow", "--predictions", "m1", "--out", tmp_path / "out")
    assert [one["classifier"] for one in found["classifiers"]] == ["m1", "mine"]
    own = found["classifiers"][1]
    table = bb.sentiment_table(bb.predict(bb.load_classifier(tmp_path / "bow")))
    assert own["f_minus_m"] == pytest.approx(table["difference"].mean())
    assert own["control"]["n"] == 20
    assert not list((tmp_path / "out").glob("unfinished*"))


def test_a_classifier_that_fails_on_a_batch_keeps_what_was_finished(run, printed, tmp_path, monkeypatch):
    without_figures(monkeypatch)
    state = {"fails": True, "asked": 0}

    def predict(sentences):
        state["asked"] += len(sentences)
        if state["fails"] and any("soldier" in s for s in sentences):
            raise RuntimeError("out of memory")
        return [0.9 if "wonderful" in s or "love" in s else 0.3 + 0.01 * (len(s) % 7) for s in sentences]

    def load(x, **_):
        return bb.classifiers.Classifier("frail", predict)

    monkeypatch.setattr(predicting, "load_classifier", load)
    monkeypatch.setattr("bayesbias.classifiers.loading.load_classifier", load)
    out = tmp_path / "out"
    code, _, err = run("--classifier", "frail", "--out", out)
    assert code == 2
    assert "failed on sentences 257 to 288 of 840: RuntimeError: out of memory" in err
    assert "Traceback" not in err
    (kept,) = out.iterdir()
    assert kept.name == "unfinished-frail.csv"
    assert len(kept.read_text(encoding="utf-8").splitlines()) == 2 + 256
    assert "with --out DIR they are kept" in run("--classifier", "frail")[2]
    state |= {"fails": False, "asked": 0}
    found = printed("--classifier", "frail", "--out", out)
    assert state["asked"] == 840 - 256 + 16  # and the sixteen that tell whether classes are swapped
    assert "256 predictions were taken from unfinished-frail.csv" in found["notes"]
    assert not kept.exists()


# -- bad input --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "nothing to analyse; valid: --predictions FILE or --classifier X"),
        (["--predictions", "nowhere.csv"], "nowhere.csv: no such file"),
        (["--classifier", "nowhere"], "no such classifier; found: 'nowhere'"),
        (["--predictions", "m1", "--predictions", "m1"], "two classifiers have one name; found: 'm1'"),
        (
            ["--predictions", "m1", "--name", "a", "--name", "b"],
            "--name: each input needs a name, or none; found: 2",
        ),
        (["--predictions", "m1", "--words", "ocupations"], "did you mean 'occupations'?"),
        (["--predictions", "m1", "--model", "crossed"], "model crossed: is no model of sentiment"),
        (["--predictions", "m1", "--model", "sentimnt"], "did you mean 'sentiment'?"),
        (["--predictions", "m1", "--logit", "--model", "sentiment"], "--logit and --model name two models"),
        (
            ["--bayes", "sentences", "--out", "x.txt"],
            "stands before a subcommand it does not belong to; found: '--bayes'",
        ),
        (["sentences", "--out", "x.pdf"], "x.pdf: unknown kind of file; found: '.pdf'"),
        (["train", "--model", "bow", "--data", "nowhere.tsv", "--out", "x"], "nowhere.tsv: no such file"),
        (["train", "--model", "bilstm", "--data", "nowhere.tsv", "--out", "x"], "bilstm needs word vectors"),
        (
            ["train", "--model", "bow", "--data", "d", "--vectors", "v", "--out", "x"],
            "--vectors is for bilstm",
        ),
    ],
)
def test_bad_arguments(refused, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    refused(*arguments, says=says)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["0.5"] * 799, "the number of predictions is wrong; found: 799; valid: 800 predictions, or 840"),
        ([*["0.5"] * 799, "1.5"], "line 800: is not a probability; found: 1.5"),
        ([*["0.5"] * 799, "nan"], "line 800: is not a number"),
        (["0.9\t0.1"] * 840, "the columns may be swapped"),
    ],
)
def test_bad_predictions(refused, tmp_path, lines, says):
    path = tmp_path / "p.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    refused("--predictions", path, "--bayes", "--out", tmp_path / "out", says=says)
    assert not (tmp_path / "out").exists()


def test_which_column_is_positive_can_be_said(printed, tmp_path):
    path = tmp_path / "p.txt"
    path.write_text(
        "\n".join(f"{0.9 - 0.001 * (i % 97)}\t{0.1 + 0.001 * (i % 97)}" for i in range(840)), encoding="utf-8"
    )
    found = printed("--predictions", path, "--positive", "0")
    assert found["p_male"] == pytest.approx(0.9 - 0.001 * (np.arange(400) % 97).mean())


def test_an_output_that_is_a_file_is_refused_before_the_work(refused, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("x")
    monkeypatch.setattr(sentiment_analysis, "_predictions", lambda *_: pytest.fail("worked first"))
    refused("--predictions", "m1", "--out", tmp_path / "file", says="the output must be a folder")
    refused("--predictions", "m1", "--out", tmp_path / "file" / "x", says="the output must be a folder")
    refused(
        "train",
        "--model",
        "bow",
        "--data",
        "d",
        "--out",
        tmp_path / "file",
        says="the output must be a folder",
    )


def test_a_pickle_is_refused_until_it_is_allowed(refused, tmp_path):
    path = tmp_path / "pipeline.joblib"
    path.write_bytes(b"x")
    refused("--classifier", f"joblib:{path}", says="--allow-pickle")


@pytest.mark.claim
def test_as_a_command(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "bayesbias.cli", "sentiment", "--predictions", "m1", "--bayes", *SHORT, "--json"],
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["df"] == 399
    done = subprocess.run(
        [sys.executable, "-m", "bayesbias.cli", "sentiment", "nothing"],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_column_is_chosen_where_there_are_two_and_nowhere_else(run, tmp_path):
    one = tmp_path / "one.txt"
    one.write_text("\n".join(["0.6"] * 800))
    for given in (["--predictions", one, "--positive", "0"], ["--predictions", "m1", "--positive", "1"]):
        code, out, err = run(*given)
        assert (code, out) == (2, "")
        assert "there is no column to choose" in err
    code, _, err = run("--predictions", one, "--positive", "negative")
    assert code == 2
    assert "names a column" in err


@pytest.mark.slow
def test_tests_are_printed_where_the_model_cannot_be_fitted(run, tmp_path):
    flat = tmp_path / "flat.txt"
    flat.write_text("\n".join(["0.6"] * 800))
    code, out, err = run(
        "--predictions", "m1", "--predictions", flat, "--bayes", "--seed", str(shifted(1)), "--json"
    )
    assert code == 1
    assert err.startswith("bayesbias: no model was fitted, because of flat: ")
    found = json.loads(out)
    assert [c["f_minus_m"] for c in found["classifiers"]][1] == 0
    assert found["problem"].startswith("no model was fitted, because of flat")


def test_labels_have_no_log_odds(run, tmp_path):
    labels = tmp_path / "labels.txt"
    labels.write_text("\n".join(str(i % 3 % 2) for i in range(800)))
    code, out, err = run("--predictions", labels, "--logit", "--seed", str(shifted(1)))
    assert (code, out) == (2, "")
    assert "classifier 'labels': gives labels, no probabilities" in err
    code, out, _ = run("--predictions", labels)
    assert code == 0
    assert "a label and no probability" in out


def test_small_differences_keep_their_digits(run, tmp_path):
    rng = np.random.default_rng(0)
    tiny = tmp_path / "tiny.txt"
    male = rng.uniform(0.4, 0.6, 400)
    tiny.write_text("\n".join(f"{p:.6f}" for p in [*male, *(male + 0.0002 + rng.normal(0, 1e-5, 400))]))
    code, out, _ = run("--predictions", tiny)
    assert code == 0
    assert "female sentences are rated 0.00020 higher" in out


def test_a_list_of_occupations_is_shown_and_checked(monkeypatch, capsys, tmp_path):

    monkeypatch.setattr("sys.argv", ["bayesbias", "show", "occupations"])
    with pytest.raises(SystemExit):
        main.main()
    own = tmp_path / "own.toml"
    own.write_text(capsys.readouterr().out)
    monkeypatch.setattr("sys.argv", ["bayesbias", "check-wordlist", str(own)])
    with pytest.raises(SystemExit) as end:
        main.main()
    assert not end.value.code
    assert "20 noun pairs, 20 professions" in capsys.readouterr().out


@pytest.mark.claim
def test_a_run_of_two_classifiers_has_a_report(run, gender, tmp_path, monkeypatch, capsys):
    without_figures(monkeypatch)
    without_pictures(monkeypatch)
    code, out, _ = run(
        "--predictions", "m1", "--predictions", gender / "predictions_bert.tsv", "--bayes", *QUICK, "--prob", 0.8,
        "--out", tmp_path / "run",
    )  # fmt: skip
    assert code == 0
    assert "compared sentence pair by sentence pair" in out
    said = (tmp_path / "run" / "result.txt").read_text()
    assert "Note: m1: the predictions are the same for lawyer" in said
    assert "Look again: m1: 20% of the differences are exactly zero" in said
    found = pd.read_csv(tmp_path / "run" / "classifiers.csv")
    assert found["contrast"].unique().tolist() == ["m1 - predictions_bert"]
    assert (found["prob"] == 0.8).all()
    monkeypatch.setattr(
        sys, "argv", ["bayesbias", "report", str(tmp_path / "run"), "--out", str(tmp_path / "r.html")]
    )
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert not ended.value.code
    text = (tmp_path / "r.html").read_text()
    assert "One classifier against another" in text
    assert "80% HPDI" in text


def test_little_coverage_is_said_with_every_prediction():
    coverage = {"words": 100, "words_with_vector": 3, "tokens_with_vector": 0.02, "bench_words_without": []}
    weak = bb.classifiers.Classifier("weak", lambda texts: [0.6] * len(texts), {"coverage": coverage})
    made = bb.predict(weak, check=False)
    assert any("hold 3 of the 100 words it was trained on, 2% of the text" in note for note in made.notes)
    strong = bb.classifiers.Classifier(
        "strong", weak.predict, {"coverage": coverage | {"tokens_with_vector": 0.9}}
    )
    assert bb.predict(strong, check=False).notes == ()


def test_a_classifier_that_seems_swapped_can_be_taken_as_it_is(run, monkeypatch):
    good = set(predicting._GOOD)
    model = bb.classifiers.Classifier("odd", lambda texts: [0.1 if t in good else 0.9 for t in texts])
    monkeypatch.setattr(predicting, "load_classifier", lambda *_, **__: model)
    monkeypatch.setattr("bayesbias.classifiers.loading.load_classifier", lambda *_, **__: model)
    code, _, err = run("--classifier", "odd")
    assert code == 2
    assert "--no-check" in err
    assert run("--classifier", "odd", "--no-check")[0] == 0
