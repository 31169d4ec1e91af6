"""docs/architecture.svg shows the imports as they are today."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_picture_is_drawn_from_todays_imports():
    code = "import draw_architecture; print(draw_architecture.draw(), end='')"
    drawn = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT / "tools",
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout
    assert len(re.findall(r"<title>\w+ to \w+: \d+</title>", drawn)) > 60
    stored = (ROOT / "docs" / "architecture.svg").read_text(encoding="utf-8")
    assert stored == drawn, (
        "imports have changed: run `python tools/draw_architecture.py` and commit the picture"
    )
