"""Damaged and hostile input, by the fuzzers of the tests: a million cases in five rounds."""

from __future__ import annotations

from collections.abc import Iterator

from proof.campaigns import rounds
from proof.evidence import Evidence, Known

ROUNDS = 5
_READ = "is refused in one line or read; nothing else is raised, nothing takes 5 s or 1 GiB, no pickle runs"
CLAIMS = {
    "test_binary_files": f"A damaged binary file of any kind {_READ}.",
    "test_texts": f"A damaged text file of any kind {_READ}.",
    "test_trees": f"A file of keys and lists that is whole and means nothing {_READ}.",
    "test_structures": f"A structure that is built from nothing, of known keys and any text, {_READ}.",
    "test_in_memory": f"An odd frame, array, list or number handed over in Python {_READ}.",
    "test_shown": "Words that would act (escape sequences, markup, formulas) do nothing on terminals, pages, figures and sheets.",
    "test_damage": "A changed bit in a file of a run or in a fit is seen, and the run is not read as if whole.",
    "test_damage_arrays": "A changed bit in arrays of vectors is seen.",
    "test_damage_caches": "A damaged vector of a cache is never used.",
    "test_damage_sweeps": "A damaged record of a sweep is made again; a changed number is not taken over.",
    "test_damage_vectors": "Damaged vectors beside their sum are not read.",
}


def run(share: float, known: Known) -> Iterator[Evidence]:
    """Run every fuzzer in rounds."""
    yield from rounds("damaged input", list(CLAIMS), CLAIMS, "cases", max(1, round(ROUNDS * share)), known)
