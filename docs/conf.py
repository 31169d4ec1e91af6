"""The site: what Sphinx is told. `make docs` assembles the pages (tools/pages) and runs it; nothing is executed."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bayesbias import __version__  # noqa: E402

project = "bayesbias"
author = "The bayesbias developers"
copyright = "the bayesbias developers; MIT licence"
release = __version__
version = __version__
language = "en"
smartquotes = False  # --out is an option, and not a dash

extensions = ["myst_nb", "sphinx_design", "tools.pages.figures_of_cells", "tools.pages.mathml"]
myst_enable_extensions = ["amsmath", "attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
nb_execution_mode = "off"
nb_merge_streams = True
# A folder may have no page yet: its toctree then has nothing to list, which is no fault. Sphinx gives no name to suppress it by.
logging.getLogger("sphinx.sphinx.directives.other").addFilter(
    lambda record: "toctree glob" not in str(record.msg)
)
nitpicky = True
toc_object_entries_show_parents = "hide"
python_maximum_signature_line_length = 90
html_math_renderer = "mathml"

html_theme = "furo"
html_title = "bayesbias"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # it fetches pages, which a browser does not do from a file
html_show_sphinx = False
html_last_updated_fmt = None
html_theme_options = {"top_of_page_buttons": []}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
