"""BiasFit: what a fit found, and the questions one may ask of it."""

from __future__ import annotations

import copy
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.inference import answers, contrasts, reliability, sensitivity, slopes, standard
from bayesbias.inference.diagnostics import diagnose
from bayesbias.inference.effects import joined_draws
from bayesbias.inference.engine import Engine
from bayesbias.inference.estimands import ESTIMANDS, PROB, ROPE, STANDARD_ROPE
from bayesbias.inference.lately import Lately, kept_in
from bayesbias.inference.row_order import as_they_come, in_own_order
from bayesbias.inference.saving import write_fit
from bayesbias.inference.shown import text_of_fit
from bayesbias.inference.spreads import check_normal_noise
from bayesbias.models.design import Design
from bayesbias.models.spec import ModelSpec

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["BiasFit"]

_BYTES_A_ROW = 600  # of what a fit makes of its table: index arrays, the reduction, rows of results


@dataclass(frozen=True, eq=False, repr=False)
class BiasFit:
    """The posterior of one model on one table.

    Attributes
    ----------
    idata : xarray.DataTree
        Groups ``posterior``, ``sample_stats``, ``observed_data`` and, where the fit was asked for them (`pointwise`),
        ``log_likelihood``, ``posterior_predictive`` and ``prior_predictive``. Not to be written into: of a model with an
        exact reduction it holds the scales; effects are drawn where they are read, the same each time, and those of the
        last fits stay at hand (some 200 MB). ``idata.load()`` keeps them.
    table : pandas.DataFrame
        The rows that were fitted, in the order in which they came. What is sampled does not depend on it.
    spec : ModelSpec
    provenance : dict
        Names and SHA-256 of the inputs, coverage, seed, sampler, versions, timing.
    """

    study = "association"  # whose sections show it, see bayesbias.output

    idata: xr.DataTree
    table: pd.DataFrame
    spec: ModelSpec
    provenance: Mapping[str, Any]
    # Not part of what the fit is: a copy with another idata starts with none.
    _kept: dict[Any, Any] = field(default_factory=dict, init=False, compare=False)

    @functools.cached_property
    def _lately(self) -> Lately:
        return Lately(_BYTES_A_ROW * len(self.table))

    @property
    def design(self) -> Design:
        """The index arrays of the model on the table."""
        return self._lately.get("design", lambda: Design.of(self.spec, self.table))

    @property
    def engine(self) -> Engine:
        """What sampled it: NUTS, or the quick engine with its Pareto k and effective draws."""
        return Engine.of(self.provenance.get("sampler", {}))

    @property
    def _rows(self) -> tuple[Design, pd.DataFrame]:
        """The model on the rows, and the rows, in their own order: what is drawn does not depend on how they came."""
        return self._lately.get("rows", lambda: in_own_order(self.design, self.table))

    def draws(self) -> dict[str, np.ndarray]:
        """Return all posterior draws, chains joined.

        Returns
        -------
        dict of str to ndarray, shape (chains * draws, *shape of the parameter)
            To be read, not to be written into: they are those of the idata.
        """
        return joined_draws(self.idata["posterior"].dataset, self.spec.parameters)

    def summary(self, prob: float = PROB, estimand: str = "population") -> pd.DataFrame:
        """Mean of the outcome per connection (or whatever the model gives its results for).

        Parameters
        ----------
        prob : float in (0, 1)
            Probability of the highest posterior density interval.
        estimand : {"population", "listed_words"}
            Or one that the model declares.

        Returns
        -------
        DataFrame
            One row per connection: ``connection, estimand, mean, sd, hpdi_low, hpdi_high, prob, ess_bulk,
            r_hat, n_pairs``. Distances are in [0, 2].
        """
        return self.means("overall", prob, estimand).drop(columns=["level", "name"])

    def words(self, prob: float = PROB, estimand: str = "population") -> pd.DataFrame:
        """Mean distance per protected word and connection.

        Under ``population`` the attributes are new ones like those listed; the protected word is itself.
        Columns as in `summary`, with ``protected_word`` and ``protected_class`` in front, without ``n_pairs``.
        """
        frame = self.means("word", prob, estimand).drop(columns=["level", "n_pairs"])
        frame = frame.rename(columns={"name": "protected_word"})
        classes = contrasts.labels_by(self.table, "protected_word", "protected_class")
        frame.insert(1, "protected_class", [classes[word] for word in frame["protected_word"]])
        return frame

    def means(self, level: str, prob: float = PROB, estimand: str = "population") -> pd.DataFrame:
        """Mean of the outcome at one of the model's levels.

        Parameters
        ----------
        level : str
            ``overall``, or a level of the model: ``class`` and ``word`` unless its file says otherwise.
        prob : float in (0, 1)
        estimand : {"population", "listed_words"}
            Or one that the model declares.

        Returns
        -------
        DataFrame
            ``level, name, connection, estimand, mean, sd, hpdi_low, hpdi_high, prob, ess_bulk, r_hat, n_pairs``;
            the third column has the name of what the model gives results for.
        """
        return kept_with(
            self, ("means", level, estimand, prob), lambda: self._means_with_counts(level, prob, estimand)
        ).copy()

    def _means_with_counts(self, level: str, prob: float, estimand: str) -> pd.DataFrame:
        describe = functools.partial(contrasts.described, prob=prob)
        frame = self._asking.described(level, estimand, False, describe)
        if frame is None:
            raise contrasts.no_new_words(level, estimand)
        frame["n_pairs"] = contrasts.rows_per_label(self.table, self.spec.results, level, frame)
        return frame

    def shares(self, prob: float = PROB, group: str | None = None) -> pd.DataFrame:
        """Shares of the variance around the means: what the pairs have in common, and what is left.

        The variance of one new row is the sum of the variances of the effects it takes part in and of the
        noise; effects are put together by the columns they belong to (those that are no sample of more apart).

        Parameters
        ----------
        prob : float in (0, 1)
        group : str, optional
            One label of what the model gives results for (a connection), to look at its rows alone.

        Returns
        -------
        DataFrame
            ``source, mean, sd, hpdi_low, hpdi_high, prob, ess_bulk, r_hat``, in the order of the model, the
            source ``residual`` last. Means add up to one.

        Raises
        ------
        FitError
            For a model with Student-t noise, which need not have a variance.
        """
        check_normal_noise(self.spec, "shares of variance")
        return contrasts.described(self.draws_of("shares", group=group), prob)

    def reliability(
        self,
        words: int | Sequence[int] | None = None,
        attributes: int | Sequence[int] | None = None,
        prob: float = PROB,
    ) -> pd.DataFrame:
        """How reliable scores of so many words and attributes are: generalizability coefficients.

        A coefficient is the correlation between a score and the same score from other words and attributes like
        these: the share of its variance that is due to what is measured. It is computed in each draw from the spreads
        of the model. Spreads with a fixed prior, as of connections and lists, count as constants.

        Parameters
        ----------
        words, attributes : int or sequence of int, optional
            Protected words of each class, and stereotypes of each list; of several numbers each with each. By default
            those of the table (their harmonic mean, where classes or lists differ).
        prob : float in (0, 1)
            Probability of the interval.

        Returns
        -------
        DataFrame
            ``measure, words, attributes, coefficient, left_out, mean, sd, hpdi_low, hpdi_high, prob, ess_bulk, r_hat``.
            Coefficients lie from 0 to 1; `bayesbias.inference.reliability.MEASURES` says which scores and coefficients there are.
            `left_out` is empty, or a key of ``bayesbias.inference.reliability.LEFT_OUT`` that says why a model has no
            such coefficient; its numbers are then NaN.

        Raises
        ------
        InputError
            For numbers that are not whole or below 1.
        FitError
            For noise or effects that are not normal, and models that are not of words by attributes.

        Notes
        -----
        Cronbach, Gleser, Nanda & Rajaratnam (1972); Brennan (2001), *Generalizability Theory*. With one facet and a
        balanced table the relative coefficient is Cronbach's alpha. From little data coefficients come out too high rather
        than too low; see `bayesbias.inference.reliability`.

        Examples
        --------
        >>> import bayesbias as bb
        >>> table = bb.distance_table("minilm-static", "gender", controls=None)
        >>> result = bb.fit(table, "shared", seed=1, draws=200, pointwise=False)
        >>> frame = result.reliability(attributes=[5, 20]).set_index(["measure", "attributes", "coefficient"])
        >>> more, less = (frame.loc[("word", n, "relative"), "mean"] for n in (20, 5))
        >>> bool(0 < less < more < 1)
        True
        >>> frame.loc[("weat", 5, "absolute"), "left_out"]
        'no_classes'
        """
        draws = self.draws_of("reliability", words=words, attributes=attributes)
        return reliability.described_coefficients(draws, prob)

    def contrasts(
        self,
        prob: float = PROB,
        rope: float = ROPE,
        estimand: str | None = None,
        level: str | None = None,
    ) -> pd.DataFrame:
        """Differences between connections, overall, per protected class and per protected word.

        A negative ``associated - different`` says that words lie nearer to the stereotypes of their own
        class than to those of others.

        Parameters
        ----------
        prob : float in (0, 1)
        rope : float > 0
            Half-width of the region of practical equivalence around zero.
        estimand : {"population", "listed_words"}, optional
            Or one that the model declares. By default the first two, one after the other.
        level : str, optional
            ``overall`` or a level of the model; by default all.

        Returns
        -------
        DataFrame
            ``level, name, contrast, estimand, mean, sd, hpdi_low, hpdi_high, prob, ess_bulk, r_hat,
            p_below_zero, p_in_rope, rope``.
        """
        import pandas as pd

        rope = checks.positive(rope, "rope")
        frames = [
            kept_with(
                self,
                ("contrasts", own, which, prob, rope),
                functools.partial(self._contrasts_described, own, which, prob, rope),
            )
            for own, which in self._blocks(level, estimand)
        ]
        frames = [frame for frame in frames if frame is not None]
        if not frames:
            raise contrasts.no_contrasts(self.spec)
        # A copy, since concat hands on the memory of a single frame.
        return pd.concat(frames, ignore_index=True).copy()

    def _contrasts_described(
        self, level: str, estimand: str, prob: float, rope: float
    ) -> pd.DataFrame | None:
        with_rope = functools.partial(contrasts.described_with_rope, prob=prob, rope=rope)
        return self._asking.described(level, estimand, True, with_rope)

    def standardized(
        self,
        prob: float = PROB,
        rope: float = STANDARD_ROPE,
        estimand: str | None = None,
        level: str | None = None,
    ) -> pd.DataFrame:
        """Return the contrasts in standard deviations of single pairs, to compare one set of vectors with another.

        Each draw of a contrast is divided by the standard deviation of neutral pairs under the same draw: of a new
        pair, so that all random terms of the model and the noise are in it, but for those of classes (`total_sd`).
        Without neutral controls it
        is that of the pairs of the two connections, each counted once (Cohen's d with a pooled standard deviation).

        Parameters
        ----------
        prob : float in (0, 1)
        rope : float > 0
            Half-width of the region of practical equivalence, in standard deviations; by default `STANDARD_ROPE`.
        estimand, level : str, optional
            As in `contrasts`.

        Returns
        -------
        DataFrame
            The rows and columns of `contrasts`, with ``unit`` (which pairs the standard deviation is of) after the
            labels, and at the end ``superiority, superiority_low, superiority_high`` in (0, 1): mean and HPDI of
            `superiority`, missing for single new words and pairs.

        Raises
        ------
        FitError
            For a model with Student-t noise, which need not have a variance.

        Examples
        --------
        >>> import bayesbias as bb
        >>> result = bb.fit(bb.distance_table("minilm-static", "religion"), seed=1, draws=200, pointwise=False)
        >>> row = result.standardized(level="overall", estimand="population").iloc[0]
        >>> row["contrast"], row["unit"], bool(row["mean"] < 0), bool(row["superiority"] > 0.5)
        ('associated - different', 'sd of neutral pairs', True, True)
        """
        rope = checks.positive(rope, "rope")
        return kept_with(
            self,
            ("standardized", prob, rope, estimand, level),
            lambda: self._standardized(prob, rope, estimand, level),
        ).copy()

    def _standardized(
        self, prob: float, rope: float, estimand: str | None, level: str | None
    ) -> pd.DataFrame:
        import pandas as pd

        check_normal_noise(self.spec, "standardized contrasts")
        frames = []
        for own, which in self._blocks(level, estimand):
            parts = self._asking.to_divide(own, which)
            frames.append(standard.described_standard(self.design, self.table, *parts, prob, rope))
        if not any(map(len, frames)):
            raise contrasts.no_contrasts(self.spec)
        return pd.concat([frame for frame in frames if len(frame)], ignore_index=True)

    def superiority(
        self, prob: float = PROB, estimand: str | None = None, level: str | None = None
    ) -> pd.DataFrame:
        """Return how often a random pair of the first connection lies nearer than one of the second.

        Of normal pairs it is Phi(-difference / sqrt(var_1 + var_2)), with the variances that the model gives single
        pairs of either connection (McGraw & Wong 1992, Psychological Bulletin 111: 361-365). One half is chance. At
        the level of a word both pairs are its own; at that of a class they are pairs of two of its words.

        Parameters
        ----------
        prob : float in (0, 1)
        estimand, level : str, optional
            As in `contrasts`. Under either estimand pairs scatter around the mean as the model says.

        Returns
        -------
        DataFrame
            ``level, name, contrast, estimand, mean, sd, hpdi_low, hpdi_high, prob, ess_bulk, r_hat``.

        Raises
        ------
        InputError
            For single new words and pairs.
        FitError
            For a model with Student-t noise.

        Examples
        --------
        >>> import bayesbias as bb
        >>> result = bb.fit(bb.distance_table("minilm-static", "religion"), seed=1, draws=200, pointwise=False)
        >>> row = result.superiority(level="overall", estimand="population").iloc[0]
        >>> bool(0.5 < row["mean"] < 0.6)
        True
        """
        return contrasts.described(self._superiority_draws(level, estimand), prob)

    def prior_sensitivity(self, refit: bool | None = None) -> pd.DataFrame:
        """Say how far each main contrast moves where a prior is half or twice as wide, the others as they are.

        Parameters
        ----------
        refit : bool, optional
            Whether the collapsed model is fitted again where weights on the draws cannot be trusted; by default where
            that takes seconds, as for all usual tables.

        Returns
        -------
        DataFrame
            One row per prior, direction and contrast; see `bayesbias.inference.sensitivity.prior_sensitivity`. A
            ``shift_in_sd`` beyond one half is large.

        Raises
        ------
        FitError
            Where nothing is contrasted; of a single draw; where `refit` is asked for of a fit that was sampled pair by pair.
        """

        def make() -> pd.DataFrame:
            sampler = self.provenance.get("sampler", {})
            frame = sensitivity.prior_sensitivity(*self._rows, self.draws(), sampler, self._chains, refit)
            return as_they_come(frame, self.table, self.spec)

        return kept_with(self, ("prior_sensitivity", refit), make).copy()

    def new_words(self, prob: float = PROB) -> pd.DataFrame:
        """Return what a single new protected word may show, and how many of them go the other way.

        `contrasts` under ``population`` are means over new words; single words scatter around them.

        Parameters
        ----------
        prob : float in (0, 1)

        Returns
        -------
        DataFrame
            ``level, name, contrast``; ``mean, sd, hpdi_low, hpdi_high, prob, p_below_zero`` of the contrast of one new word, as
            `contrasts` gives it under ``one_new_word``; and ``opposite, opposite_low, opposite_high``: mean and HPDI of the share
            of new words whose contrast has another sign than the estimated mean over them, in [0, 1]. Overall and for each class.

        Raises
        ------
        FitError
            For a model that is not about pairs of words and attributes.

        Examples
        --------
        >>> import bayesbias as bb
        >>> result = bb.fit(bb.distance_table("minilm-static", "gender"), seed=1, draws=500, pointwise=False)
        >>> row = result.new_words().iloc[0]
        >>> bool(row["hpdi_low"] < row["mean"] < row["hpdi_high"]), bool(0 < row["opposite"] < 0.5)
        (True, True)
        """
        shares = contrasts.described(self.draws_of("new_words"), prob)
        hidden = ["estimand", "ess_bulk", "r_hat", "p_in_rope", "mcse_p_in_rope", "rope"]
        return (
            self.contrasts(prob, estimand="one_new_word")
            .drop(columns=hidden)
            .assign(**contrasts.beside(shares, "opposite"))
        )

    def slopes(self, prob: float = PROB) -> pd.DataFrame:
        """Return what covariates about words do to means and contrasts, of a model with slopes (`bayesbias.models.with_slopes`).

        Returns
        -------
        DataFrame
            ``covariate, level, name, of`` (a connection, or a contrast), ``mean, sd, hpdi_low, hpdi_high, prob, ess_bulk, r_hat,
            mcse_low, mcse_high, p_below_zero``: units of the outcome for one standard deviation of the covariate, on average over
            new words; ``per_unit, per_unit_low, per_unit_high``: for one unit of the covariate, of which `scale` are one standard
            deviation. Levels whose slopes are all those overall are left out.

        Raises
        ------
        FitError
            For a model without slopes.
        """
        return slopes.described_slopes(
            self._asking, self.provenance.get("table", {}).get("covariates", {}), prob
        )

    def parameters(self, prob: float = PROB) -> pd.DataFrame:
        """Every parameter of the model but the per-attribute ones.

        Returns
        -------
        DataFrame
            ``name, index`` (labels of an entry, joined by ``", "``), ``mean, sd, hpdi_low, hpdi_high, prob, ess_bulk, r_hat``.
        """
        return contrasts.described(self.draws_of("parameters"), prob)

    def draws_of(self, table: str, **arguments: Any) -> xr.DataArray:
        """Return the draws behind every row of a table of results.

        Parameters
        ----------
        table : str
            ``summary, words, means, contrasts, standardized, superiority, new_words, shares, reliability, slopes`` or
            ``parameters``: the method that gives the table.
        **arguments
            As of that method; `prob` and `rope` change no draw.

        Returns
        -------
        xarray.DataArray
            Dimensions ``chain, draw, row``, rows in the order of the table; the coordinates of `row` are the
            columns that label them (such as ``level, name, contrast, estimand``).

        Examples
        --------
        >>> import bayesbias as bb
        >>> result = bb.fit(bb.distance_table("minilm-static", "religion"), seed=1, draws=200, pointwise=False)
        >>> draws = result.draws_of("contrasts", level="overall", estimand="population")
        >>> draws.dims, draws.sizes["row"], str(draws["contrast"].values[0])
        (('chain', 'draw', 'row'), 5, 'associated - different')
        """
        pieces = (*self._rows, self.draws(), self._chains)
        posterior = self.idata["posterior"].to_dataset()
        makers: dict[str, Callable[..., xr.DataArray]] = {
            "summary": lambda estimand: contrasts.relabelled(
                self._means_at("overall", estimand), level=None, name=None
            ),
            "words": lambda estimand: contrasts.words_draws(self._means_at("word", estimand), self.table),
            "means": self._means_at,
            "contrasts": self._contrasts_draws,
            "standardized": self._standardized_draws,
            "superiority": self._superiority_draws,
            "new_words": lambda: self._asking.opposite(),
            "shares": functools.partial(contrasts.share_draws, *pieces),
            "reliability": functools.partial(reliability.reliability_draws, *pieces),
            "slopes": lambda: slopes.slope_draws(self._asking),
            "parameters": lambda: contrasts.parameter_draws(self.design, self.table, posterior),
        }
        return contrasts.draws_with(self, makers, table, arguments)

    def _contrasts_draws(self, level: str | None, estimand: str | None) -> xr.DataArray:
        parts = [
            self._asking.drawn(own, which, contrasted=True) for own, which in self._blocks(level, estimand)
        ]
        if not any(part.sizes["row"] for part in parts):
            raise contrasts.no_contrasts(self.spec)
        return contrasts.joined_rows(parts)

    def _standardized_draws(self, level: str | None, estimand: str | None) -> xr.DataArray:
        check_normal_noise(self.spec, "standardized contrasts")
        of = self._contrasts_draws(level, estimand)
        return standard.standardized_draws(self.design, self.table, self.draws(), of)

    def _superiority_draws(self, level: str | None, estimand: str | None) -> xr.DataArray:
        check_normal_noise(self.spec, "probabilities of superiority")
        of = self._contrasts_draws(level, estimand)
        return standard.superiority_draws(self.design, self.table, self.draws(), of)

    def diagnostics(self) -> dict[str, Any]:
        """Say whether the sampler can be believed.

        Returns
        -------
        dict
            ``divergences`` (count), ``max_r_hat``, ``min_ess_bulk`` over all parameters (of a collapsed fit without those per
            attribute, drawn exactly; None of too few chains or draws), ``ok``, and ``problems``: sentences, none if all is well.
        """
        # Attribute effects are drawn exactly given the scales, and mix as those do.
        exact = "attribute" if self.provenance.get("sampler", {}).get("method") == "collapsed" else None
        names = [name for name, about in self.spec.parameters.items() if exact not in about.dims]
        quick = self.engine.name == "quick"
        return copy.deepcopy(kept_with(self, "diagnostics", lambda: diagnose(self.idata, names, quick)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one netCDF file, whole or not at all; `load_fit` makes pointwise values and effects again.

        Another version of NumPy may draw other effects from the same scales.
        """
        write_fit(path, self.idata, self.table, self.spec, self.provenance)

    def __repr__(self) -> str:
        return text_of_fit(self)

    @property
    def _chains(self) -> int:
        return int(self.idata["posterior"].sizes["chain"])

    @property
    def _asking(self) -> answers.Asking:
        sampler = self.provenance.get("sampler", {})
        seed = self.design.stream(int(sampler.get("seed", 0)))
        collapsed = sampler.get("method") == "collapsed"
        return self._lately.get(
            "asking",
            lambda: answers.Asking(
                *self._rows, self.table, self.draws, self._scales, self._chains, seed, collapsed
            ),
        )

    def _scales(self) -> dict[str, np.ndarray]:
        names = [name for name, about in self.spec.parameters.items() if about.positive]
        return joined_draws(self.idata["posterior"].dataset, names)

    def _means_at(self, level: str, estimand: str) -> xr.DataArray:
        return self._asking.drawn(level, estimand, contrasted=False)

    def _blocks(self, level: str | None, estimand: str | None) -> list[tuple[str, str]]:
        if level is not None:
            contrasts.check_level(self.spec, level)
        levels = ("overall", *self.spec.results.levels) if level is None else (level,)
        return [(own, which) for which in (ESTIMANDS if estimand is None else (estimand,)) for own in levels]


def kept_with(fit: BiasFit, key: Any, make: Callable[[], Any]) -> Any:
    """Return what `make` gives, made once for each key and kept for as long as the fit lives, such as a LOO; in no file."""
    checks.instance(fit, BiasFit, "fit", "what bayesbias.fit returns")
    return kept_in(fit._kept, key, make)
