"""The code of a document: its blocks, and running them as a reader would, from top to bottom in one folder.

A block is what stands between fences. Of MyST's directives ``{code-block}`` is known: with a ``:caption:`` it is a
file of that name. A line beginning with ``%``, which is not printed (``<!-- ... -->`` on pages that other sites show too), may
stand before a block:

``% needs: PACKAGE``
    Left out where the package (or, for R, ``Rscript``) is not there.
``% long``
    Run as a claim only.
``% not run: REASON``
    Never run here, and why.
``% given``
    Not printed: code that makes the files which the reader of the page has. It stands in one comment:
    each line begins with ``%``.

A block of text right after a block that was run is what it prints, to the letter; ``% sampled`` before it says that
its numbers hang on draws, and then only its words are compared.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import io
import re
import shlex
import shutil
import subprocess
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
FEWER_QUICKLY = {**FEWER, "engine": "quick"}
CALLS = {
    "fit": FEWER_QUICKLY,
    "compare": FEWER,
    "seat": FEWER,
    "wefat": FEWER,
    "sentiment_analysis": FEWER,
}
OPTIONS = {
    "bayesbias fit ": FEWER_QUICKLY,
    "bayesbias compare ": FEWER,
    "bayesbias wefat ": FEWER,
    "bayesbias seat --": FEWER,
    "bayesbias sentiment --": FEWER,
}
RUN = ("python", "sh", "r")
_FENCE = re.compile(r"^(`{3,})(?:\{code-block\} *)?([a-z]*) *$")
_NUMBER = re.compile(r"[-+]?\d[\d.,]*(?:e[-+]?\d+)?%?")


@dataclass(frozen=True)
class Block:
    """One block of a document."""

    page: str
    line: int
    language: str
    code: str
    caption: str | None = None
    needs: tuple[str, ...] = ()
    long: bool = False
    not_run: str | None = None
    sampled: bool = False

    def lacks(self) -> list[str]:
        """Return what the block needs and is not here."""
        return [name for name in self.needs if not _is_here(name)]


def _is_here(name: str) -> bool:
    if name.startswith("R:"):
        script = shutil.which("Rscript")
        if script is None:
            return False
        asked = f"quit(status = !requireNamespace('{name[2:]}', quietly = TRUE))"
        return subprocess.run([script, "-e", asked], capture_output=True, timeout=60).returncode == 0
    return importlib.util.find_spec(name) is not None


def pages() -> list[Path]:
    """Return all documents with code that is run."""
    return sorted(
        path
        for path in DOCS.rglob("*.md")
        if "_build" not in path.parts and any(block.language in RUN for block in blocks_of(path))
    )


def blocks_of(path: Path) -> list[Block]:
    """Return the blocks of a document, in order."""
    found: list[Block] = []
    marks: dict[str, Any] = {}
    given: list[str] = []
    lines = iter(enumerate(path.read_text(encoding="utf-8").splitlines(), start=1))
    page = path.relative_to(ROOT).as_posix()
    for number, line in lines:
        if line.startswith(("%", "<!--")):
            _read_mark(line.replace("<!--", "%").removesuffix("-->"), marks, given)
            continue
        if given:
            found.append(Block(page, number - len(given), "python", "\n".join(given)))
            given = []
        opened = _FENCE.match(line)
        if opened is not None:
            caption, code = _rest_of_block(lines, opened[1])
            found.append(Block(page, number, opened[2], code, caption, **marks))
        if line.strip():
            marks = {}
    return found


def _read_mark(line: str, marks: dict[str, Any], given: list[str]) -> None:
    said = line[1:].strip()
    if said == "given" or given:
        given.append("" if said == "given" else line[2:])
    elif said.startswith("needs:"):
        marks["needs"] = tuple(said.removeprefix("needs:").split())
    elif said == "long":
        marks["long"] = True
    elif said == "sampled":
        marks["sampled"] = True
    elif said.startswith("not run:"):
        marks["not_run"] = said.removeprefix("not run:").strip()
    else:
        raise ValueError(f"unknown mark: {line}")


def _rest_of_block(lines: Iterator[tuple[int, str]], fence: str) -> tuple[str | None, str]:
    caption, code = None, []
    for _, line in lines:
        if line.strip() == fence:
            break
        option = re.match(r":(\w+): *(.*)$", line)
        if option is not None and not code:
            caption = option[2] if option[1] == "caption" else caption
        elif line.strip() or code:
            code.append(line)
    return caption, "\n".join(code) + "\n"


def run_line(line: str, **extra: object) -> tuple[str, str]:
    """Run one command in this process, with options added; return what it printed, on stdout and on stderr."""
    from bayesbias.cli.main import cli

    name, *arguments = shlex.split(line, comments=True)
    assert name == "bayesbias", line
    into = None
    if ">" in arguments:
        *arguments, _, into = arguments
    arguments += [part for option, value in extra.items() for part in (f"--{option}", str(value))]
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, f"{line}: {done.exception!r}\n{done.stdout}{done.stderr}"
    if into is not None:
        Path(into).write_text(done.stdout, encoding="utf-8")
    return done.stdout, done.stderr


def commands_of(block: Block) -> list[str]:
    """Return the commands of a block of shell; installing is left out."""
    joined = re.sub(r"\\\n\s*", "", block.code)
    lines = [line.strip() for line in joined.splitlines() if line.strip() and not line.startswith("#")]
    commands = [line for line in lines if not line.startswith("pip install")]
    other = [line for line in commands if not line.startswith("bayesbias ")]
    assert not other, f"{block.page}:{block.line}: {other} is no command that is run here"
    return commands


def run_page(
    path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, as_printed: bool = False
) -> list[str]:
    """Run the blocks of a page in a folder; return what was left out, and why.

    As printed takes as long as a reader waits. Otherwise fits have few draws and take the quick engine, and what is
    marked as long is left out.
    """
    from matplotlib import pyplot as plt

    import bayesbias as bb

    monkeypatch.chdir(folder)
    monkeypatch.setattr("matplotlib.rcParams", matplotlib.rcParams.copy())
    if not as_printed:
        for name, settings in CALLS.items():
            monkeypatch.setattr(bb, name, functools.partial(getattr(bb, name), **settings))
    names: dict[str, Any] = {"__name__": "__main__"}
    left_out: list[str] = []
    said: str | None = None
    for block in blocks_of(path):
        at = f"{block.page}:{block.line}"
        if block.caption is not None:
            Path(block.caption).parent.mkdir(parents=True, exist_ok=True)
            Path(block.caption).write_text(block.code, encoding="utf-8")
        elif block.language == "text":
            if said is not None:
                _check_said(block, said)
            said = None
        elif block.language in RUN:
            reason = _why_not(block, as_printed)
            if reason is not None:
                left_out.append(f"{at}: {reason}")
                said = None
            else:
                said = _run(block, names, as_printed)
                plt.close("all")  # matplotlib warns of many that are open
    return left_out


def _why_not(block: Block, as_printed: bool) -> str | None:
    if block.not_run is not None:
        return block.not_run
    if (block.long or block.language == "r") and not as_printed:
        return "takes long: `make claims` runs it"
    lacking = block.lacks()
    return f"needs {' and '.join(lacking)}" if lacking else None


def _run(block: Block, names: dict[str, Any], as_printed: bool) -> str:
    if block.language == "r":
        done = subprocess.run(["Rscript", "-"], input=block.code, capture_output=True, text=True, timeout=900)
        assert done.returncode == 0, done.stderr
        return done.stdout
    printed = io.StringIO()
    if block.language == "sh":
        for line in commands_of(block):
            starts = [] if as_printed else [start for start in OPTIONS if line.startswith(start)]
            stdout, stderr = run_line(line, **(OPTIONS[starts[0]] if starts else {}))
            assert "Traceback" not in stderr
            printed.write(stdout)
        return printed.getvalue()
    with contextlib.redirect_stdout(printed):
        exec(compile("\n" * block.line + block.code, block.page, "exec"), names)
    return printed.getvalue()


def _check_said(block: Block, said: str) -> None:
    """Compare a printed block with what was said; `...` in a line of its own stands for lines left out."""
    expected, found = block.code.rstrip(), said.rstrip()
    if block.sampled:
        expected, found = (_NUMBER.sub("#", text) for text in (expected, found))
        expected, found = (" ".join(text.split()) for text in (expected, found))
        expected = expected.replace(" ... ", "\n...\n")
    pattern = r"[\s\S]*".join(
        re.escape(part) for part in re.split(r"\n\.\.\.\n|\n\.\.\.$|^\.\.\.\n", expected)
    )
    assert re.fullmatch(pattern, found), f"{block.page}:{block.line} says\n{expected}\nand was\n{found}"
