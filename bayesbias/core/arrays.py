"""Arrays in .npz files: shapes and types held against the bytes that are there, and nothing unpickled.

Source of the layout: NumPy's ``numpy.lib.format``, versions 1.0 to 3.0.
"""

from __future__ import annotations

import contextlib
import io
import math
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.core.errors import InputError
from bayesbias.core.guarding import guarded
from bayesbias.core.opening import opened
from bayesbias.core.unpacking import believable, bomb, opened_zip
from bayesbias.core.wording import Shortened

if TYPE_CHECKING:
    import numpy as np

_MOST_HEADER = 10_000  # bytes; of a plain array it has some 120
_MOST_TENSOR_HEADER, _MOST_MARKS, _CHUNK = 1 << 26, 20_000, 1 << 20
_TEXT = 64  # bytes that a text takes where it is read, however short it is
_PICKLED = "holds an array of objects, which is a pickle; loading it could run code from the file"


@dataclass(frozen=True)
class Header:
    """What an array in NumPy's format says of itself.

    Attributes
    ----------
    shape : tuple of int
    fortran : bool
        Whether the first index runs fastest.
    dtype : numpy.dtype
    """

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype

    @property
    def size(self) -> int:
        """Bytes of the numbers."""
        return math.prod(self.shape) * self.dtype.itemsize


def array_header(stream: Any, where: object, present: int, *, valid: str | None = None) -> Header:
    """Read the header of an array and hold it against the bytes that are there.

    Parameters
    ----------
    stream : binary stream
    where : object
    present : int
        Bytes of header and numbers together.
    valid : str, optional

    Raises
    ------
    InputError
        Where it is no array, or one of objects; where its shape and type ask for other than what is there.
    """
    import numpy as np

    with guarded(where, "the array is damaged", valid=valid):
        start = stream.read(8)
        if start[:6] != b"\x93NUMPY" or start[6:7] not in (b"\1", b"\2", b"\3"):
            raise ValueError("it does not begin as NumPy's arrays do")
        width = 2 if start[6] == 1 else 4
        length = stream.read(width)
        count = int.from_bytes(length, "little")
        if count > _MOST_HEADER:
            raise ValueError(f"its header says to be of {count:,} bytes")
        text = stream.read(count)
        read = np.lib.format.read_array_header_1_0 if width == 2 else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(io.BytesIO(length + text))
    if dtype.hasobject:
        raise InputError(_PICKLED, where=where, found=f"type {dtype}", valid=valid)
    header = Header(tuple(int(length) for length in shape), bool(fortran), dtype)
    if dtype.itemsize == 0 or min(header.shape, default=0) < 0 or header.size != present - 8 - width - count:
        raise InputError(
            "the array does not fit its size: it is damaged or truncated",
            where=where,
            found=f"shape {header.shape}, type {dtype}, {max(present - 8 - width - count, 0):,} bytes",
            valid=valid,
        )
    return header


def names_of_arrays(archive: zipfile.ZipFile) -> list[str]:
    """Return the names of the arrays of an .npz file."""
    return [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]


@contextlib.contextmanager
def opened_arrays(path: Path, names: Iterable[str], *, valid: str | None = None) -> Iterator[zipfile.ZipFile]:
    """Open an .npz file that holds arrays of certain names.

    Raises
    ------
    InputError
        Where it is no such file, claims more than is there, or lacks one of the arrays.
    """
    with opened_zip(path, valid=valid) as archive:
        held = names_of_arrays(archive)
        if twice := [name for name, count in Counter(held).items() if count > 1]:
            raise InputError("two arrays have one name", where=path, found=Shortened(twice[0]), valid=valid)
        if not held and archive.namelist():
            raise InputError(
                "is an archive without arrays (such as .xlsx)",
                where=path,
                found=Shortened(archive.namelist()[0]),
                valid=valid,
            )
        for name in names:
            if name not in held:
                raise InputError(
                    f"lacks the array {name}", where=path, found=", ".join(held[:6])[:100], valid=valid
                )
        yield archive


