"""Files: read with one clear error, written whole, hashed."""

import bz2
import contextlib
import gzip
import hashlib
import lzma
import os
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayesbias.core import files
from bayesbias.core.errors import InputError


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_packed_files_are_unpacked(tmp_path, pack):
    (tmp_path / "a").write_bytes(pack(b"one\ntwo\n"))
    with files.opened(tmp_path / "a", unpack=True) as stream:
        assert stream.read() == b"one\ntwo\n"
    assert files.read_text(tmp_path / "a") == "one\ntwo\n"


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize(
    "damage", [lambda data: data[:-9], lambda data: data[:40] + b"xxxx" + data[44:]]
)
def test_damaged_packed_files_name_the_file(tmp_path, pack, damage):
    path = tmp_path / "packed.txt"
    path.write_bytes(damage(pack(np.random.default_rng(1).bytes(5000))))
    with pytest.raises(InputError, match=r"packed\.txt"), files.opened(path, unpack=True) as stream:
        stream.read()


def test_what_is_no_file_is_named(tmp_path):
    (tmp_path / "pairs.csv").touch()
    with pytest.raises(
        InputError, match=r"pair\.csv: expected a file, got nothing.*Did you mean 'pairs.csv'"
    ):
        files.read_bytes(tmp_path / "pair.csv")
    with pytest.raises(InputError, match="There is no folder"):
        files.read_bytes(tmp_path / "none" / "a.csv")
    with pytest.raises(InputError, match="got a folder"):
        files.read_bytes(tmp_path)
    with pytest.raises(InputError, match="got a device"):
        files.read_bytes(Path("/dev/null"))
    with pytest.raises(InputError, match="expected the path"):
        files.path_of(3)


def test_a_file_that_is_too_large_is_refused(tmp_path):
    (tmp_path / "a").write_bytes(bytes(11))
    assert len(files.read_bytes(tmp_path / "a", 11)) == 11
    with pytest.raises(InputError, match="at most 10 bytes"):
        files.read_bytes(tmp_path / "a", 10)


def test_a_line_that_is_too_long_is_named(monkeypatch):
    import io

    monkeypatch.setattr(files, "MOST_LINE", 10)
    with pytest.raises(InputError, match="x, line 2"):
        list(files.blocks_of_lines(io.BytesIO(b"a\n" + b"b" * 20 + b"\nc\n"), "x"))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (pickle.dumps([1]), "got a pickle.*not read"),
        (b"PK\x03\x04", "not a zip file"),
        ("word".encode("utf-16"), "UTF-16"),
        (b"a\nM\xfcnchen", "line 2: expected UTF-8"),
    ],
)
def test_what_is_no_text_is_named(tmp_path, content, problem):
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(InputError, match=problem):
        files.read_text(tmp_path / "a.txt")


def test_text_is_composed_and_without_a_mark(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfKo\xcc\x88nig")
    assert files.read_text(tmp_path / "a.txt") == "König"


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', "{", '{"a": ' * 100_000])
def test_json_that_is_wrong_is_one_error(text):
    with pytest.raises(InputError, match=r"own\.json"):
        files.parse_json(text, "own.json")


def test_toml_names_file_and_line():
    with pytest.raises(InputError, match=r"own\.toml: expected TOML.*line 2"):
        files.parse_toml(b"a = 1\nb = x\n", "own.toml")


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "sub" / "a.txt"
    with files.whole_file(path) as temporary:
        temporary.write_text("one")
        assert not path.exists()
    with contextlib.suppress(KeyError), files.whole_file(path) as temporary:
        temporary.write_text("two")
        raise KeyError
    assert path.read_text() == "one"
    assert os.listdir(path.parent) == ["a.txt"]
    with pytest.raises(InputError, match="expected a file"), files.whole_file(tmp_path):
        pass


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "a.txt")
    with files.whole_file(tmp_path / "link") as temporary:
        temporary.write_text("one")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a.txt").read_text() == "one"


def test_outputs_are_checked_before_the_work(tmp_path):
    (tmp_path / "file").touch()
    files.check_folder(tmp_path / "new" / "folder")
    with pytest.raises(InputError, match="expected a folder"):
        files.check_folder(tmp_path / "file" / "out")
    assert sorted(os.listdir(tmp_path)) == ["file"]


def test_hashes(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    assert (
        files.sha256_file(tmp_path / "a")
        == files.sha256_of("abc")
        == hashlib.sha256(b"abc").hexdigest()
    )


def test_records_are_plain():
    frame = pd.DataFrame({"n": pd.array([1, None], dtype="Int64"), "x": [0.5, np.nan]})
    assert files.records(frame) == [{"n": 1, "x": 0.5}, {"n": None, "x": None}]


def test_the_cache_is_where_the_user_says(monkeypatch, tmp_path):
    monkeypatch.setenv("BAYESBIAS_CACHE", str(tmp_path))
    assert files.cache_dir() == tmp_path


def test_no_text_of_an_exported_table_is_a_formula_and_numbers_stay(tmp_path):
    texts = ["=cmd|' /C calc'!A0", "+1-555", "-foo", "@user", "\tx", "\rx"]
    plain = ["black - white", "-", "-0.5", "+1e-3", "-5%", "'tis", "", "caf\u00e9"]
    numbers = np.linspace(-1, 1, len(texts) + len(plain))
    frame = pd.DataFrame({"word": [*texts, *plain], "mean": numbers})
    frame["of"] = frame["word"].astype("category")
    path = tmp_path / "table.csv"
    files.write_csv(frame.rename(columns={"of": "=of"}), path)
    back = pd.read_csv(path, keep_default_na=False, dtype={"mean": float}, lineterminator="\n")
    expected = [f"'{text}" for text in texts] + plain
    assert back["word"].tolist() == back["'=of"].tolist() == expected
    assert back["mean"].tolist() == numbers.tolist()
    files.write_csv(frame, path, exact=True)
    exact = pd.read_csv(path, keep_default_na=False, lineterminator="\n")
    assert exact["word"].tolist() == [*texts, *plain]


def test_a_table_without_formulas_is_what_pandas_writes(tmp_path):
    frame = pd.DataFrame({"a": ["x", None], "n": [1, -2], "b": [True, False]})
    frame = frame.astype({"a": "string", "b": "boolean"})
    files.write_csv(frame, tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text(encoding="utf-8") == frame.to_csv(index=False)
