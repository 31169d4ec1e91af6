"""The cells of a plan: each is one fit, under a name that is a hash of all that determines it.

That is the content of its inputs, the text of the model, the settings and the version of this
package. The seed of a cell follows from the plan's seed and the cell's labels, so neither the order
of the work nor the number of workers, nor what else the plan holds, changes any draw.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.core.errors import BayesbiasError, InputError
from bayesbias.core.files import data_dir, sha256_file, sha256_of
from bayesbias.core.packages import own_version
from bayesbias.embeddings.loading import GENSIM_DATA
from bayesbias.embeddings.static import list_embeddings
from bayesbias.models.loading import list_models, load_model
from bayesbias.models.spec import ModelSpec
from bayesbias.sweeps.plan import SweepPlan
from bayesbias.wordlists.controls import list_controls
from bayesbias.wordlists.listfile import list_wordlists, load_wordlist
from bayesbias.wordlists.wordlist import WordList

SWEEP_FORMAT = 2  # of the files of a cell
_HASHED_ALWAYS = (
    4_000_000  # bytes; the hash of a larger file is kept and used again while the file is unchanged
)


@dataclass(frozen=True)
class SweepCell:
    """One fit of the plan: its labels, and the hash of all that determines its result."""

    labels: Mapping[str, Any]
    identity: Mapping[str, Any]
    key: str
    fit_seed: int
    error: str | None  # what is already known to be wrong with it


@dataclass(frozen=True)
class CellGroup:
    """The cells whose tables come from one file: one embedding, or one table of distances."""

    source: str  # "embedding" or "distances"
    location: str
    sha256: str | None
    cells: tuple[SweepCell, ...]


@dataclass(frozen=True, eq=False)
class PlanInputs:
    """The word lists and models of a plan, read and checked; text where one cannot be used."""

    wordlists: Mapping[tuple[str, str], WordList | str]
    models: Mapping[str, ModelSpec | str]


def read_inputs(plan: SweepPlan) -> PlanInputs:
    """Read every word list and model of the plan once; one that fails leaves its message in its place."""
    lists: dict[tuple[str, str], WordList | str] = {}
    models: dict[str, ModelSpec | str] = {}
    for wordlist in plan.wordlists:
        for controls in plan.controls:
            chosen = (
                None
                if controls == "default"
                else _location(plan, controls, ("none", *list_controls()))
            )
            where = _location(plan, wordlist, list_wordlists())
            lists[wordlist, controls] = _or_message(load_wordlist, where, chosen)
    for model in plan.models:
        where = _location(plan, model, list_models())
        models[model] = _or_message(load_model, where)
    return PlanInputs(lists, models)


def _or_message(read: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return read(*arguments)
    except BayesbiasError as error:
        return str(error)


def _location(plan: SweepPlan, entry: str, names: Sequence[str]) -> str:
    """Return a shipped name as it is and anything else as a path."""
    return entry if entry in names else str(plan.folder / os.path.expanduser(entry))


def group_cells(
    plan: SweepPlan, inputs: PlanInputs, digest: Callable[[str], dict[str, str] | None]
) -> list[CellGroup]:
    """Return the cells of a plan in its order, by the file their tables come from."""
    locations = {}
    for embedding in plan.embeddings:
        there = os.path.exists(plan.folder / embedding)
        names = list_embeddings() if there else [*list_embeddings(), *GENSIM_DATA]
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
            _make_cell(plan, inputs, {source: entry}, list_key, model, seed, digests[entry])
            for list_key in list_keys
            for model in plan.models
            for seed in plan.seeds
        ]
        sha = (digests[entry] or {}).get("sha256")
        groups.append(CellGroup(source, locations[entry], sha, tuple(cells)))
    return groups


def _make_cell(
    plan: SweepPlan,
    inputs: PlanInputs,
    source: Mapping[str, str],
    list_key: tuple[str, str] | None,
    model: str,
    seed: int,
    digest: Mapping[str, str] | None,
) -> SweepCell:
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
        "format": SWEEP_FORMAT,
        "bayesbias": own_version(),
        **labels,
        "source": digest,
        "words": words.sha256 if isinstance(words, WordList) else None,
        "text": spec.sha256 if isinstance(spec, ModelSpec) else None,
        **{
            key: getattr(plan, key)
            for key in ("draws", "tune", "chains", "prob", "rope", "standard_rope")
        },
        **({"repeats": plan.repeats} if list_key is None else {"invalid_utf8": plan.invalid_utf8}),
    }
    errors = [problem for problem in (words, spec) if isinstance(problem, str)]
    named = hashlib.sha256(json.dumps(labels, sort_keys=True).encode()).digest()
    entropy = [seed, *np.frombuffer(named, dtype="<u4").tolist()]
    return SweepCell(
        labels=labels,
        identity=identity,
        key=sha256_of(json.dumps(identity, sort_keys=True))[:16],
        fit_seed=int(np.random.SeedSequence(entropy).generate_state(1)[0]),
        error=errors[0] if errors else None,
    )


def digest_of(location: str, known: dict[str, Any]) -> dict[str, str] | None:
    """Return the SHA-256 of an input, and of files that belong to it; None where it cannot be read.

    The hash of a large file is taken from `known` while its size and its time of change are the
    same.
    """
    if location in list_embeddings():
        return {"sha256": sha256_file(data_dir("embeddings") / location / "MODEL.toml")}
    path = Path(location)
    if location in GENSIM_DATA:
        return {
            "gensim-data": location
        }  # a published collection that does not change under its name
    try:
        out = {"sha256": _hash_known(path, known)}
        arrays = f"{glob.escape(path.name)}.*.npy"  # of gensim's pickles
        for beside in sorted(path.parent.glob(arrays)):
            out[beside.name] = _hash_known(beside, known)
    except (OSError, InputError):  # not there, a folder, or closed: its cells fail, and no others
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
