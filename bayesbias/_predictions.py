"""Occupational sentences, and what classifiers predict for them: run here, or read from a file.

Source: Bhaskaran & Bhallamudi (2019), Good Secretaries, Bad Truck Drivers? Occupational Gender Stereotypes in
Sentiment Analysis, section 3.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
import os
import re
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesbias import _classifiers
from bayesbias._classifiers import Classifier, checked_probabilities
from bayesbias._progress import ticking
from bayesbias._resources import find_toml, parse_toml, read_bytes, sha256_file, whole_file
from bayesbias.errors import InputError, nearest
from bayesbias.sentences import _article

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "ClassifierError",
    "Occupations",
    "Predictions",
    "load_classifier",
    "load_occupations",
    "occupation_sentences",
    "predict",
    "read_predictions",
]

GENDERS = ("male", "female")
_COLUMNS = ("sentence", "noun_pair", "noun", "gender", "profession", "category", "control")
_TEMPLATE = "{noun} is {a} {profession}."
_UNSTATED = "not stated"

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
    """

    finished: pd.DataFrame


# -- sentences -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Occupations:
    """Noun pairs, professions and the template that makes sentences of them.

    Attributes
    ----------
    name : str
    source : str
        Where the words come from.
    origin : str
        The file.
    noun_pairs : pandas.DataFrame
        ``noun_pair, male, female, template``.
    professions : pandas.DataFrame
        ``profession, category, article, earnings, female_share``; the last two missing (NA) where not stated.
    control : str
        What stands for a profession in the control sentences.
    categories : dict
        Category -> what it means.
    """

    name: str
    source: str
    origin: str
    noun_pairs: pd.DataFrame
    professions: pd.DataFrame
    control: str
    categories: dict[str, str]

    def sentences(self, *, control: bool = False) -> pd.DataFrame:
        """Return the sentences, see `occupation_sentences`."""
        import pandas as pd

        rows = []
        words = [
            (*row, False)
            for row in self.professions[["profession", "category", "article"]].itertuples(index=False)
        ]
        checks = [(self.control, "control", _article(self.control), True)]
        pairs = list(self.noun_pairs.itertuples(index=False))
        for group in (words, checks) if control else (words,):
            for gender in GENDERS:
                for profession, category, article, is_control in group:
                    for pair in pairs:
                        noun = getattr(pair, gender)
                        text = pair.template.format(noun=noun, a=article, profession=profession)
                        rows.append((text, pair.noun_pair, noun, gender, profession, category, is_control))
        return pd.DataFrame(rows, columns=list(_COLUMNS))

    @property
    def sha256(self) -> str:
        """SHA-256 of all sentences, the control sentences included."""
        return hashlib.sha256("\n".join(self.sentences(control=True)["sentence"]).encode("utf-8")).hexdigest()

    @property
    def earnings(self) -> dict[str, float]:
        """Profession -> median weekly earnings, of the professions for which they are stated."""
        known = self.professions.dropna(subset="earnings")
        return {p: float(e) for p, e in zip(known["profession"], known["earnings"], strict=True)}

    def __repr__(self) -> str:
        n, m = len(self.noun_pairs), len(self.professions)
        return f"<Occupations {self.name!r}: {n} noun pairs, {m} professions, {2 * n * m} sentences and {2 * n} controls>"


