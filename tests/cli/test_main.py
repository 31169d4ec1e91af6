"""The command line: what it prints and writes, and that bad input is one message, exit code 2 and no trace."""

from __future__ import annotations

import json
import pickle
import struct
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers import monte_carlo as mc
from helpers.seeds import shifted

import bayesbias
from bayesbias.cli import main

WORDS = {
    "young": (["youth", "teen", "junior"], ["lively", "rash"]),
    "old": (["elder", "senior"], ["frail", "wise", "slow"]),
}
HUMAN, NEUTRAL = ["hand", "head", "neck"], ["door", "lamp", "leaf", "rock"]
QUICK = ["--draws", "200", "--tune", "200", "--chains", "2", "--seed", str(shifted(5))]


def wordlist_text(**changes) -> str:
    parts = {
        "name": '"age"',
        "classes": "\n".join(
            f'[[class]]\nname = "{name}"\nprotected = {protected}\nattributes = {attributes}'
            for name, (protected, attributes) in WORDS.items()
        ),
        "human": str(HUMAN),
        "neutral": str(NEUTRAL),
    } | changes
    return (
        f'schema = 1\nname = {parts["name"]}\ntitle = "Age"\nlanguage = "en"\nsource = "these tests"\n'
        f"edits = []\ndisagreements = []\n[controls]\nhuman = {parts['human']}\nneutral = {parts['neutral']}\n"
        f"{parts['classes']}\n"
    )


def listed() -> list[str]:
    classes = [word for group in WORDS.values() for words in group for word in words]
    return [*classes, *HUMAN, *NEUTRAL]


def vectors() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(12)
    out = {word: np.round(rng.normal(size=8), 4) for word in listed()}
    for protected, attributes in WORDS.values():
        for attribute in attributes:
            out[attribute] = np.round(out[attribute] + 0.4 * sum(out[word] for word in protected), 4)
    return out


def vector_text(x: dict[str, np.ndarray], header: str | None = None) -> str:
    lines = [f"{word} {' '.join(map(str, row))}" for word, row in x.items()]
    return "\n".join([header or f"{len(x)} 8", *lines]) + "\n"


