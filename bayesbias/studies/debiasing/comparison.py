"""Debiased tables compared with the original, pair by pair: the fits, and what they say.

The tables are joined pair by pair and the *differences* are modeled, so that what they share, such
as words that are close to everything, cancels.

These questions are kept apart:

- did distances change (`Comparison.changes`), and did the gaps between connections
  (`Comparison.contrasts`)?
- what is left of the gaps afterwards (the columns ``after`` and ``verdict_after``), and of
  everything else
  (`Comparison.geometry`)? Vectors that became noise have no gap either.
- what does the method force, whatever the vectors were (`Construction`)?
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias.core import FitError, InputError, checks
from bayesbias.core.conventions import PROB, ROPE
from bayesbias.core.progress import ticking
from bayesbias.inference import estimands, estimates as rows
from bayesbias.inference.fitting import fit
from bayesbias.inference.measured import Measured
from bayesbias.inference.posterior import BiasFit
from bayesbias.models.spec import DEFAULT_MODEL, ModelSpec, load_model
from bayesbias.studies.common import KEYS, ManyFits, stacked, with_ends
from bayesbias.studies.corpora.comparing import changes_model, compare_corpora, made_with
from bayesbias.studies.debiasing.geometry import (
    EXACT,
    Construction,
    Geometry,
    find_construction,
    find_geometry,
)
from bayesbias.studies.debiasing.limits import OF_INTEREST, measured_method
from bayesbias.tables.covariates import with_covariates_known
from bayesbias.tables.coverage import Coverage
from bayesbias.tables.joining import JOINED, common_pairs, join_pairs, pairs_by_level
from bayesbias.tables.pair_table import PairTable, notes_of_vectors
from bayesbias.tables.reading import as_pair_table
from bayesbias.wordlists.wordlist import SHARED

# Columns of `Comparison.contrasts`, and what they are called in a ranking.
_RANKED = {
    "after": "gap", "after_low": "gap_low", "after_high": "gap_high", "verdict_after": "verdict_after",
    "mean": "change", "hpdi_low": "change_low", "hpdi_high": "change_high",
    "by_construction": "by_construction",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Method:
    """One debiased table beside the original.

    Attributes
    ----------
    name : str
        The method.
    pairs : DataFrame
        As `join_pairs` returns them, only pairs that every compared table has.
    account : Mapping
        Of the join; see `join_pairs`.
    change : BiasFit or None
        The fit of ``change``; None if every connection is exact.
    exact : Mapping of str to float
        Connections in which every pair changed by the same number. They are not fitted.
    after : BiasFit
        The fit of the debiased distances.
    construction : Construction
    """

    name: str
    pairs: pd.DataFrame
    account: Mapping[str, Any]
    change: BiasFit | None
    exact: Mapping[str, float]
    after: BiasFit
    construction: Construction

    @functools.cached_property
    def geometry(self) -> Geometry:
        """What is left of the geometry of control words."""
        return find_geometry(self.pairs)

    def levels(self, estimand: str, level: str | None = None) -> dict[str, str]:
        """Return the levels of changes below overall, or the one asked for, and their columns."""
        found = (self.change or self.after).spec.results.levels
        return {
            name: about.by
            for name, about in found.items()
            if level in (None, name) and (about.population or estimand == "listed_words")
        }

    def draws(self, estimand: str, level: str | None) -> xr.DataArray:
        """Return draws of the mean change.

        Labeled ``method, level, name, connection, estimand``.
        """
        levels = self.levels(estimand, level)
        names = [name for name in ("overall", *levels) if level in (None, name)]
        drawn: dict[tuple[str, ...], np.ndarray] = {}
        if self.change is not None:
            for own in names:
                means = self.change.table_draws("means", level=own, estimand=estimand)
                keys = rows.keys_of_rows(means, "level", "name", "connection")
                drawn |= dict(zip(keys, np.moveaxis(means.to_numpy(), -1, 0), strict=True))
        found = [key for key in pairs_by_level(self.pairs, levels) if key[0] in names]
        columns = [
            drawn[k] if k in drawn else np.full(self.after.shape, self.exact[k[2]]) for k in found
        ]
        values = np.stack(columns, axis=-1)
        draws = rows.keyed_draws(values, found, "connection", estimand)
        return rows.relabeled(draws, method=[self.name] * len(found))

    def __repr__(self) -> str:
        return f"Method({self.name!r}, {len(self.pairs):,} pairs)"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ManyFits):
    """One original and one or more debiased tables; made by `compare`.

    Attributes
    ----------
    original : BiasFit
        The fit of the original distances, on the joined pairs.
    methods : Mapping of str to Method
        Methods to apply to each table.
    provenance : Mapping

    Examples
    --------
    >>> import bayesbias as bb
    >>> before = bb.distance_table("minilm-static", "religion", controls="none")
    >>> after = before.frame.assign(
    ...     distance=(1 + before.frame["distance"]) / 2
    ... )  # every cosine halved
    >>> found = bb.compare(before, after, draws=100, tune=100, chains=2, seed=1)
    >>> found.changes().columns.tolist()[:3]
    ['method', 'level', 'name']
    """

    study = "debiasing"  # whose sections show it, see bayesbias.output
    MACHINERY = ManyFits.MACHINERY | {"chosen_methods", "geometry_of", "has_gap", "table_draws"}

    original: BiasFit
    methods: Mapping[str, Method]
    provenance: Mapping[str, Any]

    def changes(
        self,
        prob: float = PROB,
        rope: float = ROPE,
        estimand: str | None = None,
        method: str | None = None,
        level: str | None = None,
    ) -> pd.DataFrame:
        """Estimate the change of the mean distance (debiased minus original) of each connection.

        Parameters
        ----------
        prob : float in (0, 1)
            Probability of the highest posterior density interval.
        rope : float > 0
            Half-width of the region of practical equivalence, in cosine distance.
        estimand : {"population", "listed_words"}, optional
            By default both.
        method : str, optional
            By default all.
        level : str, optional
            ``overall``, or a level of both models. By default all.

        Returns
        -------
        DataFrame
            ``method, level, name, connection, estimand``, the columns of
            `bayesbias.inference.estimates`, ``n_pairs`` and ``exact``: known without inference,
            since all pairs changed by one number. Positive: farther than before.
        """
        frame = _described(self.table_draws("changes", estimand, method, level), prob, rope)
        counts = {
            (name, *key): n
            for name, item in self.methods.items()
            for key, n in pairs_by_level(item.pairs, item.levels("listed_words")).items()
        }
        keys = list(frame[["method", "level", "name", "connection"]].itertuples(index=False))
        return frame.assign(
            n_pairs=[counts[key] for key in keys],
            exact=[key.connection in self.methods[key.method].exact for key in keys],
        )

    def contrasts(
        self,
        prob: float = PROB,
        rope: float = ROPE,
        estimand: str | None = None,
        method: str | None = None,
        level: str | None = None,
        *,
        detail: bool = False,
    ) -> pd.DataFrame:
        """Estimate the changes of the gaps between connections, with the gaps before and after.

        Parameters
        ----------
        prob, rope, estimand, method, level
            As in `changes`.
        detail : bool
            Whether to return all columns of `bayesbias.inference.estimates`, also standard
            deviations and Monte Carlo errors.

        Returns
        -------
        DataFrame
            ``method, level, name, contrast, estimand``, and of the change ``mean, hpdi_low,
            hpdi_high, p_below_zero, p_in_rope, verdict`` (positive ``associated - different``: a
            gap that made stereotypes closer became smaller). Then ``before, before_low,
            before_high, after, after_low, after_high`` of the gap itself, from the fits of either
            table, ``verdict_after``, and ``by_construction``: how much of the gap after the method
            forces (``no, partly, wholly``). It is ``no`` for all but ``associated - different``
            overall, since within one class or word that contrast compares different attributes.

        Raises
        ------
        FitError
            If the tables have no two connections that are contrasted with each other.
        """
        before = self.original.contrast_rows(prob, rope, estimand, level)
        parts = []
        for name in self.chosen_methods(method):
            item = self.methods[name]
            if item.change and not item.exact:  # as mixtures, with less Monte Carlo error
                own = item.change.contrast_rows(prob, rope, estimand, level)
                own.insert(0, "method", name)
            else:
                own = _described(self.table_draws("contrasts", estimand, name, level), prob, rope)
            after = item.after.contrast_rows(prob, rope, estimand, level)
            said = after[[*KEYS, "verdict"]]
            own = with_ends(own, before=before, after=after)
            parts.append(own.merge(said, how="left", on=KEYS, suffixes=("", "_after")))
        frame = pd.concat(parts, ignore_index=True)
        tied = (frame["contrast"] == OF_INTEREST) & (frame["level"] == "overall")
        forced = {name: item.construction.forced for name, item in self.methods.items()}
        frame = frame.assign(by_construction=frame["method"].map(forced).where(tied, "no"))
        return frame if detail else rows.without_detail(frame)

    def ranking(
        self, prob: float = PROB, rope: float = ROPE, estimand: str = "population"
    ) -> pd.DataFrame:
        """Rank the methods by what they leave of the gap associated - different.

        A method that destroys the vectors closes every gap, so it comes last and has no rank.
        To compare two methods pair by pair, compare the one with the other.

        Returns
        -------
        DataFrame
            Best first: ``rank`` (missing if the geometry of control words is destroyed), ``method,
            estimand, gap, gap_low, gap_high`` (after debiasing), ``verdict_after, change,
            change_low, change_high, control_rms`` (root mean square change of the pairs with
            control words), ``geometry, controls, controls_low, controls_high`` (what is left of the
            geometry, and the lower of its two correlations; see `geometry`), ``by_construction``.

        Raises
        ------
        FitError
            If the tables have no associated and different attributes.
        """
        gaps = self.contrasts(prob, rope, estimand, level="overall", detail=True)
        gaps = gaps[gaps["contrast"] == OF_INTEREST].set_index("method")
        if gaps.empty:
            raise FitError(f"the tables do not contain {OF_INTEREST}, by which methods are ranked")
        order = self.provenance["order"]
        geometries = [self.geometry_of(name, prob) for name in order]
        ranked = [not each.destroyed for each in geometries]  # these come first
        ranks = [at + 1 if each else None for at, each in enumerate(ranked)]
        about = {
            "control_rms": pd.array([each.rms for each in geometries], "Float64"),
            "geometry": [each.left for each in geometries],
        }
        for end, name in (("", "value"), ("_low", "low"), ("_high", "high")):
            about[f"controls{end}"] = [getattr(each.least, name) for each in geometries]
        frame = gaps.loc[order, list(_RANKED)].rename(columns=_RANKED).reset_index()
        frame.insert(0, "rank", pd.array(ranks, "Int64"))
        frame.insert(2, "estimand", estimand)
        return frame.assign(**about)

    def geometry_of(self, method: str, prob: float = PROB) -> Geometry:
        """Return what a method leaves of the geometry of control words."""
        item = self.methods[method]
        return item.geometry if prob == PROB else find_geometry(item.pairs, prob)

    def geometry(self, prob: float = PROB) -> pd.DataFrame:
        """Describe what each method leaves of the distances to control words.

        Parameters
        ----------
        prob : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        DataFrame
            ``method, left`` (see `left_of`), ``n_words, n_attributes, n_pairs``; ``correlation``,
            ``relations`` and ``slope`` of distances after on those before (see `Geometry`), each
            with its ``_low`` and ``_high``; ``rms`` and, to compare with, ``rms_unrelated``;
            ``sd_before, sd_after, largest, prob``. Missing without control words.
        """
        return pd.DataFrame(
            {"method": name, **self.geometry_of(name, prob).as_row(), "prob": prob}
            for name in self.methods
        )

    def table_draws(
        self,
        table: str,
        estimand: str | None = None,
        method: str | None = None,
        level: str | None = None,
    ) -> xr.DataArray:
        """Return the draws behind every row of a table of results.

        Parameters
        ----------
        table : {"changes", "contrasts"}
            The method that gives the table.
        estimand, method, level : str, optional
            As of that method.

        Returns
        -------
        xarray.DataArray
            Dimensions ``chain, draw, row``, rows in the order of the table; the coordinates of
            `row` are the columns that label them (such as ``method, level, name, contrast,
            estimand``).
        """
        checks.choice(table, ("changes", "contrasts"), "table")
        asked = [*estimands.ESTIMANDS]
        if estimand is not None:
            asked = [checks.choice(estimand, asked, "estimand")]
        if level is not None:
            checks.choice(level, ["overall", *self.original.spec.results.levels], "level")
        chosen = [self.methods[name] for name in self.chosen_methods(method)]
        draws = rows.joined_rows([item.draws(which, level) for item in chosen for which in asked])
        if table == "contrasts":
            draws = rows.contrast_draws(draws)
            if not draws.sizes["row"]:
                problem = "the tables have no two connections that are contrasted with each other"
                raise FitError(problem)
        draws.name = table
        return draws

    def slopes(self, prob: float = PROB) -> pd.DataFrame:
        """Return the slopes of the changes on covariates: `BiasFit.slopes` of each method.

        Raises
        ------
        FitError
            If the model of changes has no slopes, or no change had to be fitted.
        """
        fits = {name: item.change for name, item in self.methods.items() if item.change is not None}
        if not fits:
            raise FitError("every change is known exactly, so that there are no slopes")
        return stacked({name: each.slopes(prob) for name, each in fits.items()}, "method")

    @property
    def has_gap(self) -> bool:
        """Whether the tables have associated and different attributes."""
        return {"associated", "different"} <= set(self.original.table["connection"].astype(str))

    def fits(self) -> dict[str, BiasFit]:
        """Return every fit by its name."""
        out = {"original": self.original}
        for name, item in self.methods.items():
            out |= {f"{name}, change": item.change} if item.change is not None else {}
            out[f"{name}, after"] = item.after
        return out

    def measured(self, prob: float) -> dict[str, Measured]:
        """Return what limits on each method are compared with."""
        return {name: measured_method(self, name, prob) for name in self.methods}

    def chosen_methods(self, method: str | None = None) -> list[str]:
        """Return the names of all methods, or the one asked for."""
        if method is None:
            return list(self.methods)
        return [checks.choice(method, self.methods, "method")]


def _described(draws: xr.DataArray, prob: float, rope: float) -> pd.DataFrame:
    """Return `estimates`; where all draws are one number there is no uncertainty."""
    frame = rows.estimates(draws, prob, rope)
    flat = rows.joined_chains(draws.to_numpy())
    known = np.ptp(flat, axis=0) == 0
    frame.loc[known, ["ess_bulk", "r_hat"]] = float(len(flat)), 1.0
    frame.loc[known, ["sd", *(name for name in frame if name.startswith("mcse_"))]] = 0.0
    return frame


# -- fitting --------------------------------------------------------------------------------------


def compare(
    original: Any,
    debiased: Any = None,
    model: checks.FilePath | ModelSpec = "change",
    *,
    kind: str | None = None,
    ordered: bool = False,
    level_model: checks.FilePath | ModelSpec = DEFAULT_MODEL,
    progress: bool | None = None,
    **settings: Any,
) -> Any:
    """Compare vectors pair by pair: debiased with original, or of two corpora.

    Parameters
    ----------
    original : PairTable, DataFrame or path; mapping for corpora
        Distances before; see `load_distances`. For corpora a mapping of names to vectors (see
        `load_embedding`), or to tables of distances.
    debiased : PairTable, DataFrame or path, or a mapping of names to them; word list for corpora
        Distances after. Only pairs that all tables have are compared.
    model : str, path or ModelSpec
        For the differences; its outcome must be ``change``. A covariate that it has slopes on is a
        column of the original.
    kind : {"debiasing", "corpora"}, optional
        What is compared. By default corpora if `original` is a mapping of names to vectors or
        tables.
    ordered : bool
        Whether three or more corpora are in order of time, with equal steps. Then the result is the
        slope per step. By default the corpora are compared in pairs.
    level_model : str, path or ModelSpec
        For the distances of each table, which give the differences before and after.
    progress : bool, optional
        A bar on the terminal; by default if standard error is one.
    **settings
        ``draws, tune, chains, seed, engine, cores`` as in `fit`.

    Returns
    -------
    Comparison or CorpusComparison

    Raises
    ------
    InputError
        If tables cannot be joined (see `join_pairs`) or the model has another outcome.

    Examples
    --------
    >>> import bayesbias as bb
    >>> before = bb.distance_table("minilm-static", "religion", controls="2021")
    >>> vectors = bb.hard_debias("minilm-static", "religion").embedding
    >>> after = bb.distance_table(vectors, "religion", controls="2021")
    >>> found = bb.compare(before, after, draws=100, tune=100, chains=2, seed=1)
    >>> found.methods["debiased"].construction.flags
    ('equalized', 'controls_moved')
    """
    if kind is None:
        named = isinstance(original, Mapping) and "protected_word" not in original
        kind = "corpora" if named else "debiasing"
    checks.choice(kind, ("debiasing", "corpora"), "kind")
    settings |= {"seed": checks.seed_or_new(settings.get("seed")), "pointwise": False}
    if kind == "corpora":
        level = None if level_model == DEFAULT_MODEL else level_model
        return compare_corpora(original, debiased, model, level, ordered, progress, settings)
    start = as_pair_table(original)
    spec, level_spec = changes_model(model), load_model(level_model)
    whole = _owned(start)
    if not len(whole):
        raise InputError(
            "expected stereotypes to compare, got attribute sets of no class",
            where="original",
            hint="compare them with kind='corpora' (--corpora), which compares groups",
        )
    if not isinstance(debiased, Mapping) or "protected_word" in debiased:
        debiased = {"debiased": debiased}
    names = checks.names(debiased, "method")
    if not names or "original" in names:
        problem = "debiased: expected tables by name, none of them 'original'"
        raise InputError(problem, found=list(names))
    tables = {
        name: _owned(as_pair_table(table))
        for name, table in zip(names, debiased.values(), strict=True)
    }
    notes = ["attribute sets of no class are left out of the comparison"] * (
        len(start) > len(whole)
    )
    joined, accounts = common_pairs(
        {name: join_pairs(whole, table, name) for name, table in tables.items()}
    )
    covariates = whole.provenance.get("covariates", {})
    before, methods = None, {}
    with ticking("fitting", 1 + 2 * len(tables), progress) as tick:
        for name, frame in joined.items():
            known = with_covariates_known(replace(whole, frame=frame), spec.covariates())
            pairs, account = known.frame, accounts[name]
            said = [note for note in known.coverage.notes if note not in whole.coverage.notes]
            of_vectors = [
                f"{name}: {note}"
                for note in notes_of_vectors(tables[name])
                if note not in notes_of_vectors(whole)
            ]
            account |= {
                "pairs": len(pairs),
                "notes": [*notes, *of_vectors, *said, *account["notes"]],
            }
            if before is None:
                before = _fit_distances(pairs, "original", known, level_spec, settings)
                tick(1)
            try:
                about = f"{name} against the original"
                change, exact = fit_changes(pairs, spec, settings, about, covariates)
                tick(1)
                after = _fit_distances(pairs, "debiased", tables[name], level_spec, settings)
                tick(1)
            except FitError as error:
                raise FitError(f"method {name!r}: {error}") from error
            found = find_construction(pairs)
            methods[name] = Method(name, pairs, account, change, exact, after, found)
    assert before is not None

    def left(name: str) -> tuple[bool, float]:
        """Return what orders the methods: those that destroyed the vectors come last."""
        means = methods[name].after.table_draws("means", level="overall")
        gaps = rows.contrast_draws(means, [("associated", "different")])
        gap = abs(float(gaps.to_numpy().mean())) if gaps.sizes["row"] else 0.0
        return methods[name].geometry.destroyed, gap

    fitted = {"original": before, **{name: item.after for name, item in methods.items()}}
    of_tables = {name: dict(each.provenance["table"]) for name, each in fitted.items()}
    provenance = {
        "original": str(of_tables["original"].get("name", "original")),
        "tables": of_tables,
        **made_with(spec, before),
        "order": sorted(methods, key=left),
    }
    return Comparison(before, methods, provenance)


def _owned(table: PairTable) -> PairTable:
    """Return a table without attribute sets that belong to no class."""
    frame = table.frame[table.frame["connection"] != SHARED].reset_index(drop=True)
    return replace(table, frame=frame)


def _fit_distances(
    pairs: pd.DataFrame,
    column: str,
    source: PairTable,
    spec: ModelSpec,
    settings: Mapping[str, Any],
) -> BiasFit:
    """Fit the distances before or after debiasing alone, with the table's own coverage."""
    table = pairs.assign(distance=pairs[column]).drop(columns=list(JOINED))
    return fit(PairTable(table, source.coverage, source.provenance), spec, **settings)


def fit_changes(
    pairs: pd.DataFrame,
    spec: ModelSpec,
    settings: Mapping[str, Any],
    name: str,
    covariates: Mapping[str, Any] | None = None,
) -> tuple[BiasFit | None, dict[str, float]]:
    """Fit the changes; return the fit, and the connections in which all changes are one number.

    These have nothing to infer, and a noise of zero has no posterior. They are left out of the fit.

    `covariates` is what the provenance of the original says of its covariates.
    """
    by_connection = pairs.groupby("connection", observed=True, sort=False)["change"]
    exact = {
        str(connection): 0.0 if abs(part.mean()) <= EXACT else float(part.mean())
        for connection, part in by_connection
        if np.ptp(part.to_numpy()) <= EXACT
    }
    rest = pairs[~pairs["connection"].isin(list(exact))].reset_index(drop=True)
    if rest.empty:
        return None, exact
    rest["connection"] = rest["connection"].cat.remove_unused_categories()
    about: dict[str, Any] = {"name": name, "repeats": "keep"}
    about |= {"covariates": dict(covariates)} if covariates else {}
    return fit(PairTable(rest, Coverage({}, {}), about), spec, **settings), exact
