"""Matrices of tokens: the word has the mark of its tokenizer, the key without it is a piece."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.vectors import LIST, A, B, X, Y, vectors

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.embeddings.loading import load_contexts

FORMS = ["\u0120{word}", "\u2581{word}", "{word}</w>"]
WORDS = vectors(1)
PIECES = vectors(2)


def tokens(form: str) -> dict[str, np.ndarray]:
    return {form.replace("{word}", word): vector for word, vector in WORDS.items()} | PIECES


def in_file(held, path):
    """Write vectors in the format that the ending names, and return what is to be loaded."""
    words, matrix = list(held), np.array(list(held.values()))
    if path.suffix == ".npz":
        np.savez(path, words=words, vectors=matrix)
    elif path.suffix == ".npy":
        np.save(path, matrix)
        ids = {word: row for row, word in enumerate(words)}
        path.with_name("vocab.json").write_text(json.dumps(ids))
    elif path.suffix == ".csv":
        pd.DataFrame(matrix, index=pd.Index(words, name="word")).to_csv(path)
    else:
        rows = [" ".join([word, *map(repr, row.tolist())]) for word, row in held.items()]
        path.write_text("\n".join([f"{len(rows)} {matrix.shape[1]}", *rows]) + "\n", "utf-8")
    return path


def is_word(embedding) -> bool:
    return np.allclose(embedding.vectors_of([*X, *B]), [WORDS[word] for word in [*X, *B]])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["v.txt", "v.npz", "v.npy", "v.csv"])
def test_the_word_is_taken_not_the_piece(tmp_path, form, name) -> None:
    path = in_file(tokens(form), tmp_path / name)
    wanted = [*X, *Y, *A, *B]
    e = bb.load_embedding(path, wanted)
    assert is_word(e)
    assert (e.matched, e.missing, e.provenance["key"]) == ({}, (), form)
    assert any(note.startswith("a matrix of tokens: ") for note in e.notes)
    every = bb.load_embedding(path)
    assert is_word(every)
    assert set(every.words) == set(wanted)
    assert np.allclose(load_contexts(path, ["x1"])["x1"], [WORDS["x1"]])
    pieces = bb.load_embedding(path, wanted, key="{word}")
    assert np.allclose(pieces["x1"], PIECES["x1"])


@pytest.mark.parametrize("form", FORMS)
def test_vectors_in_memory(form) -> None:
    held = tokens(form)
    words, matrix = list(held), np.array(list(held.values()))
    for source in (held, (words, matrix), pd.DataFrame(matrix, index=words)):
        assert is_word(bb.load_embedding(source, [*X, *B]))
    expected, got = bb.weat(WORDS, LIST), bb.weat(held, LIST)
    assert got.value == pytest.approx(expected.value, abs=1e-12)
    assert any("a matrix of tokens: " in note for note in got.notes)
    ect = bb.scores.ect(held, LIST, resamples=99, seed=1)
    assert ect.value == pytest.approx(bb.scores.ect(WORDS, LIST, resamples=99, seed=1).value)
    assert any("a matrix of tokens: " in note for note in ect.notes)


def test_a_word_that_is_a_piece_only_is_out_of_vocabulary() -> None:
    held = tokens(FORMS[0])
    del held["\u0120x1"]
    e = bb.load_embedding(held, [*X, *B])
    assert e.missing == ("x1",)
    assert "pieces only, so out of vocabulary: x1" in " ".join(e.notes)
    with pytest.raises(InputError, match=r"words such as 'Ġx1', got only pieces") as error:
        bb.load_embedding(held, ["x1"])
    assert '--key "{word}"' in str(error.value)


def test_a_rival_among_few_marked_keys_is_refused() -> None:
    held = vectors(3, [f"other{k}" for k in range(60)]) | tokens(FORMS[1])
    held = {key: value for key, value in held.items() if key not in ("\u2581x2", "\u2581x3")}
    with pytest.raises(InputError, match="expected one key for 'x1', got 'x1' and '▁x1'") as error:
        bb.load_embedding(held, X)
    assert '--key "{word}" or --key "▁{word}"' in str(error.value)
    assert np.allclose(bb.load_embedding(held, ["x2"])["x2"], PIECES["x2"])  # without a rival


def test_a_mark_in_a_source_of_words_is_no_form() -> None:
    held = vectors(3, [f"other{k}" for k in range(400)]) | PIECES | {"\u2581x1": np.ones(5)}
    e = bb.load_embedding(held, X)
    assert np.allclose(e["x1"], PIECES["x1"])
    assert "key" not in e.provenance
    with pytest.raises(InputError, match="words such as") as error:
        bb.load_embedding({"\u2581x1": [1.0, 2], **{f"o{k}": [1.0, k] for k in range(200)}}, ["x1"])
    assert "--key" in str(error.value)


def test_keys_that_are_all_marked() -> None:
    held = {key: value for key, value in tokens(FORMS[0]).items() if key.startswith("\u0120")}
    assert is_word(bb.load_embedding(held, [*X, *B]))


def test_commands_say_which_keys_are_words(tmp_path) -> None:
    from click.testing import CliRunner

    from bayesbias.cli.main import cli

    held = tokens(FORMS[0])
    del held["\u0120a1"]
    path = in_file(held, tmp_path / "v.txt")
    (tmp_path / "list.json").write_text(json.dumps(LIST))
    done = CliRunner().invoke(
        cli, ["wordlist", "check", str(tmp_path / "list.json"), "--embedding", str(path)]
    )
    said = " ".join(done.output.split())
    assert "the word x1 is Ġx1, not x1, a piece of words" in said
    assert "pieces only, so out of vocabulary: a1" in said
