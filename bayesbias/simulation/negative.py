"""Real vectors with the meaning taken out, where there is nothing to find: negative controls of a model."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.workers import Hands
from bayesbias.inference.estimands import PROB
from bayesbias.models.loading import DEFAULT_MODEL, list_models
from bayesbias.simulation import coverage

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.wordlists.wordlist import WordList

_BATCH = 5  # tables that a worker takes at a time
_TRIES = 1000  # deals until one is not the real one
NEGATIVE_CONTROLS = ("random_vectors", "shuffled_classes", "shuffled_attributes")


def negative_controls(
    embedding: Any,
    wordlist: Any,
    model: str = DEFAULT_MODEL,
    *,
    kinds: Sequence[str] = NEGATIVE_CONTROLS,
    tables: int = 100,
    seed: int = 0,
    prob: float = PROB,
    draws: int = 500,
    tune: int = 500,
    chains: int = 2,
    engine: str = "quick",
    controls: Any = None,
    workers: int | None = None,
    dask: str | None = None,
    progress: bool | None = None,
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

    Fits are sampled by `engine`, as of `fit`; by this process alone, by as many as `workers` says,
    or by the Dask scheduler at the address `dask` (extra ``dask``), as of `run_sweep`.

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
    >>> found = bb.simulation.negative_controls("minilm-static", "religion", "crossed", kinds=["shuffled_classes"], tables=2,
    ...     seed=1, draws=100, tune=100, controls="none", progress=False)
    >>> found.columns.tolist()
    ['kind', 'tables', 'called', 'called_se', 'mean', 'sd', 'width', 'quick', 'expected']
    """
    import pandas as pd

    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.tables.distances import distance_table
    from bayesbias.wordlists.listfile import load_wordlist

    checks.count(tables, "tables", most=checks.MOST_TABLES)
    settings = coverage.settings_of(prob, draws, tune, chains, engine)
    if model in coverage.WITHOUT_MODEL:
        raise InputError("negative controls are of a model", found=model, valid=list_models())
    for kind in kinds:
        checks.choice(kind, NEGATIVE_CONTROLS, "negative control")
    words = load_wordlist(wordlist, controls=controls)
    vectors = load_embedding(embedding, words=words.words)
    real = distance_table(vectors, words).frame
    if not {"associated", "different"} <= set(map(str, real["connection"].unique())):
        raise InputError(
            "negative controls need stereotypes of two classes or more",
            where=words.name,
            found=f"connections {', '.join(real['connection'].astype(str).unique())}",
        )
    numbers = [("real", 0), *((kind, number) for kind in kinds for number in range(tables))]
    ways = _ways_of(real, words)
    for kind in kinds:
        if ways.get(kind) == 0:
            raise InputError(
                "there is no way to deal the words but the real one",
                where=f"{words.name}, {kind}",
                valid="two words or more in some class, and as many stereotypes",
            )
    size = np.asarray(vectors.vectors_of(words.words[:1])).shape[1]
    work = functools.partial(
        _analyse_controls, real, words, size, model, seed, numbers, settings=settings
    )
    with Hands(1 if workers is None and dask is None else workers, dask) as hands:
        rows = coverage.in_batches(
            work, len(numbers), None, hands, "negative controls", progress, _BATCH
        )
    out, expected = [], expected_of_deals(real, words)
    for kind in ("real", *kinds):
        part = pd.DataFrame([row for row in rows if row["kind"] == kind])
        # Deals that come again tell nothing new: a share is known no better than from so many ways.
        called = ((part["low"] > 0) | (part["high"] < 0)).mean()
        out.append(
            {
                "kind": kind,
                "tables": len(part),
                "called": called,
                "called_se": np.nan
                if kind == "real"
                else coverage.standard_error_of_share(
                    called, max(1, min(len(part), ways.get(kind, len(part))))
                ),
                "mean": part["estimate"].mean(),
                "sd": part["estimate"].std(ddof=1),
                "width": (part["high"] - part["low"]).mean(),
                "quick": part["quick"].mean(),
                "expected": expected.get(kind, np.nan),
            }
        )
    return pd.DataFrame(out)


def _ways_of(real: pd.DataFrame, words: WordList) -> dict[str, int]:
    """Return how many deals there are, of classes and of stereotypes."""
    each = real.drop_duplicates("protected_word")
    owners: dict[str, list[str]] = {}
    held = set(map(str, real["attribute"].unique()))
    for group in words.classes:
        for attribute in group.attributes:
            if attribute in held:
                owners.setdefault(attribute, []).append(group.name)
    return {
        "shuffled_classes": deals(each["protected_class"].astype(str).tolist()),
        "shuffled_attributes": deals([tuple(own) for own in owners.values()]),
    }


