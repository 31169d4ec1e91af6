"""Check intervals on real words: tables drawn from pools of many, and lists without meaning.

A table drawn from few words of a pool is compared with the value of the whole pool. In a list
whose words are dealt to the classes anew there is nothing to find: a negative control. Simulated
tables have the spread that a model assumes, real words have their own.
"""

import functools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import InputError, checks
from bayesbias.core.conventions import PROB
from bayesbias.core.workers import Hands
from bayesbias.embeddings.embedding import units
from bayesbias.embeddings.loading import load_embedding
from bayesbias.inference.linear import Key
from bayesbias.models.spec import DEFAULT_MODEL, list_models
from bayesbias.simulation import coverage, grid as grids
from bayesbias.simulation.grid import MOMENTS, Grid
from bayesbias.tables.distances import distance_table
from bayesbias.tables.pair_table import holds_pairs
from bayesbias.tables.reading import as_pair_table
from bayesbias.wordlists.listfile import Source, load_wordlist
from bayesbias.wordlists.wordlist import CONTROLS, WordList

NEGATIVE_CONTROLS = ("random_vectors", "shuffled_classes", "shuffled_attributes")
_TRIES = 1000  # deals until one is not the real one
_USUAL_CONTROLS = 30
_DRAWN_FOR_FLAWLESS = 4000


