"""The command ``bayesbias``. Results go to stdout, everything else to stderr; bad input exits with 2."""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import click

import bayesbias
from bayesbias.cli import options, screen
from bayesbias.cli.calibrating import coverage_simulated
from bayesbias.cli.comparing import compare
from bayesbias.cli.correlating import wefat
from bayesbias.cli.debiasing import debias
from bayesbias.cli.describing import describe
from bayesbias.cli.fitting import demo, fit
from bayesbias.cli.measuring import measure
from bayesbias.cli.planning import plan
from bayesbias.cli.reporting import report
from bayesbias.cli.sentence_tests import seat
from bayesbias.cli.sentiment_analysis import sentiment
from bayesbias.cli.shipped import check_wordlist, list_, show
from bayesbias.cli.simulating import simulate
from bayesbias.cli.sweeping import sweep
from bayesbias.cli.verifying import verify
from bayesbias.core.cleaning import in_one_line
from bayesbias.core.errors import BayesbiasError
from bayesbias.core.guarding import MOST_CHARACTERS

# As the help shows them: what one wants to do, and with what.
TASKS: dict[str, tuple[click.Command, ...]] = {
    "Begin": (demo, list_, show, check_wordlist),
    "Word vectors": (fit, measure, wefat, describe),
    "Debiased vectors": (debias, compare),
    "Sentence encoders and classifiers": (seat, sentiment),
    "Many at once": (sweep,),
    "Before a study, and on methods": (plan, coverage_simulated, simulate),
    "What was written": (report, verify),
}

_BACKEND = "MPLBACKEND"
_DATE = "SOURCE_DATE_EPOCH"
_FORMAT = warnings.formatwarning


_POLITE = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_TIMED = hasattr(signal, "setitimer")
_AGAIN = 0.02  # seconds


class _AskedToEnd(KeyboardInterrupt):
    """A signal that asks the process to end: what is half done is taken back, as after Ctrl-C."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@contextlib.contextmanager
def _ending_well() -> Iterator[list[int]]:
    """Let Ctrl-C and the signals of schedulers, `timeout` and closed terminals clean up, unless who started us passes them over.

    What was asked is in the list that is given, also where a library passed over what was thrown at it.
    """
    asked: list[int] = []

    def end(number: int, frame: FrameType | None) -> None:
        asked.append(number)
        if _TIMED and _imports(
            frame
        ):  # where libraries pass over whatever is thrown; ask again when that is done
            signal.setitimer(signal.ITIMER_REAL, _AGAIN)
            return
        raise _AskedToEnd(number)

    def again(_: int, frame: FrameType | None) -> None:
        end(asked.pop(), frame)

    handlers: dict[int, Any] = dict.fromkeys(_POLITE, end)
    usual = (signal.SIG_DFL, signal.default_int_handler)
    if _TIMED:
        handlers[signal.SIGALRM] = again
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.getsignal(number) for number in handlers}
        before = {number: was for number, was in before.items() if was in usual}
    for number in before:
        signal.signal(number, handlers[number])
    try:
        yield asked
    finally:
        for number, was in before.items():
            signal.signal(number, was)


def _imports(frame: FrameType | None) -> bool:
    """Say whether a module is being imported."""
    while frame is not None:
        if frame.f_globals.get("__name__") == "importlib._bootstrap":
            return True
        frame = frame.f_back
    return False


class ByTask(click.Group):
    """A group whose help lists its commands by what they are for."""

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands of each task below its name, aligned over all tasks."""
        width = max(map(len, self.commands))
        room = formatter.width - formatter.indent_increment - width - 2
        for task, commands in TASKS.items():
            with formatter.section(task):
                formatter.write_dl(
                    [(f"{command.name:<{width}}", command.get_short_help_str(room)) for command in commands]
                )


