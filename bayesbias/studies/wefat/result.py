r"""WEFAT: association of targets with two sets of words, and a covariate.

Published (WEFAT; Caliskan, Bryson and Narayanan 2017): a score for each target, its mean cosine
with the first set less that with the second, over the standard deviation of all of these cosines;
and the correlation of the scores with the numbers. The scores are averages over a few words and
carry their noise, so that the correlation is deflated, and its interval speaks of these words
alone.

Beside it stands the model `wefat`: every pair is kept. With :math:`\beta` the difference of the two
slopes, on a covariate of standard deviation one, and :math:`\sigma_b` the spread of targets around
either line, the association of a target is :math:`\beta x + b`, :math:`\operatorname{var} b = 2
\sigma_b^2`, and the correlation of *true* associations with the covariate is :math:`\beta /
\sqrt{\beta^2 + 2 \sigma_b^2}`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, override

import numpy as np
import pandas as pd

from bayesbias.core import InputError, checks
from bayesbias.core.conventions import ALPHA, PROB
from bayesbias.core.result import Result
from bayesbias.embeddings.loading import load_embedding
from bayesbias.inference.description import rows_of_fits
from bayesbias.inference.estimates import beside, describe_mixtures
from bayesbias.inference.fitting import fit
from bayesbias.inference.linear import Linear, Mixtures, Quantities
from bayesbias.inference.measured import Measured, with_coverage
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.view import View
from bayesbias.scores.score import Score
from bayesbias.scores.vectors import vectors_of
from bayesbias.scores.wefat import SAMPLES, wefat_score, with_interval
from bayesbias.tables.covariates import covariates_given
from bayesbias.wordlists.listfile import Source, list_wordlists, load_wordlist
from bayesbias.wordlists.wordlist import WordList

_PLACES = np.linspace(-3, 3, 9)  # in SDs of each normal, from which the grid is taken
_GRID = 1001
_STEPS = 20_001  # of the distribution, for mean and SD


@dataclass(frozen=True)
class Estimated:
    """Mean, SD and HPDI of a posterior, with their Monte Carlo errors."""

    mean: float
    sd: float
    hpdi_low: float
    hpdi_high: float
    mcse_mean: float = math.nan
    mcse_sd: float = math.nan
    mcse_low: float = math.nan
    mcse_high: float = math.nan


@dataclass(frozen=True)
class TrueCorrelation:
    """Mean, SD and equal-tailed interval of a correlation, with their Monte Carlo errors.

    A correlation that is nearly 1 piles up at that end. The shortest interval would then reach to
    the end itself, and leave out all that is lower. The equal-tailed one leaves out as much above
    as below.
    """

    mean: float
    sd: float
    low: float
    high: float
    mcse_mean: float = math.nan
    mcse_sd: float = math.nan
    mcse_low: float = math.nan
    mcse_high: float = math.nan

    def as_row(self) -> dict[str, float]:
        """Return the numbers under the names that the columns of a table have."""
        names = {"low": "hpdi_low", "high": "hpdi_high"}
        return {names.get(name, name): value for name, value in asdict(self).items()}


@dataclass(frozen=True, eq=False, repr=False)
class WefatResult(Result):
    """The result of a WEFAT: published score, model and targets.

    Attributes
    ----------
    published : Score
        The published test: scores of the targets, Pearson's r with the covariate, its interval by
        Fisher's z, permutation p.
    slope : Estimated
        How the association of a target, in cosine, grows with one standard deviation of the
        covariate.
    true_correlation : TrueCorrelation
        Of true associations with the covariate, with an equal-tailed interval; see the notes of the
        function. The verdict is that of the slope.
    frame : DataFrame
        One row a target, in the order of the covariate: ``target, covariate, score, association,
        hpdi_low, hpdi_high, deviation, deviation_low, deviation_high, off_line``, and Monte Carlo
        errors (``mcse_association, mcse_low`` and so on). `association` is the posterior mean for
        new words like those of the sets, `deviation` what it is from the line; `off_line` whether
        the interval of the deviation excludes zero, by more than twice its Monte Carlo error.
    center, scale : float
        What was taken from the covariate, and what the rest was divided by.
    prob : float
        Of intervals.
    seed : int
        Seed of all random numbers.
    fit : BiasFit
        Of the model `wefat`.
    provenance : dict
        ``name``, ``embedding``, ``wordlist`` (the sets) and ``covariates`` as a table of pairs has
        them, with hashes.

    Examples
    --------
    >>> import bayesbias as bb
    >>> women = {"nurse": 88, "engineer": 12, "teacher": 80, "plumber": 2, "lawyer": 35}
    >>> found = bb.wefat(
    ...     "minilm-static",
    ...     "wefat",
    ...     {"percent_women": women},
    ...     draws=100,
    ...     tune=100,
    ...     chains=2,
    ...     seed=1,
    ... )
    >>> found.n, len(found.frame), bool(found.slope.hpdi_low < found.slope.hpdi_high)
    (5, 5, True)
    """

    study = "wefat"  # whose sections show it, see bayesbias.output
    has_rope = False

    published: Score
    slope: Estimated
    true_correlation: TrueCorrelation
    frame: pd.DataFrame
    center: float
    scale: float
    prob: float
    seed: int
    fit: BiasFit
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sets(self) -> tuple[str, ...]:
        """The names of the sets: a positive association is nearness to the first."""
        return self.published.classes

    @property
    def r(self) -> float:
        """Pearson's r of published scores and the covariate."""
        return float(self.published.r)

    @property
    def p_value(self) -> float | None:
        """Of r, by permutations."""
        return self.published.p_value

    @property
    def alpha(self) -> float:
        """The level of significance of r."""
        return float(self.provenance.get("alpha", ALPHA))

    @property
    def n(self) -> int:
        """The number of targets."""
        return self.published.n["words"]

    @property
    def off_line(self) -> list[str]:
        """The targets off the line (interval excludes 0), the farthest first."""
        apart = self.frame[self.frame["off_line"]]
        return apart["target"].iloc[np.argsort(-apart["deviation"].abs(), kind="stable")].tolist()

    def shown_with(self, view: View) -> tuple[WefatResult, View]:
        """Return the result with intervals of the probability of a view, by default its own."""
        super().shown_with(view)
        view = view.resolved(prob=self.prob)
        if view.prob == self.prob:
            return self, view

        def make() -> WefatResult:
            return described(
                with_interval(self.published, view.prob),
                self.fit,
                self.frame["target"].tolist(),
                self.center,
                self.scale,
                view.prob,
                seed=self.seed,
                provenance=self.provenance,
            )

        return self.cached(view.prob, make), view

    def measured(self, prob: float) -> dict[str, Measured]:
        """Return what limits are compared with: the slope, and the correlation."""
        shown, _ = self.shown_with(View(prob))
        rows = pd.DataFrame(
            [
                {"contrast": "slope", **asdict(shown.slope)},
                {"contrast": "true correlation", **shown.true_correlation.as_row()},
            ]
        )
        rows[["level", "name", "estimand", "shown"]] = ["overall", "", "population", ""]
        missing = len(self.fit.provenance["coverage"].get("missing", ()))
        coverage = with_coverage(self.n / (self.n + missing))
        return {"": Measured(lambda: rows, self.fit.diagnostics()["ok"], coverage)}

    def rows_in_words(self) -> str:
        """Say what was modeled."""
        return rows_of_fits(self.fits(), self.provenance.get("name"))

    def predict(self, values: Sequence[float] | float) -> pd.DataFrame:
        """Return the association of a new target with a given covariate.

        It is an average over new words like those of the sets.

        Parameters
        ----------
        values : float or sequence of float
            In the units of the covariate.

        Returns
        -------
        DataFrame
            ``covariate, line, line_low, line_high, mean, sd, hpdi_low, hpdi_high``: the line with
            its interval, then a single new target, which scatters around it; and Monte Carlo errors
            (``mcse_line, mcse_mean`` and so on).

        Examples
        --------
        >>> import bayesbias as bb
        >>> years = {"nurse": 88, "engineer": 12, "teacher": 80, "plumber": 2, "lawyer": 35}
        >>> found = bb.wefat("minilm-static", "wefat", {"percent_women": years}, seed=1)
        >>> found.predict([0, 100]).shape
        (2, 15)
        """
        given = np.atleast_1d(np.asarray(values, dtype=float))
        if given.ndim != 1 or not np.isfinite(given).all():
            raise InputError(f"expected finite numbers, got {values!r}", where="values")
        line, spread = _mixed(self.fit, self.sets, (given - self.center) / self.scale)
        single = replace(line, sd=np.sqrt(line.sd**2 + 2 * spread[..., None] ** 2))
        of_line, of_target = (
            pd.DataFrame(describe_mixtures(of, self.prob)) for of in (line, single)
        )
        return of_target.assign(covariate=given, **beside(of_line, "line"))


