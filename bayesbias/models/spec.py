"""A model as a value, `ModelSpec`, and how it is read from its TOML file.

Nothing here sees a table or samples. Every refusal names the file and the key, what was found
there, and what would do.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bayesbias.core import InputError, checks, nearest, number_of
from bayesbias.core.files import MOST_TEXT, find_toml, list_names, parse_toml, read_bytes, sha256_of
from bayesbias.models.distributions import DISTRIBUTIONS
from bayesbias.models.outcomes import LIKELIHOODS, Outcome

SCHEMA = 1
DEFAULT_MODEL = "default"
"""The shipped model that fits distances where none is named.

Examples
--------
>>> import bayesbias as bb
>>> DEFAULT_MODEL in bb.models.list_models()
True
"""
GROUPS_MODEL = "groups"
"""The same where attribute sets belong to no class."""
_TAKEN_DIMS = ("chain", "draw", "pair")  # the dimensions that a result has of its own


@dataclass(frozen=True)
class Parameter:
    """One parameter of a model: ``name[dims] ~ distribution(args)``.

    Where `covariate` names a column of numbers, the term is multiplied by the number of the row:
    its entries are slopes. Where `only` maps a column to a label, no other rows have the term.
    """

    name: str
    dims: tuple[str, ...]
    distribution: str
    args: Mapping[str, float | str]
    covariate: str | None = None
    only: Mapping[str, str] = field(default_factory=dict)

    @property
    def positive(self) -> bool:
        """Whether the parameter is positive, such as a scale."""
        return DISTRIBUTIONS[self.distribution].support == "positive"


@dataclass(frozen=True)
class Level:
    """A level at which results are given: one row per label of a column, some columns held.

    Where `population` is false, it is given for the listed words alone.
    """

    by: str
    held: tuple[str, ...]
    population: bool = True


BETWEEN = ("between", "others")
"""Levels of contrasts between the labels of another level."""


@dataclass(frozen=True)
class Results:
    """What the results of a model are about.

    Attributes
    ----------
    group : str
        The column whose labels get a mean each.
    fixed : tuple of str
        Dimensions whose labels are all there are, and no sample of more.
    levels : Mapping of str to Level
        Below ``overall``.
    estimands : Mapping of str to tuple of str
        Beyond ``population`` and ``listed_words``: the columns that are held.
    between : str
        The level whose labels are compared with each other, in pairs (level ``between``) and each
        with the mean of the rest (level ``others``); empty where none are.
    """

    group: str
    fixed: tuple[str, ...]
    levels: Mapping[str, Level]
    estimands: Mapping[str, tuple[str, ...]]
    between: str = ""

    @property
    def contrast_levels(self) -> tuple[str, ...]:
        """The levels at which contrasts are given."""
        return ("overall", *self.levels, *(BETWEEN if self.between else ()))


_WORD_AND_CLASS = ("protected_word", "protected_class")
RESULTS_OF_PAIRS = Results(
    group="connection",
    fixed=("connection", "attribute_kind"),
    levels={
        "class": Level("protected_class", _WORD_AND_CLASS),
        "word": Level("protected_word", _WORD_AND_CLASS),
    },
    estimands={},
)


@dataclass(frozen=True)
class ModelSpec:
    """A model as its TOML file says it, checked.

    Attributes
    ----------
    name, description, source : str
        What the model is called, what it describes, and where it is from.
    notes : tuple of str
        What a user should know before using the model; printed by ``bayesbias show``.
    units : tuple of str
        The columns that together identify one observation, by default protected word and attribute.
    outcome : str
        The column that is modelled.
    likelihood : str
        ``Normal``, ``StudentT``, ``Binomial`` or ``Ordered``; `outcome_type` says what each takes the outcome to
        be.
    mu : tuple of str
        The parameters that are added up to the mean.
    noise : Mapping
        The other arguments of the likelihood: ``sigma`` and, for ``StudentT``, ``nu``; of ``Ordered``
        the gaps between cuts.
    trials : str
        Of ``Binomial`` the column that holds how many trials each count is out of; else empty.
    weights : str
        Of ``Normal`` the column that holds how many observations each outcome is the mean of; empty
        where each is one.
    parameters : Mapping of str to Parameter
        In the order of the file.
    results : Results
        What means and levels the results are given for; by default connections, classes and words.
    trim : bool
        Whether `fit` leaves out first what a table says nothing of (`trimmed`).
    sha256, text : str
        Of the file.
    origin : str
        The file, for messages; empty for a shipped model. Two specs are equal whatever it is.

    Examples
    --------
    >>> import bayesbias as bb
    >>> model = bb.load_model("default")
    >>> model.name, model.outcome, model.likelihood
    ('default', 'distance', 'Normal')
    >>> list(model.parameters)[:3]
    ['intercept', 'connection_mean', 'set_mean']
    """

    name: str
    description: str
    source: str
    notes: tuple[str, ...]
    units: tuple[str, ...]
    outcome: str
    likelihood: str
    mu: tuple[str, ...]
    noise: Mapping[str, float | str]
    parameters: Mapping[str, Parameter]
    results: Results = RESULTS_OF_PAIRS
    trials: str = ""
    weights: str = ""
    trim: bool = False
    sha256: str = ""
    text: str = field(default="", repr=False)
    origin: str = field(default="", repr=False, compare=False)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        terms = " + ".join(self.mu)
        return (
            f"ModelSpec: {self.name}, {self.outcome} ~ "
            f"{self.likelihood}({', '.join((terms, *self.noise))}), "
            f"{number_of(len(self.parameters), 'parameter')}\n  {self.description}"
        )

    @property
    def outcome_type(self) -> Outcome:
        """What the likelihood takes the outcome to be: its draws, density, mean and words."""
        return LIKELIHOODS[self.likelihood]

    @property
    def label(self) -> str:
        """How messages call the model: its name and, of a user's own, the file."""
        return f"model {self.name} ({self.origin})" if self.origin else f"model {self.name}"

    def is_random(self, name: str) -> bool:
        """Whether a parameter is a random effect: its spread is itself a parameter."""
        return isinstance(self.parameters[name].args.get("sigma"), str)

    def label_columns(self) -> set[str]:
        """Return the columns of labels that the model reads: units, dimensions, keys of `only`."""
        parameters = self.parameters.values()
        return {*self.units, *(column for p in parameters for column in (*p.dims, *p.only))}

    def covariates(self) -> list[str]:
        """Return the columns of numbers that terms of the mean are multiplied by."""
        return checks.once(p.covariate for p in self.parameters.values() if p.covariate is not None)

    def scales(self) -> list[str]:
        """Return the positive parameters, such as standard deviations."""
        return [name for name, parameter in self.parameters.items() if parameter.positive]

    def location_parameters(self) -> list[str]:
        """Return the parameters of the mean, each after the one it is centered on."""
        order: list[str] = []
        for name in self.mu:
            line = [name]
            while isinstance(parent := self.parameters[line[-1]].args.get("mu"), str):
                line.append(parent)
            order += reversed(line)
        return checks.once(order)


