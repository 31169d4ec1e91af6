"""Sentiment classifiers behind one small face, and the two reference classifiers that a user can train.

A classifier is a name and a function from sentences to the probability that each is positive. The two
reference classifiers of Bhaskaran & Bhallamudi (2019), section 3, are trained with scikit-learn and PyTorch;
once trained they are tables of numbers, kept without any pickle, and predict with numpy alone.
"""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesbias._progress import ticking
from bayesbias._resources import data_dir, read_bytes, read_toml, sha256_file, whole_file
from bayesbias.embedding import Embedding, load_embedding
from bayesbias.errors import InputError, nearest

__all__ = ["Classifier", "read_labelled", "train_bilstm", "train_bow"]

_SETTINGS, _WEIGHTS = "classifier.json", "weights.safetensors"
_POSITIVE = ("positive", "pos")
_LITTLE = 0.5  # share of the training text whose words have vectors
_ROUNDING = 1e-6  # a softmax in single precision may end this far above 1
_BOW_TOKEN = re.compile(r"\b\w\w+\b")
_TREEBANK_TOKEN = re.compile(r"\w+(?=n't\b)|n't\b|'\w+|\w+|[^\w\s]")


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
            Where there are more or fewer probabilities than sentences, or one is no number in [0, 1].
        """
        if isinstance(sentences, str):
            raise InputError("one sentence was given where a list is expected", found=sentences)
        sentences = list(sentences)
        return checked_probabilities(self.predict(sentences), sentences, f"classifier {self.name!r}")

    def unknown_words(self, sentences: Iterable[str]) -> tuple[str, ...] | None:
        """Return the words the classifier knows nothing about; None where it cannot tell.

        Only the reference classifiers can tell. Sentences that differ in unknown words alone get the
        same probability.
        """
        tell = getattr(self.predict, "unknown", None)
        return None if tell is None else tuple(tell(list(sentences)))

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write a reference classifier as JSON and safetensors; `load_classifier` reads the folder."""
        model = self.predict
        if not isinstance(model, _Bow | _BiLstm):
            raise InputError(
                "cannot be saved here", where=f"classifier {self.name!r}",
                valid="classifiers made by train_bow and train_bilstm",
            )  # fmt: skip
        return _write_folder(self, model, Path(folder))

    def weaknesses(self) -> list[str]:
        """Say what is known to be weak about it: word vectors that hold little of the training data; a third class."""
        found = []
        coverage = self.provenance.get("coverage")
        if coverage and coverage["tokens_with_vector"] < _LITTLE:
            found.append(
                f"{self.name}: the word vectors hold {coverage['words_with_vector']:,} of the {coverage['words']:,} words it "
                f"was trained on, {coverage['tokens_with_vector']:.0%} of the text; the others were learned from that text "
                "alone, and what it makes of rare words means little"
            )
        others = [
            label for label in self.provenance.get("labels", ()) if label != self.provenance.get("positive")
        ]
        if len(others) > 1:
            found.append(
                f"{self.name} has {len(others) + 1} classes; the probability is that of {self.provenance['positive']}, so "
                f"that {' and '.join(others)} count alike as not positive"
            )
        return found

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
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "does not return numbers",
            where=where,
            found=repr(values)[:60],
            valid="one probability a sentence",
        ) from None
    if array.ndim != 1:
        raise InputError(
            "must return one number a sentence", where=where, found=f"an array of shape {array.shape}",
            valid=f"shape ({len(sentences)},)",
            hint="hand over the column of the positive class" if array.ndim == 2 else None,
        )  # fmt: skip
    if len(array) != len(sentences):
        raise InputError(
            "the number of predictions is wrong", where=where, found=len(array),
            valid=f"{len(sentences)}, one a sentence",
        )  # fmt: skip
    wrong = np.flatnonzero(~((array >= -_ROUNDING) & (array <= 1 + _ROUNDING)))
    if len(wrong):
        first = int(wrong[0])
        place = rows[first] if rows is not None else repr(sentences[first])
        number = array[first]
        raise InputError(
            "is not a probability" if np.isfinite(number) else "is not a number",
            where=f"{where}, {place}", found=float(number), valid="a number in [0, 1]",
            hint=(f"{len(wrong)} such predictions; " if len(wrong) > 1 else "")
            + "are these scores or logits? then hand over probabilities"
            if np.isfinite(number) else f"{len(wrong)} such predictions",
        )  # fmt: skip
    return np.clip(array, 0.0, 1.0)


# -- reading labelled sentences --------------------------------------------------------------------


