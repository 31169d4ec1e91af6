"""Figures of notebooks: a text in their place, which notebooks do not store."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform


def last_line(cell: nodes.Element) -> str:
    """Return the line of a cell that drew its figure: the last one of its code that plots, or else the last."""
    source = next((block.astext() for block in cell.findall(nodes.literal_block)), "")
    lines = [line.strip() for line in source.splitlines() if line.strip()]
    return next((line for line in reversed(lines) if "plot" in line), lines[-1] if lines else "")


class TextsForFigures(SphinxPostTransform):
    """Give each figure below a cell the line of code that drew it as its text."""

    default_priority = 800

    def run(self, **_: Any) -> None:
        """Go through the cells of a page."""
        for cell in self.document.findall(
            lambda node: isinstance(node, nodes.container) and "cell" in node["classes"]
        ):
            for image in cell.findall(nodes.image):
                if not image.get("alt"):
                    image["alt"] = f"Figure drawn by {last_line(cell)}; what it shows is said beside it."


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx of it."""
    app.add_post_transform(TextsForFigures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
