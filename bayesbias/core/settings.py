"""What a function may be told by name, as a value: the command makes its options of it.

Tables of measures and of methods hold these, so that a new one brings its options along.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Setting"]


@dataclass(frozen=True)
class Setting:
    """One named argument of a function.

    Attributes
    ----------
    name : str
        As the function has it; the option is ``--name``, and of a bool ``--name/--no-name``.
    default : object
        None where there is none.
    help : str
    choices : tuple
        The valid values, where these are few.
    least, most : int or float, optional
        The smallest and the largest number.
    ends : bool
        Whether these two are valid themselves.
    kind : type
        Of the values, where no default tells it.
    metavar : str, optional
        What stands for a value in the help.
    """

    name: str
    default: Any
    help: str
    choices: tuple[Any, ...] = ()
    least: float | None = None
    most: float | None = None
    ends: bool = True
    kind: type | None = None
    metavar: str | None = None

    @property
    def option(self) -> str:
        """The option on the command line."""
        return "--" + self.name.replace("_", "-")
