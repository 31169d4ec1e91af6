"""Put a finished run in its folder, so that a kill at any moment leaves the old run or the new one.

A run is first written to a hidden folder. Into a folder that does not exist yet it comes by one
rename. In a folder that exists, one rename of the hidden folder to `JOURNAL` decides that the new
run holds; then its files are moved to their places, ``run.json`` last. Whoever next reads or writes
the folder and finds `JOURNAL` in it moves the rest. Moving is safe to repeat: what is no longer in
`JOURNAL` was moved.

Only files that the old ``run.json`` lists are removed. A lock on the folder keeps two processes
apart while files are moved, and one on the hidden folder tells that its process is alive; the
system releases both when a process ends.
"""

import contextlib
import hashlib
import os
import shutil
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bayesbias.core import InputError
from bayesbias.core.errors import warn_user
from bayesbias.output.manifest import MANIFEST, check_inside, read_manifest

JOURNAL = ".bayesbias-replacement"
STAGING = ".bayesbias-run-"
_WAIT = 60.0  # seconds for another process to move its files
_OLD = 86_400.0  # seconds after which a hidden folder is abandoned, where no lock can tell
_TRIES = 10  # to read a run while others replace it


@contextlib.contextmanager
def staging(target: Path) -> Iterator[Path]:
    """Make a hidden folder for a new run, and remove it at the end if it is still there.

    It lies in the target, or beside one that does not exist. Such folders that killed processes
    left there are removed.
    """
    target = Path(os.path.realpath(target))
    if target.is_dir():
        parent, prefix = target, STAGING
    else:
        parent, prefix = target.parent, _prefix_beside(target)
    parent.mkdir(parents=True, exist_ok=True)
    new = parent / f"{prefix}{uuid.uuid4().hex[:12]}"
    handle = None
    try:
        _remove_abandoned(target)
        with locked(parent):
            new.mkdir()
            handle, _ = _lock(new)
        yield new
    finally:
        shutil.rmtree(new, ignore_errors=True)
        if handle is not None:
            os.close(handle)


def _remove_abandoned(target: Path) -> None:
    """Remove hidden folders of killed processes from a target, and from beside it."""
    for folder, prefix in ((target, STAGING), (target.parent, _prefix_beside(target))):
        if not (folder.is_dir() and os.access(folder, os.R_OK | os.W_OK)):
            continue
        with locked(folder):  # nobody makes one just now that has no lock yet
            for place in folder.glob(f"{prefix}*"):
                if place.is_dir() and not place.is_symlink() and _is_abandoned(place):
                    shutil.rmtree(place, ignore_errors=True)


def _prefix_beside(target: Path) -> str:
    """Return how a hidden folder beside a target begins.

    With a hash, since a name may be too long to have anything added to it.
    """
    return f"{STAGING}{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:12]}-"


def _is_abandoned(place: Path) -> bool:
    """Whether the process that made a hidden folder has ended."""
    try:
        handle, state = _lock(place)
    except OSError:  # it is gone, or not ours to open
        return False
    if handle is not None:
        os.close(handle)
    if state == "unknown":
        return time.time() - place.stat().st_mtime > _OLD
    return state == "locked"


def _lock(folder: Path) -> tuple[int | None, str]:
    """Try to lock a folder; return the handle that holds the lock, and a state.

    The state is ``locked``, ``taken`` by another process, or ``unknown`` where the system or the
    disk has no locks of folders.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        return None, "unknown"
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        return None, "taken" if isinstance(error, BlockingIOError) else "unknown"
    return handle, "locked"


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes from moving files in a folder; wait for one that does."""
    handle, state = _lock(folder)
    end = time.monotonic() + _WAIT
    while state == "taken":
        if time.monotonic() > end:
            problem = "expected a folder that no other process writes to, got one in use"
            raise InputError(problem, where=folder, hint="try again")
        time.sleep(0.02)
        handle, state = _lock(folder)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def put_in_place(new: Path, target: Path, check: Callable[[], bool]) -> None:
    """Move a finished run from its hidden folder to its place.

    `check` is called once nobody else writes to a target that exists. It refuses what may not be
    replaced, and says whether other files with the names of the new ones may be.
    """
    target = Path(os.path.realpath(target))
    if not target.is_dir():
        try:
            os.rename(new, target)
            return
        except OSError:
            if not target.is_dir():  # else another process has just made it
                raise
    with locked(target):
        if os.path.lexists(target / JOURNAL):
            _complete(target)
        overwrite = check()
        old = read_manifest(target)["files"] if os.path.isfile(target / MANIFEST) else {}
        _check_places(new, target, old, overwrite)
        try:
            os.rename(new, target / JOURNAL)
            _complete(target)
        except BaseException:
            # From the rename on the new run holds, also when the user interrupts it.
            if os.path.lexists(target / JOURNAL):
                _complete(target)
            raise


