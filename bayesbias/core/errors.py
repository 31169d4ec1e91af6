"""The errors a user can cause, worded so that the message is enough to fix them."""

import difflib
import os
import warnings
from collections.abc import Iterable
from pathlib import Path

from bayesbias.core.formatting import literal, some

__all__ = ["BayesbiasError", "FitError", "InputError", "nearest"]

_PACKAGE = str(Path(__file__).parents[1]) + os.sep
_READ = 5_000  # characters of a part that are looked at
_SHOWN = 100  # characters of what was found
_COMPARED = 50_000  # options of which the nearest is sought


class BayesbiasError(Exception):
    """Base of every error raised on purpose; the command line prints it and exits with 2.

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
        What is wrong, as a sentence without its full stop.
    where : str, optional
        The file, and the line, row or key in it.
    found : object, optional
        What stands there.
    valid : str or iterable of str, optional
        What may stand there. Of a list only the first twelve are shown.
    hint : str, optional
        What to do about it, for example the nearest match.

    Attributes
    ----------
    parts : dict of str to str
        The same five as texts; "" where there is none.

    Examples
    --------
    >>> print(InputError("unknown model", found="crosed", valid=["additive", "crossed"],
    ...                  hint="did you mean 'crossed'?"))
    unknown model, got 'crosed'. Valid: additive, crossed. Did you mean 'crossed'?
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
        self.parts = {
            "where": "" if where is None else _in_one_line(str(where)),
            "problem": _in_one_line(str(problem)),
            "found": "" if found is None else _first_line(repr(found)),
            "valid": "" if listed is None else _in_one_line(listed),
            "hint": _in_one_line(hint) if hint else "",
        }
        place, said, *rest = self.parts.values()
        if ", got " in said:
            rest[0] = ""  # said already
        heads = (", got ", ". Valid: ", ". ")
        if rest[2].partition(" ")[0].strip(",:").isalpha():  # a word, no name of a function
            rest[2] = rest[2][:1].upper() + rest[2][1:]
        more = [f"{head}{part}" for head, part in zip(heads, rest, strict=True) if part]
        super().__init__("".join([f"{place}: " if place else "", said, *more]))

    def retold(self, ahead: str = "", hint: str | None = None) -> "InputError":
        """Return this error with a wider place ahead of its own, or with another hint.

        Examples
        --------
        >>> print(InputError("has no rows", where="data frame").retold("method 'hard'"))
        method 'hard', data frame: has no rows
        """
        parts = self.parts
        return InputError(
            parts["problem"],
            where=", ".join(filter(None, (ahead, parts["where"]))) or None,
            found=AsWritten(parts["found"]) if parts["found"] else None,
            valid=parts["valid"] or None,
            hint=hint or parts["hint"],
        )


class FitError(BayesbiasError, RuntimeError):
    """A model could not be fitted to a table, for a reason that lies in neither file alone.

    Examples
    --------
    >>> import bayesbias as bb
    >>> issubclass(bb.FitError, bb.BayesbiasError)
    True
    """

    __module__ = "bayesbias"


def warn_user(message: str) -> None:
    """Warn at the line that called us, however deep below it something was found."""
    warnings.warn(message, UserWarning, skip_file_prefixes=(_PACKAGE,))


class AsWritten:
    """A text that a message shows as it stands, such as what another message found."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _in_one_line(text: str) -> str:
    return literal(" ".join(text[:_READ].split()))


def _first_line(text: str) -> str:
    """Return the first words of what is long or has several lines.

    Such as a fit or a data frame.
    """
    first, *others = text[:_READ].splitlines() or [""]
    return _in_one_line(
        first if len(first) <= _SHOWN and not others else f"{first.strip()[:60]} ..."
    )


def nearest(name: str, options: Iterable[str]) -> str | None:
    """Say which option the user may have meant.

    Examples
    --------
    >>> nearest("religon", ["gender", "race", "religion"])
    "did you mean 'religion'?"
    >>> nearest("xyz", ["gender"]) is None
    True
    """
    spelled = {option.lower(): option for option in reversed(list(options))}
    if len(spelled) > _COMPARED:
        return None
    close = difflib.get_close_matches(name.lower(), spelled, n=1)
    return f"did you mean {spelled[close[0]]!r}?" if close else None
