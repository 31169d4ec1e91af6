"""Training the bag of words: tf-idf and logistic regression, with scikit-learn.

Source: Bhaskaran & Bhallamudi (2019), section 3, M.1.
"""

from __future__ import annotations

import os

import numpy as np

from bayesbias.classifiers.classifier import Classifier
from bayesbias.classifiers.reference import BOW_TOKEN, BagOfWords
from bayesbias.classifiers.training import data_facts, read_labelled, tried_and_kept
from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.packages import needed

__all__ = ["train_bow"]


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
    >>> from pathlib import Path
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "train.tsv"
    >>> _ = file.write_text("label\tsentence\n1\ta charming film\n0\ta bleak film\n")
    >>> train_bow(file)(["charming", "a film", "bleak"]).round(2)
    array([0.59, 0.5 , 0.41])
    """
    checks.positive(C, "C")
    sentences, labels = read_labelled(data)
    needed("classifiers", "sklearn", purpose="training a bag of words")
    import sklearn
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    vectorizer = TfidfVectorizer(token_pattern=BOW_TOKEN.pattern)
    try:
        counts = vectorizer.fit_transform(sentences)
    except ValueError as error:  # no word of two letters in the whole file
        raise InputError(f"cannot be learned from: {error}", where=data) from None
    fitted = LogisticRegression(C=C, solver="liblinear").fit(counts, labels)
    model = BagOfWords(
        {str(word): int(column) for word, column in vectorizer.vocabulary_.items()},
        {
            "idf": np.ascontiguousarray(vectorizer.idf_, dtype=np.float64),
            "coefficients": np.ascontiguousarray(fitted.coef_[0], dtype=np.float64),
            "intercept": np.array(fitted.intercept_, dtype=np.float64),
        },
        {"C": C, "solver": "liblinear"},
    )
    provenance = {"kind": "bow", **data_facts(data, sentences), "scikit-learn": sklearn.__version__}
    return tried_and_kept(model, name, provenance, dev, out)
