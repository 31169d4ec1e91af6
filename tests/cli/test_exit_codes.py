"""How a command ends: its exit code and its one line, also where it is stopped or fails."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.cli import inspect
from bayesbias.cli.main import main
from bayesbias.core.files import whole_file
from bayesbias.output.store import Run

STOPPED = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
START = "import os, signal, threading, time\nfrom bayesbias.cli.main import main\n"
PLAN = """schema = 1
embeddings = ["minilm-static"]
wordlists = ["weat6", "weat7"]
controls = ["none"]
[settings]
seed = [1, 2, 3, 4, 5, 6]
draws = 250
"""


def ended(monkeypatch, capsys, action, *arguments):
    """Return the exit code of a command that does this, and its lines on stderr."""
    if action is not None:
        monkeypatch.setattr(inspect.describe, "callback", lambda **given: action())
    monkeypatch.setattr(sys, "argv", ["bayesbias", *(arguments or ("describe",))])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code, capsys.readouterr().err.splitlines()


def raiser(error):
    def action():
        raise error

    return action


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (EOFError(), 3, "the program failed (EOFError"),
        (KeyError("x"), 3, "the program failed (KeyError: 'x')"),
        (RecursionError("maximum recursion depth exceeded"), 3, "RecursionError: maximum"),
        (BaseException("a panic"), 3, "BaseException: a panic"),
        (MemoryError(), 3, "not enough memory. Give fewer draws"),
        (MemoryError("Unable to allocate 9 GiB"), 3, "memory (Unable to allocate 9 GiB)."),
        (RuntimeError("can't start new thread"), 3, "the system refused a resource"),
        (BlockingIOError(11, "Resource temporarily unavailable"), 3, "the system refused"),
        (bb.ResourceError("the worker process died 2 times"), 3, "process died 2 times"),
        (bb.FitError("nothing to model"), 2, "nothing to model"),
        (OSError(28, "No space left on device"), 2, "No space left on device"),
        (FileNotFoundError(2, "No such file or directory", "a.txt"), 2, "a.txt: No such file"),
    ],
)
def test_every_error_is_one_line(monkeypatch, capsys, error, code, words):
    found, lines = ended(monkeypatch, capsys, raiser(error))
    assert found == code
    (line,) = lines
    assert line.startswith("bayesbias: ")
    assert words in line


def test_a_failure_says_how_to_report_it_and_shows_its_traceback_on_demand(monkeypatch, capsys):
    _, (line,) = ended(monkeypatch, capsys, raiser(KeyError("x")))
    assert "report" in line
    monkeypatch.setenv("BAYESBIAS_TRACEBACK", "1")
    _, lines = ended(monkeypatch, capsys, raiser(KeyError("x")))
    assert lines[0].startswith("Traceback")
    assert lines[-1] == line


@pytest.mark.parametrize(("number", "code"), STOPPED)
def test_a_stopped_command_removes_its_unfinished_files(
    monkeypatch, capsys, tmp_path, number, code
):
    def action():
        with whole_file(tmp_path / "out.txt") as unfinished:
            unfinished.write_text("half")
            os.kill(os.getpid(), number)
            time.sleep(60)

    found, lines = ended(monkeypatch, capsys, action)
    assert found == code
    assert lines == ["Stopped. Nothing was written."]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("number", "code"), STOPPED)
def test_a_command_that_is_stopped_after_it_wrote_says_so(
    monkeypatch, capsys, tmp_path, number, code
):
    out = tmp_path / "page.html"

    def write(*arguments, **options):
        out.write_text("page")
        os.kill(os.getpid(), number)
        time.sleep(60)

    monkeypatch.setattr("bayesbias.load_run", lambda run: Run(None, bb.View(), ""))
    monkeypatch.setattr("bayesbias.write_report", write)
    found, lines = ended(monkeypatch, capsys, None, "report", "run", "--out", str(out))
    assert found == code
    assert lines == [f"Stopped. {out} was already written."]


@pytest.mark.parametrize(("number", "code"), STOPPED)
def test_a_signal_while_libraries_are_imported_is_one_line(tmp_path, number, code):
    """The library is one that stops the process that imports it."""
    library = tmp_path / "click.py"
    library.write_text(f"import os, time\nos.kill(os.getpid(), {int(number)})\ntime.sleep(60)\n")
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "bayesbias", "wordlist", "list"]
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.stderr == "Stopped. Nothing was written.\n"
    assert (done.returncode, done.stdout) == (code, "")


def test_signals_are_as_before_in_a_program_that_runs_a_command(monkeypatch, capsys):
    before = [signal.getsignal(number) for number, _ in STOPPED]
    ended(monkeypatch, capsys, lambda: None)
    assert [signal.getsignal(number) for number, _ in STOPPED] == before


def test_a_closed_pipe_ends_without_a_word():
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "bayesbias", "wordlist", "show", "gender"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_full_disk_behind_the_output_is_one_line():
    if not Path("/dev/full").exists():
        pytest.skip("the system has no /dev/full")
    command = [sys.executable, "-m", "bayesbias", "wordlist", "list"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (2, b"bayesbias: No space left on device\n")


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), STOPPED)
@pytest.mark.parametrize("phase", ["import", "compile", "sampling"])
def test_a_fit_stops_at_once(tmp_path, number, code, phase):
    after = {
        "import": "signal_soon(0.2)",
        "compile": (
            "import bayesbias.inference.compiling as c; from numba.core import compiler as n\n"
            "compile_extra = n.compile_extra\n"
            "def slow(*a, **b):\n    signal_soon(0); return compile_extra(*a, **b)\n"
            "n.compile_extra = slow"
        ),
        "sampling": (
            "import bayesbias.inference.sampling as s\n"
            "nuts = s.nuts\n"
            "def slow(*a):\n    signal_soon(2); return nuts(*a)\n"
            "s.nuts = slow"
        ),
    }[phase]
    script = (
        f"{START}\ndef signal_soon(seconds):\n"
        f"    threading.Timer(seconds, os.kill, [os.getpid(), {int(number)}]).start()\n{after}\nmain()"
    )
    arguments = ["--embedding", "minilm-static", "--wordlist", "gender", "--seed", "1"]
    arguments += ["--tune", "2000000", "--out", str(tmp_path / "run")]
    environment = dict(os.environ)
    if phase == "compile":
        environment["NUMBA_CACHE_DIR"] = str(tmp_path / "code")
    command = [sys.executable, "-c", script, "fit", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.stderr == "Stopped. Nothing was written.\n"
    assert (done.returncode, done.stdout) == (code, "")
    assert {path.name for path in tmp_path.iterdir()} <= {"code"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code", "workers"),
    [
        (signal.SIGINT, 130, "2"),
        (signal.SIGTERM, 143, "1"),
        pytest.param(signal.SIGINT, 130, "1", marks=pytest.mark.full),
        pytest.param(signal.SIGTERM, 143, "2", marks=pytest.mark.full),
    ],
)
def test_a_stopped_sweep_says_what_is_kept(tmp_path, number, code, workers):
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    plan.write_text(PLAN)
    command = [sys.executable, "-m", "bayesbias", "sweep", str(plan), "--out", str(out)]
    command += ["--workers", workers]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, start_new_session=True, **pipes)
    while not list(out.glob("cells/*.json")) and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(number)
    # The workers hold the pipes too, so that this returns when all of them have ended.
    said, problems = process.communicate()
    kept = len(list(out.glob("cells/*.json")))
    assert 0 < kept < 12
    assert problems == f"Stopped. {kept} of 12 cells are kept; continue with --resume.\n"
    assert (process.returncode, said) == (code, "")
    if workers == "2":
        done = subprocess.run([*command, "--resume", "--json"], capture_output=True, check=False)
        assert json.loads(done.stdout)["reused"] == kept
