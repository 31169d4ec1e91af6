"""The published tests of male against female sentences: paired t-tests, rankings, and earnings.

The paper takes all pairs of sentences for independent. They share nouns and professions, so
`paired_test` also tests on the means of the noun pairs or the professions.

Source: Bhaskaran & Bhallamudi (2019), Good Secretaries, Bad Truck Drivers? Occupational Gender
Stereotypes in Sentiment Analysis, sections 3 and 4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.tables.sentiment import OUTCOMES, classifiers_in
from bayesbias.wordlists.occupations import load_occupations

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "earnings_correlation",
    "noun_pair_differences",
    "paired_test",
    "profession_sentiment",
    "top_bottom",
]

EARNINGS_COLUMNS = ["classifier", "method", "r", "low", "high", "prob", "p_value", "n"]
UNITS = ("sentence_pair", "noun_pair", "profession")
_TIED = 1e-9  # sentiments this near to each other are one value, computed in another order
_FLAT = 1e-12  # differences that vary by less do not vary


def paired_test(
    table: pd.DataFrame,
    *,
    unit: str = "sentence_pair",
    hypotheses: int | None = None,
    outcome: str = "difference",
) -> pd.DataFrame:
    """Test with the paired t-test whether male and female sentences are rated alike.

    Parameters
    ----------
    table : DataFrame
        From `sentiment_table`.
    unit : {"sentence_pair", "noun_pair", "profession"}
        What counts as one observation. The paper takes all pairs of sentences for independent; the
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
        missing (NA) where the differences do not vary.

    Raises
    ------
    InputError
        For an unknown unit or outcome, or fewer than two observations.

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
    names = classifiers_in(table)
    tests = len(names) if hypotheses is None else checks.count(hypotheses, "hypotheses")
    rows = []
    for name in names:
        part = _in_order(table[table["classifier"] == name])
        if unit != "sentence_pair":
            part = part.groupby(unit, sort=False, observed=True)[
                ["p_male", "p_female", outcome]
            ].mean()
        t, df, p = _t_test(part[outcome].to_numpy(), f"classifier {name!r}, unit {unit}")
        corrected = None if p is None else min(1.0, tests * p)
        means = part[["p_male", "p_female", outcome]].mean()
        rows.append((name, unit, len(part), *means, t, df, p, corrected))
    columns = [
        "classifier", "unit", "n", "p_male", "p_female", "f_minus_m", "t",
        "df", "p_value", "p_bonferroni",
    ]  # fmt: skip
    return _nullable_frame(rows, columns)


def profession_sentiment(table: pd.DataFrame, *, prob: float = 0.95) -> pd.DataFrame:
    """Rank the professions by their mean sentiment, and compare male with female for each.

    Parameters
    ----------
    table : DataFrame
        From `sentiment_table`.
    prob : float in (0, 1)
        Of the confidence interval of the sentiment.

    Returns
    -------
    pandas.DataFrame
        From the highest to the lowest for each classifier: ``classifier, profession, category,
        sentiment`` (mean over both genders)``, low, high`` (its interval over noun pairs, after
        what these have in common is taken out; missing (NA) where there is one noun pair)``,
        p_male, p_female, difference, t, df, p_value`` (paired t-test over the noun pairs, as in
        `paired_test`)``, rank`` (1 for the highest; those that tie share the best)``, tied`` (how
        many professions have this sentiment, itself included).

    Notes
    -----
    Source: sections 4.1 and 4.2, table 2. Professions tie where a classifier does not know their words. Intervals are
    those of Morey (2008, Tutorials in Quantitative Methods for Psychology 4, 61-64), within 0 and 1: they say how well
    professions can be told apart with these nouns.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.sentiment_table(bb.list_predictions("m1"))
    >>> bb.studies.profession_sentiment(table)["profession"].tolist()[:3]
    ['secretary', 'teacher', 'writer']
    """
    prob = checks.probability(prob)
    out = _tests_by_group(table, ["profession", "category"])
    out = out.assign(sentiment=(out["p_male"] + out["p_female"]) / 2)
    out = out.merge(_intervals(table, prob), on=["classifier", "profession"], how="left")
    frames = []
    import pandas as pd

    for _, part in out.groupby("classifier", sort=False, observed=True):
        part = part.sort_values(["sentiment", "profession"], ascending=[False, True])
        values = part["sentiment"].to_numpy()
        # A value that differs from its neighbour by rounding alone is the same value.
        group = np.cumsum(np.concatenate([[0], np.diff(values) < -_TIED]))
        first = np.array([int(np.flatnonzero(group == g)[0]) + 1 for g in group])
        frames.append(part.assign(rank=first, tied=np.bincount(group)[group]))
    columns = [
        "classifier", "profession", "category", "sentiment", "low", "high", "p_male",
        "p_female", "difference", "t", "df", "p_value", "rank", "tied",
    ]  # fmt: skip
    return pd.concat(frames, ignore_index=True)[columns]


