"""The plan of a sweep: embeddings by word lists by models, read from a TOML file and checked."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.files import lies_at, read_toml
from bayesbias.embeddings.loading import GENSIM_DATA
from bayesbias.embeddings.static import list_embeddings
from bayesbias.inference.estimands import PROB, ROPE, STANDARD_ROPE
from bayesbias.models.loading import DEFAULT_MODEL, list_models
from bayesbias.wordlists.controls import list_controls
from bayesbias.wordlists.listfile import list_wordlists

__all__ = ["SweepPlan", "load_plan"]

_SCHEMA = 1
_LISTS = ("embeddings", "wordlists", "controls", "distances", "models")
_KEYS = ("schema", *_LISTS, "settings")


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
    standard_rope : float
        As `rope` in `BiasFit.standardized`.
    repeats, invalid_utf8 : str
        As in `load_distances` and `load_embedding`.
    allow_pickle, keep_fits : bool
        Whether pickled vectors may be read; whether the whole fit of each cell is saved as netCDF.

    Examples
    --------
    >>> import bayesbias as bb
    >>> plan = bb.sweeps.load_plan({"embeddings": ["minilm-static"], "wordlists": ["religion", "gender"], "models": ["default"]})
    >>> plan.wordlists, plan.draws
    (('religion', 'gender'), 1000)
    """

    name: str
    folder: Path
    embeddings: tuple[str, ...] = ()
    wordlists: tuple[str, ...] = ()
    controls: tuple[str, ...] = ("default",)
    distances: tuple[str, ...] = ()
    models: tuple[str, ...] = (DEFAULT_MODEL,)
    seeds: tuple[int, ...] = (0,)
    draws: int = 1000
    tune: int = 1000
    chains: int = 4
    prob: float = PROB
    rope: float = ROPE
    standard_rope: float = STANDARD_ROPE
    repeats: str = "once"
    invalid_utf8: str = "error"
    allow_pickle: bool = False
    keep_fits: bool = False

    def __len__(self) -> int:
        sources = len(self.embeddings) * len(self.wordlists) * len(self.controls) + len(
            self.distances
        )
        return sources * len(self.models) * len(self.seeds)


def load_plan(plan: str | os.PathLike[str] | Mapping[str, Any] | SweepPlan) -> SweepPlan:
    """Read and check the plan of a sweep.

    A plan is a TOML file::

        schema = 1
        embeddings = ["minilm-static", "vectors/glove.txt"]  # with every word list
        wordlists = ["religion", "gender", "my-list.toml"]
        controls = ["2022", "none"]             # optional; "default" is each list's own
        distances = ["tables/religion.csv"]     # tables that are there already
        models = ["default", "crossed"]    # optional; "cells" by default

        [settings]                              # all optional
        draws = 1000                            # kept draws per chain
        tune = 1000
        chains = 4
        seed = 1                                # or a list: every cell once for each
        prob = 0.89
        rope = 0.02                             # in cosine distance
        standard_rope = 0.1                     # in standard deviations of neutral pairs
        repeats = "once"                        # or "keep": repeated rows of a table
        invalid_utf8 = "error"                  # or "skip"
        allow_pickle = false
        keep_fits = false                       # true: also save each fit as netCDF

    A name that is shipped is that; anything else is a path, relative to the folder of the plan.

    Parameters
    ----------
    plan : path, mapping or SweepPlan
        A mapping has the same form (``schema`` may be left out); its paths are relative to the
        working folder.

    Returns
    -------
    SweepPlan

    Raises
    ------
    InputError
        For an unknown key or name, with the nearest match, and for a value out of range. A path
        that leads to no file is no error of the plan: its cells are reported as failed when the
        sweep runs.

    Examples
    --------
    >>> plan = load_plan({"embeddings": ["minilm-static"], "wordlists": ["religion", "gender"],
    ...                   "models": ["crossed", "hierarchical"], "settings": {"seed": 3}})
    >>> len(plan), plan.controls, plan.seeds
    (4, ('default',), (3,))
    >>> load_plan({"embedings": ["minilm-static"]})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
      ...
    bayesbias.InputError: plan: unknown key; found: 'embedings'; valid: schema, ...; did you mean 'embeddings'?
    """
    if isinstance(plan, SweepPlan):
        return plan
    if isinstance(plan, Mapping):
        given = checks.tree(plan, "plan")
        raw, where, folder, name = {"schema": _SCHEMA, **given}, "plan", Path.cwd(), "plan"
    else:
        path = Path(
            checks.path(plan, "plan", "a SweepPlan, a mapping, or the path of a .toml file")
        )
        if os.path.isdir(path):
            raise InputError("is a folder, not a plan", where=path, valid="a .toml file")
        if not lies_at(path):
            beside = [p.name for p in path.parent.glob("*.toml")]
            raise InputError(
                "no such plan",
                found=str(path),
                valid="a .toml file",
                hint=nearest(path.name, beside),
            )
        raw, where, folder, name = read_toml(path), str(path), path.resolve().parent, path.stem
    checks.known_keys(raw, _KEYS, where)
    checks.schema(raw, _SCHEMA, where)
    lists: dict[str, Any] = {
        key: _checked_entries(raw[key], folder, f"{where}, {key}") for key in _LISTS if key in raw
    }
    if bool(lists.get("embeddings")) != bool(lists.get("wordlists")):
        lacking = "wordlists" if lists.get("embeddings") else "embeddings"
        raise InputError(
            "embeddings and word lists need each other", where=f"{where}, {lacking}", found="none"
        )
    if not lists.get("embeddings") and not lists.get("distances"):
        raise InputError(
            "nothing to fit", where=where, valid="embeddings and wordlists, or distances"
        )
    if "controls" in lists and not lists.get("wordlists"):
        raise InputError("controls without a word list to add them to", where=f"{where}, controls")
    for key in ("models", "controls"):
        if key in lists and not lists[key]:
            raise InputError(
                "the list is empty",
                where=f"{where}, {key}",
                hint="leave the key out for the default",
            )
    shipped = {
        "embeddings": [*list_embeddings(), *GENSIM_DATA],
        "wordlists": list_wordlists(),
        "controls": ["default", "none", *list_controls()],
        "models": list_models(),
    }
    for key, names in shipped.items():
        for entry in lists.get(key, ()):
            _check_name(entry, names, folder, f"{where}, {key}")
    settings = raw.get("settings", {})
    checks.table(settings, f"{where}, settings")
    return SweepPlan(name, folder, **lists, **_checked_settings(settings, f"{where}, settings"))


