"""What classifiers of others answer, as probabilities of the positive class, which is never guessed.

A function may answer with one number a sentence, with a column or a name for each class, or with labels; a pipeline of
Hugging Face with a score for each label.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import some
from bayesbias.core.frames import in_order_of, plain_numbers

_POSITIVE = ("positive", "pos")
_OTHERS = ("negative", "neg", "neutral", "neu", "mixed")
_ONE = 1e-3  # how far from one the probabilities of all classes may sum, in half precision


class Answers:
    """The probabilities of the positive class in what a function from sentences answers.

    Parameters
    ----------
    function : callable
        From a list of n sentences to n numbers, n rows of columns, n labels, or n lists of labels with scores.
    positive : optional
        Which class is positive: its label, or of columns without names the column, counted from 0.
    where : str
        The name of the classifier, for messages.
    """

    def __init__(self, function: Callable[[list[str]], Any], positive: Any, where: str) -> None:
        self.function = function
        self.positive = positive
        self.where = where
        self._labels: set[str] = set()

    def __call__(self, sentences: list[str]) -> npt.ArrayLike:
        """Return the probability of the positive class for each sentence."""
        answer = in_order_of(self.function(sentences), sentences, self.where)
        if hasattr(answer, "detach"):
            answer = answer.detach().cpu().numpy()
        if hasattr(answer, "columns") and hasattr(answer, "to_numpy"):
            names = [str(name) for name in answer.columns]
            place = positive_column(names, self.positive, self.where)
            return self._column(plain_numbers(answer.to_numpy(), self.where), place)
        first = answer[0] if isinstance(answer, list | tuple | np.ndarray) and len(answer) else None
        if isinstance(first, str):
            return self._of_labels([str(label) for label in answer])
        if isinstance(first, Mapping):
            raise InputError(
                "answers with the score of one label a sentence, which does not tell that of the positive class",
                where=self.where,
                found=str(dict(first)),
                valid="the scores of all labels",
                hint="of a Hugging Face pipeline: hand over the pipeline itself, or call it with top_k=None",
            )
        if isinstance(first, list | tuple) and first and all(isinstance(each, Mapping) for each in first):
            return self._of_scores(answer)
        return self._of_numbers(answer)

    def doubts(self) -> list[str]:
        """Say what is odd about the labels answered so far."""
        if self.positive is None or not self._labels or _is_among(self.positive, self._labels):
            return []
        return [
            f"{self.where}: no sentence got the label {str(self.positive)!r}, which is to be the positive one; there are "
            f"{some(sorted(self._labels))}"
        ]

    def _of_numbers(self, answer: Any) -> npt.ArrayLike:
        try:
            array = plain_numbers(answer, self.where, truths=True).astype(np.float64)
        except InputError:
            return answer  # what it is, is said where probabilities are checked
        if array.ndim == 2 and array.shape[1] > 1:
            return self._column(array, self._number_of_column(array.shape[1]))
        if self.positive is not None:
            raise InputError(
                "is not for functions that return one probability a sentence, which is that of the positive class",
                where="positive",
                found=self.positive,
            )
        return array

    def _number_of_column(self, columns: int) -> int:
        valid = [str(number) for number in range(columns)]
        if self.positive is None:
            raise InputError(
                "does not say which column is that of the positive class",
                where=self.where,
                found=f"{columns} columns without names",
                valid=f"positive={' or '.join(valid)}",
                hint="scikit-learn and most others have it last" if columns == 2 else None,
            )
        return valid.index(checks.choice(str(self.positive), valid, "column", self.where))

    def _column(self, rows: npt.NDArray[Any], column: int) -> npt.ArrayLike:
        rows = np.asarray(rows, dtype=np.float64)
        off = np.flatnonzero(~(np.abs(rows.sum(axis=1) - 1) <= _ONE))
        if len(off):
            raise InputError(
                "the classes of a sentence do not sum to one",
                where=self.where,
                found=", ".join(f"{number:.4g}" for number in rows[off[0]]),
                valid="probabilities of exclusive classes, as a softmax makes them of scores",
            )
        return rows[:, column]

    def _of_labels(self, labels: list[str]) -> npt.ArrayLike:
        self._labels |= set(labels)
        if self.positive is not None:
            return [float(_is_among(self.positive, (label,))) for label in labels]
        unlike = sorted({label for label in labels if label.strip().lower() not in (*_POSITIVE, *_OTHERS)})
        if unlike:
            raise _unsaid(unlike, self.where)
        return [float(label.strip().lower() in _POSITIVE) for label in labels]

    def _of_scores(self, answer: Sequence[Sequence[Mapping[str, Any]]]) -> npt.ArrayLike:
        """Return the column of the positive class, where each sentence has its labels in an order of its own."""
        try:
            rows = [{str(each["label"]): float(each["score"]) for each in row} for row in answer]
        except (KeyError, TypeError, ValueError):
            raise InputError(
                "answers with what are no labels and scores",
                where=self.where,
                found=str(answer[0])[:80],
                valid="for each sentence a list of {'label': ..., 'score': ...}",
            ) from None
        names = list(rows[0])
        column = positive_column(names, self.positive, self.where)
        if any(row.keys() != rows[0].keys() for row in rows):
            raise InputError(
                "answers with other labels for each sentence",
                where=self.where,
                valid="the scores of all labels, as with top_k=None",
            )
        return self._column(np.array([[row[name] for name in names] for row in rows]), column)


def positive_column(classes: Sequence[Any], positive: Any, where: str) -> int:
    """Return the column of the positive class: stated, or told from a name that leaves no doubt."""
    names = [str(c) for c in classes]
    if positive is not None:
        return names.index(checks.choice(str(positive), names, "class", where))
    if len(classes) == 2 and not any(isinstance(c, str) for c in classes):
        low, high = (float(c) for c in classes)
        if (low, high) in ((0.0, 1.0), (-1.0, 1.0)):
            return 1
    positives = [i for i, label in enumerate(names) if label.strip().lower() in _POSITIVE]
    if len(positives) == 1:
        return positives[0]
    raise _unsaid(names, where)


def _is_among(label: Any, labels: Sequence[str] | set[str]) -> bool:
    return str(label).strip().lower() in {each.strip().lower() for each in labels}


def _unsaid(names: Sequence[str], where: str) -> InputError:
    return InputError(
        "does not say which class is positive",
        where=where,
        found=", ".join(names),
        hint=f"state it, such as positive={names[-1]!r} (--positive {names[-1]})",
    )
