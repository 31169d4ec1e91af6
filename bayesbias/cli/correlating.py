"""The command ``bayesbias wefat``: the single-category test."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesbias.cli import options, screen
from bayesbias.core.errors import InputError

if TYPE_CHECKING:
    from bayesbias.studies.wefat import WefatResult

_MOST = 16  # targets that are printed; a run has all


@click.command()
@options.embedding(required=True)
@click.option(
    "--sets",
    default="wefat",
    show_default=True,
    metavar="LIST",
    help="A word list with two classes: the two sets.",
)
@options.classes("The two classes of LIST to take, where there are more.")
@click.option(
    "--covariates", required=True, metavar="FILE", help="A CSV file with a column word, and numbers."
)
@click.option(
    "--covariate",
    "named",
    multiple=True,
    metavar="COLUMN",
    help="Which of its columns; needed where there are several. One a call.",
)
@click.option(
    "--samples", type=click.IntRange(1), default=99_999, show_default=True, help="Orders that the test draws."
)
@options.sampling
@options.prob()
@options.postprocess
@options.vector_files
@options.engine("nuts")
@options.folder("Write scores, fit, figures and tables here.")
@options.figure_style
@options.spreadsheet_safe
@options.as_json
def wefat(
    embedding: str,
    sets: str,
    classes: list[str] | None,
    covariates: str,
    named: tuple[str, ...],
    samples: int,
    seed: int | None,
    draws: int,
    tune: int,
    chains: int,
    prob: float,
    postprocess: str | None,
    allow_pickle: bool,
    invalid_utf8: str,
    engine: str,
    out: Path | None,
    spreadsheet_safe: bool,
    as_json: bool,
) -> None:
    """Correlate associations with a covariate about words.

    Of each word of FILE the published score: its mean cosine with the words of the first class of LIST, less that with the
    second, over the standard deviation of these cosines; and Pearson's r of score and covariate, with its permutation p. Beside
    it the slope, and the correlation of true associations with the covariate.
    """
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.findings.wefat import findings_of_wefat
    from bayesbias.runs.kinds import check_run_folder
    from bayesbias.runs.saving import save_run
    from bayesbias.studies.wefat import wefat
    from bayesbias.tables.reading_covariates import covariates_given
    from bayesbias.wordlists.listfile import load_wordlist

    if len(named) > 1:  # click would take the last and say nothing
        raise InputError(
            "one covariate a call",
            where="--covariate",
            found=list(named),
            valid="one column; call again for another",
        )
    covariate = named[0] if named else None
    if out is not None:
        check_run_folder(out, "wefat")
    given = covariates_given(Path(covariates), None if covariate is None else [covariate])
    words = load_wordlist(sets, controls="none")
    asked = dict.fromkeys([*words.protected_words, *(word for each in given for word in each.values)])
    vectors = load_embedding(
        embedding, asked, allow_pickle=allow_pickle, on_invalid_utf8=invalid_utf8, postprocess=postprocess
    )
    result = wefat(
        vectors,
        words,
        Path(covariates),
        covariate,
        classes=classes,
        prob=prob,
        samples=samples,
        seed=seed,
        draws=draws,
        tune=tune,
        chains=chains,
        engine=engine,
    )
    command = options.given()
    files = save_run(result, out, command=command, spreadsheet_safe=spreadsheet_safe) if out else []
    if as_json:
        screen.answer("wefat", {**_payload(result), "written": None if out is None else str(out)})
        return
    screen.lines([*findings_of_wefat(result).lines(), ""])
    _print(result)
    screen.written(files, run=out)


def _payload(result: WefatResult) -> dict[str, Any]:
    from bayesbias.core.files import records
    from bayesbias.findings.wefat import findings_of_wefat

    findings = findings_of_wefat(result)
    return {
        **result.summary(),
        "targets": records(result.frame),
        "finding": findings.headline,
        "findings": findings.as_dict(),
        "provenance": dict(result.provenance),
    }


def _print(result: WefatResult) -> None:
    from bayesbias.columns.table import screen_table
    from bayesbias.columns.wefat import quantities, quantity_columns, target_columns

    known, frame = result.published, result.frame
    screen.show(screen_table("Correlations and slopes", quantity_columns(result.prob), quantities(result)))
    shown = frame
    title = f"Targets by {known.covariate}; association with {known.classes[0]} rather than {known.classes[1]} words"
    if len(frame) > _MOST:
        ends = [*range(_MOST // 2), *range(len(frame) - _MOST // 2, len(frame))]
        shown = frame[frame.index.isin(ends) | frame["off_line"]]
        title += f" ({len(shown)} of {len(frame)}: the ends, and those off the line)"
    screen.show(screen_table(title, target_columns(known.covariate, result.prob), shown.itertuples()))
