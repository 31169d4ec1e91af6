"""Predictions as a value, and the files that they are read from: with a header and without, in order or not.

Whatever would change the sign of a result unseen is refused: swapped columns, rows of other sentences, labels
that contradict their sentence.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.classifiers.classifier import checked_probabilities
from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.files import (
    data_dir,
    delimiter_of,
    lines_of,
    list_names,
    path_of,
    read_text,
    separated,
    sha256_file,
    whole_file,
)
from bayesbias.core.formatting import number_of
from bayesbias.core.frames import unmarked, write_csv
from bayesbias.wordlists.occupations import SENTENCE_COLUMNS, Occupations, load_occupations

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Predictions", "list_predictions", "load_predictions"]


@dataclass(frozen=True, eq=False, repr=False)
class Predictions:
    """The predicted sentiment of every sentence.

    Attributes
    ----------
    frame : pandas.DataFrame
        ``classifier, sentence, noun_pair, noun, gender, profession, category, control, probability``; the
        last is the probability in [0, 1] that the sentence is positive.
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

    def save(self, path: str | os.PathLike[str], *, spreadsheet_safe: bool = False) -> Path:
        """Write the predictions as CSV or TSV (by the ending), whole or not at all; `load_predictions` reads them.

        With `spreadsheet_safe` an apostrophe stands before each text that a spreadsheet would take for a formula.
        """
        path = Path(checks.path(path, "path", "the path of a .csv or .tsv file"))
        delimiter = delimiter_of(path)
        with whole_file(path) as temporary:
            write_csv(self.frame, temporary, separator=delimiter, spreadsheet_safe=spreadsheet_safe)
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
        A text file, separated by tabs, commas, or semicolons (then with decimal commas), in one of these layouts. Lines at the
        top that begin with # are comments.

        * With a header that names ``probability`` (or ``positive``), and ``sentence``: rows may stand in any
          order. Where there are ``gender``, ``noun``, ``noun_pair``, ``profession``, ``control`` or
          ``negative`` they must agree; ``classifier`` tells several apart; other columns are left alone.
          `Predictions.save` writes this.
        * The same without ``sentence``: rows in the order of `occupation_sentences`.
        * Without a header, two columns of which one holds sentences: in any order.
        * Without a header, one number a row: positive-class probabilities in the order of
          `occupation_sentences`, with or without the control sentences. This is the published layout of the
          paper's first two models.
        * Without a header, two numbers a row that sum to 1: negative and positive class, in that order. This
          is the published layout of its third.
    corpus
        What `load_occupations` takes.
    name : str, optional
        The name of the classifier; by default that of the file.
    positive : {0, 1}, optional
        Of two columns without a header, which is the positive class. Without it the second column is taken,
        but only where its mean is above 0.5: sentences that assert a fact are seldom rated negative, swapped
        columns are common.

    Returns
    -------
    Predictions

    Raises
    ------
    InputError
        Naming file and line: for a wrong number of rows, what is no probability, an unknown, missing or
        repeated sentence, a label that contradicts its sentence, and columns that look swapped.

    Examples
    --------
    >>> from bayesbias import score_sentences
    >>> import tempfile
    >>> made = score_sentences(lambda sentences: [0.6] * len(sentences), name="toy")
    >>> load_predictions(made.save(Path(tempfile.mkdtemp()) / "toy.csv"))
    <Predictions: 800 sentences and 40 controls by toy (mean 0.600)>
    """
    path = path_of(path, "path", "a .csv file of predictions")
    if positive not in (None, 0, 1):
        try:
            positive = int(str(positive))
        except ValueError:
            positive = -1
        if positive not in (0, 1):
            raise InputError("must be the number of a column", where="positive", found=positive, valid="0, 1")
    if os.path.isdir(path):
        raise InputError("is a folder, not a file of predictions", where=path)
    occupations = load_occupations(corpus)
    wanted = occupations.sentences(control=True)
    lines, comments = _lines_of(path)
    sha256 = sha256_file(path)
    name = name or path.stem
    first = [cell.strip() for cell in lines[0][1]]
    if not any(_is_number(cell) for cell in first):
        header = [cell.lower() for cell in first]
        _one_class_only(path, positive, "a header that names the probability")
        groups, notes = _with_header(lines[1:], header, wanted, path, name)
    else:
        groups, notes = _without_header(lines, wanted, path, name, positive)
    accuracy = _ACCURACY.search(" ".join(comments))
    if accuracy and float(accuracy.group(1)) < 0.5:
        raise InputError(
            "the comment states an accuracy below one half: are the classes swapped?",
            where=path,
            found=comments[0],
        )
    import pandas as pd

    frames = []
    for label, numbers in groups.items():
        here = [s in numbers for s in wanted["sentence"]]
        part = wanted[here]
        lacking = wanted[~np.array(here)]
        if not lacking.empty and (len(lacking) != wanted["control"].sum() or not lacking["control"].all()):
            missing = int((~lacking["control"]).sum()) or len(lacking)
            raise InputError(
                f"{number_of(missing, 'sentence')} {'has' if missing == 1 else 'have'} no prediction",
                where=f"{path}, classifier {label!r}",
                found=lacking["sentence"].iloc[0],
                valid=_valid_counts(wanted),
            )
        frames.append(part.assign(classifier=label, probability=[numbers[s] for s in part["sentence"]]))
    frame = pd.concat(frames, ignore_index=True)[["classifier", *SENTENCE_COLUMNS, "probability"]]
    facts = {"kind": "predictions", "file": path.name, "sha256": sha256}
    if path.parent == data_dir("sentiment"):
        facts["shipped"] = path.stem
    if comments:
        facts["comment"] = "; ".join(comments)
    return Predictions(frame, occupations, {label: dict(facts) for label in groups}, tuple(notes))


# From the last of several such words, since from each of them the same number would be looked for again.
_SORTED_BY_CHANCE_NEVER = 20  # rows: two orders of 20!
_ACCURACY = re.compile(r"accuracy(?:(?!accuracy)\D)*([01](?:\.\d+)?)")
_RENAME = "name what holds the probability that a sentence is positive, from 0 to 1, so; labels alone say too little"
_Lines = list[tuple[int, list[str]]]
_MOST_COLUMNS = 100
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d{1,3})?")


def _lines_of(path: Path) -> tuple[_Lines, list[str]]:
    text = read_text(path)
    lines = lines_of(text)
    start = 0
    while start < len(lines) and (lines[start].startswith("#") or not lines[start].strip()):
        start += 1
    comments = [line.lstrip("# ").strip() for line in lines[:start] if line.strip()]
    if start == len(lines):
        raise InputError("holds no predictions", where=path)
    delimiter = _delimiter_of(lines[start])
    rows = [
        (line, [_with_a_point(cell) if delimiter == ";" else unmarked(cell) for cell in row])
        for line, row in separated(lines[start:], delimiter, path, "is no table of predictions", start + 1)
        if any(cell.strip() for cell in row)
    ]
    if not rows:
        raise InputError("holds no predictions", where=path)
    width = len(rows[0][1])
    if width > _MOST_COLUMNS:
        raise InputError(
            "has more columns than any such table", where=path, found=width, valid=f"at most {_MOST_COLUMNS}"
        )
    for i, row in rows:
        if len(row) != width:
            raise InputError(
                "wrong number of columns", where=f"{path}, line {i}", found=len(row), valid=str(width)
            )
    return rows, comments


def _delimiter_of(line: str) -> str:
    """Return what separates cells: a semicolon where a column of ours is told by it, or numbers with decimal commas."""
    if "\t" in line:
        return "\t"
    parts = [part.strip().strip('"') for part in line.split(";")]
    if len(parts) > 1:
        ours = any(part.casefold() in ("probability", "positive") for part in parts)
        if ours or any(_is_number(_with_a_point(part)) for part in parts):
            return ";"
    return ","


def _with_a_point(cell: str) -> str:
    """Return a cell of a table with semicolons, where the comma is decimal."""
    return cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell.strip()) else unmarked(cell)


def _with_header(
    lines: _Lines, header: list[str], wanted: pd.DataFrame, path: Path, name: str
) -> tuple[dict[str, dict[str, float]], list[str]]:
    column = "probability" if "probability" in header else "positive"
    if column not in header:
        raise InputError(
            "the header has no column of probabilities",
            where=path,
            found=", ".join(header),
            valid="probability (or positive), sentence",
            hint=next(filter(None, (nearest(h, ("probability", "positive")) for h in header)), _RENAME),
        )
    checks.distinct(header, "a column", path)
    if {"probability", "positive"} <= set(header):
        raise InputError(
            "two columns may hold the probability that a sentence is positive",
            where=path,
            found="probability, positive",
            valid="one of them; rename the other",
        )
    if not lines:
        raise InputError("holds no predictions", where=path)
    at = {h: i for i, h in enumerate(header)}
    labels = [row[at["classifier"]].strip() if "classifier" in at else name for _, row in lines]
    if "classifier" in at and len(set(labels)) == 1 and name != path.stem:
        labels = [name] * len(labels)
    out: dict[str, dict[str, float]] = {}
    notes: list[str] = []
    for label in dict.fromkeys(labels):
        part = [line for line, own in zip(lines, labels, strict=True) if own == label]
        rows = [f"line {i}" for i, _ in part]
        numbers = _column_of_numbers(part, at[column], path)
        if "negative" in at:
            _check_sums(_column_of_numbers(part, at["negative"], path), numbers, rows, path)
        if "sentence" in at:
            texts = [row[at["sentence"]].strip() for _, row in part]
            out[label] = _by_sentence(texts, numbers, rows, wanted, path, label, notes)
        else:
            out[label] = _by_position(numbers, rows, wanted, path)
        _check_labels(part, at, list(out[label]), wanted, path)
    return out, notes


def _without_header(
    lines: _Lines, wanted: pd.DataFrame, path: Path, name: str, positive: int | None
) -> tuple[dict[str, dict[str, float]], list[str]]:
    width, rows = len(lines[0][1]), [f"line {i}" for i, _ in lines]
    notes: list[str] = []
    if width == 1:
        _one_class_only(path, positive, "one column")
        return {name: _by_position(_column_of_numbers(lines, 0, path), rows, wanted, path)}, notes
    if width != 2:
        raise InputError(
            "unknown layout",
            where=path,
            found=f"{width} columns without a header",
            valid="one probability; negative and positive probability; sentence and probability; or a header",
        )
    texts = [c for c in (0, 1) if not _is_number(lines[0][1][c])]
    if texts:
        _one_class_only(path, positive, "one column of probabilities")
        numbers = _column_of_numbers(lines, 1 - texts[0], path)
        return {
            name: _by_sentence(
                [row[texts[0]].strip() for _, row in lines], numbers, rows, wanted, path, name, notes
            )
        }, notes
    columns = [_column_of_numbers(lines, c, path) for c in (0, 1)]
    _check_sums(columns[0], columns[1], rows, path)
    chosen = 1 if positive is None else positive
    out = _by_position(columns[chosen], rows, wanted, path)
    mean = float(np.mean(list(out.values())))
    if positive is None and mean < 0.5:
        raise InputError(
            f"the columns may be swapped: the second, taken for the positive class, has a mean of {mean:.3f}",
            where=path,
            valid="negative and positive class, in that order",
            hint="state it: positive=0 (--positive 0) if the first column is the positive class, 1 if the second is",
        )
    return {name: out}, notes


def _one_class_only(path: Path, positive: int | None, column: str) -> None:
    """Refuse the choice of a column where there is none to choose, for its sign would be guessed."""
    if positive is not None:
        raise InputError(
            "there is no column to choose: these probabilities are taken for those of the positive class",
            where=path,
            found=f"{column}, and positive={positive}",
            hint="where they are of the negative class, write 1 - p",
        )


def _column_of_numbers(lines: _Lines, column: int, path: Path) -> list[float]:
    return [number_in_cell(row[column], f"{path}, line {i}") for i, row in lines]


def number_in_cell(cell: str, where: str) -> float:
    if not _is_number(cell):
        raise InputError("is not a number", where=where, found=cell, valid="a probability in [0, 1]")
    return float(cell)


def _is_number(cell: str) -> bool:
    """Whether a cell spells a number; Python's own underscores between digits are none."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _check_sums(negative: list[float], positive: list[float], rows: list[str], path: Path) -> None:
    for a, b, row in zip(negative, positive, rows, strict=True):
        if math.isfinite(a) and math.isfinite(b) and abs(a + b - 1) > 1e-3:
            raise InputError(
                "the two classes' probabilities do not sum to 1",
                where=f"{path}, {row}",
                found=(a, b),
                hint="are these scores or logits? then hand over probabilities",
            )


