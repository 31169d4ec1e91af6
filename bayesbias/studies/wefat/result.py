r"""The single-category test: one set of targets with a number each, and two sets of words.

Published (WEFAT; Caliskan, Bryson and Narayanan 2017): a score for each target, its mean cosine
with the first set less that with the second, over the standard deviation of all of these cosines;
and the correlation of the scores with the numbers. The scores are averages over a few words and
carry their noise, so that the correlation is deflated, and its interval speaks of these words
alone.

Beside it stands the model `covariate`: every pair is kept. With :math:`\beta` the difference of the two slopes, on a covariate of
standard deviation one, and :math:`\sigma_b` the spread of targets around either line, the association of a target is
:math:`\beta x + b`, :math:`\operatorname{var} b = 2 \sigma_b^2`, and the correlation of *true* associations with the covariate is
:math:`\beta / \sqrt{\beta^2 + 2 \sigma_b^2}`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.digits import as_known, ends_as_known
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import as_percent, number_of
from bayesbias.embeddings.loading import load_embedding
from bayesbias.inference.estimates import describe_mixtures
from bayesbias.inference.linear import Mixtures
from bayesbias.inference.view import PROB
from bayesbias.scores.score import Score
from bayesbias.scores.wefat import SAMPLES, at_prob, wefat_score
from bayesbias.studies.wefat.lines import Lines, association_rows, slope_row, true_correlation
from bayesbias.tables.covariates import covariates_given
from bayesbias.wordlists.listfile import list_wordlists, load_wordlist
from bayesbias.wordlists.wordlist import WordList

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.embeddings.embedding import Embedding
    from bayesbias.inference.posterior import BiasFit

__all__ = ["Estimated", "WefatResult", "wefat"]


@dataclass(frozen=True)
class Estimated:
    """A quantity as its posterior has it: mean, sd, the ends of its shortest interval, and the Monte Carlo errors of these.

    Examples
    --------
    >>> import bayesbias as bb
    >>> bb.studies.Estimated(mean=0.1, sd=0.02, hpdi_low=0.07, hpdi_high=0.13).hpdi_low
    0.07
    """

    mean: float
    sd: float
    hpdi_low: float
    hpdi_high: float
    mcse_mean: float = math.nan
    mcse_sd: float = math.nan
    mcse_low: float = math.nan
    mcse_high: float = math.nan


@dataclass(frozen=True, eq=False, repr=False)
class WefatResult:
    """What a single-category test found.

    Attributes
    ----------
    published : Score
        The published test: scores of the targets, Pearson's r with the covariate, its interval by
        Fisher's z, permutation p.
    slope : Estimated
        How the association of a target, in cosine, grows with one standard deviation of the
        covariate.
    true_correlation : Estimated
        Of true associations with the covariate; see the notes of the function.
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
    fit : BiasFit
        Of the model `covariate`.
    provenance : dict
        ``name``, ``embedding``, ``wordlist`` (the sets) and ``covariates`` as a table of pairs has
        them, with hashes.

    Examples
    --------
    >>> import bayesbias as bb
    >>> women = {"nurse": 88.0, "engineer": 12.0, "teacher": 80.0, "plumber": 2.0, "lawyer": 35.0, "dancer": 79.0}
    >>> found = bb.wefat("minilm-static", "wefat", {"percent_women": women}, draws=100, tune=100, chains=2, seed=1)
    >>> found.n, len(found.frame), bool(found.slope.hpdi_low < found.slope.hpdi_high)
    (6, 6, True)
    """

    study = "wefat"  # whose sections show it, see bayesbias.output

    published: Score
    slope: Estimated
    true_correlation: Estimated
    frame: pd.DataFrame
    center: float
    scale: float
    prob: float
    seed: int
    fit: BiasFit
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return "\n".join(self.in_words())

    @property
    def sets(self) -> tuple[str, str]:
        """The names of the sets: an association above zero is nearness to the first."""
        first, second = self.published.classes
        return first, second

    @property
    def r(self) -> float:
        """Pearson's r of published scores and the covariate."""
        return float(self.published.r)

    @property
    def p_value(self) -> float | None:
        """Of r, by permutations."""
        return self.published.p_value

    @property
    def n(self) -> int:
        """The number of targets."""
        return self.published.n["words"]

    @property
    def missing(self) -> tuple[str, ...]:
        """Targets that the vectors lack."""
        return self.published.missing

    @property
    def scores(self) -> dict[str, float]:
        """The published score of each target."""
        return self.published.scores

    def in_words(self) -> list[str]:
        """Say what was found, in lines."""
        slope, true, known = self.slope, self.true_correlation, self.published
        lines = [
            *known.lines(),
            f"  true association: r = {as_known(true, 'mean', 2)} ({as_percent(self.prob)} HPDI "
            f"{' to '.join(ends_as_known(true, usual=2))}), for new words and targets like these",
            f"  one standard deviation of {known.covariate} ({self.scale:.3g}) goes with {as_known(slope, 'mean', signed=True)} in "
            f"cosine ({' to '.join(ends_as_known(slope, signed=True))}) towards {self.sets[0]}",
            f"  off the line (its {as_percent(self.prob)} interval excludes 0): {', '.join(self.off_line) or 'no target'}",
        ]
        for title, words in (
            ("targets", known.missing),
            (f"words of {' and '.join(self.sets)}", known.dropped),
        ):
            if words:
                lines.append(
                    f"  {number_of(len(words), 'word')} of the {title} without a vector: {', '.join(words)}"
                )
        problems = self.fit.diagnostics()["problems"]
        return [
            *lines,
            *(f"  note: {note}" for note in known.notes),
            *(f"  {problem}" for problem in problems),
        ]

    @property
    def off_line(self) -> list[str]:
        """The targets of whose deviation from the line the interval excludes 0, the farthest first."""
        apart = self.frame[self.frame["off_line"]]
        return apart["target"].iloc[np.argsort(-apart["deviation"].abs(), kind="stable")].tolist()

    @property
    def slope_per_unit(self) -> Estimated:
        """The slope for one unit of the covariate, such as one per cent."""
        return Estimated(*(value / self.scale for value in vars(self.slope).values()))

    def at(self, prob: float) -> WefatResult:
        """Return the same result with intervals of another probability."""
        prob = checks.probability(prob)
        if prob == self.prob:
            return self
        known = at_prob(self.published, prob)
        targets = self.frame["target"].tolist()
        return of_fit(
            known, self.fit, targets, prob=prob, seed=self.seed, provenance=self.provenance
        )

    def summary(self) -> dict[str, Any]:
        """Return the figures, for JSON."""
        known = self.published.as_dict()
        return {
            "name": known["data"],
            **{"r": known["value"], "r_low": known["low"], "r_high": known["high"], "n": self.n},
            **{
                key: known[key]
                for key in ("dropped", "notes", "classes", "prob", "p_value", "p_method")
            },
            **known["details"],
            "slope": vars(self.slope),
            "slope_per_unit": vars(self.slope_per_unit),
            "true_correlation": vars(self.true_correlation),
            "off_line": self.off_line,
            "center": self.center,
            "scale": self.scale,
            "seed": self.seed,
            "diagnostics": self.fit.diagnostics(),
        }

    def predict(self, values: Sequence[float] | float) -> pd.DataFrame:
        """Return the association of a new target with a given covariate, on average over new words like those of the sets.

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
        >>> years = {"nurse": 88.0, "engineer": 12.0, "teacher": 80.0, "plumber": 2.0, "lawyer": 35.0, "dancer": 79.0}
        >>> found = bb.wefat("minilm-static", "wefat", {"percent_women": years}, seed=1)
        >>> found.predict([0, 100]).shape
        (2, 15)
        """
        import pandas as pd

        given = np.atleast_1d(np.asarray(values, dtype=float))
        if given.ndim != 1 or not np.isfinite(given).all():
            raise InputError("must be finite numbers", where="values", found=values)
        x = (given - self.center) / self.scale
        asked = Lines(self.fit)
        line = asked.mixtures(association_rows(asked.reduced, self.sets, x))
        new = Mixtures(
            line.mean,
            np.sqrt(line.sd**2 + 2 * asked.spread_of_targets[..., None] ** 2),
            line.row,
            line.weight,
        )
        known, single = (describe_mixtures(of, self.prob) for of in (line, new))
        errors = {
            f"mcse_line{end}": known[f"mcse_{of}"]
            for end, of in (("", "mean"), ("_low", "low"), ("_high", "high"))
        }
        return pd.DataFrame(
            {
                "covariate": given,
                "line": known["mean"],
                "line_low": known["hpdi_low"],
                "line_high": known["hpdi_high"],
                **single,
                **errors,
            }
        )


