"""Files: read with one clear error, written whole or not at all, hashed; and those shipped."""

import bz2
import contextlib
import gzip
import hashlib
import importlib.resources
import io
import json
import lzma
import math
import os
import re
import struct
import sys
import tomllib
import unicodedata
import uuid
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from bayesbias.core import BayesbiasError, InputError, checks, join_words, nearest, some
from bayesbias.core.encodings import given_encoding, is_utf8, likely_encoding
from bayesbias.core.formatting import in_one_line

MOST_BYTES = 1 << 30  # of a file that is read whole
MOST_TEXT = 1 << 26  # of a file of text, TOML or JSON
_FORMULA = re.compile(r"[=+\-@\t\r].", re.DOTALL)
_OF_EXCEL = re.compile(r'\ufeff?"?sep=([,;\t|])"?[ \r]*\n', re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?%?")
MOST_LINE = 1 << 24
MOST_RATIO = 100
"""How many times its size on the disk a packed file may unpack to, beyond `MOST_BYTES`.

Vectors of numbers pack to a half, texts to a tenth; arrays of padded words reach some fifty.
"""
_CHUNK = 1 << 22
_ZSTANDARD = 93  # a method of compression in a zip
_LOCAL_HEADER = 30  # bytes before the name of a member
_PACKAGE = Path(str(importlib.resources.files("bayesbias")))
_UNPACK = {b"\x1f\x8b": gzip.GzipFile, b"BZh": bz2.BZ2File, b"\xfd7zXZ\0": lzma.LZMAFile}
_BINARY = {
    b"\x1f\x8b": ("a gzip file", "unpack it"),
    b"BZh": ("a bzip2 file", "unpack it"),
    b"\xfd7zXZ\0": ("an xz file", "unpack it"),
    b"\x28\xb5\x2f\xfd": ("a Zstandard file", "unpack it"),
    b"PK\x03\x04": ("a zip archive (such as .xlsx or .npz)", "save it as text"),
    b"\x89HDF": ("an HDF5 or netCDF file", "a fit is read with load_fit"),
    b"PAR1": ("a Parquet file", "rename it to end in .parquet"),
    b"\x93NUMPY": ("a NumPy array", "save it as text"),
    b"\xff\xfe": ("UTF-16 text", "save it as UTF-8"),
    b"\xfe\xff": ("UTF-16 text", "save it as UTF-8"),
    **{
        bytes([0x80, n]): ("a pickle", "pickles can run code and are not read") for n in range(2, 6)
    },
}


# Reading


@contextlib.contextmanager
def guarded(
    where: object, expected: str = "a file that can be read", hint: str | None = None
) -> Iterator[None]:
    """Turn whatever a library raises in the block into one `InputError` of one line.

    Examples
    --------
    >>> with guarded("vectors.npz", "arrays of NumPy", hint="copy it again"):
    ...     raise ValueError("bad magic")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: vectors.npz: expected arrays of NumPy, got an error (bad magic). Copy it again.
    """
    try:
        yield
    except BayesbiasError:
        raise
    except Exception as error:
        problem = f"expected {expected}, got an error ({_reason(error)})"
        raise InputError(problem, where=where, hint=hint) from None


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, KeyError):
        return f"there is no {error}"
    if "allow_pickle" in str(error):
        return "it holds a pickle, which could run code"
    return in_one_line(str(error), 160) or type(error).__name__


def path_of(value: Any, where: object = "path", kind: str = "the path of a file") -> Path:
    """Return what was given as a path, with the user's home in place of ``~``."""
    return Path(os.path.expanduser(checks.path(value, where, kind)))


def check_file(path: Path, kind: str = "a file") -> None:
    """Refuse a path at which there is no file; one of nearly its name is named."""
    if os.path.isfile(path):
        return
    found, hint = "a device or a pipe", None
    if os.path.isdir(path):
        inside = next((each.suffix for each in sorted(path.glob("*.*"))), "")
        found, hint = "a folder", f"Name the files in it, such as {path}/*{inside}"
    elif not os.path.exists(path):
        found, folder = "nothing at this path", path.parent
        near = nearest(path.name, [each.name for each in folder.glob("*")])
        hint = near if folder.is_dir() else f"there is no folder {folder}"
    raise InputError(f"expected {kind}, got {found}", where=path, hint=hint)


