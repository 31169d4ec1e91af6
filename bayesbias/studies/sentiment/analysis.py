"""The published analysis of predicted sentiment, male against female, as one result.

`sentiment_analysis` computes what the paper reports of one or more classifiers; the hierarchical
model, which keeps nouns and professions apart, is fitted to the same table.

Source: Bhaskaran & Bhallamudi (2019), Good Secretaries, Bad Truck Drivers? Occupational Gender
Stereotypes in Sentiment Analysis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.classifiers.predictions import Predictions
from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import plain
from bayesbias.core.formatting import join_words, some
from bayesbias.studies.sentiment.published import (
    UNITS,
    checked_earnings,
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

__all__ = ["SentimentAnalysis", "analysis_of_table", "sentiment_analysis"]

_ALIKE = 1e-3  # the published predictions and those of m1, which is trained as they were, differ by up to 1.2e-4
_USUAL = {"n": 3, "clip": CLIP, "prob": 0.95}  # settings, of which others are recorded


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

    def as_dict(self, classifier: str | None = None) -> dict[str, Any]:
        """Return the results of one classifier as plain numbers, texts, lists and dictionaries.

        Parameters
        ----------
        classifier : str, optional
            Its name; not needed where there is one.

        Returns
        -------
        dict
            ``classifier, f_minus_m, t, df, p_value, p_bonferroni, units`` (the same by noun pair
            and by profession)``, top, bottom, professions, noun_pairs, control`` (None without
            control sentences)``, earnings, clipped, notes``.
        """
        if classifier is None and len(self.classifiers) == 1:
            classifier = self.classifiers[0]
        if classifier not in self.classifiers:
            raise InputError("which classifier?", found=classifier, valid=self.classifiers)

        def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
            part = frame[frame["classifier"] == classifier].drop(columns="classifier")
            return plain(part.to_dict("records"))

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
    predicted = [x for x in predictions if isinstance(x, Predictions)]
    notes = dict.fromkeys(note for x in predicted for note in x.notes)
    with_control = [
        f
        for f in (x.frame if isinstance(x, Predictions) else x for x in predictions)
        if f["control"].any()
    ]
    control = None
    if with_control:
        control = paired_test(
            sentiment_table(*with_control, control=True, clip=clip), unit="noun_pair"
        )
        control = control.drop(columns=["unit", "p_bonferroni"])
    if earnings is None and predicted:
        earnings = {k: v for x in predicted for k, v in x.occupations.earnings.items()}
    about: dict[str, Any] = {
        "classifiers": {k: dict(v) for x in predicted for k, v in x.provenance.items()}
    }
    if predicted:
        listed = predicted[0].occupations
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
        notes=tuple(notes),
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
    """Compute what the paper reports from the pairs alone, such as those of a fit.

    Parameters
    ----------
    table : DataFrame
        From `sentiment_table`.
    control : DataFrame, optional
        The tests of the control sentences, as `SentimentAnalysis` holds them.
    hypotheses, n, clip, prob, earnings
        See `sentiment_analysis`; without `earnings` those of the published list are taken.
    notes : sequence of str
        To put before those that are found here.
    provenance : mapping, optional
        Where the predictions come from.

    Returns
    -------
    SentimentAnalysis

    Examples
    --------
    >>> from bayesbias import list_predictions
    >>> table = sentiment_table(list_predictions("m1"))
    >>> analysis_of_table(table).tests["p_value"].round(2).tolist()
    [0.0, 0.19, 0.0]
    """
    import pandas as pd

    all_notes = [checks.text(note, "notes") for note in checks.several(notes, "note", "notes")]
    clip = checks.between(clip, "clip", 0, 0.5)
    tests = pd.concat(
        [paired_test(table, unit=u, hypotheses=hypotheses) for u in UNITS], ignore_index=True
    )
    order = {name: i for i, name in enumerate(classifiers_in(table))}
    tests = tests.sort_values(
        "classifier", key=lambda c: c.map(order), kind="stable", ignore_index=True
    )
    for name in tests.loc[tests["t"].isna(), "classifier"].unique():
        all_notes.append(f"{name}: some differences do not vary, so there is no t-test of them")
    if control is not None:
        checks.columns(control, ("classifier",), "control", "what bayesbias.paired_test returns")
    else:
        control = tests.iloc[:0].drop(columns=["unit", "p_bonferroni"])
    if earnings is None:
        earnings = load_occupations().earnings
    earnings = checked_earnings(earnings)
    try:
        correlations = earnings_correlation(table, earnings, prob=prob)
    except InputError as error:
        columns = ["classifier", "method", "r", "low", "high", "prob", "p_value", "n"]
        correlations = pd.DataFrame(columns=columns)
        if earnings:  # of words of one's own nobody states any
            all_notes.append(f"no correlation with earnings: {error}")
    clipped = int(table.loc[~table["classifier"].isin(only_labels(table)), "clipped"].sum())
    if clipped:  # of labels all are, and another note says what they are
        all_notes.append(
            f"{clipped} probabilities were clipped to within {clip:g} of 0 or 1 on the logit scale"
        )
    all_notes += [*_the_same_twice(table), *_what_it_does_not_see(table)]
    asked = {"n": n, "clip": float(clip), "prob": float(prob)}
    about = {
        "classifiers": {},
        **(provenance or {}),
        **{key: value for key, value in asked.items() if value != _USUAL[key]},
        "hypotheses": len(order) if hypotheses is None else hypotheses,
        "earnings": {
            str(k): float(v) for k, v in earnings.items() if k in set(table["profession"])
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
        tuple(all_notes),
        about,
    )


def _the_same_twice(table: pd.DataFrame) -> list[str]:
    """Ask of classifiers that rate all sentences alike whether they are one; nothing is dropped."""
    sides = table.set_index(["noun_pair", "profession"])[["classifier", "p_male", "p_female"]]
    rated = {
        str(name): part for name, part in sides.groupby("classifier", sort=False, observed=True)
    }
    groups: list[list[str]] = []
    for name, part in rated.items():
        for group in groups:
            first, own = (of[["p_male", "p_female"]].sort_index() for of in (rated[group[0]], part))
            if first.index.equals(own.index) and (first - own).abs().to_numpy().max() < _ALIKE:
                group.append(name)
                break
        else:
            groups.append([name])
    return [
        f"{join_words(group)} rate all sentences alike, to within {_ALIKE:g}: are they the same classifier? Each counts as one of "
        "its own, in Bonferroni's correction too, and what is said of one is said of each"
        for group in groups
        if len(group) > 1
    ]


def _what_it_does_not_see(table: pd.DataFrame) -> list[str]:
    """Say where a classifier gives labels alone, or the same numbers whatever the word."""
    out, labels = [], only_labels(table)
    for name, part in table.groupby("classifier", sort=False, observed=True):
        if name in labels:
            out.append(
                f"{name}: every prediction is 0 or 1, a label and no probability: a mean difference is one of shares of "
                "labels, a model of it describes means over many pairs but neither spreads nor single professions and noun "
                "pairs, and log odds would be those of the clipping; hand over probabilities where the classifier has them"
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
                which = f"all {len(group)} professions" if len(alike) == 1 else some(group)
                out.append(
                    f"{name}: the predictions are the same for {which}: the classifier does not tell these "
                    "professions apart, though every test and model counts them one by one"
                )
    return out
