"""Vectors of two or more corpora, compared pair by pair: the fits, and their tables.

Each pair of a word and an attribute has one distance in each corpus. A linear combination of these
distances is one number for each pair: the second minus the first, or a slope over ordered corpora.
The model ``change`` fits it, so that what a word or an attribute has in all corpora cancels.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.core import checks, sections
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import some
from bayesbias.core.progress import ticking
from bayesbias.inference import estimates as rows
from bayesbias.inference.fitting import fit, model_for
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.view import PROB, ROPE
from bayesbias.models.loading import GROUPS_MODEL, load_model, parse_model
from bayesbias.models.spec import ModelSpec
from bayesbias.tables.coverage import Coverage
from bayesbias.tables.distances import distance_table
from bayesbias.tables.pair_table import COLUMNS, PairTable, holds_pairs, keep_common
from bayesbias.tables.reading import as_pair_table
from bayesbias.wordlists.listfile import load_wordlist

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["CorpusComparison", "compare_corpora"]

_PAIR = ["protected_word", "attribute"]
_NUMBERS = ("mean", "sd", "hpdi_low", "hpdi_high", "mcse_mean", "mcse_sd", "mcse_low", "mcse_high")


@dataclass(frozen=True, eq=False)
class Change:
    """One change between corpora.

    Attributes
    ----------
    fit : BiasFit
        Of the change times `scale`.
    weights : mapping of str to float
        Of the distances in each corpus; they sum to zero.
    scale : float
        ``sqrt(2 / sum(weights ** 2))``: one for the difference of two corpora. With it the noise of
        a slope is as large as that of a difference, for which the priors were made.
    steps : int
        From the first to the last corpus: one, or those of a slope. The ROPE is for all of them.
    """

    fit: BiasFit
    weights: Mapping[str, float]
    scale: float
    steps: int

    @property
    def ends(self) -> tuple[str, str]:
        """The first and the last corpus."""
        used = [name for name, weight in self.weights.items() if weight]
        return (used[0], used[-1]) if self.weights[used[0]] < 0 else (used[-1], used[0])


@dataclass(frozen=True, eq=False, repr=False)
class CorpusComparison(sections.Result):
    """Vectors of two or more corpora; made by `bayesbias.compare` with ``kind="corpora"``.

    Attributes
    ----------
    corpora : Mapping of str to BiasFit
        The fit of the distances in each corpus, on the pairs that all corpora have.
    changes : Mapping of str to Change
        Of each other corpus from the first, or the slope over all of them.
    provenance : Mapping
        Models, tables, coverage, and the words that each corpus lacks (``missing``).

    Examples
    --------
    >>> import bayesbias as bb
    >>> settings = {"seed": 1, "draws": 100, "tune": 100, "chains": 2}
    >>> later = bb.load_embedding(
    ...     "minilm-static", bb.load_wordlist("religion").words, postprocess="abtt"
    ... )
    >>> found = bb.compare(
    ...     {"1930s": "minilm-static", "1980s": later}, "religion", kind="corpora", **settings
    ... )
    >>> list(found.changes)
    ['1930s to 1980s']
    """

    study = "corpora"  # whose sections show it, see bayesbias.output

    corpora: Mapping[str, BiasFit]
    changes: Mapping[str, Change]
    provenance: Mapping[str, Any]

    def contrasts(
        self,
        prob: float = PROB,
        rope: float = ROPE,
        estimand: str | None = None,
        level: str | None = None,
    ) -> pd.DataFrame:
        """Estimate how far each contrast changed.

        Parameters
        ----------
        prob : float in (0, 1)
            Probability of the highest posterior density interval.
        rope : float > 0
            Half-width of the region of practical equivalence, for the change from the first to the
            last corpus; of a slope per step it is divided by the number of steps.
        estimand : {"population", "listed_words"}, optional
            By default both.
        level : str, optional
            ``overall``, ``class``, ``attribute_set`` or ``word``; by default all.

        Returns
        -------
        DataFrame
            ``change, level, name, contrast, estimand``, the columns of
            `bayesbias.inference.estimates`, and ``first, last`` with ``_low`` and ``_high``: the
            contrast in the first and in the last corpus, each from its own fit.
        """
        keys = ["level", "name", "contrast", "estimand"]
        frames = []
        for name, change in self.changes.items():
            near = checks.positive(rope, "rope") / change.steps
            frame = change.fit.contrasts(prob, near * change.scale, estimand, level)
            frame = _divided(frame, change.scale).assign(rope=near)
            for when, corpus in zip(("first", "last"), change.ends, strict=True):
                own = self.corpora[corpus].contrasts(prob, rope, estimand, level)
                ends = pd.DataFrame({**own[keys], **rows.beside(own, when)})
                frame = frame.merge(ends, how="left", on=keys)
            frame.insert(0, "change", name)
            frames.append(frame)
        return pd.concat(frames, ignore_index=True)

    def means(self, prob: float = PROB, estimand: str = "population") -> pd.DataFrame:
        """Estimate how far the mean distances of each kind of attributes changed, overall.

        Returns
        -------
        DataFrame
            ``change``, the group (``connection``), ``estimand``, the columns of
            `bayesbias.inference.estimates`, and ``n_pairs``.
        """
        frames = {
            name: _divided(change.fit.summary(prob, estimand), change.scale)
            for name, change in self.changes.items()
        }
        return pd.concat(frames, names=["change"]).reset_index("change").reset_index(drop=True)

    def by_corpus(
        self, prob: float = PROB, rope: float = ROPE, level: str | None = None
    ) -> pd.DataFrame:
        """Return the contrasts of each corpus for new words.

        ``corpus``, then as `BiasFit.contrasts`.
        """
        frames = {
            name: each.contrasts(prob, rope, "population", level)
            for name, each in self.corpora.items()
        }
        return pd.concat(frames, names=["corpus"]).reset_index("corpus").reset_index(drop=True)

    def draws_of(self, table: str, **arguments: Any) -> xr.DataArray:
        """Return the draws behind every row of `contrasts`, as `BiasFit.draws_of` does."""
        checks.choice(table, ["contrasts"], "table of draws")
        parts = []
        for name, change in self.changes.items():
            own = change.fit.draws_of("contrasts", **arguments)
            parts.append(rows.relabelled(own / change.scale, change=[name] * own.sizes["row"]))
        return rows.joined_rows(parts)

    def diagnostics(self) -> dict[str, Any]:
        """Return `BiasFit.diagnostics` of every fit, and ``ok`` and ``problems`` of all of them."""
        fits = {name: each.diagnostics() for name, each in self.fits().items()}
        problems = [f"{name}: {text}" for name, each in fits.items() for text in each["problems"]]
        return {"ok": not problems, "problems": problems, "fits": fits}

    def fits(self) -> dict[str, BiasFit]:
        """Return every fit by its name, those of the changes first."""
        return {**{name: each.fit for name, each in self.changes.items()}, **self.corpora}


def _divided(frame: pd.DataFrame, scale: float) -> pd.DataFrame:
    """Return estimates of a change from those of the change times a number."""
    return frame.assign(**{name: frame[name] / scale for name in _NUMBERS})


def compare_corpora(
    corpora: Mapping[str, Any],
    wordlist: Any = None,
    model: str | os.PathLike[str] | ModelSpec = "change",
    *,
    ordered: bool = False,
    level_model: str | os.PathLike[str] | ModelSpec | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> CorpusComparison:
    """Compare vectors of two or more corpora; see `bayesbias.compare`."""
    names = checks.names(corpora, "corpus") if isinstance(corpora, Mapping) else []
    if len(names) < 2:
        raise InputError(
            "corpora: expected two or more of vectors by name",
            found=names or type(corpora).__name__,
            hint='such as {"1930s": "1930s.vec", "1980s": "1980s.vec"}',
        )
    tables = tables_of(dict(zip(names, corpora.values(), strict=True)), wordlist)
    frame, distances, coverage, missing = join_corpora(tables)
    level_spec = load_model(model_for(frame) if level_model is None else level_model)
    spec = model_of_changes(frame) if model == "change" else load_model(model)
    if spec.outcome != "change":
        raise InputError(
            "expected a model with the outcome 'change'", where=spec.label, found=spec.outcome
        )
    if settings.get("seed") is None:
        settings["seed"] = int(np.random.SeedSequence().generate_state(1)[0])
    weights = weights_of(names, ordered)
    listed = next(iter(tables.values())).provenance
    subject = str(listed.get("wordlist", {}).get("name", "")) or "pairs"
    with ticking("fitting", len(names) + len(weights), progress) as tick:
        fits = {}
        for name, table in tables.items():
            own = frame.assign(distance=distances[name])
            fits[name] = fit(PairTable(own, coverage, table.provenance), level_spec, **settings)
            tick(1)
        changes = {}
        for name, own_weights in weights.items():
            scale = float(np.sqrt(2 / np.sum(own_weights**2)))
            change = frame.assign(change=scale * (distances.to_numpy() @ own_weights))
            if np.ptp(change["change"]) < 1e-6:  # as far as single precision tells
                raise InputError(
                    "corpora: expected different vectors, got the same changes of all distances",
                    where=name,
                    hint="is one file named twice?",
                )
            about = {"name": f"{subject}, {name}", "repeats": "keep"}
            changes[name] = Change(
                fit(PairTable(change, coverage, about), spec, **settings),
                dict(zip(names, own_weights.tolist(), strict=True)),
                scale,
                len(names) - 1 if ordered else 1,
            )
            tick(1)
    first = next(iter(fits.values()))
    provenance = {
        "name": subject,
        "tables": {name: dict(table.provenance) for name, table in tables.items()},
        "model": {"name": spec.name, "sha256": spec.sha256},
        "level_model": {"name": level_spec.name, "sha256": level_spec.sha256},
        "sampler": first.provenance["sampler"],
        "versions": first.provenance["versions"],
        "coverage": coverage.as_dict(),
        "missing": missing,
    }
    return CorpusComparison(fits, changes, provenance)


def model_of_changes(frame: pd.DataFrame) -> ModelSpec:
    """Return the model of changes for a table: `change`, or `groups` centered on no change."""
    if (name := model_for(frame)) != GROUPS_MODEL:
        return load_model("change")
    text = load_model(name).text
    for old, new in (('name = "groups"', 'name = "groups of changes"'), ("mu = 1\n", "mu = 0\n")):
        text = text.replace(old, new, 1)
    text = text.replace('outcome = "distance"', 'outcome = "change"', 1)
    return parse_model(text.encode(), name)


def weights_of(names: list[str], ordered: bool) -> dict[str, np.ndarray]:
    """Return the weights of each corpus in every change: from the first, or least squares per step.

    Examples
    --------
    >>> weights_of(["a", "b", "c"], ordered=True)
    {'a to c, per step': array([-0.5,  0. ,  0.5])}
    """
    steps = np.arange(len(names)) - (len(names) - 1) / 2
    if ordered and len(names) > 2:
        return {f"{names[0]} to {names[-1]}, per step": steps / np.sum(steps**2)}
    own = np.eye(len(names))
    return {f"{names[0]} to {names[k]}": own[k] - own[0] for k in range(1, len(names))}


def tables_of(sources: Mapping[str, Any], wordlist: Any) -> dict[str, PairTable]:
    """Return the table of distances of each source: itself, or made of vectors and a word list."""
    words = None if wordlist is None else load_wordlist(wordlist)
    return {
        name: as_pair_table(source)
        if words is None or holds_pairs(source)
        else distance_table(source, words)
        for name, source in sources.items()
    }


def join_corpora(
    tables: Mapping[str, PairTable],
) -> tuple[pd.DataFrame, pd.DataFrame, Coverage, dict[str, list[str]]]:
    """Keep the pairs that all corpora have.

    Returns
    -------
    frame : DataFrame
        The labels of the pairs, and the first table's own columns.
    distances : DataFrame
        One column for each corpus.
    coverage : Coverage
        Listed words, and those that all corpora have.
    missing : dict of str to list of str
        The words that each corpus lacks and another has.
    """
    kept = dict(zip(tables, keep_common(list(tables.values())), strict=True))
    keyed = {
        name: table.frame.drop_duplicates(_PAIR).astype(dict.fromkeys(_PAIR, str)).set_index(_PAIR)
        for name, table in kept.items()
    }
    first_name, first = next(iter(keyed.items()))
    common = first.index
    for other in keyed.values():
        common = common[common.isin(other.index)]
    for name, other in keyed.items():
        for column in ("connection", "protected_class"):
            both = (own.loc[common, column].astype(str) for own in (first, other))
            if not np.array_equal(*both):
                raise InputError(
                    f"corpora: expected one {column.replace('_', ' ')} of each pair, got others",
                    where=name,
                    hint=f"make its table with the same word list as that of {first_name}",
                )
    distances = pd.DataFrame({name: own.loc[common, "distance"] for name, own in keyed.items()})
    frame = first.loc[common].reset_index()
    own = [column for column in frame if column not in COLUMNS]
    frame = frame[[*COLUMNS[:-1], *own]]
    frame["connection"] = frame["connection"].cat.remove_unused_categories()
    there = {
        name: dict.fromkeys(map(str, [*table.frame["protected_word"], *table.frame["attribute"]]))
        for name, table in tables.items()
    }
    lacking = [word for table in tables.values() for word in table.coverage.missing]
    every = dict.fromkeys([*(word for words in there.values() for word in words), *lacking])
    missing = {name: [w for w in every if w not in words] for name, words in there.items()}
    notes = [
        f"{len(words)} of {len(every)} words are not in {name} and left out: {some(words, 8)}"
        for name, words in missing.items()
        if words
    ]
    coverage = replace(kept[first_name].coverage, notes=tuple(notes))
    return frame, distances.reset_index(drop=True), coverage, missing