def _valid_counts(wanted: pd.DataFrame) -> str:
    n = int((~wanted["control"]).sum())
    return f"{n} predictions, or {len(wanted)} with the control sentences"


def _by_position(numbers: list[float], rows: list[str], wanted: pd.DataFrame, path: Path) -> dict[str, float]:
    if len(numbers) not in (int((~wanted["control"]).sum()), len(wanted)):
        raise InputError(
            "the number of predictions is wrong", where=path, found=len(numbers), valid=_valid_counts(wanted)
        )
    sentences = wanted["sentence"].tolist()[: len(numbers)]
    values = checked_probabilities(numbers, sentences, str(path), rows)
    steps = np.diff(values)
    many = len(numbers) >= _SORTED_BY_CHANCE_NEVER and len(set(numbers)) > len(numbers) / 2
    if many and (np.all(steps >= 0) or np.all(steps <= 0)):
        raise InputError(
            f"the predictions {'rise' if numbers[0] < numbers[-1] else 'fall'} from the first row to the last: "
            "they were sorted, and whose they are nobody knows",
            where=path,
            valid="the order of `bayesbias sentiment sentences`, or a column sentence",
        )
    return dict(zip(sentences, values.tolist(), strict=True))


def _by_sentence(
    texts: list[str],
    numbers: list[float],
    rows: list[str],
    wanted: pd.DataFrame,
    path: Path,
    label: str,
    notes: list[str],
) -> dict[str, float]:
    known = {s: i for i, s in enumerate(wanted["sentence"])}
    strange = [text for text in texts if text not in known]
    if 10 * len(strange) > len(texts) and len(strange) > 1:
        folded = {text.casefold() for text in known}
        cased = all(text.casefold() in folded for text in strange)
        raise InputError(
            f"{len(strange)} of {len(texts)} sentences are of another test bench",
            where=path,
            found=strange[0],
            valid=f"sentences such as {wanted['sentence'].iloc[0]!r}",
            hint="they differ in capitals alone: write them as they were handed out"
            if cased
            else "the words of the bench are those of corpus (--words)",
        )
    seen: set[str] = set()
    for text, row in zip(texts, rows, strict=True):
        if text not in known:
            raise InputError(
                "unknown sentence", where=f"{path}, {row}", found=text, hint=nearest(text, known)
            )
        if text in seen:
            raise InputError("a sentence stands twice", where=f"{path}, {row}", found=text)
        seen.add(text)
    values = checked_probabilities(numbers, texts, str(path), rows)
    order = [known[text] for text in texts]
    if order != sorted(order):
        notes.append(f"{label}: the rows were put in order by their sentences")
    return dict(zip(texts, values.tolist(), strict=True))