@contextlib.contextmanager
def opened_array(
    archive: zipfile.ZipFile, name: str, path: Path, *, valid: str | None = None
) -> Iterator[tuple[Any, Header]]:
    """Yield the stream of one array of an .npz file, at its first number, and its header."""
    where = f"{path}, {name}"
    member = archive.getinfo(f"{name}.npy")
    with contextlib.ExitStack() as stack:
        with guarded(where, "the array is damaged", valid=valid):
            stream = stack.enter_context(archive.open(member))
        header = array_header(stream, where, member.file_size, valid=valid)
        taken = math.prod(header.shape) * _TEXT if header.dtype.kind in "SU" else 0
        if not believable(taken, member.compress_size):
            raise bomb(where, taken, member.compress_size)
        yield stream, header


def read_array(archive: zipfile.ZipFile, name: str, path: Path, *, valid: str | None = None) -> np.ndarray:
    """Return one array of an .npz file; its checksum is that of the file."""
    import numpy as np

    with opened_array(archive, name, path, valid=valid) as (stream, header):
        data = read_exactly(stream, header.size, f"{path}, {name}", valid=valid)
        flat = np.frombuffer(data, header.dtype)
        return flat.reshape(header.shape, order="F" if header.fortran else "C")


def read_exactly(stream: Any, count: int, where: object, *, valid: str | None = None) -> bytes:
    """Return so many bytes of a member of a zip file, whose checksum is looked at with the last of them."""
    with guarded(where, "the array is damaged", valid=valid):
        data = stream.read(count)
    if len(data) < count:
        raise InputError("the array is truncated", where=where, found=f"{len(data):,} bytes", valid=valid)
    return data


def check_safetensors(path: Path, *, valid: str | None = None) -> None:
    """Refuse a safetensors file whose header would fill the memory: of very many tensors, or of more than any list of words.

    Source of the layout: the safetensors format; eight bytes of the length of the header, then JSON.
    """
    with opened(path, valid=valid) as file:
        length = int.from_bytes(file.read(8), "little")
        if length > _MOST_TENSOR_HEADER:
            problem = "the header of the safetensors file is longer than any list of words"
            raise InputError(problem, where=path, found=f"{length:,} bytes", valid=valid)
        marks = 0
        while length > 0 and (part := file.read(min(_CHUNK, length))):
            # The list of words is one text, in which all marks are escaped.
            marks += part.count(b'"') - part.count(b'\\"')
            length -= len(part)
        if marks > _MOST_MARKS:
            problem = "the header of the safetensors file holds very many tensors or entries"
            raise InputError(problem, where=path, found=f"{marks:,} quotation marks", valid=valid)


def check_list_of_texts(text: str, count: int, where: object, *, valid: str | None = None) -> None:
    """Refuse, before it is parsed, JSON that holds far more than a list of so many texts."""
    texts = (text.count('"') - text.count('\\"')) // 2
    if texts > count or text.count(",") > 1000 + 10 * max(count, texts):
        found = f"{count:,} rows, and {max(texts, text.count(',')):,} entries or more"
        raise InputError("is a list of more than there are rows", where=where, found=found, valid=valid)


def texts_of(array: np.ndarray, where: object) -> list[str]:
    """Return an array of text, shape (n,), as texts; half a surrogate pair is no text."""
    with guarded(where, "does not hold text", valid="an array of strings, np.array(list_of_texts)"):
        return checked_texts([str(text) for text in array.tolist()], where)


def checked_texts(texts: list[str], where: object) -> list[str]:
    """Return texts that can be written in UTF-8; name the first that cannot."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        for row, text in enumerate(texts, start=1):
            if any("\ud800" <= letter <= "\udfff" for letter in text):
                raise InputError(
                    "holds half of a surrogate pair",
                    where=f"{where}, row {row}",
                    found=text[:40],
                    valid="text",
                ) from None
    return texts
