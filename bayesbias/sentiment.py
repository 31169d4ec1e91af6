"""Occupational sentences, predicted sentiment, and the published analysis of male against female.

A noun pair ("My father", "My mother") and a profession make one pair of sentences that differ in gender
alone. `predict` asks a classifier for the probability that each sentence is positive, `sentiment_table` puts
the pairs in one tidy table, and `published_analysis` computes what the paper reports: a paired t-test that
takes all pairs for independent. They share nouns and professions, so `paired_test` also tests on the means of
the noun pairs or the professions; the model that keeps both is fitted to the same table.

Source: Bhaskaran & Bhallamudi (2019), Good Secretaries, Bad Truck Drivers? Occupational Gender Stereotypes in
Sentiment Analysis.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesbias._classifiers import Classifier, checked_probabilities, train_bilstm, train_bow
from bayesbias._predictions import (
    GENDERS,
    ClassifierError,
    Occupations,
    Predictions,
    load_classifier,
    load_occupations,
    occupation_sentences,
    predict,
    read_predictions,
)
from bayesbias._resources import data_dir, shipped_names
from bayesbias.errors import InputError, nearest

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CLIP",
    "Classifier",
    "ClassifierError",
    "Occupations",
    "Predictions",
    "SentimentAnalysis",
    "analysis_of_table",
    "earnings_correlation",
    "load_classifier",
    "load_occupations",
    "noun_pair_differences",
    "occupation_sentences",
    "paired_test",
    "predict",
    "profession_sentiment",
    "published_analysis",
    "read_predictions",
    "sentiment_table",
    "shipped_predictions",
    "top_bottom",
    "train_bilstm",
    "train_bow",
]

CLIP = 1e-6
"""On the logit scale probabilities nearer to 0 or 1 than this count as this near; the table counts them.

