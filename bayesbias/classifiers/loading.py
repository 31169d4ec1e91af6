"""A classifier made of almost anything that predicts sentiment.

A callable, a fitted scikit-learn pipeline, a pickle of one, a Hugging Face model or pipeline, a folder or a file of
predictions. Which class is positive is stated, or told from a name that leaves no doubt; never guessed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesbias.classifiers import classifier
from bayesbias.classifiers.classifier import Classifier
from bayesbias.classifiers.outputs import Answers, positive_column
from bayesbias.classifiers.prediction_files import Predictions, load_predictions
from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.files import lies_at, path_of, sha256_file, state_of
from bayesbias.core.packages import needed

__all__ = ["load_classifier"]


def from_estimator(x: Any, name: str, positive: Any, provenance: dict[str, Any]) -> Classifier:
    """Make a classifier of a fitted scikit-learn pipeline (anything with predict_proba and classes_)."""
    try:
        classes = list(x.classes_)
    except AttributeError:
        raise InputError(
            "has no classes",
            where=name,
            found=f"a {type(x).__name__} that was not fitted",
            valid="a fitted classifier",
        ) from None
    column = positive_column(classes, positive, name)

    def predict(sentences: list[str]) -> npt.ArrayLike:
        return np.asarray(x.predict_proba(sentences))[:, column]

    facts = {"positive": str(classes[column]), "labels": [str(label) for label in classes]}
    return Classifier(name, predict, {**provenance, **facts})


def from_joblib(path: Path, name: str | None, positive: Any, allow_pickle: bool) -> Classifier:
    """Read a pipeline from a joblib file or pickle."""
    state_of(path)  # which says what is the matter
    if not allow_pickle:
        raise InputError(
            "is a pickle: loading it runs code from the file",
            where=path,
            hint="if you trust it, say allow_pickle=True (on the command line --allow-pickle)",
        )
    needed("classifiers", "joblib", "sklearn", purpose="reading a joblib file", where=path)
    import joblib

    try:
        x = joblib.load(path)
    except Exception as error:  # a pickle may raise anything
        raise InputError(f"cannot be loaded: {type(error).__name__}: {error}", where=path) from error
    if not hasattr(x, "predict_proba"):
        raise InputError(
            "holds no classifier with probabilities",
            where=path,
            found=type(x).__name__,
            valid="a fitted scikit-learn pipeline with predict_proba",
        )
    facts = {"kind": f"scikit-learn {type(x).__name__}", "file": path.name, "sha256": sha256_file(path)}
    return from_estimator(x, name or path.stem, positive, facts)


def from_transformers(source: str, name: str | None, positive: Any) -> Classifier:
    """Load a Hugging Face text-classification model, from the hub or a folder."""
    torch, _ = needed("encoders", "torch", "transformers", purpose="a Hugging Face model", where=source)
    from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

    try:
        config = AutoConfig.from_pretrained(source, trust_remote_code=False)
    except Exception as error:  # from damaged files to a broken line: the libraries raise anything
        raise _not_loaded(source, error) from error
    architectures = config.architectures or []
    if not any(a.endswith("ForSequenceClassification") for a in architectures):
        # Loading it all the same would put a head of random numbers on it.
        raise InputError(
            "is not a text-classification model",
            where=source,
            found=", ".join(architectures) or "no architecture",
            valid="a model fine-tuned for sequence classification",
        )
    labels = labels_of(config, source)
    column = positive_column(labels, positive, source)
    try:
        tokenizer = AutoTokenizer.from_pretrained(source, trust_remote_code=False)
        model = AutoModelForSequenceClassification.from_pretrained(
            source, trust_remote_code=False, config=config
        )
    except Exception as error:
        raise _not_loaded(source, error) from error
    model.eval()

    def predict(sentences: list[str]) -> npt.ArrayLike:
        inputs = tokenizer(sentences, padding=True, truncation=True, return_tensors="pt")
        with torch.no_grad():
            return torch.softmax(model(**inputs).logits.double(), dim=1)[:, column].numpy()

    facts = {
        "kind": "Hugging Face model",
        "source": source,
        "positive": labels[column],
        "labels": labels,
        "revision": getattr(config, "_commit_hash", None),
    }
    return Classifier(name or Path(source).name, predict, facts)


def _not_loaded(source: str, error: Exception) -> InputError:
    reason = str(error).strip().splitlines()
    return InputError(
        f"cannot be loaded: {reason[0] if reason else type(error).__name__}",
        where=source,
        valid="the folder of a model, or the name of one on the Hugging Face hub",
        hint="models that bring code of their own are refused" if "trust_remote_code" in str(error) else None,
    )


def from_pipeline(x: Any, name: str | None, positive: Any) -> Classifier:
    """Make a classifier of a text-classification pipeline of Hugging Face's transformers."""
    config = x.model.config
    source = str(getattr(config, "_name_or_path", "") or type(x.model).__name__)
    labels = labels_of(config, source)
    column = positive_column(labels, positive, source)

    def all_labels(sentences: list[str]) -> Any:
        return x(sentences, top_k=None, function_to_apply="softmax")

    facts = {
        "kind": "Hugging Face pipeline",
        "source": source,
        "positive": labels[column],
        "labels": labels,
        "revision": getattr(config, "_commit_hash", None),
    }
    called = name or Path(source).name
    return Classifier(called, Answers(all_labels, labels[column], called), facts)


