"""What the pages on words and on change share: the data, the model, the glossary."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayesbias.columns.table import Cell, Table, number_cell, of_cells
from bayesbias.core.errors import FitError
from bayesbias.core.wording import as_percent, number_of
from bayesbias.inference.estimands import STANDARD_ROPE
from bayesbias.inference.expectation import prior_expectation
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.scope import has_new_words, holds_for
from bayesbias.models.spec import RESULTS_OF_PAIRS, ModelSpec
from bayesbias.report.parts import (
    Data,
    Labelled,
    Model,
    Part,
    Picture,
    Words,
    about_spec,
    labelled,
    parameters_part,
)
from bayesbias.report.texts import as_sentence
from bayesbias.tables.coverage import FACT_NOUNS, composed_in_words
from bayesbias.wordlists.pairing import CONNECTIONS

if TYPE_CHECKING:
    import pandas as pd

_KINDS = {
    "associated": "a word with a stereotype of its own class",
    "different": "a word with a stereotype of another class",
    "human": "a word with a control word about people",
    "neutral": "a word with a control word about neither people nor classes",
}


def data_part(
    table: pd.DataFrame,
    coverage: Mapping[str, Any],
    more_tables: Sequence[Table] = (),
    more_notes: Sequence[str] = (),
) -> Data:
    """Make the section on the pairs: how many, which words, and which were missing; then what a study adds to it."""
    words = table.groupby("protected_class", sort=False, observed=True)["protected_word"].unique()
    attributes = table.groupby("attribute_class", sort=False, observed=True)["attribute"].unique()
    n_words, n_attributes = table["protected_word"].nunique(), table["attribute"].nunique()
    sentences = [
        f"{number_of(len(table), 'pair')} of {number_of(n_words, 'protected word')} in "
        f"{number_of(len(words), 'class', 'classes')} ({', '.join(map(str, words.index))}) and "
        f"{number_of(n_attributes, 'attribute')}. "
        "Each pair is one observation; nothing was averaged before the model saw it."
    ]
    rows = []
    fewer = False  # some were found and make no pair, such as those without a covariate
    for side, label, used in (
        ("protected", "protected words", words),
        ("attributes", "attributes", attributes),
    ):
        for name, group in coverage.get(side, {}).items():
            n_used = len(used[name]) if name in used.index else 0
            fewer |= n_used < int(group["found"])
            rows.append(
                [
                    Cell(str(name)),
                    Cell(label),
                    number_cell(group["listed"], 0),
                    number_cell(group["found"], 0),
                    number_cell(n_used, 0),
                    Cell(", ".join(map(str, group["missing"])) or "none"),
                ]
            )
    if not rows:
        sentences.append("The table came without an account of words that were missing.")
    elif not coverage.get("missing"):
        sentences.append("Every listed word was found.")
    else:
        n = len(coverage["missing"])
        sentences.append(
            f"{number_of(n, 'listed word')} {'was' if n == 1 else 'were'} not found and {'makes' if n == 1 else 'make'} "
            f"no pair; the table names {'it' if n == 1 else 'them'}."
        )
    kinds = table["connection"].astype(str).value_counts()
    tables = [
        of_cells(
            "t-pairs",
            "Pairs per connection",
            ["connection", "what is paired", "#pairs"],
            [[Cell(c), Cell(_KINDS[c]), number_cell(int(kinds[c]), 0)] for c in present_connections(table)],
        )
    ]
    if rows:
        head = ["class", "side", "#listed", "#found", "#in pairs", "missing"]
        if not fewer:
            head, rows = [*head[:4], head[5]], [[*row[:4], row[5]] for row in rows]
        tables.append(of_cells("t-coverage", "Words listed and found", head, rows))
    if coverage.get("covariates"):
        tables.append(covariate_table(coverage["covariates"]))
    notes = [as_sentence(str(text)) for text in coverage.get("notes", ())]
    matched = coverage.get("matched") or {}
    if matched:
        pairs = ", ".join(f"{asked} as {found}" for asked, found in matched.items())
        notes.append(f"Found under another spelling: {pairs}.")
    if composed := composed_in_words(coverage):
        notes.append(as_sentence(composed))
    if coverage.get("repeats"):
        notes.append(f"{number_of(int(coverage['repeats']), 'repeated row')} counted once.")
    groups = [Words(f"Protected: {name}", [str(w) for w in found]) for name, found in words.items()]
    for name, found in attributes.items():
        kind = "Controls" if name in CONNECTIONS else "Stereotypes"
        groups.append(Words(f"{kind}: {name}", [str(w) for w in found]))
    return Data(sentences, [*tables, *more_tables], list(dict.fromkeys([*notes, *more_notes])), groups)


def covariate_table(covariates: Mapping[str, Mapping[str, Any]]) -> Table:
    """Make the table of the covariates that were joined: whose they are, and which words have none."""
    head = ["covariate", "of", "#listed", "#known"]
    rows = [
        [
            Cell(str(name)),
            Cell(FACT_NOUNS.get(covariate["side"], str(covariate["side"]))),
            number_cell(covariate["listed"], 0),
            number_cell(covariate["found"], 0),
            Cell(", ".join(map(str, covariate["missing"])) or "none"),
        ]
        for name, covariate in covariates.items()
    ]
    return of_cells("t-covariates", "Covariates about words", [*head, "without it"], rows)


def at_level(frame: pd.DataFrame, level: str) -> pd.DataFrame:
    """Choose the rows of a level; of single words for one estimand only, since both would fill pages."""
    chosen = frame[frame["level"] == level]
    return chosen[chosen["estimand"] == "population"] if level == "word" else chosen


def model_part(
    fit: BiasFit, prob: float, use: str = "", drawn: Sequence[Picture] = (), notes: Sequence[str] = ()
) -> Model:
    """Make the section on a model: its file and parameters; of the model of the page also the priors, drawn."""
    folded = [parameters_part(fit, prob, f"-{fit.spec.name}" if use else "")]
    if drawn:
        folded.insert(0, Part("The priors, drawn", _expected(fit), figures=drawn))
    return about_spec(fit.spec, use, notes, folded)


def _expected(fit: BiasFit) -> list[str]:
    """Say what the prior of a fit's model expects on its table; nothing where nothing is contrasted."""
    try:
        return [prior_expectation(fit.spec, fit.table).sentence()]
    except FitError:
        return []


