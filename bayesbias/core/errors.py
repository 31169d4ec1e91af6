"""The errors a user can cause: ``<argument or file>: expected <X>, got <Y>. <What to do.>``."""

import contextlib
import errno
import os
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from bayesbias.core.formatting import in_one_line, some

_PACKAGE = str(Path(__file__).parents[1]) + os.sep
_SHOWN = 100  # characters of what was found
_COMPARED = 50_000  # options of which the nearest is sought
_REFUSED = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
# How Python and compiled libraries say that the system gave them nothing.
_NO_THREAD = ("new thread", "spawn thread", "spawn worker thread")
_NO_RESOURCE = (*_NO_THREAD, "resource temporarily unavailable", "cannot allocate memory")


class BayesbiasError(Exception):
    """Base class of all errors that the package raises on purpose.

    Examples
    --------
    >>> import bayesbias as bb
    >>> try:
    ...     bb.load_wordlist("religon")
    ... except bb.BayesbiasError as error:
    ...     print(type(error).__name__)
    InputError
    """

    __module__ = "bayesbias"


class InputError(BayesbiasError, ValueError):
    """Something the user handed over cannot be used.

    Parameters
    ----------
    problem : str
        What was expected.
    where : str, optional
        The argument; or the file, and the line, row or key in it.
    found : object, optional
        What stands there.
    valid : str or iterable of str, optional
        What to use instead. Of a list only the first twelve are shown.
    hint : str, optional
        What to do about it, for example the nearest match.

    Attributes
    ----------
    parts : dict of str to str
        The same five as texts; "" where there is none.

    Examples
    --------
    >>> print(InputError("expected a slope", where="by", found=3, hint="name a covariate"))
    by: expected a slope, got 3. Name a covariate.
    """

    __module__ = "bayesbias"

    def __init__(
        self,
        problem: str,
        *,
        where: object = None,
        found: object = None,
        valid: str | Iterable[str] | None = None,
        hint: str | None = None,
    ) -> None:
        listed = valid if isinstance(valid, str | None) else some(valid)
        first, *others = repr(found).splitlines() or [""]
        whole = len(first) <= _SHOWN and not others  # else long, or of several lines, as a frame
        shown = in_one_line(first if whole else f"{first.strip()[:60]} ...")
        self.parts = {
            "where": "" if where is None else in_one_line(str(where)),
            "problem": in_one_line(str(problem)),
            "found": "" if found is None else shown,
            "valid": "" if listed is None else in_one_line(listed),
            "hint": in_one_line(hint) if hint else "",
        }
        place, said, got, use, hint = self.parts.values()
        if got and ", got " not in said:
            said = f"{said}, got {got}"
        if hint.partition(" ")[0].strip(",:").isalpha():  # a word, no name of a function
            hint = hint[:1].upper() + hint[1:]
        message = f"{place}: {said}" if place else said
        message = ". ".join(filter(None, (message, use and f"Use {use}", hint)))
        ends = message.endswith((".", "?", "!")) or hint.endswith(("'", '"', "`"))  # of code
        super().__init__(message if ends else f"{message}.")

    def retold(self, ahead: str = "", hint: str | None = None) -> "InputError":
        """Return this error with a wider place before its own, or another hint.

        Examples
        --------
        >>> print(InputError("expected rows, got none", where="frame").retold("method 'hard'"))
        method 'hard', frame: expected rows, got none.
        """
        where, said, found, valid, own_hint = self.parts.values()
        return InputError(
            f"{said}, got {found}" if found and ", got " not in said else said,
            where=", ".join(filter(None, (ahead, where))) or None,
            valid=valid or None,
            hint=hint or own_hint,
        )


class FitError(BayesbiasError, RuntimeError):
    """A model that cannot be fitted to a table.

    Examples
    --------
    >>> import bayesbias as bb
    >>> issubclass(bb.FitError, bb.BayesbiasError)
    True
    """

    __module__ = "bayesbias"


class TooLargeError(FitError):
    """A model that takes more memory than a fit may have."""


class ResourceError(BayesbiasError, RuntimeError):
    """The system gave no more memory, threads or processes.

    Examples
    --------
    >>> import bayesbias as bb
    >>> issubclass(bb.ResourceError, bb.BayesbiasError)
    True
    """

    __module__ = "bayesbias"


def as_resource_error(error: BaseException) -> ResourceError | None:
    """Return the error of a lack of resources that another error tells of, or None.

    Examples
    --------
    >>> print(as_resource_error(MemoryError()))
    not enough memory. Give fewer draws, chains or words, or use a machine with more memory.
    >>> as_resource_error(ValueError("a wrong value")) is None
    True
    """
    if isinstance(error, ResourceError):
        return error
    reason = in_one_line(str(error), 120)
    if isinstance(error, MemoryError):
        what = f" ({reason})" if reason else ""
        hint = "Give fewer draws, chains or words, or use a machine with more memory."
        return ResourceError(f"not enough memory{what}. {hint}")
    refused = isinstance(error, OSError) and error.errno in _REFUSED and not error.filename
    if refused or any(words in reason.lower() for words in _NO_RESOURCE):
        hint = "Give fewer cores, workers or chains, or raise the limits (ulimit -a)."
        return ResourceError(f"the system refused a resource ({describe_error(error)}). {hint}")
    return None


@contextlib.contextmanager
def lack_of_resources() -> Iterator[None]:
    """Raise `ResourceError` for whatever tells of a lack of memory, threads or processes."""
    try:
        yield
    except BaseException as error:  # a panic of a compiled library is no Exception
        problem = as_resource_error(error)
        if problem is None or problem is error:
            raise
        raise problem from error


def describe_error(error: BaseException) -> str:
    """Say an error in one line: our own by its message, any other by its type too."""
    said = str(error) if isinstance(error, BayesbiasError) else f"{type(error).__name__}: {error}"
    return in_one_line(said)


def warn_user(message: str) -> None:
    """Warn at the line that called us, however deep below it something was found."""
    warnings.warn(message, UserWarning, skip_file_prefixes=(_PACKAGE,))


def format_warning(message: Warning | str, *place: Any, **line: Any) -> str:
    """Return a warning of the command: one line, without the place in the program."""
    return f"Warning  {message}\n"


def nearest(name: str, options: Iterable[str]) -> str | None:
    """Say which option the user may have meant.

    Examples
    --------
    >>> nearest("religon", ["gender", "race", "religion"])
    "did you mean 'religion'?"
    >>> nearest("xyz", ["gender"]) is None
    True
    """
    import difflib

    spelled = {option.lower(): option for option in reversed(list(options))}
    if len(spelled) > _COMPARED:
        return None
    if name == "cells" and "default" in spelled:  # the former name of the model
        name = "default"
    close = difflib.get_close_matches(name.lower(), spelled, n=1)
    return f"did you mean {spelled[close[0]]!r}?" if close else None
