"""Whatever bytes a file holds, a reader returns a result or raises one error for the user, never another exception."""

import contextlib
import functools
import io
import json
import pickle
import re
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import bayesbias as bb
from bayesbias.wordlists.sentence_tests import read_test

WORDS = ["he", "she", "nurse", "soldier", "clock"]
SETTINGS = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)


# -- valid files, which are then damaged ----------------------------------------------------------


def vectors():
    random = np.random.default_rng(1)
    return random.normal(size=(len(WORDS), 4)).astype("<f4")


def word2vec_text():
    rows = [f"{w} {' '.join(map(str, row))}" for w, row in zip(WORDS, vectors(), strict=True)]
    return "\n".join([f"{len(rows)} 4", *rows, ""]).encode()


def glove_text():
    return word2vec_text().partition(b"\n")[2]


def word2vec_binary():
    parts = [b"%d 4\n" % len(WORDS)]
    parts += [
        w.encode() + b" " + row.tobytes() + b"\n" for w, row in zip(WORDS, vectors(), strict=True)
    ]
    return b"".join(parts)


def written(save, ending):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file{ending}"
        save(path)
        return path.read_bytes()


def npz():
    out = io.BytesIO()
    np.savez(out, words=np.array(WORDS), vectors=vectors())
    return out.getvalue()


def safetensors():
    from safetensors.numpy import save

    return save({"vectors": vectors()}, metadata={"words": json.dumps(WORDS)})


def vector_table(ending):
    frame = pd.DataFrame({"word": WORDS, "vector": list(vectors())})
    return written(frame.to_parquet if ending == ".parquet" else frame.to_feather, ending)


def zipped():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("v.txt", glove_text())
    return out.getvalue()


def npy():
    out = io.BytesIO()
    np.save(out, vectors())
    return out.getvalue()


def load_matrix(path):
    vocab = path.with_name("vocab.txt")
    vocab.write_text("\n".join(WORDS))
    return load_vectors(path)


def load_vocabulary(path):
    np.save(path.with_name("v.npy"), vectors())
    return bb.load_embedding(path.with_name("v.npy"), words=WORDS, vocab=path)


@functools.cache
def frame():
    table = bb.distance_table("minilm-static", "religion", controls="none")
    return table.frame.head(40)


def csv():
    return frame().to_csv(index=False).encode()


def parquet():
    return written(lambda path: frame().to_parquet(path), ".parquet")


def wordlist_toml():
    return b"""schema = 1
name = "small"
controls = "none"
[[class]]
name = "men"
protected = ["he", "him"]
attributes = ["soldier", "engineer"]
[[class]]
name = "women"
protected = ["she", "her"]
attributes = ["nurse", "teacher"]
"""


def wordlist_json():
    import tomllib

    return json.dumps(tomllib.loads(wordlist_toml().decode())).encode()


def wordlist_csv():
    rows = [(word, "men", "protected") for word in ("he", "him")]
    rows += [(word, "women", "protected") for word in ("she", "her")]
    rows += [(word, "men", "attribute") for word in ("soldier", "engineer")]
    rows += [(word, "women", "attribute") for word in ("nurse", "teacher")]
    return pd.DataFrame(rows, columns=["word", "class", "kind"]).to_csv(index=False).encode()


def predictions():
    return written(bb.list_predictions("m1").save, ".csv")


def model_toml():
    return bb.load_model("crossed").text.encode()


def sentence_test():
    part = {"category": "a", "examples": ["This is he.", "This is she."]}
    return json.dumps({key: part for key in ("targ1", "targ2", "attr1", "attr2")}).encode()


def covariates():
    return b"word,year\njew,1.5\ntorah,2\njudaism,3.5\nsynagogue,4\n"


def counts():
    return b"he 100\nshe 90\nnurse 12\n"


def load_vectors(path):
    return bb.load_embedding(path, words=WORDS)


@functools.cache
def table():
    return bb.load_distances(frame())


def join_covariates(path):
    return bb.tables.join_covariates(table(), path)


