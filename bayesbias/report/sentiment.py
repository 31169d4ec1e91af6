"""The page on a fit to sentiment. Sentences come from `findings.sentiment`, numbers from the draws."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bayesbias.columns.slopes import SLOPES_SAID, slopes_on_page
from bayesbias.columns.table import Cell, of_cells, p_text
from bayesbias.core.digits import interval_known
from bayesbias.core.wording import as_percent, number_of, signed_text
from bayesbias.findings.parts import Findings
from bayesbias.findings.sentiment import findings_of_sentiment, headline_of
from bayesbias.findings.trust import agreed, convergence
from bayesbias.inference.estimands import ROPE
from bayesbias.inference.posterior import BiasFit
from bayesbias.plots.sentiment import plates
from bayesbias.report.again import (
    Code,
    called,
    files_of_covariates,
    last_of_path,
    model_name,
    model_of,
    report_call,
    reproduction,
    sampler_settings,
)
from bayesbias.report.parts import (
    Again,
    Answer,
    Data,
    Labelled,
    Page,
    Part,
    Picture,
    Words,
    how_sampled,
    labelled,
    look_again,
    not_trusted,
)
from bayesbias.report.pictures import Gallery, in_order
from bayesbias.report.sections import covariate_table, model_part
from bayesbias.report.sentiment_tables import (
    classifiers_table,
    contrasts_table,
    control_table,
    earnings_table,
    level_table,
    overall_table,
    shares_table,
    tests_table,
)
from bayesbias.report.texts import as_sentence
from bayesbias.studies.sentiment import SentimentAnalysis
from bayesbias.studies.sentiment_fit import analysis_of, contrasts_or_why_not, settings_of_analysis

__all__ = ["of_sentiment"]


@dataclass(frozen=True, eq=False)
class _Study:
    """What the parts of the page are made of."""

    analysis: SentimentAnalysis
    fit: BiasFit
    prob: float
    findings: Findings
    of_all: Gallery  # figures about all classifiers
    alone: Sequence[Gallery]  # those of each classifier

    def each(self, figure: str) -> list[Picture]:
        """Return a figure of every classifier."""
        return [picture for gallery in self.alone for picture in gallery.take(figure)]


def of_sentiment(fit: BiasFit, prob: float, command: Sequence[str] | None = None) -> Page:
    """Return the page on a fit of sentiment."""
    analysis = analysis_of(fit)
    of_all, alone = _galleries(fit, analysis.classifiers, prob)
    study = _Study(analysis, fit, prob, findings_of_sentiment(fit, prob), of_all, alone)
    trust = _trust(study)
    return Page(
        kicker="Sentiment of sentences about women and men, pair by pair",
        title=str(fit.provenance.get("table", {}).get("name", "Sentiment")),
        question="Are sentences about women and about men in the same professions rated alike, and does the answer hold for "
        "more than these sentences?",
        answer=_answer(study),
        data=_data(analysis, fit),
        sections=in_order(_SECTIONS, study, [of_all, *alone]),
        models=[model_part(fit, prob)],
        trust=trust,
        again=_again(analysis, fit, prob, command),
        glossary=_glossary(fit, prob),
    )


def _answer(study: _Study) -> Answer:
    analysis, fit, findings = study.analysis, study.fit, study.findings
    several, tests = len(analysis.classifiers) > 1, tests_table(analysis)
    return Answer(
        [headline_of(part) for part in findings.parts],
        warnings=not_trusted(findings.problems),
        covariates=[] if several else _covariates(analysis, fit, study.prob),
        doubts=look_again(findings.doubts),
        tables=[classifiers_table(analysis, fit, study.prob), tests] if several else [tests],
        sentences=[
            *(text for part in findings.parts for text in (*part.premises, *_named(part, several))),
            *findings.sentences,
        ],
    )


def _named(part: Findings, several: bool) -> list[str]:
    """Return the sentences of a part; beside those of other classifiers each says whose it is."""
    if not several:
        return list(part.sentences)
    return [f"{part.subject}: {text[:1].lower()}{text[1:]}" for text in part.sentences]


def _galleries(fit: BiasFit, names: Sequence[str], prob: float) -> tuple[Gallery, list[Gallery]]:
    """Return the figures that are about all classifiers, and those of each classifier alone, which suit a page better."""
    alone = [plates(fit, prob, classifier=name) for name in names]
    each = {plate.name for listed in alone for plate in listed}
    of_all = Gallery(plate for plate in plates(fit, prob) if plate.name not in each)
    return of_all, [Gallery(listed, f"-{number}") for number, listed in enumerate(alone, 1)]


def _covariates(analysis: SentimentAnalysis, fit: BiasFit, prob: float) -> list[Labelled]:
    numbers = analysis.as_dict()
    pairs = next(row for row in numbers["units"] if row["unit"] == "noun_pair")
    covariates = [
        Labelled("female − male, in probability", signed_text(numbers["f_minus_m"])),
        Labelled(f"p of the t-test over {numbers['n']} sentence pairs", p_text(numbers["p_value"])),
        Labelled(f"p over {pairs['n']} noun pairs", p_text(pairs["p_value"])),
    ]
    if fit.diagnostics()["ok"]:
        row = fit.summary(prob).iloc[0]
        scale = ", log odds" if fit.spec.outcome == "logit_difference" else ""
        interval = interval_known(row, signed=True)
        covariates.append(Labelled(f"{as_percent(prob)} HPDI for new nouns and professions{scale}", interval))
    return covariates


def _overall(study: _Study) -> Part:
    fit, prob = study.fit, study.prob
    return Part("Overall", tables=[overall_table(fit, prob), shares_table(fit, prob)])


def _noun_pairs(study: _Study) -> Part:
    table = level_table(study.analysis, study.fit, "noun_pair", study.prob)
    return Part("Noun pairs", figures=study.each("noun_pairs"), tables=[table])


def _professions(study: _Study) -> Part:
    table = level_table(study.analysis, study.fit, "profession", study.prob)
    genders = Part("Male against female, drawn", figures=study.each("genders"))
    return Part("Professions", figures=study.each("professions"), tables=[table], folded=[genders])


def _against_each_other(study: _Study) -> Part | None:
    if len(study.analysis.classifiers) < 2:
        return None
    frame, _ = contrasts_or_why_not(study.fit, study.prob)
    if frame is None:
        return None
    return Part("The classifiers against each other", tables=[contrasts_table(frame, study.prob)])


def _control(study: _Study) -> Part | None:
    control = study.analysis.control
    return Part("Control experiment", tables=[control_table(control)]) if len(control) else None


def _earnings(study: _Study) -> Part | None:
    earnings = study.analysis.earnings
    if not len(earnings):
        for gallery in study.alone:
            gallery.leave_out("earnings")
        return None
    return Part("Earnings and sentiment", figures=study.each("earnings"), tables=[earnings_table(earnings)])


def _slopes(study: _Study) -> Part | None:
    if not study.fit.spec.covariates():
        return None
    table, each = slopes_on_page(study.fit.slopes(study.prob), study.prob, "Slopes")
    folded = [Part("Slopes of each noun pair or profession", tables=[each])] if each else []
    figures = study.of_all.take("slopes")
    return Part("Covariates about professions", [SLOPES_SAID], figures=figures, tables=[table], folded=folded)


# The sections of the page, in order.
_SECTIONS = (_overall, _noun_pairs, _professions, _slopes, _against_each_other, _control, _earnings)


def _data(analysis: SentimentAnalysis, fit: BiasFit) -> Data:
    table, names = fit.table, analysis.classifiers
    n = len(table) // max(1, len(names))
    pairs, professions = (
        list(dict.fromkeys(map(str, table[c].unique()))) for c in ("noun_pair", "profession")
    )
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
        tables.append(of_cells("t-origin", "Where the predictions come from", head, rows))
    if covariates := fit.provenance.get("coverage", {}).get("covariates"):
        tables.append(covariate_table(covariates))
    words = [Words("Noun pairs", pairs)]
    for category in dict.fromkeys(map(str, table["category"].unique())):
        of_category = dict.fromkeys(
            table.loc[table["category"].astype(str) == category, "profession"].astype(str)
        )
        words.append(Words(f"Professions: {category}", list(of_category)))
    return Data(sentences, tables, [as_sentence(note) for note in analysis.notes], words)


def _told_of_classifier(about: dict[str, Any]) -> str:
    shown = {
        k: model_of(v) if k == "source" and isinstance(v, str) else v
        for k, v in about.items()
        if k not in ("kind", "sha256") and isinstance(v, str | int | float)
    }
    return "; ".join(f"{k.replace('_', ' ')}: {v}" for k, v in shown.items()) or "nothing"


def _trust(study: _Study) -> Part:
    fit, findings = study.fit, study.findings
    sentences = [as_sentence(text) for text in findings.problems] or [agreed(fit)]
    sentences += [convergence(fit), how_sampled(fit)]
    sentences += [doubt.line for doubt in findings.doubts]
    predicted = Part("Would the model make such data?", figures=study.of_all.take("predictive"))
    return Part(sentences=sentences, folded=[predicted])


def _again(analysis: SentimentAnalysis, fit: BiasFit, prob: float, command: Sequence[str] | None) -> Again:
    about = analysis.provenance
    notes: list[str] = []
    words = about.get("occupations", {})
    file = words.get("file") or "words.toml"
    listed = None if not words or file == "occupations.toml" else file
    inputs: dict[str, Any] = {}
    predictions, from_memory = [], False
    for name in analysis.classifiers:
        of = about.get("classifiers", {}).get(name, {})
        kind = str(of.get("kind", ""))
        source = model_of(str(of.get("file") or of.get("source") or of.get("folder") or f"{name}.csv"))
        is_file = kind in ("", "predictions", "callable") or not {"file", "source", "folder"} & set(of)
        if "shipped" in of and of["shipped"] == name:
            predictions.append(called("list_predictions", name))
        elif is_file:
            predictions.append(called("load_predictions", last_of_path(source), listed, name=name))
        else:
            scheme = "transformers:" if kind == "Hugging Face model" else "joblib:" if "file" in of else ""
            positive = str(of["positive"]) if scheme and of.get("positive") is not None else None
            pickled = True if scheme == "joblib:" else None
            loaded = called(
                "load_classifier", f"{scheme}{source}", name=name, positive=positive, allow_pickle=pickled
            )
            predictions.append(
                called("predict", *([Code(loaded)] if listed is None else [Code(loaded), listed]))
            )
        from_memory = from_memory or (is_file and kind in ("", "callable"))
        if "sha256" in of:
            key = re.sub(r"\s+", " ", name)
            inputs[key] = {"sha256": of["sha256"], "source": source, "noun": kind or "predictions"}
    if from_memory:
        notes.append("Predictions that came from memory have to be saved to a file first (Predictions.save).")
    if words:
        inputs["sentences"] = {"sha256": words["sha256"], "source": words["name"], "noun": "list"}
    several = about["hypotheses"] if about["hypotheses"] != len(analysis.classifiers) else None
    settings = sampler_settings(fit.provenance)
    asked = settings_of_analysis(about)
    table, joined = "analysis.table", _joined(fit, predictions, asked.get("clip"), inputs, notes)
    if joined:
        table = "table"
    lines = [
        f"analysis = {called('sentiment_analysis', *map(Code, predictions), hypotheses=several, **asked)}",
        *joined,
        f"fit = {called('fit', Code(table), model_name(fit.spec, notes), **settings)}",
        report_call("bb.studies.with_analysis(fit, analysis)", prob, ROPE),
    ]
    return reproduction(lines, command, fit.spec, fit.provenance, inputs, notes)


def _joined(
    fit: BiasFit, predictions: Sequence[str], clip: float | None, inputs: dict[str, Any], notes: list[str]
) -> list[str]:
    """Return the line that makes the table with covariates, and put their files among the inputs; none for a model without."""
    if not fit.spec.covariates():
        return []
    about = fit.provenance.get("table", {}).get("covariates", {})
    files, remarks = files_of_covariates({name: about.get(name, {}) for name in fit.spec.covariates()})
    notes += remarks
    inputs |= {
        last_of_path(of["source"]): {
            "sha256": of["sha256"],
            "source": last_of_path(of["source"]),
            "noun": "covariates",
        }
        for of in about.values()
        if of.get("sha256")
    }
    return [f"table = {called('sentiment_table', *map(Code, predictions), clip=clip, covariates=files)}"]


def _glossary(fit: BiasFit, prob: float) -> list[Labelled]:
    entries = {
        "Sentiment": "The probability that a classifier gives to the positive class, here of sentences that only say "
        "what somebody is. A difference shows that the classifier treats words differently; what harm that does "
        "depends on what it is used for.",
        "Female − male": "The probability of the female sentence minus that of the male one. The t of the published "
        "tests has the other sign, male − female.",
        "Noun pair": "The two nouns that make the sentences of a pair differ, such as My father / My mother. Each meets "
        "every profession, so its luck is in as many sentence pairs as there are professions.",
        f"{as_percent(prob)} HPDI": f"The narrowest interval that holds the value with a probability of "
        f"{as_percent(prob)}, given the "
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
    return labelled(entries)
