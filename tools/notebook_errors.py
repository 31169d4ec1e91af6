"""Find the Monte Carlo errors of the numbers in the notebooks, and write them into their cells.

Each notebook is run several times with other sampling seeds. For each cell tagged ``sampled`` the error of every
printed number, from its scatter over the runs, is stored in the cell's metadata; `tests/test_notebooks.py` compares
a fresh run with the stored one within them. The stored outputs are one of the runs and stay as they are.
Cells that need encoders are left out. Run it, with nothing else beside, after a change of what is sampled:

    PYTHONPATH=tests .venv/bin/python tools/notebook_errors.py notebooks/*.ipynb
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

import nbformat
from helpers import notebooks as nb

STEP = 1000  # between the seeds of two runs


def fresh_run(path: Path, shift: int, keep: Path) -> Path:
    """Run a notebook with moved seeds and keep it; an earlier run is taken where there is one."""
    target = keep / f"{path.stem}.{shift}.ipynb"
    if not target.exists():
        notebook = nb.without_results(path, whole=False, shift=shift)
        with tempfile.TemporaryDirectory() as folder:
            nb.execute(notebook, Path(folder))
        nbformat.write(notebook, target)
    return target


def record(path: Path, runs: list[Path]) -> None:
    """Write the errors into the sampled cells of a notebook, and say what does not fit its tag."""
    stored = nb.read(path)
    cells = [cell for cell in nb.code_cells(stored) if not nb.needs_encoders(cell)]
    others = [nb.code_cells(nb.read(run)) for run in runs]
    for i, cell in enumerate(cells):
        at = f"{path.name} cell {cell.execution_count}"
        versions = [cell, *(other[i] for other in others)]
        said = ["\n".join(nb.lines(version)) for version in versions]
        how = nb.kind(cell)
        if how == "exact" and len(set(said)) > 1:
            print(f"{at} is tagged exact, but varies")
        if how == "rounded" and any(nb.differences(cell, version) for version in versions[1:]):
            print(f"{at} is tagged rounded, but varies: tag it sampled")
        if how != "sampled":
            cell.metadata.pop("monte_carlo", None)
            continue
        errors = nb.errors_of_runs(versions)
        if len(set(said)) == 1 and nb.numbers(said[0]):
            print(f"{at} is tagged sampled, but does not vary: tag it rounded or exact")
        for line, found in zip(nb.lines(cell), errors.lines, strict=True):
            if found is None:
                print(f"{at}: the words hang on the seed: {line.strip()}")
        cell.metadata["monte_carlo"] = errors.to_metadata()
        widest = max((e for line in errors.lines for e in line or ()), default=0.0)
        print(f"{at}: numbers may move by up to {nb.allowed(widest):.2g}")
    nbformat.write(stored, path)


def main() -> None:
    """Run the notebooks named on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("notebooks", nargs="+", type=Path)
    parser.add_argument("--runs", type=int, default=8, help="fresh runs beside the stored one (default 8)")
    parser.add_argument("--keep", type=Path, help="a folder for the runs, so that they can be used again")
    arguments = parser.parse_args()
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"
    os.environ["BAYESBIAS_PROGRESS"] = "off"
    with tempfile.TemporaryDirectory() as scratch:
        keep = arguments.keep or Path(scratch)
        keep.mkdir(parents=True, exist_ok=True)
        for path in arguments.notebooks:
            runs = []
            for k in range(1, arguments.runs + 1):
                runs.append(fresh_run(path, k * STEP, keep))
                print(f"{path.name}: run {k} of {arguments.runs}", file=sys.stderr)
            record(path, runs)


if __name__ == "__main__":
    main()
