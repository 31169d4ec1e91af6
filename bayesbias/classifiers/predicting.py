"""Predicting all sentences in batches: what is finished is kept, and swapped classes are refused."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesbias.classifiers.classifier import Classifier, checked_probabilities
from bayesbias.classifiers.loading import load_classifier
from bayesbias.classifiers.prediction_files import Predictions, number_in_cell
from bayesbias.core import checks
from bayesbias.core.errors import MOST_CHARACTERS, AsWritten, InputError
from bayesbias.core.files import delimiter_of, guarded, lies_at, read_text, whole_file
from bayesbias.core.formatting import Shortened, in_one_line, number_of, put_in_words
from bayesbias.core.progress import ticking
from bayesbias.wordlists.occupations import SENTENCE_COLUMNS, Occupations, load_occupations

if TYPE_CHECKING:
    import pandas as pd

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

_MOST_OF_A_REASON = 120  # characters of what somebody else's code says
_LEAST_FOUND = 20
_PARTIAL = ["sentence", "probability"]  # the heading of unfinished predictions


class ClassifierError(InputError):
    """A classifier failed on some sentences. What was finished before is kept.

    Attributes
    ----------
    finished : pandas.DataFrame
        ``sentence, probability`` of the batches before.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from bayesbias.classifiers import ClassifierError
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
        A file (``.csv`` or ``.tsv``) to keep finished batches in. Where it is there already, its sentences
        are not predicted again; it is removed when all is done.
    check : bool
        Whether to hand the classifier sixteen plain sentences, after the others, and to refuse its
        predictions if it takes the good ones for bad and the bad ones for good: its classes are swapped.
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
        Where the classifier fails on a batch or returns what are no probabilities. Its ``finished`` holds the
        batches before, and `partial` keeps them.
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
    kept = None if partial is None else _PartialFile(Path(checks.path(partial, "partial")), model)
    done: dict[str, float] = {} if kept is None else kept.read()
    left = [s for s in sentences if s not in done]
    if len(left) < len(sentences):
        taken = len(sentences) - len(left)
        were = "was" if taken == 1 else "were"
        notes.append(f"{number_of(taken, 'prediction')} {were} taken from {Path(str(partial)).name}")
    with ticking(f"predicting with {model.name}", len(left), progress) as tick:
        for first in range(0, len(left), batch):
            part = left[first : first + batch]
            place = f"sentences {first + 1} to {first + len(part)} of {len(left)}"
            done |= dict(zip(part, _predicted(model, part, place, done, kept).tolist(), strict=True))
            if kept is not None:
                kept.write(done)
            tick(len(part))
    if check and model.only is None:
        notes += _check_classes(model, done, kept)
    notes += model.weaknesses()
    frame = frame.assign(classifier=model.name, probability=[done[s] for s in sentences])
    if kept is not None:
        kept.path.unlink(missing_ok=True)
    frame = frame[["classifier", *SENTENCE_COLUMNS, "probability"]].reset_index(drop=True)
    return Predictions(frame, occupations, {model.name: dict(model.provenance)}, tuple(notes))


def _predicted(
    model: Classifier, part: list[str], place: str, done: Mapping[str, float], kept: _PartialFile | None
) -> npt.NDArray[np.float64]:
    try:
        return model(part)
    except Exception as error:  # somebody else's code may raise anything
        if isinstance(error, InputError):
            raise _failed(f"failed on {place}: {{}}", error, model, done, kept) from error
        reason = in_one_line(f"{type(error).__name__}: {put_in_words(error, str)}", _MOST_OF_A_REASON)
        raise _failed("{}", InputError(f"failed on {place}: {reason}"), model, done, kept) from error


