"""One-way imports: each folder imports only from itself, from its layer and from the layers below it."""

import ast
import functools
import re
import subprocess
import sys

import pytest
from helpers.places import PACKAGE

# From the bottom of the package to its top; the folders of one line are one layer.
LAYERS = (
    ("core",),
    ("wordlists", "embeddings", "models"),
    ("debiasing", "encoders", "classifiers"),
    ("tables",),
    ("inference", "scores"),
    ("plots",),
    ("studies",),
    ("simulation", "sweeps"),
    ("output",),
    ("lesson",),
    ("cli",),
)
LAYER = {folder: number for number, layer in enumerate(LAYERS) for folder in layer}
# Imported inside functions, so that `import bayesbias` and `bayesbias --help` stay quick.
HEAVY = (
    "arviz",
    "matplotlib",
    "numba",
    "nutpie",
    "pandas",
    "pyarrow",
    "pymc",
    "pytensor",
    "scipy",
    "torch",
)


def imported(path):
    """Yield the folders of the package that a file imports from, at the top or inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "bayesbias" and len(parts) > 1 and parts[1] in LAYER:
                yield parts[1]


def test_each_folder_has_a_layer():
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders <= set(LAYER)


@pytest.mark.parametrize("folder", [name for name in LAYER if (PACKAGE / name).is_dir()])
def test_a_folder_imports_only_from_its_layer_and_those_before(folder):
    wrong = {
        f"{path.relative_to(PACKAGE)} imports {other}"
        for path in sorted((PACKAGE / folder).rglob("*.py"))
        for other in imported(path)
        if LAYER[other] > LAYER[folder]
    }
    assert not wrong


def test_texts_name_only_modules_of_their_layer_and_those_before():
    """A module that is imported by a text is as much a tie as one that is imported by name."""
    wrong = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        folder = path.relative_to(PACKAGE).parts[0]
        for text in texts_of_code(path):
            for name in re.findall(r"\bbayesbias\.(\w+)\.\w+", text):
                if name in LAYER and folder in LAYER and LAYER[name] > LAYER[folder]:
                    wrong.add(f"{path.relative_to(PACKAGE)} names {text!r}")
    assert not wrong


def texts_of_code(path):
    """Yield the texts of a file that are not docstrings, those in f-strings included."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    docstrings = {id(part) for node in statements for part in ast.walk(node)}
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in docstrings and " " not in node.value:
            yield node.value


def test_only_the_lazy_loader_imports_by_a_text():
    callers = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if re.search(r"\b(import_module|__import__)\(", path.read_text(encoding="utf-8"))
    }
    assert callers == {"core/packages.py"}


def test_no_type_is_told_by_its_name():
    """What a lower layer may not import, it may not ask for by name either."""
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Compare):
                continue
            parts = [part for side in (node.left, *node.comparators) for part in ast.walk(side)]
            attributes = {part.attr for part in parts if isinstance(part, ast.Attribute)}
            names = {part.value for part in parts if isinstance(part, ast.Constant)}
            if "__name__" in attributes and names & class_names():
                wrong.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    assert not wrong


@functools.cache
def class_names():
    """Return the names of all classes of the package."""
    names = set()
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names |= {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    return names


def test_importing_the_package_and_its_help_loads_no_heavy_library():
    code = (
        "import sys, bayesbias; from click.testing import CliRunner; from bayesbias.cli.main import cli; "
        "assert CliRunner().invoke(cli, ['--help']).exit_code == 0; "
        f"print(*[name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_no_public_name_is_that_of_a_module_beside_it():
    """Importing the module would put it in the place of the function."""
    for stub in PACKAGE.rglob("__init__.pyi"):
        modules = {
            p.stem
            for p in stub.parent.iterdir()
            if p.suffix == ".py" or (p / "__init__.py").is_file()
        }
        for node in ast.parse(stub.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and node.module:
                assert not modules & {alias.asname or alias.name for alias in node.names}, stub
