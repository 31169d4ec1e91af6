"""Estimands, levels and contrasts, as quantities that are linear in the effects of a model.

`asked_quantities` makes the `Quantities` of an estimand: each is a weighted sum of effects.

``population``
    The mean over new words and attributes like the listed ones. An effect is kept if all its
    dimensions are held; any other random effect is replaced by the mean of its population. Overall
    nothing is held, and a level holds what the model says (`Level.held`).
``listed_words``
    The mean over the pairs of the table, with all their effects. Mean and interval are the model's:
    words are partially pooled, so that the observed value, which is known, may lie outside the
    interval.
``one_new_word``, ``one_new_pair``
    The value of a single new protected word, on average over new attributes, or of a single new
    pair: predictive intervals, overall and by class.

Means are over pairs: where classes have unequal numbers of attributes, a word counts in each
connection as often as it has pairs there. Effects whose SD is a number, not a parameter (the shifts
of the additive model), have no population and are averaged over the listed words under each
estimand.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import FitError, checks
from bayesbias.core.factors import LEVELS, Contrast
from bayesbias.inference.linear import (
    Key,
    Linear,
    NewEffects,
    Quantities,
    expected_outcome,
    joined,
    weights_of,
)
from bayesbias.models.design import Arrays, Design, determined
from bayesbias.models.spec import BETWEEN, ModelSpec

CONTRASTS = (
    ("associated", "different"),
    ("associated", "human"),
    ("associated", "neutral"),
    ("different", "neutral"),
    ("human", "neutral"),
)
ESTIMANDS = ("population", "listed_words")
PREDICTIVE = ("one_new_word", "one_new_pair")
_WORD, _ATTRIBUTE = "protected_word", "attribute"


def asked_quantities(
    design: Design, estimand: str, contrasted: bool, crossed: Sequence[Contrast] = ()
) -> Quantities:
    """Return the means of an estimand, or their contrasts, at all levels of a model.

    Classes that cross factors are also compared as `crossed` says, but for single new words.
    """
    results, new = design.spec.results, estimand in PREDICTIVE
    pairs = contrasted_pairs(design)
    if new and contrasted and not results.between:
        return new_quantities(design, estimand, pairs)
    means = new_quantities(design, estimand) if new else mean_quantities(design, estimand)
    if not contrasted:
        return means
    out = contrasts_of_means(design, means, pairs, new, crossed)
    if not new:
        return out
    return Quantities.joined([new_quantities(design, estimand, pairs), out])


def contrasts_of_means(
    design: Design,
    means: Quantities,
    pairs: Sequence[tuple[str, str]] | None = None,
    new: bool = False,
    crossed: Sequence[Contrast] = (),
) -> Quantities:
    """Return the contrasts of means that a model has, at all levels of these means.

    Parameters
    ----------
    design : Design
    means : Quantities
    pairs : sequence of (str, str), optional
        What is contrasted; by default what the model contrasts.
    new : bool
        Whether means are those of single new words, which are compared between groups in pairs only.
    crossed : sequence of Contrast
        The contrasts of classes that cross factors.
    """
    results = design.spec.results
    labels = design.shown.get(results.group, [])
    if pairs is None:
        pairs = contrasted_pairs(design)
    sums: dict[Key, Mapping[Key, float]] = {}  # each contrast, as weights of means
    if not new:
        names = dict.fromkeys(key[:2] for key in means.keys)
        sums = {(*k, f"{a} - {b}"): {(*k, a): 1.0, (*k, b): -1.0} for k in names for a, b in pairs}
    if level := results.between:
        between = between_contrasts(design.shown[results.levels[level].by], labels, pairs, not new)
        for key, weighted in between.items():
            sums[key] = {(level, *mean): weight for mean, weight in weighted.items()}
    if crossed and not new:
        sides = {f"{a} - {b}": {a: 1.0, b: -1.0} for a, b in pairs}
        if results.group != "connection":  # as between groups, on each set too
            sides |= {label: {label: 1.0} for label in labels}
        sums |= _crossed_sums(crossed, level_of_classes(design.spec), sides)
    # Means that are mixtures, such as those of a new word of any class, are not contrasted.
    number = np.bincount(means.quantity, minlength=len(means.keys))
    at = {means.keys[k]: part for part, k in enumerate(means.quantity) if number[k] == 1}
    sums = {key: weighted for key, weighted in sums.items() if weighted.keys() <= at.keys()}
    by_place = [{at[mean]: weight for mean, weight in each.items()} for each in sums.values()]
    weights = weights_of(by_place, len(means.quantity))
    return means.combined(list(sums), weights)


def contrasted_pairs(design: Design) -> Sequence[tuple[str, str]]:
    """Return the pairs of labels that a model contrasts."""
    group = design.spec.results.group
    if group == "connection":
        return CONTRASTS
    return list(itertools.combinations(design.shown.get(group, []), 2))


def mean_quantities(design: Design, estimand: str, weights: np.ndarray | None = None) -> Quantities:
    """Return the mean of the outcome per level, name and connection.

    Rows have the same weight unless `weights` are given, shape (rows,).
    """
    if weights is None:
        weights = np.ones(len(design.y))
    present, group = design.labels(design.spec.results.group)
    keys: list[Key] = []
    parts, observed = [], []
    for level, (labels, codes, held) in levels_of(design, estimand).items():
        cells, cell = combinations([codes, group])
        shares = weights / np.bincount(cell, weights)[cell]
        keys += [(level, labels[at], present[which]) for at, which in cells.T.tolist()]
        kept = held | set(design.spec.results.fixed)
        parts.append(weighted(design, kept, cell, shares, len(cells.T)))
        observed.append(np.bincount(cell, shares * design.y))
    has_values = estimand == "listed_words" and design.outcome_type.in_units
    return Quantities.plain(keys, joined(parts), np.concatenate(observed) if has_values else None)


def mean_probabilities(
    design: Design,
    draws: Arrays,
    kept: Sequence[str],
    more: tuple[np.ndarray, np.ndarray],
    group: np.ndarray,
    at: np.ndarray,
    row_weights: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return draws of the mean probability of groups of rows, and of what is added to their log odds.

    Parameters
    ----------
    design : Design
    draws : Mapping of str to ndarray
    kept : sequence of str
        The terms that are kept; the others are integrated out, and covariates are at zero.
    more : (ndarray of int, ndarray of shape (n, columns))
        What is added to the log odds of rows besides terms: the column of each row, and its draws.
    group : ndarray of int
        The group of each row, or -1.
    at : ndarray of int
        Which draws probabilities are computed for.
    row_weights : ndarray, shape (rows,)
        The weight of each row in the mean of its group.
    """
    used = group >= 0
    slopes = {name for name in design.spec.mu if design.spec.parameters[name].covariate}
    kept = [name for name in kept if name not in slopes]
    integrated_out = [name for name in design.spec.mu if name not in {*kept, *slopes}]
    sds = [str(design.spec.parameters[name].args["sigma"]) for name in integrated_out]
    of_sd = [design.parent[name, "sigma"][design.index[name]] for name in integrated_out]
    of_term = [design.index[name] for name in kept]
    joint = np.stack([more[0], *of_term, *of_sd])[:, used]
    cells, cell = np.unique(joint, axis=1, return_inverse=True)
    weights = np.zeros((cells.shape[1], group.max() + 1))
    np.add.at(weights, (cell.ravel(), group[used]), row_weights[used])
    weights /= weights.sum(axis=0)
    added = more[1][:, cells[0]]
    eta, n = added[at], len(added)
    for name, entries in zip(kept, cells[1:], strict=False):
        eta += draws[name].reshape(n, -1)[at][:, entries]
    free = np.zeros_like(eta)
    for sd, entries in zip(sds, cells[1 + len(kept) :], strict=True):
        free += draws[sd].reshape(n, -1)[at][:, entries] ** 2
    means = expected_outcome(design.outcome_type.expected, eta, np.sqrt(free))
    return means @ weights, added @ weights


