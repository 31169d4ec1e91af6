"""A table with a known truth: numbers of words and spreads chosen, or taken from a real fit."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import InputError, checks
from bayesbias.core.result import opened
from bayesbias.inference.estimands import asked_quantities
from bayesbias.inference.linear import Key
from bayesbias.models.design import Arrays, Design
from bayesbias.models.spec import BETWEEN, DEFAULT_MODEL, ModelSpec, list_models, load_model
from bayesbias.tables.reading import SIMULATED
from bayesbias.wordlists.wordlist import CONNECTIONS, CONTROLS, SHARED

LEVELS = ("overall", BETWEEN[0])
"""Where a scenario has true contrasts: overall, and between classes on shared attributes."""


def _by(labels: Sequence[str], *numbers: Any) -> dict[str, Any]:
    return dict(zip(labels, numbers, strict=True))


RELIGION_REDDIT: Mapping[str, Any] = {
    "connection_mean": _by(CONNECTIONS, 0.842, 0.895, 0.907, 0.954),
    "word_by_connection_sd": _by(CONNECTIONS, 0.128, 0.101, 0.058, 0.038),
    "attribute_sd": 0.137,
    "sigma": _by(CONNECTIONS, 0.115, 0.113, 0.116, 0.119),
}
"""Posterior means of the crossed model on the published religion/Reddit table of 2022."""
_CLASSES = ("class0", "class1", "class2")
_SETS = (*_CLASSES, "human", "neutral")
_KINDS = ("stereotype", "human", "neutral")


RELIGION_REDDIT_DEFAULT: Mapping[str, Any] = {
    "intercept": 0.915,
    "connection_mean": _by(CONNECTIONS, -0.055, -0.012, -0.005, 0.024),
    "set_mean": _by(_SETS, 0.041, -0.038, -0.035, -0.003, 0.01),
    "class_by_set": _by(
        _CLASSES,
        _by(_SETS, 0.03, -0.017, 0.008, -0.02, -0.003),
        _by(_SETS, -0.012, -0.022, -0.009, 0.007, 0.008),
        _by(_SETS, 0.024, 0.002, -0.034, 0.011, 0.011),
    ),
    "word_by_connection_sd": _by(CONNECTIONS, 0.031, 0.022, 0.046, 0.026),
    "attribute_sd": _by(_KINDS, 0.156, 0.127, 0.137),
    "class_by_attribute_sd": _by(_KINDS, 0.009, 0.004, 0.003),
    "class_by_own_attribute_sd": _by(_CLASSES, 0.027, 0.031, 0.059),
    "word_to_stereotypes_sd": 0.119,
    "word_sd": 0.026,
    "sigma": _by(CONNECTIONS, 0.108, 0.111, 0.116, 0.119),
}
"""Posterior means of the default model on the same table (4 x 1000 draws, seed 1)."""


@dataclass(frozen=True)
class Scenario:
    """What to simulate: a model, numbers of words, and parameter values.

    Attributes
    ----------
    model : str
        A shipped name or a path.
    words, attributes : tuple of int
        Protected words of each class, and attributes of each set. Without `sets` each class has a
        set of its own, its stereotypes.
    human, neutral : int
        Numbers of control words.
    values : Mapping
        Every parameter of the model that is not itself drawn around another: a number, or numbers
        by label. One number for all labels of ``connection_mean`` means no difference.
    classes : tuple of str
        Names of the classes; by default class0, class1 and so on.
    sets : tuple of str
        Names of attribute sets that belong to no class, as for the model ``groups``.

    Examples
    --------
    >>> import bayesbias as bb
    >>> bb.simulation.Scenario(
    ...     words=(8, 8), attributes=(10, 10), neutral=50
    ... ).words
    (8, 8)
    """

    model: str = "crossed"
    words: tuple[int, ...] = (5, 5, 5)
    attributes: tuple[int, ...] = (4, 3, 4)
    human: int = 85
    neutral: int = 226
    values: Mapping[str, Any] = field(default_factory=lambda: dict(RELIGION_REDDIT))
    classes: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, labels in (("words", self.classes), ("attributes", self.sets or self.classes)):
            numbers = tuple(checks.count(n, name) for n in getattr(self, name))
            n = len(labels or self.words)
            if len(numbers) != n:
                raise InputError(f"expected {n} numbers", where=name, found=len(numbers))
            object.__setattr__(self, name, numbers)
        for kind in CONTROLS:
            checks.count(getattr(self, kind), kind, 0)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The pairs, with distances of zero."""
        classes = self.classes or [f"class{k}" for k in range(len(self.words))]
        kind = SHARED if self.sets else "stereotype"
        named = zip(self.sets or classes, self.attributes, strict=True)
        each = [(f"a{k}", name, kind, n) for k, (name, n) in enumerate(named)]
        each += [(name, name, name, getattr(self, name)) for name in CONTROLS]
        columns = [(f"{short}.{i}", name, kind) for short, name, kind, n in each for i in range(n)]
        right = pd.DataFrame(columns, columns=["attribute", "attribute_class", "attribute_kind"])
        rows = [(f"w{k}.{i}", classes[k]) for k, n in enumerate(self.words) for i in range(n)]
        left = pd.DataFrame(rows, columns=["protected_word", "protected_class"])
        frame = left.merge(right, how="cross")
        own = frame["attribute_class"] == frame["protected_class"]
        kinds = frame["attribute_kind"]
        near = np.where(own, "associated", "different")
        return frame.assign(connection=np.where(kinds == "stereotype", near, kinds), distance=0.0)

    @cached_property
    def truth(self) -> tuple[Design, Arrays]:
        """The design of the model, and the given values in its order."""
        spec = load_model(self.model)
        design = Design.of(spec, self.frame)
        wanted = _population_parameters(spec)
        for name in self.values:
            if name not in wanted:
                raise checks.unknown(name, wanted, f"{spec.name}, population parameter")
        given = {}
        for name in wanted:
            where, value = f"{spec.name}, {name}", self.values.get(name)
            labels = [design.coords[dim] for dim in spec.parameters[name].dims]
            numbers = np.array(_in_order(value, labels, where), dtype=float)
            if spec.parameters[name].positive and not (numbers > 0).all():
                raise InputError("expected SDs above 0", where=where, found=value)
            missing = tuple(range(numbers.ndim, len(labels)))  # the same for all their labels
            given[name] = np.broadcast_to(np.expand_dims(numbers, missing), design.shape(name))
        return design, given

    @classmethod
    def for_claims(cls) -> Scenario:
        """Return the scenario of religion on Reddit by the default model of `fit`.

        Examples
        --------
        >>> import bayesbias as bb
        >>> bb.simulation.Scenario.for_claims().model
        'default'
        """
        return cls(model=DEFAULT_MODEL, values=RELIGION_REDDIT_DEFAULT)


