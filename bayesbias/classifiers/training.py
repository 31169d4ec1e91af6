"""Training the two reference classifiers: a bag of words with scikit-learn, and a bidirectional LSTM with PyTorch.

Source: Bhaskaran & Bhallamudi (2019), section 3, M.1 and M.2.
"""

import copy
import csv
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.classifiers.classifier import Classifier, open_folder
from bayesbias.classifiers.reference import BOW_TOKEN, BagOfWords, BiLstm, rows_by_length
from bayesbias.core import InputError, checks, nearest, packages
from bayesbias.core.files import guarded, path_of, sha256_file
from bayesbias.core.progress import ticking
from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.loading import load_embedding
from bayesbias.wordlists.occupations import GENDERS, load_occupations


def read_labelled(path: checks.FilePath) -> tuple[list[str], np.ndarray]:
    r"""Read sentences with labels 0 (negative) and 1 (positive) from a tab-separated file.

    Three layouts are told apart by their content: a header that names ``label`` and ``sentence``
    (in any order, beside other columns); two columns without a header, one of which is all 0 and 1;
    and the four columns ``index, label, a letter, sentence`` without a header.

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
        If a line has no label or no sentence, or there is one label only.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "train.tsv"
    >>> _ = file.write_text("label\tsentence\n1\ta charming journey\n0\tbleak\n")
    >>> read_labelled(file)
    (['a charming journey', 'bleak'], array([1, 0]))
    """
    path = path_of(path, "path", "a file of labelled sentences")
    with guarded(path, "sentences with labels"):
        cells = pd.read_csv(
            path, sep="\t", header=None, dtype=str, quoting=csv.QUOTE_NONE, keep_default_na=False,
            skip_blank_lines=False,
        )  # fmt: skip
    cells = cells.map(str.strip)
    cells = cells[(cells != "").any(axis=1)]
    first = [cell.lower() for cell in cells.iloc[0]] if len(cells) else []
    binary = [column for column in cells if cells[column].isin(["0", "1"]).all()]
    if "label" in first and "sentence" in first:
        label, sentence = first.index("label"), first.index("sentence")
        cells = cells[1:]
    elif len(first) == 4 and not {"label", "sentence"} & set(first):
        label, sentence = 1, 3
    elif len(first) == 2 and len(binary) == 1:
        label, sentence = binary[0], 1 - binary[0]
    else:
        valid = "a header with label and sentence; or label, sentence; or index, label, a, sentence"
        hint = nearest("sentence" if "label" in first else "label", first)
        problem = "expected labels and sentences"
        raise InputError(problem, where=path, found=first, valid=valid, hint=hint)
    wrong = ~cells[label].isin(["0", "1"]) | (cells[sentence] == "")
    if wrong.any():
        row = cells[wrong].iloc[0]
        problem, place = "expected the label 0 or 1, and a sentence", f"{path}, line {row.name + 1}"
        raise InputError(problem, where=place, found=list(row))
    labels = cells[label].astype("int64").to_numpy()
    if len(set(labels)) < 2:
        raise InputError(f"expected both labels, 0 and 1, got {labels[0]} alone", where=path)
    return cells[sentence].tolist(), labels


def _tried_and_kept(
    model: BagOfWords | BiLstm, name: str, provenance: dict[str, Any], dev: Any, out: Any
) -> Classifier:
    if dev is not None:
        sentences, labels = read_labelled(dev)
        provenance |= {"dev": Path(dev).name, "dev_sha256": sha256_file(path_of(dev))}
        provenance["dev_accuracy"] = float(((model(sentences) >= 0.5) == labels).mean())
    classifier = Classifier(name, model, provenance)
    if out is None:
        return classifier
    classifier.save(out)
    return open_folder(Path(out))


def _data_facts(data: Any, sentences: list[str]) -> dict[str, Any]:
    digest = sha256_file(path_of(data))
    return {"data": Path(data).name, "data_sha256": digest, "sentences": len(sentences)}


