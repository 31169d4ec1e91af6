"""The commands ``bayesbias seat`` and ``bayesbias seat sentences``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import bayesbias
from bayesbias.cli import inputs, options, screen
from bayesbias.core.errors import InputError
from bayesbias.core.files import plain, records

if TYPE_CHECKING:
    from bayesbias.studies.seat_result import SeatResult

# Beside words, of which nothing is to be said.
_CONTEXTS = {
    "sent": "sent, one frame for several words (in published tests a bleached one, such as "
    '"This is a doctor.", which says little beside the word)',
    "sent (u)": 'sent (u), a sentence for each word (in published tests such as "The engineer is competent.", which says more)',
    "text": "text, sentences whose words and templates are not stated",
}


@click.group(invoke_without_command=True)
@click.option(
    "--encoder",
    "encoders",
    multiple=True,
    metavar="E",
    default=("minilm-static",),
    show_default=True,
    help="minilm-static, cbow:EMBEDDING, sentence-transformers:MODEL, transformers:MODEL?pooling=cls, or a file of "
    "vectors (npz, h5, parquet: arrays sentences and vectors). PATH?name=NAME gives a name. May be given several times.",
)
@click.option(
    "--tests",
    default="all",
    show_default=True,
    metavar="T",
    help="Names joined by commas (see `bayesbias seat sentences`), all, or the path of a test or of a word list.",
)
@click.option(
    "--published-cut", is_flag=True, help="Leave out the sentences that the authors dropped at random."
)
@click.option("--bayes", is_flag=True, help="Fit the hierarchical model to every test as well.")
@options.covariates("Numbers of words of targets or attributes: a CSV file with a column word")
@click.option(
    "--slope",
    multiple=True,
    metavar="COLUMN[:BY,...]",
    help="Add slopes on this covariate to the model of every test whose words have it; COLUMN:protected_class gives each set of "
    "targets its own. May be given several times; implies --bayes.",
)
@options.prob("Probability of the intervals, with --bayes.")
@options.sampling
@click.option(
    "--samples",
    type=click.IntRange(1),
    default=99_999,
    show_default=True,
    help="Partitions drawn for the published p-value where there are more than 100,000.",
)
@click.option("--no-cache", is_flag=True, help="Neither read nor keep vectors on the disk.")
@options.folder("Write tables, provenance and figures here.")
@options.figure_style
@options.spreadsheet_safe
@options.as_json
@click.pass_context
def seat(
    context: click.Context,
    encoders: tuple[str, ...],
    tests: str,
    published_cut: bool,
    bayes: bool,
    covariates: tuple[str, ...],
    slope: tuple[str, ...],
    prob: float,
    seed: int | None,
    samples: int,
    draws: int,
    tune: int,
    chains: int,
    no_cache: bool,
    out: Path | None,
    spreadsheet_safe: bool,
    as_json: bool,
) -> None:
    """Run sentence tests (SEAT) on sentence encoders.

    A test that fails on an encoder is reported, and the others go on.

    \b
    Exit codes: 0 all tests were run; 1 the results were printed and written, but some tests failed (on stderr,
    and in failures.csv); 2 the input cannot be used, and nothing was run.
    """  # noqa: D301 - click's mark for a paragraph to leave as it is
    if context.invoked_subcommand is not None:
        return
    from bayesbias.findings.sentences import named_encoder
    from bayesbias.runs.kinds import check_run_folder
    from bayesbias.studies.sentences import seat as run

    if bool(covariates) != bool(slope):
        alone, other = ("--covariates", "--slope COLUMN") if covariates else ("--slope", "--covariates FILE")
        raise InputError(f"{alone} alone says nothing", valid=f"{alone} and {other}")
    if not (bayes or slope):
        options.refuse_typed(options.OF_MODELS, "is for models", "--bayes")
    if out is not None:
        check_run_folder(out, "sentences")

    result = run(
        tests,
        encoders,
        published_cut=published_cut,
        samples=samples,
        seed=seed,
        bayes=bayes,
        draws=draws,
        tune=tune,
        chains=chains,
        prob=prob,
        covariates=list(covariates) or None,
        slopes=inputs.slopes_named(slope, []),
        cache=not no_cache,
        progress=False if as_json else None,
    )
    files = (
        bayesbias.save_run(result, out, command=options.given(), spreadsheet_safe=spreadsheet_safe)
        if out
        else []
    )
    if as_json:
        screen.answer("seat", {**seat_json(result), "written": None if out is None else str(out)})
    else:
        _print_tests(result)
        screen.written(files, run=out)
    for row in result.failures.itertuples():
        screen.say(f"bayesbias: {named_encoder(row.model, row.options)}, {row.test}: {row.reason}", err=True)
    context.exit(1 if len(result.failures) else 0)


@seat.command()
@click.argument("test", required=False)
@click.option("--out", type=options.Place(), metavar="FILE", help="By default standard output.")
@click.option(
    "--level",
    type=click.Choice(["word", "sentence", "unbleached"]),
    help="Of a word list: its words, or sentences made of them.",
)
@click.option(
    "--published-cut", is_flag=True, help="Leave out the sentences that the authors dropped at random."
)
@click.option(
    "--parts",
    is_flag=True,
    help="Also write the word and template of each sentence, which `bayesbias seat` reads; the published format lacks them.",
)
@options.as_json
def sentences(
    test: str | None, out: Path | None, level: str | None, published_cut: bool, parts: bool, as_json: bool
) -> None:
    """Write a test in the published format; without TEST, list the names there are.

    TEST is the name of a published test, or the path of a word list of your own, whose kinds of words stand in a
    table [kinds]. A test of your own sentences begins with a file that --parts wrote: without lists `words` and `templates`
    nobody knows which sentences share a word, and p over words is missing.
    """
    from bayesbias.wordlists.sentence_making import list_tests, sentence_test
    from bayesbias.wordlists.sentence_tests import published_json, write_test

    if test is None:
        if as_json:
            screen.answer("seat.sentences", {"tests": list(list_tests())})
        else:
            screen.say("\n".join(list_tests()))
        return
    test_made = sentence_test(test, level=level, published_cut=published_cut)
    if out is not None:
        write_test(test_made, out, parts=parts)
    if as_json:
        written = json.loads(published_json(test_made, parts))
        screen.answer("seat.sentences", {"test": written, "written": None if out is None else str(out)})
    elif out is None:
        screen.data(published_json(test_made, parts))
    else:
        screen.say(f"{test_made!r}\nwritten: {out}", err=True)


def seat_json(result: SeatResult) -> dict[str, Any]:
    """Return what ``bayesbias seat --json`` prints; what does not exist is null."""
    from bayesbias.findings.sentences import findings_of_sentences

    findings = findings_of_sentences(result)
    return {
        "tests": _rows(result),
        "failures": records(result.failures),
        **({"slopes": records(result.slopes)} if len(result.slopes) else {}),
        **({"classes": records(result.classes)} if len(result.classes) else {}),
        "finding": findings.headline,
        "findings": findings.as_dict(),
        "provenance": plain(dict(result.provenance)),
    }


def _rows(result: SeatResult) -> list[dict[str, Any]]:
    rows = records(result.frame)
    sentences_of: dict[Any, list[str]] = {}
    for note in result.notes.itertuples():
        sentences_of.setdefault((note.model, note.options, note.test), []).append(note.note)
    for row in rows:
        row["notes"] = sentences_of.get((row["model"], row["options"], row["test"]), [])
    return rows


def _print_tests(result: SeatResult) -> None:
    from bayesbias.findings.sentences import findings_of_sentences

    screen.lines([*findings_of_sentences(result).lines(), ""])
    table = result.table()
    rows, last = [], None
    for (test, context), row in zip(table.index, table.itertuples(index=False), strict=True):
        rows.append(["" if test == last else test, context, *row])
        last = test
    daggers = "; † see the notes above" if len(result.notes) else ""
    screen.table(
        f"SEAT effect sizes (* p < 0.01; ** also after Holm's correction over all rows{daggers})",
        [*map(str, table.index.names), *(f"#{name}" for name in table.columns)],
        rows,
    )
    if said := [text for name, text in _CONTEXTS.items() if name in table.index.get_level_values("context")]:
        screen.lines([f"Context: {'; '.join(said)}.", ""])
    if "contrast" in result.frame:
        _print_contrasts(result)


def _print_contrasts(result: SeatResult) -> None:
    from bayesbias.columns.sentences import IN_SDS, contrast_columns
    from bayesbias.columns.table import screen_table

    several = result.frame.groupby(["model", "options"]).ngroups > 1
    title = (
        "associated - different in cosine distance, for new words and, where there are several, new templates "
        "(negative: as the test supposes), and shares of variance (-: not in this test)"
    )
    rows = list(result.frame.loc[result.named().index].itertuples())
    with_p, without = (
        screen_table(title, contrast_columns(result.provenance["prob"], several, p_values=asked), rows)
        for asked in (True, False)
    )
    # What makes a table too wide for the terminal stands in tests.csv.
    screen.show(with_p if screen.fits(with_p) or not screen.fits(without) else without)
    screen.lines([IN_SDS, ""])
    if len(result.slopes):
        from bayesbias.columns.sentences import encoder_column, slopes_shown
        from bayesbias.columns.slopes import slopes_on_screen
        from bayesbias.columns.table import text

        title = "Slopes on covariates about words, on average over new words and templates"
        before = [text("test", "test"), *encoder_column(several)]
        screen.show(slopes_on_screen(slopes_shown(result), result.provenance["prob"], title, before))
