"""The order of the modules, what they may import, and what no file may hold."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "bayesbias"

# Each module imports only from modules further up. A new module is given its place here.
ORDER = (
    "_wording",
    "errors",
    "_resources",
    "rrandom",
    "_progress",
    "spec",
    "wordlist",
    "_vectorfiles",
    "_vectorindex",
    "embedding",
    "_encodercache",
    "_encoderfiles",
    "_encodermodels",
    "encoder",
    "distance",
    "sentences",
    "_classifiers",
    "_predictions",
    "sentiment",
    "debias",
    "permutation",
    "baseline",
    "_kernel",
    "collapsed",
    "posterior",
    "reporting",
    "model",
    "association",
    "construction",
    "comparison",
    "simulation",
    "_workers",
    "sweep",
    "calibration",
    "_canvas",
    "figures",
    "_figures_critique",
    "_figures_comparison",
    "_figures_seat",
    "_figures_sentiment",
    "_reporting_sentiment",
    "_htmlparts",
    "_htmlreport_sentiment",
    "htmlreport",
    "_cli_options",
    "_cli_calibrate",
    "_cli_compare",
    "_cli_measure",
    "_cli_report",
    "_cli_seat",
    "_cli_sentiment",
    "_cli_sweep",
    "cli",
)
# What only some modules may import.
ALLOWED = {
    "pymc": {"model"},
    "pytensor": {"model"},
    "nutpie": {"model"},
    "arviz": {"posterior"},
    "click": {
        "cli",
        "_cli_calibrate",
        "_cli_compare",
        "_cli_measure",
        "_cli_options",
        "_cli_report",
        "_cli_seat",
        "_cli_sentiment",
        "_cli_sweep",
    },
    "numba": {"_kernel"},
    "jinja2": {"htmlreport"},
    "sklearn": {"_classifiers"},
    "joblib": {"_classifiers"},
    "sentence_transformers": {"encoder"},
}
# What takes long to import, and must wait inside functions. numpy may not load with the package either.
HEAVY = (
    "arviz", "gensim", "h5py", "jinja2", "joblib", "matplotlib", "numba", "nutpie", "numpy", "pandas", "pyarrow", "pymc",
    "pytensor", "safetensors", "scipy", "sentence_transformers", "sklearn", "tokenizers", "torch", "transformers", "xarray",
)  # fmt: skip
LATE = set(HEAVY) - {"numpy"}
WITHOUT_NUMPY = {"errors", "_resources", "wordlist", "cli", "__init__"}


def modules() -> list[str]:
    return sorted(path.stem for path in PACKAGE.glob("*.py") if path.stem != "__init__")


def tree(module: str) -> ast.Module:
    return ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))


def public() -> dict[str, str]:
    """Return the public names and the modules that hold them, from the package's own table."""
    import bayesbias

    return dict(bayesbias._MODULE_OF)


@functools.cache
def imported(module: str) -> set[tuple[str, str]]:
    """All (package, module of the package or "") that a module imports, at the top or inside functions."""
    out = set()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                head, _, rest = alias.name.partition(".")
                out.add((head, rest.split(".")[0]))
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute"
            head, _, rest = (node.module or "").partition(".")
            if rest:
                out.add((head, rest.split(".")[0]))
            else:
                out |= {(head, alias.name) if head == "bayesbias" else (head, "") for alias in node.names}
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "bayesbias"
            and node.attr in public()
        ):
            out.add(("bayesbias", public()[node.attr]))  # `bayesbias.fit` reaches into a module as well
    return out


@pytest.mark.parametrize("module", modules())
def test_each_module_imports_only_from_those_above_it(module):
    assert module in ORDER, f"{module} has no place in the order of the modules"
    above = set(ORDER[: ORDER.index(module)])
    names = {public().get(name, name) for head, name in imported(module) if head == "bayesbias" and name}
    assert names - {"__version__"} <= above


@pytest.mark.parametrize("package", sorted(ALLOWED))
def test_one_module_speaks_to_each_big_library(package):
    users = {module for module in modules() if any(head == package for head, _ in imported(module))}
    assert users <= ALLOWED[package]
    assert users or package == "pytensor"


@pytest.mark.parametrize("module", [*modules(), "__init__"])
def test_heavy_libraries_are_imported_inside_functions(module):
    top = [node for node in tree(module).body if isinstance(node, ast.Import | ast.ImportFrom)]
    heads = {
        name.split(".")[0]
        for node in top
        for name in ([a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""])
    }
    # The kernel is nothing but numba, and is itself imported inside functions.
    late = LATE - {"numba"} if module == "_kernel" else LATE
    assert not heads & late
    if module in WITHOUT_NUMPY:
        assert "numpy" not in heads


def loaded_after(code: str) -> set[str]:
    report = "\nimport sys; print(*{name.split('.')[0] for name in sys.modules}, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code + report], capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stderr.split())


CALL = """
import sys
sys.argv = ["bayesbias", {arguments}]
from bayesbias.cli import main
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
def test_a_glance_at_the_package_loads_nothing_heavy(code):
    loaded = loaded_after(code)
    assert "bayesbias" in loaded
    assert loaded & set(HEAVY) == set()


def test_all_public_names_resolve_to_what_they_name():
    import bayesbias

    assert sorted(public()) == [name for name in bayesbias.__all__ if name != "__version__"]
    for name, module in public().items():
        value = getattr(bayesbias, name)
        assert name in sys.modules[f"bayesbias.{module}"].__all__, f"{module}.__all__ lacks {name}"
        assert getattr(value, "__module__", f"bayesbias.{module}") == f"bayesbias.{module}"
    assert set(public()) <= set(dir(bayesbias))
    with pytest.raises(AttributeError, match="no attribute 'fitt'"):
        bayesbias.fitt  # noqa: B018


def test_no_public_name_is_the_name_of_a_module():
    """`bayesbias.NAME` would be the module as soon as anything had imported it, and the function before."""
    assert set(public()) & set(modules()) == set()


# -- what no file may hold -------------------------------------------------------------------------

SKIPPED = {
    ".venv-bench",
    ".venv-encoders",
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
FOLDERS = "|".join(("work", "root", "home", "tmp", "Users"))
PATH = re.compile(rf"(?<![\w./~\-}})$])/(?:{FOLDERS})/(?!someone\b)\w")


def texts() -> list[Path]:
    out = []
    for folder, inner, names in ROOT.walk():
        inner[:] = [name for name in inner if name not in SKIPPED and not name.endswith(".egg-info")]
        out += [folder / name for name in names]
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
        suspect = any(f"/{folder}/" in text for folder in FOLDERS.split("|"))  # quick, for large files
        hits = [match.group() for match in PATH.finditer(text)] if suspect else []
        hits += [place for place in places if f"{place}/" in text]
        found += [f"{path.relative_to(ROOT)}: {hit}" for hit in hits]
    assert found == []
    assert read > 40
    assert PATH.search("see " + "/ro" + "ot/x")
    assert not PATH.search("https://x.org/home/y")
