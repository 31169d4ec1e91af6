"""The command ``bayesbias compare``."""

from __future__ import annotations

import inspect
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import bayesbias
from bayesbias.cli import inputs, options, screen
from bayesbias.core.errors import InputError
from bayesbias.core.wording import as_percent
from bayesbias.studies.limits import MEANINGS

if TYPE_CHECKING:
    from bayesbias.studies.comparison import Comparison
    from bayesbias.tables.pair_table import PairTable


@click.command()
@click.option("--original", metavar="A", help="Vectors before: a file, a gensim-data name, or minilm-static.")
@click.option("--debiased", multiple=True, metavar="B", help="Vectors after; may be given several times.")
@click.option(
    "--postprocess",
    multiple=True,
    type=click.Choice(["center", "standardize", "abtt"]),
    help="Also compare with the vectors of A, moved so; may be given several times.",
)
@options.wordlist
@click.option("--controls", metavar="C", help="Control words: 2022, 2021, none, or a TOML file.")
@click.option("--original-distances", metavar="F", help="A table of distances (CSV or Parquet) instead.")
@click.option(
    "--debiased-distances", multiple=True, metavar="G", help="Tables after; may be given several times."
)
@click.option("--model", default="change", show_default=True, metavar="M", help="A model of the differences.")
@options.covariates("Numbers of words: a CSV file with a column word, or a column of F")
@options.slopes
@options.vector_files
@options.prob()
@options.rope
@options.sampling
@click.option(
    "--require",
    cls=options.Known,
    within=("requirement",),
    metavar="LIMITS",
    help='Such as "gap<0.02, controls>0.9"; exit with 1 where a method does not meet it. See above.',
)
@options.folder("Write fits, tables and figures here.")
@options.figure_style
@options.spreadsheet_safe
@options.as_json
def compare(
    original: str | None,
    debiased: tuple[str, ...],
    postprocess: tuple[str, ...],
    wordlist: str | None,
    controls: str | None,
    original_distances: str | None,
    debiased_distances: tuple[str, ...],
    model: str,
    covariates: tuple[str, ...],
    slope: tuple[str, ...],
    allow_pickle: bool,
    invalid_utf8: str,
    prob: float,
    rope: float | None,
    seed: int | None,
    draws: int,
    tune: int,
    chains: int,
    require: str | None,
    out: Path | None,
    spreadsheet_safe: bool,
    as_json: bool,
) -> None:
    """Compare debiased vectors with the original, pair by pair.

    With --require a script can ask whether every method meets limits, with commas between them: NAME, one of < <= > >=,
    and a number. An upper limit is held against the upper end of the interval, a lower limit against its lower end; of a size
    against the end that lies farther from zero or nearer to it, and a lower limit against zero where the interval holds it;
    what cannot be known or believed is not met, and a gap that the method makes zero whatever the vectors were is said to be met
    by construction, which is no evidence. An upper limit of a gap is not met where the geometry of the control words is
    destroyed, since noise has no gap either. Names:

    \b
    NAMES

    Exit codes: 0 all is well, and every limit is met; 1 a limit is not met (one line each on stderr: method, limit and
    value); 2 an input cannot be used.
    """  # noqa: D301 - click's mark for a paragraph to leave as it is
    from bayesbias.inference.estimands import ROPE
    from bayesbias.models.loading import load_model
    from bayesbias.runs.kinds import check_run_folder
    from bayesbias.studies import change
    from bayesbias.studies.requirements import check_requirements, read_requirements

    started = time.perf_counter()
    if out is not None:
        check_run_folder(out, "change")
    wanted = () if require is None else read_requirements(require)
    spec = load_model(model)
    before, after = _tables(
        original,
        debiased,
        tuple(dict.fromkeys(postprocess)),
        wordlist,
        controls,
        original_distances,
        debiased_distances,
        allow_pickle,
        invalid_utf8,
    )
    before = inputs.with_covariates(before, covariates)
    spec = inputs.slopes_asked(spec, before, slope)
    inputs.note_idle_covariates(spec, covariates, out)
    loaded = time.perf_counter()
    comparison = change.compare(
        before,
        after,
        spec,
        seed=seed,
        draws=draws,
        tune=tune,
        chains=chains,
        progress=False if as_json else None,
    )
    half = float(ROPE if rope is None else rope)
    files = (
        bayesbias.save_run(
            comparison, out, prob=prob, rope=half, command=options.given(), spreadsheet_safe=spreadsheet_safe
        )
        if out
        else []
    )
    required = check_requirements(comparison, wanted, prob)
    if as_json:
        payload = comparison_json(comparison, prob, half)
        payload["requirements"] = [check.as_dict() for check in required]
        payload["timing"] = {
            "load_s": round(loaded - started, 4),
            "total_s": round(time.perf_counter() - started, 4),
        }
        screen.answer("compare", {**payload, "written": None if out is None else str(out)})
    else:
        _print_comparison(comparison, prob, half)
        screen.lines([f"{check.line}." for check in required if check.met])
        screen.written(files, run=out)
    missed = [check for check in required if not check.met]
    for check in missed:
        screen.say(f"bayesbias: {check.line}", err=True)
    if missed:
        click.get_current_context().exit(1)


def _names_in_words() -> str:
    """Return the names that may be required beside what they mean, as lines of the help."""
    wide = max(map(len, MEANINGS)) + 2
    lines = [
        f"{name if first else '':{wide}}{text}"
        for name, meaning in MEANINGS.items()
        for first, text in ((not at, text) for at, text in enumerate(textwrap.wrap(meaning, 74 - wide)))
    ]
    return "\n".join(lines)


compare.help = inspect.cleandoc(compare.help or "").replace("NAMES", _names_in_words())