def between_contrasts(
    names: Sequence[str],
    labels: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    others: bool = True,
) -> dict[Key, dict[tuple[str, str], float]]:
    """Return the weights of means in differences between names, for each contrast and label.

    Names are compared in pairs. If there are more than two, each is also compared with the mean of
    the others, with equal weights.

    Examples
    --------
    >>> found = between_contrasts(["women", "men"], ["family", "career"], [("family", "career")])
    >>> [(name, contrast) for _, name, contrast in found]
    [('women - men', 'family - career'), ('women - men', 'family'), ('women - men', 'career')]
    """
    sides = {f"{a} - {b}": {a: 1.0, b: -1.0} for a, b in pairs} | {x: {x: 1.0} for x in labels}
    against = {
        ("between", f"{a} - {b}"): {a: 1.0, b: -1.0} for a, b in itertools.combinations(names, 2)
    }
    if others and len(names) > 2:
        rest = dict.fromkeys(names, -1 / (len(names) - 1))
        against |= {("others", f"{name} - others"): {**rest, name: 1.0} for name in names}
    return {
        (*key, contrast): {(n, x): w * v for n, w in of.items() for x, v in side.items()}
        for key, of in against.items()
        for contrast, side in sides.items()
    }


def level_of_classes(spec: ModelSpec) -> str:
    """Return the level of classes of words at which a model has contrasts, or an empty text."""
    if spec.results.group != "connection" and not spec.results.between:
        return ""
    if same_for_all_words(spec):  # classes differ in nothing that is contrasted
        return ""
    levels = spec.results.levels.items()
    return next((level for level, about in levels if about.by == "protected_class"), "")


