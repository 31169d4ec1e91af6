"""One environment variable moves every sampling seed of the tests.

What is asserted of sampled numbers must hold for any seed: run the suite with BAYESBIAS_TEST_SEED set to a few
numbers, and a test that fails was testing a seed. Seeds that make input data are not moved.
"""

from __future__ import annotations

import os

SHIFT = int(os.environ.get("BAYESBIAS_TEST_SEED", "0"))


def shifted(seed: int) -> int:
    """Return a sampling seed, moved by BAYESBIAS_TEST_SEED (0 where it is not set)."""
    return seed + SHIFT
