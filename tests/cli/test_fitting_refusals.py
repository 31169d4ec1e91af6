"""`bayesbias fit` on bad input: one message, exit code 2, and nothing written."""

from __future__ import annotations

import pickle
import struct

import numpy as np
import pytest
from helpers.inputs import QUICK, WORDS, classes, vector_text, vectors, wordlist_text


@pytest.fixture
def refused(run, tmp_path):
    """Run a fit that must be refused: one message, nothing printed, nothing written."""

    def call(*arguments: object, said: str | list[str] = "") -> str:
        out = tmp_path / "out"
        code, printed, message = run("fit", *arguments, *QUICK, "--out", out)
        assert code == 2, message
        assert printed == ""
        assert message.startswith("bayesbias: "), message
        assert message.count("\n") == 1, message
        assert "Traceback" not in message
        missing = [part for part in ([said] if isinstance(said, str) else said) if part not in message]
        assert not missing, message
        assert not out.exists()
        return message

    return call


def binary(x: dict[str, np.ndarray]) -> bytes:
    body = b"".join(w.encode() + b" " + struct.pack("<8f", *row) + b"\n" for w, row in x.items())
    return f"{len(x)} 8\n".encode() + body


def changed(word: str, text: str) -> str:
    """The vectors with the line of one word replaced."""
    lines = vector_text(vectors()).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(word + " "))
    lines[at] = text
    return "\n".join(lines) + "\n"


ROW = "0.1 0.2 0.3 0.4 0.5 0.6 0.7"  # seven numbers