def _failed(
    said: str, error: InputError, model: Classifier, done: Mapping[str, float], kept: _PartialFile | None
) -> ClassifierError:
    """Return an error with the parts of another, its problem put into `said`, and with what becomes of what was finished."""
    import pandas as pd

    parts = error.parts
    if not done:
        hint = ""
    elif kept is None:
        were = "was" if len(done) == 1 else "were"
        hint = f"{number_of(len(done), 'prediction')} {were} finished; with partial=FILE a second run takes them up"
    else:
        are = "is" if len(done) == 1 else "are"
        hint = f"{number_of(len(done), 'finished prediction')} {are} in {kept.path}, where a second run takes them up"
    own = f"classifier {model.name!r}"
    place = parts["where"].removeprefix(own).removeprefix(", ")  # where it names the classifier already
    elsewhere = "" if place in ("", model.name) else f"{place}: "
    problem = said.format(f"{elsewhere}{parts['problem']}")
    what_helps = "; ".join(filter(None, (parts["hint"], hint)))
    # What was found is cut first, and what is valid before what helps.
    room = MOST_CHARACTERS - len(f"{own}: {problem}; found: ; {what_helps}")
    valid = (
        parts["valid"] if room - len(f"; valid: {parts['valid']}") >= _LEAST_FOUND or not what_helps else ""
    )
    found = Shortened(
        AsWritten(parts["found"]), max(_LEAST_FOUND, room - len(f"; valid: {valid}" if valid else ""))
    )
    out = ClassifierError(
        problem,
        where=own,
        found=found if parts["found"] else None,
        valid=valid or None,
        hint=what_helps or None,
    )
    out.finished = pd.DataFrame({"sentence": list(done), "probability": list(done.values())})
    return out


@dataclass(frozen=True)
class _PartialFile:
    """Finished predictions on the disk."""

    path: Path
    model: Classifier

    @property
    def _owner(self) -> str:
        sha256 = self.model.provenance.get("sha256")
        return self.model.name + (f" {sha256[:16]}" if sha256 else "")

    def write(self, done: Mapping[str, float]) -> None:
        with whole_file(self.path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
            file.write(f"# finished by: {self._owner}\n")
            rows = csv.writer(file, delimiter=delimiter_of(self.path))
            rows.writerow(_PARTIAL)
            rows.writerows((sentence, repr(p)) for sentence, p in done.items())

    def read(self) -> dict[str, float]:
        delimiter = delimiter_of(self.path)
        if not lies_at(self.path):
            return {}
        head, _, rest = read_text(self.path).partition("\n")
        owner = head.removeprefix("# finished by: ").strip()
        if not head.startswith("# finished by: ") or owner != self._owner:
            raise InputError(
                "does not hold unfinished predictions of this classifier",
                where=self.path,
                found=head[:80],
                valid=f"# finished by: {self._owner}",
                hint="name another file, or remove this one",
            )
        with guarded(self.path, "does not hold unfinished predictions"):
            header, *rows = list(csv.reader(io.StringIO(rest), delimiter=delimiter)) or [[]]
        if header != _PARTIAL or any(len(row) not in (0, len(_PARTIAL)) for row in rows):
            found = next((row for row in rows if len(row) not in (0, len(_PARTIAL))), header)
            raise InputError(
                "does not hold unfinished predictions", where=self.path, found=found, valid=_PARTIAL
            )
        sentences = [row[0] for row in rows if row]
        checks.distinct(sentences, "a sentence", self.path)
        numbers = [
            number_in_cell(row[1], f"{self.path}, line {i}") for i, row in enumerate(rows, start=3) if row
        ]
        values = checked_probabilities(numbers, sentences, str(self.path))
        return dict(zip(sentences, values.tolist(), strict=True))


def _check_classes(model: Classifier, done: Mapping[str, float], kept: _PartialFile | None) -> list[str]:
    """Refuse a classifier that takes good for bad; return notes."""
    try:
        good, bad = model(list(_GOOD)), model(list(_BAD))
    except Exception as error:  # a table of known sentences, say, which is no fault
        return [f"whether the classes are swapped could not be checked: {type(error).__name__}: {error}"]
    wins = (good[:, None] > bad).mean() + 0.5 * (good[:, None] == bad).mean()
    if wins <= 0.1:
        raise _failed(
            "{}",
            InputError(
                f"seems to have its classes swapped: of plain sentences it rates the good ones {good.mean():.2f} on average "
                f"and the bad ones {bad.mean():.2f}",
                hint="hand over the probability of the positive class, or say check=False (--no-check)",
            ),
            model,
            done,
            kept,
        )
    return []
