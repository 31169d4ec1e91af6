"""Processes killed at random moments, and two at once on one folder."""

from __future__ import annotations

from collections.abc import Iterator

from proof.campaigns import rounds
from proof.evidence import Evidence, Known

ROUNDS = 5
EACH = {"test_dozens_of_kills": 60}  # kills of a job in one round
CLAIMS = {
    "test_damage_kills": "After a kill at any moment a folder, a file or a cache holds the old or the new, whole; two writers "
    "and a reader at once see whole ones only.",
}


def run(share: float, known: Known) -> Iterator[Evidence]:
    """Kill jobs, in rounds."""
    number = max(1, round(ROUNDS * share))
    yield from rounds(
        "interruptions", list(CLAIMS), CLAIMS, "kills, and trials of two writers", number, known, EACH
    )