def list_models() -> list[str]:
    """Return the names of the models that come with the package.

    Examples
    --------
    >>> "crossed" in list_models()
    True
    """
    return list_names("models")


def load_model(model: checks.FilePath | ModelSpec) -> ModelSpec:
    """Read a model by its shipped name or from the user's own TOML file.

    Parameters
    ----------
    model : str, path or ModelSpec
        A name as listed by `list_models`, or a path. A `ModelSpec` is returned as it is.

    Raises
    ------
    InputError
        If a name, key, distribution or parameter is unknown, a parameter is unused, or there is a
        cycle; the message names the file and the key.

    Examples
    --------
    >>> spec = load_model("crossed")
    >>> spec.mu
    ('word_by_connection', 'attribute_effect')
    """
    if isinstance(model, ModelSpec):
        return model
    path = find_toml(model, "models", "model")
    spec = parse_model(read_bytes(path, MOST_TEXT), where=str(path))
    return replace(spec, origin="") if os.fspath(model) in list_models() else spec


def parse_model(text: bytes, where: str) -> ModelSpec:
    """Check the text of a model file; `where` is what errors call it."""
    raw = parse_toml(text, where)
    head = ("schema", "name", "description", "likelihood", "parameter")
    checks.known_keys(raw, (*head, "source", "notes", "trim", "results"), where, needed=head)
    checks.schema(raw, SCHEMA, where)
    checks.line(raw["name"], f"{where}, key name")
    tables = checks.table(raw["parameter"], f"{where}, key parameter")
    parameters = {
        name: _parameter(name, table, f"{where}, [parameter.{name}]")
        for name, table in tables.items()
    }
    lik, at = checks.table(raw["likelihood"], f"{where}, key likelihood"), f"{where}, [likelihood]"
    likelihood = str(lik.get("distribution", ""))
    checks.choice(likelihood, LIKELIHOODS, f"{at}, key distribution")
    outcome_type = LIKELIHOODS[likelihood]
    needed = ["outcome", "distribution", "mu", *outcome_type.args]
    if outcome_type.has_trials:
        needed.append("trials")
    optional = [name for name in outcome_type.optional if name in lik]
    first = list(outcome_type.optional[: len(optional)])
    _expect(optional == first, "gaps numbered from 2 on, without a break", at, optional)
    more = ("units", *optional, *(["weights"] if outcome_type.normal else []))
    checks.known_keys(lik, (*needed, *more), at, needed=needed)
    here = f"{at}, key outcome"
    outcome = checks.text(lik["outcome"], here)
    trials = checks.text(lik["trials"], f"{at}, key trials") if "trials" in lik else ""
    weights = checks.text(lik["weights"], f"{at}, key weights") if "weights" in lik else ""
    dims = {dim for parameter in parameters.values() for dim in parameter.dims}
    _expect(outcome not in dims, "a column that is no dimension of a parameter", here, outcome)
    for name in parameters:
        met = name not in (*_TAKEN_DIMS, *dims, outcome)
        what = "a name that is neither a dimension nor the outcome"
        _expect(met, what, f"{where}, [parameter.{name}]", name)
    mu = _strings(lik["mu"], f"{at}, key mu", 1)
    units = _strings(lik.get("units", ["protected_word", "attribute"]), f"{at}, key units", 1)
    arguments = (*outcome_type.args, *optional)
    noise = {arg: _argument(lik[arg], True, f"{at}, key {arg}") for arg in arguments}
    results = RESULTS_OF_PAIRS
    if "results" in raw:
        results = _results(raw["results"], f"{where}, [results]")
    spec = ModelSpec(
        name=raw["name"],
        description=raw["description"],
        source=raw.get("source", ""),
        notes=_strings(raw.get("notes", []), f"{where}, key notes"),
        units=units,
        outcome=outcome,
        likelihood=likelihood,
        mu=mu,
        noise=noise,
        parameters=parameters,
        results=results,
        trials=trials,
        weights=weights,
        trim=raw.get("trim", False),
        sha256=sha256_of(text),
        text=text.decode("utf-8"),
        origin=where,
    )
    _check_graph(spec, where)
    return spec


