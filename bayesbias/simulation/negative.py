"""Real vectors with the meaning taken out, where there is nothing to find.

Negative controls of a model.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.workers import Hands
from bayesbias.inference.view import PROB
from bayesbias.models.loading import DEFAULT_MODEL, list_models
from bayesbias.simulation import coverage

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.wordlists.wordlist import WordList

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
    import pandas as pd

    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.tables.distances import distance_table
    from bayesbias.wordlists.listfile import load_wordlist

    settings = coverage.settings_of(prob, draws, tune, chains, engine)
    if model in coverage.WITHOUT_MODEL:
        raise InputError("expected a model", found=model, valid=list_models())
    for kind in kinds:
        checks.choice(kind, NEGATIVE_CONTROLS, "negative control")
    words = load_wordlist(wordlist, controls=controls)
    vectors = load_embedding(embedding, words=words.words)
    real = distance_table(vectors, words).frame
    if not {"associated", "different"} <= set(map(str, real["connection"].unique())):
        problem = "negative controls need stereotypes of two classes or more"
        raise InputError(problem, where=words.name)
    each, owners = real.drop_duplicates("protected_word"), _owners(words)
    listed = {a: owners[a] for a in map(str, real["attribute"].unique()) if a in owners}
    ways = {
        "shuffled_classes": deals(each["protected_class"].astype(str).tolist()),
        "shuffled_attributes": deals(list(listed.values())),
    }
    for kind in kinds:
        if ways.get(kind) == 0:
            raise InputError(
                "there is no way to deal the words but the real one",
                where=f"{words.name}, {kind}",
                valid="two words or more in some class, and as many stereotypes",
            )
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
    owners: dict[str, tuple[str, ...]] = {}
    for group in words.classes:
        for attribute in group.attributes:
            owners[attribute] = (*owners.get(attribute, ()), group.name)
    return owners


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
    return table, int(np.random.SeedSequence([*stream, 1]).generate_state(1)[0])


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
        random = rng.standard_normal((len(names), size))
        random /= np.linalg.norm(random, axis=1, keepdims=True)
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
