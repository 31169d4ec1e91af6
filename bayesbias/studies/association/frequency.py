"""Contrasts at equal word frequency: a fitted model beside the same with slopes on log frequency.

Words of like frequency lie near each other in many vectors, whatever they mean. So part of a
contrast of words that differ in frequency may be frequency. The second model has slopes on the log
frequency of attributes, by protected class, and on that of protected words, by kind of attribute.
With all words at the mean frequency, what slopes carry is gone.

Slopes on the frequency of protected words differ by kind of attribute, not by list. Slopes by class
and by list together could say one product of frequencies twice, once from either side, and the
difference of classes and lists would pay for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import InputError, checks, files, number_of
from bayesbias.core.conventions import PROB, ROPE
from bayesbias.core.result import opened
from bayesbias.inference.fitting import fit as fit_model
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.slopes import contrasts_at
from bayesbias.models.spec import ModelSpec
from bayesbias.models.variants import with_slopes
from bayesbias.studies.common import KEYS, with_ends
from bayesbias.tables.counts import load_counts

SIDES = {
    "protected": ("protected_word", "protected_class"),
    "attribute": ("attribute", "attribute_class"),
}
# By which column of the other side the slope on the frequency of a side differs, and over whose
# words it scatters.
_SLOPES = {
    "protected": ("attribute_kind", "attribute"),
    "attribute": ("protected_class", "protected_word"),
}
_LEAST = 3  # words of a side, from which on a slope means something


@dataclass(frozen=True, eq=False)
class Frequency:
    """The contrasts of a fit, and what they are at equal word frequency.

    Attributes
    ----------
    source, sha256 : str
        Where the frequencies are from, and the hash of the file.
    words : DataFrame
        ``side, word, group, log_frequency``: powers of ten, up to a number that all words share.
    missing : tuple of str
        Words of the table without a count. Their rows are in neither model.
    contrasts : DataFrame
        ``level, name, contrast`` and, for each of ``without`` (the model as it is) and ``with``
        (all words at the mean frequency), ``mean, low, high`` after an underscore, of new words
        like these; ``change`` is the difference of the means. ``mcse_`` and a name is its Monte
        Carlo error.
    model : str
        The model with slopes.
    prob : float
        Probability of the intervals.
    problems : tuple of str
        Why the sampler of either model cannot be believed; empty where it can.
    """

    source: str
    sha256: str
    words: pd.DataFrame
    missing: tuple[str, ...]
    contrasts: pd.DataFrame
    model: str
    prob: float
    problems: tuple[str, ...] = ()

    @property
    def groups(self) -> pd.DataFrame:
        """``side, group, n_words, mean, sd`` of log frequency by class and attribute set."""
        each = self.words.groupby(["side", "group"], sort=False)["log_frequency"]
        return each.agg(n_words="size", mean="mean", sd="std").reset_index()

    def __repr__(self) -> str:
        row = self.contrasts.iloc[0]
        return (
            f"Frequency: {self.source}; {row['contrast']} {row['without_mean']:+.3f} without and "
            f"{row['with_mean']:+.3f} with log frequency"
        )


def frequency_of(fit: Any) -> Frequency | None:
    """Return what `with_frequency` found, or None where it was not asked.

    Parameters
    ----------
    fit : BiasFit, Run or path
        A fit, or the folder of its run.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "weat7", controls="none")
    >>> fit = bb.fit(table, seed=1, draws=200, chains=2, engine="quick")
    >>> frequency_of(fit) is None
    True
    """
    kept = opened(fit).frequency
    if kept is None:
        return None
    frames = {name: pd.DataFrame.from_records(kept[name]) for name in ("words", "contrasts")}
    return Frequency(
        **{**kept, **frames, **{name: tuple(kept[name]) for name in ("missing", "problems")}}
    )


def with_frequency(
    fit: Any,
    counts: Any,
    *,
    prob: float = PROB,
) -> BiasFit:
    """Return a fit that knows what its contrasts are at equal word frequency.

    The model is fitted again with slopes on log frequency, by the same sampler with the same seed;
    and, where some words have no count, as it is on the rest of the rows.

    Parameters
    ----------
    fit : BiasFit, Run or path
        Of distances, or the folder of its run.
    counts : path, mapping, WordCounts or "wordfreq"
        As of `bayesbias.tables.load_counts`, which also takes the order of a file of vectors.
    prob : float in (0, 1)
        Of intervals.

    Returns
    -------
    BiasFit
        The same, with what was found in `BiasFit.frequency` and in its provenance, to be saved with
        it; `frequency_of` gives it. Its findings say it where a contrast moves by more than its region of practical
        equivalence, and its page shows it.

    Raises
    ------
    InputError
        If fewer than three words of both sides have counts, or their counts are all the same.

    Notes
    -----
    The lines are straight: a dependence on frequency that is not, such as on the nearness of two
    frequencies, stays in the contrast.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "weat7", controls="none")
    >>> fit = bb.fit(table, seed=1, draws=200, chains=2, engine="quick")
    >>> lengths = {
    ...     word: 10.0 ** -len(word)
    ...     for word in [*fit.table["protected_word"], *fit.table["attribute"]]
    ... }
    >>> found = bb.studies.frequency_of(bb.studies.with_frequency(fit, lengths))
    >>> found.model, found.missing
    ('default + protected_log_frequency + attribute_log_frequency', ())
    """
    fit = opened(fit)
    checks.instance(fit, BiasFit, "fit", "a fit (from bayesbias.fit) or the folder of its run")
    frame = fit.table
    if fit.spec.outcome != "distance" or not {"protected_word", "attribute"} <= set(frame):
        problem = f"expected a fit of distances, got one of {fit.spec.outcome}"
        raise InputError(problem, where=fit.spec.label)
    prob = checks.probability(prob)
    every = [str(word) for word, _ in SIDES.values() for word in frame[word].unique()]
    known = load_counts(counts, checks.once(every))
    logs = {
        side: frame[word].astype(str).map(dict(known.log_frequency)).astype(float)
        for side, (word, _) in SIDES.items()
    }
    there = logs["protected"].notna() & logs["attribute"].notna()
    rows = frame[there].reset_index(drop=True)
    words, slopes = [], {}
    for side, (word, group) in SIDES.items():
        own = pd.DataFrame({"side": side, "word": frame[word].astype(str)})
        own["group"] = frame.get(group, frame["connection"]).astype(str)
        words.append(own.assign(log_frequency=logs[side]).drop_duplicates("word").dropna())
        each = logs[side][there].reset_index(drop=True)
        once = each[~rows[word].duplicated()]
        if len(once) >= _LEAST and np.ptp(once) > 0:
            slopes[column_of(side)] = (each - once.mean()) / once.std()
    if not slopes:
        problem = f"expected {_LEAST} protected words or attributes whose counts differ"
        got = number_of(len(known.log_frequency), "word")
        raise InputError(f"{problem}, got {got} with a count", where=known.origin)
    again = {**fit.sampling.arguments(), "progress": False}
    without = fit if there.all() else fit_model(rows, fit.spec, **again)
    spec = frequency_model(fit.spec, [side for side in SIDES if column_of(side) in slopes], [*rows])
    adjusted = fit_model(rows.assign(**slopes), spec, **again)
    problems = [text for of in (without, adjusted) for text in of.diagnostics()["problems"]]
    kept = {
        "source": known.origin,
        "sha256": known.sha256,
        "words": files.records(pd.concat(words, ignore_index=True)),
        "missing": known.missing,
        "contrasts": files.records(_side_by_side(without, adjusted, prob)),
        "model": spec.name,
        "prob": float(prob),
        "problems": checks.once(problems),
    }
    tables = files.plain(kept)
    return replace(fit, frequency=tables, provenance={**fit.provenance, "frequency": tables})


def column_of(side: str) -> str:
    """Return the column that holds the log frequency of a side."""
    return f"{side}_log_frequency"


def frequency_model(
    spec: ModelSpec, sides: Sequence[str], columns: Sequence[str] = ()
) -> ModelSpec:
    """Return a model with slopes on log frequency.

    That of attributes by protected class, of protected words by kind.

    Parameters
    ----------
    spec : ModelSpec
        The model.
    sides : sequence of {"protected", "attribute"}
    columns : sequence of str
        Those of the table; by one that it lacks slopes do not differ. By default it has all.
    """
    for side in sides:
        group, word = _SLOPES[side]
        by = [group] if not columns or group in columns else []
        spec = with_slopes(spec, column_of(side), by, varying=[word])
    return spec


def _side_by_side(without: BiasFit, adjusted: BiasFit, prob: float) -> pd.DataFrame:
    """Return the contrasts of both models, row by row."""
    at = dict.fromkeys(set(adjusted.spec.covariates()) & set(map(column_of, SIDES)), 0.0)
    known = without.spec.results.levels
    groups = (x for x in ("class", "attribute_set") if x in known and known[x].population)
    levels = ["overall", *groups]
    plain = pd.concat([without.contrast_rows(prob, ROPE, "population", level) for level in levels])
    equal = pd.concat([contrasts_at(adjusted, at, prob=prob, level=level) for level in levels])
    out = with_ends(plain[KEYS], without_mean=plain, with_mean=equal).drop(columns="estimand")
    out = out.rename(columns=lambda name: name.replace("_mean_", "_"))
    error = np.hypot(out["mcse_with_mean"], out["mcse_without_mean"])
    return out.assign(change=out["with_mean"] - out["without_mean"], mcse_change=error)
