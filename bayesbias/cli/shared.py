"""Options and inputs that commands share, and how a command shows its result."""

from __future__ import annotations

import contextlib
import json
import re
import tomllib
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

import bayesbias as bb
from bayesbias.cli.stopping import watch
from bayesbias.core import InputError, files
from bayesbias.core.encodings import reading_in
from bayesbias.core.files import plain
from bayesbias.core.progress import without_bars, working
from bayesbias.core.sections import Interpretation

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
_AT_WORK = "bayesbias.at_work"  # the context whose command shows that it works
WIDEST = 26  # columns of the name of an option
PATH = click.Path(path_type=Path)


def _fraction(text: str) -> float:
    """Read a number between 0 and 1; of a percentage say what to give instead."""
    number = float(click.FLOAT(text))
    if not 0 < number < 1:
        hint = f" Give {number / 100:g}." if 1 <= number < 100 else ""
        raise click.BadParameter(f"expected a number between 0 and 1, got {number:g}.{hint}")
    return number


def _numbers(text: str) -> tuple[int, ...]:
    """Read whole numbers with commas."""
    parts = text.split(",")
    if not all(part.strip().isdigit() for part in parts):
        raise click.BadParameter(f"expected whole numbers with commas, got {text!r}")
    return tuple(map(int, parts))


class Folder(click.Path):
    """A folder to write to; one that cannot be written is refused before any work."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        path = files.path_of(super().convert(value, param, ctx), "--out", "the path of a folder")
        if ctx is None or not ctx.resilient_parsing:
            files.check_folder(path)
        return path


TYPES: dict[str, Any] = {
    "positive": click.FloatRange(0, min_open=True),
    "fraction": _fraction,
    "count": click.IntRange(1),
    "natural": click.IntRange(0),
    "resamples": click.IntRange(99),
    "seed": click.IntRange(0, 2**32 - 1),
    "path": PATH,
    "folder": Folder(path_type=Path),
    "numbers": _numbers,
    "names": lambda text: tuple(text.split(",")),
}

GROUPS: dict[str, dict[str, dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("options.toml").read_text(encoding="utf-8")
)
OWN: dict[str, dict[str, dict[str, Any]]] = GROUPS.pop("own")
VECTORS, READING, COVARIATES, SAMPLING, VIEW, OUTPUT = (
    tuple(GROUPS[group])
    for group in ("vectors", "reading", "covariates", "sampling", "view", "output")
)
MADE = ("coverage", "diagnostics", "provenance", "timing")  # keys of JSON
# The headings of the help, with their groups; the options of one command stand first.
HEADINGS = {
    "Input": ("vectors", "reading"),
    "Model": ("model", "covariates"),
    "Sampling": ("sampling", "work"),
    "Output": ("view", "limits", "output"),
}


class Command(click.Command):
    """A command whose help has one line for each option, under headings, without the rare ones."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Add ``--help-all`` where some options are hidden."""
        params = super().get_params(ctx)
        if any(isinstance(param, click.Option) and param.hidden for param in params):
            params.append(
                click.Option(
                    ["--help-all"], is_flag=True, is_eager=True, expose_value=False,
                    callback=_help_all, help="Show all options.",
                )
            )  # fmt: skip
        return params

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what it may write is known, should it be stopped."""
        paths = [ctx.params[name] for name in ("out", "file") if ctx.params.get(name)]
        watch(ctx, *map(Path, paths))
        if ctx.params.get("as_json"):
            shown: Any = without_bars()
        elif ctx.meta.setdefault(_AT_WORK, ctx) is ctx:
            shown = working(ctx.command_path)
        else:  # a subcommand
            shown = contextlib.nullcontext()
        with shown, reading_in(ctx.params.get("encoding")):
            return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings."""
        headings = {
            name: head
            for head, groups in HEADINGS.items()
            for group in groups
            for name in GROUPS[group]
        }
        rows: dict[str, list[tuple[str, str]]] = {"Options": [], **{head: [] for head in HEADINGS}}
        every, hidden = ctx.meta.get("bayesbias.help_all"), False
        for param in self.params:
            if isinstance(param, click.Option) and (every or not param.hidden):
                rows[headings.get(param.name or "", "Options")].append(_help_line(param))
            hidden = hidden or getattr(param, "hidden", False)
        for head, lines in rows.items():
            if lines:
                with formatter.section(head):
                    formatter.write_dl(lines, col_max=WIDEST)
        if hidden and not every:
            formatter.write_paragraph()
            formatter.write_text(f"More options: {ctx.command_path} --help-all")
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)


