"""The command ``bayesbias``.

Results go to stdout, all else to stderr; bad input ends with exit code 2.
"""

import gc
import os
import re
import sys
import warnings
from typing import NoReturn

import click

import bayesbias
from bayesbias.core import BayesbiasError, InputError, packages

# Heading of the help -> command -> its module.
COMMANDS = {
    "Start": {"demo": "fit", "wordlist": "wordlist", "model": "inspect"},
    "Word vectors": {"fit": "fit", "score": "score", "wefat": "score", "describe": "inspect"},
    "Debiased vectors": {"debias": "compare", "compare": "compare"},
    "Encoders and classifiers": {"seat": "seat", "sentiment": "responses"},
    "Answers of any model": {"responses": "responses"},
    "Many fits, planning a study": dict.fromkeys(["sweep", "sample-size", "coverage"], "planning"),
    "Saved results": {"report": "inspect", "verify": "inspect"},
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
    epilog="Start with: bayesbias demo",
)
@click.version_option(bayesbias.__version__, prog_name="bayesbias")
def cli() -> None:
    """Measure social association in word vectors, encoders and classifiers."""


def main() -> None:
    """Run the command; an error that a user can fix is one line and exit code 2."""
    os.environ.setdefault("MPLBACKEND", "agg")  # figures are saved, not shown
    # One line, without the place in the program.
    warnings.formatwarning = lambda message, *_, **__: f"Warning  {message}\n"
    # What libraries make when they are imported stays: to look for garbage among it took a tenth
    # of a command.
    gc.set_threshold(50_000, 20, 100)
    try:
        code = cli.main(prog_name="bayesbias", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.ClickException as error:
        if getattr(error, "option_name", "") == "--bayes":
            _end(
                "--bayes: expected with seat or sentiment, got it here. For vectors use `bayesbias fit`"
            )
        problem = re.sub(r"^Invalid value for '([^']*)'", r"\1", error.format_message())
        context = getattr(error, "ctx", None)
        where = "bayesbias" if context is None else context.command_path
        named = isinstance(error, click.BadParameter) and not isinstance(
            error, click.MissingParameter
        )
        _end(problem if named else f"{problem.removesuffix('.')}. See {where} --help.")
    except click.Abort:
        sys.exit(1)
    except InputError as error:
        option = f"--{error.parts['where'].replace('_', '-')}"  # its argument, in Python
        _end(f"--{error}" if option in sys.argv else str(error))
    except BayesbiasError as error:
        _end(str(error))
    except OSError as error:
        _end(": ".join(map(str, filter(None, (error.filename, error.strerror)))) or str(error))
    else:
        sys.exit(code)


def _end(problem: str) -> NoReturn:
    click.echo(f"bayesbias: {problem}", err=True)
    sys.exit(2)