def read_labelled(path: str | os.PathLike[str]) -> tuple[list[str], npt.NDArray[np.int64]]:
    r"""Read sentences with labels 0 (negative) and 1 (positive) from a tab-separated file.

    Three layouts are told apart by their content: a header that names ``label`` and ``sentence`` (in any
    order, beside other columns); two columns without a header, one of which is all 0 and 1; and
    the four columns ``index, label, a letter, sentence`` without a header.

    Parameters
    ----------
    path : str or path
        UTF-8 text. Quotation marks are read as they stand.

    Returns
    -------
    sentences : list of str
    labels : ndarray of int

    Raises
    ------
    InputError
        Naming file and line.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "train.tsv"
    >>> _ = file.write_text("label\tsentence\n1\ta charming journey\n0\tbleak\n")
    >>> read_labelled(file)
    (['a charming journey', 'bleak'], array([1, 0]))
    """
    path = Path(path).expanduser()
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("is not valid UTF-8", where=path, found=error.object[error.start :][:4]) from None
    lines = [(i, line.split("\t")) for i, line in enumerate(text.splitlines(), start=1) if line.strip()]
    if not lines:
        raise InputError("is empty", where=path)
    first = [cell.strip().lower() for cell in lines[0][1]]
    width = len(first)
    if "label" in first or "sentence" in first:
        missing = [name for name in ("label", "sentence") if name not in first]
        if missing:
            raise InputError(
                "the header lacks a column", where=f"{path}, line 1", found=", ".join(first), valid=missing,
                hint=nearest(missing[0], first),
            )  # fmt: skip
        label, sentence = first.index("label"), first.index("sentence")
        lines = lines[1:]
    elif width == 4:
        label, sentence = 1, 3
    elif width == 2:
        columns = [
            c for c in (0, 1) if all(len(row) > c and row[c].strip() in ("0", "1") for _, row in lines)
        ]
        if len(columns) != 1:
            raise InputError(
                "no column holds labels",
                where=path,
                found=lines[0][1],
                valid="one column of 0 and 1, one of sentences",
            )
        label, sentence = columns[0], 1 - columns[0]
    else:
        raise InputError(
            "unknown layout", where=f"{path}, line {lines[0][0]}", found=f"{width} columns",
            valid="a header with label and sentence; or label, sentence; or index, label, a, sentence",
        )  # fmt: skip
    sentences, labels = [], []
    for i, row in lines:
        where = f"{path}, line {i}"
        if len(row) != width:
            raise InputError("wrong number of columns", where=where, found=len(row), valid=str(width))
        if row[label].strip() not in ("0", "1"):
            raise InputError("not a label", where=where, found=row[label], valid="0 (negative), 1 (positive)")
        if not row[sentence].strip():
            raise InputError("the sentence is empty", where=where)
        sentences.append(row[sentence])
        labels.append(int(row[label]))
    if len(set(labels)) < 2:
        raise InputError("all sentences have one label", where=path, found=labels[:1], valid="both 0 and 1")
    return sentences, np.array(labels)


# -- M.1: bag of words, tf-idf, logistic regression ------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class _Bow:
    """A trained bag of words: log odds = intercept + coefficients . unit(counts * idf)."""

    vocabulary: dict[str, int]
    weights: dict[str, np.ndarray]  # idf (v,), coefficients (v,), intercept (1,)
    settings: dict[str, Any]

    def __call__(self, sentences: list[str]) -> npt.NDArray[np.float64]:
        out = np.empty(len(sentences))
        idf, coefficients = self.weights["idf"], self.weights["coefficients"]
        for row, sentence in enumerate(sentences):
            known = [self.vocabulary[w] for w in _BOW_TOKEN.findall(sentence.lower()) if w in self.vocabulary]
            columns, counts = np.unique(np.array(known, dtype=np.int64), return_counts=True)
            values = counts * idf[columns]
            length = np.linalg.norm(values)
            out[row] = coefficients[columns] @ values / length if length else 0.0
        return _expit(out + self.weights["intercept"][0])

    def unknown(self, sentences: list[str]) -> list[str]:
        words = dict.fromkeys(w for s in sentences for w in _BOW_TOKEN.findall(s.lower()))
        return [w for w in words if w not in self.vocabulary]


