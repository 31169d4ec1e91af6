"""Files and names that hold no word vectors: what they are, and lines that convert them."""

from __future__ import annotations

import base64
import pickle

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb

WORDS = ["he", "she", "career", "home", "office", "family"]
MATRIX = np.random.default_rng(3).normal(size=(6, 5)).round(3)


def refused(source, said, **options):
    """Return the message with which a source is refused."""
    with pytest.raises(bb.InputError, match=said) as error:
        bb.load_embedding(source, ["he", "she"], **options)
    return str(error.value)


def run_line(message, folder, monkeypatch):
    """Run the line of a message that converts a file, in a folder."""
    monkeypatch.chdir(folder)
    exec(message.partition(": `")[2].rstrip("`."), {})


def is_read(path, **options):
    """Check that vectors are the ones of this file."""
    read = bb.load_embedding(path, WORDS, **options)
    assert read.words == tuple(WORDS)
    np.testing.assert_allclose(read.vectors, MATRIX, rtol=1e-12)


def test_floret(tmp_path):
    path = tmp_path / "vectors.floret"
    rows = [" ".join([str(i), *map(str, row)]) for i, row in enumerate(MATRIX)]
    path.write_text("\n".join(["6 5 4 5 2 2166136261 < >", *rows]))
    refused(path, "floret's table of subwords, which holds no words. Convert it with spaCy")


def test_vectors_over_several_lines(tmp_path, monkeypatch):
    rows = []
    for number, (word, row) in enumerate(zip(WORDS, MATRIX.tolist(), strict=True)):
        first, rest = " ".join(map(str, row[:3])), " ".join(map(str, row[3:]))
        rows.append(f"{number}\t{word}\t[ {first}\n  {rest}]")
    path = tmp_path / "ko.tsv"
    path.write_text("\n".join(rows) + "\n")
    message = refused(path, "got vectors over several lines. Join them")
    run_line(message, tmp_path, monkeypatch)
    is_read(tmp_path / "vectors.tsv")


@pytest.mark.parametrize("first", ["[0.1 0.2 ... 0.5]", "array([0.1, 0.2, ..., 0.5])"])
def test_vectors_that_were_shortened(tmp_path, first):
    pd.DataFrame({"word": WORDS, "vector": first}).to_csv(tmp_path / "v.csv", index=False)
    said = "line 2, column 'vector': expected all numbers.*Numbers were left out when this was"
    refused(tmp_path / "v.csv", said)


def test_the_first_cell_that_is_no_vector_is_shown(tmp_path):
    path = tmp_path / "v.csv"
    pd.DataFrame({"word": WORDS, "vector": "far"}).to_csv(path, index=False)
    refused(path, "line 2: expected word vectors, got 'far' in the column 'vector'")
    coded = [base64.b64encode(row.astype("<f4").tobytes() * 4).decode() for row in MATRIX]
    pd.DataFrame({"word": WORDS, "vector": coded}).to_csv(path, index=False)
    refused(path, "It looks like base64: np.frombuffer")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("protocol", [0, 2, 4, 5])
@pytest.mark.parametrize("kind", ["dict", "pairs", "tuple"])
def test_the_line_for_a_pickle_opens_its_path_and_fits_its_type(
    tmp_path, monkeypatch, kind, protocol
):
    (tmp_path / "a folder").mkdir()
    path = tmp_path / "a folder" / "vectors of some words that have a long name.pkl"
    held = {
        "dict": dict(zip(WORDS, MATRIX, strict=True)),
        "pairs": list(zip(WORDS, MATRIX, strict=True)),
        "tuple": (WORDS, MATRIX),
    }
    path.write_bytes(pickle.dumps(held[kind], protocol))
    run_line(refused(path, "got a pickle"), tmp_path, monkeypatch)
    is_read(tmp_path / "vectors.npz")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("protocol", [2, 5])
def test_a_pickled_matrix(tmp_path, monkeypatch, protocol):
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS))
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(MATRIX, protocol))
    run_line(refused(tmp_path / "m.pkl", "got a pickle"), tmp_path, monkeypatch)
    is_read(tmp_path / "vectors.npy")


def test_objects_of_gensim_in_another_folder(tmp_path, monkeypatch):
    from gensim.models import KeyedVectors

    (tmp_path / "models").mkdir()
    vectors = KeyedVectors(5)
    vectors.add_vectors(WORDS, MATRIX.astype("float32"))
    vectors.save(str(tmp_path / "models" / "v.kv"))
    monkeypatch.chdir(tmp_path)
    message = refused("models/v.kv", r"KeyedVectors\.load\('models/v\.kv'\)")
    run_line(message, tmp_path, monkeypatch)
    assert bb.load_embedding("vectors.txt", WORDS).words == tuple(WORDS)


def test_binary_output_of_glove(tmp_path, monkeypatch):
    # Parameters of words, then of contexts, each with a bias behind them.
    words, contexts = MATRIX * 0.75, MATRIX * 0.25
    both = np.hstack([np.vstack([words, contexts]), np.full((12, 1), 9.0)])
    both.astype("<f8").tofile(tmp_path / "glove.bin")
    (tmp_path / "vocab.txt").write_text("\n".join(f"{word} 12" for word in WORDS))
    said = "binary output of GloVe. Run glove with -binary 0"
    message = refused(tmp_path / "glove.bin", said, vocab=tmp_path / "vocab.txt")
    run_line(message, tmp_path, monkeypatch)
    is_read(tmp_path / "vectors.npy", vocab=tmp_path / "vocab.txt")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("https://nlp.stanford.edu/data/glove.6B.zip", "got an address. Download it first"),
        ("bert-base-uncased", "seat --encoder transformers:bert-base-uncased"),
        ("roberta-large", "seat --encoder transformers:roberta-large"),
        ("intfloat/e5-small-v2", "seat --encoder transformers:intfloat/e5-small-v2"),
        ("glove-wiki-gigaword-51", "Did you mean 'glove-wiki-gigaword-50'"),
        ("nowhere/glove.txt", "there is no folder nowhere|There is no folder nowhere"),
    ],
)
def test_names_that_are_no_vectors(name, said):
    assert "There is no folder https" not in refused(name, said)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (["он", "она", "дом"], "Use vectors of the language of the list"),
        (["0", "1", "2"], "Its keys are no words"),
        (["der", "die", "das"], "Name the form of its words with --key"),
    ],
)
def test_advice_where_no_word_is_found(keys, said):
    vectors = {key: [1.0, 0.5, number] for number, key in enumerate(keys)}
    message = refused(vectors, said)
    assert ("language" in message) == (said.startswith("Use vectors"))
