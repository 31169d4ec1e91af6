"""Every command: its JSON, its text, its files, its exit codes."""

import importlib
import inspect
import json
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.pages import without_figures

import bayesbias as bb
from bayesbias.cli.main import MODULES, cli, main
from bayesbias.core.conventions import PROB, ROPE, ROPE_IN_SDS, STANDARD_ROPE
from bayesbias.core.errors import InputError

QUICK = ["--engine", "quick", "--draws", "250", "--seed", "1"]
VECTORS = ["--embedding", "minilm-static", "--wordlist"]


@pytest.fixture(autouse=True)
def _empty_figures(monkeypatch):
    without_figures(monkeypatch)


def run(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(cli, list(arguments), catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.stdout


def answer(*arguments: str, code: int = 0) -> dict:
    out = json.loads(run(*arguments, "--json", code=code))
    assert out["schema"].endswith("-2")
    assert " " not in out["schema"]
    return out


@pytest.mark.parametrize("name", [*MODULES, "seat sentences", "sentiment train", "responses fit"])
def test_help_of_every_command_is_short(name):
    lines = run(*name.split(), "--help").splitlines()
    assert lines[0].startswith("Usage: ")
    summary = next(line for line in lines[1:] if line.strip())
    assert len(summary.strip()) <= 60
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    full = run(*name.split(), "--help-all").splitlines() if "--help-all" in lines[-1] else lines
    options = [line for line in full if line.lstrip().startswith("--")]
    assert all("  " in line.strip() for line in options)  # each is explained on its own line


def test_fit_says_the_same_in_json_folder_and_python(tmp_path):
    out = answer(
        "fit", *VECTORS, "gender", "--controls", "2021", *QUICK, "--out", str(tmp_path / "run")
    )
    assert {
        "contrasts",
        "summary",
        "standardized",
        "words",
        "new_words",
        "parameters",
        "coverage",
    } <= set(out)
    assert out["diagnostics"]["ok"]
    assert out["provenance"]["sampler"]["seed"] == 1
    opened = bb.load_run(tmp_path / "run")
    assert opened.command[:3] == ["fit", "--embedding", "minilm-static"]
    frame = opened.result.contrasts()
    assert frame["mean"].tolist() == [row["mean"] for row in out["contrasts"]]
    text = run("fit", *VECTORS, "gender", "--controls", "2021", *QUICK)
    assert len(text.splitlines()) <= 25
    assert max(map(len, text.splitlines())) <= 80
    page = tmp_path / "page.html"
    assert run("report", str(tmp_path / "run"), "--out", str(page)).startswith("Written")
    assert out["finding"] in page.read_text(encoding="utf-8")
    assert answer("verify", str(tmp_path / "run"))["ok"]
    (tmp_path / "run" / "summary.csv").write_text("changed")
    assert answer("verify", str(tmp_path / "run"), code=2)["ok"] is False
    with pytest.raises(InputError, match="association"):
        run("seat", "--tests", "weat7", "--out", str(tmp_path / "run"))


@pytest.mark.slow
def test_fit_of_a_table_with_a_slope(tmp_path):
    table = bb.distance_table("minilm-static", "religion", controls="none").frame
    table.assign(length=table["attribute"].str.len()).to_csv(tmp_path / "pairs.csv", index=False)
    options = ["--covariates", "length", "--slope", "length", *QUICK, "--draws", "1000"]
    out = answer("fit", "--distances", str(tmp_path / "pairs.csv"), *options)
    assert {row["covariate"] for row in out["slopes"]} == {"length"}


def test_limits_decide_the_exit_code(tmp_path):
    fit = ["fit", *VECTORS, "gender", "--controls", "2021", *QUICK]
    out = answer(*fit, "--require", "converged, coverage>0.9, associated - human<0")
    assert [check["met"] for check in out["requirements"]] == [True, True, True]
    done = CliRunner().invoke(cli, [*fit, "--require", "associated - human (man)>0"])
    assert done.exit_code == 1
    assert done.stderr.splitlines() == [
        line for line in done.stderr.splitlines() if "NOT met" in line and "man" in line
    ]
    with pytest.raises(InputError, match="requirement"):
        run(*fit, "--require", "gap=3")
    seat = ["seat", "--tests", "weat7", "--seed", "1", "--no-cache"]
    assert run(*seat, "--bayes", "--require", "weat7<0.1, converged")
    run(*seat, "--require", "weat7<0.1, coverage>.9", code=1)  # the effect size
    with pytest.raises(InputError, match="--bayes"):
        run(*seat, "--require", "converged")


def test_a_required_option_is_marked_and_its_error_has_an_example(capsys, monkeypatch):
    assert "next line nurse,90 [required]" in run("wefat", "--help")
    monkeypatch.setattr(sys, "argv", ["bayesbias", "wefat", "--embedding", "minilm-static"])
    with pytest.raises(SystemExit):
        main()
    said = capsys.readouterr().err
    assert "--covariates: expected FILE (CSV: word,percent_women, next line nurse,90" in said


def test_debias_says_how_many_words_keep_their_vectors(tmp_path):
    out = ["--out", str(tmp_path / "hard.npz")]
    listed = bb.hard_debias("minilm-static", "religion")
    text = " ".join(run("debias", *VECTORS, "religion", *out).split())
    total = len(listed.changed) + len(listed.unchanged)
    assert f"{len(listed.unchanged):,} of {total:,} words keep their vectors" in text
    assert "--neutralize all_others changes the others too" in text
    assert "has no subwords. It lacks unknown words, which minilm-static builds" in text
    text = " ".join(run("debias", *VECTORS, "religion", "--neutralize", "all_others", *out).split())
    assert "--neutralize" not in text


@pytest.mark.slow
def test_debias_then_compare_with_limits(tmp_path):
    hard = tmp_path / "hard.npz"
    run("debias", *VECTORS, "gender", "--words", "listed", "--out", str(hard))
    vectors = [
        "--original",
        "minilm-static",
        "--debiased",
        str(hard),
        "--wordlist",
        "gender",
        "--controls",
        "2021",
    ]
    limits = ["--require", "controls>0.5, gap>0.5"]
    done = CliRunner().invoke(
        cli, ["compare", *vectors, "--seed", "1", *limits, "--json"], catch_exceptions=False
    )
    assert done.exit_code == 1
    out = json.loads(done.stdout)
    assert [check["met"] for check in out["requirements"]] == [True, False]
    assert out["methods"]["hard"]["construction"]["forced"] == "wholly"


def test_score_of_a_query_has_the_number_of_wefe(tmp_path):
    classes = bb.load_wordlist("weat7", controls="none").classes
    sets = {"target_sets": "protected", "attribute_sets": "attributes"}
    query = {key: [getattr(c, side) for c in classes] for key, side in sets.items()}
    (tmp_path / "query.json").write_text(json.dumps(query))
    said = run("score", *VECTORS, str(tmp_path / "query.json"), "--scores", "weat")
    assert "+0.5250" in said
    assert "effect size is +1.4152" in " ".join(said.split())
    assert "+0.5250" not in run("score", *VECTORS, "weat7", "--scores", "weat")
    several = answer("score", *VECTORS, "weat7", "--scores", "RND,Weat", "--seed", "1")["scores"]
    assert [score["name"] for score in several] == ["relative_norm_distance", "weat"]


def test_seat_wefat_and_score(tmp_path):
    out = answer("seat", "--tests", "weat7", "--seed", "1", "--no-cache")
    assert out["tests"][0]["p_value"] == pytest.approx(28 / 12870)
    scores = answer("score", *VECTORS, "weat7", "--scores", "weat")["scores"]
    # Math is nearer to the female words, which the one-sided test does not ask about.
    said = run("score", *VECTORS, "weat7", "--scores", "sc_weat")
    assert "Opposite" in said
    assert "one-sided: does X lean to A, and Y to B?" in said
    assert "Opposite direction, significant at .05: SC-WEAT math" in " ".join(said.split())
    strict = run("score", *VECTORS, "weat7", "--scores", "weat", "--alpha", "0.001")
    assert "Not significant at .001: WEAT." in strict
    assert "no clear direction" in strict
    strict = answer("score", *VECTORS, "weat7", "--scores", "weat", "--alpha", "0.001")
    assert (strict["alpha"], strict["scores"][0]["alpha"]) == (0.001, 0.001)
    assert strict["scores"][0]["direction"] is None
    both = " ".join(run("score", *VECTORS, "weat7", "--scores", "weat,sc_weat").split())
    assert "X leans to A more than Y" in both
    assert "For new words, and which distances differ, use: bayesbias fit." in both
    assert "Bootstrap over words (SC-WEAT)" in both
    two = run("score", *VECTORS, "weat7", "--scores", "sc_weat", "--sides", "2")
    assert "one-sided" not in two
    assert "WEAT effect size d  +1.370" in run("score", *VECTORS, "weat7", "--scores", "weat")
    assert scores[0]["p_value"] == pytest.approx(28 / 12870)
    assert scores[0]["p_method"] == "exact"
    numbers = dict(
        nurse=90, doctor=30, engineer=12, teacher=75, secretary=95, pilot=8, lawyer=35, cook=42
    )
    rows = "\n".join(f"{word},{number}" for word, number in numbers.items())
    (tmp_path / "women.csv").write_text(f"word,women\n{rows}\n")
    options = ["--covariates", str(tmp_path / "women.csv"), *QUICK]
    out = answer("wefat", "--embedding", "minilm-static", *options)
    assert out["published"]["n"] == 8
    assert out["slope"]["hpdi_low"] < out["slope"]["mean"]


def test_sentiment_and_its_sentences(tmp_path):
    out = answer("sentiment", "--predictions", "m1")
    assert (out["df"], round(out["t"], 2)) == (399, -5.91)
    out = answer(
        "sentiment", "--predictions", "m1", "--bayes", "--seed", "1", "--out", str(tmp_path / "run")
    )
    assert {row["estimand"] for row in out["estimates"]} >= {"population", "listed_words"}
    assert bb.load_run(tmp_path / "run").result.fit is not None
    assert answer("sentiment", "sentences", "--out", str(tmp_path / "s.csv"))["sentences"] == 800


def test_sweep_can_be_continued(tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'schema = 1\nembeddings = ["minilm-static"]\nwordlists = ["weat7"]\ncontrols = ["none"]\n[settings]\nseed = 1\n'
    )
    arguments = ["sweep", str(plan), "--out", str(tmp_path / "out"), "--workers", "1"]
    assert len(answer(*arguments)["compared"]) == 1
    assert answer(*arguments, "--resume")["reused"] == 1


@pytest.mark.slow
def test_planning(monkeypatch):
    small = ["--human", "10", "--neutral", "10", "--tables", "3", "--workers", "1"]
    small += ["--methods", "moments,weat"]
    assert {row["method"] for row in answer("coverage", *small)["rows"]} == {"moments", "weat"}
    lines = run("coverage", *small).splitlines()
    assert {"moments", "weat"} < set(lines)
    assert max(map(len, lines)) <= 80
    real = ["--embedding", "minilm-static", "--tables", "2", "--workers", "1"]
    drawn = ["--pools", "religion", "--words", "2", "--attributes", "2", "--methods", "moments"]
    assert {row["method"] for row in answer("coverage", *real, *drawn)["rows"]} == {"moments"}
    with pytest.raises(InputError, match="--embedding alone"):
        run("coverage", *real)
    module = importlib.import_module("bayesbias.simulation.sample_size")
    monkeypatch.setattr(module, "_tried", lambda numbers, name: numbers[::4])
    rows = answer("sample-size", "--width", "0.2", "--check", "0")["rows"]
    assert rows[0]["known_width"] < 0.2


def test_what_is_shipped_can_be_listed_and_shown(tmp_path):
    assert "religion" in run("wordlist", "list")
    assert "default" in run("model", "list")
    assert "judaism" in run("wordlist", "show", "religion")
    assert run("model", "show", "default").startswith("schema = 1")
    mine = tmp_path / "mine.toml"
    run("wordlist", "new", str(mine))
    with pytest.raises(InputError, match="wordlist check mine"):
        run("wordlist", "mine.toml")
    untouched = json.loads(run("wordlist", "check", str(mine), "--json", code=2))["problems"]
    assert any("name" in problem for problem in untouched)
    assert not any("title" in problem for problem in untouched)  # may stay empty
    assert run("wordlist", "check", "religion").startswith("religion: no errors")
    keyed = tmp_path / "keyed.txt"
    keyed.write_text("rabbi_NOUN 1 2 3\ntorah_NOUN 3 4 5\nimam_NOUN 3 3 1\n")
    said = run("wordlist", "check", "religion", "--embedding", str(keyed), "--key", "{word}_NOUN")
    assert "judaism, protected words: 2 of 5 (more than half missing)" in said
    assert "may not stand for it" in " ".join(said.split())
    mine.write_text(mine.read_text().replace("schema = 1", "schema = 9"))
    run("wordlist", "check", str(mine), code=2)
    assert "mean cosine" in run("describe", "--embedding", "minilm-static")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["fit"], "--embedding"),
        (["fit", *VECTORS, "religoin"], "religion"),
        (["fit", "--embedding", "nowhere.txt", "--wordlist", "religion"], "nowhere.txt"),
        (["fit", *VECTORS, "religion", "--model", "crosed"], "crossed"),
        (["compare"], "--original"),
        (["sentiment"], "--predictions"),
        (["report", "nowhere", "--out", "page.html"], "nowhere"),
        (["fit", "--prob", "89"], "--prob: expected a number between 0 and 1, got 89. Give 0.89."),
        (["fit", "--draws", "0"], "--draws: "),
        (["fit", "--nope"], "See bayesbias fit --help."),
        (["score", "--bayes"], "use `bayesbias fit`"),
        (["wordlist", "show"], "NAME"),
        (["seat", "--encoder", "nope"], "--encoder: expected an encoder"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_two(arguments, named, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["bayesbias", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    said = capsys.readouterr()
    assert end.value.code == 2
    assert said.out == ""
    (line,) = said.err.splitlines()
    assert named in line


def test_a_process_ends_with_the_exit_code(tmp_path):
    command = [sys.executable, "-m", "bayesbias", "fit", *VECTORS, "religoin"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "religion" in line


def test_defaults_of_options_are_those_of_python():
    from bayesbias.cli.fit import fit
    from bayesbias.sweeps.plan import SweepPlan

    defaults = {option.name: option.default for option in fit.params}
    assert (defaults["prob"], defaults["standard_rope"]) == (PROB, STANDARD_ROPE)
    assert vars(bb.View()) == {
        "prob": PROB,
        "rope": ROPE,
        "standard_rope": STANDARD_ROPE,
        "given": frozenset(),
    }
    # The ROPE depends on the fit: the option has none, and says the rule of `default_rope`.
    rope = next(option for option in fit.params if option.name == "rope")
    assert not isinstance(rope.default, float)
    assert f"smaller of {ROPE:g} and {ROPE_IN_SDS:g} SDs" in rope.help.replace(" .", " 0.")
    for function in (SweepPlan, bb.plot_contrasts, bb.difference, bb.plots.plot_ranking):
        assert inspect.signature(function).parameters["rope"].default is None
    for function in (bb.fit, bb.compare, bb.seat, bb.wefat, SweepPlan):
        own = inspect.signature(function).parameters
        for name in {"draws", "tune", "chains", "prob"} & set(own):
            assert own[name].default == defaults[name], (function, name)


def test_a_run_of_other_inputs_is_replaced_on_demand_only(tmp_path):
    folder = str(tmp_path / "run")
    arguments = ["sentiment", "--predictions", "m1", "--figures", "none", "--out", folder]
    assert "in place" not in run(*arguments)
    assert "in place of the run" in run(*arguments, "--prob", "0.9")
    with pytest.raises(bb.InputError, match="hypotheses"):
        run(*arguments, "--hypotheses", "5")
    run(*arguments, "--hypotheses", "5", "--force")
    with pytest.raises(bb.InputError, match="kind sentiment"):
        run("wefat", "--embedding", "minilm-static", "--covariates", "x.csv", "--out", folder)
    assert run("report", folder).split() == ["Written", f"{folder}.html"]
    assert (tmp_path / "run.html").is_file()


def test_brief_json_has_the_result_only():
    text = run("fit", *VECTORS, "gender", "--controls", "2021", *QUICK, "--json=brief")
    out = json.loads(text)
    assert len(text) < 1500
    assert out["schema"] == "fit-brief-2"
    assert {"result", "verdict", "contrasts", "converged", "warnings"} <= set(out)
    assert out["contrasts"][0]["verdict"] == out["verdict"]
    assert {"contrast", "mean", "hpdi_low", "hpdi_high"} <= set(out["contrasts"][0])
    tests = json.loads(run("sentiment", "--predictions", "m1", "--json=brief"))
    assert tests["contrasts"][0]["label"] == "t-test over 400 sentence pairs"
    assert "provenance" not in json.loads(run("score", *VECTORS, "weat7", "--json=brief"))


@pytest.mark.slow
def test_the_demo_is_a_run(tmp_path):
    out = tmp_path / "demo"
    printed = run("demo", "--out", str(out))
    assert "gender in minilm-static" in printed
    assert "Own-class stereotypes are closer" in printed  # a clear finding
    assert bb.load_run(out).result.diagnostics()["ok"]


def test_a_shell_completes_commands():
    typed = {"COMP_WORDS": "bayesbias fi", "COMP_CWORD": "1"}
    given = {"_BAYESBIAS_COMPLETE": "bash_complete", **typed}
    done = CliRunner().invoke(cli, [], prog_name="bayesbias", env=given)
    assert done.stdout.split() == ["plain,fit"]


def test_limits_without_a_fit_of_sentiment_end_with_code_1(tmp_path):
    flat = bb.load_predictions("m1").frame.assign(probability=0.5)
    flat.to_csv(tmp_path / "flat.csv", index=False)
    options = ["--bayes", "--seed", "1", "--require", "F - M<1"]
    run("sentiment", "--predictions", str(tmp_path / "flat.csv"), *options, code=1)


def test_codes_of_responses_that_have_no_fit(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("race,name,score\n" + "black,a,0.2\nwhite,b,0.2\n" * 4)
    fit = ("responses", "fit", str(path))
    assert "No fit" in run(*fit)
    run(*fit, "--require", "coverage>.9")
    checks = json.loads(run(*fit, "--json", "--require", "black - white<9,converged", code=1))
    assert {each["why"] for each in checks["requirements"]} == {"no model was fitted"}
    path.write_text("race,score\nblack,0.2\nblack,0.4\n")
    with pytest.raises(bb.InputError, match="nothing to compare"):
        run(*fit)


def test_a_folder_with_other_files_is_kept(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    seat = ["seat", "--tests", "weat7", "--seed", "1", "--no-cache", "--out", str(tmp_path)]
    with pytest.raises(InputError, match=r"thesis\.txt.*--force"):
        run(*seat)
    assert "Written" in run(*seat, "--force", "--figures", "none")
    assert "Written" in run(*seat, "--figures", "none")  # a run now
    assert (tmp_path / "thesis.txt").read_text() == "mine"


@pytest.mark.parametrize(
    "command",
    [
        ("fit", *VECTORS, "gender"),
        ("compare", "--original", "minilm-static", "--postprocess", "center"),
        ("seat", "--tests", "weat7"),
        ("sentiment", "--predictions", "m1.csv"),
        ("sentiment", "train", "bow", "--data", "none.csv"),
        ("responses", "fit", "none.csv"),
        ("wefat", "--embedding", "minilm-static"),
        ("sweep", "none.toml"),
        ("describe", "--embedding", "minilm-static"),
        ("demo",),
    ],
)
def test_a_folder_that_cannot_be_written_is_refused_before_any_work(tmp_path, command):
    (tmp_path / "file").touch()
    out = tmp_path / "file" / "run"
    with pytest.raises(InputError, match="expected a folder, got a path below the file") as error:
        run(*command, "--out", str(out))
    assert str(error.value).startswith(str(out))


def test_describe_writes_into_its_own_folder_and_not_beside_other_files(tmp_path):
    vectors = np.random.default_rng(1).normal(size=(40, 12))
    np.savez(tmp_path / "small.npz", words=[f"w{i}" for i in range(40)], vectors=vectors)
    command = ("describe", "--embedding", str(tmp_path / "small.npz"))
    command += ("--out", str(tmp_path / "out"))
    run(*command)
    names = ["cosines.png", "dimensions.png", "shape.json"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names
    run(*command)
    for name in ("shape.json", "notes.txt"):
        (tmp_path / "out" / name).write_text('{"mine": 1}')
        with pytest.raises(InputError, match=f"one of describe, got one with .*{name}"):
            run(*command)
        assert (tmp_path / "out" / name).read_text() == '{"mine": 1}'
        run(*command, "--force")
    assert (tmp_path / "out" / "notes.txt").read_text() == '{"mine": 1}'
    assert "as they are" in (tmp_path / "out" / "shape.json").read_text()


def test_a_page_does_not_replace_a_file_of_its_run(tmp_path):
    given, saved = tmp_path / "given.html", tmp_path / "run"
    given.write_text("protected_word,attribute,connection,distance")
    bb.save_run(
        bb.sentiment_analysis(bb.list_predictions("m1")),
        saved,
        figures=[],
        inputs={"distances": str(given)},
    )
    linked = tmp_path / "linked.html"
    linked.symlink_to(saved / "result.txt")
    for out in (given, linked):
        before = out.read_text()
        with pytest.raises(InputError, match="--out: expected a file that is no input"):
            run("report", str(saved), "--out", str(out))
        assert out.read_text() == before
    run("report", str(saved), "--out", str(tmp_path / "page.html"))
    run("report", str(saved), "--out", str(tmp_path / "page.html"))


def test_a_sweep_first_completes_a_replacement_that_was_cut_short(tmp_path, monkeypatch):
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    plan.write_text('schema = 1\nembeddings = ["minilm-static"]\nwordlists = ["weat7"]\n')
    states = []
    result = bb.sentiment_analysis(bb.list_predictions("m1"))
    bb.save_run(result, out, figures=[])
    with monkeypatch.context() as patch:
        patch.setattr("bayesbias.output.replacing._complete", lambda folder: False)
        bb.save_run(result, out, figures=[], force=True)
    journal = out / ".bayesbias-replacement"
    assert journal.is_dir()

    def sweeping(*arguments, **options):
        states.append(journal.exists())
        raise InputError("enough")

    monkeypatch.setattr(bb, "run_sweep", sweeping)
    with (
        pytest.warns(UserWarning, match="replacing the run was cut short"),
        pytest.raises(InputError, match="enough"),
    ):
        run("sweep", str(plan), "--out", str(out), "--resume")
    assert states == [False]