def load_counts(path):
    return bb.tables.load_counts(path, WORDS)


# name -> ending, a valid file, the reader
READERS = {
    "word2vec text": (".txt", word2vec_text, load_vectors),
    "GloVe": (".txt", glove_text, load_vectors),
    "fastText text": (".vec", word2vec_text, load_vectors),
    "word2vec binary": (".bin", word2vec_binary, load_vectors),
    "npz": (".npz", npz, load_vectors),
    "safetensors": (".safetensors", safetensors, load_vectors),
    "npy": (".npy", npy, load_matrix),
    "vocabulary": (".txt", lambda: "\n".join(WORDS).encode(), load_vocabulary),
    "vectors, zip": (".zip", zipped, load_vectors),
    "vectors, Parquet": (".parquet", lambda: vector_table(".parquet"), load_vectors),
    "vectors, Feather": (".feather", lambda: vector_table(".feather"), load_vectors),
    "vectors, JSON": (".json", lambda: b'{"he": [1, 2], "she": [3, 4]}', load_vectors),
    "table of vectors": (".csv", lambda: b"word,a,b\nhe,1,2\nshe,3,4\n", load_vectors),
    "pairs, CSV": (".csv", csv, bb.load_distances),
    "pairs, Parquet": (".parquet", parquet, bb.load_distances),
    "word list, TOML": (".toml", wordlist_toml, bb.load_wordlist),
    "word list, JSON": (".json", wordlist_json, bb.load_wordlist),
    "word list, CSV": (".csv", wordlist_csv, bb.load_wordlist),
    "predictions": (".csv", predictions, bb.load_predictions),
    "model": (".toml", model_toml, bb.load_model),
    "sentence test": (".jsonl", sentence_test, read_test),
    "covariates": (".csv", covariates, join_covariates),
    "counts": (".txt", counts, load_counts),
}
# A file whose reader raised is closed when the error is gone.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
every_reader = pytest.mark.parametrize("name", READERS)


def read(name, content):
    """Read a file with this content; return the result, or the error for the user."""
    ending, _, reader = READERS[name]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / f"file{ending}"
        path.write_bytes(content)
        try:
            return reader(path)
        except bb.InputError as error:
            assert "\n" not in str(error)  # noqa: PT017
            return error


@functools.cache
def valid(name):
    return READERS[name][1]()


@st.composite
def damaged(draw, content):
    """Change a valid file as disks, copies and editors do."""
    data = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(data) - 1, 0)))
        length = draw(st.integers(1, 64))
        way = draw(st.sampled_from(["flip", "zero", "cut", "drop", "twice", "insert", "text"]))
        if way == "flip" and data:
            data[at] ^= 1 << draw(st.integers(0, 7))
        elif way == "zero":
            data[at : at + length] = bytes(len(data[at : at + length]))
        elif way == "cut":
            del data[at:]
        elif way == "drop":
            del data[at : at + length]
        elif way == "twice":
            data[at:at] = data[at : at + length]
        elif way == "insert":
            data[at:at] = draw(st.binary(max_size=16))
        else:
            odd = [
                "nan",
                "1e999",
                "\u0000",
                "\ufeff",
                '"',
                ",,",
                "\r",
                "é",
                "-1",
                "{}",
                "[[",
                "= 1",
                "\t\t",
            ]
            data[at:at] = draw(st.sampled_from(odd)).encode()
    return bytes(data)


# -- the tests ------------------------------------------------------------------------------------


@every_reader
def test_a_valid_file_is_read(name):
    found = read(name, valid(name))
    assert not isinstance(found, Exception), found


@pytest.mark.slow
@every_reader
@given(data=st.data())
@SETTINGS
def test_a_damaged_file_is_read_or_refused(name, data):
    read(name, data.draw(damaged(valid(name))))


@every_reader
@given(content=st.binary(max_size=300))
@settings(SETTINGS, max_examples=10)
def test_any_bytes_are_read_or_refused(name, content):
    read(name, content)


