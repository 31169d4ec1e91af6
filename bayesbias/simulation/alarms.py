"""How often each method calls a difference that is not there, and how far off its score is.

Averaging first is not the whole of the fault. A t-test of single pairs raises as many false alarms as
one of averages, since both count as independent what shares an attribute word. What helps is a model
that names what pairs share at the level of the question: here the effect of class and attribute, as in the
model ``shared``. An effect of the attribute alone, as in ``crossed``, cancels in this contrast.

Source: Manzini et al. (2019) for the t-test.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.scores.counting import clopper_pearson
from bayesbias.simulation.nulls import SPREADS, Floats, chunks_of_draws, refuse_large
from bayesbias.simulation.questions import METHODS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["simulate_grid"]

_PERMUTATIONS = 2000  # drawn afresh for each block of tables where there are more than can be listed
_LISTED = 13_000  # 8 + 8 words: 12,870
_BLOCK = 200  # tables that share their drawn permutations


def simulate_grid(
    n_words: Iterable[int] = (2, 4, 8, 16, 32),
    pair_sd: Iterable[float] = (0.05, 0.1),
    attribute_sd: Iterable[float] = (0.0, 0.03, 0.06),
    *,
    n_attributes: int = 8,
    difference: float = 0.0,
    alpha: float = 0.05,
    draws: int = 2000,
    seed: int = 1,
) -> pd.DataFrame:
    """Count how often each method calls a difference that is not there, and how far off its score is.

    In a simulated table the similarity of word t of class c with attribute a is ``v[a, c] + e[t, a]``. The
    term v, normal with `attribute_sd`, is how near attribute a is to class c as a whole; e, normal with `pair_sd`,
    is the pair's own. In the population from which attributes are drawn there is no difference (unless
    `difference` says so): any other difference in the table comes from the choice of words. Two questions
    are asked, as `METHODS` lists:

    * ``classes``: are X and Y associated differently with A and B in one table? The score is the mean of s
      over X less that over Y.
    * ``tables``: is the mean similarity in one table another than in a second, drawn alike? The score
      is the difference of MAC. (The second stands for vectors that "debiasing" has changed at random.)

    Parameters
    ----------
    n_words : iterable of int
        Words per class, each at least 2.
    pair_sd : iterable of float
        Spreads of pairs, each from 1e-9 to 1e9. Only the ratio of the two spreads matters to the alarms.
    attribute_sd : iterable of float
        Spreads of attribute words, each from 0 to 1e9.
    n_attributes : int, default 8
        Attributes in A and in B, at least 2.
    difference : float, default 0
        The true difference: in the mean score of the first question, and in MAC for the second. With another
        value than 0 the "alarms" are the power.
    alpha : float, default 0.05
        A p-value below it is an alarm.
    draws : int, default 2000
        Simulated tables for each combination, at least 2.
    seed : int, default 1
        Each combination has a stream of its own, so that a row does not depend on the other rows.

    Returns
    -------
    pandas.DataFrame
        One row for each combination, question and method: ``n_words, n_attributes, pair_sd, attribute_sd,
        question, method, alarms`` (a share)``, alarms_low, alarms_high`` (its 95 % Clopper-Pearson
        interval)``, truth_sd, truth_low, truth_high`` (root mean square and 2.5 and 97.5 % quantiles of truth less
        reported score, in units of cosine)``, claimed_sd`` (the standard error that the method takes its
        score to have, root mean square)``, effect_low, effect_high`` (2.5 and 97.5 % quantiles of WEAT's reported
        effect size; missing for other methods)``, draws``.

    Raises
    ------
    InputError
        For an argument outside its range.

    Notes
    -----
    On the published Reddit tables the spread of pairs, freed from the means of words and attributes, is
    0.05 to 0.15, and the spread of v beyond what both classes share 0.03 to 0.06. What they share cancels
    in the first question.

    WEAT's test asks whether the words of X and Y can be exchanged *for these attributes*. That is answered
    well: where `attribute_sd` is 0 its alarms stay at or below alpha. Wherever it is not, they grow with the
    number of protected words, since more words make the lean of the same few attributes ever clearer. So do
    those of both t-tests, of averages and of pairs. A t-test of one number per attribute word keeps to
    alpha, since attributes are what was sampled. (Where protected words of a class vary as wholes too, both
    have to be modelled, as the model ``shared`` does.)

    Examples
    --------
    >>> from bayesbias.simulation import simulate_grid
    >>> frame = simulate_grid([16], [0.1], [0.06], draws=500).set_index(["question", "method"])
    >>> bool(frame["alarms"]["tables", "manzini"] > 0.3), bool(frame["alarms"]["tables", "attributes"] < 0.08)
    (True, True)
    """
    import pandas as pd

    words = [checks.count(n, "n_words", least=2) for n in _checked_list(n_words, "n_words")]
    pair_sds = [checks.within(sd, "pair_sd", *SPREADS) for sd in _checked_list(pair_sd, "pair_sd")]
    attribute_sds = [
        checks.not_negative(sd, "attribute_sd", SPREADS[1])
        for sd in _checked_list(attribute_sd, "attribute_sd")
    ]
    n_attributes = checks.count(n_attributes, "n_attributes", least=2)
    refuse_large(max(words), n_attributes)
    draws = checks.count(draws, "draws", least=2, most=checks.MOST_DRAWS)
    alpha = checks.probability(alpha, "alpha")
    difference = checks.within(difference, "difference", -SPREADS[1], SPREADS[1])
    seed = checks.seed(seed, most=None)
    rows = []
    for n, pair, attribute in itertools.product(words, pair_sds, attribute_sds):
        # Streams are told apart by the bits of the numbers themselves.
        key = [n, n_attributes, *np.array([pair, attribute]).view(np.uint32).tolist()]
        random = np.random.default_rng(np.random.SeedSequence([seed, *key]))
        cell = _simulate_cell(random, n, n_attributes, pair, attribute, difference, alpha, draws)
        for (question, method), result in cell.items():
            rows.append(
                {
                    "n_words": n,
                    "n_attributes": n_attributes,
                    "pair_sd": pair,
                    "attribute_sd": attribute,
                    "question": question,
                    "method": method,
                    **_describe_calls(result, difference, draws),
                    "draws": draws,
                }
            )
    frame = pd.DataFrame(rows)
    for column in ("effect_low", "effect_high"):
        frame[column] = frame[column].astype("Float64")
    return frame


@dataclass(frozen=True, eq=False)
class _Calls:
    """What a method reported of each simulated table."""

    alarm: npt.NDArray[np.bool_]
    score: Floats
    error: Floats  # the standard error it takes the score to have
    effect: Floats | None = None


def _simulate_cell(
    random: np.random.Generator,
    n: int,
    n_attributes: int,
    pair_sd: float,
    attribute_sd: float,
    difference: float,
    alpha: float,
    draws: int,
) -> dict[tuple[str, str], _Calls]:
    parts: list[dict[tuple[str, str], _Calls]] = []
    for part in chunks_of_draws(draws, 2 * 2 * n * 2 * n_attributes):
        size = part.stop - part.start
        # Axes: draw, table, class X or Y, word, set A or B, attribute.
        v = attribute_sd * random.standard_normal((size, 2, 2, 1, 2, n_attributes))
        tables = v + pair_sd * random.standard_normal((size, 2, 2, n, 2, n_attributes))
        first = tables[:, 0].copy()
        # A quarter with one sign in each of the four blocks makes a difference of means of s of one.
        first += difference / 4 * np.array([[1, -1], [-1, 1]])[:, None, :, None]
        changes = tables[:, 0] + difference - tables[:, 1]
        calls = {("classes", name): call for name, call in _ask_classes(first, alpha, random).items()}
        calls |= {("tables", name): call for name, call in _ask_tables(changes, alpha).items()}
        parts.append(calls)
    return {key: _joined_calls([part[key] for part in parts]) for key in METHODS}


def _ask_classes(first: Floats, alpha: float, random: np.random.Generator) -> dict[str, _Calls]:
    """Ask of tables of shape (draws, class, word, set, attribute) whether the classes differ."""
    _, _, n, _, k = first.shape
    means = first.mean(axis=4)
    s = means[..., 0] - means[..., 1]  # (draws, class, word)
    score = s[:, 0].mean(axis=1) - s[:, 1].mean(axis=1)
    error = np.sqrt((s.var(axis=2, ddof=1) / n).sum(axis=1))
    effect = score / s.reshape(len(s), -1).std(axis=1, ddof=1)
    upper, both = _permutation_p(s.reshape(len(s), -1), random)
    out = {
        "weat": _Calls(upper < alpha, score, error, effect),
        "weat_two_sided": _Calls(both < alpha, score, error, effect),
    }
    # Associated pairs are X with A and Y with B; their mean less that of the others is half the score.
    associated = np.concatenate([first[:, 0, :, 0], first[:, 1, :, 1]], axis=1).reshape(len(first), -1)
    other = np.concatenate([first[:, 0, :, 1], first[:, 1, :, 0]], axis=1).reshape(len(first), -1)
    variance = (associated.var(axis=1, ddof=1) + other.var(axis=1, ddof=1)) / (2 * n * k)
    out["pairs"] = _t_test(score, 2 * np.sqrt(variance), 2 * (2 * n * k - 1), alpha)
    leans = first[:, 0].mean(axis=1) - first[:, 1].mean(axis=1)  # (draws, set, attribute)
    error = np.sqrt((leans.var(axis=2, ddof=1) / k).sum(axis=1))
    out["attributes"] = _t_test(score, error, 2 * k - 2, alpha)
    return out


def _ask_tables(changes: Floats, alpha: float) -> dict[str, _Calls]:
    """Ask of changes of shape (draws, class, word, set, attribute) whether their mean is 0."""
    units = {
        "manzini": changes.mean(axis=4),  # S(t, A_j)
        "pairs": changes,
        "attributes": changes.mean(axis=(1, 2)),
    }
    out = {}
    for name, values in units.items():
        flat = values.reshape(len(values), -1)
        n = flat.shape[1]
        out[name] = _t_test(flat.mean(axis=1), flat.std(axis=1, ddof=1) / math.sqrt(n), n - 1, alpha)
    return out


def _t_test(score: Floats, error: Floats, df: int, alpha: float) -> _Calls:
    from scipy import stats

    return _Calls(np.abs(score) > stats.t.ppf(1 - alpha / 2, df) * error, score, error)


def _permutation_p(s: Floats, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Return one- and two-sided p-values of tables of scores, shape (draws, 2 n), the first n being X.

    All partitions are listed where they are few; else some are drawn, afresh for each block of tables, and
    the observed one is counted in advance. The scores are continuous, so that there are no ties.
    """
    n = s.shape[1] // 2
    centred = s - s.mean(axis=1, keepdims=True)  # then the two-sided test looks at absolute sums
    observed = centred[:, :n].sum(axis=1, keepdims=True)
    slack = 1e-12 * np.abs(centred).sum(axis=1, keepdims=True)  # the observed partition must meet itself
    listed = math.comb(2 * n, n) <= _LISTED
    chosen = _partitions(n) if listed else None
    upper, both = np.empty(len(s)), np.empty(len(s))
    for start in range(0, len(s), _BLOCK):
        block = slice(start, min(start + _BLOCK, len(s)))
        if listed:
            members = chosen
        else:
            order = random.random((_PERMUTATIONS - 1, 2 * n)).argpartition(n, axis=1)
            members = np.zeros(order.shape)
            np.put_along_axis(members, order[:, :n], 1.0, axis=1)
        assert members is not None
        sums = centred[block] @ members.T
        one = (sums >= observed[block] - slack[block]).sum(axis=1)
        two = (np.abs(sums) >= np.abs(observed[block]) - slack[block]).sum(axis=1)
        extra = 0 if listed else 1
        upper[block] = (one + extra) / (len(members) + extra)
        both[block] = (two + extra) / (len(members) + extra)
    return upper, both


