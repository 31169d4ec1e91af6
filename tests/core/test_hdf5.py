"""HDF5 and netCDF: the same whether read here or in a process of its own, which does not go on for ever."""

from __future__ import annotations

import sys
import time
import zlib

import h5py
import numpy as np
import pytest
import xarray as xr

from bayesbias.core import hdf5, reading_hdf5
from bayesbias.core.errors import InputError
from bayesbias.core.hdf5 import read_datasets, read_tree

NAMES = ("sentences", "vectors")


@pytest.mark.slow
def test_a_tree_is_the_same_read_here_and_elsewhere(tmp_path):
    rng = np.random.default_rng(1)
    inner = xr.Dataset(
        {
            "v": (("chain", "draw"), rng.normal(size=(2, 3))),
            "flag": ("chain", [True, False]),
            "word": ("draw", np.array(["żółw", "", "NA"], dtype=object)),
            "count": ("chain", np.array([1, 2], dtype="i4")),
            "one": ((), 3.5),
            "holes": ("draw", [1.0, np.nan, np.inf]),
        },
        coords={"chain": [0, 1], "draw": [4, 5, 6], "level": ("chain", ["a", "b"])},
        attrs={"unit": "none", "numbers": np.arange(3), "names": ["x", "y"]},
    )
    made = xr.DataTree.from_dict({"/": xr.Dataset(attrs={"format": 2}), "/a": inner, "/a/b": inner[["v"]]})
    path = tmp_path / "a.nc"
    made.to_netcdf(path, engine="h5netcdf")
    here, there = read_tree(path, own=True), read_tree(path, own=False)
    assert there.identical(here)
    assert set(there.children) == {"a"}
    for name, variable in here["a"].to_dataset().variables.items():
        other = there["a"].to_dataset().variables[name]
        assert (other.dims, other.dtype) == (variable.dims, variable.dtype)
    assert type(there.attrs["format"]) is type(here.attrs["format"])


def elsewhere(path, way: str) -> None:
    """Write a file whose vectors are those of another."""
    other = path.with_name("other.h5")
    with h5py.File(other, "w") as file:
        file["vectors"] = np.eye(2)
    with h5py.File(path, "w") as file:
        if way == "external link":
            file["vectors"] = h5py.ExternalLink(str(other), "/vectors")
        elif way == "link by name":
            file["vectors"] = h5py.SoftLink("/nowhere/vectors")
        elif way == "virtual":
            layout = h5py.VirtualLayout((2, 2), "f8")
            layout[:] = h5py.VirtualSource(str(other), "vectors", (2, 2))
            file.create_virtual_dataset("vectors", layout)
        elif way == "kept elsewhere":
            file.create_dataset("vectors", (2, 2), "f8", external=[(str(other), 0, 32)])
        else:
            file.create_group("deep/deeper")["vectors"] = h5py.ExternalLink(str(other), "/vectors")


@pytest.mark.parametrize("way", ["external link", "link by name", "virtual", "kept elsewhere", "deep inside"])
def test_what_lies_in_other_files_is_not_read(way, tmp_path):
    path = tmp_path / "a.h5"
    elsewhere(path, way)
    with (
        h5py.File(path) as file,
        pytest.raises(reading_hdf5.RefusedError, match="only what is in the file itself is read"),
    ):
        reading_hdf5.surveyed(file)


