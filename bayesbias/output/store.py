"""Results as folders.

The result itself, its tables and figures, and ``run.json`` with the hash of every file.

The result is written to ``result.json``; frames and fits inside it lie beside it, as Parquet and
netCDF files in the folder ``result``. All else can be made again from these, and is there to be
read by people and by other programs.
"""

import dataclasses
import json
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesbias import __version__
from bayesbias.core import InputError, checks, files, some
from bayesbias.core.files import guarded, path_of, read_json, sha256_file, write_csv
from bayesbias.core.progress import ticking
from bayesbias.core.sections import Interpretation, Section
from bayesbias.inference.view import View
from bayesbias.output import registry
from bayesbias.output.manifest import MANIFEST, PAYLOAD, SCHEMA, read_manifest
from bayesbias.output.replacing import put_in_place, read_steadily, settle, staging
from bayesbias.output.tables import Tables
from bayesbias.sweeps.cells import verify_sweep


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """A result read from its folder.

    Attributes
    ----------
    result : BiasFit, Comparison, SeatResult, SentimentAnalysis, WefatResult or SweepResult
        The result to show.
    view : View
        Probability of the intervals and regions of practical equivalence of its tables.
    kind : str
        ``association``, ``corpora``, ``debiasing``, ``sentences``, ``sentiment``, ``wefat`` or
        ``sweep``.
    command : list of str or None
        Arguments of ``bayesbias`` that made it; None for a result saved from Python.
    path : Path or None
        The folder; None for a result that is in none.

    Examples
    --------
    >>> import tempfile
    >>> import bayesbias as bb
    >>> analysis = bb.sentiment_analysis(bb.list_predictions("m1"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = analysis.save(folder)
    ...     run = bb.load_run(folder)
    ...     table = run.tables["professions"]
    >>> table["profession"].iloc[0]
    'secretary'
    """

    result: Any
    view: View
    kind: str
    command: list[str] | None = None
    path: Path | None = None

    @cached_property
    def tables(self) -> Tables:
        """The tables by name, those of the CSV files of the folder; made when asked for."""
        study, result, view = registry.shown(self.result, self.view)
        makers: dict[str, Callable[[], pd.DataFrame]] = {}
        for section in study.sections(result, view):
            if section.shown_on("files", "folder") and section.make is not None:
                makers[section.name] = partial(_frame_of, section)
        if self.path is None:
            return Tables(makers)

        names = [name for name in read_manifest(self.path)["files"] if "/" not in name]
        written = {name.removesuffix(".csv") for name in names if name.endswith(".csv")}
        kept = {name: make for name, make in makers.items() if name in written}
        for name in sorted(written - kept.keys()):  # that was added to those of the study
            kept[name] = partial(pd.read_csv, self.path / f"{name}.csv")
        return Tables(kept)

    def plot(self, figure: str | None = None) -> Any:
        """Draw a figure of the result with the intervals of the run, and return its axes.

        Parameters
        ----------
        figure : str, optional
            Its name, as in the folder ``figures``. By default the first one.

        Raises
        ------
        InputError
            If there is no figure of that name.
        """
        return self.result.plot(figure, **self.view.chosen())

    def interpret(self) -> Interpretation:
        """Say in sentences what the result shows; see `bayesbias.interpret`."""
        return registry.interpretation(self.result, self.view)

    def report(self, path: checks.FilePath) -> Path:
        """Write one self-contained HTML page about the run; see `bayesbias.write_report`."""
        from bayesbias.output.page import write_report

        return write_report(self, path)

    def __repr__(self) -> str:
        return f"Run in {self.path}, with .result:\n{self.result!r}"


def _frame_of(section: Section) -> pd.DataFrame:
    """Return the frame of a section, empty where it has none."""
    return pd.DataFrame() if section.frame is None else section.frame


def as_run(given: Any) -> Run:
    """Return a run: what `load_run` returned, the folder of one, or a result that is in none."""
    if isinstance(given, Run):
        return given
    if isinstance(given, str | os.PathLike):
        return load_run(given)
    registry.study_of(given)  # refuses what is no result
    return Run(given, View(), given.study)