def _check_places(new: Path, target: Path, old: Mapping[str, Any], overwrite: bool) -> None:
    """Refuse a folder in which a file could not be moved to its place, before any is moved."""
    paths = [path for path in sorted(new.rglob("*")) if path.is_file()]
    names = [path.relative_to(new).as_posix() for path in paths]
    check_inside(target, names, target)
    for name in names:
        place = target / name
        folder = place.parent
        if place.is_dir():
            raise InputError("expected no folder of this name", where=place, hint="rename it")
        if os.path.lexists(folder) and not folder.is_dir():
            raise InputError("expected no file of this name", where=folder, hint="rename it")
        if folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK):
            raise InputError("expected a folder that can be written, got another", where=folder)
        foreign = os.path.lexists(place) and name not in old and name != MANIFEST
        if foreign and not overwrite:
            problem = "the run has a file of this name, and the one in the folder is of no run"
            raise InputError(problem, where=place, hint="move it, or replace it with --force")


def settle(folder: Path) -> None:
    """Complete a replacement that was cut short, and say so; do nothing where there is none.

    Raises
    ------
    InputError
        If the folder cannot be written.
    """
    if not os.path.lexists(folder / JOURNAL):
        return
    try:
        with locked(folder):
            completed = os.path.lexists(folder / JOURNAL) and _complete(folder)
    except OSError as error:
        problem = f"a run in it was replaced in part, and the rest failed ({_reason(error)})"
        hint = "make the folder writable and try again"
        raise InputError(problem, where=folder, hint=hint) from error
    if completed:
        warn_user(f"{folder}: replacing the run was cut short earlier, and is now complete.")


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _complete(folder: Path) -> bool:
    """Move what is left in `JOURNAL`; return whether there was anything to move."""
    journal = folder / JOURNAL
    if journal.is_symlink() or not journal.is_dir():
        problem = "expected the folder of a run that is being replaced, got something else"
        raise InputError(problem, where=journal, hint="delete it")
    if not os.path.lexists(journal / MANIFEST):  # it comes last: all is in place
        shutil.rmtree(journal, ignore_errors=True)
        return False

    try:
        names = [*read_manifest(journal)["files"], MANIFEST]
    except InputError as error:
        raise error.retold(hint=f"delete the folder {journal}") from None
    check_inside(folder, names, journal / MANIFEST)
    old = read_manifest(folder)["files"] if os.path.lexists(folder / MANIFEST) else {}
    for name in old:
        if name not in names:
            _remove(folder, name)
    for name in names:
        if os.path.lexists(journal / name):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(journal / name, folder / name)
    shutil.rmtree(journal, ignore_errors=True)
    return True


def _remove(folder: Path, name: str) -> None:
    """Remove a file of the old run, and the folder that it was the last in."""
    place = folder / name
    if place.is_file():
        place.unlink()
    if place.parent != folder:
        with contextlib.suppress(OSError):  # other files are in it, or it is gone
            place.parent.rmdir()


def read_steadily[T](folder: Path, read: Callable[[], T]) -> T:
    """Read a run; read it again if another process replaced it meanwhile."""
    for _ in range(_TRIES):
        settle(folder)
        before = _snapshot(folder)
        try:
            answer = read()
        except InputError:
            if _snapshot(folder) == before:
                raise
        else:
            if _snapshot(folder) == before:
                return answer
    problem = "expected a run that stays as it is, got one that is replaced again and again"
    raise InputError(problem, where=folder, hint="try again")


def _snapshot(folder: Path) -> tuple[bool, bytes]:
    """Return what differs while, and after, a run is replaced."""
    content = b""
    with contextlib.suppress(OSError):
        content = (folder / MANIFEST).read_bytes()
    return os.path.lexists(folder / JOURNAL), content
