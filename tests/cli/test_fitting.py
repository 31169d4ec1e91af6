"""`bayesbias fit`: what it prints and writes."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from helpers import monte_carlo as mc
from helpers.draws import made_up_fit
from helpers.inputs import HUMAN, QUICK, vector_text, vectors
from helpers.pages import without_figures, without_pictures
from helpers.seeds import shifted

import bayesbias

pytestmark = pytest.mark.slow  # whole commands


# -- fit -------------------------------------------------------------------------------------------
@pytest.fixture(scope="session")
def printed(files) -> subprocess.CompletedProcess:
    """The whole command, as a user runs it, in a process of its own."""
    command = [sys.executable, "-m", "bayesbias.cli", "fit", "--json", *QUICK]
    command += ["--embedding", str(files / "vectors.txt"), "--wordlist", str(files / "age.toml")]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


@pytest.fixture(scope="session")
def direct(files):
    """The same fit through Python."""
    table = bayesbias.distance_table(str(files / "vectors.txt"), str(files / "age.toml"))
    return bayesbias.fit(table, seed=shifted(5), draws=200, tune=200, chains=2, pointwise=False)


def test_json_is_one_object_on_stdout_and_nothing_else(printed):
    assert printed.returncode == 0
    assert printed.stderr == ""  # no progress bar in a pipe, no warnings
    assert printed.stdout.count("\n") == 1
    assert isinstance(json.loads(printed.stdout), dict)


DESCRIBED = ["mean", "sd", "hpdi_low", "hpdi_high", "prob", "ess_bulk", "r_hat"]


def test_json_has_the_documented_keys_and_the_values_of_the_fit(printed, direct):
    found = json.loads(printed.stdout)
    assert found["schema"] == "bayesbias.fit/1"
    assert list(found) == [
        "schema", "model", "summary", "words", "contrasts", "standardized", "new_words", "parameters", "diagnostics",
        "coverage", "provenance", "timing", "shortcomings", "finding", "findings", "written",
    ]  # fmt: skip
    assert found["model"] == "default"
    assert {"connection", *DESCRIBED} <= set(found["summary"][0])
    assert {"connection", "protected_word", *DESCRIBED} <= set(found["words"][0])
    wanted = {"level", "name", "contrast", "estimand", "mean", "sd", "hpdi_low", "hpdi_high", "p_below_zero"}
    assert wanted <= set(found["contrasts"][0])
    assert {"name", "index", "mean", "sd"} <= set(found["parameters"][0])
    assert {"divergences", "max_r_hat", "min_ess_bulk", "ok"} <= set(found["diagnostics"])
    for key, frame in {
        "summary": direct.summary(),
        "words": direct.words(),
        "contrasts": direct.contrasts(),
        "standardized": direct.standardized(),
        "new_words": direct.new_words(),
        "parameters": direct.parameters(),
    }.items():
        pd.testing.assert_frame_equal(
            pd.DataFrame(found[key]), frame[list(found[key][0])], check_dtype=False, rtol=1e-12, atol=1e-14
        )
    assert {row["level"] for row in found["contrasts"]} == {"overall", "class", "stereotype", "word"}
    assert {row["estimand"] for row in found["contrasts"]} == {"population", "listed_words"}
    assert "v" not in {row["name"] for row in found["parameters"]}
    assert found["diagnostics"] == direct.diagnostics()
    assert found["coverage"]["protected"]["young"] == {"listed": 3, "found": 3, "missing": []}
    assert found["coverage"]["missing"] == []
    assert found["provenance"]["sampler"]["seed"] == shifted(5)
    assert found["provenance"]["table"]["embedding"]["name"] == "vectors"
    assert found["timing"]["total_s"] >= found["timing"]["fit_s"] >= found["timing"]["sample_s"] > 0


def test_same_seed_same_object_but_for_the_time(printed, run, files):
    arguments = ["fit", "--embedding", files / "vectors.txt", "--wordlist", files / "age.toml", "--json"]
    first = json.loads(printed.stdout)
    again, other = (json.loads(run(*arguments, *QUICK[:-1], shifted(seed))[1]) for seed in (5, 6))
    assert first.pop("timing").keys() == again.pop("timing").keys()
    assert again == first
    assert other["summary"] != first["summary"]
    one, two = (mc.mean_of_row(pd.DataFrame(found["summary"])) for found in (first, other))
    mc.assert_near(one, two)


def test_a_table_of_distances_gives_the_fit_of_its_vectors(printed, run, files):
    code, out, err = run("fit", "--distances", files / "pairs.csv", "--json", *QUICK)
    assert (code, err) == (0, "")
    found, expected = json.loads(out), json.loads(printed.stdout)
    assert found["summary"] == expected["summary"]
    assert found["contrasts"] == expected["contrasts"]


@pytest.mark.parametrize("chains_draws", [(1, 200), (2, 3)])
def test_json_holds_no_nan(run, files, chains_draws):
    chains, draws = map(str, chains_draws)
    arguments = ["--draws", draws, "--tune", "100", "--chains", chains, "--seed", str(shifted(1)), "--json"]
    code, out, err = run("fit", "--distances", files / "pairs.csv", *arguments)
    assert (code, err) == (0, "")

    def refuse(constant):
        raise AssertionError(constant)

    found = json.loads(out, parse_constant=refuse)
    assert found["diagnostics"]["ok"] is False
    assert found["diagnostics"]["max_r_hat"] is None
    assert found["summary"][0]["r_hat"] is None


def test_options_reach_the_result(run, files):
    arguments = ["--model", files / "own.toml", "--prob", "0.5", "--rope", "0.3", "--json"]
    code, out, _ = run("fit", "--distances", files / "pairs.csv", *arguments, *QUICK)
    found = json.loads(out)
    assert code == 0
    assert found["model"] == "own"
    assert {row["prob"] for key in ("summary", "words", "contrasts") for row in found[key]} == {0.5}
    assert {row["rope"] for row in found["contrasts"]} == {0.3}
    arguments = ["--embedding", files / "vectors.txt", "--wordlist", files / "age.toml", "--controls", "none"]
    found = json.loads(run("fit", *arguments, "--json", *QUICK)[1])
    assert [row["connection"] for row in found["summary"]] == ["associated", "different"]
    assert {row["contrast"] for row in found["contrasts"]} == {"associated - different"}


@pytest.mark.claim
def test_slopes_on_a_covariate_are_everywhere(run, files, tmp_path, monkeypatch):
    without_figures(monkeypatch)
    without_pictures(monkeypatch)
    covariates = tmp_path / "covariates.csv"
    table = bayesbias.distance_table(str(files / "vectors.txt"), str(files / "age.toml"))
    words = {word: len(word) + place for place, word in enumerate(table.frame["protected_word"].unique())}
    covariates.write_text("word,letters\n" + "".join(f"{word},{n}\n" for word, n in words.items()))
    arguments = ["fit", *QUICK, "--engine", "quick", "--covariates", str(covariates)]
    arguments += ["--embedding", str(files / "vectors.txt"), "--wordlist", str(files / "age.toml")]
    code, out, _ = run(*arguments, "--slope", "letters", "--out", str(tmp_path / "run"))
    assert code == 0
    assert "Slopes on covariates about words" in out
    stored = pd.read_csv(tmp_path / "run" / "slopes.csv")
    assert set(stored["covariate"]) == {"letters"}
    assert stored["scale"].iloc[0] == pytest.approx(pd.Series(words).std())
    opened = bayesbias.load_run(tmp_path / "run").result
    pd.testing.assert_frame_equal(opened.slopes(), stored, check_dtype=False)
    page = bayesbias.write_report(tmp_path / "run", tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Covariates about words" in page
    code, _, err = run(*arguments, "--slope", "leters")
    assert (code, "did you mean 'letters'?" in err) == (2, True)


@pytest.mark.usefixtures("made_up_instead")
def test_repeats_count_once_unless_kept(run, files, tmp_path):
    lines = (files / "pairs.csv").read_text().splitlines()
    (tmp_path / "twice.csv").write_text("\n".join([*lines, *lines[1:]]) + "\n")
    arguments = ["fit", "--distances", tmp_path / "twice.csv", "--json", "--model", "additive", *QUICK]
    once, kept = (json.loads(run(*arguments, "--repeats", how)[1]) for how in ("once", "keep"))
    assert [row["n_pairs"] for row in once["summary"]] == [12, 13, 15, 20]
    assert [row["n_pairs"] for row in kept["summary"]] == [24, 26, 30, 40]
    assert once["coverage"]["repeats"] == 60


def test_text_says_numbers_trouble_and_finding(run, files, direct):
    code, out, err = run("fit", "--distances", files / "pairs.csv", *QUICK)
    assert (code, err) == (0, "")
    for row in direct.summary().itertuples():
        line = next(line for line in out.splitlines() if line.split()[:1] == [row.connection])
        printed = [n for n in line.split() if n[0].isdigit() and "." in n]
        numbers = (row.mean, row.sd, row.hpdi_low, row.hpdi_high)
        # As many digits as the Monte Carlo error of each allows, and at least one.
        assert printed == [
            f"{x:.{len(n) - n.index('.') - 1}f}" for n, x in zip(printed, numbers, strict=True)
        ]
        assert all(2 <= len(n) - n.index(".") <= 4 for n in printed)
        assert line.split()[-1] == str(row.n_pairs)
    assert "population" in out
    assert "listed_words" in out
    problems = direct.diagnostics()["problems"]
    assert problems
    for problem in problems:
        assert f"NOT TO BE TRUSTED YET: {problem}" in out
    assert "converged" not in out
    assert out.startswith(
        "pairs: no conclusion, since the sampler cannot be believed yet"
    )  # before the tables


@pytest.mark.usefixtures("made_up_instead")
def test_control_words_that_are_not_there_do_not_fail_the_run(run, files, tmp_path):
    path = tmp_path / "no-human.txt"
    path.write_text(vector_text({w: r for w, r in vectors().items() if w not in (*HUMAN, "frail", "wise")}))
    code, printed, _ = run("fit", "--embedding", path, "--wordlist", files / "age.toml", *QUICK, "--json")
    assert code == 0
    found = json.loads(printed)
    assert not any("human" in row["contrast"] for row in found["contrasts"])
    note = "no human control word was found (3 listed): contrasts with human control words are left out"
    assert note in found["findings"]["notes"]
    assert found["findings"]["losses"] == [
        {"kind": "gone", "side": "attribute", "name": "human", "listed": 3, "found": 0},
        {"kind": "most", "side": "attribute", "name": "old", "listed": 3, "found": 1},
    ]
    assert "only 1 of 3 stereotypes of old was found" in found["finding"]


@pytest.mark.usefixtures("made_up_instead")
def test_missing_words_are_said(run, files, tmp_path):
    some = {word: row for word, row in vectors().items() if word not in ("teen", "rock")}
    (tmp_path / "some.txt").write_text(vector_text(some))
    arguments = ["--embedding", tmp_path / "some.txt", "--wordlist", files / "age.toml"]
    out = run("fit", *arguments, *QUICK)[1]
    assert "missing: 1 of 3 protected words of young: teen" in out
    assert "missing: 1 of 4 attributes of neutral: rock" in out
    found = json.loads(run("fit", *arguments, *QUICK, "--json")[1])
    assert found["coverage"]["missing"] == ["teen", "rock"]
    assert found["coverage"]["attributes"]["neutral"] == {"listed": 4, "found": 3, "missing": ["rock"]}


# -- what is written -------------------------------------------------------------------------------
FIGURES = (
    "connections", "contrasts", "contrasts_class", "contrasts_stereotype", "contrasts_word", "predictive", "priors", "words",
)  # fmt: skip


@pytest.fixture
def no_figures(monkeypatch):
    """Leave the drawing out, which takes seconds and is tested elsewhere."""
    from bayesbias.plots import saving

    def draw(result, folder, **_):
        folder.mkdir()
        (folder / "one.svg").write_text("<svg/>")
        return [folder / "one.svg"]

    monkeypatch.setattr(saving, "save_figures", draw)


@pytest.fixture
def made_up_instead(monkeypatch):
    """Answer the command with made-up draws of the table that it read."""

    def fit(table, model, **_):
        made = made_up_fit(table, model)
        about = {"coverage": {}, "timing": {}}
        if not isinstance(table, pd.DataFrame):  # of which a fit at equal frequency is
            about |= {"table": dict(table.provenance), "coverage": table.coverage.as_dict()}
        return dataclasses.replace(made, provenance={**made.provenance, **about})

    monkeypatch.setattr(bayesbias, "fit", fit)
    monkeypatch.setattr("bayesbias.studies.frequency.fit_model", fit)


@pytest.fixture
def fitted_before(monkeypatch, direct):
    monkeypatch.setattr(bayesbias, "fit", lambda *_, **__: direct)


def files_of_a_run(*figures: str) -> set[str]:
    names = {"pairs.csv", "fit.nc", "provenance.json", "result.txt", "run.json"}
    names |= {
        f"{name}.csv"
        for name in ("summary", "words", "contrasts", "standardized", "new_words", "parameters", "coverage")
    }
    return names | {f"figures/{name}" for name in figures}


def assert_written(out: Path, text: str, direct, *figures: str) -> None:
    names = files_of_a_run(*figures)
    assert {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()} == names
    assert [path for path in out.iterdir() if path.name.startswith(".")] == []
    assert f"written: {len(names)} files in {out} (" in text
    assert f"a page of it: bayesbias report {out} --out {out}.html" in text
    for name in ("summary", "words", "contrasts", "standardized", "new_words", "parameters"):
        frame = pd.read_csv(out / f"{name}.csv", keep_default_na=False)
        pd.testing.assert_frame_equal(frame, getattr(direct, name)(), check_dtype=False, rtol=1e-12)
    pairs = bayesbias.load_distances(out / "pairs.csv").frame
    assert pairs["distance"].tolist() == direct.table["distance"].tolist()
    back = bayesbias.load_fit(out / "fit.nc")
    pd.testing.assert_frame_equal(back.contrasts(), direct.contrasts(), check_exact=True)
    provenance = json.loads((out / "provenance.json").read_text())
    assert provenance == json.loads(json.dumps(back.provenance))
    assert provenance["sampler"]["seed"] == shifted(5)
    coverage = pd.read_csv(out / "coverage.csv", keep_default_na=False)
    assert coverage["listed"].tolist() == [3, 2, 2, 3, 3, 4]


@pytest.mark.claim  # without figures the test above says it
def test_out_holds_table_fit_summaries_and_figures(run, files, tmp_path, direct):
    out = tmp_path / "deep" / "run"
    code, text, err = run("fit", "--distances", files / "pairs.csv", "--out", out, *QUICK)
    assert (code, err) == (0, "")
    assert_written(out, text, direct, *(f"{name}.{kind}" for name in FIGURES for kind in ("png", "svg")))
    for name in FIGURES:
        assert (out / f"figures/{name}.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        assert "<svg" in (out / f"figures/{name}.svg").read_text(encoding="utf-8")[:2000]


@pytest.mark.usefixtures("no_figures", "fitted_before")
@pytest.mark.parametrize("fails_at", ["pairs.csv", "fit.nc", "words.csv", "provenance.json", "one.svg"])
def test_a_disk_that_is_full_leaves_nothing_and_old_files_alone(run, files, tmp_path, monkeypatch, fails_at):
    from bayesbias.core import files as files_room
    from bayesbias.plots import saving

    written_whole = files_room.whole_file
    reached = []

    def full(path):
        if Path(path).name == fails_at:
            reached.append(fails_at)
            raise bayesbias.InputError("cannot be written: No space left on device", where=path)
        return written_whole(path)

    for module in ("basics.files", "tables.pair_table", "inference.saving"):
        monkeypatch.setattr(f"bayesbias.{module}.whole_file", full)
    draw = saving.save_figures

    def draw_or_fail(result, folder, **_):
        if fails_at == "one.svg":
            full(folder / "one.svg")
        return draw(result, folder)

    monkeypatch.setattr(saving, "save_figures", draw_or_fail)
    arguments = ["fit", "--distances", files / "pairs.csv", *QUICK, "--out"]
    code, out, err = run(*arguments, tmp_path / "new")
    assert (code, out) == (2, "")
    assert "No space left on device" in err
    assert err.count("\n") == 1
    assert ".unfinished" not in err
    assert fails_at in err
    assert not (tmp_path / "new").exists()

    old = tmp_path / "old"
    old.mkdir()
    earlier = {
        name: "of an earlier run" for name in ("summary.csv", "fit.nc", "parameters.csv", "provenance.json")
    }
    for name, text in earlier.items():
        (old / name).write_text(text)
    assert run(*arguments, old)[0] == 2
    assert {p.name: p.read_text() for p in old.iterdir()} == earlier
    assert reached == [fails_at] * 2


@pytest.mark.usefixtures("no_figures")
def test_a_second_run_replaces_the_first(run, files, tmp_path):
    arguments = ["fit", "--distances", files / "pairs.csv", "--out", tmp_path / "run", *QUICK]
    assert run(*arguments, "--model", "crossed")[0] == 0
    first = {p.name: p.read_bytes() for p in (tmp_path / "run").iterdir() if p.is_file()}
    assert run(*arguments, "--model", "hierarchical")[0] == 0
    second = {p.name: p.read_bytes() for p in (tmp_path / "run").iterdir() if p.is_file()}
    assert set(first) == set(second)
    assert {name for name in first if first[name] == second[name]} == {"pairs.csv", "coverage.csv"}
    assert "hierarchical" in json.loads(second["run.json"])["command"]
    assert bayesbias.load_fit(tmp_path / "run" / "fit.nc").spec.name == "hierarchical"


def test_an_output_that_cannot_be_is_refused_before_the_fit(run, files, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("x")
    monkeypatch.setattr(bayesbias, "fit", lambda *_, **__: pytest.fail("fitted first"))
    for out in (tmp_path / "file", tmp_path / "file" / "deeper" / "run"):
        code, printed, err = run("fit", "--distances", files / "pairs.csv", "--out", out, *QUICK)
        assert (code, printed) == (2, "")
        assert "the output must be a folder" in err
    assert (tmp_path / "file").read_text() == "x"


@pytest.mark.claim
@pytest.mark.parametrize("whole", [False, True])
def test_models_are_compared_where_asked(run, files, tmp_path, whole):
    """In the JSON and as a file of the run; and, as a whole, side by side on the screen."""
    arguments = [
        "fit",
        "--embedding",
        files / "vectors.txt",
        "--wordlist",
        files / "age.toml",
        *QUICK,
        "--compare-models",
    ]
    code, out, _ = run(*arguments, "--out", tmp_path / "run", "--json")
    assert code == 0
    frame = pd.DataFrame(json.loads(out)["models"])
    assert set(frame["model"]) == {"default", "crossed", "shared", "hierarchical"}
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "run/models.csv"), frame, check_dtype=False)
    if whole:
        code, out, _ = run(*arguments)
        assert code == 0
        for text in ("under several models", "The same in each class", "LOO says how well"):
            assert text in out


@pytest.mark.usefixtures("made_up_instead")
@pytest.mark.claim
def test_counts_add_the_contrasts_at_equal_frequency(files, run, tmp_path):
    table = pd.read_csv(files / "pairs.csv")
    words = [*table["protected_word"].unique(), *table["attribute"].unique()]
    lines = [f"{word}\t{10 ** (1 + (7 * place) % 5)}" for place, word in enumerate(words)]
    counts = tmp_path / "counts.txt"
    counts.write_text("\n".join(lines[1:]) + "\n", encoding="utf-8")
    asked = ["--distances", files / "pairs.csv", "--counts", counts]
    code, out, err = run("fit", *asked, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)["frequency"]
    assert found["missing"] == [words[0]]
    assert found["source"] == "counts of counts.txt"
    assert {"without_mean", "with_mean", "carried_mean", "change"} <= set(found["contrasts"][0])
    assert found["n_pairs"] < found["n_pairs_all"]
    assert "frequency" not in json.loads(out)["provenance"]
    code, out, _ = run("fit", *asked)
    assert code == 0
    assert "How frequent words are, in powers of ten (counts of counts.txt)" in out
    assert f"1 word without a count has no part in it: {words[0]}" in out


def test_counts_are_looked_at_before_the_fit(files, run, tmp_path):
    for counts, said in (
        ("order", "--counts order needs the vectors"),
        (tmp_path / "no.csv", "no such file"),
    ):
        code, _, err = run("fit", "--distances", files / "pairs.csv", "--counts", counts)
        assert code == 2
        assert said in err


def test_matched_controls_need_counts(files, run):
    asked = ["fit", "--embedding", files / "vectors.txt", "--wordlist", files / "age.toml"]
    for more, said in (
        (["--controls", "matched"], "needs to know how frequent words are"),
        (["--pool", "2021"], "--pool is for --controls matched"),
    ):
        code, _, err = run(*asked, *more)
        assert code == 2
        assert said in err
