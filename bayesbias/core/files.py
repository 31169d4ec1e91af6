"""Files and folders: shipped data, writing whole or not at all, hashes of content."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import importlib.resources
import math
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    import pandas as pd

_LONGEST_NAME = 255  # bytes, on the file systems in use
_LONGEST_ENDING = 64
_DRAWN = 8  # characters that `tempfile` adds
_PACKAGE = Path(str(importlib.resources.files("bayesbias")))


def data_dir(kind: str) -> Path:
    """Return the folder of shipped files: ``wordlists``, ``models`` or ``embeddings``.

    In an installed wheel they lie in ``bayesbias/_data``; in a checkout word lists and models lie
    at the top of the repository, where they are read and edited.
    """
    installed = _PACKAGE / "_data" / kind
    return installed if installed.is_dir() else _PACKAGE.parent / kind


def list_names(kind: str, suffix: str = ".toml") -> list[str]:
    """Return the names of the shipped files of one kind, sorted."""
    return sorted(path.stem for path in data_dir(kind).glob(f"*{suffix}"))


def find_toml(
    name_or_path: str | os.PathLike[str], kind: str, noun: str, others: tuple[str, ...] = ()
) -> Path:
    """Return the path of a shipped TOML file by its name, or of the user's own by its path; it may have other endings."""
    endings = (".toml", *others)
    own = (
        f"the path of a {', '.join(endings[:-1])} or {endings[-1]} file"
        if others
        else "the path of a .toml file"
    )
    text = checks.path(name_or_path, noun, f"the name of a shipped {noun}, or {own}")
    if text in list_names(kind):
        return data_dir(kind) / f"{text}.toml"
    path = Path(text)
    if os.path.isdir(path):
        raise InputError(
            f"is a folder, not a {noun} file", where=path, valid=own.removeprefix("the path of ")
        )
    if lies_at(path):  # whether it can be read is said when it is
        return path
    looks_like_path = path.suffix in endings or os.sep in text
    raise InputError(
        f"no such {noun} file" if looks_like_path else f"unknown {noun}",
        found=text,
        valid=[*list_names(kind), f"or {own}"],
        hint=nearest(text, list_names(kind)),
    )


def lies_at(path: str | os.PathLike[str]) -> bool:
    """Say whether something lies at a path, or the system does not let one look: who reads it then says why.

    Unlike methods of `Path`, which throw what the system says of a folder that is closed or a name that is too long.

    Examples
    --------
    >>> lies_at("."), lies_at("nowhere.csv"), lies_at("a" * 5000)
    (True, False, False)
    """
    try:
        os.lstat(path)
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return True


def check_folder(out: Path | None) -> None:
    """Refuse a folder that cannot be written, before the work and not after it."""
    if out is None:
        return
    try:
        os.stat(out)
    except (FileNotFoundError, NotADirectoryError):  # what is there is looked at below
        pass
    except OSError as error:  # such as a link that leads to itself
        raise InputError(
            "the output cannot be written", where=out, found=error.strerror or str(error)
        ) from None
    if os.path.realpath(out) == os.path.realpath(os.sep):
        raise InputError("the output cannot be the root of all folders", where=out)
    existing = out
    while (
        not os.path.exists(existing) and existing != existing.parent
    ):  # which throws nothing, unlike that of `Path`
        existing = existing.parent
    if not os.path.isdir(existing):
        raise InputError("the output must be a folder", where=out, found=f"{existing} is a file")
    try:  # permissions alone do not tell: some file systems refuse whoever asks
        with tempfile.TemporaryDirectory(prefix=".bayesbias-", dir=existing):
            pass
    except OSError as error:
        raise InputError(
            "the output cannot be written", where=out, found=f"{error.strerror or error} in {existing}"
        ) from None


def check_file(out: Path) -> None:
    """Refuse a file that cannot be written, before the work and not after it."""
    folder = Path(os.path.realpath(out)).parent
    try:
        _refuse_in_place(out)
        with contextlib.suppress(FileNotFoundError):
            os.lstat(out)  # a loop of links, a file where a folder is meant, too long a name
        while not os.path.lexists(folder) and folder != folder.parent:  # whole_file makes them
            folder = folder.parent
        with tempfile.TemporaryDirectory(prefix=".bayesbias-", dir=folder):
            pass
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", where=out) from None


def _refuse_in_place(path: Path) -> None:
    """Refuse to put a file in the place of a folder, a device or a pipe, which renaming would replace."""
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "a device or a pipe"
        raise InputError(f"is {kind}, and no file can be written in its place", where=path)


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str], *, summed: bool = False) -> Iterator[Path]:
    """Write a file whole or not at all.

    Yields the path of a temporary file in the same folder. If the block ends well it is flushed to
    the disk and renamed to `path`; if not, it is removed and an older `path` stays as it was. What a writer left that
    was killed, the next one removes. Of a link it is the file that it leads to which is written, and the link stays.

    Parameters
    ----------
    path : path
    summed : bool
        Whether ``PATH.sha256`` is written beside it, as `sha256sum` writes and checks it, for a format that cannot
        hold a hash. Who is killed leaves the old file or the new one, with its own sum or with none.

    Raises
    ------
    InputError
        Where the folder cannot be written or the disk is full.
    """
    path = Path(os.path.realpath(given := checks.path(path, "path")))
    temporary: Path | None = None
    handle: int | None = None
    made: list[Path] = []  # folders, the innermost first
    try:
        _refuse_in_place(Path(given))
        made = [folder for folder in path.parents if not folder.exists()]
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_stale(path)
        handle, temporary = _begun(path)
        yield temporary
        _finish(temporary)
        if summed:
            _replace_with_sum(temporary, path)
        else:
            os.replace(temporary, path)
        temporary, made = None, []
    except OSError as error:
        # A file that the block itself looks for and does not find is another matter than one that cannot be written.
        if (
            temporary
            and isinstance(error, FileNotFoundError)
            and error.filename not in (str(temporary), str(path))
        ):
            raise
        raise InputError(
            f"cannot be written: {error.strerror or error}",
            where=given,
            hint="nothing was left half-written",
        ) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        if handle is not None:
            os.close(handle)
        with contextlib.suppress(OSError):  # one that is missing, or that somebody else has put something in
            for folder in made:
                folder.rmdir()


