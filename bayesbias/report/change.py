"""The page on a comparison of original and debiased vectors. Sentences come from `findings.change`."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesbias.columns.change import (
    change_columns,
    drift_columns,
    gap_columns,
    geometry_columns,
    near_columns,
    rank_cell,
    raw_columns,
    set_columns,
    what_is_left,
)
from bayesbias.columns.slopes import SLOPES_SAID, slopes_on_page
from bayesbias.columns.table import (
    Cell,
    Table,
    known_cell,
    known_interval_cell,
    number_cell,
    of_cells,
    page_table,
    text,
)
from bayesbias.core.digits import interval_known, number_known
from bayesbias.core.wording import as_percent, size_text, with_minus
from bayesbias.findings.change import findings_of_change
from bayesbias.findings.parts import Findings
from bayesbias.findings.trust import convergence
from bayesbias.inference.estimands import CONTRASTS
from bayesbias.models.loading import DEFAULT_MODEL, load_model
from bayesbias.models.spec import Results
from bayesbias.plots.change import plates
from bayesbias.report.again import (
    Code,
    called,
    model_name,
    report_call,
    reproduction,
    sampler_settings,
    table_call,
)
from bayesbias.report.parts import (
    Again,
    Answer,
    Box,
    Labelled,
    Model,
    Page,
    Part,
    Picture,
    look_again,
    not_trusted,
)
from bayesbias.report.pictures import Gallery, in_order
from bayesbias.report.sections import (
    at_level,
    data_part,
    glossary_of,
    model_part,
    present_connections,
)
from bayesbias.report.texts import as_sentence
from bayesbias.studies.comparison import Comparison, Method
from bayesbias.studies.geometry import DESTROYED, KEPT, UNRELATED
from bayesbias.wordlists.wordlist import CONTROLS

if TYPE_CHECKING:
    import pandas as pd

_OF_INTEREST = "associated - different"
_EXACT = "No model of the changes was needed: within each connection every pair changed by the same number."


@dataclass(frozen=True, eq=False)
class _Study:
    """What the parts of the page are made of."""

    run: Comparison
    prob: float
    rope: float
    findings: Findings
    figures: Gallery

    @property
    def several(self) -> bool:
        """Whether there are several methods, each of which is named."""
        return len(self.run.methods) > 1


def of_comparison(run: Comparison, prob: float, rope: float, command: Sequence[str] | None = None) -> Page:
    """Return the page on debiased against original."""
    study = _Study(run, prob, rope, findings_of_change(run, prob, rope), Gallery(plates(run, prob, rope)))
    first = next(iter(run.methods.values()))
    notes = [as_sentence(text, part.lead) for part in study.findings.parts for text in part.notes]
    return Page(
        kicker="Original against debiased, pair by pair",
        title=f"{run.provenance['original']}, debiased",
        question="Did debiasing close the gap between the stereotypes of a word's own class and those of other "
        "classes: for whom, by how much, and at what price to words that nobody meant to treat?",
        answer=_answer(study),
        data=data_part(first.pairs, run.original.provenance.get("coverage", {}), [_raw_means(run)], notes),
        sections=_sections(study),
        models=_models(run, prob),
        trust=_trust(study),
        again=_again(run, prob, rope, command),
        glossary=glossary_of(run.original.table, "change", prob, rope, run.original.spec),
    )


def _answer(study: _Study) -> Answer:
    """Gather the answer, in which what a method forces stands before what it does."""
    run, findings = study.run, study.findings
    warnings = not_trusted([f"fit of {text}" for text in findings.problems])
    sentences: list[str] = []
    for part in findings.parts:
        deciding = [as_sentence(doubt.text) for doubt in part.doubts if doubt.decides]
        if deciding:
            title = (
                f"{part.lead}read this first, before the gap"
                if study.several
                else "Read this first, before the gap"
            )
            warnings.append(Box(title, deciding))
        premises = [as_sentence(text, part.lead) for text in part.premises]
        if run.methods[part.subject].construction.found:
            title = "Read this first: some of the result could not have come out otherwise"
            if study.several:
                title = f"{part.lead}read this first, some of the result could not have come out otherwise"
            warnings.append(Box(title, [as_sentence(text) for text in part.premises]))
        else:
            sentences += premises
        sentences += [as_sentence(text, part.lead) for text in part.sentences]
    only = next(iter(run.methods.values()))
    doubts = [doubt for part in findings.parts for doubt in part.doubts if not doubt.decides]
    return Answer(
        [as_sentence(part.headline, part.lead) for part in findings.parts],
        warnings=warnings,
        covariates=[] if study.several else _covariates(run, only, study.prob, study.rope),
        tables=[_methods_table(run, study.prob, study.rope)] if study.several else [],
        doubts=look_again(doubts),
        sentences=[*sentences, *findings.sentences],
    )


def _gap(run: Comparison, name: str, prob: float, rope: float) -> Any:
    """Return the row of the first overall contrast of a method, or None where there is none."""
    present = present_connections(run.methods[name].pairs)
    if not any(a in present and b in present for a, b in CONTRASTS):
        return None
    frame = run.contrasts(prob, rope, "population", name)
    return next(iter(frame[frame["level"] == "overall"].itertuples()))


def _covariates(run: Comparison, item: Method, prob: float, rope: float) -> list[Labelled]:
    row = _gap(run, item.name, prob, rope)
    rms = item.control_rms
    covariates = []
    if row is not None:
        covariates = [
            Labelled(f"{with_minus(row.contrast)}, before", number_known(row, "before", signed=True)),
            Labelled(f"{with_minus(row.contrast)}, after", number_known(row, "after", signed=True)),
            Labelled(f"change, {as_percent(prob)} HPDI", interval_known(row, signed=True)),
        ]
    if rms is not None:
        covariates.append(Labelled("pairs with control words moved by (root mean square)", size_text(rms)))
    return covariates


def _methods_table(run: Comparison, prob: float, rope: float) -> Table:
    rows = []
    contrast = _OF_INTEREST
    for name, rank in run.ranks(prob).items():
        row = _gap(run, name, prob, rope)
        cells = [Cell(name), rank_cell(rank), Cell(run.geometry_of(name, prob).left.label)]
        if row is None:
            cells += [number_cell(None)] * 4 + [Cell("no two connections to compare")]
        else:
            contrast = row.contrast
            cells += [
                known_cell(row, "before", signed=True),
                known_cell(row, "after", signed=True),
                known_interval_cell(row, "after_low", "after_high", signed=True),
                known_cell(row, "mean", signed=True),
                Cell(what_is_left(row)),
            ]
        rows.append([*cells, number_cell(run.methods[name].control_rms)])
    head = [
        "method",
        "#rank",
        "controls",
        "#gap before",
        "#gap after",
        f"#after, {as_percent(prob)} HPDI",
        "#change",
        "what is left",
        "#controls moved by",
    ]
    return of_cells(
        "t-methods",
        f"The methods, by what they leave of {with_minus(contrast)}",
        head,
        rows,
        "Controls: what is left of the distances to control words; a method that destroyed them has no rank, since noise has "
        "no gap either. Controls moved by: root mean square change of these pairs, the price of the method.",
    )


def _raw_means(run: Comparison) -> Table:
    rows = [
        row
        for name, item in run.methods.items()
        for row in item.construction.means.assign(method=name).itertuples()
    ]
    return page_table("t-raw", "Raw mean distances, without a model", raw_columns(), rows)


def _ranked(study: _Study) -> Part | None:
    if study.several and {"associated", "different"} <= set(present_connections(study.run.original.table)):
        return Part("The methods, ranked", figures=study.figures.take("ranking"))
    study.figures.leave_out("ranking")
    return None


def _geometry(study: _Study) -> Part | None:
    run, prob = study.run, study.prob
    if not set(CONTROLS) & set(present_connections(run.original.table)):
        return None
    note = (
        "Correlation and slope of distances after on those before, over pairs of a protected word and a control word; without "
        "the means of words: once the mean of each protected word and each control word is taken out, which leaves which word "
        "lies near which. The lower of the two correlations decides: unrelated where its interval reaches down to "
        f"{UNRELATED:g}, mostly destroyed below {DESTROYED:g}, kept where all of the interval lies above {KEPT:g}. Moved by: "
        "root mean square change, beside what unrelated vectors with the same means and spreads would give. The gap is "
        "associated − different, in standard deviations of these distances."
    )
    table = page_table(
        "t-geometry",
        "What is left of the distances to control words",
        geometry_columns(prob),
        run.geometry(prob).itertuples(),
        note,
    )
    return Part("Is the rest still there?", tables=[table], figures=study.figures.take("controls"))


@dataclass(frozen=True, eq=False)
class _OfMethod:
    """One method of a study: its tables, and what tells its figures and tables from those of others."""

    item: Method
    tag: str
    stem: str
    changes: pd.DataFrame
    contrasts: pd.DataFrame | None  # None where the tables hold no two connections to hold against each other
    study: _Study

    def tables(self, level: str) -> list[Table]:
        """Return gaps and changes of a level."""
        prob = self.study.prob
        tables = []
        if self.contrasts is not None:
            gaps = at_level(self.contrasts, level)
            tables.append(_gap_table(f"t-gap-{level}-{self.tag}", gaps, level, prob, self.results))
        changes = at_level(self.changes, level)
        if level == "stereotype":  # a list of controls is the whole of its connection, which stands overall
            changes = changes[~changes["connection"].isin(CONTROLS)]
        return [*tables, _change_table(f"t-change-{level}-{self.tag}", changes, level, prob, self.results)]

    @property
    def results(self) -> Results:
        """What the changes hold for, as the model says."""
        return self.study.run.results_of(self.item.name)

    def figure(self, name: str) -> list[Picture]:
        """Return a figure of this method."""
        return self.study.figures.take(f"{name}{self.stem}")


def _forced(method: _OfMethod) -> Part | None:
    tables = _construction_tables(method.item, method.tag)
    return Part("What the method forces, and drift of the control words", tables=tables) if tables else None


def _pairs(method: _OfMethod) -> Part:
    return Part("Every pair, before and after", figures=method.figure("pairs"))


def _classes(method: _OfMethod) -> Part:
    return Part("Changes and gaps per class", tables=method.tables("class"))


def _lists(method: _OfMethod) -> Part | None:
    if "stereotype" not in set(method.changes["level"]):
        return None
    return Part("Changes and gaps per list of stereotypes", tables=method.tables("stereotype"))


def _words(method: _OfMethod) -> Part:
    return Part("Changes and gaps per word", tables=method.tables("word"))


# What opens on a click in the section of a method, in order.
_FOLDED = (_forced, _pairs, _classes, _lists, _words)


def _method_section(name: str, number: int, study: _Study) -> Part:
    run, prob, rope = study.run, study.prob, study.rope
    method = _OfMethod(
        item=run.methods[name],
        tag=f"m{number}",
        stem=f"_{number}" if study.several else "",
        changes=run.changes(prob, rope, method=name),
        contrasts=None if _gap(run, name, prob, rope) is None else run.contrasts(prob, rope, method=name),
        study=study,
    )
    return Part(
        f"{name} against the original",
        figures=method.figure("changes"),
        tables=method.tables("overall"),
        folded=in_order(_FOLDED, method),
    )


def _sections(study: _Study) -> list[Part]:
    methods = [
        functools.partial(_method_section, name, number) for number, name in enumerate(study.run.methods, 1)
    ]
    return in_order([_ranked, _geometry, *methods, _slopes], study, [study.figures])


def _slopes(study: _Study) -> Part | None:
    if not study.run.has_slopes:
        return None
    before = [text("method", "method")] if study.several else []
    table, _ = slopes_on_page(study.run.slopes(study.prob), study.prob, "Slopes of the changes", before)
    return Part("Covariates about words", [SLOPES_SAID], figures=study.figures.take("slopes"), tables=[table])


def _gap_table(id_: str, frame: pd.DataFrame, level: str, prob: float, results: Results) -> Table:
    within = "" if level == "overall" else level
    caption = f"Gaps between connections{_per(within)}"
    note = "Before, after and change are of three fits, the change of the differences of pairs: they need not add up."
    return page_table(id_, caption, gap_columns(prob, within, results), frame.itertuples(), note)


def _change_table(id_: str, frame: pd.DataFrame, level: str, prob: float, results: Results) -> Table:
    within = "" if level == "overall" else level
    caption = f"Change of the mean distance (debiased minus original){_per(within)}"
    return page_table(id_, caption, change_columns(prob, within, results), frame.itertuples())


def _per(level: str) -> str:
    own = ", per list: words of its own class, and words of others"
    return own if level == "stereotype" else f", per protected {level}" if level else ""


def _construction_tables(item: Method, tag: str) -> list[Table]:
    sets, controls, attributes = (
        item.construction.sets,
        item.construction.controls,
        item.construction.attributes,
    )
    tables = []
    if len(sets):
        caption = "Sets of words to which stereotypes have one distance"
        note = "One distance to: how many stereotypes have, after the method, the same distance to all words of the set."
        tables.append(page_table(f"t-sets-{tag}", caption, set_columns(), sets.itertuples(), note))
    if len(controls):
        caption = "Drift of the distances to control words"
        tables.append(page_table(f"t-drift-{tag}", caption, drift_columns(), controls.itertuples()))
    if len(attributes):
        caption = "Stereotypes that lie near everything"
        note = (
            "Mean distance to all protected words; nearer than: the share of control words that lie farther."
        )
        tables.append(page_table(f"t-near-{tag}", caption, near_columns(), attributes.itertuples(), note))
    return tables


def _models(run: Comparison, prob: float) -> list[Model]:
    change = next((item.change for item in run.methods.values() if item.change is not None), None)
    notes = [] if change is not None else [_EXACT]
    original = model_part(run.original, prob, "for the distances before and after", notes=notes)
    return (
        [original]
        if change is None
        else [model_part(change, prob, "for the changes of single pairs"), original]
    )


def _trust(study: _Study) -> Part:
    run, findings = study.run, study.findings
    sentences = [as_sentence(f"fit of {text}") for text in findings.problems] or [findings.trust]
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
    return Part(sentences=sentences, tables=[of_cells("t-fits", "The fits", head, rows)])


def _again(run: Comparison, prob: float, rope: float, command: Sequence[str] | None) -> Again:
    tables = run.provenance["tables"]
    notes: list[str] = []
    change = next((item.change for item in run.methods.values() if item.change is not None), None)
    spec = change.spec if change is not None else load_model("change")
    after = ", ".join(f"{name!r}: {table_call(tables[name], f'{name}.csv', notes)}" for name in run.methods)
    level_spec = run.original.spec
    own = level_spec.sha256 != load_model(DEFAULT_MODEL).sha256
    level = {"level_model": model_name(level_spec, notes)} if own else {}
    settings = level | sampler_settings(run.provenance)
    lines = [
        f"before = {table_call(tables['original'], 'original.csv', notes)}",
        f"after = {{{after}}}",
        f"comparison = {called('compare', Code('before'), Code('after'), model_name(spec, notes), **settings)}",
        report_call("comparison", prob, rope),
    ]
    return reproduction(lines, command, spec, run.provenance, tables, list(dict.fromkeys(notes)))