def top_bottom(table: pd.DataFrame, n: int = 3) -> pd.DataFrame:
    """Name the professions of highest and lowest sentiment, ties included.

    Parameters
    ----------
    table : DataFrame
        From `sentiment_table`.
    n : int
        How many places at either end.

    Returns
    -------
    pandas.DataFrame
        ``classifier, end`` (top or bottom)``, place`` (1 is the outermost)``, professions`` (a
        tuple; more than one where they tie)``, sentiment``. A tie takes as many places as it has
        professions, so that there may be fewer rows than `n`.

    Notes
    -----
    Source: table 2. For the bag of words the paper gives "many" for the third lowest; that is
    scientist, and the many come after it.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.sentiment_table(bb.list_predictions("m1"))
    >>> found = bb.studies.top_bottom(table, n=2)
    >>> found[["end", "professions"]].values.tolist()
    [['top', ('secretary',)], ['top', ('teacher',)], ['bottom', ('truck driver',)], ['bottom', ('flight attendant',)]]
    """
    import pandas as pd

    checks.count(n, "n")
    rows = []
    for name, part in profession_sentiment(table).groupby("classifier", sort=False, observed=True):
        groups = [g for _, g in part.groupby("rank", sort=True)]
        for end, ordered in (("top", groups), ("bottom", groups[::-1])):
            place = 1
            for group in ordered:
                if place > n:
                    break
                rows.append(
                    (
                        name,
                        end,
                        place,
                        tuple(group["profession"]),
                        float(group["sentiment"].iloc[0]),
                    )
                )
                place += len(group)
    return pd.DataFrame(rows, columns=["classifier", "end", "place", "professions", "sentiment"])


def noun_pair_differences(table: pd.DataFrame) -> pd.DataFrame:
    """Compare male with female for each noun pair.

    Parameters
    ----------
    table : DataFrame
        From `sentiment_table`.

    Returns
    -------
    pandas.DataFrame
        From the lowest to the highest difference for each classifier: ``classifier, noun_pair,
        p_male, p_female, difference, t, df, p_value`` (paired t-test over the professions, as in
        `paired_test`).

    Notes
    -----
    Source: section 4.2.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.sentiment_table(bb.list_predictions("m1"))
    >>> bb.studies.noun_pair_differences(table)["noun_pair"].tolist()[:3]
    ['My uncle / My aunt', 'My son / My daughter', 'My grandson / My granddaughter']
    """
    out = _tests_by_group(table, ["noun_pair"])
    order = {name: i for i, name in enumerate(classifiers_in(table))}
    out = out.assign(_order=out["classifier"].map(order)).sort_values(
        ["_order", "difference", "noun_pair"]
    )
    columns = ["classifier", "noun_pair", "p_male", "p_female", "difference", "t", "df", "p_value"]
    return out[columns].reset_index(drop=True)


