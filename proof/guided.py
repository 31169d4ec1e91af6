"""Binary files under a fuzzer that is guided by what of the readers is executed, each in a process of its own."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from helpers.fuzz_seeds import READERS

from proof.evidence import Evidence, Known

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 60.0  # for each reader
_FEWEST = 20  # inputs a second, that what is known counts as done
SEED = 1
PART = "guided input"
CLAIM = (
    "Whatever a fuzzer makes of files of the kind {name}, led by what of the reader is executed: it is refused in one line or "
    "read; nothing else is raised, nothing takes 5 s or 2 GiB, no pickle runs."
)


def tried(name: str, seconds: float) -> tuple[int, str]:
    """Fuzz one reader; return how many inputs were tried, and what failed, if anything did."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "proof.guided_child", name, str(round(seconds)), str(SEED), folder]
        own = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
        try:
            ended = subprocess.run(
                command, cwd=ROOT, env=own, capture_output=True, timeout=seconds + 30, check=False
            )
            parts = [ended.stdout, ended.stderr]
        except (
            subprocess.TimeoutExpired
        ) as error:  # threads of Arrow may keep a process whose fuzzer is through
            parts = [error.stdout or b"", error.stderr or b""]
    said = b"".join(parts).decode("utf-8", "replace")
    count = re.search(r"number_of_executed_units: (\d+)", said)
    if count and re.search(r"^Done \d+ runs", said, re.MULTILINE) and "Uncaught Python exception" not in said:
        return int(count[1]), ""
    wrong = re.findall(r"[^\n]*(?:Error|Exception|ERROR)[^\n]*", said)
    return int(count[1]) if count else 0, wrong[0].strip()[:200] if wrong else "it did not end"


def run(share: float, known: Known) -> Iterator[Evidence]:
    """Fuzz every reader of binary files and tables in turn."""
    missing = importlib.util.find_spec("atheris") is None
    for name in READERS:
        seconds = max(5.0, SECONDS * share)
        if known(PART, name, round(_FEWEST * seconds)):
            continue
        began = time.perf_counter()
        cases, wrong = (0, "without atheris") if missing else tried(name, seconds)
        yield Evidence(
            PART, name, CLAIM.format(name=name), "not run" if missing else "failed" if wrong else "held", cases, "inputs", None,
            "", SEED, time.perf_counter() - began, {"seconds": round(seconds)}, wrong,
        )  # fmt: skip
