"""Real vectors with the meaning taken out, where there is nothing to find: negative controls of a model."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.basics import checks
from bayesbias.basics.errors import InputError
from bayesbias.basics.kinds import tells_kinds
from bayesbias.basics.workers import Hands
from bayesbias.inference.engine import ENGINES
from bayesbias.inference.estimands import PROB
from bayesbias.models.loading import DEFAULT_MODEL, shipped_models
from bayesbias.simulation.accounting import standard_error_of_share
from bayesbias.simulation.answers import AVERAGED, analyse_table
from bayesbias.simulation.batches import in_batches
from bayesbias.simulation.yardsticks import YARDSTICKS

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.words.wordlist import WordList

__all__ = ["negative_controls"]

_BATCH = 5  # tables that a worker takes at a time
NEGATIVE_CONTROLS = ("random_vectors", "shuffled_classes", "shuffled_attributes")


@tells_kinds
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

    ``random_vectors`` replaces every vector by a random one of the same length; ``shuffled_classes`` deals the
    protected words to the classes anew; ``shuffled_attributes`` deals the stereotypes. In each there is no difference
    between associated and different, beyond what the particular shuffle happens to hold.

    Fits are sampled by `engine`, as of `fit`; by this process alone, by as many as `workers` says, or by the Dask scheduler
    at the address `dask` (extra ``dask``), as of `run_sweep`.

    Returns
    -------
    DataFrame
        One row per kind: ``kind, tables, called, called_se, mean, sd, width, quick`` of ``associated - different``, and one row
        ``real`` for the list as it is. `called` is the share of tables whose interval leaves out zero, which should
        be no more than about ``1 - prob`` in all but the real ones; `mean` and `sd` are those of the posterior means;
        `quick` is the share of tables that the quick engine fitted, NUTS the others.

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = bb.simulation.negative_controls("minilm-static", "religion", "crossed", kinds=["shuffled_classes"], tables=2,
    ...     seed=1, draws=100, tune=100, controls="none", progress=False)
    >>> found.columns.tolist()
    ['kind', 'tables', 'called', 'called_se', 'mean', 'sd', 'width', 'quick']
    """
    import pandas as pd

    from bayesbias.tables.distances import distance_table
    from bayesbias.vectors.loading import load_embedding
    from bayesbias.words.listfile import load_wordlist

    checks.count(tables, "tables")
    checks.sampling(draws, tune, chains)
    checks.seed(seed, most=None)
    prob = checks.probability(prob)
    checks.choice(engine, ENGINES, "engine")
    if model in (*AVERAGED, *YARDSTICKS):
        raise InputError("negative controls are of a model", found=model, valid=shipped_models())
    for kind in kinds:
        checks.choice(kind, NEGATIVE_CONTROLS, "negative control")
    words = load_wordlist(wordlist, controls=controls)
    vectors = load_embedding(embedding, words=words.words)
    real = distance_table(vectors, words).frame
    if not {"associated", "different"} <= set(real["connection"].astype(str)):
        raise InputError(
            "negative controls need stereotypes of two classes or more",
            where=words.name,
            found=f"connections {', '.join(real['connection'].astype(str).unique())}",
        )
    settings = {"prob": prob, "draws": draws, "tune": tune, "chains": chains, "engine": engine}
    numbers = [("real", 0), *((kind, number) for kind in kinds for number in range(tables))]
    size = np.asarray(vectors.vectors_of(words.words[:1])).shape[1]
    work = functools.partial(_analyse_controls, real, words, size, model, seed, numbers, settings=settings)
    with Hands(1 if workers is None and dask is None else workers, dask) as hands:
        rows = in_batches(work, len(numbers), None, hands, "negative controls", progress, _BATCH)
    out = []
    for kind in ("real", *kinds):
        part = pd.DataFrame([row for row in rows if row["kind"] == kind])
        called = ((part["low"] > 0) | (part["high"] < 0)).mean()
        out.append(
            {
                "kind": kind,
                "tables": len(part),
                "called": called,
                "called_se": standard_error_of_share(called, len(part)) if kind != "real" else np.nan,
                "mean": part["estimate"].mean(),
                "sd": part["estimate"].std(ddof=1),
                "width": (part["high"] - part["low"]).mean(),
                "quick": part["quick"].mean(),
            }
        )
    return pd.DataFrame(out)


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
    """Take the meaning out of the table and fit it; every table has its own seed, so batches may come in any order."""
    rows = []
    for kind, number in numbers[first : first + count]:
        stream = [seed, NEGATIVE_CONTROLS.index(kind) if kind != "real" else 9, number]
        table = _without_meaning(real, words, size, kind, np.random.default_rng(stream))
        own = int(np.random.SeedSequence([*stream, 1]).generate_state(1)[0])
        rows += [
            {"kind": kind, **row}
            for row in analyse_table(table, model, own, settings)
            if row["contrast"] == "associated - different"
        ]
    return rows


def _without_meaning(
    real: pd.DataFrame, words: WordList, size: int, kind: str, rng: np.random.Generator
) -> pd.DataFrame:
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
        dealt = rng.permutation(each["protected_class"].to_numpy())
        table["protected_class"] = table["protected_word"].map(
            dict(zip(each["protected_word"], dealt, strict=True))
        )
    else:
        # Word by word, so that every class keeps its number of stereotypes, and of those it shares.
        listed = np.array(sorted(set(table.loc[stereotype, "attribute"])), dtype=object)
        given = [owners[attribute] for attribute in listed]
        owners = {str(new): classes for new, classes in zip(rng.permutation(listed), given, strict=True)}
    called = {group.name: group.attribute_class for group in words.classes}
    connection, label = (table[column].to_numpy(dtype=object) for column in ("connection", "attribute_class"))
    for row in np.flatnonzero(stereotype):
        of, own = owners[table["attribute"].iloc[row]], table["protected_class"].iloc[row]
        connection[row] = "associated" if own in of else "different"
        label[row] = called[own if own in of else of[0]]
    return table.assign(connection=connection, attribute_class=label)
