"""A sentiment classifier as a value: made of almost anything that predicts sentiment, checked, saved and read.

A classifier is a name and a function from sentences to the probability that each is positive. Which class
is positive is stated, or told from a name that leaves no doubt; never guessed. A reference classifier is
kept as JSON and safetensors, without any pickle.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from bayesbias.classifiers.reference import REFERENCE_KINDS, BagOfWords, BiLstm
from bayesbias.core import InputError, checks, packages
from bayesbias.core.files import guarded, path_of, read_json, sha256_file, whole_file, write_whole

MADE_FILES = _SETTINGS, _WEIGHTS = "classifier.json", "weights.safetensors"
_ROUNDING = 1e-6  # a softmax in single precision may end this far above 1
_POSITIVE = ("positive", "pos")
_OTHERS = ("negative", "neg", "neutral", "neu", "mixed")
_ONE = 1e-3  # how far from one the probabilities of all classes may sum, in half precision


@dataclass(frozen=True, eq=False)
class Classifier:
    """A name, and a function from sentences to positive-class probabilities.

    Parameters
    ----------
    name : str
        A short name, for tables and figures.
    predict : callable
        From a list of n sentences to n probabilities that each is positive.
    provenance : dict
        Where it comes from; ``sha256`` of its file, where it has one.

    Examples
    --------
    >>> happy = Classifier("happy", lambda sentences: [0.9 if "happy" in s else 0.5 for s in sentences])
    >>> happy(["a happy end", "an end"])
    array([0.9, 0.5])
    """

    name: str
    predict: Callable[[list[str]], npt.ArrayLike]
    provenance: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        checks.line(self.name, "name of the classifier")

    def __call__(self, sentences: Sequence[str]) -> np.ndarray:
        """Return the positive-class probability of each sentence, checked.

        Raises
        ------
        InputError
            If there are more or fewer probabilities than sentences, or one is no number in [0, 1].
        """
        sentences = checks.several(sentences, "sentences")
        return checked_probabilities(
            self.predict(list(sentences)), sentences, f"classifier {self.name!r}"
        )

    def unknown_words(self, sentences: Iterable[str]) -> tuple[str, ...] | None:
        """Return the words that a reference classifier never saw; None of another.

        Sentences that differ in unknown words alone get the same probability.
        """
        model = self.predict
        if not isinstance(model, BagOfWords | BiLstm):
            return None
        words = dict.fromkeys(word for text in sentences for word in model.tokens(text))
        return tuple(word for word in words if word not in model.vocabulary)

    def save(self, folder: checks.FilePath) -> Path:
        """Write a reference classifier to a folder that `load_classifier` reads."""
        from safetensors.numpy import save_file

        model = self.predict
        if not isinstance(model, BagOfWords | BiLstm):
            raise checks.wrong_kind(model, self.name, "a classifier of train_bow or train_bilstm")
        folder = Path(folder)
        with whole_file(folder / _WEIGHTS) as temporary:
            save_file(model.weights, str(temporary))
        about = {k: v for k, v in self.provenance.items() if k not in ("kind", "sha256", "folder")}
        description = {
            "schema": 1,
            "name": self.name,
            "kind": self.provenance["kind"],
            "weights_sha256": sha256_file(folder / _WEIGHTS),
            "settings": model.settings,
            "provenance": about,
            "vocabulary": sorted(model.vocabulary, key=model.vocabulary.__getitem__),
        }
        write_whole(folder / _SETTINGS, json.dumps(description, ensure_ascii=False, indent=1))
        return folder

    def __repr__(self) -> str:
        kind = self.provenance.get("kind", "")
        accuracy = self.provenance.get("dev_accuracy")
        dev = f", development accuracy {accuracy:.4f}" if accuracy is not None else ""
        return f"<Classifier {self.name!r}{': ' + kind if kind else ''}{dev}>"


def checked_probabilities(
    values: Any, sentences: Sequence[str], where: str, rows: Sequence[str] | None = None
) -> np.ndarray:
    """Return probabilities as float64, or say which of them is none."""
    with guarded(where, "one probability for each sentence"):
        array = np.asarray(values, dtype=float)
    if array.shape != (len(sentences),):
        problem = f"expected one probability for each sentence, got shape {array.shape}"
        raise InputError(problem, where=where)
    wrong = np.flatnonzero(~((array >= -_ROUNDING) & (array <= 1 + _ROUNDING)))
    if len(wrong):
        first = int(wrong[0])
        raise InputError(
            "expected a probability from 0 to 1",
            where=f"{where}, {rows[first] if rows is not None else repr(sentences[first])}",
            found=float(array[first]),
            hint="scores and logits are not probabilities",
        )
    return np.clip(array, 0.0, 1.0)


def open_folder(folder: Path, name: str | None = None) -> Classifier:
    """Read a classifier that `Classifier.save` wrote."""
    from safetensors.numpy import load_file

    where, weights = folder / _SETTINGS, folder / _WEIGHTS
    if not where.is_file():
        problem = f"expected the folder of a classifier, got one without {_SETTINGS}"
        hint = f"name a Hugging Face model as transformers:{folder}"
        raise InputError(problem, where=folder, hint=hint)
    description = read_json(where)
    checks.schema(description, 1, where)
    checks.choice(description["kind"], REFERENCE_KINDS, f"{where}, kind")
    sha256 = sha256_file(weights)
    if sha256 != description["weights_sha256"]:
        raise InputError(f"expected the weights that {_SETTINGS} names, got others", where=weights)
    words = {word: row for row, word in enumerate(description["vocabulary"])}
    kind = REFERENCE_KINDS[description["kind"]]
    model = kind(words, load_file(str(weights)), description["settings"])
    about = {"kind": description["kind"], **description["provenance"]}
    about |= {"sha256": sha256, "folder": folder.name}
    return Classifier(name or description["name"], model, about)


def load_classifier(
    x: Any, *, name: str | None = None, positive: Any = None, allow_pickle: bool = False
) -> Classifier:
    """Make a classifier of almost anything that predicts sentiment.

    Parameters
    ----------
    x : Classifier, callable, pipeline of scikit-learn or Hugging Face, str or path
        * A callable from a list of n sentences to n positive-class probabilities, to n rows of a probability for each class
          (an array, or a frame with their names), to n labels, or to n lists of labels with scores,
          as pipelines of transformers answer with ``top_k=None``.
        * Such a pipeline itself, for text classification; a fitted pipeline of scikit-learn with ``predict_proba``.
        * The folder of a classifier made by `train_bow` or `train_bilstm`.
        * ``"joblib:PATH"``, a pipeline saved with joblib, which is a pickle; ``"transformers:NAME_OR_PATH"``, a Hugging Face
          text-classification model (extra ``encoders``).
    name : str, optional
        A short name, for tables and figures.
    positive : optional
        Which class is positive, by its label, if it is called neither "positive" nor, of two
        numbers, 1. Of columns without names in an array: the column, counted from 0.
    allow_pickle : bool, default False
        Loading a pickle runs code from the file: allow it for files you trust.

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
        return x if name is None else replace(x, name=name)
    if isinstance(x, str | os.PathLike):
        text = os.fspath(x)
        scheme, _, rest = text.partition(":")
        if scheme == "transformers" and rest:
            return _from_transformers(rest, name, positive)
        path = path_of(rest if scheme == "joblib" and rest else text)
        if path.is_dir():
            return open_folder(path, name)
        if scheme == "joblib" or path.suffix in (".joblib", ".pkl", ".pickle"):
            return _from_joblib(path, name, positive, allow_pickle)
        problem = (
            "expected a folder made by `bayesbias sentiment train`, joblib:PATH, or "
            "transformers:NAME_OR_PATH"
        )
        hint = "read a file of predictions with load_predictions (--predictions)"
        raise InputError(problem, where="classifier", found=text, hint=hint)
    if hasattr(x, "predict_proba"):
        return _from_estimator(x, name or type(x).__name__, positive, {})
    if not callable(x):
        raise checks.wrong_kind(
            x, "classifier", "a callable from sentences to probabilities, a pipeline, or a path"
        )
    if getattr(x, "task", None) == "text-classification" and hasattr(x, "model"):
        config = x.model.config
        source = str(getattr(config, "_name_or_path", "") or type(x.model).__name__)
        facts = _facts_of(config, source, positive) | {"kind": "Hugging Face pipeline"}
        called, positive = name or Path(source).name, facts["positive"]

        def answer(sentences: list[str]) -> Any:
            return x(sentences, top_k=None, function_to_apply="softmax")

    else:
        own, answer = getattr(x, "__name__", type(x).__name__), x
        called = name or (own if own.isidentifier() else "classifier")
        facts = {"kind": "callable"} | ({} if positive is None else {"positive": str(positive)})

    def predict(sentences: list[str]) -> npt.ArrayLike:
        return _of_positive(answer(sentences), positive, called)

    return Classifier(called, predict, facts)