def _expect(met: bool, what: str, where: str, found: Any, hint: str | None = None) -> None:
    """Refuse what a file says unless it is as expected."""
    if not met:
        raise InputError(f"expected {what}", where=where, found=found, hint=hint)


def _strings(value: Any, where: str, least: int = 0) -> tuple[str, ...]:
    return checks.distinct(checks.texts(value, where, least), "entry", where)


def _results(table: Any, at: str) -> Results:
    keys_of_results = ("group", "fixed", "level", "estimand", "between")
    checks.known_keys(checks.table(table, at), keys_of_results, at, needed=("group",))
    group = checks.text(table["group"], f"{at}, key group")
    levels, estimands = dict[str, Level](), dict[str, tuple[str, ...]]()
    for kind, keys in (("level", ("held", "by", "population")), ("estimand", ("held",))):
        found = checks.table(table.get(kind, {}), f"{at}, key {kind}")
        for name, entry in found.items():
            here = f"{at[:-1]}.{kind}.{name}]"
            taken = ("overall", "population", "listed_words", *BETWEEN)
            _expect(name not in taken, "a name that is not taken", here, name)
            checks.known_keys(checks.table(entry, here), keys, here, needed=keys[:2])
            held = _strings(entry["held"], f"{here}, key held")
            if kind == "level":
                by = checks.text(entry["by"], f"{here}, key by")
                levels[name] = Level(by, held, entry.get("population") is not False)
            else:
                estimands[name] = held
    fixed = _strings(table.get("fixed", []), f"{at}, key fixed")
    if between := table.get("between", ""):
        checks.choice(between, levels, f"{at}, key between")
    return Results(group, tuple(dict.fromkeys((group, *fixed))), levels, estimands, between)