@every_reader
@pytest.mark.parametrize(
    "content", [b"", b"\n", b"\xff\xfe", b"\x00" * 40, b"a" * 70_000, b"PK\x03\x04"]
)
def test_a_file_of_nothing_useful_is_refused(name, content):
    found = read(name, content)
    assert isinstance(found, bb.InputError) or name in ("counts", "covariates")


CELLS = st.one_of(
    st.sampled_from(
        ["he", "nurse", "1", "0.5", "-3", "nan", "inf", "", " ", "1e400", '"', "é", "true"]
    ),
    st.text(max_size=6),
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [n for n, (end, *_) in READERS.items() if end in (".csv", ".txt", ".vec")]
)
@given(
    rows=st.lists(st.lists(CELLS, min_size=1, max_size=8), max_size=8),
    separator=st.sampled_from(list(",;\t ")),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
@SETTINGS
def test_any_rows_below_the_header_are_read_or_refused(name, rows, separator, end, encoding):
    header = valid(name).decode().splitlines()[0]
    lines = [header, *(separator.join(row) for row in rows)]
    read(name, end.join(lines).encode(encoding, errors="replace"))


KEYS = [
    "name",
    "schema",
    "class",
    "protected",
    "attributes",
    "controls",
    "human",
    "covariates",
    "parameter",
    "dims",
]
KEYS += [
    "likelihood",
    "outcome",
    "distribution",
    "mu",
    "sigma",
    "results",
    "group",
    "targ1",
    "attr1",
    "examples",
]
TREES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=8),
        st.sampled_from(KEYS),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.sampled_from(KEYS), st.text(max_size=4)), inner, max_size=4),
    ),
    max_leaves=12,
)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["word list, JSON", "sentence test"])
@given(data=st.data())
@SETTINGS
def test_any_tree_of_json_is_read_or_refused(name, data):
    """A tree of its own, or one value of a valid file exchanged."""
    tree = data.draw(TREES)
    if data.draw(st.booleans()):
        whole = json.loads(valid(name))
        whole[data.draw(st.sampled_from(list(whole)))] = tree
        tree = whole
    read(name, json.dumps(tree).encode())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["word list, TOML", "model"])
@given(data=st.data())
@SETTINGS
def test_any_value_in_a_line_of_toml_is_read_or_refused(name, data):
    lines = valid(name).decode().splitlines()
    at = data.draw(
        st.sampled_from([k for k, line in enumerate(lines) if re.match(r"\w+ = ", line)])
    )
    values = [
        "0",
        "-1",
        "1e400",
        "nan",
        "true",
        "[]",
        "[1]",
        '""',
        '"x"',
        "{}",
        '{ a = "b" }',
        "[[]]",
        "2020-01-01",
    ]
    lines[at] = re.sub(r"= .*", "= " + data.draw(st.sampled_from(values)), lines[at])
    read(name, "\n".join(lines).encode())


class Opened:
    """A pickle of it would write a file when it is read."""

    def __reduce__(self):
        return open, ("opened-by-a-pickle", "w")


@pytest.mark.parametrize("ending", [".npz", ".npy", ".bin", ".model", ".kv", ".pkl", ".txt"])
def test_no_pickle_is_run(ending, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"file{ending}"
    if ending == ".npz":
        np.savez(path, words=np.array([Opened()], dtype=object), vectors=vectors()[:1])
    else:
        path.write_bytes(pickle.dumps(Opened()))
    with contextlib.suppress(bb.InputError):
        load_vectors(path)
    assert not (tmp_path / "opened-by-a-pickle").exists()


@pytest.mark.parametrize(
    "reader", [load_vectors, bb.load_wordlist, bb.load_distances, bb.load_predictions, bb.load_run]
)
def test_a_missing_file_and_a_folder_are_refused(reader, tmp_path):
    with pytest.raises(bb.InputError, match="missing"):
        reader(tmp_path / "missing.csv")
    (tmp_path / "folder").mkdir()
    with pytest.raises(bb.InputError, match="folder"):
        reader(tmp_path / "folder")
