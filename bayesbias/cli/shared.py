"""Options and inputs that commands share, and how a command shows its result."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesbias.core.errors import InputError

if TYPE_CHECKING:
    from bayesbias.embeddings.embedding import Embedding
    from bayesbias.inference.view import View
    from bayesbias.tables.pair_table import PairTable

Option = Callable[[Callable[..., Any]], Callable[..., Any]]
POSITIVE = click.FloatRange(0, min_open=True)
PATH = click.Path(path_type=Path)

# One name means one thing in every command.
OPTIONS: dict[str, Option] = {
    "embedding": click.option(
        "--embedding", metavar="E", help="Vectors: minilm-static, a file or folder."
    ),
    "wordlist": click.option(
        "--wordlist", metavar="W", help="Word list: a shipped name or a file."
    ),
    "distances": click.option(
        "--distances", metavar="FILE", help="Table of distances instead of both."
    ),
    "controls": click.option(
        "--controls", metavar="C", help="Control words: 2022, 2021, none, matched or a file."
    ),
    "pool": click.option(
        "--pool", metavar="P", help="Control list that --controls matched chooses from."
    ),
    "repeats": click.option(
        "--repeats",
        type=click.Choice(["once", "keep"]),
        default="once",
        help="How often a repeated row of FILE counts.",
    ),
    "duplicates": click.option(
        "--duplicates",
        type=click.Choice(["drop", "keep"]),
        default="drop",
        help="Words that have the same vector.",
    ),
    "common_words": click.option(
        "--common-words",
        multiple=True,
        metavar="FILE",
        help="Keep words that these vectors have too. Repeatable.",
    ),
    "postprocess": click.option(
        "--postprocess",
        type=click.Choice(["center", "standardize", "abtt"]),
        help="Move all vectors first.",
    ),
    "vocab": click.option("--vocab", metavar="FILE", help="The words of a matrix of vectors."),
    "key": click.option(
        "--key", multiple=True, metavar="FORM", help='Form of words in the file, as "{word}_NOUN".'
    ),
    "bad_lines": click.option(
        "--bad-lines",
        type=click.Choice(["skip", "error"]),
        default="skip",
        help="Lines of vectors that cannot be read.",
    ),
    "allow_pickle": click.option(
        "--allow-pickle", is_flag=True, help="Read pickles; this runs code in the file."
    ),
    "covariates": click.option(
        "--covariates",
        multiple=True,
        metavar="FILE",
        help="CSV of numbers for words, or a column of FILE.",
    ),
    "slope": click.option(
        "--slope", multiple=True, metavar="NAME[:BY]", help="Add slopes on this covariate."
    ),
    "counts": click.option(
        "--counts", metavar="FILE", help="Word frequencies: a file, order or wordfreq."
    ),
    "language": click.option("--language", default="en", metavar="L", help="Language of wordfreq."),
    "model": click.option("--model", metavar="M", help="A shipped model or a TOML file."),
    "seed": click.option(
        "--seed", type=click.IntRange(0, 2**32 - 1), metavar="N", help="Seed of all random numbers."
    ),
    "draws": click.option(
        "--draws", type=click.IntRange(1), metavar="N", default=1000, help="Draws per chain."
    ),
    "tune": click.option(
        "--tune", type=click.IntRange(1), metavar="N", default=1000, help="Tuning steps per chain."
    ),
    "chains": click.option(
        "--chains", type=click.IntRange(1), metavar="N", default=4, help="Chains."
    ),
    "engine": click.option(
        "--engine",
        type=click.Choice(["nuts", "quick"]),
        default="nuts",
        help="NUTS or importance sampling.",
    ),
    "prob": click.option(
        "--prob",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=0.89,
        help="Probability of intervals.",
    ),
    "rope": click.option(
        "--rope", type=POSITIVE, default=0.02, help="Half-width of practical equivalence."
    ),
    "standard_rope": click.option(
        "--standard-rope", type=POSITIVE, default=0.1, help="The same in SDs."
    ),
    "out": click.option(
        "--out", type=PATH, metavar="DIR", help="Write tables, figures and result here."
    ),
    "force": click.option("--force", is_flag=True, help="Replace any other run in DIR."),
    "detail": click.option("--detail", is_flag=True, help="Print all tables."),
    "as_json": click.option(
        "--json",
        "as_json",
        type=click.Choice(["full", "brief"]),
        metavar="[=brief]",
        help="Print one JSON object.",
    ),
    "figures": click.option(
        "--figures",
        default="png",
        metavar="F,...",
        help="Formats of figures: png, svg, pdf or none.",
    ),
    "style": click.option(
        "--figure-style",
        "style",
        type=click.Choice(["report", "journal"]),
        default="report",
        help="Style of figures.",
    ),
    "width": click.option(
        "--figure-width", "width", type=POSITIVE, metavar="MM", help="Width of figures."
    ),
}
VECTORS = (
    "embedding",
    "wordlist",
    "distances",
    "controls",
    "pool",
    "repeats",
    "duplicates",
    "common_words",
    "postprocess",
)
READING = ("vocab", "key", "bad_lines", "allow_pickle")
COVARIATES = ("covariates", "slope", "counts", "language")
SAMPLING = ("seed", "draws", "tune", "chains", "engine")
VIEW = ("prob", "rope", "standard_rope")
MADE = ("coverage", "diagnostics", "provenance", "timing")  # keys of JSON
OUTPUT = ("out", "force", "figures", "style", "width", "detail", "as_json")


def options(*names: str) -> Option:
    """Add shared options to a command, in this order."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for name in reversed(names):
            command = OPTIONS[name](command)
        return command

    return add