def test_groups_that_hold_each_other_end(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_group("a")["again"] = file["/"]
        file["a/me"] = file["a"]
        file["a/numbers"] = np.eye(2)
        assert reading_hdf5.surveyed(file)  # all of it is looked at, and stored as it is
        file.create_dataset("a/packed", data=np.eye(2), compression="gzip")
        assert not reading_hdf5.surveyed(file)


def deep(file):
    for _ in range(30):
        file = file.create_group("g")


def many_names(file):
    for i in range(40):
        file[f"{i}"] = file["/"]


def many_attributes(file):
    for i in range(101):
        file.attrs[f"{i}"] = i


def deflated(file):
    whole = file.create_dataset("a", (10,), "u1", chunks=(1 << 25,), maxshape=(None,), compression="gzip")
    whole.id.write_direct_chunk((0,), zlib.compress(bytes(1 << 25)))


def one_text_many_times(file):
    """Each text is where it lies: all lie where the first does."""
    texts = file.create_dataset("a", (1000,), h5py.string_dtype())
    texts[0] = "x" * 10_000
    at, path = texts.id.get_offset(), file.filename
    file.close()
    with open(path, "r+b") as raw:
        raw.seek(at)
        first = raw.read(16)
        raw.seek(at)
        raw.write(1000 * first)


BOMBS = {
    deep: "groups in groups, more than 20 levels",
    many_names: "more than 30 names",
    many_attributes: "101 attributes where at most 100",
    lambda file: file.attrs.create("a", np.zeros(1 << 20)): "524,288 numbers or texts in attributes",
    lambda file: file.create_dataset("a", (1 << 20,), "u1", chunks=(1,)): "in 1,048,576 chunks, for which",
    deflated: "in chunks of 33,554,432 bytes, and it holds 10",
    one_text_many_times: "texts of 10,000,000 bytes, for which the file has no room",
}


@pytest.mark.parametrize("bomb", BOMBS, ids=BOMBS.values())
def test_what_would_keep_the_reader_busy_is_refused_before_it_is_read(bomb, tmp_path, monkeypatch):
    monkeypatch.setattr(reading_hdf5, "_MOST_NAMES", 30 if bomb is many_names else 1000)
    with h5py.File(tmp_path / "a.h5", "w", libver="latest") as file:
        bomb(file)
    with h5py.File(tmp_path / "a.h5") as file, pytest.raises(reading_hdf5.RefusedError, match=BOMBS[bomb]):
        reading_hdf5.surveyed(file)


def test_a_seal_is_no_leave_to_unpack_without_end(tmp_path):
    """Anyone can make one: what is packed is read by a child, and what is refused there is refused here."""
    path = tmp_path / "a.nc"
    with h5py.File(path, "w") as file:
        deflated(file)
    with pytest.raises(InputError, match=r"a\.nc: keeps '/a' in chunks of 33,554,432 bytes"):
        read_tree(path, own=True)
    with h5py.File(path, "w") as file:
        file["a"] = np.zeros(1000)
        for i in range(9):
            file[f"b{i}"] = file["a"]
    with h5py.File(path) as file:
        assert not reading_hdf5.surveyed(file)
    for how in ({}, {"compression": "gzip"}):
        with h5py.File(path, "w") as file:
            file.create_dataset("a", data=np.zeros(100), **how)
            file["texts"] = ["a", "żółw"]
            file["flag"] = [True]
        with h5py.File(path) as file:
            assert reading_hdf5.surveyed(file) is (not how)


@pytest.mark.slow
def test_links_to_other_files_are_refused_by_whoever_reads(tmp_path):
    path = tmp_path / "a.h5"
    elsewhere(path, "external link")
    with pytest.raises(InputError, match=r"a\.h5: holds a link to another place, '/vectors'"):
        read_datasets(path, NAMES)
    elsewhere(path.with_suffix(".nc"), "virtual")
    with pytest.raises(InputError, match="keeps '/vectors' in other files"):
        read_tree(path.with_suffix(".nc"), own=False)


@pytest.mark.slow
def test_datasets_are_read_and_those_lacking_are_named(tmp_path):
    path = tmp_path / "a.h5"
    vectors = np.random.default_rng(1).normal(size=(2, 4)).astype("<f4")
    with h5py.File(path, "w") as file:
        file["sentences"] = ["This is Katie.", "日本"]
        file.create_dataset("vectors", data=vectors, compression="gzip")
    arrays, as_text = read_datasets(path, NAMES)
    assert arrays["sentences"].tolist() == ["This is Katie.", "日本"]
    np.testing.assert_array_equal(arrays["vectors"], vectors)
    assert as_text == {"sentences": True, "vectors": False}
    with pytest.raises(InputError, match="lacks the dataset words; found: 'sentences, vectors'"):
        read_datasets(path, ["words"])


@pytest.mark.slow
def test_a_dataset_that_claims_more_than_is_there_is_refused(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["sentences"] = ["a"]
        file.create_dataset("vectors", (10**6, 300), "<f4", chunks=(1000, 300))  # of which nothing is written
    with pytest.raises(InputError, match=r"claims to hold 1,200,000,\d+ bytes or more"):
        read_datasets(path, NAMES)


@pytest.mark.slow
def test_what_is_no_hdf5_is_refused_in_one_line(tmp_path):
    path = tmp_path / "a.h5"
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(3000))
    with pytest.raises(InputError, match="cannot be read as HDF5") as caught:
        read_datasets(path, NAMES)
    assert "\n" not in str(caught.value)


def script(tmp_path, monkeypatch, text: str):
    path = tmp_path / "script.py"
    path.write_text(f"import sys\nsys.path.append({str(hdf5.SCRIPT.parent)!r})\n{text}")
    monkeypatch.setattr(hdf5, "SCRIPT", path)
    file = tmp_path / "a.h5"
    file.write_bytes(b"x")
    return file


@pytest.mark.slow
def test_a_reader_that_never_ends_is_ended_by_its_time_on_the_processor(tmp_path, monkeypatch):
    path = script(
        tmp_path, monkeypatch, "from reading_hdf5 import limited\nlimited(0, 1 << 29)\nwhile True: pass"
    )
    started = time.perf_counter()
    with pytest.raises(InputError, match="reading it takes for ever"):
        read_datasets(path, NAMES)
    assert time.perf_counter() - started < 20


@pytest.mark.slow
def test_a_reader_that_waits_for_ever_is_ended_by_the_clock(tmp_path, monkeypatch):
    path = script(tmp_path, monkeypatch, "import time\ntime.sleep(600)")
    monkeypatch.setattr(hdf5, "PATIENCE_S", 0.3)
    with pytest.raises(InputError, match="reading it takes for ever"):
        read_datasets(path, NAMES)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "import os; os.abort()",
        "print('nonsense' * 9)",
        "sys.stdout.buffer.write((1 << 62).to_bytes(8, 'little'))",
        "sys.stdout.buffer.write((2).to_bytes(8, 'little') + b'[1')",
        "sys.stdout.buffer.write((2).to_bytes(8, 'little') + b'{}')",
        'text = b\'[{"name": "vectors", "bytes": 1e99, "shape": [1]}]\'\n'
        "sys.stdout.buffer.write(len(text).to_bytes(8, 'little') + text)",
    ],
)
def test_a_reader_that_crashes_or_talks_nonsense_is_an_error(tmp_path, monkeypatch, text):
    path = script(tmp_path, monkeypatch, text)
    with pytest.raises(InputError):
        read_datasets(path, NAMES)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is that of Linux")
def test_a_reader_that_asks_for_much_memory_is_refused_it(tmp_path, monkeypatch):
    text = "from reading_hdf5 import limited\nlimited(9, 1 << 26)\nx = bytearray(1 << 30)\nprint('got it')"
    path = script(tmp_path, monkeypatch, text)
    with pytest.raises(InputError, match="its reader crashed"):
        read_datasets(path, NAMES)


def test_what_the_reader_does_not_know_it_refuses():
    with pytest.raises(reading_hdf5.RefusedError, match="complex"):
        reading_hdf5.packed(np.array([1j]))
    with pytest.raises(reading_hdf5.RefusedError, match="where text is expected"):
        reading_hdf5.packed(np.array(["a", 3], dtype=object))
