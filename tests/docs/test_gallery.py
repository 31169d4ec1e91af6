"""The gallery shows every public figure below the lines that made it."""

import re

from helpers.documents import DOCS

import bayesbias

SECTION = re.compile(
    r"^## `(plot_\w+)`\n\n.+?\n\n(?:<!-- long -->\n)?```python\n(.+?)\n```\n\n!\[([^\]]+)\]\((\w+)\.png\)\n",
    re.MULTILINE | re.DOTALL,
)


def test_every_public_figure_has_its_place():
    public = {
        n for home in (bayesbias, bayesbias.plots) for n in dir(home) if n.startswith("plot_")
    }
    shown = set()
    for path in sorted((DOCS / "gallery").glob("*.md")):
        for name, code, alt, picture in SECTION.findall(path.read_text(encoding="utf-8")):
            assert f"{name}(" in code
            assert len(alt) > 60
            assert picture == name.removeprefix("plot_")
            assert (path.parent / f"{picture}.png").is_file()
            shown.add(name)
    assert shown == public
