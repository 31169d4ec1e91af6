"""BiasFit: the posterior of a model on a table, and the questions one may ask of it."""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.core import FitError, InputError, checks, factors as crossing
from bayesbias.core.conventions import PROB, ROPE, STANDARD_ROPE, default_rope
from bayesbias.core.files import path_of
from bayesbias.core.result import Result
from bayesbias.core.sections import decimals
from bayesbias.inference import estimates, priors, reliability, slopes, variances
from bayesbias.inference.comparisons import (
    Names,
    Side,
    compared_quantity,
    groups_compared,
    read_comparison,
)
from bayesbias.inference.description import rows_of_fits
from bayesbias.inference.diagnostics import diagnose
from bayesbias.inference.estimands import (
    ESTIMANDS,
    PREDICTIVE,
    asked_quantities,
    check_asked,
    contrasts_of_means,
    has_word_effects,
    level_of_classes,
    no_contrasts,
)
from bayesbias.inference.estimates import Answer
from bayesbias.inference.likelihood import Reduction, collapse
from bayesbias.inference.linear import Mixtures, Quantities, mixtures_of
from bayesbias.inference.measured import Measured, measured_contrasts
from bayesbias.inference.prediction import ESTIMAND, NOUNS, new_units, predicted_means
from bayesbias.inference.sampling import Engine, Sampling, joined_draws, with_effects
from bayesbias.inference.storage import write_fit
from bayesbias.inference.view import View
from bayesbias.models.design import Arrays, Design
from bayesbias.models.spec import BETWEEN, ModelSpec

if TYPE_CHECKING:
    import xarray as xr

_MOST_SHOWN = 5  # rows where a fit is printed
_AT_ONCE = 2000  # of a table, described together; each takes some 100 kB meanwhile