@pytest.fixture(scope="session")
def files(tmp_path_factory) -> Path:
    """A folder with a word list, vectors, the table they make, and a model."""
    folder = tmp_path_factory.mktemp("input")
    (folder / "age.toml").write_text(wordlist_text(), encoding="utf-8")
    (folder / "vectors.txt").write_text(vector_text(vectors()), encoding="utf-8")
    table = bayesbias.distance_table(str(folder / "vectors.txt"), str(folder / "age.toml"))
    table.save(folder / "pairs.csv")
    spec = bayesbias.load_model("crossed")
    (folder / "own.toml").write_text(spec.text.replace('name = "crossed"', 'name = "own"'), encoding="utf-8")
    return folder


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command in this process; return exit code, stdout and stderr."""

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["bayesbias", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main.main()
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return call


@pytest.fixture
def refused(run, tmp_path):
    """Run a fit that must be refused: one message, nothing printed, nothing written."""

    def call(*arguments: object, said: str | list[str] = "") -> str:
        out = tmp_path / "out"
        code, printed, message = run("fit", *arguments, *QUICK, "--out", out)
        assert code == 2, message
        assert printed == ""
        assert message.startswith("bayesbias: "), message
        assert message.count("\n") == 1, message
        assert "Traceback" not in message
        missing = [part for part in ([said] if isinstance(said, str) else said) if part not in message]
        assert not missing, message
        assert not out.exists()
        return message

    return call


# -- fit -------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def printed(files) -> subprocess.CompletedProcess:
    """The whole command, as a user runs it, in a process of its own."""
    command = [sys.executable, "-m", "bayesbias.cli", "fit", "--json", *QUICK]
    command += ["--embedding", str(files / "vectors.txt"), "--wordlist", str(files / "age.toml")]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


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
    assert list(found) == [
        "model", "summary", "words", "contrasts", "parameters", "diagnostics", "coverage", "provenance", "timing",
        "shortcomings", "finding", "findings",
    ]  # fmt: skip
    assert found["model"] == "crossed"
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
        "parameters": direct.parameters(),
    }.items():
        pd.testing.assert_frame_equal(
            pd.DataFrame(found[key]), frame[list(found[key][0])], check_dtype=False, rtol=1e-12, atol=1e-14
        )
    assert {row["level"] for row in found["contrasts"]} == {"overall", "class", "word"}
    assert {row["estimand"] for row in found["contrasts"]} == {"population", "these_words"}
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
        numbers = [f"{x:.3f}" for x in (row.mean, row.sd, row.hpdi_low, row.hpdi_high)]
        assert [n for n in line.split() if n[0].isdigit() and "." in n] == numbers
        assert line.split()[-1] == str(row.n_pairs)
    assert "population" in out
    assert "these_words" in out
    problems = direct.diagnostics()["problems"]
    assert problems
    for problem in problems:
        assert f"NOT TO BE TRUSTED YET: {problem}" in out
    assert "converged" not in out
    assert "\npairs: no conclusion, since the sampler cannot be believed yet" in out


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

FIGURES = ("connections", "contrasts", "contrasts_class", "contrasts_word", "predictive", "priors", "words")


@pytest.fixture
def no_figures(monkeypatch):
    """Leave the drawing out, which takes seconds and is tested elsewhere."""
    from bayesbias.figures import saving

    def draw(result, folder, **_):
        folder.mkdir()
        (folder / "one.svg").write_text("<svg/>")
        return [folder / "one.svg"]

    monkeypatch.setattr(saving, "save_figures", draw)


@pytest.fixture
def fitted_before(monkeypatch, direct):
    monkeypatch.setattr(bayesbias, "fit", lambda *_, **__: direct)


def files_of_a_run(*figures: str) -> set[str]:
    names = {"pairs.csv", "fit.nc", "provenance.json", "result.txt", "run.json"}
    names |= {f"{name}.csv" for name in ("summary", "words", "contrasts", "parameters", "coverage")}
    return names | {f"figures/{name}" for name in figures}


def assert_written(out: Path, text: str, direct, *figures: str) -> None:
    names = files_of_a_run(*figures)
    assert {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()} == names
    assert [path for path in out.iterdir() if path.name.startswith(".")] == []
    assert all(f"{out}/{name}" in text for name in names)
    for name in ("summary", "words", "contrasts", "parameters"):
        frame = pd.read_csv(out / f"{name}.csv", keep_default_na=False)
        pd.testing.assert_frame_equal(frame, getattr(direct, name)(), check_dtype=False, rtol=1e-12)
    pairs = bayesbias.read_distances(out / "pairs.csv").frame
    assert pairs["distance"].tolist() == direct.table["distance"].tolist()
    back = bayesbias.load_fit(out / "fit.nc")
    pd.testing.assert_frame_equal(back.contrasts(), direct.contrasts(), check_exact=True)
    provenance = json.loads((out / "provenance.json").read_text())
    assert provenance == json.loads(json.dumps(back.provenance))
    assert provenance["sampler"]["seed"] == shifted(5)
    coverage = pd.read_csv(out / "coverage.csv", keep_default_na=False)
    assert coverage["listed"].tolist() == [3, 2, 2, 3, 3, 4]


@pytest.mark.usefixtures("no_figures")
def test_out_holds_table_fit_and_summaries(run, files, tmp_path, direct):
    out = tmp_path / "deep" / "run"
    code, text, err = run("fit", "--distances", files / "pairs.csv", "--out", out, *QUICK)
    assert (code, err) == (0, "")
    assert_written(out, text, direct, "one.svg")


@pytest.mark.slow
def test_out_holds_figures_too(files, tmp_path, direct):
    out = tmp_path / "run"
    command = [sys.executable, "-m", "bayesbias.cli", "fit", "--distances", str(files / "pairs.csv")]
    done = subprocess.run(
        [*command, "--out", str(out), *QUICK], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert_written(
        out, done.stdout, direct, *(f"{name}.{kind}" for name in FIGURES for kind in ("png", "svg"))
    )
    for name in FIGURES:
        assert (out / f"figures/{name}.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        assert "<svg" in (out / f"figures/{name}.svg").read_text(encoding="utf-8")[:2000]


@pytest.mark.usefixtures("no_figures", "fitted_before")
@pytest.mark.parametrize("fails_at", ["pairs.csv", "fit.nc", "words.csv", "provenance.json", "one.svg"])
def test_a_disk_that_is_full_leaves_nothing_and_old_files_alone(run, files, tmp_path, monkeypatch, fails_at):
    from bayesbias.basics import files as files_room
    from bayesbias.figures import saving

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


@pytest.mark.slow
@pytest.mark.usefixtures("no_figures")
def test_a_second_run_replaces_the_first(run, files, tmp_path):
    arguments = ["fit", "--distances", files / "pairs.csv", "--out", tmp_path / "run", *QUICK]
    assert run(*arguments, "--model", "additive")[0] == 0
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


# -- bad input -------------------------------------------------------------------------------------


def binary(x: dict[str, np.ndarray]) -> bytes:
    body = b"".join(w.encode() + b" " + struct.pack("<8f", *row) + b"\n" for w, row in x.items())
    return f"{len(x)} 8\n".encode() + body


def changed(word: str, text: str) -> str:
    """The vectors with the line of one word replaced."""
    lines = vector_text(vectors()).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(word + " "))
    lines[at] = text
    return "\n".join(lines) + "\n"


ROW = "0.1 0.2 0.3 0.4 0.5 0.6 0.7"  # seven numbers
BAD_VECTORS = {
    "truncated binary": ("v.bin", binary(vectors())[:-30], ["v.bin"]),
    "truncated word2vec text": ("v.txt", vector_text(vectors(), "40 8"), ["v.txt", "40"]),
    "header counts too few": ("v.txt", vector_text(vectors(), "3 8"), ["v.txt"]),
    "header of another dimension": ("v.txt", vector_text(vectors(), "17 9"), ["v.txt"]),
    "NaN": ("v.txt", changed("teen", f"teen {ROW} nan"), ["v.txt", "teen"]),
    "infinite": ("v.txt", changed("lamp", f"lamp {ROW} inf"), ["v.txt", "lamp"]),
    "only zeros": ("v.txt", changed("wise", "wise" + " 0" * 8), ["v.txt", "wise", "zero"]),
    "a word twice": ("v.txt", changed("rock", f"door {ROW} 1"), ["v.txt", "door"]),
    "a number short": ("v.txt", changed("slow", f"slow {ROW}"), ["v.txt", "line"]),
    "not a number": ("v.txt", changed("slow", f"slow {ROW} x"), ["v.txt", "line"]),
    "not UTF-8": (
        "v.txt",
        changed("rock", f"r?ck {ROW} 1").encode().replace(b"r?ck", b"r\xf6ck"),
        ["v.txt", "UTF-8"],
    ),
    "empty": ("v.txt", b"", ["v.txt"]),
    "none of the words": ("v.txt", "2 2\nuno 1 2\ndue 3 4\n", ["none of", "words"]),
    "a picture": ("v.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4, ["v.png"]),
    "a pickle": ("v.model", pickle.dumps({"a": [1.0]}), ["v.model", "pickle", "allow", "runs code"]),
    "a class out of vocabulary": (
        "v.txt",
        vector_text({w: r for w, r in vectors().items() if w not in ("elder", "senior")}),
        ["'old'", "elder, senior"],
    ),
    "a control list out of vocabulary": (
        "v.txt",
        vector_text({w: r for w, r in vectors().items() if w not in HUMAN}),
        ["'human'", "hand, head, neck"],
    ),
}


@pytest.mark.parametrize("case", list(BAD_VECTORS))
def test_bad_vectors(case, refused, files, tmp_path):
    name, content, said = BAD_VECTORS[case]
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    if "out of vocabulary" in case:
        said = [*said, "v"]
    refused("--embedding", tmp_path / name, "--wordlist", files / "age.toml", said=said)
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_vectors_that_are_not_there(refused, files, tmp_path):
    lists = ["--wordlist", files / "age.toml"]
    refused("--embedding", tmp_path, *lists, said="folder")
    refused("--embedding", tmp_path / "none.txt", *lists, said="none.txt")
    refused("--embedding", files / "vectorz.txt", *lists, said="vectors.txt")
    refused("--embedding", "minilm-statik", *lists, said="minilm-static")


def classes(**groups: tuple[list[str], list[str]]) -> str:
    return "\n".join(
        f'[[class]]\nname = "{name}"\nprotected = {protected}\nattributes = {attributes}'
        for name, (protected, attributes) in groups.items()
    )


BAD_LISTS = {
    "empty list": (wordlist_text(classes=classes(young=([], ["rash", "wise"]), old=WORDS["old"])), "young"),
    "no classes": (wordlist_text(classes=""), "class"),
    "one word in a class": (
        wordlist_text(classes=classes(young=(["teen"], ["rash", "lively"]), old=WORDS["old"])),
        "young",
    ),
    "one attribute": (
        wordlist_text(classes=classes(young=(["teen", "youth"], ["rash"]), old=WORDS["old"])),
        "young",
    ),
    "a word twice": (
        wordlist_text(classes=classes(young=(["teen", "teen"], ["rash", "lively"]), old=WORDS["old"])),
        "'teen'",
    ),
    "unknown key": (wordlist_text() + "atributes = []\n", "did you mean 'attributes'?"),
    "not TOML": (wordlist_text() + "= 3\n", "TOML"),
    "not UTF-8": (wordlist_text().encode().replace(b"Age", b"\xc4ge"), "UTF-8"),
}


@pytest.mark.parametrize("case", list(BAD_LISTS))
def test_bad_word_lists(case, refused, run, files, tmp_path):
    content, said = BAD_LISTS[case]
    path = tmp_path / "bad.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    refused("--embedding", files / "vectors.txt", "--wordlist", path, said=["bad.toml", said])
    code, out, err = run("check-wordlist", path)
    assert (code, out) == (2, "")
    assert all(line.startswith("bayesbias: ") and "bad.toml" in line for line in err.splitlines())
    assert said in err


BAD_MODELS = {
    "unknown key": ("lam = 2", "lamda = 2", ["[parameter.csd]", "'lamda'", "did you mean 'lam'?"]),
    "unknown distribution": ("Exponential", "Exponental", ["[parameter.csd]", "did you mean 'Exponential'?"]),
    "circle": ("mu = 1", 'mu = "c"', ["circle", "c -> cbar -> c"]),
    "a column that is not there": ('"attribute"', '"attribut"', ["'attribut'", "did you mean 'attribute'?"]),
    "NaN": ("lam = 2", "lam = nan", ["[parameter.csd], key lam", "finite"]),
    "not TOML": ("schema = 1", "schema 1", ["line 1"]),
}


@pytest.mark.parametrize("case", list(BAD_MODELS))
def test_bad_models(case, refused, files, tmp_path):
    old, new, said = BAD_MODELS[case]
    text = (files / "own.toml").read_text(encoding="utf-8")
    path = tmp_path / "bad.toml"
    path.write_text(
        text.replace(old, new, 1) if old != '"attribute"' else text.replace(old, new), encoding="utf-8"
    )
    refused("--distances", files / "pairs.csv", "--model", path, said=said)


def test_names_that_are_unknown(refused, files):
    table = ["--distances", files / "pairs.csv"]
    vectors = ["--embedding", files / "vectors.txt"]
    refused(*table, "--model", "crosed", said="did you mean 'crossed'?")
    refused(*vectors, "--wordlist", "religon", said="did you mean 'religion'?")
    refused(*vectors, "--wordlist", files / "age.toml", "--controls", "2020", said=["'2020'", "2021, 2022"])


def test_settings_that_contradict_each_other(refused, files):
    refused(said="--embedding E --wordlist W, or --distances FILE")
    refused("--embedding", "minilm-static", said="--wordlist W")
    refused("--wordlist", "religion", said="--embedding E")
    table = ["--distances", files / "pairs.csv"]
    refused(*table, "--embedding", "minilm-static", said="stands alone")
    refused(*table, "--wordlist", "religion", said="stands alone")
    refused(*table, "--controls", "2022", said="stands alone")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.replace("distance", "dist", 1), ["'distance' is missing", "valid: protected_word"]),
        (lambda t: t.replace(",associated,0", ",associated,far0", 1), ["line 2, column distance", "'far0"]),
        (lambda t: t.replace(",associated,", ",asociated,", 1), ["line 2", "did you mean 'associated'?"]),
        (lambda t: "", ["is empty", "protected_word"]),
    ],
)
def test_bad_tables(change, said, refused, files, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text(change((files / "pairs.csv").read_text()))
    refused("--distances", path, said=["bad.csv", *said])


def test_tables_that_are_not_there(refused, files, tmp_path):
    refused("--distances", tmp_path, said="is a folder")
    refused("--distances", files / "pair.csv", said="did you mean 'pairs.csv'?")
    refused("--distances", tmp_path / ("x" * 300 + ".csv"), said="File name too long")


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "--draws", "0"],
        ["fit", "--chains", "none"],
        ["fit", "--seed", "-1"],
        ["fit", "--prob", "1"],
        ["fit", "--rope", "0"],
        ["fit", "--repeats", "twice"],
        ["fit", "--modle", "crossed"],
        ["list", "things"],
        ["fitt"],
    ],
)
def test_usage_errors_go_to_stderr_with_code_2(arguments, run):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert "Error: " in err
    assert "Traceback" not in err


def test_a_process_ends_with_code_2_and_no_traceback(files):
    command = [sys.executable, "-m", "bayesbias.cli", "fit", "--json", "--distances", str(files / "none.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("bayesbias: ")
    assert done.stderr.count("\n") == 1


# -- the other commands ----------------------------------------------------------------------------


def test_list(run):
    code, out, err = run("list", "models")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == bayesbias.models.shipped_models()
    for line in out.splitlines():
        assert bayesbias.load_model(line.split()[0]).description in line
    out = run("list", "wordlists")[1]
    names = [line.split()[0] for line in out.splitlines()]
    assert names[:-2] == bayesbias.words.shipped_wordlists()
    assert out.splitlines()[-2:] == ["controls: 2021, 2022, none", "for `bayesbias sentiment`: occupations"]
    assert bayesbias.load_wordlist("weat3b").title in out
    out = run("list", "embeddings")[1]
    assert out.startswith("minilm-static")
    assert "word2vec" in out


def test_show(run, files):
    assert "0.5 / sqrt(J + 4)" in run("show", "additive")[1]
    for name in bayesbias.models.shipped_models():
        out = run("show", name)[1]
        spec = bayesbias.load_model(name)
        assert out == spec.text  # so that `show NAME > mine.toml` is a model file
        assert tomllib.loads(out)["description"] == spec.description
    out = run("show", "religion")[1]
    words = bayesbias.load_wordlist("religion")
    for group in words.classes:
        assert f"{group.name} ({len(group.protected)}): {', '.join(group.protected)}" in out
        assert f"({len(group.attributes)}): {', '.join(group.attributes)}" in out
    assert "85 human, 226 neutral" in out
    out = run("show", "2021")[1]
    assert "human (27): " in out
    assert "neutral (242): " in out
    assert "Apache-2.0" in run("show", "minilm-static")[1]
    assert run("show", files / "own.toml")[1].startswith("schema = 1")
    assert run("show", files / "age.toml")[1].startswith("age: Age")
    code, out, err = run("show", "religon")
    assert (code, out) == (2, "")
    assert "did you mean 'religion'?" in err
    assert run("show", files / "pairs.csv")[0] == 2
    assert run("show", files)[0] == 2


def test_every_shipped_list_can_be_shown(run):
    for name in bayesbias.words.shipped_wordlists():
        code, out, err = run("show", name)
        assert (code, err) == (0, "")
        assert out.startswith(f"{name}: ")


def test_the_template_starts_a_list_of_ones_own(run, tmp_path):
    code, out, _ = run("show", "template")
    assert code == 0
    path = tmp_path / "mine.toml"
    path.write_text(out, encoding="utf-8")
    code, out, err = run("check-wordlist", path)
    assert (code, out) == (2, "")
    assert err.count("\n") > 3
    for name, (protected, attributes) in WORDS.items():
        text = path.read_text(encoding="utf-8").replace("protected = []", f"protected = {protected}", 1)
        text = text.replace("attributes = []", f"attributes = {attributes}", 1)
        at = text.index("[[class]]") if name == "young" else text.rindex("[[class]]")
        text = text[:at] + text[at:].replace('name = ""', f'name = "{name}"', 1)
        path.write_text(text, encoding="utf-8")
    text = path.read_text(encoding="utf-8")
    for key in ("name", "title", "language", "source"):
        text = text.replace(f'{key} = ""', f'{key} = "x"', 1)
    path.write_text(text, encoding="utf-8")
    code, out, err = run("check-wordlist", path)
    assert (code, err) == (0, "")
    assert "5 protected words, 5 stereotypes, 311 controls" in out


def test_check_wordlist_names_every_problem_at_once(run, tmp_path):
    text = wordlist_text(
        classes=classes(young=(["teen"], ["rash"]), old=(["elder", "elder"], ["slow", "wise"]))
    )
    path = tmp_path / "bad.toml"
    path.write_text(text, encoding="utf-8")
    code, out, err = run("check-wordlist", path)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 3
    path.write_text(wordlist_text(), encoding="utf-8")
    code, out, err = run("check-wordlist", path)
    assert (code, err) == (0, "")
    assert "5 protected words, 5 stereotypes, 7 controls" in out


def test_version_and_help(run):
    assert run("--version")[1] == f"bayesbias, version {bayesbias.__version__}\n"
    code, out, err = run("--help")
    assert (code, err) == (0, "")
    assert run("-h")[1] == out
    for command in ("demo", "fit", "list", "show", "check-wordlist"):
        assert command in out
    out = run("fit", "--help")[1]
    for option in (
        "--embedding", "--wordlist", "--distances", "--model", "--controls", "--seed", "--draws", "--tune", "--chains",
        "--out", "--json",
    ):  # fmt: skip
        assert option in out


def test_a_full_stdout_is_an_error_and_no_traceback(files):
    device = Path("/dev/full")
    if not device.exists():
        pytest.skip("this system has no device that is always full")
    with open(device, "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "bayesbias.cli", "show", "template"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60,
        )  # fmt: skip
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
