"""Predictions as a value: made by a classifier in batches, or read from a file with a header or without.

What would change the sign of a result unseen is refused: swapped columns and classes, rows of other
sentences, labels that contradict their sentence.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.classifiers.classifier import Classifier, checked_probabilities, load_classifier
from bayesbias.classifiers.top_label import positive_scores
from bayesbias.core import InputError, checks, describe_error, files, frames, nearest, number_of
from bayesbias.core.formatting import in_one_line, literal
from bayesbias.core.progress import ticking
from bayesbias.wordlists.occupations import SENTENCE_COLUMNS, Corpus, Occupations, load_occupations

_PROBABILITY = ("probability", "positive", "score")  # names of the column
_OTHERS = "for other groups or sentences use `bayesbias responses fit`"
_LITTLE = 0.5  # share of the training text whose words have vectors
# Sentences that no classifier of sentiment in English gets wrong, unless its classes are swapped.
_GOOD = (
    "This is wonderful.", "A great film, I love it.", "Excellent and delightful.", "What a beautiful success.",
    "I am very happy with it.", "The best I have ever seen.", "Superb, charming and funny.", "It is a joy.",
)  # fmt: skip
_BAD = (
    "This is terrible.", "An awful film, I hate it.", "Dreadful and boring.", "What an ugly failure.",
    "I am very unhappy with it.", "The worst I have ever seen.", "Bad, dull and stupid.", "It is a mess.",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
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

    def save(self, path: checks.FilePath) -> Path:
        """Write the predictions as CSV or TSV (by the ending), whole or not at all; `load_predictions` reads them."""
        path = files.path_of(path, "path", "the path of a .csv or .tsv file")
        delimiters = {".csv": ",", ".tsv": "\t"}
        delimiter = delimiters[checks.choice(path.suffix, delimiters, f"{path}, ending")]
        with files.whole_file(path) as temporary:
            files.write_csv(self.frame, temporary, delimiter=delimiter, exact=True)
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
    path: checks.FilePath,
    corpus: Corpus = "occupations",
    *,
    name: str | None = None,
    positive: int | str | None = None,
) -> Predictions:
    """Read a file of predictions.

    Parameters
    ----------
    path : str or path
        The name of shipped predictions, or a text file, separated by tabs, commas, or semicolons (then with decimal commas), in one of
        these layouts. Lines at the top that begin with # are comments.

        * With a header that names ``probability`` (or ``positive``, ``score``), and ``sentence``: rows may stand in any
          order. Where there are ``gender``, ``noun``, ``noun_pair``, ``profession``, ``control`` or
          ``negative`` they must agree; ``classifier`` tells several apart; other columns are left
          alone. `Predictions.save` writes this. JSON lines are read too.
        * With ``label`` and ``score``, as a transformers pipeline writes them: the score is that of
          the label, and one of NEGATIVE is turned to 1 - score. Other labels need `positive`.
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
    positive : {0, 1} or str, optional
        The positive one of two labels in a column ``label``, such as ``LABEL_1``; or
        of two columns without a header, which is the positive class. By default the second column
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
    if shipped := path in files.list_names("sentiment", ".csv"):
        path = files.data_dir("sentiment") / f"{path}.csv"
    path = files.path_of(path, "path", "a .csv file of predictions")
    occupations = load_occupations(corpus)
    wanted = occupations.sentences(control=True)
    cells, comments = _cells_of(path)
    number = tuple(pd.to_numeric(cells.iloc[0], errors="coerce").notna())
    named = not any(number)
    layouts = {
        (True,): ["probability"],
        (False, True): ["sentence", "probability"],
        (True, False): ["probability", "sentence"],
        (True, True): ["negative", "probability"],
    }
    if not named and number not in layouts:
        problem = f"expected a header, or columns that it can do without, got {len(number)} columns"
        valid = "the columns probability; negative, positive; or sentence, probability"
        raise InputError(problem, where=path, valid=valid)
    label_of_positive = None if positive is None or not named else str(positive)
    if positive is not None and not named:
        positive = int(checks.choice(str(positive), ("0", "1"), "positive"))
        layouts[True, True] = [*layouts[True, True]][:: 1 if positive else -1]
    header = cells.iloc[0].str.lower().tolist() if named else layouts[number]
    if positive is not None and not named and "negative" not in header:
        problem = "expected two columns without a header beside `positive`, got others"
        raise InputError(problem, where=path, hint="leave positive out")
    checks.distinct(header, "column", path)
    cells = cells[int(named) :].set_axis(header, axis=1)
    probability = [column for column in _PROBABILITY if column in header]
    if len(probability) != 1 or cells.empty:
        frames.refuse_answers(header, path)
        problem = "expected one column of probabilities that a sentence is positive, and rows"
        valid = "a column probability (or positive, score), and perhaps sentence"
        hint = next(filter(None, (nearest(column, _PROBABILITY) for column in header)), None)
        raise InputError(problem, where=path, found=header, valid=valid, hint=hint)
    stem = literal(path.stem)
    label = cells["classifier"] if "classifier" in header else pd.Series(stem, cells.index)
    if name is not None and label.nunique() == 1:
        label = pd.Series(checks.line(name, "name"), cells.index)
    label = frames.checked_texts(label, f"{path}, column classifier")
    parts, notes = [], []
    for own, part in cells.groupby(label, sort=False):
        turned, turned_note = positive_scores(part, probability[0], label_of_positive, path)
        part = part.assign(**{probability[0]: turned})
        frame, note = _predictions_of(part, probability[0], wanted, path)
        parts.append(frame.assign(classifier=own))
        notes += [f"{own}: {text}" for text in (turned_note, note) if text]
    frame = pd.concat(parts, ignore_index=True)[["classifier", *SENTENCE_COLUMNS, "probability"]]
    mean = frame["probability"].mean()
    if not named and "negative" in header and positive is None and mean < 0.5:
        problem = (
            f"expected the columns negative and positive, in that order, got a mean of {mean:.3f} "
            "in the second, so that they may be swapped"
        )
        hint = "name the column of the positive class: positive=0 or positive=1 (--positive)"
        raise InputError(problem, where=path, hint=hint)
    facts = {"kind": "predictions", "file": path.name, "sha256": files.sha256_file(path)}
    if shipped:
        facts["shipped"] = path.stem
    if comments:
        facts["comment"] = "; ".join(comments)
    provenance = {str(own): dict(facts) for own in frame["classifier"].unique()}
    return Predictions(frame, occupations, provenance, tuple(notes))


