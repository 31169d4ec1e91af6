"""The commands ``bayesbias sentiment``, ``bayesbias sentiment sentences`` and ``bayesbias sentiment train``."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesbias import _cli_options as options
from bayesbias._resources import check_folder, records
from bayesbias.errors import BayesbiasError, FitError, InputError

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.posterior import BiasFit
    from bayesbias.sentiment import Occupations, Predictions, SentimentAnalysis
    from bayesbias.spec import ModelSpec

_SHOWN = 4  # rows at either end of a list
_TABLES = (
    "predictions", "pairs", "tests", "professions", "noun_pairs", "control", "earnings", "summary", "shares", "effects",
    "classifiers",
)  # fmt: skip
_FIGURES = ("professions", "noun_pairs", "predictive", "genders", "earnings")
_ALL = (
    "fit.nc",
    *(f"{name}.csv" for name in _TABLES),
    *(f"figures/{name}.{kind}" for name in _FIGURES for kind in ("png", "svg")),
)


@click.group(invoke_without_command=True)
@click.option(
    "--predictions", multiple=True, metavar="FILE",
    help="A file of predictions, or m1, which is shipped; may be given several times.",
)  # fmt: skip
@click.option(
    "--classifier", "classifiers", multiple=True, metavar="X",
    help="A folder made by `train`, joblib:PATH, transformers:NAME_OR_PATH; may be given several times.",
)  # fmt: skip
@click.option(
    "--name", "names", multiple=True, metavar="N",
    help="A name for each input, in this order: files of predictions, then classifiers.",
)  # fmt: skip
@click.option(
    "--words", default="occupations", show_default=True, metavar="TOML", help="Nouns, professions, template."
)
@click.option("--bayes", is_flag=True, help="Fit the crossed model too.")
@click.option("--logit", is_flag=True, help="Fit it to log odds; implies --bayes.")
@click.option("--model", metavar="M", help="A model of your own (TOML) in their place; implies --bayes.")
@click.option(
    "--hypotheses", type=click.IntRange(1), metavar="K",
    help="How many tests Bonferroni's correction is for; by default one per classifier.",
)  # fmt: skip
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
@options.as_json()
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
    as_json: bool,
) -> None:
    """Test whether sentiment classifiers rate sentences about women and men in the same professions alike.

    The published analysis (a paired t-test over all sentence pairs) stands beside the same test over noun pairs and,
    with --bayes, a model with crossed effects of noun pairs and professions.

    With --json one object. For one classifier it holds f_minus_m (female - male), t (of male - female, as published),
    df, p_value, p_bonferroni, units, top, bottom, professions, noun_pairs, control and earnings; with --bayes also
    overall (these sentences alone), new_nouns, new_professions, population (both new) and shares. For several it
    holds classifiers, a list of such objects, and contrasts between them. Beside them stand words, hypotheses, sentences, and
    with --bayes model, diagnostics, provenance and timing.
    """
    if context.invoked_subcommand is not None:
        given = [
            f"--{option.replace('_', '-')}"
            for option in context.params
            if context.get_parameter_source(option) is not click.core.ParameterSource.DEFAULT
        ]
        if given:
            raise InputError(
                "stands before a subcommand it does not belong to", where=context.invoked_subcommand, found=given[0]
            )  # fmt: skip
        return
    started = time.perf_counter()
    check_folder(out)
    if logit and model is not None:
        raise InputError("--logit and --model name two models", valid="one of them")
    spec = None
    if bayes or logit or model is not None:
        from bayesbias.spec import load_model

        spec = load_model(model or ("sentiment_logit" if logit else "sentiment"))
        if spec.results.group != "classifier":
            raise InputError(
                "is no model of sentiment", where=f"model {spec.name}", found=f"results per {spec.results.group}",
                valid="sentiment, sentiment_logit, or a copy of one",
            )  # fmt: skip
    from bayesbias.sentiment import load_occupations, published_analysis

    listed = load_occupations(words)
    found = _predictions(
        predictions, classifiers, names, listed, positive, not no_check, allow_pickle, out, as_json
    )
    analysis = published_analysis(*found, hypotheses=hypotheses)
    if spec is not None and spec.outcome == "logit_difference":
        _refuse_labels(analysis.table)
    loaded = time.perf_counter()
    fit, unfit = None, None
    if spec is not None:
        import bayesbias
        from bayesbias._reporting_sentiment import with_analysis

        how: dict[str, Any] = {
            "seed": seed, "draws": draws, "tune": tune, "chains": chains, "pointwise": False,
            "progress": False if as_json else None,
        }  # fmt: skip
        try:
            fit = with_analysis(bayesbias.fit(analysis.table, spec, **how), analysis)
        except FitError as error:  # the tests need no model, and are worth printing
            unfit = f"no model was fitted, because of {_not_fitted(analysis.table, spec)}: {error}"
    payload = sentiment_json(analysis, fit, prob) | ({} if unfit is None else {"problem": unfit})
    timing = {"load_s": round(loaded - started, 4), "fit_s": round(time.perf_counter() - loaded, 4)}
    files = write_sentiment(found, analysis, fit, out, prob, payload) if out else []
    payload["timing"] = timing | {"total_s": round(time.perf_counter() - started, 4)}
    if as_json:
        click.echo(json.dumps(payload, allow_nan=False))
    else:
        _print(analysis, fit, prob, files)
    if unfit is not None:
        click.echo(f"bayesbias: {unfit}", err=True)
        context.exit(1)


def _refuse_labels(table: pd.DataFrame) -> None:
    """Log odds of labels are infinite; what clipping makes of them is no size of anything."""
    from bayesbias.sentiment import only_labels

    found = only_labels(table)
    if found:
        raise InputError(
            "gives labels, no probabilities, and labels have no log odds", where=f"classifier {found[0]!r}",
            found="0 and 1 alone", hint="leave out --logit, or have the classifier return probabilities",
        )  # fmt: skip


def _not_fitted(table: pd.DataFrame, spec: ModelSpec) -> str:
    """Name the classifiers that the model cannot be fitted to by themselves."""
    import bayesbias

    found = []
    for name, part in table.groupby("classifier", sort=False, observed=True):
        try:
            bayesbias.fit(part, spec, seed=0, draws=1, tune=1, chains=1, pointwise=False, progress=False)
        except FitError:
            found.append(str(name))
    return ", ".join(found) or "all classifiers together"


@sentiment.command()
@click.option("--words", default="occupations", show_default=True, metavar="TOML")
@click.option("--control", is_flag=True, help="Add the control sentences.")
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, metavar="FILE",
    help=".tsv or .csv; .txt for the sentences alone.",
)  # fmt: skip
def sentences(words: str, control: bool, out: Path) -> None:
    """Write the sentences of the test bench, in the published order.

    Predict them with any classifier, and hand the probabilities of the positive class, one a line and in this order, to
    `bayesbias sentiment --predictions`.
    """
    from bayesbias._resources import whole_file
    from bayesbias.sentiment import load_occupations

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
            frame.to_csv(temporary, index=False, sep="," if out.suffix == ".csv" else "\t")
    click.echo(f"written: {out} ({len(frame)} sentences)")


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
@options.as_json()
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
    from bayesbias.sentiment import load_occupations, train_bilstm, train_bow

    check_folder(out)
    if (out / "classifier.json").exists():
        click.echo(f"note: replaces the classifier that is in {out}", err=True)
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
        made = train_bow(data, dev=dev, out=out, name=name or model)
    else:
        if vectors is None:
            raise InputError(
                "bilstm needs word vectors",
                valid="--vectors E, such as a file in fastText's or GloVe's format",
            )
        texts = [] if words is None else load_occupations(words).sentences(control=True)["sentence"].tolist()
        known = sorted({word for text in texts for word in re.findall(r"\w+", text.lower())})
        made = train_bilstm(
            data, vectors, dev=dev, out=out, name=name or model, words=known, seed=seed, epochs=epochs,
            progress=False if as_json else None,
        )  # fmt: skip
    if as_json:
        facts = {"name": made.name, "written": str(out), **made.provenance}
        click.echo(json.dumps(facts, allow_nan=False))
        return
    click.echo(repr(made))
    for sentence in made.weaknesses():
        click.echo(f"look again: {sentence}")
    click.echo(f"written: {out}")


# -- input -------------------------------------------------------------------------------------------------


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
    from bayesbias.sentiment import ClassifierError, load_classifier, predict, read_predictions

    n = len(files) + len(classifiers)
    if not n:
        raise InputError("nothing to analyse", valid="--predictions FILE or --classifier X")
    if names and len(names) != n:
        raise InputError("each input needs a name, or none", where="--name", found=len(names), valid=str(n))
    called: list[str | None] = [*names] if names else [None] * n
    # Beside classifiers it names one of their classes; for files alone a column.
    column = None if classifiers else _column(positive)
    found = [
        read_predictions(_shipped(file), listed, name=name, positive=column)
        for file, name in zip(files, called, strict=False)
    ]
    for x, name in zip(classifiers, called[len(files) :], strict=True):
        model = load_classifier(x, name=name, positive=positive, allow_pickle=allow_pickle, corpus=listed)
        # Finished batches are kept where there is a folder for them.
        partial = (
            None if out is None else out / f"unfinished-{re.sub(r'[^A-Za-z0-9_.-]+', '-', model.name)}.csv"
        )
        try:
            found.append(
                predict(model, listed, partial=partial, check=check, progress=False if quiet else None)
            )
        except ClassifierError as error:
            kept = "with --out DIR they are kept, and a second run takes them up"
            raise InputError(
                str(error).replace("with partial=FILE a second run takes them up", kept)
            ) from error
    return found


def _shipped(file: str) -> str:
    from bayesbias._resources import data_dir, shipped_names

    if file in shipped_names("sentiment", ".csv") and not Path(file).exists():
        return str(data_dir("sentiment") / f"{file}.csv")
    return file


def _column(positive: str | None) -> int | None:
    """Return which of two columns of a file is the positive class."""
    if positive not in (None, "0", "1"):
        raise InputError(
            "of a file of predictions it names a column", where="--positive", found=positive, valid="0, 1"
        )
    return None if positive is None else int(positive)


# -- output ------------------------------------------------------------------------------------------------


def sentiment_json(analysis: SentimentAnalysis, fit: BiasFit | None, prob: float) -> dict[str, Any]:
    """Return what ``bayesbias sentiment --json`` prints, but for the timing."""
    from bayesbias._reporting_sentiment import contrasts_or_why_not, sentiment_doubts, sentiment_in_words

    each = [_of_classifier(analysis, fit, name, prob) for name in analysis.classifiers]
    out: dict[str, Any] = dict(each[0]) if len(each) == 1 else {"classifiers": each}
    out |= {
        "words": analysis.provenance.get("occupations", {}),
        "hypotheses": analysis.provenance["hypotheses"],
        "directions": {"f_minus_m": "female - male", "t": "male - female"},
        "sentences": sentiment_in_words(analysis, fit, prob),
        "notes": list(analysis.notes),
    }
    if fit is None:
        return out | {"provenance": {"classifiers": analysis.provenance["classifiers"]}}
    if len(each) > 1:
        compared, _ = contrasts_or_why_not(fit, prob)
        out["contrasts"] = [] if compared is None else records(compared)
    provenance = dict(fit.provenance)
    provenance.pop("timing", None)
    provenance["classifiers"] = analysis.provenance["classifiers"]
    return out | {
        "model": fit.spec.name,
        "outcome": fit.spec.outcome,
        "diagnostics": fit.diagnostics(),
        "doubts": sentiment_doubts(fit),
        "provenance": provenance,
    }


def _of_classifier(
    analysis: SentimentAnalysis, fit: BiasFit | None, name: str, prob: float
) -> dict[str, Any]:
    found = analysis.as_dict(name)
    found.pop("notes")
    if fit is None:
        return found
    for key, estimand in (
        ("overall", "these_words"),
        ("new_nouns", "new_nouns"),
        ("new_professions", "new_professions"),
        ("population", "population"),
    ):
        found[key] = _first(fit.summary(prob, estimand), name)
    found["shares"] = {
        row["source"]: {k: row[k] for k in ("mean", "sd", "hpdi_low", "hpdi_high", "prob")}
        for row in records(fit.shares(prob, group=name))
    }
    for level, rows in (("profession", found["professions"]), ("noun_pair", found["noun_pairs"])):
        for estimand in ("these_words", "population"):
            frame = fit.means(level, prob, estimand)
            frame = frame[frame["classifier"] == name].set_index("name")
            for row in rows:
                row[estimand] = _interval(frame.loc[row[level]].to_dict())
    return found


def _first(frame: pd.DataFrame, name: str) -> dict[str, Any]:
    (row,) = records(frame[frame["classifier"] == name])
    return _interval(row) | {k: row[k] for k in ("estimand", "ess_bulk", "r_hat")}


def _interval(row: dict[str, Any]) -> dict[str, Any]:
    return {k: float(row[k]) for k in ("mean", "sd", "hpdi_low", "hpdi_high", "prob")}


def write_sentiment(
    found: Sequence[Predictions],
    analysis: SentimentAnalysis,
    fit: BiasFit | None,
    out: Path,
    prob: float,
    payload: dict[str, Any],
) -> list[Path]:
    """Write predictions, tables, fit and figures into a folder; files of an earlier run stay until all are made."""
    import tempfile

    made = not out.exists()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the output folder cannot be made ({error.strerror})", where=out) from None
    try:
        with tempfile.TemporaryDirectory(prefix=".unfinished-", dir=out) as name:
            inner = Path(name)
            files = _write_files(found, analysis, fit, inner, prob, payload)
            written = [path.relative_to(inner) for path in files]
            for path in written:
                (out / path).parent.mkdir(exist_ok=True)
                os.replace(inner / path, out / path)
            # What an earlier run left and this one does not make would be taken for its own.
            for path in {Path(name) for name in _ALL} - set(written):
                (out / path).unlink(missing_ok=True)
    except BayesbiasError as error:
        raise InputError(str(error).replace(name, str(out))) from error
    finally:
        if made and not any(out.iterdir()):
            out.rmdir()
    return [out / path for path in written]


def _write_files(
    found: Sequence[Predictions],
    analysis: SentimentAnalysis,
    fit: BiasFit | None,
    out: Path,
    prob: float,
    payload: dict[str, Any],
) -> list[Path]:
    import pandas as pd

    from bayesbias._figures_sentiment import save_sentiment_figures
    from bayesbias._reporting_sentiment import ESTIMANDS, contrasts_or_why_not
    from bayesbias._resources import whole_file

    frames = {
        "predictions": pd.concat([p.frame for p in found], ignore_index=True),
        "pairs": analysis.table,
        "tests": analysis.tests,
        "professions": analysis.professions,
        "noun_pairs": analysis.noun_pairs,
        "control": analysis.control,
        "earnings": analysis.earnings,
    }
    files: list[Path] = []
    if fit is not None:
        files.append(out / "fit.nc")
        fit.save(files[0])
        names = analysis.classifiers
        frames["summary"] = pd.concat([fit.summary(prob, e) for e in ESTIMANDS], ignore_index=True)
        frames["shares"] = pd.concat(
            [fit.shares(prob, group=n).assign(classifier=n) for n in names], ignore_index=True
        )
        frames["effects"] = pd.concat(
            [
                fit.means(level, prob, e)
                for level in ("profession", "noun_pair")
                for e in ("these_words", "population")
            ],
            ignore_index=True,
        )
        if (compared := contrasts_or_why_not(fit, prob)[0]) is not None:
            frames["classifiers"] = compared
    for stem, frame in frames.items():
        if len(frame):
            files.append(out / f"{stem}.csv")
            with whole_file(files[-1]) as temporary:
                frame.to_csv(temporary, index=False)
    texts = {
        "result.json": json.dumps(payload, allow_nan=False, indent=2) + "\n",
        "result.txt": "\n".join(
            [
                *payload["sentences"],
                *(f"Look again: {doubt}." for doubt in payload.get("doubts", [])),
                *(f"Note: {note}." for note in payload["notes"]),
            ]
        )
        + "\n",
    }
    for stem, text in texts.items():
        files.append(out / stem)
        with whole_file(files[-1]) as temporary:
            temporary.write_text(text, encoding="utf-8")
    result = fit if fit is not None else analysis
    return [
        *files,
        *save_sentiment_figures(result, out / "figures", prob=prob, earnings=analysis.provenance["earnings"]),
    ]


def _print(analysis: SentimentAnalysis, fit: BiasFit | None, prob: float, files: list[Path]) -> None:
    import sys

    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from bayesbias._reporting_sentiment import (
        ESTIMANDS,
        between_classifiers,
        sentiment_doubts,
        sentiment_in_words,
        signed,
        verdict,
    )

    console = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 120)

    def show(title: str, head: list[str], rows: Iterable[list[str]]) -> None:
        table = Table(
            title=escape(title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1)
        )
        for place, column in enumerate(head):
            table.add_column(column, no_wrap=True, justify="right" if place else "left")
        for row in rows:
            table.add_row(*map(escape, row))
        console.print(table)

    def number(value: Any, form: str) -> str:
        return "-" if value is None else format(value, form)

    interval = f"{prob:.0%} HPDI"
    for name in analysis.classifiers:
        found = analysis.as_dict(name)
        show(
            f"{name}: paired t-tests of male against female",
            ["one observation is", "n", "female - male", "t (male - female)", "p"],
            [
                [
                    row.get("unit", "sentence_pair").replace("_", " "),
                    str(row["n"]),
                    f"{row['f_minus_m']:+.4f}",
                    number(row["t"], ".2f"),
                    number(row["p_value"], ".2g"),
                ]
                for row in (found, *found["units"])
            ],
        )
        if fit is not None and fit.diagnostics()["ok"]:
            rows = []
            for estimand, holds in ESTIMANDS.items():
                row = _first(fit.summary(prob, estimand), name)
                ends = row["hpdi_low"], row["hpdi_high"]
                mean, low, high = signed(row["mean"], *ends)
                rows.append([holds, mean, f"{low} to {high}", verdict(*ends)])
            scale = "log odds" if fit.spec.outcome == "logit_difference" else "probability"
            show(
                f"{name}: female - male by the model {fit.spec.name}, in {scale}",
                ["holds for", "mean", interval, "verdict"],
                rows,
            )
        pairs = [[r["noun_pair"], f"{r['difference']:+.3f}"] for r in found["noun_pairs"]]
        show(f"{name}: noun pairs", ["noun pair", "female - male"], _ends(pairs))
        professions = [
            [r["profession"], f"{r['sentiment']:.3f}", f"{r['difference']:+.3f}"]
            for r in found["professions"]
        ]
        show(
            f"{name}: professions, by their sentiment",
            ["profession", "sentiment", "female - male"],
            _ends(professions),
        )
        for sentence in sentiment_in_words(analysis, fit, prob, name):
            console.print(escape(sentence))
        console.print()
    if fit is not None:
        for sentence in between_classifiers(fit, prob):
            console.print(escape(sentence))
        for sentence in sentiment_doubts(fit):
            console.print(escape(f"look again: {sentence}"))
        state = fit.diagnostics()
        for problem in state["problems"]:
            console.print(escape(f"NOT TO BE TRUSTED YET: {problem}"))
        if state["ok"]:
            console.print(
                f"converged: R-hat at most {state['max_r_hat']:.3f}, at least {state['min_ess_bulk']:.0f} effective draws"
            )
    for note in analysis.notes:
        console.print(escape(f"note: {note}"))
    if files:
        console.print("\n".join(["written:", *(f"  {escape(str(path))}" for path in files)]))


def _ends(rows: list[list[str]]) -> list[list[str]]:
    if len(rows) <= 2 * _SHOWN + 1:
        return rows
    return [*rows[:_SHOWN], ["...", *[""] * (len(rows[0]) - 1)], *rows[-_SHOWN:]]
