"""What a single new protected word, or a single new pair, may show: predictive distributions given the parameters."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.core.errors import FitError
from bayesbias.inference.cells import combinations
from bayesbias.inference.estimands import Rows, averaged, levels_of
from bayesbias.inference.linear import Fresh, Linear, joined
from bayesbias.models.design import Design, labels_of
from bayesbias.models.spec import ModelSpec

if TYPE_CHECKING:
    import pandas as pd

_WORD, _ATTRIBUTE = "protected_word", "attribute"


def new_rows(
    design: Design, table: pd.DataFrame, estimand: str, pairs: Sequence[tuple[str, str]] | None = None
) -> Rows:
    """Return what a single new word, or a single new pair, shows.

    A new word is of one of the classes, each as likely as it has words in the table; a new attribute is of one of the lists
    that make its connection with that class, each as likely as it has attributes. A contrast is that of one new word,
    on average over new attributes (``one_new_word``) or with one new attribute on either side (``one_new_pair``).

    Parameters
    ----------
    design : Design
    table : DataFrame
        The rows the design was laid over.
    estimand : {"one_new_word", "one_new_pair"}
    pairs : sequence of (str, str), optional
        The connections to contrast; by default none, and the rows are means per connection.

    Returns
    -------
    Rows
        At the levels that a word belongs to: overall, and its class.

    Raises
    ------
    FitError
        Where the model is not about pairs of words, or a new pair would have noise that is not normal.
    """
    spec, single = design.spec, estimand == "one_new_pair"
    check_new_rows(spec, estimand)
    connections, connection = labels_of(table[spec.results.group], spec.results.group)
    word, attribute = (labels_of(table[column], column)[1] for column in (_WORD, _ATTRIBUTE))
    used = sorted(spec.label_columns() & set(table.columns))
    kinds = [c for c in used if c != _WORD and _follows(word, labels_of(table[c], c)[1])]
    lists = [c for c in used if c != _ATTRIBUTE and _follows(attribute, labels_of(table[c], c)[1])]
    kind, which_list = _joint(table, kinds), _joint(table, lists if single else [])
    keys: list[tuple[str, str, str]] = []
    tables: list[Linear] = []
    row: list[int] = []
    weight: list[float] = []
    for level, (labels, codes, held) in levels_of(design, table, "population").items():
        if not _follows(word, codes) or (level != "overall" and spec.results.levels[level].by == _WORD):
            continue
        known = (held - {_WORD}) | set(spec.results.fixed) | set(kinds)
        cells, group = combinations([codes, kind, connection, which_list])
        counts = np.bincount(group)
        linear = _with_new(design, averaged(design, known, group, counts), known, group, counts, single)
        for code, label in enumerate(labels):
            for sides in [(name,) for name in connections] if pairs is None else pairs:
                parts = _parts(
                    cells,
                    group,
                    (word, attribute),
                    code,
                    [connections.index(s) for s in sides if s in connections],
                )
                if len(parts) == 0 or not set(sides) <= set(connections):
                    continue
                own = [
                    linear.taken([combination[side] for combination, _ in parts])
                    for side in range(len(sides))
                ]
                tables.append(own[0] if len(own) == 1 else own[0].minus(own[1]))
                row += [len(keys)] * len(parts)
                weight += [share for _, share in parts]
                keys.append((level, label, " - ".join(sides)))
    return Rows(keys, joined(tables), np.array(row, dtype=np.int64), np.array(weight))


def check_new_rows(spec: ModelSpec, estimand: str) -> None:
    """Refuse to speak of a new word where there is none."""
    if not {_WORD, _ATTRIBUTE} <= set(spec.units) or spec.results.group != "connection":
        raise FitError(f"{estimand} is about pairs of a word and an attribute, and {spec.label} is not")
    if estimand == "one_new_pair" and spec.likelihood != "Normal":
        raise FitError(f"{estimand} needs normal noise, and {spec.label} has another; see one_new_word")


def _parts(
    cells: np.ndarray,
    group: np.ndarray,
    units: tuple[np.ndarray, np.ndarray],
    code: int,
    sides: Sequence[int],
) -> list[tuple[tuple[int, ...], float]]:
    """Return the combinations of cells that a row is a mixture of, with their weights."""
    word, attribute = units
    out = []
    for kind in np.unique(cells[1]):
        own = [
            np.flatnonzero((cells[0] == code) & (cells[1] == kind) & (cells[2] == side)).tolist()
            for side in sides
        ]
        if not own or not all(own):
            continue
        words = len(np.unique(word[np.isin(group, own[0])]))
        breadth = [[len(np.unique(attribute[group == cell])) for cell in side] for side in own]
        for places in itertools.product(*(range(len(side)) for side in own)):
            share = np.prod([breadth[s][p] / sum(breadth[s]) for s, p in enumerate(places)])
            out.append((tuple(own[s][p] for s, p in enumerate(places)), words * float(share)))
    total = sum(share for _, share in out)
    return [(combination, share / total) for combination, share in out]


def _with_new(
    design: Design, linear: Linear, known: set[str], group: np.ndarray, counts: np.ndarray, single: bool
) -> Linear:
    """Add the effects of a new word and, for a single pair, of its attribute and its noise."""
    spec = design.spec
    shared: list[Fresh] = []
    apart: list[Fresh] = []
    for name in spec.location_parameters():
        parameter = spec.parameters[name]
        if not spec.is_random(name) or set(parameter.dims) <= known:
            continue
        new = set(parameter.dims) & set(spec.units)
        if new != {_WORD} and not single:
            continue  # averaged over new attributes
        rest = [dim for dim in parameter.dims if dim not in spec.units]
        spread = str(parameter.args["sigma"])
        entries = design.parent[name, "sigma"][design.index[name]]
        power = 1 if new == {_WORD} else 2
        own = _cells_of(design, name, spread, entries, rest, group, counts, power)
        (shared if new == {_WORD} else apart).append(own)
    sigma = spec.noise["sigma"]
    if single:
        entries = design.index[sigma] if isinstance(sigma, str) else np.zeros(len(group), dtype=np.int64)
        apart.append(_cells_of(design, None, sigma, entries, [], group, counts))
    return replace(linear, shared=tuple(shared), apart=tuple(apart))


def _cells_of(
    design: Design,
    name: str | None,
    spread: str | float,
    entries: np.ndarray,
    rest: Sequence[str],
    group: np.ndarray,
    counts: np.ndarray,
    power: int = 1,
) -> Fresh:
    """Return the new effects of one parameter (or the noise), and their weights in each group of rows.

    Slopes weigh by the covariate of a row, or by the given power of it: of what each row has for itself variances are averaged.
    """
    times = None if name is None else design.spec.parameters[name].times
    factors = np.zeros(len(group), dtype=np.int64) if times is None else design.index[times]
    codes = [entries, factors]
    if name is not None:
        # The entry less what is new of it: two rows of one new word share an effect where all else is the same.
        dims = design.spec.parameters[name].dims
        at = np.unravel_index(design.index[name], design.shape(name))
        codes += [at[dims.index(dim)] for dim in rest]
    cells, cell = combinations(codes)
    weights = np.zeros((len(counts), cells.shape[1]))
    lever = None if name is None else design.lever(name)
    np.add.at(weights, (group, cell), (1.0 if lever is None else lever**power) / counts[group])
    return Fresh(spread, cells[0], times, cells[1], weights)


def _follows(codes: np.ndarray, others: np.ndarray) -> bool:
    """Whether one column determines another."""
    first = np.zeros(codes.max() + 1, dtype=np.int64)
    first[codes] = others
    return bool((first[codes] == others).all())


def _joint(table: pd.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Return one code for the labels of some columns together."""
    out = np.zeros(len(table), dtype=np.int64)
    for column in columns:
        labels, codes = labels_of(table[column], column)
        out = out * len(labels) + codes
    return out
