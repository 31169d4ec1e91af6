"""Predictions as a value, and the files that they are read from: with a header and without, in order or not.

What would change the sign of a result unseen is refused: swapped columns, rows of other sentences,
labels that contradict their sentence.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.classifiers.classifier import checked_probabilities
from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.files import (
    data_dir,
    delimiter_of,
    guarded,
    lines_of,
    list_names,
    path_of,
    read_text,
    sha256_file,
    whole_file,
)  # fmt: skip
from bayesbias.core.formatting import number_of
from bayesbias.wordlists.occupations import SENTENCE_COLUMNS, Occupations, load_occupations

__all__ = ["Predictions", "list_predictions", "load_predictions"]


@dataclass(frozen=True, eq=False, repr=False)
class Predictions:
    """The predicted sentiment of every sentence.

    Attributes
    ----------
    frame : pandas.DataFrame
        ``classifier, sentence, noun_pair, noun, gender, profession, category, control,
        probability``; the last is the probability in [0, 1] that the sentence is positive.
    occupations : Occupations
        What the sentences were made of.
    provenance : dict
        Classifier -> where it comes from.
    notes : tuple of str
        What a reader should know, such as rows that were put in order.

    Examples
    --------
    >>> import bayesbias as bb
    >>> m1 = bb.list_predictions("m1")
    >>> m1.classifiers, len(m1.frame)
    (('m1',), 840)
    """

    frame: pd.DataFrame
    occupations: Occupations
    provenance: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def classifiers(self) -> tuple[str, ...]:
        """The names of the classifiers."""
        return tuple(dict.fromkeys(self.frame["classifier"]))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the predictions as CSV or TSV (by the ending), whole or not at all; `load_predictions` reads them."""
        path = Path(checks.path(path, "path", "the path of a .csv or .tsv file"))
        delimiter = delimiter_of(path)
        with whole_file(path) as temporary:
            self.frame.to_csv(temporary, index=False, sep=delimiter)
        return path

    def __repr__(self) -> str:
        main = self.frame[~self.frame["control"]]
        counts = [
            f"{n} (mean {g['probability'].mean():.3f})"
            for n, g in main.groupby("classifier", sort=False, observed=True)
        ]
        controls = int(self.frame.loc[self.frame["control"], "sentence"].nunique())
        notes = "".join(f"; {note}" for note in self.notes)
        return (
            f"<Predictions: {main['sentence'].nunique()} sentences and {controls} controls "
            f"by {', '.join(counts)}{notes}>"
        )