def _tables(
    original: str | None,
    debiased: tuple[str, ...],
    postprocess: tuple[str, ...],
    wordlist: str | None,
    controls: str | None,
    original_distances: str | None,
    debiased_distances: tuple[str, ...],
    allow_pickle: bool,
    invalid_utf8: str,
) -> tuple[PairTable, dict[str, PairTable]]:
    from bayesbias.tables.reading import load_distances
    from bayesbias.wordlists.listfile import load_wordlist

    by_vectors = (
        original is not None or debiased or postprocess or wordlist is not None or controls is not None
    )
    by_tables = original_distances is not None or debiased_distances
    valid = "--original A --debiased B --wordlist W, or --original-distances F --debiased-distances G"
    if by_vectors and by_tables:
        raise InputError("vectors and tables of distances do not mix", valid=valid)
    if by_tables:
        if original_distances is None or not debiased_distances:
            raise InputError("nothing to compare", valid=valid)
        inputs.refuse_ways_to_read(
            allow_pickle, invalid_utf8, "a table of distances", "--original A --debiased B"
        )
        names = _names(debiased_distances)
        return load_distances(original_distances), {
            name: load_distances(path) for name, path in zip(names, debiased_distances, strict=True)
        }
    if original is None or not (debiased or postprocess) or wordlist is None:
        raise InputError("nothing to compare", valid=valid)
    words = load_wordlist(wordlist, controls=controls)

    def table(source: str, moved: str | None = None) -> PairTable:
        return inputs.pairs_of_vectors(
            source, words, allow_pickle=allow_pickle, invalid_utf8=invalid_utf8, postprocess=moved
        ).table

    after = {name: table(path) for name, path in zip(_names(debiased), debiased, strict=True)}
    for way in postprocess:
        if way in after:
            raise InputError(
                "a debiased input and a way to postprocess have one name", found=way, hint="rename the file"
            )
        after[way] = table(original, way)
    return table(original), after


def _names(paths: tuple[str, ...]) -> list[str]:
    """Name each table after its file, by as much of the path as tells it from the others."""
    stems = [Path(path).name.split(".")[0] or path for path in paths]
    if len(set(stems)) == len(stems) and "original" not in stems:  # as the table before them is called
        return stems
    if len(set(paths)) < len(paths):
        raise InputError("one debiased input is given twice", found=", ".join(paths))
    return list(paths)


def comparison_json(comparison: Comparison, prob: float, rope: float) -> dict[str, Any]:
    """Return what ``bayesbias compare --json`` prints, but for the timing."""
    from bayesbias.core.files import records
    from bayesbias.findings.change import construction_account, findings_of_change

    findings = findings_of_change(comparison, prob, rope)
    sentences = [
        text
        for part in findings.parts
        for text in (*(f"{part.lead}{note}." for note in part.notes), *part.statements())
    ]
    ranked = {"associated", "different"} <= set(comparison.original.table["connection"])
    return {
        "model": comparison.provenance["model"]["name"],
        "changes": records(comparison.changes(prob, rope)),
        "contrasts": records(comparison.contrasts(prob, rope)),
        "construction": {
            name: construction_account(item.construction) for name, item in comparison.methods.items()
        },
        "ranking": records(comparison.ranking(prob, rope)) if ranked else [],
        "geometry": records(comparison.geometry(prob)),
        **({"slopes": records(comparison.slopes(prob))} if comparison.has_slopes else {}),
        "joined": {name: dict(item.account) for name, item in comparison.methods.items()},
        "diagnostics": comparison.diagnostics(),
        "sentences": sentences,
        "findings": findings.as_dict(),
        "provenance": dict(comparison.provenance),
    }


def _print_comparison(comparison: Comparison, prob: float, rope: float) -> None:
    from bayesbias.columns.change import change_columns, gap_columns, geometry_columns, ranking_columns
    from bayesbias.columns.table import screen_table
    from bayesbias.findings.change import findings_of_change

    screen.lines([*findings_of_change(comparison, prob, rope).lines(), ""])
    for name, item in comparison.methods.items():
        for what, frame, columns in (
            (
                "change of the mean distance",
                comparison.changes(prob, rope, "population", name),
                change_columns(prob),
            ),
            ("change of the gaps", comparison.contrasts(prob, rope, "population", name), gap_columns(prob)),
        ):
            title = f"{name}, {len(item.pairs):,} pairs: {what}, for new words treated likewise (population)"
            rows = frame[frame["level"] == "overall"]
            screen.show(screen_table(title, columns, rows.itertuples()))
    screen.say(
        f"Verdicts hold intervals against zero and the ROPE of ±{rope:g} (--rope); from an end nearer to these than twice its "
        "Monte Carlo error nothing is concluded."
    )
    screen.say("Before, change and after are of three fits, and need not add up.")
    if comparison.has_slopes:
        from bayesbias.columns.slopes import slopes_on_screen
        from bayesbias.columns.table import text

        title = "Slopes of the changes on covariates about words, on average over new words"
        before = [text("method", "method")] if len(comparison.methods) > 1 else []
        screen.show(slopes_on_screen(comparison.slopes(prob), prob, title, before))
    title = (
        f"Distances to control words, before and after ({as_percent(prob)} intervals; moved: root mean square, in "
        "brackets that of "
        "unrelated vectors; gap in standard deviations of these distances)"
    )
    screen.show(screen_table(title, geometry_columns(prob), comparison.geometry(prob).itertuples()))
    if len(comparison.methods) > 1 and {"associated", "different"} <= set(
        comparison.original.table["connection"]
    ):
        title = "Methods, by what they leave of associated - different"
        screen.show(screen_table(title, ranking_columns(prob), comparison.ranking(prob, rope).itertuples()))
