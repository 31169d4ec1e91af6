"""Scores of the predicted label, as classifiers write them, turned into those of the positive class.

A transformers pipeline writes ``label`` and ``score``, the probability of this label. Taken for the
probability of the positive class it would hide the sign of every negative row.
"""

import re
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import InputError, checks, some

_OF_LABELS = ("label", "labels", "predicted_label", "pred_label")
_OTHERS = ("prediction", "predicted", "predicted_class", "pred", "class", "sentiment")
"""Columns of labels where their texts are those of a classifier."""
_SIDES = {"positive": 1, "pos": 1, "negative": 0, "neg": 0}
_NUMBERED = re.compile(r"label_\d+")
_CLOSE = 1e-6


def positive_scores(
    frame: pd.DataFrame,
    column: str,
    positive: Any = None,
    where: object = None,
    named: bool = True,
) -> tuple[pd.Series, str]:
    """Return scores of the positive class, and a note where they were turned.

    Parameters
    ----------
    frame : DataFrame
        The column of scores, and others that are not used for anything else.
    column : str
        Of the scores. Cells that are no number stay as they are.
    positive : str, optional
        The positive label. It may be left out where the labels are positive and negative.
    where : optional
        The source, for messages.
    named : bool
        Whether the caller can name the positive label.

    Raises
    ------
    InputError
        If there is a column of labels, no score that speaks against being that of the label, and
        the positive label is not known.

    Examples
    --------
    >>> rows = pd.DataFrame({"label": ["POSITIVE", "NEGATIVE"], "score": [0.9, 0.8]})
    >>> positive_scores(rows, "score")[0].round(2).tolist()
    [0.9, 0.2]
    """
    scores = frame[column]
    numbers = pd.to_numeric(scores, errors="coerce")
    given = numbers.notna()
    labels_in = _column_of_labels(frame[given], column)
    if labels_in is None:
        if positive is None:
            return scores, ""
        problem = f"expected a column of labels beside {column!r}, got none"
        raise InputError(problem, where=where, hint="leave out positive (--positive)")
    labels = _folded(frame[labels_in])
    known = sorted(set(labels[given]))
    least = 1 / max(2, len(known)) - _CLOSE
    may_be_of_label = bool(numbers[given].between(least, 1 + _CLOSE).all())
    if positive is not None:
        chosen = str(positive).strip().casefold()
        if len(known) > 1:
            checks.choice(chosen, known, "positive")
        is_positive = labels == chosen
    elif not may_be_of_label:
        return scores, ""  # the highest of some probabilities is never that low
    elif set(known) <= set(_SIDES):
        is_positive = labels.map(_SIDES) == 1
    else:
        is_positive = None
    if is_positive is None or len(known) > 2:
        texts = sorted(set(frame[labels_in][given].astype(str)))
        shown = some(texts, 4)
        problem = (
            f"expected the probability of one class in {column!r}, got the column {labels_in!r} "
            f"beside it ({shown}), whose scores these may be"
        )
        hint = f"name the positive label, such as --positive {texts[-1]} (positive=)"
        if len(known) > 2 or not named:
            hint = f"write the probability of the positive class, and leave {labels_in!r} out"
        raise InputError(problem, where=where, hint=hint)
    turned = numbers.where(is_positive, 1 - numbers)
    others = some(sorted(set(frame[labels_in][given & ~is_positive].astype(str))))
    note = f"{column!r} is that of the predicted {labels_in!r}: {others} counts as 1 - {column}"
    return turned.where(given, scores), note if (given & ~is_positive).any() else ""


def _column_of_labels(frame: pd.DataFrame, column: str) -> str | None:
    """Return the column of predicted labels, if there is one."""
    for name in frame.columns:
        plain = str(name).strip().casefold()
        if name == column or frame.empty:
            continue
        if plain in _OF_LABELS:
            return str(name)
        if plain in _OTHERS:
            labels = set(_folded(frame[name]))
            if labels <= set(_SIDES) or all(map(_NUMBERED.fullmatch, labels)):
                return str(name)
    return None


def _folded(labels: pd.Series) -> "pd.Series[Any]":
    """Return labels without blanks and capitals; an empty text where there is none."""
    return labels.replace({np.nan: ""}).astype(str).str.strip().str.casefold()
