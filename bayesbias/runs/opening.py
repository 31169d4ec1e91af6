"""A run read back from its folder or file, with the settings that its tables were written with."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError, warn_user
from bayesbias.core.files import lies_at
from bayesbias.core.opening import absent, read_bytes, state_of
from bayesbias.core.seals import State, damaged, seal_of_file, state_of_file
from bayesbias.core.texts import read_text
from bayesbias.core.wording import some
from bayesbias.inference.fitting import load_fit
from bayesbias.inference.posterior import BiasFit
from bayesbias.runs.kinds import LAYOUTS
from bayesbias.runs.manifest import MANIFEST, matching, read_manifest
from bayesbias.runs.transaction import settle
from bayesbias.studies.comparison import Comparison
from bayesbias.studies.kinds import kind_of
from bayesbias.studies.seat_result import SeatResult
from bayesbias.studies.sentiment import SentimentAnalysis
from bayesbias.studies.wefat import WefatResult
from bayesbias.sweeps.result import SweepResult

__all__ = ["Run", "load_run"]

_TRIES = 5
_VALID_RUNS = "a folder that save_run or a command with --out wrote, or a .nc file of a fit"
# Files that tell what a folder without a manifest holds, as this version wrote at first; a later kind has none here.
_FIRST_LAYOUT = {
    "comparison.json": "change",
    "fit.nc": "words",
    "results.tsv": "sentences",
    "result.json": "sentiment",
    "wefat.json": "wefat",
    "sweep.json": "sweep",
}


@dataclass(frozen=True, eq=False)
class Run:
    """A result with what is known of the run that made it.

    Attributes
    ----------
    kind : str
        ``words`` (a fit of distances), ``sentences`` (SEAT), ``sentiment``, ``change`` (a comparison), ``wefat``
        or ``sweep``.
    result : BiasFit, Comparison, SeatResult, SentimentAnalysis, WefatResult or SweepResult
        Of sentiment the fit, where there is one; `analysis_of` has its analysis.
    settings : Mapping of str to float
        ``prob`` and ``rope`` of the tables, as far as they are known.
    command : tuple of str, optional
        The arguments of ``bayesbias`` that made it; None where it was written from Python, or it is not known.
    versions : Mapping of str to str
        Program -> version, of those that wrote it.
    files : Mapping of str to Mapping
        Name -> ``bytes`` and ``sha256``, as they were when it was written; empty for a run without a manifest.
    path : Path
        Where it was opened.
    verified : bool
        Whether the files that the result was read from are, bit by bit, those that were written. False of a run without
        hashes, as first versions wrote it.

    Examples
    --------
    >>> import tempfile
    >>> import bayesbias as bb
    >>> found = bb.seat("weat7", "minilm-static", seed=1, cache=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = bb.save_run(found, f"{folder}/run")
    ...     run = bb.load_run(f"{folder}/run")
    >>> run.kind, run.verified, "results.csv" in run.files
    ('sentences', True, True)
    """

    kind: str
    result: BiasFit | Comparison | SeatResult | SentimentAnalysis | WefatResult | SweepResult
    settings: Mapping[str, float]
    command: tuple[str, ...] | None
    versions: Mapping[str, str]
    files: Mapping[str, Mapping[str, Any]]
    path: Path = field(repr=False)
    verified: bool = False

    def __repr__(self) -> str:
        command = "" if self.command is None else f", made by: bayesbias {' '.join(self.command)}"
        doubt = "" if self.verified else ", unverified: written without hashes"
        return f"Run of {self.kind} in {self.path}{command}{doubt}\n{self.result!r}"


def load_run(path: str | os.PathLike[str]) -> Run:
    """Open a run that `save_run` or a command with ``--out`` wrote.

    Parameters
    ----------
    path : path
        The folder; or a ``.nc`` file of a fit alone. Folders without ``run.json``, as this version wrote at first, are
        opened too.

    Returns
    -------
    Run

    Raises
    ------
    InputError
        Where there is no run, or one of the files that the result is read from was changed or damaged.

    Warns
    -----
    UserWarning
        Where another file of the run, such as a table made of the result, was changed or damaged.

    See Also
    --------
    save_run : with an example.
    bayesbias.runs.verify_run : checks every file.

    Examples
    --------
    >>> import tempfile
    >>> import bayesbias as bb
    >>> found = bb.seat("weat7", "minilm-static", seed=1, cache=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = bb.save_run(found, f"{folder}/run")
    ...     run = bb.load_run(f"{folder}/run")
    >>> run.kind, run.result.frame["test"].tolist()
    ('sentences', ['weat7'])
    """
    path = Path(checks.path(path, "path", _VALID_RUNS))
    if path.name in _FIRST_LAYOUT and path.suffix == ".json" and os.path.isfile(path):
        path = path.parent
    if os.path.isdir(path):
        settle(path)
        return _of_folder(path)
    if not lies_at(path):
        raise absent(path, "file or folder", _VALID_RUNS)
    state_of(path, valid=_VALID_RUNS)  # which says what is the matter, if the system does not let us look
    if path.suffix != ".nc":
        raise InputError("is no run", where=path, found=path.suffix, valid=_VALID_RUNS)
    fit = load_fit(path)
    if kind_of(fit) is None:
        raise InputError(
            "is a fit of no pairs of words, nor of sentiment, which is all that a run is made of",
            where=path,
            found=f"a fit by {fit.spec.name}",
            valid="the folder of its run, if it is that of a single-category test",
        )
    sealed = seal_of_file(path) is State.INTACT
    return Run(kind_of(fit) or "words", fit, {}, None, _versions(fit), {}, path, sealed)


def _of_folder(folder: Path) -> Run:
    """Read a folder that nobody replaces meanwhile; where somebody did, read it again."""
    return undisturbed(folder, lambda: _read(folder))


def undisturbed[T](folder: Path, read: Callable[[], T], whole: Callable[[T], bool] = lambda _: True) -> T:
    """Return what `read` gives of a folder, read while its manifest stayed the same.

    What fails, or is not `whole`, while another process puts a run into the folder is no damage.
    """
    doubted: bytes | bool | None = False  # the manifest beside which something was amiss
    for _ in range(_TRIES):
        before = _written(folder)
        try:
            content = read()
            error = None
        except InputError as refused:
            error = refused
        if error is None and whole(content):
            if _written(folder) == before:
                return content
            continue
        settle(folder)  # which waits for a writer that has begun to put files in their places
        # A manifest may be in its place before the files that it lists; so what is amiss is looked at twice.
        if _written(folder) == before == doubted:
            if error is not None:
                raise error
            return content
        doubted = before
    raise InputError("is written anew again and again", where=folder, hint="wait for the others to end")


def _written(folder: Path) -> bytes | None:
    path = folder / MANIFEST
    return read_bytes(path) if path.is_file() else None


def _read(folder: Path) -> Run:
    manifest = read_manifest(folder, LAYOUTS)
    if manifest is None:
        return _of_first_layout(folder)
    for name in manifest.files:
        if not (folder / name).is_file() and not name.startswith("figures/"):
            raise InputError(f"is no complete run: {name} is missing", where=folder)
    layout = LAYOUTS[manifest.kind]
    sources = matching(manifest.files, layout.sources)
    changed = [
        name
        for name, listed in manifest.files.items()
        if state_of_file(folder / name, listed) is State.DAMAGED
    ]
    for name in changed:
        if name in sources:
            raise damaged(folder / name)
    result = layout.read(folder, manifest)
    if changed:
        warn_user(
            f"{folder}: {some(changed, 4)} changed since the run was written; the result is not read from there"
        )
    return Run(
        manifest.kind,
        result,
        manifest.settings,
        manifest.command,
        manifest.versions,
        manifest.files,
        folder,
        manifest.sealed,
    )


def _of_first_layout(folder: Path) -> Run:
    inside = sorted(item.name for item in folder.iterdir())
    kinds = [kind for name, kind in _FIRST_LAYOUT.items() if name in inside]
    if {"sentiment", "wefat"} & set(kinds) and "words" in kinds:
        kinds.remove("words")  # its fit
    if len(kinds) > 1:
        both = " and ".join(
            "a comparison" if kind == "change" else "a fit" if kind == "words" else kind for kind in kinds
        )
        raise InputError(
            f"holds both {both}" if len(kinds) == 2 else f"holds {', '.join(kinds)}",
            where=folder,
            valid="a folder of one run" + (f", or {folder / 'fit.nc'}" if "words" in kinds else ""),
        )
    if not kinds:
        fits = [name for name in inside if name.endswith(".nc")]
        hint = f"give one of its fits, such as {folder / fits[0]}" if fits else None
        raise InputError("holds no run", where=folder, found=inside[:6], valid=_VALID_RUNS, hint=hint)
    result = LAYOUTS[kinds[0]].read(folder, None)
    kinds = [kind_of(result) or kinds[0]]
    settings: dict[str, float] = {}
    if kinds[0] in ("words", "change", "sentiment"):
        settings = _settings_of(folder / "contrasts.csv") or _settings_of(folder / "summary.csv", ("prob",))
    return Run(kinds[0], result, settings, None, _versions(result), {}, folder)


def _versions(result: Any) -> Mapping[str, str]:
    return dict(getattr(result, "provenance", {}).get("versions", {}))


def _settings_of(path: Path, names: Sequence[str] = ("prob", "rope")) -> dict[str, float]:
    """Return the probability and the ROPE of a table of contrasts, so that the report agrees with it."""
    import csv
    import io

    if not path.is_file():
        return {}
    try:
        row = next(csv.DictReader(io.StringIO(read_text(path), newline="")), {})
        return {name: float(row[name]) for name in names}
    except (OSError, ValueError, KeyError, TypeError, csv.Error):
        raise InputError(
            f"is no table of {path.stem} as `bayesbias` writes it",
            where=path,
            valid=f"columns {' and '.join(names)} with a number in the first row",
            hint="remove it, and the report uses the defaults",
        ) from None
