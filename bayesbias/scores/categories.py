"""SC-WEAT: how much nearer each word is to one set of attributes than to another, class by class.

Source: Caliskan, Bryson and Narayanan (2017), the effect size of their WEFAT; as a test of one set of words by flipped
signs, the R package PsychWordVec (Bao, 2023), ``test_WEAT`` without T2.
"""

from __future__ import annotations

import math
import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from bayesbias.core import checks
from bayesbias.core.digits import ends_as_known, p_printed
from bayesbias.core.errors import InputError
from bayesbias.core.wording import as_percent, number_of
from bayesbias.embeddings.embedding import Embedding
from bayesbias.scores.partitions import error_of_p
from bayesbias.scores.resampling import SignFlips, sign_flip_test
from bayesbias.scores.stereotypes import (
    ROUNDING,
    ScoreResult,
    called_set,
    caveats,
    frame_of_rows,
    stereotype_grid,
    table_of_source,
    two_classes,
)
from bayesbias.tables.pair_table import PairTable
from bayesbias.wordlists.wordlist import WordList

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.scores.measures import Given

__all__ = ["ScWeatResult", "sc_weat"]

SOURCE = "Caliskan, Bryson and Narayanan (2017); sign flips as in PsychWordVec (Bao, 2023), interval by Hartigan (1969)"
DEFECTS = (
    "the attribute words count as fixed, so the p-value and the interval say nothing of others like them, and are too sure; "
    "and a score over the spread of its own cosines grows as that shrinks"
)
_SEEN = 0.005  # of what an interval covers beyond what was asked


@dataclass(frozen=True, eq=False, repr=False)
class ScWeatResult(ScoreResult):
    """SC-WEAT of the words of two classes.

    Attributes
    ----------
    classes : tuple of str
        The names of X and Y, whose attributes are A and B.
    attribute_classes : tuple of str
        The names of A and B; those of X and Y where a list names them by their class.
    scores : dict of str to float
        Of each word: its mean cosine similarity with A less that with B, over the standard deviation of all of these
        cosines, with n - 1. Words whose cosines do not vary have none.
    mean_score : dict of str to float or None
        The mean score of either class.
    difference : dict of str to float
        The same without the division: the mean over the words of either class of the difference of mean cosines.
    p_value, p_method : dict
        Of the sign-flip test of these differences, see `sign_flip_test`.
    low, high : dict of str to float or None
        The exact interval for the centre of the differences of either class; None for too few words.
    coverage : dict of str to float or None
        What the interval covers exactly, at least `prob`.
    prob : float
    sides : int
        1 asks whether words are nearer to the attributes of their own class.
    n : dict of str to int
        The words of either class.
    a, b : tuple of str
        The attributes.
    seed : int or None
        Of what was drawn, if anything was.
    source, defects : str
    dropped, notes
        As in `WeatResult`.
    """

    classes: tuple[str, str]
    attribute_classes: tuple[str, str]
    scores: dict[str, float]
    mean_score: dict[str, float | None]
    difference: dict[str, float]
    p_value: dict[str, float]
    p_method: dict[str, str]
    p_lower: dict[str, float]
    p_upper: dict[str, float]
    low: dict[str, float | None]
    high: dict[str, float | None]
    mcse_low: dict[str, float | None]
    mcse_high: dict[str, float | None]
    coverage: dict[str, float | None]
    prob: float
    sides: int
    n: dict[str, int]
    a: tuple[str, ...]
    b: tuple[str, ...]
    seed: int | None
    source: str
    defects: str

    def __repr__(self) -> str:
        each = "; ".join(
            f"{c} {self.difference[c]:+.3f} of {self.n[c]} words, p {self._p_text(c, 4)}"
            for c in self.classes
        )
        dropped = number_of(len(self.dropped), "word")
        return f"<ScWeatResult {self.name}: {each} ({self.sides}-sided sign flips); {dropped} dropped>"

    def _p_text(self, c: str, digits: int) -> str:
        error = error_of_p(self.p_lower[c], self.p_upper[c], self.p_method[c])
        return p_printed(self.p_value[c], error, digits)

    def _why_wider(self, c: str, cover: float) -> str:
        """Say why the interval covers more than was asked, where that can be seen."""
        if cover - self.prob < _SEEN:
            return ""
        return f" ({self.n[c]} words allow none nearer to the {as_percent(self.prob)} asked for)"

    def in_words(self) -> list[str]:
        """Say what was found, in lines for the screen."""
        lines = [f"SC-WEAT, {self.name}"]
        for c, letter, name in zip(self.classes, "AB", self.attribute_classes, strict=True):
            own = called_set(letter, name, self.classes)
            names = ("low", "high", "mcse_low", "mcse_high")
            ends, cover = {name: getattr(self, name)[c] for name in names}, self.coverage[c]
            interval = " to ".join(ends_as_known(ends, "low", "high", 6))
            within = "" if cover is None else f", {cover:.1%} interval {interval}{self._why_wider(c, cover)}"
            score = self.mean_score[c]
            lines += [
                f"  {c} ({self.n[c]}): mean score {'none' if score is None else f'{score:.4f}'}; its own attributes are {own}",
                f"    difference of cosines {self.difference[c]:.6f}{within}; p {self._p_text(c, 6)} (sign flips, "
                f"{self.p_method[c]}, {self.sides}-sided)",
            ]
        signs = "  a positive score or difference: nearer to A"
        if self.sides == 1:
            signs += "; p is that words are nearer to their own attributes"
        return [*lines, signs, *caveats(self.defects, self.source)]


