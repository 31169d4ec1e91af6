"""Every file of a run held against the hash that was written with it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import lies_at, sum_beside
from bayesbias.core.opening import absent, read_bytes, state_of
from bayesbias.core.seals import State, seal_of_file, seal_of_json, state_of_file, state_of_summed
from bayesbias.core.wording import number_of
from bayesbias.runs.kinds import LAYOUTS, files_of_run
from bayesbias.runs.manifest import MANIFEST, Manifest, read_manifest
from bayesbias.runs.opening import undisturbed
from bayesbias.runs.transaction import settle
from bayesbias.sweeps.store import states_of_sweep

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FileState", "Verification", "verify_run"]

_VALID = (
    "a folder that save_run, run_sweep or a command with --out wrote, a .nc file of a fit, or saved vectors"
)
_WORST = (State.DAMAGED, State.MISSING, State.UNVERIFIED, State.INTACT)


@dataclass(frozen=True)
class FileState:
    """What became of one file: its name in the folder, and its state.

    Examples
    --------
    >>> import tempfile
    >>> import bayesbias as bb
    >>> found = bb.seat("weat7", "minilm-static", seed=1, cache=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = bb.save_run(found, f"{folder}/run")
    ...     states = bb.runs.verify_run(f"{folder}/run").files
    >>> {file.name: file.state.value for file in states}["run.json"]
    'intact'
    """

    name: str
    state: State


@dataclass(frozen=True, repr=False)
class Verification:
    """What became of the files of a run since it was written.

    Attributes
    ----------
    path : Path
    kind : str, optional
        As in `Run`; None of vectors, and where the damage hides it.
    files : tuple of FileState
        In the order of their names, the damaged first. Files that no run wrote are not among them.

    Examples
    --------
    >>> import tempfile
    >>> import bayesbias as bb
    >>> found = bb.seat("weat7", "minilm-static", seed=1, cache=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = bb.save_run(found, f"{folder}/run")
    ...     state = bb.runs.verify_run(f"{folder}/run")
    >>> state.ok, state.kind, len(state.files) == len(written)
    (True, 'sentences', True)
    """

    path: Path
    kind: str | None
    files: tuple[FileState, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is damaged or missing; what was written without a hash may be either."""
        return not self.count(State.DAMAGED) and not self.count(State.MISSING)

    def count(self, state: State) -> int:
        """Return how many files are in a state."""
        return sum(file.state is state for file in self.files)

    def frame(self) -> pd.DataFrame:
        """Return one row a file: ``name, state``."""
        import pandas as pd

        rows = [(file.name, file.state.value) for file in self.files]
        return pd.DataFrame(rows, columns=["name", "state"])

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it: ``path, kind, ok``, a count of each state, and ``files``, name -> state."""
        return {
            "path": str(self.path),
            "kind": self.kind,
            "ok": self.ok,
            **{state.value: self.count(state) for state in _WORST},
            "files": {file.name: file.state.value for file in self.files},
        }

    def lines(self) -> list[str]:
        """Say it in words: first the whole, then each file that is not intact."""
        counts = [f"{self.count(state)} {state.value}" for state in reversed(_WORST) if self.count(state)]
        what = "" if self.kind is None else f"run of {self.kind}, "
        out = [f"{self.path}: {what}{number_of(len(self.files), 'file')}: {', '.join(counts)}"]
        out += [f"  {file.state.value}: {file.name}" for file in self.files if file.state is not State.INTACT]
        if self.count(State.UNVERIFIED):
            out.append("  unverified files were written without a hash: nobody can tell whether they changed")
        return out

    def __repr__(self) -> str:
        return "\n".join(self.lines())


def verify_run(path: str | os.PathLike[str]) -> Verification:
    """Hold every file of a run against the SHA-256 that was written with it.

    Parameters
    ----------
    path : path
        The folder of a run of any kind, or of a sweep that may not have ended; a ``.nc`` file of a fit; or a file with its
        ``.sha256`` beside it, as saved vectors have.

    Returns
    -------
    Verification

    Raises
    ------
    InputError
        Where there is no run, or a file cannot be read. Damage is no error here: it is the answer.

    See Also
    --------
    load_run : refuses damaged files of which it needs the content.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import bayesbias as bb
    >>> analysis = bb.sentiment_analysis(bb.list_predictions("m1"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = bb.save_run(analysis, f"{folder}/run")
    ...     whole = bb.runs.verify_run(f"{folder}/run").ok
    ...     _ = Path(folder, "run", "tests.csv").write_text("changed")
    ...     later = bb.runs.verify_run(f"{folder}/run")
    >>> whole, later.ok, later.files[0].name
    (True, False, 'tests.csv')
    """
    path = Path(checks.path(path, "path", _VALID))
    if os.path.isdir(path):
        settle(path)
        kind, states = undisturbed(
            path,
            lambda: _of_folder(path),
            lambda folder_state: set(folder_state[1].values()) <= {State.INTACT},
        )
    elif os.path.isfile(path) and path.suffix == ".nc":
        kind, states = "words", {path.name: _of_sealed(path)}
    elif os.path.isfile(path) and os.path.isfile(sum_beside(path)):
        kind, states = None, {path.name: state_of_summed(path)}
    elif not lies_at(path):
        raise absent(path, "file or folder", _VALID)
    else:
        state_of(path, valid=_VALID)  # which says what is the matter, if the system does not let us look
        raise InputError("is no run", where=path, valid=_VALID)
    files = sorted(
        (FileState(name, state) for name, state in states.items()),
        key=lambda file: (_WORST.index(file.state), file.name),
    )
    return Verification(path, kind, tuple(files))


def _of_folder(folder: Path) -> tuple[str | None, dict[str, State]]:
    states: dict[str, State] = {}
    manifest: Manifest | None = None
    kind: str | None = None
    has_manifest = os.path.lexists(folder / MANIFEST)
    if has_manifest:
        try:
            manifest = read_manifest(folder, LAYOUTS)
        except InputError:  # its state says so
            states[MANIFEST] = State.DAMAGED
    if manifest is not None:
        kind = manifest.kind
        states[MANIFEST] = State.INTACT if manifest.sealed else State.UNVERIFIED
        states |= {name: state_of_file(folder / name, listed) for name, listed in manifest.files.items()}
    states = {**states_of_sweep(folder), **states}
    if manifest is None:
        known = [name for name in _first_names(folder, has_manifest) if name not in states]
        states |= {name: _of_sealed(folder / name) for name in known}
    if not states:
        raise InputError("holds no run", where=folder, valid=_VALID)
    return kind or ("sweep" if (folder / "sweep.json").is_file() else None), states


def _first_names(folder: Path, damaged: bool) -> set[str]:
    """Return the names of the files of a run that has no list of them."""
    if not damaged:
        return files_of_run(folder)
    names = {path.name for path in folder.iterdir() if path.is_file()}
    return {name for name in names if name.endswith(".nc")}


def _of_sealed(path: Path) -> State:
    """Return the state of a file that may be sealed in itself."""
    return seal_of_json(read_bytes(path)) if path.suffix == ".json" else seal_of_file(path)
