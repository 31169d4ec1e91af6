"""What is released: one version everywhere, and requirements that agree."""

import importlib.util
import re
import tomllib

import pytest
from helpers.places import ROOT

import bayesbias

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NAMES_OF_CONDA = {"matplotlib": "matplotlib-base"}


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned(file):
    lines = (ROOT / file).read_text(encoding="utf-8").split()
    return {plain(name): v for name, _, v in (line.partition("==") for line in lines) if v}


def test_the_version_is_stated_once_and_cited_as_it_is():
    spec = importlib.util.spec_from_file_location("check_release", ROOT / "tools/check_release.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.version_of_source() == bayesbias.__version__
    assert tool.states_of_version(ROOT, bayesbias.__version__) == []
    recipe = (ROOT / "packaging/recipe.yaml").read_text(encoding="utf-8")
    assert f"version: {bayesbias.__version__}\n" in recipe


def test_the_conda_recipe_asks_for_what_the_wheel_asks_for():
    recipe = (ROOT / "packaging/recipe.yaml").read_text(encoding="utf-8")
    run = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    listed = {re.match(r"\s*- ([\w-]+)", line)[1] for line in run.splitlines() if "- " in line}
    asked = {re.match(r"[\w-]+", line)[0] for line in PROJECT["project"]["dependencies"]}
    asked = {plain(NAMES_OF_CONDA.get(name, name)) for name in asked}
    assert asked <= {plain(name) for name in listed}


def test_the_lowest_versions_are_those_of_the_bounds():
    version = pytest.importorskip("packaging.version")
    low, new = pinned("constraints-lowest.txt"), pinned("constraints.txt")
    for line in PROJECT["project"]["dependencies"]:
        name, bound = re.match(r"([\w-]+)>=([\d.]+)", line).groups()
        lowest, least = version.Version(low[plain(name)]), version.Version(bound)
        assert lowest.release[: len(least.release)] == least.release, line
        assert lowest <= version.Version(new[plain(name)])
