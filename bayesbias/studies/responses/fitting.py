r"""The crossed model of a table of responses, and what is asked of it.

Numbers are modelled as they are, with an exact marginal likelihood; of paired tables their differences.
Repeated answers are rows that share the effect of their question. 0/1 answers are counted by question
and modelled in log odds. With group :math:`g`, word :math:`w`, template :math:`t` and item :math:`i`,

.. math:: \eta = \mu_g + w + t + i + (ti) + (gi) + (gt) + (gw) + (gwti),

where all but the mean are normal effects; models have means and interactions of their own. On the scale
of probabilities, effects that are not held are integrated out: with :math:`v` the sum of their variances,
a mean over new words is :math:`E[\operatorname{logit}^{-1}(\eta + \sqrt v z)]`, by Gauss-Hermite quadrature.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.core import FitError, InputError, checks, join_words, some
from bayesbias.core.conventions import PROB
from bayesbias.core.result import Result
from bayesbias.inference import variances
from bayesbias.inference.description import outcomes_of_rows, units_of_rows
from bayesbias.inference.estimands import levels_of, mean_probabilities, mean_quantities
from bayesbias.inference.estimates import estimates, keyed_draws, labeled_draws, without_detail
from bayesbias.inference.linear import Key, Quantities, contrasts_of
from bayesbias.inference.measured import Measured, with_coverage
from bayesbias.inference.view import View
from bayesbias.studies import common
from bayesbias.studies.responses import table as tables
from bayesbias.studies.responses.table import Responses

if TYPE_CHECKING:
    from bayesbias.inference.posterior import BiasFit
    from bayesbias.models.design import Design

ESTIMANDS = ("population", "new_words", "new_prompts", "listed_words")
"""The estimands of the models of responses; `ResponsesResult.estimands` says what they hold for."""
MODELS = {"choice": "responses_choice", "paired": "responses_paired", "number": "responses"}
LITTLE = 0.1  # of a difference, in SDs of all answers
LITTLE_PROBABILITY = 0.02
_STEEPEST = 4  # slope of log odds on a probability of one half
_DRAWS = 1000  # that probabilities are computed for


@dataclass(frozen=True, eq=False, repr=False)
class ResponsesResult(Result):
    """The answers, the published scores, and the fit.

    Attributes
    ----------
    responses : Responses
        The table that was read.
    published : pandas.DataFrame
        ``name, score, n, mean_score, t, p_value``.
    kind : {"choice", "paired", "number"}
        What was modelled: 0/1 answers, differences of paired answers, or numbers.
    fit : BiasFit or None
        None where the answers leave nothing to fit; `notes` says why.
    notes : tuple of str
        What a reader should know.
    rope : float
        Half-width of the region of practical equivalence (ROPE), on the scale of the answers.
    """

    study = "responses"  # whose sections show it, see bayesbias.output
    MACHINERY = Result.MACHINERY | {"breakdown", "items_title", "scale", "subject"}

    responses: Responses
    published: pd.DataFrame
    kind: str
    fit: BiasFit | None = None
    notes: tuple[str, ...] = ()
    rope: float = LITTLE_PROBABILITY

    @property
    def subject(self) -> str:
        """What was analyzed, for sentences."""
        models = [model for model in self.responses.models if model]
        of = f" of {join_words(models)}" if models else ""
        return f"responses{of} about {join_words(self.responses.groups)}"

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
        outcome = self.responses.outcome
        if self.kind == "choice":
            return "probability" if outcome == "outcome" else f"probability of {outcome}"
        return outcome

    @property
    def breakdown(self) -> str:
        """What `items` has rows for: items, or templates where there is one item."""
        return "item" if self._fitted().table["item"].nunique() > 1 else "template"

    @property
    def items_title(self) -> str:
        """What `items` shows, and what it holds for."""
        new = [kind for kind in self._kinds() if kind != self.responses.nouns[self.breakdown]]
        what = "Differences" if self.kind == "paired" else "Each group"
        return f"{what} by {self.breakdown}" + (f", for new {join_words(new)}" if new else "")

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
            rows = self.contrasts(prob=prob, detail=True)
            overall, model = rows["level"] == "overall", rows["model"]
            # A limit is on each model; differences between models are asked for by name.
            single = model.isin(["", *self.responses.models])
            rows = rows.assign(
                shown=(model + " " + rows["name"].mask(overall, "")).str.strip(),
                name=rows["name"].mask(overall, model),
                level=rows["level"].where(single, "models"),
            )
            return rows[(rows["scale"] != "log_odds") & (single | overall)]

        return {"": Measured(contrasts, self.fit.diagnostics()["ok"], coverage)}

    def rows_in_words(self) -> str:
        """Say what was modeled: answers, their differences, or counts of 0/1 answers."""
        fit = self._fitted()
        what = outcomes_of_rows(fit)
        if self.kind == "paired":
            what = (
                f"{len(fit.table):,} differences between answers to the same question, from "
                f"{len(self.responses.frame):,} answers"
            )
        elif self.kind == "number":
            what = f"the {self.responses.outcome} of {len(fit.table):,} answers"
        return f"{what}{units_of_rows(fit)} {self.subject.removeprefix('responses ')}"

    def contrasts(
        self,
        prob: float = PROB,
        estimand: str | None = None,
        level: str | None = None,
        *,
        detail: bool = False,
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
            By default all.
        detail : bool
            Whether to return all columns of `bayesbias.inference.estimates`, also standard
            deviations and Monte Carlo errors.

        Returns
        -------
        DataFrame
            ``model, contrast, level, name, estimand, scale, mean, hpdi_low, hpdi_high,
            p_below_zero, p_in_rope, verdict``. The scale is ``probability`` and ``log_odds`` of 0/1
            answers, else ``outcome``.
        """
        fit = self._fitted()
        several = (own for own in fit.spec.results.levels if fit.table[own].nunique() > 1)
        levels = ["overall", *several]
        if level is not None:
            levels = [checks.choice(level, levels, "level")]
        asked = [*self.estimands]
        if estimand is not None:
            asked = [checks.choice(estimand, ESTIMANDS, "estimand")]
        frames = []
        for which, own in itertools.product(asked, levels):
            same = self._held(own, which) == self._held(own, "population")
            if estimand is None and which != "population" and own != "overall" and same:
                continue  # no answers tell the estimands apart
            make = partial(self._described, which, own, prob)
            frames += fit.cached(("responses", which, own, prob, self.rope), make)
        out = pd.concat(frames, ignore_index=True)
        # Of items that one group alone is asked about there are no rows.
        series = out.pop("series").astype(str).str.rsplit(" | ", n=1)
        out["contrast"], out["model"] = series.str[0], series.str[-1]
        first = ["model", "contrast", "level", "name", "estimand", "scale"]
        out = out.set_index(first).reset_index()
        return out if detail else without_detail(out)

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
        r"""Estimate how many independent answers all answers amount to, for the first contrast and new words and prompts.

        With weights :math:`c_r` of the answers in the contrast, the variance of its mean is
        :math:`\sum_k \sigma_k^2 s_k` with :math:`s_k = \sum_j (\sum_{r \in j} c_r)^2`, over effects k and
        their levels j. Independent answers would have
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
        model, name, arms = self._pairs()[0]
        both = None
        if self.kind == "paired":
            first = table.iloc[0]
            model, name, arms = first["model"], first["contrast"], {first[label]: 1.0}
        else:
            both = self._rows_of_both().get(f"{name} | {model}")
            both = both if both is not None and both.any() else None
        if model and len(self.responses.models) > 1:
            name = f"{model}: {name}"
        arm = table[label].astype(str)
        answers = table["answers"] if "answers" in table else pd.Series(1, table.index)
        if both is not None:  # what one side alone answered says nothing about the difference
            compared = self._questions()[0]["question"][both]
            answers = answers.where(table["question"].isin(compared), 0)
        share = (arm.map(arms) / answers.groupby(arm).transform("sum")).fillna(0.0)
        n, weights = answers.to_numpy(float), share.to_numpy(float)
        used = weights * n != 0
        parts = self._variances(used)
        index, shared = self._shared_by_replies("overall", "listed_words")
        sums = np.bincount(index, weights * n, shared.shape[1])
        own = float((weights**2 * n).sum())
        together = {"answer": own}
        for term, levels in fit.design.index.items():
            together[term] = float((np.bincount(levels, weights * n) ** 2).sum())
        variance: Any = (shared @ sums).var() + sum(parts[of] * together[of] for of in parts)
        alone: Any = sum(parts[of] * min(own, together[of]) for of in parts)
        effective = (alone / variance * n[used].sum()).reshape(*fit.shape, 1)
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
        fit, level = self._fitted(), self.breakdown
        if self.kind == "choice":
            asked = fit.quantities(level, "population", "arm")
            keys = [asked.keys[k] for k in fit.order_of(asked)]
            draws, _ = self._probabilities("population", level, keys)
            _, names, own = zip(*keys, strict=True)
            frame = estimates(labeled_draws(draws, {"name": names, "arm": own}), prob)
        else:
            frame = fit.means(level, prob).rename(columns={fit.spec.results.group: "arm"})
        arms = frame["arm"].str.rsplit(" | ", n=1, expand=True)
        return frame.assign(group=arms[0], model=arms[1]).drop(columns="arm")

    def _fitted(self) -> BiasFit:
        if self.fit is None:
            raise FitError(f"there is no fit: {' '.join(self.notes)}")
        return self.fit

    def _kinds(self) -> list[str]:
        """Return what can be new."""
        table, nouns = self._fitted().table, self.responses.nouns
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

    def _pairs(self) -> list[tuple[str, str, dict[str, float]]]:
        """Return model, contrast and the weights of groups under models, of all contrasts."""
        groups, models = self.responses.groups, self.responses.models
        contrasts = tables.group_contrasts(groups) or [(groups[0], (groups[0],), ())]
        found = []
        for own in [*zip(models, strict=True), *itertools.combinations(models, 2)]:
            for name, a, b in contrasts:
                sides = dict.fromkeys(a, 1 / len(a)) | {group: -1 / len(b) for group in b}
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
            by = ["question", "series"] if self.kind == "paired" else ["question"]
            if not fit.table.duplicated(by).any():
                return fit.table, fit.design
            means = fit.table.groupby(by, observed=True)["outcome"].transform("mean").to_numpy()
            first = np.flatnonzero(~fit.table.duplicated(by))
            design = replace(fit.design, y=means).of_rows(first)
            return fit.table.iloc[first].assign(outcome=means[first]), design

        return fit.cached(("responses", "questions"), make)

    def _rows_of_both(self) -> dict[str, np.ndarray]:
        """Return the rows that both sides of each contrast answered, where one side answered more."""
        questions, _ = self._questions()
        labels = tables.shared_labels(self.responses)

        def make() -> dict[str, np.ndarray]:
            asked = tables.asked_labels(questions)
            of_group = asked.groupby(["group", "template", "item"]).ngroup().to_numpy()
            of_all = asked.groupby(labels).ngroup().to_numpy() if labels else None
            arm = questions["arm"].astype(str).to_numpy()
            out = {}
            for model, name, arms in self._pairs():
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

        return self._fitted().cached(("responses", "rows of both"), make)

    def _described(self, estimand: str, level: str, prob: float) -> list[pd.DataFrame]:
        """Return the contrasts of a level, one table a scale."""
        fit = self._fitted()
        design = self._questions()[1]
        listed = mean_quantities(design.ordered(), estimand).at(level)
        parts = {"": listed.chosen(fit.order_of(listed))}  # in the order of the table
        rows_of: dict[str, Any] = {"": slice(None)}
        if self.kind != "paired" and estimand != "population":
            rows_of |= self._rows_of_both()
            for contrast, rows in [*rows_of.items()][1:]:
                own = design.of_rows(rows).ordered()
                parts[contrast] = mean_quantities(own, estimand).at(level)
        asked = Quantities.joined([*parts.values()])
        if level != "overall":  # few answers: the mean of the model, as its interval
            asked = replace(asked, observed=None)
        if self.kind == "paired":
            frame = fit.describe(asked, estimand, "series", prob, self.rope)
            return [frame.assign(scale="outcome")]
        labeled = ((f"{name} | {model}", arms) for model, name, arms in self._pairs())
        every = ((label, label, arms) for label, arms in labeled)
        keys, weights = contrasts_of({part: own.keys for part, own in parts.items()}, every)
        if self.kind == "choice":
            make = partial(self._probabilities, estimand, level)
            drawn = [make(parts[part].keys, rows) for part, rows in rows_of.items()]
            shares, shared = (np.concatenate(each, axis=-1) for each in zip(*drawn, strict=True))
            log_odds = asked.linear.draws(fit.scales_and_effects(asked.linear.weights)) + shared

            def described(scale: str, draws: np.ndarray, rope: float) -> pd.DataFrame:
                labeled = keyed_draws(draws @ weights.toarray().T, keys, "series", estimand)
                return estimates(labeled, prob, rope).assign(scale=scale)

            return [
                described("probability", shares, self.rope),
                described("log_odds", log_odds.reshape(*fit.shape, -1), _STEEPEST * self.rope),
            ]
        answer = fit.answer(asked.combined(keys, weights), estimand, "series")
        frame = estimates(answer.draws, prob, self.rope, answer.mixtures, answer.observed)
        return [frame.assign(scale="outcome")]

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
                variance += draws[str(parameter.args["sigma"])].reshape(-1, 1) ** 2
        of_replies = np.maximum(shared.var(axis=0), 1e-12)
        return index, shared * np.sqrt(np.maximum(1 - variance / of_replies, 0))

    def _probabilities(
        self, estimand: str, level: str, keys: list[Key], rows: Any = slice(None)
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return draws of mean probabilities (chains, draws, keys), and what replies add to log odds."""
        fit, draws = self._fitted(), self._fitted().parameter_draws()
        labels, codes, _ = levels_of(fit.design, estimand)[level]
        chains, n = fit.shape
        some = np.arange(chains * n).reshape(chains, n)[:, :: min(-(-chains * n // _DRAWS), 4)]
        place = {key[1:]: k for k, key in enumerate(keys)}
        arms, group = fit.table["arm"].astype(str).to_numpy(), np.full(len(codes), -1)
        found = zip(np.array(labels)[codes[rows]], arms[rows], strict=True)
        group[rows] = [place[own] for own in found]
        kept, replies = self._held(level, estimand), self._shared_by_replies(level, estimand)
        means, added = mean_probabilities(fit.design, draws, kept, replies, group, some.ravel())
        return means.reshape(*some.shape, len(keys)), added


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
        ``responses`` for other numbers.
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
    from bayesbias.inference.fitting import fit
    from bayesbias.models.spec import list_models, load_model
    from bayesbias.models.variants import scaled, trimmed

    checks.instance(table, Responses, "table", "what responses_table or load_responses returns")
    kind = "choice" if table.is_choice else "paired" if table.pairing else "number"
    spec = load_model(MODELS[kind] if model is None else model)
    # A model without an effect of the question would treat repeats as independent.
    repeats = "question_effect" in spec.mu and bool(table.frame.duplicated([*tables.LABELS]).any())
    asked = tables.ASKED if kind == "paired" else ["template", "item"]
    lacks = common.lacking(table.frame, "model", {name: table.nouns[name] for name in asked})
    labels = [] if kind == "paired" else tables.shared_labels(table)
    if labels:
        several = len(labels) > 1 or len(table.models) > 1
        noun = "questions" if several else table.nouns[labels[0]]
        question = table.frame[["model", *labels]].agg(" | ".join, axis=1)
        lacks += common.lacking(table.frame.assign(question=question), "group", {"question": noun})
    notes = [*table.notes, *_told_apart(table), *lacks]
    if kind == "paired":
        frame, lacking = tables.differences(table, repeats)
        if lacking:
            notes.append(f"{lacking} questions lack the answer of a group and are left out.")
    elif kind == "number" and repeats:
        frame = tables.answers(table)
    else:
        frame = tables.cells(table)
    questions = tables.means_of_questions(frame) if kind == "paired" else frame
    found = tables.published_scores(table, kind, questions)
    without = found[found["t"].isna() & (found["n"] > 1) & ~found["score"].str.startswith("share")]
    if names := checks.once(without["name"].astype(str)):
        shown = "; ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        notes.append(f"No published t for {shown}: all scores are equal, so that t is undefined.")
    if rope is None:
        outcomes = table.frame["outcome"]
        if kind == "paired":
            of_series = questions.groupby("series")["outcome"]
            outcomes = questions["outcome"] - of_series.transform("mean")
        sd = 0.0 if kind == "choice" else outcomes.std(ddof=0)
        rope = float(f"{LITTLE * sd:.2g}") or LITTLE_PROBABILITY
    checks.positive(rope, "rope")
    result = ResponsesResult(table, found, kind, None, tuple(notes), rope)
    y = frame["outcome"].to_numpy()
    others = f" Other columns: {some(table.unused)}." if table.unused else ""
    why = ""
    if not result._pairs() and kind != "paired":
        about = "" if table.groups == ["all"] else f" ({table.groups[0]})"
        why = (
            f"There is one group{about} and one model, so that there is nothing to compare. Name "
            f"your columns: --columns group=NAME,item=NAME,template=NAME.{others} Keep the "
            "columns of a file of sentences that you rate."
        )
        if lost := [name for name, own in table.coverage["groups"].items() if not own["used"]]:
            why = f"All answers about {join_words(lost)} are left out. Recode them as numbers."
    elif kind == "choice":
        pass
    elif table.frame[tables.ASKED].eq("").all(axis=None):
        why = (
            "The columns word, template and item are missing, so that all answers about a group "
            "count as one. Name a column that tells them apart: --columns item=NAME, or "
            f"template=NAME of prompts, or word=NAME of names.{others}"
        )
    elif len(frame) < 4:
        why = f"There are too few answers for a fit ({len(frame)})."
    elif np.ptp(y) <= 1e-12 * max(1.0, np.abs(y).max()):
        why = f"All answers agree ({y[0]:.3g}), so that there is nothing to fit."
    if why and found.empty:
        problem = "expected answers that can be compared, got none"
        raise InputError(problem, where="responses", hint=why.rstrip("."))
    if why:
        return replace(result, notes=(*notes, why))
    if kind != "choice" and (model is None or str(model) in list_models()):
        center = 0.0 if kind == "paired" else float(y.mean())
        spec = scaled(spec, center, float(np.sqrt(np.mean((y - center) ** 2))))
    if spec.trim:
        spec = trimmed(spec, frame)
    sampling.setdefault("pointwise", False)
    try:
        result = replace(result, fit=fit(frame, spec, **sampling))
        result._fitted().provenance["table"]["name"] = table.name
    except FitError as error:
        return replace(result, notes=(*notes, f"The sampler failed: {error}"))
    new, these = result.estimands["population"], result.estimands.get("listed_words", "")
    if these and result._held("overall", "listed_words") == result._held("overall", "population"):
        what = "difference" if kind == "paired" else "answer"
        notes.append(
            f"{new[4:].capitalize()} have one {what} each, which cannot tell {new} from "
            f"{these}, or one from another: all have the same interval."
        )
    return replace(result, notes=(*notes, *_one_question(result)))


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


def _told_apart(table: Responses) -> list[str]:
    """Say where groups share no texts, or a column that is not used may tell questions apart."""
    frame = table.frame
    given = [name for name in table.nouns if frame[name].ne("").any()]
    if not given or len(table.groups) < 2:
        return []
    apart = [name for name in given if not table.shares(name)]
    hints = []
    paired = None if table.is_choice else table.pairing
    if paired and "template" in apart:
        hints.append(f"Answers to the same {join_words(paired[1:])} are paired.")
    elif {"template", "item"} & {*apart}:
        hints.append(
            "If they differ only by the word for the group, write one text for all groups, such as "
            "'{word} is a doctor'. Then groups are compared on the same text."
        )
    if table.unused and apart == given:
        together = "If a column tells which answers belong together, name it: --columns item=NAME."
        hints.append(f"{together} Other columns: {some(table.unused)}.")
    if not hints:
        return []
    nouns = join_words([table.nouns[name] for name in apart], "or")
    return [" ".join([f"Groups have no {nouns} in common.", *hints])]
