"""A classifier made of almost anything that predicts sentiment.

A callable, a fitted scikit-learn pipeline, a pickle of one, a Hugging Face model or pipeline, a
folder or a file of predictions. Which class is positive is stated, or told from a name that leaves
no doubt; never guessed.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from bayesbias.classifiers.classifier import Classifier, open_folder
from bayesbias.classifiers.predictions import load_predictions
from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.files import guarded, path_of, sha256_file
from bayesbias.core.formatting import some
from bayesbias.core.frames import in_order_of
from bayesbias.core.packages import needed

__all__ = ["load_classifier"]

_POSITIVE = ("positive", "pos")
_OTHERS = ("negative", "neg", "neutral", "neu", "mixed")
_ONE = 1e-3  # how far from one the probabilities of all classes may sum, in half precision


def load_classifier(
    x: Any,
    *,
    name: str | None = None,
    positive: Any = None,
    allow_pickle: bool = False,
    corpus: Any = "occupations",
) -> Classifier:
    """Make a classifier of almost anything that predicts sentiment.

    Parameters
    ----------
    x : Classifier, callable, pipeline of scikit-learn or Hugging Face, str or path
        * A callable from a list of n sentences to n positive-class probabilities, to n rows of a probability for each class
          (an array, or a frame with their names), to n labels, or to n lists of labels with scores,
          as pipelines of transformers answer with ``top_k=None``.
        * Such a pipeline itself, for text classification; a fitted pipeline of scikit-learn with ``predict_proba``.
        * The folder of a classifier made by `train_bow` or `train_bilstm`; a file of predictions (see `load_predictions`).
        * ``"joblib:PATH"``, a pipeline saved with joblib, which is a pickle; ``"transformers:NAME_OR_PATH"``, a Hugging Face
          text-classification model (extra ``encoders``).
    name : str, optional
        A short name, for tables and figures.
    positive : optional
        Which class is positive, by its label, if it is called neither "positive" nor, of two
        numbers, 1. Of columns without names, in a file or an array: the column, counted from 0.
    allow_pickle : bool
        Loading a pickle runs code from the file: allow it for files you trust.
    corpus
        For a file of predictions in the order of the sentences: what `load_occupations` takes.

    Returns
    -------
    Classifier

    Raises
    ------
    InputError
        If there is no such thing, the positive class is in doubt, or an extra is not installed.

    Examples
    --------
    >>> load_classifier(lambda sentences: [0.5] * len(sentences), name="indifferent")
    <Classifier 'indifferent': callable>
    >>> by_labels = load_classifier(lambda sentences: ["good" if "!" in s else "bad" for s in sentences], positive="good")
    >>> by_labels(["An end!", "An end."])
    array([1., 0.])
    """
    if isinstance(x, Classifier):
        return x if name is None else Classifier(name, x.predict, x.provenance, x.only)
    if isinstance(x, str | os.PathLike):
        text = os.fspath(x)
        scheme, colon, rest = text.partition(":")
        if colon and scheme == "transformers" and rest:
            return _from_transformers(rest, name, positive)
        path = path_of(rest if colon and scheme == "joblib" else text)
        if os.path.isdir(path):
            return open_folder(path, name)
        if scheme == "joblib" or path.suffix in (".joblib", ".pkl", ".pickle"):
            return _from_joblib(path, name, positive, allow_pickle)
        if os.path.exists(path):
            return _from_predictions(path, corpus, name, positive)
        raise InputError(
            "no such classifier",
            found=text,
            valid="a file of predictions, a folder made by `bayesbias sentiment train`, joblib:PATH, "
            "transformers:NAME_OR_PATH",
            hint=nearest(scheme, ("joblib", "transformers")) if colon else None,
        )
    if hasattr(x, "predict_proba"):
        kind = f"scikit-learn {type(x).__name__}"
        return _from_estimator(x, name or type(x).__name__, positive, {"kind": kind})
    if callable(x) and getattr(x, "task", None) == "text-classification" and hasattr(x, "model"):
        config = x.model.config
        source = str(getattr(config, "_name_or_path", "") or type(x.model).__name__)
        facts = _facts_of(config, source, positive) | {"kind": "Hugging Face pipeline"}
        called = name or Path(source).name

        def all_labels(sentences: list[str]) -> Any:
            return x(sentences, top_k=None, function_to_apply="softmax")

        return Classifier(called, Answers(all_labels, facts["positive"], called), facts)
    if callable(x):
        own = getattr(x, "__name__", type(x).__name__)
        called = name or (own if own.isidentifier() else "classifier")
        return Classifier(called, Answers(x, positive, called), {"kind": "callable"})
    raise InputError(
        "is no classifier",
        found=type(x).__name__,
        valid="a callable from sentences to probabilities or labels, a pipeline, a path, joblib:PATH, transformers:NAME",
    )


def _from_estimator(x: Any, name: str, positive: Any, provenance: dict[str, Any]) -> Classifier:
    if not hasattr(x, "classes_"):
        raise InputError("was not fitted", where=name, found=type(x).__name__)
    classes = list(x.classes_)
    column = positive_column(classes, positive, name)

    def predict(sentences: list[str]) -> npt.ArrayLike:
        return np.asarray(x.predict_proba(sentences))[:, column]

    facts = {"positive": str(classes[column]), "labels": [str(label) for label in classes]}
    return Classifier(name, predict, {**provenance, **facts})


def _from_joblib(path: Path, name: str | None, positive: Any, allow_pickle: bool) -> Classifier:
    sha256 = sha256_file(path)  # which says if there is no such file
    if not allow_pickle:
        raise InputError(
            "is a pickle: loading it runs code from the file",
            where=path,
            hint="if you trust it, say allow_pickle=True (on the command line --allow-pickle)",
        )
    needed("classifiers", "joblib", "sklearn", purpose="reading a joblib file", where=path)
    import joblib

    with guarded(path, "cannot be loaded"):
        x = joblib.load(path)
    if not hasattr(x, "predict_proba"):
        problem = "holds no classifier with probabilities"
        raise InputError(problem, where=path, found=type(x).__name__)
    facts = {"kind": f"scikit-learn {type(x).__name__}", "file": path.name, "sha256": sha256}
    return _from_estimator(x, name or path.stem, positive, facts)


def _from_transformers(source: str, name: str | None, positive: Any) -> Classifier:
    torch, _ = needed(
        "encoders", "torch", "transformers", purpose="a Hugging Face model", where=source
    )
    from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

    problem = "is not a text-classification model that can be loaded"
    with guarded(source, problem):
        config = AutoConfig.from_pretrained(source, trust_remote_code=False)
    architectures = config.architectures or []
    if not any(a.endswith("ForSequenceClassification") for a in architectures):
        # Loading it all the same would put a head of random numbers on it.
        found = ", ".join(architectures) or "no architecture"
        raise InputError("is not a text-classification model", where=source, found=found)
    facts = _facts_of(config, source, positive) | {"kind": "Hugging Face model"}
    column = facts["labels"].index(facts["positive"])
    with guarded(source, problem):
        tokenizer = AutoTokenizer.from_pretrained(source, trust_remote_code=False)
        head = AutoModelForSequenceClassification
        model = head.from_pretrained(source, trust_remote_code=False, config=config)
    model.eval()

    def predict(sentences: list[str]) -> npt.ArrayLike:
        inputs = tokenizer(sentences, padding=True, truncation=True, return_tensors="pt")
        with torch.no_grad():
            return torch.softmax(model(**inputs).logits.double(), dim=1)[:, column].numpy()

    return Classifier(name or Path(source).name, predict, facts)


def _facts_of(config: Any, source: str, positive: Any) -> dict[str, Any]:
    """Return what is known of a Hugging Face model; refuse one that does not choose between classes."""
    labels = [str(config.id2label[i]) for i in range(config.num_labels)]
    if config.num_labels < 2 or config.problem_type in ("regression", "multi_label_classification"):
        found = config.problem_type or f"{config.num_labels} output"
        raise InputError("does not choose between classes", where=source, found=found)
    return {
        "source": source,
        "positive": labels[positive_column(labels, positive, source)],
        "labels": labels,
        "revision": getattr(config, "_commit_hash", None),
    }


def _from_predictions(path: Path, corpus: Any, name: str | None, positive: Any) -> Classifier:
    predictions = load_predictions(path, corpus, name=name, positive=positive)
    if len(predictions.classifiers) > 1:
        found = ", ".join(predictions.classifiers)
        hint = "read them all with load_predictions"
        raise InputError("holds several classifiers", where=path, found=found, hint=hint)
    (own,) = predictions.classifiers
    known = dict(zip(predictions.frame["sentence"], predictions.frame["probability"], strict=True))

    def look_up(sentences: list[str]) -> npt.ArrayLike:
        for sentence in sentences:
            if sentence not in known:
                problem, hint = "has no prediction for a sentence", nearest(sentence, known)
                raise InputError(problem, where=path, found=sentence, hint=hint)
        return [known[sentence] for sentence in sentences]

    return Classifier(own, look_up, dict(predictions.provenance[own]), frozenset(known))


# -- what classifiers of others answer ----------------------------------------------------------------


class Answers:
    """The probabilities of the positive class in what a function from sentences answers.

    Parameters
    ----------
    function : callable
        From a list of n sentences to n numbers, n rows of columns, n labels, or n lists of labels
        with scores.
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
        if hasattr(answer, "columns"):
            place = positive_column([*map(str, answer.columns)], self.positive, self.where)
            return self._column(answer.to_numpy(), place)
        first = answer[0] if isinstance(answer, list | tuple | np.ndarray) and len(answer) else None
        if isinstance(first, str):
            return self._of_labels([str(label) for label in answer])
        if isinstance(first, Mapping):
            raise InputError(
                "answers with the score of one label a sentence, which does not tell that of the positive class",
                where=self.where,
                found=str(dict(first)),
                hint="of a Hugging Face pipeline: hand over the pipeline itself, or call it with top_k=None",
            )
        if isinstance(first, list | tuple) and first and isinstance(first[0], Mapping):
            # Each sentence has its labels in an order of its own.
            scores = pd.DataFrame(
                [{each["label"]: each["score"] for each in row} for row in answer]
            )
            return self._column(
                scores.to_numpy(), positive_column(list(scores), self.positive, self.where)
            )
        return self._of_numbers(answer)

    def doubts(self) -> list[str]:
        """Say what is odd about the labels answered so far."""
        if self.positive is None or not self._labels or _is_among(self.positive, self._labels):
            return []
        labels, positive = some(sorted(self._labels)), str(self.positive)
        return [
            f"{self.where}: no sentence got the positive label {positive!r}; there are {labels}"
        ]

    def _of_numbers(self, answer: Any) -> npt.ArrayLike:
        with guarded(self.where, "does not return numbers", valid="one probability a sentence"):
            array = np.asarray(answer, dtype=np.float64)
        if array.ndim == 2 and array.shape[1] > 1:
            valid = [str(number) for number in range(array.shape[1])]
            if self.positive is None:
                raise InputError(
                    "does not say which column is that of the positive class",
                    where=self.where,
                    found=f"{len(valid)} columns without names",
                    valid=f"positive={' or '.join(valid)}",
                    hint="scikit-learn and most others have it last" if len(valid) == 2 else None,
                )
            column = checks.choice(str(self.positive), valid, "column", self.where)
            return self._column(array, int(column))
        if self.positive is not None:
            problem = (
                "is not for functions that return one probability a sentence: of the positive class"
            )
            raise InputError(problem, where="positive", found=self.positive)
        return array

    def _column(self, rows: npt.NDArray[Any], column: int) -> npt.ArrayLike:
        rows = np.asarray(rows, dtype=np.float64)
        off = np.flatnonzero(~(np.abs(rows.sum(axis=1) - 1) <= _ONE))
        if len(off):
            raise InputError(
                "the classes of a sentence do not sum to one",
                where=self.where,
                found=", ".join(f"{number:.4g}" for number in rows[off[0]]),
            )
        return rows[:, column]

    def _of_labels(self, labels: list[str]) -> npt.ArrayLike:
        self._labels |= set(labels)
        if self.positive is not None:
            return [float(_is_among(self.positive, (label,))) for label in labels]
        known = {*_POSITIVE, *_OTHERS}
        unlike = sorted({label for label in labels if label.strip().lower() not in known})
        if unlike:
            raise _unsaid(unlike, self.where)
        return [float(label.strip().lower() in _POSITIVE) for label in labels]


def positive_column(classes: Sequence[Any], positive: Any, where: str) -> int:
    """Return the column of the positive class: stated, or told from a name that leaves no doubt."""
    names = [str(c) for c in classes]
    if positive is not None:
        return names.index(checks.choice(str(positive), names, "class", where))
    numbers = [float(c) for c in classes if not isinstance(c, str)]
    if len(classes) == 2 and numbers in ([0.0, 1.0], [-1.0, 1.0]):
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