def load_occupations(
    source: str | os.PathLike[str] | Mapping[str, Any] | Occupations = "occupations",
) -> Occupations:
    """Load noun pairs, professions and a template.

    Parameters
    ----------
    source : str, path, mapping or Occupations
        ``"occupations"``, the published list; the path of a TOML file of the same form as
        ``wordlists/sentiment/occupations.toml``, which may be copied; or its content as a mapping.

        ``noun_pairs`` (each ``male``, ``female`` and perhaps a ``template``) and ``professions`` (names, or
        tables with ``name`` and perhaps ``category``, ``article``, ``earnings``, ``female_share``) are
        needed. ``template`` holds ``{noun}``, ``{profession}`` and perhaps ``{a}``, which becomes a or an.

    Returns
    -------
    Occupations

    Raises
    ------
    InputError
        Naming file and key, where something is missing, unknown or stated twice.

    Examples
    --------
    >>> load_occupations()
    <Occupations 'occupations': 20 noun pairs, 20 professions, 800 sentences and 40 controls>
    >>> own = load_occupations({"noun_pairs": [{"male": "He", "female": "She"}], "professions": ["engineer"]})
    >>> own.sentences()["sentence"].tolist()
    ['He is an engineer.', 'She is an engineer.']
    """
    import pandas as pd

    if isinstance(source, Occupations):
        return source
    if isinstance(source, Mapping):
        data, where, name = dict(source), "occupations", "own"
    else:
        path = find_toml(source, "wordlists/sentiment", "list of occupations")
        where = f"wordlists/sentiment/{path.name}" if path.stem == os.fspath(source) else str(path)
        data, name = parse_toml(read_bytes(path), where), path.stem
    valid = (
        "schema", "name", "source", "edits", "disagreements", "template", "control", "noun_pairs", "professions",
        "categories",
    )  # fmt: skip
    _check_keys(data, ("noun_pairs", "professions"), valid, where)
    if data.get("schema", 1) != 1:
        raise InputError("unknown schema", where=f"{where}, schema", found=data["schema"], valid="1")
    template = _template(data.get("template", _TEMPLATE), f"{where}, template")
    control = _text(data.get("control", "person"), f"{where}, control")
    categories = data.get("categories", {})
    if not isinstance(categories, Mapping):
        raise InputError("must be a table", where=f"{where}, categories", found=categories)

    pairs = []
    for i, item in enumerate(_listed(data["noun_pairs"], f"{where}, noun_pairs"), start=1):
        here = f"{where}, noun_pairs, number {i}"
        if not isinstance(item, Mapping):
            raise InputError(
                "must be a table", where=here, found=item, valid='{ male = "...", female = "..." }'
            )
        _check_keys(item, GENDERS, (*GENDERS, "template"), here)
        male, female = (_text(item[gender], f"{here}, {gender}") for gender in GENDERS)
        own = _template(item["template"], f"{here}, template") if "template" in item else template
        pairs.append((f"{male} / {female}", male, female, own))
    rows = []
    for i, item in enumerate(_listed(data["professions"], f"{where}, professions"), start=1):
        here = f"{where}, professions, number {i}"
        item = {"name": item} if isinstance(item, str) else item
        if not isinstance(item, Mapping):
            raise InputError("must be a text or a table", where=here, found=item)
        _check_keys(item, ("name",), ("name", "category", "article", "earnings", "female_share"), here)
        word = _text(item["name"], f"{here}, name")
        category = _text(item.get("category", _UNSTATED), f"{here}, category")
        if categories and category not in (*categories, _UNSTATED):
            raise InputError(
                "unknown category", where=f"{here}, category", found=category, valid=categories,
                hint=nearest(category, categories),
            )  # fmt: skip
        article = _text(item.get("article", _article(word)), f"{here}, article")
        numbers = [
            _number(item, key, most, here) for key, most in (("earnings", math.inf), ("female_share", 100))
        ]
        rows.append((word, category, article, *numbers))
    frame = pd.DataFrame(rows, columns=["profession", "category", "article", "earnings", "female_share"])
    frame = frame.astype({"earnings": "Float64", "female_share": "Float64"})
    nouns = pd.DataFrame(pairs, columns=["noun_pair", "male", "female", "template"])
    said_name, said_source = data.get("name", name), data.get("source", "")
    for value, key in ((said_name, "name"), (said_source, "source")):
        if not isinstance(value, str):
            raise InputError("must be a text", where=f"{where}, {key}", found=value)
    out = Occupations(said_name, said_source, where, nouns, frame, control, dict(categories))
    for column, label in (("noun_pair", "noun pair"), ("profession", "profession")):
        values = (nouns if column == "noun_pair" else frame)[column]
        if values.duplicated().any():
            raise InputError(
                f"a {label} is listed twice", where=where, found=values[values.duplicated()].iloc[0]
            )
    made = out.sentences(control=True)["sentence"]
    if made.duplicated().any():
        raise InputError(
            "a sentence is made twice", where=where, found=made[made.duplicated()].iloc[0],
            valid="nouns and professions that differ, and a control that is none of the professions",
        )  # fmt: skip
    return out


