"""Run the validation, hours in all, and print a row of docs/validation.md for each claim.

``python -m validation`` runs all; ``--share .05`` a part of the cases; ``--parts pvalues,lme4`` some parts. A part has
pieces of some minutes, whose rows are kept: a run stops after 20 minutes, and the same command goes on. Rows of
another commit are measured again. The exit code is 1 if a claim failed, and 75 if pieces are left. ``python -m
validation predictions SOURCE.toml`` predicts held-out words and prompts of a real source, see `validation.held_out`.
"""

import argparse
import importlib
import json
import subprocess
import sys
import time
from pathlib import Path

PARTS = (
    "pvalues", "lme4", "calibration", "responses", "designs", "factorial", "real_vectors", "pymc_posteriors",
)  # fmt: skip
HEAD = "| claim | tried | worst | limit | date |\n| --- | --- | --- | --- | --- |"
ROWS = Path("validation-output/rows.jsonl")
MINUTES = 20.0
UNFINISHED = 75  # exit code


def pieces_of(parts):
    """Return the name of each part, its module and the name of each of its pieces; one without names is whole."""
    out = []
    for name in parts:
        module = importlib.import_module(f"validation.{name.strip()}")
        out += [(name, module, piece) for piece in getattr(module, "PIECES", ("",))]
    return out


def commit():
    """Return the commit that is checked out, and whether files differ from it; empty without git."""
    found = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False
    )
    return found.stdout.strip()


def finished(path, key):
    """Return the kept rows of a piece, or None if it has not run."""
    if not path.is_file():
        return None
    for line in path.read_text("utf-8").splitlines():
        kept = json.loads(line)
        if {name: kept[name] for name in key} == key:
            return kept["rows"]
    return None


def measured(module, piece, share):
    """Run a piece, and return its rows."""
    rows = []
    made = module.run(share, piece) if piece else module.run(share)
    for claim, tried, worst, limit, held in made:
        date = time.strftime("%Y-%m-%d")
        rows.append({
            "claim": claim, "tried": tried, "worst": worst, "limit": limit, "held": bool(held), "date": date,
        })  # fmt: skip
    return rows


def line_of(row):
    """Return a row of the table in Markdown."""
    mark = "" if row["held"] else "**failed** "
    return f"| {mark}{row['claim']} | {row['tried']} | {row['worst']} | {row['limit']} | {row['date']} |"


def main(arguments):
    """Run the parts and print their rows; return the exit code."""
    if arguments[:1] == ["predictions"]:
        from validation import held_out

        return held_out.main(arguments[1:])
    parser = argparse.ArgumentParser(prog="python -m validation", description=__doc__)
    parser.add_argument("--parts", default=",".join(PARTS), help="some of " + ", ".join(PARTS))
    parser.add_argument("--share", type=float, default=1.0, help="share of the cases; 1 is all")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="start no piece later")
    parser.add_argument("--out", type=Path, default=ROWS, help=f"the file of kept rows ({ROWS})")
    asked = parser.parse_args(arguments)
    until = time.monotonic() + 60 * asked.minutes
    failed, left = 0, []
    print(HEAD)
    for name, module, piece in pieces_of(asked.parts.split(",")):
        key = {"part": name, "piece": piece, "share": asked.share, "commit": commit()}
        rows = finished(asked.out, key)
        if rows is None and time.monotonic() > until:
            left.append(f"{name} {piece}".strip())
            continue
        if rows is None:
            rows = measured(module, piece, asked.share)
            asked.out.parent.mkdir(parents=True, exist_ok=True)
            with asked.out.open("a", encoding="utf-8") as kept:
                kept.write(json.dumps({**key, "rows": rows}) + "\n")
        for row in rows:
            failed += not row["held"]
            print(line_of(row), flush=True)
    if left:
        print(f"Left: {', '.join(left)}. Run the same command again to go on.", file=sys.stderr)
        return UNFINISHED
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