class Group(Command, click.Group):
    """A command with subcommands."""

    command_class = Command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find the subcommand; of a file say where it is given."""
        ways = {"responses": "fit", "sentiment": "--predictions", "wordlist": "check"}
        way = ways.get(self.name or "")
        if way and Path(args[0]).suffix and not ctx.resilient_parsing:
            hint = f"write `{ctx.command_path} {way} {args[0]}`"
            raise InputError(f"expected a subcommand, got {args[0]!r}", hint=hint)
        return super().resolve_command(ctx, args)


def _help_all(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta["bayesbias.help_all"] = True
        click.echo(ctx.get_help())
        ctx.exit()


def _help_line(option: click.Option) -> tuple[str, str]:
    """Return how an option is called, and what it does, with its default."""
    name = "/".join([*option.opts[-1:], *option.secondary_opts])
    letter = option.metavar or "N"
    if option.metavar is None and isinstance(option.type, click.Choice):
        letter = f"[{'|'.join(map(str, option.type.choices))}]"
    text = option.help or ""
    if isinstance(option.default, str | int | float) and not option.is_flag:
        text = f"{text.rstrip('.')} [{option.default}]."
    elif option.required:
        text = f"{text.rstrip('.')} [required]."
    return name if option.is_flag else f"{name} {letter}", text


def options(*names: str, **defaults: Any) -> Decorator:
    """Add options to a command, in this order, some with another default.

    ``own.NAME`` are all that one command has for itself.
    """
    held = {name: each for group in GROUPS.values() for name, each in group.items()}
    found: list[tuple[str, dict[str, Any]]] = []
    for name in names:
        found += OWN[name[4:]].items() if name.startswith("own.") else [(name, held[name])]

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for name, given in reversed(found):
            settings = {**given}
            if kind := settings.get("type"):
                settings["type"] = TYPES[kind] if isinstance(kind, str) else click.Choice(kind)
            if name in defaults:
                settings["default"] = defaults[name]
            flag = settings.pop("flag", f"--{name.replace('_', '-')}")
            command = click.option(flag, name, **settings)(command)
        return command

    return add


def command(*names: str, **defaults: Any) -> Decorator:
    """Make a function a command with these options, as `options` adds them."""
    return lambda function: click.command(cls=Command)(options(*names, **defaults)(function))


def chosen(given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return the options of these names that the command has and that have a value."""
    return {name: given[name] for name in names if given.get(name) is not None}


def pairs_of(text: str, option: str, expected: str) -> dict[str, str]:
    """Return the pairs of an option, which are separated by commas."""
    pairs = {}
    for part in filter(None, text.split(",")):
        name, _, value = map(str.strip, part.rpartition("="))
        if not (name and value):
            raise InputError(f"expected {expected}", where=option, found=part)
        pairs[name] = value
    return pairs


def numbers_named(text: str, option: str, expected: str) -> dict[str, float]:
    """Return the numbers of an option, such as ``Hire=1,Reject=0``, by their names."""
    values = {}
    for label, number in pairs_of(text, option, expected).items():
        try:
            values[label] = float(number)
        except ValueError:
            problem = f"expected a number for {label!r}, got {number!r}"
            raise InputError(problem, where=option) from None
    return values