@dataclass(frozen=True, eq=False)
class BiasFit(Result):
    """The posterior of one model on one table.

    Its tables of results are made of these answers, which modules of the package ask for. They are
    `MACHINERY`, as are `design`, `engine` and the like: the tab key shows the tables alone.

    =======================  =======================================================================
    method                   what it returns, and which draws that comes from
    =======================  =======================================================================
    ``parameter_draws``      all parameters: sampled SDs, and one draw of the effects given each
    ``scales_and_effects``   sampled SDs, and one draw of some effects given each: faster
    ``quantities``           means or contrasts as weights of effects, without draws
    ``answer``               quantities as mixtures of normals over the SDs; no effect is drawn
    ``answer_from_effects``  quantities from ``parameter_draws``
    ``describe``             rows of a table of results, from ``answer``
    ``table_draws``          draws of the rows of a table, from ``answer_from_effects``
    =======================  =======================================================================

    Attributes
    ----------
    sampled : xarray.DataTree
        Groups ``posterior``, ``sample_stats``, ``observed_data`` and, where the fit was asked for
        them (`pointwise`), ``log_likelihood``, ``posterior_predictive`` and ``prior_predictive``.
        Of a model with an exact reduction ``posterior`` has the SDs alone; `idata` has all.
    table : pandas.DataFrame
        The rows that were fitted, in the order in which they came. What is sampled does not depend
        on it.
    spec : ModelSpec
        The model.
    provenance : dict
        Names and SHA-256 of the inputs, coverage, seed, sampler, versions, timing. It records, and
        nothing is computed from its sampler.
    sampling : Sampling
        How it was sampled: method, engine, seed, numbers of draws.
    frequency : Mapping or None
        The tables that `bayesbias.studies.with_frequency` adds, as plain values.
    """

    MACHINERY = Result.MACHINERY | {
        "answer", "answer_from_effects", "contrast_levels", "contrast_rows", "crossed", "describe", "design", "engine", "factors",
        "first_contrasts", "order_of", "ordered", "parameter_draws", "quantities", "sampled", "sampling",
        "scales_and_effects", "shape", "stream", "table_draws", "table_name",
    }  # fmt: skip

    sampled: xr.DataTree
    table: pd.DataFrame
    spec: ModelSpec
    provenance: Mapping[str, Any]
    sampling: Sampling
    frequency: Mapping[str, Any] | None = None

    @property
    def study(self) -> str:
        """The study whose sections show the fit (`bayesbias.output`)."""
        return "groups" if self.spec.results.between else "association"

    @property
    def table_name(self) -> str:
        """The name of its table, such as ``gender in minilm-static``."""
        return str(self.provenance.get("table", {}).get("name", "a table"))

    @functools.cached_property
    def design(self) -> Design:
        """The model laid over the table."""
        return Design.of(self.spec, self.table)

    @functools.cached_property
    def idata(self) -> xr.DataTree:
        """The sampled groups with draws of all effects, for ArviZ."""
        import xarray as xr

        if self._reduced is None:
            return self.sampled
        out = self.sampled.copy()
        posterior = with_effects(out["posterior"].to_dataset(), self._reduced, self.stream)
        out["posterior"] = xr.DataTree(posterior)
        return out

    @property
    def engine(self) -> Engine:
        """The engine: NUTS, or importance sampling with Pareto k and effective draws."""
        return self.sampling.engine

    @functools.cached_property
    def factors(self) -> crossing.Factors:
        """The level that each class has of each factor; empty if the word list states no factors."""
        listed = self.provenance.get("table", {}).get("wordlist") or {}
        factors = listed.get("factors", {})
        if not factors or not level_of_classes(self.spec) or "protected_class" not in self.table:
            return {}
        return crossing.of_groups(factors, [*self.table["protected_class"].astype(str).unique()])

    @functools.cached_property
    def crossed(self) -> list[crossing.Contrast]:
        """What is compared between classes that cross factors."""
        if not self.factors:
            return []
        return crossing.contrasts_of(self.factors, self.design.shown["protected_class"])

    @property
    def contrast_levels(self) -> tuple[str, ...]:
        """The levels at which contrasts are given: those of the model, and of factors."""
        return (*self.spec.results.contrast_levels, *(crossing.LEVELS if self.crossed else ()))

    def fits(self) -> dict[str, BiasFit]:
        """Return the fits that a result rests on: here the fit itself."""
        return {"": self}

    def measured(self, prob: float) -> Mapping[str, Measured]:
        """Return what limits are compared with: contrasts and coverage."""
        return measured_contrasts(self, prob)

    def rows_in_words(self) -> str:
        """Say what was modeled."""
        return rows_of_fits(self.fits())

    def default_rope(self) -> float:
        """Return the default half-width of the ROPE: the smaller of 0.02 and 0.2 SDs of pairs.

        Where vectors lie close together, 0.02 in cosine distance is a large difference. The SD is
        the posterior mean of the one by which `standardized` divides the first contrast. A model
        with Student-t noise has the SD of the rows in its place. The default has two significant
        digits. It is 0.02 for outcomes other than distances, whose unit it does not know, and
        without contrasts.

        Examples
        --------
        >>> import bayesbias as bb
        >>> table = bb.distance_table("minilm-static", "religion")
        >>> bb.fit(table, seed=1, draws=200).default_rope()
        0.018
        """
        return float(self.cached("default_rope", self._default_rope))

    def _default_rope(self) -> float:
        if self.spec.outcome != "distance":
            return ROPE
        contrasts = self.quantities(None, "population", "contrast").keys
        contrasts = contrasts or self.quantities(None, "listed_words", "contrast").keys
        if not contrasts:
            return ROPE
        first = contrasts[0][2]
        if not variances.has_variance(self.spec):
            return default_rope(variances.sd_of_rows(self.design, first))
        sloped = [name for name in self.spec.mu if variances.has_fixed_slope(self.spec, name)]
        draws = self.scales_and_effects(sloped)
        _, sd = variances.pair_sd(self.design, draws, first)
        return default_rope(float(np.mean(sd)))

    def parameter_draws(self) -> Arrays:
        """Return all posterior draws of the parameters, chains joined, read-only.

        Returns
        -------
        dict of str to ndarray, shape (chains * draws, *shape of the parameter)
        """
        return joined_draws(self.idata["posterior"].dataset, self.spec.parameters)

    # -- tables ------------------------------------------------------------------------------------

    def summary(self, prob: float = PROB, estimand: str = "population") -> pd.DataFrame:
        """Estimate the mean of each connection, or other group; see `contrasts` for differences.

        Parameters
        ----------
        prob : float in (0, 1)
            Probability of the highest posterior density interval.
        estimand : {"population", "listed_words"}
            Or one that the model declares.

        Returns
        -------
        DataFrame
            One row per connection: ``connection, estimand``, the columns of
            `bayesbias.inference.estimates`, ``n_pairs``.
        """
        return self.means("overall", prob, estimand).drop(columns=["level", "name"])

    def words(self, prob: float = PROB, estimand: str = "population") -> pd.DataFrame:
        """Estimate the mean distance per protected word and connection.

        Under ``population`` the attributes are new ones like those listed; the protected word is
        itself. Columns as in `summary`, with ``protected_word`` and ``protected_class`` in front,
        without ``n_pairs``.
        """
        frame = self.means("word", prob, estimand).drop(columns=["level", "n_pairs"])
        frame = frame.rename(columns={"name": "protected_word"})
        classes = [self._class_of[word] for word in frame["protected_word"]]
        frame.insert(1, "protected_class", classes)
        return frame

    def means(self, level: str, prob: float = PROB, estimand: str = "population") -> pd.DataFrame:
        """Estimate the mean of the outcome at one of the model's levels.

        Parameters
        ----------
        level : str
            ``overall``, or a level of the model: ``class`` and ``word`` unless its file says
            otherwise.
        prob : float in (0, 1)
            Probability of the intervals.
        estimand : {"population", "listed_words"}
            Or one that the model declares. Under ``listed_words`` the column ``observed`` has the
            mean of the rows, which the model shrinks.

        Returns
        -------
        DataFrame
            ``level, name, connection, estimand``, the columns of `bayesbias.inference.estimates`,
            and ``n_pairs``. The third column has the name of what the model gives results for.
        """
        group = self.spec.results.group
        frame = self._frame(level, estimand, group, View(prob=prob))
        if frame is None:
            raise FitError(f"{estimand} is given overall and for classes of words, not by {level}")
        by = [group] if level == "overall" else [self.spec.results.levels[level].by, group]
        of_rows = [self.table[column].astype(str) for column in by]
        counts = self.table.groupby(of_rows, sort=False).size()
        labels = (
            frame[group] if level == "overall" else zip(frame["name"], frame[group], strict=True)
        )
        return frame.assign(n_pairs=[int(counts[key]) for key in labels])

    def contrasts(
        self,
        prob: float = PROB,
        rope: float | None = None,
        estimand: str | None = None,
        level: str | None = None,
        *,
        detail: bool = False,
    ) -> pd.DataFrame:
        """Estimate differences between connections, overall, by class and by word.

        A negative ``associated - different`` says that words are closer to the stereotypes of their
        own class than to those of others.

        Parameters
        ----------
        prob : float in (0, 1)
            Probability of the intervals.
        rope : float > 0, optional
            Half-width of the region of practical equivalence around zero. By default that of
            `default_rope`.
        estimand : {"population", "listed_words", "one_new_word", "one_new_pair"}, optional
            Or one that the model declares. By default the first two, one after the other. Under
            ``listed_words`` the column ``observed`` has the difference of the rows, which the model
            shrinks.
        level : str, optional
            ``overall`` or a level of the model; by default all. The model `groups` also has
            ``between`` (two groups) and ``others`` (a group and the mean of all others). Classes that
            state factors also have ``main``, ``simple`` and ``interaction``, which compare levels of
            these factors.
        detail : bool
            Whether to return all columns of `bayesbias.inference.estimates`, also standard
            deviations and Monte Carlo errors.

        Returns
        -------
        DataFrame
            ``level, name, contrast, estimand, mean, hpdi_low, hpdi_high, p_below_zero, p_in_rope``;
            ``d``, the mean in SDs of single pairs, as `standardized` has it with its interval (not
            with Student-t noise); and ``verdict``. The printed row *attributes of man* has the level
            ``attribute_set`` and the name ``man``. The printed row *career: men - women* has this level and
            the name ``career``; ``compare("men - women", on="career")`` returns it too.

        Examples
        --------
        >>> import bayesbias as bb
        >>> table = bb.distance_table("minilm-static", "religion")
        >>> result = bb.fit(table, seed=1, draws=200)
        >>> frame = result.contrasts(level="overall", estimand="population")
        >>> frame.columns.tolist()[4:]
        ['mean', 'hpdi_low', 'hpdi_high', 'p_below_zero', 'p_in_rope', 'd', 'verdict']
        """
        rope = self.default_rope() if rope is None else rope
        frame = self._contrasts(level, estimand, View(prob=prob, rope=rope), in_sd=True)
        return frame if detail else estimates.without_detail(frame)

    def compare(
        self,
        comparison: Names,
        on: Names | None = None,
        *,
        prob: float = PROB,
        rope: float | None = None,
        estimand: str | None = None,
        level: str | None = None,
        detail: bool = False,
    ) -> pd.DataFrame:
        """Estimate a difference between means that you name.

        Names are those that tables print: connections or attribute sets, classes and words. A class is
        all its words: the classes of the list `weat6b` are ``male_terms`` and ``female_terms``, and
        ``"woman - man"`` there compares two single words.

        Parameters
        ----------
        comparison : str or Mapping of str to float
            ``"women - men"``, ``"women - others"`` (each other name weighs the same), or a weight
            for each name, such as ``{"nurse": 0.5, "teacher": 0.5, "engineer": -1}``. Where classes
            cross factors, also levels of a factor; each of their classes weighs the same.
        on : str or Mapping of str to float, optional
            What they are compared on, such as ``"family"``, or ``"family - career"`` for the
            difference between two differences.
        prob : float in (0, 1)
            Probability of the intervals.
        rope : float > 0, optional
            Half-width of the region of practical equivalence around zero. By default that of
            `default_rope`.
        estimand : {"population", "listed_words"}, optional
            Or one that the model declares. By default both, one after the other.
        level : str, optional
            The level of the names of `comparison`, such as ``attribute_set``, where a class has the
            same name.
        detail : bool
            Whether to return all columns of `bayesbias.inference.estimates`.

        Returns
        -------
        DataFrame
            The columns of `contrasts`, with one row for each estimand. ``level`` is ``between`` or
            ``others`` of classes, ``word`` of single words. Its ``attrs`` have what
            `bayesbias.plot_contrasts` needs to draw it.

        Raises
        ------
        InputError
            If a name is unknown, weights do not add up to zero, or the table has no such rows.

        Examples
        --------
        >>> import bayesbias as bb
        >>> table = bb.distance_table("minilm-static", "religion")
        >>> result = bb.fit(table, seed=1, draws=200)
        >>> frame = result.compare("islam - judaism", on="different")
        >>> frame[["name", "contrast", "estimand"]].values.tolist()[0]
        ['islam - judaism', 'different', 'population']
        """
        sides = read_comparison(self.ordered, comparison, on, level, self.factors)
        estimands = self._estimands_of(sides, estimand)
        rope = self.default_rope() if rope is None else rope
        groups = groups_compared(self.ordered, sides)

        frames = []
        for which in estimands:
            asked = compared_quantity(self.ordered, sides, which)
            frames.append(
                self._described(asked, which, "contrast", prob, rope, in_sd=True, compared=groups)
            )

        frame = pd.concat(frames, ignore_index=True)
        if "d" in frame:
            frame["d"] = frame.pop("d")
        out = frame if detail else estimates.without_detail(frame)
        distance = self.spec.outcome == "distance"
        outcome = "cosine distance" if distance else self.spec.outcome.replace("_", " ")
        source = f"Model {self.spec.name} on {self.table_name}"
        out.attrs |= {"prob": prob, "rope": rope, "outcome": outcome, "source": source}
        return out

    def _estimands_of(self, sides: Sequence[Side], estimand: str | None) -> list[str]:
        """Return the estimands of a comparison; None stands for all."""
        results = self.spec.results
        estimands = list(ESTIMANDS)
        if estimand is not None:
            estimands = [checks.choice(estimand, (*ESTIMANDS, *results.estimands), "estimand")]
        for side in sides:
            about = results.levels.get(side.level)
            if about is not None and not about.population:
                self._asked_tables(side.level, estimand)  # refuses an estimand of new words
                estimands = ["listed_words"]
        return estimands

    def contrast_rows(
        self,
        prob: float = PROB,
        rope: float | None = None,
        estimand: str | None = None,
        level: str | None = None,
    ) -> pd.DataFrame:
        """Return `contrasts` with the columns of `bayesbias.inference.estimates`, without ``d``."""
        rope = self.default_rope() if rope is None else rope
        frame = self._contrasts(level, estimand, View(prob=prob, rope=rope))
        return frame.drop(columns="d", errors="ignore")

    def standardized(
        self,
        prob: float = PROB,
        rope: float = STANDARD_ROPE,
        estimand: str | None = None,
        level: str | None = None,
    ) -> pd.DataFrame:
        """Estimate the contrasts in SDs of single pairs, to compare sets of vectors.

        Each draw of a contrast is divided by the standard deviation of neutral pairs under the same
        draw (`total_sd`). Without neutral controls it is that of the pairs of the two connections
        (Cohen's d with a pooled standard deviation).

        Parameters
        ----------
        prob : float in (0, 1)
            Probability of the intervals.
        rope : float > 0
            Half-width of the region of practical equivalence, in standard deviations.
        estimand, level : str, optional
            As in `contrasts`.

        Returns
        -------
        DataFrame
            The rows and columns of `contrasts`, with ``unit`` (which pairs the standard deviation
            is of) after the labels, and at the end ``probability_of_superiority`` with ``_low`` and
            ``_high``: mean and HPDI, missing for single new words and pairs.

        Raises
        ------
        FitError
            If the noise of the model is Student-t, which need not have a variance.

        Examples
        --------
        >>> import bayesbias as bb
        >>> table = bb.distance_table("minilm-static", "religion")
        >>> result = bb.fit(table, seed=1, draws=200)
        >>> row = result.standardized(level="overall", estimand="population").iloc[0]
        >>> (
        ...     row["contrast"],
        ...     row["unit"],
        ...     bool(row["mean"] < 0),
        ...     bool(row["probability_of_superiority"] > 0.5),
        ... )
        ('associated - different', 'sd of neutral pairs', True, True)
        """
        return self._contrasts(
            level, estimand, View(prob=prob, standard_rope=rope), standardized=True
        )

    def probability_of_superiority(
        self, prob: float = PROB, estimand: str | None = None, level: str | None = None
    ) -> pd.DataFrame:
        """Estimate how often a pair of the first connection is closer than one of the second.

        For normal pairs it is Phi(-difference / sqrt(var_1 + var_2)), with the variances that the
        model gives single pairs of either connection (McGraw & Wong 1992, Psychological Bulletin
        111: 361-365). One half is chance. At the level of a word both pairs are its own; at that of
        a class they are pairs of two of its words.

        Parameters
        ----------
        prob : float in (0, 1)
            Probability of the intervals.
        estimand, level : str, optional
            As in `contrasts`.

        Returns
        -------
        DataFrame
            ``level, name, contrast, estimand``, and the columns of `bayesbias.inference.estimates`.

        Raises
        ------
        FitError
            If asked for single new words or pairs, or the model has Student-t noise.

        Examples
        --------
        >>> import bayesbias as bb
        >>> table = bb.distance_table("minilm-static", "religion")
        >>> result = bb.fit(table, seed=1, draws=200)
        >>> row = result.probability_of_superiority(level="overall", estimand="population").iloc[0]
        >>> bool(0.5 < row["mean"] < 0.6)
        True
        """
        draws = self.table_draws("probability_of_superiority", estimand=estimand, level=level)
        return estimates.estimates(draws, prob)

    def new_words(self, prob: float = PROB) -> pd.DataFrame:
        """Predict the contrast of one new word, and the share of new words of opposite sign.

        `contrasts` under ``population`` are means over new words; single words vary around them.

        Returns
        -------
        DataFrame
            ``level, name, contrast``; ``mean, sd, hpdi_low, hpdi_high, prob, p_below_zero`` of the
            contrast of one new word, as `contrasts` gives it under ``one_new_word``; and
            ``opposite, opposite_low, opposite_high``: mean and HPDI of the share of new words whose
            contrast has another sign than the mean over them. Overall and for each class.

        Raises
        ------
        FitError
            If the model is not about pairs of words and attributes.

        Examples
        --------
        >>> import bayesbias as bb
        >>> table = bb.distance_table("minilm-static", "gender")
        >>> result = bb.fit(table, seed=1, draws=500)
        >>> row = result.new_words().iloc[0]
        >>> bool(row["hpdi_low"] < row["mean"] < row["hpdi_high"]), bool(0 < row["opposite"] < 0.5)
        (True, True)
        """
        shares = estimates.estimates(self._draws_of_opposite(), prob)
        columns = ("level", "name", "contrast", *estimates.WITHOUT_ROPE)
        contrasts = self.contrast_rows(prob, estimand="one_new_word")
        frame = estimates.chosen_columns(contrasts, columns)
        return frame.assign(**estimates.beside(shares, "opposite"))

    def predict_mean(
        self, new: Any, prob: float = PROB, level: str | None = None, *, means: bool = False
    ) -> pd.DataFrame:
        """Predict the contrasts that a number of new words or attributes will show.

        It is the interval for what you would observe: the mean of the rows about m new units like
        the listed ones, minus another such mean. `contrasts` under ``population`` has the interval
        for infinitely many new words and attributes, and nothing observed.

        The interval includes

        - what is not known of the population: the posterior of the means;
        - that new units are m, not infinitely many: effects of m new units are drawn with the
          posterior SDs, by class or list where the model has SDs of its own for these;
        - that their rows are so many, not infinitely many: the noise of each row.

        The rest stays as in the fitted table: the units that are not new, with what is known of
        their effects; how many rows a unit has, and with which others; and the weights of classes
        and lists. Where units of a class differ in the others that they are paired with, so do new
        ones. Rows about new units share no noise with the fitted ones.

        Parameters
        ----------
        new : mapping of str to int, or to a mapping of str to int
            What is new, and how many of each class or list: ``{"words": 10}``, ``{"words": 10,
            "attributes": 20}``, or ``{"words": {"women": 10, "men": 12}}``. Beside ``words`` and
            ``attributes`` each unit of the model may be new, by its column: ``profession`` of
            ``sentiment``, ``protected_template`` of ``sentence``.
        prob : float in (0, 1)
            Probability of the intervals, which are the shortest.
        level : str, optional
            ``overall`` or a level of the model, as of `contrasts`; by default all but single words.
        means : bool
            Whether to predict means (of connections, or other groups of the model's results) and
            not contrasts.

        Returns
        -------
        DataFrame
            ``level, name, contrast, mean, sd, low, high``; of means the third column has the name
            of what the model gives results for.

        Raises
        ------
        InputError
            If `new` names no units of the table, or a number is not whole or below 1.
        FitError
            If noise is not normal, or the table has nothing to contrast.

        Examples
        --------
        >>> import bayesbias as bb
        >>> table = bb.distance_table("minilm-static", "gender")
        >>> result = bb.fit(table, seed=1, draws=200)
        >>> few, many = (result.predict_mean({"words": n}, level="overall") for n in (2, 50))
        >>> few.columns.tolist()
        ['level', 'name', 'contrast', 'mean', 'sd', 'low', 'high']
        >>> bool(few["sd"][0] > many["sd"][0])
        True
        """
        variances.check_normal_noise(self.spec, "prediction")
        design, results = self.design, self.spec.results
        nouns = {noun: unit for noun, unit in NOUNS.items() if unit in self.spec.units}
        others = [unit for unit in self.spec.units if unit not in nouns.values()]
        units = new_units(
            design, self.table, new, {**nouns, **dict(zip(others, others, strict=True))}
        )
        asked = predicted_means(design, units, self.scales_and_effects)
        column = results.group
        if not means:
            column = "contrast"
            asked = contrasts_of_means(design, asked, crossed=self.crossed)
        if not asked.keys:
            raise no_contrasts(self.spec)
        if level is not None:
            levels = dict.fromkeys(key[0] for key in asked.keys)
            asked = asked.at(checks.choice(level, levels, "level"))
        frame = self.describe(asked, ESTIMAND, column, prob)
        frame = frame.rename(columns={"hpdi_low": "low", "hpdi_high": "high"})
        return frame[["level", "name", column, "mean", "sd", "low", "high"]]

    def variance_partition(self, prob: float = PROB, group: str | None = None) -> pd.DataFrame:
        """Estimate the shares of effects and noise in the variance around the means.

        The variance of a new row is the sum of the variances of its effects and of the noise.
        Effects are put together by the columns they belong to.

        Parameters
        ----------
        prob : float in (0, 1)
            Probability of the intervals.
        group : str, optional
            One label of what the model gives results for (a connection), to look at its rows alone.

        Returns
        -------
        DataFrame
            ``source``, and the columns of `bayesbias.inference.estimates`; the source ``residual``
            is last. Means add up to one.

        Raises
        ------
        FitError
            If the noise of the model is Student-t.
        """
        return estimates.estimates(self.table_draws("variance_partition", group=group), prob)

    def reliability(
        self,
        words: int | Sequence[int] | None = None,
        attributes: int | Sequence[int] | None = None,
        prob: float = PROB,
    ) -> pd.DataFrame:
        """Estimate the reliability of scores (generalizability coefficients).

        A coefficient is the correlation between a score and the same score from other words and
        attributes like these. It is computed in each draw from the standard deviations of the
        model. See `bayesbias.inference.reliability`.

        Parameters
        ----------
        words, attributes : int or sequence of int, optional
            Protected words of each class, and stereotypes of each set; of several numbers each with
            each. By default those of the table (their harmonic mean, where classes or sets differ).
        prob : float in (0, 1)
            Probability of the interval.

        Returns
        -------
        DataFrame
            ``measure, words, attributes, coefficient, left_out``, and the columns of
            `bayesbias.inference.estimates`. Coefficients lie from 0 to 1. `left_out` is empty, or a
            key of ``bayesbias.inference.reliability.LEFT_OUT`` that says why a model has no such
            coefficient; its numbers are then NaN.

        Raises
        ------
        InputError
            If a number is not whole or below 1.
        FitError
            If noise or effects are not normal, or the model is not of words by attributes.

        Examples
        --------
        >>> import bayesbias as bb
        >>> table = bb.distance_table("minilm-static", "gender", controls=None)
        >>> result = bb.fit(table, "shared", seed=1, draws=200)
        >>> frame = result.reliability(attributes=[5, 20]).set_index(
        ...     ["measure", "attributes", "coefficient"]
        ... )
        >>> more, less = (frame.loc[("word", n, "relative"), "mean"] for n in (20, 5))
        >>> bool(0 < less < more < 1)
        True
        """
        draws = self.table_draws("reliability", words=words, attributes=attributes)
        frame = estimates.estimates(draws, prob)
        return frame.astype({"words": float, "attributes": float})

    def slopes(self, prob: float = PROB) -> pd.DataFrame:
        """Estimate slopes of means and contrasts on covariates, if the model has any.

        Returns
        -------
        DataFrame
            ``covariate, level, name, of`` (a connection, or a contrast), and the columns of
            `bayesbias.inference.estimates`: per standard deviation of the covariate, on average
            over new words; ``per_unit, per_unit_low, per_unit_high``: per unit of the covariate, of
            which `scale` are one standard deviation. Levels whose slopes are all those overall are
            left out.

        Raises
        ------
        FitError
            If the model has no slopes.
        """
        return slopes.described_slopes(self, prob)

    def parameters(self, prob: float = PROB) -> pd.DataFrame:
        """Estimate every parameter of the model but the per-attribute ones.

        Returns
        -------
        DataFrame
            ``name, index`` (labels of an entry, joined by ``", "``), and the columns of
            `bayesbias.inference.estimates`.
        """
        return estimates.estimates(self.table_draws("parameters"), prob)

    def prior_sensitivity(self) -> pd.DataFrame:
        """Measure how far each main contrast moves with the priors and the data.

        Returns
        -------
        DataFrame
            See `bayesbias.inference.priors.prior_sensitivity`.
        """
        return self.cached("prior_sensitivity", lambda: priors.prior_sensitivity(self)).copy()

    def diagnostics(self) -> dict[str, Any]:
        """Say whether the sampler converged.

        Returns
        -------
        dict
            ``divergences`` (count), ``max_r_hat``, ``min_ess_bulk`` over all parameters (of a model
            with an exact reduction: over its scales, given which effects are drawn exactly; None if
            chains or draws are too few), ``max_r_hat_of_rows`` and ``max_mcse`` over the printed
            rows (the latter is the Monte Carlo error of an end as a share of the width of the
            interval; None without rows), ``ok``, and ``problems``: sentences, none if all is well.

        Notes
        -----
        A fit has converged if its printed rows have R-hat at most 1.01 and ``max_mcse`` at most
        0.05, no parameter has R-hat above 1.05, and no transition diverged. The quick engine has
        the limit 0.7 of Pareto k in place of those of R-hat. The rows are those that a first table
        has: the contrasts overall, for new and for listed words, and the first by class. They have
        the default interval, 89%.
        """
        return dict(self.cached("diagnostics", self._diagnosed))

    def _diagnosed(self) -> dict[str, Any]:
        names = [name for name in self.spec.parameters if name in self.sampled["posterior"]]
        pareto_k = None
        if self.engine.name == "quick":
            pareto_k = math.inf if self.engine.pareto_k is None else self.engine.pareto_k
        return diagnose(self.sampled, names, self._rows_to_check(), pareto_k)

    def _rows_to_check(self) -> pd.DataFrame | None:
        """Return the printed rows by which convergence is judged, with a column ``row``."""
        view, results = View(rope=self.default_rope()), self.spec.results
        of_words = results.group == "connection" or bool(results.between)
        frames = []
        with contextlib.suppress(FitError):  # a table without contrasts, or without their columns
            frames.append(self.first_contrasts("overall", "population", view))
            if of_words:
                if has_word_effects(self.spec):
                    frames.append(self.first_contrasts("overall", "listed_words", view))
                for level in ("class", *BETWEEN, crossing.LEVELS[0]):
                    if level in self.contrast_levels:
                        frames.append(self.first_contrasts(level, "population", view))
        if not frames or not of_words:
            with contextlib.suppress(FitError):
                means = self.summary().assign(level="overall", name="")
                frames.append(means.rename(columns={results.group: "contrast"}))
        with contextlib.suppress(FitError):
            frames.append(slopes.overall_slopes(self, PROB))
        if not frames:
            return None
        rows = pd.concat(frames, ignore_index=True)
        scope = rows["name"].where(rows["level"] != "overall", "")
        listed = rows["estimand"].map({"listed_words": "listed words"}).fillna("")
        of = (scope + " " + listed).str.strip()
        return rows.assign(row=rows["contrast"] + (" (" + of + ")").where(of != "", ""))

    def table_draws(self, table: str, **arguments: Any) -> xr.DataArray:
        """Return draws of every row of a table of results, made from draws of the effects.

        Parameters
        ----------
        table : str
            ``summary, words, means, contrasts, compare, standardized, probability_of_superiority,
            new_words, variance_partition, reliability, slopes`` or ``parameters``: the method that
            gives the table.
        **arguments
            As of that method, but for `prob` and `rope`, which change no draw.

        Returns
        -------
        xarray.DataArray
            Dimensions ``chain, draw, row``, rows in the order of the table; the coordinates of
            `row` are the columns that label them (such as ``level, name, contrast, estimand``).
            Draws of ``listed_words`` are the model's.

        Examples
        --------
        >>> import bayesbias as bb
        >>> table = bb.distance_table("minilm-static", "religion")
        >>> result = bb.fit(table, seed=1, draws=200)
        >>> draws = result.table_draws("contrasts", level="overall", estimand="population")
        >>> draws.dims, draws.sizes["row"], str(draws["contrast"].values[0])
        (('chain', 'draw', 'row'), 5, 'associated - different')
        """
        relabeled, group = estimates.relabeled, self.spec.results.group

        def means(level: str, estimand: str = "population") -> xr.DataArray:
            return self._draws_of_level(level, estimand, group)

        def words(estimand: str = "population") -> xr.DataArray:
            draws = means("word", estimand)
            names = draws["name"].to_numpy().tolist()
            classes = [self._class_of[name] for name in names]
            return relabeled(
                draws, protected_word=names, protected_class=classes, level=None, name=None
            )

        def contrasts(level: str | None = None, estimand: str | None = None) -> xr.DataArray:
            asked = self._asked_tables(level, estimand)
            parts = [self._draws_of_level(*each, "contrast") for each in asked]
            if not (some := [part for part in parts if part.sizes["row"]]):
                raise no_contrasts(self.spec)
            return estimates.joined_rows(some)

        def compare(
            comparison: Names,
            on: Names | None = None,
            *,
            estimand: str | None = None,
            level: str | None = None,
        ) -> xr.DataArray:
            sides = read_comparison(self.ordered, comparison, on, level, self.factors)
            parts = []
            for which in self._estimands_of(sides, estimand):
                asked = compared_quantity(self.ordered, sides, which)
                parts.append(self.answer_from_effects(asked, which, "contrast").draws)
            return estimates.joined_rows(parts)

        def measured(make: Callable[..., Any], **asked: Any) -> Any:
            return make(self.design, Answer(contrasts(**asked), self.parameter_draws()))

        makers: dict[str, Callable[..., xr.DataArray]] = {
            "summary": lambda estimand="population": relabeled(
                means("overall", estimand), level=None, name=None
            ),
            "words": words,
            "means": means,
            "contrasts": contrasts,
            "compare": compare,
            "standardized": lambda **asked: measured(variances.standardized, **asked).draws,
            "probability_of_superiority": functools.partial(measured, variances.superiority_draws),
            "new_words": self._draws_of_opposite,
            "variance_partition": lambda group=None: variances.variance_partition_draws(
                self.design, self._scales, self.shape[0], group
            ),
            "reliability": lambda **asked: reliability.reliability_draws(self, **asked),
            "slopes": lambda: slopes.slope_draws(self),
            "parameters": self._draws_of_parameters,
        }
        draws = makers[checks.choice(table, makers, "table")](**arguments)
        draws.name = table
        return draws

    def save(self, path: checks.FilePath) -> list[Path]:
        """Write the fit to one file, or to a folder of tables and figures.

        Parameters
        ----------
        path : path
            If it ends in ``.nc``, one netCDF file, which `bayesbias.load_fit` reads. It has no
            effects, since these are drawn again. Any other path is the folder of a run, which
            `bayesbias.load_run` and `bayesbias.load_fit` read.

        Returns
        -------
        list of Path
            The files.
        """
        where = path_of(path, "path", "a path that ends in .nc, or that of a folder")
        if where.suffix.lower() != ".nc":
            return super().save(where)

        write_fit(where, self)
        return [where]

    def __repr__(self) -> str:
        chains, draws = self.shape
        head = f"BiasFit: model {self.spec.name}, {self.table_name}, {len(self.table):,} rows"
        lines = [f"{head}, {chains} x {draws} draws"]
        results = self.spec.results
        with contextlib.suppress(FitError):  # a table without the columns of the results has none
            if results.group == "connection" or results.between:
                level = "between" if results.between else "overall"
                whole = self.contrast_rows(estimand="population", level=level)
            else:
                whole = self.summary().assign(name="").rename(columns={results.group: "contrast"})
            digits = decimals(whole)
            shown = whole if len(whole) <= _MOST_SHOWN else whole.head(_MOST_SHOWN - 1)
            for row in shown.itertuples():
                ends = f"[{row.hpdi_low:+.{digits}f}, {row.hpdi_high:+.{digits}f}]"
                name = f"{row.name}: {row.contrast}" if results.between else row.contrast
                lines.append(f"  {name:<24} {row.mean:+.{digits}f}  {row.prob:.0%} HPDI {ends}")
            if len(shown) < len(whole):
                lines.append(f"  and {len(whole) - len(shown)} more")
        found = self.diagnostics()
        if found["ok"]:
            state = f"max R-hat {found['max_r_hat']:.3f}, min ESS {found['min_ess_bulk']:,.0f}"
            lines.append(f"  Converged: {state}")
        else:
            lines.append(f"  Not converged: {found['problems'][0]}")
        if engine := self.engine.in_words():
            lines.append(f"  Sampled by {engine}")
        return "\n".join(lines)

    # -- how tables are made: quantities are answered, and answers described -----------------------

    @functools.cached_property
    def ordered(self) -> Design:
        """The model laid over the sorted rows, so that draws do not depend on their order."""
        return self.design.ordered()

    @functools.cached_property
    def _reduced(self) -> Reduction | None:
        """The design with effects integrated out; None if the fit was sampled with its effects."""
        method = self.sampling.method
        if method == "collapsed":
            return collapse(self.ordered)
        if method in ("variational", "laplace"):
            from bayesbias.inference.binomial import approximated

            return approximated(self.ordered, method).anchored(self._scales)
        return None

    @functools.cached_property
    def _class_of(self) -> dict[str, str]:
        first = self.table.drop_duplicates("protected_word")
        words, classes = (first[name].astype(str) for name in ("protected_word", "protected_class"))
        return dict(zip(words, classes, strict=True))

    @property
    def _scales(self) -> Arrays:
        """The sampled draws of the scales."""
        return joined_draws(self.sampled["posterior"].dataset, self.spec.scales())

    def scales_and_effects(
        self, names: Collection[str], most: int | None = None, values: int | None = None
    ) -> Arrays:
        """Return draws of all scales and of some effects, thinned to `most` draws.

        It is faster than `parameter_draws` if few effects are needed. A model without an exact
        reduction gives all its parameters. Where a factorization is costly, only so many `values`
        of the scales are used, and the effects are drawn several times at each.
        """
        draws = self.parameter_draws() if self._reduced is None else self._scales
        if most is not None:
            total = len(next(iter(draws.values())))
            keep = np.linspace(0, total - 1, min(most, total)).astype(int)
            draws = {name: values[keep] for name, values in draws.items()}
        if self._reduced is None:
            return draws
        if values is not None and self._reduced.costly:
            total = len(next(iter(draws.values())))
            keep = np.linspace(0, total - 1, min(values, total)).astype(int)
            keep = keep[np.arange(total) * len(keep) // total]
            draws = {name: drawn[keep] for name, drawn in draws.items()}
        rng = np.random.default_rng([self.stream, 6])
        theta = self._reduced.theta_of(draws)
        return {**draws, **self._reduced.draw_effects(theta, rng, names)}

    @property
    def shape(self) -> tuple[int, int]:
        """The number of chains, and of draws in each."""
        sizes = self.sampled["posterior"].sizes
        return sizes["chain"], sizes["draw"]

    @property
    def stream(self) -> int:
        """The seed of the random numbers of this fit."""
        return self.design.stream(self.sampling.seed)

    def quantities(self, level: str | None, estimand: str, column: str) -> Quantities:
        """Return means or contrasts of one level, or of all, over the sorted rows."""
        check_asked(self.spec, level, estimand, self.contrast_levels)
        contrasted = column == "contrast"
        asked = self.cached(
            ("quantities", estimand, column),
            lambda: asked_quantities(self.ordered, estimand, contrasted, self.crossed),
        )
        return asked.at(level)

    def answer(self, asked: Quantities, estimand: str, column: str) -> Answer:
        """Answer by mixtures of normals; by draws of the effects where there are none.

        `column` is the name of the last label: ``contrast``, or the group of the means.
        """
        draws = self.parameter_draws() if self._reduced is None else self._scales
        mixed = mixtures_of(asked, self._reduced, draws, self.shape[0])
        if mixed is None:
            return self.answer_from_effects(asked, estimand, column)
        mixtures, scales = mixed
        sampled = mixtures.sampled(self.stream)
        labeled = estimates.keyed_draws(sampled, asked.keys, column, estimand)
        return Answer(labeled, scales, mixtures, asked.observed)

    def answer_from_effects(self, asked: Quantities, estimand: str, column: str) -> Answer:
        """Answer by draws of the effects, in each of which a mixture takes one of its parts."""
        draws = self.parameter_draws()
        values = asked.linear.draws(draws)
        shape = (*self.shape, len(asked.linear))
        if asked.linear.shared or asked.linear.apart:
            sd = np.broadcast_to(np.sqrt(asked.linear.new_variance(draws)), values.shape)
            mean, sd = values.reshape(shape), sd.reshape(shape)
            values = Mixtures(mean, sd, asked.quantity, asked.weight).sampled(self.stream)
        values = values.reshape(*self.shape, -1)
        labeled = estimates.keyed_draws(values, asked.keys, column, estimand)
        return Answer(labeled, draws, None, asked.observed)

    def describe(
        self,
        asked: Quantities,
        estimand: str,
        column: str,
        prob: float,
        rope: float | None = None,
        *,
        in_sd: bool = False,
    ) -> pd.DataFrame:
        """Return quantities as rows of a table of results, in the order of their labels.

        With `in_sd` contrasts get the column ``d``, where single pairs have an SD.
        """
        n = len(asked.keys)
        frames = []
        for start in range(0, n, _AT_ONCE):
            part = asked.chosen(range(start, min(start + _AT_ONCE, n)))
            frames.append(self._described(part, estimand, column, prob, rope, in_sd=in_sd))

        whole = pd.concat(frames, ignore_index=True)
        return whole.iloc[self.order_of(asked)].reset_index(drop=True)

    def _described(
        self,
        asked: Quantities,
        estimand: str,
        column: str,
        prob: float,
        rope: float | None,
        *,
        in_sd: bool,
        compared: Sequence[str] | None = None,
    ) -> pd.DataFrame:
        """Return quantities as rows, as they come; `compared` as in `variances.pair_sd`."""
        answer = self.answer(asked, estimand, column)
        frame = estimates.estimates(answer.draws, prob, rope, answer.mixtures, answer.observed)
        if in_sd and variances.has_variance(self.spec):
            if self._has_slopes:
                answer = self.answer_from_effects(asked, estimand, column)
            frame["d"] = variances.means_in_sd(self.design, answer, compared)
        return frame

    def order_of(self, asked: Quantities) -> list[int]:
        """Return the places of quantities, in the order of their labels in the table."""
        results, shown = self.spec.results, self.design.shown
        places = {column: {x: k for k, x in enumerate(labels)} for column, labels in shown.items()}
        levels = self.contrast_levels

        def at(k: int) -> tuple[int, int, int, int]:
            level, name, label = asked.keys[k]
            if level in (*BETWEEN, *crossing.LEVELS):  # made in that order
                return levels.index(level), k, 0, k
            by = {"all": 0} if level == "overall" else places[results.levels[level].by]
            return levels.index(level), by[name], places[results.group].get(label, 0), k

        return sorted(range(len(asked.keys)), key=at)

    def first_contrasts(
        self, level: str, estimand: str, view: View, *, in_sd: bool = False
    ) -> pd.DataFrame:
        """Return the contrasts overall, or of one level those of the first contrast alone.

        `in_sd` as in `describe`.
        """
        if level == "overall":
            return self._contrasts(level, estimand, view, in_sd=in_sd)

        def make() -> pd.DataFrame:
            overall = self._contrasts("overall", estimand, view)
            asked = self.quantities(level, estimand, "contrast")
            first = overall["contrast"].iloc[0]
            chosen = asked.chosen([k for k, key in enumerate(asked.keys) if key[2] == first])
            if not chosen.keys:
                return overall.iloc[:0]
            prob, rope = view.prob, view.rope
            return self.describe(chosen, estimand, "contrast", prob, rope, in_sd=in_sd)

        return self.cached(("first", level, estimand, view, in_sd), make)

    def _frame(
        self,
        level: str,
        estimand: str,
        column: str,
        view: View,
        *,
        standardized: bool = False,
        in_sd: bool = False,
    ) -> pd.DataFrame | None:
        """Return the table of one level and estimand, or None if it would be empty.

        `in_sd` as in `describe`. With slopes it needs draws of all effects, else nearly nothing.
        """
        asked = self.quantities(level, estimand, column)
        if not asked.keys:
            return None
        in_sd = column == "contrast" and (in_sd or not self._has_slopes)

        def make() -> pd.DataFrame:
            if standardized:
                return self._standardized(asked, estimand, view)
            rope = view.rope if column == "contrast" else None
            return self.describe(asked, estimand, column, view.prob, rope, in_sd=in_sd)

        return self.cached((level, estimand, column, view, standardized, in_sd), make).copy()

    def _contrasts(
        self,
        level: str | None,
        estimand: str | None,
        view: View,
        *,
        standardized: bool = False,
        in_sd: bool = False,
    ) -> pd.DataFrame:
        """Return the contrasts of some levels and estimands as one table, as `_frame` makes it."""
        made = (
            self._frame(*each, "contrast", view, standardized=standardized, in_sd=in_sd)
            for each in self._asked_tables(level, estimand)
        )
        if not (frames := [frame for frame in made if frame is not None]):
            raise no_contrasts(self.spec)
        frame = pd.concat(frames, ignore_index=True)
        if "d" in frame:  # last, also where only some of the tables have observed values
            frame["d"] = frame.pop("d")
        return frame

    def _asked_tables(self, level: str | None, estimand: str | None) -> list[tuple[str, str]]:
        """Return the levels and estimands that a table of contrasts has; None stands for all."""
        check_asked(self.spec, level, estimand, self.contrast_levels)
        levels = self.contrast_levels if level is None else (level,)
        if level in crossing.LEVELS and estimand in PREDICTIVE:
            problem = f"expected {' or '.join(ESTIMANDS)} for {level}, got {estimand}"
            raise InputError(problem, where="estimand")
        about = self.spec.results.levels.get(level or "")
        if about and not about.population and estimand not in (None, "listed_words"):
            raise InputError(
                f"{self.spec.label} gives no intervals by {level} for new words",
                where="estimand",
                found=estimand,
                valid="listed_words",
                hint="fit the model default",
            )
        estimands = ESTIMANDS if estimand is None else (estimand,)
        return [(name, which) for which in estimands for name in levels]

    def _in_sd(self, asked: Quantities, estimand: str) -> tuple[Answer, Answer]:
        """Return the answer of contrasts, and the same in SDs of pairs."""
        make = self.answer_from_effects if self._has_slopes else self.answer
        answer = make(asked, estimand, "contrast")
        return answer, variances.standardized(self.design, answer)

    @property
    def _has_slopes(self) -> bool:
        """Whether the SD of pairs depends on slopes: given the scales a ratio is not normal."""
        return any(variances.has_fixed_slope(self.spec, name) for name in self.spec.mu)

    def _standardized(self, asked: Quantities, estimand: str, view: View) -> pd.DataFrame:
        """Return the rows of the table `standardized`, with the probability of superiority."""
        answer, found = self._in_sd(asked, estimand)
        frame = estimates.estimates(
            found.draws, view.prob, view.standard_rope, found.mixtures, found.observed
        )
        name = "probability_of_superiority"
        if estimand in PREDICTIVE or asked.keys[0][0] in (*BETWEEN, *crossing.LEVELS):
            more = dict.fromkeys(estimates.beside(frame, name), np.nan)
        else:
            superiority = variances.superiority_draws(self.design, answer)
            more = estimates.beside(estimates.estimates(superiority, view.prob), name)
        frame = frame.assign(**more)
        if "observed" in frame:  # last, as where only some estimands have it
            frame["observed"] = frame.pop("observed")
        return frame.iloc[self.order_of(asked)].reset_index(drop=True)

    def _draws_of_level(self, level: str, estimand: str, column: str) -> xr.DataArray:
        """Return draws of means or contrasts at one level, in the order of their labels."""
        asked = self.quantities(level, estimand, column)
        draws = self.answer_from_effects(asked, estimand, column).draws
        return draws.isel(row=self.order_of(asked))

    def _draws_of_opposite(self) -> xr.DataArray:
        """Return draws of the share of new words whose sign differs from the mean over new words.

        In each draw the contrast of a new word is normal around that of its class, so that the
        share is a tail of it.
        """
        from scipy.special import ndtr

        asked = self.quantities(None, "one_new_word", "contrast")
        if not asked.keys:
            raise no_contrasts(self.spec)
        draws = self.scales_and_effects(asked.linear.weights)
        center = asked.linear.draws(draws)
        sd = np.sqrt(np.broadcast_to(asked.linear.new_variance(draws), center.shape))
        weights = np.where(
            np.arange(len(asked.keys))[:, None] == asked.quantity, asked.weight, 0.0
        ).T
        sign = np.sign((center @ weights).mean(axis=0))[asked.quantity]
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = ndtr(-sign * center / sd) @ weights
        shares = shares.reshape(*self.shape, -1)
        out = estimates.keyed_draws(shares, asked.keys, "contrast", "one_new_word")
        return out.drop_vars("estimand").isel(row=self.order_of(asked))

    def _draws_of_parameters(self) -> xr.DataArray:
        """Return draws of all parameters but those of attributes, in the order of their labels.

        Entries that no row of the table has are left out.
        """
        posterior, columns = self.idata["posterior"].dataset, []
        labels: dict[str, list[str]] = {"name": [], "index": []}
        for name, parameter in self.spec.parameters.items():
            if "attribute" in parameter.dims:
                continue
            design = self.design
            shown = {dim: design.shown[dim] for dim in parameter.dims}
            values = posterior[name].transpose("chain", "draw", *shown).sel(shown).to_numpy()
            flat = np.arange(design.size(name)).reshape(design.shape(name))
            order = flat[np.ix_(*([*map(design.coords[d].index, shown[d])] for d in shown))].ravel()
            kept = ~design.without_data(name)[order] if name in design.index else order >= 0
            columns.append(values.reshape(*values.shape[:2], -1)[..., kept])
            every = map(", ".join, itertools.product(*shown.values()))
            entries = list(itertools.compress(every, kept))
            labels["name"] += [name] * len(entries)
            labels["index"] += entries
        return estimates.labeled_draws(np.concatenate(columns, axis=-1), labels)
