"""The page on a single-category test. Sentences come from `findings.wefat`, numbers from the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bayesbias.columns.table import (
    Cell,
    Table,
    known_cell,
    known_interval_cell,
    number_cell,
    of_cells,
    page_table,
)
from bayesbias.columns.wefat import quantities, quantity_columns, target_columns
from bayesbias.core.digits import interval_known, number_known
from bayesbias.core.wording import as_percent, number_of
from bayesbias.findings.parts import Findings
from bayesbias.findings.trust import convergence
from bayesbias.findings.wefat import findings_of_wefat
from bayesbias.inference.estimands import PROB
from bayesbias.plots.wefat import plates
from bayesbias.report.again import (
    called,
    last_of_path,
    report_call,
    reproduction,
    sampler_settings as settings_of,
    vectors_call,
)
from bayesbias.report.parts import (
    Again,
    Answer,
    Data,
    Labelled,
    Model,
    Page,
    Part,
    Words,
    about_spec,
    how_sampled,
    labelled,
    not_trusted,
    parameters_part,
)
from bayesbias.report.pictures import Gallery, in_order
from bayesbias.report.texts import as_sentence
from bayesbias.scores.factual import SAMPLES
from bayesbias.studies.wefat import WefatResult
from bayesbias.wordlists.listfile import list_wordlists

_ENDS = 5  # covariates at which the line is shown


@dataclass(frozen=True, eq=False)
class _Study:
    """What the parts of the page are made of."""

    result: WefatResult
    findings: Findings
    figures: Gallery


def of_wefat(result: WefatResult, prob: float, command: Sequence[str] | None = None) -> Page:
    """Return the page on a single-category test, with intervals of some probability."""
    result = result.at(prob)
    study = _Study(result, findings_of_wefat(result), Gallery(plates(result)))
    known, (first, second) = result.published, result.sets
    return Page(
        kicker="A single-category test: associations and a covariate",
        title=f"{known.covariate}, {known.name}",
        question=f"Does the association of {result.n} targets with {first} rather than {second} words go with their "
        f"{known.covariate}: how closely, how steeply, and whose does not?",
        answer=_answer(study),
        data=_data(result),
        sections=in_order((_line, _targets), study, [study.figures]),
        models=[_model(result)],
        trust=_trust(study),
        again=_again(result, command),
        glossary=_glossary(result),
    )


def _answer(study: _Study) -> Answer:
    result, known = study.result, study.result.published
    true = result.true_correlation
    covariates = {
        "r of average scores, as published": f"{known.r:.4f}",
        "its p, by permutation": known.p_text(2),
    }
    if not study.findings.problems:
        covariates = {
            "r of true associations": number_known(true, "mean", 2),
            f"{as_percent(result.prob)} HPDI": interval_known(true, usual=2),
        } | covariates
    return Answer(
        [as_sentence(study.findings.headline)],
        warnings=not_trusted(study.findings.problems),
        covariates=labelled(covariates),
        sentences=study.findings.sentences,
    )


def _data(result: WefatResult) -> Data:
    known, (first, second) = result.published, result.sets
    sentences = [
        f"{number_of(result.n, 'target')} with {known.covariate}, and {len(known.a)} {first} and {len(known.b)} {second} words: "
        f"{len(result.fit.table):,} pairs. Each pair is one observation; nothing was averaged before the model saw it.",
        f"{known.covariate} is {result.center:.4g} on average, with a standard deviation of {result.scale:.4g}; it enters the "
        "model less the one and over the other.",
    ]
    rows = [
        [Cell(name), number_cell(len(found), 0), Cell(", ".join(missing) or "none")]
        for name, found, missing in (
            ("targets", known.scores, known.missing),
            (f"{first} and {second} words", (*known.a, *known.b), known.dropped),
        )
    ]
    table = of_cells("t-coverage", "Words found", ["words", "#found", "missing"], rows)
    words = [Words(first, known.a), Words(second, known.b), Words("targets", result.frame["target"].tolist())]
    return Data(sentences, [table], [as_sentence(note) for note in known.notes], words)


def _line(study: _Study) -> Part:
    result = study.result
    rows = quantities(result)
    tables = [
        page_table("t-quantities", "Correlations and slopes", quantity_columns(result.prob), rows),
        _predictions(result),
    ]
    figures = [*study.figures.take("covariate"), *study.figures.take("correlations")]
    sentences = [
        "Average scores hold the noise of single pairs and what the few words of the sets happen to do. The correlation of "
        "true associations is computed from the slope and the scatter of targets around the line, so that noise neither "
        "lowers nor raises it. It is of associations in cosine, and a published score is in standard deviations of its own "
        "target's cosines: where targets differ in these, the two correlations differ without any noise."
    ]
    return Part("The line", sentences, figures=figures, tables=tables)


def _predictions(result: WefatResult) -> Table:
    low, high = result.frame["covariate"].min(), result.frame["covariate"].max()
    at = result.predict([low + (high - low) * k / (_ENDS - 1) for k in range(_ENDS)])
    prob = f"{as_percent(result.prob)} HPDI"
    rows = [
        [
            Cell(f"{row.covariate:.4g}", True, repr(float(row.covariate))),
            known_cell(row, "line", signed=True),
            known_interval_cell(row, "line_low", "line_high", signed=True),
            known_interval_cell(row, signed=True),
        ]
        for row in at.itertuples()
    ]
    head = [f"#{result.published.covariate}", "#line", f"#line, {prob}", f"#a new target, {prob}"]
    return of_cells("t-line", "The association of a target with a given covariate", head, rows)


def _targets(study: _Study) -> Part:
    result = study.result
    columns = target_columns(result.published.covariate, result.prob)
    table = page_table("t-targets", "Every target", columns, result.frame.itertuples())
    return Part(
        "Every target",
        [
            "The association is with new words like those of the sets. Off the line is a target whose interval of the "
            "deviation excludes zero by more than twice its Monte Carlo error."
        ],
        tables=[table],
    )


def _model(result: WefatResult) -> Model:
    return about_spec(result.fit.spec, folded=[parameters_part(result.fit, result.prob)])


def _trust(study: _Study) -> Part:
    fit = study.result.fit
    sentences = [as_sentence(text) for text in study.findings.problems] or [study.findings.trust]
    return Part(sentences=[*sentences, convergence(fit), how_sampled(fit)])


def _again(result: WefatResult, command: Sequence[str] | None) -> Again:
    about, known = dict(result.provenance), result.published
    notes: list[str] = []
    sets = about.get("wordlist", {}).get("name", "wefat")
    if sets not in list_wordlists():
        notes.append(f"The word list {sets} is your own: the file whose hash is given below.")
        sets = about.get("wordlist", {}).get("file", f"{sets}.toml")
    covariates = about.get("covariates", {}).get(known.covariate, {})
    if not covariates.get("sha256"):
        notes.append("The covariates came from memory: save them as a file with a column word first.")
    source = last_of_path(covariates["source"]) if covariates.get("sha256") else "covariates.csv"
    vectors = vectors_call(about.get("embedding", {}))
    samples = None if known.samples in (None, SAMPLES) else known.samples
    settings = {
        "classes": about.get("wordlist", {}).get("classes"),
        "prob": None if result.prob == PROB else result.prob,
        "samples": samples,
        **settings_of(result.fit.provenance),
    }
    lines = [
        f"found = {called('wefat', vectors, sets, source, known.covariate, **settings)}",
        report_call("found", result.prob, rope=0.0).replace(", rope=0.0", ""),
    ]
    return reproduction(lines, command, result.fit.spec, result.fit.provenance, {"": about}, notes)


def _glossary(result: WefatResult) -> list[Labelled]:
    first, second = result.sets
    return labelled(
        {
            "Association": f"The cosine of a target with {first} words less that with {second} words: above zero it lies nearer "
            f"to {first}. It is association; whether it does harm is a judgement that no number makes.",
            "Published score": "The same over the standard deviation of the target's cosines (Caliskan, Bryson and Narayanan "
            "2017), an average over the words of the sets.",
            "True association": "What the average would be with ever more words of the sets, without the noise of single pairs.",
            f"{as_percent(result.prob)} HPDI": f"The narrowest interval that holds the value with a probability of "
            f"{as_percent(result.prob)}, "
            "given the data and the model.",
            "Fisher's z": "The usual interval of a correlation. It takes the scores for exact and knows of the targets alone.",
            "Off the line": "A target whose association is not what its covariate makes one expect.",
        }
    )
