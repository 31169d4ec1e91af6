"""A sentiment classifier as a value, its probabilities checked, and the folder that keeps a trained one.

A classifier is a name and a function from sentences to the probability that each is positive. A
reference classifier is kept as JSON and safetensors, without any pickle.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesbias.classifiers.reference import REFERENCE_KINDS, BagOfWords, BiLstm
from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import guarded, read_json, sha256_file, whole_file
from bayesbias.core.formatting import number_of

__all__ = ["Classifier"]

_SETTINGS, _WEIGHTS = "classifier.json", "weights.safetensors"
_LITTLE = 0.5  # share of the training text whose words have vectors
_ROUNDING = 1e-6  # a softmax in single precision may end this far above 1


@dataclass(frozen=True, eq=False, repr=False)
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
    only : frozenset of str, optional
        The only sentences it can predict, where it is a file of predictions.

    Examples
    --------
    >>> happy = Classifier("happy", lambda sentences: [0.9 if "happy" in s else 0.5 for s in sentences])
    >>> happy(["a happy end", "an end"])
    array([0.9, 0.5])
    """

    name: str
    predict: Callable[[list[str]], npt.ArrayLike]
    provenance: dict[str, Any] = field(default_factory=dict)
    only: frozenset[str] | None = None

    def __call__(self, sentences: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the positive-class probability of each sentence, checked.

        Raises
        ------
        InputError
            Where there are more or fewer probabilities than sentences, or one is no number in [0,
            1].
        """
        sentences = checks.several(sentences, "sentence", "sentences")
        return checked_probabilities(
            self.predict(list(sentences)), sentences, f"classifier {self.name!r}"
        )

    def unknown_words(self, sentences: Iterable[str]) -> tuple[str, ...] | None:
        """Return the words the classifier knows nothing about; None where it cannot tell.

        Only the reference classifiers can tell. Sentences that differ in unknown words alone get
        the same probability.
        """
        tell = getattr(self.predict, "unknown", None)
        sentences = checks.several(sentences, "sentence", "sentences")
        return None if tell is None else tuple(tell(sentences))

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write a reference classifier as JSON and safetensors; `load_classifier` reads the folder."""
        model = self.predict
        if not isinstance(model, BagOfWords | BiLstm):
            valid = "classifiers made by train_bow and train_bilstm"
            raise InputError("cannot be saved here", where=f"classifier {self.name!r}", valid=valid)
        return _write_folder(self, model, Path(folder))

    def weaknesses(self) -> list[str]:
        """Say what is known to be weak about it.

        Word vectors that hold little of the training data; a third class; a positive label that was
        never answered.
        """
        weaknesses = list(getattr(self.predict, "doubts", list)())
        coverage = self.provenance.get("coverage")
        if coverage and coverage["tokens_with_vector"] < _LITTLE:
            weaknesses.append(
                f"{self.name}: the word vectors hold {coverage['words_with_vector']:,} of the {coverage['words']:,} words of "
                f"its training data, {coverage['tokens_with_vector']:.0%} of the text; it learned the others from that text alone"
            )
        positive, labels = self.provenance.get("positive"), self.provenance.get("labels", ())
        others = [label for label in labels if label != positive]
        if len(others) > 1:
            weaknesses.append(
                f"{self.name} has {len(others) + 1} classes; the probability is that of {positive}, so "
                f"that {' and '.join(others)} count alike as not positive"
            )
        return weaknesses

    def __repr__(self) -> str:
        kind = self.provenance.get("kind", "")
        known = f", {len(self.only)} sentences" if self.only is not None else ""
        accuracy = self.provenance.get("dev_accuracy")
        dev = f", development accuracy {accuracy:.4f}" if accuracy is not None else ""
        return f"<Classifier {self.name!r}{': ' + kind if kind else ''}{known}{dev}>"


def checked_probabilities(
    values: Any, sentences: Sequence[str], where: str, rows: Sequence[str] | None = None
) -> npt.NDArray[np.float64]:
    """Return probabilities as float64, or say which of them is none."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    with guarded(where, "does not return numbers", valid="one probability a sentence"):
        array = np.asarray(values, dtype=np.float64)
    if array.shape != (len(sentences),):
        raise InputError(
            "must return one number a sentence",
            where=where,
            found=f"an array of shape {array.shape}",
            hint="hand over the column of the positive class" if array.ndim == 2 else None,
        )
    wrong = np.flatnonzero(~((array >= -_ROUNDING) & (array <= 1 + _ROUNDING)))
    if len(wrong):
        first = int(wrong[0])
        raise InputError(
            "is not a probability" if np.isfinite(array[first]) else "is not a number",
            where=f"{where}, {rows[first] if rows is not None else repr(sentences[first])}",
            found=float(array[first]),
            valid="a number in [0, 1]",
            hint=f"{number_of(len(wrong), 'such prediction')}; scores and logits are no probabilities",
        )
    return np.clip(array, 0.0, 1.0)


def _write_folder(classifier: Classifier, model: BagOfWords | BiLstm, folder: Path) -> Path:
    from safetensors.numpy import save_file

    if os.path.exists(folder) and not os.path.isdir(folder):
        raise InputError("is a file; a classifier is written into a folder", where=folder)
    with whole_file(folder / _WEIGHTS) as temporary:
        save_file(model.weights, str(temporary))
    kept = {k: v for k, v in classifier.provenance.items() if k not in ("kind", "sha256", "folder")}
    description = {
        "schema": 1,
        "name": classifier.name,
        "kind": classifier.provenance["kind"],
        "weights_sha256": sha256_file(folder / _WEIGHTS),
        "settings": model.settings,
        "provenance": kept,
        "vocabulary": sorted(model.vocabulary, key=model.vocabulary.__getitem__),
    }
    with whole_file(folder / _SETTINGS) as temporary:
        text = json.dumps(description, ensure_ascii=False, indent=1)
        temporary.write_text(text, encoding="utf-8")
    return folder


def open_folder(folder: Path, name: str | None = None) -> Classifier:
    """Read a classifier that `Classifier.save` wrote."""
    from safetensors.numpy import load_file

    where = folder / _SETTINGS
    if not os.path.isfile(where):
        huggingface = os.path.isfile(folder / "config.json")
        raise InputError(
            f"is not the folder of a classifier: it lacks {_SETTINGS}",
            where=folder,
            hint=f"for a Hugging Face model say transformers:{folder}" if huggingface else None,
        )
    description = read_json(where)
    checks.schema(description, 1, where)
    checks.choice(description["kind"], REFERENCE_KINDS, "kind of classifier", where)
    sha256 = sha256_file(folder / _WEIGHTS) if os.path.isfile(folder / _WEIGHTS) else None
    if sha256 != description["weights_sha256"]:
        raise InputError(
            f"does not belong to {_SETTINGS}" if sha256 else "is not there",
            where=folder / _WEIGHTS,
        )
    kind = REFERENCE_KINDS[description["kind"]]
    with guarded(folder / _WEIGHTS, "is damaged"):
        weights = load_file(str(folder / _WEIGHTS))
    words = {word: row for row, word in enumerate(description["vocabulary"])}
    model = kind(words, weights, description["settings"])
    about = {"kind": description["kind"], **description["provenance"]}
    about |= {"sha256": sha256, "folder": folder.name}
    return Classifier(name or description["name"], model, about)
