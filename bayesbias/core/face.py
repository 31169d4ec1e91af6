"""Public names: found when first used, named where users import them, and pointed at when mistyped."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lazy_loader

from bayesbias.core.wording import closest

__all__ = ["attach", "public_in"]

# What other libraries, or an earlier day, call what is here: name -> path.
SYNONYMS = {
    "Fit": "bayesbias.BiasFit",
    "FitResult": "bayesbias.BiasFit",
    "Wordlist": "bayesbias.WordList",
    "fit_model": "bayesbias.fit",
    "load_run": "bayesbias.load_run",
    "load_vectors": "bayesbias.load_embedding",
    "load_words": "bayesbias.load_wordlist",
    "read_run": "bayesbias.load_run",
    "read_wordlist": "bayesbias.load_wordlist",
    "save_fit": "bayesbias.BiasFit.save, or bayesbias.save_run for a folder",
    "wordlist": "bayesbias.WordList",
}


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a folder from the stub beside its file.

    The names load when they are first used. One that is not there raises an AttributeError that says where it is, or
    what comes nearest to it.
    """
    load, _, names = lazy_loader.attach_stub(package, file)

    def __getattr__(name: str) -> Any:  # noqa: N807
        if name in names:
            return load(name)
        message = f"module {package!r} has no attribute {name!r}"
        # Python asks here for a room before it imports it; and inspection asks for names that begin with _.
        if not name.startswith("_") and not (Path(file).parent / f"{name}.py").is_file():
            message += _where_instead(name, package)
        # Without the name, Python adds no guess of its own to ours.
        raise AttributeError(message, obj=sys.modules[package])

    return __getattr__, lambda: list(names), names


def public_in[T: type](package: str) -> Callable[[T], T]:
    """Show a class in tracebacks, pickles and the like under the package that users import it from."""

    def show(cls: T) -> T:
        # Doctest takes a class for imported where it names another module; `__test__` tells it otherwise.
        vars(sys.modules[cls.__module__]).setdefault("__test__", {})[cls.__name__] = cls
        cls.__module__ = package
        return cls

    return show


def _where_instead(name: str, package: str) -> str:
    """Say where a public name is, or what comes nearest."""
    root = Path(__file__).parents[1]
    places: dict[str, str] = {}
    for place in ("bayesbias", *(f"bayesbias.{stub.parent.name}" for stub in root.glob("*/__init__.pyi"))):
        for public in importlib.import_module(place).__all__:
            places.setdefault(public, f"{place}.{public}")
    # Of two names that are as near, the one in the package that was asked.
    here = [public for public, place in places.items() if place == f"{package}.{public}"]
    guess = name if name in places else closest(name, [*here, *places])
    path = SYNONYMS.get(name) or (places[guess] if guess else None)
    return f"; did you mean {path}?" if path else ""
