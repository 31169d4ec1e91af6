"""Check a wheel and a source distribution before they are published; print everything that is wrong with them.

Usage: check_release.py FOLDER, which holds one of each, as `python -m build` leaves them.
"""

import email
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST_BYTES = 30_000_000
NEEDED = (
    "bayesbias/__init__.py", "bayesbias/__init__.pyi", "bayesbias/py.typed", "bayesbias/cli/main.py",
    "bayesbias/_data/wordlists/religion.toml", "bayesbias/_data/models/default.toml",
    "bayesbias/_data/embeddings/minilm-static/LICENSE", "bayesbias/_data/lesson/averaging.js",
    "bayesbias/_data/notebooks/05_occupations_in_sentiment.ipynb",
)  # fmt: skip
NEEDED_IN_SOURCE = (
    "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "CITATION.cff", "constraints.txt",
    "bayesbias/__init__.py", "tests/conftest.py", "wordlists/religion.toml", "models/default.toml",
)  # fmt: skip
STRAY = re.compile(
    r"(^|/)(__pycache__|\.venv[^/]*|\.git|\.pytest_cache|dist|shared)(/|$)|\.(pyc|orig|rej)$"
)


def version_of_source():
    """Return the version that the package states."""
    text = (ROOT / "bayesbias/__init__.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)[1]


def states_of_version(root, version):
    """Return where another version is stated."""
    states = {
        "CITATION.cff": r"^version: (\S+)$",
        "CHANGELOG.md": r"^## (\S+)",
        "packaging/recipe.yaml": r"^  version: (\S+)$",
    }
    found = {
        name: re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        for name, pattern in states.items()
    }
    return [
        f"{name}: another version than {version}"
        for name, match in found.items()
        if match is None or match[1] != version
    ]


def contents(path):
    """Return the names in an archive, without the folder of a source distribution, and its metadata."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            (held,) = (name for name in names if name.endswith(".dist-info/METADATA"))
            return names, archive.read(held).decode()
    with tarfile.open(path) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
        (held,) = (
            name
            for name in archive.getnames()
            if name.count("/") == 1 and name.endswith("PKG-INFO")
        )
        return names, archive.extractfile(held).read().decode()


def problems_of(path, needed, version):
    """Return what is wrong with a wheel or a source distribution."""
    names, text = contents(path)
    metadata = email.message_from_string(text)
    wanted = {
        "Name": "bayesbias",
        "Version": version,
        "License-Expression": "MIT",
        "Requires-Python": ">=3.12",
    }
    problems = [f"lacks {name}" for name in needed if name not in names]
    problems += [f"holds {name}" for name in names if STRAY.search(name)]
    problems += [
        f"{key} is {metadata[key]}" for key, value in wanted.items() if metadata[key] != value
    ]
    problems += [
        f"requires {line}" for line in metadata.get_all("Requires-Dist", []) if "://" in line
    ]
    if path.stat().st_size > MOST_BYTES:
        problems.append(f"has {path.stat().st_size:,} bytes")
    print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB")
    return [f"{path.name}: {problem}" for problem in problems]


def main(folder):
    """Check both files; return what is wrong."""
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    version = version_of_source()
    modules = tuple(str(p.relative_to(ROOT)) for p in (ROOT / "bayesbias").rglob("*.py"))
    problems = states_of_version(ROOT, version)
    problems += problems_of(wheel, (*NEEDED, *modules), version)
    problems += problems_of(source, NEEDED_IN_SOURCE, version)
    command = [sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return problems + ([f"twine check: {done.stdout.strip()}"] if done.returncode else [])


if __name__ == "__main__":
    found = main(Path(sys.argv[1]))
    print("\n".join(found) or "nothing is wrong with them")
    sys.exit(bool(found))
