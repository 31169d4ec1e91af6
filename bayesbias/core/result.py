"""What all results have in common, and the hook by which upper layers show them.

A result answers for itself: what limits are compared with (`Result.measured`), how it looks with
another interval or ROPE (`Result.shown_with`), and what its rows are in words. To print, plot and
save a result needs modules of upper layers. These are not imported here: ``bayesbias/__init__.py``
hands over a function that loads them (`register`), and a result calls it when it is asked to.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from bayesbias.core import BayesbiasError, InputError
from bayesbias.core.conventions import ROPE

if TYPE_CHECKING:
    from bayesbias.core.sections import Interpretation


class Abilities(Protocol):
    """What upper layers do with a result; `bayesbias.output.abilities` is it."""

    def to_python(self, result: Any) -> str:
        """Return a result as Python prints it."""

    def to_html(self, result: Any) -> str:
        """Return a result as a notebook shows it."""

    def interpret(self, result: Any, **view: float | None) -> Interpretation:
        """Say in sentences what a result shows."""

    def draw(self, result: Any, name: str | None, **view: float | None) -> Any:
        """Draw a figure of a result, by default the first, and return its axes."""

    def tables(self, result: Any, **view: float | None) -> dict[str, Any]:
        """Return the tables of a result by name."""

    def write_report(self, result: Any, path: Any, **view: float | None) -> Path:
        """Write a page about a result."""

    def save_run(self, result: Any, folder: Any) -> list[Path]:
        """Write a result to a folder."""

    def load_run(self, folder: Any) -> Any:
        """Read what `save_run` wrote."""


_load: list[Callable[[], Abilities]] = []  # one, once the package is imported


def register(load: Callable[[], Abilities]) -> None:
    """Take the function that loads what upper layers do with a result."""
    _load[:] = [load]


def abilities() -> Abilities:
    """Load what upper layers do with a result."""
    return _load[0]()


def opened(given: Any) -> Any:
    """Return a result: the one that is given, or that of a run or of a run folder.

    Any other text is returned as it is, for the caller to refuse, or to read as a name.
    """
    if isinstance(given, str | os.PathLike):
        folder = os.path.expanduser(given)
        return abilities().load_run(folder).result if os.path.isdir(folder) else given
    return given.result if hasattr(given, "result") and hasattr(given, "path") else given


class _Shown(type):
    """The type of results: without their machinery in ``dir``, as IPython reads the class too."""

    MACHINERY: frozenset[str]

    def __dir__(cls) -> list[str]:
        return [name for name in super().__dir__() if name not in cls.MACHINERY]


class Result(metaclass=_Shown):
    """What a study returns: printed, and in a notebook, it has the words of the terminal.

    Modules of the package also ask it for what only they need, such as its defaults for a view.
    `MACHINERY` names these methods, and ``dir`` and the tab key leave them out.

    Attributes
    ----------
    MACHINERY : frozenset of str
        What users do not look for; a kind of result adds names of its own.
    """

    MACHINERY = frozenset(
        {
            "MACHINERY", "cached", "fits", "fits_to_check", "has_one_rope", "has_rope", "measured",
            "rope_in_words", "rows_in_words", "shown_with", "study", "tests_in_words",
        }
    )  # fmt: skip

    @property
    def study(self) -> str:
        """The kind of the result; `bayesbias.output.registry` has the study that shows it."""
        raise NotImplementedError

    @property
    def has_rope(self) -> bool:
        """Whether its tables have a region of practical equivalence (ROPE)."""
        return True

    @property
    def has_one_rope(self) -> bool:
        """Whether one default ROPE holds for all its rows, which a saved run then keeps."""
        return self.has_rope

    def default_rope(self) -> float:
        """Return the half-width of the ROPE that holds unless one is chosen."""
        return ROPE

    # -- what each kind of result says of itself ---------------------------------------------------

    def fits(self) -> Mapping[str, Any]:
        """Return every fit that the result rests on, by its name."""
        fit = getattr(self, "fit", None)
        return {} if fit is None else {"": fit}

    def fits_to_check(self) -> Mapping[str, Any]:
        """Return the fits whose failed predictive checks are warned of."""
        return self.fits()

    def shown_with(self, view: Any) -> tuple[Self, Any]:
        """Return the result as a view shows it, and the view with this result's own defaults.

        Parameters
        ----------
        view : View
            Its interval and ROPEs hold where they were chosen (``view.given``).

        Raises
        ------
        InputError
            If a ROPE was chosen and this kind of result has none.
        """
        if "rope" in view.given and not self.has_rope:
            problem = f"expected no ROPE for a result of {self.study}, got {view.rope:g}"
            raise InputError(problem, where="rope", hint="leave it out: this kind has none")
        return self, view.resolved(rope=self.default_rope())

    def measured(self, prob: float) -> Mapping[str, Any]:
        """Return what limits are compared with (`bayesbias.inference.measured.Measured`).

        By the name of each method of a comparison, and by "" otherwise.

        Raises
        ------
        InputError
            If this kind of result has nothing of that sort.
        """
        raise InputError("expected a result with a model, got none", where="requirement")

    def rows_in_words(self) -> str:
        """Say for a methods paragraph what was modeled: how many rows, of which outcome."""
        return ""

    def tests_in_words(self) -> str:
        """Describe published tests for a methods paragraph; "" where there are none."""
        return ""

    def rope_in_words(self, view: Any) -> str:
        """Return the ROPE as a methods paragraph has it; "" where there is none."""
        return f"±{view.rope:g}" if self.has_rope else ""

    # -- what users do with it ---------------------------------------------------------------------

    def interpret(
        self,
        prob: float | None = None,
        rope: float | None = None,
        standard_rope: float | None = None,
    ) -> Interpretation:
        """Say in sentences what the result shows; see `bayesbias.interpret`."""
        view = {"prob": prob, "rope": rope, "standard_rope": standard_rope}
        return abilities().interpret(self, **view)

    def plot(
        self,
        figure: str | None = None,
        *,
        prob: float | None = None,
        rope: float | None = None,
        standard_rope: float | None = None,
    ) -> Any:
        """Draw a figure of the result, and return its axes.

        Parameters
        ----------
        figure : str, optional
            Its name, as in the folder ``figures`` of a run. By default the first one.
        prob, rope, standard_rope : float, optional
            As in `bayesbias.View`.

        Raises
        ------
        InputError
            If there is no figure of that name.
        """
        view = {"prob": prob, "rope": rope, "standard_rope": standard_rope}
        return abilities().draw(self, figure, **view)

    def report(
        self,
        path: Any,
        *,
        prob: float | None = None,
        rope: float | None = None,
        standard_rope: float | None = None,
    ) -> Path:
        """Write one self-contained HTML page about the result; see `bayesbias.write_report`."""
        view = {"prob": prob, "rope": rope, "standard_rope": standard_rope}
        return abilities().write_report(self, path, **view)

    def save(self, path: Any) -> list[Path]:
        """Write the result to a folder of tables and figures; see `bayesbias.save_run`.

        Parameters
        ----------
        path : path
            The folder of the run, which `bayesbias.load_run` reads.

        Returns
        -------
        list of Path
            The files, ``run.json`` last.
        """
        return abilities().save_run(self, path)

    # -- how it is printed, and what the tab key shows ---------------------------------------------

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in self.MACHINERY]

    def __repr__(self) -> str:
        try:
            return abilities().to_python(self)
        except BayesbiasError:  # such as a fit that has no contrasts
            return f"<{type(self).__name__}>"

    def _repr_html_(self) -> str | None:
        try:
            return abilities().to_html(self)
        except BayesbiasError:
            return None

    def cached(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return ``make()``, called the first time that a key is asked for."""
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]

    @cached_property
    def _cache(self) -> dict[Any, Any]:
        return {}
