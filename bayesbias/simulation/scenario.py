"""A table with a known truth: numbers of words and spreads chosen, or taken from a real fit."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.formatting import number_of
from bayesbias.inference.estimands import CONTRASTS, level_means
from bayesbias.inference.posterior import BiasFit
from bayesbias.models.design import Design
from bayesbias.models.loading import DEFAULT_MODEL, list_models, load_model
from bayesbias.models.spec import ModelSpec
from bayesbias.tables.rows import SIMULATED
from bayesbias.wordlists.pairing import CONNECTIONS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RELIGION_REDDIT", "Scenario", "scenario_from_fit", "simulate_table"]

RELIGION_REDDIT: Mapping[str, Any] = {
    "connection_mean": {"associated": 0.842, "different": 0.895, "human": 0.907, "neutral": 0.954},
    "word_by_connection_sd": {"associated": 0.128, "different": 0.101, "human": 0.058, "neutral": 0.038},
    "attribute_sd": 0.137,
    "sigma": {"associated": 0.115, "different": 0.113, "human": 0.116, "neutral": 0.119},
}
"""Posterior means of the crossed model on the published religion/Reddit table of 2022 (4 x 1000 draws)."""
_LISTS = ("class0", "class1", "class2", "human", "neutral")
_CLASSES = _LISTS[:3]


def _by_list(*rows: tuple[float, ...]) -> dict[str, dict[str, dict[str, float]]]:
    """Return an effect of classes (rows) and lists; a class meets a list in one connection, and the others play no part."""
    return {
        own: {listed: dict.fromkeys(CONNECTIONS, x) for listed, x in zip(_LISTS, row, strict=True)}
        for own, row in zip(_CLASSES, rows, strict=True)
    }


RELIGION_REDDIT_CELLS: Mapping[str, Any] = {
    "intercept": 0.915,
    "connection_mean": {"associated": -0.055, "different": -0.012, "human": -0.005, "neutral": 0.024},
    "set_mean": {"class0": 0.041, "class1": -0.038, "class2": -0.035, "human": -0.003, "neutral": 0.01},
    "class_by_set": _by_list(
        (0.03, -0.017, 0.008, -0.02, -0.003),
        (-0.012, -0.022, -0.009, 0.007, 0.008),
        (0.024, 0.002, -0.034, 0.011, 0.011),
    ),
    "word_by_connection_sd": {"associated": 0.031, "different": 0.022, "human": 0.046, "neutral": 0.026},
    "attribute_sd": {"stereotype": 0.156, "human": 0.127, "neutral": 0.137},
    "class_by_attribute_sd": {"stereotype": 0.009, "human": 0.004, "neutral": 0.003},
    "class_by_own_attribute_sd": {"class0": 0.027, "class1": 0.031, "class2": 0.059},
    "word_to_stereotypes_sd": 0.119,
    "word_sd": 0.026,
    "sigma": {"associated": 0.108, "different": 0.111, "human": 0.116, "neutral": 0.119},
}
"""Posterior means of the default model on the same table, as `scenario_from_fit` gives them (4 x 1000 draws, seed 1)."""


@dataclass(frozen=True)
class Scenario:
    """What is simulated: a model, numbers of words, and the values of its population parameters.

    Attributes
    ----------
    model : str
        A shipped name or a path.
    words, attributes : tuple of int
        Protected words and stereotypes of each protected class; equally long.
    human, neutral : int
        Numbers of control words.
    values : Mapping
        Every parameter of the model that is not itself drawn around another: a number, or numbers by label.

    Examples
    --------
    >>> import bayesbias as bb
    >>> bb.simulation.Scenario(words=(8, 8), attributes=(10, 10), neutral=50).without_difference().words
    (8, 8)
    """

    model: str = "crossed"
    words: tuple[int, ...] = (5, 5, 5)
    attributes: tuple[int, ...] = (4, 3, 4)
    human: int = 85
    neutral: int = 226
    values: Mapping[str, Any] = dataclasses.field(default_factory=lambda: dict(RELIGION_REDDIT))

    def __hash__(self) -> int:
        return hash((self.model, self.words, self.attributes, self.human, self.neutral))

    def __post_init__(self) -> None:
        for name in ("words", "attributes"):
            object.__setattr__(self, name, tuple(checks.several(getattr(self, name), "number", name)))
        if len(self.words) != len(self.attributes) or not self.words:
            raise InputError(
                "words and attributes need one number for each protected class",
                found=f"{number_of(len(self.words), 'number')} of words, {len(self.attributes)} of attributes",
            )
        for name, numbers, least in (
            ("words", self.words, 1),
            ("attributes", self.attributes, 1),
            ("human", (self.human,), 0),
            ("neutral", (self.neutral,), 0),
        ):
            checked = tuple(checks.count(n, name, least) for n in numbers)
            object.__setattr__(self, name, checked if name in ("words", "attributes") else checked[0])
        pairs = sum(self.words) * (sum(self.attributes) + self.human + self.neutral)
        if pairs > checks.MOST_PAIRS:
            raise InputError(
                "a simulated table would have more pairs than are simulated",
                found=f"{pairs:,} pairs",
                valid=f"at most {checks.MOST_PAIRS:,}, the words of all classes times their stereotypes and controls",
            )
        object.__setattr__(
            self,
            "values",
            {
                name: _own_numbers(value, f"values, {name}")
                for name, value in checks.table(self.values, "values").items()
            },
        )

    @classmethod
    def for_claims(cls) -> Scenario:
        """Return the scenario of religion on Reddit by the model that claims are made with, which is the default of `fit`.

        Examples
        --------
        >>> import bayesbias as bb
        >>> bb.simulation.Scenario.for_claims().model
        'default'
        """
        return cls(model=DEFAULT_MODEL, values=RELIGION_REDDIT_CELLS)

    def without_difference(self) -> Scenario:
        """Return the scenario with all connections at one mean: whatever is called in it is a false alarm."""
        values = dict(self.values)
        for name, value in self.values.items():
            if isinstance(value, Mapping) and not load_model(self.model).parameters[name].positive:
                values[name] = _levelled(value, float(np.mean(_leaves(value))))
        return dataclasses.replace(self, values=values)


def _leaves(value: Any) -> list[float]:
    return [x for own in value.values() for x in _leaves(own)] if isinstance(value, Mapping) else [float(value)]


def _levelled(value: Any, mean: float) -> Any:
    return {label: _levelled(own, mean) for label, own in value.items()} if isinstance(value, Mapping) else mean


def _own_numbers(value: Any, where: str) -> Any:
    """Turn numbers of any kind into Python's own, which a file can hold."""
    if isinstance(value, Mapping):
        return {str(label): _own_numbers(x, f"{where}, {label}") for label, x in value.items()}
    try:
        own = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        own = np.array(np.nan)
    if not np.isfinite(own).all():
        raise checks.wrong_kind(value, where, "a number, or numbers by label")
    return own.tolist()