def train_bow(
    data: checks.FilePath,
    *,
    dev: checks.FilePath | None = None,
    out: checks.FilePath | None = None,
    name: str = "bow",
    C: float = 1.0,
) -> Classifier:
    r"""Train the bag-of-words classifier M.1 (needs the extra ``classifiers``).

    It uses tf-idf and logistic regression.

    Parameters
    ----------
    data : str or path
        Labelled sentences, see `read_labelled`.
    dev : str or path, optional
        Labelled sentences to compute the accuracy on.
    out : str or path, optional
        A folder to write the classifier into; `load_classifier` reads it, and needs no extra.
    name : str
        Name for tables and figures.
    C : float
        Inverse strength of the penalty on the coefficients; 1 in the paper.

    Returns
    -------
    Classifier
        ``provenance["dev_accuracy"]`` where `dev` is given.

    Raises
    ------
    InputError
        If the data are bad, or scikit-learn is not installed.

    Notes
    -----
    Words are runs of two or more letters and digits, in lower case; idf is smoothed, and each sentence
    brought to length 1. The solver is liblinear, which penalises the intercept as well: it gives the
    published predictions to 1.2e-4, while lbfgs, which does not, is off by up to 0.02. Fitting draws no
    random numbers.

    Source: Bhaskaran & Bhallamudi (2019), section 3, M.1.

    Examples
    --------
    >>> from pathlib import Path
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "train.tsv"
    >>> _ = file.write_text("label\tsentence\n1\ta charming film\n0\ta bleak film\n")
    >>> train_bow(file)(["charming", "a film", "bleak"]).round(2)
    array([0.59, 0.5 , 0.41])
    """
    checks.positive(C, "C")
    sentences, labels = read_labelled(data)
    packages.needed("classifiers", "sklearn", purpose="training a bag of words")
    import sklearn
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    vectorizer = TfidfVectorizer(token_pattern=BOW_TOKEN.pattern)
    with guarded(data, "words of two letters or more"):  # no word of two letters in the whole file
        counts = vectorizer.fit_transform(sentences)
    fitted = LogisticRegression(C=C, solver="liblinear").fit(counts, labels)
    model = BagOfWords(
        {str(word): int(column) for word, column in vectorizer.vocabulary_.items()},
        {
            "idf": np.ascontiguousarray(vectorizer.idf_, dtype=float),
            "coefficients": np.ascontiguousarray(fitted.coef_[0], dtype=float),
            "intercept": np.array(fitted.intercept_, dtype=float),
        },
        {"C": C, "solver": "liblinear"},
    )
    provenance = {"kind": "bow", **_data_facts(data, sentences)}
    provenance["scikit-learn"] = sklearn.__version__
    return _tried_and_kept(model, name, provenance, dev, out)


