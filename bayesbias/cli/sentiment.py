"""The command ``bayesbias sentiment`` and its subcommands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesbias.cli import shared
from bayesbias.core.errors import FitError, InputError
from bayesbias.core.files import data_dir, list_names

if TYPE_CHECKING:
    from bayesbias.classifiers.predictions import Predictions


@click.group(cls=shared.Group, invoke_without_command=True)
@click.option(
    "--predictions",
    multiple=True,
    metavar="FILE",
    help="Predicted probabilities, or m1. Repeatable.",
)
@click.option(
    "--classifier",
    "classifiers",
    multiple=True,
    metavar="X",
    help="Folder, pipeline, module:function. Repeatable.",
)
@click.option(
    "--name", "names", multiple=True, metavar="N", help="Names, in the order of the inputs."
)
@click.option(
    "--words", default="occupations", metavar="TOML", help="Nouns, professions, template."
)
@click.option("--bayes", is_flag=True, help="Fit the model too.")
@click.option("--logit", is_flag=True, help="Fit it to log odds.")
@click.option("--model", metavar="M", help="Fit a model of your own (TOML).")
@click.option(
    "--hypotheses", type=click.IntRange(1), metavar="K", help="Tests for Bonferroni's correction."
)
@click.option("--positive", metavar="LABEL", help="The positive class.")
@click.option(
    "--no-check", is_flag=True, hidden=True, help="Accept a classifier that seems reversed."
)
@shared.options("covariates", "slope", "allow_pickle", *shared.SAMPLING[:-1], "prob", "require")
@shared.options(*shared.OUTPUT)
@click.pass_context
def sentiment(ctx: click.Context, words: str, **given: Any) -> None:
    """Compare how classifiers rate women and men."""
    if ctx.invoked_subcommand is not None:
        return
    import bayesbias as bb

    if given["logit"] and given["model"]:
        raise InputError("expected --logit or --model, got both")
    shared.check_out(given, "sentiment")
    fitted = given["bayes"] or given["logit"] or given["slope"] or given["model"]
    spec = (
        bb.load_model(given["model"] or ("sentiment_logit" if given["logit"] else "sentiment"))
        if fitted
        else None
    )
    listed = bb.wordlists.load_occupations(words)
    result = bb.sentiment_analysis(*_predictions(given, listed), hypotheses=given["hypotheses"])
    extra = {}
    if spec is not None:
        table, spec = _with_slopes(result.table, spec, given, listed)
        try:
            result = bb.studies.fit_sentiment(
                result, spec, table=table, **shared.sampling_of(given)
            )
        except FitError as error:  # the tests need no model
            extra["problem"] = f"no model was fitted: {error}"
            click.echo(f"bayesbias: {extra['problem']}", err=True)
    shared.show(result, given, extra=extra)
    ctx.exit(len(extra))


def _predictions(given: dict[str, Any], listed: Any) -> list[Predictions]:
    """Read files of predictions, and have classifiers predict."""
    import bayesbias as bb

    files, classifiers, out = given["predictions"], given["classifiers"], given["out"]
    if not files and not classifiers:
        raise InputError("expected --predictions or --classifier, got neither")
    names = [*given["names"], *[None] * (len(files) + len(classifiers) - len(given["names"]))]
    column = int(given["positive"]) if given["positive"] in ("0", "1") and not classifiers else None
    shipped = {
        name: data_dir("sentiment") / f"{name}.csv" for name in list_names("sentiment", ".csv")
    }
    found = [
        bb.load_predictions(shipped.get(file, file), listed, name=name, positive=column)
        for file, name in zip(files, names, strict=False)
    ]
    for source, name in zip(classifiers, names[len(files) :], strict=True):
        model = bb.load_classifier(
            source,
            name=name,
            positive=given["positive"],
            allow_pickle=given["allow_pickle"],
        )
        unfinished = f"unfinished-{re.sub(r'[^A-Za-z0-9_.-]+', '-', model.name)}.csv"
        found.append(
            bb.score_sentences(
                model,
                listed,
                partial=None if out is None else out / unfinished,
                check=not given["no_check"],
                progress=False if given["as_json"] else None,
            )
        )
    return found


def _with_slopes(table: Any, spec: Any, given: dict[str, Any], listed: Any) -> tuple[Any, Any]:
    """Add covariates about professions to the table, and slopes on them to the model."""
    from bayesbias.models.variants import slopes_for
    from bayesbias.tables.covariates import covariates_given
    from bayesbias.tables.sentiment import with_profession_covariates

    asked = shared.slopes_of(given["slope"])
    known = [covariate for file in given["covariates"] for covariate in covariates_given(file)]
    named = {covariate.name for covariate in known}
    own = {k: v for k, v in listed.covariates.items() if k in asked and k not in named}
    known += covariates_given(own) if own else []
    if known:
        table = with_profession_covariates(table, known)
    for name, by in asked.items():
        if name not in table:
            valid = ", ".join([*named, *listed.covariates])
            raise InputError(f"expected a covariate, got {name!r}", where="--slope", valid=valid)
        spec = slopes_for(spec, table, name, by)
    return table, spec


@sentiment.command()
@click.option(
    "--words", default="occupations", metavar="TOML", help="Nouns, professions, template."
)
@click.option("--control", is_flag=True, help="Add the control sentences.")
@click.option(
    "--out", type=shared.PATH, required=True, metavar="FILE", help="A .tsv, .csv or .txt file."
)
@shared.options("as_json")
def sentences(words: str, control: bool, out: Path, **given: Any) -> None:
    """Write the sentences to rate."""
    import bayesbias as bb

    if out.suffix not in (".tsv", ".csv", ".txt"):
        raise InputError(f"expected a .tsv, .csv or .txt file, got {out.name!r}", where="--out")
    try:
        frame = bb.wordlists.load_occupations(words).sentences(control=control)
    except InputError:  # of other groups than women and men, or without professions
        if not Path(words).is_file():
            raise
        frame = bb.studies.response_sentences(words)
    if out.suffix == ".txt":
        out.write_text("\n".join(frame["sentence"]) + "\n", encoding="utf-8")
    else:
        frame.to_csv(out, index=False, sep="," if out.suffix == ".csv" else "\t")
    said = f"Written  {len(frame)} sentences to {out}"
    shared.tell({"sentences": len(frame), "written": str(out)}, said)


@sentiment.command()
@click.option(
    "--model", type=click.Choice(["bow", "bilstm"]), required=True, help="Bag of words or BiLSTM."
)
@click.option("--data", required=True, metavar="TSV", help="Sentences with labels 0 and 1.")
@click.option("--dev", metavar="TSV", help="Sentences for accuracy and early stopping.")
@click.option("--vectors", metavar="E", help="bilstm: word vectors.")
@click.option("--words", metavar="TOML", help="bilstm: keep the vectors of this list too.")
@click.option("--name", metavar="N", help="A name [that of the model].")
@click.option("--epochs", type=click.IntRange(1), default=10, help="bilstm: most epochs.")
@shared.options("seed", seed=0)
@click.option(
    "--out", type=shared.PATH, required=True, metavar="DIR", help="Write the classifier here."
)
@shared.options("as_json")
def train(model: str, out: Path, **given: Any) -> None:
    """Train a reference classifier of the paper."""
    import bayesbias as bb
    from bayesbias.classifiers import train_bilstm, train_bow

    name = given["name"] or model
    if model == "bow":
        trained = train_bow(given["data"], dev=given["dev"], out=out, name=name)
    else:
        if given["vectors"] is None:
            raise InputError("expected word vectors for bilstm, got none", hint="add --vectors E")
        texts = []
        if given["words"] is not None:
            texts = (
                bb.wordlists.load_occupations(given["words"])
                .sentences(control=True)["sentence"]
                .tolist()
            )
        trained = train_bilstm(
            given["data"],
            given["vectors"],
            dev=given["dev"],
            out=out,
            name=name,
            words=sorted({word for text in texts for word in re.findall(r"\w+", text.lower())}),
            seed=given["seed"],
            epochs=given["epochs"],
            progress=False if given["as_json"] else None,
        )
    answer = {"name": trained.name, "written": str(out), **trained.provenance}
    shared.tell(answer, repr(trained), f"Written  {out}")
