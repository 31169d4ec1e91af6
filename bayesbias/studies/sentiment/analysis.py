"""The published analysis of predicted sentiment, and the crossed model of the same pairs of sentences.

Sentiment is a case of `bayesbias.studies.responses` with its own words: groups are women and men, words
pairs of nouns, items professions, and models classifiers. The paper treats all pairs of sentences as
independent. They share nouns and professions, so that `paired_test` also tests the means of noun pairs
or professions, and the model keeps both apart.

Source: Bhaskaran & Bhallamudi (2019), Good Secretaries, Bad Truck Drivers? Occupational Gender
Stereotypes in Sentiment Analysis, sections 3 and 4.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.classifiers.predictions import Predictions
from bayesbias.core import InputError, checks, some
from bayesbias.core.conventions import ALPHA, PROB, STANDARD_ROPE
from bayesbias.core.result import Result
from bayesbias.inference.description import rows_of_fits
from bayesbias.inference.measured import Measured, with_coverage
from bayesbias.inference.view import View
from bayesbias.studies.common import FLAT, between_models, one_sample
from bayesbias.tables.sentiment import CLIP, OUTCOMES, classifiers_in, only_labels, sentiment_table
from bayesbias.wordlists.occupations import load_occupations

if TYPE_CHECKING:
    from bayesbias.inference.posterior import BiasFit

UNITS = ("sentence_pair", "noun_pair", "profession")
SENTIMENT_ESTIMANDS = {
    "population": "new nouns, new professions",
    "new_nouns": "new nouns, these professions",
    "new_professions": "these nouns, new professions",
    "listed_words": "these sentences alone",
}
"""The estimands of the models of sentiment, and what they hold for."""
_TIED = 1e-9  # sentiments this near to each other are one value, computed in another order
_ALIKE = 1e-3  # the published predictions and those of m1, which is trained as they were, differ by up to 1.2e-4


@dataclass(frozen=True, eq=False, repr=False)
class SentimentAnalysis(Result):
    """The published analysis of some classifiers.

    Attributes
    ----------
    table : pandas.DataFrame
        From `sentiment_table`.
    tests : pandas.DataFrame
        From `paired_test`, for each classifier and unit.
    professions : pandas.DataFrame
        From the highest to the lowest sentiment for each classifier: ``classifier, profession,
        category, sentiment`` (mean over both genders)``, low, high`` (its confidence interval over noun
        pairs, after what these have in common is taken out; Morey 2008)``, p_male, p_female,
        difference, t, df, p_value`` (paired t-test over the noun pairs)``, rank`` (1 for the highest;
        those that tie share the best)``, tied`` (how many professions have this sentiment).
    noun_pairs : pandas.DataFrame
        From the lowest to the highest difference for each classifier: ``classifier, noun_pair,
        p_male, p_female, difference, t, df, p_value`` (paired t-test over the professions).
    extremes : pandas.DataFrame
        Professions of highest and lowest sentiment: ``classifier, end`` (top or bottom)``, place`` (1
        is the outermost)``, professions`` (a tuple; more than one where they tie)``, sentiment``. A
        tie takes as many places as it has professions.
    control : pandas.DataFrame
        The paired t-test of the control sentences over the noun pairs, without Bonferroni's
        correction; empty where they were not predicted.
    earnings : pandas.DataFrame
        Correlation of sentiment with earnings: ``classifier, method`` (pearson or spearman)``, r, low,
        high, prob, p_value, n``; empty where fewer than four professions have earnings.
    notes : tuple of str
        What could not be computed, or needs saying.
    provenance : dict
        ``classifiers`` (name -> where it comes from)``, occupations`` (name, source and SHA-256 of
        the sentences)``, hypotheses``, the level ``alpha`` and ``earnings`` (profession -> earnings).
    fit : BiasFit or None
        The model with crossed effects, where `fit_sentiment` fitted one.

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = bb.sentiment_analysis(bb.list_predictions("m1"))
    >>> found.classifiers, len(found.noun_pairs)
    (('m1',), 20)
    >>> found.professions["profession"].tolist()[:3]
    ['secretary', 'teacher', 'writer']
    """

    study = "sentiment"  # whose sections show it, see bayesbias.output

    table: pd.DataFrame
    tests: pd.DataFrame
    professions: pd.DataFrame
    noun_pairs: pd.DataFrame
    extremes: pd.DataFrame
    control: pd.DataFrame
    earnings: pd.DataFrame
    notes: tuple[str, ...]
    provenance: dict[str, Any] = field(default_factory=dict)
    fit: BiasFit | None = None

    @property
    def classifiers(self) -> tuple[str, ...]:
        """The names of the classifiers."""
        return tuple(classifiers_in(self.table))

    @property
    def alpha(self) -> float:
        """The level of significance of its t-tests."""
        return float(self.provenance.get("alpha", ALPHA))

    @property
    def has_one_rope(self) -> bool:
        """Whether one default ROPE holds for all rows: each classifier has its own."""
        return False

    def shown_with(self, view: View) -> tuple[SentimentAnalysis, View]:
        """Return the analysis with all intervals of the probability of a view, if it was chosen."""
        if "prob" not in view.given or view.prob == self.provenance["prob"]:
            return self, view
        about = {**self.provenance, "prob": view.prob}
        published = _published(self.table, about)
        del published["notes"]
        return replace(self, **published, provenance=about), view

    def measured(self, prob: float) -> dict[str, Measured]:
        """Return what limits are compared with: F - M of each classifier, and coverage."""
        used = self.table["profession"].nunique()
        coverage = with_coverage(used / (used + len(self.provenance.get("left_out", ()))))
        fit = self.fit
        if fit is None:
            return {"": Measured(None, None, coverage)}

        def contrasts() -> pd.DataFrame:
            parts = []
            for estimand in ("population", "listed_words"):
                rows = fit.summary(prob, estimand)
                parts += [rows.assign(contrast=name) for name in ("F - M", "female - male")]
            whole = pd.concat(parts)
            shown = whole["classifier"] if len(self.classifiers) > 1 else ""
            return whole.assign(level="overall", name=whole["classifier"], shown=shown)

        return {"": Measured(contrasts, fit.diagnostics()["ok"], coverage)}

    def rows_in_words(self) -> str:
        """Say what was modeled."""
        return rows_of_fits(self.fits(), self.provenance.get("name"))

    def rope_in_words(self, view: View) -> str:
        """Return "": the ROPE is in SDs of the pairs of each classifier."""
        return ""

    def classifier_contrasts(self, prob: float = PROB) -> pd.DataFrame:
        """Compare classifiers with each other, sentence pair by sentence pair.

        The model is fitted once more, to the differences between the classifiers' differences, in which
        what they share cancels.

        Parameters
        ----------
        prob : float in (0, 1), default 0.89
            Probability of the HPDIs.

        Returns
        -------
        DataFrame
            ``contrast, estimand``, and the columns of `bayesbias.inference.estimates`, for each two
            classifiers that do not differ by the same everywhere; empty without a fit that converged.
            The ROPE is 0.1 SD of the differences between classifiers.
        """
        fit = self.fit
        between = None if fit is None else fit.cached("between", lambda: _fit_between(fit))
        if between is None or not between.diagnostics()["ok"]:
            return pd.DataFrame(columns=["contrast", "estimand", "mean"])
        rope = STANDARD_ROPE * float(between.table[between.spec.outcome].std())
        frames = []
        for estimand in SENTIMENT_ESTIMANDS:
            asked = between.quantities("overall", estimand, "classifier")
            frames.append(between.describe(asked, estimand, "classifier", prob, rope))
        frame = pd.concat(frames, ignore_index=True).drop(columns=["level", "name"])
        return frame.rename(columns={"classifier": "contrast"})


def sentiment_analysis(
    *predictions: Predictions | pd.DataFrame,
    hypotheses: int | None = None,
    n: int = 3,
    prob: float = 0.95,
    alpha: float = ALPHA,
) -> SentimentAnalysis:
    """Compute everything that the paper reports, for one or more classifiers.

    Parameters
    ----------
    *predictions : Predictions or DataFrame
        If predictions are missing or do not match the sentences, as in `sentiment_table`.
    hypotheses : int, optional
        See `paired_test`.
    n : int, default 3
        Places at the top and the bottom of the professions.
    prob : float in (0, 1), default 0.95
        Of the intervals of professions and of correlations.
    alpha : float in (0, 1), default 0.05
        Level of significance of the t-tests.

    Returns
    -------
    SentimentAnalysis

    Raises
    ------
    InputError
        As for `sentiment_table`.

    Notes
    -----
    Intervals of correlations are Fisher's: tanh(artanh(r) ± z s), with s = sqrt(1 / (n - 3)) for Pearson's
    r and, after Bonett and Wright (2000, Psychometrika 65, 23-28), s = sqrt((1 + r² / 2) / (n - 3)) for
    Spearman's. They treat professions as a sample and their mean sentiment as known. Intervals of
    professions are those of Morey (2008, Tutorials in Quantitative Methods for Psychology 4, 61-64).

    Examples
    --------
    >>> from bayesbias import score_sentences
    >>> made = score_sentences(lambda sentences: [0.6 + 0.01 * len(s) / 40 for s in sentences], name="toy")
    >>> sentiment_analysis(made).tests[["unit", "t"]].round(3).values.tolist()
    [['sentence_pair', -2.625], ['noun_pair', -0.573], ['profession', nan]]
    """
    table = sentiment_table(*predictions)
    read = [each for each in predictions if isinstance(each, Predictions)]
    frames = [each.frame if isinstance(each, Predictions) else each for each in predictions]
    earnings = {k: v for each in read for k, v in each.occupations.earnings.items()}
    earnings = earnings if read else load_occupations().earnings
    about: dict[str, Any] = {
        "classifiers": {name: dict(of) for each in read for name, of in each.provenance.items()}
    }
    if read:
        listed = read[0].occupations
        about["occupations"] = {
            "name": listed.name,
            "file": Path(listed.origin).name,
            "source": listed.source,
            "sha256": listed.sha256,
        }
    about |= {
        "n": checks.count(n, "n"),
        "clip": CLIP,
        "prob": checks.probability(prob),
        "alpha": checks.probability(alpha, "alpha"),
        "hypotheses": table["classifier"].nunique() if hypotheses is None else hypotheses,
        "earnings": {
            name: float(of) for name, of in earnings.items() if name in set(table["profession"])
        },
    }
    found = _published(table, about)
    with_control = [frame for frame in frames if frame["control"].any()]
    control = found["tests"].iloc[:0]
    if with_control:
        pairs = sentiment_table(*with_control, control=True)
        control = paired_test(pairs, unit="noun_pair")
    control = control.drop(columns=["unit", "p_bonferroni"])
    notes = [*(note for each in read for note in each.notes), *found.pop("notes")]
    return SentimentAnalysis(
        **found, control=control, notes=tuple(dict.fromkeys(notes)), provenance=about
    )


def fit_sentiment(
    analysis: SentimentAnalysis,
    model: Any = "sentiment",
    *,
    table: pd.DataFrame | None = None,
    **sampling: Any,
) -> SentimentAnalysis:
    """Fit the crossed model to the pairs of a published analysis.

    Parameters
    ----------
    analysis : SentimentAnalysis
        From `sentiment_analysis`.
    model : str, path or ModelSpec, default "sentiment"
        A model of sentiment.
    table : DataFrame, optional
        ``analysis.table`` with covariates about professions added. Professions without a covariate
        that the model needs are left out of the fit and of the tests.
    **sampling
        Options of `fit`: ``draws, tune, chains, seed, engine, progress``.

    Returns
    -------
    SentimentAnalysis
        With ``fit``.

    Raises
    ------
    InputError
        If the model is not one of sentiment.
    FitError
        If the differences leave nothing to fit.

    Examples
    --------
    >>> import bayesbias as bb
    >>> analysis = bb.sentiment_analysis(bb.list_predictions("m1"))
    >>> found = bb.studies.fit_sentiment(analysis, seed=1, draws=200, tune=300, chains=2)
    >>> found.fit.spec.name
    'sentiment'
    """
    from bayesbias.inference.fitting import fit
    from bayesbias.models.spec import load_model

    spec = load_model(model)
    if spec.results.group != "classifier":
        raise InputError(
            f"expected a model of sentiment, got {spec.name!r}",
            where="model",
            valid="sentiment, sentiment_logit",
        )
    fitted = fit(analysis.table if table is None else table, spec, pointwise=False, **sampling)
    kept = analysis.table["profession"].isin(set(fitted.table["profession"]))
    if not kept.all():
        lost = analysis.table.loc[~kept, "profession"].unique().tolist()
        found = _published(analysis.table[kept].reset_index(drop=True), analysis.provenance)
        needed = " or ".join(spec.covariates())
        note = f"Left out of tests and fit, since they have no {needed}: {', '.join(lost)}."
        found |= {"notes": (*found["notes"], note)}
        about = {**analysis.provenance, "left_out": lost}
        analysis = replace(analysis, **found, provenance=about)
    name = analysis.provenance.get("occupations", {}).get("name", "sentences")
    subject = f"{name} by {' and '.join(analysis.classifiers)}"
    about = {**fitted.provenance.get("table", {}), "name": subject}
    fitted = replace(fitted, provenance={**fitted.provenance, "table": about})
    return replace(analysis, fit=fitted)


def _fit_between(fit: BiasFit) -> BiasFit | None:
    """Fit the model to the differences between classifiers; None where there are none."""
    from bayesbias.inference.fitting import fit as fit_model

    same = ["noun_pair", "profession", "category", *fit.spec.covariates()]
    rows = between_models(fit.table, "classifier", same, fit.spec.outcome)
    varies = rows.groupby("classifier")[fit.spec.outcome].transform("std") > _TIED
    if not varies.any():
        return None
    how = fit.sampling.arguments()
    how |= {k: max(1000, how[k]) for k in ("draws", "tune")}  # a fraction of a second
    return fit_model(rows[varies], fit.spec, pointwise=False, progress=False, **how)


def paired_test(
    table: pd.DataFrame,
    *,
    unit: str = "sentence_pair",
    hypotheses: int | None = None,
    outcome: str = "difference",
) -> pd.DataFrame:
    """Test by a paired t-test whether male and female ratings differ.

    Parameters
    ----------
    table : DataFrame
        From `sentiment_table`.
    unit : {"sentence_pair", "noun_pair", "profession"}
        What counts as one observation. The paper treats all pairs of sentences as independent; the
        mean of each noun pair, or of each profession, lets either be what varies.
    hypotheses : int, optional
        How many tests Bonferroni's correction is for; by default one for each classifier in the
        table.
    outcome : {"difference", "logit_difference"}
        What is tested: differences of probabilities, as in the paper, or of log odds.

    Returns
    -------
    pandas.DataFrame
        One row a classifier: ``classifier, unit, n, p_male, p_female, f_minus_m, t, df, p_value,
        p_bonferroni``. ``f_minus_m`` is female - male on the scale of the outcome, and ``t`` that
        of male - female, both as in the paper: their signs are opposite. ``t`` and the p-values are
        missing where the differences do not vary.

    Raises
    ------
    InputError
        If the unit or the outcome is unknown.

    Notes
    -----
    Source: section 3 and table 1.

    Examples
    --------
    >>> from bayesbias import score_sentences, sentiment_table
    >>> made = score_sentences(lambda sentences: [0.6 + 0.01 * len(s) / 40 for s in sentences], name="toy")
    >>> paired_test(sentiment_table(made)).round(6).iloc[0, 5:8].tolist()
    [7.5e-05, -2.62536, 399.0]
    """
    checks.choice(unit, UNITS, "unit")
    checks.choice(outcome, OUTCOMES, "outcome")
    rows = _in_order(table)
    tests = rows["classifier"].nunique() if hypotheses is None else hypotheses
    if unit != "sentence_pair":
        means = rows.groupby(["classifier", unit], sort=False, observed=True)
        rows = means[["p_male", "p_female", outcome]].mean().reset_index()
    out = _tests(rows, ["classifier"], outcome).rename(columns={outcome: "f_minus_m"})
    out.insert(1, "unit", unit)
    corrected = checks.count(tests, "hypotheses") * out["p_value"]
    return out.assign(p_bonferroni=corrected.clip(upper=1.0))


def by_classifier(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Order rows by the names of classifiers."""
    return frame.sort_values(
        "classifier", key=lambda of: of.map(names.index), kind="stable", ignore_index=True
    )