def save_run(
    result: Any,
    folder: checks.FilePath,
    *,
    view: View | None = None,
    command: Sequence[str] | None = None,
    inputs: Mapping[str, Any] | None = None,
    figures: Sequence[str] = ("png",),
    force: bool = False,
    more: Sequence[Section] = (),
) -> list[Path]:
    """Write a result to a folder of tables and figures that `load_run` reads.

    All files are written to a hidden folder first, so that a failure leaves the target as it was.
    If the process is killed while it replaces a run, the folder has the old run or the new one:
    the next read or write of the folder completes the replacement, and warns that it did.

    Parameters
    ----------
    result : BiasFit, Comparison, SeatResult, SentimentAnalysis, WefatResult or SweepResult
        What a study returned.
    folder : path
        Made if missing. A run of the same kind and inputs in it is replaced; other files stay.
    view : View, optional
        Probability of the intervals and the regions of practical equivalence.
    command : sequence of str, optional
        Arguments of ``bayesbias`` that made the result, for ``run.json``.
    inputs : mapping, optional
        What the result was made of, for ``run.json``. By default it is not compared.
    figures : sequence of {"png", "svg", "pdf"}
        Formats of the figures.
    force : bool
        Whether a run of another kind or of other inputs in the folder may be replaced, and other
        files that have the name of a new one.
    more : sequence of Section
        Further tables, after those of the study.

    Returns
    -------
    list of Path
        The files, ``run.json`` last.

    Raises
    ------
    InputError
        If the folder holds a run of another kind or of other inputs, or other files with the names
        of new ones; if its ``run.json`` names files outside the folder; or if the folder cannot be
        written.

    Examples
    --------
    >>> import tempfile
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> fit = bb.fit(table, seed=1, draws=200, chains=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = bb.save_run(fit, folder)
    ...     again = bb.load_run(folder)
    >>> again.kind, files[-1].name
    ('association', 'run.json')
    """
    study = registry.study_of(result)
    target = path_of(folder, "folder", "the path of a folder")
    check_folder(target, result.study, inputs, force=force)

    def check_again() -> bool:
        _check_content(target, result.study, inputs, force)
        return force or study.FILES_BEFORE  # whose table is there already

    hidden = None
    try:
        with staging(target) as hidden:
            names = _write(result, hidden, view, command, inputs, figures, more)
            put_in_place(hidden, target, check_again)
    except (OSError, InputError) as error:
        problem = _of_target(error, hidden, target)
        if problem is error:
            raise
        raise problem from error
    return [target / name for name in names]


def _of_target(error: Exception, hidden: Path | None, target: Path) -> Exception:
    """Return an error that names the folder of the user in place of the hidden one."""
    if isinstance(error, InputError):
        place, problem = error.parts["where"], error.parts["problem"]
        if hidden is None or str(hidden) not in place:
            return error
        place = place.replace(str(hidden), str(target))
    else:
        place = str(target)
        reason = getattr(error, "strerror", None) or str(error)
        problem = f"expected a folder that can be written, got an error ({reason})"
    return InputError(problem, where=place)


