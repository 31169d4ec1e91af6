"""Draw the pictures of the gallery: run the lines of its pages and save the figure of each.

``python tools/draw_gallery.py [PAGE ...]``, from the root of the checkout; by default all pages. A picture is a PNG of
few colours, so that all of them together are small.
"""

from __future__ import annotations

import io
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
GALLERY = ROOT / "docs" / "gallery"
DPI, COLOURS = 110, 256
# A picture has the name of its function, or that of the comment behind the call.
CALL = re.compile(r"^ax = .*\bplot_(\w+)\((?:.*  # (\w+)$)?", re.MULTILINE)


def draw(page: Path) -> list[Path]:
    """Run the blocks of a page in a folder of its own, and save what each draws beside the page."""
    from helpers.documents import blocks_of
    from matplotlib import pyplot as plt

    names: dict[str, Any] = {"__name__": "__main__"}
    written = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for block in blocks_of(page):
            if block.caption is not None:
                Path(block.caption).write_text(block.code, encoding="utf-8")
            if block.language != "python":
                continue
            exec(compile(block.code, f"{block.page}:{block.line}", "exec"), names)
            for function, name in CALL.findall(block.code):
                path = page.with_name(f"{name or function}.png")
                path.write_bytes(picture(names["ax"].figure))
                written.append(path)
            plt.close("all")
        os.chdir(ROOT)
    return written


def picture(figure: Any) -> bytes:
    """Return a figure as PNG with a palette."""
    from PIL import Image

    whole, small = io.BytesIO(), io.BytesIO()
    figure.savefig(whole, dpi=DPI, facecolor="white")
    image = Image.open(whole).convert("RGB")
    # Rare colours are the data: those that cover most would leave out the lines of a legend.
    few = image.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(small, "PNG", optimize=True)
    return small.getvalue()


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    import matplotlib

    matplotlib.use("Agg")
    asked = [GALLERY / f"{name}.md" for name in sys.argv[1:]] or [
        *sorted(GALLERY.glob("*.md")),
        ROOT / "docs/howto/groups.md",
    ]
    for page in asked:
        if page.stem != "index":
            for path in draw(page):
                print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")
