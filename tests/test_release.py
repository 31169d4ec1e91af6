"""What is given away: the version in one place, and a wheel and a source distribution that are looked at."""

from __future__ import annotations

import importlib.util
import io
import re
import tarfile
import tomllib
import zipfile

import pytest
from helpers.places import ROOT

import bayesbias

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NAMES_OF_CONDA = {"matplotlib": "matplotlib-base"}


@pytest.fixture
def tool():
    spec = importlib.util.spec_from_file_location("check_release", ROOT / "tools" / "check_release.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_version_is_stated_once_and_cited_as_it_is(tool, tmp_path):
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert tool.version_of_source() == bayesbias.__version__
    assert tool.states_of_version(ROOT, bayesbias.__version__) == []
    assert [text.partition(":")[0] for text in tool.states_of_version(ROOT, "9.9.9")] == [
        "CITATION.cff",
        "CHANGELOG.md",
    ]
    assert f"version: {bayesbias.__version__}\n" in (ROOT / "packaging/recipe.yaml").read_text(
        encoding="utf-8"
    )


def test_the_citation_has_what_its_format_asks_for():
    yaml = pytest.importorskip("yaml")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(cited)
    assert cited["cff-version"] == "1.2.0"
    assert cited["license"] == PROJECT["project"]["license"]
    assert cited["type"] == "software"
    assert [author["name"] for author in cited["authors"]] == [
        a["name"] for a in PROJECT["project"]["authors"]
    ]
    assert cited["date-released"].isoformat() >= "2026-11-21"
    (paper,) = cited["references"]
    assert all(author.keys() == {"family-names", "given-names"} for author in paper["authors"])
    assert f"doi.org/{paper['doi']}" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_recipe_asks_for_what_the_wheel_asks_for():
    recipe = (ROOT / "packaging/recipe.yaml").read_text(encoding="utf-8")
    run = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    listed = [line.strip().removeprefix("- ") for line in run.splitlines()]
    needed = [re.sub(r"^([\w-]+)", r"\1 ", line) for line in PROJECT["project"]["dependencies"]]
    needed = [
        " ".join([NAMES_OF_CONDA.get(name, name), bound]) for name, bound in (n.split(" ") for n in needed)
    ]
    assert listed == [f"python {PROJECT['project']['requires-python']}", *needed]


def pinned(name):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    assert all(re.fullmatch(r"[\w.-]+==[\w.!+]+", line) for line in lines if not line.startswith("#"))
    return {re.sub(r"[-_.]+", "-", n).lower(): v for n, _, v in (line.partition("==") for line in lines) if v}


def test_the_lowest_versions_are_those_of_the_bounds():
    version = pytest.importorskip("packaging.version")
    low, new = pinned("constraints-lowest.txt"), pinned("constraints.txt")
    extras = PROJECT["project"]["optional-dependencies"]
    asked = [
        *PROJECT["project"]["dependencies"],
        *(line for e in ("classifiers", "dask", "gensim") for line in extras[e]),
    ]
    for line in asked:
        name, bound = re.fullmatch(r"([\w-]+)>=([\d.]+)(?:,<\d+)?", line).groups()
        name = re.sub(r"[-_.]+", "-", name).lower()
        lowest, least = version.Version(low[name]), version.Version(bound)
        # The first release at or above the bound: no other stands between a bound such as 2.2 and its 2.2.2.
        assert lowest >= least
        assert lowest.release[: len(least.release)] == least.release, line
        assert lowest <= version.Version(new[name])


def wheel(folder, tool, *, without=(), more=(), version=bayesbias.__version__, requires="numpy>=2"):
    info = f"bayesbias-{version}.dist-info"
    held = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "bayesbias").rglob("*.py*")
        if path.suffix in (".py", ".pyi")
    }
    names = sorted({*held, *tool.NEEDED_IN_WHEEL, *more} - set(without))
    path = folder / f"bayesbias-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "")
        archive.writestr(f"{info}/METADATA", metadata(version, requires))
        archive.writestr(
            f"{info}/entry_points.txt", "[console_scripts]\nbayesbias = bayesbias.cli.main:main\n"
        )
    return path


def metadata(version, requires="numpy>=2"):
    lines = ["Name: bayesbias", f"Version: {version}", "License-Expression: MIT", "Requires-Python: >=3.12"]
    return "\n".join([*lines, f"Requires-Dist: {requires}", "", "text"])


def source(folder, tool, *, without=(), more=(), version=bayesbias.__version__):
    path = folder / f"bayesbias-{version}.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in [*sorted({*tool.NEEDED_IN_SOURCE, *more} - set(without)), "PKG-INFO"]:
            content = metadata(version).encode() if name == "PKG-INFO" else b""
            entry = tarfile.TarInfo(f"bayesbias-{version}/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


def test_a_whole_wheel_and_source_have_no_problem(tool, tmp_path):
    assert tool.problems_of_wheel(wheel(tmp_path, tool), bayesbias.__version__) == []
    assert tool.problems_of_source(source(tmp_path, tool), bayesbias.__version__) == []


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"without": ["bayesbias/py.typed"]}, "lacks bayesbias/py.typed"),
        ({"without": ["bayesbias/cli/screen.py"]}, "lacks bayesbias/cli/screen.py"),
        ({"more": ["tests/test_face.py"]}, "holds tests/test_face.py"),
        ({"more": ["bayesbias/__pycache__/x.pyc"]}, "holds bayesbias/__pycache__/x.pyc"),
        ({"requires": "numpy==2.5.5"}, "requires numpy==2.5.5"),
        ({"requires": "x @ https://example.org/x.whl"}, "requires x @ https"),
    ],
)
def test_what_is_wrong_with_a_wheel_is_said(tool, tmp_path, changed, says):
    (problem,) = tool.problems_of_wheel(wheel(tmp_path, tool, **changed), bayesbias.__version__)
    assert says in problem


def test_what_is_wrong_with_a_source_is_said(tool, tmp_path, monkeypatch):
    (problem,) = tool.problems_of_source(source(tmp_path, tool, without=["LICENSE"]), bayesbias.__version__)
    assert problem.endswith("lacks LICENSE")
    (problem,) = tool.problems_of_source(
        source(tmp_path, tool, more=[".venv-wheel/x"]), bayesbias.__version__
    )
    assert problem.endswith("holds .venv-wheel/x")
    monkeypatch.setitem(tool.MOST_BYTES, "source", 10)
    (problem,) = tool.problems_of_source(source(tmp_path, tool), bayesbias.__version__)
    assert "more than 10" in problem
    assert tool.main(tmp_path) == [f"{tmp_path}: holds 0 wheels and 1 source distributions, not one of each"]