A softmax in single precision cannot tell probabilities within 6e-8 of 1 from 1, and the logit of 1 is infinite."""

UNITS = ("sentence_pair", "noun_pair", "profession")
OUTCOMES = ("difference", "logit_difference")
_TIED = 1e-9  # sentiments this near to each other are one value, computed in another order
_FLAT = 1e-12  # differences that vary by less do not vary


# -- predictions that come with the package ---------------------------------------------------------


def shipped_predictions(name: str = "m1") -> Predictions:
    """Return predictions that come with the package, to try everything without a classifier.

    ``m1`` is our own M.1, the bag of words of the paper as `train_bow` makes it of SST-2 (development accuracy
    0.8268), for all sentences and the control sentences. `tools/predict_m1.py` made it; the file says of what.

    Raises
    ------
    InputError
        Where there are none of this name.

    Examples
    --------
    >>> shipped_predictions("m1")
    <Predictions: 800 sentences and 40 controls by m1 (mean 0.500)>
    """
    known = shipped_names("sentiment", ".csv")
    if name not in known:
        raise InputError(
            "no such predictions are shipped", found=name, valid=known, hint=nearest(str(name), known)
        )
    return read_predictions(data_dir("sentiment") / f"{name}.csv")


# -- the sentiment table ---------------------------------------------------------------------------


def sentiment_table(
    *predictions: Predictions | pd.DataFrame, control: bool = False, clip: float = CLIP
) -> pd.DataFrame:
    """Put predictions in one tidy table, one row a pair of sentences.

    Parameters
    ----------
    *predictions : Predictions or DataFrame
        Of one or more classifiers; a frame has the columns of `Predictions.frame`.
    control : bool
        Whether to return the control pairs in place of the others.
    clip : float in (0, 0.5)
        For ``logit_difference`` alone: probabilities below `clip` or above 1 - `clip` count as these.

    Returns
    -------
    pandas.DataFrame
        ``classifier, noun_pair, profession, category, p_male, p_female, difference`` (female - male, in [-1,
        1])``, logit_difference`` (of the log odds; never infinite)``, clipped`` (how many of the pair's two
        probabilities were clipped for it, 0 to 2).

    Raises
    ------
    InputError
        Where a pair lacks a sentence, a probability is none, or two classifiers have one name.

    Examples
    --------
    >>> made = predict(lambda sentences: [0.8 if s.startswith("She") else 0.6 for s in sentences], name="toy")
    >>> table = sentiment_table(made)
    >>> len(table), table.loc[0, ["noun_pair", "profession"]].tolist()
    (400, ['He / She', 'doctor'])
    >>> round(float(table["logit_difference"][0]), 4)
    0.9808
    """
    import pandas as pd

    if not isinstance(clip, int | float) or not 0 < clip < 0.5:
        raise InputError("must be between 0 and 0.5", where="clip", found=clip)
    frame = _joined(predictions)
    frame = frame[frame["control"].astype(bool) == control]
    if frame.empty:
        raise InputError(
            "there are no predictions for the control sentences" if control else "there are no predictions"
        )
    keys = ["classifier", "noun_pair", "profession", "category"]
    sides = {}
    for gender in GENDERS:
        side = frame[frame["gender"] == gender]
        twice = side.duplicated(keys[:3])
        if twice.any():
            raise InputError("a sentence has two predictions", found=side.loc[twice, "sentence"].iloc[0])
        sides[gender] = side
    other = sorted(set(frame["gender"]) - set(GENDERS))
    if other:
        raise InputError(
            "unknown gender", found=other[0], valid=GENDERS, hint=nearest(str(other[0]), GENDERS)
        )
    male, female = (sides[g].set_index(keys[:3])["probability"] for g in GENDERS)
    alone = male.index.symmetric_difference(female.index)
    if len(alone):
        raise InputError(
            "a pair lacks its male or female sentence",
            found=", ".join(map(str, alone[0])),
            hint=f"{len(alone)} such pairs",
        )
    out = sides["male"][keys].reset_index(drop=True)
    index = pd.MultiIndex.from_frame(out[keys[:3]])
    p_male, p_female = male.to_numpy(dtype=float), female.reindex(index).to_numpy(dtype=float)
    inner = [np.clip(p, clip, 1 - clip) for p in (p_male, p_female)]
    logits = [np.log(p) - np.log1p(-p) for p in inner]
    return out.assign(
        p_male=p_male,
        p_female=p_female,
        difference=p_female - p_male,
        logit_difference=logits[1] - logits[0],
        clipped=(inner[0] != p_male).astype(int) + (inner[1] != p_female),
    )


def _joined(predictions: Sequence[Any]) -> pd.DataFrame:
    import pandas as pd

    if not predictions:
        raise InputError("no predictions were given")
    frames: list[pd.DataFrame] = []
    seen: set[str] = set()
    for x in predictions:
        frame = x.frame if isinstance(x, Predictions) else x
        if not isinstance(frame, pd.DataFrame):
            raise InputError(
                "are no predictions", found=type(x).__name__, valid="what predict or read_predictions returns"
            )
        needed = [
            "classifier",
            "sentence",
            "noun_pair",
            "gender",
            "profession",
            "category",
            "control",
            "probability",
        ]
        lacking = [column for column in needed if column not in frame.columns]
        if lacking:
            raise InputError("a column is missing", found=list(frame.columns), valid=lacking)
        both = seen & set(frame["classifier"])
        if both:
            raise InputError(
                "two classifiers have one name",
                found=sorted(both)[0],
                hint="give predict or read_predictions a name= (--name, once for each input)",
            )
        seen |= set(frame["classifier"])
        checked_probabilities(frame["probability"].to_numpy(), frame["sentence"].tolist(), "predictions")
        frames.append(frame)
    return pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]


# -- the published analysis ------------------------------------------------------------------------


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
        What counts as one observation. The paper takes all pairs of sentences for independent; the mean of
        each noun pair, or of each profession, lets either be what varies.
    hypotheses : int, optional
        How many tests Bonferroni's correction is for; by default one for each classifier in the table.
    outcome : {"difference", "logit_difference"}
        What is tested: differences of probabilities, as in the paper, or of log odds.

    Returns
    -------
    pandas.DataFrame
        One row a classifier: ``classifier, unit, n, p_male, p_female, f_minus_m, t, df, p_value,
        p_bonferroni``. ``f_minus_m`` is female - male on the scale of the outcome, and ``t`` that of male -
        female, both as in the paper: their signs are opposite. ``t`` and the p-values are missing (NA) where
        the differences do not vary.

    Raises
    ------
    InputError
        For an unknown unit or outcome, or fewer than two observations.

    Notes
    -----
    Source: section 3 and table 1.

    Examples
    --------
    >>> made = predict(lambda sentences: [0.6 + 0.01 * len(s) / 40 for s in sentences], name="toy")
    >>> paired_test(sentiment_table(made)).round(6).iloc[0, 5:8].tolist()
    [7.5e-05, -2.62536, 399.0]
    """
    if unit not in UNITS:
        raise InputError("unknown unit", found=unit, valid=UNITS, hint=nearest(str(unit), UNITS))
    if outcome not in OUTCOMES:
        raise InputError(
            "unknown outcome", found=outcome, valid=OUTCOMES, hint=nearest(str(outcome), OUTCOMES)
        )
    names = _names(table)
    tests = len(names) if hypotheses is None else hypotheses
    if not isinstance(tests, int) or tests < 1:
        raise InputError("must be a whole number above 0", where="hypotheses", found=hypotheses)
    rows = []
    for name in names:
        part = table[table["classifier"] == name]
        if unit != "sentence_pair":
            part = part.groupby(unit, sort=False)[["p_male", "p_female", outcome]].mean()
        t, df, p = _t_test(part[outcome].to_numpy(), f"classifier {name!r}, unit {unit}")
        corrected = None if p is None else min(1.0, tests * p)
        means = part[["p_male", "p_female", outcome]].mean()
        rows.append((name, unit, len(part), *means, t, df, p, corrected))
    columns = [
        "classifier",
        "unit",
        "n",
        "p_male",
        "p_female",
        "f_minus_m",
        "t",
        "df",
        "p_value",
        "p_bonferroni",
    ]
    return _nullable(rows, columns)


