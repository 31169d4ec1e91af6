"""Every block of code in the documents runs as printed, and what a page says it prints is what it prints."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.documents import DOCS, Block, blocks_of, commands_of, pages, run_page
from helpers.pages import without_figures, without_pictures
from helpers.places import ROOT


def each(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.relative_to(DOCS).as_posix())


def written(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("helpers.documents.ROOT", tmp_path)
    path = tmp_path / "page.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_blocks_and_marks_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "# Title\n\n% given\n% x = 1\n% if x:\n%     y = 2\n\n```python\nprint(x + y)\n```\n\n```text\n3\n```\n\n"
        "```{code-block} toml\n:caption: mine.toml\na = 1\n```\n\n% needs: no_such_package\n% long\n```sh\nbayesbias list\n```\n"
    )
    path = written(text, tmp_path, monkeypatch)
    given, code, said, file, shell = blocks_of(path)
    assert given.code == "\nx = 1\nif x:\n    y = 2"
    assert (code.code, said.code) == ("print(x + y)\n", "3\n")
    assert (file.caption, file.code) == ("mine.toml", "a = 1\n")
    assert shell.long
    assert shell.lacks() == ["no_such_package"]
    left_out = run_page(path, tmp_path, monkeypatch, as_printed=True)
    assert left_out == ["page.md:23: needs no_such_package"]
    assert (tmp_path / "mine.toml").read_text() == "a = 1\n"


def test_what_a_page_says_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def said(printed: str, block: str) -> None:
        text = f"```python\nprint({printed!r})\n```\n\n{block}\n"
        run_page(written(text, tmp_path, monkeypatch), tmp_path, monkeypatch)

    said("a 1\nb 2\nc 3", "```text\na 1\n...\nc 3\n```")
    said("a -0.25", "% sampled\n```text\na 0.31\n```")
    for printed, block in (
        ("a 1", "```text\na 2\n```"),
        ("a 1\nb", "```text\na 1\n```"),
        ("b 0.25", "% sampled\n```text\na 0.31\n```"),
    ):
        with pytest.raises(AssertionError, match=r"page\.md:\d says"):
            said(printed, block)


def test_a_command_of_another_program_is_not_passed_over() -> None:
    assert commands_of(Block("p", 1, "sh", "# a note\npip install x\nbayesbias list \\\n    models\n")) == [
        "bayesbias list models"
    ]
    with pytest.raises(AssertionError, match="no command that is run here"):
        commands_of(Block("p", 1, "sh", "rm -r x\n"))


def test_there_are_pages() -> None:
    names = {path.relative_to(ROOT).as_posix() for path in pages()}
    assert {"docs/howto/own-vectors.md", "docs/howto/ci.md", "docs/coming-from/wefe.md"} <= names


@each([path for path in pages() if path.parent.name != "gallery"])  # nothing but figures, drawn as printed
@pytest.mark.slow
def test_blocks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Quickly: with few draws, without the drawing of figures of runs and pages, and without what is marked long."""
    without_figures(monkeypatch)
    without_pictures(monkeypatch)
    run_page(path, tmp_path, monkeypatch)


@pytest.mark.claim
@each(pages())
def test_blocks_run_as_printed(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = [said for said in run_page(path, tmp_path, monkeypatch, as_printed=True) if ": needs " in said]
    if lacking:
        pytest.skip("all but what is not installed here ran: " + "; ".join(lacking))