def wefat(
    embedding: Any,
    sets: Source | WordList = "wefat",
    covariates: Any = None,
    covariate: str | None = None,
    *,
    classes: Sequence[str] | None = None,
    prob: float = PROB,
    alpha: float = ALPHA,
    samples: int = SAMPLES,
    seed: int | None = None,
    **sampling: Any,
) -> WefatResult:
    r"""Relate the association of targets with two sets of words to a covariate.

    Parameters
    ----------
    embedding : Embedding, or anything `load_embedding` reads
        Word vectors.
    sets : default "wefat"
        A word list with two classes, whose protected words are the two sets; what `load_wordlist`
        takes. ``wefat`` has the published female and male words.
    covariates : path, data frame or mapping
        The targets, with a number each: a table with a column ``word``, or ``{covariate: {word:
        number}}``; see `bayesbias.tables.join_covariates`.
    covariate : str, optional
        The column; where there is one alone, it need not be named.
    classes : pair of str, optional
        The classes of the list to take as the two sets; needed where there are more than two.
    prob : float in (0, 1)
        Of intervals.
    alpha : float in (0, 1)
        Level of significance of r.
    samples : int
        Permutations drawn for the p-value of r.
    seed : int, optional
        By default one is drawn and recorded.
    **sampling
        ``draws, tune, chains, engine`` as in `bayesbias.fit`.

    Returns
    -------
    WefatResult

    Raises
    ------
    InputError
        If the input is invalid (as in `bayesbias.scores.wefat_score`), or a set has a single word.

    Notes
    -----
    With :math:`\beta` the slope and :math:`\sigma_b` the spread of targets around the line of one
    set, the true correlation is :math:`\beta / \sqrt{\beta^2 + 2 \sigma_b^2}`, of targets whose
    covariate varies as that of the listed ones. Its interval is equal-tailed. The model is
    ``bayesbias model show wefat``.

    Examples
    --------
    >>> import bayesbias as bb
    >>> women = {"nurse": 88, "engineer": 12, "teacher": 80, "plumber": 2, "lawyer": 35}
    >>> found = bb.wefat("minilm-static", "wefat", {"percent_women": women}, seed=1)
    >>> found.n, found.r > 0.4
    (5, True)
    """
    alpha, seed = checks.probability(alpha, "alpha"), checks.seed_or_new(seed)
    listed = load_wordlist(sets, controls="none")
    covariates = {} if covariates is None else covariates
    wanted = None if covariate is None or isinstance(covariates, list | tuple) else [covariate]
    read = covariates_given(covariates, wanted)
    asked = dict.fromkeys([*listed.protected_words, *(word for one in read for word in one.values)])
    vectors = load_embedding(embedding, words=list(asked))
    published = wefat_score(
        vectors,
        listed,
        read,
        covariate,
        classes=classes,
        prob=prob,
        samples=samples,
        seed=seed,
    )
    for name, members in zip(published.classes, (published.a, published.b), strict=True):
        if len(members) < 2:
            problem = f"expected two words with vectors or more, got {', '.join(members)}"
            raise InputError(problem, where=f"{listed.name}, {name}")
    targets = sorted(published.covariates, key=lambda word: (published.covariates[word], word))
    words = [*published.a, *published.b]
    held = vectors_of(vectors, [*words, *targets])
    cosines = np.clip(held.rows(words) @ held.rows(targets).T, -1.0, 1.0)
    chosen = next(one for one in read if one.name == published.covariate)
    own_file = listed.name not in list_wordlists()
    about = {
        "name": published.data,
        "alpha": alpha,
        "wordlist": {
            "name": listed.name,
            "source": listed.source,
            "sha256": listed.sha256,
            "classes": list(published.classes),
            **({"file": os.path.basename(listed.origin)} if own_file else {}),
        },
        "embedding": {"name": vectors.name, **vectors.provenance},
        "covariates": {chosen.name: {"source": chosen.source, "sha256": chosen.sha256}},
    }
    return of_published(published, cosines, targets, prob, seed, about, **sampling)


