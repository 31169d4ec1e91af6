"""Equations as MathML, which browsers set themselves: no script and no font from elsewhere."""

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml, toplevel_code
from sphinx.util import logging

logger = logging.getLogger(__name__)


def markup(node, *, block):
    """Return MathML for the LaTeX of a node; a warning names the page of an equation that cannot be set."""
    source = node.astext()
    if block and r"\\" in toplevel_code(source):
        source = rf"\begin{{align*}}{source}\end{{align*}}"
    try:
        return str(latex2mathml.tex2mathml(source, as_block=block))
    except (
        MathError,
        IndexError,
    ) as error:  # docutils raises IndexError where a script has no base
        logger.warning("%s in the equation %s", error, source, location=node)
        return ""


def inline(self, node):
    """Write an equation in a line."""
    self.body.append(f'<span class="math">{markup(node, block=False)}</span>')
    raise nodes.SkipNode


def block(self, node):
    """Write an equation of its own."""
    self.body.append(f'<div class="math">{markup(node, block=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
