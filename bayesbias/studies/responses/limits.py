"""Names that limits of a table of responses may have, known before the fit, and what to do about others."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from bayesbias.core import InputError, checks, join_words
from bayesbias.core.factors import Contrast, sides
from bayesbias.studies import requirements
from bayesbias.studies.responses import factorial
from bayesbias.studies.responses.table import ESTIMANDS, Responses

EACH = {"each group - mean": "mean", "each group - others": "others", "each difference": "pairs"}
"""Names of limits that every group must meet, and what groups are compared with."""
CELLS = "each cell - mean"
MOST_LISTED = 4  # contrasts in an error


def limits_on_all(table: Responses) -> dict[str, str]:
    """Return the names of limits on each group, and what groups are compared with.

    Of groups that cross factors every level of a factor must meet them, or every cell.
    """
    if not table.factors:
        return EACH
    names = {name.replace("group", "level"): against for name, against in EACH.items()}
    return {**names, CELLS: "cell"}


def contrasts_compared(table: Responses) -> list[Contrast]:
    """Return what is compared: groups, or the models of one group."""
    contrasts = factorial.contrasts_of(table)
    return contrasts or [Contrast("overall", *of) for of in sides(table.models)]


def names_of_contrasts(table: Responses) -> list[str]:
    """Return the names of all contrasts, with those from the mean of all groups."""
    contrasts = contrasts_compared(table)
    names = [contrast.name for contrast in contrasts]
    for contrast in contrasts:
        if contrast.level in ("overall", "main") and contrast.against == "pairs":
            names += [f"{label} - mean" for label in contrast.name.split(" - ")]
    return checks.once(names)


def names_in_brackets(table: Responses) -> list[str]:
    """Return what may stand in brackets behind a contrast: estimands, models, items and templates."""
    models = [model for model in table.models if model]
    between = [" - ".join(pair) for pair in itertools.permutations(models, 2)]
    labels = [*table.frame["item"].unique(), *table.frame["template"].unique()]
    return checks.once([*ESTIMANDS, *models, *between, *filter(None, labels)])


def check_names(table: Responses, limits: str) -> None:
    """Refuse a limit whose name the table does not have.

    Raises
    ------
    InputError
        If a name is unknown; it has examples of valid names.
    """
    contrasts = names_of_contrasts(table)
    for limit in requirements.read_requirements(limits):
        quantity = requirements.quantity_of(limit.name)
        every = [*limits_on_all(table)]
        known = [*contrasts, *every]
        if quantity.is_probability:
            known += [_any(name) for name in every]
        elif not quantity.is_size:
            known += requirements.OF_ALL
        try:
            _, brackets, _ = requirements.contrast_named(quantity.name, known)
        except InputError as error:
            raise _unknown(table, limit.name, error.parts["hint"]) from None
        _check_brackets(table, brackets)


def _check_brackets(table: Responses, brackets: Sequence[str]) -> None:
    """Refuse brackets behind a contrast that name nothing of the table."""
    valid = names_in_brackets(table)
    for label in brackets:
        if requirements.spelled(label, valid) not in valid:
            models = [model for model in table.models if model]
            named = "an estimand, a model, an item or a template in brackets"
            problem = f"expected {named}, such as {join_words([*ESTIMANDS, *models[:2]], 'or')}"
            hint = checks.nearest(label, valid)
            raise InputError(problem, where="requirement", found=label, hint=hint)


def _any(name: str) -> str:
    """Return the name of a probability that any of several contrasts is meant."""
    return name.replace(requirements.EVERY, requirements.ANY, 1)


def _unknown(table: Responses, name: str, nearest: str) -> InputError:
    """Return the error for an unknown name, with the forms that names have."""
    contrasts, every = names_of_contrasts(table), [*limits_on_all(table)]
    listed = contrasts[:MOST_LISTED]
    if len(contrasts) > MOST_LISTED:
        listed.append(f"{len(contrasts) - MOST_LISTED} more contrasts")
    models = [model for model in table.models if model]
    of_models = []
    if len(models) > 1 and len(table.groups) > 1:
        of_models = [f"{models[0]}: NAME", f"{models[0]} - {models[1]}: NAME"]
    valid = [*listed, *every, *of_models, *requirements.OF_ALL, "|NAME|", "P(NAME < NUMBER)", "P(|NAME| > NUMBER)"]  # fmt: skip
    error = checks.unknown(name, valid, "requirement", most=len(valid))
    return error.retold(hint=_hint(table, name, nearest))


def _hint(table: Responses, name: str, nearest: str) -> str:
    """Say which name may be meant, with examples of the table."""
    hints = [f"{nearest[:1].upper()}{nearest[1:]}"] if nearest else []
    if table.factors and re.search(r"\b(each|any) group\b", name):
        hints = ["These groups cross factors: write each level of a factor, or each cell."]
    elif table.factors and (within := _between_cells(table, name)):
        hints = [within]
    contrasts = contrasts_compared(table)
    examples = []
    if contrasts:
        simple = [contrast.name for contrast in contrasts if contrast.level == "simple"]
        examples.append(f'"{[*simple, contrasts[0].name][0]} > -0.05"')
    if table.factors:
        examples += ['"|each level - mean| < 0.05"', f'"{table.groups[0]} - mean > -0.05"']
        examples.append('"P(|any cell - mean| > 0.05) < 0.05"')
    elif len(table.groups) > 1:
        examples.append('"|each group - mean| < 0.05"')
        examples.append('"P(|any group - mean| > 0.05) < 0.05"')
    if examples:
        hints.append(f"Write for example {join_words(examples, 'or')}")
    return " ".join(hints)


def _between_cells(table: Responses, name: str) -> str:
    """Say how two cells are compared, where a name is a difference of two."""
    first, _, second = name.partition(" - ")
    if not {first, second} <= {*table.groups}:
        return ""
    for contrast in factorial.contrasts_of(table):
        if contrast.against == "pairs" and contrast.weights == {first: 1.0, second: -1.0}:
            return f"These two cells are {contrast.name}."
        if contrast.against == "pairs" and contrast.weights == {first: -1.0, second: 1.0}:
            return f"These two cells are {contrast.name}, reversed."
    return "Cells that differ in several factors are each compared with the mean of all."
