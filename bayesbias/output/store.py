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
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesbias import __version__
from bayesbias.core import InputError, checks, some
from bayesbias.core.files import read_json, sha256_file
from bayesbias.core.sections import Section
from bayesbias.inference.view import View
from bayesbias.output import registry

MANIFEST = "run.json"
PAYLOAD = "result.json"
SCHEMA = 2


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
    """

    result: Any
    view: View
    kind: str
    command: list[str] | None = None
    path: Path | None = None

    def __repr__(self) -> str:
        return f"Run in {self.path}, with .result:\n{self.result!r}"


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

    All files are written to a new folder beside the target first, so that a failure leaves the
    target as it was.

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
        Whether a run of another kind or of other inputs in the folder may be replaced.
    more : sequence of Section
        Further tables, after those of the study.

    Returns
    -------
    list of Path
        The files, ``run.json`` last.

    Raises
    ------
    InputError
        If the folder holds a run of another kind or of other inputs, or cannot be written.

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
    import matplotlib.pyplot as plt

    from bayesbias.output.text import to_text
    from bayesbias.plots import save_figure

    study, shown, view = registry.shown(result, view)
    target = Path(folder).expanduser()
    check_folder(target, result.study, inputs, force=force)
    target.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        (new / "result").mkdir()
        content = _encoded(result, new / "result", "result")
        (new / PAYLOAD).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        text = to_text(result, view, detail=True, more=more)
        (new / "result.txt").write_text(text + "\n", encoding="utf-8")
        for section in [*study.sections(shown, view), *more]:
            if section.shown_on("files", "folder") and section.frame is not None:
                section.frame.to_csv(new / f"{section.name}.csv", index=False)
            if section.figure is not None:
                figure = section.draw()
                for ending in figures:
                    save_figure(figure, new / "figures" / f"{section.name}.{ending}")
                plt.close(figure)
        files = {
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
            "files": files,
        }
        (new / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
        _put_in_place(new, target, [*files, MANIFEST])
    except OSError as error:
        raise InputError(
            f"the run cannot be written: {error.strerror or error}", where=str(target)
        ) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return [target / name for name in [*files, MANIFEST]]


def check_folder(
    target: Path, kind: str, inputs: Mapping[str, Any] | None = None, *, force: bool = False
) -> None:
    """Refuse a folder with other files, or with a run of another kind or of other inputs.

    Before minutes are spent on a result.

    Raises
    ------
    InputError
        If `target` is a file, or holds another run or no run but files, and `force` is false.
    """
    if target.is_file():
        raise InputError("expected a folder, got a file", where=str(target))
    if force or not target.is_dir():
        return
    if not (target / MANIFEST).is_file():
        names = sorted(path.name for path in target.iterdir())
        foreign = [name for name in names if not name.startswith((".", "unfinished-"))]
        if foreign and kind != "sweep":  # whose cells are there before the run is
            problem = f"expected a new folder or one of a run, got one with {some(foreign, 3)}"
            hint = "name another folder, or write into this one with --force"
            raise InputError(problem, where=str(target), hint=hint)
        return
    found, problem = _manifest(target), ""
    if found["kind"] == kind == "responses" and "result/result.fit.nc" not in found["files"]:
        return  # nothing was fitted
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


def _put_in_place(new: Path, target: Path, names: Sequence[str]) -> None:
    """Move a finished run to its place, and remove what an earlier run left there."""
    new.chmod(0o755)
    if not target.exists():
        os.rename(new, target)
        return
    if (target / MANIFEST).is_file():
        for name in set(_manifest(target)["files"]) - set(names):
            (target / name).unlink(missing_ok=True)
    for name in names:  # run.json comes last, so that a run is listed only once all of it is there
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        os.replace(new / name, target / name)


def load_run(folder: checks.FilePath) -> Run:
    """Read a result from a folder that `save_run` or ``--out`` wrote.

    Parameters
    ----------
    folder : path
        A folder with ``run.json``.

    Returns
    -------
    Run
        With ``result``, ``view``, ``kind``, ``command`` and ``path``.

    Raises
    ------
    InputError
        If there is no run in the folder, or a file of the result has changed since it was written.

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
    path = Path(folder).expanduser()
    manifest = _manifest(path)
    for name, digest in manifest["files"].items():
        if name == PAYLOAD or name.startswith("result/"):
            state = _state(path / name, digest)
            if state != "ok":
                raise InputError(
                    f"the file is {state}",
                    where=str(path / name),
                    hint="copy the run again, or make it anew",
                )
    content = read_json(path / PAYLOAD)
    return Run(
        _decoded(content, path / "result", _types(manifest["kind"])),
        View(**manifest["view"]),
        manifest["kind"],
        manifest["command"],
        path,
    )


def verify_run(folder: checks.FilePath) -> dict[str, str]:
    """Compare every file of a run with its hash.

    Parameters
    ----------
    folder : path
        A folder with ``run.json``.

    Returns
    -------
    dict of str to {"ok", "changed", "missing"}
        The state of each file, by name.

    Raises
    ------
    InputError
        If there is no run in the folder.
    """
    path = Path(folder).expanduser()
    return {name: _state(path / name, digest) for name, digest in _manifest(path)["files"].items()}


def _state(path: Path, digest: str) -> str:
    if not path.is_file():
        return "missing"
    return "ok" if sha256_file(path) == digest else "changed"


def _manifest(folder: Path) -> Mapping[str, Any]:
    path = folder / MANIFEST
    if not path.is_file():
        raise InputError(
            "expected a folder with run.json",
            where=str(folder),
            hint="give the folder that was named with --out",
        )
    content = read_json(path)
    needed = ("kind", "view", "command", "files", "schema")
    checks.known_keys(content, (*needed, "versions", "inputs"), path, needed=needed)
    checks.schema(content, SCHEMA, path)
    return content


# -- the result itself: dataclasses, mappings and sequences as JSON, frames and fits as files beside


def _encoded(value: Any, parts: Path, name: str) -> Any:
    from bayesbias.inference.posterior import BiasFit

    if isinstance(value, BiasFit):
        value.save(parts / f"{name}.nc")
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


def _types(kind: str) -> dict[str, type]:
    """Return the dataclasses of one kind of result by the names that result.json has."""
    return {_type_name(known): known for known in registry.study_named(kind).TYPES}


def _type_name(known: type) -> str:
    return f"{known.__module__}:{known.__name__}"


def _decoded(value: Any, parts: Path, types: Mapping[str, type]) -> Any:
    from bayesbias.inference.fitting import load_fit

    if isinstance(value, list):
        return [_decoded(part, parts, types) for part in value]
    if not isinstance(value, dict):
        return value
    if "_fit" in value:
        return load_fit(parts / value["_fit"])
    if "_path" in value:
        return Path(value["_path"])
    if "_frame" in value:
        return pd.read_parquet(parts / value["_frame"])
    if "_tuple" in value:
        return tuple(_decoded(part, parts, types) for part in value["_tuple"])
    if "_mapping" in value:
        return {
            _decoded(key, parts, types): _decoded(part, parts, types)
            for key, part in value["_mapping"]
        }
    made = types.get(value["_type"])
    if made is None:
        raise InputError(
            "expected a result of a type that this version has",
            where=str(parts.parent),
            found=value["_type"],
        )
    return made(**{key: _decoded(part, parts, types) for key, part in value["fields"].items()})
