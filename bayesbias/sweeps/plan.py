"""The plan of a sweep, read from a TOML file and checked, and its cells: each is one fit.

The name of a cell is a hash of all that determines it: the content of its inputs, the text of
the model, the settings and the version of this package. The seed of a cell follows from the seed
of the plan and the labels of the cell, so that neither the order of the work nor the number of
workers changes any draw.
"""

import glob
import hashlib
import itertools
import json
import os
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias import __version__
from bayesbias.core import BayesbiasError, InputError, checks, files
from bayesbias.core.conventions import PROB, STANDARD_ROPE
from bayesbias.core.progress import ticking
from bayesbias.core.workers import describe_error
from bayesbias.embeddings.loading import GENSIM_DATA
from bayesbias.embeddings.static import list_embeddings
from bayesbias.models.spec import DEFAULT_MODEL, ModelSpec, list_models, load_model
from bayesbias.wordlists.listfile import Source, list_controls, list_wordlists, load_wordlist
from bayesbias.wordlists.wordlist import WordList

LABELS: tuple[str, ...] = ("embedding", "wordlist", "controls", "distances", "model", "seed")
SETTINGS = ("draws", "tune", "chains", "prob", "rope", "standard_rope")
READING = ("repeats", "vocab", "key", "bad_lines", "allow_pickle")
_SCHEMA = 1
_KEYS = ("schema", "embeddings", "wordlists", "controls", "distances", "models", "settings")


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
    prob : float
        As in `BiasFit.contrasts`.
    rope : float or None
        The same; with None each cell has its own (`BiasFit.default_rope`).
    standard_rope : float
        As `rope` in `BiasFit.standardized`.
    repeats, bad_lines : str
        As in `load_distances` and `load_embedding`.
    vocab : str or None
        The file with the words of a matrix of vectors, for all embeddings.
    key : str or None
        The form in which files write their words, such as ``{word}_NOUN``.
    allow_pickle, common_words : bool
        Whether pickled vectors may be read; whether only the words that all embeddings have are
        kept.

    Examples
    --------
    >>> import bayesbias as bb
    >>> plan = bb.sweeps.load_plan(
    ...     {
    ...         "embeddings": ["minilm-static"],
    ...         "wordlists": ["religion", "gender"],
    ...         "models": ["default"],
    ...     }
    ... )
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
    rope: float | None = None
    standard_rope: float = STANDARD_ROPE
    repeats: str = "once"
    bad_lines: str = "skip"
    vocab: str | None = None
    key: str | None = None
    allow_pickle: bool = False
    common_words: bool = False

    def __len__(self) -> int:
        sources = len(self.embeddings) * len(self.wordlists) * len(self.controls) + len(
            self.distances
        )
        return sources * len(self.models) * len(self.seeds)


def load_plan(plan: Source | SweepPlan) -> SweepPlan:
    """Read and check the plan of a sweep.

    A plan is a TOML file::

        schema = 1
        embeddings = ["minilm-static", "vectors/glove.txt"]  # with every word list
        wordlists = ["religion", "gender", "my-list.toml"]
        controls = ["2022", "none"]  # optional; "default" is each list's own
        distances = ["tables/religion.csv"]  # tables that are there already
        models = ["default", "crossed"]  # optional; "default" by default

        [settings]  # all optional
        draws = 1000  # kept draws per chain
        tune = 1000
        chains = 4
        seed = 1  # or a list: every cell once for each
        prob = 0.89
        rope = 0.02  # in cosine distance; by default each cell's own
        standard_rope = 0.1  # in standard deviations of neutral pairs
        repeats = "once"  # or "keep": repeated rows of a table
        bad_lines = "skip"  # or "error": lines of vectors that cannot be read
        vocab = "vocab.txt"  # the words of a matrix of vectors
        key = "{word}_NOUN"  # the form in which files write their words
        allow_pickle = false
        common_words = false  # true: keep the words that all embeddings have

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
        If a key or name is unknown, or a value is out of range. A path without a file fails its own
        cells when the sweep runs.

    Examples
    --------
    >>> plan = load_plan(
    ...     {
    ...         "embeddings": ["minilm-static"],
    ...         "wordlists": ["religion", "gender"],
    ...         "models": ["crossed", "hierarchical"],
    ...         "settings": {"seed": 3},
    ...     }
    ... )
    >>> len(plan), plan.controls, plan.seeds
    (4, ('default',), (3,))
    """
    if isinstance(plan, SweepPlan):
        return plan
    if isinstance(plan, Mapping):
        raw, where, folder, name = {"schema": _SCHEMA, **plan}, "plan", Path.cwd(), "plan"
    else:
        path = Path(
            checks.path(plan, "plan", "a SweepPlan, a mapping, or the path of a .toml file")
        )
        raw, where = files.read_toml(path), str(path)
        folder, name = path.resolve().parent, path.stem
    checks.known_keys(raw, _KEYS, where)
    checks.schema(raw, _SCHEMA, where)
    shipped = {
        "embeddings": [*list_embeddings(), *GENSIM_DATA],
        "wordlists": list_wordlists(),
        "controls": ["default", "none", *list_controls()],
        "distances": [],
        "models": list_models(),
    }
    lists: dict[str, Any] = {
        key: _entries(raw[key], names, folder, f"{where}, {key}")
        for key, names in shipped.items()
        if key in raw
    }
    if bool(lists.get("embeddings")) != bool(lists.get("wordlists")):
        raise InputError("expected embeddings and wordlists together", where=where)
    if not lists.get("embeddings") and not lists.get("distances"):
        valid = "embeddings and wordlists, or distances"
        raise InputError("expected tables to fit, got none", where=where, valid=valid)
    if "controls" in lists and not lists.get("wordlists"):
        problem = "expected a word list to add them to, got none"
        raise InputError(problem, where=f"{where}, controls")
    at = f"{where}, settings"
    settings = dict(checks.table(raw.get("settings", {}), at))
    checks.known_keys(settings, ("seed", *_SETTINGS), at)
    seed = settings.pop("seed", 0)
    seeds = seed if isinstance(seed, list | tuple) else [seed]
    seeds = [checks.seed(each, f"{at}, seed") for each in seeds]
    lists["seeds"] = checks.distinct(seeds, "seed", f"{at}, seed")
    for key, value in settings.items():
        _SETTINGS[key](value, f"{at}, {key}")
    if settings.get("vocab"):
        settings["vocab"] = str(folder / os.path.expanduser(settings["vocab"]))
    return SweepPlan(name, folder, **lists, **settings)


