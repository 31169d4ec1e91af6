"""The scores that ``bayesbias measure`` computes: what each needs, what it may be told, one row each.

A new averaged score is one file beside this one and one row of `MEASURES`. The file has a function that takes a
`Given` and the settings of the row by name and returns a `ScoreResult`, which says itself what it found.
Nothing is imported before a measure runs.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesbias.core.checks import LEAST_SHRINKAGE, MOST_RESAMPLES, MOST_SAMPLES, MOST_SEED, MOST_SHRINKAGE
from bayesbias.core.settings import Setting
from bayesbias.core.wording import some

if TYPE_CHECKING:
    from bayesbias.embeddings.embedding import Embedding
    from bayesbias.scores.stereotypes import ScoreResult
    from bayesbias.tables.pair_table import PairTable
    from bayesbias.wordlists.wordlist import WordList

__all__ = ["MEASURES", "Given", "Measure"]


@dataclass(frozen=True, eq=False)
class Given:
    """What there is to measure.

    Attributes
    ----------
    table : PairTable
    words : WordList or None
        None where a table of distances was handed over, which names no list.
    vectors : Embedding or None
    classes : list of str or None
        The two protected classes to compare, where they were named.
    note : callable
        Is told what a reader should know of a choice that was made.
    """

    table: PairTable
    words: WordList | None
    vectors: Embedding | None
    classes: list[str] | None
    note: Callable[[str], None]


@dataclass(frozen=True)
class Measure:
    """One score: where its function is, what it needs and what it may be told."""

    place: str  # room of `bayesbias.scores`, colon, function
    needs_vectors: bool = False
    needs_two_classes: bool = False
    needs_couples: bool = False  # definitional sets of two words each
    needs_own_attributes: bool = False  # of either class, none of both
    settings: tuple[Setting, ...] = ()

    def run(self, given: Given, **settings: Any) -> ScoreResult:
        """Compute the score."""
        room, _, function = self.place.partition(":")
        return getattr(importlib.import_module(f"bayesbias.scores.{room}"), function)(given, **settings)

    def why_not(self, given: Given, classes: list[str]) -> str | None:
        """Say why the score cannot be computed of what there is; None where it can."""
        if self.needs_vectors and given.vectors is None:
            return "it needs vectors (--embedding E --wordlist W), not distances"
        if self.needs_couples and given.words is not None:
            if not given.words.definitional_sets:
                return "the list has no definitional sets"
            if any(len(group) != 2 for group in given.words.definitional_sets):
                return "the definitional sets of the list are not all pairs"
        if self.needs_own_attributes and given.words is not None:
            chosen = [set(c.attributes) for c in given.words.classes if c.name in (given.classes or classes)]
            both = sorted(set.intersection(*chosen)) if len(chosen) == 2 else []
            if both:
                return f"{some(both, 4)} {'is an attribute' if len(both) == 1 else 'are attributes'} of both classes"
        if self.needs_two_classes and given.classes is None and len(classes) != 2:
            if len(classes) == 1:
                return f"it compares two protected classes, and there is only {classes[0]}"
            return (
                f"it compares two protected classes, and there are {len(classes)} ({', '.join(classes)}); "
                "name two with --classes X,Y"
            )
        return None


# Settings that rows share.
_SIDES = Setting("sides", 1, "Of the tests of WEAT and SC-WEAT.", choices=(1, 2))
_SAMPLES = Setting(
    "samples", 99_999, "Partitions, or signs, that montecarlo draws.", least=1, most=MOST_SAMPLES
)
_SEED = Setting("seed", None, "Seed for montecarlo and bootstraps.", kind=int, least=0, most=MOST_SEED)
_PROB = Setting("prob", 0.89, "Probability of the intervals.", least=0, most=1, ends=False)
_RESAMPLES = Setting(
    "resamples", 999, "Draws of the bootstrap of RIPA, ECT and RNSB.", least=99, most=MOST_RESAMPLES
)
_BOOTSTRAP = (_PROB, _RESAMPLES, _SEED)

MEASURES: Mapping[str, Measure] = {
    "weat": Measure(
        "association:measured_weat",
        needs_two_classes=True,
        settings=(
            Setting(
                "p",
                "auto",
                "How WEAT's p-value is found.",
                choices=("auto", "exact", "bounds", "montecarlo", "normal"),
            ),
            _SIDES,
            Setting(
                "denominator",
                "union_n_minus_1",
                "Of WEAT's effect size.",
                choices=("union_n_minus_1", "union_n", "pooled"),
            ),
            _SAMPLES,
            _SEED,
        ),
    ),
    "sc_weat": Measure(
        "categories:measured_sc_weat", needs_two_classes=True, settings=(_SIDES, _PROB, _SAMPLES, _SEED)
    ),
    "mac": Measure(
        "averages:measured_mac",
        settings=(
            Setting(
                "against",
                None,
                "A second table, for MAC and its paired t-test.",
                metavar="FILE",
            ),
            Setting("convention", "class_means", "What MAC averages.", choices=("class_means", "all_pairs")),
            Setting(
                "mac_words",
                "evaluation",
                "MAC over the evaluation sets of the word list, as published, or over all protected words.",
                choices=("evaluation", "all"),
            ),
        ),
    ),
    "direct_bias": Measure(
        "projections:measured_direct_bias",
        needs_vectors=True,
        needs_couples=True,
        settings=(Setting("strictness", 1.0, "The c of direct bias.", least=0),),
    ),
    "relative_norm_distance": Measure(
        "projections:measured_relative_norm_distance", needs_vectors=True, needs_two_classes=True
    ),
    "ripa": Measure(
        "relations:measured_ripa",
        needs_vectors=True,
        needs_two_classes=True,
        needs_couples=True,
        settings=_BOOTSTRAP,
    ),
    "ect": Measure("relations:measured_ect", needs_vectors=True, needs_two_classes=True, settings=_BOOTSTRAP),
    "rnsb": Measure(
        "negative:measured_rnsb",
        needs_vectors=True,
        needs_two_classes=True,
        needs_own_attributes=True,
        settings=(
            Setting("shrinkage", 1.0, "C of RNSB's classifier.", least=LEAST_SHRINKAGE, most=MOST_SHRINKAGE),
            *_BOOTSTRAP,
        ),
    ),
}