def _parameter(name: str, table: Any, at: str) -> Parameter:
    checks.table(table, at)
    _expect(name.isidentifier(), "a plain identifier as the name of a parameter", at, name)
    distribution = table.get("distribution")
    checks.choice(distribution, DISTRIBUTIONS, f"{at}, key distribution")
    row = DISTRIBUTIONS[distribution]
    keys = ("distribution", "dims", "times", "only", *row.args)
    checks.known_keys(table, keys, at, needed=("distribution", *row.args))
    times = table.get("times")
    if times is not None:
        checks.text(times, f"{at}, key times")
    dims = _strings(table.get("dims", []), f"{at}, key dims")
    for dim in dims:
        met = dim not in _TAKEN_DIMS
        what, hint = "a dimension other than those of the draws", "rename the column"
        _expect(met, what, f"{at}, key dims", dim, hint)
    only = dict(checks.table(table.get("only", {}), f"{at}, key only"))
    for column, label in only.items():
        checks.text(label, f"{at}, key only, {column}")
    args = {
        arg: _argument(table[arg], arg in row.positive_args, f"{at}, key {arg}") for arg in row.args
    }
    return Parameter(name, dims, distribution, args, times, only)


def _argument(value: Any, positive: bool, at: str) -> float | str:
    if isinstance(value, str):
        return value
    return checks.positive(value, at) if positive else checks.finite(value, at)


def _check_graph(spec: ModelSpec, where: str) -> None:
    """Refuse unknown and unused parameters, cycles, and arguments of the wrong support."""
    used: set[str] = set()
    parameters = spec.parameters

    def visit(name: str, at: str, path: tuple[str, ...] = ()) -> bool:
        """Visit a parameter and those it depends on; return whether it is positive."""
        parameter = parameters[checks.choice(name, parameters, at)]
        circle = " -> ".join((*path, name))
        _expect(name not in path, "parameters that depend on none in a circle", where, circle)
        used.add(name)
        for arg, value in parameter.args.items():
            if isinstance(value, str):
                here = f"{where}, [parameter.{name}], key {arg}"
                positive = visit(value, here, (*path, name))
                met = positive or arg not in DISTRIBUTIONS[parameter.distribution].positive_args
                _expect(met, "a positive parameter", here, value)
                met = not positive or arg != "mu" or parameter.positive
                _expect(met, "a parameter that may be negative", here, value)
        return parameter.positive

    at = f"{where}, [likelihood], key"
    for name in spec.mu:
        _expect(not visit(name, f"{at} mu"), "a term that may be negative", f"{at} mu", name)
    for arg, value in spec.noise.items():
        if isinstance(value, str):
            _expect(visit(value, f"{at} {arg}"), "a positive parameter", f"{at} {arg}", value)
    labels = {spec.outcome, *spec.units, *(dim for p in parameters.values() for dim in p.dims)}
    for name, parameter in parameters.items():
        at = f"{where}, [parameter.{name}], key"
        times, mean = parameter.covariate, parameter.args.get("mu")
        if times is not None:
            met, what = name in spec.mu and not isinstance(mean, str), "a term of the mean around"
            what += " a number, which alone may be multiplied by a column of the table"
            _expect(met, what, f"{at} times", name, nearest(times, list(parameters)))
            what = "a column of numbers, not of labels or the outcome"
            _expect(times not in labels, what, f"{at} times", times)
        met = not parameter.only or (name in spec.mu and spec.is_random(name) and mean == 0)
        what = "a term of the mean with an SD of its own around zero, which alone some rows lack"
        _expect(met, what, f"{at} only", name)
    unused = [name for name in parameters if name not in used]
    _expect(not unused, "parameters that are all used", where, unused)
