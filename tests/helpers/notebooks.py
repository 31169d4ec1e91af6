"""Outputs of notebooks: what they say, run again with other seeds, and compared within Monte Carlo errors.

A code cell whose result is quoted in the text carries one of three tags:

``exact``
    No sampling in it, and what is printed does not hang on rounding: the same to the last digit.
``rounded``
    No sampling in it: each number within one unit of its last printed digit.
``sampled``
    Its numbers hang on the sampler's seed. The metadata ``monte_carlo`` has the error of each, from its scatter
    over runs with other seeds, found by `tools/notebook_errors.py`. Two runs agree where each number differs by no
    more than its error allows, plus one unit of its last printed digit.

Words are the same, but for lines of a sampled cell which hang on the seed: those whose words varied between the
runs, and those with a number that its Monte Carlo error leaves on either side of a threshold of the wording.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.places import ROOT
from helpers.seeds import shifted

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
CHANCE = 1e-6  # that one number is called different when only the seed is
THRESHOLDS = (-0.02, 0.0, 0.02)  # zero and the ends of the ROPE, at which verdicts turn
NOISE = 1e-12  # below it a number is rounding error of the processor, such as "to within 2e-16"

NUMBER = re.compile(r"(?<![\w.])[+-]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?")
_CONTINUED = re.compile(r"\n {2,3}(?=\S)")


def read(path: Path) -> Any:
    """Read a notebook."""
    import nbformat

    return nbformat.read(path, as_version=4)


def code_cells(notebook: Any) -> list[Any]:
    """Return the cells of code."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def tags(cell: Any) -> list[str]:
    """Return the tags of a cell."""
    return list(cell.metadata.get("tags", []))


def kind(cell: Any) -> str | None:
    """Return how a cell is compared: exact, rounded or sampled; None where only its outputs are counted."""
    found = [tag for tag in tags(cell) if tag in ("exact", "rounded", "sampled")]
    assert len(found) < 2, found
    return found[0] if found else None


def needs_encoders(cell: Any) -> bool:
    """Say whether a cell runs a real model."""
    return "needs-encoders" in tags(cell)


def text(output: Any) -> str:
    """Return what an output says: its stream, its plain text, or its error."""
    if output.output_type == "stream":
        return str(output.text)
    if output.output_type == "error":
        return "\n".join([output.ename, output.evalue, *output.traceback])
    return str(output.data.get("text/plain", ""))


def joined(outputs: list[Any]) -> list[Any]:
    """Join what one stream says in pieces, and leave out standard error, which is looked at apart."""
    out: list[Any] = []
    for output in outputs:
        if output.output_type == "stream" and output.name == "stderr":
            continue
        last = out[-1] if out else None
        if output.output_type == "stream" and last is not None and last.output_type == "stream":
            last.text += output.text
        else:
            out.append(output.copy())
    return out


def lines(cell: Any) -> list[str]:
    """Return what a cell says, line by line; a sentence broken over lines is one."""
    said = "\n".join(text(output) for output in joined(cell.outputs))
    if re.search(r"^(- |\d\. )", said, re.MULTILINE):
        said = _CONTINUED.sub(" ", said)
    return [line for line in said.splitlines() if line.strip()]


def numbers(said: str) -> list[float]:
    """Return the numbers in a text."""
    return [float(number.replace(",", "")) for number in NUMBER.findall(said)]


def units(said: str) -> list[float]:
    """Return one unit of the last printed digit of each number in a text."""
    out = []
    for number in NUMBER.findall(said):
        mantissa, _, exponent = number.partition("e")
        out.append(10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2])))
    return out


def words(said: str) -> str:
    """Return what is said without its numbers and spaces, whose widths follow from the numbers."""
    return re.sub(r"\s+", " ", NUMBER.sub("#", said)).strip()


# -- errors from several runs ------------------------------------------------------------------------


@dataclass(frozen=True)
class Errors:
    """What runs with other seeds told of one sampled cell.

    ``lines`` has, for each line, the Monte Carlo error of each of its numbers, or None where its words varied.
    """

    runs: int
    lines: tuple[tuple[float, ...] | None, ...]

    def to_metadata(self) -> dict[str, Any]:
        """Return them as a cell keeps them: one string a line."""
        said = ["words vary" if line is None else " ".join(f"{x:.3g}" for x in line) for line in self.lines]
        return {"runs": self.runs, "errors": said}

    @classmethod
    def of(cls, cell: Any) -> Errors:
        """Read them from a sampled cell."""
        found = cell.metadata["monte_carlo"]
        read_lines = (
            None if line == "words vary" else tuple(map(float, line.split())) for line in found["errors"]
        )
        return cls(found["runs"], tuple(read_lines))