def scenario_from_fit(fit: BiasFit) -> Scenario:
    """Return the scenario a real fit suggests: its words, and posterior means of its population parameters.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> fit = bb.fit(table, seed=1, draws=100, tune=100, chains=2)
    >>> scenario = bb.simulation.scenario_from_fit(fit)
    >>> scenario.model, sum(scenario.words) == table.frame["protected_word"].nunique()
    ('default', True)
    """
    checks.instance(fit, BiasFit, "fit", "what bayesbias.fit returns")
    if not os.path.exists(fit.spec.name) and fit.spec.name not in list_models():
        raise InputError(
            "only shipped models can be simulated from a fit",
            found=fit.spec.name,
            valid=list_models(),
            hint="give a fit of the same pairs without slopes" if fit.spec.covariates() else None,
        )
    table = fit.table
    checks.columns(table, ("protected_word", "attribute"), "fit", "a fit of distances of pairs of words")
    words = table.drop_duplicates("protected_word")["protected_class"].value_counts(sort=False)
    own = table[table["connection"] == "associated"].groupby("protected_class", sort=False, observed=True)
    attributes = own["attribute"].nunique()
    if lacking := [str(name) for name in words.index if name not in attributes.index]:
        raise InputError(
            "a scenario has stereotypes of every class, and the table of the fit has none of these",
            found=lacking,
        )
    kinds = table.drop_duplicates("attribute")["attribute_kind"].value_counts()
    values: dict[str, Any] = {}
    draws = fit.draws()
    called = _names_in_scenario(table, list(words.index))
    for name in _population_parameters(fit.spec):
        mean, dims = draws[name].mean(axis=0), fit.spec.parameters[name].dims
        if not set(dims) <= _CARRIED:
            raise InputError(
                "belongs to the words of the table, and cannot be carried over to simulated ones",
                where=f"{fit.spec.name}, {name}",
                found=f"dims {', '.join(dims)}",
                valid=sorted(_CARRIED),
                hint="fit cells, crossed, or shared",
            )
        labels = [[called.get(dim, {}).get(x, x) for x in fit.design.coords[dim]] for dim in dims]
        if twice := next((own for own in labels if len(set(own)) < len(own)), None):
            raise InputError(
                "a scenario has one list of stereotypes for each class",
                where=f"{fit.spec.name}, {name}",
                found=twice,
                hint="fit crossed, or shared",
            )
        values[name] = _by_label(mean, labels)
    return Scenario(
        model=fit.spec.name,
        words=tuple(int(words[c]) for c in words.index),
        attributes=tuple(int(attributes[c]) for c in words.index),
        human=int(kinds.get("human", 0)),
        neutral=int(kinds.get("neutral", 0)),
        values=values,
    )


