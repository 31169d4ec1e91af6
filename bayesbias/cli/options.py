"""Options that commands share, so that one name means one thing everywhere."""

from __future__ import annotations

import copy
import functools
import math
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from bayesbias.core import checks
from bayesbias.core.errors import AsWritten, InputError
from bayesbias.core.settings import Setting
from bayesbias.core.wording import literal

ENGINES = ("nuts", "quick")  # as `bayesbias.inference.engine` has them
Option = Callable[[Callable[..., Any]], Callable[..., Any]]
# What every command and subcommand has. An option that says something to the command as a whole is one row here, with
# expose_value=False and a callback, so that no command has to take it. It is not recorded with a run (`given`).
EVERY_COMMAND: tuple[Callable[[click.Command], click.Command], ...] = (
    click.help_option("-h", "--help", help="Show this message and exit."),
)
OF_MODELS = ("prob", "draws", "tune", "chains")  # of commands that also do without one
SEED = click.IntRange(0, 2**32 - 1)


def on_every_command(commands: Iterable[click.Command]) -> list[click.Command]:
    """Give commands, and theirs in turn, the options that all have, and what holds for the options of all.

    No text is empty, and what a function says of an argument is said of the option that was typed.
    """
    out = list(commands)
    for command in out:
        for option in reversed(EVERY_COMMAND):
            option(command)
        for parameter in command.params:
            if type(parameter.type) is click.types.StringParamType:
                parameter.type = Text()
            elif isinstance(parameter.type, click.types.IntParamType | click.types.FloatParamType):
                parameter.type = _of_digits(parameter.type)
        if command.callback is not None:
            command.callback = _of_options(command.callback)
        if isinstance(command, click.Group):
            on_every_command(command.commands.values())
    return out


