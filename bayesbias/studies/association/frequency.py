"""Frequency as a rival explanation: whether classes are unequal in it, and what a contrast is at equal frequency.

Words of like frequency lie near each other in many vectors, whatever they mean, and rare words near
everything or nothing. So where the words of a class, and the attributes that it is held against,
differ in frequency from others, part of a contrast may be frequency. Two models of the same rows
answer: the one that was fitted, and the same with slopes on the logarithm of the frequency of
protected words and of attributes, the latter also by protected class: its product with class. With
all words at the mean frequency, what slopes carry is gone.

Slopes on the frequency of protected words differ by kind of attribute, not by list. Slopes by class
and by list together could say one product of frequencies twice, once from either side, and the
difference of classes and lists would pay for it: on tables whose distances are such a product such
a model overshot zero by half of what it should have taken out.

Whether that is what one wants to know, no model says. A group that is written about less is written
about less: frequency may itself be the social covariate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import plain, records
from bayesbias.core.formatting import number_of
from bayesbias.inference.estimates import beside
from bayesbias.inference.fitting import fit as fit_model, settings_of_sampler
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.slopes import contrasts_at
from bayesbias.inference.view import PROB, ROPE
from bayesbias.models.spec import ModelSpec
from bayesbias.models.variants import with_slopes
from bayesbias.tables.counts import WordCounts, load_counts

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Frequency", "frequency_of", "unequal_frequencies", "with_frequency"]

SIDES = {
    "protected": ("protected_word", "protected_class"),
    "attribute": ("attribute", "attribute_class"),
}
# By which column of the other side the slope on the frequency of a side differs, and over whose words it scatters.
_SLOPES = {
    "protected": ("attribute_kind", "attribute"),
    "attribute": ("protected_class", "protected_word"),
}
_LEAST = 3  # words of a side, from which on a slope means something
_KEYS = ["level", "name", "contrast"]
_FRAMES = ("words", "unequal", "contrasts", "slopes")


@dataclass(frozen=True, eq=False, repr=False)
class Frequency:
    """What frequency may have to do with the contrasts of a fit.

    Attributes
    ----------
    source : str
        Where the frequencies are from, for a reader.
    kind, file, sha256 : str
        As of `WordCounts`.
    words : DataFrame
        ``side, word, group, log_frequency``: powers of ten, up to a number that all words share.
    missing : tuple of str
        Words of the table without a count. Their rows are in neither model.
    unequal : DataFrame
        As `unequal_frequencies` returns it.
    contrasts : DataFrame
        ``level, name, contrast`` and, for each of ``without`` (the model as it is), ``with`` (all
        words at the mean frequency) and ``carried`` (what slopes on frequency carry of the
        contrast), ``mean, low, high`` after an underscore, of new words like these; ``change`` is
        that of the means, with less without. ``mcse_`` and a name is its Monte Carlo error.
    slopes : DataFrame
        ``name, index, mean, low, high``: of the distance, for one standard deviation of log
        frequency.
    scale : Mapping of str to float
        That standard deviation, for each side.
    model : str
        The model with slopes.
    n_pairs, n_pairs_all : int
        Rows with counts of both words, and all rows.
    prob : float
        Of intervals.
    problems : tuple of str
        Why the sampler of either model cannot be believed; empty where it can.

    Examples
    --------
    >>> import pandas as pd
    >>> row = {"level": "overall", "name": "all", "contrast": "associated - different"}
    >>> rows = pd.DataFrame([{**row, "without_mean": -0.06, "with_mean": -0.02, "change": 0.04, "mcse_change": 0.0}])
    >>> found = Frequency(
    ...     "counts of a corpus", "counts", "", "", words=rows, missing=(), unequal=rows, contrasts=rows, slopes=rows,
    ...     scale={}, model="default", n_pairs=90, n_pairs_all=90, prob=0.89)
    >>> found
    Frequency: counts of a corpus; associated - different -0.060 without and -0.020 with log frequency
    >>> len(found.moved(0.05)), len(found.moved(0.03))
    (0, 1)
    """

    source: str
    kind: str
    file: str
    sha256: str
    words: pd.DataFrame
    missing: tuple[str, ...]
    unequal: pd.DataFrame
    contrasts: pd.DataFrame
    slopes: pd.DataFrame
    scale: Mapping[str, float]
    model: str
    n_pairs: int
    n_pairs_all: int
    prob: float
    problems: tuple[str, ...] = ()

    def moved(self, rope: float = ROPE) -> pd.DataFrame:
        """Return the contrasts that move by more than a region of practical equivalence, the farthest first.

        Parameters
        ----------
        rope : float > 0
            Its half-width, in the units of the contrasts; a change must exceed it by two Monte
            Carlo errors.
        """
        far, error = self.contrasts["change"].abs(), self.contrasts["mcse_change"].fillna(0.0)
        kept = self.contrasts[far > checks.positive(rope, "rope") + 2 * error]
        return kept.loc[far[kept.index].sort_values(ascending=False).index].reset_index(drop=True)

    def as_dict(self) -> dict[str, Any]:
        """Return plain dictionaries and lists, for the provenance of a fit."""
        out = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return plain({**out, **{name: records(out[name]) for name in _FRAMES}})

    def __repr__(self) -> str:
        row = self.contrasts.iloc[0]
        return (
            f"Frequency: {self.source}; {row['contrast']} {row['without_mean']:+.3f} without and "
            f"{row['with_mean']:+.3f} with log frequency"
        )


def frequency_of(fit: BiasFit) -> Frequency | None:
    """Return what `with_frequency` found, or None where it was not asked.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "weat7", controls="none")
    >>> fit = bb.fit(table, seed=1, draws=200, chains=2, engine="quick")
    >>> frequency_of(fit) is None
    True
    """
    import pandas as pd

    kept = fit.provenance.get("frequency")
    if kept is None:
        return None
    frames = {name: pd.DataFrame.from_records(kept[name]) for name in _FRAMES}
    return Frequency(
        **{**kept, **frames, **{name: tuple(kept[name]) for name in ("missing", "problems")}}
    )


def with_frequency(
    fit: BiasFit,
    counts: Any,
    *,
    embedding: Any = None,
    language: str = "en",
    prob: float = PROB,
) -> BiasFit:
    """Return a fit that knows what frequency may have to do with its contrasts.

    The model is fitted again with slopes on log frequency, by the same sampler with the same seed;
    and, where some words have no count, as it is on the rest of the rows.

    Parameters
    ----------
    fit : BiasFit
        Of distances.
    counts : path, mapping, WordCounts, "order" or "wordfreq"
        As of `bayesbias.tables.load_counts`.
    embedding : Embedding or path, optional
        For ``"order"``.
    language : str
        For ``"wordfreq"``.
    prob : float in (0, 1)
        Of intervals.

    Returns
    -------
    BiasFit
        The same, with what was found in its provenance, to be saved with it; `frequency_of` gives
        it. Its findings say it where a contrast moves by more than its region of practical
        equivalence, and its page shows it.

    Raises
    ------
    InputError
        As of `load_counts`; where fewer than three words of both sides have counts, or their counts
        are all the same; where without the words that have none no two connections are left.

    Notes
    -----
    For the frequency of attributes, slopes differ by protected class and scatter over protected words; for that of protected
    words they differ by kind of attribute (stereotype, human, neutral) and scatter over attributes. The lines are
    straight: a dependence on frequency that is not, such as on the nearness of two frequencies, stays in the contrast.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "weat7", controls="none")
    >>> fit = bb.fit(table, seed=1, draws=200, chains=2, engine="quick")
    >>> lengths = {word: 10.0 ** -len(word) for word in [*fit.table["protected_word"], *fit.table["attribute"]]}
    >>> found = bb.studies.frequency_of(bb.studies.with_frequency(fit, lengths))
    >>> list(found.scale), found.n_pairs == found.n_pairs_all
    (['protected', 'attribute'], True)
    """
    if fit.spec.outcome != "distance" or not {"protected_word", "attribute"} <= set(
        fit.table.columns
    ):
        raise InputError(
            "frequency is asked of a fit of distances", where=fit.spec.label, found=fit.spec.outcome
        )
    prob = checks.probability(prob)
    frame = fit.table
    every = dict.fromkeys(str(word) for word, _ in SIDES.values() for word in frame[word].unique())
    known = load_counts(counts, list(every), embedding=embedding, language=language)
    words = words_with_counts(frame, known)
    there = np.ones(len(frame), dtype=bool)
    for column, _ in SIDES.values():
        there &= frame[column].astype(str).isin(list(known.log_frequency)).to_numpy()
    rows = frame[there].reset_index(drop=True)
    rows.attrs.update(frame.attrs)
    rows, scale = _with_columns(rows, known)
    again = {**settings_of_sampler(fit.provenance.get("sampler", {})), "progress": False}
    plainly = fit if there.all() else fit_model(rows, fit.spec, **again)
    spec = frequency_model(fit.spec, list(scale), rows.columns)
    adjusted = fit_model(rows, spec, **again)
    frequency = Frequency(
        source=known.origin,
        kind=known.kind,
        file=known.source,
        sha256=known.sha256,
        words=words,
        missing=known.missing,
        unequal=unequal_frequencies(rows, known, prob=prob),
        contrasts=_side_by_side(plainly, adjusted, scale, prob),
        slopes=_slopes(adjusted, prob),
        scale=scale,
        model=spec.name,
        n_pairs=len(rows),
        n_pairs_all=len(frame),
        prob=float(prob),
        problems=tuple(dict.fromkeys(p for each in (plainly, adjusted) for p in each.diagnostics()["problems"])),
    )  # fmt: skip
    return replace(fit, provenance={**fit.provenance, "frequency": frequency.as_dict()})


def column_of(side: str) -> str:
    """Return the column that holds the log frequency of a side."""
    return f"{side}_log_frequency"


def frequency_model(
    spec: ModelSpec, sides: Sequence[str], columns: Sequence[str] = ()
) -> ModelSpec:
    """Return a model with slopes on log frequency: that of attributes by protected class, of protected words by kind.

    Parameters
    ----------
    spec : ModelSpec
    sides : sequence of {"protected", "attribute"}
    columns : sequence of str
        Those of the table; by one that it lacks slopes do not differ. By default it has all.
    """
    for side in sides:
        group, word = _SLOPES[side]
        by = [group] if not len(columns) or group in columns else []
        spec = with_slopes(spec, column_of(side), by, varying=[word])
    return spec


def _with_columns(rows: pd.DataFrame, known: WordCounts) -> tuple[pd.DataFrame, dict[str, float]]:
    """Return the rows with log frequency, centred and in standard deviations over the words of a side."""
    scale: dict[str, float] = {}
    columns = {}
    for side, (word, _) in SIDES.items():
        own = np.array(
            [known.log_frequency[each] for each in dict.fromkeys(map(str, rows[word].unique()))]
        )
        if len(own) < _LEAST or np.ptp(own) == 0:
            continue
        scale[side] = float(own.std(ddof=1))
        logs = rows[word].astype(str).map(dict(known.log_frequency)).astype(float)
        columns[column_of(side)] = (logs - own.mean()) / scale[side]
    if not scale:
        raise InputError(
            "too few words have a count, or all the same",
            where=known.origin,
            found=number_of(len(known.log_frequency), "word"),
            valid=f"at least {_LEAST} protected words or attributes, with counts that differ",
        )
    return rows.assign(**columns), scale


def words_with_counts(frame: pd.DataFrame, known: WordCounts) -> pd.DataFrame:
    """Return ``side, word, group, log_frequency`` of the words that have one, in the order of the table."""
    import pandas as pd

    parts = []
    for side, (word, group) in SIDES.items():
        group = group if group in frame.columns else "attribute_kind"
        if group not in frame.columns:
            continue
        own = frame[[word, group]].astype(str).drop_duplicates(word)
        own.columns = ["word", "group"]
        own.insert(0, "side", side)
        parts.append(
            own.assign(log_frequency=own["word"].map(dict(known.log_frequency)).astype(float))
        )
    return pd.concat(parts, ignore_index=True).dropna().reset_index(drop=True)


def unequal_frequencies(
    table: pd.DataFrame, counts: WordCounts, *, prob: float = PROB
) -> pd.DataFrame:
    r"""Say whether classes, lists and connections differ in frequency.

    Parameters
    ----------
    table : DataFrame
        Rows of a `PairTable`.
    counts : WordCounts
    prob : float in (0, 1)

    Returns
    -------
    DataFrame
        ``of`` (protected_class, attribute_class, connection), ``side`` (whose frequency),
        ``group``, ``n_words``, ``mean`` and ``sd`` of log frequency, ``versus``, ``difference`` of
        the means with ``low, high``, and ``unequal``: whether the interval leaves out zero. A class
        is held against all others of its kind, a connection against the first.

    Notes
    -----
    Words are a sample of their class, whose standard deviation is :math:`s_c`. Each mean weighs words by their pairs, with
    weights :math:`w_i` that add up to one, so that a difference has the variance :math:`\sum_c s_c^2 \sum_{i \in c}
    (w_i - w'_i)^2`, and Student's t with the degrees of freedom of Welch and Satterthwaite. Of two classes whose words all
    have the same pairs it is Welch's test (Biometrika 1947, 34: 28-35).

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "weat7", controls="none").frame
    >>> words = [*table["protected_word"].unique(), *table["attribute"].unique()]
    >>> counts = bb.tables.load_counts({word: 10.0 ** -len(word) for word in words}, words)
    >>> frame = unequal_frequencies(table, counts)
    >>> frame.loc[frame["of"] == "protected_class", ["group", "mean"]].round(2).to_numpy().tolist()
    [['math', -7.75], ['arts', -6.38]]
    """
    import pandas as pd

    prob = checks.probability(prob)
    out = []
    for of, side in (
        ("protected_class", "protected"),
        ("attribute_class", "attribute"),
        ("connection", "protected"),
        ("connection", "attribute"),
    ):
        if of in table.columns:
            out += _differences(table, counts, of, side, prob)
    return pd.DataFrame(
        out,
        columns=["of", "side", "group", "n_words", "mean", "sd", "versus", "difference", "low", "high", "unequal"],
    )  # fmt: skip


def _differences(
    table: pd.DataFrame, counts: WordCounts, of: str, side: str, prob: float
) -> list[dict[str, Any]]:
    word, own_class = SIDES[side]
    if own_class not in table.columns:
        return []
    logs = table[word].astype(str).map(dict(counts.log_frequency)).to_numpy(dtype=float)
    known = ~np.isnan(logs)
    words, first, at = np.unique(
        table[word].astype(str)[known], return_index=True, return_inverse=True
    )
    x = logs[known][first]
    strata = np.unique(table[own_class].astype(str).to_numpy()[known][first], return_inverse=True)[
        1
    ]
    groups = table[of].astype(str).to_numpy()[known]
    labels = list(dict.fromkeys(groups))
    if of == "connection":
        labels = [
            each for each in ("associated", "different", "human", "neutral") if each in labels
        ]
    if len(labels) < 2:
        return []
    weights = {
        each: np.bincount(at[groups == each], minlength=len(words)).astype(float) for each in labels
    }
    if of != "connection":  # each word once, however many pairs it has
        weights = {each: (own > 0).astype(float) for each, own in weights.items()}
    out = []
    for each in labels:
        if of == "connection":
            versus = labels[0] if each != labels[0] else ""
            other = weights.get(versus)
        else:
            versus = "others"
            other = np.sum([weights[rest] for rest in labels if rest != each], axis=0)
        mine = weights[each] / weights[each].sum()
        mean = float(mine @ x)
        row = {"of": of, "side": side, "group": each, "n_words": int((mine > 0).sum()), "mean": mean,
               "sd": float(np.sqrt(mine @ (x - mean) ** 2 * _unbiased(mine))), "versus": versus,
               "difference": np.nan, "low": np.nan, "high": np.nan}  # fmt: skip
        if other is not None:
            apart = mine - other / other.sum()
            low, high = _interval(apart, x, strata, prob)
            row |= {"difference": float(apart @ x), "low": low, "high": high}
        out.append({**row, "unequal": bool(row["low"] > 0 or row["high"] < 0)})
    return out


def _unbiased(weights: np.ndarray) -> float:
    """Return what makes a weighted mean of squares a variance: n / (n - 1) of equal weights, and nothing of one word."""
    left = 1 - float(weights @ weights)
    return 1 / left if left > 1e-12 else float("nan")


def _interval(
    weights: np.ndarray, x: np.ndarray, strata: np.ndarray, prob: float
) -> tuple[float, float]:
    """Return the interval of a weighted difference of words that are samples of their classes."""
    from scipy import stats

    parts, freedoms = [], []
    for stratum in np.unique(strata):
        mine = strata == stratum
        if np.abs(weights[mine]).max() < 1e-12:
            continue
        if mine.sum() < 2:
            return float("nan"), float("nan")  # of one word no spread is known
        parts.append(float(x[mine].var(ddof=1) * (weights[mine] ** 2).sum()))
        freedoms.append(int(mine.sum()) - 1)
    variance = sum(parts)
    middle = float(weights @ x)
    if variance == 0:  # the same words with the same weights
        return middle, middle
    freedom = variance**2 / sum(part**2 / own for part, own in zip(parts, freedoms, strict=True))
    half = float(stats.t.ppf((1 + prob) / 2, freedom)) * np.sqrt(variance)
    return middle - half, middle + half


def _side_by_side(
    without: BiasFit, adjusted: BiasFit, scale: Mapping[str, float], prob: float
) -> pd.DataFrame:
    """Return the contrasts of both models, and what slopes carry, row by row."""
    import pandas as pd

    at = {column_of(side): 0.0 for side in scale}
    known = without.spec.results.levels
    groups = [level for level in ("class", "attribute_set") if level in known]
    levels = ["overall", *(level for level in groups if known[level].population)]
    out = None
    for name, make in (
        ("without", lambda level: without.contrasts(prob, estimand="population", level=level)),
        ("with", lambda level: contrasts_at(adjusted, at, prob=prob, level=level)),
        ("carried", lambda level: contrasts_at(adjusted, at, carried=True, prob=prob, level=level)),
    ):
        rows = pd.concat([make(level) for level in levels], ignore_index=True)
        own = rows[_KEYS].assign(**beside(rows, name))
        own = own.rename(columns={name: f"{name}_mean", f"mcse_{name}": f"mcse_{name}_mean"})
        out = own if out is None else out.merge(own, on=_KEYS)
    assert out is not None
    error = np.hypot(out["mcse_with_mean"], out["mcse_without_mean"])
    return out.assign(change=out["with_mean"] - out["without_mean"], mcse_change=error)


def _slopes(adjusted: BiasFit, prob: float) -> pd.DataFrame:
    """Return the slopes that do not belong to single words."""
    frame = adjusted.parameters(prob)
    fixed = [
        name
        for name, about in adjusted.spec.parameters.items()
        if about.covariate is not None and not adjusted.spec.is_random(name)
    ]
    frame = frame[frame["name"].isin(fixed)][["name", "index", "mean", "hpdi_low", "hpdi_high"]]
    return frame.rename(columns={"hpdi_low": "low", "hpdi_high": "high"}).reset_index(drop=True)
