"""The page on a fit to sentiment. Sentences come from `findings.sentiment`, numbers from the draws."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from bayesbias.basics.wording import interval_text, number_of, signed_text
from bayesbias.figures.sentiment import plates
from bayesbias.findings.parts import Findings
from bayesbias.findings.sentiment import findings_of_sentiment
from bayesbias.findings.trust import AGREED, convergence
from bayesbias.inference.estimands import ROPE
from bayesbias.inference.posterior import BiasFit
from bayesbias.report.again import (
    Code,
    called,
    last_of_path,
    model_name,
    report_call,
    reproduction,
    sampler_settings,
)
from bayesbias.report.columns import Cell, Table, as_sentence
from bayesbias.report.parts import (
    Gallery,
    Part,
    Picture,
    about_spec,
    how_sampled,
    look_again,
    more_figures,
    not_trusted,
    parameters_part,
)
from bayesbias.report.sentiment_tables import (
    classifiers_table,
    contrasts_table,
    control_table,
    earnings_table,
    level_table,
    overall_table,
    p_text,
    shares_table,
    tests_table,
)
from bayesbias.studies.sentiment import SentimentAnalysis
from bayesbias.studies.sentiment_fit import analysis_of, contrasts_or_why_not

__all__ = ["of_sentiment"]


def of_sentiment(fit: BiasFit, prob: float, command: Sequence[str] | None = None) -> dict[str, Any]:
    """Return what the page of a report on a fit of sentiment holds."""
    analysis = analysis_of(fit)
    names = analysis.classifiers
    found = findings_of_sentiment(fit, prob)
    sentences = [text for part in found.parts for text in (*part.premises, *part.sentences)]
    tests = tests_table(analysis)
    of_all, alone = _galleries(fit, names, prob)
    sections, trust = _sections(analysis, fit, prob, alone), _trust(fit, found, of_all)
    return {
        "kicker": "Sentiment of sentences about women and men, pair by pair",
        "title": str(fit.provenance.get("table", {}).get("name", "Sentiment")),
        "question": "Are sentences about women and about men in the same professions rated alike, and does the answer hold for "
        "more than these sentences?",
        "warnings": not_trusted(found.problems),
        "answer": [f"{part.subject}. {part.headline}" for part in found.parts],
        "doubts": look_again(found.doubts),
        "facts": _facts(analysis, fit, prob) if len(names) == 1 else [],
        "answer_tables": [tests] if len(names) == 1 else [classifiers_table(analysis, fit, prob), tests],
        "sentences": [*sentences, *found.sentences],
        "data": _data(analysis, fit),
        "sections": [*sections, *more_figures([p for gallery in (of_all, *alone) for p in gallery.rest()])],
        "models": [about_spec(fit.spec, "") | {"folded": [parameters_part(fit, prob)]}],
        "trust": trust,
        "again": _again(analysis, fit, prob, command),
        "glossary": _glossary(fit, prob),
    }


def _galleries(fit: BiasFit, names: Sequence[str], prob: float) -> tuple[Gallery, list[Gallery]]:
    """Return the figures that are about all classifiers, and those of each classifier alone, which suit a page better."""
    alone = [plates(fit, prob, classifier=name) for name in names]
    each = {plate.name for listed in alone for plate in listed}
    of_all = Gallery(plate for plate in plates(fit, prob) if plate.name not in each)
    return of_all, [Gallery(listed, f"-{number}") for number, listed in enumerate(alone, 1)]


def _facts(analysis: SentimentAnalysis, fit: BiasFit, prob: float) -> list[dict[str, str]]:
    said = analysis.as_dict()
    pairs = next(row for row in said["units"] if row["unit"] == "noun_pair")
    facts = [
        {"label": "female − male, in probability", "value": signed_text(said["f_minus_m"])},
        {"label": f"p of the t-test over {said['n']} sentence pairs", "value": p_text(said["p_value"])},
        {"label": f"p over {pairs['n']} noun pairs", "value": p_text(pairs["p_value"])},
    ]
    if fit.diagnostics()["ok"]:
        row = fit.summary(prob).iloc[0]
        facts.append(
            {
                "label": f"{prob:.0%} HPDI for new nouns and professions"
                + (", log odds" if fit.spec.outcome == "logit_difference" else ""),
                "value": interval_text(row["hpdi_low"], row["hpdi_high"], signed=True),
            }
        )
    return facts


def _sections(
    analysis: SentimentAnalysis, fit: BiasFit, prob: float, galleries: Sequence[Gallery]
) -> list[Part]:

    def each(figure: str) -> list[Picture]:
        return [picture for gallery in galleries for picture in gallery.take(figure)]

    parts = [
        Part("Overall", tables=[overall_table(fit, prob), shares_table(fit, prob)]),
        Part(
            "Noun pairs", figures=each("noun_pairs"), tables=[level_table(analysis, fit, "noun_pair", prob)]
        ),
        Part(
            "Professions",
            figures=each("professions"),
            tables=[level_table(analysis, fit, "profession", prob)],
            folded=[Part("Male against female, drawn", figures=each("genders"))],
        ),
    ]
    if len(analysis.classifiers) > 1:
        frame, _ = contrasts_or_why_not(fit, prob)
        if frame is not None:
            parts.append(Part("The classifiers against each other", tables=[contrasts_table(frame, prob)]))
    if len(analysis.control):
        parts.append(Part("Control experiment", tables=[control_table(analysis.control)]))
    if len(analysis.earnings):
        parts.append(
            Part(
                "Earnings and sentiment", figures=each("earnings"), tables=[earnings_table(analysis.earnings)]
            )
        )
    else:
        for gallery in galleries:
            gallery.leave_out("earnings")
    return parts


def _data(analysis: SentimentAnalysis, fit: BiasFit) -> dict[str, Any]:
    table, names = fit.table, analysis.classifiers
    n = len(table) // max(1, len(names))
    pairs, professions = (list(dict.fromkeys(table[c].astype(str))) for c in ("noun_pair", "profession"))
    sentences = [
        f"{n:,} pairs of sentences, each of one noun pair and one profession: {number_of(len(pairs), 'noun pair')} and "
        f"{number_of(len(professions), 'profession')}, predicted by {number_of(len(names), 'classifier')} ({', '.join(names)}). "
        "The two sentences of a pair differ in gender alone; the difference female − male of their probabilities of "
        "the positive class is one observation."
    ]
    if not len(analysis.control):
        sentences.append("There are no predictions for control sentences.")
    about = analysis.provenance
    rows = [
        [Cell(name), Cell(str(of.get("kind", "not known"))), Cell(_told_of_classifier(of))]
        for name, of in about.get("classifiers", {}).items()
    ]
    tables = []
    if rows:
        head = ["classifier", "is", "what is known of it"]
        tables.append(Table("t-origin", "Where the predictions come from", head, rows))
    words = [{"title": "Noun pairs", "words": pairs}]
    for category in dict.fromkeys(table["category"].astype(str)):
        found = dict.fromkeys(table.loc[table["category"].astype(str) == category, "profession"].astype(str))
        words.append({"title": f"Professions: {category}", "words": list(found)})
    return {
        "sentences": sentences,
        "tables": tables,
        "notes": [as_sentence(note) for note in analysis.notes],
        "words": words,
    }


def _told_of_classifier(about: dict[str, Any]) -> str:
    shown = {
        k: v for k, v in about.items() if k not in ("kind", "sha256") and isinstance(v, str | int | float)
    }
    return "; ".join(f"{k.replace('_', ' ')}: {v}" for k, v in shown.items()) or "nothing"


def _trust(fit: BiasFit, found: Findings, figures: Gallery) -> Part:
    sentences = [as_sentence(text) for text in found.problems] or [AGREED]
    sentences += [convergence(fit), how_sampled(fit)]
    sentences += [doubt.line for doubt in found.doubts]
    return Part(
        sentences=sentences,
        folded=[Part("Would the model make such data?", figures=figures.take("predictive"))],
    )


def _again(
    analysis: SentimentAnalysis, fit: BiasFit, prob: float, command: Sequence[str] | None
) -> dict[str, Any]:
    about = analysis.provenance
    notes: list[str] = []
    words = about.get("occupations", {})
    file = words.get("file") or "words.toml"
    listed = None if not words or file == "occupations.toml" else file
    inputs: dict[str, Any] = {}
    made, from_memory = [], False
    for name in analysis.classifiers:
        of = about.get("classifiers", {}).get(name, {})
        kind = str(of.get("kind", ""))
        source = str(of.get("file") or of.get("source") or of.get("folder") or f"{name}.csv")
        is_file = kind in ("", "predictions", "callable") or not {"file", "source", "folder"} & set(of)
        if "shipped" in of and of["shipped"] == name:
            made.append(called("shipped_predictions", name))
        elif is_file:
            made.append(called("read_predictions", last_of_path(source), listed, name=name))
        else:
            scheme = "transformers:" if kind == "Hugging Face model" else "joblib:" if "file" in of else ""
            positive = str(of["positive"]) if scheme and of.get("positive") is not None else None
            pickled = True if scheme == "joblib:" else None
            loaded = called(
                "load_classifier", f"{scheme}{source}", name=name, positive=positive, allow_pickle=pickled
            )
            made.append(called("predict", *([Code(loaded)] if listed is None else [Code(loaded), listed])))
        from_memory = from_memory or (is_file and kind in ("", "callable"))
        if "sha256" in of:
            key = re.sub(r"\s+", " ", name)
            inputs[key] = {"sha256": of["sha256"], "source": source, "noun": kind or "predictions"}
    if from_memory:
        notes.append(
            "Predictions that came from memory have to be saved to a file first (`Predictions.save`)."
        )
    if words:
        inputs["sentences"] = {"sha256": words["sha256"], "source": words["name"], "noun": "list"}
    several = about["hypotheses"] if about["hypotheses"] != len(analysis.classifiers) else None
    settings = sampler_settings(fit.provenance)
    lines = [
        f"analysis = {called('published_analysis', *map(Code, made), hypotheses=several)}",
        f"fit = {called('fit', Code('analysis.table'), model_name(fit.spec, notes), **settings)}",
        report_call("bb.studies.with_analysis(fit, analysis)", prob, ROPE),
    ]
    return reproduction(lines, command, fit.spec, fit.provenance, inputs, notes)


def _glossary(fit: BiasFit, prob: float) -> list[dict[str, str]]:
    entries = {
        "Sentiment": "The probability that a classifier gives to the positive class, here of sentences that only say "
        "what somebody is. A difference shows that the classifier treats words differently; what harm that does "
        "depends on what it is used for.",
        "Female − male": "The probability of the female sentence minus that of the male one. The t of the published "
        "tests has the other sign, male − female.",
        "Noun pair": "The two nouns that make the sentences of a pair differ, such as My father / My mother. Each meets "
        "every profession, so its luck is in as many sentence pairs as there are professions.",
        f"{prob:.0%} HPDI": f"The narrowest interval that holds the value with a probability of {prob:.0%}, given the "
        "data and the model.",
        "Holds for": "New nouns and professions: for sentences like these made of other words. These sentences alone: for "
        "this list and no other, which is surer because it claims less.",
        "R-hat and effective draws": "Whether the chains of the sampler agree, and how many independent draws theirs are "
        "worth.",
    }
    if fit.spec.outcome == "logit_difference":
        entries["Log odds"] = (
            "The logarithm of the probability of the positive class over that of the negative one. It gives "
            "differences near 0 and 1 as much weight as those in the middle, where probabilities can move farther."
        )
    return [{"label": label, "value": text} for label, text in entries.items()]
