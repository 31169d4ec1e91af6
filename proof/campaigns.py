"""Fuzzers of the tests run again and again, each time with other seeds, and what they tried counted."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from proof.evidence import Evidence, Known

ROOT = Path(__file__).resolve().parents[1]
_COUNT = re.compile(r"(?<![\w.])(\d{2,})(?![\w.])")


def cases_of(name: str, each: Mapping[str, int]) -> int:
    """Return how many cases a test has tried: the largest number among its parameters, or that of its name, or 1."""
    test, _, inside = name.partition("[")
    return max((int(number) for number in _COUNT.findall(inside)), default=each.get(test, 1))


def ran(report: str) -> list[tuple[str, str, float]]:
    """Return name, outcome (``passed``, ``failed`` or ``skipped``) and seconds of every test of a JUnit report."""
    out = []
    for case in ElementTree.fromstring(report).iter("testcase"):
        kinds = {child.tag for child in case}
        outcome = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"
        out.append((str(case.get("name")), outcome, float(case.get("time", 0))))
    return out


def rounds(
    part: str,
    files: Sequence[str],
    claims: dict[str, str],
    unit: str,
    number: int,
    known: Known,
    each: Mapping[str, int] = MappingProxyType({}),
) -> Iterator[Evidence]:
    """Run files of tests `number` times; yield what came of each file.

    Parameters
    ----------
    part : str
    files : sequence of str
        Names in ``tests/fuzz``.
    claims : dict of str to str
        For each file what has to hold.
    unit : str
        What a case is.
    number : int
        How often, each time with another shift of all seeds.
    known : callable
    each : mapping
        The cases of tests whose parameters hold no number.
    """
    for file in files:
        if known(part, file, number):
            continue
        began, cases, failed, tests = time.perf_counter(), 0, [], 0
        for shift in range(number):
            with tempfile.TemporaryDirectory() as folder:
                report = Path(folder) / "report.xml"
                command = [
                    sys.executable,
                    "-m",
                    "pytest",
                    f"tests/fuzz/{file}.py",
                    "-q",
                    "-n",
                    "2",
                    "-m",
                    "claim",
                ]
                subprocess.run(
                    [*command, f"--junitxml={report}"],
                    cwd=ROOT,
                    env={**os.environ, "BAYESBIAS_TEST_SEED": str(1000 * (shift + 1))},
                    capture_output=True,
                    check=False,
                )
                found = (
                    ran(report.read_text(encoding="utf-8")) if report.is_file() else [(file, "failed", 0.0)]
                )
            tests += len(found)
            cases += sum(cases_of(name, each) for name, outcome, _ in found if outcome == "passed")
            failed += [
                f"{name}, seeds shifted by {1000 * (shift + 1)}"
                for name, outcome, _ in found
                if outcome == "failed"
            ]
        yield Evidence(
            part,
            file,
            claims[file],
            "failed" if failed or not tests else "held",
            cases,
            unit,
            float(len(failed)),
            "0 tests failed",
            1000,
            time.perf_counter() - began,
            {"rounds": number, "tests": tests},
            "; ".join(failed),
        )
