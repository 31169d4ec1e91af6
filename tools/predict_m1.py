"""Make the shipped predictions `m1`: the paper's bag of words, trained here, on the sentences of the test bench.

Run once, by hand, with scikit-learn (extra ``classifiers``) and the training and development files of SST-2::

    python tools/predict_m1.py sst2_train.tsv sst2_dev.tsv

SST-2 is the Stanford Sentiment Treebank (Socher et al. 2013) with two classes, as in GLUE, in the layout
``index, label, letter, sentence``. Neither its sentences nor its vocabulary is shipped, only the
probabilities that the trained classifier gives to our own 840 sentences, to six decimals.

Recipe: `bayesbias.classifiers.train_bow` with its defaults, then `bayesbias.score_sentences`. Nothing is random. Written into
``bayesbias/_data/sentiment/m1.csv``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import bayesbias as bb
from bayesbias.core.files import whole_file

TARGET = Path(__file__).resolve().parents[1] / "bayesbias" / "_data" / "sentiment" / "m1.csv"
DECIMALS = 6


def main(train: str, dev: str) -> None:
    """Train, predict and write."""
    classifier = bb.classifiers.train_bow(train, dev=dev, name="m1")
    made = bb.score_sentences(classifier)
    unknown = classifier.unknown_words(made.frame["sentence"])
    about = classifier.provenance
    said = [
        "M.1 of Bhaskaran & Bhallamudi (2019), bag of words with tf-idf and logistic regression, trained by bayesbias",
        f"of {about['sentences']} sentences of SST-2 (SHA-256 {about['data_sha256']}), scikit-learn {about['scikit-learn']}",
        f"development accuracy {about['dev_accuracy']:.4f}",
        f"words of the test bench it does not know: {', '.join(unknown or ())}",
        "probability: of the positive class. Made by tools/predict_m1.py",
    ]
    frame = made.frame[["sentence", "probability"]]
    lines = [
        f"{sentence}\t{p:.{DECIMALS}f}"
        for sentence, p in zip(frame["sentence"], frame["probability"], strict=True)
    ]
    with whole_file(TARGET) as temporary:
        text = "\n".join([*(f"# {line}" for line in said), "sentence\tprobability", *lines]) + "\n"
        temporary.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