def sampling_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the sampler, and whether it shows its progress."""
    return {**chosen(given, *SAMPLING), "progress": False if given["as_json"] else None}


def table_of(given: Mapping[str, Any]) -> bb.PairTable:
    """Read the table of distances, or the vectors and the word list that it is made of."""
    from bayesbias.tables.counts import pool_of
    from bayesbias.tables.joining import keep_common
    from bayesbias.wordlists.wordlist import check_number_of_pairs

    if given["distances"] is not None:
        if given["embedding"] or given["wordlist"]:
            problem = "expected no --embedding and --wordlist beside it, got one of these"
            raise InputError(problem, where="--distances")
        table = bb.load_distances(given["distances"], repeats=given.get("repeats", "once"))
    elif given["embedding"] is None or given["wordlist"] is None:
        got = next((f"--{name} alone" for name in VECTORS[:2] if given[name]), "neither")
        raise InputError(f"expected --embedding and --wordlist, or --distances, got {got}")
    else:
        controls, counted = given.get("controls"), dict[str, Any]()
        matched = controls == "matched"
        words = bb.load_wordlist(given["wordlist"], controls=None if matched else controls)
        check_number_of_pairs(words)
        wanted = list(words.words)
        if matched:
            if given.get("counts") is None:
                problem = "expected word frequencies, got none"
                hint = "add --counts FILE, --counts order or --counts wordfreq"
                raise InputError(problem, where="--controls matched", hint=hint)
            wanted = list(dict.fromkeys([*wanted, *pool_of(words, given.get("pool"))]))
            counted = {"counts": counts_of(given, wanted), "pool": given["pool"]}
            counted["controls"] = controls
        vectors, duplicates = vectors_of(given, wanted), given.get("duplicates", "drop")
        table = bb.distance_table(vectors, words, duplicates=duplicates, **counted)
    if given.get("common_words"):
        bare = {**given, "distances": None, "common_words": (), "covariates": ()}
        others = [table_of({**bare, "embedding": file}) for file in given["common_words"]]
        table = keep_common([table, *others])[0]
    if given.get("covariates"):
        table = bb.tables.join_covariates(table, list(given["covariates"]))
    return table


def vectors_of(given: Mapping[str, Any], words: Sequence[str] | None) -> bb.Embedding:
    """Read the vectors of some words, or of all, as the options say."""
    reading = chosen(given, "vocab", "key", "allow_pickle", "postprocess")
    on_bad_lines = given.get("bad_lines", "skip")
    return bb.load_embedding(given["embedding"], words, on_bad_lines=on_bad_lines, **reading)


def every_word(listed: bb.WordList) -> list[str]:
    """Return the words of a list, with those of its definitional sets."""
    return list(dict.fromkeys([*listed.words, *sum(listed.definitional_sets, ())]))


def counts_of(given: Mapping[str, Any], words: list[str]) -> Any:
    """Read how frequent words are."""
    from bayesbias.tables.counts import load_counts

    ordered = given["counts"] == "order" and given["embedding"] is not None
    source = vectors_of(given, words) if ordered else given["embedding"]  # knows the form of words
    return load_counts(given["counts"], words, embedding=source, language=given["language"])


def with_slopes(spec: Any, table: bb.PairTable, asked: Sequence[str]) -> Any:
    """Return the model with the slopes that ``--slope NAME[:BY,...]`` asks for."""
    from bayesbias.tables.covariates import columns_of_covariate

    for name, groups in slopes_of(asked, set(map(str, table.frame.columns))).items():
        for column in columns_of_covariate(table, name):
            spec = bb.models.slopes_for(spec, table.frame, column, groups)
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
    context, out = click.get_current_context(), given.get("out")
    view = bb.View(**chosen(given, *_typed(VIEW)))
    limits = given.get("require")
    checks: Sequence[Any] = []
    if limits is not None:
        checks = bb.studies.check_requirements(result, limits, result.shown_with(view)[1].prob)
    written = {"written": out and str(out)}
    if out is not None:
        from bayesbias.plots.style import figure_style

        replaced = ", in place of the run that was there" if (out / "run.json").is_file() else ""
        formats = [] if given["figures"] == "none" else given["figures"].split(",")
        with figure_style(given["figure_style"], width=given["figure_width"]):
            written_files = bb.save_run(
                result,
                out,
                view=view,
                command=context.find_root().meta["bayesbias.arguments"],
                inputs=inputs(),
                figures=formats,
                force=given["force"],
                more=more,
            )
    if given["as_json"]:
        answer = bb.output.to_json(result, view, more=more, brief=given["as_json"] == "brief")
        met = {"requirements": [check.as_dict() for check in checks]} if limits is not None else {}
        tell({**answer, **met, **(extra or {}), **written})
    else:
        _print(bb.output.to_text(result, view, detail=given["detail"], more=more))
        if out is not None:
            _print(f"Written  {out}: {len(written_files) - 1} files and run.json{replaced}")
    failed = [name for name, fit in result.fits().items() if not fit.diagnostics()["ok"]]
    for name in failed:
        of = f" of {name}" if name else ""
        click.echo(
            f"bayesbias: the sampler{of} has not converged; raise --tune and --draws", err=True
        )
    for check in checks:
        click.echo(check.line, err=True)
    if failed or not all(check.met for check in checks):
        context.exit(1)


def _print(text: str) -> None:
    """Print results, over no bar of progress."""
    with without_bars():
        click.echo(text)


def _typed(names: Iterable[str]) -> list[str]:
    """Return the options of these names that the user gave; the others have their defaults."""
    source = click.get_current_context().get_parameter_source
    return [name for name in names if source(name) is ParameterSource.COMMANDLINE]


def stem(path: str) -> str:
    """Return the name of a file without its ending, also of a compressed one."""
    return re.sub(r"\.[A-Za-z]\w*(\.(gz|bz2|xz|zip))?$", "", Path(path).name)


def noted(notes: Iterable[str]) -> list[str]:
    """Return the lines of notes."""
    from bayesbias.output.text import wrapped

    return [line for note in notes for line in wrapped(note, "Note     ", " " * 9)]


def warned(warnings: Iterable[str]) -> list[str]:
    """Return the lines of warnings."""
    from bayesbias.output.text import wrapped

    return [line for text in warnings for line in wrapped(text, "Warning  ", " " * 9)]


def tell_list(titles: Mapping[str, str], *lines: str, **more: Any) -> None:
    """Print names with what they are, in lines of 80 columns."""
    formatter = click.HelpFormatter(width=80)
    formatter.write_dl(list(titles.items()))
    items = [{"name": name, "title": title} for name, title in titles.items()]
    tell({"items": items, **more}, formatter.getvalue().rstrip(), *lines)


def lines_of(*table: Any) -> list[str]:
    """Return the lines of a table; see `table_lines`."""
    from bayesbias.output.text import table_lines

    return table_lines(*table)


def tell_table(
    answer: Mapping[str, Any],
    about: str,
    lines: Sequence[str],
    headline: str,
    notes: Sequence[str],
    warnings: Sequence[str] = (),
) -> None:
    """Print an answer as JSON, or as a title line, a table, a headline, warnings and notes."""
    from bayesbias.output.text import interpretation_text

    said = interpretation_text(Interpretation("", headline, tuple(warnings), tuple(notes)))
    tell(answer, f"bayesbias {bb.__version__} | {about}", *lines, "", said)


def tell(answer: Mapping[str, Any], *lines: str) -> None:
    """Print an answer as one JSON object where that was asked for, else these lines."""
    context = click.get_current_context()
    if not (kind := context.params.get("as_json")):
        _print("\n".join(lines))
        return
    schema = context.command_path.partition(" ")[2].replace(" ", "-")
    if kind == "brief":
        schema += "-brief"
        answer = {key: value for key, value in answer.items() if key not in MADE}
    click.echo(json.dumps(plain({"schema": f"{schema}-2", **answer}), ensure_ascii=False))
