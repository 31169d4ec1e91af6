"""The command ``bayesbias``. Results go to stdout, everything else to stderr; bad input exits with 2."""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from typing import Any, NoReturn

import click

import bayesbias
from bayesbias.basics.errors import BayesbiasError
from bayesbias.cli import options, screen
from bayesbias.cli.comparing import compare
from bayesbias.cli.correlating import wefat
from bayesbias.cli.debiasing import debias
from bayesbias.cli.describing import describe
from bayesbias.cli.fitting import demo, fit
from bayesbias.cli.measuring import measure
from bayesbias.cli.planning import calibrate, plan
from bayesbias.cli.reporting import report
from bayesbias.cli.sentence_tests import seat
from bayesbias.cli.sentiment_analysis import sentiment
from bayesbias.cli.shipped import check_wordlist, list_, show
from bayesbias.cli.simulating import simulate
from bayesbias.cli.sweeping import sweep
from bayesbias.cli.verifying import verify

COMMANDS = (
    fit, demo, measure, wefat, simulate, calibrate, plan, debias, compare, seat, sentiment, sweep, report, verify, describe,
    list_, show, check_wordlist,
)  # fmt: skip

_FORMAT = warnings.formatwarning


@click.group(
    commands=options.on_every_command(COMMANDS),
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Begin with: bayesbias demo",
)
@click.version_option(bayesbias.__version__, prog_name="bayesbias")
def cli() -> None:
    """Measure social association in word vectors, pair by pair, with honest uncertainty."""


def main() -> None:
    """Run the command; errors a user can mend are one message and exit code 2."""
    screen.prepare()
    warnings.formatwarning = _one_line
    try:
        ended = cli(prog_name="bayesbias", standalone_mode=False)
    except BayesbiasError as error:
        _end(str(error))
    except OSError as error:  # of what is printed, or of a file of a library
        said = [str(part) for part in (error.filename, error.strerror) if part]
        _end(": ".join(said) or str(error))
    except click.ClickException as error:  # its message may hold what was typed
        message = io.StringIO()
        error.show(message)
        screen.say(message.getvalue().rstrip("\n"), err=True)
        sys.exit(error.exit_code)
    except click.Abort:
        screen.say("Aborted!", err=True)
        sys.exit(1)
    sys.exit(ended if isinstance(ended, int) else 0)


def _end(problem: str) -> NoReturn:
    """Say what is wrong, where that can be said, and end with 2."""
    with contextlib.suppress(OSError):  # nobody reads it, or the disk is full that it goes to
        screen.say(f"bayesbias: {problem}", err=True)
    sys.exit(2)


def _one_line(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> str:
    """Return a warning as it is printed: those meant for users in one line, without the place in the program."""
    if issubclass(category, UserWarning) and not issubclass(category, DeprecationWarning):
        return screen.shown(f"note: {message}", sys.stderr) + "\n"
    return _FORMAT(message, category, *place, **more)