def wefat(
    embedding: Any,
    sets: str | os.PathLike[str] | Mapping[str, Any] | WordList = "wefat",
    covariates: Any = None,
    covariate: str | None = None,
    *,
    classes: Sequence[str] | None = None,
    prob: float = PROB,
    samples: int = SAMPLES,
    seed: int | None = None,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    engine: str = "nuts",
) -> WefatResult:
    r"""Test whether the association of targets with one set of words rather than another goes with a number of each.

    Parameters
    ----------
    embedding : Embedding, or anything `load_embedding` reads
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
    samples : int
        Permutations drawn for the p-value of r.
    seed : int, optional
        By default one is drawn and recorded.
    draws, tune, chains, engine
        Of the fit, as of `bayesbias.fit`.

    Returns
    -------
    WefatResult

    Raises
    ------
    InputError
        As `bayesbias.scores.wefat_score`; and for a set of a single word, which says nothing of
        others.

    Notes
    -----
    With :math:`\beta` the slope and :math:`\sigma_b` the spread of targets around the line of one set, the true correlation is
    :math:`\beta / \sqrt{\beta^2 + 2 \sigma_b^2}`, of targets whose covariate varies as that of the listed ones. The model is
    ``bayesbias show covariate``.

    Examples
    --------
    >>> import bayesbias as bb
    >>> women = {"nurse": 88.0, "engineer": 12.0, "teacher": 80.0, "plumber": 2.0, "lawyer": 35.0, "dancer": 79.0}
    >>> found = bb.wefat("minilm-static", "wefat", {"percent_women": women}, seed=1)
    >>> found.n, found.r > 0.5
    (6, True)
    """
    seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else checks.seed(seed)
    listed = load_wordlist(sets, controls="none")
    wanted = None if covariate is None or isinstance(covariates, list | tuple) else [covariate]
    read = {
        one.name: one for one in covariates_given({} if covariates is None else covariates, wanted)
    }
    words = [*listed.protected_words, *(word for one in read.values() for word in one.values)]
    vectors = load_embedding(embedding, words=list(dict.fromkeys(words)))
    published = wefat_score(
        vectors,
        listed,
        list(read.values()),
        covariate,
        classes=classes,
        prob=prob,
        samples=samples,
        seed=seed,
    )
    for name, members in zip(published.classes, (published.a, published.b), strict=True):
        if len(members) < 2:
            raise InputError(
                "a set needs two words with vectors",
                where=f"{listed.name}, {name}",
                found=list(members),
            )
    targets = sorted(published.covariates, key=lambda word: (published.covariates[word], word))
    cosines = _cosines(vectors, [*published.a, *published.b], targets)
    result = of_published(
        published,
        cosines,
        targets,
        prob=prob,
        seed=seed,
        draws=draws,
        tune=tune,
        chains=chains,
        engine=engine,
    )
    chosen = read[published.covariate]
    about = {
        "name": published.data,
        "wordlist": {
            "name": listed.name,
            "sha256": listed.sha256,
            "controls": "none",
            **({} if classes is None else {"classes": list(published.classes)}),
            **(
                {"file": os.path.basename(listed.origin)}
                if listed.name not in list_wordlists()
                else {}
            ),
        },
        "embedding": {
            "name": vectors.name,
            **{str(key): value for key, value in vectors.provenance.items()},
        },
        "covariates": {
            chosen.name: {"of": chosen.name, "source": chosen.source, "sha256": chosen.sha256}
        },
    }
    return replace(result, provenance=about)


