"""Packages: public names loaded when first used, optional packages, and versions."""

import ast
import functools
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bayesbias.core import InputError, join_words


def attach(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__``, ``__all__`` of a folder from its stub."""
    places = {
        name.asname or name.name: node.module
        for node in ast.parse(Path(f"{file}i").read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }

    def __getattr__(name: str) -> Any:  # noqa: N807
        if name not in places:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=sys.modules[package])
        module = places[name]
        if module is None:  # a folder: ``from . import plots``
            return importlib.import_module(f"{package}.{name}")
        return getattr(importlib.import_module(f"{package}.{module}"), name)

    names = sorted(places)
    return __getattr__, lambda: sorted(names), names


def member(place: str) -> Any:
    """Return what ``module:name`` names, and import its module when it is asked for.

    Only a folder of the same layer or of one below may be named; ``tests/test_layers.py`` reads
    these texts.

    Examples
    --------
    >>> member("bayesbias.core.formatting:number_of")(2, "word")
    '2 words'
    """
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def needed(
    extra: str, *modules: str, purpose: str, where: object = None, instead: str | None = None
) -> Any:
    """Import modules of an extra, or say how it is installed.

    Parameters
    ----------
    extra : str
        The name of the extra, such as ``"encoders"``.
    *modules : str
        What to import.
    purpose : str
        What they are needed for, as the subject of a sentence, such as ``"a Dask cluster"``.
    where : object, optional
        The file or the option that asks for them.
    instead : str, optional
        What works without them.

    Returns
    -------
    module, or list of modules where there are several

    Examples
    --------
    >>> needed("dask", "no_such_module", purpose="a cluster")  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
    ...
    bayesbias.InputError: a cluster needs no-such-module, which is not installed.
    Install it in a checkout: pip install '.[dask]'
    """
    try:
        imported = [importlib.import_module(module) for module in modules]
    except ImportError as error:
        roots = dict.fromkeys(module.partition(".")[0] for module in modules)
        names = ["scikit-learn" if root == "sklearn" else root.replace("_", "-") for root in roots]
        absent = isinstance(error, ModuleNotFoundError)
        state = "is not installed" if absent else f"cannot be imported ({error})"
        raise InputError(
            f"{purpose} needs {join_words(names)}, which {state}",
            where=where,
            valid=instead,
            hint=f"install it in a checkout: pip install '.[{extra}]'",
        ) from None
    return imported[0] if len(imported) == 1 else imported


@functools.cache
def _version(name: str) -> str:
    from importlib.metadata import version

    return version(name)


def versions_of(*packages: str) -> dict[str, str]:
    """Return the installed versions of packages.

    Examples
    --------
    >>> list(versions_of("bayesbias", "numpy"))
    ['bayesbias', 'numpy']
    """
    return {name: _version(name) for name in packages}