def sc_weat(
    source: PairTable | pd.DataFrame | str | os.PathLike[str] | Embedding | Any,
    wordlist: str | os.PathLike[str] | Mapping[str, Any] | WordList | None = None,
    *,
    classes: Sequence[str] | None = None,
    sides: Literal[1, 2] = 1,
    prob: float = 0.89,
    samples: int = 99_999,
    seed: int | None = None,
) -> ScWeatResult:
    """Compute the Single-Category Word Embedding Association Test of each of two classes.

    Parameters
    ----------
    source, wordlist, classes
        As in `weat`.
    sides : {1, 2}, default 1
        1 asks whether the words are nearer to their own attributes (X to A, Y to B), 2 whether they are nearer to either.
    prob, samples, seed
        As in `sign_flip_test`.

    Returns
    -------
    ScWeatResult
        Its ``pairs()`` have ``protected_word, protected_class, mean_a, mean_b, sd, score``.

    Raises
    ------
    InputError
        As `weat`.

    Notes
    -----
    The score is ES(w, A, B) of Caliskan et al. (2017). What a class shows is tested, as PsychWordVec does, by flipping the
    signs of its words' differences of mean cosines, which the spread of a word's own cosines does not enter. For the
    p-value of a single word, with A and B divided anew, there is `permutation_test`.

    Examples
    --------
    >>> from bayesbias.scores import sc_weat
    >>> result = sc_weat("minilm-static", "weat7")
    >>> {name: (round(result.mean_score[name], 2), round(result.p_value[name], 4)) for name in result.classes}
    {'math': (-0.53, 0.9844), 'arts': (-1.14, 0.0039)}
    """
    checks.choice(sides, (1, 2), "number of sides")
    grid = stereotype_grid(table_of_source(source, wordlist))
    chosen = two_classes(grid, classes)
    a, b = (grid.own_attributes[c] for c in chosen)
    notes = list(grid.notes)
    rows = []
    by_class: dict[str, dict[str, float]] = {c: {} for c in chosen}
    differences: dict[str, list[float]] = {c: [] for c in chosen}
    still = []
    for word in grid.words:
        c = grid.word_class[word]
        if c not in chosen:
            continue
        near, far = (
            [1.0 - grid.distance[word, v] for v in side if (word, v) in grid.distance] for side in (a, b)
        )
        if not near or not far:
            raise InputError(
                f"the protected word {word!r} has no pair with an attribute of set {'B' if near else 'A'}",
                where=grid.name,
                valid="at least one pair with either set",
            )
        mean_a, mean_b = math.fsum(near) / len(near), math.fsum(far) / len(far)
        sd = statistics.stdev([*near, *far])
        differences[c].append(mean_a - mean_b)
        score = (mean_a - mean_b) / sd if sd > ROUNDING else None
        if score is None:
            still.append(word)
        else:
            by_class[c][word] = score
        rows.append((word, c, mean_a, mean_b, sd, score))
    if still:
        notes.append(f"no score, since their cosines do not vary: {', '.join(still)}")
    tests: dict[str, SignFlips] = {}
    for c, sign in zip(chosen, (1, -1) if sides == 1 else (1, 1), strict=True):
        # One-sided, the differences of Y are turned round, so that both classes are asked the same: nearer to their own?
        turned = sign_flip_test(
            [sign * d for d in differences[c]], sides=sides, prob=prob, samples=samples, seed=seed
        )
        tests[c] = turned if sign == 1 else _turned_back(turned)
        seed = tests[c].seed if seed is None else seed
        if turned.low is None:
            notes.append(f"{c}: {turned.n} words are too few for a {as_percent(prob)} interval")
    return ScWeatResult(
        name=grid.name,
        dropped=grid.missing(chosen),
        notes=tuple(notes),
        _pairs=frame_of_rows(rows, ["protected_word", "protected_class", "mean_a", "mean_b", "sd", "score"]),
        classes=chosen,
        attribute_classes=(grid.attributes_called(chosen[0]), grid.attributes_called(chosen[1])),
        scores={word: score for group in by_class.values() for word, score in group.items()},
        mean_score={c: math.fsum(s.values()) / len(s) if s else None for c, s in by_class.items()},
        difference={c: test.mean for c, test in tests.items()},
        p_value={c: test.p_value for c, test in tests.items()},
        p_method={c: test.method for c, test in tests.items()},
        low={c: test.low for c, test in tests.items()},
        high={c: test.high for c, test in tests.items()},
        mcse_low={c: test.mcse_low for c, test in tests.items()},
        mcse_high={c: test.mcse_high for c, test in tests.items()},
        p_lower={c: test.p_lower for c, test in tests.items()},
        p_upper={c: test.p_upper for c, test in tests.items()},
        coverage={c: test.coverage for c, test in tests.items()},
        prob=prob,
        sides=sides,
        n={c: test.n for c, test in tests.items()},
        a=tuple(a),
        b=tuple(b),
        seed=next((test.seed for test in tests.values() if test.seed is not None), None),
        source=SOURCE,
        defects=DEFECTS,
    )


def _turned_back(test: SignFlips) -> SignFlips:
    """Return a test of the negatives as one of the scores; its p-value asks for a mean below zero."""
    import dataclasses

    ends = (None, None) if test.low is None or test.high is None else (-test.high, -test.low)
    return dataclasses.replace(
        test, mean=-test.mean, low=ends[0], high=ends[1], mcse_low=test.mcse_high, mcse_high=test.mcse_low
    )


def measured_sc_weat(given: Given, **settings: Any) -> ScWeatResult:
    """Compute SC-WEAT as the command does."""
    return sc_weat(given.table, classes=given.classes, **settings)
