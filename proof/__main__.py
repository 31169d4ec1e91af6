"""Run the proof, or some parts of it, and write ``docs/proof.json`` and ``docs/proof.md``.

``python -m proof`` runs all (hours); ``--share .05`` a part of the cases; ``--parts p-values,fuzzing`` some parts. What an
earlier run of the same version has found is kept (``--afresh`` runs it again). The exit code is 1 where anything failed.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

from bayesbias.core.versions import own_version
from proof.evidence import Record
from proof.page import write_page

PARTS = {
    "p-values": "pvalues",
    "second opinion": "second_opinion",
    "calibration": "calibration",
    "real vectors": "real_vectors",
    "reference posteriors": "reference",
    "damaged input": "fuzzing",
    "guided input": "guided",
    "interruptions": "interruptions",
    "encoders": "encoders",
}
DOCS = Path(__file__).resolve().parents[1] / "docs"


def main(arguments: list[str]) -> int:
    """Run what is asked for; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m proof", description=__doc__)
    parser.add_argument("--parts", default=",".join(PARTS), help=f"some of: {', '.join(PARTS)}")
    parser.add_argument("--share", type=float, default=1.0, help="the share of cases, above 0; 1 is all")
    parser.add_argument("--out", type=Path, default=DOCS, help="the folder of proof.json and proof.md")
    parser.add_argument("--afresh", action="store_true", help="run again what is known of this version")
    asked = parser.parse_args(arguments)
    chosen = [name.strip() for name in asked.parts.split(",")]
    if unknown := [name for name in chosen if name not in PARTS]:
        parser.error(f"unknown part {', '.join(unknown)}; valid: {', '.join(PARTS)}")
    if not asked.share > 0:
        parser.error("--share is above 0")
    asked.out.mkdir(parents=True, exist_ok=True)
    record = Record(asked.out / "proof.json", own_version(), keep=not asked.afresh)
    failed = 0
    for name in chosen:
        module = importlib.import_module(f"proof.{PARTS[name]}")
        for one in module.run(asked.share, record.known):
            record.add(one)
            write_page(record, asked.out)
            failed += one.outcome == "failed"
            figure = "" if one.worst is None else f", {one.worst:.3g} ({one.bound})"
            print(
                f"{one.outcome:8} {one.part}: {one.name}: {one.cases:,} {one.unit}{figure}, {one.seconds:.0f} s",
                flush=True,
            )
            if one.reason:
                print(f"         {one.reason}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
