"""The command ``bayesbias lesson``: a page that teaches averaging, and a kit for a class."""

from pathlib import Path
from typing import Any

import bayesbias as bb
from bayesbias.cli import shared
from bayesbias.core import InputError


@shared.command("own.lesson", "as_json")
def lesson(out: Path | None, kit: Path | None, **given: Any) -> None:
    """Write a lesson on averaging as a page, or a kit."""
    if out is None and kit is None:
        hint = "For the page, write: bayesbias lesson --out averaging.html"
        raise InputError("expected --out FILE.html or --kit DIR, got neither", hint=hint)
    written = []
    if out is not None:
        written.append(bb.lesson.write_lesson(out))
    if kit is not None:
        written += bb.lesson.write_kit(kit)
    lines = [f"Written  {path}" for path in written]
    if out is not None:
        lines.append("Open the page in any browser. It needs no network.")
    if kit is not None:
        lines.append(f"Begin with {kit / 'plan.md'}.")
    shared.tell({"written": list(map(str, written))}, *lines)
