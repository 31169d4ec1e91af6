"""Many fits at once: embeddings by word lists by models, on local processes or a Dask cluster.

A sweep is a plan and a folder. Each cell of the plan is one fit; it is written to the folder as one small
file, whole or not at all, under a name that is a hash of all that determines it: the content of its
inputs, the text of the model, the settings and the version of this package. A sweep that was killed is
resumed by running it again: what is finished is recognised, what is not, or what has changed, is fitted.

Each embedding is read once, for the words of all lists together. The seed of a cell follows from the
plan's seed and the cell's labels, so neither the order of the work nor the number of workers, nor what else
the plan holds, changes any draw.
"""

from __future__ import annotations

import contextlib
import dataclasses
import glob
import hashlib
import json
import math
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import bayesbias
from bayesbias._progress import ticking
from bayesbias._resources import data_dir, read_toml, sha256_file, whole_file
from bayesbias._workers import Cluster, Processes, Task, carry_out, described
from bayesbias.distance import PairTable, distance_table, read_distances
from bayesbias.embedding import GENSIM_DATA, load_embedding, shipped_embeddings
from bayesbias.errors import BayesbiasError, FitError, InputError, nearest
from bayesbias.model import fit
from bayesbias.posterior import PROB, ROPE
from bayesbias.reporting import shortcomings
from bayesbias.spec import ModelSpec, load_model, parse_model, shipped_models
from bayesbias.wordlist import CONTROLS, WordList, load_wordlist, shipped_controls, shipped_wordlists

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SweepPlan", "SweepResult", "load_plan", "run_sweep"]

_SCHEMA = 1
_FORMAT = 1  # of the files of a cell
_LISTS = ("embeddings", "wordlists", "controls", "distances", "models")
_KEYS = ("schema", *_LISTS, "settings")
_HASHED_ALWAYS = (
    4_000_000  # bytes; the hash of a larger file is kept and used again while the file is unchanged
)
_MARKER = "sweep.json"
_HALF_WRITTEN = (
    *(f".{name}.*" for name in (_MARKER, "inputs.json", "results.csv", "results.parquet", "timing.csv")),
    "cells/.*.json.*",
    "fits/.*.nc.*",
)


# -- the plan ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SweepPlan:
    """A checked plan. Made by `load_plan`, not by hand.

    Attributes
    ----------
    name : str
        The file's name without its suffix, or ``"plan"``.
    folder : Path
        Where relative paths start.
    embeddings, wordlists, distances, models : tuple of str
        As in the plan.
    controls : tuple of str
        Control lists that every word list is crossed with; ``"default"`` is each list's own.
    seeds : tuple of int
        Every cell is fitted once for each.
    draws, tune, chains : int
        As in `fit`.
    prob, rope : float
        As in `BiasFit.contrasts`.
    repeats, invalid_utf8 : str
        As in `read_distances` and `load_embedding`.
    allow_pickle, keep_fits : bool
        Whether pickled vectors may be read; whether the whole fit of each cell is saved as netCDF.
    """

    name: str
    folder: Path
    embeddings: tuple[str, ...] = ()
    wordlists: tuple[str, ...] = ()
    controls: tuple[str, ...] = ("default",)
    distances: tuple[str, ...] = ()
    models: tuple[str, ...] = ("crossed",)
    seeds: tuple[int, ...] = (0,)
    draws: int = 1000
    tune: int = 1000
    chains: int = 4
    prob: float = PROB
    rope: float = ROPE
    repeats: str = "once"
    invalid_utf8: str = "error"
    allow_pickle: bool = False
    keep_fits: bool = False

    def __len__(self) -> int:
        sources = len(self.embeddings) * len(self.wordlists) * len(self.controls) + len(self.distances)
        return sources * len(self.models) * len(self.seeds)


