"""Names that limits of a table of responses may have, known before the fit, and what to do about others."""

from __future__ import annotations

from bayesbias.core import InputError, checks
from bayesbias.core.factors import Contrast, sides
from bayesbias.studies import requirements
from bayesbias.studies.responses import factorial
from bayesbias.studies.responses.table import Responses

EACH = {"each group - mean": "mean", "each group - others": "others", "each difference": "pairs"}
"""Names of limits that every group must meet, and what groups are compared with."""
CELLS = "each cell - mean"
FORMS = ("{}", "|{}|")  # signed, and by size


def limits_on_all(table: Responses) -> dict[str, str]:
    """Return the names of limits on each group, and what groups are compared with.

    Of groups that cross factors every level of a factor must meet them, or every cell.
    """
    if not table.factors:
        return EACH
    names = {name.replace("group", "level"): against for name, against in EACH.items()}
    return {**names, CELLS: "cell"}


def names_of_limits(table: Responses) -> list[str]:
    """Return all names that limits may have."""
    contrasts = factorial.contrasts_of(table)
    if not contrasts:  # one group of several models
        contrasts = [Contrast("overall", *of) for of in sides(table.models)]
    names = [contrast.name for contrast in contrasts]
    for contrast in contrasts:
        if contrast.level in ("overall", "main") and contrast.against == "pairs":
            names += [f"{label} - mean" for label in contrast.name.split(" - ")]
    for name in limits_on_all(table):
        names += [form.format(name) for form in FORMS]
    return checks.once([*names, *requirements.OF_ALL])


def check_names(table: Responses, limits: str) -> None:
    """Refuse a limit whose name the table does not have.

    Raises
    ------
    InputError
        If a name is unknown; it has examples of valid names.
    """
    known = names_of_limits(table)
    for limit in requirements.read_requirements(limits):
        if requirements.CHANCE.fullmatch(limit.name):
            continue
        try:
            requirements.contrast_named(limit.name, known)
        except InputError as error:
            raise error.retold(hint=_hint(table, limit.name, error.parts["hint"])) from None


def _hint(table: Responses, name: str, nearest: str) -> str:
    """Say which name may be meant, with two examples of the table."""
    contrasts = factorial.contrasts_of(table)
    hints = [f"{nearest[:1].upper()}{nearest[1:]}"] if nearest else []
    if table.factors and "each group" in name:
        hints = ["These groups cross factors: write each level of a factor, or each cell."]
    elif table.factors and (within := _between_cells(table, name)):
        hints = [within]
    examples = [f'"{contrasts[0].name} > -0.05"'] if contrasts else []
    if table.factors:
        simple = next((contrast.name for contrast in contrasts if contrast.level == "simple"), "")
        examples = [f'"{simple} > -0.05"'] if simple else examples
        examples += ['"|each level - mean| < 0.05"', f'"{table.groups[0]} - mean > -0.05"']
    elif contrasts:
        examples.append('"|each group - mean| < 0.05"')
    if examples:
        hints.append(f"Write for example {', '.join(examples[:-1])} or {examples[-1]}")
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
