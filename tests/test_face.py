"""The public names: few in front, each under one path, known to tools, and pointed at when mistyped."""

from __future__ import annotations

import ast
import doctest
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.places import ROOT

import bayesbias as bb

PACKAGE = ROOT / "bayesbias"
MOST_NAMES = 53
MOST_LINES = 60
STUBS = sorted(PACKAGE.rglob("__init__.pyi"))
FOLDERS = [stub.parent.name for stub in STUBS if stub.parent != PACKAGE]


def names_in(stub: Path) -> dict[str, str]:
    """Return the names of a stub and the modules that hold them."""
    package = ".".join(stub.parent.relative_to(ROOT).parts)
    return {
        alias.name: f"{package}.{node.module}"
        for node in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


PUBLIC = [
    (".".join(stub.parent.relative_to(ROOT).parts), name, module)
    for stub in STUBS
    for name, module in names_in(stub).items()
]


def test_the_face_is_small_and_tells_the_flow():
    names = set(bb.__all__) - set(FOLDERS)
    assert 40 < len(names) <= MOST_NAMES
    assert names == set(names_in(PACKAGE / "__init__.pyi")) | {"__version__"}
    text = (PACKAGE / "__init__.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) < MOST_LINES
    places = [
        text.index(f"    {step} ")
        for step in ("words", "vectors", "tables", "inference", "findings", "figures")
    ]
    assert places == sorted(places)


@pytest.mark.slow
def test_the_flow_as_it_is_told_runs():
    examples = doctest.DocTestParser().get_doctest(bb.__doc__, {}, "flow", None, None)
    assert len(examples.examples) == 5
    assert doctest.DocTestRunner().run(examples).failed == 0


@pytest.mark.slow
def test_every_folder_with_public_names_is_in_the_face():
    assert set(FOLDERS) <= set(bb.__all__)
    code = "import bayesbias as bb\nassert bb.plots.plot_seat\nassert bb.wordlists.list_wordlists()"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: stub.parent.name)
def test_stub_and_runtime_agree(stub):
    package = importlib.import_module(".".join(stub.parent.relative_to(ROOT).parts))
    assert sorted(set(package.__all__) - {"__version__"} - set(FOLDERS)) == sorted(names_in(stub))
    assert dir(package) == sorted(package.__all__)
    for name, module in names_in(stub).items():
        room = importlib.import_module(module)
        assert getattr(package, name) is getattr(room, name)
        assert name in room.__all__


def test_each_name_has_one_path():
    paths: dict[str, set[str]] = {}
    for package, name, _ in PUBLIC:
        paths.setdefault(name, set()).add(package)
    assert {name: where for name, where in paths.items() if len(where) > 1} == {}
    assert len(paths) > 120


def test_no_public_name_is_the_name_of_a_folder_or_a_room():
    """`bayesbias.NAME` would be the folder as soon as anything had imported it, and the function before."""
    for package, name, _ in PUBLIC:
        folder = ROOT / package.replace(".", "/")
        assert not (folder / name).is_dir()
        assert not (folder / f"{name}.py").is_file()


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'bayesbias' has no attribute 'fitt'"):
        bb.fitt  # noqa: B018


def test_an_error_is_named_as_users_know_it():
    code = "import bayesbias as bb; bb.load_wordlist('religon')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert done.stderr.splitlines()[-1].startswith("bayesbias.InputError: ")


SCRIPT = """
import bayesbias as bb

vectors = bb.load_embedding("minilm-static", words=bb.load_wordlist("gender").words)
table = bb.distance_table(vectors, "gender")
fit: bb.BiasFit = bb.fit(table, "crossed", seed=1)
print(fit.summary()[["connection", "mean"]], bb.finding(fit))
print(bb.weat(vectors, "weat7").effect_size, bb.wordlists.list_wordlists())
result = bb.seat(["weat7"], "minilm-static", seed=1)
print(bb.plots.plot_seat(result).get_title())
fit.save("fit.nc")
"""


WRONG = """
import bayesbias as bb

bb.fit("table", seed="one")
bb.fitt
"""


def check_types(folder: Path, **environment: str) -> None:
    """Check a script that is right and one that is wrong, with mypy as strict as it gets."""
    (folder / "script.py").write_text(SCRIPT, encoding="utf-8")
    (folder / "wrong.py").write_text(WRONG, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "script.py", "wrong.py"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, cwd=folder, env=os.environ | environment
    )
    assert not done.stderr
    assert "script.py" not in done.stdout
    assert 'wrong.py:4: error: Argument "seed" to "fit" has incompatible type "str"' in done.stdout
    assert 'wrong.py:5: error: Module has no attribute "fitt"' in done.stdout


@pytest.mark.claim
def test_a_script_type_checks_strictly(tmp_path):
    check_types(tmp_path, PYTHONPATH=str(ROOT))  # mypy reads what lies there as it reads installed packages


@pytest.mark.claim
def test_a_script_type_checks_strictly_against_the_wheel(tmp_path):
    quiet = {"capture_output": True, "text": True, "timeout": 300, "check": True}
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT]
    subprocess.run(build, **quiet)
    (wheel,) = tmp_path.glob("*.whl")
    site = tmp_path / "site"
    # No sdist, no index: a wheel is a zip file, and what it needs is here already.
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--no-deps",
        "--no-index",
        "--quiet",
        "--target",
        site,
        wheel,
    ]
    subprocess.run(install, **quiet)
    stubs = {path.parent.relative_to(site / "bayesbias") for path in site.rglob("__init__.pyi")}
    assert stubs == {stub.parent.relative_to(PACKAGE) for stub in STUBS}
    check_types(tmp_path, PYTHONPATH=str(site))
