"""Check intervals on real vectors.

Tables are drawn from few words of pools of many, and compared with the value of the pool.

Simulated tables have the spread that a model assumes. Pools of real words have their own.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.workers import Hands
from bayesbias.inference.view import PROB
from bayesbias.models.loading import DEFAULT_MODEL
from bayesbias.simulation import coverage
from bayesbias.simulation.grid import (
    MOMENTS,
    Grid,
    Key,
    contrast_values,
    contrast_weights,
    grid_of,
    sampling_variance,
)
from bayesbias.tables.distances import distance_table
from bayesbias.tables.pair_table import holds_pairs
from bayesbias.tables.reading import as_pair_table
from bayesbias.wordlists.wordlist import CONTROLS

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.wordlists.wordlist import WordList

_USUAL_CONTROLS = 30
_DRAWN_FOR_FLAWLESS = 4000


def coverage_on_pools(
    vectors: Any,
    pools: str | os.PathLike[str] | Mapping[str, Any] | WordList | None = None,
    *,
    words: int | Sequence[int] = 8,
    attributes: int | Sequence[int] = 8,
    human: int | None = None,
    neutral: int | None = None,
    tables: int = 200,
    methods: Sequence[str] = (DEFAULT_MODEL, "shared", MOMENTS),
    controls: Any = None,
    seed: int = 0,
    prob: float = PROB,
    draws: int = 500,
    tune: int = 500,
    chains: int = 2,
    engine: str = "quick",
    workers: int | None = None,
    dask: str | None = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Draw small tables from large pools of real words, and analyse each.

    The answers of every method are compared with the value of the pool.

    What is asked for is the estimand ``population`` of each level: the mean over new words of the
    class and new attributes of the same lists. The pool has a value of it: the mean over all its
    words and attributes, where each block of a class and a list counts by the pairs that a drawn
    table has in it. Words are held at no level: an interval "by class" that speaks of the listed
    words alone will miss the value of the class, and that is what it is asked.

    Pools are finite. A table is drawn without replacement, so that its mean lies nearer to the
    pool's than to that of a population without end, which is what every method reckons with. So
    even a flawless method (the simple mean of the table, with the exact standard deviation) covers
    the pool's value more often than `prob`: `flawless` says how often, and coverage is to be
    compared with that. Pools should hold several times what is drawn from them.

    Parameters
    ----------
    vectors : Embedding, anything `load_embedding` reads, PairTable or DataFrame
        A table holds all pairs of the pools; it takes the place of vectors and pools.
    pools : WordList, or anything `load_wordlist` reads
        A word list with long lists: many words of one kind for each protected class, for each list
        of stereotypes, and for the controls. An attribute may stand in one list only. One that is
        also a protected word is left out.
    words : int or sequence of int
        How many words are drawn, of each protected class.
    attributes : int or sequence of int
        How many attributes are drawn, of each list of stereotypes.
    human, neutral : int, optional
        How many control words are drawn. By default 30, or half of the pool where that is fewer; 0
        leaves them out.
    tables : int
        How many tables are drawn.
    methods : sequence of str
        Models (names or paths), and what needs none: ``moments``, the two-way method of moments;
        ``weat``, ``averages_t`` and ``pairs_t``, which speak of the overall contrasts alone.
    controls : optional
        See `load_wordlist`.
    seed : int
    prob : float in (0, 1)
        Probability of the intervals. A difference is called where its interval leaves out zero.
    draws, tune, chains : int
        Of each fit.
    engine : {"quick", "nuts"}
        What samples the fits, as of `fit`.
    workers : int, optional
        Processes; by default one per core. With 1 this process does the work itself.
    dask : str, optional
        The address of a Dask scheduler that does the work instead (extra ``dask``), as of
        `run_sweep`.
    progress : bool, optional

    Returns
    -------
    DataFrame
        One row per method and contrast, as of `coverage_simulated`: ``method, level, name,
        contrast, truth, tables, coverage, coverage_se, flawless, flawless_se, called, called_se,
        wrong_sign, wrong_sign_se, bias, bias_se, rmse, rmse_se, width, width_se, relative_width,
        relative_width_se, seconds, converged, quick``. Levels are ``overall``, ``class`` and, of
        models that have one by attribute class, ``attribute_set``. `truth` is the value of the
        pool; `width` the mean width of the intervals and `relative_width` the same over the ideal,
        ``2 z sd``, with the exact standard deviation of the simple mean of tables drawn from the
        pool with replacement. `wrong_sign` is the share of tables whose interval leaves out zero on
        the wrong side. `seconds` is the median time of an answer, for all contrasts together;
        `converged` the share of fits that no diagnostic speaks against, `quick` of those that the
        quick engine fitted, NUTS the others. Standard errors of shares are those of Agresti and
        Coull (1998).

    Raises
    ------
    InputError
        Where a pool holds no more than is to be drawn from it, or a method is unknown.

    Examples
    --------
    >>> import bayesbias as bb
    >>> report = bb.coverage_on_pools(
    ...     "minilm-static", "gender", words=4, attributes=4, tables=20, methods=["moments"]
    ... )
    >>> report.loc[report["level"] == "overall", "contrast"].tolist()[:2]
    ['associated - different', 'associated - human']
    """
    methods = coverage.checked_methods(methods)
    settings = coverage.settings_of(prob, draws, tune, chains, engine)
    pool = drawn_pool(
        vectors, pools, words=words, attributes=attributes, human=human, neutral=neutral,
        controls=controls,
    )  # fmt: skip
    with Hands(workers, dask) as hands:
        rows = coverage.analyse_tables(
            functools.partial(drawn, pool, seed), tables, methods, settings, hands,
            label="tables drawn", progress=progress,
        )  # fmt: skip
    frame = coverage.accounts(rows, pool.values(), methods, prob)
    widths, flawless = pool.ideal_widths(prob), pool.flawless(prob, seed)
    keys = list(zip(*(frame[label] for label in coverage.LABELS), strict=True))
    ideal = np.array([widths[key] or np.nan for key in keys])
    shares = np.array([flawless[key] for key in keys])
    for after, name, values in (
        ("coverage_se", "flawless", shares),
        ("flawless", "flawless_se", coverage.standard_error_of_share(shares, _DRAWN_FOR_FLAWLESS)),
        ("width_se", "relative_width", frame["width"] / ideal),
        ("relative_width", "relative_width_se", frame["width_se"] / ideal),
    ):
        frame.insert(frame.columns.get_loc(after) + 1, name, values)
    return frame