def load_plan(plan: str | os.PathLike[str] | Mapping[str, Any] | SweepPlan) -> SweepPlan:
    """Read and check the plan of a sweep.

    A plan is a TOML file::

        schema = 1
        embeddings = ["minilm-static", "vectors/glove.txt"]  # with every word list
        wordlists = ["religion", "gender", "my-list.toml"]
        controls = ["2022", "none"]             # optional; "default" is each list's own
        distances = ["tables/religion.csv"]     # tables that are there already
        models = ["crossed", "hierarchical"]    # optional; "crossed" by default

        [settings]                              # all optional
        draws = 1000                            # kept draws per chain
        tune = 1000
        chains = 4
        seed = 1                                # or a list: every cell once for each
        prob = 0.89
        rope = 0.02
        repeats = "once"                        # or "keep": repeated rows of a table
        invalid_utf8 = "error"                  # or "skip"
        allow_pickle = false
        keep_fits = false                       # true: also save each fit as netCDF

    A name that is shipped is that; anything else is a path, relative to the folder of the plan.

    Parameters
    ----------
    plan : path, mapping or SweepPlan
        A mapping has the same form (``schema`` may be left out); its paths are relative to the working folder.

    Returns
    -------
    SweepPlan

    Raises
    ------
    InputError
        For an unknown key or name, with the nearest match, and for a value out of range. A path that leads to no
        file is no error of the plan: its cells are reported as failed when the sweep runs.

    Examples
    --------
    >>> plan = load_plan({"embeddings": ["minilm-static"], "wordlists": ["religion", "gender"],
    ...                   "models": ["crossed", "hierarchical"], "settings": {"seed": 3}})
    >>> len(plan), plan.controls, plan.seeds
    (4, ('default',), (3,))
    >>> load_plan({"embedings": ["minilm-static"]})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
      ...
    bayesbias.errors.InputError: plan: unknown key; found: 'embedings'; valid: schema, ...; did you mean 'embeddings'?
    """
    if isinstance(plan, SweepPlan):
        return plan
    if isinstance(plan, Mapping):
        raw, where, folder, name = {"schema": _SCHEMA, **plan}, "plan", Path.cwd(), "plan"
    else:
        path = Path(plan)
        if path.is_dir():
            raise InputError("is a folder, not a plan", where=path, valid="a .toml file")
        if not path.is_file():
            beside = [p.name for p in path.parent.glob("*.toml")] if path.parent.is_dir() else []
            raise InputError(
                "no such plan", found=str(path), valid="a .toml file", hint=nearest(path.name, beside)
            )
        raw, where, folder, name = read_toml(path), str(path), path.resolve().parent, path.stem
    _known_keys(raw, _KEYS, where)
    if raw.get("schema") != _SCHEMA or isinstance(raw.get("schema"), bool):
        raise InputError(
            "unknown schema", where=f"{where}, schema", found=raw.get("schema"), valid="schema = 1"
        )
    lists: dict[str, Any] = {key: _strings(raw[key], f"{where}, {key}") for key in _LISTS if key in raw}
    if bool(lists.get("embeddings")) != bool(lists.get("wordlists")):
        lacking = "wordlists" if lists.get("embeddings") else "embeddings"
        raise InputError(
            "embeddings and word lists need each other", where=f"{where}, {lacking}", found="none"
        )
    if not lists.get("embeddings") and not lists.get("distances"):
        raise InputError("nothing to fit", where=where, valid="embeddings and wordlists, or distances")
    if "controls" in lists and not lists.get("wordlists"):
        raise InputError("controls without a word list to add them to", where=f"{where}, controls")
    for key in ("models", "controls"):
        if key in lists and not lists[key]:
            raise InputError(
                "the list is empty", where=f"{where}, {key}", hint="leave the key out for the default"
            )
    shipped = {
        "embeddings": [*shipped_embeddings(), *GENSIM_DATA],
        "wordlists": shipped_wordlists(),
        "controls": ["default", "none", *shipped_controls()],
        "models": shipped_models(),
    }
    for key, names in shipped.items():
        for entry in lists.get(key, ()):
            _known_name(entry, names, folder, f"{where}, {key}")
    settings = raw.get("settings", {})
    if not isinstance(settings, Mapping):
        raise InputError("must be a table", where=f"{where}, settings", found=settings)
    return SweepPlan(name, folder, **lists, **_settings(settings, f"{where}, settings"))