def allowed(error: float) -> float:
    """Return by how much two runs may differ in a number with this error."""
    from scipy import stats

    return float(stats.norm.isf(CHANCE / 2) * np.sqrt(2) * error)


def errors_of_runs(runs: list[Any]) -> Errors:
    """Find the errors of one cell from the same cell in several runs; the first is the stored one.

    A few runs know a standard deviation to within a quarter only. So those of one column are drawn together, as far
    as their own scatter says that they are alike (moderated variances; Smyth 2004, section 6.2), and what is left of
    the uncertainty makes the error larger, as a quantile of t is larger than one of the normal distribution.
    """
    from scipy import stats

    said = [lines(cell) for cell in runs]
    if len({len(each) for each in said}) > 1:
        raise ValueError(f"the number of lines hangs on the seed, so nothing can be compared:\n{said[0]}")
    df = len(runs) - 1
    variances: list[np.ndarray | None] = []
    for versions in zip(*said, strict=True):
        if len({words(version) for version in versions}) > 1:
            variances.append(None)
            continue
        values = np.array([numbers(version) for version in versions])
        still = (np.ptp(values, axis=0) == 0) | (np.abs(values).max(axis=0, initial=0) < NOISE)
        variances.append(np.where(still, 0.0, values.var(axis=0, ddof=1)))
    columns: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for i, variance in enumerate(variances):
        if variance is not None:
            for j in range(len(variance)):
                columns.setdefault((len(variance), j), []).append((i, j))
    errors = [None if variance is None else np.zeros(len(variance)) for variance in variances]
    for places in columns.values():
        found = np.array([variances[i][j] for i, j in places])  # type: ignore[index]
        if not found.any():
            continue
        more, prior = _prior(found[found > 0], df)
        wider = stats.t.isf(CHANCE / 2, df + more) / stats.norm.isf(CHANCE / 2)
        for (i, j), v in zip(places, found, strict=True):
            errors[i][j] = wider * np.sqrt((more * prior + df * v) / (more + df))  # type: ignore[index]
    return Errors(len(runs), tuple(None if e is None else tuple(map(float, e)) for e in errors))


def _prior(variances: np.ndarray, df: int) -> tuple[float, float]:
    """Return degrees of freedom and value of the variance that several sample variances have in common."""
    from scipy import optimize, special

    if len(variances) < 3:
        return 0.0, 0.0
    e = np.log(variances) - special.digamma(df / 2) + np.log(df / 2)
    beyond = e.var(ddof=1) - special.polygamma(1, df / 2)
    most = 100.0
    if beyond <= special.polygamma(1, most / 2):
        more = most
    elif beyond >= special.polygamma(1, 0.05):
        return 0.0, 0.0
    else:
        more = optimize.brentq(lambda d: special.polygamma(1, d / 2) - beyond, 0.1, most)
    return float(more), float(np.exp(e.mean() + special.digamma(more / 2) - np.log(more / 2)))


# -- two runs compared -------------------------------------------------------------------------------


def differences(before: Any, after: Any) -> list[str]:
    """Say where two runs of a cell differ by more than its tag allows."""
    old, new = lines(before), lines(after)
    if len(old) != len(new):
        return [f"the lines changed:\n{old}\nis now\n{new}"]
    how = kind(before)
    errors = Errors.of(before) if how == "sampled" else None
    out = []
    for i, (a, b) in enumerate(zip(old, new, strict=True)):
        line = None if errors is None else errors.lines[i]
        if errors is not None and line is None:
            continue
        if errors is None:
            most = [0.0 if how == "exact" else unit for unit in units(a)]
        else:
            assert line is not None
            most = [allowed(error) + unit for error, unit in zip(line, units(a), strict=True)]
        if words(a) != words(b):
            if errors is None or line is None or not _open(a, line, most):
                out.append(f"the words changed:\n{a}\nis now\n{b}")
            continue
        for x, y, by in zip(numbers(a), numbers(b), most, strict=True):
            noise = how != "exact" and max(abs(x), abs(y)) < NOISE
            if abs(x - y) > by * (1 + 1e-9) and not noise:
                out.append(f"{x:g} is now {y:g}, by more than {by:.2g}, in: {a.strip()}")
    return out


