"""The order of folders and files, what they may import, and what no file may hold."""

from __future__ import annotations

import ast
import functools
import graphlib
import importlib.util
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from helpers.places import PACKAGE, ROOT, rooms

# Each folder imports only from itself and from those further up.
FOLDERS = (
    "basics",
    "border",
    "words",
    "vectors",
    "encoders",
    "classifiers",
    "debiasing",
    "models",
    "tables",
    "inference",
    "scores",
    "simulation",
    "studies",
    "findings",
    "columns",
    "sweeps",
    "figures",
    "runs",
    "report",
    "cli",
)
MOST_LINES = 600
# What only some rooms may import; a folder stands for all of its rooms.
ALLOWED = {
    "pymc": {"inference.graph", "inference.pairwise", "inference.expected_effects", "inference.fitting"},
    "pytensor": {"inference.pairwise", "inference.expected_effects"},
    "nutpie": {"inference.sampling"},
    "arviz": {"inference.from_arviz"},
    "click": {"cli"},
    "numba": {"inference.kernel_compiling", "inference.kernel_sampling"},
    "jinja2": {"report.page"},
    "sklearn": {"classifiers"},
    "joblib": {"classifiers"},
    "sentence_transformers": {"encoders"},
    "rich": {"cli.screen", "basics.progress"},
}
# What takes long to import, and must wait inside functions. numpy may not load with the package either.
HEAVY = (
    "arviz", "gensim", "h5py", "jinja2", "joblib", "matplotlib", "numba", "nutpie", "numpy", "pandas", "pyarrow", "pymc",
    "pytensor", "rich", "safetensors", "scipy", "sentence_transformers", "sklearn", "tokenizers", "torch", "transformers",
    "xarray",
)  # fmt: skip
LATE = set(HEAVY) - {"numpy"}
WITHOUT_NUMPY = (
    "basics.errors",
    "basics.files",
    "border.opening",
    "border.texts",
    "words.wordlist",
    "words.listfile",
    "cli",
)


def path_of(room: str) -> Path:
    return PACKAGE / f"{room.replace('.', '/')}.py"


@functools.cache
def idata(room: str) -> ast.Module:
    return ast.parse(path_of(room).read_text(encoding="utf-8"))


def room_of(module: str) -> str | None:
    """Return the room that a dotted name below the package is, or lies in, or is public from."""
    folder, _, name = module.rpartition(".")
    if name in public(folder):
        return public(folder)[name]
    parts = module.split(".")
    while parts:
        if path_of(".".join(parts)).is_file():
            return ".".join(parts)
        parts.pop()
    return None


