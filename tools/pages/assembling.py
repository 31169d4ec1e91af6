"""The source of the site, put together in one folder: the pages of docs/, notebooks, and pages made of something else."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from tools.pages import commands, reference

__all__ = ["assemble"]

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
# Kinds of file in docs/ that are part of a page. Others (conf.py, the build itself) stay where they are.
PAGE = {".md", ".rst", ".ipynb", ".png", ".svg", ".jpg", ".css", ".js", ".json", ".csv", ".toml", ".py"}
# Pages that are written elsewhere in the checkout: page of the site -> its file.
ELSEWHERE = {
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "releasing.md": "RELEASING.md",
}

Pages = Iterator[tuple[str, bytes]]


def written() -> Pages:
    """Yield what is written in docs/."""
    for path in sorted(DOCS.rglob("*")):
        inside = path.relative_to(DOCS)
        if (
            path.is_file()
            and path.suffix in PAGE
            and inside.parts[0] != "_build"
            and inside.name != "conf.py"
        ):
            yield inside.as_posix(), path.read_bytes()


def notebooks() -> Pages:
    """Yield the notebooks, as stored."""
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        yield f"tutorials/{path.name}", path.read_bytes()


def elsewhere() -> Pages:
    """Yield pages that lie at the root of the checkout."""
    for page, name in ELSEWHERE.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        for other, its_name in ELSEWHERE.items():
            text = text.replace(f"]({its_name})", f"]({other})")
        yield page, text.replace("](docs/", "](").encode()


MAKERS: tuple[Callable[[], Pages], ...] = (
    written,
    notebooks,
    elsewhere,
    reference.pages,
    commands.pages,
)


def assemble(goal: Path) -> list[str]:
    """Write all pages below a folder, and take away what is no longer one; return their names.

    A file that has not changed is not written, so that Sphinx reads again only what is new.
    """
    pages: dict[str, bytes] = {}
    for maker in MAKERS:
        for name, content in maker():
            if name in pages:
                raise SystemExit(f"two pages of the site have one name: {name}")
            pages[name] = content
    for name, content in pages.items():
        path = goal / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    for path in sorted(goal.rglob("*"), reverse=True):
        if path.is_file() and path.relative_to(goal).as_posix() not in pages:
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            shutil.rmtree(path)
    return sorted(pages)
