"""The commands ``bayesbias responses`` and ``sentiment`` with their subcommands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import bayesbias as bb
from bayesbias.cli import shared
from bayesbias.core import files
from bayesbias.core.errors import FitError, InputError
from bayesbias.core.sections import Column

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.classifiers.predictions import Predictions
    from bayesbias.studies.responses.table import Responses


@click.group(cls=shared.Group)
def responses() -> None:
    """Compare answers about groups, of any model."""


@responses.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@shared.options(
    "own.responses-read", "own.responses-fit", *shared.SAMPLING, "prob", "require", *shared.OUTPUT
)
def fit(files: tuple[str, ...], **given: Any) -> None:
    """Fit crossed effects of words, prompts and items."""
    shared.check_out(given, "responses")
    from bayesbias.studies.responses import limits

    table = _answers(files, given)
    if given["require"]:  # names are known before the fit
        limits.check_names(table, given["require"])
    sampling = shared.sampling_of(given)
    result = bb.fit_responses(table, given["model"], rope=given["rope"], **sampling)
    shared.show(result, given)
    if result.fit is None and result.notes[-1].startswith("The sampler failed"):
        click.get_current_context().exit(1)


def _answers(files: tuple[str, ...], given: dict[str, Any]) -> Responses:
    """Read the table of answers of a command."""
    named = shared.pairs_of(given["columns"], "--columns", "OURS=THEIRS, such as outcome=score")
    values = shared.numbers_named(given["map"], "--map", "LABEL=NUMBER, such as Hire=1,Reject=0")
    if given["outcome"] not in (None, "refused"):
        named["outcome"] = given["outcome"]
    return bb.studies.load_responses(
        files,
        layout=given["layout"],
        columns=named,
        positive=given["positive"],
        where=given["where"],
        refused=given["outcome"] == "refused",
        values=values,
    )


SPLITS = (
    Column("split", "split", "count"),
    Column("model", "model"),
    Column("mean", "mean", "signed"),
    Column("hpdi_low", "{prob} HPDI", "interval", upper="hpdi_high"),
    Column("excluded", "excludes 0"),
)


@responses.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@shared.options(
    "own.responses-read",
    "own.responses-placebo",
    "seed",
    "engine",
    "prob",
    "as_json",
    seed=0,
    engine="quick",
)
def placebo(files: tuple[str, ...], **given: Any) -> None:
    """Compare random halves of the words of one group."""
    table = _answers(files, given)
    goal = shared.chosen(given, "splits", "seed", "prob", "engine")
    progress = False if given["as_json"] else None
    frame = bb.studies.fit_placebo(table, given["group"], **goal, progress=progress)

    about, n = frame.attrs, len(frame)
    low, high = about["range"]
    said = (
        f"{about['excluded']} of {n} intervals exclude 0. By chance {about['expected']:.1f} are "
        f"expected, and with a probability of 95% {low} to {high}."
    )
    warnings = []
    if about["excluded"] > high:
        warnings.append(
            "Intervals exclude 0 too often: something that answers share is missing in the columns. "
            "Name the prompt and the item (--columns template=NAME,item=NAME)."
        )
    notes = ["Splits share their answers, so that the range is a little too narrow."]
    if about["excluded"] < low:
        notes.append("Intervals exclude 0 less often than they might: they are on the safe side.")
    shown = frame.assign(excluded=frame["excludes_zero"].map({True: "yes", False: "no"}))
    columns = [column for column in SPLITS if column.name != "model" or frame["model"].ne("").any()]
    halves = f"{about['words']} {table.noun}s of {about['group']} in two random halves"
    lines = [f"\nDifference of {halves}\n", *shared.lines_of(shown, columns, given["prob"])]
    answer = {**goal, **about, "rows": frame.to_dict("records")}
    shared.tell_table(answer, f"placebo | seed {given['seed']}", lines, said, notes, warnings)


@responses.command("sentences")
@shared.options("own.responses-sentences", "as_json")
def response_sentences(words: str, out: Path, **given: Any) -> None:
    """Write balanced sentences to rate, or a task that asks them."""
    harness = given["task"]
    if harness is None:
        files.check_not_input(out, [words])
        _write(bb.wordlists.response_sentences(words), out)
        return
    from bayesbias.wordlists.harness_tasks import harness_task

    sentences = bb.wordlists.response_sentences(words)
    texts = harness_task(sentences, harness)
    for name in texts:
        files.check_not_input(out / name, [words])
    with files.guarded(out, "a folder that can be written"):
        out.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            with files.whole_file(out / name) as temporary:
                temporary.write_text(text, encoding="utf-8")
    run = {
        "inspect": "inspect eval questions.py --model MODEL --epochs 2",
        "lm_eval": "lm_eval --model hf --model_args pretrained=MODEL --include_path . "
        "--tasks questions --log_samples --output_path results",
    }
    logs = {"inspect": "logs/*.eval", "lm_eval": "results/*/samples_questions_*.jsonl"}
    folder = shlex.quote(str(out))
    ask = f"(cd {folder} && {run[harness]})"
    fit = f"bayesbias responses fit {folder}/{logs[harness]} --seed 1"
    told = f"Written  {len(sentences)} questions to {out}"
    answer = {"sentences": len(sentences), "written": str(out)}
    shared.tell(answer, told, f"Run once for each model: {ask}", f"Then: {fit}")


def _write(frame: pd.DataFrame, out: Path) -> None:
    """Write sentences with their labels, or alone in a text file."""
    if out.suffix not in (".tsv", ".csv", ".txt"):
        raise InputError(f"expected a .tsv, .csv or .txt file, got {out.name!r}", where="--out")
    with files.whole_file(out) as temporary:
        if out.suffix == ".txt":
            temporary.write_text("\n".join(frame["sentence"]) + "\n", encoding="utf-8")
        else:
            delimiter = "," if out.suffix == ".csv" else "\t"
            files.write_csv(frame, temporary, delimiter=delimiter, exact=True)
    said = f"Written  {len(frame)} sentences to {out}"
    shared.tell({"sentences": len(frame), "written": str(out)}, said)


@click.group(cls=shared.Group, invoke_without_command=True)
@shared.options(
    "own.sentiment",
    "covariates",
    "slope",
    "allow_pickle",
    *shared.SAMPLING[:-1],
    "prob",
    "alpha",
    "require",
)
@shared.options(*shared.OUTPUT)
@click.pass_context
def sentiment(ctx: click.Context, words: str, **given: Any) -> None:
    """Compare how classifiers rate women and men."""
    if ctx.invoked_subcommand is not None:
        return
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
    result = bb.sentiment_analysis(
        *_predictions(given, listed), hypotheses=given["hypotheses"], alpha=given["alpha"]
    )
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
            given["require"] = None  # exit code 1 in any case
    shared.show(result, given, extra=extra)
    ctx.exit(len(extra))


def _predictions(given: dict[str, Any], listed: Any) -> list[Predictions]:
    """Read files of predictions, and have classifiers predict."""
    paths, classifiers, out = given["predictions"], given["classifier"], given["out"]
    if not paths and not classifiers:
        raise InputError("expected --predictions or --classifier, got neither")
    names = [*given["name"], *[None] * (len(paths) + len(classifiers) - len(given["name"]))]
    positive = None if classifiers else given["positive"]  # which names a label of classifiers
    found = [
        bb.load_predictions(file, listed, name=name, positive=positive)
        for file, name in zip(paths, names, strict=False)
    ]
    for source, name in zip(classifiers, names[len(paths) :], strict=True):
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
        spec = bb.models.slopes_for(spec, table, name, by)
    return table, spec


@sentiment.command()
@shared.options("own.sentences", "as_json")
def sentences(words: str, control: bool, out: Path, **given: Any) -> None:
    """Write the sentences to rate."""
    files.check_not_input(out, [words])
    try:
        frame = bb.wordlists.load_occupations(words).sentences(control=control)
    except InputError:  # of other groups than women and men, or without professions
        if not Path(words).is_file():
            raise
        frame = bb.wordlists.response_sentences(words)
    _write(frame, out)


@sentiment.command()
@shared.options("own.train", "seed", "as_json", seed=0)
def train(model: str, out: Path, **given: Any) -> None:
    """Train a reference classifier of the paper."""
    from bayesbias.classifiers.classifier import MADE_FILES

    read = [given[name] for name in ("data", "dev", "vectors", "words")]
    for name in MADE_FILES:
        files.check_not_input(out / name, read)
    common = {"dev": given["dev"], "out": out, "name": given["name"] or model}
    if model == "bow":
        trained = bb.classifiers.train_bow(given["data"], **common)
    else:
        if given["vectors"] is None:
            raise InputError("expected word vectors for bilstm, got none", hint="add --vectors E")
        texts: list[str] = []
        if given["words"] is not None:
            listed = bb.wordlists.load_occupations(given["words"])
            texts = listed.sentences(control=True)["sentence"].tolist()
        trained = bb.classifiers.train_bilstm(
            given["data"],
            given["vectors"],
            **common,
            words=sorted({word for text in texts for word in re.findall(r"\w+", text.lower())}),
            seed=given["seed"],
            epochs=given["epochs"],
            progress=False if given["as_json"] else None,
        )
    answer = {"name": trained.name, "written": str(out), **trained.provenance}
    shared.tell(answer, repr(trained), f"Written  {out}")
