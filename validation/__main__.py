"""Run the validation, hours in all, and print a row of docs/validation.md for each claim.

``python -m validation`` runs all; ``--share .05`` a part of the cases; ``--parts pvalues,lme4`` some parts. The exit
code is 1 if a claim failed. ``python -m validation predictions SOURCE.toml`` predicts held-out words and prompts of a
real source, see `validation.held_out`.
"""

import argparse
import importlib
import sys
import time

PARTS = (
    "pvalues", "lme4", "calibration", "responses", "designs", "real_vectors", "pymc_posteriors",
)  # fmt: skip


def main(arguments):
    """Run the parts and print their rows; return the exit code."""
    if arguments[:1] == ["predictions"]:
        from validation import held_out

        return held_out.main(arguments[1:])
    parser = argparse.ArgumentParser(prog="python -m validation", description=__doc__)
    parser.add_argument("--parts", default=",".join(PARTS), help="some of " + ", ".join(PARTS))
    parser.add_argument("--share", type=float, default=1.0, help="share of the cases; 1 is all")
    asked = parser.parse_args(arguments)
    failed = 0
    print("| claim | tried | worst | limit | date |\n| --- | --- | --- | --- | --- |")
    for name in asked.parts.split(","):
        part = importlib.import_module(f"validation.{name.strip()}")
        for claim, tried, worst, limit, held in part.run(asked.share):
            failed += not held
            mark = "" if held else "**failed** "
            print(
                f"| {mark}{claim} | {tried} | {worst} | {limit} | {time.strftime('%Y-%m-%d')} |",
                flush=True,
            )
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