def _in_order(table: pd.DataFrame) -> pd.DataFrame:
    """Order rows by classifier and alphabet, so that sums are the same however a table is sorted."""
    rows = table.sort_values(["profession", "noun_pair"], kind="stable")
    return by_classifier(rows, classifiers_in(table))


def _tests(rows: pd.DataFrame, by: list[str], outcome: str = "difference") -> pd.DataFrame:
    """Compute means and the paired t-test of male - female of each group of rows."""
    found = []
    for key, part in rows.groupby(by, sort=False, observed=True):
        n, _, t, p = one_sample(-part[outcome])
        found.append((*key, n, *part[["p_male", "p_female", outcome]].mean(), t, n - 1, p))
    names = [*by, "n", "p_male", "p_female", outcome, "t", "df", "p_value"]
    return pd.DataFrame(found, columns=names)


def _published(table: pd.DataFrame, about: Mapping[str, Any]) -> dict[str, Any]:
    """Compute what the paper reports of pairs of sentences."""
    rows = _in_order(table)
    names = checks.once(rows["classifier"])
    each = [paired_test(table, unit=unit, hypotheses=about["hypotheses"]) for unit in UNITS]
    tests = by_classifier(pd.concat(each), names)
    professions = _professions(rows, about["prob"])
    pairs = _tests(rows, ["classifier", "noun_pair"]).drop(columns="n")
    pairs = by_classifier(pairs.sort_values(["difference", "noun_pair"]), names)
    notes = [
        f"{name}: some differences do not vary, so that there is no t-test of them."
        for name in tests.loc[tests["t"].isna(), "classifier"].unique()
    ]
    earnings = _earnings(professions, about["earnings"], about["prob"])
    if about["earnings"] and len(about["earnings"]) < 4:
        notes.append("No correlation with earnings: fewer than four professions have earnings.")
    labels = only_labels(table)
    clipped = int(table.loc[~table["classifier"].isin(labels), "clipped"].sum())
    if clipped:
        notes.append(
            f"{clipped} probabilities were clipped to within {about['clip']:g} of 0 or 1 for log odds."
        )
    grid = table.pivot(
        index="profession", columns=["classifier", "noun_pair"], values=["p_male", "p_female"]
    ).swaplevel(0, 1, axis=1)
    for a, b in itertools.combinations(names, 2):
        if np.abs(grid[a] - grid[b]).to_numpy().max() < _ALIKE:
            notes.append(
                f"{a} and {b} rate all sentences equally. Check that they are different classifiers."
            )
    for name in (name for name in names if name not in labels):
        rated = grid[name].dropna().round(12)
        for _, alike in rated.groupby(list(rated.columns), sort=False):
            if len(alike) > 1:  # as words that it does not know
                which = "all professions" if len(alike) == len(rated) else some(sorted(alike.index))
                notes.append(
                    f"{name} rates these professions alike, perhaps because it does not know them, "
                    f"so they tell no more than one: {which}."
                )
    return {
        "table": table, "tests": tests, "professions": professions, "noun_pairs": pairs,
        "extremes": _extremes(professions, about["n"]), "earnings": earnings, "notes": notes,
    }  # fmt: skip


