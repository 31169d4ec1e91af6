"""The command line as a whole: usage, version, help, and how a process ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner
from helpers.places import ROOT

import bayesbias
from bayesbias.cli.main import TASKS, cli


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "--draws", "0"],
        ["fit", "--chains", "none"],
        ["fit", "--seed", "-1"],
        ["fit", "--prob", "1"],
        ["fit", "--rope", "0"],
        ["fit", "--rope", "1e400"],
        ["fit", "--standard-rope", "nan"],
        ["report", "run", "--out", "x.html", "--rope", "inf"],
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


@pytest.mark.parametrize(
    "arguments", [["fit", "--seed", "9" * 5000], ["x" * 5000], ["fit", "--" + "x" * 5000]]
)
def test_what_was_typed_is_not_repeated_without_end(arguments, run):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert len(err) < 500


@pytest.mark.slow
def test_a_process_ends_with_code_2_and_no_traceback(files):
    command = [sys.executable, "-m", "bayesbias.cli", "fit", "--json", "--distances", str(files / "none.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("bayesbias: ")
    assert done.stderr.count("\n") == 1


def test_version_and_help(run):
    assert run("--version")[1] == f"bayesbias, version {bayesbias.__version__}\n"
    code, out, err = run("--help")
    assert "..." not in out.partition("Begin:")[2]  # no first sentence is cut
    assert max(map(len, out.splitlines())) <= 80
    assert out.rstrip().endswith("Begin with: bayesbias demo")
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


def test_the_help_has_every_command_once_below_its_task():
    listed = [command.name for commands in TASKS.values() for command in commands]
    assert sorted(listed) == sorted(cli.commands)
    shown = CliRunner().invoke(cli, ["--help"]).stdout
    heads = re.findall(r"^(\S.*):$", shown, re.MULTILINE)
    assert heads == ["Options", *TASKS]
    for task, commands in TASKS.items():
        below = shown.partition(f"\n{task}:\n")[2].partition("\n\n")[0]
        assert [line.split()[0] for line in below.splitlines()] == [command.name for command in commands]


def test_the_shell_completes_commands_and_options():
    complete = BashComplete(cli, {}, "bayesbias", "_BAYESBIAS_COMPLETE").get_completions
    assert [item.value for item in complete([], "che")] == ["check-wordlist"]
    assert [item.value for item in complete(["fit"], "--emb")] == ["--embedding"]
    assert [item.value for item in complete(["fit", "--engine"], "")] == ["nuts", "quick"]
    # By the line that help and README give, from a process as the shell starts it.
    line = 'eval "$(_BAYESBIAS_COMPLETE=bash_source bayesbias)"'
    assert line in CliRunner().invoke(cli, ["--help"]).stdout
    assert line in (ROOT / "README.md").read_text(encoding="utf-8")
    asked = {"_BAYESBIAS_COMPLETE": "bash_complete", "COMP_WORDS": "bayesbias swee", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "bayesbias"],
        env={**os.environ, **asked, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=600, check=True,
    )  # fmt: skip
    assert done.stdout == "plain,sweep\n"


@pytest.mark.slow
def test_a_full_stdout_is_an_error_and_no_traceback(files):
    device = Path("/dev/full")
    if not device.exists():
        pytest.skip("this system has no device that is always full")
    with open(device, "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "bayesbias.cli", "show", "template"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=600,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "bayesbias: output: No space left on device\n"


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs a shell that closes a stream")
def test_a_closed_stdout_is_an_error():
    shell = ["sh", "-c", 'exec "$0" -m bayesbias.cli list models >&-', sys.executable]
    done = subprocess.run(shell, capture_output=True, text=True, check=False, timeout=600)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("bayesbias: standard output is closed; ")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "bayesbias: there is not enough memory\n"),
        (ImportError("x.so: failed\nto map"), "bayesbias: a library cannot be loaded: x.so: failed to map\n"),
    ],
)
def test_a_machine_that_has_no_memory_left_is_said_in_one_line(error, said, run, monkeypatch):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr(cli.commands["list"], "callback", fails)
    assert run("list", "models") == (2, "", said)


def test_nothing_that_a_command_reads_is_replaced_by_what_it_writes(run, tmp_path):
    """A word list of one's own had been replaced by vectors."""
    vectors, listed = tmp_path / "v.txt", tmp_path / "listed"
    vectors.write_text("she 1 2\nhe 2 1\n")
    listed.write_text("schema = 1")
    (tmp_path / "same.txt").symlink_to(vectors)
    for given, out in (
        ("--embedding", tmp_path / "same.txt"),
        ("--wordlist", listed),
        ("--controls", listed),
    ):
        named = {
            "--embedding": vectors,
            "--wordlist": "gender",
            given: vectors if "e" in given[2:3] else listed,
        }
        was = out.read_text()
        code, _, err = run("debias", *[str(x) for pair in named.items() for x in pair], "--out", out)
        assert (code, out.read_text()) == (2, was)
        assert err == f"bayesbias: --out: is what {given} reads; found: '{out}'; name another file\n"
    test = tmp_path / "weat6.jsonl"
    assert run("seat", "sentences", "weat6", "--out", test)[0] == 0
    was = test.read_text()
    code, _, err = run("seat", "sentences", test, "--parts", "--out", test)
    assert (code, test.read_text()) == (2, was)
    code, _, err = run("seat", "sentences", "weat6", "--out", tmp_path / "weat6.toml")
    assert (code, "valid: a .jsonl or .json file" in err) == (2, True)


