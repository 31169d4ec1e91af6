"""Comparisons that are asked for by name, such as *women - men* on *family*.

A comparison weighs the labels of one column of the table, such as classes, and perhaps those of a
second one, such as attribute sets. Its quantity is the sum of the means of their cells, each with
the product of its weights. What the means hold for is said in `bayesbias.inference.estimands`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayesbias.core import InputError, checks, factors as crossing, join_words, nearest, some
from bayesbias.inference.estimands import averaged, combinations, held_overall, sides_of
from bayesbias.inference.linear import Key, Quantities, joined, weights_of
from bayesbias.models.design import Design, determined
from bayesbias.models.spec import BETWEEN
from bayesbias.wordlists.listfile import list_wordlists, load_wordlist

OTHERS = "others"
OVERALL = "overall"
SUM_TO_ZERO = 1e-9
_CLASS, _WORD = "protected_class", "protected_word"

type Names = str | Mapping[str, float]
"""``"women - men"``, ``"women"``, or a weight for each name."""


@dataclass(frozen=True)
class Side:
    """The labels of one column, weighed.

    Attributes
    ----------
    level : str
        The level of the model that these labels have; ``overall`` of the groups of its results.
    column : str
    label : str
        What is printed.
    weights : Mapping of str to float
    printed : str
        The level that a table has for it, where that is one of factors.
    """

    level: str
    column: str
    label: str
    weights: Mapping[str, float]
    printed: str = ""


def read_comparison(
    design: Design,
    comparison: Names,
    on: Names | None = None,
    level: str | None = None,
    factors: crossing.Factors | None = None,
) -> tuple[Side, ...]:
    """Find the columns whose labels a comparison names.

    Parameters
    ----------
    design : Design
    comparison : str or Mapping of str to float
    on : str or Mapping of str to float, optional
    level : str, optional
        The level of the names of `comparison`, where several have them.
    factors : Mapping, optional
        The level that each class has of each factor.

    Returns
    -------
    tuple of Side
        One or two.

    Raises
    ------
    InputError
        If a name is unknown, or weights do not add up to zero.
    """
    columns = _columns(design)
    if level is not None:
        checks.choice(level, columns, "compare, level")
        columns = {level: columns[level]}
    first = _side(comparison, "compare", design, columns, factors or {})
    others = {
        name: column
        for name, column in _columns(design).items()
        if not _nested(design, column, first.column)
    }
    if on is not None:
        sides: tuple[Side, ...] = (first, _side(on, "on", design, others, factors or {}))
    elif first.level == OVERALL:
        sides = (first,)
    else:
        sides = (first, _only_group(design, first))

    total = math.prod(sum(side.weights.values()) for side in sides)
    if abs(total) > SUM_TO_ZERO:
        problem = f"expected a difference, whose weights add up to 0, got a sum of {total:g}"
        hint = "write NAME - NAME, or see means()"
        raise InputError(problem, where=f"compare {first.label!r}", hint=hint)
    return sides


def compared_quantity(design: Design, sides: Sequence[Side], estimand: str) -> Quantities:
    """Return a comparison as a quantity that is linear in the effects of a model.

    Raises
    ------
    InputError
        If the table has no rows of a cell.
    """
    results = design.spec.results
    held = held_overall(design, estimand) | set(results.fixed)
    for side in sides:
        if side.level != OVERALL:
            held |= set(results.levels[side.level].held)

    labels, codes = zip(*(design.labels(side.column) for side in sides), strict=True)
    cells, cell = combinations(codes)
    names = [
        tuple(of_column[code] for of_column, code in zip(labels, of_cell, strict=True))
        for of_cell in cells.T.tolist()
    ]
    weights = _cell_weights(sides)
    for missing in weights.keys() - set(names):
        problem = f"expected rows of {' on '.join(missing)}, got none"
        raise InputError(problem, where="compare", hint="see means() for what the table has")

    counts = np.bincount(cell)
    linear = averaged(design, held, cell, counts)
    observed = None
    if estimand == "listed_words" and design.outcome_type.in_units:
        observed = np.bincount(cell, design.y) / counts
    means = Quantities.plain([("", "", "")] * len(names), joined([linear]), observed)
    by_place = {names.index(name): weight for name, weight in weights.items()}
    return means.combined([key_of(sides)], weights_of([by_place], len(names)))


def groups_compared(design: Design, sides: Sequence[Side]) -> list[str]:
    """Return the groups of results, such as connections, whose rows a comparison is of."""
    used = np.ones(len(design.y), dtype=bool)
    for side in sides:
        labels, codes = design.labels(side.column)
        used &= np.isin(codes, [labels.index(name) for name in side.weights])
    labels, codes = design.labels(design.spec.results.group)
    return [labels[code] for code in np.unique(codes[used])]


def key_of(sides: Sequence[Side]) -> Key:
    """Return level, name and contrast of a comparison, as tables of contrasts have them.

    Single words that are compared keep their level, and are not taken for groups.
    """
    by_level = [side for side in sides if side.level != OVERALL]
    if not by_level:
        return OVERALL, "all", sides[0].label
    named = by_level[0]
    label = next(side.label for side in sides if side is not named)
    if named.printed:
        return named.printed, named.label, label
    if min(named.weights.values()) > 0 or named.column == _WORD:
        return named.level, named.label, label
    return BETWEEN[named.label.endswith(f" - {OTHERS}")], named.label, label


def read_weights(comparison: Names, labels: Collection[str]) -> dict[str, float] | None:
    """Return the weight of each label that a comparison names; None where one is unknown.

    Examples
    --------
    >>> read_weights("women - men", ["men", "women"])
    {'women': 1.0, 'men': -1.0}
    >>> read_weights("a - others", ["a", "b", "c"])
    {'a': 1.0, 'b': -0.5, 'c': -0.5}
    >>> read_weights({"a": 0.5, "b": 0.5, "c": -1}, ["a", "b", "c"])
    {'a': 0.5, 'b': 0.5, 'c': -1.0}
    """
    if not isinstance(comparison, str):
        known = set(comparison) <= set(labels)
        return {name: float(weight) for name, weight in comparison.items()} if known else None

    names = sides_of(comparison, labels)
    if len(names) == 1:
        return {comparison: 1.0}
    if len(names) == 2:
        first, second = names
        if first == second:
            problem = "expected two different names"
            raise InputError(problem, where="compare", found=comparison)
        return {first: 1.0, second: -1.0}

    name = comparison.removesuffix(f" - {OTHERS}")
    if name == comparison or name not in labels or len(labels) < 2:
        return None
    others = [label for label in labels if label != name]
    return {name: 1.0, **dict.fromkeys(others, -1 / len(others))}


def label_of(comparison: Names) -> str:
    """Return a comparison as it is printed.

    Examples
    --------
    >>> label_of({"nurses": 0.5, "teachers": 0.5, "engineers": -1})
    '0.5 nurses + 0.5 teachers - engineers'
    """
    if isinstance(comparison, str):
        return comparison
    out = ""
    for name, weight in sorted(comparison.items(), key=lambda item: item[1] < 0):
        size = abs(float(weight))
        sign = (" - " if out else "-") if weight < 0 else " + " * bool(out)
        out += sign + (name if size == 1 else f"{size:.3g} {name}")
    return out


def check_names(comparison: object, where: str) -> Names:
    """Return a comparison if it is a text, or names with weights that are numbers.

    Names without weight are left out.
    """
    if isinstance(comparison, str):
        return checks.plain_spaces(comparison).strip()
    kind = '"NAME - NAME", or a weight for each name'
    if not isinstance(comparison, Mapping):
        raise checks.wrong_kind(comparison, where, kind)
    weights = {}
    for name, weight in comparison.items():
        if checks.finite(weight, f"{where}, weight of {name!r}"):
            weights[str(name)] = float(weight)
    if not weights:
        raise InputError("expected a weight that is not zero, got none", where=where)
    return weights


def unknown_name(
    comparison: Names,
    labels: Iterable[str],
    where: str,
    advise: Callable[[str], str | None] = lambda name: None,
) -> InputError:
    """Return the error for a comparison with a name that no label has.

    Parameters
    ----------
    comparison : str or Mapping of str to float
    labels : iterable of str
    where : str
    advise : callable
        Returns what to do about the name; by default the error names the nearest label.
    """
    labels = list(labels)
    parts = comparison.split(" - ") if isinstance(comparison, str) else [*comparison]
    missing = [part for part in parts if part not in labels]
    if missing:
        return checks.unknown(missing[0], labels, where, advise(missing[0]))
    problem = f"expected names of one kind, got {join_words(parts)}"
    return InputError(problem, where=where, hint="put one of them into on=")


def _side(
    comparison: Names,
    where: str,
    design: Design,
    columns: Mapping[str, str],
    factors: crossing.Factors,
) -> Side:
    """Return the first column with all labels that a comparison names, with their weights.

    Levels of factors, and contrasts of factors that tables have, are weights of classes.
    """
    comparison = check_names(comparison, where)
    known: list[str] = []
    words: list[str] = []
    for level, column in columns.items():
        labels = design.shown[column]
        weights = read_weights(comparison, labels)
        if weights is not None:
            return Side(level, column, label_of(comparison), weights)
        (words if column == _WORD else known).extend(labels)
        if column == _CLASS and factors:
            crossed = _of_factors(comparison, level, labels, factors)
            if crossed is not None:
                return crossed
            known += [name for level_of in factors.values() for name in level_of.values()]

    classes = design.shown.get(_CLASS, ()) if _CLASS in columns.values() else ()

    def advise(name: str) -> str | None:
        return nearest(name, known) or _lists_with(name) or _classes_or_words(classes, words, name)

    raise unknown_name(comparison, checks.once([*known, *words]), where, advise)


def _lists_with(name: str) -> str | None:
    """Say which shipped lists have a class or an attribute set of some name."""
    lists = []
    for listed in list_wordlists():
        words = load_wordlist(listed)
        names = {*words.attribute_sets}
        for group in words.classes:
            names |= {group.name, group.attribute_class}
        if name in names:
            lists.append(listed)
    return f"the shipped lists {join_words(lists)} have it" if lists else None


def _classes_or_words(classes: Sequence[str], words: Sequence[str], name: str) -> str | None:
    """Name the classes, which are rarely named in full; without classes the nearest word."""
    if classes:
        return f"the classes are {some(classes)}"
    return nearest(name, words)


def _of_factors(
    comparison: Names, level: str, classes: Sequence[str], factors: crossing.Factors
) -> Side | None:
    """Return the weights of classes in a comparison of factors; None if it is none."""
    label = label_of(comparison)
    for contrast in crossing.contrasts_of(factors, classes):
        if contrast.name == comparison:
            return Side(level, _CLASS, label, contrast.weights, contrast.level)
    for level_of in factors.values():
        weights = read_weights(comparison, checks.once(level_of.values()))
        if weights is not None:
            return Side(level, _CLASS, label, crossing.weights_of_cells(level_of, weights))
    return None


def _columns(design: Design) -> dict[str, str]:
    """Return the column of each level, in the order in which a name is looked for.

    An attribute set may have the name of a class, or of a connection: classes are first, then the
    groups of results.
    """
    results = design.spec.results
    columns = {}
    for level, about in results.levels.items():
        if about.by in design.shown:
            columns[level] = about.by
        if OVERALL not in columns:
            columns[OVERALL] = results.group
    return columns or {OVERALL: results.group}


def _nested(design: Design, column: str, other: str) -> bool:
    """Say whether the labels of one of two columns determine those of the other."""
    pairs = (column, other), (other, column)
    return any(determined(design.codes[a], design.codes[b]) is not None for a, b in pairs)


def _only_group(design: Design, first: Side) -> Side:
    """Return the only group of results; refuse a comparison if there are several."""
    group = design.spec.results.group
    labels = design.shown[group]
    if len(labels) > 1:
        hint = f'write on="{labels[0]}"'
        problem = f"expected what {first.label} is compared on: {join_words(labels, 'or')}"
        raise InputError(problem, where="on", hint=hint)
    return Side(OVERALL, group, labels[0], {labels[0]: 1.0})


def _cell_weights(sides: Sequence[Side]) -> dict[tuple[str, ...], float]:
    """Return the weight of each cell, named by its labels."""
    weights: dict[tuple[str, ...], float] = {(): 1.0}
    for side in sides:
        crossed = {}
        for names, weight in weights.items():
            for name, factor in side.weights.items():
                crossed[*names, name] = weight * factor
        weights = crossed
    return weights