def load_predictions(
    path: str | os.PathLike[str],
    corpus: str | os.PathLike[str] | Mapping[str, Any] | Occupations = "occupations",
    *,
    name: str | None = None,
    positive: int | None = None,
) -> Predictions:
    """Read a file of predictions.

    Parameters
    ----------
    path : str or path
        A text file, separated by tabs, commas, or semicolons (then with decimal commas), in one of
        these layouts. Lines at the top that begin with # are comments.

        * With a header that names ``probability`` (or ``positive``), and ``sentence``: rows may stand in any
          order. Where there are ``gender``, ``noun``, ``noun_pair``, ``profession``, ``control`` or
          ``negative`` they must agree; ``classifier`` tells several apart; other columns are left
          alone. `Predictions.save` writes this.
        * The same without ``sentence``: rows in the order of `occupation_sentences`.
        * Without a header, two columns of which one holds sentences: in any order.
        * Without a header, one number a row: positive-class probabilities in the order of
          `occupation_sentences`, with or without the control sentences. This is the published
          layout of the paper's first two models.
        * Without a header, two numbers a row that sum to 1: negative and positive class, in that order. This
          is the published layout of its third.
    corpus
        What `load_occupations` takes.
    name : str, optional
        The name of the classifier; by default that of the file.
    positive : {0, 1}, optional
        Of two columns without a header, which is the positive class. By default the second column
        is taken, but only if its mean is above 0.5: sentences that assert a fact are seldom rated
        negative, and swapped columns are common.

    Returns
    -------
    Predictions

    Raises
    ------
    InputError
        If the number of rows is wrong, a number is no probability, a sentence is unknown, missing
        or repeated, a label contradicts its sentence, or columns look swapped. It names file and
        line.

    Examples
    --------
    >>> from bayesbias import score_sentences
    >>> import tempfile
    >>> made = score_sentences(lambda sentences: [0.6] * len(sentences), name="toy")
    >>> load_predictions(made.save(Path(tempfile.mkdtemp()) / "toy.csv"))
    <Predictions: 800 sentences and 40 controls by toy (mean 0.600)>
    """
    path = path_of(path, "path", "a .csv file of predictions")
    if positive is not None:
        positive = int(checks.choice(str(positive), ("0", "1"), "column", "positive"))
    occupations = load_occupations(corpus)
    wanted = occupations.sentences(control=True)
    cells, comments = _cells_of(path)
    name = name or path.stem
    number = pd.to_numeric(cells.iloc[0], errors="coerce").notna().tolist()
    named = not any(number)
    layouts = {
        (True,): ["probability"],
        (False, True): ["sentence", "probability"],
        (True, False): ["probability", "sentence"],
        (True, True): ["probability", "negative"] if positive == 0 else ["negative", "probability"],
    }
    if not named and tuple(number) not in layouts:
        raise InputError(
            "unknown layout",
            where=path,
            found=f"{len(number)} columns without a header",
            valid="probability; negative, positive; sentence, probability; or a header",
        )
    header = cells.iloc[0].str.lower().tolist() if named else layouts[tuple(number)]
    if positive is not None and (named or "negative" not in header):
        problem = "these probabilities are taken for those of the positive class: none to choose"
        raise InputError(problem, where=path, hint="if they are of the negative class, write 1 - p")
    checks.distinct(header, "a column", path)
    cells = cells[int(named) :].set_axis(header, axis=1)
    if cells.empty:
        raise InputError("holds no predictions", where=path)
    probability = [column for column in ("probability", "positive") if column in header]
    if len(probability) != 1:
        close = (nearest(column, ("probability", "positive")) for column in header)
        raise InputError(
            "no column or two columns may hold the probability that a sentence is positive",
            where=path,
            found=", ".join(header),
            valid="one column probability (or positive), and perhaps sentence",
            hint=next(filter(None, close), None),
        )
    label = cells["classifier"] if "classifier" in header else pd.Series(name, cells.index)
    if label.nunique() == 1 and name != path.stem:
        label = pd.Series(name, cells.index)
    frames, notes = [], []
    for own, part in cells.groupby(label, sort=False):
        frame, note = _predictions_of(part, probability[0], wanted, path)
        frames.append(frame.assign(classifier=own))
        notes += [f"{own}: {note}"] if note else []
    frame = pd.concat(frames, ignore_index=True)[["classifier", *SENTENCE_COLUMNS, "probability"]]
    mean = frame["probability"].mean()
    if not named and "negative" in header and positive is None and mean < 0.5:
        raise InputError(
            f"the columns may be swapped: the second, taken for the positive class, has a mean of {mean:.3f}",
            where=path,
            valid="negative and positive class, in that order",
            hint="say which is the positive class: positive=0 or 1 (--positive)",
        )
    facts = {"kind": "predictions", "file": path.name, "sha256": sha256_file(path)}
    if path.parent == data_dir("sentiment"):
        facts["shipped"] = path.stem
    if comments:
        facts["comment"] = "; ".join(comments)
    provenance = {str(own): dict(facts) for own in frame["classifier"].unique()}
    return Predictions(frame, occupations, provenance, tuple(notes))


def _cells_of(path: Path) -> tuple[pd.DataFrame, list[str]]:
    """Return the cells of a file, indexed by their lines, and the comments at the top."""
    lines = lines_of(read_text(path))
    top = 0
    while top < len(lines) and (lines[top].startswith("#") or not lines[top].strip()):
        top += 1
    comments = [line.lstrip("# ").strip() for line in lines[:top] if line.strip()]
    if top == len(lines):
        raise InputError("holds no predictions", where=path)
    parts = pd.Series([part.strip().strip('"') for part in lines[top].split(";")])
    numbers = pd.to_numeric(parts.str.replace(",", "."), errors="coerce").notna()
    semicolons = len(parts) > 1 and (
        numbers.any() or parts.str.lower().isin(["probability", "positive"]).any()
    )
    mark = "\t" if "\t" in lines[top] else ";" if semicolons else ","
    with guarded(path, "is no table of predictions", hint="quote a cell with a separator"):
        cells = pd.read_csv(
            path, sep=mark, header=None, dtype=str, skiprows=top, keep_default_na=False,
            skip_blank_lines=False,
        )  # fmt: skip
    cells.index += top + 1
    cells = cells[(cells != "").any(axis=1)]
    cells = cells.map(str.strip)
    if semicolons:
        cells = cells.replace(r"^(\d*),(\d+)", r"\1.\2", regex=True)
    return cells, comments