@pytest.mark.parametrize(
    ("variable", "value", "loaded", "said"),
    [
        ("MPLBACKEND", "nonsense", "matplotlib", ""),
        (
            "NUMBA_NUM_THREADS",
            "0",
            "bayesbias.inference.kernel",
            "bayesbias: NUMBA_NUM_THREADS: numba refuses what the environment asks of it",
        ),
    ],
)
def test_what_the_environment_asks_of_libraries(variable, value, loaded, said):
    """Figures are saved without a screen whatever is set; what a library refuses is one line that names the variable."""
    program = (
        "import importlib; from bayesbias.cli import main as command\n"
        f"command.cli = lambda **_: importlib.import_module({loaded!r}) and 0\ncommand.main()"
    )
    # What is set for numba besides, such as its processor, would be named too.
    others = {name: given for name, given in os.environ.items() if not name.startswith("NUMBA_")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=others | {variable: value},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.stderr.startswith(said)
    assert (done.returncode, len(done.stderr.splitlines())) == ((2, 1) if said else (0, 0))


def test_a_command_leaves_the_backend_of_figures_as_it_was(run, monkeypatch):
    monkeypatch.delenv("MPLBACKEND", raising=False)
    run("list", "wordlists")
    assert "MPLBACKEND" not in os.environ
    monkeypatch.setenv("MPLBACKEND", "svg")
    run("show", "nothing-of-that-name")
    assert os.environ["MPLBACKEND"] == "svg"


def test_where_nothing_can_be_written_is_said_before_the_work(run, tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    # What is to be read is not there either, which would be said where it is read.
    for command in (("debias", "--embedding", "nowhere.txt", "--wordlist", "gender"), ("report", "nowhere")):
        out = tmp_path / "loop" / ("x.txt" if command[0] == "debias" else "x.html")
        code, _, err = run(*command, "--out", out)
        assert code == 2
        assert f"{out}: cannot be written: Too many levels of symbolic links" in err


@pytest.mark.skipif(os.name == "nt", reason="pipes of this kind are not those of Windows")
@pytest.mark.parametrize(
    "words", [["show", "religion"], ["measure", "--embedding", "minilm-static", "--wordlist", "weat7"]]
)
def test_a_pipe_that_nobody_reads_is_no_failed_test(words):
    """It ended with 1, which says that some tests failed."""
    with subprocess.Popen(
        [sys.executable, "-m", "bayesbias", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        error = process.stderr.read()
    assert process.returncode == 141
    assert b"Traceback" not in error
    assert b"bayesbias:" not in error


def test_a_date_of_the_environment_that_is_none_is_said():
    """Libraries threw while they were imported."""
    done = subprocess.run(
        [sys.executable, "-m", "bayesbias", "models"],
        env={**os.environ, "SOURCE_DATE_EPOCH": "abc"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == "bayesbias: SOURCE_DATE_EPOCH in the environment is no number of seconds; found: 'abc'\n"
    )


@pytest.mark.skipif(os.name == "nt", reason="Windows knows these signals otherwise")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_process_that_is_asked_to_end_takes_back_what_is_half_done(name, tmp_path):
    """By Ctrl-C, a scheduler or a closed terminal; 1 would say that a limit was not met."""
    number = getattr(signal, name)
    script = (
        "import os, signal, time, click\n"
        "from bayesbias.core.files import whole_file\n"
        "from bayesbias.cli import main\n"
        "@click.command()\n"
        "def command():\n"
        "    with whole_file('out.csv') as temporary:\n"
        "        temporary.write_text('half')\n"
        f"        os.kill(os.getpid(), {int(number)})\n"
        "        time.sleep(60)\n"
        "main.cli = command\n"
        "main.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600
    )
    assert (done.returncode, done.stdout) == (128 + number, "")
    assert done.stderr.strip() == "Aborted!"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows knows these signals otherwise")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("imported", [True, False])
def test_a_library_that_passes_over_whatever_is_thrown_keeps_no_signal_from_its_end(name, imported, tmp_path):
    """Where it is imported the signal waits; else the command goes on, and does not end with 0."""
    number = getattr(signal, name)
    swallowing = (
        "import os, signal, time\n"
        "try:\n"
        f"    os.kill(os.getpid(), {int(number)})\n"
        "    time.sleep(0.2)\n"
        "except BaseException:\n"
        "    pass\n"
    )
    (tmp_path / "swallowing.py").write_text(swallowing)
    script = (
        "import time, click\n"
        "from bayesbias.cli import main\n"
        "@click.command()\n"
        "def command():\n"
        f"    {'import swallowing' if imported else f'exec({swallowing!r})'}\n"
        "    time.sleep(0.3)\n"
        "    print('through')\n"
        "main.cli = command\n"
        "main.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600
    )
    assert (done.returncode, done.stdout) == (128 + number, "" if imported else "through\n")


@pytest.mark.skipif(os.name == "nt", reason="a shell of Windows passes no signal over")
def test_a_signal_that_is_to_be_passed_over_is(tmp_path):
    script = (
        "import os, signal, click\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"  # as nohup does
        "from bayesbias.cli import main\n"
        "@click.command()\n"
        "def command():\n"
        "    os.kill(os.getpid(), signal.SIGHUP)\n"
        "    print('through')\n"
        "main.cli = command\n"
        "main.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "through\n", "")
