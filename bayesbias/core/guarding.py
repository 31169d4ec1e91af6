"""What a library throws while it reads bytes from outside, made one `InputError` in one line."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator

from bayesbias.core.cleaning import in_one_line
from bayesbias.core.errors import BayesbiasError, InputError

MOST_CHARACTERS = 300  # of a message that began in a library
_WHERE_CHARACTERS = 120
_VALID_CHARACTERS = 90
# What the user or the interpreter means is no failure of a file.
_PASSING = (KeyboardInterrupt, SystemExit, GeneratorExit, BayesbiasError)


@contextlib.contextmanager
def guarded(
    where: object,
    problem: str = "cannot be read",
    *,
    valid: str | Iterable[str] | None = None,
    hint: str | None = None,
) -> Iterator[None]:
    """Make of whatever a library throws in the block one `InputError` of at most 300 characters, in one line.

    For the calls into a library alone: a slip of our own in the block would be taken for a damaged file. Nothing crosses
    but `InputError` and the other errors made on purpose, Ctrl-C and the end of the interpreter. Parsers in Rust throw
    what is no `Exception`; that is caught as well, and so is want of memory and of room for recursion.

    Parameters
    ----------
    where : object
        The file, and the place in it.
    problem : str
        What could not be done; what the library says follows in brackets.
    valid, hint : str, optional
        As for `InputError`.

    Examples
    --------
    >>> with guarded("vectors.npz", "is damaged", hint="copy it again"):
    ...     raise MemoryError
    Traceback (most recent call last):
    ...
    bayesbias.InputError: vectors.npz: is damaged (it asks for more memory than there is); copy it again
    """
    try:
        yield
    except _PASSING:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise  # an end that something else asked for, such as a cancelled task
        raise refused(error, where, problem, valid=valid, hint=hint) from None


def refused(
    error: BaseException,
    where: object,
    problem: str = "cannot be read",
    *,
    valid: str | Iterable[str] | None = None,
    hint: str | None = None,
) -> InputError:
    r"""Return the error for what a library threw.

    Examples
    --------
    >>> print(refused(ValueError("bad\nshape"), "x.npy"))
    x.npy: cannot be read (bad shape)
    """
    place = in_one_line(str(where), _WHERE_CHARACTERS)
    if valid is not None:
        valid = in_one_line(valid if isinstance(valid, str) else ", ".join(valid), _VALID_CHARACTERS)
    short = InputError(problem, where=place, valid=valid, hint=hint)
    room = max(24, MOST_CHARACTERS - len(str(short)) - 3)
    full = InputError(f"{problem} ({reason(error, room)})", where=place, valid=valid, hint=hint)
    return full if len(str(full)) <= MOST_CHARACTERS else InputError(in_one_line(str(full), MOST_CHARACTERS))


def reason(error: BaseException, most: int = 160) -> str:
    """Say in one line why a library failed."""
    if isinstance(error, MemoryError):
        return "it asks for more memory than there is"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, OSError) and error.strerror:
        return in_one_line(error.strerror, most)
    try:
        text = in_one_line(str(error), most)
    except Exception:  # an error that cannot even be put into words
        text = ""
    return text or in_one_line(type(error).__name__, most)
