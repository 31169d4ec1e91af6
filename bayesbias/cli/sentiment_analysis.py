"""The commands ``bayesbias sentiment``, ``bayesbias sentiment sentences`` and ``bayesbias sentiment train``."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import bayesbias
from bayesbias.cli import inputs, options, screen
from bayesbias.cli.sentiment_screen import print_sentiment
from bayesbias.core.errors import FitError, InputError
from bayesbias.core.files import check_folder
from bayesbias.core.sheets import write_csv

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.classifiers.prediction_files import Predictions
    from bayesbias.models.spec import ModelSpec
    from bayesbias.wordlists.occupations import Occupations


@click.group(invoke_without_command=True)
@click.option(
    "--predictions",
    multiple=True,
    metavar="FILE",
    help="A file of predictions, or m1, which is shipped; may be given several times.",
)
@click.option(
    "--classifier",
    "classifiers",
    multiple=True,
    metavar="X",
    help="A folder made by `train`, joblib:PATH, transformers:NAME_OR_PATH; may be given several times.",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="N",
    help="A name for each input, in this order: files of predictions, then classifiers.",
)
@click.option(
    "--words", default="occupations", show_default=True, metavar="TOML", help="Nouns, professions, template."
)
@click.option("--bayes", is_flag=True, help="Fit the crossed model too.")
@click.option("--logit", is_flag=True, help="Fit it to log odds; implies --bayes.")
@click.option("--model", metavar="M", help="A model of your own (TOML) in their place; implies --bayes.")
@options.covariates("Numbers of professions: a CSV file with a column word")
@click.option(
    "--slope",
    multiple=True,
    metavar="COLUMN[:BY,...]",
    help="Add slopes on this covariate to the model; earnings and female_share are those of --words, where no FILE has them. "
    "COLUMN:category gives each category its own. May be given several times; implies --bayes.",
)
@click.option(
    "--hypotheses",
    type=click.IntRange(1),
    metavar="K",
    help="How many tests Bonferroni's correction is for; by default one per classifier.",
)
@click.option("--positive", metavar="LABEL", help="The positive class, where it cannot be told.")
@click.option(
    "--no-check",
    is_flag=True,
    help="Do not refuse a classifier that takes plainly good sentences for bad ones.",
)
@options.allow_pickle("pipelines")
@options.prob("Probability of the HPDIs.")
@options.sampling
@options.folder("Write tables, fit and figures here.")
@options.figure_style
@options.spreadsheet_safe
@options.as_json
@click.pass_context
def sentiment(
    context: click.Context,
    predictions: tuple[str, ...],
    classifiers: tuple[str, ...],
    names: tuple[str, ...],
    words: str,
    bayes: bool,
    logit: bool,
    model: str | None,
    covariates: tuple[str, ...],
    slope: tuple[str, ...],
    hypotheses: int | None,
    positive: str | None,
    no_check: bool,
    allow_pickle: bool,
    prob: float,
    seed: int | None,
    draws: int,
    tune: int,
    chains: int,
    out: Path | None,
    spreadsheet_safe: bool,
    as_json: bool,
) -> None:
    """Compare how classifiers rate women and men.

    Do they rate sentences about women and men in the same professions alike?

    The published analysis (a paired t-test over all sentence pairs) stands beside the same test over noun pairs and,
    with --bayes, a model with crossed effects of noun pairs and professions.

    With --json one object. For one classifier it holds f_minus_m (female - male), t (of male - female, as published),
    df, p_value, p_bonferroni, units, top, bottom, professions, noun_pairs, control and earnings; with --bayes also
    overall (these sentences alone), new_nouns, new_professions, population (both new), shares and, with --slope, slopes.
    For several it holds classifiers, a list of such objects, and contrasts between them. Beside them stand words, hypotheses,
    sentences, and with --bayes model, diagnostics, provenance and timing.
    """
    if context.invoked_subcommand is not None:
        given = [
            f"--{option.replace('_', '-')}"
            for option in context.params
            if context.get_parameter_source(option) is not click.core.ParameterSource.DEFAULT
        ]
        if given:
            raise InputError(
                "stands before a subcommand it does not belong to",
                where=context.invoked_subcommand,
                found=given[0],
            )
        return
    from bayesbias.runs.kinds import check_run_folder
    from bayesbias.runs.sentiment import sentiment_as_json

    started = time.perf_counter()
    if out is not None:
        check_run_folder(out, "sentiment")
    if logit and model is not None:
        raise InputError("--logit and --model name two models", valid="one of them")
    if covariates and not slope and model is None:
        raise InputError(
            "--covariates alone says nothing", valid="--slope COLUMN, or --model M that names one"
        )
    if not (bayes or logit or slope) and model is None:
        options.refuse_typed((*options.OF_MODELS, "seed"), "is for models", "--bayes, --logit or --model M")
    spec = None
    if bayes or logit or slope or model is not None:
        from bayesbias.models.loading import load_model

        spec = load_model(model or ("sentiment_logit" if logit else "sentiment"))
        if spec.results.group != "classifier":
            raise InputError(
                "is no model of sentiment",
                where=f"model {spec.name}",
                found=f"results per {spec.results.group}",
                valid="sentiment, sentiment_logit, or a copy of one",
            )
    from bayesbias.studies.sentiment import sentiment_analysis
    from bayesbias.wordlists.occupations import load_occupations

    listed = load_occupations(words)
    asked = inputs.slopes_named(slope, [])
    of_professions = _covariates_asked(listed, covariates, asked) if covariates or slope else []
    predictions_given = _predictions(
        predictions, classifiers, names, listed, positive, not no_check, allow_pickle, out, as_json
    )
    analysis = sentiment_analysis(*predictions_given, hypotheses=hypotheses)
    table = analysis.table
    if spec is not None and of_professions:
        from bayesbias.models.slopes import slopes_for
        from bayesbias.tables.sentiment import with_profession_covariates

        table = with_profession_covariates(table, of_professions)
        for covariate, by in asked.items():
            spec = slopes_for(spec, table, covariate, by)
    if spec is not None and spec.outcome == "logit_difference":
        _refuse_labels(analysis.table)
    loaded = time.perf_counter()
    fit, unfit = None, None
    if spec is not None:
        from bayesbias.studies.sentiment_fit import analysis_of, with_analysis

        how: dict[str, Any] = {
            "seed": seed,
            "draws": draws,
            "tune": tune,
            "chains": chains,
            "pointwise": False,
            "progress": False if as_json else None,
        }
        try:
            fit = with_analysis(bayesbias.fit(table, spec, **how), analysis)
            analysis = analysis_of(fit)
        except FitError as error:  # the tests need no model, and are worth printing
            unfit = f"no model was fitted, because of {_not_fitted(table, spec)}: {error}"
    payload = sentiment_as_json(analysis, fit, prob) | ({} if unfit is None else {"problem": unfit})
    timing = {"load_s": round(loaded - started, 4), "fit_s": round(time.perf_counter() - loaded, 4)}
    files = []
    if out is not None:
        result = analysis if fit is None else fit
        command = options.given()
        files = bayesbias.save_run(
            result,
            out,
            prob=prob,
            predictions=predictions_given,
            problem=unfit,
            command=command,
            spreadsheet_safe=spreadsheet_safe,
        )
    payload["timing"] = timing | {"total_s": round(time.perf_counter() - started, 4)}
    if as_json:
        screen.answer("sentiment", {**payload, "written": None if out is None else str(out)})
    else:
        print_sentiment(analysis, fit, prob)
        screen.written(files, run=None if fit is None else out)
    if unfit is not None:
        screen.say(f"bayesbias: {unfit}", err=True)
        context.exit(1)


def _covariates_asked(listed: Occupations, files: Sequence[str], asked: Iterable[str]) -> list[Any]:
    """Read the covariates, before anything is predicted: those of files, and of the list where slopes on them are asked."""
    from dataclasses import replace

    from bayesbias.core import checks
    from bayesbias.tables.reading_covariates import covariates_given
    from bayesbias.tables.sentiment import with_profession_covariates

    given = [covariate for file in files for covariate in covariates_given(file)]
    named = {covariate.name for covariate in given}
    own = {name: known for name, known in listed.covariates.items() if name in asked and name not in named}
    listed_covariates = [
        replace(covariate, unit=listed.units.get(covariate.name, "")) for covariate in covariates_given(own)
    ]
    covariates = [*given, *listed_covariates]
    for name in asked:
        checks.choice(name, [*named, *listed.covariates], "covariate", "--slope")
    with_profession_covariates(
        listed.professions[["profession", "category"]], covariates
    )  # refuses what no table could have
    return covariates


def _refuse_labels(table: pd.DataFrame) -> None:
    """Log odds of labels are infinite; what clipping makes of them is no size of anything."""
    from bayesbias.tables.sentiment import only_labels

    labels_only = only_labels(table)
    if labels_only:
        raise InputError(
            "gives labels, no probabilities, and labels have no log odds",
            where=f"classifier {labels_only[0]!r}",
            found="0 and 1 alone",
            hint="leave out --logit, or have the classifier return probabilities",
        )


def _not_fitted(table: pd.DataFrame, spec: ModelSpec) -> str:
    """Name the classifiers that the model cannot be fitted to by themselves."""
    names = []
    for name, part in table.groupby("classifier", sort=False, observed=True):
        try:
            bayesbias.fit(part, spec, seed=0, draws=1, tune=1, chains=1, pointwise=False, progress=False)
        except FitError:
            names.append(str(name))
    return ", ".join(names) or "all classifiers together"


@sentiment.command()
@click.option("--words", default="occupations", show_default=True, metavar="TOML")
@click.option("--control", is_flag=True, help="Add the control sentences.")
@click.option(
    "--out",
    type=options.Place(),
    required=True,
    metavar="FILE",
    help=".tsv or .csv; .txt for the sentences alone.",
)
@options.as_json
def sentences(words: str, control: bool, out: Path, as_json: bool) -> None:
    """Write the sentences of the test bench, in the published order.

    Predict them with any classifier, and hand the probabilities of the positive class, one a line and in this order, to
    `bayesbias sentiment --predictions`.
    """
    from bayesbias.core.files import whole_file
    from bayesbias.wordlists.occupations import load_occupations

    kinds = (".tsv", ".csv", ".txt")
    if out.suffix not in kinds:
        raise InputError("unknown kind of file", where=out, found=out.suffix, valid=kinds)
    if out.is_dir():
        raise InputError("is a folder, not a file", where=out)
    frame = load_occupations(words).sentences(control=control)
    with whole_file(out) as temporary:
        if out.suffix == ".txt":
            text = "\n".join(frame["sentence"]) + "\n"
            temporary.write_text(text, encoding="utf-8", newline="\n")
        else:
            write_csv(frame, temporary, separator="," if out.suffix == ".csv" else "\t")
    if as_json:
        screen.answer("sentiment.sentences", {"sentences": len(frame), "written": str(out)})
    else:
        screen.say(f"written: {out} ({len(frame)} sentences)")


@sentiment.command()
@click.option("--model", type=click.Choice(["bow", "bilstm"]), required=True, help="M.1 or M.2 of the paper.")
@click.option("--data", required=True, metavar="TSV", help="Sentences with labels 0 and 1, such as SST-2.")
@click.option("--dev", metavar="TSV", help="Labelled sentences for the accuracy, and for early stopping.")
@click.option("--vectors", metavar="E", help="Word vectors, for bilstm: a file, or minilm-static.")
@click.option("--words", metavar="TOML", help="bilstm: keep vectors of the words of this list too.")
@click.option("--name", metavar="N", help="A name; by default that of the model.")
@click.option("--seed", type=options.SEED, default=0, show_default=True, help="Of bilstm.")
@click.option("--epochs", type=click.IntRange(1), default=10, show_default=True, help="Of bilstm, at most.")
@options.folder("Write the classifier here.", required=True)
@options.as_json
def train(
    model: str,
    data: str,
    dev: str | None,
    vectors: str | None,
    words: str | None,
    name: str | None,
    seed: int,
    epochs: int,
    out: Path,
    as_json: bool,
) -> None:
    """Train a reference classifier of the paper; `bayesbias sentiment --classifier DIR` uses it.

    bow needs the extra `classifiers`, bilstm the extra `encoders` and word vectors. Using them needs neither.
    """
    from bayesbias.classifiers.bag_of_words import train_bow
    from bayesbias.classifiers.bilstm import train_bilstm
    from bayesbias.wordlists.occupations import load_occupations

    check_folder(out)
    if (out / "classifier.json").exists():
        screen.say(f"note: replaces the classifier that is in {out}", err=True)
    if model == "bow":
        chosen = (
            click.get_current_context().get_parameter_source("epochs")
            is click.core.ParameterSource.COMMANDLINE
        )
        for option, value in (
            ("--vectors", vectors),
            ("--words", words),
            ("--epochs", epochs if chosen else None),
        ):
            if value is not None:
                raise InputError(f"{option} is for bilstm", found=value)
        trained = train_bow(data, dev=dev, out=out, name=name or model)
    else:
        if vectors is None:
            raise InputError(
                "bilstm needs word vectors",
                valid="--vectors E, such as a file in fastText's or GloVe's format",
            )
        texts = [] if words is None else load_occupations(words).sentences(control=True)["sentence"].tolist()
        known = sorted({word for text in texts for word in re.findall(r"\w+", text.lower())})
        trained = train_bilstm(
            data,
            vectors,
            dev=dev,
            out=out,
            name=name or model,
            words=known,
            seed=seed,
            epochs=epochs,
            progress=False if as_json else None,
        )
    if as_json:
        covariates = {"name": trained.name, "written": str(out), **trained.provenance}
        screen.answer("sentiment.train", covariates)
        return
    screen.say(repr(trained))
    for sentence in trained.weaknesses():
        screen.say(f"look again: {sentence}")
    screen.say(f"written: {out}")


def _predictions(
    files: Sequence[str],
    classifiers: Sequence[str],
    names: Sequence[str],
    listed: Occupations,
    positive: str | None,
    check: bool,
    allow_pickle: bool,
    out: Path | None,
    quiet: bool,
) -> list[Predictions]:
    from bayesbias.classifiers.loading import load_classifier
    from bayesbias.classifiers.predicting import ClassifierError, predict
    from bayesbias.classifiers.prediction_files import load_predictions

    n = len(files) + len(classifiers)
    if not n:
        raise InputError("nothing to analyse", valid="--predictions FILE or --classifier X")
    if names and len(names) != n:
        raise InputError("each input needs a name, or none", where="--name", found=len(names), valid=str(n))
    called: list[str | None] = [*names] if names else [None] * n
    # Beside classifiers it names one of their classes; for files alone a column.
    column = None if classifiers else _column(positive)
    predictions = [
        load_predictions(_shipped(file), listed, name=name, positive=column)
        for file, name in zip(files, called, strict=False)
    ]
    for x, name in zip(classifiers, called[len(files) :], strict=True):
        model = load_classifier(x, name=name, positive=positive, allow_pickle=allow_pickle, corpus=listed)
        # Finished batches are kept where there is a folder for them.
        partial = (
            None if out is None else out / f"unfinished-{re.sub(r'[^A-Za-z0-9_.-]+', '-', model.name)}.csv"
        )
        try:
            predictions.append(
                predict(model, listed, partial=partial, check=check, progress=False if quiet else None)
            )
        except ClassifierError as error:
            kept = "with --out DIR they are kept, and a second run takes them up"
            raise InputError(
                str(error).replace("with partial=FILE a second run takes them up", kept)
            ) from error
    return predictions


def _shipped(file: str) -> str:
    from bayesbias.core.files import data_dir, list_names

    if file in list_names("sentiment", ".csv") and not Path(file).exists():
        return str(data_dir("sentiment") / f"{file}.csv")
    return file


def _column(positive: str | None) -> int | None:
    """Return which of two columns of a file is the positive class."""
    if positive not in (None, "0", "1"):
        raise InputError(
            "of a file of predictions it names a column", where="--positive", found=positive, valid="0, 1"
        )
    return None if positive is None else int(positive)