def scenario_from_fit(fit: Any) -> Scenario:
    """Return the scenario a real fit suggests.

    Its words, and posterior means of its population parameters.

    Parameters
    ----------
    fit : BiasFit, Run or path
        Of a shipped model, or the folder of its run.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> fit = bb.fit(table, seed=1, draws=100, tune=100, chains=2)
    >>> scenario = bb.simulation.scenario_from_fit(fit)
    >>> scenario.model, sum(scenario.words) == table.frame["protected_word"].nunique()
    ('default', True)
    """
    fit = opened(fit)
    spec = fit.spec
    if not os.path.exists(spec.name) and spec.name not in list_models():
        raise InputError(
            "expected a fit of a shipped model",
            found=spec.name,
            valid=list_models(),
            hint="give a fit of the same pairs without slopes" if spec.covariates() else None,
        )
    checks.columns(fit.table, ("protected_word", "attribute"), "fit", "a fit of pairs of words")
    table = fit.table.astype({name: str for name in _LABELS if name in fit.table})
    words = table.drop_duplicates("protected_word")["protected_class"].value_counts(sort=False)
    sets = ()
    human = neutral = 0
    called = {}  # a set of stereotypes is called as its class
    if spec.results.group == "attribute_class":
        attributes = table.groupby("attribute_class", sort=False)["attribute"].nunique()
        sets = tuple(attributes.index)
    else:
        near = table[table["connection"] == "associated"]
        attributes = near.groupby("protected_class")["attribute"].nunique()
        attributes = attributes.reindex(words.index, fill_value=0)
        if lacking := attributes.index[attributes == 0].tolist():
            raise InputError("expected stereotypes of every class, got none", where=lacking[0])
        kinds = table.drop_duplicates("attribute")["attribute_kind"].value_counts()
        human, neutral = (int(kinds.get(kind, 0)) for kind in CONTROLS)
        if "attribute_class" in table:
            called = dict(zip(near["attribute_class"], near["protected_class"], strict=True))
    values = {}
    draws = fit.parameter_draws()
    for name in _population_parameters(spec):
        dims = spec.parameters[name].dims
        labels = [
            [called.get(x, x) if dim == "attribute_class" else x for x in fit.design.coords[dim]]
            for dim in dims
        ]
        problem = ""
        if not set(dims) <= _CARRIED:
            problem = "belongs to the words of the table, which simulated tables draw anew"
        elif any(len(set(own)) < len(own) for own in labels):
            problem = "a scenario has one set of stereotypes for each class"
        if problem:
            where = f"{spec.name}, {name}"
            raise InputError(problem, where=where, hint="fit default, crossed, or shared")
        values[name] = _by_label(draws[name].mean(axis=0), labels)
    n, m = (tuple(map(int, numbers)) for numbers in (words, attributes))
    return Scenario(spec.name, n, m, human, neutral, values, tuple(words.index), sets)