BAD_VECTORS = {
    "truncated binary": ("v.bin", binary(vectors())[:-30], ["v.bin"]),
    "truncated word2vec text": ("v.txt", vector_text(vectors(), "40 8"), ["v.txt", "40"]),
    "header counts too few": ("v.txt", vector_text(vectors(), "3 8"), ["v.txt"]),
    "header of another dimension": ("v.txt", vector_text(vectors(), "17 9"), ["v.txt"]),
    "NaN": ("v.txt", changed("teen", f"teen {ROW} nan"), ["v.txt", "teen"]),
    "infinite": ("v.txt", changed("lamp", f"lamp {ROW} inf"), ["v.txt", "lamp"]),
    "only zeros": ("v.txt", changed("wise", "wise" + " 0" * 8), ["v.txt", "wise", "zero"]),
    "a word twice": ("v.txt", changed("rock", f"door {ROW} 1"), ["v.txt", "door"]),
    "a number short": ("v.txt", changed("slow", f"slow {ROW}"), ["v.txt", "line"]),
    "not a number": ("v.txt", changed("slow", f"slow {ROW} x"), ["v.txt", "line"]),
    "not UTF-8": (
        "v.txt",
        changed("rock", f"r?ck {ROW} 1").encode().replace(b"r?ck", b"r\xf6ck"),
        ["v.txt", "UTF-8"],
    ),
    "empty": ("v.txt", b"", ["v.txt"]),
    "none of the words": ("v.txt", "2 2\nuno 1 2\ndue 3 4\n", ["none of", "words"]),
    "a picture": ("v.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4, ["v.png"]),
    "a pickle": ("v.model", pickle.dumps({"a": [1.0]}), ["v.model", "pickle", "allow", "runs code"]),
    "a class out of vocabulary": (
        "v.txt",
        vector_text({w: r for w, r in vectors().items() if w not in ("elder", "senior")}),
        ["'old'", "elder, senior"],
    ),
}


@pytest.mark.parametrize("case", list(BAD_VECTORS))
def test_bad_vectors(case, refused, files, tmp_path):
    name, content, said = BAD_VECTORS[case]
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    if "out of vocabulary" in case:
        said = [*said, "v"]
    refused("--embedding", tmp_path / name, "--wordlist", files / "age.toml", said=said)
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_vectors_that_are_not_there(refused, files, tmp_path):
    lists = ["--wordlist", files / "age.toml"]
    refused("--embedding", tmp_path, *lists, said="folder")
    refused("--embedding", tmp_path / "none.txt", *lists, said="none.txt")
    refused("--embedding", files / "vectorz.txt", *lists, said="vectors.txt")
    refused("--embedding", "minilm-statik", *lists, said="minilm-static")


BAD_LISTS = {
    "empty list": (wordlist_text(classes=classes(young=([], ["rash", "wise"]), old=WORDS["old"])), "young"),
    "no classes": (wordlist_text(classes=""), "class"),
    "one word in a class": (
        wordlist_text(classes=classes(young=(["teen"], ["rash", "lively"]), old=WORDS["old"])),
        "young",
    ),
    "one attribute": (
        wordlist_text(classes=classes(young=(["teen", "youth"], ["rash"]), old=WORDS["old"])),
        "young",
    ),
    "a word twice": (
        wordlist_text(classes=classes(young=(["teen", "teen"], ["rash", "lively"]), old=WORDS["old"])),
        "'teen'",
    ),
    "unknown key": (wordlist_text() + "atributes = []\n", "did you mean 'attributes'?"),
    "not TOML": (wordlist_text() + "= 3\n", "TOML"),
    "not UTF-8": (wordlist_text().encode().replace(b"Age", b"\xc4ge"), "UTF-8"),
}


@pytest.mark.parametrize("case", list(BAD_LISTS))
def test_bad_word_lists(case, refused, run, files, tmp_path):
    content, said = BAD_LISTS[case]
    path = tmp_path / "bad.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    refused("--embedding", files / "vectors.txt", "--wordlist", path, said=["bad.toml", said])
    code, out, err = run("check-wordlist", path)
    assert (code, out) == (2, "")
    assert all(line.startswith("bayesbias: ") and "bad.toml" in line for line in err.splitlines())
    assert said in err


BAD_MODELS = {
    "unknown key": ("lam = 2", "lamda = 2", ["[parameter.csd]", "'lamda'", "did you mean 'lam'?"]),
    "unknown distribution": ("Exponential", "Exponental", ["[parameter.csd]", "did you mean 'Exponential'?"]),
    "circle": ("mu = 1", 'mu = "c"', ["circle", "c -> cbar -> c"]),
    "a column that is not there": ('"attribute"', '"attribut"', ["'attribut'", "did you mean 'attribute'?"]),
    "NaN": ("lam = 2", "lam = nan", ["[parameter.csd], key lam", "finite"]),
    "not TOML": ("schema = 1", "schema 1", ["line 1"]),
}


@pytest.mark.parametrize("case", list(BAD_MODELS))
def test_bad_models(case, refused, files, tmp_path):
    old, new, said = BAD_MODELS[case]
    text = (files / "own.toml").read_text(encoding="utf-8")
    path = tmp_path / "bad.toml"
    path.write_text(
        text.replace(old, new, 1) if old != '"attribute"' else text.replace(old, new), encoding="utf-8"
    )
    refused("--distances", files / "pairs.csv", "--model", path, said=said)


def test_names_that_are_unknown(refused, files):
    table = ["--distances", files / "pairs.csv"]
    vectors = ["--embedding", files / "vectors.txt"]
    refused(*table, "--model", "crosed", said="did you mean 'crossed'?")
    refused(*vectors, "--wordlist", "religon", said="did you mean 'religion'?")
    refused(*vectors, "--wordlist", files / "age.toml", "--controls", "2020", said=["'2020'", "2021, 2022"])


def test_settings_that_contradict_each_other(refused, files):
    refused(said="--embedding E --wordlist W, or --distances FILE")
    refused("--embedding", "minilm-static", said="--wordlist W")
    refused("--wordlist", "religion", said="--embedding E")
    table = ["--distances", files / "pairs.csv"]
    refused(*table, "--embedding", "minilm-static", said="stands alone")
    refused(*table, "--wordlist", "religion", said="stands alone")
    refused(*table, "--controls", "2022", said="stands alone")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.replace("distance", "dist", 1), ["'distance' is missing", "valid: protected_word"]),
        (lambda t: t.replace(",associated,0", ",associated,far0", 1), ["line 2, column distance", "'far0"]),
        (lambda t: t.replace(",associated,", ",asociated,", 1), ["line 2", "did you mean 'associated'?"]),
        (lambda t: "", ["is empty", "protected_word"]),
    ],
)
def test_bad_tables(change, said, refused, files, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text(change((files / "pairs.csv").read_text()))
    refused("--distances", path, said=["bad.csv", *said])


def test_tables_that_are_not_there(refused, files, tmp_path):
    refused("--distances", tmp_path, said="is a folder")
    refused("--distances", files / "pair.csv", said="did you mean 'pairs.csv'?")
    refused("--distances", tmp_path / ("x" * 300 + ".csv"), said="is too long for a path")