def _cells_of(path: Path) -> tuple[pd.DataFrame, list[str]]:
    """Return the cells of a file, indexed by their lines, and the comments at the top."""
    if path.suffix.lower() in (".json", ".jsonl", ".ndjson"):
        held = frames.read_rows(path)
        held = held.replace({np.nan: ""}).astype(str).map(str.strip)
        header = pd.DataFrame([held.columns], columns=held.columns)
        return pd.concat([header, held], ignore_index=True), []
    lines = files.read_text(path).splitlines()
    rows = (k for k, line in enumerate(lines) if line.strip() and not line.startswith("#"))
    top = next(rows, None)
    if top is None:
        raise InputError("expected predictions, got an empty file", where=path)
    mark = next((mark for mark in "\t;" if mark in lines[top]), ",")
    with files.guarded(path, "a table of predictions", hint="quote a cell with a separator"):
        cells = pd.read_csv(
            path, sep=mark, header=None, dtype=str, skiprows=top, keep_default_na=False,
            skip_blank_lines=False,
        )  # fmt: skip
    cells.index += top + 1
    cells = cells[(cells != "").any(axis=1)].map(str.strip)
    if mark == ";":
        cells = cells.replace(r"^(\d*),(\d+)", r"\1.\2", regex=True)
    return cells, [in_one_line(line.lstrip("# ")) for line in lines[:top] if line.strip()]


