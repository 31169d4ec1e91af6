"""The command ``bayesbias``.

Results go to stdout, all else to stderr. `EXIT_CODES` lists how a command ends.
"""

import errno
import gc
import os
import re
import sys
import warnings
from typing import Any

import click

import bayesbias
from bayesbias.cli.start import NOTHING_WRITTEN, code_of, signals
from bayesbias.cli.stopping import StoppedError, stop_line
from bayesbias.core import BayesbiasError, InputError, packages
from bayesbias.core.errors import as_resource_error, describe_error, format_warning

DONE, PART_FAILED, BAD_INPUT, FAILED = 0, 1, 2, 3
PIPE_CLOSED = 141  # 128 and the number of the signal
EXIT_CODES = """\b
Exit codes:
  0    done
  1    a limit of --require is not met, the sampler has not converged, or a
       part failed (a cell of a sweep, an encoder, a test)
  2    bad input, or faults that `verify` or `wordlist check` finds
  3    the program failed, or the system has no more memory or threads
  130  stopped by Ctrl-C (143: by SIGTERM, 141: by a closed pipe)

Start with: bayesbias demo
"""
TRACEBACK = "BAYESBIAS_TRACEBACK"  # in the environment: a failure shows where it is
# Errors of a file or disk that the user can change, also where they name no file.
_OF_DISKS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM)

# Heading of the help -> command -> its module.
COMMANDS = {
    "Start": {"demo": "fit", "wordlist": "wordlist", "model": "inspect"},
    "Word vectors": {"fit": "fit", "score": "score", "wefat": "score", "describe": "inspect"},
    "Debiased vectors": {"debias": "compare", "compare": "compare"},
    "Encoders and classifiers": {"seat": "seat", "sentiment": "responses"},
    "Answers of any model": {"responses": "responses"},
    "Many fits, planning a study": dict.fromkeys(["sweep", "sample-size", "coverage"], "planning"),
    "Saved results": {"report": "inspect", "verify": "inspect"},
    "Teaching": {"lesson": "lesson"},
}
MODULES = {name: module for group in COMMANDS.values() for name, module in group.items()}


class Commands(click.Group):
    """Load a command's module when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None for a name that there is not."""
        if cmd_name not in MODULES:
            return None
        return packages.member(f"bayesbias.cli.{MODULES[cmd_name]}:{cmd_name.replace('-', '_')}")

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, and keep from click what it would take for another end of it."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise StoppedError(stop_line(ctx), code_of(error)) from error
        except (EOFError, OSError) as error:
            raise _CarriedError from error

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the arguments, for the record of a run."""
        ctx.meta["bayesbias.arguments"] = list(args)
        # An option whose value may be left out would take the next argument for it.
        return super().parse_args(ctx, ["--json=full" if arg == "--json" else arg for arg in args])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under the headings of what they are for."""
        for heading, names in COMMANDS.items():
            with formatter.section(heading):
                rows = {name: self.get_command(ctx, name) for name in names}
                formatter.write_dl(
                    [(f"{n:<11}", row.get_short_help_str(60)) for n, row in rows.items() if row]
                )


@click.group(
    cls=Commands,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "show_default": True,
        "max_content_width": 100,
    },
    epilog=EXIT_CODES,
)
@click.version_option(bayesbias.__version__, prog_name="bayesbias")
def cli() -> None:
    """Measure social association in word vectors, encoders and classifiers."""


class _CarriedError(Exception):
    """Carries an error, its cause, past click."""


def main() -> None:
    """Run the command; every end but that of a closed pipe has a code and one line."""
    os.environ.setdefault("MPLBACKEND", "agg")  # figures are saved, not shown
    warnings.formatwarning = format_warning
    # What libraries make when they are imported stays: to look for garbage among it took a tenth
    # of a command.
    gc.set_threshold(50_000, 20, 100)
    with signals():
        try:
            code = _run()
        except BrokenPipeError:  # of a message
            code = PIPE_CLOSED
        if not _flushed():
            code = code or PIPE_CLOSED
    sys.exit(code)


def _run() -> int:
    """Run the command, and return its exit code."""
    try:
        return cli.main(prog_name="bayesbias", standalone_mode=False) or DONE
    except StoppedError as stop:
        click.echo(str(stop), err=True)
        return stop.code
    except (click.Abort, KeyboardInterrupt) as error:  # before a command began
        click.echo(NOTHING_WRITTEN, err=True)
        return code_of(error.__cause__ if isinstance(error, click.Abort) else error)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return BAD_INPUT
    except click.ClickException as error:
        return _report(_usage(error), BAD_INPUT)
    except SystemExit:
        raise
    except _CarriedError as failure:
        return _report_error(failure.__cause__ or failure)
    except BaseException as error:  # a panic of a compiled library is no Exception
        return _report_error(error)


def _usage(error: click.ClickException) -> str:
    """Say what is wrong with the arguments."""
    if getattr(error, "option_name", "") == "--bayes":
        return (
            "--bayes: expected with seat or sentiment, got it here. For vectors use `bayesbias fit`"
        )
    command = getattr(getattr(error, "ctx", None), "command", None)
    known = [option for parameter in getattr(command, "params", ()) for option in parameter.opts]
    if getattr(error, "option_name", "") == "--wordlist" and "--sets" in known:
        return (
            "--wordlist: expected --sets here, got another name. Give the word list as --sets LIST."
        )
    option = getattr(error, "param", None)
    if isinstance(error, click.MissingParameter) and isinstance(option, click.Option):
        what = str(option.help).rstrip(".")
        return f"{option.opts[0]}: expected {option.metavar or 'a value'} ({what}), got none."
    problem = re.sub(r"^Invalid value for '([^']*)'", r"\1", error.format_message())
    context = getattr(error, "ctx", None)
    where = "bayesbias" if context is None else context.command_path
    named = isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter)
    return problem if named else f"{problem.removesuffix('.')}. See {where} --help."


def _report_error(error: BaseException) -> int:
    """Say what went wrong, and return the exit code."""
    if isinstance(error, BrokenPipeError):
        return PIPE_CLOSED
    if isinstance(error, InputError):
        option = f"--{error.parts['where'].replace('_', '-')}"  # its argument, in Python
        return _report(f"--{error}" if option in sys.argv else str(error), BAD_INPUT)
    resources = as_resource_error(error)
    if isinstance(error, BayesbiasError) and resources is None:
        return _report(str(error), BAD_INPUT)
    if isinstance(error, OSError) and (error.filename or error.errno in _OF_DISKS):
        problem = ": ".join(map(str, filter(None, (error.filename, error.strerror))))
        return _report(problem or describe_error(error), BAD_INPUT)

    if os.environ.get(TRACEBACK):
        import traceback

        traceback.print_exception(error)
    if resources is not None:
        return _report(str(resources), FAILED)
    if isinstance(error, OSError):
        hint = "Free some, or raise the limits (ulimit -a)."
        return _report(f"the system refused a resource ({describe_error(error)}). {hint}", FAILED)
    hint = (
        "Please report it to the maintainers (see CONTRIBUTING.md) with the command; "
        f"{TRACEBACK}=1 shows where it failed"
    )
    return _report(f"the program failed ({describe_error(error)}). {hint}", FAILED)


def _report(problem: str, code: int) -> int:
    click.echo(f"bayesbias: {problem}", err=True)
    return code


def _flushed() -> bool:
    """Write what is left for stdout and stderr; what cannot be written is dropped."""
    flushed = True
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            # Python would try again at its end, and report it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            flushed = False
    return flushed
