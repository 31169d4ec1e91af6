"""Columns beside those of questions: covariates that answers are adjusted for, weights, raters, and which rows are used."""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from bayesbias.core import InputError, checks

PLUS = "+"  # between the names of covariates
WEIGHT = "weight"
RATER = "rater"
FEWEST_RATERS = 3  # for an SD of raters; two have a difference
MOST_CATEGORIES = 30
SIGNS = {
    "!=": operator.ne, "<=": operator.le, ">=": operator.ge, "==": operator.eq, "=": operator.eq,
    "<": operator.lt, ">": operator.gt,
}  # fmt: skip
CONDITION = re.compile(r"\s*(.+?)\s*(!=|<=|>=|==|=|<|>)\s*(.*?)\s*")


class Beside(NamedTuple):
    """The columns that are named beside those of questions.

    Attributes
    ----------
    adjust : tuple of str
        Covariates, numbers or categories.
    weight : str
        How many answers an outcome is the mean of; empty where each is one.
    rater : str
        Who rated the answer, such as a person or a model that judges; empty where it is not known.
    """

    adjust: tuple[str, ...] = ()
    weight: str = ""
    rater: str = ""

    @property
    def names(self) -> list[str]:
        """All columns."""
        return [*self.adjust, *(name for name in (self.weight, self.rater) if name)]


def beside_of(columns: dict[str, str]) -> tuple[dict[str, str], Beside]:
    """Split named columns into those of questions and those beside them.

    Examples
    --------
    >>> beside_of({"group": "race", "adjust": "age+resume", "weight": "n"})
    ({'group': 'race'}, Beside(adjust=('age', 'resume'), weight='n', rater=''))
    """
    ours_beside = ("adjust", WEIGHT, RATER)
    rest = {ours: theirs for ours, theirs in columns.items() if ours not in ours_beside}
    adjust = [part.strip() for part in columns.get("adjust", "").split(PLUS) if part.strip()]
    checks.distinct(adjust, "covariate", "adjust")
    return rest, Beside(tuple(adjust), columns.get(WEIGHT, ""), columns.get(RATER, ""))


def rows_where(frame: pd.DataFrame, condition: str) -> pd.DataFrame:
    """Return the rows that meet conditions, such as ``resume != strong and age < 40``.

    Labels are compared as text, in which ``*`` stands for any, and numbers as numbers where the
    condition has one.

    Examples
    --------
    >>> frame = pd.DataFrame({"resume": ["strong", "weak"], "age": [30, 50]})
    >>> len(rows_where(frame, "resume != strong")), len(rows_where(frame, "age > 60"))
    (1, 0)
    >>> len(rows_where(frame, "resume = we*"))
    1
    """
    kept = pd.Series(True, index=frame.index)
    for part in re.split(r"\s+and\s+", condition):
        match = CONDITION.fullmatch(part)
        if match is None:
            problem = "expected COLUMN != VALUE (or =, <, <=, >, >=), such as resume != strong"
            hint = "join several conditions with and"
            raise InputError(problem, where="where", found=part, hint=hint)
        name, sign, text = match[1], match[2], match[3].strip("\"'")
        values: pd.Series = frame[checks.choice(name, frame.columns, "the column of where")]
        number = pd.to_numeric(pd.Series([text]), errors="coerce").iloc[0]
        numeric = pd.to_numeric(values, errors="coerce")
        if not np.isnan(number) and numeric.notna().any():
            kept &= SIGNS[sign](numeric, number)
        elif sign in ("=", "==", "!="):
            pattern = ".*".join(re.escape(part) for part in text.split("*"))
            same = values.astype(str).str.strip().str.fullmatch(pattern)
            kept &= ~same if sign == "!=" else same
        else:
            problem = f"expected a number, got {text!r}"
            raise InputError(problem, where=f"where, {name} {sign}")
    return frame[kept]


def lacking(raw: pd.DataFrame, beside: Beside) -> pd.Series:
    """Return why each row lacks a covariate or a weight; empty where it has all."""
    reasons = pd.Series("", index=raw.index)
    for name in beside.names:
        checks.choice(name, raw.columns, "the column of a covariate, weight or rater")
        absent = raw[name].isna() | raw[name].astype(str).str.strip().eq("")
        reasons = reasons.mask(absent & reasons.eq(""), f"without {name}")
    return reasons


def covariates(raw: pd.DataFrame, adjust: Sequence[str]) -> pd.DataFrame:
    """Return covariates as columns around zero: numbers in SDs, and categories but the first as shares.

    Raises
    ------
    InputError
        If a covariate is the same in all rows, or has too many categories.
    """
    out = {}
    for name in adjust:
        where = f"the column {name}"
        numbers = pd.to_numeric(raw[name], errors="coerce")
        if numbers.notna().all() and raw[name].dtype != bool:
            if numbers.std(ddof=0) <= 0:
                raise InputError("expected a covariate that differs between rows", where=where)
            out[f"adjust {name}"] = (numbers - numbers.mean()) / numbers.std(ddof=0)
            continue
        labels = raw[name].astype(str).str.strip()
        kinds = sorted(labels.unique())
        if not 2 <= len(kinds) <= MOST_CATEGORIES:
            raise InputError(
                f"expected 2 to {MOST_CATEGORIES} categories, got {len(kinds)}",
                where=where,
                hint="name it as item or template if it is a sample of more",
            )
        for kind in kinds[1:]:
            of_kind = labels.eq(kind).astype(float)
            out[f"adjust {name}: {kind}"] = of_kind - of_kind.mean()
    return pd.DataFrame(out, index=raw.index)


def weights(raw: pd.DataFrame, name: str) -> pd.Series:
    """Return weights as numbers above zero."""
    numbers = pd.to_numeric(raw[name], errors="coerce")
    if not (numbers > 0).all():
        row = int(np.argmin((numbers > 0).to_numpy()))
        raise InputError(
            "expected how many answers the outcome is the mean of, above 0",
            where=f"the column {name}",
            found=str(raw[name].iloc[row]),
        )
    return numbers.astype(float)