def _predictions_of(
    part: pd.DataFrame, column: str, wanted: pd.DataFrame, path: Path
) -> tuple[pd.DataFrame, str]:
    """Return the sentences of one classifier with their probabilities, and a note."""

    def refuse(bad: Any, problem: str, found: Any, **more: Any) -> None:
        """Raise an error for the first bad row."""
        if np.any(bad):
            row = int(np.argmax(bad))
            where = f"{path}, line {part.index[row]}"
            raise InputError(problem, where=where, found=found.iloc[row], **more)

    main = int((~wanted["control"]).sum())
    counts = f"{main} predictions, or {len(wanted)} with the control sentences"
    numbers = part.reindex(columns=[column, "negative"]).apply(pd.to_numeric, errors="coerce")
    refuse(numbers[column].isna(), "expected a number", part[column])
    if "negative" in part:
        refuse(numbers["negative"].isna(), "expected a number", part["negative"])
        total = numbers.sum(axis=1)
        refuse(
            (total - 1).abs() > 1e-3, "expected probabilities of two classes that sum to 1", total
        )
    note = ""
    if "sentence" in part:
        texts = part["sentence"]
        unknown = ~texts.isin(wanted["sentence"])
        hint = nearest(texts[unknown].iloc[0], wanted["sentence"]) if unknown.any() else None
        refuse(unknown, "expected a sentence of the list", texts, hint=hint or _OTHERS)
        refuse(texts.duplicated(), "expected each sentence once", texts)
        if (np.diff(pd.Index(wanted["sentence"]).get_indexer(pd.Index(texts))) < 0).any():
            note = "the rows were put in order by their sentences"
    elif len(part) in (main, len(wanted)):
        texts = wanted["sentence"].iloc[: len(part)].set_axis(part.index)
    else:
        raise InputError(f"expected {counts}", where=path, found=len(part), hint=_OTHERS)
    lines = [f"line {line}" for line in part.index]
    values = checked_probabilities(numbers[column], texts.tolist(), str(path), lines)
    # Columns that repeat what the sentence says: a swapped label is found here.
    right = wanted.set_index("sentence").loc[texts].astype(str)
    rule = "write a column sentence, or keep the order of `bayesbias sentiment sentences`"
    for name in {"gender", "noun", "noun_pair", "profession", "control"} & {*part.columns}:
        other = part[name].str.lower().to_numpy() != right[name].str.lower().to_numpy()
        expected = right[name].iloc[int(np.argmax(other))]
        refuse(other, f"expected the {name} of the sentence, {expected!r}", part[name], hint=rule)
    frame = wanted[wanted["sentence"].isin(texts)]
    lacking = wanted.drop(index=frame.index)
    if not lacking["control"].all() or len(lacking) not in (0, len(wanted) - main):
        found = f"{len(part)}, without {lacking['sentence'].iloc[0]!r}"
        raise InputError(f"expected {counts}", where=path, found=found)
    return frame.assign(probability=pd.Series(values, texts)[frame["sentence"]].to_numpy()), note


def list_predictions(name: str = "m1") -> Predictions:
    """Return predictions that come with the package, by name.

    ``m1`` is our own M.1, the bag of words of the paper as `train_bow` makes it of SST-2
    (development accuracy 0.8268), for all sentences and the control sentences.
    `tools/predict_m1.py` made it; the file says of what.

    Raises
    ------
    InputError
        If there are none of this name.

    Examples
    --------
    >>> list_predictions("m1")
    <Predictions: 800 sentences and 40 controls by m1 (mean 0.500)>
    """
    return load_predictions(checks.choice(name, files.list_names("sentiment", ".csv"), "name"))


def score_sentences(
    classifier: Any,
    corpus: Corpus = "occupations",
    *,
    name: str | None = None,
    control: bool = True,
    batch: int = 32,
    partial: checks.FilePath | None = None,
    check: bool = True,
    positive: Any = None,
    allow_pickle: bool = False,
    progress: bool | None = None,
) -> Predictions:
    """Predict the sentiment of all sentences of the test bench.

    Parameters
    ----------
    classifier
        What `load_classifier` takes.
    corpus
        What `load_occupations` takes.
    name : str, optional
        A short name for the classifier.
    control : bool
        Whether to predict the control sentences too.
    batch : int
        Sentences handed to the classifier at a time.
    partial : str or path, optional
        A CSV file to keep finished batches in. Where it is there already, its sentences are not
        predicted again; it is removed when all is done.
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
    InputError
        If there is no such classifier or corpus, its classes seem swapped, or it fails on a batch or
        returns what are no probabilities. `partial` keeps the batches before.

    Examples
    --------
    >>> score_sentences(lambda sentences: [0.4 if "truck" in s else 0.6 for s in sentences], name="toy")
    <Predictions: 800 sentences and 40 controls by toy (mean 0.590)>
    """
    checks.count(batch, "batch")
    occupations = load_occupations(corpus)
    model = load_classifier(classifier, name=name, positive=positive, allow_pickle=allow_pickle)
    frame = occupations.sentences(control=control)
    sentences, notes = frame["sentence"].tolist(), []
    kept = None if partial is None else files.path_of(partial, "partial")
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
                problem = (
                    f"expected probabilities of {place}, got an error ({describe_error(error)})"
                )
                raise _failed(problem, model, len(done), kept) from error
            if kept is not None:
                rows = pd.Series(done, name="probability").rename_axis("sentence")
                text = rows.to_csv(lineterminator="\n")
                files.write_whole(kept, f"{_owner(model)}\n{text}")
            tick(len(part))
    notes += _check_classes(model, len(done), kept) if check else []
    notes += _weaknesses(model, done)
    frame = frame.assign(classifier=model.name, probability=[done[s] for s in sentences])
    if kept is not None:
        kept.unlink(missing_ok=True)
    frame = frame[["classifier", *SENTENCE_COLUMNS, "probability"]].reset_index(drop=True)
    return Predictions(frame, occupations, {model.name: dict(model.provenance)}, tuple(notes))


