"""Install a wheel into an empty environment and run the fast tests against it.

Usage: test_wheel.py FOLDER CONSTRAINTS WHEEL, with the Python of the environment. `-` stands for no constraints: then
the newest versions are installed. What the tests need beside the package comes from the checkout, by links that stand
before the installed packages on the path; the package of the checkout is not among them.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import set_up

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ("hypothesis", "pytest", "pytest-xdist", "ipykernel", "nbclient", "nbformat")
BESIDE = ("validation", "benchmarks", "tools")
WHERE = (
    "import bayesbias, sysconfig; print(bayesbias.__file__); print(sysconfig.get_path('purelib'))"
)
# Old libraries warn of what newer ones dropped, and new ones of what they will drop.
WARNINGS = (
    "default::DeprecationWarning",
    "default::PendingDeprecationWarning",
    "default::FutureWarning",
)


def main(folder: Path, constraints: str, wheel: Path) -> str | None:
    """Install and test; return what is wrong, or None."""
    python = folder / "bin" / "python"
    file = os.devnull if constraints == "-" else constraints
    problem = set_up.main(folder, file, f"{wheel.resolve()}[classifiers,dask]", *TOOLS)
    if problem:
        return problem
    with tempfile.TemporaryDirectory() as elsewhere:
        done = subprocess.run(
            [python.absolute(), "-c", WHERE],
            cwd=elsewhere,
            capture_output=True,
            text=True,
            check=True,
        )
    module, packages = map(Path, done.stdout.splitlines())
    if not module.is_relative_to(packages):
        return f"{module} is not the wheel's"
    beside = folder / "beside"
    beside.mkdir(exist_ok=True)
    for name in BESIDE:
        (beside / name).unlink(missing_ok=True)
        (beside / name).symlink_to(ROOT / name)
    command = [folder / "bin" / "pytest", "tests", "-n", "2", "--dist", "worksteal", "-q"]
    command += ["-m", "not slow and not claim", "-o", f"pythonpath=tests {beside}"]
    for warning in WARNINGS:
        command += ["-W", warning]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    failed = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    return f"tests failed against {wheel.name} in {folder}" if failed else None


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])))