def _from_estimator(x: Any, name: str, positive: Any, provenance: dict[str, Any]) -> Classifier:
    if not hasattr(x, "classes_"):
        raise InputError("expected a fitted classifier, got one not fitted", where=name)
    classes = list(x.classes_)
    column = positive_column(classes, positive, name)

    def predict(sentences: list[str]) -> npt.ArrayLike:
        return np.asarray(x.predict_proba(sentences))[:, column]

    facts = {"positive": str(classes[column]), "labels": [str(label) for label in classes]}
    kind = f"scikit-learn {type(x).__name__}"
    return Classifier(name, predict, {"kind": kind, **provenance, **facts})


def _from_joblib(path: Path, name: str | None, positive: Any, allow_pickle: bool) -> Classifier:
    sha256 = sha256_file(path)  # which says if there is no such file
    if not allow_pickle:
        problem = "expected a file that runs no code, got a pickle"
        hint = "if you trust it, say allow_pickle=True (--allow-pickle)"
        raise InputError(problem, where=path, hint=hint)
    packages.needed("classifiers", "joblib", "sklearn", purpose="reading a joblib file", where=path)
    import joblib

    with guarded(path, "a pipeline that joblib can load"):
        x = joblib.load(path)
    if not hasattr(x, "predict_proba"):
        raise checks.wrong_kind(x, path, "a classifier with predict_proba")
    return _from_estimator(x, name or path.stem, positive, {"file": path.name, "sha256": sha256})