def earnings_correlation(
    table: pd.DataFrame, earnings: Mapping[str, float] | None = None, *, prob: float = 0.95
) -> pd.DataFrame:
    """Correlate the sentiment of professions with what they earn.

    Parameters
    ----------
    table : DataFrame
        From `sentiment_table`.
    earnings : mapping, optional
        Profession -> earnings; by default those of the published list. Professions without are left
        out.
    prob : float in (0, 1)
        Of the interval.

    Returns
    -------
    pandas.DataFrame
        Two rows a classifier: ``classifier, method`` (pearson or spearman)``, r, low, high, prob,
        p_value, n``. A classifier whose sentiment does not vary, or follows earnings without an
        error, has no row.

    Raises
    ------
    InputError
        Where fewer than four professions have earnings.

    Notes
    -----
    Intervals are Fisher's: tanh(artanh(r) ± z s), with s = sqrt(1 / (n - 3)) for Pearson's r and, after
    Bonett and Wright (2000, Psychometrika 65, 23-28), s = sqrt((1 + r² / 2) / (n - 3)) for Spearman's.
    p-values are those of Student's t with n - 2 degrees of freedom. All take professions for a sample of
    professions and their mean sentiment for known.

    Source: section 4.1 and figure 2, which show the scatter and state no number.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.sentiment_table(bb.list_predictions("m1"))
    >>> found = bb.studies.earnings_correlation(table)
    >>> found.columns.tolist()[:5]
    ['classifier', 'method', 'r', 'low', 'high']
    """
    import pandas as pd
    from scipy.special import ndtri
    from scipy.stats import pearsonr, rankdata

    prob = checks.probability(prob)
    if earnings is None:
        earnings = load_occupations().earnings
    rows = []
    for name, part in profession_sentiment(table).groupby("classifier", sort=False, observed=True):
        part = part[part["profession"].isin(list(earnings))]
        n = len(part)
        if n < 4:
            raise InputError(
                "too few professions have earnings",
                where=f"classifier {name!r}",
                found=n,
                valid="4 or more",
                hint="state earnings in the list of occupations",
            )
        y = part["sentiment"].to_numpy()
        x = np.array([float(earnings[p]) for p in part["profession"]])
        for method, (a, b) in (
            ("pearson", (x, y)),
            # Sentiments that differ by rounding alone are tied.
            ("spearman", (rankdata(x), rankdata(np.round(y / _TIED)))),
        ):
            if np.ptp(a) < _FLAT or np.ptp(b) < _FLAT:
                continue
            test = pearsonr(a, b)  # of the ranks this is Spearman's
            r = float(test.statistic)
            if abs(r) > 1 - _FLAT:
                continue
            spread = math.sqrt((1.0 if method == "pearson" else 1 + r * r / 2) / (n - 3))
            half = float(ndtri(0.5 + prob / 2)) * spread
            low, high = math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)
            rows.append((name, method, r, low, high, float(prob), float(test.pvalue), n))
    return pd.DataFrame(rows, columns=EARNINGS_COLUMNS)


def _intervals(table: pd.DataFrame, prob: float) -> pd.DataFrame:
    """Compute a confidence interval of the sentiment of each profession (Morey 2008)."""
    import pandas as pd
    from scipy.special import stdtrit

    frames = []
    for name, part in table.groupby("classifier", sort=False, observed=True):
        part = _in_order(part)
        sentiment = (part["p_male"] + part["p_female"]) / 2
        common = sentiment.groupby(part["noun_pair"], observed=True).transform("mean")
        groups = (sentiment - common + sentiment.mean()).groupby(
            part["profession"], sort=False, observed=True
        )
        k, n = groups.ngroups, groups.size()
        spread = groups.std(ddof=1) * math.sqrt(k / (k - 1) if k > 1 else 1.0)
        half = spread / np.sqrt(n) * stdtrit(n - 1, 0.5 + prob / 2)
        mean = sentiment.groupby(part["profession"], sort=False, observed=True).mean()
        ends = {"low": (mean - half).clip(lower=0.0), "high": (mean + half).clip(upper=1.0)}
        frames.append(
            pd.DataFrame(ends)
            .astype("Float64")
            .rename_axis("profession")
            .reset_index()
            .assign(classifier=name)
        )
    return pd.concat(frames, ignore_index=True)


def _in_order(part: pd.DataFrame) -> pd.DataFrame:
    """Return rows in the order of the alphabet, so that sums are the same to the last digit however a table is sorted."""
    return part.sort_values(["profession", "noun_pair"], kind="stable")


def _tests_by_group(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Compute means and the paired t-test of each group of pairs."""
    classifiers_in(table)
    rows = []
    for key, part in table.groupby(["classifier", *columns], sort=False, observed=True):
        part = _in_order(part)
        means = part[["p_male", "p_female", "difference"]].mean()
        test = (
            _t_test(part["difference"].to_numpy(), str(key)) if len(part) > 1 else (None, 0, None)
        )
        rows.append((*key, *means, *test))
    return _nullable_frame(
        rows, ["classifier", *columns, "p_male", "p_female", "difference", "t", "df", "p_value"]
    )


def _t_test(
    differences: npt.NDArray[np.float64], where: str
) -> tuple[float | None, int, float | None]:
    """Return t of male - female, degrees of freedom and the two-sided p-value of differences female - male."""
    from scipy import stats

    n = len(differences)
    if n < 2:
        raise InputError("a paired test needs two or more pairs", where=where, found=n)
    if float(np.std(differences, ddof=1)) < _FLAT:
        return None, n - 1, None
    test = stats.ttest_1samp(-differences, 0.0)
    return float(test.statistic), n - 1, float(test.pvalue)


def _nullable_frame(rows: list[tuple[Any, ...]], columns: list[str]) -> pd.DataFrame:
    import pandas as pd

    frame = pd.DataFrame(rows, columns=columns)
    return frame.astype({c: "Float64" for c in ("t", "p_value", "p_bonferroni") if c in columns})
