"""Options and inputs that commands share, and how a command shows its result."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesbias.core.errors import InputError

if TYPE_CHECKING:
    from bayesbias.embeddings.embedding import Embedding
    from bayesbias.inference.view import View
    from bayesbias.tables.pair_table import PairTable

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
POSTPROCESS = click.Choice(["center", "standardize", "abtt"])
STYLE = click.Choice(["report", "journal"])
WIDEST = 26  # columns of the name of an option
POSITIVE = click.FloatRange(0, min_open=True)
FRACTION = click.FloatRange(0, 1, min_open=True, max_open=True)
COUNT = click.IntRange(1)
SEED = click.IntRange(0, 2**32 - 1)
PATH = click.Path(path_type=Path)

# The options that commands share: letter of the value, help, settings. One name means one thing
# everywhere.
OPTIONS: dict[str, tuple[str | None, str, dict[str, Any]]] = {
    "embedding": ("E", "Vectors: minilm-static, a file or folder.", {}),
    "wordlist": ("W", "Word list: a shipped name or a file.", {}),
    "distances": ("FILE", "Table of distances instead of both.", {}),
    "controls": ("C", "Controls: 2022, 2021, none, matched or a file.", {}),
    "pool": ("P", "Where --controls matched takes words from.", {}),
    "repeats": ("once|keep", "Repeated rows of FILE.", {"default": "once"}),
    "duplicates": ("drop|keep", "Words that have the same vector.", {"default": "drop"}),
    "common_words": ("FILE", "Keep words these vectors have too. Repeatable.", {"multiple": True}),
    "postprocess": ("HOW", "Change vectors: center, standardize, abtt.", {"type": POSTPROCESS}),
    "vocab": ("FILE", "The words of a matrix of vectors.", {}),
    "key": ("FORM", 'Form of words in the file: "{word}_NOUN".', {"multiple": True}),
    "bad_lines": ("skip|error", "Lines that cannot be read.", {"default": "skip"}),
    "allow_pickle": (None, "Read pickles; this runs code in the file.", {"is_flag": True}),
    "covariates": ("FILE", "CSV of numbers for words, or a column.", {"multiple": True}),
    "slope": ("NAME[:BY]", "Add slopes on this covariate.", {"multiple": True}),
    "counts": ("FILE", "Word frequencies: a file, order or wordfreq.", {}),
    "language": ("L", "Language of wordfreq.", {"default": "en"}),
    "model": ("M", "A shipped model or a TOML file.", {}),
    "seed": ("N", "Seed of all random numbers.", {"type": SEED}),
    "draws": ("N", "Draws per chain.", {"type": COUNT, "default": 1000}),
    "tune": ("N", "Tuning steps per chain.", {"type": COUNT, "default": 1000}),
    "chains": ("N", "Chains.", {"type": COUNT, "default": 4}),
    "engine": ("nuts|quick", "NUTS or importance sampling.", {"default": "nuts"}),
    "samples": ("N", "Partitions drawn for p.", {"type": COUNT, "default": 99_999}),
    "workers": ("N", "Local processes; by default one per core.", {"type": COUNT}),
    "dask": ("ADDRESS", "A Dask scheduler, such as tcp://host:8786.", {}),
    "resume": (None, "Continue what is in DIR.", {"is_flag": True}),
    "prob": ("P", "Probability of intervals.", {"type": FRACTION, "default": 0.89}),
    "rope": ("R", "Half-width of practical equivalence.", {"type": POSITIVE, "default": 0.02}),
    "standard_rope": ("R", "The same in SDs.", {"type": POSITIVE, "default": 0.1}),
    "require": ("LIMITS", "Exit with 1 unless these limits are met.", {}),
    "out": ("DIR", "Write tables, figures and result here.", {"type": PATH}),
    "force": (None, "Replace any other run in DIR.", {"is_flag": True}),
    "detail": (None, "Print all tables.", {"is_flag": True}),
    "as_json": ("[=brief]", "Print one JSON object.", {"type": click.Choice(["full", "brief"])}),
    "figures": ("F,...", "Formats: png, svg, pdf or none.", {"default": "png"}),
    "figure_style": ("NAME", "Style: report or journal.", {"type": STYLE, "default": "report"}),
    "figure_width": ("MM", "Width of figures.", {"type": POSITIVE}),
}
VECTORS: tuple[str, ...] = (
    "embedding",
    "wordlist",
    "distances",
    "controls",
    "pool",
    "repeats",
    "duplicates",
)
VECTORS += ("common_words", "postprocess")
READING = ("vocab", "key", "bad_lines", "allow_pickle")
COVARIATES = ("covariates", "slope", "counts", "language")
SAMPLING = ("seed", "draws", "tune", "chains", "engine")
VIEW = ("prob", "rope", "standard_rope")
OUTPUT = ("out", "force", "figures", "figure_style", "figure_width", "detail", "as_json")
MADE = ("coverage", "diagnostics", "provenance", "timing")  # keys of JSON

# The headings of the help and what stands under them; other options stand first.
HEADINGS = {
    "Input": (
        *(*VECTORS, *READING, "original", "debiased", "original_distances", "debiased_distances"),
        *("encoders", "tests", "published_cut", "predictions", "classifiers", "names", "positive"),
        *("words", "attributes", "human", "neutral", "sets", "classes", "pools", "fit", "data"),
        *(
            "dev",
            "vectors",
            "level",
            "replicate",
            "contexts",
            "center",
            "kind",
            "layout",
            "columns",
        ),
    ),
    "Model": ("model", "compare_models", "bayes", "logit", "hypotheses", *COVARIATES, "covariate"),
    "Sampling": (
        *(*SAMPLING, "samples", "resamples", "tables", "check", "workers", "dask", "resume"),
        *("no_cache", "epochs"),
    ),
    "Output": (*VIEW, "require", *OUTPUT),
}
# Shown by --help-all only.
RARE: tuple[str, ...] = ("pool", "repeats", "duplicates", *READING, "language", "standard_rope")
RARE += ("figure_style", "figure_width", "no_cache", "published_cut", "no_check", "center", "kind")


class Command(click.Command):
    """A command whose help has one line for each option, under headings, without the rare ones."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Add ``--help-all`` where some options are rare."""
        params = super().get_params(ctx)
        if any(param.name in RARE for param in params):
            params.append(
                click.Option(
                    ["--help-all"], is_flag=True, is_eager=True, expose_value=False,
                    callback=_help_all, help="Show all options.",
                )
            )  # fmt: skip
        return params

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings."""
        headings = {name: head for head, names in HEADINGS.items() for name in names}
        rows: dict[str, list[tuple[str, str]]] = {"Options": [], **{head: [] for head in HEADINGS}}
        rare = () if ctx.meta.get("bayesbias.help_all") else RARE
        for param in self.params:
            if isinstance(param, click.Option) and param.name not in rare:
                rows[headings.get(param.name or "", "Options")].append(_help_line(param))
        for head, lines in rows.items():
            if lines:
                with formatter.section(head):
                    formatter.write_dl(lines, col_max=WIDEST)
        if rare and any(param.name in rare for param in self.params):
            formatter.write_paragraph()
            formatter.write_text(f"More options: {ctx.command_path} --help-all")
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)


class Group(Command, click.Group):
    """A command with subcommands."""

    command_class = Command


def _help_all(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta["bayesbias.help_all"] = True
        click.echo(ctx.get_help())
        ctx.exit()


def _help_line(option: click.Option) -> tuple[str, str]:
    """Return how an option is called, and what it does, with its default."""
    name = "/".join([*option.opts[-1:], *option.secondary_opts])
    letter = option.metavar or (
        f"[{'|'.join(map(str, option.type.choices))}]"
        if isinstance(option.type, click.Choice)
        else "N"
    )
    text = option.help or ""
    if isinstance(option.default, str | int | float) and not option.is_flag:
        text = f"{text.rstrip('.')} [{option.default}]."
    return name if option.is_flag else f"{name} {letter}", text


def options(*names: str, **defaults: Any) -> Decorator:
    """Add shared options to a command, in this order, some with another default."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for name in reversed(names):
            letter, text, settings = OPTIONS[name]
            if letter and "|" in letter:  # the choices themselves
                settings = {"type": click.Choice(letter.split("|")), **settings}
                letter = f"[{letter}]"
            if name in defaults:
                settings = {**settings, "default": defaults[name]}
            flag = "--json" if name == "as_json" else f"--{name.replace('_', '-')}"
            command = click.option(flag, name, metavar=letter, help=text, **settings)(command)
        return command

    return add