def _open(said: str, errors: tuple[float, ...], most: list[float]) -> bool:
    """Say whether a sampled number lies so near a threshold of the wording that the seed decides the words."""
    return any(
        error > 0 and any(abs(x - threshold) <= by for threshold in THRESHOLDS)
        for x, error, by in zip(numbers(said), errors, most, strict=True)
    )


# -- running -----------------------------------------------------------------------------------------


def moved(source: str, shift: int) -> str:
    """Move the sampling seeds in the source of a cell."""
    return source.replace("seed=SEED", f"seed={shift} + SEED") if shift else source


def without_results(path: Path, *, whole: bool, shift: int) -> Any:
    """Read a notebook to be run: its outputs taken out, its seeds moved but where the result is exact."""
    notebook = read(path)
    if not whole:
        notebook.cells = [cell for cell in notebook.cells if not needs_encoders(cell)]
    for cell in code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
        if kind(cell) != "exact":
            cell.source = moved(cell.source, shift)
    return notebook


def execute(notebook: Any, folder: Path) -> None:
    """Run a notebook in a folder, with the kernel of this environment; raises where a cell does.

    Kernel and client speak by sockets in a folder of their own: free ports, looked for by several tests at once, may be
    taken by another before they are bound. A machine that does much else is given time to start it and to hand over pictures.
    """
    import nbclient
    from traitlets.config import Config

    with tempfile.TemporaryDirectory(
        prefix="nb-"
    ) as sockets:  # a short path: those of sockets have 107 characters
        nbclient.NotebookClient(
            notebook,
            config=Config({"ConnectionFileMixin": {"transport": "ipc", "ip": f"{sockets}/k"}}),
            kernel_name="python3",
            timeout=600,
            startup_timeout=300,
            iopub_timeout=60,
            resources={"metadata": {"path": str(folder)}},
        ).execute()


# -- what a reader sees ------------------------------------------------------------------------------

# Two or more parts, so that a closing tag of HTML is none; or a drive letter.
PATH = re.compile(r"(?<![\w<./~])~?/(?:[\w.+-]+/)+[\w.+-]+|\b[A-Za-z]:\\\w")


def everything(output: Any) -> str:
    """Return all that a reader can see of an output but its pictures."""
    data = output.get("data", {})
    return "\n".join(
        [text(output), *(str(value) for kind, value in data.items() if not kind.startswith("image/png"))]
    )


def machine() -> list[str]:
    """Folders of this machine that no output may name."""
    folders = {str(ROOT), str(ROOT.parent), str(Path.home()), tempfile.gettempdir(), sys.prefix}
    return sorted(folder for folder in folders if len(folder) > 1)


def paths_in(said: str) -> list[str]:
    known = [folder for folder in machine() if re.search(rf"(?<![\w<.]){re.escape(folder)}(?![\w-])", said)]
    return [*known, *PATH.findall(said)]


def run_again(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, whole: bool) -> None:
    """Run a notebook, or the part of it that needs no encoders, and compare it with what is stored."""
    import nbformat

    pytest.importorskip("nbclient")
    # The kernel of this environment, whatever else the user has installed or set up.
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "1")
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv(
        "BAYESBIAS_PROGRESS", "off"
    )  # a bar is an output, and hangs on the speed of the machine
    here = tmp_path / "run"
    here.mkdir()
    stored = [cell for cell in code_cells(read(path)) if whole or not needs_encoders(cell)]
    notebook = without_results(path, whole=whole, shift=shifted(0))
    probe = nbformat.v4.new_code_cell("import sys; print(sys.prefix)")
    notebook.cells.append(probe)
    execute(notebook, here)

    assert os.path.realpath(text(probe.outputs[0]).strip()) == os.path.realpath(sys.prefix)
    notebook.cells.pop()
    assert list(here.iterdir()) == [], "a notebook leaves no files where it is run"
    wrong = []
    for before, after in zip(stored, code_cells(notebook), strict=True):
        at = f"cell {before.execution_count}"
        for output in after.outputs:
            assert "Warning" not in everything(output), at
            assert paths_in(everything(output)) == [], at
        kinds = [[output.output_type for output in joined(cell.outputs)] for cell in (before, after)]
        assert kinds[0] == kinds[1], f"{at}:\n{before.source}"
        if kind(before) is not None:
            wrong += [f"{at}: {change}" for change in differences(before, after)]
    assert wrong == []
