"""What is shown of a single-category test (WEFAT)."""

from dataclasses import asdict, replace
from typing import Any

import pandas as pd

import bayesbias as bb
from bayesbias.core import number_of
from bayesbias.core.sections import Column, Interpretation, Section
from bayesbias.inference.estimates import HPDI, MEAN
from bayesbias.inference.view import Verdict, View, sure_side
from bayesbias.scores.score import Score
from bayesbias.studies import common
from bayesbias.studies.glossary import explain_distances
from bayesbias.studies.wefat.result import Estimated, TrueCorrelation, WefatResult

QUESTION = "Do associations of words rise or fall with a number about them?"
ONE_VERDICT = True
FILES_BEFORE = False
FIT_FILE = ""
RARE = 0.01  # how often chance puts that many words off the line
TYPES: tuple[type, ...] = (WefatResult, Estimated, TrueCorrelation, Score)
glossary = explain_distances


def header(result: WefatResult, view: View) -> list[str]:
    """Return the lines over the first table."""
    known, (first, second) = result.published, result.sets
    size = (
        f"{known.n['words']} words with {known.covariate}; sets {first} ({len(known.a)} words) and "
        f"{second} ({len(known.b)} words)"
    )
    return common.header_of(result.fit, known.data, size)


def main_table(result: WefatResult) -> pd.DataFrame:
    """Return slope, correlation of true associations and published r."""
    known = result.published
    rows = [
        {"label": f"slope per SD of {known.covariate}", **asdict(result.slope)},
        {"label": "correlation of true associations", **result.true_correlation.as_row()},
        {
            "label": "published correlation r",
            "mean": known.value,
            "hpdi_low": known.low,
            "hpdi_high": known.high,
            "p_value": known.p_value,
        },
        {
            "label": "r of scores not divided by SDs",
            "mean": known.r_undivided,
            "p_value": known.p_undivided,
        },
    ]
    return pd.DataFrame(rows)


def sections(result: WefatResult, view: View) -> list[Section]:
    """Return all tables and figures of the test, in the order in which they are read."""
    (first, second), covariate = result.sets, result.published.covariate
    return [
        Section(
            "result",
            f"How closeness to {first} rather than {second} rises with {covariate}, in cosine "
            "distance, new words",
            lambda: main_table(result),
            (
                Column("label", ""),
                replace(MEAN, digits=3),
                replace(HPDI, digits=3),
                Column("p_value", "p", "p_value"),
            ),
            note="The interval of the true correlation is equal-tailed, that of r Fisher's; p "
            "permutes the covariate.",
            show_on="terminal page files",
        ),
        Section(
            "words",
            "Association of each word, and its distance from the line",
            lambda: result.frame,
            (
                Column("target", "word"),
                Column("covariate", covariate, "number", 2),
                Column("score", "published score", "signed", 2),
                Column("association", "association", "signed"),
                HPDI,
                Column("deviation", "off the line", "signed"),
                replace(HPDI, name="deviation_low", upper="deviation_high"),
            ),
            figure=lambda: bb.plots.plot_covariate(result),
            show_on="detail page files",
        ),
        Section(
            "correlation",
            "Published and true correlation",
            figure=lambda: bb.plots.plot_correlations(result),
            show_on="page",
        ),
        Section("scores", "Published scores", result.published.pairs, show_on="folder"),
    ]


def interpret(result: WefatResult, view: View) -> Interpretation:
    """Say whether associations rise or fall with the covariate."""
    known, (first, second) = result.published, result.sets
    notes = [common.sentence(note) for note in known.notes]
    for words, noun in ((known.missing, "target"), (known.dropped, "word")):
        if words:
            notes.append(
                f"{number_of(len(words), noun)} without a vector: {common.listing(words)}."
            )
    if unsure := common.not_converged(known.data, result.fit, notes):
        return unsure
    where = sure_side(result.slope)
    if where is None:
        said = "Inconclusive with so few draws. Raise --draws."
    elif where is Verdict.INCONCLUSIVE:
        said = (
            f"Inconclusive: the slope is {common.estimate(result.slope)}; its interval "
            f"{common.zero_in(result.slope)}."
        )
    else:
        closer, other = (first, second) if where is Verdict.ABOVE else (second, first)
        said = (
            f"On average, the higher {known.covariate}, the closer a word is to {closer}, relative "
            f"to {other}: by {common.size(result.slope)} in cosine distance per SD, for new words."
        )
    if known.p_value is not None:
        tested = common.at_level(known.p_value, result.alpha)
        notes.insert(
            0,
            f"Published r: {tested} ({common.p_text(known.p_value)}). It divides the score of each "
            "word by the SD of its cosines. The slope does not, and it allows for the noise of the "
            "words in the sets.",
        )
    off = list(result.off_line)
    chance = (1 - view.prob) * len(result.frame)
    words_off = (
        f"{number_of(len(off), 'word')} off the line{f' ({common.listing(off)})' if off else ''}; "
        f"about {chance:.1f} of {len(result.frame)} would be expected by chance."
    )
    warnings = common.warning_on_misspelled(known.misspelled)
    details = [words_off]
    if many_off_line(len(off), len(result.frame), 1 - view.prob):
        details = []
        warnings = [
            *warnings,
            f"{words_off} The Result is an average: these words do not follow it.",
        ]
    return Interpretation(known.data, said, warnings, notes, lambda: details)


def many_off_line(off: int, words: int, share: float) -> bool:
    """Return whether more words are off the line than chance gives, but for one time in a hundred.

    Examples
    --------
    >>> many_off_line(5, 10, 0.11), many_off_line(2, 10, 0.11)
    (True, False)
    """
    from scipy.stats import binom

    return bool(binom.sf(off - 1, words, share) < RARE)


def about(result: WefatResult) -> dict[str, Any]:
    """Return what JSON says beside the tables."""
    known = result.published
    return {
        **common.about_fit(result.fit),
        "published": {
            "r": known.value,
            "r_low": known.low,
            "r_high": known.high,
            "p_value": known.p_value,
            "r_undivided": known.r_undivided,
            "p_undivided": known.p_undivided,
            "p_method": known.p_method,
            "alpha": result.alpha,
            "n": known.n["words"],
        },
        "slope": asdict(result.slope),
        "true_correlation": asdict(result.true_correlation),
        "scale": result.scale,
        "provenance": dict(result.provenance),
    }