@dataclass(frozen=True, eq=False)
class Pool:
    """A grid of all that may be drawn, and how much is drawn from each class and list."""

    grid: Grid
    words: np.ndarray
    attributes: np.ndarray

    @property
    def weights(self) -> dict[Key, np.ndarray]:
        """The contrasts of its tables as weights of blocks."""
        return contrast_weights(self.grid, self.words, self.attributes)

    def values(self) -> dict[Key, float]:
        """Return what each contrast is in the whole pool."""
        return contrast_values(self.grid.means(), self.weights)

    def places(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw words and attributes of one table, without replacement.

        Their places in the grid, class by class.

        What is drawn does not depend on the order of words, classes and lists in the pool.
        """

        def draw(of: np.ndarray, sizes: Any, groups: Sequence[str], names: Sequence[str]) -> Any:
            parts = {}
            for group in sorted(range(len(groups)), key=groups.__getitem__):
                members = sorted(np.flatnonzero(of == group).tolist(), key=names.__getitem__)
                parts[group] = rng.choice(members, int(sizes[group]), replace=False)
            return np.concatenate([parts[group] for group in range(len(groups))])

        grid = self.grid
        words = draw(grid.class_of, self.words, grid.classes, grid.words)
        return words, draw(grid.list_of, self.attributes, grid.lists, grid.attributes)

    def ideal_widths(self, prob: float) -> dict[Key, float]:
        """Return the interval width of each contrast if its standard deviation were known."""
        from scipy.special import ndtri

        z = float(ndtri((1 + prob) / 2))
        return {
            key: 2 * z * sampling_variance(self.grid, w, self.words, self.attributes) ** 0.5
            for key, w in self.weights.items()
        }

    def flawless(self, prob: float, seed: int) -> dict[Key, float]:
        """Return how often the mean of a table lies within half the ideal width of the pool's."""
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
        rows, columns = self.grid.part(*self.places(rng)).averaging()
        drawn = (self.places(rng) for _ in range(_DRAWN_FOR_FLAWLESS))
        means = np.array([rows @ self.grid.distances[np.ix_(*at)] @ columns for at in drawn])
        off, widths = means - self.grid.means(), self.ideal_widths(prob)
        return {
            key: float((np.abs(np.einsum("bkl,kl->b", off, w)) <= widths[key] / 2).mean())
            for key, w in self.weights.items()
        }


def drawn(pool: Pool, seed: int, number: int) -> tuple[pd.DataFrame, int]:
    """Draw the table of a number: every table has its own seed, so they may come in any order."""
    sequence = np.random.SeedSequence([seed, number])
    grid = pool.grid.part(*pool.places(np.random.default_rng(sequence)))
    return grid.frame(), int(sequence.generate_state(1)[0])


def drawn_pool(
    vectors: Any,
    pools: Any = None,
    *,
    words: int | Sequence[int] = 8,
    attributes: int | Sequence[int] = 8,
    human: int | None = None,
    neutral: int | None = None,
    controls: Any = None,
) -> Pool:
    """Return the pool that tables are drawn from, and how much of it; see `coverage_on_pools`."""
    if holds_pairs(vectors):
        if pools is not None or controls is not None:
            raise InputError("a table of pairs holds the pools already", where="pools")
        table = as_pair_table(vectors)
    elif pools is None:
        raise InputError("expected a source of words, got none", where="pools", valid="a word list")
    else:
        table = distance_table(vectors, pools, controls=controls)
    where = str(table.provenance.get("name", "pools"))
    grid = grid_of(table.frame, where)
    kinds = dict(zip(grid.lists, grid.kinds, strict=True))
    there = dict(zip(grid.lists, grid.sizes()[1].tolist(), strict=True))
    stereotypes = [name for name, kind in kinds.items() if kind not in CONTROLS]
    of_class = _numbers(words, grid.classes, "words")
    of_list = _numbers(attributes, stereotypes, "attributes")
    for kind, asked in (("human", human), ("neutral", neutral)):
        names = [name for name, own in kinds.items() if own == kind]
        if asked and not names:
            found = f"{kind} = {asked}"
            raise InputError(f"the pools have no {kind} words", where=where, found=found)
        for name in names:
            of_list[name] = min(_USUAL_CONTROLS, there[name] // 2) if asked is None else asked
    sizes = dict(zip(grid.classes, grid.sizes()[0].tolist(), strict=True))
    asked_of = [("words of class", of_class, sizes), ("attributes of list", of_list, there)]
    for noun, wanted, available in asked_of:
        for name, n in wanted.items():
            if n and n >= available[name]:
                problem = f"the pool holds no more than is to be drawn: {n} {noun} {name}"
                hint, found = "draw fewer, or make the pool several times as large", available[name]
                raise InputError(problem, where=where, found=found, hint=hint)
    kept = [name for name in grid.lists if of_list[name]]
    grid = grid_of(table.frame[table.frame["attribute_class"].astype(str).isin(kept)], where)
    drawn_words = np.array([of_class[name] for name in grid.classes])
    pool = Pool(grid, drawn_words, np.array([of_list[name] for name in grid.lists]))
    if not pool.weights:
        problem = "the pools make no two connections that are contrasted"
        raise InputError(problem, where=where, found=list(grid.lists))
    return pool


def _numbers(given: int | Sequence[int], names: Sequence[str], where: str) -> dict[str, int]:
    """Return a number for each name: one for all, or one for each."""
    numbers = [given] * len(names) if isinstance(given, int) else list(given)
    if len(numbers) != len(names):
        problem = "needs one number, or one for each"
        raise InputError(problem, where=where, found=numbers, valid=names)
    return {name: checks.count(n, where, 2) for name, n in zip(names, numbers, strict=True)}
