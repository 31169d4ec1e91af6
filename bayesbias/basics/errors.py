"""The errors a user can cause, worded so that the message is enough to mend them."""

from __future__ import annotations

from collections.abc import Iterable

from bayesbias.basics.face import public_in
from bayesbias.basics.wording import closest, some

__all__ = ["BayesbiasError", "FitError", "InputError", "nearest"]


@public_in("bayesbias")
class BayesbiasError(Exception):
    """Base of every error raised on purpose; the command line prints it and exits with 2."""


@public_in("bayesbias")
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

    Examples
    --------
    >>> print(InputError("unknown model", found="crosed", valid=["additive", "crossed"],
    ...                  hint="did you mean 'crossed'?"))
    unknown model; found: 'crosed'; valid: additive, crossed; did you mean 'crossed'?
    """

    def __init__(
        self,
        problem: str,
        *,
        where: object = None,
        found: object = None,
        valid: str | Iterable[str] | None = None,
        hint: str | None = None,
    ) -> None:
        parts = [f"{where}: {problem}" if where is not None else problem]
        if found is not None:
            parts.append(f"found: {_in_one_line(repr(found))}")
        if valid is not None:
            parts.append(f"valid: {valid if isinstance(valid, str) else some(valid)}")
        if hint:
            parts.append(hint)
        super().__init__("; ".join(parts))


def _in_one_line(text: str) -> str:
    """Return the first words of what has lines of its own, such as a fit or a data frame."""
    lines = text.splitlines()
    return text if len(lines) < 2 else f"{lines[0].strip()[:60]} ..."


@public_in("bayesbias")
class FitError(BayesbiasError, RuntimeError):
    """A model could not be fitted to a table, for a reason that lies in neither file alone."""


def nearest(name: str, options: Iterable[str]) -> str | None:
    """Say which option the user may have meant.

    Examples
    --------
    >>> nearest("religon", ["gender", "race", "religion"])
    "did you mean 'religion'?"
    >>> nearest("xyz", ["gender"]) is None
    True
    """
    match = closest(name, options)
    return f"did you mean {match!r}?" if match else None
