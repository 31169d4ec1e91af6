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
    ]
    return pd.DataFrame(rows)


def sections(result: WefatResult, view: View) -> list[Section]:
    """Return all tables and figures of the test, in the order in which they are read."""
    first, covariate = result.sets[0], result.published.covariate
    return [
        Section(
            "result",
            f"How closeness to {first} changes with {covariate} (positive: it rises)",
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
            f"The higher {known.covariate}, the closer a word is to {closer}, relative to {other}: by "
            f"{common.size(result.slope)} per SD."
        )
    if known.p_value is not None:
        tested = common.at_level(known.p_value, result.alpha)
        notes.insert(
            0,
            f"Published r: {tested} ({common.p_text(known.p_value)}). The Result is that of the "
            "slope, which allows for the noise of the words in the sets; r does not, so that they "
            "may differ.",
        )
    off = list(result.off_line)
    chance = (1 - view.prob) * len(result.frame)
    details = (
        f"{number_of(len(off), 'word')} off the line{f' ({common.listing(off)})' if off else ''}; "
        f"about {chance:.1f} of {len(result.frame)} would be expected by chance."
    )
    warnings = common.warning_on_misspelled(known.misspelled)
    return Interpretation(known.data, said, warnings, notes, lambda: [details])


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
            "p_method": known.p_method,
            "alpha": result.alpha,
            "n": known.n["words"],
        },
        "slope": asdict(result.slope),
        "true_correlation": asdict(result.true_correlation),
        "scale": result.scale,
        "provenance": dict(result.provenance),
    }