def _check_labels(
    lines: _Lines, at: Mapping[str, int], sentences: list[str], wanted: pd.DataFrame, path: Path
) -> None:
    """Hold the columns that repeat what the sentence says to it: a swapped label is found here."""
    right = wanted.set_index("sentence")
    for column in ("gender", "noun", "noun_pair", "profession", "control"):
        if column not in at:
            continue
        expected = right.loc[sentences, column].astype(str)
        for (i, row), text, value in zip(lines, sentences, expected, strict=True):
            if row[at[column]].strip().lower() != value.lower():
                raise InputError(
                    f"the {column} does not fit the sentence {text!r}",
                    where=f"{path}, line {i}",
                    found=row[at[column]],
                    valid=value,
                    hint=None
                    if "sentence" in at
                    else "without a column sentence rows must stand in the order of `bayesbias sentiment sentences`",
                )


def list_predictions(name: str = "m1") -> Predictions:
    """Return predictions that come with the package, to try everything without a classifier.

    ``m1`` is our own M.1, the bag of words of the paper as `train_bow` makes it of SST-2 (development accuracy
    0.8268), for all sentences and the control sentences. `tools/predict_m1.py` made it; the file says of what.

    Raises
    ------
    InputError
        Where there are none of this name.

    Examples
    --------
    >>> list_predictions("m1")
    <Predictions: 800 sentences and 40 controls by m1 (mean 0.500)>
    """
    known = list_names("sentiment", ".csv")
    if not isinstance(name, str) or name not in known:
        raise InputError(
            "no such predictions are shipped", found=name, valid=known, hint=nearest(str(name), known)
        )
    return load_predictions(data_dir("sentiment") / f"{name}.csv")
