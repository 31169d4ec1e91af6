"""A model as a value: its parameters, its likelihood, and what its results are about.

Nothing here reads a file, sees a table or samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bayesbias.core import checks
from bayesbias.core.formatting import number_of
from bayesbias.models.distributions import DISTRIBUTIONS

__all__ = ["ModelSpec", "Parameter"]


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
        """Whether the parameter is a scale (or another positive number)."""
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


@dataclass(frozen=True, repr=False)
class ModelSpec:
    """A model as its TOML file says it, checked.

    Attributes
    ----------
    name, description, source : str
    notes : tuple of str
        What a user should know before using the model; printed by ``bayesbias show``.
    units : tuple of str
        The columns that together identify one observation, by default protected word and attribute.
    outcome : str
        The column that is modelled.
    likelihood : str
        ``Normal``, ``StudentT`` or ``Binomial``. Of the last the outcome is a count, and the mean
        is in log odds.
    mu : tuple of str
        The parameters that are added up to the mean.
    noise : Mapping
        The other arguments of the likelihood: ``sigma`` and, for ``StudentT``, ``nu``.
    trials : str
        Of ``Binomial`` the column that holds how many trials each count is out of; else empty.
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
    def label(self) -> str:
        """How messages call the model: its name and, of a user's own, the file."""
        return f"model {self.name} ({self.origin})" if self.origin else f"model {self.name}"

    def is_random(self, name: str) -> bool:
        """Whether a parameter is a random effect: its spread is itself a parameter."""
        checks.choice(name, self.parameters, "parameter", "name")
        return isinstance(self.parameters[name].args.get("sigma"), str)

    def label_columns(self) -> set[str]:
        """Return the columns of labels that rows are told apart by.

        Units, dimensions, and those that leave terms out.
        """
        parameters = self.parameters.values()
        return {*self.units, *(column for p in parameters for column in (*p.dims, *p.only))}

    def covariates(self) -> list[str]:
        """Return the columns of numbers that terms of the mean are multiplied by."""
        return list(
            dict.fromkeys(p.covariate for p in self.parameters.values() if p.covariate is not None)
        )

    def location_parameters(self) -> list[str]:
        """Return the parameters that reach the mean, each after the one it is centred on."""
        order: list[str] = []

        def visit(name: str) -> None:
            parent = self.parameters[name].args.get("mu")
            if isinstance(parent, str):
                visit(parent)
            if name not in order:
                order.append(name)

        for name in self.mu:
            visit(name)
        return order