def profession_sentiment(table: pd.DataFrame) -> pd.DataFrame:
    """Rank the professions by their mean sentiment, and compare male with female for each.

    Parameters
    ----------
    table : DataFrame
        From `sentiment_table`.

    Returns
    -------
    pandas.DataFrame
        From the highest to the lowest for each classifier: ``classifier, profession, category, sentiment``
        (mean over both genders)``, p_male, p_female, difference, t, df, p_value`` (paired t-test over the
        noun pairs, as in `paired_test`)``, rank`` (1 for the highest; those that tie share the best)``,
        tied`` (how many professions have this sentiment, itself included).

    Notes
    -----
    Source: sections 4.1 and 4.2, table 2. Professions tie where a classifier does not know their words.
    """
    out = _by_group(table, ["profession", "category"])
    out = out.assign(sentiment=(out["p_male"] + out["p_female"]) / 2)
    frames = []
    import pandas as pd

    for _, part in out.groupby("classifier", sort=False):
        part = part.sort_values("sentiment", ascending=False, kind="stable")
        values = part["sentiment"].to_numpy()
        # A value that differs from its neighbour by rounding alone is the same value.
        group = np.cumsum(np.concatenate([[0], np.diff(values) < -_TIED]))
        first = np.array([int(np.flatnonzero(group == g)[0]) + 1 for g in group])
        frames.append(part.assign(rank=first, tied=np.bincount(group)[group]))
    columns = [
        "classifier", "profession", "category", "sentiment", "p_male", "p_female", "difference", "t", "df", "p_value",
        "rank", "tied",
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
        ``classifier, end`` (top or bottom)``, place`` (1 is the outermost)``, professions`` (a tuple; more
        than one where they tie)``, sentiment``. A tie takes as many places as it has professions, so that
        there may be fewer rows than `n`.

    Notes
    -----
    Source: table 2. For the bag of words the paper gives "many" for the third lowest; that is
    scientist, and the many come after it.
    """
    import pandas as pd

    if not isinstance(n, int) or n < 1:
        raise InputError("must be a whole number above 0", where="n", found=n)
    rows = []
    for name, part in profession_sentiment(table).groupby("classifier", sort=False):
        groups = [g for _, g in part.groupby("rank", sort=True)]
        for end, ordered in (("top", groups), ("bottom", groups[::-1])):
            place = 1
            for group in ordered:
                if place > n:
                    break
                rows.append((name, end, place, tuple(group["profession"]), float(group["sentiment"].iloc[0])))
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
        From the lowest to the highest difference for each classifier: ``classifier, noun_pair, p_male,
        p_female, difference, t, df, p_value`` (paired t-test over the professions, as in `paired_test`).

    Notes
    -----
    Source: section 4.2.
    """
    out = _by_group(table, ["noun_pair"])
    order = {name: i for i, name in enumerate(_names(table))}
    out = out.assign(_order=out["classifier"].map(order)).sort_values(["_order", "difference"], kind="stable")
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
        Profession -> earnings; by default those of the published list. Professions without are left out.
    prob : float in (0, 1)
        Of the interval.

    Returns
    -------
    pandas.DataFrame
        Two rows a classifier: ``classifier, method`` (pearson or spearman)``, r, low, high, prob, p_value,
        n``. A classifier whose sentiment does not vary, or follows earnings without an error, has no row.

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
    """
    import pandas as pd
    from scipy.special import ndtri
    from scipy.stats import rankdata

    if not isinstance(prob, int | float) or not 0 < prob < 1:
        raise InputError("must be in (0, 1)", where="prob", found=prob)
    if earnings is None:
        earnings = load_occupations().earnings
    rows = []
    for name, part in profession_sentiment(table).groupby("classifier", sort=False):
        part = part[part["profession"].isin(list(earnings))]
        n = len(part)
        if n < 4:
            raise InputError(
                "too few professions have earnings", where=f"classifier {name!r}", found=n, valid="4 or more",
                hint="state earnings in the list of occupations",
            )  # fmt: skip
        y = part["sentiment"].to_numpy()
        x = np.array([float(earnings[p]) for p in part["profession"]])
        if not np.isfinite(x).all():
            raise InputError(
                "is not a number", where="earnings", found=part["profession"][~np.isfinite(x)].iloc[0]
            )
        for method, (a, b) in (
            ("pearson", (x, y)),
            # Sentiments that differ by rounding alone are tied.
            ("spearman", (rankdata(x), rankdata(np.round(y / _TIED)))),
        ):
            if np.ptp(a) < _FLAT or np.ptp(b) < _FLAT:
                continue
            r = float(np.corrcoef(a, b)[0, 1])
            if abs(r) > 1 - _FLAT:
                continue
            spread = math.sqrt((1.0 if method == "pearson" else 1 + r * r / 2) / (n - 3))
            half = float(ndtri(0.5 + prob / 2)) * spread
            low, high = math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)
            p = _two_sided(r * math.sqrt((n - 2) / (1 - r * r)), n - 2)
            rows.append((name, method, r, low, high, float(prob), p, n))
    return pd.DataFrame(rows, columns=["classifier", "method", "r", "low", "high", "prob", "p_value", "n"])


@dataclass(frozen=True, eq=False, repr=False)
class SentimentAnalysis:
    """The published analysis of some classifiers.

    Attributes
    ----------
    table : pandas.DataFrame
        From `sentiment_table`.
    tests : pandas.DataFrame
        From `paired_test`, for each classifier and unit.
    professions, noun_pairs, extremes : pandas.DataFrame
        From `profession_sentiment`, `noun_pair_differences` and `top_bottom`.
    control : pandas.DataFrame
        The paired t-test of the control sentences over the noun pairs, without Bonferroni's correction; empty
        where they were not predicted.
    earnings : pandas.DataFrame
        From `earnings_correlation`; empty where fewer than four professions have earnings.
    notes : tuple of str
        What could not be computed, or needs saying.
    provenance : dict
        ``classifiers`` (name -> where it comes from)``, occupations`` (name, source and SHA-256 of the
        sentences)``, hypotheses`` and ``earnings`` (profession -> earnings).
    """

    table: pd.DataFrame
    tests: pd.DataFrame
    professions: pd.DataFrame
    noun_pairs: pd.DataFrame
    extremes: pd.DataFrame
    control: pd.DataFrame
    earnings: pd.DataFrame
    notes: tuple[str, ...]
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def classifiers(self) -> tuple[str, ...]:
        """The names of the classifiers."""
        return tuple(_names(self.table))

    def as_dict(self, classifier: str | None = None) -> dict[str, Any]:
        """Return the results of one classifier as plain numbers, texts, lists and dictionaries.

        Parameters
        ----------
        classifier : str, optional
            Its name; not needed where there is one.

        Returns
        -------
        dict
            ``classifier, f_minus_m, t, df, p_value, p_bonferroni, units`` (the same by noun pair and by
            profession)``, top, bottom, professions, noun_pairs, control`` (None without control sentences)``,
            earnings, clipped, notes``.
        """
        if classifier is None and len(self.classifiers) == 1:
            classifier = self.classifiers[0]
        if classifier not in self.classifiers:
            raise InputError("which classifier?", found=classifier, valid=self.classifiers)

        def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
            part = frame[frame["classifier"] == classifier].drop(columns="classifier")
            return [{str(k): _plain(v) for k, v in row.items()} for row in part.to_dict("records")]

        tests = records(self.tests)
        whole = next(row for row in tests if row["unit"] == "sentence_pair")
        control, ends = records(self.control), records(self.extremes)
        return {
            "classifier": classifier,
            **{k: v for k, v in whole.items() if k != "unit"},
            "units": [row for row in tests if row["unit"] != "sentence_pair"],
            "top": [row for row in ends if row["end"] == "top"],
            "bottom": [row for row in ends if row["end"] == "bottom"],
            "professions": records(self.professions),
            "noun_pairs": records(self.noun_pairs),
            "control": control[0] if control else None,
            "earnings": records(self.earnings),
            "clipped": int(self.table.loc[self.table["classifier"] == classifier, "clipped"].sum()),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        lines = []
        for row in self.tests.to_dict("records"):
            test = (
                "no test"
                if _plain(row["t"]) is None
                else f"t({row['df']}) = {row['t']:.3f}, p = {row['p_value']:.3g}"
            )
            over = f"{test} over {row['n']} {row['unit'].replace('_', ' ')}s"
            if row["unit"] == "sentence_pair":
                lines.append(f"{row['classifier']}: F - M {row['f_minus_m']:+.4f}; {over}")
            else:
                lines.append(f"  {over}")
        return "<SentimentAnalysis " + "\n  ".join(lines) + ">"


def published_analysis(
    *predictions: Predictions | pd.DataFrame,
    hypotheses: int | None = None,
    n: int = 3,
    clip: float = CLIP,
    prob: float = 0.95,
    earnings: Mapping[str, float] | None = None,
) -> SentimentAnalysis:
    """Compute everything that the paper reports, for one or more classifiers.

    Parameters
    ----------
    *predictions : Predictions or DataFrame
        As for `sentiment_table`.
    hypotheses : int, optional
        See `paired_test`.
    n : int
        Places at the top and the bottom, see `top_bottom`.
    clip : float
        See `sentiment_table`.
    prob : float in (0, 1)
        Of the intervals of correlations.
    earnings : mapping, optional
        See `earnings_correlation`; by default those of the predictions' own list of occupations.

    Returns
    -------
    SentimentAnalysis

    Raises
    ------
    InputError
        As for `sentiment_table`.

    Examples
    --------
    >>> made = predict(lambda sentences: [0.6 + 0.01 * len(s) / 40 for s in sentences], name="toy")
    >>> published_analysis(made)
    <SentimentAnalysis toy: F - M +0.0001; t(399) = -2.625, p = 0.00899 over 400 sentence pairs
        t(19) = -0.573, p = 0.573 over 20 noun pairs
        no test over 20 professions>
    """
    table = sentiment_table(*predictions, clip=clip)
    made = [x for x in predictions if isinstance(x, Predictions)]
    notes = dict.fromkeys(note for x in made for note in x.notes)
    with_control = [
        f for f in (x.frame if isinstance(x, Predictions) else x for x in predictions) if f["control"].any()
    ]
    control = None
    if with_control:
        control = paired_test(sentiment_table(*with_control, control=True, clip=clip), unit="noun_pair")
        control = control.drop(columns=["unit", "p_bonferroni"])
    if earnings is None and made:
        earnings = {k: v for x in made for k, v in x.occupations.earnings.items()}
    about: dict[str, Any] = {"classifiers": {k: dict(v) for x in made for k, v in x.provenance.items()}}
    if made:
        listed = made[0].occupations
        about["occupations"] = {
            "name": listed.name,
            "file": Path(listed.origin).name,
            "source": listed.source,
            "sha256": listed.sha256,
        }
    return analysis_of_table(
        table, control=control, hypotheses=hypotheses, n=n, clip=clip, prob=prob, earnings=earnings,
        notes=tuple(notes), provenance=about,
    )  # fmt: skip


def analysis_of_table(
    table: pd.DataFrame,
    *,
    control: pd.DataFrame | None = None,
    hypotheses: int | None = None,
    n: int = 3,
    clip: float = CLIP,
    prob: float = 0.95,
    earnings: Mapping[str, float] | None = None,
    notes: Sequence[str] = (),
    provenance: Mapping[str, Any] | None = None,
) -> SentimentAnalysis:
    """Compute what the paper reports from the pairs alone, such as those of a fit.

    Parameters
    ----------
    table : DataFrame
        From `sentiment_table`.
    control : DataFrame, optional
        The tests of the control sentences, as `SentimentAnalysis` holds them.
    hypotheses, n, clip, prob, earnings
        See `published_analysis`; without `earnings` those of the published list are taken.
    notes : sequence of str
        To put before those that are found here.
    provenance : mapping, optional
        Where the predictions come from.

    Returns
    -------
    SentimentAnalysis

    Examples
    --------
    >>> table = sentiment_table(shipped_predictions("m1"))
    >>> analysis_of_table(table).tests["p_value"].round(2).tolist()
    [0.0, 0.19, 0.0]
    """
    import pandas as pd

    said = list(notes)
    tests = pd.concat([paired_test(table, unit=u, hypotheses=hypotheses) for u in UNITS], ignore_index=True)
    order = {name: i for i, name in enumerate(_names(table))}
    tests = tests.sort_values("classifier", key=lambda c: c.map(order), kind="stable", ignore_index=True)
    for name in tests.loc[tests["t"].isna(), "classifier"].unique():
        said.append(f"{name}: some differences do not vary, so there is no t-test of them")
    if control is None:
        control = tests.iloc[:0].drop(columns=["unit", "p_bonferroni"])
    if earnings is None:
        earnings = load_occupations().earnings
    try:
        correlations = earnings_correlation(table, earnings, prob=prob)
    except InputError as error:
        columns = ["classifier", "method", "r", "low", "high", "prob", "p_value", "n"]
        correlations = pd.DataFrame(columns=columns)
        said.append(f"no correlation with earnings: {error}")
    if table["clipped"].any():
        said.append(
            f"{int(table['clipped'].sum())} probabilities were clipped to within {clip:g} of 0 or 1 on the logit scale"
        )
    said += _what_it_does_not_see(table)
    about = {
        "classifiers": {},
        **(provenance or {}),
        "hypotheses": len(order) if hypotheses is None else hypotheses,
        "earnings": {str(k): float(v) for k, v in earnings.items() if k in set(table["profession"])},
    }
    return SentimentAnalysis(
        table, tests, profession_sentiment(table), noun_pair_differences(table), top_bottom(table, n), control,
        correlations, tuple(said), about,
    )  # fmt: skip


# -- small things ----------------------------------------------------------------------------------


def only_labels(table: pd.DataFrame) -> list[str]:
    """Name the classifiers of which every prediction is 0 or 1."""
    sides = table[["p_male", "p_female"]].isin((0.0, 1.0)).all(axis=1)
    return [
        str(name)
        for name, only in sides.groupby(table["classifier"], sort=False, observed=True).all().items()
        if only
    ]


def _what_it_does_not_see(table: pd.DataFrame) -> list[str]:
    """Say where a classifier gives labels alone, or the same numbers whatever the word."""
    out, labels = [], only_labels(table)
    for name, part in table.groupby("classifier", sort=False):
        if name in labels:
            out.append(
                f"{name}: every prediction is 0 or 1, a label and no probability; a size of a difference on the scale "
                "of log odds would be that of the clipping, so none of it should be believed"
            )
            continue
        grid = part.pivot_table(
            index="profession", columns="noun_pair", values=["p_male", "p_female"], sort=False
        )
        alike: dict[bytes, list[str]] = {}
        for profession, row in zip(grid.index, grid.round(12).to_numpy(), strict=True):
            alike.setdefault(row.tobytes(), []).append(str(profession))
        for group in alike.values():
            if len(group) > 1:
                out.append(
                    f"{name}: the predictions are the same for {', '.join(group)}: the classifier does not tell these "
                    "professions apart, though every test and model counts them one by one"
                )
    return out


def _names(table: pd.DataFrame) -> list[str]:
    needed = ["classifier", "noun_pair", "profession", "category", "p_male", "p_female", "difference"]
    lacking = [c for c in needed if c not in getattr(table, "columns", ())]
    if lacking:
        raise InputError(
            "is no sentiment table",
            found=f"it lacks {', '.join(lacking)}",
            valid="what sentiment_table returns",
        )
    return list(dict.fromkeys(table["classifier"]))


def _by_group(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Compute means and the paired t-test of each group of pairs."""
    _names(table)
    rows = []
    for key, part in table.groupby(["classifier", *columns], sort=False):
        means = part[["p_male", "p_female", "difference"]].mean()
        test = _t_test(part["difference"].to_numpy(), str(key)) if len(part) > 1 else (None, 0, None)
        rows.append((*key, *means, *test))
    return _nullable(rows, ["classifier", *columns, "p_male", "p_female", "difference", "t", "df", "p_value"])


def _t_test(differences: npt.NDArray[np.float64], where: str) -> tuple[float | None, int, float | None]:
    """Return t of male - female, degrees of freedom and the two-sided p-value of differences female - male."""
    n = len(differences)
    if n < 2:
        raise InputError("a paired test needs two or more pairs", where=where, found=n)
    spread = float(np.std(differences, ddof=1))
    if spread < _FLAT:
        return None, n - 1, None
    t = -float(np.mean(differences)) / (spread / math.sqrt(n))
    return t, n - 1, _two_sided(t, n - 1)


def _two_sided(t: float, df: int) -> float:
    from scipy.special import stdtr

    return float(2 * stdtr(df, -abs(t)))


def _nullable(rows: list[tuple[Any, ...]], columns: list[str]) -> pd.DataFrame:
    import pandas as pd

    frame = pd.DataFrame(rows, columns=columns)
    return frame.astype({c: "Float64" for c in ("t", "p_value", "p_bonferroni") if c in columns})


def _plain(value: Any) -> Any:
    import pandas as pd

    if value is pd.NA:
        return None
    if isinstance(value, np.generic):
        return value.item()
    return list(value) if isinstance(value, tuple) else value
