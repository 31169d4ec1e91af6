"""The cells of a plan: each is one fit, under a name that is a hash of all that determines it.

That is the content of its inputs, the text of the model, the settings and the version of this
package. The seed of a cell follows from the plan's seed and the cell's labels, so that neither the
order of the work nor the number of workers changes any draw.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.core.errors import BayesbiasError
from bayesbias.core.files import data_dir, sha256_file, sha256_of, split_member
from bayesbias.core.packages import own_version
from bayesbias.embeddings.loading import GENSIM_DATA
from bayesbias.embeddings.static import list_embeddings
from bayesbias.models.loading import list_models, load_model
from bayesbias.models.spec import ModelSpec
from bayesbias.sweeps.plan import SweepPlan
from bayesbias.wordlists.listfile import list_controls, list_wordlists, load_wordlist
from bayesbias.wordlists.wordlist import WordList

LABELS = ("embedding", "wordlist", "controls", "distances", "model", "seed")
_SETTINGS = ("draws", "tune", "chains", "prob", "rope", "standard_rope")
READING = ("repeats", "vocab", "key", "bad_lines", "allow_pickle")


@dataclass(frozen=True)
class SweepCell:
    """One fit of the plan.

    Attributes
    ----------
    labels : Mapping
        Values of `LABELS`.
    words : WordList, str or None
        None where distances are read; a text says why the list cannot be used.
    spec : ModelSpec or str
        A text says why the model cannot be used.
    key : str
        Hash of all that determines the result.
    fit_seed : int
    """

    labels: Mapping[str, Any]
    words: WordList | str | None
    spec: ModelSpec | str
    key: str
    fit_seed: int

    @property
    def list_label(self) -> tuple[Any, Any]:
        """What names the word list and its controls."""
        return self.labels["wordlist"], self.labels["controls"]

    @property
    def error(self) -> str | None:
        """What is known to be wrong with it before it is fitted."""
        return next((each for each in (self.words, self.spec) if isinstance(each, str)), None)


@dataclass(frozen=True)
class CellGroup:
    """The cells whose tables come from one file: one embedding, or one table of distances."""

    source: str  # "embedding" or "distances"
    location: str
    cells: tuple[SweepCell, ...]


def group_cells(plan: SweepPlan) -> list[CellGroup]:
    """Return the cells of a plan in its order, by the file that their tables come from."""

    def located(entry: str, names: Collection[str]) -> str:
        return entry if entry in names else str(plan.folder / os.path.expanduser(entry))

    lists: dict[tuple[str | None, str | None], Any] = {}
    for wordlist in plan.wordlists:
        for controls in plan.controls:
            chosen = (
                None if controls == "default" else located(controls, ("none", *list_controls()))
            )
            lists[wordlist, controls] = _read(
                load_wordlist, located(wordlist, list_wordlists()), chosen
            )
    models = {name: _read(load_model, located(name, list_models())) for name in plan.models}
    embeddings = (*list_embeddings(), *GENSIM_DATA)
    sources = [("embedding", entry, located(entry, embeddings)) for entry in plan.embeddings]
    sources += [("distances", entry, located(entry, ())) for entry in plan.distances]
    with ThreadPoolExecutor(4) as pool:
        digests = list(pool.map(digest_of, [location for _, _, location in sources]))
    settings = {name: getattr(plan, name) for name in (*_SETTINGS, *READING)}
    if plan.common_words:  # then every cell depends on all embeddings
        settings["common_words"] = digests[: len(plan.embeddings)]
    groups = []
    for (source, entry, location), digest in zip(sources, digests, strict=True):
        cells = []
        of_source: dict[Any, Any] = lists if source == "embedding" else {(None, None): None}
        for (wordlist, controls), words in of_source.items():
            for model, spec in models.items():
                for seed in plan.seeds:
                    labels: dict[str, Any] = dict.fromkeys(LABELS) | {source: entry}
                    labels |= {"wordlist": wordlist, "controls": controls}
                    labels |= {"model": model, "seed": seed}
                    inputs = [digest, *(getattr(of, "sha256", None) for of in (words, spec))]
                    identity = [own_version(), labels, inputs, settings]
                    named = hashlib.sha256(json.dumps(labels, sort_keys=True).encode()).digest()
                    entropy = [seed, *np.frombuffer(named, dtype="<u4").tolist()]
                    fit_seed = int(np.random.SeedSequence(entropy).generate_state(1)[0])
                    key = sha256_of(json.dumps(identity, sort_keys=True))[:16]
                    cells.append(SweepCell(labels, words, spec, key, fit_seed))
        groups.append(CellGroup(source, location, tuple(cells)))
    return groups


def _read(read: Callable[..., Any], *arguments: Any) -> Any:
    """Return what is read, or the message where it cannot be."""
    try:
        return read(*arguments)
    except BayesbiasError as error:
        return str(error)


def digest_of(location: str) -> dict[str, str] | None:
    """Return the SHA-256 of an input, and of files that belong to it.

    None where it cannot be read.
    """
    if location in list_embeddings():
        return {location: sha256_file(data_dir("embeddings") / location / "MODEL.toml")}
    if location in GENSIM_DATA:
        return {location: "gensim-data"}  # a published collection does not change under its name
    path = split_member(Path(location))[0]
    arrays = path.parent.glob(f"{glob.escape(path.name)}.*.npy")  # of gensim's pickles
    inside = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    try:
        return {
            str(file.relative_to(path.parent)): sha256_file(file)
            for file in (*sorted(inside), *sorted(arrays))
        }
    except (OSError, BayesbiasError):  # its cells fail, and no others
        return None
