r"""The crossed model of a table of responses, and what is asked of it.

Numbers are modelled as they are, with an exact marginal likelihood; of paired tables their differences.
Repeated answers are rows that share the effect of their question. 0/1 answers are counted by question
and modelled in log odds. With group :math:`g`, word :math:`w`, template :math:`t` and item :math:`i`,

.. math:: \eta = \mu_g + w + t + i + (ti) + (gi) + (gt) + (gw) + (gwti),

where all but the mean are normal effects; models have means and interactions of their own. What the
kinds of answers differ in is in `bayesbias.studies.responses.kinds`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.core import (
    FitError,
    InputError,
    checks,
    factors as crossed,
    frames,
    join_words,
    some,
)
from bayesbias.core.conventions import PROB
from bayesbias.core.errors import TooLargeError
from bayesbias.core.formatting import format_value
from bayesbias.core.result import Result
from bayesbias.inference import variances
from bayesbias.inference.comparisons import (
    SUM_TO_ZERO,
    Names,
    check_names,
    label_of,
    read_weights,
    unknown_name,
)
from bayesbias.inference.description import units_of_rows
from bayesbias.inference.estimands import levels_of, mean_quantities
from bayesbias.inference.estimates import estimates, labeled_draws, without_detail
from bayesbias.inference.linear import Key, contrasts_of
from bayesbias.inference.measured import ENDS, Measured, with_coverage
from bayesbias.inference.prediction import NewUnits, new_units
from bayesbias.inference.view import View
from bayesbias.studies import common
from bayesbias.studies.responses import agreement, factorial, limits, table as tables, together
from bayesbias.studies.responses.columns import RATER
from bayesbias.studies.responses.kinds import ASKED, Kind, kind_named, kind_of
from bayesbias.studies.responses.kinds.kind import LITTLE_PROBABILITY, Means
from bayesbias.studies.responses.table import ESTIMANDS, Responses

if TYPE_CHECKING:
    from bayesbias.inference.posterior import BiasFit
    from bayesbias.models.design import Design
    from bayesbias.models.spec import ModelSpec

BREAKDOWNS = ("item", "template")
"""Levels with rows for parts of the questions."""
_UNEQUAL = 0.1  # how far the shares of questions of a group are from those of all, of 1
MOST_SAID = 3  # contrasts in the sentences of the result
type Pairs = list[tuple[str, str, dict[str, float]]]
"""Model, contrast and the weights of groups under models."""

_ALIKE = 0.6  # SD of the differences of one pair of groups, over that of all pairs
_FEW_REPEATS = 0.05  # of the answers, those that repeat a question


def with_means(rows: pd.DataFrame, table: Responses) -> pd.DataFrame:
    """Return contrasts with each group against the mean of all groups, itself included.

    With n groups it is (n - 1) / n of the difference from the others, and half that of two groups. The
    columns ``drawn`` and ``times`` have the contrast of the fit, and by what it is multiplied.
    """
    several = len(table.groups) > 2
    rows = rows.assign(drawn=rows["contrast"], times=1.0)
    parts = [rows]
    for contrast in factorial.contrasts_of(table):
        if contrast.level not in ("overall", "main"):
            continue
        same = rows[rows["contrast"] == contrast.name]
        labels = contrast.name.split(" - ")
        if contrast.level == "overall" and contrast.against == "others":
            n = len(table.groups)
            name = contrast.name.removesuffix("others") + "mean"
            parts.append(_multiplied(same, name, (n - 1) / n))
        pair_alone = contrast.against == "pairs" and (
            not several
            if contrast.level == "overall"
            else f"{labels[0]} - others" not in {*rows["contrast"]}
        )
        if pair_alone and len(labels) == 2:
            parts.append(_multiplied(same, f"{labels[0]} - mean", 0.5))
            parts.append(_multiplied(same, f"{labels[1]} - mean", -0.5))
    return pd.concat(parts)


def _multiplied(rows: pd.DataFrame, name: str, times: float) -> pd.DataFrame:
    """Return rows of a contrast, multiplied, under another name."""
    ends = [*ENDS] if times > 0 else [ENDS[k] for k in (1, 0, 3, 2)]
    out = rows.assign(contrast=name, times=times)
    for end, source in zip(ENDS, ends, strict=True):
        if source in rows:
            out[end] = rows[source] * (abs(times) if source.startswith("mcse") else times)
    if "mean" in rows:
        out["mean"] = rows["mean"] * times
    return out


@dataclass(frozen=True, eq=False, repr=False)
class ResponsesResult(Result):
    """The answers, the published scores, and the fit.

    Attributes
    ----------
    responses : Responses
        The table that was read.
    published : pandas.DataFrame
        ``name, score, n, mean_score, t, p_value``.
    kind : {"stereotype", "choice", "paired", "number", "ordered"}
        What was modelled: stereotyped answers of BBQ, 0/1 answers, differences of paired answers,
        numbers, or ratings in order.
    fit : BiasFit or None
        None where the answers leave nothing to fit; `notes` says why.
    notes : tuple of str
        What a reader should know.
    rope : float
        Half-width of the region of practical equivalence (ROPE), on the scale of the answers.
    """

    study = "responses"  # whose sections show it, see bayesbias.output
    MACHINERY = Result.MACHINERY | {
        "answer_kind", "breakdown", "items_title", "main_effects", "main_scale", "rates_title", "scale", "subject"
    }  # fmt: skip

    responses: Responses
    published: pd.DataFrame
    kind: str
    fit: BiasFit | None = None
    notes: tuple[str, ...] = ()
    rope: float = LITTLE_PROBABILITY

    @property
    def answer_kind(self) -> Kind:
        """What was modelled, with what is known of it."""
        return kind_named(self.kind)

    @property
    def subject(self) -> str:
        """What was analyzed, for sentences."""
        models = [model for model in self.responses.models if model]
        of = f" of {join_words(models)}" if models else ""
        about = [*self.responses.factors] or self.responses.groups
        return f"responses{of} about {join_words(about)}"

    @property
    def estimands(self) -> dict[str, str]:
        """The estimands that apply to this table, and what each holds for."""
        if not (kinds := self._kinds()):
            return {"population": "answers like these"}
        out = {"population": f"new {join_words(kinds)}"}
        for name, new in (("new_words", self.responses.nouns["word"]), ("new_prompts", "prompts")):
            these = [kind for kind in kinds if kind != new]
            if new in kinds and these:
                out[name] = f"new {new}, these {join_words(these)}"
        return out | {"listed_words": f"these {join_words(kinds)}"}

    @property
    def scale(self) -> str:
        """What differs: the outcome, or of 0/1 answers its probability."""
        return self.answer_kind.scale_in_words(self.responses.outcome)

    @property
    def main_scale(self) -> str:
        """The scale of contrasts that has the ROPE, and that sentences name."""
        return self.answer_kind.scales[0]

    @property
    def main_effects(self) -> list[str]:
        """The contrasts of factors that a screen and figures have; empty without factors."""
        if not self.responses.factors:
            return []
        return [contrast.name for contrast in factorial.main_effects(self.responses)]

    @property
    def breakdown(self) -> str:
        """What `items` has rows for: items, or templates where there is one item."""
        return "item" if self._fitted().table["item"].nunique() > 1 else "template"

    @property
    def rates_title(self) -> str:
        """What `rates` shows, and what it holds for."""
        return f"Each group, the highest first, for {self.estimands['population']}"

    @property
    def items_title(self) -> str:
        """What `items` shows, and what it holds for."""
        new = [kind for kind in self._kinds() if kind != self.responses.nouns[self.breakdown]]
        noun = self.responses.categories.get(self.breakdown, self.breakdown)
        title = f"{self.answer_kind.items_are} by {noun}"
        return f"{title}, for new {join_words(new)}" if new else title

    def shown_with(self, view: View) -> tuple[ResponsesResult, View]:
        """Return the result with the ROPE of a view, by default its own."""
        view = view.resolved(rope=self.rope)
        return (self if view.rope == self.rope else replace(self, rope=view.rope)), view

    def measured(self, prob: float) -> dict[str, Measured]:
        """Return what limits are compared with: differences of groups, by model, and coverage."""
        answers = self.responses.coverage
        coverage = with_coverage(answers["rows_used"] / answers["rows_read"])
        if self.fit is None:
            return {"": Measured(None, None, coverage, refused="no model was fitted")}

        def contrasts() -> pd.DataFrame:
            rows = self.contrasts(prob=prob, detail=True, families=False)
            overall, model = ~rows["level"].isin(BREAKDOWNS), rows["model"]
            # A limit is on each model; differences between models are asked for by name.
            single = model.isin(["", *self.responses.models])
            rows = rows.assign(
                shown=(model + " " + rows["name"].mask(overall, "")).str.strip(),
                name=rows["name"].mask(overall, model),
                level=rows["level"].mask(overall, "overall").where(single, "models"),
            )
            rows = rows[(rows["scale"] == self.main_scale) & (single | overall)]
            return with_means(rows, self.responses)

        converged = self.fit.diagnostics()["ok"]
        every = {
            name: partial(self._rows_of_all, against)
            for name, against in limits.limits_on_all(self.responses).items()
        }
        draws = partial(together.draws_of, self)
        more = join_words(self._kinds() or ["answers"], "or")
        return {"": Measured(contrasts, converged, coverage, draws=draws, every=every, more=more)}

    def _rows_of_all(self, against: str, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of a limit on each group, level, cell or difference."""
        known = limits.contrasts_compared(self.responses)
        cells = {contrast.name for contrast in known if contrast.level == "cell"}
        if against == "cell":
            return rows[rows["contrast"].isin(cells)]
        if against == "mean":
            is_mean = rows["contrast"].str.endswith(" - mean")
            return rows[is_mean & ~rows["contrast"].isin(cells)]
        names = {
            contrast.name
            for contrast in known
            if contrast.level in ("overall", "main") and contrast.against == against
        }
        return rows[rows["contrast"].isin(names)]

    def rows_in_words(self) -> str:
        """Say what was modeled: answers, their differences, or counts of 0/1 answers."""
        what = self.answer_kind.rows_in_words(self)
        return f"{what}{units_of_rows(self._fitted())} {self.subject.removeprefix('responses ')}"

    def contrasts(
        self,
        prob: float = PROB,
        estimand: str | None = None,
        level: str | None = None,
        *,
        detail: bool = False,
        families: bool = True,
    ) -> pd.DataFrame:
        """Estimate differences between groups, and between models in these differences.

        Parameters
        ----------
        prob : float in (0, 1), default 0.89
            Probability of the intervals.
        estimand : {"population", "new_words", "new_prompts", "listed_words"}, optional
            What is new. By default all of `estimands`, one after the other; by item and template those
            that hold more than ``population``.
        level : {"overall", "item", "template"}, optional
            By default all. Groups that cross factors have ``main``, ``simple``, ``interaction`` and
            ``cell`` in the place of ``overall``, which asks for all four.
        detail : bool
            Whether to return all columns of `bayesbias.inference.estimates`, also standard
            deviations and Monte Carlo errors.
        families : bool
            Whether these are to have ``family, low_family, high_family``: intervals that hold for all
            rows of a family together. They take as long again.

        Returns
        -------
        DataFrame
            ``model, contrast, level, name, estimand, scale, mean, hpdi_low, hpdi_high,
            p_below_zero, p_in_rope, verdict``. The scale is ``probability`` and ``log_odds`` of 0/1
            answers, else ``outcome``. Ordered ratings have ``outcome`` (the mean rating), ``at_least_2``
            and so on (the probability of this rating or a higher one), and ``log_odds``.
        """
        fit = self._fitted()
        several = (own for own in fit.spec.results.levels if fit.table[own].nunique() > 1)
        levels = ["overall", *several]
        of_factors = factorial.LEVELS if self.responses.factors else ()
        wanted = level
        if level is not None:
            checks.choice(level, [*levels, *of_factors], "level")
            levels = ["overall" if level in of_factors else level]
        asked = [*self.estimands]
        if estimand is not None:
            asked = [checks.choice(estimand, ESTIMANDS, "estimand")]
        frames = []
        for which, own in itertools.product(asked, levels):
            same = self._held(own, which) == self._held(own, "population")
            if estimand is None and which != "population" and own != "overall" and same:
                continue  # no answers tell the estimands apart
            make = partial(self._described, which, own, prob)
            key: tuple[Any, ...] = ("responses", which, own, prob, self.rope)
            if detail and families and own == "overall":
                make, key = partial(self._with_families, which, prob), ("families", *key)
            frames += fit.cached(key, make)
        # Of items that one group alone is asked about there are no rows.
        out = _by_model(frames)
        if of_factors:
            kinds = {each.name: each.level for each in factorial.contrasts_of(self.responses)}
            overall = out["level"] == "overall"
            out["level"] = out["level"].mask(overall, out["contrast"].map(kinds))
            if wanted in of_factors:
                out = out[out["level"] == wanted]
        last = [name for name in ("family", "low_family", "high_family") if name in out]
        out = out[[*out.columns.drop(last), *last]]
        return out if detail else without_detail(out.drop(columns=last))

    def compare(
        self,
        comparison: Names,
        on: str | None = None,
        *,
        prob: float = PROB,
        estimand: str | None = None,
        detail: bool = False,
    ) -> pd.DataFrame:
        """Estimate a difference between groups that you name, for each model.

        Parameters
        ----------
        comparison : str or Mapping of str to float
            ``"women - men"``, ``"women - others"``, or a weight for each group, such as
            ``{"nurse": 0.5, "teacher": 0.5, "engineer": -1}``. Where groups cross factors, also the
            levels of one factor; each of their cells weighs the same. Of paired answers, of which
            only differences are modeled, each two groups, or a group and the others.
        on : str, optional
            An item or a template; by default all.
        prob : float in (0, 1), default 0.89
            Probability of the intervals.
        estimand : {"population", "new_words", "new_prompts", "listed_words"}, optional
            What is new. By default all of `estimands`, one after the other.
        detail : bool
            Whether to return all columns of `bayesbias.inference.estimates`.

        Returns
        -------
        DataFrame
            The columns of `contrasts`. `bayesbias.plot_contrasts` draws it.

        Raises
        ------
        InputError
            If a name is unknown, or weights do not add up to zero.

        Examples
        --------
        >>> import bayesbias as bb
        >>> scores = {"group": ["a", "b", "c"] * 6, "template": [f"t{k // 3}" for k in range(18)],
        ...     "outcome": [0.2, 0.5, 0.4, 0.1, 0.4, 0.6, 0.3, 0.5, 0.5, 0.2, 0.6, 0.4, 0.3, 0.3, 0.2, 0.1, 0.5, 0.3]}
        >>> found = bb.fit_responses(bb.responses_table(scores), "responses", seed=1, engine="quick")
        >>> found.compare({"a": 0.5, "b": 0.5, "c": -1}, estimand="population")["contrast"].tolist()
        ['0.5 a + 0.5 b - c']
        """
        fit = self._fitted()
        label, weights = self._weights_named(comparison)
        level = self._level_of(on)
        asked = [*self.estimands]
        if estimand is not None:
            asked = [checks.choice(estimand, ESTIMANDS, "estimand")]

        pairs = []
        for model in self.responses.models:
            arms = {f"{group} | {model}": weight for group, weight in weights.items()}
            pairs.append((model, label, arms))
        frames = []
        for which in asked:
            means = self._means(which, level, pairs)
            frames += self.answer_kind.contrasts(self, means, prob)

        out = _by_model(frames)
        if on is not None:
            out = out[out["name"] == on].reset_index(drop=True)
        if out.empty:
            problem = f"expected answers of each of {join_words([*weights])} to {on}, got none"
            raise InputError(problem, where="compare")
        out = out if detail else without_detail(out)
        source = f"Model {fit.spec.name} on {self.responses.name}"
        about = {"outcome": self.scale, "source": source, "scopes": self.estimands}
        out.attrs |= {"prob": prob, "rope": self.rope, **about}
        return out

    def _weights_named(self, comparison: Names) -> tuple[str, dict[str, float]]:
        """Return what is printed, and the weight of each group; of paired answers of each series."""
        groups, factors = self.responses.groups, self.responses.factors
        comparison = check_names(comparison, "compare")
        printed = {each.name: each.weights for each in factorial.contrasts_of(self.responses)}
        series = {} if "arm" in self._fitted().table else printed
        labels = [groups, *(checks.once(levels.values()) for levels in factors.values())]
        of_levels = [{}, *factors.values()]

        for names, level_of in zip(labels, of_levels, strict=True):
            weights = read_weights(comparison, names)
            if weights is None:
                continue
            if abs(sum(weights.values())) > SUM_TO_ZERO:
                problem = f"expected a difference, whose weights add up to 0, got {comparison!r}"
                raise InputError(problem, where="compare", hint="write GROUP - GROUP")
            cells = crossed.weights_of_cells(level_of, weights) if level_of else weights
            label = label_of(comparison)
            return label, weights_of_series(cells, series, label) if series else cells
        known = [name for names in labels for name in names]
        raise unknown_name(comparison, known, "compare")

    def _level_of(self, on: str | None) -> str:
        """Return whether a label is an item or a template; ``overall`` of none."""
        if on is None:
            return "overall"
        known: list[str] = []
        for level in BREAKDOWNS:
            labels = self._fitted().design.shown[level]
            if on in labels:
                return level
            known += labels
        raise checks.unknown(on, filter(None, checks.once(known)), "on")

    def rates(self, prob: float = PROB, estimand: str = "population") -> pd.DataFrame:
        """Estimate the rate or the mean of each group, the highest first.

        Parameters
        ----------
        prob : float in (0, 1), default 0.89
            Probability of the intervals.
        estimand : {"population", "new_words", "new_prompts", "listed_words"}
            What is new.

        Returns
        -------
        DataFrame
            ``group, model, rate, rate_low, rate_high``; of 0/1 answers ``ratio, ratio_low, ratio_high``
            to the highest group; of ordered ratings ``at_least_2, at_least_2_low, at_least_2_high`` and so
            on; ``p_highest`` and ``p_lowest`` among the groups of a model; and how many
            answers were ``read, used, missing, refusals, unparseable``. Empty for paired answers, of
            which only differences are modeled.
        """
        checks.choice(estimand, ESTIMANDS, "estimand")
        if "arm" not in self._fitted().table:
            return pd.DataFrame(columns=["group", "model", "rate", "rate_low", "rate_high"])
        make = partial(together.rates, self, prob, estimand)
        return self._fitted().cached(("responses", "rates", estimand, prob), make)

    def predict_mean(self, new: Any, prob: float = PROB, seed: int = 0) -> pd.DataFrame:
        """Predict the differences that a number of new words, prompts or items will show.

        It is the interval for what you would observe: the mean of the answers of a group about m new
        units like those of the table, minus that of another group. `contrasts` under ``population`` or
        ``new_words`` has the interval for infinitely many, and nothing observed.

        The interval includes

        - what is not known of the population: the posterior of the means;
        - that new units are m, not infinitely many: effects of m new units are drawn with the
          posterior SDs, by group where the model has SDs of its own for groups;
        - that their answers are so many, not infinitely many: the noise of each answer. 0/1 answers
          are drawn.

        The rest stays as in the fitted table: the words, prompts and items that are not new, with what
        is known of their effects; and the number of answers to a question. Where units of a group have
        questions of their own, such as three of many items each, so have new ones. The mean is over
        questions, and groups are compared on questions that both answered. New
        answers share no replies with the fitted ones.

        Parameters
        ----------
        new : mapping of str to int, or to a mapping of str to int
            What is new, and how many: ``{"prompts": 4}``, or ``{"words": 10, "prompts": 4}``. Of words it
            is the number of each group; ``{"words": {"women": 10, "men": 12}}`` has one for each.
        prob : float in (0, 1), default 0.89
            Probability of the intervals, which are the shortest.
        seed : int, default 0
            Seed of the draws of 0/1 answers. Intervals for numbers need no draws.

        Returns
        -------
        DataFrame
            ``model, contrast, mean, sd, low, high``, of 0/1 answers in probability.

        Raises
        ------
        InputError
            If `new` names no units of the table, or a number is not whole or below 1.
        FitError
            If there is no fit, or 0/1 answers were adjusted for covariates.

        Examples
        --------
        >>> import bayesbias as bb
        >>> scores = {"group": ["a", "b"] * 8, "template": [f"t{k // 2}" for k in range(16)],
        ...     "outcome": [0.2, 0.5, 0.1, 0.4, 0.3, 0.5, 0.2, 0.6, 0.2, 0.3, 0.1, 0.5, 0.4, 0.5, 0.2, 0.5]}
        >>> found = bb.fit_responses(bb.responses_table(scores), seed=1, draws=200, tune=300, chains=2)
        >>> few, many = (found.predict_mean({"prompts": n}) for n in (2, 50))
        >>> few["contrast"].tolist(), bool(few["sd"][0] > many["sd"][0])
        (['a - b'], True)
        """
        checks.probability(prob)
        frame = self.answer_kind.predicted(self, new, prob, checks.seed(seed))
        series = frame["series"].astype(str).str.rsplit(" | ", n=1)
        frame = frame.assign(contrast=series.str[0], model=series.str[-1])
        frame = frame.rename(columns={"hpdi_low": "low", "hpdi_high": "high"})
        return frame[["model", "contrast", "mean", "sd", "low", "high"]]

    def agreement(self) -> pd.DataFrame:
        """Return how far each two raters agree, on the answers that both rated.

        Returns
        -------
        DataFrame
            ``raters, group, rows, mean_difference``, over all groups and by group. Of 0/1 answers and
            ordered ratings also ``equal``, the share of equal ratings, and ``kappa``, Cohen's kappa
            (weighted by squared distances of levels in order). Of other numbers ``pearson`` and ``icc``,
            the intraclass correlation ICC(2, 1). Empty where raters are not named.
        """
        return agreement.agreement(self)

    def variance(self, prob: float = PROB) -> pd.DataFrame:
        """Estimate the share of each effect in the variance of single answers.

        Parameters
        ----------
        prob : float in (0, 1), default 0.89
            Probability of the intervals.

        Returns
        -------
        DataFrame
            ``source``, and the columns of `bayesbias.inference.estimates`; of 0/1 answers in log odds,
            where a single answer has the variance pi^2 / 3.
        """
        parts = self._variances()
        total = sum(parts.values())
        names = [name.removesuffix("_effect").replace("_", " ") for name in parts]
        shares = np.stack([part / total for part in parts.values()], axis=-1)
        shares = shares.reshape(*self._fitted().shape, -1)
        return estimates(labeled_draws(shares, {"source": names}), prob)

    def independent(self, prob: float = PROB) -> pd.DataFrame:
        r"""Estimate how many independent answers all answers amount to, for new words and prompts.

        They are those of one contrast: the first, or of many the largest, of which the result speaks.

        With weights :math:`c_r` of the answers in the contrast, the variance of its mean is
        :math:`\sum_k \sigma_k^2 s_k` with :math:`s_k = \sum_j (\sum_{r \in j} c_r)^2`, over effects k and
        their levels j; effects of words have an SD for each group. Independent answers would have
        :math:`\sum_k \sigma_k^2 \min(s_k, \sum_r c_r^2)`: what cancels in the contrast counts for
        neither. Their ratio times the number of answers is the effective number.

        Parameters
        ----------
        prob : float in (0, 1), default 0.89
            Probability of the intervals.

        Returns
        -------
        DataFrame
            ``contrast, answers, questions``, and the columns of `bayesbias.inference.estimates`.
        """
        fit = self._fitted()
        table, label = fit.table, fit.spec.results.group
        main = self._leading(prob)
        first = self.answer_kind.contrast_of(self, main["model"], main["contrast"])
        name = first.name
        if first.model and len(self.responses.models) > 1:
            name = f"{first.model}: {name}"
        arm = table[label].astype(str)
        answers = table["answers"] if "answers" in table else pd.Series(1, table.index)
        if first.rows is not None:  # what one side alone answered says nothing about the difference
            compared = self._questions()[0]["question"][first.rows]
            answers = answers.where(table["question"].isin(compared), 0)
        share = (arm.map(first.weights) / answers.groupby(arm).transform("sum")).fillna(0.0)
        n, weights = answers.to_numpy(float), share.to_numpy(float)
        used = weights * n != 0
        draws, squares = fit.scales_and_effects(()), weights**2 * n
        noise = self._variances(used)["answer"] * squares.sum()
        index, shared = self._shared_by_replies("overall", "listed_words")
        of_replies = (shared @ np.bincount(index, weights * n, shared.shape[1])).var()
        held = self._held("overall", "population")
        variance = variances.variance_of_sum(fit.design, draws, weights * n, held)
        alone = variances.variance_of_independent(fit.design, draws, weights * n, squares, held)
        share_left = (alone + noise) / (variance + noise + of_replies)
        effective = (share_left * n[used].sum()).reshape(*fit.shape, 1)
        frame = estimates(labeled_draws(effective, {"contrast": [name]}), prob)
        frame.insert(1, "answers", int(n[used].sum()))
        frame.insert(2, "questions", int(table["question"][used].nunique()))
        return frame

    def items(self, prob: float = PROB) -> pd.DataFrame:
        """Estimate the mean of each group by `breakdown`, of paired answers each difference.

        Parameters
        ----------
        prob : float in (0, 1), default 0.89
            Probability of the intervals.

        Returns
        -------
        DataFrame
            ``name, group, model``, and the columns of `bayesbias.inference.estimates`; probabilities of
            0/1 answers, for new words and prompts.
        """
        frame = self.answer_kind.items(self, self.breakdown, prob)
        arms = frame["arm"].str.rsplit(" | ", n=1, expand=True)
        return frame.assign(group=arms[0], model=arms[1]).drop(columns="arm")

    def _leading(self, prob: float) -> pd.Series:
        """Return the row of the contrast that the result names first, for what is new.

        Of few contrasts it is the first. Of many it is the largest that excludes 0, or the largest; of
        factors it is the main effect that lies farthest from 0 in widths of its interval.
        """
        table = self.responses
        rows = self.contrasts(prob, "population", "overall", detail=True, families=False)
        rows = rows[rows["scale"] == self.main_scale]
        single = rows["model"].isin(["", *table.models])
        rows = rows[single] if single.any() else rows
        if table.factors:
            rows = rows[rows["contrast"].isin(self.main_effects)]
            return rows.loc[rows.apply(common.far_from_zero, axis=1).idxmax()]
        rows = rows[~rows["contrast"].str.endswith(" - others")]
        if len(rows) <= MOST_SAID:
            return rows.iloc[0]
        decided = rows[rows["verdict"].str.startswith(("below", "above"))]
        return rows.loc[(rows if decided.empty else decided)["mean"].abs().idxmax()]

    def _fitted(self) -> BiasFit:
        if self.fit is None:
            raise FitError(f"there is no fit: {' '.join(self.notes)}")
        return self.fit

    def _kinds(self) -> list[str]:
        """Return what can be new."""
        table, nouns = self._fitted().table, dict(self.responses.nouns)
        for name in self.responses.categories:
            del nouns[name]
        if RATER in self._fitted().spec.units:
            nouns[RATER] = "raters"
        several = [name for name in nouns if table[name].nunique() > 1]
        if "arm" in table:  # one label of each group tells nothing about others
            labels = table.groupby("arm")[several].nunique()
            several = [name for name in several if labels[name].max() > 1]
        return [nouns[name] for name in several]

    def _held(self, level: str, estimand: str) -> list[str]:
        """Return the means and effects that an estimand keeps; the others are averaged away."""
        fit = self._fitted()
        held = levels_of(fit.design, estimand)[level][2] | set(fit.spec.results.fixed)
        dims = {name: set(fit.spec.parameters[name].dims) for name in fit.spec.mu}
        return [name for name in dims if not fit.spec.is_random(name) or dims[name] <= held]

    def _variances(self, rows: Any = slice(None)) -> dict[str, np.ndarray]:
        """Return draws of the variance of each effect, and of single answers."""
        fit = self._fitted()
        draws = fit.scales_and_effects(())
        out = variances.term_variances(fit.design, draws, rows)
        n = len(next(iter(draws.values())))
        noise = np.broadcast_to(out.pop(""), n)
        return out | {"answer": noise}

    def _pairs(self, level: str = "overall") -> Pairs:
        """Return model, contrast and the weights of groups under models, of all contrasts.

        By item and template a factorial table has main effects only.
        """
        groups, models = self.responses.groups, self.responses.models
        contrasts = [
            (contrast.name, contrast.weights)
            for contrast in factorial.contrasts_of(self.responses)
            if level == "overall" or contrast.level in ("overall", "main")
        ] or [(groups[0], {groups[0]: 1.0})]
        found = []
        for own in [*zip(models, strict=True), *itertools.combinations(models, 2)]:
            for name, sides in contrasts:
                arms = itertools.product(zip(own, (1, -1), strict=False), sides.items())
                weights = {f"{group} | {model}": sign * by for (model, sign), (group, by) in arms}
                found.append((" - ".join(own), name, weights))
        if len(groups) < 2:
            return [("", compared, weights) for compared, _, weights in found[len(models) :]]
        return found

    def _questions(self) -> tuple[pd.DataFrame, Design]:
        """Return the table and the design of the questions: repeated numbers as their mean.

        A mean over questions gives each the same weight, however often it was answered.
        """
        fit = self._fitted()

        def make() -> tuple[pd.DataFrame, Design]:
            by = [*self.answer_kind.question]
            if RATER in fit.spec.units:  # each rater counts alike
                by.append(RATER)
            none = {name: np.zeros(len(fit.table)) for name in fit.design.covariates}
            design = replace(fit.design, covariates=none)  # groups are compared at the same values
            if not fit.table.duplicated(by).any():
                return fit.table, design
            means = fit.table.groupby(by, observed=True)["outcome"].transform("mean").to_numpy()
            first = np.flatnonzero(~fit.table.duplicated(by))
            design = replace(design, y=means).of_rows(first)
            return fit.table.iloc[first].assign(outcome=means[first]), design

        return fit.cached(("responses", "questions"), make)

    def _new_units(self, new: Any, rows: Any = slice(None)) -> list[NewUnits]:
        """Return what is new, for some rows of the questions: those that two groups answered.

        As large a share of the new units has rows there as of the listed ones.
        """
        table, design = self._questions()
        nouns = {"words": "word", "prompts": "template", "items": "item", "templates": "template"}
        nouns |= {noun: column for column, noun in self.responses.nouns.items()}
        if RATER in self._fitted().spec.units:
            nouns["raters"] = RATER
        units = new_units(design, table, new, nouns)
        return [kind.of_rows(rows) for kind in units]

    def _noise_of_questions(self) -> np.ndarray:
        """Return the variance of the noise of each question, over that of an answer."""
        fit = self._fitted()
        by = [*self.answer_kind.question]
        if RATER in fit.spec.units:
            by.append(RATER)
        weights = fit.design.weights
        alone = pd.Series(1.0 if weights is None else 1 / weights, index=fit.table.index)
        labels = [fit.table[column] for column in by]
        sums = alone.groupby(labels, observed=True).transform("sum")
        counts = alone.groupby(labels, observed=True).transform("count")
        first = ~fit.table.duplicated(by).to_numpy()
        return (sums / counts**2).to_numpy()[first]

    def _rows_of_both(self, pairs: Pairs | None = None) -> dict[str, np.ndarray]:
        """Return the rows that both sides of each contrast answered, where one side answered more.

        `pairs` are as `_pairs` returns them, which it does by default.
        """
        questions, _ = self._questions()
        labels = tables.shared_labels(self.responses)

        def make() -> dict[str, np.ndarray]:
            asked = tables.asked_labels(questions)
            of_group = asked.groupby(["group", "template", "item"]).ngroup().to_numpy()
            of_all = asked.groupby(labels).ngroup().to_numpy() if labels else None
            arm = questions["arm"].astype(str).to_numpy()
            out = {}
            for model, name, arms in self._pairs() if pairs is None else pairs:
                every = np.isin(arm, [*arms])
                groups = itertools.groupby(sorted(arms), lambda label: label.rsplit(" | ", 1)[0])
                sides = [[*of_models] for _, of_models in groups]
                rows = common.rows_in_common(of_group, arm, sides, every)
                if rows is None:  # models that answered nothing in common are not compared
                    out[f"{name} | {model}"] = np.zeros(len(arm), dtype=bool)
                    continue
                if of_all is not None:
                    both = common.rows_in_common(of_all, arm, [[*arms]], rows)
                    rows = rows if both is None else both
                if (rows != every).any():
                    out[f"{name} | {model}"] = rows
            return out

        if pairs is not None:
            return make()
        return self._fitted().cached(("responses", "rows of both"), make)

    def _described(self, estimand: str, level: str, prob: float) -> list[pd.DataFrame]:
        """Return the contrasts of a level, one table a scale."""
        return self.answer_kind.contrasts(self, self._means(estimand, level), prob)

    def _with_families(self, estimand: str, prob: float) -> list[pd.DataFrame]:
        """Return the overall contrasts with intervals that hold for a family."""
        fit = self._fitted()
        make = partial(self._described, estimand, "overall", prob)
        frames = fit.cached(("responses", estimand, "overall", prob, self.rope), make)
        return [together.with_families(frame, self, estimand, prob) for frame in frames]

    def _means(self, estimand: str, level: str, pairs: Pairs | None = None) -> Means:
        """Return the means of arms, also of the rows that both sides of a contrast answered.

        `pairs` are what is compared, by default all that is printed.
        """
        fit, design = self._fitted(), self._questions()[1]
        ordered, weights = design.ordered(), self.answer_kind.weights
        listed = mean_quantities(ordered, estimand, weights(ordered, estimand)).at(level)
        parts = {"": listed.chosen(fit.order_of(listed))}  # in the order of the table
        rows: dict[str, Any] = {"": slice(None)}
        if estimand != "population":
            rows |= self.answer_kind.rows_in_common(self, pairs)
        for contrast, mask in rows.items():
            if contrast:
                compared = design.of_rows(mask).ordered()
                means = mean_quantities(compared, estimand, weights(compared, estimand))
                parts[contrast] = means.at(level)
        if self.responses.adjust:
            parts = {name: replace(part, observed=None) for name, part in parts.items()}
        return Means(estimand, level, parts, rows, pairs)

    def _combinations(self, means: Means) -> tuple[list[Key], Any]:
        """Return the keys of all contrasts of means, and their weights of these."""
        contrasts = []
        pairs = self._pairs(means.level) if means.pairs is None else means.pairs
        for model, name, arms in pairs:
            label = f"{name} | {model}"
            contrasts.append((label, label, arms))
        keys = {name: part.keys for name, part in means.parts.items()}
        return contrasts_of(keys, contrasts)

    def _shared_by_replies(self, level: str, estimand: str) -> tuple[np.ndarray, np.ndarray]:
        """Return which column each row has, and draws of what replies share, in log odds.

        The first column is zero. Where prompts are new, groups differ from prompt to prompt at least as
        much as replies do: what the SDs of a draw lack of that is left.
        """
        fit = self._fitted()

        def make() -> tuple[np.ndarray, np.ndarray]:
            index, n = np.zeros(len(fit.table), dtype=int), int(np.prod(fit.shape))
            rng, columns = np.random.default_rng([fit.stream, 11]), [np.zeros(n)]
            for labels, groups, root in tables.shared_by_replies(self.responses):
                here = (fit.table[tables.PROMPT] == [*labels]).all(axis=1)
                drawn = rng.standard_normal((n, len(groups))) @ root.T
                for group, column in zip(groups, drawn.T, strict=True):
                    index[here & (fit.table["group"] == group)] = len(columns)
                    columns.append(column)
            return index, np.stack(columns, axis=-1)

        index, shared = fit.cached("replies", make)
        if "template" in levels_of(fit.design, estimand)[level][2] or not index.any():
            return index, shared
        draws, variance = fit.parameter_draws(), np.zeros((len(shared), 1))
        for name in fit.spec.mu:
            parameter = fit.spec.parameters[name]
            if "template" in parameter.dims and {"group", "arm"} & {*parameter.dims}:
                sds = draws[str(parameter.args["sigma"])].reshape(len(variance), -1)
                variance += (sds**2).mean(axis=1, keepdims=True)
        of_replies = np.maximum(shared.var(axis=0), 1e-12)
        return index, shared * np.sqrt(np.maximum(1 - variance / of_replies, 0))


