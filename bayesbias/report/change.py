"""The page on a comparison of original and debiased vectors. Sentences come from `findings.change`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bayesbias.basics.wording import interval_text, signed_text, with_minus
from bayesbias.figures.change import plates
from bayesbias.findings.change import findings_of_change
from bayesbias.findings.parts import Findings
from bayesbias.findings.trust import convergence
from bayesbias.inference.estimands import CONTRASTS
from bayesbias.models.loading import load_model
from bayesbias.report.again import (
    Code,
    called,
    model_name,
    report_call,
    reproduction,
    sampler_settings,
    table_call,
)
from bayesbias.report.columns import (
    Cell,
    Table,
    as_sentence,
    interval_cell,
    number_cell,
    probability_cell,
    scientific_cell,
)
from bayesbias.report.parts import Gallery, Part, more_figures, not_trusted
from bayesbias.report.sections import (
    at_level,
    data_part,
    glossary_of,
    holds_for,
    model_part,
    present_connections,
)
from bayesbias.studies.comparison import Comparison, Method

if TYPE_CHECKING:
    import pandas as pd

_OF_INTEREST = "associated - different"


def of_comparison(
    run: Comparison, prob: float, rope: float, command: Sequence[str] | None = None
) -> dict[str, Any]:
    """Gather what the page on debiased against original prints."""
    several = len(run.methods) > 1
    found = findings_of_change(run, prob, rope)
    warnings = not_trusted([f"fit of {text}" for text in found.problems])
    answer: list[str] = []
    sentences: list[str] = []
    notes: list[str] = []
    for part in found.parts:
        if run.methods[part.subject].construction.found:
            warnings.append(
                {
                    "title": f"{part.lead}read this first, some of the result could not have come out otherwise"
                    if several
                    else "Read this first: some of the result could not have come out otherwise",
                    "sentences": [as_sentence(text) for text in part.premises],
                }
            )
        else:
            sentences += [as_sentence(text, part.lead) for text in part.premises]
        notes += [as_sentence(text, part.lead) for text in part.notes]
        answer.append(as_sentence(part.headline, part.lead))
        sentences += [as_sentence(text, part.lead) for text in part.sentences]
    sentences += found.sentences
    first = next(iter(run.methods.values()))
    facts = [] if several else _change_facts(run, first, prob, rope)
    data = data_part(first.pairs, run.original.provenance.get("coverage", {}))
    data["notes"] = [*data["notes"], *notes]
    data["tables"].append(_raw_means(run))
    return {
        "kicker": "Original against debiased, pair by pair",
        "title": f"{run.provenance['original']}, debiased",
        "question": "Did debiasing close the gap between the stereotypes of a word's own class and those of other "
        "classes: for whom, by how much, and at what price to words that nobody meant to treat?",
        "warnings": warnings,
        "answer": answer,
        "doubts": [],
        "facts": facts,
        "answer_tables": [_methods_table(run, prob, rope)] if several else [],
        "sentences": sentences,
        "data": data,
        "sections": _comparison_sections(run, prob, rope),
        "models": _models_of(run, prob),
        "trust": _trust_of_comparison(run, found),
        "again": _again_comparison(run, prob, rope, command),
        "glossary": glossary_of(run.original.table, "change", prob, rope),
    }


def _gap(run: Comparison, name: str, prob: float, rope: float) -> Any:
    """Return the row of the first overall contrast of a method, or None where there is none."""
    present = present_connections(run.methods[name].pairs)
    if not any(a in present and b in present for a, b in CONTRASTS):
        return None
    frame = run.contrasts(prob, rope, "population", name)
    return next(iter(frame[frame["level"] == "overall"].itertuples()))


def _change_facts(run: Comparison, item: Method, prob: float, rope: float) -> list[dict[str, str]]:
    row = _gap(run, item.name, prob, rope)
    rms = item.control_rms
    facts = []
    if row is not None:
        facts = [
            {"label": f"{with_minus(row.contrast)}, before", "value": signed_text(row.before)},
            {"label": f"{with_minus(row.contrast)}, after", "value": signed_text(row.after)},
            {
                "label": f"change, {prob:.0%} HPDI",
                "value": interval_text(row.hpdi_low, row.hpdi_high, signed=True),
            },
        ]
    if rms is not None:
        facts.append({"label": "pairs with control words moved by (root mean square)", "value": f"{rms:.3f}"})
    return facts


def _methods_table(run: Comparison, prob: float, rope: float) -> Table:
    rows = []
    contrast = _OF_INTEREST
    for rank, name in enumerate(run.provenance["order"], 1):
        row = _gap(run, name, prob, rope)
        cells = [Cell(name), number_cell(rank, 0)]
        if row is None:
            cells += [number_cell(None)] * 4 + [Cell("no two connections to compare")]
        else:
            contrast = row.contrast
            forced = ", by construction" if row.by_construction else ""
            cells += [
                number_cell(row.before, signed=True),
                number_cell(row.after, signed=True),
                interval_cell(row.after_low, row.after_high, signed=True),
                number_cell(row.mean, signed=True),
                Cell(f"{row.verdict_after}{forced}"),
            ]
        rows.append([*cells, number_cell(run.methods[name].control_rms)])
    head = [
        "method",
        "#rank",
        "#gap before",
        "#gap after",
        f"#after, {prob:.0%} HPDI",
        "#change",
        "what is left",
        "#controls moved by",
    ]
    return Table(
        "t-methods",
        f"The methods, by what they leave of {with_minus(contrast)}",
        head,
        rows,
        "Controls moved by: root mean square change of the pairs with control words, the price of the method.",
    )


def _raw_means(run: Comparison) -> Table:
    head = ["connection", "method", "#pairs", "#before"]
    rows = [
        [
            Cell(str(r.connection)),
            Cell(name),
            number_cell(r.n_pairs, 0),
            number_cell(r.before, 4),
            number_cell(r.after, 4),
        ]
        for name, item in run.methods.items()
        for r in item.construction.means.itertuples()
    ]
    return Table("t-raw", "Raw mean distances, without a model", [*head, "#after"], rows)


def _comparison_sections(run: Comparison, prob: float, rope: float) -> list[Part]:
    figures = Gallery(plates(run, prob, rope))
    sections = []
    if len(run.methods) > 1 and {"associated", "different"} <= set(present_connections(run.original.table)):
        sections.append(Part("The methods, ranked", figures=figures.take("ranking")))
    figures.leave_out("ranking")
    for number, name in enumerate(run.methods, 1):
        sections.append(_method_section(run, name, number, prob, rope, figures))
    return [*sections, *more_figures(figures.rest())]


def _method_section(
    run: Comparison, name: str, number: int, prob: float, rope: float, figures: Gallery
) -> Part:
    item = run.methods[name]
    tag, stem = f"m{number}", f"_{number}" if len(run.methods) > 1 else ""
    changes = run.changes(prob, rope, method=name)
    contrasts = run.contrasts(prob, rope, method=name) if _gap(run, name, prob, rope) is not None else None

    def gaps(level: str) -> list[Table]:
        if contrasts is None:
            return []
        return [_gap_table(f"t-gap-{level}-{tag}", at_level(contrasts, level), level, prob)]

    def change(level: str) -> Table:
        return _change_table(f"t-change-{level}-{tag}", at_level(changes, level), level, prob)

    folded = [
        Part("Every pair, before and after", figures=figures.take(f"pairs{stem}")),
        Part("Changes and gaps per class", tables=[*gaps("class"), change("class")]),
        Part("Changes and gaps per word", tables=[*gaps("word"), change("word")]),
    ]
    built = _construction_tables(item, tag)
    if built:
        folded.insert(0, Part("What the method forces, and drift of the control words", tables=built))
    title = f"{name} against the original"
    moved = figures.take(f"changes{stem}")
    return Part(title, figures=moved, tables=[*gaps("overall"), change("overall")], folded=folded)


def _gap_table(id_: str, frame: pd.DataFrame, level: str, prob: float) -> Table:
    of = level != "overall"
    head = [level] if of else []
    head += [
        "gap",
        "holds for",
        "#before",
        "#change",
        f"#change, {prob:.0%} HPDI",
        "the change",
        "#after",
        "what is left",
    ]
    rows = []
    for r in frame.itertuples():
        row = [Cell(str(r.name))] if of else []
        row += [
            Cell(with_minus(r.contrast)),
            Cell(holds_for(r.estimand, of)),
            number_cell(r.before, signed=True),
        ]
        row += [number_cell(r.mean, signed=True), interval_cell(r.hpdi_low, r.hpdi_high, signed=True)]
        forced = ", by construction" if r.by_construction else ""
        row += [Cell(r.verdict), number_cell(r.after, signed=True), Cell(f"{r.verdict_after}{forced}")]
        rows.append(row)
    caption = "Gaps between connections" + (f", per protected {level}" if of else "")
    return Table(id_, caption, head, rows)


def _change_table(id_: str, frame: pd.DataFrame, level: str, prob: float) -> Table:
    of = level != "overall"
    head = [level] if of else []
    head += [
        "connection",
        "holds for",
        "#change",
        f"#{prob:.0%} HPDI",
        "#P(below 0)",
        "#pairs",
        "what it means",
    ]
    rows = []
    for r in frame.itertuples():
        row = [Cell(str(r.name))] if of else []
        row += [Cell(str(r.connection)), Cell(holds_for(r.estimand, of)), number_cell(r.mean, signed=True)]
        row += [
            interval_cell(r.hpdi_low, r.hpdi_high, signed=True),
            probability_cell(r.p_below_zero),
            number_cell(r.n_pairs, 0),
        ]
        rows.append([*row, Cell(r.verdict + (" (known exactly)" if r.exact else ""))])
    caption = "Change of the mean distance (debiased minus original)" + (
        f", per protected {level}" if of else ""
    )
    return Table(id_, caption, head, rows)


def _construction_tables(item: Method, tag: str) -> list[Table]:
    found = item.construction
    tables = []
    if len(found.sets):
        head = [
            "set of words",
            "#one distance to",
            "#largest gap before",
            "#after",
            "#gap to controls before",
            "#after",
        ]
        rows = [
            [
                Cell(", ".join(map(str, r.words))),
                Cell(f"{r.n_equal} of {r.n_attributes}", True, repr(int(r.n_equal))),
                number_cell(r.gap_before),
                scientific_cell(r.gap_after),
                number_cell(r.control_gap_before),
                number_cell(r.control_gap_after),
            ]
            for r in found.sets.itertuples()
        ]
        tables.append(
            Table(
                f"t-sets-{tag}",
                "Sets of words to which stereotypes have one distance",
                head,
                rows,
                "One distance to: how many stereotypes have, after the method, the same distance to all words of the set.",
            )
        )
    if len(found.controls):
        head = [
            "protected word",
            "class",
            "controls",
            "#mean change",
            "#root mean square",
            "#largest",
            "with",
        ]
        rows = [
            [
                Cell(str(r.protected_word)),
                Cell(str(r.protected_class)),
                Cell(str(r.connection)),
                number_cell(r.mean_change, signed=True),
                number_cell(r.rms_change),
                number_cell(r.max_change, signed=True),
                Cell(str(r.attribute)),
            ]
            for r in found.controls.itertuples()
        ]
        tables.append(Table(f"t-drift-{tag}", "Drift of the distances to control words", head, rows))
    if len(found.attributes):
        head = ["stereotype", "of", "#before", "#after", "#nearer than", "near everything"]
        rows = [
            [
                Cell(str(r.attribute)),
                Cell(str(r.attribute_class)),
                number_cell(r.before),
                number_cell(r.after),
                Cell(f"{r.nearer_than:.0%}", True, repr(float(r.nearer_than))),
                Cell("yes" if r.near_everything else "no"),
            ]
            for r in found.attributes.itertuples()
        ]
        note = (
            "Mean distance to all protected words; nearer than: the share of control words that lie farther."
        )
        tables.append(Table(f"t-near-{tag}", "Stereotypes that lie near everything", head, rows, note))
    return tables


def _models_of(run: Comparison, prob: float) -> list[dict[str, Any]]:
    models = [model_part(run.original, prob, "for the distances before and after")]
    change = next((item.change for item in run.methods.values() if item.change is not None), None)
    if change is None:
        models[0]["notes"] = [
            *models[0]["notes"],
            "No model of the changes was needed: within each connection every pair changed by the same number.",
        ]
        return models
    return [model_part(change, prob, "for the changes of single pairs"), *models]


def _trust_of_comparison(run: Comparison, found: Findings) -> Part:
    sentences = [as_sentence(f"fit of {text}") for text in found.problems] or [found.trust]
    sentences.append(f"The original: {convergence(run.original)}")
    head = ["fit", "#R-hat, at most", "#effective draws, at least", "#divergences", "verdict"]
    rows = [
        [
            Cell(name),
            number_cell(state["max_r_hat"]),
            number_cell(state["min_ess_bulk"], 0),
            number_cell(state["divergences"], 0),
            Cell("well" if state["ok"] else "not to be trusted yet"),
        ]
        for name, state in run.diagnostics()["fits"].items()
    ]
    return Part(sentences=sentences, tables=[Table("t-fits", "The fits", head, rows)])


def _again_comparison(
    run: Comparison, prob: float, rope: float, command: Sequence[str] | None
) -> dict[str, Any]:
    tables = run.provenance["tables"]
    notes: list[str] = []
    change = next((item.change for item in run.methods.values() if item.change is not None), None)
    spec = change.spec if change is not None else load_model("change")
    after = ", ".join(f"{name!r}: {table_call(tables[name], f'{name}.csv', notes)}" for name in run.methods)
    settings = sampler_settings(run.provenance)
    lines = [
        f"before = {table_call(tables['original'], 'original.csv', notes)}",
        f"after = {{{after}}}",
        f"comparison = {called('compare', Code('before'), Code('after'), model_name(spec, notes), **settings)}",
        report_call("comparison", prob, rope),
    ]
    return reproduction(lines, command, spec, run.provenance, tables, list(dict.fromkeys(notes)))
