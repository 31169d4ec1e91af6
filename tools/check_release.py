"""Look at a wheel and a source distribution before they are given away; say everything that is wrong with them.

Usage: check_release.py FOLDER - which holds one of each, as `python -m build` leaves them.
"""

import email
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST_BYTES = {"wheel": 12_000_000, "source": 30_000_000}
# What a user cannot do without, and what has no place with them.
NEEDED_IN_WHEEL = (
    "bayesbias/__init__.py", "bayesbias/__init__.pyi", "bayesbias/py.typed", "bayesbias/cli/main.py",
    "bayesbias/_data/wordlists/religion.toml", "bayesbias/_data/models/default.toml",
    "bayesbias/_data/embeddings/minilm-static/LICENSE", "bayesbias/_data/embeddings/minilm-static/MODEL.toml",
)  # fmt: skip
NEEDED_IN_SOURCE = (
    "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "CITATION.cff", "constraints.txt",
    "bayesbias/__init__.py", "tests/conftest.py", "wordlists/religion.toml", "models/default.toml",
)  # fmt: skip
STRAY = re.compile(
    r"(^|/)(__pycache__|\.venv[^/]*|\.git|\.pytest_cache|\.ipynb_checkpoints|dist|shared)(/|$)|\.(pyc|orig|rej)$"
)


def version_of_source() -> str:
    """Return the version that the package states, which is the only place where it stands as code."""
    text = (ROOT / "bayesbias" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    assert found is not None
    return found[1]


def states_of_version(root: Path, version: str) -> list[str]:
    """Say where papers that name the version name another."""
    problems = []
    cited = re.search(r"^version: (\S+)$", (root / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    if cited is None or cited[1] != version:
        problems.append(f"CITATION.cff: version {cited and cited[1]}, and the package is {version}")
    heading = re.search(r"^## (\S+)", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    if heading is None or heading[1] != version:
        problems.append(f"CHANGELOG.md: begins with {heading and heading[1]}, and the package is {version}")
    return problems


def problems_of_names(names: list[str], needed: tuple[str, ...], where: str) -> list[str]:
    """Say what is lacking, and what is there that should not be."""
    lacking = [f"{where}: lacks {name}" for name in needed if name not in names]
    return lacking + [f"{where}: holds {name}" for name in names if STRAY.search(name)]


def problems_of_metadata(text: str, version: str, where: str) -> list[str]:
    """Say what the metadata gets wrong."""
    covariates = email.message_from_string(text)
    wanted = {
        "Name": "bayesbias",
        "Version": version,
        "License-Expression": "MIT",
        "Requires-Python": ">=3.12",
    }
    problems = [
        f"{where}: {key} is {covariates[key]}, not {value}"
        for key, value in wanted.items()
        if covariates[key] != value
    ]
    pinned = [
        line
        for line in covariates.get_all("Requires-Dist", [])
        if "==" in line.partition(";")[0] or "://" in line
    ]
    return problems + [f"{where}: requires {line}" for line in pinned]


def problems_of_wheel(path: Path, version: str) -> list[str]:
    """Say what is wrong with a wheel."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        info = f"bayesbias-{version}.dist-info"
        metadata = archive.read(f"{info}/METADATA").decode() if f"{info}/METADATA" in names else ""
        entry = (
            archive.read(f"{info}/entry_points.txt").decode() if f"{info}/entry_points.txt" in names else ""
        )
    where = path.name
    problems = problems_of_names(names, NEEDED_IN_WHEEL, where)
    problems += problems_of_metadata(metadata, version, where)
    problems += [
        f"{where}: holds {name}" for name in names if name.partition("/")[0] not in ("bayesbias", info)
    ]
    tracked = {
        f"{each.relative_to(ROOT)}"
        for each in (ROOT / "bayesbias").rglob("*.py*")
        if each.suffix in (".py", ".pyi")
    }
    problems += [f"{where}: lacks {name}" for name in sorted(tracked - set(names))]
    if "bayesbias = bayesbias.cli.main:main" not in entry:
        problems.append(f"{where}: has no command bayesbias")
    if path.stat().st_size > MOST_BYTES["wheel"]:
        problems.append(f"{where}: has {path.stat().st_size:,} bytes, more than {MOST_BYTES['wheel']:,}")
    return problems


def problems_of_source(path: Path, version: str) -> list[str]:
    """Say what is wrong with a source distribution."""
    stem = f"bayesbias-{version}/"
    with tarfile.open(path) as archive:
        names = archive.getnames()
        held = archive.extractfile(f"{stem}PKG-INFO") if f"{stem}PKG-INFO" in names else None
        metadata = "" if held is None else held.read().decode()
    where = path.name
    problems = [f"{where}: holds {name}" for name in names if not name.startswith(stem.rstrip("/"))]
    problems += problems_of_names([name.removeprefix(stem) for name in names], NEEDED_IN_SOURCE, where)
    problems += problems_of_metadata(metadata, version, where)
    if path.stat().st_size > MOST_BYTES["source"]:
        problems.append(f"{where}: has {path.stat().st_size:,} bytes, more than {MOST_BYTES['source']:,}")
    return problems


def main(folder: Path) -> list[str]:
    """Look at both; return what is wrong."""
    wheels, sources = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    if len(wheels) != 1 or len(sources) != 1:
        return [
            f"{folder}: holds {len(wheels)} wheels and {len(sources)} source distributions, not one of each"
        ]
    version = version_of_source()
    problems = states_of_version(ROOT, version)
    problems += problems_of_wheel(wheels[0], version) + problems_of_source(sources[0], version)
    command = [sys.executable, "-m", "twine", "check", "--strict", str(wheels[0]), str(sources[0])]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        problems.append(f"twine check: {done.stdout.strip()}")
    for path in (wheels[0], sources[0]):
        print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB")
    return problems


if __name__ == "__main__":
    found = main(Path(sys.argv[1]))
    print("\n".join(found) or "nothing is wrong with them")
    sys.exit(1 if found else 0)