def coverage_on_pools(
    vectors: Any,
    pools: Source | WordList | None = None,
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
    workers: int | None = None,
    dask: str | None = None,
    progress: bool | None = None,
    **sampling: Any,
) -> pd.DataFrame:
    """Draw small tables from large pools of real words, and analyse each.

    The answers of every method are compared with the value of the pool.

    What is asked for is the estimand ``population`` of each level: the mean over new words of the
    class and new attributes of the same lists. The pool has a value of it: the mean over all its
    words and attributes, where each block of a class and a list counts by the pairs that a drawn
    table has in it. Words are held at no level: an interval "by class" that speaks of the listed
    words alone will miss the value of the class, and that is what it is asked.

    Words and attributes are drawn with replacement, as from a population without end, which is what
    the intervals are about. What is drawn twice enters as two words, ``name`` and ``name (2)``.
    Pools should hold several times what is drawn from them. `flawless` is the coverage of a
    flawless method, the simple mean of the table with its exact standard deviation. It differs from
    `prob` as far as means of tables are not normal.

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
        Seed of all random numbers.
    prob : float in (0, 1)
        Probability of the intervals. A difference is called where its interval leaves out zero.
    workers : int, optional
        Processes; by default one per core. With 1 this process does the work itself.
    dask : str, optional
        The address of a Dask scheduler that does the work instead (extra ``dask``), as of
        `run_sweep`.
    progress : bool, optional
        Whether to show a bar; by default on a terminal.
    **sampling
        Of each fit, as of `fit`: ``draws`` and ``tune`` (500), ``chains`` (2), ``engine``
        (``"quick"``).

    Returns
    -------
    DataFrame
        One row per method and contrast, as of `coverage_simulated`: ``method, level, name,
        contrast, truth, tables, coverage, coverage_se, flawless, flawless_se, called, called_se,
        wrong_sign, wrong_sign_se, bias, bias_se, rmse, rmse_se, width, width_se, relative_width,
        relative_width_se, seconds, converged, quick``. Levels are ``overall``, ``class`` and, of
        models that have one by attribute class, ``attribute_set``. `truth` is the value of the
        pool; `width` the mean width of the intervals and `relative_width` the same over the ideal,
        ``2 z sd``, with the exact standard deviation of the simple mean. `wrong_sign` is the share
        of tables whose interval leaves out zero on the wrong side. `seconds` is the median time of
        an answer, for all contrasts together; `converged` the share of fits that no diagnostic
        speaks against, `quick` of those that the quick engine fitted, NUTS the others. Standard
        errors of shares are those of Agresti and Coull (1998).

    Raises
    ------
    InputError
        If a pool is not larger than the sample from it, or a method is unknown.

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
    settings = coverage.settings_of(prob, **sampling)
    pool = drawn_pool(vectors, pools, words, attributes, human, neutral, controls)
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
    def weights(self) -> grids.Weights:
        """The contrasts of its tables as weights of blocks."""
        return grids.contrast_weights(self.grid, self.words, self.attributes)

    def values(self) -> dict[Key, float]:
        """Return what each contrast is in the whole pool."""
        return grids.contrast_values(self.grid.means(), self.weights)

    def places(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw words and attributes of one table: their places in the grid, class by class.

        What is drawn does not depend on the order of words, classes and lists in the pool. One word
        alone says nothing of how words vary, so that every class and list has two or more.
        """

        def draw(of: np.ndarray, sizes: Any, groups: Sequence[str], names: Sequence[str]) -> Any:
            parts = {}
            for group in np.argsort(groups):
                members = sorted(np.flatnonzero(of == group).tolist(), key=names.__getitem__)
                chosen = rng.choice(members, int(sizes[group]))
                while len(set(chosen)) < min(2, len(chosen)):
                    chosen = rng.choice(members, len(chosen))
                parts[group] = chosen
            return np.concatenate([parts[group] for group in range(len(groups))])

        grid = self.grid
        words = draw(grid.class_of, self.words, grid.classes, grid.words)
        return words, draw(grid.list_of, self.attributes, grid.lists, grid.attributes)

    def ideal_widths(self, prob: float) -> dict[Key, float]:
        """Return the interval width of each contrast if its standard deviation were known."""
        from scipy.special import ndtri

        z = float(ndtri((1 + prob) / 2))
        return {
            key: 2 * z * grids.sampling_variance(self.grid, w, self.words, self.attributes) ** 0.5
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
    grid = pool.grid.part(*pool.places(np.random.default_rng([seed, number])))
    return grid.frame(), checks.derived_seed(seed, number)


def drawn_pool(
    vectors: Any,
    pools: Any = None,
    words: int | Sequence[int] = 8,
    attributes: int | Sequence[int] = 8,
    human: int | None = None,
    neutral: int | None = None,
    controls: Any = None,
) -> Pool:
    """Return the pool that tables are drawn from, and how much of it; see `coverage_on_pools`."""
    if holds_pairs(vectors):
        if pools is not None or controls is not None:
            raise InputError(
                "expected no pools beside a table of pairs, which holds them", where="pools"
            )
        table = as_pair_table(vectors)
    elif pools is None:
        raise InputError("expected a source of words, got none", where="pools", valid="a word list")
    else:
        table = distance_table(vectors, pools, controls=controls)
    where = str(table.provenance.get("name", "pools"))
    grid = grids.grid_of(table.frame, where)
    kinds = dict(zip(grid.lists, grid.kinds, strict=True))
    sizes, there = (
        dict(zip(names, numbers.tolist(), strict=True))
        for names, numbers in zip((grid.classes, grid.lists), grid.sizes(), strict=True)
    )
    stereotypes = [name for name, kind in kinds.items() if kind not in CONTROLS]
    of_class = _numbers(words, grid.classes, "words")
    of_list = _numbers(attributes, stereotypes, "attributes")
    for kind, asked in (("human", human), ("neutral", neutral)):
        names = [name for name, own in kinds.items() if own == kind]
        if asked and not names:
            found = f"{kind} = {asked}"
            raise InputError(f"expected pools with {kind} words", where=where, found=found)
        for name in names:
            of_list[name] = min(_USUAL_CONTROLS, there[name] // 2) if asked is None else asked
    asked_of = [("words of class", of_class, sizes), ("attributes of list", of_list, there)]
    for noun, wanted, available in asked_of:
        for name, n in wanted.items():
            if n and n >= available[name]:
                problem = f"expected more than {n} {noun} {name}"
                hint, found = "draw fewer, or make the pool several times as large", available[name]
                raise InputError(problem, where=where, found=found, hint=hint)
    kept = [name for name in grid.lists if of_list[name]]
    grid = grids.grid_of(table.frame[table.frame["attribute_class"].astype(str).isin(kept)], where)
    drawn_words = np.array([of_class[name] for name in grid.classes])
    pool = Pool(grid, drawn_words, np.array([of_list[name] for name in grid.lists]))
    if not pool.weights:
        problem = "expected two connections that are contrasted"
        raise InputError(problem, where=where, found=list(grid.lists))
    return pool


def _numbers(given: int | Sequence[int], names: Sequence[str], where: str) -> dict[str, int]:
    """Return a number for each name: one for all, or one for each."""
    numbers = [given] if isinstance(given, int) else list(given)
    numbers = numbers * len(names) if len(numbers) == 1 else numbers
    if len(numbers) != len(names):
        problem = "expected one number, or one for each"
        raise InputError(problem, where=where, found=numbers, valid=names)
    return {name: checks.count(n, where, 2) for name, n in zip(names, numbers, strict=True)}


def negative_controls(
    embedding: Any,
    wordlist: Any,
    model: str = DEFAULT_MODEL,
    *,
    kinds: Sequence[str] = NEGATIVE_CONTROLS,
    tables: int = 100,
    seed: int = 0,
    prob: float = PROB,
    controls: Any = None,
    workers: int | None = None,
    dask: str | None = None,
    progress: bool | None = None,
    **sampling: Any,
) -> pd.DataFrame:
    """Take the meaning out of real vectors and see what the model still calls.

    ``random_vectors`` replaces every vector by a random one of the same length;
    ``shuffled_classes`` deals the protected words to the classes anew; ``shuffled_attributes``
    deals the stereotypes. In each no class is nearer to its own list, beyond what the particular
    shuffle happens to hold. The real deal, and that with whole classes exchanged, is none of them.
    Of a short list there are few others; a share is then known no better than from so many.

    Two things can make a shuffled list be called more often than it should. Where lists are of
    unequal length the difference is not zero, even on average over all shuffles (`expected`): words
    that are near to everything have another share of the associated pairs than of the different
    ones. And words that go together still do after they were dealt: a model that takes pairs for
    independent, given their words, is too sure.

    Fits take `sampling`, as of `coverage_on_pools`. This process does them alone, or as many as
    `workers` says, or the Dask scheduler at the address `dask` (extra ``dask``), as of `run_sweep`.

    Returns
    -------
    DataFrame
        One row per kind: ``kind, tables, called, called_se, mean, sd, width, quick, expected`` of
        ``associated - different``, and one row ``real`` for the list as it is. `called` is the
        share of tables whose interval leaves out zero, which should be no more than about ``1 -
        prob`` in all but the real ones; `mean` and `sd` are those of the posterior means; `quick`
        is the share of tables that the quick engine fitted, NUTS the others; `expected` is what the
        plain difference of means is on average over all shuffles of the list, missing for the other
        rows.

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = bb.simulation.negative_controls(
    ...     "minilm-static",
    ...     "religion",
    ...     "crossed",
    ...     kinds=["shuffled_classes"],
    ...     tables=2,
    ...     seed=1,
    ...     draws=100,
    ...     tune=100,
    ...     controls="none",
    ...     progress=False,
    ... )
    >>> found.columns.tolist()
    ['kind', 'tables', 'called', 'called_se', 'mean', 'sd', 'width', 'quick', 'expected']
    """
    settings = coverage.settings_of(prob, **sampling)
    if model in coverage.WITHOUT_MODEL:
        raise InputError("expected a model", found=model, valid=list_models())
    for kind in kinds:
        checks.choice(kind, NEGATIVE_CONTROLS, "kind")
    words = load_wordlist(wordlist, controls=controls)
    vectors = load_embedding(embedding, words=words.words)
    real = distance_table(vectors, words).frame
    if not {"associated", "different"} <= set(map(str, real["connection"].unique())):
        raise InputError("expected stereotypes of two classes or more", where=words.name)
    each, owners = real.drop_duplicates("protected_word"), _owners(words)
    listed = {a: owners[a] for a in map(str, real["attribute"].unique()) if a in owners}
    ways = {
        "shuffled_classes": deals(each["protected_class"].astype(str).tolist()),
        "shuffled_attributes": deals(list(listed.values())),
    }
    for kind in kinds:
        if ways.get(kind) == 0:
            problem = "expected two words or more in some class, and as many stereotypes"
            raise InputError(problem, where=f"{words.name}, {kind}", found="one way to deal them")
    numbers = [("real", 0), *((kind, number) for kind in kinds for number in range(tables))]
    size = np.asarray(vectors.vectors_of(words.words[:1])).shape[1]
    draw = functools.partial(_control, real, words, size, seed, numbers)
    with Hands(1 if workers is None and dask is None else workers, dask) as hands:
        rows = coverage.analyse_tables(
            draw, len(numbers), [model], settings, hands,
            label="negative controls", progress=progress,
        )  # fmt: skip
    found = pd.DataFrame(rows).query("level == 'overall' and contrast == 'associated - different'")
    found = found.assign(
        kind=[numbers[table][0] for table in found["table"]],
        called=(found["low"] > 0) | (found["high"] < 0),
        width=found["high"] - found["low"],
    )
    groups = found.groupby("kind", sort=False)
    out = groups[["called", "width", "quick"]].mean()
    out["tables"] = groups.size()
    out["mean"], out["sd"] = groups["estimate"].mean(), groups["estimate"].std()
    # Deals that come again tell nothing new: a share is known no better than from so many ways.
    n = np.minimum(out["tables"], [ways.get(kind, np.inf) for kind in out.index])
    out["called_se"] = coverage.standard_error_of_share(out["called"], n).where(out.index != "real")
    out["expected"] = pd.Series(expected_of_deals(real, words), dtype=float)
    columns = ["tables", "called", "called_se", "mean", "sd", "width", "quick", "expected"]
    return out[columns].rename_axis("kind").reset_index()


def _owners(words: WordList) -> dict[str, tuple[str, ...]]:
    """Return the classes that each word is a stereotype of: one, or more."""
    pairs = ((word, group.name) for group in words.classes for word in group.attributes)
    return {word: tuple(owners) for word, owners in checks.grouped(pairs).items()}


def expected_of_deals(real: pd.DataFrame, words: WordList) -> dict[str, float]:
    """Return what associated - different is on average over all deals.

    Deals of classes and of stereotypes.

    Each word is as likely to fall to any place as any other, so that the mean of a list (or class)
    stands for each of its pairs. Missing where a stereotype is one of several classes: then more
    than lengths is dealt.
    """
    pairs = real[real["attribute_kind"] == "stereotype"]
    if any(len(classes) > 1 for classes in _owners(words).values()):
        return {}
    near, out = pairs["connection"].astype(str) == "associated", {}
    sides = {"shuffled_classes": "attribute_class", "shuffled_attributes": "protected_class"}
    for kind, side in sides.items():
        means = pairs.groupby(side, observed=True)["distance"].transform("mean")
        out[kind] = float(means[near].mean() - means[~near].mean())
    return out


def _control(
    real: pd.DataFrame,
    words: WordList,
    size: int,
    seed: int,
    numbers: Sequence[tuple[str, int]],
    place: int,
) -> tuple[pd.DataFrame, int]:
    """Return one of the numbered tables, and its seed.

    Every table has its own, so they may come in any order.
    """
    kind, number = numbers[place]
    stream = [seed, NEGATIVE_CONTROLS.index(kind) if kind != "real" else 9, number]
    table = without_meaning(real, words, size, kind, np.random.default_rng(stream))
    return table, checks.derived_seed(*stream, 1)


def _dealt[T](labels: list[T], rng: np.random.Generator) -> list[T]:
    """Deal labels anew, and not as they are.

    Nor with the labels of whole groups exchanged, which is the real list reversed.

    Where there is no other deal, as of one word a label, it is what it is.
    """
    own = _partition(labels)
    for _ in range(_TRIES):
        dealt = [labels[i] for i in rng.permutation(len(labels))]
        if _partition(dealt) != own:
            break
    return dealt


def _partition(labels: Sequence[Any]) -> frozenset[tuple[int, ...]]:
    places = {label: [i for i, own in enumerate(labels) if own == label] for label in {*labels}}
    return frozenset(map(tuple, places.values()))


def deals(labels: Sequence[Any]) -> int:
    """Return in how many ways labels can be dealt anew.

    Neither as given, nor with whole groups exchanged.

    Deals that differ in the names of groups of one size alone count once.

    Examples
    --------
    >>> deals("aabb"), deals("aaabbb"), deals("aab"), deals("ab")
    (2, 9, 2, 0)
    """
    sizes = list(Counter(labels).values())
    ways = math.factorial(sum(sizes)) // math.prod(map(math.factorial, sizes))
    return ways // math.prod(map(math.factorial, Counter(sizes).values())) - 1


def without_meaning(
    real: pd.DataFrame, words: WordList, size: int, kind: str, rng: np.random.Generator
) -> pd.DataFrame:
    """Return a table with the meaning taken out in one of the ways of `negative_controls`."""
    if kind == "real":
        return real
    table = real.copy()
    if kind == "random_vectors":
        # Draws do not depend on the order of a list.
        names = sorted({*table["protected_word"], *table["attribute"]})
        random = units(rng.standard_normal((len(names), size)))
        at = {name: i for i, name in enumerate(names)}
        one, two = random[table["protected_word"].map(at)], random[table["attribute"].map(at)]
        return table.assign(distance=1 - np.einsum("ij,ij->i", one, two))
    stereotype = table["attribute_kind"] == "stereotype"
    owners = _owners(words)
    if kind == "shuffled_classes":
        each = table.drop_duplicates("protected_word").sort_values("protected_word")
        dealt = _dealt(each["protected_class"].astype(str).tolist(), rng)
        class_of = dict(zip(each["protected_word"], dealt, strict=True))
        table["protected_class"] = table["protected_word"].map(class_of)
    else:
        # Word by word, so that every class keeps its number of stereotypes, and of those it shares.
        listed = sorted(set(map(str, table.loc[stereotype, "attribute"])))
        places = _dealt([owners[attribute] for attribute in listed], rng)
        owners = dict(zip(listed, places, strict=True))
    pairs = table.loc[stereotype, ["attribute", "protected_class"]].astype(str)
    own = [c in owners[a] for a, c in pairs.itertuples(index=False)]
    called = {group.name: group.attribute_class for group in words.classes}
    of = pairs["protected_class"].where(own, [owners[a][0] for a in pairs["attribute"]])
    table = table.astype({"connection": object, "attribute_class": object})
    table.loc[stereotype, "connection"] = np.where(own, "associated", "different")
    table.loc[stereotype, "attribute_class"] = of.map(called)
    return table
