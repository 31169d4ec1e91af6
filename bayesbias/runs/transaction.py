"""A folder's files replaced whole or not at all, whatever happens on the way, and nothing else in it touched.

All is first written into a hidden folder (``.unfinished-*``) on the same file system and brought to the disk. Then it
takes its place in one of three ways:

- Where there was no folder, the new one is renamed to its name: one step of the file system.
- Where the folder holds nothing but the earlier files, old and new change names: one step too. Linux can do that.
- In all other cases (files of others in the folder, a mount point, the folder one stands in, another system) a list of
  what is to be done is written first, and with it the new files count. Then they are renamed into place one by one. Who
  is killed meanwhile leaves the list; the next one who opens or writes the folder goes on with it.

What is there of others is never touched: where a new file would need the name of a file that no run wrote, nothing
is done. Hidden folders of writers that died are removed by the next writer; a lock, which dies with its process, tells.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import glob
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from bayesbias.core.errors import BayesbiasError, InputError
from bayesbias.runs.manifest import MANIFEST

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_UNFINISHED = ".unfinished-"
_LIST = "list.json"
_NOT_SUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.ENOLCK, errno.EBADF)
_LONG_AGO = 24 * 3600.0  # seconds, after which a writer is taken for dead where no lock can tell
type Ours = Callable[[Path], Collection[str]]  # which files of a folder may be replaced and removed


@contextlib.contextmanager
def whole_folder(folder: str | os.PathLike[str], ours: Ours) -> Iterator[Path]:
    """Fill a folder whole or not at all.

    Parameters
    ----------
    folder : path
        Of the folder; made where it does not exist. A link is followed.
    ours : function
        Asked, with the folder as it is then, for the names of the files that the new ones replace; those of them that
        are not among the new ones are removed. All other files stay.

    Yields
    ------
    Path
        Of an empty folder to write into. If the block ends well, what is in it takes its place; if not, all stays as
        it was.

    Raises
    ------
    InputError
        Where the folder cannot be written, the disk is full, or a new file would replace one that is not `ours`.
    """
    target = Path(os.path.realpath(folder))
    new_parents = [path for path in target.parents if not os.path.exists(path)]
    work: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        settle(target, clean=True)
        with _work_folder(target, ours) as work:
            new = work / "new"
            new.mkdir()
            yield new
            _to_disk(new)
            _put_in_place(work, target, ours)
    except BayesbiasError as error:
        if work is None:
            raise
        raise InputError(str(error).replace(str(work / "new"), str(folder))) from error
    except OSError as error:
        # What the block itself looks for and does not find is another matter than what cannot be written.
        if isinstance(error, FileNotFoundError) and not str(error.filename).startswith(str(target.parent)):
            raise
        raise InputError(
            f"cannot be written: {error.strerror or error}",
            where=folder,
            hint="nothing was left half-written",
        ) from error
    finally:
        for path in new_parents:
            with contextlib.suppress(OSError):  # not empty: it has been used
                path.rmdir()


def settle(folder: str | os.PathLike[str], *, clean: bool = False) -> None:
    """Finish what a writer had decided when it was killed; with `clean` also remove what dead writers left.

    Raises
    ------
    InputError
        Where something is left to be done and cannot be done.
    """
    target = Path(os.path.realpath(folder))
    left = list(target.glob(f"{_UNFINISHED}*")) + (
        list(target.parent.glob(f"{glob.escape(_beside(target))}*")) if clean else []
    )
    for work in left:
        with _locked(work, wait=(work / _LIST).is_file()) as mine:
            try:
                if not _is_dead(work, mine):
                    continue
                if (work / _LIST).is_file():
                    _carry_out(work, target)
                    _remove(work)
                elif clean:
                    _remove(work)
            except OSError as error:
                raise InputError(
                    f"a run that was killed while it was written cannot be finished: {error.strerror or error}",
                    where=folder,
                    hint="make the folder writable",
                ) from error


@contextlib.contextmanager
def _work_folder(target: Path, ours: Ours) -> Iterator[Path]:
    """Make a hidden folder on the file system of the target, locked; remove it at the end, unless work is left in it."""
    inside = target.is_dir() and not _may_be_swapped(target, ours)
    while True:
        prefix = _UNFINISHED if inside else _beside(target)
        work = Path(tempfile.mkdtemp(prefix=prefix, dir=target if inside else target.parent))
        with _locked(work) as mine:
            if mine is False:  # another writer took it for that of a dead one
                continue
            try:
                yield work
            finally:
                for place in (work, target / _name_inside(work)):  # it may have been moved
                    if not (place / _LIST).is_file():
                        _remove(place)
            return


def _beside(target: Path) -> str:
    # A name has room for some 250 bytes on most systems.
    return f".{os.fsencode(target.name)[:100].decode(errors='ignore')}{_UNFINISHED}"


def _name_inside(work: Path) -> str:
    return _UNFINISHED + work.name.rpartition("-")[2]


def _remove(work: Path) -> None:
    shutil.rmtree(work, ignore_errors=True)


@contextlib.contextmanager
def _locked(folder: Path, *, wait: bool = False) -> Iterator[bool | None]:
    """Hold the lock of a folder, which ends with the process; yield whether it could be had, None where none are."""
    with contextlib.ExitStack() as stack:
        mine: bool | None = None
        try:
            if fcntl is not None:
                handle = os.open(folder, os.O_RDONLY)
                stack.callback(os.close, handle)
                fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
                mine = os.stat(folder).st_ino == os.fstat(handle).st_ino
        except (BlockingIOError, FileNotFoundError):  # another has it, or has done with it
            mine = False
        except OSError as error:
            if error.errno not in _NOT_SUPPORTED:
                raise
        yield mine


@contextlib.contextmanager
def _after_others(target: Path) -> Iterator[None]:
    """Keep those apart who put a run into the same folder at the same time."""
    while True:
        with _locked(target, wait=True) as mine:
            if mine is not False or not target.exists():
                yield
                return


def _is_dead(work: Path, mine: bool | None) -> bool:
    """Say whether nobody writes into a hidden folder any more; without locks, whether it is old."""
    return time.time() - work.stat().st_mtime > _LONG_AGO if mine is None else mine


# -- into place ------------------------------------------------------------------------------------


def _put_in_place(work: Path, target: Path, ours: Ours) -> None:
    with _after_others(target):
        if not _renamed(work / "new", target) and not _swapped(work, target, ours):
            _moved(work, target, ours)


def _renamed(new: Path, target: Path) -> bool:
    if target.exists():
        return False
    try:
        os.rename(new, target)
    except OSError:
        if not target.exists():
            raise
        return False  # somebody has just made it
    _sync(target.parent)
    return True


def _swapped(work: Path, target: Path, ours: Ours) -> bool:
    if work.parent == target or not _may_be_swapped(target, ours):
        return False
    earlier = _check(work / "new", target, ours)
    (work / "new").chmod(target.stat().st_mode & 0o7777)
    if not _exchange(work / "new", target):
        return False
    _sync(target.parent)
    for name in set(_files(work / "new")) - earlier:  # what somebody put there in the last moment
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        if not os.path.lexists(target / name):
            os.replace(work / "new" / name, target / name)
    return True


def _moved(work: Path, target: Path, ours: Ours) -> None:
    if work.parent != target:
        work = work.rename(target / _name_inside(work))
    earlier = _check(work / "new", target, ours)
    # The manifest last: whoever reads it finds all that it lists in its place.
    names = sorted(_files(work / "new"), key=lambda name: (name == MANIFEST, name))
    draft = work / f".{_LIST}"
    with open(draft, "w", encoding="utf-8") as file:
        json.dump({"new": names, "gone": sorted(earlier - set(names))}, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, work / _LIST)  # from here on the new run is the run
    _sync(work)
    try:
        _carry_out(work, target)
    except OSError as error:
        raise InputError(
            f"the new files are in {work.name} but cannot all take their places: {error.strerror or error}",
            where=target,
            hint="make the folder writable; who opens or writes it next goes on",
        ) from error


def _check(new: Path, target: Path, ours: Ours) -> set[str]:
    """Return the earlier files; refuse what could not be put in place, or would replace what is not ours."""
    earlier = set(ours(target))
    device = new.stat().st_dev
    for name in _files(new):
        path = target / name
        if path.is_dir() or (os.path.lexists(path) and name not in earlier):
            raise InputError(
                f"holds {name}, which no run wrote", where=target, hint="move it away, or name another folder"
            )
        parent = next(place for place in path.parents if os.path.lexists(place))
        if not parent.is_dir() or parent.stat().st_dev != device or not os.access(parent, os.W_OK):
            raise InputError(
                "cannot be written into", where=parent, found="no folder of the same file system"
            )
    return earlier


def _carry_out(work: Path, target: Path) -> None:
    """Do what a list says; may be done again from anywhere in between."""
    todo = json.loads((work / _LIST).read_text(encoding="utf-8"))
    for name in todo["new"]:
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):  # it is there already
            os.replace(work / "new" / name, path)
    for name in todo["gone"]:
        (target / name).unlink(missing_ok=True)
    for name in sorted({str(Path(name).parent) for name in todo["gone"]} - {"."}, reverse=True):
        with contextlib.suppress(OSError):  # not empty
            (target / name).rmdir()
    for place in {(target / name).parent for name in todo["new"]} | {target}:
        _sync(place)
    (work / _LIST).unlink()


def _may_be_swapped(target: Path, ours: Ours) -> bool:
    """Say whether a folder may be exchanged for another: it holds nothing else, and nobody would miss it."""
    if not sys.platform.startswith("linux") or target.is_symlink() or os.path.ismount(target):
        return False
    with contextlib.suppress(OSError):  # one may stand in a folder that was removed
        here = Path.cwd()
        if target == here or target in here.parents:
            return False
    about, parent = target.stat(), target.parent.stat()
    if about.st_dev != parent.st_dev or about.st_uid != os.geteuid() or not os.access(target.parent, os.W_OK):
        return False
    group = parent.st_gid if parent.st_mode & 0o2000 else os.getegid()  # that a new folder gets there
    if about.st_gid != group:
        return False
    known = set(ours(target))
    return bool(known) and all(
        path.relative_to(target).as_posix() in known
        or (path.is_dir() and not path.is_symlink() and any(path.iterdir()))
        for path in target.rglob("*")
    )


def _exchange(a: Path, b: Path) -> bool:
    """Let two folders change names in one step; False where the system or the file system cannot."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return rename(here, os.fsencode(a), here, os.fsencode(b), exchange) == 0


def _files(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()]


def _to_disk(folder: Path) -> None:
    """Bring a folder and all in it to the disk."""
    for path in folder.rglob("*"):
        if path.is_file():
            with open(path, "rb+") as file:
                os.fsync(file.fileno())
    for path in [*(path for path in folder.rglob("*") if path.is_dir()), folder]:
        _sync(path)


def _sync(folder: Path) -> None:
    if os.name == "nt":  # which cannot open a folder
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NOT_SUPPORTED:
            raise
    finally:
        os.close(handle)
