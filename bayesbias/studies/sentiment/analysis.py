"""The published analysis of predicted sentiment, male against female, as one result.

`sentiment_analysis` computes what the paper reports of one or more classifiers; the hierarchical
model, which keeps nouns and professions apart, is fitted to the same table.

Source: Bhaskaran & Bhallamudi (2019), Good Secretaries, Bad Truck Drivers? Occupational Gender
Stereotypes in Sentiment Analysis.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.classifiers.predictions import Predictions
from bayesbias.core.errors import InputError
from bayesbias.core.files import plain
from bayesbias.core.formatting import some
from bayesbias.studies.sentiment.published import (
    EARNINGS_COLUMNS,
    UNITS,
    earnings_correlation,
    noun_pair_differences,
    paired_test,
    profession_sentiment,
    top_bottom,
)
from bayesbias.tables.sentiment import CLIP, classifiers_in, only_labels, sentiment_table
from bayesbias.wordlists.occupations import load_occupations

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.inference.posterior import BiasFit

__all__ = ["SentimentAnalysis", "sentiment_analysis"]

_ALIKE = 1e-3  # the published predictions and those of m1, which is trained as they were, differ by up to 1.2e-4


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
        The paired t-test of the control sentences over the noun pairs, without Bonferroni's
        correction; empty where they were not predicted.
    earnings : pandas.DataFrame
        From `earnings_correlation`; empty where fewer than four professions have earnings.
    notes : tuple of str
        What could not be computed, or needs saying.
    provenance : dict
        ``classifiers`` (name -> where it comes from)``, occupations`` (name, source and SHA-256 of
        the sentences)``, hypotheses`` and ``earnings`` (profession -> earnings).
    fit : BiasFit or None
        The model with crossed effects, where `fit_sentiment` fitted one.

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = bb.sentiment_analysis(bb.list_predictions("m1"))
    >>> found.classifiers, len(found.noun_pairs)
    (('m1',), 20)
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

    def __repr__(self) -> str:
        lines = []
        for row in self.tests.to_dict("records"):
            test = (
                "no test"
                if plain(row["t"]) is None
                else f"t({row['df']}) = {row['t']:.3f}, p = {row['p_value']:.3g}"
            )
            over = f"{test} over {row['n']} {row['unit'].replace('_', ' ')}s"
            if row["unit"] == "sentence_pair":
                lines.append(f"{row['classifier']}: F - M {row['f_minus_m']:+.4f}; {over}")
            else:
                lines.append(f"  {over}")
        return "<SentimentAnalysis " + "\n  ".join(lines) + ">"


def sentiment_analysis(
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
        Of the intervals of professions and of correlations.
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
    >>> from bayesbias import score_sentences
    >>> made = score_sentences(lambda sentences: [0.6 + 0.01 * len(s) / 40 for s in sentences], name="toy")
    >>> sentiment_analysis(made)
    <SentimentAnalysis toy: F - M +0.0001; t(399) = -2.625, p = 0.00899 over 400 sentence pairs
        t(19) = -0.573, p = 0.573 over 20 noun pairs
        no test over 20 professions>
    """
    table = sentiment_table(*predictions, clip=clip)
    read = [each for each in predictions if isinstance(each, Predictions)]
    frames = [each.frame if isinstance(each, Predictions) else each for each in predictions]
    with_control = [frame for frame in frames if frame["control"].any()]
    control = None
    if with_control:
        pairs = sentiment_table(*with_control, control=True, clip=clip)
        control = paired_test(pairs, unit="noun_pair").drop(columns=["unit", "p_bonferroni"])
    if earnings is None and read:
        earnings = {k: v for each in read for k, v in each.occupations.earnings.items()}
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
    return analysis_of_table(
        table,
        control=control,
        hypotheses=hypotheses,
        n=n,
        clip=clip,
        prob=prob,
        earnings=earnings,
        notes=tuple(dict.fromkeys(note for each in read for note in each.notes)),
        provenance=about,
    )


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
    """Compute what the paper reports from the pairs alone; `control` has the tests of the control sentences."""
    import pandas as pd

    said = list(notes)
    names = list(classifiers_in(table))
    tests = pd.concat(
        [paired_test(table, unit=unit, hypotheses=hypotheses) for unit in UNITS], ignore_index=True
    )
    tests = tests.sort_values(
        "classifier", key=lambda of: of.map(names.index), kind="stable", ignore_index=True
    )
    for name in tests.loc[tests["t"].isna(), "classifier"].unique():
        said.append(f"{name}: some differences do not vary, so that there is no t-test of them.")
    if control is None:
        control = tests.iloc[:0].drop(columns=["unit", "p_bonferroni"])
    if earnings is None:
        earnings = load_occupations().earnings
    try:
        correlations = earnings_correlation(table, earnings, prob=prob)
    except InputError as error:
        correlations = pd.DataFrame(columns=EARNINGS_COLUMNS)
        if earnings:  # for words of one's own nobody states any
            said.append(f"No correlation with earnings: {error}.")
    labels = only_labels(table)
    clipped = int(table.loc[~table["classifier"].isin(labels), "clipped"].sum())
    if clipped:
        said.append(
            f"{clipped} probabilities were clipped to within {clip:g} of 0 or 1 for log odds."
        )
    said += [*_rated_alike(table), *_professions_alike(table, labels)]
    about = {
        "classifiers": {},
        **(provenance or {}),
        "n": n,
        "clip": clip,
        "prob": prob,
        "hypotheses": len(names) if hypotheses is None else hypotheses,
        "earnings": {
            name: float(of) for name, of in earnings.items() if name in set(table["profession"])
        },
    }
    return SentimentAnalysis(
        table,
        tests,
        profession_sentiment(table, prob=prob),
        noun_pair_differences(table),
        top_bottom(table, n),
        control,
        correlations,
        tuple(said),
        about,
    )


def _rated_alike(table: pd.DataFrame) -> list[str]:
    """Name classifiers that rate all sentences alike; nothing is dropped."""
    wide = table.pivot(
        index=["noun_pair", "profession"], columns="classifier", values=["p_male", "p_female"]
    )
    out = []
    for a, b in itertools.combinations(classifiers_in(table), 2):
        away = (wide.xs(a, axis=1, level=1) - wide.xs(b, axis=1, level=1)).abs().to_numpy().max()
        if away < _ALIKE:
            out.append(f"{a} and {b} rate all sentences alike: are they the same classifier?")
    return out


def _professions_alike(table: pd.DataFrame, labels: Sequence[str]) -> list[str]:
    """Name professions that a classifier rates alike with every noun, as it does words that it does not know."""
    out = []
    for name, part in table.groupby("classifier", sort=False, observed=True):
        if name in labels:
            continue
        grid = part.pivot(index="profession", columns="noun_pair", values=["p_male", "p_female"])
        for _, rows in grid.round(12).groupby(list(grid.columns), sort=False):
            if len(rows) > 1:
                which = "all professions" if len(rows) == len(grid) else some(sorted(rows.index))
                out.append(f"{name} does not tell these professions apart: {which}.")
    return out