@contextlib.contextmanager
def opened(
    path: Path, *, unpack: bool = False, kind: str = "a file", buffering: int = -1
) -> Iterator[BinaryIO]:
    """Open a file for reading; errors of the system, now or while it is read, name the file.

    Parameters
    ----------
    path : Path
        With `unpack` also ``archive.zip:member``.
    unpack : bool
        Whether gzip, bzip2, xz and a zip of one file are unpacked; the first bytes tell them.
    kind : str
        What the file should be, for messages.
    buffering : int
        As of `open`.

    Examples
    --------
    >>> with opened(Path("nowhere.csv")) as file:
    ...     pass
    Traceback (most recent call last):
    ...
    bayesbias.InputError: nowhere.csv: expected a file, got nothing at this path.
    """
    on_disk, member = split_member(path) if unpack else (path, "")
    check_file(on_disk, kind)
    try:
        with open(on_disk, "rb", buffering=buffering) as file:
            yield _unpacked(file, path, member) if unpack else file
    except (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, OSError) as error:
        problem = f"expected {kind} that can be read, got an error ({_reason(error)})"
        raise InputError(problem, where=path) from None


def split_member(path: Path) -> tuple[Path, str]:
    """Split ``archive.zip:member`` into the archive and its member; any other path has none.

    Examples
    --------
    >>> split_member(Path("glove.6B.zip:glove.6B.50d.txt"))[1]
    'glove.6B.50d.txt'
    """
    archive, colon, member = os.fspath(path).rpartition(".zip:")
    return (Path(f"{archive}.zip"), member) if colon else (path, "")


def _unpacked(stream: BinaryIO, where: Path, member: str) -> BinaryIO:
    """Return what a stream of gzip, bzip2, xz or zip holds; any other stream as it is.

    A file of numpy, torch or Excel is a zip too, and stays as it is; of another zip with several
    files `member` names one.
    """
    start = stream.read(6)
    stream.seek(0)
    if start.startswith(b"PK\x03\x04") or member:
        archive = zipfile.ZipFile(stream)
        most = most_unpacked(os.fstat(stream.fileno()).st_size)
        files = [n for n in archive.namelist() if not n.endswith("/") and "__MACOSX" not in n]
        if any(name.endswith((".npy", "data.pkl", "[Content_Types].xml")) for name in files):
            stream.seek(0)
            return stream
        if not member and len(files) != 1:
            hint = "name one of them, as in archive.zip:vectors.txt"
            problem = "expected a zip archive of one file"
            raise InputError(problem, where=where, found=some(files), hint=hint)
        name = checks.choice(member or files[0], files, f"{where}, member")
        check_sizes([archive.getinfo(name)], most, where)
        return cast("BinaryIO", _Unpacked(archive.open(name), stream, most, where))
    opener = next((opener for magic, opener in _UNPACK.items() if start.startswith(magic)), None)
    if opener is None:
        return stream
    most = most_unpacked(os.fstat(stream.fileno()).st_size)
    unpacked: Any = opener(fileobj=stream) if opener is gzip.GzipFile else opener(stream)
    return cast("BinaryIO", _Unpacked(unpacked, stream, most, where))


def most_unpacked(size: int) -> int:
    """Return the most bytes that a packed file of a size may unpack to."""
    return max(MOST_BYTES, MOST_RATIO * size)


def check_sizes(members: Iterable[zipfile.ZipInfo], most: int, where: object) -> None:
    """Refuse members of a zip that unpack to more than so many bytes, by the sizes it states."""
    total = sum(member.file_size for member in members)
    if total > most:
        raise _too_large(most, where, f"{total:,}")