def _by_model(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """Return contrasts as one table, with their models apart, and labels first."""
    out = pd.concat(frames, ignore_index=True)
    series = out.pop("series").astype(str).str.rsplit(" | ", n=1)
    out["contrast"], out["model"] = series.str[0], series.str[-1]
    first = ["model", "contrast", "level", "name", "estimand", "scale"]
    return out.set_index(first).reset_index()


def weights_of_series(
    weights: Mapping[str, float], printed: Mapping[str, Mapping[str, float]], label: str
) -> dict[str, float]:
    """Return a printed contrast of the same groups, or its reverse, with its sign.

    Examples
    --------
    >>> weights_of_series({"b": 1.0, "a": -1.0}, {"a - b": {"a": 1.0, "b": -1.0}}, "b - a")
    {'a - b': -1.0}
    """
    for name, sides in printed.items():
        if sides.keys() != weights.keys():
            continue
        scales = [weights[group] / side for group, side in sides.items()]
        if all(math.isclose(scale, scales[0]) for scale in scales):
            return {name: scales[0]}
    raise InputError(
        f"expected a contrast of paired answers: {some(printed)}", where="compare", found=label
    )


def fit_responses(
    table: Responses, model: Any = None, *, rope: float | None = None, **sampling: Any
) -> ResponsesResult:
    """Fit the crossed model to a table of responses, beside the published scores.

    Parameters
    ----------
    table : Responses
        From `bayesbias.responses_table` or `load_responses`.
    model : str, path or ModelSpec, optional
        By default ``responses_choice`` for 0/1 answers, ``responses_paired`` for paired numbers, and
        ``responses`` for other numbers. ``ordered`` is for ratings of 3 to 11 whole-number levels: a
        cumulative logit, with differences in the mean rating and in P(at least each level).
    rope : float, optional
        Half-width of the region of practical equivalence. By default .02 for 0/1 answers, and a tenth
        of the SD for numbers: of the differences where they are paired, else of the answers. In log
        odds it is four times as wide.
    **sampling
        Options of `bayesbias.fit`: ``draws, tune, chains, seed, engine, progress``.

    Returns
    -------
    ResponsesResult
        Without a fit where only the published scores can be computed, such as where all answers agree.

    Raises
    ------
    InputError
        If `table` is not a table of responses, or has nothing to compare.

    Examples
    --------
    >>> import bayesbias as bb
    >>> scores = {"group": ["a", "b"] * 8, "template": [f"t{k // 2}" for k in range(16)],
    ...     "outcome": [0.2, 0.5, 0.1, 0.4, 0.3, 0.5, 0.2, 0.6, 0.2, 0.3, 0.1, 0.5, 0.4, 0.5, 0.2, 0.5]}
    >>> found = bb.fit_responses(bb.responses_table(scores), seed=1, draws=200, tune=300, chains=2)
    >>> found.contrasts(estimand="population", level="overall")["contrast"].tolist()
    ['a - b']
    """
    from bayesbias.models.spec import list_models, load_model
    from bayesbias.models.variants import (
        trimmed,
        with_categories,
        with_covariates,
        with_factors,
        with_raters,
    )

    checks.instance(table, Responses, "table", "what responses_table or load_responses returns")
    if isinstance(model, str):
        model = next((kind.model for kind in ASKED if kind.name == model), model)
    asked = None if model is None else load_model(model)
    kind = kind_of(table, asked)
    kind.check(table)
    spec = load_model(kind.model) if asked is None else asked

    # A model without an effect of the question would treat repeats as independent.
    # Few of them tell the SD of questions hardly apart from the noise: then their mean counts.
    share = float(table.frame.duplicated([*tables.LABELS]).mean())
    has_question_effect = "question_effect" in spec.mu
    repeats = has_question_effect and share > _FEW_REPEATS
    rows, notes_of_rows = kind.rows(table, repeats)
    few_repeats = has_question_effect and 0 < share <= _FEW_REPEATS
    if few_repeats and kind.averages_repeats(table):
        notes_of_rows = [*notes_of_rows, "Of the few questions with repeats, the mean counts."]
    published = kind.published(table, rows)
    notes = [
        *table.notes,
        *_told_apart(table, kind),
        *_lacking(table, kind),
        *_met_unequally(table, kind),
        *_alike_pair(table, kind),
        *notes_of_rows,
        *(_without_t(published, table) if kind.scores_have_t else ()),
        *(_levels_in_order(table) if model is None and kind.modeled == "outcome" else ()),
    ]

    if rope is None:
        rope = kind.default_rope(table, rows)
    checks.positive(rope, "rope")
    result = ResponsesResult(table, published, kind.name, None, tuple(notes), rope)

    reason = _nothing_to_compare(result) or kind.nothing_to_fit(table, rows)
    if reason and published.empty:
        problem = "expected answers that can be compared, got none"
        raise InputError(problem, where="responses", hint=reason.rstrip("."))
    if reason:
        return replace(result, notes=(*notes, reason))

    if model is None or str(model) in list_models():
        if table.factors:
            columns = {name: factorial.column_of(name) for name in table.factors}
            unseen = factorial.terms_left_out(rows, table)
            spec = with_factors(spec, columns, tables.words_cross_cells(table), unseen)
        if table.categories:
            spec = with_categories(spec, [*table.categories])
        if table.beside:
            spec = with_covariates(spec, table.adjust, tables.WEIGHT if table.weighted else "")
        if table.raters_vary:
            spec = with_raters(spec, RATER)
        spec = kind.in_units(spec, rows)
    if spec.trim:
        spec = trimmed(spec, rows)
    sampling.setdefault("pointwise", False)
    try:
        fitted, left_out = _fit_what_fits(rows, spec, sampling)
        notes += left_out
        result = replace(result, fit=fitted)
        result._fitted().provenance["table"]["name"] = table.name
    except FitError as error:
        return replace(result, notes=(*notes, f"The sampler failed: {error}"))
    return replace(result, notes=(*notes, *_one_each(result), *_one_question(result)))


def _fit_what_fits(
    rows: pd.DataFrame, spec: ModelSpec, sampling: dict[str, Any]
) -> tuple[BiasFit, list[str]]:
    """Fit a model, without its largest interactions where it takes too much memory.

    Returns
    -------
    BiasFit
    list of str
        A note on each interaction that is left out.
    """
    from bayesbias.inference.fitting import fit
    from bayesbias.models.design import Design
    from bayesbias.models.variants import without_terms

    notes: list[str] = []
    while True:
        try:
            return fit(rows, spec, **sampling), notes
        except TooLargeError:
            design = Design.of(spec, rows)
            sizes = {}
            for name in spec.mu:
                if spec.is_random(name) and len(spec.parameters[name].dims) > 1:
                    sizes[name] = len(np.unique(design.index[name]))
            if not spec.trim or not sizes:
                raise
            largest = max(sizes, key=sizes.__getitem__)
            note = (
                f"{largest} is left out: with its {sizes[largest]:,} effects the model would not fit "
                "into memory. Its spread counts as noise."
            )
            notes.append(note)
            spec = without_terms(spec, [largest], note)


def _levels_in_order(table: Responses) -> list[str]:
    """Offer the model of ordered levels where answers are few whole numbers."""
    if not table.levels or table.answer_counts is not None:
        return []
    levels = len(table.levels)
    return [f"Answers have {levels} levels. --model ordered compares how often each is reached."]


def _lacking(table: Responses, kind: Kind) -> list[str]:
    """Say which models and groups lack answers to what others were asked about."""
    nouns = {name: table.nouns[name] for name in kind.columns_of_questions(table)}
    notes = common.lacking(table.frame, "model", nouns)
    labels = kind.shared_by_groups(table)
    if table.factors:  # a name is of some cells, such as those of one race
        labels = [label for label in labels if label != "word"]
    if labels:
        several = len(labels) > 1 or len(table.models) > 1
        noun = "questions" if several else table.nouns[labels[0]]
        question = frames.joined(table.frame[["model", *labels]])
        notes += common.lacking(table.frame.assign(question=question), "group", {"question": noun})
    return notes


def _met_unequally(table: Responses, kind: Kind) -> list[str]:
    """Say where groups answered the same prompts and items, and not equally often."""
    asked = [name for name in ("template", "item") if name in kind.shared_by_groups(table)]
    if not asked:
        return []
    question = frames.joined(table.frame[asked])
    answers = pd.crosstab(table.frame["group"], question)
    if not (answers > 0).all(axis=None):  # another note says it
        return []
    shares = answers.div(answers.sum(axis=1), axis=0)
    apart = (shares - shares.mean()).abs().sum(axis=1) / 2
    if apart.max() < _UNEQUAL:
        return []
    nouns = join_words([table.nouns[name] for name in asked])
    return [
        f"Groups did not answer the same {nouns} equally often. These have the same weight in all "
        "groups here, but not in the published scores."
    ]


def _without_t(published: pd.DataFrame, table: Responses) -> list[str]:
    """Say for which published scores t is undefined, since all scores are equal."""
    has_none = published["score"].str.startswith("share")
    if table.published_scores is not None:
        has_none |= published["score"].isin(table.published_scores["score"])
    without = published[published["t"].isna() & (published["n"] > 1) & ~has_none]
    names = checks.once(without["name"].astype(str))
    if not names:
        return []
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    shown = "; ".join(names[:5]) + more
    return [f"No published t for {shown}: all scores are equal, so that t is undefined."]


def _nothing_to_compare(result: ResponsesResult) -> str:
    """Say why there are no two groups or models to compare; empty if there are."""
    if result._pairs():
        return ""
    table = result.responses
    groups = table.coverage["groups"]
    lost = [name for name, counts in groups.items() if not counts["used"]]
    if lost:
        about = f"All answers about {join_words(lost)} are left out."
        if any(groups[name].get("refusals") for name in lost):
            return f"{about} Compare the refusals: --outcome refused."
        return f"{about} If texts stand for a number, name it: --map."
    about = "" if table.groups == ["all"] else f" ({table.groups[0]})"
    others = f" Other columns: {some(table.unused)}." if table.unused else ""
    return (
        f"There is one group{about} and one model, so that there is nothing to compare. Name "
        f"your columns: --columns group=NAME,word=NAME,item=NAME,template=NAME.{others} Keep the "
        "columns of a file of sentences that you rate."
    )


def _one_each(result: ResponsesResult) -> list[str]:
    """Say where what could be new has one row each, so that new and these are not told apart."""
    new, these = result.estimands["population"], result.estimands.get("listed_words", "")
    if not these:
        return []
    if result._held("overall", "listed_words") != result._held("overall", "population"):
        return []
    return [
        f"{new[4:].capitalize()} have one {result.answer_kind.row} each, so that rows for {new} and "
        f"{these} have the same interval."
    ]


def _one_question(result: ResponsesResult) -> list[str]:
    """Say of which prompts and items each group has one, so that nothing is known about others."""
    table, kinds = result.responses, result._kinds()
    frame, unit = table.frame, "group" if len(table.groups) > 1 else "model"
    if frame[tables.ASKED].eq("").all(axis=None):
        return [
            "The columns word, template and item are missing, so that all answers about a "
            f"{unit} count as answers to one question. Nothing is known about other questions."
        ]
    alone = []
    for name in ("template", "item"):  # a warning says it of words
        if name in table.categories:
            continue
        named, several = frame[name].ne("").any(), frame[name].nunique() > 1
        if named and table.nouns[name] not in kinds and (several or not kinds):
            alone.append(table.nouns[name])
    if not alone:
        return []
    one = join_words([noun.removesuffix("s") for noun in alone])
    return [
        f"Each {unit} has answers to one {one} only, so that nothing is known about other "
        f"{join_words(alone)}."
    ]


def _alike_pair(table: Responses, kind: Kind) -> list[str]:
    """Name the two of several groups whose differences vary far less than those of other groups."""
    if kind.name != "number" or len(table.groups) < 3 or table.matching is None:
        return []
    differences, _ = tables.differences(table)
    differences = differences[differences["model"].isin(table.models)]
    variances = differences.groupby("contrast", sort=False)["outcome"].var()
    of_two = {
        name: (a[0], b[0])
        for name, a, b in tables.group_contrasts(table.groups)
        if len(a) == len(b) == 1
    }
    sds = np.sqrt(variances.reindex(list(of_two)).dropna())
    if len(sds) < 2 or sds.min() >= _ALIKE * np.sqrt((sds**2).mean()):
        return []
    name = str(sds.idxmin())
    rest = [group for group in table.groups if group not in of_two[name]]
    how = f": --where 'group != {rest[0]}'" if len(rest) == 1 else ""
    others = np.sqrt((sds.drop(name) ** 2).mean())
    return [
        f"Differences {name} vary less from question to question (SD {format_value(sds.min())}) than "
        f"those with {some(rest)} ({format_value(others)}), and the model has one SD for all groups: the "
        f"interval of {name} is too wide. Fit these two groups alone{how}."
    ]


def _told_apart(table: Responses, kind: Kind) -> list[str]:
    """Say where groups share no texts, or a column that is not used may tell questions apart."""
    frame = table.frame
    given = [name for name in table.nouns if frame[name].ne("").any()]
    if not given or len(table.groups) < 2:
        return []
    apart = [name for name in given if not table.shares(name)]
    hints = []
    paired = kind.paired_by(table)
    if paired and "template" in apart:
        hints.append(f"Answers to the same {join_words(paired[1:])} are paired.")
    elif {"template", "item"} & {*apart}:
        hints.append(
            "If they differ only by the word for the group, write one text for all groups, such as "
            "'{word} is a doctor'. Then groups are compared on the same text."
        )
    if table.unused and apart == given:
        together = "If a column tells which answers belong together, name it: --columns item=NAME."
        together += " If it describes them, --columns adjust=NAME."
        hints.append(f"{together} Other columns: {some(table.unused)}.")
    if not hints:
        return []
    nouns = join_words([table.nouns[name] for name in apart], "or")
    return [" ".join([f"Groups have no {nouns} in common.", *hints])]
