"""Predicting all sentences in batches: what is finished is kept, and swapped classes are refused."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.classifiers.classifier import Classifier
from bayesbias.classifiers.loading import load_classifier
from bayesbias.classifiers.predictions import Predictions
from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import delimiter_of, guarded, whole_file
from bayesbias.core.formatting import in_one_line, number_of
from bayesbias.core.progress import ticking
from bayesbias.wordlists.occupations import SENTENCE_COLUMNS, Occupations, load_occupations

__all__ = ["ClassifierError", "score_sentences"]

# Sentences that no classifier of sentiment in English gets wrong, unless its classes are swapped.
_GOOD = (
    "This is wonderful.", "A great film, I love it.", "Excellent and delightful.", "What a beautiful success.",
    "I am very happy with it.", "The best I have ever seen.", "Superb, charming and funny.", "It is a joy.",
)  # fmt: skip
_BAD = (
    "This is terrible.", "An awful film, I hate it.", "Dreadful and boring.", "What an ugly failure.",
    "I am very unhappy with it.", "The worst I have ever seen.", "Bad, dull and stupid.", "It is a mess.",
)  # fmt: skip


class ClassifierError(InputError):
    """A classifier failed on some sentences. What was finished before is kept.

    Attributes
    ----------
    finished : pandas.DataFrame
        ``sentence, probability`` of the batches before.

    Examples
    --------
    >>> import bayesbias as bb
    >>> def broken(sentences):
    ...     raise OSError("no memory")
    >>> try:
    ...     bb.score_sentences(broken, progress=False)
    ... except ClassifierError as error:
    ...     print(len(error.finished))
    0
    """

    finished: pd.DataFrame


def score_sentences(
    classifier: Any,
    corpus: str | os.PathLike[str] | Mapping[str, Any] | Occupations = "occupations",
    *,
    name: str | None = None,
    control: bool = True,
    batch: int = 32,
    partial: str | os.PathLike[str] | None = None,
    check: bool = True,
    positive: Any = None,
    allow_pickle: bool = False,
    progress: bool | None = None,
) -> Predictions:
    """Predict the sentiment of all sentences of the test bench.

    Parameters
    ----------
    classifier
        What `load_classifier` takes. A file of predictions is read as it is by `load_predictions`.
    corpus
        What `load_occupations` takes.
    name : str, optional
        A short name for the classifier.
    control : bool
        Whether to predict the control sentences too.
    batch : int
        Sentences handed to the classifier at a time.
    partial : str or path, optional
        A file (``.csv`` or ``.tsv``) to keep finished batches in. Where it is there already, its
        sentences are not predicted again; it is removed when all is done.
    check : bool
        Whether to hand the classifier sixteen plain sentences, after the others, and to refuse its
        predictions if it takes the good ones for bad and the bad ones for good: its classes are
        swapped.
    positive, allow_pickle
        See `load_classifier`.
    progress : bool, optional
        A bar on stderr for what takes more than two seconds; by default on terminals only.

    Returns
    -------
    Predictions

    Raises
    ------
    ClassifierError
        Where the classifier fails on a batch or returns what are no probabilities. Its ``finished``
        holds the batches before, and `partial` keeps them.
    InputError
        For what is no classifier or corpus.

    Examples
    --------
    >>> score_sentences(lambda sentences: [0.4 if "truck" in s else 0.6 for s in sentences], name="toy")
    <Predictions: 800 sentences and 40 controls by toy (mean 0.590)>
    """
    checks.count(batch, "batch")
    if name is not None:
        checks.text(name, "name")
    occupations = load_occupations(corpus)
    model = load_classifier(
        classifier, name=name, positive=positive, allow_pickle=allow_pickle, corpus=occupations
    )
    frame = occupations.sentences(control=control)
    notes: list[str] = []
    if model.only is not None:
        known = frame["sentence"].isin(model.only)
        if control and not known[frame["control"]].any():
            frame = frame[known | ~frame["control"]]
            notes.append("no predictions for the control sentences")
    sentences = frame["sentence"].tolist()
    kept = None if partial is None else Path(checks.path(partial, "partial"))
    done = {} if kept is None else _read_partial(kept, model)
    left = [s for s in sentences if s not in done]
    if kept is not None and len(left) < len(sentences):
        taken = number_of(len(sentences) - len(left), "prediction")
        notes.append(f"taken from {kept.name}: {taken}")
    with ticking(f"predicting with {model.name}", len(left), progress) as tick:
        for first in range(0, len(left), batch):
            part = left[first : first + batch]
            try:
                done |= dict(zip(part, model(part).tolist(), strict=True))
            except Exception as error:  # somebody else's code may raise anything
                place = f"sentences {first + 1} to {first + len(part)} of {len(left)}"
                ours = isinstance(error, InputError)
                reason = str(error) if ours else f"{type(error).__name__}: {error}"
                raise _failed(f"failed on {place}: {reason}", model, done, kept) from error
            if kept is not None:
                _write_partial(kept, model, done)
            tick(len(part))
    if check and model.only is None:
        notes += _check_classes(model, done, kept)
    notes += model.weaknesses()
    frame = frame.assign(classifier=model.name, probability=[done[s] for s in sentences])
    if kept is not None:
        kept.unlink(missing_ok=True)
    frame = frame[["classifier", *SENTENCE_COLUMNS, "probability"]].reset_index(drop=True)
    return Predictions(frame, occupations, {model.name: dict(model.provenance)}, tuple(notes))


def _failed(
    problem: str, model: Classifier, done: Mapping[str, float], kept: Path | None, hint: str = ""
) -> ClassifierError:
    """Return an error that holds what was finished, and says where it is."""
    if done:
        finished = number_of(len(done), "finished prediction")
        where = "with partial=FILE a second run continues" if kept is None else f"kept in {kept}"
        hint = "; ".join(filter(None, (hint, f"{finished}: {where}")))
    name = f"classifier {model.name!r}"
    error = ClassifierError(in_one_line(problem), where=name, hint=hint or None)
    error.finished = _finished(done)
    return error


def _owner(model: Classifier) -> str:
    sha256 = model.provenance.get("sha256")
    return f"# finished by: {model.name}" + (f" {sha256[:16]}" if sha256 else "")


def _finished(done: Mapping[str, float]) -> pd.DataFrame:
    return pd.DataFrame({"sentence": list(done), "probability": list(done.values())})


def _write_partial(path: Path, model: Classifier, done: Mapping[str, float]) -> None:
    with whole_file(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        file.write(f"{_owner(model)}\n")
        _finished(done).to_csv(file, sep=delimiter_of(path), index=False)


def _read_partial(path: Path, model: Classifier) -> dict[str, float]:
    """Return the finished predictions of an earlier run; none if there are none."""
    mark = delimiter_of(path)
    if not os.path.exists(path):
        return {}
    with guarded(path, "does not hold unfinished predictions"):
        with open(path, encoding="utf-8") as file:
            owner = file.readline().rstrip("\n")
            frame = pd.read_csv(file, sep=mark, keep_default_na=False)
        done = dict(zip(frame["sentence"], frame["probability"].astype(float), strict=True))
    if owner != _owner(model):
        problem = "does not hold unfinished predictions of this classifier"
        hint = "name another file, or remove this one"
        raise InputError(problem, where=path, found=owner, valid=_owner(model), hint=hint)
    return done


def _check_classes(model: Classifier, done: Mapping[str, float], kept: Path | None) -> list[str]:
    """Refuse a classifier that takes good for bad; return notes."""
    try:
        good, bad = model(list(_GOOD)), model(list(_BAD))
    except Exception as error:  # a table of known sentences, say, which is no fault
        reason = f"{type(error).__name__}: {error}"
        return [f"whether the classes are swapped could not be checked: {reason}"]
    wins = (good[:, None] > bad).mean() + 0.5 * (good[:, None] == bad).mean()
    if wins <= 0.1:
        problem = (
            f"seems to have its classes swapped: it rates good sentences {np.mean(good):.2f} on average "
            f"and bad ones {np.mean(bad):.2f}"
        )
        hint = "hand over the probability of the positive class, or say check=False (--no-check)"
        raise _failed(problem, model, done, kept, hint)
    return []
