"""What the site is made of: every page listed, every command described, nothing fetched from elsewhere."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner
from helpers.places import ROOT

from bayesbias.cli.main import cli
from bayesbias.models import list_models
from tools.pages.assembling import assemble
from tools.pages.commands import section, walk

FOLDERS = ("howto", "tutorials", "methods", "reference", "gallery", "coming-from")


@pytest.mark.slow
def test_pages_are_put_together_once_and_kept(tmp_path):
    names = assemble(tmp_path)
    assert {"index.md", "changelog.md", "reference/commands.md", "reference/api/fits.rst"} <= set(names)
    assert {f"tutorials/{path.name}" for path in (ROOT / "notebooks").glob("*.ipynb")} <= set(names)
    assert not [name for name in names if name.startswith("_build") or name.endswith("conf.py")]
    written = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    (tmp_path / "howto" / "gone.md").write_text("# Gone\n")
    assert assemble(tmp_path) == names
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()} == written


def test_every_page_is_listed():
    """Those in a folder are listed by it; others by the first page."""
    listed = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for path in (ROOT / "docs").glob("*.md"):
        assert path.stem == "index" or re.search(rf"^{path.stem}$", listed, re.MULTILINE), path.name
    for folder in FOLDERS:
        assert f"{folder}/index" in listed
        assert ":glob:" in (ROOT / "docs" / folder / "index.md").read_text(encoding="utf-8")


def test_every_command_and_option_is_described():
    commands = dict(walk())
    assert {name.split()[1] for name in commands} == set(cli.commands)
    for name, command in commands.items():
        said = CliRunner().invoke(cli, [*name.split()[1:], "--help"]).output
        text = section(name, command)
        options = re.findall(r"^  (?:-\w, )?(--[\w-]+)", said, re.MULTILINE)
        assert options
        assert [option for option in options if option not in text] == []


def test_the_ten_lines_of_the_first_page_are_those_of_the_readme_which_are_run():
    first, readme = (
        re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)[0]
        for name in ("docs/index.md", "README.md")
    )
    assert first == readme


def test_the_chart_names_every_model_and_command_that_answers_a_question():
    chart = (ROOT / "docs" / "which-question.md").read_text(encoding="utf-8")
    models = [name for name in list_models() if name != "sentiment_logit"]
    assert [name for name in models if f"`{name}`" not in chart] == []
    asked = set(cli.commands) - {"demo", "debias", "report", "verify", "list", "show", "check-wordlist"}
    assert [name for name in asked if f"`bayesbias {name}" not in chart] == []


def test_a_figure_has_a_text_in_its_place():
    for path in (ROOT / "docs").rglob("*.md"):
        if "_build" not in path.parts:
            text = path.read_text(encoding="utf-8")
            assert re.findall(r"!\[\s*\]\(", text) == [], path
            blocks = re.findall(r"```\{(?:figure|image)\}.*?```", text, re.DOTALL)
            assert [block for block in blocks if ":alt:" not in block] == [], path
