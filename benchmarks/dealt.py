"""How often a list is called whose words, or stereotypes, were dealt to its classes anew, and why.

``python -m benchmarks.dealt --tables 200``; all words are in `minilm-static`, without control words.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.simulation import real_words
from bayesbias.simulation.coverage import answers_of_fit
from bayesbias.wordlists.wordlist import WordList

VECTORS = "minilm-static"
UNEQUAL = {
    "medic": (
        "doctor nurse surgeon physician dentist pharmacist therapist paramedic",
        "caring hospital patient healthy clinical sick",
    ),
    "craft": (
        "carpenter plumber mechanic electrician builder welder painter roofer mason blacksmith",
        "wood metal tool strong dirty rough hammer practical handy",
    ),
    "law": ("lawyer judge attorney barrister", "court guilty justice legal argument"),
}
EQUAL = {
    "medic": (
        "doctor nurse surgeon physician dentist pharmacist",
        "caring hospital patient healthy clinical",
    ),
    "craft": (
        "carpenter plumber mechanic electrician builder welder",
        "wood metal tool strong dirty",
    ),
    "law": ("lawyer judge attorney barrister clerk sheriff", "court guilty justice legal argument"),
}
KINDS = ("shuffled_classes", "shuffled_attributes")
SETTINGS = {"draws": 500, "tune": 500, "chains": 2, "engine": "quick"}


def without_associations(real: pd.DataFrame) -> pd.DataFrame:
    """Take out what each class has to do with each list, beyond how near both are to everything."""
    block, of_class, of_list = (
        real.groupby(by)["distance"].transform("mean")
        for by in (["protected_class", "attribute_class"], "protected_class", "attribute_class")
    )
    return real.assign(
        distance=real["distance"] - block + of_class + of_list - real["distance"].mean()
    )


def dealt(real: pd.DataFrame, words: WordList, kind: str, tables: int) -> pd.DataFrame:
    """Deal so many times; return how often rows are called, and how often those overall miss what is expected."""
    rows = []
    for number in range(tables):
        random = np.random.default_rng([0, real_words.NEGATIVE_CONTROLS.index(kind), number])
        table = real_words.without_meaning(real, words, 0, kind, random)
        fit = bb.fit(table, "default", seed=number, **SETTINGS, progress=False)
        for (level, name, contrast), answer in answers_of_fit(
            fit, 0.89, ["overall", "class", "attribute_set"]
        ):
            if contrast == "associated - different":
                rows.append({"level": level, "name": name, **answer})
    frame = pd.DataFrame(rows)
    expected = real_words.expected_of_deals(real, words)[kind]
    return frame.assign(
        expected=expected,
        called=(frame["low"] > 0) | (frame["high"] < 0),
        missed=(frame["low"] > expected) | (frame["high"] < expected),
    )


def main() -> None:
    """Print a row for each list, kind of deal and level."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    tables = parser.parse_known_args()[0].tables
    for title, classes, clean in (
        ("unequal", UNEQUAL, False),
        ("equal", EQUAL, False),
        ("equal, without associations", EQUAL, True),
    ):
        listed = {
            name: {"protected": protected.split(), "attributes": attributes.split()}
            for name, (protected, attributes) in classes.items()
        }
        words = bb.load_wordlist(listed, controls="none")
        real = bb.distance_table(VECTORS, words).frame
        for kind in KINDS:
            frame = dealt(without_associations(real) if clean else real, words, kind, tables)
            overall = frame[frame["level"] == "overall"]
            shares = frame.groupby("level")["called"].mean()
            print(
                f"{title}, {kind}: expected {overall['expected'].iloc[0]:+.4f}, sd {overall['estimate'].std(ddof=1):.3f}; called "
                f"{', '.join(f'{level} {share:.3f}' for level, share in shares.items())}; overall misses the expected in "
                f"{overall['missed'].mean():.3f} of {tables}",
                flush=True,
            )


if __name__ == "__main__":
    main()
