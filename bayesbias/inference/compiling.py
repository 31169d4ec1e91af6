"""Compile functions with Numba, and keep the compiled code on disk.

Numba keeps it beside the module, or in the user's cache folder. Its files have no checksum: one
that is cut stops every later run, and one with a wrong byte may run wrong machine code. So these
files have a SHA-256, and code from a damaged file is compiled again.

Numba has no public way to replace its files. Where a version of Numba has no class to replace, it
writes files of its own.
"""

import contextlib
import functools
import hashlib
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
from numba import cfunc, njit

from bayesbias import __version__
from bayesbias.core import InputError
from bayesbias.core.errors import warn_user
from bayesbias.core.files import write_whole

caching: Any = None
try:
    from numba.core import caching
    from numba.core.serialize import dumps
except ImportError:  # another version of Numba, which keeps the code by itself
    caching = None

_ARGUMENTS = ("self", "cache_path", "filename_base", "source_stamp")
_DIGEST = hashlib.sha256().digest_size


class CheckedCacheFile:
    """The compiled code of one function: an index, and a file for each signature.

    A file is a SHA-256 and what it is of. It takes the place of Numba's ``IndexDataCacheFile``.

    Parameters
    ----------
    cache_path : str
        The folder.
    filename_base : str
        How the names of the files begin.
    source_stamp : object
        Tells whether the source is that of the compiled code.
    """

    def __init__(self, cache_path: str, filename_base: str, source_stamp: Any) -> None:
        self._folder = Path(cache_path)
        self._name = f"{filename_base}.checked"
        self._stamp = __version__, numba.__version__, source_stamp

    def load(self, key: Any) -> Any:
        """Return the code of a signature, or None to compile it."""
        name = self._names().get(key)
        content = None if name is None else _read_checked(self._folder / name)
        return None if content is None else pickle.loads(content)

    def save(self, key: Any, code: Any) -> None:
        """Keep the code of a signature."""
        names = self._names()
        names.setdefault(key, f"{self._name}.{len(names) + 1}.nbc")

        # The index comes last: it never lists code of an earlier source.
        with contextlib.suppress(InputError):  # a full disk: the next run compiles again
            _write_checked(self._folder / names[key], dumps(code))
            self._write_index(names)

    def flush(self) -> None:
        """Forget all code."""
        self._write_index({})

    @property
    def _index(self) -> Path:
        return self._folder / f"{self._name}.nbi"

    def _names(self) -> dict[Any, str]:
        """Return the file of each signature; none if the code is of another source or version."""
        content = _read_checked(self._index)
        if content is None:
            return {}
        stamp, names = pickle.loads(content)
        return pickle.loads(names) if stamp == self._stamp else {}

    def _write_index(self, names: dict[Any, str]) -> None:
        # Signatures are pickled apart: another version of Numba cannot read them.
        _write_checked(self._index, pickle.dumps((self._stamp, dumps(names))))


def _write_checked(path: Path, content: bytes) -> None:
    write_whole(path, hashlib.sha256(content).digest() + content)


def _read_checked(path: Path) -> bytes | None:
    """Return the content of a file; None if it is missing or damaged."""
    try:
        held = path.read_bytes()
    except OSError:
        return None
    digest, content = held[:_DIGEST], held[_DIGEST:]
    if hashlib.sha256(content).digest() == digest:
        return content

    with contextlib.suppress(OSError):  # so that no other process reports it
        path.unlink()
    _report_damage(path.parent)
    return None


@functools.cache
def _report_damage(folder: Path) -> None:
    """Say, once in a process, that code is compiled again."""
    warn_user(f"compiled code in {folder} was damaged: it is compiled again, which takes a while")


@contextlib.contextmanager
def _checked_files() -> Iterator[None]:
    """Give the functions that are compiled in the block files with a checksum."""
    original = getattr(caching, "IndexDataCacheFile", None)
    code = getattr(getattr(original, "__init__", None), "__code__", None)
    if code is None or code.co_varnames[: code.co_argcount] != _ARGUMENTS:
        yield
        return
    caching.IndexDataCacheFile = CheckedCacheFile
    try:
        yield
    finally:
        caching.IndexDataCacheFile = original


def _kept(make: Callable[[bool], Any]) -> Any:
    """Compile, and keep the result on disk where a folder can be written."""
    try:
        with _checked_files():
            return make(True)
    except (OSError, RuntimeError):  # no room, or no folder that could be written
        return make(False)


def compiled[Function: Callable[..., Any]](function: Function) -> Function:
    """Compile a function where it is first called."""
    return _kept(lambda cache: njit(cache=cache, nogil=True, error_model="numpy")(function))


def callback(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function that the sampler calls, of the type `kernel.LOGP` or `kernel.EXPAND`."""
    return lambda function: _kept(lambda cache: cfunc(signature, cache=cache)(function))
