"""The site: settings of Sphinx. `make docs` builds it; nothing is executed."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE / "_ext")]

from bayesbias import __version__  # noqa: E402

project = "bayesbias"
author = "The bayesbias developers"
copyright = "the bayesbias developers; MIT licence"
release = version = __version__
language = "en"
smartquotes = False  # --out is an option, and not a dash
exclude_patterns = ["_build", "_ext"]

extensions = [
    "generated",
    "mathml",
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_design",
]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = False
default_role = "py:obj"
suppress_warnings = ["ref.python"]  # types such as "path"
napoleon_google_docstring = False
napoleon_use_rtype = False
myst_enable_extensions = [
    "amsmath",
    "attrs_block",
    "attrs_inline",
    "colon_fence",
    "deflist",
    "dollarmath",
]
myst_heading_anchors = 4
nb_execution_mode = "off"
nb_merge_streams = True
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