def _entries(value: Any, names: list[str], folder: Path, where: str) -> tuple[str, ...]:
    """Return names that are shipped and paths; a path without a file fails its own cells alone."""
    listed = [value] if isinstance(value, str | os.PathLike) else value
    entries = checks.distinct([os.fspath(entry) for entry in listed], "entry", where)
    checks.labels(entries, where)
    for entry in entries:
        looks_like_path = os.sep in entry or bool(Path(entry).suffix)
        if entry not in names and not looks_like_path and not (folder / entry).exists():
            raise checks.unknown(entry, ["a path", *names], where)
    return entries


def _one_of(*valid: Any) -> Callable[[Any, str], Any]:
    return lambda value, where: checks.choice(value, valid, where)


_SETTINGS: dict[str, Callable[[Any, str], Any]] = {
    **dict.fromkeys(("draws", "tune", "chains"), checks.count),
    "prob": checks.probability,
    **dict.fromkeys(("rope", "standard_rope"), checks.positive),
    "repeats": _one_of("once", "keep"),
    "bad_lines": _one_of("skip", "error"),
    **dict.fromkeys(("vocab", "key"), checks.text),
    **dict.fromkeys(("allow_pickle", "common_words"), _one_of(True, False)),
}
"""What each setting must be; beside them is `seed`, one or several."""


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


def group_cells(plan: SweepPlan, progress: bool | None = None) -> list[CellGroup]:
    """Return the cells of a plan in its order, by the file that their tables come from."""

    def located(entry: str, names: Collection[str]) -> str:
        return entry if entry in names else str(plan.folder / os.path.expanduser(entry))

    lists = {}
    for wordlist, controls in itertools.product(plan.wordlists, plan.controls):
        words, known = located(wordlist, list_wordlists()), ("none", *list_controls())
        chosen = None if controls == "default" else located(controls, known)
        lists[wordlist, controls] = or_message(load_wordlist, words, chosen)
    models = {name: or_message(load_model, located(name, list_models())) for name in plan.models}
    embeddings = (*list_embeddings(), *GENSIM_DATA)
    sources = [("embedding", entry, located(entry, embeddings)) for entry in plan.embeddings]
    sources += [("distances", entry, located(entry, ())) for entry in plan.distances]
    digests = []
    hashing = ticking("hashing inputs", len(sources), progress, long_steps=True)
    with hashing as tick, ThreadPoolExecutor(4) as pool:
        for digest in pool.map(digest_of, [location for _, _, location in sources]):
            digests.append(digest)
            tick(1)
    settings = {name: getattr(plan, name) for name in (*SETTINGS, *READING)}
    if plan.common_words:  # then every cell depends on all embeddings
        settings["common_words"] = digests[: len(plan.embeddings)]
    groups = []
    for (source, entry, location), digest in zip(sources, digests, strict=True):
        cells = []
        of_source = lists if source == "embedding" else {(None, None): None}
        each = itertools.product(of_source.items(), models.items(), plan.seeds)
        for ((wordlist, controls), words), (model, spec), seed in each:
            labels = dict.fromkeys(LABELS) | {source: entry}
            labels |= {"wordlist": wordlist, "controls": controls, "model": model, "seed": seed}
            inputs = [digest, *(getattr(of, "sha256", None) for of in (words, spec))]
            identity = [__version__, labels, inputs, settings]
            named = hashlib.sha256(json.dumps(labels, sort_keys=True).encode()).digest()
            fit_seed = checks.derived_seed(seed, *np.frombuffer(named, dtype="<u4").tolist())
            key = files.sha256_of(json.dumps(identity, sort_keys=True))[:16]
            cells.append(SweepCell(labels, words, spec, key, fit_seed))
        groups.append(CellGroup(source, location, tuple(cells)))
    return groups


def or_message(make: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Return what is made, or the message of an error, which belongs to the cells that need it."""
    try:
        return make(*arguments, **options)
    except Exception as error:
        return describe_error(error)


def digest_of(location: str) -> dict[str, str] | None:
    """Return the SHA-256 of an input, and of files that belong to it.

    None where it cannot be read.
    """
    if location in list_embeddings():
        return {location: files.sha256_file(files.data_dir("embeddings") / location / "MODEL.toml")}
    if location in GENSIM_DATA:
        return {location: "gensim-data"}  # a published collection does not change under its name
    path = files.split_member(Path(location))[0]
    arrays = path.parent.glob(f"{glob.escape(path.name)}.*.npy")  # of gensim's pickles
    inside = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    try:
        return {
            str(file.relative_to(path.parent)): files.sha256_file(file)
            for file in (*sorted(inside), *sorted(arrays))
        }
    except (OSError, BayesbiasError):  # its cells fail, and no others
        return None
