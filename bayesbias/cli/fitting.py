"""The commands ``bayesbias fit`` and ``bayesbias demo``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import bayesbias
from bayesbias.cli import inputs, options, screen
from bayesbias.core.errors import InputError
from bayesbias.core.files import records
from bayesbias.core.wording import number_of, some

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.inference.posterior import BiasFit
    from bayesbias.tables.counts import WordCounts
    from bayesbias.tables.pair_table import PairTable

DEMO = ("minilm-static", "religion")


def _check_contrasts(table: PairTable) -> None:
    """Refuse before sampling what could not be reported after it."""
    from bayesbias.inference.estimands import CONTRASTS

    present = set(map(str, table.frame["connection"].unique()))
    if not any({a, b} <= present for a, b in CONTRASTS):
        raise InputError(
            "no two connections that are contrasted with each other",
            found=", ".join(sorted(present)),
            valid="at least one of " + ", ".join(f"{a} and {b}" for a, b in CONTRASTS),
        )


def _counts(table: PairTable, counts: str, embedding: str | None, language: str) -> WordCounts:
    """Find out how frequent the words of a table are, before minutes are spent on a fit."""
    from bayesbias.tables.counts import load_counts

    if counts == "order" and embedding is None:
        raise InputError("--counts order needs the vectors", valid="--embedding E --wordlist W")
    words = [str(word) for side in ("protected_word", "attribute") for word in table.frame[side].unique()]
    return load_counts(counts, words, embedding=embedding, language=language)


@click.command()
@options.embedding()
@options.wordlist
@options.distances
@click.option(
    "--model",
    default="default",
    show_default=True,
    metavar="M",
    help="A shipped model (`bayesbias list models`, `bayesbias show M`) or a TOML file.",
)
@click.option(
    "--controls",
    metavar="C",
    help="Control words: 2022, 2021, none, a TOML file, or matched: neutral words as frequent as the stereotypes, by --counts.",
)
@click.option("--pool", metavar="P", help="Control list whose neutral words --controls matched chooses from.")
@click.option(
    "--repeats",
    type=click.Choice(["once", "keep"]),
    default="once",
    show_default=True,
    help="How often a repeated row of FILE counts.",
)
@click.option(
    "--compare-models",
    is_flag=True,
    help="Also fit the other normal models of distances, and show all side by side.",
)
@options.covariates("Numbers of words: a CSV file with a column word, or a column of --distances")
@click.option(
    "--counts",
    metavar="FILE|order|wordfreq",
    help="How frequent words are: FILE with words and counts, the order of the vectors of E, or wordfreq. Adds the contrasts "
    "at equal frequency.",
)
@click.option("--language", default="en", show_default=True, metavar="L", help="Of wordfreq.")
@options.slopes
@options.postprocess
@options.vector_files
@options.prob()
@options.rope
@options.standard_rope
@options.sampling
@options.engine("nuts")
@options.folder("Write table, fit, figures and summaries here.")
@options.figure_style
@options.spreadsheet_safe
@options.as_json
def fit(
    embedding: str | None,
    wordlist: str | None,
    distances: str | None,
    model: str,
    controls: str | None,
    pool: str | None,
    repeats: str,
    compare_models: bool,
    allow_pickle: bool,
    covariates: tuple[str, ...],
    counts: str | None,
    language: str,
    slope: tuple[str, ...],
    postprocess: str | None,
    invalid_utf8: str,
    prob: float,
    rope: float | None,
    standard_rope: float | None,
    seed: int | None,
    draws: int,
    tune: int,
    chains: int,
    engine: str,
    out: Path | None,
    spreadsheet_safe: bool,
    as_json: bool,
) -> None:
    """Fit a model to every pair of protected word and attribute."""
    started = time.perf_counter()
    from bayesbias.inference.alternatives import answers_by_model
    from bayesbias.inference.estimands import ROPE, STANDARD_ROPE
    from bayesbias.models.loading import load_model
    from bayesbias.runs.kinds import check_run_folder, files_of_run
    from bayesbias.studies.frequency import with_frequency

    if out is not None:
        check_run_folder(out, "words")

    if distances is None:
        options.refuse_typed(["repeats"], "says how rows of a table count", "--distances FILE")
    if counts != "wordfreq":
        options.refuse_typed(["language"], "is that of wordfreq", "--counts wordfreq")
    spec = load_model(model)  # before minutes are spent on the vectors
    table = inputs.pairs_asked_for(
        embedding,
        wordlist,
        distances,
        controls=controls,
        others="--embedding, --wordlist and --controls",
        repeats=repeats,
        allow_pickle=allow_pickle,
        invalid_utf8=invalid_utf8,
        postprocess=postprocess,
        covariates=covariates,
        counts=counts,
        language=language,
        pool=pool,
    ).table
    known = None if counts is None else _counts(table, counts, embedding, language)
    loaded = time.perf_counter()
    _check_contrasts(table)
    spec = inputs.slopes_asked(spec, table, slope)
    inputs.note_idle_covariates(spec, covariates, out)
    result = bayesbias.fit(table, spec, seed=seed, draws=draws, tune=tune, chains=chains, engine=engine)
    if known is not None:
        result = with_frequency(result, known, prob=prob)
    fitted = time.perf_counter()
    rope = float(ROPE if rope is None else rope)
    in_sds = float(STANDARD_ROPE if standard_rope is None else standard_rope)
    earlier = out is not None and bool(files_of_run(out))
    others = answers_by_model(result, prob=prob) if compare_models else None
    files = (
        bayesbias.save_run(
            result,
            out,
            prob=prob,
            rope=rope,
            standard_rope=in_sds,
            models=others,
            command=options.given(),
            spreadsheet_safe=spreadsheet_safe,
        )
        if out
        else []
    )
    if earlier:
        screen.say(f"note: replaced the run that was in {out}", err=True)
    if as_json:
        payload = fit_json(result, prob, rope, in_sds)
        if others is not None:
            payload["models"] = records(others)
        payload["timing"] |= {
            "load_s": round(loaded - started, 4),
            "fit_s": round(fitted - loaded, 4),
            "total_s": round(time.perf_counter() - started, 4),
        }
        screen.answer("fit", {**payload, "written": None if out is None else str(out)})
    else:
        _print_fit(result, prob, rope, in_sds)
        if others is not None:
            _print_models(others)
        screen.written(files, run=out)


@click.command()
@click.option("--out", type=options.Place(), default=Path("bayesbias-demo"), show_default=True, metavar="DIR")
@click.option("--seed", type=options.SEED, default=1, show_default=True)
@options.as_json
def demo(out: Path, seed: int, as_json: bool) -> None:
    """Run the main job on shipped vectors; no network needed.

    The vectors are minilm-static, the word list is religion.
    """
    from bayesbias.inference.estimands import PROB, ROPE, STANDARD_ROPE
    from bayesbias.runs.kinds import check_run_folder

    check_run_folder(out, "words")
    table = bayesbias.distance_table(DEMO[0], DEMO[1])
    progress = None
    if as_json:
        progress = False
    else:
        screen.say(repr(table))
    result = bayesbias.fit(table, seed=seed, pointwise=False, progress=progress)
    files = bayesbias.save_run(result, out, command=options.given())
    if as_json:
        screen.answer("fit", {**fit_json(result, PROB, ROPE, STANDARD_ROPE), "written": str(out)})
        return
    _print_fit(result, PROB, ROPE, STANDARD_ROPE)
    screen.written(files, run=out)


def fit_json(result: BiasFit, prob: float, rope: float, standard_rope: float) -> dict[str, Any]:
    """Return what ``bayesbias fit --json`` prints."""
    from bayesbias.findings.words import findings_of_words
    from bayesbias.inference.scope import has_new_words
    from bayesbias.inference.spreads import has_variance

    findings = findings_of_words(result, prob, rope)
    columns = ["mean", "sd", "hpdi_low", "hpdi_high", "prob", "ess_bulk", "r_hat"]
    provenance = dict(result.provenance)
    coverage, timing = provenance.pop("coverage"), provenance.pop("timing")
    frequency = provenance.pop("frequency", None)
    return {
        "model": result.spec.name,
        "summary": records(result.summary(prob)[["connection", "estimand", *columns, "n_pairs"]]),
        "words": records(
            result.words(prob)[["protected_word", "protected_class", "connection", "estimand", *columns]]
        ),
        "contrasts": records(result.contrasts(prob, rope)),
        "standardized": records(result.standardized(prob, standard_rope))
        if has_variance(result.spec)
        else None,
        "new_words": records(result.new_words(prob)) if has_new_words(result.spec) else None,
        "parameters": records(result.parameters(prob)),
        **({} if frequency is None else {"frequency": frequency}),
        **({"slopes": records(result.slopes(prob))} if result.spec.covariates() else {}),
        "diagnostics": result.diagnostics(),
        "coverage": coverage,
        "provenance": provenance,
        "timing": dict(timing),
        "shortcomings": [doubt.text for doubt in findings.doubts],
        "finding": findings.headline,
        "findings": findings.as_dict(),
    }


def _print_models(others: pd.DataFrame) -> None:
    from bayesbias.columns.table import screen_table
    from bayesbias.columns.words import model_columns
    from bayesbias.inference.alternatives import WHAT_LOO_MISSES

    first, overall = others.iloc[0], others["level"] == "overall"
    prob = float(first["prob"])
    title = f"{first['contrast']} under several models, on average over new words like these"
    screen.show(screen_table(title, model_columns(prob), others[overall].itertuples()))
    classes = others[~overall]
    if len(classes):
        order = {name: place for place, name in enumerate(dict.fromkeys(classes["name"]))}
        classes = classes.sort_values("name", key=lambda names: names.map(order), kind="stable")
        title = "The same in each class, on average over words of it and new attributes"
        screen.show(screen_table(title, model_columns(prob, within=True), classes.itertuples()))
    unsure = others.drop_duplicates("model").query("high_pareto_k > 0")
    notes = [f"LOO is unsure of {row.high_pareto_k} pairs under {row.model}." for row in unsure.itertuples()]
    screen.lines([*notes, WHAT_LOO_MISSES])


def _print_frequency(result: BiasFit, rope: float) -> None:
    from bayesbias.columns.frequency import frequency_columns, unequal_columns
    from bayesbias.columns.table import screen_table
    from bayesbias.studies.frequency import frequency_of

    frequency = frequency_of(result)
    if frequency is None:
        return
    title = f"How frequent words are, in powers of ten ({frequency.source})"
    screen.show(screen_table(title, unequal_columns(frequency.prob), frequency.unequal.itertuples()))
    rows = frequency.contrasts[frequency.contrasts["contrast"] == frequency.contrasts["contrast"].iloc[0]]
    title = f"{rows['contrast'].iloc[0]} as it is, and with all words of the mean frequency"
    columns = [
        each
        for each in frequency_columns(frequency.prob, rope, whole=frequency.whole)
        if each.heading != "difference"
    ]
    screen.show(screen_table(title, columns, rows.itertuples()))
    if frequency.missing:
        n = len(frequency.missing)
        known = f"{number_of(n, 'word')} without a count {'has' if n == 1 else 'have'} no part in it: {some(frequency.missing)}"
        screen.lines([known])
    screen.lines([f"frequency: {problem}" for problem in frequency.problems])


def _print_fit(result: BiasFit, prob: float, rope: float, standard_rope: float) -> None:
    """Print what the fit says, then the tables it rests on."""
    from bayesbias.columns.table import screen_table
    from bayesbias.columns.words import (
        contrast_columns,
        one_contrast_columns,
        standard_columns,
        summary_columns,
    )
    from bayesbias.findings.words import findings_of_words, lists_in_order
    from bayesbias.inference.scope import holds_for, same_for_all_words, words_said, words_scatter
    from bayesbias.inference.spreads import has_variance
    from bayesbias.inference.standard import in_full

    screen.lines([*findings_of_words(result, prob, rope).lines(), ""])
    summary = result.summary(prob).itertuples()
    screen.show(
        screen_table(f"Mean cosine distance, for {words_said(result.spec)}", summary_columns(prob), summary)
    )
    frame = result.contrasts(prob, rope)
    scatter = words_scatter(result.spec)  # without it both are the same numbers
    alone = [("listed_words", "these words alone")] if scatter else []
    for estimand, holds in [("population", words_said(result.spec)), *alone]:
        chosen = frame[(frame["level"] == "overall") & (frame["estimand"] == estimand)]
        title = f"Contrasts, for {holds} ({estimand})"
        screen.show(screen_table(title, contrast_columns(prob), chosen.itertuples()))
    if has_variance(result.spec):
        standard = result.standardized(prob, standard_rope, level="overall", estimand="population")
        units = list(dict.fromkeys(standard["unit"]))
        unit = in_full(units[0]) if len(units) == 1 else "standard deviations of pairs"
        title = f"The same for {'new' if scatter else 'these'} words, in {unit}"
        columns = standard_columns(prob, float(standard["rope"].iloc[0]), len(units))
        screen.show(screen_table(title, columns, standard.itertuples()))
    lead = frame["contrast"].iloc[0]
    chosen = frame[
        (frame["level"] == "class") & (frame["estimand"] == "population") & (frame["contrast"] == lead)
    ]
    lists = lists_in_order(frame)
    if len(chosen) > 1 and not same_for_all_words(result.spec):
        title = f"{lead} in each class ({holds_for(result.spec, 'class')})"
        screen.show(
            screen_table(title, one_contrast_columns(prob, "class", result.spec), chosen.itertuples())
        )
        if len(lists) > 1:
            title = "In each list of stereotypes, words of its own class less words of others"
            columns = one_contrast_columns(prob, "stereotype", result.spec)
            screen.show(screen_table(title, columns, lists.itertuples()))
    _print_frequency(result, rope)
    if result.spec.covariates():
        from bayesbias.columns.slopes import slopes_on_screen

        title = "Slopes on covariates about words, on average over new words"
        screen.show(slopes_on_screen(result.slopes(prob), prob, title))
    screen.converged(result.diagnostics())
    method = result.provenance["sampler"]
    if method["method"] == "pairwise":
        screen.lines([f"sampled pair by pair, since {method['why_pairwise']}"])
    elif engine := result.engine.in_words():
        screen.lines([f"scales by {engine}"])