def _names_in_scenario(table: pd.DataFrame, classes: Sequence[Any]) -> dict[str, dict[str, str]]:
    """Return what the classes of a table, and their lists of stereotypes, are called in its scenario."""
    names = {str(label): f"class{place}" for place, label in enumerate(classes)}
    out = {"protected_class": names}
    if "attribute_class" in table.columns:
        associated = table.loc[table["connection"] == "associated", ["protected_class", "attribute_class"]]
        pairs = associated.astype(str).drop_duplicates().itertuples(index=False, name=None)
        out["attribute_class"] = {listed: names[own] for own, listed in pairs}
    return out


_CARRIED = {"connection", "attribute_kind", "protected_class", "attribute_class"}


def _by_label(values: np.ndarray, labels: Sequence[Sequence[str]]) -> Any:
    """Return an array as a number, numbers by label, or numbers by label by label."""
    if not labels:
        return float(values)
    return {label: _by_label(own, labels[1:]) for label, own in zip(labels[0], values, strict=True)}


def _population_parameters(spec: ModelSpec) -> list[str]:
    """Return the population parameters: all but the random effects of words, which each table draws anew.

    Effects of what is all there is, such as classes and lists, are parameters of the population.
    """
    return [
        name
        for name, parameter in spec.parameters.items()
        if parameter.positive or not spec.is_random(name) or set(parameter.dims) <= set(spec.results.fixed)
    ]


@functools.lru_cache(maxsize=8)
def scenario_frame(words: tuple[int, ...], attributes: tuple[int, ...], human: int, neutral: int) -> pd.DataFrame:
    import pandas as pd

    columns = [(f"a{k}.{i}", f"class{k}", "stereotype") for k, n in enumerate(attributes) for i in range(n)]
    columns += [(f"{kind}.{i}", kind, kind) for kind, n in (("human", human), ("neutral", neutral)) for i in range(n)]
    right = pd.DataFrame(columns, columns=["attribute", "attribute_class", "attribute_kind"])
    rows = [(f"w{k}.{i}", f"class{k}") for k, n in enumerate(words) for i in range(n)]
    frame = pd.DataFrame(rows, columns=["protected_word", "protected_class"]).merge(right, how="cross")
    own = np.where(frame["attribute_class"] == frame["protected_class"], "associated", "different")
    frame["connection"] = np.where(frame["attribute_kind"] == "stereotype", own, frame["attribute_kind"])
    frame["distance"] = 0.0
    return frame


