"""Vectors of two or more corpora, compared pair by pair: the fits, and their tables.

Each pair of a word and an attribute has one distance in each corpus. A linear combination of these
distances is one number for each pair: the second minus the first, or a slope over ordered corpora.
The model ``change`` fits it, so that what a word or an attribute has in all corpora cancels.

Distances of one corpus may scatter more than those of another, as where models of 50 and of 300
dimensions are compared. So each change is fitted a second time, to distances divided by the SD of
the pairs in their corpus (`sds_of_pairs`). That is a change of units: nothing depends on the scale
of a corpus, and no SD has to be estimated by a model whose priors know one scale.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias.core import InputError, checks, some
from bayesbias.core.conventions import PROB, ROPE, STANDARD_ROPE
from bayesbias.core.progress import ticking
from bayesbias.inference import estimates as rows
from bayesbias.inference.fitting import fit, model_for
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.view import View
from bayesbias.models.spec import GROUPS_MODEL, ModelSpec, load_model, parse_model
from bayesbias.studies.common import ManyFits, stacked, with_ends
from bayesbias.tables.distances import distance_table
from bayesbias.tables.joining import JoinedTables, join_tables
from bayesbias.tables.pair_table import PairTable, holds_pairs
from bayesbias.tables.reading import as_pair_table
from bayesbias.wordlists.listfile import load_wordlist

FAR = 0.1  # by which mean distances differ where training or dimensions do
TIMES = 2  # by which SDs of pairs differ then; those of few neutral words are uncertain
_NUMBERS = ["mean", "sd", "hpdi_low", "hpdi_high", "mcse_mean", "mcse_sd", "mcse_low", "mcse_high"]


@dataclass(frozen=True, eq=False)
class Change:
    """One change between corpora.

    Attributes
    ----------
    fit : BiasFit
        Of the change times `scale`.
    weights : mapping of str to float
        Of the distances in each corpus, or of these in SDs; they sum to zero.
    scale : float
        ``sqrt(2 / sum((weights / unit) ** 2))`` with the unit of each corpus: one for the
        difference of two corpora in distances. With it the noise of a slope, or of a change in SDs,
        is as large as that of a difference in distances, for which the priors were made.
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
class CorpusComparison(ManyFits):
    """Vectors of two or more corpora; made by `bayesbias.compare` with ``kind="corpora"``.

    Attributes
    ----------
    corpora : Mapping of str to BiasFit
        The fit of the distances in each corpus, on the pairs that all corpora have.
    changes : Mapping of str to Change
        From each corpus to each later one, or the slope over all of them.
    in_sds : Mapping of str to Change
        The same, of distances in SDs of the pairs of each corpus. Empty if one table is a multiple
        of another, or pairs do not differ.
    sds : Mapping of str to float
        The SD of the pairs of each corpus; see `sds_of_pairs`.
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
    MACHINERY = ManyFits.MACHINERY | {"has_slope", "reported", "scales_differ", "table_draws"}

    corpora: Mapping[str, BiasFit]
    changes: Mapping[str, Change]
    in_sds: Mapping[str, Change]
    sds: Mapping[str, float]
    provenance: Mapping[str, Any]

    def contrasts(
        self,
        prob: float = PROB,
        rope: float = ROPE,
        estimand: str | None = None,
        level: str | None = None,
        *,
        detail: bool = False,
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
        detail : bool
            Whether to return all columns of `bayesbias.inference.estimates`, also standard
            deviations and Monte Carlo errors.

        Returns
        -------
        DataFrame
            ``change, level, name, contrast, estimand, mean, hpdi_low, hpdi_high, p_below_zero,
            p_in_rope, verdict``, and ``first, last`` with ``_low`` and ``_high``: the contrast in
            the first and in the last corpus, each from its own fit.
        """
        frame = self._compared(False, prob, rope, estimand, level)
        return frame if detail else rows.without_detail(frame)

    def standardized(
        self,
        prob: float = PROB,
        rope: float = STANDARD_ROPE,
        estimand: str | None = None,
        level: str | None = None,
    ) -> pd.DataFrame:
        """Estimate how far each contrast changed, in SDs of the pairs of each corpus.

        Report it where distances scatter more in one corpus than in another. Parameters and columns
        are those of `contrasts` with ``detail``, here all in SDs.
        """
        return self._compared(True, prob, rope, estimand, level)

    def _compared(self, in_sds: bool, prob: float, rope: float, *asked: str | None) -> pd.DataFrame:
        frames = {}
        for name, change in (self.in_sds if in_sds else self.changes).items():
            near = checks.positive(rope, "rope") / change.steps
            own = change.fit.contrast_rows(prob, near * change.scale, *asked)
            first, last = (self._level(end, in_sds, prob, rope, *asked) for end in change.ends)
            own = divided(own, change.scale).assign(rope=near)
            frames[name] = with_ends(own, first=first, last=last)
        return stacked(frames, "change")

    def _level(
        self, corpus: str, in_sds: bool, prob: float, rope: float, *asked: str | None
    ) -> pd.DataFrame:
        by = self.sds[corpus] if in_sds else 1.0
        own = self.corpora[corpus].contrast_rows(prob, rope * by, *asked)
        return divided(own, by).assign(rope=rope)

    def means(self, prob: float = PROB, estimand: str = "population") -> pd.DataFrame:
        """Estimate how far the mean distances of each kind of attributes changed, overall.

        Returns
        -------
        DataFrame
            ``change``, the group (``connection``), ``estimand``, the columns of
            `bayesbias.inference.estimates`, and ``n_pairs``.
        """
        frames = {
            n: divided(x.fit.summary(prob, estimand), x.scale) for n, x in self.changes.items()
        }
        return stacked(frames, "change")

    def by_corpus(
        self, prob: float = PROB, rope: float = ROPE, standardized: bool = False
    ) -> pd.DataFrame:
        """Return the contrasts of each corpus for new words, also in SDs of its pairs.

        ``corpus``, then as `BiasFit.contrasts` with ``detail``, but for ``d``.
        """
        frames = {n: self._level(n, standardized, prob, rope, "population") for n in self.corpora}
        return stacked(frames, "corpus")

    @property
    def has_slope(self) -> bool:
        """Whether the change is a slope per step over ordered corpora."""
        return next(iter(self.changes.values())).steps > 1

    def reported(self, view: View) -> tuple[pd.DataFrame, str]:
        """Return the changes for new words and their unit: SDs where the scales differ."""
        if self.in_sds and self.scales_differ:
            return self.standardized(view.prob, view.standard_rope, "population"), " SDs"
        return self.contrasts(view.prob, view.rope, "population", detail=True), ""

    def rope_in_words(self, view: View) -> str:
        """Return the ROPE as a methods paragraph has it, with its unit."""
        frame, unit = self.reported(view)
        neutral = any("neutral" in set(fit.table["connection"]) for fit in self.fits().values())
        size = f"±{frame['rope'].iloc[0]:.2g}{unit}{' per step' * self.has_slope}"
        if not unit:
            return size
        return f"{size} (the SD of {'neutral ' * neutral}pairs in each corpus)"

    def table_draws(self, table: str, **arguments: Any) -> xr.DataArray:
        """Return the draws behind every row of `contrasts`, as `BiasFit.table_draws` does."""
        known = {"contrasts": self.changes, "standardized": self.in_sds}
        parts = []
        for name, change in known[checks.choice(table, known, "table")].items():
            own = change.fit.table_draws("contrasts", **arguments)
            parts.append(rows.relabeled(own / change.scale, change=[name] * own.sizes["row"]))
        return rows.joined_rows(parts)

    def fits(self) -> dict[str, BiasFit]:
        """Return every fit by its name, those of the changes first; in SDs if scales differ."""
        changes = {name: each.fit for name, each in self.changes.items()}
        in_sds = {f"{name}, in SDs": each.fit for name, each in self.in_sds.items()}
        return {**changes, **(in_sds if self.scales_differ else {}), **self.corpora}

    @property
    def scales_differ(self) -> bool:
        """Whether means or SDs of distances are so far apart that SDs are reported."""
        means = [each.table["distance"].mean() for each in self.corpora.values()]
        return bool(np.ptp(means) > FAR or max(self.sds.values()) > TIMES * min(self.sds.values()))