def sampling_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the sampler."""
    return {name: given[name] for name in SAMPLING if name in given}


def view_of(given: Mapping[str, Any]) -> View:
    """Return how results are looked at."""
    from bayesbias.inference.view import View

    return View(**{name: given[name] for name in VIEW if name in given})


def table_of(given: Mapping[str, Any]) -> PairTable:
    """Read the table of distances, or the vectors and the word list that it is made of."""
    import bayesbias as bb
    from bayesbias.tables.pair_table import keep_common

    if given["distances"] is not None:
        if given["embedding"] or given["wordlist"]:
            raise InputError(
                "--distances: it replaces --embedding and --wordlist", hint="leave these out"
            )
        table = bb.load_distances(given["distances"], repeats=given.get("repeats", "once"))
    elif given["embedding"] is None or given["wordlist"] is None:
        raise InputError("nothing to read", valid="--embedding E --wordlist W, or --distances FILE")
    else:
        table = _table_of_vectors(given)
    if given.get("common_words"):
        plain = {**given, "distances": None, "common_words": (), "covariates": ()}
        others = [table_of({**plain, "embedding": file}) for file in given["common_words"]]
        table = keep_common([table, *others])[0]
    if given.get("covariates"):
        table = bb.tables.join_covariates(table, list(given["covariates"]))
    return table


def vectors_of(given: Mapping[str, Any], words: Sequence[str] | None) -> Embedding:
    """Read the vectors of some words, or of all, as the options say."""
    import bayesbias as bb

    return bb.load_embedding(
        given["embedding"],
        words,
        vocab=given.get("vocab"),
        key=given.get("key"),
        on_bad_lines=given.get("bad_lines", "skip"),
        allow_pickle=given.get("allow_pickle", False),
        postprocess=given.get("postprocess"),
    )


def _table_of_vectors(given: Mapping[str, Any]) -> PairTable:
    import bayesbias as bb
    from bayesbias.tables.counts import pool_of

    matched = given.get("controls") == "matched"
    words = bb.load_wordlist(given["wordlist"], controls=None if matched else given.get("controls"))
    wanted = list(words.words)
    if matched:
        wanted = list(dict.fromkeys([*wanted, *pool_of(words, given.get("pool"))]))
    vectors = vectors_of(given, wanted)
    duplicates = given.get("duplicates", "drop")
    if not matched:
        return bb.distance_table(vectors, words, duplicates=duplicates)
    if given.get("counts") is None:
        raise InputError(
            "--controls matched needs word frequencies", valid="--counts FILE, order or wordfreq"
        )
    return bb.distance_table(
        vectors,
        words,
        controls="matched",
        counts=counts_of(given, wanted),
        pool=given.get("pool"),
        duplicates=duplicates,
    )


def counts_of(given: Mapping[str, Any], words: list[str]) -> Any:
    """Read how frequent words are."""
    from bayesbias.tables.counts import load_counts

    ordered = given["counts"] == "order" and given["embedding"] is not None
    source = vectors_of(given, words) if ordered else given["embedding"]  # knows the form of words
    return load_counts(given["counts"], words, embedding=source, language=given["language"])


def with_slopes(spec: Any, table: PairTable, asked: Sequence[str]) -> Any:
    """Return the model with the slopes that ``--slope NAME[:BY,...]`` asks for."""
    from bayesbias.models.variants import slopes_for
    from bayesbias.tables.covariates import columns_of_covariate

    columns = set(map(str, table.frame.columns))
    for each in asked:
        covariate, colon, by = ("", "", "") if each in columns else each.rpartition(":")
        name, groups = (
            (covariate, [group.strip() for group in by.split(",")]) if colon else (each, None)
        )
        for column in columns_of_covariate(table, name):
            spec = slopes_for(spec, table.frame, column, groups)
    return spec


def arguments() -> list[str]:
    """Return the arguments of the command that runs."""
    context = click.get_current_context(silent=True)
    return [] if context is None else list(context.find_root().meta.get("bayesbias.arguments", []))


def inputs() -> dict[str, Any]:
    """Return what the command that runs was given, without how to sample, look at and write it."""
    params = click.get_current_context().params
    if "plan" in params:  # a sweep checks by itself that it goes on with the same plan
        return {}
    aside = {*SAMPLING, *VIEW, *OUTPUT, "require"}
    return {
        name: [str(item) for item in value] if isinstance(value, tuple) else str(value)
        for name, value in params.items()
        if name not in aside and value not in (None, (), False)
    }


def check_out(given: Mapping[str, Any], kind: str) -> None:
    """Refuse a folder that holds another run."""
    if given["out"] is not None:
        from bayesbias.output.store import check_folder

        check_folder(given["out"], kind, inputs(), force=given["force"])


def show(
    result: Any,
    given: Mapping[str, Any],
    *,
    more: Sequence[Any] = (),
    extra: Mapping[str, Any] | None = None,
) -> None:
    """Print a result as text or JSON, and write its folder where ``--out`` names one.

    `more` are further sections, and `extra` further keys of JSON.
    """
    import bayesbias as bb
    from bayesbias.output import to_json, to_text

    view, out = view_of(given), given.get("out")
    replaced = ""
    if out is not None:
        from bayesbias.plots.style import figure_style

        if (out / "run.json").is_file():
            replaced = ", in place of the run that was there"
        formats = [] if given["figures"] == "none" else given["figures"].split(",")
        with figure_style(given["style"], width=given["width"]):
            files = bb.save_run(
                result,
                out,
                view=view,
                command=arguments(),
                inputs=inputs(),
                figures=formats,
                force=given["force"],
                more=more,
            )
    if given["as_json"]:
        answer = to_json(result, view, more=more, brief=given["as_json"] == "brief")
        written = {"written": None if out is None else str(out)}
        name = click.get_current_context().command_path.split()[-1]
        print_json(name, {**answer, **(extra or {}), **written})
        return
    click.echo(to_text(result, view, detail=given["detail"], more=more))
    if out is not None:
        click.echo(f"Written  {out}: {len(files) - 1} files and run.json{replaced}")


def print_json(name: str, answer: Mapping[str, Any]) -> None:
    """Print one JSON object with its schema; a brief one leaves out how the answer was made."""
    from bayesbias.core.files import plain

    schema, brief = f"{name}-2", click.get_current_context().params.get("as_json") == "brief"
    if brief:
        schema = f"{name}-brief-2"
        answer = {key: value for key, value in answer.items() if key not in MADE}
    click.echo(json.dumps(plain({"schema": schema, **answer}), ensure_ascii=False))
