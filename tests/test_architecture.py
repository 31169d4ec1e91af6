"""docs/architecture.svg shows the imports as they are today."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from helpers.places import ROOT


@pytest.mark.slow
def test_the_picture_is_drawn_from_todays_imports():
    code = "import draw_architecture; print(draw_architecture.draw(), end='')"
    drawn = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT / "tools",
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    ).stdout
    assert len(re.findall(r"<title>\w+ to \w+: \d+</title>", drawn)) > 60
    stored = (ROOT / "docs" / "architecture.svg").read_text(encoding="utf-8")
    assert stored == drawn, (
        "imports have changed: run `python tools/draw_architecture.py` and commit the picture"
    )


def test_contributing_names_every_folder_and_only_files_that_are_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    folders = {path.parent.name for path in (ROOT / "bayesbias").glob("[a-z]*/__init__.py")}
    assert {folder for folder in folders if f"| `{folder}` |" not in text} == set()
    named = set(re.findall(r"`([\w/.]+\.(?:pyi?|md|toml|txt|cff))`", text))
    assert len(named) > 20
    assert {
        name for name in named if not any((base / name).is_file() for base in (ROOT, ROOT / "bayesbias"))
    } == set()


def test_a_study_is_a_column_of_files_with_the_same_name():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|(.*)\|$", text, flags=re.MULTILINE)
    assert [folder for folder, _ in rows] == ["tables", "studies", "findings", "figures", "runs", "report"]
    for folder, cells in rows:
        for room in re.findall(r"`(\w+)`", cells):
            assert (ROOT / "bayesbias" / folder / f"{room}.py").is_file(), f"{folder}/{room}.py"
