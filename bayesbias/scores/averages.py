"""MAC, the mean average cosine distance, and the paired t-test between two tables.

Sources: equations 6 and 7 of the seed paper; Manzini et al. (2019).
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.wording import number_of, some
from bayesbias.embeddings.embedding import Embedding
from bayesbias.scores.stereotypes import (
    ROUNDING,
    ScoreResult,
    caveats,
    choose_protected,
    frame_of_rows,
    stereotype_grid,
    table_of_source,
)
from bayesbias.tables.pair_table import PairTable
from bayesbias.wordlists.listfile import list_wordlists, load_wordlist
from bayesbias.wordlists.wordlist import WordList

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.scores.measures import Given

__all__ = ["CONVENTIONS", "MacResult", "mac"]

CONVENTIONS = ("class_means", "all_pairs")
"""What MAC averages; see `mac`."""
SOURCE = "Manzini, Lim, Tsvetkov and Black (2019)"
DEFECTS = (
    "a mean of means without an interval, which hides how single pairs scatter; nothing says how near ordinary words lie; and "
    "its t-test takes averages over the same attributes for independent (Dobrzeniecka and Urbaniak, 2024)"
)


@dataclass(frozen=True, eq=False, repr=False)
class MacResult(ScoreResult):
    """MAC, and where two tables are compared, the paired t-test of Manzini et al. (2019).

    Attributes
    ----------
    name, name_against : str, str or None
        The table, and the one it is compared with.
    mac, mac_against : float, float or None
        Mean average cosine *distance* of either, in [0, 2]; 1 means unrelated.
    difference : float or None
        ``mac - mac_against``, as the t-test has it.
    t, df, p_value : float, int, float or None
        The two-sided paired t-test on the averages S(t, A_j). None without a second table, or where the
        differences do not vary.
    convention : str
        One of `CONVENTIONS`.
    words, attribute_classes : tuple of str
        The protected words and attribute classes used.
    n_words, n_averages, n_pairs : int
        Protected words; averages S(t, A_j), which the t-test takes for observations; pairs behind them.
    dropped, notes
        As in `WeatResult`.
    """

    name_against: str | None
    mac: float
    mac_against: float | None
    difference: float | None
    t: float | None
    df: int | None
    p_value: float | None
    convention: str
    words: tuple[str, ...]
    attribute_classes: tuple[str, ...]
    n_words: int
    n_averages: int
    n_pairs: int

    def __repr__(self) -> str:
        second = (
            "" if self.mac_against is None else f", against {self.mac_against:.6f} in {self.name_against}"
        )
        test = "" if self.p_value is None else f"; t({self.df}) = {self.t:.4f}, p {self.p_value:.4g}"
        return (
            f"<MacResult {self.name}: {self.mac:.6f}{second}{test}; {self.n_words} words, "
            f"{self.n_averages} averages of {number_of(self.n_pairs, 'pair')} ({self.convention}); "
            f"{number_of(len(self.dropped), 'word')} dropped>"
        )

    def in_words(self) -> list[str]:
        """Say what was found, in lines for the screen."""
        lines = [
            f"MAC, {self.name}",
            f"  mean average cosine distance {self.mac:.6f} ({self.convention}; {number_of(self.n_words, 'word')}, "
            f"{number_of(self.n_averages, 'average')} of {number_of(self.n_pairs, 'pair')})",
        ]
        if self.mac_against is not None:
            lines.append(f"  against {self.mac_against:.6f} in {self.name_against}")
        if self.p_value is not None:
            lines.append(
                f"  paired t-test of the averages: t({self.df}) = {self.t:.4f}, p {self.p_value:.4g}"
            )
        return [*lines, *caveats(DEFECTS, SOURCE)]

    def averages(self) -> pd.DataFrame:
        """Return S(t, A_j) of equation 6: ``protected_word, attribute_class, distance, distance_against``."""
        keys = ["protected_word", "attribute_class"]
        means = self._pairs.groupby(keys, sort=False, observed=True)[["distance", "distance_against"]].mean()
        return means.reset_index()


def mac(
    source: PairTable | pd.DataFrame | str | os.PathLike[str] | Embedding | Any,
    wordlist: str | os.PathLike[str] | Mapping[str, Any] | WordList | None = None,
    *,
    against: PairTable | pd.DataFrame | str | os.PathLike[str] | None = None,
    words: Iterable[str] | None = None,
    convention: str = "class_means",
) -> MacResult:
    """Compute the mean average cosine distance, and test it against that of a second table.

    Parameters
    ----------
    source, wordlist
        As in `weat`.
    against : PairTable, DataFrame or path of a table, optional
        The same pairs from other vectors, such as debiased ones. Pairs that only one of the two tables has
        are left out of both scores, and noted.
    words : iterable of str, optional
        The protected words to average over; all by default. Published values for the race list are over
        its evaluation sets: ``[w for s in load_wordlist("race").evaluation_sets for w in s]``.
    convention : {"class_means", "all_pairs"}
        ``class_means`` averages over a class's attributes first (Manzini et al., 2019, and WEFE), so that
        short lists weigh as much as long ones. With ``all_pairs`` every pair weighs the same. The
        t-test is on the averages S(t, A_j) either way.

    Returns
    -------
    MacResult
        Its ``pairs()`` have ``protected_word, attribute, attribute_class, distance, distance_against,
        weight``; the sum of weight times distance is the score. ``averages()`` has what the t-test takes.

    Raises
    ------
    InputError
        For words that are not in the table, tables without a pair in common, or an unknown convention.

    Notes
    -----
    Equations 6 and 7 of the seed paper, on distances as in the published numbers. Each average is taken over
    the same few attribute words for every protected word, so that averages of one class rise and fall
    together; the t-test counts them as independent. `simulate_grid` says what comes of it.

    Examples
    --------
    >>> from bayesbias import mac
    >>> result = mac("minilm-static", "religion")
    >>> round(result.mac, 3), result.n_averages, result.t is None
    (0.98, 45, True)
    """
    checks.choice(convention, CONVENTIONS, "convention")
    grid = stereotype_grid(table_of_source(source, wordlist))
    other = None if against is None else stereotype_grid(table_of_source(against, None))
    notes = list(grid.notes)
    chosen, missing = choose_protected(grid, words)
    rows: list[tuple[Any, ...]] = []
    averages: list[tuple[float, float | None]] = []
    left_out: dict[str, None] = {}
    for word in chosen:
        for c, attributes in grid.attribute_sets.items():
            distances = []
            for v in attributes:
                if (word, v) not in grid.distance:
                    continue
                if other is not None and (word, v) not in other.distance:
                    left_out[word if word not in other.word_class else v] = None
                    continue
                distances.append((v, grid.distance[word, v], other.distance[word, v] if other else None))
            if distances:
                mean = math.fsum(d for _, d, _ in distances) / len(distances)
                second = (
                    math.fsum(d for _, _, d in distances if d is not None) / len(distances) if other else None
                )
                averages.append((mean, second))
                rows += [(word, v, c, d, e, 1.0 / len(distances)) for v, d, e in distances]
    if not rows:
        raise InputError(
            "the tables have no pair in common" if other else "no pair is left",
            where=grid.name,
            found=other.name if other else None,
        )
    if left_out:
        notes.append(f"left out, since {other.name if other else ''} lacks their pairs: {some(left_out)}")
    columns = ["protected_word", "attribute", "attribute_class", "distance", "distance_against", "weight"]
    pairs = frame_of_rows(rows, columns)
    pairs["distance_against"] = pairs["distance_against"].astype("Float64")
    whole = len(averages) if convention == "class_means" else None
    pairs["weight"] = pairs["weight"] / whole if whole else 1.0 / len(pairs)
    first = _mean_distance([d for *_, d, _, _ in rows], [m for m, _ in averages], convention)
    second = difference = t = df = p_value = None
    if other is not None:
        second = _mean_distance(
            [d for *_, d, _ in rows], [m for _, m in averages if m is not None], convention
        )
        difference = first - second
        t, df, p_value, note = _paired_t(np.sort([m - n for m, n in averages if n is not None]))
        notes += [note] if note else []
    return MacResult(
        name=grid.name,
        dropped=tuple(dict.fromkeys([*missing, *grid.missing_attributes()])),
        notes=tuple(notes),
        _pairs=pairs,
        name_against=None if other is None else other.name,
        mac=first,
        mac_against=second,
        difference=difference,
        t=t,
        df=df,
        p_value=p_value,
        convention=convention,
        words=tuple(dict.fromkeys(row[0] for row in rows)),
        attribute_classes=tuple(dict.fromkeys(row[2] for row in rows)),
        n_words=len({row[0] for row in rows}),
        n_averages=len(averages),
        n_pairs=len(rows),
    )


def _mean_distance(distances: list[float], averages: list[float], convention: str) -> float:
    values = averages if convention == "class_means" else distances
    return math.fsum(values) / len(values)


def _paired_t(
    differences: npt.NDArray[np.float64],
) -> tuple[float | None, int | None, float | None, str | None]:
    """Return t, its degrees of freedom and the two-sided p, or why there are none."""
    from scipy import stats

    n = len(differences)
    if n < 2:
        return None, None, None, "there is one average, so there is no t-test"
    if float(np.std(differences, ddof=1)) <= ROUNDING:
        return None, n - 1, None, "the differences of the averages do not vary, so there is no t-test"
    test = stats.ttest_1samp(differences, 0.0)
    return float(test.statistic), n - 1, float(test.pvalue), None


def measured_mac(given: Given, *, mac_words: str, **settings: Any) -> MacResult:
    """Compute MAC as the command does, over the evaluation sets or all protected words."""
    chosen = _evaluation_words(given) if mac_words == "evaluation" else None
    return mac(given.table, words=chosen, **settings)


def _evaluation_words(given: Given) -> list[str] | None:
    """Return the words of the evaluation sets that go with a table, or None for all its words.

    A table read from a file names no word list. It is taken for a shipped list's where all protected words
    are that list's, in its classes, which is how the published tables are told.
    """
    words = given.words
    if words is None:
        frame = given.table.frame.drop_duplicates("protected_word")
        mine = {
            *zip(frame["protected_word"], frame["protected_class"], strict=True),
            *((w, c) for c, group in given.table.coverage.protected.items() for w in group["missing"]),
        }
        for name in list_wordlists():
            listed = load_wordlist(name, controls="none")
            if listed.evaluation_sets and mine == {(w, c.name) for c in listed.classes for w in c.protected}:
                words = listed
    if words is None or not words.evaluation_sets:
        return None
    chosen = list(dict.fromkeys(w for s in words.evaluation_sets for w in s))
    known = set(words.protected_words)
    left = [w for w in words.protected_words if w not in set(chosen)]
    if left:
        given.note(
            f"MAC is over the evaluation sets of {words.name}, without {', '.join(left)} (--mac-words all "
            "takes every protected word)"
        )
    return [w for w in chosen if w in known]