def _of_digits(kind: click.ParamType) -> click.ParamType:
    """Return a kind of number that takes no text but one as people write numbers."""
    out = copy.copy(kind)

    def convert(value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        if isinstance(value, str) and not checks.is_typed_number(value):
            out.fail(f"{value!r} is not a valid {kind.name.removesuffix(' range')}.", parameter, context)
        number = kind.convert(value, parameter, context)
        if isinstance(number, float) and not math.isfinite(number):
            out.fail(f"{number} is not a finite number.", parameter, context)
        return number

    out.convert = convert  # type: ignore[method-assign, assignment]
    return out


class Text(click.types.StringParamType):
    """A path, a name or the like; an empty one is a slip, and would be taken for what was not given."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        """Return the text."""
        if isinstance(value, str) and not value.strip():
            self.fail("the value is empty", parameter, context)
        return super().convert(value, parameter, context)


class Source(click.Path):
    """The path of what is read; an empty one would be the folder that one is in."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        """Return the path."""
        if not os.fspath(value).strip():
            self.fail("the path is empty", parameter, context)
        return super().convert(value, parameter, context)


class Known(click.Option):
    """An option whose value is, in the functions that take it, called otherwise: `within`."""

    def __init__(self, *given: Any, within: tuple[str, ...] = (), **settings: Any) -> None:
        super().__init__(*given, **settings)
        self.within = within


def _of_options[**P, R](callback: Callable[P, R]) -> Callable[P, R]:
    """Let what a function says of an argument be said of the option that it was typed with."""

    @functools.wraps(callback)
    def told(*placed: P.args, **named: P.kwargs) -> R:
        try:
            _refuse_styles_of_nothing()
            _refuse_input_for_output()
            return callback(*placed, **named)
        except InputError as error:
            of_option = _of_option(error, click.get_current_context(silent=True))
            if of_option is None:
                raise
            raise of_option from None

    return told


def _refuse_input_for_output() -> None:
    """Refuse to write a file in the place of one that the same command reads."""
    context = click.get_current_context(silent=True)
    out = None if context is None else context.params.get("out")
    if context is None or not isinstance(out, str | os.PathLike) or not os.path.isfile(out):
        return
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if parameter.name == "out" or value is None:
            continue
        for given in value if isinstance(value, list | tuple) else (value,):
            # a list of files may stand in one text, with commas between them
            for path in (given, *given.split(",")) if isinstance(given, str) else (given,):
                if isinstance(path, str | os.PathLike) and _are_one_file(path, out):
                    raise InputError(
                        f"is what {parameter.opts[0]} reads",
                        where="--out",
                        found=str(out),
                        hint="name another file",
                    )


def _are_one_file(path: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    try:
        return os.path.samefile(path, other)
    except (OSError, ValueError):
        return False


def _refuse_styles_of_nothing() -> None:
    """Refuse to style files where none is written."""
    context = click.get_current_context(silent=True)
    if context is not None and context.params.get("out", ()) is None:
        refuse_typed(
            ("figure_width", "figure_style", "spreadsheet_safe"),
            "is for files, and none is written",
            "--out DIR",
        )


def _of_option(error: InputError, context: click.Context | None) -> InputError | None:
    """Return an error on an argument as one on the option that was typed; None where none was."""
    parts = error.parts
    argument, comma, rest = parts["where"].partition(", ")
    for parameter in [] if context is None else context.command.params:
        spelt = parameter.opts[0].lstrip("-").replace("-", "_")
        names = (parameter.name, spelt, *(parameter.within if isinstance(parameter, Known) else ()))
        assert context is not None
        typed = context.get_parameter_source(parameter.name or "") is click.core.ParameterSource.COMMANDLINE
        if isinstance(parameter, click.Option) and argument in names and typed:
            return InputError(
                parts["problem"],
                where=f"{parameter.opts[0]}{comma}{rest}",
                found=AsWritten(parts["found"]) if parts["found"] else None,
                valid=parts["valid"] or None,
                hint=parts["hint"] or None,
            )
    return None


def prob(text: str = "Probability of the intervals.") -> Option:
    """Probability of intervals, between 0 and 1."""
    return click.option("--prob", type=_Probability(), default=0.89, show_default=True, help=text)


class Positive(click.FloatRange):
    """A finite number above 0."""

    def __init__(self) -> None:
        super().__init__(0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number that was typed."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{number} is not a finite number above 0.", param, ctx)
        if not 1 / checks.LARGEST <= number <= checks.LARGEST:
            self.fail(f"{number} does not lie from {1 / checks.LARGEST:g} to {checks.LARGEST:g}.", param, ctx)
        return number


_LEAST_BEYOND = 1e-9  # what is left on the other side of a probability


class _Probability(click.FloatRange):
    """A probability that is neither 0 nor 1, nor so near to one of them that nothing is left beyond."""

    def __init__(self) -> None:
        super().__init__(0, 1, min_open=True, max_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number that was typed."""
        number = float(super().convert(value, param, ctx))
        if min(number, 1 - number) < _LEAST_BEYOND:
            self.fail(f"{number!r} lies too near to 0 or 1.", param, ctx)
        return number


def rope(command: Callable[..., Any]) -> Callable[..., Any]:
    """Half-width of the region of practical equivalence."""
    return click.option("--rope", type=Positive(), help="Half-width of practical equivalence.")(command)


def standard_rope(command: Callable[..., Any]) -> Callable[..., Any]:
    """Half-width of the same region on the scale of standard deviations."""
    text = "Half-width of practical equivalence in standard deviations."
    return click.option("--standard-rope", type=Positive(), help=text)(command)


def sampling(command: Callable[..., Any]) -> Callable[..., Any]:
    """Seed, draws, tuning steps and chains of the sampler."""
    for name, default, text in (
        ("--chains", 4, "Chains."),
        ("--tune", 1000, "Tuning steps per chain."),
        ("--draws", 1000, "Kept draws per chain."),
    ):
        command = click.option(name, type=click.IntRange(1), default=default, show_default=True, help=text)(
            command
        )
    return click.option("--seed", type=SEED, help="Seed; same seed, same machine, same draws.")(command)


def covariates(text: str) -> Option:
    """Files of numbers of words, of which slopes are asked."""
    text = f"{text}; may be given several times."
    return click.option("--covariates", multiple=True, metavar="FILE", help=text)


def slopes(command: Callable[..., Any]) -> Callable[..., Any]:
    """Slopes on covariates about words; see `slopes_asked`."""
    text = (
        "Add slopes on this covariate to the model; COLUMN:protected_class gives each class its own. By default what results are "
        "given for has one each. May be given several times."
    )
    return click.option("--slope", "slope", multiple=True, metavar="COLUMN[:BY,...]", help=text)(command)


def engine(default: str) -> Option:
    """Choose what samples the scales of a collapsed model."""
    text = "What samples a collapsed model: NUTS, or importance sampling (quick), with NUTS where its weights fail."
    return click.option("--engine", type=click.Choice(ENGINES), default=default, show_default=True, help=text)


def hands(usual: str = "one per core") -> Option:
    """Who does the fits: so many processes, or a cluster."""
    dask = click.option(
        "--dask", metavar="ADDRESS", help="A Dask scheduler that does the fits, such as tcp://host:8786."
    )
    local = click.option(
        "--workers",
        type=click.IntRange(1),
        metavar="N",
        help=f"Local processes; by default {usual}. With 1 this process does the work itself.",
    )
    return lambda command: local(dask(command))


class Place(click.Path):
    """The path of what is written; one that nobody means is a slip, such as a variable of a shell that is not set."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        """Return the path."""
        text = os.fspath(value)
        if not text.strip():
            self.fail("the path is empty", parameter, context)
        if text.startswith("-"):
            self.fail(
                f"{text!r} looks like an option; a folder of that name is './{text}'", parameter, context
            )
        if literal(text) != text:
            self.fail(f"{text!r} holds characters that no name should have", parameter, context)
        return Path(os.path.expanduser(os.fsdecode(super().convert(value, parameter, context))))


class Numbers(click.ParamType):
    """Numbers with commas between them."""

    name = "numbers"

    def __init__(self, kind: type[int] | type[float]) -> None:
        self.kind = kind

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> tuple[float, ...]:
        """Return the numbers."""
        if not isinstance(value, str):
            return value
        numbers = []
        for part in value.split(","):
            try:
                if not checks.is_typed_number(part):
                    raise ValueError(part)
                numbers.append(self.kind(part))
            except ValueError:
                noun = "whole numbers" if self.kind is int else "numbers"
                where = parameter.opts[0] if parameter is not None else None
                valid = f"{noun}, with commas between"
                raise InputError("not a number", where=where, found=part, valid=valid) from None
        return tuple(numbers)


def folder(text: str, **settings: Any) -> Option:
    """Where to write."""
    return click.option("--out", type=Place(), metavar="DIR", help=text, **settings)


def figure_style(command: Callable[..., Any]) -> Callable[..., Any]:
    """For what figures are drawn, and how wide: in force until the command is through, so that it takes neither."""

    def enter(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        if value is not None:
            from bayesbias.plots.style import figure_style as style

            context.with_resource(style(value) if parameter.name == "figure_style" else style(width=value))

    command = click.option(
        "--figure-width",
        type=Positive(),
        metavar="MM",
        expose_value=False,
        callback=enter,
        help="Width of figures in millimetres; 89 and 183 are one and two columns of a journal.",
    )(command)
    return click.option(
        "--figure-style",
        type=click.Choice(("report", "journal", "talk")),
        expose_value=False,
        is_eager=True,  # a style has a width of its own, which the other option replaces
        callback=enter,
        help="What figures are drawn for: a report (PNG, SVG), a journal (PDF, SVG; no title), a talk.",
    )(command)


def given(context: click.Context | None = None) -> list[str]:
    """Return the arguments of the command as click understood them: its name, and the options that were given.

    Options that the command does not take itself (``expose_value=False``) make no other result, and are left out.
    """
    context = click.get_current_context() if context is None else context
    words = context.command_path.split()[1:]
    places: list[str] = []
    for parameter in context.command.params:
        name = parameter.name or ""
        on_line = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if not (on_line and parameter.expose_value):
            continue
        value = context.params.get(name)
        if isinstance(parameter, click.Argument):
            places += [str(value)] if parameter.nargs == 1 else map(str, value or ())
        elif isinstance(parameter, click.Option) and parameter.is_flag:
            words.append(parameter.opts[-1] if value else parameter.secondary_opts[-1])
        else:
            for each in value if isinstance(value, tuple) and parameter.multiple else (value,):
                several = isinstance(each, list | tuple)  # of one option, with commas between
                words += [parameter.opts[0], ",".join(map(str, each)) if several else str(each)]
    return [*words, *(["--"] if any(place.startswith("-") for place in places) else []), *places]


def refuse_typed(names: Iterable[str], why: str, valid: str | None = None) -> None:
    """Refuse those of these parameters that were typed: where they stand they would do nothing.

    Parameters
    ----------
    names : iterable of str
        As the function of the command has them.
    why : str
        What is said of the option, after its name.
    valid : str, optional
        What it belongs to.
    """
    context = click.get_current_context()
    names = set(names)
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in names and context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            value = context.params.get(name)
            switched = isinstance(value, bool)
            spelt = parameter.secondary_opts if switched and not value else parameter.opts
            shown = value[0] if isinstance(value, tuple) and len(value) == 1 else value
            raise InputError(f"{spelt[0]} {why}", found=None if switched else shown, valid=valid)


def spreadsheet_safe(command: Callable[..., Any]) -> Callable[..., Any]:
    """Tables that a spreadsheet opens without executing a word."""
    text = "Put an apostrophe before each text in CSV files that a spreadsheet would take for a formula."
    return click.option("--spreadsheet-safe", is_flag=True, help=text)(command)


def as_json(command: Callable[..., Any]) -> Callable[..., Any]:
    """Output for scripts."""
    text = "Print one JSON object and nothing else; its schema names the layout."
    return click.option("--json", "as_json", is_flag=True, help=text)(command)


def allow_pickle(what: str = "vectors") -> Option:
    """Consent to run what a pickle holds."""
    return click.option(
        "--allow-pickle", is_flag=True, help=f"Read pickled {what}; this runs code in the file."
    )


def embedding(required: bool = False) -> Option:
    """Word vectors."""
    text = "Word vectors: a file, a gensim-data name, or minilm-static."
    return click.option("--embedding", required=required, metavar="E", help=text)


def wordlist(command: Callable[..., Any]) -> Callable[..., Any]:
    """Pick a word list."""
    text = "A word list: a shipped name, or a TOML, JSON or CSV file."
    return click.option("--wordlist", metavar="W", help=text)(command)


def distances(command: Callable[..., Any]) -> Callable[..., Any]:
    """Take a table in place of vectors and words."""
    text = "A table of distances (CSV or Parquet) in place of both."
    return click.option("--distances", metavar="FILE", help=text)(command)


def vector_files(command: Callable[..., Any]) -> Callable[..., Any]:
    """How files of vectors are read."""
    choice = click.Choice(["error", "skip"])
    text = "What to do with words in the vectors that are not valid UTF-8."
    command = click.option("--invalid-utf8", type=choice, default="error", show_default=True, help=text)(
        command
    )
    return allow_pickle()(command)


def postprocess(command: Callable[..., Any]) -> Callable[..., Any]:
    """Move vectors before cosines are taken."""
    choice = click.Choice(["center", "standardize", "abtt"])
    text = "Move the vectors first, by the mean and spread of all words of the source."
    return click.option("--postprocess", type=choice, help=text)(command)


def classes(text: str) -> Option:
    """Two classes of a list."""
    return click.option("--classes", metavar="X,Y", callback=_couple, help=text)


def _couple(_context: click.Context, _option: click.Parameter, given: str | None) -> list[str] | None:
    return None if given is None else [name.strip() for name in given.split(",")]


def of_settings(rows: Iterable[Setting]) -> Option:
    """Options for what the rows of a table of measures or methods may be told, in their order; equal ones are shared."""
    settings = list(dict.fromkeys(rows))
    names = [row.name for row in settings]
    unlike = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if unlike:
        raise ValueError(f"settings of one name that are not equal: {', '.join(unlike)}")

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for row in reversed(settings):
            command = _option_of(row)(command)
        return command

    return decorate


def _option_of(row: Setting) -> Option:
    common = {"default": row.default, "show_default": row.default is not None, "help": row.help}
    if isinstance(row.default, bool):
        return click.option(f"{row.option}/--no-{row.option[2:]}", row.name, **common)
    return click.option(row.option, row.name, type=_type_of(row), metavar=row.metavar, **common)


def _type_of(row: Setting) -> click.ParamType | type:
    if row.choices:
        return click.Choice(row.choices)
    kind = row.kind or (str if row.default is None else type(row.default))
    if kind is int and (row.least, row.most) != (None, None):
        least, most = (None if end is None else int(end) for end in (row.least, row.most))
        return click.IntRange(least, most)
    if kind is float and (row.least, row.most) != (None, None):
        return click.FloatRange(row.least, row.most, min_open=not row.ends, max_open=not row.ends)
    return kind
