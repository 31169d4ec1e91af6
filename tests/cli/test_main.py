"""The command line as a whole: usage, version, help, and how a process ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import bayesbias


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
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("bayesbias: ")
    assert done.stderr.count("\n") == 1


def test_version_and_help(run):
    assert run("--version")[1] == f"bayesbias, version {bayesbias.__version__}\n"
    code, out, err = run("--help")
    assert "..." not in out.partition("Commands:")[2]  # no first sentence is cut
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


def test_a_full_stdout_is_an_error_and_no_traceback(files):
    device = Path("/dev/full")
    if not device.exists():
        pytest.skip("this system has no device that is always full")
    with open(device, "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "bayesbias.cli", "show", "template"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=600,
        )  # fmt: skip
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