def _professions(rows: pd.DataFrame, prob: float) -> pd.DataFrame:
    """Rank professions by sentiment, with confidence intervals after Morey (2008)."""
    from scipy.special import stdtrit

    out = _tests(rows, ["classifier", "profession", "category"]).drop(columns="n")
    out["sentiment"] = (out["p_male"] + out["p_female"]) / 2
    rows = rows.assign(own=(rows["p_male"] + rows["p_female"]) / 2)
    whole, pairs = (
        rows.groupby(by, observed=True)["own"].transform("mean")
        for by in ("classifier", ["classifier", "noun_pair"])
    )
    groups = (rows["own"] - pairs + whole).groupby(
        [rows["classifier"], rows["profession"]], sort=False, observed=True
    )
    n = groups.size()
    k = n.groupby("classifier", observed=True).transform("size")
    half = groups.std() * np.sqrt(k / (k - 1).clip(lower=1)) / np.sqrt(n)
    half = (half * stdtrit(n - 1, 0.5 + prob / 2)).to_numpy()
    out["low"] = (out["sentiment"] - half).clip(lower=0.0)
    out["high"] = (out["sentiment"] + half).clip(upper=1.0)
    ranked = out.sort_values(["sentiment", "profession"], ascending=[False, True])
    out = by_classifier(ranked, checks.once(out["classifier"]))
    by = out.groupby("classifier", observed=True, sort=False)
    tier = (by["sentiment"].diff().fillna(-1) < -_TIED).cumsum()  # rounding alone makes no tier
    out["rank"] = (by.cumcount() + 1).groupby(tier).transform("first")
    out["tied"] = tier.groupby(tier).transform("size")
    columns = [
        "classifier", "profession", "category", "sentiment", "low", "high", "p_male",
        "p_female", "difference", "t", "df", "p_value", "rank", "tied",
    ]  # fmt: skip
    return out[columns]