_LABELS = ("protected_class", "attribute_class", "connection", "attribute_kind")
_CARRIED = set(_LABELS)


def _by_label(values: np.ndarray, labels: Sequence[Sequence[str]]) -> Any:
    """Return an array as a number, numbers by label, or numbers by label by label."""
    if not labels:
        return float(values)
    return {label: _by_label(own, labels[1:]) for label, own in zip(labels[0], values, strict=True)}


def _population_parameters(spec: ModelSpec) -> list[str]:
    """Return the population parameters.

    All but the random effects of words, which each table draws anew.

    Effects of what is all there is, such as classes and lists, are parameters of the population.
    """
    return [
        name
        for name, parameter in spec.parameters.items()
        if parameter.positive
        or not spec.is_random(name)
        or set(parameter.dims) <= set(spec.results.fixed)
    ]


def _in_order(value: Any, labels: Sequence[Sequence[str]], where: str) -> Any:
    """Return numbers by label as lists in the order of the labels."""
    if value is None:
        raise InputError("expected a value of this parameter, got none", where=where)
    if not isinstance(value, Mapping) or not labels:
        return value
    if lacking := [label for label in labels[0] if label not in value]:
        raise InputError(f"expected a value for {lacking[0]!r}", where=where, found=list(value))
    return [_in_order(value[label], labels[1:], where) for label in labels[0]]


def simulate_table(scenario: Scenario, seed: int) -> pd.DataFrame:
    """Simulate one table of pairs.

    Parameters
    ----------
    scenario : Scenario
        What to simulate.
    seed : int
        Seed of all random numbers.

    Returns
    -------
    DataFrame
        Columns as in a pair table. Distances are not cut off at 0 and 2, since the truth would
        move; ``attrs["simulated"]`` says so to `fit`.

    Examples
    --------
    >>> table = simulate_table(
    ...     Scenario(words=(2, 2), attributes=(3, 3), human=0, neutral=0), seed=1
    ... )
    >>> len(table)
    24
    """
    seed = checks.seed(seed)
    design, given = scenario.truth
    drawn = {name: values[0] for name, values in design.prior_draws(1, seed, given).items()}
    own = checks.derived_seed(seed, 1)
    table = scenario.frame.assign(distance=design.outcome_draws(drawn, seed=own))
    table.attrs[SIMULATED] = True
    return table


def true_contrasts(scenario: Scenario) -> dict[Key, float]:
    """Return the true population contrasts of a scenario, overall and between classes."""
    design, given = scenario.truth
    asked = asked_quantities(design, "population", contrasted=True)
    values = asked.linear.draws(design.prior_draws(1, 0, given))[0]
    # Averaging over the grid leaves 1e-15 where the difference is none at all.
    return {
        key: round(float(value), 12) + 0.0
        for key, value in zip(asked.keys, values, strict=True)
        if key[0] in LEVELS
    }