def of_published(
    published: Score,
    cosines: np.ndarray,
    targets: Sequence[str],
    *,
    prob: float,
    seed: int,
    **sampling: Any,
) -> WefatResult:
    """Fit the model `covariate` to cosines of the words of both sets with the targets, shape (words, targets)."""
    import pandas as pd

    from bayesbias.inference.fitting import fit as fit_model

    sets, n_words = published.classes, len(published.a) + len(published.b)
    x = _standard(published, targets)[0]
    frame = pd.DataFrame(
        {
            "set_word": np.repeat([*published.a, *published.b], len(targets)),
            "set": np.repeat(
                sets, [len(published.a) * len(targets), len(published.b) * len(targets)]
            ),
            "target": np.tile(targets, n_words),
            "covariate": np.tile(x, n_words),
            "distance": 1 - cosines.ravel(),
        }
    )
    fitted = fit_model(frame, "wefat", seed=seed, **sampling)
    return of_fit(published, fitted, targets, prob=prob, seed=seed)


def _standard(published: Score, targets: Sequence[str]) -> tuple[np.ndarray, float, float]:
    """Return the covariate of the targets in standard deviations from its mean, and both."""
    number = np.array([published.covariates[word] for word in targets])
    center, scale = float(number.mean()), float(number.std(ddof=1))
    return (number - center) / scale, center, scale