def of_published(
    published: Score,
    cosines: np.ndarray,
    targets: Sequence[str],
    prob: float,
    seed: int,
    provenance: Mapping[str, Any] | None = None,
    **sampling: Any,
) -> WefatResult:
    """Fit the model to cosines of the words of both sets, shape (words, targets)."""
    words, n = [*published.a, *published.b], len(targets)
    numbers = np.array([published.covariates[word] for word in targets])
    center, scale = float(numbers.mean()), float(numbers.std(ddof=1))
    x = (numbers - center) / scale
    frame = pd.DataFrame(
        {
            "set_word": np.repeat(words, n),
            "set": np.repeat(published.classes, [len(published.a) * n, len(published.b) * n]),
            "target": np.tile(targets, len(words)),
            "covariate": np.tile(x, len(words)),
            "distance": 1 - cosines.ravel(),
        }
    )
    fitted = fit(frame, "wefat", seed=seed, **sampling)
    about = {"seed": seed, "provenance": provenance or {}}
    return described(published, fitted, targets, center, scale, prob, **about)


def described(
    published: Score,
    fitted: BiasFit,
    targets: Sequence[str],
    center: float,
    scale: float,
    prob: float,
    **about: Any,
) -> WefatResult:
    """Return the result of a fit, with estimates and intervals of a probability."""
    sets = published.classes
    numbers = np.array([published.covariates[word] for word in targets])
    x = (numbers - center) / scale

    slope, spread = _mixed(fitted, sets, slope=True)
    association = pd.DataFrame(describe_mixtures(_mixed(fitted, sets, x, targets)[0], prob))
    deviation = pd.DataFrame(describe_mixtures(_mixed(fitted, sets, None, targets)[0], prob))
    # An end that another seed would put on the other side of zero concludes nothing.
    above = deviation["hpdi_low"] > 2 * deviation["mcse_low"]
    below = -deviation["hpdi_high"] > 2 * deviation["mcse_high"]
    frame = pd.DataFrame(
        {
            "target": list(targets),
            "covariate": numbers,
            "score": [published.scores[word] for word in targets],
            "association": association["mean"],
            **association[["hpdi_low", "hpdi_high"]],
            **beside(deviation, "deviation"),
            "off_line": above | below,
            "mcse_association": association["mcse_mean"],
            **association[["mcse_low", "mcse_high"]],
        }
    )
    return WefatResult(
        published=published,
        slope=_estimated(slope, prob),
        true_correlation=true_correlation(slope, spread, prob),
        frame=frame,
        center=center,
        scale=scale,
        prob=prob,
        fit=fitted,
        **about,
    )