def sizes_of(scenario: Scenario) -> tuple[tuple[int, ...], tuple[int, ...], int, int]:
    """Return the numbers of words that the pairs of a scenario follow from."""
    return scenario.words, scenario.attributes, scenario.human, scenario.neutral


@functools.lru_cache(maxsize=8)
def true_parameters(scenario: Scenario) -> tuple[Design, dict[str, np.ndarray]]:
    """Lay the model over the scenario's grid, and put the given values in the order of its labels."""
    spec = load_model(scenario.model)
    frame = scenario_frame(*sizes_of(scenario))
    design = Design.of(spec, frame)
    wanted = _population_parameters(spec)
    for name in scenario.values:
        if name not in wanted:
            raise InputError(
                "no population parameter of the model",
                where=spec.name,
                found=name,
                valid=wanted,
                hint=nearest(name, wanted),
            )
    given = {}
    for name in wanted:
        if name not in scenario.values:
            raise InputError("a population parameter has no value", where=spec.name, found=name, valid=wanted)
        value, dims = scenario.values[name], spec.parameters[name].dims
        value = _in_order(value, [design.coords[dim] for dim in dims], f"{spec.name}, {name}")
        numbers = np.asarray(value, dtype=float)
        try:
            given[name] = np.broadcast_to(numbers, design.shape(name))
        except ValueError:
            raise InputError(
                "has other labels than the model",
                where=f"{spec.name}, {name}",
                found=f"numbers of shape {numbers.shape}",
                valid=f"a number, or numbers of shape {design.shape(name)}",
            ) from None
        if spec.parameters[name].positive and not (given[name] > 0).all():
            raise InputError("a spread must be positive", where=f"{spec.name}, {name}", found=scenario.values[name])
    return design, given


def _in_order(value: Any, labels: Sequence[Sequence[str]], where: str) -> Any:
    """Return numbers by label as lists in the order of the labels."""
    if not isinstance(value, Mapping) or not labels:
        return value
    lacking = [label for label in labels[0] if label not in value]
    if lacking:
        raise InputError(f"no value for {lacking[0]!r}", where=where, found=list(value))
    return [_in_order(value[label], labels[1:], where) for label in labels[0]]


def simulate_table(scenario: Scenario, seed: int) -> pd.DataFrame:
    """Simulate one table of pairs.

    Parameters
    ----------
    scenario : Scenario
    seed : int

    Returns
    -------
    DataFrame
        Columns as in a pair table. Distances are not cut off at 0 and 2, since the truth would move;
        ``attrs["simulated"]`` says so to `fit`.

    Examples
    --------
    >>> table = simulate_table(Scenario(words=(2, 2), attributes=(3, 3), human=0, neutral=0), seed=1)
    >>> len(table)
    24
    """
    seed = checks.seed(seed)
    design, given = true_parameters(scenario)
    drawn = {name: values[0] for name, values in design.prior_draws(1, seed, given).items()}
    frame = scenario_frame(*sizes_of(scenario))
    table = frame.assign(
        distance=design.outcome_draws(drawn, seed=np.random.SeedSequence([seed, 1]).generate_state(1)[0])
    )
    table.attrs[SIMULATED] = True
    return table


def true_contrasts(scenario: Scenario) -> dict[str, float]:
    """Return the true population contrasts of a scenario."""
    design, given = true_parameters(scenario)
    drawn = design.prior_draws(1, 0, given)
    frame = scenario_frame(*sizes_of(scenario))
    keys, means = level_means(design, frame, drawn, "population")
    at = {connection: means[0, i] for i, (level, _, connection) in enumerate(keys) if level == "overall"}
    # Averaging over the grid leaves 1e-15 where the difference is none at all.
    return {f"{a} - {b}": round(float(at[a] - at[b]), 12) + 0.0 for a, b in CONTRASTS if a in at and b in at}