def of_fit(
    published: Score,
    fitted: BiasFit,
    targets: Sequence[str],
    *,
    prob: float,
    seed: int,
    provenance: Mapping[str, Any] | None = None,
) -> WefatResult:
    """Return what a fit of the model `covariate` says; no draw is made but those that its seed determines."""
    import pandas as pd

    first, second = published.classes
    sets = first, second
    x, center, scale = _standard(published, targets)
    asked = Lines(fitted)
    line = asked.mixtures(slope_row(asked.reduced, sets))
    associations = describe_mixtures(
        asked.mixtures(association_rows(asked.reduced, sets, x, targets)), prob
    )
    deviations = describe_mixtures(
        asked.mixtures(association_rows(asked.reduced, sets, None, targets)), prob
    )
    # An end that another seed would put on the other side of zero concludes nothing.
    low, high = (
        sign * deviations[f"hpdi_{end}"] > 2 * deviations[f"mcse_{end}"]
        for sign, end in ((1, "low"), (-1, "high"))
    )
    table = pd.DataFrame(
        {
            "target": list(targets),
            "covariate": [published.covariates[word] for word in targets],
            "score": [published.scores[word] for word in targets],
            "association": associations["mean"],
            "hpdi_low": associations["hpdi_low"],
            "hpdi_high": associations["hpdi_high"],
            "deviation": deviations["mean"],
            "deviation_low": deviations["hpdi_low"],
            "deviation_high": deviations["hpdi_high"],
            "off_line": low | high,
            "mcse_association": associations["mcse_mean"],
            "mcse_low": associations["mcse_low"],
            "mcse_high": associations["mcse_high"],
            **{
                f"mcse_deviation{end}": deviations[f"mcse_{of}"]
                for end, of in (("", "mean"), ("_low", "low"), ("_high", "high"))
            },
        }
    )
    return WefatResult(
        published,
        _described(line, prob),
        Estimated(**true_correlation(line, asked.spread_of_targets, prob)),
        table,
        center,
        scale,
        prob,
        seed,
        fitted,
        provenance or {},
    )


def _cosines(vectors: Embedding, words: Sequence[str], targets: Sequence[str]) -> np.ndarray:
    """Return the cosine of each word of the sets with each target, shape (words, targets), in double precision."""
    unit = []
    for group in (words, targets):
        rows = vectors.vectors_of(list(group)).astype(float)
        unit.append(rows / np.linalg.norm(rows, axis=1, keepdims=True))
    return np.clip(unit[0] @ unit[1].T, -1.0, 1.0)


def _described(mixtures: Mixtures, prob: float) -> Estimated:
    return Estimated(
        **{name: float(values[0]) for name, values in describe_mixtures(mixtures, prob).items()}
    )
