"""Every command and every line of Python in the README runs as printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_the_readme_has_what_is_run_here():
    assert len(blocks("python")) >= 1
    assert sum("bayesbias" in block for block in blocks("sh")) >= 4
    inline = set(re.findall(r"`(bayesbias [^`]+)`", README.read_text(encoding="utf-8")))
    assert "bayesbias show crossed > mymodel.toml" in inline


@pytest.mark.slow
def test_every_line_runs(tmp_path):
    """One folder, in the order of the README, as a reader would; installing is left out."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "MPLBACKEND": "Agg"}
    for code in blocks("python"):
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert "hpdi" in done.stdout.lower()  # no result without its uncertainty
        assert (tmp_path / "gender.png").stat().st_size > 10_000
    commands = [
        line for block in blocks("sh") for line in block.splitlines() if line.startswith("bayesbias ")
    ]
    # 50 tables are right for a reader and long for a test.
    assert "bayesbias calibrate --tables 50" in commands
    commands = [command.replace("--tables 50", "--tables 4") for command in commands]
    commands += ["bayesbias show crossed > mymodel.toml", "bayesbias show template > mylist.toml"]
    commands += [
        "bayesbias fit --distances religion-run/pairs.csv --model mymodel.toml --draws 200 --chains 2"
    ]
    for command in commands:
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
        assert "Traceback" not in done.stderr
        if command == "bayesbias demo":
            assert done.stderr == ""
            said = done.stdout.rstrip().splitlines()
            assert "4,830 pairs of 15 protected words" in said[0]
            assert any("converged" in line for line in said)
            assert said[-1].startswith("religion in minilm-static: for new words like these")
            assert len(list(tmp_path.glob("*demo*/**/*.png"))) == 7
    assert (tmp_path / "religion-run/fit.nc").is_file()
    assert (tmp_path / "gender-debiased.txt").is_file()