def _mixed(
    fit: BiasFit,
    sets: Sequence[str],
    x: np.ndarray | None = None,
    targets: Sequence[str] | None = None,
    slope: bool = False,
) -> tuple[Mixtures, np.ndarray]:
    """Return associations as normal mixtures, and draws of the spread of targets around a line.

    Of the line at covariates `x`, of deviations of listed targets, of both together, or the slope.
    The association is the distance to the second set minus that to the first.
    """
    from scipy import sparse

    listed, words = (list(fit.ordered.coords[name]) for name in ("set", "target"))
    between = np.zeros(len(listed))
    between[[listed.index(name) for name in sets]] = -1.0, 1.0
    weights: dict[str, np.ndarray] = {"set_slope": between[None]} if slope else {}
    if x is not None:
        weights |= {"set_mean": np.tile(between, (len(x), 1)), "set_slope": x[:, None] * between}
    if targets is not None:
        one = np.eye(len(words))[[words.index(word) for word in targets]]
        weights["target_by_set"] = (between[:, None] * one[:, None, :]).reshape(len(one), -1)
    n = len(next(iter(weights.values())))
    linear = Linear(np.zeros(n), {name: sparse.csr_array(of) for name, of in weights.items()})
    asked = Quantities.plain([("overall", str(k), "association") for k in range(n)], linear)
    answer = fit.answer(asked, "population", "contrast")
    assert answer.mixtures is not None
    spread = answer.parameters["target_by_set_sd"].reshape(answer.mixtures.mean.shape[:2])
    return answer.mixtures, spread


