"""Which versions made a result: the package's own, and those of what it used."""

from __future__ import annotations

import functools


@functools.cache
def own_version() -> str:
    """Return the version of the installed package."""
    from importlib.metadata import version

    return version("bayesbias")


def versions_of(*packages: str) -> dict[str, str]:
    """Return the installed versions of packages.

    Examples
    --------
    >>> list(versions_of("bayesbias", "numpy"))
    ['bayesbias', 'numpy']
    """
    return {name: _installed(name) for name in packages}


def with_python(*packages: str) -> dict[str, str]:
    """Return the versions of packages and that of Python.

    Examples
    --------
    >>> list(with_python("bayesbias"))
    ['bayesbias', 'python']
    """
    import platform

    return {**versions_of(*packages), "python": platform.python_version()}


@functools.cache
def _installed(name: str) -> str:
    from importlib.metadata import version

    return version(name)
