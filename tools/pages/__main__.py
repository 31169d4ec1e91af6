"""Build the site into docs/_build/html. Usage: python -m tools.pages [OUT] - warnings are errors."""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.cmd.build import build_main

from tools.pages.assembling import DOCS, assemble


def main(out: Path) -> int:
    """Assemble and build; return the exit code of Sphinx."""
    source = out.parent / "source"
    assemble(source)
    options = [
        "-q",
        "-W",
        "--keep-going",
        "-n",
        "-b",
        "html",
        "-c",
        str(DOCS),
        "-d",
        str(out.parent / "doctrees"),
    ]
    return build_main([*options, str(source), str(out)])


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "_build" / "html"))