def _from_transformers(source: str, name: str | None, positive: Any) -> Classifier:
    torch, _ = packages.needed(
        "encoders", "torch", "transformers", purpose="a Hugging Face model", where=source
    )
    from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

    expected = "a text-classification model"
    with guarded(source, expected):
        config = AutoConfig.from_pretrained(source, trust_remote_code=False)
    architectures = config.architectures or []
    if not any(a.endswith("ForSequenceClassification") for a in architectures):
        # Loading it all the same would put a head of random numbers on it.
        found = ", ".join(architectures) or "no architecture"
        raise InputError(f"expected {expected}, got {found}", where=source)
    facts = _facts_of(config, source, positive) | {"kind": "Hugging Face model"}
    column = facts["labels"].index(facts["positive"])
    with guarded(source, expected):
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
        problem = f"expected a model that chooses between classes, got {found}"
        raise InputError(problem, where=source)
    return {
        "source": source,
        "positive": labels[positive_column(labels, positive, source)],
        "labels": labels,
        "revision": getattr(config, "_commit_hash", None),
    }


def _of_positive(answer: Any, positive: Any, where: str) -> npt.ArrayLike:
    """Return the probabilities of the positive class in what a function from sentences answered.

    That is n numbers, n rows of columns, n labels, or n lists of labels with scores.
    """
    if hasattr(answer, "detach"):
        answer = answer.detach().cpu().numpy()
    first = answer[0] if isinstance(answer, list | tuple | np.ndarray) and len(answer) else None
    if isinstance(first, str):
        labels = [str(label).strip().lower() for label in answer]
        if positive is None and (unlike := sorted({*labels} - {*_POSITIVE, *_OTHERS})):
            raise _unsaid([label for label in answer if label.strip().lower() in unlike], where)
        known = _POSITIVE if positive is None else (str(positive).strip().lower(),)
        return [float(label in known) for label in labels]
    if isinstance(first, Mapping):
        problem = f"expected the scores of all labels for each sentence, got one, {dict(first)}"
        hint = "give the Hugging Face pipeline itself, or call it with top_k=None"
        raise InputError(problem, where=where, hint=hint)
    if isinstance(first, list | tuple) and first and isinstance(first[0], Mapping):
        # Each sentence has its labels in an order of its own.
        answer = pd.DataFrame([{each["label"]: each["score"] for each in row} for row in answer])
    if hasattr(answer, "columns"):
        column = positive_column([*map(str, answer.columns)], positive, where)
        rows = answer.to_numpy(dtype=float)
    else:
        with guarded(where, "one probability for each sentence"):
            rows = np.asarray(answer, dtype=float)
        if rows.ndim != 2 or rows.shape[1] < 2:
            if positive is not None:
                problem = "expected no class beside one probability for each sentence"
                raise InputError(problem, where="positive", found=positive)
            return rows
        valid = [str(number) for number in range(rows.shape[1])]
        if positive is None:
            problem = f"expected one probability for each sentence, got {len(valid)} columns"
            hint = f"name the column of the positive class: positive={' or '.join(valid)}"
            raise InputError(problem, where=where, hint=hint)
        column = int(checks.choice(str(positive), valid, "positive"))
    off = np.flatnonzero(~(np.abs(rows.sum(axis=1) - 1) <= _ONE))
    if len(off):
        found = ", ".join(f"{number:.4g}" for number in rows[off[0]])
        raise InputError(f"expected probabilities that sum to 1, got {found}", where=where)
    return rows[:, column]


def positive_column(classes: Sequence[Any], positive: Any, where: str) -> int:
    """Return the column of the positive class: stated, or told from a name that leaves no doubt."""
    names = [str(c) for c in classes]
    if positive is not None:
        return names.index(checks.choice(str(positive), names, f"{where}, positive"))
    numbers = [float(c) for c in classes if not isinstance(c, str)]
    if len(classes) == 2 and numbers in ([0.0, 1.0], [-1.0, 1.0]):
        return 1
    positives = [i for i, label in enumerate(names) if label.strip().lower() in _POSITIVE]
    if len(positives) == 1:
        return positives[0]
    raise _unsaid(names, where)


def _unsaid(names: Iterable[str], where: str) -> InputError:
    names = checks.once(names)
    problem = f"expected the name of the positive class, got {', '.join(names)}"
    hint = f"state it, such as positive={names[-1]!r} (--positive {names[-1]})"
    return InputError(problem, where=where, hint=hint)