def labels_of(config: Any, source: str) -> list[str]:
    """Return the labels of a Hugging Face model by its configuration; refuse one that does not choose between classes."""
    labels = [str(config.id2label[i]) for i in range(config.num_labels)]
    if config.num_labels < 2 or config.problem_type in ("regression", "multi_label_classification"):
        raise InputError(
            "does not choose between classes",
            where=source,
            found=config.problem_type or f"{config.num_labels} output",
            valid="a model with two or more exclusive classes",
        )
    return labels


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
        A callable from a list of n sentences to n positive-class probabilities, to n rows of a probability for each class
        (an array, or a frame with their names), to n labels, or to n lists of labels with scores, as
        pipelines of transformers answer with ``top_k=None``; such a pipeline itself, for text classification; a fitted
        pipeline of scikit-learn that takes sentences and has ``predict_proba``; the folder of a classifier made by
        `train_bow` or `train_bilstm`; a file of predictions (see `load_predictions`); ``"joblib:PATH"``, a pipeline saved
        with joblib, which is a pickle; ``"transformers:NAME_OR_PATH"``, a Hugging Face text-classification model (extra
        ``encoders``).
    name : str, optional
        A short name, for tables and figures.
    positive : optional
        Which class is positive, by its label, where it is called neither "positive" nor, of two numbers, 1.
        It is never guessed. Of columns without names, in a file or an array: the column, counted from 0.
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
        Where there is no such thing, the positive class is in doubt, or an extra is not installed.

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
        text = checks.path(x, "x", "a name, or the path of a file or folder")
        scheme, colon, rest = text.partition(":")
        if colon and scheme in ("joblib", "transformers"):
            if not rest:
                raise InputError(
                    "names nothing",
                    found=text,
                    valid=f"{scheme}:{'PATH' if scheme == 'joblib' else 'NAME_OR_PATH'}",
                )
            if scheme == "joblib":
                return from_joblib(path_of(rest), name, positive, allow_pickle)
            return from_transformers(rest, name, positive)
        path = Path(os.path.expanduser(text))
        if os.path.isdir(path):
            return classifier.open_folder(path, name)
        there = lies_at(path)
        if path.suffix in (".joblib", ".pkl", ".pickle") and there:
            return from_joblib(path, name, positive, allow_pickle)
        if there:
            return _from_predictions(load_predictions(path, corpus, name=name, positive=positive), path)
        raise InputError(
            "no such classifier",
            found=text,
            valid="a file of predictions, a folder made by `bayesbias sentiment train`, joblib:PATH, transformers:NAME_OR_PATH",
            hint=nearest(scheme, ("joblib", "transformers")) if colon else None,
        )
    if hasattr(x, "predict_proba"):
        kind = f"scikit-learn {type(x).__name__}"
        return from_estimator(x, name or type(x).__name__, positive, {"kind": kind})
    if callable(x) and getattr(x, "task", None) == "text-classification" and hasattr(x, "model"):
        return from_pipeline(x, name, positive)
    if callable(x):
        own = getattr(x, "__name__", type(x).__name__)
        called = name or (own if own.isidentifier() else "classifier")
        return Classifier(called, Answers(x, positive, called), {"kind": "callable"})
    raise InputError(
        "is no classifier",
        found=type(x).__name__,
        valid="a callable from sentences to probabilities or labels, a fitted pipeline with predict_proba, a pipeline of "
        "transformers, a path, joblib:PATH, transformers:NAME",
    )


def _from_predictions(predictions: Predictions, path: Path) -> Classifier:
    if len(predictions.classifiers) > 1:
        raise InputError(
            "holds several classifiers",
            where=path,
            found=", ".join(predictions.classifiers),
            valid="one",
            hint="read them all with load_predictions",
        )
    name = predictions.classifiers[0]
    known = dict(zip(predictions.frame["sentence"], predictions.frame["probability"], strict=True))

    def look_up(sentences: list[str]) -> npt.ArrayLike:
        lacking = [s for s in sentences if s not in known]
        if lacking:
            raise InputError(
                "has no prediction for a sentence",
                where=path,
                found=lacking[0],
                hint=nearest(lacking[0], known),
            )
        return [known[s] for s in sentences]

    return Classifier(name, look_up, dict(predictions.provenance[name]), frozenset(known))
