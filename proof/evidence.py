"""One piece of evidence, and the file that holds all of them.

A part of the proof yields evidence; each piece is written as soon as it is there, so that a run of hours which is cut
short loses at most one, and the next run goes on after it. What failed is written like what held.
"""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Outcome = Literal["held", "failed", "not run"]
# Asks whether a piece of evidence (part, name, cases) is there already.
Known = Callable[[str, str, int], bool]


@dataclass(frozen=True)
class Evidence:
    """What was claimed, how often it was tried, and what came out.

    Attributes
    ----------
    part, name : str
        Where it belongs, and what tells it from the others of its part.
    claim : str
        What has to hold, in a sentence.
    outcome : {"held", "failed", "not run"}
    cases : int
        How many tables, files, or questions were tried.
    unit : str
        What a case is.
    worst : float or None
        The figure farthest from what it should be.
    bound : str
        What it has to be.
    seed : int or None
    seconds : float
    details : mapping
        Further figures: numbers, strings and lists of them.
    reason : str
        Why it was not run, or what failed.
    """

    part: str
    name: str
    claim: str
    outcome: Outcome
    cases: int
    unit: str
    worst: float | None
    bound: str
    seed: int | None
    seconds: float
    details: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""


def machine() -> dict[str, Any]:
    """Say what kind of machine this is: processor, cores, system and the libraries that compute."""
    from importlib.metadata import version

    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if "model name" in line
        ]
        model = names[0] if names else model
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in ("numpy", "scipy", "numba", "pymc", "nutpie", "arviz")},
    }


def commit() -> str:
    """Return the commit that the checkout is at, as git shortens it; empty outside of one."""
    here = Path(__file__).resolve().parent
    git = shutil.which("git")
    if git is None:
        return ""
    asked = subprocess.run(
        [git, "rev-parse", "--short", "HEAD"], cwd=here, capture_output=True, text=True, check=False
    )
    return asked.stdout.strip()


class Record:
    """The evidence that was had so far, in one file; every piece says with which version, when, and on what machine.

    Parameters
    ----------
    file : Path
    version : str
        Of the package that is examined now.
    keep : bool
        Whether evidence of this version need not be had again.
    """

    def __init__(self, file: Path, version: str, keep: bool = True) -> None:
        self.file, self.version, self.keep, self.commit = file, version, keep, commit()
        self.evidence: dict[tuple[str, str], tuple[Evidence, dict[str, Any]]] = {}
        if file.is_file():
            for item in json.loads(file.read_text())["evidence"]:
                made = item.pop("made")
                one = Evidence(**item)
                self.evidence[one.part, one.name] = (one, made)

    def known(self, part: str, name: str, cases: int) -> bool:
        """Say whether as many cases of this version have been tried; what failed is always tried again."""
        if not self.keep or (part, name) not in self.evidence:
            return False
        one, made = self.evidence[part, name]
        return one.outcome == "held" and one.cases >= cases and made["version"] == self.version

    def add(self, one: Evidence) -> None:
        """Keep a piece of evidence and write the file; what was not run replaces nothing."""
        key = (one.part, one.name)
        if one.outcome == "not run" and key in self.evidence:
            return
        made = {
            "version": self.version,
            "commit": self.commit,
            "date": time.strftime("%Y-%m-%d"),
            "machine": machine(),
        }
        self.evidence[key] = (one, made)
        lines = [json.dumps(dataclasses.asdict(e) | {"made": m}, default=float) for e, m in self]
        text = '{"schema": "bayesbias-proof/1", "evidence": [\n' + ",\n".join(lines) + "\n]}\n"
        beside = self.file.with_suffix(".tmp")
        beside.write_text(text)
        beside.replace(self.file)

    def __iter__(self) -> Iterator[tuple[Evidence, dict[str, Any]]]:
        return iter(self.evidence.values())