def train_bilstm(
    data: checks.FilePath,
    vectors: checks.FilePath | Mapping[str, Any] | Embedding,
    *,
    dev: checks.FilePath | None = None,
    out: checks.FilePath | None = None,
    name: str = "bilstm",
    words: Iterable[str] = (),
    hidden: int = 128,
    dropout: float = 0.25,
    batch: int = 64,
    epochs: int = 10,
    patience: int = 2,
    learning_rate: float = 1e-3,
    seed: int = 0,
    progress: bool | None = None,
) -> Classifier:
    """Train the recurrent classifier M.2 (needs the extra ``encoders``).

    It is a bidirectional LSTM on word vectors.

    Parameters
    ----------
    data : str or path
        Labelled sentences, see `read_labelled`.
    vectors : anything `load_embedding` reads
        Word vectors; the paper has GloVe's of 300 dimensions. Only the words needed are read, and their
        vectors stay as they are; words of the training data without one get a vector that is learned.
    dev : str or path, optional
        Labelled sentences that decide when to stop, and to compute the accuracy on. Without them
        one sentence in twenty of `data` is set aside for stopping.
    out : str or path, optional
        A folder to write the classifier into; `load_classifier` reads it, and needs no extra.
    name : str
        Name for tables and figures.
    words : iterable of str
        Words to keep vectors of beside those of `data`, `dev` and the shipped occupations, such as
        those of your own professions. What is not kept counts as unknown later.
    hidden : int
        Size of either direction's state; 128 in the paper's code.
    dropout : float in [0, 1]
        Share of the final states left out in training; 0.25 in the paper's code.
    batch : int
        Sentences a step.
    epochs : int
        Passes over the data at most.
    patience : int
        Training ends after so many passes without a higher accuracy on the sentences set aside, or
        an equal one at a lower loss; the best pass is kept.
    learning_rate : float
        Of Adam.
    seed : int
        Of the weights at the start, the order of the sentences and the dropout. The same on the
        same machine with as many threads gives the same classifier.
    progress : bool, optional
        A bar on stderr; by default on terminals only.

    Returns
    -------
    Classifier
        Its provenance holds ``dev_accuracy``, ``epochs`` (one record for each pass) and
        ``coverage``.

    Raises
    ------
    InputError
        If data or settings are bad, or PyTorch is not installed.

    Notes
    -----
    Vectors are scaled by one factor so that their entries have a root mean square of 0.3, about that of
    GloVe. Words are split as in the treebank ("does", "n't"), in lower case, punctuation marks for
    themselves.

    Source: Bhaskaran & Bhallamudi (2019), section 3, M.2. The paper trains for three passes without
    stopping early, and drops the words that its vectors lack.

    Examples
    --------
    >>> from bayesbias.classifiers import train_bilstm
    >>> train_bilstm("labelled.csv", "minilm-static", seed=1)  # doctest: +SKIP
    """
    settings = {
        "hidden": hidden, "dropout": dropout, "batch": batch, "epochs": epochs, "patience": patience,
        "learning_rate": learning_rate, "seed": seed,
    }  # fmt: skip
    for what in ("hidden", "batch", "epochs", "patience"):
        checks.count(settings[what], what)
    checks.positive(learning_rate, "learning_rate")
    checks.within(dropout, "dropout", 0, 1)
    sentences, labels = read_labelled(data)
    held = read_labelled(dev) if dev is not None else None
    torch = packages.needed("encoders", "torch", purpose="training a BiLSTM")

    tokens = [BiLstm.tokens(s) for s in sentences]
    trained = dict.fromkeys(w for row in tokens for w in row)
    more = [*(held[0] if held else ()), *_shipped_words(), *words]
    wanted = checks.once([*trained, *(w for s in more for w in BiLstm.tokens(s))])
    embedding = load_embedding(vectors, wanted, progress=progress)
    # A word that neither the vectors nor the training data have is left out: nothing is known about it.
    has = set(embedding.words)
    kept = [word for word in wanted if word in has or word in trained]
    vocabulary = {word: row for row, word in enumerate(kept)}
    shape = (len(kept), embedding.vectors.shape[1])
    start = np.random.default_rng([seed, 1]).normal(0.0, 0.1, shape).astype(np.float32)
    there = np.array([word in has for word in kept])
    given = embedding.vectors_of([word for word in kept if word in has]).astype(float)
    start[there] = given * (0.3 / np.sqrt(np.mean(given**2)))
    learned = np.array([word in trained and word not in has for word in kept])

    rng = np.random.default_rng(seed)
    ids = [[vocabulary[w] for w in row] or [-1] for row in tokens]
    if held is None:
        aside = np.sort(rng.permutation(len(ids))[: max(1, len(ids) // 20)])
        chosen = np.setdiff1d(np.arange(len(ids)), aside)
        check_ids, check_labels = [ids[i] for i in aside], labels[aside]
        ids, labels = [ids[i] for i in chosen], labels[chosen]
    else:
        check_ids = [[vocabulary.get(w, -1) for w in BiLstm.tokens(s)] or [-1] for s in held[0]]
        check_labels = held[1]
    if len(ids) == 0:
        raise InputError("expected two or more sentences", where=data, found=len(sentences))

    with (
        ticking("training the BiLSTM", epochs * len(ids), progress) as tick,
        torch.random.fork_rng(devices=[]),
    ):
        torch.manual_seed(seed)
        weights, record = _train_lstm(
            torch, start, learned, (ids, labels), (check_ids, check_labels), settings, rng, tick
        )
    count = sum(len(row) for row in tokens)
    provenance = {
        "kind": "bilstm",
        **_data_facts(data, sentences),
        "vectors": {"name": embedding.name, **embedding.provenance},
        "coverage": {
            "words": len(trained),
            "words_with_vector": sum(w in has for w in trained),
            "tokens_with_vector": sum(w in has for row in tokens for w in row) / count,
            "bench_words_without": [
                w for s in _shipped_words() for w in BiLstm.tokens(s) if w not in vocabulary
            ],
        },
        "stopped_on": "dev" if held is not None else "5 % of the training data",
        "epochs": record,
        "torch": str(torch.__version__),
    }
    model = BiLstm(vocabulary, weights, settings)
    return _tried_and_kept(model, name, provenance, dev, out)


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
            for group in rows_by_length(check[0]):
                out[group] = logits([check[0][i] for i in group]).numpy()
        loss = np.logaddexp(0, np.where(check[1] == 1, -out, out)).mean()
        return float(((out > 0) == check[1]).mean()), float(loss)

    ids, labels = train
    answers = torch.tensor(np.asarray(labels, dtype=np.float32))
    groups, record, best, since = rows_by_length(ids), [], None, 0
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
        reached = {"train_loss": total / len(ids), "accuracy": accuracy, "loss": check_loss}
        record.append({"epoch": epoch, **reached})
        if best is None or (accuracy, -check_loss) > best[0]:
            best, since = ((accuracy, -check_loss), copy.deepcopy(parts.state_dict())), 0
        else:
            since += 1
        if since >= settings["patience"]:
            break
    assert best is not None  # there is at least one pass
    parts.load_state_dict(best[1])

    numbers = {key: value.detach().numpy() for key, value in lstm.named_parameters()}
    vectors = start.copy()
    vectors[learned] = table.weight.detach().numpy()[1:]
    out = {"vectors": vectors, "output": head.weight.detach().numpy()[0]}
    out["output_bias"] = head.bias.detach().numpy()
    for side, ending in (("forward", "l0"), ("backward", "l0_reverse")):
        out[f"{side}_input"] = numbers[f"weight_ih_{ending}"]
        out[f"{side}_state"] = numbers[f"weight_hh_{ending}"]
        out[f"{side}_bias"] = numbers[f"bias_ih_{ending}"] + numbers[f"bias_hh_{ending}"]
    return {key: np.ascontiguousarray(value) for key, value in out.items()}, record


def _shipped_words() -> list[str]:
    """Return the texts of the shipped occupations, whose words every classifier may meet."""
    shipped = load_occupations()
    nouns = shipped.noun_pairs[list(GENDERS)].to_numpy().ravel()
    return [*nouns, *shipped.professions["profession"], shipped.control, "is a an you are , ."]