def _partitions(n: int) -> Floats:
    chosen = np.array(list(itertools.combinations(range(2 * n), n)))
    members = np.zeros((len(chosen), 2 * n))
    np.put_along_axis(members, chosen, 1.0, axis=1)
    return members


def _joined_calls(parts: list[_Calls]) -> _Calls:
    effects = [part.effect for part in parts if part.effect is not None]
    return _Calls(
        np.concatenate([part.alarm for part in parts]),
        np.concatenate([part.score for part in parts]),
        np.concatenate([part.error for part in parts]),
        np.concatenate(effects) if effects else None,
    )


def _describe_calls(calls: _Calls, difference: float, draws: int) -> dict[str, Any]:
    count = int(calls.alarm.sum())
    low, high = clopper_pearson(count, draws, 0.95)
    off = difference - calls.score
    effect = None if calls.effect is None else np.quantile(calls.effect, [0.025, 0.975])
    return {
        "alarms": count / draws,
        "alarms_low": low,
        "alarms_high": high,
        "truth_sd": float(np.sqrt(np.mean(off**2))),
        "truth_low": float(np.quantile(off, 0.025)),
        "truth_high": float(np.quantile(off, 0.975)),
        "claimed_sd": float(np.sqrt(np.mean(calls.error**2))),
        "effect_low": None if effect is None else float(effect[0]),
        "effect_high": None if effect is None else float(effect[1]),
    }


def _checked_list(values: Iterable[Any], where: str) -> list[Any]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError("a list is expected", where=where, found=values)
    listed = list(values)
    if not listed or len(set(listed)) < len(listed):
        raise InputError("needs one value or more, each once", where=where, found=listed)
    return listed