def _predictions_of(
    part: pd.DataFrame, column: str, wanted: pd.DataFrame, path: Path
) -> tuple[pd.DataFrame, str]:
    """Return the sentences of one classifier with their probabilities, and a note."""
    main = int((~wanted["control"]).sum())
    counts = f"{main} predictions, or {len(wanted)} with the control sentences"
    numbers = _numbers(part[column], path)
    if "negative" in part:
        off = np.abs(_numbers(part["negative"], path) + numbers - 1) > 1e-3
        if off.any():
            raise InputError(
                "the two classes' probabilities do not sum to 1",
                where=f"{path}, line {part.index[off][0]}",
                hint="are these scores or logits? then hand over probabilities",
            )
    note = ""
    if "sentence" in part:
        texts = part["sentence"]
        unknown, twice = ~texts.isin(wanted["sentence"]), texts.duplicated()
        if unknown.any() or twice.any():
            line = texts.index[unknown if unknown.any() else twice][0]
            problem, hint = "a sentence is listed twice", None
            if unknown.any():
                problem = "unknown sentence"
                hint = nearest(texts[line], wanted["sentence"])
                hint = hint or "compare answers about other groups with `bayesbias responses fit`"
            raise InputError(problem, where=f"{path}, line {line}", found=texts[line], hint=hint)
        if (np.diff(pd.Index(wanted["sentence"]).get_indexer(pd.Index(texts))) < 0).any():
            note = "the rows were put in order by their sentences"
    elif len(part) in (main, len(wanted)):
        texts = wanted["sentence"].iloc[: len(part)].set_axis(part.index)
    else:
        problem = "the number of predictions is wrong"
        raise InputError(problem, where=path, found=len(part), valid=counts)
    lines = [f"line {line}" for line in part.index]
    values = checked_probabilities(numbers, texts.tolist(), str(path), lines)
    # Columns that repeat what the sentence says: a swapped label is found here.
    right = wanted.set_index("sentence").loc[texts]
    for name in ("gender", "noun", "noun_pair", "profession", "control"):
        given, expected = (part[name] if name in part else right[name]), right[name].astype(str)
        other = given.astype(str).str.lower().to_numpy() != expected.str.lower().to_numpy()
        if other.any():
            row = int(other.argmax())
            raise InputError(
                f"the {name} does not fit the sentence {texts.iloc[row]!r}",
                where=f"{path}, {lines[row]}",
                found=given.iloc[row],
                valid=expected.iloc[row],
                hint=None
                if "sentence" in part
                else "without a column sentence rows must be in the order of `bayesbias sentiment sentences`",
            )
    frame = wanted[wanted["sentence"].isin(texts)]
    lacking = wanted.drop(index=frame.index)
    if not lacking["control"].all() or len(lacking) not in (0, len(wanted) - main):
        raise InputError(
            f"{number_of(len(lacking), 'sentence')} without a prediction",
            where=path,
            found=lacking["sentence"].iloc[0],
            valid=counts,
        )
    by_sentence = pd.Series(values, texts)
    return frame.assign(probability=by_sentence[frame["sentence"]].to_numpy()), note


def _numbers(cells: pd.Series, path: Path) -> np.ndarray:
    if (bad := pd.to_numeric(cells, errors="coerce").isna()).any():
        line = cells.index[bad][0]
        raise InputError("is not a number", where=f"{path}, line {line}", found=cells[line])
    return cells.astype(float).to_numpy()


def list_predictions(name: str = "m1") -> Predictions:
    """Return predictions that come with the package, to try everything without a classifier.

    ``m1`` is our own M.1, the bag of words of the paper as `train_bow` makes it of SST-2
    (development accuracy 0.8268), for all sentences and the control sentences.
    `tools/predict_m1.py` made it; the file says of what.

    Raises
    ------
    InputError
        Where there are none of this name.

    Examples
    --------
    >>> list_predictions("m1")
    <Predictions: 800 sentences and 40 controls by m1 (mean 0.500)>
    """
    checks.choice(name, list_names("sentiment", ".csv"), "predictions", "name")
    return load_predictions(data_dir("sentiment") / f"{name}.csv")
