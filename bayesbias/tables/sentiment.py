"""The sentiment table: one row a pair of sentences that differ in gender alone.

A noun pair ("My father", "My mother") and a profession make one pair of sentences; the table holds what a
classifier predicts for either, their difference, and that of their log odds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.classifiers.classifier import checked_probabilities
from bayesbias.classifiers.predictions import Predictions
from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import number_of
from bayesbias.core.frames import plain_frame
from bayesbias.tables.covariates import join_covariates
from bayesbias.tables.coverage import Coverage
from bayesbias.tables.pair_table import PairTable
from bayesbias.tables.rows import RANGES, REPEATS, ROUNDING, Range, Source, checked_numbers
from bayesbias.wordlists.occupations import GENDERS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CLIP", "sentiment_table"]

CLIP = 1e-6
"""On the logit scale probabilities nearer to 0 or 1 than this count as this near; the table counts them.

A softmax in single precision cannot tell probabilities within 6e-8 of 1 from 1, and the logit of 1 is infinite."""
OUTCOMES = ("difference", "logit_difference")
_SHARE = Range(0.0, 1.0, ())


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
        Whether to return the control pairs in place of the others.
    clip : float in (0, 0.5)
        For ``logit_difference`` alone: probabilities below `clip` or above 1 - `clip` count as these.
    covariates : optional
        Numbers or categories of the professions, such as their earnings; see `bayesbias.tables.join_covariates`. A model with a slope
        on one (`bayesbias.models.with_slopes`) leaves out professions without it. ``attrs["covariates"]`` accounts for them.

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
    >>> from bayesbias import score_sentences
    >>> made = score_sentences(lambda sentences: [0.8 if s.startswith("She") else 0.6 for s in sentences], name="toy")
    >>> table = sentiment_table(made)
    >>> len(table), table.loc[0, ["noun_pair", "profession"]].tolist()
    (400, ['He / She', 'doctor'])
    >>> round(float(table["logit_difference"][0]), 4)
    0.9808
    """
    import pandas as pd

    clip = checks.between(clip, "clip", 0, 0.5)
    frame = _joined_predictions(predictions)
    frame = frame[frame["control"].astype(bool) == bool(control)]
    if frame.empty:
        raise InputError(
            "there are no predictions for the control sentences"
            if control
            else "there are no predictions"
        )
    keys = ["classifier", "noun_pair", "profession", "category"]
    sides = {}
    for gender in GENDERS:
        side = frame[frame["gender"] == gender]
        twice = side.duplicated(keys[:3])
        if twice.any():
            raise InputError(
                "a sentence has two predictions", found=side.loc[twice, "sentence"].iloc[0]
            )
        sides[gender] = side
    other = sorted(set(frame["gender"]) - set(GENDERS))
    if other:
        raise checks.unknown(other[0], GENDERS, "gender")
    male, female = (sides[g].set_index(keys[:3])["probability"] for g in GENDERS)
    alone = male.index.symmetric_difference(female.index)
    if len(alone):
        raise InputError(
            "a pair lacks its male or female sentence",
            found=", ".join(map(str, alone[0])),
            hint=number_of(len(alone), "such pair"),
        )
    out = sides["male"][keys].reset_index(drop=True)
    index = pd.MultiIndex.from_frame(out[keys[:3]])
    p_male, p_female = male.to_numpy(dtype=float), female.reindex(index).to_numpy(dtype=float)
    difference, clipped = logit_difference(p_male, p_female, clip)
    out = out.assign(
        p_male=p_male,
        p_female=p_female,
        difference=p_female - p_male,
        logit_difference=difference,
        clipped=clipped,
    )
    return out if covariates is None else with_profession_covariates(out, covariates)