def compare_corpora(
    corpora: Mapping[str, Any],
    wordlist: Any,
    model: Any,
    level_model: Any,
    ordered: bool,
    progress: bool | None,
    settings: dict[str, Any],
) -> CorpusComparison:
    """Compare vectors of two or more corpora; see `bayesbias.compare`."""
    sources = two_or_more(corpora, "corpora", "corpus")
    names, joined = list(sources), joined_sources(sources, wordlist)
    frame, about = joined.frame, joined.about
    level_spec = load_model(model_for(frame) if level_model is None else level_model)
    spec = model_of_changes(frame) if model == "change" else changes_model(model)
    weights = weights_of(names, ordered)
    distances, sds = joined.distances, sds_of_pairs(joined)
    changes, in_sds = dict[str, Change](), dict[str, Change]()
    units = [(changes, distances, np.ones(len(names)))]
    if sds.min() > 1e-6:
        units.append((in_sds, (distances - distances.mean()) / sds, sds.to_numpy()))
    with ticking("fitting", len(names) + len(units) * len(weights), progress) as tick:
        fits = fit_each(joined, level_spec, settings, tick)
        for (found, values, unit), (name, own) in itertools.product(units, weights.items()):
            scale = float(np.sqrt(2 / np.sum((own / unit) ** 2)))
            change = frame.assign(change=scale * (values.to_numpy() @ own))
            by_kind = change.groupby(spec.results.group, observed=True)["change"]
            apart = by_kind.agg(np.ptp) < 1e-6  # as far as single precision tells
            if apart.any() and found is in_sds:  # one table is a multiple of another
                in_sds.clear()
                break
            if apart.any():
                kinds = "" if apart.all() else f" of {some(apart.index[apart])}"
                raise InputError(
                    f"expected changes that differ, got one number for all pairs{kinds}",
                    where=name,
                    hint="leave these attributes out, or train each corpus by itself"
                    if kinds
                    else "is one file named twice?",
                )
            called = {"name": f"{about['name']}, {name}", "repeats": "keep"}
            found[name] = Change(
                fit(PairTable(change, joined.coverage, called), spec, **settings),
                dict(zip(names, own.tolist(), strict=True)),
                scale,
                len(names) - 1 if ordered else 1,
            )
            tick(1)
    made = made_with(spec, next(iter(fits.values())))
    return CorpusComparison(fits, changes, in_sds, sds.to_dict(), {**about, **made})


