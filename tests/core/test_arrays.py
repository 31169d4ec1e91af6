"""Arrays in .npz files: whole ones read, and what their headers claim held against what is there."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest

from bayesbias.core.arrays import (
    array_header,
    check_list_of_texts,
    check_safetensors,
    checked_texts,
    opened_arrays,
    read_array,
    texts_of,
)
from bayesbias.core.errors import InputError


def stored(array: np.ndarray, **kwargs) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, **kwargs)
    return stream.getvalue()


def npz(path, content: bytes):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", content)
    return path


def read(path):
    with opened_arrays(path, ["a"]) as archive:
        return read_array(archive, "a", path)


ARRAYS = {
    "numbers": np.arange(12.0).reshape(3, 4),
    "columns first": np.asfortranarray(np.arange(12, dtype="<f4").reshape(3, 4)),
    "one number": np.array(3),
    "none": np.empty((0, 5)),
    "text": np.array(["a", "日本", ""]),
    "bytes": np.array([b"a", b"bc"]),
    "truth": np.array([True, False]),
    "the other end first": np.arange(3, dtype=">i8"),
}


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_arrays_are_read_as_numpy_reads_them(tmp_path, array):
    path = npz(tmp_path / "a.npz", stored(array))
    found = read(path)
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)
    np.testing.assert_array_equal(found, np.load(path)["a"])


def headed(text: str, content: bytes = bytes(96)) -> bytes:
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + content


def described(descr: str = "'<f8'", shape: str = "(3, 4)", order: str = "False") -> bytes:
    return headed(f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}}}\n")


BAD = {
    "other bytes": b"\x93NUMPO\x01\x00",
    "another version": b"\x93NUMPY\x09\x00" + bytes(200),
    "a header beyond the end": b"\x93NUMPY\x01\x00\xff\xff",
    "a header of 4 GB": b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + bytes(2000),
    "more rows": described(shape="(4, 4)"),
    "fewer rows": described(shape="(2, 4)"),
    "rows without end": described(shape="(10**30,)"),
    "very many rows": described(shape=f"({2**62}, 4)"),
    "rows and columns that overflow": described(shape=f"({2**33}, {2**33})"),
    "below nothing": described(shape="(-3, -4)"),
    "no size": described("'<U0'", f"({10**12},)"),
    "a program": described("__import__('os').mkdir('x')"),
    "nested": headed("(" * 9000),
    "no type": described("'<q99'"),
    "half a type": described("[('a', '<f8'), ('b'"),
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_headers_that_do_not_fit_are_refused(tmp_path, content):
    path = npz(tmp_path / "a.npz", content)
    with pytest.raises(InputError, match=r"the array (is damaged|does not fit its size)") as caught:
        read(path)
    assert len(str(caught.value)) < 320 + len(str(path))


def test_objects_are_not_unpickled(tmp_path):
    path = npz(tmp_path / "a.npz", stored(np.array([{}, []], dtype=object), allow_pickle=True))
    with pytest.raises(InputError, match="holds an array of objects, which is a pickle"):
        read(path)
    path = npz(tmp_path / "a.npz", described("[('a', 'O')]"))
    with pytest.raises(InputError, match="which is a pickle"):
        read(path)


def test_every_bit_of_the_numbers_is_under_the_checksum(tmp_path):
    array = np.arange(60.0)
    whole = npz(tmp_path / "a.npz", stored(array)).read_bytes()
    start = whole.index(array.tobytes())
    for at in range(start, start + array.nbytes, 7):
        (tmp_path / "b.npz").write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        with pytest.raises(InputError, match="damaged"):
            read(tmp_path / "b.npz")


def test_an_array_that_is_not_there_is_named(tmp_path):
    path = npz(tmp_path / "a.npz", stored(np.eye(2)))
    with (
        pytest.raises(InputError, match="lacks the array b; found: 'a'"),
        opened_arrays(path, ["a", "b"]),
    ):
        pass


def test_the_header_is_read_to_the_first_number():
    array = np.arange(6.0)
    stream = io.BytesIO(stored(array))
    header = array_header(stream, "x", len(stream.getvalue()))
    assert (header.shape, header.fortran, header.dtype, header.size) == ((6,), False, np.dtype(float), 48)
    assert stream.read() == array.tobytes()


def test_halves_of_letters_are_no_text():
    with pytest.raises(InputError, match="x, row 2: holds half of a surrogate pair"):
        checked_texts(["a", "b\ud800"], "x")
    assert texts_of(np.array(["a", "é"]), "x") == ["a", "é"]
    with pytest.raises(InputError, match="does not hold text"):
        texts_of(np.array([0x7FFFFFFF], dtype="<u4").view("<U1"), "x")


def test_short_texts_by_the_million_are_refused_before_they_are_made(tmp_path):
    """In the file a text of one letter takes four bytes; read it takes sixty, of which nothing is left of the limit."""
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", stored(np.zeros(1 << 20, "U1")))
    with pytest.raises(InputError, match=r"unpacks to far more .*67,108,864 bytes"):
        read(path)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (b"{" + b'"a":{"data_offsets":[0,0]},' * 6_000, "very many tensors or entries"),
        (b'{"__metadata__":{' + b'"a\\\\":"",' * 8_000, "very many tensors or entries"),
        (b'{"__metadata__":{"words":"[' + b'\\"a\\",' * 20_000 + b']"}}', None),
    ],
)
def test_headers_of_tensors_are_counted(tmp_path, header, said):
    path = tmp_path / "a.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    if said is None:
        check_safetensors(path)
    else:
        with pytest.raises(InputError, match=said):
            check_safetensors(path)
    path.write_bytes((2**63).to_bytes(8, "little") + header)
    with pytest.raises(InputError, match=r"longer than any list of words; found: '9,223,372,036"):
        check_safetensors(path)


def test_a_list_of_more_texts_than_rows_is_refused_before_it_is_read():
    check_list_of_texts('["a", "b\\"c", ",,,,"]', 3, "x")
    for text in ('["a", "b", "c", "d"]', "[" + "1," * 2_000 + "1]"):
        with pytest.raises(InputError, match="x: is a list of more than there are rows; found: '3 rows"):
            check_list_of_texts(text, 3, "x")


def test_two_arrays_of_one_name_are_refused(tmp_path):
    path = npz(tmp_path / "a.npz", stored(np.arange(3)))
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("a.npy", stored(np.arange(4)))
    with pytest.raises(InputError, match="two arrays have one name; found: 'a'"):
        read(path)