def _known_keys(table: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    for key in table:
        if key not in known:
            raise InputError(
                "unknown key", where=where, found=key, valid=known, hint=nearest(str(key), known)
            )


def _strings(value: Any, where: str) -> tuple[str, ...]:
    entries = (value,) if isinstance(value, str | os.PathLike) else value
    if not isinstance(entries, list | tuple) or not all(
        isinstance(e, str | os.PathLike) and str(e) for e in entries
    ):
        raise InputError("must be a list of names or paths", where=where, found=value)
    out = tuple(os.fspath(entry) for entry in entries)
    for entry in out:
        if out.count(entry) > 1:
            raise InputError("stands twice", where=where, found=entry, valid="each entry once")
    return out


def _known_name(entry: str, names: Sequence[str], folder: Path, where: str) -> None:
    """Refuse what is neither shipped nor looks like a path; a missing file fails its own cells alone."""
    looks_like_path = os.sep in entry or "/" in entry or bool(Path(entry).suffix)
    if entry not in names and not looks_like_path and not (folder / entry).exists():
        raise InputError(
            "unknown name", where=where, found=entry, valid=[*names, "or a path"], hint=nearest(entry, names)
        )


def _settings(raw: Mapping[str, Any], where: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    choices = {"repeats": ("once", "keep"), "invalid_utf8": ("error", "skip")}
    known = ("draws", "tune", "chains", "seed", "prob", "rope", *choices, "allow_pickle", "keep_fits")
    _known_keys(raw, known, where)

    def number(value: Any, kind: Any) -> bool:
        return isinstance(value, kind) and not isinstance(value, bool) and math.isfinite(value)

    for key, value in raw.items():
        at = f"{where}, {key}"
        if key in ("draws", "tune", "chains"):
            if not number(value, int) or value < 1:
                raise InputError("must be a whole number of at least 1", where=at, found=value)
        elif key == "seed":
            seeds = tuple(value) if isinstance(value, list | tuple) else (value,)
            if not seeds or not all(number(seed, int) and 0 <= seed < 2**32 for seed in seeds):
                raise InputError("must be whole numbers from 0 to 4294967295", where=at, found=value)
            if len(set(seeds)) < len(seeds):
                raise InputError("a seed stands twice", where=at, found=value)
            out["seeds"] = seeds
            continue
        elif key == "prob":
            if not number(value, (int, float)) or not 0 < value < 1:
                raise InputError("must lie between 0 and 1", where=at, found=value)
        elif key == "rope":
            if not number(value, (int, float)) or value <= 0:
                raise InputError("must be positive", where=at, found=value)
            value = float(value)
        elif key in choices:
            if value not in choices[key]:
                raise InputError("unknown value", where=at, found=value, valid=choices[key])
        elif not isinstance(value, bool):
            raise InputError("must be true or false", where=at, found=value)
        out[key] = value
    return out


# -- the cells ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Cell:
    """One fit of the plan: its labels, and the hash of all that determines its result."""

    labels: Mapping[str, Any]
    identity: Mapping[str, Any]
    key: str
    fit_seed: int
    error: str | None  # what is already known to be wrong with it


@dataclass(frozen=True)
class _Group:
    """The cells whose tables come from one file: one embedding, or one table of distances."""

    source: str  # "embedding" or "distances"
    location: str
    sha256: str | None
    cells: tuple[_Cell, ...]


@dataclass(frozen=True)
class _Inputs:
    """The word lists and models of a plan, read and checked; text where one cannot be used."""

    wordlists: Mapping[tuple[str, str], WordList | str]
    models: Mapping[str, ModelSpec | str]


def _read_inputs(plan: SweepPlan) -> _Inputs:
    lists: dict[tuple[str, str], WordList | str] = {}
    models: dict[str, ModelSpec | str] = {}
    for wordlist in plan.wordlists:
        for controls in plan.controls:
            chosen = (
                None if controls == "default" else _location(plan, controls, ("none", *shipped_controls()))
            )
            where = _location(plan, wordlist, shipped_wordlists())
            lists[wordlist, controls] = _or_error(load_wordlist, where, chosen)
    for model in plan.models:
        where = _location(plan, model, shipped_models())
        models[model] = _or_error(load_model, where)
    return _Inputs(lists, models)


def _or_error(read: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return read(*arguments)
    except BayesbiasError as error:
        return str(error)


def _location(plan: SweepPlan, entry: str, names: Sequence[str]) -> str:
    """Return a shipped name as it is and anything else as a path."""
    return entry if entry in names else str(plan.folder / Path(entry).expanduser())


def _groups(plan: SweepPlan, inputs: _Inputs, digest: Callable[[str], dict[str, str] | None]) -> list[_Group]:
    """Return the cells of a plan in its order, by the file their tables come from."""
    locations = {}
    for embedding in plan.embeddings:
        there = (plan.folder / embedding).exists()
        names = shipped_embeddings() if there else [*shipped_embeddings(), *GENSIM_DATA]
        locations[embedding] = _location(plan, embedding, names)
    for table in plan.distances:
        locations[table] = _location(plan, table, ())
    with ThreadPoolExecutor(4) as pool:
        digests = dict(zip(locations, pool.map(digest, locations.values()), strict=True))
    entries = [*((entry, "embedding") for entry in plan.embeddings)]
    entries += [(entry, "distances") for entry in plan.distances]
    groups = []
    for entry, source in entries:
        list_keys: list[Any] = list(inputs.wordlists) if source == "embedding" else [None]
        cells = [
            _cell(plan, inputs, {source: entry}, list_key, model, seed, digests[entry])
            for list_key in list_keys
            for model in plan.models
            for seed in plan.seeds
        ]
        sha = (digests[entry] or {}).get("sha256")
        groups.append(_Group(source, locations[entry], sha, tuple(cells)))
    return groups


def _cell(
    plan: SweepPlan,
    inputs: _Inputs,
    source: Mapping[str, str],
    list_key: tuple[str, str] | None,
    model: str,
    seed: int,
    digest: Mapping[str, str] | None,
) -> _Cell:
    labels = {
        "embedding": source.get("embedding"),
        "wordlist": list_key[0] if list_key else None,
        "controls": list_key[1] if list_key else None,
        "distances": source.get("distances"),
        "model": model,
        "seed": seed,
    }
    words, spec = inputs.wordlists[list_key] if list_key else None, inputs.models[model]
    identity = {
        "format": _FORMAT,
        "bayesbias": bayesbias.__version__,
        **labels,
        "source": digest,
        "words": words.sha256 if isinstance(words, WordList) else None,
        "text": spec.sha256 if isinstance(spec, ModelSpec) else None,
        **{key: getattr(plan, key) for key in ("draws", "tune", "chains", "prob", "rope")},
        **({"repeats": plan.repeats} if list_key is None else {"invalid_utf8": plan.invalid_utf8}),
    }
    errors = [found for found in (words, spec) if isinstance(found, str)]
    named = hashlib.sha256(json.dumps(labels, sort_keys=True).encode()).digest()
    entropy = [seed, *np.frombuffer(named, dtype="<u4").tolist()]
    return _Cell(
        labels=labels,
        identity=identity,
        key=hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16],
        fit_seed=int(np.random.SeedSequence(entropy).generate_state(1)[0]),
        error=errors[0] if errors else None,
    )


def _digest(location: str, known: dict[str, Any]) -> dict[str, str] | None:
    """Return the SHA-256 of an input, and of files that belong to it; None where it cannot be read.

    The hash of a large file is taken from `known` while its size and its time of change are the same.
    """
    if location in shipped_embeddings():
        return {"sha256": sha256_file(data_dir("embeddings") / location / "MODEL.toml")}
    path = Path(location)
    if location in GENSIM_DATA:
        return {"gensim-data": location}  # a published collection that does not change under its name
    try:
        out = {"sha256": _hash_known(path, known)}
        arrays = f"{glob.escape(path.name)}.*.npy"  # of gensim's pickles
        for beside in sorted(path.parent.glob(arrays)):
            out[beside.name] = _hash_known(beside, known)
    except OSError:
        return None
    return out


def _hash_known(path: Path, known: dict[str, Any]) -> str:
    about = path.stat()
    mark = [about.st_size, about.st_mtime_ns, about.st_ino]
    entry = known.get(str(path))
    if about.st_size > _HASHED_ALWAYS and entry and entry[:3] == mark:
        return entry[3]
    sha = sha256_file(path)
    # A file changed a moment ago may change again within the same tick of the clock.
    if about.st_size > _HASHED_ALWAYS and time.time_ns() - about.st_mtime_ns > 2e9:
        known[str(path)] = [*mark, sha]
    return sha


# -- the folder --------------------------------------------------------------------------------------


@contextlib.contextmanager
def _opened(out: Path, plan: SweepPlan, resume: bool) -> Iterator[None]:
    """Check the folder of a sweep, mark it as one, and keep a second run out of it."""
    if out.exists() and not out.is_dir():
        raise InputError("the output must be a folder", where=out, found="a file")
    # Hidden files are no content: our lock and half-written files are, and so is what file managers leave.
    entries = sorted(path.name for path in out.iterdir() if path.name[0] != ".") if out.exists() else []
    # A sweep that ended before its first fit leaves nothing that could be lost.
    unbegun = _MARKER in entries and set(entries) <= {_MARKER, "inputs.json"}
    if entries and not resume and not unbegun:
        raise InputError(
            "the output folder is not empty",
            where=out,
            found=", ".join(entries[:5]),
            hint="--resume (resume=True) goes on with the sweep in it; or name another folder",
        )
    if entries and _MARKER not in entries:
        raise InputError(
            "holds no sweep that could be resumed", where=out, found=", ".join(entries[:5]), valid=_MARKER
        )
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock = open(out / ".lock", "w")  # noqa: SIM115 - held open for as long as the sweep runs
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", where=out) from None
    with lock:
        _lock(lock, out)
        for pattern in _HALF_WRITTEN:  # what a killed run had not renamed yet
            for stale in out.glob(pattern):
                stale.unlink()
        about = {
            "format": _FORMAT,
            "bayesbias": bayesbias.__version__,
            "plan": {**dataclasses.asdict(plan), "folder": str(plan.folder)},
        }
        _write_json(out / _MARKER, about, indent=2)
        yield


def _lock(file: Any, out: Path) -> None:
    try:
        import fcntl
    except ImportError:  # Windows: two sweeps in one folder repeat work there, and lose none
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(
            "another sweep is running in this folder", where=out, hint="wait for it to end"
        ) from None


def _write_json(path: Path, value: Any, indent: int | None = None) -> None:
    with whole_file(path) as temporary:
        temporary.write_text(json.dumps(value, indent=indent, allow_nan=False) + "\n", encoding="utf-8")


_RECORD = {
    "n_pairs", "group", "summary", "contrasts", "diagnostics", "look_again", "coverage", "provenance", "timing",
}  # fmt: skip


def _read_record(out: Path, cell: _Cell, plan: SweepPlan) -> dict[str, Any] | None:
    """Return what is written of a finished cell; None where it is not, or not all of it."""
    try:
        record = json.loads((out / "cells" / f"{cell.key}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # not there, or damaged since: the cell is fitted again
        return None
    if not isinstance(record, dict) or record.get("identity") != json.loads(json.dumps(cell.identity)):
        return None
    if not set(record) >= _RECORD:
        return None
    return None if plan.keep_fits and not (out / "fits" / f"{cell.key}.nc").is_file() else record


def _write_record(out: Path, cell: _Cell, made: dict[str, Any]) -> None:
    fit_bytes = made.pop("netcdf", None)
    if fit_bytes is not None:
        with whole_file(out / "fits" / f"{cell.key}.nc") as temporary:
            temporary.write_bytes(fit_bytes)
    record = {"cell": cell.key, "identity": cell.identity, "fit_seed": cell.fit_seed, **made}
    _write_json(out / "cells" / f"{cell.key}.json", record)


# -- the work, done in another process ---------------------------------------------------------------


def _tables(
    location: str, sha256: str | None, wordlists: Sequence[WordList] | None, options: Mapping[str, Any]
) -> tuple[list[PairTable | str], float]:
    """Make the tables of one group: one of distances, or one of each word list; text where that fails."""
    started = time.perf_counter()
    if wordlists is None:
        made = _table(lambda: _unchanged(read_distances(location, repeats=options["repeats"]), sha256))
        return [made], time.perf_counter() - started

    def load(words: Sequence[str]) -> Any:
        return load_embedding(
            location,
            words=words,
            allow_pickle=options["allow_pickle"],
            on_invalid_utf8=options["invalid_utf8"],
            progress=False,
        )

    def table(words: WordList) -> PairTable:
        source = load(words.words) if every is None else load_embedding(every, words=words.words)
        return _unchanged(distance_table(source, words), sha256)

    every: Any = None
    try:
        every = load(list(dict.fromkeys(word for words in wordlists for word in words.words)))
    except Exception:  # one list may ask for a word whose vector is broken; the others must not fail with it
        every = None
    tables = [_table(table, words) for words in wordlists]
    return tables, time.perf_counter() - started


def _table(make: Callable[..., PairTable], *arguments: Any) -> PairTable | str:
    try:
        return make(*arguments)
    except Exception as error:  # whatever it is, it belongs to this cell and must not end the sweep
        return described(error)


def _unchanged(table: PairTable, expected: str | None) -> PairTable:
    """Refuse a file that changed after its hash was taken: the cell would be filed under the wrong name."""
    found = table.provenance.get("embedding", table.provenance).get("sha256")
    shipped = (
        table.provenance.get("embedding", {}).get("format") == "static tokens"
    )  # checked against its card
    if expected and found and found != expected and not shipped:
        raise InputError("the file changed while the sweep ran", hint="run it again with --resume")
    return table


def _fit_cell(table: PairTable, model: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Fit one cell and return all that is kept of it, or ``{"error": message}``."""
    try:
        return _fitted(table, model, settings)
    except Exception as error:  # whatever it is, it belongs to this cell and must not end the sweep
        return {"error": described(error)}


def _fitted(table: PairTable, model: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    import tempfile

    started = time.perf_counter()
    spec = parse_model(model.encode("utf-8"), settings["model"])
    # One core: there are as many workers as cores already.
    result = fit(
        table,
        spec,
        draws=settings["draws"],
        tune=settings["tune"],
        chains=settings["chains"],
        seed=settings["fit_seed"],
        pointwise=False,
        cores=1,
        progress=False,
    )
    fitted = time.perf_counter()
    prob, rope = settings["prob"], settings["rope"]
    provenance = dict(result.provenance)
    coverage, timing = provenance.pop("coverage"), provenance.pop("timing")
    summaries = [
        record
        for estimand in ("population", "these_words")
        for record in _records(result.summary(prob, estimand=estimand))
    ]
    try:
        contrasts = _records(result.contrasts(prob, rope))
    except FitError:  # no two connections to set against each other; the means stand for themselves
        contrasts = []
    made = {
        "n_pairs": len(table),
        "group": spec.results.group,
        "summary": summaries,
        "contrasts": contrasts,
        "diagnostics": _plain(result.diagnostics()),
        "look_again": shortcomings(result),
        "coverage": coverage,
        "provenance": provenance,
        "timing": {
            "sample_s": timing["sample_s"],
            "fit_s": round(fitted - started, 4),
            "summarise_s": round(time.perf_counter() - fitted, 4),
        },
    }
    if settings["keep_fits"]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "fit.nc"
            result.save(path)
            made["netcdf"] = path.read_bytes()
    return made


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [_plain(record) for record in frame.to_dict(orient="records")]


def _plain(values: Mapping[Any, Any]) -> dict[str, Any]:
    """Turn numbers into Python's own; one that does not exist (R-hat of one chain) becomes None."""
    out = {}
    for key, value in values.items():
        value = value.item() if isinstance(value, np.generic) else value
        out[str(key)] = None if isinstance(value, float) and not math.isfinite(value) else value
    return out


# -- the sweep ---------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class SweepResult:
    """What a sweep found.

    Attributes
    ----------
    frame : pandas.DataFrame
        The tidy table, as in ``results.csv``: one row per cell, quantity and estimand; of a failed cell
        one row with its error. See `run_sweep`.
    timing : pandas.DataFrame
        ``cell, load_s, sample_s, fit_s, summarise_s`` in seconds, one row per fitted cell; ``load_s`` is shared by
        all cells of one embedding.
    out : Path
        The folder.
    reused : int
        Cells that were finished before and were not fitted again.
    others : int
        Finished cells in the folder that belong to no cell of this plan: those of earlier plans.
    """

    frame: pd.DataFrame
    timing: pd.DataFrame
    out: Path
    reused: int
    others: int = 0

    @property
    def cells(self) -> pd.DataFrame:
        """One row per cell: labels, status, error, counts and diagnostics."""
        return self.frame.drop_duplicates("cell")[list(_CELL_COLUMNS)].reset_index(drop=True)

    @property
    def failures(self) -> pd.DataFrame:
        """The failed cells: their labels and errors."""
        cells = self.cells
        return cells[cells["status"] == "failed"].reset_index(drop=True)

    def __repr__(self) -> str:
        cells, failures = self.cells, self.failures
        doubtful = int((cells["trusted"] == False).sum())  # noqa: E712 - missing for failed cells
        lines = [
            f"SweepResult: {len(cells)} cells in {self.out}, {len(cells) - len(failures)} fitted ({self.reused} of them "
            f"before), {len(failures)} failed, {doubtful} not to be trusted yet"
        ]
        for row in failures.head(4).itertuples():
            lines.append(f"  failed: {_label(row)}: {row.error}")
        if len(failures) > 4:
            lines.append(f"  and {len(failures) - 4} more")
        return "\n".join(lines)


def _label(row: Any) -> str:
    import pandas as pd

    parts = [row.embedding, row.wordlist, row.distances, row.model]
    return ", ".join(str(part) for part in parts if not pd.isna(part))


_CELL_COLUMNS = {
    "cell": "string",
    "embedding": "string",
    "wordlist": "string",
    "controls": "string",
    "distances": "string",
    "model": "string",
    "seed": "Int64",
    "fit_seed": "Int64",
    "status": "string",
    "error": "string",
    "n_pairs": "Int64",
    "missing_words": "Int64",
    "protected_listed": "Int64",
    "protected_found": "Int64",
    "stereotypes_listed": "Int64",
    "stereotypes_found": "Int64",
    "method": "string",
    "divergences": "Int64",
    "max_r_hat": "Float64",
    "min_ess_bulk": "Float64",
    "trusted": "boolean",
    "problems": "string",
    "look_again": "string",
}
_ROW_COLUMNS = {
    "quantity": "string",
    "level": "string",
    "name": "string",
    "term": "string",
    "estimand": "string",
    "mean": "Float64",
    "sd": "Float64",
    "hpdi_low": "Float64",
    "hpdi_high": "Float64",
    "prob": "Float64",
    "ess_bulk": "Float64",
    "r_hat": "Float64",
    "p_below_zero": "Float64",
    "p_in_rope": "Float64",
    "rope": "Float64",
}


def run_sweep(
    plan: str | os.PathLike[str] | Mapping[str, Any] | SweepPlan,
    out: str | os.PathLike[str],
    *,
    workers: int | None = None,
    dask: str | None = None,
    resume: bool = False,
    progress: bool | None = None,
) -> SweepResult:
    """Fit every model of a plan to every table of it.

    Writes ``cells/KEY.json`` for each finished cell (summary, contrasts, diagnostics, coverage, provenance, timing) and, at
    the end, the tidy table ``results.csv`` and ``results.parquet`` and the times ``timing.csv``. The results are in
    the order of the plan and do not depend on how the work was divided, killed or resumed.

    In a script of your own, call it under ``if __name__ == "__main__":``, since every worker process imports the script.

    Parameters
    ----------
    plan : path, mapping or SweepPlan
        See `load_plan`.
    out : path
        The folder; new or empty, unless `resume` is true.
    workers : int, optional
        Local processes; by default one per core, and no more than there are cells to fit.
    dask : str, optional
        The address of a Dask scheduler that does the fits instead (extra ``dask``), such as
        ``tcp://host:8786``. Its workers need this package, none of the files, and best one thread each.
    resume : bool
        Go on with the sweep in `out`: finished cells are kept, cells that failed or whose inputs or settings
        changed are fitted.
    progress : bool, optional
        A progress bar on stderr from the second second on; by default where that is a terminal.

    Returns
    -------
    SweepResult
        ``frame`` has a row for each mean (``quantity`` ``mean``, ``term`` a connection; overall only) and each
        contrast (``contrast``; ``level`` overall, class or word): ``cell, embedding, wordlist, controls, distances,
        model, seed, fit_seed, status, error, n_pairs, missing_words, protected_listed, protected_found,
        stereotypes_listed, stereotypes_found, method, divergences, max_r_hat, min_ess_bulk, trusted, problems (why
        not), look_again (what the residuals show that the model leaves out, see `shortcomings`), quantity, level,
        name, term, estimand, mean, sd, hpdi_low, hpdi_high, prob, ess_bulk, r_hat, p_below_zero, p_in_rope, rope``.
        Distances are in [0, 2]. A cell that failed is one row with ``status`` ``failed`` and its ``error``.

    Raises
    ------
    InputError
        For a plan or a folder that cannot be used; never for a single cell.
    FitError
        Where no worker can be started, or the Dask scheduler is lost.

    Examples
    --------
    >>> plan = {"embeddings": ["minilm-static"], "wordlists": ["religion", "gender"], "models": ["crossed"],
    ...         "settings": {"seed": 1}}
    >>> result = run_sweep(plan, "sweep-out")  # doctest: +SKIP
    >>> overall = result.frame.query("level == 'overall' and quantity == 'contrast'")  # doctest: +SKIP
    """
    checked, out = load_plan(plan), Path(out)
    if dask is not None and workers is not None:
        raise InputError("workers are local processes, dask is a cluster; choose one")
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise InputError("`workers` must be a whole number of at least 1", found=workers)
    with _opened(out, checked, resume):
        inputs = _read_inputs(checked)
        known = _read_hashes(out)
        groups = _groups(checked, inputs, lambda location: _digest(location, known))
        _write_json(out / "inputs.json", known)
        finished = {
            cell.key
            for group in groups
            for cell in group.cells
            if _read_record(out, cell, checked) is not None
        }
        failed = {cell.key: cell.error for group in groups for cell in group.cells if cell.error is not None}
        wanted = [
            cell.key for group in groups for cell in group.cells if cell.key not in finished | set(failed)
        ]
        if wanted:
            pool = Cluster(dask) if dask else Processes(min(workers or _cores(), len(wanted)))
            with ticking("fits", len(wanted), progress) as tick, pool:
                tasks = _tasks(groups, set(wanted), inputs, checked, out, failed, tick)
                carry_out(tasks, pool)
        return _collect(groups, checked, out, failed, len(finished))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _read_hashes(out: Path) -> dict[str, Any]:
    try:
        known = json.loads((out / "inputs.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # not there yet, or damaged: the files are hashed again
        return {}
    return known if isinstance(known, dict) else {}


def _tasks(
    groups: Sequence[_Group],
    wanted: set[str],
    inputs: _Inputs,
    plan: SweepPlan,
    out: Path,
    failed: dict[str, str],
    tick: Callable[[int], None],
) -> deque[Task]:
    """Return one task per file to read; each adds the fits of its tables when it is done."""
    tasks: deque[Task] = deque()
    options = {key: getattr(plan, key) for key in ("repeats", "allow_pickle", "invalid_utf8")}

    def fail(cells: Sequence[_Cell], error: str) -> None:
        for cell in cells:
            failed[cell.key] = error
        tick(len(cells))

    def add(group: _Group) -> None:
        cells = [cell for cell in group.cells if cell.key in wanted]
        if not cells:
            return
        by_list: dict[Any, list[_Cell]] = {}
        for cell in cells:
            by_list.setdefault((cell.labels["wordlist"], cell.labels["controls"]), []).append(cell)
        lists = None if group.source == "distances" else [inputs.wordlists[key] for key in by_list]

        def then(made: tuple[list[PairTable | str], float]) -> None:
            fits = []
            for table, members in zip(made[0], by_list.values(), strict=True):
                if isinstance(table, str):
                    fail(members, table)
                else:
                    fits += [_fit_task(table, cell, made[1]) for cell in members]
            tasks.extendleft(reversed(fits))

        arguments = (group.location, group.sha256, lists, options)
        tasks.append(Task(_tables, arguments, then, lambda error: fail(cells, error), tables=True))

    def _fit_task(table: PairTable, cell: _Cell, load_s: float) -> Task:
        spec = inputs.models[cell.labels["model"]]
        assert isinstance(spec, ModelSpec)  # the others have failed already
        settings = {
            **{key: getattr(plan, key) for key in ("draws", "tune", "chains", "prob", "rope", "keep_fits")},
            "model": cell.labels["model"],
            "fit_seed": cell.fit_seed,
        }

        def then(made: dict[str, Any]) -> None:
            if "error" in made:
                return fail([cell], made["error"])
            version = made["provenance"]["versions"]["bayesbias"]
            if version != bayesbias.__version__:
                return fail([cell], f"the worker has bayesbias {version}, here is {bayesbias.__version__}")
            made["timing"] = {"load_s": round(load_s, 4), **made["timing"]}
            _write_record(out, cell, made)
            tick(1)

        return Task(_fit_cell, (table, spec.text, settings), then, lambda error: fail([cell], error))

    for group in groups:
        add(group)
    return tasks


def _collect(
    groups: Sequence[_Group], plan: SweepPlan, out: Path, failed: Mapping[str, str], reused: int
) -> SweepResult:
    """Read all cells back in the order of the plan, and write the tables."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    times: list[dict[str, Any]] = []
    for cell in (cell for group in groups for cell in group.cells):
        about = {"cell": cell.key, **cell.labels, "fit_seed": cell.fit_seed}
        record = None if cell.key in failed else _read_record(out, cell, plan)
        if record is None:
            error = failed.get(cell.key) or "the file of the cell was removed while the sweep ran"
            rows.append({**about, "status": "failed", "error": error})
            continue
        diagnostics = record["diagnostics"]
        about |= {
            "status": "ok",
            "n_pairs": record["n_pairs"],
            "missing_words": len(record["coverage"]["missing"]),
            **_counts(record["coverage"]),
            "method": record["provenance"]["sampler"]["method"],
            **{key: diagnostics[key] for key in ("divergences", "max_r_hat", "min_ess_bulk")},
            "trusted": diagnostics["ok"],
            "problems": "; ".join(diagnostics["problems"]) or None,
            "look_again": "; ".join(record["look_again"]) or None,
        }
        means = [
            {**row, "quantity": "mean", "level": "overall", "name": "all", "term": row[record["group"]]}
            for row in record["summary"]
        ]
        contrasts = [{**row, "quantity": "contrast", "term": row["contrast"]} for row in record["contrasts"]]
        rows += [{**row, **about} for row in (*means, *contrasts)]
        times.append({"cell": cell.key, **record["timing"]})
    columns = {**_CELL_COLUMNS, **_ROW_COLUMNS}
    frame = pd.DataFrame(
        {name: pd.array([row.get(name) for row in rows], dtype=kind) for name, kind in columns.items()}
    )
    timing = pd.DataFrame(times, columns=["cell", "load_s", "sample_s", "fit_s", "summarise_s"])
    for name, table in (("results", frame), ("timing", timing)):
        with whole_file(out / f"{name}.csv") as temporary:
            table.to_csv(temporary, index=False)
    with whole_file(out / "results.parquet") as temporary:
        frame.to_parquet(temporary, index=False)
    mine = {cell.key for group in groups for cell in group.cells}
    others = sum(path.stem not in mine for path in (out / "cells").glob("*.json"))
    return SweepResult(frame, timing, out, reused, others)


def _counts(coverage: Mapping[str, Any]) -> dict[str, int]:
    """Count the words that a result hangs on; missing control words are many and matter little."""
    stereotypes = {name: group for name, group in coverage["attributes"].items() if name not in CONTROLS}
    return {
        f"{side}_{what}": sum(group[what] for group in groups.values())
        for side, groups in (("protected", coverage["protected"]), ("stereotypes", stereotypes))
        for what in ("listed", "found")
    }