def train_bow(
    data: str | os.PathLike[str],
    *,
    dev: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    name: str = "bow",
    C: float = 1.0,
) -> Classifier:
    r"""Train the bag-of-words classifier M.1: tf-idf and logistic regression. Needs the extra ``classifiers``.

    Parameters
    ----------
    data : str or path
        Labelled sentences, see `read_labelled`.
    dev : str or path, optional
        Labelled sentences to compute the accuracy on.
    out : str or path, optional
        A folder to write the classifier into; `load_classifier` reads it, and needs no extra.
    name : str
    C : float
        Inverse strength of the penalty on the coefficients; 1 in the paper.

    Returns
    -------
    Classifier
        ``provenance["dev_accuracy"]`` where `dev` is given.

    Raises
    ------
    InputError
        For bad data, and where scikit-learn is not installed.

    Notes
    -----
    Words are runs of two or more letters and digits, in lower case; idf is smoothed, and each sentence
    brought to length 1. The solver is liblinear, which penalises the intercept as well: it gives the
    published predictions to 1.2e-4, while lbfgs, which does not, is off by up to 0.02. Fitting draws no
    random numbers.

    Source: Bhaskaran & Bhallamudi (2019), section 3, M.1.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "train.tsv"
    >>> _ = file.write_text("label\tsentence\n1\ta charming film\n0\ta bleak film\n")
    >>> train_bow(file)(["charming", "a film", "bleak"]).round(2)
    array([0.59, 0.5 , 0.41])
    """
    _check_positive(C, "C")
    sentences, labels = read_labelled(data)
    try:
        import sklearn
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise InputError(
            "training a bag of words needs scikit-learn",
            hint="install it with: pip install 'bayesbias[classifiers]'",
        ) from None
    vectorizer = TfidfVectorizer(token_pattern=_BOW_TOKEN.pattern)
    try:
        counts = vectorizer.fit_transform(sentences)
    except ValueError as error:  # no word of two letters in the whole file
        raise InputError(f"cannot be learned from: {error}", where=data) from None
    fitted = LogisticRegression(C=C, solver="liblinear").fit(counts, labels)
    model = _Bow(
        {str(word): int(column) for word, column in vectorizer.vocabulary_.items()},
        {
            "idf": np.ascontiguousarray(vectorizer.idf_, dtype=np.float64),
            "coefficients": np.ascontiguousarray(fitted.coef_[0], dtype=np.float64),
            "intercept": np.array(fitted.intercept_, dtype=np.float64),
        },
        {"C": C, "solver": "liblinear"},
    )
    provenance = {"kind": "bow", **_data_facts(data, sentences), "scikit-learn": sklearn.__version__}
    return _finished(model, name, provenance, dev, out)


# -- M.2: bidirectional LSTM -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class _BiLstm:
    """A trained bidirectional LSTM on word vectors, run by numpy.

    Sentences are taken in groups of one length, so that nothing is padded and no prediction depends on the
    others of its batch.
    """

    vocabulary: dict[str, int]
    # vectors (v, d); and for each direction, forward and backward: input (4h, d), state (4h, h),
    # bias (4h,), the gates in the order input, forget, cell, output; output (2h,), output_bias (1,)
    weights: dict[str, np.ndarray]
    settings: dict[str, Any]

    def __call__(self, sentences: list[str]) -> npt.NDArray[np.float64]:
        ids = [self._ids(sentence) for sentence in sentences]
        out = np.empty(len(ids))
        for rows in _by_length(ids):
            vectors = self._vectors([ids[row] for row in rows])
            states = [self._last_state(vectors, "forward"), self._last_state(vectors[:, ::-1], "backward")]
            out[rows] = (
                np.concatenate(states, axis=1) @ self.weights["output"] + self.weights["output_bias"][0]
            )
        return _expit(out)

    def _ids(self, sentence: str) -> list[int]:
        # -1: a word without a vector, which counts as zeros; so does a sentence without a word.
        return [self.vocabulary.get(word, -1) for word in _tokens(sentence)] or [-1]

    def _vectors(self, ids: list[list[int]]) -> np.ndarray:
        array = np.array(ids)
        vectors = self.weights["vectors"][array]
        vectors[array < 0] = 0.0
        return vectors

    def _last_state(self, vectors: np.ndarray, side: str) -> np.ndarray:
        w = self.weights
        inputs = vectors @ w[f"{side}_input"].T + w[f"{side}_bias"]
        hidden = w[f"{side}_state"].shape[1]
        state = np.zeros((len(vectors), hidden), dtype=inputs.dtype)
        cell = np.zeros_like(state)
        for step in range(vectors.shape[1]):
            gates = inputs[:, step] + state @ w[f"{side}_state"].T
            taken, kept, shown = (_expit(gates[:, hidden * g : hidden * (g + 1)]) for g in (0, 1, 3))
            cell = kept * cell + taken * np.tanh(gates[:, 2 * hidden : 3 * hidden])
            state = shown * np.tanh(cell)
        return state

    def unknown(self, sentences: list[str]) -> list[str]:
        words = dict.fromkeys(w for s in sentences for w in _tokens(s))
        return [w for w in words if w not in self.vocabulary]


