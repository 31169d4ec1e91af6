"""Run the benchmarks named on the command line, or all."""

from __future__ import annotations

import importlib
import sys

NAMES = (
    "sampling",
    "engines",
    "scale",
    "growth",
    "memory",
    "process",
    "loading",
    "load",
    "coverage",
    "real_coverage",
    "harder_pools",
    "dealt",
    "own_prior",
    "facts",
    "seat",
    "peers",
)


def main() -> None:
    chosen = sys.argv[1:] or list(NAMES)
    unknown = [name for name in chosen if name not in NAMES]
    if unknown:
        sys.exit(f"unknown benchmark {', '.join(unknown)}; valid: {', '.join(NAMES)}")
    for name in chosen:
        importlib.import_module(f"benchmarks.{name}").main()
        print(flush=True)


if __name__ == "__main__":
    main()
