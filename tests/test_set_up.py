"""Setting up a checkout: what goes wrong there is one line, whatever pip and the system print."""

from __future__ import annotations

import errno
import importlib.util
import os
import runpy
import subprocess
import sys

import pytest
from helpers.places import ROOT

TOOLS = ROOT / "tools"


@pytest.fixture
def set_up():
    spec = importlib.util.spec_from_file_location("set_up", TOOLS / "set_up.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_old_python_is_told_so_in_one_line(monkeypatch):
    runpy.run_path(str(TOOLS / "check_python.py"))  # this one is new enough
    monkeypatch.setattr(sys, "version_info", (3, 11, 7, "final", 0))
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(TOOLS / "check_python.py"))
    said = str(ended.value)
    assert "needs Python 3.12 or newer" in said
    assert "is 3.11" in said
    assert "make PYTHON=python3.12" in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("printed", "says"),
    [
        (
            "Collecting numpy\nERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n",
            "no room on the disk of ",
        ),
        (
            "WARNING: Retrying (Retry(total=1)) after connection broken by 'NewConnectionError(<HTTPSConnection>: Failed to "
            "establish a new connection: [Errno 101] Network is unreachable)': /simple/hatchling/\n"
            "ERROR: No matching distribution found for hatchling>=1.25\n",
            "the package index cannot be reached",
        ),
        (
            "The virtual environment was not created: ensurepip is not available.\n",
            f"{sys.executable} cannot make virtual environments: install its venv module",
        ),
        (
            "  error: subprocess-exited-with-error\n\n  ERROR: No matching distribution found for numpy==99\n",
            "the installation failed: ERROR: No matching distribution found for numpy==99",
        ),
        ("", "the installation failed: no reason was given"),
    ],
)
def test_what_pip_prints_becomes_one_line(set_up, tmp_path, printed, says):
    said = set_up.reason(printed, tmp_path / ".venv")
    assert said.startswith(says)
    assert "\n" not in said


def test_a_disk_that_is_full_before_pip_runs_is_the_same_line(set_up, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(set_up, "run", full)
    assert set_up.main(tmp_path / ".venv", "constraints.txt", "numpy").startswith("no room on the disk")


def test_an_environment_that_is_whole_is_added_to_and_another_made_anew(set_up, tmp_path, monkeypatch):
    ran: list[tuple[str, ...]] = []

    def run(*command: str) -> str | None:
        ran.append(command)
        return "No module named pip" if broken and command[-1] == "--version" else None

    monkeypatch.setattr(set_up, "run", run)
    python = tmp_path / ".venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    for broken in (False, True):
        ran.clear()
        assert set_up.main(tmp_path / ".venv", "constraints.txt", "-e", ".") is None
        assert any("venv" in command for command in ran) is broken
        assert ran[-1][:4] == (str(python), "-m", "pip", "install")
        assert ran[-1][-4:] == ("-c", "constraints.txt", "-e", ".")


@pytest.mark.claim
def test_without_a_network_the_command_ends_with_one_line(tmp_path):
    """A real environment and a real pip, with an index at a port where nothing listens."""
    environment = {**os.environ, "PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": "http://127.0.0.1:9/simple"}
    environment.pop("PIP_FIND_LINKS", None)
    (tmp_path / "constraints.txt").touch()
    done = subprocess.run(
        [sys.executable, str(TOOLS / "set_up.py"), ".venv", "constraints.txt", "no-such-distribution-of-bayesbias"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("the package index cannot be reached")
    assert len(done.stderr.splitlines()) == 1