def expected_of_deals(real: pd.DataFrame, words: WordList) -> dict[str, float]:
    """Return what associated - different is on average over all deals, of classes and of stereotypes.

    Each word is as likely to fall to any place as any other, so that the mean of a list (or class)
    stands for each of its pairs. Missing where a stereotype is one of several classes: then more
    than lengths is dealt.
    """
    pairs = real[real["attribute_kind"] == "stereotype"]
    listed = [attribute for group in words.classes for attribute in group.attributes]
    if len(set(listed)) < len(listed):
        return {}
    near = pairs["connection"].astype(str) == "associated"
    out = {}
    for kind, side in (
        ("shuffled_classes", "attribute_class"),
        ("shuffled_attributes", "protected_class"),
    ):
        means = pairs.groupby(side, observed=True)["distance"].transform("mean")
        out[kind] = float(means[near].mean() - means[~near].mean())
    return out


def _analyse_controls(
    real: pd.DataFrame,
    words: WordList,
    size: int,
    model: str,
    seed: int,
    numbers: Sequence[tuple[str, int]],
    first: int,
    count: int,
    settings: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """Take the meaning out of the table and fit it.

    Every table has its own seed, so batches may come in any order.
    """
    rows = []
    for kind, number in numbers[first : first + count]:
        stream = [seed, NEGATIVE_CONTROLS.index(kind) if kind != "real" else 9, number]
        table = without_meaning(real, words, size, kind, np.random.default_rng(stream))
        own = int(np.random.SeedSequence([*stream, 1]).generate_state(1)[0])
        rows += [
            {"kind": kind, **row}
            for row in coverage.analyse_table(table, model, own, settings)
            if row["contrast"] == "associated - different"
        ]
    return rows


def _dealt[T](labels: list[T], rng: np.random.Generator) -> list[T]:
    """Deal labels anew, and not as they are: nor with the labels of whole groups exchanged, which is the real list reversed.

    Where there is no other deal, as of one word a label, it is what it is.
    """
    own = _partition(labels)
    for _ in range(_TRIES):
        dealt = [labels[i] for i in rng.permutation(len(labels))]
        if _partition(dealt) != own:
            break
    return dealt


def _partition(labels: Sequence[Any]) -> frozenset[tuple[int, ...]]:
    groups: dict[Any, list[int]] = {}
    for place, label in enumerate(labels):
        groups.setdefault(label, []).append(place)
    return frozenset(map(tuple, groups.values()))


def deals(labels: Sequence[Any]) -> int:
    """Return in how many ways labels can be dealt that are neither the given one nor that with whole groups exchanged.

    Deals that differ in the names of groups of one size alone count once.

    Examples
    --------
    >>> deals("aabb"), deals("aaabbb"), deals("aab"), deals("ab")
    (2, 9, 2, 0)
    """
    sizes = list(Counter(labels).values())
    ways = math.factorial(sum(sizes))
    for size in sizes:
        ways //= math.factorial(size)
    for alike in Counter(sizes).values():
        ways //= math.factorial(alike)
    return ways - 1


def without_meaning(
    real: pd.DataFrame, words: WordList, size: int, kind: str, rng: np.random.Generator
) -> pd.DataFrame:
    """Return a table with the meaning taken out in one of the ways of `negative_controls`."""
    if kind == "real":
        return real
    table = real.copy()
    if kind == "random_vectors":
        names = sorted(
            {*table["protected_word"], *table["attribute"]}
        )  # draws do not depend on the order of a list
        random = rng.standard_normal((len(names), size))
        random /= np.linalg.norm(random, axis=1, keepdims=True)
        at = {name: i for i, name in enumerate(names)}
        one, two = random[table["protected_word"].map(at)], random[table["attribute"].map(at)]
        return table.assign(distance=1 - np.einsum("ij,ij->i", one, two))
    stereotype = (table["attribute_kind"] == "stereotype").to_numpy()
    owners: dict[str, list[str]] = {}  # the classes that a word is a stereotype of: one, or more
    for group in words.classes:
        for attribute in group.attributes:
            owners.setdefault(attribute, []).append(group.name)
    if kind == "shuffled_classes":
        each = table.drop_duplicates("protected_word").sort_values("protected_word")
        dealt = _dealt(each["protected_class"].astype(str).tolist(), rng)
        table["protected_class"] = table["protected_word"].map(
            dict(zip(each["protected_word"], dealt, strict=True))
        )
    else:
        # Word by word, so that every class keeps its number of stereotypes, and of those it shares.
        listed = np.array(sorted(set(table.loc[stereotype, "attribute"])), dtype=object)
        given = [owners[attribute] for attribute in listed]
        places = _dealt([tuple(classes) for classes in given], rng)
        owners = {str(word): list(classes) for word, classes in zip(listed, places, strict=True)}
    called = {group.name: group.attribute_class for group in words.classes}
    connection, label = (
        table[column].to_numpy(dtype=object) for column in ("connection", "attribute_class")
    )
    for row in np.flatnonzero(stereotype):
        of, own = owners[table["attribute"].iloc[row]], table["protected_class"].iloc[row]
        connection[row] = "associated" if own in of else "different"
        label[row] = called[own if own in of else of[0]]
    return table.assign(connection=connection, attribute_class=label)
