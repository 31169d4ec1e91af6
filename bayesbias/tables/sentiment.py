"""The sentiment table: one row a pair of sentences that differ in gender alone.

A noun pair ("My father", "My mother") and a profession make one pair of sentences; the table holds
what a classifier predicts for either, their difference, and that of their log odds.
"""

from typing import Any

import numpy as np
import pandas as pd

from bayesbias.classifiers.classifier import checked_probabilities
from bayesbias.classifiers.predictions import Predictions
from bayesbias.classifiers.top_label import positive_scores
from bayesbias.core import InputError, checks
from bayesbias.core.frames import checked_texts
from bayesbias.tables.covariates import join_covariates
from bayesbias.tables.coverage import Coverage
from bayesbias.tables.pair_table import PairTable
from bayesbias.wordlists.occupations import GENDERS, SENTENCE_COLUMNS

CLIP = 1e-6
"""On the logit scale probabilities nearer to 0 or 1 count as this near: single precision has exact ones."""
OUTCOMES = ("difference", "logit_difference")
_KEY = ["classifier", "noun_pair", "profession", "category"]


def sentiment_table(
    *predictions: Predictions | pd.DataFrame,
    control: bool = False,
    clip: float = CLIP,
    covariates: Any = None,
) -> pd.DataFrame:
    """Put predictions in one tidy table, one row a pair of sentences.

    Parameters
    ----------
    *predictions : Predictions or DataFrame
        Of one or more classifiers; a frame has the columns of `Predictions.frame`.
    control : bool
        Whether to return the control pairs instead of the others.
    clip : float in (0, 0.5)
        For ``logit_difference`` alone: probabilities below `clip` or above 1 - `clip` count as
        these.
    covariates : optional
        Numbers or categories of the professions, such as their earnings; see
        `bayesbias.tables.join_covariates`. A model with a slope on one
        (`bayesbias.models.slopes_for`) leaves out professions without it. ``attrs["covariates"]``
        accounts for them.

    Returns
    -------
    pandas.DataFrame
        ``classifier, noun_pair, profession, category, p_male, p_female, difference`` (female -
        male, in [-1, 1])``, logit_difference`` (of the log odds; never infinite)``, clipped`` (how
        many of the pair's two probabilities were clipped for it, 0 to 2).

    Raises
    ------
    InputError
        If a sentence of a pair is missing, a probability is not from 0 to 1, or two classifiers have one
        name.

    Examples
    --------
    >>> from bayesbias import score_sentences
    >>> made = score_sentences(
    ...     lambda sentences: [0.8 if s.startswith("She") else 0.6 for s in sentences], name="toy"
    ... )
    >>> table = sentiment_table(made)
    >>> len(table), table.loc[0, ["noun_pair", "profession"]].tolist()
    (400, ['He / She', 'doctor'])
    >>> round(float(table["logit_difference"][0]), 4)
    0.9808
    """
    clip = checks.probability(clip, "clip", 0.5)
    if not predictions:
        raise InputError("expected predictions, got none", where="predictions")
    frames: list[pd.DataFrame] = []
    for x in predictions:
        frame = x.frame if isinstance(x, Predictions) else x
        needed = ["classifier", *SENTENCE_COLUMNS, "probability"]
        checks.columns(frame, needed, "predictions", "what score_sentences returns")
        both = {name for other in frames for name in other["classifier"]} & set(frame["classifier"])
        if both:
            problem = f"expected classifiers of different names, got {min(both)!r} twice"
            hint = "give score_sentences or load_predictions a name (--name, once for each input)"
            raise InputError(problem, where="predictions", hint=hint)
        checked_probabilities(frame["probability"], frame["sentence"].tolist(), "predictions")
        if not isinstance(x, Predictions):  # those of `load_predictions` are checked
            turned, _ = positive_scores(frame, "probability", where="predictions", named=False)
            frame = frame.assign(probability=turned)
            names = {name: checked_texts(frame[name], f"predictions, {name}") for name in _KEY}
            frame = frame.assign(**names)
        frames.append(frame)
    frame = pd.concat(frames, ignore_index=True)
    frame = frame[frame["control"].astype(bool) == bool(control)]
    twice = frame.duplicated([*_KEY[:3], "gender"])
    if twice.any():
        found = frame.loc[twice, "sentence"].iloc[0]
        raise InputError("expected each sentence once", where="predictions", found=found)
    wide = frame.pivot(index=_KEY[:3], columns="gender", values="probability")
    if set(wide) != set(GENDERS) or wide.isna().any(axis=None):
        problem = "expected a male and a female sentence in each pair"
        raise InputError(problem, where="predictions", found=list(wide))
    order = frame[frame["gender"] == GENDERS[0]][_KEY]
    wide = wide.reindex(pd.MultiIndex.from_frame(order[_KEY[:3]]))
    p_male, p_female = (wide[gender].to_numpy(dtype=float) for gender in GENDERS)
    inner = [np.clip(p, clip, 1 - clip) for p in (p_male, p_female)]
    logits = [np.log(p) - np.log1p(-p) for p in inner]
    out = order.reset_index(drop=True).assign(
        p_male=p_male,
        p_female=p_female,
        difference=p_female - p_male,
        logit_difference=logits[1] - logits[0],
        clipped=(inner[0] != p_male).astype(int) + (inner[1] != p_female),
    )
    return out if covariates is None else with_profession_covariates(out, covariates)


def with_profession_covariates(table: pd.DataFrame, covariates: Any) -> pd.DataFrame:
    """Join covariates about professions to a table of sentiment."""
    joined = join_covariates(PairTable(table, Coverage({}, {}), {}), covariates, side="profession")
    joined.frame.attrs |= {
        "covariates": dict(joined.coverage.covariates),
        "covariates_from": dict(joined.provenance["covariates"]),
        "covariates_noted": list(joined.coverage.notes),
    }
    return joined.frame


def only_labels(table: pd.DataFrame) -> list[str]:
    """Name the classifiers of which every prediction is 0 or 1."""
    sides = table[["p_male", "p_female"]].isin((0.0, 1.0)).all(axis=1)
    only = sides.groupby(table["classifier"], sort=False, observed=True).all()
    return [str(name) for name in only.index[only]]


def classifiers_in(table: pd.DataFrame) -> list[str]:
    """Return the classifiers of a sentiment table; refuse what is none."""
    needed = [*_KEY, "p_male", "p_female", "difference"]
    checks.columns(table, needed, "table", "what sentiment_table returns")
    if table.empty:
        raise InputError("expected what sentiment_table returns, got no rows", where="table")
    return checks.once(table["classifier"])