@functools.cache
def public(folder: str = "") -> dict[str, str]:
    """Return the names in the stub of the package or of a folder, and the rooms that hold them."""
    stub = PACKAGE / folder / "__init__.pyi"
    if not stub.is_file():
        return {}
    return {
        alias.asname or alias.name: f"{folder}.{node.module}".removeprefix(".")
        for node in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


@functools.cache
def imports(room: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the rooms and the outside packages that a room imports, at the top or inside functions."""
    inside, outside = set(), set()
    for node in ast.walk(idata(room)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                head, _, rest = alias.name.partition(".")
                (inside if head == "bayesbias" and rest else outside).add(rest or head)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{room}: imports are absolute"
            head, _, rest = (node.module or "").partition(".")
            if head != "bayesbias":
                outside.add(head)
                continue
            for alias in node.names:
                found = room_of(f"{rest}.{alias.name}" if rest else alias.name)
                assert found or alias.name == "__version__", f"{room}: {rest}.{alias.name} is no room"
                inside |= {found} - {None}
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "bayesbias"
            and node.attr in public()
        ):
            inside.add(public()[node.attr])  # `bayesbias.fit` reaches into a room as well
    return frozenset(inside), frozenset(outside)


def allowed(room: str, places: set[str]) -> bool:
    return room in places or room.split(".")[0] in places


@pytest.mark.slow
def test_there_are_rooms_to_hold():
    assert len(rooms()) > 100
    assert {room.split(".")[0] for room in rooms()} == set(FOLDERS)
    assert sum(len(imports(room)[0]) for room in rooms()) > 300


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.slow
def test_no_arrow_goes_up(folder):
    above = set(FOLDERS[: FOLDERS.index(folder) + 1])
    for room in rooms():
        if room.split(".")[0] == folder:
            wrong = {other for other in imports(room)[0] if other.split(".")[0] not in above}
            assert not wrong, f"{room} imports from rooms further down: {wrong}"


def test_there_is_no_circle():
    graph = {room: imports(room)[0] for room in rooms()}
    order = list(graphlib.TopologicalSorter(graph).static_order())  # raises where there is one
    assert set(order) == set(rooms())


@pytest.mark.parametrize("room", rooms())
def test_no_room_is_too_large(room):
    assert len(path_of(room).read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("room", rooms())
def test_no_private_name_crosses_a_file(room):
    for node in ast.walk(idata(room)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bayesbias"):
            private = [alias.name for alias in node.names if alias.name.startswith("_")]
            assert not set(private) - {"__version__"}, f"{room}:{node.lineno}: {private}"


# What the standard library, and Numba (what becomes of what it compiled), offer under no other name.
FOREIGN = {"os._exit", "slot._processes", "dispatcher._cache"}


def defined_names(module: ast.Module) -> set[str]:
    """Return what a file defines: functions, classes, fields, variables, and attributes set on self."""
    names = set()
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and ast.unparse(node.value) in ("self", "cls")
        ):
            names.add(node.attr)
    return names


def foreign_privates(module: ast.Module) -> set[str]:
    """Return the private attributes that a file asks of what it does not define itself."""
    own = defined_names(module)
    return {
        ast.unparse(node)
        for node in ast.walk(module)
        if isinstance(node, ast.Attribute)
        and re.fullmatch(r"_[^_].*", node.attr)
        and ast.unparse(node.value) not in ("self", "cls")
        and node.attr not in own
    }


@pytest.mark.parametrize("room", [*rooms(), "__init__"])
def test_no_private_attribute_of_another_file_is_used(room):
    assert foreign_privates(idata(room)) <= FOREIGN


def test_a_private_attribute_of_another_file_would_be_seen():
    assert foreign_privates(ast.parse("class A:\n    _x: int\nA()._x; fit._levels('all'); self._y")) == {
        "fit._levels"
    }


@pytest.mark.parametrize("package", sorted(ALLOWED))
def test_few_rooms_speak_to_each_big_library(package):
    users = {room for room in rooms() if package in imports(room)[1]}
    assert all(allowed(room, ALLOWED[package]) for room in users), users
    assert users or package == "pytensor"


@pytest.mark.parametrize("room", [*rooms(), "__init__"])
def test_heavy_libraries_are_imported_inside_functions(room):
    top = [node for node in idata(room).body if isinstance(node, ast.Import | ast.ImportFrom)]
    heads = {
        name.split(".")[0]
        for node in top
        for name in ([a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""])
    }
    # The kernel is nothing but numba, and is itself imported inside functions.
    late = LATE - {"numba"} if room.startswith("inference.kernel") else LATE
    assert not heads & late
    if allowed(room, {*WITHOUT_NUMPY, "__init__"}):
        assert "numpy" not in heads


@pytest.mark.parametrize("room", [*rooms(), "__init__"])
def test_one_room_prints(room):
    """Texts for people are made harmless where they are printed, and so they are printed in one place."""
    calls = {ast.unparse(node.func) for node in ast.walk(idata(room)) if isinstance(node, ast.Call)}
    printing = {"print", "click.echo", "click.secho", "sys.stdout.write", "sys.stderr.write"}
    assert not calls & printing or room == "cli.screen"


def loaded_after(code: str) -> set[str]:
    report = "\nimport sys; print(*{name.split('.')[0] for name in sys.modules}, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code + report], capture_output=True, text=True, check=True, timeout=600
    )
    return set(done.stderr.split())


CALL = """
import sys
sys.argv = ["bayesbias", {arguments}]
from bayesbias.cli.main import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""


@pytest.mark.parametrize(
    "code",
    [
        "import bayesbias; dir(bayesbias); bayesbias.__version__",
        CALL.format(arguments='"--help"'),
        CALL.format(arguments='"fit", "--help"'),
        CALL.format(arguments='"--version"'),
        CALL.format(arguments='"list", "wordlists"'),
    ],
    ids=["import", "help", "fit help", "version", "list"],
)
@pytest.mark.slow
def test_a_glance_at_the_package_loads_nothing_heavy(code):
    loaded = loaded_after(code)
    assert "bayesbias" in loaded
    assert loaded & set(HEAVY) == set()


@pytest.mark.slow
def test_the_picture_of_the_architecture_counts_the_same_imports():
    spec = importlib.util.spec_from_file_location(
        "draw_architecture", ROOT / "tools" / "draw_architecture.py"
    )
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.FOLDERS == FOLDERS
    counted = Counter(
        (room.split(".")[0], other)
        for room in rooms()
        for other in {imported.split(".")[0] for imported in imports(room)[0]} - {room.split(".")[0]}
    )
    assert tool.arrows() == counted


# -- the tests themselves ----------------------------------------------------------------------------

TESTS = ROOT / "tests"
# What belongs to no folder of the package: what tests share, and tests with real models.
OTHER_FOLDERS = {"docs", "fuzz", "helpers", "proof", "with_torch"}
TEST_FILES = sorted(TESTS.rglob("*.py"))


def of_tests(path: Path) -> str:
    return str(path.relative_to(TESTS))


def imported_modules(module: ast.Module) -> set[str]:
    names = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names}
    return names


def modules_of_tests(names: set[str]) -> set[str]:
    """Return what a test module must not import: tests, by whatever name."""
    return {
        name
        for name in names
        if name.startswith(("tests.", "."))
        or (
            any(part.startswith("test_") for part in name.split("."))
            and name.split(".")[0] not in ("bayesbias", "helpers")
        )
    }


@pytest.mark.parametrize("path", TEST_FILES, ids=of_tests)
@pytest.mark.slow
def test_no_test_module_is_imported(path):
    text = path.read_text(encoding="utf-8")
    assert not modules_of_tests(imported_modules(ast.parse(text)))
    assert len(text.splitlines()) <= MOST_LINES


def test_an_import_of_a_test_module_would_be_seen():
    bad = "import test_x\nfrom test_x import y\nfrom tests.words import test_x\nfrom .test_x import y"
    assert len(modules_of_tests(imported_modules(ast.parse(bad)))) == 4
    good = "from helpers.tables import grid\nfrom bayesbias.core import test_y"
    assert not modules_of_tests(imported_modules(ast.parse(good)))


@pytest.mark.slow
def test_tests_are_laid_out_like_the_package():
    for path in TEST_FILES:
        folder, _, name = of_tests(path).rpartition("/")
        if folder in OTHER_FOLDERS or name == "conftest.py" or not folder:
            continue
        assert folder in FOLDERS, f"{path}: no folder of the package"
        own = [room.partition(".")[2] for room in rooms() if room.startswith(f"{folder}.")]
        subject = path.stem.removeprefix("test_")
        assert any(subject == room or subject.startswith(f"{room}_") for room in own), f"{path}: no room"


# -- what no file may hold -------------------------------------------------------------------------

SKIPPED = {
    ".venv-bench",
    ".venv-encoders",
    ".venv-lowest",
    ".venv-wheel",
    ".git",
    ".venv",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    "__pycache__",
    "dist",
    "build",
}
# Folders at the root of a machine, spelled apart so that this file does not hold them itself.
MACHINE_FOLDERS = "|".join(("work", "root", "home", "tmp", "Users"))
PATH = re.compile(rf"(?<![\w./~\-}})$])/(?:{MACHINE_FOLDERS})/(?!someone\b)\w")


def texts() -> list[Path]:
    out = []
    for folder, inner, names in ROOT.walk():
        inner[:] = [name for name in inner if name not in SKIPPED and not name.endswith(".egg-info")]
        out += [folder / name for name in names if name not in SKIPPED]  # `.git` is a file in a worktree
    return sorted(out)


def test_no_file_names_a_path_of_a_machine():
    found = []
    places = {str(ROOT), str(Path.home())} - {"/", ""}
    read = 0
    for path in texts():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # vectors and pictures
        read += 1
        suspect = any(
            f"/{folder}/" in text for folder in MACHINE_FOLDERS.split("|")
        )  # quick, for large files
        hits = [match.group() for match in PATH.finditer(text)] if suspect else []
        hits += [place for place in places if f"{place}/" in text]
        found += [f"{path.relative_to(ROOT)}: {hit}" for hit in hits]
    assert found == []
    assert read > 40
    assert PATH.search("see " + "/ro" + "ot/x")
    assert not PATH.search("https://x.org/home/y")