def _extremes(professions: pd.DataFrame, n: int) -> pd.DataFrame:
    """Return the professions at the top and the bottom, ties together (table 2)."""
    by = ["classifier", "rank", "tied"]
    tiers = professions.groupby(by, sort=False, observed=True).agg(
        professions=("profession", tuple), sentiment=("sentiment", "first")
    )
    tiers = tiers.reset_index()
    frames = []
    for _, own in tiers.groupby("classifier", sort=False, observed=True):
        top = own.assign(end="top", place=own["rank"])
        bottom = own.assign(end="bottom", place=own["tied"].sum() + 2 - own["rank"] - own["tied"])
        frames += [top, bottom[::-1]]
    out = pd.concat(frames, ignore_index=True)
    columns = ["classifier", "end", "place", "professions", "sentiment"]
    return out.loc[out["place"] <= n, columns].reset_index(drop=True)


def _earnings(
    professions: pd.DataFrame, earnings: Mapping[str, float], prob: float
) -> pd.DataFrame:
    """Correlate the sentiment of professions with what they earn (section 4.1 and figure 2)."""
    from scipy.special import ndtri
    from scipy.stats import pearsonr, rankdata

    rows = []
    known = professions[professions["profession"].isin(list(earnings))]
    for name, part in known.groupby("classifier", sort=False, observed=True):
        n, y = len(part), part["sentiment"].to_numpy()
        x = part["profession"].map(earnings).to_numpy(float)
        ranks = rankdata(x), rankdata(np.round(y / _TIED))  # tied where they differ by rounding
        for method, (a, b) in {"pearson": (x, y), "spearman": ranks}.items():
            if n < 4 or np.ptp(a) < FLAT or np.ptp(b) < FLAT:
                continue
            test = pearsonr(a, b)  # of the ranks this is Spearman's
            r = float(test.statistic)
            if abs(r) > 1 - FLAT:
                continue
            spread = math.sqrt((1.0 if method == "pearson" else 1 + r * r / 2) / (n - 3))
            half = float(ndtri(0.5 + prob / 2)) * spread
            low, high = math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)
            rows.append((name, method, r, low, high, float(prob), float(test.pvalue), n))
    columns = ["classifier", "method", "r", "low", "high", "prob", "p_value", "n"]
    return pd.DataFrame(rows, columns=columns)