def check_archive(path: Path) -> None:
    """Refuse a zip that unpacks to too much, by the sizes it states; nothing is unpacked."""
    with zipfile.ZipFile(path) as archive:
        check_sizes(archive.infolist(), most_unpacked(path.stat().st_size), path)


def _too_large(most: int, where: object, found: str) -> InputError:
    problem = f"expected at most {most:,} bytes when unpacked, got {found}"
    return InputError(problem, where=where, hint="unpack it yourself if you trust it")


def read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, where: object) -> bytes:
    """Return the content of a member of a zip, also of one that is packed by Zstandard.

    It is read up to the size that the zip states, which `check_sizes` limits.
    """
    if member.compress_type != _ZSTANDARD:
        return archive.read(member)
    import pyarrow as pa

    stream = archive.fp
    assert stream is not None
    stream.seek(member.header_offset)
    header = stream.read(_LOCAL_HEADER)
    name_size, extra_size = struct.unpack("<HH", header[-4:])
    stream.seek(name_size + extra_size, os.SEEK_CUR)
    packed = stream.read(member.compress_size)

    content = bytearray()
    with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as unpacked:
        while len(content) <= member.file_size:
            part = unpacked.read(min(_CHUNK, member.file_size + 1 - len(content)))
            if not part:
                break
            content += part
    if len(content) != member.file_size or zlib.crc32(content) != member.CRC:
        raise InputError(
            "expected a member of the size and checksum that the zip states, got another",
            where=where,
            hint="copy the file again",
        )
    return bytes(content)


class _Unpacked(io.BufferedIOBase):
    """An unpacked stream that ends with an error where it gets too large."""

    def __init__(self, stream: Any, packed: BinaryIO, most: int, where: object) -> None:
        self._stream = stream
        self._most = most
        self._where = where
        self.fileobj = packed  # tells how much of the file was read

    def _checked[T](self, content: T) -> T:
        if self._stream.tell() > self._most:
            raise _too_large(self._most, self._where, "more")
        return content

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return int(self._stream.tell())

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return int(self._stream.seek(offset, whence))

    def read(self, size: int | None = -1, /) -> bytes:
        whole = size is None or size < 0
        wanted = self._most + 1 - self._stream.tell() if whole else size
        return self._checked(bytes(self._stream.read(wanted)))

    def read1(self, size: int = -1, /) -> bytes:
        return self.read(size if size >= 0 else _CHUNK)

    def readinto(self, buffer: Any, /) -> int:
        return self._checked(int(self._stream.readinto(buffer)))

    def readline(self, size: int | None = -1, /) -> bytes:
        most = MOST_LINE + 1 if size is None or size < 0 else size
        line = bytes(self._stream.readline(most))
        if len(line) > MOST_LINE:
            problem = f"expected a line of at most {MOST_LINE:,} bytes, got a longer one"
            raise InputError(problem, where=self._where)
        return self._checked(line)


def read_bytes(
    path: Path, most: int = MOST_BYTES, kind: str = "a file", unpack: bool = False
) -> bytes:
    """Return the content of a file, perhaps unpacked, of at most so many bytes."""
    with opened(path, unpack=unpack, kind=kind) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise InputError(f"expected {kind} of at most {most:,} bytes, got more", where=path)
    return content


def blocks_of_lines(stream: BinaryIO, where: object) -> Iterator[list[bytes]]:
    r"""Yield the lines of a stream, some megabytes of them at a time, without their newlines.

    Parameters
    ----------
    stream : binary stream
    where : object
        The file, for messages.

    Examples
    --------
    >>> import io
    >>> list(blocks_of_lines(io.BytesIO(b"a\nb\n"), "x"))
    [[b'a', b'b']]
    """
    left, number = b"", 0
    while part := stream.read(_CHUNK):
        lines = (left + part).split(b"\n")
        left = lines.pop()
        if max(len(left), max(map(len, lines), default=0)) > MOST_LINE:
            long = next((i for i, line in enumerate(lines) if len(line) > MOST_LINE), len(lines))
            problem = f"expected a line of at most {MOST_LINE:,} bytes, got a longer one"
            raise InputError(problem, where=f"{where}, line {number + 1 + long}")
        number += len(lines)
        if lines:
            yield lines
    if left:
        yield [left]