def occupation_sentences(
    source: str | os.PathLike[str] | Mapping[str, Any] | Occupations = "occupations", *, control: bool = False
) -> pd.DataFrame:
    """Return the sentences of the test bench.

    Parameters
    ----------
    source
        What `load_occupations` takes.
    control : bool
        Whether to add the control sentences, in which ``person`` stands for the profession.

    Returns
    -------
    pandas.DataFrame
        ``sentence, noun_pair, noun, gender`` (male or female)``, profession, category, control`` (bool).
        First all male sentences, professions outer and nouns inner, then all female ones in the same order;
        then the control sentences likewise. That is the published order: row i and row i + 400 are a pair.

    Examples
    --------
    >>> sentences = occupation_sentences(control=True)
    >>> sentences.loc[[0, 400, 800], ["sentence", "noun_pair", "gender", "profession"]].values.tolist()[1:]
    [['She is a doctor.', 'He / She', 'female', 'doctor'], ['He is a person.', 'He / She', 'male', 'person']]
    """
    return load_occupations(source).sentences(control=control)


# -- predictions -----------------------------------------------------------------------------------


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
        """Write the predictions as CSV or TSV (by the ending), whole or not at all; `read_predictions` reads them."""
        path = Path(path)
        if path.suffix not in (".csv", ".tsv"):
            raise InputError("unknown kind of file", where=path, found=path.suffix, valid=".csv, .tsv")
        with whole_file(path) as temporary:
            self.frame.to_csv(temporary, index=False, sep="," if path.suffix == ".csv" else "\t")
        return path

    def __repr__(self) -> str:
        main = self.frame[~self.frame["control"]]
        said = [
            f"{n} (mean {g['probability'].mean():.3f})" for n, g in main.groupby("classifier", sort=False)
        ]
        controls = int(self.frame.loc[self.frame["control"], "sentence"].nunique())
        notes = "".join(f"; {note}" for note in self.notes)
        return (
            f"<Predictions: {main['sentence'].nunique()} sentences and {controls} controls "
            f"by {', '.join(said)}{notes}>"
        )


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
    x : Classifier, callable, scikit-learn pipeline, str or path
        A callable from a list of n sentences to n positive-class probabilities; a fitted pipeline that takes
        sentences and has ``predict_proba``; the folder of a classifier made by `train_bow` or `train_bilstm`;
        a file of predictions (see `read_predictions`); ``"joblib:PATH"``, a pipeline saved with joblib, which
        is a pickle; ``"transformers:NAME_OR_PATH"``, a Hugging Face text-classification model (extra
        ``encoders``).
    name : str, optional
        A short name, for tables and figures.
    positive : optional
        Which class is positive, by its label, where it is called neither "positive" nor, of two numbers, 1.
        It is never guessed. Of a file of two columns without a header: 0 or 1, the column.
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
    """
    if isinstance(x, Classifier):
        return x if name is None else Classifier(name, x.predict, x.provenance, x.only)
    if isinstance(x, str | os.PathLike):
        text = os.fspath(x)
        scheme, colon, rest = text.partition(":")
        if colon and scheme in ("joblib", "transformers"):
            if not rest:
                raise InputError(
                    "names nothing",
                    found=text,
                    valid=f"{scheme}:{'PATH' if scheme == 'joblib' else 'NAME_OR_PATH'}",
                )
            if scheme == "joblib":
                return _classifiers.from_joblib(Path(rest).expanduser(), name, positive, allow_pickle)
            return _classifiers.from_transformers(rest, name, positive)
        path = Path(text).expanduser()
        if path.is_dir():
            return _classifiers.open_folder(path, name)
        if path.suffix in (".joblib", ".pkl", ".pickle") and path.is_file():
            return _classifiers.from_joblib(path, name, positive, allow_pickle)
        if path.is_file():
            return _from_predictions(read_predictions(path, corpus, name=name, positive=positive), path)
        raise InputError(
            "no such classifier", found=text,
            valid="a file of predictions, a folder made by `bayesbias sentiment train`, joblib:PATH, transformers:NAME_OR_PATH",
            hint=nearest(scheme, ("joblib", "transformers")) if colon else None,
        )  # fmt: skip
    if hasattr(x, "predict_proba"):
        kind = f"scikit-learn {type(x).__name__}"
        return _classifiers.from_estimator(x, name or type(x).__name__, positive, {"kind": kind})
    if callable(x):
        if positive is not None:
            raise InputError(
                "is not for callables, which return positive-class probabilities",
                where="positive",
                found=positive,
            )
        own = getattr(x, "__name__", type(x).__name__)
        return Classifier(name or (own if own.isidentifier() else "classifier"), x, {"kind": "callable"})
    raise InputError(
        "is no classifier", found=type(x).__name__,
        valid="a callable from sentences to probabilities, a fitted pipeline with predict_proba, a path, joblib:PATH, "
        "transformers:NAME",
    )  # fmt: skip


def _from_predictions(predictions: Predictions, path: Path) -> Classifier:
    if len(predictions.classifiers) > 1:
        raise InputError(
            "holds several classifiers", where=path, found=", ".join(predictions.classifiers), valid="one",
            hint="read them all with read_predictions",
        )  # fmt: skip
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


def predict(
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
        What `load_classifier` takes. A file of predictions is read as it is by `read_predictions`.
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
    >>> predict(lambda sentences: [0.4 if "truck" in s else 0.6 for s in sentences], name="toy")
    <Predictions: 800 sentences and 40 controls by toy (mean 0.590)>
    """
    if not isinstance(batch, int) or batch < 1:
        raise InputError("must be a whole number above 0", where="batch", found=batch)
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
    kept = None if partial is None else _Kept(Path(partial), model)
    done: dict[str, float] = {} if kept is None else kept.read()
    left = [s for s in sentences if s not in done]
    if len(left) < len(sentences):
        notes.append(f"{len(sentences) - len(left)} predictions were taken from {Path(str(partial)).name}")
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
    frame = frame[["classifier", *_COLUMNS, "probability"]].reset_index(drop=True)
    return Predictions(frame, occupations, {model.name: dict(model.provenance)}, tuple(notes))