def sds_of_pairs(joined: JoinedTables) -> pd.Series:
    """Return the SD of single pairs in each table, around the means of their classes.

    Of neutral pairs or, without them, of the pairs of all connections, each with the same weight.
    """
    frame, neutral = joined.frame, joined.frame["connection"] == "neutral"
    rows = neutral if neutral.any() else ~neutral
    cells = [frame.loc[rows, name] for name in ("protected_class", "attribute_class")]
    values, kinds = joined.distances[rows], frame.loc[rows, "connection"]
    apart = values - values.groupby(cells, observed=True).transform("mean")
    return np.sqrt((apart**2).groupby(kinds, observed=True).mean().mean())


def divided(frame: pd.DataFrame, by: float) -> pd.DataFrame:
    """Return estimates in another unit."""
    return frame.assign(**(frame[_NUMBERS] / by))


def made_with(spec: ModelSpec, level_fit: BiasFit) -> dict[str, Any]:
    """Return what the provenance of a comparison says of its models and sampler."""
    return {
        "model": {"name": spec.name, "sha256": spec.sha256},
        "level_model": {"name": level_fit.spec.name, "sha256": level_fit.spec.sha256},
        "sampler": level_fit.provenance["sampler"],
        "versions": level_fit.provenance["versions"],
    }


def changes_model(model: Any) -> ModelSpec:
    """Load a model of changes.

    Raises
    ------
    InputError
        If the model has another outcome.
    """
    spec = load_model(model)
    if spec.outcome != "change":
        raise InputError(
            "expected a model with the outcome 'change'", where=spec.label, found=spec.outcome
        )
    return spec


def model_of_changes(frame: pd.DataFrame) -> ModelSpec:
    """Return the model of changes for a table: `change`, or `groups` centered on no change."""
    if (name := model_for(frame)) != GROUPS_MODEL:
        return load_model("change")
    text = load_model(name).text
    for old, new in (
        ('name = "groups"', 'name = "groups of changes"'),
        ("mu = 1\n", "mu = 0\n"),
        ('outcome = "distance"', 'outcome = "change"'),
    ):
        text = text.replace(old, new, 1)
    return parse_model(text.encode(), name)


def weights_of(names: list[str], ordered: bool) -> dict[str, np.ndarray]:
    """Return the weights of each corpus in every change: in pairs, or least squares per step.

    Examples
    --------
    >>> weights_of(["a", "b", "c"], ordered=True)
    {'a to c, per step': array([-0.5,  0. ,  0.5])}
    """
    steps = np.arange(len(names)) - (len(names) - 1) / 2
    if ordered and len(names) > 2:
        return {f"{names[0]} to {names[-1]}, per step": steps / np.sum(steps**2)}
    own = dict(zip(names, np.eye(len(names)), strict=True))
    return {f"{a} to {b}": own[b] - own[a] for a, b in itertools.combinations(names, 2)}


# -- shared with replicates ------------------------------------------------------------------------


def two_or_more(given: Any, argument: str, noun: str, taken: str = "") -> dict[str, Any]:
    """Return vectors or results by name; refuse fewer than two, and a name that is taken."""
    names = checks.names(given, noun) if isinstance(given, Mapping) else []
    if len(names) < 2 or taken in names:
        but = f", none of them {taken!r}" if taken else ""
        raise InputError(
            f"{argument}: expected two or more by name{but}",
            found=names or type(given).__name__,
            hint='such as {"1930s": ..., "1980s": ...}',
        )
    return dict(zip(names, given.values(), strict=True))


def joined_sources(sources: Mapping[str, Any], wordlist: Any) -> JoinedTables:
    """Return the pairs that all sources have: tables of distances, or vectors with a word list."""
    words = None if wordlist is None else load_wordlist(wordlist)
    return join_tables(
        {
            name: as_pair_table(source)
            if words is None or holds_pairs(source)
            else distance_table(source, words)
            for name, source in sources.items()
        }
    )


def fit_each(
    joined: JoinedTables, spec: ModelSpec, settings: dict[str, Any], tick: Any
) -> dict[str, BiasFit]:
    """Fit each table, on the pairs that all have, with one seed."""
    settings["seed"] = checks.seed_or_new(settings.get("seed"))
    fits = {}
    for name in joined.tables:
        fits[name] = fit(joined.table(name), spec, **settings)
        tick(1)
    return fits