@click.group(
    cls=ByTask,
    commands=options.on_every_command(command for commands in TASKS.values() for command in commands),
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Each command has --help and --json. Tab completes them, in bash after
  eval "$(_BAYESBIAS_COMPLETE=bash_source bayesbias)"
Begin with: bayesbias demo""",
)
@click.version_option(bayesbias.__version__, prog_name="bayesbias")
def cli() -> None:
    """Measure social association in word vectors, pair by pair, with honest uncertainty."""


def main() -> None:
    """Run the command; errors a user can mend are one message and exit code 2."""
    # A command saves figures and shows none: no backend of a screen, that may not even be there, is asked for. Where it is called
    # from Python, what comes after it has its own again.
    atexit.register(_at_once)  # what is registered later, by libraries, is called before
    before = os.environ.get(_BACKEND)
    os.environ[_BACKEND] = "agg"
    try:
        _run()
    except KeyboardInterrupt as stopped:  # before the command began, or after it ended
        _leave(_code_of(stopped))
    finally:
        if before is None:
            del os.environ[_BACKEND]
        else:
            os.environ[_BACKEND] = before


def _run() -> NoReturn:
    if sys.stdout is None:  # what is printed there would be lost without a word
        _end("standard output is closed; > /dev/null does without what is printed")
    date = os.environ.get(_DATE, "")
    if date and not re.fullmatch(r"\d{1,12}", date):  # libraries read it when they are imported, and throw
        _end(f"{_DATE} in the environment is no number of seconds; found: {in_one_line(date, 40)!r}")
    screen.prepare()
    warnings.formatwarning = _one_line
    try:
        with _ending_well() as asked:
            ended = cli(prog_name="bayesbias", standalone_mode=False)
        if asked:  # and passed over by a library: what was to be done is done, and who asked is not told that all went well
            _leave(128 + asked[-1])
    except BayesbiasError as error:
        _end(str(error))
    except OSError as error:  # of what is printed, or of a file of a library
        parts = [str(part) for part in (error.filename or "output", error.strerror) if part]
        _end(in_one_line(": ".join(parts) or str(error), MOST_CHARACTERS))
    except MemoryError:
        _end("there is not enough memory")
    except ImportError as error:  # of a library: it is damaged, or there is no memory left for it
        _end(in_one_line(f"a library cannot be loaded: {error}", MOST_CHARACTERS))
    except click.ClickException as error:  # its message may hold what was typed
        message = io.StringIO()
        error.show(message)
        # What was typed is in it, however long; what may be chosen stands below one another.
        lines = re.sub(r"\n\t", " ", message.getvalue().rstrip("\n")).split("\n")
        short = [
            line if len(line) <= MOST_CHARACTERS else in_one_line(line, MOST_CHARACTERS) for line in lines
        ]
        screen.say("\n".join(short), err=True)
        sys.exit(error.exit_code)
    except SystemExit as end:
        # Of a pipe that nobody reads on click ends with 1, which says that tests failed.
        if end.code == 1 and type(sys.stdout).__name__.endswith("PacifyFlushWrapper"):
            sys.exit(screen.PIPE_CLOSED)
        raise
    except click.Abort as stopped:
        with contextlib.suppress(OSError):  # of a terminal that is gone
            screen.say("Aborted!", err=True)
        # 1 would say that a limit was not met, or that a test failed.
        _leave(_code_of(stopped.__cause__))
    sys.exit(ended if isinstance(ended, int) else 0)


def _code_of(stopped: BaseException | None) -> int:
    """Return the exit code of a command that was asked to end, as shells have it."""
    return 128 + (stopped.number if isinstance(stopped, _AskedToEnd) else signal.SIGINT)


def _leave(code: int) -> NoReturn:
    """End at once: libraries that were stopped halfway may crash where the interpreter takes them down one by one."""
    if Path(sys.argv[0]).stem in ("bayesbias", "__main__"):  # else somebody else called, who goes on
        _left_with.append(code)
    sys.exit(code)


_left_with: list[int] = []


def _at_once() -> None:
    """End before the interpreter takes anything down, when all that was to be done at its end is done."""
    if _left_with:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(_left_with[-1])


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
