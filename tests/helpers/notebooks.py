"""Reading notebooks and running them."""

import tempfile
from pathlib import Path
from typing import Any

import pytest

from helpers.places import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def read(path: Path) -> Any:
    import nbformat

    return nbformat.read(path, as_version=4)


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def needs_encoders(cell: Any) -> bool:
    return "needs-encoders" in cell.metadata.get("tags", [])


def run_again(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, whole: bool) -> None:
    """Run a notebook, or the part of it that needs no encoders, beside its data; raises where a cell does."""
    nbclient = pytest.importorskip("nbclient")
    from traitlets.config import Config

    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "1")  # the kernel of this environment
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("BAYESBIAS_PROGRESS", "off")
    here = tmp_path / "run"
    here.mkdir()
    (here / "data").symlink_to(ROOT / "notebooks" / "data")
    notebook = read(path)
    notebook.cells = [cell for cell in notebook.cells if whole or not needs_encoders(cell)]
    # Sockets in a folder of their own, since free ports may be taken by another test; its path is short.
    with tempfile.TemporaryDirectory(prefix="nb-") as sockets:
        nbclient.NotebookClient(
            notebook,
            config=Config({"ConnectionFileMixin": {"transport": "ipc", "ip": f"{sockets}/k"}}),
            kernel_name="python3",
            timeout=600,
            startup_timeout=300,
            resources={"metadata": {"path": str(here)}},
        ).execute()
    assert [each.name for each in here.iterdir()] == ["data"], (
        "a notebook leaves no files where it is run"
    )
    for output in (output for cell in code_cells(notebook) for output in cell.outputs):
        assert output.get("name") != "stderr", output