def _crossed_sums(
    crossed: Sequence[Contrast], level: str, sides: Mapping[str, Mapping[str, float]]
) -> dict[Key, Mapping[Key, float]]:
    """Return the weights of means of classes in contrasts of factors, for each side of a mean."""
    sums: dict[Key, Mapping[Key, float]] = {}
    for contrast in crossed:
        for label, side in sides.items():
            weights: dict[Key, float] = {}
            for name, by in contrast.weights.items():
                for mean, sign in side.items():
                    weights[level, name, mean] = by * sign
            sums[contrast.level, contrast.name, label] = weights
    return sums


def sides_of(contrast: str, labels: Collection[str]) -> tuple[str, ...]:
    """Return the labels that a contrast is named after: two if it is called ``a - b``, else one.

    A label may contain such a dash itself. A contrast of other labels has none.

    Examples
    --------
    >>> sides_of("m1 - small - m2", ["m1 - small", "m2"])
    ('m1 - small', 'm2')
    """
    if contrast in labels:
        return (contrast,)
    parts = contrast.split(" - ")
    cuts = ((" - ".join(parts[:k]), " - ".join(parts[k:])) for k in range(1, len(parts)))
    return next((both for both in cuts if set(both) <= set(labels)), ())


def check_asked(
    spec: ModelSpec, level: str | None, estimand: str | None, more: Sequence[str] = ()
) -> None:
    """Refuse a level or an estimand that a model does not have; `more` levels are those of factors."""
    if level is not None:
        checks.choice(level, (*spec.results.contrast_levels, *more), f"{spec.label}, level")
    if estimand is not None:
        checks.choice(estimand, (*ESTIMANDS, *PREDICTIVE, *spec.results.estimands), "estimand")


def no_contrasts(spec: ModelSpec) -> FitError:
    """Say that a table has nothing to contrast."""
    what = f"two {spec.results.group}s that are contrasted"
    return FitError(f"contrasts: expected a table with {what}, got none. See means() and summary()")


def held_overall(design: Design, estimand: str) -> set[str]:
    """Return the dimensions that an estimand holds at every level."""
    if estimand == "listed_words":
        return set(design.coords)
    return set(design.spec.results.estimands.get(estimand, ()))


def levels_of(design: Design, estimand: str) -> dict[str, tuple[list[str], np.ndarray, set[str]]]:
    """Return the labels of each level, the code of each row, and the dimensions held."""
    results = design.spec.results
    given = held_overall(design, estimand)
    levels = {"overall": (["all"], np.zeros(len(design.y), dtype=np.int64), given)}
    for level, about in results.levels.items():
        if not about.population and estimand != "listed_words":
            continue
        levels[level] = (*design.labels(about.by), given | set(about.held))
    return levels


