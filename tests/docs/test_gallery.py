"""The gallery shows every public figure, with the lines that made it; that these run is tested with all pages."""

from __future__ import annotations

import re

import pytest
from helpers.documents import DOCS, blocks_of, pages
from helpers.every_figure import DATA

GALLERY = DOCS / "gallery"
SECTION = re.compile(
    r"^## `(plot_\w+)`\n\n(.+?)\n\n(?:% long\n)?```python\n(.+?)\n```\n\n!\[([^\]]+)\]\((\w+)\.png\)\n",
    re.MULTILINE | re.DOTALL,
)
SHOWN = {
    found[1]: (path, found)
    for path in sorted(GALLERY.glob("*.md"))
    for found in SECTION.finditer(path.read_text(encoding="utf-8"))
}


def test_every_public_figure_has_its_place() -> None:
    assert set(SHOWN) == set(DATA)
    headed = [line for path in GALLERY.glob("*.md") for line in path.read_text(encoding="utf-8").splitlines()]
    assert sum(line.startswith("## ") for line in headed) == len(SHOWN)
    listed = (GALLERY / "index.md").read_text(encoding="utf-8")
    assert all(f"\n{path.stem}\n" in listed for path, _ in SHOWN.values())


@pytest.mark.parametrize("name", sorted(DATA))
def test_a_picture_stands_below_the_lines_that_made_it(name: str) -> None:
    path, found = SHOWN[name]
    _, text, code, alt, picture = found.groups()
    assert f"{name}(" in code
    assert text[-1] in ".?!`)"
    assert len(code.splitlines()) <= 10
    assert 60 < len(alt) < 300
    assert picture == name.removeprefix("plot_")
    content = (path.parent / f"{picture}.png").read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert 4_000 < len(content) < 60_000
    assert path in pages()  # and so its lines are run
    assert any(code in block.code for block in blocks_of(path))


def test_no_picture_is_left_over() -> None:
    assert {path.stem for path in GALLERY.glob("*.png")} == {name.removeprefix("plot_") for name in DATA}