def train_bilstm(
    data: str | os.PathLike[str],
    vectors: str | os.PathLike[str] | Mapping[str, Any] | Embedding,
    *,
    dev: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    name: str = "bilstm",
    words: Iterable[str] = (),
    hidden: int = 128,
    dropout: float = 0.25,
    batch: int = 64,
    epochs: int = 10,
    patience: int = 2,
    learning_rate: float = 1e-3,
    tune_vectors: bool = False,
    seed: int = 0,
    progress: bool | None = None,
) -> Classifier:
    """Train the recurrent classifier M.2: a bidirectional LSTM on word vectors. Needs the extra ``encoders``.

    Parameters
    ----------
    data : str or path
        Labelled sentences, see `read_labelled`.
    vectors : anything `load_embedding` reads
        Word vectors; the paper has GloVe's of 300 dimensions. Only the words needed are read.
    dev : str or path, optional
        Labelled sentences that decide when to stop, and to compute the accuracy on. Without them one sentence
        in twenty of `data` is set aside for stopping.
    out : str or path, optional
        A folder to write the classifier into; `load_classifier` reads it, and needs no extra.
    name : str
    words : iterable of str
        Words to keep vectors of beside those of `data`, `dev` and the shipped occupations, such as those of
        your own professions. What is not kept counts as unknown later.
    hidden : int
        Size of either direction's state; 128 in the paper's code.
    dropout : float in [0, 1)
        Share of the final states left out in training; 0.25 in the paper's code.
    batch : int
        Sentences a step.
    epochs : int
        Passes over the data at most.
    patience : int
        Training ends after so many passes without a higher accuracy on the sentences set aside, or an equal
        one at a lower loss; the best pass is kept.
    learning_rate : float
        Of Adam.
    tune_vectors : bool
        False: the vectors stay as they are, as in the paper, so that words outside the training data mean
        something; only words of the training data that the vectors lack get a vector that is learned.
        True: all vectors of words in the training data are learned, starting from those given.
    seed : int
        Of the weights at the start, the order of the sentences and the dropout. The same on the same machine
        with as many threads gives the same classifier.
    progress : bool, optional
        A bar on stderr; by default on terminals only.

    Returns
    -------
    Classifier
        Its provenance holds ``dev_accuracy``, ``epochs`` (one record for each pass) and ``coverage``.

    Raises
    ------
    InputError
        For bad data or settings, and where PyTorch is not installed.

    Notes
    -----
    Vectors are scaled by one factor so that their entries have a root mean square of 0.3, about that of
    GloVe. Words are split as in the treebank ("does", "n't"), in lower case, punctuation marks for
    themselves.

    Source: Bhaskaran & Bhallamudi (2019), section 3, M.2. The paper trains for three passes without stopping
    early, and drops the words that its vectors lack.
    """
    for value, what in ((hidden, "hidden"), (batch, "batch"), (epochs, "epochs"), (patience, "patience")):
        if not isinstance(value, int) or value < 1:
            raise InputError("must be a whole number above 0", where=what, found=value)
    _check_positive(learning_rate, "learning_rate")
    if not 0 <= dropout < 1:
        raise InputError("must be in [0, 1)", where="dropout", found=dropout)
    sentences, labels = read_labelled(data)
    held = read_labelled(dev) if dev is not None else None
    try:
        import torch
    except ImportError:
        raise InputError(
            "training a BiLSTM needs PyTorch", hint="install it with: pip install 'bayesbias[encoders]'"
        ) from None

    tokens = [_tokens(s) for s in sentences]
    trained = dict.fromkeys(w for row in tokens for w in row)
    more = [*(held[0] if held else ()), *_shipped_words(), *words]
    wanted = list(dict.fromkeys([*trained, *(w for s in more for w in _tokens(s))]))
    embedding = load_embedding(vectors, wanted, progress=progress)
    vocabulary, start, learned = _start_vectors(embedding, wanted, trained, tune_vectors, seed)

    rng = np.random.default_rng(seed)
    ids = [[vocabulary[w] for w in row] or [-1] for row in tokens]
    if held is None:
        aside = np.sort(rng.permutation(len(ids))[: max(1, len(ids) // 20)])
        chosen = np.setdiff1d(np.arange(len(ids)), aside)
        check_ids, check_labels = [ids[i] for i in aside], labels[aside]
        ids, labels = [ids[i] for i in chosen], labels[chosen]
    else:
        check_ids = [[vocabulary.get(w, -1) for w in _tokens(s)] or [-1] for s in held[0]]
        check_labels = held[1]
    if len(ids) == 0:
        raise InputError("too few sentences to set some aside", where=data, found=len(sentences))

    settings = {
        "hidden": hidden, "dropout": dropout, "batch": batch, "epochs": epochs, "patience": patience,
        "learning_rate": learning_rate, "tune_vectors": tune_vectors, "seed": seed,
    }  # fmt: skip
    with (
        ticking("training the BiLSTM", epochs * len(ids), progress) as tick,
        torch.random.fork_rng(devices=[]),
    ):
        torch.manual_seed(seed)
        weights, record = _train_lstm(
            torch, start, learned, (ids, labels), (check_ids, check_labels), settings, rng, tick
        )
    model = _BiLstm(vocabulary, weights, settings)
    count = sum(len(row) for row in tokens)
    has = set(embedding.words)
    provenance = {
        "kind": "bilstm",
        **_data_facts(data, sentences),
        "vectors": {"name": embedding.name, **embedding.provenance},
        "coverage": {
            "words": len(trained),
            "words_with_vector": sum(w in has for w in trained),
            "tokens_with_vector": sum(w in has for row in tokens for w in row) / count,
            "bench_words_without": [w for s in _shipped_words() for w in _tokens(s) if w not in vocabulary],
        },
        "stopped_on": "dev" if held is not None else "5 % of the training data",
        "epochs": record,
        "torch": str(torch.__version__),
    }  # fmt: skip
    return _finished(model, name, provenance, dev, out)


def _start_vectors(
    embedding: Embedding, wanted: list[str], trained: Mapping[str, None], tune: bool, seed: int
) -> tuple[dict[str, int], np.ndarray, np.ndarray]:
    """Return the vocabulary, its vectors at the start, and which rows are learned.

    A word that neither the vectors nor the training data have is left out: nothing is known about it.
    """
    has = set(embedding.words)
    kept = [word for word in wanted if word in has or word in trained]
    vocabulary = {word: row for row, word in enumerate(kept)}
    dim = embedding.vectors.shape[1]
    rng = np.random.default_rng([seed, 1])
    start = rng.normal(0.0, 0.1, (len(kept), dim)).astype(np.float32)
    rows = [vocabulary[word] for word in kept if word in has]
    given = embedding.vectors_of([word for word in kept if word in has]).astype(np.float64)
    start[rows] = given * (0.3 / np.sqrt(np.mean(given**2)))
    learned = np.array([word in trained and (tune or word not in has) for word in kept])
    return vocabulary, start, learned


def _train_lstm(
    torch: Any,
    start: np.ndarray,
    learned: np.ndarray,
    train: tuple[list[list[int]], np.ndarray],
    check: tuple[list[list[int]], np.ndarray],
    settings: Mapping[str, Any],
    rng: np.random.Generator,
    tick: Callable[[int], None],
) -> tuple[dict[str, np.ndarray], list[dict[str, Any]]]:
    """Train with PyTorch; return the weights by the names of `_BiLstm`, and what each pass reached."""
    hidden, dim = settings["hidden"], start.shape[1]
    # Two tables, of vectors that stay and of vectors that are learned; row 0 is zeros, for words of the other.
    frozen = torch.from_numpy(
        np.vstack([np.zeros((1, dim), np.float32), np.where(learned[:, None], 0, start)])
    )
    row_learned = np.zeros(len(start) + 1, dtype=np.int64)
    row_learned[1:][learned] = np.arange(1, learned.sum() + 1)
    to_learned = torch.from_numpy(row_learned)
    table = torch.nn.Embedding(int(learned.sum()) + 1, dim, padding_idx=0)
    with torch.no_grad():
        table.weight[1:] = torch.from_numpy(start[learned])
    lstm = torch.nn.LSTM(dim, hidden, batch_first=True, bidirectional=True)
    head = torch.nn.Linear(2 * hidden, 1)
    drop = torch.nn.Dropout(settings["dropout"])
    parts = torch.nn.ModuleList([table, lstm, head, drop])
    optimiser = torch.optim.Adam(parts.parameters(), lr=settings["learning_rate"])

    def logits(ids: list[list[int]]) -> Any:
        rows = torch.tensor(ids) + 1  # -1, the unknown word, becomes row 0
        _, (last, _) = lstm(frozen[rows] + table(to_learned[rows]))
        return head(drop(torch.cat([last[0], last[1]], dim=1)))[:, 0]

    def checked() -> tuple[float, float]:
        parts.eval()
        out = np.empty(len(check[0]))
        with torch.no_grad():
            for group in _by_length(check[0]):
                out[group] = logits([check[0][i] for i in group]).numpy()
        loss = np.logaddexp(0, np.where(check[1] == 1, -out, out)).mean()
        return float(((out > 0) == check[1]).mean()), float(loss)

    ids, labels = train
    answers = torch.tensor(np.asarray(labels, dtype=np.float32))
    groups, record, best, since = _by_length(ids), [], None, 0
    for epoch in range(1, settings["epochs"] + 1):
        parts.train()
        batches = [
            part
            for group in groups
            for part in np.array_split(rng.permutation(group), -(-len(group) // settings["batch"]))
        ]
        total = 0.0
        for at in rng.permutation(len(batches)):
            part = batches[at]
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                logits([ids[i] for i in part]), answers[part]
            )
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parts.parameters(), 5.0)
            optimiser.step()
            total += loss.item() * len(part)
            tick(len(part))
        accuracy, check_loss = checked()
        record.append(
            {"epoch": epoch, "train_loss": total / len(ids), "accuracy": accuracy, "loss": check_loss}
        )
        if best is None or (accuracy, -check_loss) > best[0]:
            best, since = ((accuracy, -check_loss), copy.deepcopy(parts.state_dict())), 0
        else:
            since += 1
        if since >= settings["patience"]:
            break
    assert best is not None  # there is at least one pass
    parts.load_state_dict(best[1])
    return _weights_of(lstm, head, table, start, learned), record


def _weights_of(
    lstm: Any, head: Any, table: Any, start: np.ndarray, learned: np.ndarray
) -> dict[str, np.ndarray]:
    numbers = {key: value.detach().numpy() for key, value in lstm.named_parameters()}
    vectors = start.copy()
    vectors[learned] = table.weight.detach().numpy()[1:]
    out = {
        "vectors": vectors,
        "output": head.weight.detach().numpy()[0],
        "output_bias": head.bias.detach().numpy(),
    }
    for side, ending in (("forward", "l0"), ("backward", "l0_reverse")):
        out[f"{side}_input"] = numbers[f"weight_ih_{ending}"]
        out[f"{side}_state"] = numbers[f"weight_hh_{ending}"]
        out[f"{side}_bias"] = numbers[f"bias_ih_{ending}"] + numbers[f"bias_hh_{ending}"]
    return {key: np.ascontiguousarray(value) for key, value in out.items()}


# -- folders ---------------------------------------------------------------------------------------

_KINDS: dict[str, tuple[type[_Bow] | type[_BiLstm], tuple[str, ...]]] = {
    "bow": (_Bow, ("idf", "coefficients", "intercept")),
    "bilstm": (
        _BiLstm,
        (
            "vectors", "output", "output_bias", "forward_input", "forward_state", "forward_bias",
            "backward_input", "backward_state", "backward_bias",
        ),
    ),
}  # fmt: skip


def _write_folder(classifier: Classifier, model: _Bow | _BiLstm, folder: Path) -> Path:
    from safetensors.numpy import save_file

    if folder.exists() and not folder.is_dir():
        raise InputError("is a file; a classifier is written into a folder", where=folder)
    with whole_file(folder / _WEIGHTS) as temporary:
        save_file(model.weights, str(temporary))
    words = sorted(model.vocabulary, key=model.vocabulary.__getitem__)
    said = {
        "schema": 1,
        "name": classifier.name,
        "kind": classifier.provenance["kind"],
        "weights_sha256": sha256_file(folder / _WEIGHTS),
        "settings": model.settings,
        "provenance": {
            k: v for k, v in classifier.provenance.items() if k not in ("kind", "sha256", "folder")
        },
        "vocabulary": words,
    }
    with whole_file(folder / _SETTINGS) as temporary:
        temporary.write_text(json.dumps(said, ensure_ascii=False, indent=1), encoding="utf-8")
    return folder


def open_folder(folder: Path, name: str | None = None) -> Classifier:
    """Read a classifier that `Classifier.save` wrote."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    where = folder / _SETTINGS
    if not where.is_file():
        raise InputError(
            f"is not the folder of a classifier: it lacks {_SETTINGS}", where=folder,
            valid="a folder made by `bayesbias sentiment train`",
            hint=f"for a Hugging Face model say transformers:{folder}" if (folder / "config.json").is_file() else None,
        )  # fmt: skip
    try:
        said = json.loads(read_bytes(where).decode("utf-8"))
    except ValueError as error:
        raise InputError(f"is damaged: {error}", where=where) from None
    needed = ("schema", "name", "kind", "weights_sha256", "settings", "provenance", "vocabulary")
    if not isinstance(said, dict) or any(key not in said for key in needed) or said["schema"] != 1:
        raise InputError(
            "is no description of a classifier", where=where, valid=f"the keys {', '.join(needed)}; schema 1"
        )
    if said["kind"] not in _KINDS:
        raise InputError("unknown kind of classifier", where=where, found=said["kind"], valid=_KINDS)
    sha256 = sha256_file(folder / _WEIGHTS) if (folder / _WEIGHTS).is_file() else None
    if sha256 != said["weights_sha256"]:
        raise InputError(
            f"does not belong to {_SETTINGS}" if sha256 else "is not there", where=folder / _WEIGHTS,
            hint="was training broken off, or a file exchanged? train again",
        )  # fmt: skip
    kind, names = _KINDS[said["kind"]]
    try:
        weights = load_file(str(folder / _WEIGHTS))
    except SafetensorError as error:
        raise InputError(f"is damaged: {error}", where=folder / _WEIGHTS) from None
    if set(weights) != set(names):
        raise InputError("holds other weights", where=folder / _WEIGHTS, found=sorted(weights), valid=names)
    rows = len(weights["vectors"] if said["kind"] == "bilstm" else weights["idf"])
    if len(said["vocabulary"]) != rows:
        raise InputError(
            "the vocabulary does not fit the weights",
            where=where,
            found=len(said["vocabulary"]),
            valid=str(rows),
        )
    model = kind({word: row for row, word in enumerate(said["vocabulary"])}, weights, said["settings"])
    provenance = {"kind": said["kind"], **said["provenance"], "sha256": sha256, "folder": folder.name}
    return Classifier(name or said["name"], model, provenance)


def _finished(model: _Bow | _BiLstm, name: str, provenance: dict[str, Any], dev: Any, out: Any) -> Classifier:
    if dev is not None:
        sentences, labels = read_labelled(dev)
        accuracy = float(((model(sentences) >= 0.5) == labels).mean())
        provenance |= {"dev": Path(dev).name, "dev_sha256": sha256_file(dev), "dev_accuracy": accuracy}
    classifier = Classifier(name, model, provenance)
    if out is None:
        return classifier
    classifier.save(out)
    return open_folder(Path(out))


# -- other people's classifiers --------------------------------------------------------------------


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
    column = _positive_column(classes, positive, name)

    def predict(sentences: list[str]) -> npt.ArrayLike:
        return np.asarray(x.predict_proba(sentences))[:, column]

    facts = {"positive": str(classes[column]), "labels": [str(label) for label in classes]}
    return Classifier(name, predict, {**provenance, **facts})


def from_joblib(path: Path, name: str | None, positive: Any, allow_pickle: bool) -> Classifier:
    """Read a pipeline from a joblib file or pickle."""
    if not path.is_file():
        raise InputError("no such file", found=str(path))
    if not allow_pickle:
        raise InputError(
            "is a pickle: loading it runs code from the file", where=path,
            hint="if you trust it, say allow_pickle=True (on the command line --allow-pickle)",
        )  # fmt: skip
    try:
        import joblib
    except ImportError:
        raise InputError(
            "reading a joblib file needs scikit-learn", where=path,
            hint="install it with: pip install 'bayesbias[classifiers]'",
        ) from None  # fmt: skip
    try:
        x = joblib.load(path)
    except Exception as error:  # a pickle may raise anything
        raise InputError(f"cannot be loaded: {type(error).__name__}: {error}", where=path) from error
    if not hasattr(x, "predict_proba"):
        raise InputError(
            "holds no classifier with probabilities", where=path, found=type(x).__name__,
            valid="a fitted scikit-learn pipeline with predict_proba",
        )  # fmt: skip
    facts = {"kind": f"scikit-learn {type(x).__name__}", "file": path.name, "sha256": sha256_file(path)}
    return from_estimator(x, name or path.stem, positive, facts)


def from_transformers(source: str, name: str | None, positive: Any) -> Classifier:
    """Load a Hugging Face text-classification model, from the hub or a folder."""
    try:
        import torch
        from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer
    except ImportError:
        raise InputError(
            "a Hugging Face model needs PyTorch and transformers", where=source,
            hint="install them with: pip install 'bayesbias[encoders]'",
        ) from None  # fmt: skip
    try:
        config = AutoConfig.from_pretrained(source, trust_remote_code=False)
    except (OSError, ValueError) as error:
        raise _not_loaded(source, error) from error
    architectures = config.architectures or []
    if not any(a.endswith("ForSequenceClassification") for a in architectures):
        # Loading it all the same would put a head of random numbers on it.
        raise InputError(
            "is not a text-classification model", where=source, found=", ".join(architectures) or "no architecture",
            valid="a model fine-tuned for sequence classification",
        )  # fmt: skip
    labels = [str(config.id2label[i]) for i in range(config.num_labels)]
    if config.num_labels < 2 or config.problem_type in ("regression", "multi_label_classification"):
        raise InputError(
            "does not choose between classes", where=source, found=config.problem_type or f"{config.num_labels} output",
            valid="a model with two or more exclusive classes",
        )  # fmt: skip
    column = _positive_column(labels, positive, source)
    try:
        tokenizer = AutoTokenizer.from_pretrained(source, trust_remote_code=False)
        model = AutoModelForSequenceClassification.from_pretrained(
            source, trust_remote_code=False, config=config
        )
    except (OSError, ValueError) as error:
        raise _not_loaded(source, error) from error
    model.eval()

    def predict(sentences: list[str]) -> npt.ArrayLike:
        inputs = tokenizer(sentences, padding=True, truncation=True, return_tensors="pt")
        with torch.no_grad():
            return torch.softmax(model(**inputs).logits.double(), dim=1)[:, column].numpy()

    facts = {
        "kind": "Hugging Face model", "source": source, "positive": labels[column], "labels": labels,
        "revision": getattr(config, "_commit_hash", None),
    }  # fmt: skip
    return Classifier(name or Path(source).name, predict, facts)


def _not_loaded(source: str, error: Exception) -> InputError:
    said = str(error).strip().splitlines()
    return InputError(
        f"cannot be loaded: {said[0] if said else type(error).__name__}", where=source,
        valid="the folder of a model, or the name of one on the Hugging Face hub",
        hint="models that bring code of their own are refused" if "trust_remote_code" in str(error) else None,
    )  # fmt: skip


def _positive_column(classes: Sequence[Any], positive: Any, where: str) -> int:
    """Return the column of the positive class: stated, or told from a name that leaves no doubt."""
    names = [str(c) for c in classes]
    if positive is not None:
        if str(positive) not in names:
            raise InputError(
                "no such class", where=where, found=positive, valid=names, hint=nearest(str(positive), names)
            )
        return names.index(str(positive))
    if len(classes) == 2 and not any(isinstance(c, str) for c in classes):
        low, high = (float(c) for c in classes)
        if (low, high) in ((0.0, 1.0), (-1.0, 1.0)):
            return 1
    found = [i for i, label in enumerate(names) if label.strip().lower() in _POSITIVE]
    if len(found) == 1:
        return found[0]
    raise InputError(
        "does not say which class is positive", where=where, found=", ".join(names), valid=names,
        hint=f"state it, such as positive={names[-1]!r} (--positive {names[-1]})",
    )  # fmt: skip


# -- small things ----------------------------------------------------------------------------------


def _tokens(sentence: str) -> list[str]:
    return _TREEBANK_TOKEN.findall(sentence.lower())


def _by_length(ids: Sequence[Sequence[int]]) -> list[npt.NDArray[np.int64]]:
    """Return the rows of each length."""
    lengths = np.array([len(row) for row in ids], dtype=np.int64)
    return [np.flatnonzero(lengths == length) for length in np.unique(lengths)]


def _shipped_words() -> list[str]:
    """Return the texts of the shipped occupations, whose words every classifier may meet."""
    data = read_toml(data_dir("wordlists") / "sentiment" / "occupations.toml")
    nouns = [pair[gender] for pair in data["noun_pairs"] for gender in ("male", "female")]
    return [*nouns, *(p["name"] for p in data["professions"]), data["control"], "is a an you are , ."]


def _data_facts(data: Any, sentences: list[str]) -> dict[str, Any]:
    return {"data": Path(data).name, "data_sha256": sha256_file(data), "sentences": len(sentences)}


def _expit(x: np.ndarray) -> np.ndarray:
    return 0.5 * (1.0 + np.tanh(0.5 * x))


def _check_positive(value: Any, what: str) -> None:
    if not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise InputError("must be a number above 0", where=what, found=value)