def averaged(design: Design, held: set[str], group: np.ndarray, counts: np.ndarray) -> Linear:
    """Return the mean outcome of each group of rows, as a linear quantity.

    Parameters
    ----------
    design : Design
    held : set of str
        Dimensions whose effects are kept. A random effect over any other dimension is replaced by
        what it is centered on.
    group : ndarray of int, shape (n_pairs,)
        The group of each row, or -1.
    counts : ndarray of int, shape (groups,)
        How many rows each group has.
    """
    return weighted(design, held, group, 1.0 / counts[group], len(counts))


def weighted(
    design: Design, held: set[str], group: np.ndarray, shares: np.ndarray, n_groups: int
) -> Linear:
    """Return the weighted sum of the outcomes of each group of rows, as a linear quantity.

    `shares` are the weights of the rows, shape (rows,); the rest is as in `averaged`.
    """
    from scipy import sparse

    spec = design.spec
    used = np.flatnonzero(group >= 0)
    constant = np.zeros(n_groups)
    weights: dict[str, Any] = {}
    for term in spec.mu:
        name, entries = term, design.index[term]
        lever = design.lever(term)
        share = shares if lever is None else lever * shares
        # An effect is kept only if all its dimensions are held: the effect of a class on a listed
        # attribute says nothing of the class and a new attribute.
        while spec.is_random(name) and not set(spec.parameters[name].dims) <= held:
            mu = spec.parameters[name].args["mu"]
            if not isinstance(mu, str):
                constant += float(mu) * np.bincount(group[used], share[used], minlength=n_groups)
                break
            name, entries = mu, design.parent[name, "mu"][entries]
        else:
            at = (group[used], entries[used])
            added = sparse.csr_array((share[used], at), shape=(n_groups, design.size(name)))
            weights[name] = weights[name] + added if name in weights else added
    return Linear(constant, weights)


