"""Equations as MathML, which browsers set themselves: no script and no font from elsewhere."""

from docutils import nodes
from docutils.utils.math import latex2mathml, toplevel_code


def markup(source, *, block):
    """Return MathML for LaTeX."""
    if block and r"\\" in toplevel_code(source):
        source = rf"\begin{{align*}}{source}\end{{align*}}"
    return str(latex2mathml.tex2mathml(source, as_block=block))


def inline(self, node):
    """Write an equation in a line."""
    self.body.append(f'<span class="math">{markup(node.astext(), block=False)}</span>')
    raise nodes.SkipNode


def block(self, node):
    """Write an equation of its own."""
    self.body.append(f'<div class="math">{markup(node.astext(), block=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