def _predicted(
    model: Classifier, part: list[str], place: str, done: Mapping[str, float], kept: _Kept | None
) -> npt.NDArray[np.float64]:
    try:
        return model(part)
    except Exception as error:  # somebody else's code may raise anything
        said = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        raise _failed(f"failed on {place}: {said}", model, done, kept) from error


def _failed(
    problem: str, model: Classifier, done: Mapping[str, float], kept: _Kept | None
) -> ClassifierError:
    import pandas as pd

    if kept is None:
        hint = f"{len(done)} predictions were finished; with partial=FILE a second run takes them up"
    else:
        hint = f"{len(done)} finished predictions are in {kept.path}, where a second run takes them up"
    out = ClassifierError(problem, where=f"classifier {model.name!r}", hint=hint)
    out.finished = pd.DataFrame({"sentence": list(done), "probability": list(done.values())})
    return out


@dataclass(frozen=True)
class _Kept:
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
            rows = csv.writer(file, delimiter=_delimiter(self.path))
            rows.writerow(["sentence", "probability"])
            rows.writerows((sentence, repr(p)) for sentence, p in done.items())

    def read(self) -> dict[str, float]:
        delimiter = _delimiter(self.path)
        if not self.path.exists():
            return {}
        head, _, rest = _read_text(self.path).partition("\n")
        owner = head.removeprefix("# finished by: ").strip()
        if not head.startswith("# finished by: ") or owner != self._owner:
            raise InputError(
                "does not hold unfinished predictions of this classifier", where=self.path, found=head[:80],
                valid=f"# finished by: {self._owner}", hint="name another file, or remove this one",
            )  # fmt: skip
        rows = list(csv.reader(io.StringIO(rest), delimiter=delimiter))[1:]
        sentences = [row[0] for row in rows if row]
        numbers = [_float(row[-1], f"{self.path}, line {i}") for i, row in enumerate(rows, start=3) if row]
        values = checked_probabilities(numbers, sentences, str(self.path))
        return dict(zip(sentences, values.tolist(), strict=True))