def _checked_entries(value: Any, folder: Path, where: str) -> tuple[str, ...]:
    entries = (value,) if isinstance(value, str | os.PathLike) else value
    if not isinstance(entries, list | tuple) or not all(
        isinstance(e, str | os.PathLike) and str(e) for e in entries
    ):
        raise InputError("must be a list of names or paths", where=where, found=value)
    out = tuple(os.fspath(entry) for entry in entries)
    # One file, however its path is written, is one cell.
    files = [
        os.path.realpath(folder / e) if os.sep in e or "/" in e or Path(e).suffix else e
        for e in out
    ]
    if twice := checks.repeated(files):
        first, second, *_ = (
            entry for entry, file in zip(out, files, strict=True) if file == twice[0]
        )
        found = first if first == second else f"{first} and {second}, which are one file"
        raise InputError("an entry stands twice", where=where, found=found, valid="each once")
    return out


def _check_name(entry: str, names: Sequence[str], folder: Path, where: str) -> None:
    """Refuse what is neither shipped nor looks like a path; a missing file fails its own cells alone."""
    checks.path(entry, where, "a name, or a path")
    looks_like_path = os.sep in entry or "/" in entry or bool(Path(entry).suffix)
    if entry not in names and not looks_like_path and not os.path.exists(folder / entry):
        raise InputError(
            "unknown name",
            where=where,
            found=entry,
            valid=[*names, "or a path"],
            hint=nearest(entry, names),
        )


def _checked_settings(raw: Mapping[str, Any], where: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    choices = {"repeats": ("once", "keep"), "invalid_utf8": ("error", "skip")}
    known = (
        "draws",
        "tune",
        "chains",
        "seed",
        "prob",
        "rope",
        "standard_rope",
        *choices,
        "allow_pickle",
        "keep_fits",
    )
    checks.known_keys(raw, known, where)

    for key, value in raw.items():
        at = f"{where}, {key}"
        if key in ("draws", "tune", "chains"):
            checks.count(
                value, at, most=checks.MOST_CHAINS if key == "chains" else checks.MOST_DRAWS
            )
        elif key == "seed":
            seeds = tuple(value) if isinstance(value, list | tuple) else (value,)
            if not seeds:
                raise InputError("needs one seed or more", where=at, found=value)
            out["seeds"] = checks.distinct([checks.seed(each, at) for each in seeds], "a seed", at)
            continue
        elif key == "prob":
            checks.probability(value, at)
        elif key in ("rope", "standard_rope"):
            value = checks.positive(value, at)
        elif key in choices:
            checks.choice(value, choices[key], "value", at)
        elif not isinstance(value, bool):
            raise InputError("must be true or false", where=at, found=value)
        out[key] = value
    return out