def _failed(
    problem: str, model: Classifier, done: int, kept: Path | None, hint: str = ""
) -> InputError:
    """Return an error that says where the finished predictions are."""
    if done:
        finished = number_of(done, "finished prediction")
        where = "with partial=FILE a second run continues" if kept is None else f"kept in {kept}"
        hint = "; ".join(filter(None, (hint, f"{finished}: {where}")))
    return InputError(
        in_one_line(problem, 300), where=f"classifier {model.name!r}", hint=hint or None
    )


def _owner(model: Classifier) -> str:
    return f"# finished by: {model.name} {model.provenance.get('sha256', '')[:16]}".rstrip()


def _read_partial(path: Path, model: Classifier) -> dict[str, float]:
    """Return the finished predictions of an earlier run; none if there are none."""
    if not path.exists():
        return {}
    with files.guarded(path, "unfinished predictions"), open(path, encoding="utf-8") as file:
        owner = file.readline().rstrip("\n")
        frame = pd.read_csv(file, keep_default_na=False)
        done = dict(zip(frame["sentence"], frame["probability"].astype(float), strict=True))
    if owner != _owner(model):
        problem = "expected unfinished predictions of this classifier"
        hint = "name another file, or remove this one"
        raise InputError(problem, where=path, found=owner, valid=_owner(model), hint=hint)
    return done


def _check_classes(model: Classifier, done: int, kept: Path | None) -> list[str]:
    """Refuse a classifier that takes good for bad; return notes."""
    try:
        good, bad = model(list(_GOOD)), model(list(_BAD))
    except Exception as error:  # a table of known sentences, say, which is no fault
        reason = describe_error(error)
        return [f"whether the classes are swapped could not be checked: {reason}"]
    wins = (good[:, None] > bad).mean() + 0.5 * (good[:, None] == bad).mean()
    if wins <= 0.1:
        problem = (
            "expected higher probabilities for good sentences than for bad ones, got means of "
            f"{np.mean(good):.2f} and {np.mean(bad):.2f}: its classes seem swapped"
        )
        hint = "hand over the probability of the positive class, or say check=False (--no-check)"
        raise _failed(problem, model, done, kept, hint)
    return []


def _weaknesses(model: Classifier, done: Mapping[str, float]) -> list[str]:
    """Say what is known to be weak about a classifier."""
    about, notes = model.provenance, []
    positive, labels = about.get("positive"), about.get("labels", ())
    if positive is not None and not any(done.values()):
        notes.append(f"{model.name}: no sentence got the positive label {positive!r}")
    coverage = about.get("coverage")
    if coverage and coverage["tokens_with_vector"] < _LITTLE:
        notes.append(
            f"{model.name}: the word vectors hold {coverage['words_with_vector']:,} of the {coverage['words']:,} words of "
            f"its training data, {coverage['tokens_with_vector']:.0%} of the text; it learned the others from that text alone"
        )
    others = [label for label in labels if label != positive]
    if len(others) > 1:
        notes.append(
            f"{model.name} has {len(others) + 1} classes; the probability is that of {positive}, so "
            f"that {' and '.join(others)} count alike as not positive"
        )
    return notes
