"""Where things lie in the checkout."""

from __future__ import annotations

import functools
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "bayesbias"


@functools.cache
def rooms() -> tuple[str, ...]:
    """Return all files of the package but the folders' own, as ``folder.room``."""
    paths = PACKAGE.rglob("*.py")
    names = (".".join(path.relative_to(PACKAGE).with_suffix("").parts) for path in paths)
    return tuple(sorted(name for name in names if not name.endswith(("__init__", "__main__"))))
