"""Several equally plausible sets of vectors: a fit of each, and estimates pooled by Rubin's rules.

Sets may come from resampled documents, seeds of training, resampled contexts, or posterior draws of
vectors. A fit says how sure it is of its own set. How far the sets differ comes on top of that.

Let W be the mean of the variances within M sets, and B the variance of their means. Then

    V = W + (1 + 1/M) B,

and an estimate has Student's t with (M - 1) (V / ((1 + 1/M) B))^2 degrees of freedom (Rubin 1987,
Multiple Imputation for Nonresponse in Surveys, section 3.3). Draws of all sets put together would
have the variance W + B, and no allowance for the few sets that B was estimated from. If the target
is the mean over seeds, B counts once for the mean: V = W + B/M.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import InputError, checks
from bayesbias.core.conventions import PROB, ROPE
from bayesbias.core.progress import ticking
from bayesbias.core.result import opened
from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.loading import load_contexts, load_embedding
from bayesbias.inference.estimates import without_detail
from bayesbias.inference.fitting import model_for
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.view import verdict
from bayesbias.models.spec import ModelSpec, load_model
from bayesbias.studies.common import ManyFits, stacked
from bayesbias.studies.corpora.comparing import (
    CorpusComparison,
    fit_each,
    joined_sources,
    two_or_more,
)

KINDS = ("resamples", "seeds")
CENTER = "center"
ADVISED = 5  # sets
_KEPT = ("model", "sampler", "versions", "coverage", "missing")  # of the provenance


@dataclass(frozen=True, eq=False, repr=False)
class Replicates(ManyFits):
    """Results for several sets of vectors, pooled; made by `bayesbias.fit_replicates`.

    Attributes
    ----------
    results : Mapping of str to BiasFit or CorpusComparison
        The result for each set.
    center : BiasFit, CorpusComparison or None
        The result for the vectors of the full text. Its means are the centers of the intervals.
    kind : {"resamples", "seeds"}
        What the sets are.
    provenance : Mapping
        Models, tables, coverage.

    Examples
    --------
    >>> import bayesbias as bb
    >>> import numpy as np
    >>> words = bb.load_wordlist("religion", controls="none")
    >>> vectors = bb.load_embedding("minilm-static", words.words)
    >>> noise = np.random.default_rng(1).normal(0, 0.05, (3, *vectors.vectors.shape))
    >>> sets = {f"r{k}": (vectors.words, vectors.vectors + own) for k, own in enumerate(noise)}
    >>> found = bb.fit_replicates(sets, words, seed=1, draws=200, chains=2, engine="quick")
    >>> found.contrasts(level="overall")[["estimand", "share_between"]].shape
    (2, 2)
    """

    study = "replicates"  # whose sections show it, see bayesbias.output
    MACHINERY = ManyFits.MACHINERY | {"pooling"}

    results: Mapping[str, Any]
    center: Any
    kind: str
    provenance: Mapping[str, Any]

    @property
    def pooling(self) -> str:
        """How the results were pooled, as a methods section says it."""
        around = "" if self.center is None else ", centered on the estimates from all text"
        return (
            f" We fitted {len(self.results)} sets of vectors ({self.kind}), and pooled the estimates "
            f"by Rubin's rules with Student's t{around}."
        )

    def contrasts(
        self,
        prob: float = PROB,
        rope: float = ROPE,
        estimand: str | None = None,
        level: str | None = None,
        *,
        detail: bool = False,
    ) -> pd.DataFrame:
        """Pool the contrasts.

        Parameters
        ----------
        prob : float in (0, 1)
            Probability of the interval.
        rope : float > 0
            Half-width of the region of practical equivalence.
        estimand, level : str, optional
            As in `BiasFit.contrasts`.
        detail : bool
            Whether to return all columns of `bayesbias.inference.estimates`, also standard
            deviations and Monte Carlo errors.

        Returns
        -------
        DataFrame
            The labels of the rows, ``mean, hpdi_low, hpdi_high, p_below_zero, p_in_rope, verdict``,
            and ``sd_within, sd_between, share_between, df`` as in `pooled`.
        """
        frame = self.pooled("contrasts", prob, rope=rope, estimand=estimand, level=level)
        return frame if detail else without_detail(frame)

    def pooled(self, table: str, prob: float = PROB, **arguments: Any) -> pd.DataFrame:
        """Pool every row of a table that all results have.

        Parameters
        ----------
        table : str
            Method of the results, such as ``contrasts``, ``means``, ``words`` or ``standardized``.
        prob : float in (0, 1)
            Probability of the interval.
        **arguments
            As of that method.

        Returns
        -------
        DataFrame
            The labels of the rows; ``mean``; ``sd``, the square root of V; ``hpdi_low, hpdi_high``
            from Student's t; the other columns of `bayesbias.inference.estimates` that apply;
            ``sd_within`` and ``sd_between``, the square roots of W and B; ``share_between``, the
            part of V that comes from B; and ``df``, the degrees of freedom.
        """
        prob = checks.probability(prob)
        key = repr((table, prob, arguments))  # what is shown asks for a table many times
        return self.cached(key, lambda: self._pooled(table, prob, **arguments)).copy()

    def _pooled(self, table: str, prob: float, **arguments: Any) -> pd.DataFrame:
        if table == "contrasts":
            arguments["detail"] = True
        frames = [getattr(each, table)(prob=prob, **arguments) for each in self._every().values()]
        labels = list(frames[0].columns[: frames[0].columns.get_loc("mean")])
        keyed = [frame.set_index(labels) for frame in frames]
        common = keyed[0].index
        for other in keyed[1:]:
            common = common[common.isin(other.index)]
        if common.empty:
            raise InputError(
                f"results: expected {table} in common, got none",
                hint="fit the same word list with the same model",
            )
        parts = [frame.loc[common] for frame in keyed]
        center = None if self.center is None else parts.pop(0)
        pooled = pool_rows(parts, prob, self.kind, center)
        return pd.concat([common.to_frame(index=False), pooled], axis=1)

    def by_set(self, prob: float = PROB, rope: float = ROPE, **arguments: Any) -> pd.DataFrame:
        """Return the contrasts of each set by itself.

        ``set``, then as `BiasFit.contrasts` with ``detail``, but for ``d``.
        """
        frames = {}
        for name, result in self._every().items():
            frame = result.contrasts(prob=prob, rope=rope, detail=True, **arguments)
            frames[name] = frame.drop(columns="d", errors="ignore")
        return stacked(frames, "set")

    def fits(self) -> dict[str, BiasFit]:
        """Return every fit by its name."""
        out: dict[str, BiasFit] = {}
        for name, each in self._every().items():
            out |= {f"{name} {part}".strip(): fit for part, fit in each.fits().items()}
        return out

    def _every(self) -> dict[str, Any]:
        """Return the results by name, that of the full text first."""
        return {**({} if self.center is None else {CENTER: self.center}), **self.results}


def pool_rows(
    frames: Sequence[pd.DataFrame],
    prob: float,
    kind: str = "resamples",
    center: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Pool the same rows of several tables by Rubin's rules; see the head of this module.

    Examples
    --------
    >>> sets = [pd.DataFrame({"mean": [mean], "sd": [1.0]}) for mean in (0.0, 2.0, 4.0)]
    >>> pool_rows(sets, 0.89)[["mean", "sd_within", "sd_between", "df"]].round(2).values.tolist()
    [[2.0, 1.0, 2.0, 2.82]]
    """
    from scipy import stats

    def stacked(name: str) -> np.ndarray:
        missing = pd.Series(0.0, frames[0].index)
        return np.nan_to_num([frame.get(name, missing).to_numpy(dtype=float) for frame in frames])

    means, sds, mean_errors, sd_errors = map(stacked, ("mean", "sd", "mcse_mean", "mcse_sd"))
    m, middle = len(frames), means.mean(axis=0)
    within, between = np.mean(sds**2, axis=0), means.var(axis=0, ddof=1)
    factor = 1 / m if kind == "seeds" else 1 + 1 / m
    extra = factor * between
    total = within + extra
    sd = np.sqrt(total)
    mean_error = np.sqrt(np.sum(mean_errors**2, axis=0)) / m
    if center is not None:
        middle = center["mean"].to_numpy(dtype=float)
        mean_error = center.get("mcse_mean", pd.Series(0.0, center.index)).to_numpy(dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.nan_to_num(extra / total)
        df = (m - 1) / share**2
        # Monte Carlo error of V, from those of the SDs within and of the means.
        of_within = 2 * np.sqrt(np.sum((sds * sd_errors) ** 2, axis=0)) / m
        apart = (means - means.mean(axis=0)) * mean_errors
        of_between = 2 * factor * np.sqrt(np.sum(apart**2, axis=0)) / (m - 1)
        sd_error = np.nan_to_num(np.hypot(of_within, of_between) / (2 * sd))
        reach = stats.t.ppf((1 + prob) / 2, df)

        def below(x: Any) -> np.ndarray:
            return np.nan_to_num(stats.t.cdf((x - middle) / sd, df))

        low, high = middle - reach * sd, middle + reach * sd
        end_error = np.hypot(mean_error, reach * sd_error)
        beside_rope: dict[str, Any] = {}
        if "rope" in frames[0]:
            rope = frames[0]["rope"].to_numpy(dtype=float)
            ends = zip(low, high, rope, end_error, strict=True)
            beside_rope = {
                "p_below_zero": below(0.0),
                "p_in_rope": below(rope) - below(-rope),
                "rope": rope,
                "verdict": [verdict(a, b, near, (by, by)) for a, b, near, by in ends],
            }
    return pd.DataFrame(
        {
            "mean": middle, "sd": sd, "hpdi_low": low, "hpdi_high": high, "prob": prob, **beside_rope,
            "mcse_mean": mean_error, "mcse_sd": sd_error, "mcse_low": end_error, "mcse_high": end_error,
            "sd_within": np.sqrt(within), "sd_between": np.sqrt(between), "share_between": share, "df": df,
        }
    )  # fmt: skip


def pool_replicates(
    results: Mapping[str, Any] | Sequence[Any], *, center: Any = None, kind: str = "resamples"
) -> Replicates:
    """Pool results for several equally plausible sets of vectors.

    Parameters
    ----------
    results : mapping of str to results, or sequence of results
        Two or more fits or comparisons of corpora, or the folders of their runs, with the same word
        list and model. Give them the same words, since rows that are not in all results are left out.
    center : BiasFit or CorpusComparison, optional
        The result for the vectors of the full text. Its means replace the mean over the sets.
    kind : {"resamples", "seeds"}
        As in `fit_replicates`.

    Returns
    -------
    Replicates
        With ``contrasts()`` and, for other tables, ``pooled()``.

    Raises
    ------
    InputError
        If there are fewer than two results, or one is not a fit or a comparison of corpora.

    Examples
    --------
    A difference between corpora, with two trainings of each:

    >>> import bayesbias as bb
    >>> import numpy as np
    >>> words = bb.load_wordlist("religion", controls="none")
    >>> vectors = bb.load_embedding("minilm-static", words.words)
    >>> settings = {"kind": "corpora", "seed": 1, "draws": 200, "chains": 2, "engine": "quick"}
    >>> found = []
    >>> for noise in np.random.default_rng(1).normal(0, 0.05, (2, *vectors.vectors.shape)):
    ...     later = bb.load_embedding((vectors.words, vectors.vectors + noise))
    ...     found.append(bb.compare({"1930s": vectors, "1980s": later}, words, **settings))
    >>> pooled = bb.pool_replicates(found)
    >>> pooled.contrasts(level="overall")["change"].unique().tolist()
    ['1930s to 1980s']
    """
    checks.choice(kind, KINDS, "kind")
    if kind == "seeds" and center is not None:
        raise InputError(
            "center: expected none, since the target of seeds is their mean", hint="leave it out"
        )
    if not isinstance(results, Mapping):
        results = {str(place): each for place, each in enumerate(results, 1)}
    results = {name: opened(result) for name, result in results.items()}
    center = opened(center)
    named = two_or_more(results, "results", "set of vectors", CENTER)
    for name, each in {**named, **({} if center is None else {CENTER: center})}.items():
        if not isinstance(each, BiasFit | CorpusComparison):
            raise InputError(
                f"results: expected a fit or a comparison of corpora, got {type(each).__name__}",
                where=name,
            )
    first = (center or next(iter(named.values()))).provenance
    listed = first.get("table", {}).get("name")
    provenance = {
        "name": str(first.get("name") or listed or "pairs"),
        **{key: first.get(key, {}) for key in _KEPT},
    }
    return Replicates(named, center, kind, provenance)


def fit_replicates(
    sets: Mapping[str, Any],
    wordlist: Any = None,
    model: checks.FilePath | ModelSpec | None = None,
    *,
    kind: str = "resamples",
    center: Any = None,
    progress: bool | None = None,
    **settings: Any,
) -> Replicates:
    """Fit several equally plausible sets of vectors, and pool the estimates.

    Each set is fitted by itself, on the words that all sets have. Rubin's rules then pool every row
    of the estimates: the interval includes how far the sets differ.

    Parameters
    ----------
    sets : mapping of str to vectors
        Two or more, and better five: vectors as in `load_embedding`, or tables of distances. Each
        was trained on a resample as large as the corpus, or from another seed.
    wordlist : WordList, str, path or mapping, optional
        As in `distance_table`; none if `sets` are tables.
    model : str, path or ModelSpec, optional
        As in `fit`.
    kind : {"resamples", "seeds"}
        Resamples of documents or contexts, and posterior draws of vectors: the target is the value
        in another such set. Seeds alone: the target is the mean over all seeds.
    center : vectors or table, optional
        Those of the full text. The intervals are then around its estimates, since estimates from
        resamples lie nearer to zero.
    progress : bool, optional
        A bar on the terminal; by default if standard error is one.
    **settings
        ``draws, tune, chains, seed, engine, cores`` as in `fit`.

    Returns
    -------
    Replicates
        With ``contrasts()`` and, for other tables, ``pooled()``.

    Raises
    ------
    InputError
        If there are fewer than two sets, two of them are equal, or they have no words in common.

    Examples
    --------
    >>> import bayesbias as bb
    >>> import numpy as np
    >>> words = bb.load_wordlist("weat7", controls="none")
    >>> vectors = bb.load_embedding("minilm-static", words.words)
    >>> noise = np.random.default_rng(1).normal(0, 0.1, (5, *vectors.vectors.shape))
    >>> sets = {f"r{k}": (vectors.words, vectors.vectors + own) for k, own in enumerate(noise)}
    >>> found = bb.fit_replicates(sets, words, center=vectors, seed=1, engine="quick")
    >>> row = found.contrasts(level="overall", estimand="listed_words", detail=True).iloc[0]
    >>> bool(row["sd_between"] > 0), bool(row["sd"] > row["sd_within"])
    (True, True)
    """
    checks.choice(kind, KINDS, "kind")
    named = two_or_more(sets, "sets", "set of vectors", CENTER)
    sources = named if center is None else {CENTER: center, **named}
    joined = joined_sources(sources, wordlist)
    if joined.distances[list(named)].round(6).T.duplicated().any():
        raise InputError(
            "sets: expected different vectors, got the same distances twice",
            hint="is one file named twice?",
        )
    spec = load_model(model_for(joined.frame) if model is None else model)
    with ticking("fitting", len(sources), progress) as tick:
        fits = fit_each(joined, spec, settings, tick)
    whole = fits.pop(CENTER, None)
    found = pool_replicates(fits, center=whole, kind=kind)
    return replace(found, provenance={**found.provenance, **joined.about})


def resample_contexts(
    x: Any, n: int = 10, seed: int | None = None, words: Iterable[str] | None = None, **reading: Any
) -> dict[str, Embedding]:
    """Resample the contexts of each word to replicates, for `fit_replicates`.

    Every replicate has one vector for each word: its mean, moved as far as the mean of a bootstrap
    sample of its contexts lies from it. With k contexts the move is multiplied by sqrt(k / (k - 1)),
    since a bootstrap of few contexts varies too little (Rao & Wu 1988, Journal of the American
    Statistical Association 83: 231-241). The interval does not shrink with `n`.

    Parameters
    ----------
    x : path, data frame, tuple or mapping
        A word may be there several times, once for each context; or a mapping of words to matrices.
    n : int
        Number of replicates.
    seed : int, optional
        Of the resampling.
    words : iterable of str, optional
        The words wanted; all words if None.
    **reading
        ``vocab, key, on_bad_lines`` as in `load_embedding`.

    Returns
    -------
    dict of str to Embedding
        Give `x` itself as the center: `load_embedding` takes the mean of all contexts.

    Raises
    ------
    InputError
        If no word has several vectors.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = (["nurse", "nurse", "cook"], [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> sets = bb.resample_contexts(table, n=2, seed=1)
    >>> list(sets), sets["resample 1"]["cook"].tolist()
    (['resample 1', 'resample 2'], [1.0, 1.0])
    """
    checks.count(n, "n", 2)
    rng = np.random.default_rng(None if seed is None else checks.seed(seed))
    if isinstance(x, Mapping):
        pairs = [(word, row) for word, rows in x.items() for row in np.atleast_2d(rows)]
        x = ([word for word, _ in pairs], np.stack([row for _, row in pairs]))
    contexts = load_contexts(x, words, **reading)
    if all(len(vectors) == 1 for vectors in contexts.values()):
        raise InputError("contexts: expected words with several vectors, got one vector of each")
    out = {}
    for name in (f"resample {place}" for place in range(1, n + 1)):
        rows = []
        for vectors in contexts.values():
            k, mean = len(vectors), vectors.mean(axis=0)
            moved = vectors[rng.integers(k, size=k)].mean(axis=0) - mean
            rows.append(mean + np.sqrt(k / max(k - 1, 1)) * moved)
        out[name] = load_embedding((list(contexts), np.stack(rows)), name=name)
    return out
