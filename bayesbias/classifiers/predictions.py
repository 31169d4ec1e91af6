"""Predictions as a value, and the files that they are read from: with a header and without, in order or not.

What would change the sign of a result unseen is refused: swapped columns, rows of other sentences, labels that contradict
their sentence.
"""

import os
import re
from collections.abc import Mapping, Sequence
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
        Of two columns without a header, which is the positive class. By default the second column is taken, but only if its
        mean is above 0.5: sentences that assert a fact are seldom rated negative, and swapped columns are common.

    Returns
    -------
    Predictions

    Raises
    ------
    InputError
        If the number of rows is wrong, a number is no probability, a sentence is unknown, missing or repeated, a label
        contradicts its sentence, or columns look swapped. It names file and line.

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
    rows, comments = _rows_of(path)
    name = name or path.stem
    named = not any(_is_number(cell) for cell in rows[0][1])
    header = (
        [cell.strip().lower() for cell in rows[0][1]] if named else _header_of(rows, path, positive)
    )
    if positive is not None and (named or "negative" not in header):
        raise InputError(
            "there is no column to choose: these probabilities are taken for those of the positive class",
            where=path,
            hint="if they are of the negative class, write 1 - p",
        )
    rows = rows[named:]
    checks.distinct(header, "a column", path)
    probability = [column for column in ("probability", "positive") if column in header]
    if len(probability) != 1 or not rows:
        raise InputError(
            "no column or two columns may hold the probability that a sentence is positive"
            if rows
            else "holds no predictions",
            where=path,
            found=", ".join(header),
            valid="one column probability (or positive), and perhaps sentence",
            hint=next(
                filter(None, (nearest(h, ("probability", "positive")) for h in header)), None
            ),
        )
    cells = pd.DataFrame([row for _, row in rows], columns=header).assign(
        line=[line for line, _ in rows]
    )
    label = (
        cells["classifier"].str.strip() if "classifier" in header else pd.Series(name, cells.index)
    )
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
            hint="state it: positive=0 (--positive 0) if the first column is the positive class, 1 if the second is",
        )
    facts = {"kind": "predictions", "file": path.name, "sha256": sha256_file(path)}
    if path.parent == data_dir("sentiment"):
        facts["shipped"] = path.stem
    if comments:
        facts["comment"] = "; ".join(comments)
    provenance = {str(own): dict(facts) for own in frame["classifier"].unique()}
    return Predictions(frame, occupations, provenance, tuple(notes))


_Rows = list[tuple[int, list[str]]]


def _rows_of(path: Path) -> tuple[_Rows, list[str]]:
    """Return the rows, each with its line, and the comments at the top."""
    lines = lines_of(read_text(path))
    start = 0
    while start < len(lines) and (lines[start].startswith("#") or not lines[start].strip()):
        start += 1
    comments = [line.lstrip("# ").strip() for line in lines[:start] if line.strip()]
    if start == len(lines):
        raise InputError("holds no predictions", where=path)
    first = lines[start]
    comma_decimal = ";" in first and any(
        part in ("probability", "positive") or _is_number(part.replace(",", "."))
        for part in (cell.strip().strip('"').lower() for cell in first.split(";"))
    )
    mark = "\t" if "\t" in first else ";" if comma_decimal else ","
    rows: _Rows = []
    for line, row in separated(lines[start:], mark, path, "is no table of predictions", start + 1):
        if not any(cell.strip() for cell in row):
            continue
        if rows and len(row) != len(rows[0][1]):
            width = len(rows[0][1])
            raise InputError(
                "wrong number of columns",
                where=f"{path}, line {line}",
                found=len(row),
                valid=str(width),
            )
        if comma_decimal:
            row = [re.sub(r"^(\d*),(\d+)", r"\1.\2", cell.strip()) for cell in row]
        rows.append((line, [unmarked(cell) for cell in row]))
    return rows, comments


