"""Options that would do nothing where they stand are refused in one line that says what they belong to."""

from __future__ import annotations

import pytest
from helpers.covariates import made_up_test

import bayesbias as bb
from bayesbias.core.errors import InputError

VECTORS = ["--embedding", "vectors.txt", "--wordlist", "age.toml"]
TABLE = ["--distances", "pairs.csv"]
DEBIAS = ["debias", "--embedding", "minilm-static", "--wordlist", "gender", "--out", "out.txt"]
MAC = ["measure", *VECTORS, "--measure", "mac"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["simulate", "paper", "--seed", "3"], "--seed has no meaning for 'paper'; found: 3"),
        (["simulate", "paper", "--words", "3"], "--words has no meaning for 'paper'; found: 3"),
        (["simulate", "null", "--attribute-sd", "1,2"], "--attribute-sd has no meaning for 'null'"),
        (["fit", *VECTORS, "--repeats", "keep"], "--repeats says how rows of a table count"),
        (["fit", *VECTORS, "--repeats", "once"], "valid: --distances FILE"),
        (["fit", *VECTORS, "--language", "de"], "--language is that of wordfreq; found: 'de'"),
        (["fit", *TABLE, "--counts", "c.csv", "--language", "de"], "valid: --counts wordfreq"),
        (["fit", *TABLE, "--invalid-utf8", "skip"], "--invalid-utf8 is for vectors, and --distances holds none"),
        (["fit", *TABLE, "--allow-pickle"], "--allow-pickle is for vectors"),
        (["fit", *TABLE, "--pool", "2021"], "--pool is for --controls matched; found: '2021'"),
        (["measure", *TABLE, "--allow-pickle"], "--allow-pickle is for vectors"),
        ([*DEBIAS, "--method", "soft", "--no-equalise"], "--no-equalise is for the hard method"),
        ([*DEBIAS, "--method", "soft", "--overlap", "last"], "valid: --method hard"),
        ([*DEBIAS, "--method", "hard", "--lam", "5"], "--lam is for the soft method; found: 5.0"),
        ([*MAC, "--p", "exact"], "--p is for weat, which is not asked for; found: 'exact'"),
        ([*MAC, "--resamples", "100"], "--resamples is for ripa, ect and rnsb, none of which is asked for"),
        ([*MAC, "--strictness", "3"], "valid: direct_bias among --measure"),
        (["measure", *TABLE, "--strictness", "3"], "direct_bias, which is not computed of this input: it needs vectors"),
        (["seat", "--prob", "0.5"], "--prob is for models; found: 0.5; valid: --bayes"),
        (["seat", "--tune", "5"], "--tune is for models"),
        (["sentiment", "--predictions", "m1", "--draws", "9"], "--draws is for models"),
        (["sentiment", "--predictions", "m1", "--seed", "9"], "valid: --bayes, --logit or --model M"),
        (
            ["compare", "--original-distances", "pairs.csv", "--debiased-distances", "pairs.csv", "--invalid-utf8",
             "skip"],
            "--invalid-utf8 is for vectors, and a table of distances holds none",
        ),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)  # fmt: skip
def test_what_would_do_nothing_is_refused(words, said, files, run, monkeypatch):
    monkeypatch.chdir(files)
    code, out, err = run(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
    assert not (files / "out.txt").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["fit", *TABLE, "--draws", "1_000"], "'1_000' is not a valid integer"),
        (["fit", *TABLE, "--draws", "１００"], "is not a valid integer"),
        (["fit", *TABLE, "--prob", "0_1.5"], "'0_1.5' is not a valid float"),
        (["fit", *TABLE, "--prob", "nan"], "nan is not a finite number"),
        (["fit", *TABLE, "--prob", "0.9999999999999999"], "0.9999999999999999 lies too near to 0 or 1"),
        (["fit", *TABLE, "--rope", "1_0"], "'1_0' is not a valid float"),
        (["simulate", "grid", "--words", "1_0,2"], "not a number; found: '1_0'"),
        (["simulate", "grid", "--words", "300000"], "at most 2,000,000"),
        (["simulate", "null", "--words", "3", "--attributes", "1000000000"], "at most 2,000,000"),
        (["coverage_simulated", "--attributes", "1000000000,2,2"], "more pairs than are simulated"),
        (["coverage_simulated", "--human", "100000000"], "more pairs than are simulated"),
        (["measure", *TABLE, "--samples", "1000000000"], "--samples"),
        (["measure", *VECTORS, "--measure", "ect", "--resamples", "1000000000"], "--resamples"),
        (["measure", *VECTORS, "--measure", "rnsb", "--shrinkage", "1e100"], "--shrinkage"),
        (["coverage_simulated", "--tables", "2", "--dask", "non sense"], "is no address; found: 'non sense'"),
        (["coverage_simulated", "--tables", "2", "--dask", "inproc://x"], "is no address; found: 'inproc://x'"),
        (["coverage_simulated", "--tables", "2", "--dask", "tcp://127.0.0.1:1"], "no Dask scheduler answers"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)  # fmt: skip
def test_numbers_are_plain_and_of_a_size_that_is_worked_off(words, said, files, run, monkeypatch):
    if "--dask" in words:
        pytest.importorskip("distributed")
    monkeypatch.chdir(files)
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert said in err


def test_a_rope_is_for_what_is_held_against_one(tmp_path):
    with pytest.raises(InputError, match="not held against a region of practical equivalence"):
        bb.write_report(made_up_test(), tmp_path / "page.html", rope=0.03)
    assert not (tmp_path / "page.html").exists()


def test_compare_reads_vectors_as_fit_does(tmp_path, files, run, monkeypatch):
    monkeypatch.chdir(files)
    rows = (files / "vectors.txt").read_bytes().splitlines()[1:]  # without the header, which counts them
    more = b"\xff\xfe" + rows[-1][rows[-1].index(b" ") :]
    (tmp_path / "bad.txt").write_bytes(b"\n".join([*rows, more]) + b"\n")
    words = [
        "compare",
        "--original",
        "vectors.txt",
        "--debiased",
        tmp_path / "bad.txt",
        "--wordlist",
        "age.toml",
    ]
    code, _, err = run(*words)
    assert code == 2
    assert "UTF-8" in err
    seen = []
    monkeypatch.setattr(
        "bayesbias.studies.change.compare", lambda before, after, *_, **__: seen.append(after) or 1 / 0
    )
    with pytest.raises(ZeroDivisionError):
        run(*words, "--invalid-utf8", "skip")
    assert list(seen[0]) == ["bad"]


@pytest.mark.parametrize(("option", "value", "shown"), [("--prob", 1, "0<x<1"), ("--strictness", -1, "x>=0")])
def test_ends_that_are_no_values_are_shown_and_refused_as_such(option, value, shown, run):
    assert shown in run("measure", "--help")[1]
    code, _, err = run("measure", *VECTORS, option, value)
    assert (code, f"'{option}': {float(value)} is not in the range {shown}" in err) == (2, True)


def test_a_link_that_leads_to_itself_is_refused_before_the_work(files, run, monkeypatch):
    monkeypatch.chdir(files)
    (files / "loop").symlink_to("loop")
    seen = []
    monkeypatch.setattr(
        "bayesbias.inference.fitting.sample_collapsed", lambda *given, **_: seen.append(given)
    )
    code, out, err = run("fit", *VECTORS, "--out", "loop")
    assert (code, out, seen) == (2, "", [])
    assert "loop: the output cannot be written" in err