def refuse_binary(start: bytes, where: object, expected: str = "text") -> None:
    """Refuse a file whose first bytes tell that it is no text in UTF-8."""
    tar = {start: ("a tar archive", "unpack it")} if start[257:262] == b"ustar" else {}
    for magic, (kind, hint) in {**_BINARY, **tar}.items():
        if start.startswith(magic):
            raise InputError(f"expected {expected}, got {kind}", where=where, hint=hint)


def decoded(content: bytes, where: object) -> str:
    """Return the text of bytes, in composed form (NFC), without a byte-order mark.

    The bytes are UTF-8, or in the encoding that the user named (`reading_in`).
    """
    refuse_binary(content, where)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        encoding = given_encoding()
        if encoding is None:
            raise _not_utf8(content, where, error.start) from None
        with guarded(where, f"text in {encoding}"):
            text = content.decode(encoding)
    return unicodedata.normalize("NFC", text)


def _not_utf8(content: bytes, where: object, start: int) -> InputError:
    """Return the error for text that is not UTF-8; it names the encoding that would read it."""
    words = re.split(rb"[\s,;:\"'\[\](){}]+", content)
    encoding = likely_encoding(words)
    place, found = f"{where}, line {content[:start].count(b'\n') + 1}", content[start:][:4]
    hint = "save it as UTF-8"
    if encoding is not None:
        foreign = [word for word in words if not is_utf8(word)]
        example = foreign[0].decode(encoding, "replace")
        hint += f", or add --encoding {encoding} (encoding=), which reads {example!r} there"
    return InputError("expected UTF-8", where=place, found=found, hint=hint)


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8, unpacked where it is packed."""
    return decoded(read_bytes(path, MOST_TEXT, unpack=True), path)


def separator_of(text: str, marks: str = ",;\t") -> tuple[str, int]:
    r"""Return what separates the cells of a table, and where its header begins.

    Excel may write a line such as ``sep=;`` before the header.

    Examples
    --------
    >>> separator_of("word\tyear\n"), separator_of("sep=,\nword,year\n")
    (('\t', 0), (',', 6))
    """
    if of_excel := _OF_EXCEL.match(text):
        return of_excel[1], of_excel.end()
    return max(marks, key=text.partition("\n")[0].count), 0


def parse_toml(content: bytes, where: object) -> dict[str, Any]:
    """Parse TOML; what is wrong with it is said with file and line."""
    with guarded(where, "TOML"):
        return tomllib.loads(decoded(content, where))


def read_toml(path: Path) -> dict[str, Any]:
    """Read and parse a TOML file."""
    return parse_toml(read_bytes(path, MOST_TEXT), path)


def toml_text(data: Mapping[str, Any], inside: str = "") -> str:
    r"""Return a mapping as TOML: texts, numbers, truth values, lists of these, and tables.

    Examples
    --------
    >>> print(toml_text({"name": "a", "mu": ["b"], "parameter": {"b": {"sd": 0.5}}}), end="")
    name = "a"
    mu = ["b"]
    <BLANKLINE>
    [parameter.b]
    sd = 0.5
    """

    def written(value: Any) -> str:
        if isinstance(value, Mapping):
            inner = (f"{json.dumps(str(k))} = {written(v)}" for k, v in value.items())
            return "{" + ", ".join(inner) + "}"
        if isinstance(value, list | tuple):
            return f"[{', '.join(map(written, value))}]"
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

    def key_of(name: str) -> str:
        return name if re.fullmatch("[A-Za-z0-9_-]+", name) else json.dumps(name)

    tables = {name: value for name, value in data.items() if isinstance(value, Mapping)}
    own = {name: value for name, value in data.items() if name not in tables}
    lines = [f"{key_of(name)} = {written(value)}\n" for name, value in own.items()]
    head = f"\n[{inside}]\n" if inside and lines else ""
    rest = (
        toml_text(value, ".".join(filter(None, (inside, key_of(name)))))
        for name, value in tables.items()
    )
    return head + "".join(lines) + "".join(rest)


def parse_json(content: str | bytes, where: object) -> Any:
    """Parse JSON; a key that occurs twice in one object is refused."""
    text = content if isinstance(content, str) else decoded(content, where)

    def as_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            checks.distinct([key for key, _ in pairs], "key", where)
        return made

    with guarded(where, "JSON"):
        return json.loads(text, object_pairs_hook=as_dict)


def read_json(path: Path) -> Any:
    """Read and parse a JSON file."""
    return parse_json(read_bytes(path, MOST_TEXT), path)


def parse_json_lines(text: str, where: object) -> list[Any]:
    """Parse JSON with a value in each line; blank lines are skipped."""
    numbered = enumerate(text.split("\n"), start=1)
    return [parse_json(line, f"{where}, line {n}") for n, line in numbered if line.strip()]


def check_not_input(out: checks.FilePath, inputs: Iterable[Any], where: object = "--out") -> None:
    """Refuse an output that is one of the inputs, or a file in one, by whatever path.

    Parameters
    ----------
    out : str or path
        The file that is written.
    inputs : iterable
        Paths of files and folders; what is None or no path, such as a shipped name, is passed over.
    where : object, default "--out"

    Examples
    --------
    >>> check_not_input("new.txt", ["vectors.txt", "religion", None])
    """
    if not os.path.exists(out):
        return
    written = os.path.realpath(out)
    for given in inputs:
        if not isinstance(given, str | os.PathLike) or not os.fspath(given):
            continue
        path = split_member(Path(os.path.expanduser(given)))[0]
        if not path.exists():
            continue
        inside = path.is_dir() and Path(written).is_relative_to(os.path.realpath(path))
        if inside or os.path.samefile(out, path):
            problem = f"expected a file that is no input, got {os.fspath(out)}"
            raise InputError(problem, where=where, hint="name another file")


# Writing


def check_folder(out: Path) -> None:
    """Refuse a folder that cannot be made or written, before the work and not after it.

    A folder is made for a moment, since permissions alone do not tell: the disk may be read-only
    or full, and the system's own folders take no files.

    Examples
    --------
    >>> check_folder(Path(__file__) / "run")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: ...: expected a folder, got a path below the file ...
    """
    try:
        os.lstat(out)  # names that are too long
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise _unwritable(out, error) from None
    # A link to nothing is made where it leads.
    place = Path(os.path.realpath(out))
    existing = next(path for path in (place, *place.parents) if os.path.lexists(path))
    if not existing.is_dir():
        kind = "a file" if existing == place else f"a path below the file {existing}"
        raise InputError(f"expected a folder, got {kind}", where=out)
    probe = existing / ".bayesbias-probe"
    try:
        probe.mkdir(exist_ok=True)
        with contextlib.suppress(FileNotFoundError):  # another process tried it too
            probe.rmdir()
    except OSError as error:
        raise _unwritable(out, error) from None


def _unwritable(out: Path, error: OSError) -> InputError:
    problem = f"expected a folder that can be written, got an error ({_reason(error)})"
    return InputError(problem, where=out, hint="name another folder")


@contextlib.contextmanager
def whole_file(path: checks.FilePath) -> Iterator[Path]:
    """Write a file whole or not at all: yield a temporary sibling, which is then renamed to `path`.

    Raises
    ------
    InputError
        If the folder cannot be written or the disk is full.
    """
    path = Path(os.path.realpath(given := checks.path(path, "path")))
    if path.exists() and not path.is_file():
        raise InputError("expected a file, got a folder or a device", where=given)
    temporary = path.with_name(f".bayesbias-{uuid.uuid4().hex}{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        if isinstance(error, FileNotFoundError):  # of a file that the block reads
            raise
        problem = f"expected a file that can be written, got an error ({error.strerror or error})"
        raise InputError(problem, where=given) from error
    finally:
        with contextlib.suppress(OSError):  # it was renamed, or could not be made
            temporary.unlink()


def write_whole(path: checks.FilePath, content: str | bytes) -> None:
    """Write a text in UTF-8, or bytes, whole or not at all."""
    with whole_file(path) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)


def write_csv(frame: Any, path: Path, *, delimiter: str = ",", exact: bool = False) -> None:
    """Write a data frame as CSV; every table that is exported as CSV or TSV is written here.

    A spreadsheet would run a text such as ``=cmd|...`` as a formula. Such a text gets an apostrophe
    in front, as OWASP advises. Numbers, also those that are written as texts, stay as they are.

    Parameters
    ----------
    frame : DataFrame
    path : Path
    delimiter : str
    exact : bool
        Whether texts stay as they are, in data that this package reads again.
    """
    if not exact:
        frame = frame.rename(columns=_shown_as_text)
        for name, column in frame.select_dtypes(exclude=["number", "bool"]).items():
            cells = column.astype(object).map(_shown_as_text)
            if not cells.equals(column.astype(object)):
                frame = frame.assign(**{name: cells})
    frame.to_csv(path, index=False, sep=delimiter)


def _shown_as_text(cell: Any) -> Any:
    """Return a cell so that no spreadsheet takes it for a formula."""
    if isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


# Hashes, and values for JSON


def sha256_of(content: str | bytes) -> str:
    """Return the SHA-256 of a text in UTF-8, or of bytes, in hexadecimal."""
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: checks.FilePath) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with opened(Path(path)) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it; what does not exist, such as NaN, is None.

    Examples
    --------
    >>> plain({"n": (1, float("nan"))})
    {'n': [1, None]}
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if type(value).__name__ == "NAType":  # of pandas, which need not be imported for it
        return None
    if hasattr(value, "tolist"):  # an array of NumPy, or one of its numbers
        return plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def records(frame: Any) -> list[dict[str, Any]]:
    """Return the rows of a frame as plain dictionaries, for JSON, with all digits."""
    return [plain(row) for row in frame.to_dict("records")]


# Shipped files, and the cache


def data_dir(kind: str) -> Path:
    """Return the folder of shipped files: ``wordlists``, ``models`` or ``embeddings``.

    An installed wheel has them in ``bayesbias/_data``; a checkout has word lists and models at its
    top.
    """
    installed = _PACKAGE / "_data" / kind
    return installed if installed.is_dir() else _PACKAGE.parent / kind


def origin_of(path: Path, kind: str) -> str:
    """Return a shipped file by its place among those of its kind, any other by its path."""
    return f"{kind}/{path.name}" if path.parent == data_dir(kind) else str(path)


def list_names(kind: str, suffix: str = ".toml") -> list[str]:
    """Return the names of the shipped files of one kind, sorted."""
    return sorted(path.stem for path in data_dir(kind).glob(f"*{suffix}"))


def find_toml(
    name_or_path: checks.FilePath, kind: str, noun: str, others: tuple[str, ...] = ()
) -> Path:
    """Return the path of a shipped TOML file by its name, or of the user's own by its path."""
    endings = (".toml", *others)
    own = f"the path of a {join_words(endings, 'or')} file"
    text = checks.path(name_or_path, noun, f"the name of a shipped {noun}, or {own}")
    names, path = list_names(kind), Path(text)
    if text in names:
        return data_dir(kind) / f"{text}.toml"
    if not path.exists() and path.suffix not in endings and os.sep not in text:
        problem, hint = f"expected {some(names)}, or {own}", nearest(text, names)
        raise InputError(problem, where=noun, found=text, hint=hint)
    check_file(path, f"a {noun}")
    return path


def cache_dir() -> Path:
    """Return the folder for files that can be made again.

    ``BAYESBIAS_CACHE``, or the user's cache folder.
    """
    if chosen := os.environ.get("BAYESBIAS_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "bayesbias" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bayesbias"