def _header_of(rows: _Rows, path: Path, positive: int | None) -> list[str]:
    """Return the names of the columns of a file without a header."""
    first = rows[0][1]
    texts = [not _is_number(cell) for cell in first]
    if len(first) == 1:
        return ["probability"]
    if len(first) == 2 and sum(texts) == 1:
        return ["sentence", "probability"] if texts[0] else ["probability", "sentence"]
    if len(first) == 2 and not any(texts):
        return ["probability", "negative"] if positive == 0 else ["negative", "probability"]
    raise InputError(
        "unknown layout",
        where=path,
        found=f"{len(first)} columns without a header",
        valid="one probability; negative and positive probability; sentence and probability; or a header",
    )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # which Python takes for a digit's neighbor


def _predictions_of(
    part: pd.DataFrame, column: str, wanted: pd.DataFrame, path: Path
) -> tuple[pd.DataFrame, str]:
    """Return the sentences of one classifier with their probabilities, and a note."""
    places = [f"line {line}" for line in part["line"]]
    numbers = _numbers(part[column], places, path)
    if "negative" in part:
        off = np.abs(_numbers(part["negative"], places, path) + numbers - 1) > 1e-3
        if off.any():
            raise InputError(
                "the two classes' probabilities do not sum to 1",
                where=f"{path}, {places[int(off.argmax())]}",
                hint="are these scores or logits? then hand over probabilities",
            )
    main = int((~wanted["control"]).sum())
    counts = f"{main} predictions, or {len(wanted)} with the control sentences"
    note = ""
    if "sentence" in part:
        texts = part["sentence"].str.strip().tolist()
        known = {sentence: i for i, sentence in enumerate(wanted["sentence"])}
        seen: set[str] = set()
        for text, place in zip(texts, places, strict=True):
            if text not in known:
                near = (
                    nearest(text, known)
                    or "the words of the sentences are those of corpus (--words)"
                )
                raise InputError(
                    "unknown sentence", where=f"{path}, {place}", found=text, hint=near
                )
            if text in seen:
                raise InputError("a sentence stands twice", where=f"{path}, {place}", found=text)
            seen.add(text)
        order = [known[text] for text in texts]
        if order != sorted(order):
            note = "the rows were put in order by their sentences"
    else:
        if len(part) not in (main, len(wanted)):
            raise InputError(
                "the number of predictions is wrong", where=path, found=len(part), valid=counts
            )
        texts = wanted["sentence"].tolist()[: len(part)]
    values = checked_probabilities(numbers, texts, str(path), places)
    _check_labels(part, texts, wanted, path)
    frame = wanted[wanted["sentence"].isin(set(texts))]
    lacking = wanted.drop(index=frame.index)
    if not lacking["control"].all() or len(lacking) not in (0, int(wanted["control"].sum())):
        raise InputError(
            f"{number_of(len(lacking), 'sentence')} without a prediction",
            where=path,
            found=lacking["sentence"].iloc[0],
            valid=counts,
        )
    return frame.assign(probability=pd.Series(values, texts)[frame["sentence"]].to_numpy()), note


def _numbers(cells: pd.Series, places: Sequence[str], path: Path) -> np.ndarray:
    for cell, place in zip(cells, places, strict=True):
        if not _is_number(cell):
            raise InputError(
                "is not a number",
                where=f"{path}, {place}",
                found=cell,
                valid="a probability in [0, 1]",
            )
    return cells.astype(float).to_numpy()


def _check_labels(
    part: pd.DataFrame, sentences: Sequence[str], wanted: pd.DataFrame, path: Path
) -> None:
    """Compare the columns that repeat what the sentence says with it: a swapped label is found here."""
    right = wanted.set_index("sentence").loc[list(sentences)]
    for column in ("gender", "noun", "noun_pair", "profession", "control"):
        if column in part:
            given = part[column].str.strip().str.lower().to_numpy()
            expected = right[column].astype(str).str.lower().to_numpy()
            if (given != expected).any():
                row = int((given != expected).argmax())
                raise InputError(
                    f"the {column} does not fit the sentence {sentences[row]!r}",
                    where=f"{path}, line {part['line'].iloc[row]}",
                    found=part[column].iloc[row],
                    valid=str(right[column].iloc[row]),
                    hint=None
                    if "sentence" in part
                    else "without a column sentence rows must be in the order of `bayesbias sentiment sentences`",
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
            "no such predictions are shipped",
            found=name,
            valid=known,
            hint=nearest(str(name), known),
        )
    return load_predictions(data_dir("sentiment") / f"{name}.csv")