def true_correlation(slope: Mixtures, spread: np.ndarray, prob: float) -> TrueCorrelation:
    """Describe the correlation of true associations with the covariate.

    Given the scales the slope in units of ``c = sqrt(2) * spread`` is normal, and the correlation
    rises with it: its distribution function is exact for each draw of the scales, and no slope is
    drawn.
    """
    unit = np.sqrt(2) * spread[..., None]
    mean, sd = slope.mean / unit, slope.sd / unit
    found = describe_mixtures(Correlations(mean, sd, slope.quantity, slope.weight), prob)
    numbers = {name.removeprefix("hpdi_"): float(values[0]) for name, values in found.items()}
    return TrueCorrelation(**numbers)


def _estimated(mixture: Mixtures, prob: float) -> Estimated:
    """Describe a single mixture."""
    described = describe_mixtures(mixture, prob)
    return Estimated(**{name: float(of[0]) for name, of in described.items()})


class Correlations(Mixtures):
    """Correlations ``t / sqrt(1 + t ** 2)``, where each t is a mixture of normals.

    Their intervals are equal-tailed.
    """

    @override
    def described(self, prob: float) -> dict[str, np.ndarray]:
        from scipy.interpolate import PchipInterpolator
        from scipy.special import ndtr

        shares = np.sin(np.linspace(0, np.pi / 2, _GRID)) ** 2  # closer together in the tails
        middle = (np.arange(_STEPS) + 0.5) / _STEPS
        found = []
        means, sds = (values.reshape(-1, len(self)).T for values in (self.mean, self.sd))
        for mean, sd in zip(means, sds, strict=True):
            places = np.quantile(mean[:, None] + sd[:, None] * _PLACES, shares)
            below = ndtr((places[:, None] - mean) / sd).mean(axis=1)
            below, at = np.unique(below, return_index=True)
            inside = (below > 0) & (
                below < 1
            )  # both are reached at -1 and 1 alone, but for rounding
            value = (places / np.hypot(1, places))[at]
            quantile = PchipInterpolator([0, *below[inside], 1], [-1, *value[inside], 1])
            values, ends = quantile(middle), quantile([(1 - prob) / 2, (1 + prob) / 2])
            found.append((values.mean(), values.std(), *ends))
        return dict(zip(("mean", "sd", "low", "high"), np.transpose(found), strict=True))
