"""What is no text is called by its name at every door that takes text."""

from __future__ import annotations

import io
import pickle
import zipfile

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.core.no_text import no_text
from bayesbias.tables.counts import load_counts


def _zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return file.getvalue()


def _array() -> bytes:
    file = io.BytesIO()
    np.save(file, np.arange(3))
    return file.getvalue()


KINDS = {
    "zip": (_zipped(), "is a zip archive"),
    "pickle": (pickle.dumps({"a": 1}), "is a pickle"),
    "array": (_array(), "is a NumPy array"),
    "database": (b"SQLite format 3\0" + bytes(84), "is an SQLite database"),
    "UTF-16": ("rabbi,1\n".encode("utf-16"), "is UTF-16 text"),
    "UTF-32": ("rabbi,1\n".encode("utf-32"), "is UTF-32 text"),
}
DOORS = {
    "word list": (".toml", bb.load_wordlist),
    "model": (".toml", bb.load_model),
    "counts": (".txt", lambda path: load_counts(path, ["rabbi"])),
    "distances": (".csv", bb.load_distances),
    "predictions": (".csv", bb.load_predictions),
    "tests": (".jsonl", bb.wordlists.read_test),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_called_by_its_name(kind, door, tmp_path):
    content, said = KINDS[kind]
    ending, read = DOORS[door]
    path = tmp_path / f"file{ending}"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said) as caught:
        read(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("text", ["rabbi 1", "", "PK", "\N{GREEK SMALL LETTER ALPHA} 1", "BZ 3", "%PDX"])
def test_what_may_be_text_is_none_of_them(text):
    assert no_text(text.encode()) is None
