"""The code of a document: its blocks, and running them from top to bottom in one folder.

Blocks of `python` and `sh` are run. A comment may stand before a block: `<!-- file: NAME -->` (the block is a file of
that name), `<!-- needs: PACKAGE -->` (left out without the package), `<!-- long -->` (run by `make claims` only),
`<!-- not run: REASON -->`, and `<!-- given -->` (each comment below it is a line that makes the reader's files).
"""

import contextlib
import functools
import importlib.util
import io
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import pytest
from click.testing import CliRunner

from helpers.places import ROOT

DOCS = ROOT / "docs"
FEWER = {"draws": 200, "tune": 300, "chains": 2}
SAMPLING = ("fit", "fit_replicates", "compare", "seat", "wefat", "sentiment_analysis")
COMMANDS = ("fit ", "compare ", "wefat ", "seat --", "sentiment --")
_FENCE = re.compile(r"^(`{3,})([a-z]*|\{.*) *$")


@dataclass(frozen=True)
class Block:
    """One block of a document."""

    page: str
    line: int
    language: str
    code: str
    file: str | None = None
    needs: tuple[str, ...] = ()
    long: bool = False
    not_run: bool = False


def pages() -> list[Path]:
    """Return the README and all pages with code that is run."""
    every = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
    every = [path for path in every if "_build" not in path.parts]
    return [path for path in every if any(b.language in ("python", "sh") for b in blocks_of(path))]


def blocks_of(path: Path) -> list[Block]:
    """Return the blocks of a document, in order."""
    found: list[Block] = []
    marks: dict[str, Any] = {}
    given: list[str] = []
    lines = iter(enumerate(path.read_text(encoding="utf-8").splitlines(), start=1))
    page = path.relative_to(ROOT).as_posix()
    for number, line in lines:
        if line.startswith("<!--"):
            hidden = line.removeprefix("<!-- ").removesuffix(" -->")
            said = hidden.strip()
            if said == "given" or given:
                given.append("" if said == "given" else hidden)
            elif said.startswith("needs:"):
                marks["needs"] = tuple(said.removeprefix("needs:").split())
            elif said.startswith("file:"):
                marks["file"] = said.removeprefix("file:").strip()
            elif said == "long":
                marks["long"] = True
            elif said.startswith("not run"):
                marks["not_run"] = True
            continue
        if given:
            code = "\n".join(given)
            found.append(Block(page, number - len(given), "python", code, **marks))
            given = []
        if opened := _FENCE.match(line):
            code = _rest_of_block(lines, opened[1])
            found.append(Block(page, number, opened[2], code, **marks))
        if line.strip():
            marks = {}
    return found


def _rest_of_block(lines: Iterator[tuple[int, str]], fence: str) -> str:
    code = []
    for _, line in lines:
        if line.strip() == fence:
            break
        if line.strip() or code:
            code.append(line)
    return "\n".join(code) + "\n"


def run_command(line: str, quickly: bool = False) -> None:
    """Run one line of a shell in this process, with fewer draws if quickly; installing is passed over."""
    from bayesbias.cli.main import cli

    name, *arguments = shlex.split(line, comments=True)
    if name in ("pip", "make", "git", "cd"):
        return
    assert name == "bayesbias", line
    into = None
    if ">" in arguments:
        *arguments, _, into = arguments
    if quickly and line.removeprefix("bayesbias ").startswith(COMMANDS):
        arguments += [part for key, value in FEWER.items() for part in (f"--{key}", str(value))]
    done = CliRunner().invoke(cli, arguments)
    # Of so few draws one of several fits may not converge, which ends with exit code 1.
    allowed = (0, 1) if quickly and re.search("not( all)? converged", done.output) else (0,)
    assert done.exit_code in allowed, f"{line}: {done.exception!r}\n{done.output}"
    if into is not None:
        Path(into).write_text(done.stdout, encoding="utf-8")


def run_page(path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, as_printed: bool) -> None:
    """Run the blocks of a page in a folder: as printed, or with fewer draws and without what is long."""
    from matplotlib import pyplot as plt

    import bayesbias as bb

    monkeypatch.chdir(folder)
    monkeypatch.setattr("matplotlib.rcParams", matplotlib.rcParams.copy())
    if not as_printed:
        for name in SAMPLING:
            monkeypatch.setattr(bb, name, functools.partial(getattr(bb, name), **FEWER))
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks_of(path):
        if block.file is not None:
            Path(block.file).parent.mkdir(parents=True, exist_ok=True)
            Path(block.file).write_text(block.code, encoding="utf-8")
            continue
        if block.not_run or (block.long and not as_printed):
            continue
        if any(importlib.util.find_spec(name) is None for name in block.needs):
            continue
        if block.language == "sh":
            for line in re.sub(r"\\\n\s*", "", block.code).splitlines():
                if line.strip() and not line.startswith("#"):
                    run_command(line.strip(), quickly=not as_printed)
        elif block.language == "python":
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile("\n" * block.line + block.code, block.page, "exec"), names)
            plt.close("all")
