"""Equations as MathML, which browsers set themselves: no script and no font from elsewhere."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml, toplevel_code
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.writers.html5 import HTML5Translator


def markup(source: str, *, block: bool) -> str:
    """Return MathML for LaTeX; an equation that cannot be set is an error, not a gap."""
    lines = block and r"\\" in toplevel_code(source)
    try:
        return str(
            latex2mathml.tex2mathml(
                rf"\begin{{align*}}{source}\end{{align*}}" if lines else source, as_block=block
            )
        )
    except MathError as error:
        raise ExtensionError(f"an equation cannot be set: {error} in {source!r}") from error


def inline(self: HTML5Translator, node: nodes.math) -> None:
    """Write an equation in a line."""
    self.body.append(f'<span class="math">{markup(node.astext(), block=False)}</span>')
    raise nodes.SkipNode


def block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write an equation of its own."""
    self.body.append(f'<div class="math">{markup(node.astext(), block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx of the renderer."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
