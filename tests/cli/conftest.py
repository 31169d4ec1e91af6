"""Fixtures of the tests in this folder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from helpers.inputs import vector_text, vectors, wordlist_text
from helpers.layouts import problems_of, unknown_keys

import bayesbias
from bayesbias.cli import main, screen


@pytest.fixture(autouse=True)
def published_layouts(monkeypatch):
    """Hold whatever is printed with ``--json`` to the JSON Schema of its layout."""
    print_answer = screen.answer

    def answer(command, content, version=1):
        printed = {"schema": f"bayesbias.{command}/{version}", **content}
        assert problems_of(printed) == []
        assert unknown_keys(printed) == set()
        print_answer(command, content, version)

    monkeypatch.setattr(screen, "answer", answer)


@pytest.fixture(scope="session")
def files(tmp_path_factory) -> Path:
    """A folder with a word list, vectors, the table they make, and a model."""
    folder = tmp_path_factory.mktemp("input")
    (folder / "age.toml").write_text(wordlist_text(), encoding="utf-8")
    (folder / "vectors.txt").write_text(vector_text(vectors()), encoding="utf-8")
    table = bayesbias.distance_table(str(folder / "vectors.txt"), str(folder / "age.toml"))
    table.save(folder / "pairs.csv")
    spec = bayesbias.load_model("crossed")
    (folder / "own.toml").write_text(spec.text.replace('name = "crossed"', 'name = "own"'), encoding="utf-8")
    return folder


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command in this process; return exit code, stdout and stderr."""

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["bayesbias", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main.main()
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return call