def combinations(codes: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the k combinations of m codes that occur, shape (m, k), and that of each row.

    Examples
    --------
    >>> cells, cell = combinations([np.array([1, 0, 1]), np.array([2, 0, 2])])
    >>> cells.tolist(), cell.tolist()
    ([[0, 1], [0, 2]], [1, 0, 1])
    """
    sizes = tuple(int(each.max(initial=0)) + 1 for each in codes)
    cell, present = pd.factorize(np.ravel_multi_index(tuple(codes), sizes), sort=True)
    return np.stack(np.unravel_index(present, sizes)), cell


# -- single new words and pairs --------------------------------------------------------------------


def new_quantities(
    design: Design, estimand: str, pairs: Sequence[tuple[str, str]] | None = None
) -> Quantities:
    """Return the means, or contrasts, of a single new word or a single new pair.

    The class of a new word is drawn in proportion to the words that classes have in the table. The
    set of a new attribute is drawn, among those that make its connection with that class, in
    proportion to their attributes. A contrast is that of one new word, on average over new
    attributes (``one_new_word``) or with one new attribute on either side (``one_new_pair``).

    Parameters
    ----------
    design : Design
    estimand : {"one_new_word", "one_new_pair"}
    pairs : sequence of (str, str), optional
        The connections to contrast; by default means per connection are returned.

    Returns
    -------
    Quantities
        At the levels that a word belongs to: overall, and its class.

    Raises
    ------
    FitError
        If the model is not about pairs of words, or a new pair would have noise that is not
        normal.
    """
    spec, single = design.spec, estimand == "one_new_pair"
    if not about_pairs(spec):
        raise FitError(f"{estimand}: expected a model of words and attributes, got {spec.label}")
    if single and not spec.outcome_type.normal:
        raise FitError(f"{estimand}: expected normal noise, got {spec.likelihood} of {spec.label}")
    connections, connection = design.labels(spec.results.group)
    word, attribute = design.labels(_WORD)[1], design.labels(_ATTRIBUTE)[1]
    used = sorted(spec.label_columns())
    # Columns that a word has a label of, such as its class; and an attribute, such as its set.
    of_word = [c for c in used if c != _WORD and determined(word, design.codes[c]) is not None]
    of_attribute = [
        c for c in used if c != _ATTRIBUTE and determined(attribute, design.codes[c]) is not None
    ]
    one = np.zeros(len(design.y), dtype=np.int64)
    kind, attribute_kind = (
        combinations([one, *(design.labels(column)[1] for column in columns)])[1]
        for columns in (of_word, of_attribute if single else [])
    )
    keys: list[Key] = []
    tables: list[Linear] = []
    quantity: list[int] = []
    weight: list[float] = []
    for level, (labels, codes, held) in levels_of(design, "population").items():
        if determined(word, codes) is None or (
            level != "overall" and spec.results.levels[level].by == _WORD
        ):
            continue
        kept = (held - {_WORD}) | set(spec.results.fixed) | set(of_word)
        cells, group = combinations([codes, kind, connection, attribute_kind])
        counts = np.bincount(group)
        linear = _with_new(
            design, averaged(design, kept, group, counts), kept, group, counts, single, kind
        )
        mixed: list[dict[int, float]] = []
        asked = [(name,) for name in connections] if pairs is None else pairs
        for code, label in enumerate(labels):
            for sides in (names for names in asked if set(names) <= set(connections)):
                at = [connections.index(side) for side in sides]
                parts = _parts(cells, group, (word, attribute), code, at)
                if parts:
                    mixed += [dict(zip(places, (1.0, -1.0), strict=False)) for places, _ in parts]
                    quantity += [len(keys)] * len(parts)
                    weight += [share for _, share in parts]
                    keys.append((level, label, " - ".join(sides)))
        tables.append(linear.combined(weights_of(mixed, len(counts))))
    return Quantities(keys, joined(tables), np.array(quantity, dtype=np.int64), np.array(weight))


def _parts(
    cells: np.ndarray,
    group: np.ndarray,
    units: tuple[np.ndarray, np.ndarray],
    code: int,
    sides: Sequence[int],
) -> list[tuple[tuple[int, ...], float]]:
    """Return the combinations of cells that a quantity is a mixture of, with their weights.

    A combination has one cell for each side, of one kind of words. It weighs as many words as there
    are of that kind, times the share of its cells' attributes on each side.
    """
    word, attribute = units
    out = []
    for kind in np.unique(cells[1]):
        of_sides = [
            np.flatnonzero((cells[0] == code) & (cells[1] == kind) & (cells[2] == side)).tolist()
            for side in sides
        ]
        if not all(of_sides):
            continue
        words = len(np.unique(word[np.isin(group, of_sides[0])]))
        counts = [[len(np.unique(attribute[group == cell])) for cell in side] for side in of_sides]
        for places in itertools.product(*(range(len(side)) for side in of_sides)):
            share = np.prod([counts[s][p] / sum(counts[s]) for s, p in enumerate(places)])
            out.append((tuple(of_sides[s][p] for s, p in enumerate(places)), words * float(share)))
    total = sum(share for _, share in out)
    return [(combination, share / total) for combination, share in out]


def _with_new(
    design: Design,
    linear: Linear,
    kept: set[str],
    group: np.ndarray,
    counts: np.ndarray,
    single: bool,
    kind: np.ndarray,
) -> Linear:
    """Add the effects of a new word and, for a single pair, of its attribute and its noise.

    The new effects replace those that `averaged` did not keep. Variances of effects apart are
    averaged over the rows of a group.
    """
    spec = design.spec
    shared: list[NewEffects] = []
    apart: list[NewEffects] = []

    def fresh(sd: str | float, codes: Sequence[np.ndarray], lever: Any) -> NewEffects:
        cells, cell = combinations(codes)
        weights = np.zeros((len(counts), cells.shape[1]))
        np.add.at(weights, (group, cell), lever / counts[group])
        return NewEffects(sd, cells[0], weights)

    for name in spec.location_parameters():
        parameter = spec.parameters[name]
        if not spec.is_random(name) or set(parameter.dims) <= kept:
            continue
        new = set(parameter.dims) & set(spec.units)
        if new != {_WORD} and not single:
            continue  # averaged over new attributes
        # Rows of one new word share an effect if they agree in all dimensions but the units. Words
        # of two kinds are two words.
        at = zip(
            parameter.dims, np.unravel_index(design.index[name], design.shape(name)), strict=True
        )
        rest = [codes for dim, codes in at if dim not in spec.units]
        codes = [design.parent[name, "sigma"][design.index[name]], *rest, kind]
        lever: Any = design.lever(name)
        lever = 1.0 if lever is None else lever
        if new == {_WORD}:
            shared.append(fresh(str(parameter.args["sigma"]), codes, lever))
        else:
            apart.append(fresh(str(parameter.args["sigma"]), codes, lever**2))
    if single:
        sigma = spec.noise["sigma"]
        entries = design.index[sigma] if isinstance(sigma, str) else np.zeros(len(group), dtype=int)
        apart.append(fresh(sigma, [entries], 1.0))
    return replace(linear, shared=tuple(shared), apart=tuple(apart))


_OF_LEVEL = {
    "protected_class": "new words of the class",
    "attribute_class": "new words, and new attributes of the list",
}


def holds_for(spec: ModelSpec, level: str = "overall", estimand: str = "population") -> str:
    """Say in a few words which words the answers at a level hold for.

    Parameters
    ----------
    spec : ModelSpec
        The model.
    level : str
    estimand : str

    Examples
    --------
    >>> from bayesbias import load_model
    >>> cells, crossed, additive = (
    ...     load_model("default"),
    ...     load_model("crossed"),
    ...     load_model("additive"),
    ... )
    >>> holds_for(cells), holds_for(cells, "class"), holds_for(cells, "word")
    ('new words', 'new words of the class', 'new attributes')
    >>> (
    ...     holds_for(crossed, "class"),
    ...     holds_for(crossed, "word"),
    ...     holds_for(crossed, "class", "listed_words"),
    ... )
    ('its listed words, new attributes', 'new attributes', 'listed words')
    >>> holds_for(additive), holds_for(additive, "class"), holds_for(additive, "word")
    ('the listed words', 'its listed words', 'the listed attributes')
    """
    if estimand != "population":
        return estimand.replace("_", " ")
    random = has_word_effects(spec)
    if level in LEVELS:
        held = spec.results.levels[level_of_classes(spec)].held
        return "listed words, new attributes" if "protected_word" in held else "new words"
    if level in ("overall", *BETWEEN):
        return "new words" if random else "the listed words"
    about = spec.results.levels[level]
    if not random:
        return "the listed attributes" if about.by == "protected_word" else "its listed words"
    if "protected_word" in about.held:
        return (
            "new attributes" if about.by == "protected_word" else "its listed words, new attributes"
        )
    return _OF_LEVEL.get(about.by, "new words")


def has_word_effects(spec: ModelSpec) -> bool:
    """Say whether a model has random effects of words (or other units), and so new words."""
    return any(
        spec.is_random(name) and set(spec.parameters[name].dims) & set(spec.units)
        for name in spec.location_parameters()
    )


def same_for_all_words(spec: ModelSpec) -> bool:
    """Say whether a model has one difference between connections for all classes and words.

    It has if no term of the mean has a protected word or class together with the connection or the
    attribute set, and none is about the set alone: a word then shifts all its distances alike.

    Examples
    --------
    >>> from bayesbias import load_model
    >>> same_for_all_words(load_model("additive")), same_for_all_words(load_model("default"))
    (True, False)
    """
    if spec.results.group != "connection":
        return False
    terms = [set(spec.parameters[name].dims) for name in spec.location_parameters()]
    words, sets = {"protected_word", "protected_class"}, {"connection", "attribute_class"}
    return not any("attribute_class" in dims or (dims & words and dims & sets) for dims in terms)


def has_new_words(spec: ModelSpec) -> bool:
    """Say whether a model can be asked for a single new word."""
    return about_pairs(spec) and not same_for_all_words(spec)


def about_pairs(spec: ModelSpec) -> bool:
    """Say whether a model is of words by attributes, with results by connection or set."""
    group = spec.results.group
    return {_WORD, _ATTRIBUTE} <= set(spec.units) and group in ("connection", "attribute_class")
