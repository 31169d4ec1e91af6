"""Run the tests against a package that is installed, in a copy of the checkout without it.

Usage: test_elsewhere.py PYTHON [ARGUMENT OF PYTEST...] - the interpreter of the environment that holds the package.

The copy has all that git tracks but `bayesbias/`, in whose place stand links to the files that were installed: so tests
that read the sources read those of the wheel too, and nothing of the checkout can be imported.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "bayesbias"


def installed(python: str, folder: Path) -> Path:
    """Return where the package lies in an environment; refuse the checkout itself."""
    code = f"import {PACKAGE}; print({PACKAGE}.__file__)"
    done = subprocess.run([python, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{python} has no {PACKAGE}: {done.stderr.strip().splitlines()[-1]}")
    place = Path(done.stdout.strip()).resolve().parent
    if place.is_relative_to(ROOT) and "site-packages" not in place.parts:
        sys.exit(f"{python} imports the checkout ({place}); install the wheel")
    return place


def copied(folder: Path) -> None:
    """Copy what git tracks, but for the package."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in done.stdout.decode().split("\0"):
        if name and not name.startswith(f"{PACKAGE}/") and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def linked(place: Path, folder: Path) -> None:
    """Link each file that was installed, but for what was compiled and for programs among the data, which are no rooms."""
    for path in place.rglob("*"):
        inner = path.relative_to(place)
        if (
            path.is_file()
            and "__pycache__" not in inner.parts
            and (inner.parts[0] != "_data" or path.suffix != ".py")
        ):
            (folder / inner).parent.mkdir(parents=True, exist_ok=True)
            (folder / inner).symlink_to(path)


def main(python: str, *arguments: str) -> int:
    """Copy, link, and run the tests there."""
    python = str(Path(python).absolute())
    with tempfile.TemporaryDirectory() as held:
        folder = Path(held) / "checkout"
        folder.mkdir()
        place = installed(python, Path(held))
        copied(folder)
        linked(place, folder / PACKAGE)
        # The folder itself is no place to import from: what is imported is what was installed.
        command = [
            python,
            "-m",
            "pytest",
            "tests",
            "-o",
            "pythonpath=tests",
            "-p",
            "no:cacheprovider",
            *arguments,
        ]
        print(f"testing {place}", flush=True)
        return subprocess.run(command, cwd=folder, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
