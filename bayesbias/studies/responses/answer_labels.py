"""Answers as numbers: numbers in any spelling, yes and no, and labels such as *Hire* or *Strongly agree*."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

YES_NO = {"true": 1.0, "yes": 1.0, "correct": 1.0, "c": 1.0, "false": 0.0, "no": 0.0, "incorrect": 0.0, "i": 0.0}  # fmt: skip
SCALES: tuple[dict[str, float], ...] = (
    {"hire": 1, "reject": 0, "no hire": 0, "do not hire": 0},
    {"hired": 1, "rejected": 0, "not hired": 0},
    {"accept": 1, "reject": 0},
    {"accepted": 1, "rejected": 0},
    {"approve": 1, "deny": 0, "decline": 0, "reject": 0},
    {"approved": 1, "denied": 0, "declined": 0, "rejected": 0},
    {"pass": 1, "fail": 0},
    {"a": 1, "b": 0},
    {"positive": 1, "neutral": 0.5, "negative": 0},
    {"pos": 1, "neu": 0.5, "neg": 0},
    {"ja": 1, "nein": 0},
    {"ja": 1, "nej": 0},
    {"ja": 1, "nee": 0},
    {"oui": 1, "non": 0},
    {"sí": 1, "si": 1, "no": 0},
    {"sim": 1, "não": 0, "nao": 0},
    {
        "strongly disagree": 1, "disagree": 2, "neutral": 3, "neither agree nor disagree": 3,
        "agree": 4, "strongly agree": 5,
    },
    {"very unlikely": 1, "unlikely": 2, "neutral": 3, "likely": 4, "very likely": 5},
    {"never": 1, "rarely": 2, "sometimes": 3, "often": 4, "always": 5},
    {"very negative": 1, "negative": 2, "neutral": 3, "positive": 4, "very positive": 5},
    {"low": 1, "medium": 2, "high": 3},
)  # fmt: skip
"""Labels that are known, and their numbers; the first scale that has all labels of a column is taken."""

_AROUND = re.compile(r"^[\s\"'“”‘’*]+|[\s\"'“”‘’*.,!;:]+$")  # as in '"Yes."'
_FIRST_WORD = re.compile(r"(yes|no)\s*(?:[.,!;:–—]|-(?!\w))", re.IGNORECASE)
# The first also where *yes* or *no* comes before, as in "No, I cannot help with that."
_CANNOT = r"i'?m sorry|i am sorry|can(?:'?t|not) (?:help|assist|provide|answer|comply)|as an ai"
_DECLINES = (
    r"i apologi[sz]e|unable to|i can(?:'?t|not)|i won'?t|refus\w*|not appropriate|inappropriate"
)
_REFUSES = rf"\b(?:{_CANNOT}|{_DECLINES})\b"
_YES_OR_NO = r"\b(?:yes|no)\b"
_PERCENT = r"[+-]?\d+(?:[.,]\d+)?\s*%"
_AHEAD = re.compile(r"^(?:rating|score|grade|answer)\W*[:=]\W*")  # as in "Rating: 4"
_OUT_OF = r"([+-]?\d+(?:[.,]\d+)?)\s*(?:/|out of|of)\s*(\d+)"  # as in "4/5"
_COMMA = re.compile(r"([+-]?\d+),(\d+)")
_BEGINNING = 200  # characters of a text in which a refusal is looked for
_THOUSANDS = 3  # digits after a comma that may separate thousands


@dataclass(frozen=True)
class Numbers:
    """Answers as numbers.

    Attributes
    ----------
    values : Series
        The numbers; missing where there is none.
    reasons : Series
        Why a row is left out: ``missing, refusals, unparseable``; empty where it is not.
    notes : tuple of str
        How labels were read.
    one : str
        The label that counts as 1, of two labels; empty otherwise.
    """

    values: "pd.Series[Any]"
    reasons: "pd.Series[str]"
    notes: tuple[str, ...] = ()
    one: str = ""


def numbers_of(answers: "pd.Series[Any]", chosen: Mapping[str, float] | None = None) -> Numbers:
    """Return answers as numbers, and why each row that has none is left out.

    Parameters
    ----------
    answers : Series
    chosen : mapping, optional
        Label -> its number, as the user chooses it. Other labels are read as usual.

    Examples
    --------
    >>> read = numbers_of(pd.Series(["Hire", "Reject", "hire"]))
    >>> read.values.tolist(), read.notes
    ([1.0, 0.0, 1.0], ('Answers are read as numbers: hire = 1, reject = 0. --map "hire=1,reject=0" changes this.',))
    """
    text = answers.astype(str).str.strip()
    missing = answers.isna() | text.str.lower().isin(("", "nan", "none", "null", "na", "n/a"))
    plain = text.map(_plain).str.replace(_AHEAD, "", regex=True)

    cannot = plain.str.contains(rf"\b(?:{_CANNOT})\b")
    first = plain.str.extract(_FIRST_WORD)[0].mask(cannot)
    words = plain.map(YES_NO).fillna(first.map(YES_NO))
    numeric = pd.to_numeric(plain, errors="coerce")
    values = numeric.fillna(words)
    notes, one = [], ""
    if chosen:
        by_label = {_plain(label): number for label, number in chosen.items()}
        values = plain.map(by_label).fillna(values)
    left = plain[values.isna() & ~missing]
    if numeric.notna().any():
        read, note = left.map(_percent_of), ""
        if not read.notna().all():
            read, note = _out_of(left)
    else:
        read, note, one = _written_otherwise(left)
    if read is not None and len(left):
        values = values.fillna(read)
        notes += [note] if note else []

    values = values.where(~missing)
    values = values.where(np.isfinite(values))
    # "No I can't recommend her" begins with an answer.
    refuses = cannot | (plain.str.contains(_REFUSES) & ~plain.str.match(_YES_OR_NO))
    refused = values.isna() & ~missing & refuses
    reasons = pd.Series("", index=answers.index)
    reasons = reasons.mask(values.isna(), "unparseable").mask(refused, "refusals")
    return Numbers(values, reasons.mask(missing, "missing"), tuple(notes), one)


def are_refusals(texts: "pd.Series[Any]") -> "pd.Series[bool]":
    """Say which texts are refusals, by how they begin.

    Examples
    --------
    >>> are_refusals(pd.Series(["Yes.", "I’m sorry, but I can’t help.", None])).tolist()
    [False, True, False]
    """
    return numbers_of(texts.str[:_BEGINNING]).reasons.eq("refusals")


def have_no_answer(texts: "pd.Series[Any]") -> "pd.Series[bool]":
    """Say which texts answer by neither yes nor no: empty ones, refusals, and those without either word.

    Examples
    --------
    >>> texts = ["No, she is unable to.", "I can't say.", "I would say no.", "Perhaps", ""]
    >>> have_no_answer(pd.Series(texts)).tolist()
    [False, True, False, True, True]
    """
    reasons = numbers_of(texts).reasons
    has_either = texts.fillna("").map(_plain).str.contains(_YES_OR_NO)
    return reasons.isin(("missing", "refusals")) | (reasons.eq("unparseable") & ~has_either)


def _plain(label: str) -> str:
    """Return a label as answers are compared with it."""
    return _AROUND.sub("", str(label).strip()).lower().replace("’", "'")


def _percent_of(text: str) -> float:
    """Return the share of a text such as ``52.3 %``."""
    if not re.fullmatch(_PERCENT, text):
        return np.nan
    return float(text.rstrip("%").strip().replace(",", ".")) / 100


def _out_of(left: "pd.Series[str]") -> tuple["pd.Series[float] | None", str]:
    """Return the numbers of texts such as ``4/5`` or ``4 out of 5``, if all but refusals have one scale."""
    answers = left[~left.str.contains(_REFUSES)]
    parts = answers.str.extract(f"^{_OUT_OF}$")
    if answers.empty or parts[1].isna().any() or parts[1].nunique() > 1:
        return None, ""
    numbers = left.str.extract(f"^{_OUT_OF}$")[0].str.replace(",", ".")
    top = parts[1].iloc[0]
    note = f"Answers such as {answers.iloc[0]} are read as numbers up to {top}."
    return pd.to_numeric(numbers, errors="coerce"), note


def _written_otherwise(left: "pd.Series[str]") -> tuple["pd.Series[float] | None", str, str]:
    """Return the numbers of texts, all of which are percentages, have commas or are known labels."""
    answers = left[~left.str.contains(_REFUSES)]
    if answers.empty:
        return None, "", ""
    if answers.str.fullmatch(_PERCENT).all():
        return left.map(_percent_of), "Percentages are read as shares: 50% = 0.5.", ""
    numbers, note = _out_of(left)
    if numbers is not None:
        return numbers, note, ""
    if answers.str.fullmatch(_COMMA).all() and not _may_be_thousands(answers):
        points = left.str.replace(_COMMA, r"\1.\2", regex=True)
        return pd.to_numeric(points, errors="coerce"), "Commas are read as decimal commas.", ""
    labels = set(answers)
    for scale in SCALES:
        if labels <= set(scale):
            shown = {label: number for label, number in scale.items() if label in labels}
            listed = ", ".join(f"{label} = {number:g}" for label, number in shown.items())
            option = ",".join(f"{label}={number:g}" for label, number in shown.items())
            note = f'Answers are read as numbers: {listed}. --map "{option}" changes this.'
            ones = [label for label, number in shown.items() if number == 1]
            binary = set(scale.values()) <= {0, 1}
            return left.map(scale).astype(float), note, ones[0] if binary and ones else ""
    return None, "", ""


def _may_be_thousands(texts: "pd.Series[str]") -> bool:
    """Whether all commas of numbers may separate thousands, as in 1,234."""
    parts = texts.str.extract(_COMMA)
    return bool(((parts[1].str.len() == _THOUSANDS) & ~parts[0].isin(("0", "-0", "+0"))).all())