def logit_difference(
    p_male: np.ndarray, p_female: np.ndarray, clip: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the difference of log odds of each pair, and how many of its two probabilities were clipped for it."""
    inner = [np.clip(p, clip, 1 - clip) for p in (p_male, p_female)]
    logits = [np.log(p) - np.log1p(-p) for p in inner]
    return logits[1] - logits[0], (inner[0] != p_male).astype(int) + (inner[1] != p_female)


def with_profession_covariates(table: pd.DataFrame, covariates: Any) -> pd.DataFrame:
    """Join covariates about professions to a table of sentiment; its ``attrs`` say which professions have them."""
    joined = join_covariates(PairTable(table, Coverage({}, {}), {}), covariates, side="profession")
    out = joined.frame
    out.attrs |= {
        "covariates": dict(joined.coverage.covariates),
        "covariates_from": dict(joined.provenance["covariates"]),
    }
    out.attrs["covariates_noted"] = list(joined.coverage.notes)
    return out


def _joined_predictions(predictions: Sequence[Any]) -> pd.DataFrame:
    import pandas as pd

    if not predictions:
        raise InputError("no predictions were given")
    frames: list[pd.DataFrame] = []
    seen: set[str] = set()
    for x in predictions:
        frame = x.frame if isinstance(x, Predictions) else x
        if not isinstance(frame, pd.DataFrame):
            raise InputError(
                "are no predictions",
                found=type(x).__name__,
                valid="what score_sentences or load_predictions returns",
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
                hint="give score_sentences or load_predictions a name= (--name, once for each input)",
            )
        seen |= set(frame["classifier"])
        checked_probabilities(
            frame["probability"].to_numpy(), frame["sentence"].tolist(), "predictions"
        )
        frames.append(frame)
    return pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]


def only_labels(table: pd.DataFrame) -> list[str]:
    """Name the classifiers of which every prediction is 0 or 1."""
    sides = table[["p_male", "p_female"]].isin((0.0, 1.0)).all(axis=1)
    return [
        str(name)
        for name, only in sides.groupby(table["classifier"], sort=False, observed=True)
        .all()
        .items()
        if only
    ]


def classifiers_in(table: pd.DataFrame) -> list[str]:
    """Return the classifiers of a sentiment table; refuse what is none."""
    needed = [
        "classifier",
        "noun_pair",
        "profession",
        "category",
        "p_male",
        "p_female",
        "difference",
    ]
    lacking = [c for c in needed if c not in getattr(table, "columns", ())]
    if lacking:
        raise InputError(
            "is no sentiment table",
            where="table",
            found=f"it lacks {', '.join(lacking)}",
            valid="what sentiment_table returns",
        )
    _check_pairs(table, needed)
    return list(dict.fromkeys(table["classifier"]))


def _check_pairs(table: pd.DataFrame, needed: Sequence[str]) -> None:
    """Refuse rows that are no pairs of sentences: a table may have been changed, or made by hand."""
    frame = plain_frame(table, "table", "what sentiment_table returns", known=needed).reset_index(
        drop=True
    )
    source = Source("table")
    if frame.empty:
        raise InputError("has no rows", where="table", valid="what sentiment_table returns")
    for name in ("classifier", "noun_pair", "profession"):
        empty = frame[name].isna().to_numpy()
        if empty.any():
            raise InputError("an empty cell", where=source.at(int(empty.argmax()), name))
    numbers = {
        name: checked_numbers(frame[name], source, name, within).to_numpy()
        for name, within in (
            ("p_male", _SHARE),
            ("p_female", _SHARE),
            ("difference", RANGES["difference"]),
        )
    }
    off = np.abs(numbers["p_female"] - numbers["p_male"] - numbers["difference"]) > ROUNDING
    if off.any():
        row = int(off.argmax())
        raise InputError(
            "is not what female - male makes of its row",
            where=source.at(row, "difference"),
            found=float(numbers["difference"][row]),
            valid=f"{numbers['p_female'][row] - numbers['p_male'][row]:.6g}",
        )
    twice = frame.duplicated(["classifier", "noun_pair", "profession"]).to_numpy()
    if twice.any() and frame.attrs.get(REPEATS) != "keep":
        row = int(twice.argmax())
        raise InputError(
            "a pair of sentences stands twice",
            where=source.at(row),
            found=", ".join(frame.loc[row, ["classifier", "noun_pair", "profession"]].astype(str)),
            valid="each once",
        )