def sampling_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the sampler, and whether it shows its progress."""
    sampling = {name: given[name] for name in SAMPLING if name in given}
    return {**sampling, "progress": False if given["as_json"] else None}


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
                "expected no --embedding and --wordlist beside it, got one of these",
                where="--distances",
            )
        table = bb.load_distances(given["distances"], repeats=given.get("repeats", "once"))
    elif given["embedding"] is None or given["wordlist"] is None:
        raise InputError(
            "expected --embedding and --wordlist, or --distances, got "
            + (
                "--wordlist alone"
                if given["wordlist"]
                else "--embedding alone"
                if given["embedding"]
                else "neither"
            )
        )
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
            "expected word frequencies, got none",
            where="--controls matched",
            hint="add --counts FILE, --counts order or --counts wordfreq",
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

    for name, groups in slopes_of(asked, set(map(str, table.frame.columns))).items():
        for column in columns_of_covariate(table, name):
            spec = slopes_for(spec, table.frame, column, groups)
    return spec


def slopes_of(asked: Sequence[str], columns: Container[str] = ()) -> dict[str, list[str] | None]:
    """Return the covariates of ``--slope NAME[:BY,...]``, and by what each has slopes."""
    out: dict[str, list[str] | None] = {}
    for each in asked:
        name, colon, by = each.rpartition(":")
        if each in columns or not colon:
            out[each] = None
        else:
            out[name] = [group.strip() for group in by.split(",")]
    return out


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
    """Refuse limits that cannot be read, and a folder that holds another run."""
    if given.get("require") is not None:
        from bayesbias.studies.requirements import read_requirements

        read_requirements(given["require"])
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
    from bayesbias.output.registry import study_of
    from bayesbias.plots.style import figure_style

    context, view, out = click.get_current_context(), view_of(given), given.get("out")
    limits = given.get("require")
    checks = [] if limits is None else bb.studies.check_requirements(result, limits, view.prob)
    written = {"written": None if out is None else str(out)}
    if out is not None:
        replaced = ", in place of the run that was there" if (out / "run.json").is_file() else ""
        formats = [] if given["figures"] == "none" else given["figures"].split(",")
        with figure_style(given["figure_style"], width=given["figure_width"]):
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
        met = {"requirements": [check.as_dict() for check in checks]} if limits is not None else {}
        tell({**answer, **met, **(extra or {}), **written})
    else:
        click.echo(to_text(result, view, detail=given["detail"], more=more))
        if out is not None:
            click.echo(f"Written  {out}: {len(files) - 1} files and run.json{replaced}")
    failed = [
        name for name, fit in study_of(result).fits(result).items() if not fit.diagnostics()["ok"]
    ]
    for name in failed:
        of = f" of {name}" if name else ""
        click.echo(
            f"bayesbias: the sampler{of} has not converged; raise --tune and --draws", err=True
        )
    for check in checks:
        click.echo(check.line, err=True)
    if failed or not all(check.met for check in checks):
        context.exit(1)


def tell(answer: Mapping[str, Any], *lines: str) -> None:
    """Print an answer as one JSON object where that was asked for, else these lines."""
    from bayesbias.core.files import plain

    context = click.get_current_context()
    if not (kind := context.params.get("as_json")):
        click.echo("\n".join(lines))
        return
    schema = context.command_path.partition(" ")[2]
    if kind == "brief":
        schema += "-brief"
        answer = {key: value for key, value in answer.items() if key not in MADE}
    click.echo(json.dumps(plain({"schema": f"{schema}-2", **answer}), ensure_ascii=False))