def _write(
    result: Any,
    new: Path,
    view: View | None,
    command: Sequence[str] | None,
    inputs: Mapping[str, Any] | None,
    figures: Sequence[str],
    more: Sequence[Section],
) -> list[str]:
    """Write all files of a run into an empty folder; return their names, ``run.json`` last."""
    import matplotlib.pyplot as plt

    from bayesbias.output.text import to_text
    from bayesbias.plots import save_figure
    from bayesbias.plots.glyphs import missing_glyphs_once

    study, shown, view = registry.shown(result, view)
    (new / "result").mkdir()
    content = _encoded(result, new / "result", "result")
    (new / PAYLOAD).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    text = to_text(result, view, detail=True, more=more)
    (new / "result.txt").write_text(text + "\n", encoding="utf-8")

    sections = [*study.sections(shown, view), *more]
    writing = ticking("writing tables and figures", len(sections), long_steps=True)
    with writing as tick, missing_glyphs_once():
        for section in sections:
            if section.shown_on("files", "folder") and section.frame is not None:
                write_csv(section.frame, new / f"{section.name}.csv")
            if section.figure is not None:
                figure = section.draw()
                for ending in figures:
                    save_figure(figure, new / "figures" / f"{section.name}.{ending}")
                plt.close(figure)
            tick(1)

    hashes = {
        path.relative_to(new).as_posix(): sha256_file(path)
        for path in sorted(new.rglob("*"))
        if path.is_file()
    }
    manifest = {
        "schema": SCHEMA,
        "kind": result.study,
        "versions": {"bayesbias": __version__, "python": platform.python_version()},
        "view": _stored(view, result),
        "command": command and list(command),
        "inputs": inputs and dict(inputs),
        "files": hashes,
    }
    (new / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return [*hashes, MANIFEST]


def check_folder(
    target: Path, kind: str, inputs: Mapping[str, Any] | None = None, *, force: bool = False
) -> None:
    """Refuse a folder that a run cannot be written to, before minutes are spent on a result.

    Raises
    ------
    InputError
        If `target` cannot be written, or its ``run.json`` cannot be trusted; or if it holds another
        run, or no run but files, and `force` is false.
    """
    files.check_folder(target)
    settle(target)
    if target.is_dir():
        _check_content(target, kind, inputs, force)


def _check_content(target: Path, kind: str, inputs: Mapping[str, Any] | None, force: bool) -> None:
    study = registry.study_named(kind)
    if not os.path.lexists(target / MANIFEST):
        names = sorted(path.name for path in target.iterdir())
        foreign = [name for name in names if not name.startswith((".", "unfinished-"))]
        if foreign and not (force or study.FILES_BEFORE):
            problem = f"expected a new folder or one of a run, got one with {some(foreign, 3)}"
            hint = "name another folder, or write into this one with --force"
            raise InputError(problem, where=str(target), hint=hint)
        return

    # Only the files that it lists are removed, so that it must be sound, with --force too.
    try:
        found = read_manifest(target)
    except InputError as error:
        hint = "name another folder, or delete run.json and use --force"
        raise error.retold(hint=hint) from None
    unfitted = study.FIT_FILE and study.FIT_FILE not in found["files"]
    if force or (found["kind"] == kind and unfitted):
        return

    problem = ""
    if found["kind"] != kind:
        problem = (
            f"expected a folder for a run of the kind {kind}, got one of the kind {found['kind']}"
        )
    elif inputs is not None and found["inputs"] is not None:
        names = sorted(inputs.keys() | found["inputs"].keys())
        if other := [name for name in names if inputs.get(name) != found["inputs"].get(name)]:
            problem = f"the folder holds a run of other inputs ({', '.join(other)})"
    if problem:
        hint = "name another folder, or replace the run with --force"
        raise InputError(problem, where=str(target), hint=hint)


def _stored(view: View, result: Any) -> dict[str, float]:
    """Return what a result is shown with, for ``run.json``; no ROPE where it has none."""
    ropes = {"rope": view.rope, "standard_rope": view.standard_rope}
    return {"prob": view.prob, **(ropes if result.has_rope else {})}


def load_run(folder: checks.FilePath) -> Run:
    """Read a result from a folder that `save_run` or ``--out`` wrote.

    Parameters
    ----------
    folder : path
        A folder with ``run.json``.

    Returns
    -------
    Run
        With ``result``, ``view``, ``kind``, ``command`` and ``path``; its ``tables``, and
        ``plot()``, ``interpret()`` and ``report()``.

    Raises
    ------
    InputError
        If there is no run in the folder, its ``run.json`` names files outside the folder, or a file
        of the result has changed since it was written.

    Examples
    --------
    >>> import tempfile
    >>> import bayesbias as bb
    >>> analysis = bb.sentiment_analysis(bb.list_predictions("m1"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = bb.save_run(analysis, folder)
    ...     run = bb.load_run(folder)
    >>> run.kind
    'sentiment'
    """
    path = path_of(folder, "folder", "the path of a folder")
    return read_steadily(path, lambda: _load(path))


def _load(path: Path) -> Run:
    manifest = read_manifest(path)
    for name, digest in manifest["files"].items():
        if name == PAYLOAD or name.startswith("result/"):
            state = _state(path / name, digest)
            if state != "ok":
                raise InputError(
                    f"the file is {state}",
                    where=str(path / name),
                    hint="copy the run again, or make it anew",
                )
    parts = {
        name.removeprefix("result/"): path / name
        for name in manifest["files"]
        if name.startswith("result/")
    }
    where, study = path / PAYLOAD, registry.study_named(manifest["kind"])
    content = read_json(where)
    with guarded(where, "the result of a run"):
        types = {_type_name(known): known for known in study.TYPES}
        result = _Decoder(parts, types, where).decoded(content)
    if getattr(result, "study", None) != manifest["kind"]:
        raise InputError(
            f"expected a result of the kind {manifest['kind']}, got another", where=where
        )
    return Run(result, View(**manifest["view"]), manifest["kind"], manifest["command"], path)


def verify_run(folder: checks.FilePath) -> dict[str, str]:
    """Compare every file of a run with its hash; of a sweep also its cells, finished or not.

    Parameters
    ----------
    folder : path
        A folder with ``run.json``, or that of a sweep.

    Returns
    -------
    dict of str to {"ok", "changed", "missing"}
        The state of each file, by name.

    Raises
    ------
    InputError
        If there is no run in the folder, or its ``run.json`` names files outside the folder.
    """
    path = path_of(folder, "folder", "the path of a folder")
    return read_steadily(path, lambda: _verify(path))


def _verify(path: Path) -> dict[str, str]:
    cells = verify_sweep(path)
    if cells and not (path / MANIFEST).is_file():
        return cells
    listed = read_manifest(path)["files"]
    return {**{name: _state(path / name, digest) for name, digest in listed.items()}, **cells}


def _state(path: Path, digest: str) -> str:
    if not os.path.isfile(path):
        return "missing"
    return "ok" if sha256_file(path) == digest else "changed"


# -- the result itself: dataclasses, mappings and sequences as JSON, frames and fits as files beside


def _encoded(value: Any, parts: Path, name: str) -> Any:
    from bayesbias.inference.posterior import BiasFit
    from bayesbias.inference.storage import write_fit

    if isinstance(value, BiasFit):
        write_fit(parts / f"{name}.nc", value)
        return {"_fit": f"{name}.nc"}
    if isinstance(value, pd.DataFrame):
        value.to_parquet(parts / f"{name}.parquet")
        return {"_frame": f"{name}.parquet"}
    if isinstance(value, np.generic):
        return value.item()
    if dataclasses.is_dataclass(value):
        fields = {
            field.name: _encoded(getattr(value, field.name), parts, f"{name}.{field.name}")
            for field in dataclasses.fields(value)
            if field.init
        }
        return {"_type": _type_name(type(value)), "fields": fields}
    if isinstance(value, Mapping):
        rows = [
            [_encoded(key, parts, name), _encoded(part, parts, f"{name}.{i}")]
            for i, (key, part) in enumerate(value.items())
        ]
        return {"_mapping": rows}
    if isinstance(value, tuple | list):
        items = [_encoded(part, parts, f"{name}.{i}") for i, part in enumerate(value)]
        return {"_tuple": items} if isinstance(value, tuple) else items
    if isinstance(value, Path):
        return {"_path": str(value)}
    return value


def _type_name(known: type) -> str:
    return f"{known.__module__}:{known.__name__}"


@dataclass(frozen=True)
class _Decoder:
    """Reads what `_encoded` wrote.

    Attributes
    ----------
    parts : mapping of str to Path
        The files beside ``result.json``, by name; they are listed in ``run.json`` and checked.
    types : mapping of str to type
        The dataclasses that a result of this kind consists of.
    where : Path
        The file, for messages.
    """

    parts: Mapping[str, Path]
    types: Mapping[str, type]
    where: Path

    def decoded(self, value: Any) -> Any:
        """Return a value from JSON."""
        from bayesbias.inference.fitting import load_fit

        if isinstance(value, list):
            return [self.decoded(part) for part in value]
        if not isinstance(value, dict):
            return value
        if "_fit" in value:
            return load_fit(self._part(value["_fit"], "_fit"))
        if "_path" in value:
            return Path(value["_path"])
        if "_frame" in value:
            return pd.read_parquet(self._part(value["_frame"], "_frame"))
        if "_tuple" in value:
            return tuple(self.decoded(part) for part in value["_tuple"])
        if "_mapping" in value:
            return {self.decoded(key): self.decoded(part) for key, part in value["_mapping"]}

        made = self.types.get(value["_type"])
        if made is None:
            expected = "expected a result of a type that this version has"
            raise InputError(expected, where=f"{self.where}, _type", found=value["_type"])
        return made(**{key: self.decoded(part) for key, part in value["fields"].items()})

    def _part(self, name: Any, key: str) -> Path:
        if not isinstance(name, str) or name not in self.parts:
            problem = "expected a file in the folder result that run.json lists"
            raise InputError(problem, where=f"{self.where}, {key}", found=name)
        return self.parts[name]