def glossary_of(
    table: pd.DataFrame,
    outcome: str,
    prob: float,
    rope: float,
    spec: ModelSpec | None = None,
    standard_rope: float = STANDARD_ROPE,
) -> list[Labelled]:
    """Return the terms of the page and what they mean, with the scatter of this table and what the model holds."""
    results = RESULTS_OF_PAIRS if spec is None else spec.results
    of_levels = "".join(
        f" For {noun} it holds for {holds_for(results if spec is None else spec, level)}."
        for level, noun in (("class", "a class"), ("stereotype", "a list of stereotypes"), ("word", "a word"))
        if level in results.levels
    )
    scatter = table.groupby("connection", observed=True)["distance"].std().median()
    entries = {
        "Cosine distance": "How far apart two words lie in the vectors: 0 in the same direction, 1 unrelated, 2 "
        "opposite. Nearness shows that words are used alike. It is association; whether it does harm is a judgement "
        "that no number makes.",
        "Connection": "What a pair joins: "
        + "; ".join(f"{name} – {_KINDS[name]}" for name in present_connections(table))
        + ". Controls show how near words lie for no particular reason.",
        f"{as_percent(prob)} HPDI": f"The narrowest interval that holds the value with a probability of "
        f"{as_percent(prob)}, given the "
        "data and the model.",
        f"ROPE, ±{rope:g}": "The region of practical equivalence: differences that are taken to be too small to "
        "matter; set your own with rope (--rope). "
        + (
            f"Single pairs of one connection here scatter with a standard deviation of {scatter:.2f}."
            if math.isfinite(scatter)
            else ""
        ),
        "New words, these words": "“New words” (the population) is the mean over words and attributes like those listed: what "
        f"other lists would show on average.{of_levels} “These words” is the answer for this list and no other: the "
        "listed distances are known exactly, so that its width is the model’s noise.",
    }
    if outcome == "distance" and spec is not None and has_new_words(spec):
        entries["One new word"] = (
            "What a single word that is not on the list may show, on average over new attributes. Words scatter around "
            "the mean over new words, so that this is wider; the share above 0 is that of new words that are farther "
            "from the first of the two than from the second."
        )
    if "stereotype" in results.levels:
        entries["Class, list of stereotypes"] = (
            "Of a class: are its own stereotypes nearer to its words than other stereotypes are? Of a list: is it nearer to "
            "words of its own class than to words of other classes? A list that lies near to all words makes the first "
            "difference of its class, and not the second."
        )
    if outcome == "change":
        entries["Change"] = (
            "The distance after debiasing minus that before, of the same pair. Differences of single pairs are modelled, "
            "so that what both tables share cancels."
        )
        entries["By construction"] = (
            "What the method forces to come out, whatever the vectors were. It is no evidence that the method worked."
        )
    else:
        entries["P(below 0), the first is"] = (
            "Of a difference such as associated − different: the probability that the first of the two lies nearer, and "
            "what its interval says of it: nearer or farther where it leaves the ROPE, perhaps by little where it "
            "excludes zero alone, practically equal inside the ROPE, else unclear."
        )
    if outcome == "distance":
        convention = (
            ", half of what is by convention a small effect" if standard_rope == STANDARD_ROPE else ""
        )
        entries["Standard deviations, superiority"] = (
            "A difference over the standard deviation of single neutral pairs (without neutral controls, of the pairs that are "
            f"compared): the same scale on any vectors; less than {standard_rope:g} is practically none{convention}. Superiority "
            "is the probability that a random pair of the first connection is nearer than one of the second; 0.5 is chance."
        )
    entries["R-hat and effective draws"] = (
        "Whether the chains of the sampler agree, and how many independent draws theirs are worth."
    )
    entries["Monte Carlo error"] = (
        "How far the ends of an interval would move with another seed (mcse_low and mcse_high in the tables of the folder). "
        "Nothing is concluded from an end that lies within twice its error of a limit."
    )
    return labelled(entries)


def present_connections(table: pd.DataFrame) -> list[str]:
    """Return the connections that the table holds, in the order of all tables."""
    connections = set(map(str, table["connection"].unique()))
    return [name for name in CONNECTIONS if name in connections]