def sum_beside(path: Path) -> Path:
    """Return where the sum of a file lies that cannot hold it."""
    return path.with_name(f"{path.name}.sha256")


def line_of_sum(digest: str, name: str) -> str:
    r"""Return the line in which `sha256sum` writes the sum of a file: a name with a line break in it is escaped.

    Examples
    --------
    >>> line_of_sum("ab12", "v.txt"), line_of_sum("ab12", "a\nb")
    ('ab12  v.txt', '\\ab12  a\\nb')
    """
    escaped = name.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return f"{'' if escaped == name else chr(92)}{digest}  {escaped}"


def _begun(path: Path) -> tuple[int | None, Path]:
    """Make a temporary file, locked for as long as its writer lives, where there are locks."""
    while True:
        prefix, suffix = _around(path)
        handle, name = tempfile.mkstemp(prefix=prefix, suffix=suffix, dir=path.parent)
        if fcntl is None:
            os.close(handle)
            return None, Path(name)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(handle).st_nlink:
                return handle, Path(name)
        except BlockingIOError:  # another writer has just taken it for that of a dead one
            pass
        except OSError:  # a file system without locks
            return handle, Path(name)
        os.close(handle)


def _around(path: Path) -> tuple[str, str]:
    """Return what the name of a temporary file begins and ends with: that of the file, or its hash where it leaves no room."""
    whole = f".{path.name}.", path.suffix
    if len(os.fsencode("".join(whole))) + _DRAWN <= _LONGEST_NAME:
        return whole
    short = hashlib.sha256(os.fsencode(path.name)).hexdigest()[:32]
    return f".{short}.", path.suffix if len(os.fsencode(path.suffix)) <= _LONGEST_ENDING else ""


def unfinished(path: Path) -> list[Path]:
    """Return the temporary files beside a file: of writers that are at work, and of those that were killed."""
    prefix, suffix = _around(path)
    ours = re.compile(re.escape(prefix) + f"[a-z0-9_]{{{_DRAWN}}}" + re.escape(suffix))
    with os.scandir(path.parent) as entries:
        return [Path(entry.path) for entry in entries if ours.fullmatch(entry.name)]


def _remove_stale(path: Path) -> None:
    """Remove temporary files of writers that were killed: those whose lock nobody holds."""
    if fcntl is None:
        return
    for name in unfinished(path):
        with contextlib.suppress(OSError):  # a living writer's, gone meanwhile, or without locks
            handle = os.open(name, os.O_RDONLY)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(name)
            finally:
                os.close(handle)


def _finish(temporary: Path) -> None:
    """Bring a file to the disk, and let all read it who may read new files."""
    with open(temporary, "rb+") as file:
        os.fsync(file.fileno())
    umask = os.umask(0)
    os.umask(umask)
    temporary.chmod(0o666 & ~umask)


def _replace_with_sum(temporary: Path, path: Path) -> None:
    """Put a file and its sum in place, one writer after the other."""
    with open(temporary, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    beside = sum_beside(path)
    _remove_stale(beside)
    handle, later = _begun(beside)
    with contextlib.ExitStack() as stack:
        if handle is not None:
            stack.callback(os.close, handle)
        stack.callback(later.unlink, missing_ok=True)
        later.write_bytes(os.fsencode(f"{line_of_sum(digest, path.name)}\n"))
        _finish(later)
        if fcntl is not None:
            folder = os.open(path.parent, os.O_RDONLY)
            stack.callback(os.close, folder)
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(folder, fcntl.LOCK_EX)
        beside.unlink(missing_ok=True)  # never the sum of another file
        os.replace(temporary, path)
        os.replace(later, beside)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as plain dictionaries, for JSON, with all digits; what does not exist is None."""
    return [{str(name): plain(value) for name, value in row.items()} for row in frame.to_dict("records")]


def cache_dir() -> Path:
    """Return the folder for files that can be made again: ``BAYESBIAS_CACHE``, or the user's cache folder."""
    if chosen := os.environ.get("BAYESBIAS_CACHE"):
        return Path(os.path.expanduser(chosen))
    import platformdirs

    return Path(platformdirs.user_cache_dir("bayesbias", appauthor=False))


def sha256_of(content: str | bytes) -> str:
    """Return the SHA-256 of a text in UTF-8, or of bytes, in hexadecimal."""
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: Python's own numbers, lists and dictionaries.

    What does not exist is None: a missing cell of a table, and a number that is none or infinite.

    Examples
    --------
    >>> plain({"n": (1, float("nan"))})
    {'n': [1, None]}
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if type(value).__name__ == "NAType":  # of pandas, which need not be imported for it
        return None
    if hasattr(value, "tolist"):  # an array of NumPy, or one of its numbers
        return plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def delimiter_of(path: Path) -> str:
    """Return what separates the columns of a .csv or .tsv file; refuse any other kind of file."""
    kinds = {".csv": ",", ".tsv": "\t"}
    return kinds[checks.choice(path.suffix, kinds, "kind of file", path)]