def _delimiter(path: Path) -> str:
    if path.suffix not in (".csv", ".tsv"):
        raise InputError("unknown kind of file", where=path, found=path.suffix, valid=".csv, .tsv")
    return "," if path.suffix == ".csv" else "\t"


def _check_classes(model: Classifier, done: Mapping[str, float], kept: _Kept | None) -> list[str]:
    """Refuse a classifier that takes good for bad; return notes."""
    try:
        good, bad = model(list(_GOOD)), model(list(_BAD))
    except Exception as error:  # a table of known sentences, say, which is no fault
        return [f"whether the classes are swapped could not be checked: {type(error).__name__}: {error}"]
    wins = (good[:, None] > bad).mean() + 0.5 * (good[:, None] == bad).mean()
    if wins <= 0.1:
        raise _failed(
            f"seems to have its classes swapped: of plain sentences it rates the good ones {good.mean():.2f} on average "
            f"and the bad ones {bad.mean():.2f}; hand over the probability of the positive class, or say "
            "check=False (--no-check)",
            model, done, kept,
        )  # fmt: skip
    return []


# -- files of predictions --------------------------------------------------------------------------


def read_predictions(
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
        A text file, tab or comma separated, in one of these layouts. Lines at the top that begin with # are
        comments.

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
    >>> import tempfile
    >>> made = predict(lambda sentences: [0.6] * len(sentences), name="toy")
    >>> read_predictions(made.save(Path(tempfile.mkdtemp()) / "toy.csv"))
    <Predictions: 800 sentences and 40 controls by toy (mean 0.600)>
    """
    path = Path(path).expanduser()
    if positive not in (None, 0, 1):
        try:
            positive = int(str(positive))
        except ValueError:
            positive = -1
        if positive not in (0, 1):
            raise InputError("must be the number of a column", where="positive", found=positive, valid="0, 1")
    if path.is_dir():
        raise InputError("is a folder, not a file of predictions", where=path)
    occupations = load_occupations(corpus)
    wanted = occupations.sentences(control=True)
    lines, comments = _lines_of(path)
    name = name or path.stem
    first = [cell.strip() for cell in lines[0][1]]
    if not any(_is_number(cell) for cell in first):
        header = [cell.lower() for cell in first]
        _one_class_only(path, positive, "a header that names the probability")
        groups, notes = _with_header(lines[1:], header, wanted, path, name)
    else:
        groups, notes = _without_header(lines, wanted, path, name, positive)
    accuracy = re.search(r"accuracy\D*([01](?:\.\d+)?)", " ".join(comments))
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
                f"{missing} sentences have no prediction", where=f"{path}, classifier {label!r}",
                found=lacking["sentence"].iloc[0], valid=_counts(wanted),
            )  # fmt: skip
        frames.append(part.assign(classifier=label, probability=[numbers[s] for s in part["sentence"]]))
    frame = pd.concat(frames, ignore_index=True)[["classifier", *_COLUMNS, "probability"]]
    facts = {"kind": "predictions", "file": path.name, "sha256": sha256_file(path)}
    if comments:
        facts["comment"] = " ".join(comments)
    return Predictions(frame, occupations, {label: dict(facts) for label in groups}, tuple(notes))


_Lines = list[tuple[int, list[str]]]


def _lines_of(path: Path) -> tuple[_Lines, list[str]]:
    text = _read_text(path)
    lines = text.splitlines()
    start = 0
    while start < len(lines) and (lines[start].startswith("#") or not lines[start].strip()):
        start += 1
    comments = [line.lstrip("# ").strip() for line in lines[:start] if line.strip()]
    if start == len(lines):
        raise InputError("holds no predictions", where=path)
    delimiter = "\t" if "\t" in lines[start] else ","
    rows: _Lines = []
    reader = csv.reader(io.StringIO("\n".join(lines[start:])), delimiter=delimiter)
    for row in reader:
        if any(cell.strip() for cell in row):
            rows.append((start + reader.line_num, row))
    width = len(rows[0][1])
    for i, row in rows:
        if len(row) != width:
            raise InputError(
                "wrong number of columns", where=f"{path}, line {i}", found=len(row), valid=str(width)
            )
    return rows, comments


def _with_header(
    lines: _Lines, header: list[str], wanted: pd.DataFrame, path: Path, name: str
) -> tuple[dict[str, dict[str, float]], list[str]]:
    column = "probability" if "probability" in header else "positive"
    if column not in header:
        raise InputError(
            "the header lacks a column", where=path, found=", ".join(header), valid="probability (or positive), sentence",
            hint=next(filter(None, (nearest(h, ("probability", "positive")) for h in header)), None),
        )  # fmt: skip
    repeated = [h for h in header if header.count(h) > 1]
    if repeated:
        raise InputError("a column stands twice", where=path, found=repeated[0])
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
        numbers = _numbers(part, at[column], path)
        if "negative" in at:
            _check_sums(_numbers(part, at["negative"], path), numbers, rows, path)
        if "sentence" in at:
            texts = [row[at["sentence"]].strip() for _, row in part]
            out[label] = _by_sentence(texts, numbers, rows, wanted, path, notes)
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
        return {name: _by_position(_numbers(lines, 0, path), rows, wanted, path)}, notes
    if width != 2:
        raise InputError(
            "unknown layout", where=path, found=f"{width} columns without a header",
            valid="one probability; negative and positive probability; sentence and probability; or a header",
        )  # fmt: skip
    texts = [c for c in (0, 1) if not _is_number(lines[0][1][c])]
    if texts:
        _one_class_only(path, positive, "one column of probabilities")
        numbers = _numbers(lines, 1 - texts[0], path)
        return {
            name: _by_sentence(
                [row[texts[0]].strip() for _, row in lines], numbers, rows, wanted, path, notes
            )
        }, notes
    columns = [_numbers(lines, c, path) for c in (0, 1)]
    _check_sums(columns[0], columns[1], rows, path)
    chosen = 1 if positive is None else positive
    out = _by_position(columns[chosen], rows, wanted, path)
    mean = float(np.mean(list(out.values())))
    if positive is None and mean < 0.5:
        raise InputError(
            f"the columns may be swapped: the second, taken for the positive class, has a mean of {mean:.3f}",
            where=path, valid="negative and positive class, in that order",
            hint="state it: positive=0 (--positive 0) if the first column is the positive class, 1 if the second is",
        )  # fmt: skip
    return {name: out}, notes


def _one_class_only(path: Path, positive: int | None, found: str) -> None:
    """Refuse the choice of a column where there is none to choose, for its sign would be guessed."""
    if positive is not None:
        raise InputError(
            "there is no column to choose: these probabilities are taken for those of the positive class",
            where=path, found=f"{found}, and positive={positive}", hint="where they are of the negative class, write 1 - p",
        )  # fmt: skip


def _numbers(lines: _Lines, column: int, path: Path) -> list[float]:
    return [_float(row[column], f"{path}, line {i}") for i, row in lines]


def _float(cell: str, where: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise InputError(
            "is not a number", where=where, found=cell, valid="a probability in [0, 1]"
        ) from None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _check_sums(negative: list[float], positive: list[float], rows: list[str], path: Path) -> None:
    for a, b, row in zip(negative, positive, rows, strict=True):
        if math.isfinite(a) and math.isfinite(b) and abs(a + b - 1) > 1e-3:
            raise InputError(
                "the two classes' probabilities do not sum to 1", where=f"{path}, {row}", found=(a, b),
                hint="are these scores or logits? then hand over probabilities",
            )  # fmt: skip


def _counts(wanted: pd.DataFrame) -> str:
    n = int((~wanted["control"]).sum())
    return f"{n} predictions, or {len(wanted)} with the control sentences"


def _by_position(numbers: list[float], rows: list[str], wanted: pd.DataFrame, path: Path) -> dict[str, float]:
    if len(numbers) not in (int((~wanted["control"]).sum()), len(wanted)):
        raise InputError(
            "the number of predictions is wrong", where=path, found=len(numbers), valid=_counts(wanted)
        )
    sentences = wanted["sentence"].tolist()[: len(numbers)]
    values = checked_probabilities(numbers, sentences, str(path), rows)
    return dict(zip(sentences, values.tolist(), strict=True))


def _by_sentence(
    texts: list[str],
    numbers: list[float],
    rows: list[str],
    wanted: pd.DataFrame,
    path: Path,
    notes: list[str],
) -> dict[str, float]:
    known = {s: i for i, s in enumerate(wanted["sentence"])}
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
        notes.append("the rows were put in order by their sentences")
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
                    f"the {column} does not fit the sentence {text!r}", where=f"{path}, line {i}",
                    found=row[at[column]], valid=value,
                )  # fmt: skip


def _read_text(path: Path) -> str:
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("is not valid UTF-8", where=path, found=error.object[error.start :][:4]) from None


# -- small things ----------------------------------------------------------------------------------


def _check_keys(data: Mapping[str, Any], needed: Iterable[str], valid: Sequence[str], where: str) -> None:
    for key in data:
        if key not in valid:
            raise InputError(
                "unknown key", where=where, found=key, valid=valid, hint=nearest(str(key), valid)
            )
    lacking = [key for key in needed if key not in data]
    if lacking:
        raise InputError("lacks a key", where=where, found=list(data), valid=lacking)


def _listed(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list | tuple) or not value:
        raise InputError("must be a list that is not empty", where=where, found=value)
    return list(value)


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError("must be a text, and not an empty one", where=where, found=value)
    return value.strip()


def _number(item: Mapping[str, Any], key: str, most: float, where: str) -> float | None:
    value = item.get(key)
    if value is None:
        return None
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not 0 <= value <= most
        or value == math.inf
    ):
        limit = "a number of 0 or more" if most == math.inf else f"a number from 0 to {most:g}"
        raise InputError("is out of range", where=f"{where}, {key}", found=value, valid=limit)
    return float(value)


def _template(value: Any, where: str) -> str:
    text = _text(value, where)
    try:
        parts = list(string.Formatter().parse(text))
    except ValueError as error:
        raise InputError(f"is not a template: {error}", where=where, found=text) from None
    fields = [name for _, name, _, _ in parts if name is not None]
    plain = all(not spec and not conversion for _, name, spec, conversion in parts if name is not None)
    if set(fields) - {"a"} != {"noun", "profession"} or not plain:
        raise InputError(
            "does not hold the right fields",
            where=where,
            found=text,
            valid="{noun} and {profession}, and perhaps {a}",
        )
    return text
